"""Where Chromium or bubblewrap is missing, tests are skipped by name, and in CI they fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = """
import pytest

@pytest.mark.browser
def test_a_page(): ...

@pytest.mark.sandbox
def test_a_submission(): ...

def test_anything_else(): ...
"""


@pytest.fixture
def run(tmp_path):
    """Function from CI ("true" or "") to pytest's output and status on a machine without both."""
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_few.py").write_text(SUITE)
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]

    def run_(ci):
        return subprocess.run(
            [sys.executable, "-m", "pytest", *settings, "-p", "no:cacheprovider", str(tmp_path)],
            cwd=tmp_path,
            env={**os.environ, "PATH": str(tmp_path), "CI": ci, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )

    return run_


def test_they_are_skipped_by_name_with_the_command_that_helps(run):
    done = run(ci="")
    assert done.returncode == 0
    assert "1 passed, 2 skipped" in done.stdout
    skipped = " ".join(done.stdout.split())
    assert "test_few.py::test_a_page needs Chromium: sudo apt-get update" in skipped
    assert "install --yes chromium" in skipped
    assert "test_few.py::test_a_submission needs bubblewrap" in skipped


def test_in_ci_they_fail(run):
    done = run(ci="true")
    assert done.returncode == 1
    assert "1 passed, 2 errors" in done.stdout

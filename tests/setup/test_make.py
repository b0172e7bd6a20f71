"""The Makefile's targets are all explained, and its tools answer."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = (
    "start test quick build solutions stale coverage release self-study demo grading-lab bench"
    " bench-grading rehearsal portable gpu lint doctor lock help"
).split()


def make(*arguments, **environ):
    ours = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env={**ours, **environ},
        capture_output=True,
        text=True,
    )


def test_help_explains_every_target_in_one_line():
    done = make("help")
    assert done.returncode == 0
    explained = re.findall(r"^make ([a-z-]+) +\S.{5,}$", done.stdout, flags=re.M)
    assert sorted(explained) == sorted(TARGETS)
    assert len(done.stdout.splitlines()) == len(TARGETS)
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_make_alone_is_help():
    assert make().stdout == make("help").stdout


def test_every_target_that_help_names_exists():
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.M)[1].split()
    assert set(TARGETS) == set(phony) - {"env", "system"}


@pytest.mark.parametrize("target", TARGETS)
def test_make_can_plan_every_target(target):
    assert make("--dry-run", target).returncode == 0


def test_start_refuses_what_is_no_port_in_one_line():
    done = make("start", PORT="eighty", BROWSER="none")
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == (
        "PORT=eighty is not a port: give a number from 1 to 65535."
    )


def test_doctor_says_ok_or_fail_for_each_requirement():
    lines = make("doctor").stdout.splitlines()
    assert len(lines) >= 8
    assert all(re.match(r"(OK  |FAIL) \S", line) for line in lines)
    assert any("Python" in line for line in lines)


def test_ci_runs_make_test_and_nothing_a_clean_clone_lacks():
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(r"^make .*\btest$", script, flags=re.M)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_git_keeps_every_source_file():
    """A pattern without a leading slash once hid tests/grading from every clone."""
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "-z"]
    folders = ["autograder", "course", "solutions", "tests", "tools"]
    done = subprocess.run([*command, "--", *folders], cwd=ROOT, capture_output=True, text=True)
    made = {"__pycache__", ".descent", "handins", ".ipynb_checkpoints", ".ruff_cache"}
    hidden = [Path(name) for name in done.stdout.split("\0") if name]
    assert done.returncode == 0
    assert not [
        path
        for path in hidden
        if not made & set(path.parts) and "egg-info" not in str(path) and path.suffix != ".pyc"
    ]

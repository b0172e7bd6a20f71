"""The course runs on the lowest versions that course/pyproject.toml allows: a student's laptop is older than ours."""

import json
import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.building import masters
from descent import session, start, versions

ROOT = Path(__file__).resolve().parents[2]
LOWEST = ROOT / ".lowest"  # an environment of its own, kept: git ignores it
PROJECT = ROOT / "course" / "pyproject.toml"
# The first notebook of each chapter, solved: most of what runs stands behind an answer.
FIRST = {name.partition("/")[0]: name for name in reversed(masters.notebooks())}
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}})
client.create_kernel_manager()
client.km.transport, client.km.ip = "ipc", sys.argv[3] + "/k"
client.execute()
nbformat.write(notebook, sys.argv[3] + "/run.ipynb")
"""


def lowest():
    """Package -> the lowest version that is allowed."""
    needed = map(Requirement, tomllib.loads(PROJECT.read_text())["project"]["dependencies"])
    return {each.name: min(bound.version for bound in each.specifier) for each in needed}


@pytest.fixture(scope="module")
def python():
    """The Python of an environment with these versions, made where it is not there."""
    stamp, pins = LOWEST / "pins.json", lowest()
    path = LOWEST / "bin" / "python"
    if not stamp.exists() or json.loads(stamp.read_text()) != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", LOWEST], check=True)
        wanted = [f"{name}=={version}" for name, version in pins.items()]
        pip = [path, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, *wanted], check=True)
        stamp.write_text(json.dumps(pins))
    return path


def test_every_package_has_a_lowest_version_and_no_highest():
    assert len(lowest()) > 8
    for line in tomllib.loads(PROJECT.read_text())["project"]["dependencies"]:
        assert [bound.operator for bound in Requirement(line).specifier] == [">="], line


@pytest.mark.slow
@pytest.mark.parametrize("notebook", FIRST.values())
def test_a_solved_notebook_runs_and_its_answers_are_full(python, notebook, course_copy, tmp_path):
    environ = {k: v for k, v in os.environ.items() if k not in ("MPLBACKEND", "PYTHONPATH")}
    folder = course_copy / notebook.partition("/")[0]
    script = textwrap.dedent(RUN)
    subprocess.run(
        [python, "-c", script, ROOT / "solutions" / f"{notebook}.ipynb", folder, tmp_path],
        env=environ | {"PYTHONPATH": str(course_copy), "OMP_NUM_THREADS": "1"},
        check=True,
        timeout=400,
    )
    text = (tmp_path / "run.ipynb").read_text()
    asked = session.check_data(notebook)["exercises"]
    assert asked and not [name for name in asked if f"{name}</code>: solved" not in text]
    assert '"name": "stderr"' not in text


@pytest.mark.parametrize(
    ("needs", "told"),
    [
        ("numpy>=1.2", []),
        ("numpy>=99.1", ["the course wants 99.1 or newer"]),
        ("no-such-package>=3", ["no-such-package is not installed, the course wants 3 or newer"]),
    ],
)
def test_what_is_too_old_is_said_in_a_sentence(tmp_path, needs, told):
    project = tmp_path / "pyproject.toml"
    project.write_text(f'[project]\ndependencies = ["{needs}"]\n')
    found = versions.too_old(project)
    assert len(found) == len(told) and all(
        end in line for end, line in zip(told, found, strict=True)
    )
    assert versions.too_old(tmp_path / "elsewhere.toml") == []


def test_start_says_it_once(monkeypatch, capsys):
    monkeypatch.setattr(versions, "too_old", lambda: ["numpy is 1.2 here"])
    monkeypatch.setattr(session.current, "told", set())
    for _ in range(2):
        start(masters.notebooks()[0])
    assert capsys.readouterr().out.count("numpy is 1.2 here. Something may not work") == 1

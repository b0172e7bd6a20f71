"""nbgrader's own programs on the real course: what its formgrader lists, what its release holds."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from autograder.building import masters
from autograder.checkdata import ROOT

CHAPTER = "03_optimisation"


@pytest.fixture
def project(tmp_path):
    """The configuration in a folder of its own, with a chapter as it is: sources, built notebooks, Python's cache."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "solutions" / CHAPTER, tmp_path / "solutions" / CHAPTER)
    for folder in ("", CHAPTER, f"{CHAPTER}/01_gradient_descent"):
        cache = tmp_path / "solutions" / folder / "__pycache__"
        cache.mkdir(exist_ok=True)
        (cache / "spec.cpython-311.pyc").write_bytes(b"compiled")
    return tmp_path


def test_the_formgrader_lists_chapters_only(project):
    chapters = {name.split("/")[0] for name in masters.notebooks()}
    for chapter in chapters:
        (project / "solutions" / chapter).mkdir(exist_ok=True)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(project)).load_config()
    course = CourseDirectory(config=config, root=str(project))
    assert NbGraderAPI(course, config=config).get_source_assignments() == chapters


def test_stock_nbgrader_releases_the_notebooks_and_nothing_else(project):
    run = [sys.executable, "-m", "nbgrader", "generate_assignment", CHAPTER]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, cwd=project, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    stock, ours = project / "course" / CHAPTER, ROOT / "course" / CHAPTER
    notebooks = sorted(path.name for path in ours.glob("*.ipynb"))
    assert sorted(str(path.relative_to(stock)) for path in stock.rglob("*")) == notebooks
    assert [cells(stock / name) for name in notebooks] == [cells(ours / name) for name in notebooks]


def cells(path: Path) -> list:
    return nbformat.read(path, 4).cells

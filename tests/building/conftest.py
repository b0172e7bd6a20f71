"""A toy course in a temporary folder: one notebook, its own solutions, course and checks."""

import shutil

import pytest

from autograder import checkdata
from autograder.building import build, coverage, masters, mutate, pages
from tests.building.toy import MASTER, NOTEBOOK, PICTURES, REFERENCE, SOURCES, SPEC, SPEC_FILE

ROOT = checkdata.ROOT


@pytest.fixture
def toy_course(tmp_path, monkeypatch):
    """A project of one notebook; the builder's folders point at it. Returns its root."""
    root = tmp_path / "project"
    texts = (MASTER, SPEC, REFERENCE, PICTURES)
    (root / "solutions").mkdir(parents=True)
    (root / "solutions" / "chapters.toml").write_text(
        '[99_toy]\nabout = "Squares."\nable = ["square a number"]\nbefore = "Numbers."\n'
    )
    (root / "solutions" / "notebooks.tsv").write_text(f"notebook\ttitle\n{NOTEBOOK}\tSquares\n")
    (root / "solutions" / "sections.tsv").write_text(
        f"id\ttitle\tnotebook\ncs480:1\tNumbers\t{NOTEBOOK}\nwu:1.1\tSquares\t{NOTEBOOK}\n"
    )
    for page, name in (
        ("README.md", "what exists"),
        ("solutions/AUTHORING.md", "the rules of form"),
    ):
        marks = f"<!-- {name}: written by `make build` -->", f"<!-- {name}: end -->"
        (root / page).write_text("\n".join(["Above.", *marks, "Below."]))
    mess = shutil.ignore_patterns("__pycache__", "checks", "*.egg-info")
    shutil.copytree(ROOT / "course" / "descent", root / "course" / "descent", ignore=mess)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    for name, text in zip(SOURCES, texts, strict=True):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setattr(masters, "SOLUTIONS", root / "solutions")
    monkeypatch.setattr(masters.notebooks, "__defaults__", (root / "solutions",))
    monkeypatch.setattr(masters.master_path, "__defaults__", (root / "solutions",))
    monkeypatch.setattr(masters.read, "__defaults__", (root / "solutions",))
    monkeypatch.setattr(masters.planned, "__defaults__", (root / "solutions",))
    monkeypatch.setattr(build, "ROOT", root)
    monkeypatch.setattr(build, "COURSE", root / "course")
    monkeypatch.setattr(build, "CHECKS", root / "course" / "descent" / "checks")
    monkeypatch.setattr(checkdata, "spec_path", lambda notebook: root / SPEC_FILE)
    monkeypatch.setattr(checkdata, "load_exercises", lambda notebook: load(root / SPEC_FILE))
    monkeypatch.setattr(mutate, "RECORD", root / "artefacts" / "mutants.json")
    monkeypatch.setattr(pages, "ROOT", root)
    monkeypatch.setattr(pages, "COURSE", root / "course")
    for cached in (pages._masters, coverage._read):
        cached.cache_clear()
    yield root
    for cached in (pages._masters, coverage._read):
        cached.cache_clear()


def load(path):
    """The exercises of a specification file; none where it is missing."""
    import importlib.util

    if not path.exists():
        return {}
    spec = importlib.util.spec_from_file_location("toy_spec", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return checkdata.exercises_of(module)

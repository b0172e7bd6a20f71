"""A newer edition takes the place of a student's, and nothing they did is lost."""

import datetime
import hashlib
import json
import os
import shutil
import zipfile

import pytest

from descent import editions, session, updating
from descent.__main__ import main

NOTEBOOK = "99_toy/01_double"
NOON = datetime.datetime(2026, 11, 29, 12).timestamp()
STUB = '\n    """Twice x."""\n    # Your code here.\n    raise NotImplementedError'
STAYS, HALF, WHY = "# Doubles", "def half(x):" + STUB, "Why?\n\n*Your answer here.*"
OLD = {
    "title": STAYS, "double": "def double(x):" + STUB, "check-double": "check(double)",
    "text": "Look at it.", "half": HALF, "gone": "def gone(x):" + STUB, "why": WHY, "show": "plot(1)",
}  # fmt: skip
NEW = {
    "title": STAYS, "double": "def double(x, times=2):" + STUB, "check-double": "check(double)",
    "text": "Look at it closely.", "half": HALF, "fresh": "def fresh(x):" + STUB, "why": WHY, "show": "plot(1)",
}  # fmt: skip
ANSWERS = {"double", "half", "gone", "fresh", "why"}


def made(texts: dict[str, str], source: str) -> dict:
    """A released notebook; an id of a cell that is no answer is made from its text."""
    cells = []
    for name, text in texts.items():
        kind = "markdown" if text in (STAYS, WHY) or "Look" in text else "code"
        about, id = {}, hashlib.sha256(text.encode()).hexdigest()[:8]
        if name in ANSWERS or name.startswith("check-"):
            id = name
            about = {
                "nbgrader": {
                    "grade_id": name,
                    "solution": name in ANSWERS,
                    "locked": name not in ANSWERS,
                }
            }
        cells.append({"cell_type": kind, "id": id, "metadata": about, "source": text})
    return {
        "cells": cells,
        "metadata": {"descent": {"source": source}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def course(folder, texts, source):
    """A course of one notebook, as it is handed out."""
    notebook = made(texts, source)
    checks = folder / "descent" / "checks" / "99_toy"
    checks.mkdir(parents=True)
    kept = {"source": source, "notebook": NOTEBOOK, "cells": editions.released(notebook)}
    (checks / "01_double.json").write_text(json.dumps(kept))
    (folder / "descent" / "edition.py").write_text(f"EDITION = {source!r}\n")
    (folder / "index.ipynb").write_text(json.dumps(made({"title": source}, source)))
    write(folder, notebook)
    return folder


def path(folder):
    return folder / f"{NOTEBOOK}.ipynb"


def write(folder, notebook):
    path(folder).parent.mkdir(parents=True, exist_ok=True)
    path(folder).write_text(json.dumps(notebook))


def read(folder):
    return json.loads(path(folder).read_text())


def texts(folder):
    return [editions.text(cell) for cell in read(folder)["cells"]]


def cell(text, id="mine", kind="code", **about):
    return {
        "cell_type": kind,
        "id": id,
        "metadata": about,
        "source": text.splitlines(keepends=True),
    }


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A student's course with nothing done yet."""
    monkeypatch.setattr(session, "now", lambda: NOON)
    return course(tmp_path / "mine", OLD, "old")


@pytest.fixture
def newer(tmp_path):
    return course(tmp_path / "newer", NEW, "new")


@pytest.fixture
def solved(mine):
    """The student answered everything, and added cells."""
    notebook = read(mine)
    by_id = {c["id"]: c for c in notebook["cells"]}
    by_id["double"]["source"] = "def double(x):\n    return 2 * x"
    by_id["double"]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "run"}]
    by_id["half"]["source"] = ["def half(x):\n", "    return x / 2"]
    by_id["gone"]["source"] = "def gone(x):\n    return 'my work'"
    by_id["why"]["source"] = "Why?\n\nBecause."
    found = []
    for one in notebook["cells"]:
        found.append(one)
        after = {"check-double": "first", "half": "second", "gone": "fourth"}.get(one["id"])
        if editions.text(one) == "Look at it.":
            after = "note on the text"
        if after:
            found.append(cell(f"{after} = 1", id=f"id-{after[:3]}"))
        if after == "second":
            found.append(cell("third = 1", id="id-thi"))
    found.insert(0, cell("at the top", kind="markdown"))
    write(mine, notebook | {"cells": found})
    return mine


def everything(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def update(newer, mine):
    return main(["update", str(newer), "--into", str(mine)])


def test_answers_and_own_cells_are_carried_in_their_order(solved, newer, capsys):
    assert update(newer, solved) == 0
    found = texts(solved)
    assert found[:2] == ["at the top", STAYS]
    assert found[2] == "def double(x):\n    return 2 * x"
    assert "It says now:" in found[3] and "def double(x, times=2)" in found[3]
    assert found[4:] == [
        "check(double)", "first = 1", "Look at it closely.", "note on the text = 1",
        "def half(x):\n    return x / 2", "second = 1", "third = 1", NEW["fresh"], "Why?\n\nBecause.",
        "plot(1)", editions.END, "def gone(x):\n    return 'my work'", "fourth = 1",
    ]  # fmt: skip
    told = capsys.readouterr().out
    assert (
        "99_toy/01_double: 3 answers carried; 6 cells of your own kept; "
        "double takes other arguments now, so look at it; gone is no longer asked: it stands at the end. "
        "As it was: 01_double (before 2026-11-29).ipynb" in told
    )


def test_what_came_in_is_a_valid_notebook_with_the_courses_marks_on_its_cells_alone(solved, newer):
    update(newer, solved)
    cells = read(solved)["cells"]
    ids = [c["id"] for c in cells]
    assert len(set(ids)) == len(ids)
    named = [editions.answer_of(c) for c in cells if editions.answer_of(c)]
    assert named == ["double", "half", "fresh", "why"]
    double = next(c for c in cells if c["id"] == "double")
    assert double["outputs"][0]["text"] == "run"
    assert read(solved)["metadata"] == read(newer)["metadata"]


def test_the_old_notebook_is_kept_and_the_library_is_the_newer_one(solved, newer):
    before = path(solved).read_bytes()
    (solved / ".descent").mkdir()
    (solved / ".descent" / "progress.json").write_text('{"format": 2}')
    update(newer, solved)
    (kept,) = solved.glob("99_toy/*(before *).ipynb")
    assert kept.read_bytes() == before and updating.is_kept(kept)
    assert (solved / "descent" / "edition.py").read_text() == "EDITION = 'new'\n"
    assert (solved / ".descent" / "progress.json").read_text() == '{"format": 2}'
    assert [p.name for p in solved.glob(".descent*")] == [".descent"]


def test_the_second_time_nothing_changes(solved, newer, capsys):
    update(newer, solved)
    before = everything(solved)
    capsys.readouterr()
    assert update(newer, solved) == 0
    assert everything(solved) == before
    assert "99_toy/01_double: of this edition already" in capsys.readouterr().out


def test_a_notebook_that_was_not_begun_is_just_replaced(mine, newer, capsys):
    assert update(newer, mine) == 0
    assert path(mine).read_bytes() == path(newer).read_bytes()
    assert not list(mine.glob("99_toy/*before*"))
    assert "replaced; you had not begun it" in capsys.readouterr().out


def test_two_updates_in_one_day_keep_both(solved, newer, tmp_path):
    update(newer, solved)
    first = path(solved).read_bytes()
    update(course(tmp_path / "newest", NEW, "newest"), solved)
    kept = {p.read_bytes() for p in solved.glob("99_toy/*(before *).ipynb")}
    assert len(kept) == 2 and first in kept
    assert texts(solved).count("fourth = 1") == texts(solved).count("first = 1") == 1
    assert not any("It says now" in text for text in texts(solved))  # told once, of one change


def test_an_edited_cell_stays_in_its_place_while_the_course_leaves_it_alone(mine, newer):
    notebook = read(mine)
    for one in notebook["cells"]:
        edits = {"plot(1)": "plot(5)", "Look at it.": "Look at it. I see a line."}
        one["source"] = edits.get(one["source"], one["source"])
    write(mine, notebook)
    update(newer, mine)
    found = texts(mine)
    assert found[-1] == "plot(5)" and "plot(1)" not in found
    at = found.index("Look at it closely.")
    assert found[at + 1] == "Look at it. I see a line."


def test_an_answer_in_a_cell_of_the_students_own_is_found_by_its_name(mine, newer):
    notebook = read(mine)
    cells = [c for c in notebook["cells"] if c["id"] != "half"]
    cells.insert(3, cell("def half(x):\n    return 0.5 * x"))
    write(mine, notebook | {"cells": cells})
    update(newer, mine)
    found = [c for c in read(mine)["cells"] if "0.5 * x" in editions.text(c)]
    assert [c["id"] for c in found] == ["half"]


def test_where_nothing_is_known_of_the_old_edition_all_is_kept(solved, newer):
    (solved / "descent" / "checks" / "99_toy" / "01_double.json").unlink()
    before = texts(solved)
    update(newer, solved)
    asked = {OLD["text"]}
    assert [t for t in before if t not in texts(solved)] in ([], list(asked))


def test_a_notebook_that_cannot_be_read_is_kept_as_it_is(mine, newer, capsys):
    path(mine).write_text("{ cut off")
    assert update(newer, mine) == 0
    assert [p.read_text() for p in mine.glob("99_toy/*before*")] == ["{ cut off"]
    assert "yours cannot be read as a notebook: replaced" in capsys.readouterr().out


def zipped(folder, target):
    with zipfile.ZipFile(target, "w") as bundle:
        for file in folder.rglob("*"):
            bundle.write(file, f"course/{file.relative_to(folder)}")
    return target


def test_a_zip_does_what_its_folder_does(solved, newer, tmp_path):
    assert update(zipped(newer, tmp_path / "newer.zip"), solved) == 0
    assert "def double(x):\n    return 2 * x" in texts(solved)


@pytest.mark.parametrize(
    "what", ["cut zip", "no zip", "nothing", "no course", "itself", "no course of mine"]
)
def test_a_wrong_path_is_told_and_changes_nothing(what, solved, newer, tmp_path, capsys):
    archive = zipped(newer, tmp_path / "newer.zip")
    cut, other, empty = tmp_path / "cut.zip", tmp_path / "a.zip", tmp_path / "empty"
    cut.write_bytes(archive.read_bytes()[:-200])
    other.write_text("hello")
    empty.mkdir()
    source, target, words = {
        "cut zip": (cut, solved, "or a broken one"),
        "no zip": (other, solved, "is no zip file"),
        "nothing": (tmp_path / "none", solved, "there is no "),
        "no course": (empty, solved, "holds no course. Give the folder (or the zip)"),
        "itself": (solved, solved, "is the course that would be replaced"),
        "no course of mine": (newer, empty, "holds no course. Give yours with --into"),
    }[what]
    before = everything(solved)
    assert update(source, target) == 1
    assert words in capsys.readouterr().err
    assert everything(solved) == before


@pytest.mark.parametrize("step", range(8))
def test_stopped_anywhere_nothing_is_lost_and_the_same_command_goes_on(
    solved, newer, monkeypatch, step
):
    work = path(solved).read_bytes()
    left = {"steps": step}

    def stopping(real):
        def one(*arguments, **options):
            if left["steps"] == 0:
                raise KeyboardInterrupt
            left["steps"] -= 1
            return real(*arguments, **options)

        return one

    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, stopping(getattr(os, name)))
    try:
        update(newer, solved)
    except KeyboardInterrupt:
        assert work in {p.read_bytes() for p in solved.glob("99_toy/*.ipynb")}
    left["steps"] = 1000
    assert update(newer, solved) == 0
    assert "def half(x):\n    return x / 2" in texts(solved)
    assert [p.read_bytes() for p in solved.glob("99_toy/*(before *).ipynb")] == [work]
    assert (solved / "descent" / "edition.py").read_text() == "EDITION = 'new'\n"
    assert [p.name for p in solved.glob(".*")] == []


def test_a_full_disk_is_told(solved, newer, monkeypatch, capsys):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", full)
    assert update(newer, solved) == 1
    assert "No space left on device. Nothing is lost." in capsys.readouterr().err
    assert (solved / "descent" / "edition.py").read_text() == "EDITION = 'old'\n"

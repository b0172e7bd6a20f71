"""Honest accidents cost nothing: a right answer keeps its points whatever it prints, shows, imports and returns.

What is not accepted gets a kind and a sentence that says what to do.
"""

import copy
import json
import os
import random

import pytest

from autograder.checkdata import ROOT
from autograder.grading.jobs import Job, essence, read_chapter
from autograder.grading.workers.grader import warm_grader
from autograder.workspace import Workspace
from tests.grading.accidents import machine, refused, returns, says, surroundings, written
from tests.grading.mutations import FILES, after, cell, sequence, solve, text
from tests.grading.toy_chapter import SHORT, STEM

pytestmark = pytest.mark.sandbox
RIGHT = {
    name: source
    for kind in (says, returns, written, surroundings, machine)
    for name, source in kind.ANSWERS.items()
}


def place(notebook, name):
    return next(at for at, one in enumerate(notebook["cells"]) if one["id"] == name)


@pytest.fixture
def tried(graded, notebook):
    """tried(source) -> the verdict on `double`, whose cells are given, beside an honest `scaled`."""

    def run(source):
        *above, answer = source.split("\n# %%\n")
        content = notebook(double=answer.lstrip("\n"))
        at = place(content, "double")
        content["cells"][at:at] = [
            cell(text.lstrip("\n"), name=f"n{i}") for i, text in enumerate(above)
        ]
        found, submission = graded(content)
        assert found["scaled"].kind == "full", found["scaled"].evidence
        assert not submission.look, submission.notes
        return found["double"]

    return run


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_an_honest_answer_gets_all_its_points(tried, source):
    verdict = tried(source)
    assert (verdict.kind, verdict.points) == ("full", 3), verdict.evidence


@pytest.mark.parametrize(
    ("source", "kind", "words"), refused.ANSWERS.values(), ids=refused.ANSWERS.keys()
)
def test_what_is_not_accepted_is_told(tried, source, kind, words):
    verdict = tried(source)
    assert verdict.kind == kind, verdict.evidence
    assert words in verdict.evidence
    assert verdict.points == (2 if kind == "partial" else 0)


@pytest.fixture
def solved(released):
    return solve(released)


@pytest.fixture
def sources(notebook):
    """sources(change) -> the bytes of an honest notebook as a change leaves it."""

    def make(change):
        return change(json.dumps(notebook()).encode())

    return make


DAMAGED = {
    "nothing": (lambda data: b"", "it is empty"),
    "blanks": (lambda data: b" \n\n", "it is empty"),
    "empty JSON": (lambda data: b"{}", "it has no list of cells"),
    "null": (lambda data: b"null", "it is JSON, but no notebook"),
    "a list": (lambda data: b"[1, 2]", "it is JSON, but no notebook"),
    "a number": (lambda data: b"3", "it is JSON, but no notebook"),
    "cells: null": (lambda data: b'{"cells": null}', "it has no list of cells"),
    "cells: a dict": (lambda data: b'{"cells": {"a": 1}}', "it has no list of cells"),
    "cut off": (lambda data: data[: len(data) // 2], "it ends in the middle"),
    "cut off late": (lambda data: data[:-1], "it ends in the middle"),
    "a PDF": (lambda data: b"%PDF-1.7 \xff\xfe", "it is a PDF file"),
    "a zip": (lambda data: b"PK\x03\x04\x00\xff", "it is a zip archive"),
    "a web page": (lambda data: b"<!DOCTYPE html><html>", "it is a web page"),
    "a script": (lambda data: b"# %% [markdown]\nimport numpy", "it looks like a Python script"),
    "a script's function": (lambda data: b"\n\ndef double(x):\n    return 2", "Python script"),
    "random bytes": (lambda data: bytes(range(255, 0, -1)), "it is no JSON"),
    "a deep nest": (lambda data: b'{"cells": ' + b"[" * 100_000, "it is no JSON"),
    "merge conflict": (lambda data: b"<<<<<<< HEAD\n" + data, "it holds a conflict of git"),
    "too many cells": (
        lambda data: json.dumps({"cells": [cell(f"x = {i}") for i in range(1001)]}).encode(),
        "it has 1001 cells; at most 1000 are read",
    ),
}


@pytest.mark.parametrize(("change", "words"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_file_beyond_help_gets_a_sentence(graded, sources, change, words):
    found, submission = graded(sources(change))
    assert {verdict.kind for verdict in found.values()} == {"missing"}
    for verdict in found.values():
        assert (
            f"The notebook {STEM} cannot be read" in verdict.evidence and words in verdict.evidence
        )
    assert submission.look


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.__name__)
def test_how_the_file_was_saved_costs_nothing(graded, sources, file):
    found, _ = graded(sources(file))
    assert {verdict.kind for verdict in found.values()} == {"full"}


def test_outputs_of_fifty_megabytes_cost_nothing(graded, notebook):
    content = notebook()
    for one in content["cells"]:
        if one["cell_type"] == "code":
            one["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 10_000_000}]
    found, _ = graded(content)
    assert {verdict.kind for verdict in found.values()} == {"full"}


def test_an_answer_under_another_name_gets_its_points(graded, notebook):
    found, _ = graded(notebook(double="def doubled(x):\n    return 2 * x"))
    assert found["double"].kind == "full"


def test_random_accidents_cost_nothing_in_the_sandbox(graded, solved):
    """What is rebuilt runs as the rebuilding's own tests believe it to run."""
    rng = random.Random(int(os.environ.get("SEED", "0")))
    for number in range(15):
        chosen, file = sequence(rng)
        seed = rng.randrange(10**6)
        found, submission = graded(after(solved, chosen, file, random.Random(seed)))
        names = [f.__name__ for f in [*chosen, *[file] * (file is not None)]]
        told = {name: verdict.evidence for name, verdict in found.items()}
        assert all(verdict.kind == "full" for verdict in found.values()), (
            number,
            seed,
            names,
            told,
        )


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A chapter of the course: its grader, and its notebooks as JSON with the author's solutions in them."""
    name = "00_start_here"
    space = Workspace(tmp_path_factory.mktemp("real") / "grading", ROOT)
    chapter = read_chapter(space, name)
    notebooks = {}
    for stem in chapter.release:
        solved = json.loads((ROOT / "solutions" / name / f"{stem}.ipynb").read_text())
        answers = {c["id"]: c["source"] for c in solved["cells"]}
        notebooks[stem] = json.loads((ROOT / "course" / name / f"{stem}.ipynb").read_text())
        for one in notebooks[stem]["cells"]:
            if one["metadata"].get("nbgrader", {}).get("solution"):
                one["source"] = answers[one["id"]]
    with warm_grader(chapter, SHORT) as grader:
        yield grader, notebooks


def in_one_cell(cells):
    cells[:] = [cell("\n\n".join(text(one) for one in cells if one["cell_type"] == "code"))]


def shuffled_without_ids(cells):
    random.Random(3).shuffle(cells)
    for one in cells:
        one |= {"metadata": {}, "id": "same"}


@pytest.mark.parametrize("accident", [list, list.reverse, in_one_cell, shuffled_without_ids])
def test_a_chapter_of_the_course_gets_all_its_points(real, accident):
    grader, notebooks = real
    files = {}
    for stem, notebook in copy.deepcopy(notebooks).items():
        accident(notebook["cells"])
        files[stem] = essence(json.dumps(notebook).encode())
    submission = grader.grade(Job("ada", files)).submission
    assert {v.exercise: v.evidence for v in submission.verdicts if v.kind != "full"} == {}
    assert submission.verdicts

"""The store promises: the same content is not graded twice, other content never takes its result, damage is noticed."""

import copy
import dataclasses
import json

import pytest

from autograder.engine.worker_client import Limits
from autograder.grading.dispatch import store
from autograder.grading.dispatch.store import Store
from autograder.grading.jobs import Chapter, Job, Result, essence, points_of
from autograder.grading.rebuilding import rebuild
from autograder.grading.verdicts import Graded, Written
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, STEM

RESULT = Result(
    [Graded("double", NOTEBOOK, "partial", 1.1, 3.0, "é", {"a": True}, restored=True)],
    [Written("why", NOTEBOOK, 2.0, True, "found", "abc")],
    notes=["a note"], no_response=["scaled"], look=True, page='{"cells": []}', seconds=0.125,
)  # fmt: skip
WRONG = [{"name": "it squares", "results": [1]}]
DATA = {STEM: {"double": {"cases": [{"inputs": 1, "expected": 2}], "points": 3.0, "wrong": WRONG}}}


@pytest.fixture
def chapter(release_cells):
    return Chapter(CHAPTER, {STEM: release_cells}, {STEM: {"kernelspec": {}}}, DATA)


@pytest.fixture
def kept(space, chapter):
    return Store(space, chapter, Limits(), sandboxed=True)


def encoded(notebook):
    return essence(json.dumps(notebook).encode())


def test_what_is_kept_is_found_as_it_was(kept, notebook):
    job = Job("ada", {STEM: encoded(notebook())})
    assert kept.find(job) == {}
    kept.keep(job, {STEM: RESULT})
    assert kept.find(job) == {STEM: RESULT}
    assert kept.find(Job("bob", job.files)) == {STEM: RESULT}


def test_a_failure_of_the_grader_is_not_kept(kept, notebook):
    job = Job("ada", {STEM: encoded(notebook())})
    kept.keep(job, {STEM: dataclasses.replace(RESULT, failed=True)})
    assert kept.find(job) == {}


def test_a_missing_notebook_is_no_empty_one(kept):
    kept.keep(Job("ada", {}), {STEM: RESULT})
    assert kept.find(Job("ada", {STEM: b""})) == {}
    assert kept.find(Job("bob", {})) == {STEM: RESULT}


def test_what_decides_nothing_changes_no_address(kept, notebook):
    content = notebook()
    plain = kept.address(STEM, encoded(content))
    for number, cell in enumerate(content["cells"]):
        cell["metadata"]["collapsed"] = bool(number % 2)
        if cell["cell_type"] == "code":
            cell |= {
                "execution_count": number,
                "outputs": [{"output_type": "stream", "text": "x" * 1000}],
            }
    content["metadata"]["kernelspec"] = {"name": "other"}
    assert kept.address(STEM, encoded(content)) == plain
    indented = json.dumps(content, indent=7).replace("\n", "\r\n").encode("utf-8-sig")
    assert kept.address(STEM, essence(indented)) == plain


CHANGES = {
    "a hidden case": lambda c: c.data[STEM]["double"]["cases"][0].update(inputs=7),
    "an expected result": lambda c: c.data[STEM]["double"]["cases"][0].update(expected=7),
    "what a mistake gives": lambda c: c.data[STEM]["double"]["wrong"][0].update(results=[]),
    "points": lambda c: c.data[STEM]["double"].update(points=2.0),
    "the released text": lambda c: setattr(c.release[STEM][0], "source", "Other words."),
    "a check": lambda c: c.release[STEM][-1].metadata.update(nbgrader={"points": 9}),
    "the page's metadata": lambda c: c.metadata[STEM].update(kernelspec={"name": "other"}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_chapter_has_other_addresses(space, chapter, kept, change):
    before = kept.address(STEM, b"{}")
    changed = copy.deepcopy(chapter)
    change(changed)
    assert Store(space, changed, Limits(), sandboxed=True).address(STEM, b"{}") != before


def test_answers_limits_sandbox_and_version_decide(space, chapter, kept, notebook, monkeypatch):
    def address(limits=Limits(), sandboxed=True, **answers):  # noqa: B008 — it is frozen
        made = Store(space, chapter, limits, sandboxed=sandboxed)
        return made.address(STEM, encoded(notebook(**answers)))

    found = [
        address(),
        address(double="def double(x):\n    return x + x"),
        address(why="Because."),
        address(limits=Limits(cell=1.0)),
        address(sandboxed=False),
    ]
    monkeypatch.setattr(store, "engine_version", lambda: "another")
    assert len({*found, address()}) == 6


def test_another_source_or_package_is_another_version(tmp_path, monkeypatch):
    (tmp_path / "engine").mkdir()
    source = tmp_path / "engine/judge.py"
    monkeypatch.setattr(store, "ROOT", tmp_path)
    monkeypatch.setattr(store, "_SOURCES", ("engine",))

    def version():
        return store.engine_version.__wrapped__()

    source.write_text("LIMIT = 1\n")
    before = version()
    assert version() == before
    source.write_text("LIMIT = 2\n")
    changed = version()
    monkeypatch.setattr(store.metadata, "version", lambda name: "9.9")
    assert len({before, changed, version()}) == 3


@pytest.mark.parametrize("damage", ["cut", "empty", "one bit", "text"])
def test_a_damaged_file_is_as_good_as_none_and_is_replaced(kept, damage):
    kept.put("ab" * 32, RESULT)
    path = kept._path("ab" * 32)
    data = path.read_bytes()
    flipped = data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]
    path.write_bytes({"cut": data[:-9], "empty": b"", "one bit": flipped, "text": b"hello"}[damage])
    assert kept.get("ab" * 32) is None
    kept.put("ab" * 32, RESULT)
    assert kept.get("ab" * 32) == RESULT


def test_what_is_left_out_of_a_file_changes_nothing_of_what_is_rebuilt(release_cells, notebook):
    content = notebook(double="x = 1\n\ndef double(x):\r\n    return 2 * x")
    content["cells"].insert(
        1, {"cell_type": "code", "metadata": {}, "source": ["helper = 1\n", "x"]}
    )
    content["cells"][3] |= {"id": "other", "metadata": {"tags": ["skip"]}}
    content["cells"].append({"cell_type": "raw", "source": "\ud800", "metadata": None, "id": 7})
    picture = {"a.png": {"image/png": "aGVsbG8="}}
    content["cells"].append({"cell_type": "markdown", "source": "![](a)", "attachments": picture})
    data = json.dumps(content).encode()

    def rebuilt(raw):
        return rebuild.rebuild(release_cells, rebuild.read_cells(raw)[0])

    assert rebuilt(essence(data)) == rebuilt(data)
    assert essence(essence(data)) == essence(data)


@pytest.mark.parametrize("data", [b"{", b"", b"[" * 100_000, b'{"cells": 3}', b"\xff\xfe"])
def test_a_file_that_is_no_notebook_stays_as_it_is(data):
    assert essence(data) == data


def test_points_come_from_the_released_checks(release_cells):
    assert points_of(release_cells) == {"double": 3.0, "scaled": 2.0}

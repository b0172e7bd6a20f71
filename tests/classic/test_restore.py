"""The notebook that runs is the student's, with the instructor's cells put back.

Promised: every marked cell stands in it exactly once, with the gradebook's text, kind and points, whatever was
done to it; a test runs after the answer it tests; nothing that a student wrote is dropped.
"""

import json
import random

import pytest
from nbgrader.nbgraderformat import MetadataValidator

from autograder.classic.course import Marked, Sheet
from autograder.classic.restore import restore
from autograder.grading.rebuilding.cells import NotebookError


def marked(name, text, kind="code", points=0.0, **kinds):
    told = dict.fromkeys(("grade", "solution", "task", "locked"), False) | kinds
    return Marked(name, kind, text, f"{name:-<32}", points=points, **told)


STUB = "def {0}(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
MARKED = [
    marked("given", "UNIT = 10", locked=True),
    marked("f", STUB.format("f"), solution=True),
    marked("test-f", "assert f(1) == 1  # hidden", grade=True, locked=True, points=2),
    marked("g", STUB.format("g"), solution=True),
    marked("test-g", "assert g(1) == 2  # hidden", grade=True, locked=True, points=3),
    marked("why", "YOUR ANSWER HERE", "markdown", grade=True, solution=True, points=4),
    marked("effort", "Do more.", "markdown", task=True, locked=True, points=5),
]
IMPORTS = "import math"
RELEASED = [
    ("", "# Title"),
    ("", IMPORTS),
    *((m.name, m.text.replace("  # hidden", "")) for m in MARKED),
]
SHEET = Sheet("one", {"name": "python3", "language": "python"}, MARKED, RELEASED)
ANSWERED = {"f": "def f(x):\n    return x", "g": "def g(x):\n    return 2 * x", "why": "Because."}


def handed_out(**answers):
    """The released notebook with answers, as JSON."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "# Title"}]
    cells.append({"cell_type": "code", "metadata": {}, "source": IMPORTS})
    for m in MARKED:
        about = {"grade_id": m.name, "grade": m.grade, "solution": m.solution, "locked": m.locked}
        about |= {"task": m.task, "schema_version": 3, "points": m.points, "checksum": "?"}
        text = (ANSWERED | answers).get(m.name, m.text.replace("  # hidden", ""))
        cells.append({"cell_type": m.kind, "metadata": {"nbgrader": about}, "source": text})
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def place(notebook, name):
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"]]
    return ids.index(name)


def restored(notebook):
    return restore(SHEET, json.dumps(notebook).encode())


def names(made):
    return [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in made.notebook.cells]


def sources(made):
    return [cell.source for cell in made.notebook.cells]


def test_an_honest_notebook_gets_its_hidden_tests_back_and_stays_as_it_is():
    made = restored(handed_out())
    assert names(made) == ["", "", "given", "f", "test-f", "g", "test-g", "why", "effort"]
    expected = [ANSWERED.get(m.name, m.text) for m in MARKED]
    assert sources(made) == ["# Title", IMPORTS, *expected]
    assert made.notes == []


def test_points_kinds_locks_and_kernel_are_the_gradebooks():
    notebook = handed_out()
    for cell in notebook["cells"][2:]:
        cell["metadata"]["nbgrader"] |= {
            "points": 99,
            "grade": False,
            "solution": True,
            "locked": False,
        }
        cell["metadata"]["editable"] = True
        cell["cell_type"] = "raw"
    notebook["metadata"]["kernelspec"] = {"name": "ir"}
    made = restored(notebook)
    about = {c.metadata.nbgrader.grade_id: c.metadata.nbgrader for c in made.notebook.cells[2:]}
    for m in MARKED:
        told = about[m.name]
        kinds = (told.grade, told.solution, told.task, told.locked)
        assert kinds == (m.grade, m.solution, m.task, m.locked)
        assert told.get("points", 0) == m.points
    assert [c.cell_type for c in made.notebook.cells[2:]] == [m.kind for m in MARKED]
    assert made.notebook.metadata.kernelspec == SHEET.kernel
    MetadataValidator().validate_nb(made.notebook)


def test_edited_tests_are_put_back_and_deleted_ones_after_the_helpers_of_their_answer():
    notebook = handed_out()
    notebook["cells"][place(notebook, "test-f")]["source"] = "pass"
    notebook["cells"].insert(
        place(notebook, "g") + 1, {"cell_type": "code", "metadata": {}, "source": "help = 1"}
    )
    for name in ("test-g", "given", "effort"):
        del notebook["cells"][place(notebook, name)]
    made = restored(notebook)
    assert names(made) == ["", "", "given", "f", "test-f", "g", "", "test-g", "why", "effort"]
    assert sources(made)[4] == MARKED[2].text
    assert made.said == ["put back as they were handed out, read-only cells: given"]
    assert restored(handed_out()).said == []


@pytest.mark.parametrize("blank", [STUB.format("f"), ""], ids=["the stub", "empty"])
@pytest.mark.parametrize("at", ["before", "after"])
def test_of_a_copied_answer_the_one_with_an_answer_counts_and_the_test_runs_after_it(blank, at):
    notebook = handed_out()
    spare = dict(notebook["cells"][place(notebook, "f")], source=blank)
    notebook["cells"].insert(
        place(notebook, "f") if at == "before" else len(notebook["cells"]), spare
    )
    made = restored(notebook)
    kept = names(made).index("f")
    assert sources(made)[kept] == ANSWERED["f"] and names(made).count("f") == 1
    assert kept < names(made).index("test-f") and blank in sources(made)


def test_an_answer_solved_in_a_copy_below_its_test_is_tested_all_the_same():
    notebook = handed_out(f=STUB.format("f"))
    solved = dict(notebook["cells"][place(notebook, "f")], source=ANSWERED["f"])
    notebook["cells"].append(solved)
    made = restored(notebook)
    assert names(made)[-2:] == ["f", "test-f"] and sources(made)[-2] == ANSWERED["f"]


def test_a_broken_copy_far_below_does_not_move_the_test_away_from_the_answer():
    notebook = handed_out()
    notebook["cells"].append(
        dict(notebook["cells"][place(notebook, "f")], source="def f(x):\n    oops")
    )
    made = restored(notebook)
    assert names(made).index("test-f") == 4 and sources(made)[3] == ANSWERED["f"]


def test_sections_in_another_order_stay_in_it():
    notebook = handed_out()
    cells = notebook["cells"]
    notebook["cells"] = [*cells[:3], *cells[5:7], *cells[3:5], *cells[7:]]
    assert names(restored(notebook)) == [
        "",
        "",
        "given",
        "g",
        "test-g",
        "f",
        "test-f",
        "why",
        "effort",
    ]


def test_answers_whose_metadata_is_gone_are_known_by_what_they_define():
    notebook = handed_out()
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    made = restored(notebook)
    assert [n for n in names(made) if n in ("f", "test-f", "g", "test-g")] == [
        "f",
        "test-f",
        "g",
        "test-g",
    ]
    assert len(made.notes) == 3 and "the answer f was found by what it defines" in made.notes[0]


def test_a_written_answer_that_is_not_there_is_not_taken_for_no_response():
    notebook = handed_out()
    notebook["cells"][place(notebook, "why")]["metadata"] = {}
    made = restored(notebook)
    assert sources(made)[names(made).index("why")] != MARKED[5].text and "Because." in sources(made)
    assert made.notes == ["the answer why was not found, and waits for a person"]


def test_a_strange_id_is_a_cell_like_any_other():
    notebook = handed_out()
    about = {"grade_id": "bonus", "grade": True, "points": 50, "solution": False, "locked": True}
    notebook["cells"].append({"cell_type": "code", "metadata": {"nbgrader": about}, "source": "1"})
    made = restored(notebook)
    assert made.notebook.cells[-1].metadata == {} and sources(made)[-1] == "1"


def test_pasted_pictures_stay_and_other_attachments_go():
    notebook = handed_out()
    files = {
        "a.png": {"image/png": "aGk="},
        "b": {"text/html": "<script>"},
        "c": {"image/png": "?"},
        "d": 3,
    }
    notebook["cells"][place(notebook, "why")]["attachments"] = files
    made = restored(notebook)
    assert made.notebook.cells[names(made).index("why")].attachments == {
        "a.png": {"image/png": "aGk="}
    }


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"%PDF-1.4", b'{"cells": 3}'])
def test_what_is_no_notebook_is_told_in_words(data):
    with pytest.raises(NotebookError, match=r"^it (is|has) "):
        restore(SHEET, data)


def _copy(cells, rng):
    cells.insert(rng.randrange(len(cells) + 1), dict(rng.choice(cells)))


def _delete(cells, rng):
    del cells[rng.randrange(len(cells))]


def _edit(cells, rng):
    at = rng.randrange(len(cells))
    cells[at] = dict(cells[at], source=f"edited = {rng.random()}")


def _strip(cells, rng):
    at = rng.randrange(len(cells))
    cells[at] = dict(
        cells[at], metadata=rng.choice([{}, {"nbgrader": 3}, {"nbgrader": {"grade_id": ["f"]}}])
    )


def _swap(cells, rng):
    a, b = rng.randrange(len(cells)), rng.randrange(len(cells))
    cells[a], cells[b] = cells[b], cells[a]


def _change_kind(cells, rng):
    at = rng.randrange(len(cells))
    cells[at] = dict(cells[at], cell_type=rng.choice(["code", "markdown", "raw", "heading", None]))


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_done_each_marked_cell_is_there_once_and_no_text_is_lost(
    seed,
):
    rng = random.Random(seed)
    notebook = handed_out()
    for _ in range(rng.randrange(1, 12)):
        rng.choice([_copy, _delete, _edit, _strip, _swap, _change_kind])(notebook["cells"], rng)
        notebook["cells"] = notebook["cells"] or [
            {"cell_type": "code", "metadata": {}, "source": "1"}
        ]
    made = restored(notebook)
    MetadataValidator().validate_nb(made.notebook)
    cells = {
        c.metadata.nbgrader.grade_id: c for c in made.notebook.cells if c.metadata.get("nbgrader")
    }
    needed = {m.name for m in MARKED if m.grade or m.task or m.locked}
    assert needed <= cells.keys() and len(cells) == len([n for n in names(made) if n])
    for m in MARKED:
        if not m.solution:
            assert cells[m.name].source == m.text
    own = [c["source"] for c in notebook["cells"] if not _is_locked(c)]
    assert set(own) <= set(sources(made))


def _is_locked(cell):
    about = cell["metadata"].get("nbgrader")
    name = about.get("grade_id") if isinstance(about, dict) else None
    return any(m.name == name and not m.solution for m in MARKED)

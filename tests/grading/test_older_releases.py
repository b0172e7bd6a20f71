"""A hand-in that was made from another release is never graded on other questions without saying so."""

import copy
import json

import pytest

from autograder.grading import jobs
from autograder.grading.rebuilding import editions, rebuild
from autograder.grading.rebuilding.rebuild import read_cells
from autograder.results import looks
from descent import editions as carrying
from tests.grading.toy_chapter import SOLVED

OLD, NOW = "0123456789abcdef", "fedcba9876543210"


def by_id(notebook, name):
    return next(cell for cell in notebook["cells"] if cell["id"] == name)


def of_release(notebook, source=OLD, changed=()):
    """A hand-in as one that was made from another release."""
    made = copy.deepcopy(notebook)
    made["metadata"]["descent"]["source"] = source
    for name in changed:
        by_id(made, name)["metadata"]["nbgrader"]["checksum"] = "as it was"
    return made


def cells(notebook):
    return read_cells(json.dumps(notebook).encode())[0]


def test_an_answer_whose_text_has_changed_is_named_and_no_other(released, notebook):
    old = of_release(notebook(), changed=["scaled", "why"])
    assert editions.changed(cells(released), cells(old)) == ["scaled", "why"]
    assert editions.changed(cells(released), cells(notebook())) == []


def test_what_has_lost_its_marks_is_not_accused(released, notebook):
    bare = notebook()
    for cell in bare["cells"]:
        cell["metadata"] = {}
    assert editions.changed(cells(released), cells(bare)) == []


def test_the_note_names_both_releases(notebook):
    now = {"descent": {"source": NOW}}
    assert editions.words(now, {"descent": {"source": OLD}}, ["double"]) == [
        f"made from another release of the notebook ({OLD}, now {NOW}). Asked otherwise since: double"
    ]
    (told,) = editions.words(now, {"descent": {"source": OLD}}, [])
    assert told.endswith("Asked otherwise since: nothing that is answered")
    assert editions.words(now, now, []) == editions.words(now, {}, []) == []


def test_what_update_carried_is_of_this_release_and_its_note_is_no_answer(released, notebook):
    old = of_release(notebook(), changed=["double"])
    before = carrying.released(released) | {"double": "asked otherwise"}
    mine = carrying.merge(old, released, before)
    assert mine.changed == ["double"]
    assert editions.changed(cells(released), cells(mine.notebook)) == []
    made = rebuild.rebuild(cells(released), cells(mine.notebook))
    found = {
        part.name: part.cell.source for part in made.parts if part.role in ("answer", "written")
    }
    assert found == SOLVED and made.untouched == set()


@pytest.mark.parametrize("told", ["<script>", 7, ["0123456789abcdef"], "", None])
def test_only_a_hash_is_taken_for_the_name_of_a_release(told):
    assert editions.source({"descent": {"source": told}}) == ""


def test_hand_ins_of_two_releases_are_two_results(notebook):
    one, other = (
        jobs.essence(json.dumps(of_release(notebook(), source)).encode()) for source in (OLD, NOW)
    )
    assert one != other and jobs.essence(one) == one


@pytest.mark.sandbox
def test_an_old_hand_in_is_graded_and_what_changed_is_told(graded, notebook):
    told, submission = graded(of_release(notebook(), changed=["scaled", "why"]))
    assert told["scaled"].points == 2 and submission.look
    assert "its text has changed since the release" in told["scaled"].how
    assert "changed" not in told["double"].how
    assert "its text has changed" in submission.written[0].how
    (reason,) = [one for one in looks.reasons(submission) if "another release" in one]
    assert reason.endswith("Asked otherwise since: scaled, why")


@pytest.mark.sandbox
def test_a_hand_in_of_this_release_is_not_spoken_of(graded, notebook):
    _, submission = graded(notebook())
    assert submission.notes == [] and not submission.look

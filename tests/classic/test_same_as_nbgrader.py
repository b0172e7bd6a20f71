"""Classic assignments get what `nbgrader autograde` gives, save where an accident of nbgrader's costs marks.

Promised: on nbgrader's quickstart course and on a course with every kind of cell, the gradebook's rows (score, most,
whether it waits for a person, comment, late penalty) are the same. The accidents are those of the package's README.
"""

import copy
import shutil
import textwrap
from pathlib import Path

import nbgrader
import pytest

from autograder.classic.grade import grade
from tests.classic.toy_course import ANSWERS, PS, find, hand_in, released, rows, solved
from tests.classic.toy_course import nbgrader as run_nbgrader

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

WRONG = {
    "area": "def area(r):\n    return 3 * r",
    "primes": "def primes(n):\n    return [1]",
    "total": "def total(path):\n    return open('nowhere').read()",
    "assign": "number = '42'\nword = 'sparrow'",
}
PARTIAL = {
    "area": "def area(r):\n    return math.pi * r * r",  # the hidden test finds it
    "primes": "def primes(n):\n    return [2, 3] if n else []",
    "assign": "number = 42\nword = 'sparrow'",
    "why": None,
}
# What happens at nbgrader's limit and at ours: a loop that nobody waits for is interrupted.
LOOP = "import signal\nsignal.raise_signal(signal.SIGINT)\nwhile True:\n    pass"
LOOP_AFTER = ANSWERS["primes"] + "\n" + LOOP


def _edited(course):
    """The tests, a read-only cell, points and the kernel changed; a helper added; outputs left."""
    notebooks = solved(course, area="def area(r):\n    return 0")
    kinds = notebooks["kinds"]
    for name in ("test-area", "test-primes", "given"):
        find(kinds, name)["source"] = "pass"
        find(kinds, name)["metadata"]["nbgrader"]["points"] = 100
    shown = [{"output_type": "stream", "name": "stdout", "text": "all passed"}]
    added = {
        "cell_type": "code",
        "metadata": {},
        "source": "1 / 0",
        "outputs": shown,
        "execution_count": 1,
    }
    kinds["cells"].insert(3, added)
    kinds["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    return notebooks


def _deleting(course):
    notebooks = solved(course)
    gone = [
        find(notebooks["kinds"], n)
        for n in ("test-area", "test-primes", "test-total", "why", "plot")
    ]
    notebooks["kinds"]["cells"] = [c for c in notebooks["kinds"]["cells"] if c not in gone]
    return notebooks


def _skipping(course):
    notebooks = solved(course, area="def area(r):\n    return 0")
    find(notebooks["kinds"], "test-area")["metadata"]["tags"] = ["skip-execution"]
    return notebooks


def _copied(course):
    notebooks = solved(course)
    notebooks["kinds"]["cells"].append(copy.deepcopy(find(notebooks["kinds"], "area")))
    return notebooks


def _printing(course):
    """Much is printed, and a number is computed but not shown; one of two notebooks is handed in."""
    loud = ANSWERS["area"] + "\nfor i in range(3000):\n    print(i)\n0.5;"
    return {"kinds": solved(course, area=loud)["kinds"]}


LOOPS = "def primes(n):\n" + textwrap.indent(LOOP, "    ")
ENDLESS = "def primes(n):\n    while True:\n        pass"
SAME = {
    "honest": solved,
    "wrong": lambda course: solved(course, **WRONG),
    "partial": lambda course: solved(course, **PARTIAL),
    "unsolved": released,
    "emptied": lambda course: solved(course, primes="", why="", plot=""),
    "edited": _edited,
    "printing": _printing,
    "loops-when-called": lambda course: solved(course, primes=LOOPS),
    "loops-after-the-answer": lambda course: solved(course, primes=LOOP_AFTER),
}
STAMPS = {"partial": "2031-01-01 00:00:00 UTC", "honest": "2029-12-31 00:00:00 UTC"}

FULL = {"test-area": 2, "test-primes": 3, "test-total": 1}
NONE = dict.fromkeys(FULL)
# What nbgrader gives, and what we give, for the tests of "kinds".
ACCIDENTS = {
    "warns": (
        lambda c: solved(c, area="import warnings\n" + ANSWERS["area"] + " + bool(warnings.warn('!'))"),
        FULL | {"test-area": 0}, FULL,
    ),
    "ends-the-process": (
        lambda c: solved(c, primes="def primes(n):\n    import os\n    os._exit(3)"),
        NONE, FULL | {"test-primes": 0},
    ),
    "deletes": (_deleting, NONE, FULL),
    "skips-a-test": (_skipping, FULL, FULL | {"test-area": 0}),
    "zz-copied": (_copied, NONE, FULL),  # last in the order: nbgrader grades nobody after it
}  # fmt: skip


@pytest.fixture(scope="module")
def both(course, tmp_path_factory):
    """The course as nbgrader graded it, and as we did."""
    folder = tmp_path_factory.mktemp("both")
    shutil.copytree(course, folder / "theirs")
    for student, make in SAME.items():
        hand_in(folder / "theirs", student, make(course), STAMPS.get(student, ""))
    for student, (make, _, _) in ACCIDENTS.items():
        hand_in(folder / "theirs", student, make(course))
    shutil.copytree(folder / "theirs", folder / "ours")
    assert run_nbgrader(folder / "theirs", "autograde", PS).returncode == 1
    assert grade(folder / "ours", PS) == 1  # two written answers were not found
    return folder / "theirs", folder / "ours"


@pytest.mark.parametrize("student", SAME)
def test_the_gradebook_says_the_same(both, student):
    theirs, ours = (rows(folder, student) for folder in both)
    assert ours == theirs
    assert (
        len(ours) == 14
    )  # one row for each cell that is graded or commented, and for each notebook


@pytest.mark.parametrize("student", ACCIDENTS)
def test_an_accident_of_nbgraders_costs_nothing_here(both, student):
    _, expected_theirs, expected_ours = ACCIDENTS[student]
    theirs, ours = (rows(folder, student) for folder in both)
    assert {name: theirs["kinds", name]["auto"] for name in FULL} == expected_theirs
    assert {name: ours["kinds", name]["auto"] for name in FULL} == expected_ours


def test_an_endless_loop_reaches_the_limit_of_a_cell_and_earns_nothing_in_both(course, tmp_path):
    """With a limit that other cells may reach too, so only the loop's test is asked for."""
    for place, run in (
        ("theirs", lambda folder: run_nbgrader(folder, "autograde", PS).returncode),
        ("ours", lambda folder: grade(folder, PS)),
    ):
        folder = shutil.copytree(course, tmp_path / place)
        with (folder / "nbgrader_config.py").open("a") as config:
            config.write("c.Execute.timeout = 1\n")
        hand_in(folder, "endless", {"kinds": solved(course, primes=ENDLESS)["kinds"]})
        assert run(folder) == 0
        assert rows(folder, "endless")["kinds", "test-primes"]["auto"] == 0


def test_a_written_answer_that_was_deleted_waits_for_a_person_in_both(both):
    theirs, ours = (rows(folder, "deletes") for folder in both)
    for name in ("why", "plot", "effort"):
        assert ours["kinds", name] == theirs["kinds", name] and ours["kinds", name]["waits"]


def test_the_classes_points_are_as_expected(both):
    """So that the comparisons above compare something."""
    scores = {}
    for student in ("honest", "wrong", "partial", "unsolved", "edited"):
        told = rows(both[1], student)
        scores[student] = [told[key]["auto"] for key in sorted(told) if key[1].startswith("test-")]
    assert scores == {
        "honest": [1, 1, 2, 3, 1],
        "wrong": [0, 0, 0, 0, 0],
        "partial": [1, 0, 0, 1.5, 1],
        "unsolved": [0, 0, 0, 0, 0],
        "edited": [1, 1, 0, 3, 1],
    }
    assert (
        rows(both[1], "partial")["kinds", ""]["penalty"] == 2.5
    )  # late: the course's method takes all
    assert rows(both[1], "partial")["kinds", "why"]["comment"] == "No response."


def test_nbgraders_feedback_is_made_of_what_we_wrote_and_runs_nothing_of_a_students(both):
    run_nbgrader(both[1], "generate_feedback", PS, "--student", "honest")
    page = (both[1] / "feedback/honest" / PS / "kinds.html").read_text()
    assert "Since <math" in page and "image/png;base64" in page
    assert "alert(1)" not in page and "(Score: 2.0 / 2.0)" in page


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """nbgrader's own example with its own two submissions, graded by both."""
    folder = tmp_path_factory.mktemp("quickstart")
    run_nbgrader(folder, "quickstart", "theirs")
    run_nbgrader(folder / "theirs", "generate_assignment", PS)
    guide = Path(nbgrader.__file__).parent / "docs/source/user_guide"
    shutil.copytree(guide / "submitted", folder / "theirs/submitted")
    shutil.copytree(folder / "theirs", folder / "ours")
    assert run_nbgrader(folder / "theirs", "autograde", PS).returncode == 0
    assert grade(folder / "ours", PS) == 0
    return folder / "theirs", folder / "ours"


@pytest.mark.parametrize("student", ["bitdiddle", "hacker"])
def test_the_quickstart_course_gets_the_same(quickstart, student):
    theirs, ours = (rows(folder, student) for folder in quickstart)
    assert ours == theirs
    scores = [row["auto"] for row in ours.values() if "auto" in row]
    assert (
        len(scores) == 9
        and sum(score or 0 for score in scores) == {"bitdiddle": 1.5, "hacker": 3}[student]
    )

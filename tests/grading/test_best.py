"""The policy "best": every attempt is graded, and what everything after sees is the one with most points."""

import csv
import io
import json
import shutil

import pytest

from autograder.grading import best, grade, verdicts
from autograder.grading.dispatch.way import Way
from autograder.grading.jobs import Done, GradeError, read_job
from autograder.grading.verdicts import Graded, Submission
from autograder.handins import attempts, collect
from autograder.results import export
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SHORT, STEM

BEST = f"""
timezone = "UTC"
attempts = "best"
[deadlines]
{CHAPTER} = 2026-09-02T00:00:00
[late]
percent_per_day = 30
"""


@pytest.fixture
def counted(monkeypatch):
    """Instead of running an answer, its number counts: `double = 3` gets 3 of 5 points. Lists who was graded."""
    asked = []

    def graded(space, chapter, students, way):
        for student in students:
            cells = json.loads(read_job(space, chapter, student).files[STEM])["cells"]
            points = float(next(c["source"] for c in cells if c["id"] == "double").split()[-1])
            asked.append(student)
            verdict = Graded("double", NOTEBOOK, "partial", points, 5.0, "")
            yield Done(Submission(chapter, student, verdicts=[verdict]), {})

    monkeypatch.setattr(best, "graded", graded)
    return asked


@pytest.fixture
def settled(space, hand_in, notebook, counted):
    """settled(policy, {student: [(stamp, points), …]}) -> {student: points of what is laid out}."""

    def run(text, handed_in):
        space.folder.mkdir(exist_ok=True)
        (space.folder / "policy.toml").write_text(text)
        for student, mine in handed_in.items():
            paths = [
                hand_in(student, notebook(double=f"double = {points}"), stamp)
                for stamp, points in mine
            ]
            collect.collect(space, CHAPTER, paths)
        best.settle(space, CHAPTER, list(handed_in), Way())
        return {student: laid_out(space, student) for student in handed_in}

    return run


def laid_out(space, student):
    cells = json.loads(read_job(space, CHAPTER, student).files[STEM])["cells"]
    return int(next(cell["source"] for cell in cells if cell["id"] == "double").split()[-1])


def test_most_points_win_after_the_penalty_and_the_later_of_equals(settled, space, counted):
    early, later, late = "20260830-120000", "20260901-120000", "20260902-120000"
    found = settled(BEST, {
        "ada": [(early, 4), (later, 2)],
        "bob": [(early, 2), (late, 3)],  # 3 less 30 % of 5 is 1.5
        "eve": [(early, 2), (late, 5)],
        "one": [(late, 1)],
    })  # fmt: skip
    assert found == {"ada": 4, "bob": 2, "eve": 5, "one": 1}
    # Each once, and whoever has no choice not at all.
    assert counted == [f"{student}--{n}" for student in ("ada", "bob", "eve") for n in (0, 1)]
    settled(BEST, {"tie": [(early, 4), (later, 4)]})
    assert attempts.current(space, CHAPTER, "tie").endswith(f"{later}.zip")


def test_a_dropped_exercise_does_not_decide(settled, space):
    drop = f'drop = ["{NOTEBOOK}/double"]\n'
    settled(drop + BEST, {"ada": [("20260830-120000", 4), ("20260901-120000", 2)]})
    assert laid_out(space, "ada") == 2


def test_under_last_nothing_is_graded_for_it(settled, counted):
    settled(BEST.replace("best", "last"), {"ada": [("20260830-120000", 4), ("20260901-120000", 2)]})
    assert counted == []


def test_collecting_again_leaves_the_best_where_it_is(settled, space, monkeypatch):
    settled(BEST, {"ada": [("20260830-120000", 4), ("20260901-120000", 2)]})
    monkeypatch.setattr(collect, "workspace", lambda: space)
    assert collect.main([CHAPTER]) == 0
    assert laid_out(space, "ada") == 4


def test_a_damaged_attempt_leaves_the_others_their_chance(settled, space):
    settled(BEST, {"ada": [("20260830-120000", 2), ("20260901-120000", 4)]})
    (space.received(CHAPTER, "ada") / f"{CHAPTER}--ada--20260901-120000.zip").write_bytes(b"PK")
    shutil.rmtree(space.folder / "attempts")
    best.settle(space, CHAPTER, ["ada"], Way())
    assert laid_out(space, "ada") == 2


def test_a_slip_in_the_policy_stops_before_anything_is_graded(settled):
    with pytest.raises(GradeError, match="policy.toml: attempts: 'most' is none of last, best"):
        settled('attempts = "last"', {"ada": [("20260830-120000", 4)]})
        settled('attempts = "most"', {})


@pytest.mark.sandbox
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_gradebook_and_export_have_the_best(space, hand_in, notebook, monkeypatch, capsys):
    space.folder.mkdir()
    (space.folder / "policy.toml").write_text(BEST)
    wrong = "def double(x):\n    return 3 * x"
    answers = [notebook(), notebook(double=wrong), notebook(double=wrong, scaled=None)]
    stamps = ["20260830-120000", "20260831-120000", "20260901-120000"]
    collect.collect(
        space, CHAPTER, [hand_in("ada", a, s) for a, s in zip(answers, stamps, strict=True)]
    )
    grade.grade_chapter(space, CHAPTER, way=Way(limits=SHORT, jobs=1))
    assert verdicts.load(space, CHAPTER, "ada").points == 5.0
    monkeypatch.setattr(export, "workspace", lambda: space)
    capsys.readouterr()
    assert export.main([CHAPTER]) == 0
    header, _, row = csv.reader(io.StringIO(capsys.readouterr().out))
    assert dict(zip(header, row, strict=True))["total"] == "5.0"
    assert len(attempts.kept(space, CHAPTER, "ada")) == 3

"""`autograder grade`, from collected hand-ins to gradebook and verdict files."""

import pytest

from autograder.engine import sandbox
from autograder.grading import grade, verdicts
from autograder.handins import collect
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SHORT

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def here(monkeypatch, project, tmp_path):
    """The command's workspace is this test's."""
    space = Workspace(tmp_path / "grading", project)
    monkeypatch.setattr(grade, "workspace", lambda: space)
    return space


@pytest.mark.sandbox
def test_a_class_goes_from_hand_ins_to_marks(here, hand_in, notebook, capsys):
    records = {NOTEBOOK: {"exercises": {"double": {"seconds": 12, "checks": 2}}}}
    crash = notebook(double="import os; os._exit(1)", scaled=None)
    paths = [
        hand_in("ada", notebook(), manifest={"records": records}),
        hand_in("bob", notebook(double=None, scaled=None, why=None)),
        hand_in("cyd", crash),
    ]
    assert all(outcome.taken for outcome in collect.collect(here, CHAPTER, paths))
    assert grade.main([CHAPTER]) == 0
    told = {submission.student: submission for submission in verdicts.load_all(here, CHAPTER)}
    assert {name: submission.points for name, submission in told.items()} == {
        "ada": 5.0,
        "bob": 0.0,
        "cyd": 0.0,
    }
    assert [verdict.kind for verdict in told["cyd"].verdicts] == ["exited", "unsolved"]
    assert (told["ada"].verdicts[0].worked, told["ada"].verdicts[0].checks) == (12.0, 2)
    assert [written.answered for written in told["ada"].written] == [True]
    shown = capsys.readouterr().out
    assert "ada: 5 of 5 points (2 full)" in shown and "3 graded, 0 need a look." in shown


@pytest.mark.sandbox
def test_one_unreadable_notebook_asks_for_a_look_and_stops_nobody(here, hand_in, notebook, capsys):
    collect.collect(
        here,
        CHAPTER,
        [hand_in(name, notebook(double=None, scaled=None)) for name in ("ada", "bob")],
    )
    (here.submitted(CHAPTER, "ada") / "01_first.ipynb").write_bytes(b"{")
    assert grade.main([CHAPTER]) == 1
    assert "2 graded, 1 need a look: ada" in capsys.readouterr().out


def test_an_error_of_the_grader_itself_stops_nobody(space, notebook, monkeypatch, capsys):
    def fail(*arguments):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(grade.grade_run, "run", fail)
    cells = grade.rebuild.read_cells(space.release(CHAPTER)["01_first"].read_bytes())[0]
    points = {"01_first": {"double": 3.0, "scaled": 2.0}}
    chapter = grade.Chapter(
        CHAPTER, {"01_first": cells}, points, {"01_first": {"double": {}, "scaled": {}}}
    )
    submission, _ = grade.Grader(space, chapter, None, None, SHORT).grade("ada")
    assert submission.look and {verdict.kind for verdict in submission.verdicts} == {"error"}
    assert "out of luck" in capsys.readouterr().err


def test_without_a_sandbox_it_refuses_and_says_what_to_do(
    here, hand_in, notebook, monkeypatch, capsys
):
    collect.collect(here, CHAPTER, [hand_in("ada", notebook())])
    monkeypatch.setattr(
        sandbox, "problem", lambda: "bubblewrap is not installed. " + sandbox.ADVICE
    )
    assert grade.main([CHAPTER]) == 2
    assert "grade: bubblewrap is not installed." in capsys.readouterr().err
    assert not here.verdict_file(CHAPTER, "ada").exists()


def test_told_so_in_so_many_words_it_grades_without_one_and_warns(
    here, hand_in, notebook, monkeypatch, capsys
):
    collect.collect(
        here, CHAPTER, [hand_in("ada", notebook(double="def double(x):\n    return x + x"))]
    )
    monkeypatch.setattr(sandbox, "problem", lambda: "bubblewrap is not installed.")
    assert grade.main([CHAPTER, "--no-sandbox"]) == 0
    assert verdicts.load(here, CHAPTER, "ada").points == 5.0
    assert "WARNING: no sandbox." in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([CHAPTER], "nobody has handed in 98_tiny. First: autograder collect"),
        ([CHAPTER, "--student", "zoe"], "no hand-in of 98_tiny from zoe"),
        (["97_none"], "nobody has handed in 97_none"),
    ],
)
def test_what_cannot_be_graded_is_told_with_what_to_do(here, capsys, arguments, words):
    assert grade.main(arguments) == 2
    assert words in capsys.readouterr().err

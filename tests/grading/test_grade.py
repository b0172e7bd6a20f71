"""`autograder grade`, from collected hand-ins to gradebook and verdict files."""

import pytest

from autograder.engine import sandbox
from autograder.grading import grade, grader, jobs, running, verdicts
from autograder.handins import collect
from autograder.results import export
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SHORT, STEM

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
    assert "3 graded, 0 need a look." in capsys.readouterr().out


@pytest.mark.sandbox
def test_one_unreadable_notebook_asks_for_a_look_and_stops_nobody(here, hand_in, notebook, capsys):
    collect.collect(
        here,
        CHAPTER,
        [hand_in(name, notebook(double=None, scaled=None)) for name in ("ada", "bob")],
    )
    (here.submitted(CHAPTER, "ada") / "01_first.ipynb").write_bytes(b"{")
    assert grade.main([CHAPTER]) == 1
    shown = capsys.readouterr().out
    assert "2 graded, 1 need a look: ada" in shown
    assert "look at ada: The notebook 01_first cannot be read" in shown


@pytest.mark.sandbox
def test_an_unchanged_class_is_not_run_again_and_a_lost_gradebook_is_written_again(
    here, hand_in, notebook, monkeypatch
):
    collect.collect(here, CHAPTER, [hand_in("ada", notebook()), hand_in("bob", notebook())])
    assert grade.main([CHAPTER]) == 0
    path = here.verdict_file(CHAPTER, "ada")
    before = path.read_text()
    assert (
        verdicts.load(here, CHAPTER, "bob").seconds == verdicts.load(here, CHAPTER, "ada").seconds
    )
    path.write_text("{}")
    (here.folder / "gradebook.db").unlink()
    monkeypatch.setattr(running._Run, "_workers", lambda self: pytest.fail("something was run"))
    assert grade.main([CHAPTER]) == 0
    assert path.read_text() == before
    columns, rows = export.marks(here, [CHAPTER])
    assert rows["ada"] == rows["bob"] and sum(rows["ada"].values()) == 5.0


def test_an_error_of_the_grader_itself_stops_nobody(release_cells, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(grader.grade_run, "run", fail)
    data = {name: {"probe": None, "limit": 1, "cases": []} for name in ("double", "scaled")}
    chapter = jobs.Chapter(CHAPTER, {STEM: release_cells}, {STEM: {}}, {STEM: data})
    done = grader.Grader(chapter, None, None, SHORT).grade(jobs.Job("ada", {}))
    assert done.submission.look and done.failed
    assert {verdict.kind for verdict in done.submission.verdicts} == {"error"}
    assert "out of luck" in done.submission.notes[0]
    assert done.submission.written[0].answered  # unseen: a person has to look


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


@pytest.mark.parametrize(
    "error, words",
    [
        (OSError(28, "No space left on device", "/grading"), "grade: [Errno 28] No space left"),
        (KeyboardInterrupt(), "grade: stopped. What was finished is kept"),
    ],
)
def test_a_full_disk_or_ctrl_c_ends_with_a_sentence(here, monkeypatch, capsys, error, words):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(grade, "grade_chapter", fail)
    assert grade.main([CHAPTER]) == 2
    assert words in capsys.readouterr().err


def test_an_assignment_of_another_course_does_not_go_to_a_scheduler(here, tmp_path, capsys):
    assert grade.main(["ps1", "--course", str(tmp_path), "--scheduler", "tls://x:1"]) == 2
    assert "--scheduler grades chapters of this course only" in capsys.readouterr().err

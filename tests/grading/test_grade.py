"""`autograder grade`, from collected hand-ins to gradebook and verdict files."""

import pytest

from autograder.engine import sandbox
from autograder.grading import changes, grade, jobs, verdicts
from autograder.grading.dispatch import run
from autograder.grading.verdicts import Graded, Submission
from autograder.grading.workers import grader
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
    assert "2 graded, 1 needs a look: ada" in shown
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
    monkeypatch.setattr(run._Run, "_workers", lambda self: pytest.fail("something was run"))
    assert grade.main([CHAPTER]) == 0
    assert path.read_text() == before
    columns, rows = export.marks(here, [CHAPTER])
    assert rows["ada"] == rows["bob"] and sum(rows["ada"].values()) == 5.0


@pytest.mark.sandbox
def test_marks_that_change_without_a_new_hand_in_are_told(here, hand_in, notebook, capsys):
    path = hand_in("ada", notebook(double=None))
    collect.collect(here, CHAPTER, [path, hand_in("bob", notebook())])
    assert grade.main([CHAPTER]) == grade.main([CHAPTER]) == 0
    assert "changed" not in capsys.readouterr().out
    said = verdicts.load(here, CHAPTER, "ada")
    said.verdicts[0].points += 0.5  # as an older specification had it
    verdicts.save(here, said)
    assert grade.main([CHAPTER]) == 0
    told = capsys.readouterr().out
    assert "1 mark changed since the last run: ada −0.5. To see such changes first" in told
    assert f"see autograder regrade {CHAPTER}." in told
    later = hand_in("ada", notebook(), stamp="20260902-120000")
    assert all(outcome.taken for outcome in collect.collect(here, CHAPTER, [later]))
    assert grade.main([CHAPTER]) == 0
    assert verdicts.load(here, CHAPTER, "ada").points == 5.0
    assert "changed" not in capsys.readouterr().out


def test_ten_changed_marks_are_named_and_another_maximum_is_told(space):
    def graded(student, points, most=3.0):
        found = [Graded("double", NOTEBOOK, "wrong", points, most, "Told.")]
        return Submission(CHAPTER, student, verdicts=found)

    found = changes.Changes(space, CHAPTER)
    for number in range(12):
        verdicts.save(space, graded(f"student{number:02}", 1.0))
        found.note(graded(f"student{number:02}", 2.5, most=4.0 if number == 0 else 3.0))
    found.note(graded("new", 1.0))
    line = found.line()
    assert line.startswith(
        "12 marks changed since the last run: student00 1 of 3 → 2.5 of 4, student01 +1.5, "
    )
    assert "student09 +1.5, and 2 more. To see" in line and "student10" not in line


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_less_than_one_at_a_time_is_refused(here, capsys, jobs):
    with pytest.raises(SystemExit, match="2"):
        grade.main([CHAPTER, "--jobs", jobs])
    assert f"{jobs} at a time grades nobody: give a number from 1 up" in capsys.readouterr().err


def test_an_error_of_the_grader_itself_stops_nobody(release_cells, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(grader.passes, "run", fail)
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
        (["97_none"], "there is no released chapter '97_none'. There are: 98_tiny."),
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

"""`autograder regrade`: the preview is what comes, an undo brings back what was, a person's mark never moves."""

import json
import shutil

import pytest

from autograder.building import build
from autograder.grading import grade, regrade, snapshots, verdicts
from autograder.grading.dispatch.way import Way
from autograder.grading.gradebook.book import open_gradebook
from autograder.grading.verdicts import Graded, Submission
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, NOTEBOOK, SHORT, STEM

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ANSWERS = {
    "ada": "def double(x):\n    return 2 * x",
    "bob": "def double(x):\n    return 3 * x",
    "cyd": "def double(x):\n    return x**2",
}


@pytest.fixture
def here(monkeypatch, project, tmp_path, notebook):
    """A workspace, on a project of its own, in which three students were graded and one has just handed in."""
    space = Workspace(tmp_path / "grading", shutil.copytree(project, tmp_path / "project"))
    for command in (grade, regrade):
        monkeypatch.setattr(command, "workspace", lambda: space)
    monkeypatch.setattr(Way, "of", lambda *told, **more: Way(limits=SHORT, jobs=1))
    for student, answer in ANSWERS.items():
        hand_in(space, student, notebook(double=answer))
    assert grade.main([CHAPTER]) == 0
    hand_in(space, "dee", notebook())
    return space


def hand_in(space, student, content):
    folder = space.submitted(CHAPTER, student)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{STEM}.ipynb").write_text(json.dumps(content))


def mend(space):
    """The specification, which had it wrong, now asks for three times x."""
    path = space.spec_path(NOTEBOOK)
    text = path.read_text()
    assert "reference=lambda x: 2 * x" in text
    path.write_text(text.replace("reference=lambda x: 2 * x", "reference=lambda x: 3 * x"))


def state(space):
    """All that a regrade may change: verdict files, pages, and the gradebook's automatic scores."""
    files = [*space.folder.glob("verdicts/*/*.json"), *space.folder.glob("autograded/*/*/*.ipynb")]
    with open_gradebook(space) as book:
        rows = {
            (s.student_id, g.name): (g.auto_score, g.manual_score, g.needs_manual_grade)
            for s in book.assignment_submissions(CHAPTER)
            for page in s.notebooks
            for g in page.grades
        }
    return {path: path.read_text() for path in files}, rows


def points(space):
    return {s.student: s.points for s in verdicts.load_all(space, CHAPTER)}


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_mended_spec_is_shown_entered_taken_back_and_entered_again(here, capsys):
    with open_gradebook(here) as book:
        for name, score in (("why", 1.5), ("check-scaled", 0.5)):
            book.find_grade(name, STEM, CHAPTER, "ada").manual_score = score
        book.find_comment("why", STEM, CHAPTER, "ada").manual_comment = "Well said."
        book.db.commit()
    before = state(here)
    assert regrade.main([CHAPTER]) == 0
    shown = capsys.readouterr().out
    assert "In all: 0 gain, 0 lose, 3 students without any change.\nNothing changes." in shown
    assert regrade.main([CHAPTER, "--apply"]) == 0
    assert "Nothing changes." in capsys.readouterr().out
    assert snapshots.last(here, CHAPTER) is None and state(here) == before

    mend(here)
    assert regrade.main([CHAPTER, "--preview"]) == 1
    shown = capsys.readouterr().out
    assert f"{NOTEBOOK} double: 1 gain, 1 lose" in shown
    told = {
        line.split()[0]: line.split(maxsplit=1)[1] for line in shown.splitlines() if "→" in line
    }
    assert set(told) >= {"ada", "bob"}
    assert "full 3 of 3 →" in told["ada"] and "→ full 3 of 3" in told["bob"]
    assert "Not graded yet, and left out: dee." in shown and "Nothing was entered." in shown
    assert state(here) == before

    assert regrade.main([CHAPTER, "--apply"]) == 1
    after = state(here)
    assert points(here)["bob"] == 5.0 and points(here)["ada"] < 5.0 and "dee" not in points(here)
    assert after[1]["bob", "check-double"][0] == 3.0
    for name, score in (("why", 1.5), ("check-scaled", 0.5)):
        assert after[1]["ada", name][1] == score

    assert regrade.main([CHAPTER, "--undo"]) == 0
    assert state(here) == before
    assert regrade.main([CHAPTER, "--undo"]) == 2
    assert "there is nothing to undo" in capsys.readouterr().err
    assert regrade.main([CHAPTER, "--apply"]) == 1
    assert state(here) == after
    with open_gradebook(here) as book:
        assert book.find_comment("why", STEM, CHAPTER, "ada").comment == "Well said."


@pytest.mark.sandbox
@pytest.mark.slow
def test_an_undo_says_where_the_maximum_is_the_releases_own(here, capsys):
    released = here.project / "course" / CHAPTER / f"{STEM}.ipynb"
    notebook = json.loads(released.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "check-double":
            cell["metadata"]["nbgrader"]["points"] = 4
    released.write_text(json.dumps(notebook))
    assert regrade.main([CHAPTER, "--apply"]) == 0
    assert points(here)["ada"] == 6.0
    assert regrade.main([CHAPTER, "--undo"]) == 0
    shown = capsys.readouterr().out
    assert "3 students are as before." in shown and points(here)["ada"] == 5.0
    assert f"{NOTEBOOK} double: the points are as before, of 3; the maximum in" in shown
    assert "the release's own, 4." in shown and "scaled: the points" not in shown
    with open_gradebook(here) as book:
        grade = book.find_grade("check-double", STEM, CHAPTER, "ada")
        assert (grade.auto_score, grade.max_score) == (3.0, 4.0)


def test_a_notebook_older_than_its_sources_is_named(monkeypatch, tmp_path):
    space, chapter = Workspace(tmp_path), "03_optimisation"
    old = f"{chapter}/{next(iter(space.release(chapter)))}"
    monkeypatch.setattr(build, "stale_parts", lambda name: ["check data"] * (name == old))
    assert regrade.stale(space, chapter) == [old]
    assert regrade.stale(Workspace(tmp_path, tmp_path), chapter) == []


@pytest.mark.sandbox
@pytest.mark.slow
def test_who_was_graded_again_since_then_keeps_that(here, notebook, capsys):
    mend(here)
    assert regrade.main([CHAPTER, "--apply"]) == 1
    hand_in(here, "ada", notebook(double="def double(x):\n    return x + x + x"))
    assert grade.main([CHAPTER, "--student", "ada"]) == 0
    assert regrade.main([CHAPTER, "--undo"]) == 1
    assert "left as they are: ada." in capsys.readouterr().out
    assert points(here)["ada"] == 5.0 and points(here)["bob"] < 5.0


@pytest.mark.sandbox
@pytest.mark.slow
def test_another_answer_with_the_same_verdicts_is_graded_again_too(here, capsys):
    mend(here)
    assert regrade.main([CHAPTER, "--apply"]) == 1
    page = here.autograded(CHAPTER, "ada") / f"{STEM}.ipynb"
    page.write_text(page.read_text().replace("return 2 * x", "return x * 2"))
    other = page.read_text()
    assert "return x * 2" in other
    assert regrade.main([CHAPTER, "--undo"]) == 1
    assert "left as they are: ada." in capsys.readouterr().out
    assert page.read_text() == other and points(here)["ada"] < 5.0


@pytest.mark.sandbox
@pytest.mark.slow
def test_an_apply_that_was_cut_off_can_be_taken_back_too(here, monkeypatch):
    before = state(here)
    mend(here)
    enter, entered = grade.Writer.enter, []

    def cut_off(self, done):
        if entered:
            raise KeyboardInterrupt
        entered.append(done.submission.student)
        enter(self, done)

    monkeypatch.setattr(grade.Writer, "enter", cut_off)
    assert regrade.main([CHAPTER, "--apply"]) == 2
    assert state(here) != before
    monkeypatch.setattr(grade.Writer, "enter", enter)
    assert regrade.main([CHAPTER, "--undo"]) == 0
    assert state(here) == before


def submission(student, **kinds):
    worth = {"full": 3.0, "partial": 1.0}
    found = [
        Graded(name, NOTEBOOK, kind, worth.get(kind, 0.0), 3.0, "Told.")
        for name, kind in kinds.items()
    ]
    return Submission(CHAPTER, student, verdicts=found)


def test_a_change_is_another_kind_or_other_points_and_exercises_come_and_go():
    before = submission("ada", a="full", b="wrong", c="partial", gone="full")
    after = submission("ada", a="full", b="timeout", c="full", new="partial")
    found = {c.exercise.split()[1]: c for c in regrade.compare(before, after)}
    assert {name: change.gain for name, change in found.items()} == {
        "b": 0.0, "c": 2.0, "gone": -3.0, "new": 1.0
    }  # fmt: skip
    assert str(found["c"]) == "partial 1 of 3 → full 3 of 3"
    assert str(found["new"]) == "not asked → partial 1 of 3"


def test_totals_count_students_not_exercises(capsys):
    changes = regrade.compare(
        submission("ada", a="wrong", b="full"), submission("ada", a="full", b="wrong")
    )
    changes += regrade.compare(submission("bob", a="wrong"), submission("bob", a="partial"))
    found = regrade.Preview(changes, dict.fromkeys(["ada", "bob", "cyd"], ""), [])
    assert found.totals == {"ada": 0.0, "bob": 1.0}
    regrade.show(found)
    shown = capsys.readouterr().out
    assert f"{NOTEBOOK} a: 2 gain, 0 lose" in shown and f"{NOTEBOOK} b: 0 gain, 1 lose" in shown
    assert "In all: 1 gain, 0 lose, 1 keep their points, 1 student without any change." in shown


def test_a_snapshot_stays_as_it_was_when_its_files_are_replaced(space):
    verdicts.save(space, submission("ada", a="full"))
    kept = snapshots.take(space, CHAPTER, {"ada": "digest"})
    verdicts.save(space, submission("ada", a="wrong"))
    assert snapshots.read(kept)["ada"].submission == submission("ada", a="full")
    assert snapshots.applied(kept) == {"ada": "digest"}
    later = snapshots.take(space, CHAPTER, {"ada": "other"})
    assert snapshots.last(space, CHAPTER) == later
    snapshots.close(later)
    assert snapshots.last(space, CHAPTER) == kept
    assert snapshots.take(space, CHAPTER, {"ada": "third"}).name == "0003"


def test_before_anybody_was_graded_it_says_what_to_do(space, monkeypatch, capsys):
    monkeypatch.setattr(regrade, "workspace", lambda: space)
    assert regrade.main([CHAPTER]) == 2
    assert f"nobody was graded yet. First: autograder grade {CHAPTER}" in capsys.readouterr().err

"""Nothing that a person wrote into the gradebook is lost: marks, extra credit, comments, extensions, flags, dates."""

import contextlib
import datetime

import pytest

from autograder.grading.gradebook import rows as gradebook_rows
from autograder.grading.gradebook.book import Book, BookError, open_gradebook
from autograder.grading.jobs import Done
from tests.grading.gradebook.submissions import (
    MOST,
    changed_release,
    one_more,
    submission,
    without,
)
from tests.grading.toy_chapter import CHAPTER, STEM


def test_a_manual_mark_survives_a_regrade(enter, mark, grades):
    enter("ada")
    mark("ada", 1.5)
    enter("ada", double=0.0)
    rows = grades("ada")
    assert rows["why"]["manual_score"] == 1.5 and not rows["needs"]
    assert rows["check-double"]["auto_score"] == 0.0


def test_a_manual_mark_on_a_check_counts_and_is_asked_about_when_the_score_beneath_changes(
    enter, mark, grades
):
    enter("ada", double=1.0)
    mark("ada", 2.5, "check-double")
    enter("ada", double=1.0)
    assert not grades("ada")["check-double"]["needs_manual_grade"]
    enter("ada", double=0.0)
    row = grades("ada")["check-double"]
    assert (row["auto_score"], row["manual_score"], row["score"]) == (0.0, 2.5, 2.5)
    assert row["needs_manual_grade"]


def test_a_changed_text_waits_again_and_keeps_its_mark(enter, mark, grades):
    enter("ada")
    mark("ada", 1.5)
    enter("ada", text="2")
    assert grades("ada")["why"]["manual_score"] == 1.5 and grades("ada")["needs"]
    mark("ada", 2.0)
    enter("ada", text="2")
    assert grades("ada")["why"]["manual_score"] == 2.0 and not grades("ada")["needs"]


def test_a_mark_given_while_a_class_is_entered_stands(space, enter, mark, grades, monkeypatch):
    enter("ada")
    page_ids = gradebook_rows._enter_pages

    def marked_meanwhile(connection, *arguments):
        # The person's change comes between our statements; here on the same connection, for SQLite's one writer.
        told = gradebook_rows.Grade.__table__
        mine = told.c.auto_score.is_(None)
        connection.execute(
            told.update().where(mine).values(manual_score=1.5, needs_manual_grade=False)
        )
        return page_ids(connection, *arguments)

    monkeypatch.setattr(gradebook_rows, "_enter_pages", marked_meanwhile)
    enter("ada", double=0.0)
    assert grades("ada")["why"]["manual_score"] == 1.5 and not grades("ada")["needs"]


def test_a_due_date_is_left_alone(space, enter):
    enter("ada")
    with open_gradebook(space) as book:
        book.update_or_create_assignment(CHAPTER, duedate="2026-09-02 10:00:00 UTC")
    enter("ada")
    with open_gradebook(space) as book:
        assert book.find_assignment(CHAPTER).duedate == datetime.datetime(2026, 9, 2, 10)
        assert book.find_submission(CHAPTER, "ada").timestamp == datetime.datetime(2026, 9, 1, 10)


def test_a_release_withone_more_written_answer_is_taken_up(space, enter, tmp_path, mark, grades):
    enter("ada")
    mark("ada", 1.5)
    with Book(changed_release(space, tmp_path, one_more), CHAPTER):
        assert grades("ada")["max"] == 9.0 and grades("ada")["why"]["manual_score"] == 1.5


WROTE = {
    "a mark": lambda grade, comment: setattr(grade, "manual_score", 1.5),
    "extra credit": lambda grade, comment: setattr(grade, "extra_credit", 0.5),
    "a comment": lambda grade, comment: setattr(comment, "manual_comment", "Well said."),
}


@pytest.mark.parametrize("what", WROTE)
def test_a_release_without_an_answer_that_a_person_wrote_on_is_refused(
    space, enter, tmp_path, what, grades
):
    enter("ada")
    changed = changed_release(space, tmp_path, without("why"))
    with open_gradebook(space) as book:
        place = (STEM, CHAPTER, "ada")
        WROTE[what](book.find_grade("why", *place), book.find_comment("why", *place))
        book.db.commit()
    with pytest.raises(BookError, match="no longer has the cell 'why', which carries manual marks"):
        Book(changed, CHAPTER)
    assert grades("ada").keys() == {"check-double", "check-scaled", "why", "needs", "max"}


def by_hand(space):
    """Everything that a person wrote, and what it is worth."""
    told = {}
    with open_gradebook(space) as book:
        for entered in book.assignment_submissions(CHAPTER):
            for page in entered.notebooks:
                for row in page.grades:
                    told[entered.student.id, row.name] = (row.manual_score, row.extra_credit)
                for row in page.comments:
                    told[entered.student.id, row.name, "said"] = row.manual_comment
            told[entered.student.id] = (entered.extension, page.flagged)
    return {key: value for key, value in told.items() if value not in ((None, None), None)}


def test_nothing_that_a_person_wrote_is_lost_in_whatever_order_things_happen(
    space, enter, tmp_path, rng
):
    """Grading, marking, a mended release, a dropped exercise, drawn at random; what hands wrote is kept beside."""
    releases = [
        space,
        changed_release(space, tmp_path, one_more),
        changed_release(space, tmp_path, without("scaled", "check-scaled")),
    ]
    students = ["ada", "bob"]
    for student in students:
        enter(student)
    wrote = by_hand(space)
    for _ in range(40):
        step = rng.choice(["grade", "release", "mark", "extra", "comment", "extension", "flag"])
        student = str(rng.choice(students))
        if step in ("grade", "release"):
            where = releases[rng.integers(len(releases)) if step == "release" else 0]
            points = {name: float(rng.integers(0, 3)) for name in MOST}
            with contextlib.suppress(BookError), Book(where, CHAPTER) as book:
                told = submission(
                    student, answered=bool(rng.integers(4)), text=str(rng.integers(3)),
                    untouched=[n for n in MOST if rng.integers(2)], **points,
                )  # fmt: skip
                book.record(Done(told, {}))
        else:
            _write_by_hand(space, rng, step, student)
            wrote |= by_hand(space)
        assert by_hand(space).items() >= wrote.items(), step


def _write_by_hand(space, rng, step, student):
    with open_gradebook(space) as book:
        page = book.find_submission_notebook(STEM, CHAPTER, student)
        if step == "extension":
            book.grant_extension(CHAPTER, student, days=int(rng.integers(1, 5)))
        elif step == "flag":
            page.flagged = True
        elif step == "comment":
            row = page.comments[rng.integers(len(page.comments))]
            row.manual_comment = f"Say more {rng.integers(100)}."
        else:
            row = page.grades[rng.integers(len(page.grades))]
            column = "manual_score" if step == "mark" else "extra_credit"
            setattr(row, column, float(rng.integers(1, 9)) / 2)
        book.db.commit()

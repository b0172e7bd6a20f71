"""Automatic scores and "no response" notes are entered, many submissions in one transaction."""

import json
from dataclasses import replace

import pytest

from autograder.grading.gradebook import rows as gradebook_rows
from autograder.grading.gradebook.book import Book, BookError, open_gradebook
from autograder.grading.jobs import Done
from autograder.workspace import write_text
from tests.grading.gradebook.submissions import changed_release, submission, without
from tests.grading.toy_chapter import CHAPTER, STEM


def test_scores_are_automatic_and_only_the_written_answer_waits(enter, grades):
    enter("ada", double=1.0)
    rows = grades("ada")
    assert (rows["check-double"]["auto_score"], rows["check-double"]["max_score"]) == (1.0, 3.0)
    assert not rows["check-double"]["needs_manual_grade"]
    assert not rows["check-scaled"]["needs_manual_grade"]
    assert rows["why"]["auto_score"] is None and rows["why"]["needs_manual_grade"]
    assert (rows["needs"], rows["max"]) == (True, 7.0)


def test_an_unanswered_written_answer_gets_zero_and_waits_for_nobody(enter, grades):
    enter("ada", answered=False)
    rows = grades("ada")
    assert rows["why"]["auto_score"] == 0.0 and not rows["needs"]


def test_an_answer_left_as_it_was_is_noted(space, enter):
    enter("ada", untouched=["double"])
    with open_gradebook(space) as book:
        assert book.find_comment("double", STEM, CHAPTER, "ada").comment == "No response."
        assert book.find_comment("scaled", STEM, CHAPTER, "ada").comment is None
    enter("ada")
    with open_gradebook(space) as book:
        assert book.find_comment("double", STEM, CHAPTER, "ada").comment is None


def test_a_class_is_entered_in_one_transaction_or_not_at_all(space, monkeypatch, grades):
    from sqlalchemy.exc import OperationalError

    def fails(*arguments):
        raise OperationalError("UPDATE", {}, Exception("the disk is full"))

    names = [f"student{number}" for number in range(1200)]  # more than are told in one statement
    book = Book(space, CHAPTER)
    for name in names:
        book.record(Done(submission(name, double=1.0), {}))
    with monkeypatch.context() as patch, pytest.raises(BookError, match="the disk is full"):
        patch.setattr(gradebook_rows, "_ask_again", fails)
        book.commit()
    with open_gradebook(space) as reader:
        assert reader.assignment_submissions(CHAPTER) == [] and reader.students == []
    book.close()  # what waited is entered
    assert not book.queued
    with open_gradebook(space) as reader:
        found = {row["student"]: row["score"] for row in reader.submission_dicts(CHAPTER)}
    assert found == dict.fromkeys(names, 3.0)


def test_the_same_student_twice_in_one_batch_is_entered_as_the_last(space, grades):
    with Book(space, CHAPTER) as book:
        book.record(Done(submission("ada", double=1.0), {}))
        book.record(Done(submission("ada", double=2.0), {}))
    assert grades("ada")["check-double"]["auto_score"] == 2.0


def test_a_verdict_on_an_exercise_that_is_gone_is_left_out(space, grades):
    old = submission("ada")
    old.verdicts.append(replace(old.verdicts[0], exercise="gone"))
    old.written.append(replace(old.written[0], name="gone"))
    with Book(space, CHAPTER) as book:
        book.record(Done(old, {}))
    assert grades("ada").keys() == {"check-double", "check-scaled", "why", "needs", "max"}


def test_a_dropped_exercise_is_forgotten_with_its_scores(space, enter, tmp_path, grades):
    enter("ada")
    changed = changed_release(space, tmp_path, without("scaled", "check-scaled"))
    with Book(changed, CHAPTER):
        pass
    assert grades("ada").keys() == {"check-double", "why", "needs", "max"}
    assert grades("ada")["max"] == 5.0


def test_a_dropped_notebook_is_forgotten(space, enter, tmp_path):
    enter("ada")
    changed = changed_release(space, tmp_path, lambda cells: None)
    course = changed.project / "course" / CHAPTER
    (course / f"{STEM}.ipynb").rename(course / "02_second.ipynb")
    with Book(changed, CHAPTER) as book:
        assert [page.name for page in book.book.find_assignment(CHAPTER).notebooks] == ["02_second"]


def test_names_of_the_roster_are_entered_and_a_persons_own_edit_stays(space, enter):
    def student():
        with open_gradebook(space) as book:
            row = book.find_student("ada")
            return row.first_name, row.last_name, row.email

    enter("ada")
    assert student() == (None, None, None)
    told = {"ada": {"first_name": "Ada", "last_name": "King", "email": "ada@uni.example"}}
    write_text(space.folder / "names.json", json.dumps(told))
    enter("ada")
    assert student() == ("Ada", "King", "ada@uni.example")
    with open_gradebook(space) as book:
        book.update_or_create_student("ada", last_name="Lovelace")
    enter("ada")
    assert student() == ("Ada", "Lovelace", "ada@uni.example")
    write_text(space.folder / "names.json", "{")
    enter("ada")
    assert student() == ("Ada", "Lovelace", "ada@uni.example")

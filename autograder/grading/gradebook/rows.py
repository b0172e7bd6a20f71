"""Many submissions into nbgrader's tables, a few statements for all of them.

A row is made or changed by one statement ("upsert"), which names the columns that are ours. So a person's mark, given
between our reading and our writing, cannot be lost: nothing is read first.
"""

import datetime

from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.utils import parse_utc
from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    String,
    Table,
    bindparam,
    case,
    func,
    select,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from autograder.grading.gradebook.release import Places
from autograder.grading.verdicts import Submission
from autograder.handins.names import KEYS as NAME_KEYS

# The written answers that were entered last, to tell which changed. No foreign key: nbgrader deletes grades freely.
_answers = Table(
    "graded_descent_answer",
    MetaData(),
    Column("grade_id", String(32), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
)


def make_own_table(connection: Connection) -> None:
    """Make the one table that nbgrader does not have, where it is missing."""
    _answers.create(connection, checkfirst=True)


def enter(
    connection: Connection,
    chapter: str,
    places: Places,
    graded: list[Submission],
    names: dict[str, dict[str, str]],
) -> None:
    """Enter submissions of different students: students, scores, "no response" notes. names: see handins/names.py."""
    students = [_student(submission.student, names) for submission in graded]
    _upsert(connection, Student, students, ["id"], _names)
    entered = _enter_submissions(connection, places, graded)
    pages = _enter_pages(connection, places, entered)
    grades, notes, texts = [], [], {}
    for submission in graded:
        untouched = set(submission.no_response)
        mine = {
            stem: pages[entered[submission.student], at] for stem, at in places.notebooks.items()
        }
        grades += _checks(chapter, places, submission, mine)
        for grade, text in _written(chapter, places, submission, mine):
            grades.append(grade)
            texts[grade["notebook_id"], grade["cell_id"]] = text
        for (stem, name), cell in places.answers.items():
            note = "No response." if f"{stem}/{name}" in untouched else None
            notes.append({"cell_id": cell, "notebook_id": mine[stem], "auto_comment": note})
    _upsert(connection, Grade, grades, ["cell_id", "notebook_id"], _scores)
    _upsert(connection, Comment, notes, ["cell_id", "notebook_id"], _notes)
    _ask_again(connection, texts)


def _upsert(connection, kind, rows, key, changes=None):
    """Make rows; where one with this key is there, make only the `changes`, a function of the row that came."""
    if not rows:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert = dialect.insert(kind.__table__ if hasattr(kind, "__table__") else kind)
    if changes:
        insert = insert.on_conflict_do_update(index_elements=key, set_=changes(insert.excluded))
    else:
        insert = insert.on_conflict_do_nothing(index_elements=key)
    connection.execute(insert, rows)


def _student(student, names) -> dict[str, str | None]:
    told = names.get(student, {})
    return {"id": student} | {key: told.get(key) for key in NAME_KEYS}


def _names(new):
    """What nobody has written yet: a name that a person gave stays."""
    table = Student.__table__.c
    return {key: func.coalesce(table[key], new[key]) for key in NAME_KEYS}


def _scores(new):
    """Our columns of a grade. A mark by hand waits for its person again only where the score beneath it changed."""
    table = Grade.__table__.c
    waits = case(
        (table.manual_score.is_(None), new.needs_manual_grade),
        (table.auto_score.is_distinct_from(new.auto_score), true()),
        else_=table.needs_manual_grade,
    )
    return {"auto_score": new.auto_score, "needs_manual_grade": waits}


def _notes(new):
    return {"auto_comment": new.auto_comment}


def _enter_submissions(connection, places, graded) -> dict[str, str]:
    """student -> id of the submission. A time that is not known leaves the one that is there."""
    table = SubmittedAssignment.__table__
    rows = [
        {
            "assignment_id": places.assignment,
            "student_id": s.student,
            "timestamp": _time(s.submitted),
        }
        for s in graded
    ]
    _upsert(
        connection, SubmittedAssignment, rows, ["assignment_id", "student_id"],
        lambda new: {"timestamp": func.coalesce(new.timestamp, table.c.timestamp)},
    )  # fmt: skip
    mine = select(table.c.student_id, table.c.id).where(
        table.c.assignment_id == places.assignment,
        table.c.student_id.in_([submission.student for submission in graded]),
    )
    return {student: id for student, id in connection.execute(mine)}


def _time(told: str) -> datetime.datetime | None:
    return parse_utc(told) if told else None


def _enter_pages(connection, places, entered) -> dict[tuple[str, str], str]:
    """(submission, notebook) -> id of the submitted notebook."""
    table = SubmittedNotebook.__table__
    rows = [
        {"assignment_id": submission, "notebook_id": notebook}
        for submission in entered.values()
        for notebook in places.notebooks.values()
    ]
    _upsert(connection, SubmittedNotebook, rows, ["notebook_id", "assignment_id"])
    mine = select(table.c.assignment_id, table.c.notebook_id, table.c.id).where(
        table.c.assignment_id.in_(list(entered.values()))
    )
    return {(submission, notebook): id for submission, notebook, id in connection.execute(mine)}


def _checks(chapter, places, submission, mine):
    for stem, page in mine.items():
        for verdict in submission.of_notebook(f"{chapter}/{stem}"):
            cell = places.graded.get((stem, f"check-{verdict.exercise}"))
            if cell:  # a verdict of an older release may be on an exercise that is gone
                yield _grade(cell, page, verdict.points, waits=False)


def _written(chapter, places, submission, mine):
    """(grade, fingerprint of the text): a written answer waits for a person, one not given is worth nothing."""
    for written in submission.written:
        stem = written.notebook.removeprefix(f"{chapter}/")
        cell = places.graded.get((stem, written.name))
        score = None if written.answered else 0.0
        if cell:
            yield _grade(cell, mine[stem], score, waits=written.answered), written.fingerprint


def _grade(cell, page, score, *, waits):
    return {
        "cell_id": cell,
        "notebook_id": page,
        "auto_score": score,
        "needs_manual_grade": waits,
    }


def _ask_again(connection, texts: dict[tuple[str, str], str]) -> None:
    """Let a marked answer wait for a person again where its text is another than the one entered before."""
    table = Grade.__table__
    pages, cells = ({key[place] for key in texts} for place in (0, 1))
    mine = select(table.c.id, table.c.notebook_id, table.c.cell_id).where(
        table.c.notebook_id.in_(list(pages)), table.c.cell_id.in_(list(cells))
    )
    rows = connection.execute(mine)
    now = {id: texts[page, cell] for id, page, cell in rows if texts.get((page, cell))}
    before = select(_answers).where(_answers.c.grade_id.in_(list(now)))
    changed = [id for id, text in connection.execute(before) if text != now[id]]
    marked = update(table).where(
        table.c.id.in_(bindparam("ids", expanding=True)), table.c.manual_score.is_not(None)
    )
    connection.execute(marked.values(needs_manual_grade=True), {"ids": changed})
    rows = [{"grade_id": id, "fingerprint": text} for id, text in now.items()]
    _upsert(connection, _answers, rows, ["grade_id"], lambda new: {"fingerprint": new.fingerprint})

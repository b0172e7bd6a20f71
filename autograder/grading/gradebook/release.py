"""A release in nbgrader's gradebook: its notebooks and their graded, answer and locked cells."""

import json
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from autograder.grading.rebuilding import rebuild
from autograder.workspace import COURSE_ID, BookError


@dataclass
class Places:
    """Where a chapter's rows belong: ids in the gradebook. The cells by (notebook, name)."""

    assignment: str
    notebooks: dict[str, str]
    graded: dict[tuple[str, str], str]
    answers: dict[tuple[str, str], str]


def enter(session: Session, chapter: str, release: dict[str, Path]) -> Places:
    """Make a release known, and forget what it no longer has. Raises BookError where a person's marks would go."""
    assignment = _row(session, Assignment, {"name": chapter}, course_id=COURSE_ID)
    session.flush()
    places = Places(assignment.id, {}, {}, {})
    for stem, path in release.items():
        _enter_notebook(session, places, stem, path)
    _forget_notebooks(session, chapter, places)
    return places


def _enter_notebook(session, places, stem, path):
    cells, metadata = rebuild.read_cells(path.read_bytes())
    kernel = json.dumps(metadata.get("kernelspec", {}))
    key = {"name": stem, "assignment_id": places.assignment}
    notebook = _row(session, Notebook, key, kernelspec=kernel)
    session.flush()
    places.notebooks[stem] = notebook.id
    kept: set[str] = set()
    for cell in cells:
        if cell.grade_id:
            kept |= _enter_cell(session, places, stem, cell)
    _forget_cells(session, f"{path.parent.name}/{stem}", notebook.id, kept)


def _enter_cell(session, places, stem, cell) -> set[str]:
    """Make one cell known -> the ids of its rows."""
    about, key = cell.metadata["nbgrader"], (stem, cell.grade_id)
    where = {"name": cell.grade_id, "notebook_id": places.notebooks[stem]}
    rows = [
        _row(
            session, SourceCell, where, cell_type=cell.kind, source=cell.source, checksum=about.get("checksum"),
            locked=about["locked"] or (about["grade"] and not about["solution"]),
        )
    ]  # fmt: skip
    if about["grade"]:
        most = float(about["points"])
        rows.append(_row(session, GradeCell, where, max_score=most, cell_type=cell.kind))
    if about["solution"]:
        rows.append(_row(session, SolutionCell, where))
    session.flush()
    for row in rows[1:]:
        (places.graded if isinstance(row, GradeCell) else places.answers)[key] = row.id
    return {row.id for row in rows}


def _row(session, kind, key: dict, **values):
    """The row with this key, made where there is none, with these values."""
    row = session.scalars(select(kind).filter_by(**key)).one_or_none()
    if row is None:
        row = kind(**key)
        session.add(row)
    for name, value in values.items():
        setattr(row, name, value)
    return row


def _forget_notebooks(session, chapter, places):
    gone = select(Notebook.id, Notebook.name).where(
        Notebook.assignment_id == places.assignment,
        Notebook.id.not_in(list(places.notebooks.values())),
    )
    for notebook, stem in session.execute(gone).all():
        _forget_cells(session, f"{chapter}/{stem}", notebook, set())
        session.execute(delete(SubmittedNotebook).where(SubmittedNotebook.notebook_id == notebook))
        session.execute(delete(Notebook).where(Notebook.id == notebook))


def _forget_cells(session, notebook: str, notebook_id: str, kept: set[str]) -> None:
    """Forget the cells of a notebook but those kept. Raises BookError where one carries what a person wrote."""
    told = session.execute(
        select(BaseCell.id, BaseCell.name).where(BaseCell.notebook_id == notebook_id)
    ).all()
    stale = {cell: name for cell, name in told if cell not in kept}
    _refuse_marked(session, notebook, stale)
    for kind in (Grade, Comment):
        session.execute(delete(kind).where(kind.cell_id.in_(list(stale))))
    for kind in (GradeCell, SolutionCell, TaskCell, BaseCell):
        table = kind.__table__
        session.execute(delete(table).where(table.c.id.in_(list(stale))))
    sources = SourceCell.__table__
    session.execute(
        delete(sources).where(sources.c.notebook_id == notebook_id, sources.c.id.not_in(kept))
    )


def _refuse_marked(session, notebook, stale):
    by_hand = or_(Grade.manual_score.is_not(None), Grade.extra_credit.is_not(None))
    marked = select(Grade.cell_id).where(Grade.cell_id.in_(list(stale)), by_hand)
    said = select(Comment.cell_id).where(
        Comment.cell_id.in_(list(stale)),
        Comment.manual_comment.is_not(None),
        Comment.manual_comment != "",
    )
    found = session.scalars(marked.union(said)).all()
    if found:
        names = ", ".join(sorted({repr(stale[cell]) for cell in found}))
        raise BookError(
            f"{notebook} no longer has the cell {names}, which carries manual marks or comments. To keep them, put the "
            "cell back and build. To let them go, export the marks (autograder export), clear them in the formgrader "
            "and grade again."
        )

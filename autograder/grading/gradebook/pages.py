"""The autograded notebook: the release's frame with the student's cells, a card in place of each check's output.

The formgrader and nbgrader's feedback read it. Nothing that the student's process printed or drew is in it.
"""

import json

from autograder.grading.rebuilding.rebuild import Part, Rebuilt
from autograder.grading.verdicts import Graded, Submission
from autograder.results import harmless
from autograder.workspace import Workspace, write_text
from descent import cards, judging


def write(space: Workspace, submission: Submission, pages: dict[str, str]) -> None:
    """Write a submission's autograded notebooks (notebook -> text), and when it was handed in, where nbgrader looks."""
    folder = space.autograded(submission.chapter, submission.student)
    for stem, page in pages.items():
        write_text(folder / f"{stem}.ipynb", page)
    if submission.submitted:
        write_text(folder / "timestamp.txt", submission.submitted + "\n")


def text(made: Rebuilt, graded: list[Graded], metadata: dict) -> str:
    """The autograded notebook as JSON text. metadata: of the released notebook."""
    told = {
        "cells": notebook_cells(made, {verdict.exercise: verdict for verdict in graded}),
        "metadata": {key: value for key, value in metadata.items() if key != "widgets"},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(told, ensure_ascii=False) + "\n"  # no indent: it would take ten times as long


def notebook_cells(made: Rebuilt, graded: dict[str, Graded]) -> list[dict]:
    """The cells as JSON, in order."""
    cells, number = [], 0
    for part in made.parts:
        if part.role == "added":
            number += 1
            part.cell.id = f"added-{number}"
            why = {"left_out": part.left_out} if part.left_out else {}
            part.cell.metadata = {"descent": {"added": True} | why}
        verdict = graded.get(part.name) if part.role == "check" else None
        cells.append(_cell(part, [_output(verdict)] if verdict else []))
    return cells


def _cell(part: Part, outputs: list[dict]) -> dict:
    kind, source = shown(part)
    told = {
        "cell_type": kind,
        "id": part.cell.id,
        "metadata": part.cell.metadata,
        "source": source,
    }
    if kind == "code":
        told |= {"execution_count": 1 if outputs else None, "outputs": outputs}
    return told


def shown(part: Part) -> tuple[str, str]:
    """(cell type, source) to show: text of the student's may not run in the reader's browser."""
    kind, source = part.cell.kind, part.cell.source
    if part.role not in ("added", "written") or kind == "code":
        return kind, source
    short = kind == "markdown" and part.cell.parsed  # so that all texts together cost seconds
    return "markdown", harmless.markdown(source) if short else harmless.raw(source)


def _output(verdict: Graded) -> dict:
    """A card for the reader; the points for nbgrader, which reads a check's number as its score."""
    page = cards.html_card(as_judged(verdict))
    if not verdict.problem:
        page += cards.note_html(verdict.evidence)
    found = verdict.how.partition("; tampered and restored")[0]  # the evidence says the rest
    if found not in ("", "found by its nbgrader id"):
        page += cards.note_html(f"The answer: {found}.")
    text = str(float(verdict.points))
    data = {"text/html": page, "text/plain": text}
    return {"output_type": "execute_result", "execution_count": 1, "data": data, "metadata": {}}


def as_judged(verdict: Graded) -> judging.Verdict:
    """The verdict in the form that `descent.cards` shows: one case a property, no value of any."""
    cases, told = [], False
    for name, held in verdict.groups.items():
        mine = not held and not told and verdict.problem.startswith(f"{name}: ")
        told = told or mine
        cases.append(
            judging.CaseResult(
                name, held, verdict.problem.removeprefix(f"{name}: ") if mine else ""
            )
        )
    return judging.Verdict(
        verdict.exercise, verdict.kind, verdict.points, verdict.max_points, cases,
        mistake=verdict.mistake, advice=verdict.advice, evidence=verdict.evidence,
        note=verdict.note if verdict.problem else "",  # else the evidence is shown, which says it
        seconds=verdict.seconds,
    )  # fmt: skip

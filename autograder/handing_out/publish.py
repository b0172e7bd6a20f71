"""Write a chapter's worked answers for students, once its deadline is over: `autograder publish-solutions CHAPTER`."""

import argparse
import datetime
import sys

from autograder.building import build
from autograder.handing_out import worked
from autograder.handins import policy
from autograder.handins.policy import PolicyError
from autograder.results.pages import counted
from autograder.workspace import Workspace, workspace

HAND_OUT = """Hand this file out. A student puts it into the folder .descent/solutions/ of their course. There,
solution(answer) shows the worked answer of an exercise with full points, or after its third hint.
To withdraw it, delete it here; what was handed out stays out."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: refused while a deadline is open. 2: wrong command, or the policy cannot be followed."""
    parser = argparse.ArgumentParser(prog="autograder publish-solutions", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("--now", action="store_true", help="though a deadline is open")
    arguments = parser.parse_args(argv)
    space, chapter = workspace(), arguments.chapter
    try:
        reason = space.no_chapter(chapter)
        open_until = "" if arguments.now else _open_until(space, chapter)
    except PolicyError as error:
        reason = str(error)
    if reason:
        print(f"publish-solutions: {reason}", file=sys.stderr)
        return 2
    if open_until:
        print(f"publish-solutions: {open_until}", file=sys.stderr)
        return 1
    told(chapter, worked.write(chapter))
    print(HAND_OUT)
    return 0


def _open_until(space: Workspace, chapter: str) -> str:
    """Why it is too early, in a sentence; "" where it is not. Raises PolicyError."""
    end = policy.checked(space).closes(chapter)
    if end is None or end < datetime.datetime.now(datetime.UTC):
        return ""
    return (
        f"somebody may hand in {chapter} until {end:%Y-%m-%d %H:%M %Z}, extra time and grace included. "
        "Publish after that, or at once with --now."
    )


def told(chapter: str, counts: dict[str, int]) -> None:
    """Say what was written where."""
    place = worked.path(chapter).relative_to(build.COURSE.parent)
    answers, notebooks = counted(sum(counts.values()), "worked answer"), len(counts)
    print(f"{place}: {answers}, in {counted(notebooks, 'notebook')}.")

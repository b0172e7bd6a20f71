"""Feedback pages through nbgrader, with nothing of a student's that runs and no hidden value:
`autograder feedback CHAPTER`. They lie in grading/feedback/STUDENT/CHAPTER/, where nbgrader expects them."""

import argparse
import logging
import sys

from autograder.workspace import Workspace, workspace


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 1: some student's pages could not be written, named. 2: nothing is graded."""
    parser = argparse.ArgumentParser(prog="autograder feedback", description=__doc__)
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("--student", action="append", help="only this one; may be repeated")
    arguments = parser.parse_args(argv)
    space = workspace()
    graded = sorted(
        path.parent.name for path in (space.folder / "autograded").glob(f"*/{arguments.chapter}")
    )
    students = [s for s in graded if not arguments.student or s in arguments.student]
    if not students:
        print(
            f"feedback: nobody is graded in {arguments.chapter}: run `autograder grade {arguments.chapter}`.",
            file=sys.stderr,
        )
        return 2
    failed = [student for student in students if not write_pages(space, arguments.chapter, student)]
    print(f"Feedback of {len(students) - len(failed)} students is in {space.folder / 'feedback'}.")
    for student in failed:
        print(
            f"feedback: the pages of {student} could not be written; grade this student again.",
            file=sys.stderr,
        )
    return 1 if failed else 0


def write_pages(space: Workspace, chapter: str, student: str) -> bool:
    """Write one student's pages anew -> whether it worked."""
    from nbgrader.converters import GenerateFeedback
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory

    config = space.nbgrader_config()
    config.HTMLExporter.exclude_anchor_links = True
    folder = CourseDirectory(config=config, assignment_id=chapter, student_id=student)
    converter = GenerateFeedback(coursedir=folder, config=config, force=True)
    converter.log = logging.getLogger("autograder.results.feedback")
    try:
        converter.start()
    except (NbGraderException, SystemExit):
        return False
    return True

"""nbgrader's configuration: its commands, formgrader and gradebook work as its manual says."""

import os
from pathlib import Path

from nbgrader.converters import GenerateAssignment

from autograder.building.questions import KeepAnswer

# The same two variables as `autograder` reads: where grading keeps its files, and another database than SQLite's file.
grading = os.environ.get("GRADED_DESCENT_GRADING") or "grading"
gradebook = os.environ.get("GRADED_DESCENT_GRADEBOOK") or f"sqlite:///{grading}/gradebook.db"
# SQLite makes the gradebook's file, but not its folder.
(Path(__file__).parent / grading).mkdir(parents=True, exist_ok=True)


class Chapters(str):
    """A directory structure in which "any assignment" means folders named like chapters.

    The formgrader takes every folder in `solutions` for an assignment, `__pycache__` too, and heeds no ignore list.
    """

    def format(self, *, assignment_id, **names):
        pattern = "[0-9][0-9]_*" if assignment_id == "*" else assignment_id
        return super().format(assignment_id=pattern, **names)


c = get_config()  # noqa: F821 — nbgrader provides it

c.CourseDirectory.course_id = "graded-descent"
c.CourseDirectory.directory_structure = Chapters("{nbgrader_step}/{student_id}/{assignment_id}")
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "course"
c.CourseDirectory.submitted_directory = f"{grading}/submitted"
c.CourseDirectory.autograded_directory = f"{grading}/autograded"
c.CourseDirectory.feedback_directory = f"{grading}/feedback"
c.CourseDirectory.solution_directory = f"{grading}/solution"
c.CourseDirectory.db_url = gradebook
# nbgrader copies every other file of a source folder into the release: masters must never get there.
c.CourseDirectory.ignore = ["*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints", "*.tsv", "*.md"]
c.ClearSolutions.code_stub = {"python": "# Your code here.\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer here.*"
# Of a prediction students get the question; its answer comes with the check data.
c.GenerateAssignment.preprocessors = [KeepAnswer, *GenerateAssignment().preprocessors]
# The formgrader shows the model answer and the rubric of a written answer beneath what the student wrote.
c.HTMLExporter.preprocessors = ["autograder.grading.gradebook.rubrics.ShowRubric"]

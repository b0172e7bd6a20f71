"""nbgrader's configuration: its commands, formgrader and gradebook work as its manual says."""

from pathlib import Path

# SQLite makes the gradebook's file, but not its folder.
(Path(__file__).parent / "grading").mkdir(exist_ok=True)

c = get_config()  # noqa: F821 — nbgrader provides it

c.CourseDirectory.course_id = "graded-descent"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "course"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.solution_directory = "grading/solution"
c.CourseDirectory.db_url = "sqlite:///grading/gradebook.db"
# nbgrader copies every other file of a source folder into the release: masters must never get there.
c.CourseDirectory.ignore = ["*.py", "*.pyc", "__pycache__", ".ipynb_checkpoints", "*.tsv", "*.md"]
c.ClearSolutions.code_stub = {"python": "# Your code here.\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer here.*"

"""Enters graded notebooks where nbgrader's own autograde would: into its folder and its gradebook, with its own code.

What differs from `nbgrader autograde`: the notebook has been restored and run before, in the sandbox; links that a
student handed in are not followed; a warning on stderr costs nothing; and what a student wrote or showed is
cleaned of everything that would run in the browser of whoever opens it.
"""

import copy
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbconvert.writers import FilesWriter
from nbformat.v4 import new_markdown_cell
from nbgrader import preprocessors, utils
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, BaseConverter
from sqlalchemy.exc import SAWarning

from autograder.classic import outputs
from autograder.classic.course import UNFINISHED, Course, Handin
from autograder.grading.rebuilding.cells import Cell
from autograder.results import harmless

# A partial credit that is lost: what numpy ≥ 2 shows of its numbers, or an array or tensor of one.
WRAPPED = re.compile(r"[\w.]+\(\[?-?[\d.]+(e-?\d+)?\]?(, dtype=[\w.]+)?\)|\[-?[\d.]+\]")


@dataclass(frozen=True)
class Entered:
    """What the gradebook says of a submission. waits: a cell is to be marked by hand."""

    points: float
    max_points: float
    waits: bool


class SaveAutoGrades(preprocessors.SaveAutoGrades):
    """nbgrader's, in which text on stderr is no error, and an impossible partial credit waits for a person."""

    handin: Handin  # whose notebooks are entered now

    def preprocess_cell(self, cell, resources, cell_index):
        if utils.is_task(cell):
            self._await_a_person(cell)
        return super().preprocess_cell(cell, resources, cell_index)

    def _await_a_person(self, task):
        """As for a hand-in of its own: a notebook that was renamed, or missing before, has left a 0 here."""
        grade = self.gradebook.find_grade(
            task.metadata.nbgrader["grade_id"],
            self.notebook_id,
            self.assignment_id,
            self.student_id,
        )
        if grade.manual_score is None:
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()

    def _add_score(self, cell, resources):
        quiet = copy.deepcopy(cell)
        for output in quiet.get("outputs", []):
            if output.output_type == "stream":
                output.name = "stdout"
        self._tell_of_no_number(cell)
        try:
            super()._add_score(quiet, resources)
        except (KeyError, ValueError, OverflowError) as error:
            name = cell.metadata.nbgrader["grade_id"]
            grade = self.gradebook.find_grade(
                name, self.notebook_id, self.assignment_id, self.student_id
            )
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()
            self.handin.note(f"{name} has no score, please mark it by hand: {error}")

    def _tell_of_no_number(self, cell):
        """nbgrader takes a result that is no number for full points, and says so in its log."""
        results = [o for o in cell.get("outputs", []) if o.output_type == "execute_result"]
        text = results[0].data.get("text/plain", "") if results else ""
        if not text or utils.is_solution(cell):
            return
        try:
            float(text)
        except ValueError:
            words = (
                f"{cell.metadata.nbgrader['grade_id']} ends with {' '.join(text.split())[:80]}, which is no number "
                "to nbgrader: full points"
            )
            if WRAPPED.fullmatch(text.strip()):
                self.handin.note(f"{words}. End the test with float(…)")
            else:
                self.handin.notes.append(words)


class Harmless(preprocessors.NbGraderPreprocessor):
    """Last of all: a student's Markdown and raw text may not run in the browser of whoever opens the notebook."""

    def preprocess_cell(self, cell, resources, index):
        if cell.cell_type == "code" or utils.is_locked(cell):
            return cell, resources
        if Cell(cell.cell_type, cell.source).plain in resources["released"]:
            return cell, resources
        if cell.cell_type == "raw":
            cell = new_markdown_cell(harmless.raw(cell.source), id=cell.id)
        else:
            pictures = outputs.pictures_of(cell.pop("attachments", {}), resources["files"])
            cell.source = outputs.clean_markdown(cell.source, pictures)
        return cell, resources


class _OwnFiles(BaseConverter):
    """Stands where nbgrader copies what was handed in, following links."""

    def init_assignment(self, assignment_id, student_id):
        folder = Path(self._format_dest(assignment_id, student_id))
        for name, content in self.handin.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class Recorder(Autograde, _OwnFiles):
    """Enters one hand-in after the other."""

    def __init__(self, course: Course):
        super().__init__(coursedir=course.folder, parent=course.app)
        self.course = course
        self.handin = None
        self.force = True  # whether to grade again was decided before anything was run
        self.writer = FilesWriter(parent=self, config=self.config)
        self.exporter = self.exporter_class(parent=self, config=self.config)

    def record(self, handin: Handin, executed: dict[str, nbformat.NotebookNode]) -> Entered:
        """Enter a hand-in. executed: its notebooks by name; one that is not there gets nothing for its cells."""
        self.handin = handin
        assignment, student = self.course.assignment, handin.student
        self.coursedir.student_id = student
        self.notebooks = [self._path(name) for name in self.course.sheets]
        self.init_destination(assignment, student)
        unfinished = Path(self.course.path("autograded", student), UNFINISHED)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        unfinished.touch()
        self.run_pre_convert_hook()
        with warnings.catch_warnings():  # nbgrader's own way of making rows
            warnings.simplefilter("ignore", SAWarning)
            self.init_assignment(assignment, student)
        entered = self._enter_all(executed)
        self.set_permissions(assignment, student)
        self.run_post_convert_hook()
        unfinished.unlink()
        return entered

    def _enter_all(self, executed) -> Entered:
        assignment, student = self.course.assignment, self.handin.student
        SaveAutoGrades.handin = self.handin
        for name in executed:
            self._enter(name, executed[name])
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            for name in self.course.sheets.keys() - executed.keys():
                _nothing(book, name, assignment, student)
            told = book.find_submission(assignment, student)
            return Entered(told.score, told.max_score, bool(told.needs_manual_grade))

    def _path(self, name: str) -> str:
        return f"{self.course.path('submitted', self.handin.student)}/{name}.ipynb"

    def _enter(self, name: str, notebook) -> None:
        self._init_preprocessors()
        resources = self.init_single_notebook_resources(self._path(name))
        resources["released"] = self.course.sheets[name].texts
        resources["files"] = self.handin.files
        output, resources = self.exporter.from_notebook_node(notebook, resources=resources)
        self.write_single_notebook(output, resources)

    def _init_preprocessors(self) -> None:
        """Those that the course's configuration names for after a run, with ours in place of nbgrader's."""
        ours = {preprocessors.Execute: None, preprocessors.SaveAutoGrades: SaveAutoGrades}
        self.exporter._preprocessors = []
        for step in [*self.autograde_preprocessors, Harmless]:
            if ours.get(step, step):
                self.exporter.register_preprocessor(ours.get(step, step))


def _nothing(book, name, assignment, student):
    """As nbgrader has it for a notebook that was not handed in."""
    for grade in book.find_submission_notebook(name, assignment, student).grades:
        grade.auto_score, grade.needs_manual_grade = 0, False
    book.db.commit()

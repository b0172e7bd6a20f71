"""An instructor's own nbgrader course: its configuration, the cells its gradebook knows, what was handed in.

The course's configuration is the instructor's own code and is trusted; the files of students are not.
"""

import contextlib
import glob
import json
import os
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.engine import needs
from autograder.grading.rebuilding.cells import Cell, NotebookError, read_cells

CONFIG = "nbgrader_config.py"
STAMP = "timestamp.txt"
UNFINISHED = ".unfinished"  # lies in a folder of autograded/ while it is written
MOST_BYTES = 60_000_000  # of one file: a sandbox's folder holds 64 MB


class CourseError(RuntimeError):
    """The course cannot be graded; str() says why and what to do."""


@dataclass(frozen=True)
class Marked:
    """A cell that the gradebook knows, as the instructor wrote it, hidden tests included.

    grade, solution, task, locked: nbgrader's kinds. points: at most, 0 where it is not graded.
    """

    name: str
    kind: str
    text: str
    checksum: str
    grade: bool
    solution: bool
    task: bool
    locked: bool
    points: float


@dataclass(frozen=True)
class Sheet:
    """A notebook of an assignment. marked: in the order of the release.

    released: all cells in the order in which they were handed out, as (name of the marked cell or "", text). Where no
    file of the release is at hand, the marked cells alone, with no text.
    """

    name: str
    kernel: dict
    marked: list[Marked]
    released: list[tuple[str, str]]

    @cached_property
    def texts(self) -> frozenset[str]:
        """What was handed out, and may be told from what a student wrote."""
        return frozenset(text for _, text in self.released)


@dataclass
class Handin:
    """What one student handed in. notebooks, files: name -> content; files lie beside the notebooks.

    notes: for the instructor. look: whether a person should look.
    """

    student: str
    notebooks: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    look: bool = False

    def note(self, words: str) -> None:
        """Say something that a person should look at."""
        self.notes.append(words)
        self.look = True


class Course:
    """One assignment of a course folder. Made in that folder (see `os.chdir`), as nbgrader itself is started.

    Raises CourseError when there is no such course or assignment.
    """

    def __init__(self, root: Path, assignment: str):
        self.root, self.assignment = root, assignment
        self.app = _application(root)
        self.folder = _folder(self.app)
        self.folder.assignment_id = assignment
        if not (root / CONFIG).exists() and not Path(self.path("source")).is_dir():
            raise CourseError(
                f"{root} holds neither {CONFIG} nor {self.folder.source_directory}/{assignment}: it is no nbgrader "
                "course. Name its folder: --course FOLDER"
            )
        self.sheets = self._sheets()

    def path(self, step: str, student: str = ".") -> str:
        """The folder of a step ("source", "submitted", "autograded", …) of this assignment."""
        directory = getattr(self.folder, f"{step}_directory")
        return self.folder.format_path(directory, student, self.assignment)

    def _sheets(self) -> dict[str, Sheet]:
        from nbgrader.api import Gradebook, MissingEntry
        from sqlalchemy.exc import SQLAlchemyError

        try:
            with Gradebook(self.folder.db_url, self.folder.course_id) as book:
                notebooks = book.find_assignment(self.assignment).notebooks
                sheets = {notebook.name: self._sheet(notebook) for notebook in notebooks}
        except MissingEntry:
            sheets = {}
        except SQLAlchemyError as error:
            first = str(error).splitlines()[0]
            raise CourseError(
                f"the gradebook {self.folder.db_url} cannot be read ({first}). If nbgrader was renewed since it was "
                f"made: make a copy of it, then run `nbgrader db upgrade` in {self.root}."
            ) from None
        if not sheets:
            raise CourseError(
                f"the gradebook knows no notebook of {self.assignment!r}. First, in {self.root}: "
                f"nbgrader generate_assignment {self.assignment}"
            )
        return sheets

    def _sheet(self, notebook) -> Sheet:
        graded = {cell.name: cell.max_score for cell in notebook.grade_cells}
        tasks = {cell.name: cell.max_score for cell in notebook.task_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        marked = [
            Marked(
                cell.name, cell.cell_type, cell.source or "", cell.checksum or "",
                cell.name in graded, cell.name in solutions, cell.name in tasks, bool(cell.locked),
                float((graded | tasks).get(cell.name) or 0),
            )
            for cell in notebook.source_cells
        ]  # fmt: skip
        released = self._released(notebook.name, {cell.name for cell in marked})
        places = {name: place for place, (name, _) in enumerate(released)}
        # The gradebook keeps no order.
        marked.sort(key=lambda cell: places[cell.name])
        return Sheet(notebook.name, json.loads(notebook.kernelspec or "{}"), marked, released)

    def _released(self, name: str, known: set[str]) -> list[tuple[str, str]]:
        """The cells of a notebook as it was handed out, or else as it was written, for `Sheet.released`."""
        cells: list[Cell] = []
        for step in ("release", "source"):
            with contextlib.suppress(OSError, NotebookError):
                cells = cells or read_cells(Path(self.path(step), f"{name}.ipynb").read_bytes())[0]
        told = [(c.grade_id if c.grade_id in known else "", c.plain) for c in cells]
        return told + [(missing, "") for missing in sorted(known - {found for found, _ in told})]

    def students(self) -> dict[str, Path]:
        """Who has handed in, with the folder of each, in order. Those that the configuration excludes are left out."""
        pattern = self.folder.format_path(
            self.folder.submitted_directory,
            "(?P<student>[^/]+)",
            re.escape(self.assignment),  # the rest it escapes itself
            escape=True,
        )
        anybody = glob.escape(self.path("submitted", "\0")).replace("\0", "*")
        told = {}
        for path in sorted(glob.glob(anybody)):
            match = re.fullmatch(pattern, path)
            if match and os.path.isdir(path):
                told[match["student"]] = Path(path)
        excluded = self.folder.student_id_exclude.split(",")
        return {name: path for name, path in told.items() if name not in excluded}

    def is_new(self, student: str) -> bool:
        """Whether a hand-in is not graded yet, to its end, or came later than the one that is."""
        graded = self.path("autograded", student)
        if not os.path.isdir(graded) or os.path.exists(f"{graded}/{UNFINISHED}"):
            return True
        came = self.folder.get_existing_timestamp(self.path("submitted", student))
        before = self.folder.get_existing_timestamp(graded)
        return came is not None and before is not None and came > before

    def imports(self) -> set[str]:
        """Modules that the assignment's own cells import."""
        texts = [marked.text for sheet in self.sheets.values() for marked in sheet.marked]
        texts += [text for sheet in self.sheets.values() for text in sheet.texts]
        return set().union(*(needs.imports(text) for text in texts))

    def read(self, student: str, folder: Path) -> Handin:
        """What a student handed in. Links are not followed: they could point at another student's work."""
        handin = Handin(student)
        for path in self._files(folder):
            name = str(path.relative_to(folder))
            if path.is_symlink() or not path.is_file():
                handin.note(f"{name} is a link or no file, and was left out")
            elif path.stat().st_size > MOST_BYTES:
                handin.note(f"{name} is larger than {MOST_BYTES / 1e6:.0f} MB, and was left out")
            elif path.suffix != ".ipynb":
                handin.files[name] = path.read_bytes()
            elif path.parent == folder:
                handin.notebooks[path.stem] = path.read_bytes()
        if STAMP in handin.files and self.folder.get_existing_timestamp(str(folder)) is None:
            handin.note(f"its {STAMP} tells no time: it counts as handed in on time")
        return handin

    def own_files(self) -> dict[str, bytes]:
        """The files that the instructor put beside the notebooks, without those that a student may replace."""
        folder = Path(self.path("source"))
        mine = self.app.config.Autograde.get("exclude_overwriting", {}).get(self.assignment, [])
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in self._files(folder)
            if path.suffix != ".ipynb" and str(path.relative_to(folder)) not in mine
        }

    def _files(self, folder: Path) -> list[Path]:
        from nbgrader.utils import find_all_files

        return sorted(Path(name) for name in find_all_files(str(folder), self.folder.ignore))


def _application(root: Path):
    """nbgrader's autograde application with the course's configuration read, and quiet."""
    from nbgrader.apps import AutogradeApp

    app = AutogradeApp(raise_config_file_errors=True)
    try:
        app.initialize([], root=str(root))
    except (Exception, SystemExit) as error:
        raise CourseError(
            f"{root / CONFIG} cannot be read: {type(error).__name__}: {error}"
        ) from error
    app.log_level = "CRITICAL"
    return app


def _folder(app):
    """nbgrader's course folder, in which a damaged time stamp of a student's stops nothing."""
    from nbgrader.coursedir import CourseDirectory

    class Folder(CourseDirectory):
        def get_existing_timestamp(self, dest_path):
            stamp = Path(dest_path, STAMP)
            if stamp.is_symlink() or not stamp.is_file():
                return None
            try:
                return super().get_existing_timestamp(dest_path)
            except (
                Exception
            ):  # nbgrader ends with an AttributeError, or with whatever the parser raises
                return None

    return Folder(parent=app)


def here() -> Path | None:
    """The current folder, where it is an nbgrader course other than this project."""
    folder = Path.cwd()
    return folder if (folder / CONFIG).exists() and folder != ROOT else None

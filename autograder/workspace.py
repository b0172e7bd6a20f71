"""Where grading keeps its files, and the release that it grades: one place for all paths."""

import importlib.util
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from autograder import checkdata
from autograder.checkdata import ROOT

VARIABLE = "GRADED_DESCENT_GRADING"
COURSE_ID = "graded-descent"


@dataclass(frozen=True)
class Workspace:
    """The grading folder, and the project whose `course/` and `solutions/` are graded by."""

    folder: Path
    project: Path = ROOT

    @property
    def gradebook_url(self) -> str:
        return f"sqlite:///{self.folder / 'gradebook.db'}"

    def submitted(self, chapter: str, student: str) -> Path:
        return self.folder / "submitted" / student / chapter

    def received(self, chapter: str, student: str) -> Path:
        """Every hand-in of a student as it came; none is ever overwritten."""
        return self.folder / "received" / chapter / student

    def autograded(self, chapter: str, student: str) -> Path:
        return self.folder / "autograded" / student / chapter

    def feedback(self, chapter: str, student: str) -> Path:
        return self.folder / "feedback" / student / chapter

    def verdict_file(self, chapter: str, student: str) -> Path:
        return self.folder / "verdicts" / chapter / f"{student}.json"

    def students(self, chapter: str) -> list[str]:
        """Who has handed in the chapter, in order."""
        return sorted(path.parent.name for path in (self.folder / "submitted").glob(f"*/{chapter}"))

    def release(self, chapter: str) -> dict[str, Path]:
        """The released notebooks of a chapter by name, in order; none where there is no such chapter."""
        found = sorted((self.project / "course" / chapter).glob("*.ipynb"))
        return {path.stem: path for path in found}

    def spec_path(self, notebook: str) -> Path:
        """The specification of "chapter/notebook"."""
        parts = checkdata.spec_module_name(notebook).split(".")
        return self.project.joinpath(*parts).with_suffix(".py")

    def load_exercises(self, notebook: str) -> dict:
        """The exercises of "chapter/notebook" by name; none where it has no specification."""
        path = self.spec_path(notebook)
        if not path.exists():
            return {}
        spec = importlib.util.spec_from_file_location(checkdata.spec_module_name(notebook), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return checkdata.exercises_of(module)

    def key(self) -> bytes:
        """The key that hidden cases are drawn by: made once, readable by its owner alone."""
        path = self.folder / "key"
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_bytes()
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(32))
        return path.read_bytes()

    def nbgrader_config(self):
        """nbgrader's configuration with this workspace's folders, for its converters and apps."""
        from autograder.building.build import nbgrader_config

        config = nbgrader_config()
        config.CourseDirectory.root = str(self.project)
        config.CourseDirectory.db_url = self.gradebook_url
        for step in ("submitted", "autograded", "feedback"):
            config.CourseDirectory[f"{step}_directory"] = str(self.folder / step)
        return config


def workspace() -> Workspace:
    """The workspace of this run: $GRADED_DESCENT_GRADING, else `grading/` in the project."""
    return Workspace(Path(os.environ.get(VARIABLE) or ROOT / "grading").resolve())


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: whoever reads sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)

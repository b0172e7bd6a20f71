"""Where grading keeps its files, and the release that it grades: one place for all paths."""

import contextlib
import difflib
import importlib.util
import os
import secrets
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder import checkdata
from autograder.checkdata import ROOT

VARIABLE = "GRADED_DESCENT_GRADING"
GRADEBOOK = "GRADED_DESCENT_GRADEBOOK"  # nbgrader_config.py reads it too
KEY_BYTES = 32
COURSE_ID = "graded-descent"


class BookError(RuntimeError):
    """The gradebook cannot be used, or cannot take what it is given; str() says why and what to do."""


@dataclass(frozen=True)
class Workspace:
    """The grading folder, and the project whose `course/` and `solutions/` are graded by."""

    folder: Path
    project: Path = ROOT

    @property
    def gradebook_url(self) -> str:
        """A file of SQLite in the grading folder, or $GRADED_DESCENT_GRADEBOOK: "postgresql://user@host/name".

        A password is best kept out of it, in PostgreSQL's own ~/.pgpass. Raises BookError for another database.
        """
        url = os.environ.get(GRADEBOOK) or f"sqlite:///{self.folder / 'gradebook.db'}"
        if not url.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
            kind = url.partition(":")[0]
            raise BookError(
                f"{GRADEBOOK} names a database of the kind {kind!r}: give postgresql://… or sqlite:///…"
            )
        return url

    def has_gradebook(self) -> bool:
        """Whether anything was ever graded. Raises BookError where the database cannot be asked."""
        from sqlalchemy import create_engine, inspect
        from sqlalchemy.engine import make_url

        url = make_url(self.gradebook_url)
        if url.get_backend_name() == "sqlite" and not Path(url.database).exists():
            return False  # asking would make the file
        with self.book_errors():
            engine = create_engine(url)
            try:
                return inspect(engine).has_table("assignment")
            finally:
                engine.dispose()

    @contextlib.contextmanager
    def book_errors(self):
        """Turns an error of the database into a BookError of one sentence, without its password."""
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        except ModuleNotFoundError as error:
            raise BookError(
                f"{error}. PostgreSQL needs it: pip install 'psycopg[binary]'"
            ) from error
        except SQLAlchemyError as error:
            words = " ".join(str(getattr(error, "orig", None) or error).split())
            raise BookError(
                f"the gradebook {make_url(self.gradebook_url)!r} cannot be used: {words[:300]}. It is named by "
                f"${GRADEBOOK}, else it is the file gradebook.db in {self.folder}."
            ) from error

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

    def no_chapter(self, name: str) -> str:
        """What is wrong with a chapter's name, in a sentence that names those there are; "" for a released one."""
        known = self.chapters()
        if name in known:
            return ""
        return f"there is no released chapter {name!r}. There are: {nearest_first(name, known)}."

    def chapters(self) -> list[str]:
        """The released chapters, in order."""
        found = {path.parent.name for path in self.project.glob("course/*/*.ipynb")}
        return sorted(name for name in found if not name.startswith("."))

    def spec_path(self, notebook: str) -> Path:
        """The specification of "chapter/notebook"."""
        return checkdata.spec_path(notebook, self.project)

    def load_exercises(self, notebook: str) -> dict:
        """The exercises of "chapter/notebook" by name; none where it has no specification."""
        path = self.spec_path(notebook)
        if not path.exists():
            return {}
        name = f"solutions.{notebook.replace('/', '.')}.exercises"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return checkdata.exercises_of(module)

    def key(self) -> bytes:
        """The key that hidden cases are drawn by: made once, readable by its owner alone."""
        path = self.folder / "key"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, partial = tempfile.mkstemp(
                prefix=".key-", dir=self.folder
            )  # readable by its owner alone
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            with contextlib.suppress(FileExistsError):
                os.link(partial, path)  # in one step, and never over another's
            os.unlink(partial)
        key = path.read_bytes()
        if len(key) != KEY_BYTES:
            raise BookError(
                f"{path} is damaged: hidden cases are drawn by it. Put it back from a copy; or delete it, and "
                "everybody is graded anew, on other hidden cases."
            )
        return key

    def nbgrader_config(self):
        """nbgrader's configuration with this workspace's folders, for its converters and apps."""
        from autograder.building.build import nbgrader_config

        config = nbgrader_config()
        config.CourseDirectory.root = str(self.project)
        config.CourseDirectory.db_url = self.gradebook_url
        for step in ("submitted", "autograded", "feedback"):
            config.CourseDirectory[f"{step}_directory"] = str(self.folder / step)
        return config


def nearest_first(name: str, known: Iterable[str]) -> str:
    """The names there are, for a message about one that there is not: near misses first, then twelve at most."""
    near = difflib.get_close_matches(name, sorted(known), 3)
    rest = sorted(set(known) - set(near))
    more = f" and {len(rest) - 12} more" if len(rest) > 12 else ""
    return (", ".join(near + rest[:12]) or "none") + more


def workspace() -> Workspace:
    """The workspace of this run: $GRADED_DESCENT_GRADING, else `grading/` in the project."""
    return Workspace(Path(os.environ.get(VARIABLE) or ROOT / "grading").resolve())


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: whoever reads sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)

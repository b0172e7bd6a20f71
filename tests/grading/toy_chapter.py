"""A toy chapter for the tests of grading: released, specified, solved and handed in."""

import json
import shutil
import zipfile
from pathlib import Path

from autograder import markers
from autograder.building import masters, release
from autograder.engine.worker_client import Limits

HERE = Path(__file__).parent
CHAPTER, STEM = "98_tiny", "01_first"
NOTEBOOK = f"{CHAPTER}/{STEM}"
SOLVED = {
    "double": "def double(x):\n    return 2 * x",
    "scaled": "def scaled(grad, x):\n    return SCALE * grad(x)",
    "why": "Why is doubling the same as adding a vector to itself?\n\nBecause 2 = 1 + 1.",
}
SHORT = Limits(cell=15, total=40)


def make_project(folder: Path, notebook_name: str = NOTEBOOK, toys: Path = HERE / "toy") -> Path:
    """A project with one toy chapter released and its specification, as the build would leave them.

    toys: the folder of its master and its specification, STEM.master and STEM.exercises.
    """
    from nbgrader.utils import compute_checksum

    chapter, stem = notebook_name.split("/")
    sources = folder / "solutions" / notebook_name
    sources.mkdir(parents=True)
    # Kept under other endings, so that nothing takes them for modules of the course.
    shutil.copy(toys / f"{stem}.master", sources / "notebook.py")
    shutil.copy(toys / f"{stem}.exercises", sources / "exercises.py")
    master = masters.read(notebook_name, folder / "solutions")
    notebook = masters.expand(master)
    masters.with_points(notebook, master.points)
    for cell in notebook.cells:
        stub = release.CODE_STUB if cell.cell_type == "code" else release.TEXT_STUB
        cell.source = markers.stubbed(cell.source, stub)
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    course = folder / "course" / chapter
    course.mkdir(parents=True)
    (course / f"{stem}.ipynb").write_text(json.dumps(notebook))
    return folder


def pack(path: Path, student: str, notebooks: dict[str, dict | bytes], manifest=None) -> Path:
    """A hand-in as `submit` writes it."""
    told = {"format": 1, "chapter": CHAPTER, "student": student, "records": {}} | (manifest or {})
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("manifest.json", json.dumps(told))
        for stem, content in notebooks.items():
            data = content if isinstance(content, bytes) else json.dumps(content)
            bundle.writestr(f"{CHAPTER}/{stem}.ipynb", data)
    return path

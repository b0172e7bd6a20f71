"""A toy chapter for the tests of grading: released, specified, solved and handed in."""

import json
import shutil
import zipfile
from pathlib import Path

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


def make_project(folder: Path) -> Path:
    """A project with the toy chapter released and its specification, as the build would leave them."""
    from nbgrader.utils import compute_checksum

    (folder / "masters" / CHAPTER).mkdir(parents=True)
    # Kept under another ending, so that nothing takes it for a module or for one of the course's masters.
    shutil.copy(HERE / f"toy/{STEM}.master", folder / "masters" / f"{NOTEBOOK}.py")
    master = masters.read(NOTEBOOK, folder / "masters")
    notebook = masters.expand(master)
    masters.with_points(notebook, master.points)
    for cell in notebook.cells:
        stub = release.CODE_STUB if cell.cell_type == "code" else release.TEXT_STUB
        cell.source = release.stubbed(cell.source, stub)
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    course = folder / "course" / CHAPTER
    course.mkdir(parents=True)
    (course / f"{STEM}.ipynb").write_text(json.dumps(notebook))
    specs = folder / "solutions/exercises/tiny"
    specs.mkdir(parents=True)
    shutil.copy(HERE / "toy/first.py", specs)
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

"""Both editions of every notebook run: the solution edition as its baseline says, the student's one unsolved."""

import json
import re

import nbformat
import pytest

from autograder.building import build, masters
from autograder.kernels import running
from autograder.kernels.nbval import compare

NOTEBOOKS = masters.notebooks()
pytestmark = pytest.mark.slow


def nbval(path, home):
    """(exit status, output) of nbval on one notebook."""
    environment = running.environment(str(home), build.COURSE, static=True)
    return compare(path, environment, build.ROOT)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_solution_edition_is_as_its_baseline(notebook, tmp_path):
    path = build.ROOT / "solutions" / f"{notebook}.ipynb"
    baseline = nbformat.read(path, 4)
    code_cells = sum(cell.cell_type == "code" for cell in baseline.cells)
    status, output = nbval(path, tmp_path)
    assert status == 0, output[-4000:]
    assert re.search(rf"\b{code_cells} passed", output), output[-500:]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_picture_has_a_summary_that_is_compared(notebook):
    baseline = nbformat.read(build.ROOT / "solutions" / f"{notebook}.ipynb", 4)
    for cell in baseline.cells:
        pictures = [o for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
        assert all("[axes 1" in o.data.get("text/plain", "") for o in pictures), cell.source


def test_nbval_fails_where_a_figure_has_other_data(tmp_path):
    """The proof that the comparison of figures can fail: one number of a baseline is changed."""
    name = "03_optimisation/01_gradient_descent"
    notebook = nbformat.read(build.ROOT / "solutions" / f"{name}.ipynb", 4)
    cells = [
        cell for cell in notebook.cells if any("[axes 1" in str(o) for o in cell.get("outputs", []))
    ]
    output = next(o for o in cells[0].outputs if "[axes 1" in str(o))
    output.data["text/plain"] = re.sub(
        r"mean (-?)\d", r"mean \g<1>7", output.data["text/plain"] + " mean 1", count=1
    )
    last = notebook.cells.index(cells[0])
    notebook.cells = notebook.cells[: last + 1]
    path = tmp_path / "changed.ipynb"
    nbformat.write(notebook, path)
    status, text = nbval(path, tmp_path)
    assert status == 1 and "1 failed" in text, text[-2000:]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_students_edition_runs_unsolved_to_its_end(notebook):
    student = nbformat.read(build.COURSE / f"{notebook}.ipynb", 4)
    answers = [cell for cell in student.cells if cell.metadata.get("descent", {}).get("exercise")]
    assert answers and all("raise NotImplementedError" in cell.source for cell in answers)
    data = json.loads((build.CHECKS / f"{notebook}.json").read_text(encoding="utf-8"))
    build.execute(student, notebook, static=False)
    build.require_targets(student, notebook, data)
    for cell in student.cells:
        if cell.metadata.get("descent", {}).get("check"):
            assert cell.outputs[0].data["text/plain"] == "0.0"
            assert "not solved yet" in cell.outputs[0].data["text/html"]


def test_built_files_match_their_masters():
    from autograder.building import stale

    assert stale.find_problems() == []

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


def compared(notebook):
    """Outputs that nbval compares: texts, and figures by the summary of their data."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            found.append(output.get("text") or output.get("data", {}).get("text/plain"))
    return [text for text in found if text]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_solution_edition_is_as_its_baseline(notebook, tmp_path):
    path = build.ROOT / "solutions" / f"{notebook}.ipynb"
    baseline = nbformat.read(path, 4)
    code_cells = sum(cell.cell_type == "code" for cell in baseline.cells)
    status, output = nbval(path, tmp_path)
    assert status == 0, output[-4000:]
    assert re.search(rf"\b{code_cells} passed", output), output[-500:]


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_something_is_compared_in_every_notebook(notebook):
    baseline = nbformat.read(build.ROOT / "solutions" / f"{notebook}.ipynb", 4)
    texts = compared(baseline)
    figures = [text for text in texts if "[axes 1" in text]
    assert len(texts) >= 10 and len(figures) >= 3
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


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_its_links_lead_to_notebooks_that_are_there(notebook):
    folder = (build.ROOT / "course" / notebook).parent
    texts = [cell.source for cell in masters.read(notebook).cells if cell.kind == "markdown"]
    for target in re.findall(r"\]\(([^)\s:#]+\.(?:ipynb|md))", "\n".join(texts)):
        assert (folder / target).is_file(), target


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_has_its_form(notebook):
    master = masters.read(notebook)
    code = [cell for cell in master.cells if cell.kind == "code"]
    calls = "\n".join(cell.source for cell in code)
    assert 25 <= len(master.cells) <= 75
    assert 4 <= len(master.points) <= 8  # the first notebook has a warm-up besides
    project = notebook.endswith("_project")  # an evening's work, with fewer questions on the way
    assert 45 <= master.head["minutes"] <= (150 if project else 90)
    assert len(re.findall(r"^\s*explore\(", calls, re.M)) >= 1
    assert len(re.findall(r"^\s*show\(", calls, re.M)) >= 2
    assert len(re.findall(r"^\s*predict\(", calls, re.M)) >= (1 if project else 2)
    assert code[0].source.rstrip().endswith(f'start("{notebook}")')
    assert re.search(r"^from descent import .*\bhint\b", code[0].source, re.M)  # the cards name it

"""course/ runs where nothing but itself and its own dependencies is installed."""

import importlib.metadata
import json
import os
import textwrap
from pathlib import Path

import pytest

from tools import lock

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def foreign():
    """Top-level modules of this environment that a student who installed only course/ lacks."""
    theirs = lock.pins([ROOT / "course" / "pyproject.toml"])
    names = importlib.metadata.packages_distributions()
    return {
        module
        for module, owners in names.items()
        if not {lock.canonical(owner) for owner in owners} & {*theirs, "pip"}
    } | {"autograder", "solutions", "tests", "tools"}


@pytest.fixture
def alone(course_copy, foreign, tmp_path):
    """Environment variables of a Python that finds the copy's `descent` and nothing foreign."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        textwrap.dedent(f"""
        import sys
        from importlib.machinery import PathFinder

        class Finder(PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                absent = name.partition(".")[0] in {foreign - {"descent"}!r}
                return None if absent else PathFinder.find_spec(name, path, target)

        sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
        """)
    )
    path = os.pathsep.join([str(hook), str(course_copy)])
    return dict(os.environ, PYTHONPATH=path, MPLBACKEND=INLINE)


INLINE = "module://matplotlib_inline.backend_inline"


def run(notebook, environ):
    """Execute a notebook in its own folder, in a kernel started with `environ`."""
    import nbformat
    from nbclient import NotebookClient

    client = NotebookClient(
        nbformat.read(notebook, as_version=4),
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
    )
    client.create_kernel_manager()
    client.km.transport = "ipc"
    client.km.ip = str(notebook.parent.parent / "k")
    return client.execute(env=environ)


def test_the_instructors_packages_are_foreign_to_a_student(foreign):
    assert {"nbgrader", "jupytext", "pytest", "playwright", "statsmodels"} <= foreign
    assert not {"numpy", "torch", "jupyterlab", "matplotlib", "sklearn", "IPython"} & foreign


def test_the_copy_is_what_is_imported(alone, tmp_path):
    import nbformat

    probe = nbformat.v4.new_notebook()
    source = """
        from importlib.util import find_spec
        import descent
        print(descent.__file__, find_spec("nbgrader"), sep="\\n")
    """
    probe.cells = [nbformat.v4.new_code_cell(textwrap.dedent(source))]
    nbformat.write(probe, tmp_path / "course" / "probe.ipynb")
    cell = run(tmp_path / "course" / "probe.ipynb", alone).cells[0]
    assert cell.outputs[0].text.splitlines() == [
        str(tmp_path / "course" / "descent" / "__init__.py"),
        "None",
    ]


@pytest.mark.slow
def test_the_first_notebook_and_the_index_run_in_a_copy_of_course(alone, course_copy):
    first = sorted(course_copy.glob("[0-9]*/*.ipynb"))[0]
    for notebook in (first, course_copy / "index.ipynb"):
        cells = run(notebook, alone).cells
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        assert outputs
        assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]


def test_no_file_of_the_course_points_outside_of_it():
    for path in (ROOT / "course").rglob("*"):
        assert not path.is_symlink(), path
    for notebook in (ROOT / "course").rglob("*.ipynb"):
        for cell in json.loads(notebook.read_text())["cells"]:
            source = "".join(cell["source"])
            depth = len(notebook.relative_to(ROOT / "course").parts) - 1
            assert "](" + "../" * (depth + 1) not in source, (notebook, source[:80])

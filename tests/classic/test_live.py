"""A cell of a classic assignment does in the sandbox what it does in nbgrader's own kernel.

One notebook of forms, of which a runner that only imitates a kernel gets many wrong, is run by nbgrader's Execute and
by us; of every cell the kinds of its outputs, their texts and its number are compared.
"""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classic import run
from autograder.engine.stage import Stage
from autograder.engine.worker_client import Limits

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

FILE = "import pathlib\npathlib.Path('bad.py').write_text('1 / 0')"
PICTURE = "from PIL import Image\nImage.new('RGB', (2, 2))"
FORMS = [
    "import asyncio, os, sys\nfrom pathlib import Path\nfrom IPython.display import HTML, clear_output, display",
    # what is known of the cells that ran
    "'the one before'", "In[-2]", "Out[2], _, _i", "get_ipython().execution_count", "%history -n 2",
    # the loop that cells run in, and a task that goes on from one to the next
    "asyncio.get_running_loop().is_running()", "asyncio.run(None)",
    "async def later():\n    await asyncio.sleep(0.05)\n    return 7\ntask = asyncio.create_task(later())\ntask.done()",
    "await asyncio.sleep(0.3)\ntask.done(), task.result()",
    # where it runs
    "type(get_ipython().kernel).__name__", "Path.cwd().name, Path('beside.txt').read_text()", "__name__",
    "os.environ['NBGRADER_EXECUTION']", "sys.stdout.encoding, sys.stdout.isatty(), type(sys.stdout.fileno())",
    '!python -c "print(6 * 7)"', "lines = !echo a b\nlines", "import time\nos.system('echo told')\ntime.sleep(1)",
    # errors inside of something
    "%%capture\nassert False", "%%time\nassert False", "%time 1 / 0", "%timeit -n1 -r1 [][0]",
    "%%prun -q\nassert False", FILE, "%run bad.py", "%%script bash\nexit 3", "%%script no_such_program\nx",
    "get_ipython().run_cell('assert False')", "assert False, 'plain'",
    "%no_such_magic\nx = 1", "%%no_such_magic\nx = 1", "%load_ext no_such_extension", "x = (", 
    "class A:\n    def __repr__(self): raise ValueError('no')\nA()", "raise SystemExit(3)", "input('name? ')",
    "import warnings\nwarnings.warn('told')",
    # what is shown
    "import matplotlib\nmatplotlib.get_backend()", "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('below')",
    "plt.get_fignums()", "%matplotlib inline\nplt.plot([1]);", PICTURE, "display(HTML('<b>x</b>'), 3)",
    "one = display('a', display_id=True)\none.update('b')", "print('gone')\nclear_output()\nprint('stays')",
    "print('out')\nprint('err', file=sys.stderr)", "%%capture told\nprint(1)", "told.stdout", "1; 2", "0.5", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The cells as nbgrader ran them, and as we did."""
    from nbgrader.preprocessors import Execute

    theirs, ours = (new_notebook(cells=[new_code_cell(form) for form in FORMS]) for _ in range(2))
    folder = tmp_path_factory.mktemp("course") / "ps1"
    folder.mkdir()
    (folder / "beside.txt").write_text("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NBGRADER_EXECUTION", "autograde")  # as its autograde does
        for name in ("PYTEST_CURRENT_TEST", "MPLBACKEND"):  # a kernel would see that it is tested
            patch.delenv(name, raising=False)
        preprocessor = Execute(timeout=600, kernel_name="python3")
        preprocessor.preprocess(theirs, {"metadata": {"path": str(folder)}})
    with Stage([], ["matplotlib.pyplot"], live=True) as stage:
        run.run(ours, "ps1", {"beside.txt": b"here"}, stage, Limits(cell=600, total=6000))
    nbformat.validate(ours)
    return theirs.cells, ours.cells


def told(cell):
    """A cell's number and outputs, without what differs between two runs: times, places, in how many parts."""
    whole = []
    for part in map(_told, cell.outputs):
        if whole and part[0] == "stream" and whole[-1][:2] == part[:2]:
            part = (*part[:2], whole.pop()[2] + part[2])
        whole.append(part)
    return [cell.execution_count, *((*part[:-1], _steady(part[-1])) for part in whole)]


def _told(output):
    """(kind, what kind of it, text) of an output."""
    kind = output.output_type
    if kind == "error":
        return kind, output.ename, output.evalue
    if kind == "stream":
        return kind, output.name, output.text
    return kind, "image/png" in output.data, output.data.get("text/plain", "")


def _steady(text):
    """Without what belongs to one run: times, addresses, paths."""
    return re.sub(r"object at \w+|/\S+/\S+|(?<=CPU times).*|(?<=Wall time).*", "…", text)


@pytest.mark.parametrize("place", range(len(FORMS)), ids=[form[:40] for form in FORMS])
def test_a_form_does_what_it_does_in_nbgraders_kernel(both, place):
    theirs, ours = (cells[place] for cells in both)
    assert told(ours) == told(theirs)


def test_the_forms_are_what_they_are_meant_to_be(both):
    """So that the comparisons above compare something."""
    _, ours = both
    failed = [cell.source for cell in ours if any(o.output_type == "error" for o in cell.outputs)]
    assert len(failed) >= 14 and FORMS.index("%load_ext no_such_extension") > 20
    shown = dict(zip(FORMS, map(told, ours), strict=True))
    assert shown["In[-2]"][1][2] == "\"'the one before'\""
    assert shown["await asyncio.sleep(0.3)\ntask.done(), task.result()"][1][2] == "(True, 7)"
    assert shown[PICTURE][1][1] and shown["plt.get_fignums()"][1][2] == "[]"
    assert shown["one = display('a', display_id=True)\none.update('b')"][1:] == [
        ("display_data", False, "'b'")
    ]


def test_exit_costs_its_own_cell_only():
    cells = [new_code_cell(source) for source in ("x = 1", "exit()", "x")]
    with Stage([], live=True) as stage:
        run.run(new := new_notebook(cells=cells), "ps1", {}, stage, Limits(cell=60))
    first, second, third = new.cells
    assert [output.ename for output in second.outputs if output.output_type == "error"] == [
        "SystemExit"
    ]
    assert third.outputs[0].data["text/plain"] == "1" and third.execution_count == 3

"""Runs a notebook in a kernel of its own."""

import os
import re
import sys
import tempfile
from pathlib import Path

from autograder.kernels import warm


class RunError(Exception):
    """A notebook that does not run to its end in silence; str() shows the cell.

    cell: its id, None where it is none's fault. line: the line in it, from 1; 0 where only the cell is known.
    """

    def __init__(self, words: str, cell: str | None = None, line: int = 0):
        super().__init__(words)
        self.cell, self.line = cell, line


def environment(home: str, course: Path, *, static: bool) -> dict[str, str]:
    """The environment of a kernel: repeatable, with its own progress, the environment's bin on PATH.

    static: widgets show their first state, as on a page without a kernel.
    """
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "DESCENT_HOME": home,
        "DESCENT_STATIC": "1" if static else "0",
        "DESCENT_STRICT": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": str(course),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        # One thread a kernel: sums in one order, and two kernels do not fight for two cores.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def prepare(course: Path) -> None:
    """Start importing what kernels need. Processes that this one forks from here on share it."""
    if warm.POSSIBLE:
        warm.parent(warm.FOR_KERNELS, environment("", course, static=True))


def execute(notebook, folder: Path, course: Path, *, static: bool):
    """Run a notebook in a fresh kernel, in `folder` -> the same notebook with outputs.

    Raises RunError at an error or a warning, with the cell.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        client = NotebookClient(
            notebook, timeout=180, kernel_name="python3", record_timing=False,
            iopub_timeout=180,  # after 4 s, what a cell showed would be lost on a busy machine
            coalesce_streams=True,  # where a stream is cut depends on the moment
            store_widget_state=False,  # it holds random ids, and pages show pictures instead
            resources={"metadata": {"path": str(folder)}},
        )  # fmt: skip
        client.create_kernel_manager()
        client.km.kernel_spec.metadata["kernel_provisioner"] = warm.provisioner()
        client.km.transport = "ipc"  # ports are raced for by kernels that start together
        client.km.connection_file = str(Path(home) / "kernel.json")
        client.km.ip = str(Path(home) / "kernel")
        try:
            client.execute(env=environment(home, course, static=static))
        except CellExecutionError as error:
            raise RunError(_plain(str(error)), *_failed(notebook)) from None
        except Exception as error:
            raise RunError(f"{type(error).__name__}: {error}") from error
    notebook.metadata["language_info"] = {"name": "python"}  # without the version of this machine
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                raise RunError(f"a cell writes to stderr:\n{cell.source}\n{output.text}", cell.id)
    return notebook


def _failed(notebook) -> tuple[str | None, int]:
    """The id of the cell that raised, and the line in it."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                told = _plain("\n".join(output.traceback))
                lines = re.findall(rf"Cell In\[{cell.execution_count}\], line (\d+)", told)
                return cell.id, int(lines[-1]) if lines else 0
    return None, 0


def _plain(text: str) -> str:
    """Without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)

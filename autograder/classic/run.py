"""Runs one restored notebook in the sandbox, all its cells in order, and keeps what they showed.

A cell that ends the process, or that cannot be interrupted at its limit, is left out and says so; the others run again
without it, so that the rest of the notebook keeps its points.
"""

import base64
import time
import tokenize

import nbformat
from IPython.core.displayhook import DisplayHook

from autograder.classic import outputs
from autograder.engine.stage import Stage
from autograder.engine.worker_client import Died, Limits, Worker, why_ended

PREPARE_SECONDS = 60.0
CHUNK = 4_000_000  # bytes of a file in one request
MAX_DEATHS = 12
MOST_SHOWN = 30_000_000  # characters of one notebook's outputs that are kept
NAMES = {
    "timeout": "StoppedAtTheTimeLimit",
    "memory": "TookTooMuchMemory",
    "output": "PrintedTooMuch",
    "exited": "EndedTheProgram",
}


class UnpreparedError(RuntimeError):
    """The sandbox could not be made ready; str() says why."""


def run(
    notebook: nbformat.NotebookNode,
    folder: str,
    files: dict[str, bytes],
    stage: Stage,
    limits: Limits,
):
    """Run the notebook's cells; their outputs are put into it.

    folder: the name of where it runs. files: what lies there. stage: of live kernels. limits.cell: seconds after which
    a cell is interrupted, and the notebook goes on; 0 for never. Raises UnpreparedError.
    """
    deadline = time.monotonic() + limits.total
    left_out: set[int] = set()
    while True:
        with Worker(stage, limits) as worker:
            _prepare(worker, folder, files)
            died = _pass(worker, notebook.cells, left_out, deadline)
        if died is None:
            return
        place, reason = died
        left_out.add(place)
        words = f"This cell was run, and {reason}. The other cells were run without it."
        notebook.cells[place].outputs = [outputs.error(NAMES.get(reason.kind, "Stopped"), words)]
        if time.monotonic() > deadline or len(left_out) > MAX_DEATHS:
            _give_up(notebook.cells[place + 1 :], limits)
            return


def _prepare(worker, folder, files):
    requests = [{"do": "folder", "name": folder}]
    requests += [
        {"do": "file", "name": name, "data": base64.b64encode(data[at : at + CHUNK]).decode()}
        for name, data in files.items()
        for at in range(0, max(len(data), 1), CHUNK)
    ]
    requests += [{"do": "kernel"}]
    for request in requests:
        try:
            worker.ask(request, PREPARE_SECONDS)
        except Died as died:
            told = worker.tail.decode("utf-8", "replace").strip()[-300:]
            raise UnpreparedError(f"the sandbox could not be prepared: {died}; {told}") from None


def _pass(worker, cells, left_out, deadline):
    """One pass through the notebook -> None at its end, or (place, why) of the cell that killed the process."""
    room = MOST_SHOWN
    for place, cell in enumerate(cells):
        if not _runs(cell) or place in left_out:
            continue
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise Died("timeout", "the notebook as a whole took too long")
            _run_cell(worker, cell, left)
            room -= outputs.size(cell.outputs)
            cell.outputs = cell.outputs if room > 0 else outputs.brief(cell.outputs)
        except Died as died:
            return place, died
    return None


def _runs(cell) -> bool:
    if cell.cell_type != "code" or not cell.source.strip():
        return False
    # A student may leave out a cell of his own, never one that is graded or the course's.
    return "nbgrader" in cell.metadata or "skip-execution" not in cell.metadata.get("tags", [])


def _run_cell(worker, cell, left):
    limit = worker.limits.cell
    request = {"do": "cell", "source": cell.source, "seconds": limit}
    reply = worker.ask(request, min(limit + worker.limits.grace, left) if limit else left)
    if "ended" in reply:
        raise why_ended(reply["ended"])
    count = reply.get("count")
    cell.execution_count = count if type(count) is int else None
    cell.outputs = outputs.clean(reply.get("outputs"), cell.execution_count)
    if _is_quiet(cell.source):
        cell.outputs = [o for o in cell.outputs if o.output_type != "execute_result"]
    if reply.get("interrupted") and any(o.output_type == "error" for o in cell.outputs):
        words = f"this cell ran longer than {limit:g} s and was interrupted."
        cell.outputs.append(outputs.error(NAMES["timeout"], words))


def _is_quiet(source: str) -> bool:
    """Whether a semicolon at the end says: show no result. nbgrader then gives all points, or none."""
    try:
        return DisplayHook.semicolon_at_end_of_expression(source)
    except (SyntaxError, tokenize.TokenError):
        return False


def _give_up(cells, limits):
    words = f"This cell was not reached: the notebook took longer than {limits.total:g} s in all, or ended too often."
    for cell in cells:
        if _runs(cell):
            cell.outputs = [outputs.error("NotReached", words)]

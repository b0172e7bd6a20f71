"""Text of the cells that prepare a sandbox before a student's notebook runs in it."""

import base64

CHUNK = 4_000_000  # bytes of a file in one request

_PREPARE = '''
def _prepare(seconds):
    """What a kernel of nbgrader's has: a folder of its own, figures shown, a cell interrupted at its limit."""
    import os
    import signal
    import sys
    import tempfile

    os.chdir(tempfile.mkdtemp())
    shell = get_ipython()
    os.environ["NBGRADER_EXECUTION"] = "autograde"
    sys.path.insert(0, "")
    shell.run_line_magic("matplotlib", "inline")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    shell.events.register("pre_run_cell", lambda info: signal.setitimer(signal.ITIMER_REAL, seconds))
    shell.events.register("post_run_cell", lambda result: signal.setitimer(signal.ITIMER_REAL, 0))


_prepare({seconds})
del _prepare
'''

_FILE = """
def _write(name, data):
    import base64
    import pathlib

    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(base64.b64decode(data))


_write({name!r}, {data!r})
del _write
"""


def prepare(seconds: float) -> str:
    """The first cell. seconds: after them, a cell is interrupted as by a person; 0 for never."""
    return _PREPARE.replace("{seconds}", repr(seconds))


def files(contents: dict[str, bytes]) -> list[str]:
    """Cells that put files into the folder in which the notebook runs."""
    return [
        _FILE.replace("{name!r}", repr(name)).replace(
            "{data!r}", repr(base64.b64encode(data[at : at + CHUNK]).decode())
        )
        for name, data in contents.items()
        for at in range(0, max(len(data), 1), CHUNK)
    ]

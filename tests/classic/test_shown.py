"""What a cell prints and shows is kept in nbformat's terms, whole, in order and within its room."""

import base64
import json
import os
import subprocess
import sys

import nbformat
import pytest

from autograder.checkdata import ROOT
from autograder.engine.inside import shown


@pytest.fixture
def record():
    return shown.Record()


def test_what_is_printed_comes_as_one_text_a_stream_in_order(record):
    for name, text in (("stdout", "a"), ("stdout", "b\n"), ("stderr", "c"), ("stdout", "")):
        record.stream(name, text)
    told = [(one["name"], one["text"]) for one in record.outputs]
    assert told == [("stdout", "ab\n"), ("stderr", "c")]


FAILS = {
    "%%capture": "%%capture\nassert False",
    "%%time": "%%time\nassert False",
    "%time": "%time 1 / 0",
    "%timeit": "%timeit -n 1 -r 1 [][0]",
    "%%prun": "%%prun -q\nassert False",
    "%run": "import pathlib\npathlib.Path('bad.py').write_text('1 / 0')\n%run bad.py",
    "run_cell": "get_ipython().run_cell('assert False')",
    "an unknown magic": "%no_such_magic\nx = 1",
    "an unknown cell magic": "%%no_such_magic\nx = 1",
    "an extension that is not there": "%load_ext no_such_extension",
    "a result that cannot be shown": "class A:\n    def __repr__(self): raise ValueError\nA()",
    "syntax": "x = (",
    "plain": "assert False",
}
HOLDS = [
    "%%capture\nprint(1)",
    "%time 1 + 1",
    "try:\n    assert False\nexcept AssertionError:\n    print(2)",
]
RUN = """
import json, os, sys
from autograder.engine.inside import worker
shell = worker.make_shell()
told = [worker.run_cell(shell, {"source": source, "outputs": True}) for source in json.load(sys.stdin)]
failed = [any(o["output_type"] == "error" for o in one["outputs"]) for one in told]
os.write(3, json.dumps(failed).encode())
"""


def test_a_cell_that_fails_says_so_wherever_it_fails(tmp_path):
    sources = [*FAILS.values(), *HOLDS]
    read, write = os.pipe()
    command = ["bash", "-c", f'exec "$0" -c "$1" 3>&{write}', sys.executable, RUN]
    environ = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'course'}"}
    subprocess.run(
        command, input=json.dumps(sources), text=True, cwd=tmp_path, env=environ,
        pass_fds=[write], check=True, capture_output=True,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as told:
        failed = json.load(told)
    expected = dict.fromkeys(FAILS, True) | dict.fromkeys(HOLDS, False)
    assert dict(zip(expected, failed, strict=True)) == expected


def test_a_picture_in_bytes_is_kept_as_text(record):
    record.data("display_data", {"image/png": b"\x89PNG", "text/plain": "<image>"}, None)
    (one,) = record.outputs
    assert base64.b64decode(one["data"]["image/png"]) == b"\x89PNG"
    nbformat.validate(one, ref="output", version=4)


def test_what_is_beyond_the_room_is_dropped_and_a_score_is_not(record):
    record.stream("stdout", "x" * (shown.ROOM + 5))
    record.data("execute_result", {"text/plain": "0.5"}, None)
    stream, result = record.outputs
    assert len(stream["text"]) == shown.ROOM and result["data"] == {"text/plain": "0.5"}

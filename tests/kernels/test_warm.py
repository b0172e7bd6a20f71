"""A forked kernel is what a fresh one is, can be interrupted and killed, and ends with whoever started it."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys

import nbformat
import pytest

from autograder.building import build
from autograder.kernels import running, warm

pytestmark = pytest.mark.skipif(not warm.POSSIBLE, reason="no process is forked here")

# What a notebook's first cell can see of its process. Not sys.modules: being full is the point of the fork.
PROBE = """
import gc, json, os, signal, sys, threading, warnings

ours = ("autograder", "descent", "ipywidgets", "pytest")
seen = {
    "arguments": sys.argv[:2],
    "flags": str(sys.flags),
    "path": sys.path,
    "folder": os.getcwd(),
    "environment": {k: v for k, v in os.environ.items() if not k.startswith(("JPY_", "PYTEST_"))},
    "signals": [str(signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
    "blocked": str(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "threads": sorted(t.name for t in threading.enumerate()),
    "hash": hash("a"),
    "collects": gc.isenabled(),
    "leads its session": os.getsid(0) == os.getpid(),
    "ours": sorted(m for m in sys.modules if m.split(".")[0] in ours),
}
import ipywidgets, matplotlib.pyplot, numpy, sklearn.linear_model, torch
from torch.optim import Adam

Adam([torch.zeros(1, requires_grad=True)]).step()
seen |= {
    "torch": [torch.get_num_threads(), str(torch.get_default_dtype()), torch.is_grad_enabled()],
    "numpy": [numpy.geterr(), numpy.get_printoptions()],
    "figures": matplotlib.pyplot.get_fignums(),
    "matplotlib": {k: str(v) for k, v in matplotlib.rcParams.items()},
    "targets": sorted(get_ipython().kernel.comm_manager.targets),
    "warnings": sorted(str(f) for f in warnings.filters),
}
print(json.dumps(seen, default=str))
"""


def shown(source, folder):
    """What one cell prints in a kernel of its own."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    cell = running.execute(notebook, folder, build.COURSE, static=True).cells[0]
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_a_forked_kernel_sees_what_a_fresh_one_sees(tmp_path, monkeypatch):
    forked = json.loads(shown(PROBE, tmp_path))
    monkeypatch.setattr(warm, "POSSIBLE", False)
    fresh = json.loads(shown(PROBE, tmp_path))
    for one in (forked, fresh):
        del one["environment"]["DESCENT_HOME"]
    assert forked == fresh


def test_two_kernels_draw_different_numbers_as_fresh_ones_do(tmp_path):
    draw = """
import random, numpy, torch
print(random.random(), numpy.random.rand(), numpy.random.default_rng().random(), torch.rand(1).item())
"""
    first, second = (set(shown(draw, tmp_path).split()) for _ in range(2))
    assert len(first) == 4 and not first & second


def test_a_figure_is_shown_once_by_the_cell_that_draws_it(tmp_path):
    cells = ["import matplotlib.pyplot as plt", "plt.plot([1, 2]); None", "plt.get_fignums()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    cells = running.execute(notebook, tmp_path, build.COURSE, static=True).cells
    assert [list(output.data) for output in cells[1].outputs] == [["text/plain", "image/png"]]
    assert cells[2].outputs[0].data["text/plain"] == "[]"


def test_a_notebook_that_warns_or_fails_is_told_with_its_cell(tmp_path):
    for source, words in (
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.stderr.write('!')", "stderr"),
    ):
        with pytest.raises(running.RunError, match=words):
            shown(source, tmp_path)


@pytest.fixture
def kernel(tmp_path):
    """A kernel's manager and client, warm."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "k"))
    manager.kernel_spec.metadata["kernel_provisioner"] = warm.provisioner()
    manager.start_kernel(env=running.environment(str(tmp_path), build.COURSE, static=True))
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_an_endless_cell_is_interrupted_and_the_kernel_lives(kernel):
    manager, client = kernel
    # With stop_on_error a kernel refuses for a moment what comes next.
    endless = "print('begun', flush=True)\nwhile True: pass"
    asked = client.execute(endless, stop_on_error=False)
    while client.get_iopub_msg(timeout=30)["msg_type"] != "stream":
        pass
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=30)
    assert (reply["parent_header"]["msg_id"], reply["content"]["ename"]) == (
        asked,
        "KeyboardInterrupt",
    )
    assert client.execute_interactive("1", timeout=30)["content"]["status"] == "ok"


def test_a_kernel_is_another_one_after_a_restart(kernel):
    manager, client = kernel
    before = manager.provisioner.pid
    manager.restart_kernel(now=True)
    client.wait_for_ready(timeout=60)
    assert manager.is_alive() and manager.provisioner.pid != before


def test_a_kernel_that_is_shut_down_is_gone(kernel):
    manager, _ = kernel
    with watched(manager.provisioner.pid) as process:
        manager.shutdown_kernel()
        assert ends(process)
    assert not manager.is_alive()


@contextlib.contextmanager
def watched(pid):
    process = os.pidfd_open(pid)
    try:
        yield process
    finally:
        os.close(process)


def ends(process):
    """Whether a process that is watched ends, within a minute."""
    return bool(select.select([process], [], [], 60)[0])


MODULES = ("json",)  # a light parent, for what has nothing to do with what is imported


def start(tmp_path, source, **more):
    """`python -m probe` in tmp_path, forked."""
    (tmp_path / "probe.py").write_text(source)
    environment = dict(os.environ)
    path = warm.parent(MODULES, environment)
    return warm.Process(path, ["probe", "one"], environment=environment, folder=tmp_path, **more)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os; os._exit(7)", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_the_exit_status_is_told(tmp_path, source, status):
    assert start(tmp_path, source).wait(60) == status


def test_it_runs_as_main_with_its_arguments_and_prints_where_told(tmp_path):
    source = "import sys, atexit\natexit.register(print, 'ended')\nprint(__name__, sys.argv[1:], __file__)"
    with (tmp_path / "printed").open("w+") as printed:
        assert start(tmp_path, source, stdout=printed).wait(60) == 0
        printed.seek(0)
        assert printed.read() == f"__main__ ['one'] {tmp_path / 'probe.py'}\nended\n"


@pytest.mark.parametrize("how", ["terminate", "kill"])
def test_a_process_that_waits_is_ended(tmp_path, how):
    process = start(tmp_path, "import signal\nsignal.pause()")
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0)
    getattr(process, how)()
    assert process.wait(60) == {"terminate": -signal.SIGTERM, "kill": -signal.SIGKILL}[how]


OWNER = """
import os, signal, sys
from autograder.kernels import warm
path = warm.parent(("json",), dict(os.environ))
process = warm.Process(path, ["probe"], environment=dict(os.environ), folder=".")
print(process.pid, os.path.dirname(path), flush=True)
signal.pause()
"""


def test_nothing_is_left_of_an_owner_that_is_killed(tmp_path):
    (tmp_path / "probe.py").write_text("import signal\nsignal.pause()")
    run = [sys.executable, "-c", OWNER]
    path = os.pathsep.join([str(build.ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    owner = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment)
    pid, folder = owner.stdout.readline().split()
    with watched(int(pid)) as child, watched(_parent_of(pid)) as parent:
        owner.kill()
        owner.communicate()
        assert ends(child) and ends(parent)
    assert not os.path.exists(folder)


def _parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def test_what_is_imported_warm_prints_nothing_and_starts_no_thread():
    """Else a warning that a fresh kernel shows would be lost, and a fork could hang."""
    source = "import os, sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\n"
    source += "print(len(os.listdir('/proc/self/task')))"
    run = [sys.executable, "-c", source, *warm.FOR_KERNELS]
    done = subprocess.run(
        run, env=running.environment("", build.COURSE, static=True), capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_other_variables_that_are_read_at_the_start_get_another_parent():
    one = dict(os.environ)
    other = one | {"TORCH_OF_THIS_TEST": "1"}
    same = one | {"DESCENT_HOME": "elsewhere", "PYTHONPATH": "elsewhere"}
    paths = [warm.parent(MODULES, environment) for environment in (one, other, same)]
    assert paths[0] == paths[2] != paths[1]

"""Make .venv, or leave it alone when it is what requirements.lock asks for.

    python3 -m tools.environment

Standard library only, and no syntax newer than Python 3.7: an old Python has to get far enough to
be told that it is too old.
"""

import collections
import errno
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from tools import progress

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
BIN = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = BIN / ("python.exe" if WINDOWS else "python")
STAMP = VENV / "graded-descent.stamp"
LOCK = ROOT / "requirements.lock"

OLDEST = (3, 11)
DISK_GB = 3.0  # the environment without CUDA takes 1.9 GB, and pip unpacks beside it
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


class Problem(Exception):
    """Something that the person at the keyboard can mend, in one line."""


def python_problem(version):
    """None, or why this Python cannot run the course. version: (major, minor, …)."""
    if tuple(version[:2]) >= OLDEST:
        return None
    return (
        "Python {}.{} is too old: Graded Descent needs {}.{} or newer. "
        "If you have one, name it: make start PYTHON=python3.12".format(*version[:2], *OLDEST)
    )


def disk_problem(free_bytes, where):
    """None, or that the disk is too full for the environment."""
    if free_bytes >= DISK_GB * 1e9:
        return None
    return "{} has {:.1f} GB free: the environment needs {:.0f} GB. Free some space.".format(
        where, free_bytes / 1e9, DISK_GB
    )


def port_problem(port, in_use):
    """None, or why JupyterLab cannot listen on `port` (a string, as the environment gives it)."""
    if not port.isdigit() or not 0 < int(port) < 65536:
        return f"PORT={port} is not a port: give a number from 1 to 65535."
    if in_use(int(port)):
        return (
            f"Port {port} is in use, perhaps by a JupyterLab that still runs. "
            f"Choose another: make start PORT={int(port) % 65535 + 1}"
        )
    return None


def port_in_use(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EACCES:
                raise Problem(f"Port {port} is reserved: choose one above 1023.") from None
            return True
    return False


def inputs():
    """Contents of the files that decide what .venv holds."""
    files = [LOCK, ROOT / "pyproject.toml", ROOT / "course" / "pyproject.toml"]
    return [path.read_bytes() for path in files]


def wanted_stamp(files, version, where):
    """What the stamp of an up-to-date environment says: a hash of its inputs."""
    digest = hashlib.sha256(repr((tuple(version[:2]), str(where))).encode())
    for content in files:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def is_current(stamp, wanted):
    """Whether the environment whose stamp lies at `stamp` is the one wanted."""
    return stamp.is_file() and stamp.read_text().strip() == wanted


def install_commands(python, torch_cpu, torch_pin):
    """The pip calls that fill the environment, in order."""
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    commands = []
    if torch_cpu:
        commands.append([*pip, torch_pin, "--index-url", TORCH_CPU_INDEX])
    commands.append([*pip, "-r", LOCK.name])
    commands.append([*pip, "--no-deps", "-e", "./course", "-e", "."])
    return commands


def torch_pin(lock_text):
    return next(line for line in lock_text.splitlines() if line.startswith("torch=="))


def reachable(url):
    try:
        urllib.request.urlopen(url, timeout=10).close()
    except (urllib.error.URLError, OSError):
        return False
    return True


def environ():
    """Our environment variables with .venv first on PATH: nbgrader calls alembic by name."""
    return dict(
        os.environ,
        PATH=str(BIN) + os.pathsep + os.environ.get("PATH", ""),
        VIRTUAL_ENV=str(VENV),
    )


def venv_works():
    try:
        return subprocess.run([str(PYTHON), "-c", ""], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def make_venv():
    moved = STAMP.is_file() and not venv_works()
    command = [sys.executable, "-m", "venv", *(["--clear"] if moved else []), str(VENV)]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode or not venv_works():
        raise Problem(
            "Python could not make a virtual environment in .venv. "
            "On Debian and Ubuntu: apt-get install python3-venv"
        )


def install(command):
    """Run pip and show how far it is. Raises Problem, after pip's last lines, when it fails."""
    last = collections.deque(maxlen=15)
    # Errors among the rest, so that they stand where they happened.
    output = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    with subprocess.Popen(command, cwd=str(ROOT), env=environ(), **output) as pip:
        lines = (last.append(line) or line for line in pip.stdout)
        progress.show(progress.steps(lines, LOCK.read_text()), sys.stdout)
    if pip.returncode:
        free = shutil.disk_usage(str(ROOT)).free / 1e9
        print("".join(last), file=sys.stderr)
        raise Problem(
            "pip could not finish: its last lines above say why "
            f"({free:.1f} GB are free on the disk). Run the same command again to go on."
        )


def ensure():
    """Make or renew .venv where it is not current. Raises Problem."""
    problem = python_problem(sys.version_info)
    if problem:
        raise Problem(problem)
    wanted = wanted_stamp(inputs(), sys.version_info, VENV)
    if is_current(STAMP, wanted) and PYTHON.exists():
        return
    problem = None if PYTHON.exists() else disk_problem(shutil.disk_usage(str(ROOT)).free, ROOT)
    if problem:
        raise Problem(problem)
    torch_cpu = os.environ.get("TORCH", "") == "cpu"
    if torch_cpu and not reachable(TORCH_CPU_INDEX + "/torch/"):
        raise Problem(
            f"TORCH=cpu: PyTorch's wheels at {TORCH_CPU_INDEX} cannot be reached from here. "
            "Without TORCH=cpu, pip takes torch from the sources this machine is set up with."
        )
    print("Installing the course into .venv (once, a few minutes) …", flush=True)
    make_venv()
    for command in install_commands(PYTHON, torch_cpu, torch_pin(LOCK.read_text())):
        install(command)
    STAMP.write_text(wanted + "\n")


def run(main):
    """Call main(); end with its status, or with one line about a Problem and status 1."""
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"{problem}")


if __name__ == "__main__":
    run(ensure)

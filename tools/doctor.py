"""Say what this machine has and what it lacks, with the mend: `make doctor`.

One line a requirement. The status is 1 where one fails.
"""

import os
import shutil
import subprocess
import sys

from tools import environment, system
from tools.environment import BIN, LOCK, PYTHON, ROOT, STAMP, VENV


def requirements():
    """Yield (name, problem): problem is None, or what is wrong and its mend in one line."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield f"Python {version}", environment.python_problem(sys.version_info)
    room = shutil.disk_usage(str(ROOT)).free
    installed = STAMP.exists()
    yield "disk space", None if installed else environment.disk_problem(room, ROOT)
    yield "environment .venv, as requirements.lock asks", environment_problem()
    for module in ("torch", "jupyterlab", "descent", "nbgrader"):
        yield f"import {module}", import_problem(module)
    alembic = None if (BIN / "alembic").exists() else "not in .venv/bin. Mend: make start"
    yield "alembic, which nbgrader calls", alembic
    port = os.environ.get("PORT") or "8888"
    yield f"port {port}", environment.port_problem(port, environment.port_in_use)
    for program, package in sorted(system.PACKAGES.items()):
        yield f"{program}, for tests and grading", program_problem(program, package)


def environment_problem():
    wanted = environment.wanted_stamp(environment.inputs(), sys.version_info, VENV)
    if environment.is_current(STAMP, wanted):
        return None
    return f"not made from this {LOCK.name}, or moved. Mend: make start"


def import_problem(module):
    command = [str(PYTHON), "-c", f"import importlib.util as u; assert u.find_spec({module!r})"]
    try:
        found = subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        found = False
    return None if found else "not installed in .venv. Mend: make start"


def program_problem(program, package):
    if system.which(program) is None:
        return f"not found. Mend: {system.advice([package])}"
    if program == "bwrap" and not system.sandbox_works():
        return (
            "this system lets it make no namespaces (a container, or AppArmor's rule). "
            "Grade on a machine that allows user namespaces"
        )
    return None


def main():
    failed = 0
    for name, problem in requirements():
        print(f"OK   {name}" if problem is None else f"FAIL {name}: {problem}")
        failed |= problem is not None
    return int(failed)


if __name__ == "__main__":
    environment.run(main)

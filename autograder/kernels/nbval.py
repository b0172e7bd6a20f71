"""Compares a notebook with its baseline by nbval; as a plugin of pytest's, it gives nbval warm kernels."""

import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.kernels import warm


def pytest_configure():
    warm.for_all_kernels()


def compare(path: Path, environment: dict[str, str], folder: Path) -> tuple[int, str]:
    """Run `pytest --nbval` on a notebook, in `folder` -> its exit status and what it printed."""
    plugins = ("nbval.plugin", __name__, "no:cacheprovider")  # not all those that happen to be here
    command = ["pytest", "--nbval", "-q", *(f"-p{plugin}" for plugin in plugins), str(path)]
    environment = environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryFile() as printed:
        told = {"stdout": printed, "stderr": printed}
        if warm.POSSIBLE:
            own = environment | {warm.WARM: warm.parent(warm.FOR_KERNELS, environment)}
            process = warm.Process(
                warm.parent(warm.FOR_NBVAL, environment),
                command,
                environment=own,
                folder=folder,
                **told,
            )
        else:
            process = subprocess.Popen(
                [sys.executable, "-m", *command], env=environment, cwd=folder, **told
            )
        status = process.wait()
        printed.seek(0)
        return status, printed.read().decode()

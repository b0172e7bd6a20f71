"""Install what the tests need beside Python: Chromium, bubblewrap and PostgreSQL, through apt-get where it may.

    python3 -m tools.system

Where it may not, it prints the one command to run and goes on: the tests that need them say so.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools import environment

# program -> Debian package
PACKAGES = {"chromium": "chromium", "bwrap": "bubblewrap", "initdb": "postgresql"}


def missing(which):
    """Debian packages whose program `which` (a function like shutil.which) does not find."""
    return [package for program, package in PACKAGES.items() if which(program) is None]


def which(program):
    """The path of a program, or None. Debian keeps the server programs of PostgreSQL off PATH."""
    there = shutil.which(program)
    if there or program != "initdb":
        return there
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return str(found[-1]) if found else None


def postgres():
    """The folder of PostgreSQL's server programs, or None."""
    found = which("initdb")
    return Path(found).resolve().parent if found else None


def sandbox_works():
    """Whether bubblewrap is here and may make namespaces."""
    if shutil.which("bwrap") is None:
        return False
    command = ["bwrap", "--ro-bind", "/", "/", "--unshare-net", "true"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def advice(packages):
    return "sudo apt-get update && sudo apt-get install --yes " + " ".join(packages)


def main():
    packages = missing(which)
    if not packages:
        return 0
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        names = " and ".join(packages)
        print(f"The tests that need {names} will be skipped. To have them: {advice(packages)}")
        return 0
    print(f"Installing {' and '.join(packages)} …", flush=True)
    quiet = dict(stdout=subprocess.DEVNULL, env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    for command in (
        ["apt-get", "update"],
        ["apt-get", "install", "--yes", "--no-install-recommends", *packages],
    ):
        if subprocess.run(command, **quiet).returncode:
            print("apt-get could not install them; the lines above say why.", file=sys.stderr)
            break
    return 0


if __name__ == "__main__":
    environment.run(main)

"""Which installed packages are older than the course was tested with."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

COURSE = Path(__file__).resolve().parent.parent


def too_old(project: Path = COURSE / "pyproject.toml") -> list[str]:
    """A sentence a package, "numpy is 1.26.4 here, the course wants 2 or newer".

    The versions stand beside the library. Where pip put it elsewhere, pip has looked at them.
    """
    if not project.exists():
        return []
    needed = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
    return [told for line in needed if (told := _told(Requirement(line)))]


def _told(needed: Requirement) -> str:
    lowest = min(bound.version for bound in needed.specifier)
    try:
        here = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is not installed, the course wants {lowest} or newer"
    if needed.specifier.contains(here, prereleases=True):
        return ""
    return f"{needed.name} is {here} here, the course wants {lowest} or newer"

"""Write requirements.lock from what is installed: `make lock`, after changing a dependency.

The lock holds what the two pyproject.toml reach, in exact versions, without hashes or sources.
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from tools.environment import LOCK, ROOT

HEADER = "# Written by `make lock` from pyproject.toml and course/pyproject.toml. Do not edit.\n"
# The CUDA build of torch brings these; the CPU build does not. pip finds the ones its torch needs.
UNPINNED = re.compile(r"nvidia-|cuda-|triton")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


PROJECTS = [ROOT / "course" / "pyproject.toml", ROOT / "pyproject.toml"]


def direct(projects=PROJECTS):
    """Requirements of the projects, every extra included."""
    found = []
    for path in projects:
        project = tomllib.loads(path.read_text())["project"]
        extras = project.get("optional-dependencies", {}).values()
        found += [Requirement(r) for rs in [project["dependencies"], *extras] for r in rs]
    return found


def pins(projects=PROJECTS):
    """{name: version} of everything that the projects reach among the installed packages."""
    found, queue, seen = {}, [(r.name, frozenset(r.extras)) for r in direct(projects)], set()
    while queue:
        name, extras = queue.pop()
        name = canonical(name)
        if (name, extras) in seen or UNPINNED.match(name):
            continue
        seen.add((name, extras))
        try:
            found[name] = version(name).split("+")[0]
        except PackageNotFoundError:
            raise SystemExit(f"{name} is not installed: pip install it, then make lock.") from None
        for line in requires(name) or []:
            needed = Requirement(line)
            if any(applies(needed, extra) for extra in ["", *extras]):
                queue.append((needed.name, frozenset(needed.extras)))
    return found


def applies(requirement, extra):
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def render(found):
    return HEADER + "".join(f"{name}=={found[name]}\n" for name in sorted(found))


if __name__ == "__main__":
    LOCK.write_text(render(pins()))

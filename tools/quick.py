"""Proves what changed since the main branch, in about two minutes: `make quick`. The rest is for `make test`.

What changed stands in commits of this branch, in files not yet committed, or in new ones.
"""

import argparse
import ast
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASES = ("main", "origin/main")
FEW = 3  # notebooks are proven whole; more would take longer than two minutes
# Where a notebook's parts lie: by its name with numbers, and by the one without.
NUMBERED = re.compile(
    r"(?:solutions/|course/|course/descent/checks/)(\d\d_\w+/\d\d_\w+)(?:/|\.ipynb$|\.json$)"
)
PLAIN = re.compile(r"(?:course/descent/pictures/(\w+)/|tests/notebooks/(\w+)/test_)(\w+)\.py")
OF_ALL = "tests/notebooks/test_*.py"  # tests of every notebook, which carry its name
NOTHING_TO_RUN = 5  # pytest's status where all that was asked for is slow
LINT = (["ruff", "check", "."], ["ruff", "format", "--check", "."])


@dataclass
class Plan:
    """Test files and folders to run, notebooks to prove, and what is left, in words."""

    tests: set[str] = field(default_factory=set)
    notebooks: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=lambda: {"other tests marked slow"})


def main(argv: list[str] | None = None) -> int:
    """Status 0: all that was run holds. 1: something does not. 2: no main branch to compare with."""
    argparse.ArgumentParser(prog="quick", description=__doc__).parse_args(argv)
    base = _base()
    if not base:
        print("quick: no branch main to compare with: make test proves everything", file=sys.stderr)
        return 2
    plan = made_for(changed(base), Project(ROOT))
    print(*told(plan), sep="\n", flush=True)
    failed = [one for one in commands(plan) if _run(one) not in (0, NOTHING_TO_RUN)]
    for command in failed:
        print("failed:", shlex.join(command))
    return int(bool(failed))


def _base() -> str:
    """The commit at which this branch left the main one; "" where there is none."""
    found = (_git("merge-base", base, "HEAD") for base in BASES)
    return next((done.stdout.strip() for done in found if done.returncode == 0), "")


def changed(base: str) -> list[str]:
    """Paths that differ from a commit, new ones included."""
    differing = _git("diff", "--name-only", "-z", base).stdout
    new = _git("ls-files", "--others", "--exclude-standard", "-z").stdout
    return sorted(set(filter(None, (differing + new).split("\0"))))


def _git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


class Project:
    """What stands where in a checkout, and which file imports which module."""

    def __init__(self, root: Path):
        self.root = root
        masters = root.glob("solutions/[0-9]*/[0-9]*/notebook.py")
        self.notebooks = sorted(str(p.parent.relative_to(root / "solutions")) for p in masters)
        self.by_name = {plain(notebook): notebook for notebook in self.notebooks}

    def tests_of(self, module: str) -> set[str]:
        """The test files that import a module."""
        files = self.root.glob("tests/**/test_*.py")
        return {str(p.relative_to(self.root)) for p in files if module in imported(p)}

    def tests_of_room(self, room: str) -> set[str]:
        """tests/ROOM where there is one, else the test files that import anything of autograder.ROOM."""
        if (self.root / "tests" / room).is_dir():
            return {f"tests/{room}"}
        return self.tests_of(f"autograder.{room}")

    def notebooks_with(self, module: str) -> set[str]:
        """The notebooks whose scripts or pictures import a module."""
        return {n for n in self.notebooks if any(module in imported(p) for p in self._files(n))}

    def own_tests(self, notebook: str) -> str:
        chapter, name = plain(notebook).split("/")
        return f"tests/notebooks/{chapter}/test_{name}.py"

    def _files(self, notebook: str) -> list[Path]:
        pictures = self.root / "course/descent/pictures" / f"{plain(notebook)}.py"
        scripts = (self.root / "solutions" / notebook).glob("*.py")
        return [*scripts, *([pictures] if pictures.is_file() else [])]


def plain(notebook: str) -> str:
    """ "03_optimisation/01_gradient_descent" -> "optimisation/gradient_descent"."""
    return "/".join(part.split("_", 1)[1] for part in notebook.split("/"))


def imported(path: Path) -> set[str]:
    """Every module that a script imports, and all that they stand in: "a", "a.b", "a.b.c" for `from a.b import c`."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name[:end] for name in names for end in _ends(name)}


def _ends(name: str) -> list[int]:
    return [place for place, letter in enumerate(name) if letter == "."] + [len(name)]


def made_for(paths: list[str], project: Project) -> Plan:
    """What proves these files, the plan that `make quick` follows."""
    plan, wanted = Plan(), set()
    for path in paths:
        notebook = notebook_of(path, project)
        if notebook:
            wanted.add(notebook)
        elif path.startswith("course/descent/"):
            wanted |= _of_library(path, project, plan)
        else:
            plan.tests |= tests_for(path, project)
    plan.notebooks = sorted(wanted)[:FEW]
    plan.left |= {f"nbval and checks of {notebook}" for notebook in sorted(wanted)[FEW:]}
    own = {project.own_tests(notebook) for notebook in wanted}
    plan.tests = {test for test in plan.tests | own if (project.root / test).exists()}
    return plan


def notebook_of(path: str, project: Project) -> str:
    """The notebook that a file is a part of, "" for none."""
    numbered = NUMBERED.match(path)
    if numbered:
        return numbered[1] if numbered[1] in project.notebooks else ""
    named = PLAIN.fullmatch(path)
    return project.by_name.get(f"{named[1] or named[2]}/{named[3]}", "") if named else ""


def _of_library(path: str, project: Project, plan: Plan) -> set[str]:
    """The student's library: its own tests, and the notebooks that import the module where they are few."""
    plan.tests.add("tests/descent")
    module = path.removeprefix("course/").removesuffix(".py").replace("/", ".")
    users = project.notebooks_with(module)
    if len(users) <= FEW:
        return users
    plan.left.add(f"{len(users)} notebooks that import {module}")
    return set()


def tests_for(path: str, project: Project) -> set[str]:
    """Of a file that belongs to no notebook."""
    if re.fullmatch(r"tests/(.+/)?test_\w+\.py", path):
        return {path}
    if path.endswith(".py"):
        found = project.tests_of(path.removesuffix(".py").replace("/", "."))
        if found:
            return found
    room = re.match(r"(?:autograder|tests)/(\w+)/", path)
    return (room and project.tests_of_room(room[1])) or {"tests/setup"}


def told(plan: Plan) -> list[str]:
    """What is run and what is not, line by line."""
    return [
        "runs  the style of the code",
        *(f"runs  {test}" for test in sorted(plan.tests)),
        *(
            f"runs  {notebook}: form, checks, references, both editions"
            for notebook in plan.notebooks
        ),
        *(f"left to make test: {words}" for words in sorted(plan.left)),
    ]


def commands(plan: Plan) -> list[list[str]]:
    """To run with `python -m`, the quickest first."""
    pytest = ["pytest", "-q", "-n", "2", "--dist", "loadscope"]
    made = [*LINT]
    if plan.tests:
        made.append([*pytest, "-m", "not slow", *sorted(plan.tests)])
    if plan.notebooks:
        files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(OF_ALL))
        # By name, so the two editions of one notebook go to two workers.
        made.append([*pytest[:-1], "load", *files, "-k", " or ".join(plan.notebooks)])
    return made


def _run(command: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Where the attacks are graded: a chapter to attack, one warm stage for all, and two keys for its hidden cases."""

import contextlib
import copy
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.engine.judge import Judge
from autograder.engine.stage import Stage
from autograder.engine.worker_client import Limits, Worker
from autograder.grading.jobs import Done, Job, essence, read_chapter
from autograder.grading.workers.grader import Grader, warm_grader
from autograder.workspace import Workspace
from descent import wire
from tests.grading.toy_chapter import make_project

CHAPTER, STEM = "97_target", "01_target"
NOTEBOOK = f"{CHAPTER}/{STEM}"
SOLVED = {
    "double": "def double(x):\n    return 2 * x",
    "digits": "def digits(secret):\n    return [int(d) for d in str(secret)]",
    "scaled": "def scaled(grad, x):\n    return SCALE * grad(x)",
    "describe": (
        "def describe(x):\n"
        "    return {'mean': x.mean(), 'side': 'right' if x.mean() > 0 else 'left'}"
    ),
    "why": "Why is doubling the same as adding a vector to itself?\n\nBecause 2 = 1 + 1.",
}
# Of two sets of hidden cases, whose secrets differ in every digit that an attack may carry out.
KEYS = bytes(32), bytes([1]) * 32
LIMITS = Limits(
    cell=5, total=25, grace=0.5, memory=1_500_000_000, all_memory=700_000_000, output=300_000
)


@dataclass
class Arena:
    """Grades notebooks of the chapter under attack; every one runs in the same warm stage."""

    project: Path
    stage: Stage
    graders: list[Grader]
    honest: dict

    def grade(self, content: dict | bytes, *, key: int = 0) -> Done:
        """A submission's verdicts and pages. key: which of two sets of hidden cases it is asked."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.graders[key].grade(Job("eve", {STEM: essence(data)}))

    def sandbox(self) -> Worker:
        return Worker(self.stage, LIMITS)

    def hidden(self, key: int = 0) -> list[str]:
        """The hidden inputs that are long enough to be known again in a text, in several spellings."""
        tasks = self.graders[key].chapter.tasks[STEM]
        secrets = [wire.decode(case["inputs"])["secret"] for case in tasks["digits"]["cases"]]
        reals = [
            abs(number)
            for task in tasks.values()
            for case in task["cases"]
            for number in wire.decode(case["inputs"]).get("x", ())
            if number
        ]
        return [
            *map(str, secrets), *(f"{s:x}" for s in secrets), *(str(s)[::-1] for s in secrets),
            *(f"{number:.4f}" for number in reals),
        ]  # fmt: skip


def _space(folder: Path, project, key: bytes) -> Workspace:
    space = Workspace(folder / "grading", project)
    space.folder.mkdir(parents=True)
    (space.folder / "key").write_bytes(key)
    return space


@contextlib.contextmanager
def opened(folder: Path, limits: Limits):
    """An Arena whose project and keys lie in an empty folder."""
    project = make_project(folder / "target", NOTEBOOK, Path(__file__).parent / "toy")
    released = json.loads((project / "course" / CHAPTER / f"{STEM}.ipynb").read_text())
    honest = copy.deepcopy(released)
    for cell in honest["cells"]:
        cell["source"] = SOLVED.get(cell["id"], cell["source"])
    spaces = [_space(folder / f"keys{number}", project, key) for number, key in enumerate(KEYS)]
    one, other = (read_chapter(space, CHAPTER) for space in spaces)
    with warm_grader(one, limits) as grader, Judge(other.data) as judge:
        graders = [grader, replace(grader, chapter=other, judge=judge)]
        yield Arena(project, grader.stage, graders, honest)


@pytest.fixture(scope="session")
def arena(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("arena"), LIMITS) as arena:
        yield arena

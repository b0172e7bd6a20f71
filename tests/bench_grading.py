"""Grade one honest class with ours and with stock nbgrader, compare scores and costs: `make bench-grading`.

Both start cold and end with a committed gradebook, in fresh folders. Ours is run at every size, stock at two small
ones: it takes fixed + N x marginal, so larger classes are extrapolated on the line through the two.
SIZES="30 300" leaves out the 3,000. Only a run with all sizes rewrites docs/grading_bench.md.
Status 0: scores agree and the goals are reached. 1: not so. 2: wrong SIZES. It takes a quarter of an hour.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.bench_grading_class import HonestClass

ROOT = Path(__file__).resolve().parents[1]
LIGHT, REAL = "00_start_here", "03_optimisation"
SIZES = (30, 300, 3000)
LARGEST_REAL = 300
STOCK_SIZES = (
    1,
    4,
)  # without a known mistake: one of those makes a demonstration run for two minutes
SCORES = """
    SELECT submitted_assignment.student_id, notebook.name, base_cell.name, grade.auto_score
    FROM grade
    JOIN base_cell ON grade.cell_id = base_cell.id
    JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
    JOIN notebook ON submitted_notebook.notebook_id = notebook.id
    JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
"""


@dataclass
class Cost:
    """Of one command: seconds by the clock, the machine's CPU seconds meanwhile, bytes at its peak (0: not watched).

    The machine's: bubblewrap does not wait for the processes in it, so no sum over children is whole. It does
    nothing else, or these numbers are worth nothing.
    """

    seconds: float
    cpu: float
    memory: int = 0


@dataclass
class Measured:
    """What one chapter's class cost. ours: (workers, size) -> Cost. stock: size -> Cost."""

    chapter: str
    ours: dict[tuple[int, int], Cost] = field(default_factory=dict)
    stock: dict[int, Cost] = field(default_factory=dict)
    unchanged: Cost | None = None
    one_changed: Cost | None = None
    memory: dict[str, int] = field(default_factory=dict)
    compared: int = 0  # scores, with nbgrader's
    checked: int = 0  # scores, with those of the students' own check
    differences: list[str] = field(default_factory=list)
    kept: dict[str, tuple[int, int]] = field(default_factory=dict)  # folder -> files, bytes
    start: list[tuple[str, float]] = field(default_factory=list)
    floor: list[tuple[str, float]] = field(default_factory=list)


class Ours:
    """A fresh grading folder in which `size` students have handed in. Use as a context manager."""

    def __init__(self, people: HonestClass, size: int):
        self.people, self.size = people, size
        self.held = contextlib.ExitStack()

    def __enter__(self):
        folder = Path(self.held.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        for number in range(self.size):
            self.people.hand_in(number, folder / "handins" / self.people.name(number))
        self.folder = folder / "grading"
        self.environ = os.environ | {"GRADED_DESCENT_GRADING": str(self.folder)}
        self.run("autograder", "collect", self.people.chapter, str(folder / "handins"))
        return self

    def __exit__(self, *error):
        self.held.close()

    def run(self, *command, watched=False) -> Cost:
        return run(command, ROOT, self.environ, watched=watched)

    def grade(self, jobs=2, *, watched=False) -> Cost:
        """`autograder grade`, from the command line to its end."""
        options = ("--jobs", str(jobs))
        return self.run("autograder", "grade", self.people.chapter, *options, watched=watched)

    def change_one(self) -> None:
        """One student hands in one notebook again, with a line added to an answer."""
        path = min((self.folder / "submitted").glob("*/*/*.ipynb"))
        path.write_text(path.read_text().replace(f"# {self.people.name(0)}", "# once more", 1))

    def scores(self) -> dict:
        return scores(self.folder / "gradebook.db")

    def kept(self) -> dict[str, tuple[int, int]]:
        """Folder -> (files, bytes)."""
        told = {}
        for folder in sorted(path for path in self.folder.iterdir() if path.is_dir()):
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            told[folder.name] = len(sizes), sum(sizes)
        return told | {"gradebook.db": (1, (self.folder / "gradebook.db").stat().st_size)}


def ours(people: HonestClass, size: int) -> tuple[Cost, dict]:
    """Ours on a fresh class with two workers -> its cost and scores."""
    with Ours(people, size) as fresh:
        return fresh.grade(), fresh.scores()


def stock(people: HonestClass, size: int, *, watched=False) -> tuple[Cost, dict]:
    """nbgrader as its manual says: a course of its own, release, then autograde -> its cost and scores."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        course, chapter = Path(folder), people.chapter
        shutil.copytree(
            ROOT / "solutions" / chapter,
            course / "source" / chapter,
            ignore=shutil.ignore_patterns("*.py", ".*"),
        )
        config = "c = get_config()\nc.CourseDirectory.course_id = 'bench'\n"
        (course / "nbgrader_config.py").write_text(config + "c.ExecutePreprocessor.timeout = 120\n")
        environ = os.environ | {"DESCENT_HOME": str(course / "home")}
        run(("nbgrader", "generate_assignment", chapter), course, environ)
        for number in range(size):
            people.hand_in(number, course / "submitted" / people.name(number) / chapter)
        command = ("nbgrader", "autograde", chapter, "--create")
        cost = run(command, course, environ, watched=watched)
        return cost, scores(course / "gradebook.db")


def run(command, folder, environ, *, watched=False) -> Cost:
    """Run a module of our environment to its end. Raises RuntimeError with its last words where it fails."""
    with tempfile.TemporaryFile("w+") as said:
        started, used = time.perf_counter(), busy_seconds()
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip
        peak = watch(process.pid) if watched else (lambda: 0)
        status = process.wait()
        seconds, used = time.perf_counter() - started, busy_seconds() - used
        if status:
            said.seek(0)
            raise RuntimeError(f"{' '.join(command)}: {said.read()[-4000:]}")
    return Cost(seconds, used, peak())


def busy_seconds() -> float:
    """CPU seconds that this machine has spent since it started."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq


def watch(pid: int):
    """Look at a process and its children ten times a second -> a function that gives their peak, in bytes.

    Added up is the proportional set size: a page that ten processes share counts once.
    """
    peak, done = [0], threading.Event()

    def look():
        while not done.wait(0.1):
            peak[0] = max(peak[0], memory(pid))

    thread = threading.Thread(target=look)
    thread.start()

    def end():
        done.set()
        thread.join()
        return peak[0]

    return end


def memory(pid: int) -> int:
    total = 0
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
    return total


def scores(database: Path) -> dict[str, dict[str, float]]:
    """Student -> "notebook/exercise" -> points, as they stand in a gradebook."""
    told: dict[str, dict[str, float]] = {}
    with contextlib.closing(sqlite3.connect(database)) as book:
        for student, notebook, cell, points in book.execute(SCORES):
            if cell.startswith("check-"):
                name = f"{notebook}/{cell.removeprefix('check-')}"
                told.setdefault(student, {})[name] = points
    return told


def measure(people: HonestClass, sizes) -> Measured:
    """Everything about one chapter, from the smallest run to the largest."""
    from tests import bench_grading_floor

    told = Measured(people.chapter)
    for size in STOCK_SIZES:
        told.stock[size], by_stock = stock(people, size)
        say(f"{people.chapter}: nbgrader, {size} submissions", told.stock[size])
    for size in sizes:
        with Ours(people, size) as ours:
            told.ours[2, size] = ours.grade()
            say(f"{people.chapter}: ours, {size} submissions", told.ours[2, size])
            compare(told, people, ours.scores(), by_stock)
            if size == min(sizes[-1], LARGEST_REAL):
                again(told, ours)
        if size <= LARGEST_REAL:
            with Ours(people, size) as ours:
                told.ours[1, size] = ours.grade(jobs=1)
                say(f"{people.chapter}: ours, {size} submissions, one worker", told.ours[1, size])
    with Ours(people, sizes[0]) as ours:
        told.memory["ours"] = ours.grade(watched=True).memory
    told.memory["nbgrader"] = stock(people, STOCK_SIZES[0], watched=True)[0].memory
    told.start = bench_grading_floor.start(people, sizes[0])
    told.floor = bench_grading_floor.floor(people, sizes[0])
    return told


def again(told: Measured, ours: Ours) -> None:
    """The class once more: as it was, and with one notebook changed."""
    told.kept = ours.kept()
    told.unchanged = ours.grade()
    ours.change_one()
    told.one_changed = ours.grade()
    say(f"{ours.people.chapter}: unchanged", told.unchanged)
    say(f"{ours.people.chapter}: one changed", told.one_changed)


def compare(told: Measured, people: HonestClass, ours: dict, by_stock: dict) -> None:
    """Every score of every student with nbgrader's, where it was run, and with the students' own check."""
    for number in range(len(ours)):
        student = people.name(number)
        oracles = {"the check": people.expected(number)}
        if student in by_stock:
            oracles["nbgrader"] = by_stock[student]
        for oracle, theirs in oracles.items():
            mine = ours.get(student, {})
            for name in theirs.keys() | mine.keys():
                if mine.get(name) != theirs.get(name):
                    told.differences.append(
                        f"{student} {name}: ours {mine.get(name)}, {oracle} {theirs.get(name)}"
                    )
        told.compared += len(by_stock.get(student, {}))
        told.checked += len(oracles["the check"])


def say(what, cost) -> None:
    print(f"{what}: {cost.seconds:.1f} s, {cost.cpu:.1f} CPU seconds", file=sys.stderr, flush=True)


def wanted() -> list[int]:
    """$SIZES, else all. Raises ValueError: two sizes at least make a line."""
    words = os.environ.get("SIZES", "").split()
    if not words:
        return list(SIZES)
    sizes = sorted({int(word) for word in words if word.isdigit() and int(word)})
    if len([size for size in sizes if size <= LARGEST_REAL]) < 2:
        raise ValueError(f"SIZES wants two class sizes of at most {LARGEST_REAL}, or more")
    return sizes


def main() -> int:
    from tests import bench_grading_page

    try:
        sizes = wanted()
    except ValueError as error:
        print(f"bench-grading: {error}", file=sys.stderr)
        return 2
    found = [
        measure(HonestClass(LIGHT), sizes),
        measure(HonestClass(REAL), [size for size in sizes if size <= LARGEST_REAL]),
    ]
    page, problems = bench_grading_page.page(found), bench_grading_page.problems(found)
    print(page)
    (ROOT / "artefacts").mkdir(exist_ok=True)
    (ROOT / "artefacts/bench_grading.md").write_text(page)
    if sizes == list(SIZES):
        (ROOT / "docs/grading_bench.md").write_text(page)
    print(*problems, sep="\n", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

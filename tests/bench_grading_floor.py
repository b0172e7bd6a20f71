"""Where the time goes: of one submission, step by step, and of the start of a run.

Both run our own code with a clock around its steps, not a copy of it.
"""

import contextlib
import json
import sys
import time
from collections import Counter
from functools import wraps
from unittest.mock import patch

import psutil

from autograder.engine.judge import Judge
from autograder.engine.worker_client import Limits, Worker
from autograder.grading import grade, jobs, verdicts
from autograder.grading.dispatch import run
from autograder.grading.dispatch.store import Store
from autograder.grading.gradebook import pages
from autograder.grading.gradebook.book import Book
from autograder.grading.rebuilding import rebuild
from autograder.grading.workers import grader
from autograder.workspace import Workspace, workspace

WARM_UP = 3  # submissions that are graded before the clock runs
IN_WORKER = [
    (rebuild, "read_cells", "read the notebooks' cells"),
    (rebuild, "rebuild", "rebuild them from the release"),
    (Worker, "__init__", "fork the warm parent"),
    (Worker, "__enter__", "namespaces, mounts, limits"),
    (Worker, "close", "end the process"),
    (Judge, "verdict", "judge"),
    (pages, "text", "autograded pages"),
    (grader.Grader, "notebook", "the rest of the grader"),
]
IN_WRITER = [
    (jobs, "read_job", "read the hand-in"),
    (Store, "find", "look for stored results"),
    (Store, "keep", "store the results"),
    (verdicts, "save", "write the verdicts"),
    (pages, "write", "write the pages"),
    (Book, "commit", "gradebook rows"),
]


class Clock:
    """Adds up the seconds in functions, each without those inside it that are timed too."""

    def __init__(self):
        self.seconds: Counter[str] = Counter()
        self.inner = [0.0]

    def timed(self, function, label):
        """The function with the clock around it. label: its name, or a function of its arguments."""

        @wraps(function)
        def run(*arguments, **keywords):
            started = time.perf_counter()
            self.inner.append(0.0)
            try:
                return function(*arguments, **keywords)
            finally:
                spent = time.perf_counter() - started
                name = label(*arguments) if callable(label) else label
                self.seconds[name] += spent - self.inner.pop()
                self.inner[-1] += spent

        return run

    @contextlib.contextmanager
    def around(self, steps):
        """steps: (owner, name of its function, label)."""
        with contextlib.ExitStack() as stack:
            for owner, name, label in steps:
                stack.enter_context(
                    patch.object(owner, name, self.timed(getattr(owner, name), label))
                )
            yield


def floor(people, size: int) -> list[tuple[str, float]]:
    """Mean seconds of each step for one submission of `size`, graded one after the other in this process."""
    from tests.bench_grading import Ours

    clock, asked = Clock(), set()

    def ask(worker, request, *seconds):
        first = worker not in asked
        asked.add(worker)
        if request["do"] == "ask":
            return "answers called on their hidden cases"
        return "first cell of each notebook" if first else "the other cells"

    with Ours(people, size) as ours:
        space = Workspace(ours.folder)
        chapter, limits = jobs.read_chapter(space, people.chapter), Limits()
        store = Store(space, chapter, limits, sandboxed=True)
        with grader.warm_grader(chapter, limits) as warm, Book(space, people.chapter) as book:
            students = space.students(people.chapter)
            for student in students[:WARM_UP]:
                warm.grade(jobs.read_job(space, people.chapter, student))
            with clock.around([*IN_WORKER, (Worker, "ask", ask), *IN_WRITER]):
                for student in students:
                    _grade(space, store, warm, book, student)
                book.commit()
    order = [label for *_, label in IN_WORKER[:4]]
    order += [
        "first cell of each notebook",
        "the other cells",
        "answers called on their hidden cases",
    ]
    order += [label for *_, label in (*IN_WORKER[4:], *IN_WRITER)]
    return [(label, clock.seconds[label] / size) for label in order]


def _grade(space, store, warm, book, student):
    """What a run does for one submission, without its processes."""
    job = jobs.read_job(space, store.chapter.name, student)
    store.find(job)
    results = {stem: warm.notebook(stem, data) for stem, data in job.files.items()}
    if any(result.failed for result in results.values()):
        raise RuntimeError(f"the grader failed on {student}: {results}")
    store.keep(job, results)
    done = jobs.finish(store.chapter.name, job, results)
    verdicts.save(space, done.submission)
    pages.write(space, done.submission, done.pages)
    book.record(done)


def start(people, size: int) -> list[tuple[str, float]]:
    """The parts of a whole cold run, one after the other: (what, seconds)."""
    from tests.bench_grading import Ours

    with Ours(people, size) as ours:
        marks = ours.folder / "marks.json"
        whole = ours.run("tests.bench_grading_floor", people.chapter, str(marks)).seconds
        told = json.loads(marks.read_text())
    return [*told, ("everything closed", whole - sum(seconds for _, seconds in told))]


def main(argv: list[str]) -> int:
    """Grade a chapter and write when each part of the run ended. argv: chapter, file."""
    from autograder.grading.dispatch import cluster

    begun = psutil.Process().create_time()
    marks = [("Python and imports", time.time())]

    def marked(function, label):
        @wraps(function)
        def run(*arguments, **keywords):
            try:
                return function(*arguments, **keywords)
            finally:
                if marks[-1][0] == label:
                    marks.pop()  # the last of many counts
                marks.append((label, time.time()))

        return run

    first = []

    def enter(writer, done, entered=grade.Writer.enter):
        label = "the other submissions" if first else "the first submission"
        first.append(done)
        return marked(entered, label)(writer, done)

    with contextlib.ExitStack() as stack:
        for owner, name, label in (
            (run._Run, "_start_workers", "dask and its workers"),
            (run, "prepare", "hidden cases drawn, references run"),
            (cluster.Cluster, "ready", "sandboxes and judges ready"),
            (grade.Writer, "close", "gradebook committed"),
        ):
            stack.enter_context(patch.object(owner, name, marked(getattr(owner, name), label)))
        stack.enter_context(patch.object(grade.Writer, "enter", enter))
        grade.grade_chapter(workspace(), argv[0])
    times = [begun, *(when for _, when in marks)]
    told = [(label, end - before) for (label, end), before in zip(marks, times, strict=False)]
    with open(argv[1], "w") as file:
        json.dump(told, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

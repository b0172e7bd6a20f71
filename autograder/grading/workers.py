"""What a worker process of a run holds, and what it does: set up once, then batch after batch."""

import gc
import threading

from distributed import WorkerPlugin

from autograder.engine.judge import Judge, JudgeError
from autograder.engine.stage import Stage, StageError
from autograder.engine.worker_client import Died, Limits, Worker
from autograder.grading.grader import Grader
from autograder.grading.jobs import Chapter, Job, Result


class Bench:
    """What a worker process holds for one run, for all its threads: the sandbox's parent, the judge and the grader.

    While there is one, garbage is collected between batches alone: in Python 3.11 a finalizer that runs in the middle
    of ast.parse lets another thread in, and where that parses too, one of them fails with a SystemError.
    """

    def __init__(self, notebooks: list[str], modules: list[str], *, sandboxed: bool):
        gc.disable()
        self.lock = threading.Lock()
        self.begin = lambda: Stage(notebooks, modules, sandboxed=sandboxed)
        self.stage = self.begin()
        self.judge = self.grader = None

    def open(self, chapter: Chapter, limits: Limits) -> None:
        """Be ready to grade, proven by one sandbox. Raises StageError."""
        self.judge = Judge(chapter.data)
        self.grader = Grader(chapter, self.judge, self.stage, limits)
        try:
            Worker(self.stage, limits).__enter__().close()
        except Died as died:
            raise StageError(f"no sandbox starts: {died}") from None

    def renew(self, failed: Grader) -> None:
        """A new sandbox and a new judge in place of those that failed; once, also where two threads found out."""
        with self.lock:
            if self.grader is failed:
                self.close()
                self.stage = self.begin()
                self.open(failed.chapter, failed.limits)

    def close(self) -> None:
        """End sandbox and judge."""
        self.stage.close()
        if self.judge:
            self.judge.close()


_benches: dict[str, Bench] = {}  # in a worker process: by run


class Warm(WorkerPlugin):
    """Begins a bench in every worker before the chapter's data is there: its imports take seconds."""

    def __init__(self, run: str, chapter: Chapter, *, sandboxed: bool):
        self.run, self.sandboxed = run, sandboxed
        self.notebooks, self.modules = chapter.notebooks, chapter.modules

    def setup(self, worker):
        _benches[self.run] = Bench(self.notebooks, self.modules, sandboxed=self.sandboxed)

    def teardown(self, worker):
        bench = _benches.pop(self.run, None)
        if bench:
            bench.close()
            gc.enable()


class Ready(WorkerPlugin):
    """Brings the chapter to every worker, once."""

    def __init__(self, run: str, chapter: Chapter, limits: Limits):
        self.run, self.chapter, self.limits = run, chapter, limits

    def setup(self, worker):
        _benches[self.run].open(self.chapter, self.limits)


def grade_batch(run: str, batch: list[tuple[Job, list[str]]]) -> list[dict[str, Result]]:
    """In a worker: the results of some notebooks of some jobs. Raises StageError, JudgeError; then the bench is new."""
    bench = _benches[run]
    grader = bench.grader
    try:
        return [
            {stem: grader.notebook(stem, job.files.get(stem)) for stem in stems}
            for job, stems in batch
        ]
    except (StageError, JudgeError):
        bench.renew(grader)
        raise
    finally:
        gc.collect()

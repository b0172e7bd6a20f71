"""What a worker process of a run holds, and what it does: set up once, then batch after batch."""

import gc
import threading
import warnings

from distributed import WorkerPlugin

from autograder.engine.judge import Judge, JudgeError
from autograder.engine.stage import Stage, StageError
from autograder.engine.worker_client import Limits, Worker
from autograder.grading.jobs import Chapter, Job, Result
from autograder.grading.workers import garbage
from autograder.grading.workers.grader import Grader


class Bench:
    """What a worker process holds for one run, for all its threads: the sandbox's parent, the judge and the grader.

    While a worker has one, garbage is collected between batches alone (see `garbage`).
    """

    def __init__(self, notebooks: list[str], modules: list[str], *, sandboxed: bool):
        self.closed = False
        self.lock = threading.Lock()
        self.begin = lambda: Stage(notebooks, modules, sandboxed=sandboxed)
        self.stage = self.begin()
        self.judge = self.grader = None

    def open(self, chapter: Chapter, limits: Limits) -> None:
        """Be ready to grade, proven by one sandbox. Raises StageError."""
        self.judge = Judge(chapter.data)
        self.grader = Grader(chapter, self.judge, self.stage, limits)
        self.prove()

    def prove(self) -> None:
        """Nothing, where a sandbox can be had. Raises StageError."""
        with Worker(self.stage, self.grader.limits):
            pass

    def renew(self, failed: Grader) -> None:
        """A new sandbox and a new judge in place of those that failed; once, also where two threads found out."""
        with self.lock:
            if self.closed or self.grader is not failed:
                return
            self._end()
            self.stage = self.begin()
            self.open(failed.chapter, failed.limits)

    def close(self) -> None:
        """End sandbox and judge, for good."""
        self.closed = True
        self._end()

    def _end(self):
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
        garbage.put_off()
        warnings.simplefilter("ignore")  # of students' code; to set and reset it is not for threads

    def teardown(self, worker):
        bench = _benches.pop(self.run, None)
        if bench:
            bench.close()
            garbage.resume()


class Ready(WorkerPlugin):
    """Brings the chapter to every worker, once."""

    def __init__(self, run: str, chapter: Chapter, limits: Limits):
        self.run, self.chapter, self.limits = run, chapter, limits

    def setup(self, worker):
        _benches[self.run].open(self.chapter, self.limits)


def prove(run: str) -> None:
    """In a worker: nothing, where a sandbox can be had. Raises StageError."""
    _benches[run].prove()


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

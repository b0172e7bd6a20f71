"""Worker processes that grade: of this machine by default, or those of a scheduler elsewhere. One way for both.

Each worker holds a sandbox, a judge and the chapter, set up once (see `workers.bench`). Jobs go out in batches and
results come back as they are done. Between our processes go pickles of our own making; a student's notebook travels as
bytes.

On this machine scheduler and workers listen on 127.0.0.1 alone, and speak TLS with a key made for the run: whoever
may connect to a scheduler can run code as its owner, so other users of the machine must not. A scheduler elsewhere
needs TLS of its own: start it, its workers and this program with dask's `distributed.comm.tls` settings and name it
tls://HOST:PORT. It should serve grading alone, in the same version and environment.
"""

import contextlib
import logging
import queue
import signal
import sys
import tempfile
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from multiprocessing import resource_tracker

import dask
import psutil
from distributed import Client, Future, KilledWorker, LocalCluster, Security, Status

from autograder import stopping
from autograder.grading.dispatch import store
from autograder.grading.dispatch.way import Way
from autograder.grading.jobs import Chapter, GradeError, Job, Result
from autograder.grading.workers.bench import Ready, Warm, grade_batch, prove

BATCH = 4  # jobs a task at most: a task costs 2 ms, a job 50 and more
AHEAD = 2  # tasks given out for each thread of the workers, so that none waits
# Two threads that share a sandbox's parent start seconds sooner than two processes, and grade a sixth slower.
SMALL_CLASS = 60
NO_WORKERS_SECONDS = 60
GATHER_SECONDS = (
    60  # for a result to come over; it is computed again where its worker has just ended
)
STOPPED = (
    "worker process {pid} is stopped (SIGSTOP), and what it grades waits: kill -CONT {pid} lets it go on, "
    "kill -KILL {pid} has its work done by another"
)
SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.admin.large-graph-warning-threshold": "1GB",  # a hand-in may be large
}


@dataclass
class Landed:
    """What came back: the results by notebook, or none and why the grader failed."""

    job: Job
    results: dict[str, Result]
    problem: str = ""


class Cluster:
    """The workers of one run. Use as a context manager: `ready`, then `give` and `arrived`, then `rest`.

    chapter: as released, its data may come later. expected: about how many submissions there are. Raises GradeError
    where no scheduler answers or a worker is of no use.
    """

    def __init__(self, chapter: Chapter, expected: int, way: Way):
        self.name = f"autograder-{uuid.uuid4().hex}"
        self.way = way
        self.held = contextlib.ExitStack()
        self.batch, self.doubtful = [], []
        self.flying: dict[str, tuple[Future, list]] = {}  # by task: what it grades
        self.landed: queue.SimpleQueue = queue.SimpleQueue()
        self.told: set[int] = set()  # processes that were said to be stopped
        for name in ("distributed", "tornado", "asyncio"):  # we tell ourselves what matters
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            with _told_in_a_sentence():
                self._begin(chapter, expected)
        except BaseException:
            self.held.close()
            raise
        self.threads = self._count_threads()
        self.batch_size = min(max(expected // (4 * max(self.threads, 1)), 1), BATCH)

    def _begin(self, chapter, expected):
        scratch = self.held.enter_context(tempfile.TemporaryDirectory(prefix="grading-dask-"))
        self.held.enter_context(dask.config.set(SETTINGS | {"temporary-directory": scratch}))
        with _interrupts_kept_from_children():
            address = self.way.scheduler
            self.client = self._connect(address) if address else self._start(expected)
        before = self.client.run_on_scheduler(_allow_failures, 0)
        self.held.callback(_quietly, self.client.run_on_scheduler, _allow_failures, before)
        if address and set(self.client.run(_version).values()) - {_version()}:
            raise GradeError(f"workers of {address} run another version of this program")
        self._plug("warm", Warm(self.name, chapter, sandboxed=self.way.sandboxed))

    def _connect(self, address) -> Client:
        try:
            return self.held.enter_context(Client(address, timeout=10))
        except (OSError, ValueError) as error:
            raise GradeError(f"no scheduler answers at {address} ({error})") from None

    def _start(self, expected) -> Client:
        jobs = min(self.way.jobs, expected)
        security = Security.temporary()
        threads = 2 if expected < SMALL_CLASS and jobs % 2 == 0 else 1
        environ = {"TMPDIR": dask.config.get("temporary-directory")}
        try:
            cluster = LocalCluster(
                n_workers=jobs // threads, threads_per_worker=threads, host="127.0.0.1", memory_limit=0,
                dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL, security=security, env=environ,
            )  # fmt: skip
        except RuntimeError as error:
            raise GradeError(f"no worker process starts ({error}); it may say why above") from error
        self.held.enter_context(cluster)
        return self.held.enter_context(Client(cluster, security=security))

    def _plug(self, name, plugin):
        name = f"{self.name}-{name}"
        self.held.callback(_quietly, self.client.unregister_worker_plugin, name)
        with _told_in_a_sentence():
            self.client.register_plugin(plugin, name=name)

    def ready(self, chapter: Chapter) -> None:
        """Give the chapter to all workers, those to come too. Raises GradeError where one cannot grade."""
        self._plug("chapter", Ready(self.name, chapter, self.way.limits))

    def give(self, job: Job, stems: list[str]) -> None:
        """Have these notebooks of a submission graded."""
        self.batch.append((job, stems))
        if len(self.batch) >= self.batch_size:
            self._send()

    def arrived(self) -> Iterator[Landed]:
        """What is done; waits only while the workers have more than they need."""
        while len(self.flying) > AHEAD * self.threads or not self.landed.empty():
            yield from self._land()

    def rest(self) -> Iterator[Landed]:
        """All that is not done yet. Jobs whose worker ended are tried again one by one: then the blame is certain."""
        self._send()
        while self.flying:
            yield from self._land()
        for item in self.doubtful:
            self._send([item])
            yield from self._land(again=True)

    def _send(self, batch=None):
        batch = batch or self.batch
        if not batch:
            return
        future = self.client.submit(grade_batch, self.name, batch, pure=False)
        self.flying[future.key] = future, batch
        future.add_done_callback(self.landed.put)
        self.batch = []

    def _land(self, again=False) -> Iterator[Landed]:
        future = self._next()
        _, batch = self.flying.pop(future.key)
        try:
            found = future.result(timeout=GATHER_SECONDS)
        except CancelledError:
            raise GradeError("the scheduler is gone") from None
        except Exception as error:
            _quietly(future.cancel)
            yield from self._failed(batch, _reason(error), again)
            return
        for (job, _), results in zip(batch, found, strict=True):
            yield Landed(job, results)

    def _failed(self, batch, reason, again) -> Iterator[Landed]:
        if not again:
            self.doubtful += batch
            return
        self._prove()  # so it was this job
        for job, _ in batch:
            yield Landed(job, {}, f"the grader failed on it twice: {reason}")

    def _prove(self):
        """Raises GradeError where no worker can grade anything."""
        future = self.client.submit(prove, self.name, pure=False)
        self.flying[future.key] = future, []
        future.add_done_callback(self.landed.put)
        del self.flying[self._next().key]
        try:
            future.result(timeout=GATHER_SECONDS)
        except Exception as error:
            raise GradeError(f"the workers cannot grade any more: {_reason(error)}") from None

    def _next(self):
        """The next task that has ended. Raises GradeError when no worker is left to end one."""
        patience = NO_WORKERS_SECONDS
        while patience:
            stopping.check()
            try:
                future = self.landed.get(timeout=1)
                if future.key in self.flying:
                    return future
            except queue.Empty:
                self._tell_who_is_stopped()
                self.threads = self._count_threads()
                patience = NO_WORKERS_SECONDS if self.threads else patience - 1
                if not self.threads and self._given_up():
                    raise GradeError(
                        "the worker processes ended and do not start again. What was finished is kept: mend what "
                        "keeps them from it, and the same command goes on from there."
                    ) from None
        raise GradeError("there are no workers any more")

    def _tell_who_is_stopped(self):
        """Once for each worker process of ours that somebody has stopped: nothing else says what is waited for."""
        for process in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if process.status() == psutil.STATUS_STOPPED and process.pid not in self.told:
                    self.told.add(process.pid)
                    print(STOPPED.format(pid=process.pid), file=sys.stderr, flush=True)

    def _given_up(self) -> bool:
        """Whether all who start our worker processes again have given up. Elsewhere new ones may come."""
        if self.way.scheduler:
            return False
        return all(
            nanny.status == Status.closed for nanny in list(self.client.cluster.workers.values())
        )

    def _count_threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except (OSError, RuntimeError, TimeoutError):
            raise GradeError("the scheduler is gone") from None

    def close(self) -> None:
        """Stop what is being graded, end this run's part in the workers, and the workers where they are ours."""
        if self.flying:
            _quietly(self.client.cancel, [future for future, _ in self.flying.values()], force=True)
        self.held.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


@contextlib.contextmanager
def _told_in_a_sentence():
    """Whatever dask or a worker raises in here is a GradeError outside."""
    try:
        yield
    except GradeError:
        raise
    except Exception as error:
        raise GradeError(f"a worker cannot grade: {error}") from error


def _version() -> str:
    return store.engine_version()


def _quietly(do, *arguments, **options):
    """At the end the scheduler may be gone, with all that we would clear away."""
    with contextlib.suppress(Exception):
        do(*arguments, **options)


def _allow_failures(number, dask_scheduler):
    """How often the scheduler itself repeats a task whose worker ended -> what it was before."""
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, number
    return before


def _reason(error) -> str:
    if isinstance(error, KilledWorker):
        return "its worker's process ended"
    return f"{type(error).__name__}: {error}"


@contextlib.contextmanager
def _interrupts_kept_from_children():
    """Ctrl-C reaches every process of a terminal: what starts in here leaves it to this one."""
    resource_tracker.ensure_running()  # where it starts first inside, it lets interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

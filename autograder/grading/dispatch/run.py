"""A run of grading: what is stored is taken, the rest is graded by the workers, and all comes back as it is done."""

import contextlib
import sys
from collections.abc import Iterator

from autograder import stopping
from autograder.engine import sandbox
from autograder.engine.prepare import prepare
from autograder.grading.dispatch.store import Store
from autograder.grading.dispatch.way import Way
from autograder.grading.jobs import Chapter, Done, finish, read_job, read_release
from autograder.grading.workers.grader import failed
from autograder.workspace import Workspace


def graded(space: Workspace, chapter: str, students: list[str], way: Way) -> Iterator[Done]:
    """Grade the submissions of `students`, in any order; nothing but stored results is written. Close it to stop.

    Raises GradeError, PrepareError, SandboxError when nothing can be graded.
    """
    if not way.sandboxed:
        words = "WARNING: no sandbox. Students' code runs as you and can read your files."
        print(words, file=sys.stderr)
    elif not way.scheduler:
        sandbox.require()
    with _Run(space, chapter, students, way) as run:
        yield from run.results()


class _Run:
    def __init__(self, space, name, students, way):
        self.space, self.name, self.students, self.way = space, name, students, way
        self.held = contextlib.ExitStack()
        self.cluster = None
        # By addresses: who waits for them, with what of theirs is stored. Alike ones are run once.
        self.given: dict[tuple, list] = {}

    def __enter__(self):
        try:
            return self._begin()
        except BaseException:
            self.held.close()
            raise

    def _begin(self):
        """Workers warm up while the data is prepared, where anybody is new; else they may not be needed at all."""
        self.chapter: Chapter = read_release(self.space, self.name)
        paths = (self.space.verdict_file(self.name, student) for student in self.students)
        if not all(path.exists() for path in paths):
            self._start_workers()
        self.chapter.data = prepare(self.space, self.name, self.chapter.points)
        way = self.way
        self.store = Store(self.space, self.chapter, way.limits, sandboxed=way.sandboxed)
        return self

    def __exit__(self, *error):
        self.held.close()

    def _start_workers(self):
        # dask is not needed, nor imported, where nothing is to be run.
        from autograder.grading.dispatch.cluster import Cluster

        self.cluster = self.held.enter_context(Cluster(self.chapter, len(self.students), self.way))

    def _workers(self):
        if self.cluster is None:
            self._start_workers()
        self.cluster.ready(self.chapter)
        return self.cluster

    def results(self) -> Iterator[Done]:
        cluster = None
        for student in self.students:
            stopping.check()
            job = read_job(self.space, self.name, student)
            found = {} if self.way.force else self.store.find(job)
            missing = [stem for stem in self.chapter.release if stem not in found]
            if not missing:
                yield finish(self.name, job, found)
                continue
            cluster = cluster or self._workers()
            twins = self.given.setdefault(self._addresses(job), [])
            twins.append((job, found))
            if len(twins) == 1:
                cluster.give(job, missing)
            yield from self._landed(cluster.arrived())
        if cluster:
            yield from self._landed(cluster.rest())

    def _addresses(self, job) -> tuple[str, ...]:
        return tuple(self.store.address(stem, job.files.get(stem)) for stem in self.chapter.release)

    def _landed(self, items) -> Iterator[Done]:
        for landed in items:
            self.store.keep(landed.job, landed.results)
            for job, found in self.given.pop(self._addresses(landed.job)):
                results = found | landed.results
                for stem in self.chapter.release:
                    if stem not in results:
                        results[stem] = failed(self.chapter, stem, landed.problem)
                yield finish(self.name, job, {stem: results[stem] for stem in self.chapter.release})

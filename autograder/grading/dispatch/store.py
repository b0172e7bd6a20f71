"""Results by content: grading/results/. What was graded once is taken from here, not run again.

The address of a notebook's result is a hash of all that decides it, so that a changed answer, specification, limit or
version of this program has another address. The folder can be deleted at any time: it only saves work.
"""

import hashlib
import json
import os
import sys
import zlib
from dataclasses import asdict
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.engine.worker_client import Limits
from autograder.grading.jobs import Chapter, Job, Result
from autograder.grading.verdicts import Graded, Written
from autograder.workspace import Workspace

# What answers compute with.
_PACKAGES = ("numpy", "torch", "scipy", "ipython", "scikit-learn", "sympy", "pandas")
# What decides a verdict, and what its page looks like.
_SOURCES = (
    "autograder/engine",
    "autograder/grading",
    "autograder/results/harmless.py",
    "autograder/results/markup.py",
    "autograder/checkdata.py",
    "autograder/easy.py",
    "autograder/workspace.py",
    "course/descent",
)
_DIGEST = hashlib.sha256().digest_size


@cache
def engine_version() -> str:
    """A hash of our own source, of Python and of what answers compute with: nobody has to remember to count it up."""
    digest = hashlib.sha256(sys.version.encode())
    for name in _PACKAGES:
        digest.update(f"{name} {_version(name)}".encode())
    for place in map(ROOT.joinpath, _SOURCES):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def _version(name) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


class Store:
    """The stored results of one chapter under one set of limits."""

    def __init__(self, space: Workspace, chapter: Chapter, limits: Limits, *, sandboxed: bool):
        self.folder = space.folder / "results"
        self.chapter = chapter
        self.way = [engine_version(), asdict(limits), sandboxed]

    @cached_property
    def _contexts(self) -> dict[str, bytes]:
        """By notebook: a hash of what decides besides the submission."""
        chapter = self.chapter
        return {stem: _hash([
            *self.way, chapter.name, stem, [asdict(cell) for cell in cells], chapter.metadata[stem], chapter.data[stem],
        ]) for stem, cells in chapter.release.items()}  # fmt: skip

    def address(self, stem: str, data: bytes | None) -> str:
        """Of the result of a notebook. data: what `essence` left of its file; None where there is none."""
        told = b"none" if data is None else b"file" + data
        return hashlib.sha256(self._contexts[stem] + told).hexdigest()

    def find(self, job: Job) -> dict[str, Result]:
        """The results of a submission's notebooks that are stored."""
        found = {
            stem: self.get(self.address(stem, job.files.get(stem))) for stem in self.chapter.release
        }
        return {stem: result for stem, result in found.items() if result}

    def keep(self, job: Job, results: dict[str, Result]) -> None:
        """Store results, except where the grader itself failed."""
        for stem, result in results.items():
            if not result.failed:
                self.put(self.address(stem, job.files.get(stem)), result)

    def get(self, address: str) -> Result | None:
        """A stored result; None where there is none, or where its file is damaged."""
        try:
            data = self._path(address).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            return None
        told = json.loads(zlib.decompress(data[_DIGEST:]))
        told["verdicts"] = [Graded(**verdict) for verdict in told["verdicts"]]
        told["written"] = [Written(**written) for written in told["written"]]
        return Result(**told)

    def put(self, address: str, result: Result) -> None:
        """Store a result in one step: a reader sees all of it or nothing."""
        body = zlib.compress(json.dumps(asdict(result)).encode(), 1)
        path = self._path(address)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = path.with_name(f".{path.name}.{os.getpid()}.part")
        partial.write_bytes(hashlib.sha256(body).digest() + body)
        os.replace(partial, path)

    def _path(self, address) -> Path:
        return self.folder / address[:2] / address[2:]


def _hash(told) -> bytes:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()

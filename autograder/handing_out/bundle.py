"""Pack the course as it is committed, to hand it out: `make release`."""

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from autograder.building import release
from autograder.checkdata import ROOT

BUNDLE = Path("artefacts", "graded-descent.zip")


class BundleError(Exception):
    """The course cannot be packed; str() says why and what to do."""


def main(argv: list[str] | None = None) -> int:
    """Status 0: packed. 1: it holds what must not be handed out, named. 2: wrong command, or git has no answer."""
    argparse.ArgumentParser(prog="autograder release", description=__doc__).parse_args(argv)
    try:
        problems = pack(ROOT, ROOT / BUNDLE)
    except BundleError as error:
        print(f"release: {error}", file=sys.stderr)
        return 2
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    if problems:
        return 1
    size = (ROOT / BUNDLE).stat().st_size / 1e6
    print(f"{BUNDLE}: the course as it is committed, {size:.1f} MB. Hand this file out.")
    return 0


def pack(project: Path, target: Path) -> list[str]:
    """Write a zip of the committed `course/` -> whatever in it must not be handed out; then nothing is written.

    Raises BundleError where this is no checkout, or something of the course is not committed.
    """
    if changed := _git(project, "status", "--porcelain", "--", "course").rstrip():
        raise BundleError(f"commit these first, or put them back:\n{changed}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        packed = Path(folder) / target.name
        _git(project, "archive", "--format=zip", f"--output={packed}", "HEAD", "course")
        with zipfile.ZipFile(packed) as bundle:
            bundle.extractall(folder)
        problems = release.bundle_problems(Path(folder) / "course")
        if not problems:
            packed.replace(target)
    return problems


def _git(project: Path, *arguments: str) -> str:
    """What a command of git prints. Raises BundleError where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *arguments], capture_output=True, text=True
        )
    except FileNotFoundError:
        raise BundleError("git is not installed, and knows what belongs to the course") from None
    if done.returncode:
        raise BundleError(f"git knows no course here: {done.stderr.strip()}")
    return done.stdout

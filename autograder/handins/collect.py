"""Takes hand-ins: `autograder collect CHAPTER FILE…`.

FILE is what `submit` wrote, a zip or a folder of many of those, or a folder of folders named by student that hold
notebooks. Students are known by the file's (or folder's) name, never by what stands inside. Every hand-in is kept under
grading/received; the newest of each student is laid out in grading/submitted, where grading finds it.
"""

import argparse
import calendar
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.grading import rebuild
from autograder.handins import collect_files
from autograder.handins.collect_files import HandIn, Refused
from autograder.workspace import Workspace, workspace, write_text


@dataclass
class Outcome:
    """What became of one hand-in. words: for the instructor, one line each."""

    name: str
    student: str
    taken: bool
    words: list[str]


def main(argv: list[str] | None = None) -> int:
    """Status 0: all taken. 1: something was refused, with the reason. 2: wrong command."""
    parser = argparse.ArgumentParser(
        prog="autograder collect", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("chapter", help="for example 03_optimisation")
    parser.add_argument("file", nargs="+", type=Path, help="hand-ins, zips or folders of them")
    arguments = parser.parse_args(argv)
    space = workspace()
    if not space.release(arguments.chapter):
        print(
            f"collect: there is no released chapter {arguments.chapter!r} in course/.",
            file=sys.stderr,
        )
        return 2
    outcomes = collect(space, arguments.chapter, arguments.file)
    for outcome in outcomes:
        print(
            f"{'took   ' if outcome.taken else 'REFUSED'} {outcome.name}: {'; '.join(outcome.words)}"
        )
    refused = sum(not outcome.taken for outcome in outcomes)
    print(f"{len(outcomes) - refused} taken, {refused} refused.")
    return 1 if refused else 0


def collect(space: Workspace, chapter: str, paths: list[Path]) -> list[Outcome]:
    """Take every hand-in in `paths`, oldest first. Raises nothing that a file can cause."""
    found = [item for path in paths for item in collect_files.find(Path(path), chapter)]
    outcomes = [Outcome(f.name, "", False, [f.reason]) for f in found if isinstance(f, Refused)]
    handins = sorted((f for f in found if isinstance(f, HandIn)), key=lambda handin: handin.stamp)
    return outcomes + [_take(space, chapter, handin) for handin in handins]


def _take(space, chapter, handin: HandIn) -> Outcome:
    words = list(handin.notes)
    notebooks = name_notebooks(space, chapter, handin.notebooks, words)
    if not any(_readable(data) for data in notebooks.values()):
        words.append(f"it holds no notebook of {chapter} that can be read")
        return Outcome(handin.name, handin.student, False, words)
    kept = _keep(space, chapter, handin, words)
    current = _current(space, chapter, handin.student)
    if current and current["stamp"] > handin.stamp:
        words.append(
            f"older than {current['file']}, which stays the one to grade; kept in {kept.parent}"
        )
        return Outcome(handin.name, handin.student, True, words)
    _lay_out(space, chapter, handin, notebooks, kept, words)
    return Outcome(handin.name, handin.student, True, words or ["complete"])


def name_notebooks(
    space: Workspace, chapter: str, files: dict[str, bytes], words: list[str]
) -> dict[str, bytes]:
    """Which file is which notebook of the release: by its name, else by its contents. Tells of others in `words`."""
    expected = space.release(chapter)
    named = {Path(name).stem: data for name, data in files.items() if Path(name).stem in expected}
    for name, data in sorted(files.items()):
        stem = Path(name).stem
        if stem in expected:
            continue
        meant = _meant(chapter, expected, data)
        if meant and meant not in named:
            words.append(f"{stem!r} is taken for {meant!r}, by its contents")
            named[meant] = data
        else:
            words.append(
                f"{stem!r} is no notebook of this chapter"
                if not meant
                else f"{stem!r} is a copy of {meant!r}: left out"
            )
    words += [f"{stem!r} is missing" for stem in expected if stem not in named]
    words += [
        f"{stem!r} cannot be read as a notebook"
        for stem, data in named.items()
        if not _readable(data)
    ]
    return named


def _readable(data: bytes) -> bool:
    try:
        rebuild.read_cells(data)
    except rebuild.NotebookError:
        return False
    return True


def _meant(chapter, expected, data) -> str | None:
    """The notebook that a renamed file was made from: its metadata, its start(…), or its answers say so."""
    try:
        cells, metadata = rebuild.read_cells(data)
    except rebuild.NotebookError:
        return None
    about = metadata.get("descent")
    text = "\n".join(cell.source for cell in cells)
    for stem in expected:
        if isinstance(about, dict) and about.get("notebook") == f"{chapter}/{stem}":
            return stem
        if f'"{chapter}/{stem}"' in text or f"'{chapter}/{stem}'" in text:
            return stem
    names = set().union(*(cell.names for cell in cells)) if cells else set()
    answers = {stem: _exercises(path) for stem, path in expected.items()}
    best = max(expected, key=lambda stem: len(names & answers[stem]), default=None)
    return best if best and names & answers[best] else None


def _exercises(path) -> set[str]:
    return {cell.about("exercise") for cell in rebuild.read_cells(path.read_bytes())[0]} - {""}


def _keep(space, chapter, handin, words) -> Path:
    """The hand-in as it came, under received/. The same file twice is kept once; another of its name beside it."""
    folder = space.received(chapter, handin.student)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1000):
        name = f"{chapter}--{handin.student}--{handin.stamp}{f'-{number}' if number else ''}.zip"
        path = folder / name
        if not path.exists():
            path.write_bytes(handin.data)
            return path
        if path.read_bytes() == handin.data:
            words.append("received before")
            return path
    raise RuntimeError(f"{folder} holds a thousand hand-ins of one second.")


def _current(space, chapter, student) -> dict | None:
    try:
        return json.loads(
            (space.received(chapter, student) / "current.json").read_text(encoding="utf-8")
        )
    except (OSError, ValueError):
        return None


def _lay_out(space, chapter, handin, notebooks, kept, words):
    """Write the notebooks where nbgrader expects a submission. What lay there before is kept in received/."""
    folder = space.submitted(chapter, handin.student)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.ipynb"):
        old.unlink()
    for stem, data in notebooks.items():
        (folder / f"{stem}.ipynb").write_bytes(data)
    submitted = _as_utc(handin.stamp)
    write_text(folder / "timestamp.txt", submitted + "\n")
    told = {
        "file": kept.name,
        "stamp": handin.stamp,
        "submitted": submitted,
        "records": handin.records,
        "notes": words,
    }
    write_text(kept.parent / "current.json", json.dumps(told, indent=1, ensure_ascii=False))


def _as_utc(stamp: str) -> str:
    """The stamp, which is in local time, as nbgrader reads times."""
    try:
        seconds = time.mktime(time.strptime(stamp, "%Y%m%d-%H%M%S"))
    except (ValueError, OverflowError):
        seconds = calendar.timegm(time.gmtime())
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))

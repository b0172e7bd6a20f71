"""Finds hand-ins in what an instructor has: files that `submit` wrote, folders, and the zips that LMSs give.

First the files of a place are found, then they are grouped by student: a file belongs to whom the LMS names, else to
whom its own name or its folder names. What one student handed in can be refused; it never keeps the others out.
"""

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.handins import lms
from autograder.handins.archives import Archive, Entry, Unfit, looks_like_zip
from autograder.handins.belongings import Belongings, handins_of, read_entry
from autograder.handins.handin import NAME, HandIn, Refused

MAX_ARCHIVE = 2_000_000_000


@dataclass(frozen=True)
class _Place:
    """Files that lie together, which may be those of many. top: what the place itself is called."""

    entries: list[Entry]
    top: str = ""


def find(path: Path, chapter: str) -> Iterator[HandIn | Refused]:
    """Every hand-in in a file or folder, one at a time."""
    for found in _places(path, chapter):
        if isinstance(found, Refused):
            yield found
        elif isinstance(found, Entry):
            yield read_entry(found, found.name, chapter)
        else:
            for belongings in _by_student(found, chapter):
                yield from handins_of(belongings, chapter)


def _places(path: Path, chapter) -> Iterator[_Place | Entry | Refused]:
    """Where hand-ins may lie; an entry alone is one that `submit` named. An archive is open while its place is used."""
    if path.is_dir():
        yield from _in_folder(path, chapter)
    elif not path.exists():
        yield Refused(str(path), ["there is no such file or folder"])
    elif path.stat().st_size > MAX_ARCHIVE:
        yield Refused(path.name, [f"larger than {MAX_ARCHIVE / 1e9:g} GB"])
    elif NAME.fullmatch(path.name):
        yield _on_disk(path, (path.name,))
    elif _of_lms(path.name):
        yield _Place([_on_disk(path, (path.name,))])
    elif looks_like_zip(path):
        yield from _in_archive(path)
    else:
        words = f"not named as submit names hand-ins ({chapter}--STUDENT--DATE-TIME.zip), and no zip of many"
        yield Refused(path.name, [words])


def _in_folder(folder: Path, chapter) -> Iterator[_Place | Entry | Refused]:
    entries = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        parts = path.relative_to(folder).parts
        if len(parts) == 1 and path.suffix.lower() == ".zip" and not _of_lms(path.name):
            yield from _places(path, chapter)
        else:
            entries.append(_on_disk(path, parts))
    yield _Place(entries, folder.name)


def _in_archive(path: Path) -> Iterator[_Place | Refused]:
    try:
        with Archive(path) as archive:
            yield _Place(archive.entries(), path.stem)
    except Unfit as unfit:
        yield Refused(path.name, [str(unfit)])


def _of_lms(name) -> bool:
    return bool(lms.moodle((name,)) or lms.canvas(name))


def _on_disk(path: Path, parts) -> Entry:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(path.stat().st_mtime))
    return Entry(tuple(unicodedata.normalize("NFC", part) for part in parts), stamp, path=path)


def _by_student(place: _Place, chapter) -> list[Belongings]:
    """The files of a place by whose they are; each that `submit` wrote stands for itself, and comes first."""
    entries = [entry for entry in place.entries if not entry.ignored]
    flat = len({entry.parts[:-1] for entry in entries}) == 1  # Canvas makes no folders
    own: list[Belongings] = []
    groups: dict[str, Belongings] = {}
    for entry in entries:
        told = lms.moodle(entry.parts) or (lms.canvas(entry.name) if flat else None)
        if told:
            group = groups.setdefault(told.person.key, Belongings(str(told.person), told.person))
            group.late |= told.late
            group.add(told.file, entry)
        elif NAME.fullmatch(entry.name):
            own.append(Belongings("", files={entry.name: entry}))
        elif entry.name.endswith((".ipynb", ".zip")):
            owner = _owner(entry.parts, chapter, place.top)
            groups.setdefault(f"folder {owner}", Belongings(owner)).add(entry.name, entry)
    return [*own, *groups.values()]


def _owner(parts, chapter, top) -> str:
    """The student whose folder holds a notebook: STUDENT/x.ipynb, STUDENT/CHAPTER/x.ipynb, or the folder itself.

    A zip that lies in no folder is named by its student.
    """
    folders = [part for part in parts[:-1] if part != chapter]
    if not folders and parts[-1].endswith(".zip"):
        return parts[-1].removesuffix(".zip")
    return folders[-1] if folders else top

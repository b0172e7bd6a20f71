"""Finds hand-ins in what an instructor has: files that `submit` wrote, folders, and the zips that LMSs give.

A file belongs to whom the LMS names, else to whom its own name or its folder names. What one student handed in can be
refused; it never keeps the others out.
"""

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.handins import handin, lms
from autograder.handins.archives import Archive, Entry, Unfit, folded, looks_like_zip
from autograder.handins.handin import MAX_HANDIN, MAX_NOTEBOOK, NAME, HandIn, Refused, pack
from autograder.handins.lms import Person
from autograder.handins.roster import is_identifier

MAX_ARCHIVE = 2_000_000_000
TWICE = "it holds {!r} twice, in two folders or in two spellings"


@dataclass
class _Group:
    """The files of one student, as the student called them. twice: two of one name."""

    owner: str
    person: Person | None = None
    late: bool = False
    files: dict[str, Entry] = field(default_factory=dict)
    twice: str = ""

    def add(self, name: str, entry: Entry) -> None:
        if folded(name) in map(folded, self.files):
            self.twice = TWICE.format(name[:60])
        self.files[name] = entry


def find(path: Path, chapter: str) -> Iterator[HandIn | Refused]:
    """Every hand-in in a file or folder, one at a time."""
    if path.is_dir():
        yield from _in_folder(path, chapter)
    elif not path.exists():
        yield Refused(str(path), "there is no such file or folder")
    elif path.stat().st_size > MAX_ARCHIVE:
        yield Refused(path.name, f"larger than {MAX_ARCHIVE / 1e9:g} GB")
    elif NAME.fullmatch(path.name):
        yield _read_handin(_on_disk(path, (path.name,)), path.name, chapter)
    elif _of_lms(path.name):
        yield from _of_many([_on_disk(path, (path.name,))], chapter, "")
    elif looks_like_zip(path):
        yield from _in_archive(path, chapter)
    else:
        yield Refused(
            path.name,
            f"not named as submit names hand-ins ({chapter}--STUDENT--DATE-TIME.zip), and no zip of many",
        )


def _in_folder(folder: Path, chapter) -> Iterator[HandIn | Refused]:
    entries = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        parts = path.relative_to(folder).parts
        if len(parts) == 1 and path.suffix == ".zip" and not _of_lms(path.name):
            yield from find(path, chapter)
        else:
            entries.append(_on_disk(path, parts))
    yield from _of_many(entries, chapter, folder.name)


def _of_lms(name) -> bool:
    return bool(lms.moodle((name,)) or lms.canvas(name))


def _on_disk(path: Path, parts) -> Entry:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(path.stat().st_mtime))
    return Entry(tuple(unicodedata.normalize("NFC", part) for part in parts), stamp, path=path)


def _in_archive(path: Path, chapter) -> Iterator[HandIn | Refused]:
    try:
        with Archive(path) as archive:
            yield from _of_many(archive.entries(), chapter, path.stem)
    except Unfit as unfit:
        yield Refused(path.name, str(unfit))


def _of_many(entries: list[Entry], chapter, top) -> Iterator[HandIn | Refused]:
    entries = [entry for entry in entries if not _ignored(entry.parts)]
    flat = len({entry.parts[:-1] for entry in entries}) == 1  # Canvas makes no folders
    groups: dict[str, _Group] = {}
    for entry in entries:
        told = lms.moodle(entry.parts) or (lms.canvas(entry.name) if flat else None)
        if told:
            group = groups.setdefault(told.person.key, _Group(str(told.person), told.person))
            group.late |= told.late
            group.add(told.file, entry)
        elif NAME.fullmatch(entry.name):
            yield _read_handin(entry, entry.name, chapter)
        elif entry.name.endswith((".ipynb", ".zip")):
            owner = _owner(entry.parts, chapter, top)
            groups.setdefault(f"folder {owner}", _Group(owner)).add(entry.name, entry)
    for group in groups.values():
        yield from _of_one(group, chapter)


def _ignored(parts) -> bool:
    """What editors and macOS leave beside the files."""
    return bool({".ipynb_checkpoints", "__MACOSX"} & set(parts)) or parts[-1].startswith("._")


def _owner(parts, chapter, top) -> str:
    """The student whose folder holds a notebook: STUDENT/x.ipynb, STUDENT/CHAPTER/x.ipynb, or the folder itself.

    A zip that lies in no folder is named by its student.
    """
    folders = [part for part in parts[:-1] if part != chapter]
    if not folders and parts[-1].endswith(".zip"):
        return parts[-1].removesuffix(".zip")
    return folders[-1] if folders else top


def _of_one(group: _Group, chapter) -> Iterator[HandIn | Refused]:
    """What one student handed in: files of `submit`, notebooks, or a zip of notebooks."""
    own = {name: entry for name, entry in group.files.items() if NAME.fullmatch(name)}
    rest = {name: entry for name, entry in group.files.items() if name not in own}
    found = [_read_handin(entry, name, chapter) for name, entry in own.items()]
    taken = [one for one in found if isinstance(one, HandIn)]
    for one in taken:
        one.person, one.late = group.person, group.late
        one.notes += [f"{name[:60]!r} beside it is left out" for name in rest]
    yield from found
    if rest and not taken:
        yield _loose(group, rest, chapter)


def _loose(group: _Group, files: dict[str, Entry], chapter) -> HandIn | Refused:
    """Notebooks without a file of `submit`: packed, so that they are kept like one."""
    shown = group.owner if group.person else f"{group.owner}/"
    if not group.person and not is_identifier(group.owner):
        return Refused(
            group.owner,
            "this folder's name is no student's identifier: use letters, digits and . _ @ -",
        )
    try:
        data = pack(chapter, _notebooks(group, files))
        notebooks, _ = handin.contents(data, chapter)  # as it will be read again
    except Unfit as unfit:
        return Refused(shown, str(unfit))
    if not notebooks:
        names = ", ".join(repr(name[:60]) for name in list(files)[:3])
        return Refused(shown, f"it holds no notebook, only {names}: ask for .ipynb files, or a zip")
    stamp = max(entry.stamp for entry in files.values())
    student = "" if group.person else group.owner
    return HandIn(shown, student, stamp, data, notebooks, group.person, "file", group.late)


def _notebooks(group, files) -> dict[str, bytes]:
    """File name -> contents, also of a zip that the student made. Raises Unfit."""
    if group.twice:
        raise Unfit(group.twice)
    found: dict[str, bytes] = {}
    zips: dict[str, bytes] = {}
    for name, entry in files.items():
        if entry.fault:
            raise Unfit(entry.fault)
        if name.endswith(".ipynb"):
            found[name] = entry.read(MAX_NOTEBOOK)
        elif name.endswith(".zip"):
            inner = _inner(entry.read(MAX_HANDIN))
            if again := inner.keys() & zips.keys():
                raise Unfit(f"two of its zips hold {min(again)[:60]!r}")
            zips |= inner
        if sum(map(len, [*found.values(), *zips.values()])) > MAX_HANDIN:
            raise Unfit(f"its notebooks are larger than {MAX_HANDIN / 1e6:g} MB")
    return zips | found


def _inner(data: bytes) -> dict[str, bytes]:
    """The notebooks in a student's own zip. Raises Unfit for a fault, a zip within it, and a zip of many."""
    found: dict[str, bytes] = {}
    folders, room = set(), MAX_HANDIN
    with Archive(data) as archive:
        for entry in archive.entries():
            if entry.fault:
                raise Unfit(entry.fault)
            if entry.name.endswith(".zip"):
                raise Unfit(f"it holds a zip within a zip ({entry.name[:60]!r})")
            if not entry.name.endswith(".ipynb") or _ignored(entry.parts):
                continue
            found[entry.name] = entry.read(min(MAX_NOTEBOOK, room))
            room -= len(found[entry.name])
            folders.add("/".join(entry.parts[:-1])[:60])
    if len(folders) > 1:
        shown = ", ".join(map(repr, sorted(folders)[:3]))
        raise Unfit(f"its notebooks lie in several folders ({shown}): give a zip of many by itself")
    return found


def _read_handin(entry: Entry, name, chapter) -> HandIn | Refused:
    try:
        return handin.read(name, entry.read(MAX_HANDIN), chapter)
    except Unfit as unfit:
        return Refused(name, str(unfit))

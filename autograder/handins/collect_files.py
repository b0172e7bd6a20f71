"""Finds hand-ins in files and folders that strangers made, and reads them with limits.

Nothing is extracted to disk by a name from inside an archive: contents are read into memory up to a size,
whatever the archive's own table says.
"""

import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

MAX_FILES = 2000  # in one archive
MAX_NOTEBOOK = 30_000_000
MAX_HANDIN = 100_000_000
MAX_ARCHIVE = 2_000_000_000
MAX_MANIFEST = 5_000_000
STUDENT = (
    r"[A-Za-z0-9_@][A-Za-z0-9._@-]{0,63}"  # no leading dot or dash: it becomes a folder's name
)
# A browser that saves the same name twice adds " (1)".
NAME = re.compile(
    rf"(?P<chapter>\w+?)--(?P<student>{STUDENT}?)--(?P<stamp>\d{{8}}-\d{{6}})(-\d+)?( ?\(\d+\))?\.zip"
)


@dataclass
class HandIn:
    """One hand-in. data: the file as it came (a folder is packed). notebooks: file name -> contents."""

    name: str
    student: str
    stamp: str
    data: bytes
    notebooks: dict[str, bytes]
    records: dict = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass
class Refused:
    """A file that cannot be taken, and why."""

    name: str
    reason: str


class _Unfit(Exception):
    """Why an archive cannot be read."""


def find(path: Path, chapter: str) -> Iterator[HandIn | Refused]:
    """Every hand-in in a file or folder."""
    if path.is_dir():
        yield from _in_folder(path, chapter)
    elif not path.exists():
        yield Refused(str(path), "there is no such file or folder")
    elif path.stat().st_size > MAX_ARCHIVE:
        yield Refused(path.name, f"larger than {MAX_ARCHIVE / 1e9:g} GB")
    elif NAME.fullmatch(path.name):
        yield _handin(path.name, path.read_bytes(), chapter)
    elif zipfile.is_zipfile(path):
        yield from _in_archive(path, chapter)
    else:
        yield Refused(
            path.name,
            f"not named as submit names hand-ins ({chapter}--STUDENT--DATE-TIME.zip), and no zip of many",
        )


def _in_folder(folder: Path, chapter) -> Iterator[HandIn | Refused]:
    loose: dict[str, dict[str, Path]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
        if path.suffix == ".zip":
            yield from find(path, chapter)
        elif path.suffix == ".ipynb" and ".ipynb_checkpoints" not in path.parts:
            loose.setdefault(_owner(path.relative_to(folder).parts, chapter, folder.name), {})[
                path.name
            ] = path
    for student, files in loose.items():
        named = {
            name: path.read_bytes()
            for name, path in files.items()
            if path.stat().st_size <= MAX_NOTEBOOK
        }
        newest = max(path.stat().st_mtime for path in files.values())
        too_large = [
            f"{name!r} is larger than {MAX_NOTEBOOK / 1e6:g} MB"
            for name in files
            if name not in named
        ]
        yield _loose(student, named, newest, chapter, too_large)


def _owner(parts, chapter, top) -> str:
    """The student whose folder holds a notebook: STUDENT/x.ipynb, STUDENT/CHAPTER/x.ipynb, or the folder itself."""
    folders = [part for part in parts[:-1] if part != chapter]
    return folders[-1] if folders else top


def _in_archive(path: Path, chapter) -> Iterator[HandIn | Refused]:
    """A zip of many: of hand-ins, or of folders named by student."""
    loose: dict[str, dict[str, bytes]] = {}
    try:
        with zipfile.ZipFile(path) as bundle:
            for info in _members(bundle):
                parts = PurePosixPath(info.filename).parts
                if NAME.fullmatch(parts[-1]):
                    yield _handin(parts[-1], _read(bundle, info, MAX_HANDIN), chapter)
                elif parts[-1].endswith(".ipynb") and ".ipynb_checkpoints" not in parts:
                    owner = _owner(parts, chapter, path.stem)
                    loose.setdefault(owner, {})[parts[-1]] = _read(bundle, info, MAX_NOTEBOOK)
    except _Unfit as unfit:
        yield Refused(path.name, str(unfit))
    for student, named in loose.items():
        yield _loose(student, named, path.stat().st_mtime, chapter, [])


def _loose(student, named, when, chapter, notes) -> HandIn | Refused:
    """Notebooks without a hand-in's file: packed, so that they are kept like one."""
    if not re.fullmatch(STUDENT, student) or "--" in student:
        return Refused(
            student,
            "this folder's name is no student's identifier: use letters, digits and . _ @ -",
        )
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(when))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in sorted(named.items()):
            # A fixed date: the same notebooks make the same bytes, and are known again.
            bundle.writestr(zipfile.ZipInfo(f"{chapter}/{name}"), data)
    return HandIn(f"{student}/", student, stamp, packed.getvalue(), named, notes=notes)


def _handin(name: str, data: bytes, chapter: str) -> HandIn | Refused:
    """What `submit` wrote, read. Refused with a reason when it is broken or of another chapter."""
    told = NAME.fullmatch(name)
    if told["chapter"] != chapter:
        return Refused(name, f"it is a hand-in of {told['chapter']}, not of {chapter}")
    if "--" in told["student"]:
        return Refused(name, "its name holds no student's identifier")
    try:
        if len(data) > MAX_HANDIN:
            raise _Unfit(f"larger than {MAX_HANDIN / 1e6:g} MB")
        with _open(data) as bundle:
            notebooks, manifest = _contents(bundle, chapter)
    except _Unfit as unfit:
        return Refused(name, str(unfit))
    handin = HandIn(
        name, told["student"], told["stamp"], data, notebooks, notes=_disagreements(manifest, told)
    )
    records = manifest.get("records")
    handin.records = records if isinstance(records, dict) else {}
    return handin


def _open(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:  # a broken directory raises many kinds
        raise _Unfit(f"it is no zip file, or a broken one ({type(error).__name__})") from None


def _contents(bundle, chapter) -> tuple[dict[str, bytes], dict]:
    notebooks, manifest, room = {}, {}, MAX_HANDIN
    for info in _members(bundle):
        parts = PurePosixPath(info.filename).parts
        if parts == ("manifest.json",):
            manifest = _manifest(_read(bundle, info, MAX_MANIFEST))
        elif len(parts) == 2 and parts[0] == chapter and parts[1].endswith(".ipynb"):
            data = _read(bundle, info, min(MAX_NOTEBOOK, room))
            room -= len(data)
            notebooks[parts[1]] = data
    return notebooks, manifest


def _members(bundle) -> list[zipfile.ZipInfo]:
    """The files of an archive. Raises _Unfit for too many, links, and names that point outside."""
    infos = bundle.infolist()
    if len(infos) > MAX_FILES:
        raise _Unfit(f"it holds {len(infos)} files; at most {MAX_FILES} are read")
    for info in infos:
        name = info.filename
        if (
            name.startswith("/")
            or "\\" in name
            or ":" in name
            or ".." in PurePosixPath(name).parts
            or "\0" in name
        ):
            raise _Unfit(f"it holds the name {name[:60]!r}, which points outside of it")
        if (info.external_attr >> 16) & 0o170000 == 0o120000:
            raise _Unfit(f"it holds a link ({name[:60]!r})")
        if info.flag_bits & 1:
            raise _Unfit("it is encrypted")
    return [info for info in infos if not info.is_dir()]


def _read(bundle, info, limit) -> bytes:
    """A member's contents. Raises _Unfit when there is more than `limit`, whatever the archive says."""
    try:
        with bundle.open(info) as file:
            data = file.read(limit + 1)
    except (
        Exception
    ) as error:  # broken members raise BadZipFile, zlib.error, EOFError, NotImplementedError …
        raise _Unfit(
            f"{info.filename[:60]!r} in it cannot be read ({type(error).__name__})"
        ) from None
    if len(data) > limit:
        raise _Unfit(f"{info.filename[:60]!r} in it is larger than {limit / 1e6:g} MB")
    return data


def _manifest(data: bytes) -> dict:
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _disagreements(manifest, told) -> list[str]:
    """Where the manifest says something else than the file's name, which counts."""
    if not manifest:
        return ["it has no readable manifest, so no times and checks are known"]
    return [
        f"its manifest says {key} {str(manifest.get(key))[:70]!r}; the file's name counts"
        for key in ("chapter", "student")
        if manifest.get(key) != told[key]
    ]

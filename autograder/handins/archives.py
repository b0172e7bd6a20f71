"""Reads zips that strangers made: into memory, up to a size, never to disk by a name from inside.

What is looked at before anything is read: how many files, what they inflate to, links, encryption, and names that
point outside or that are one name on another machine.
"""

import io
import re
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MAX_FILES = 10_000  # in one archive
FREE = 30_000_000  # a file up to this size may be of any ratio: an endless print packs very well
MAX_RATIO = 100  # of a larger one: notebooks reach 5 to 20
LINK = 0o120000
MAGIC = b"PK\x03\x04"  # how a zip begins
CUT = "it is cut off, or something stands before its first file: download it again"


class Unfit(Exception):
    """Why an archive, or a file in it, cannot be read."""


@dataclass
class Entry:
    """One file. parts: its path, in Unicode's composed form. stamp: its date, local time. fault: why it is not read.

    Its name ends in .ipynb or .zip, whatever capitals another machine wrote there.
    """

    parts: tuple[str, ...]
    stamp: str
    fault: str = ""
    info: zipfile.ZipInfo | None = None
    archive: "Archive | None" = None
    path: Path | None = None

    def __post_init__(self):
        *folders, name = self.parts
        stem, dot, kind = name.rpartition(".")
        if kind.lower() in ("ipynb", "zip"):
            self.parts = (*folders, f"{stem}{dot}{kind.lower()}")

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def ignored(self) -> bool:
        """Whether it is what editors and macOS leave beside the files."""
        return bool({".ipynb_checkpoints", "__MACOSX"} & {*self.parts}) or self.name.startswith(
            "._"
        )

    def read(self, limit: int) -> bytes:
        """Its contents. Raises Unfit for a fault, and when there is more than `limit` bytes."""
        if self.fault:
            raise Unfit(self.fault)
        return self.archive.read(self.info, limit) if self.archive else self._from_disk(limit)

    def _from_disk(self, limit):
        try:
            with self.path.open("rb") as file:
                data = file.read(limit + 1)
        except OSError as error:
            raise Unfit(f"{self.name[:60]!r} cannot be read ({error.strerror})") from None
        return _within(limit, data, f"{self.name[:60]!r}")


class Archive:
    """A zip, from a path or from bytes. Raises Unfit when it is none, or holds too much."""

    def __init__(self, source: Path | bytes):
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        file = io.BytesIO(source) if isinstance(source, bytes) else source
        self._zip = _open(file)
        self._infos = self._zip.infolist()
        if len(self._infos) > MAX_FILES:
            raise Unfit(f"it holds {len(self._infos)} files; at most {MAX_FILES} are read")
        if sum(info.compress_size for info in self._infos) > size:
            raise Unfit("its files overlap, which no program does that packs honestly")
        if self._infos and min(info.header_offset for info in self._infos) > 0:
            # Cut off within a zip that lies in it: that one's directory is the last, and is read instead.
            raise Unfit(CUT)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._zip.close()

    def entries(self) -> list[Entry]:
        """Its files, the faulty ones with their fault."""
        found, seen = [], {}
        for info in self._infos:
            # zipfile cuts a name at a NUL byte; orig_filename has all of it.
            name = unicodedata.normalize("NFC", info.orig_filename)
            if name.endswith("/"):
                continue
            fault = _fault(info, name) or _twin(name, seen)
            parts = PurePosixPath(name).parts or ("",)
            found.append(Entry(parts, _stamp(info), fault, info, self))
        return found

    def read(self, info: zipfile.ZipInfo, limit: int) -> bytes:
        shown = f"{info.filename[:60]!r} in it"
        try:
            with self._zip.open(info) as file:
                data = file.read(limit + 1)
        except Exception as error:  # BadZipFile, zlib.error, EOFError, NotImplementedError …
            raise Unfit(f"{shown} cannot be read ({type(error).__name__})") from None
        return _within(limit, data, shown)


def looks_like_zip(path: Path) -> bool:
    """Whether a file is a zip, or the beginning of one."""
    return zipfile.is_zipfile(path) or _begin(path) == MAGIC


def _begin(file: Path | io.BytesIO) -> bytes:
    if isinstance(file, io.BytesIO):
        return file.getvalue()[: len(MAGIC)]
    with file.open("rb") as opened:
        return opened.read(len(MAGIC))


def _open(file) -> zipfile.ZipFile:
    try:
        try:  # some programs write names in UTF-8 and do not say so
            return zipfile.ZipFile(file, metadata_encoding="utf-8")
        except UnicodeDecodeError:
            return zipfile.ZipFile(file)
    except Exception as error:  # a broken directory raises many kinds
        if _begin(file) == MAGIC:
            raise Unfit(CUT) from None
        raise Unfit(f"it is no zip file, or a broken one ({type(error).__name__})") from None


def _fault(info, name) -> str:
    shown = repr(name[:60])
    if (
        re.search(r"[\x00-\x1f\\:]", name)
        or name.startswith("/")
        or ".." in PurePosixPath(name).parts
        or not PurePosixPath(name).parts
    ):
        return f"it holds the name {shown}, which points outside of it"
    if (info.external_attr >> 16) & 0o170000 == LINK:
        return f"it holds a link ({shown})"
    if info.flag_bits & 1:
        return f"{shown} in it is encrypted"
    # A member never yields more than its entry says: zipfile stops there.
    if info.file_size > max(FREE, MAX_RATIO * info.compress_size):
        return f"{shown} in it inflates {info.file_size // max(info.compress_size, 1)} times"
    return ""


def _twin(name, seen) -> str:
    """A name that was there before, or that is the same where capital letters or accents do not count."""
    key = folded(name)
    if key not in seen:
        seen[key] = name
        return ""
    known = seen[key]
    if known == name:
        return f"it holds the name {name[:60]!r} twice"
    return f"it holds {known[:60]!r} and {name[:60]!r}, which are one name on other machines"


def folded(name: str) -> str:
    """What a name is on a machine to which capital letters and forms of Unicode are the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def _stamp(info) -> str:
    year, month, day, hour, minute, second = info.date_time
    return f"{year:04}{month:02}{day:02}-{hour:02}{minute:02}{min(second, 59):02}"


def _within(limit, data, shown) -> bytes:
    if len(data) > limit:
        raise Unfit(f"{shown} is larger than {limit / 1e6:g} MB")
    return data

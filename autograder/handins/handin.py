"""A hand-in: what `submit` wrote, read, or what is made of a student's loose notebooks; and what became of it."""

import io
import json
import re
import zipfile
from dataclasses import dataclass, field

from autograder.handins.archives import Archive, Unfit
from autograder.handins.lms import Person
from autograder.handins.roster import IDENTIFIER

MAX_NOTEBOOK = 100_000_000
MAX_HANDIN = 100_000_000
MAX_MANIFEST = 5_000_000
# A browser that saves the same name twice adds " (1)", Canvas "-1".
NAME = re.compile(
    rf"(?P<chapter>\w+?)--(?P<student>{IDENTIFIER}?)--(?P<stamp>\d{{8}}-\d{{6}})(-\d+)?( ?\(\d+\))?\.zip"
)


@dataclass(frozen=True)
class HandIn:
    """One hand-in. data: the file as it came (a folder is packed). notebooks: file name -> contents.

    student: whom the file or folder names, or empty. person: whom the LMS names. clock: see attempts.Attempt.
    """

    name: str
    student: str
    stamp: str
    data: bytes
    notebooks: dict[str, bytes]
    person: Person | None = None
    clock: str = "name"
    late: bool = False
    records: dict = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Refused:
    """A hand-in that cannot be taken. words: why, for the instructor. student: whose it is, where that is known."""

    name: str
    words: list[str]
    student: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of one hand-in. words: for the instructor, one line each. new: it was not received before."""

    name: str
    student: str
    taken: bool
    words: list[str]
    new: bool = False


def read(name: str, data: bytes, chapter: str) -> HandIn | Refused:
    """What `submit` wrote, read. Refused with a reason when it is broken or of another chapter."""
    told = NAME.fullmatch(name)
    if told["chapter"] != chapter:
        return Refused(name, [f"it is a hand-in of {told['chapter']}, not of {chapter}"])
    if "--" in told["student"]:
        return Refused(name, ["its name holds no student's identifier"])
    try:
        if len(data) > MAX_HANDIN:
            raise Unfit(f"larger than {MAX_HANDIN / 1e6:g} MB")
        notebooks, manifest = contents(data, chapter)
    except Unfit as unfit:
        return Refused(name, [str(unfit)])
    records = manifest.get("records")
    return HandIn(
        name, told["student"], told["stamp"], data, notebooks,
        records=records if isinstance(records, dict) else {}, notes=_disagreements(manifest, told),
    )  # fmt: skip


def pack(chapter: str, notebooks: dict[str, bytes]) -> bytes:
    """Loose notebooks as a file like that of `submit`. The same notebooks make the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in sorted(notebooks.items()):
            clean = re.sub(r"[\x00-\x1f\\:]", "_", name)
            bundle.writestr(zipfile.ZipInfo(f"{chapter}/{clean}"), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def contents(data: bytes, chapter: str) -> tuple[dict[str, bytes], dict]:
    """(notebooks by file name, manifest) of a hand-in's zip. Raises Unfit when anything in it is."""
    notebooks, manifest, room = {}, {}, MAX_HANDIN
    with Archive(data) as archive:
        for entry in archive.entries():
            if entry.fault:
                raise Unfit(entry.fault)
            if entry.parts == ("manifest.json",):
                manifest = _manifest(entry.read(MAX_MANIFEST))
            elif entry.parts[:-1] == (chapter,) and entry.name.endswith(".ipynb"):
                notebooks[entry.name] = entry.read(min(MAX_NOTEBOOK, room))
                room -= len(notebooks[entry.name])
    return notebooks, manifest


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

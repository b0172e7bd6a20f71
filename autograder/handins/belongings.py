"""What one student handed in: files that `submit` wrote, else notebooks, loose or in a zip of the student's own."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field

from autograder.handins import handin
from autograder.handins.archives import Archive, Entry, Unfit, folded
from autograder.handins.handin import MAX_HANDIN, MAX_NOTEBOOK, NAME, HandIn, Refused, pack
from autograder.handins.lms import Person
from autograder.handins.roster import is_identifier

TWICE = "it holds {!r} twice, in two folders or in two spellings"


@dataclass
class Belongings:
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


def handins_of(mine: Belongings, chapter: str) -> Iterator[HandIn | Refused]:
    """Each file of `submit`; where none of them can be taken, one hand-in made of the rest."""
    own = {name: entry for name, entry in mine.files.items() if NAME.fullmatch(name)}
    rest = {name: entry for name, entry in mine.files.items() if name not in own}
    beside = [f"{name[:60]!r} beside it is left out" for name in rest]
    found = [read_entry(entry, name, chapter) for name, entry in own.items()]
    for one in found:
        yield _theirs(one, mine, beside) if isinstance(one, HandIn) else one
    if rest and not any(isinstance(one, HandIn) for one in found):
        yield _loose(mine, rest, chapter)


def read_entry(entry: Entry, name: str, chapter: str) -> HandIn | Refused:
    """A file that `submit` wrote and that the student called `name`."""
    try:
        return handin.read(name, entry.read(MAX_HANDIN), chapter)
    except Unfit as unfit:
        return Refused(name, [str(unfit)])


def _theirs(one: HandIn, mine: Belongings, words: list[str]) -> HandIn:
    """A hand-in with what the place that it lay in tells of it."""
    return dataclasses.replace(one, person=mine.person, late=mine.late, notes=[*one.notes, *words])


def _loose(mine: Belongings, files: dict[str, Entry], chapter) -> HandIn | Refused:
    """Notebooks without a file of `submit`: packed, so that they are kept like one."""
    shown = mine.owner if mine.person else f"{mine.owner}/"
    if not mine.person and not is_identifier(mine.owner):
        words = "this folder's name is no student's identifier: use letters, digits and . _ @ -"
        return Refused(mine.owner, [words])
    try:
        data = pack(chapter, _notebooks(mine, files))
        notebooks, _ = handin.contents(data, chapter)  # as it will be read again
    except Unfit as unfit:
        return Refused(shown, [str(unfit)])
    if not notebooks:
        names = ", ".join(repr(name[:60]) for name in list(files)[:3])
        words = f"it holds no notebook, only {names}: ask for .ipynb files, or a zip"
        return Refused(shown, [words])
    stamp = max(entry.stamp for entry in files.values())
    student = "" if mine.person else mine.owner
    return HandIn(shown, student, stamp, data, notebooks, mine.person, "file", mine.late)


def _notebooks(mine, files) -> dict[str, bytes]:
    """File name -> contents, also of a zip that the student made. Raises Unfit."""
    if mine.twice:
        raise Unfit(mine.twice)
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
            if not entry.name.endswith(".ipynb") or entry.ignored:
                continue
            found[entry.name] = entry.read(min(MAX_NOTEBOOK, room))
            room -= len(found[entry.name])
            folders.add("/".join(entry.parts[:-1])[:60])
    if len(folders) > 1:
        shown = ", ".join(map(repr, sorted(folders)[:3]))
        raise Unfit(f"its notebooks lie in several folders ({shown}): give a zip of many by itself")
    return found

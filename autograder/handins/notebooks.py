"""Which notebook of a chapter is which file of a hand-in: by its name, else by what stands in it."""

import re
from pathlib import Path

from autograder.grading.rebuilding import rebuild
from autograder.workspace import Workspace


def named(
    space: Workspace, chapter: str, files: dict[str, bytes], *, from_lms: bool = False
) -> tuple[dict[str, bytes], list[str]]:
    """(stem -> contents, for the notebooks of the release that are there; what to say of the others).

    from_lms: a file that was handed in again is called x-1.ipynb, and counts instead of x.ipynb.
    """
    expected = space.release(chapter)
    files, words = _newest(files, expected) if from_lms else (files, [])
    found = {Path(name).stem: data for name, data in files.items() if Path(name).stem in expected}
    for name, data in sorted(files.items()):
        stem = Path(name).stem
        if stem in expected:
            continue
        again = re.sub(r"(-\d+| ?\(\d+\))$", "", stem)  # a file that was sent or saved again
        meant = again if again in expected else _meant(chapter, expected, data)
        if meant and meant not in found:
            if meant != again:
                words.append(f"{stem!r} is taken for {meant!r}, by its contents")
            found[meant] = data
        else:
            words.append(
                f"{stem!r} is no notebook of this chapter"
                if not meant
                else f"{stem!r} is a copy of {meant!r}: left out"
            )
    words += [f"{stem!r} is missing" for stem in expected if stem not in found]
    words += [
        f"{stem!r} cannot be read as a notebook: {fault}"
        for stem, data in found.items()
        if (fault := why_unreadable(data))
    ]
    return found, words


def _newest(files, expected) -> tuple[dict[str, bytes], list[str]]:
    """(the files, with the newest of each expected name under that name; what to say of the others)."""
    newest, kept, words = {}, {}, []
    for name, data in files.items():
        again = re.fullmatch(r"(.+)-(\d+)", Path(name).stem)
        counted = (again[1], int(again[2])) if again else (Path(name).stem, 0)
        stem, number = counted if counted[0] in expected else (name, 0)
        newest.setdefault(stem, []).append((number, Path(name).stem, data))
    for stem, given in newest.items():
        *earlier, (_, last, data) = sorted(given, key=lambda one: one[0])
        kept[f"{stem}.ipynb" if stem in expected else stem] = data
        words += [f"{was!r} was handed in again as {last!r}, which counts" for _, was, _ in earlier]
    return kept, words


def why_unreadable(data: bytes) -> str:
    """Why grading could not read it as a notebook; "" where it could."""
    try:
        rebuild.read_cells(data)
    except rebuild.NotebookError as error:
        return str(error)
    return ""


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

"""A student's work in one edition of a notebook, carried into a newer one. Notebooks in, notebook out: no file.

Notebooks are plain JSON. `released` says what a notebook held when it was handed out (id -> fingerprint, in order), so
that what differs from it is the student's.
"""

import ast
import copy
import hashlib
import re
import uuid
from dataclasses import dataclass, field
from difflib import SequenceMatcher

END = (
    "## From before\n\nThis notebook was replaced by a newer edition. "
    "What you wrote below stood at a place, or answered an exercise, that is gone."
)
MARKS = ("nbgrader", "descent", "editable", "deletable")  # what makes a cell one of the course's


@dataclass
class Merged:
    """A newer notebook with a student's work in it, and the names of the exercises for each thing to tell.

    own: cells of the student's, added or edited, that are kept.
    """

    notebook: dict
    carried: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # they are asked otherwise now
    arguments: list[str] = field(default_factory=list)  # and take other arguments
    gone: list[str] = field(default_factory=list)
    own: int = 0

    @property
    def touched(self) -> bool:
        """Whether the student had done anything."""
        return bool(self.carried or self.gone or self.own)


@dataclass
class _Work:
    """What the student did. Ids are those of the edition that they had."""

    known: set[str]  # the ids
    answers: dict[str, dict] = field(default_factory=dict)  # exercise -> cell
    edited: dict[str, dict] = field(default_factory=dict)  # id -> cell
    # id of the cell above, "" at the top -> cells
    added: dict[str | None, list[dict]] = field(default_factory=dict)


def fingerprint(source: str) -> str:
    """A short hash of a cell's text, blanks at the ends of lines aside."""
    plain = "\n".join(line.rstrip() for line in source.strip().splitlines())
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def released(notebook) -> dict[str, str]:
    """id -> fingerprint of each cell, in order."""
    return {cell["id"]: fingerprint(text(cell)) for cell in notebook["cells"]}


def text(cell) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def merge(mine: dict, newer: dict, before: dict[str, str]) -> Merged:
    """The newer notebook with the work of `mine` in it.

    before: what `mine` held when it was handed out. Where nothing is known, all that the newer one lacks is kept.
    """
    now = released(newer)
    there = before or now
    work = _work(mine, there)
    _take_retyped(work, newer)
    gone = _retire(work, newer)
    own = _own(work, _places(list(there), newer["cells"]), there, now)
    homeless = own.pop(None, [])
    kept = sum(map(len, own.values())) + len(homeless) + len(work.edited) - len(gone)
    made = Merged(newer, gone=gone, own=kept)
    cells = own.get("", [])
    for cell in newer["cells"]:
        cells = [*cells, *_placed(cell, work, before, now, made), *own.get(cell["id"], [])]
    if homeless:
        cells += [_markdown(END, "from-before"), *homeless]
    made.notebook = newer | {"cells": cells}
    return made


def _work(mine, before) -> _Work:
    found, above = _Work(set(before)), ""
    by_text = {mark: name for name, mark in before.items()}
    for cell in mine["cells"]:
        mark, name = fingerprint(text(cell)), cell.get("id")
        if mark in by_text:  # as it was handed out
            above = name if before.get(name) == mark else by_text[mark]
        elif (answer := answer_of(cell)) and answer not in found.answers:
            found.answers[answer] = cell
            above = name if name in before else above
        elif name in before and name not in found.edited and not answer:
            found.edited[name] = cell
            above = name
        elif text(cell).strip() and not _is_note(cell, mark):
            found.added.setdefault(above, []).append(_as_own(cell))
    return found


def answer_of(cell) -> str:
    """The exercise or written answer that a cell is for, by nbgrader's mark; "" for other cells."""
    about = cell.get("metadata", {}).get("nbgrader", {})
    return about.get("grade_id", "") if about.get("solution") else ""


def _take_retyped(work, newer) -> None:
    """An answer that was typed into a cell of the student's own is an answer too; of several, the last."""
    for name in filter(None, map(answer_of, newer["cells"])):
        if name in work.answers:
            continue
        defines = re.compile(rf"^(?:def|class) {re.escape(name)}\b", re.M)
        for cells in reversed(work.added.values()):
            found = [c for c in cells if c["cell_type"] == "code" and defines.search(text(c))]
            if found:
                work.answers[name] = found[-1]
                cells[:] = [c for c in cells if c is not found[-1]]
                break


def _retire(work, newer) -> list[str]:
    """Make answers to what is no longer asked cells of the student's own -> their exercises."""
    asked = set(map(answer_of, newer["cells"]))
    gone = [name for name in work.answers if name not in asked]
    for name in reversed(gone):
        answer = work.answers.pop(name)
        above = answer["id"] if answer.get("id") in work.known else None
        work.added.setdefault(above, []).insert(0, _as_own(answer))
    return gone


def _places(old: list[str], cells: list[dict]) -> dict[str, str]:
    """Where each released cell is now: the same, or the one that was put in its place by a change of its text."""
    new = [cell["id"] for cell in cells]
    places = {"": ""} | {name: name for name in old if name in new}
    named = {cell["id"] for cell in cells if cell["metadata"].get("nbgrader")}
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "replace" or b - a != 1 or d - c != 1 or old[a] in places or new[c] in old:
            continue
        if _of_text(old[a]) and new[c] not in named:
            places[old[a]] = new[c]
    return places


def _of_text(name: str) -> bool:
    """Whether an id was made from its cell's text: exercises and checks have their names."""
    return bool(re.fullmatch(r"[0-9a-f]{8}(-\d+)?", name))


def _own(work, places, before, now) -> dict[str | None, list[dict]]:
    """The student's own cells by the newer cell that they follow, None where it is gone.

    An edited cell is one of them, and the first, unless it can stand in its own place: see `_placed`.
    """
    found: dict[str | None, list[dict]] = {}
    for above in ["", *before, None]:
        cells = list(work.added.get(above, []))
        if above in work.edited and (
            before.get(above) != now.get(above) or _locked(work.edited[above])
        ):
            cells.insert(0, _as_own(work.edited.pop(above)))
        if cells:
            found.setdefault(places.get(above), []).extend(cells)
    return found


def _locked(cell) -> bool:
    """Whether the course's text has to stand there: a check."""
    return bool(cell.get("metadata", {}).get("nbgrader", {}).get("locked"))


def _placed(cell, work, before, now, made) -> list[dict]:
    """A newer cell with the student's text in it, if there is one; below it what an exercise asks now."""
    name, id = answer_of(cell), cell["id"]
    mine = work.answers.pop(name, None) if name else work.edited.get(id)
    if mine is None:
        return [cell]
    keep = ("source", "outputs", "execution_count", "attachments")
    filled = cell | {key: copy.deepcopy(mine[key]) for key in keep if key in mine}
    if cell["cell_type"] != "code":
        filled = {key: value for key, value in filled.items() if key not in keep[1:3]}
    if not name:
        return [filled]
    made.carried.append(name)
    changed = bool(before) and before.get(id, now[id]) != now[id]
    if (changed or not before) and _takes_other_arguments(text(cell), text(mine)):
        made.arguments.append(name)
    elif not changed:
        return [filled]
    made.changed.append(name)
    return [filled, _note(cell)]


def _takes_other_arguments(stub: str, answer: str) -> bool:
    asked, given = _arguments(stub), _arguments(answer)
    return any(given.get(name, arguments) != arguments for name, arguments in asked.items())


def _arguments(source: str) -> dict[str, str]:
    """Function, or Class.method -> its arguments as text; nothing where the code does not parse."""
    try:
        top = ast.parse(source).body
    except (SyntaxError, ValueError):
        return {}
    found = {}
    for node in top:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                found[inner.name if inner is node else f"{node.name}.{inner.name}"] = ast.unparse(
                    inner.args
                )
    return found


def _note(cell) -> dict:
    asked = text(cell)
    if cell["cell_type"] == "code":
        asked = f"```python\n{asked}\n```"
    words = f"**This exercise has changed since you answered it.** It says now:\n\n{asked}"
    note = _markdown(words, f"changed-{cell['id']}")
    note["metadata"]["descent"] = {"note": fingerprint(words)}
    return note


def _is_note(cell, mark) -> bool:
    """Whether a cell is what an earlier update wrote, and nobody changed it."""
    about = cell.get("metadata", {}).get("descent", {})
    return about.get("note") == mark


def _markdown(words, name) -> dict:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": words}


def _as_own(cell) -> dict:
    """A cell without what makes it one of the course's: nobody takes it for an answer, and it can be deleted."""
    about = cell.get("metadata", {})
    kept = {key: about[key] for key in about if key not in MARKS}
    return cell | {"id": uuid.uuid4().hex[:8], "metadata": kept}

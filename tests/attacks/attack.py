"""Reads the files of `suite/`: one attack each.

A file begins with its docstring (what it tries, in a sentence) and these constants:

- HELD_BY: what stops it, in a few words.
- VERDICT: exercise -> (kind, points). Exercises that are not named must get full marks.
- CARRIES = True: it carries a hidden input out. It is graded under two keys, and the student must read the same.
- LOOK = True: the instructor must be asked to look.
- REFUSED: words of the reason for which `collect` must refuse the hand-in.

Then come cells. Those of the attack itself are headed `# %% NAME`, the answer to an exercise, or `# %% before NAME`,
a cell that the student added before it. `# %% next NAME` and `# %% next before NAME` are the same in the submission
that is graded afterwards, a witness that must get full marks. `# %% neighbour` is run in a sandbox that stays open
while the attack is graded; `# %% neighbour after` is then run there, and must raise nothing.

Where the notebook's file or the hand-in is the weapon, a function makes it instead:
`notebook(honest: dict) -> dict | bytes` or `hand_in(honest: bytes, chapter: str) -> (file name, bytes)`.
"""

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SUITE = Path(__file__).parent / "suite"
_HEADING = re.compile(r"^# %% (.+)$", re.M)


@dataclass
class Attack:
    """One file of the suite. told: its constants. cells: (heading, source) in order."""

    path: Path
    tries: str
    told: dict
    cells: list[tuple[str, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def verdict(self) -> dict[str, tuple[str, float]]:
        return self.told.get("VERDICT", {})

    @property
    def held_by(self) -> str:
        return self.told["HELD_BY"]

    @cached_property
    def builder(self):
        """("notebook" or "hand_in", its function), or None where the attack is written as cells."""
        if self.cells:
            return None
        names: dict = {}
        exec(compile(self.path.read_text(encoding="utf-8"), self.path, "exec"), names)
        return next((kind, names[kind]) for kind in ("notebook", "hand_in") if kind in names)

    def under(self, role: str) -> list[tuple[str, str]]:
        """The cells of "attack", "next" or "neighbour", with the rest of their headings."""
        found = []
        for heading, source in self.cells:
            words = heading.split()
            mine = words[0] if words[0] in ("next", "neighbour") else "attack"
            if mine == role:
                found.append((" ".join(words if mine == "attack" else words[1:]), source))
        return found


def read(path: Path) -> Attack:
    """The attack of a file. Raises ValueError where its head is incomplete."""
    text = path.read_text(encoding="utf-8")
    parts = _HEADING.split(text)
    tree = ast.parse(parts[0])
    told = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id.isupper()
    }
    tries = (ast.get_docstring(tree) or "").replace("\n", " ").strip()
    if not tries or "HELD_BY" not in told:
        raise ValueError(f"{path.name}: write a docstring that says what it tries, and HELD_BY.")
    cells = [
        (heading, source.strip()) for heading, source in zip(parts[1::2], parts[2::2], strict=True)
    ]
    return Attack(path, tries, told, cells)


def read_all() -> list[Attack]:
    """The whole suite, by name."""
    return [read(path) for path in sorted(SUITE.glob("*.py"))]


def fill(honest: dict, cells: list[tuple[str, str]]) -> dict:
    """A solved notebook with these cells in it (headings "NAME" or "before NAME"). `honest` stays as it is."""
    made, added = [], 0
    for cell in honest["cells"]:
        for heading, source in cells:
            if heading == f"before {cell['id']}":
                added += 1
                made.append(code_cell(f"mine-{added}", source))
            elif heading == cell["id"]:
                cell = cell | {"source": source}
        made.append(cell)
    known = {cell["id"] for cell in honest["cells"]}
    strangers = [heading for heading, _ in cells if heading.split()[-1] not in known]
    if strangers:
        raise ValueError(f"no cell of the notebook is named {strangers[0]!r}")
    return honest | {"cells": made}


def code_cell(name: str, source: str) -> dict:
    return {
        "cell_type": "code", "id": name, "metadata": {}, "source": source,
        "execution_count": None, "outputs": [],
    }  # fmt: skip

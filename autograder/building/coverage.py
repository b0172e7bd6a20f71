"""Which lecture sections are covered, where, and which are not yet: `python -m autograder coverage`."""

import argparse
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache

from autograder.building import masters, tables


@dataclass(frozen=True)
class Place:
    """A cell that covers a section: notebook, cell id, the heading it stands under, its exercise if it is one."""

    notebook: str
    cell: str
    heading: str
    exercise: str = ""


def main(argv: list[str] | None = None) -> int:
    """Status 0: counts by lecture and planned notebook are printed; with a name, its sections. 2: unknown."""
    parser = argparse.ArgumentParser(prog="autograder coverage", description=__doc__)
    parser.add_argument(
        "name", nargs="?", help="a lecture (wu) or a notebook (03_optimisation/01_gradient_descent)"
    )
    name = parser.parse_args(argv).name
    tables.require(masters.SOLUTIONS)
    found = covered()
    if name is None:
        _print_counts("lecture", found, lambda section: section.split(":")[0])
        _print_counts("planned notebook", found, lambda section: masters.sections()[section][1])
        return 0
    chosen = [
        s for s, (_, notebook) in masters.sections().items() if name in (s.split(":")[0], notebook)
    ]
    if not chosen:
        print(f"coverage: {name!r} is no lecture and no planned notebook.", file=sys.stderr)
        return 2
    for section in chosen:
        places = (
            ", ".join(f"{p.notebook} [{p.cell}]" for p in found.get(section, [])) or "NOT COVERED"
        )
        print(f"{section:<28} {masters.sections()[section][0][:60]:<60} {places}")
    return 0


def _print_counts(what, found, group):
    total, done, asked = Counter(), Counter(), Counter()
    for section in masters.sections():
        for name in (group(section), "all"):
            total[name] += 1
            done[name] += section in found
            asked[name] += any(place.exercise for place in found.get(section, ()))
    print(f"{what:<50} covered         by an exercise  demonstrated only")
    for name in sorted(total, key="all".__eq__):
        told = f"{done[name]:>4} of {total[name]:>4}    {asked[name]:>14} {done[name] - asked[name]:>18}"
        print(f"  {name:<48} {told}")
    print()


@lru_cache
def _read(notebook: str):
    return masters.read(notebook)


def covered() -> dict[str, list[Place]]:
    """Section id -> the cells that cover it, in course order."""
    found: dict[str, list[Place]] = defaultdict(list)
    for notebook in masters.notebooks():
        for place, cell in places(_read(notebook)):
            for section in cell.covers:
                found[section].append(place)
    return dict(found)


def places(master):
    """(Place, cell) of each cell of a master."""
    ids = [cell.id for cell in masters.expand(master).cells]
    heading = master.title
    for cell, cell_id in zip(master.cells, ids, strict=True):
        if cell.kind == "markdown":
            titles = re.findall(r"^#+ (?!BEGIN SOLUTION|END SOLUTION)(.+)$", cell.source, re.M)
            heading = titles[0].strip() if titles else heading
        yield Place(master.notebook, cell_id, heading, str(cell.metadata.get("exercise", ""))), cell

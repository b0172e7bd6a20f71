"""Writes the table of attacks into autograder/SECURITY.md, from the files of `suite/`: `python -m tests.attacks.table`.

The rows say what the tests assert: verdicts and reasons come from the same constants.
"""

import re

from autograder.checkdata import ROOT
from tests.attacks.attack import Attack, read_all

PAGE = ROOT / "autograder/SECURITY.md"
BEGIN, END = "<!-- attacks -->", "<!-- end of attacks -->"
GROUPS = {
    "forge": "Forging scores and messages",
    "lie": "Results that lie",
    "look": "Looking for what is hidden",
    "rise": "More rights",
    "plant": "Leaving something for the next submission",
    "reach": "Reaching who is graded at the same time",
    "patch": "Changing Python, libraries and the shell",
    "end": "Ending the process",
    "flood": "Using everything up",
    "hang": "Never coming to an end",
    "carry": "Carrying hidden inputs out",
    "file": "The notebook's file as a weapon",
    "archive": "The hand-in as a weapon",
}


def table(attacks: list[Attack]) -> str:
    """The table in Markdown, one part a group."""
    lines = [f"{len(attacks)} attacks."]
    for group in GROUPS:
        members = [attack for attack in attacks if attack.name.startswith(f"{group}_")]
        lines += [
            "",
            f"### {GROUPS[group]}",
            "",
            "| attack | what it tries | what becomes of it | held by |",
        ]
        lines += ["| --- | --- | --- | --- |", *map(_row, members)]
    return "\n".join(lines)


def _row(attack: Attack) -> str:
    cells = (f"`{attack.name}`", attack.tries, _outcome(attack), attack.held_by)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _outcome(attack: Attack) -> str:
    if "REFUSED" in attack.told:
        return f"refused: “… {attack.told['REFUSED']} …”"
    if "TAKEN" in attack.told:
        return f"taken as {attack.told['TAKEN']}'s, full marks for its honest notebook"
    kinds: dict[str, list[str]] = {}
    for exercise, (kind, points) in attack.verdict.items():
        kinds.setdefault(f"{kind}, {points:g}", []).append(f"`{exercise}`")
    told = "; ".join(f"{', '.join(names)}: {verdict}" for verdict, names in kinds.items())
    notes = ["an instructor is asked to look"] * bool(attack.told.get("LOOK"))
    notes += ["its checks count as restored"] * bool(attack.told.get("RESTORED"))
    return "; ".join([told, *notes])


def page(text: str, attacks: list[Attack]) -> str:
    """SECURITY.md with the table made anew. Raises ValueError where the marks for its place are missing."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"{PAGE} has no {BEGIN} … {END}")
    made = f"{BEGIN}\n{table(attacks)}\n{END}"
    return re.sub(f"{BEGIN}.*{END}", lambda _: made, text, flags=re.S)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), read_all()), encoding="utf-8")

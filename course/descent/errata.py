"""`erratum`: what the lecture notes print, what holds instead, and the computation that shows both."""

import re
from collections.abc import Iterator

import numpy as np

from descent import session

# Kind -> (what it is called, how the correction is introduced, what has to be computed).
KINDS = {
    "error": ("", "What holds", ("printed_holds", "corrected_holds", "decoy_holds")),
    "broad": (" (too broad)", "What holds", ("printed_holds", "corrected_holds")),
    "convention": (" (a convention)", "Better", ()),
    "copy": (" (lost in our copy)", "Read", ()),
}
# Truth value -> what it must be, and what it means where it is the other.
PROOF = {
    "printed_holds": (False, "the printed form holds here"),
    "corrected_holds": (True, "the corrected form fails here"),
    "decoy_holds": (False, "the decoy holds too"),
}


def erratum(
    section: str,
    *,
    quote: str,
    corrected: str,
    kind: str = "error",
    printed_holds: bool | None = None,
    corrected_holds: bool | None = None,
    decoy_holds: bool | None = None,
) -> None:
    """Show what a section of the lecture notes prints (`quote`, verbatim) and what holds instead (`corrected`).

    section: id of the lecture section. Texts are Markdown with LaTeX between dollars.
    kind: "error" needs three computed truth values: the printed form fails, the corrected one holds, and a wrong one of
    the same shape (the decoy) fails; "broad", where a condition is missing, the first two, at a counterexample;
    "convention" and "copy" (lost in conversion) need none. Where a value is not what it must be, AssertionError says
    which in builds and tests; a student's kernel prints "✗" and goes on. At grading nothing happens.
    Raises ValueError for an unknown kind or a missing value, TypeError where one is no truth value.
    """
    if session.current.grading:
        return
    given = dict(
        printed_holds=printed_holds, corrected_holds=corrected_holds, decoy_holds=decoy_holds
    )
    proof = _checked(section, kind, {k: v for k, v in given.items() if v is not None})
    slips = list(_slips(proof))
    if slips and session.current.strict:
        raise AssertionError(f"erratum, {section}: {'; '.join(slips)}")
    _display(_card(section, quote, corrected, kind, proof, slips))


def _checked(section: str, kind: str, proof: dict) -> dict:
    if kind not in KINDS:
        raise ValueError(f"erratum, {section}: no kind {kind!r}; there are {', '.join(KINDS)}.")
    if missing := [name for name in KINDS[kind][2] if name not in proof]:
        raise ValueError(
            f"erratum, {section}: kind {kind!r} needs {'=…, '.join(missing)}=…, computed."
        )
    for name, value in proof.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(
                f"erratum, {section}: {name} is {type(value).__name__}, not True or False. "
                "Of an array, say .all() or .any()."
            )
    return proof


def _slips(proof: dict) -> Iterator[str]:
    for name, value in proof.items():
        wanted, meaning = PROOF[name]
        if value != wanted:
            yield meaning


def _card(section, quote, corrected, kind, proof, slips) -> str:
    called, introduced, _ = KINDS[kind]
    mark = ("✗ " if slips else "✓ ") if proof else ""
    lines = [
        f"{mark}**{section.replace(':', ' ')}**{called}. Printed: “{printed(quote)}”",
        f"{introduced}: {corrected}",
        *(f"But {slip}." for slip in slips),
    ]
    return "  \n".join(lines)


def printed(quote: str) -> str:
    """A quote of the lecture notes as Markdown that reads as they are printed. Where " … " stands, text is left out.

    A formula cut out of its dollars gets them, a displayed one stands in the line, as large. What Markdown would garble
    and what is no whole formula (a piece of a fraction, a line of code) stands as it is, as code.
    """
    return " … ".join(_piece(piece) for piece in quote.split(" … "))


def _piece(text: str) -> str:
    text = re.sub(r"\$\$\s*(.+?)\s*\$\$", r"$\\displaystyle \1$", text, flags=re.DOTALL)
    if text.count("$") % 2:  # cut within its first formula, or within its last
        text = f"${text}" if "\\" in text.split("$")[0] else f"{text}$"
    if "$" not in text and re.search(r"\\[a-zA-Z]|[_^]", text):
        # "&" before a relation or an arrow aligns lines, another one parts columns
        columns = re.sub(r"& *(?! *(=|\\(sim|implies)\b))", r"\\quad ", text)
        aligned = columns.replace("&", "").removesuffix("\\\\").strip()
        formula = re.search(r"\\[a-zA-Z]|[_^]\{", text) and not text.startswith("#")
        text = f"$\\displaystyle {aligned}$" if formula and _whole(aligned) else f"`{text}`"
    elif not all(map(_whole, re.findall(r"\$(.+?)\$", text, flags=re.DOTALL))):
        text = f"`{text}`"
    return re.sub(r"\\tag\{(.+?)\}", r"\\quad(\1)", text)  # a tag is for blocks only


def _whole(formula: str) -> bool:
    """Whether all that is opened in a formula is closed in it."""
    bare = re.sub(r"\\[{}]", "", formula)
    while (inner := re.sub(r"\{[^{}]*\}", "", bare)) != bare:
        bare = inner
    pairs = ("left", "right"), ("begin", "end")
    halves = r"\\frac *\{(?:[^{}]|\{[^{}]*\})*\}(?! *[{\d\\])"  # a fraction without its lower half
    if re.search(halves, formula):
        return False
    return not set("{}") & set(bare) and all(
        len(re.findall(rf"\\{opens}\b", formula)) == len(re.findall(rf"\\{closes}\b", formula))
        for opens, closes in pairs
    )


def _display(text: str) -> None:
    from IPython.display import Markdown, display

    display(Markdown(text))

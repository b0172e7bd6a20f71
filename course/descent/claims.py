"""`claim`: a step of a derivation that says what it proved."""

import html

import numpy as np

from descent import checking, session
from descent.words import say, typeset

# What wraps stands below the words; a line apart from what is printed above.
_LINE = "padding-left:1.4em;text-indent:-1.4em;line-height:1.4;margin-top:0.3em"


def claim(text: str, holds: bool, **facts) -> None:
    """Show "✓" and the text, which names its facts as `say` does: claim("1 + 1 = {n}", 1 + 1 == n, n=2).

    holds: one truth value, computed. A false claim raises AssertionError where a notebook is built or tested; in a
    student's kernel, where anything may have been changed, it shows "✗" and goes on. At grading nothing happens.
    Raises TypeError where `holds` is not one truth value, or facts and text differ.
    """
    if session.current.grading:
        return
    if not isinstance(holds, bool | np.bool_):
        raise TypeError(
            f"claim: holds is {type(holds).__name__}, not True or False. Of an array, say .all() or .any()."
        )
    words = say(text, **facts)
    if not holds and session.current.strict:
        raise AssertionError(f"claim: it does not hold: {words}")
    told = f"{'✓' if holds else '✗'} {typeset(words)}"
    # In a narrow window JupyterLab breaks printed lines inside words.
    checking.display(f'<div class="tex2jax_ignore" style="{_LINE}">{html.escape(told)}</div>', told)


def below(bound: float) -> str:
    """How a number at rounding level is told, whose digits no two processors share: "below 1e-12"."""
    return f"below {bound:g}"

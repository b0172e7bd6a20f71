"""`say`: the words of a picture, computed from its numbers, which keep these numbers."""

import re
import string


class Words(str):
    """A text that knows what it was computed from: `facts`, the numbers by name, not rounded.

    It is a str in every other way. `+` joins texts and their facts; both having a fact of one name is a
    ValueError.
    """

    facts: dict

    def __new__(cls, text: str, facts: dict):
        words = super().__new__(cls, text)
        words.facts = facts
        return words

    def __add__(self, other):
        return _joined(self, other)

    def __radd__(self, other):
        return _joined(other, self)


def _joined(first, second):
    if not (isinstance(first, str) and isinstance(second, str)):
        return NotImplemented
    one, two = (getattr(part, "facts", {}) for part in (first, second))
    clash = one.keys() & two.keys()
    if clash:
        raise ValueError(
            f"say: both parts have the facts {_listed(clash)}. Give one of them another name."
        )
    return Words(str.__add__(first, second), one | two)


def say(text: str, **facts) -> Words:
    """The text with its numbers filled in: say("Precision {p:.2f}.", p=0.8571) is "Precision 0.86.".

    Every name in the text needs a keyword, and every keyword a place. A fact may itself be words, or a list
    of them, which is joined by what follows the colon: "{ends:; }".
    Raises TypeError where names and keywords differ.
    """
    return Words(_Strict().vformat(text, (), facts), facts)


class _Strict(string.Formatter):
    """str.format with names only, where a keyword without a place is an error as well."""

    def get_value(self, key, args, kwargs):
        if key in kwargs:
            return kwargs[key]
        if isinstance(key, int):
            raise TypeError("say: a place {} has no name. Write {name} and pass name=….")
        raise TypeError(f"say: the text names {key!r}, but no {key}=… is passed.")

    def check_unused_args(self, used_args, args, kwargs):
        unused = kwargs.keys() - used_args
        if unused:
            raise TypeError(
                f"say: {_listed(unused)} passed, but the text does not name it. "
                "Put it in the text, as {name}, or leave it out."
            )

    def format_field(self, value, format_spec):
        if isinstance(value, list):
            return format_spec.join(value)
        return super().format_field(value, format_spec)


_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def typeset(text: str) -> str:
    """The text with numbers as people write them: −3 for -3, 64 % for 64%, 200 for 2e+02, 3·10⁻⁷ for 3e-07.

    A text with a formula between dollars stays as it is.
    """
    if "$" in text:
        return text
    text = re.sub(r"(?<![\w.])(\d(?:\.\d+)?)e([+-]\d+)(?!\w)", _written_out, text)
    text = re.sub(r"(?<=\d)%", "\N{NO-BREAK SPACE}%", text)
    return re.sub(r"(?<![\w)\]])-(?=\.?\d)", "−", text)


def _written_out(number: re.Match) -> str:
    digits, power = number[1], int(number[2])
    if -4 <= power <= 4:
        return f"{float(number[0]):,g}"
    times = "" if digits == "1" else f"{digits}·"
    return f"{times}10{str(power).translate(_SUPERSCRIPTS)}"


def _listed(names) -> str:
    return ", ".join(map(repr, sorted(names)))

"""Formulas in TeX as MathML, which browsers draw without a script."""

import html
import re
import unicodedata

# Only a font with a table for formulas says how high an exponent stands: without one, browsers set it far too high.
STYLE = (
    'math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "Libertinus Math", '
    '"DejaVu Math TeX Gyre", math, serif }'
)
_STYLED = re.compile(
    r'<(m[ino]) mathvariant="(double-struck|script|fraktur|bold|bold-italic)">([^<]*)<'
)


# \lVert and \rVert come without what keeps a bar as high as a letter: with an exponent, it sank below the line.
_BAR = re.compile("<mo>(&#x02016;|&#x0007C;)<")


def mathml(tex: str, display: str) -> str:
    """A formula as MathML; one that cannot be read stands as TeX. display: "block" or "inline"."""
    from latex2mathml import converter

    try:
        # The converter knows \operatorname, and not \arg, of which the course makes \arg\min.
        made = converter.convert(tex.replace(r"\arg", r"\operatorname{arg}"), display=display)
    except Exception:  # it raises whatever a part of it raised on what it does not know
        return f"<code>{html.escape(tex)}</code>"
    return _BAR.sub(r'<mo stretchy="false">\1<', _STYLED.sub(_styled, made))


def _styled(match: re.Match) -> str:
    """Letters of their own instead of an attribute: browsers read mathvariant="normal" alone."""
    tag, style, text = match.groups()
    letters = "".join(_letter(letter, style) for letter in html.unescape(text))
    return f"<{tag}>{html.escape(letters)}<"


def _letter(letter: str, style: str) -> str:
    """R and "double-struck" give ℝ; a letter that has no such form stays as it is."""
    shape = style.upper().replace("BOLD-", "BOLD ")
    name = re.sub(r"^(LATIN|GREEK) (\w+) LETTER", r"\2", unicodedata.name(letter, ""))
    for known in (f"MATHEMATICAL {shape} {name}", f"{shape} {name}"):
        try:
            return unicodedata.lookup(known)
        except KeyError:
            continue
    return letter

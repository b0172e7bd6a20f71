"""Markdown with formulas between dollars, as notebooks have it, to HTML with MathML that is not yet clean."""

import functools
import html

import mistune

from autograder.results import formulas

_ENVIRONMENT = r"\\begin\{{(?P<{name}>[a-z]*\*?)\}}.*?\\end\{{(?P={name})\}}"
# A display formula may hold lines that look like a list or a heading, so it is found before these are.
_BLOCK = r"(?s:(?<!\\)\$\$.*?(?<!\\)\$\$|" + _ENVIRONMENT.format(name="block_name") + ")"
_INLINE = {
    "display": r"(?s:(?<!\\)\$\$(?P<display_tex>.*?)(?<!\\)\$\$)",
    "inline": r"(?s:(?<![$\\])\$(?P<inline_tex>.+?)(?<![$\\])\$)",
    "environment": rf"(?s:(?P<environment_tex>{_ENVIRONMENT.format(name='inline_name')}))",
}


MAX_DOLLARS, MAX_ENVIRONMENTS = 2_000, 200  # each may be looked for up to the text's end


def page(source: str) -> str:
    """HTML of a text. What stands between dollars in code is code. With too many formulas it is shown as it stands."""
    if source.count("$") > MAX_DOLLARS or source.count("\\begin{") > MAX_ENVIRONMENTS:
        return f"<pre>{html.escape(source)}</pre>"
    return _renderer()(source)


@functools.cache
def _renderer():
    made = mistune.create_markdown(
        escape=False, plugins=["strikethrough", "table", "url", "task_lists"]
    )
    made.block.register("formula", _BLOCK, _block, before=made.block.rules[0])
    for kind, pattern in _INLINE.items():
        made.inline.register(kind, pattern, functools.partial(_inline, kind), before="escape")
        made.renderer.register(kind, functools.partial(_drawn, kind))
    return made


def _block(block, match, state) -> int:
    state.add_paragraph(match[0])
    return match.end()


def _inline(kind, inline, match, state) -> int:
    state.append_token({"type": kind, "raw": match[f"{kind}_tex"]})
    return match.end()


def _drawn(kind, renderer, tex) -> str:
    return formulas.mathml(tex, "inline" if kind == "inline" else "block")

"""A student's text as it may be shown in somebody else's browser."""

import html


def markdown(source: str) -> str:
    """Markdown that shows what `source` would, with everything taken out that could run.

    It is rendered here and cleaned as HTML, since a script can hide in Markdown in many ways. What comes back is one
    line of HTML, which no later rendering reads as Markdown again.
    """
    import nh3
    from nbconvert.filters import markdown2html

    clean = nh3.clean(markdown2html(source))
    return f"<div>{_one_line(clean)}</div>"


def raw(source: str) -> str:
    """A raw cell as Markdown that shows its text as it stands."""
    return f"<div><pre>{_one_line(html.escape(source))}</pre></div>"


def _one_line(page: str) -> str:
    return page.replace("\r", "").replace("\n", "&#10;")

"""A text as it may be shown in somebody else's browser: nothing in it runs, loads, or covers the rest of the page."""

import functools
import html

from autograder.results import markup

# What a page of ours may load is nothing. It is the second lock: `clean` is the first.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# Longer texts are shown as they stand: reading Markdown can take long on a text that is made to.
MAX_MARKDOWN = 50_000
MAX_TAGS = 3_000  # cleaning takes the square of it where tags stand inside each other

_MATHML = set(
    "math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom menclose "
    "msub msup msubsup munder mover munderover mtable mtr mtd".split()
)
_MATHML_ATTRIBUTES = set(
    "display displaystyle scriptlevel form mathvariant stretchy fence separator accent accentunder columnalign "
    "rowspacing columnspacing width height depth lspace rspace linethickness minsize maxsize movablelimits "
    "largeop notation".split()
)
# No position, no size against the window, no url(…): a text stays in its place.
_STYLES = set(
    "border border-left border-radius padding padding-left padding-right margin max-width line-height color "
    "background-color list-style text-align vertical-align white-space font-weight font-style".split()
)


def clean(page: str) -> str:
    """HTML with everything taken out that could run, load or lie over the page; formulas in MathML stay."""
    import nh3

    return nh3.clean(
        page,
        tags=nh3.ALLOWED_TAGS | _MATHML,
        attributes=_attributes(),
        attribute_filter=_filtered,
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties=_STYLES,
    )


@functools.cache
def _attributes() -> dict[str, set[str]]:
    import nh3

    allowed = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    allowed |= {tag: _MATHML_ATTRIBUTES for tag in _MATHML}
    for tag in ("div", "p", "ul", "ol", "li", "span", "table", "th", "td", "code", "b"):
        allowed.setdefault(tag, set()).add("style")
    return allowed


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    """A picture is in the page itself; a link is anything else."""
    is_data = value.strip().lower().startswith("data:")
    if attribute == "src":
        return value if is_data else None
    return None if attribute in ("href", "cite") and is_data else value


@functools.lru_cache(4096)  # the same cells of the release stand in the page of every student
def markdown_page(source: str) -> str:
    """Markdown as clean HTML with its formulas in MathML, which browsers draw without a script."""
    page = source if len(source) > MAX_MARKDOWN else markup.page(source)
    return clean(page) if page.count("<") <= MAX_TAGS else f"<pre>{html.escape(source)}</pre>"


def markdown(source: str) -> str:
    """A student's Markdown as Markdown that shows what it would, with nothing in it that could run.

    It is rendered here and cleaned as HTML, since a script can hide in Markdown in many ways. What comes back is one
    line of HTML, which no later rendering reads as Markdown again.
    """
    return raw(source) if len(source) > MAX_MARKDOWN else one_line(markdown_page(source))


def raw(source: str) -> str:
    """A raw cell as Markdown that shows its text as it stands."""
    return one_line(f"<pre>{html.escape(source)}</pre>")


def one_line(page: str) -> str:
    """A clean page as a line that no later rendering reads as Markdown.

    The class keeps MathJax away, in the formgrader: a formula of its language can hold a link that runs.
    """
    line = page.replace("\r", "").replace("\n", "&#10;")
    return f'<div class="tex2jax_ignore">{line}</div>'


@functools.lru_cache(4096)
def code(source: str) -> str:
    """Python as HTML with its syntax marked: tokens in escaped <span>s, so that it needs no cleaning."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    if len(source) > MAX_MARKDOWN:
        return f"<pre>{html.escape(source)}</pre>"
    return highlight(source, PythonLexer(), HtmlFormatter(cssclass="code"))


@functools.cache
def code_style() -> str:
    """The style sheet of `code`."""
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter().get_style_defs(".code")

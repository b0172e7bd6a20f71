"""Pages from the templates beside this file. What is put into one is escaped, unless it is marked as clean HTML."""

import functools

from autograder.results import formulas, harmless
from autograder.workspace import Workspace
from descent.cards import points_text


def render(template: str, **values) -> str:
    """The page that `templates/<template>.html` makes of `values`. A name that it lacks is an error."""
    return _environment().get_template(f"{template}.html").render(values)


def safe(page: str):
    """HTML that has been cleaned, or was made here, as a template may show it."""
    from markupsafe import Markup

    return Markup(page)


def counted(count: int, word: str) -> str:
    """1 and "student" give "1 student", 2 give "2 students"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def nobody(space: Workspace, chapter: str) -> str:
    """Why there is nothing to show of a chapter, and what to do."""
    return space.no_chapter(chapter) or (
        f"nobody is graded in {chapter}: run `autograder grade {chapter}`."
    )


@functools.cache
def _environment():
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("autograder.results"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["points"] = lambda value: "–" if value is None else points_text(value)
    made.filters["percent"] = lambda value: f"{100 * value:.0f} %"
    made.filters["counted"] = counted
    made.globals |= {
        "policy": harmless.POLICY,
        "code_style": safe(harmless.code_style()),
        "formula_style": safe(formulas.STYLE),
    }
    return made

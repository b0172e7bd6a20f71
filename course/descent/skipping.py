"""`with after(answer):` — a block that runs once an exercise is solved, or a prediction, given by its name, guessed.

Python cannot skip the body of a `with`, so `install` registers an AST transformer with IPython (its public
hook for this) that turns `with after(…):` into `if after(…):`. The block's target picture is found by a
fingerprint of its code, the same at build time and in the student's notebook.
"""

import ast
import hashlib
import html

from descent import checking, predictions, session
from descent.images import image_html


def fingerprint(node: ast.With) -> str:
    """Twelve hex digits that depend on the names and constants of the block, not on its layout."""
    words = []
    for part in ast.walk(node):
        for attribute in ("id", "attr", "arg", "name", "value"):
            word = getattr(part, attribute, None)
            if isinstance(word, str | int | float | bool):
                words.append(repr(word))
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


def is_after(node: ast.AST) -> bool:
    """Whether a statement is a `with after(…):` block."""
    if not isinstance(node, ast.With) or len(node.items) != 1:
        return False
    call = node.items[0].context_expr
    return (
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "after"
    )


def awaited_guesses(node: ast.With) -> list[ast.Constant]:
    """The predictions that a block waits for, by their names."""
    return [one for one in node.items[0].context_expr.args if isinstance(one, ast.Constant)]


def awaited_answers(node: ast.With) -> list[ast.expr]:
    """The exercises that a block waits for."""
    return [one for one in node.items[0].context_expr.args if not isinstance(one, ast.Constant)]


class AfterTransformer(ast.NodeTransformer):
    """`with after(a, b): body` becomes `if after(a, b, _picture="…"): body`."""

    def visit_With(self, node):
        if not is_after(node):
            return self.generic_visit(node)
        mark = fingerprint(node)  # of the block as written, before those inside it change
        self.generic_visit(node)
        call = node.items[0].context_expr
        call.keywords.append(ast.keyword("_picture", ast.Constant(mark)))
        plain = ast.If(test=call, body=node.body, orelse=[])
        return ast.fix_missing_locations(ast.copy_location(plain, node))


def install() -> None:
    """Register the transformer with the running IPython, once. Outside IPython nothing is done."""
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    if shell and not any(isinstance(t, AfterTransformer) for t in shell.ast_transformers):
        shell.ast_transformers.append(AfterTransformer())


class after:  # noqa: N801 — reads as a word of the language: `with after(ridge):`
    """A block that runs once all of `awaited` is there: answers solved, predictions (by name) guessed.

    Until then it says what it waits for, and shows the picture to come unless that would tell what is to be guessed.

    Outside IPython, where the block cannot be skipped, an unsolved block runs and its errors are dropped.
    """

    def __init__(self, *awaited, _picture: str = ""):
        names = [one for one in awaited if isinstance(one, str)]
        answers = [one for one in awaited if not isinstance(one, str)]
        unguessed = [name for name in names if not predictions.is_guessed(name)]
        unsolved = [checking.name_of(a) for a in answers if not checking.is_solved(a)]
        self.solved = not unguessed and not unsolved
        if not self.solved and not session.current.grading:
            _show_waiting(unsolved, unguessed, "" if unguessed else _picture)

    def __bool__(self):
        return self.solved

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return not self.solved and kind is not None and issubclass(kind, Exception)


def _show_waiting(unsolved: list[str], unguessed: list[str], picture: str) -> None:
    names = " and ".join(f"<code>{html.escape(name)}</code>" for name in unsolved)
    reasons = [f"{names} {'is' if len(unsolved) == 1 else 'are'} solved"] if unsolved else []
    reasons += ["you have made your guess above"] if unguessed else []
    line = f"This cell runs once {' and '.join(reasons)}."
    targets = _targets(picture)
    if targets:
        line += " Your own code will draw this:"
    pictures = "".join(
        '<figure style="margin:0.5em 0">'
        f"{image_html('webp', data, width, words, opacity=0.85, narrow=narrow)}</figure>"
        for data, width, words, narrow in targets
    )
    plain = line.replace("<code>", "").replace("</code>", "") + "".join(
        f" [{t[2]}]" for t in targets
    )
    checking.display(f"<p>{line}</p>{pictures}", plain)


def _targets(picture: str) -> list[tuple[str, int, str, tuple[str, int] | None]]:
    """(WebP in base64, width, words, its narrow twin) of each picture that the block draws."""
    notebook = session.current.notebook
    data = session.check_data(notebook) if notebook else None
    found = []
    for told in (data or {}).get("targets", {}).get(picture, []):
        twin = told.get("narrow")
        narrow = (_picture(twin["file"]), twin["width"]) if twin else None
        found.append((_picture(told["file"]), told["width"], told["words"], narrow))
    return found


def _picture(file: str) -> str:
    import base64

    path = session.CHECKS / session.current.notebook.split("/")[0] / file
    return base64.b64encode(path.read_bytes()).decode("ascii")

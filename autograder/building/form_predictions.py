"""What breaks a rule in predictions: each function yields (cell, what to do)."""

import ast
import re
from collections.abc import Iterator

from autograder.building import masters
from autograder.building.draft import Draft
from autograder.building.masters import Cell

Slips = Iterator[tuple[Cell, str]]


def told_too_soon(draft: Draft) -> Slips:
    """A prediction that could not keep its answer."""
    seen: set[str] = set()
    for cell in draft.code:
        name, called = cell.metadata.get("predict"), masters.calls(cell, "predict")
        if called and name is None:
            yield cell, 'predict(…) needs a cell of its own with a header # %% predict="name"'
        if name is None:
            continue
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(name)):
            yield cell, f"predict={name!r}: write a name of small letters, digits and hyphens"
        if name in seen:
            yield cell, f"the prediction {name!r} appears twice"
        seen.add(name)
        call = _only_call(cell)
        if call is None:
            yield cell, f'it holds more or less than the one call predict("{name}", …)'
        else:
            yield from ((cell, message) for message in _of_call(call, name))


def _only_call(cell: Cell) -> ast.Call | None:
    body = cell.tree.body if cell.tree else []
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    named = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "predict"
    return call if named else None


def _of_call(call: ast.Call, name: str) -> Iterator[str]:
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or first.value != name:
        yield f'its call begins with the name of its header: predict("{name}", …)'
    if len(call.args) != 3:
        yield "give name, question and options, then truth=… and because=…"
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    if isinstance(given.get("truth"), ast.Constant | ast.Name | None):
        yield "truth=… is computed here: a constant may be wrong, a name gives it away above"
    if isinstance(given.get("because"), ast.Name):
        yield "because=… is written here: a name gives the reason away above"
    for bound in (node for node in ast.walk(call) if isinstance(node, ast.NamedExpr)):
        yield f"{ast.unparse(bound)}: students get the name of the prediction only, so it defines none"

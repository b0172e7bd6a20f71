"""Mutants of a solution: its text with one small edit each, as a student slips. Pure functions on text.

One node of the syntax tree is edited at a time. Docstrings and other texts, annotations and asserts stay as they are.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (
    ("min", "max"), ("amin", "amax"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"),
    ("mean", "sum"), ("floor", "ceil"),
)  # fmt: skip
RENAMED = {old: new for pair in _PAIRS for old, new in (pair, pair[::-1])}
NO_BUILTINS = {"mean", "sum", "floor", "ceil"}  # as plain names they have no counterpart
UNWRAPPED = {
    "abs", "fabs", "absolute", "sqrt", "copy", "deepcopy", "clone", "detach", "sorted", "reversed", "flip",
    "fliplr", "flipud",
}  # fmt: skip
MODULES = {"np", "numpy", "torch", "math", "copy"}
AXES = {"axis", "dim"}
ALONG = {
    "sum", "mean", "prod", "std", "var", "min", "max", "amin", "amax", "argmin", "argmax", "any", "all", "cumsum",
    "cumprod", "softmax", "log_softmax", "logsumexp", "sort", "argsort", "cat", "concat", "concatenate", "stack",
    "squeeze", "unsqueeze", "flip",
}  # fmt: skip  # an argument behind the data is an axis: x.sum(0), np.stack(rows, 1)
ZEROS = {"zeros", "zeros_like", "empty", "empty_like"}  # a sign would change nothing
_UNTOUCHED = ("annotation", "returns")
_SIGNED = (ast.Name, ast.Call, ast.Subscript, ast.Attribute)  # and products
_PRODUCTS = (ast.Mult, ast.Div, ast.MatMult, ast.Pow)


@dataclass
class Mutant:
    """One edit. kind: which; line: of the text it stands in, from 1; old, new: the statement's own line.

    old tells a statement that stands there twice by its number, `k = k + 1 [2]`. text: the whole, edited.
    """

    kind: str
    line: int
    old: str
    new: str
    text: str

    def __str__(self):
        return f"{self.old} → {self.new}"


@dataclass
class _Place:
    """Where a node hangs in the tree. statement: the one that it is part of. role: "index", "axis" or ""."""

    owner: ast.AST
    field: str
    index: int | None
    statement: ast.stmt | None
    role: str = ""

    @property
    def node(self):
        held = getattr(self.owner, self.field)
        return held if self.index is None else held[self.index]

    def put(self, node) -> None:
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


def mutants(source: str, lines: set[int]) -> list[Mutant]:
    """All that differ, of what stands in those lines of a text that is Python."""
    tree = ast.parse(source)
    names = _numbered(tree, lines)
    found, seen = [], {ast.unparse(tree)}
    for place in list(_places(tree)):
        node = place.node
        line = getattr(node, "lineno", getattr(place.statement, "lineno", 0))
        if line not in lines:
            continue
        whole = isinstance(node, ast.stmt)
        for kind, edited in [*_edits(node, place.role), *_edits_there(place)]:
            place.put(edited)
            text = ast.unparse(tree)
            new = _header(edited if whole else place.statement)
            place.put(node)
            if text not in seen and not _idle(new) and _compiles(text):
                seen.add(text)
                statement = node if whole else place.statement
                found.append(Mutant(kind, statement.lineno, names[statement], new, text))
    return found


def _places(node, statement=None, role="") -> Iterator[_Place]:
    for field, value in ast.iter_fields(node):
        if field in _UNTOUCHED:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert | ast.JoinedStr):
                continue
            place = _Place(node, field, index, statement, _role(node, field, index, role))
            yield place
            if _number(child) is None:
                inside = child if isinstance(child, ast.stmt) else statement
                yield from _places(child, inside, place.role)


def _role(owner, field, index, role) -> str:
    if isinstance(owner, ast.Subscript) and field == "slice":
        return "index"
    if isinstance(owner, ast.keyword) and owner.arg in AXES:
        return "axis"
    if isinstance(owner, ast.Call) and field == "args":
        called = owner.func
        if isinstance(called, ast.Attribute) and called.attr in ALONG:
            return "axis" if index >= _of_module(called) else ""
    if isinstance(owner, ast.Tuple) or (isinstance(owner, ast.Slice) and field != "step"):
        return role
    return ""


def _of_module(function: ast.Attribute) -> bool:
    """Whether it is called on its first argument, np.abs(x), not on what stands before the dot, x.abs()."""
    return getattr(function.value, "id", "") in MODULES


def _numbered(tree, lines) -> dict[ast.stmt, str]:
    """The first line of every statement; where it stands there before, with its number."""
    told, times = {}, {}
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    for node in sorted(statements, key=lambda node: (node.lineno, node.col_offset)):
        header = _header(node)
        if node.lineno in lines:
            times[header] = times.get(header, 0) + 1
        told[node] = header if times.get(header, 1) == 1 else f"{header} [{times[header]}]"
    return told


def _header(statement) -> str:
    """A statement in one line, without what is indented below it."""
    if hasattr(statement, "body"):
        statement = copy.copy(statement)
        statement.body, statement.orelse, statement.finalbody = [], [], []
    return ast.unparse(statement).strip().splitlines()[-1 if _decorated(statement) else 0]


def _idle(header) -> bool:
    """Whether a line is `x = x`: it is dropped as a whole, too."""
    target, _, value = header.partition(" = ")
    return target == value


def _decorated(statement) -> bool:
    return bool(getattr(statement, "decorator_list", None))


def _compiles(text) -> bool:
    try:
        compile(text, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


Edits = Iterator[tuple[str, ast.AST]]


def _edits(node, role) -> Edits:
    """(kind, what takes its place) for a node, whatever it is part of."""
    if (number := _number(node)) is not None:
        yield from _numbers(number, role)
        return
    match node:
        case ast.BinOp():
            yield from _operations(node)
        case ast.Compare(left=left, ops=ops, comparators=right):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    changed = [*ops[:place], other(), *ops[place + 1 :]]
                    yield "comparison", ast.Compare(left, changed, right)
        case ast.BoolOp(op=op, values=values):
            other = ast.Or if isinstance(op, ast.And) else ast.And
            yield "and/or", ast.BoolOp(other(), values)
            for place in range(len(values)):
                kept = values[:place] + values[place + 1 :]
                yield "condition dropped", ast.BoolOp(op, kept) if len(kept) > 1 else kept[0]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", operand
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield "not dropped", operand
        case ast.Constant(value=bool(value)):
            yield "True/False", ast.Constant(not value)
        case ast.IfExp(body=body, orelse=orelse):
            yield "branch", body
            yield "branch", orelse
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in RENAMED:
            yield "min/max", ast.Attribute(node.value, RENAMED[name], node.ctx)
        case ast.Name(id=name, ctx=ast.Load()) if name in RENAMED.keys() - NO_BUILTINS:
            yield "min/max", ast.Name(RENAMED[name], node.ctx)
        case ast.Call():
            yield from _calls(node)
        case ast.Subscript(value=value, slice=ast.Slice(None, None, step)) if _number(step) == -1:
            yield "call dropped", value
    if role == "index" and isinstance(node, ast.Name | ast.BinOp):
        for op in (ast.Add(), ast.Sub()):
            yield "index", ast.BinOp(node, op, ast.Constant(1))
    if isinstance(node, ast.stmt):
        yield from _statements(node)


def _operations(node: ast.BinOp) -> Edits:
    left, op, right = node.left, node.op, node.right
    if type(op) in OPERATORS:
        yield "operator", ast.BinOp(left, OPERATORS[type(op)](), right)
    if isinstance(op, ast.Add | ast.Sub):
        yield "term dropped", left
        yield "term dropped", right if isinstance(op, ast.Add) else ast.UnaryOp(ast.USub(), right)
        if _number(left) is None:
            yield "sign", ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right)
    else:
        yield "factor dropped", left
        if isinstance(op, ast.Mult | ast.MatMult):
            yield "factor dropped", right


def _number(node) -> float | None:
    """The value of a number as it is written, with its sign; None for everything else."""
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None if isinstance(value, bool) else -value
    return None


def _numbers(value, role) -> Edits:
    if role == "axis":
        yield "axis", _written({0: 1, 1: 0, -1: 0}.get(value, value + 1))
        return
    if isinstance(value, int):
        others = [value + 1, value - 1]
    else:
        others = {0.0: [1.0], 0.5: [1.0], 1.0: [0.5, 2.0]}.get(value, [2 * value])
    for other in others:
        yield "index" if role == "index" else "constant", _written(other)
    if value < 0 and role != "index":
        yield "sign", ast.Constant(-value)


def _written(value) -> ast.AST:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _called(node) -> set[str]:
    """The name of the function that a node calls, without its module."""
    function = getattr(node, "func", None)
    return {getattr(function, "attr", getattr(function, "id", ""))}


def _calls(node: ast.Call) -> Edits:
    if _called(node) & UNWRAPPED:
        method = isinstance(node.func, ast.Attribute) and not _of_module(node.func)
        if method or node.args:
            yield "call dropped", node.func.value if method else node.args[0]
    for place, keyword in enumerate(node.keywords):
        if keyword.arg:
            kept = node.keywords[:place] + node.keywords[place + 1 :]
            yield "keyword dropped", ast.Call(node.func, node.args, kept)


def _statements(node: ast.stmt) -> Edits:
    match node:
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in OPERATORS:
                yield "operator", ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield "statement dropped", ast.Pass()
        case ast.Break() | ast.Continue() | ast.Expr(value=ast.Call()):
            yield "statement dropped", ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            used = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
            if name in used:  # made before, and here made anew
                yield "statement dropped", ast.Pass()


def _edits_there(place: _Place) -> Edits:
    """(kind, what takes its place) where it depends on what the node is part of."""
    node, owner = place.node, place.owner
    if (isinstance(owner, ast.If) and place.field == "test") or place.field == "ifs":
        yield "branch", ast.Constant(True)
        yield "branch", ast.Constant(False)
    if isinstance(owner, ast.While) and place.field == "test":
        yield "branch", ast.Constant(False)
    if isinstance(owner, ast.Assign | ast.AugAssign | ast.Return) and place.field == "value":
        product = isinstance(node, ast.BinOp) and isinstance(node.op, _PRODUCTS)
        if product or (isinstance(node, _SIGNED) and not _called(node) & ZEROS):
            yield "sign", ast.UnaryOp(ast.USub(), node)

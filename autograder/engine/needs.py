"""Which cells of a notebook have to run so that its answers can be asked, read from their text alone.

A cell is needed when it binds or changes a name that a needed cell uses, or changes a setting of numpy or torch. Where
a text cannot be read as plain Python, it is taken to need and to change everything. What a cell changes
under another name (`same = rows; same.append(1)`) is not seen. Where a name was missing after all, `passes` runs
every cell once more.
"""

import ast
import symtable
from functools import lru_cache

from autograder.engine import trees
from descent import skipping

EVERYTHING = None
# Called for its own sake, a function of these sets something for all that follows: a seed, a dtype, a warning.
SETTINGS = frozenset({"numpy", "torch", "random", "warnings", "os", "sys"})
# Calls that only show or ask.
DEMO_CALLS = frozenset(
    "check claim erratum explore hint movie predict print progress show solution submit display".split()
)
MAX_READ_IN_ALL = 300_000  # of a notebook
MAX_READ = 50_000  # characters: a longer cell is not read, but run


def is_demonstration(source: str) -> bool:
    """Whether a cell only shows something: grading skips it (see AUTHORING.md)."""
    tree = trees.parse(source)
    return bool(tree and tree.body) and all(shows(statement) for statement in tree.body)


def shows(statement: ast.stmt) -> bool:
    """Whether a statement is a `with after(…)` block or a bare call that shows or asks."""
    return skipping.is_after(statement) or calls(statement) in DEMO_CALLS


def calls(statement: ast.stmt) -> str | None:
    """The name of the function that a statement calls for its own sake; None for any other statement."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)):
        return None
    function = statement.value.func
    return function.id if isinstance(function, ast.Name) else None


@lru_cache(maxsize=4096)
def uses(source: str) -> frozenset[str] | None:
    """The notebook's names that a cell reads, also inside its functions; EVERYTHING where that cannot be told."""
    tree = _parsed(source)
    if tree is None or _reaches_around(tree):
        return EVERYTHING
    try:
        return frozenset(_read_in(symtable.symtable(source, "<cell>", "exec")))
    except trees.UNREADABLE:  # what parses need not compile
        return EVERYTHING


def _read_in(table) -> set[str]:
    names = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())
    }
    return names.union(*(_read_in(child) for child in table.get_children()))


@lru_cache(maxsize=4096)
def changes(source: str) -> frozenset[str] | None:
    """The names that running a cell may bind or change; EVERYTHING where that cannot be told.

    What a call is given may be changed by it (`fit(model)`, `rows.append(1)`), and so may what hangs on a name.
    """
    tree = _parsed(source)
    if tree is None or _reaches_around(tree):
        return EVERYTHING
    try:
        return frozenset().union(*(_changed_by(statement) for statement in tree.body))
    except RecursionError:
        return EVERYTHING


def needed(cells: list[tuple[str, bool]]) -> list[bool]:
    """For each (source, wanted) in order: whether it must run. wanted: an answer, or a cell of the student's own."""
    if sum(len(source) for source, _ in cells) > MAX_READ_IN_ALL:
        return [True] * len(cells)
    imported = set().union(*(_bound_by_imports(source) for source, _ in cells))
    settings = set().union(*(_bound_by_imports(source, SETTINGS) for source, _ in cells))
    wanted_names: frozenset[str] | None = frozenset()
    told = [False] * len(cells)
    for place in range(len(cells) - 1, -1, -1):
        source, wanted = cells[place]
        told[place] = (
            wanted
            or _touches(source, wanted_names, imported)
            or bool(_called_alone(source) & settings)
        )
        if told[place]:
            used = uses(source)
            unknown = wanted_names is EVERYTHING or used is EVERYTHING
            wanted_names = EVERYTHING if unknown else wanted_names | used
    return told


def _touches(source, names, imported) -> bool:
    """Whether a cell changes one of `names`. A module is not changed by a call of its functions."""
    changed = changes(source)
    if names is EVERYTHING or changed is EVERYTHING:
        return True
    return bool(names & ((changed - imported) | _bound_by_imports(source)))


@lru_cache(maxsize=4096)
def _bound_by_imports(source: str, packages: frozenset[str] | None = None) -> frozenset[str]:
    """The names that a cell's imports bind; of these packages alone, or of all."""
    found = set()
    for node in ast.walk(_parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.Import):
            found |= {(alias.name, _alias(alias)) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "", _alias(alias)) for alias in node.names}
    return frozenset(
        bound for module, bound in found if packages is None or module.split(".")[0] in packages
    )


@lru_cache(maxsize=4096)
def _called_alone(source: str) -> frozenset[str]:
    """The names that statements hang on which are a call and nothing else: `torch.set_default_dtype(…)` is torch."""
    calls = [
        node.value.func
        for node in (_parsed(source) or ast.Module([], [])).body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]
    return frozenset().union(*(_roots(function) for function in calls))


def _alias(alias) -> str:
    return (alias.asname or alias.name).split(".")[0]


def imports(source: str) -> set[str]:
    """The modules that a cell imports, by full name: `from a.b import c` is a.b and a.b.c."""
    tree = _parsed(source)
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@lru_cache(maxsize=64)  # the questions about one cell come together
def _parsed(source: str) -> ast.Module | None:
    return trees.parse(source) if len(source) <= MAX_READ else None


# Calls by which a cell may touch names that it does not name, and the course's own set-up of a notebook.
_AROUND = {
    "exec",
    "eval",
    "globals",
    "locals",
    "vars",
    "get_ipython",
    "setattr",
    "__import__",
    "start",
}


def _reaches_around(tree) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in _AROUND)
        or (isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names))
        for node in ast.walk(tree)
    )


def _changed_by(statement) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        named = {statement.name}
        inside = [*statement.decorator_list]
        if isinstance(statement, ast.ClassDef):
            inside += [*statement.bases, *statement.body]
        else:
            inside += [*statement.args.defaults, *(d for d in statement.args.kw_defaults if d)]
        return named.union(*(_changed_in(node) for node in inside))
    return _changed_in(statement)


def _changed_in(tree) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {_alias(alias) for alias in node.names}
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found |= _roots(node)
        elif isinstance(node, ast.Call):
            found |= _roots(node.func) if isinstance(node.func, ast.Attribute) else set()
            for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                found |= _roots(argument)
    return found


def _roots(node) -> set[str]:
    """The names that an expression hangs on: a in a.b[c].d, and those inside a list or a starred one."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return set().union(*(_roots(item) for item in node.elts))
    return set()

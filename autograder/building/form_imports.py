"""What a notebook and its pictures take from `descent` that is not there: read from the files, nothing is run."""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import descent
from autograder.building.draft import Draft
from autograder.building.tables import meant

Slips = Iterator[tuple[tuple[Path, int], str]]
Part = tuple[int, ast.Module]  # the lines above it in its file, its statements


def missing_imports(draft: Draft) -> Slips:
    """In the master, and in every module of pictures that it or another one imports."""
    course = draft.master.project / "course"
    cells = [(cell.line, cell.tree) for cell in draft.code if cell.tree]
    files: dict[Path, list[Part]] = {draft.master.path: cells}
    for path in (todo := [draft.master.path]):
        for line, module, name in _taken(files[path], course):
            if told := _missing(course, module, name):
                yield (path, line), told
            for one in (_file(course, module), _file(course, f"{module}.{name}")):
                if one and "pictures" in one.parts and one not in files:
                    files[one] = [(0, _tree(_text(one)))]
                    todo.append(one)


def _missing(course: Path, module: str, name: str) -> str:
    """What to do where the module, or the name in it, is not there; "" where both are."""
    file = _file(course, module)
    if not file:
        return f"there is no module {module}: write course/{module.replace('.', '/')}.py."
    names = set(descent.__all__) if module == "descent" else _names(_text(file))
    if name in names | {"", "*"} or _file(course, f"{module}.{name}"):
        return ""
    where = file.relative_to(course.parent)
    return f"{module} has no {name!r}: {where} must define it.{meant(name, names)}"


def _taken(parts: list[Part], course: Path) -> Iterator[tuple[int, str, str]]:
    """(line, module of descent, a name of it or "") of each import and of each use of an imported module."""
    modules: dict[str, str] = {}
    nodes = [(above, node) for above, tree in parts for node in ast.walk(tree)]
    for above, node in nodes:
        for module, name, own in _imported(node):
            yield above + node.lineno, module, name
            whole = f"{module}.{name}" if name else module
            if own and _file(course, whole):
                modules[own] = whole
    for name in {name for _, node in nodes for name in _bound(node)}:
        modules.pop(name, None)  # it may be something else there
    for above, node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in modules:
                yield above + node.lineno, modules[node.value.id], node.attr


def _imported(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """(module, name in it or "", what it is called here) of what an import takes from descent."""
    if isinstance(node, ast.ImportFrom) and not node.level and _is_ours(node.module):
        yield from ((node.module, alias.name, alias.asname or alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from ((a.name, "", a.asname or "") for a in node.names if _is_ours(a.name))


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == "descent"


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg


def _file(course: Path, module: str) -> Path | None:
    path = course.joinpath(*module.split("."))
    found = (path / "__init__.py", path.parent / f"{path.name}.py", path)
    return next((file for file in found if file.exists()), None)


def _text(file: Path) -> str:
    """What a module holds; nothing where it is a bare folder."""
    return "" if file.is_dir() else file.read_text(encoding="utf-8")


def _tree(text: str) -> ast.Module:
    """Its statements; none while it is no Python: running it tells that."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


@lru_cache  # a module is asked for each name that is taken from it
def _names(text: str) -> frozenset[str]:
    """Everything that a module defines, imports or assigns outside of functions and classes."""
    found, todo = set(), list(_tree(text).body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        found |= set(_bound(node))
        todo += ast.iter_child_nodes(node)
    return frozenset(found)

"""No two of our modules need each other: whoever reads one can stop where its imports stop."""

import ast
import importlib.util
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.conftest import ROOT

PLACES = {"autograder": ROOT, "solutions": ROOT, "descent": ROOT / "course"}


def imported(path: Path, package: str) -> set[str]:
    """Every name that a file imports, inside functions too; "a" and "a.b" for `from a import b`."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
    return names


def graph(places: dict[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules among these packages that it imports. places: package -> the folder it stands in."""
    files = {}
    for package, folder in places.items():
        for path in (folder / package).rglob("*.py"):
            files[".".join(path.relative_to(folder).with_suffix("").parts)] = path
    needs = {}
    for name, path in files.items():
        found = imported(path, name.rpartition(".")[0])
        found |= {f"{one}.__init__" for one in found}
        needs[name] = found & files.keys() - {name}
    return needs


def circle(needs: dict[str, set[str]]) -> str:
    """'a → b → a' for one circle of imports; "" where there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return " → ".join(reversed(error.args[1]))
    return ""


def test_no_circle_of_imports():
    needs = graph(PLACES)
    assert len(needs) > 150 and "descent.wire" in needs["descent.running"]
    assert circle(needs) == ""


def test_a_circle_is_named_though_a_function_hides_it(tmp_path):
    (tmp_path / "toy/room").mkdir(parents=True)
    (tmp_path / "toy/__init__.py").write_text("")
    (tmp_path / "toy/one.py").write_text("def f():\n    from toy.room import two\n")
    (tmp_path / "toy/room/two.py").write_text("from .. import one\n")
    (tmp_path / "toy/three.py").write_text("import toy.one\n")
    needs = graph({"toy": tmp_path})
    assert needs["toy.three"] == {"toy.one"}
    assert circle(needs) in (
        "toy.one → toy.room.two → toy.one",
        "toy.room.two → toy.one → toy.room.two",
    )

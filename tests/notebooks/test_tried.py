"""The lines of a card, "Try it in a cell of your own", give what the check got."""

import ast
import io
from contextlib import redirect_stdout

import pytest

from autograder.answers import Answers
from autograder.building import masters
from descent import running, session, tried, wire

NOTEBOOKS = masters.notebooks()


def value_of(lines: str, names: dict):
    """What a cell shows that holds these lines."""
    *before, last = ast.parse(lines).body
    with redirect_stdout(io.StringIO()):
        exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_lines_give_what_the_check_got(notebook):
    names = Answers(masters.master_path(notebook)).names
    for name, exercise in session.check_data(notebook)["exercises"].items():
        case = exercise["cases"][0]
        if lines := tried.lines(exercise, case["inputs"]):
            call = running.load_probe(exercise["probe"]) if exercise["probe"] else None
            got = running.run_case(names[name], wire.decode(case["inputs"]), probe=call, limit=30)
            assert wire.encode(value_of(lines, dict(names))) == got["value"], name


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_the_lines_make_the_very_inputs(notebook):
    told = 0
    for exercise in session.check_data(notebook)["exercises"].values():
        for case in exercise["cases"]:
            names = {}
            lines = tried.lines(exercise | {"probe": "def _(answer): return 0"}, case["inputs"])
            if lines:
                exec(lines.rpartition("\n")[0], names)
                assert wire.encode({name: names[name] for name in case["inputs"]}) == case["inputs"]
                told += 1
    assert told

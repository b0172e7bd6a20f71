"""What a check called, as lines that a student can run in a cell of the notebook."""

import ast
import functools
import pprint
import re
import textwrap

import numpy as np

from descent import wire

IMPORTS = {"np": "import numpy as np", "torch": "import torch", "math": "import math"}
WIDTH = 84
PLAIN, PLAIN_TENSORS = (float, int, bool), ("torch.float32", "torch.int64", "torch.bool")
LONGEST = 8000  # characters: nobody reads more, and a card holds it twice


def lines(exercise: dict, inputs: dict) -> str:
    """The call of an exercise of the check data on a case's inputs, as they are encoded; "" where it is too long.

    Where a probe asks the answer, its text stands there with the student's own function in it.
    """
    given = {name: _literal(value) for name, value in wire.decode(inputs).items()}
    if exercise["probe"]:
        called = _probe(exercise["probe"], exercise["name"], tuple(given))
        text = "\n".join([*(f"{name} = {value}" for name, value in given.items()), called])
    else:
        arguments = ", ".join(f"{name}={value}" for name, value in given.items())
        text = f"{exercise['name']}({arguments})"
        if len(text) > WIDTH:
            parts = [f"{name}={value}," for name, value in given.items()]
            text = f"{exercise['name']}(\n{textwrap.indent(chr(10).join(parts), '    ')}\n)"
    used = [line for name, line in IMPORTS.items() if re.search(rf"\b{name}\.", text)]
    return "\n".join([*used, text]) if len(text) <= LONGEST else ""


@functools.cache
def _probe(source: str, name: str, given: tuple[str, ...]) -> str:
    """A probe's body, whose `answer` is called by its name; its result is the value of the last line."""
    function = ast.parse(source).body[0]
    last, text = function.body[-1], source.splitlines()
    returns = [node for node in _own(function) if isinstance(node, ast.Return)]
    parameters = {each.arg for each in function.args.args[1:]}
    if returns == [last] and parameters == set(given):
        text[last.lineno - 1] = text[last.lineno - 1].replace("return ", "", 1)
        body = textwrap.dedent("\n".join(text[function.body[0].lineno - 1 : last.end_lineno]))
        return re.sub(r"\banswer\b", name, body)
    arguments = ", ".join([name, *(f"{each}={each}" for each in given)])
    return f"{source.strip().replace('def _(', 'def tried(', 1)}\n\ntried({arguments})"


def _own(function):
    """The nodes of a function that are not those of a function in it."""
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _literal(value) -> str:
    """Python that makes the value again, with all its digits."""
    if isinstance(value, np.ndarray):
        kind = "" if value.size and value.dtype in PLAIN else f", np.{value.dtype}"
        if not value.size:
            return f"np.zeros({value.shape}{kind})"
        return f"np.array({_numbers(value.tolist())}{kind})"
    if hasattr(value, "detach"):  # a torch tensor
        kind = str(value.dtype)
        kind = "" if value.numel() and kind in PLAIN_TENSORS else f", dtype={kind}"
        if not value.numel():
            return f"torch.zeros({tuple(value.shape)}{kind})"
        return f"torch.tensor({_numbers(value.tolist())}{kind})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return _numbers(value) if isinstance(value, float) else repr(value)


def _numbers(value) -> str:
    text = pprint.pformat(value, width=WIDTH - 8, compact=True)
    return re.sub(r"\b(inf|nan)\b", r"np.\1", text)

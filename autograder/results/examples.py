"""Examples of a mistake as the class made it, in which nobody can be recognised.

Comments, docstrings and layout are gone, and so is every word that only one student of the class uses: it becomes
`name1`, a text "…", a long number 0; so does every word that holds a
student's id. Words of the release and of Python's and NumPy's own vocabulary stay.
"""

import ast
import builtins
import copy
import keyword
import math
from collections import defaultdict

from autograder.engine.trees import UNREADABLE
from autograder.results import similar
from autograder.results.answers import Answer, without_docstrings

EACH = 2
MAX_LINES = 30
LONG = 10_000  # numbers from here on may be somebody's


class Examples:
    """The answers of a class, for examples of their mistakes."""

    def __init__(self, answers: list[Answer], released: list[ast.AST] = ()):
        self.answers = {(a.student, a.notebook, a.exercise): a for a in answers}
        users = defaultdict(set)
        for answer in answers:
            for word in _words(answer.tree):
                users[word].add(answer.student)
        known = set().union(*(_words(tree) for tree in released)) | _vocabulary()
        ids = [student.lower() for student in {a.student for a in answers} if len(student) > 2]
        common = {word for word, who in users.items() if len(who) > 1} - known
        named = {w for w in common if isinstance(w, str) and any(one in w.lower() for one in ids)}
        self.common = known | common - named

    def of(self, made: list[tuple[str, str, str]]) -> list[str]:
        """At most two ways in which a mistake was made, built differently, the most frequent first, as source.

        made: (student, notebook, exercise) of those who made it.
        """
        ways = defaultdict(list)
        for name in sorted(made):
            if name in self.answers:
                tree = self.answers[name].tree
                ways[tuple(word for word, _ in similar.shape(tree))].append(tree)
        shown = [self.anonymous(trees[0]) for trees in sorted(ways.values(), key=len, reverse=True)]
        return list(filter(None, shown))[:EACH]

    def anonymous(self, tree: ast.AST) -> str:
        """The source of a tree in which nobody can be recognised; "" where it has none."""
        try:
            tree = copy.deepcopy(tree)
            without_docstrings(tree)
            source = ast.unparse(_Anonymous(self.common).visit(tree))
        except UNREADABLE:
            return ""
        lines = source.splitlines()
        return "\n".join(lines[:MAX_LINES] + ["…"] * (len(lines) > MAX_LINES))


def _words(tree) -> set:
    """Every name, text and number in a tree."""
    words = set()
    for node in ast.walk(tree):
        for value in vars(node).values():
            if isinstance(value, list):  # of `global` and `nonlocal`
                words.update(v for v in value if isinstance(v, str))
            elif isinstance(value, str | bytes | int | float):
                words.add(value)
    return words


def _vocabulary() -> set[str]:
    import numpy as np

    places = (
        builtins,
        str,
        list,
        dict,
        set,
        math,
        np,
        np.ndarray,
        np.linalg,
        np.random,
        np.random.Generator,
    )
    return set(keyword.kwlist) | {name for place in places for name in dir(place)}


class _Anonymous(ast.NodeTransformer):
    """Replaces every word that is not common, one word always by the same."""

    def __init__(self, common):
        self.common, self.new = common, {}

    def _name(self, word):
        if not isinstance(word, str) or word in self.common:
            return word
        return self.new.setdefault(word, f"name{len(self.new) + 1}")

    def generic_visit(self, node):
        super().generic_visit(node)
        for key, value in vars(node).items():
            if key in ("id", "attr", "arg", "name", "asname", "module", "rest"):
                setattr(node, key, self._dotted(value))
            elif key == "names" and value and isinstance(value[0], str):
                node.names = [self._name(word) for word in value]
            elif key == "kwd_attrs":
                node.kwd_attrs = [self._name(word) for word in value]
        return node

    def _dotted(self, value):
        return ".".join(map(self._name, value.split("."))) if isinstance(value, str) else value

    def visit_Constant(self, node):
        if node.value in self.common:
            return node
        if isinstance(node.value, str | bytes):
            node.value = "…" if isinstance(node.value, str) else b"..."
        elif isinstance(node.value, int | float) and abs(node.value) >= LONG:
            node.value = 0
        return node

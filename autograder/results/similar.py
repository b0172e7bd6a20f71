"""Answers that are alike where the class is not: places to look, never accusations.

An answer becomes the sequence of its normalised syntax tree: no names of its own, no constants, docstrings, annotations
or layout. What counts are runs of `RUN` nodes. Runs of the release and of the model solution are left out, and a
run counts for less the more of the class wrote it, so that what everybody writes makes nobody alike. Answers of
a few lines have too few runs to count at all.

Cost: linear in the class. Only runs that few share are looked at in pairs, at most `FEW`² / 2 pairs for each.
Of 300 students with 20 exercises, some five seconds (tests/grading/test_similar.py holds the count of pairs).
"""

import ast
import itertools
import math
import zlib
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from autograder.results.answers import Answer, without_docstrings

RUN = 12  # nodes: about one line
FEW = 15  # in larger classes a run that more students share is common
LEAST_RUNS = 15  # rare runs that two answers must share: about four lines
LEAST_SHARE = 0.5  # of the smaller answer's runs, each weighted by how rare it is
LEAST_WEIGHT = 40  # rare runs that two students must share in all: about five lines that hardly anybody else wrote


@dataclass
class Like:
    """Two answers to one exercise that are alike.

    share: of the smaller answer's runs, 0 to 1; 1 for copies. weight: of the runs by how rare they are. lines: for
    both, the lines that the other has too.
    """

    exercise: str
    first: Answer
    second: Answer
    share: float
    weight: float
    lines: tuple[set[int], set[int]]


@dataclass
class Pair:
    """Two students and their answers that are alike, the most alike first."""

    first: str
    second: str
    likes: list[Like] = field(default_factory=list)

    @property
    def weight(self) -> float:
        return sum(like.weight for like in self.likes)


@dataclass
class _Runs:
    """The runs of one answer: hash -> the lines that it covers."""

    answer: Answer
    lines: dict[int, set[int]]


def pairs(answers: list[Answer], known: list[Answer] = ()) -> list[Pair]:
    """Pairs of students with answers that are alike, the most alike first. known: the course's own answers."""
    found: dict[tuple[str, str], Pair] = {}
    background = defaultdict(set)
    for answer in known:
        background[answer.notebook, answer.exercise] |= runs(answer.tree).keys()
    by_exercise = defaultdict(list)
    for answer in answers:
        name = (answer.notebook, answer.exercise)
        lines = {run: at for run, at in runs(answer.tree).items() if run not in background[name]}
        by_exercise[name].append(_Runs(answer, lines))
    for those in by_exercise.values():
        for like in _alike(those):
            students = (like.first.student, like.second.student)
            found.setdefault(students, Pair(*students)).likes.append(like)
    for pair in found.values():
        pair.likes.sort(key=lambda like: -like.weight)
    heavy = [pair for pair in found.values() if pair.weight >= LEAST_WEIGHT]
    return sorted(heavy, key=lambda pair: (-pair.weight, pair.first, pair.second))


def _alike(those: list[_Runs]) -> list[Like]:
    """The pairs of answers to one exercise that are alike."""
    owners = defaultdict(list)
    for at, one in enumerate(those):
        for run in one.lines:
            owners[run].append(at)
    few = max(2, min(FEW, len(those) // 4))
    shared = defaultdict(list)
    for run, at in owners.items():
        if 2 <= len(at) <= few:
            for two in itertools.combinations(at, 2):
                shared[two].append(run)
    found = []
    for (one, two), common in shared.items():
        if len(common) >= LEAST_RUNS:
            rarity = sum(_rarity(len(owners[run]), len(those)) for run in common)
            if rarity >= LEAST_SHARE * min(len(those[one].lines), len(those[two].lines)):
                found.append(_like(those[one], those[two], common, rarity))
    return found


def _rarity(owners: int, of: int) -> float:
    """Towards 1 for a run of two in a large class, 0 for one that all have. In a small class nothing is rare."""
    return 1 - math.log(owners) / math.log(of)


def _like(one: _Runs, two: _Runs, common, weight) -> Like:
    share = len(one.lines.keys() & two.lines.keys()) / min(len(one.lines), len(two.lines))
    lines = tuple(set().union(*(side.lines[run] for run in common)) for side in (one, two))
    return Like(one.answer.exercise, one.answer, two.answer, share, weight, lines)


def runs(tree: ast.AST) -> dict[int, set[int]]:
    """The runs of a tree: hash -> lines. The hashes are the same in every process."""
    nodes = shape(tree)
    if len(nodes) < RUN:
        return {}
    codes = np.array([zlib.crc32(text.encode()) for text, _ in nodes], np.uint64)
    powers = np.cumprod(np.full(RUN, 0x9E3779B97F4A7C15, np.uint64))
    hashes = np.lib.stride_tricks.sliding_window_view(codes, RUN) @ powers
    lines = [line for _, line in nodes]
    found = {}
    for at, run in enumerate(hashes.tolist()):
        found.setdefault(run, set()).update(lines[at : at + RUN])
    return found


def shape(tree: ast.AST) -> list[tuple[str, int]]:
    """(what a node is, its line) of the normalised tree, parents before children; empty for one too deep."""
    without_docstrings(tree)
    try:
        return list(_walk(tree, _own_names(tree), 0))
    except RecursionError:
        return []


def _own_names(tree) -> set[str]:
    """Names that the answer itself gives: another choice of them is no other answer."""
    own = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            own.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.alias):
            own.add((node.asname or node.name).split(".")[0])
    return own


def _walk(node, own, line):
    line = getattr(node, "lineno", line)
    children = [child for child in ast.iter_child_nodes(node) if not _is_noise(child)]
    yield f"{_word(node, own)} {len(children)}", line
    for child in children:
        yield from _walk(child, own, line)


def _is_noise(node) -> bool:
    return isinstance(node, ast.expr_context | ast.Import | ast.ImportFrom | ast.Pass)


def _word(node, own) -> str:
    """What a node is: its kind, and the library's name where it has one."""
    if isinstance(node, ast.Constant):
        return "number" if isinstance(node.value, int | float | complex) else "constant"
    name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
    return f"{type(node).__name__} {'' if name in own else name}"

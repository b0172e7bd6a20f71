"""Answers that are alike: a copy is found through new names, numbers and comments; what is natural is not listed."""

import ast
import itertools
import random

import pytest

from autograder.results import report, similar
from autograder.results.answers import Answer

NOTEBOOK = "03_optimisation/01_gradient_descent"

# One long answer to each exercise, written in a way of its own.
COPIED = '''
def {name}(grad, x0, steps):
    """Walk down."""
    history = [np.array(x0, float)]  # start here
    for k in range(steps):
        slope = grad(history[-1])
        if np.linalg.norm(slope) < 1e-9:
            break
        rate = 1.0 / (1 + k) ** 0.5
        trial = history[-1] - rate * slope
        while np.any(np.isnan(trial)):
            rate = rate / 2
            trial = history[-1] - rate * slope
        history.append(np.clip(trial, -10, 10))
    return np.stack(history)
'''
REWRITTEN = """
import math
def {name}(g, start, n):
    # my own idea
    path = [np.array(start, float)]

    for i in range(n):
        d = g(path[-1])
        if np.linalg.norm(d) < 0.001: break
        t = 2.0 / (3 + i) ** 0.7
        new = path[-1] - t * d
        while np.any(np.isnan(new)):
            t = t / 5
            new = path[-1] - t * d
        path.append(np.clip(new, -7, 8))
    return np.stack(path)
"""
NATURAL = """
def {name}(grad, x0, steps):
    path = [x0]
    for _ in range(steps):
        x = path[-1]
        g = grad(x)
        path.append(x - 0.1 * g)
    return np.array(path)
"""


def answer(student, source, exercise="gd"):
    source = source.replace("{name}", exercise)
    return Answer(student, NOTEBOOK, exercise, source, ast.parse(source))


def own_way(draw, exercise, statements=8):
    """An answer that nobody else writes: statements drawn at random."""
    calls = [
        "np.sum",
        "np.dot",
        "np.max",
        "np.abs",
        "np.cumsum",
        "np.outer",
        "np.sort",
        "np.diff",
        "np.tile",
    ]
    lines = [f"def {exercise}(grad, x0, steps):"]
    for n in range(statements):
        value = (
            f"{draw.choice(calls)}(grad(x0) {draw.choice('+-*/@')} {draw.choice(calls)}(x0, steps))"
        )
        lines.append(
            draw.choice(
                [
                    f"    a{n} = {value}",
                    f"    if {value} > {n}:\n        x0 = {value}",
                    f"    for i in {value}:\n        x0 += i",
                ]
            )
        )
    return "\n".join([*lines, "    return x0"])  # fmt: skip


@pytest.fixture
def crowd(rng):
    """Forty students who answer in their own ways, and forty who all answer in the natural one."""
    draw = random.Random(int(rng.integers(2**32)))
    return [answer(f"own{n}", own_way(draw, "gd")) for n in range(40)] + [
        answer(f"nat{n}", NATURAL) for n in range(40)
    ]


def named(pairs):
    return [(pair.first, pair.second) for pair in pairs]


def test_a_rewritten_copy_is_the_only_pair(crowd):
    pairs = similar.pairs([*crowd, answer("ada", COPIED), answer("bob", REWRITTEN)])
    assert named(pairs) == [("ada", "bob")]
    (like,) = pairs[0].likes
    assert like.share > 0.7
    lines = like.second.source.splitlines()
    marked = {lines[number - 1].strip() for number in like.lines[1] if number}
    assert "new = path[-1] - t * d" in marked and "import math" not in marked


def test_a_copy_is_alike_by_100_percent_also_where_others_write_some_of_it(crowd):
    half = "\n".join(COPIED.splitlines()[:8]) + "\n    return history"
    some = [answer(f"half{n}", half) for n in range(9)]
    pairs = similar.pairs([*crowd, *some, answer("ada", COPIED), answer("bob", COPIED)])
    assert named(pairs)[0] == ("ada", "bob")
    (like,) = pairs[0].likes
    assert like.share == 1.0 and like.weight < len(similar.runs(like.first.tree))


def test_what_the_course_wrote_makes_nobody_alike(crowd):
    both = [*crowd, answer("ada", COPIED), answer("bob", REWRITTEN)]
    assert similar.pairs(both, known=[answer("", COPIED)]) == []


def test_short_answers_and_small_classes_tell_nothing(crowd):
    short = "def gd(grad, x0, steps):\n    return np.cumprod(grad(x0))[steps] ** 3"
    assert similar.pairs([*crowd, answer("ada", short), answer("bob", short)]) == []
    three = [answer("ada", COPIED), answer("bob", REWRITTEN), answer("cyd", NATURAL)]
    assert similar.pairs(three) == []


def test_a_copy_of_many_exercises_comes_before_a_copy_of_one(crowd):
    names = ["step", "descend"]
    more = [
        answer(a.student, a.source.replace("gd(", f"{name}("), name)
        for name in names
        for a in crowd
    ]
    copies = [
        answer(s, t, name) for s, t in (("ada", COPIED), ("bob", REWRITTEN)) for name in names
    ]
    once = [answer(s, COPIED, "gd") for s in ("cyd", "dee")]
    pairs = similar.pairs([*crowd, *more, *copies, *once])
    assert named(pairs) == [("ada", "bob"), ("cyd", "dee")]
    assert [like.exercise for like in pairs[0].likes] == names


def test_the_work_grows_with_the_class_and_not_with_its_square(monkeypatch):
    """300 students, 20 exercises: never more than a few pairs for each run of nodes are looked at."""
    draw = random.Random(0)
    looked = 0
    pairs_of = itertools.combinations

    def counted(*arguments):
        nonlocal looked
        for two in pairs_of(*arguments):
            looked += 1
            yield two

    monkeypatch.setattr(itertools, "combinations", counted)
    ways = [own_way(draw, "gd", statements=3) for _ in range(60)]
    trees = [answer(f"s{n}", ways[n % 60] if n % 2 else own_way(draw, "gd", 3)) for n in range(300)]
    all_runs = sum(len(similar.runs(a.tree)) for a in trees)
    similar.pairs(trees)
    assert 0 < looked < all_runs * similar.FEW / 2


def test_the_page_shows_both_sides_and_accuses_nobody(crowd):
    pairs = similar.pairs([*crowd, answer("ada", COPIED + "# <script>"), answer("bob", REWRITTEN)])
    page = report.alike_page("03_optimisation", pairs, [])
    assert "Places to look, not findings." in page and "Please talk with" in page
    assert not any(
        word in page.lower() for word in ("plagiar", "cheat", "copied", "guilty", "suspect")
    )
    assert page.count("<section aria-label=") == 2
    assert "<b>▌         new = path[-1] - t * d</b>" in page
    assert "# &lt;script&gt;" in page and "<script" not in page

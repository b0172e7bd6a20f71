"""Author's slips are found before anything runs, with file and line."""

import pytest

from autograder import checkdata
from autograder.building import masters
from autograder.engine import needs
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK, SPEC, SPEC_FILE


def problems(root):
    exercises = checkdata.load_exercises(NOTEBOOK)
    return [str(p) for p in masters.problems(masters.read(NOTEBOOK), exercises, root / SPEC_FILE)]


def test_the_toy_has_no_problem(toy_course):
    assert problems(toy_course) == []


SLIPS = {
    "unbalanced markers": ("    ### END SOLUTION\n\n# %% check", "\n\n# %% check", ":14: unbalanced solution markers"),
    "no points": ('exercise="square" points=3', 'exercise="square"', ":14: points are missing or not above zero"),
    "zero points": ("points=3", "points=0", ":14: points are missing or not above zero"),
    "unknown section": ('covers="wu:1.1"', 'covers="wu:99.9"', "covers unknown lecture section 'wu:99.9'"),
    "unknown key": ("difficulty=1", "dificulty=1", "unknown metadata 'dificulty'"),
    "no check": ('# %% check="square"\ncheck(square)\n', "", "exercise 'square' has no check cell"),
    "check of nothing": ('check="square"', 'check="sqare"', "check of 'sqare', which is no exercise"),
    "edited check": ("\ncheck(square)\n", "\nprint(check(square))\n", "a check cell holds nothing but check(square)"),
    "no such function": ("def square(x)", "def sqare(x)", "must define a function or class of that name"),
    "two blocks": (
        "with after(square):",
        "with after(square):\n    pass\nwith after(square):",
        "two `with after(…)` blocks",
    ),
    "solution outside": (
        "    y = square(",
        "    ### BEGIN SOLUTION\n    ### END SOLUTION\n    y = square(",
        "solution markers outside an exercise",
    ),
    "no minutes": ('minutes=5 builds="a square"', 'builds="a square"', ":1: the title cell needs minutes"),
    "after no exercise": ("with after(square):", "with after(draw):", "after(draw): 'draw' is no exercise"),
    "after nothing": ("with after(square):", "with after():", "after() names no exercise"),
    "two checks": (
        '# %% check="square"\n',
        '# %% check="square"\ncheck(square)\n\n# %% check="square"\n',
        "check 'square' appears twice",
    ),
    "minutes in words": ("minutes=5 builds", 'minutes="5 min" builds', ":1: the title cell needs minutes"),
    "another start": ('start("99_toy/01_square")', 'start("99_toy/02_cube")', "start must name this notebook"),
    "no rubric": ("# **Rubric**\n#\n# - 2: names the derivative\n", "", ":43: the model answer must end"),
    "a rubric short of a point": ("# - 2: names", "# - 1: names", "a rubric that adds up to the points"),
    "a rubric that students see": (
        "#\n# **Rubric**\n#\n# - 2: names the derivative\n# ### END SOLUTION\n",
        "# ### END SOLUTION\n#\n# **Rubric**\n#\n# - 2: names the derivative\n",
        "the model answer must end, before its END line,",
    ),
    "not Python": ("    fig, ax = plt.subplots()", "    fig, ax = = 1", "not valid Python"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_named_with_its_line(toy_course, slip):
    old, new, message = SLIPS[slip]
    assert old in MASTER
    (toy_course / MASTER_FILE).write_text(MASTER.replace(old, new, 1))
    found = problems(toy_course)
    assert any(message in problem for problem in found), found


def test_a_check_before_its_exercise_is_named(toy_course):
    check = '# %% check="square"\ncheck(square)\n\n'
    moved = MASTER.replace(check, "").replace(
        '# %% exercise="square"', check + '# %% exercise="square"'
    )
    (toy_course / MASTER_FILE).write_text(moved)
    assert any("stands before its exercise" in p for p in problems(toy_course))


def test_a_double_exercise_is_named(toy_course):
    start, end = MASTER.index('# %% exercise="square"'), MASTER.index("# %%\ndef draw")
    (toy_course / MASTER_FILE).write_text(MASTER[:end] + MASTER[start:end] + MASTER[end:])
    assert any("'square' appears twice (first in line 14)" in p for p in problems(toy_course))


SPEC_SLIPS = {
    "two wrong answers": (
        '@square.wrong("a column", advice="Look at the shape.")',
        "",
        "2 wrong answers, at least 3 are needed",
    ),
    "no right answer": ('@square.right("as a list")', "", "no right answer written another way"),
    "no advice": ('advice="Add or multiply?"', 'advice=""', "wrong answer 'doubles' has no advice"),
    "two hints": ('"Think.", ', "", "2 hints, 3 are needed"),
    "twins": ('"in place"', '"doubles"', "two wrong answers have the same name"),
    "no cases": ("@square.cases", "", "it has no cases"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SPEC_SLIPS)
def test_a_slip_of_the_specification_is_named(toy_course, slip):
    old, new, message = SPEC_SLIPS[slip]
    assert old in SPEC
    (toy_course / SPEC_FILE).write_text(SPEC.replace(old, new, 1))
    found = problems(toy_course)
    assert any(message in problem for problem in found), found


def test_a_solution_in_the_docstring_or_in_a_hint_is_named(toy_course):
    path = toy_course / MASTER_FILE
    leak = '"""x (n,) -> (n,). result = x * x, then return result."""'
    path.write_text(MASTER.replace('"""x (n,) -> (n,)."""', leak, 1))
    assert any(
        ":14: the text around the markers holds the whole solution" in p
        for p in problems(toy_course)
    )
    path.write_text(MASTER)
    (toy_course / SPEC_FILE).write_text(
        SPEC.replace("Times itself.", "result = x * x; return result")
    )
    assert any(
        "exercises.py:1: square: a hint holds the whole solution" in p for p in problems(toy_course)
    )


def test_lines_are_right_below_a_first_comment(toy_course):
    slip = "# A comment.\n\n" + MASTER.replace("points=3", "points=0", 1)
    (toy_course / MASTER_FILE).write_text(slip)
    assert any(":16: points are missing" in p for p in problems(toy_course))


def test_an_exercise_without_a_specification_is_named(toy_course):
    (toy_course / SPEC_FILE).write_text(SPEC.replace('Exercise("square"', 'Exercise("other"'))
    found = problems(toy_course)
    assert any("exercise 'square' has no specification" in p for p in found)
    assert any("specification 'other' has no exercise" in p for p in found)


def test_every_cell_gets_a_fixed_id_that_insertion_does_not_move(toy_course):
    before = [cell.id for cell in masters.expand(masters.read(NOTEBOOK)).cells]
    text = MASTER.replace("# %%\ndef draw", "# %% [markdown]\n# New.\n\n# %%\ndef draw")
    (toy_course / MASTER_FILE).write_text(text)
    after = [cell.id for cell in masters.expand(masters.read(NOTEBOOK)).cells]
    assert [i for i in after if i in before] == before and len(after) == len(before) + 1
    assert {"square", "check-square", "why"} <= set(before)


@pytest.mark.parametrize(
    ("source", "shows"),
    [
        ("with after(f):\n    show(f())", True),
        ("show(1)\nprint(2)", True),
        ("x = 1", False),
        ("import numpy as np", False),
        ("def f(): pass", False),
        ("start('x')", False),
        ("with after(f):\n    pass\ny = 2", False),
        ("broken(", False),
    ],
)
def test_what_a_demonstration_is(source, shows):
    assert needs.is_demonstration(source) is shows

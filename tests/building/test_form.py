"""Each rule of form is seen broken once, here or in `test_form_parts`, by an author's slip in a toy notebook."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.building import build, form, masters, trying
from autograder.building.draft import Draft
from tests.building import test_form_parts
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK, SPEC, SPEC_FILE
from tests.conftest import ROOT

REAL = "03_optimisation/01_gradient_descent"

MORE = ("cube", "root", "half")  # three exercises like the toy's own
CHECK = '# %% check="square"\ncheck(square)\n'
EXERCISE = MASTER[MASTER.index('# %% exercise="square"') : MASTER.index("# %%\ndef draw")]
WRITTEN = MASTER[MASTER.index("# %% [markdown] written") :]
SHOWN = "\n# %%\nwith after(square):\n    show(*draw(1.0))\n"
PREDICTED = '\n# %% predict="again" minutes=1\npredict("again", "And now?", ["yes", "no"], truth=int(1 > 2))\n'
PROSE = "\n# %% [markdown]\n# See [the notebook itself](01_square.ipynb).\n" * 12
FULL = (
    MASTER.replace("explore, pre", "explore, hint, pre")
    + "".join("\n" + EXERCISE.replace("square", name) for name in MORE)
    + 2 * SHOWN + PREDICTED + PROSE
)  # fmt: skip
EXERCISES = SPEC + "".join(SPEC[SPEC.index("square =") :].replace("square", n) for n in MORE)
CHAPTERS, NOTEBOOKS = "solutions/chapters.toml", "solutions/notebooks.tsv"
TESTS, STRAY = "tests/notebooks/toy/test_square.py", f"solutions/{NOTEBOOK}/notes.csv"
WORDS = "solutions/glossary.tsv"
BUILT = f"solutions/{NOTEBOOK}.ipynb"


@pytest.fixture
def proper(toy_course, monkeypatch):
    """The toy project with a notebook that breaks none of the rules whose slips stand here."""
    plan = {"cs480:1": ("Numbers", NOTEBOOK), "wu:1.1": ("Squares", NOTEBOOK)}
    monkeypatch.setattr(masters, "sections", lambda: plan)
    (toy_course / MASTER_FILE).write_text(FULL)
    (toy_course / SPEC_FILE).write_text(EXERCISES)
    (toy_course / TESTS).parent.mkdir(parents=True)
    (toy_course / TESTS).touch()
    return toy_course


def findings():
    return [str(finding) for finding in form.findings(Draft(masters.read(NOTEBOOK)))]


def test_the_toy_breaks_none_of_these_rules(proper):
    ours = [*SLIPS, *SLIPS_OF_THE_SPECIFICATION, *SLIPS_OF_FILES, "project", "worth"]
    assert [one for one in findings() if one.endswith(tuple(f"[{rule}]" for rule in ours))] == []


# Rule -> slips: (what the author changed from, to, what is told), in the master.
SLIPS = {
    "metadata": [("difficulty=1", "dificulty=1", ":14: unknown metadata 'dificulty'")],
    "python": [("    fig, ax = plt.subplots()", "    fig, ax = = 1", ":25: not valid Python")],
    "title": [
        ('builds="a square"', "", ":1: the title cell needs builds"),
        ("# # Squares", "# Squares", ":1: the first cell must be Markdown that begins with the title"),
    ],
    "start": [
        ('start("99_toy/01_square")', 'start("99_toy/02_cube")', ":6: start must name this notebook"),
        ('start("99_toy/01_square")', "", ":6: the first code cell must end with start("),
    ],
    "markers": [
        ("    ### END SOLUTION\n\n# %% check", "\n\n# %% check", ":14: unbalanced solution markers"),
        ("    ### BEGIN SOLUTION\n    result = x * x\n    return result\n    ### END SOLUTION\n", "    return 1\n",
         ":14: an answer cell needs its solution"),
        ("    y = square(", "    ### BEGIN SOLUTION\n    ### END SOLUTION\n    y = square(",
         ":25: solution markers outside an exercise"),
    ],
    "points": [
        ('exercise="square" points=3', 'exercise="square"', ":14: points are missing or not above zero"),
        ("points=3", "points=0", ":14: points are missing or not above zero"),
        ("points=3 difficulty=1", "points=3", ":14: difficulty is missing or not above zero"),
        ("points=3 difficulty", "points=3, difficulty", ":14: points are missing or not above zero ([3])"),
        ('written="why" points=2 minutes=5', 'written="why" points=2', ":46: minutes are missing or not above"),
    ],
    "names": [
        (EXERCISE, EXERCISE + EXERCISE, "exercise 'square' appears twice (first in line 14)"),
        (CHECK, CHECK + "\n" + CHECK, "check 'square' appears twice"),
        ('written="why"', 'written="square"', "written 'square' appears twice (first in line 14)"),
    ],
    "answer": [("def square(x)", "def sqare(x)", "must define a function or class of that name")],
    "docstring": [('    """x (n,) -> (n,)."""\n', "", ":14: exercise 'square' needs a docstring")],
    "check": [
        (CHECK, "", "exercise 'square' has no check cell"),
        ('check="square"', 'check="sqare"', "check of 'sqare', which is no exercise"),
        ("\ncheck(square)\n", "\nprint(check(square))\n", "a check cell holds nothing but check(square)"),
        (EXERCISE, CHECK + "\n" + EXERCISE.replace(CHECK, ""), "stands before its exercise"),
    ],
    "after": [
        ("with after(square):", "with after(square):\n    pass\nwith after(square):", "two `with after(…)` blocks"),
        ("with after(square):", "with after(draw):", "after(draw): 'draw' is no exercise"),
        ("with after(square):", "with after():", "after() names no exercise"),
        (EXERCISE, "\n# %%\nwith after(square):\n    pass\n" + EXERCISE, "the exercise stands below: move"),
    ],
    "rubric": [
        ("# **Rubric**\n#\n# - 2: names the derivative\n", "", ":46: the model answer must end"),
        ("# - 2: names", "# - 1: names", ":46: the model answer must end"),
        ("#\n# **Rubric**\n#\n# - 2: names the derivative\n# ### END SOLUTION\n",
         "# ### END SOLUTION\n#\n# **Rubric**\n#\n# - 2: names the derivative\n",
         "the model answer must end, before its END line,"),
    ],
    "leak": [('"""x (n,) -> (n,)."""', '"""x (n,) -> (n,). result = x * x, then return result."""',
              ":14: the text around the markers holds the whole solution")],
    "sections": [('covers="wu:1.1"', 'covers="wu:1.1 wu:99.9"', "covers unknown lecture section 'wu:99.9'")],
    "hint": [("explore, hint, pre", "explore, pre", ":6: the first code cell must import hint")],
    "imports": [("toy import square", "toys import square", ":11: there is no module descent.pictures.toys")],
    "exercises": [(EXERCISE.replace("square", "half"), "", ":1: 3 exercises: 4 to 8 are wanted")],
    "predictions": [(PREDICTED, "", ":1: 1 calls of predict(…): at least 2 wanted")],
    "widgets": [("    explore(draw", "    dict(draw", ":1: 0 calls of explore(…): at least 1 wanted")],
    "figures": [(SHOWN + SHOWN, SHOWN, ":1: 1 calls of show(…): at least 2 wanted")],
    "lines": [("check(square)\n", "check(square)\n\n# %%\n" + "x = 1  # " + 80 * "x" + "\n", ":26: 89 characters")],
    "links": [("# A toy.", "# [Next](02_cube.ipynb#top)", ":1: the link to 02_cube.ipynb leads nowhere")],
    "mentions": [
        ("# A toy.", "# See [[97/01]].", ":1: [[97/01]] is one notebook of notebooks.tsv, not 0"),
        ("result = x * x", "result = x * x  # [[99/01]]", ":14: [[…]] is filled in where a text is read: not in code"),
        ("Because the derivative", "By [[99/01]] the derivative", "not in code, nor in an answer"),
    ],
    "promises": [
        ("# A toy.", "# Cubes (chapter 98, coming).", ":1: write [[07/02]], and the build says whether that"),
        ("# A toy.", "# The notebook on cubes is not yet written.", ":1: write [[07/02]], and the build says"),
    ],
    "plan": [('covers="wu:1.1"', "", ":1: no cell covers the planned wu:1.1")],
    "list": [("# # Squares", "# # Cubes", "notebooks.tsv:2: it says 'Squares' where the master says 'Cubes'")],
    "specified": [('# %% exercise="square"', '# %% exercise="sq"', "exercise 'sq' has no specification"),
                  ('# %% exercise="square"', '# %% exercise="sq"', "specification 'square' has no exercise")],
}  # fmt: skip
SLIPS_OF_THE_SPECIFICATION = {
    "known answers": [
        (
            '@square.wrong("a column", advice="Look at the shape.")',
            "",
            "2 wrong answers, at least 3",
        ),
        ('@square.right("as a list")', "", "no right answer written another way"),
        ('advice="Add or multiply?"', 'advice=""', "wrong answer 'doubles' has no advice"),
        ('"Think.", ', "", "2 hints, 3 are needed"),
        ('"in place"', '"doubles"', "two wrong answers have the same name"),
        ("@square.cases", "", "it has no cases"),
    ],
    "hints": [
        ("Times itself.", "result = x * x; return result", "a hint holds the whole solution")
    ],
}
# Rule -> (file, its new content or None where it is removed, what is told).
SLIPS_OF_FILES = {
    "glossary": [(WORDS, f"word\tnotebook\texercise\nsquare\t{NOTEBOOK}\tsqare\n",
                  "glossary.tsv:2: 'square' is computed in 'sqare', which is no exercise there")],
    "list": [(NOTEBOOKS, "notebook\ttitle\n", "notebooks.tsv:1: it lacks the line '99_toy/01_square'")],
    "tables": [(CHAPTERS, "[99_toy", "chapters.toml:1: it is no TOML")],
    "chapter": [(CHAPTERS, "", '["99_toy"] lacks about, able, before'),
                (CHAPTERS, '[99_toy]\nabout = "x"\nable = ["x"]\n', '["99_toy"] lacks before')],
    "specification": [(SPEC_FILE, None, "exercises.py:1: missing")],
    "folder": [(STRAY, "1,2", "notes.csv:1: only .py files lie here")],
    "tests": [(TESTS, None, "test_square.py:1: missing")],
    "compared": [(BUILT, '{"cells": [{"outputs": [{"text": ["a", "b"]}]}, {}]}', ":1: 1 outputs that tests compare")],
}  # fmt: skip


def one_each(slips):
    return [(rule, *slip) for rule, several in slips.items() for slip in several]


def require(rule, message):
    found = findings()
    assert any(message in one and one.endswith(f"[{rule}]") for one in found), found


@pytest.mark.parametrize(("rule", "old", "new", "message"), one_each(SLIPS))
def test_a_slip_in_the_master_is_named_with_its_line(proper, rule, old, new, message):
    assert old in FULL
    (proper / MASTER_FILE).write_text(FULL.replace(old, new, 1))
    require(rule, message)


@pytest.mark.parametrize(("rule", "old", "new", "message"), one_each(SLIPS_OF_THE_SPECIFICATION))
def test_a_slip_in_the_specification_is_named(proper, rule, old, new, message):
    assert old in EXERCISES
    (proper / SPEC_FILE).write_text(EXERCISES.replace(old, new, 1))
    require(rule, f"exercises.py:4: square: {message}")


@pytest.mark.parametrize(("rule", "name", "content", "message"), one_each(SLIPS_OF_FILES))
def test_a_slip_in_the_files_is_named(proper, rule, name, content, message):
    (proper / name).write_text(content) if content is not None else (proper / name).unlink()
    require(rule, message)


def test_a_notebook_without_a_plan_is_named(proper, monkeypatch):
    monkeypatch.setattr(masters, "sections", lambda: {"cs480:1": ("", ""), "wu:1.1": ("", "")})
    require("plan", ":1: solutions/sections.tsv plans no section for it")


def as_project(root, name, text=FULL):
    """What the rules that are for projects alone say of the toy under another name."""
    path = root / "solutions" / name / "notebook.py"
    path.parent.mkdir()
    path.write_text(text)
    rules = [rule for rule in form.RULES if rule.name in ("project", "worth")]
    return [str(finding) for finding in form.findings(Draft(masters.read(name)), rules)]


def test_a_project_comes_last_and_has_a_written_answer(proper):
    (early,) = as_project(proper, "99_toy/00_project")[:-1]
    assert early.endswith("99_toy/01_square comes later [project]")
    (unwritten,) = as_project(proper, "99_toy/02_project", FULL.replace(WRITTEN, ""))[:-1]
    assert "a project needs a written answer" in unwritten


def test_a_project_judges_by_what_a_choice_is_worth(proper):
    (told,) = as_project(proper, "99_toy/02_project")
    assert "no answer of this project is judged by what a choice is worth" in told
    worth = EXERCISES.replace('"square", ref', '"square", compare=explains(0.5), ref')
    (proper / SPEC_FILE).write_text("from descent.compare import explains\n" + worth)
    assert as_project(proper, "99_toy/03_project") == []


def test_every_rule_is_seen_broken_here():
    broken = {*SLIPS, *SLIPS_OF_THE_SPECIFICATION, *SLIPS_OF_FILES, "project", "worth"}
    elsewhere = {*test_form_parts.SLIPS, "worked"}  # which test_worked breaks
    assert broken | elsewhere == {rule.name for rule in form.RULES} and not broken & elsewhere


def test_lines_are_right_below_a_first_comment(proper):
    (proper / MASTER_FILE).write_text("# A comment.\n\n" + FULL.replace("points=3", "points=0", 1))
    require("points", ":16: points are missing")


def test_try_tells_form_first_then_proves(proper, capsys):
    (proper / MASTER_FILE).write_text(FULL.replace('"""x (n,) -> (n,)."""', "", 1))
    (proper / SPEC_FILE).write_text(EXERCISES.replace("return 2 * x", "return x**2", 1))
    assert trying.main([NOTEBOOK]) == 1
    told = capsys.readouterr().out.splitlines()
    (form_told,) = (n for n, line in enumerate(told) if line.endswith("[docstring]"))
    proven = "square: public cases: wrong answer 'doubles' passes: add a case that it fails"
    assert told[form_told].startswith(f"{MASTER_FILE}:14: ") and form_told < told.index(proven)
    assert told[-1].endswith("findings.")


def test_try_says_where_a_specification_breaks(proper, capsys):
    (proper / SPEC_FILE).write_text("import numpy as np\n\nnp.nothing\n")
    assert trying.main([NOTEBOOK]) == 1
    told = capsys.readouterr().out
    assert "exercises.py:3: AttributeError: module 'numpy' has no attribute 'nothing'" in told


@pytest.mark.parametrize("name, content", [(CHAPTERS, ""), (STRAY, "1,2")])
def test_the_build_refuses_what_it_could_not_use(proper, name, content, capsys):
    (proper / name).write_text(content)
    assert build.main([NOTEBOOK]) == 1
    assert Path(name).name in capsys.readouterr().err
    assert not any(path.exists() for path in build.built_files(NOTEBOOK).values())


def test_the_rules_of_the_text_are_read_without_torch():
    """It takes seconds to load, and these findings are promised within one."""
    script = (
        "import sys; from autograder.building import form, masters, draft; "
        f"found = list(form.findings(draft.Draft(masters.read({REAL!r})), form.OF_THE_TEXT)); "
        "print(found, 'torch' in sys.modules, 'lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[] False False\n", done.stderr

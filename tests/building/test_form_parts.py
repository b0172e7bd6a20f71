"""Rules on the parts of a notebook are seen broken once, in a toy notebook that keeps all rules."""

import pytest

from autograder.building import form, masters
from autograder.building.draft import Draft
from tests.building import toy_proper as toy
from tests.building.toy import MASTER_FILE, NOTEBOOK, PICTURES_FILE, SPEC_FILE


@pytest.fixture
def proper(toy_course, monkeypatch):
    """The toy project with a notebook that breaks no rule."""
    plan = {"cs480:1": ("Numbers", NOTEBOOK), "wu:1.1": ("Squares", NOTEBOOK)}
    monkeypatch.setattr(masters, "sections", lambda: plan)
    (toy_course / MASTER_FILE).write_text(toy.MASTER)
    (toy_course / SPEC_FILE).write_text(toy.EXERCISES)
    (toy_course / PICTURES_FILE).write_text(toy.PICTURES)
    tests = toy_course / "tests/notebooks/toy/test_square.py"
    tests.parent.mkdir(parents=True)
    tests.touch()
    return toy_course


def findings():
    return [str(finding) for finding in form.findings(Draft(masters.read(NOTEBOOK)))]


def test_the_toy_breaks_no_rule(proper):
    assert findings() == []


EMPTY = "\n# %% [markdown]\n# Nothing.\n"
TEXT = "\n# %% [markdown]\n# " + "word " * 130 + "\n"
LONG = "\n# %%\n# Long.\n" + "x = 1\n" * 250
ELEVEN = "".join(toy.exercise(name, 11) for name in ("square", "cube", "root", "fifth"))
SMALL = "".join(toy.exercise(name, 2) for name in ("half", "third", "fourth"))
MADE = "\n# %%\n# Made.\nwith after(square):\n    made = 1\n"
EXPLORED = 'explore(draw, drag={("a", "b"): "start"}, a=a, b=b)\n'
LAMBDA = EXPLORED.replace("(draw", "(lambda a, b: draw(rows[0], b)")
LATER = "\n# %%\n# Something else.\n{}\n"
# Rule -> slips: (what the author changed from, to, what is told).
SLIPS = {
    "bound": [(EXPLORED, LAMBDA + LATER.format("rows = [2]"), "draws uses rows, which line 1")],
    "behind": [
        (toy.TAKE_AWAYS, MADE + LATER.format("print(made)") + toy.TAKE_AWAYS, "made is made only after square"),
    ],
    "counted": [
        ("builds", "minutes=60 builds", ":1: minutes=…: they are counted"),
        ("difficulty=1", "difficulty=1 minutes=9", ":17: minutes=…: they are counted"),
    ],
    "order": [(toy.TAKE_AWAYS, toy.DEEPER + toy.TAKE_AWAYS, "a section of the core below one of the deeper")],
    "take-aways": [("# ## Take-aways", "# ## The end", "the core's last cell begins with '## Take-aways'")],
    "core": [
        (toy.TAKE_AWAYS, 22 * EMPTY + toy.TAKE_AWAYS, ":1: the core has 36 cells: at most 35"),
        (toy.TAKE_AWAYS, 17 * TEXT + toy.TAKE_AWAYS, "words: at most 2200 are wanted"),
        (toy.TAKE_AWAYS, LONG + toy.TAKE_AWAYS, "lines of code that the student does not write: at most 250"),
    ],
    "words": [("# It is.", "# It is. " + "word " * 128, "134 words: at most 130 in a cell")],
    "time": [
        ("difficulty=1", "difficulty=4", ":1: the core takes 85 minutes: at most 60"),
        ("difficulty=2", "difficulty=10", ":1: the deeper takes 50 minutes: at most 45"),
    ],
    "built": [
        (toy.ROOT, "", ":1: the student writes 28 statements in the core: at least 40"),
        (toy.MASTER, toy.MASTER.replace(toy.SQUARE + toy.FOLDED, ELEVEN + toy.FOLDED)
            .replace(toy.CUBE, "").replace(toy.ROOT, ""), "the largest answer has 11 statements: a build of 12"),
    ],
    "small": [(toy.HALF, SMALL, "another answer of 2 statements: at most 2 so small")],
    "folded": [("# The curve: every", "tick = 1  # The curve: every", "it opens folded: its first line must be")],
    "open": [("    print(row)\n", "    print(row)\n" * 10, "an open cell of 11 lines: at most 10")],
    "claims": [("show(*draw(2.0))", "show(*draw(2.0))\nassert True", "a bare assert proves in silence")],
    "asked": [
        ('predict="grows" minutes=1', "", 'predict(…) needs a cell of its own with a header # %% predict="name"'),
        ('predict="grows" minutes', 'predict="It grows" minutes', "write a name of small letters, digits and hyphens"),
        ('predict="again" minutes', 'predict="grows" minutes', "the prediction 'grows' appears twice"),
        ('predict("grows", ', 'x = predict("grows", ', "it holds more or less than the one call"),
        ('predict("grows", "Does', 'predict("Does', "give name, question and options"),
        ("truth=int(1 > 2)", "truth=right", "a name gives it away above"),
        ('because="It rises."', "because=reason", "a name gives the reason away above"),
        ("truth=int(1 > 2)", "truth=(right := int(1 > 2))", "so it defines none"),
    ],
    "quoted": [
        ('quote="$1=2$"', 'printed="$1=2$"', "erratum('cs480:1'): give quote= as literal text; the quote stands"),
        ('quote="$1=2$"', "quote=str(1)", "give quote= as literal text"),
        (', corrected="$1=1$"', "", "give corrected= as literal text"),
        ('erratum(\n    "cs480:1"', 'erratum(\n    "cs480:9"', "erratum('cs480:9'): no such lecture section"),
        ("$1=2$", "$1=2$ " + "word " * 25, "a quote of 26 words: at most 25"),
        (" decoy_holds=1 == 3,", "", "kind 'error' needs decoy_holds=…"),
        ("decoy_holds=1 == 3", 'decoy_holds=1 == 3, kind="typo"', "kind 'typo' is none of error, broad"),
        ("printed_holds=1 == 2", "printed_holds=False", "printed_holds is written down: compute it"),
    ],
    "errata": [
        (toy.DEEPER, 3 * toy.ERRATUM + toy.DEEPER, "another erratum in the midst: at most 2 that teach"),
        (toy.NOTES, "", "a notebook with errata ends with the section '## Where the notes differ'"),
    ],
    "solution": [("show, solution, start", "show, start", ":6: the first code cell must import solution (`from")],
    "grabbed": [("drag={", "grab={", ":1: no picture is grabbed or played")],
}  # fmt: skip
SLIPS_OF_THE_SPECIFICATION = {
    "worked": [("square.worked(", "dict(", 'square: say why its solution works: square.worked(why="…")')],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "old", "new", "message"),
    [(r, *slip) for r, several in SLIPS.items() for slip in several],
)
def test_a_slip_is_named_with_its_line(proper, rule, old, new, message):
    assert old in toy.MASTER
    (proper / MASTER_FILE).write_text(toy.MASTER.replace(old, new, 1))
    found = findings()
    assert any(message in one and one.endswith(f"[{rule}]") for one in found), found


def test_two_errata_may_stand_where_they_teach_and_a_convention_needs_no_proof(proper):
    plain = 'erratum("wu:1.1", quote="n", corrected="m", kind="convention")\n'
    told = toy.ERRATUM + "\n# %%\n# A convention.\n" + plain
    (proper / MASTER_FILE).write_text(toy.MASTER.replace(toy.TAKE_AWAYS, told + toy.TAKE_AWAYS))
    assert findings() == []


@pytest.mark.parametrize(
    ("rule", "old", "new", "message"),
    [(r, *slip) for r, several in SLIPS_OF_THE_SPECIFICATION.items() for slip in several],
)
def test_a_slip_in_the_specification_is_named(proper, rule, old, new, message):
    assert old in toy.EXERCISES
    (proper / SPEC_FILE).write_text(toy.EXERCISES.replace(old, new, 1))
    (found,) = findings()
    assert f"exercises.py:4: {message}" in found and found.endswith(f"[{rule}]")


def test_an_exercise_needs_its_difficulty(proper):
    (proper / MASTER_FILE).write_text(toy.MASTER.replace(" difficulty=1", "", 1))
    assert any(":17: difficulty is missing" in one for one in findings())


@pytest.mark.parametrize(
    ("name", "above", "message"),
    [
        ("grows", True, ":45: after('grows'): the prediction stands below: move this cell down"),
        ("shrinks", False, ":48: after('shrinks'): 'shrinks' is no prediction of this notebook"),
    ],
)
def test_a_block_waits_for_a_prediction_above_it(proper, name, above, message):
    block = f'\n# %%\n# It grows.\nwith after("{name}"):\n    pass\n'
    cells = block + toy.PREDICTED if above else toy.PREDICTED + block
    (proper / MASTER_FILE).write_text(toy.MASTER.replace(toy.PREDICTED, cells, 1))
    (found,) = findings()
    assert message in found and found.endswith("[after]")


DRAWN = "def drawn(a, b):\n    rest = rows[1:]\n    return draw(rest[0], b)\n\n\n"


@pytest.mark.parametrize(
    ("explored", "later", "broken"),
    [
        (LAMBDA, "for rows in [1]:\n    pass", True),
        (LAMBDA, "with after(square):\n    rows, more = 1, 2", True),
        (LAMBDA, "def rows():\n    pass", True),
        (DRAWN + EXPLORED.replace("(draw", "(drawn"), "rows = 1", True),
        (DRAWN + EXPLORED.replace("(draw", "(drawn"), "rest = 1", False),
        (LAMBDA, "print([rows for rows in range(3)], lambda rows: 1)", False),
        (LAMBDA, "def other():\n    rows = 1", False),
        (LAMBDA.replace("a, b:", "a, b, rows=rows:"), "rows = 1", False),
        (LAMBDA, "print(rows)", False),
    ],
)
def test_names_that_a_widget_still_needs_stay_what_they_are(proper, explored, later, broken):
    text = toy.MASTER.replace(EXPLORED, explored + LATER.format(later))
    (proper / MASTER_FILE).write_text(text)
    assert any(one.endswith("[bound]") for one in findings()) == broken


@pytest.mark.parametrize(
    ("later", "broken"),
    [
        ("with after(cube):\n    print(made)", True),
        ("with after(cube, square):\n    print(made)", False),
        ("with after(cube):\n    made = 2\n    print(made)", False),
        ("print([made for made in range(3)], lambda made: made)", False),
        ("made = 3\nprint(made)", False),
    ],
)
def test_a_block_waits_for_all_that_made_its_names(proper, later, broken):
    text = toy.MASTER.replace(toy.TAKE_AWAYS, MADE + LATER.format(later) + toy.TAKE_AWAYS)
    (proper / MASTER_FILE).write_text(text)
    assert any(one.endswith("[behind]") for one in findings()) == broken

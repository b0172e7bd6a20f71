"""The instructor's report: right numbers, said with how sure one can be; nobody recognised in an example; no markup of
a student's."""

import ast
import json
import re

import pytest

from autograder.grading import verdicts
from autograder.grading.verdicts import Graded, Submission, Written
from autograder.results import looks, report, similar, statistics
from autograder.results.answers import Answer, parse
from autograder.results.examples import Examples
from autograder.workspace import VARIABLE, Workspace
from descent import session

CHAPTER = "03_optimisation"
NOTEBOOK = f"{CHAPTER}/01_gradient_descent"


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return Workspace(tmp_path)


def graded(exercise, kind, points, **more):
    return Graded(exercise, NOTEBOOK, kind, points, 2.0, "the secret evidence", **more)


def submission(student, *graded, **more):
    return Submission(CHAPTER, student, verdicts=list(graded), **more)


UPHILL = dict(mistake="steps uphill", advice="Which sign?", problem="a: the secret problem")
CLASS = [
    submission("ada", graded("gd", "full", 2.0, worked=600), graded("step", "full", 2.0)),
    submission(
        "bob", graded("gd", "wrong", 0.0, worked=1800, **UPHILL), graded("step", "unsolved", 0.0)
    ),
    submission(
        "<b>eve</b>",
        graded("gd", "wrong", 0.0, **UPHILL, restored=True),
        graded("step", "timeout", 0.0),
        look=True,
        notes=["<script>x</script>"],
    ),
]


def test_the_page_tells_what_the_class_did(space):
    page, _ = report.make(space, CHAPTER, CLASS)
    assert "Median 0 of 4 points, lowest 0, highest 4." in page
    assert "Hardest: gd, solved by 1 of the 3 who tried." in page
    flat = re.sub(r"\s+", " ", page)
    assert "1 of 2 = 50 % <br><span" in flat  # step: bob did not try
    assert "<b>steps uphill</b><br>Which sign?" in page
    assert len(re.findall(r'<img [^>]*alt="[^"]{20,}"', page)) == 2
    assert page.count("fewer than 20 students") == 2  # no correlation of three students
    assert "secret" not in page  # what a verdict says of a hidden case is for its student


def test_guesses_are_counted_by_option_and_what_is_no_option_is_left_out(space):
    asked = session.check_data(NOTEBOOK)["predictions"]["straight-ahead"]
    right, other = asked["options"][1], asked["options"][0]
    name = f"{NOTEBOOK}/straight-ahead"
    made = {"ada": right, "bob": right, "eve": other, "kay": "<b>else</b>", "liz": None}
    class_ = [
        submission(who, graded("gd", "full", 2.0), guesses={name: guess} if guess else {})
        for who, guess in made.items()
    ]
    page, _ = report.make(space, CHAPTER, class_)
    flat = re.sub(r"\s+", " ", page.partition("<h2>Predictions</h2>")[2])
    assert f'<td class="n">3</td> <td>1 × {other}<br>2 × ✓ {right}' in flat
    assert "else" not in flat and flat.count('<td class="n">3</td>') == 1
    page, _ = report.make(space, CHAPTER, CLASS)
    assert "<h2>Predictions</h2>" not in page


def test_who_took_hints_or_saw_a_worked_answer_first_is_counted(space):
    class_ = [
        submission(
            name, graded("gd", "full", 2.0, seen=seen, hints=hints), graded("step", "full", 2.0)
        )
        for name, seen, hints in (("ada", True, 3), ("bob", True, 3), ("eve", False, 1))
    ]
    page, _ = report.make(space, CHAPTER, class_)
    table = page[page.index('aria-label="Table of exercises"') :]
    last = [row.split("<td")[-2:] for row in table.split("</tr>") if 'scope="row"' in row]
    assert last[:2] == [[' class="n">3</td>', ' class="n">2</td>'], [' class="n"></td>'] * 2]


def test_what_does_not_count_is_in_no_sum_and_said(space):
    (space.folder / "policy.toml").write_text(f'drop = ["{NOTEBOOK}/step"]')
    page, _ = report.make(space, CHAPTER, CLASS)
    assert "Median 0 of 2 points, lowest 0, highest 2." in page
    flat = re.sub(r"\s+", " ", page)
    assert "Left out here, and shown below: <code>step</code>, which does not count." in flat
    assert '<code>step</code><br><span class="quiet">does not count' in page
    assert "<code>gd</code><br>" not in page


def test_what_is_deeper_is_said(space, monkeypatch):
    monkeypatch.setattr(
        report.policy, "parts", lambda space, chapter: {f"{NOTEBOOK}/step": "deeper"}
    )
    page, _ = report.make(space, CHAPTER, CLASS)
    assert page.count(">deeper</span>") == 1
    assert '<code>step</code><br><span class="quiet">deeper' in page


def test_what_a_person_should_look_at_is_said_with_its_reason(space):
    how = "found by its nbgrader id"
    fate = f"{how}; tampered and restored: its check cell was edited"
    sure, unsure = "found by its place (confidence 95 %)", "found by its place (confidence 70 %)"
    class_ = [
        submission("fine", graded("gd", "full", 2.0, how=sure), notes=["from Fine (Moodle 7)"]),
        submission(
            "edited",
            *(graded(name, "full", 2.0, how=fate, restored=True) for name in ("gd", "step")),
        ),
        submission(
            "other", graded("gd", "full", 2.0), notes=["its file is named for 'ada', taken"]
        ),
        submission(
            "unsure",
            graded("gd", "full", 2.0, how=unsure),
            written=[Written("why", NOTEBOOK, 2.0, True, "found by likeness (confidence 62%)")],
        ),
        submission("forger", Graded("gd", NOTEBOOK, "output", 0.0, 2.0, "It wrote."), look=True),
        submission("odd", graded("gd", "full", 2.0), look=True),
    ]
    assert {s.student: looks.reasons(s) for s in class_} == {
        "fine": [],
        "edited": ["the check cell was edited, and the course's own was used: gd, step"],
        "other": ["its file is named for 'ada', taken"],
        "unsure": [
            "gd was found by its place (confidence 70 %)",
            "why was found by likeness (confidence 62%)",
        ],
        "forger": ["It wrote."],
        "odd": ["see the verdicts"],
    }
    page, _ = report.make(space, CHAPTER, class_)
    assert '<a href="#looks">5 submissions worth a look</a>' in page
    assert '<th scope="row">edited</th><td>the check cell was edited, and' in page
    assert '<th scope="row">fine</th>' not in page


def test_one_student_is_no_students(space):
    page, _ = report.make(space, CHAPTER, CLASS[:1])
    assert f"{CHAPTER}: 1 student</h1>" in page and "as 1 student can tell" in page


def test_nothing_of_a_student_becomes_markup_and_nothing_loads(space):
    for page in report.make(space, CHAPTER, CLASS):
        assert "<script" not in page and "<b>eve" not in page
        assert "default-src &#39;none&#39;" in page
        assert not re.search(r'(src|href)="(?!data:|#|03_optimisation-alike)', page)
    assert "&lt;b&gt;eve" in report.make(space, CHAPTER, CLASS)[0]


def test_a_chapter_of_written_answers_alone_has_a_page(space):
    page, _ = report.make(space, "16_ethics", [Submission("16_ethics", "ada")])
    assert "No exercise is graded automatically." in page


def test_the_report_is_written_where_the_workspace_is(space, capsys):
    assert report.main(["02_optimisation"]) == 2
    told = "no released chapter '02_optimisation'. There are: 03_optimisation, "
    assert told in capsys.readouterr().err
    assert report.main([CHAPTER]) == 2
    assert f"run `autograder grade {CHAPTER}`" in capsys.readouterr().err
    for one in CLASS[:2]:
        verdicts.save(space, one)
    assert report.main([CHAPTER]) == 0
    assert "Report on 2 students: " in capsys.readouterr().out
    for name in (f"{CHAPTER}.html", f"{CHAPTER}-alike.html"):
        assert (space.folder / "reports" / name).read_text().startswith("<!doctype html>")


def test_time_verdicts_and_restored_checks_are_counted():
    gd, step = statistics.items(CLASS)
    assert gd.minutes == (15, 20, 25)  # eve recorded none
    assert gd.kinds == {"full": 1, "wrong": 2} and gd.restored == 1
    assert (step.tried, step.solved, step.students) == (2, 1, 3)


def test_the_interval_is_wilsons():
    # Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for hits, of, low, high in [
        (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
    ]:  # fmt: skip
        assert statistics.wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


def a_class(size, points):
    """points(number) -> the points of student `number` in the exercises a, b and c."""
    return [
        submission(
            f"s{n}",
            *(graded(name, "full" if p == 2 else "wrong", p) for name, p in zip("abc", points(n), strict=True)),
        )
        for n in range(size)
    ]  # fmt: skip


def test_hard_easy_and_telling_are_said_only_where_the_whole_interval_agrees():
    def half(n):
        return 2.0 * (n % 2)

    a, b, c = statistics.items(a_class(150, lambda n: (half(n), half(n), 2.0 * (n < 30))))
    assert a.correlation > 0.7 and a.words == []
    hard, telling = c.words
    assert hard.startswith("hard:") and "no better here" in telling
    small = statistics.items(a_class(5, lambda n: (0.0, 2.0, half(n))))
    assert [item.words for item in small] == [
        ["hard: fewer than half of those who tried solve it"],
        [],
        [],
    ]
    (easy, *_) = statistics.items(a_class(60, lambda n: (2.0, half(n), half(n))))
    assert easy.words == ["easy: more than nine in ten of those who tried solve it"]
    assert easy.why_no_correlation == "all got the same"


def answer(student, source, exercise="gd"):
    return Answer(student, NOTEBOOK, exercise, source, ast.parse(source))


TELLING = '''
def gd(grad, x):
    """By Ada Lovelace, 1234567."""
    lovelace_step = 1234567  # ada@example.org
    note = "call me at 555"
    for k in range(3):
        x = x + lovelace_step * np.einsum("i->i", grad(x))
    return x
'''


def test_nobody_is_recognised_in_an_example():
    plain = "def gd(grad, x):\n    for k in range(3):\n        x = x + grad(x)\n    return x"
    mine = "def gd(grad, x):\n    ada_says = 1\n    return x"
    class_ = [
        answer("ada", TELLING),
        answer("bob", plain),
        answer("cyd", mine),
        answer("dee", mine),
    ]
    (shown,) = Examples(class_).of([("ada", NOTEBOOK, "gd")])
    assert not re.search("ada|lovelace|1234567|555|example.org", shown, re.I)
    assert "for k in range(3):" in shown and "np.einsum('…', grad(x))" in shown.replace(
        "name3", "np"
    )
    (shown,) = Examples(class_).of([("cyd", NOTEBOOK, "gd")])
    assert "name1 = 1" in shown  # two students use the word, but it holds the id of a third


def test_the_examples_are_the_two_most_frequent_ways():
    ways = ["x = x + 1", "x += 1", "x = 1 + x"]
    class_ = [
        answer(f"s{n}", f"def gd(x):\n    {ways[n % 3 if n < 6 else 2]}  # {n}\n    return x") for n in range(9)
    ]  # fmt: skip
    shown = Examples(class_).of([(a.student, NOTEBOOK, "gd") for a in class_])
    assert len(shown) == 2 and "1 + x" in shown[0]


def test_examples_and_pairs_reach_the_pages_from_the_autograded_notebooks(space):
    wrong = "def gd(grad, x):\n    # mine\n    return x + grad(x)\n"
    cell = {"cell_type": "code", "source": wrong, "metadata": {"nbgrader": {"solution": True}}}
    path = space.autograded(CHAPTER, "bob") / "01_gradient_descent.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": [cell]}))
    page, alike = report.make(space, CHAPTER, CLASS)
    assert "An example" in page and "mine" not in page
    assert "No two students have answers that are alike" in alike


def test_a_hostile_answer_ends_no_report():
    sources = ["(" * 900, "-" * 15_000 + "x", "x = " + "[" * 150 + "]" * 150, "\0", "a" * 30_000]
    for tree in filter(None, map(parse, sources)):
        assert isinstance(Examples([]).anonymous(tree), str)
        assert isinstance(similar.runs(tree), dict)


USES = {
    "import os\ndef gd():\n    os.system('ls')": "gd uses os.system",
    "def gd():\n    from os import popen, path\n    return popen('ls')": "gd uses os.popen",
    "import subprocess as s, numpy": "gd uses subprocess",
    "from urllib.request import urlopen": "gd uses urllib.request",
    "def gd(x):\n    return eval('x') + open('a').read()": "gd uses eval, open",
    "import os\ndef gd(x):\n    return os.path.join(x.eval(), x.system)": "",
    "import numpy as np\ndef gd(x):\n    return np.linalg.solve(x, x)": "",
}


@pytest.mark.parametrize("source", USES)
def test_what_no_exercise_asks_for_is_worth_a_look(source):
    answer = Answer("ada", NOTEBOOK, "gd", source, parse(source))
    assert looks.calls([answer]) == ({"ada": [USES[source]]} if USES[source] else {})

"""`check`, `hint` and `after`, as a student calls them."""

import pytest

from descent import check, hint, records, session
from descent.checking import Score, is_solved

STUB = "def double(x):\n    raise NotImplementedError"
RIGHT = "def double(x):\n    return x + x"
BLOCK = "with after(double):\n    made = double(2)"


def double(x):
    return 2 * x


def test_a_right_answer_scores_all_points(toy, capsys):
    score = check(double)
    assert isinstance(score, Score) and score == 2 and repr(score) == "2.0"
    assert "✓ double: solved, 2 of 2 points" in capsys.readouterr().out


def test_a_wrong_answer_is_told_what_was_expected_and_named(toy, capsys):
    def double(x):
        return x**2

    assert check(double) == 0  # zero squared is zero, but so is whatever is handed back
    told = capsys.readouterr().out
    assert "This may be a known mistake: it squares. Twice, or to the second power?" in told
    assert "so it counts only together with other properties" in told
    assert "expected" in told and "got" in told and "tried with" in told


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("np = 3", "np is an int now, not numpy. Run the notebook's first code cell again."),
        ("import math as np; torch = 3", "np is a module now, not numpy. torch is an int now"),
        ("import numpy as np; unknown = 1", ""),
    ],
)
def test_a_library_s_name_that_means_something_else_is_told(toy, capsys, cell, words):
    names = {}
    exec(f"{cell}\ndef double(x): return np.added(x, x)", names)
    assert check(names["double"]) == 0
    told = capsys.readouterr().out
    assert words in told and ("first code cell" in told) == bool(words)


def test_it_is_told_of_a_class_too(toy, monkeypatch, capsys):
    import __main__

    class double:  # noqa: N801
        def __init__(self, x):
            raise AttributeError("what np should have")

    monkeypatch.setattr(__main__, "np", None, raising=False)
    check(double)
    assert "np is None now, not numpy." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("def double(x):\n    return x +", True),  # cannot be read
        ("undefined\ndef double(x):\n    return 3 * x", True),
        ("def doubles(x):\n    return 3 * x\nundefined", False),
        ("def double(x):\n    return 2 * x\nundefined", False),  # defined before the error
        (RIGHT, False),
    ],
)
def test_an_answer_of_an_earlier_run_is_told(toy, shell, capsys, newer, older):
    shell.run_cell("from descent import check, start; start('99_toy/01_double')")
    for cell in (RIGHT, "other = 1", newer, "score = check(double)"):
        shell.run_cell(cell, store_history=True)
    told = shell.user_ns["score"]._repr_html_()
    assert ("the answer of an earlier run" in told) == older


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([("a", RIGHT), ("a", "def twice(x):\n    return 2 * x")], "It defines twice now"),
        ([("a", RIGHT), ("a", "def twice(x):\n    return 2 * x"), ("a", RIGHT)], ""),
        ([("a", RIGHT), ("b", "def twice(x):\n    return 2 * x")], ""),
        ([("a", RIGHT), ("b", RIGHT), ("a", "def twice(x):\n    return x")], ""),
        ([("a", RIGHT), ("a", "double(2)")], ""),
        ([("a", RIGHT), ("a", RIGHT + "\ndef twice(x):\n    return x")], ""),
    ],
)
def test_a_renamed_answer_is_told(toy, shell, runs, told):
    shell.run_cell("from descent import check, start; start('99_toy/01_double')")
    for cell, text in [*runs, ("c", "score = check(double)")]:
        shell.run_cell(text, store_history=True, cell_id=cell)
    card = shell.user_ns["score"]._repr_html_()
    assert (told in card) if told else ("Judged is" not in card)


def test_an_answer_under_another_name_is_found(toy, monkeypatch, capsys):
    import __main__

    monkeypatch.setattr(__main__, "double", lambda x: 2 * x, raising=False)
    assert check(__main__.double) == 2


class Hostile:
    def __getattr__(self, name):
        raise RuntimeError("keep out")


@pytest.mark.parametrize(
    ("strange", "told"),
    [
        (
            3,
            "Name the function itself, without quotes or parentheses, for example double. This is an",
        ),
        ("double", "Name the function itself"),
        (None, "Name the function itself"),
        (len, "This notebook has no exercise named 'len'. Its exercises: double."),
        (Hostile(), "The check itself failed (RuntimeError: keep out)"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_check_never_raises(toy, strange, told, capsys):
    assert check(strange) == 0
    assert told in capsys.readouterr().out


def test_a_name_that_became_a_number_is_told(toy, monkeypatch, capsys):
    import __main__

    monkeypatch.setattr(__main__, "double", 5, raising=False)
    assert check(__main__.double) == 0
    assert "double is an int now, not a function. Run its cell again" in capsys.readouterr().out


def test_check_before_start_says_what_to_do(toy, monkeypatch, capsys):
    monkeypatch.setattr(session, "current", session.Session())
    assert check(double) == 0
    assert "Run the notebook's first code cell" in capsys.readouterr().out


def test_check_prints_nothing_to_stderr(toy, capsys):
    def double(x):
        import sys

        print("noise", file=sys.stderr)
        raise ValueError("bad")

    check(double)
    assert capsys.readouterr().err == ""


def test_hints_come_one_a_call_and_are_remembered(toy, capsys):
    hint(double)
    first = capsys.readouterr().out
    assert "One." in first and "Two." not in first
    hint(double)
    hint(double)
    hint(double)
    assert "Three." in capsys.readouterr().out
    assert records.read()["99_toy/01_double"]["exercises"]["double"]["hints"] == 3


def test_in_the_grading_sandbox_check_says_nothing(toy, monkeypatch, capsys):
    monkeypatch.setenv("DESCENT_GRADING", "1")
    assert check(double) == 0 and capsys.readouterr().out == ""


def test_solved_is_about_this_very_answer(toy, capsys):
    assert is_solved(double)

    def wrong(x):
        return x

    wrong.__name__ = "double"
    assert not is_solved(wrong)


def test_a_block_after_an_unsolved_exercise_is_skipped(shell):
    shell.run_cell(STUB).raise_error()
    shell.run_cell("from descent import after\nmade = None").raise_error()
    shell.run_cell(BLOCK).raise_error()
    assert shell.user_ns["made"] is None
    page = shell.shown[-1]["data"]["text/html"]
    assert "This cell runs once <code>double</code> is solved." in page


def test_a_block_after_a_solved_exercise_runs(shell):
    for cell in (RIGHT, "from descent import after", BLOCK):
        shell.run_cell(cell).raise_error()
    assert shell.user_ns["made"] == 4


def test_an_error_in_a_solved_block_is_an_error(shell):
    shell.run_cell(RIGHT)
    shell.run_cell("from descent import after")
    result = shell.run_cell("with after(double):\n    1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)


def test_other_with_statements_are_left_alone(shell, tmp_path):
    (tmp_path / "text").write_text("hello")
    shell.run_cell(
        f"with open({str(tmp_path / 'text')!r}) as file:\n    text = file.read()"
    ).raise_error()
    assert shell.user_ns["text"] == "hello"


def test_the_card_is_html_in_a_notebook(shell):
    shell.run_cell(RIGHT)
    score = shell.run_cell("from descent import check\ncheck(double)").result
    assert 'role="status"' in score._repr_html_() and "✓" in score._repr_html_()


def test_the_students_line_is_shown_not_ours(shell):
    shell.run_cell("def double(x):\n    wrong_name\n")
    card = shell.run_cell("from descent import check\ncheck(double)").result._repr_html_()
    assert "in line 2, `wrong_name`" in card and "running.py" not in card


def test_a_students_text_cannot_become_markup(shell):
    shell.run_cell("def double(x):\n    print('<script>x</script>')\n    return '<b>2</b>'")
    card = shell.run_cell("from descent import check\ncheck(double)").result._repr_html_()
    assert "<script>" not in card and "<b>2</b>" not in card


def test_a_block_inside_another_is_skipped_too(shell):
    shell.run_cell(RIGHT)
    shell.run_cell("def other(x):\n    raise NotImplementedError")
    shell.run_cell("from descent import after\nmade = []")
    nested = (
        "with after(double):\n    made.append(1)\n    with after(other):\n        made.append(2)"
    )
    shell.run_cell(nested).raise_error()
    assert shell.user_ns["made"] == [1]
    shell.run_cell(f"%%time\n{nested}").raise_error()
    assert shell.user_ns["made"] == [1, 1]


def test_a_block_runs_once_what_its_answer_calls_is_mended(shell):
    shell.run_cell("from descent import after")
    shell.run_cell("def twice(x):\n    return x\ndef double(x):\n    return twice(x)")
    shell.run_cell(BLOCK).raise_error()
    assert "made" not in shell.user_ns
    shell.run_cell("def twice(x):\n    return 2 * x")
    shell.run_cell(BLOCK).raise_error()
    assert shell.user_ns["made"] == 4


def test_what_an_answer_displays_or_draws_stays_out_of_the_way(shell):
    import matplotlib.pyplot as plt

    mine = plt.figure()
    shell.run_cell(
        "import matplotlib.pyplot as plt\nfrom descent import check\nfrom IPython.display import display\n"
        "def double(x):\n    plt.figure()\n    display('noise')\n    return 2 * x"
    )
    before = len(shell.shown)
    assert shell.run_cell("score = check(double)").success and shell.user_ns["score"] == 2
    assert len(shell.shown) == before and plt.get_fignums() == [mine.number]
    shell.run_cell("display('mine')")
    assert len(shell.shown) == before + 1

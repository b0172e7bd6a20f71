"""A worked answer is there after full points or all hints, where its file is; that it was seen is kept."""

import inspect
import json

import pytest

from descent import check, hint, progress, records, session, solution, worked
from descent.__main__ import main
from tests.descent.conftest import NOTEBOOK

ANSWER = {
    "code": "def double(x):\n    return 2 * x",
    "why": "Twice <is> a product.",
    "mistakes": [{"name": "it squares", "advice": "Twice, or to the second power?"}],
    "libraries": [
        {"name": "numpy.multiply", "code": "def double(x):\n    return np.multiply(2, x)"}
    ],
}
NEEDED = "opens with full points, or after all 3 hints. You have seen"


def double(x):
    return 2 * x


def unsolved(x):
    raise NotImplementedError


unsolved.__name__ = "double"


def asked():
    return session.check_data(NOTEBOOK)["exercises"]["double"]


def publish(course, **changes):
    """Put the chapter's worked answers where students put them."""
    found = ANSWER | {"version": records.version_of(asked())} | changes
    path = course / worked.FOLDER / "99_toy.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"format": 1, "notebooks": {NOTEBOOK: {"double": found}}}))
    return path


@pytest.fixture
def told(toy, capsys):
    """told(solution, double) -> what that call prints."""
    publish(toy)

    def call(function, *arguments, **options):
        capsys.readouterr()
        function(*arguments, **options)
        return capsys.readouterr().out

    return call


def kept():
    return records.entry_of(NOTEBOOK, "double").get("shown")


@pytest.mark.parametrize("show", [False, True])
def test_before_the_third_hint_it_says_what_is_needed(told, show):
    assert f"{NEEDED} 0 of them: hint(double) shows the next." in told(
        solution, unsolved, show=show
    )
    hint(unsolved)
    check(unsolved)
    assert f"{NEEDED} 1 of them" in told(solution, unsolved, show=show)
    assert kept() is None


def test_after_full_points_all_of_it_is_shown(told):
    check(double)
    assert told(solution, double).splitlines() == [
        "A worked answer of double",
        "    def double(x):",
        "        return 2 * x",
        "  Why it works. Twice <is> a product.",
        "  What usually goes wrong",
        "  - it squares: Twice, or to the second power?",
        "  With a library: numpy.multiply",
        "    def double(x):",
        "        return np.multiply(2, x)",
    ]
    assert kept()["solved"] is True
    assert "seen first" not in told(progress)


def test_after_the_third_hint_it_wants_to_be_told_to_show(told, monkeypatch):
    for _ in range(3):
        hint(unsolved)
    assert "solution(double, show=True) shows the worked answer" in told(solution, unsolved)
    assert kept() is None
    monkeypatch.setattr(session, "now", lambda: 1e9)
    assert "return 2 * x" in told(solution, unsolved, show=True)
    assert kept() == {"time": 1e9, "version": records.version_of(asked()), "solved": False}
    monkeypatch.setattr(session, "now", lambda: 2e9)
    assert "return 2 * x" in told(solution, unsolved)  # what was seen once needs no asking
    check(double)
    solution(double)
    assert kept()["time"] == 1e9 and kept()["solved"] is False
    assert "1 of 1 solved · 1 worked answer seen first, 2 of 2 points" in told(progress)


def test_the_fourth_hint_names_it_in_a_terminal(told):
    for _ in range(3):
        assert "show=True" not in told(hint, unsolved)
    assert "solution(double, show=True) shows the worked answer" in told(hint, unsolved)


def test_the_fourth_hint_has_a_button_that_shows_it_and_keeps_that(shell, toy, monkeypatch):
    publish(toy)
    boxes = []
    monkeypatch.setattr("ipywidgets.VBox", lambda children: boxes.append(children) or "box")
    for _ in range(3):
        hint(unsolved)
    assert not boxes
    hint(unsolved)
    assert kept() is None
    [(button, place)] = boxes
    button.click()
    [page] = [shown["data"]["text/html"] for shown in place.outputs]
    assert "<pre" in page and "Twice &lt;is&gt; a product." in page
    assert kept()["solved"] is False and button.disabled


def test_without_the_file_it_says_who_can_help(told, toy):
    (toy / worked.FOLDER / "99_toy.json").unlink()
    check(double)
    for function in (solution, lambda answer: [hint(answer) for _ in range(4)]):
        words = told(function, double)
        assert "Your instructor hands them out" in words and "`make self-study`" in words
        assert str(toy / worked.FOLDER) in words and "99_toy.json" in words
    assert kept() is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "another edition"),
        ('{"format": 2, "notebooks": {}}', "another edition"),
        ('{"format": 1}', "another edition"),
        ('{"format": 1, "notebooks": {}}', "another edition"),
    ],
)
def test_a_file_that_does_not_fit_is_told(told, toy, content, words):
    check(double)
    publish(toy).write_text(content)
    assert words in told(solution, double)
    assert kept() is None


def test_an_answer_of_another_edition_is_not_shown(told, toy):
    check(double)
    publish(toy, version="00000000")
    assert "another edition of this exercise" in told(solution, double)


@pytest.mark.parametrize("variable", ["DESCENT_GRADING", "DESCENT_STATIC"])
def test_at_grading_and_on_static_pages_it_shows_nothing(told, monkeypatch, variable):
    check(double)
    monkeypatch.setenv(variable, "1")
    assert told(solution, double) == "" and kept() is None


def test_the_name_of_no_exercise_is_told(told):
    assert "has no exercise named 'len'" in told(solution, len)


@pytest.mark.parametrize("ask", [hint, solution])
@pytest.mark.parametrize(
    ("strange", "words"),
    [("double", "Name the function itself"), (len, "no exercise named &#x27;len&#x27;")],
)
def test_in_jupyterlab_too_a_strange_name_is_answered(shell, toy, ask, strange, words):
    ask(strange)
    (page,) = [shown.get("data", {}).get("text/html", "") for shown in shell.shown]
    assert words in page


def test_before_start_a_hint_says_what_to_run(shell, toy, monkeypatch):
    monkeypatch.setattr(session.current, "notebook", None)
    hint(double)
    (page,) = [shown.get("data", {}).get("text/html", "") for shown in shell.shown]
    assert "first code cell" in page


def test_what_was_seen_is_handed_in(told, toy, capsys):
    check(double)
    solution(double)
    cells = [{"cell_type": "code", "source": inspect.getsource(double)}]
    (toy / "99_toy" / "01_double.ipynb").write_text(json.dumps({"cells": cells}))
    assert main(["submit", "99_toy", "--student", "ada"]) == 0
    import zipfile

    with zipfile.ZipFile(capsys.readouterr().out.split()[-1]) as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        assert all(".descent" not in name for name in bundle.namelist())
    assert manifest["records"][NOTEBOOK]["exercises"]["double"]["shown"]["solved"] is True

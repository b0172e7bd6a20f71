"""A prediction in the student's kernel: asked by name, answered once there is a guess, and kept."""

import json

import pytest

from descent import after, predict, records, session
from descent.predictions import encoded

OPTIONS = ["no", "yes"]
ANSWER = {
    "right": 1,
    "because": "It has <two> sides.",
    "pictures": [
        {
            "webp": "UklGRg==",
            "width": 640,
            "words": "A curve that grows.",
            "narrow": ["UklGRn==", 320],
        }
    ],
}


@pytest.fixture
def asked(toy):
    """The toy notebook asks one question, "grows"."""
    checks = session.CHECKS / "99_toy" / "01_double.json"
    data = json.loads(checks.read_text())
    kept = {"question": "Does it grow?", "options": OPTIONS, "answer": encoded(ANSWER)}
    checks.write_text(json.dumps(data | {"predictions": {"grows": kept}}))
    session.check_data.cache_clear()


def guess(option):
    """Guess as the button does."""
    records.record_guess("99_toy/01_double", "grows", option, OPTIONS)


@pytest.fixture
def widgets(monkeypatch):
    """What is displayed, instead of being displayed."""
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


def test_before_a_guess_the_question_is_asked_and_nothing_told(asked, widgets, capsys):
    predict("grows")
    (box,) = widgets
    heading, choice, button = box.children
    assert "Does it grow?" in heading.value and choice.options == ("no", "yes") and button.disabled
    assert capsys.readouterr().out == ""
    choice.value = "yes"
    button.click()
    assert records.guess_of("99_toy/01_double", "grows", OPTIONS) == "yes"
    predict("grows")
    assert "You guessed: yes, and so it is." in capsys.readouterr().out


@pytest.mark.parametrize("option, verdict", [("yes", "and so it is"), ("no", "but it is not so")])
def test_after_a_guess_answer_reason_and_picture_are_shown(asked, capsys, option, verdict):
    guess(option)
    predict("grows")
    told = capsys.readouterr().out
    assert f"You guessed: {option}, {verdict}." in told
    assert "Answer: yes. It has <two> sides.\nA curve that grows." in told


def test_the_first_guess_is_the_one_that_is_kept(asked):
    guess("no")
    guess("yes")
    assert records.guess_of("99_toy/01_double", "grows", OPTIONS) == "no"


def test_a_guess_at_options_of_an_older_edition_is_asked_again(asked, widgets, capsys):
    records.record_guess("99_toy/01_double", "grows", "perhaps", ["perhaps", "no"])
    assert not after("grows")
    predict("grows")
    assert len(widgets) == 1 and "Answer" not in capsys.readouterr().out
    _, choice, button = widgets[0].children
    choice.value = "yes"
    button.click()
    predict("grows")
    assert "You guessed: yes" in capsys.readouterr().out and after("grows")


def test_a_page_without_a_kernel_shows_question_and_options(asked, monkeypatch, capsys):
    monkeypatch.setenv("DESCENT_STATIC", "1")
    predict("grows")
    assert capsys.readouterr().out == "Predict. Does it grow?\n- no\n- yes\n"


def test_a_name_that_there_is_not_is_told(asked, capsys):
    predict("shrinks")
    assert "no prediction named 'shrinks'" in capsys.readouterr().out


def double(x):
    return 2 * x


def test_what_waits_for_a_guess_runs_after_it(asked, capsys):
    assert not after("grows")
    assert capsys.readouterr().out == "This cell runs once you have made your guess above.\n"
    guess("no")
    assert after("grows") and after(double, "grows")


def test_what_waits_for_both_waits_for_both(asked, capsys):
    def wrong(x):
        return x

    wrong.__name__ = "double"
    assert not after(double, "grows")
    assert "once you have made your guess above." in capsys.readouterr().out
    assert not after(wrong, "grows")
    assert "once double is solved and you have made your guess above." in capsys.readouterr().out
    guess("no")
    assert not after(wrong, "grows")
    assert "once double is solved." in capsys.readouterr().out


def test_who_runs_the_authors_cell_needs_no_guess(asked, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    predict("grows", "Does it grow?", OPTIONS, truth="yes", because="It has two sides.")
    assert "Answer: yes. It has two sides." in shown[0]["text/plain"]
    assert after("grows")


@pytest.mark.parametrize("truth", ["yes", 1])
def test_truth_is_the_right_option_or_its_index(asked, monkeypatch, truth):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    predict("grows", "Does it grow?", OPTIONS, truth=truth)
    assert "Answer: yes." in shown[0]["text/plain"]


@pytest.mark.parametrize("truth", ["maybe", 2, -1, None])
def test_a_truth_that_is_no_option_is_refused_with_the_options(asked, truth):
    with pytest.raises(ValueError, match=f"truth is {truth!r}: give one of the options"):
        predict("grows", "Does it grow?", OPTIONS, truth=truth)


def test_at_grading_nothing_is_asked_and_no_block_runs(asked, monkeypatch, widgets, capsys):
    guess("yes")
    monkeypatch.setenv("DESCENT_GRADING", "1")
    predict("grows")
    assert not after("grows") and not widgets and capsys.readouterr().out == ""

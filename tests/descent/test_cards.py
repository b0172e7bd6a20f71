"""Cards say in words what a verdict means."""

import pytest

from descent import cards
from descent.judging import CaseResult, Verdict

CASES = [CaseResult("starts low", True), CaseResult("one row", False, "the result differs")]


@pytest.mark.parametrize("card", [cards.html_card, cards.text_card], ids=["html", "text"])
def test_part_of_the_points_is_explained_and_all_or_nothing_needs_no_words(card):
    words = "1 of 2 properties hold, each counts alike:"
    assert card(Verdict("ewa", "partial", 1.0, 2.0, CASES)).count(words) == 1
    assert "counts alike" not in card(Verdict("ewa", "wrong", 0.0, 2.0, CASES[1:]))
    assert "counts alike" not in card(Verdict("ewa", "full", 2.0, 2.0, CASES[:1]))


def test_many_mistakes_are_folded_behind_the_first_four():
    mistakes = [{"name": f"slip {number}", "advice": "Look."} for number in range(6)]
    told = {"code": "x < y", "why": "", "mistakes": mistakes, "libraries": []}
    page, text = cards.solution_card("f", told)
    before, after = page.split("<details><summary>2 more</summary>")
    assert before.count("<li>") == 4 and after.count("<li>") == 2
    assert "x &lt; y" in page and text.count("slip") == 6
    page, _ = cards.solution_card("f", told | {"mistakes": mistakes[:4]})
    assert "<details>" not in page and "Why it works" not in page


def test_what_was_called_waits_behind_a_line_as_text_that_runs_nothing():
    case = CaseResult("one row", False, "the result differs", call="f(x=1) < '<img>'")
    page = cards.html_card(Verdict("f", "wrong", 0.0, 2.0, [case]))
    folded = page.split("<details><summary>Try it in a cell of your own</summary>")[1]
    assert "f(x=1) &lt; &#x27;&lt;img&gt;" in folded and "<img>" not in page
    assert "<details>" not in cards.html_card(Verdict("f", "wrong", 0.0, 2.0, CASES))

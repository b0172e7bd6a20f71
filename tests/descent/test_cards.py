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

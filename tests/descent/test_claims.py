"""A claim says what it proved, and cannot be false in what is built."""

import numpy as np
import pytest

from descent import below, claim


def test_a_claim_that_holds_is_told_with_its_numbers(capsys):
    claim("steepest is −∇f ({n} ways, worst {worst})", True, n=200, worst=below(1e-12))
    claim("a numpy bool is a truth value", np.float64(1) < 2)
    told = capsys.readouterr().out.splitlines()
    assert told == [
        "✓ steepest is −∇f (200 ways, worst below 10⁻¹²)",
        "✓ a numpy bool is a truth value",
    ]
    claim("from {a} to {b}", True, a=-1, b=-0.5)
    assert capsys.readouterr().out == "✓ from −1 to −0.5\n"


def test_a_false_claim_stops_a_build(monkeypatch):
    monkeypatch.setenv("DESCENT_STRICT", "1")
    with pytest.raises(AssertionError, match="it does not hold: 1 = 2"):
        claim("1 = {two}", False, two=2)


def test_a_false_claim_does_not_stop_a_student(monkeypatch, capsys):
    monkeypatch.delenv("DESCENT_STRICT", raising=False)
    claim("1 = {two}", False, two=2)
    assert capsys.readouterr().out == "✗ 1 = 2\n"


def test_at_grading_a_claim_is_silent(monkeypatch, capsys):
    monkeypatch.setenv("DESCENT_GRADING", "1")
    monkeypatch.setenv("DESCENT_STRICT", "1")
    claim("1 = {two}", False, two=2)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("holds", [np.array([True, True]), 1, None, "yes"])
def test_what_is_not_one_truth_value_is_refused(holds):
    with pytest.raises(TypeError, match=r"not True or False"):
        claim("anything", holds)


def test_numbers_and_text_belong_together():
    with pytest.raises(TypeError, match="does not name it"):
        claim("anything", True, n=3)

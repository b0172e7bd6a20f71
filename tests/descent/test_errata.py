"""An erratum shows what is printed and what holds, and cannot be wrong in what is built."""

import numpy as np
import pytest

from descent import erratum

PROVEN = dict(printed_holds=False, corrected_holds=True, decoy_holds=False)
WRONG = {
    "printed_holds": "the printed form holds here",
    "corrected_holds": "the corrected form fails here",
    "decoy_holds": "the decoy holds too",
}


@pytest.fixture
def shown(monkeypatch):
    """The Markdown texts that are displayed."""
    texts = []
    monkeypatch.setattr("IPython.display.display", lambda one: texts.append(one.data))
    monkeypatch.delenv("DESCENT_STRICT", raising=False)
    monkeypatch.delenv("DESCENT_GRADING", raising=False)
    return texts


@pytest.fixture
def strict(shown, monkeypatch):
    monkeypatch.setenv("DESCENT_STRICT", "1")


def slip(kind="error", **values):
    erratum("wu:1.2", quote="$1 = 2$", corrected="$1 = 1$", kind=kind, **values)


def test_an_error_is_told_with_what_is_printed_and_what_holds(strict, shown):
    slip(**PROVEN)
    assert shown == ["✓ **wu 1.2**. Printed: “$1 = 2$”  \nWhat holds: $1 = 1$"]


@pytest.mark.parametrize(
    "quote, shown_as",
    [
        ("half of it, $x_1$ and $x_2$", "half of it, $x_1$ and $x_2$"),
        ("Here $$\n1 = 2 \\tag{3.1} $$", r"Here $\displaystyle 1 = 2 \quad(3.1)$"),
        (r"\min\{x_1, \frac{a}{b}\}", r"$\displaystyle \min\{x_1, \frac{a}{b}\}$"),
        (r"x &\sim N(0, 1) \\", r"$\displaystyle x \sim N(0, 1)$"),
        (r"\text{x} & \text{y}", r"$\displaystyle \text{x} \quad \text{y}$"),
        ("words … x^{2}", r"words … $\displaystyle x^{2}$"),
        (r"$\alpha = x_1", r"$\alpha = x_1$"),
        (r"\alpha = x_1$ is small", r"$\alpha = x_1$ is small"),
        (r"{\frac{a}{b}", r"`{\frac{a}{b}`"),
        (r"\left(a_{1}", r"`\left(a_{1}`"),
        (r"x \frac{a_{1}}", r"`x \frac{a_{1}}`"),
        ("def __init__(self)", "`def __init__(self)`"),
        ("# P_k = K_k R_k^T", "`# P_k = K_k R_k^T`"),
        (r"$\alpha and \frac{a$", r"`$\alpha and \frac{a$`"),
    ],
)
def test_a_quote_reads_as_it_is_printed(shown, quote, shown_as):
    erratum("wu:1.2", quote=quote, corrected="$1 = 1$", kind="convention")
    assert f"Printed: “{shown_as}”" in shown[0]


@pytest.mark.parametrize("kind", ["convention", "copy"])
def test_what_is_no_error_needs_no_proof_and_has_no_mark(strict, shown, kind):
    slip(kind)
    assert shown[0].startswith("**wu 1.2** (")


@pytest.mark.parametrize("name", WRONG)
def test_a_build_refuses_an_error_and_says_which_of_the_three_is_wrong(strict, shown, name):
    with pytest.raises(AssertionError, match=f"^erratum, wu:1.2: {WRONG[name]}[^;]*$"):
        slip(**PROVEN | {name: not PROVEN[name]})
    assert shown == []


@pytest.mark.parametrize("name", ["printed_holds", "corrected_holds"])
def test_a_build_refuses_what_is_called_too_broad_without_a_counterexample(strict, shown, name):
    two = dict(printed_holds=False, corrected_holds=True)
    slip("broad", **two)
    with pytest.raises(AssertionError, match=WRONG[name]):
        slip("broad", **two | {name: not two[name]})


def test_in_a_students_kernel_an_error_that_is_none_is_marked_and_goes_on(shown):
    slip(**PROVEN | {"printed_holds": np.bool_(True)})
    assert shown[0].startswith("✗ **wu 1.2**")
    assert shown[0].endswith("  \nBut the printed form holds here.")


@pytest.mark.parametrize(
    ("kind", "name"), [("error", one) for one in PROVEN] + [("broad", "corrected_holds")]
)
def test_a_missing_truth_value_is_named(shown, kind, name):
    values = {key: value for key, value in PROVEN.items() if key != name}
    with pytest.raises(ValueError, match=f"kind '{kind}' needs {name}=…, computed"):
        slip(kind, **values)


def test_an_unknown_kind_is_named(shown):
    with pytest.raises(ValueError, match="no kind 'typo'; there are error, broad, convention"):
        slip("typo")


@pytest.mark.parametrize("value", [np.array([False, False]), 0, "no"], ids=str)
def test_what_is_no_truth_value_is_refused(shown, value):
    with pytest.raises(TypeError, match="printed_holds is .*, not True or False"):
        slip(**PROVEN | {"printed_holds": value})


def test_at_grading_an_erratum_is_silent(strict, shown, monkeypatch):
    monkeypatch.setenv("DESCENT_GRADING", "1")
    slip(**PROVEN | {"printed_holds": True})
    assert shown == []

"""The suite itself: each file says all that it must, its attack runs to its end, and SECURITY.md has its table."""

import ast

import pytest

from tests.attacks import attack as attacks
from tests.attacks import table

SUITE = attacks.read_all()
EXERCISES = {"double", "digits", "scaled", "describe"}


def test_there_are_many_and_of_every_group():
    assert len(SUITE) >= 65
    assert {attack.name.split("_")[0] for attack in SUITE} == set(table.GROUPS)


def test_the_table_in_the_security_page_is_new():
    text = table.PAGE.read_text(encoding="utf-8")
    assert table.page(text, SUITE) == text, "run `python -m tests.attacks.table`"


@pytest.mark.parametrize("attack", SUITE, ids=lambda attack: attack.name)
def test_an_attack_says_all_that_it_must(attack):
    outcomes = [key for key in ("VERDICT", "REFUSED", "TAKEN") if key in attack.told]
    assert len(outcomes) == 1 and attack.told.keys() <= {
        *outcomes, "HELD_BY", "CARRIES", "LOOK", "RESTORED",
    }  # fmt: skip
    assert attack.tries.endswith(".") and not attack.held_by.endswith(".")
    assert attack.cells or attack.builder
    assert attack.verdict.keys() <= EXERCISES


@pytest.mark.parametrize("attack", [a for a in SUITE if a.cells], ids=lambda attack: attack.name)
def test_an_attack_ends_with_its_answer(attack):
    """A cell that fails on its way would otherwise pass for an attack that was held."""
    for heading, source in attack.under("attack") + attack.under("next"):
        if heading in EXERCISES:
            assert heading in bound(ast.parse(source).body[-1])


def bound(statement):
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    return [target.id for target in getattr(statement, "targets", [])]

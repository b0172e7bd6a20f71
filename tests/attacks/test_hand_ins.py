"""A hand-in that is a weapon itself is refused with a reason, or taken for what it is; nothing is written outside.

What is taken is graded as the honest notebook that it holds.
"""

import json

import pytest

from autograder.grading.jobs import read_job
from autograder.handins import collect
from autograder.workspace import Workspace
from tests.attacks import attack as attacks
from tests.attacks import pages
from tests.attacks.conftest import CHAPTER, STEM

pytestmark = pytest.mark.sandbox
SUITE = [attack for attack in attacks.read_all() if (attack.builder or ("",))[0] == "hand_in"]


@pytest.mark.parametrize("attack", SUITE, ids=lambda attack: attack.name)
def test_a_hand_in_is_refused_or_taken_for_what_it_is(arena, attack, tmp_path):
    name, data = attack.builder[1](json.dumps(arena.honest).encode(), CHAPTER)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / name).write_bytes(data)
    before = tree(tmp_path)
    space = Workspace(tmp_path / "grading", arena.project)
    outcomes = collect.collect(space, CHAPTER, [inbox / name])
    assert {place for place in tree(tmp_path) - before if not place.startswith("grading")} == set()
    assert [outcome.taken for outcome in outcomes] == ["REFUSED" not in attack.told]
    assert attack.told.get("REFUSED", "") in "; ".join(outcomes[0].words)
    taken = [attack.told["TAKEN"]] if "TAKEN" in attack.told else []
    assert space.students(CHAPTER) == taken
    for student in taken:
        done = arena.graders[0].grade(read_job(space, CHAPTER, student))
        assert {verdict.kind for verdict in done.submission.verdicts} == {"full"}
        assert pages.what_runs_in_notebook(done.pages[STEM]) == []


def test_a_name_does_nothing_to_the_terminal(arena, tmp_path, monkeypatch, capsys):
    attack = next(attack for attack in SUITE if attack.name == "archive_named_by_terminal")
    name, data = attack.builder[1](json.dumps(arena.honest).encode(), CHAPTER)
    (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(
        collect, "workspace", lambda: Workspace(tmp_path / "grading", arena.project)
    )
    assert collect.main([CHAPTER, str(tmp_path / name)]) == 1
    shown = "".join(capsys.readouterr())
    assert [sign for sign in shown if not sign.isprintable() and sign != "\n"] == []


def tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}

"""What a course agrees on in policy.toml: who is late by how many days, what it costs, and what is said of a slip."""

import datetime
import json
import re
import shutil
import tomllib

import pytest

from autograder.checkdata import ROOT
from autograder.grading import best, grade
from autograder.handins import attempts, collect, policy
from autograder.handins.attempts import Attempt
from autograder.handins.policy import Policy, PolicyError
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, STEM

FULL = """
timezone = "Europe/Berlin"
attempts = "last"
drop = ["03_optimisation/01_gradient_descent/step"]
deeper = false
[deadlines]
03_optimisation = 2026-10-24T23:59:00
04_other = 2026-10-24T23:59:00+00:00
[late]
percent_per_day = 10
at_most = 50
grace_minutes = 15
[extra_time]
ada = { days = 2 }
bob = { days = 9, 03_optimisation = { minutes = 90 } }
"""


@pytest.fixture
def read(tmp_path):
    def run(text):
        (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
        return policy.read(tmp_path / "policy.toml")

    return run


def test_the_docs_example_has_every_key_and_names_what_there_is(tmp_path):
    text = (ROOT / "docs/policy.md").read_text(encoding="utf-8")
    (example,) = re.findall("```toml\n(.*?)```", text, re.S)
    told = tomllib.loads(example)
    assert told.keys() == policy._KEYS and told["late"].keys() == policy._LATE
    (tmp_path / "policy.toml").write_text(example)
    rules = policy.checked(Workspace(tmp_path, ROOT))
    # What the text says: 5 points of 50 a day, no more on day six than on day five.
    assert [rules.penalty(days, 50) for days in (1, 5, 6)] == [5, 25, 25]
    assert rules.has_extra("03_optimisation", "bob") and not rules.has_extra("01_regression", "bob")


LATE = {  # clocks go back in Berlin in the night after the deadline: that day has 25 hours
    ("eve", "20261024-235900"): 0,
    ("eve", "20261025-001400"): 0,
    ("eve", "20261025-001401"): 1,
    ("eve", "20261025-225900"): 1,
    ("eve", "20261025-225901"): 2,
    ("ada", "20261026-235900"): 0,
    ("ada", "20261027-001500"): 1,
    ("bob", "20261025-012900"): 0,
    ("bob", "20261025-014500"): 1,
}


@pytest.mark.parametrize("who, days", LATE.items())
def test_days_are_counted_from_each_students_own_deadline(read, who, days):
    student, stamp = who
    rules = read(FULL)
    assert rules.days_late("03_optimisation", student, rules.when(stamp)) == days


def test_extra_time_in_one_chapter_is_for_that_chapter(read):
    rules = read(FULL)
    after = datetime.datetime(2026, 10, 25, 1, 0, tzinfo=datetime.UTC)
    assert rules.days_late("04_other", "eve", after) == 1
    assert rules.days_late("04_other", "bob", after) == 0  # nine days there
    assert rules.days_late("04_other", "bob", after + datetime.timedelta(days=9)) == 1
    assert rules.days_late("05_none", "bob", after) == 0


def test_the_penalty_is_of_what_the_chapter_is_worth_and_has_an_end(read):
    rules = read(FULL)
    assert [rules.penalty(days, 20) for days in (0, 1, 3, 9)] == [0, 2, 6, 10]


SLIPS = {
    "no TOML": ("attempts = ", "Invalid value"),
    "unknown key": ("deadline = 3", "^deadline: no such key. There are: attempts, deadlines"),
    "unknown key in a table": ("[late]\npercent = 3", "^late.percent: no such key"),
    "unknown unit": (
        "[extra_time]\nada = {days = 1, hours = 2}",
        "^extra_time.ada.hours: write",
    ),
    "unknown unit in a chapter": (
        "[extra_time]\nada = {03_x = {hours = 2}}",
        "^extra_time.ada.03_x.hours: no such",
    ),
    "no table": ("late = 3", "^late: write it as a table"),
    "no number": (
        '[late]\npercent_per_day = "10 %"',
        "^late.percent_per_day: '10 %' is no number from 0 to 100",
    ),
    "not a number": ("[late]\npercent_per_day = nan", "^late.percent_per_day: nan"),
    "negative": ("[extra_time]\nada = {days = -1}", "^extra_time.ada.days: -1 is no number from 0"),
    "a truth value": ("[late]\nat_most = true", "^late.at_most: True is no number"),
    "a bare number of extra time": ("[extra_time]\nada = 3", "^extra_time.ada: write { days = 2 }"),
    "no policy of attempts": ('attempts = "first"', "^attempts: 'first' is none of last, best"),
    "no yes or no": ('deeper = "no"', "^deeper: 'no' is none of true, false"),
    "no list": ('drop = "a/b/c"', "^drop: write a list"),
    "a day without a time": (
        'timezone = "UTC"\n[deadlines]\n03_x = 2026-10-24',
        "^deadlines.03_x: write a date and a",
    ),
    "a time without a zone": (
        "[deadlines]\n03_x = 2026-10-24T12:00:00",
        "^deadlines.03_x: say in which time zone",
    ),
    "no zone": ('timezone = "Berlin"', "^timezone: 'Berlin' is none"),
    "a path as zone": ('timezone = "../../etc/passwd"', "^timezone: "),
}


@pytest.mark.parametrize("text, words", SLIPS.values(), ids=SLIPS.keys())
def test_a_slip_is_named_by_its_key(read, text, words):
    with pytest.raises(PolicyError, match=words):
        read(text)


def test_what_there_is_not_is_named_by_its_key(read):
    rules = read(FULL)
    there = [
        ["ada", "bob"],
        ["03_optimisation", "04_other"],
        ["03_optimisation/01_gradient_descent/step"],
    ]
    rules.check(*there)
    for place, key in enumerate(
        ["extra_time.ada: there is no student", "extra_time.bob.03_optimisation: ", "drop: "]
    ):
        less = [*there]
        less[place] = ["bobby"] if place == 0 else []
        with pytest.raises(PolicyError, match=f"^{key}"):
            rules.check(*less)


def test_what_is_deeper_is_read_from_the_release_and_counts_unless_the_policy_says_no(tmp_path):
    path = tmp_path / "course" / CHAPTER / f"{STEM}.ipynb"
    path.parent.mkdir(parents=True)
    core = {"nbgrader": {"grade": True, "grade_id": "check-double"}}
    deeper = {"nbgrader": {"grade": True, "grade_id": "why"}, "descent": {"part": "deeper"}}
    cells = [{"metadata": about} for about in (core, deeper, {})]
    path.write_text(json.dumps({"cells": cells}))
    space = Workspace(tmp_path / "grading", tmp_path)
    place = f"{CHAPTER}/{STEM}"
    assert policy.parts(space, CHAPTER) == {f"{place}/double": "core", f"{place}/why": "deeper"}
    assert policy.uncounted(space, CHAPTER, Policy(drop=("a/b/c",))) == {"a/b/c"}
    assert policy.uncounted(space, CHAPTER, Policy(deeper=False)) == {f"{place}/why"}


def test_without_a_file_there_are_no_rules(space):
    assert policy.load(space) == Policy()


def test_commands_name_the_file_of_a_slip(space, monkeypatch, capsys, hand_in, notebook):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    space.folder.mkdir()
    (space.folder / "policy.toml").write_text("dedlines = 3")
    assert collect.main([CHAPTER, str(hand_in("ada", notebook()))]) == 2
    assert "policy.toml: dedlines: no such key" in capsys.readouterr().err


DUE = f'timezone = "UTC"\n[deadlines]\n{CHAPTER} = 2026-09-02T00:00:00\n'
TIMES = ["20260830-120000", "20260901-120000", "20260903-120000"]


@pytest.fixture
def three(space, hand_in, notebook):
    """Ada's three hand-ins, the last one late."""
    return [hand_in("ada", notebook(double=f"turn = {n}"), stamp) for n, stamp in enumerate(TIMES)]


def laid_out(space):
    text = (space.submitted(CHAPTER, "ada") / f"{STEM}.ipynb").read_text()
    return next(cell["source"] for cell in json.loads(text)["cells"] if cell["id"] == "double")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_last_in_time_is_laid_out_in_whatever_order_they_come(space, three, order):
    space.folder.mkdir(exist_ok=True)
    (space.folder / "policy.toml").write_text(DUE)
    words = {n: collect.collect(space, CHAPTER, [three[n]])[0].words for n in order}
    assert laid_out(space) == "turn = 1"
    assert len(attempts.kept(space, CHAPTER, "ada")) == 3
    if order[0] == 1:
        assert "after the deadline, which was met by" in words[2][-1]


def test_when_none_was_in_time_the_last_counts(space, three):
    space.folder.mkdir(exist_ok=True)
    (space.folder / "policy.toml").write_text(DUE.replace("09-02", "08-02"))
    collect.collect(space, CHAPTER, three)
    assert laid_out(space) == "turn = 2"


def test_a_changed_deadline_is_followed_by_collecting_nothing_new(
    space, three, monkeypatch, capsys
):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    collect.collect(space, CHAPTER, three)
    assert laid_out(space) == "turn = 2"
    (space.folder / "policy.toml").write_text(DUE)
    assert collect.main([CHAPTER]) == 0
    assert laid_out(space) == "turn = 1"
    assert "ada--20260901-120000.zip: the one to grade now" in capsys.readouterr().out
    (space.folder / "policy.toml").write_text(DUE + "[extra_time]\nada = { days = 2 }\n")
    collect.main([CHAPTER])
    assert laid_out(space) == "turn = 2"
    collect.main([CHAPTER])
    assert "Nothing to do" in capsys.readouterr().out


def test_an_attempt_of_before_notes_were_kept_is_known_by_its_name(space, three):
    collect.collect(space, CHAPTER, three)
    for path in space.received(CHAPTER, "ada").glob("*.json"):
        path.unlink()
    kept = attempts.kept(space, CHAPTER, "ada")
    assert [(attempt.stamp, attempt.clock) for attempt in kept] == [(t, "name") for t in TIMES]


def test_what_an_lms_calls_late_is_late_and_a_files_date_makes_nobody_late(read):
    rules = read(DUE)
    days = [
        attempts.days_late(rules, CHAPTER, "ada", Attempt("x.zip", stamp, clock, late))
        for stamp, clock, late in [
            ("20260901-120000", "name", True),  # the deadline decides, not Canvas's
            ("20260904-120000", "lms", True),
            ("20260901-120000", "file", True),  # downloaded before the deadline
            ("20260904-120000", "file", False),  # the date of the download
            ("20260904-120000", "file", True),
            ("19800101-000000", "file", True),  # a zip without dates
            ("99999999-999999", "name", True),
            ("99999999-999999", "name", False),
        ]
    ]
    assert days == [0, 3, 0, 0, 1, 1, 1, 0]


def test_extra_time_is_not_lost_to_an_lms_that_calls_it_late(read):
    late = Attempt("x.zip", "20260904-120000", "file", late=True)
    extra = read(DUE + "[extra_time]\nada = { days = 7 }\nbob = { days = 1 }\n")
    assert attempts.lateness(extra, CHAPTER, "ada", late) == (0, "")  # downloaded within her time
    days, doubt = attempts.lateness(extra, CHAPTER, "bob", late)
    assert days == 0 and "there is extra time, and its time is not known" in doubt
    none = read("[extra_time]\nada = { days = 7 }\n")  # no deadline: the LMS alone knows
    assert attempts.days_late(none, CHAPTER, "ada", late) == 0
    assert attempts.days_late(none, CHAPTER, "eve", late) == 1


@pytest.mark.parametrize(
    "text, words",
    [
        (f'drop = ["{CHAPTER}/{STEM}/doubel"]', f"drop: there is no exercise .*: {CHAPTER}/{STEM}/double,"),
        ('timezone = "UTC"\n[deadlines]\n98_tin = 2026-09-02T00:00:00', "deadlines.98_tin: there is no chapter"),
        ("[extra_time]\nada = { 98_tyni = { days = 1 } }", "extra_time.ada.98_tyni: .* There are: 98_tiny$"),
    ],
    ids=["an exercise", "a chapter with a deadline", "a chapter of a student"],
)  # fmt: skip
def test_a_wrong_name_is_told_before_anything_is_taken_or_graded(
    space, three, monkeypatch, capsys, text, words
):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    monkeypatch.setattr(grade, "workspace", lambda: space)
    space.folder.mkdir()
    (space.folder / "policy.toml").write_text(text)
    assert collect.main([CHAPTER, str(three[0])]) == 2
    assert re.search(words, capsys.readouterr().err.strip())
    assert grade.main([CHAPTER]) == 2
    assert re.search(words, capsys.readouterr().err.strip())
    good = f'drop = ["{CHAPTER}/{STEM}/double", "{CHAPTER}/{STEM}/why"]'  # a check and a written answer
    (space.folder / "policy.toml").write_text(good)
    assert collect.main([CHAPTER, str(three[0])]) == 0


@pytest.mark.parametrize("start", ["collect", "grade"])
def test_what_is_lost_from_submitted_is_made_again(space, three, monkeypatch, capsys, start):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    collect.collect(space, CHAPTER, three)
    shutil.rmtree(space.folder / "submitted")
    if start == "collect":
        assert collect.main([CHAPTER]) == 0
        told = capsys.readouterr().out
    else:
        (told,) = best.choose(space, CHAPTER)
    assert "20260903-120000.zip" in told and "was gone from submitted/, and is there again" in told
    assert laid_out(space) == "turn = 2"


def test_grading_follows_a_changed_deadline_by_itself(space, three):
    collect.collect(space, CHAPTER, three)
    (space.folder / "policy.toml").write_text(DUE)
    assert best.choose(space, CHAPTER) == [f"ada: {three[1].name}: the one to grade now"]
    assert laid_out(space) == "turn = 1" and best.choose(space, CHAPTER) == []


def test_of_whom_nothing_can_be_read_grading_says_so(space, three):
    collect.collect(space, CHAPTER, three[:1])
    shutil.rmtree(space.folder / "submitted")
    (space.received(CHAPTER, "ada") / three[0].name).write_bytes(b"PK\3\4")
    (line,) = best.choose(space, CHAPTER)
    assert line.startswith(f"ada: {three[0].name}: it is cut off")

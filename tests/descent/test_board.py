"""The board tells core and deeper apart, sums them, and says where to go on."""

import json

import pytest

from descent import check, progress, records, session
from tests.descent.conftest import toy_data

FIRST, SECOND, THIRD = "98_first/01_one", "99_toy/01_double", "99_toy/02_more"


def double(x):
    return 2 * x


@pytest.fixture
def course(toy):
    """Three notebooks in two chapters. The first holds a deeper exercise too, the last has nothing to solve."""
    one, more = json.loads(toy_data()), json.loads(toy_data())
    exercise = one["exercises"]["double"]
    one["exercises"]["extra"] = exercise | {"part": "deeper", "points": 3}
    for name, data, title in ((FIRST, one, "One"), (THIRD, more, "More & more")):
        data |= {"notebook": name, "title": title, "minutes": {"core": 60, "deeper": 100}}
        path = session.CHECKS / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(data | ({"exercises": {}} if name == THIRD else {})))
    return toy


def told(capsys):
    capsys.readouterr()
    progress()
    return capsys.readouterr().out.splitlines()


def test_core_and_deeper_are_told_apart_and_summed(course, capsys):
    check(double)
    assert [" ".join(line.split()) for line in told(capsys)[1:]] == [
        f"{FIRST} 0 of 1 solved · deeper 0 of 1, 0 of 2 points · deeper 0 of 3",
        f"{SECOND} 1 of 1 solved, 2 of 2 points",
        f"{THIRD} 0 of 0 solved, 0 of 0 points",
        "the course 1 of 2 solved · deeper 0 of 1, 2 of 4 points · deeper 0 of 3",
    ]


def test_one_goes_on_in_the_notebook_seen_last_then_in_the_next_unsolved(
    course, capsys, monkeypatch
):
    now = {"t": session.now() + 10}
    monkeypatch.setattr(session, "now", lambda: now["t"])
    records.record_visit(SECOND)
    assert told(capsys)[0] == f"Continue here: {SECOND}"
    check(double)
    assert (
        told(capsys)[0] == f"Continue here: {FIRST}"
    )  # the last has nothing to solve: from the front
    records.record_check(FIRST, session.check_data(SECOND)["exercises"]["double"], solved(), "")
    assert told(capsys)[0].startswith(FIRST)  # what is deeper does not hold anybody up


def solved():
    from descent.judging import Verdict

    return Verdict("double", "full", 2, 2, [])


def test_the_page_shows_sums_of_each_chapter_and_of_the_course(course, monkeypatch):
    pages = []
    monkeypatch.setattr("descent.checking.display", lambda page, text: pages.append(page))
    progress()
    (page,) = pages
    assert "99 Toy</th>" in page and "65 min · deeper 100 min" in page  # 5 + 60
    assert "The course</th>" in page and "125 min" not in page and "2.1 h · deeper 3.3 h" in page
    assert (
        "More &amp; more" in page and 'Continue here:</strong> <a href="../99_toy/01_double' in page
    )

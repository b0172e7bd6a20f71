"""Feedback pages: what helps the student is there, nothing runs, no hidden value is told."""

import json
import re

import pytest

from autograder.grading import grade
from autograder.results import export, feedback
from autograder.workspace import VARIABLE
from tests.grading.toy_chapter import CHAPTER, SHORT, STEM

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> [go](javascript:alert(3))"


@pytest.fixture
def page(space, notebook, monkeypatch):
    """The feedback page of one student who got one exercise wrong and wrote scripts wherever she could."""
    monkeypatch.setenv(VARIABLE, str(space.folder))
    content = notebook(
        double="def double(x):\n    print('<script>alert(4)</script>')\n    return x * x"
    )
    for cell in content["cells"]:
        if cell["id"] == "why":
            cell["source"] = f"Because. {HOSTILE}"
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": HOSTILE}}
    extra = {"cell_type": "code", "id": "mine", "metadata": {}, "execution_count": 1}
    content["cells"].insert(3, extra | {"source": f"note = {HOSTILE!r}", "outputs": [output]})
    content["cells"].insert(
        3, {"cell_type": "markdown", "id": "hers", "metadata": {}, "source": HOSTILE}
    )
    folder = space.submitted(CHAPTER, "eve")
    folder.mkdir(parents=True)
    (folder / f"{STEM}.ipynb").write_text(json.dumps(content))
    (folder / "timestamp.txt").write_text("2026-09-01 10:00:00 UTC\n")
    grade.grade_chapter(space, CHAPTER, limits=SHORT, jobs=1)
    assert feedback.write_pages(space, CHAPTER, "eve")
    return (space.feedback(CHAPTER, "eve") / f"{STEM}.html").read_text(encoding="utf-8")


def test_a_page_helps_and_nothing_of_the_students_runs(page, space):
    assert "squares" in page  # the known mistake, by name
    assert "Because." in page
    body = page[page.index("<body") :]
    scripts = re.findall(r"<script\b[^>]*>(.*?)</script>", body, re.S)
    assert not any("alert" in script for script in scripts)
    tags = re.findall(r"<(?!script)[^>]*(?:onerror=|javascript:)[^>]*>", body)
    assert tags == []
    columns, rows = export.marks(space)
    assert rows["eve"][f"{CHAPTER}/{STEM}/scaled"] == 2.0


def test_without_grades_it_says_what_to_do(space, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(space.folder))
    assert feedback.main([CHAPTER]) == 2
    assert f"run `autograder grade {CHAPTER}`" in capsys.readouterr().err

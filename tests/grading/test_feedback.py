"""Feedback pages: what helps the student is there, nothing runs or loads, no hidden value is told."""

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from autograder.grading.grade import Writer
from autograder.grading.jobs import read_job
from autograder.results import feedback, feedback_page, harmless
from autograder.results import marks as reading
from autograder.results.feedback_page import Mark, Marks
from autograder.workspace import VARIABLE, Workspace
from tests.grading.toy_chapter import CHAPTER, STEM

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [go](javascript:alert(3)) "
    '<img src="https://example.org/seen.png"><style>body{display:none}</style>'
    '<iframe src="https://example.org"></iframe><form action="https://example.org"><button>go</button></form>'
)
ALLOWED = set(
    "html head meta title style body header nav main section div span p a table tbody tr th td ul ol li "
    "caption h1 h2 h3 h4 pre code b strong em img br math mi mn mo mrow msup msub mfrac blockquote small".split()
)


class Page(HTMLParser):
    """Everything in a page that could run or load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.faults = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            loads = name in ("src", "srcset", "data", "background", "action", "formaction", "ping")
            if loads and not (value or "").startswith("data:image/"):
                self.faults.append((tag, name, value))
            if name.startswith("on") or re.match(r"\s*(javascript|vbscript|data):", value or ""):
                self.faults += [(tag, name, value)] if not loads else []
            if name == "style" and re.search(r"url|position|expression", value):
                self.faults.append((tag, name, value))


def assert_harmless(text):
    page = Page(text)
    assert page.tags <= ALLOWED, page.tags - ALLOWED
    assert page.faults == []
    assert text.count("<style>") == 1
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src &#39;none&#39;")


def code(source, outputs=(), **metadata):
    return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": list(outputs)}


def text(source, **metadata):
    return {"cell_type": "markdown", "source": source, "metadata": metadata}


def about(name, **flags):
    return {"grade_id": name, "grade": False, "solution": False} | flags


def result(**data):
    return {
        "output_type": "execute_result",
        "data": {k.replace("_", "/"): v for k, v in data.items()},
    }


def shown(*cells, student="ada", **known):
    marks = Marks(**known)
    read = feedback_page.cells({"cells": list(cells)}, marks)
    rows = feedback_page.rows(read, marks, {})
    return feedback_page.page(read, rows, "98_tiny/01_first", student, marks)


def test_a_page_stands_against_a_notebook_hostile_in_every_place():
    png = {"output_type": "display_data", "data": {"image/png": '"><script>alert(1)</script>'}}
    cells = [
        text(HOSTILE),
        text(HOSTILE, nbgrader=about("why", solution=True, grade=True)),
        code(f"# {HOSTILE}\nx = 1", nbgrader=about("double", solution=True)),
        code(HOSTILE, [result(text_html=HOSTILE)], nbgrader=about("check-double", grade=True)),
        code("", [{"output_type": "stream", "text": HOSTILE}, png], descent={"added": True}),
        code("", [{"output_type": "error", "traceback": ["\x1b[31m" + HOSTILE]}]),
    ]
    page = shown(
        *cells, student=HOSTILE, marks={"why": Mark(1, 2)}, comments={"double": HOSTILE, "why": "x"}
    )
    assert_harmless(page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_page_tells_marks_comments_and_what_waits():
    answer = code("def double(x):\n    return 2 * x", nbgrader=about("double", solution=True))
    check = code(
        "check(double)", [result(text_plain="3.0")], nbgrader=about("check-double", grade=True)
    )
    why = text("Because", nbgrader=about("why", solution=True, grade=True))
    page = shown(
        answer, check, why,
        marks={"check-double": Mark(2.5, 3), "why": Mark(0, 2, waits=True)},
        comments={"double": "Very *neat*."}, penalty=0.5,
    )  # fmt: skip
    assert "ada: 2 of 5 points." in page and "1 not marked yet." in page
    assert "0.5 taken off for lateness." in page
    assert "Very <em>neat</em>." in page and 'href="#comment-double"' in page
    assert 'href="#double"' in page and page.count('id="double"') == 1


def test_what_export_will_do_is_said_and_what_is_dropped_is_in_no_sum():
    checks = [code("", nbgrader=about(f"check-{name}", grade=True)) for name in ("double", "rms")]
    page = shown(
        *checks,
        marks={"check-double": Mark(2, 3), "check-rms": Mark(1, 1)},
        dropped={"rms"}, chapter="The chapter: 4 of 9 points. 1 day late.",
    )  # fmt: skip
    assert "ada: 2 of 3 points." in page and page.count("does not count") == 1
    assert "<p>The chapter: 4 of 9 points. 1 day late.</p>" in page


def test_points_beside_the_core_are_told_apart():
    checks = [code("", nbgrader=about(f"check-{name}", grade=True)) for name in ("double", "rms")]
    marks = {"check-double": Mark(2, 3), "check-rms": Mark(1, 4)}
    page = " ".join(shown(*checks, marks=marks, deeper={"rms"}).split())
    assert "ada: 3 of 7 points.</strong> Of these, 1 of 4 are beside the core." in page
    assert page.count(">deeper</span>") == 1
    assert "beside the core" not in shown(*checks, marks=marks)


def test_the_words_on_a_chapter():
    plain = reading.Mark("ada", CHAPTER, 51, {"a": 30.0, "b": 1.5})
    assert feedback.chapter_words(plain) == "The chapter: 31.5 of 51 points."
    late = replace(plain, days_late=1, penalty=5.1, waiting=2)
    assert feedback.chapter_words(late) == (
        "The chapter: 31.5 of 51 points so far; 2 written answers not marked yet. "
        "1 day late: -5.1 at export, which leaves 26.4."
    )
    assert feedback.chapter_words(replace(plain, days_late=3)).endswith(" points. 3 days late.")


def test_a_cell_that_was_left_out_says_so():
    why = "it was run, and it did not end in time <b>"
    added = {"added": True, "left_out": why}
    page = shown(code("while True: pass", descent=added), code("x = 1", descent={"added": True}))
    assert page.count("Left out when your notebook was graded:") == 1
    assert "it did not end in time &lt;b&gt;. What follows was graded without it." in page


def test_the_courses_formulas_are_drawn_and_its_code_is_left_out():
    page = shown(text(r"Let $x \in \mathbb R$ and $\frac{$."), code("assert hidden_test(x) == 42"))
    assert "<mi>ℝ</mi>" in page and r"<code>\frac{</code>" in page
    assert "hidden_test" not in page


def test_an_endless_output_is_cut():
    page = shown(code("", [{"output_type": "stream", "text": "x" * 10_000_000}]))
    assert len(page) < 60_000 and "… and 9980000 characters more" in page


@pytest.fixture
def graded(space, grader, notebook, monkeypatch):
    """One student, who got one exercise wrong and wrote scripts wherever she could, is graded. She is late."""
    monkeypatch.setenv(VARIABLE, str(space.folder))
    content = notebook(
        double="def double(x):\n    print('<script>alert(4)</script>')\n    return x * x"
    )
    for cell in content["cells"]:
        if cell["id"] == "why":
            cell["source"] = f"Because. {HOSTILE}"
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": HOSTILE}}
    extra = {"cell_type": "code", "id": "mine", "metadata": {}, "execution_count": 1}
    content["cells"].insert(3, extra | {"id": "loop", "source": "while True: pass", "outputs": []})
    content["cells"].insert(3, extra | {"source": f"note = {HOSTILE!r}", "outputs": [output]})
    content["cells"].insert(
        3, {"cell_type": "markdown", "id": "hers", "metadata": {}, "source": HOSTILE}
    )
    folder = space.submitted(CHAPTER, "eve")
    folder.mkdir(parents=True)
    (folder / f"{STEM}.ipynb").write_text(json.dumps(content))
    job = read_job(space, CHAPTER, "eve")
    job.about = {"submitted": "2026-09-01 10:00:00 UTC"}
    with Writer(space, CHAPTER) as writer:
        writer.enter(grader.grade(job))
    (space.folder / "policy.toml").write_text(POLICY)
    return space


POLICY = f"""
timezone = "UTC"
drop = ["{CHAPTER}/{STEM}/double"]
deadlines = {{ {CHAPTER} = 2026-08-31T09:00:00 }}
late = {{ percent_per_day = 10 }}
extra_time = {{ dan = {{ days = 1 }} }}
"""


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of nbgrader and nbconvert
def test_a_graded_submission_has_a_page_that_helps_and_one_through_nbgrader(graded, capsys):
    assert feedback.main([CHAPTER]) == 0
    assert "Feedback of 1 student is in" in capsys.readouterr().out
    path = graded.feedback(CHAPTER, "eve") / f"{STEM}.html"
    page = path.read_text(encoding="utf-8")
    assert_harmless(page)
    assert "squares" in page and "Because." in page  # the known mistake, by name; her text
    assert "eve: 2 of 4 points." in page and "1 not marked yet." in page  # double does not count
    assert "2 days late: -0.8 at export, which leaves 1.2." in page
    assert "Left out when your notebook was graded:" in page
    assert "<h1>A notebook for the tests</h1>" in page
    first = (path.parent / "index.html").read_text(encoding="utf-8")
    assert_harmless(first)
    assert first.index("2 days late") < first.index("double") < first.index("scaled")
    assert f'<a href="{STEM}.html#double">' in first and "It may be a known mistake: " in first
    assert (path.parent / "timestamp.txt").read_text() == "2026-09-01 10:00:00 UTC\n"

    # Whoever presses the formgrader's own button gets nbgrader's page, with nbgrader's scripts and none of hers.
    nbgraders = _through_nbgrader(graded, path)
    body = nbgraders[nbgraders.index("<body") :]
    assert "Because." in body
    assert not any("alert" in s for s in re.findall(r"<script\b[^>]*>(.*?)</script>", body, re.S))
    assert not re.search(r"<(?!script)[^>]*(?:onerror=|javascript:)[^>]*>", body)

    # A page that cannot be made is told by name, and no other suffers.
    (graded.autograded(CHAPTER, "eve") / f"{STEM}.ipynb").write_text('{"cells": [7]}')
    assert feedback.main([CHAPTER]) == 1
    assert "the pages of eve could not be written" in capsys.readouterr().err


def _through_nbgrader(space, path) -> str:
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    config = space.nbgrader_config()
    folder = CourseDirectory(config=config, assignment_id=CHAPTER, student_id="eve")
    GenerateFeedback(coursedir=folder, config=config, force=True).start()
    return path.read_text(encoding="utf-8")


def test_a_folder_of_checkpoints_is_no_chapter(project, tmp_path):
    copy = shutil.copytree(project, tmp_path / "project")
    (copy / "course" / ".ipynb_checkpoints").mkdir()
    (copy / "course" / ".ipynb_checkpoints" / "index-checkpoint.ipynb").write_text("{}")
    assert Workspace(tmp_path, copy).chapters() == [CHAPTER]


def test_who_or_what_there_is_not_is_told_with_what_there_is(space, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(space.folder))
    assert feedback.main(["00_start_here"]) == 2
    assert "run `autograder grade 00_start_here`" in capsys.readouterr().err
    assert feedback.main(["03_optimization"]) == 2
    told = "feedback: there is no released chapter '03_optimization'. There are: 03_optimisation, "
    assert capsys.readouterr().err.startswith(told)
    for student in ("ada", "bob"):
        path = space.autograded(CHAPTER, student) / f"{STEM}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    assert feedback.main([CHAPTER, "--student", "adaa", "bob"]) == 2
    told = f"feedback: 'adaa' is not graded in {CHAPTER}. There are: ada, bob.\n"
    assert capsys.readouterr().err == told


def test_a_policy_that_cannot_be_followed_is_told(space, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(space.folder))
    path = space.autograded(CHAPTER, "ada") / f"{STEM}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    (space.folder / "policy.toml").write_text("nonsense = 1")
    assert feedback.main([CHAPTER]) == 2
    assert "nonsense: no such key" in capsys.readouterr().err


def test_the_policy_allows_no_script_and_no_request():
    assert harmless.POLICY.startswith("default-src 'none'; img-src data:;")
    assert "script-src" not in harmless.POLICY and "http" not in harmless.POLICY

"""The instructor's report in a real browser: it fetches nothing, fits a small window, and prints."""

import random
import re

import pytest

from autograder.grading import verdicts
from autograder.results import report, similar
from autograder.results.answers import Answer, parse
from autograder.workspace import Workspace
from tests.browser.conftest import ARTEFACTS

pytestmark = pytest.mark.browser

CHAPTER = "03_optimisation"
NOTEBOOK = f"{CHAPTER}/01_gradient_descent"
ANSWER = """def {name}(grad, x0, steps):
    path = [np.array(x0, float)]
    for k in range(steps):
        slope = grad(path[-1])
        if np.linalg.norm(slope) < 1e-9:
            break
        trial = path[-1] - slope / (1 + k) ** 0.5
        while np.any(np.isnan(trial)):
            trial = (trial + path[-1]) / 2
        path.append(np.clip(trial, -10, 10))
    return np.stack(path)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The two pages of a class of forty, of whom two have answers that are alike."""
    draw = random.Random(3)
    class_ = []
    for number in range(40):
        able = draw.random()
        mine = [
            _graded(name, able > draw.random() * hard, draw) for name, hard in EXERCISES.items()
        ]
        class_.append(verdicts.Submission(CHAPTER, f"student{number}", verdicts=mine))
    class_[5].look, class_[5].notes = True, ["A cell was left out: it ran too long."]
    space = Workspace(tmp_path_factory.mktemp("grading"))
    page, _ = report.make(space, CHAPTER, class_)
    two = [_answer("student3", "step"), _answer("student9", "step")]
    others = [
        Answer(f"s{n}", NOTEBOOK, "step", "x", parse(f"def step(): return {n}")) for n in range(30)
    ]
    alike = report.alike_page(CHAPTER, similar.pairs(two + others), class_)
    return {f"{CHAPTER}.html": page, f"{CHAPTER}-alike.html": alike}


EXERCISES = {"gd": 0.3, "backtracking": 0.9, "logistic_smoothness": 3.0, "steps_needed": 0.6}


def _graded(name, solved, draw):
    kind, points = ("full", 2.0) if solved else ("wrong", 0.0)
    mistake = "" if solved else draw.choice(["steps uphill", "one step too few"])
    told = dict(mistake=mistake, advice="Which sign?", worked=draw.uniform(60, 900), checks=3)
    return verdicts.Graded(name, NOTEBOOK, kind, points, 2.0, "", **told)


def _answer(student, name):
    source = ANSWER.format(name=name)
    return Answer(student, NOTEBOOK, name, source, parse(source))


def test_it_fetches_nothing_fits_a_small_window_and_prints(pages, browser, tmp_path):
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.route(re.compile("^http"), lambda route: (asked.append(route.request.url), route.abort()))
    page.goto((tmp_path / f"{CHAPTER}.html").as_uri())
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "10-report.png", full_page=True)
    assert page.get_by_text("logistic_smoothness: hard").is_visible()
    assert page.evaluate("[...document.images].every(i => i.naturalWidth > 0 && i.alt.length > 20)")
    page.emulate_media(media="print")
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate(SCROLLS) is False

    page.goto((tmp_path / f"{CHAPTER}-alike.html").as_uri())
    page.set_viewport_size({"width": 1100, "height": 900})
    page.screenshot(path=ARTEFACTS / "11-alike.png", full_page=True)
    left, right = page.locator("section pre").all()
    assert left.bounding_box()["y"] == right.bounding_box()["y"]  # side by side
    assert left.locator("b").count() > 5
    assert said == [] and asked == []
    page.close()


SCROLLS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"

"""The benchmark against nbgrader compares what it says it compares: a class without twins, scores one by one."""

import json

import pytest

from tests import bench_grading, bench_grading_floor, bench_grading_page
from tests.bench_grading import Cost, Measured
from tests.bench_grading_class import HonestClass

STUDENTS = 12


@pytest.fixture(scope="module")
def people():
    return HonestClass(bench_grading.LIGHT)


def marked(chapter, stock, ours):
    return Measured(
        chapter, {(2, n): Cost(s, s) for n, s in ours}, {n: Cost(s, s) for n, s in stock}
    )


def test_no_answer_of_the_class_is_another_students(people, tmp_path):
    texts = []
    for number in range(STUDENTS):
        people.hand_in(number, tmp_path / people.name(number))
        for path in (tmp_path / people.name(number)).iterdir():
            cells = json.loads(path.read_text())["cells"]
            about = [cell["metadata"].get("descent", {}) for cell in cells]
            texts += [c["source"] for c, a in zip(cells, about, strict=True) if a.get("exercise")]
    assert len(texts) == STUDENTS * len(people.expected(0))
    assert len(set(texts)) == len(texts)


def test_every_fifth_student_has_one_known_mistake(people):
    full = people.expected(0)
    lost = [
        [name for name, points in people.expected(number).items() if points < full[name]]
        for number in range(STUDENTS)
    ]
    assert [len(names) for names in lost] == [number % 5 == 4 for number in range(STUDENTS)]


def test_a_score_that_differs_fails_the_benchmark(people):
    told = marked(people.chapter, [(2, 20.0), (8, 74.0)], [(30, 4.0), (300, 12.1)])
    graded = {people.name(number): people.expected(number) for number in range(2)}
    bench_grading.compare(told, people, graded, {people.name(0): people.expected(0)})
    assert bench_grading_page.problems([told]) == []
    name = next(iter(graded[people.name(0)]))
    wrong = graded | {people.name(0): graded[people.name(0)] | {name: 0.25}}
    bench_grading.compare(told, people, wrong, {people.name(0): people.expected(0)})
    assert len(told.differences) == 2  # with nbgrader's score, and with the check's
    assert bench_grading_page.problems([told])[0].startswith(
        f"{people.chapter}: student0000 {name}:"
    )


def test_nbgraders_time_is_extrapolated_on_the_line_through_its_runs():
    told = marked("light", [(2, 20.0), (8, 74.0)], [(30, 4.0), (300, 12.1)])
    assert bench_grading_page.stock_seconds(told, 300) == pytest.approx(2 + 300 * 9)
    assert bench_grading_page.steady_ratio(told) == pytest.approx(9 / 0.03)
    slow = marked("light", [(2, 20.0), (8, 74.0)], [(30, 40.0), (300, 400.0)])
    assert len(bench_grading_page.problems([slow])) == 2  # both goals


@pytest.mark.sandbox
@pytest.mark.slow
def test_the_steps_of_a_submission_are_all_met(people):
    steps = dict(bench_grading_floor.floor(people, 1))
    assert len(steps) > 15 and all(seconds > 0 for seconds in steps.values()), steps

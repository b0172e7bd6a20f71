"""The simulated class of twelve, and where its answers come from."""

import pytest

from autograder.simulation import demo, demo_answers
from autograder.workspace import Workspace


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.filterwarnings("ignore")  # of nbgrader and nbconvert, which the feedback is made with
def test_the_class_of_twelve_gets_the_marks_it_must(capfd):
    status = demo.main([])
    shown = capfd.readouterr()
    assert status == 0, shown.out + shown.err
    assert "Every mark is as expected." in shown.out
    assert shown.out.count(" ✓") == 12
    assert "is deleted again. To keep such a class: autograder demo --keep" in shown.out


@pytest.mark.parametrize("file", [False, True])
def test_a_folder_that_holds_something_is_refused_at_once(tmp_path, capsys, file):
    (tmp_path / "mine.txt").write_text("mine")
    keep = tmp_path / "mine.txt" if file else tmp_path
    assert demo.main(["--keep", str(keep)]) == 2
    shown = capsys.readouterr()
    assert f"demo: {keep} is there already, and not empty: name a new folder." in shown.err
    assert shown.out == "" and [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_wrong_mark_makes_the_demo_fail(capsys, space):
    from autograder.grading import verdicts
    from autograder.simulation.demo_class import Student

    graded = verdicts.Graded("double", "98_tiny/01_first", "full", 3.0, 3.0, "All hold.")
    verdicts.save(space, verdicts.Submission("98_tiny", "ada", verdicts=[graded]))
    problems = demo.compare(
        space, "98_tiny", [Student("ada", "…", {}, {"double": 2.0}, tells=["deleted"])]
    )
    assert any("3 points, full, ''; expected (2.0" in problem for problem in problems)
    assert any("no verdict tells that something 'deleted'" in problem for problem in problems)
    assert any("the gradebook says 0 points" in problem for problem in problems)


def test_a_known_answer_brings_what_it_uses(project, tmp_path):
    exercises = Workspace(tmp_path, project).load_exercises("98_tiny/01_first")
    wrong = demo_answers.known(exercises["double"], "wrong")
    assert [name for name, _, _ in wrong] == ["squares", "in place", "a column"]
    names: dict = {}
    exec(wrong[0][1], names)
    assert names["double"](3) == 9


def test_a_known_answer_that_uses_the_authors_world_is_left_out(tmp_path):
    import importlib.util

    path = tmp_path / "spec.py"
    path.write_text(
        "import numpy as np\nfrom solutions import spec as authors\n"
        "SCALE = 2\ndef helper(x):\n    return np.add(x, SCALE)\n"
        "def good(x):\n    return helper(x)\ndef bad(x):\n    return authors.f(x)\n"
    )
    spec = importlib.util.spec_from_file_location("spec", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names: dict = {}
    exec(demo_answers.as_student(module.good, "answer"), names)
    assert names["answer"](1) == 3
    with pytest.raises(demo_answers.Unusable, match="only authors have: from solutions import"):
        demo_answers.as_student(module.bad, "answer")

"""`autograder grade ASSIGNMENT --course FOLDER` on a class of awkward hand-ins, and on courses that cannot be graded.

Promised: one bad hand-in stops nobody and is told in words; a cell that ends its process says so and the rest keeps
its points; nothing of another student's or the host's is within reach; manual marks are never overwritten.
"""

import gc
import json
import shutil

import pytest

from autograder.classic import course as courses
from autograder.classic.grade import _in_order, _limits, grade
from autograder.engine.worker_client import Worker
from autograder.grading.lock import locked
from autograder.grading.workers import garbage
from autograder.workspace import Workspace
from tests.classic.toy_course import ANSWERS, PS, find, gradebook, hand_in, released, rows, solved

TESTS = ("test-area", "test-primes", "test-total")
FORGED = """
formatter = get_ipython().display_formatter.formatters["text/plain"]
formatter.for_type(float, lambda value, printer, cycle: printer.text("1000"))
"""
WRAPPED = FORGED.replace('"1000"', '"np.float64(1.5)"')  # as numpy 2 shows its numbers
WORDS = FORGED.replace('"1000"', '"well done"')
PEEKS = """
import os
print(sorted(os.listdir(".")), sorted(os.environ), os.path.exists({folder!r}))
"""
BLOCKS = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
while True:
    pass
"""
FLOODS = """
def primes(n):
    print("x" * 2_000_000)
    return [2, 3] if n else []
"""
SHOWS = """
from IPython.display import HTML, Javascript, display
display(HTML("<script>x()</script><b>bold</b>"), Javascript("x()"))
"""


def _hostile(course):
    notebooks = solved(course, plot=SHOWS, why="<img src=x onerror=x()>")
    cells = notebooks["kinds"]["cells"]
    cells += [
        {"cell_type": kind, "metadata": {}, "source": "<script>x()</script>"}
        for kind in ("raw", "markdown")
    ]
    return notebooks


def impatient(worker, request, seconds, ask=Worker.ask):
    """Not willing to wait for what never ends."""
    return ask(worker, request, 1.0 if request.get("source") == BLOCKS else seconds)


@pytest.fixture(scope="module")
def awkward(course, tmp_path_factory):
    """(the course graded, its status, what was printed)"""
    folder = shutil.copytree(course, tmp_path_factory.mktemp("awkward") / "course")
    good = solved(folder)
    hand_in(folder, "ada", good)
    hand_in(folder, "renamed", {"kinds (1)": good["kinds"], "auto": good["auto"], "scratch": b"{}"})
    hand_in(folder, "broken", {"kinds": b'{"cells": [', "auto": good["auto"]})
    for name in ("kinds.ipynb", ".unfinished"):
        blocker = hand_in(folder, "nothing", {}) / name / "x"
        blocker.parent.mkdir()
        blocker.write_text("in the way")
    secret = hand_in(folder, "links", good) / "secret.txt"
    secret.symlink_to(folder / "submitted/ada" / PS / "kinds.ipynb")
    (secret.parent / "tools.py").mkdir()
    (secret.parent / "tools.py/x").write_text("in the way")
    (secret.parent / "mine.txt").write_text("mine")
    hand_in(folder, "stamped", good, stamp="the day before the last")
    hand_in(folder, "forging", solved(folder, primes=ANSWERS["primes"] + FORGED))
    hand_in(folder, "wrapped", solved(folder, primes=ANSWERS["primes"] + WRAPPED))
    hand_in(folder, "wordy", solved(folder, primes=ANSWERS["primes"] + WORDS))
    changed = solved(folder)
    find(changed["kinds"], "given")["source"] += "\nUNIT = 11"
    hand_in(folder, "changed", changed)
    hand_in(folder, "peeking", solved(folder, plot=PEEKS.format(folder=str(folder))))
    hand_in(folder, "blocking", solved(folder, area=BLOCKS))
    hand_in(folder, "exiting", solved(folder, area="exit()"))
    hand_in(folder, "ending", solved(folder, area="import os\nos._exit(3)"))
    hand_in(folder, "flooding", solved(folder, primes=FLOODS))
    hand_in(folder, "hostile", _hostile(folder))
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("builtins.print", lambda *words, **_: lines.append(" ".join(map(str, words))))
        patch.setattr(Worker, "ask", impatient)
        status = grade(folder, PS)
    return folder, status, "\n".join(lines)


def scores(folder, student):
    told = rows(folder, student)
    return [told["kinds", name]["auto"] for name in TESTS]


def autograded(folder, student, stem="kinds"):
    return json.loads((folder / "autograded" / student / PS / f"{stem}.ipynb").read_text())


def shown(cell):
    return json.dumps(cell.get("outputs", []))


def test_no_garbage_is_collected_while_threads_parse_and_all_is_as_before_at_the_end():
    def fail():
        raise RuntimeError("out of luck")

    assert gc.isenabled()
    assert list(_in_order([gc.isenabled] * 5, 2)) == [False] * 5
    assert gc.isenabled()
    with pytest.raises(RuntimeError, match="out of luck"):
        list(_in_order([fail, gc.isenabled], 2))
    with garbage.only_between():
        assert list(_in_order([gc.isenabled], 1)) == [False]
        assert not gc.isenabled()  # somebody else still needs it so
    assert gc.isenabled() and gc.get_freeze_count() == 0


sandboxed = pytest.mark.sandbox


@sandboxed
def test_everybody_is_graded_and_who_needs_a_look_is_named(awkward):
    folder, status, told = awkward
    assert status == 1 and "16 graded, 7 need a look." in told
    looks = {line.split()[1].strip(":") for line in told.splitlines() if line.endswith("LOOK")}
    assert looks == {"renamed", "broken", "nothing", "links", "stamped", "forging", "wrapped"}
    assert "kinds (1).ipynb was taken for kinds" in told
    assert "the notebook kinds cannot be read: it is no JSON" in told
    assert "its timestamp.txt tells no time" in told


@sandboxed
@pytest.mark.parametrize(
    "student, expected",
    [
        ("ada", [2, 3, 1]),
        ("renamed", [2, 3, 1]),
        ("broken", [0, 0, 0]),
        ("nothing", [0, 0, 0]),
        ("links", [2, 3, 1]),
        ("stamped", [2, 3, 1]),
        ("forging", [2, None, 1]),
        ("wrapped", [2, 3, 1]),  # as nbgrader has it, and told
        ("wordy", [2, 3, 1]),
        ("changed", [2, 3, 1]),
        ("flooding", [2, 1.5, 1]),  # what is printed does not hide the result
        ("blocking", [0, 3, 1]),
        ("exiting", [0, 3, 1]),
        ("ending", [0, 3, 1]),
    ],
)
def test_each_gets_what_the_answers_deserve(awkward, student, expected):
    assert scores(awkward[0], student) == expected


@sandboxed
def test_a_result_that_nbgrader_takes_for_full_points_is_told(awkward):
    _, _, told = awkward
    lost = "test-primes ends with np.float64(1.5), which is no number to nbgrader: full points."
    assert f"{lost} End the test with float(…)" in told
    assert "test-primes ends with well done, which is no number to nbgrader: full points" in told


@sandboxed
def test_a_read_only_cell_that_was_put_back_is_said_in_a_line(awkward):
    folder, _, told = awkward
    line = "kinds: put back as they were handed out, read-only cells: given"
    assert told.count(line) == 1 and told.count("put back") == 1
    assert "UNIT = 11" not in json.dumps(autograded(folder, "changed"))


@sandboxed
@pytest.mark.parametrize("student", ["ada", "renamed"])
def test_a_task_waits_for_a_person_whatever_the_notebook_is_called(awkward, student):
    task = rows(awkward[0], student)["kinds", "effort"]
    assert task["waits"] and task["auto"] is None


@sandboxed
def test_a_task_waits_again_after_a_hand_in_that_lacked_its_notebook_and_a_mark_stays(own, capsys):
    hand_in(own, "eve", {"auto": solved(own)["auto"]})
    hand_in(own, "bob", {"auto": solved(own)["auto"]})
    assert grade(own, PS) == 0
    assert not rows(own, "eve")["kinds", "effort"]["waits"]
    with gradebook(own) as book:
        book.find_grade("effort", "kinds", PS, "bob").manual_score = 1
        book.db.commit()
    for student in ("eve", "bob"):
        hand_in(own, student, solved(own))
    grade(own, PS, force=True)
    told = {student: rows(own, student)["kinds", "effort"] for student in ("eve", "bob")}
    assert told["eve"]["waits"] and told["eve"]["auto"] is None
    assert told["bob"]["manual"] == 1


@sandboxed
def test_a_partial_credit_above_the_most_waits_for_a_person(awkward):
    folder, _, told = awkward
    assert rows(folder, "forging")["kinds", "test-primes"]["waits"]
    assert (
        "test-primes has no score, please mark it by hand: partial credit cannot be greater" in told
    )


@sandboxed
@pytest.mark.parametrize(
    "student, words",
    [
        ("ending", "EndedTheProgram: This cell was run, and it ended the program."),
        (
            "blocking",
            "StoppedAtTheTimeLimit: This cell was run, and it did not end in time and was stopped.",
        ),
        ("exiting", "SystemExit"),
    ],
)
def test_a_cell_that_ends_its_process_says_so(awkward, student, words):
    notebook = autograded(awkward[0], student)
    assert words in shown(find(notebook, "area"))
    assert "NameError" in shown(find(notebook, "test-area"))


@sandboxed
def test_a_sandbox_holds_the_assignments_files_and_nothing_else(awkward):
    folder = awkward[0]
    told = shown(find(autograded(folder, "peeking"), "plot"))
    assert "['tools.py', 'values.txt']" in told and "False" in told and "NBGRADER_EXECUTION" in told
    assert str(folder) not in told


@sandboxed
def test_links_and_what_stands_in_the_way_of_the_assignments_files_are_left_out(awkward):
    folder, _, told = awkward
    there = {path.name for path in (folder / "autograded/links" / PS).iterdir()}
    assert there == {"kinds.ipynb", "auto.ipynb", "tools.py", "values.txt", "mine.txt"}
    assert "secret.txt is a link" in told and "tools.py/x stands in the way" in told


@sandboxed
def test_nothing_of_a_students_runs_in_the_browser_of_whoever_opens_it(awkward):
    notebook = autograded(awkward[0], "hostile")
    texts = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    assert "<pre>&lt;script&gt;x()&lt;/script&gt;</pre>" in texts[-2]  # a raw cell before
    assert not [text for text in (*texts[:-2], texts[-1]) if "x()" in text]
    assert "raw" not in {c["cell_type"] for c in notebook["cells"]}
    told = shown(find(notebook, "plot"))
    assert "<b>bold</b>" in told and "x()" not in told


@sandboxed
def test_who_is_graded_stays_so_until_something_newer_comes_and_marks_are_kept(awkward, capsys):
    folder = awkward[0]
    with gradebook(folder) as book:
        grade_row = book.find_grade("why", "kinds", PS, "ada")
        grade_row.manual_score, grade_row.needs_manual_grade = 1.5, False
        book.find_comment("why", "kinds", PS, "ada").manual_comment = "Well said."
        book.db.commit()
    assert grade(folder, PS, ["ada"]) == 0
    assert "1 are graded already; --force grades them again." in capsys.readouterr().out
    assert grade(folder, PS, ["ada"], force=True) == 0
    told = rows(folder, "ada")["kinds", "why"]
    assert (told["manual"], told["comment"], told["waits"]) == (
        1.5,
        "Well said.",
        True,
    )  # as nbgrader asks again


@sandboxed
def test_a_hand_in_that_was_not_entered_to_its_end_is_graded_again(awkward, monkeypatch, capsys):
    folder = awkward[0]

    def fail(*arguments):
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("autograder.classic.record.Recorder._enter_all", fail)
        assert grade(folder, PS, ["stamped"], force=True) == 1
    told = capsys.readouterr().out
    assert (
        "stamped: NOT entered" in told
        and "it could not be entered: OSError: the disk is full" in told
    )
    grade(folder, PS, ["stamped"])
    assert "stamped: 8 of 14 points" in capsys.readouterr().out


def test_told_so_in_so_many_words_it_grades_without_a_sandbox_and_warns(own, capsys):
    hand_in(own, "bob", solved(own))
    hand_in(own, "cyd", solved(own, area="open('values.txt', 'w').write('spoilt')"))
    assert grade(own, PS, ["bob", "cyd"], sandboxed=False) == 0
    assert scores(own, "bob") == [2, 3, 1]  # its files are its own
    assert "WARNING: no sandbox." in capsys.readouterr().err


@pytest.fixture
def own(course, tmp_path):
    """A copy of the course with one hand-in."""
    folder = shutil.copytree(course, tmp_path / "course")
    hand_in(folder, "ada", released(folder))
    return folder


def refusal(capsys, *arguments):
    assert grade(*arguments) == 2
    return capsys.readouterr().err


def test_courses_that_are_none_are_told_with_what_to_do(own, tmp_path, capsys):
    assert "there is no folder" in refusal(capsys, tmp_path / "no", PS)
    assert "it is no nbgrader course. Name its folder" in refusal(capsys, tmp_path, PS)
    assert "nbgrader generate_assignment ps2" in refusal(capsys, own, "ps2")
    assert "no hand-in of ps1 from zoe. There are: ada." in refusal(capsys, own, PS, ["zoe"])
    shutil.rmtree(own / "submitted")
    assert "nobody has handed in" in refusal(capsys, own, PS)
    (own / "nbgrader_config.py").write_text("c = get_config(\n")
    assert "nbgrader_config.py cannot be read: SyntaxError" in refusal(capsys, own, PS)


def test_the_courses_own_configuration_decides_on_files_and_times(own, monkeypatch):
    monkeypatch.chdir(own)
    assert set(courses.Course(own, PS).own_files()) == {"tools.py", "values.txt"}
    with (own / "nbgrader_config.py").open("a") as config:
        config.write("c.Autograde.exclude_overwriting = {'ps1': ['tools.py']}\n")
        config.write("c.Execute.timeout = 100\nc.CourseDirectory.student_id_exclude = 'ada'\n")
    changed = courses.Course(own, PS)
    assert set(changed.own_files()) == {"values.txt"} and changed.students() == {}
    changed.assignment = "ps (abc)+"
    (own / "submitted" / "bob" / "ps (abc)+").mkdir(parents=True)
    assert list(changed.students()) == ["bob"]
    assert (_limits(changed).cell, _limits(changed).total, _limits(changed).cpu) == (
        100,
        1000,
        1000,
    )


def test_the_course_says_how_much_memory_a_submission_may_hold(own, monkeypatch, capsys):
    monkeypatch.chdir(own)
    usual = _limits(courses.Course(own, PS))
    assert usual.all_memory == 2_000_000_000
    with (own / "nbgrader_config.py").open("a") as config:
        config.write("c.Sandbox.memory_gb = 6\n")
    more = _limits(courses.Course(own, PS))
    assert more.all_memory == 6_000_000_000 and more.memory - usual.memory == 4_000_000_000
    with (own / "nbgrader_config.py").open("a") as config:
        config.write("c.Sandbox.memory_gb = '6'\n")
    assert "c.Sandbox.memory_gb is '6': give the gigabytes" in refusal(capsys, own, PS)


def test_two_runs_on_one_course_do_not_meet(own, capsys):
    with locked(Workspace(own / ".autograder")):
        assert "is grading in" in refusal(capsys, own, PS)


def test_notebooks_of_another_language_are_refused_by_name(own, capsys):
    with gradebook(own) as book:
        book.find_notebook("auto", PS).kernelspec = json.dumps({"name": "ir", "language": "R"})
        book.db.commit()
    assert "auto is written for the kernel 'ir' (R). Only Python can be run here" in refusal(
        capsys, own, PS
    )


def test_files_that_do_not_fit_into_a_sandbox_are_told_before_anything_is_run(own, capsys):
    with (own / "source" / PS / "big.bin").open("wb") as file:
        file.truncate(70_000_000)
    assert "beside the notebooks of ps1 lie 3 files of 70 MB" in refusal(capsys, own, PS)


def test_a_course_is_found_where_one_stands(own, monkeypatch, tmp_path):
    monkeypatch.chdir(own)
    assert courses.here() == own
    monkeypatch.chdir(tmp_path)
    assert courses.here() is None
    monkeypatch.chdir(courses.ROOT)  # this project's own configuration is of another kind
    assert courses.here() is None

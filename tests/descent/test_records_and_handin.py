"""Progress survives what may happen to its file; hand-ins are never overwritten."""

import inspect
import json
import linecache
import os
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from descent import check, handin, hint, progress, records, session, starting, submit
from descent.__main__ import main


def double(x):
    return 2 * x


def entry():
    return records.read()["99_toy/01_double"]["exercises"]["double"]


def test_working_time_leaves_out_breaks(toy, monkeypatch, capsys):
    now = {"t": 100.0}
    monkeypatch.setattr(session, "now", lambda: now["t"])
    records.record_visit("99_toy/01_double")
    now["t"] += 60
    check(double)
    assert entry()["seconds"] == 60 and entry()["solved"] == 160
    now["t"] += 10 * 3600
    check(double)
    assert entry()["seconds"] == 60 and entry()["checks"] == 2


def test_a_broken_record_is_set_aside_not_lost(toy, descent_home, capsys):
    records.path().write_text("{ not json")
    check(double)
    assert entry()["best"]["kind"] == "full"
    assert "It is kept as" in capsys.readouterr().out
    assert [p.read_text() for p in descent_home.glob("progress-broken-*.json")] == ["{ not json"]


def test_a_folder_that_cannot_be_written_breaks_nothing(toy, monkeypatch, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DESCENT_HOME", str(tmp_path / "a file" / "below"))
    assert check(double) == check(double) == 2
    told = capsys.readouterr().out
    assert (
        told.count("your progress cannot be saved in") == 1
    )  # once in a kernel, not at every check
    assert "It counts until the kernel ends." in told


def squared(x):
    return x**2


def check_squared():
    """A wrong answer under the exercise's name, as a demonstration may define one."""
    squared.__name__ = "double"
    return check(squared)


def test_a_wrong_answer_later_does_not_wipe_what_was_solved(saved, capsys):
    check(double)
    assert check_squared() < 2
    assert entry()["best"]["points"] == 2 and entry()["newest"]["points"] < 2
    progress()
    assert "1 of 1 solved, 2 of 2 points" in capsys.readouterr().out
    submit("99_toy", student="ada")  # what is saved is what was solved
    assert "): all solved" in capsys.readouterr().out
    save(saved, inspect.getsource(squared).replace("squared", "double"))
    submit("99_toy", student="ada")
    assert "): not checked as it is saved: double" in capsys.readouterr().out


def test_what_was_solved_in_another_version_is_to_be_checked_again(toy, capsys):
    check(double)
    checks = session.CHECKS / "99_toy" / "01_double.json"
    data = json.loads(checks.read_text())
    data["exercises"]["double"]["cases"][0]["name"] = "asked otherwise"
    checks.write_text(json.dumps(data))
    session.check_data.cache_clear()
    progress()
    assert "0 of 1 solved, 0 of 2 points" in capsys.readouterr().out
    check_squared()
    assert entry()["best"] == entry()["newest"]


def test_the_version_of_an_exercise_does_not_depend_on_its_numbers(toy):
    exercise = session.check_data("99_toy/01_double")["exercises"]["double"]
    other = json.loads(json.dumps(exercise))
    other["cases"][0]["inputs"]["x"] += 1e-15
    other["cases"][0]["expected"] = other["cases"][1]["expected"]
    assert records.version_of(other) == records.version_of(exercise)
    other["cases"][0]["inputs"]["y"] = 1.0
    assert records.version_of(other) != records.version_of(exercise)


OLD = {
    "student": "ada",
    "99_toy/01_double": {
        "seen": 100.0,
        "exercises": {
            "double": {"checks": 3, "seconds": 61.2, "points": 2, "max_points": 2, "kind": "full"}
        },
        "predictions": {"Up?": "yes"},
    },
}


def test_records_of_the_first_format_are_read(toy, capsys):
    records.path().write_text(json.dumps(OLD))
    progress()
    assert "1 of 1 solved, 2 of 2 points" in capsys.readouterr().out
    assert records.guess_of("99_toy/01_double", "Up?", ["yes", "no"]) == "yes"
    check_squared()
    kept = json.loads(records.path().read_text())
    assert kept["format"] == 2 and kept["student"] == "ada"
    assert entry()["checks"] == 4 and entry()["best"]["kind"] == "full"


def test_records_of_a_newer_course_stay_as_they_are(toy, capsys):
    newer = '{"format": 3, "99_toy/01_double": "who knows"}'
    records.path().write_text(newer)
    assert check(double) == check(double) == 2
    assert capsys.readouterr().out.count("kept by a newer edition of the course") == 1
    assert records.path().read_text() == newer


def test_the_board_counts_points(toy, capsys):
    check(double)
    progress()
    assert "1 of 1 solved, 2 of 2 points" in capsys.readouterr().out


def save(course, *sources):
    """The toy's notebook on disk, with these code cells."""
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path = course / "99_toy" / "01_double.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    return path


@pytest.fixture
def saved(toy):
    save(toy, "%matplotlib inline", inspect.getsource(double))
    return toy


def test_a_hand_in_holds_the_notebooks_and_who(saved, capsys):
    first = submit("99_toy", student="ada@x.org")
    with zipfile.ZipFile(first) as bundle:
        assert sorted(bundle.namelist()) == ["99_toy/01_double.ipynb", "manifest.json"]
        manifest = json.loads(bundle.read("manifest.json"))
    assert manifest["student"] == "ada@x.org" and manifest["chapter"] == "99_toy"
    assert first.name.startswith("99_toy--ada@x.org--")
    assert "): not checked as it is saved: double" in capsys.readouterr().out


STUB = '''def double(x):
    """Twice x."""
    raise NotImplementedError
'''
WRONG = "def double(x):\n    return x**2\n"


def run_cell(source):
    """The answer that a cell defines, as a kernel knows it."""
    name = f"<cell {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names := {})
    return names["double"]


@pytest.mark.parametrize(
    ("on_disk", "told"),
    [
        ([STUB], "not answered: double"),
        ([], "not answered: double"),
        ([STUB, "broken = ("], "not answered: double"),
        ([STUB, "%time\ndouble = lambda x: 2 * x"], "not checked as it is saved: double"),
        ([WRONG], "not fully solved: double"),
        ([WRONG + "\n# the newest text counts\n"], "not fully solved: double"),
    ],
)
def test_what_is_not_solved_is_found_in_the_file(toy, on_disk, told, capsys):
    save(toy, *on_disk)
    check(run_cell(WRONG))
    submit("99_toy", student="ada")
    assert f"): {told}" in capsys.readouterr().out


def test_what_is_solved_and_not_saved_is_not_packed(toy, descent_home, capsys):
    path = save(toy, STUB)
    os.utime(path, (1000, 1000))
    check(double)
    with pytest.raises(handin.HandInError, match=r"solved and is not saved: double in 01_double"):
        submit("99_toy", student="ada")
    assert not (descent_home / "handins").exists()
    save(toy, "# saved now", inspect.getsource(double))
    submit("99_toy", student="ada")
    assert "): all solved" in capsys.readouterr().out


def test_who_saved_something_else_since_then_may_hand_that_in(toy, capsys):
    check(double)
    later = session.now() + 60
    os.utime(save(toy, STUB), (later, later))
    submit("99_toy", student="ada")
    assert "): not answered: double" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "{}", "{ cut", '{"cells": 3}', "[" * 10**5])
def test_a_file_that_is_no_notebook_is_told_before_anything_is_packed(toy, descent_home, content):
    save(toy).write_text(content)
    with pytest.raises(handin.HandInError, match=r"01_double\.ipynb is no notebook: it"):
        submit("99_toy", student="ada")
    assert not (descent_home / "handins").exists()


def test_a_notebook_shows_the_sentence_without_a_traceback(saved):
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    shell, shown = InteractiveShell(config=Config(HistoryManager={"enabled": False})), []
    shell._showtraceback = lambda kind, value, lines: shown.extend(lines)
    shell.run_cell("from descent import submit; submit('98_none')")
    assert shown == ["submit: there is no chapter '98_none'. Chapters: 99_toy."]


def test_earlier_hand_ins_are_kept_and_the_name_remembered(saved, monkeypatch, capsys):
    monkeypatch.setattr(session, "now", lambda: 1_000_000.0)
    first = submit("99_toy", student="ada")
    content = first.read_bytes()
    second = submit("99_toy")
    assert second != first and first.read_bytes() == content and "--ada--" in second.name


@pytest.mark.parametrize(
    ("chapter", "student", "message"),
    [
        ("99_toy", None, "who are you"),
        ("99_toy", "../evil", "is no identifier"),
        ("99_toy", "a--b", "is no identifier"),
        ("98_none", "ada", "there is no chapter '98_none'. Chapters: 99_toy"),
        ("../99_toy", "ada", "there is no chapter"),
    ],
)
def test_what_is_missing_is_said(saved, chapter, student, message):
    with pytest.raises(handin.HandInError, match=message):
        submit(chapter, student)


def test_the_command_line_does_the_same(saved, capsys):
    assert main(["submit", "99_toy", "--student", "ada"]) == 0
    assert "Hand in this file:" in capsys.readouterr().out
    assert main(["submit", "98_none"]) == 1
    assert "there is no chapter" in capsys.readouterr().err


@pytest.mark.parametrize(
    "broken",
    [
        '{"99_toy/01_double": 3}',
        '{"99_toy/01_double": {"exercises": [], "predictions": {}}}',
        '{"99_toy/01_double": {"exercises": {"double": 1}, "predictions": {}}}',
        '{"format": 2, "99_toy/01_double": {"exercises": {"double": {"best": {"points": 1}}}}}',
        "[]",
    ],
)
def test_a_record_of_another_shape_is_set_aside(toy, descent_home, broken, capsys):
    records.path().write_text(broken)
    starting.start("99_toy/01_double")
    assert check(double) == 2
    assert entry()["best"]["kind"] == "full"
    assert [p.read_text() for p in descent_home.glob("progress-broken-*.json")] == [broken]


def test_hints_go_on_where_nothing_can_be_written(toy, monkeypatch, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DESCENT_HOME", str(tmp_path / "a file" / "below"))
    for words in ("2 more", "1 more", "That was the last hint."):
        hint(double)
        assert words in capsys.readouterr().out
    records.record_guess("99_toy/01_double", "Up?", "yes", ["yes", "no"])
    assert records.guess_of("99_toy/01_double", "Up?", ["yes", "no"]) == "yes"


def test_a_full_disk_leaves_no_litter(toy, descent_home, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    before = sorted(descent_home.iterdir())
    monkeypatch.setattr(records.json, "dump", full)
    assert check(double) == 2
    assert sorted(descent_home.iterdir()) == before


def record_many(notebook):
    for number in range(30):
        records.record_guess(notebook, f"question {number}", "yes", ["yes"])


def test_two_notebooks_at_once_lose_nothing(toy):
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        list(pool.map(record_many, ["98_a/01_a", "98_b/01_b"]))
    kept = records.read()
    assert [len(kept[n]["guesses"]) for n in ("98_a/01_a", "98_b/01_b")] == [30, 30]


def test_a_renamed_notebook_is_packed_and_the_missing_one_named(saved, capsys):
    (saved / "99_toy" / "01_double.ipynb").rename(saved / "99_toy" / "mine é.ipynb")
    with zipfile.ZipFile(submit("99_toy", student="ada")) as bundle:
        assert "99_toy/mine é.ipynb" in bundle.namelist()
    assert "01_double: missing. If it was renamed, give it this name" in capsys.readouterr().out


def test_a_hand_in_that_cannot_be_written_is_told(saved, monkeypatch, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("DESCENT_HOME", str(tmp_path / "a file" / "below"))
    with pytest.raises(handin.HandInError, match="submit: the file could not be written"):
        submit("99_toy", student="ada")


def test_a_failed_hand_in_leaves_nothing_behind(saved, descent_home, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "write", full)
    with pytest.raises(handin.HandInError, match="No space left"):
        submit("99_toy", student="ada")
    assert list((descent_home / "handins").iterdir()) == []


def test_a_notebook_that_update_kept_is_not_handed_in(saved, capsys):
    kept = saved / "99_toy" / "01_double (before 2026-11-29).ipynb"
    kept.write_text("{}")
    target = submit("99_toy", student="ada")
    assert not any("before" in name for name in zipfile.ZipFile(target).namelist())

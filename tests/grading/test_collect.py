"""What hand-ins are taken, and what is refused with which reason."""

import io
import json
import os
import shutil
import time
import zipfile

import pytest

from autograder.handins import archives, collect, handin
from tests.grading.toy_chapter import CHAPTER, STEM, pack


@pytest.fixture
def take(space):
    """take(path, …) -> outcomes."""
    return lambda *paths: collect.collect(space, CHAPTER, list(paths))


def words(outcome):
    return "; ".join(outcome.words)


def laid_out(space, student):
    return (space.submitted(CHAPTER, student) / f"{STEM}.ipynb").read_text()


def test_a_hand_in_is_laid_out_as_nbgrader_expects(space, take, hand_in, notebook):
    (outcome,) = take(hand_in("ada", notebook()))
    assert outcome.taken and outcome.student == "ada" and outcome.words == ["complete"]
    assert json.loads(laid_out(space, "ada")) == notebook()
    stamp = (space.submitted(CHAPTER, "ada") / "timestamp.txt").read_text().strip()
    local = time.mktime(time.strptime("20260901-120000", "%Y%m%d-%H%M%S"))
    assert stamp == time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(local))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["in order", "newest first"])
def test_the_newest_counts_and_the_older_is_kept(space, take, hand_in, notebook, order):
    paths = [
        hand_in("ada", notebook(double="old = 1"), "20260901-120000"),
        hand_in("ada", notebook(double="new = 1"), "20260902-120000"),
    ]
    outcomes = [take(paths[number])[0] for number in order]
    assert all(outcome.taken for outcome in outcomes)
    assert "new = 1" in laid_out(space, "ada")
    kept = sorted(path.name for path in space.received(CHAPTER, "ada").glob("*.zip"))
    assert kept == [path.name for path in paths]
    assert ("older than" in words(outcomes[1])) == (order == (1, 0))


def test_the_same_file_twice_is_kept_once(space, take, hand_in, notebook):
    path = hand_in("ada", notebook())
    take(path)
    assert "received before" in words(take(path)[0])
    assert len(list(space.received(CHAPTER, "ada").glob("*.zip"))) == 1


def test_another_file_of_the_same_name_is_kept_beside_the_first(space, take, hand_in, notebook):
    take(hand_in("ada", notebook(double="one = 1")))
    take(hand_in("ada", notebook(double="two = 2")))
    assert len(list(space.received(CHAPTER, "ada").glob("*.zip"))) == 2
    assert "two = 2" in laid_out(space, "ada")


def test_the_files_name_counts_not_the_manifest(space, take, hand_in, notebook):
    (outcome,) = take(
        hand_in("ada", notebook(), manifest={"student": "mallory", "chapter": "01_other"})
    )
    assert outcome.student == "ada" and space.students(CHAPTER) == ["ada"]
    assert "manifest says student 'mallory'; the file's name counts" in words(outcome)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b" \n", "it is empty"),
        (b'{"cells": [{"cell_type": "code", "sou', "it ends in the middle"),
        (b"<!DOCTYPE html><html>", "it is a web page"),
        (b"import numpy as np\n", "it looks like a Python script"),
    ],
)
def test_a_notebook_that_cannot_be_read_is_told_with_the_reason(take, hand_in, data, reason):
    (outcome,) = take(hand_in("ada", data))
    assert not outcome.taken
    assert "'01_first' cannot be read as a notebook: " in words(outcome)
    assert reason in words(outcome)


def test_a_renamed_notebook_is_known_by_its_contents(space, take, hand_in, notebook):
    (outcome,) = take(hand_in("ada", notebook(), stem="homework (final)"))
    assert "'homework (final)' is taken for '01_first'" in words(outcome)
    assert json.loads(laid_out(space, "ada")) == notebook()


def test_a_renamed_notebook_without_metadata_is_known_by_its_answers(
    space, take, hand_in, notebook
):
    content = notebook() | {"metadata": {}}
    content["cells"] = [
        cell | {"metadata": {}} for cell in content["cells"] if "start(" not in cell["source"]
    ]
    assert take(hand_in("ada", content, stem="x"))[0].taken
    assert "return 2 * x" in laid_out(space, "ada")


def test_a_copy_beside_the_notebook_is_left_out(space, take, tmp_path, notebook):
    path = tmp_path / f"{CHAPTER}--ada--20260901-120000.zip"
    pack(path, "ada", {STEM: notebook(), f"{STEM}-Copy1": notebook(double="copy = 1")})
    (outcome,) = take(path)
    assert "is a copy of '01_first': left out" in words(outcome)
    assert "copy = 1" not in laid_out(space, "ada")


def test_a_zip_of_many_and_a_folder_of_many_are_opened(space, take, hand_in, notebook, tmp_path):
    paths = [hand_in(name, notebook()) for name in ("ada", "bob")]
    bundle = tmp_path / "download.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        for path in paths:
            archive.write(path, f"some folder/{path.name}")
    assert [outcome.student for outcome in take(bundle)] == ["ada", "bob"]
    assert [outcome.student for outcome in take(paths[0].parent)] == ["ada", "bob"]


@pytest.mark.parametrize("inner", ["", f"{CHAPTER}/"], ids=["plain", "with a chapter folder"])
def test_folders_named_by_student_are_taken(space, take, tmp_path, notebook, inner):
    for student in ("ada", "bob@uni.example"):
        folder = tmp_path / "class" / student / inner
        folder.mkdir(parents=True)
        (folder / f"{STEM}.ipynb").write_text(json.dumps(notebook()))
    assert [outcome.student for outcome in take(tmp_path / "class")] == ["ada", "bob@uni.example"]
    assert space.students(CHAPTER) == ["ada", "bob@uni.example"]


@pytest.mark.parametrize("packed", [False, True], ids=["in a folder", "in a zip"])
def test_zips_named_by_student_are_taken(space, take, tmp_path, notebook, packed):
    folder = tmp_path / "class"
    folder.mkdir()
    for student in ("ada", "bob"):
        with zipfile.ZipFile(folder / f"{student}.zip", "w") as bundle:
            bundle.writestr(f"{STEM}.ipynb", json.dumps(notebook(double=f"{student} = 1")))
    if packed:
        shutil.make_archive(tmp_path / "all", "zip", folder)
    assert sorted(o.student for o in take(tmp_path / "all.zip" if packed else folder)) == [
        "ada",
        "bob",
    ]
    assert "ada = 1" in laid_out(space, "ada") and "bob = 1" in laid_out(space, "bob")


def test_a_folder_whose_name_is_no_identifier_is_refused(take, tmp_path, notebook):
    folder = tmp_path / "class" / "Ada L."
    folder.mkdir(parents=True)
    (folder / f"{STEM}.ipynb").write_text(json.dumps(notebook()))
    (outcome,) = take(tmp_path / "class")
    assert not outcome.taken and "no student's identifier" in words(outcome)


def archive(entries, **options):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in entries:
            bundle.writestr(name, content, **options)
    return data.getvalue()


def link():
    info = zipfile.ZipInfo(f"{CHAPTER}/{STEM}.ipynb")
    info.external_attr = 0o120777 << 16
    return info


INSIDE = f"{CHAPTER}/{STEM}.ipynb"
UNFIT = {
    "no zip": (b"this is no zip", "it is no zip file, or a broken one"),
    "empty": (b"", "it is no zip file, or a broken one"),
    "half a zip": (archive([(INSIDE, "{}")])[:-30], "it is cut off"),
    "a path that climbs": (archive([("../../etc/x.ipynb", "{}")]), "points outside"),
    "an absolute path": (archive([("/etc/x.ipynb", "{}")]), "points outside"),
    "a path of Windows": (archive([("C:\\x.ipynb", "{}")]), "points outside"),
    "a link": (archive([(link(), "/etc/passwd")]), "holds a link"),
    "a bomb": (archive([(INSIDE, "0" * 4_000_000)]), "is larger than 2 MB"),
    "many files": (archive([(f"x{n}", "") for n in range(50)]), "at most 40 are read"),
    "a broken notebook": (archive([(INSIDE, "{")]), "no notebook of 98_tiny that can be read"),
    "nothing": (archive([]), "no notebook of 98_tiny"),
}


@pytest.mark.parametrize("data, reason", UNFIT.values(), ids=UNFIT.keys())
def test_an_unfit_file_is_refused_with_its_reason(space, take, tmp_path, monkeypatch, data, reason):
    monkeypatch.setattr(handin, "MAX_NOTEBOOK", 2_000_000)
    monkeypatch.setattr(archives, "MAX_FILES", 40)
    path = tmp_path / f"{CHAPTER}--ada--20260901-120000.zip"
    path.write_bytes(data)
    (outcome,) = take(path)
    assert not outcome.taken and reason in words(outcome)
    assert space.students(CHAPTER) == []


def test_a_damaged_member_is_refused(take, hand_in, notebook):
    path = hand_in("ada", notebook())
    data = bytearray(path.read_bytes())
    at = data.index(b"double(np.ones")
    data[at : at + 6] = b"DOUBLE"
    path.write_bytes(data)
    (outcome,) = take(path)
    assert not outcome.taken and "cannot be read (BadZipFile)" in words(outcome)


@pytest.mark.parametrize("student", ["..", ".", "-x", ".hidden", "a--b", "a b", "ä"])
def test_a_name_that_is_no_identifier_is_refused(space, take, tmp_path, hand_in, notebook, student):
    path = tmp_path / f"{CHAPTER}--{student}--20260901-120000.zip"
    path.write_bytes(hand_in("ada", notebook()).read_bytes())
    (outcome,) = take(path)
    assert not outcome.taken or outcome.student != student
    assert not (space.folder.parent / CHAPTER).exists()


def test_a_hand_in_of_another_chapter_is_refused(take, tmp_path, notebook):
    path = pack(tmp_path / "03_optimisation--ada--20260901-120000.zip", "ada", {STEM: notebook()})
    (outcome,) = take(path)
    assert not outcome.taken and "of 03_optimisation, not of 98_tiny" in words(outcome)


def test_a_missing_file_is_told(take, tmp_path):
    assert "no such file" in words(take(tmp_path / "nowhere.zip")[0])


def test_one_bad_file_does_not_keep_the_others_out(space, hand_in, notebook, tmp_path, take):
    bad = hand_in("bad", notebook())
    bad.write_bytes(b"PK")
    assert [outcome.taken for outcome in take(bad, hand_in("ada", notebook()))] == [False, True]


def test_the_command_tells_what_it_took_and_refused(
    project, hand_in, notebook, monkeypatch, tmp_path, capsys
):
    from autograder.workspace import Workspace

    monkeypatch.setattr(collect, "workspace", lambda: Workspace(tmp_path / "g", project))
    paths = [str(hand_in("ada", notebook())), str(tmp_path / "nowhere.zip")]
    assert collect.main([CHAPTER, *paths]) == 1
    assert collect.main([CHAPTER, paths[0]]) == 0
    assert collect.main(["97_none", paths[0]]) == 2
    shown = capsys.readouterr()
    assert "took    98_tiny--ada--20260901-120000.zip: complete" in shown.out
    assert "REFUSED" in shown.out
    assert "1 taken (1 new, 0 received before), 1 refused." in shown.out
    assert "1 taken (0 new, 1 received before), 0 refused." in shown.out
    assert "no released chapter '97_none'. There are: 98_tiny" in shown.err


def test_the_grading_folder_is_named_by_the_environment(monkeypatch, tmp_path):
    from autograder.workspace import VARIABLE, workspace

    monkeypatch.setenv(VARIABLE, str(tmp_path / "elsewhere"))
    assert workspace().folder == tmp_path / "elsewhere"


def test_the_key_is_made_once_and_for_its_owner_alone(space):
    key = space.key()
    assert len(key) == 32 and space.key() == key
    assert os.stat(space.folder / "key").st_mode & 0o777 == 0o600

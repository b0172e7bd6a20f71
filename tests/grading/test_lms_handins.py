"""Hand-ins as Moodle and Canvas give them: each is its student's, whatever names and numbers hold, or is refused."""

import json
import zipfile
from zoneinfo import ZoneInfo

import pytest

from autograder.handins import attempts, collect, lms, names, roster
from autograder.handins.policy import Policy
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, STEM, pack

WORKSHEET = (
    'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
)
CANVAS = 'Student,ID,SIS User ID,SIS Login ID,Section,"98 tiny (5521)",Final Score\n'


@pytest.fixture
def zipped(tmp_path):
    """zipped({path: notebook or bytes}) -> a zip of many."""

    def make(files, name="download.zip"):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as bundle:
            for inside, content in files.items():
                data = content if isinstance(content, bytes) else json.dumps(content)
                bundle.writestr(zipfile.ZipInfo(inside, (2026, 9, 3, 8, 0, 0)), data)
        return path

    return make


@pytest.fixture
def known(tmp_path):
    """known(text of a CSV file) -> the roster."""

    def make(text):
        (tmp_path / "roster.csv").write_text(text, encoding="utf-8")
        return roster.read(tmp_path / "roster.csv")

    return make


@pytest.fixture
def take(space):
    """take(path, roster) -> {name: outcome}."""

    def run(path, who=None, rules=None):
        outcomes = collect.take(space, CHAPTER, [path], who, rules or Policy())
        return {outcome.name: outcome for outcome in outcomes}

    return run


def students(outcomes):
    return [outcome.student for outcome in outcomes.values() if outcome.taken]


def answer(space, student):
    cells = json.loads((space.submitted(CHAPTER, student) / f"{STEM}.ipynb").read_text())["cells"]
    return next(cell["source"] for cell in cells if cell["id"] == "double")


MOODLE = {
    "in folders": "{}_assignsubmission_file/01_first.ipynb",
    "in folders, before Moodle 4": "{}_assignsubmission_file_/01_first.ipynb",
    "in folders of their own": "{}_assignsubmission_file_/my work/01_first.ipynb",
    "without folders": "{}_assignsubmission_file_01_first.ipynb",
    "packed by the student": "{}_assignsubmission_file_/work.zip",
    "in capitals": "{}_assignsubmission_file_/01_first.IPYNB",
    "packed by the student in capitals": "{}_assignsubmission_file_/WORK.ZIP",
    "from a Mac, packed again": "download/{}_assignsubmission_file_/01_first.ipynb",
}


@pytest.mark.parametrize("shape", MOODLE.values(), ids=MOODLE.keys())
def test_moodles_zip_is_taken_in_each_of_its_shapes(space, take, zipped, notebook, shape, tmp_path):
    files = {}
    for who, mine in (("Ada Lovelace_1234567", "ada = 1"), ("Jörg Müller_1234568", "joerg = 1")):
        content = notebook(double=mine)
        if shape.lower().endswith(".zip"):
            inner = zipped(
                {"x/01_first.Ipynb": content, "__MACOSX/x/._01_first.ipynb": b"\0"}, "i.zip"
            )
            content = inner.read_bytes()
        files[shape.format(who)] = content
    files["Ada Lovelace_1234567_assignsubmission_onlinetext/onlinetext.html"] = b"<p>hello</p>"
    path = zipped(files)
    assert students(take(path)) == ["ada-lovelace", "joerg-mueller"]
    assert answer(space, "ada-lovelace") == "ada = 1"
    assert answer(space, "joerg-mueller") == "joerg = 1"
    # Unpacked by hand, it is the same.
    other = Workspace(tmp_path / "other", space.project)
    with zipfile.ZipFile(path) as bundle:
        bundle.extractall(tmp_path / "unpacked")
    list(collect.take(other, CHAPTER, [tmp_path / "unpacked"], None, Policy()))
    assert other.students(CHAPTER) == space.students(CHAPTER)


def test_canvass_zip_is_taken_and_late_is_told(space, take, zipped, notebook):
    outcomes = take(zipped({
        "lovelaceada_4711_881234_01_first.ipynb": notebook(double="ada = 1"),
        "müllerjörg_LATE_4712_881299_01_first-2.ipynb": notebook(double="joerg = 1"),
        "oneilbob_4713_881300_link.html": b"<html>",
    }))  # fmt: skip
    assert students(outcomes) == ["lovelaceada", "muellerjoerg"]
    assert answer(space, "muellerjoerg") == "joerg = 1"
    late = {name: attempts.kept(space, CHAPTER, name)[0].late for name in space.students(CHAPTER)}
    assert late == {"lovelaceada": False, "muellerjoerg": True}
    refused = outcomes["oneilbob (Canvas 4713)"]
    assert "it holds no notebook, only 'link.html'" in refused.words[0]


@pytest.mark.parametrize(
    "name", ["lovelaceada_4711_88{}_{}", "Ada Lovelace_1234567_assignsubmission_file_/{1}"]
)
def test_of_a_file_that_was_handed_in_again_the_newest_counts(space, take, zipped, notebook, name):
    given = {"01_first-2": "second = 2", "01_first": "first = 0", "01_first-10": "last = 10"}
    outcomes = take(
        zipped({
            name.format(number, f"{file}.ipynb"): notebook(double=source)
            for number, (file, source) in enumerate(given.items(), 1000)
        })
    )  # fmt: skip
    (student,) = students(outcomes)
    assert answer(space, student) == "last = 10"
    (outcome,) = outcomes.values()
    assert "'01_first' was handed in again as '01_first-10', which counts" in outcome.words
    assert "'01_first-2' was handed in again as '01_first-10', which counts" in outcome.words


def test_a_file_that_submit_wrote_is_known_inside_an_lmss_zip(
    space, take, zipped, notebook, tmp_path
):
    own = f"{CHAPTER}--ada--20260901-120000"
    data = pack(tmp_path / f"{own}.zip", "ada", {STEM: notebook()}).read_bytes()
    take(zipped({f"lovelaceada_4711_881234_{own}-1.zip": data}))
    (attempt,) = attempts.kept(space, CHAPTER, "lovelaceada")
    assert (attempt.stamp, attempt.clock) == ("20260901-120000", "name")


def test_whom_the_lms_names_counts_not_whom_the_file_names(
    space, take, zipped, notebook, tmp_path, known
):
    own = f"{CHAPTER}--ada--20260901-120000.zip"
    data = pack(tmp_path / own, "ada", {STEM: notebook()}).read_bytes()
    who = known("id,name,email\nada,Ada Lovelace,\nmal,Mallory M,\n")
    outcomes = take(zipped({f"Mallory M_9_assignsubmission_file_/{own}": data}), who)
    assert students(outcomes) == ["mal"] and space.students(CHAPTER) == ["mal"]
    assert "its file is named for 'ada', taken for 'mal'" in outcomes[own].words


def test_a_roster_is_asked_by_number_then_by_name(space, take, zipped, notebook, known):
    who = known(
        CANVAS + '"Lovelace, Ada",4711,,ada@uni.example,A,,\n' + '"Müller, Jörg",4712,,jm,A,,\n'
        '"Müller, Jörg",4799,,jm2,B,,\n'
    )
    path = zipped({
        "anothername_4711_881234_01_first.ipynb": notebook(),
        "müllerjörg_4799_881235_01_first.ipynb": notebook(),
        "strangerada_5000_881236_01_first.ipynb": notebook(),
        "lovelaceada_4712_881237_01_first.ipynb": notebook(),
    })  # fmt: skip
    outcomes = take(path, who)
    assert students(outcomes) == ["ada@uni.example", "jm2"]
    assert outcomes["strangerada (Canvas 5000)"].words == [
        "strangerada (Canvas 5000) is nobody in roster.csv"
    ]
    assert (
        "is jm by the number and ada@uni.example by the name"
        in outcomes["lovelaceada (Canvas 4712)"].words[0]
    )


NAMES = [
    'Lovelace, "Countess" Ada',
    "Müller, Jörg-Peter",
    "=1+1",
    "O'Neil, Bob",
    "Nguyễn Văn An",
    "李 小龙",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_matched_to_the_roster(space, take, zipped, notebook, known, name):
    quoted = name.replace('"', '""')
    who = known(f'name,student id\n"Somebody Else",s0\n"{quoted}",s1\n')
    shown = name.replace('"', "").replace("'", "")  # what Moodle leaves of it
    outcomes = take(zipped({f"{shown}_77_assignsubmission_file_/01_first.ipynb": notebook()}), who)
    assert students(outcomes) == ["s1"]


def test_a_name_without_blanks_is_another_name_except_in_canvas(take, zipped, notebook, known):
    who = known("student id,name\ns1,An Na\n")
    moodle = take(zipped({"Anna_77_assignsubmission_file_/01_first.ipynb": notebook()}), who)
    assert students(moodle) == []
    assert students(take(zipped({"naan_771_8812_01_first.ipynb": notebook()}), who)) == ["s1"]


def test_two_students_of_one_name_are_told_apart_or_refused(space, take, zipped, notebook, known):
    files = {
        "Ada Lovelace_1_assignsubmission_file_/01_first.ipynb": notebook(double="one = 1"),
        "Ada Lovelace_2_assignsubmission_file_/01_first.ipynb": notebook(double="two = 2"),
    }
    who = known("student id,name\na1,Ada Lovelace\na2,Ada Lovelace\n")
    refused = take(zipped(files), who)
    assert students(refused) == [] and "may be a1 or a2" in next(iter(refused.values())).words[0]
    who = known(
        WORKSHEET
        + "Participant 1,Ada Lovelace,a1,,,,,,-,-,\nParticipant 2,Ada Lovelace,a2,,,,,,-,-,\n"
    )
    assert students(take(zipped(files), who)) == ["a1", "a2"]
    assert answer(space, "a2") == "two = 2"


def test_without_a_roster_a_second_student_of_the_name_is_refused(space, take, zipped, notebook):
    """Also when the other comes in another zip: nobody's work is taken for a namesake's."""
    first = "Ada Lovelace_1_assignsubmission_file_/01_first.ipynb"
    second = "ada lovelace_2_assignsubmission_file_/01_first.ipynb"
    take(zipped({first: notebook(double="one = 1")}))
    (outcome,) = take(zipped({second: notebook(double="two = 2")})).values()
    assert not outcome.taken and "has handed in before as Moodle 1" in outcome.words[0]
    assert answer(space, "ada-lovelace") == "one = 1"


def test_a_worksheet_tells_when_it_was_handed_in(space, take, zipped, notebook, known):
    who = known(
        WORKSHEET + "Participant 7,Ada Lovelace,ada,ada@uni.example,Submitted,,5.00,Yes,"
        '"Wednesday, 2 September 2026, 2:14 PM",-,\n'
    )
    take(zipped({"Ada Lovelace_7_assignsubmission_file_/01_first.ipynb": notebook()}), who)
    (attempt,) = attempts.kept(space, CHAPTER, "ada")
    assert (attempt.stamp, attempt.clock) == ("20260902-141400", "lms")


def test_a_second_download_of_the_same_files_is_no_second_attempt(
    space, take, zipped, notebook, tmp_path
):
    inside = "Ada Lovelace_7_assignsubmission_file_/01_first.ipynb"
    take(zipped({inside: notebook()}))
    again = tmp_path / "again.zip"
    with zipfile.ZipFile(again, "w") as bundle:
        bundle.writestr(zipfile.ZipInfo(inside, (2026, 9, 9, 8, 0, 0)), json.dumps(notebook()))
    (outcome,) = take(again).values()
    assert "received before" in outcome.words
    assert len(attempts.kept(space, CHAPTER, "ada-lovelace")) == 1


def test_a_better_time_is_noted_when_the_worksheet_comes_later(
    space, take, zipped, notebook, known
):
    path = zipped({"Ada Lovelace_7_assignsubmission_file_/01_first.ipynb": notebook()})
    text = "Participant 7,Ada Lovelace,ada,,,,,,{},-,\n"
    take(path, known(WORKSHEET + text.format("-")))
    take(path, known(WORKSHEET + text.format('"Wednesday, 2 September 2026, 2:14 PM"')))
    (attempt,) = attempts.kept(space, CHAPTER, "ada")
    assert (attempt.stamp, attempt.clock) == ("20260902-141400", "lms")
    take(path, known(WORKSHEET + text.format("-")))
    assert attempts.kept(space, CHAPTER, "ada") == [attempt]


def test_moodles_time_is_corrected_and_makes_no_second_attempt(
    space, take, zipped, notebook, known
):
    path = zipped({"Ada Lovelace_7_assignsubmission_file_/01_first.ipynb": notebook()})
    text = WORKSHEET + 'Participant 7,Ada Lovelace,ada,,,,,,"2 September 2026, {} PM",-,\n'
    take(path, known(text.format("2:14")), Policy(zone=ZoneInfo("UTC")))
    (outcome,) = take(
        path, known(text.format("4:14")), Policy(zone=ZoneInfo("Europe/Berlin"))
    ).values()
    (attempt,) = attempts.kept(space, CHAPTER, "ada")
    assert (attempt.stamp, attempt.submitted) == ("20260902-161400", "2026-09-02 14:14:00 UTC")
    assert "handed in 2026-09-02 16:14 CEST, as Moodle says" in outcome.words
    assert (
        outcome.words[-1]
        == "its time is corrected: 2026-09-02 16:14 CEST, before 2026-09-02 14:14 CEST"
    )
    assert not outcome.new
    # What a student hands in later, and is another file, is another attempt.
    other = zipped(
        {"Ada Lovelace_7_assignsubmission_file_/01_first.ipynb": notebook(double="x = 1")}
    )
    take(other, known(text.format("5:14")))
    assert len(attempts.kept(space, CHAPTER, "ada")) == 2


def test_the_command_tells_of_times_without_a_zone_of_names_and_of_who_is_missing(
    space, zipped, notebook, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    path = zipped({"Ada Lovelace_7_assignsubmission_file_/01_first.ipynb": notebook()})
    row = 'Participant {},{},{},,,,,,"2 September 2026, 2:14 PM",-,\n'
    rows = row.format(7, "Ada Lovelace", "ada") + row.format(8, "Bob B", "bob")
    (tmp_path / "class.csv").write_text(WORKSHEET + rows, encoding="utf-8")
    assert collect.main([CHAPTER, str(path), "--roster", str(tmp_path / "class.csv")]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("this machine's time zone") == 1
    assert "took    Ada Lovelace (Moodle 7) for ada: " in shown.out
    assert "Handed in nothing: 1 of 2 in the roster (bob)." in shown.out
    assert names.read(space)["ada"]["last_name"] == "Lovelace"
    (space.folder / "policy.toml").write_text('timezone = "UTC"')
    collect.main([CHAPTER, str(path), "--roster", str(tmp_path / "class.csv")])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("cut", [0.5, 0.9, 0.999])
def test_a_zip_of_many_that_was_cut_off_is_no_student(space, take, zipped, notebook, tmp_path, cut):
    """The zips of the students in it are whole, and zipfile takes the last of them for all there is."""
    files = {}
    for number in range(5):
        inner = tmp_path / "inner.zip"
        with zipfile.ZipFile(inner, "w") as bundle:
            bundle.writestr("01_first.ipynb", json.dumps(notebook()))
        files[f"student{number}.zip"] = inner.read_bytes()
    data = zipped(files, "class.zip").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "class.zip").write_bytes(data[: int(cut * len(data))])
    (outcome,) = take(tmp_path / "cut" / "class.zip").values()
    assert not outcome.taken and "it is cut off" in outcome.words[0]
    assert "download it again" in outcome.words[0] and space.students(CHAPTER) == []
    assert len(students(take(tmp_path / "class.zip"))) == 5


def test_a_namesake_whom_canvass_export_does_not_have_is_refused(take, zipped, notebook, known):
    who = known(CANVAS + '"Lovelace, Ada",4711,,ada,A,,\n')
    assert students(take(zipped({"lovelaceada_5000_881234_01_first.ipynb": notebook()}), who)) == []


def test_direct_hand_ins_must_be_of_somebody_in_the_roster(take, hand_in, notebook, known):
    who = known("id,name,email\nada,Ada Lovelace,ada.l@uni.example\n")
    assert students(take(hand_in("ada.l@uni.example", notebook()), who)) == ["ada"]
    (outcome,) = take(hand_in("adda", notebook()), who).values()
    assert outcome.words == ["'adda' is nobody in roster.csv"]


def test_names_of_the_terminal_are_not_printed(space, zipped, notebook, capsys, monkeypatch):
    monkeypatch.setattr(collect, "workspace", lambda: space)
    path = zipped({"Ada\u009b31m_7_assignsubmission_file_/01_first.ipynb": notebook()})
    collect.main([CHAPTER, str(path)])
    assert "\u009b" not in capsys.readouterr().out


def test_a_name_longer_than_any_file_has_is_nobodys():
    """Matching it could take minutes: names in a zip may have 65,535 characters."""
    long = "anon_1" * 10_000 + "_22_33_x.ipynb"
    assert lms.canvas(long) is None and lms.moodle((long,)) is None


def test_whom_canvas_does_not_name_is_known_by_the_number_it_made_up():
    for late in ("", "LATE_"):
        told = lms.canvas(f"{late}anon_x7Kp2_881234_01_first.ipynb")
        assert (told.person.number, told.file, told.late) == (
            "anon_x7Kp2",
            "01_first.ipynb",
            bool(late),
        )

"""The tables of marks: right numbers under the course's policy, and names that arrive as they left."""

import csv
import io
import json
import re
import shutil

import pytest

from autograder.grading import verdicts
from autograder.grading.gradebook.book import open_gradebook
from autograder.grading.verdicts import Submission
from autograder.handins import attempts, policy
from autograder.handins.attempts import Attempt
from autograder.results import export, lms_tables, marks
from autograder.workspace import VARIABLE, Workspace

# nbgrader's own order of adding rows makes SQLAlchemy warn.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

CHAPTER, STEM = "03_optimisation", "01_gd"
GD, WHY = f"{CHAPTER}/{STEM}/gd", f"{CHAPTER}/{STEM}/why"
# student id -> name: whatever a spreadsheet, a CSV reader or a formula could trip over.
NAMES = {
    "ada": 'Lovelace, "Countess" Ada',
    "jm@uni.example": "Müller; Jörg\nPeter",
    "eve": "=1+1",
    "bob": "+49 O'Neil",
    "tab": "\t=cmd|' /C calc'!A0",
    "at": "@SUM(A1)",
    "minus": "-2+3",
}


@pytest.fixture
def space(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return Workspace(tmp_path)


@pytest.fixture(scope="module")
def gradebook_file(tmp_path_factory):
    """A gradebook where everybody has 1.5 of 2 for gd, and 1 of 2, by hand, for why."""
    space = Workspace(tmp_path_factory.mktemp("gradebook"))
    with open_gradebook(space) as book:
        book.add_assignment(CHAPTER)
        book.add_notebook(STEM, CHAPTER)
        for name in ("check-gd", "why"):
            book.add_grade_cell(name, STEM, CHAPTER, max_score=2, cell_type="code")
        for student in NAMES:
            book.add_student(student)
            submission = book.add_submission(CHAPTER, student)
            for grade in submission.notebooks[0].grades:
                grade.auto_score = 1.5 if grade.cell.name == "check-gd" else None
                grade.manual_score = 1.0 if grade.cell.name == "why" else None
                grade.needs_manual_grade = False
        book.db.commit()
    return space.folder / "gradebook.db"


@pytest.fixture
def book(space, gradebook_file):
    """A workspace with a copy of that gradebook."""
    shutil.copy(gradebook_file, space.folder)
    return space


@pytest.fixture
def received(book):
    """received(student, stamp, clock="name", late=False): hands in, as an attempt that is graded."""

    def make(student, stamp, clock="name", late=False, graded=True):
        attempt, data = Attempt("", stamp, clock, late), f"{student} {stamp}".encode()
        attempt = attempts.keep(book, CHAPTER, student, data, attempt).attempt
        if graded:
            current = book.received(CHAPTER, student) / "current.json"
            current.write_text(json.dumps({"file": attempt.file}))
            verdicts.save(book, Submission(CHAPTER, student, file=attempt.file))

    return make


@pytest.fixture
def table(book, tmp_path, capsys):
    """table(arguments) -> (status, rows, stderr), read back as a spreadsheet would read the file."""

    def run(*arguments):
        path = tmp_path / "marks.csv"
        status = export.main([*arguments, "--output", str(path)])
        told = capsys.readouterr().err
        return status, list(csv.reader(io.StringIO(path.read_text("utf-8"), newline=""))), told

    return run


def write_policy(space, text):
    (space.folder / "policy.toml").write_text('timezone = "UTC"\n' + text)


def cells(rows, row):
    return dict(zip(rows[0], rows[[r[0] for r in rows].index(row)], strict=True))


def test_one_column_an_exercise_with_manual_marks(book, table):
    status, rows, _ = table("--to", "csv")
    assert status == 0 and rows[0] == ["student", GD, WHY, "total"]
    assert rows[1] == ["(maximum)", "2.0", "2.0", "4.0"]
    assert [row[0] for row in rows[2:]] == sorted(NAMES)
    assert {tuple(row[1:]) for row in rows[2:]} == {("1.5", "1.0", "2.5")}
    columns, scores = export.marks(book)
    assert columns == [GD, WHY] and scores["ada"] == {GD: 1.5, WHY: 1.0}


def test_lateness_is_a_column_and_no_score_is_changed(book, table, received):
    write_policy(
        book,
        f"[deadlines]\n{CHAPTER} = 2026-09-01T12:00:00\n[late]\npercent_per_day = 25\nat_most = 60",
    )
    for student, stamp in [
        ("ada", "20260901-120000"),
        ("bob", "20260902-130000"),
        ("eve", "20260909-120000"),
    ]:
        received(student, stamp)
    _, rows, _ = table()
    late = [
        f"{CHAPTER}: {word}" for word in ("before penalty", "days late", "penalty", "after penalty")
    ]
    assert rows[0] == ["student", GD, WHY, *late, "total"]
    assert cells(rows, "ada") == dict(
        zip(rows[0], ["ada", "1.5", "1.0", "2.5", "0", "0", "2.5", "2.5"], strict=True)
    )
    assert rows[1][1:] == ["2.0", "2.0", "4.0", "", "", "4.0", "4.0"]
    assert list(cells(rows, "bob").values())[1:] == ["1.5", "1.0", "2.5", "2", "-2.0", "0.5", "0.5"]
    # At most 60 % of 4 points; and 0.1 would be left, never less than 0.
    assert list(cells(rows, "eve").values())[3:] == ["2.5", "8", "-2.4", "0.1", "0.1"]
    assert export.marks(book)[1]["bob"] == {GD: 1.5, WHY: 1.0}
    write_policy(book, f"[deadlines]\n{CHAPTER} = 2026-09-30T12:00:00\n")
    assert table()[1][0] == ["student", GD, WHY, "total"]


def test_nobody_gets_less_than_nothing(book, table, received):
    write_policy(
        book, f"[deadlines]\n{CHAPTER} = 2026-08-01T12:00:00\n[late]\npercent_per_day = 90"
    )
    received("ada", "20260901-120000")
    assert cells(table()[1], "ada")[f"{CHAPTER}: penalty"] == "-2.5"
    assert cells(table()[1], "ada")["total"] == "0.0"


def test_a_dropped_exercise_counts_for_nobody(book, table, received):
    write_policy(
        book,
        f'drop = ["{WHY}"]\n[deadlines]\n{CHAPTER} = 2026-09-01T12:00:00\n[late]\npercent_per_day = 50',
    )
    received("ada", "20260901-130000")
    _, rows, _ = table()
    assert WHY not in rows[0] and cells(rows, "bob")["total"] == "1.5"
    assert cells(rows, "(maximum)")["total"] == "2.0"
    assert cells(rows, "ada")[f"{CHAPTER}: penalty"] == "-1.0"  # half of the 2 points that are left


@pytest.fixture
def deeper(book, tmp_path_factory, monkeypatch):
    """As if `why` stood in a deeper section of the release."""
    parts = {GD: "core", WHY: "deeper"}
    for module in (policy, marks):
        monkeypatch.setattr(module, "parts", lambda space, chapter: parts)


def test_core_and_deeper_are_columns_of_their_own_where_there_is_both(deeper, book, table):
    _, rows, _ = table()
    assert rows[0] == ["student", GD, WHY, f"{CHAPTER}: core", f"{CHAPTER}: deeper", "total"]
    assert rows[1][1:] == ["2.0", "2.0", "2.0", "2.0", "4.0"]
    assert list(cells(rows, "bob").values())[1:] == ["1.5", "1.0", "1.5", "1.0", "2.5"]


def test_what_is_deeper_does_not_count_where_the_policy_says_so(deeper, book, table):
    write_policy(book, "deeper = false")
    _, rows, _ = table()
    assert rows[0] == ["student", GD, "total"] and cells(rows, "bob")["total"] == "1.5"


@pytest.mark.parametrize(
    "text, words",
    [
        (f'drop = ["{CHAPTER}/{STEM}/gdd"]', f"drop: there is no exercise '{CHAPTER}/{STEM}/gdd'"),
        ('drop = ["99_none/01_x/y"]', "drop: there is no exercise '99_none/01_x/y'"),
        (
            "[extra_time]\nadda = { days = 1 }",
            "extra_time.adda: there is no student 'adda'. There are: ada",
        ),
        ("[deadlines]\n33_none = 2026-09-01T12:00:00", "deadlines.33_none: there is no chapter"),
    ],
)
def test_a_policy_on_what_there_is_not_exports_nothing(book, capsys, text, words):
    write_policy(book, text)
    assert export.main([]) == 2
    out, err = capsys.readouterr()
    assert words in err and out == ""


def test_an_attempt_that_the_policy_would_not_choose_is_told(book, table, received):
    write_policy(book, f"[deadlines]\n{CHAPTER} = 2026-09-01T12:00:00\n")
    received("ada", "20260901-110000", graded=False)
    received("ada", "20260905-110000")
    status, _, told = table()
    assert status == 1
    assert (
        "20260905-110000.zip was graded, but 03_optimisation--ada--20260901-110000.zip counts"
        in told
    )


def test_a_time_that_nobody_knows_costs_nothing_and_is_told(book, table, received):
    write_policy(
        book, f"[deadlines]\n{CHAPTER} = 2026-09-01T12:00:00\n[late]\npercent_per_day = 10"
    )
    received("ada", "20260905-110000", "file")
    received("bob", "20260905-110000", "file", late=True)
    received("eve", "20260906-110000", "file")
    status, rows, told = table()
    assert status == 1 and "ada, eve: its time is not known: counted as in time" in told
    assert "bob: its time is not known, but the LMS calls it late: counted as one" in told
    assert cells(rows, "ada")["total"] == "2.5" and cells(rows, "bob")["total"] == "2.1"


def roster_of_canvas(space):
    rows = [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            "03 optimisation (5521)",
            "Quiz (7)",
            "Final Score",
        ],
        ["", "", "", "", "", "Manual Posting", "", ""],
        ["    Points Possible", "", "", "", "", "4", "10", "(read only)"],
    ]
    for number, (student, name) in enumerate(NAMES.items(), 4711):
        rows.append([name, str(number), f"s{number}", student, "A; B", "3", "9", "80"])
    rows.append(["Nobody, Known", "4799", "", "nobody", "A", "2", "8", "70"])
    return write(space, rows)


def write(space, rows):
    path = space.folder / "roster.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def harmless(cell):
    return lms_tables.safe(cell) == cell


def test_canvas_reads_back_each_mark_by_its_id(book, table):
    """As Canvas's importer does: columns up to Section, the assignment's id in its title, students by ID."""
    status, rows, told = table(CHAPTER, "--to", "canvas", "--roster", str(roster_of_canvas(book)))
    assert status == 0
    assert told == f"export: {CHAPTER}: Handed in nothing: 1 of 8 in the roster (nobody).\n"
    assert rows[0] == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "03 optimisation (5521)",
    ]
    assert rows[1] == ["    Points Possible", "", "", "", "", "4"]
    numbers = {str(number): name for number, name in enumerate(NAMES.values(), 4711)}
    assert {row[1]: row[0].removeprefix("'") for row in rows[2:]} == numbers
    assert {row[5] for row in rows[2:]} == {"2.5"}
    assert all(harmless(cell) for row in rows for cell in row)
    # Whoever has no mark has no row: an empty cell would delete what Canvas has.
    assert "4799" not in [row[1] for row in rows]


def test_pandas_reads_the_same_names(book, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "marks.csv"
    export.main(
        [CHAPTER, "--to", "canvas", "--roster", str(roster_of_canvas(book)), "--output", str(path)]
    )
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False)
    names = [name.removeprefix("'") for name in frame["Student"][1:]]
    assert sorted(names) == sorted(NAMES.values())
    export.main(["--output", str(path)])
    frame = pandas.read_csv(path)[1:]  # without the maxima
    assert set(frame["student"]) == set(NAMES) and set(frame["total"]) == {2.5}


def test_canvas_is_told_of_other_points_and_of_an_unknown_assignment(book, table):
    path = roster_of_canvas(book)
    path.write_text(path.read_text("utf-8").replace(",4,10,", ",100,10,"), "utf-8")
    status, rows, told = table(CHAPTER, "--to", "canvas", "--roster", str(path))
    assert status == 1 and "is worth 100 points, but the chapter 4" in told and rows[1][5] == "100"
    path.write_text(
        path.read_text("utf-8").replace("03 optimisation (5521)", "Descent (5521)"), "utf-8"
    )
    status, rows, told = table(CHAPTER, "--to", "canvas", "--roster", str(path))
    assert status == 1 and "Canvas will ask which it is" in told
    assert rows[0][5] == CHAPTER and rows[1][5] == "4"


WORKSHEET = ["Identifier", "Full name", "ID number", "Status", "Grade", "Maximum Grade"]
WORKSHEET += [
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
]
REST = ["4.00", "Yes", "-", "-"]


def test_moodles_worksheet_comes_back_with_nothing_changed_but_grades(book, table):
    given = [WORKSHEET]
    for number, (student, name) in enumerate(NAMES.items(), 1234567):
        feedback = '=good, "very"\n'
        given.append([f"Participant {number}", name, student, "Submitted", "", *REST, feedback])
    given.append(["Participant 99", "Nobody", "n", "No submission", "1.00", *REST, ""])
    status, rows, told = table(CHAPTER, "--to", "moodle", "--roster", str(write(book, given)))
    assert status == 0 and told.count("\n") == 1 and "Handed in nothing: 1 of 8" in told
    assert rows[0] == WORKSHEET and len(rows) == len(given)
    exact = [0, 5, 8, 9]
    assert [[row[n] for n in exact] for row in rows] == [[row[n] for n in exact] for row in given]
    assert [row[4] for row in rows[1:]] == ["2.5"] * len(NAMES) + ["1.00"]
    assert [row[1].removeprefix("'") for row in rows] == [row[1] for row in given]
    assert all(harmless(row[1]) for row in rows)


def test_a_worksheet_with_semicolons_keeps_them(book, tmp_path, capsys):
    lines = [";".join(WORKSHEET)]
    for number, student in enumerate(NAMES, 1234567):
        row = [f"Participant {number}", f'"{number}; of all"', student, "Submitted", "", *REST, ""]
        lines.append(";".join(row))
    path, out = tmp_path / "worksheet.csv", tmp_path / "marks.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    told = [CHAPTER, "--to", "moodle", "--roster", str(path), "--output", str(out)]
    assert export.main(told) == 0
    rows = list(csv.reader(io.StringIO(out.read_text("utf-8"), newline=""), delimiter=";"))
    assert rows[0] == WORKSHEET and {row[4] for row in rows[1:]} == {"2.5"}
    assert rows[1][1] == "1234567; of all"


def test_a_table_of_ids_and_names_serves_moodle_too(book, table):
    ids = write(book, [["id", "name"], *[[student, student] for student in NAMES]])
    status, rows, _ = table(CHAPTER, "--to", "moodle", "--roster", str(ids))
    assert status == 0 and rows[0] == ["id", CHAPTER] and len(rows) == len(NAMES) + 1


def participants(space, emails):
    rows = [["First name", "Last name", "ID number", "Email address"]]
    for number, (student, name) in enumerate(NAMES.items()):
        rows.append([name, "", student, emails.get(student, f"{number}@uni.example")])
    return write(space, rows)


def test_moodles_gradebook_is_matched_by_address_or_by_a_harmless_id(book, table):
    status, rows, told = table(CHAPTER, "--to", "moodle", "--roster", str(participants(book, {})))
    assert status == 0 and rows[0] == ["Email address", CHAPTER]
    assert told == f"export: {CHAPTER}: Handed in nothing: 0 of 7 in the roster.\n"
    assert sorted(rows[1:]) == [[f"{n}@uni.example", "2.5"] for n in range(len(NAMES))]
    strange = participants(book, {"ada": "=1+1@uni.example"})
    status, rows, _ = table(CHAPTER, "--to", "moodle", "--roster", str(strange))
    assert status == 0 and rows[0] == ["ID number", CHAPTER]
    assert sorted(row[0] for row in rows[1:]) == sorted(NAMES)


def test_an_address_that_is_a_formula_stays_exact_and_is_told(book, table):
    path = participants(book, {"ada": "=1+1@uni.example", "jm@uni.example": "jm@uni.example"})
    text = path.read_text("utf-8").replace(",jm@uni.example,", ",,")
    path.write_text(text, "utf-8")  # not everybody has an id: there is no way around the address
    status, rows, told = table(CHAPTER, "--to", "moodle", "--roster", str(path))
    assert status == 1 and ["=1+1@uni.example", "2.5"] in rows
    assert (
        "Email address '=1+1@uni.example' of ada is a formula to a spreadsheet: import this file unopened"
        in told
    )


def test_without_a_roster_moodle_gets_our_ids(book, table):
    _, rows, _ = table(CHAPTER, "--to", "moodle")
    assert rows[0] == ["ID number", CHAPTER] and sorted(row[0] for row in rows[1:]) == sorted(NAMES)


def test_a_deadline_of_ours_beats_what_canvas_calls_late(book, table, received):
    text = f"[deadlines]\n{CHAPTER} = 2026-09-01T12:00:00\n[late]\npercent_per_day = 10\n"
    write_policy(book, text + "[extra_time]\nbob = { days = 2 }\neve = { days = 2 }\n")
    received("ada", "20260901-110000", late=True)
    received("bob", "20260902-110000", "lms", late=True)
    received("eve", "20260910-110000", "file", late=True)
    status, rows, told = table()
    assert status == 1 and {row[-1] for row in rows[2:]} == {"2.5"}
    assert re.search("ada: the LMS calls it late, but its time is before the deadline", told)
    assert re.search(
        "eve: .*there is extra time, and its time is not known: counted as in time", told
    )


def test_without_a_deadline_what_an_lms_calls_late_is_one_day(book, table, received):
    write_policy(book, "[late]\npercent_per_day = 10\n")
    received("ada", "20260901-110000", late=True)
    received("bob", "20260901-110000")
    _, rows, _ = table()
    assert (cells(rows, "ada")["total"], cells(rows, "bob")["total"]) == ("2.1", "2.5")


def test_who_handed_in_nothing_is_named_and_has_an_empty_row(book, table):
    path = participants(book, {})
    path.write_text(
        path.read_text("utf-8") + "Zoe,Z,zoe,zoe@uni.example\nYu,Y,=yu,yu@uni.example\n"
    )
    status, rows, told = table("--roster", str(path))
    assert status == 0 and told.count("Handed in nothing: 2 of 9 in the roster") == 1
    assert rows[-2:] == [["zoe", "", "", ""], ["yu", "", "", ""]] and len(rows) == len(NAMES) + 4


def test_waiting_answers_are_told_with_what_to_do(book, table):
    with open_gradebook(book) as open_book:
        submission = open_book.find_submission(CHAPTER, "ada")
        for grade in submission.notebooks[0].grades:
            grade.needs_manual_grade = grade.cell.name == "why"
        open_book.db.commit()
    status, _, told = table()
    assert status == 0
    assert told == (
        "export: 1 submission has a written answer that nobody has marked; it counts 0 until then. "
        "Mark: make grading-lab.\n"
    )


def test_a_worksheet_without_ids_is_matched_by_the_number_that_came_with_the_hand_in(book, table):
    attempts.keep(
        book, CHAPTER, "ada", b"zip", Attempt("", "20260901-110000", lms="Moodle 1234567")
    )
    given = [
        WORKSHEET[:2] + WORKSHEET[3:],
        ["Participant 1234567", "Ada Lovelace", "Submitted", "", *REST, ""],
    ]
    status, rows, told = table(CHAPTER, "--to", "moodle", "--roster", str(write(book, given)))
    assert rows[1][3] == "2.5" and status == 1 and "ada" not in told
    assert told.count("left out") == len(NAMES) - 1


def test_whoever_is_not_in_the_roster_is_left_out_and_told(book, table):
    path = participants(book, {})
    path.write_text(
        "\n".join(line for line in path.read_text("utf-8").split("\n") if ",ada," not in line),
        "utf-8",
    )
    status, rows, told = table(CHAPTER, "--to", "moodle", "--roster", str(path))
    assert status == 1 and len(rows) == len(NAMES)
    assert "left out: 'ada' is nobody in roster.csv" in told


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--to", "canvas", CHAPTER], "give --roster"),
        (
            ["--to", "canvas", CHAPTER, "--roster", "PARTICIPANTS"],
            "is no export of Canvas's gradebook",
        ),
        (["--to", "moodle", "99_none"], "there is no chapter '99_none'. There are: "),
        (["03_optimization"], "no chapter '03_optimization'. There are: 03_optimisation, "),
        (["--to", "moodle", "00_start_here"], "autograder grade"),
        (["--to", "moodle", CHAPTER, "--roster", "CANVAS"], "give Moodle's grading worksheet"),
        (["--roster", "/nowhere.csv"], "/nowhere.csv cannot be read"),
        (["--output", "/nowhere/marks.csv"], "/nowhere/marks.csv cannot be written"),
    ],
)
def test_what_cannot_be_exported_says_what_to_do(book, capsys, arguments, words):
    if "CANVAS" in arguments:
        given = {"CANVAS": str(roster_of_canvas(book))}
    else:
        given = {"PARTICIPANTS": str(participants(book, {}))}
    assert export.main([given.get(word, word) for word in arguments]) == 2
    assert words in capsys.readouterr().err


def test_without_marks_it_says_what_to_do(space, capsys):
    assert export.main([]) == 2
    assert "autograder grade" in capsys.readouterr().err


SAFE = {
    "Ada": "Ada",
    "": "",
    "-": "-",
    "-2.5": "-2.5",
    "+3": "+3",
    "=1": "'=1",
    " =1": "' =1",
    "-2+3": "'-2+3",
}


@pytest.mark.parametrize("text, shown", SAFE.items())
def test_only_what_a_spreadsheet_would_compute_is_marked(text, shown):
    assert lms_tables.safe(text) == shown

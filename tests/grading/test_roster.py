"""The rosters that are read, and what is said of a file that is none."""

import pytest

from autograder.handins import names, roster
from autograder.handins.roster import RosterError


@pytest.fixture
def read(tmp_path):
    def run(text, encoding="utf-8"):
        (tmp_path / "class.csv").write_bytes(text.encode(encoding))
        return roster.read(tmp_path / "class.csv")

    return run


ROSTERS = {
    "a table of one's own": "ID,Name,E-mail\nada,Ada Lovelace,ada@uni.example\n",
    "with semicolons and a byte-order mark": "\ufeffStudent ID;Name;Email\nada;Ada Lovelace;ada@uni.example\n",
    "names in two columns": "Surname,First name,Username,Email address\nLovelace,Ada,ada,ada@uni.example\n",
    "Moodle's participants": '"First name","Last name","ID number","Email address",Groups\n'
    "Ada,Lovelace,ada,ada@uni.example,\n",
    "Moodle's worksheet": 'Identifier,"Full name","ID number","Email address",Status,Grade,"Last modified (grade)"\n'
    "Participant 4711,Ada Lovelace,ada,ada@uni.example,-,,-\n",
    "Moodle's worksheet in German": 'ID,"Vollständiger Name",ID-Nummer,E-Mail-Adresse,Status,Bewertung,'
    '"Zuletzt geändert (Bewertung)"\nTeilnehmer/in4711,Ada Lovelace,ada,ada@uni.example,-,,-\n',
}


@pytest.mark.parametrize("text", ROSTERS.values(), ids=ROSTERS.keys())
def test_the_columns_are_known_by_their_header(read, text):
    (ada,) = read(text).students
    assert (ada.id, ada.email) == ("ada", "ada@uni.example")
    assert sorted(ada.name.split()) == ["Ada", "Lovelace"]
    assert ada.numbers == {"Canvas": "", "Moodle": "4711" if "4711" in text else ""}


def test_without_ids_a_worksheets_student_is_named_as_without_a_roster(read):
    """Not by Moodle's number, which is another one in the next assignment."""
    header = "Identifier,Full name,Status,Grade,Last modified (grade)\n"
    rows = "Participant 7,Ada Lovelace,,,-\nParticipant 8,Bob B,,,-\nParticipant 9,Bob B,,,-\nParticipant 5,李,,,-\n"
    found = read(header + rows)
    assert [student.id for student in found.students] == ["ada-lovelace", "bob-b-8", "bob-b-9", "5"]
    assert found.by_id("ada-lovelace") is found.by_id("7") is found.by_number("Moodle 7")
    assert found.by_id("bob-b-9") is found.students[2]
    with pytest.raises(RosterError, match="'bob-b' is nobody"):
        found.by_id("bob-b")


def test_canvass_export_is_a_roster(read):
    found = read(
        'Student,ID,SIS User ID,SIS Login ID,Section,"98 tiny (5521)"\n'
        ",,,,,Manual Posting\n"
        "    Points Possible,,,,,5\n"
        '"Lovelace, Ada",4711,900,ada,A,\n'
        '"=""=1+1""",4712,901,,A,\n'
    )
    assert [(s.id, s.name, s.numbers["Canvas"]) for s in found.students] == [
        ("ada", "Lovelace, Ada", "4711"),
        ("4712", "=1+1", "4712"),
    ]


TIMES = {
    "Wednesday, 10 June 2026, 2:14 PM": "20260610-141400",
    "Wednesday, June 10, 2026, 12:05 AM": "20260610-000500",
    "Mittwoch, 10. Juni 2026, 14:14": "20260610-141400",
    "Dienstag, 3. März 2026, 09:30": "20260303-093000",
    "-": "",
    "mercredi 10 juin 2026, 14:14": "",
    "31 June 2026, 1:00": "",
}


@pytest.mark.parametrize("text, stamp", TIMES.items())
def test_moodles_times_are_read(read, text, stamp):
    header = "Identifier,Full name,Last modified (submission),Last modified (grade)\n"
    (ada,) = read(f'{header}Participant 1,Ada,"{text}",-\n').students
    assert ada.handed_in == stamp


BAD = {
    "empty": ("", "class.csv is empty"),
    "no student": ("id,name\n", "names no student"),
    "no name": (
        "id,points\nada,3\n",
        "no column for a name. .* Call one of them: full name, .* surname",
    ),
    "no id": ("name,points\nAda,3\n", "no column for an id or an e-mail address. .* username"),
    "the same id twice": ("id,name\nada,Ada\nADA,Ada B\n", "'Ada' and 'Ada B' have the same id"),
    "an id of nothing": ("id,name\n李,李 小龙\n", "has no id that can name a folder"),
}


@pytest.mark.parametrize("text, reason", BAD.values(), ids=BAD.keys())
def test_what_is_no_roster_is_refused_in_a_sentence(read, text, reason):
    with pytest.raises(RosterError, match=reason):
        read(text)


def test_excels_encodings_are_read(read):
    for encoding in ("cp1252", "latin-1", "utf-16", "utf-8-sig"):
        found = read("Matrikelnummer;Vorname;Nachname\njm;Jörg;Müller-Weiß\n", encoding)
        assert [(s.first, s.last) for s in found.students] == [("Jörg", "Müller-Weiß")]
        assert any("Windows-1252" in note for note in found.notes) == (encoding[0] in "cl")


@pytest.mark.parametrize("encoding", ["mac_roman", "cp850", "cp1251"])
def test_an_encoding_that_may_be_several_is_refused_with_the_remedy(read, encoding):
    name = "Йорг" if encoding == "cp1251" else "Jörg"
    with pytest.raises(RosterError, match="no UTF-8 text: save it as CSV in UTF-8"):
        read(f"id,name\njoerg,{name}\n", encoding)


def test_names_are_kept_for_the_gradebook(read, space):
    text = 'id,name,email\nada,"King, Ada",ada@uni.example\njm,Jörg Peter Müller,\nli,<img onerror=1> 小龙,\n'
    names.remember(space, read(text))
    names.remember(space, read("id,name\nbob,Bob B\n"))
    told = {who: tuple(parts.values()) for who, parts in names.read(space).items()}
    assert told == {
        "ada": ("Ada", "King", "ada@uni.example"),
        "jm": ("Jörg Peter", "Müller"),
        "li": ("img onerror=1", "小龙"),
        "bob": ("Bob", "B"),
    }


def test_an_id_is_found_in_any_case_and_by_any_of_its_columns(read):
    found = read("id,name,email\nada,Ada Lovelace,ada.l@uni.example\nbob,Bob,bob@uni.example\n")
    assert found.by_id("ADA").id == found.by_id("Ada.L@uni.example").id == "ada"

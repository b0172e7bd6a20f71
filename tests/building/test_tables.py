"""A slip in chapters.toml, notebooks.tsv or sections.tsv is told with its line and what to do."""

import pytest

from autograder import cli
from autograder.building import masters, pages, tables, trying
from tests.building.toy import NOTEBOOK, slip_in

CHAPTERS, NOTEBOOKS, SECTIONS = (
    f"solutions/{name}" for name in (tables.CHAPTERS, tables.NOTEBOOKS, tables.SECTIONS)
)
# What slipped -> (table, the text that the author changed, into what, what is told).
SLIPS = {
    "a bracket is missing": (CHAPTERS, "[99_toy]", "[99_toy", ":1: it is no TOML: "),
    "a text has no end": (CHAPTERS, '"Numbers."', '"Numbers.', ":4: it is no TOML: "),
    "a list has no end": (CHAPTERS, 'number"]\nbefore = "Numbers."', 'number",', ":4: it is no TOML: "),
    "a chapter is misspelt": (CHAPTERS, "[99_toy]", "[99_toys]",
                              ":1: ['99_toys'] is no chapter of notebooks.tsv. Is '99_toy' meant?"),
    "a chapter is a stray": (CHAPTERS, "[99_toy]", "[05_trees]\nabout = 'x'\n\n[99_toy]",
                             ":1: ['05_trees'] is no chapter of notebooks.tsv."),
    "a chapter is no heading": (CHAPTERS, "[99_toy]", "98_toy = 1\n\n[99_toy]",
                                ":1: ['98_toy'] must be a heading, with about, able, before below it."),
    "a word is misspelt": (CHAPTERS, "about =", "abuot =",
                           ":1: ['99_toy'] has 'abuot'; it takes about, able, before. Is 'about' meant?"),
    "a list is a text": (CHAPTERS, '["square a number"]', '"square"', ":1: ['99_toy'] able must be a list of texts."),
    "a text is a list": (CHAPTERS, '"Squares."', '["Squares."]', ":1: ['99_toy'] about must be a text."),
    "a blank for a tab": (NOTEBOOKS, "\tSquares", " Squares",
                          f":2: a line is notebook, tab, title, not '{NOTEBOOK} Squares'."),
    "an empty line": (NOTEBOOKS, "title\n", "title\n\n", ":2: a line is notebook, tab, title, not ''."),
    "no names of columns": (NOTEBOOKS, "notebook\ttitle\n", "", ":1: the first line names the columns: "),
    "a notebook without number": (NOTEBOOKS, "Squares\n", "Squares\n99_toy/cube\tCubes\n",
                                  ":3: '99_toy/cube' is no name of a notebook: write it like 03_optimisation/01_"),
    "a notebook twice": (NOTEBOOKS, "Squares\n", f"Squares\n{NOTEBOOK}\tSquares\n",
                         f":3: {NOTEBOOK} stands in line 2 already"),
    "two chapters of one number": (NOTEBOOKS, "Squares\n", "Squares\n99_game/01_go\tGo\n",
                                   ":3: 99_game has the number of 99_toy: give it a free one"),
    "two notebooks of one number": (NOTEBOOKS, "Squares\n", "Squares\n99_toy/01_cube\tCubes\n",
                                    f":3: 99_toy/01_cube has the number of {NOTEBOOK}: give it a free one"),
    "a section without title": (SECTIONS, "\tNumbers", "", ":2: a line is id, tab, title, tab, notebook, not 'cs480:1"),
    "a section twice": (SECTIONS, "wu:1.1", "cs480:1", ":3: cs480:1 stands in line 2 already"),
    "a section with a blank": (SECTIONS, "wu:1.1", "wu: 1.1", ":3: 'wu: 1.1' is no id of a section"),
    "a section of no notebook": (SECTIONS, f"Squares\t{NOTEBOOK}", "Squares\t99_toy/01_sqare",
                                 f":3: 99_toy/01_sqare is not in notebooks.tsv: list it there. Is {NOTEBOOK!r} meant?"),
}  # fmt: skip


@pytest.fixture
def slip(request, toy_course):
    """What `SLIPS` has under the name, made in the toy's table -> what must be told."""
    table, old, new, message = SLIPS[request.param]
    slip_in(toy_course, table, old, new)
    return f"{table}{message}"


def told_of_tables(text):
    return [
        line for line in text.splitlines() if line.startswith("solutions/") and ".py:" not in line
    ]


@pytest.mark.parametrize("slip", SLIPS, indirect=True)
def test_try_tells_a_slip_in_a_table_once(slip, capsys):
    assert trying.main([NOTEBOOK]) == 1
    (told,) = told_of_tables(capsys.readouterr().out)
    assert told.startswith(slip) and told.endswith("[tables]")


@pytest.mark.parametrize("slip", ["a bracket is missing", "a blank for a tab"], indirect=True)
@pytest.mark.parametrize("command", [["build"], ["build", NOTEBOOK], ["coverage"]], ids=" ".join)
def test_no_page_is_made_from_a_table_that_slipped(slip, command, capsys):
    assert cli.main(command) == 2
    (told,) = told_of_tables(capsys.readouterr().err)
    assert told.startswith(slip)
    with pytest.raises(tables.TableError):
        pages.pages()


@pytest.mark.parametrize("table", [CHAPTERS, NOTEBOOKS, SECTIONS])
def test_a_table_that_is_not_there_is_told(toy_course, table, capsys):
    (toy_course / table).unlink()
    assert trying.main([NOTEBOOK]) == 1
    (told,) = told_of_tables(capsys.readouterr().out)
    assert told.startswith(f"{table}:1: it cannot be read: ")


def test_a_misspelt_line_of_the_list_is_asked_for(toy_course, capsys):
    (toy_course / NOTEBOOKS).write_text("notebook\ttitle\n99_toy/01_sqare\tSquares\n")
    trying.main([NOTEBOOK])
    told = capsys.readouterr().out
    assert (
        f"{NOTEBOOKS}:1: it lacks the line {NOTEBOOK!r}, tab, title. Is '99_toy/01_sqare' meant?"
        in told
    )


def test_the_tables_of_the_course_hold():
    assert tables.read(masters.SOLUTIONS).slips == []

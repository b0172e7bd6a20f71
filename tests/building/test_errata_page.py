"""course/ERRATA.md lists errata by notebook and counts them by kind."""

import pytest

from autograder.building import errata_page, masters
from tests.building import toy_proper
from tests.building.toy import MASTER_FILE, NOTEBOOK

MORE = """
# %%
# More.
erratum("wu:1.1", quote="a | b", corrected="c", kind="broad", printed_holds=x, corrected_holds=y)
erratum("wu:1.1", quote="d", corrected="e", kind="convention")
erratum("wu:1.1", quote="f", corrected="g", kind="convention")
erratum("wu:1.1", quote="h", corrected="i", kind="copy")
"""


@pytest.fixture
def page(toy_course):
    """The page of a toy notebook with this master."""

    def written(text):
        (toy_course / MASTER_FILE).write_text(text)
        return errata_page.text([masters.read(NOTEBOOK)])

    return written


def test_errata_are_counted_by_kind_and_what_was_lost_in_our_copy_is_not(page):
    told = page(toy_proper.MASTER + MORE)
    assert told.splitlines()[2] == "1 error, 1 too broad, 2 conventions or omissions."
    assert told.count("\n1 error, 1 too broad, 2 conventions or omissions.\n") == 2


def test_each_is_listed_with_quote_place_and_kind(page):
    lines = page(toy_proper.MASTER + MORE).splitlines()
    place = "[Where the notes differ](99_toy/01_square.ipynb#Where-the-notes-differ)"
    assert f"| cs480:1 | $1=2$ | $1=1$ | {place} | error |" in lines
    assert f"| wu:1.1 | a \\| b | c | {place} | too broad |" in lines
    assert f"| wu:1.1 | h | i | {place} | lost in our copy |" in lines


def test_without_errata_the_page_says_so(page):
    assert "Nothing so far." in page(toy_proper.CORE)

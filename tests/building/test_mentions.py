"""What a notebook says of others is what there is: written by the build, in both editions, without running them."""

import nbformat
import pytest

from autograder.building import build, form, masters, mentions, pages, stale
from autograder.building.draft import Draft
from autograder.building.form_mentions import promised
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK
from tests.conftest import ROOT

LATER = "98_later/01_cube"
TABLE = f"notebook\ttitle\n{NOTEBOOK}\tSquares\n{LATER}\tCubes\n"
WORDS = f"word\tnotebook\texercise\nsquare\t{NOTEBOOK}\tsquare\nroot\t{NOTEBOOK}\t\ncube\t{LATER}\tcube\n"
TEXT = "# A toy. [[98/01|Cubes]] come later, see [[98/01]]; [[99/01]] is this one. Next: [[next]].\n#\n# [[glossary]]"


@pytest.fixture
def toy(toy_course):
    """A toy project of one notebook, which mentions itself and another one that is planned."""
    (toy_course / "solutions/notebooks.tsv").write_text(TABLE)
    (toy_course / "solutions/glossary.tsv").write_text(WORDS)
    (toy_course / MASTER_FILE).write_text(MASTER.replace("# A toy.", TEXT))
    return toy_course


def told(there, text="[[98/01|cubes]] [[98/01]]"):
    return mentions.filled(text, NOTEBOOK, set(there))


def test_a_notebook_that_is_there_is_a_link_and_another_one_is_coming(toy):
    assert told([NOTEBOOK]) == "cubes (98/01, coming) 98/01 (coming)"
    link = f"../{LATER}.ipynb"
    assert told([NOTEBOOK, LATER]) == f"[cubes]({link}) [98/01]({link})"


def test_the_next_notebook_is_the_next_one_that_is_there(toy):
    assert told([NOTEBOOK, LATER], "[[next]]") == f"[Cubes](../{LATER}.ipynb)"
    assert told([NOTEBOOK], "[[next]]") == "this is the last notebook so far"


def test_a_matrix_is_no_mention(toy):
    assert told([], "[[1, 2], [3, 4]] gives [[17/3]]") == "[[1, 2], [3, 4]] gives [[17/3]]"


def test_the_glossary_links_what_is_computed_and_lists_what_is_coming(toy):
    cell = f"[square](../{NOTEBOOK}.ipynb#cell-id=square)"
    assert mentions.glossary({NOTEBOOK})[2:] == [
        f"| square | {cell} | root | [99/01](../{NOTEBOOK}.ipynb) |",
        "",
        "Coming, by chapter: **98** cube.",
    ]
    assert mentions.glossary({NOTEBOOK, LATER})[-1].startswith("| cube | [cube](../98_later/")


def test_both_editions_change_with_what_is_there_and_no_notebook_runs(toy, monkeypatch):
    build.build(NOTEBOOK)
    editions = [f"solutions/{NOTEBOOK}.ipynb", f"course/{NOTEBOOK}.ipynb"]
    assert [page for page in pages.stale() if page.endswith("01_square.ipynb")] == editions
    pages.write_all()
    assert pages.stale() == []
    assert list(stale._edited(NOTEBOOK, build.built_files(NOTEBOOK))) == []
    before = [nbformat.read(toy / edition, 4).cells for edition in editions]
    write_another(toy)
    assert set(editions) <= set(pages.stale())
    monkeypatch.setattr(build, "execute", None)  # nothing can run
    pages.write_all()
    for edition, (title, *others) in zip(editions, before, strict=True):
        cells = nbformat.read(toy / edition, 4).cells
        assert "Cubes (98/01, coming) come later" in title.source
        assert f"[Cubes](../{LATER}.ipynb) come later" in cells[0].source
        assert cells[1:] == others


def write_another(project):
    """A second notebook is there, as if it were built."""
    checks = project / "course/descent/checks"
    (project / "course/98_later").mkdir()
    for path in (project / "solutions" / LATER / "notebook.py", checks / f"{LATER}.json"):
        path.parent.mkdir(parents=True)
        path.write_text(MASTER if path.suffix == ".py" else "{}")
    with (project / "solutions/chapters.toml").open("a") as chapters:
        chapters.write('["98_later"]\nabout = "Cubes."\nable = ["cube"]\nbefore = "Squares."\n')
    pages._masters.cache_clear()


def test_what_comes_next_is_asked_of_a_planned_notebook_only(toy):
    (toy / "solutions/notebooks.tsv").write_text(f"notebook\ttitle\n{LATER}\tCubes\n")
    rules = [one for one in form.RULES if one.name == "mentions"]
    found = [str(one) for one in form.findings(Draft(masters.read(NOTEBOOK)), rules)]
    assert any("[[next]] is one notebook of notebooks.tsv, not 0" in one for one in found)


@pytest.mark.parametrize("notebook", masters.notebooks())
def test_no_master_says_by_hand_what_is_coming(notebook):
    rules = [one for one in form.RULES if one.name in ("mentions", "promises", "glossary")]
    assert list(map(str, form.findings(Draft(masters.read(notebook)), rules))) == []


def test_every_word_of_the_glossary_is_of_a_planned_notebook_and_stands_once():
    found = mentions.words()
    assert {notebook for _, notebook, _ in found} <= masters.planned().keys()
    assert len({word for word, _, _ in found}) == len(found)


PAGES = (
    "README.md",
    "CREDITS.md",
    "docs/*.md",
    "solutions/*.md",
    "solutions/*.toml",
    "course/descent/**/*.py",
)


def test_no_page_says_by_hand_what_is_coming():
    """What the build writes itself stands between its marks."""
    for path in (path for pattern in PAGES for path in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        assert promised(_by_hand(text)) == [], path


def _by_hand(text: str) -> str:
    """A page without its blocks that the build writes."""
    lines, written = [], False
    for line in text.splitlines():
        written = written or "written by `make build`" in line
        lines += [] if written else [line]
        written = written and not line.endswith(": end -->")
    return "\n".join(lines)

"""One toy notebook from master to release."""

import contextlib
import fcntl
import json
import os
import re
import shutil

import nbformat
import pytest

from autograder.building import build, coverage, masters, pages, release, stale, trying
from autograder.kernels import running
from descent.editions import fingerprint
from tests.building.toy import MASTER, MASTER_FILE, NOTEBOOK, SOURCES, SPEC_FILE, slip_in

ASKS = '# %% predict="grows"'  # a cell that the student's edition replaces


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return {}


@pytest.fixture
def project(toy_course, built, tmp_path_factory):
    """The toy course, built (once a module; later tests get a copy of what was written)."""
    if "files" not in built:
        build.build(NOTEBOOK)
        keep = tmp_path_factory.mktemp("built")
        for part in ("solutions", "course"):
            shutil.copytree(toy_course / part, keep / part)
        built["files"] = keep
    for part in ("solutions", "course"):
        shutil.copytree(built["files"] / part, toy_course / part, dirs_exist_ok=True)
    return toy_course


def editions(root):
    return (nbformat.read(root / part / f"{NOTEBOOK}.ipynb", 4) for part in ("solutions", "course"))


def test_the_student_gets_stubs_and_no_outputs(project):
    solution, student = editions(project)
    text = (project / "course" / f"{NOTEBOOK}.ipynb").read_text()
    assert "result = x * x" not in text and "derivative is positive" not in text
    answer = next(cell for cell in student.cells if cell.id == "square")
    assert answer.source.endswith("    # Your code here.\n    raise NotImplementedError")
    assert all(not cell.get("outputs") for cell in student.cells)
    assert release.notebook_problems(solution, student) == []


def test_nbgrader_finds_what_it_needs(project):
    _, student = editions(project)
    meta = {cell.id: cell.metadata.get("nbgrader", {}) for cell in student.cells}
    assert meta["check-square"]["points"] == 3 and meta["check-square"]["locked"]
    assert meta["square"]["solution"] and "checksum" in meta["square"]
    assert meta["why"]["grade"] and meta["why"]["solution"] and meta["why"]["points"] == 2


def test_the_picture_to_come_is_kept_with_its_words(project):
    data = json.loads((project / "course/descent/checks" / f"{NOTEBOOK}.json").read_text())
    (pictures,) = data["targets"].values()
    assert pictures[0]["words"] == "The curve ends at 1.00."
    picture = project / "course/descent/checks/99_toy" / pictures[0]["file"]
    assert picture.suffix == ".webp" and picture.read_bytes()[8:12] == b"WEBP"


def test_the_check_data_know_every_cell_as_it_is_handed_out(project):
    data = json.loads((project / "course/descent/checks" / f"{NOTEBOOK}.json").read_text())
    _, student = editions(project)
    assert list(data["cells"]) == [cell.id for cell in student.cells]
    texts = {cell.id: cell.source for cell in student.cells}
    assert data["cells"]["square"] == fingerprint(texts["square"] + "  \n")
    assert data["cells"]["square"] != fingerprint(texts["check-square"])


def test_the_same_input_builds_the_same_bytes(project):
    files = [
        *build.built_files(NOTEBOOK).values(),
        *sorted((project / "course/descent/checks/99_toy").glob("*.webp")),
    ]
    before = [path.read_bytes() for path in files]
    build.build(NOTEBOOK)
    assert [path.read_bytes() for path in files] == before


def test_what_is_built_is_up_to_date_until_its_master_changes(project):
    assert build.stale_parts(NOTEBOOK) == []
    (project / MASTER_FILE).write_text(MASTER + "\n# %%\nprint(1)\n")
    assert set(build.stale_parts(NOTEBOOK)) == {
        "solution edition",
        "student's edition",
        "check data",
    }


def test_a_changed_specification_makes_it_stale(project):
    with (project / SPEC_FILE).open("a") as file:
        file.write("\n# a change\n")
    assert build.stale_parts(NOTEBOOK)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("result = x * x", "result = x + x", "notebook.py:22: check(square) gives"),
        (
            ASKS,
            '# %%\nx = 1\nraise ValueError("broken")\n\n' + ASKS,
            "(?s)notebook.py:39: .*broken",
        ),
        (
            ASKS,
            '# %%\ndef fails(): raise ValueError("broken")\n\n# %%\nfails()\n\n' + ASKS,
            "(?s)notebook.py:41: .*broken",
        ),
        (
            ASKS,
            '# %%\nimport warnings\nwarnings.warn("careful")\n\n' + ASKS,
            "notebook.py:37: a cell writes to stderr",
        ),
        (
            ASKS,
            "# %%\nsquare(np.ones(2))\n\n" + ASKS,
            "(?s)notebook.py:38: .*NotImplementedError",
        ),
    ],
    ids=["wrong solution", "error", "error further up", "warning", "unsolved it fails"],
)
def test_a_notebook_that_does_not_hold_is_refused(toy_course, old, new, message):
    (toy_course / MASTER_FILE).write_text(MASTER.replace(old, new, 1))
    with pytest.raises(
        build.BuildError, match=message.replace("check(square)", r"check\(square\)")
    ) as told:
        build.build(NOTEBOOK)
    assert "\x1b" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda cell: cell.update(source=cell.source + "\n# hi"),
            "differs from the solution edition outside the markers",
        ),
        (lambda cell: cell.update(execution_count=3), "holds outputs"),
        (
            lambda cell: cell.update(source="    ### BEGIN SOLUTION\n    result = x * x"),
            "solution marker",
        ),
        (
            lambda cell: cell.update(source="    result = x * x"),
            "the solution line 'result = x * x'",
        ),
        (lambda cell: cell.update(id="other"), "has another id"),
    ],
)
def test_a_leak_is_found_on_the_release_itself(project, change, message):
    solution, student = editions(project)
    change(next(cell for cell in student.cells if cell.id == "square"))
    assert any(message in problem for problem in release.notebook_problems(solution, student))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("99_toy/01_square.py", "x = 1", "is it a master?"),
        ("99_toy/old.ipynb", json.dumps({"source": "### BEGIN SOLUTION"}), "with its solutions"),
        ("solutions/99_toy.json", "{}", "are these worked answers?"),
        ("99_toy/reference/a.txt", "x", "belongs to the author's world"),
        ("descent/extra.py", "from solutions import reference", "imports the author's world"),
        ("descent/checks/99_toy/02.json", json.dumps({"solution": 1}), "unexpected keys"),
    ],
)
def test_what_must_not_be_handed_out_is_found(project, name, content, message):
    assert release.course_problems(project / "course") == []
    path = project / "course" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    (problem,) = release.course_problems(project / "course")
    assert message in problem


def test_the_pages_list_the_notebook(project):
    pages.write_all()
    course = project / "course"
    assert (
        "| [Squares](99_toy/01_square.ipynb) | 10 min | 1 | a square |"
        in (course / "README.md").read_text()
    )
    assert "| cs480:1 | $1=2$ | $1=1$ |" in (course / "ERRATA.md").read_text()
    assert "[99/01 Squares](99_toy/01_square.ipynb#Squares)" in (course / "COVERAGE.md").read_text()
    assert "progress()" in (course / "index.ipynb").read_text()
    assert "](99_toy/README.md)" in (course / "index.ipynb").read_text()
    chapter = (course / "99_toy/README.md").read_text()
    for text in (
        "- square a number",
        "[Squares](01_square.ipynb) | 10 min | 1 |",
        ": CS480 1; Wu 1.1\n",
    ):
        assert text in chapter
    assert pages.stale() == []
    (course / "README.md").write_text("edited")
    assert pages.stale() == ["course/README.md"]


def test_readme_and_map_say_what_is_there_and_what_is_not(project):
    more = "".join(f"{name}\tLater\n" for name in ("98_else/01_a", "98_else/02_b", "99_toy/02_c"))
    with (project / "solutions/notebooks.tsv").open("a") as table:
        table.write(more)
    pages.write_all()
    for page in ("README.md", "course/README.md"):
        text = (project / page).read_text()
        assert (
            "1 of 4 planned notebooks are written, in 1 chapter: 10 minutes; 1 exercise, 3 points."
            in text
        )
        assert "Not written yet: 98 Else (2), 99 Toy (1 more)." in text
    assert (project / "README.md").read_text().endswith("\nBelow.")
    (project / "README.md").write_text((project / "README.md").read_text().replace("1 of 4", "4"))
    assert pages.stale() == ["README.md"]


def test_a_page_without_its_marks_is_named(project):
    (project / "README.md").write_text("Nothing.")
    with pytest.raises(ValueError, match="README.md: it needs the two lines"):
        pages.pages()


def test_authoring_shows_the_rules_as_they_are(project):
    pages.write_all()
    text = (project / "solutions/AUTHORING.md").read_text()
    assert "| widgets | It has 1 `explore(…)` or more. |  |" in text
    (project / "solutions/AUTHORING.md").write_text(
        text.replace("It has 1 `explore", "It has 2 `explore")
    )
    assert pages.stale() == ["solutions/AUTHORING.md"]


def test_stock_nbgrader_builds_the_same_release(project):
    """`nbgrader generate_assignment` itself, as its manual says, in a folder of its own."""
    import subprocess
    import sys

    shutil.move(project / "course", project / "ours")
    run = [sys.executable, "-m", "nbgrader", "generate_assignment", "99_toy"]
    done = subprocess.run(
        run,
        cwd=project,
        env=running.environment("", project / "course", static=False),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    stock = project / "course" / "99_toy"
    assert [path.name for path in stock.iterdir()] == ["01_square.ipynb"]  # and no master
    ours = nbformat.read(project / "ours" / f"{NOTEBOOK}.ipynb", 4)
    theirs = nbformat.read(stock / "01_square.ipynb", 4)
    assert ours.cells == theirs.cells


def test_a_master_that_is_missing_is_named():
    with pytest.raises(FileNotFoundError, match="There is no master"):
        masters.read("97_none/01_nothing")


def everything(root):
    """Every built file of the toy -> its bytes."""
    found = [p for p in root.rglob("01_square*") if p.suffix in (".ipynb", ".json", ".webp")]
    return {path: path.read_bytes() for path in found}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("result = x * x", "result = x + x"),
        (ASKS, "# %%\nsquare(np.ones(2))\n\n" + ASKS),
    ],
    ids=["while the solution runs", "while the student's edition runs"],
)
def test_a_failed_build_leaves_what_was_built_before(project, old, new):
    before = everything(project)
    assert len(before) == 4
    (project / MASTER_FILE).write_text(MASTER.replace(old, new, 1))
    with pytest.raises(build.BuildError):
        build.build(NOTEBOOK)
    assert everything(project) == before
    assert len(build.stale_parts(NOTEBOOK)) == 3
    for path in before:
        path.unlink()
    with pytest.raises(build.BuildError):
        build.build(NOTEBOOK)
    assert everything(project) == {}


SLIPS = {
    "reference": (SPEC_FILE, "lambda x: x**2", "lambda x: x.nothing", "exercises.py: square: its reference fails on"),
    "cases": (SPEC_FILE, 'yield "zero", dict(x=np.zeros(2))', 'yield "zero"', "exercises.py: square: a case must be"),
    "name": (SPEC_FILE, "import numpy as np", "import numpy as np\n\nnp.nothing", "exercises.py:3: AttributeError"),
    "syntax": (SPEC_FILE, "import numpy as np", "import numpy as np\n\nx = = 1", "exercises.py:3: SyntaxError"),
    "twice": (SPEC_FILE, "@square.right", "again = Exercise('square', reference=1, hints=[])\n\n@square.right",
              "exercises.py: two exercises are named 'square'"),
    "master": (MASTER_FILE, "import numpy as np", "import numpy as = np",
               "notebook.py:6: not valid Python"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_by_the_command_and_stops_nothing_else(toy_course, slip, capsys):
    name, old, new, message = SLIPS[slip]
    slip_in(toy_course, name, old, new)
    assert build.main([NOTEBOOK]) == 1
    told = capsys.readouterr()
    assert f"{NOTEBOOK} FAILED" in told.err and message in told.err
    assert "0 built, 1 failed" in told.out


def test_an_unknown_notebook_is_named(toy_course, capsys):
    assert build.main(["99_toy/02_cube"]) == 2
    assert f"no master for 99_toy/02_cube. Known: {NOTEBOOK}." in capsys.readouterr().err


def test_a_second_build_waits_for_the_first(toy_course):
    with build.alone(), open_folder(build.CHECKS) as folder:
        with pytest.raises(BlockingIOError):
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open_folder(build.CHECKS) as folder:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def open_folder(path):
    folder = os.open(path, os.O_RDONLY)
    yield folder
    os.close(folder)


def test_a_picture_that_is_missing_or_of_no_use_is_stale(project):
    assert stale.picture_problems(NOTEBOOK) == []
    folder = project / "course/descent/checks/99_toy"
    (picture,) = folder.glob("*.webp")
    extra = picture.rename(folder / "01_square.0123456789ab.0.webp")
    missing, unused = stale.picture_problems(NOTEBOOK)
    assert picture.name in missing and "is missing" in missing
    assert extra.name in unused and "belongs to no block" in unused


@pytest.mark.parametrize("source", SOURCES)
def test_a_change_of_any_source_makes_the_notebook_stale(project, source):
    assert build.stale_parts(NOTEBOOK) == []
    with (project / source).open("a") as file:
        file.write("\n# changed\n")
    assert len(build.stale_parts(NOTEBOOK)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["99_toy"], "try: no master '99_toy': `autograder list` names all; a new one is written in solutions/"),
        ([NOTEBOOK, "sqare"], "try: no exercise 'sqare'. Exercises: square."),
    ],
)  # fmt: skip
def test_try_refuses_what_it_cannot_try(toy_course, arguments, message, capsys):
    assert trying.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_the_coverage_page_names_a_place_once_and_no_marker():
    rows = [line for line in pages.coverage_page().splitlines() if "](" in line]
    assert len(rows) > 300
    for row in rows:
        places = row.rstrip(" |").rpartition(" | ")[2].split("; ")
        assert len(places) == len(set(places)), row
        assert "BEGIN SOLUTION" not in row


def test_index_and_coverage_page_sum_up():
    head = pages.index_notebook()
    assert pages.what_exists() in head and "Not written yet" in head
    page = pages.coverage_page()
    counts = re.findall(r"(\d+) by an exercise, (\d+) demonstrated\.", page)
    whole, *lectures = (sum(map(int, pair)) for pair in counts)
    assert whole == sum(lectures) == len(coverage.covered())

"""`make quick` runs what a changed file concerns, and says what it leaves."""

import subprocess
import sys

import pytest

from tools import quick

FILES = {
    "solutions/01_lines/01_slope/notebook.py": "from descent.pictures.lines import slope",
    "solutions/01_lines/01_slope/reference.py": "",
    "solutions/01_lines/02_offset/notebook.py": "from descent import plots",
    "solutions/02_curves/01_bends/notebook.py": "from descent import plots",
    "solutions/02_curves/02_waves/notebook.py": "import descent.plots as p",
    "course/descent/pictures/lines/slope.py": "from descent.plots import axes\nfrom descent import rare",
    "course/descent/plots.py": "",
    "course/descent/rare.py": "",
    "tests/notebooks/lines/test_slope.py": "",
    "tests/notebooks/lines/test_offset.py": "",
    "tests/descent/test_plots.py": "",
    "tests/setup/test_make.py": "",
    "tests/baking/test_bread.py": "from autograder.baking import bread",
    "tests/baking/dough.py": "",
    "tests/grading/test_oven.py": "import autograder.heat.oven",
}
SLOPE, OFFSET = "01_lines/01_slope", "01_lines/02_offset"


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return quick.Project(tmp_path)


@pytest.mark.parametrize(
    "path",
    [
        "solutions/01_lines/01_slope/notebook.py",
        "solutions/01_lines/01_slope/a_file_that_is_gone.py",
        "solutions/01_lines/01_slope.ipynb",
        "course/01_lines/01_slope.ipynb",
        "course/descent/checks/01_lines/01_slope.json",
        "course/descent/pictures/lines/slope.py",
        "tests/notebooks/lines/test_slope.py",
    ],
)
def test_each_part_of_a_notebook_proves_the_notebook_and_no_other(project, path):
    plan = quick.made_for([path], project)
    assert plan.notebooks == [SLOPE] and plan.tests == {"tests/notebooks/lines/test_slope.py"}


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("autograder/baking/bread.py", "tests/baking/test_bread.py"),  # who imports it
        ("autograder/baking/cake.py", "tests/baking"),  # nobody does: its room
        ("autograder/heat/oven.py", "tests/grading/test_oven.py"),
        ("autograder/heat/inside/coal.py", "tests/grading/test_oven.py"),  # a room without a folder
        ("autograder/nothing/new.py", "tests/setup"),
        ("tests/baking/dough.py", "tests/baking"),
        ("tests/grading/test_oven.py", "tests/grading/test_oven.py"),
        ("README.md", "tests/setup"),
        ("solutions/01_lines/09_unknown/notebook.py", "tests/setup"),
    ],
)
def test_a_file_of_no_notebook_is_proven_by_the_tests_that_know_it(project, path, tests):
    plan = quick.made_for([path], project)
    assert plan.tests == {tests} and plan.notebooks == []


def test_a_test_that_was_deleted_is_not_run(project):
    assert quick.made_for(["tests/baking/test_gone.py"], project).tests == set()


def test_a_module_of_the_library_proves_few_notebooks_and_tells_of_many(project):
    rare = quick.made_for(["course/descent/rare.py"], project)
    assert rare.notebooks == [SLOPE]
    assert rare.tests == {"tests/descent", "tests/notebooks/lines/test_slope.py"}
    common = quick.made_for(["course/descent/plots.py"], project)
    assert common.notebooks == [] and common.tests == {"tests/descent"}
    assert "left to make test: 4 notebooks that import descent.plots" in quick.told(common)


def test_more_notebooks_than_fit_are_named_as_left(project):
    plan = quick.made_for([f"solutions/{name}/x.py" for name in project.notebooks], project)
    assert len(plan.notebooks) == quick.FEW == 3 and len(project.notebooks) == 4
    assert "left to make test: nbval and checks of 02_curves/02_waves" in quick.told(plan)
    assert "tests/notebooks/lines/test_offset.py" in plan.tests


def test_all_that_is_said_to_run_is_run():
    plan = quick.Plan({"tests/descent", "tests/setup"}, [SLOPE, OFFSET])
    words = " ".join(word for command in quick.commands(plan) for word in command)
    for wanted in ("ruff check", "ruff format --check", *plan.tests, f"{SLOPE} or {OFFSET}"):
        assert wanted in words
    assert "tests/notebooks/test_editions.py" in words
    assert quick.commands(quick.Plan()) == [*quick.LINT]


def test_the_names_of_notebooks_choose_their_tests():
    """-k with a notebook's name takes its editions, and not another's."""
    notebook = "03_optimisation/01_gradient_descent"
    command = ["pytest", "--collect-only", "-q", "-n0", "tests/notebooks/test_editions.py"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "-k", notebook],
        cwd=quick.ROOT,
        capture_output=True,
        text=True,
    )
    chosen = [line for line in done.stdout.splitlines() if "::" in line]
    assert chosen and all(line.endswith(f"[{notebook}]") for line in chosen)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """git(…) in a repository with one commit on main; quick looks at it."""
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    for name in (
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_NAME",
        "GIT_AUTHOR_EMAIL",
        "GIT_COMMITTER_EMAIL",
    ):
        monkeypatch.setenv(name, "somebody")

    def git(*words):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    for name in ("same.py", "edited.py", "removed.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".gitignore").write_text("ignored.py")
    git("add", ".")
    git("commit", "-m", "first")
    return git


def test_commits_edits_new_and_removed_files_of_a_branch_are_changes(checkout, tmp_path):
    checkout("checkout", "-b", "branch")
    (tmp_path / "committed file.py").write_text("x")
    checkout("add", ".")
    checkout("commit", "-m", "second")
    for name in ("edited.py", "new é.py", "ignored.py"):
        (tmp_path / name).write_text("y")
    (tmp_path / "removed.py").unlink()
    found = quick.changed(quick._base())
    assert found == ["committed file.py", "edited.py", "new é.py", "removed.py"]


def test_what_main_got_since_is_no_change_of_the_branch(checkout, tmp_path):
    checkout("checkout", "-b", "branch")
    checkout("checkout", "main")
    (tmp_path / "later.py").write_text("x")
    checkout("add", ".")
    checkout("commit", "-m", "later")
    checkout("checkout", "branch")
    assert quick.changed(quick._base()) == []


def test_without_a_main_branch_it_says_so(checkout, capsys):
    checkout("branch", "-m", "main", "other")
    assert quick.main([]) == 2
    assert "no branch main" in capsys.readouterr().err


@pytest.mark.parametrize(("statuses", "status"), [([0, 5], 0), ([0, 1], 1), ([1, 0], 1)])
def test_a_command_that_fails_is_named_and_fails_it(
    checkout, monkeypatch, capsys, statuses, status
):
    monkeypatch.setattr(quick, "commands", lambda plan: [["one"], ["two", "a b"]])
    told = dict(zip(["one", "two"], statuses, strict=True))
    monkeypatch.setattr(quick, "_run", lambda command: told[command[0]])
    assert quick.main([]) == status
    named = [line for line in capsys.readouterr().out.splitlines() if line.startswith("failed: ")]
    failed = {"one": "failed: one", "two": "failed: two 'a b'"}
    assert named == [failed[name] for name, code in told.items() if code == 1]


def test_help_runs_nothing(monkeypatch, capsys):
    monkeypatch.setattr(quick, "made_for", lambda *_: pytest.fail("it makes a plan"))
    with pytest.raises(SystemExit) as end:
        quick.main(["--help"])
    assert end.value.code == 0 and "Proves what changed" in capsys.readouterr().out

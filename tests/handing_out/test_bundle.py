"""What is handed out is what git tracks of course/, without a solution, in hidden folders too."""

import shutil
import subprocess
import zipfile

import pytest

from autograder.checkdata import ROOT
from autograder.handing_out import bundle
from autograder.handing_out.bundle import BundleError, pack

SOLVED = ".descent/solutions/99_toy.json"


def git(project, *arguments):
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", project, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    """A checkout with a course of two files, and the project's own .gitignore."""
    root = tmp_path / "project"
    for name, text in {
        "course/descent/__init__.py": "",
        "course/99_toy/01_square.ipynb": "{}",
        "solutions/99_toy/01_square/notebook.py": "x * x",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shutil.copy(ROOT / ".gitignore", root)
    git(tmp_path, "init", "--quiet", "project")
    commit(root)
    return root


def commit(project):
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "all")


def add(project, name):
    path = project / "course" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"code": "x * x"}')
    git(project, "add", "--force", f"course/{name}")
    git(project, "commit", "--quiet", "--message", "one more")


def names(target):
    with zipfile.ZipFile(target) as packed:
        return sorted(name for name in packed.namelist() if not name.endswith("/"))


def test_it_holds_the_committed_course_and_nothing_beside_it(project, tmp_path):
    for name in (SOLVED, ".descent/progress.json", "handins/a.zip"):
        (project / "course" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / "course" / name).write_text("x * x")
    target = tmp_path / "out" / "course.zip"
    assert pack(project, target) == []
    assert names(target) == ["course/99_toy/01_square.ipynb", "course/descent/__init__.py"]
    assert [path.name for path in target.parent.iterdir()] == ["course.zip"]


@pytest.mark.parametrize(
    "name",
    [SOLVED, "99_toy/.descent/solutions/99_toy.json", ".hidden/a.txt", "99_toy/.a.json",
     "99_toy.json", "handins/a.zip", "descent/checks/99_toy.json"],
)  # fmt: skip
def test_what_must_not_leave_is_refused_though_git_tracks_it(project, tmp_path, name):
    add(project, name)
    problems = pack(project, tmp_path / "course.zip")
    assert problems and all(problem.startswith(f"course/{name}: ") for problem in problems)
    assert not (tmp_path / "course.zip").exists()


def test_what_is_not_committed_is_asked_for(project, tmp_path):
    (project / "course/99_toy/01_square.ipynb").write_text("{ }")
    with pytest.raises(BundleError, match=r"commit these first(.|\n)*01_square.ipynb"):
        pack(project, tmp_path / "course.zip")


def test_outside_of_a_checkout_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(bundle, "ROOT", tmp_path)
    assert bundle.main([]) == 2
    assert "release: git knows no course here: fatal: not a git" in capsys.readouterr().err


def test_the_commands_status_tells(project, monkeypatch, capsys):
    monkeypatch.setattr(bundle, "ROOT", project)
    assert bundle.main([]) == 0
    assert "Hand this file out." in capsys.readouterr().out
    add(project, SOLVED)
    assert bundle.main([]) == 1
    assert f"release: course/{SOLVED}: no part of the course" in capsys.readouterr().err


def test_this_project_tracks_no_worked_answers_and_no_hidden_file():
    done = subprocess.run(["git", "ls-files", "-z", "course"], cwd=ROOT, capture_output=True)
    tracked = [name for name in done.stdout.decode().split("\0") if name]
    if not tracked:
        pytest.skip("no checkout of git")
    assert not [name for name in tracked if "/." in name]
    data = [name for name in tracked if name.endswith(".json")]
    assert data and all(name.startswith("course/descent/checks/") for name in data)

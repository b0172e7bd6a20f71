"""A toy chapter of its own for the tests of grading, in a project folder made for the run."""

import copy
import json

import pytest

from autograder.grading.jobs import Job, essence, read_chapter
from autograder.grading.rebuilding import rebuild
from autograder.grading.workers.grader import warm_grader
from autograder.workspace import Workspace
from tests.grading.toy_chapter import CHAPTER, SHORT, SOLVED, STEM, make_project, pack


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture
def space(project, tmp_path):
    """An empty grading folder on the toy chapter."""
    return Workspace(tmp_path / "grading", project)


@pytest.fixture(scope="session")
def released(project):
    """The released notebook as JSON; take a copy to change it."""
    return json.loads((project / "course" / CHAPTER / f"{STEM}.ipynb").read_text())


@pytest.fixture
def notebook(released):
    """Makes a submitted notebook: notebook(double="…") fills that answer, None leaves the stub."""

    def make(**answers):
        made = copy.deepcopy(released)
        for cell in made["cells"]:
            name = cell["id"]
            if answers.get(name, SOLVED.get(name)) is not None and name in SOLVED:
                cell["source"] = answers.get(name, SOLVED[name])
                if name in answers and answers[name] is None:
                    cell["source"] = next(c for c in released["cells"] if c["id"] == name)["source"]
        return made

    return make


@pytest.fixture
def hand_in(tmp_path):
    """hand_in("ada", notebook) -> the path of her hand-in."""
    (tmp_path / "handins").mkdir()

    def make(student, content, stamp="20260901-120000", stem=STEM, manifest=None):
        path = tmp_path / "handins" / f"{CHAPTER}--{student}--{stamp}.zip"
        return pack(path, student, {stem: content}, manifest)

    return make


@pytest.fixture(scope="session")
def grader(project, tmp_path_factory):
    """A grader on the toy chapter, in the sandbox: its judge and stage serve the whole session."""
    space = Workspace(tmp_path_factory.mktemp("grader") / "grading", project)
    with warm_grader(read_chapter(space, CHAPTER), SHORT) as grader:
        yield grader


@pytest.fixture
def graded(grader):
    """graded(notebook) -> (verdicts by exercise, the whole submission), without the gradebook."""

    def run(content, student="ada", about=None):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        submission = grader.grade(Job(student, {STEM: essence(data)}, about or {})).submission
        return {verdict.exercise: verdict for verdict in submission.verdicts}, submission

    return run


@pytest.fixture(scope="session")
def release_cells(project):
    path = project / "course" / CHAPTER / f"{STEM}.ipynb"
    return rebuild.read_cells(path.read_bytes())[0]

"""One list of versions: the lock. Everything else that names a package agrees with it."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml
from packaging.requirements import Requirement

from tools import lock
from tools.environment import OLDEST, TORCH_CPU_INDEX

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = [ROOT / "pyproject.toml", ROOT / "course" / "pyproject.toml"]


def project(path):
    return tomllib.loads(path.read_text())["project"]


@pytest.fixture(scope="module")
def pins():
    lines = lock.LOCK.read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


@pytest.fixture(scope="module")
def environment_yml():
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def test_every_requirement_is_pinned_to_a_version_that_it_allows(pins):
    needed = lock.direct()
    assert len(needed) > 15
    for requirement in needed:
        assert requirement.specifier.contains(pins[lock.canonical(requirement.name)]), requirement


def test_the_lock_holds_what_the_two_projects_reach_and_nothing_else(pins):
    assert lock.pins() == pins


def test_the_lock_has_exact_versions_and_no_source(pins):
    text = lock.LOCK.read_text()
    assert not re.search(r"://|--|\bhash|@", text)
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in pins.values())


def test_conda_gets_the_lock_and_the_same_oldest_python(environment_yml):
    *conda, pip = environment_yml["dependencies"]
    assert conda == ["python" + project(PROJECTS[0])["requires-python"], "pip"]
    assert pip == {"pip": ["-r requirements.lock", "-e ./course", "-e ."]}


def test_the_oldest_python_is_the_same_everywhere():
    wanted = ">={}.{}".format(*OLDEST)
    assert [project(path)["requires-python"] for path in PROJECTS] == [wanted, wanted]


def test_the_student_needs_no_tool_of_the_instructor():
    names = {lock.canonical(Requirement(r).name) for r in project(PROJECTS[1])["dependencies"]}
    assert not names & {"nbgrader", "nbval", "jupytext", "playwright", "pytest", "graded-descent"}


def imported(path):
    """Top-level packages that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


# Import name -> package, where they differ.
PACKAGE = {"sklearn": "scikit-learn", "PIL": "pillow"}
# What a declared package brings and documents as its own.
BROUGHT = {
    "IPython": "ipykernel",
    "traitlets": "ipywidgets",
    "nbformat": "jupyterlab",
    "ipykernel": "ipywidgets",
    "jupyter_client": "jupyterlab",
    "jupyter_server": "jupyterlab",
}


def test_the_students_library_imports_only_what_course_installs():
    declared = {Requirement(r).name for r in project(PROJECTS[1])["dependencies"]}
    allowed = declared | set(sys.stdlib_module_names) | {"descent"}
    files = sorted((ROOT / "course" / "descent").rglob("*.py"))
    assert files
    strangers = {
        (str(path.relative_to(ROOT)), name)
        for path in files
        for name in imported(path)
        if PACKAGE.get(name, name) not in allowed and name not in BROUGHT
    }
    assert not strangers


def tracked():
    """Every file of the project that git keeps or would keep."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = [ROOT / name for name in listing.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def registry_hosts():
    """Hosts that pip, apt and npm of this machine ask, read from their settings."""
    pip = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True)
    files = [Path.home() / ".npmrc", *Path("/etc/apt").rglob("*")]
    texts = [path.read_bytes() for path in files if path.is_file()]
    urls = re.findall(rb"https?://[^\s'\"]+", b"\n".join([pip.stdout, *texts]))
    return {host for url in urls if (host := urlsplit(url.decode()).hostname)}


def test_no_file_names_a_package_registry():
    hosts = [re.escape(host) for host in registry_hosts()]
    named = re.compile("|".join([r"index-url[ =]\S+://", r"find-links[ =]\S*/", *hosts]))
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in tracked()
        if (match := named.search(path.read_text(errors="replace").replace(TORCH_CPU_INDEX, "")))
    }
    assert not found

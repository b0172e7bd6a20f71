"""An instructor's course with every kind of cell that nbgrader has, handed in by students of many kinds.

Made with nbgrader's own commands, as an instructor would, and graded in one copy by nbgrader and in another by us.
"""

import contextlib
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PS = "ps1"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "toys"
c.Execute.timeout = c.Execute.iopub_timeout = 600  # never reached, however busy the machine is
c.LateSubmissionPlugin.penalty_method = "zero"
"""
AUTOTESTS = """
python3:
    setup: "from hashlib import sha1"
    hash: 'sha1({{snippet}}.encode("utf-8")+b"{{salt}}").hexdigest()'
    dispatch: "type({{snippet}})"
    normalize: "str({{snippet}})"
    check: 'assert {{snippet}} == \"\"\"{{value}}\"\"\", \"\"\"{{message}}\"\"\"'
    success: "print('Success!')"
    templates:
        default:
            - test: "type({{snippet}})"
              fail: "type of {{snippet}} is not correct"
            - test: "{{snippet}}"
              fail: "value of {{snippet}} is not correct"
"""


def cell(source: str, name: str = "", kind: str = "", points: float | None = None):
    """A cell. kind: "solution", "test", "manual", "written", "task", "readonly" or "" for an unmarked one."""
    made = (new_markdown_cell if kind in ("written", "task", "text") else new_code_cell)(source)
    if name:
        about = {"grade_id": name, "schema_version": 3, "task": kind == "task"}
        about |= {
            "grade": kind in ("test", "manual", "written"),
            "locked": kind in ("test", "task", "readonly"),
        }
        about |= {"solution": kind in ("solution", "manual", "written")}
        made.metadata.nbgrader = about | ({} if points is None else {"points": points})
    return made


KINDS = [
    cell("# Every kind of cell", kind="text"),
    cell("import math\nfrom pathlib import Path"),
    cell("from tools import double\nUNIT = 10", "given", "readonly"),
    cell(
        'def area(r):\n    """The area of a circle of radius r."""\n    ### BEGIN SOLUTION\n'
        "    if r < 0:\n        raise ValueError(r)\n    return math.pi * r**2\n    ### END SOLUTION",
        "area", "solution",
    ),
    cell("area(1)"),
    cell(
        "assert abs(area(1) - 3.14159) < 1e-4\n### BEGIN HIDDEN TESTS\ntry:\n    area(-1)\nexcept ValueError:\n"
        "    pass\nelse:\n    raise AssertionError('a negative radius')\n### END HIDDEN TESTS",
        "test-area", "test", 2,
    ),
    cell(
        'def primes(n):\n    """All primes up to n."""\n    ### BEGIN SOLUTION\n'
        "    return [p for p in range(2, n + 1) if all(p % d for d in range(2, p))]\n    ### END SOLUTION",
        "primes", "solution",
    ),
    cell(
        "points = 0.0\nif primes(3) == [2, 3]:\n    points += 1.5\nif primes(20)[-1:] == [19]:\n    points += 1\n"
        "if primes(1) == []:\n    points += 0.5\npoints",
        "test-primes", "test", 3,
    ),
    cell(
        "def total(path):\n    ### BEGIN SOLUTION\n    return double(sum(map(float, Path(path).read_text().split())))\n"
        "    ### END SOLUTION",
        "total", "solution",
    ),
    cell("assert total('values.txt') == 2 * 6 * UNIT / 10", "test-total", "test", 1),
    cell("### BEGIN SOLUTION\nprint(area(2))\n### END SOLUTION", "plot", "manual", 2),
    cell("### BEGIN SOLUTION\nBecause of the limit.\n### END SOLUTION", "why", "written", 2),
    cell("Do something with all of it.\n\n### BEGIN MARK SCHEME\n2 for effort\n### END MARK SCHEME",
         "effort", "task", 2),
]  # fmt: skip
AUTO = [
    cell(
        "### BEGIN SOLUTION\nnumber = 42\nword = 'swallow'\n### END SOLUTION", "assign", "solution"
    ),
    cell("### AUTOTEST number", "test-number", "test", 1),
    cell("### HASHED AUTOTEST word", "test-word", "test", 1),
]
ANSWERS = {
    "area": "def area(r):\n    if r < 0:\n        raise ValueError(r)\n    return math.pi * r * r",
    "primes": "def primes(n):\n    return [p for p in range(2, n + 1) if all(p % d for d in range(2, p))]",
    "total": "def total(path):\n    return 2 * sum(float(x) for x in open(path))",
    "plot": "import matplotlib.pyplot as plt\nplt.plot([area(r) for r in range(3)]);",
    "why": "Since $\\pi$ is the limit.\n\n<script>alert(1)</script>",
    "assign": "number = 42\nword = 'swallow'",
}


def make(folder: Path) -> Path:
    """A course with its assignment generated, and nothing handed in."""
    source = folder / "source" / PS
    source.mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(CONFIG)
    (folder / "autotests.yml").write_text(AUTOTESTS)
    (source / "tools.py").write_text("def double(x):\n    return 2 * x\n")
    (source / "values.txt").write_text("1\n2\n3\n")
    for stem, cells in (("kinds", KINDS), ("auto", AUTO)):
        notebook = new_notebook(cells=copy.deepcopy(cells), metadata={"kernelspec": KERNEL})
        nbformat.write(notebook, source / f"{stem}.ipynb")
    nbgrader(folder, "generate_assignment", PS)
    with gradebook(folder) as book:
        book.update_or_create_assignment(PS, duedate="2030-01-01 12:00:00 UTC")
    return folder


def nbgrader(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run nbgrader in a course; it must end well, unless it is `autograde`, which fails for one bad submission.

    It is what we compare with, so it is nbgrader as installed: its kernels start as it starts them. Without PYTHONPATH,
    where another `tools` may stand than the course's.
    """
    command = [sys.executable, "-m", "nbgrader", *arguments]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)
    if arguments[0] != "autograde":
        assert done.returncode == 0, done.stderr
    return done


def released(folder: Path) -> dict[str, dict]:
    """The notebooks as they were handed out, as JSON, by name."""
    paths = sorted((folder / "release" / PS).glob("*.ipynb"))
    return {path.stem: json.loads(path.read_text()) for path in paths}


def solved(folder: Path, **answers: str | None) -> dict[str, dict]:
    """Handed in: the right answers, with `answers` instead (grade_id with _ for -); None leaves one as it was."""
    told = ANSWERS | {name.replace("_", "-"): text for name, text in answers.items()}
    notebooks = released(folder)
    for notebook in notebooks.values():
        for name in told:
            if told[name] is not None:
                with contextlib.suppress(StopIteration):
                    find(notebook, name)["source"] = told[name]
    return notebooks


def find(notebook: dict, name: str) -> dict:
    """The cell of that grade_id. Raises StopIteration."""
    return next(
        c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name
    )


def hand_in(
    folder: Path, student: str, notebooks: dict[str, dict | bytes], stamp: str = ""
) -> Path:
    """Put notebooks where nbgrader collects them -> the student's folder. stamp: when they came."""
    target = folder / "submitted" / student / PS
    target.mkdir(parents=True, exist_ok=True)
    for stem, content in notebooks.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (target / f"{stem}.ipynb").write_bytes(data)
    if stamp:
        (target / "timestamp.txt").write_text(stamp)
    return target


def gradebook(folder: Path):
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{folder / 'gradebook.db'}")


def rows(folder: Path, student: str) -> dict:
    """What the gradebook says of a student: ("notebook", "grade_id") -> what is written about that cell."""
    told = {}
    with gradebook(folder) as book:
        submission = book.find_submission(PS, student)
        for notebook in submission.notebooks:
            told[notebook.name, ""] = {"penalty": notebook.late_submission_penalty}
            for grade in notebook.grades:
                told[notebook.name, grade.name] = {
                    "auto": grade.auto_score, "manual": grade.manual_score, "extra": grade.extra_credit,
                    "most": grade.max_score, "waits": grade.needs_manual_grade,
                }  # fmt: skip
            for comment in notebook.comments:
                told.setdefault((notebook.name, comment.name), {})["comment"] = comment.comment
    return told

"""No accident with the file costs a mark: every answer is found, whole, with its helpers, before its check.

Sequences of accidents are drawn at random. SEED=7 draws others; a failure prints its sequence.
"""

import copy
import json
import os
import random
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.checkdata import ROOT
from autograder.grading.rebuilding import cells, rebuild
from tests.grading import mutations

SEQUENCES = int(os.environ.get("SEQUENCES", "300"))


@pytest.fixture(scope="module")
def solved(released):
    return mutations.solve(released)


@pytest.fixture(scope="module")
def scores(release_cells):
    """scores(data) -> {exercise: whether it is right when its check is reached}, and the rebuilt notebook."""

    def run(data):
        made = rebuild.rebuild(release_cells, rebuild.read_cells(data)[0])
        as_ipython = TransformerManager().transform_cell
        names = {"np": np, "check": lambda answer: 0}
        told = {}
        for part in made.parts:
            if part.runs and "from descent" not in part.cell.source:
                try:
                    exec(as_ipython(part.cell.source), names)
                except Exception:
                    pass  # as in the sandbox, the next cell runs all the same
            if part.role == "check":
                told[part.name] = right(part.name, names)
        return told, made

    def right(name, names):
        x = np.array([1.0, -3.0])
        arguments = (x,) if name == "double" else (lambda z: 3 * z, x)
        try:
            return bool(np.allclose(names[name](*arguments), (2 if name == "double" else 30) * x))
        except Exception:
            return False

    return run


@pytest.mark.parametrize("accident", [*mutations.ALL, mutations.LAST], ids=lambda f: f.__name__)
def test_one_accident_costs_nothing(solved, scores, accident):
    for seed in range(10):
        told, made = scores(mutations.after(solved, [accident], None, random.Random(seed)))
        assert told == {"double": True, "scaled": True}, seed
        assert made.untouched == set() and mutations.WHY in written(made)


@pytest.mark.parametrize("file", mutations.FILES, ids=lambda f: f.__name__)
def test_how_the_file_was_saved_costs_nothing(solved, scores, file):
    told, made = scores(mutations.after(solved, [], file, random.Random(0)))
    assert told == {"double": True, "scaled": True} and mutations.WHY in written(made)


def test_no_sequence_of_accidents_costs_anything(solved, scores):
    rng = random.Random(int(os.environ.get("SEED", "0")))
    for number in range(SEQUENCES):
        chosen, file = mutations.sequence(rng)
        seed = rng.randrange(10**6)
        data = mutations.after(solved, chosen, file, random.Random(seed))
        told, made = scores(data)
        names = [f.__name__ for f in [*chosen, *[file] * (file is not None)]]
        assert told == {"double": True, "scaled": True}, (number, seed, names)
        assert mutations.WHY in written(made), (number, seed, names)
        assert all(made.how.values()) and not made.untouched, (number, seed, names)


def written(made):
    return next(part.cell.source for part in made.parts if part.role == "written")


JUNK = [
    None,
    True,
    -1,
    1e400,
    "",
    "\ud800\0\r",
    [],
    {},
    [[]],
    {"a": []},
    "x" * 1000,
    ["a", 1, None],
]


def test_no_damage_to_the_file_raises(release_cells, solved):
    """Any value of it replaced by another, or bytes of it lost: a rebuilt notebook or a sentence."""
    rng = random.Random(int(os.environ.get("SEED", "0")))
    read = 0
    for _ in range(SEQUENCES):
        told = copy.deepcopy(solved)
        for _ in range(rng.randrange(1, 6)):
            damage(told, rng)
        data = json.dumps(told).encode()
        if rng.random() < 0.3:
            at = rng.randrange(len(data))
            data = data[:at] + rng.randbytes(rng.randrange(4)) + data[at + rng.randrange(9) :]
        try:
            cells = rebuild.read_cells(data)[0]
        except rebuild.NotebookError as error:
            assert str(error).startswith("it ")
            continue
        read += 1
        made = rebuild.rebuild(release_cells, cells)
        assert made.how.keys() == {"double", "scaled", "why"}
        json.dumps([part.cell.source for part in made.parts], ensure_ascii=False).encode()
    assert read > SEQUENCES / 3


@pytest.mark.parametrize("depth", [90, 300, 900, 2000, 5000])
def test_no_depth_of_the_code_raises(release_cells, solved, depth):
    deep = ["-" * depth + "1", "f" + "()" * depth, "x = a" + ".b" * depth, "+".join("a" * depth)]
    deep += [
        "(" * depth + ")" * depth,
        "lambda:" * depth + "1",
        "if a: b\nelse:\n if c: d\n" * depth,
    ]
    deep += ["if a:\n    x = 1\n" + "elif a:\n    y = 1\n" * depth, "print(" * depth + ")" * depth]
    deep += [f"def double(x):\n    {word} {'-' * depth}1" for word in ("return", "raise")]
    cells = [of_code(source) for source in deep] + [of_code(f"    {source}") for source in deep]
    made, _ = found_in(release_cells, solved | {"cells": [*cells, *solved["cells"]]})
    assert all(made.how.values())


def damage(told, rng):
    """Put junk in the place of one value, found by walking down at random."""
    while True:
        keys = list(told) if isinstance(told, dict) else range(len(told))
        if not keys:
            return
        key = rng.choice(keys)
        if rng.random() < 0.3 or not isinstance(told[key], dict | list):
            told[key] = copy.deepcopy(rng.choice(JUNK))
            return
        told = told[key]


def of_code(source):
    return mutations.cell(source)


def of_text(source):
    return mutations.cell(source, "markdown")


DENSE = "\n".join(
    f"x{i} = [a[{i}] + b*{i}, (c, d), f({i})(g), lambda q: q**{i}]" for i in range(500)
)
LARGE = {
    "a thousand answers": [of_code(f"def double(x):\n    return {i}") for i in range(1000)],
    "a thousand texts": [of_text(f"why is doubling {i} " * 200) for i in range(1000)],
    "a thousand helpers": [of_code(f"def h{i}(): return h{i - 1}()") for i in range(990, 0, -1)],
    "a thousand halves": [of_code("def double(x):")] + [of_code("    x = 1")] * 990,
    "large halves": [of_code("def double(x):\n" + "    x = 1\n" * 4500), of_code("  return x")]
    * 400,
    "long programs": [of_code(DENSE)] * 900,
    "many names": [of_code(";".join(f"a{i}=1" for i in range(1000)))] * 900,
    "one line": [of_code("x" * 10_000_000)],
    "many lines": [of_code("x = 1\n" * 1_700_000)],
    "blanks": [of_code(" " * 10_000_000 + "x")],
    "blank lines": [of_code("\n \t" * 3_000_000 + "x")],
    "a check": [of_code("check(" + "a" * 10_000_000)],
    "fences": [of_text("```\n" * 2_500_000), of_text("def f(\n" + "```a\nx\n" * 1_250_001)],
    "magics": [of_code("= %" * 3_000_000), of_code(("=" + " " * 5000 + "\n") * 2000)],
    "nests": [of_code("-" * 40_000 + "1"), of_code("f" + "()" * 20_000), of_code("(" * 40_000)]
    * 50,
}


@pytest.mark.parametrize("cells", LARGE.values(), ids=LARGE.keys())
def test_the_time_is_bounded(release_cells, solved, cells):
    """Seconds at most on a slow machine; what is quadratic in these sizes takes minutes."""
    data = json.dumps(solved | {"cells": [*cells, *solved["cells"]][:1000]}).encode()
    started = time.process_time()
    rebuild.rebuild(release_cells, rebuild.read_cells(data)[0])
    assert time.process_time() - started < 10


CHAPTERS = sorted(ROOT.glob("course/[0-9]*/*.ipynb"))


@pytest.fixture(scope="module", params=CHAPTERS, ids=lambda path: path.stem)
def real(request):
    """A released notebook of the course: its cells, and the same as JSON with the author's solutions in it."""
    path = request.param
    release = rebuild.read_cells(path.read_bytes())[0]
    solutions = ROOT / "solutions" / path.parent.name / path.name
    answers = {cell.grade_id: cell.source for cell in rebuild.read_cells(solutions.read_bytes())[0]}
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        own = answers.get(about.get("grade_id")) if about.get("solution") else None
        cell["source"] = own or mutations.text(cell)
    return release, notebook, {c.about("exercise") for c in release} - {""}, answers


def found_in(release, notebook):
    made = rebuild.rebuild(release, rebuild.read_cells(json.dumps(notebook).encode())[0])
    return made, {p.name: p.cell.source for p in made.parts if p.role in ("answer", "written")}


def strip(notebook):
    for cell in notebook["cells"]:
        cell |= {"metadata": {}, "id": "same"}


@pytest.mark.parametrize(
    "accident",
    [
        lambda cells, rng: None,
        lambda cells, rng: cells.reverse(),
        lambda cells, rng: rng.shuffle(cells),
        lambda cells, rng: cells.extend(copy.deepcopy(cells)),
        lambda cells, rng: [cells.remove(c) for c in [*cells] if c["source"][:6] == "check("],
        lambda cells, rng: [cells.remove(c) for c in [*cells] if rng.random() < 0.5 and spare(c)],
    ],
    ids=["as it is", "reversed", "shuffled", "twice", "without checks", "without half of the rest"],
)
@pytest.mark.parametrize("stripped", [False, True], ids=["with ids", "without ids"])
def test_every_answer_of_the_course_is_found(real, accident, stripped):
    release, notebook, exercises, answers = real
    notebook = copy.deepcopy(notebook)
    accident(notebook["cells"], random.Random(5))
    if stripped:
        strip(notebook)
    made, found = found_in(release, notebook)
    assert {name: found.get(name) for name in exercises} == {n: answers[n] for n in exercises}
    assert all(made.how.values())


def spare(cell):
    return not cell["metadata"].get("nbgrader", {}).get("solution")


def test_answers_of_the_course_in_one_cell_are_found(real):
    """Merged into one, among everything else that runs."""
    release, notebook, exercises, answers = real
    one = mutations.cell("\n\n".join(mutations.text(c) for c in notebook["cells"] if is_code(c)))
    made, found = found_in(release, notebook | {"cells": [one]})
    assert all(answers[name] in found[name] for name in exercises)


def is_code(cell):
    return cell["cell_type"] == "code"


def renamed(source, name):
    """The source with the function or class of that name called my_…; calls of it stay."""
    return re.sub(rf"^(def|class) {name}\b", rf"\1 my_{name}", source, flags=re.M)


@pytest.mark.parametrize("order", ["as it is", "shuffled"])
def test_renamed_answers_of_the_course_are_found_by_likeness(real, order):
    """Without ids, each under another name: it is given the name that it is asked by."""
    release, notebook, exercises, answers = real
    notebook = copy.deepcopy(notebook)
    strip(notebook)
    for cell in notebook["cells"]:
        for name in exercises:
            cell["source"] = renamed(cell["source"], name)
    if order == "shuffled":
        random.Random(3).shuffle(notebook["cells"])
    made, found = found_in(release, notebook)
    for name in exercises:
        if len(rebuild.Cell("code", answers[name]).functions) == 1:
            assert re.search(rf"^(def|class) my_{name}\b", found[name], re.M)
            assert f"{name} = my_{name}" in found[name]


def test_renamed_answers_without_their_task_are_found_by_their_place(real):
    release, notebook, exercises, answers = real
    notebook = copy.deepcopy(notebook)
    strip(notebook)
    for cell in notebook["cells"]:
        for name in exercises:
            source = renamed(cell["source"], name)
            if source != cell["source"]:
                cell["source"] = re.sub(r'""".*?"""', '"""…"""', source, flags=re.S)
    made, found = found_in(release, notebook)
    for name in exercises:
        if len(rebuild.Cell("code", answers[name]).functions) == 1:
            assert re.search(rf"^(def|class) my_{name}\b", found[name], re.M), made.how[name]


def nested(depth):
    """Python copies what stands in `finally` twice a level, when it compiles."""
    lines = [
        "    " * level + line
        for level in range(depth)
        for line in ("try:", "    x = 1", "finally:")
    ]
    return "\n".join([*lines, "    " * depth + "y = 1"])


def notebook_of(*sources):
    told = [{"cell_type": "code", "metadata": {}, "source": s, "outputs": []} for s in sources]
    return json.dumps({"cells": told, "metadata": {}}).encode()


def notebook_of_text(source):
    told = [{"cell_type": "markdown", "metadata": {}, "source": source}]
    return json.dumps({"cells": told, "metadata": {}}).encode()


# Each took seconds to minutes, or gigabytes, of the process that grades a class.
COSTLY = {
    "finally in finally": lambda: notebook_of(nested(24), "z = 1"),
    "an import of many parts": lambda: notebook_of(*["import a" + ".a" * 24_000] * 4, "z = 1"),
    "a hundred megabytes of code": lambda: notebook_of("x = 1\n" * 16_000_000, "z = 1"),
    "many short texts": lambda: json.dumps({"cells": [], "metadata": ["ab"] * 16_000_000}).encode(),
    "many numbers": lambda: b'{"cells": [], "metadata": [' + b"1e3," * 24_000_000 + b"1]}",
    "formulas that never end": lambda: notebook_of_text("\\begin{a}" * 5_500),
}
READ = """
import pathlib, resource, sys
from autograder.engine import needs
from autograder.grading.gradebook import pages
from autograder.grading.rebuilding import rebuild

data = pathlib.Path(sys.argv[1]).read_bytes()
here = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (here + 900_000_000,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
try:
    made = rebuild.rebuild([rebuild.Cell("code", "first = 1")], rebuild.read_cells(data)[0])
except rebuild.NotebookError as error:
    sys.exit(print(error))
needs.needed([(part.cell.source, True) for part in made.parts if part.runs])
pages.text(made, [], {})
print("read")
"""


@pytest.mark.parametrize("name", COSTLY)
def test_what_would_cost_much_to_read_has_a_bound(name, tmp_path):
    path = tmp_path / "costly.ipynb"
    path.write_bytes(COSTLY[name]())
    command = [sys.executable, "-c", READ, path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
    many = name.startswith("many")
    assert ("more than 3,000,000 parts" if many else "read") in done.stdout


def test_a_number_of_thousands_of_digits_is_no_reason_to_refuse_a_file():
    content = b'{"cells": [{"cell_type": "code", "source": "x = 1", "outputs": [%s]}]}' % (
        b"7" * 9_000
    )
    read, _ = rebuild.read_cells(content)
    assert [cell.source for cell in read] == ["x = 1"]


def test_half_a_function_is_none():
    first, second = rebuild.read_cells(notebook_of("def f(x):\n    y = 2 * x", "    return y"))[0]
    assert first.compiles and not cells._runs("return y")
    (whole,) = cells.joined([first, second])
    assert whole.source == "def f(x):\n    y = 2 * x\n    return y"

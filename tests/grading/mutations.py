"""What happens to notebooks between a student's screen and the grader: one function an accident.

Each takes the notebook as JSON and a random generator, and changes it in place. None touches what the student's
functions compute, so that in any order and number they must cost nothing.
"""

import copy
import json
import re

WHY = "Because 2 = 1 + 1."


def solve(released):
    """The released toy notebook as a student solves it: into the stubs, the text of the tasks kept."""
    notebook = copy.deepcopy(released)
    for one in notebook["cells"]:
        body = {"double": "return 2 * x", "scaled": "return SCALE * grad(x)"}.get(one["id"])
        if body:
            one["source"] = text(one).replace("raise NotImplementedError", body)
            assert body in one["source"]
        if one["id"] == "why":
            one["source"] = f"{text(one)}\n\n{WHY}"
    return notebook


def sequence(rng):
    """Accidents in the order in which they happen, and what becomes of the file in the end (a function or None)."""
    chosen = rng.choices(ALL, k=rng.randrange(1, 8)) + [LAST] * (rng.random() < 0.3)
    return chosen, rng.choice([*FILES, None])


def after(notebook, chosen, file, rng):
    """The notebook's file when all that has happened to it."""
    made = copy.deepcopy(notebook)
    for accident in chosen:
        accident(made, rng)
    data = json.dumps(made).encode()
    return file(data) if file else data


def cell(source, kind="code", name="new"):
    told = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    return told | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def defining(notebook, word):
    """Places of the cells that define a function from its first line to its last."""
    cells = enumerate(map(text, notebook["cells"]))
    return [at for at, source in cells if f"def {word}(" in source and "return" in source]


def text(one):
    source = one["source"]
    return source if isinstance(source, str) else "".join(filter(_is_string, source))


def _is_string(line):
    return isinstance(line, str)


def _any_answer(notebook, rng):
    return rng.choice([at for word in ("double", "scaled") for at in defining(notebook, word)])


def copies_a_cell(notebook, rng):
    at = rng.randrange(len(notebook["cells"]))
    notebook["cells"].insert(at + 1, copy.deepcopy(notebook["cells"][at]))


def copies_an_answer_to_the_end(notebook, rng):
    twin = copy.deepcopy(notebook["cells"][_any_answer(notebook, rng)])
    notebook["cells"].append(twin | {"id": "twin"})


def splits_an_answer(notebook, rng):
    """As JupyterLab does it: both halves keep the metadata."""
    at = _any_answer(notebook, rng)
    lines = text(notebook["cells"][at]).splitlines(keepends=True)
    if len(lines) < 2 or notebook["cells"][at]["cell_type"] != "code":
        return
    cut = rng.randrange(1, len(lines))
    halves = [copy.deepcopy(notebook["cells"][at]) for _ in range(2)]
    halves[0]["source"], halves[1]["source"] = "".join(lines[:cut]), "".join(lines[cut:])
    halves[1]["id"] = "half"
    notebook["cells"][at : at + 1] = halves


def merges_the_answers(notebook, rng):
    one, other = defining(notebook, "double")[-1], defining(notebook, "scaled")[-1]
    if one == other:
        return
    first, second = notebook["cells"][one], notebook["cells"][other]
    if first["cell_type"] != "code" or second["cell_type"] != "code":
        return
    first["source"] = f"{text(first)}\n\n{text(second)}"
    del notebook["cells"][other]


def merges_an_answer_with_its_check(notebook, rng):
    at = _any_answer(notebook, rng)
    if at + 1 < len(notebook["cells"]) and text(notebook["cells"][at + 1]).startswith("check("):
        check = notebook["cells"].pop(at + 1)
        notebook["cells"][at]["source"] = f"{text(notebook['cells'][at])}\n\n{text(check)}"


def solves_in_a_new_cell(notebook, rng):
    """Below the cell that was meant for it, which stays as it was handed out."""
    at = _any_answer(notebook, rng)
    one = notebook["cells"][at]
    if text(one).count("return") == 1 and one["cell_type"] == "code":
        notebook["cells"].insert(at + 1, cell(text(one), name="elsewhere"))
        one["source"] = re.sub(r"return .*", "raise NotImplementedError", text(one))


def types_the_answer_into_the_check(notebook, rng):
    at = _any_answer(notebook, rng)
    one = notebook["cells"][at]
    checks = [c for c in notebook["cells"][at + 1 : at + 2] if text(c).startswith("check(")]
    if checks and text(one).count("return") == 1 and one["cell_type"] == "code":
        checks[0]["source"] = f"{text(one)}\n\n{text(checks[0])}"
        one["source"] = re.sub(r"return .*", "raise NotImplementedError", text(one))


def makes_a_helper_of_a_copied_check(notebook, rng):
    """The copy keeps the metadata and the id of the check."""
    at = rng.choice(defining(notebook, "double"))
    one = notebook["cells"][at]
    checks = [c for c in notebook["cells"] if text(c) == "check(double)"]
    if checks and "return 2 * x" in text(one):
        one["source"] = text(one).replace("return 2 * x", "return copied(x)")
        helper = copy.deepcopy(checks[0]) | {"source": "def copied(x):\n    return x + x"}
        notebook["cells"].insert(at, helper)


def deletes_the_checks(notebook, rng):
    kept = [c for c in notebook["cells"] if not text(c).startswith("check(")]
    notebook["cells"] = kept


def edits_the_checks(notebook, rng):
    for one in notebook["cells"]:
        if text(one).startswith("check("):
            one["source"] = rng.choice(
                ["# checked", "print(double)", "check(double), check(scaled)"]
            )


def strips_all_metadata(notebook, rng):
    for one in notebook["cells"]:
        one["metadata"] = {}


def strips_some_metadata(notebook, rng):
    for one in notebook["cells"]:
        if rng.random() < 0.5:
            one["metadata"] = {}


def changes_the_ids(notebook, rng):
    for number, one in enumerate(notebook["cells"]):
        one["id"] = f"{rng.randrange(10**8):08x}-{number}"


def has_no_ids(notebook, rng):
    for one in notebook["cells"]:
        one.pop("id", None)
    notebook["nbformat_minor"] = 4


def swaps_the_ids_of_the_answers(notebook, rng):
    one, other = (notebook["cells"][defining(notebook, w)[-1]] for w in ("double", "scaled"))
    for key in ("id", "metadata"):
        values = one.get(key), other.get(key)
        other[key], one[key] = values


def turns_an_answer_into_text(notebook, rng):
    one = notebook["cells"][_any_answer(notebook, rng)]
    one["cell_type"] = rng.choice(["markdown", "raw"])
    if rng.random() < 0.5 and "```" not in text(one):
        one["source"] = f"My answer:\n\n```python\n{text(one)}\n```\n\nI hope."


def turns_the_written_answer_into_code(notebook, rng):
    for one in notebook["cells"]:
        if WHY in text(one):
            one["cell_type"] = "code"


def reorders_the_cells(notebook, rng):
    rng.shuffle(notebook["cells"])


def moves_a_cell(notebook, rng):
    moved = notebook["cells"].pop(rng.randrange(len(notebook["cells"])))
    notebook["cells"].insert(rng.randrange(len(notebook["cells"]) + 1), moved)


def adds_a_helper(notebook, rng):
    """Before or after its answer, or anywhere: it was run in time."""
    at = rng.choice(defining(notebook, "double"))
    name = f"helper{rng.randrange(100)}"
    one = notebook["cells"][at]
    if "return 2 * x" not in text(one):
        return
    one["source"] = text(one).replace("return 2 * x", f"return {name}(x)")
    notebook["cells"].insert(
        rng.choice([at, at + 1, 0, len(notebook["cells"])]),
        cell(f"TWO = 2\n\ndef {name}(x):\n    return TWO * x"),
    )


def edits_the_set_up(notebook, rng):
    for one in notebook["cells"]:
        if text(one) == "SCALE = 10.0":
            one["source"] = "import math\nSCALE = 10.0"


def nests_an_answer(notebook, rng):
    one = notebook["cells"][_any_answer(notebook, rng)]
    if one["cell_type"] != "code":
        return
    inner = "\n".join(f"    {line}" for line in text(one).splitlines())
    one["source"] = f"if True:\n{inner}"


def deletes_a_text(notebook, rng):
    places = [at for at, c in enumerate(notebook["cells"]) if c["cell_type"] == "markdown"]
    places = [at for at in places if "def " not in text(notebook["cells"][at])]
    places = [at for at in places if WHY not in text(notebook["cells"][at])]
    if places:
        del notebook["cells"][rng.choice(places)]


def has_lists_of_lines(notebook, rng):
    for one in notebook["cells"]:
        one["source"] = [*text(one).splitlines(keepends=True), 3, None]


def has_other_line_ends(notebook, rng):
    end = rng.choice(["\r\n", "\r"])
    for one in notebook["cells"]:
        one["source"] = text(one).replace("\r\n", "\n").replace("\r", "\n").replace("\n", end)


def has_tags(notebook, rng):
    for one in notebook["cells"]:
        one["metadata"] = one.get("metadata", {}) | {"tags": ["skip-execution", "raises-exception"]}


def has_another_kernel(notebook, rng):
    notebook["metadata"] = {"kernelspec": {"name": "ir", "language": "R"}}


def has_outputs_and_attachments(notebook, rng):
    for one in notebook["cells"]:
        one["attachments"] = {"a.png": {"image/png": "AAAA"}}
        if one["cell_type"] == "code":
            one["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 10_000}]


def has_odd_characters(notebook, rng):
    for one in notebook["cells"]:
        one["source"] = text(one) + rng.choice(["\0", "\ufeff", "\f\n", "  \t\n", "\n# \ud800"])


ALL = [
    copies_a_cell, copies_an_answer_to_the_end, merges_the_answers,
    merges_an_answer_with_its_check, solves_in_a_new_cell, types_the_answer_into_the_check,
    makes_a_helper_of_a_copied_check, deletes_the_checks, edits_the_checks, strips_all_metadata,
    strips_some_metadata, changes_the_ids, has_no_ids, swaps_the_ids_of_the_answers,
    turns_an_answer_into_text, turns_the_written_answer_into_code, reorders_the_cells, moves_a_cell,
    adds_a_helper, edits_the_set_up, nests_an_answer, deletes_a_text, has_lists_of_lines,
    has_other_line_ends, has_tags, has_another_kernel, has_outputs_and_attachments,
    has_odd_characters,
]  # fmt: skip
LAST = splits_an_answer  # halves that are moved apart later are nobody's answer


def with_a_mark(data):
    return b"\xef\xbb\xbf" + data


def in_utf_16(data):
    return data.decode().encode("utf-16")


def with_windows_lines(data):
    return json.dumps(json.loads(data), indent=1).encode().replace(b"\n", b"\r\n")


def in_format_3(data):
    told = json.loads(data)
    cells = []
    for one in told["cells"]:
        made = {key: value for key, value in one.items() if key not in ("id", "source")}
        cells.append(made | {"input" if one["cell_type"] == "code" else "source": one["source"]})
    return json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


def with_not_a_number(data):
    return b'{"a": NaN, "b": -Infinity, "metadata": 3, "metadata": {}, ' + data.lstrip()[1:]


def with_odd_cells(data):
    told = json.loads(data)
    told["cells"][0:0] = [
        None, 3, "def double(x): return 0", {}, cell(""), cell("  \n"), cell("-" * 30_000 + "1"),
        {"cell_type": "code", "source": {"a": 1}, "metadata": [], "id": {}},
        {"cell_type": "code", "source": None, "metadata": {"nbgrader": {"grade_id": ["double"]}}},
    ]  # fmt: skip
    return json.dumps(told).encode()


FILES = [with_a_mark, in_utf_16, with_windows_lines, in_format_3, with_not_a_number, with_odd_cells]

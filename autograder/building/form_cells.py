"""What breaks a rule in the cells of a master: each function yields (cell or line, what to do)."""

import ast
import re
from collections.abc import Iterator

from autograder import markers
from autograder.building import masters
from autograder.building.draft import Draft
from autograder.building.masters import KNOWN_KEYS, Cell
from autograder.markers import BEGIN, END
from descent import skipping

Slips = Iterator[tuple[Cell | int, str]]
ANSWERS = {"exercise", "written"}  # keys of the cells that a student writes in


def unknown_keys(draft: Draft) -> Slips:
    known = KNOWN_KEYS | {"lines_to_next_cell", "title"}  # the last two are jupytext's
    for cell in draft.master.cells:
        for key in sorted(set(cell.metadata) - known):
            yield cell, f"unknown metadata {key!r}; known are {', '.join(sorted(KNOWN_KEYS))}"


def no_python(draft: Draft) -> Slips:
    for cell in draft.code:
        if cell.tree is None and not re.search(r"^\s*[%!]", cell.source, re.M):
            yield cell, f"not valid Python: {_syntax_error(cell.source)}"


def _syntax_error(source: str) -> str:
    try:
        ast.parse(source)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno} of the cell)"
    return ""


def bad_title(draft: Draft) -> Slips:
    first = draft.master.cells[0] if draft.master.cells else Cell("markdown", "", {}, 1)
    if not first.metadata.get("builds"):
        yield 1, "the title cell needs builds=…"
    if first.kind != "markdown" or not first.source.startswith("# "):
        yield 1, "the first cell must be Markdown that begins with the title, `# …`"


def bad_start(draft: Draft) -> Slips:
    wanted = f'start("{draft.master.notebook}")'
    calls = [(cell, call) for cell in draft.code for call in masters.calls(cell, "start")]
    for cell, call in calls:
        if [ast.unparse(argument) for argument in call.args] != [repr(draft.master.notebook)]:
            yield cell, f"start must name this notebook: {wanted}"
    if draft.code and not draft.code[0].source.rstrip().endswith(wanted):
        yield draft.code[0], f"the first code cell must end with {wanted}"


def bad_markers(draft: Draft) -> Slips:
    for cell in draft.master.cells:
        marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
        if marks != [BEGIN, END] * (len(marks) // 2):
            yield cell, f"unbalanced solution markers: {BEGIN!r} and {END!r} must alternate"
        answer = cell.metadata.keys() & ANSWERS
        if marks and not answer:
            yield cell, "solution markers outside an exercise"
        if answer and not marks:
            yield cell, "an answer cell needs its solution between the solution markers"


def unpaid(draft: Draft) -> Slips:
    for cell in (c for c in draft.master.cells if c.metadata.keys() & ANSWERS):
        # A student's minutes are counted from the difficulty of what is to be written.
        for key in ("points", "difficulty" if "exercise" in cell.metadata else "minutes"):
            value = cell.metadata.get(key)
            if not _positive(value):
                found = "" if value is None else f" ({value!r})"
                yield (
                    cell,
                    f"{key} {'is' if key == 'difficulty' else 'are'} missing or not above zero{found}: "
                    f"write {key}={2 if key == 'difficulty' else 5} in the cell's "
                    "header line, with spaces between its keys",
                )


def _positive(value) -> bool:
    return isinstance(value, int | float) and value > 0


def twins(draft: Draft) -> Slips:
    seen: dict[tuple[bool, str], Cell] = {}
    for cell in draft.master.cells:
        for key in cell.metadata.keys() & (ANSWERS | {"check"}):
            name = str(cell.metadata[key])
            first = seen.setdefault((key == "check", name), cell)
            if first is not cell:
                yield cell, f"{key} {name!r} appears twice (first in line {first.line})"


def undefined(draft: Draft) -> Slips:
    for name, cell in draft.master.of("exercise").items():
        if cell.tree and not _defined(name, cell):
            yield cell, f"exercise {name!r} must define a function or class of that name"


def undescribed(draft: Draft) -> Slips:
    for name, cell in draft.master.of("exercise").items():
        if any(ast.get_docstring(node) is None for node in _defined(name, cell)):
            yield cell, f"exercise {name!r} needs a docstring: shapes, and a small worked example"


def _defined(name: str, cell: Cell) -> list[ast.AST]:
    body = cell.tree.body if cell.tree else []
    return [node for node in body if getattr(node, "name", None) == name]


def unchecked(draft: Draft) -> Slips:
    asked, checked = draft.master.of("exercise"), draft.master.of("check")
    for name, cell in asked.items():
        if name not in checked:
            yield cell, f'exercise {name!r} has no check cell (# %% check="{name}")'
        elif checked[name].line < cell.line:
            yield checked[name], f"the check of {name!r} stands before its exercise"
    for name, cell in checked.items():
        if name not in asked:
            yield cell, f"check of {name!r}, which is no exercise of this notebook"
        if cell.source.strip() != f"check({name})":
            yield cell, f"a check cell holds nothing but check({name})"


def bad_blocks(draft: Draft) -> Slips:
    """Blocks after what is no exercise would never run."""
    exercises, predictions = draft.master.of("exercise"), draft.master.of("predict")
    for cell in draft.code:
        nodes = list(ast.walk(cell.tree)) if cell.tree else []
        if sum(skipping.is_after(node) for node in (cell.tree.body if nodes else [])) > 1:
            yield cell, "two `with after(…)` blocks in one cell: give each its own cell"
        for block in filter(skipping.is_after, nodes):
            guesses, answers = skipping.awaited_guesses(block), skipping.awaited_answers(block)
            if not guesses and not answers:
                yield cell, "after() names no exercise"
            for one in answers:
                yield from _awaited(cell, one, ast.unparse(one), exercises, "exercise")
            for one in guesses:
                yield from _awaited(cell, one, str(one.value), predictions, "prediction")


def _awaited(cell: Cell, call: ast.expr, name: str, known: dict[str, Cell], what: str) -> Slips:
    if name not in known:
        yield cell, f"after({ast.unparse(call)}): {name!r} is no {what} of this notebook"
    elif known[name].line > cell.line:
        yield cell, f"after({ast.unparse(call)}): the {what} stands below: move this cell down"


def bad_rubric(draft: Draft) -> Slips:
    for cell in draft.master.of("written").values():
        hidden = cell.source.partition(BEGIN)[2].partition(END)[
            0
        ]  # students see what stands outside
        rubric = hidden.partition("**Rubric**")[2]
        given = [float(points) for points in re.findall(r"^- (\d+(?:\.\d+)?): \S", rubric, re.M)]
        if sum(given) != cell.metadata.get("points"):
            yield (
                cell,
                "the model answer must end, before its END line, with a rubric that adds up to the points: "
                "a line **Rubric**, then lines like `- 1: what earns it`",
            )


def leaks(draft: Draft) -> Slips:
    for cell in draft.master.of("exercise").values():
        if markers.holds_solution(markers.stubbed(cell.source, []), cell.source):
            yield cell, "the text around the markers holds the whole solution"


def unknown_sections(draft: Draft) -> Slips:
    for cell in draft.master.cells:
        for section in cell.covers:
            if section not in masters.sections():
                yield (
                    cell,
                    (
                        f"covers unknown lecture section {section!r}; ids are in solutions/sections.tsv"
                    ),
                )


def no_hint(draft: Draft) -> Slips:
    yield from _not_imported(draft, "hint")


def no_solution(draft: Draft) -> Slips:
    yield from _not_imported(draft, "solution")


def _not_imported(draft: Draft, wanted: str) -> Slips:
    first = draft.code[0] if draft.code else None
    nodes = first.tree.body if first and first.tree else []
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = {(node.module, alias.name) for node in imports for alias in node.names}
    if first and ("descent", wanted) not in names:
        words = f"the first code cell must import {wanted} (`from descent import …, {wanted}, …`)"
        yield first, words


def wrong_exercises(draft: Draft, low: int, high: int) -> Slips:
    exercises = len(draft.master.of("exercise"))
    if not low <= exercises <= high:
        yield 1, f"{exercises} exercises: {low} to {high} are wanted"


def few_predictions(draft: Draft, low: int, project: int) -> Slips:
    return _few(draft, "predict", project if draft.is_project else low)


def few_widgets(draft: Draft, low: int) -> Slips:
    return _few(draft, "explore", low)


def few_figures(draft: Draft, low: int) -> Slips:
    return _few(draft, "show", low)


def _few(draft: Draft, function: str, low: int) -> Slips:
    calls = sum(len(masters.calls(cell, function)) for cell in draft.code)
    if calls < low:
        yield 1, f"{calls} calls of {function}(…): at least {low} wanted"


def long_lines(draft: Draft, high: int) -> Slips:
    for cell in draft.code:
        for number, line in enumerate(cell.source.splitlines(), cell.line + 1):
            if len(line) > high:
                yield number, f"{len(line)} characters: at most {high} in a line of code"


def dead_links(draft: Draft) -> Slips:
    course = draft.master.project / "course"
    written = {course / f"{notebook}.ipynb" for notebook in masters.notebooks()}
    for cell in draft.master.cells:
        links = re.findall(r"\]\(([^)\s:#]+\.(?:ipynb|md))", cell.source)
        for link in links if cell.kind == "markdown" else ():
            target = (course / draft.master.chapter / link).resolve()
            if target not in written and not target.is_file():
                yield (
                    cell,
                    f"the link to {link} leads nowhere: it starts from the notebook's chapter",
                )


def bad_project(draft: Draft) -> Slips:
    if not draft.is_project:
        return
    chapter = [n for n in masters.notebooks() if n.startswith(f"{draft.master.chapter}/")]
    if draft.master.notebook != max(chapter):
        yield 1, f"a project is the last notebook of its chapter: {max(chapter)} comes later"
    if not draft.master.of("written"):
        yield 1, 'a project needs a written answer (# %% [markdown] written="…")'

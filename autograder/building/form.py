"""The rules of form, one table: `autograder try` tells what breaks them, `autograder build` refuses where one stops it.

A rule is a sentence, its numbers, and a function that finds what breaks it. Whether the checks hold is not a
matter of form: `proofs` runs them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.building import (
    form_answers,
    form_cells,
    form_errata,
    form_files,
    form_imports,
    form_mentions,
    form_names,
    form_parts,
    form_predictions,
)
from autograder.building.draft import Draft
from autograder.building.masters import KNOWN_KEYS
from descent.errata import KINDS


@dataclass(frozen=True)
class Finding:
    """Something that breaks a rule: where, and what to do."""

    rule: str
    path: Path
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


class Rule:
    """A sentence of the form, and what finds whatever breaks it.

    says: names the limits in braces. find: (draft, **limits) -> pairs of a place (a cell, a line of the master,
    a file) and a message. stops: nothing can be built of a notebook that breaks it.
    """

    def __init__(self, name: str, says: str, find: Callable, *, stops: bool = False, **limits):
        self.name, self.find, self.stops, self.limits = name, find, stops, limits
        self.says = says.format(**limits)

    def findings(self, draft: Draft) -> Iterator[Finding]:
        for place, message in self.find(draft, **self.limits):
            yield Finding(self.name, *draft.where(place), message)


KEYS = ", ".join(f"`{key}`" for key in sorted(KNOWN_KEYS))

# Read from files alone, so that they are told within a second.
OF_THE_TEXT = (
    Rule("metadata", f"A cell's header names nothing but {KEYS}.", form_cells.unknown_keys, stops=True),
    Rule("python", "Every code cell is Python.", form_cells.no_python, stops=True),
    Rule("title", "The first cell is a `# ` heading with `builds`.",
         form_cells.bad_title, stops=True),
    Rule("start", "The first code cell ends with `start(…)` of this very notebook.", form_cells.bad_start, stops=True),
    Rule("markers", "`### BEGIN SOLUTION` and `### END SOLUTION` alternate, in each answer and in no other cell.",
         form_cells.bad_markers, stops=True),
    Rule("points", "An exercise has `points` and `difficulty` above zero, a written answer `points` and `minutes`.",
         form_cells.unpaid, stops=True),
    Rule("names", "No two answers and no two checks have one name.", form_cells.twins, stops=True),
    Rule("answer", "An exercise defines a function or class of its name.", form_cells.undefined, stops=True),
    Rule("docstring", "An exercise has a docstring.", form_cells.undescribed),
    Rule("check", "Each exercise has one check cell below it, which holds nothing but `check(name)`.",
         form_cells.unchecked, stops=True),
    Rule("after", "A cell has at most one `with after(…)` block, which names exercises or predictions above it.",
         form_cells.bad_blocks, stops=True),
    Rule("rubric", "A written answer's solution ends with `**Rubric**` and lines `- 1: what earns it` "
         "that add up to its points.", form_cells.bad_rubric, stops=True),
    Rule("leak", "The text around an answer's markers does not hold all of its solution.",
         form_cells.leaks, stops=True),
    Rule("sections", "`covers` names sections of `sections.tsv`.", form_cells.unknown_sections, stops=True),
    Rule("hint", "The first code cell imports `hint`: the cards name it.", form_cells.no_hint),
    Rule("imports", "What it and its pictures take from `descent` is there.", form_imports.missing_imports, stops=True),
    Rule("solution", "The first code cell imports `solution`: the cards name it.", form_cells.no_solution),
    Rule("counted", "Minutes stand in the headers of written answers and predictions only: others are counted.",
         form_parts.guessed_minutes),
    Rule("order", "The core comes first, then sections `## Deeper: …`, then `## Where the notes differ`.",
         form_parts.wrong_order),
    Rule("take-aways", "The last cell of the core begins with `## Take-aways`.", form_parts.no_take_aways),
    Rule("core", "The core has at most {cells} cells, {words} words, and {lines} lines of code that are not the "
         "student's.", form_parts.long_core, cells=35, words=2200, lines=250),
    Rule("words", "A cell has at most {high} words.", form_parts.long_texts, high=130),
    Rule("time", "The core takes at most {core} minutes, a project's {project}, what is deeper {deeper}.",
         form_parts.long_parts, core=60, project=120, deeper=45),
    Rule("built", "The student writes {core} statements in the core, {build} of them in one answer, {project} in one "
         "answer of a project.", form_parts.little_built, core=40, build=12, project=40),
    Rule("small", "At most {most} answers have {statements} statements or fewer.",
         form_parts.many_small, most=2, statements=2),
    Rule("folded", "A code cell that opens folded begins with a comment that says what it shows.",
         form_parts.unexplained),
    Rule("open", "A cell with `open=true` has at most {high} lines.", form_parts.long_open, high=10),
    Rule("claims", "No cell holds a bare `assert`.", form_parts.bare_asserts),
    Rule("quoted", "An erratum has a section, a `quote` of at most {words} words, verbatim from the notes, a kind "
         f"({', '.join(f'`{kind}`' for kind in KINDS)}) and what that kind needs, computed.",
         form_errata.badly_quoted, stops=True, words=25),
    Rule("errata", "All errata but {most} stand in the last section, `## Where the notes differ`.",
         form_errata.scattered, most=2),
    Rule("grabbed", "A picture is grabbed or played: `explore` with `drag` or `play`, or `movie`.",
         form_parts.nothing_moves),
    Rule("bound", "What `explore(…)` draws uses no name that a later cell assigns anew.", form_names.assigned_anew),
    Rule("behind", "What uses a name that an `after(…)` block makes waits for all that the block waits for.",
         form_names.behind_another),
    Rule("exercises", "It has {low} to {high} exercises, beside the written answers.",
         form_cells.wrong_exercises, low=4, high=8),
    Rule("predictions", "It asks for {low} predictions or more, a project for {project}.",
         form_cells.few_predictions, low=2, project=1),
    Rule("asked", 'A prediction is a cell `# %% predict="name"` with one call, `predict("name", …)`, '
         "its truth computed there.",
         form_predictions.told_too_soon, stops=True),
    Rule("widgets", "It has {low} `explore(…)` or more.", form_cells.few_widgets, low=1),
    Rule("figures", "It has {low} `show(…)` or more.", form_cells.few_figures, low=2),
    Rule("lines", "A line of code has at most {high} characters: JupyterLab cuts off longer ones.",
         form_cells.long_lines, high=88),
    Rule("links", "Its links lead to notebooks and pages that are there.", form_cells.dead_links),
    Rule("mentions", "`[[07/02]]` names one planned notebook, in a text that is no answer.",
         form_mentions.lost_mentions, stops=True),
    Rule("promises", "No text says by hand that a notebook or a chapter is coming: `[[07/02]]` tells.",
         form_mentions.promises),
    Rule("glossary", "What `glossary.tsv` names of it is one of its exercises.", form_mentions.lost_words, stops=True),
    Rule("project", "A project is the last notebook of its chapter and asks for a written answer.",
         form_cells.bad_project),
    Rule("tables", "`chapters.toml`, `notebooks.tsv` and `sections.tsv` can be read, name only what is there, "
         "and give no number twice.", form_files.unusable_tables, stops=True),
    Rule("plan", "`sections.tsv` plans sections for it, none for a project, and its cells cover all of them.",
         form_files.uncovered),
    Rule("list", "It stands in `notebooks.tsv` with its title.", form_files.unlisted),
    Rule("chapter", "Its chapter has an entry in `chapters.toml` with `about`, `able` and `before`.",
         form_files.no_chapter, stops=True),
    Rule("specification", "`exercises.py` lies beside the master.", form_files.no_specification, stops=True),
    Rule("folder", "Only `.py` files lie in its folder: nbgrader copies others into a release.",
         form_files.stray_files, stops=True),
    Rule("tests", "It has a file of tests, `tests/notebooks/<chapter>/test_<notebook>.py`.", form_files.no_tests),
    Rule("compared", "Run, it prints {texts} things or more that its tests compare, {figures} of them figures.",
         form_files.little_compared, texts=10, figures=3),
)  # fmt: skip

# `exercises.py` is run for these, which takes torch's time.
OF_THE_ANSWERS = (
    Rule("specified", "Every exercise is specified in `exercises.py`, and nothing else is.",
         form_answers.unpaired, stops=True),
    Rule("known answers", "An exercise has cases, three hints, three mistakes with different names and advice, "
         "and a right answer written another way. A mistake that is an edit finds its old text once in the solution.",
         form_answers.badly_known, stops=True),
    Rule("hints", "No hint holds the whole solution.", form_answers.telling_hints, stops=True),
    Rule("worked", "Every exercise says why its solution works: `gd.worked(why=…)`.",
         form_answers.unexplained),
    Rule("worth", "An answer of a project is judged by what a choice is worth: `explains`, `log_loss` or `agrees`.",
         form_answers.unjudged_project),
)  # fmt: skip
RULES = OF_THE_TEXT + OF_THE_ANSWERS
# Where these are broken, no solution can be read from the master.
BEFORE_ANSWERS = {"python", "markers", "names", "answer"}


def findings(draft: Draft, rules: Iterable[Rule] = RULES) -> Iterator[Finding]:
    """What breaks the rules, in the table's order.

    Raises what exercises.py raises, where a rule needs it and it does not run.
    """
    for rule in rules:
        yield from rule.findings(draft)


def stopping(draft: Draft) -> list[Finding]:
    """What must be mended before anything can be built; of the answers, only once the text is in order."""
    for rules in (OF_THE_TEXT, OF_THE_ANSWERS):
        if found := list(findings(draft, (rule for rule in rules if rule.stops))):
            return found
    return []


def table() -> list[str]:
    """The rules as lines of a Markdown table."""
    rows = [f"| {r.name} | {r.says} | {'yes' if r.stops else ''} |" for r in RULES]
    return ["| rule | what it says | stops the build |", "| --- | --- | --- |", *rows]

"""What a class did in a chapter, on static pages for the instructor: `autograder report CHAPTER`.

grading/reports/CHAPTER.html holds the numbers, CHAPTER-alike.html the answers that are alike.
"""

import argparse
import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import replace

from autograder.grading import verdicts
from autograder.grading.rebuilding import rebuild
from autograder.grading.verdicts import Submission
from autograder.handins import policy
from autograder.handins.policy import PolicyError
from autograder.results import answers, charts, harmless, looks, pages, similar
from autograder.results.answers import Answer
from autograder.results.examples import Examples
from autograder.results.statistics import NOT_TRIED, Item, items
from autograder.workspace import Workspace, workspace, write_text
from descent import predictions, session
from descent.cards import points_text

MOST_PAIRS = 20


def main(argv: list[str] | None = None) -> int:
    """Status 0: written. 2: nothing is graded, or the policy cannot be followed."""
    parser = argparse.ArgumentParser(prog="autograder report", description=__doc__.split("\n\n")[0])
    parser.add_argument("chapter", help="for example 03_optimisation")
    chapter = parser.parse_args(argv).chapter
    space = workspace()
    submissions = verdicts.load_all(space, chapter)
    if not submissions:
        print(f"report: {pages.nobody(space, chapter)}", file=sys.stderr)
        return 2
    folder = space.folder / "reports"
    try:
        page, alike = make(space, chapter, submissions)
    except PolicyError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    write_text(folder / f"{chapter}-alike.html", alike)
    write_text(folder / f"{chapter}.html", page)
    print(f"Report on {pages.counted(len(submissions), 'student')}: {folder / chapter}.html")
    return 0


def make(space: Workspace, chapter: str, submissions: list[Submission]) -> tuple[str, str]:
    """(the report, the page of answers that are alike) as HTML. Raises PolicyError."""
    dropped = policy.uncounted(space, chapter, policy.load(space))
    parts = policy.parts(space, chapter)
    found = items(submissions)
    names: dict[str, set[str]] = defaultdict(set)
    for item in found:
        names[item.notebook].add(item.exercise)
    given = _tried(answers.of_class(space, chapter, names), submissions)
    own = _own_answers(space, names)
    pairs = similar.pairs(given, own)
    values = _of_marks(submissions, dropped) | _of_exercises(found, _planned(space, chapter))
    values["mistakes"] = _mistakes(submissions, Examples(given, [answer.tree for answer in own]))
    values["predictions"] = _predictions(space, chapter, submissions)
    values["deeper"] = {name for name, part in parts.items() if part == "deeper"}
    values["dropped"] = [item for item in found if f"{item.notebook}/{item.exercise}" in dropped]
    used = looks.calls(given)
    told = [(s.student, looks.reasons(s) + used.get(s.student, [])) for s in submissions]
    values["looks"] = [(student, reasons) for student, reasons in told if reasons]
    page = pages.render(
        "report", chapter=chapter, students=len(submissions), pairs=len(pairs), **values
    )
    return page, alike_page(chapter, pairs, submissions)


def _tried(given: list[Answer], submissions) -> list[Answer]:
    """The answers that are not as they were handed out."""
    tried = {
        (s.student, v.notebook, v.exercise)
        for s in submissions
        for v in s.verdicts
        if v.kind not in NOT_TRIED
    }
    return [a for a in given if (a.student, a.notebook, a.exercise) in tried]


def _own_answers(space, names) -> list[Answer]:
    """What the course itself wrote: the stubs of the release and the model solutions."""
    return [
        answer
        for notebook, exercises in names.items()
        for world in ("course", "solutions")
        for answer in answers.of_notebook(
            space.project / world / f"{notebook}.ipynb", notebook, exercises
        )
    ]


def _planned(space, chapter) -> dict[tuple[str, str], float]:
    """(notebook, exercise) -> the minutes that the course plans for it."""
    planned = {}
    for stem, path in space.release(chapter).items():
        for cell in rebuild.read_cells(path.read_bytes())[0]:
            if cell.about("exercise") and "minutes" in cell.metadata["descent"]:
                name = (f"{chapter}/{stem}", cell.about("exercise"))
                planned[name] = float(cell.metadata["descent"]["minutes"])
    return planned


def _of_marks(submissions, dropped) -> dict:
    counted = [_without(submission, dropped) for submission in submissions]
    marks = sorted(submission.points for submission in counted)
    total = max(submission.max_points for submission in counted)
    words = (
        f"Median {points_text(statistics.median(marks))} of {points_text(total)} points, "
        f"lowest {points_text(marks[0])}, highest {points_text(marks[-1])}."
    )
    by_points = sorted(counted, key=lambda s: (-s.points, s.student))
    picture = pages.safe(charts.marks(words, marks, total)) if total else ""
    return {"marks_words": words, "marks_picture": picture, "by_points": by_points}


def _without(submission: Submission, dropped: set[str]) -> Submission:
    """The submission without the exercises that count for nobody."""
    kept = [v for v in submission.verdicts if f"{v.notebook}/{v.exercise}" not in dropped]
    return replace(submission, verdicts=kept)


def _of_exercises(found: list[Item], planned) -> dict:
    tried = [item for item in found if item.tried]
    hardest = min(tried, key=lambda item: item.solved_share, default=None)
    words = (
        f"Hardest: {hardest.exercise}, solved by {hardest.solved} of the {hardest.tried} who tried."
        if hardest
        else "Nobody tried any exercise."
    )
    kinds = [kind for kind in verdicts.KINDS if any(item.kinds[kind] for item in found)]
    return {
        "items": found,
        "kinds": kinds,
        "planned": planned,
        "solved_words": words,
        "solved_picture": pages.safe(charts.solved(words, found)) if tried else "",
        "outstanding": [f"{item.exercise}: {said}" for item in found for said in item.words],
    }


def _mistakes(submissions, examples: Examples) -> list[dict]:
    """The known mistakes that the class made, the most frequent first."""
    made, advice = defaultdict(list), {}
    for submission in submissions:
        for v in submission.verdicts:
            if v.mistake:
                name = (v.notebook, v.exercise, v.mistake)
                made[name].append((submission.student, v.notebook, v.exercise))
                advice[name] = v.advice
    return [
        {
            "exercise": name[1],
            "mistake": name[2],
            "count": len(who),
            "advice": advice[name],
            "examples": [pages.safe(harmless.code(source)) for source in examples.of(who)],
        }
        for name, who in sorted(made.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def _predictions(space, chapter, submissions) -> list[dict]:
    """The questions that anybody answered: how many chose which option. A guess at an older wording is left out."""
    asked = []
    for notebook in (f"{chapter}/{stem}" for stem in space.release(chapter)):
        data = session.check_data(notebook) or {}
        for name, kept in data.get("predictions", {}).items():
            made = Counter(s.guesses.get(f"{notebook}/{name}") for s in submissions)
            right = predictions.decoded(kept["answer"])["right"]
            options = [
                {"text": text, "count": made[text], "right": number == right}
                for number, text in enumerate(kept["options"])
            ]
            if total := sum(option["count"] for option in options):
                asked.append({"question": kept["question"], "options": options, "total": total})
    return asked


def alike_page(chapter: str, pairs: list[similar.Pair], submissions: list[Submission]) -> str:
    """The page that shows answers that are alike, side by side."""
    mistakes = {
        (s.student, v.notebook, v.exercise): v.mistake for s in submissions for v in s.verdicts
    }
    shown = [
        {
            "first": pair.first,
            "second": pair.second,
            "likes": [_like(like, mistakes) for like in pair.likes],
        }
        for pair in pairs[:MOST_PAIRS]
    ]
    more = max(0, len(pairs) - MOST_PAIRS)
    return pages.render("alike", chapter=chapter, pairs=shown, more=more)


def _like(like: similar.Like, mistakes) -> dict:
    both = (like.first, like.second)
    first, second = (mistakes.get((a.student, a.notebook, a.exercise), "") for a in both)
    return {
        "exercise": like.exercise,
        "share": like.share,
        "mistake": first if first == second else "",
        "sides": [
            (answer.student, _lines(answer, lines))
            for answer, lines in zip(both, like.lines, strict=True)
        ],
    }


def _lines(answer: Answer, alike: set[int]) -> list[tuple[bool, str]]:
    """(whether the line is alike, the line) of an answer as it was handed in."""
    return [
        (number in alike, line) for number, line in enumerate(answer.source.splitlines(), start=1)
    ]

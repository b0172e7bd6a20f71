"""What the verdicts of a class say about its exercises, with how sure one can be in a class of that size."""

import math
import statistics
from collections import Counter
from dataclasses import dataclass, field

from autograder.grading.verdicts import Graded, Submission

# With fewer students an item-rest correlation says next to nothing: at 20 its interval is ± 0.4.
ENOUGH_FOR_CORRELATION = 20
NOT_TRIED = ("unsolved", "missing")
_Z = 1.96  # of a 95 % interval


@dataclass
class Item:
    """One exercise. Shares are 0 to 1; intervals (low, high) hold with 95 %; None where nobody tried or told.

    tried: how many left it neither out nor as it was handed out. solved_share: of those who tried. points_share: mean
    share of the points, of all. correlation: of this exercise with the rest of the chapter; where it cannot be told,
    why_no_correlation says why. minutes: lower quartile, median, upper quartile of the students' own records.
    hinted, seen: how many took a hint, and saw the worked answer before they had solved it, by their own records.
    words: what stands out.
    """

    notebook: str
    exercise: str
    students: int
    tried: int
    solved: int
    kinds: Counter
    points_share: float
    solved_share: float | None
    solved_interval: tuple[float, float] | None
    correlation: float | None = None
    correlation_interval: tuple[float, float] | None = None
    why_no_correlation: str = ""
    minutes: tuple[float, float, float] | None = None
    checks: float | None = None
    hinted: int = 0
    seen: int = 0
    restored: int = 0
    words: list[str] = field(default_factory=list)


def items(submissions: list[Submission]) -> list[Item]:
    """Every exercise of a chapter, in its order."""
    found: dict[tuple[str, str], list[tuple[Submission, Graded]]] = {}
    for submission in submissions:
        for verdict in submission.verdicts:
            pairs = found.setdefault((verdict.notebook, verdict.exercise), [])
            pairs.append((submission, verdict))
    names = sorted(found, key=lambda name: name[0])  # sorted() keeps the order within a notebook
    return [_item(*name, found[name]) for name in names]


def _item(notebook, exercise, pairs) -> Item:
    graded = [verdict for _, verdict in pairs]
    tried = sum(verdict.kind not in NOT_TRIED for verdict in graded)
    solved = sum(verdict.kind == "full" for verdict in graded)
    made = Item(
        notebook, exercise, len(graded), tried, solved,
        kinds=Counter(verdict.kind for verdict in graded),
        points_share=statistics.fmean(_share(verdict) for verdict in graded),
        solved_share=solved / tried if tried else None,
        solved_interval=wilson(solved, tried) if tried else None,
        minutes=_quartiles([verdict.worked / 60 for verdict in graded if verdict.worked]),
        checks=_median([verdict.checks for verdict in graded if verdict.checks]),
        hinted=sum(bool(verdict.hints) for verdict in graded),
        seen=sum(verdict.seen for verdict in graded),
        restored=sum(verdict.restored for verdict in graded),
    )  # fmt: skip
    _correlate(made, pairs)
    made.words = _words(made)
    return made


def _share(verdict: Graded) -> float:
    return verdict.points / verdict.max_points if verdict.max_points else 0.0


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Wilson's score interval for a share: right also for small classes, and for none or all. `of` > 0."""
    from scipy.stats import binomtest  # half a second: only a report needs it

    low, high = binomtest(hits, of).proportion_ci(0.95, method="wilson")
    return float(low), float(high)


def _correlate(item: Item, pairs) -> None:
    """Put in the item-rest correlation: does who does well elsewhere do well here?"""
    here = [_share(verdict) for _, verdict in pairs]
    rest = [submission.points - verdict.points for submission, verdict in pairs]
    if len(pairs) < ENOUGH_FOR_CORRELATION:
        item.why_no_correlation = f"fewer than {ENOUGH_FOR_CORRELATION} students"
    elif len(set(here)) == 1:
        item.why_no_correlation = "all got the same"
    elif len(set(rest)) == 1:
        item.why_no_correlation = "the rest is the same for all"
    else:
        item.correlation = statistics.correlation(here, rest)
        item.correlation_interval = _fisher(item.correlation, len(pairs))


def _fisher(correlation: float, students: int) -> tuple[float, float]:
    """The interval of a correlation, through Fisher's transformation."""
    middle = math.atanh(max(-0.9999, min(0.9999, correlation)))
    half = _Z / math.sqrt(students - 3)
    return math.tanh(middle - half), math.tanh(middle + half)


def _words(item: Item) -> list[str]:
    """What stands out, said only where the whole interval agrees."""
    words = []
    if item.solved_interval and item.solved_interval[1] < 0.5:
        words.append("hard: fewer than half of those who tried solve it")
    if item.solved_interval and item.solved_interval[0] > 0.9:
        words.append("easy: more than nine in ten of those who tried solve it")
    if wilson(item.tried, item.students)[1] < 0.5:
        words.append("fewer than half try it")
    if item.correlation_interval and item.correlation_interval[1] < 0.2:
        words.append("who does well elsewhere does no better here: is the text misleading?")
    return words


def _quartiles(values) -> tuple[float, float, float] | None:
    if not values:
        return None
    if len(values) == 1:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=4, method="inclusive"))


def _median(values) -> float | None:
    return statistics.median(values) if values else None

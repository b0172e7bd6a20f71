"""What `make bench-grading` measured, as a page of tables: docs/grading_bench.md."""

import os
import platform
from collections.abc import Iterator
from importlib import metadata

from tests.bench_grading import STOCK_SIZES, Cost, Measured
from tests.bench_grading_floor import IN_WRITER

GOALS = {"class": (300, 20), "steady": 50}  # times nbgrader's speed
DAILY = 100_000
EVENING_HOUR = 0.3  # the share of a day's submissions that comes in its worst hour
BUSY = 0.7  # the share of a core's time that is planned with
CORES_OF_A_MACHINE = 16


def line(costs: dict[int, Cost]) -> tuple[float, float]:
    """(fixed, each): seconds of a run without submissions and of one more, on the line through the last two sizes."""
    if len(costs) < 2:
        return 0.0, next(iter(costs.values())).seconds / next(iter(costs))
    (few, less), (many, more) = sorted(costs.items())[-2:]
    each = (more.seconds - less.seconds) / (many - few)
    return less.seconds - few * each, each


def stock_seconds(told: Measured, size: int) -> float:
    fixed, each = line(told.stock)
    return fixed + size * each


def ours(told: Measured, jobs=2) -> dict[int, Cost]:
    return {size: cost for (workers, size), cost in told.ours.items() if workers == jobs}


def cpu_each(told: Measured) -> float:
    """CPU seconds of one more submission, of all processes together, with two workers."""
    costs = ours(told)
    return line({size: Cost(cost.cpu, 0.0) for size, cost in costs.items()})[1]


def steady_ratio(told: Measured) -> float:
    return line(told.stock)[1] / line(ours(told))[1]


def problems(found: list[Measured]) -> list[str]:
    """Scores that differ and goals that were missed, a line each."""
    told = [f"{measured.chapter}: {words}" for measured in found for words in measured.differences]
    size, goal = GOALS["class"]
    for measured in found:
        if (2, size) in measured.ours:
            ratio = stock_seconds(measured, size) / measured.ours[2, size].seconds
            if ratio < goal:
                told.append(f"{measured.chapter}: {ratio:.1f} x for {size}, the goal is {goal} x")
        ratio = steady_ratio(measured)
        if ratio < GOALS["steady"]:
            told.append(
                f"{measured.chapter}: {ratio:.1f} x in the steady state, the goal is {GOALS['steady']} x"
            )
    return told


def page(found: list[Measured]) -> str:
    parts = [
        _head,
        _classes,
        _scores,
        _steady,
        _workers,
        _memory,
        _again,
        _start,
        _floor,
        _distance,
        _plan,
    ]
    return "\n".join(words for part in parts for words in part(found)) + "\n"


def table(head: list[str], rows) -> Iterator[str]:
    """A table in Markdown; all columns but the first are numbers."""
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _head(found) -> Iterator[str]:
    names = ("nbgrader", "numpy", "torch")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    few, many = STOCK_SIZES
    yield f"""# What grading costs, measured

Written by `make bench-grading`. Machine: {os.cpu_count()} cores ({_processor()}), {_memory_of_machine()},
Linux {platform.release()}; Python {platform.python_version()}, {versions}. What it means: [grading.md](grading.md).

Both graders get the same class from the same release: no two answers alike, every fifth student with one
known mistake. Both start cold, with an empty grading folder, and end with a committed gradebook; ours draws
its hidden cases in that time. nbgrader was run with {few} and {many} submissions; its time for more is
extrapolated: fixed + N x each, on the line through the two."""


def _processor() -> str:
    with open("/proc/cpuinfo") as file:
        names = [words.split(":")[1].strip() for words in file if words.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_of_machine() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def _classes(found) -> Iterator[str]:
    yield "\n## A class, from cold start to committed gradebook, on two workers"
    yield from table(
        ["chapter", "submissions", "ours", "a second", "nbgrader, extrapolated", "ratio"],
        (
            [
                told.chapter, f"{size}", f"{cost.seconds:.1f} s", f"{size / cost.seconds:.1f}",
                f"{stock_seconds(told, size):.0f} s", f"{stock_seconds(told, size) / cost.seconds:.1f} x",
            ]
            for told in found
            for size, cost in sorted(ours(told).items())
        ),
    )  # fmt: skip
    measured = (
        f"{told.chapter}: {size} took {cost.seconds:.1f} s"
        for told in found
        for size, cost in told.stock.items()
    )
    yield f"nbgrader as measured: {'; '.join(measured)}."


def _scores(found) -> Iterator[str]:
    yield "\n## Scores"
    rows = (
        [told.chapter, f"{told.compared}", f"{told.checked}", f"{len(told.differences)}"]
        for told in found
    )
    yield from table(
        ["chapter", "compared with nbgrader's", "with the students' own check", "differ"], rows
    )
    yield "Each score is one exercise of one student, read from the gradebook after every run with two workers. With"
    yield "nbgrader's are compared those of the students that it graded; with the check's, in numbers, those of all."


def _steady(found) -> Iterator[str]:
    yield "\n## One more submission"
    rows = []
    for told in found:
        each, theirs = line(ours(told))[1], line(told.stock)[1]
        milliseconds = [f"{1000 * seconds:.0f} ms" for seconds in (each, theirs)]
        rows.append([told.chapter, *milliseconds, f"{1 / each:.1f}", f"{theirs / each:.0f} x"])
    yield from table(["chapter", "ours", "nbgrader", "ours, a second", "ratio"], rows)
    yield "The steady state: the difference between the two largest runs, divided by the submissions between them."


def _workers(found) -> Iterator[str]:
    yield "\n## One worker and two"
    rows = []
    for told in found:
        size = max(ours(told, 1))
        one, two = told.ours[1, size].seconds, told.ours[2, size].seconds
        rates = (f"{1 / line(ours(told, jobs))[1]:.1f}" for jobs in (1, 2))
        rows.append(
            [told.chapter, f"{size}", f"{one:.1f} s", f"{two:.1f} s", f"{one / two:.2f} x", *rates]
        )
    yield from table(
        [
            "chapter",
            "submissions",
            "one",
            "two",
            "gain",
            "one, a second in the steady state",
            "two",
        ],
        rows,
    )


def _memory(found) -> Iterator[str]:
    yield "\n## Memory"
    rows = (
        [told.chapter, *(f"{told.memory[tool] / 1e6:.0f} MB" for tool in ("ours", "nbgrader"))]
        for told in found
    )
    yield from table(["chapter", "ours, two workers", "nbgrader"], rows)
    yield """At the peak, of all processes together, shared pages once (PSS, looked at ten times a second, in runs of
their own)."""


def _again(found) -> Iterator[str]:
    yield "\n## The same class again"
    rows = (
        [told.chapter, f"{told.unchanged.seconds:.1f} s", f"{told.one_changed.seconds:.1f} s"]
        for told in found
    )
    size = max(size for _, size in found[-1].ours)
    yield from table(
        [f"chapter, {size} submissions", "nothing changed", "one notebook changed"], rows
    )


def _start(found) -> Iterator[str]:
    size = min(size for _, size in found[0].ours)
    yield f"\n## The bill of the start: a run of {size}, part by part"
    yield from _steps(found, [told.start for told in found], "s", 1)


def _floor(found) -> Iterator[str]:
    yield "\n## One submission, step by step"
    yield ""
    yield "Means of one after the other in one process, the machine otherwise idle."
    yield from _steps(found, [told.floor for told in found], "ms", 1000)


def _steps(found, columns, unit, factor) -> Iterator[str]:
    steps = [dict(column) for column in columns]
    labels = list(dict.fromkeys(label for column in columns for label, _ in column))
    rows = [[label, *(f"{factor * s.get(label, 0):.1f} {unit}" for s in steps)] for label in labels]
    rows.append(["**sum**", *(f"**{factor * sum(s.values()):.1f} {unit}**" for s in steps)])
    yield from table(["step", *(told.chapter for told in found)], rows)


def _distance(found) -> Iterator[str]:
    yield "\n## From the steps to a run"
    rows = []
    for told in found:
        steps, cpu, each = sum(dict(told.floor).values()), cpu_each(told), line(ours(told))[1]
        rows.append([
            told.chapter, f"{1000 * steps:.0f} ms", f"{1000 * cpu:.0f} ms", f"{1000 * cpu / 2:.0f} ms",
            f"{1000 * each:.0f} ms", f"{50 * cpu / each:.0f} %",
        ])  # fmt: skip
    yield from table(
        [
            "chapter",
            "sum of the steps",
            "CPU time in a run",
            "half of it",
            "a run's time",
            "cores busy",
        ],
        rows,
    )
    yield """CPU time is the machine's, from the same runs as a submission's time; no run on two cores is faster than
half of it. CPU time above the sum of the steps is what two workers, the scheduler and the writer cost
each other: messages, pickles, and caches that are shared. What the cores are not busy is waiting."""


def _plan(found) -> Iterator[str]:
    yield f"\n## {DAILY:,} submissions a day, computed from the above"
    columns = [_plan_of(told) for told in found]
    rows = ([cells[0][0], *(text for _, text in cells)] for cells in zip(*columns, strict=True))
    yield from table(["", *(told.chapter for told in found)], rows)
    yield f"""Assumed: {EVENING_HOUR:.0%} of a day comes in its worst hour; cores are busy {BUSY:.0%} of the time at
most; machines have {CORES_OF_A_MACHINE} cores like these."""


def _plan_of(told: Measured) -> list[tuple[str, str]]:
    cpu, size = cpu_each(told), max(size for _, size in told.ours)
    peak = DAILY * EVENING_HOUR / 3600
    writer = sum(
        seconds for label, seconds in told.floor if label in {words for *_, words in IN_WRITER}
    )
    cores = peak * cpu / BUSY
    files, stored = (sum(kept[place] for kept in told.kept.values()) / size for place in (0, 1))
    nights = DAILY * line(told.stock)[1] / 3600
    return [
        ("CPU time a submission", f"{1000 * cpu:.0f} ms"),
        ("core hours a day", f"{DAILY * cpu / 3600:.1f}"),
        ("the same through nbgrader, one process", f"{nights:.0f} h"),
        ("the worst hour", f"{peak:.1f} a second"),
        ("cores that keep up with it", f"{cores:.1f}"),
        ("machines of that", f"{-(-cores // CORES_OF_A_MACHINE):.0f}"),
        ("the one writer, busy in the worst hour", f"{peak * writer:.0%}"),
        ("it would be the bottleneck at", f"{BUSY / writer:.0f} a second"),
        ("files a day", f"{DAILY * files / 1e6:.1f} million"),
        ("bytes a day", f"{DAILY * stored / 1e9:.0f} GB"),
    ]

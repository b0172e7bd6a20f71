"""Measure here the numbers that the design promises, and print them as a table: `make bench`.

Times are medians with their spread, from the fastest to the slowest. They are wall time on whatever else this
machine does. Status 0: all reached. 1: some missed.
"""

import collections
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from autograder import checkdata
from autograder.building import build, form_parts, masters, minutes, mutate, proofs
from autograder.building.draft import Draft

ROOT = Path(__file__).resolve().parents[1]


def main():
    os.environ["DESCENT_HOME"] = tempfile.mkdtemp(prefix="bench-")
    missed = 0
    print(f"{'what':<52} {'to reach':<16} {'measured':<44}")
    for measure in (
        written,
        answers,
        mutants,
        notebooks,
        checks,
        widgets,
        pictures,
        grading,
        suite,
    ):
        for what, goal, measured, reached in measure():
            verdict = {True: "reached", False: "MISSED", None: ""}[reached]
            print(f"{what:<52} {goal:<16} {measured:<44} {verdict}", flush=True)
            missed += reached is False
    return 1 if missed else 0


def spread(seconds, unit="s", digits=1):
    """'median 1.2 s (0.9 to 3.4, n = 5)'; unit 's' or 'ms'."""
    values = [s * (1000 if unit == "ms" else 1) for s in seconds]
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"median {middle:.{digits}f} {unit} ({low:.{digits}f} to {high:.{digits}f}, n = {len(values)})"


def written():
    """Lines that somebody wrote for the notebooks: their own, and what they share."""
    own = {notebook: sum(map(lines, own_files(notebook))) for notebook in masters.notebooks()}
    for notebook, count in own.items():
        yield f"  {notebook}", "", f"{count} lines{size(masters.read(notebook))}", None
    folders = ("solutions", "course/descent/pictures", "tests/notebooks")
    total = sum(lines(path) for folder in folders for path in (ROOT / folder).rglob("*.py"))
    mean = total / len(own)
    told = f"{mean:.0f} in the mean, {(total - sum(own.values())) / len(own):.0f} of them shared"
    yield "lines by hand a notebook", "<= 2000", told, mean <= 2000


def size(master):
    """What a student meets in a notebook."""
    draft, planned = Draft(master), minutes.planned(master)
    core = ", ".join(f"{count} {what}" for what, count in form_parts.core_size(draft).items())
    return (
        f"; core {planned['core']} min ({core}, {form_parts.core_statements(draft)} statements to "
        f"write), deeper {planned['deeper']} min"
    )


def own_files(notebook):
    """The files of one notebook alone: in its folder, its pictures, its tests."""
    master = masters.read(notebook)
    chapter, name = master.name.split("/")
    pictures = ROOT / "course" / "descent" / "pictures" / chapter / f"{name}.py"
    tests = ROOT / "tests" / "notebooks" / chapter / f"test_{name}.py"
    return [*master.path.parent.glob("*.py"), *(p for p in (pictures, tests) if p.exists())]


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def answers():
    """Known wrong answers rejected and right ones given full marks, on public and hidden cases."""
    wrong = right = failed = 0
    for notebook in masters.notebooks():
        for exercise in checkdata.load_exercises(notebook).values():
            wrong += len(exercise.wrong_answers)
            right += len(exercise.right_answers)
            found = proofs.prove(notebook, exercise, len(proofs.KEYS))
            failed += len(found)
    draws = 1 + len(proofs.KEYS)
    told = f"{wrong} and {right}, each on {draws} draws of the cases; {failed} findings"
    yield "wrong answers rejected, right ones given full marks", "all", told, failed == 0


def mutants():
    """Small edits of the solutions that no case catches, a notebook; those that the text permits are listed."""
    total = collections.Counter()
    for notebook in masters.notebooks():
        draft = Draft(masters.read(notebook))
        started = time.perf_counter()
        reports = [mutate.examined(draft, exercise) for exercise in draft.exercises.values()]
        seconds = time.perf_counter() - started
        counts = collections.Counter()
        for report in reports:
            counts["mutants"] += len(report.mutants)
            counts["survive"] += report.survivors
            counts["listed"] += report.listed
            counts["findings"] += len(report.findings)
        total += counts
        yield (
            f"  {notebook}: mutants",
            "<= 60 s",
            f"{_counted(counts)}; {seconds:.0f} s",
            seconds <= 60,
        )
    told = f"{_counted(total)}; {total['findings']} findings"
    yield "mutants that survive are listed", "all", told, total["findings"] == 0


def _counted(counts):
    mutants, survive = counts["mutants"], counts["survive"]
    rate = 1 - survive / max(mutants, 1)
    return f"{rate:.1%} of {mutants} caught, {survive} survive, {counts['listed']} listed"


def notebooks():
    """Seconds to execute a solution edition in a fresh kernel, start of the kernel included."""
    import nbformat

    seconds = {}
    for notebook in masters.notebooks():
        edition = nbformat.read(ROOT / "solutions" / f"{notebook}.ipynb", as_version=4)
        started = time.perf_counter()
        build.execute(edition, notebook, static=True)
        seconds[notebook] = time.perf_counter() - started
        yield f"  {notebook}", "<= 30 s", f"{seconds[notebook]:.1f} s", seconds[notebook] <= 30
    yield "a notebook, executed", "<= 30 s", spread(seconds.values()), max(seconds.values()) <= 30


def checks(repeats=5):
    """Seconds of `check(answer)` on a known right answer, card made and progress written."""
    from descent import checking, starting

    typical = []
    for notebook in masters.notebooks():
        starting.start(notebook)
        for name, exercise in checkdata.load_exercises(notebook).items():
            answer = exercise.right_answers[0].function
            answer.__name__ = name
            seconds = []
            for _ in range(repeats):
                started = time.perf_counter()
                with contextlib.redirect_stdout(io.StringIO()):
                    checking.check(answer)
                seconds.append(time.perf_counter() - started)
            typical.append(statistics.median(seconds))
    yield (
        "check(…), over all exercises",
        "median <= 300 ms",
        spread(typical, "ms"),
        (statistics.median(typical) <= 0.3),
    )
    yield (
        "check(…), the slowest exercise",
        "<= 1000 ms",
        f"{1000 * max(typical):.1f} ms",
        (max(typical) <= 1),
    )


def widgets():
    """Seconds from a control's new value to the new picture, in the kernel."""
    seconds = []
    for notebook in masters.notebooks():
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench_widgets", notebook],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            yield f"  {notebook}: its widgets", "", f"failed: {done.stderr[-300:]}", False
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        for name, times in found:
            yield f"  {notebook}, {name}", "", spread(times, "ms"), None
            seconds += times
    if seconds:
        reached = statistics.median(seconds) <= 0.1
        yield "a widget, from slider to picture", "median <= 100 ms", spread(seconds, "ms"), reached


def pictures():
    """A handle that is dragged and a movie that plays, in a browser."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench_pictures"], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        yield "pictures in a browser", "", f"failed: {done.stderr[-300:]}", False
        return
    found = json.loads(done.stdout.splitlines()[-1])
    drafts = found["drafts"]
    reached = statistics.median(drafts) <= 0.1 and max(drafts) <= 0.2
    yield "a draft, from pointer to picture", "100 ms, worst 200", spread(drafts, "ms"), reached
    paints, moves = found["paints"], found["moves"]
    told = f"{paints} of {moves}"
    yield "moves of the pointer that move the handle", "all", told, paints >= moves
    frames = found["frames"]
    yield "a movie of 400 points, frames a second", ">= 30", f"{frames:.0f}", frames >= 30


def grading(chapter="00_start_here", few=2, many=6, project=300):
    """Grading a class, ours against stock `nbgrader autograde`, in short: `make bench-grading` does it at length.

    Both are timed from a cold start to the committed gradebook with `few` and `many` submissions; a class of
    `project` is projected on the straight line through the two.
    """
    from tests import bench_grading
    from tests.bench_grading_class import HonestClass

    people = HonestClass(chapter)
    seconds, scores = {}, {}
    for tool in (bench_grading.ours, bench_grading.stock):
        for size in (few, many):
            cost, scores[tool] = tool(people, size)
            seconds[tool, size] = cost.seconds
            yield (
                f"  {chapter}: {tool.__name__}, {size} submissions",
                "",
                f"{cost.seconds:.1f} s",
                None,
            )
    same = scores[bench_grading.ours] == scores[bench_grading.stock]
    told = f"{sum(map(len, scores[bench_grading.ours].values()))} scores"
    yield "grading, scores of ours and of nbgrader", "the same", told, same

    def at(tool, size):
        each = (seconds[tool, many] - seconds[tool, few]) / (many - few)
        return each, seconds[tool, many] + (size - many) * each

    (our_each, our_total), (stock_each, stock_total) = (
        at(tool, project) for tool in (bench_grading.ours, bench_grading.stock)
    )
    told = (
        f"{our_total:.0f} s against {stock_total:.0f} s: {stock_total / our_total:.0f} x, projected"
    )
    yield f"grading {project} submissions", ">= 20 x", told, stock_total >= 20 * our_total
    told = f"{our_each:.2f} s against {stock_each:.2f} s: {stock_each / max(our_each, 1e-3):.0f} x"
    yield "one more submission", ">= 50 x", told, stock_each >= 50 * our_each


def suite():
    """What the last `make test` took, from its report."""
    report = ROOT / "artefacts" / "tests.xml"
    if not report.exists():
        yield "make test", "<= 20 min", "not run yet: make test writes its report", None
        return
    run = ElementTree.parse(report).getroot().find("testsuite")
    minutes = float(run.get("time")) / 60
    told = f"{minutes:.1f} min ({run.get('tests')} tests, last run)"
    yield "make test", "<= 20 min", told, minutes <= 20


if __name__ == "__main__":
    sys.exit(main())

"""Runs one rebuilt notebook: its cells in order, and at each check the answer on the hidden cases.

A cell or an answer that kills the process gets its verdict; a fresh process then runs the notebook again without it and
without what was asked already, so that the other exercises are graded. Cells of the release that no answer uses are
not run; nor are a student's experiments, once one of them kills the process or half of the time is over.
"""

import time
from dataclasses import dataclass, field

from autograder.engine import needs
from autograder.engine.stage import Stage
from autograder.engine.worker_client import Died, Limits, Worker
from autograder.grading.rebuilding.rebuild import Part, Rebuilt
from descent import running

# Honest answers near their limit must not fail on a grading machine that computes more slowly than the student's.
LIMIT_FACTOR = 2
MAX_DEATHS = 12


@dataclass
class Found:
    """What came of one exercise: outcomes to be judged, or a kind of verdict with its reason. look: a person should."""

    outcomes: list | None = None
    kind: str = ""
    reason: str = ""
    look: bool = False


@dataclass
class Run:
    """What came of a notebook. errors: exercise -> what its cell raised. notes: for the instructor."""

    found: dict[str, Found] = field(default_factory=dict)
    errors: dict[str, dict] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    processes: int = 0


def run(rebuilt: Rebuilt, tasks: dict[str, dict], stage: Stage, limits: Limits) -> Run:
    """Run a notebook. tasks: exercise -> probe, limit and cases, as the judge gives them.

    Raises StageError only where the sandbox itself does not start, or is lost.
    """
    told = Run()
    _decide_without_running(rebuilt, tasks, told)
    parts, deadline = rebuilt.parts, time.monotonic() + limits.total
    spared = _not_needed(parts, lambda part: part.role != "release")
    left_out = set(spared)
    experiments = _not_needed(parts, lambda part: _answers(part, tasks)) - spared
    _passes(parts, tasks, told, stage, limits, deadline, left_out, experiments)
    missed = _missed_a_name(tasks, told)
    if missed and spared:
        for name in missed:
            told.found.pop(name, None)
        _passes(parts, tasks, told, stage, limits, deadline, left_out - spared, set())
    for name in tasks.keys() - told.found.keys():  # a release without its check: cannot be built
        told.found[name] = Found(kind="missing", reason=f"{name} has no check in the release.")
    return told


def _passes(parts, tasks, told, stage, limits, deadline, left_out, experiments):
    """Run the notebook, again after each part that kills its process, until every exercise has its end.

    experiments: places of the student's cells that no answer uses.
    """
    patience = deadline - limits.total / 2 if experiments else deadline
    while len(told.found) < len(tasks):
        told.processes += 1
        with Worker(stage, limits) as worker:
            guilty = _pass(worker, parts, tasks, told, left_out, patience)
        if guilty is None:
            break
        place, died = guilty
        over = time.monotonic() > patience
        judged = parts[place].role == "check" and parts[place].name in told.found
        if not judged and not (over and experiments):  # else it may have had too little time
            _blame(parts[place], died, tasks, told)
            left_out.add(place)
        if died.look:  # what meddles with the process once will do so again
            left_out |= _cells_of(parts, parts[place].name)
        if experiments and (over or place in experiments):
            _leave_out(parts, experiments - left_out, told)
            left_out |= experiments
            experiments, patience = set(), deadline
        elif over or told.processes > MAX_DEATHS:
            _give_up(tasks, told, limits, died)


def _leave_out(parts, places, told):
    """Say that experiments were not run, so that the answers are asked."""
    for place in places:
        parts[place].left_out = "no answer uses it, and all together took too much"
    if places:
        cells = "1 cell" if len(places) == 1 else f"{len(places)} cells"
        told.notes.append(f"Left out, so that all answers are asked: {cells} that no answer uses.")


def _answers(part: Part, tasks: dict) -> bool:
    """Whether a cell is, or may be, a student's answer."""
    own = part.role != "release" and part.cell.names & tasks.keys()
    return part.role == "answer" or bool(own)


def _cells_of(parts: list[Part], name: str) -> set[int]:
    """Places of the cells in which an exercise is answered."""
    return {place for place, part in enumerate(parts) if name and name in part.exercises}


def _not_needed(parts: list[Part], wanted) -> set[int]:
    """Places of the cells that no wanted one uses. wanted: from a part whether it is."""
    running = [place for place, part in enumerate(parts) if part.runs]
    cells = [(parts[place].cell.source, wanted(parts[place])) for place in running]
    return {place for place, runs in zip(running, needs.needed(cells), strict=True) if not runs}


def _missed_a_name(tasks, told) -> list[str]:
    """Exercises that ended for want of a name, which a cell that was spared may define."""
    missed = []
    for name in tasks:
        found = told.found.get(name, Found())
        errors = [told.errors.get(name)] + [o.get("error") for o in _dicts(found.outcomes)]
        if any(isinstance(e, dict) and e.get("type") == "NameError" for e in errors):
            missed.append(name)
    return missed


def _dicts(outcomes) -> list[dict]:
    """Outcomes as the process told them, which may be anything."""
    return [o for o in outcomes if isinstance(o, dict)] if isinstance(outcomes, list) else []


def _decide_without_running(rebuilt, tasks, told):
    """Answers that are not there, or still as they were handed out, need no process."""
    extra = {name for part in rebuilt.parts if part.role == "added" for name in part.cell.names}
    for name, task in tasks.items():
        if name in extra:
            continue
        if not rebuilt.how.get(name):
            told.found[name] = Found(kind="missing", reason=f"No cell defines {name}.")
        elif name in rebuilt.untouched:
            told.found[name] = Found(outcomes=[{"status": "unsolved"} for _ in task["cases"]])


def _pass(worker, parts, tasks, told, left_out, deadline):
    """One pass through the notebook -> None at its end, or (place, why) of the part that killed the process.

    Where it is lost in a cell of the release, the student's last part before it is to blame.
    """
    last = None
    for place, part in enumerate(parts):
        if len(told.found) == len(tasks):
            return None  # what comes after the last check is not graded
        left = deadline - time.monotonic()
        runs = part.runs and place not in left_out
        asks = part.role == "check" and part.name in tasks and part.name not in told.found
        if not runs and not asks:
            continue
        if part.role != "release":
            last = place
        try:
            if left <= 0:
                raise Died("timeout", "the notebook as a whole took too long")
            if runs:
                _run_cell(worker, part, told, left)
            else:
                told.found[part.name] = _ask(worker, part.name, tasks[part.name], told, left)
        except Died as died:
            return (place if last is None else last), died
    return None


def _run_cell(worker, part: Part, told, left):
    reply = worker.ask({"do": "cell", "source": part.cell.source}, min(worker.limits.cell, left))
    error = reply.get("error") or ({"type": reply["failed"]} if "failed" in reply else None)
    for name in part.exercises:
        told.errors.pop(name, None)
        if isinstance(error, dict):
            told.errors[name] = error


def _ask(worker, name, task, told, left) -> Found:
    limit = task["limit"] * LIMIT_FACTOR
    request = {
        "do": "ask",
        "name": name,
        "probe": task["probe"],
        "limit": limit,
        "cases": task["cases"],
    }
    # Inside, a case is interrupted at its limit; the clock here is for answers that cannot be interrupted.
    seconds = limit * (len(task["cases"]) + 1) + worker.limits.grace
    reply = worker.ask(request, min(seconds, left), min(running.WAITING_FACTOR * seconds, left))
    if "outcomes" in reply:
        return Found(outcomes=reply["outcomes"])
    if "too_large" in reply:
        return Found(kind="output", reason=f"The results of {name} are too large to compare.")
    if "missing" in reply and name in told.errors:
        return Found(kind="error", reason="")
    if "missing" in reply:
        what = "no function or class" if reply["missing"] != "nothing" else "not defined"
        return Found(kind="missing", reason=f"{name} is {what} when its check is reached.")
    return Found(kind="error", reason=f"{name} could not be called.")


def _blame(part: Part, died: Died, tasks, told):
    """Give the verdict on a part that killed the process to the exercises that stand in it."""
    if part.role == "check":
        told.found[part.name] = Found(
            kind=died.kind, reason=f"{part.name} was called, and {died}.", look=died.look
        )
        return
    names = set(part.exercises) | (part.cell.names & tasks.keys())
    for name in names - told.found.keys():
        reason = f"The cell of {name} was run, and {died}."
        told.found[name] = Found(kind=died.kind, reason=reason, look=died.look)
    if not names:
        first = next((line.strip() for line in part.cell.source.splitlines() if line.strip()), "")[
            :60
        ]
        part.left_out = f"it was run, and {died}"
        told.notes.append(f"The cell that begins with {first!r} was left out: {part.left_out}.")


def _give_up(tasks, told, limits, died):
    for name in tasks.keys() - told.found.keys():
        reason = f"{name} was not reached: the notebook took longer than {limits.total:g} s in all, or ended too often."
        told.found[name] = Found(kind=died.kind, reason=reason)

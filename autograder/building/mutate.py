"""Tests the checks by mutants of the solution: `python -m autograder mutate NOTEBOOK [EXERCISE …]`.

Every small edit of a master's solution must fail, on the public cases and on each of three draws of hidden ones, or
be listed in exercises.py (`gd.equivalent`) with the sentence of the student's text that permits it. An answer that is
judged by what its choices are worth has no mutants: most small edits are other choices, and as good.
"""

import argparse
import collections
import hashlib
import json
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from autograder import checkdata, markers
from autograder.building import masters, mutants, proofs
from autograder.building.draft import Draft, named, place
from autograder.building.forks import WORKERS, Tell, in_forks
from autograder.building.mutants import Mutant
from autograder.building.proofs import Finding
from descent import compare, judging, running, wire
from solutions.spec import Exercise

LISTED_SHARE = 0.1  # of an exercise's mutants
LISTED_DRAWS = 200  # that a listed mutant must hold on
LISTED_SECONDS = 20.0  # a worker: an answer that trains is drawn less often, but LEAST_DRAWS times
LEAST_DRAWS = 10
LEAST_WORDS = 3  # of a sentence that permits something
CODE = (Path(mutants.__file__), Path(__file__))
RECORD = checkdata.ROOT / "artefacts" / "mutants.json"  # git ignores it


def main(argv: list[str] | None = None) -> int:
    """Status 0: every mutant fails or is listed. 1: findings, printed. 2: wrong command."""
    parser = argparse.ArgumentParser(prog="autograder mutate", description=__doc__)
    parser.add_argument("notebook", help="for example 03_optimisation/01_gradient_descent")
    parser.add_argument("exercise", nargs="*", help="only these")
    arguments = parser.parse_args(argv)
    if arguments.notebook not in masters.notebooks():
        print(
            f"mutate: no master {arguments.notebook!r}: `autograder list` names all.",
            file=sys.stderr,
        )
        return 2
    draft = Draft(masters.read(arguments.notebook))
    try:
        exercises = draft.exercises
    except Exception as error:
        print(f"{place(error, draft.specification)}: {named(error)}")
        return 1
    unknown = ", ".join(repr(name) for name in arguments.exercise if name not in exercises)
    if unknown:
        print(f"mutate: no exercise {unknown}. Exercises: {', '.join(exercises)}.", file=sys.stderr)
        return 2
    found = sum(tell(draft, name) for name in arguments.exercise or exercises)
    print(f"{found} finding{'s' * (found > 1)}." if found else "All holds.")
    return 1 if found else 0


def tell(draft: Draft, name: str) -> int:
    """Print what the mutants of an exercise show -> the number of findings."""
    try:
        report = examined(draft, draft.exercises[name])
    except checkdata.SpecError as error:
        print(f"{place(error.__cause__ or error, draft.specification)}: {named(error)}")
        return 1
    print(*report.findings, report, sep="\n", flush=True)
    if not report.findings:
        _remember(draft, name)
    return len(report.findings)


@dataclass
class Report:
    """What became of an exercise's mutants. survivors: those that pass on all draws, listed ones too.

    free: it has none, since the choice is the student's.
    """

    exercise: str
    free: bool = False
    mutants: list[Mutant] = field(default_factory=list)
    survivors: int = 0
    listed: int = 0
    findings: list[Finding] = field(default_factory=list)

    def add(self, problem: str) -> None:
        self.findings.append(Finding(self.exercise, problem))

    def __str__(self):
        if self.free:
            return f"{self.exercise}: judged by what its choices are worth: no mutants"
        kinds = collections.Counter(mutant.kind for mutant in self.mutants)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        survived = f"{self.survivors} survive, {self.listed} listed"
        return f"{self.exercise}: {len(self.mutants)} mutants: {survived} ({told})"


@dataclass
class Draw:
    """The cases of one seed with the results expected. seconds: of the processor, that the solution takes for each."""

    name: str
    cases: list[dict]
    seconds: list[float]


def examined(draft: Draft, exercise: Exercise) -> Report:
    """What the mutants of an exercise show. Raises SpecError where cases, reference or master fail."""
    import torch

    torch.set_num_threads(1)  # a fork of a process with torch's threads may hang
    cell = draft.master.of("exercise").get(exercise.name)
    if cell is None or exercise.solution is None:
        raise checkdata.SpecError(f"{exercise.name}: the master has no answer of this name.")
    if is_free(exercise):
        return Report(exercise.name, free=True)
    made = mutants.mutants(cell.source, markers.hidden(cell.source))
    report = Report(exercise.name, mutants=made)
    draws = drawn(draft.master.notebook, exercise)
    texts = [cell.source, *(mutant.text for mutant in report.mutants)]
    jobs = [partial(passes, exercise, text, draws) for text in texts]
    solution, *passed = in_forks(jobs, _patience(exercise, draws))
    everywhere = [draw.name for draw in draws]
    if solution != everywhere:
        failed = next(name for name in everywhere if name not in solution)
        report.add(f"the solution is refused on {failed} cases: see `autograder try`")
        return report
    survivors = {}
    for mutant, names in zip(report.mutants, passed, strict=True):
        where = f"line {cell.line + mutant.line}: {mutant}"
        if names == everywhere:
            survivors[str(mutant)] = mutant
            if str(mutant) not in exercise.equivalents:
                report.add(f"mutant survives: {where}: add a case that it fails, or list it")
        elif names and str(mutant) not in exercise.equivalents:
            told = ", ".join(names)
            report.add(
                f"mutant passes on {told} cases only: {where}: "
                "the deciding property depends on the draw"
            )
    report.survivors, report.listed = len(survivors), len(exercise.equivalents)
    _check_list(report, draft, exercise, survivors)
    return report


def is_free(exercise: Exercise) -> bool:
    """Whether a part of its result is judged by what a choice is worth."""
    whole = exercise.compare
    parts = whole.by_key.values() if isinstance(whole, compare.Parts) else [whole]
    return any(isinstance(part, compare.Worth) for part in parts)


def drawn(notebook: str, exercise: Exercise) -> list[Draw]:
    """The public cases and three draws of hidden ones."""
    draws = []
    for name, seed in proofs.seeds(notebook, exercise.name, proofs.FEW).items():
        cases = checkdata.drawn_cases(exercise, seed)
        seconds = []
        for case in cases:
            started = time.process_time()
            checkdata.run_known(exercise, exercise.solution, case["inputs"])
            seconds.append(time.process_time() - started)
        draws.append(Draw(name, cases, seconds))
    return draws


def _patience(exercise: Exercise, draws: list[Draw]) -> float:
    """Seconds within which a draw is over, whatever a mutant does that keeps to the limit of a case."""
    return 30 + exercise.limit * max(len(draw.cases) for draw in draws)


def passes(exercise: Exercise, text: str, draws: list[Draw], tell: Tell) -> None:
    """Tell the name of every draw that an answer of that text passes."""
    function = exercise.answers.defined(exercise.name, text)
    for draw in draws:
        for case, seconds in zip(draw.cases, draw.seconds, strict=True):
            # An endless loop is seen long before the limit.
            limit = min(exercise.limit, 0.2 + 20 * seconds)
            inputs, probe = wire.decode(case["inputs"]), exercise.probe_function
            outcome = running.run_case(function, inputs, probe=probe, limit=limit)
            if outcome["status"] == "slow":
                return  # on other draws it would be, too
            if not _holds(exercise, case, outcome):
                break
        else:
            tell(draw.name)


def _holds(exercise: Exercise, case: dict, outcome: dict) -> bool:
    data = {
        "name": exercise.name,
        "points": 1,
        "limit": exercise.limit,
        "compare": exercise.compare.to_plain(),
        "cases": [case],
        "wrong": [],
        "easy": [],
    }
    return judging.judge(data, [outcome]).kind == "full"  # "partial" where it changes an input


# --------------------------------------------------------------------------------------- the list


def _check_list(report: Report, draft: Draft, exercise: Exercise, survivors: dict) -> None:
    """Add what is wrong with the list of equivalent mutants."""
    known = {str(mutant) for mutant in report.mutants}
    text = " ".join(student_text(draft.master, exercise.name).split())
    for mutant, sentence in exercise.equivalents.items():
        sentence = " ".join(sentence.split())
        if mutant not in known:
            report.add(f"listed as equivalent: {mutant}: there is no such mutant, take it out")
        elif mutant not in survivors:
            report.add(f"listed as equivalent: {mutant}: it fails a case, take it out")
        if len(sentence.split()) < LEAST_WORDS or sentence not in text:
            report.add(
                f"listed as equivalent: {mutant}: the text of {exercise.name} does not say "
                f"{sentence!r}: quote the sentence that permits it, or add a case"
            )
    most = int(LISTED_SHARE * len(report.mutants))
    if report.listed > most:
        report.add(
            f"{report.listed} of {len(report.mutants)} mutants are listed as equivalent: "
            f"at most {most}, a tenth: write the solution so that fewer edits leave it right"
        )
    listed = [survivors[name] for name in exercise.equivalents if name in survivors]
    for mutant, number in _failing(draft.master.notebook, exercise, listed).items():
        report.add(
            f"listed as equivalent: {mutant}: it fails on draw {number} of its cases: "
            "is it permitted there? Then the case is at fault"
        )


def student_text(master: masters.Master, name: str) -> str:
    """What a student reads of an exercise: the cell handed out, and the text cells that stand last above it."""
    at = master.cells.index(master.of("exercise")[name])
    texts = [markers.stubbed(master.cells[at].source, [])]
    for cell in reversed(master.cells[:at]):
        if cell.kind == "markdown":
            texts.append(cell.source)
        elif len(texts) > 1:
            break
    return "\n".join(reversed(texts))


def _failing(notebook: str, exercise: Exercise, listed: list) -> dict[str, int]:
    """The listed mutants that fail on a later draw, with the first such draw."""
    if not listed:
        return {}
    numbers = range(1, LISTED_DRAWS + 1)
    jobs = [
        partial(_try_listed, notebook, exercise, listed, numbers[first::WORKERS])
        for first in range(WORKERS)
    ]
    silence = 60 + exercise.limit * len(checkdata.draw_cases(exercise, 0))
    failing: dict[str, int] = {}
    for told in in_forks(jobs, silence):
        begun, held = ([one[1:] for one in told if one[0] is kept] for kept in (False, True))
        for mutant, number in begun:
            if (mutant, number) not in held:
                failing[mutant] = min(number, failing.get(mutant, number))
        if ("end",) not in told and not failing:
            raise checkdata.SpecError(
                f"{exercise.name}: its cases or its reference fail on draw "
                f"{begun[-1][1] + WORKERS if begun else 1} for its listed mutants."
            )
    return failing


def _try_listed(notebook, exercise: Exercise, listed: list, numbers, tell: Tell) -> None:
    """Tell (False, mutant, draw) before each is tried and (True, mutant, draw) where it holds."""
    functions = {
        str(mutant): exercise.answers.defined(exercise.name, mutant.text) for mutant in listed
    }
    for count, number in enumerate(numbers):
        if count * WORKERS >= LEAST_DRAWS and time.process_time() > LISTED_SECONDS:
            break
        key = f"draw {number} for listed mutants".encode()
        seed = checkdata.hidden_seed(key, notebook, exercise.name)
        cases = checkdata.drawn_cases(exercise, seed)
        for mutant, function in functions.items():
            tell((False, mutant, number))
            run = partial(checkdata.run_known, exercise, function)
            outcomes = ((case, run(case["inputs"])) for case in cases)
            if all(_holds(exercise, case, outcome) for case, outcome in outcomes):
                tell((True, mutant, number))
    tell(("end",))


# ------------------------------------------------------------------- what was tried and has not changed


def unchanged(draft: Draft, name: str) -> bool:
    """Whether nothing was found in this exercise when it stood as it stands now."""
    return _record().get(f"{draft.master.notebook} {name}") == _digest(draft, name)


def _remember(draft: Draft, name: str) -> None:
    record = _record() | {f"{draft.master.notebook} {name}": _digest(draft, name)}
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True))


def _record() -> dict[str, str]:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def _digest(draft: Draft, name: str) -> str:
    folder = draft.master.path.parent
    files = [*(folder / f"{part}.py" for part in ("exercises", "reference")), *CODE]
    parts = [draft.master.of("exercise")[name].source, student_text(draft.master, name)]
    parts += [path.read_text(encoding="utf-8") for path in files if path.exists()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

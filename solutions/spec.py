"""What is known about an exercise: one object, see AUTHORING.md."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from descent.compare import Comparison, close


class SpecError(ValueError):
    """An exercise whose specification cannot be used; the message says where and what to do."""


@dataclass
class Answer:
    """A known wrong or right answer: a name in a student's words and a function with the answer's arguments.

    library: the one whose way a right answer shows, "scipy.optimize"; "" where it shows none.
    """

    name: str
    function: Callable
    advice: str = ""
    library: str = ""

    def source(self, name: str) -> str:
        """The answer's text, without its decorator, under that name in place of `_`."""
        return re.sub(r"\b_\b", name, _source(self.function), count=1)


@dataclass
class Edit:
    """A known wrong answer that is the master's solution with `new` in place of `old`, which stands there once.

    answers: the master's, given by whoever loads the specification (autograder/answers.py).
    """

    exercise: str
    name: str
    old: str
    new: str
    advice: str
    answers: Any = None

    @cached_property
    def text(self) -> str:
        """The answer's cell with the mistake in it. Raises SpecError where the edit cannot be made."""
        return self._master.edited(self)

    @cached_property
    def function(self) -> Callable:
        """The wrong answer, among all that answers of its notebook find. Raises SpecError."""
        return self._master.function(self)

    @property
    def _master(self):
        if self.answers is None:
            raise SpecError(
                f"mistake {self.name!r} of {self.exercise} is an edit of a master that is not "
                "known: load its specification from the notebook's folder."
            )
        return self.answers


@dataclass
class Exercise:
    """One exercise: its reference, cases, comparison, known answers and hints.

    reference: called with a case's inputs, arrays as float64 torch tensors; returns the right result.
    hints: three, from a nudge to nearly the line. limit: seconds a case, of computing (`descent.running`).
    trains: a case takes seconds, so that the daily proof judges fewer draws, once (autograder/building/proofs.py).
    data_dependent: why the reference reads values of arrays, where it must; else it runs on any device.
    batched: inputs that the reference takes with leading batch axes, all at once.
    why: why the solution works, Markdown for who has solved it or gave up.
    shuffled: the cases come in an order that each draw makes anew: where results hardly differ from draw to draw, an
    answer that counts its calls would have them all.
    equivalents: mutants of the solution that are right, each with the sentence of the student's text that permits it.
    answers: the master's, given by whoever loads the specification (autograder/answers.py).
    """

    name: str
    reference: Callable
    hints: list[str]
    compare: Comparison = field(default_factory=close)
    limit: float = 2.0
    trains: bool = False
    data_dependent: str = ""
    batched: tuple[str, ...] = ()
    shuffled: bool = False
    draw_cases: Callable | None = None
    probe_function: Callable | None = None
    wrong_answers: list[Answer | Edit] = field(default_factory=list)
    right_answers: list[Answer] = field(default_factory=list)
    why: str = ""
    equivalents: dict[str, str] = field(default_factory=dict)
    answers: Any = None

    def __call__(self, *inputs, **named):
        raise SpecError(
            f"{self.name} is a specification here, not an answer: call a helper of another name."
        )

    @property
    def solution(self) -> Callable | None:
        """The master's own answer; None where no master has one. Raises SpecError where it does not run."""
        return self.answers and self.answers.names.get(self.name)

    def cases(self, function: Callable) -> Callable:
        """Decorator: a generator of (name, inputs) from a numpy Generator."""
        self.draw_cases = function
        return function

    def probe(self, function: Callable) -> Callable:
        """Decorator: (answer, **inputs) -> plain data. Its source ships with the check data."""
        self.probe_function = function
        return function

    def mistakes(self, edits: dict[str, tuple[str, str, str]]) -> None:
        """Wrong answers that are edits of the master's solution: name -> (old text, new text, advice)."""
        self.wrong_answers += [
            Edit(self.name, name, old, new, advice)
            for name, (old, new, advice) in edits.items()
        ]

    def wrong(self, name: str, *, advice: str) -> Callable:
        """Decorator: an answer that holds a misconception, where it is no edit of the solution."""

        def keep(function):
            self.wrong_answers.append(Answer(name, function, advice))
            return function

        return keep

    def right(self, name: str, *, library: str = "") -> Callable:
        """Decorator: a right answer written another way; library: whose way it is, told with the worked answer."""

        def keep(function):
            self.right_answers.append(Answer(name, function, library=library))
            return function

        return keep

    def worked(self, *, why: str) -> None:
        """Say why the solution works; it is told with the solution, Markdown with formulas between dollars."""
        self.why = textwrap.dedent(why).strip()

    def equivalent(self, mutants: dict[str, str]) -> None:
        """Mutants that the text permits: as `autograder mutate` prints them -> the sentence that permits it."""
        self.equivalents |= mutants

    def drawn(self, rng) -> Iterator[tuple[str, dict]]:
        """The cases for one generator. Raises SpecError when the exercise has none."""
        if self.draw_cases is None:
            raise SpecError(
                f"{self.name}: no cases. Write a function under @{self.name}.cases."
            )
        cases = self.draw_cases(rng)
        if not self.shuffled:
            return cases
        cases = list(cases)
        return (cases[place] for place in rng.permutation(len(cases)))

    @property
    def probe_source(self) -> str | None:
        """The probe as text, without its decorator."""
        return self.probe_function and _source(self.probe_function)


def _source(function: Callable) -> str:
    """The text of a function, without its decorator."""
    source = textwrap.dedent(inspect.getsource(function))
    return source[source.index("def ") :]

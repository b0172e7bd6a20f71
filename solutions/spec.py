"""What is known about an exercise: one object, see AUTHORING.md."""

import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from descent.compare import Comparison, close


@dataclass
class Answer:
    """A known wrong or right answer: a name in a student's words and a function with the answer's arguments."""

    name: str
    function: Callable
    advice: str = ""


@dataclass
class Exercise:
    """One exercise: its reference, cases, comparison, known answers and hints.

    reference: called with a case's inputs, arrays as float64 torch tensors; returns the right result.
    hints: three, from a nudge to nearly the line. limit: seconds a case.
    """

    name: str
    reference: Callable
    hints: list[str]
    compare: Comparison = field(default_factory=close)
    limit: float = 2.0
    draw_cases: Callable | None = None
    probe_function: Callable | None = None
    wrong_answers: list[Answer] = field(default_factory=list)
    right_answers: list[Answer] = field(default_factory=list)

    def cases(self, function: Callable) -> Callable:
        """Decorator: a generator of (name, inputs) from a numpy Generator."""
        self.draw_cases = function
        return function

    def probe(self, function: Callable) -> Callable:
        """Decorator: (answer, **inputs) -> plain data. Its source ships with the check data."""
        self.probe_function = function
        return function

    def wrong(self, name: str, *, advice: str) -> Callable:
        """Decorator: an answer that holds a misconception."""

        def keep(function):
            self.wrong_answers.append(Answer(name, function, advice))
            return function

        return keep

    def right(self, name: str) -> Callable:
        """Decorator: a right answer written another way."""

        def keep(function):
            self.right_answers.append(Answer(name, function))
            return function

        return keep

    def drawn(self, rng) -> Iterator[tuple[str, dict]]:
        """The cases for one generator. Raises ValueError when the exercise has none."""
        if self.draw_cases is None:
            raise ValueError(
                f"{self.name}: no cases. Write a function under @{self.name}.cases."
            )
        return self.draw_cases(rng)

    @property
    def probe_source(self) -> str | None:
        """The probe as text, without its decorator."""
        if self.probe_function is None:
            return None
        source = textwrap.dedent(inspect.getsource(self.probe_function))
        return source[source.index("def ") :]

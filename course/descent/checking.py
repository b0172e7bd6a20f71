"""`check(answer)`: what a student asks of the course at every exercise."""

import sys

from descent import cards, compare, judging, records, running, session, tried, written

LIBRARIES = {"np": "numpy", "torch": "torch", "math": "math"}  # as every notebook names them
OLDER = (
    "Judged is the answer of an earlier run: the newest cell that defines it ended with an error. "
    "Mend and run that cell, then check again."
)
RENAMED = (
    "Judged is the {name} that this cell defined before. It defines {now} now: "
    "name it {name} again, run the cell, then check."
)


class Score(float):
    """The points of a check: a number that shows itself as a card in JupyterLab.

    Its text is the plain number, so that nbgrader reads it as partial credit.
    """

    card_html = ""

    def _repr_html_(self):
        return self.card_html or None


def check(answer) -> Score:
    """Check an answer (a function or class named like its exercise) on the public cases -> points.

    Shows which properties hold, what was expected and what came, and the known mistake that it may be,
    which gives the same on every case. Never raises; an answer that fails, prints or runs too long is told in the card.
    """
    if session.current.grading:
        return Score(0.0)  # the grader asks the answers itself
    try:
        exercise = _exercise(answer)
        verdict = _verdict(answer, exercise)
        if failed := verdict.failed:
            case = exercise["cases"][verdict.cases.index(failed)]
            failed.call = tried.lines(exercise, case["inputs"])
        source = written.fingerprint(written.cell_of(answer), exercise["name"])
        records.record_check(session.current.notebook, exercise, verdict, source)
    except _Told as told:
        return _note(str(told))
    except KeyboardInterrupt:
        return _note("The check was interrupted.")
    except Exception as error:  # a fault of ours must not stop a notebook
        return _note(
            f"The check itself failed ({type(error).__name__}: {error}). Please tell your instructor."
        )
    return _present(Score(verdict.points), cards.html_card(verdict), cards.text_card(verdict))


def is_solved(answer) -> bool:
    """Whether this very answer has full points; it is checked quietly if it had not.

    An answer that was too slow is not made to run again.
    """
    if session.current.grading:
        return False
    try:
        exercise = _exercise(answer)
    except _Told:
        return False
    kept = session.current.verdicts.get(exercise["name"])
    if kept and kept[0] is answer and kept[1].kind in ("full", "timeout"):
        return kept[1].kind == "full"
    return _verdict(answer, exercise).kind == "full"


def name_of(answer) -> str:
    """The exercise that an answer is for: its own name, else the name it has in the notebook."""
    exercises = _exercises()
    name = getattr(answer, "__name__", None)
    if name in exercises:
        return name
    user = getattr(sys.modules.get("__main__"), "__dict__", {})
    return next(
        (n for n in exercises if n in user and user[n] is answer),
        str(name or type(answer).__name__),
    )


class _Told(Exception):
    """Something to tell the student instead of a verdict."""


def _exercises() -> dict:
    data = session.check_data(session.current.notebook) if session.current.notebook else None
    return (data or {}).get("exercises", {})


def _exercise(answer) -> dict:
    if session.current.notebook is None:
        raise _Told(
            "Run the notebook's first code cell (the one with start(…)), then this one again."
        )
    name = name_of(answer)
    exercises = _exercises()
    if name in exercises:
        if not callable(answer):
            raise _Told(
                f"{name} is {compare.kind_of(answer)} now, not a function. "
                "Run its cell again, then this one."
            )
        return exercises[name]
    if not callable(answer):
        raise _Told(
            "Name the function itself, without quotes or parentheses, for example "
            f"{next(iter(exercises), 'f')}. This is {compare.kind_of(answer)}."
        )
    known = ", ".join(exercises) or "none"
    raise _Told(f"This notebook has no exercise named {name!r}. Its exercises: {known}.")


def _verdict(answer, exercise) -> judging.Verdict:
    outcomes = running.run_cases(
        answer, exercise["cases"], probe=exercise["probe"], limit=exercise["limit"]
    )
    verdict = judging.judge(exercise, outcomes)
    if verdict.kind == "error":
        verdict.note = _shadowed(answer)
    name, cell = exercise["name"], written.cell_of(answer)
    if written.failed_since(name, cell):
        verdict.note = f"{OLDER} {verdict.note}".strip()
    elif now := written.renamed(name, cell):
        verdict.note = f"{RENAMED.format(name=name, now=now[-1])} {verdict.note}".strip()
    session.current.verdicts[exercise["name"]] = (answer, verdict)
    return verdict


def _shadowed(answer) -> str:
    """Which library's name stands for something else now, as after `np = 3`; "" where none does."""
    names = getattr(answer, "__globals__", None) or vars(sys.modules["__main__"])  # of a class
    lost = [
        f"{name} is {compare.kind_of(names[name])} now, not {library}."
        for name, library in LIBRARIES.items()
        if name in names and names[name] is not sys.modules.get(library)
    ]
    return f"{' '.join(lost)} Run the notebook's first code cell again." if lost else ""


def _note(text: str) -> Score:
    return _present(Score(0.0), cards.note_html(text), text)


def _present(score: Score, html: str, text: str) -> Score:
    if _in_notebook():
        score.card_html = html
    else:
        print(text)
    return score


def display(html: str, text: str) -> None:
    """Show HTML in JupyterLab, and the same as text where there is none."""
    if _in_notebook():
        from IPython import display as ipython

        ipython.display({"text/html": html, "text/plain": text}, raw=True)
    else:
        print(text)


def _in_notebook() -> bool:
    """Whether output can be HTML: in a Jupyter kernel, not in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"

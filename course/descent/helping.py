"""`hint(answer)` and `solution(answer)`: what a student asks who is stuck, or wants to compare."""

from descent import cards, checking, records, session, worked
from descent.asking import fill
from descent.threads import with_the_cells

_LEVELS = ("a nudge", "the next step", "nearly the line")


def hint(answer) -> None:
    """Show the next of three hints for an exercise, from a nudge to nearly the line; remembered between sessions.

    Once all three were seen, a button offers the worked answer.
    """
    if session.current.grading:
        return
    try:
        exercise = checking._exercise(answer)
    except checking._Told as told:
        _say(str(told))
        return
    name, hints = exercise["name"], exercise["hints"]
    seen = records.next_hint(session.current.notebook, name, len(hints))
    shown = list(zip(_LEVELS, hints, strict=True))[: seen + 1]
    checking.display(*cards.hint_card(name, shown, max(len(hints) - seen - 1, 0)))
    if seen == len(hints):
        _offer(exercise)


def solution(answer, *, show: bool = False) -> None:
    """Show the worked answer of an exercise: its code, why it works, what usually goes wrong, how a library does it.

    After full points; or after the third hint with show=True, which your records keep. Else it says what is needed.
    """
    if session.current.grading or session.current.static:
        return
    try:
        exercise = checking._exercise(answer)
    except checking._Told as told:
        _say(str(told))
        return
    if needed := _needed(exercise, show):
        _say(needed)
    else:
        _show(exercise)


def _needed(exercise: dict, show: bool) -> str:
    """What is needed before the worked answer is shown; "" where nothing is."""
    entry = records.entry_of(session.current.notebook, exercise["name"])
    name, of, seen = exercise["name"], len(exercise["hints"]), entry.get("hints", 0)
    if records.is_solved(entry, exercise) or records.was_shown(entry, exercise):
        return ""
    if seen < of:
        return (
            f"The worked answer of {name} opens with full points, or after all {of} hints. "
            f"You have seen {seen} of them: hint({name}) shows the next."
        )
    if not show:
        return (
            f"You have seen all hints of {name}. solution({name}, show=True) shows the worked answer; "
            "your records keep that it was shown."
        )
    return ""


def _show(exercise: dict) -> None:
    try:
        told = worked.answer(session.current.notebook, exercise)
    except worked.NotHere as reason:
        _say(str(reason))
        return
    checking.display(*cards.solution_card(exercise["name"], told))
    records.record_shown(session.current.notebook, exercise)


def _offer(exercise: dict) -> None:
    """A button that shows the worked answer; in a terminal, and where there is none, a sentence."""
    try:
        worked.answer(session.current.notebook, exercise)
    except worked.NotHere as reason:
        _say(str(reason))
        return
    if not checking._in_notebook():
        _say(_needed(exercise, show=False))
        return
    import ipywidgets
    from IPython.display import display

    button = ipywidgets.Button(
        description="Show me the worked answer",
        tooltip="Your records keep that it was shown.",
        layout=ipywidgets.Layout(width="16em"),
    )
    place = ipywidgets.Output()

    @with_the_cells
    def clicked(_):
        button.disabled = True
        fill(place, lambda: _show(exercise))

    button.on_click(clicked)
    display(ipywidgets.VBox([button, place]))


def _say(text: str) -> None:
    checking.display(cards.note_html(text), text)

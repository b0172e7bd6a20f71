"""A question with options: how it is asked, and how its answer is told."""

import html
from collections.abc import Callable, Sequence

from descent import records, session
from descent.threads import with_the_cells


def ask(name: str, question: str, options: Sequence[str], reveal: Callable[[str], None]) -> None:
    """Show the question with its options. The guess is kept under the name, and then `reveal` gets it."""
    import ipywidgets
    from IPython.display import display

    choice = ipywidgets.RadioButtons(
        options=list(options), value=None, layout=ipywidgets.Layout(width="auto", max_width="46em")
    )
    button = ipywidgets.Button(
        description="This is my guess", disabled=True, layout=ipywidgets.Layout(width="12em")
    )
    answer = ipywidgets.Output()

    @with_the_cells  # the answer may be a picture
    def guessed(_):
        notebook = session.current.notebook or ""
        records.record_guess(notebook, name, choice.value, options)
        box.children = (answer,)
        fill(answer, lambda: reveal(records.guess_of(notebook, name, options)))

    choice.observe(lambda change: setattr(button, "disabled", change["new"] is None), "value")
    button.on_click(guessed)
    box = ipywidgets.VBox([ipywidgets.HTML(heading(question)), choice, button])
    display(box)


def fill(place, tell: Callable[[], None]) -> None:
    """Let an Output widget show what `tell` displays.

    `with place:` asks the front end to catch it, which it does only while the message that was clicked is at work. What
    is done `with_the_cells` comes later.
    """
    from IPython.utils.capture import capture_output

    with capture_output(stdout=False, stderr=False) as told:
        tell()
    place.outputs = tuple(
        {"output_type": "display_data", "data": one.data, "metadata": one.metadata or {}}
        for one in told.outputs
    )


def heading(question: str) -> str:
    return f"<b>Predict.</b> {html.escape(question)}"


def revealed(
    question: str, options: Sequence[str], right: int, guess: str | None, because: str
) -> tuple[str, str]:
    """(HTML, text) of a question with its answer, and how it compares with the guess where there is one."""
    lines, plain = [heading(question)], [f"Predict. {question}"]
    if guess is not None:
        verdict = "and so it is" if guess == options[right] else "but it is not so"
        lines.append(f"You guessed: {html.escape(guess)}, {verdict}.")
        plain.append(f"You guessed: {guess}, {verdict}.")
    lines.append(f"<b>Answer:</b> {html.escape(options[right])}. {html.escape(because)}")
    plain.append(f"Answer: {options[right]}. {because}")
    return f"<p>{'<br>'.join(lines)}</p>", "\n".join(plain).strip()


def show_answer(then: Callable | None, digits: int) -> None:
    """The picture of an answer, where it has one: never a target, which an unsolved block would show before."""
    if then is not None:
        from descent.plots import show

        show(*then(), digits=digits, target=False)

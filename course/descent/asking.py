"""`predict` of form 1 asks before a picture is shown."""

import html
from collections.abc import Callable, Sequence

from descent import checking, records, session


def predict(
    question: str,
    options: Sequence[str],
    truth: int | Callable[[], int],
    because: str = "",
    then: Callable | None = None,
    digits: int = 2,
) -> None:
    """Ask a question before its picture; the first guess is kept and shown beside the truth.

    options: two or more answers. truth: index of the right one, or a function that computes it.
    then: a function returning (fig, words), called once there is a guess; shown with `digits`.
    Raises ValueError when truth is no index of options.
    """
    if session.current.grading:
        return
    right = truth() if callable(truth) else truth
    if not 0 <= right < len(options):
        raise ValueError(f"predict: truth is {right}, but there are {len(options)} options.")
    if session.current.static:
        _reveal(question, options, right, None, because, then, digits)
        return
    guess = records.guess_of(session.current.notebook or "", question, options)
    if guess is not None:
        _reveal(question, options, right, guess, because, then, digits)
    else:
        _ask(question, options, right, because, then, digits)


def _ask(question, options, right, because, then, digits):
    import ipywidgets
    from IPython.display import display

    choice = ipywidgets.RadioButtons(
        options=list(options), value=None, layout=ipywidgets.Layout(width="auto", max_width="46em")
    )
    button = ipywidgets.Button(
        description="This is my guess", disabled=True, layout=ipywidgets.Layout(width="12em")
    )
    heading = ipywidgets.HTML(f"<b>Predict.</b> {html.escape(question)}")
    answer = ipywidgets.Output()

    def guessed(_):
        records.record_guess(session.current.notebook or "", question, choice.value, options)
        box.children = (answer,)
        with answer:
            _reveal(question, options, right, choice.value, because, then, digits)

    choice.observe(lambda change: setattr(button, "disabled", change["new"] is None), "value")
    button.on_click(guessed)
    box = ipywidgets.VBox([heading, choice, button])
    display(box)


def _reveal(question, options, right, guess, because, then, digits):
    lines = [f"<b>Predict.</b> {html.escape(question)}"]
    plain = [f"Predict. {question}"]
    if guess is not None:
        verdict = "and so it is" if guess == options[right] else "but it is not so"
        lines.append(f"You guessed: {html.escape(guess)}, {verdict}.")
        plain.append(f"You guessed: {guess}, {verdict}.")
    lines.append(f"<b>Answer:</b> {html.escape(options[right])}. {html.escape(because)}")
    plain.append(f"Answer: {options[right]}. {because}")
    checking._display(f"<p>{'<br>'.join(lines)}</p>", "\n".join(plain).strip())
    if then is not None:
        from descent.plots import show

        show(
            *then(), digits=digits, target=False
        )  # an unsolved block must not give the answer away

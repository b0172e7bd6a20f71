"""`predict("name")` asks before a picture is shown; the guess is kept by name, and the answer stays away until then.

The author's cell holds question, options and answer. The build runs it and keeps the answer with the check data,
encoded, so that a student's notebook holds no more than the name.
"""

import base64
import html
import json
from collections.abc import Callable

from descent import asking, checking, records, session
from descent.images import image_html


def predict(
    name: str,
    *asked,
    truth: str | int | None = None,
    because: str = "",
    then: Callable | None = None,
    digits: int = 2,
) -> None:
    """Ask the question of that name; after a guess the answer is shown beside it.

    An author writes it whole. asked: the question, then two options or more. truth: the right one, or its index.
    because: the reason. then: a function returning (fig, words), the picture of the answer; shown with `digits`.
    Raises ValueError when truth is none of the options or two options are the same.
    """
    if session.current.grading:
        return
    if asked:
        _as_the_author_sees_it(name, *asked, truth=truth, because=because, then=then, digits=digits)
    else:
        _as_a_student_sees_it(name)


def is_guessed(name: str) -> bool:
    """Whether what waits for a prediction may run: in builds always, at grading never."""
    if session.current.grading:
        return False
    if session.current.static or name in session.current.answered:
        return True
    kept = _kept(name)
    return kept is not None and _guess(name, kept) is not None


def _kept(name: str) -> dict | None:
    """Question, options and encoded answer of a prediction, from the check data."""
    data = session.check_data(session.current.notebook) if session.current.notebook else None
    return (data or {}).get("predictions", {}).get(name)


def _guess(name: str, kept: dict) -> str | None:
    return records.guess_of(session.current.notebook, name, kept["options"])


def _as_the_author_sees_it(name, question, options, *, truth, because, then, digits) -> None:
    from IPython.display import display

    right = _right(name, list(options), truth)
    session.current.answered.add(name)
    page, text = asking.revealed(question, options, right, None, because)
    # The build reads the answer from here, and takes it out.
    kept = {"question": question, "options": list(options), "right": right, "because": because}
    about = {"prediction": kept} if session.current.static else {}
    display({"text/html": page, "text/plain": text}, metadata=about, raw=True)
    asking.show_answer(then, digits)


def _right(name: str, options: list[str], truth: str | int | None) -> int:
    """The index of the right option."""
    if len(set(options)) < max(2, len(options)):
        raise ValueError(f"predict {name!r}: give two options or more, all different: {options}.")
    right = options.index(truth) if truth in options else truth
    if right not in range(len(options)):
        raise ValueError(
            f"predict {name!r}: truth is {truth!r}: give one of the options {options}, or its index."
        )
    return int(right)


def encoded(answer: dict) -> str:
    """An answer as check data keep it: nobody who looks a file through reads it by chance."""
    return base64.b64encode(json.dumps(answer).encode()).decode("ascii")


def decoded(answer: str) -> dict:
    """right: index of an option. because: the reason. pictures: webp (base64), width, words, narrow of each.

    narrow: the webp and the width of its twin for a narrow window, or None.
    """
    return json.loads(base64.b64decode(answer))


def _as_a_student_sees_it(name: str) -> None:
    kept = _kept(name)
    if kept is None:
        text = f"This notebook has no prediction named {name!r}. Run its first code cell (start) first."
        checking.display(f"<p>{html.escape(text)}</p>", text)
        return
    guess = _guess(name, kept)
    if guess is not None:
        _answer(kept, guess)
    elif session.current.static:
        text = "\n".join([f"Predict. {kept['question']}", *(f"- {one}" for one in kept["options"])])
        items = "".join(f"<li>{html.escape(one)}</li>" for one in kept["options"])
        checking.display(f"<p>{asking.heading(kept['question'])}</p><ul>{items}</ul>", text)
    else:
        asking.ask(name, kept["question"], kept["options"], lambda guess: _answer(kept, guess))


def _answer(kept: dict, guess: str) -> None:
    answer = decoded(kept["answer"])
    page, text = asking.revealed(
        kept["question"], kept["options"], answer["right"], guess, answer["because"]
    )
    pictures = "".join(
        image_html("webp", one["webp"], one["width"], one["words"], narrow=one["narrow"])
        for one in answer["pictures"]
    )
    checking.display(
        page + pictures, "\n".join([text, *(one["words"] for one in answer["pictures"])])
    )

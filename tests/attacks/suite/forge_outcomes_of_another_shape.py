"""Patches the runner to send what is no list of outcomes: a word, nested points, a status of its own."""

HELD_BY = "the judge takes exactly one plain outcome a case"
LOOK = True
VERDICT = {
    "double": ("output", 0.0),
    "digits": ("output", 0.0),
    "scaled": ("output", 0.0),
    "describe": ("output", 0.0),
}

# %% double
from descent import running

answers = iter(["full", {"points": 3}, [{"status": "full"}] * 2, [[], []]])
running.run_cases = lambda *arguments, **options: next(answers)


def double(x):
    return x + 1

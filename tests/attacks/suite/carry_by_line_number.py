"""Reports an error in one of its own lines, with the hidden input's last digits as the line's number."""

HELD_BY = "a line is told only with the number that it has in the student's cell"
CARRIES = True
VERDICT = {"digits": ("error", 0.0)}

# %% digits
from descent import running

honest = running.run_cases
seen = []


def run_cases(answer, cases, **options):
    outcomes = honest(answer, cases, **options)
    for outcome in outcomes:
        if outcome["status"] == "raised":
            outcome["error"] |= {"line": "raise ValueError", "number": seen[0] % 9999 + 1}
    return outcomes


running.run_cases = run_cases


def digits(secret):
    seen.append(secret)
    raise ValueError

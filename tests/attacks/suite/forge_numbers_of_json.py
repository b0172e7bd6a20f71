"""Sends numbers that JSON allows and Python trips over: 1e999, -0, a million digits, NaN for seconds."""

HELD_BY = "values are decoded under limits; seconds and names are checked one by one"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
from descent import running

honest = running.run_cases


def run_cases(answer, cases, **options):
    outcomes = honest(answer, cases, **options)
    if len(cases) == 3:
        outcomes[0] |= {"value": [float("inf"), -0.0, float("nan")], "seconds": float("nan")}
        outcomes[1] |= {"value": 10**4000, "seconds": -1e308, "mutated": {"x": 1}}
        outcomes[2] |= {
            "value": {"$": "float", "value": "1" * 100_000},
            "mutated": [["x"], None, 3],
        }
    return outcomes


running.run_cases = run_cases


def double(x):
    return x + 1

"""Reports as changed inputs names that spell the hidden input."""

HELD_BY = "of changed inputs only the names of the case's own inputs are told"
CARRIES = True
VERDICT = {"digits": ("wrong", 0.0)}

# %% digits
from descent import running

honest = running.run_cases


def run_cases(answer, cases, **options):
    outcomes = honest(answer, cases, **options)
    for case, outcome in zip(cases, outcomes):
        if "secret" in case["inputs"]:
            outcome["mutated"] = [str(case["inputs"]["secret"]), {"x": case["inputs"]["secret"]}]
            outcome["printed"] = outcome["note"] = str(case["inputs"])
            outcome["seconds"] = case["inputs"]["secret"] % 99_999
    return outcomes


running.run_cases = run_cases


def digits(secret):
    return [9] * len(str(secret))

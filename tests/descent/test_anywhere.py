"""What students run needs neither POSIX nor UTF-8 as the machine's own encoding: as on Windows, both are taken away."""

import os
import subprocess
import sys

from autograder.building import masters

NOTEBOOK = "03_optimisation/01_gradient_descent"
TAKEN_AWAY = """
import os, signal, sys
for name in ("setitimer", "getitimer", "SIGALRM", "ITIMER_REAL", "pthread_sigmask"):
    delattr(signal, name)
for name in ("fork", "forkpty", "geteuid", "getuid", "killpg"):
    delattr(os, name)
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
"""
STUDENT = """
import math
from pathlib import Path
import numpy as np
from descent import check, hint, start, submit
start("03_optimisation/01_gradient_descent")
{solution}
print("points", float(check(best_direction)))

def gd(grad, x0, t, max_steps, tol):
    while True:
        pass

print("points", float(check(gd)))
hint(gd)
Path("03_optimisation/01_gradient_descent.ipynb").touch()  # saved after the checks
submit("03_optimisation", "ada")
"""


def test_a_student_is_checked_stopped_and_helped_and_hands_in(course_copy, tmp_path):
    solution = masters.read(NOTEBOOK).of("exercise")["best_direction"].source
    script = tmp_path / "student.py"
    script.write_text(TAKEN_AWAY + STUDENT.format(solution=solution), encoding="utf-8")
    machine = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    machine |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "utf-8"}
    ours = {"PYTHONPATH": str(course_copy), "HOME": str(tmp_path), "DESCENT_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", script],
        env=machine | ours, cwd=course_copy, capture_output=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert [line for line in told.splitlines() if line.startswith("points")] == [
        "points 2.0",
        "points 0.0",
    ]
    for words in ("gd: too slow", "a nudge: ", "Hand in this file: "):
        assert words in told, told
    assert list((course_copy.parent / "handins").glob("03_optimisation--ada--*.zip"))

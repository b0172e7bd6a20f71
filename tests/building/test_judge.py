"""`python -m tools.judge` tells which answers of a file are misjudged, and refuses what it cannot read."""

import pytest

from tests.building.toy import NOTEBOOK
from tools import judge

ANSWERS = f"""# notebook: {NOTEBOOK}
@right("square", "a power")
def _(x): return np.power(x, 2)

@right("square", "rounded, by mistake marked as right")
def _(x): return np.round(x * x)

@wrong("square", "adds")
def _(x): return x + x

@wrong("square", "by mistake marked as wrong")
def _(x): return square(x)

@wrong("cube", "an exercise that went")
def _(x): return x
"""


def test_what_is_misjudged_is_told(toy_course, tmp_path, capsys):
    path = tmp_path / "answers.py"
    path.write_text(ANSWERS)
    assert judge.main([str(path)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(
        f"REFUSED {NOTEBOOK} square [rounded, by mistake marked as right]: public: "
    )
    assert told[1] == f"   {NOTEBOOK} square [adds] is named 'doubles'"
    assert told[2].startswith(
        f"PASSED {NOTEBOOK} square [by mistake marked as wrong]: public, hidden 1"
    )
    assert told[2].endswith("hidden 20")
    assert told[3] == f"{NOTEBOOK} has no exercise 'cube': 1 answers are left out"
    assert told[4] == "2 right answers, 1 refused; 2 wrong ones, 1 passed, 1 named"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(): pass", "its first line must be"),
        ("# notebook: 99_toy/02_cube", "its first line must be"),
        (f"# notebook: {NOTEBOOK}\nnothing", "it does not run: NameError"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(toy_course, tmp_path, capsys, text, message):
    path = tmp_path / "answers.py"
    path.write_text(text)
    assert judge.main([str(path)]) == 2
    assert message in capsys.readouterr().err

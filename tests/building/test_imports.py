"""What a notebook takes from `descent` that is not there is told before anything is run."""

import pytest

from autograder.building import trying
from tests.building.toy import MASTER_FILE, NOTEBOOK, PICTURES_FILE, slip_in

TOY = "descent.pictures.toy"
# What slipped -> (file, the text that the author changed, into what, what is told).
SLIPS = {
    "a module of pictures": (MASTER_FILE, "import square as pictures", "import sqare as pictures",
                             f":11: {TOY} has no 'sqare': course/descent/pictures/toy/__init__.py must define it."),
    "a folder of pictures": (MASTER_FILE, "from descent.pictures.toy", "from descent.pictures.toys",
                             ":11: there is no module descent.pictures.toys: write course/descent/pictures/toys.py."),
    "a picture": (MASTER_FILE, "pictures.POINTS", "pictures.POINT",
                  f":28: {TOY}.square has no 'POINT': {PICTURES_FILE} must define it. Is 'POINTS' meant?"),
    "a name of the library": (MASTER_FILE, "explore, predict", "explore, predictt", ":10: descent has no 'predictt'"),
    "what the pictures import": (PICTURES_FILE, "POINTS", "from descent.plots import contuors\n\nPOINTS",
                                 ":1: descent.plots has no 'contuors': course/descent/plots.py must define it."),
}  # fmt: skip


def told_of_imports(capsys):
    trying.main([NOTEBOOK])
    return [one for one in capsys.readouterr().out.splitlines() if one.endswith("[imports]")]


@pytest.fixture
def toy(toy_course):
    (toy_course / PICTURES_FILE).with_name("__init__.py").touch()
    return toy_course


@pytest.mark.parametrize("slip", SLIPS)
def test_what_is_not_there_is_told_with_its_line(toy, slip, capsys):
    name, old, new, message = SLIPS[slip]
    slip_in(toy, name, old, new)
    (told,) = told_of_imports(capsys)
    assert told.startswith(f"{name}{message}")


@pytest.mark.parametrize(
    "pictures",
    [
        "POINTS = 20",
        "if True:\n    POINTS = 20",
        "POINTS: int = 20",
        "def POINTS(): pass",
        "from numpy import pi as POINTS",
        "from descent import plots, say\nfrom descent.plots import contours as POINTS",
    ],
)
def test_what_is_there_is_not_told(toy, pictures, capsys):
    (toy / PICTURES_FILE).write_text(pictures)
    assert told_of_imports(capsys) == []


def test_a_name_that_is_something_else_elsewhere_is_left_alone(toy, capsys):
    path = toy / MASTER_FILE
    path.write_text(path.read_text() + "\n# %%\ndef f(pictures):\n    return pictures.none\n")
    assert told_of_imports(capsys) == []

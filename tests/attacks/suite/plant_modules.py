"""Writes modules named like the course's and Python's to every folder of sys.path, and start-up files to HOME."""

HELD_BY = "nothing on sys.path can be written; HOME is the notebook's own"
VERDICT = {"double": ("full", 3.0)}

# %% double
import os
import site
import sys

BAD = "raise SystemExit('planted')"
for folder in {
    *sys.path,
    os.getcwd(),
    site.getusersitepackages(),
    "/engine",
    "/engine/descent",
    "/engine/inside",
}:
    for name in (
        "descent.py",
        "numpy.py",
        "torch.py",
        "sitecustomize.py",
        "usercustomize.py",
        "planted_by_an_attack.py",
        "a.pth",
    ):
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, name), "w") as file:
                file.write(BAD)
        except OSError:
            pass
for name in (
    ".ipython/profile_default/startup/00.py",
    ".config/matplotlib/matplotlibrc",
    ".pythonrc",
    ".bashrc",
):
    place = os.path.expanduser(f"~/{name}")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w") as file:
        file.write(BAD)


def double(x):
    return 2 * x


# %% next double
import importlib.util
import os

assert importlib.util.find_spec("planted_by_an_attack") is None
assert not os.path.exists(os.path.expanduser("~/.ipython/profile_default/startup/00.py"))


def double(x):
    return 2 * x

"""Hidden cases, expected results and what known mistakes give, computed by the references once and kept by content.

References run in a process of their own, on a GPU where there is one.
What it finds is kept in grading/cache/prepared/, readable by its owner alone: a second run computes nothing.
"""

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from autograder.checkdata import ROOT
from autograder.workspace import Workspace

# What the numbers depend on besides the notebook's own sources.
_SOURCES = (
    "solutions/spec.py",
    "autograder/checkdata.py",
    "autograder/easy.py",
    "autograder/answers.py",
    "autograder/engine/needs.py",
    "course/descent",
)
_PACKAGES = ("numpy", "torch", "scipy", "scikit-learn")


class PrepareError(RuntimeError):
    """A specification cannot be used; str() says which and why."""


def prepare(space: Workspace, chapter: str, points: dict[str, dict[str, float]]) -> dict:
    """{notebook: {exercise: data}} as `checkdata.exercise_data` tells it, drawn by the workspace's key.

    points: notebook -> exercise -> points. Raises PrepareError where an exercise has no usable specification.
    """
    space.key()  # made here, so that nobody else makes another
    kept = {stem: _place(space, f"{chapter}/{stem}") for stem in points}
    missing = [stem for stem, place in kept.items() if not set(points[stem]) <= set(_read(place))]
    if missing:
        _compute(space, {f"{chapter}/{stem}": str(kept[stem]) for stem in missing})
    found = {stem: _read(place) for stem, place in kept.items()}
    for stem, exercises in points.items():
        for name, value in exercises.items():
            if name not in found[stem]:
                path = space.spec_path(f"{chapter}/{stem}")
                raise PrepareError(
                    f"{chapter}/{stem}: exercise {name!r} has no specification in {path}."
                )
            found[stem][name]["points"] = value
    return {stem: {name: found[stem][name] for name in points[stem]} for stem in points}


def _place(space: Workspace, notebook: str) -> Path:
    """Where the data of a notebook is kept: a name that changes with all that it is computed from."""
    digest = hashlib.sha256(space.key() + notebook.encode() + _sources().encode())
    for source in sorted(space.spec_path(notebook).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return space.folder / "cache" / "prepared" / f"{digest.hexdigest()[:32]}.json"


def _sources() -> str:
    """A hash of the code that computes for every notebook."""
    digest = hashlib.sha256("".join(f"{name} {version(name)}" for name in _PACKAGES).encode())
    paths = [ROOT / name for name in _SOURCES]
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _read(place: Path) -> dict:
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _compute(space: Workspace, wanted: dict[str, str]) -> None:
    told = json.dumps(
        {"folder": str(space.folder), "project": str(space.project), "wanted": wanted}
    )
    done = subprocess.run(
        [sys.executable, "-m", "autograder.engine.prepare"],
        input=told, capture_output=True, text=True, cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it ended without a word"]
        raise PrepareError(lines[-1])


def main() -> int:
    """The process that computes. Standard input: folder, project and notebook -> file, as JSON."""
    told = json.load(sys.stdin)
    space = Workspace(Path(told["folder"]), Path(told["project"]))
    for notebook, place in told["wanted"].items():
        try:
            _write_private(Path(place), json.dumps(_data(space, notebook)))
        except Exception as error:
            print(f"{notebook}: {type(error).__name__}: {error}", file=sys.stderr)
            return 1
    return 0


def _data(space: Workspace, notebook: str) -> dict:
    import torch

    from autograder import checkdata

    device = "cuda" if torch.cuda.is_available() else "cpu"
    told = {}
    for name, exercise in space.load_exercises(notebook).items():
        seed = checkdata.hidden_seed(space.key(), notebook, name)
        told[name] = checkdata.exercise_data(exercise, 0.0, seed, device=device)
    return told


def _write_private(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = place.with_name(f".{place.name}.{os.getpid()}")
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    os.replace(partial, place)


if __name__ == "__main__":
    sys.exit(main())

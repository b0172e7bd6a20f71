"""One sweep over the controls of every notebook: wherever a student moves them, there are a picture and its words."""

import math
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograder.building import masters
from descent import handles, plots
from tests.notebooks.controls import explored, texts

EXPLORERS = [(nb, i) for nb in masters.notebooks() for i in range(len(texts(nb)))]


def places(control) -> list:
    """The values that a control is moved to, from its low end to its high end.

    Every option of a menu; of a slider its ends and its middle; of a text none, strange and long ones.
    """
    if hasattr(control, "options"):
        values = [value for _, value in control._options_full]
        slides = hasattr(control, "orientation")
        return [values[0], values[len(values) // 2], values[-1]] if slides else values
    if isinstance(control.value, bool):
        return [False, True]
    if isinstance(control.value, str):  # a text that is typed
        return ["", "Ünknown 1 Ω\n", control.value * 20]
    middle = control.min + (control.max - control.min) // (2 * control.step) * control.step
    ends = [control.min, middle, control.max]
    return [control.base**value for value in ends] if hasattr(control, "base") else ends


def moves(controls: dict) -> list[dict]:
    """What to move away from the start, by name: nothing; every control alone; all to one end, all to the other."""
    alone = [{name: value} for name, c in controls.items() for value in places(c)]
    low, high = ({name: places(c)[end] for name, c in controls.items()} for end in (0, -1))
    return [{}, *alone, low, high]


def facts_of(words) -> list[float]:
    """The numbers among the facts of words, also inside lists and other words."""
    found, todo = [], [words]
    while todo:
        fact = todo.pop()
        if isinstance(fact, str):
            todo += getattr(fact, "facts", {}).values()
        elif isinstance(fact, list | tuple):
            todo += fact
        elif isinstance(fact, int | float | np.ndarray | np.generic):
            found += np.ravel(np.asarray(fact, float)).tolist()
    return found


def unlabelled(fig) -> list[str]:
    """The axes with numbers on them that are nowhere named: "axes 2: y". A row or column may share its label."""
    found = []
    for number, ax in enumerate(fig.axes, 1):
        for axis in getattr(ax, "_axis_map", {}):
            shared = ax._shared_axes[axis].get_siblings(ax)
            named = any(each._axis_map[axis].get_label_text() for each in shared)
            if ax.axison and ax.has_data() and _numbered(ax._axis_map[axis]) and not named:
                found.append(f"axes {number}: {axis}")
    return found


def _numbered(axis) -> bool:
    """Whether it shows bare numbers: "class 2" at a tick names itself."""
    told = [t.get_text() for t in axis.get_majorticklabels() if t.get_visible()]
    bare = [text for text in told if not re.search(r"[^\W\d_]", re.sub(r"\\[a-z]+", "", text))]
    return axis.get_visible() and any(re.search(r"\d", text) for text in bare)


@pytest.mark.parametrize(("notebook", "number"), EXPLORERS)
def test_every_place_of_every_control_has_a_picture_and_words(notebook, number):
    one = explored(notebook)[number]
    grabbed = handles.bind(one.moves["drag"] or {}, one.controls)
    with plt.style.context(plots.STYLE):
        for moved in moves(one.controls):
            controls = one.opened()
            for name, value in moved.items():
                controls[name].value = value
            fig, words = one.draw(**{name: handles.shown(c) for name, c in controls.items()})
            assert faults(fig, words) == [], (one.text, moved)
            handles.places(fig, grabbed)  # the marked axes are there
            plt.close(fig)
            assert plt.get_fignums() == [], (one.text, moved)
    one.opened()


@pytest.mark.parametrize(("notebook", "number"), EXPLORERS)
def test_no_picture_is_cut_off_not_even_in_a_narrow_window(notebook, number):
    one = explored(notebook)[number]
    shown = {name: handles.shown(c) for name, c in one.opened().items()}
    with plt.style.context(plots.STYLE):
        fig, _ = one.draw(**shown)
        assert cut_off(fig) == {}, one.text
        if plots.stack(fig):
            assert cut_off(fig) == {}, f"stacked: {one.text}"
    plt.close(fig)


def cut_off(fig) -> dict[str, float]:
    """The sides at which something is drawn outside the figure, and by how many inches: half a letter is a fault."""
    fig.draw_without_rendering()
    box, (width, height) = fig.get_tightbbox(), fig.get_size_inches()
    over = dict(left=-box.x0, bottom=-box.y0, right=box.x1 - width, top=box.y1 - height)
    return {side: round(float(inches), 2) for side, inches in over.items() if inches > 0.04}


def faults(fig, words) -> list[str]:
    found = [f"no label: {where}" for where in unlabelled(fig)]
    if len(words.split()) < 3:
        found.append(f"hardly a word: {words!r}")
    if re.search(r"\b(nan|inf|None)\b", words):
        found.append(f"words without a number: {words}")
    found += [f"a fact is {fact}" for fact in facts_of(words) if not math.isfinite(fact)]
    return found

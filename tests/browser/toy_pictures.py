"""What the browser's tests drag and play: a bowl with a start, on axes that are easy to reckon with."""

import matplotlib.pyplot as plt
import numpy as np

from descent import plots
from descent.words import say


def bowl(x=2.0, y=1.0, step=5):
    """A path on f = x² + 3 y² that starts at (x, y), drawn after `step` steps."""
    fig, (left, right) = plots.fixed_axes(2, (8, 4), (0.08, 0.98, 0.14, 0.9))
    path = np.array([x, y]) * (1 - 0.2 * np.array([1.0, 3.0])) ** np.arange(step + 1)[:, None]
    axis = np.linspace(-3, 3, 60)
    left.contour(axis, axis, axis**2 + 3 * axis[:, None] ** 2, levels=10, colors="#777777")
    left.plot(*path.T, "o-", color="black")
    left.set(xlim=(-4, 4), ylim=(-4, 4), xlabel="x", ylabel="y", title=f"Starts at x = {x:g}")
    left.set_gid("start")
    right.plot((path**2).sum(1), "s-")
    right.set(xlabel="step", ylabel="distance²", title=f"After {step} steps")
    return fig, say("It starts at x = {x:g}, y = {y:g} and makes {n} steps.", x=x, y=y, n=step)


def cloud(steps=40, points=400):
    """A cloud that walks from the left to the right -> fig, ax, positions (steps, points, 2)."""
    rng = np.random.default_rng(0)
    fig, ax = plt.subplots(figsize=(5, 4))
    ax.set(xlim=(-4, 4), ylim=(-4, 4), xlabel="x", ylabel="y", title="It walks")
    middle = np.linspace(-2, 2, steps)[:, None, None] * np.array([1.0, 0.0])
    return fig, ax, middle + 0.4 * rng.normal(size=(1, points, 2))

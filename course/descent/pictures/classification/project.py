"""Pictures of the classification project: tumours, thresholds and their cost, calibration."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION


def draw_tumours(X, y, names):
    """Two measurements of ill (1) and healthy (0) tumours -> (fig, words)."""
    one, two = names.index("mean radius"), names.index("mean texture")
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    for label, marker, colour, name in ((0, "o", BLUE, "benign"), (1, "^", VERMILION, "malignant")):
        rows = y == label
        ax.plot(X[rows, one], X[rows, two], marker, ms=4, alpha=0.6, color=colour, label=name)
    ax.set(
        xlabel="mean radius of the nuclei (image units)", ylabel="mean texture (grey values)",
        title="Large nuclei are suspicious, but the clouds overlap",
    )  # fmt: skip
    ax.legend()
    middle = [np.median(X[y == label, one]) for label in (0, 1)]
    words = (
        f"{len(y)} tumours, {int(y.sum())} malignant. Median radius of the nuclei: benign {middle[0]:.1f}, "
        f"malignant {middle[1]:.1f}; the clouds overlap."
    )
    return fig, words


def counts_at(p, y, threshold):
    """Hits, misses, false alarms and healthy rows left alone where p >= threshold is called ill."""
    called = p >= threshold
    return tuple(
        int(np.sum(one & (y == label)))
        for one, label in ((called, 1), (~called, 1), (called, 0), (~called, 0))
    )


def draw_threshold(p, y, threshold, miss, alarm):
    """Scores of both classes with a threshold, and the cost of every threshold -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8))
    bins = np.linspace(0, 1, 21)
    left.hist(p[y == 0], bins, color=BLUE, alpha=0.6, label="benign")
    left.hist(p[y == 1], bins, color=VERMILION, histtype="step", lw=2, label="malignant")
    left.axvline(threshold, color=BLACK, ls="--", lw=1.2, label="threshold")
    left.set(
        xlabel="score: probability of malignant",
        ylabel="rows",
        yscale="symlog",
        title="Who lies on which side?",
    )
    left.legend(loc="upper center")
    grid = np.linspace(0.005, 0.995, 100)
    cost = np.array([_cost(p, y, t, miss, alarm) for t in grid])
    mine = _cost(p, y, threshold, miss, alarm)
    right.plot(grid, cost, color=GREEN)
    right.plot(
        [threshold],
        [mine],
        "s",
        ms=9,
        mfc="none",
        mew=2,
        color=ORANGE,
        label=f"yours costs {mine:g}",
    )
    right.set(
        xlabel="threshold",
        ylabel=f"cost (a false alarm: {alarm:g})",
        title=f"A miss costs {miss:g}",
    )
    right.legend()
    hits, misses, alarms, left_alone = counts_at(p, y, threshold)
    words = (
        f"At {threshold:.2f}: {hits} of {hits + misses} malignant tumours found, {misses} missed; "
        f"{alarms} false alarms among {alarms + left_alone} benign ones. "
        f"Cost {mine:g}; the cheapest threshold on the grid costs {cost.min():g}."
    )
    return fig, words


def _cost(p, y, threshold, miss, alarm):
    _, misses, alarms, _ = counts_at(p, y, threshold)
    return miss * misses + alarm * alarms


def draw_calibration(p, y, edges=(0, 0.05, 0.2, 0.5, 0.8, 0.95, 1)):
    """Share of ill rows in bins of the score against the mean score -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(5.6, 4.4))
    ax.plot([0, 1], [0, 1], "--", color=BLACK, lw=1.2, label="what was said came true")
    places = np.clip(np.digitize(p, edges[1:-1]), 0, len(edges) - 2)
    told, worst = [], 0.0
    for bin_ in range(len(edges) - 1):
        rows = places == bin_
        if not rows.any():
            continue
        said, came, n = p[rows].mean(), y[rows].mean(), int(rows.sum())
        told.append((said, came, n))
        worst = max(worst, abs(said - came))
    said, came, n = map(np.array, zip(*told, strict=True))
    # Wilson's interval for one standard error: it stays between 0 and 1, also where all or none came true.
    centre, half = (n * came + 0.5) / (n + 1), np.sqrt(n * came * (1 - came) + 0.25) / (n + 1)
    ends = [came - np.maximum(centre - half, 0), np.minimum(centre + half, 1) - came]
    ax.errorbar(
        said, came, ends, fmt="o", color=BLUE, capsize=3, label="a bin of scores, ± standard error"
    )
    ax.set(
        xlabel="mean score in the bin",
        ylabel="share of malignant",
        title="Do the scores mean what they say?",
    )
    ax.legend(loc="upper left")
    words = (
        f"{len(told)} bins of scores with {', '.join(map(str, n))} rows. "
        f"The largest gap between score and share is {worst:.2f}, in a bin of {n[np.argmax(np.abs(said - came))]} rows."
    )
    return fig, words

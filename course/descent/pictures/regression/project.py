"""Pictures of the regression project: patients, predictions, intervals."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, VERMILION


def draw_patients(X, y, names):
    """Three features (columns bmi, bp, s5) against the outcome -> (fig, words)."""
    units = {"bmi": "kg/m²", "bp": "mm Hg", "s5": "serum value s5"}
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), sharey=True)
    told = []
    for ax, (name, unit) in zip(axes, units.items(), strict=True):
        x = X[:, names.index(name)]
        r = np.corrcoef(x, y)[0, 1]
        told.append(f"{name} {r:.2f}")
        ax.plot(x, y, "o", ms=2.5, alpha=0.5, color=BLUE)
        ax.set(xlabel=f"{name} ({unit})" if name != "s5" else unit, title=f"correlation {r:.2f}")
    axes[0].set_ylabel("progression after a year (score)")
    words = (
        f"{len(y)} patients. Correlation with the progression score: {', '.join(told)}. "
        "Each cloud rises and is wide."
    )
    return fig, words


def draw_forecasts(y, predictions):
    """Predicted against true outcomes -> (fig, words) with R² and the error's size."""
    fig, ax = plt.subplots(figsize=(5.6, 4.4))
    ends = [min(y.min(), predictions.min()), max(y.max(), predictions.max())]
    ax.plot(ends, ends, "--", color=BLACK, lw=1.2, label="a perfect forecast")
    ax.plot(predictions, y, "o", ms=4, alpha=0.7, color=BLUE, label="one patient")
    r2 = 1 - np.mean((y - predictions) ** 2) / np.var(y)
    rmse = np.sqrt(np.mean((y - predictions) ** 2))
    ax.set(
        xlabel="forecast (score)", ylabel="outcome (score)", title=f"The forecast explains {r2:.0%}"
    )
    ax.legend(loc="upper left")
    words = (
        f"R² {r2:.2f} on {len(y)} rows held back. Typical error {rmse:.0f} points; "
        f"the outcomes' own spread is {y.std():.0f}."
    )
    return fig, words


def draw_intervals(y, intervals, level):
    """Intervals in order of their middle, misses marked -> (fig, words)."""
    order = np.argsort(intervals.mean(1))
    low, high, outcome = intervals[order, 0], intervals[order, 1], y[order]
    inside = (low <= outcome) & (outcome <= high)
    place = np.arange(len(y))
    fig, ax = plt.subplots(figsize=(8.4, 3.8))
    ax.vlines(place, low, high, color=BLUE, alpha=0.35, lw=2, label="interval")
    ax.plot(place[inside], outcome[inside], "o", ms=4, color=GREEN, label="inside")
    ax.plot(place[~inside], outcome[~inside], "X", ms=6, color=VERMILION, label="missed")
    ax.set(
        xlabel="patient, in order of the forecast", ylabel="progression (score)",
        title=f"Asked for {level:.0%}, {inside.mean():.0%} inside",
    )  # fmt: skip
    ax.legend(ncols=3, loc="upper left")
    words = (
        f"{inside.sum()} of {len(y)} outcomes lie inside intervals of mean width {np.mean(high - low):.0f} points; "
        f"{level:.0%} were asked for."
    )
    return fig, words


def draw_penalties(lams, errors, chosen):
    """Cross-validated error against the penalty, the chosen one marked -> (fig, words)."""
    fig, ax = plt.subplots()
    ax.semilogx(lams, errors, "o-", color=BLUE, label="error of the held-back folds")
    ax.plot(
        lams[chosen],
        errors[chosen],
        "s",
        ms=10,
        mfc="none",
        mew=2,
        color=VERMILION,
        label="your choice",
    )
    ax.set(
        xlabel="penalty λ",
        ylabel="mean squared error (score²)",
        title="A flat valley, then a slope",
    )
    ax.legend()
    words = (
        f"The error is lowest at λ = {lams[int(np.argmin(errors))]:g}; your choice is λ = {lams[chosen]:g}, "
        f"{errors[chosen] / min(errors) - 1:.1%} above it. "
        f"The largest penalty costs {max(errors) / min(errors) - 1:.0%} more."
    )
    return fig, words

"""Pictures of the regression project: patients, predictions, intervals."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, VERMILION
from descent.words import say, typeset


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


def draw_penalties(lams, fitted, held, chosen):
    """Errors of fitted and of held-back rows against the penalty, the chosen one marked -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.loglog(lams, fitted, "s--", color=BLACK, label="rows that were fitted")
    ax.loglog(lams, held, "o-", color=BLUE, label="rows held back")
    look = dict(ms=11, mfc="none", mew=2, color=VERMILION, ls="none")
    ax.plot(lams[chosen], held[chosen], "s", label="your choice", **look)
    ax.set(ylabel="mean squared error (score²)", xlabel="penalty λ")
    ax.set_title("Only rows held back can choose")
    ticks = [3000, 5000, 8000]
    ax.set_yticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend()
    words = say(
        "Held back, the error is lowest at λ = {best:.5g}; your choice is λ = {mine:.5g}, {above:.1%} above it. "
        "The fitted rows would choose λ = {weakest:.5g}, which costs {cost:.0%} more.",
        best=lams[int(np.argmin(held))],
        mine=lams[chosen],
        above=held[chosen] / min(held) - 1,
        weakest=lams[int(np.argmin(fitted))],
        cost=held[int(np.argmin(fitted))] / min(held) - 1,
    )
    return fig, words


# ---------------------------------------------------------------- the consultant


def with_squares(X, by):
    """X (m, 10) with all squares and products -> (m, 65), standardised by the rows `by`."""
    pairs = np.triu_indices(X.shape[1])

    def columns(rows):
        rows = (rows - by.mean(0)) / by.std(0)
        return np.c_[rows, rows[:, pairs[0]] * rows[:, pairs[1]]]

    known = columns(by)
    sd = known.std(0)
    return (columns(X) - known.mean(0)) / np.where(sd == 0, 1.0, sd)


def least_squares(A, y):
    """The forecast of least squares with an intercept on columns A (n, k): a function of rows (m, k)."""
    w = np.linalg.lstsq(A - A.mean(0), y - y.mean(), rcond=None)[0]
    return lambda rows: y.mean() + (rows - A.mean(0)) @ w


def consultant(X, y, X_new):
    """Forecasts (m,) of least squares on the features, their squares and products."""
    return least_squares(with_squares(X, X), y)(with_squares(X_new, X))


def promised(method, X, y):
    """R² on rows held back, a tenth at a time. method: (X, y, X_new) -> forecasts."""
    forecasts = np.empty(len(y))
    for fold in np.array_split(np.random.default_rng(0).permutation(len(y)), 10):
        rest = np.setdiff1d(np.arange(len(y)), fold)
        forecasts[fold] = method(X[rest], y[rest], X[fold])
    return 1 - np.mean((y - forecasts) ** 2) / y.var()


def draw_bars(y, forecasts, half):
    """Outcomes against forecasts with a band of +- half around them -> (fig, words)."""
    inside = np.abs(y - forecasts) <= half
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    ends = np.array([-100.0, 420.0])
    ax.fill_between(ends, ends - half, ends + half, color=BLUE, alpha=0.15, lw=0)
    ax.plot(ends, ends, "--", color=BLACK, lw=1.2)
    ax.plot(forecasts[inside], y[inside], "o", ms=4, color=GREEN, label="inside the bars")
    ax.plot(forecasts[~inside], y[~inside], "X", ms=6, color=VERMILION, label="outside")
    r2 = 1 - np.mean((y - forecasts) ** 2) / np.var(y)
    ax.set(xlim=ends, ylim=(0, 370), xlabel="forecast (score)", ylabel="outcome (score)")
    ax.set_title(f"{inside.mean():.0%} inside, {typeset(f'{r2:.0%}')} explained")
    ax.legend(loc="upper left")
    words = say(
        "{n} patients: {inside:.0%} lie within {half:.0f} points of their forecast, which explains {r2} of their "
        "differences.",
        n=len(y),
        inside=inside.mean(),
        half=half,
        r2=typeset(f"{r2:.0%}"),
    )
    return fig, words


def draw_shares(fitted, new, h):
    """Shares of fitted and of new errors (absolute) within h, to be dragged along h -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 4))
    for errors, color, style, name in (
        (fitted, BLACK, "--", "patients that were fitted"),
        (new, BLUE, "-", "new patients"),
    ):
        ax.step(np.sort(errors), np.arange(1, len(errors) + 1) / len(errors), style, color=color,
                where="post", label=name)  # fmt: skip
    shares = [np.mean(errors <= h) for errors in (fitted, new)]
    ax.axvline(h, color=VERMILION, lw=2)
    ax.axhline(0.9, color="#999999", lw=1)
    ax.set(xlim=(0, 240), ylim=(0, 1.02), xlabel="half width h (points)", ylabel="share inside ±h")
    ax.set_title(f"±{h:.0f} holds {shares[0]:.0%} of the fitted, {shares[1]:.0%} of the new")
    ax.legend(loc="lower right")
    ax.set_gid("h")
    words = say(
        "Within {h:.0f} points lie {fitted:.0%} of the fitted patients and {new:.0%} of the new ones.",
        h=h, fitted=shares[0], new=shares[1],
    )  # fmt: skip
    return fig, words

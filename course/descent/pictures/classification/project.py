"""Pictures of the classification project: tumours, two laboratories, what thresholds cost, calibration."""

from functools import lru_cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent import data
from descent.pictures.classification.logistic_regression import fitted, with_one
from descent.plots import BLACK, BLUE, ORANGE, VERMILION
from descent.words import say

NAPKIN = 1 / 21


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
    words = say(
        "{n} tumours, {ill} malignant. Median radius of the nuclei: benign {benign:.1f}, malignant {malignant:.1f}; "
        "the clouds overlap.",
        n=len(y), ill=int(y.sum()), benign=middle[0], malignant=middle[1],
    )  # fmt: skip
    return fig, words


# ---------------------------------------------------------------- the laboratories


class Laboratory(NamedTuple):
    """Chances and truth of the tumours that a threshold was chosen on, and of new ones; naive Bayes on the new."""

    tuned: np.ndarray
    tuned_truth: np.ndarray
    new: np.ndarray
    truth: np.ndarray
    bayes: np.ndarray

    @staticmethod
    def cost(p, y, t) -> int:
        """What calling p >= t costs: a missed ill row 20, a false alarm 1."""
        return int(20 * np.sum((p < t) & (y == 1)) + np.sum((p >= t) & (y == 0)))


@lru_cache
def laboratory() -> Laboratory:
    """Penalised logistic regression (λ = 2) and Gaussian naive Bayes, both fitted to 279 tumours."""
    table = data.breast_cancer()
    ill = 1 - table.y
    new, tuned, known = np.split(np.random.default_rng(15).permutation(569), [171, 290])
    mean, sd = table.X[known].mean(0), table.X[known].std(0)
    Z = with_one((table.X - mean) / sd)
    p = expit(Z @ fitted(Z[known], ill[known], lam=2 / len(known)))
    bayes = naive_bayes(table.X[known], ill[known])(table.X[new])
    return Laboratory(p[tuned], ill[tuned], p[new], ill[new], bayes)


def naive_bayes(X, y):
    """Gaussian naive Bayes: a function of rows -> chances of label 1."""
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit(X, y)
    return lambda rows: model.predict_proba(rows)[:, 1]


def draw_valleys(lab, t):
    """What each threshold costs on the tumours it was chosen on and on new ones, one of them marked -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.4, 4))
    grid, costs = np.logspace(-3, -0.01, 600), []
    for p, y, color, style, name in (
        (lab.tuned, lab.tuned_truth, BLACK, "--", "119 tumours it was chosen on"),
        (lab.new, lab.truth, BLUE, "-", "171 new tumours"),
    ):
        ax.plot(grid, [lab.cost(p, y, s) for s in grid], style, color=color, label=name)
        costs.append(lab.cost(p, y, t))
    ax.axvline(t, color=VERMILION, lw=2)
    ax.plot([t, t], costs, "o", color=VERMILION, ms=6)
    ax.axvline(NAPKIN, color=ORANGE, lw=5, alpha=0.5, label="the napkin: 1/21")
    ax.set(
        xscale="log",
        xlim=(1e-3, 1),
        ylim=(0, 200),
        xlabel="threshold",
        ylabel="cost (false alarms)",
    )
    ax.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    ax.set_title(f"Threshold {t:.3g}: cost {costs[0]} on the 119, {costs[1]} on the 171")
    ax.legend(loc="upper left")
    ax.set_gid("costs")
    misses = int(np.sum((lab.new < t) & (lab.truth == 1)))
    words = say(
        "Called from {t:.3g} on, the 119 tumours cost {tuned} and the 171 new ones {new}: {misses} of {ill} cancers "
        "missed, {alarms} false alarms. The napkin costs {napkin} there.",
        t=t, tuned=costs[0], new=costs[1], misses=misses, ill=int(lab.truth.sum()),
        alarms=costs[1] - 20 * misses, napkin=lab.cost(lab.new, lab.truth, NAPKIN),
    )  # fmt: skip
    return fig, words


def draw_claims(lab):
    """The chances of the 171 new tumours by both machines, and the napkin's threshold -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.6), sharey=True)
    ill, lost = lab.truth == 1, []
    for ax, p, name in zip(axes, (lab.new, lab.bayes), ("Logistic", "Naive Bayes"), strict=True):
        lost.append(int(np.sum(p[ill] < NAPKIN)))
        for rows, color, marker, kind in (
            (~ill, BLUE, "o", "benign"),
            (ill, VERMILION, "^", "malignant"),
        ):
            x = np.sort(np.maximum(p[rows], 1e-6))
            ax.plot(x, np.linspace(0, 1, len(x)), marker, ms=4, alpha=0.7, color=color, label=kind)
        ax.axvline(NAPKIN, color=ORANGE, lw=5, alpha=0.5, label="1/21")
        ax.set(
            xscale="log",
            xlim=(5e-7, 2),
            xlabel="chance that was claimed (1e-6 or less at the left)",
        )
        ax.set_title(f"{name}: {lost[-1]} of {ill.sum()} cancers below 1/21")
    axes[0].set_ylabel("share of the class up to it")
    axes[0].legend(loc="upper left")
    words = say(
        "From 1/21 on, logistic regression misses {lost[0]} of {ill} cancers and costs {cost[0]}; naive Bayes misses "
        "{lost[1]}, its smallest chance of a cancer is {least:.1g}, and it costs {cost[1]}.",
        lost=lost, ill=int(ill.sum()), least=lab.bayes[ill].min(),
        cost=[lab.cost(p, lab.truth, NAPKIN) for p in (lab.new, lab.bayes)],
    )  # fmt: skip
    return fig, words


def draw_days(costs):
    """Costs by machine (days, 3): tuned on its own rows, on new ones, the napkin on new ones -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4), sharey=True)
    places = ["tuned,\non its rows", "tuned,\non new rows", "1/21,\non new rows"]
    for ax, (name, days) in zip(axes, costs.items(), strict=True):
        ax.plot(range(3), days.T, "-", color=BLUE, alpha=0.25, lw=1)
        ax.plot(range(3), days.mean(0), "D", color=VERMILION, ms=8, label="mean")
        for place, mean in enumerate(days.mean(0)):
            ax.annotate(
                f"{mean:.0f}", (place, mean), (8, 8), textcoords="offset points",
                bbox=dict(fc="white", ec="none", alpha=0.8, pad=0.5),
            )  # fmt: skip
        _, tuned, napkin = days.mean(0)
        better = "1/21" if napkin < tuned else "tuned"
        title = f"{name[0].upper()}{name[1:]}: {better} costs less"
        ax.set(xlim=(-0.3, 2.5), title=title)
        ax.set_xticks(range(3), places)
    axes[0].set_ylabel("cost (false alarms)")
    axes[0].legend(loc="upper left")
    (one, a), (two, b) = costs.items()
    words = say(
        "{n} shuffles. With {one} the cheapest threshold costs {a[0]:.0f} on the rows it was chosen on, {a[1]:.0f} "
        "on new ones; 1/21 costs {a[2]:.0f} there. With {two} it is {b[0]:.0f}, {b[1]:.0f} and {b[2]:.0f}.",
        n=len(a), one=one, two=two, a=a.mean(0), b=b.mean(0),
    )  # fmt: skip
    return fig, words


# ---------------------------------------------------------------- the screening


def towns(decide, y):
    """Costs of 1000 women, by the share of them that is ill -> (shares, told the share, as it is, nobody called).

    decide: share -> labels of the rows y (n,), with share None as they are.
    """
    shares = 10 ** np.linspace(-3, -0.3, 55)

    def cost(called, share):
        missed, alarms = np.mean(called[y == 1] == 0), np.mean(called[y == 0] == 1)
        return 1000 * (20 * share * missed + (1 - share) * alarms)

    as_it_is = np.asarray(decide(None))
    told = [cost(np.asarray(decide(share)), share) for share in shares]
    return shares, np.array(told), cost(as_it_is, shares), 20_000 * shares


def draw_towns(curves, share):
    """What 1000 women cost at each share of the ill, one share marked -> (fig, words)."""
    shares, told, as_it_is, nobody = curves
    fig, ax = plt.subplots(figsize=(7.4, 4))
    for y, color, style, name in (
        (nobody, BLACK, ":", "nobody is called"),
        (as_it_is, ORANGE, "--", "chances as in the clinic"),
        (told, BLUE, "-", "chances told the share"),
    ):
        ax.plot(shares, y, style, color=color, lw=2, label=name)
    ax.axvline(share, color=VERMILION, lw=2)
    ax.set(xscale="log", xlim=(1e-3, 0.5), ylim=(0, 280), xlabel="share of the ill")
    ax.set_xticks([0.001, 0.01, 0.1, 0.5], ["0.1 %", "1 %", "10 %", "50 %"])
    ax.minorticks_off()
    ax.set_ylabel("cost of 1000 women (false alarms)")
    place = int(np.argmin(np.abs(np.log(shares / share))))
    ax.set_title(
        f"{100 * share:.2g} % ill: cost {as_it_is[place]:.0f} as in the clinic, {told[place]:.0f} when told"
    )
    ax.legend(loc="upper right")
    ax.set_gid("towns")
    words = say(
        "Where a share of {share:.2g} is ill, 1000 women cost {told:.0f} false alarms if the chances are told the "
        "share, {as_it_is:.0f} if they stay as in the clinic, and {nobody:.0f} if nobody is called.",
        share=share, told=told[place], as_it_is=as_it_is[place], nobody=nobody[place],
    )  # fmt: skip
    return fig, words


def draw_calibration(p, y, edges=(0, 0.05, 0.2, 0.5, 0.8, 0.95, 1)):
    """Share of ill rows in bins of the chance against the mean chance -> (fig, words)."""
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
        said, came, ends, fmt="o", color=BLUE, capsize=3, label="a bin of chances, ± standard error"
    )
    ax.set(
        xlabel="mean chance in the bin",
        ylabel="share of malignant",
        title="Do the chances mean what they say?",
    )
    ax.legend(loc="upper left")
    words = say(
        "{bins} bins of chances with {rows} rows. The largest gap between chance and share is {worst:.2f}, in a bin of "
        "{size} rows.",
        bins=len(told), rows=", ".join(map(str, n)), worst=worst, size=n[np.argmax(np.abs(said - came))],
    )  # fmt: skip
    return fig, words

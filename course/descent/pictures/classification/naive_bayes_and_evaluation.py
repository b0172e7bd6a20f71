"""Naive Bayes and the evaluation of classifiers: a table of ticks, correlated features, thresholds, intervals."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.naive_bayes import BernoulliNB

from descent import data, plots
from descent.plots import BLACK, BLUE, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

STRENGTH = 0.4  # distance of a class mean from the middle, in standard deviations of a feature
KINDS = ((0, BLUE, "", "benign"), (1, VERMILION, "//", "malignant"))

# ---------------------------------------------------------------- the clinic


@lru_cache
def clinic() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """569 tumours -> measurements (569, 30), 1 for malignant (569,), row numbers of 285 old and 284 new patients."""
    table = data.breast_cancer()
    old, new = np.split(np.random.default_rng(0).permutation(569), [285])
    return table.X, 1 - table.y, old, new


def cut(X, old, parts: int) -> np.ndarray:
    """Each column in `parts` bins, equally full on the old rows -> bin numbers, integers as X (n, d)."""
    edges = np.quantile(X[old], np.arange(1, parts) / parts, axis=0)
    return (X[:, None] > edges).sum(axis=1)


@lru_cache
def claimed(copies: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of malignant by scikit-learn's table of ticks, and the truth, of the 284 new patients.

    copies: how often each tick stands in the table.
    """
    X, ill, old, new = clinic()
    ticks = np.tile(cut(X, old, 2), (1, copies))
    told = BernoulliNB().fit(ticks[old], ill[old]).predict_log_proba(ticks[new])
    return told[:, 1] - told[:, 0], ill[new]


def rates_by_threshold() -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision of that table as δ rises, from all 284 called to the surest one."""
    s, ill = claimed()
    levels = np.unique(s)
    return (
        np.array([np.mean(s[ill == 1] >= t) for t in levels]),
        np.array([np.mean(ill[s >= t]) for t in levels]),
    )


def draw_clinic():
    """What the table claims of 284 new patients, and whom it calls in the clinic and in the town -> (fig, words)."""
    s, ill = claimed()
    wrong = (s > 0) != (ill == 1)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.5), width_ratios=[1.6, 1])
    height = np.random.default_rng(1).uniform(-0.28, 0.28, len(s))
    for kind, color, _, _ in KINDS:
        mine = (ill == kind) & ~wrong
        left.plot(s[mine], kind + height[mine], "o", color=color, alpha=0.45, mec="none")
    left.plot(s[wrong], (ill + height)[wrong], "X", color=BLACK, mec="white", ms=9, label="wrong")
    sure = logit(0.99)
    left.axvspan(-sure, sure, color=BLACK, alpha=0.12, lw=0, label="claims of at most 99 %")
    left.set(xlabel="claimed log-odds of malignant", ylim=(-0.5, 1.85))
    left.set_yticks([0, 1], ["benign", "malignant"])
    left.set_title(f"{np.sum(wrong)} mistakes; most of them look sure", fontsize=11)
    left.legend(fontsize=9, ncols=2, loc="upper left")
    tpr, fpr = np.mean(s[ill == 1] > 0), np.mean(s[ill == 0] > 0)
    town = 10 * tpr, 990 * fpr
    called = np.array([[np.sum(s[ill == 1] > 0), np.sum(s[ill == 0] > 0)], town])
    share = called / called.sum(axis=1, keepdims=True)
    right.bar([0, 1], share[:, 0], 0.6, color=VERMILION, label="malignant")
    right.bar(
        [0, 1], share[:, 1], 0.6, share[:, 0], color=SKY, hatch="//", ec="white", label="healthy"
    )
    right.set_xticks([0, 1], ["in the clinic", "in the town"])
    right.set(ylabel="share of those called ill", ylim=(0, 1.3), yticks=[0, 0.5, 1])
    right.set_title("In the town most calls are wrong", fontsize=11)
    right.legend(fontsize=9, ncols=2, loc="upper left")
    return fig, say(
        "Of {n} new patients the table is right in {right}; of its {wrong} mistakes {sure} claim more than 99 %. Of "
        "1000 women, 10 of them ill, it calls {ill:.1f} ill and {healthy:.1f} healthy ones.",
        n=len(s), right=np.sum(~wrong), wrong=np.sum(wrong), sure=np.sum(wrong & (np.abs(s) > sure)),
        ill=town[0], healthy=town[1],
    )  # fmt: skip


def draw_factors(column: int, name: str):
    """One measurement as a tick, in five bins and as a number: what each table keeps of it -> (fig, words)."""
    X, ill, old, _ = clinic()
    x = X[:, [column]]
    fig, axes = plt.subplots(1, 3, figsize=(7, 2.8), width_ratios=[0.75, 1.1, 1.1])
    for ax, parts, names in (
        (axes[0], 2, ["below", "above"]),
        (axes[1], 5, ["lowest", "", "middle", "", "highest"]),
    ):
        part = cut(x, old, parts)[old, 0]
        shares = [np.bincount(part[ill[old] == kind], minlength=parts) for kind, *_ in KINDS]
        shares = [count / count.sum() for count in shares]
        looks = [(label, color, hatch) for _, color, hatch, label in KINDS]
        plots.grouped_bars(names, shares, ax, looks=looks, step=0.4)
        ax.set(ylim=(0, 1))
    axes[0].set(xlabel="side of the median", ylabel="share of the class")
    axes[1].set_xlabel("fifth of all cases")
    grid, told = np.linspace(x.min(), x.max(), 300), []
    for kind, color, hatch, label in KINDS:
        mine = x[old][ill[old] == kind, 0]
        axes[2].hist(mine, 18, density=True, color=color, alpha=0.3, hatch=hatch, ec="white")
        normal = norm.pdf(grid, mine.mean(), mine.std())
        axes[2].plot(grid, normal, "--" if kind else "-", color=color, label=label)
        told.append(
            say("{label} {mean:.1f} ± {sd:.1f}", label=label, mean=mine.mean(), sd=mine.std())
        )
    axes[2].set(xlabel=name, ylabel="density")
    for ax, title in zip(axes, ("Bernoulli", "categorical", "Gaussian"), strict=True):
        ax.set_title(title)
    axes[2].legend(fontsize=9)
    return fig, say(
        "{name}, by class: share of ticks, shares of five bins, and a normal curve. {told:, }.",
        name=name.capitalize(), told=told,
    )  # fmt: skip


# ---------------------------------------------------------------- correlation


def correlated_world(rho: float, D: int, strength=STRENGTH) -> dict[str, float]:
    """What naive Bayes claims and what is true: two normal classes ±m, unit variances, correlation rho.

    strength: of each feature, a number or (D,). -> kappa (true log-odds over claimed log-odds), accuracy of naive
    Bayes, accuracy of the best rule, mean claim (of the called class), mean and sd of the claimed log-odds in class +1.
    All exact but the mean claim, which is a quadrature to six digits.
    """
    m = np.full(D, 1.0) * strength
    cov = np.full((D, D), rho) + (1 - rho) * np.eye(D)
    square, spread = m @ m, m @ cov @ m
    mean, sd = 2 * square, 2 * np.sqrt(spread)
    s = mean + sd * np.linspace(-8, 8, 2001)
    weight = norm.pdf(s, mean, sd)
    return dict(
        kappa=square / spread,
        accuracy=norm.cdf(square / np.sqrt(spread)),
        best=norm.cdf(np.sqrt(m @ np.linalg.solve(cov, m))),
        claim=np.sum(weight * expit(np.abs(s))) / np.sum(weight),
        mean=mean,
        sd=sd,
    )


def draw_correlation(rho: float, D: int):
    """Claimed against true probability, and accuracy against claims over rho -> (fig, words)."""
    world = correlated_world(rho, D)
    rhos = np.linspace(0, 0.9, 19)
    worlds = [correlated_world(r, D) for r in rhos]
    said = np.linspace(0.001, 0.999, 200)
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.08, 0.98, 0.15, 0.9), wspace=0.25)
    edges = np.linspace(0, 1, 21)
    limits = np.append(np.append(-np.inf, logit(edges[1:-1])), np.inf)
    share = sum(np.diff(norm.cdf(limits, sign * world["mean"], world["sd"])) for sign in (-1, 1))
    left.stairs(share / 2, edges, fill=True, color=SKY, alpha=0.6, label="share of cases")
    left.plot([0, 1], [0, 1], "--", color=BLACK, linewidth=1.2, label="calibrated")
    left.plot(said, expit(world["kappa"] * logit(said)), color=VERMILION, label="naive Bayes")
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="claimed probability of class 1",
             ylabel="true probability; share of cases")  # fmt: skip
    factor = 1 / world["kappa"]
    light(left, f"Claimed log-odds: {factor:.1f} × the true", [0, 0.5, 1], [0, 0.5, 1], fontsize=11)
    left.legend(loc="upper center", fontsize=8)
    for key, style, color, label in (
        ("claim", "-.", VERMILION, "mean claim of naive Bayes"),
        ("best", "-", BLACK, "accuracy of the best rule"),
        ("accuracy", "o", BLUE, "accuracy of naive Bayes"),
    ):
        right.plot(rhos, [w[key] for w in worlds], style, color=color, markersize=4, label=label)
    right.axvline(rho, color=BLACK, linewidth=6, alpha=0.12)
    right.set(xlim=(-0.03, 0.93), ylim=(0.45, 1.01), xlabel="correlation ρ", ylabel="share")
    light(right, "Decisions as good as any", [0, 0.3, 0.6, 0.9], [0.5, 0.75, 1], fontsize=11)
    right.legend(loc="lower left", bbox_to_anchor=(0, 0.07), fontsize=8)  # above the handle
    right.set_gid("rho")
    return fig, say(
        "{D} features, correlation {rho:.2f}: the claimed log-odds are {factor:.1f} times the true ones. Accuracy "
        "{accuracy:.3f}, of the best rule {best:.3f}; the mean claim is {claim:.3f}.",
        D=D, rho=rho, factor=factor, **{key: world[key] for key in ("accuracy", "best", "claim")},
    )  # fmt: skip


def draw_regions(views: dict[str, Callable], X, y, new_X, new_y):
    """Decision regions of several classifiers of the plane, with their accuracy on new points -> (fig, words).

    views: name -> function, rows (m, 2) -> log posterior (m, C).
    """
    fig, axes = plt.subplots(1, len(views), figsize=(7, 2.9), sharey=True)
    told = []
    for ax, (name, log_posterior) in zip(axes, views.items(), strict=True):
        plots.decision_regions(
            lambda new, f=log_posterior: np.asarray(f(new)).argmax(axis=1), X, y, ax, points=80
        )
        accuracy = np.mean(np.asarray(log_posterior(new_X)).argmax(axis=1) == new_y)
        ax.set(xlabel="feature 1", ylabel="feature 2" if ax is axes[0] else "")
        ax.set_title(f"{name}: {accuracy:.2f} right", fontsize=11)
        told.append(say("{name} {accuracy:.2f}", name=name, accuracy=accuracy))
    axes[0].legend(
        fontsize=8, loc="upper right", handletextpad=0.1, labelspacing=0.2, borderaxespad=0.2
    )
    return fig, say(
        "Three classes in the plane, and the regions of each table. Share right of {n} new points: {told:, }.",
        n=len(new_y), told=told,
    )  # fmt: skip


# ---------------------------------------------------------------- thresholds


def threshold_explorer(scores, y, fpr, tpr) -> Callable:
    """-> draw(delta, share): scores, confusion matrix, ROC and PR curve at one threshold.

    scores (n,), y (n,) of 0 and 1; fpr, tpr (m + 1,): the ROC curve, one point a distinct score, from (0, 0).
    share: of class 1 among 10,000 imagined cases.
    """
    scores, y, fpr, tpr = (np.asarray(a, float) for a in (scores, y, fpr, tpr))
    levels = np.unique(scores)[::-1]
    area = np.trapezoid(tpr, fpr)
    edges = np.linspace(scores.min(), scores.max(), 25)
    heights = [np.histogram(scores[y == kind], edges)[0] / np.sum(y == kind) for kind in (0, 1)]

    def draw(delta: float, share: float):
        called = share * tpr + (1 - share) * fpr
        precision = np.divide(share * tpr, called, out=np.zeros_like(called), where=called > 0)
        at = int(np.sum(levels > delta))  # the point whose calls are the scores above delta
        n = 10_000  # so many that the few missed in the town are not rounded to none
        TP, FP = n * share * tpr[at], n * (1 - share) * fpr[at]
        C = np.array([[n * (1 - share) - FP, FP], [n * share - TP, TP]])
        f1 = 2 * TP / (n * share + TP + FP)
        # two by two: in a narrow window, too, all four are seen while one is dragged
        fig, grid = plt.subplots(2, 2, figsize=(8, 5.4), layout="none")
        fig.subplots_adjust(0.09, 0.1, 0.98, 0.94, wspace=0.25, hspace=0.45)
        axes = grid.ravel()
        for kind, color, hatch, label in KINDS:
            axes[0].stairs(heights[kind], edges, color=color, hatch=hatch, lw=1.6, label=label)
        axes[0].axvline(delta, color=BLACK, linestyle="--", linewidth=1.5)
        axes[0].set(xlabel="score: claimed log-odds", ylabel="share of the class", ylim=(0, 0.42))
        light(axes[0], f"Ill above {delta:g}".replace("-", "−"), [-40, -20, 0, 20], [0, 0.2, 0.4])
        axes[0].legend(fontsize=8, loc="upper left")
        axes[0].set_gid("scores")
        labels = ["benign", "malignant"]
        _draw_counts(axes[1], C, labels, labels)
        light(axes[1], f"Accuracy {np.trace(C) / n:.2f}")
        for ax, x, height, point, title, names in (
            (axes[2], fpr, tpr, at, f"ROC: area {area:.2f}", ("false positive rate", "true positive rate")),
            (axes[3], tpr[1:], precision[1:], at - 1, f"PR: F₁ {f1:.2f}", ("recall", "precision")),
        ):  # fmt: skip
            ax.plot(x, height, color=BLUE)
            if point >= 0:  # else nobody is called: precision is 0/0
                ax.plot(x[point], height[point], "o", color=VERMILION, markersize=9)
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=names[0], ylabel=names[1])
            light(ax, title, [0, 0.5, 1], [0, 0.5, 1])
        axes[2].plot([0, 1], [0, 1], ":", color=BLACK, linewidth=1)
        axes[3].axhline(share, linestyle=":", color=BLACK, linewidth=1)
        return fig, say(
            "Threshold {delta:g}: of 10,000 patients {ill:,.0f} are malignant; {TP:,.0f} found, {FN:,.0f} missed, "
            "{FP:,.0f} false alarms, {TN:,.0f} rightly passed. Precision {P:.2f}, recall {R:.2f}, F₁ {f1:.2f}, false "
            "positive rate {fpr:.2f}, accuracy {accuracy:.2f}. Area under ROC {area:.2f}.",
            delta=delta, ill=n * share, TP=TP, FN=C[1, 0], FP=FP, TN=C[0, 0], P=precision[at], R=tpr[at], f1=f1,
            fpr=fpr[at], accuracy=np.trace(C) / n, area=area,
        )  # fmt: skip

    return draw


def _draw_counts(ax, C, actual: Sequence[str], predicted: Sequence[str]):
    """A table of counts: rows actual, columns predicted, darker where the share of its row is larger."""
    C = np.asarray(C, float)
    size = C.sum(axis=1, keepdims=True)
    shade = np.divide(C, size, out=np.zeros_like(C), where=size > 0)
    ax.imshow(shade, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for a, b in np.ndindex(C.shape):
        if C[a, b] or C.size < 10:
            ax.text(b, a, f"{C[a, b]:.0f}", ha="center", va="center",
                    color="white" if shade[a, b] > 0.75 else BLACK, fontsize=10)  # fmt: skip
    ax.set_xticks(range(len(predicted)), predicted)
    ax.set_yticks(range(len(actual)), actual, rotation=90 if len(actual) < 3 else 0, va="center")
    ax.set(xlabel="called", ylabel="actual")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def draw_answer(divisors, claims, right: float, curves: dict, marks: Sequence[str]):
    """Mean claims when the log-odds are divided; precision over recall in clinic and town -> (fig, words).

    claims: mean claim for each divisor; right: share of right calls. curves: name -> (recall, precision, points), the
    points as (recall, precision) of two thresholds. marks: what these are called.
    """
    fig, (left, end) = plt.subplots(1, 2, figsize=(9.4, 3.7))
    left.plot(divisors, claims, "o--", color=VERMILION, label="mean claim")
    left.axhline(right, color=BLUE, label="share right: the same for all")
    left.set(xscale="log", xlabel="claimed log-odds divided by", ylabel="share", ylim=(0.5, 1.03))
    left.set_xticks(divisors, [f"{d:g}" for d in divisors])
    left.minorticks_off()
    left.set_title("Too sure: the same evidence, many times", fontsize=11)
    left.legend(loc="lower left")
    told = []
    for (name, (recall, precision, points)), style, color in zip(
        curves.items(), ("-", "--"), (BLUE, VERMILION), strict=True
    ):
        end.plot(recall, precision, style, color=color, label=name)
        for (r, p), marker in zip(points, "os", strict=False):
            end.plot(r, p, marker, color=color, mec="white", markersize=10)
            told.append(say("{name}: recall {r:.2f}, precision {p:.2f}", name=name, r=r, p=p))
    for marker, label in zip("os", marks, strict=True):
        end.plot([], [], marker, color=BLACK, label=label)
    end.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.05))
    end.set_title("One table, two populations", fontsize=11)
    end.legend(loc="lower left")
    return fig, say(
        "Divided by {divisors}, the mean claim falls from {first:.3f} to {last:.3f}; {right:.3f} of the calls are "
        "right. {told:; }.",
        divisors=f"{divisors[0]:g} to {divisors[-1]:g}", first=claims[0], last=claims[-1], right=right, told=told,
    )  # fmt: skip


# ---------------------------------------------------------------- deeper


def draw_intervals(sizes, rmse, accuracy):
    """Scores with bootstrap intervals over the size of the test set; rows (score, low, high) -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    told = []
    for ax, rows, name, marker in (
        (axes[0], rmse, "RMSE (score points)", "o"),
        (axes[1], accuracy, "accuracy", "s"),
    ):
        value, low, high = np.array(rows).T
        width = high - low
        ax.errorbar(sizes, value, [value - low, high - value], fmt=marker, color=BLUE, capsize=4)
        ax.set(xscale="log", xlabel="test rows M", ylabel=name)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        times = width[0] / width[-1]
        ax.set_title(
            f"{sizes[-1] // sizes[0]} × the rows: {times:.1f} × narrower (95 %)", fontsize=11
        )
        told.append(
            say("{name}: {first:.2f} to {last:.2f} wide", name=name, first=width[0], last=width[-1])
        )
    return fig, say(
        "95 % intervals from {few} to {many} test rows. {told:; }.",
        few=sizes[0],
        many=sizes[-1],
        told=told,
    )


def coverage(interval: Callable, M: int, p: float) -> float:
    """The chance that interval(right, M) holds p, where `right` of M cases are right: exact, by all counts."""
    right = np.arange(M + 1)
    low, high = interval(right, M)
    return float(np.sum(((low <= p) & (p <= high)) * binom.pmf(right, M, p)))


def draw_templates(theta):
    """Bernoulli parameters of ten digits as images of 8 × 8 pixels -> (fig, words)."""
    theta = np.asarray(theta)
    titles = [f"class {c}" for c in range(len(theta))]
    fig = plots.image_grid(
        theta.reshape(-1, 8, 8), columns=5, titles=titles, size=0.9, limits=(0, 1)
    )
    ink = theta.sum(axis=1)
    return fig, say(
        "The chance of each pixel to be on, one image a digit: they look like blurred digits. A {few} has the fewest "
        "pixels on, {least:.0f} of 64 on average.",
        few=ink.argmin(), least=ink.min(),
    )  # fmt: skip


def draw_confusion(C, names: Sequence[str], what: str):
    """A confusion matrix, and precision and recall of every class -> (fig, words)."""
    C = np.asarray(C).astype(int)
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), width_ratios=[1.25, 1])
    _draw_counts(left, C, names, names)
    off = C - np.diag(np.diag(C))
    a, b = np.unravel_index(off.argmax(), C.shape)
    left.set(xlabel=f"{what} as called", ylabel=f"actual {what}")
    left.set_title(f"The commonest mistake: {names[a]} called {names[b]}", fontsize=11)
    rates = [np.diag(C) / np.maximum(C.sum(axis), 1) for axis in (0, 1)]
    place = np.arange(len(names))
    for values, move, color, hatch, label in zip(
        rates, (-0.2, 0.2), (BLUE, ORANGE), ("", "//"), ("precision", "recall"), strict=True
    ):
        right.barh(
            place + move, values, 0.38, color=color, hatch=hatch, edgecolor="white", label=label
        )
    right.set_yticks(place, names)
    right.set(xlim=(0, 1), xlabel="share", ylim=(len(names) + 0.6, -0.6))  # room for the legend
    right.legend(loc="lower left", ncols=2, fontsize=9)
    right.set_title("What is called, what is found", fontsize=11)
    told = [
        say(
            "lowest {rate}: {low:.2f} for {name}",
            rate=rate,
            low=values.min(),
            name=names[values.argmin()],
        )
        for rate, values in zip(("precision", "recall"), rates, strict=True)
    ]
    return fig, say(
        "{right} of {n} cases lie on the diagonal. The commonest mistake: {a} called {b}, {often} times; {b} called "
        "{a} {back} times; {told:; }.",
        right=np.trace(C), n=C.sum(), a=names[a], b=names[b], often=C[a, b], back=C[b, a], told=told,
    )  # fmt: skip

"""Naive Bayes and the evaluation of classifiers: correlated features, thresholds, intervals."""

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom, norm

from descent import plots
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION

STRENGTH = 0.4  # distance of a class mean from the middle, in standard deviations of a feature

# ---------------------------------------------------------------- the correlation widget


def class_means(D: int, unequal: bool) -> np.ndarray:
    """Means of the D features in class +1; unequal: every second feature keeps a tenth. (D,)"""
    m = np.full(D, STRENGTH)
    if unequal:
        m[1::2] /= 10
    return m


def correlated_world(rho: float, D: int, unequal: bool) -> dict[str, float]:
    """What naive Bayes claims and what is true: two normal classes ±m, unit variances, correlation rho.

    -> kappa (true log-odds over claimed log-odds), accuracy of naive Bayes, accuracy of the best rule,
    mean claim (mean of the probability of the called class) and mean and sd of the claimed log-odds
    in class +1. All exact but the mean claim, which is a quadrature to six digits.
    """
    m = class_means(D, unequal)
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


def draw_correlation(rho: float, D: int, unequal: bool):
    """Said against true probability, and accuracy against confidence over rho -> (fig, words)."""
    world = correlated_world(rho, D, unequal)
    rhos = np.linspace(0, 0.9, 19)
    worlds = [correlated_world(r, D, unequal) for r in rhos]
    said = np.linspace(0.001, 0.999, 400)
    true = expit(world["kappa"] * logit(said))
    fig, (left, right) = plots.fixed_axes(2, (9, 3.7), (0.08, 0.98, 0.15, 0.9), wspace=0.25)
    edges = np.linspace(0, 1, 21)
    limits = logit(np.clip(edges, 1e-300, 1 - 1e-16))
    limits[[0, -1]] = -np.inf, np.inf
    share = sum(np.diff(norm.cdf(limits, sign * world["mean"], world["sd"])) for sign in (-1, 1))
    left.bar(edges[:-1], share / 2, 0.05, align="edge", color=SKY, alpha=0.6, edgecolor="white",
             label="share of cases")  # fmt: skip
    left.plot([0, 1], [0, 1], "--", color=BLACK, linewidth=1.2, label="calibrated")
    left.plot(said, true, color=VERMILION, label="naive Bayes")
    left.set(xlim=(0, 1), ylim=(0, 1), xlabel="claimed probability of class 1",
             ylabel="true probability; share of cases")  # fmt: skip
    left.set_title(f"Claimed log-odds: {1 / world['kappa']:.1f} × the true")
    left.legend(loc="upper center", fontsize=8)
    for key, style, color, label in (
        ("claim", "-.", VERMILION, "mean claim of naive Bayes"),
        ("best", "-", BLACK, "accuracy of the best rule"),
        ("accuracy", "o", BLUE, "accuracy of naive Bayes"),
    ):
        right.plot(rhos, [w[key] for w in worlds], style, color=color, markersize=4, label=label)
    right.axvline(rho, color=BLACK, linewidth=6, alpha=0.12)
    right.set(xlim=(-0.03, 0.93), ylim=(0.5, 1.01), xlabel="correlation ρ", ylabel="share")
    lost = world["best"] - world["accuracy"]
    right.set_title("Decisions as good as any" if lost < 0.0005 else f"Accuracy lost: {lost:.3f}")
    right.legend(loc="lower left", fontsize=8)
    return fig, (
        f"{D} features, correlation {rho:.1f}: the claimed log-odds are {1 / world['kappa']:.1f} times "
        f"the true ones. Accuracy {world['accuracy']:.3f}, of the best rule {world['best']:.3f}; "
        f"the mean claim is {world['claim']:.3f}."
    )


# ---------------------------------------------------------------- the threshold widget


def threshold_explorer(scores, y, fpr, tpr) -> Callable:
    """-> draw(delta, share): scores, confusion matrix, ROC and PR curve at one threshold.

    scores (n,), y (n,) of 0 and 1; fpr, tpr (m + 1,): the ROC curve, one point a distinct score, from
    (0, 0). `share` is the share of class 1 among 1000 imagined cases.
    """
    scores, y, fpr, tpr = (np.asarray(a, float) for a in (scores, y, fpr, tpr))
    levels = np.unique(scores)[::-1]
    area = np.trapezoid(tpr, fpr)
    bins = np.linspace(0, 1, 21)

    def draw(delta: float, share: float):
        called = share * tpr + (1 - share) * fpr
        precision = np.divide(share * tpr, called, out=np.ones_like(called), where=called > 0)
        at = int(np.sum(levels > delta))  # the point whose calls are the scores above delta
        TP, FP = 1000 * share * tpr[at], 1000 * (1 - share) * fpr[at]
        C = np.array([[TP, 1000 * share - TP], [FP, 1000 * (1 - share) - FP]])
        P = TP / (TP + FP) if TP + FP else 0.0
        f1 = 2 * TP / (1000 * share + TP + FP)
        fig, axes = plots.fixed_axes(4, (12, 3.3), (0.06, 0.99, 0.16, 0.88), wspace=0.34)
        _draw_scores(axes[0], scores, y, bins, delta)
        labels = ["malignant", "benign"]
        _draw_counts(axes[1], C, labels, labels, digits=0)
        axes[1].set_title(f"Accuracy {np.trace(C) / 1000:.2f}")
        _draw_point(axes[2], fpr, tpr, at, f"ROC: area {area:.2f}")
        axes[2].plot([0, 1], [0, 1], ":", color=BLACK, linewidth=1)
        axes[2].set(xlabel="false positive rate", ylabel="true positive rate")
        _draw_point(axes[3], tpr[1:], precision[1:], at - 1, f"PR: F1 {f1:.2f}")
        axes[3].axhline(share, linestyle=":", color=BLACK, linewidth=1)
        axes[3].set(xlabel="recall", ylabel="precision")
        return fig, (
            f"At δ = {delta:.2f}, of 1000 patients {1000 * share:.0f} are malignant: "
            f"{TP:.0f} found, {C[0, 1]:.0f} missed, {FP:.0f} false alarms, {C[1, 1]:.0f} rightly passed. "
            f"Precision {P:.2f}, recall {tpr[at]:.2f}, F1 {f1:.2f}, "
            f"false positive rate {fpr[at]:.2f}, accuracy {np.trace(C) / 1000:.2f}. "
            f"Area under ROC {area:.2f}."
        )

    return draw


def _draw_scores(ax, scores, y, bins, delta):
    for value, color, hatch, label in ((0, SKY, "", "benign"), (1, ORANGE, "//", "malignant")):
        share = np.histogram(scores[y == value], bins)[0] / np.sum(y == value)
        ax.bar(bins[:-1], share, 0.05, align="edge", color=color, alpha=0.6, hatch=hatch,
               edgecolor="white", label=label)  # fmt: skip
    ax.axvline(delta, color=BLACK, linestyle="--", linewidth=1.5)
    ax.set(xlim=(0, 1), xlabel="score", ylabel="share of the class")
    ax.set_title(f"Called 1 above {delta:.2f}")
    ax.legend(fontsize=8)


def _draw_point(ax, x, y, at, title):
    """A curve with the point of the present threshold; at < 0: no case is called 1, no point."""
    ax.plot(x, y, color=BLUE)
    if at >= 0:
        ax.plot(x[at], y[at], "o", color=VERMILION, markersize=9)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title(title)


def _draw_counts(ax, C, actual: Sequence[str], predicted: Sequence[str], digits=0, shade=None):
    """A table of counts: rows actual, columns predicted, darker where the share of its row is larger."""
    C = np.asarray(C, float)
    size = C.sum(axis=1, keepdims=True)
    shade = np.divide(C, size, out=np.zeros_like(C), where=size > 0) if shade is None else shade
    ax.imshow(shade, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for a, b in np.ndindex(C.shape):
        if C[a, b] or C.size < 10:
            ax.text(b, a, f"{C[a, b]:.{digits}f}", ha="center", va="center",
                    color="white" if shade[a, b] > 0.75 else BLACK, fontsize=10)  # fmt: skip
    ax.set_xticks(range(len(predicted)), predicted)
    ax.set_yticks(range(len(actual)), actual, rotation=90 if len(actual) < 3 else 0, va="center")
    ax.set(xlabel="predicted", ylabel="actual")
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


# ---------------------------------------------------------------- figures of the notebook


def draw_two_tests(*tables):
    """Confusion matrices of test A and test B, positive class first -> (fig, words)."""
    fig, axes = plt.subplots(1, len(tables), figsize=(8, 3.2))
    told = []
    for name, ax, C in zip("AB", axes, tables, strict=True):
        labels = ["ill", "healthy"]
        _draw_counts(ax, C, labels, [f"called {label}" for label in labels])
        accuracy = np.trace(C) / C.sum()
        ax.set_title(f"Test {name}: {100 * accuracy:.1f} % right, {C[0, 0]} of {C[0].sum()} found")
        told.append(
            f"Test {name}: of {C[0].sum()} ill {C[0, 0]} are called ill; of {C[1].sum()} healthy "
            f"{C[1, 0]} are called ill; accuracy {accuracy:.3f}"
        )
    return fig, "; ".join(told) + "."


def draw_three_likelihoods(bits, labels, iris, wine):
    """One feature of each type by class: a pixel, a length, a measurement in four bins -> (fig, words)."""
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.5))
    pixel = 8 * 3 + 3  # fourth row, fourth column
    on = [bits[labels == c, pixel].mean() for c in range(10)]
    left.bar(range(10), on, color=BLUE)
    left.set_xticks(range(10))
    left.set(ylim=(0, 1), xlabel="digit", ylabel="share of images with the pixel on")
    left.set_title("Bernoulli: a pixel tells 0 from 8")
    grid, told = np.linspace(0.5, 7.5, 400), []
    looks = ((BLUE, "-", ""), (VERMILION, "--", "//"), (GREEN, "-.", ".."))
    for c, (color, line, hatch) in enumerate(looks):
        x = iris.X[iris.y == c, 2]
        middle.hist(x, np.arange(0.75, 7.5, 0.25), density=True, color=color, alpha=0.25, hatch=hatch,
                    edgecolor="white")  # fmt: skip
        middle.plot(grid, norm.pdf(grid, x.mean(), x.std()), line, color=color, label=f"class {c}")
        told.append(f"{x.mean():.2f}")
    middle.set(xlabel="petal length (cm)", ylabel="density (1/cm)", ylim=(0, 2.5))
    middle.set_title("Gaussian: petals tell class 0")
    middle.legend(fontsize=9)
    edges = np.quantile(wine.X[:, 9], [0.25, 0.5, 0.75])
    level = np.digitize(wine.X[:, 9], edges)
    for c, (color, _, hatch) in enumerate(looks):
        share = np.bincount(level[wine.y == c], minlength=4) / np.sum(wine.y == c)
        right.bar(np.arange(4) + 0.27 * (c - 1), share, 0.27, color=color, alpha=0.7, hatch=hatch,
                  edgecolor="white", label=f"class {c}")  # fmt: skip
    right.set_xticks(range(4), ["lowest", "low", "high", "highest"])
    right.set(xlabel="quarter of the colour intensity", ylabel="share of the class")
    right.set_title("Categorical: colour tells class 1")
    right.legend(fontsize=9)
    return fig, (
        f"Left: a pixel is on in between {min(on):.2f} and {max(on):.2f} of the images of a digit. "
        f"Middle: petal lengths of three species, normal with means {', '.join(told)} cm. "
        "Right: colour intensity of three kinds of wine in four bins, a histogram each."
    )


def draw_templates(theta):
    """Bernoulli parameters of ten digits as images of 8 × 8 pixels -> (fig, words)."""
    theta = np.asarray(theta)
    fig = plots.image_grid(
        theta.reshape(-1, 8, 8), columns=10, titles=[f"class {c}" for c in range(len(theta))],
        size=0.9, limits=(0, 1),
    )  # fmt: skip
    fig.suptitle("What each class looks like: dark pixels are probably on", fontsize=12)
    ink = theta.sum(axis=1)
    return fig, (
        "The chance of each pixel to be on, one image a digit; they look like blurred digits. "
        f"A {ink.argmin()} has the fewest pixels on ({ink.min():.0f} of 64 on average), "
        f"a {ink.argmax()} the most ({ink.max():.0f})."
    )


def draw_regions(views: dict[str, Callable], X, y, new_X, new_y):
    """Decision regions of several classifiers of the plane, with their accuracy on new points -> (fig, words).

    views: name -> function, rows (m, 2) -> log posterior (m, C).
    """
    fig, axes = plt.subplots(1, len(views), figsize=(11, 3.8), sharey=True)
    told = []
    for ax, (name, log_posterior) in zip(axes, views.items(), strict=True):
        plots.decision_regions(lambda new, f=log_posterior: f(new).argmax(axis=1), X, y, ax)
        accuracy = np.mean(log_posterior(new_X).argmax(axis=1) == new_y)
        ax.set(xlabel="feature 1")
        ax.set_title(f"{name}: {accuracy:.2f} right")
        told.append(f"{name} {accuracy:.2f}")
    axes[0].set_ylabel("feature 2")
    axes[0].legend(fontsize=8, loc="upper right")
    return fig, (
        "Three classes in the plane. Gaussian borders are curves, those of the other two run along the "
        f"features in steps. Accuracy on {len(new_y)} new points: {', '.join(told)}."
    )


def draw_intervals(sizes, rmse, accuracy):
    """Scores with bootstrap intervals over the size of the test set; rows (score, low, high) -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    widths = []
    for ax, rows, name, marker in (
        (axes[0], rmse, "RMSE (score points)", "o"),
        (axes[1], accuracy, "accuracy", "s"),
    ):
        value, low, high = np.array(rows).T
        widths.append(high - low)
        ax.errorbar(sizes, value, [value - low, high - value], fmt=marker, color=BLUE, capsize=4)
        ax.set(xscale="log", xlabel="test rows M", ylabel=name)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()
        ax.set_title(
            f"{sizes[-1] // sizes[0]} × the rows: {widths[-1][0] / widths[-1][-1]:.1f} × as narrow"
        )
    return fig, (
        f"From {sizes[0]} to {sizes[-1]} test rows the 95 % interval of the RMSE shrinks from "
        f"{widths[0][0]:.0f} to {widths[0][-1]:.0f} score points, that of the accuracy from "
        f"{widths[1][0]:.2f} to {widths[1][-1]:.2f}: about one over the root of the number of rows."
    )


def coverage(interval: Callable, M: int, p) -> np.ndarray:
    """The chance that interval(right, M) holds p, exactly. p (m,) -> (m,)."""
    right = np.arange(M + 1)
    low, high = interval(right, M)
    p = np.asarray(p, float)[:, None]
    holds = (low <= p + 1e-12) & (p - 1e-12 <= high)
    return np.sum(holds * binom.pmf(right, M, p), axis=1)


def draw_coverage(intervals: dict[str, Callable], M: int):
    """Exact coverage of intervals for a share over the true share -> (fig, words)."""
    p = np.arange(0.5, 0.9951, 0.0025)
    fig, ax = plt.subplots(figsize=(7, 3.8))
    told = []
    for (name, interval), line, color in zip(
        intervals.items(), ("--", "-"), (VERMILION, BLUE), strict=True
    ):
        held = coverage(interval, M, p)
        ax.plot(p, held, line, color=color, label=name, linewidth=1.5)
        told.append(f"{name} between {held.min():.2f} and {held.max():.2f}")
    ax.axhline(0.95, color=BLACK, linestyle=":", linewidth=1.2, label="promised: 0.95")
    ax.set(
        xlabel="true accuracy p", ylabel="share of test sets whose interval holds p", ylim=(0.2, 1)
    )
    ax.set_title(f"{M} test cases: near p = 1 the textbook interval fails")
    ax.legend(loc="lower left")
    return fig, (
        f"Chance of an interval from {M} cases to hold the true accuracy, for p from 0.5 to 0.995: "
        f"{'; '.join(told)}; promised is 0.95."
    )


def draw_confusion(C, names: Sequence[str], what: str):
    """A confusion matrix, and precision and recall of every class -> (fig, words)."""
    C = np.asarray(C)
    fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), width_ratios=[1.25, 1])
    _draw_counts(left, C, names, names)
    off = C - np.diag(np.diag(C))
    a, b = np.unravel_index(off.argmax(), C.shape)
    left.set(xlabel=f"predicted {what}", ylabel=f"actual {what}")
    left.set_title(f"The commonest mistake: {names[a]} called {names[b]}")
    precision, recall = np.diag(C) / np.maximum(C.sum(0), 1), np.diag(C) / np.maximum(C.sum(1), 1)
    _draw_two_rates(right, precision, recall, names)
    right.set_title("What is called, what is found")
    low = int(np.argmin(precision))
    return fig, (
        f"{np.trace(C)} of {C.sum()} cases lie on the diagonal. The commonest mistake: {names[a]} called "
        f"{names[b]}, {C[a, b]} times; {names[b]} called {names[a]} {C[b, a]} times. Lowest precision: "
        f"{precision[low]:.2f} for {names[low]}; lowest recall: {recall.min():.2f} for "
        f"{names[int(recall.argmin())]}."
    )


def _draw_two_rates(ax, precision, recall, names):
    place = np.arange(len(names))
    ax.barh(place - 0.2, precision, 0.38, color=BLUE, label="precision")
    ax.barh(place + 0.2, recall, 0.38, color=ORANGE, hatch="//", edgecolor="white", label="recall")
    ax.set_yticks(place, names)
    ax.set(xlim=(0, 1), xlabel="share")
    ax.set_ylim(len(names) + 0.4, -0.6)  # room for the legend, first class on top
    ax.legend(loc="lower left", ncols=2)


def draw_text(
    C, names: Sequence[str], telling: Sequence[Sequence[str]], f1: float, interval, as_draws: float
):
    """Confusion matrix of a text classifier, and the most telling words of each class -> (fig, words).

    f1: its macro-F1. interval(right, M) -> low, high. as_draws: accuracy of the multinomial model.
    The words name no number and no word of the corpus: both depend on the Python version.
    """
    C = np.asarray(C)
    low, high = interval(np.trace(C), C.sum())
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), width_ratios=[1.5, 1])
    _draw_counts(left, C, names, names)
    left.tick_params(axis="x", labelrotation=30)
    left.set(xlabel="predicted page", ylabel="actual page")
    left.set_title(
        f"Accuracy {np.trace(C) / C.sum():.2f} ({low:.2f} to {high:.2f}), macro-F1 {f1:.2f}\n"
        f"multinomial instead: accuracy {as_draws:.2f}"
    )
    right.axis("off")
    right.set_title("Words that tell a page from the others")
    for place, (name, words) in enumerate(zip(names, telling, strict=True)):
        y = 1 - (place + 0.5) / len(names)
        right.text(0, y + 0.025, name, weight="bold", transform=right.transAxes, fontsize=10)
        right.text(0, y - 0.045, ", ".join(words), transform=right.transAxes, fontsize=10)
    return fig, (
        "Left: the confusion matrix of six manual pages; most passages lie on the diagonal. The title "
        "gives the accuracy with its 95 % interval, macro-F1, and the accuracy of the multinomial model. "
        "Right: for each page the four words whose chance most exceeds that on any other page."
    )

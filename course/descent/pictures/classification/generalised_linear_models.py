"""Generalised linear models: three tables that a straight line fails on, families, inverse links and the simplex.

Compute (pure): `cases`, `digits`, `nll`, `maximum_likelihood`, `hardmax`, `to_plane`.
Draw: `draw_…` functions return (fig, words); `…_explorer` return one.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from scipy import optimize, stats
from scipy.special import expit, logit, logsumexp, ndtr, ndtri, xlogy
from scipy.special import softmax as scipy_softmax

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes, light
from descent.words import say

# ---------------------------------------------------------------- data

# Deaths from AIDS in Australia in each quarter from 1983 to mid-1986: Whyte and others, Medical
# Journal of Australia (1987); an example of Dobson, An Introduction to Generalized Linear Models.
DEATHS = np.array([0, 1, 2, 3, 1, 4, 9, 18, 23, 31, 20, 25, 37, 45.0])
QUARTERS = np.arange(1, 15.0)

# The 23 space shuttle flights before Challenger whose boosters were recovered: joint temperature
# (°F) and whether an O-ring was damaged. Dalal, Fowlkes and Hoadley, JASA (1989).
TEMPERATURES = np.array(
    [66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58.0]
)
DAMAGE = np.array([0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1.0])
LAUNCH = 31.0  # °F, the morning of 28 January 1986
STROKE = 440  # of the unseen digits: a thick stroke, labelled 1


class Case(NamedTuple):
    """One table: x, y (n,), the range to draw, names, and the support of y (low, high)."""

    x: np.ndarray
    y: np.ndarray
    span: tuple[float, float]
    xlabel: str
    ylabel: str
    support: tuple[float, float]

    def scaled(self, x) -> np.ndarray:
        """A column of ones and x in standard deviations of the table -> (len(x), 2)."""
        return with_ones((np.asarray(x, float) - self.x.mean()) / self.x.std())


@lru_cache
def cases() -> dict[str, Case]:
    """The three tables of the explorer, by name."""
    patients = data.diabetes()
    bmi, score = patients.X[:80, 2], patients.y[:80]
    return {
        "O-rings (0 or 1)": Case(
            TEMPERATURES, DAMAGE, (LAUNCH, 83), "temperature (°F)", "damage: 1 or 0", (0, 1)
        ),
        "deaths (counts)": Case(
            QUARTERS, DEATHS, (0, 16), "quarter since 1983", "deaths", (0, np.inf)
        ),
        "diabetes (any number)": Case(
            bmi * np.sqrt(442), score - score.mean(), (-2.2, 3.2), "body mass index (standardised)",
            "score above the mean", (-np.inf, np.inf),
        ),
    }  # fmt: skip


def with_ones(*columns) -> np.ndarray:
    """A column of ones, then the given columns (n,) -> (n, 1 + number of columns)."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


@lru_cache
def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """1797 digits of 8 × 8 pixels, shuffled, with ones -> X (1200, 65), its labels, unseen X (597, 65), its labels."""
    table, order = data.digits(), np.random.default_rng(7).permutation(1797)
    X, labels = with_ones(*(table.X / 16).T)[order], table.y[order]
    return X[:1200], labels[:1200], X[1200:], labels[1200:]


def wine_rows() -> tuple[np.ndarray, np.ndarray]:
    """Alcohol and colour intensity of 178 wines, standardised -> X (178, 3) with ones, labels (178,)."""
    table = data.wine()
    raw = table.X[:, [table.names.index("alcohol"), table.names.index("color_intensity")]]
    return with_ones(*((raw - raw.mean(0)) / raw.std(0)).T), table.y


# ---------------------------------------------------------------- links and families


class Link(NamedTuple):
    """score(mu), its inverse mean(eta), and slope(eta), the derivative of the mean; on arrays."""

    score: Callable
    mean: Callable
    slope: Callable


LINKS = {
    "identity": Link(lambda mu: 1.0 * mu, lambda eta: 1.0 * eta, np.ones_like),
    "log": Link(np.log, np.exp, np.exp),
    "sqrt": Link(np.sqrt, np.square, lambda eta: 2 * eta),
    "logit": Link(logit, expit, lambda eta: expit(eta) * expit(-eta)),
    "probit": Link(ndtri, ndtr, lambda eta: np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi)),
    "cloglog": Link(
        lambda mu: np.log(-np.log1p(-mu)),
        lambda eta: -np.expm1(-np.exp(eta)),
        lambda eta: np.exp(eta - np.exp(eta)),
    ),
}
VARIANCES = {
    "gaussian": np.ones_like,
    "bernoulli": lambda mu: mu * (1 - mu),
    "poisson": lambda mu: 1.0 * mu,
}
REACH = {name: (0, 1) for name in ("logit", "probit", "cloglog")} | {
    "identity": (-np.inf, np.inf), "log": (0, np.inf), "sqrt": (0, np.inf),
}  # means that the inverse link can take  # fmt: skip


def nll(y, mu, family: str) -> float:
    """Negative log-likelihood, summed over rows, without terms that hold y alone (Gaussian: σ = 1).

    inf where the family has no such mean.
    """
    if family == "gaussian":
        return 0.5 * np.sum((y - mu) ** 2)
    if np.any(mu < 0) or (family == "bernoulli" and np.any(mu > 1)):
        return np.inf
    if family == "bernoulli":
        return -np.sum(xlogy(y, mu) + xlogy(1 - y, 1 - mu))
    return np.sum(mu - xlogy(y, mu))


def deviance(y, mu, family: str) -> float:
    """Twice the log-likelihood that the means mu lack against the means y."""
    return 2 * (nll(y, mu, family) - nll(y, y, family))


def has_support(y, family: str) -> bool:
    """Whether all of y could be drawn from the family."""
    if family == "gaussian":
        return True
    whole = np.all((y >= 0) & (y == np.round(y)))
    return bool(whole and (family == "poisson" or y.max() <= 1))


@lru_cache
def fitted(name: str, family: str, link: str) -> np.ndarray:
    """Maximum-likelihood weights of one table on its scaled x, by a minimiser that knows no derivative -> (2,)."""
    case, function = cases()[name], LINKS[link]
    X, high = case.scaled(case.x), 0.95 if REACH[link][1] == 1 else np.inf
    low = -np.inf if link == "identity" else 0.05 * np.abs(case.y).max()

    def loss(w):
        with np.errstate(over="ignore"):
            return nll(case.y, function.mean(X @ w), family)

    start = [function.score(np.clip(case.y.mean(), low, high)), 0.0]
    options = dict(xatol=1e-6, fatol=1e-9, maxiter=600)
    return optimize.minimize(loss, start, method="Nelder-Mead", options=options).x


def rings(link: str) -> tuple[np.ndarray, np.ndarray]:
    """Fitted probabilities of damage of the 23 flights, and weights on the scaled temperature."""
    case, w = cases()["O-rings (0 or 1)"], fitted("O-rings (0 or 1)", "bernoulli", link)
    return LINKS[link].mean(case.scaled(case.x) @ w), w


def joint_gap() -> float:
    """How far two petal measurements' weights, fitted with the covariance of their errors, are from least squares'.

    150 irises; the features are both sepal measurements.
    """
    flowers = data.iris().X
    X, Y = with_ones(*flowers[:, :2].T), flowers[:, 2:]
    W = np.linalg.lstsq(X, Y, rcond=None)[0]
    P = np.linalg.inv(np.cov((Y - X @ W).T))
    together = np.linalg.solve(np.kron(P, X.T @ X), (X.T @ Y @ P).ravel(order="F"))
    return float(np.abs(together.reshape(W.shape, order="F") - W).max())


# ---------------------------------------------------------------- the puzzle, and its answer


def _points(ax, case: Case):
    """A table's points, its axes and the edges of its support."""
    for edge in case.support:
        if np.isfinite(edge):
            ax.axhline(edge, color=BLACK, linewidth=0.8)
    ax.plot(case.x, case.y, "o", color=BLACK, markersize=5, alpha=0.6)
    ax.set(xlabel=case.xlabel, ylabel=case.ylabel)


def _digit(ax, title: str):
    ax.imshow(digits()[2][STROKE, 1:].reshape(8, 8), cmap="gray_r")
    ax.set(title=title, xlabel="pixel column", ylabel="pixel row", xticks=[0, 7], yticks=[0, 7])
    ax.grid(False)


def draw_impossible():
    """What least squares says of three tables, where nobody can believe it -> (fig, words)."""
    fig, axes = plt.subplots(1, 3, figsize=(7.5, 2.9))
    told = []
    for ax, case in zip(axes[:2], cases().values(), strict=False):
        at = np.linspace(*case.span, 60)
        line = case.scaled(at) @ np.linalg.lstsq(case.scaled(case.x), case.y, rcond=None)[0]
        _points(ax, case)
        ax.plot(at, line, "--", color=VERMILION)
        ax.plot(at[0], line[0], "s", color=VERMILION, markersize=8)
        told.append(line[0])
    axes[0].set_title(f"Probability {told[0]:.2f}")
    axes[1].set_title(f"{told[1]:.1f} deaths".replace("-", "−"))
    X, labels, new, _ = digits()
    told.append(new[STROKE] @ np.linalg.lstsq(X, labels, rcond=None)[0])
    _digit(axes[2], f"Digit {told[2]:.1f}")
    return fig, say(
        "Least squares on three tables. O-ring damage at 31 °F: {damage:.2f}. Deaths in quarter 0: {deaths:.1f}. "
        "A thick upright stroke, a 1 or perhaps an 8, is read as the digit {digit:.1f}.",
        damage=told[0], deaths=told[1], digit=told[2],
    )  # fmt: skip


def draw_answers(rings, deaths, digit):
    """The same three questions, answered by models with the right inverse link -> (fig, words).

    rings (60, 3): mean, and the ends of its 95 % interval; deaths (60,): mean; digit (10,): probabilities.
    """
    fig, axes = plt.subplots(1, 3, figsize=(7.5, 2.9))
    for ax, case, mean in zip(axes[:2], cases().values(), (rings[:, 0], deaths), strict=False):
        at = np.linspace(*case.span, 60)
        _points(ax, case)
        ax.plot(at, mean, color=BLUE)
        ax.plot(at[0], mean[0], "s", color=BLUE, markersize=8)
    span = np.linspace(*cases()["O-rings (0 or 1)"].span, 60)
    axes[0].fill_between(
        span, rings[:, 1], rings[:, 2], color=SKY, alpha=0.35, linewidth=0, label="95 % intervals"
    )
    axes[0].legend(loc="lower left", fontsize=8, handlelength=1.2, bbox_to_anchor=(0, 0.04))
    axes[0].set_title("Damage is likely")
    axes[1].set_title(f"{deaths[0]:.1f} deaths")
    axes[2].bar(range(10), digit, color=BLUE)
    axes[2].set(xlabel="digit", ylabel="probability", xticks=range(10), ylim=(0, 1))
    first, second = np.argsort(-np.asarray(digit))[:2]
    axes[2].set_title(f"The stroke: {first} or {second}")
    return fig, say(
        "The three questions again. Damage at 31 °F: probability {damage:.4f}, 95 % interval {low:.2f} to {high:.2f}. "
        "Deaths in quarter 0: {deaths:.1f}. The stroke: {first} with {p:.2f}, {second} with {q:.2f}.",
        damage=rings[0, 0], low=rings[0, 1], high=rings[0, 2], deaths=deaths[0], first=int(first), p=digit[first],
        second=int(second), q=digit[second],
    )  # fmt: skip


# ---------------------------------------------------------------- which knob does what


def draw_fit(table: str, family: str, link: str):
    """One table, any family, any inverse link, fitted by maximum likelihood -> (fig, words)."""
    case = cases()[table]
    fig, ax = fixed_axes(1, (7.5, 4), (0.1, 0.98, 0.14, 0.91))
    pad = 0.3 * np.ptp(case.y)
    low, high = case.y.min() - pad, case.y.max() + pad
    ax.set(xlim=case.span, ylim=(low, high), xlabel=case.xlabel, ylabel=case.ylabel)
    for edge, other in zip(case.support, (low, high), strict=True):
        if np.isfinite(edge):
            ax.axhspan(edge, other, color=PINK, alpha=0.15, linewidth=0, hatch="//")
    ax.plot(case.x, case.y, "o", color=BLACK, markersize=4, alpha=0.7, label="data")
    asked = say(
        "{family}, {link} link, {table}: ", family=family.capitalize(), link=link, table=table
    )
    if not has_support(case.y, family):
        ax.set_title(f"{family.capitalize()} cannot draw these data")
        return fig, asked + say("no fit. Some targets are outside the support of the family.")
    w, at = fitted(table, family, link), np.linspace(*case.span, 161)
    with np.errstate(over="ignore"):
        mean, own = (LINKS[link].mean(case.scaled(x) @ w) for x in (at, case.x))
    outside = (mean < case.support[0]) | (mean > case.support[1])
    if family != "bernoulli":
        below, above = _band(family, mean, case.y - own)
        ax.fill_between(
            at, below, above, color=SKY, alpha=0.35, linewidth=0, label="90 % of new rows"
        )
    ax.plot(at, np.where(outside, np.nan, mean), color=BLUE, label="mean")
    if outside.any():
        ax.plot(
            at,
            np.where(outside, mean, np.nan),
            ":",
            color=VERMILION,
            linewidth=3.5,
            label="impossible mean",
        )
    ax.legend(fontsize=9, loc="lower left" if table.startswith("O-rings") else "upper left")
    reach = REACH[link]
    if reach[0] > case.support[0] or reach[1] < case.support[1]:
        verdict = f"The {link} link reaches only " + (
            "0 to 1" if reach[1] == 1 else "means above 0"
        )
    else:
        verdict = "Some means are impossible" if outside.any() else "Every mean is possible"
    ax.set_title(verdict)
    return fig, asked + say(
        "the mean is {left:.3g} at {start:g} and {right:.3g} at {end:g}, impossible on {share:.0f} % of the axis. "
        "{verdict}.", left=mean[0], start=case.span[0], right=mean[-1], end=case.span[1],
        share=100 * outside.mean(), verdict=verdict,
    )  # fmt: skip


def _band(family: str, mean, errors) -> tuple[np.ndarray, np.ndarray]:
    """Where 90 % of new rows fall: around the mean by the spread of the errors, or by Poisson's."""
    if family == "gaussian":
        half = 1.645 * np.sqrt(np.sum(errors**2) / (len(errors) - 2))
        return mean - half, mean + half
    spread = np.clip(mean, 0, 1e6)
    low, high = stats.poisson.ppf([[0.05], [0.95]], spread)
    return np.maximum(low, 0), high


# ---------------------------------------------------------------- powers


def degree_explorer(step: Callable) -> Callable:
    """-> draw(degree): a Poisson mean, exp of a polynomial, on the deaths, and its design matrix.

    step(X, y, w, mean, slope, variance) -> w: one step of Fisher scoring.
    """
    at = np.linspace(1, 14, 131)

    def powers(quarter, degree):  # of time scaled to -1 … 1, so that they stay in bounds
        return ((np.asarray(quarter) - 7.5) / 6.5)[:, None] ** np.arange(degree + 1)

    def draw(degree: int):
        X, w = powers(QUARTERS, degree), np.zeros(degree + 1)
        w[0] = np.log(DEATHS.mean())
        for _ in range(30):
            w = np.asarray(step(X, DEATHS, w, np.exp, np.exp, VARIANCES["poisson"]))
        mean, lack = np.exp(powers(at, degree) @ w), deviance(DEATHS, np.exp(X @ w), "poisson")
        fig, (left, right) = fixed_axes(
            2, (9, 3.8), (0.07, 0.97, 0.15, 0.9), wspace=0.22, width_ratios=(1.7, 1)
        )
        left.plot(QUARTERS, DEATHS, "o", color=BLACK, label="deaths")
        left.plot(at, mean, color=BLUE, label="mean")
        left.set(xlabel="quarter since 1983", ylabel="deaths", ylim=(-2, 60))
        left.set_title(f"Degree {degree}: deviance {lack:.1f}")
        left.legend(loc="upper left")
        right.imshow(X, aspect="auto", cmap="cividis", vmin=-1, vmax=1)
        right.set(xticks=range(degree + 1), yticks=[0, 13], yticklabels=["1", "14"])
        right.set(xlabel="column k: power of scaled time", ylabel="quarter", title="Design matrix")
        right.grid(False)
        return fig, say(
            "Degree {degree}: deviance {lack:.1f} on {free} degrees of freedom; the condition number of the design "
            "matrix is {condition:.3g}. Its first column is all 1; in each other the colours go from ±1 to 1.",
            degree=degree, lack=lack, free=13 - degree, condition=np.linalg.cond(X),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- the simplex

CORNERS = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
COLORS, HATCHES, MARKERS = (BLUE, ORANGE, GREEN), ("", "//", ".."), "os^"


def to_plane(P) -> np.ndarray:
    """Points of the probability simplex (…, 3) in the plane, corner k at CORNERS[k] -> (…, 2)."""
    return np.asarray(P) @ CORNERS


def hardmax(z) -> np.ndarray:
    """1 for a score above all others, else 0: all zeros where the top is shared. (K,) -> (K,)"""
    z = np.asarray(z, float)
    top = z == z.max()
    return top.astype(float) * (top.sum() == 1)


def soft(z, T) -> np.ndarray:
    """SciPy's softmax of z / T. (…, K) -> the same."""
    return scipy_softmax(np.asarray(z, float) / T, axis=-1)


def draw_triangle(ax):
    """The simplex of three classes on ax: its corners, and the kite in which each class wins."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        kite = [
            CORNERS[k],
            (CORNERS[k] + CORNERS[i]) / 2,
            CORNERS.mean(0),
            (CORNERS[k] + CORNERS[j]) / 2,
        ]
        ax.fill(*np.transpose(kite), color=COLORS[k], alpha=0.15, linewidth=0)
        ax.annotate(f"class {k}", CORNERS[k], ha="center", va="bottom" if k == 2 else "top",
                    xytext=(0, 3 if k == 2 else -3), textcoords="offset points")  # fmt: skip
    ax.plot(*np.transpose(CORNERS[[0, 1, 2, 0]]), color=BLACK, linewidth=1)
    ax.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.12, 1.0))
    ax.axis("off")


def simplex_explorer(soft: Callable) -> Callable:
    """-> draw(z0, z1, z2, T): three scores in the plane of two of them, as bars, and as a point of the simplex.

    soft(Z, T): scores (n, 3) -> probabilities (n, 3).
    """

    def draw(z0: float, z1: float, z2: float, T: float):
        z = np.array([z0, z1, z2])
        p, hard = np.asarray(soft(z[None], T))[0], hardmax(z)
        fig, (left, middle, right) = fixed_axes(
            3, (7.5, 2.9), (0.075, 0.985, 0.18, 0.88), wspace=0.3
        )
        corner = [-4, z0, z0, -4], [-4, -4, z0, z0]
        left.fill([z0, 4, 4, z0], [-4, -4, 4, z0], color=COLORS[1], alpha=0.2, linewidth=0)
        left.fill([-4, z0, 4, -4], [z0, z0, 4, 4], color=COLORS[2], alpha=0.2, linewidth=0)
        left.fill(*corner, color=COLORS[0], alpha=0.2, linewidth=0)
        left.plot(z1, z2, "o", color=VERMILION, mec="white", markersize=10)
        left.set(xlim=(-4, 4), ylim=(-4, 4), xlabel="score of class 1", ylabel="score of class 2")
        light(left, "Drag the scores", [-4, 0, 4], [-4, 0, 4], fontsize=11)
        left.grid(False)
        left.set_gid("scores")
        bars = middle.bar(range(3), p, color=COLORS, alpha=0.75, edgecolor="white")
        for bar, hatch in zip(bars, HATCHES, strict=True):
            bar.set_hatch(hatch)
        middle.bar(range(3), hard, fill=False, edgecolor=BLACK, linestyle="--", width=0.9)
        middle.text(2.6, 1.12, "dashed: hardmax", ha="right", fontsize=8)
        middle.set(xlim=(-0.7, 2.7), ylim=(0, 1.2), ylabel="probability", xlabel="class")
        light(middle, f"Softmax, T = {T:.2g}", [0, 1, 2], [0, 0.5, 1], fontsize=11)
        draw_triangle(right)
        path = to_plane(soft(z, np.logspace(-2, 2, 81)[:, None]))
        right.plot(*path.T, color=BLACK, linewidth=1, linestyle=":")
        right.plot(*to_plane(p), "o", color=VERMILION, markersize=9)
        right.plot(*CORNERS.mean(0), "+", color=BLACK, markersize=9)
        right.set_ylim(-0.3, 1)
        # a legend would cost drafts
        right.text(0.5, -0.3, "dotted: all T;  +  T → ∞", ha="center", fontsize=8)
        right.set_title("Kites: who wins", y=1.02, fontsize=11)
        return fig, say(
            "Scores {z[0]:.1f}, {z[1]:.1f}, {z[2]:.1f} at temperature {T:.3g}: probabilities {p[0]:.3f}, {p[1]:.3f}, "
            "{p[2]:.3f}; hardmax {hard[0]:.0f}, {hard[1]:.0f}, {hard[2]:.0f}. The largest score is {top:.1f}, the soft "
            "maximum T log Σ exp(z/T) is {soft:.2f}.",
            z=z.tolist(), T=T, p=p.tolist(), hard=hard.tolist(), top=z.max(), soft=T * logsumexp(z / T),
        )  # fmt: skip

    return draw


def draw_wines(means: Callable, start):
    """The plane of the wines, coloured by three probabilities, and an empty simplex -> (fig, axes of it, words).

    means: rows with ones (n, 3) -> probabilities (n, 3). start (178, 2): where the wines stand before training.
    """
    X, labels = wine_rows()
    low, high = X[:, 1:].min(0) - 0.4, X[:, 1:].max(0) + 0.4
    x, y = (np.linspace(low[i], high[i], 120) for i in range(2))
    P = np.asarray(means(with_ones(*(a.ravel() for a in np.meshgrid(x, y)))))
    tints = np.array([to_rgb(color) for color in COLORS])
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    left.imshow(
        1 - 0.65 * (P @ (1 - tints)).reshape(120, 120, 3), origin="lower", aspect="auto",
        extent=(*x[[0, -1]], *y[[0, -1]]), interpolation="bilinear",
    )  # fmt: skip
    for k in range(3):
        lead = P[:, k] - np.delete(P, k, 1).max(1)  # a border is where it vanishes
        left.contour(x, y, lead.reshape(120, 120), levels=[0], colors=BLACK, linewidths=1)
        left.plot(*X[labels == k, 1:].T, MARKERS[k], color=COLORS[k], markersize=4,
                  markeredgecolor=BLACK, markeredgewidth=0.4, label=f"cultivar {k}")  # fmt: skip
    left.set(xlabel="alcohol (standardised)", ylabel="colour intensity (standardised)")
    left.set_title("Probabilities after training")
    left.legend(fontsize=9, loc="upper left")
    left.grid(False)
    draw_triangle(right)
    right.plot(*start.T, ".", color=BLACK, markersize=2)
    right.set_title("178 wines")
    p = np.asarray(means(X))
    right_share, sure = np.mean(p.argmax(1) == labels), p.max(1).mean()
    return fig, right, say(
        "Left: three regions with straight borders. Right: 178 wines leave the centre of the simplex for their "
        "corners. At the end {share:.2f} of them are in the right region; the mean largest probability is {sure:.2f}.",
        share=right_share, sure=sure,
    )  # fmt: skip

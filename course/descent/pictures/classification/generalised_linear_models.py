"""Generalised linear models: families, inverse links, two historical data sets, and the pictures."""

from collections.abc import Callable
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from scipy import optimize, stats
from scipy.special import expit, logit, logsumexp, ndtr, ndtri, xlogy
from scipy.special import softmax as scipy_softmax

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

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


class Case(NamedTuple):
    """One data set: x, y (n,), the range to draw, names, and the support of y (low, high)."""

    x: np.ndarray
    y: np.ndarray
    span: tuple[float, float]
    xlabel: str
    ylabel: str
    support: tuple[float, float]


def cases() -> dict[str, Case]:
    """The three data sets of the explorer, by name."""
    patients = data.diabetes()
    bmi, score = patients.X[:80, 2], patients.y[:80]
    return {
        "deaths (counts)": Case(
            QUARTERS, DEATHS, (0, 16), "quarter since 1983", "deaths", (0, np.inf)
        ),
        "O-rings (0 or 1)": Case(
            TEMPERATURES, DAMAGE, (LAUNCH, 83), "temperature (°F)", "damage (1) or none (0)", (0, 1)
        ),
        "diabetes (any number)": Case(
            bmi * np.sqrt(442), score - score.mean(), (-2.2, 3.2), "body mass index (standardised)",
            "score above the mean", (-np.inf, np.inf),
        ),
    }  # fmt: skip


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
CANONICAL = {"gaussian": "identity", "bernoulli": "logit", "poisson": "log"}


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


def fit(step: Callable, X, y, family: str, link: str, max_steps: int = 60) -> np.ndarray:
    """Weights that maximise the likelihood, by repeating a step of Fisher scoring -> (d,).

    step(X, y, w, mean, slope, variance) -> w. X (n, d) begins with a column of ones: the start is
    the constant mean. A step that lowers the likelihood is halved until it does not.
    """
    function, spread = LINKS[link], VARIANCES[family]
    low = 0.05 * np.abs(y).max()
    high = 0.95 if link in ("logit", "probit", "cloglog") else np.inf
    w = np.zeros(X.shape[1])
    w[0] = function.score(np.array(np.clip(y.mean(), None if link == "identity" else low, high)))
    loss = nll(y, function.mean(X @ w), family)
    for _ in range(max_steps):
        with np.errstate(all="ignore"):
            try:
                target = np.asarray(step(X, y, w, function.mean, function.slope, spread), float)
            except np.linalg.LinAlgError:  # the slope died out: nowhere to go
                return w
            if not np.all(np.isfinite(target)):
                return w
            for halvings in range(12):
                trial = w + 0.5**halvings * (target - w)
                new = nll(y, function.mean(X @ trial), family)
                if new <= loss + 1e-12 * (1 + abs(loss)):
                    break
            else:
                return w
        moved = np.abs(trial - w).max()
        w, loss = trial, new
        if moved < 1e-9:
            return w
    return w


def maximum_likelihood(X, y, family: str, link: str) -> np.ndarray:
    """The same weights by a general minimiser that knows no derivative -> (d,)."""

    def loss(w):
        return nll(y, LINKS[link].mean(X @ w), family)

    start = np.zeros(X.shape[1])
    start[0] = LINKS[link].score(y.mean())
    return optimize.minimize(loss, start, method="Nelder-Mead", options=dict(xatol=1e-7)).x


def with_ones(*columns) -> np.ndarray:
    """A column of ones, then the given columns (n,) -> (n, 1 + number of columns)."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


# ---------------------------------------------------------------- why it matters


def draw_why():
    """A straight line and the right family on the O-rings and on the deaths -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
    worst = []
    for ax, case, family in (
        (left, cases()["O-rings (0 or 1)"], "bernoulli"),
        (right, cases()["deaths (counts)"], "poisson"),
    ):
        centre, scale = case.x.mean(), case.x.std()
        X, at = with_ones((case.x - centre) / scale), np.linspace(*case.span, 120)
        grid = with_ones((at - centre) / scale)
        line = grid @ np.linalg.lstsq(X, case.y, rcond=None)[0]
        link = CANONICAL[family]
        curve = LINKS[link].mean(grid @ maximum_likelihood(X, case.y, family, link))
        for edge in case.support:
            if np.isfinite(edge):
                ax.axhline(edge, color=BLACK, linewidth=0.8)
        ax.plot(at, line, "--", color=VERMILION, label="straight line, least squares")
        ax.plot(at, curve, color=BLUE, label=f"{family.capitalize()}, {link} link")
        ax.plot(case.x, case.y, "o", color=BLACK, alpha=0.6, label="data")
        ax.set(xlabel=case.xlabel, ylabel=case.ylabel)
        ax.legend(fontsize=9)
        worst.append(line[0])
    right.set_xticks(range(0, 17, 2))
    left.set_title(f"A “probability” of {worst[0]:.2f} at 31 °F")
    right.set_title(f"{worst[1]:.1f} deaths in quarter 0".replace("-", "−"))
    return fig, (
        f"Left: O-ring damage against temperature; the straight line says {worst[0]:.2f} at 31 °F, "
        f"a logistic curve stays between 0 and 1. Right: deaths a quarter; the straight line says "
        f"{worst[1]:.1f} at quarter 0, the exponential curve stays above 0."
    )


# ---------------------------------------------------------------- link and family


def family_link_explorer(step: Callable) -> Callable:
    """-> draw(dataset, family, link): one data set, any family, any inverse link, fitted by `step`."""
    known = cases()

    def draw(dataset: str, family: str, link: str):
        case = known[dataset]
        fig, ax = fixed_axes(1, (7.5, 4), (0.1, 0.98, 0.14, 0.91))
        low, high = _limits(case)
        ax.set(xlim=case.span, ylim=(low, high), xlabel=case.xlabel, ylabel=case.ylabel)
        _shade_outside(ax, case, low, high)
        if not has_support(case.y, family):
            ax.plot(case.x, case.y, "o", color=BLACK, markersize=4)
            ax.set_title(f"{family.capitalize()} cannot draw these data")
            return fig, (
                f"{family.capitalize()}, {link} link on {dataset}: no fit. Some targets are outside "
                "the support of the family, so that every mean gives them likelihood 0."
            )
        at = np.linspace(*case.span, 161)
        centre, scale = case.x.mean(), case.x.std()
        w = fit(step, with_ones((case.x - centre) / scale), case.y, family, link)
        with np.errstate(over="ignore"):
            fitted = LINKS[link].mean(with_ones((case.x - centre) / scale) @ w)
            mean = LINKS[link].mean(with_ones((at - centre) / scale) @ w)
        outside = (mean < case.support[0]) | (mean > case.support[1])
        band, held = _band(case, family, fitted, mean)
        if band is not None:
            ax.fill_between(
                at, *band, color=SKY, alpha=0.35, linewidth=0, label="about 90 % of new rows"
            )
        ax.plot(at, np.where(outside, np.nan, mean), color=BLUE, label="mean")
        if outside.any():
            ax.plot(at, np.where(outside, mean, np.nan), ":", color=VERMILION, linewidth=3.5,
                    label="impossible mean")  # fmt: skip
        ax.plot(case.x, case.y, "o", color=BLACK, markersize=4, alpha=0.7, label="data")
        ax.legend(fontsize=9, loc="best")
        share, reach = 100 * outside.mean(), REACH[link]
        narrow = reach[0] > case.support[0] or reach[1] < case.support[1]
        if narrow:
            span = "0 to 1" if reach[1] == 1 else "means above 0"
            verdict = f"The {link} link reaches only {span}"
        elif outside.any():
            verdict = f"Impossible means on {share:.0f} % of the axis"
        else:
            verdict = "Every mean is possible"
        ax.set_title(verdict)
        ends = f"{_number(mean[0])} at {case.span[0]:g}, {_number(mean[-1])} at {case.span[1]:g}"
        return fig, (
            f"{family.capitalize()}, {link} link on {dataset}: mean {ends}; "
            f"impossible on {share:.0f} % of the axis.{' ' + verdict + '.' if narrow else ''}{held}"
        )

    return draw


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.1e}"


def _limits(case):
    pad = 0.3 * np.ptp(case.y)
    return case.y.min() - pad, case.y.max() + pad


def _shade_outside(ax, case, low, high):
    style = dict(color=PINK, alpha=0.15, linewidth=0, hatch="//")
    if np.isfinite(case.support[0]):
        ax.axhspan(low, case.support[0], **style)
        ax.annotate("impossible", (0.99, 0.02), xycoords="axes fraction", fontsize=9, ha="right")
    if np.isfinite(case.support[1]):
        ax.axhspan(case.support[1], high, **style)


def _band(case, family, fitted, mean):
    """Where 90 % of new rows fall, (low, high) along `mean`, and a sentence on the rows it holds."""
    if family == "bernoulli":
        return None, ""
    if family == "gaussian":
        half = 1.645 * np.sqrt(np.sum((case.y - fitted) ** 2) / (len(case.y) - 2))
        band = mean - half, mean + half
        inside = np.abs(case.y - fitted) <= half
    else:
        with np.errstate(invalid="ignore"):
            quantile = lambda q, m: stats.poisson.ppf(q, np.clip(m, 0, 1e6))  # noqa: E731
            band = np.maximum(quantile(0.05, mean), 0), quantile(0.95, mean)
            inside = (quantile(0.05, fitted) <= case.y) & (case.y <= quantile(0.95, fitted))
    widths = np.diff(np.interp([case.x.min(), case.x.max()], np.linspace(*case.span, len(mean)), band[1] - band[0]))  # noqa: E501  # fmt: skip
    kind = "of one width" if abs(widths[0]) < 1e-6 else "wider where the mean is larger"
    return band, (
        f" The band for about 90 % of new rows is {kind}, starts at {_number(band[0].min())}, "
        f"and holds {inside.sum()} of the {len(case.y)} rows."
    )


# ---------------------------------------------------------------- features


def scaled_quarters(quarter):
    """Quarters 1 … 14 mapped to -1 … 1, so that powers stay in bounds."""
    return (np.asarray(quarter, float) - 7.5) / 6.5


def degree_explorer(powers: Callable, step: Callable) -> Callable:
    """-> draw(degree, family): a polynomial score on the deaths, and its design matrix."""

    def draw(degree: int, family: str):
        link = CANONICAL[family]
        X, at = powers(scaled_quarters(QUARTERS), degree), np.linspace(1, 14, 131)
        w = fit(step, np.asarray(X, float), DEATHS, family, link)
        mean = LINKS[link].mean(powers(scaled_quarters(at), degree) @ w)
        left_over = deviance(DEATHS, LINKS[link].mean(X @ w), family)
        condition = np.linalg.cond(X)
        fig, (left, right) = fixed_axes(
            2, (9, 3.8), (0.07, 0.93, 0.14, 0.9), wspace=0.22, width_ratios=(1.7, 1)
        )
        left.axhspan(-15, 0, color=PINK, alpha=0.15, linewidth=0, hatch="//")
        left.plot(QUARTERS, DEATHS, "o", color=BLACK, label="deaths")
        left.plot(at, mean, color=BLUE, label=f"{family.capitalize()}, {link} link")
        left.set(xlabel="quarter since 1983", ylabel="deaths", ylim=(-8, 60))
        left.set_title(f"Degree {degree}: deviance {left_over:.1f}")
        left.legend(loc="upper left")
        image = right.imshow(X, aspect="auto", cmap="cividis", vmin=-1, vmax=1)
        right.set(xticks=range(degree + 1), yticks=[0, 13], yticklabels=["1", "14"])
        right.set(xlabel="column k: power of scaled x", ylabel="quarter")
        right.set_title("Design matrix")
        right.grid(False)
        fig.colorbar(image, ax=right, label="entry")
        return fig, (
            f"Degree {degree}, {family} family, {link} link: {degree + 1} column{'s' * (degree > 0)}, deviance "
            f"{left_over:.1f} on {14 - degree - 1} degrees of freedom, lowest mean {mean.min():.1f}. "
            f"Condition number of the design matrix: {condition:.3g}."
        )

    return draw


def draw_two_features(fits: dict):
    """Poisson fits of the deaths on two features -> (fig, words). fits: {name: (means (m,), deviance)}."""
    at = np.linspace(1, 14, 131)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for (name, (mean, lack)), style, color in zip(
        fits.items(), ("--", "-"), (VERMILION, BLUE), strict=True
    ):
        label = f"log mean linear in {name}: deviance {lack:.1f}"
        left.plot(at, mean, style, color=color, label=label)
        right.plot(at, mean, style, color=color)
    left.plot(QUARTERS, DEATHS, "o", color=BLACK)
    right.plot(QUARTERS[DEATHS > 0], DEATHS[DEATHS > 0], "o", color=BLACK)
    left.set(
        xlabel="quarter since 1983", ylabel="deaths", title="The feature matters, not only the link"
    )
    left.legend(fontsize=8, loc="upper left")
    left.set_ylim(-2, 68)
    right.set(xscale="log", yscale="log", xlabel="quarter (log axis)", ylabel="deaths (log axis)")
    right.set_xticks([1, 2, 4, 8, 14], ["1", "2", "4", "8", "14"])
    right.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
    right.minorticks_off()
    right.set_title("A power of time is a line here")
    told = "; ".join(f"{name}: deviance {lack:.1f}" for name, (_, lack) in fits.items())
    return fig, (
        f"Poisson regressions of the deaths with the log link. {told}. On log axes the fit on log t "
        "is a straight line through the counts, and the fit on t curves away (the count 0 is not shown)."
    )  # fmt: skip


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
    """-> draw(z0, z1, z2, log_T): three scores as bars and as a point of the simplex."""

    def draw(z0: float, z1: float, z2: float, log_T: float):
        z, T = np.array([z0, z1, z2]), 10.0**log_T
        p, hard = np.asarray(soft(z[None], T))[0], hardmax(z)
        top, soft_top = z.max(), T * logsumexp(z / T)
        fig, (left, right) = fixed_axes(2, (9, 3.8), (0.07, 0.99, 0.13, 0.9), wspace=0.1)
        bars = left.bar(range(3), p, color=COLORS, alpha=0.75, edgecolor="white")
        for bar, hatch in zip(bars, HATCHES, strict=True):
            bar.set_hatch(hatch)
        left.bar(range(3), hard, fill=False, edgecolor=BLACK, linestyle="--", linewidth=1.3,
                 width=0.9, label="hardmax")  # fmt: skip
        left.set(ylim=(0, 1.2), ylabel="probability", xticks=range(3))
        left.set_xticklabels([f"class {k}\nscore {s:.1f}" for k, s in enumerate(z)])
        left.set_title(f"Softmax at temperature {T:.2g}")
        left.legend(loc="upper right")
        draw_triangle(right)
        path = to_plane(scipy_softmax(z / np.logspace(-2, 2, 161)[:, None], axis=1))
        right.plot(*path.T, color=BLACK, linewidth=1, linestyle=":", label="all temperatures")
        right.plot(*to_plane(p), "o", color=VERMILION, markersize=9, label="now")
        right.plot(*CORNERS.mean(0), "+", color=BLACK, markersize=9, label="T → ∞")
        right.legend(loc="upper left", fontsize=9, bbox_to_anchor=(-0.16, 1.0))
        right.set_title("Kites: where each class is the argmax")
        told = ", ".join(f"{value:.3f}" for value in p)
        return fig, (
            f"At temperature {T:.3g} the probabilities are {told}; hardmax gives "
            f"{', '.join(f'{h:.0f}' for h in hard)}. The largest score is {top:.2f}, "
            f"its soft version T log Σ exp(z/T) is {soft_top:.2f}."
        )

    return draw


# ---------------------------------------------------------------- three classes in the plane


def wine_rows():
    """Alcohol and colour intensity of 178 wines, standardised -> X (178, 3) with ones, labels (178,)."""
    table = data.wine()
    raw = table.X[:, [table.names.index("alcohol"), table.names.index("color_intensity")]]
    return with_ones(*((raw - raw.mean(0)) / raw.std(0)).T), table.y


def temperature_explorer(soft: Callable, W, X, labels) -> Callable:
    """-> draw(log_T): softmax regression of three classes at a temperature, regions and simplex.

    W (3, 3) weights fitted at T = 1, X (n, 3) with ones, labels (n,).
    """
    low, high = X[:, 1:].min(0) - 0.4, X[:, 1:].max(0) + 0.4
    x, y = (np.linspace(low[i], high[i], 90) for i in range(2))
    plane = with_ones(*(a.ravel() for a in np.meshgrid(x, y)))
    rows = np.arange(len(labels))

    def loss_at(T):
        scores = X @ W / T
        top = scores.max(1)
        return np.mean(np.log(np.exp(scores - top[:, None]).sum(1)) + top - scores[rows, labels])

    temperatures = 10.0 ** np.linspace(-1, 1, 201)
    best = temperatures[np.argmin([loss_at(T) for T in temperatures])]

    def draw(log_T: float):
        T = 10.0**log_T
        P = np.asarray(soft(plane @ W, T))
        seen = np.asarray(soft(X @ W, T))
        right_share = np.mean(seen.argmax(1) == labels)
        fig, (left, right) = fixed_axes(2, (9, 4), (0.07, 0.99, 0.14, 0.9), wspace=0.08)
        tints = np.array([to_rgb(color) for color in COLORS])
        mixed = 1 - 0.65 * (P @ (1 - tints)).reshape(90, 90, 3)
        left.imshow(mixed, origin="lower", extent=(*x[[0, -1]], *y[[0, -1]]), aspect="auto",
                    interpolation="bilinear")  # fmt: skip
        ranked = np.sort(P, axis=1)  # a border is where the lead of the winner vanishes
        for k in range(3):
            lead = np.where(
                P[:, k] == ranked[:, 2], ranked[:, 2] - ranked[:, 1], P[:, k] - ranked[:, 2]
            )
            left.contour(x, y, lead.reshape(90, 90), levels=[0], colors=BLACK, linewidths=1)
        draw_triangle(right)
        for k in range(3):
            chosen = labels == k
            style = dict(color=COLORS[k], markersize=4, markeredgecolor=BLACK, markeredgewidth=0.4)
            left.plot(*X[chosen, 1:].T, MARKERS[k], label=f"cultivar {k}", **style)
            right.plot(*to_plane(seen[chosen]).T, MARKERS[k], **style)
        left.set(xlabel="alcohol (standardised)", ylabel="colour intensity (standardised)")
        left.set_title(f"Probabilities at T = {T:.2g}")
        left.legend(fontsize=9, loc="upper left")
        left.grid(False)
        right.set_title(f"Cross-entropy {loss_at(T):.3f}")
        return fig, (
            f"At temperature {T:.3g} the mean largest probability is {seen.max(1).mean():.2f}, the "
            f"share of right rows {right_share:.3f}, the cross-entropy {loss_at(T):.3f}. "
            f"Over all temperatures the cross-entropy is lowest, {loss_at(best):.3f}, at {best:.2f}."
        )

    return draw


# ---------------------------------------------------------------- digits


def draw_digit_weights(W, train, test):
    """Loss curves and each class's weights as 8 × 8 images -> (fig, words).

    W (64, 10). train, test (steps + 1,): cross-entropy along gradient descent.
    """
    fig = plt.figure(figsize=(9, 3.6), layout="none")
    ax = fig.add_axes((0.07, 0.16, 0.34, 0.73))
    ax.plot(train, color=BLUE, label="training rows")
    ax.plot(test, "--", color=VERMILION, label="test rows")
    ax.axhline(np.log(10), color=BLACK, linestyle=":", linewidth=1.2, label="log 10")
    ax.set(xlabel="step of gradient descent", ylabel="cross-entropy (nats)", ylim=(0, 2.5))
    ax.set_title("It starts at log 10")
    ax.legend()
    limit = np.abs(W).max()
    for k in range(10):
        small = fig.add_axes((0.46 + 0.107 * (k % 5), 0.5 - 0.44 * (k // 5), 0.1, 0.36))
        small.imshow(W[:, k].reshape(8, 8), cmap="gray_r", vmin=-limit, vmax=limit)
        small.set_title(str(k), fontsize=10, loc="center")
        small.axis("off")
    fig.text(
        0.46,
        0.94,
        "Dark: ink raises the class. Light: it lowers it.",
        weight="bold",
    )
    return fig, (
        f"Cross-entropy falls from {train[0]:.3f}, which is log 10, to {train[-1]:.2f} on training and "
        f"{test[-1]:.2f} on test rows. Ten images of weights, one a digit: ink on dark "
        "pixels speaks for the class, ink on light pixels against it."
    )

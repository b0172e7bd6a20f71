"""Logistic regression: a clinic's training, S-curves, descent and Newton, a star to drag, costs and calibration.

Compute (pure): data with a known truth, `clinic`, `fitted`, `two_rows`, `long_way`, `unseen_scores`.
Draw: `draw_…` functions return (fig, words); `…_explorer` return one.
"""

from collections.abc import Callable
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.optimize import linprog
from scipy.special import expit, log_expit

from descent import data, plots
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes, light
from descent.words import say

# ---------------------------------------------------------------- data


def with_one(x) -> np.ndarray:
    """Features (n,) or (n, d) with a leading column of ones."""
    x = np.asarray(x, float)
    return np.column_stack([np.ones(len(x)), x])


def exams(n: int = 24, seed: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Hours of study, evenly spread over 0 to 8, and whether the exam was passed -> x (n,), y (n,).

    The truth: log-odds of passing are hours - 4.
    """
    x = np.linspace(0, 8, n)
    return x, (np.random.default_rng(seed).random(n) < expit(x - 4)).astype(float)


def clouds(n: int, gap: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two round normal clouds at ±gap/2 along the diagonal -> points (n, 2), labels (n,), half of each.

    Equal covariances: the true log-odds are linear, <(gap, gap)/√2, x>.
    """
    y = np.arange(n) % 2
    centre = gap / 2 * (2 * y - 1)[:, None] * np.array([1, 1]) / np.sqrt(2)
    return centre + np.random.default_rng(seed).normal(size=(n, 2)), y.astype(float)


@lru_cache
def clinic() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """569 tumours -> Z (569, 31) with a leading 1, label 1 for cancer, row numbers of the 427 known and the 142 new.

    Measurements are standardised by the 427.
    """
    table = data.breast_cancer()
    known, new = np.split(np.random.default_rng(1).permutation(569), [427])
    mean, sd = table.X[known].mean(axis=0), table.X[known].std(axis=0)
    return with_one((table.X - mean) / sd), 1.0 - table.y, known, new


def three_measurements() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Mean radius, texture and smoothness of 569 tumours, standardised -> X (569, 4), label 1 for cancer, names."""
    table = data.breast_cancer()
    names = ["mean radius", "mean texture", "mean smoothness"]
    X = table.X[:, [list(table.names).index(name) for name in names]]
    return with_one((X - X.mean(axis=0)) / X.std(axis=0)), 1.0 - table.y, names


def two_worlds() -> list[tuple]:
    """(title, x label, x, labels, degrees to fit): one of linear log-odds, and one of a parabola's."""
    table, rng = data.breast_cancer(), np.random.default_rng(2)
    smooth = table.X[:, list(table.names).index("worst smoothness")]
    x = rng.uniform(-2, 2, 2000)
    bent = (rng.random(2000) < expit(1.5 * x**2 - 2)).astype(float)
    return [
        ("Smoothness: a line will do", "worst smoothness", smooth, 1.0 - table.y, (1,)),
        ("Made up: a line will not", "feature x", x, bent, (1, 2)),
    ]


# ---------------------------------------------------------------- fits


def log_lik(X, y, w) -> np.ndarray:
    """Log-likelihood of labels y (n,) under weights w (…, d) -> (…)."""
    s = np.asarray(w) @ X.T
    return (y * log_expit(s) + (1 - y) * log_expit(-s)).sum(-1)


def separable(X, y) -> bool:
    """Whether some w has <x_i, w> > 0 exactly for the rows with label 1: a linear programme."""
    signed = (2 * np.asarray(y) - 1)[:, None] * X
    found = linprog(
        np.zeros(X.shape[1]), -signed, -np.ones(len(X)), bounds=(None, None), method="highs"
    )
    return found.status == 0


def fitted(X, y, lam: float = 0.0, tol: float = 1e-9) -> np.ndarray:
    """Weights at which mean NLL + lam/2 Σ_{j≥1} w_j² has a slope of at most tol, by damped Newton from 0.

    Written with signed rows, so that errors far below the rounding of p still count.
    """
    signed, keep = (2 * np.asarray(y) - 1)[:, None] * X, lam * (np.arange(X.shape[1]) > 0)

    def objective(w):
        return np.logaddexp(0, -signed @ w).mean() + keep @ w**2 / 2

    w = np.zeros(X.shape[1])
    while True:
        wrong = expit(-signed @ w)
        g = keep * w - wrong @ signed / len(y)
        if np.linalg.norm(g) <= tol:
            return w
        H = (X.T * (wrong * (1 - wrong))) @ X / len(y) + np.diag(keep)
        move, t = np.linalg.solve(H, g), 1.0
        while t > 1e-4 and objective(w - t * move) > objective(w):
            t /= 2
        w = w - t * move


def clinic_norm(tol: float) -> float:
    """Length of the clinic's weights, without the intercept, where an unpenalised fit stops for a slope below tol."""
    Z, y, known, _ = clinic()
    return float(np.linalg.norm(fitted(Z[known], y[known], tol=tol)[1:]))


def descent(X, y, steps: int, marks) -> np.ndarray:
    """w after so many steps of gradient descent with rate 1/L from 0, at the marks. -> (len(marks), d)"""
    rate = 4 / np.linalg.norm(X, 2) ** 2  # 1/L, over n
    w, kept, marks = np.zeros(X.shape[1]), [], set(marks)
    for step in range(1, steps + 1):
        w = w - rate * (X.T @ (expit(X @ w) - y))
        if step in marks:
            kept.append(w)
    return np.array(kept)


def two_rows(w: float, steps: int) -> np.ndarray:
    """Newton's full steps on log(1 + e^w) + log(1 + e^-w), rows x = 1 of both labels: w <- w - sinh w."""
    path = [w]
    for _ in range(steps):
        path.append(path[-1] - np.sinh(path[-1]))
    return np.array(path)


def unseen_scores(fit: Callable, X, y, lam: float, folds: int = 10) -> np.ndarray:
    """The score of each row by fit(X, y, lam) -> w on the other parts. -> (n,)"""
    scores = np.zeros(len(y))
    for fold in np.array_split(np.random.default_rng(0).permutation(len(y)), folds):
        rest = np.delete(np.arange(len(y)), fold)
        scores[fold] = X[fold] @ fit(X[rest], y[rest], lam)
    return scores


# ---------------------------------------------------------------- the clinic

PATIENT = 213


@lru_cache
def clinic_run() -> tuple[np.ndarray, np.ndarray]:
    """100,000 steps of descent on the 427 -> steps that are kept (m,), w there (m, 31)."""
    Z, y, known, _ = clinic()
    marks = np.unique(np.geomspace(1, 100_000, 60).round().astype(int))
    marks = np.union1d(marks, [300])
    return marks, descent(Z[known], y[known], 100_000, marks)


def draw_clinic():
    """Loss of known and of new tumours during training, and what one patient is told -> (fig, words)."""
    Z, y, known, new = clinic()
    marks, W = clinic_run()
    known_loss, new_loss = (-log_lik(Z[part], y[part], W) / len(part) for part in (known, new))
    told = expit(W @ Z[PATIENT])
    wrong = [int(np.sum((Z[part] @ W[-1] > 0) != y[part])) for part in (known, new)]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(marks, known_loss, color=BLUE, label="427 known tumours")
    left.plot(marks, new_loss, "--", color=VERMILION, label="142 new ones")
    left.set(xscale="log", xlabel="step of training", ylabel="mean −log p of the label (nats)")
    left.set(ylim=(0, 0.5))
    left.set_title("Each step fits the known ones better")
    left.legend()
    right.plot(marks, told, color=GREEN)
    right.set(xscale="log", yscale="log", xlabel="step of training", ylim=(1e-16, 3))
    right.set(ylabel="probability of cancer")
    right.set_title(f"Patient {PATIENT}, who has cancer")
    at = int(np.flatnonzero(marks == 300)[0])
    return fig, say(
        "From step 300 to step {steps} the loss of the 427 falls from {known:.3f} to {known_end:.3f}, that of the 142 "
        "rises from {new:.3f} to {new_end:.3f}. Patient {who} is told {told:.2f}, then {told_end:.0e}. At the end "
        "{wrong_known} of 427 and {wrong_new} of 142 are on the wrong side.",
        steps=int(marks[-1]), known=known_loss[at], known_end=known_loss[-1], new=new_loss[at],
        new_end=new_loss[-1], who=PATIENT, told=told[at], told_end=told[-1],
        wrong_known=wrong[0], wrong_new=wrong[1],
    )  # fmt: skip


def draw_answer(lams, losses, accuracy, pick: int, told):
    """Loss of unseen rows for each ridge, and what the patient is told -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    left.plot(lams, losses, "o-", color=BLUE)
    left.plot(
        lams[pick], losses[pick], "*", color=BLACK, markersize=16, label=f"λ = {lams[pick]:g}"
    )
    left.set(xscale="log", xlabel="ridge λ", ylabel="mean −log p, unseen rows", ylim=(0, None))
    left.set_title("Neither sure nor shy")
    left.legend()
    right.plot(lams, told, "s-", color=GREEN)
    right.plot(lams[pick], told[pick], "*", color=BLACK, markersize=16)
    right.axhline(0.5, color=VERMILION, linestyle="--", label="threshold ½: costs 1 to 1")
    right.axhline(1 / 11, color=VERMILION, linestyle=":", label="threshold 1/11: costs 10 to 1")
    right.set(xscale="log", xlabel="ridge λ", ylabel="probability of cancer", ylim=(-0.02, 0.75))
    right.set_title(f"Patient {PATIENT} is told {told[pick]:.2f}")
    right.legend(loc="upper left", fontsize=9)
    return fig, say(
        "Unseen rows cost {first:.3f} at λ = {low:g}, {best:.3f} at λ = {lam:g}, and {last:.3f} at λ = {high:g}. "
        "Accuracy is {a[0]:.3f}, {a[1]:.3f}, {a[2]:.3f}. Patient {who} is told {p[0]:.0e}, {p[1]:.2f}, {p[2]:.2f}.",
        first=losses[0], low=lams[0], best=losses[pick], lam=lams[pick], last=losses[-1], high=lams[-1],
        a=[accuracy[i] for i in (0, pick, -1)], who=PATIENT, p=[float(told[i]) for i in (0, pick, -1)],
    )  # fmt: skip


# ---------------------------------------------------------------- scores, curves, likelihood


def draw_line_and_curve(sigmoid: Callable, bins: int = 12):
    """Cancer against one measurement: shares in groups, least squares line, S-curve -> (fig, words)."""
    table = data.breast_cancer()
    x, y = table.X[:, list(table.names).index("worst radius")], 1.0 - table.y
    mean, sd = x.mean(), x.std()
    line = np.linalg.lstsq(with_one(x), y, rcond=None)[0]
    w = fitted(with_one((x - mean) / sd), y)
    at = np.linspace(x.min(), x.max(), 200)
    groups = np.array_split(np.argsort(x, kind="stable"), bins)
    centres, shares = (np.array([v[group].mean() for group in groups]) for v in (x, y))
    outside = int(np.sum(abs(with_one(x) @ line - 0.5) > 0.5))
    fig, ax = plt.subplots(figsize=(7.5, 3.8))
    for low, high in ((-0.6, 0), (1, 2.2)):
        ax.axhspan(low, high, color=BLACK, alpha=0.07)
    jitter = np.random.default_rng(0).uniform(-0.025, 0.025, len(x))
    ax.plot(x, y + jitter, "|", color=BLUE, alpha=0.4, label="tumours: 1 is cancer")
    ax.plot(centres, shares, "D", color=BLACK, markersize=6, label=f"share of 1, {bins} groups")
    ax.plot(at, with_one(at) @ line, "--", color=VERMILION, label="least squares line")
    curve = sigmoid(with_one((at - mean) / sd) @ w)
    ax.plot(at, curve, "-", color=GREEN, linewidth=2.6, label="logistic regression")
    ax.set(xlabel="radius of the largest nuclei (image units)", ylabel="label, or probability of 1")
    ax.set(ylim=(-0.45, 1.95))
    ax.set_title("A line leaves [0, 1]; the S-curve follows the shares")
    ax.legend(loc="upper left", fontsize=9)
    return fig, say(
        "The line predicts less than 0 or more than 1 for {outside} of {n} tumours, up to {top:.2f}. The curve stays "
        "between 0 and 1 and crosses one half at {half:.1f}. The share of cancer climbs from {low:.2f} to {high:.2f}.",
        outside=outside, n=len(x), top=line @ [1, x.max()], half=mean - sd * w[0] / w[1],
        low=shares[0], high=shares[-1],
    )  # fmt: skip


def draw_coin(heads: int, n: int):
    """Likelihood of a coin as a product, and its mean negative logarithm -> (fig, words)."""
    p = np.linspace(0.01, 0.99, 197)
    product = p**heads * (1 - p) ** (n - heads)
    nll = -(heads * np.log(p) + (n - heads) * np.log(1 - p)) / n
    best, lowest = p[product.argmax()], p[nll.argmin()]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
    left.plot(p, product, color=BLUE)
    left.set(xlabel="probability p of heads", ylabel="likelihood of the tosses")
    left.set_title(f"The product peaks at p = {best:.2f}")
    right.plot(p, nll, color=VERMILION)
    right.set(xlabel="probability p of heads", ylabel="mean −log p (nats a toss)", ylim=(0.4, 3))
    right.set_title(f"Its −log is lowest at p = {lowest:.2f}")
    for ax in (left, right):
        ax.axvline(heads / n, color=BLACK, linestyle="--", linewidth=1)
    return fig, say(
        "{heads} heads in {n} tosses. The product of probabilities is largest, {top:.1g}, at p = {best:.2f}; the mean "
        "negative log-likelihood is lowest, {nll:.3f}, at p = {lowest:.2f}: the share of heads.",
        heads=heads, n=n, top=product.max(), best=best, nll=nll.min(), lowest=lowest,
    )  # fmt: skip


def curve_explorer(nll_and_grad: Callable) -> Callable:
    """-> draw(intercept, slope): the S-curve over the exams, and where it lies on the likelihood's hill."""
    x, y = exams()
    X = with_one(x)
    slopes, intercepts = np.linspace(-0.5, 3, 36), np.linspace(-9, 2, 34)
    grid = np.stack(np.meshgrid(intercepts, slopes), -1)
    surface, best = log_lik(X, y, grid), fitted(X, y)
    highest = float(log_lik(X, y, best))
    levels = highest - np.array([60, 40, 25, 15, 10, 6, 4, 2.5, 1.5, 0.7, 0.2])
    shades = plt.get_cmap("cividis")(np.linspace(0.3, 0.9, len(levels) + 1))
    at = np.linspace(x.min() - 0.3, x.max() + 0.3, 120)

    def draw(intercept: float, slope: float):
        w = np.array([intercept, slope])
        value = -len(y) * float(nll_and_grad(w, X, y)[0])
        fig, (left, right) = fixed_axes(2, (9.4, 3.8), (0.07, 0.98, 0.14, 0.91), wspace=0.24)
        left.plot(at, expit(with_one(at) @ w), color=GREEN)
        left.vlines(x, y, expit(X @ w), color=BLACK, alpha=0.35, linewidth=1)
        left.plot(x[y == 0], y[y == 0], "o", color=BLUE, label="failed (0)")
        left.plot(x[y == 1], y[y == 1], "s", color=VERMILION, label="passed (1)")
        left.set(xlabel="study x (hours)", ylabel="probability of 1", ylim=(-0.08, 1.08))
        light(left, "Curve and errors y − p", [0, 4, 8], [0, 0.5, 1], fontsize=11)
        left.legend(loc=(0.72, 0.08), fontsize=8)
        right.contourf(intercepts, slopes, surface, levels=[-1e4, *levels, 0], colors=shades)
        right.plot(*best, "*", color=VERMILION, markersize=15, mec="white", label="maximum")
        right.plot(intercept, slope, "o", color=BLACK, mec="white", markersize=9)
        right.set(xlabel="intercept w₀", ylabel="slope w₁ (1/hour)", xlim=(-9, 2), ylim=(-0.5, 3))
        title = f"Log-likelihood −{-value:.2f}, at most −{-highest:.2f}"
        light(right, title, [-8, -4, 0], [0, 1, 2, 3], fontsize=11)
        right.legend(loc="upper right", fontsize=8, frameon=True)
        right.grid(False)
        right.set_gid("surface")
        words = say(
            "Mean error y − p {error:+.3f}. Log-likelihood {value:.2f} of at most {highest:.2f}: the product of {n} "
            "probabilities is {product:.1e}. The steepest slope of the curve is {steep:.2f} an hour",
            error=np.mean(y - expit(X @ w)), value=value, highest=highest, n=len(y),
            product=np.exp(value), steep=slope / 4,
        )  # fmt: skip
        if slope == 0:
            return fig, words + say(".")
        return fig, words + say(", and p is ½ at {half:.2f} hours.", half=-intercept / slope)

    return draw


# ---------------------------------------------------------------- descent and Newton


def draw_descent(X, y, paths: dict, slope: Callable):
    """Contours of the exams' loss, arrows along −slope, and paths of descent -> (fig, words).

    paths: {label: (steps + 1, 2)}. slope: (2,) -> (2,).
    """
    xlim, ylim = (-2.4, 2.4), (-1.2, 2.2)
    fig, ax = plt.subplots(figsize=(7, 4.4))

    def loss(W):
        return -log_lik(X, y, W) / len(y)

    plots.contours(loss, ax, xlim, ylim, levels=18)
    places = np.stack(np.meshgrid(np.linspace(*xlim, 10)[1:-1], np.linspace(*ylim, 8)[1:-1]), -1)
    arrows = np.array([-slope(w) for w in places.reshape(-1, 2)])
    arrows /= np.linalg.norm(arrows, axis=1, keepdims=True)
    ax.quiver(
        *places.reshape(-1, 2).T, *arrows.T, color=BLACK, alpha=0.55, width=0.004, scale=22,
        angles="xy",
    )  # fmt: skip
    plots.trajectories(list(paths.values()), ax, list(paths))
    ax.legend(loc="upper left", frameon=True, fontsize=9)
    ax.set(xlabel="intercept w₀ (at 4 hours)", ylabel="slope w₁ (1/hour)", aspect="equal")
    ax.set_title("Down the gradient, across the contours")
    told = [
        say("{name} after {k} steps at loss {loss:.4f}", name=name, k=len(path) - 1, loss=loss(path[-1]))
        for name, path in paths.items()
    ]  # fmt: skip
    return fig, say("Contours of the mean loss, arrows along −gradient. {told:; }.", told=told)


def draw_convergence(errors: dict):
    """Distance to the optimum against the step -> (fig, words). errors: {name: (steps,)}."""
    fig, ax = plt.subplots(figsize=(7, 3.6))
    looks = (("o-", GREEN), ("--", VERMILION))
    for (name, error), (style, color) in zip(errors.items(), looks, strict=True):
        ax.plot(np.arange(len(error)), error, style, color=color, label=name, markersize=5)
    ax.set(xlabel="step", ylabel="distance to the optimum", yscale="log", xlim=(-0.5, 40))
    ax.set_title("Newton's digits double; descent gains slowly")
    ax.legend(loc="lower right")
    told = [
        say("{name}: {end:.0e} after {k} steps", name=name, end=error[-1], k=len(error) - 1)
        for name, error in errors.items()
    ]  # fmt: skip
    return fig, say("Distances to the best weights. {told:; }.", told=told)


def draw_overshoot(starts):
    """Full Newton steps on the loss of two rows, one of each label, from two starts -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    w = np.linspace(-8, 8, 321)

    def loss(v):
        return np.logaddexp(0, v) + np.logaddexp(0, -v)

    left.plot(w, loss(w), color=BLACK, label="loss")
    paths = [two_rows(start, 4) for start in starts]
    for path, color, style, marker in zip(
        paths, (GREEN, VERMILION), ("--", ":"), "os", strict=True
    ):
        a = path[0]
        model = loss(a) + np.tanh(a / 2) * (w - a) + (w - a) ** 2 / (4 * np.cosh(a / 2) ** 2)
        left.plot(w, model, style, color=color, label=f"parabola at {a:g}")
        left.plot(a, loss(a), marker, color=color)
        right.plot(np.abs(path), marker + style, color=color, label=f"from {a:g}")
    left.set(xlabel="weight w", ylabel="loss (nats)", ylim=(0, 8))
    left.set_title("Far out the parabola is too wide", fontsize=11)
    left.legend(loc="upper center")
    right.set(xlabel="step", ylabel="|w|", yscale="log", ylim=(1e-5, 1e4))
    right.set_title("One start converges, one explodes", fontsize=11)
    right.legend(loc="lower left")
    return fig, say(
        "Newton's full steps from {near:g} end {close:.0e} from the minimum after 4; from {far:g} at {lost:.0e}.",
        near=starts[0], close=abs(paths[0][4]), far=starts[1], lost=abs(paths[1][4]),
    )  # fmt: skip


# ---------------------------------------------------------------- a star to drag


def star_explorer(newton: Callable) -> Callable:
    """-> draw(x1, x2, lam): two clouds and one more row of class 1, fitted by newton(X, y, lam, start, tol, steps)."""
    x, y = clouds(24, gap=5.0, seed=1)
    labels = np.append(y, 1.0)
    grid = np.linspace(-4, 4, 41)
    levels = np.linspace(0, 1, 11)
    shades = plt.get_cmap("PuOr_r")(np.linspace(0.32, 0.68, 10))

    def draw(x1: float, x2: float, lam: float):
        X = with_one(np.vstack([x, [x1, x2]]))
        path, end = newton(X, labels, lam, np.zeros(3), 1e-8, 30)
        path = np.asarray(path)
        w, apart = path[-1], separable(X, labels)
        lengths = np.linalg.norm(path[:, 1:], axis=1)
        wrong = int(np.sum((X @ w > 0) != labels))
        fig, (left, right) = fixed_axes(
            2, (9.4, 4.2), (0.07, 0.98, 0.13, 0.91), wspace=0.2, width_ratios=(1, 1.05)
        )
        p = expit(w[0] + w[1] * grid[None, :] + w[2] * grid[:, None])
        left.contourf(grid, grid, p, levels=levels, colors=shades)
        left.contour(grid, grid, p, levels=[0.1, 0.5, 0.9], colors=BLACK,
                     linestyles=["dotted", "solid", "dashed"], linewidths=[1, 1.8, 1])  # fmt: skip
        left.plot(*x[y == 0].T, "o", color=BLUE, mec="white", markersize=7, label="class 0")
        left.plot(*x[y == 1].T, "s", color=VERMILION, mec="white", markersize=7, label="class 1")
        left.plot(x1, x2, "*", color=BLACK, mec="white", markersize=16)
        left.set(xlim=(-4, 4), ylim=(-4, 4), xlabel="feature x₁", ylabel="feature x₂")
        left.legend(loc="lower right", fontsize=8, frameon=True, facecolor="white")
        title = f"Star: p = {expit(X[-1] @ w):.3f}; lines at 0.1, 0.5, 0.9"
        light(left, title, [-4, 0, 4], [-4, 0, 4], fontsize=11)
        left.grid(False)
        left.set_gid("plane")
        right.plot(lengths, "o-", color=GREEN)
        top = max(8, 1.05 * lengths.max())
        right.set(xlabel="Newton step", ylabel="length of w₊", xlim=(-0.5, 30), ylim=(0, top))
        kind = "a line separates" if apart else "no line separates"
        title = f"{kind.capitalize()}: length {lengths[-1]:.1f} ({end})"
        light(right, title, [0, 10, 20, 30], fontsize=11)
        right.yaxis.set_major_locator(MaxNLocator(3))
        return fig, say(
            "With the star at ({x1:.2f}, {x2:.2f}) {kind} the classes; ridge {lam:g}. After {steps} steps ({end}) the "
            "weights have length {length:.2f}, the star has p = {p:.3f}; {wrong} of {n} rows are on the wrong side.",
            x1=x1, x2=x2, kind=kind, lam=lam, steps=len(path) - 1, end=end, length=lengths[-1],
            p=expit(X[-1] @ w), wrong=wrong, n=len(labels),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- the long way out


@lru_cache
def long_way() -> tuple[np.ndarray, np.ndarray, float]:
    """Descent on two separable clouds: lengths and angles to the widest street at `LONG_MARKS`, and log 10 / margin."""
    x, y = clouds(20, gap=4.0)
    turn = np.linspace(0, 2 * np.pi, 36_000, endpoint=False)
    ways = np.column_stack([np.cos(turn), np.sin(turn)])
    margins = ((2 * y - 1) * (ways @ x.T)).min(axis=1)
    W = descent(x, y, LONG_MARKS[-1], LONG_MARKS)
    lengths = np.linalg.norm(W, axis=1)
    cosines = np.clip(W @ ways[margins.argmax()] / lengths, -1, 1)
    return lengths, np.degrees(np.arccos(cosines)), float(np.log(10) / margins.max())


LONG_MARKS = (3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)


def draw_long_way():
    """Length of w and its angle to the widest street against the step -> (fig, words)."""
    lengths, angles, _ = long_way()
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    left.plot(LONG_MARKS, lengths, "o-", color=VERMILION)
    left.set(xscale="log", xlabel="step t", ylabel="length of w", ylim=(0, None))
    left.set_title("The length grows like log t")
    right.plot(LONG_MARKS, angles, "s--", color=BLUE)
    right.set(xscale="log", xlabel="step t", ylabel="angle (degrees)", ylim=(0, None))
    right.set_title("w turns to the widest street")
    return fig, say(
        "From step {first} to {last} the length of w grows from {short:.1f} to {long:.1f}, and its angle to the widest "
        "street falls from {wide:.1f} to {narrow:.1f} degrees.",
        first=LONG_MARKS[0], last=LONG_MARKS[-1], short=lengths[0], long=lengths[-1],
        wide=angles[0], narrow=angles[-1],
    )  # fmt: skip


# ---------------------------------------------------------------- log-odds, costs, promises


def empirical_log_odds(x, y, bins: int):
    """Log-odds of the labels in groups of equal size along x, with standard errors.

    Half a row is added to each label, so that pure groups stay finite. -> row numbers by group, two arrays (bins,).
    """
    groups = np.array_split(np.argsort(x, kind="stable"), bins)
    ones = np.array([y[g].sum() for g in groups]) + 0.5
    zeros = np.array([len(g) for g in groups]) + 1 - ones
    return groups, np.log(ones / zeros), np.sqrt(1 / ones + 1 / zeros)


def draw_log_odds(panels):
    """Log-odds of groups of rows against fitted ones -> (fig, words).

    panels: list of (title, x label, x (n,), y (n,), {degree: fitted log-odds (n,)}).
    """
    fig, axes = plt.subplots(1, len(panels), figsize=(9.4, 3.7))
    told = []
    for ax, (title, label, x, y, fits) in zip(axes, panels, strict=True):
        groups, odds, error = empirical_log_odds(x, y, 12)
        centre, order = [x[g].mean() for g in groups], np.argsort(x)
        ax.errorbar(centre, odds, 2 * error, fmt="o", color=BLACK, capsize=2, label="12 groups")
        for (degree, fit), style, color in zip(
            fits.items(), ("--", "-"), (VERMILION, GREEN), strict=False
        ):
            name = "with x" if degree == 1 else "with x and x²"
            ax.plot(x[order], fit[order], style, color=color, label=name)
            misses = np.mean(abs(odds - [fit[g].mean() for g in groups]) > 2 * error)
            told.append(say("{title}, {name}: {misses:.0%}", title=title, name=name, misses=misses))
        ax.set(xlabel=label, ylabel="log-odds of label 1", title=title)
        ax.legend(fontsize=8)
    return fig, say("Groups that miss a fit by two standard errors. {told:; }.", told=told)


def draw_reliability(tables: dict):
    """Share of label 1 against mean probability in bins, a panel a model -> (fig, words).

    tables: {name: (bins, 3)} with mean p, mean y and count.
    """
    fig, axes = plt.subplots(
        1, len(tables), figsize=(2.5 * len(tables), 3.2), sharey=True, squeeze=False
    )
    told = []
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        p, share, count = np.asarray(table)[np.asarray(table)[:, 2] > 0].T
        gap = np.sum(count * abs(p - share)) / count.sum()
        luck = 2 * np.sqrt(np.clip(p * (1 - p), 1e-9, None) / count)
        ax.plot([0, 1], [0, 1], "--", color=BLACK, linewidth=1, label="as promised")
        ax.errorbar(
            p, p, [np.minimum(luck, p), np.minimum(luck, 1 - p)], fmt="none", ecolor=SKY,
            elinewidth=5, alpha=0.7, label="luck: ± 2 standard errors",
        )  # fmt: skip
        ax.plot(p, share, "o", color=VERMILION, label="what happened")
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="mean probability in the bin")
        ax.set_title(f"{name}: gap {gap:.3f}", fontsize=11)
        told.append(say("{name}: mean gap {gap:.3f}", name=name, gap=gap))
    axes[0, 0].set_ylabel("share of label 1")
    fig.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    return fig, say("Promised probabilities and what happened. {told:; }.", told=told)


def confusion(p, y, threshold: float) -> tuple[int, int, int, int]:
    """True positives, false positives, false negatives, true negatives of the rule p > threshold."""
    said, real = np.asarray(p) > threshold, np.asarray(y) > 0.5
    pairs = ((said, real), (said, ~real), (~said, real), (~said, ~real))
    return tuple(int(np.sum(a & b)) for a, b in pairs)


def threshold_explorer(p, y) -> Callable:
    """-> draw(threshold, ratio): what a threshold does to the two kinds of mistakes and to their cost."""
    grid, edges = np.linspace(0.005, 0.995, 199), np.linspace(0, 1, 21)
    counts = np.array([confusion(p, y, t) for t in grid])

    def draw(threshold: float, ratio: float):
        tp, fp, fn, tn = confusion(p, y, threshold)
        cost = (counts[:, 1] + ratio * counts[:, 2]) / len(y)
        now, best = (fp + ratio * fn) / len(y), grid[cost.argmin()]
        fig, (left, right) = fixed_axes(2, (9.4, 3.7), (0.07, 0.98, 0.15, 0.9), wspace=0.24)
        for k, color, style, name in ((0, BLUE, "-", "benign"), (1, VERMILION, "--", "cancer")):
            heights = np.histogram(p[y == k], edges)[0]
            left.stairs(heights, edges, color=color, linestyle=style, linewidth=1.8, label=name)
        left.axvline(threshold, color=BLACK)
        left.set(xlabel="probability of cancer", ylabel="tumours")
        title = f"{fn} cancers missed, {fp} false alarms"
        light(left, title, [0, 0.5, 1], [0, 25, 50], fontsize=11)
        left.legend(fontsize=8, loc="upper right")
        right.plot(grid, cost, color=PINK)
        right.axvline(1 / (1 + ratio), color=ORANGE, linewidth=5, alpha=0.6, label="by the costs")
        right.axvline(threshold, color=BLACK, linewidth=1)
        right.plot(threshold, now, "o", color=BLACK, label="yours")
        right.set(
            xlabel="threshold", ylabel="mean cost (false alarms)", xlim=(0, 1), ylim=(0, None)
        )
        light(right, f"A miss costs {ratio:g}", [0, 0.5, 1], fontsize=11)
        right.yaxis.set_major_locator(MaxNLocator(3))
        right.legend(fontsize=8, loc="lower right")
        right.set_gid("cost")
        return fig, say(
            "Threshold {t:.2f}: {tp} cancers found, {fn} missed, recall {recall:.2f}; {fp} false alarms, {tn} left in "
            "peace. Mean cost {cost:.3f}; on these tumours {best:.2f} is cheapest ({least:.3f}), the costs say "
            "{formula:.2f}.",
            t=threshold, tp=tp, fn=fn, recall=tp / (tp + fn), fp=fp, tn=tn, cost=now, best=best,
            least=cost.min(), formula=1 / (1 + ratio),
        )  # fmt: skip

    return draw

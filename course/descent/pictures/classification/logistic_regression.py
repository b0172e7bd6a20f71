"""Logistic regression: the S-curve, planes with confidence, training, thresholds and calibration."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linprog, minimize
from scipy.special import expit, log_expit, logit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

# ---------------------------------------------------------------- data with a known truth


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


def best_fit(X, y, lam: float = 0.0) -> np.ndarray:
    """Weights that minimise mean NLL + lam/2 Σ_{j≥1} w_j², by SciPy's BFGS. X (n, d) -> (d,)."""
    keep = lam * (np.arange(X.shape[1]) > 0)

    def objective(w):
        s = X @ w
        value = np.mean(np.logaddexp(0, s) - y * s) + keep @ w**2 / 2
        return value, X.T @ (expit(s) - y) / len(y) + keep * w

    return minimize(objective, np.zeros(X.shape[1]), jac=True, method="BFGS", tol=1e-9).x


# ---------------------------------------------------------------- why: a line is no probability


def draw_line_and_curve(x, y, unit: str, bins: int = 12):
    """0/1 labels against one feature, share of ones in bins, least squares line, S-curve -> (fig, words)."""
    X = with_one(x)
    line = np.linalg.lstsq(X, y, rcond=None)[0]
    mean, sd = x.mean(), x.std()
    w = best_fit(with_one((x - mean) / sd), y)
    at = np.linspace(x.min(), x.max(), 200)
    curve = expit(with_one((at - mean) / sd) @ w)
    edges = np.quantile(x, np.linspace(0, 1, bins + 1))
    index = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, bins - 1)
    centres, shares = (np.array([v[index == b].mean() for b in range(bins)]) for v in (x, y))
    outside = int(np.sum(abs(X @ line - 0.5) > 0.5))
    fig, ax = plt.subplots(figsize=(7.5, 4))
    ax.axhspan(-0.6, 0, color=BLACK, alpha=0.07)
    ax.axhspan(1, 2.2, color=BLACK, alpha=0.07)
    jitter = np.random.default_rng(0).uniform(-0.025, 0.025, len(x))
    ax.plot(x, y + jitter, "|", color=BLUE, alpha=0.4, label="tumours: 0 benign, 1 malignant")
    ax.plot(
        centres, shares, "D", color=BLACK, markersize=6, label=f"share malignant, {bins} groups"
    )
    ax.plot(at, with_one(at) @ line, "--", color=VERMILION, label="least squares line")
    ax.plot(at, curve, "-", color=GREEN, linewidth=2.6, label="logistic regression")
    ax.set(xlabel=unit, ylabel="label, or probability of 1", ylim=(-0.45, 1.95))
    ax.set_title("A line leaves [0, 1]; the S-curve follows the shares")
    ax.legend(loc="upper left", fontsize=9)
    return fig, (
        f"The least squares line predicts less than 0 or more than 1 for {outside} of {len(x)} tumours; "
        f"it reaches {line @ [1, x.max()]:.2f}. The logistic curve stays between 0 and 1 and crosses "
        f"one half at {mean - sd * w[0] / w[1]:.1f}. The share of malignant tumours climbs from "
        f"{shares[0]:.2f} in the lowest group to {shares[-1]:.2f} in the highest."
    )


# ---------------------------------------------------------------- planes with confidence


def _shade(ax, w, extent):
    """Probability of class 1 over the plane, light; its line at one half."""
    grid = np.linspace(-extent, extent, 60)
    s = w[0] + w[1] * grid[None, :] + w[2] * grid[:, None]
    ax.imshow(
        expit(s), extent=(-extent, extent) * 2, origin="lower", cmap="PuOr_r",
        vmin=-0.25, vmax=1.25, alpha=0.8, interpolation="bilinear",
    )  # fmt: skip
    if np.ptp(np.sign(s)) > 0:
        lines = ax.contour(
            grid, grid, expit(s), levels=[0.1, 0.5, 0.9], colors=BLACK,
            linestyles=["dotted", "solid", "dashed"], linewidths=[1, 1.8, 1],
        )  # fmt: skip
        ax.clabel(lines, fmt="%.1f", fontsize=8)
    ax.set(xlim=(-extent, extent), ylim=(-extent, extent), xlabel="x₁", ylabel="x₂")
    ax.grid(False)


def _points(ax, x, y):
    ax.plot(*x[y == 0].T, "o", color=BLUE, mec="white", markersize=6, label="class 0")
    ax.plot(*x[y == 1].T, "s", color=VERMILION, mec="white", markersize=6, label="class 1")


def plane_explorer(x, y, marked) -> Callable:
    """-> draw(angle, offset, length): a line with normal vector of that angle and length, and one point."""
    marked = np.asarray(marked, float)

    def draw(angle: float, offset: float, length: float):
        normal = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
        w = length * np.array([-offset, *normal])
        score = w @ [1, *marked]
        distance = score / length
        wrong = int(np.sum((with_one(x) @ w > 0) != y))
        fig, ax = fixed_axes(1, (6, 5), (0.11, 0.97, 0.11, 0.93))
        _shade(ax, w, 4)
        _points(ax, x, y)
        foot = marked - distance * normal
        ax.plot(*np.transpose([marked, foot]), "-.", color=BLACK, linewidth=1.5)
        ax.plot(*marked, "*", color=BLACK, mec="white", markersize=16, label="marked point")
        ax.set_aspect("equal")
        ax.set_title(f"p = {expit(score):.2f} at the star, {wrong} of {len(y)} wrong")
        ax.legend(loc="lower right", fontsize=8, frameon=True)
        return fig, (
            f"At the star: signed distance {distance:.2f}, times ‖(w₁, w₂)‖ = {length:.2f} gives the score "
            f"{score:.2f} and the probability {expit(score):.3f}. {wrong} of {len(y)} points are on the "
            f"wrong side. Log-likelihood {log_lik(with_one(x), y, w):.1f}."
        )

    return draw


# ---------------------------------------------------------------- likelihood


def draw_coin(heads: int, n: int):
    """Likelihood as a product, and the mean negative log-likelihood, of a coin -> (fig, words)."""
    p = np.linspace(0.01, 0.99, 197)
    product = p**heads * (1 - p) ** (n - heads)
    nll = -(heads * np.log(p) + (n - heads) * np.log(1 - p)) / n
    best, lowest = p[product.argmax()], p[nll.argmin()]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    left.plot(p, product, color=BLUE)
    left.set(xlabel="probability p of heads", ylabel="probability of the data")
    left.set_title(f"The product peaks at p = {best:.2f}")
    right.plot(p, nll, color=VERMILION)
    right.set(xlabel="probability p of heads", ylabel="mean −log p (nats a toss)", ylim=(0.4, 3))
    right.set_title(f"Its −log is lowest at p = {lowest:.2f}")
    for ax in (left, right):
        ax.axvline(heads / n, color=BLACK, linestyle="--", linewidth=1)
    return fig, (
        f"{heads} heads in {n} tosses. The product of probabilities is largest, {product.max():.1g}, at "
        f"p = {best:.2f}; the mean negative log-likelihood is lowest, {nll.min():.3f}, at p = {lowest:.2f}. "
        f"Both at the share of heads, {heads / n:.2f}."
    )


def curve_explorer(x, y) -> Callable:
    """-> draw(slope, intercept): the S-curve over the data, and the surface of the log-likelihood."""
    X = with_one(x)
    slopes, intercepts = np.linspace(-0.5, 3, 71), np.linspace(-9, 2, 67)
    grid = np.stack(np.meshgrid(intercepts, slopes), -1)
    surface = log_lik(X, y, grid)
    best = best_fit(X, y)
    highest = float(log_lik(X, y, best))
    levels = highest - np.array([60, 40, 25, 15, 10, 6, 4, 2.5, 1.5, 0.7, 0.2])
    shades = plt.get_cmap("cividis")(np.linspace(0.3, 1, len(levels) + 1))

    def draw(slope: float, intercept: float):
        w = np.array([intercept, slope])
        value = float(log_lik(X, y, w))
        fig, (left, right) = fixed_axes(2, (9.4, 3.8), (0.07, 0.98, 0.14, 0.91), wspace=0.24)
        at = np.linspace(x.min() - 0.3, x.max() + 0.3, 200)
        left.plot(at, expit(with_one(at) @ w), color=GREEN)
        left.vlines(x, y, expit(X @ w), color=BLACK, alpha=0.35, linewidth=1)
        left.plot(x[y == 0], y[y == 0], "o", color=BLUE, label="failed (0)")
        left.plot(x[y == 1], y[y == 1], "s", color=VERMILION, label="passed (1)")
        left.set(xlabel="hours of study x", ylabel="probability of 1", ylim=(-0.08, 1.08))
        left.set_title("Curve and errors y − p")
        left.legend(loc="center right", fontsize=8)
        right.contourf(intercepts, slopes, surface, levels=[-1e4, *levels, 0], colors=shades)
        right.contour(intercepts, slopes, surface, levels=levels, colors="#666666", linewidths=0.6)
        right.plot(*best, "*", color=VERMILION, markersize=15, mec="white", label="maximum")
        right.axvline(intercept, color=BLACK, linewidth=1, linestyle="--")
        right.axhline(slope, color=BLACK, linewidth=1, linestyle="--")
        right.plot(intercept, slope, "o", color=BLACK, markersize=7, label="your curve")
        right.set(xlabel="intercept b", ylabel="slope w", title=f"Log-likelihood {value:.2f}")
        right.set(xlim=(-9, 2), ylim=(-0.5, 3))
        right.legend(loc="upper right", fontsize=8, frameon=True)
        right.grid(False)
        half = f"{-intercept / slope:.2f} hours" if slope else "no x"
        return fig, (
            f"p is one half at {half}; the steepest slope of the curve is |w|/4 = {abs(slope) / 4:.2f} an hour. "
            f"Mean error y − p: {np.mean(y - expit(X @ w)):+.3f}. Log-likelihood {value:.2f}, the product of "
            f"{len(y)} probabilities is {np.exp(value):.1e}; the highest possible log-likelihood is {highest:.2f}."
        )

    return draw


def draw_losses():
    """Four losses of the margin y' s -> (fig, words)."""
    m = np.linspace(-3, 4, 281)
    logistic = np.logaddexp(0, -m)
    curves = {
        "0–1: wrong side": ((m <= 0).astype(float), "-", BLACK),
        "logistic: log(1 + exp(−m))": (logistic, "-", GREEN),
        "hinge: max(0, 1 − m)": (np.maximum(0, 1 - m), "--", BLUE),
        "squared: (1 − m)²": ((1 - m) ** 2, ":", VERMILION),
    }
    fig, ax = plt.subplots()
    for name, (values, style, color) in curves.items():
        ax.plot(m, values, style, color=color, label=name)
    ax.set(
        ylim=(-0.1, 5), xlabel="margin m = y′ s (positive: right side)", ylabel="loss of one row"
    )
    ax.set_title("The logistic loss never stops pulling")
    ax.legend()
    return fig, (
        f"The logistic loss is log 2 = {np.log(2):.2f} at margin 0, falls for ever and is still "
        f"{np.logaddexp(0, -4):.3f} at margin 4, where the hinge loss is 0 and the "
        f"squared loss is {(1 - 4) ** 2}, a punishment for being right. "
        f"At margin −3 it is {np.logaddexp(0, 3):.2f}: it grows like −m."
    )


# ---------------------------------------------------------------- descent and Newton


def draw_descent(X, y, loss: Callable, paths: dict, grad: Callable, limits):
    """Contours of a loss of two weights, its gradient arrows, and paths of descent -> (fig, words).

    loss: (m, 2) -> (m,). grad: (2,) -> (2,). paths: {label: (steps + 1, 2)}. limits: (xlim, ylim).
    """
    from descent import plots

    fig, ax = plt.subplots(figsize=(7, 4.6))
    plots.contours(loss, ax, *limits, levels=18)
    corners = np.stack(
        np.meshgrid(*(np.linspace(low, high, 9)[1:-1] for low, high in limits)), -1
    ).reshape(-1, 2)
    arrows = np.array([-grad(w) for w in corners])
    arrows /= np.linalg.norm(arrows, axis=1, keepdims=True)
    ax.quiver(*corners.T, *arrows.T, color=BLACK, alpha=0.55, width=0.004, scale=22, angles="xy")
    plots.trajectories(list(paths.values()), ax, list(paths))
    ax.legend(loc="upper left", frameon=True)
    ends = {name: float(loss(path[-1:])[0]) for name, path in paths.items()}
    ax.set(xlabel="intercept w₀", ylabel="slope w₁", title="Down the gradient, across the contours")
    ax.set_aspect("equal")
    told = "; ".join(
        f"{name}: {len(paths[name]) - 1} steps, last loss {end:.4f}" for name, end in ends.items()
    )
    return fig, f"Contours of the mean loss with arrows along −gradient. {told}."


def draw_convergence(errors: dict, n_params: int):
    """Distance to the optimum against the step, for several methods -> (fig, words). errors: {name: (steps,)}."""
    fig, ax = plt.subplots()
    told = []
    for (name, error), style, color in zip(errors.items(), ("o-", "--"), (GREEN, VERMILION), strict=True):  # fmt: skip
        error = np.asarray(error)
        shown = np.maximum(error, 1e-16)
        ax.plot(shown, style, color=color, label=name)
        first = int(np.argmax(error < 1e-6)) if (error < 1e-6).any() else None
        told.append(
            f"{name}: error below 1e-6 after {first} steps" if first
            else f"{name}: error still {error[-1]:.1g} after {len(error) - 1} steps"
        )  # fmt: skip
    ax.set(xlabel="step", ylabel="distance to the optimum", yscale="log", ylim=(3e-17, 30))
    ax.set_xlim(-0.5, 30)
    ax.set_title("Newton's digits double; descent gains slowly")
    ax.legend(loc="center right")
    return fig, f"{n_params} weights. {'; '.join(told)}."


def draw_overshoot(starts, paths):
    """Iterates of Newton's method on the loss of one row with each label -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    w = np.linspace(-8, 8, 321)
    left.plot(w, np.logaddexp(0, w) + np.logaddexp(0, -w), color=BLACK, label="loss")
    for start, color, style in zip(starts, (GREEN, VERMILION), ("--", ":"), strict=True):
        slope = np.tanh(start / 2)
        curvature = 0.5 / np.cosh(start / 2) ** 2
        value = np.logaddexp(0, start) + np.logaddexp(0, -start)
        model = value + slope * (w - start) + curvature / 2 * (w - start) ** 2
        left.plot(w, model, style, color=color, label=f"parabola at {start:g}")
        left.plot(start, value, "o", color=color)
    left.set(
        xlabel="weight w",
        ylabel="loss",
        ylim=(0, 8),
        title="Straight far out: the parabola is too wide",
    )
    left.legend(fontsize=8, loc="upper center")
    for path, color, style, marker in zip(
        paths, (GREEN, VERMILION), ("--", ":"), "os", strict=True
    ):
        shown = np.abs(path)
        right.plot(shown, marker + style, color=color, label=f"from {path[0]:g}")
    right.set(
        xlabel="step",
        ylabel="|w|",
        yscale="log",
        ylim=(1e-8, 1e4),
        title="One start converges, one explodes",
    )
    right.legend(loc="lower left")
    return fig, (
        f"Newton's method from {paths[0][0]:g} is within 1e-9 of the minimum after "
        f"{int(np.argmax(abs(paths[0]) < 1e-9))} steps; "
        f"from {paths[1][0]:g} it is beyond |w| = 1e{int(np.log10(abs(paths[1][-1])))} after {len(paths[1]) - 1}."
    )


def _train(X, y, method, rate, ridge, steps):
    """Weights after each step of gradient descent or damped Newton from 0 -> (steps + 1, d).

    Written with labels ±1, so that errors 1 - p far below the rounding of p still count.
    """
    n, d = X.shape
    D = ridge * (np.arange(d) > 0)
    signed = (2 * y - 1)[:, None] * X

    def objective(w):
        return np.logaddexp(0, -signed @ w).mean() + D @ w**2 / 2

    w, path = np.zeros(d), [np.zeros(d)]
    for _ in range(steps):
        error = expit(-signed @ w)  # probability of the wrong label
        g = -error @ signed / n + D * w
        move, t = g, rate
        if method == "Newton":
            H = (X.T * (error * (1 - error))) @ X / n + np.diag(D)
            move, t = np.linalg.solve(H + 1e-12 * np.trace(H) * np.eye(d), g), 1.0
            value = objective(w)
            while t > 1e-4 and objective(w - t * move) > value:
                t /= 2
        w = w - t * move
        path.append(w)
    return np.array(path)


def training_explorer(x, y) -> Callable:
    """-> draw(method, steps, rate, x1, x2, ridge): training with one class 1 point that can be moved."""

    def draw(method: str, steps: int, rate: float, x1: float, x2: float, ridge: float):
        points, labels = np.vstack([x, [x1, x2]]), np.append(y, 1.0)
        X = with_one(points)
        path = _train(X, labels, method, rate, ridge, steps)
        w = path[-1]
        loss = np.logaddexp(0, -(2 * labels - 1) * (path @ X.T)).mean(axis=1)
        apart = separable(X, labels)
        grad = X.T @ (expit(X @ w) - labels) / len(labels) + ridge * w * [0, 1, 1]
        fig, (left, right) = fixed_axes(
            2, (9.6, 4.2), (0.06, 0.93, 0.13, 0.91), wspace=0.2, width_ratios=(1, 1.05)
        )
        _shade(left, w, 4)
        _points(left, points, labels)
        left.plot(x1, x2, "*", color=BLACK, mec="white", markersize=16, label="movable, class 1")
        left.legend(loc="lower right", fontsize=8, frameon=True)
        left.set_title("A line can separate them" if apart else "No line separates them")
        right.plot(loss, color=BLUE, label="mean loss")
        right.set(xlabel="step", ylabel="mean loss", ylim=(0, max(0.8, min(loss.max(), 3) * 1.05)))
        size = right.twinx()
        size.plot(np.linalg.norm(path[:, 1:], axis=1), "--", color=VERMILION)
        right.plot([], [], "--", color=VERMILION, label="‖(w₁, w₂)‖, right axis")
        size.set(ylim=(0, None), ylabel="‖(w₁, w₂)‖")
        size.spines["right"].set_visible(True)
        size.grid(False)
        right.legend(loc="center", fontsize=8)
        right.set_title(f"Loss {loss[-1]:.3g} after {steps} steps")
        return fig, (
            f"The classes are {'separable' if apart else 'not separable'}. After {steps} steps of "
            f"{method} the mean loss is {loss[-1]:.4g}, ‖(w₁, w₂)‖ = {np.linalg.norm(w[1:]):.2f}, the norm of the "
            f"gradient {np.linalg.norm(grad):.1e}; {int(np.sum((X @ w > 0) != labels))} points are on the wrong side."
        )

    return draw


# ---------------------------------------------------------------- separable data


def draw_divergence(steps, norms, angles, ridge):
    """‖w‖ and its angle to the widest street against the step; ‖w‖ against ridge -> (fig, words).

    steps (m,), norms (m,), angles (m,) in degrees. ridge: {lam: norm}.
    """
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.5))
    left.plot(steps, norms, "o-", color=VERMILION)
    left.set(xscale="log", xlabel="step t", ylabel="‖w‖", title="Grows like log t", ylim=(0, None))
    middle.plot(steps, angles, "s--", color=BLUE)
    middle.set(xscale="log", xlabel="step t", ylabel="degrees", ylim=(0, None))
    middle.set_title("Turns to the widest street", fontsize=11)
    right.plot(list(ridge), list(ridge.values()), "D-", color=GREEN)
    right.set(xscale="log", xlabel="ridge λ", ylabel="‖w‖ at the optimum", ylim=(0, None))
    right.set_title("Ridge holds it")
    a, b = list(ridge.items())[0], list(ridge.items())[-1]
    return fig, (
        f"Without a penalty ‖w‖ is {norms[0]:.1f} after {steps[0]} steps and {norms[-1]:.1f} after "
        f"{steps[-1]}; the angle to the direction of the widest street falls from {angles[0]:.1f} to "
        f"{angles[-1]:.1f} degrees. With ridge "
        f"λ = {a[0]:g} ‖w‖ ends at {a[1]:.1f}, with λ = {b[0]:g} at {b[1]:.2f}."
    )


def widest_street(X, y, angles: int = 36_000) -> np.ndarray:
    """The unit vector w (2,) with the largest min_i y'_i <x_i, w>, among that many directions."""
    turn = np.linspace(0, 2 * np.pi, angles, endpoint=False)
    w = np.column_stack([np.cos(turn), np.sin(turn)])
    return w[((2 * y - 1) * (w @ X.T)).min(axis=1).argmax()]


# ---------------------------------------------------------------- odds ratios and decisions


def odds_ratios(X, w) -> np.ndarray:
    """Odds ratio of each weight with its 95 % interval -> (d, 3). w (d,): the unpenalised optimum for X (n, d).

    The covariance of w is taken as the inverse of X' S X with S = diag(p (1 - p)): right for many rows.
    """
    p = expit(X @ w)
    error = np.sqrt(np.diag(np.linalg.inv((X.T * (p * (1 - p))) @ X)))
    return np.exp(w[:, None] + 1.959964 * error[:, None] * np.array([0, -1, 1]))


def confusion(p, y, threshold: float) -> tuple[int, int, int, int]:
    """True positives, false positives, false negatives, true negatives of the rule p > threshold."""
    said, real = np.asarray(p) > threshold, np.asarray(y) > 0.5
    return tuple(
        int(np.sum(a & b)) for a, b in ((said, real), (said, ~real), (~said, real), (~said, ~real))
    )


def precision_recall(p, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall of the rule p > t for t just below each value of p -> three arrays.

    Thresholds fall from the highest p; equal p enter together.
    """
    order = np.argsort(-p, kind="stable")
    last = np.append(np.diff(p[order]) != 0, True)
    found = np.cumsum(y[order])[last]
    said = np.arange(1, len(p) + 1)[last]
    return p[order][last], found / said, found / y.sum()


def threshold_explorer(p, y) -> Callable:
    """-> draw(threshold, ratio): what a threshold does to counts, precision, recall and cost."""
    levels, precision, recall = precision_recall(p, y)
    grid = np.linspace(0.005, 0.995, 199)
    counts = np.array([confusion(p, y, t) for t in grid])

    def draw(threshold: float, ratio: float):
        tp, fp, fn, tn = confusion(p, y, threshold)
        cost = (counts[:, 1] + ratio * counts[:, 2]) / len(y)
        best = grid[cost.argmin()]
        fig, (left, middle, right) = fixed_axes(3, (10.8, 3.6), (0.06, 0.99, 0.15, 0.9), wspace=0.3)
        edges = np.linspace(0, 1, 21)
        heights = [np.histogram(p[y == k], edges)[0] for k in (0, 1)]
        left.stairs(heights[0], edges, color=BLUE, label="benign", linewidth=1.8)
        left.stairs(heights[1], edges, color=VERMILION, label="malignant", linestyle="--", linewidth=1.8)  # fmt: skip
        left.axvline(threshold, color=BLACK)
        left.set(
            xlabel="probability of malignant", ylabel="tumours", title=f"Threshold {threshold:.2f}"
        )
        left.legend(fontsize=8, loc="upper right")
        middle.plot(recall, precision, color=GREEN)
        got = tp / (tp + fn)
        exact = tp / (tp + fp) if tp + fp else np.nan
        middle.plot(got, exact, "o", color=BLACK, markersize=8)
        middle.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.03), ylim=(0, 1.03))
        middle.set_title("Precision against recall")
        right.plot(grid, cost, color=PINK)
        right.axvline(
            1 / (1 + ratio), color=ORANGE, linewidth=5, alpha=0.6, label="c_fp / (c_fp + c_fn)"
        )
        right.axvline(threshold, color=BLACK, label="your threshold")
        right.set(xlabel="threshold", ylabel="mean cost (false alarms)", ylim=(0, None))
        right.set_title(f"A miss costs {ratio:g}")
        right.legend(fontsize=8, loc="lower right")
        told = f"precision {exact:.2f}" if tp + fp else "no precision (nobody is called)"
        return fig, (
            f"Threshold {threshold:.2f}: {tp} malignant found, {fn} missed; {fp} false alarms, {tn} benign left in "
            f"peace. {told[0].upper() + told[1:]}, recall {got:.2f}. Mean cost {(fp + ratio * fn) / len(y):.3f}; "
            f"the cheapest threshold on these tumours is {best:.2f} (cost {cost.min():.3f}), "
            f"the formula says {1 / (1 + ratio):.2f}."
        )

    return draw


# ---------------------------------------------------------------- calibration


def empirical_log_odds(x, y, bins: int):
    """Centres and log-odds of the labels in groups of equal size along x, with standard errors.

    Half a row is added to each label, so that pure groups stay finite. -> three arrays (bins,).
    """
    groups = np.array_split(np.argsort(x, kind="stable"), bins)
    centre = np.array([x[g].mean() for g in groups])
    ones = np.array([y[g].sum() for g in groups]) + 0.5
    zeros = np.array([len(g) for g in groups]) + 1 - ones
    return centre, np.log(ones / zeros), np.sqrt(1 / ones + 1 / zeros)


def draw_log_odds(panels):
    """Log-odds of groups of rows against fitted ones -> (fig, words).

    panels: list of (title, x label, x (n,), y (n,), {label: function of x giving log-odds}).
    """
    fig, axes = plt.subplots(1, len(panels), figsize=(9.4, 3.8))
    told = []
    for ax, (title, label, x, y, fits) in zip(axes, panels, strict=True):
        centre, odds, error = empirical_log_odds(x, y, 12)
        ax.errorbar(centre, odds, error, fmt="o", color=BLACK, capsize=2, label="12 groups of rows")
        at = np.linspace(centre[0], centre[-1], 100)
        for (name, fit), style, color in zip(
            fits.items(), ("-", "--"), (GREEN, VERMILION), strict=False
        ):
            ax.plot(at, fit(at), style, color=color, label=name)
            misses = np.mean(abs(odds - fit(centre)) > 2 * error)
            told.append(f"{title}, {name}: {misses:.0%} of the groups miss by over two standard errors")  # fmt: skip
        ax.set(xlabel=label, ylabel="log-odds of label 1", title=title)
        ax.legend(fontsize=8)
    return fig, f"{'. '.join(told)}."


def draw_reliability(tables: dict):
    """Label share against mean probability in bins, one panel a model -> (fig, words).

    tables: {name: (bins, 3)} with mean p, mean y and count.
    """
    fig, axes = plt.subplots(1, len(tables), figsize=(3.5 * len(tables), 3.9), sharey=True, squeeze=False)  # fmt: skip
    told = []
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        seen = table[table[:, 2] > 0]
        error = np.sum(seen[:, 2] * abs(seen[:, 0] - seen[:, 1])) / seen[:, 2].sum()
        spread = np.sqrt(np.clip(seen[:, 0] * (1 - seen[:, 0]), 1e-9, None) / seen[:, 2])
        low, high = (np.minimum(2 * spread, room) for room in (seen[:, 0], 1 - seen[:, 0]))
        ax.plot([0, 1], [0, 1], "--", color=BLACK, linewidth=1, label="as promised")
        ax.errorbar(
            seen[:, 0], seen[:, 0], [low, high], fmt="none", ecolor=SKY, elinewidth=5, alpha=0.7,
            label="luck: ± 2 standard errors",
        )  # fmt: skip
        ax.plot(seen[:, 0], seen[:, 1], "o", color=VERMILION, label="what happened")
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="mean probability in the bin")
        ax.set_title(f"{name}\ncalibration error {error:.3f}", fontsize=11)
        told.append(f"{name}: calibration error {error:.3f}")
    axes[0, 0].set_ylabel("share of label 1")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig, f"Reliability of predicted probabilities. {'; '.join(told)}."


def draw_choice(lams, loss, accuracy, chosen: int):
    """Validation loss and accuracy against ridge -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(lams, loss, "o-", color=VERMILION)
    left.plot(lams[chosen], loss[chosen], "*", color=BLACK, markersize=15)
    left.set(xscale="log", yscale="log", xlabel="ridge λ", ylabel="validation log-loss (nats)")
    left.set_yticks([0.1, 0.2, 0.4], ["0.1", "0.2", "0.4"])
    left.minorticks_off()
    left.set_title(f"Log-loss is lowest at λ = {lams[chosen]:g}")
    right.plot(lams, accuracy, "s--", color=BLUE)
    right.set(xscale="log", xlabel="ridge λ", ylabel="validation accuracy", ylim=(0.9, 1))
    right.set_title(f"Accuracy moves by {np.ptp(accuracy):.3f} at most")
    return fig, (
        f"Validation log-loss is {loss[0]:.2f} at λ = {lams[0]:g}, lowest, {loss[chosen]:.3f}, at "
        f"λ = {lams[chosen]:g}, and {loss[-1]:.2f} at λ = {lams[-1]:g}. Accuracy is {accuracy[0]:.3f}, "
        f"{accuracy[chosen]:.3f} and {accuracy[-1]:.3f} there."
    )


def draw_sigmoid(sigmoid: Callable):
    """The sigmoid, its slope and the logit -> (fig, words). sigmoid: (n,) -> (n,)."""
    z = np.linspace(-6, 6, 241)
    p = sigmoid(z)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    left.plot(z, p, color=GREEN, label="σ(z)")
    left.plot(z, p * (1 - p), "--", color=VERMILION, label="slope σ(1 − σ)")
    left.axhline(0.25, color=BLACK, linewidth=0.8, linestyle=":")
    left.set(xlabel="score z", ylabel="probability, slope", title="Score to probability")
    left.legend()
    q = np.linspace(0.005, 0.995, 199)
    right.plot(q, logit(q), color=BLUE)
    right.set(xlabel="probability p", ylabel="log-odds", title="Probability to score: the logit")
    return fig, (
        f"The sigmoid is {p[120]:.2f} at 0, {p[180]:.2f} at 3 and {p[60]:.2f} at −3; its slope is largest, "
        f"{(p * (1 - p)).max():.2f}, at 0. The logit is its inverse."
    )

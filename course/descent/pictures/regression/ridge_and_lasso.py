"""Ridge and lasso: penalised fits with hinges, spectra, priors, the two forms of ridge, early stopping.

The solvers here are scikit-learn's; what a student writes is handed in as a function.
"""

import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

# ---------------------------------------------------------------- data


def hinges(x, knots) -> np.ndarray:
    """Columns max(x - knot, 0), one a knot. x (n,), knots (p,) -> (n, p)."""
    return np.maximum(np.subtract.outer(np.asarray(x, float), knots), 0)


def even_knots(p: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """p equally spaced knots strictly between low and high: low + j (high - low) / (p + 1)."""
    return low + np.arange(1, p + 1) * (high - low) / (p + 1)


def products(X) -> np.ndarray:
    """The columns of X (n, d), then all their squares and products; (n, d + d (d + 1) / 2).

    A column of two values is left out where its square says the same as the column itself.
    """
    i, j = np.triu_indices(X.shape[1])
    binary = np.array([len(np.unique(column)) == 2 for column in X.T])
    kept = ~((i == j) & binary[i])
    return np.hstack([X, X[:, i[kept]] * X[:, j[kept]]])


def product_names(X, names) -> list[str]:
    """Names of the columns of `products(X)`."""
    i, j = np.triu_indices(X.shape[1])
    binary = [len(np.unique(column)) == 2 for column in X.T]
    pairs = [
        f"{names[a]}²" if a == b else f"{names[a]}·{names[b]}"
        for a, b in zip(i, j, strict=True)
        if not (a == b and binary[a])
    ]
    return list(names) + pairs


def standardised(X, y, rows):
    """X and y shifted and scaled so that on the given rows every column has mean 0 and variance 1."""
    scale = X[rows].std(axis=0)
    return (X - X[rows].mean(axis=0)) / scale, (y - y[rows].mean()) / y[rows].std()


# ---------------------------------------------------------------- why: fits without any error


def zero_error_fits(n: int = 12, p: int = 30, lam: float = 0.02, seed: int = 5):
    """Two fits through every point and a penalised one, in hinges -> dict of curves and errors."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(seed)
    x, points = (np.arange(n) + 0.5) / n, np.linspace(0, 1, 301)
    y, truth = _wave(x) + 0.25 * rng.normal(size=n), _wave(points)
    knots = even_knots(p)
    A, B = (np.column_stack([np.ones(len(t)), hinges(t, knots)]) for t in (x, points))
    calm = np.linalg.pinv(A) @ y
    free = np.linalg.svd(A)[2][n:]  # directions that change no training prediction
    wild = calm + free.T @ (60 * rng.normal(size=len(free)))
    model = Ridge(lam).fit(A[:, 1:], y)
    held = np.append(model.intercept_, model.coef_)
    fits = {"zero error, wild": wild, "zero error, calm": calm, "penalised": held}
    return dict(
        x=x, y=y, points=points, truth=truth,
        curves={name: B @ w for name, w in fits.items()},
        train={name: np.mean((A @ w - y) ** 2) for name, w in fits.items()},
        test={name: np.mean((B @ w - truth) ** 2) for name, w in fits.items()},
        norm={name: np.linalg.norm(w[1:]) for name, w in fits.items()},
    )  # fmt: skip


def _wave(x):
    return np.sin(2 * np.pi * np.asarray(x))


def draw_zero_error():
    """Two fits with zero training error and a ridge fit beside them -> (fig, words)."""
    fits = zero_error_fits()
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), sharex=True, sharey=True)
    for ax, (name, curve) in zip(axes, fits["curves"].items(), strict=True):
        ax.plot(fits["points"], fits["truth"], "--", color=BLACK, linewidth=1.3, label="truth")
        ax.plot(fits["points"], curve, color=VERMILION, label="fit")
        ax.plot(fits["x"], fits["y"], "o", color=BLUE, label="data")
        ax.set(xlabel="input x", ylim=(-2.2, 2.2))
        ax.set_title(f"{name}:\n{fits['test'][name]:.2f} from the truth", fontsize=11)
    axes[0].set_ylabel("target y")
    axes[2].legend(fontsize=8, loc="upper right")
    told = "; ".join(
        f"{name}: {fits['train'][name]:.2f} on the data, {fits['test'][name]:.2f} from the truth, "
        f"norm of the weights {fits['norm'][name]:.0f}"
        for name in fits["curves"]
    )
    return fig, f"Mean squared errors of three fits with 30 hinges to 12 points. {told}."


# ---------------------------------------------------------------- ridge: paths, spectrum, errors


def ridge_explorer(path: Callable, X, y, names, train, test) -> Callable:
    """-> draw(log_lambda): coefficient paths, spectrum with condition number, and errors.

    path(X, y, lams) -> (len(lams), d), the student's. X, y standardised; train, test: row numbers.
    """
    lams = np.logspace(-2, 5, 71)
    weights = np.asarray(path(X[train], y[train], lams))
    spectrum = np.linalg.svd(X[train], compute_uv=False) ** 2
    errors = [np.mean((weights @ X[rows].T - y[rows]) ** 2, axis=1) for rows in (train, test)]
    best = int(np.argmin(errors[1]))

    def draw(log_lambda: float):
        lam = 10.0**log_lambda
        at = int(np.argmin(np.abs(np.log10(lams) - log_lambda)))
        condition = (spectrum[0] + lam) / (spectrum[-1] + lam)
        fig, axes = fixed_axes(3, (9.6, 3.5), (0.075, 0.995, 0.15, 0.9), wspace=0.26)
        _draw_paths(axes[0], lams, weights, names)
        axes[0].axvline(lam, color=BLACK, linewidth=5, alpha=0.15)
        axes[0].set_title("Weights shrink", fontsize=11)
        axes[0].set(ylabel="weight")
        _draw_spectrum(axes[1], spectrum, lam)
        axes[1].set_title(f"Condition number {condition:.3g}", fontsize=11)
        axes[2].plot(lams, errors[0], ":", color=BLUE, label=f"{len(train)} training rows")
        axes[2].plot(lams, errors[1], "-", color=VERMILION, label=f"{len(test)} fresh rows")
        axes[2].plot(lams[best], errors[1][best], "*", color=VERMILION, markersize=13)
        axes[2].axvline(lam, color=BLACK, linewidth=5, alpha=0.15)
        axes[2].set(xscale="log", xlabel="penalty λ", ylabel="squared error / variance of y")
        axes[2].set_title(f"Best on fresh rows: λ = {lams[best]:.2g}", fontsize=11)
        axes[2].legend(fontsize=8)
        return fig, (
            f"λ = {lam:.3g}: norm of the weights {np.linalg.norm(weights[at]):.2f}, "
            f"condition number {condition:.4g}, training error {errors[0][at]:.3f}, "
            f"error on fresh rows {errors[1][at]:.3f}."
        )

    return draw


def _draw_paths(ax, lams, weights, names):
    styles = ("-", "--", "-.", ":")
    colors = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY)
    for j, name in enumerate(names):
        ax.plot(lams, weights[:, j], styles[j // 3 % 4], color=colors[j % 6], label=name)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set(xscale="log", xlabel="penalty λ")
    ax.legend(fontsize=7, ncols=2, loc="upper right", handlelength=2.4)


def _draw_spectrum(ax, spectrum, lam):
    number = np.arange(1, len(spectrum) + 1)
    ax.vlines(number, spectrum, spectrum + lam, color=ORANGE, linewidth=3, alpha=0.6)
    ax.plot(number, spectrum, "o", color=BLUE, label="s²")
    ax.plot(number, spectrum + lam, "^", color=VERMILION, label="s² + λ")
    ax.set(yscale="log", xlabel="direction", ylabel="eigenvalue", xticks=number)
    ax.set_ylim(0.3 * spectrum[-1], 3e5)
    ax.legend(fontsize=8, loc="upper right")


def draw_fake_points(lam: float = 12.0, seed: int = 2):
    """Ridge as least squares with one invented point a feature -> (fig, words)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=10)
    y = 1.5 * x + 0.5 * rng.normal(size=10)
    x, y = x - x.mean(), y - y.mean()
    plain, held = x @ y / (x @ x), x @ y / (x @ x + lam)
    along, edge = np.array([-2.6, 4.0]), np.sqrt(lam)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(x, y, "o", color=BLUE, label="data")
    left.plot(edge, 0, "s", color=VERMILION, markersize=9, label="fake point (√λ, 0)")
    left.plot(along, plain * along, "--", color=BLACK, label=f"without it: slope {plain:.2f}")
    left.plot(along, held * along, "-", color=VERMILION, label=f"with it: slope {held:.2f}")
    left.set(xlabel="feature x", ylabel="target y", ylim=(-5, 6.5))
    left.set_title("The fake point pulls the slope to 0", fontsize=11)
    left.legend(fontsize=8, loc="upper left")
    cloud = rng.normal(size=(25, 2)) @ np.array([[1.2, 0.8], [0, 0.5]])
    right.plot(*cloud.T, "o", color=BLUE, markersize=4, label="data, targets y")
    right.plot([edge, 0], [0, edge], "s", color=VERMILION, markersize=9, label="fake, target 0")
    right.annotate("√λ e₁", (edge, 0), (0, 9), textcoords="offset points", ha="center")
    right.annotate("√λ e₂", (0, edge), (9, -3), textcoords="offset points")
    right.set(xlabel="feature 1", ylabel="feature 2", xlim=(-3.6, 4.4), ylim=(-3, 5.6))
    right.set_title("Two features: one fake point each", fontsize=11)
    right.legend(fontsize=8, loc="upper left")
    return fig, (
        f"With λ = {lam:g} the fake point stands at x = {edge:.2f}, y = 0 and lowers the slope "
        f"from {plain:.2f} to {held:.2f}. With two features there are two fake points, one on each axis."
    )


# ---------------------------------------------------------------- primal and dual


def forms_explorer(dual: Callable, d: int = 30, noise: float = 0.3, seed: int = 1) -> Callable:
    """-> draw(n, log_lambda): the predictions of both forms, and what each of them costs.

    dual(X, y, lam) -> alpha (n,), the student's. Features: d cosines of decreasing size.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 200)
    y = _wave(x) + noise * rng.normal(size=200)
    points = np.linspace(0, 1, 201)

    def features(t):
        order = np.arange(d)
        return np.cos(np.pi * np.multiply.outer(t, order)) / (1 + order / 4)

    def draw(n: int, log_lambda: float):
        from sklearn.linear_model import Ridge

        X, new, lam = features(x[:n]), features(points), 10.0**log_lambda
        primal = new @ Ridge(lam, fit_intercept=False, solver="svd").fit(X, y[:n]).coef_
        other = new @ X.T @ np.asarray(dual(X, y[:n], lam))
        gap = np.max(np.abs(primal - other))
        fig, (left, right) = fixed_axes(
            2, (9, 3.4), (0.08, 0.99, 0.15, 0.91), wspace=0.27, width_ratios=(1.5, 1)
        )
        left.plot(points, primal, "-", color=SKY, linewidth=6, label=f"primal: {d} × {d} system")
        left.plot(points, other, "--", color=VERMILION, label=f"dual: {n} × {n} system")
        left.plot(x[:n], y[:n], "o", color=BLACK, markersize=3, alpha=0.6)
        left.set(xlabel="input x", ylabel="target y", ylim=(-2, 2))
        same = gap < 1e-8
        left.set_title("One curve, drawn twice" if same else "Two different curves", fontsize=11)
        left.legend(fontsize=9, loc="lower left")
        rows = np.arange(3, 201)
        costs = np.array([list(training_cost(k, d).values()) for k in rows])
        right.plot(rows, costs[:, 0], "-", color=BLUE, label="primal")
        right.plot(rows, costs[:, 1], "--", color=VERMILION, label="dual")
        heights = list(training_cost(n, d).values())
        right.plot([n, n], heights, "o", color=BLACK, markersize=6)
        right.set(xscale="log", yscale="log", xlabel="rows n", ylabel="multiplications to train")
        right.set_xticks([3, 10, 30, 100], ["3", "10", "30", "100"])
        right.minorticks_off()
        cheaper = "primal" if n > d else "dual"
        right.set_title("n = d: a draw" if n == d else f"The {cheaper} is cheaper", fontsize=11)
        right.legend(fontsize=9)
        return fig, (
            f"{n} rows, {d} features, λ = {lam:.3g}: the predictions "
            f"{'agree to 8 decimals' if same else 'differ'}. The primal form takes {heights[0]:.0f} "
            f"multiplications to train, the dual {heights[1]:.0f}."
        )

    return draw


def training_cost(n: int, d: int) -> dict[str, float]:
    """Leading terms of the multiplications to train ridge: form the matrix, then factor it."""
    return {"primal": n * d**2 + d**3 / 3, "dual": n**2 * d + n**3 / 3}


def measured_cost(shapes, repeats: int = 3, seed: int = 0) -> dict[str, list[float]]:
    """Seconds to train either form on random data of each shape (n, d): the best of some runs."""
    rng, seconds = np.random.default_rng(seed), {"primal": [], "dual": []}
    for n, d in shapes:
        X, y = rng.normal(size=(n, d)), rng.normal(size=n)
        for name, A in (("primal", X), ("dual", X.T)):
            side = X.T @ y if name == "primal" else y
            runs = []
            for _ in range(repeats):
                start = time.perf_counter()
                np.linalg.solve(A.T @ A + np.eye(A.shape[1]), side)
                runs.append(time.perf_counter() - start)
            seconds[name].append(min(runs))
    return seconds


def draw_cost(shapes, seconds):
    """Counted multiplications and measured times of both forms against n/d -> (fig, words)."""
    ratio = np.array([n / d for n, d in shapes])
    counted = [training_cost(n, d) for n, d in shapes]
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharex=True)
    looks = (("primal", "o-", BLUE), ("dual", "s--", VERMILION))
    for name, style, color in looks:
        axes[0].plot(ratio, [c[name] for c in counted], style, color=color, label=name)
        axes[1].plot(ratio, 1000 * np.array(seconds[name]), style, color=color, label=name)
    ticks = [1 / 16, 1 / 4, 1, 4, 16]
    for ax, unit in zip(axes, ("multiplications", "milliseconds"), strict=True):
        ax.axvline(1, color=BLACK, linewidth=5, alpha=0.12)
        ax.set(xscale="log", yscale="log", xlabel="rows per feature n / d", ylabel=unit)
        ax.set_xticks(ticks, ["1/16", "1/4", "1", "4", "16"])
        ax.minorticks_off()
        ax.legend()
    axes[0].set_title("Counted: they cross at n = d")
    axes[1].set_title("Measured where this ran")
    return fig, (
        "Work to train ridge in the primal and in the dual form against n/d. By count the dual is "
        "cheaper to the left of n = d and the primal to the right of it. Beside it, the times measured."
    )


# ---------------------------------------------------------------- priors and penalties


def draw_priors(rates=(0.5, 1, 2, 3)):
    """Laplace densities of four rates, and the tails of Laplace and Gauss -> (fig, words)."""
    w, far = np.linspace(-3, 3, 401), np.linspace(0, 6, 200)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    looks = zip(rates, (BLUE, VERMILION, GREEN, PINK), ("-", "--", "-.", ":"), strict=True)
    for kappa, color, style in looks:
        density = kappa / 2 * np.exp(-kappa * np.abs(w))
        told = f"κ = {kappa:g}, variance {2 / kappa**2:.2g}"
        left.plot(w, density, style, color=color, label=told)
    left.set(xlabel="weight w", ylabel="density (κ/2) exp(-κ|w|)", ylim=(0, 1.9))
    left.set_title("A larger rate κ is a narrower prior")
    left.legend(fontsize=8)
    rate = np.sqrt(2)
    laplace, gauss = rate / 2 * np.exp(-rate * far), np.exp(-(far**2) / 2) / np.sqrt(2 * np.pi)
    right.plot(far, laplace, "-", color=BLUE, label="Laplace: a cusp at 0, heavy tail")
    right.plot(far, gauss, "--", color=VERMILION, label="Gauss: flat at 0, light tail")
    right.set(yscale="log", ylim=(1e-5, 2), xlabel="weight w", ylabel="density")
    right.set_title("Both of variance 1")
    right.legend(fontsize=8, loc="upper right")
    beyond = np.exp(-3 * rate)
    return fig, (
        f"Laplace densities for κ = {', '.join(f'{kappa:g}' for kappa in rates)} peak at κ/2. With variance 1 "
        f"a Laplace weight lies beyond 3 with probability {beyond:.4f}, a Gaussian one with 0.0027."
    )


def shrink(a, lam, p: float) -> np.ndarray:
    """argmin over w of ½ (w - a)² + lam |w|^p for p >= 1, by bisection of the slope on [0, |a|]."""
    size, lam = np.abs(a), np.asarray(lam, float)
    low, high = np.zeros_like(size), size.copy()
    for _ in range(50):
        middle = (low + high) / 2
        uphill = middle - size + lam * p * middle ** (p - 1) > 0
        low, high = np.where(uphill, low, middle), np.where(uphill, middle, high)
    return np.sign(a) * np.where(low == 0, 0.0, (low + high) / 2)


def penalised_minima(H, centre, lams, p: float, steps: int = 150) -> np.ndarray:
    """Minimisers of ½ (w - centre)ᵀ H (w - centre) + lam Σ|w_j|^p, one a penalty -> (len(lams), d).

    Gradient steps on the first term, each followed by `shrink`.
    """
    step = 1 / np.linalg.eigvalsh(H)[-1]
    lams = np.asarray(lams, float)[:, None]
    w = np.tile(np.asarray(centre, float), (len(lams), 1))
    for _ in range(steps):
        w = shrink(w - step * (w - centre) @ H, step * lams, p)
    return w


LOSS = np.array([[2.0, 0.9], [0.9, 1.0]]), np.array([1.6, 0.55])


def draw_balls(lam: float = 0.8, powers=(1.0, 1.5, 2.0)):
    """One loss, three penalties: where the loss contour touches the ball -> (fig, words)."""
    H, centre = LOSS
    axis = np.linspace(-1.7, 2.7, 177)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    loss = 0.5 * np.einsum("...i,ij,...j", grid - centre, H, grid - centre)
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.5), sharey=True)
    told = []
    for ax, p in zip(axes, powers, strict=True):
        w = penalised_minima(H, centre, [lam / p], p)[0]
        track = penalised_minima(H, centre, np.geomspace(1e-3, 30, 40), p)
        at = 0.5 * (w - centre) @ H @ (w - centre)
        ax.contour(
            axis, axis, loss, levels=at * np.array([0.2, 1, 2.5, 5]), colors=[BLUE], linewidths=1
        )
        ball = (np.abs(grid) ** p).sum(-1)
        ax.contourf(
            axis, axis, ball, levels=[0, np.sum(np.abs(w) ** p)], colors=[ORANGE], alpha=0.5
        )
        ax.plot(*track.T, "-", color=VERMILION, linewidth=1.3)
        ax.plot(*centre, "s", color=BLUE, label="least loss")
        ax.plot(*w, "*", color=VERMILION, markersize=14, label="penalised")
        ax.axhline(0, color=BLACK, linewidth=0.6)
        ax.axvline(0, color=BLACK, linewidth=0.6)
        ax.set(xlabel="weight w₁", aspect="equal")
        ax.grid(False)
        zero = "w₂ = 0" if w[1] == 0 else f"w₂ = {w[1]:.2f}"
        ax.set_title(f"p = {p:g}: {zero}", fontsize=11)
        told.append(f"p = {p:g} at ({w[0]:.2f}, {w[1]:.2f})")
    axes[0].set_ylabel("weight w₂")
    axes[0].legend(fontsize=8, loc="upper left")
    return fig, (
        "Contours of the loss touch the ball Σ|w|^p at the penalised minimum: "
        f"{', '.join(told)}. Only p = 1 has corners, on the axes. The line is the minimum as λ grows."
    )


def draw_posterior(log_sd: float, noise: float):
    """Negative log posterior under a Gaussian and a Laplace prior of one width -> (fig, words)."""
    H, centre = LOSS
    sd = 10.0**log_sd
    axis = np.linspace(-1.2, 2.6, 61)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    likelihood = 0.5 * np.einsum("...i,ij,...j", grid - centre, H, grid - centre) / noise**2
    sds = np.geomspace(0.05, 20, 30)
    fig, axes = fixed_axes(2, (9, 4), (0.08, 0.99, 0.13, 0.91), wspace=0.06, sharey=True)
    told = []
    for ax, name, p in zip(axes, ("Gaussian", "Laplace"), (2.0, 1.0), strict=True):
        tracked = penalised_minima(H, centre, prior_to_penalty(noise, np.append(sds, sd), p), p)
        w = tracked[-1]
        penalty = prior_to_penalty(1.0, sd, p) * (np.abs(grid) ** p).sum(-1)
        posterior = likelihood + penalty
        levels = np.linspace(0, 1, 9)[1:] ** 2 * 12
        ax.contourf(
            axis,
            axis,
            posterior - posterior.min(),
            levels=np.append(0, levels),
            cmap="cividis_r",
            alpha=0.6,
        )
        ax.contour(axis, axis, likelihood, levels=levels[1::2], colors=[BLUE], linewidths=1)
        ax.contour(
            axis,
            axis,
            penalty,
            levels=[0.1, 0.5, 2, 4.5],
            colors=[BLACK],
            linewidths=1,
            linestyles=":",
        )
        ax.plot(*tracked[:-1].T, "-", color=VERMILION, linewidth=1.3)
        ax.plot(*w, "*", color=VERMILION, markersize=17, markeredgecolor="white", label="MAP")
        ax.plot(
            *centre, "s", color=BLUE, markersize=5, markeredgecolor="white", label="most likely"
        )
        ax.set(xlabel="weight w₁", xlim=(-1.2, 2.6), ylim=(-1.2, 2.6))
        ax.grid(False)
        zeros = int(np.sum(w == 0))
        lam = prior_to_penalty(noise, sd, p) * (2 if p == 2 else 1)
        ax.set_title(f"{name} prior: λ = {lam:.3g}, exact zeros: {zeros}", fontsize=11)
        told.append(
            f"{name} prior: λ = {lam:.3g}, MAP at ({w[0]:.2f}, {w[1]:.2f}), exact zeros: {zeros}"
        )
    axes[0].set_ylabel("weight w₂")
    axes[0].legend(fontsize=9, loc="lower left")
    return fig, (
        f"Prior standard deviation {sd:.2g}, noise {noise:.2g}. {'; '.join(told)}. Lines: likelihood; "
        "dotted: prior; shading: their sum; the path is the MAP as the prior narrows."
    )


def prior_to_penalty(noise, sd, p: float):
    """Factor of Σ|w_j|^p in ½‖y - Xw‖² + … for a prior of standard deviation sd: p = 2 Gauss, 1 Laplace."""
    return noise**2 / (2 * sd**2) if p == 2 else noise**2 * np.sqrt(2) / sd


def draw_thresholds(threshold: Callable, lam: float = 1.0):
    """Minimised sums in one dimension, and the minimiser against a -> (fig, words).

    threshold(a, lam), the student's, for the absolute value.
    """
    w, a = np.linspace(-1, 2.5, 301), np.linspace(-3, 3, 121)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    for at, color, marker in ((0.6, BLUE, "o"), (1.8, VERMILION, "s")):
        value = 0.5 * (w - at) ** 2 + lam * np.abs(w)
        best = float(np.asarray(threshold(np.array([at]), lam))[0])
        left.plot(w, value, "-", color=color, label=f"a = {at}")
        free = f"a = {at}, no penalty"
        left.plot(w, 0.5 * (w - at) ** 2, ":", color=color, label=free)
        left.plot(best, 0.5 * (best - at) ** 2 + lam * abs(best), marker, color=color, markersize=9)
    left.set(xlabel="weight w", ylabel="½ (w - a)² + λ|w|", ylim=(0, 3.2))
    left.set_title("The kink holds the minimum at 0 if |a| ≤ λ", fontsize=11)
    left.legend(fontsize=8)
    soft, ridge = np.asarray(threshold(a, lam)), a / (1 + lam)
    right.plot(a, a, ":", color=BLACK, label="no penalty")
    right.plot(a, ridge, "--", color=GREEN, label="½ λ w²: a / (1 + λ)")
    right.plot(a, soft, "-", color=VERMILION, label="λ|w|: soft threshold")
    right.set(xlabel="least-squares weight a", ylabel="penalised weight")
    right.set_title(f"λ = {lam:g}: one scales, the other subtracts", fontsize=11)
    right.legend(fontsize=9)
    return fig, (
        f"With λ = {lam:g}: a = 0.6 is set to 0 by |w| and to {0.6 / (1 + lam):.2f} by w²; "
        f"a = 1.8 becomes {1.8 - lam:.2f} and {1.8 / (1 + lam):.2f}. Between -λ and λ the soft threshold is 0."
    )


def draw_two_paths(lams, ridge, lasso, names):
    """Coefficient paths of ridge and lasso on the same data -> (fig, words). Weights (len(lams), d)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True)
    for ax, weights, name in zip(axes, (ridge, lasso), ("Ridge", "Lasso"), strict=True):
        _draw_paths(ax, lams, weights, names)
        ax.get_legend().remove()
        zeros = int(np.sum(weights[len(lams) // 2] == 0))
        ax.set_title(f"{name}: {zeros} of {len(names)} are 0 at λ = {lams[len(lams) // 2]:.3g}")
    axes[0].set_ylabel("weight (y in standard deviations)")
    axes[1].legend(*axes[0].get_legend_handles_labels(), fontsize=8, ncols=2, handlelength=2.4)
    entered = np.argmax(lasso[::-1] != 0, axis=0)  # from the largest penalty on
    order = [names[j] for j in np.argsort(entered, kind="stable")]
    return fig, (
        f"As λ falls, the lasso's weights leave 0 one after the other, first {', '.join(order[:3])}. "
        "Ridge's weights are small at a large penalty and none is exactly 0."
    )


# ---------------------------------------------------------------- break points: the curve and its knots


def knots_world(n: int = 40, p: int = 19, noise: float = 0.1, seed: int = 4):
    """Noisy data from a broken line with three kinks, which lie on knots -> dict."""
    rng = np.random.default_rng(seed)
    knots = even_knots(p)
    kinks, slopes = np.array([0.25, 0.5, 0.8]), np.array([4.0, -9.0, 8.0])
    x = np.sort(rng.uniform(0, 1, n))
    points = np.linspace(0, 1, 201)

    def truth(t):
        return 0.2 + hinges(t, kinks) @ slopes

    return dict(
        x=x, y=truth(x) + noise * rng.normal(size=n), points=points, truth=truth(points),
        knots=knots, kinks=kinks, noise=noise,
    )  # fmt: skip


def knots_explorer() -> Callable:
    """-> draw(log_lambda, penalty): the curve, its slope changes at the knots, and the errors.

    Minimised is ½ Σ (y - fit)² + λ Σ β_j² or λ Σ |β_j|, as the notes write it (wu 1.4.2); β_0 is free.
    """
    from sklearn.linear_model import Ridge, lasso_path

    world = knots_world()
    A, B = hinges(world["x"], world["knots"]), hinges(world["points"], world["knots"])
    y, n = world["y"], len(world["y"])
    lams = np.logspace(0.5, -3, 29)
    centred = A - A.mean(0)
    lasso = lasso_path(
        centred, y - y.mean(), alphas=lams / n, precompute=True, tol=1e-9, max_iter=100_000
    )[1].T
    ridge = np.array([Ridge(2 * lam).fit(A, y).coef_ for lam in lams])
    fits = {}
    for name, betas in (("ridge", ridge), ("lasso", lasso)):
        offset = y.mean() - betas @ A.mean(0)
        train = np.mean((betas @ A.T + offset[:, None] - y) ** 2, axis=1)
        curves = betas @ B.T + offset[:, None]
        test = np.mean((curves - world["truth"]) ** 2, axis=1) + world["noise"] ** 2
        fits[name] = dict(betas=betas, curves=curves, train=train, test=test)

    def draw(log_lambda: float, penalty: str):
        at = int(np.argmin(np.abs(np.log10(lams) - log_lambda)))
        fit = fits[penalty]
        beta = fit["betas"][at]
        used = int(np.sum(np.abs(beta) > 1e-6))
        fig, axes = fixed_axes(3, (9.6, 3.4), (0.075, 0.995, 0.15, 0.9), wspace=0.26)
        axes[0].plot(world["points"], world["truth"], "--", color=BLACK, linewidth=1.2)
        axes[0].plot(world["points"], fit["curves"][at], color=VERMILION)
        axes[0].plot(world["x"], y, "o", color=BLUE, markersize=3)
        axes[0].set(xlabel="input x", ylabel="target y", ylim=(-0.6, 1.6), xticks=[0, 0.5, 1])
        axes[0].set_title("Fit (solid), truth (dashed)", fontsize=11)
        for kink in world["kinks"]:
            axes[1].axvline(kink, color=BLACK, linestyle="--", linewidth=0.9)
        axes[1].vlines(world["knots"], 0, beta, color=VERMILION)
        axes[1].plot(world["knots"], beta, "o", color=VERMILION, markersize=4)
        axes[1].axhline(0, color=BLACK, linewidth=0.8)
        axes[1].set(xlabel="knot", ylabel="change of slope β", ylim=(-11, 11))
        axes[1].set_title(f"{used} of {len(beta)} knots are used", fontsize=11)
        axes[2].plot(lams, fit["train"], ":", color=BLUE, label="training")
        axes[2].plot(lams, fit["test"], "-", color=VERMILION, label="new data")
        axes[2].axvline(lams[at], color=BLACK, linewidth=5, alpha=0.15)
        axes[2].set(xscale="log", yscale="log", xlabel="penalty λ", ylabel="mean squared error")
        axes[2].set_ylim(0.004, 0.3)
        best = lams[fit["test"].argmin()]
        axes[2].set_title(f"Best: λ = {best:.2g}", fontsize=11)
        axes[2].legend(fontsize=8, loc="upper left")
        return fig, (
            f"{penalty}, λ = {lams[at]:.3g}: {used} of {len(beta)} knots used, training error "
            f"{fit['train'][at]:.4f}, error on new data {fit['test'][at]:.4f}. "
            f"The lowest on new data is {fit['test'].min():.4f}."
        )

    return draw


# ---------------------------------------------------------------- early stopping


def descent_errors(X, y, parts, eta: float, steps: int) -> np.ndarray:
    """Mean squared error on each part along gradient descent on ‖y - Xw‖² / 2m over the m rows of parts[0].

    X (n, d), y (n,), w starts at 0 -> (steps + 1, len(parts)).
    """
    A, b = X[parts[0]], y[parts[0]]
    w, errors = np.zeros(X.shape[1]), []
    for _ in range(steps + 1):
        errors.append([np.mean((X[rows] @ w - y[rows]) ** 2) for rows in parts])
        w = w - eta * A.T @ (A @ w - b) / len(b)
    return np.array(errors)


def patience_explorer(rule: Callable, errors) -> Callable:
    """-> draw(patience, min_delta): where the rule stops and which weights it brings back.

    rule(val_losses, patience, min_delta) -> (stop, best), the student's.
    errors (epochs + 1, 3): training, validation and test.
    """
    errors = np.asarray(errors)

    def draw(patience: int, min_delta: float):
        stop, best = (int(v) for v in rule(errors[:, 1], patience, min_delta))
        fig, ax = fixed_axes(1, (7.2, 3.8), (0.1, 0.98, 0.14, 0.91))
        epochs = np.arange(len(errors))
        for column, (name, style, color) in enumerate(
            (("training", ":", BLUE), ("validation", "-", VERMILION), ("test", "--", BLACK))
        ):
            ax.plot(epochs[: stop + 1], errors[: stop + 1, column], style, color=color, label=name)
            ax.plot(epochs[stop:], errors[stop:, column], style, color=color, alpha=0.25)
        ax.axvline(stop, color=BLACK, linewidth=5, alpha=0.15, label="stopped here")
        ax.plot(best, errors[best, 1], "*", color=VERMILION, markersize=15, label="brought back")
        ax.set(xlabel="epoch", ylabel="squared error / variance of y", ylim=(0.2, 1.05))
        ax.set_title(f"Stops at epoch {stop}, brings back epoch {best}")
        ax.legend(fontsize=9, ncols=2)
        return fig, (
            f"Patience {patience}, min_delta {min_delta:g}: training stops at epoch {stop} of {len(errors) - 1} "
            f"and epoch {best} is brought back. Validation error {errors[best, 1]:.3f} there; test error "
            f"{errors[best, 2]:.3f}, after the last epoch {errors[-1, 2]:.3f}."
        )

    return draw


def draw_filters(ridge_errors, descent, times):
    """Factors of ridge and of stopped descent, and test errors along both paths -> (fig, words).

    times (m,): step times number of steps, which is 1/λ for ridge. ridge_errors, descent (m,).
    """
    x = np.logspace(-2, 2, 200)
    ridge, flow = x / (1 + x), 1 - np.exp(-x)
    ratio = flow / ridge
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(x, flow, "-", color=VERMILION, label="descent: 1 - exp(-ts²)")
    left.plot(x, ridge, "--", color=BLUE, label="ridge: s² / (s² + 1/t)")
    left.axvline(x[ratio.argmax()], color=BLACK, linewidth=5, alpha=0.12)
    left.set(xscale="log", xlabel="t s²", ylabel="kept share of a direction")
    left.set_title(f"Never more than {ratio.max():.2f} times apart", fontsize=11)
    left.legend(fontsize=9)
    right.plot(times, descent, "-", color=VERMILION, label="descent stopped at t")
    right.plot(times, ridge_errors, "--", color=BLUE, label="ridge with λ = 1/t")
    for values, color in ((descent, VERMILION), (ridge_errors, BLUE)):
        right.plot(times[values.argmin()], values.min(), "*", color=color, markersize=13)
    right.set(
        xscale="log", xlabel="t = step × number of steps", ylabel="test error / variance of y"
    )
    right.set_title(f"Lowest: {descent.min():.3f} and {ridge_errors.min():.3f}", fontsize=11)
    right.legend(fontsize=9)
    return fig, (
        f"The factors of stopped descent and ridge differ most, by a factor {ratio.max():.3f}, at ts² = "
        f"{x[ratio.argmax()]:.2g}. Lowest test errors: descent {descent.min():.3f} at t = "
        f"{times[descent.argmin()]:.2g}, ridge {ridge_errors.min():.3f} at 1/λ = {times[ridge_errors.argmin()]:.2g}."
    )


# ---------------------------------------------------------------- closing: errors on real data


def penalty_races(X, y, lams, train: int, splits: int, seed: int = 0):
    """Test errors of ridge and lasso for every penalty, over random splits.

    X (n, d), y (n,) raw. Each split draws `train` rows and standardises by them. Minimised are
    ½‖y - Xw‖² + ½ λ‖w‖² and ½‖y - Xw‖² + λ‖w‖₁ -> {"ridge": (splits, len(lams)), "lasso": …,
    "used": (splits, len(lams)) nonzero weights of the lasso}. lams in decreasing order.
    """
    from sklearn.linear_model import lasso_path

    out = {"ridge": [], "lasso": [], "used": []}
    for seed_ in range(seed, seed + splits):
        order = np.random.default_rng(seed_).permutation(len(y))
        rows, rest = order[:train], order[train:]
        A, b = standardised(X, y, rows)
        lasso = lasso_path(A[rows], b[rows], alphas=lams / train, tol=1e-5, max_iter=300_000)[1].T
        gram, moment = A[rows].T @ A[rows], A[rows].T @ b[rows]
        ridge = np.linalg.solve(gram + lams[:, None, None] * np.eye(len(gram)), moment[:, None])
        for name, weights in (("ridge", ridge[..., 0]), ("lasso", lasso)):
            out[name].append(np.mean((weights @ A[rest].T - b[rest]) ** 2, axis=1))
        out["used"].append(np.sum(lasso != 0, axis=1))
    return {name: np.array(values) for name, values in out.items()}


def draw_races(lams, races, simple: float):
    """Mean test error of ridge and lasso against the penalty -> (fig, words).

    simple: mean test error of least squares on the ten plain features.
    """
    fig, ax = plt.subplots(figsize=(7.2, 3.8))
    told = []
    for name, style, color in (("ridge", "--", BLUE), ("lasso", "-", VERMILION)):
        mean = races[name].mean(axis=0)
        best = int(mean.argmin())
        ax.plot(lams, mean, style, color=color, label=name)
        ax.plot(lams[best], mean[best], "*", color=color, markersize=13)
        told.append(f"{name} {mean[best]:.3f} at λ = {lams[best]:.2g}")
    ax.axhline(simple, color=BLACK, linestyle=":", label="least squares, 10 features")
    ax.set(xscale="log", xlabel="penalty λ", ylabel="test error / variance of y", ylim=(0.45, 1.05))
    used = races["used"].mean(axis=0)[races["lasso"].mean(axis=0).argmin()]
    ax.set_title(f"At its best the lasso uses {used:.0f} of 64 features")
    ax.legend()
    return fig, (
        f"Lowest mean test errors: {'; '.join(told)}; least squares on the ten plain features {simple:.3f}. "
        f"At its best the lasso keeps {used:.0f} of 64 weights."
    )

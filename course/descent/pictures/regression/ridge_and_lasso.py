"""Ridge and lasso: penalised fits, spectra, priors, paths to drag, early stopping.

The solvers here are scikit-learn's; what a student writes is handed in as a function.
"""

import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes
from descent.words import say

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


# ---------------------------------------------------------------- why


def draw_opening(X, y, train, test):
    """What least squares and a lasso say of new patients, against what came -> (fig, words)."""
    from sklearn.linear_model import Lasso

    X, y = standardised(X, y, train)
    free = np.linalg.lstsq(X[train], y[train])[0]
    held = Lasso(7.5 / len(train), fit_intercept=False).fit(X[train], y[train]).coef_
    return draw_patients(X[test] @ free, X[test] @ held, y[test])


def draw_patients(free, held, came):
    """Two predictions of new patients, each against what came; both (m,) -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.7), sharex=True, sharey=True)
    looks = (("least squares", free, BLUE, "o"), ("lasso", held, VERMILION, "s"))
    edge = 1.05 * max(np.abs(free).max(), np.abs(came).max())
    misses = []
    for ax, (name, told, color, marker) in zip(axes, looks, strict=True):
        misses.append(np.mean((told - came) ** 2))
        ax.plot([-2.5, 2.5], [-2.5, 2.5], "--", color=BLACK, linewidth=1, label="right")
        ax.plot(told, came, marker, color=color, markersize=4, alpha=0.7, label="a new patient")
        ax.set(xlabel="foretold (standard deviations)", xlim=(-edge, edge))
        ax.set_title(f"{name}: misses by {misses[-1]:.2f}")
    axes[0].set_ylabel("came (standard deviations)")
    axes[0].legend(fontsize=9)
    return fig, say(
        "{patients} new patients. Mean squared error in units of the variance: least squares {free:.2f}, "
        "the lasso {held:.2f}, the mean for everybody {mean:.2f}. Least squares foretells up to {far:.1f}, "
        "no patient lies beyond {came:.1f}.",
        patients=len(came),
        free=misses[0],
        held=misses[1],
        mean=np.mean(came**2),
        far=np.abs(free).max(),
        came=np.abs(came).max(),
    )


def kelvin_changes(n: int = 30, lam: float = 2.0, seed: int = 1) -> dict[str, float]:
    """By how much the slope of a ridge fit changes when 273 is added to every target, whatever these are.

    With a penalised and with a free offset; inputs in [1, 2].
    """
    rng = np.random.default_rng(seed)
    A, changes = np.column_stack([np.ones(n), rng.uniform(1, 2, n)]), {}
    for name, held in (("penalised", [1.0, 1.0]), ("free", [0.0, 1.0])):
        inverse = np.linalg.inv(A.T @ A + lam * np.diag(held))
        changes[name] = float((inverse @ A.T @ np.full(n, 273.0))[1])
    return changes


def zero_error_fits(n: int = 12, p: int = 30, lam: float = 0.02, seed: int = 5):
    """Two fits through every point and a penalised one, in hinges -> dict of curves and errors."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(seed)
    x, points = (np.arange(n) + 0.5) / n, np.linspace(0, 1, 301)
    truth = np.sin(2 * np.pi * points)
    y = np.sin(2 * np.pi * x) + 0.25 * rng.normal(size=n)
    knots = even_knots(p)
    A, B = (np.column_stack([np.ones(len(t)), hinges(t, knots)]) for t in (x, points))
    calm = np.linalg.pinv(A) @ y
    free = np.linalg.svd(A)[2][n:]  # directions that change no training prediction
    wild = calm + free.T @ (60 * rng.normal(size=len(free)))
    model = Ridge(lam).fit(A[:, 1:], y)
    held = np.append(model.intercept_, model.coef_)
    fits = {"no error, wild": wild, "no error, calm": calm, "penalised": held}
    return dict(
        x=x, y=y, points=points, truth=truth,
        curves={name: B @ w for name, w in fits.items()},
        train={name: np.mean((A @ w - y) ** 2) for name, w in fits.items()},
        test={name: np.mean((B @ w - truth) ** 2) for name, w in fits.items()},
    )  # fmt: skip


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
    train, test = list(fits["train"].values()), list(fits["test"].values())
    return fig, say(
        "Mean squared errors of three fits with 30 hinges to 12 points, wild, calm, penalised: "
        "on the data {train[0]:.2f}, {train[1]:.2f} and {train[2]:.2f}, "
        "from the truth {test[0]:.2f}, {test[1]:.2f} and {test[2]:.2f}.",
        train=train,
        test=test,
    )


# ---------------------------------------------------------------- paths, spectrum, errors


def ridge_explorer(path: Callable, X, y, names, train) -> Callable:
    """-> draw(lam): coefficient paths, spectrum with condition number, and errors.

    path(X, y, lams) -> (len(lams), d), the student's. X, y standardised; train: row numbers, all others test.
    """
    lams = np.logspace(-2, 5, 71)
    weights = np.asarray(path(X[train], y[train], lams))
    spectrum = np.linalg.svd(X[train], compute_uv=False) ** 2
    test = np.setdiff1d(np.arange(len(y)), train)
    errors = [np.mean((weights @ X[rows].T - y[rows]) ** 2, axis=1) for rows in (train, test)]
    best = int(np.argmin(errors[1]))

    def draw(lam: float):
        at = int(np.argmin(np.abs(np.log(lams / lam))))
        condition = (spectrum[0] + lam) / (spectrum[-1] + lam)
        fig, axes = fixed_axes(3, (9.6, 3.5), (0.075, 0.995, 0.15, 0.9), wspace=0.26)
        _draw_paths(axes[0], lams, weights, names, lam)
        axes[0].set_gid("path")
        axes[0].set_title("Weights shrink", fontsize=11)
        axes[0].set(ylabel="weight")
        axes[0].legend(fontsize=8, ncols=2, loc="lower right", handlelength=2.4)
        _draw_spectrum(axes[1], spectrum, lam)
        axes[1].set_title(f"Condition number {condition:.3g}", fontsize=11)
        axes[2].plot(lams, errors[0], ":", color=BLUE, label=f"{len(train)} training rows")
        axes[2].plot(lams, errors[1], "-", color=VERMILION, label=f"{len(test)} fresh rows")
        axes[2].plot(lams[best], errors[1][best], "*", color=VERMILION, markersize=13)
        axes[2].axvline(lam, color=BLACK, linewidth=5, alpha=0.15)
        axes[2].set(xscale="log", xlabel="penalty λ", ylabel="squared error / variance of y")
        axes[2].set_title(f"Best on fresh rows: λ = {lams[best]:.2g}", fontsize=11)
        axes[2].legend(fontsize=8)
        return fig, say(
            "λ = {lam:.3g}: norm of the weights {norm:.2f}, condition number {condition:.4g}, "
            "error on the training rows {train:.3f}, on fresh rows {fresh:.3f}.",
            lam=lam,
            norm=np.linalg.norm(weights[at]),
            condition=condition,
            train=errors[0][at],
            fresh=errors[1][at],
        )

    return draw


def _draw_paths(ax, lams, weights, names, lam):
    styles = ("-", "--", "-.", ":")
    colors = (BLUE, VERMILION, GREEN, PINK, ORANGE, SKY)
    for j, name in enumerate(names):
        ax.plot(lams, weights[:, j], styles[j // 3 % 4], color=colors[j % 6], label=name)
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.axvline(lam, color=BLACK, linewidth=5, alpha=0.15)
    ax.set(xscale="log", xlabel="penalty λ")


def _draw_spectrum(ax, spectrum, lam):
    number = np.arange(1, len(spectrum) + 1)
    ax.vlines(number, spectrum, spectrum + lam, color=ORANGE, linewidth=3, alpha=0.6)
    ax.plot(number, spectrum, "o", color=BLUE, label="s²")
    ax.plot(number, spectrum + lam, "^", color=VERMILION, label="s² + λ")
    ax.set(yscale="log", xlabel="direction", ylabel="eigenvalue", xticks=number)
    ax.set_ylim(0.3 * spectrum[-1], 3e5)
    ax.legend(fontsize=8, loc="upper right")


def two_paths_explorer(lams, ridge, lasso, names) -> Callable:
    """-> draw(lam): the paths of ridge and lasso on the same data. Weights (len(lams), d)."""
    ridge, lasso = np.asarray(ridge), np.asarray(lasso)

    def draw(lam: float):
        at = int(np.argmin(np.abs(np.log(lams / lam))))
        fig, axes = fixed_axes(2, (9, 3.9), (0.08, 0.99, 0.14, 0.91), wspace=0.08, sharey=True)
        for ax, weights, name in zip(axes, (ridge, lasso), ("Ridge", "Lasso"), strict=True):
            _draw_paths(ax, lams, weights, names, lam)
            zeros = int(np.sum(weights[at] == 0))
            ax.set_title(f"{name}: {zeros} of {len(names)} weights are 0", fontsize=11)
        axes[0].set_ylabel("weight (y in standard deviations)")
        axes[1].legend(fontsize=8, ncols=2, handlelength=2.4)
        axes[1].set_gid("path")
        inside = [name for name, w in zip(names, lasso[at], strict=True) if w != 0]
        return fig, say(
            "λ = {lam:.3g}: the lasso uses {used} of {all} weights ({inside:, }). Exactly 0 in ridge: {zeros}.",
            lam=lam,
            used=len(inside),
            all=len(names),
            inside=inside or ["none"],
            zeros=int(np.sum(ridge[at] == 0)),
        )

    return draw


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
    return fig, say(
        "With λ = {lam:g} the fake point stands at x = {edge:.2f}, y = 0 and lowers the slope "
        "from {plain:.2f} to {held:.2f}. With two features there are two fake points, one on each axis.",
        lam=lam, edge=edge, plain=plain, held=held,
    )  # fmt: skip


# ---------------------------------------------------------------- primal and dual


def training_cost(n: int, d: int) -> dict[str, float]:
    """Leading terms of the multiplications to train ridge: form the matrix, then factor it."""
    return {"primal": n * d**2 + d**3 / 3, "dual": n**2 * d + n**3 / 3}


def gene_ratio(n: int = 100, d: int = 20_000) -> float:
    """How many times the dual's multiplications the primal form takes."""
    cost = training_cost(n, d)
    return cost["primal"] / cost["dual"]


def draw_cost(d: int):
    """Multiplications to train either form of ridge with d features, against the rows -> (fig, words)."""
    rows = np.arange(3, 301)
    costs = {
        form: np.array([training_cost(n, d)[form] for n in rows]) for form in ("primal", "dual")
    }
    fig, ax = plt.subplots(figsize=(6, 3.4))
    ax.plot(rows, costs["primal"], "-", color=BLUE, label=f"primal: {d} × {d} system")
    ax.plot(rows, costs["dual"], "--", color=VERMILION, label="dual: n × n system")
    ax.axvline(d, color=BLACK, linewidth=5, alpha=0.12)
    ax.set(xscale="log", yscale="log", xlabel="rows n", ylabel="multiplications to train")
    ax.set_title(f"{d} features: the two forms cross at n = {d}")
    ax.legend()
    return fig, say(
        "With {d} features the dual form is cheaper up to {last} rows and the primal from {first} rows on.",
        d=d,
        last=int(rows[costs["dual"] < costs["primal"]].max()),
        first=int(rows[costs["primal"] < costs["dual"]].min()),
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
    return fig, say(
        "A larger rate κ is a narrower Laplace prior, with its peak at κ/2. Of variance 1, "
        "a Laplace weight lies beyond 3 with probability {laplace:.4f}, a Gaussian one with {gauss:.4f}.",
        laplace=beyond,
        gauss=math.erfc(3 / math.sqrt(2)),
    )


def shrunk(a: float, p: int, lam: float = 1.0) -> float:
    """argmin over a grid of ½ (w - a)² + lam |w|^p / p, by brute force."""
    w = np.linspace(-6, 6, 120_001)
    return float(w[np.argmin((w - a) ** 2 / 2 + lam * np.abs(w) ** p / p)])


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
    ends = []
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
        ends.append(say("p = {p:g} at ({w[0]:.2f}, {w[1]:.2f})", p=p, w=w))
    axes[0].set_ylabel("weight w₂")
    axes[0].legend(fontsize=8, loc="upper left")
    return fig, say(
        "Contours of the loss touch the ball Σ|w|^p at the penalised minimum: "
        "{ends:, }. Only p = 1 has corners, on the axes. The line is the minimum as λ grows.",
        ends=ends,
    )


def draw_posterior(sd: float, noise: float):
    """Negative log posterior under a Gaussian and a Laplace prior of one width -> (fig, words)."""
    H, centre = LOSS
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
        text = "{name} prior: λ = {lam:.3g}, MAP at ({w[0]:.2f}, {w[1]:.2f}), exact zeros: {zeros}"
        told.append(say(text, name=name, lam=lam, w=w, zeros=zeros))
    axes[0].set_ylabel("weight w₂")
    axes[0].legend(fontsize=9, loc="lower left")
    return fig, say(
        "Prior standard deviation {sd:.2g}, noise {noise:.2g}. {told:; }. Lines: likelihood; "
        "dotted: prior; shading: their sum; the path is the MAP as the prior narrows.",
        sd=sd,
        noise=noise,
        told=told,
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
    kept = [float(np.asarray(threshold(np.array([at]), lam))[0]) for at in (0.6, 1.8)]
    return fig, say(
        "With λ = {lam:g}: |w| leaves {soft[0]:.2f} of 0.6 and {soft[1]:.2f} of 1.8, "
        "½ λ w² leaves {square[0]:.2f} and {square[1]:.2f}.",
        lam=lam,
        soft=kept,
        square=[0.6 / (1 + lam), 1.8 / (1 + lam)],
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
    """-> draw(lam, penalty): the curve, its slope changes at the knots, and the errors.

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

    def draw(lam: float, penalty: str):
        at = int(np.argmin(np.abs(np.log(lams / lam))))
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
        axes[2].set_gid("errors")
        best = lams[fit["test"].argmin()]
        axes[2].set_title(f"Best: λ = {best:.2g}", fontsize=11)
        axes[2].legend(fontsize=8, loc="upper left")
        return fig, say(
            "{penalty}, λ = {lam:.3g}: {used} of {all} knots used, training error {train:.4f}, "
            "error on new data {test:.4f}. The lowest on new data is {lowest:.4f}.",
            penalty=penalty, lam=lams[at], used=used, all=len(beta), train=fit["train"][at],
            test=fit["test"][at], lowest=fit["test"].min(),
        )  # fmt: skip

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
        return fig, say(
            "Patience {patience}, min_delta {min_delta:g}: training stops at epoch {stop} of {epochs} and epoch "
            "{best} is brought back. Validation error {valid:.3f} there; test error {test:.3f}, "
            "after the last epoch {last:.3f}.",
            patience=patience, min_delta=min_delta, stop=stop, epochs=len(errors) - 1, best=best,
            valid=errors[best, 1], test=errors[best, 2], last=errors[-1, 2],
        )  # fmt: skip

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
    return fig, say(
        "The shares of stopped descent and ridge differ most, by a factor {ratio:.3f}, at ts² = {at:.2g}. Lowest "
        "test errors: descent {descent:.3f} at t = {t:.2g}, ridge {ridge:.3f} at 1/λ = {other:.2g}.",
        ratio=ratio.max(), at=x[ratio.argmax()], descent=descent.min(), t=times[descent.argmin()],
        ridge=ridge_errors.min(), other=times[ridge_errors.argmin()],
    )  # fmt: skip


# ---------------------------------------------------------------- twenty splits


def penalty_races(X, y, lams, train: int, splits: int) -> dict[str, np.ndarray]:
    """Test errors of ridge and lasso for every penalty, over random splits.

    X (n, d), y (n,) raw. Each split draws `train` rows and standardises by them. Minimised are
    ½‖y - Xw‖² + ½ λ‖w‖² and ½‖y - Xw‖² + λ‖w‖₁ -> {"ridge": (splits, len(lams)), "lasso": …}.
    lams in decreasing order.
    """
    from sklearn.linear_model import lasso_path

    out = {"ridge": [], "lasso": []}
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(y))
        rows, rest = order[:train], order[train:]
        A, b = standardised(X, y, rows)
        lasso = lasso_path(A[rows], b[rows], alphas=lams / train, tol=1e-5, max_iter=300_000)[1].T
        gram, moment = A[rows].T @ A[rows], A[rows].T @ b[rows]
        ridge = np.linalg.solve(gram + lams[:, None, None] * np.eye(len(gram)), moment[:, None])
        for name, weights in (("ridge", ridge[..., 0]), ("lasso", lasso)):
            out[name].append(np.mean((weights @ A[rest].T - b[rest]) ** 2, axis=1))
    return {name: np.array(values) for name, values in out.items()}

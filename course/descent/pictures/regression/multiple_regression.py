"""Multiple regression: planes, projections, solvers on hard problems, weights and outliers."""

import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.optimize import linprog

from descent import plots
from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, VERMILION, fixed_axes

# ---------------------------------------------------------------- families

HEIGHTS = np.array([23.0, 0.40, 0.43, 13.0])  # cm: intercept, a cm of father, of mother, a boy


def families(n: int, seed: int = 0):
    """Simulated heights in cm of n families -> father, mother (n,), gender (list of n), child (n,).

    child = 23 + 0.40 father + 0.43 mother + 13 for boys + normal noise of 5 cm.
    """
    rng = np.random.default_rng(seed)
    father, mother = rng.normal(176, 7, n).round(1), rng.normal(163, 6.5, n).round(1)
    boy = rng.random(n) < 0.5
    child = HEIGHTS @ np.array([np.ones(n), father, mother, boy]) + rng.normal(0, 5, n)
    return father, mother, ["boy" if b else "girl" for b in boy], child.round(1)


def r_squared(X, y) -> float:
    """Share of the variance of y that least squares on X explains; X holds a constant."""
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    return 1 - residual @ residual / np.sum((y - y.mean()) ** 2)


def draw_heights(father, mother, gender, child):
    """Child against father, and child against a prediction from three features -> (fig, words)."""
    boy = np.array([g == "boy" for g in gender])
    one = np.column_stack([np.ones(len(boy)), father])
    three = np.column_stack([one, mother, boy])
    line = np.linalg.lstsq(one, child, rcond=None)[0]
    fitted = three @ np.linalg.lstsq(three, child, rcond=None)[0]
    r2 = r_squared(one, child), r_squared(three, child)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
    ends = np.array([father.min(), father.max()])
    for ax, x in ((left, father), (right, fitted)):
        ax.plot(x[boy], child[boy], "^", color=BLUE, alpha=0.7, markersize=4, label="boys")
        ax.plot(
            x[~boy], child[~boy], "o", color=VERMILION, mfc="white", markersize=4, label="girls"
        )
    left.plot(ends, line[0] + line[1] * ends, color=BLACK)
    right.plot([fitted.min(), fitted.max()], [fitted.min(), fitted.max()], color=BLACK)
    left.set(xlabel="height of the father (cm)", ylabel="height of the child (cm)")
    right.set(xlabel="prediction from father, mother and gender (cm)")
    left.set_title(f"One feature: R² = {r2[0]:.2f}")
    right.set_title(f"Three features: R² = {r2[1]:.2f}")
    left.legend(loc="upper left")
    return fig, (
        f"The father's height alone explains {r2[0]:.0%} of the variance of the children's heights; "
        f"father, mother and gender together explain {r2[1]:.0%}."
    )


def planes_explorer(father, mother, gender, child):
    """-> draw(base, b_father, b_mother, b_boy): two parallel planes through the families.

    base is the predicted height of a girl whose parents are of average height.
    """
    boy = np.array([g == "boy" for g in gender], float)
    centred = np.column_stack([np.ones(len(boy)), father - 176, mother - 163, boy])
    best = np.linalg.lstsq(centred, child, rcond=None)[0]
    lowest = np.sqrt(np.mean((child - centred @ best) ** 2))
    f, m = np.meshgrid([155.0, 197.0], [145.0, 181.0])

    def draw(base: float, b_father: float, b_mother: float, b_boy: float):
        beta = np.array([base, b_father, b_mother, b_boy])
        fit = centred @ beta
        rmse = np.sqrt(np.mean((child - fit) ** 2))
        mean = np.mean(child - fit)
        fig = plt.figure(figsize=(6.4, 4.8), layout="none")
        ax = fig.add_axes((0.02, 0.06, 0.9, 0.86), projection="3d", computed_zorder=False)
        around = [0, 1, 3, 2, 0]  # the corners in turn
        for gap, color, edge in ((0.0, VERMILION, "--"), (b_boy, BLUE, "-")):
            z = base + b_father * (f - 176) + b_mother * (m - 163) + gap
            ax.plot_surface(f, m, z, color=color, alpha=0.2, shade=False)
            rim = (a.ravel()[around] for a in (f, m, z))
            name = f"plane of the {'boys' if edge == '-' else 'girls'}"
            ax.plot(*rim, edge, color=color, linewidth=1.2, label=name)
        sticks = np.array([[father, mother, child], [father, mother, fit]]).transpose(2, 0, 1)
        for one, b in zip(sticks, boy, strict=True):
            ax.plot(*one.T, color=BLUE if b else VERMILION, linewidth=0.8)
        for chosen, look, color, name in (
            (boy == 1, "^", BLUE, "boys"),
            (boy == 0, "o", VERMILION, "girls"),
        ):
            points = father[chosen], mother[chosen], child[chosen]
            ax.plot(*points, look, color=color, markersize=4, label=name)
        ax.set(xlabel="father (cm)", ylabel="mother (cm)", zlabel="child (cm)", zlim=(135, 205))
        _few_ticks(ax)
        ax.view_init(12, -58)
        ax.legend(loc="upper left", fontsize=9)
        ax.set_title(f"Two planes, {abs(b_boy):.1f} cm apart: error {rmse:.1f} cm")
        return fig, (
            f"Root mean squared error {rmse:.2f} cm; the lowest possible is {lowest:.2f} cm. "
            f"The plane of the boys lies {b_boy:.1f} cm above that of the girls. "
            f"Mean residual {mean:.2f} cm."
        )

    return draw


def _few_ticks(ax, true_angles=False):
    """At most five numbers an axis, since more overlap in three dimensions; and a larger box.

    true_angles: one unit is as long on every axis.
    """
    limits = np.array([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()])
    ax.set_box_aspect(np.ptp(limits, axis=1) if true_angles else None, zoom=1.12)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(4))


# ---------------------------------------------------------------- geometry


def projection_explorer(X, y):
    """-> draw(b1, b2): the point X b in the plane of two columns, and the residual. X (3, 2), y (3,)."""
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    lowest = np.linalg.norm(y - X @ best)
    corners = np.array([[-0.4, -0.7], [-0.4, 1.2], [1.6, 1.2], [1.6, -0.7]]) @ X.T

    def draw(b1: float, b2: float):
        point = X @ [b1, b2]
        residual = y - point
        inner = X.T @ residual
        right = np.all(np.abs(inner) < 0.02 * np.linalg.norm(X, axis=0) * np.linalg.norm(y))
        fig = plt.figure(figsize=(6.0, 4.8), layout="none")
        ax = fig.add_axes((0.0, 0.07, 0.95, 0.83), projection="3d", computed_zorder=False)
        ax.plot_trisurf(*corners.T, triangles=[[0, 1, 2], [0, 2, 3]], color=GREEN, alpha=0.2, shade=False)  # fmt: skip
        for j, style in ((0, "-"), (1, "--")):
            ax.plot(*np.array([0 * y, X[:, j]]).T, style, color=GREEN, label=f"column {j + 1}")
        ax.plot(*np.array([0 * y, y]).T, "-.", color=BLACK, label="targets y")
        ax.plot(*np.array([point, y]).T, ":", color=VERMILION, linewidth=2.6, label="residual e")
        if right:  # the mark of a right angle
            along, up = -point / np.linalg.norm(point), residual / np.linalg.norm(residual)
            corner = point + 0.18 * np.array([along, along + up, up])
            ax.plot(*corner.T, color=VERMILION, linewidth=1)
        ax.plot(*point[:, None], "o", color=BLUE, markersize=7, label="fit Xβ")
        ax.plot(*y[:, None], "s", color=BLACK, markersize=5)
        ax.set(xlabel="row 1", ylabel="row 2", zlabel="row 3")
        _few_ticks(ax, true_angles=True)
        ax.view_init(20, -50)
        ax.legend(loc="upper left", fontsize=8)
        word = "perpendicular" if right else "slanted"
        ax.set_title(f"‖e‖ = {np.linalg.norm(residual):.2f}: the residual is {word}")
        return fig, (
            f"Length of the residual {np.linalg.norm(residual):.3f}, the shortest is {lowest:.3f}. "
            f"Inner products with the columns {inner[0] + 0:.2f} and {inner[1] + 0:.2f}: it is {word} "
            f"to the plane."
        )

    return draw


def draw_leverage(x, y, fit, leverage):
    """A fitted line and the leverage of each row against its input -> (fig, words). All (n,)."""
    far = int(np.argmax(leverage))
    order = np.argsort(x)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(x, y, "o", color=BLUE, mfc="white", markersize=4, label="rows")
    left.plot(x[order], fit[order], color=BLACK, label="least squares")
    right.plot(x, leverage, "o", color=BLUE, mfc="white", markersize=4)
    right.axvline(x.mean(), color=BLACK, linestyle=":", label="mean of x")
    for ax, height in ((left, y), (right, leverage)):
        ax.plot(x[far], height[far], "D", color=VERMILION, label="highest leverage")
        ax.set(xlabel="input x")
        ax.legend(fontsize=9)
    left.set(ylabel="target y", title="Moon's example")
    right.set(ylabel=r"leverage $h_{ii}$", title="The farther out, the stronger the pull")
    return fig, (
        f"Leverages go from {leverage.min():.3f}, near the mean of the inputs, to "
        f"{leverage[far]:.3f} at x = {x[far]:.2f}. Their sum is {leverage.sum():.2f}."
    )


def correlated(n: int, rho: float, rng):
    """Two standardised columns of correlation exactly rho -> (n, 2) with XᵀX / n = [[1, rho], [rho, 1]]."""
    Z = rng.standard_normal((n, 2))
    Z = np.linalg.qr(Z - Z.mean(0))[0] * np.sqrt(n)
    return np.column_stack([Z[:, 0], rho * Z[:, 0] + np.sqrt(1 - rho**2) * Z[:, 1]])


def draw_descent(grad: Callable, n=50, steps=25, seed=0):
    """Gradient descent on two designs, 25 steps of 1 / λ_max -> (fig, words). grad(beta, X, y)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    told = []
    for ax, rho in zip(axes, (0.3, 0.97), strict=True):
        rng = np.random.default_rng(seed)
        X = correlated(n, rho, rng)
        y = X @ [1.0, 2.0] + 0.3 * rng.standard_normal(n)
        best = np.linalg.lstsq(X, y, rcond=None)[0]
        top = np.linalg.eigvalsh(X.T @ X)[-1]
        path = [np.array([-1.0, 3.2])]
        for _ in range(steps):
            path.append(path[-1] - np.asarray(grad(path[-1], X, y)) / top)
        left = np.linalg.norm(path[-1] - best) / np.linalg.norm(path[0] - best)

        def loss(b, X=X, y=y):
            return np.sum((y - b @ X.T) ** 2, axis=1) / 2

        plots.contours(loss, ax, (-1.6, 3), (-0.8, 4.2), levels=14, log=True)
        plots.path(path, ax)
        ax.plot(*best, "P", color=BLACK, markersize=9, label="closed form")
        kappa = np.linalg.cond(X)
        ax.set(xlabel="weight β₁")
        ax.set_title(f"κ(X) = {kappa:.1f}: {left:.0%} of the way is left", fontsize=11)
        told.append(
            f"correlation {rho}, condition number {kappa:.1f}: {left:.1%} of the first distance is left"
        )
    axes[0].set_ylabel("weight β₂")
    axes[0].legend(loc="lower left")
    return fig, f"Gradient descent, {steps} steps of 1/λmax. {'; '.join(told)}."


def draw_outputs(x, Y, points, fit):
    """Two targets over one position, and the same fits as a curve in the plane -> (fig, words).

    x (n,), Y (n, 2) measured, points (m,), fit (m, 2).
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=(1.4, 1))
    for j, (name, marker, style, color) in enumerate(
        (("first target", "o", "-", BLUE), ("second target", "^", "--", VERMILION))
    ):
        left.plot(x, Y[:, j], marker, color=color, mfc="white", markersize=4)
        left.plot(points, fit[:, j], style, color=color, label=name)
    left.set(xlabel="position x (turns)", ylabel="target", title="Two regressions that share X")
    left.legend(loc="lower left")
    right.plot(Y[:, 0], Y[:, 1], "s", color=BLACK, mfc="white", markersize=4, label="measured")
    right.plot(fit[:, 0], fit[:, 1], color=GREEN, label="fit")
    right.set(
        xlabel="first target",
        ylabel="second target",
        title="Together: nearly a circle",
        aspect="equal",
    )
    right.legend(loc="center")
    worst = np.max(np.abs(np.hypot(*fit.T) - 1))
    return fig, (
        f"Cosine and sine over one turn, fitted by polynomials of degree 5 in the position: together "
        f"the two fits stay within {worst:.2f} of the unit circle."
    )


# ---------------------------------------------------------------- ill-conditioned problems


def two_rows(eps: float, noise=0.0, ridge: float = 0.0):
    """Weights for rows (0, 1), (eps, 1) and targets 1, -1 + noise -> (*noise shape, 2)."""
    X = np.array([[0.0, 1.0], [eps, 1.0]])
    first, second = np.broadcast_arrays(1.0, -1.0 + np.asarray(noise, float))
    y = np.stack([first, second], -1)
    if ridge == 0:
        return np.linalg.solve(X, y[..., None])[..., 0]
    return np.linalg.solve(X.T @ X + ridge * np.eye(2), X.T @ y[..., None])[..., 0]


def draw_two_rows(log_eps: float, ridge: bool):
    """Weights of the two-row example against eps, and refits with noisy targets -> (fig, words)."""
    eps, amount = 10.0**log_eps, 0.2 if ridge else 0.0
    grid = np.geomspace(1e-3, 1, 60)
    first = np.array([two_rows(e, ridge=amount)[0] for e in grid])
    w = two_rows(eps, ridge=amount)
    noise = 0.05 * np.random.default_rng(0).standard_normal(60)
    refits = two_rows(eps, noise, amount)
    X = np.array([[0.0, 1.0], [eps, 1.0]])
    kappa = np.linalg.cond(X)
    t = np.array([-0.2, 1.1, np.nan])  # nan lifts the pen: all refits are one line to draw
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.09, 0.99, 0.15, 0.9), wspace=0.25)
    left.loglog(grid, np.abs(first), color=BLUE, label="|w₁|")
    left.loglog(grid, [np.linalg.cond([[0, 1], [e, 1]]) for e in grid], "--", color=BLACK, label="κ(X)")  # fmt: skip
    left.plot(eps, abs(w[0]), "o", color=VERMILION, markersize=9)
    left.set(xlabel="distance ε of the two inputs", ylabel="size", ylim=(1e-3, 1e4))
    left.set_title(f"At ε = {eps:.2g}: w = ({w[0]:.3g}, {w[1]:.3g})")
    left.minorticks_off()
    left.legend(loc="upper right")
    lines = refits[:, :1] * t + refits[:, 1:]
    right.plot(np.tile(t, len(refits)), lines.ravel(), color=BLUE, alpha=0.5, linewidth=0.6)
    right.plot([0, eps], [1, -1], "s", color=BLACK, label="the two rows")
    right.set(ylim=(-12, 12), xlim=t[:2], xlabel="input x", ylabel="w₁ x + w₂")
    right.set_title("Refits, second target ± 0.05")
    right.legend(loc="upper right")
    return fig, (
        f"ε = {eps:.3g}, {'with 0.2 on the diagonal' if ridge else 'plain'}: "
        f"w = ({w[0]:.3g}, {w[1]:.3g}). Condition number of X: {kappa:.3g}. "
        f"A noise of 0.05 in one target moves w₁ by {refits[:, 0].std():.2g}."
    )


def hard_problem(kappa: float, tangent: float, rng, n=20, d=4):
    """X (n, d) of condition number kappa, y (n,), and the exact least squares weights (d,).

    tangent: length of the residual over that of the fit.
    """
    U = np.linalg.qr(rng.standard_normal((n, d + 1)))[0]
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    X = U[:, :d] * np.geomspace(1, 1 / kappa, d) @ V.T
    beta = rng.standard_normal(d)
    fit = X @ beta
    return X, fit + tangent * np.linalg.norm(fit) * U[:, d], beta


def inverse_of_normal_equations(X, y):
    """The textbook formula. nan where XᵀX is exactly singular."""
    try:
        return np.linalg.inv(X.T @ X) @ (X.T @ y)
    except np.linalg.LinAlgError:
        return np.full(X.shape[1], np.nan)


def by_svd(X, y):
    """Through the singular value decomposition of X."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return Vt.T @ ((U.T @ y) / s)


def descend(X, y, steps: int):
    """Gradient descent from zero with steps of 1 / λ_max. X (*batch, n, d), y (*batch, n) -> (*batch, d)."""
    y, beta = y[..., None], np.zeros((*X.shape[:-2], X.shape[-1], 1))
    rate = 1 / np.linalg.norm(X, 2, axis=(-2, -1), keepdims=True) ** 2
    for _ in range(steps):
        beta = beta + rate * (np.swapaxes(X, -1, -2) @ (y - X @ beta))
    return beta[..., 0]


SOLVERS = ("inverse of XᵀX", "QR", "SVD", "gradient descent")
LOOKS = ((VERMILION, "s", "--"), (BLUE, "o", "-"), (GREEN, "^", ":"), (PINK, "D", "-."))


def solver_errors(qr: Callable, kappas, tangent: float, steps=1000, draws=9, seed=0):
    """Median relative error of the weights -> (len(SOLVERS), len(kappas)). qr(X, y) -> weights."""
    rng = np.random.default_rng(seed)
    problems = [[hard_problem(k, tangent, rng) for _ in range(draws)] for k in kappas]
    X, y, beta = (np.array([[p[i] for p in row] for row in problems]) for i in range(3))
    found = [
        [[f(A, b) for A, b in zip(*rows, strict=True)] for rows in zip(X, y, strict=True)]
        for f in (inverse_of_normal_equations, qr, by_svd)
    ]
    found.append(descend(X, y, steps))
    errors = np.linalg.norm(np.array(found) - beta, axis=-1) / np.linalg.norm(beta, axis=-1)
    return np.median(np.where(np.isnan(errors), 1e9, errors), axis=-1)


def draw_solver_errors(qr: Callable, kappas=None):
    """Error of four solvers against the condition number, small and large residual -> (fig, words).

    What is rounded differs between machines: show it with digits=0.
    """
    kappas = np.geomspace(1, 1e10, 11) if kappas is None else kappas
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 4.2), sharey=True)
    told = []
    for ax, tangent in zip(axes, (0.0, 1.0), strict=True):
        errors = solver_errors(qr, kappas, tangent)
        for name, (color, marker, style), row in zip(SOLVERS, LOOKS, errors, strict=True):
            ax.loglog(kappas, row, style, marker=marker, color=color, mfc="white", label=name)
        eps = 2.0**-53
        ax.plot(kappas, eps * kappas, color=BLACK, linewidth=0.8)
        ax.plot(kappas, eps * kappas**2, color=BLACK, linewidth=0.8)
        ax.text(kappas[-1], eps * kappas[-1] * 2, "κu", ha="right", va="bottom")
        ax.text(kappas[4], eps * kappas[4] ** 2 * 4, "κ²u", ha="right", va="bottom")
        ax.set(xlabel="condition number κ(X)", ylim=(1e-17, 1e4))
        told.append(slopes(kappas, errors[:2]))
    axes[0].set(ylabel="relative error of the weights", title="An exact fit: QR pays κ, not κ²")
    axes[1].set(title="A large residual: all pay κ²")
    axes[1].legend(loc="lower right", fontsize=9)
    (inverse, qr_slope), (_, qr_large) = told
    return fig, (
        "Relative error of the weights on logarithmic axes. Exact fit: it grows with the power "
        f"{inverse:.0f} of κ for the inverse of XᵀX and with the power {qr_slope:.0f} for QR and SVD. "
        f"Residual as long as the fit: power {qr_large:.0f} for all three. Gradient descent with 1000 "
        "steps is exact for small κ only; beyond about 30 it has not arrived."
    )


def slopes(kappas, errors):
    """Powers of κ between κ = 10 and the point where an error reaches 1 %. errors (m, len(kappas)) -> (m,)."""
    found = []
    for row in errors:
        used = (kappas >= 10) & (row < 0.01)
        found.append(np.polyfit(np.log(kappas[used]), np.log(row[used]), 1)[0])
    return found


def digits_class(error: float) -> str:
    """Right digits of a result in coarse words, the same on every machine as long as the start state is."""
    if error < 1e-8:
        return "8 or more digits right"
    return "3 to 8 digits right" if error < 1e-3 else "fewer than 3 digits right"


def solver_explorer(qr: Callable):
    """-> draw(log_kappa, tangent, steps): right digits of four solvers as bars."""

    def draw(log_kappa: float, tangent: float, steps: int):
        errors = solver_errors(qr, [10.0**log_kappa], tangent, steps)[:, 0]
        digits = np.clip(-np.log10(np.maximum(errors, 1e-17)), 0, 16)
        fig, ax = fixed_axes(1, (6.4, 3), (0.25, 0.97, 0.18, 0.88))
        bars = ax.barh(SOLVERS, digits, color=[look[0] for look in LOOKS], height=0.6)
        for bar, hatch in zip(bars, ("//", "", "..", "xx"), strict=True):
            bar.set(hatch=hatch, edgecolor="white")
        lost = ((log_kappa, "-", "16 − log κ"), (2 * log_kappa, "--", "16 − 2 log κ"))
        for at, style, name in ((16 - digits_lost, *look) for digits_lost, *look in lost):
            if at >= 0:
                ax.axvline(at, color=BLACK, linestyle=style, linewidth=1, label=name)
        ax.invert_yaxis()
        ax.set(xlim=(0, 17), xlabel="right digits of the weights (median of 9 problems)")
        ax.set_title(f"Right digits at κ(X): 10^{log_kappa:g}")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="lower right", fontsize=9)
        told = "; ".join(f"{n}: {digits_class(e)}" for n, e in zip(SOLVERS, errors, strict=True))
        return fig, f"Condition number 10^{log_kappa:g}, {steps} steps of descent. {told}."

    return draw


# ---------------------------------------------------------------- cost


def counted_ols(X, y):
    """Least squares by the textbook formula, with multiplications counted -> (weights, {part: count}).

    The inverse is Gauss and Jordan's elimination; a multiplication with a known 0 or 1 is not counted.
    """
    n, d = X.shape
    counts = {"XᵀX": n * d * d, "Xᵀy": n * d, "inverse": 0, "product": d * d}
    A, inverse = X.T @ X, np.eye(d)
    for k in range(d):
        used = A[k, k]
        A[k, k:], inverse[k, : k + 1] = A[k, k:] / used, inverse[k, : k + 1] / used
        counts["inverse"] += d  # d - k right of the pivot and k left of it
        for i in range(d):
            if i != k:
                factor = A[i, k]
                A[i, k:] -= factor * A[k, k:]
                inverse[i, : k + 1] -= factor * inverse[k, : k + 1]
                counts["inverse"] += d
    return inverse @ (X.T @ y), counts


def measured_seconds(ns, d: int, seed=0):
    """Least time of 3 for XᵀX at each n in ns -> (len(ns),)."""
    rng, best = np.random.default_rng(seed), []
    for n in ns:
        X, tries = rng.standard_normal((n, d)), []
        for _ in range(3):
            begun = time.perf_counter()
            X.T @ X
            tries.append(time.perf_counter() - begun)
        best.append(min(tries))
    return np.array(best)


def draw_cost(ds, counts, n: int):
    """Counted multiplications against d, and measured times of XᵀX against d -> (fig, words).

    counts: one dict of `counted_ols` for each d. Times differ between machines: show it with digits=0.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    for (part, look), style in zip(
        {"XᵀX": BLUE, "inverse": VERMILION, "Xᵀy": GREEN, "product": PINK}.items(),
        ("o-", "s--", "^:", "D-."),
        strict=True,
    ):
        left.loglog(ds, [c[part] for c in counts], style, color=look, mfc="white", label=part)
    left.axvline(n, color=BLACK, linewidth=6, alpha=0.12)
    left.set_xticks([*ds, n], [*map(str, ds), f"n = {n}"])
    left.minorticks_off()
    left.set(xlabel="features d", ylabel="multiplications")
    left.set_title("Counted: slopes 2, 3, 1 and 2")
    left.legend()
    wide = np.array([32, 64, 128, 256])
    for rows, style, color in ((2000, "o-", BLUE), (8000, "s--", ORANGE)):
        seconds = [measured_seconds([rows], d)[0] for d in wide]
        right.loglog(wide, seconds, style, color=color, mfc="white", label=f"n = {rows}")
    guide = seconds[-1] * (wide / wide[-1]) ** 2
    right.plot(wide, guide, color=BLACK, linewidth=0.8, label="slope 2")
    right.set(xlabel="features d", ylabel="seconds on this machine", xticks=wide)
    right.set_xticks(wide, [str(d) for d in wide])
    right.minorticks_off()
    right.set_title("Measured: time for XᵀX")
    right.legend()
    return fig, (
        f"Multiplications at {n} rows: forming XᵀX grows like d², the inverse like d³, and they meet "
        f"at d = {n}. Measured times of XᵀX grow roughly like d² too, and with the number of rows."
    )


# ---------------------------------------------------------------- too few rows


def draw_solution_set(min_norm: Callable):
    """One row, three weights: the plane of exact fits, the shortest, two descents -> (fig, words)."""
    X, y = np.array([[1.0, 1.5, 2.0]]), np.array([3.0])
    best = np.asarray(min_norm(X, y))
    starts = np.zeros(3), np.array([1.6, -0.6, 0.6])
    top = np.linalg.norm(X, 2) ** 2
    paths = []
    for start in starts:
        path = [start]
        for _ in range(20):
            path.append(path[-1] + 0.35 / top * X.T @ (y - X @ path[-1]))
        paths.append(np.array(path))
    flat = np.linalg.svd(X)[2][1:]
    corners = best + np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]) * 1.7 @ flat
    fig = plt.figure(figsize=(6.6, 4.8), layout="none")
    ax = fig.add_axes((0.0, 0.03, 0.93, 0.88), projection="3d", computed_zorder=False)
    ax.plot_trisurf(*corners.T, triangles=[[0, 1, 2], [0, 2, 3]], color=GREEN, alpha=0.25, shade=False)  # fmt: skip
    for path, style, color, name in zip(
        paths, ("o-", "^--"), (BLUE, ORANGE), ("from zero", "from elsewhere"), strict=True
    ):
        ax.plot(*path.T, style, color=color, markersize=3.5, label=f"descent {name}")
    ax.plot(*best[:, None], "*", color=VERMILION, markersize=15, label="shortest solution")
    ax.plot(0, 0, 0, "s", color=BLACK, markersize=6, label="origin")
    ax.set(xlabel="β₁", ylabel="β₂", zlabel="β₃")
    _few_ticks(ax, true_angles=True)
    ax.view_init(14, -128)
    ax.legend(loc="upper left", fontsize=9)
    ax.set_title("Every point of the plane fits exactly")
    ends = [np.linalg.norm(path[-1]) for path in paths]
    return fig, (
        f"Solutions of β₁ + 1.5 β₂ + 2 β₃ = 3 form a plane. The shortest has length "
        f"{np.linalg.norm(best):.3f}; descent from zero walks straight to it and ends at length "
        f"{ends[0]:.3f}; descent from another start ends at length {ends[1]:.3f}."
    )


def draw_jitter(deltas, distances, kappas):
    """Distance to the minimum-norm solution and condition number against δ -> (fig, words)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.loglog(deltas, distances, "o-", color=BLUE, mfc="white")
    left.set(xlabel="δ added to the diagonal", ylabel="distance to X⁺y")
    right.loglog(deltas, kappas, "s--", color=VERMILION, mfc="white")
    right.set(xlabel="δ added to the diagonal", ylabel="κ(XᵀX + δI)")
    slope = np.polyfit(np.log(deltas), np.log(distances), 1)[0]
    left.set_title("The answer tends to X⁺y like δ")
    right.set_title("… and is ever harder to compute")
    return fig, (
        f"From δ = {deltas.max():.0e} to {deltas.min():.0e} the distance to the minimum-norm solution "
        f"falls with slope {slope:.2f} on logarithmic axes, from {distances.max():.1g} to "
        f"{distances.min():.1g}, while the condition number grows from {kappas.min():.1g} to {kappas.max():.1g}."
    )


# ---------------------------------------------------------------- two sensors


def sensor_explorer(wls: Callable, n=12, repeats=400):
    """-> draw(ratio): plain and weighted lines through two sensors of unequal noise. wls(X, y, R)."""
    x = np.linspace(0, 10, 2 * n)
    X = np.column_stack([np.ones(2 * n), x])
    good = np.arange(2 * n) % 2 == 0
    rng = np.random.default_rng(4)
    noise = rng.standard_normal((repeats, 2 * n))
    truth = X @ [1.0, 0.5]

    def draw(ratio: float):
        sd = np.where(good, 0.5, 0.5 * ratio)
        Y = truth + sd * noise
        weight = 1 / sd**2
        plain_map = np.linalg.solve(X.T @ X, X.T)
        best_map = np.linalg.solve((X.T * weight) @ X, X.T * weight)
        ours = np.asarray(wls(X, Y[0], np.diag(sd**2)))
        slopes = {"plain": Y @ plain_map[1], "weighted": Y @ best_map[1]}
        theory = [np.sqrt(np.sum((m[1] * sd) ** 2)) for m in (plain_map, best_map)]
        fig, (left, right) = fixed_axes(2, (9, 3.7), (0.07, 0.99, 0.15, 0.9), wspace=0.2)
        left.plot(x[good], Y[0, good], "o", color=BLUE, label="good sensor")
        left.plot(x[~good], Y[0, ~good], "^", color=ORANGE, mfc="white", label="noisy sensor")
        left.plot(x, truth, ":", color=BLACK, label="truth")
        left.plot(x, X @ (plain_map @ Y[0]), "--", color=VERMILION, label="plain fit")
        left.plot(x, X @ ours, "-", color=GREEN, label="weighted fit")
        left.set(xlabel="time (s)", ylabel="position (m)", ylim=(-4, 12))
        left.set_title(f"Noise ratio {ratio:g}")
        left.legend(fontsize=8, ncols=2, loc="upper left")
        bins = np.linspace(0.5 - 4 * theory[0], 0.5 + 4 * theory[0], 41)
        for (name, values), color, style in zip(
            slopes.items(), (VERMILION, GREEN), ("--", "-"), strict=True
        ):
            look = dict(color=color, linestyle=style, linewidth=1.8)
            right.hist(values, bins, histtype="step", label=name, **look)
        right.axvline(0.5, color=BLACK, linestyle=":")
        right.set(xlabel="fitted slope (m/s)", ylabel=f"data sets (of {repeats})")
        right.set_title(f"Plain scatters {theory[0] / theory[1]:.1f} × as much")
        right.legend()
        alone = 0.5 / np.sqrt(np.sum((x[good] - x[good].mean()) ** 2))
        spread = [np.std(values) for values in slopes.values()]
        return fig, (
            f"Noise ratio {ratio:g}. Standard deviation of the slope: plain {spread[0]:.4f} "
            f"(theory {theory[0]:.4f}), weighted {spread[1]:.4f} (theory {theory[1]:.4f}). "
            f"The good sensor alone: {alone:.4f}."
        )

    return draw


# ---------------------------------------------------------------- outliers


def absolute_fit(X, y):
    """Minimises Σ |y - X beta| as a linear programme: beta free, residual = p - q with p, q >= 0."""
    n, d = X.shape
    cost = np.concatenate([np.zeros(d), np.ones(2 * n)])
    equal = np.hstack([X, np.eye(n), -np.eye(n)])
    bounds = [(None, None)] * d + [(0, None)] * (2 * n)
    return linprog(cost, A_eq=equal, b_eq=y, bounds=bounds, method="highs").x[:d]


def influence(r, delta=1.0, nu=3.0):
    """Derivatives of four losses at residual r: squared, absolute, Huber, Student's t (scale delta)."""
    return {
        "squared": r,
        "absolute": delta * np.sign(r),
        "Huber": np.clip(r, -delta, delta),
        "Student t": nu * r / (nu + (r / delta) ** 2),
    }


def line_with_outlier(x_out: float, y_out: float):
    """20 rows of y = 1 + x/2 + noise and one row of the reader's -> X (21, 2), y (21,)."""
    rng = np.random.default_rng(6)
    x = np.linspace(0, 5, 20)
    y = 1 + 0.5 * x + 0.3 * rng.standard_normal(20)
    return np.column_stack([np.ones(21), [*x, x_out]]), np.array([*y, y_out])


def outlier_explorer(huber: Callable, steps=60):
    """-> draw(x_out, y_out, delta): three fits with one row anywhere. huber(X, y, delta, steps) -> path."""

    def draw(x_out: float, y_out: float, delta: float):
        X, y = line_with_outlier(x_out, y_out)
        fits = {
            "squared": np.linalg.lstsq(X, y, rcond=None)[0],
            "absolute": absolute_fit(X, y),
            "Huber": np.asarray(huber(X, y, delta, steps))[-1],
        }
        t = np.array([-1.0, 50.0])
        fig, (left, right) = fixed_axes(
            2, (9, 3.7), (0.08, 0.99, 0.15, 0.9), wspace=0.22, width_ratios=(1.4, 1)
        )
        looks = dict(squared=(VERMILION, "--"), absolute=(PINK, ":"), Huber=(BLUE, "-"))
        looks["Student t"] = (GREEN, "-.")
        left.plot(X[:-1, 1], y[:-1], "o", color=BLACK, markersize=4)
        left.plot(x_out, y_out, "X", color=VERMILION, markersize=10, label="your row")
        for name, b in fits.items():
            color, style = looks[name]
            left.plot(t, b[0] + b[1] * t, style, color=color, label=name)
        left.set(
            xlim=(-0.5, max(6, x_out + 1)), ylim=(-11, 16), xlabel="input x", ylabel="target y"
        )
        left.set_title(
            f"Squares {fits['squared'][1]:.2f}, Huber {fits['Huber'][1]:.2f}, truth 0.50"
        )
        left.legend(fontsize=8, ncols=2, loc="lower left")
        r = np.linspace(-4, 4, 161)
        for name, psi in influence(r, delta).items():
            scaled = {"absolute": "absolute, times δ", "Student t": "Student t (ν = 3, s = δ)"}
            look = dict(color=looks[name][0], linestyle=looks[name][1])
            right.plot(r, psi, label=scaled.get(name, name), **look)
        right.set(ylim=(-4, 4), xlabel="residual r", ylabel="pull of a row")
        right.set_title("Pull = derivative of the loss")
        right.legend(fontsize=8, loc="upper left")
        told = ", ".join(f"{name} {b[1] + 0:.2f}" for name, b in fits.items())
        return fig, (
            f"Your row at x = {x_out:g}, y = {y_out:g}; δ = {delta:g}. Slopes (true 0.5): {told}."
        )

    return draw


# ---------------------------------------------------------------- real data


def draw_halves(names, weights, errors):
    """Weights over many random halves of the rows -> (fig, words).

    weights (halves, d) per standard deviation of a feature, errors (halves,) on the other half.
    """
    fig, ax = plt.subplots(figsize=(8, 3.8))
    ax.boxplot(weights, tick_labels=names, medianprops=dict(color=VERMILION, linewidth=2))
    ax.axhline(0, color=BLACK, linewidth=0.8)
    spread = weights.std(0)
    wide = int(np.argmax(spread))
    ax.set(xlabel="feature", ylabel="weight (score per std. dev.)")
    ax.set_title(
        f"Weights wobble (most of all {names[wide]}), test errors do not: {errors.mean():.0f} ± {errors.std():.0f}"
    )
    return fig, (
        f"Over {len(weights)} random halves the weight of {names[wide]} has mean {weights[:, wide].mean():.0f} "
        f"and standard deviation {spread[wide]:.0f}; that of bmi has mean {weights[:, 2].mean():.0f} and "
        f"standard deviation {spread[2]:.1f}. Root mean squared error on the other half: "
        f"{errors.mean():.1f} with standard deviation {errors.std():.1f}."
    )

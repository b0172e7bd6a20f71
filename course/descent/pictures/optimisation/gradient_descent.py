"""Gradient descent on loss landscapes: surfaces, paths, the rates that theory gives, and their pictures.

Compute (pure): `surface`, `descend`, `theory`, `report`, `four_rates`, `random_search`, and the functions `banana`
and `eggs` with their derivatives. Draw: `draw_…` functions return (fig, words).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np

from descent import data, plots
from descent.words import say

SURFACES = ("quadratic bowl", "Rosenbrock", "saddle", "logistic loss")
OPTIMISERS = ("gradient descent", "normalised", "momentum")
SHORT = {"gradient descent": "GD", "normalised": "Normalised GD", "momentum": "Momentum"}
BETA = 0.9  # of momentum
FAR = 1e6  # a path that gets this far is cut: it diverges


@dataclass(frozen=True)
class Surface:
    """A function of two variables. f: (n, 2) -> (n,); grad: (n, 2) -> (n, 2).

    m, L: its curvature lies between them, everywhere where `everywhere`, else only at the minima (k, 2).
    """

    name: str
    f: Callable
    grad: Callable
    m: float
    L: float
    minima: np.ndarray
    f_min: float
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    everywhere: bool = True


def surface(name: str, kappa: float = 10.0) -> Surface:
    """One of SURFACES. kappa: condition number of the quadratic bowl, the others ignore it."""
    made = {
        "quadratic bowl": lambda: _quadratic(kappa),
        "Rosenbrock": _rosenbrock,
        "saddle": _saddle,
        "logistic loss": _logistic,
    }
    return made[name]()


def _quadratic(kappa):
    curvature = np.array([1.0, kappa])
    return Surface(
        f"quadratic bowl, κ = {kappa:g}",
        lambda x: 0.5 * (curvature * x**2).sum(-1),
        lambda x: curvature * x,
        1.0,
        float(kappa),
        np.zeros((1, 2)),
        0.0,
        (-3, 3),
        (-2.5, 2.5),
    )


def banana(x):
    """Rosenbrock's valley (1 − x₁)² + 10 (x₂ − x₁²)²: x (..., 2) -> (...)."""
    return (1 - x[..., 0]) ** 2 + 10 * (x[..., 1] - x[..., 0] ** 2) ** 2


def banana_grad(x):
    """Gradient of `banana`: x (..., 2) -> (..., 2)."""
    bend = x[..., 1] - x[..., 0] ** 2
    return np.stack([-2 * (1 - x[..., 0]) - 40 * x[..., 0] * bend, 20 * bend], -1)


def banana_hessian(x):
    """Hessian of `banana`: x (2,) -> (2, 2)."""
    return np.array([[2 - 40 * x[1] + 120 * x[0] ** 2, -40 * x[0]], [-40 * x[0], 20.0]])


def eggs(x):
    """An egg box, Σ (0.05 xⱼ² + 1 − cos 2xⱼ): x (..., d) -> (...). Its minimum value is 0, at the origin."""
    return (0.05 * x**2 + 1 - np.cos(2 * x)).sum(-1)


def eggs_grad(x):
    """Gradient of `eggs`: x (..., d) -> (..., d)."""
    return 0.1 * x + 2 * np.sin(2 * x)


def _rosenbrock():
    m, L = np.linalg.eigvalsh(banana_hessian(np.ones(2)))
    return Surface(
        "Rosenbrock's valley",
        banana,
        banana_grad,
        m,
        L,
        np.ones((1, 2)),
        0.0,
        (-2.7, 2.7),
        (-1.5, 4),
        everywhere=False,
    )


def _saddle():
    def f(x):
        return 0.5 * x[..., 0] ** 2 - 0.5 * x[..., 1] ** 2 + 0.25 * x[..., 1] ** 4

    def grad(x):
        return np.stack([x[..., 0], x[..., 1] ** 3 - x[..., 1]], -1)

    return Surface(
        "saddle between two minima",
        f,
        grad,
        1.0,
        2.0,
        np.array([[0.0, 1.0], [0.0, -1.0]]),
        -0.25,
        (-3, 3),
        (-2, 2),
        everywhere=False,
    )


@lru_cache
def _logistic(lam=0.02):
    table = data.breast_cancer()
    X = table.X[:, :2]
    X = (
        (X - X.mean(0)) / X.std(0) * (1 - 2 * table.y)[:, None]
    )  # −s x: the loss is log(1 + e^{X w})
    n = len(X)

    def f(w):
        return np.logaddexp(0, w @ X.T).mean(-1) + lam / 2 * (w**2).sum(-1)

    def grad(w):
        return 1 / (1 + np.exp(-np.clip(w @ X.T, -500, 500))) @ X / n + lam * w

    w = np.zeros(2)
    for _ in range(30):  # Newton
        p = 1 / (1 + np.exp(-X @ w))
        w = w - np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X / n + lam * np.eye(2), grad(w))
    L = np.linalg.eigvalsh(X.T @ X)[-1] / (4 * n) + lam
    return Surface(
        "logistic loss, 569 tumours", f, grad, lam, float(L), w[None], float(f(w)), (-5, 3), (-4, 4)
    )


def descend(s: Surface, start, t: float, n_steps: int, optimiser: str) -> np.ndarray:
    """Iterates (k + 1, 2), k = n_steps, or fewer where the path gets farther than FAR from the origin."""
    path, v = [np.array(start, float)], np.zeros(2)
    for _ in range(n_steps):
        g = s.grad(path[-1])
        if optimiser == "normalised":
            norm = np.linalg.norm(g)
            v = g / norm if norm > 0 else 0 * g
        else:
            v = (BETA if optimiser == "momentum" else 0.0) * v + g
        path.append(path[-1] - t * v)
        if not np.abs(path[-1]).max() < FAR:
            break
    return np.array(path)


def rate(s: Surface, t: float, optimiser: str) -> float:
    """Factor a step on the distance to the minimum that m and L give; 1 or more: no convergence is promised."""
    if optimiser == "gradient descent":
        return max(abs(1 - t * s.m), abs(1 - t * s.L))
    if optimiser == "momentum":
        return max(
            np.abs(np.linalg.eigvals([[1 + BETA - t * c, -BETA], [1.0, 0.0]])).max()
            for c in (s.m, s.L)
        )
    return 1.0


def theory(s: Surface, path: np.ndarray, t: float, optimiser: str) -> tuple[np.ndarray, str] | None:
    """What theory says of f − f*: values (steps + 1,) and what they are. None where it says nothing."""
    k = np.arange(len(path))
    gap = s.f(path) - s.f_min
    if optimiser == "normalised":
        if not s.grad(path[-1]).any():
            return None  # a step has landed where the gradient is exactly zero: there it stays
        where = "" if s.everywhere else ", at a minimum"
        return np.full(len(k), s.m * t**2 / 8), f"m t²/8: one of two is above{where}"
    r = rate(s, t, optimiser)
    if s.everywhere and optimiser == "gradient descent" and r < 1:
        return s.L / 2 * ((path[0] - s.minima[0]) ** 2).sum() * r ** (
            2 * k
        ), f"bound, rate {r**2:.3g} a step"
    if s.name.startswith("quadratic") and optimiser == "gradient descent":
        return s.L / 2 * path[0, 1] ** 2 * r ** (2 * k), f"steep direction: × {r**2:.3g} a step"
    if r >= 1 or diverges(path):
        return None
    if s.everywhere:
        return gap[0] * r ** (2 * k), f"rate {r**2:.3g} a step, in the long run"
    return gap[-1] * r ** (2.0 * (k - k[-1])), f"rate at the minimum, {r**2:.3g} a step"


def diverges(path: np.ndarray) -> bool:
    """Whether the path was cut because it got too far."""
    return not np.abs(path[-1]).max() < FAR


def report(s: Surface, path: np.ndarray, t: float, optimiser: str) -> dict:
    """Facts about a run: verdict, gap at both ends, number of steps up, step at which the path leaves the picture."""
    gap = np.maximum(s.f(path) - s.f_min, 0)  # rounding can leave f* a little above f
    inside = ((path >= (s.xlim[0], s.ylim[0])) & (path <= (s.xlim[1], s.ylim[1]))).all(-1)
    ups = int((np.diff(gap) > 1e-12 * (1 + np.abs(gap[:-1]))).sum())
    if diverges(path) or (gap[-1] > 10 * gap[0] and not inside[-1]):
        verdict = "diverges"
    elif gap[-1] <= 1e-6 * max(gap[0], 1e-6):
        verdict = "settles"
    elif np.linalg.norm(s.grad(path[-1])) < 1e-3:
        verdict = (
            "stalls at the saddle"
            if s.name.startswith("saddle") and gap[-1] > 0.1
            else "is nearly there"
        )
    elif optimiser == "normalised" and ups >= 2:
        verdict = "hovers"
    elif ups == 0:
        verdict = "falls at every step"
    else:
        verdict = f"rises in {ups} of {len(path) - 1} steps"
    return {
        "verdict": verdict,
        "start": gap[0],
        "end": gap[-1],
        "steps": len(path) - 1,
        "ups": ups,
        "leaves": None if inside.all() else int(np.argmin(inside)),
    }


def slider(value, low, high, step, text):
    """A float slider that waits for its release: a redraw takes about 100 ms."""
    import ipywidgets

    return ipywidgets.FloatSlider(
        value, min=low, max=high, step=step, description=text, continuous_update=False
    )


def draw_landscape(name, kappa, x, y, step, n_steps, optimiser):
    """Path on the contours beside loss against step. step: step size t in units of 1/L. -> (fig, words)"""
    s = surface(name, kappa)
    t = step / s.L
    path = descend(s, (x, y), t, n_steps, optimiser)
    facts = report(s, path, t, optimiser)
    fig, (left, right) = plots.fixed_axes(2, (9, 3.6), (0.06, 0.985, 0.145, 0.92), wspace=0.24)
    _draw_path(s, path, facts, left)
    left.set_gid("start")
    line = theory(s, path, t, optimiser)
    _draw_gap(s, path, line, right)
    left.set_title(s.name[0].upper() + s.name[1:])
    right.set_title(f"{SHORT[optimiser]} {facts['verdict']}")
    return fig, _words(s, t, step, optimiser, facts, line)


def _draw_path(s, path, facts, ax):
    plots.contours(s.f, ax, s.xlim, s.ylim, levels=12, points=50, log=True)
    gone = facts["verdict"] == "diverges" and facts["leaves"]
    shown = (
        path[: facts["leaves"] + 4] if gone else path
    )  # once it explodes, the strokes would only paint over the rest
    wide = np.array([s.xlim, s.ylim])
    ax.plot(*s.minima.T, "P", color=plots.BLACK, markersize=9, markeredgecolor="white", zorder=5)
    ax.plot(
        *np.clip(shown, -50, 50).T,
        "o-",
        color=plots.VERMILION,
        markersize=3,
        linewidth=1.2,
        zorder=3,
    )
    ax.plot(*path[0], "s", color=plots.VERMILION, markersize=8, markeredgecolor="white", zorder=4)
    if facts["leaves"] is None:
        ax.plot(
            *path[-1], "*", color=plots.VERMILION, markersize=13, markeredgecolor="white", zorder=4
        )
    else:
        note = (
            f"leaves the picture at step {facts['leaves']}"
            if facts["leaves"]
            else "starts outside the picture"
        )
        ax.text(
            0.03,
            0.03,
            note,
            transform=ax.transAxes,
            zorder=6,
            bbox={"facecolor": "white", "edgecolor": plots.VERMILION, "alpha": 0.9},
        )
    ax.set(xlim=wide[0], ylim=wide[1], xlabel="$x_1$", ylabel="$x_2$")


def _draw_gap(s, path, line, ax):
    gap = np.maximum(s.f(path) - s.f_min, 1e-17)
    ax.semilogy(gap, "o-", color=plots.VERMILION, markersize=3, linewidth=1.2, label="measured")
    if line is not None:
        ax.semilogy(np.maximum(line[0], 1e-17), "--", color=plots.BLUE, label=line[1])
    lowest = min(gap.min(), np.inf if line is None else line[0][-1])
    low = max(lowest / 3, 1e-15)
    top = max(gap.max(), 0 if line is None else line[0].max(), 10 * low)
    room = top * (top / low) ** 0.3  # the legend stands above the curves
    ax.set(xlabel="step k", ylabel="$f(x^{(k)}) - f^*$", ylim=(low, room))
    ax.minorticks_off()
    ax.legend(loc="upper right" if gap[-1] <= gap[0] else "upper left", fontsize=9)


class _Gap(float):
    """A gap that words print as "below 1e-12" up to its floor, where it is rounding."""

    def __new__(cls, value, floor=1e-12):
        gap = super().__new__(cls, value)
        gap.floor = floor
        return gap

    def __format__(self, spec):
        return f"below {self.floor:.0e}" if self <= self.floor else super().__format__(spec)


def _gap(value):
    """Exactly zero is told as it is."""
    return _Gap(value) if value else value


def _words(s, t, step, optimiser, facts, line):
    words = say(
        "{surface}; {optimiser}, t = {t:.3g} = {step:.3g}/L (L = {L:.3g}, m = {m:.3g}): it {verdict}. "
        "f − f* went from {start:.3g} to {end:.3g} in {steps} steps",
        surface=s.name[0].upper() + s.name[1:],
        optimiser=optimiser,
        t=t,
        step=step,
        L=s.L,
        m=s.m,
        verdict=facts["verdict"],
        start=_gap(facts["start"]),
        end=_gap(facts["end"]),
        steps=facts["steps"],
    )
    if facts["leaves"] is not None:
        words += say("; the path leaves the picture at step {leaves}", leaves=facts["leaves"])
    if line is None:
        return words + ". m and L promise nothing here, so no dashed line."
    return words + say(
        ". Dashed: {promise}; {promised:.3g} at the last step.",
        promise=line[1],
        promised=_gap(line[0][-1]),
    )


def draw_regimes(kappa=10.0, steps=(0.2, 1.0, 1.9, 2.1), n_steps=25, start=(2.5, 1.0)):
    """The same bowl and start with four step sizes, in units of 1/L. -> (fig, words)"""
    s = surface("quadratic bowl", kappa)
    fig, axes = plt.subplots(1, len(steps), figsize=(10, 2.7), sharey=True)
    ends = []
    for ax, step, word in zip(axes, steps, ("slow", "good", "zig-zag", "diverges"), strict=True):
        path = descend(s, start, step / s.L, n_steps, "gradient descent")
        plots.contours(s.f, ax, s.xlim, s.ylim, levels=10, points=50, log=True)
        plots.path(path, ax)
        ax.set(title=f"t = {step:g}/L: {word}", xlabel="$x_1$", xlim=s.xlim, ylim=s.ylim)
        end = s.f(path[-1])
        ends.append(
            say("t = {step:g}/L ends at f = {end:.2g} ({word})", step=step, end=end, word=word)
        )
    axes[0].set_ylabel("$x_2$")
    return fig, say(
        "{n_steps} steps from f = {start:.3g} on a bowl with κ = {kappa:g}: {ends:; }.",
        n_steps=n_steps,
        start=s.f(np.array(start)),
        kappa=kappa,
        ends=ends,
    )


def along_contour(h):
    """Change of x₁² + 4 x₂² on a walk of length h from (1.4, 0.7), at a right angle to the gradient."""
    here, gradient = np.array([1.4, 0.7]), np.array([2.8, 5.6])
    side = np.array([-gradient[1], gradient[0]]) / np.linalg.norm(gradient)
    return float(((here + h * side) ** 2 - here**2) @ [1, 4])


def directions(gradient, n=361):
    """Angles to the gradient (n,) and the unit vectors (n, 2) that stand at them; gradient (2,) is not zero."""
    angle, up = np.linspace(0, 2 * np.pi, n), gradient / np.linalg.norm(gradient)
    side = np.array([-up[1], up[0]])
    return angle, np.outer(np.cos(angle), up) + np.outer(np.sin(angle), side)


def draw_walk(path, sizes):
    """A walk in Rosenbrock's valley, and beside it the size of each step and 1/L of the minimum. -> (fig, words)"""
    s, k = surface("Rosenbrock"), np.arange(1, len(sizes) + 1)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.6))
    plots.contours(s.f, left, s.xlim, s.ylim, levels=12, points=60, log=True)
    plots.path(path, left)
    left.set(
        title="It follows the valley", xlabel="$x_1$", ylabel="$x_2$", xlim=s.xlim, ylim=s.ylim
    )
    right.semilogy(k, sizes, ".", markersize=3, label="step size taken")
    right.axhline(1 / s.L, color=plots.BLACK, linestyle="--", label="1/L at the minimum")
    right.set(title="Short where it is steep", xlabel="step k", ylabel="step size t")
    right.legend(fontsize=9)
    return fig, say(
        "{steps} steps from ({start[0]:.1f}, {start[1]:.1f}) to ({end[0]:.2f}, {end[1]:.2f}); "
        "the first of size {first:.4f}, the largest {largest:.3f}; 1/L = {safe:.4f}.",
        steps=len(sizes),
        start=path[0],
        end=path[-1],
        first=sizes[0],
        largest=sizes.max(),
        safe=1 / s.L,
    )


def surrogate_gap(x: float, t: float, grid: np.ndarray) -> np.ndarray:
    """Parabola minus function on the grid, for f = log cosh (so L = 1) and the parabola of curvature 1/t at x."""
    slope, move = np.tanh(x), grid - x
    return np.log(np.cosh(x)) + slope * move + move**2 / (2 * t) - np.log(np.cosh(grid))


def draw_surrogate(x, t):
    """f = log cosh, the parabola that a step of size t minimises, and where that lands. -> (fig, words)"""
    grid = np.linspace(-4, 4, 401)
    f, gap, new = np.log(np.cosh(grid)), surrogate_gap(x, t, grid), x - t * np.tanh(x)
    above = bool((gap >= -1e-12).all())
    color, style = (plots.GREEN, "--") if above else (plots.VERMILION, ":")
    fig, ax = plt.subplots(figsize=(8, 3.2))
    ax.plot(grid, f, color=plots.BLUE, label="f = log cosh, L = 1")
    ax.plot(grid, f + gap, style, color=color, label=f"parabola, curvature 1/t = {1 / t:.2f}")
    ax.plot(x, np.log(np.cosh(x)), "s", color=plots.BLACK, label="x, where they touch")
    ax.set_gid("point")
    ax.plot(
        new,
        np.log(np.cosh(new)),
        "*",
        color=color,
        markersize=13,
        label="x − t f′(x), its minimiser",
    )
    ax.set(
        xlim=(-4, 4),
        ylim=(-1, 6),
        xlabel="y",
        ylabel="value",
        title="The parabola is an upper bound" if above else "The parabola cuts below f",
    )
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=10)
    drop = np.log(np.cosh(x)) - np.log(np.cosh(new))
    return fig, say(
        "t = {t:.2f} at x = {x:.2f}: the parabola {verdict}. "
        "The step lands at {new:.3f}, f changes by {change:.3f}, half of t f′² is {half:.3f}.",
        t=t,
        x=x,
        verdict="stays above f" if above else "cuts below f",
        new=new,
        change=-drop,
        half=t * np.tanh(x) ** 2 / 2,
    )


def draw_gaps(
    measured, bounds, title, *, ylabel="$f(x^{(k)}) - f^*$", xscale="linear", floor=1e-13
):
    """Measured curves (solid, markers) under their bounds (dashed), both by label; values start at step 0.

    Values below floor (rounding) and nan are left out. -> (fig, words): each curve's end and how far its bound is.
    """
    aside = len(measured) > 4
    fig, ax = plt.subplots(figsize=(7.6 if aside else 6.6, 3.6))
    ends = []
    for number, (label, values) in enumerate(measured.items()):
        seen = np.where(values > floor, values, np.nan)
        marks = (
            np.geomspace(1, len(seen), 12) - 1
            if xscale == "log"
            else np.linspace(0, len(seen) - 1, 12)
        )
        ax.plot(
            seen,
            marker="o^sDvP"[number],
            markevery=np.unique(marks.astype(int)).tolist(),
            color=f"C{number}",
            label=label,
        )
        end = _Gap(values[-1], floor)
        told = say("{label}: {end:.1e} at step {step}", label=label, end=end, step=len(values) - 1)
        if label in bounds:
            ax.plot(
                np.where(bounds[label] > floor, bounds[label], np.nan),
                "--",
                color=f"C{number}",
                linewidth=1.3,
            )
            kept = np.isfinite(bounds[label]) & (values > 1e3 * floor)
            tightest = np.min(bounds[label][kept] / values[kept])
            told += say(", bound ÷ measured at least {tightest:.2g}", tightest=tightest)
        ends.append(told)
    if bounds:
        ax.plot([], [], "--", color="#666666", linewidth=1.3, label="its bound")
    ax.set(title=title, xlabel="step k", ylabel=ylabel, yscale="log", xscale=xscale)
    ax.legend(**({"loc": "center left", "bbox_to_anchor": (1, 0.5)} if aside else {}))
    return fig, say("{title}. {ends:; }.", title=title, ends=ends)


def noisy_gap(schedule, m=0.05, n_steps=20_000):
    """E[f] at each step of descent on f = m/2 x² from x = 5, with gradient noise of variance 1.

    schedule: function step number k >= 1 -> step size. A step turns E[x²] into (1 − t m)² E[x²] + t².
    """
    square, gaps = 25.0, []
    for k in range(1, n_steps + 1):
        gaps.append(m / 2 * square)
        square = (1 - schedule(k) * m) ** 2 * square + schedule(k) ** 2
    return np.array(gaps)


def four_rates(n_steps=20_000):
    """One run for each row of the table of rates: label -> gaps, or gradient norms, after 0, 1, … steps."""

    def hill_slope(x):  # f = (1 + x²)^(−0.05) is not convex, L = 0.1; it falls for ever
        return 0.1 * x * (1 + x**2) ** -1.05

    k, x = np.arange(n_steps), [1.0]
    for _ in k[1:]:
        x.append(x[-1] + hill_slope(x[-1]) / 0.1)
    flat = np.geomspace(1e-6, 1, 60)  # a bowl of 60 curvatures, down to almost 0
    return {
        "non-convex, ‖∇f‖": hill_slope(np.array(x)),
        "convex": (1 - flat) ** (2 * k[:, None]) @ flat / 2,
        "strongly convex": 5.5 * (9 / 11) ** (2.0 * k),
        "noisy, t = 1/k": noisy_gap(lambda k: 1 / k, n_steps=n_steps),
        "noisy, t = 1/√k": noisy_gap(lambda k: k**-0.5, n_steps=n_steps),
    }


def exponent(values):
    """The p for which values fall like k^p over the last decade of steps: the slope on log–log axes."""
    k = np.arange(len(values) // 10, len(values))
    return np.polyfit(np.log(k), np.log(values[k]), 1)[0]


def random_search(f, d, looks, rng):
    """Best of `looks` points, from 0 in d dimensions: a random move is kept if it lowers f; moves get shorter."""
    best = np.zeros(d)
    lowest = f(best)
    for i in range(looks - 1):
        new = best + rng.normal(0, 0.5 * 0.995**i + 0.01, d)
        value = f(new)
        if value < lowest:
            best, lowest = new, value
    return best


def project_path(grad, project, start, t, n_steps):
    """Iterates of projected gradient descent: a step of size t, then `project`. -> (n_steps + 1, d)"""
    path = [np.asarray(start, float)]
    for _ in range(n_steps):
        path.append(project(path[-1] - t * grad(path[-1])))
    return np.array(path)


GALLERY = {  # name: (function, derivative)
    "exp x": (np.exp, np.exp),
    "x²": (lambda x: x**2, lambda x: 2 * x),
    "log(1 + exp(−x))": (lambda x: np.logaddexp(0, -x), lambda x: -1 / (1 + np.exp(x))),
    "sin x": (np.sin, np.cos),
    "x⁴ − 3x²": (lambda x: x**4 - 3 * x**2, lambda x: 4 * x**3 - 6 * x),
}


def draw_tangent(name, x, m):
    """A function of GALLERY and its tangent at x, bent up with curvature m; where f is below it. -> (fig, words)"""
    f, slope = GALLERY[name]
    grid = np.linspace(-2, 2, 401)
    values, line = f(grid), f(x) + slope(x) * (grid - x) + m / 2 * (grid - x) ** 2
    above = line - values
    below = above > 1e-9
    fig, ax = plt.subplots(figsize=(8, 3.2))
    ax.plot(grid, values, color=plots.BLUE, label=f"f = {name}")
    word = "tangent" if m == 0 else f"parabola, curvature {m:g}"
    ax.plot(grid, line, "--", color=plots.GREEN, label=word)
    ax.fill_between(
        grid,
        values,
        line,
        where=below,
        color=plots.VERMILION,
        alpha=0.35,
        hatch="//",
        label="f is below" if below.any() else None,
    )
    ax.plot(x, f(x), "s", color=plots.BLACK, label="x, where they touch")
    ax.set_gid("point")
    room = 0.15 * np.ptp(values)
    ax.set(
        xlim=(-2, 2),
        ylim=(values.min() - 2 * room, values.max() + room),
        xlabel="y",
        ylabel="value",
        title=f"f dips below the {word.split(',')[0]}"
        if below.any()
        else f"f stays above the {word.split(',')[0]}",
    )
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=10)
    words = say("f = {name}, {word} at x = {x:g}: ", name=name, word=word, x=x)
    if not below.any():
        return fig, words + "f is nowhere below it on [−2, 2]."
    return fig, words + say(
        "it is {height:.2f} above f at y = {y:.2f}.", height=above.max(), y=grid[above.argmax()]
    )


def worst_tangent(f, slope, grid):
    """The pair of grid points where a tangent rises highest above the graph: (x, y, height); height <= 0: none."""
    tangent = f(grid)[:, None] + slope(grid)[:, None] * (grid[None] - grid[:, None])
    above = tangent - f(grid)[None]
    i, j = np.unravel_index(above.argmax(), above.shape)
    return grid[i], grid[j], above[i, j]


def draw_scaled(x, f, factors):
    """c f over x for several factors c, each with its smallest point marked. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(6.4, 3))
    for c, style in zip(factors, ("-", "--", ":"), strict=True):
        (line,) = ax.plot(x, c * f, style, label=f"{c} · f")
        ax.plot(x[np.argmin(c * f)], (c * f).min(), "*", color=line.get_color(), markersize=13)
    ax.set(title="A positive factor keeps the place", xlabel="x", ylabel="value")
    ax.legend()
    minima = [
        say(
            "{c} f is smallest at x = {x:g}, where it is {lowest:g}",
            c=c,
            x=x[np.argmin(c * f)],
            lowest=(c * f).min(),
        )
        for c in factors
    ]
    return fig, say("{minima:; }.", minima=minima)


def draw_fan(angle, curves):
    """Change of f ÷ its first-order size against the angle; curves: step length -> values. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(6.4, 3.3))
    for (eta, curve), style in zip(curves.items(), (":", "-.", "-"), strict=True):
        ax.plot(np.degrees(angle), curve, style, label=f"step length η = {eta:g}")
    ax.plot(np.degrees(angle), np.cos(angle), "--", color=plots.BLACK, label="cos θ")
    ax.set(
        title="Short steps: the change of f is a cosine",
        xlabel="angle to the gradient (degrees)",
        ylabel="change of f ÷ (η ‖∇f‖)",
    )
    ax.legend(fontsize=9)
    distances = [
        say("{distance:.3f} for η = {eta:g}", distance=abs(c - np.cos(angle)).max(), eta=eta)
        for eta, c in curves.items()
    ]
    return fig, say(
        "Change of f against the direction of the step. "
        "Largest distance from the cosine: {distances:, }.",
        distances=distances,
    )


def draw_compass(a, b, x, y, h=0.6):
    """Contours of a x₁² + b x₂², the gradient at (x, y), its negative and the tangent. -> (fig, words)"""
    here, g = np.array([x, y]), np.array([2 * a * x, 2 * b * y])
    norm = np.linalg.norm(g)
    unit = g / norm if norm > 0 else g
    tangent = np.array([-unit[1], unit[0]])
    fig, ax = plt.subplots(figsize=(5.6, 4.2))
    plots.contours(
        lambda p: a * p[:, 0] ** 2 + b * p[:, 1] ** 2, ax, (-2.6, 2.6), (-2, 2), points=50
    )
    arrows = (
        ("+∇f, uphill", unit, plots.VERMILION, "-"),
        ("−∇f, downhill", -unit, plots.BLUE, "--"),
        ("tangent", tangent, plots.BLACK, ":"),
    )
    for label, way, color, style in arrows:
        ax.annotate(
            "",
            here + h * way,
            here,
            arrowprops={"arrowstyle": "-|>", "color": color, "linestyle": style, "lw": 2},
        )
        ax.plot([], [], style, color=color, label=label)
    ax.plot(x, y, "s", color=plots.BLACK, markersize=7)
    ax.set_gid("point")
    ax.set(
        title="The gradient stands upright on the contour",
        xlabel="$x_1$",
        ylabel="$x_2$",
        aspect="equal",
    )
    ax.legend(loc="upper left", fontsize=9, frameon=True, framealpha=0.9)
    f = a * x**2 + b * y**2
    along, up = (
        a * p[0] ** 2 + b * p[1] ** 2 - f for p in (here + 0.01 * tangent, here + 0.01 * unit)
    )
    return fig, say(
        "f = {a:g} x₁² + {b:g} x₂² at ({x:g}, {y:g}): gradient ({g[0]:.2f}, {g[1]:.2f}), "
        "length {norm:.2f}. "
        "A move of 0.01 changes f by {up:.5f} uphill and by {along:.5f} along the tangent.",
        a=a,
        b=b,
        x=x,
        y=y,
        g=g,
        norm=norm,
        up=up,
        along=along,
    )


def draw_step_sizes(steps, gaps, m, L, n_steps):
    """Final gap against the step size, with 1/L, 2/(m + L) and 2/L marked. -> (fig, words)"""
    steps, gaps = np.asarray(steps), np.asarray(gaps)
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    ax.semilogy(steps, gaps, "o-", markersize=3.5)
    for value, label, style in (
        (1 / L, "1/L", "--"),
        (2 / (m + L), "2/(m+L)", "-."),
        (2 / L, "2/L", ":"),
    ):
        ax.axvline(value, color="black", linestyle=style, linewidth=1.3, label=label)
    best = steps[gaps.argmin()]
    ax.set(
        title="Best near 2/(m+L); beyond 2/L the gap explodes",
        xlabel="step size t",
        ylabel=f"gap after {n_steps} steps",
    )
    ax.legend(loc="upper left")
    return fig, say(
        "Gap after {n_steps} steps against the step size: smallest, {lowest:.1e}, at t = {best:.3f}, near "
        "2/(m+L) = {promised:.3f}; "
        "{gaps[0]:.1e} at t = {steps[0]:.3f} and {gaps[1]:.1e} at t = {steps[1]:.3f}.",
        n_steps=n_steps,
        lowest=gaps.min(),
        best=best,
        promised=2 / (m + L),
        gaps=gaps[[0, -1]],
        steps=steps[[0, -1]],
    )


def draw_basins(f, paths, labels, norms, bounds, span=6.0):
    """Paths on a bumpy surface, and beside it the smallest gradient norm so far under its bound. -> (fig, words)"""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9))
    plots.contours(f, left, (-span, span), (-span, span), levels=12, points=70)
    plots.trajectories(paths, left, labels)
    left.set(title="Each start finds its own valley", xlabel="$x_1$", ylabel="$x_2$")
    left.get_legend().remove()
    for label, norm, bound, color, marker in zip(
        labels, norms, bounds, (plots.VERMILION, plots.BLUE), "o^", strict=True
    ):
        k = np.arange(1, len(norm) + 1)
        right.loglog(
            k, np.maximum(norm, 1e-12), marker=marker, markevery=0.12, color=color, label=label
        )
        right.loglog(k, bound, "--", color=color)
    right.plot([], [], "--", color="#666666", label="its bound")
    right.set(
        title="The gradient gets small, as promised",
        xlabel="k + 1",
        ylabel="smallest ‖∇f‖ so far",
        ylim=(1e-10, None),
    )
    right.legend(fontsize=9)
    ends = []
    for label, p, norm, bound in zip(labels, paths, norms, bounds, strict=True):
        told = say(
            "{label}: ends at ({end[0]:.2f}, {end[1]:.2f}) with f = {value:.2f}, "
            "bound ÷ measured at least {tightest:.2g}",
            label=label,
            end=np.round(p[-1], 2) + 0.0,  # + 0.0: no "−0.00"
            value=float(f(p[-1:])[0]),
            tightest=np.min(bound / norm),
        )
        ends.append(told)
    return fig, say("Two starts on a bumpy bowl. {ends:; }.", ends=ends)


def valleys(paths, span=6.5):
    """The egg box that walkers (steps + 1, walkers, 2) go down -> figure, axes, and in words where they end."""
    fig, ax = plt.subplots(figsize=(5.6, 4.6))
    plots.contours(eggs, ax, (-span, span), (-span, span), levels=12, points=70)
    ax.set(title="Where you start decides where you end", xlabel="$x_1$", ylabel="$x_2$")
    ends, count = np.unique(np.round(paths[-1]), axis=0, return_counts=True)
    lowest = count[np.abs(ends).max(1) == 0].sum()
    return (
        fig,
        ax,
        say(
            "{walkers} walkers on the egg box end in {valleys} valleys after {steps} steps, {lowest} of them in the "
            "lowest, at the origin.",
            walkers=paths.shape[1],
            valleys=len(ends),
            steps=len(paths) - 1,
            lowest=lowest,
        ),
    )


def draw_escape(offsets, curves):
    """Steps to leave a saddle against the first offset; curves: label -> steps. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(6.6, 3.7))
    for label, marker, style in zip(curves, "o^s", ("-", "--", "-."), strict=False):
        ax.semilogx(offsets, curves[label], marker=marker, linestyle=style, label=label)
    ax.set(
        title="Escape from a saddle: whose clock runs on log(1/δ)?",
        xlabel="first offset δ in $x_2$",
        ylabel="steps to escape",
        ylim=(0, None),
    )
    ax.legend()
    ends = [
        say(
            "{label}: {steps[0]} steps from δ = {offsets[0]:.0e}, {steps[1]} from δ = {offsets[1]:.0e}",
            label=label,
            steps=(steps[0], steps[-1]),
            offsets=(offsets[0], offsets[-1]),
        )
        for label, steps in curves.items()
    ]
    return fig, say("Steps until |x₂| exceeds ½. {ends:; }.", ends=ends)


def draw_projected(f, paths, labels, radius=1.0):
    """Paths that end on the ball of that radius and in the box of the same half-width. -> (fig, words)"""
    fig, ax = plt.subplots(figsize=(5.6, 4.4))
    plots.contours(f, ax, (-1.6, 2.6), (-1.6, 2.0), points=60)
    angle = np.linspace(0, 2 * np.pi, 200)
    ax.plot(radius * np.cos(angle), radius * np.sin(angle), color=plots.BLACK, linewidth=1.5)
    ax.plot(
        radius * np.array([-1, 1, 1, -1, -1]),
        radius * np.array([-1, -1, 1, 1, -1]),
        color=plots.BLACK,
        linestyle="--",
        linewidth=1.2,
    )
    plots.trajectories(paths, ax, labels)
    ax.get_legend().set(frame_on=True)
    ax.set(
        title="Step, then the nearest allowed point", xlabel="$x_1$", ylabel="$x_2$", aspect="equal"
    )
    ends = [
        say("{label} ends at ({end[0]:.3f}, {end[1]:.3f})", label=label, end=p[-1])
        for label, p in zip(labels, paths, strict=True)
    ]
    return fig, say(
        "Contours of a bowl, the circle of radius {radius:g} (solid) and its box (dashed). {ends:; }.",
        radius=radius,
        ends=ends,
    )

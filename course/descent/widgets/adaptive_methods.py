"""Pictures of 03_optimisation/02_momentum_and_adam: pure functions first, drawing functions below.

The drawing functions take the student's own `ewa`, `heavy_ball`, `adam_step` … as arguments, run
them, and return (figure, words).
"""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from descent import plots

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Surface:
    """f and grad over the plane, (…, 2) -> (…) and (…, 2); where to start, what to show, where the goal is."""

    f: Callable
    grad: Callable
    start: tuple[float, float]
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    goal: tuple[float, float]
    log: bool = False


def quadratic(curvatures, **shown) -> Surface:
    """Half the sum of curvature times square: axes along the coordinates, minimum at 0."""
    c = np.asarray(curvatures, float)
    return Surface(f=lambda x: 0.5 * np.sum(c * np.square(x), axis=-1), grad=lambda x: c * x, goal=(0.0, 0.0), **shown)


def rosenbrock_grad(x):
    """Gradient of (1 - a)² + 20 (b - a²)² at x = (a, b)."""
    a, b = x[..., 0], x[..., 1]
    return np.stack([-2 * (1 - a) - 80 * a * (b - a * a), 40 * (b - a * a)], axis=-1)


SURFACES = {
    "ravine": quadratic([1.0, 100.0], start=(1.0, 0.3), xlim=(-0.6, 1.2), ylim=(-0.5, 0.5)),
    "curved valley": Surface(
        f=lambda x: (1 - x[..., 0]) ** 2 + 20 * (x[..., 1] - x[..., 0] ** 2) ** 2,
        grad=rosenbrock_grad,
        start=(-1.0, 1.2), xlim=(-1.6, 1.6), ylim=(-0.6, 1.8), goal=(1.0, 1.0), log=True,
    ),
    "saddle": Surface(
        f=lambda x: 0.5 * x[..., 0] ** 2 - 0.5 * x[..., 1] ** 2 + 0.1 * x[..., 1] ** 4,
        grad=lambda x: np.stack([x[..., 0], -x[..., 1] + 0.4 * x[..., 1] ** 3], axis=-1),
        start=(1.5, 0.001), xlim=(-1.8, 1.8), ylim=(-0.6, 2.4), goal=(0.0, np.sqrt(2.5)),
    ),
}  # fmt: skip


def optimisers(adagrad_step, rmsprop_step, adam_step) -> dict[str, Callable]:
    """Five methods as step(theta, g, state, t, eta, beta) -> (theta, state); state starts as two zero arrays.

    beta is the momentum gamma of heavy ball, and the memory of every average elsewhere.
    """

    def descent(theta, g, state, t, eta, beta):
        return theta - eta * g, state

    def momentum(theta, g, state, t, eta, beta):
        v = beta * state[0] + g
        return theta - eta * v, (v, v)

    def adagrad(theta, g, state, t, eta, beta):
        theta, total = adagrad_step(theta, g, state[0], eta, 1e-8)
        return theta, (total, total)

    def rmsprop(theta, g, state, t, eta, beta):
        theta, s = rmsprop_step(theta, g, state[0], eta, beta, 1e-8)
        return theta, (s, s)

    def adam(theta, g, state, t, eta, beta):
        theta, m, s = adam_step(theta, g, *state, t, eta, beta, beta, 1e-8)
        return theta, (m, s)

    return {"gradient descent": descent, "heavy ball": momentum, "AdaGrad": adagrad, "RMSProp": rmsprop, "Adam": adam}


def race(step, grad, start, n_steps, eta, beta, noise=0.0, seed=0):
    """Path (n_steps + 1, d) of one method. noise: standard deviation added to each gradient entry.

    Stops moving once it is a million away: a diverged path stays finite.
    """
    rng = np.random.default_rng(seed)
    theta = np.array(start, float)
    state = (np.zeros_like(theta), np.zeros_like(theta))
    path = [theta]
    for t in range(1, n_steps + 1):
        if np.abs(theta).max() < 1e6:
            g = grad(theta) + noise * rng.normal(size=theta.shape)
            theta, state = step(theta, g, state, t, eta, beta)
        path.append(theta)
    return np.array(path)


def nesterov(grad, x0, eta, gamma, n_steps):
    """Like heavy ball, but the slope is asked where the velocity will carry x. -> (n_steps + 1, d)."""
    x, v, path = x0, np.zeros_like(x0), [x0]
    for _ in range(n_steps):
        v = gamma * v + grad(x - eta * gamma * v)
        x = x - eta * v
        path.append(x)
    return np.array(path)


def steps_to(path, goal=0.0, tolerance=TOLERANCE):
    """The first step at which the distance to the goal is below tolerance, or None."""
    near = np.linalg.norm(path - np.asarray(goal), axis=-1) < tolerance
    return int(np.argmax(near)) if near.any() else None


def tuned(mu, L):
    """Best (eta, gamma, rate) of heavy ball for curvatures from mu to L."""
    rate = (np.sqrt(L) - np.sqrt(mu)) / (np.sqrt(L) + np.sqrt(mu))
    return (2 / (np.sqrt(L) + np.sqrt(mu))) ** 2, rate**2, rate


def asymptotic_rate(curvatures, eta, gamma):
    """Factor per step that heavy ball settles to on a quadratic: the largest modulus of an eigenvalue."""
    moduli = [abs(np.roots([1, -(1 + gamma - eta * c), gamma])).max() for c in np.atleast_1d(curvatures)]
    return max(moduli)


def draw_average(ewa, x, beta, shown):
    """Raw and corrected average over the first `shown` values of x (n,), and the weights behind the last one."""
    raw, corrected = ewa(x, beta, correct=False), ewa(x, beta, correct=True)
    t = np.arange(1, shown + 1)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.2), width_ratios=[2, 1])
    ax.plot(t, x[:shown], ".", color="#888888", markersize=3, label="price")
    ax.plot(t, raw[:shown], "--", color=plots.VERMILION, label="raw average")
    ax.plot(t, corrected[:shown], "-", color=plots.BLUE, label="corrected")
    ax.set(xlabel="trading day t", ylabel="dollars", ylim=(0, 1.12 * x[:shown].max()))
    ax.set_title(f"Raw starts at {raw[0]:.1f}, corrected at {corrected[0]:.0f}")
    ax.legend(loc="lower right")
    age = np.arange(120)
    weights = (1 - beta) * beta**age
    window = 1 / (1 - beta)
    side.plot(age, weights, color=plots.BLUE)
    side.axvline(window, color=plots.BLACK, linestyle=":")
    side.set(xlabel="age in days", ylabel="weight")
    side.set_title(f"Window {window:.0f} days")
    inside = 1 - beta**window
    late = raw[shown - 1] / corrected[shown - 1]
    words = (
        f"With β = {beta:.2f} the window 1/(1 − β) is {window:.0f} days and holds {inside:.0%} of the weight. "
        f"The raw average shows {raw[0] / corrected[0]:.0%} of the corrected one on day 1 and {late:.0%} on day {shown}."
    )
    return fig, words


def draw_momentum(heavy_ball, eta, gamma, method="heavy ball"):
    """Path in the ravine of curvatures 1 and 100, and distance against step beside the rate of the theory."""
    bowl = SURFACES["ravine"]
    start = np.array([1.0, 1.0])
    if method == "gradient descent":
        gamma = 0.0
    steps = nesterov if method == "Nesterov" else heavy_ball
    with np.errstate(over="ignore", invalid="ignore"):
        path = steps(bowl.grad, start, eta, gamma, 1500)
        distance = np.linalg.norm(path, axis=1)
    reached = steps_to(path)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.2))
    plots.contours(bowl.f, ax, (-1.1, 1.1), (-1.1, 1.1), levels=10, points=40)
    plots.path(np.clip(path[:80], -9, 9), ax)
    ax.set(xlabel="flat coordinate (curvature 1)", ylabel="steep (curvature 100)", title=f"{method.capitalize()}, 80 steps")
    shown = np.clip(distance[:801], 1e-9, 1e3)
    side.semilogy(shown, color=plots.VERMILION, label="measured")
    words = f"{method.capitalize()} with η = {eta:.4f}, γ = {gamma:.2f}: "
    if method != "Nesterov":
        rate = asymptotic_rate([1.0, 100.0], eta, gamma)
        theory = np.clip(distance[0] * rate ** np.arange(801.0), 1e-9, 1e3)
        side.semilogy(theory, "--", color=plots.BLACK, label=f"theory: {rate:.3f} per step")
        words += f"the theory's factor per step is {rate:.3f}; "
    side.axhline(TOLERANCE, color="#666666", linestyle=":")
    side.set(xlabel="step", ylabel="distance to the minimum", ylim=(1e-9, 1e3))
    if reached is not None:
        verdict = f"within {TOLERANCE:.0e} after {reached} steps"
    elif distance[-1] > distance[0]:
        verdict = "it diverges"
    else:
        verdict = f"still {distance[-1]:.0e} away after {len(path) - 1} steps"
    side.set_title(verdict[0].upper() + verdict[1:])
    side.legend(loc="upper right")
    return fig, words + verdict + "."


def first_steps(adam_step, ratio, eta=0.5):
    """Moves from (1, 1) in the bowl of curvatures 1 and ratio: the gradient's, and Adam's first. Two (2,) arrays.

    The gradient is scaled to the largest stable step of plain descent, 2 / ratio.
    """
    g = np.array([1.0, ratio])
    theta, zero = np.ones(2), np.zeros(2)
    moved = adam_step(theta, g, zero, zero, 1, eta, 0.9, 0.999, 1e-8)[0]
    return -g / max(ratio, 1.0), moved - theta


def draw_bowl(adam_step, ratio):
    """Arrows of the first move of gradient descent (η = 1 / largest curvature) and Adam (η = 0.5), with their parts as bars."""
    bowl = quadratic([1.0, ratio], start=(1.0, 1.0), xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    plain, adam = first_steps(adam_step, ratio)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.2), width_ratios=[1, 1])
    plots.contours(bowl.f, ax, bowl.xlim, bowl.ylim, levels=10, points=40)
    ax.plot(0, 0, "*", color=plots.BLACK, markersize=12)
    for move, color, style in ((plain, plots.VERMILION, "-"), (adam, plots.BLUE, "--")):
        ax.annotate("", 1 + move, (1, 1), arrowprops=dict(arrowstyle="->", color=color, linestyle=style, linewidth=2.4))
    ax.set(xlabel="θ₁ (curvature 1)", ylabel=f"θ₂ (curvature {ratio:.0f})", title="First moves from (1, 1)")
    place = np.arange(2)
    side.bar(place - 0.2, np.abs(plain), 0.36, color=plots.VERMILION, label="gradient descent (solid)")
    side.bar(place + 0.2, np.abs(adam), 0.36, color=plots.BLUE, hatch="//", edgecolor="white", label="Adam (dashed)")
    side.set_xticks(place, ["θ₁", "θ₂"])
    side.set(ylabel="length of the move", ylim=(0, 1.5), title=f"Gradients differ {ratio:.0f} times, Adam's moves do not")
    side.legend(loc="upper left")
    words = (
        f"Curvatures 1 and {ratio:.0f}. Gradient descent moves {abs(plain[0]):.3f} along θ₁ and {abs(plain[1]):.3f} along θ₂; "
        f"Adam moves {abs(adam[0]):.3f} and {abs(adam[1]):.3f}."
    )
    return fig, words


def draw_race(methods, surface, method, eta, beta, batch, n_steps=150):
    """Trail of one method, or of all five, over a surface; gradients are averages of `batch` noisy ones."""
    place = SURFACES[surface]
    names = list(methods) if method == "all five" else [method]
    noise = 0.0 if batch == "all data" else 2.0 / np.sqrt(batch)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.4), width_ratios=[1.3, 1])
    plots.contours(place.f, ax, place.xlim, place.ylim, levels=10, points=40, log=place.log)
    ends, finite = [], 1e4
    for name, color, marker in zip(methods, (plots.VERMILION, plots.BLUE, plots.GREEN, plots.PINK, plots.ORANGE), "o^sDv", strict=True):
        if name not in names:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            path = race(methods[name], place.grad, place.start, n_steps, eta, beta, noise)
        distance = np.linalg.norm(path - np.array(place.goal), axis=1)
        ends.append(f"{name} {distance[-1]:.2g}" if distance[-1] < finite else f"{name} diverged")
        ax.plot(*np.clip(path, -9, 9).T, color=color, marker=marker, markersize=3, linewidth=1)
        side.semilogy(np.clip(distance, 1e-4, finite), color=color, marker=marker, markevery=25, label=name)
    ax.plot(*place.goal, "*", color=plots.BLACK, markersize=13)
    ax.set(xlabel="θ₁", ylabel="θ₂", title=surface.capitalize())
    side.set(xlabel="step", ylabel="distance to the goal", title=f"η = {eta:.3g}, β = {beta:.2f}")
    side.legend(fontsize=8)
    return fig, f"Distance to the goal after {n_steps} steps on the {surface}: {', '.join(ends)}."

"""Pictures of 03_optimisation/02_momentum_and_adam: pure functions first, drawing functions below.

They take the student's own `ewa`, `heavy_ball`, `adam_step` … as arguments and run them. A method is a pair: its
step(theta, g, memory, t, eta) -> (theta, memory), and the memory that it starts with. `draw_…` return (fig, words).
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit, softmax

from descent import plots
from descent.words import say

TOLERANCE = 1e-6
COLORS = (plots.VERMILION, plots.BLUE, plots.GREEN, plots.PINK, plots.ORANGE)
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = "o^sDv"
FAR = 1e6  # a walk that gets this far stays where it is


@dataclass(frozen=True)
class Surface:
    """f and grad over the plane, (…, 2) -> (…) and (…, 2); what to show, and where the goal is."""

    f: Callable
    grad: Callable
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    goals: np.ndarray  # (k, 2)
    log: bool = False


def quadratic(curvatures, xlim, ylim) -> Surface:
    """Half the sum of curvature times square: axes along the coordinates, minimum at 0."""
    c = np.asarray(curvatures, float)
    return Surface(
        lambda x: 0.5 * np.sum(c * np.square(x), axis=-1),
        lambda x: c * x,
        xlim,
        ylim,
        np.zeros((1, 2)),
    )


def rosenbrock_grad(x):
    """Gradient of (1 - a)² + 20 (b - a²)² at x = (a, b)."""
    a, b = x[..., 0], x[..., 1]
    return np.stack([-2 * (1 - a) - 80 * a * (b - a * a), 40 * (b - a * a)], axis=-1)


RAVINE = quadratic([1.0, 100.0], xlim=(-1.2, 1.2), ylim=(-1.2, 1.2))
SURFACES = {
    "ravine": RAVINE,
    "curved valley": Surface(
        lambda x: (1 - x[..., 0]) ** 2 + 20 * (x[..., 1] - x[..., 0] ** 2) ** 2,
        rosenbrock_grad,
        (-1.6, 1.6),
        (-1.3, 1.8),
        np.ones((1, 2)),
        log=True,
    ),
    "saddle": Surface(
        lambda x: 0.5 * x[..., 0] ** 2 - 0.5 * x[..., 1] ** 2 + 0.1 * x[..., 1] ** 4,
        lambda x: np.stack([x[..., 0], -x[..., 1] + 0.4 * x[..., 1] ** 3], axis=-1),
        (-1.8, 1.8),
        (-2.4, 2.4),
        np.array([[0.0, 1.0], [0.0, -1.0]]) * np.sqrt(2.5),
    ),
}


def methods(*steps) -> dict[str, tuple]:
    """Name -> method of the five steps, in this order; Adam's memory is a pair."""
    names = ("gradient descent", "momentum", "AdaGrad", "RMSProp", "Adam")
    starts = (0.0, 0.0, 0.0, 0.0, (0.0, 0.0))
    return dict(zip(names, zip(steps, starts, strict=True), strict=True))


def walk(step, memory, grad, start, n_steps, eta, noise=0.0, seed=0):
    """Path (n_steps + 1, d) of one method. noise: standard deviation added to each gradient entry.

    Stays where it is once it is a million away: a path that diverges is finite.
    """
    rng, theta = np.random.default_rng(seed), np.array(start, float)
    path = [theta]
    for t in range(1, n_steps + 1):
        if np.abs(theta).max() < FAR:
            g = grad(theta) + noise * rng.normal(size=theta.shape)
            theta, memory = step(theta, g, memory, t, eta)
        path.append(theta)
    return np.array(path)


def nesterov(grad, x0, eta, gamma, n_steps):
    """Like heavy ball, but the slope is asked where the velocity will carry x. -> (n_steps + 1, d).

    gamma=None: momentum (t - 1) / (t + 2) in step t = 1, 2, …, which grows towards 1.
    """
    x, v, path = x0, np.zeros_like(x0), [x0]
    for t in range(1, n_steps + 1):
        momentum = (t - 1) / (t + 2) if gamma is None else gamma
        v = momentum * v + grad(x - eta * momentum * v)
        x = x - eta * v
        path.append(x)
    return np.array(path)


def simplified_step(theta, g, memory, t, eta):
    """wu's Algorithm 3, with β₁ = 0.9, β₂ = 0.999, ε = 1e-8, as a step."""
    v, G = 0.9 * memory[0] + g, 0.999 * memory[1] + g * g
    return theta - eta * v / np.sqrt(G + 1e-8), (v, G)


def torch_path(make, n_steps=60, noise=None):
    """Path (n_steps + 1, 2) of a torch optimiser in the ravine from (1, 0.3), by autograd. make: [parameter] -> it.

    noise (n_steps, 2): added to the gradient of each step, like that of a mini-batch.
    """
    import torch

    theta = torch.tensor([1.0, 0.3], dtype=torch.float64, requires_grad=True)
    noise = torch.zeros(n_steps, 2) if noise is None else torch.as_tensor(noise)
    optimiser, path = make([theta]), [theta.tolist()]
    for t in range(n_steps):
        optimiser.zero_grad()
        (0.5 * theta[0] ** 2 + 50 * theta[1] ** 2 + (noise[t] * theta).sum()).backward()
        optimiser.step()
        path.append(theta.tolist())
    return np.array(path)


def logistic(X, y, lam):
    """Mean logistic loss (nats) with an intercept, the last weight, + lam/2 ‖w‖².

    X (n, d), y (n,) of 0 and 1 -> loss, its gradient, the largest curvature L anywhere, and the lowest value, which
    Newton's method finds with backtracking.
    """
    X = np.column_stack([X, np.ones(len(y))])
    signs = 2 * np.asarray(y) - 1

    def loss(w):
        return np.logaddexp(0, -signs * (X @ w)).mean() + lam / 2 * w @ w

    def grad(w):
        return -X.T @ (signs * expit(-signs * (X @ w))) / len(X) + lam * w

    w = np.zeros(X.shape[1])
    for _ in range(40):
        p, t = expit(X @ w), 1.0
        move = np.linalg.solve((X.T * (p * (1 - p))) @ X / len(X) + lam * np.eye(len(w)), grad(w))
        while loss(w - t * move) > loss(w) and t > 1e-6:
            t /= 2
        w = w - t * move
    L = np.linalg.eigvalsh(X.T @ X)[-1] / (4 * len(X)) + lam
    return loss, grad, L, loss(w)


def adam_rates(adam_step, grad, start, eta, n_steps):
    """Size of the first gradient, and Adam's rate 1/√ŝ after n_steps, for each parameter. Two arrays like start."""
    theta, memory = start, (0.0, 0.0)
    for t in range(1, n_steps + 1):
        theta, memory = adam_step(theta, grad(theta), memory, t, eta)
    return np.abs(grad(start)), np.sqrt((1 - 0.999**n_steps) / memory[1])


def steps_to(path, tolerance=TOLERANCE):
    """The first step at which the distance to 0 is below tolerance, or None."""
    near = np.linalg.norm(path, axis=-1) < tolerance
    return int(np.argmax(near)) if near.any() else None


def after_jump(adagrad_step, rmsprop_step, n_steps=600, jump=200, beta=0.95):
    """Walks to a minimum that jumps by 5, where the gradients, which are noisy, become a hundredth.

    -> for "RMSProp" (with the memory beta) and "AdaGrad": the distances (n_steps,), and the rates 1/√memory in units
    of the one before the jump.
    """
    runs = {}
    steps = {"RMSProp": lambda *now: rmsprop_step(*now, beta=beta), "AdaGrad": adagrad_step}
    for (name, step), eta in zip(steps.items(), (0.05, 0.5), strict=True):
        rng, theta, memory = np.random.default_rng(0), np.zeros(1), 0.0
        distance, rate = [], []
        for t in range(1, n_steps + 1):
            late = t > jump
            g = (0.1 if late else 10.0) * (theta - 5.0 * late + rng.normal(size=1))
            theta, memory = step(theta, g, memory, t, eta)
            distance.append(abs(theta[0] - 5.0 * late))
            rate.append(1 / np.sqrt(memory[0]))
        runs[name] = np.array(distance), np.array(rate) / rate[jump - 1]
    return runs


SHARES = np.repeat([1.0, 0.1, 0.01], [10, 5, 5])  # of the examples that hold each of 20 features


def sparse_errors(step, eta, n_steps=1000, seed=0, trace=None):
    """Distance of each weight from its true value 1 after online least squares on sparse features. -> (20,)

    Feature j is non-zero in a share SHARES[j] of the examples; one example a step, no noise. trace: a list that gets
    the memory after each step.
    """
    rng = np.random.default_rng(seed)

    def traced(*given):
        theta, memory = step(*given)
        if trace is not None:
            trace.append(memory)
        return theta, memory

    def grad(w):
        x = rng.normal(size=len(SHARES)) * (rng.random(len(SHARES)) < SHARES)
        return (w - 1) @ x * x

    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(walk(traced, 0.0, grad, np.zeros(len(SHARES)), n_steps, eta)[-1] - 1)


def bigrams(documents, n_words=300):
    """Pairs of neighbouring words among the n_words most frequent ones.

    -> (pairs (n, 2) of word numbers, how often each word leads a pair (n_words,)).
    """
    words = re.findall(r"[a-z]+", " ".join(documents.values()).lower())
    number = {word: i for i, (word, _) in enumerate(Counter(words).most_common(n_words))}
    ids = np.array([number.get(word, -1) for word in words])
    pairs = np.stack([ids[:-1], ids[1:]], axis=1)
    pairs = pairs[(pairs >= 0).all(axis=1)]
    return pairs, np.bincount(pairs[:, 0], minlength=n_words)


class NextWord:
    """Guess the next word: an embedding E (V, d) of the last word, then scores E U over the V words.

    All parameters in one vector theta, E first. Gradients of E are zero but for the words in the batch.
    """

    def __init__(self, n_words, d=16):
        self.n_words, self.d = n_words, d

    def start(self, seed=0):
        return 0.1 * np.random.default_rng(seed).normal(size=2 * self.n_words * self.d)

    def split(self, theta):
        E, U = np.split(theta, 2)
        return E.reshape(self.n_words, self.d), U.reshape(self.d, self.n_words)

    def probabilities(self, theta, last):
        E, U = self.split(theta)
        return softmax(E[last] @ U, axis=1)

    def losses(self, theta, pairs):
        """Cross-entropy in nats of each pair. -> (n,)"""
        p = self.probabilities(theta, pairs[:, 0])
        return -np.log(p[np.arange(len(pairs)), pairs[:, 1]] + 1e-300)

    def grad(self, theta, pairs):
        """Gradient of the mean loss. -> like theta"""
        E, U = self.split(theta)
        error = self.probabilities(theta, pairs[:, 0])
        error[np.arange(len(pairs)), pairs[:, 1]] -= 1
        error /= len(pairs)
        dE = np.zeros_like(E)
        np.add.at(dE, pairs[:, 0], error @ U.T)
        return np.concatenate([dE.ravel(), (E[pairs[:, 0]].T @ error).ravel()])


def train_next_word(step, memory, eta, pairs, counts, n_steps=200, batch=64):
    """Mean loss after training, behind words that are frequent and behind words that are rare. -> (frequent, rare)

    Rare: in the lower half of the words by count. Infinite where training diverged.
    """
    rng, net, sample = np.random.default_rng(0), NextWord(len(counts)), pairs[::7]

    def grad(theta):
        return net.grad(theta, pairs[rng.integers(len(pairs), size=batch)])

    with np.errstate(over="ignore", invalid="ignore"):
        theta = walk(step, memory, grad, net.start(), n_steps, eta)[-1]
    if not np.isfinite(theta).all() or np.abs(theta).max() > 1e3:
        return np.inf, np.inf
    losses, rare = net.losses(theta, sample), counts[sample[:, 0]] < np.median(counts)
    return losses[~rare].mean(), losses[rare].mean()


def _two_panels(height=3.3, ratio=1.0):
    """Figure and two axes side by side, the left one `ratio` times as wide."""
    margins = (0.085, 0.985, 0.17, 0.9)
    return plots.fixed_axes(2, (8.4, height), margins, wspace=0.27, width_ratios=[ratio, 1])


def _seen(ax, ticks):
    """Those of the ticks at y that lie within the limits; the others would move them."""
    low, high = ax.get_ylim()
    return [tick for tick in ticks if low <= tick <= high]


def draw_valley(paths: dict):
    """Three paths in the ravine as thin lines -> figure, axes, positions (steps, 3, 2) for a movie, words."""
    fig, ax = plt.subplots(figsize=(7.6, 3.4))
    plots.contours(RAVINE.f, ax, (-0.5, 1.1), (-0.42, 0.42), levels=9, points=60)
    for (name, path), color, style in zip(paths.items(), COLORS, STYLES, strict=False):
        ax.plot(*path.T, linestyle=style, color=color, linewidth=1, label=name)
    ax.plot(0, 0, "+", color=plots.BLACK, markersize=12)
    ax.set(
        xlabel="θ₁ (curvature 1)",
        ylabel="θ₂ (curvature 100)",
        title="60 steps from (1, 0.3); + marks the minimum",
    )
    ax.legend(loc="upper left", ncols=3, fontsize=9, frameon=True)
    ends = [
        say("{name} {end:.2f}", name=name, end=np.linalg.norm(path[-1]))
        for name, path in paths.items()
    ]
    words = say(
        "Distance to the minimum after {steps} steps: {ends:, }.",
        steps=len(next(iter(paths.values()))) - 1,
        ends=ends,
    )
    return fig, ax, np.stack(list(paths.values()), axis=1), words


def draw_average(ewa, x, beta):
    """Raw and corrected average of x (n,), and the weights behind the last one."""
    raw, corrected = ewa(x, beta, correct=False), ewa(x, beta, correct=True)
    t = np.arange(1, len(x) + 1)
    fig, (ax, side) = _two_panels(ratio=2)
    ax.plot(t, x, ".", color="#888888", markersize=3, label="price")
    ax.plot(t, raw, "--", color=plots.VERMILION, label="raw average")
    ax.plot(t, corrected, "-", color=plots.BLUE, label="corrected")
    ax.set(xlabel="trading day t", ylabel="dollars", ylim=(0, 1.12 * x.max()))
    ax.set_title(f"Raw starts at {raw[0]:.0f}, corrected at {corrected[0]:.0f}")
    ax.legend(loc="lower right")
    age, window = np.arange(120), 1 / (1 - beta)
    side.plot(age, (1 - beta) * beta**age, color=plots.BLUE)
    side.axvline(window, color=plots.BLACK, linestyle=":")
    side.set(xlabel="age in days", ylabel="weight", title=f"Window {window:.0f} days")
    return fig, say(
        "With β = {beta:.2f} the window 1/(1 − β) is {window:.0f} days and holds {inside:.0%} of the weight. "
        "The raw average shows {first:.0%} of the corrected one on day 1 and {late:.0%} on day {days}.",
        beta=beta,
        window=window,
        inside=1 - beta**window,
        first=raw[0] / corrected[0],
        late=raw[-1] / corrected[-1],
        days=len(x),
    )


def _verdict(path):
    """In words, and for tests: how many steps a path needs, whether it diverges, or how far away it still is."""
    reached, end = steps_to(path), np.linalg.norm(path[-1])
    if reached is not None:
        return say("{steps} steps to 1e-6", steps=reached)
    if not end <= np.linalg.norm(path[0]):  # nan: beyond all numbers
        return say("diverges")
    return say("still {left:.0e} away after {most} steps", left=end, most=len(path) - 1)


def draw_ball(heavy_ball, x, y, eta, gamma):
    """Gradient descent, heavy ball and Nesterov's ball in the ravine: 80 steps of each, and distance against step."""
    start, side_by_side = np.array([x, y]), {}
    with np.errstate(over="ignore", invalid="ignore"):
        side_by_side["gradient descent"] = heavy_ball(RAVINE.grad, start, eta, 0.0, 800)
        side_by_side["heavy ball"] = heavy_ball(RAVINE.grad, start, eta, gamma, 800)
        side_by_side["Nesterov"] = nesterov(RAVINE.grad, start, eta, gamma, 800)
        told = {name: _verdict(path) for name, path in side_by_side.items()}
        far = {n: np.clip(np.linalg.norm(p, axis=1), 1e-9, 1e3) for n, p in side_by_side.items()}
    fig, (ax, side) = _two_panels()
    plots.contours(RAVINE.f, ax, RAVINE.xlim, RAVINE.ylim, levels=10, points=40)
    looks = zip(
        side_by_side, (plots.BLUE, plots.VERMILION, plots.GREEN), "^os", STYLES, strict=False
    )
    for name, color, marker, style in looks:
        trail = side_by_side[name][:81]
        gone = ~(np.abs(trail).max(1) < 1.5)  # once it explodes, strokes only paint over the rest
        trail = np.clip(trail[: gone.argmax() + 1 if gone.any() else None], -9, 9)
        ax.plot(*trail.T, marker=marker, color=color, markersize=3, linewidth=1)
        side.semilogy(far[name], linestyle=style, color=color, label=name)
    ax.plot(x, y, "s", color=plots.BLACK, markeredgecolor="white", markersize=8, zorder=4)
    ax.set_gid("start")
    ax.set(xlabel="θ₁ (curvature 1)", ylabel="θ₂ (curvature 100)")
    side.axhline(TOLERANCE, color="#666666", linestyle=":")
    side.set(xlabel="step", ylabel="distance to the minimum", ylim=(1e-9, 1e8))
    plots.light(ax, "80 steps of each", [-1, 0, 1], _seen(ax, [-1, 0, 1]))
    plots.light(
        side, f"Heavy ball: {told['heavy ball']}", [0, 400, 800], _seen(side, [1e-6, 1e-3, 1, 1e3])
    )
    side.legend(loc="upper right", fontsize=9)
    return fig, say(
        "From ({x:.2f}, {y:.2f}) with η = {eta:.3f}, γ = {gamma:.2f}. Gradient descent: {plain}. "
        "Heavy ball: {ball}. Nesterov: {ahead}.",
        x=x,
        y=y,
        eta=eta,
        gamma=gamma,
        plain=told["gradient descent"],
        ball=told["heavy ball"],
        ahead=told["Nesterov"],
    )


def tuned_runs(heavy_ball):
    """Paths from (1, 1) in the ravine, where L = 100 and κ = 100, with four tunings."""
    tunings = {
        "gradient descent, best η": (2 / 101, 0),
        "gradient descent, η = 1/L": (0.01, 0),
        "heavy ball, γ = 0.9, η = 1/L": (0.01, 0.9),
        "heavy ball, tuned": ((2 / 11) ** 2, (9 / 11) ** 2),
    }
    return {n: heavy_ball(RAVINE.grad, np.ones(2), *tuned, 1500) for n, tuned in tunings.items()}


def draw_steps(paths: dict):
    """Distance to 0 of several paths against the step, and how many steps each needs for 1e-6."""
    needed = {name: steps_to(path) for name, path in paths.items()}
    fig, ax = plt.subplots()
    for (name, path), style, color in zip(paths.items(), STYLES, COLORS, strict=False):
        distance = np.linalg.norm(path, axis=1)[: needed[name] + 1]
        ax.semilogy(distance, linestyle=style, color=color, label=f"{name}: {needed[name]}")
    ax.axhline(TOLERANCE, color="#666666", linestyle=":")
    ax.set(xlabel="step", ylabel="distance to the minimum", ylim=(TOLERANCE / 5, 10))
    counts = list(needed.values())
    ax.set_title(f"Momentum: {min(counts)} steps instead of {counts[0]}")
    ax.legend(title="steps to 1e-6", loc="upper right")
    told = [say("{name} {steps}", name=name, steps=steps) for name, steps in needed.items()]
    return fig, say("Steps until the distance is below 1e-6: {told:, }.", told=told)


def draw_jump(adagrad_step, rmsprop_step):
    """Rates and distances of AdaGrad and RMSProp where the minimum jumps and gradients become a hundredth."""
    fig, (ax, side) = _two_panels()
    runs = after_jump(adagrad_step, rmsprop_step)
    for (name, (distance, rate)), color, style in zip(runs.items(), COLORS, STYLES, strict=False):
        ax.semilogy(rate, linestyle=style, color=color, label=name)
        side.plot(distance, linestyle=style, color=color, label=name)
    grown = {name: rate[-1] for name, (_, rate) in runs.items()}
    ax.set(xlabel="step", ylabel="rate (1 at step 200)", title="Only RMSProp's rate comes back")
    side.set(xlabel="step", ylabel="distance to the minimum", title="At step 200 the minimum jumps")
    side.legend()
    return fig, say(
        "From step 200 to 600 RMSProp's rate grows {fast:.0f}-fold, AdaGrad's {slow:.1f}-fold. In the end RMSProp is "
        "{near:.1f} from the minimum, AdaGrad {far:.1f}.",
        fast=grown["RMSProp"],
        slow=grown["AdaGrad"],
        near=runs["RMSProp"][0][-1],
        far=runs["AdaGrad"][0][-1],
    )


def draw_moments(ewa, beta1=0.9, beta2=0.999, n_runs=20_000):
    """Mean over many runs of the raw and the corrected moments of gradients with mean 1 and mean square 2, 50 steps."""
    g = 1 + np.random.default_rng(0).normal(size=(50, n_runs))
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    t, held, off = np.arange(1, 51), [], []
    for ax, power, beta, name in zip(axes, (1, 2), (beta1, beta2), "vs", strict=True):
        raw, read = ewa(g**power, beta, correct=False), ewa(g**power, beta, correct=True)
        ax.plot(t, read[:, 0], color="#BBBBBB", linewidth=1, label="corrected, one run")
        ax.plot(t, read.mean(axis=1), color=plots.BLUE, label="corrected, mean of runs")
        ax.plot(t, raw.mean(axis=1), "--", color=plots.VERMILION, label="raw, mean of runs")
        ax.axhline(power, color=plots.BLACK, linestyle=":", label="the moment itself")
        held.append(raw[-1].mean() / power)
        off.append(np.abs(read.mean(axis=1) / power - 1).max())
        title = f"β = {beta}: raw holds {held[-1]:.0%} at t = 50"
        ax.set(xlabel="step t", ylabel=f"{name}, average of g{'²' * (power - 1)}", title=title)
    axes[0].legend(fontsize=8, loc="lower right")
    return fig, say(
        "After 50 steps the raw v holds {first:.0%} of E[g] and the raw s {second:.0%} of E[g²]; the means of the "
        "corrected ones stay within {off:.0f}% of the truth from the first step.",
        first=held[0],
        second=held[1],
        off=np.ceil(100 * max(off)),
    )


def draw_race(curves: dict, sizes, rates):
    """Smallest share of the first gap so far, by name; and Adam's rate of each weight against its first gradient."""
    fig, (ax, side) = plt.subplots(1, 2, figsize=(9.2, 3.8), width_ratios=[1.35, 1])
    for (name, share), color, style in zip(curves.items(), COLORS, STYLES, strict=True):
        lowest = np.minimum.accumulate(share)
        ax.loglog(np.arange(1, len(share) + 1), lowest, linestyle=style, color=color, label=name)
    ax.axhline(0.1, color=plots.BLACK, linewidth=1)
    first = min(curves, key=lambda name: (len(curves[name]), curves[name][-1])).split(",")[0]
    ax.set(xlabel="step + 1", ylabel="smallest share of the gap so far", ylim=(0.02, 1.2))
    ax.set_title(f"{first} arrives first")
    ax.legend(fontsize=8, loc="lower left")
    side.loglog(sizes, rates, "D", color=plots.BLUE)
    side.set(
        xlabel="size of the first gradient",
        ylabel="Adam's rate 1/√ŝ",
        title="Small gradient, large rate",
    )
    told = [
        say("{name}: {share:.1%} left after {steps} steps", name=n, share=s[-1], steps=len(s) - 1)
        for n, s in curves.items()
    ]
    return fig, say(
        "On the raw columns {told:; }. Adam's rates span {decades:.0f} powers of ten.",
        told=told,
        decades=np.log10(rates.max() / rates.min()),
    )


def draw_sparse(plain_step, adagrad_step, etas, seeds=2):
    """AdaGrad's rates of frequent and rare features, and the rare weights' error of both methods against η."""
    errors = {
        name: np.array(
            [
                np.mean([sparse_errors(step, eta, seed=seed)[-5:] for seed in range(seeds)])
                for eta in etas
            ]
        )
        for name, step in (("gradient descent", plain_step), ("AdaGrad", adagrad_step))
    }
    sums = []
    sparse_errors(adagrad_step, 0.6, trace=sums)
    groups = np.array([np.split(G, [10, 15]) for G in map(list, sums)], dtype=object)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.4))
    last = []
    for number, share in enumerate((1.0, 0.1, 0.01)):
        total = np.array([np.mean(group) for group in groups[:, number]])
        t = np.flatnonzero(total)
        last.append(total[-1] ** -0.5)
        ax.loglog(
            t + 1,
            total[t] ** -0.5,
            linestyle=STYLES[number],
            color=COLORS[number],
            label=f"in {share:.0%} of examples",
        )
    ax.set(xlabel="step", ylabel="rate 1/√G", title="Rare features keep high rates")
    ax.legend()
    best = {name: values.min() for name, values in errors.items()}
    for (name, values), color, marker in zip(errors.items(), COLORS, MARKERS, strict=False):
        side.loglog(etas, np.clip(values, None, 3), marker=marker, color=color, label=name)
    side.text(etas[-1], 2.3, "diverged", ha="right", color=COLORS[0])
    side.set(xlabel="η", ylabel="error of the rare weights", ylim=(0.05, 4))
    side.set_title(f"Best error {best['AdaGrad']:.1f} against {best['gradient descent']:.1f}")
    side.legend(loc="lower left")
    return fig, say(
        "After 1000 steps the rates for features in 1% of the examples are {times:.0f} times those for features "
        "always present. At its best η AdaGrad leaves the rare weights {adagrad:.1f} off the truth 1, gradient "
        "descent {plain:.1f}.",
        times=last[2] / last[0],
        adagrad=best["AdaGrad"],
        plain=best["gradient descent"],
    )


def draw_words(results: dict):
    """Loss behind frequent and behind rare words by method. results: name -> (frequent, rare)."""
    fig, ax = plt.subplots()
    frequent, rare = np.array(list(results.values())).T
    names = np.array(list(results))
    ax.vlines(names, frequent, rare, color="#BBBBBB", linewidth=3)
    ax.plot(names, frequent, "o", color=plots.BLUE, markersize=9, label="after frequent words")
    ax.plot(names, rare, "D", color=plots.VERMILION, markersize=9, label="after rare words")
    best, last = names[np.argmin(rare)], names[np.argmax(rare)]
    ax.set(
        xlabel="method",
        ylabel="loss (nats a word)",
        title=f"After rare words {best} is best",
        xlim=(-0.5, len(names) - 0.5),
    )
    ax.tick_params(axis="x", rotation=15)
    ax.legend()
    return fig, say(
        "After rare words the loss is lowest with {best} and highest with {last}.",
        best=str(best),
        last=str(last),
    )


def draw_bowl(adam_step, ratio):
    """First moves of gradient descent (η = 1 / largest curvature) and Adam (η = 0.5): arrows, and parts as bars."""
    bowl = quadratic([1.0, ratio], (-1.5, 1.5), (-1.5, 1.5))
    g = np.array([1.0, ratio])
    moves = {
        "gradient descent (solid)": -g / ratio,
        "Adam (dashed)": adam_step(np.zeros(2), g, (0.0, 0.0), 1, 0.5)[0],
    }
    fig, (ax, side) = _two_panels()
    plots.contours(bowl.f, ax, bowl.xlim, bowl.ylim, levels=10, points=40)
    ax.plot(0, 0, "*", color=plots.BLACK, markersize=12)
    for move, color, style in zip(moves.values(), COLORS, STYLES, strict=False):
        arrow = dict(arrowstyle="->", color=color, linestyle=style, linewidth=2.4)
        ax.annotate("", 1 + move, (1, 1), arrowprops=arrow)
    ax.set(
        xlabel="θ₁ (curvature 1)",
        ylabel=f"θ₂ (curvature {ratio:.0f})",
        title="First moves from (1, 1)",
    )
    looks = [(name, COLORS[i], ("", "//")[i]) for i, name in enumerate(moves)]
    plots.grouped_bars(["θ₁", "θ₂"], np.abs(list(moves.values())), side, looks=looks, step=0.38)
    side.set(xlabel="parameter", ylabel="length of the move", ylim=(0, 1.6))
    side.set_title("Adam moves alike in both")
    side.legend(loc="upper left")
    plain, adam = np.abs(list(moves.values()))
    return fig, say(
        "Curvatures 1 and {ratio:.0f}. Gradient descent moves {plain[0]:.3f} along θ₁ and {plain[1]:.3f} along θ₂; "
        "Adam moves {adam[0]:.3f} and {adam[1]:.3f}.",
        ratio=ratio,
        plain=plain,
        adam=adam,
    )


def draw_schedule(rmsprop_step, simplified_ratio, methods, n_steps=10_000):
    """Average and fading sum of squares under a spike; the simplified method's steps; and a race in the ravine."""
    fig, (left, ax, side) = plt.subplots(1, 3, figsize=(11, 3.5))
    s, G, mean, summed = 0.0, 0.0, [], []
    for t, g in enumerate(np.where(np.arange(600) == 300, 10.0, 1.0), 1):
        s = rmsprop_step(np.zeros(1), np.array([g]), s, t, 1.0, 0.95)[1]
        G = 0.95 * G + g**2
        mean.append(s[0])
        summed.append(G)
    left.semilogy(mean, color=plots.BLUE, label="average, with 1 − β₂")
    left.semilogy(summed, "--", color=plots.VERMILION, label="fading sum, without")
    times = summed[-1] / mean[-1]
    left.set(xlabel="step", ylabel="squared gradients", ylim=(0.03, 900))
    left.set_title(f"β₂ = 0.95: the sum is {times:.0f}×")
    left.legend(fontsize=8, loc="lower right")
    t = np.arange(1, n_steps + 1)
    ratio = np.asarray(simplified_ratio(t), float)
    top, limit = int(np.argmax(ratio)), np.sqrt(1 - 0.999) / (1 - 0.9)
    ax.semilogx(t, ratio, color=plots.PINK, label="simplified")
    ax.axhline(1, color=plots.ORANGE, linestyle="--", label="Adam")
    ax.axhline(limit, color=plots.BLACK, linestyle=":", label=f"limit {limit:.3f}")
    ax.plot(t[top], ratio[top], "o", color=plots.PINK)
    ax.set(xlabel="step t", ylabel="length of the step / η", ylim=(0, 2.8))
    ax.set_title(f"{ratio[top]:.2f} at step {t[top]}, then down")
    ax.legend(fontsize=8, loc="upper right")
    ends = []
    colors = (plots.VERMILION, plots.BLUE, plots.PINK, plots.ORANGE)
    for (name, method), color, style in zip(methods.items(), colors, STYLES, strict=False):
        path = walk(*method, RAVINE.grad, (1.0, 0.3), 300, 0.01)
        distance = np.linalg.norm(path, axis=1)
        side.semilogy(distance, color=color, linestyle=style, label=name)
        ends.append(say("{name} {end:.2g}", name=name, end=distance[-1]))
    side.set(xlabel="step", ylabel="distance to the minimum", title="In the ravine, η = 0.01")
    side.legend(fontsize=8, loc="lower left")
    return fig, say(
        "The sum of squares stands at {times:.0f} times their average. The simplified steps, in units of η: "
        "{at[0]:.2f} at first, {peak:.2f} at step {top}, {at[1]:.2f} at 100, {at[2]:.2f} at 1000, limit {limit:.3f}; "
        "Adam's: 1. Distance after 300 steps in the ravine: {ends:, }.",
        times=times,
        at=ratio[[0, 99, 999]],
        peak=ratio[top],
        top=t[top],
        limit=limit,
        ends=ends,
    )


def draw_track(methods, surface, x, y, eta, batch, n_steps):
    """Trails of five methods over a surface from (x, y), and their distance to the nearest goal against the step."""
    place = SURFACES[surface]
    noise = 0.0 if batch == "all data" else 2.0 / np.sqrt(batch)
    fig, (ax, side) = _two_panels(3.8, 1.3)
    fig.subplots_adjust(bottom=0.27)  # the legend stands below, where no curve goes
    plots.contours(place.f, ax, place.xlim, place.ylim, levels=10, points=40, log=place.log)
    ends, finite = [], 1e4
    for (name, method), color, marker in zip(methods.items(), COLORS, MARKERS, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            path = walk(*method, place.grad, (x, y), n_steps, eta, noise)
        distance = np.linalg.norm(path[:, None] - place.goals, axis=2).min(1)
        lost = not distance[-1] < finite
        ends.append(
            say("{name} diverged", name=name)
            if lost
            else say("{name} {end:.2g}", name=name, end=distance[-1])
        )
        ax.plot(*np.clip(path, -9, 9).T, color=color, marker=marker, markersize=3, linewidth=1)
        seen = np.clip(distance, 1e-4, finite)
        side.semilogy(seen, color=color, marker=marker, markevery=25, label=name)
    ax.plot(*place.goals.T, "*", color=plots.BLACK, markersize=13, zorder=5)
    ax.plot(x, y, "s", color=plots.BLACK, markeredgecolor="white", zorder=5)
    ax.set_gid("start")
    ax.set(xlabel="θ₁", ylabel="θ₂")
    side.set(xlabel="step", ylabel="distance to the goal")
    plots.light(ax, surface.capitalize(), [-1, 0, 1], _seen(ax, [-2, -1, 0, 1, 2]))
    plots.light(side, f"η = {eta:.3g}", [0, n_steps], _seen(side, 10.0 ** np.arange(-4, 5)))
    # Two rows: in a narrow window, too, they fit under the panels.
    fig.legend(*side.get_legend_handles_labels(), loc="lower center", ncols=3, fontsize=9)
    return fig, say(
        "Distance to the goal after {steps} steps on the {surface}: {ends:, }.",
        steps=n_steps,
        surface=surface,
        ends=ends,
    )

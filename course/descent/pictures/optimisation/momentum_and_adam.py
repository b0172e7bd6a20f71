"""Pictures of 03_optimisation/02_momentum_and_adam: pure functions first, drawing functions below.

The drawing functions take the student's own `ewa`, `heavy_ball`, `adam_step` … as arguments, run
them, and return (figure, words).
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax

from descent import plots

TOLERANCE = 1e-6
COLORS = (plots.VERMILION, plots.BLUE, plots.GREEN, plots.PINK, plots.ORANGE)
MARKERS = "o^sDv"


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
    return Surface(
        f=lambda x: 0.5 * np.sum(c * np.square(x), axis=-1),
        grad=lambda x: c * x,
        goal=(0.0, 0.0),
        **shown,
    )


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


def optimisers(
    adagrad_step=None, rmsprop_step=None, adam_step=None, *, beta2=None
) -> dict[str, Callable]:
    """Five methods as step(theta, g, state, t, eta, beta) -> (theta, state); state starts as two zero arrays.

    beta is the momentum gamma of heavy ball, and the memory of every average elsewhere; Adam's second
    average has the memory beta2 where that is given. A method is usable if its step is given.
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
        theta, m, s = adam_step(
            theta, g, *state, t, eta, beta, beta if beta2 is None else beta2, 1e-8
        )
        return theta, (m, s)

    return {
        "gradient descent": descent,
        "heavy ball": momentum,
        "AdaGrad": adagrad,
        "RMSProp": rmsprop,
        "Adam": adam,
    }


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


def torch_path(make, n_steps=60, noise=None):
    """Path (n_steps + 1, 2) of a torch optimiser in the ravine, by autograd. make: [parameter] -> optimiser.

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


def logistic(X, y):
    """Mean negative log-likelihood in nats of logistic regression with an intercept (last weight), and its gradient."""
    X = np.column_stack([X, np.ones(len(y))])

    def loss(w):
        return np.mean(np.logaddexp(0, X @ w) - y * (X @ w))

    def grad(w):
        return X.T @ (1 / (1 + np.exp(-np.clip(X @ w, -500, 500))) - y) / len(y)

    return loss, grad


def in_better_well(heavy_ball, gamma):
    """Whether each of 401 starts in [-2, 2] ends near -1, the better minimum of (x² - 1)² + 0.3 x. -> (401,) bool."""
    return (
        heavy_ball(lambda x: 4 * x * (x**2 - 1) + 0.3, np.linspace(-2, 2, 401), 0.02, gamma, 2000)[
            -1
        ]
        < 0
    )


def best_curves(methods, etas, loss, grad, start, n_steps, every):
    """Loss after each `every` steps of every method, at the one of its rates with the lowest loss in the end."""
    curves = {}
    for name, step in methods.items():
        paths = [race(step, grad, start, n_steps, eta, 0.9) for eta in etas[name]]
        best = min(paths, key=lambda path: loss(path[-1]))
        curves[name] = [loss(w) for w in best[::every]]
    return curves


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
    moduli = [
        abs(np.roots([1, -(1 + gamma - eta * c), gamma])).max() for c in np.atleast_1d(curvatures)
    ]
    return max(moduli)


def sparse_errors(step, eta, shares, n_steps=500, seed=0):
    """Distance of each weight from its true value 1 after online least squares on sparse features. -> (d,)

    Feature j is non-zero in a share shares[j] of the examples; one example a step, no noise.
    """
    rng = np.random.default_rng(seed)
    shares = np.asarray(shares, float)

    def grad(w):
        x = rng.normal(size=len(shares)) * (rng.random(len(shares)) < shares)
        return (w - 1) @ x * x

    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(race(step, grad, np.zeros(len(shares)), n_steps, eta, 0.9)[-1] - 1)


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
        return -np.log(
            self.probabilities(theta, pairs[:, 0])[np.arange(len(pairs)), pairs[:, 1]] + 1e-300
        )

    def grad(self, theta, pairs):
        """Gradient of the mean loss. -> like theta"""
        E, U = self.split(theta)
        error = self.probabilities(theta, pairs[:, 0])
        error[np.arange(len(pairs)), pairs[:, 1]] -= 1
        error /= len(pairs)
        dE = np.zeros_like(E)
        np.add.at(dE, pairs[:, 0], error @ U.T)
        return np.concatenate([dE.ravel(), (E[pairs[:, 0]].T @ error).ravel()])


def train_next_word(step, eta, pairs, counts, n_steps=200, batch=64, seed=0):
    """Mean loss after training, behind words that are frequent and behind words that are rare. -> (frequent, rare)

    Rare: in the lower half of the words by count. Infinite where training diverged.
    """
    rng, net = np.random.default_rng(seed), NextWord(len(counts))
    sample = pairs[::7]
    with np.errstate(over="ignore", invalid="ignore"):
        theta = race(
            step,
            lambda th: net.grad(th, pairs[rng.integers(len(pairs), size=batch)]),
            net.start(),
            n_steps,
            eta,
            0.9,
        )[-1]
    if not np.isfinite(theta).all() or np.abs(theta).max() > 1e3:
        return np.inf, np.inf
    losses, rare = net.losses(theta, sample), counts[sample[:, 0]] < np.median(counts)
    return losses[~rare].mean(), losses[rare].mean()


def _two_panels(height=3.3, ratio=1.0):
    """Figure and two axes side by side, the left one `ratio` times as wide."""
    margins = (0.085, 0.985, 0.17, 0.9)
    return plots.fixed_axes(2, (8.4, height), margins, wspace=0.27, width_ratios=[ratio, 1])


def draw_average(ewa, x, beta, shown):
    """Raw and corrected average over the first `shown` values of x (n,), and the weights behind the last one."""
    raw, corrected = ewa(x, beta, correct=False), ewa(x, beta, correct=True)
    t = np.arange(1, shown + 1)
    fig, (ax, side) = _two_panels(ratio=2)
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
        f"The raw average shows {raw[0] / corrected[0]:.0%} of the corrected one on day 1 "
        f"and {late:.0%} on day {shown}."
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
    fig, (ax, side) = _two_panels()
    plots.contours(bowl.f, ax, (-1.1, 1.1), (-1.1, 1.1), levels=10, points=40)
    plots.path(np.clip(path[:80], -9, 9), ax)
    ax.set(
        xlabel="flat coordinate (curvature 1)",
        ylabel="steep (curvature 100)",
        title=f"{method.capitalize()}, 80 steps",
    )
    shown = np.clip(distance[:801], 1e-9, 1e3)
    side.semilogy(shown, color=plots.VERMILION, label="measured")
    words = f"{method.capitalize()} with η = {eta:.4f}, γ = {gamma:.2f}: "
    if method != "Nesterov":
        rate = asymptotic_rate([1.0, 100.0], eta, gamma)
        with np.errstate(over="ignore"):
            theory = np.clip(distance[0] * rate ** np.arange(801.0), 1e-9, 1e3)
        side.semilogy(theory, "--", color=plots.BLACK, label=f"theory: {rate:.3f} per step")
        words += f"the theory's factor per step is {rate:.3f}; "
    side.axhline(TOLERANCE, color="#666666", linestyle=":")
    side.set(xlabel="step", ylabel="distance to the minimum", ylim=(1e-9, 1e3))
    if reached is not None:
        verdict = f"within {TOLERANCE:.0e} after {reached} steps"
    elif not distance[-1] <= distance[0]:  # nan: beyond all numbers
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
    """First moves of gradient descent (η = 1 / largest curvature) and Adam (η = 0.5): arrows, and parts as bars."""
    bowl = quadratic([1.0, ratio], start=(1.0, 1.0), xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    plain, adam = first_steps(adam_step, ratio)
    fig, (ax, side) = _two_panels()
    plots.contours(bowl.f, ax, bowl.xlim, bowl.ylim, levels=10, points=40)
    ax.plot(0, 0, "*", color=plots.BLACK, markersize=12)
    for move, color, style in ((plain, plots.VERMILION, "-"), (adam, plots.BLUE, "--")):
        ax.annotate(
            "",
            1 + move,
            (1, 1),
            arrowprops=dict(arrowstyle="->", color=color, linestyle=style, linewidth=2.4),
        )
    ax.set(
        xlabel="θ₁ (curvature 1)",
        ylabel=f"θ₂ (curvature {ratio:.0f})",
        title="First moves from (1, 1)",
    )
    place = np.arange(2)
    side.bar(
        place - 0.2, np.abs(plain), 0.36, color=plots.VERMILION, label="gradient descent (solid)"
    )
    side.bar(
        place + 0.2,
        np.abs(adam),
        0.36,
        color=plots.BLUE,
        hatch="//",
        edgecolor="white",
        label="Adam (dashed)",
    )
    side.set_xticks(place, ["θ₁", "θ₂"])
    side.set(ylabel="length of the move", ylim=(0, 1.5), title="Adam moves alike in both")
    side.legend(loc="upper left")
    words = (
        f"Curvatures 1 and {ratio:.0f}. "
        f"Gradient descent moves {abs(plain[0]):.3f} along θ₁ and {abs(plain[1]):.3f} along θ₂; "
        f"Adam moves {abs(adam[0]):.3f} and {abs(adam[1]):.3f}."
    )
    return fig, words


def draw_race(methods, surface, method, eta, beta, batch, n_steps=150):
    """Trail of one method, or of all five, over a surface; gradients are averages of `batch` noisy ones."""
    place = SURFACES[surface]
    names = list(methods) if method == "all five" else [method]
    noise = 0.0 if batch == "all data" else 2.0 / np.sqrt(batch)
    fig, (ax, side) = _two_panels(3.8, 1.3)
    fig.subplots_adjust(bottom=0.24)  # the legend stands below, where no curve goes
    plots.contours(place.f, ax, place.xlim, place.ylim, levels=10, points=40, log=place.log)
    ends, finite = [], 1e4
    for name, color, marker in zip(methods, COLORS, MARKERS, strict=True):
        if name not in names:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            path = race(methods[name], place.grad, place.start, n_steps, eta, beta, noise)
        distance = np.linalg.norm(path - np.array(place.goal), axis=1)
        ends.append(f"{name} {distance[-1]:.2g}" if distance[-1] < finite else f"{name} diverged")
        ax.plot(*np.clip(path, -9, 9).T, color=color, marker=marker, markersize=3, linewidth=1)
        side.semilogy(
            np.clip(distance, 1e-4, finite), color=color, marker=marker, markevery=25, label=name
        )
    ax.plot(*place.goal, "*", color=plots.BLACK, markersize=13)
    ax.set(xlabel="θ₁", ylabel="θ₂", title=surface.capitalize())
    side.set(xlabel="step", ylabel="distance to the goal", title=f"η = {eta:.3g}, β = {beta:.2f}")
    fig.legend(*side.get_legend_handles_labels(), loc="lower center", ncols=len(names), fontsize=9)
    return fig, f"Distance to the goal after {n_steps} steps on the {surface}: {', '.join(ends)}."


def draw_ravine(paths: dict):
    """Trails of several methods in the ravine of curvatures 1 and 100, with their distance to the minimum in words."""
    bowl = SURFACES["ravine"]
    ends = {name: np.linalg.norm(path[-1]) for name, path in paths.items()}
    fig, axes = plt.subplots(len(paths), 1, figsize=(7.2, 1.5 * len(paths) + 0.4), sharex=True)
    for ax, (name, path), color, marker in zip(axes, paths.items(), COLORS, MARKERS, strict=False):
        plots.contours(bowl.f, ax, (-0.45, 1.1), (-0.42, 0.42), levels=9, points=40)
        plots.path(path, ax, color=color, marker=marker)
        ax.plot(0, 0, "+", color=plots.BLACK, markersize=12)
        ax.set(
            ylabel="θ₂",
            title=f"{name}: {ends[name]:.2f} from the minimum after {len(path) - 1} steps",
        )
    axes[-1].set_xlabel("θ₁ (curvature 1); θ₂ has curvature 100; + marks the minimum")
    return fig, "Distance to the minimum: " + ", ".join(
        f"{name} {end:.2f}" for name, end in ends.items()
    ) + "."


def draw_steps(paths: dict):
    """Distance to 0 of several paths against the step, and how many steps each needs for 1e-6."""
    needed = {name: steps_to(path) for name, path in paths.items()}
    fig, ax = plt.subplots()
    for (name, path), style, color in zip(
        paths.items(), ("-", "--", "-.", ":"), COLORS, strict=False
    ):
        distance = np.linalg.norm(path, axis=1)
        ax.semilogy(
            distance[: needed[name] + 1], style, color=color, label=f"{name}: {needed[name]}"
        )
    ax.axhline(TOLERANCE, color="#666666", linestyle=":")
    ax.set(xlabel="step", ylabel="distance to the minimum", ylim=(TOLERANCE / 5, 10))
    first, last = needed[list(needed)[0]], min(needed.values())
    ax.set_title(f"Momentum: {last} steps instead of {first}")
    ax.legend(title="steps to 1e-6", loc="upper right")
    return fig, f"Steps until the distance is below {TOLERANCE:.0e}: " + ", ".join(
        f"{k} {v}" for k, v in needed.items()
    ) + "."


def draw_sparse(adagrad_step, etas, seeds=2):
    """Rates of AdaGrad for frequent and rare features, and the rare weights' error against η beside gradient descent's.

    20 features, 1000 examples: 10 always present, 5 in a tenth of the examples, 5 in a hundredth.
    """
    shares = np.repeat([1.0, 0.1, 0.01], [10, 5, 5])
    methods = optimisers(adagrad_step=adagrad_step)
    errors = {
        name: np.array(
            [
                np.mean(
                    [sparse_errors(methods[name], eta, shares, 1000, s)[-5:] for s in range(seeds)]
                )
                for eta in etas
            ]
        )
        for name in ("gradient descent", "AdaGrad")
    }
    rng, w, G, sums = np.random.default_rng(0), np.zeros(20), np.zeros(20), []
    for _ in range(1000):
        x = rng.normal(size=20) * (rng.random(20) < shares)
        w, G = adagrad_step(w, (w - 1) @ x * x, G, 0.6, 1e-8)
        sums.append([G[:10].mean(), G[10:15].mean(), G[15:].mean()])
    with np.errstate(divide="ignore"):
        rates = 1 / np.sqrt(sums)
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.4, 3.4))
    for share, column, style, color in zip(
        (1.0, 0.1, 0.01), rates.T, ("-", "--", "-."), COLORS, strict=False
    ):
        ax.loglog(
            np.arange(1, 1001)[np.isfinite(column)],
            column[np.isfinite(column)],
            style,
            color=color,
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
    words = (
        f"After 1000 steps the rates for features in 1% of the examples are {rates[-1, 2] / rates[-1, 0]:.0f} times "
        "those for features always present. "
        f"At its best η AdaGrad leaves the rare weights {best['AdaGrad']:.1f} off the truth 1, "
        f"gradient descent {best['gradient descent']:.1f}."
    )
    return fig, words


def draw_scales(adagrad_step, rmsprop_step, beta2=0.95, n_steps=600):
    """Left: average and fading sum of squares, constant gradient with one spike. Then a race of AdaGrad and RMSProp:
    the minimum jumps at step 200 and all gradients become a hundredth; their rates and their distance to it."""
    mean, summed = [np.zeros(1)], [0.0]
    for g in np.where(np.arange(n_steps) == 300, 10.0, 1.0):
        mean.append(rmsprop_step(np.zeros(1), np.array([g]), mean[-1], 1.0, beta2, 1e-8)[1])
        summed.append(beta2 * summed[-1] + g**2)
    fig, (ax, middle, side) = plt.subplots(1, 3, figsize=(10.2, 3.3))
    ax.semilogy(np.ravel(mean[1:]), color=plots.BLUE, label="average, with 1 − β₂")
    ax.semilogy(summed[1:], "--", color=plots.VERMILION, label="fading sum, without")
    times = summed[-1] / mean[-1].item()
    ax.set(
        xlabel="step",
        ylabel="squared gradients",
        ylim=(0.03, 900),
        title=f"β₂ = {beta2}: the sum is {times:.0f}×",
    )
    ax.legend(fontsize=8, loc="lower right")
    late = np.arange(n_steps) >= 200
    rates, ends = {}, {}
    for name, color, style in (("RMSProp", plots.BLUE, "-"), ("AdaGrad", plots.VERMILION, "--")):
        rng, theta, total = np.random.default_rng(0), np.zeros(1), np.zeros(1)
        trail, rate = [], []
        for t in range(n_steps):
            g = (0.1 if late[t] else 10.0) * (theta - 5.0 * late[t] + rng.normal(size=1))
            if name == "RMSProp":
                theta, total = rmsprop_step(theta, g, total, 0.05, beta2, 1e-8)
            else:
                theta, total = adagrad_step(theta, g, total, 0.5, 1e-8)
            trail.append(abs(theta.item() - 5.0 * late[t]))
            rate.append(1 / np.sqrt(total.item()))
        rates[name], ends[name] = rate[-1] / rate[199], trail[-1]
        middle.semilogy(rate, style, color=color, label=name)
        side.plot(trail, style, color=color, label=name)
    middle.set(
        xlabel="step",
        ylabel="rate (η = 1)",
        title=f"RMSProp's rate: {rates['RMSProp']:.0f}-fold",
    )
    side.set(xlabel="step", ylabel="distance to the minimum", title="The minimum jumps")
    middle.legend(fontsize=9, loc="center right")
    return fig, (
        f"When the gradients become a hundredth, RMSProp's rate grows {rates['RMSProp']:.0f}-fold, "
        f"AdaGrad's {rates['AdaGrad']:.1f}-fold. At the end RMSProp is {ends['RMSProp']:.1f} from the minimum, "
        f"AdaGrad {ends['AdaGrad']:.1f}. The fading sum stands at {times:.0f} times the average."
    )


def draw_moments(ewa, beta1=0.9, beta2=0.999, n_runs=20_000):
    """Mean over many runs of the raw and the corrected moments of gradients with mean 1 and mean square 2, 50 steps."""
    g = 1 + np.random.default_rng(0).normal(size=(50, n_runs))
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    t, ends = np.arange(1, 51), []
    for ax, power, beta, truth, name in zip(
        axes, (1, 2), (beta1, beta2), (1.0, 2.0), ("m", "s"), strict=True
    ):
        raw, corrected = ewa(g**power, beta, correct=False), ewa(g**power, beta, correct=True)
        ax.plot(t, corrected[:, 0], color="#BBBBBB", linewidth=1, label="corrected, one run")
        ax.plot(t, corrected.mean(axis=1), color=plots.BLUE, label="corrected, mean of runs")
        ax.plot(t, raw.mean(axis=1), "--", color=plots.VERMILION, label="raw, mean of runs")
        ax.axhline(
            truth, color=plots.BLACK, linestyle=":", label=f"truth E[g{'²' if power == 2 else ''}]"
        )
        ends.append((raw[-1].mean() / truth, np.abs(corrected.mean(axis=1) / truth - 1).max()))
        ax.set(
            xlabel="step t",
            ylabel=f"{name} of Adam",
            title=f"β = {beta}: raw holds {ends[-1][0]:.0%} at t = 50",
        )
    axes[0].legend(fontsize=8, loc="lower right")
    return fig, (
        f"After 50 steps the raw m holds {ends[0][0]:.0%} of E[g] and the raw s {ends[1][0]:.0%} of E[g²]; "
        f"the means of the corrected ones stay within {np.ceil(100 * max(ends[0][1], ends[1][1])):.0f}% of the truth "
        "from the first step."
    )


def simplified_adam(theta, g, state, t, eta, beta):
    """The notes' Algorithm 3 as a method for `race`, with beta2 = 0.999."""
    v, G = beta * state[0] + g, 0.999 * state[1] + g * g
    return theta - eta * v / np.sqrt(G + 1e-8), (v, G)


def draw_schedule(simplified_ratio, adam_step, beta1=0.9, beta2=0.999, n_steps=10_000):
    """Length of the simplified method's step under a constant gradient, and a race with three others in the ravine."""
    t = np.arange(1, n_steps + 1)
    ratio = np.asarray(simplified_ratio(t, beta1, beta2), float)
    top, limit = int(np.argmax(ratio)), np.sqrt(1 - beta2) / (1 - beta1)
    fig, (ax, side) = _two_panels(3.6)
    ax.semilogx(t, ratio, color=plots.PINK, label="notes' simplified form")
    ax.semilogx(t, np.ones(n_steps), "--", color=plots.ORANGE, label="Adam")
    ax.axhline(limit, color=plots.BLACK, linestyle=":", label=f"limit {limit:.3f}")
    ax.plot(t[top], ratio[top], "o", color=plots.PINK)
    ax.set(xlabel="step t", ylabel="length of the step / η", ylim=(0, 2.8))
    ax.set_title(f"{ratio[top]:.2f} at step {t[top]}, then down to {limit:.2f}")
    ax.legend(fontsize=9, loc="upper right")
    methods = optimisers(adam_step=adam_step, beta2=beta2)
    runs = {
        "gradient descent": (methods["gradient descent"], plots.VERMILION, "o"),
        "heavy ball": (methods["heavy ball"], plots.BLUE, "^"),
        "simplified": (simplified_adam, plots.PINK, "D"),
        "Adam": (methods["Adam"], plots.ORANGE, "v"),
    }
    place, ends = SURFACES["ravine"], []
    for name, (step, color, marker) in runs.items():
        path = race(step, place.grad, place.start, 300, 0.01, beta1)
        distance = np.linalg.norm(path, axis=1)
        side.semilogy(distance, color=color, marker=marker, markevery=50, label=name)
        ends.append(f"{name} {distance[-1]:.2g}")
    side.set(xlabel="step", ylabel="distance to the minimum", title="Race in the ravine, η = 0.01")
    side.legend(fontsize=9, loc="lower left")
    return (
        fig,
        f"Steps in units of η: {ratio[0]:.2f} at first, {ratio[top]:.2f} at step {t[top]}, "
        f"{ratio[99]:.2f} at 100, {ratio[999]:.2f} at 1000, limit {limit:.3f}. Adam: 1 throughout. "
        f"Distance after 300 steps in the ravine: {', '.join(ends)}.",
    )


def draw_raw(curves: dict, every: int, standard: float, sizes, rates):
    """Loss curves by name (a value each `every` steps) with the level that standardised features reach,
    and the rate 1/√s of each parameter against the size of its first gradient."""
    fig, (ax, side) = plt.subplots(1, 2, figsize=(8.8, 3.8), width_ratios=[1.35, 1])
    for (name, losses), color, marker in zip(curves.items(), COLORS, MARKERS, strict=False):
        steps = every * np.arange(len(losses))
        ax.semilogy(
            steps,
            losses,
            color=color,
            marker=marker,
            markevery=6,
            label=f"{name}: {losses[-1]:.2f}",
        )
    ax.axhline(
        standard, color=plots.BLACK, linestyle=":", label=f"descent, standardised: {standard:.2f}"
    )
    last = {name: losses[-1] for name, losses in curves.items()}
    ax.set(
        xlabel="step",
        ylabel="loss (nats)",
        title=f"Raw features: {min(last, key=last.get)} comes nearest",
    )
    ax.legend(fontsize=8)
    side.loglog(sizes, rates, "D", color=plots.BLUE)
    side.set(
        xlabel="size of the first gradient",
        ylabel="Adam's rate 1/√ŝ",
        title="A rate for each parameter",
    )
    words = ", ".join(f"{name} {value:.2f}" for name, value in last.items())
    spread = np.log10(rates.max() / rates.min())
    return fig, (
        f"Loss at the end on raw features: {words}; gradient descent on standardised ones {standard:.2f}. "
        f"Adam's rates span {spread:.0f} powers of ten."
    )


def adam_rates(adam_step, grad, start, eta, n_steps):
    """Size of the first gradient, and Adam's rate 1/√ŝ after n_steps, for each parameter. Two arrays like start."""
    theta, m, s = start, np.zeros_like(start), np.zeros_like(start)
    for t in range(1, n_steps + 1):
        theta, m, s = adam_step(theta, grad(theta), m, s, t, eta, 0.9, 0.999, 1e-8)
    return np.abs(grad(start)), np.sqrt((1 - 0.999**n_steps) / s)


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
        ylabel="loss (nats a word)",
        title=f"After rare words {best} is best",
        xlim=(-0.5, len(names) - 0.5),
    )
    ax.tick_params(axis="x", rotation=15)
    ax.legend()
    return fig, f"After rare words the loss is lowest with {best} and highest with {last}."

"""Pictures of 03_optimisation/03_stochastic_training: pure functions first, drawing functions below.

`draw_…` return (fig, words). Where the student's own functions are run, they come as arguments.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from descent import data, plots
from descent.words import say

COLORS = (plots.VERMILION, plots.BLUE, plots.GREEN)
STYLES, MARKERS = ("-", "--", ":", "-."), "o^sD"
GREY = "#888888"
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Digits(NamedTuple):
    """A network of 64 – 64 – 10 units; its weights are one vector w of 4,810 numbers.

    X (1000, 64), y: the rows to learn from. held (300 rows): for scores. new (497 rows): for the accuracy.
    """

    X: np.ndarray
    y: np.ndarray
    held: tuple
    new: tuple

    def start(self, seed=0):
        rng = np.random.default_rng(seed)
        U, V = rng.normal(size=(64, 64)) * np.sqrt(2 / 64), rng.normal(size=(64, 10)) / np.sqrt(32)
        return np.r_[U.ravel(), np.zeros(64), V.ravel(), np.zeros(10)]

    def grad(self, w, idx):
        """Gradient of the mean cross-entropy over the rows idx."""
        X, y, (_, _, V, _) = self.X[idx], self.y[idx], _layers(w)
        hidden, log_p = _forward(w, X)
        error = (np.exp(log_p) - np.eye(10)[y]) / len(y)
        back = (error @ V.T) * (hidden > 0)
        parts = (X.T @ back, back.sum(0), hidden.T @ error, error.sum(0))
        return np.concatenate([part.ravel() for part in parts])

    def score(self, w):
        """Mean cross-entropy over the rows held back, in nats."""
        X, y = self.held
        return -_forward(w, X)[1][np.arange(len(y)), y].mean()

    def accuracy(self, w):
        """Share of the new digits that it reads."""
        X, y = self.new
        return float(np.mean(_forward(w, X)[1].argmax(axis=1) == y))

    def alive(self, w):
        """How many of the hidden units fire for at least one of the 1,000 digits."""
        return int((_forward(w, self.X)[0] > 0).any(axis=0).sum())


def _layers(w):
    return w[:4096].reshape(64, 64), w[4096:4160], w[4160:4800].reshape(64, 10), w[4800:]


def _forward(w, X):
    """Hidden values and logarithms of the ten probabilities."""
    U, a, V, b = _layers(w)
    hidden = np.maximum(X @ U + a, 0)
    z = hidden @ V + b
    z = z - z.max(axis=1, keepdims=True)
    return hidden, z - np.log(np.exp(z).sum(axis=1, keepdims=True))


def digits() -> Digits:
    table = data.digits()
    order = np.random.default_rng(0).permutation(len(table.y))
    X, y = table.X[order] / 16, table.y[order]
    held, new = slice(1000, 1300), slice(1300, None)
    return Digits(X[:1000], y[:1000], (X[held], y[held]), (X[new], y[new]))


def eight_looks(net, B, rate, epochs=8):
    """Weights after 0, 1, … epochs of plain steps over shuffled batches. -> (epochs + 1, d)"""
    rng, w = np.random.default_rng(0), net.start()
    seen = [w]
    for _ in range(epochs):
        order = rng.permutation(1000)
        for first in range(0, 1000, B):
            w = w - rate * net.grad(w, order[first : first + B])
        seen.append(w)
    return np.array(seen)


def best_rate_of(net, B, rates):
    """The rate with the lowest score after eight epochs, and the run."""
    runs = {rate: eight_looks(net, B, rate) for rate in rates}
    rate = min(runs, key=lambda r: net.score(runs[r][-1]))
    return rate, runs[rate]


def read_sorted(net, train):
    """Share of new digits read after eight looks in batches of 32 rows that lie sorted by digit, at a rate of 0.3."""
    batches = np.split(np.argsort(net.y, kind="stable"), range(32, 1000, 32))
    return net.accuracy(
        train(net.grad, net.score, net.start(), lambda: batches, lambda t: 0.3, 8, 8)[0]
    )


def batch_means(G, B, *, replace, count, seed=0):
    """Means of `count` random batches of B rows of G (n, d) -> (count, d)."""
    rng = np.random.default_rng(seed)
    n = len(G)
    if replace:
        idx = rng.integers(0, n, (count, B))
    else:
        idx = rng.random((count, n)).argpartition(B - 1, axis=1)[:, :B]
    return G[idx].mean(axis=1)


def body_mass_line():
    """A (442, 2) with columns 1 and the standardised body mass index, and the standardised progression (442,)."""
    patients = data.diabetes()
    index, y = patients.X[:, patients.names.index("bmi")], patients.y
    A = np.c_[np.ones(len(y)), (index - index.mean()) / index.std()]
    return A, (y - y.mean()) / y.std()


def least_squares(A, y):
    """Minimiser of |A w - y|² -> (d,)."""
    return np.linalg.lstsq(A, y, rcond=None)[0]


def batch_minimisers(A, y, B, count, seed=0):
    """Minimisers of the mean squared error on `count` batches of B different rows, B >= d. -> (count, d)"""
    rng = np.random.default_rng(seed)
    batches = (rng.permutation(len(y))[:B] for _ in range(count))
    return np.array([least_squares(A[b], y[b]) for b in batches])


def expected_gap(curvature, spread, distance, rates, B=1):
    """E f(w_k) - min f of SGD on f_i(w) = ½ Σ_j λ_j (w_j - x_ij)², exactly, for k = 0 … len(rates).

    curvature λ (d,), spread: variance of the x_ij (0 for full gradients), distance: squared start distance along
    each axis, rates (K,) -> (K + 1,). Draws are independent.
    """
    lam = np.asarray(curvature, float)
    e2 = np.broadcast_to(distance, lam.shape).astype(float)
    gap = [lam @ e2 / 2]
    for rate in rates:
        e2 = (1 - rate * lam) ** 2 * e2 + (rate * lam) ** 2 * spread / B
        gap.append(lam @ e2 / 2)
    return np.array(gap)


def loss_after_epoch(B, rate, *, n=4096, spread=1.0, start=3.0):
    """Exact E loss above the minimum after n/B steps on f_i(w) = ½ (w - x_i)². Broadcasts over B and rate."""
    keep, steps = (1 - rate) ** 2, n / B
    kept = keep**steps
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(keep == 1, steps, (1 - kept) / (1 - keep)) * rate**2 * spread / B
    return 0.5 * (kept * start**2 + noise)


def best_rate(B, *, n=4096, spread=1.0):
    """The rate with the lowest `loss_after_epoch`, on a grid with steps of 1 %."""
    rates = np.exp(np.arange(np.log(1e-4), 0, 0.01))
    return float(rates[loss_after_epoch(B, rates, n=n, spread=spread).argmin()])


def noisy_quartic(rates, *, start=3.0, noise=0.5, runs=40, seed=0):
    """Mean over runs of f(w) = ½ w² + ¼ w⁴ along SGD with gradient noise, infinite once a run escapes. -> (K + 1,)"""
    rng, w = np.random.default_rng(seed), np.full(runs, start)
    losses = [w[0] ** 2 / 2 + w[0] ** 4 / 4]
    for rate in rates:
        w = w - rate * (w + w**3 + noise * rng.normal(size=runs))
        if np.abs(w).max() > 1e3:
            return np.r_[losses, np.full(len(rates) + 1 - len(losses), np.inf)]
        losses.append(np.mean(w**2 / 2 + w**4 / 4))
    return np.array(losses)


def two_clouds(seed=0):
    """40 labelled rows that a line through 0 separates, and a bad start. -> points (40, 2), labels (40,), w (2,)"""
    labels = np.repeat([1.0, -1.0], 20)
    points = np.random.default_rng(seed).normal(size=(40, 2)) + labels[:, None] * [2.0, 1.4]
    return points, labels, np.array([-1.0, 1.5])


def epochs_race(train, minibatches, updates=400, B=10, d=40, seed=1):
    """Errors on new rows along 400 updates over 4000, 400, 100 and 60 rows. -> {n: (updates + 1,)}"""
    rng = np.random.default_rng(seed)
    truth, fresh = rng.normal(size=d) / np.sqrt(d), rng.normal(size=(2000, d))
    fresh_y = fresh @ truth + rng.normal(size=2000)
    errors = {}
    for n in (4000, 400, 100, 60):
        X = rng.normal(size=(n, d))
        y, waiting = X @ truth + rng.normal(size=n), []

        def one_batch(n=n, waiting=waiting):
            if not waiting:
                waiting.extend(minibatches(n, B, rng))
            return [waiting.pop(0)]

        _, along, _ = train(
            lambda w, idx, X=X, y=y: X[idx].T @ (X[idx] @ w - y[idx]) / len(idx),
            lambda w: np.mean((fresh @ w - fresh_y) ** 2),
            np.zeros(d),
            one_batch,
            lambda t: 0.05,
            updates,
            updates,
        )
        errors[n] = np.array(along)
    return errors


# ------------------------------------------------------------------------------------- drawing


def _plain_powers(*axes):
    """Labels 10ⁿ at whole powers of ten as plain text: mathematical text takes most of the time of a redraw."""
    for axis in axes:
        axis.set_major_formatter(lambda v, _: "10" + f"{np.log10(v):.0f}".translate(_SUPERSCRIPTS))
        axis.set_minor_locator(NullLocator())


def _star(ax, at, label, color=plots.VERMILION):
    ax.plot(*at, "*", color=color, markersize=14, markeredgecolor="white", zorder=5, label=label)


def _cross(ax, at, label="minimum"):
    ax.plot(
        *at, "X", color=plots.BLACK, markersize=9, markeredgecolor="white", zorder=5, label=label
    )


def _accuracies(curves, xlabel):
    """curves {label: (x, accuracies)} in percent on one ax."""
    fig, ax = plt.subplots()
    for (label, (x, accuracy)), style, marker in zip(curves.items(), STYLES, MARKERS, strict=False):
        marks = np.unique(np.geomspace(1, len(x), 9).astype(int)) - 1
        accuracy = 100 * np.asarray(accuracy)
        ax.plot(x, accuracy, style, marker=marker, markevery=list(marks), label=label)
    ax.set(xlabel=xlabel, ylabel="new digits read (%)", ylim=(0, 102))
    return fig, ax


def draw_looks(curves):
    """Share of new digits that is read, along eight looks. curves {label: (looks, accuracies)}."""
    fig, ax = _accuracies(curves, "looks at each of the 1,000 digits")
    ends = {label: 100 * accuracy[-1] for label, (_, accuracy) in curves.items()}
    ax.set_title(f"After eight looks {max(ends, key=ends.get)} leads")
    ax.legend(loc="upper left", bbox_to_anchor=(0.5, 0.5))
    told = [say("{label}: {end:.0f} %", label=label, end=end) for label, end in ends.items()]
    return fig, say("New digits read after eight looks. {told:; }.", told=told)


def draw_clock(curves, goal=0.95):
    """The same against time. curves {label: (milliseconds, accuracies)}, all of which reach the goal."""
    fig, ax = _accuracies(curves, "milliseconds on the clock")
    ax.set(xscale="log", ylim=(40, 102))
    ax.axhline(100 * goal, color=GREY, linewidth=1)
    first = {
        label: float(x[np.argmax(np.array(accuracy) >= goal)])
        for label, (x, accuracy) in curves.items()
    }
    ax.set_title(f"{min(first, key=first.get)} reads {goal:.0%} first")
    ax.legend(loc="lower right")
    told = [say("{label}: {ms:.0f} ms", label=label, ms=ms) for label, ms in first.items()]
    return fig, say("Time to {goal:.0%} of the new digits. {told:; }.", goal=goal, told=told)


def draw_perceptron(grad, points, labels, w0):
    """Left: gradients of single rows at w0, and their mean. Right: mistakes by epoch, both regimes, step 1.

    grad: function (w, X, y, idx) -> (d,).
    """
    n, everything = len(points), np.arange(len(points))
    singles = np.array([grad(w0, points, labels, np.array([i])) for i in range(n)])
    full = grad(w0, points, labels, everything)

    def mistakes(w):
        return int(np.sum(labels * (points @ w) <= 0))

    rng, slow, fast = np.random.default_rng(2), [w0], [w0]
    for _ in range(8):
        slow.append(slow[-1] - grad(slow[-1], points, labels, everything))
        w = fast[-1]
        for i in rng.permutation(n):
            w = w - grad(w, points, labels, np.array([i]))
        fast.append(w)
    curves = {"all rows": [mistakes(w) for w in slow], "single rows": [mistakes(w) for w in fast]}

    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    zero = int(np.sum(~singles.any(axis=1)))
    left.plot(*singles.T, "o", alpha=0.7, label="single rows")
    left.annotate("", full, (0, 0), arrowprops=dict(arrowstyle="-|>", color=plots.VERMILION, lw=2))
    _star(left, full, "their mean: the full gradient")
    left.set(xlabel="∂/∂w₁", ylabel="∂/∂w₂", title=f"{zero} of {n} single gradients are zero")
    low, high = left.get_ylim()
    left.set_ylim(low - 0.25 * (high - low), high)  # room for the legend
    left.legend(fontsize=9, loc="lower left", borderaxespad=0.1)
    for (label, curve), style in zip(curves.items(), ["o-", "^--"], strict=True):
        right.plot(curve, style, label=label)
    right.set(xlabel=f"looks at each of the {n} rows", ylabel=f"mistakes among {n} rows")
    slow, fast = curves["all rows"][1], curves["single rows"][1]
    right.set_title(f"One look: {slow} mistakes against {fast}")
    right.yaxis.get_major_locator().set_params(integer=True)
    right.legend()
    return fig, say(
        "{zero} of {n} single gradients are zero, their mean is ({full[0]:.2f}, {full[1]:.2f}). Mistakes after one "
        "look at the rows: {slow} with all rows in one step, {fast} with single rows.",
        zero=zero, n=n, full=full, slow=slow, fast=fast,
    )  # fmt: skip


def draw_epochs(epochs, n, B):
    """Which batch each of n rows falls into, a line an epoch. epochs: a list of lists of index arrays."""
    owners = np.full((len(epochs), n), -1)
    for owner, batches in zip(owners, epochs, strict=True):
        for number, rows in enumerate(batches):
            owner[np.asarray(rows, dtype=int)] = number
    size = (7.2, 0.9 + 0.42 * len(epochs))
    fig, ax = plots.fixed_axes(1, size, (0.11, 0.99, 0.55 / size[1], 1 - 0.35 / size[1]))
    shown = np.ma.masked_less(owners, 0)
    top = max(1, owners.max())
    ax.imshow(shown, aspect="auto", cmap="cividis", vmin=-2.5, vmax=top, alpha=0.55)
    for (row, column), number in np.ndenumerate(owners):
        text = "–" if number < 0 else number + 1
        ax.text(column, row, text, ha="center", va="center", fontsize=9)
    ax.set_yticks(range(len(epochs)), [f"epoch {e + 1}" for e in range(len(epochs))])
    ax.set_xticks(range(0, n, 2))
    ax.set(xlabel="row of the data set (number in the cell: its batch)")
    ax.grid(False)
    updates, missed = sum(map(len, epochs)), int((owners[0] < 0).sum())
    ax.set_title(f"{len(epochs[0])} updates an epoch, {updates} in all")
    never = int((owners < 0).all(axis=0).sum())
    return fig, say(
        "n = {n}, B = {B}, {E} epochs: {updates} updates. Each epoch leaves out {missed} rows; {never} rows have not "
        "been seen at all.",
        n=n, B=B, E=len(epochs), updates=updates, missed=missed, never=never,
    )  # fmt: skip


def draw_variance(exact, G, coordinate=1, count=3000):
    """Measured and exact variance of batch means against B. exact: function (G, B, replace) -> (d,)."""
    n, one = len(G), G[:, [coordinate]]
    sizes = np.array([1, 2, 4, 8, 16, 32, 64, n // 4, n // 2, 9 * n // 10])
    fig, ax = plt.subplots()
    off = 0.0
    for replace, style, marker, label in (
        (True, "-", "o", "put back"),
        (False, "--", "^", "not put back"),
    ):
        formula = np.array([exact(one, int(B), replace)[0] for B in sizes])
        measured = [
            batch_means(one, int(B), replace=replace, count=count, seed=int(B)).var() for B in sizes
        ]
        (line,) = ax.plot(sizes, formula, style, label=f"{label}: formula")
        ax.plot(sizes, measured, marker, color=line.get_color(), label=f"{label}: {count} batches")
        off = max(off, np.abs(measured / formula - 1).max())
    share = float(exact(one, n // 4, False)[0] / exact(one, n // 4, True)[0])
    ax.axvline(n // 4, color=GREY, linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel=f"batch size B (of {n} rows)")
    ax.set_ylabel("variance of one coordinate")
    ax.set_title(f"A quarter of the rows, not put back: × {share:.2f}")
    ax.legend(fontsize=9)
    return fig, say(
        "The variance falls like 1/B; a quarter of the rows, not put back, has {share:.2f} of that of rows put back. "
        "Simulated batches are within {off:.0%} of the formulas.",
        share=share, off=off,
    )  # fmt: skip


def draw_cloud(A, y, names):
    """The mean of ½ (residual)² of the line A w = y, ready for a movie of runs with those names. -> fig, ax"""
    best = least_squares(A, y)
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    x, z = (best[0] - 1.9, best[0] + 1.5), (best[1] - 1.9, best[1] + 1.4)
    plots.contours(lambda W: ((W @ A.T - y) ** 2).mean(1) / 2, ax, x, z, levels=9, points=50)
    for name, color in zip(names, COLORS, strict=True):
        ax.plot([], [], "o", color=color, label=name)
    _cross(ax, best)
    ax.set(
        xlabel="intercept w₀", ylabel="slope w₁", title="One row a step: a falling rate closes in"
    )
    ax.legend(loc="lower right", frameon=True)
    return fig, ax


def told_cloud(paths, best):
    """Words on where runs end. paths {name: (runs, steps + 1, d)}."""
    told = [
        say(
            "{name}: {end:.2f}",
            name=name,
            end=float(np.sqrt(((runs[:, -10:] - best) ** 2).sum(-1).mean())),
        )
        for name, runs in paths.items()
    ]
    return say(
        "Distance from the minimum over the last 10 updates (root mean square): {told:; }.",
        told=told,
    )


def draw_clipping(vector, c, free, held):
    """Left: a gradient, clipped by norm and by value. Right: two descents on the cliff ½ (w²⁰ − 1)²."""

    def loss(w):
        return 0.5 * (np.asarray(w) ** 20 - 1) ** 2

    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    by_norm, by_value = vector * min(1, c / np.linalg.norm(vector)), np.clip(vector, -c, c)
    cosine = vector @ by_value / np.linalg.norm(vector) / np.linalg.norm(by_value)
    turn = float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    circle = c * np.exp(1j * np.linspace(0, 2 * np.pi, 80))
    left.plot(circle.real, circle.imag, color=GREY, linewidth=0.8)
    left.plot([-c, c, c, -c, -c], [-c, -c, c, c, -c], ":", color=GREY)
    for arrow, style, label in (
        (vector, "-", "gradient"),
        (by_norm, "--", "by norm"),
        (by_value, ":", "by value"),
    ):
        left.plot(*np.array([[0, 0], arrow]).T, style, marker="o", markevery=[1], label=label)
    left.set(
        aspect="equal",
        xlabel="∂/∂w₁",
        ylabel="∂/∂w₂",
        title=f"Clipping by value turns it {turn:.0f}°",
    )
    left.legend(loc="lower right", fontsize=9)
    left.set(xlim=(-1.3, 3.4), ylim=(-1.6, 1.6))
    grid = np.linspace(0.6, 1.3, 200)
    right.plot(grid, loss(grid), color=GREY)
    right.plot(held, loss(held), "o", label="clipped", color=plots.GREEN)
    right.plot(
        free[0], loss(free[0]), "s", markersize=9, color=plots.VERMILION, label="start of both"
    )
    right.annotate(
        f"unclipped: next w = {free[1]:,.0f}".replace("-", "−"),
        (free[0], loss(free[0])),
        (0.62, 60),
        arrowprops=dict(arrowstyle="<-"),
        fontsize=9,
    )
    right.set(yscale="log", ylim=(1e-7, 1e4), xlabel="recurrent weight w", ylabel="loss")
    right.set_title(f"Clipped: ends at w = {held[-1]:.2f}")
    right.legend(loc="lower left", fontsize=9)
    return fig, say(
        "Clipping by norm keeps the direction, by value it turns by {turn:.0f} degrees. On the cliff the first "
        "unclipped step lands at w = {free:.0f}; the clipped path ends at w = {held:.2f}.",
        turn=turn, free=free[1], held=held[-1],
    )  # fmt: skip


def draw_rates(rates, reads):
    """Share of new digits read against the rate. reads {name: (rates, seeds)}: a line through the medians."""
    fig, ax = plt.subplots()
    for (name, shares), style, marker in zip(reads.items(), STYLES, MARKERS, strict=False):
        shares = 100 * np.asarray(shares)
        (line,) = ax.plot(rates, np.median(shares, axis=1), style, label=name)
        for column in shares.T:
            ax.plot(rates, column, marker, color=line.get_color(), markersize=6)
    name, shares = list(reads.items())[-1]
    worst = 100 * float(np.min(shares))
    ax.set(xscale="log", xlabel="rate η (the highest of the run)", ylabel="new digits read (%)")
    ax.set(ylim=(0, 102), title="Eight looks: the bold rate needs all the tools")
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.legend(loc="lower left")
    return fig, say(
        "After eight looks, with {name}: at least {worst:.0f} % at every rate from {low:g} to {high:g}. Without "
        "them the shares fall apart at bold rates.",
        name=name, worst=5 * np.floor(worst / 5), low=rates[0], high=rates[-1],
    )  # fmt: skip


def draw_average(path, A, y, *, skip):
    """The last part of a path (steps + 1, 2) on the loss, the mean of it, and both losses along the way."""
    best, H = least_squares(A, y), A.T @ A / len(y)

    def gap(W):
        return ((W - best) @ H * (W - best)).sum(axis=1) / 2

    tail = path[skip:]
    means = np.cumsum(tail, axis=0) / np.arange(1, len(tail) + 1)[:, None]
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    reach = 1.1 * np.abs(tail - best).max()
    x, (low, high) = ((c - reach, c + reach) for c in best)
    z = (low - 0.3 * reach, high)  # room for the legend
    plots.contours(gap, left, x, z, levels=9)
    left.plot(*tail.T, "o", markersize=3, label="iterates")
    _cross(left, best)
    _star(left, means[-1], "mean of the iterates")
    left.set(xlabel="intercept w₀", ylabel="slope w₁", title="Only the mean is at the minimum")
    left.legend(
        fontsize=8, frameon=True, loc="lower center", ncols=3, columnspacing=0.8, handletextpad=0.2
    )
    steps = skip + np.arange(len(tail))
    right.plot(steps, gap(tail), linewidth=0.8, label="iterate")
    right.plot(steps, gap(means), "--", color=plots.VERMILION, label="mean so far")
    typical, last = float(gap(tail).mean()), float(gap(means[-1:])[0])
    right.set(yscale="log", ylim=(1e-6, 3), xlabel="update", ylabel="loss above the minimum")
    right.set_title(f"Gap: {typical:.1g} iterates, {last:.1g} mean")
    right.legend()
    return fig, say(
        "Loss above the minimum: {typical:.2g} for an average iterate, {last:.1g} for the mean of {n}.",
        typical=typical, last=last, n=len(tail),
    )  # fmt: skip


def draw_page(A, y, B, page, x, z, count=60):
    """Left: gradients of `count` batches at w = (x, z). Right: the loss of all rows (lines), of one batch (colour).

    It is dragged, and text is the dear part of a redraw: few ticks, no legend, titles that need no place sought.
    """
    rng = np.random.default_rng(3)
    batches = np.array([rng.permutation(len(y))[:B] for _ in range(count)])
    best, chosen, point = least_squares(A, y), batches[page], np.array([x, z])
    residual = A @ point - y
    grads = (A[batches] * residual[batches][..., None]).mean(axis=1)
    full = A.T @ residual / len(y)
    wrong = int(np.sum(grads @ full <= 0))

    fig, (left, right) = plots.fixed_axes(2, (7.8, 3.5), (0.09, 0.99, 0.14, 0.9), wspace=0.26)
    left.plot(*grads.T, "o", markersize=3)
    left.plot(*grads[page], "D", color=plots.GREEN, markersize=7)
    _star(left, full, None)
    left.axhline(0, color=GREY, linewidth=0.8)
    left.axvline(0, color=GREY, linewidth=0.8)
    left.set(xlabel="∂/∂w₀  (★ all rows, ◆ this batch)", ylabel="∂/∂w₁")
    left.set_title(f"{wrong} of {count} point the wrong way", y=1.02)
    left.locator_params(nbins=3)

    xs, zs = best[0] + np.linspace(-1.6, 1.6, 30), best[1] + np.linspace(-1.6, 1.6, 30)
    W = np.stack(np.meshgrid(xs, zs), -1).reshape(-1, 2)
    part = ((W @ A[chosen].T - y[chosen]) ** 2).mean(axis=1).reshape(30, 30) / 2
    whole = ((W - best) @ (A.T @ A / len(y)) * (W - best)).sum(axis=1).reshape(30, 30) / 2
    right.contourf(xs, zs, part, levels=8, cmap="cividis_r", alpha=0.55)
    right.contour(xs, zs, whole, levels=6, colors="#444444", linewidths=0.8)
    _cross(right, best)
    right.plot(*point, "s", color=plots.VERMILION, markersize=7)
    away = np.nan
    if B >= 2:
        own = least_squares(A[chosen], y[chosen])
        away = float(np.linalg.norm(own - best))
        right.plot(*own, "D", color=plots.GREEN, markersize=8)
    title = f"Its minimum ◆ is {away:.2f} away" if B >= 2 else "One row: a line of minima"
    right.set_title(title, y=1.02)
    right.set(xlabel="intercept w₀  (■ w, ✖ minimum)", ylabel="slope w₁")
    right.set(xlim=(xs[0], xs[-1]), ylim=(zs[0], zs[-1]), xticks=[-1, 0, 1], yticks=[-1, 0, 1, 2])
    right.set_gid("plane")
    right.grid(False)
    words = say(
        "B = {B}, w = ({x:.2f}, {z:.2f}): {wrong} of {count} batch gradients point more than 90° away from the "
        "full one.",
        B=B, x=x, z=z, wrong=wrong, count=count,
    )  # fmt: skip
    own = " The minimum of batch {page} is {away:.2f} away from that of all rows."
    line = " Batch {page} is one row: it has a whole line of minima ({away})."
    return fig, words + say(own if B >= 2 else line, page=page + 1, away=away if B >= 2 else "∞")


def draw_cost(n, full, runs, target):
    """Gap against gradients of single rows: gradient descent (n a step) and SGD runs (one a step).

    full (K + 1,), runs {label: (K + 1,)}: gaps by step. target: the accuracy asked for.
    """
    fig, ax = plots.fixed_axes(1, (6.6, 3.8), (0.12, 0.98, 0.14, 0.91))
    k = np.unique(np.geomspace(1, len(full) - 1, 120).astype(int))  # as many points as can be seen
    ax.plot(n * k, full[k], "-o", markevery=[0], label=f"gradient descent, n = {n}")
    price = {"gradient descent": _first_below(full, target) * n}
    for (label, gap), style in zip(runs.items(), ("--", ":", "-."), strict=False):
        ax.plot(k, gap[k], style, label=label)
        price[label] = _first_below(gap, target)
    ax.axhline(target, color=GREY, linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 20), xlim=(1, 3e6))
    ax.set(xlabel="gradients of single rows", ylabel="expected gap  f(w) − min f")
    _plain_powers(ax.xaxis, ax.yaxis)
    winner = min(price, key=price.get)
    arrived = np.isfinite(price[winner])
    ax.set_title(f"Cheapest to a gap of {target:g}: {winner}" if arrived else "None gets there")
    ax.legend(loc="upper right")
    told = [
        say("{label} {cost:,.0f}", label=label, cost=cost)
        if np.isfinite(cost)
        else say("{label} never", label=label)
        for label, cost in price.items()
    ]
    return fig, say(
        "Gradients of single rows for a gap of {target:g}, with n = {n}: {told:; }.",
        n=n, target=target, told=told,
    )  # fmt: skip


def _first_below(gap, target):
    below = np.flatnonzero(gap <= target)
    return float(below[0]) if len(below) else np.inf


def draw_schedule(rates, name, losses):
    """A schedule above the loss it leads to. rates (K,), losses (K + 1,), infinite where training blew up."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 4.4), sharex=True, layout="none")
    fig.subplots_adjust(left=0.12, right=0.98, bottom=0.12, top=0.93, hspace=0.32)
    top.plot(rates, color=plots.BLUE)
    top.set(ylabel="rate η", title=f"Schedule: {name}", ylim=(0, 1.08 * max(rates)))
    alive = np.isfinite(losses)
    bottom.plot(np.flatnonzero(alive), losses[alive], color=plots.VERMILION, linestyle="--")
    last = int(np.flatnonzero(alive)[-1])
    if alive.all():
        end = float(losses[-20:].mean())
        said = say("Ends at a loss of {end:.1e}.", end=end)
    else:
        bottom.plot(last, min(losses[last], 300), "X", color=plots.BLACK, markersize=11)
        said = say("Blows up at step {step}.", step=last + 1)
    bottom.set(xlabel="step t", ylabel="mean loss", yscale="log", title=said[:-1], ylim=(1e-3, 1e3))
    _plain_powers(bottom.yaxis)
    bottom.set_yticks([1e-2, 1, 1e2])
    words = "{name}: the highest rate is {high:.3f}, the last {final:.3f}. "
    return fig, say(words, name=name, high=max(rates), final=rates[-1]) + said


def draw_batch_rate_map(n, spread):
    """Loss after one epoch over batch size and rate, with the best rate of each B and the lines η ∝ B, η ∝ √B."""
    B = 2.0 ** np.arange(0, int(np.log2(min(n, 4096))) + 1)
    rate = np.logspace(-3.5, 0, 90)
    loss = loss_after_epoch(B[:, None], rate[None, :], n=n, spread=spread)
    best = rate[loss.argmin(axis=1)]
    anchor = 2  # both rules are anchored at B = 4
    fig, ax = plots.fixed_axes(1, (5.8, 3.8), (0.14, 0.97, 0.14, 0.91))
    mesh = ax.pcolormesh(B, rate, np.log10(loss).T, cmap="cividis_r", shading="nearest")
    fig.colorbar(mesh, label="log₁₀ of the loss after one epoch", ticks=range(-8, 3, 2))
    ax.plot(B, best, "o", color=plots.BLACK, markersize=5, zorder=4)
    for power, style in ((1, "-"), (0.5, "--")):
        line = best[anchor] * (B / B[anchor]) ** power
        inside = line <= 1
        ax.plot(B[inside], line[inside], color=plots.BLACK, linewidth=3.6)  # a rim
        ax.plot(B[inside], line[inside], style, color="white", linewidth=2)
    ax.set(xscale="log", yscale="log", ylabel="rate η", ylim=(rate[0], 1.2))
    ax.set(xlabel="batch size B  (● best η, — η ∝ B, - - η ∝ √B)")
    _plain_powers(ax.xaxis, ax.yaxis)
    slopes = np.diff(np.log(best)) / np.diff(np.log(B))
    early, late = slopes[2:5].mean(), slopes[-3:].mean()
    near = np.abs(np.log(best / (best[anchor] * B / B[anchor]))) < np.log(1.5)
    reach = int(B[near].max())
    ax.set_title(f"η ∝ B is good up to about B = {reach}", y=1.02)
    ax.grid(False)
    return fig, say(
        "{n} rows, noise variance {spread:g}: between B = 4 and 32 the best rate grows like B to the power "
        "{early:.2f}, at the largest B like B to the power {late:.2f}. The linear rule stays within a factor 1.5 "
        "of the best rate up to B = {reach}.",
        n=n, spread=spread, early=early, late=late, reach=reach,
    )  # fmt: skip


def draw_epochs_race(train, minibatches):
    """Error on new rows along 400 updates, for one epoch over many rows and many epochs over few."""
    errors = epochs_race(train, minibatches)
    fig, ax = plt.subplots()
    for (n, curve), style in zip(errors.items(), STYLES, strict=True):
        ax.plot(curve, style, label=f"{n} rows, {4000 / n:.0f} ×: ends at {curve[-1]:.2f}")
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.text(150, 0.87, "noise: no model is better", fontsize=9, color="#555555")
    ax.set(xlabel="updates (10 rows each)", ylabel="mean squared error on new rows", ylim=(0.8, 4))
    ax.set_title("Fresh rows are best; few rows are learned by heart")
    ax.legend(title="the same 400 updates")
    told = [say("{n} rows {end:.2f}", n=n, end=curve[-1]) for n, curve in errors.items()]
    return fig, say("Error on new rows after 400 updates: {told:; }.", told=told)

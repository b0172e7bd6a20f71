"""Approximation and depth: steps, walls, broken lines, folds, regions, and trained networks."""

from collections.abc import Callable
from itertools import pairwise
from math import ceil, sqrt

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes, light
from descent.words import say

# ---------------------------------------------------------------- networks as plain arrays


def sigmoid_net(x, W1, b1, W2, b2=0.0) -> np.ndarray:
    """A hidden layer of sigmoids with one input, x (n,), W1, b1, W2 (k,) -> (n,)."""
    W1, b1, W2 = (np.asarray(part, float).ravel() for part in (W1, b1, W2))
    return expit(np.multiply.outer(np.asarray(x, float), W1) + b1) @ W2 + b2


def relu_net(x, W, b, U) -> np.ndarray:
    """U relu(W x + b) with one input and no output bias, x (n,), W, b, U (k,) -> (n,)."""
    W, b, U = (np.asarray(part, float).ravel() for part in (W, b, U))
    return np.maximum(0, np.multiply.outer(np.asarray(x, float), W) + b) @ U


def forward(layers, X, phi: Callable = lambda z: np.maximum(0, z)) -> np.ndarray:
    """Layers (W, b), `phi` between them and not after the last. X (n, m) -> (n, c)."""
    h = np.asarray(X, float)
    for number, (W, b) in enumerate(layers):
        h = h @ np.asarray(W, float).T + np.asarray(b, float).ravel()
        if number < len(layers) - 1:
            h = phi(h)
    return h


def sup_error(f: Callable, g: Callable, points) -> float:
    """Largest |f - g| over the points (n,): a lower bound on the supremum, close to it on a fine grid."""
    return float(np.max(np.abs(f(points) - g(points))))


def pattern_codes(layers, X) -> np.ndarray:
    """A number for the on/off pattern of all hidden ReLU units at each row of X (n, m) -> (n,) integers."""
    h, codes, units = np.asarray(X, float), np.zeros(len(X), np.uint64), 0
    for W, b in layers[:-1]:
        z = h @ np.asarray(W, float).T + np.asarray(b, float).ravel()
        powers = np.uint64(2) ** np.arange(units, units + z.shape[1]).astype(np.uint64)
        codes += (z > 0) @ powers
        h, units = np.maximum(0, z), units + z.shape[1]
    return codes


# ---------------------------------------------------------------- the puzzle


def tent(x):
    """Up from 0 to 1 and down again on [0, 1]."""
    return 2 * np.maximum(0, x) - 4 * np.maximum(0, x - 0.5)


def tents(x, n: int):
    """The tent, n times."""
    for _ in range(n):
        x = tent(x)
    return x


def count_pieces(y, tolerance: float = 1e-10) -> int:
    """Linear pieces of a broken line with kinks on an even grid, from its values y (n,) there."""
    return 1 + int(np.sum(np.abs(np.diff(y, 2)) > tolerance))


def chord_error(k: int) -> float:
    """Largest error where k equal pieces join points of the sine on [0, 6]."""
    x, knots = np.linspace(0, 6, 6001), np.linspace(0, 6, k + 1)
    return sup_error(np.sin, lambda t: np.interp(t, knots, np.sin(knots)), x)


def draw_price():
    """x² by four straight pieces; and its error by the number of units, side by side or in layers of three."""
    x, knots, units = np.linspace(0, 1, 401), np.linspace(0, 1, 5), np.arange(3, 28, 3)
    flat, floor, deep = 1 / (4 * units**2), 1 / (8 * (units + 1) ** 2), 4.0 ** -(units // 3 + 1)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(x, x**2, "--", color=BLACK, label="x²")
    left.plot(knots, knots**2, "o-", color=BLUE, label="4 straight pieces")
    left.set(xlabel="x", ylabel="output", title="ReLU networks draw broken lines")
    left.legend(fontsize=9)
    right.plot(units, flat, "s--", color=BLUE, label="one layer: equal pieces")
    right.plot(units, floor, ":", color=BLUE, label="one layer: never below")
    right.plot(units, deep, "o-", color=VERMILION, label="layers of three")
    right.axhline(1e-6, color=ORANGE, linestyle="-.", label="a millionth")
    right.set(yscale="log", xlabel="hidden units", ylabel="largest error on [0, 1]")
    right.set_title("In layers the same units do far more")
    right.legend(fontsize=9)
    return fig, say(
        "Four straight pieces miss x² by {four:.3f} at most. With {units} hidden units, equal pieces of "
        "one layer miss it by {flat:.1e}, no single layer by less than {floor:.1e}, nine layers of three by "
        "{deep:.1e}.",
        four=1 / 64, units=int(units[-1]), flat=flat[-1], floor=floor[-1], deep=deep[-1],
    )  # fmt: skip


# ---------------------------------------------------------------- steps against straight pieces

TARGETS = {  # f, a, b, a Lipschitz constant, a bound on |f″|
    "sin x": (np.sin, 0.0, 2 * np.pi, 1.0, 1.0),
    "sin 3x": (lambda x: np.sin(3 * x), -1.0, 1.0, 3.0, 9.0),
    "tanh 6x": (lambda x: np.tanh(6 * x), -1.0, 1.0, 6.0, 28.0),
}


def compare_explorer(staircase_net: Callable, relu_interpolant: Callable) -> Callable:
    """-> draw(target, eps): both networks as wide as ε asks for, and their width for every ε."""

    def draw(target: str, eps: float):
        f, a, b, L, bend = TARGETS[target]
        pieces = max(1, ceil((b - a) * sqrt(bend / (8 * eps))))
        knots, margin = np.linspace(a, b, pieces + 1), (b - a) / 4
        x, inner = np.linspace(a - margin, b + margin, 1201), np.linspace(a, b, 4001)
        steps, lines = staircase_net(f, a, b, L, eps), relu_interpolant(knots, f(knots))
        nets = (lambda t: sigmoid_net(t, *steps)), (lambda t: relu_net(t, *lines))
        errors = [sup_error(f, net, inner) for net in nets]
        units = len(np.ravel(steps[0])), len(np.ravel(lines[0]))
        fig, (left, right) = fixed_axes(2, (9, 3.6), (0.07, 0.99, 0.16, 0.88), wspace=0.25)
        left.axvspan(a, b, color=SKY, alpha=0.12)
        left.fill_between(inner, f(inner) - eps, f(inner) + eps, color=ORANGE, alpha=0.25)
        left.plot(x, f(x), "--", color=BLACK)
        for net, color, style in zip(nets, (BLUE, VERMILION), ("-", "-."), strict=True):
            left.plot(x, net(x), style, color=color)
        left.set(ylim=(-2.2, 2.2), xlabel="x (built on the shaded interval)", ylabel="output")
        light(left, f"{target}: within ε = {eps:.3g}", y=(-2, -1, 0, 1, 2), fontsize=11)
        grid = np.geomspace(0.01, 0.5, 50)
        right.plot(grid, L * (b - a) / grid, color=BLUE)
        right.plot(grid, (b - a) * np.sqrt(bend / (8 * grid)), "-.", color=VERMILION)
        right.plot([eps], [units[0]], "o", color=BLUE, markersize=9)
        right.plot([eps], [units[1]], "s", color=VERMILION, markersize=9)
        right.set(xscale="log", yscale="log", xlabel="ε", ylabel="hidden units", ylim=(1, 2000))
        light(
            right,
            f"{units[0]} steps or {units[1]} ReLUs",
            (0.01, 0.1),
            (1, 10, 100, 1000),
            fontsize=11,
        )
        right.text(0.012, 2.8, "● —  steps", color=BLUE, fontsize=9)
        right.text(0.012, 1.4, "■ - ·  straight pieces", color=VERMILION, fontsize=9)
        right.set_gid("eps")
        return fig, say(
            "{target}, ε = {eps:.3g}: {steps} steps with the largest error {steps_error:.4f}, or {relus} ReLUs in "
            "{pieces} straight pieces with {lines_error:.4f}. A quarter of the interval further out the pieces are off "
            "by up to {outside:.1f}.",
            target=target, eps=eps, steps=units[0], steps_error=errors[0], relus=units[1], pieces=pieces,
            lines_error=errors[1], outside=sup_error(f, nets[1], x),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- folds


def fold_explorer(square_net: Callable) -> Callable:
    """-> draw(x, n): the n-th tent, and what n layers make of it, with one input followed through them."""

    def draw(x: float, n: int):
        grid = np.linspace(0, 1, 1025)
        folded, last = tents(grid, n), float(tents(x, n))
        out = forward(square_net(n), np.append(grid, x)[:, None])[:, 0]
        error, knots = np.abs(out[:-1] - grid**2).max(), np.linspace(0, 1, 2**n + 1)
        folds = "1 fold" if n == 1 else f"{n} folds"
        fig, (left, right) = fixed_axes(2, (9, 3.4), (0.08, 0.99, 0.16, 0.88), wspace=0.22)
        left.plot(grid, folded, color=BLUE)
        left.plot([x, x], [0, last], ":", color=BLACK)
        left.plot([x], [last], "o", color=VERMILION, markersize=9)
        left.set(xlabel="x", ylabel="after the folds", ylim=(-0.05, 1.05))
        light(left, f"{folds}: {2**n} ways up or down", (0, 0.5, 1), (0, 0.5, 1), fontsize=11)
        left.set_gid("fold")
        right.plot(grid, grid**2, "--", color=BLACK)
        right.plot(grid, out[:-1], color=BLUE)
        right.plot(knots, knots**2, ".", color=BLUE, markersize=4)
        right.plot([x], [out[-1]], "o", color=VERMILION, markersize=9)
        right.set(xlabel="x", ylabel="output of your network", ylim=(-0.05, 1.05))
        light(
            right,
            f"{3 * n} units: off by {error:.1e} at most",
            (0, 0.5, 1),
            (0, 0.5, 1),
            fontsize=11,
        )
        return fig, say(
            "x = {x:.2f} after {folds}: {last:.3f}. The network says {out:.6f}, x² is {square:.6f}. With {units} "
            "units its largest error on [0, 1] is {error:.1e}.",
            x=x, folds=folds, last=last, out=float(out[-1]), square=x * x, units=3 * n, error=float(error),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- training


def line_layers(W, b, U) -> list:
    """U relu(W x + b) as a list of layers with an output bias of 0."""
    return [(np.reshape(W, (-1, 1)), np.ravel(b)), (np.reshape(U, (1, -1)), np.zeros(1))]


def shaken(layers, share: float, seed: int) -> list:
    """The same layers, each number off by a normal relative error of standard deviation `share`."""
    rng = np.random.default_rng(seed)
    return [
        tuple(np.asarray(part, float) * rng.normal(1, share, np.shape(part)) for part in layer)
        for layer in layers
    ]


def random_line(k: int, seed: int, low: float = -1.0) -> list:
    """Layers with k kinks drawn on [low, 1], both directions, output weights of size 1 / √k."""
    rng = np.random.default_rng(seed)
    W = rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k)
    return line_layers(W, -W * rng.uniform(low, 1, k), rng.normal(size=k) / np.sqrt(k))


def line_error(f: Callable, layers, a: float = -1.0) -> float:
    """Largest |f - network| on [a, 1]."""
    return sup_error(f, lambda t: forward(layers, t[:, None])[:, 0], np.linspace(a, 1, 4001))


def draw_learned(f: Callable, widths, built, moved, random):
    """Largest error by number of kinks: equal knots, trained from there, trained from random -> (fig, words).

    built, moved: networks, one a width; random: a list of networks for each width.
    """
    equal, trained = ([line_error(f, net) for net in nets] for nets in (built, moved))
    scratch = np.array([[line_error(f, net) for net in nets] for nets in random])
    fig, ax = plt.subplots(figsize=(6.6, 3.7))
    ax.loglog(widths, equal, "o-", color=BLUE, label="built: equal knots")
    ax.loglog(widths, trained, "s--", color=GREEN, label="trained, from the built ones")
    dots = ax.loglog(widths, scratch, "^", color=VERMILION)
    dots[0].set_label("trained, from random weights")
    slope = equal[0] * (widths[0] / np.array(widths)) ** 2
    ax.loglog(widths, slope, ":", color=BLACK, label="a quarter for twice as many")
    ax.set(
        xlabel="kinks",
        ylabel="largest error on [−1, 1]",
        title="tanh 6x: knots that learn miss by less",
    )
    ax.set_xticks(widths, map(str, widths))
    ax.set_yticks([0.05, 0.1, 0.2], ["0.05", "0.1", "0.2"])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    return fig, say(
        "With {k} kinks: equal knots miss by {equal:.2f}, trained from there by {trained:.2f}, trained from random "
        "weights by {best:.2f} to {worst:.2f}.",
        k=widths[0], equal=equal[0], trained=trained[0], best=scratch[0].min(), worst=scratch[0].max(),
    )  # fmt: skip


def draw_answer(errors: dict):
    """Largest errors for x², one row a way to get the weights: name -> list of errors -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.4, 3.4))
    for row, (values, mark, color) in enumerate(
        zip(errors.values(), "os^vD", (BLUE, VERMILION, ORANGE, PINK, GREEN), strict=True)
    ):
        ax.plot(values, np.full(len(values), row), mark, color=color, markersize=8)
    ax.axvline(1e-6, color=BLACK, linestyle=":")
    ax.text(1.2e-6, 3.3, "a millionth", fontsize=9)
    ax.set(xscale="log", xlim=(3e-7, 2), xlabel="largest error on [0, 1]", ylim=(4.5, -0.5))
    ax.set_yticks(range(len(errors)), list(errors))
    ax.set_title("Placed by hand: a millionth. Trained: far from it")
    told = "; ".join(
        f"{name}: " + ", ".join(f"{v:.1e}" for v in values) for name, values in errors.items()
    )
    return fig, say("Largest errors for x². {told}.", told=told)


def pieces_between(layers, A, B, n: int = 1000) -> np.ndarray:
    """Linear pieces of a ReLU network on the segments from A[i] to B[i] -> (rows,), at least 1 each.

    Counted as changes of pattern between n points of each segment.
    """
    t = np.linspace(0, 1, n)[:, None]
    counts = []
    for a, b in zip(A, B, strict=True):
        h, changed = (1 - t) * a + t * b, np.zeros(n - 1, bool)
        for W, bias in layers[:-1]:
            z = h @ W.T + bias
            changed |= np.any(np.diff(z > 0, axis=0), axis=1)
            h = np.maximum(0, z)
        counts.append(1 + changed.sum())
    return np.array(counts)


def draw_digit_nets(rows: list[dict]):
    """Accuracy and pieces of several trained networks -> (fig, words).

    rows: dicts with name, accuracy, pieces (start, trained), units.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    place = np.arange(len(rows))
    left.plot(place, [100 * row["accuracy"] for row in rows], "s", color=BLUE, markersize=9)
    left.set(
        ylim=(80, 100), ylabel="held-out accuracy (%)", title="All three read about equally well"
    )
    units = [row["units"] for row in rows]
    right.plot(place, units, "_", color=BLACK, markersize=26, label="hidden units")
    first = [row["pieces"][0] for row in rows]
    right.plot(place, first, "o", color=BLUE, mfc="none", markersize=9, label="at the start")
    right.plot(place, [row["pieces"][1] for row in rows], "^", color=VERMILION, label="trained")
    right.set(ylabel="pieces between two digits", ylim=(0, None))
    right.set_title("Fewer pieces than units")
    right.legend(fontsize=9, markerscale=0.6)
    for ax in (left, right):
        ax.set_xticks(place, [row["name"] for row in rows], fontsize=9)
        ax.set_xlim(-0.6, len(rows) - 0.4)
    return fig, say(
        "{n} networks, held-out accuracy {low:.0%} to {high:.0%}. On a line from one digit to another they have at "
        "most {share:.0%} as many linear pieces as hidden units.",
        n=len(rows),
        low=min(row["accuracy"] for row in rows),
        high=max(row["accuracy"] for row in rows),
        share=max(max(row["pieces"]) / row["units"] for row in rows),
    )


# ---------------------------------------------------------------- steps on points


def notes_values(n: int) -> np.ndarray:
    """The values 2 + sin s at the points s = 1, …, n."""
    return 2 + np.sin(np.arange(1, n + 1.0))


def printed_step_net(values, power: float = -9.0):
    """The notes' hidden layer, steepness 10^n and offset 10^power -> W1, b1, W2 (2 n,)."""
    n, j = len(values), np.arange(1, 2 * len(values) + 1)
    steep = 10.0**n
    b1 = -steep * (np.ceil((j + 1) / 2) - 10.0**power)
    return np.full(2 * n, steep), b1, (-1.0) ** (j + 1) * np.asarray(values)[(j + 1) // 2 - 1]


def points_error(net, values) -> float:
    """Largest error of a sigmoid network at the points 1, …, n."""
    return float(np.max(np.abs(sigmoid_net(np.arange(1, len(values) + 1), *net) - values)))


def draw_printed_steps(net_of: Callable):
    """The printed construction on five points, and its error for 1 to 14 -> (fig, words).

    net_of(values) -> W1, b1, W2: a construction that works.
    """
    values, x, s = notes_values(5), np.linspace(0.4, 5.6, 1041), np.arange(1, 6)
    numbers, printed = np.arange(1, 15), printed_step_net(values)
    errors = [points_error(printed_step_net(notes_values(n)), notes_values(n)) for n in numbers]
    mended = [points_error(net_of(notes_values(n)), notes_values(n)) for n in numbers]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(x, sigmoid_net(x, *net_of(values)), color=BLUE, label="steps half-way")
    left.plot(s, values, "o", color=BLACK, markersize=8, label="wanted")
    left.plot(
        s, sigmoid_net(s, *printed), "x", color=VERMILION, markersize=9, mew=2, label="as printed"
    )
    left.set(xlabel="x", ylabel="output", title="Five points: as printed, missed")
    left.legend(fontsize=9)
    right.plot(numbers, np.maximum(errors, 1e-17), "x--", color=VERMILION, label="as printed")
    right.plot(numbers, np.maximum(mended, 1e-17), "o-", color=BLUE, label="steps half-way")
    right.set(yscale="log", xlabel="number of points n", ylabel="largest error at the points")
    right.set(xticks=range(2, 15, 2), ylim=(1e-18, 30), title="As printed it fails up to n = 9")
    right.legend(fontsize=9)
    return fig, say(
        "Largest error of the printed construction: {five:.2f} for 5 points, {nine:.2f} for 9, {ten:.1e} for 10. With "
        "steps half-way it is below {mended:.0e}, whatever the number.",
        five=errors[4], nine=errors[8], ten=errors[9], mended=2 * max(mended),
    )  # fmt: skip


# ---------------------------------------------------------------- memory


def doors(f: Callable, a: float, b: float, n: int):
    """A staircase as the notes have it, two neurons a cell -> W1, b1, W2 (2 n,). Output weights are ± f(middle)."""
    edges, steep = np.linspace(a, b, n + 1), 2000 * n / (b - a)
    places = np.column_stack([edges[:-1], edges[1:]]).ravel()
    places[[0, -1]] = a - (b - a) / n, b + (b - a) / n  # on over the whole of [a, b]
    heights = f((edges[:-1] + edges[1:]) / 2)
    return np.full(2 * n, steep), -steep * places, np.column_stack([heights, -heights]).ravel()


def draw_memory(steps, learned, f: Callable):
    """What changes on [-1, 1] when one stored value changes -> (fig, words).

    steps: W1, b1, W2 of `doors`: both weights of the highest cell are doubled. learned: layers of a trained network:
    the output weight that contributes most is doubled. `felt` is the median over its units of the part of the
    interval on which a unit is felt.
    """
    x, (W1, b1, W2) = np.linspace(-1, 1, 2001), steps
    edited, cell = W2.copy(), int(np.abs(W2[::2]).argmax())
    edited[2 * cell : 2 * cell + 2] *= 2
    (W, b), (U, c) = learned
    parts = np.maximum(0, np.multiply.outer(x, W[:, 0]) + b) * U[0]
    size = np.abs(parts).max(0)
    pairs = [
        (
            "Built: one edit moves one cell",
            sigmoid_net(x, W1, b1, W2),
            sigmoid_net(x, W1, b1, edited),
        ),
        (
            "Trained: one edit moves a wide part",
            parts.sum(1) + c,
            parts.sum(1) + c + parts[:, size.argmax()],
        ),
    ]
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.3))
    for ax, (title, before, after) in zip(axes, pairs, strict=True):
        ax.plot(x, f(x), "--", color=BLACK, linewidth=1, label="f")
        ax.plot(x, before, color=BLUE, label="before")
        ax.plot(x, after, color=VERMILION, linestyle="-.", label="after")
        ax.set(xlabel="x", ylabel="output", title=title)
    axes[0].legend(fontsize=9)
    change = np.abs(pairs[0][2] - pairs[0][1])
    felt = np.mean(np.abs(parts) > 0.01 * size, axis=0)[size > 0]
    return fig, say(
        "One value of the staircase changes {cell:.0%} of the interval. Half of the trained units are felt on "
        "{felt:.0%} of it or more.",
        cell=float(np.mean(change > 0.01 * change.max())), felt=float(np.median(felt)),
    )  # fmt: skip


# ---------------------------------------------------------------- walls

TRIANGLE = (
    np.array([[1.0, 0.0], [-0.5, np.sqrt(3) / 2], [-0.5, -np.sqrt(3) / 2]]),
    np.array([0.5, 0.5, 0.5]),
)  # inside where W x + b > 0: corners (1, 0), (-½, ±√3/2)


def walls(points, steep: float) -> np.ndarray:
    """Three sigmoid walls, each nearly 1 on the inner side of one edge. points (n, 2) -> (n, 3)."""
    W, b = TRIANGLE
    return expit(steep * (np.asarray(points) @ W.T + b))


def inside(points) -> np.ndarray:
    """Whether the points (n, 2) lie in the triangle."""
    W, b = TRIANGLE
    return np.all(np.asarray(points) @ W.T + b > 0, axis=1)


def overlap(mask, truth) -> float:
    """Intersection over union of two boolean arrays."""
    return float(np.sum(mask & truth) / np.sum(mask | truth))


def draw_walls(place: float, steep: float, gate: bool):
    """The sum of three walls, the upright one pushed to x₁ = place, or a second layer's threshold on it."""
    axis, W = np.linspace(-3, 3, 121), TRIANGLE[0]
    b = np.array([-place, 0.5, 0.5])
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    side = points @ W.T + b
    total, truth = expit(steep * side).sum(1), np.all(side > 0, axis=1)
    height = expit(4 * steep * (total - 2.5)) if gate else total
    fig, (left, right) = fixed_axes(2, (8.6, 3.7), (0.07, 0.98, 0.14, 0.88), wspace=0.25)
    picture = height.reshape(121, 121)
    left.imshow(picture, extent=(-3, 3, -3, 3), origin="lower", vmin=0, vmax=1 if gate else 3)
    for w, c in zip(W, b, strict=True):
        foot, along = -c * w, np.array([-w[1], w[0]])
        left.plot(*np.transpose([foot - 6 * along, foot + 6 * along]), "--", color="white")
    left.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁", ylabel="x₂")
    light(left, "After a second layer" if gate else "Sum of the walls", (-3, 0, 3), (-3, 0, 3))
    left.grid(False)
    left.set_gid("wall")
    row = truth.reshape(121, 121)[60]
    right.plot(axis, picture[60], color=BLUE)
    right.plot(axis, row, "--", color=BLACK)
    right.set(xlabel="x₁", ylabel="height (dashed: wanted)", ylim=(-0.15, 3.3))
    light(right, "On the line x₂ = 0", (-3, 0, 3), (0, 1, 2, 3))
    leak = height[~truth & (np.abs(side).min(1) > 0.2)].max()
    return fig, say(
        "{layer}, steepness {steep:g}: outside the triangle, away from its edges, the height reaches {leak:.2f}. The "
        "places above ½ overlap with the triangle by {overlap:.2f} (intersection over union).",
        layer="With a second layer" if gate else "The sum of three walls",
        steep=steep, leak=float(leak), overlap=overlap(height > 0.5, truth),
    )  # fmt: skip


# ---------------------------------------------------------------- activations


def _elu(z):
    return np.where(z > 0, z, np.expm1(np.minimum(z, 0)))


def curve(name: str, z, leak: float = 0.01) -> np.ndarray:
    """An activation by name at z, any shape."""
    z = np.asarray(z, float)
    return {
        "ReLU": lambda: np.maximum(z, 0),
        "leaky ReLU": lambda: np.maximum(leak * z, z),
        "ELU": lambda: _elu(z),
        "sigmoid": lambda: expit(z),
        "tanh": lambda: np.tanh(z),
        "SiLU": lambda: z * expit(z),
        "softplus": lambda: np.logaddexp(0, z),
        "sin": lambda: np.sin(z),
        "Gaussian": lambda: np.exp(-(z**2)),
    }[name]()


CURVES = ("ReLU", "leaky ReLU", "ELU", "sigmoid", "tanh", "SiLU", "softplus", "sin", "Gaussian")


def is_monotone(f: Callable, points) -> bool:
    """Whether f never falls, or never rises, from one point of the increasing grid to the next."""
    steps = np.diff(f(points))
    return bool(np.all(steps >= -1e-12) or np.all(steps <= 1e-12))


def draw_activation(name: str, z: float, leak: float):
    """An activation and its slope, the place z marked, saturated zones shaded -> (fig, words)."""
    grid, h = np.linspace(-5, 5, 201), 1e-5

    def slope(t):
        return (curve(name, t + h, leak) - curve(name, t - h, leak)) / (2 * h)

    flat = np.abs(slope(grid)) < 0.05 - 1e-9  # a slope of 0.05 is not, rounded or not
    value, steep = float(curve(name, z, leak)), float(slope(z))
    fig, axes = fixed_axes(2, (8.4, 3.1), (0.08, 0.99, 0.17, 0.88), wspace=0.25)
    for ax, y, at, what in (
        (axes[0], curve(name, grid, leak), value, "activation φ(z)"),
        (axes[1], slope(grid), steep, "slope φ′(z)"),
    ):
        whole = ax.get_xaxis_transform()
        ax.fill_between(grid, 0, 1, where=flat, transform=whole, color=ORANGE, alpha=0.18)
        ax.plot(grid, y, color=BLUE)
        ax.plot([z], [at], "o", color=VERMILION, markersize=8)
        ax.set(xlabel="pre-activation z", ylabel=what)
    light(axes[0], f"{name}: {value:.3f} at z = {z:g}", x=(-5, 0, 5), fontsize=11)
    light(axes[1], f"slope {steep:.3f}; shaded: below 0.05", x=(-5, 0, 5), fontsize=11)
    axes[0].set_gid("z")
    return fig, say(
        "{name} at z = {z:g}: value {value:.3f}, slope {slope:.3f}. On [−5, 5] its slope is below 0.05 in size on "
        "{flat:.0%} of the inputs.",
        name=name, z=z, value=value, slope=steep, flat=float(flat.mean()),
    )  # fmt: skip


def gradient_norms(name: str, depth: int = 20, width: int = 64, seed: int = 0) -> np.ndarray:
    """Length of a gradient as it goes back through layers -> (depth + 1,), from the input to the output.

    Weights are normal with variance 1 / width (2 / width for ReLU). "sigmoid + skip" adds each layer's input to its
    output. The mean over 32 rows.
    """
    rng = np.random.default_rng(seed)
    phi = name.split(" + ")[0]
    scale = np.sqrt((2 if phi == "ReLU" else 1) / width)
    Ws = [scale * rng.normal(size=(width, width)) for _ in range(depth)]
    h, slopes = rng.normal(size=(32, width)), []
    for W in Ws:
        z = h @ W.T
        slopes.append((curve(phi, z + 1e-5) - curve(phi, z - 1e-5)) / 2e-5)
        h = curve(phi, z) + (h if "skip" in name else 0)
    g = rng.normal(size=(32, width))
    g /= np.linalg.norm(g, axis=1, keepdims=True)
    norms = [1.0]
    for W, slope in zip(Ws[::-1], slopes[::-1], strict=True):
        g = (g * slope) @ W + (g if "skip" in name else 0)
        norms.append(np.linalg.norm(g, axis=1).mean())
    return np.array(norms[::-1])


def draw_vanishing(names=("sigmoid", "tanh", "ReLU", "sigmoid + skip")):
    """The length of a gradient through twenty layers -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(6.8, 3.5))
    norms = {name: gradient_norms(name) for name in names}
    for (name, lengths), mark, color in zip(
        norms.items(), "os^D", (BLUE, VERMILION, GREEN, PINK), strict=True
    ):
        ax.plot(lengths, mark + "-", color=color, markersize=4, label=name)
    ax.set(yscale="log", xlabel="layer (the gradient starts at 20, on the right)")
    ax.set(ylabel="length of the gradient", xticks=[0, 5, 10, 15, 20])
    ax.set_title("Twenty small slopes multiply to nothing")
    ax.legend()
    return fig, say(
        "A gradient of length 1 at layer 20 arrives at the input with {plain:.0e} through sigmoids, {tanh:.0e} through "
        "tanh, {relu:.0e} through ReLUs, and {skip:.1f} through sigmoids with skips.",
        **dict(zip(("plain", "tanh", "relu", "skip"), (v[0] for v in norms.values()), strict=True)),
    )


# ---------------------------------------------------------------- regions


def random_layers(sizes, seed: int) -> list:
    """Normal weights of variance 2 / inputs, biases uniform on [-½, ½]."""
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(n, m)) * np.sqrt(2 / m), rng.uniform(-0.5, 0.5, n))
        for m, n in pairwise(sizes)
    ]


def grid_points(extent: float, n: int) -> np.ndarray:
    axis = np.linspace(-extent, extent, n)
    return np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)


def region_explorer(budget: Callable) -> Callable:
    """-> draw(width, depth, seed): the plane cut by all kinks of a random network. budget(sizes)[1]: the ceiling."""

    def draw(width: int, depth: int, seed: int, side: int = 241):
        layers = random_layers([2] + [width] * depth + [1], seed)
        codes = pattern_codes(layers, grid_points(3.0, side))
        _, codes = np.unique(codes, return_inverse=True)
        count, codes = int(codes.max()) + 1, codes.reshape(side, side)
        shades = np.random.default_rng(3).permutation(count)[codes]
        edge = np.zeros((side, side, 4))  # black where the pattern changes, clear elsewhere
        edge[1:, :, 3] = codes[1:] != codes[:-1]
        edge[:, 1:, 3] += codes[:, 1:] != codes[:, :-1]
        fig, ax = fixed_axes(1, (5.2, 4.2), (0.12, 0.98, 0.13, 0.91))
        place = dict(extent=(-3, 3, -3, 3), origin="lower", interpolation="nearest")
        ax.imshow(shades, cmap="tab20b", alpha=0.7, **place)
        ax.imshow(np.minimum(edge, 1), **place)
        ax.set(xlabel="x₁", ylabel="x₂")
        units = f"{depth} layer{'s' * (depth > 1)} of {width}"
        light(ax, f"{units}: {count} regions", (-3, 0, 3), (-3, 0, 3))
        ax.grid(False)
        return fig, say(
            "{units}, drawn at random: at least {count} regions on this square. The ceiling is "
            "{ceiling:,}; for the same units in one layer it is {one:,}.",
            units=units, count=count,
            ceiling=budget([2] + [width] * depth + [1])[1], one=budget([2, width * depth, 1])[1],
        )  # fmt: skip

    return draw


def folded_layers(seed: int = 0) -> list:
    """Two layers of 4 units: the first takes (|x₁|, |x₂|) apart, the second cuts the folded plane by 4 lines."""
    turn = np.array([100, 125, 150, 170]) * np.pi / 180
    W2 = np.column_stack([np.cos(turn), np.sin(turn)])
    through = np.array([[2.0, 2.0], [2.3, 1.6], [1.7, 2.6], [2.6, 2.3]])
    b2 = -np.sum(W2 * through, axis=1)
    W1 = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    absolute = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    return [(W1, np.zeros(4)), (W2 @ absolute, b2), (np.ones((1, 4)), np.zeros(1))]


def searched_layers() -> list:
    """Two layers of 4 units with 70 regions: simulated annealing on their number, begun at `folded_layers`."""
    W1 = [[2.42, 2.66], [-5.03, -0.62], [-0.68, 4.89], [-0.88, -2.58]]
    W2 = [
        [1.76, 0.54, -0.23, 0.17],
        [-1.56, -4.86, 2.36, 1.55],
        [-1.44, -0.16, -1.67, -0.44],
        [-0.48, 1.49, -0.82, -0.76],
    ]
    b1, b2 = [-5.47, -3.46, 1.54, 1.28], [-2.58, -3.22, 3.45, 2.07]
    return [(np.array(W), np.array(b)) for W, b in ((W1, b1), (W2, b2), (np.ones((1, 4)), [0.0]))]


# ---------------------------------------------------------------- separating


def disc_in_ring(n: int = 120, seed: int = 0):
    """Half the points inside the unit disc (label 0), half in a ring around it (label 1) -> X (n, 2), y (n,)."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    radius = np.where(y == 0, 0.92 * np.sqrt(rng.random(n)), rng.uniform(1.1, 1.9, n))
    angle = rng.uniform(0, 2 * np.pi, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


def draw_lift(X, y, lift: Callable):
    """Points in the plane, and lifted over it -> (fig, words)."""
    z = lift(X[:, 0], X[:, 1])
    fig = plt.figure(figsize=(8.6, 3.6))
    left = fig.add_subplot(1, 2, 1)
    right = fig.add_subplot(1, 2, 2, projection="3d")
    for label, mark, color in ((0, "o", BLUE), (1, "s", VERMILION)):
        mine = y == label
        left.plot(*X[mine].T, mark, color=color, markersize=4, label=f"class {label}")
        right.plot(*X[mine].T, z[mine], mark, color=color, markersize=3)
    left.set(xlabel="x", ylabel="y", title="No line separates them", aspect="equal")
    left.legend(fontsize=9, loc="upper right", frameon=True)
    right.set(xlabel="x", ylabel="y", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    right.set_zlabel("φ(x, y)", labelpad=4)
    right.set_title("After the lift a plane does")
    right.tick_params(labelsize=8)
    right.view_init(22, -60)
    return fig, say(
        "A disc inside a ring; lifted by φ, all points of the disc lie at least {gap:.2f} above the plane "
        "z = 0, all points of the ring on it.",
        gap=float(z[y == 0].min()),
    )

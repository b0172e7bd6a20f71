"""Approximation and depth: steps, staircases, walls, broken lines, sawtooths, regions, and trained networks."""

from collections.abc import Callable
from math import ceil, comb

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

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


def count_pieces(y, tolerance: float = 1e-6) -> int:
    """Linear pieces of a broken line with kinks on an even grid, from its values y (n,) there."""
    return 1 + int(np.sum(np.abs(np.diff(y, 2)) > tolerance * max(1.0, np.ptp(y))))


# ---------------------------------------------------------------- why it matters


def draw_why():
    """Straight steps and broken lines approach a curve; folding makes pieces cheap -> (fig, words)."""
    x = np.linspace(0, 2 * np.pi, 801)
    cells, knots = 12, np.linspace(0, 2 * np.pi, 7)
    middle = (np.minimum(np.floor(x / (2 * np.pi) * cells), cells - 1) + 0.5) * 2 * np.pi / cells
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    left.plot(x, np.sin(x), "--", color=BLACK, label="sine")
    left.plot(x, np.sin(middle), color=BLUE, label="12 sigmoid steps")
    left.plot(knots, np.sin(knots), "o-", color=VERMILION, label="6 pieces of ReLU")
    left.set(xlabel="x", ylabel="f(x)", title="One hidden layer can draw a curve")
    left.legend(fontsize=9)
    units = np.arange(2, 21, 2)
    right.plot(units, units + 1, "s--", color=BLUE, label="one hidden layer: units + 1")
    right.plot(units, 2.0 ** (units // 2), "o-", color=VERMILION, label="two units a layer")
    right.set(yscale="log", xlabel="hidden units", ylabel="linear pieces at most or reached")
    right.set_title("Layers on layers fold it")
    right.set_xticks(units[1::2])
    right.legend(fontsize=9)
    return fig, (
        "Left: twelve steps and six straight pieces follow one period of a sine. Right: with 20 hidden "
        f"units one layer has at most 21 linear pieces, ten layers of two reach {2**10}."
    )


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
    grid, h = np.linspace(-5, 5, 401), 1e-5

    def slope(t):
        return (curve(name, t + h, leak) - curve(name, t - h, leak)) / (2 * h)

    value, steep = float(curve(name, z, leak)), float(slope(z))
    fig, (left, right) = fixed_axes(2, (8.4, 3.1), (0.08, 0.99, 0.16, 0.9), wspace=0.25)
    for ax, y, at, what in (
        (left, curve(name, grid, leak), value, "activation φ(z)"),
        (right, slope(grid), steep, "slope φ′(z)"),
    ):
        flat = np.abs(slope(grid)) < 0.05 - 1e-9  # a slope of 0.05 is not, rounded or not
        ax.fill_between(
            grid, 0, 1, where=flat, transform=ax.get_xaxis_transform(), color=ORANGE, alpha=0.18
        )
        ax.plot(grid, y, color=BLUE)
        ax.plot([z], [at], "o", color=VERMILION, markersize=8)
        ax.set(xlabel="pre-activation z", ylabel=what)
    left.set_title(f"{name}: {value:.3f} at z = {z:g}")
    right.set_title(f"slope {steep:.3f}; shaded: below 0.05")
    return fig, (
        f"{name} at z = {z:g}: value {value:.3f}, slope {steep:.3f}. On [-5, 5] its slope is below 0.05 "
        f"in size on {np.mean(np.abs(slope(grid)) < 0.05 - 1e-9):.0%} of the inputs."
    )


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
    told = []
    for name, mark, color in zip(names, "os^D", (BLUE, VERMILION, GREEN, PINK), strict=True):
        norms = gradient_norms(name)
        ax.plot(norms, mark + "-", color=color, markersize=4, label=name)
        told.append(f"{name} {norms[0]:.0e}")
    ax.set(yscale="log", xlabel="layer (the gradient starts at 20, on the right)")
    ax.set_ylabel("length of the gradient")
    ax.set_xticks([0, 5, 10, 15, 20])
    ax.set_title("Twenty small slopes multiply to nothing")
    ax.legend()
    return fig, (
        "A gradient of length 1 at layer 20 has, when it arrives at the input, the length: "
        + "; ".join(told)
        + "."
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
    values, x = notes_values(5), np.linspace(0.4, 5.6, 1041)
    printed = printed_step_net(values)
    numbers = np.arange(1, 15)
    errors = [points_error(printed_step_net(notes_values(n)), notes_values(n)) for n in numbers]
    mended = [points_error(net_of(notes_values(n)), notes_values(n)) for n in numbers]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
    s = np.arange(1, 6)
    left.plot(x, sigmoid_net(x, *net_of(values)), color=BLUE, label="steps half-way")
    left.plot(s, values, "o", color=BLACK, markersize=8, label="f(s)")
    left.plot(
        s,
        sigmoid_net(s, *printed),
        "x",
        color=VERMILION,
        markersize=9,
        markeredgewidth=2,
        label="as printed",
    )
    left.set(xlabel="x", ylabel="output", title="Five points: printed steps stop half-way")
    left.legend(fontsize=9)
    right.plot(numbers, np.maximum(errors, 1e-17), "x--", color=VERMILION, label="as printed")
    right.plot(numbers, np.maximum(mended, 1e-17), "o-", color=BLUE, label="steps half-way")
    right.set(yscale="log", xlabel="number of points n", ylabel="largest error at the points")
    right.set_ylim(1e-18, 30)
    right.set_title("It fails up to n = 9")
    right.legend(fontsize=9)
    return fig, (
        f"Largest error of the printed construction: {errors[4]:.2f} for 5 points, {errors[8]:.2f} for 9, "
        f"{errors[9]:.1e} for 10. Steps half-way between the points are right for every number of points."
    )


# ---------------------------------------------------------------- a staircase on an interval

TARGETS = {
    "sin x on [0, 2π]": (np.sin, 0.0, 2 * np.pi, 1.0),
    "sin 3x on [0, 2π]": (lambda x: np.sin(3 * x), 0.0, 2 * np.pi, 3.0),
    "|x| on [-1, 1]": (np.abs, -1.0, 1.0, 1.0),
    "√x on [0, 1]": (np.sqrt, 0.0, 1.0, np.inf),
}


def notes_staircase(f: Callable, a: float, b: float, n: int, steep: float = 2000.0):
    """On and off, two neurons a cell, as in the notes -> W1, b1, W2 (2 n,). The output weights are ± f(c)."""
    edges = np.linspace(a, b, n + 1)
    doors = np.column_stack([edges[:-1], edges[1:]]).ravel()
    doors[[0, -1]] = a - (b - a) / n, b + (b - a) / n  # on over the whole of [a, b]
    W1 = np.full(2 * n, steep * n / (b - a))
    heights = f((edges[:-1] + edges[1:]) / 2)
    return W1, -W1 * doors, np.column_stack([heights, -heights]).ravel()


def staircase(f: Callable, a: float, b: float, n: int, x) -> np.ndarray:
    """The value of f in the middle of the cell that holds x (m,) -> (m,)."""
    cell = np.minimum(np.floor((np.asarray(x) - a) / (b - a) * n), n - 1)
    return f(a + (cell + 0.5) * (b - a) / n)


def draw_staircase(target: str, eps: float):
    """The staircase that a Lipschitz constant asks for, and errors against the number of cells -> (fig, words)."""
    f, a, b, L = TARGETS[target]
    x = np.linspace(a, b, 4001)
    need = ceil(L * (b - a) / eps - 1e-9) if np.isfinite(L) else ceil((b - a) / eps**2 - 1e-9)
    error = np.max(np.abs(f(x) - staircase(f, a, b, need, x)))
    counts = np.unique(np.geomspace(2, 400, 16).astype(int))
    errors = [np.max(np.abs(f(x) - staircase(f, a, b, n, x))) for n in counts]
    fig, (left, right) = fixed_axes(2, (9, 3.5), (0.085, 0.99, 0.15, 0.9), wspace=0.25)
    left.fill_between(x, f(x) - eps, f(x) + eps, color=ORANGE, alpha=0.2, label="f ± ε")
    left.plot(x, f(x), "--", color=BLACK, label="f")
    left.plot(x, staircase(f, a, b, need, x), color=BLUE, label="staircase")
    left.set(xlabel="x", ylabel="f(x)", title=f"{need} cells keep within ε = {eps:g}")
    left.legend(fontsize=9, loc="lower left")
    right.loglog(counts, errors, "o-", color=BLUE, label="sup error")
    if np.isfinite(L):
        right.loglog(counts, L * (b - a) / counts, ":", color=BLACK, label="L (b - a) / N")
    right.axhline(eps, color=ORANGE, linestyle="--", label="ε")
    right.plot([need], [error], "*", color=VERMILION, markersize=13, label="chosen N")
    right.set(
        xlabel="cells N",
        ylabel="sup error",
        title="Double N, halve the error" if np.isfinite(L) else "Four times N, half the error",
    )
    right.legend(fontsize=9)
    how = "L (b - a) / ε" if np.isfinite(L) else "(b - a) / ε², as √ has no Lipschitz constant,"
    return fig, (
        f"{target}, ε = {eps:g}: {how} asks for {need} cells, {2 * need} neurons in the notes' count. "
        f"The sup error is {error:.4f}."
    )


def draw_memory(steps, learned, f: Callable, a: float, b: float):
    """What changes when one output weight changes -> (fig, words, two shares of the interval).

    steps = (W1, b1, W2) of `notes_staircase`: the two weights of the highest cell are doubled.
    learned = (W, b, U) of a trained ReLU network: the output weight with the largest contribution is doubled.
    The second share is the median over its units of the part of the interval on which a unit is felt.
    """
    x = np.linspace(a, b, 2001)
    W2 = np.array(steps[2])
    cell = int(np.abs(W2[::2]).argmax())
    W2[2 * cell : 2 * cell + 2] *= 2
    U = np.array(learned[2])
    felt = np.abs(np.maximum(0, np.multiply.outer(x, learned[0]) + learned[1]) * U)
    U[felt.max(0).argmax()] *= 2
    pairs = [
        ("Construction: one value edited", sigmoid_net(x, *steps), sigmoid_net(x, *steps[:2], W2)),
        ("Trained: one weight edited", relu_net(x, *learned), relu_net(x, *learned[:2], U)),
    ]
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.3))
    for ax, (title, before, after) in zip(axes, pairs, strict=True):
        ax.plot(x, f(x), "--", color=BLACK, linewidth=1, label="f")
        ax.plot(x, before, color=BLUE, label="before")
        ax.plot(x, after, color=VERMILION, linestyle="-.", label="after")
        ax.set(xlabel="x", ylabel="output", title=title)
    axes[0].legend(fontsize=9)
    change = np.abs(pairs[0][2] - pairs[0][1])
    on_places = np.mean(felt > 0.01 * felt.max(0), axis=0)[felt.max(0) > 0]
    shares = [float(np.mean(change > 0.01 * change.max())), float(np.median(on_places))]
    words = (
        f"Doubling the two output weights of one cell changes {shares[0]:.0%} of the interval. "
        "In the trained network half of the units are felt on "
        f"{'more' if shares[1] > 0.25 else 'less'} than a quarter of it."
    )
    return fig, words, shares


# ---------------------------------------------------------------- walls

TRIANGLE = (
    np.array([[0.0, 1.0], [-np.sqrt(3) / 2, -0.5], [np.sqrt(3) / 2, -0.5]]),
    np.array([0.5, 0.5, 0.5]),
)  # inside where W x + b > 0: corners (0, 1), (±√3, -½)


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


def draw_walls(n_walls: int, steep: float, gate: bool):
    """The sum of one to three walls, or a second layer's threshold on it -> (fig, words)."""
    axis = np.linspace(-3, 3, 161)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    total = walls(points, steep)[:, :n_walls].sum(1)
    height = expit(4 * steep * (total - n_walls + 0.5)) if gate else total
    truth = inside(points)
    fig, (left, right) = fixed_axes(2, (8.6, 3.7), (0.07, 0.98, 0.14, 0.9), wspace=0.4)
    picture = left.imshow(
        height.reshape(161, 161),
        extent=(-3, 3, -3, 3),
        origin="lower",
        vmin=0,
        vmax=1 if gate else 3,
    )
    fig.colorbar(picture, ax=left, fraction=0.046, label="height")
    W, b = TRIANGLE
    for w, c in zip(W[:n_walls], b[:n_walls], strict=True):
        foot, along = -c * w, np.array([-w[1], w[0]])
        left.plot(*np.transpose([foot - 5 * along, foot + 5 * along]), "--", color="white")
    left.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁", ylabel="x₂")
    left.set_title("After a second layer" if gate else "Sum of the walls")
    left.grid(False)
    middle = points.reshape(161, 161, 2)[80]  # the row x₂ = 0
    right.plot(axis, height.reshape(161, 161)[80], color=BLUE, label="height on the line x₂ = 0")
    right.plot(axis, inside(middle), "--", color=BLACK, label="indicator of the triangle")
    right.set(xlabel="x₁", ylabel="height", ylim=(-0.15, 3.3), title="Cut at x₂ = 0")
    right.legend(fontsize=9, loc=(0.02, 0.4))
    leak = height[~truth & (np.abs(points @ W.T + b).min(1) > 0.2)].max()
    good = overlap(height > 0.5, truth)
    return fig, (
        f"{n_walls} wall{'s' * (n_walls > 1)}, steepness {steep:g}, {'with' if gate else 'without'} a second layer: "
        f"outside the triangle, away from its edges, the height reaches {leak:.2f}. "
        f"The places above ½ overlap with the triangle by {good:.2f} (intersection over union)."
    )


# ---------------------------------------------------------------- broken lines

SMOOTH = {
    "sin 3x": lambda x: np.sin(3 * x),
    "tanh 6x": lambda x: np.tanh(6 * x),
    "x²": lambda x: x**2,
    "|x|": np.abs,
}


def interpolant_explorer(net_of: Callable) -> Callable:
    """-> draw(target, k): k pieces by `net_of(xs, ys)` on [-1, 1], and beyond."""

    def draw(target: str, k: int):
        f, knots = SMOOTH[target], np.linspace(-1, 1, k + 1)
        net = net_of(knots, f(knots))
        x, inner = np.linspace(-2, 2, 801), np.linspace(-1, 1, 2001)
        error = sup_error(f, lambda t: relu_net(t, *net), inner)
        outer = sup_error(f, lambda t: relu_net(t, *net), x)
        fig, ax = fixed_axes(1, (6.6, 3.6), (0.1, 0.98, 0.15, 0.9))
        ax.axvspan(-1, 1, color=SKY, alpha=0.15, label="where we built it")
        ax.plot(x, f(x), "--", color=BLACK, label="f")
        ax.plot(x, relu_net(x, *net), color=BLUE, label=f"network, {k} pieces")
        ax.plot(knots, f(knots), "o", color=VERMILION, markersize=4, label="knots")
        ax.set(
            xlabel="x",
            ylabel="f(x)",
            ylim=(-3, 3),
            title=f"Error {error:.4f} inside, {outer:.1f} on [-2, 2]",
        )
        ax.legend(fontsize=8, loc="lower right", ncols=2)
        return fig, (
            f"{target} with {k} pieces: the largest error is {error:.4f} on [-1, 1] and {outer:.2f} on [-2, 2]."
        )

    return draw


def train_lines(
    f: Callable, starts: list, steps: int = 1500, rate: float = 0.02, points: int = 128
):
    """Adam on the mean squared error over [-1, 1], all networks at once, float64 -> list of (W, b, U).

    starts: list of (W, b, U), padded to one width and trained together; a padded unit stays silent. The rate falls to 0
    along a cosine.
    """
    width = max(len(start[0]) for start in starts)
    params = [np.zeros((len(starts), width)) for _ in range(3)]
    mask = np.zeros((len(starts), width))
    for number, start in enumerate(starts):
        for part, values in zip(params, start, strict=True):
            part[number, : len(values)] = values
        mask[number, : len(start[0])] = 1
    x = np.linspace(-1, 1, points)
    y, first, second = f(x), [0.0] * 3, [0.0] * 3
    for t in range(1, steps + 1):
        W, b, U = params
        z = W[:, None] * x[:, None] + b[:, None]
        h = np.maximum(0, z)
        r = 2 * ((h @ U[:, :, None])[..., 0] - y) / points
        back = r[..., None] * (z > 0)
        slope = back.swapaxes(1, 2) @ np.column_stack([x, np.ones(points)])
        grads = [U * slope[..., 0] * mask, U * slope[..., 1] * mask, (r[:, None] @ h)[:, 0]]
        now = rate * 0.5 * (1 + np.cos(np.pi * t / steps))
        for i, g in enumerate(grads):
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g**2
            root = np.sqrt(second[i] / (1 - 0.999**t)) + 1e-8
            params[i] = params[i] - now * first[i] / (1 - 0.9**t) / root
    return [
        tuple(part[number, : len(start[0])] for part in params)
        for number, start in enumerate(starts)
    ]


def random_start(k: int, seed: int):
    """Random kinks on [-1, 1], random directions, output weights of size 1 / √k, and a constant unit."""
    rng = np.random.default_rng(seed)
    W = np.append(0.0, rng.choice([-1.0, 1.0], k) * rng.uniform(0.5, 1.5, k))
    return (
        W,
        np.append(1.0, W[1:] * rng.uniform(-1, 1, k)),
        np.append(0.0, rng.normal(size=k) / np.sqrt(k)),
    )


def draw_learned(f: Callable, title: str, widths, built, moved, random):
    """Sup error by number of kinks: equal knots, knots trained from there, trained from random -> (fig, words).

    built, moved: networks, one a width; random: a list of networks for each width.
    """
    x = np.linspace(-1, 1, 2001)

    def error(net):
        return sup_error(f, lambda t: relu_net(t, *net), x)

    equal, trained = [error(n) for n in built], [error(n) for n in moved]
    scratch = np.array([[error(n) for n in nets] for nets in random])
    middle = np.median(scratch, axis=1)
    fig, ax = plt.subplots(figsize=(6.6, 3.7))
    ax.loglog(widths, equal, "o-", color=BLUE, label="built: equal knots")
    ax.loglog(widths, trained, "s--", color=GREEN, label="trained from the built one")
    ax.loglog(widths, middle, "^-.", color=VERMILION, label="trained from random (median)")
    singles = ax.loglog(widths, scratch, ".", color=VERMILION, alpha=0.5)
    singles[0].set_label("trained from random (each start)")
    ax.loglog(
        widths, equal[0] * (widths[0] / np.array(widths)) ** 2, ":", color=BLACK, label="slope -2"
    )
    ax.set(xlabel="kinks k", ylabel="sup error on [-1, 1]", title=title)
    ax.set_xticks(widths, [str(k) for k in widths])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    better = all(t < e for t, e in zip(trained, equal, strict=True))
    luck = np.max(scratch.max(1) / scratch.min(1))
    return fig, (
        f"Trained from the construction the sup error is lower than that of equal knots at "
        f"{'every width' if better else 'some widths only'}. "
        f"Trained from random, the worst of {scratch.shape[1]} starts "
        f"has {'more' if luck > 2 else 'less'} than twice the error of the best at some width."
    )


# ---------------------------------------------------------------- sawtooths


def disturbed_pieces(layers, noise: float, draws: int = 9, seed: int = 0) -> float:
    """Median number of pieces on [0, 1] when every weight and bias is off by a normal share of this size.

    Counted as changes of pattern between 2^14 points, none of them dyadic, so that no exact zero is met.
    """
    rng, x = np.random.default_rng(seed), (np.arange(2**14) + 1 / 3)[:, None] / 2**14
    pairs = [(np.asarray(W, float), np.asarray(b, float).ravel()) for W, b in layers]
    counts = []
    for _ in range(draws):
        moved = [
            (W * (1 + noise * rng.normal(size=W.shape)), b * (1 + noise * rng.normal(size=b.shape)))
            for W, b in pairs
        ]
        counts.append(1 + np.sum(np.diff(pattern_codes(moved, x)) != 0))
    return float(np.median(counts))


def draw_tents(net_of: Callable, depths=(1, 2, 4)):
    """The functions of `net_of(n)`, and what the same units do in one layer -> (fig, words)."""
    x = np.linspace(0, 1, 513)
    fig, axes = plt.subplots(1, len(depths), figsize=(9, 2.9), sharey=True)
    told = []
    for ax, n in zip(axes, depths, strict=True):
        y = forward(net_of(n), x[:, None])[:, 0]
        pieces = count_pieces(y)
        ax.plot(x, y, color=BLUE)
        ax.set(xlabel="x", xticks=[0, 0.5, 1], title=f"{2 * n} units: {pieces} pieces")
        told.append(f"{n} layer{'s' * (n > 1)} of two units: {pieces} linear pieces")
    axes[0].set_ylabel("output")
    return fig, "; ".join(told) + "."


def square_net(n: int) -> list:
    """x² on [0, 1] up to 4^-(n+1): x minus the sum of tent_k(x) / 4^k, k = 1, …, n; three units a layer.

    Units of layer k: the two of tent k, and relu of the running sum (which is never negative).
    """
    layers = [(np.array([[1.0], [1.0], [1.0]]), np.array([0.0, -0.5, 0.0]))]
    for k in range(1, n):
        row = np.array([2.0, -4.0, 0.0])
        keep = np.array([-2.0 / 4**k, 4.0 / 4**k, 1.0])
        layers.append((np.array([row, row, keep]), np.array([0.0, -0.5, 0.0])))
    return [*layers, (np.array([[-2.0 / 4**n, 4.0 / 4**n, 1.0]]), np.zeros(1))]


def draw_square(depths=range(1, 9)):
    """Error of x² by hidden units, one layer against many -> (fig, words)."""
    x = np.linspace(0, 1, 2**14 + 1)
    deep = [np.max(np.abs(forward(square_net(n), x[:, None])[:, 0] - x**2)) for n in depths]
    units = 3 * np.array(list(depths))
    flat, floor = 1 / (4.0 * units**2), 1 / (8.0 * (units + 1) ** 2)
    fig, ax = plt.subplots(figsize=(6.4, 3.5))
    ax.plot(units, flat, "s--", color=BLUE, label="one layer, equal knots: 1 / (4 k²)")
    ax.plot(units, floor, ":", color=BLUE, label="no single layer gets below")
    ax.plot(units, deep, "o-", color=VERMILION, label="three units a layer")
    ax.set(yscale="log", xlabel="hidden units k", ylabel="sup error on [0, 1]")
    ax.set_title("x²: each layer divides the error by 4")
    ax.legend()
    return fig, (
        f"With {units[-1]} hidden units one layer that joins equal knots has error {flat[-1]:.1e}, no single layer "
        f"is below {floor[-1]:.1e}; {len(deep)} layers of three have {deep[-1]:.1e}."
    )


# ---------------------------------------------------------------- regions


def random_layers(sizes, seed: int) -> list:
    """Normal weights of variance 2 / inputs, biases uniform on [-½, ½]."""
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(n, m)) * np.sqrt(2 / m), rng.uniform(-0.5, 0.5, n))
        for m, n in zip(sizes, sizes[1:], strict=False)
    ]


def grid_points(extent: float, n: int) -> np.ndarray:
    axis = np.linspace(-extent, extent, n)
    return np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)


def region_ceiling(n0: int, widths) -> int:
    """Upper bound on the regions of hidden layers `widths` with n0 inputs."""
    bound, d = 1, n0
    for n in widths:
        bound *= sum(comb(n, j) for j in range(d + 1))
        d = min(d, n)
    return bound


def draw_region_map(width: int, depth: int, seed: int, side: int = 301):
    """The plane cut by the kinks of all units of a random network -> (fig, words)."""
    layers = random_layers([2] + [width] * depth + [1], seed)
    points = grid_points(3.0, side)
    _, codes = np.unique(pattern_codes(layers, points), return_inverse=True)
    count = int(codes.max()) + 1
    shades = np.random.default_rng(3).permutation(count)[codes.reshape(side, side)]
    bound = region_ceiling(2, [width] * depth)
    one = region_ceiling(2, [width * depth])
    fig, ax = fixed_axes(1, (5.2, 4.2), (0.12, 0.98, 0.13, 0.91))
    ax.imshow(
        shades,
        extent=(-3, 3, -3, 3),
        origin="lower",
        cmap="tab20b",
        alpha=0.7,
        interpolation="nearest",
    )
    codes = codes.reshape(side, side)
    edge = np.zeros((side, side))
    edge[1:] += codes[1:] != codes[:-1]
    edge[:, 1:] += codes[:, 1:] != codes[:, :-1]
    lines = np.zeros((side, side, 4))  # black where the pattern changes, clear elsewhere
    lines[..., 3] = edge > 0
    ax.imshow(lines, extent=(-3, 3, -3, 3), origin="lower", interpolation="nearest")
    layers_said = f"{depth} layer{'s' * (depth > 1)}"
    ax.set(xlabel="x₁", ylabel="x₂", title=f"{width * depth} units, {layers_said}: {count} regions")
    ax.grid(False)
    return fig, (
        f"{depth} layer{'s' * (depth > 1)} of {width} units, drawn at random: at least {count} regions on this square. "
        f"The ceiling is {bound}; for the same units in one layer it is {one}."
    )


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
    right.tick_params(labelsize=7)
    right.view_init(22, -60)
    gap = z[y == 0].min()
    return fig, (
        f"Left: a disc inside a ring. Right: lifted by φ, all points of the disc lie at least {gap:.2f} "
        "above the plane z = 0, all points of the ring on it."
    )


# ---------------------------------------------------------------- digits


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
    left.set(ylim=(80, 100), ylabel="held-out accuracy (%)", title="About equally good")
    right.plot(place, [row["units"] for row in rows], "k_", markersize=26, label="hidden units")
    right.plot(place, [row["pieces"][0] for row in rows], "o", color=ORANGE, label="at the start")
    right.plot(place, [row["pieces"][1] for row in rows], "^", color=VERMILION, label="trained")
    few = all(max(row["pieces"]) < row["units"] for row in rows)
    right.set(ylabel="pieces between two digits", ylim=(0, None))
    right.set_title("Fewer pieces than units" if few else "More pieces than units")
    right.legend(fontsize=9)
    for ax in (left, right):
        ax.set_xticks(place, [row["name"] for row in rows], fontsize=9)
        ax.set_xlim(-0.6, len(rows) - 0.4)
    accuracies = [row["accuracy"] for row in rows]
    near = "within" if max(accuracies) - min(accuracies) < 0.05 else "not within"
    return fig, (
        f"The held-out accuracies of {len(rows)} networks are {near} five per cent of each other. "
        "Along a line between two digits "
        f"{'every network has fewer' if few else 'some network has more'} pieces than hidden units."
    )

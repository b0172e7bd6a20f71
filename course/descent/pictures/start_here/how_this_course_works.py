"""What the first notebook draws. Functions of numbers: what is learned or written by the student is handed in."""

import sys
from functools import cache
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np

from descent import data
from descent.plots import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    SKY,
    VERMILION,
    contours,
    decision_regions,
    fixed_axes,
    grouped_bars,
    image_grid,
    light,
    path,
)
from descent.words import say

NEEDED = {"numpy": 2, "torch": 2, "matplotlib": 3, "ipywidgets": 8, "scikit-learn": 1}


def ready() -> str:
    """Whether this machine has what the course needs, in a sentence."""
    old = [name for name, least in NEEDED.items() if int(version(name).split(".")[0]) < least]
    old += ["python"] * (sys.version_info < (3, 11))
    if old:
        return f"Too old: {', '.join(old)}. Run `pip install -e .` in the folder of index.ipynb."
    return "All is here. You are ready."


# --- digits ------------------------------------------------------------------------------------


def dealt(y, seen):
    """Labels of which those of `seen` are dealt out anew among themselves, at random."""
    anew = y.copy()
    anew[seen] = np.random.default_rng(10).permutation(y[seen])
    return anew


def _shares(rows, names, X, y, parts):
    """Of each part of X, the share that the nearest of `rows` gives the right name."""
    told = []
    for part in parts:
        far = (rows * rows).sum(1) - 2 * X[part] @ rows.T
        told.append(float(np.mean(names[far.argmin(1)] == y[part])))
    return told


def by_heart(X, y, order, n=300):
    """Shares right on the first n of `order`, whose rows are kept, and on the others; labels y."""
    seen, new = order[:n], order[n:]
    return _shares(X[seen], y[seen], X, y, (seen, new))


def ten_averages(X, y, order, n=300):
    """The same where only the average of each digit is kept."""
    seen, new = order[:n], order[n:]
    means = np.array([X[seen][y[seen] == digit].mean(0) for digit in range(10)])
    return _shares(means, np.arange(10), X, y, (seen, new))


LOOKS = [("pictures that were shown", SKY, ""), ("new pictures", ORANGE, "//")]


def _reading(shares: dict, title: str, width: float):
    """Bars of (share on seen, share on new) by name -> figure."""
    fig, ax = plt.subplots(figsize=(width, 3.3))
    bars = grouped_bars(
        list(shares), 100 * np.array(list(shares.values())).T, ax, looks=LOOKS, step=0.4
    )
    for bar in bars:
        ax.bar_label(bar, fmt="%.0f", padding=2)
    ax.axhline(10, color=BLACK, linestyle=":", linewidth=1, label="a blind guess")
    ax.set(ylabel="names that are right (of 100)", ylim=(0, 112), title=title)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return fig


def draw_puzzle(X, y, order):
    """A and B on the 300 pictures that they were shown, and on the others."""
    shares = {
        "program A": by_heart(X, y, order),
        "program B": by_heart(X, dealt(y, order[:300]), order),
    }
    fig = _reading(shares, "Both know what they were shown; only A can read", 6.8)
    (a, a_new), (b, b_new) = shares.values()
    told = (
        "Right of 300 pictures that were shown: A {a:.0%}, B {b:.0%}. Of 300 new ones: A "
        "{a_new:.0%}, B {b_new:.0%}."
    )
    return fig, say(told, a=a, b=b, a_new=a_new, b_new=b_new)


def draw_ghosts(ghosts):
    """The average picture (64,) of each digit, 0 to 9."""
    images = np.reshape(np.array(ghosts), (-1, 8, 8))
    fig = image_grid(images, columns=10, titles=[f"all {k}s" for k in range(10)], limits=(0, 16))
    dark = images.reshape(len(images), -1).mean(1)
    told = (
        "Ten blurred digits, each the average of all its pictures. Darkest on the whole "
        "is {k}, of mean grey {grey:.1f}."
    )
    return fig, say(told, k=int(dark.argmax()), grey=dark.max())


def draw_pairs(pictures, alike, names, guesses):
    """New pictures (n, 64), under each the one that it is most like."""
    shown = np.concatenate([pictures, alike]).reshape(-1, 8, 8)
    titles = [f"a new {k}" for k in names] + [f"like this {k}" for k in guesses]
    fig = image_grid(shown, columns=len(names), titles=titles, size=0.95, limits=(0, 16))
    right = int(np.sum(np.asarray(names) == guesses))
    told = (
        "{n} new digits, under each the seen picture that it is most like: {right} have "
        "the same name."
    )
    return fig, say(told, n=len(names), right=right)


def draw_experience(sizes, shares: dict):
    """Mistakes of readers over the number of pictures seen. shares: name -> (seen, new) for each size."""
    fig, ax = plt.subplots(figsize=(6.8, 3.5))
    for (name, pairs), color, marker in zip(shares.items(), (BLUE, VERMILION), "os", strict=True):
        seen, new = 100 * (1 - np.array(pairs).T)
        ax.plot(sizes, new, marker + "-", color=color, label=f"{name}, new pictures")
        ax.plot(sizes, seen, marker + ":", color=color, alpha=0.6, label=f"{name}, seen ones")
    ax.set(xscale="log", xlabel="pictures seen", ylabel="mistakes (of 100)")
    ax.set(ylim=(-3, 75), title="Experience helps on new pictures; seen ones tell little")
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.legend()
    few, many = ({name: 1 - pairs[k][1] for name, pairs in shares.items()} for k in (0, -1))
    told = "Mistakes on new pictures, after {n} and after {m} pictures seen: " + ", ".join(
        f"{name} {{few{k}:.0%}} and {{many{k}:.0%}}" for k, name in enumerate(shares)
    )
    facts = {f"few{k}": v for k, v in enumerate(few.values())}
    facts |= {f"many{k}": v for k, v in enumerate(many.values())}
    return fig, say(told + ".", n=sizes[0], m=sizes[-1], **facts)


def draw_verdict(results: dict):
    """(share on seen, share on new) of each reader, by "reader, names"."""
    shares = {name.replace(", ", ",\n"): pair for name, pair in results.items()}
    fig = _reading(shares, "Learning by heart proves nothing: it works for nonsense, too", 8.6)
    told = "; ".join(
        f"{name}: {{seen{k}:.0%}} and {{new{k}:.0%}}" for k, name in enumerate(results)
    )
    facts = {f"seen{k}": pair[0] for k, pair in enumerate(results.values())}
    facts |= {f"new{k}": pair[1] for k, pair in enumerate(results.values())}
    return fig, say("Right of seen and of new pictures. " + told + ".", **facts)


def draw_centres(centres, groups, names):
    """Ten centres (64,) found without labels; above each the digit that is most frequent in its group."""
    most = [np.bincount(names[groups == k], minlength=10) for k in range(len(centres))]
    titles = [f"{counts.max()} of {counts.sum()}: {counts.argmax()}" for counts in most]
    fig = image_grid(centres.reshape(-1, 8, 8), columns=10, titles=titles, limits=(0, 16))
    found = len({int(counts.argmax()) for counts in most})
    share = sum(int(counts.max()) for counts in most) / len(names)
    told = (
        "Ten centres found without a label. {share:.0%} of the pictures have the name "
        "most frequent in their group; {found} of the ten digits name a group."
    )
    return fig, say(told, share=share, found=found)


# --- knobs -------------------------------------------------------------------------------------


@cache
def flowers():
    """150 iris flowers: petal length minus 4 cm, petal width in cm, species 0 to 2."""
    table = data.iris()
    return table.X[:, 2] - 4, table.X[:, 3], table.y


def risks(knobs):
    """Mean squared error of the lines w x + b on the flowers. knobs (m, 2): w, b -> (m,)."""
    x, y, _ = flowers()
    w, b = np.asarray(knobs, float).T[:, :, None]
    return ((y - w * x - b) ** 2).mean(1)


W_RANGE, B_RANGE = (-0.6, 1.2), (0.0, 2.4)


def _map(ax, points=60):
    contours(risks, ax, W_RANGE, B_RANGE, points=points, log=True, levels=12)
    ax.set(xlabel="slope w", ylabel="height b")


def draw_knobs(w, b):
    """Left the flowers and the line w x + b, right where (w, b) stands on the map of the average loss."""
    x, y, _ = flowers()
    fig, (left, right) = fixed_axes(2, (8.4, 3.6), (0.08, 0.98, 0.16, 0.88), wspace=0.25)
    left.plot(x, y, "o", color=BLACK, markersize=3, alpha=0.4)
    left.vlines(x, y, w * x + b, color=VERMILION, linewidth=0.5)
    ends = np.array([-3.2, 3.2])
    left.plot(ends, w * ends + b, color=BLUE)
    left.set(
        xlabel="petal length − 4 (cm)", ylabel="petal width (cm)", xlim=(-3.2, 3.2), ylim=(-1, 3.2)
    )
    light(left, "The line, and its errors", [-2, 0, 2], [0, 1, 2, 3])
    _map(right, 40)
    right.plot(w, b, "o", color=VERMILION, markersize=9, markeredgecolor="white")
    right.set_gid("knobs")
    risk = float(risks([(w, b)])[0])
    light(right, f"Average loss {risk:.3f}", [-0.5, 0, 0.5, 1], [0, 1, 2])
    best = float(risks([np.polyfit(x, y, 1)])[0])
    told = "w = {w:.2f}, b = {b:.2f}: average loss {risk:.3f}. "
    more = "No line does better." if risk - best < 0.001 else "The best line would save {gap:.3f}."
    if risk - best < 0.001:
        return fig, say(told + more, w=w, b=b, risk=risk)
    return fig, say(told + more, w=w, b=b, risk=risk, gap=risk - best)


def draw_walk(walk):
    """Where (w, b) stood after each round, on the map of the average loss, and the loss by rounds."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.5))
    _map(left)
    path(walk, left)
    told = risks(walk)
    left.set_title("Each round tries both knobs")
    right.plot(np.arange(len(walk)), told, "o-", markersize=3, color=VERMILION)
    right.set(xlabel="rounds", ylabel="average loss", yscale="log")
    right.set_title(f"From {told[0]:.2f} to {told[-1]:.3f}")
    words = (
        "In {n} rounds (w, b) goes from ({w0:.2f}, {b0:.2f}) to ({w:.2f}, {b:.2f}), and "
        "the average loss falls from {first:.2f} to {last:.3f}."
    )
    (w0, b0), (w, b) = walk[0], walk[-1]
    facts = dict(n=len(walk) - 1, w0=w0, b0=b0, w=w, b=b, first=told[0], last=told[-1])
    return fig, say(words, **facts)


def draw_border(petals, labels, theta):
    """Two species and the line where theta[0] x1 + theta[1] x2 + theta[2] is 0; above it, virginica."""
    fig, ax = plt.subplots(figsize=(6.2, 3.4))

    def says(X):
        return (X @ theta[:2] + theta[2] > 0).astype(int)

    decision_regions(says, petals, labels, ax)
    wrong = says(petals) != labels
    ax.plot(*petals[wrong].T, "o", color=BLACK, markersize=9, fillstyle="none", label="named wrong")
    right = int(np.sum(~wrong))
    ax.set(xlabel="petal length − 4 (cm)", ylabel="petal width (cm)")
    ax.set_title(f"The same loop, for a name: {right} of {len(labels)} right")
    handles, _ = ax.get_legend_handles_labels()
    ax.legend(handles, ["versicolor", "virginica", "named wrong"], loc="upper left")
    told = "A line between two species of iris names {right} of {n} flowers right."
    return fig, say(told, right=right, n=len(labels))


def draw_programs(answers: dict, corners, tables: dict):
    """Regions where each trained program says 1. answers: name -> function (m, 2) -> (m,) truth values."""
    fig, axes = plt.subplots(1, len(answers), figsize=(7.4, 3.5))
    for ax, (name, answer) in zip(axes, answers.items(), strict=True):
        decision_regions(
            lambda x, answer=answer: answer(x).astype(int), corners, tables[name], ax, points=40
        )
        for line in ax.lines:
            line.set_markersize(10)
        ax.set(xlabel="x₁", ylabel="x₂", title=f"Trained on {name}")
    axes[0].legend(["says 0", "says 1"], loc="center left")
    right = {name: int(np.sum(answer(corners) == tables[name])) for name, answer in answers.items()}
    told = ", ".join(f"{name} {{{name}}}" for name in right)
    return fig, say(f"Corners that the trained program gets right: {told}.", **right)


# --- a timeline --------------------------------------------------------------------------------

BOOMS = [
    ("search (chess)", 1950, 1979),
    ("expert systems", 1980, 1999),
    ("deep learning", 2012, 2026),
]
EVENTS = {"McCarthy's proposal": 1955, "perceptron": 1957, "deep networks win": 2012}


def draw_timeline():
    """The three booms of artificial intelligence as bars, three events above them."""
    fig, ax = plt.subplots(figsize=(7.6, 2.6))
    for row, (name, first, last) in enumerate(BOOMS):
        color = (SKY, ORANGE, GREEN)[row]
        ax.barh(row, last - first + 1, left=first, height=0.55, color=color)
        ax.text(first + 1, row, name, va="center", color=BLACK)
    for row, (name, year) in enumerate(EVENTS.items()):
        height = 2.9 + 0.5 * (row % 2)
        ax.plot(year, height, "v", color=BLACK)
        ax.text(year + 1, height, f"{year} {name}", va="center", fontsize=9)
    title = f"Three booms since {BOOMS[0][1]}"
    ax.set(xlabel="year", yticks=[], xlim=(1948, 2032), ylim=(-0.5, 3.9), title=title)
    ax.grid(axis="y", visible=False)
    booms = "; ".join(f"{name}: {first} to {last}" for name, first, last in BOOMS)
    return fig, f"{booms}. " + "; ".join(f"{year} {name}" for name, year in EVENTS.items()) + "."


# --- capacity: likelihood on seen and unseen data ----------------------------------------------


@cache
def wave(n: int, seed: int):
    """n examples of y = sin(3x) + noise of standard deviation 0.3, x uniform on [-1, 1] -> x (n,), y (n,)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, np.sin(3 * x) + 0.3 * rng.normal(size=n)


def _features(degree, x):
    return np.polynomial.legendre.legvander(x, degree)  # polynomials of degree 0, 1, …


@cache
def mle_fit(degree: int, n: int):
    """Coefficients and noise variance of largest likelihood, on n examples of the wave."""
    x, y = wave(n, 6)
    c = np.linalg.lstsq(_features(degree, x), y, rcond=None)[0]
    return c, float(np.mean((y - _features(degree, x) @ c) ** 2))


def log_likelihood(c, variance: float, x, y) -> float:
    """Mean over the examples, for coefficients c of a polynomial and normal noise."""
    error = y - _features(len(c) - 1, x) @ c
    return float(np.mean(-0.5 * np.log(2 * np.pi * variance) - error**2 / (2 * variance)))


def scores_at_the_fit(n: int, degrees) -> list[float]:
    """For each degree the largest slope of the log-likelihood by a coefficient or the variance, by nudges."""
    x, y = wave(n, 6)
    told = []
    for degree in degrees:
        c, variance = mle_fit(degree, n)
        nudges = [(h, 0.0) for h in 1e-5 * np.eye(len(c))] + [(0 * c, 1e-5 * variance)]
        ends = [
            [log_likelihood(c + sign * h, variance + sign * v, x, y) for sign in (1, -1)]
            for h, v in nudges
        ]
        told.append(max(abs(up - down) / 2e-5 for up, down in ends))
    return told


def draw_capacity(degree: int, n: int):
    """The fit of one degree on n examples, and the log-likelihood of all degrees on these and on 1000 new ones."""
    fig, (left, right) = fixed_axes(2, (8.6, 3.5), (0.08, 0.98, 0.16, 0.88), wspace=0.25)
    (x, y), new = wave(n, 6), wave(1000, 1006)
    grid = np.linspace(-1, 1, 161)
    left.plot(grid, np.sin(3 * grid), color=BLACK, linestyle="--", label="truth")
    left.plot(grid, _features(degree, grid) @ mle_fit(degree, n)[0], color=BLUE, label="fit")
    left.plot(x, y, "o", color=VERMILION, markersize=4, label=f"{n} examples")
    left.set(xlabel="x", ylabel="y", ylim=(-2.2, 2.2), title=f"Degree {degree}")
    left.legend(loc="upper left")
    degrees, floor = np.arange(10), -6.0
    models = [mle_fit(int(k), n) for k in degrees]
    seen = np.array([log_likelihood(*model, x, y) for model in models])
    unseen = np.array([log_likelihood(*model, *new) for model in models])
    right.plot(degrees, seen, "o-", color=BLUE, label="the examples")
    right.plot(degrees, np.maximum(unseen, floor), "s--", color=VERMILION, label="1000 new ones")
    low = unseen < floor
    below = np.full(low.sum(), floor)
    if low.any():
        right.plot(degrees[low], below, "v", color=VERMILION, markersize=10, label="below the axis")
    right.axvline(degree, color=GREEN, linewidth=1, linestyle=":")
    right.set(xlabel="degree of the polynomial", ylabel="log-likelihood of an example")
    right.set(ylim=(floor - 0.4, 1.2), title=f"On new data degree {unseen.argmax()} is best")
    right.legend(loc="lower left")
    told = (
        "Degree {degree}, {n} examples: log-likelihood {seen:.2f} an example on these, "
        "{new:.2f} on new ones. Best on these: degree {top}, on new ones: degree {best}."
    )
    facts = dict(seen=seen[degree], new=unseen[degree], top=seen.argmax(), best=unseen.argmax())
    return fig, say(told, degree=degree, n=n, **facts)


# --- a program of a few nodes ------------------------------------------------------------------

INPUTS = {"y": ["h1", "h2"], "h2": ["s"], "h1": ["s"], "s": ["x1", "x2"], "x2": [], "x1": []}
STEPS = {  # node -> weights of its inputs, bias, whether max(…, 0) follows
    "s": ([1.0, 1.0], 0.0, False),
    "h1": ([1.0], 0.0, True),
    "h2": ([1.0], -1.0, True),
    "y": ([1.0, -2.0], 0.0, False),
}
PLACES = {"x1": (0, 1), "x2": (0, 0), "s": (1, 0.5), "h1": (2, 1), "h2": (2, 0), "y": (3, 0.5)}
TEXTS = {"x1": "x₁", "x2": "x₂", "s": "s = x₁ + x₂", "h1": "h₁ = max(s, 0)"}
TEXTS |= {"h2": "h₂ = max(s − 1, 0)", "y": "y = h₁ − 2 h₂"}


def draw_graph(value: dict, slope: dict):
    """The graph with a value in each node and below it the slope of y; beside it the square of inputs."""
    fig, (ax, square) = fixed_axes(
        2, (8.8, 3.3), (0.01, 0.98, 0.17, 0.88), wspace=0.15, width_ratios=[2.6, 1]
    )
    for node, inputs in INPUTS.items():
        for one in inputs:
            arrow = {"arrowstyle": "-|>", "color": "#777777", "shrinkA": 19, "shrinkB": 19}
            ax.annotate("", PLACES[node], PLACES[one], arrowprops=arrow)
    for node, (x, y) in PLACES.items():
        color = ORANGE if value[node] > 0 else "#E8E8E8"
        ax.plot(x, y, "o", markersize=34, color=color, markeredgecolor=BLACK)
        ax.text(x, y, f"{value[node]:.2f}", ha="center", va="center", color=BLACK)
        ax.text(x, y + 0.27, TEXTS[node], ha="center", va="bottom", fontsize=10)
        told = f"slope {slope[node]:g}".replace("-", "−")
        ax.text(x, y - 0.28, told, ha="center", va="top", fontsize=9)
    ax.set(xlim=(-0.5, 3.5), ylim=(-0.55, 1.55))
    ax.axis("off")
    light(ax, "Values forward, slopes of y backward")
    square.plot([0, 1], [1, 0], color=BLACK, linestyle=":", linewidth=1)
    square.plot(value["x1"], value["x2"], "o", color=VERMILION, markersize=9)
    square.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06), xlabel="x₁", ylabel="x₂")
    square.set_gid("inputs")
    light(square, f"y = {value['y']:.2f}".replace("-", "−"), [0, 1], [0, 1])
    told = "x₁ = {x1:.2f}, x₂ = {x2:.2f}: s = {s:.2f}, h₁ = {h1:.2f}, h₂ = {h2:.2f}, y = {y:.2f}. "
    s, facts = value["s"], {node: value[node] for node in PLACES}
    if min(abs(s), abs(s - 1)) > 1e-9:
        more = "Raising x₁ a little changes y by {slope:g} times as much."
        return fig, say(told + more, slope=slope["x1"], **facts)
    left, right = (0, 1) if abs(s) < 1e-9 else (1, -1)
    more = "Here y has a kink: slope {left} on the left, {right} on the right."
    return fig, say(told + more, left=left, right=right, **facts)

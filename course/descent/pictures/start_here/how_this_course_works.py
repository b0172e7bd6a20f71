"""What the first notebook draws: figures of its text, and the widgets (a line moved by hand, capacity, a program with
live values). Functions of numbers: what is learned or written by the student is handed in."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, decision_regions


def _panels(count: int, width: float, height: float, **options):
    """Axes side by side at fixed places: a widget redraws twice as fast without the search for a layout."""
    fig, axes = plt.subplots(1, count, figsize=(width, height), layout="none", **options)
    fig.subplots_adjust(left=0.62 / width, right=1 - 0.1 / width, wspace=0.3)
    fig.subplots_adjust(bottom=0.54 / height, top=1 - 0.34 / height)
    return fig, axes


# --- figures of the text ---------------------------------------------------------------------------------------


def draw_experience(sizes, mistakes, n_test: int):
    """Share of mistakes on n_test new digits over the number of examples seen, both on logarithmic axes."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    ax.loglog(sizes, 100 * np.asarray(mistakes), "o-")
    title = f"From {mistakes[0]:.0%} mistakes to {mistakes[-1]:.0%}, by experience alone"
    ax.set(
        xlabel="labelled examples seen",
        ylabel="mistakes on new digits (%)",
        title=title,
        ylim=(1, 100),
    )
    ax.set_xticks(sizes, sizes)
    ax.set_yticks([1, 3, 10, 30, 100], [1, 3, 10, 30, 100])
    ax.minorticks_off()
    return fig, (
        f"Mistakes on {n_test} new handwritten digits fall from {mistakes[0]:.0%} after {sizes[0]} examples "
        f"to {mistakes[-1]:.1%} after {sizes[-1]}."
    )


BOOMS = [
    ("search (chess)", 1950, 1979),
    ("expert systems", 1980, 1999),
    ("deep learning", 2012, 2026),
]
EVENTS = [(1955, "McCarthy's proposal"), (1957, "perceptron"), (2012, "deep networks win")]


def draw_timeline():
    """The three booms of artificial intelligence as bars, three events above them."""
    fig, ax = plt.subplots(figsize=(7.6, 2.6))
    for row, (name, first, last) in enumerate(BOOMS):
        ax.barh(row, last - first + 1, left=first, height=0.55, color=(SKY, ORANGE, GREEN)[row])
        ax.text(first + 1, row, name, va="center")
    for row, (year, name) in enumerate(EVENTS):
        height = 2.9 + 0.5 * (row % 2)
        ax.plot(year, height, "v", color=BLACK)
        ax.text(year + 1, height, f"{year} {name}", va="center", fontsize=9)
    title = f"Three booms since {BOOMS[0][1]}"
    ax.set(xlabel="year", yticks=[], xlim=(1948, 2032), ylim=(-0.5, 3.9), title=title)
    ax.grid(axis="y", visible=False)
    booms = "; ".join(f"{name}: {first} to {last}" for name, first, last in BOOMS)
    return fig, f"{booms}. " + "; ".join(f"{year} {name}" for year, name in EVENTS) + "."


def draw_scores(scores: dict[str, float]):
    """Accuracies (0 to 1) as horizontal bars with their numbers."""
    fig, ax = plt.subplots(figsize=(6.4, 2.6))
    bars = ax.barh(list(scores), [100 * s for s in scores.values()])
    ax.bar_label(bars, fmt="%.0f%%", padding=3)
    ax.set(
        xlabel="accuracy on new digits (%)", xlim=(0, 112), title=f"One loop, {len(scores)} models"
    )
    ax.grid(axis="y", visible=False)
    return fig, ", ".join(f"{name} {score:.0%}" for name, score in scores.items()) + "."


def draw_two_tasks(regressor, patients, classifier, flowers):
    """Fit and draw one model for a quantity (body mass index -> progression), one for a name (petals -> species)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.8, 3.5))
    x = patients.X[:, [patients.names.index("bmi")]]
    grid = np.linspace(x.min(), x.max(), 50)[:, None]
    left.plot(x, patients.y, "o", markersize=3, alpha=0.4)
    left.plot(grid, regressor.fit(x, patients.y).predict(grid), color=VERMILION)
    left.set(xlabel="body mass index (centred, scaled)", ylabel="disease progression (score)")
    left.set_title("Regression: a quantity")
    petals = flowers.X[:, 2:]
    decision_regions(classifier.fit(petals, flowers.y).predict, petals, flowers.y, right)
    right.set(xlabel="petal length (cm)", ylabel="petal width (cm)", title="Classification: a name")
    right.legend(loc="upper left")
    return fig, (
        f"Left: a line through {len(x)} patients. Right: the plane of petal length and width, cut into "
        f"{len(np.unique(flowers.y))} regions, one a species, with {len(petals)} flowers."
    )


def draw_programs(answers: dict, corners, tables: dict):
    """Regions where each trained program says 1. answers: name -> function (m, 2) -> (m,) truth values."""
    fig, axes = plt.subplots(1, len(answers), figsize=(8, 3.6))
    for ax, (name, answer) in zip(axes, answers.items(), strict=True):
        decision_regions(lambda x, answer=answer: answer(x).astype(int), corners, tables[name], ax)
        for line in ax.lines:
            line.set_markersize(10)
        ax.set(xlabel="x1", ylabel="x2", title=f"Trained on {name}")
    axes[0].legend(loc="center left")
    right = {name: int(np.sum(answer(corners) == tables[name])) for name, answer in answers.items()}
    return fig, ", ".join(
        f"{name}: {n} of {len(corners)} corners right" for name, n in right.items()
    ) + "."


def draw_messages(image, label: int, hidden, scores):
    """An image (64,), the hidden vector and the ten scores that a network makes of it."""
    best, on = int(np.argmax(scores)), int(np.count_nonzero(hidden))
    fig, axes = _panels(3, 8.8, 2.8, width_ratios=[1, 1.6, 1.3])
    axes[0].imshow(np.reshape(image, (8, 8)), cmap="gray_r")
    axes[0].set(title=f"x: a {label}", xticks=[], yticks=[])
    axes[1].bar(range(len(hidden)), hidden, color=ORANGE)
    axes[1].set(xlabel="hidden unit", ylabel="value", title=f"h: {on} of {len(hidden)} are on")
    bars = axes[2].bar(range(10), scores, color=BLUE)
    bars[best].set(color=VERMILION, hatch="//", edgecolor=BLACK)
    axes[2].set(xlabel="digit", ylabel="score", xticks=range(10), title=f"Highest score: {best}")
    words = f"An image of a {label}: {on} of {len(hidden)} hidden units are on, the highest score is that of {best}."
    return fig, words


def draw_units(hidden, labels):
    """Share of the images of each digit that switch on each hidden unit. hidden (n, units), labels (n,)."""
    shares = np.array([np.mean(hidden[labels == digit] > 0, axis=0) for digit in range(10)])
    fig, ax = plt.subplots(figsize=(7, 3.7))
    picture = ax.imshow(100 * shares, vmin=0, vmax=100, aspect="auto")
    fig.colorbar(picture, label="images that switch it on (%)")
    ax.set(xlabel="hidden unit", ylabel="digit", xticks=range(hidden.shape[1]), yticks=range(10))
    ax.grid(False)
    contrast = np.ptp(shares, axis=0)
    unit = int(contrast.argmax())
    most, least = int(shares[:, unit].argmax()), int(shares[:, unit].argmin())
    idle = int(np.sum(shares.max(0) == 0))
    ax.set_title(f"Unit {unit} answers to {most}, not to {least}; {idle} units never speak")
    return fig, (
        f"Unit {unit} is on for {shares[most, unit]:.0%} of the {most}s and {shares[least, unit]:.0%} of the {least}s. "
        f"{idle} of {hidden.shape[1]} units are on for no image."
    )


# --- a line moved by hand --------------------------------------------------------------------------------------

LINE_X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
LINE_Y = np.array([1.4, 1.2, 2.9, 2.7, 4.1])


def line_losses(w: float) -> list[float]:
    """Squared errors of the line y = w x on the five points."""
    return [float(e) for e in (LINE_Y - w * LINE_X) ** 2]


def best_slope() -> float:
    """The w whose average squared error is smallest."""
    return float(LINE_X @ LINE_Y / (LINE_X @ LINE_X))


def draw_line(average, w: float):
    """Five points with the line y = w x and its errors; beside it the average loss over w. average: the student's."""
    fig, (left, right) = _panels(2, 8.4, 3.4)
    left.vlines(LINE_X, LINE_Y, w * LINE_X, color=VERMILION, linestyle=":", label="errors")
    left.plot([0, 5.4], [0, 5.4 * w], color=BLUE, label=f"y = {w:.2f} x")
    left.plot(LINE_X, LINE_Y, "o", color=BLACK, label="examples")
    left.set(xlabel="x", ylabel="y", xlim=(0, 5.5), ylim=(-1, 7), title="You choose the slope w")
    left.legend(loc="upper left")
    slopes = np.linspace(-0.2, 1.6, 46)
    risks = [average(line_losses(v)) for v in slopes]
    risk = float(average(line_losses(w)))
    right.plot(slopes, risks, color=BLUE)
    right.plot(w, risk, "s", color=VERMILION, markersize=8)
    right.set(xlabel="slope w", ylabel="average squared error", title=f"Average loss {risk:.2f}")
    gap = risk - float(average(line_losses(best_slope())))
    verdict = "No slope does better." if gap < 0.001 else f"The best slope would save {gap:.2f}."
    return fig, f"With w = {w:.2f} the average squared error is {risk:.2f}. {verdict}"


# --- capacity: likelihood on seen and unseen data --------------------------------------------------------------


def wave(n: int, seed: int):
    """n examples of y = sin(3x) + noise of standard deviation 0.3, x uniform on [-1, 1] -> x (n,), y (n,)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return x, np.sin(3 * x) + 0.3 * rng.normal(size=n)


def log_likelihoods(fit, log_p, n: int, degrees=range(10), seed: int = 6):
    """Average log-likelihood of each degree on n training and 1000 held-out examples -> two arrays.

    fit(degree, x, y) -> model; log_p(model, x, y) -> (n,) log densities.
    """
    x, y = wave(n, seed)
    x_new, y_new = wave(1000, seed + 1000)
    models = [fit(degree, x, y) for degree in degrees]
    return (
        np.array([np.mean(log_p(m, x, y)) for m in models]),
        np.array([np.mean(log_p(m, x_new, y_new)) for m in models]),
    )


def draw_capacity(fit, log_p, mean, degree: int, n: int):
    """The fit of one degree on n examples, and the log-likelihood of all degrees. mean(model, x) -> (n,)."""
    fig, (left, right) = _panels(2, 8.8, 3.5)
    x, y = wave(n, 6)
    grid = np.linspace(-1, 1, 161)
    left.plot(grid, np.sin(3 * grid), color=BLACK, linestyle="--", label="truth")
    left.plot(grid, mean(fit(degree, x, y), grid), color=BLUE, label="fit")
    left.plot(x, y, "o", color=VERMILION, markersize=4, label=f"{n} examples")
    left.set(xlabel="x", ylabel="y", ylim=(-2.2, 2.2), title=f"Degree {degree}")
    left.legend(loc="upper left")
    train, new = log_likelihoods(fit, log_p, n)
    degrees, floor = np.arange(len(train)), -6.0
    right.plot(degrees, train, "o-", color=BLUE, label="training data")
    right.plot(degrees, np.maximum(new, floor), "s--", color=VERMILION, label="1000 new examples")
    low = new < floor
    if low.any():
        right.plot(
            degrees[low],
            np.full(low.sum(), floor),
            "v",
            color=VERMILION,
            markersize=10,
            label="below the axis",
        )
    right.axvline(degree, color=GREEN, linewidth=1, linestyle=":")
    right.set(
        xlabel="degree of the polynomial",
        ylabel="log-likelihood of an example",
        ylim=(floor - 0.4, 1.2),
    )
    right.set_title(f"On new data degree {new.argmax()} is best")
    right.legend(loc="lower left")
    words = (
        f"Degree {degree}, {n} examples: log-likelihood {train[degree]:.2f} an example on the training data, "
        f"{new[degree]:.2f} on new data. Best on training data: degree {train.argmax()}, "
        f"on new data: degree {new.argmax()}."
    )
    return fig, words


# --- a program of a few nodes ----------------------------------------------------------------------------------


def relu(z):
    return np.maximum(z, 0.0)


def identity(z):
    return z


XOR_INPUTS = {
    "y": ["h1", "h2"],
    "h2": ["s"],
    "h1": ["s"],
    "s": ["x1", "x2"],
    "x2": [],
    "x1": [],
}
XOR_STEPS = {  # node -> weights of its inputs, bias, activation
    "s": ([1.0, 1.0], 0.0, identity),
    "h1": ([1.0], 0.0, relu),
    "h2": ([1.0], -1.0, relu),
    "y": ([1.0, -2.0], 0.0, identity),
}
_PLACES = {"x1": (0, 1), "x2": (0, 0), "s": (1, 0.5), "h1": (2, 1), "h2": (2, 0), "y": (3, 0.5)}
_TEXTS = {
    "x1": "x1",
    "x2": "x2",
    "s": "s = x1 + x2",
    "h1": "h1 = relu(s)",
    "h2": "h2 = relu(s − 1)",
    "y": "y = h1 − 2 h2",
}


def draw_program(value: dict, adjoint: dict):
    """The graph of the XOR program: values forward, derivatives of y backward, written at the nodes."""
    fig, ax = _panels(1, 8.4, 3.2)
    for node, inputs in XOR_INPUTS.items():
        for one in inputs:
            ax.annotate(
                "", _PLACES[node], _PLACES[one],
                arrowprops={"arrowstyle": "-|>", "color": "#777777", "shrinkA": 20, "shrinkB": 20},
            )  # fmt: skip
    for node, (x, y) in _PLACES.items():
        on = value[node] > 0
        ax.plot(x, y, "o", markersize=36, color=ORANGE if on else "#E8E8E8", markeredgecolor=BLACK)
        ax.text(x, y, f"{value[node]:.2f}", ha="center", va="center")
        ax.text(x, y + 0.29, _TEXTS[node], ha="center", va="bottom", fontsize=10)
        slope = f"dy/d{node} = {adjoint[node]:g}".replace("-", "−")
        ax.text(x, y - 0.29, slope, ha="center", va="top", fontsize=9, color=BLUE)
    ax.set(xlim=(-0.45, 3.45), ylim=(-0.55, 1.6))
    ax.set_title(f"x1 = {value['x1']:.2f}, x2 = {value['x2']:.2f} gives y = {value['y']:.2f}")
    ax.axis("off")
    words = (
        f"x1 = {value['x1']:.2f}, x2 = {value['x2']:.2f}: s = {value['s']:.2f}, h1 = {value['h1']:.2f}, "
        f"h2 = {value['h2']:.2f}, y = {value['y']:.2f}. "
        f"{_slope_words(value['s'], adjoint['x1'])}"
    )
    return fig, words


def _slope_words(s: float, slope: float) -> str:
    """What a small change of x1 does to y = relu(s) - 2 relu(s - 1), at its kinks on either side."""
    if min(abs(s), abs(s - 1)) > 1e-9:
        return f"Raising x1 a little changes y by {slope:g} times as much."
    left, right = (0, 1) if abs(s) < 1e-9 else (1, -1)
    return (
        f"Here y has a kink: its slope is {left} on the left and {right} on the right. "
        "The backward pass takes the one on the left."
    )

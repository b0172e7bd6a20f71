"""Pictures of the network project: rounded weights, a message of 140 bytes, what was misread."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np

from descent import data
from descent.plots import BLACK, BLUE, ORANGE, PINK, VERMILION
from descent.words import say, typeset

MESSAGE = 140  # bytes of one text message


def house_numbers():
    """Last digits of house numbers -> X (1797, 64) from 0 to 1, even or odd (1797,), digits (1797,)."""
    table = data.digits()
    return table.X / 16, table.y % 2, table.y


def split():
    """Rows to learn from (1000), to try (397), locked away (400)."""
    return np.split(np.random.default_rng(8).permutation(1797), [1000, 1397])


@cache
def colleagues():
    """By name, [(W (out, in), b (out,)), …] with one score, above 0 for odd: a straight line and a large network."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    X, odd, _ = house_numbers()
    rows = split()[0]
    line = LogisticRegression(max_iter=1000).fit(X[rows], odd[rows])
    look = dict(alpha=0.01, learning_rate_init=0.01, max_iter=400, random_state=0)
    net = MLPClassifier((32,), **look).fit(X[rows], odd[rows])
    layers = zip(net.coefs_, net.intercepts_, strict=True)
    return {
        "the line": [(line.coef_, line.intercept_)],
        "the network": [(W.T, b) for W, b in layers],
    }


def says_odd(layers, X):
    """0 (even) or 1 (odd) for each row, by a colleague's layers."""
    for number, (W, b) in enumerate(layers):
        X = (X if number == 0 else np.maximum(X, 0)) @ W.T + b
    return (X[:, 0] > 0).astype(int)


def numbers_of(layers):
    """How many weights and biases there are."""
    return sum(W.size + b.size for W, b in layers)


def on_levels(layers, bits):
    """Layers on 2**bits - 1 evenly spaced levels each, the outermost at a layer's largest number."""
    coarse = []
    for W, b in layers:
        edge = max(np.abs(W).max(), np.abs(b).max())
        coarse.append((nearest(W, bits, edge), nearest(b, bits, edge)))
    return coarse


def nearest(p, bits, edge):
    """The nearest of 2**bits - 1 levels from -edge to edge for each number."""
    top = 2 ** (bits - 1) - 1
    return edge / top * np.clip(np.rint(p / edge * top), -top, top)


def share_on(bits, X, odd):
    """The share that the large network reads right on so many bits a number."""
    return np.mean(says_odd(on_levels(colleagues()["the network"], bits), X) == odd)


# ---------------------------------------------------------------- the house numbers


def draw_houses(X, odd, digits):
    """One example of each digit, even ones above -> (fig, words)."""
    fig, axes = plt.subplots(2, 5, figsize=(7.2, 3.4))
    for digit in range(10):
        ax = axes[digit % 2, digit // 2]
        ax.imshow(X[np.flatnonzero(digits == digit)[3]].reshape(8, 8), cmap="Greys")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_title(str(digit), color=VERMILION if digit % 2 else BLUE)
    axes[0, 0].set_ylabel("even: left")
    axes[1, 0].set_ylabel("odd: right")
    words = say(
        "{n} digits of 8 by 8 pixels, {share:.0%} of them odd; one example of each.",
        n=len(odd),
        share=odd.mean(),
    )
    return fig, words


def draw_bits(X, odd):
    """Shares right of the large network on 2 to 12 bits a number, and the line's -> (fig, words)."""
    line, net = colleagues().values()
    bits = np.array([2, 3, 4, 5, 6, 8, 10, 12])
    shares = [100 * share_on(b, X, odd) for b in bits]
    full, straight = (100 * np.mean(says_odd(one, X) == odd) for one in (net, line))
    fig, ax = plt.subplots(figsize=(7, 3.8))
    ax.axhline(full, color=BLACK, ls=":", label="the network, 32 bits")
    ax.axhline(straight, color=ORANGE, ls="--", label="the straight line, 32 bits")
    ax.plot(bits, shares, "o-", color=BLUE, label="the network, rounded")
    ax.set(ylim=(45, 102), xlabel="bits a number", ylabel="right on the try rows (%)")
    ax.set_title("Four bits a number are nearly enough")
    ax.legend(loc="lower right")
    size = numbers_of(net)
    words = say(
        "On 32 bits a number the network reads {full:.0f} of 100, on 4 bits {four:.0f}, on 2 bits {two:.0f}. "
        "On 4 bits its {size} numbers take {messages} messages.",
        full=full, four=shares[2], two=shares[0], size=size, messages=-(-size // 2 // MESSAGE),
    )  # fmt: skip
    return fig, words


def draw_levels(X, odd, bits, edge):
    """Weights of the hidden layer and the levels up to `edge`, to be dragged -> (fig, words)."""
    (W, b), last = colleagues()["the network"]
    coarse = nearest(W, bits, edge)
    share = np.mean(says_odd([(coarse, b), last], X) == odd)
    rms = np.sqrt(np.mean(W**2))
    error = np.sqrt(np.mean((coarse - W) ** 2)) / rms
    top = 2 ** (bits - 1) - 1
    step = edge / top
    beyond, nothing = np.mean(np.abs(W) > edge + step / 2), np.mean(coarse == 0)
    fig, ax = plt.subplots(figsize=(7.4, 3.8))
    ax.hist(W.ravel(), np.linspace(-1.6, 1.6, 66), color=BLUE, alpha=0.6)
    for code in range(-top, top + 1):
        ax.axvline(code * step, color=VERMILION, lw=2 if abs(code) == top else 0.8)
    ax.set(xlim=(-1.7, 1.7), xlabel="weight of the hidden layer", ylabel="how many")
    ax.set_title(f"Last level {edge:.2f}: {share:.0%} right, rounding error {error:.2f} rms")
    ax.set_gid("levels")
    words = say(
        "{levels} levels up to {edge:.2f}: {beyond:.0%} of the weights are cut, {nothing:.0%} become 0. "
        "The rounding error is {error:.2f} times the weights' rms, which is {rms:.2f}. {share:.1%} of the try rows "
        "are read right.",
        levels=2 * top + 1, edge=edge, beyond=beyond, nothing=nothing, share=share, error=error, rms=rms,
    )  # fmt: skip
    return fig, words


# ---------------------------------------------------------------- training


def rounding(train, to_codes, widest, bits):
    """Networks for 140 bytes, trained by a student's functions: hidden units, shares right on the try rows where they
    were rounded after the training, and where in every step; for each number of bits, the mean of eight starts."""
    X, odd, _ = house_numbers()
    learn, trial, _ = split()

    def coarse(layers, bits):
        rounded, top = [], 2 ** (bits - 1) - 1
        for layer in layers:
            # where levels are many, none needs to be cut off
            last = (
                np.abs(layer[0]).max() if bits > 8 else 1.5 * np.sqrt(np.mean(np.square(layer[0])))
            )
            step = max(last, 1e-9) / top
            rounded.append(tuple(step * np.asarray(to_codes(p, bits, step)) for p in layer))
        return rounded

    def share(h, bits, seed, used):
        rng = np.random.default_rng(seed)
        layers = train(X[learn], odd[learn], [64, h, 2], rng, used)
        (W, b), (V, c) = coarse([tuple(map(np.asarray, layer)) for layer in layers], bits)
        called = (np.maximum(X[trial] @ W.T + b, 0) @ V.T + c).argmax(1)
        return np.mean(called == odd[trial])

    def mean(h, bits, used):
        return np.mean([share(h, bits, seed, used) for seed in range(8)])

    units = [widest(64, 2, 1, 8 * MESSAGE // b) for b in bits]
    pairs = list(zip(units, bits, strict=True))
    after = [mean(h, b, lambda layers: layers) for h, b in pairs]
    during = [mean(h, b, lambda layers, b=b: coarse(layers, b)) for h, b in pairs]
    return units, after, during


def helps(train, to_codes, widest):
    """Whether, on 2 bits, rounding in every step is worth more than three points."""
    _, after, during = rounding(train, to_codes, widest, [2])
    return int(during[0] > after[0] + 0.03)


def draw_rounding(bits, units, after, during):
    """Shares right by bits, rounded after the training or in it -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7, 3.8))
    place = np.arange(len(bits))
    for shift, shares, colour, hatch, name in (
        (-0.2, after, ORANGE, "//", "rounded after the training"),
        (0.2, during, BLUE, "", "rounded in every step"),
    ):
        heights = 100 * np.array(shares)
        bars = ax.bar(place + shift, heights, 0.38, color=colour, hatch=hatch, label=name)
        ax.bar_label(bars, fmt="%.0f")
    ax.set_xticks(
        place, [f"{b} bits,\n{h} unit{'s' * (h > 1)}" for b, h in zip(bits, units, strict=True)]
    )
    ax.set(ylim=(45, 112), ylabel="right on the try rows (%), mean of 8")
    ax.set_yticks(range(50, 101, 10))
    ax.set_title("Trained on its levels, a network gets along with few")
    ax.legend(loc="upper left", ncols=2)
    words = say(
        "On 2 bits a number, {after:.0%} are right where the network is rounded after the training, and {during:.0%} "
        "where it is rounded in every step. On 16 bits, which leave room for {units} unit, {fine:.0%} are right.",
        after=after[bits.index(2)],
        during=during[bits.index(2)],
        units=units[bits.index(16)],
        fine=during[bits.index(16)],
    )
    return fig, words


# ---------------------------------------------------------------- the message


def draw_message(sent, share):
    """The bytes of a message as squares -> (fig, words)."""
    values = np.frombuffer(sent, np.uint8)
    grid = np.full(-(-len(values) // 20) * 20, np.nan)
    grid[: len(values)] = values
    fig, ax = plt.subplots(figsize=(7.4, 0.42 * len(grid) / 20 + 0.9))
    ax.imshow(grid.reshape(-1, 20), cmap="Purples", vmin=0, vmax=420, aspect="auto")
    for place, value in enumerate(values):
        ax.text(place % 20, place // 20, f"{value:02x}", ha="center", va="center", fontsize=9)
    ax.spines[:].set_visible(False)
    ax.set(xticks=[], yticks=[], title=f"{len(values)} bytes, and {share:.0%} right")
    words = say(
        "All that is sent: {n} bytes, each written with two hexadecimal digits. Read back from them, {share:.1%} of "
        "the try rows are right.",
        n=len(values),
        share=share,
    )
    return fig, words


def draw_frontier(sizes, shares, X, odd):
    """Shares right against bytes, with the colleagues' two readers -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.2, 4))
    ax.plot(sizes, 100 * np.array(shares), "o-", color=BLUE, label="yours")
    told = {}
    for (name, layers), marker, colour in zip(
        colleagues().items(), "sD", (ORANGE, PINK), strict=True
    ):
        told[name] = np.mean(says_odd(layers, X) == odd)
        ax.plot(4 * numbers_of(layers), 100 * told[name], marker, ms=9, color=colour, label=name)
    ax.axvline(MESSAGE, color=BLACK, ls=":", lw=1.2)
    ax.text(MESSAGE * 1.06, 86.5, "one message", fontsize=10)
    ax.set(xscale="log", ylim=(86, 100.5), xlabel="bytes", ylabel="right on the locked rows (%)")
    ax.set_xticks(ticks := [140, 280, 560, 1120, 8452], [str(tick) for tick in ticks])
    ax.minorticks_off()
    way = (shares[0] - told["the line"]) / (told["the network"] - told["the line"])
    ax.set_title(typeset(f"{way:.0%} of the way goes into one message"))
    ax.legend(loc="lower right")
    words = say(
        "On the locked rows, yours reads {one:.1%} right with {small} bytes and {most:.1%} with {large}; the line "
        "{line:.1%} with 260, the large network {net:.1%} with 8452. One message goes {way:.0%} of the way.",
        one=shares[0], small=sizes[0], most=shares[-1], large=sizes[-1],
        line=told["the line"], net=told["the network"], way=way,
    )  # fmt: skip
    return fig, words


def draw_duels(duels):
    """Rows that just one of two readers reads right: name -> (only yours, only the other, p) -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.2, 2.8))
    place = np.arange(len(duels))
    mine, theirs, p = (np.array(column) for column in zip(*duels.values(), strict=True))
    for counts, sign, colour, hatch, name in (
        (mine, 1, BLUE, "", "just yours"),
        (theirs, -1, ORANGE, "//", "just the other"),
    ):
        bars = ax.barh(place, sign * counts, 0.5, color=colour, hatch=hatch, label=name)
        ax.bar_label(bars, [str(count) for count in counts], padding=3)
    ax.axvline(0, color=BLACK, lw=1)
    wide = 1.25 * max(1, mine.max(), theirs.max())
    labels = [typeset(f"{name}\np = {one:.2g}") for name, one in zip(duels, p, strict=True)]
    ax.set_yticks(place, labels)
    ax.set(xlim=(-wide, wide), ylim=(len(duels) - 0.5, -1.1))
    ax.set_xticks([])
    ax.set_xlabel("rows that just one reads right")
    ax.set_title("One message against each of the others")
    ax.legend(loc="upper right", ncols=2)
    words = say("Rows that just one of two readers reads right:")
    for number, name in enumerate(duels):
        words += say(
            f" yours {{a{number}}}, {name} {{b{number}}} (p = {{p{number}:.2g}}).",
            **{f"a{number}": int(mine[number]), f"b{number}": int(theirs[number])},
            **{f"p{number}": float(p[number])},
        )
    return fig, words


def draw_misread(X, digits, called, columns=10):
    """The digits on the wrong side of the street -> (fig, words)."""
    wrong = np.flatnonzero(called != digits % 2)
    rows = wrong[: 2 * columns]
    lines = max(1, -(-len(rows) // columns))
    fig, axes = plt.subplots(lines, columns, figsize=(9.4, 1.35 * lines + 0.4), squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, row in zip(axes.flat, rows, strict=False):
        ax.imshow(X[row].reshape(8, 8), cmap="Greys")
        ax.set_title(str(digits[row]), fontsize=11, color=VERMILION if digits[row] % 2 else BLUE)
    right = 1 - len(wrong) / len(digits)
    error = np.sqrt(right * (1 - right) / len(digits))
    title = f"Misread: {len(wrong)} of {len(digits)}. {right:.1%} right, standard error {100 * error:.1f} points"
    fig.suptitle(title, x=0.01, ha="left", fontsize=12, weight="bold")
    words = say(
        "{wrong} of {n} digits go to the wrong side: {right:.1%} are right, standard error {error:.1f} points. "
        "The first {shown} are shown: {names}.",
        wrong=len(wrong), n=len(digits), right=right, error=100 * error, shown=len(rows),
        names=", ".join(map(str, digits[rows])) or "none",
    )  # fmt: skip
    return fig, words

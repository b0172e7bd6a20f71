"""Pictures of the project on shifted digits: readers by place, their five numbers, a slip, what a number buys."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch.nn import functional

from descent import data
from descent.plots import BLACK, BLUE, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say, typeset

SIDE, EDGE, REACH = 14, 3, 2  # a field, what is free on each side of a digit, how far it slips
SHIFTS = [(down, right) for down in range(-REACH, REACH + 1) for right in range(-REACH, REACH + 1)]
COLLEAGUES = ("windows", "windows, moved", "dense, moved", "always 3")
# What `verdict` tells, in its order: a name, and the share that the check asks for.
JUDGES = (
    ("middle", 0.8),
    ("average", 0.8),
    ("worst place", 0.7),
    ("everywhere", 0.5),
    ("steady", 0.8),
)


@cache
def _table():
    table = data.digits()
    X = torch.from_numpy(table.X).float().reshape(-1, 8, 8) / 16
    return X, torch.from_numpy(table.y).long()


def digits():
    """Images (1797, 8, 8), pixels from 0 to 1, and their digits (1797,)."""
    return tuple(part.clone() for part in _table())


@cache
def _rows():
    rows = np.random.default_rng(8).permutation(1797)
    return tuple(torch.from_numpy(part) for part in np.split(rows, [700, 1200, 1700])[:3])


def split():
    """Row numbers: 700 to learn from, 500 to try, 500 locked."""
    return tuple(part.clone() for part in _rows())


def field(images):
    """Images (n, 8, 8) in the middle of empty fields (n, 14, 14)."""
    return functional.pad(images, (EDGE,) * 4)


def lamp(n):
    """Light on n fields (n, 14, 14): on each, some side is lighter, and all of it lighter or darker."""
    u = torch.from_numpy(np.random.default_rng(5).uniform(-0.25, 0.25, (3, n, 1, 1))).float()
    side = torch.linspace(-1, 1, SIDE)
    return u[0] * side[:, None] + u[1] * side + u[2]


def slipped(images, light):
    """Fields (25, n, 14, 14) of images (n, 8, 8) at all places, under the lamp's light (n, 14, 14)."""
    wide = functional.pad(images, (EDGE + REACH,) * 4)
    views = [
        wide[:, REACH - down : REACH - down + SIDE, REACH - right : REACH - right + SIDE]
        for down, right in SHIFTS
    ]
    return torch.stack(views) + light


# ---------------------------------------------------------------- colleagues


def _start(shapes):
    parts = []
    for shape in shapes:
        parts.append(torch.randn(shape) * (2 / np.prod(shape[1:])) ** 0.5)
        parts.append(torch.zeros(shape[0]))
    return [part.requires_grad_() for part in parts]


def _windows(state, X, pool=2):
    K, b, L, c, V, d = state
    maps = X[:, None]
    for kernels, bias, size in ((K, b, pool), (L, c, 1)):
        maps = functional.pad(maps, (1, 1, 1, 1), mode="replicate")
        maps = functional.conv2d(maps, kernels, bias).relu()
        maps = functional.max_pool2d(maps, size)
    return maps.amax((2, 3)) @ V.T + d


def _dense(state, X):
    W, b, V, d = state
    return (X.flatten(1) @ W.T + b).relu() @ V.T + d


_KERNELS = [(9, 1, 3, 3), (13, 9, 3, 3), (10, 13)]
# By name: shapes of weights, scores, whether it sees moved digits, steps, rate.
_PLANS = {
    "windows": (_KERNELS, _windows, False, 500, 0.02),
    "windows, moved": (_KERNELS, _windows, True, 500, 0.02),
    "no stride": (_KERNELS, lambda state, X: _windows(state, X, 1), False, 400, 0.02),
    "dense, moved": ([(60, SIDE**2), (10, 60)], _dense, True, 1200, 0.01),
}


def numbers_of(name):
    """How many numbers a colleague has."""
    if name == "always 3":
        return 1
    return int(sum(np.prod(shape) + shape[0] for shape in _PLANS[name][0]))


@cache
def _trained(name):
    shapes, scores, moves, steps, rate = _PLANS[name]
    X, y = _table()
    rows = _rows()[0]
    fields = slipped(X, lamp(len(X)))[:, rows]
    before = torch.random.get_rng_state()
    torch.manual_seed(0)
    state = _start(shapes)
    adam = torch.optim.Adam(state, rate)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * min(1, 2 - 2 * step / steps)
        batch = torch.randint(len(rows), (64,))
        place = torch.randint(25, (64,)) if moves else 12
        loss = functional.cross_entropy(scores(state, fields[place, batch]), y[rows[batch]])
        adam.zero_grad()
        loss.backward()
        adam.step()
    torch.random.set_rng_state(before)
    return [tensor.detach() for tensor in state]


@cache
def _table_of(name, part):
    X, y = _table()
    rows = _rows()[part]
    fields = slipped(X[rows], lamp(len(X))[rows])
    if name == "always 3":
        return torch.full((25, len(rows)), 3), y[rows]
    state, scores = _trained(name), _PLANS[name][1]
    return torch.stack([scores(state, one).argmax(1) for one in fields]), y[rows]


def tried(name):
    """A colleague's labels (25, 500) on the digits to try, at all places, and the right ones (500,)."""
    return tuple(part.clone() for part in _table_of(name, 1))


def opened(name):
    """A colleague's labels (25, 500) on the locked digits."""
    return _table_of(name, 2)[0].clone()


def everywhere(name):
    """The share of the digits to try that a colleague reads right at all places."""
    read, y = _table_of(name, 1)
    return (read == y).all(0).double().mean()


def by_place(read, y):
    """Shares right by place -> (5, 5)."""
    return (read == y).double().mean(1).reshape(5, 5).numpy()


def kinds(read, y):
    """Shares right after slips by even numbers of pixels (not by 0, 0), by one pixel each way, and in the middle."""
    shares = by_place(read, y)
    even = (shares[::2, ::2].sum() - shares[2, 2]) / 8
    return even, shares[1::2, 1::2].mean(), shares[2, 2]


# ---------------------------------------------------------------- pictures


def draw_belt(images, light):
    """Five digits in the middle and after a slip -> (fig, words)."""
    fields = slipped(images[:5], light[:5])
    places = [6, 13, 18, 24, 3]
    fig, axes = plt.subplots(2, 5, figsize=(7.4, 3.2))
    told = []
    for column, place in enumerate(places):
        down, right = SHIFTS[place]
        for row, where in enumerate((12, place)):
            ax = axes[row, column]
            ax.imshow(fields[where, column], cmap="gray_r", vmin=-0.7, vmax=1.5)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
        axes[1, column].set_xlabel(typeset(f"{down} down, {right} right"))
        told.append(say("{down} and {right}", down=down, right=right))
    axes[0, 0].set_ylabel("middle")
    axes[1, 0].set_ylabel("slipped")
    fig.suptitle("The digit slips, the light stays")
    return fig, say(
        "Five digits in the middle of their fields, and below after slips by pixels down and to the right: {told:, }.",
        told=told,
    )


def _heat(ax, shares, title):
    ax.imshow(100 * shares, cmap="cividis", vmin=0, vmax=100, extent=(-2.5, 2.5, 2.5, -2.5))
    for (row, column), share in np.ndenumerate(shares):
        color = "white" if share < 0.6 else "black"
        ax.text(column - 2, row - 2, f"{100 * share:.0f}", ha="center", va="center", color=color)
    ax.set(xlabel="pixels to the right", ylabel="pixels down", title=title)
    ax.set_xticks(range(-2, 3))
    ax.set_yticks(range(-2, 3))
    ax.grid(False)


def draw_map(read, y):
    """Shares right by place -> (fig, words)."""
    shares = by_place(read, y)
    fig, ax = plt.subplots(figsize=(5.2, 4.2))
    _heat(ax, shares, "Right (%): two pixels harm less than one")
    even, odd, middle = kinds(read, y)
    return fig, say(
        "The reader that learned in the middle: {middle:.0%} right there, {odd:.0%} one pixel off both ways, "
        "{even:.0%} after slips by even numbers of pixels.",
        middle=middle,
        odd=odd,
        even=even,
    )


def draw_maps(tables):
    """Maps by place, {name: (read, y)} -> (fig, words)."""
    fig, axes = plt.subplots(1, len(tables), figsize=(4.2 * len(tables), 4))
    told = []
    for ax, (name, (read, y)) in zip(axes, tables.items(), strict=True):
        even, odd, _ = kinds(read, y)
        _heat(ax, by_place(read, y), f"{name}: right (%)")
        told.append(say("{name} {odd:.0%} and {even:.0%}", name=name, odd=odd, even=even))
    return fig, say("Right one pixel off both ways, and after even slips: {told:; }.", told=told)


def draw_verdicts(verdicts):
    """A table, readers by judges, {name: five numbers} -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.6, 0.5 * len(verdicts) + 1.1))
    told = []
    for row, (name, numbers) in enumerate(verdicts.items()):
        numbers = [float(number) for number in numbers]
        for column, (number, (_, bound)) in enumerate(zip(numbers, JUDGES, strict=True)):
            bad = number < bound
            ax.barh(row, 0.94, 0.86, left=column + 0.03, color=ORANGE if bad else SKY, alpha=0.6)
            text = f"{'✗' if bad else '✓'}  {100 * number:.0f}"
            weight = "bold" if bad else "normal"
            ax.text(column + 0.5, row, text, ha="center", va="center", weight=weight)
        by = [judge for (judge, bound), n in zip(JUDGES, numbers, strict=True) if n < bound]
        told.append(say("{name}: {by}", name=name, by=", ".join(by) or "none"))
    heads = [f"{judge}\nat least {100 * bound:.0f}" for judge, bound in JUDGES]
    ax.set_xticks(np.arange(len(heads)) + 0.5, heads)
    ax.set_yticks(range(len(verdicts)), list(verdicts))
    ax.set(xlim=(0, len(heads)), ylim=(len(verdicts) - 0.4, -0.6))
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    ax.set_title("Who fails which judge (shares in %)")
    return fig, say("Too low: {told:; }.", told=told)


def draw_slip(fields, mine, theirs, y, number, down, right):
    """One digit at a place, and what two readers say at all places -> (fig, words).

    fields (25, n, 14, 14); mine, theirs (25, n): labels.
    """
    place, truth = SHIFTS.index((down, right)), int(y[number])
    fig, axes = fixed_axes(3, (7.6, 3.1), (0.09, 0.99, 0.16, 0.86), wspace=0.32)
    image = fields[place, number]
    axes[0].imshow(image, cmap="gray_r", vmin=-0.7, vmax=1.5, extent=(-7, 7, 7, -7))
    axes[0].set_gid("field")
    axes[0].set(xlabel="pixels to the right", ylabel="pixels down")
    light(axes[0], f"a {truth}", [-6, -2, 0, 2, 6], [-6, -2, 0, 2, 6])
    counts = []
    for ax, name, table in zip(axes[1:], ("yours", "dense"), (mine, theirs), strict=True):
        says = table[:, number].reshape(5, 5)
        good = says == truth
        counts.append(int(good.sum()))
        for (row, column), label in np.ndenumerate(says.numpy()):
            box = dict(facecolor=SKY if good[row, column] else ORANGE, alpha=0.6, linewidth=0)
            ax.add_patch(plt.Rectangle((column - 2.47, row - 2.47), 0.94, 0.94, **box))
            ax.text(column - 2, row - 2, str(label), ha="center", va="center")
        here = dict(fill=False, edgecolor=BLACK, linewidth=2)
        ax.add_patch(plt.Rectangle((right - 0.5, down - 0.5), 1, 1, **here))
        ax.set(xlim=(-2.5, 2.5), ylim=(2.5, -2.5), aspect="equal")
        ax.set(xlabel="pixels to the right", ylabel="pixels down")
        ax.grid(False)
        light(ax, f"{name}: {counts[-1]} of 25", range(-2, 3), range(-2, 3))
    axes[0].grid(False)
    return fig, say(
        "A {truth}, {down} down and {right} to the right: yours reads {mine}, the dense one {theirs}. "
        "Of 25 places, yours is right at {a}, the dense one at {b}.",
        truth=truth,
        down=down,
        right=right,
        mine=int(mine[place, number]),
        theirs=int(theirs[place, number]),
        a=counts[0],
        b=counts[1],
    )


def draw_price(budgets, bought, dense):
    """Average and everywhere by the budget, beside the dense reader's -> (fig, words)."""
    table = 100 * np.array([[float(number) for number in five] for five in bought])
    fig, ax = plt.subplots(figsize=(6.8, 3.8))
    looks = ((1, "o-", BLUE, "average"), (3, "s-", VERMILION, "everywhere"))
    for column, look, color, label in looks:
        ax.plot(budgets, table[:, column], look, color=color, label=f"yours, {label}")
        n, share = numbers_of("dense, moved"), 100 * float(dense[column])
        ax.plot(n, share, look[0], color=color, fillstyle="none", label=f"dense, {label}")
    ax.set(xscale="log", xlabel="numbers in the state", ylabel="right (%)")
    ax.set_title("What a number buys")
    ticks = [*budgets, numbers_of("dense, moved")]
    ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
    ax.minorticks_off()
    ax.legend(loc="lower right")
    told = [
        say("{n:,}: {a:.0f} and {e:.0f}", n=n, a=row[1], e=row[3])
        for n, row in zip(budgets, table, strict=True)
    ]
    return fig, say("Right on average and everywhere (%), by numbers: {told:; }.", told=told)


def draw_misread(fields, read, y, duel, columns=10):
    """Digits that are misread at most places, each where it is first misread -> (fig, words).

    fields (25, n, 14, 14); read (25, n); y (n,); duel: difference to the dense reader and its error.
    """
    wrong = read != y
    misses = wrong.sum(0)
    worst = [
        int(n) for n in torch.argsort(misses, descending=True, stable=True)[:columns] if misses[n]
    ]
    fig, axes = plt.subplots(2, columns // 2, figsize=(7.6, 4))
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.grid(False)
    for ax, n in zip(axes.flat, worst, strict=False):
        place = int(wrong[:, n].int().argmax())
        ax.imshow(fields[place, n], cmap="gray_r", vmin=-0.7, vmax=1.5)
        ax.set_title(f"{int(y[n])} read {int(read[place, n])}", fontsize=10)
        ax.set_xlabel(f"wrong at {int(misses[n])} of 25", fontsize=9)
    difference, error = (100 * float(number) for number in duel)
    ahead = typeset(f"{difference:.1f} ± {error:.1f}")
    fig.suptitle(f"Yours minus dense: {ahead} points on average")
    return fig, say(
        "{count} of {n} digits are misread somewhere. Compared with the dense reader: {difference:.1f} points on "
        "average, standard error {error:.1f}.",
        count=int((misses > 0).sum()),
        n=len(y),
        difference=difference,
        error=error,
    )

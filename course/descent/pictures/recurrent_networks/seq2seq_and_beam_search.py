"""Sequence to sequence: speakers whose chances are known, a small tree, tasks to learn, what the notebook draws.

Compute (pure): `sayings`, `speaker`, `frontiers`, `reversal`, … Draw: `draw_…` return (fig, words).
Word 0 is the mark: it is fed to a speaker first, and ends each answer. A step takes (state, word) and gives
(log_p, state); the first state of a `speaker` is None.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, VERMILION, fixed_axes, light
from descent.words import say

GREY = "#808080"  # seen on white and on black

# ------------------------------------------------------------ the clock

HOURS = "one two three four five six seven eight nine ten eleven twelve".split()
MINUTES = {0: "", 15: " fifteen", 30: " thirty", 45: " forty five"}
TIMES = [(hour, minute) for hour in range(1, 13) for minute in MINUTES]


def sayings(hour, minute):
    """What people say at a time, with its chance, in fiftieths. -> [(text, chance)]"""
    this, following = HOURS[hour - 1], HOURS[hour % 12]
    plain = this + MINUTES[minute]
    other = {
        0: [(f"{this} o'clock", 21)],
        15: [(f"a quarter past {this}", 19), (f"a quarter after {this}", 2)],
        30: [(f"half past {this}", 21)],
        45: [(f"a quarter to {following}", 19), (f"a quarter before {following}", 2)],
    }[minute]
    parts = [(f"{plain} pm", 15), (f"{plain} am", 14), *other]
    return [(text, n / 50) for text, n in parts]


WORDS = ["", *sorted({w for time in TIMES for text, _ in sayings(*time) for w in text.split()})]


def encode(text, words=WORDS):
    """The numbers of its words, and the mark."""
    return [*(words.index(word) for word in text.split()), 0]


def decode(codes, words=WORDS):
    """Its text, without the mark."""
    return " ".join(words[code] for code in codes if code)


def speaker(options, n_words):
    """The exact step of somebody who says each answer with its chance. options [(codes, chance)], first state None"""

    def step(state, word):
        said = [] if state is None else [*state, word]
        p = np.zeros(n_words)
        for codes, chance in options:
            if codes[: len(said)] == said and len(codes) > len(said):
                p[codes[len(said)]] += chance
        if not p.any():  # nobody goes on from there
            p[0] = 1
        with np.errstate(divide="ignore"):
            return np.log(p / p.sum()), said

    return step


def clock(hour, minute):
    """The exact step of the people at that time."""
    return speaker([(encode(text), p) for text, p in sayings(hour, minute)], len(WORDS))


def lessons(n, rows=128, seed=0):
    """n batches of times (rows, 4), digits, and what somebody says (rows, 5), −1 behind the mark.

    The fifty sayings of each of the 48 times come in a new order again and again.
    """
    X, Y = [], []
    for hour, minute in TIMES:
        for text, p in sayings(hour, minute):
            codes = encode(text)
            for _ in range(round(50 * p)):
                X.append(digits(hour, minute))
                Y.append(codes + [-1] * (5 - len(codes)))
    X, Y, g = torch.tensor(X), torch.tensor(Y), torch.Generator().manual_seed(seed)
    rounds = -(-n * rows // len(X))
    order = torch.cat([torch.randperm(len(X), generator=g) for _ in range(rounds)])
    return [(X[at], Y[at]) for at in order[: n * rows].reshape(n, rows)]


def digits(hour, minute):
    """(12, 45) -> [1, 2, 4, 5]"""
    return [int(c) for c in f"{hour:02}{minute:02}"]


# ------------------------------------------------------------ a guest

DAYS = dict(monday=12, tuesday=11, wednesday=10, thursday=10, friday=10, saturday=9, sunday=9)
REPLIES = [("yes", 0.2)]
REPLIES += [(f"I would love to come on {day}", n / 100) for day, n in DAYS.items()]
REPLIES += [("I would love to come today", 0.09)]
REPLY_WORDS = ["", *sorted({word for text, _ in REPLIES for word in text.split()})]
guest = speaker([(encode(text, REPLY_WORDS), p) for text, p in REPLIES], len(REPLY_WORDS))

# ------------------------------------------------------------ a tree of three steps

TREE = {
    "": (0.6, 0.4),
    "a": (0.6, 0.4),
    "b": (0.45, 0.55),
    "aa": (0.52, 0.48),
    "ab": (0.8, 0.2),
    "ba": (0.7, 0.3),
    "bb": (0.05, 0.95),
}


def leaves(tree):
    """All whole answers of a tree with their chances. -> {answer: chance}"""
    grown = {"": 1.0}
    while any(prefix in tree for prefix in grown):
        grown = {
            prefix + letter: chance * q
            for prefix, chance in grown.items()
            for letter, q in zip("abc", tree.get(prefix, (1.0,)), strict=False)
        }
    return grown


def frontiers(tree, width):
    """What a beam of that width keeps after each step, best first. -> [[(prefix, chance)]]"""
    kept = [[("", 1.0)]]
    while kept[-1][0][0] in tree:
        grown = [
            (prefix + letter, chance * q)
            for prefix, chance in kept[-1]
            for letter, q in zip("abc", tree[prefix], strict=False)
        ]
        kept.append(sorted(grown, key=lambda one: -one[1])[:width])
    return kept


def tree_speaker(tree):
    """Its exact step: a is word 1, b word 2."""
    options = [([" ab".index(c) for c in text] + [0], p) for text, p in leaves(tree).items()]
    return speaker(options, 3)


# ------------------------------------------------------------ reversal

LETTERS = "·abcdefghij"
LONGEST = 8


def reversal(length, rows, g):
    """Random letters (rows, length), and the same from the last to the first and the mark (rows, length + 1)."""
    x = torch.randint(1, len(LETTERS), (rows, length), generator=g)
    return x, torch.cat([x.flip(1), torch.zeros(rows, 1, dtype=torch.int64)], 1)


def drills(n, rows=64, seed=0):
    """n batches of reversal, each of one length, 1 to LONGEST."""
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LONGEST + 1, (n,), generator=g).tolist()
    return [reversal(length, rows, g) for length in lengths]


# ------------------------------------------------------------ attention

STATES = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # the encoder's, of a lecture note


def look(s, H=STATES):
    """Weights of the states H (T, d) for s (d,), and their mean."""
    scores = H @ s
    alpha = np.exp(scores - scores.max())
    alpha /= alpha.sum()
    return alpha, alpha @ H


# ------------------------------------------------------------ Pictures.


def draw_puzzle():
    """What people say at a quarter to one."""
    texts, chances = zip(*sorted(sayings(12, 45), key=lambda one: one[1]), strict=True)
    fig, ax = plt.subplots(figsize=(6.8, 2.7))
    ax.barh(texts, 100 * np.array(chances), color=BLUE)
    ax.set(xlabel="of 100 people", title="12:45, in words")
    ax.grid(axis="y", visible=False)
    told = [say("{y}: {p:.0%}", y=t, p=p) for t, p in zip(texts, chances, strict=True)]
    return fig, say("What people say at 12:45. {told:; }.", told=told[::-1])


def draw_tree(width, step):
    """The tree of three steps, what a beam keeps after `step`, and the likeliest answer."""
    whole, kept = leaves(TREE), frontiers(TREE, width)
    best = max(whole, key=whole.get)
    now = dict(kept[step])
    fig, ax = plt.subplots(figsize=(8, 4.4), layout="none")
    fig.subplots_adjust(left=0.02, right=0.98, bottom=0.03, top=0.9)
    place = {text: (3, -i) for i, text in enumerate(whole)}
    for depth in (2, 1, 0):
        for prefix in {text[:depth] for text in whole}:
            children = [y for text, (_, y) in place.items() if text[:-1] == prefix]
            place[prefix] = depth, np.mean(children[-2:])
    for prefix, chances in TREE.items():
        for letter, q in zip("ab", chances, strict=True):
            (x0, y0), (x1, y1) = place[prefix], place[prefix + letter]
            on = any(text.startswith(prefix + letter) for text in now)
            line = dict(color=BLUE, linewidth=2.5) if on else dict(color=GREY, linewidth=1)
            ax.plot([x0, x1], [y0, y1], **line)
            ax.text(x0 + 0.6 * (x1 - x0), y0 + 0.6 * (y1 - y0) + 0.2, f"{q:g}", fontsize=9)
    for prefix, (x, y) in place.items():
        color = ORANGE if prefix in now else "#F4F4F4"
        box = dict(boxstyle="round", facecolor=color, edgecolor=BLACK)
        ax.text(x, y, " ".join(prefix) or "·", ha="center", va="center", bbox=box, color="black")
    for text, p in whole.items():
        star = "  ★ likeliest" if text == best else ""
        ax.text(3.22, place[text][1], f"{p:.3f}{star}", va="center", fontsize=10)
    found, p = kept[3][0]
    title = f"Width {width}, after {step} of 3 steps"
    ax.set(xlim=(-0.2, 4.1), ylim=(-7.6, 0.6))
    ax.set_title(title)
    ax.axis("off")
    held = [say("{y} {p:.3f}", y=t or "·", p=q) for t, q in kept[step]]
    words = say("{title}: keeps {held:, }. ", title=title, held=held)
    return fig, words + say(
        "In the end width {width} finds {found} with {p:.3f}; the likeliest is {best} with {most:.3f}.",
        width=width,
        found=found,
        p=p,
        best=best,
        most=whole[best],
    )


def draw_gap(forced, free):
    """Share of right letters by place, fed with the truth and with its own. forced, free (T,)."""
    place = np.arange(1, len(forced) + 1)
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    ax.plot(place, 100 * forced, "o-", color=BLUE, label="fed with the right letters")
    ax.plot(place, 100 * free, "s--", color=VERMILION, label="fed with its own")
    ax.set(xlabel="place in the answer", ylabel="right letters (%)", ylim=(0, 104))
    ax.set_title("On its own words it goes astray")
    ax.legend(loc="lower left")
    return fig, say(
        "Of answers of {n} places, the mark included, {a:.0%} of the letters are right when it is fed with the right "
        "ones, {b:.0%} when with its own.",
        n=len(forced),
        a=forced.mean(),
        b=free.mean(),
    )


def draw_lengths(lengths, shares):
    """Share of whole answers without a mistake by length. shares {name: (len(lengths),)}."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    looks = [("s--", VERMILION), ("o-", BLUE), ("^-.", GREEN)]
    told = []
    for (name, share), (line, color) in zip(shares.items(), looks, strict=False):
        ax.plot(lengths, 100 * np.asarray(share), line, color=color, label=name)
        at = lengths.index(LONGEST)
        told.append(say("{name} {s:.0%}", name=name, s=share[at]))
    ax.axvspan(LONGEST + 0.5, max(lengths) + 0.5, color=GREY, alpha=0.2, lw=0)
    ax.text(LONGEST + 0.7, 94, "never\ntrained", va="top")
    ax.set(xlabel="letters to reverse", ylabel="answers without a mistake (%)", ylim=(-3, 104))
    ax.set_title(
        "One vector is too narrow for a long text" if len(shares) == 1 else "Looking again"
    )
    ax.legend(loc="lower left")
    return fig, say(
        "Answers without a mistake, at {n} letters: {told:; }.",
        n=LONGEST,
        told=told,
    )


def draw_attention(x, y):
    """Three states of an encoder, a decoder's state (x, y), the weights that it gives and the context."""
    s = np.array([x, y])
    alpha, c = look(s)
    fig, (left, right) = fixed_axes(2, (8, 3.7), (0.08, 0.98, 0.16, 0.88), wspace=0.25)
    left.fill(*STATES.T, color=BLUE, alpha=0.15, lw=0)
    left.plot(*STATES.T, "o", color=BLUE, markersize=8)
    for number, (a, b) in enumerate(STATES, 1):
        left.text(a + 0.12, b + 0.12, f"h{'₀₁₂₃'[number]}", color=BLUE)
    left.plot(*s, "s", color=VERMILION, markersize=9)
    left.plot(*c, "*", color=GREEN, markersize=14)
    left.set(xlim=(-4, 4), ylim=(-4, 4), xlabel="first number", ylabel="second number")
    left.set_gid("start")
    light(left, "Square: s (drag it). Star: context", [-4, -2, 0, 2, 4], [-4, -2, 0, 2, 4])
    right.bar([1, 2, 3], alpha, color=[BLUE, PINK, ORANGE])
    right.set(ylim=(0, 1), xlabel="encoder's state", ylabel="weight α")
    light(right, "Where the decoder looks", [1, 2, 3], [0, 0.5, 1])
    return fig, say(
        "s = ({x:.1f}, {y:.1f}): weights {a:.4f}, {b:.4f}, {c:.4f}; context ({p:.2f}, {q:.2f}).",
        x=x,
        y=y,
        a=alpha[0],
        b=alpha[1],
        c=alpha[2],
        p=c[0],
        q=c[1],
    )


def draw_alignment(source, answer, alpha, mean):
    """Weights of one answer (T', T) beside the mean over many. source, answer: letters."""
    fig, axes = plt.subplots(1, 2, figsize=(8.6, 3.9))
    for ax, table in zip(axes, (alpha, mean), strict=True):
        mesh = ax.imshow(table, vmin=0, vmax=1, aspect="auto")
        ax.grid(False)
        ax.set_xticks(range(len(source)), source if ax is axes[0] else range(1, len(source) + 1))
        ax.set_yticks(range(len(answer)), answer if ax is axes[0] else range(1, len(answer) + 1))
        ax.set(xlabel="letter read", ylabel="letter said")
    axes[0].set_title(f"Reading “{source}”")
    axes[1].set_title("The mean of 300 texts")
    fig.colorbar(mesh, ax=list(axes), label="weight α")
    found = 1 + np.asarray(mean).argmax(1)
    return fig, say(
        "Weights of an attentive network that reverses {source}. In the mean of 300 texts the largest weight of each "
        "letter said lies at the letters read {found}.",
        source=source,
        found=" ".join(map(str, found)),
    )


def draw_answer(texts, chances, said, found, likeliest):
    """12:45: the network's chances, what greedy says and a beam finds; right: by width, over all times."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.2), width_ratios=(1.3, 1))
    order = np.argsort(chances)
    for y, i in enumerate(order):
        greedy = texts[i] == said
        left.barh(y, 100 * chances[i], color=VERMILION if greedy else BLUE, hatch="//" * greedy)
        note = " greedy" if greedy else " beam of 3" if texts[i] == found else ""
        left.text(100 * chances[i], y, note, va="center")
    left.set_yticks(range(len(texts)), [texts[i] for i in order])
    left.set(xlabel="chance that the network gives it (%)", xlim=(0, 55), title="12:45")
    widths = list(likeliest)
    right.bar([str(w) for w in widths], likeliest.values(), color=BLUE)
    right.set(xlabel="width of the beam", ylabel="times, of 48", ylim=(0, 50))
    right.set_title("It finds the likeliest answer")
    for ax in (left, right):
        ax.grid(axis="y" if ax is left else "x", visible=False)
    return fig, say(
        "At 12:45 greedy says “{said}”, a beam of 3 “{found}”. Found the likeliest answer, at 48 times: {told:; }.",
        said=said,
        found=found,
        told=[say("width {w}: {n}", w=w, n=n) for w, n in likeliest.items()],
    )

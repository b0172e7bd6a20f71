"""Pictures of the reader project: four applicants, who looks ahead, what a character costs, a word that comes back."""

from collections import defaultdict
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent import data
from descent.plots import BLACK, BLUE, ORANGE, SKY, VERMILION, fixed_axes, light, verdict_table
from descent.words import say, typeset

ALPHABET = '\n abcdefghijklmnopqrstuvwxyz.,"()'
SPLIT = [16_000, 20_000]  # known, new, locked
NAMES = ("first", "second", "third", "fourth")
SHORT = 16  # characters of a map of influence
NOTE, ASK = 0, 1  # signs of the copied task; then eight letters, then six of noise
ORDERS = {"first": 4, "second": 4, "third": 12, "fourth": 4}  # characters counted together
DOUBT = {"third": 0.1}  # what each new successor of a context weighs; 1 for all others
# What each judge says and its bound: less is better. Lists of five numbers are in this order.
JUDGES = (
    ("off 1", 0.001),
    ("looks ahead", 1e-6),
    ("bits, new", 3.3),
    ("new − known", 1.8),
    ("second word", 0.7),
)


@cache
def _codes():
    text = "".join(c for c in data.manual().lower() if c in ALPHABET)
    return torch.tensor([ALPHABET.index(c) for c in text])


def split():
    """The manual's characters as whole numbers: known (16000,), new (4000,), locked (the rest)."""
    return tuple(part.clone() for part in _codes().tensor_split(SPLIT))


@cache
def _counts(known, order):
    tables = [defaultdict(dict) for _ in range(order)]
    for t, symbol in enumerate(known):
        for length, table in enumerate(tables[: t + 1]):
            row = table[known[t - length : t]]
            row[symbol] = row.get(symbol, 0) + 1
    return tables


def _longest(tables, ids, k, doubt=1.0):
    """Forecasts (T, k) from counts of ever longer contexts: each context is mixed with the shorter one.

    A context seen n times, with u different successors, weighs n / (n + doubt u) (doubt 1: Witten and Bell).
    """
    ids = tuple(ids.tolist())
    P = np.empty((len(ids), k))
    for t in range(len(ids)):
        p = np.full(k, 1 / k)
        for length, table in enumerate(tables[: t + 1]):
            row = table.get(ids[t - length : t])
            if row is None:
                break
            n, u = sum(row.values()), doubt * len(row)
            p = p * (u / (n + u))
            for symbol, count in row.items():
                p[symbol] += count / (n + u)
        P[t] = p
    return torch.from_numpy(P)


def hire(name, known, k):
    """One of the four, taught by the text known: a function, text (T,) -> forecasts (T, k)."""
    tables = _counts(tuple(known.tolist()), ORDERS[name])

    def forecast(ids):
        P = _longest(tables, ids, k, DOUBT.get(name, 1.0))
        if name == "first":
            return 0.2 * P + 0.8 * torch.eye(k, dtype=P.dtype)[ids]
        return P.sqrt() if name == "second" else P

    return forecast


def _cost(P, ids):
    return -P[torch.arange(len(ids)), ids].log2()


@cache
def _brochures(known, new):
    texts = {name: torch.tensor(known[:4000] if name == "third" else new) for name in NAMES}
    k = len(ALPHABET)
    return {
        name: _cost(hire(name, torch.tensor(known), k)(text), text)[20:].mean().item()
        for name, text in texts.items()
    }


def brochures(known, new):
    """What the four say that they cost, {name: bits}. The third was tried on text that it knows."""
    return dict(_brochures(tuple(known.tolist()), tuple(new.tolist())))


def sign_of_cipher(pairs, bits, known, new):
    """Whether pairs cost less (1), as much (0) or more (-1) once all characters are swapped."""
    k = len(ALPHABET)
    swap = torch.randperm(k, generator=torch.Generator().manual_seed(0))
    asked = torch.ones(len(new), dtype=torch.bool)
    plain = float(bits(pairs(known, new, k), new, asked))
    secret = float(bits(pairs(swap[known], swap[new], k), swap[new], asked))
    return 0 if abs(plain - secret) < 1e-9 else int(np.sign(plain - secret))


def lines(m, seed, delay=None):
    """Words of two letters, noise, and the two signs, as copy_test takes them: m lines of 2 to 8 noise, or of delay."""
    rng = np.random.default_rng(seed)
    words = rng.integers(2, 10, (m, 2)).tolist()
    lengths = rng.integers(2, 9, m) if delay is None else [delay] * m
    return words, [rng.integers(10, 16, length).tolist() for length in lengths], NOTE, ASK


@torch.no_grad()
def listen(Reader, learned, ids):
    """A reader's forecasts (T, k) for a text that it gets one character at a time; row 0, before all, is 1/k."""
    learned = [torch.as_tensor(part).detach().float() for part in learned]
    memory, rows = None, []
    for t, char in enumerate(ids.tolist()[:-1]):
        if t % 100 == 0:
            reader = Reader()  # a new one: what it knows stands in learned and memory
        chances, memory = reader.step(learned, memory, char)
        rows.append(torch.as_tensor(chances).detach().double())
    rows = torch.stack(rows)
    return torch.cat([torch.full_like(rows[:1], 1 / rows.shape[1]), rows])


@cache
def _pupil(Reader, copy_test):
    torch.manual_seed(1)
    return Reader().fit(copy_test(*lines(1450, seed=1))[0], 16, 20_000)


@cache
def delayed(Reader, copy_test, delay):
    """What a letter costs the second time, in bits, after so many characters of noise."""
    ids, asked = copy_test(*lines(60, seed=3, delay=delay))
    P = listen(Reader, _pupil(Reader, copy_test), ids)
    return _cost(P, ids)[asked].mean().item()


def blocks(P, ids, size=250):
    """Mean cost of a text in bits, and its standard error from blocks of so many characters."""
    cost = _cost(P, ids)[20:]
    means = cost[: len(cost) // size * size].view(-1, size).mean(1)
    return cost.mean().item(), (means.std() / len(means) ** 0.5).item()


def fails(numbers):
    """Which of the five judges turn a reader away: a list of truth values."""
    return [not number <= bound for number, (_, bound) in zip(numbers, JUDGES, strict=True)]


def _shown(symbol):
    return {"\n": "↵", " ": "␣"}.get(ALPHABET[symbol], ALPHABET[symbol])


# ---------------------------------------------------------------- pictures


def _bars(ax, names, values, colors):
    ax.barh(range(len(names)), values, color=colors, height=0.6)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.grid(False, axis="y")


def draw_brochures(claims):
    """What four readers say that they cost, {name: bits} -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(6.6, 2.6))
    _bars(ax, list(claims), list(claims.values()), BLUE)
    ax.axvspan(0.6, 1.3, color=ORANGE, alpha=0.3, zorder=0, label="Shannon's people, English")
    for row, cost in enumerate(claims.values()):
        ax.annotate(f"{cost:.1f}", (cost, row), (5, 0), textcoords="offset points", va="center")
    ax.set(xlim=(0, 3.6), xlabel="bits per character", title="Four brochures: whom do you believe?")
    ax.legend(loc="upper right")
    told = [say("{name} {cost:.1f}", name=name, cost=cost) for name, cost in claims.items()]
    return fig, say(
        "What four readers say that a character costs, in bits: {told:, }. People: 0.6 to 1.3.",
        told=told,
    )


def draw_costs(claims, costs, floor):
    """Brochure and your number for each applicant on new text, with the cost of pairs -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(6.6, 3.0))
    rows = np.arange(len(claims))
    mine = np.nan_to_num(list(costs.values()))
    ax.barh(rows - 0.2, list(claims.values()), 0.36, color=SKY, label="brochure")
    ax.barh(rows + 0.2, mine, 0.36, color=BLUE, hatch="//", label="you, on new text")
    for row, cost in zip(rows, costs.values(), strict=True):
        text = "no forecast: rows do not add up to 1" if np.isnan(cost) else f"{cost:.1f}"
        place = (0 if np.isnan(cost) else cost, row + 0.2)
        ax.annotate(text, place, (5, 0), textcoords="offset points", va="center")
    ax.axvline(floor, color=VERMILION, linestyle="--", label="pairs")
    ax.set_yticks(rows, list(claims))
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(xlim=(0, 6), xlabel="bits per character", title="Two brochures fall")
    ax.legend(loc="upper right")
    told = [say("{name} {cost:.1f}", name=n, cost=c) for n, c in costs.items() if not np.isnan(c)]
    return fig, say("On new text, in bits: {told:, }; pairs {floor:.1f}.", told=told, floor=floor)


def draw_maps(maps, ids):
    """Influence (T, T) of each character on each forecast, by reader -> (fig, words)."""
    fig, axes = fixed_axes(len(maps), (9.6, 3.0), (0.06, 0.99, 0.17, 0.88), wspace=0.15)
    ticks, names = range(len(ids)), [_shown(symbol) for symbol in ids.tolist()]
    told = []
    for ax, (name, M) in zip(axes, maps.items(), strict=True):
        M = np.asarray(M, float)
        ax.imshow(M, cmap="Blues", vmin=0, vmax=1)
        ax.plot(np.arange(len(M) + 1) - 0.5, np.arange(len(M) + 1) - 0.5, "--", color=ORANGE, lw=1)
        ax.set_xticks(ticks, names, fontsize=8)
        ax.set_yticks(ticks, names, fontsize=8)
        ax.tick_params(length=0, labelleft=ax is axes[0])
        ax.grid(False)
        back = max((t - j for t in range(len(M)) for j in range(t) if M[t, j] > 1e-6), default=0)
        ahead = np.triu(M).max()
        told.append(
            say(
                "{name}: ahead {ahead:.1f}, back up to {back} characters",
                name=name,
                ahead=ahead,
                back=back,
            )
        )
        light(ax, f"{name}: looks ahead" if ahead > 1e-6 else f"{name}: {back} back", fontsize=11)
    fig.supylabel("forecast for", fontsize=10, x=0.005)
    fig.supxlabel("character that is changed", fontsize=10)
    return fig, say("How far a forecast moves, at most. {told:; }.", told=told)


def draw_verdicts(verdicts):
    """A table, readers by judges, {name: five numbers} -> (fig, words)."""
    asked = {label: f"at most {bound if bound > 1e-4 else 0:g}" for label, bound in JUDGES}
    return verdict_table(verdicts, asked, fails)


def draw_reading(P, ids, step, around=36):
    """The last characters before `step`, each over what it cost, and what is expected there -> (fig, words)."""
    first = max(0, step - around)
    cost = np.asarray(_cost(P, ids))
    fig, (left, right) = fixed_axes(
        2, (7.8, 3.0), (0.08, 0.97, 0.17, 0.87), wspace=0.16, width_ratios=[3, 1]
    )
    places = np.arange(first, step)
    left.bar(places, cost[first:step], color=BLUE)
    left.set_xticks(places, [_shown(symbol) for symbol in ids[first:step].tolist()], fontsize=9)
    left.set(xlim=(first - 0.6, first + around - 0.4), ylabel="cost (bits)")
    dearest = max(10, 1.05 * cost[:150][np.isfinite(cost[:150])].max())
    left.set_ylim(0, dearest)
    left.set_xlabel("what came")
    left.tick_params(axis="x", length=0)
    left.grid(False, axis="x")
    so_far = f"first {step} characters: {{}} bits each" if step > 1 else "first character: {} bits"
    light(left, "The " + so_far.format(f"{cost[:step].mean():.1f}"), y=np.arange(0, dearest, 5))
    top = P[step].topk(6)
    names = [_shown(symbol) for symbol in top.indices.tolist()]
    colors = [ORANGE if symbol == ids[step] else SKY for symbol in top.indices.tolist()]
    _bars(right, names, np.asarray(top.values), colors)
    right.set(xlim=(0, 1), xlabel="chance")
    light(right, f"next? ({_shown(int(ids[step]))} comes)")
    return fig, say(
        "After {step} character{s}, which cost {mean:.1f} bits{each}, {best} is expected with chance {chance:.2f}. "
        "{next} comes, and costs {cost:.1f} bits.",
        step=step,
        s="s" * (step > 1),
        each=" each" * (step > 1),
        mean=cost[:step].mean(),
        best=names[0],
        chance=float(top.values[0]),
        next=_shown(int(ids[step])),
        cost=cost[step],
    )


def draw_delays(delays, costs, delay):
    """What a letter costs the second time by the noise between, with a handle -> (fig, words)."""
    here = int(np.abs(np.array(delays) - delay).argmin())
    fig, ax = plt.subplots(figsize=(6.6, 3.4))
    ax.axvspan(2, 8, color=SKY, alpha=0.3, label="learned: 2 to 8")
    ax.axhline(3, color=BLACK, linestyle=":", label="guessing")
    ax.plot(delays, costs, "o-", color=BLUE, label="your reader")
    ax.axvline(delay, ymax=0.7, color=VERMILION, linewidth=1)
    ax.set_gid("delay")
    ax.set(
        xlabel="characters of noise between the two words",
        ylabel="bits per letter, second time",
        ylim=(0, max(6, 1.1 * max(costs))),
    )
    ax.legend(loc="upper right", ncols=3)
    light(ax, typeset(f"After {delay} characters of noise: {costs[here]:.1f} bits"))
    return fig, say(
        "After {delay} characters of noise a letter costs {cost:.1f} bits the second time; guessing costs 3.",
        delay=delay,
        cost=costs[here],
    )


def draw_final(spread):
    """Cost on the locked text with two standard errors, {name: (mean, error)} -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(6.6, 2.4))
    means, errors = np.array(list(spread.values())).T
    _bars(ax, list(spread), means, SKY)
    ax.errorbar(means, range(len(means)), xerr=2 * errors, fmt="none", color=BLACK, capsize=4)
    for row, (mean, error) in enumerate(zip(means, errors, strict=True)):
        place = (mean + 2 * error, row)
        ax.annotate(f"{mean:.2f}", place, (6, 0), textcoords="offset points", va="center")
    ax.set(
        xlim=(0, 1.2 * means.max()),
        xlabel="bits per character, with two standard errors",
        title=f"The locked text: {list(spread)[-1]} {means[-1]:.2f} bits a character",
    )
    told = [
        say("{name} {mean:.2f}, standard error {error:.2f}", name=name, mean=mean, error=error)
        for name, (mean, error) in spread.items()
    ]
    return fig, say("Bits per character on the locked text: {told:; }.", told=told)

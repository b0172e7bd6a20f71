"""Embeddings and associative memory: a toy corpus, vectors from counts and from training, and memories."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from descent import data
from descent.plots import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    VERMILION,
    fixed_axes,
    grouped_bars,
)
from descent.words import say

MARKERS, COLORS = "os^Dv", (BLUE, VERMILION, GREEN, PINK, ORANGE)
WAYS = (  # to answer an analogy: label, colour, hatch
    ("question words left out", BLUE, ""),
    ("they may answer", VERMILION, "//"),
    ("just the word nearest to c", GREEN, ".."),
)

# ---------------------------------------------------------------- the toy corpus

PLACES = {
    "france": ("paris", "wine", "seine"),
    "germany": ("berlin", "beer", "rhine"),
    "italy": ("rome", "pasta", "tiber"),
    "wales": ("cardiff", "rugby", "taff"),
}
PEOPLE = {
    "king": ("old", "his", "royal"),
    "queen": ("old", "her", "royal"),
    "prince": ("young", "his", "royal"),
    "princess": ("young", "her", "royal"),
    "man": ("old", "his", "plain"),
    "woman": ("old", "her", "plain"),
    "boy": ("young", "his", "plain"),
    "girl": ("young", "her", "plain"),
}
THINGS = {"royal": ("crown", "throne", "castle"), "plain": ("job", "bike", "bag")}
NAMES = {"barack": "obama", "marie": "curie", "albert": "einstein"}
BEASTS = {"cat": "fish", "dog": "meat"}
RELATIONS = {
    "he : she": [("king", "queen"), ("man", "woman"), ("prince", "princess"), ("boy", "girl")],
    "royal : plain": [("king", "man"), ("queen", "woman"), ("prince", "boy"), ("princess", "girl")],
    "country : capital": [(country, facts[0]) for country, facts in PLACES.items()],
    "first : last name": list(NAMES.items()),
    "two of a kind": [("cat", "dog"), ("car", "bus"), ("job", "bag"), ("wine", "pasta")],
}
KINDS = {
    "people": list(PEOPLE),
    "countries": list(PLACES),
    "capitals": [facts[0] for facts in PLACES.values()],
    "animals": list(BEASTS),
    "vehicles": ["car", "bus"],
}
SHOWN = [word for words in KINDS.values() for word in words]


def toy_corpus(n: int = 3000, seed: int = 0) -> list[list[str]]:
    """n sentences about people, places, names, animals and vehicles, from eleven templates."""
    rng = np.random.default_rng(seed)
    return [_sentence(lambda *words: words[rng.integers(len(words))]) for _ in range(n)]


def _sentence(pick: Callable) -> list[str]:
    topic = pick("person", "person", "place", "thing", "name")
    if topic == "person":
        word = pick(*PEOPLE)
        age, whose, rank = PEOPLE[word]
        return ["the", age, word, pick("wants", "sees"), whose, pick(*THINGS[rank])]
    if topic == "place":
        country = pick(*PLACES)
        capital, *local = PLACES[country]
        of_country = [country, pick("army", "border", "president")]
        of_capital = [capital, pick("mayor", "station", "tower")]
        return [*pick(of_country, of_capital), pick("likes", "has"), pick(*local)]
    if topic == "name":
        first = pick(*NAMES)
        return [first, NAMES[first], pick("speaks", "smiles"), pick("today", "again")]
    word = pick(*BEASTS, "car", "bus")
    if word in BEASTS:
        return ["the", word, pick("eats", "sleeps"), BEASTS[word]]
    return ["the", word, pick("stops", "rusts"), pick("fuel", "wheels")]


class Corpus(NamedTuple):
    """words: the vocabulary, by number. index: word -> number. texts: arrays of word numbers."""

    words: list[str]
    index: dict[str, int]
    texts: list[np.ndarray]


def numbered(texts: list[list[str]], words: list[str] | None = None) -> Corpus:
    """Texts as word numbers; words outside the vocabulary are left out. words: all, in alphabetical order."""
    words = words or sorted({word for text in texts for word in text})
    index = {word: number for number, word in enumerate(words)}
    return Corpus(
        words, index, [np.array([index[w] for w in text if w in index], int) for text in texts]
    )


def next_pairs(texts: list[np.ndarray]) -> np.ndarray:
    """(word, next word) -> (N, 2)."""
    return np.concatenate([np.stack([t[:-1], t[1:]], axis=1) for t in texts])


def context_pairs(texts: list[np.ndarray], window: int) -> np.ndarray:
    """(centre, context word at most `window` places away), both ways round -> (N, 2)."""
    found = []
    for text in texts:
        for gap in range(1, min(window, len(text) - 1) + 1):
            pairs = np.stack([text[:-gap], text[gap:]], axis=1)
            found += [pairs, pairs[:, ::-1]]
    return np.concatenate(found)


def count_table(pairs: np.ndarray, V: int) -> np.ndarray:
    """How often each pair occurs. pairs (N, 2) -> (V, V)."""
    return np.bincount(pairs[:, 0] * V + pairs[:, 1], minlength=V * V).reshape(V, V).astype(float)


def ppmi_vectors(counts: np.ndarray, d: int) -> np.ndarray:
    """Rows: word vectors from positive pointwise mutual information and its singular vectors. (V, V) -> (V, d)

    max(log p(i, j) / (p(i) p(j)), 0) = U S Vᵀ; the vectors are the first d columns of U sqrt(S).
    """
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > expected)
    U, S, _ = np.linalg.svd(np.log(ratio))
    return U[:, :d] * np.sqrt(S[:d])


@cache
def toy_world() -> tuple[Corpus, np.ndarray]:
    """The toy corpus and vectors of its words, made from counts alone, the first entries the weightiest."""
    corpus = numbered(toy_corpus())
    counts = count_table(context_pairs(corpus.texts, 5), len(corpus.words))
    return corpus, ppmi_vectors(counts, 40)


def cosine_of_steps(a: str, b: str, c: str, d: str) -> float:
    """How parallel the steps from a to b and from c to d are, on the vectors from counts."""
    corpus, vectors = toy_world()
    a, b, c, d = (vectors[corpus.index[word]] for word in (a, b, c, d))
    return float(unit(b - a) @ unit(d - c))


def skipgram(
    pairs, V: int, grads: Callable, *, d=16, negatives=5, steps=30_000, rate=0.3, marks=()
):
    """Skip-gram with negative sampling, one pair a step -> tables W (V, d) and C (V, d), snapshots of W.

    grads(w_c, w_o, W_n) -> loss and its gradients by the three arguments. Noise words are drawn by
    count to the power 3/4. The rate falls to a tenth in a straight line.
    """
    rng = np.random.default_rng(0)
    W, C = rng.normal(0, 0.1, (V, d)), rng.normal(0, 0.1, (V, d))
    weight = np.bincount(pairs[:, 1], minlength=V) ** 0.75
    drawn = pairs[rng.integers(len(pairs), size=steps)]
    noise = rng.choice(V, (steps, negatives), p=weight / weight.sum())
    seen = {}
    for step, ((centre, context), others) in enumerate(zip(drawn.tolist(), noise, strict=True)):
        if step in marks:
            seen[step] = W.copy()
        _, g_c, g_o, g_n = grads(W[centre], C[context], C[others])
        eta = rate * (1 - 0.9 * step / steps)
        W[centre] -= eta * np.asarray(g_c)
        C[context] -= eta * np.asarray(g_o)
        np.subtract.at(C, others, eta * np.asarray(g_n))
    seen[steps] = W.copy()
    return W, C, seen


# ---------------------------------------------------------------- codes and distances


def distances(vectors: np.ndarray) -> np.ndarray:
    """Euclidean distance of every pair of rows. (V, d) -> (V, V)"""
    return np.linalg.norm(vectors[:, None] - vectors, axis=-1)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1; rows of zeros stay."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)


def plane(vectors: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """The rows on their first two principal axes. (V, d) -> (V, 2), turned to agree with `like` (V, 2)."""
    centred = vectors - vectors.mean(0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    if like is None:
        return flat
    U, _, Vt = np.linalg.svd(flat.T @ like)
    return flat @ U @ Vt


def few_hot() -> tuple[np.ndarray, list[str]]:
    """Hand-made yes/no attributes of the words of SHOWN -> (20, attributes), attribute names."""
    names = ["person", "old", "she", "royal", "place", "capital", "animal", "vehicle"]
    names += list(PLACES)
    rows = np.zeros((len(SHOWN), len(names)))
    for row, word in zip(rows, SHOWN, strict=True):
        if word in PEOPLE:
            age, whose, rank = PEOPLE[word]
            row[:4] = 1, age == "old", whose == "her", rank == "royal"
        for country, facts in PLACES.items():
            if word in (country, facts[0]):
                row[[4, names.index(country)]] = 1
                row[5] = word != country
        row[6], row[7] = word in BEASTS, word in ("car", "bus")
    return rows, names


def named_rows(ax, names):
    """A heat map's rows are words."""
    ax.set_yticks(range(len(names)), names, fontsize=7)
    ax.grid(False)


def draw_opening():
    """Distances of twenty words: one-hot against vectors from counts."""
    fig, axes = fixed_axes(2, (9, 4.4), (0.09, 0.98, 0.2, 0.91), wspace=0.28)
    gaps = [distances(code_of(kind, 40)) for kind in ("one-hot", "from counts")]
    titles = "One-hot: all equally far apart", "From counts: kinds are near (blue)"
    for ax, table, title in zip(axes, gaps, titles, strict=True):
        ax.imshow(table, cmap="cividis", vmin=0, vmax=1.5, aspect="auto")
        named_rows(ax, SHOWN)
        ax.set_xticks(range(len(SHOWN)), SHOWN, fontsize=7, rotation=90)
        ax.set(xlabel="word", ylabel="word", title=title)
    near, far = (gaps[1][SHOWN.index("cat"), SHOWN.index(w)] for w in ("dog", "car"))
    off = gaps[0][~np.eye(len(SHOWN), dtype=bool)]
    return fig, say(
        "Two heat maps of distances. One-hot codes: from {low:.2f} to {high:.2f} between any two words. "
        "Vectors from counts: cat is {ratio:.1f} times as far from car as from dog; kinds of words form blue blocks.",
        low=off.min(), high=off.max(), ratio=far / near,
    )  # fmt: skip


def _corners(points, words, avoid=()) -> list[tuple[bool, bool]]:
    """For each word a corner of its point, (right, up), where its label meets few others. Greedy, in order."""
    low, spread = points.min(0), np.ptp(points, axis=0)
    spread = np.where(spread > 0, spread, 1)
    at, corners = (points - low) / spread, []
    labels = [(place - low) / spread for place in avoid]  # and places along the labels so far
    for number, (word, own) in enumerate(zip(words, at, strict=True)):
        reach = np.arange(0.2, 1, 0.3) * (0.02 + 0.014 * len(word))
        others, lines, rooms = np.array([*np.delete(at, number, 0), *labels]), {}, {}
        for right, up in ((True, True), (True, False), (False, True), (False, False)):
            x = (1 if right else -1) * (0.012 + reach)
            line = own + np.stack([x, np.full(3, 0.03 if up else -0.03)], axis=1)
            room = (np.abs(line[:, None] - others) / (0.05, 0.04)).max(-1).min()
            lines[right, up], rooms[right, up] = line, min(room, 1.5)
        corners.append(max(rooms, key=rooms.get))
        labels.extend(lines[corners[-1]])
    return corners


def label_points(points, words, ax, avoid=()):
    """The words beside their points (n, 2), and room around them. avoid: places for no label."""
    spread, corners = np.ptp(points, axis=0), _corners(points, words, avoid)
    for word, point, (right, up) in zip(words, points, corners, strict=True):
        side = dict(ha="left" if right else "right", va="bottom" if up else "top")
        shift = 5 if right else -5, 2 if up else -2
        ax.annotate(word, point, xytext=shift, textcoords="offset points", fontsize=8, **side)
    low, high = points.min(0) - 0.18 * spread, points.max(0) + 0.18 * spread
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    ax.set(xlabel="first principal axis", ylabel="second principal axis")


def draw_map(points, words, ax):
    """Points (n, 2) of the words on ax, a marker for each kind."""
    for (kind, members), marker, color in zip(KINDS.items(), MARKERS, COLORS, strict=True):
        at = [words.index(w) for w in members if w in words]
        ax.plot(*points[at].T, marker, color=color, label=kind)
    label_points(points, words, ax)
    ax.legend(fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=len(KINDS))


def code_of(kind: str, d: int) -> np.ndarray:
    """The 20 words of SHOWN as one-hot, few-hot, random vectors or those from counts (20, ·); d for the last two.

    From counts: vectors of length 1, on their first d principal axes (at most 20).
    """
    corpus, vectors = toy_world()
    if kind == "one-hot":
        return np.eye(len(SHOWN))
    if kind == "few-hot":
        return few_hot()[0]
    if kind == "random dense":
        return unit(np.random.default_rng(1).normal(size=(len(SHOWN), d)))
    counted = unit(vectors[[corpus.index[w] for w in SHOWN]])
    centred = counted - counted.mean(0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:d].T


def draw_codes(kind: str, d: int):
    """The codes of 20 words and the distance of every two."""
    code = code_of(kind, d)
    gaps = distances(code)
    off = gaps[~np.eye(len(gaps), dtype=bool)]
    fig, (left, right) = fixed_axes(2, (9, 4.2), (0.09, 0.98, 0.12, 0.91), wspace=0.28)
    scale = np.abs(code).max()
    left.imshow(code, cmap="PuOr", vmin=-scale, vmax=scale, aspect="auto")
    left.set(xlabel="component", ylabel="word", title=f"{kind}: {code.shape[1]} numbers a word")
    right.imshow(gaps, cmap="cividis", vmin=0, aspect="auto")
    right.set(xlabel="the same words", ylabel="word", title="Distances (blue: near)")
    for ax in (left, right):
        named_rows(ax, SHOWN)
        ax.set_xticks([])
    cat = SHOWN.index("cat")
    return fig, say(
        "{kind}, {size} numbers a word, {used:.1f} of them not zero. Distances run from {low:.2f} to {high:.2f}; "
        "cat to dog {near:.2f}, cat to car {far:.2f}. Pairs of words with the same code: {same}.",
        kind=kind, size=code.shape[1], used=np.count_nonzero(code) / len(code), low=off.min(), high=off.max(),
        near=gaps[cat, SHOWN.index("dog")], far=gaps[cat, SHOWN.index("car")], same=int(np.sum(off < 1e-9) / 2),
    )  # fmt: skip


# ---------------------------------------------------------------- the next word


def draw_sparsity(d_embed, d_unembed, words, x: str, y: str):
    """Size of the gradient of each embedding column and of each unembedding row, for one pair."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    sizes = np.linalg.norm(d_embed, axis=0), np.linalg.norm(d_unembed, axis=1)
    touched, moved = (int(np.sum(size > 0)) for size in sizes)
    titles = f"$W_e$: 1 column moves ({x})", f"$W_u$: all rows move ({y} most)"
    for ax, size, title, color in zip(axes, sizes, titles, (BLUE, VERMILION), strict=True):
        ax.bar(range(len(words)), size, color=color)
        ax.set(xlabel="word number", ylabel="length of the slope", title=title)
    axes[1].set_yscale("log")
    return fig, say(
        "Lengths of the slopes for the pair {x}, {y}: {touched} of {V} columns of the embedding and {moved} rows "
        "of the unembedding are not zero; the longest of these is that of {most}.",
        x=x, y=y, touched=touched, V=len(words), moved=moved, most=words[sizes[1].argmax()],
    )  # fmt: skip


def draw_next(losses, before, after, words, context: str):
    """The loss of small batches, and the five likeliest next words before and after training."""
    top = np.argsort(-after, kind="stable")[:5]
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
    left.plot(losses, color=SKY, linewidth=0.7, label="a batch")
    mean = np.convolve(losses, np.full(50, 1 / 50), "valid")
    left.plot(np.arange(len(mean)) + 49, mean, color=BLUE, label="mean of 50 batches")
    left.set(xlabel="step", ylabel="loss (nats a word)", title=f"The loss falls to {mean[-1]:.1f}")
    left.legend()
    looks = ("before training", SKY, "//"), ("after training", BLUE, "")
    grouped_bars([words[i] for i in top], (before[top], after[top]), right, looks=looks, step=0.4)
    right.set(ylabel="probability", xlabel="next word", title=f"What comes after {context}?")
    right.legend()
    return fig, say(
        "The loss falls from {first:.1f} to about {last:.1f}. P({top} | {context}) rises from {low:.2f} to {high:.2f}.",
        first=losses[0], last=mean[-1], top=words[top[0]], context=context, low=before[top[0]], high=after[top[0]],
    )  # fmt: skip


def draw_rotation(before, after, words):
    """Embeddings of some words, and the same after a rotation that changes no prediction."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    scale = np.abs(before).max()
    for ax, table, title in zip(axes, (before, after), ("As trained", "Rotated"), strict=True):
        ax.imshow(table, cmap="PuOr", vmin=-scale, vmax=scale, aspect="auto")
        ax.set(xlabel="entry of the vector", ylabel="word", title=f"{title}: the same model")
        named_rows(ax, words)
    return fig, say(
        "Two heat maps of the vectors of {n} words, before and after a rotation. Entries change by up to {most:.1f}.",
        n=len(words), most=np.abs(before - after).max(),
    )  # fmt: skip


# ---------------------------------------------------------------- the real corpus


class Manual(NamedTuple):
    """corpus: the manual's words; train, valid: counts (V, V) of (word, next word); window: of contexts."""

    corpus: Corpus
    train: np.ndarray
    valid: np.ndarray
    window: np.ndarray


def read_manual(documents: dict[str, str], size: int = 600) -> Manual:
    """The `size` commonest words of the texts, and their counts.

    Every fifth stretch of 50 words is held out. Context counts (4 places) use all stretches, and each
    occurrence is thinned by sqrt(0.001 / frequency) of both words, so that "the" does not drown the rest.
    """
    texts = [re.findall("[a-z]+", text.lower()) for text in documents.values()]
    counted = Counter(word for text in texts for word in text)
    words = [word for word, _ in sorted(counted.items(), key=lambda p: (-p[1], p[0]))[:size]]
    corpus = numbered(texts, words)
    stretches = [t[i : i + 50] for t in corpus.texts for i in range(0, len(t) - 1, 50)]
    stretches = [s for s in stretches if len(s) > 1]
    V = len(words)
    train = count_table(next_pairs([s for i, s in enumerate(stretches) if i % 5]), V)
    valid = count_table(next_pairs(stretches[::5]), V)
    window = count_table(context_pairs(corpus.texts, 4), V)
    share = window.sum(1) / window.sum()
    keep = np.minimum(1, np.sqrt(0.001 / np.maximum(share, 1e-12)))
    return Manual(corpus, train, valid, window * np.outer(keep, keep))


def cross_entropy(counts, P) -> float:
    """Mean of -log P over the counted pairs, in nats. counts, P (V, V); row: given word."""
    return -np.sum(counts * np.log(P)) / counts.sum()


def smoothed_table(train, strength: float = 30.0) -> np.ndarray:
    """Bigram probabilities, each row shrunk towards the single-word shares by `strength` imagined words."""
    share = (train.sum(0) + 0.5) / (train.sum() + 0.5 * len(train))
    return (train + strength * share) / (train.sum(1, keepdims=True) + strength)


def fit_scores(train, d: int, steps: int = 120, tied: str = "", rate: float = 0.05):
    """The embedding model, trained by Adam on all counts -> probabilities (V, V), W_e (d, V), its other matrix.

    s = W_u W_e x. tied="identity": s = W_eᵀ W_e x. tied="learnt": s = W_eᵀ W_a W_e x.
    """
    import torch

    V, g = len(train), torch.Generator().manual_seed(0)
    counts = torch.tensor(train, dtype=torch.float32)
    W_e = (0.1 * torch.randn(d, V, generator=g)).requires_grad_()
    other = 0.1 * torch.randn(V, d, generator=g) if not tied else torch.eye(d)
    if tied == "learnt":
        other = other + 0.1 * torch.randn(d, d, generator=g)
    learnt = [W_e] if tied == "identity" else [W_e, other.requires_grad_()]
    optimizer = torch.optim.Adam(learnt, lr=rate)
    for _ in range(steps):
        scores = other @ W_e if not tied else W_e.T @ (other @ W_e)
        log_p = torch.log_softmax(scores.T, dim=1)
        optimizer.zero_grad()
        (-(counts * log_p).sum() / counts.sum()).backward()
        optimizer.step()
    scores = other @ W_e if not tied else W_e.T @ (other @ W_e)
    P = torch.softmax(scores.T.double(), dim=1)
    return P.detach().numpy(), W_e.detach().numpy(), other.detach().numpy()


def draw_ranks(ranks, train, valid, unigram: float, table: float):
    """Training and held-out loss against the embedding's dimension."""
    fig, ax = plt.subplots(figsize=(6.6, 4.2))
    ax.plot(ranks, train, "s--", color=BLUE, label="embedding, training text")
    ax.plot(ranks, valid, "o-", color=VERMILION, label="embedding, held-out text")
    ax.axhline(unigram, color="0.5", linestyle=":", label="word shares, held-out")
    ax.axhline(table, color=GREEN, linestyle="-.", label="smoothed table, held-out")
    ax.set_xscale("log", base=2)
    ax.set_xticks(ranks, ranks)
    ax.minorticks_off()
    ax.set(xlabel="embedding dimension d", ylabel="loss (nats a word)")
    ax.set(title="More dimensions memorise")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig, say(
        "Loss against the embedding dimension. On training text it falls from {first:.1f} to {last:.1f}. On held-out "
        "text it is lowest at d = {best}, {low:.1f}, and rises to {end:.1f}. A smoothed table has {table:.1f}.",
        first=train[0], last=train[-1], best=ranks[int(np.argmin(valid))], low=min(valid), end=valid[-1], table=table,
    )  # fmt: skip


def fit_skipgram(window, d: int = 32, negatives: int = 5, steps: int = 150):
    """Tables W, C (V, d) that minimise the expected skip-gram loss, computed from counts, by Adam.

    Expected: over contexts by `window` (V, V), and noise words by context count to the power 3/4.
    """
    import torch
    from torch.nn.functional import logsigmoid

    g, counts = torch.Generator().manual_seed(0), torch.tensor(window, dtype=torch.float32)
    counts = counts / counts.sum()
    noise = counts.sum(0) ** 0.75
    noise = negatives * counts.sum(1, keepdim=True) * noise / noise.sum()
    W, C = ((0.1 * torch.randn(len(window), d, generator=g)).requires_grad_() for _ in range(2))
    optimizer = torch.optim.Adam([W, C], lr=0.05)
    for _ in range(steps):
        dots = W @ C.T
        log_yes = logsigmoid(dots)  # log σ(-z) = log σ(z) - z
        loss = -(counts * log_yes + noise * (log_yes - dots)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return W.detach().double().numpy(), C.detach().double().numpy()


@cache
def the_manual() -> tuple[Manual, np.ndarray]:
    """Python's manual, and skip-gram vectors of its words, of length 1."""
    manual = read_manual(data.documents())
    return manual, unit(fit_skipgram(manual.window)[0])


def neighbours(vectors, corpus: Corpus, word: str, k: int = 5) -> list[str]:
    """The k words of largest cosine with `word`, itself left out."""
    u = unit(vectors)
    cosines = u @ u[corpus.index[word]]
    cosines[corpus.index[word]] = -np.inf
    return [corpus.words[i] for i in np.argsort(-cosines, kind="stable")[:k]]


# ---------------------------------------------------------------- analogies


def quads(pairs) -> list[tuple[str, str, str, str]]:
    """All questions a : b = c : ? with two different pairs (a, b), (c, right answer)."""
    return [(*one, *two) for one in pairs for two in pairs if one[0] != two[0]]


def score_analogies(analogy: Callable, vectors, corpus: Corpus, pairs) -> list[float]:
    """Shares of the questions that each of WAYS answers rightly, by `analogy(vectors, a, b, c, exclude)`."""
    right = []
    for quad in quads(pairs):
        a, b, c, wanted = (corpus.index[word] for word in quad)
        near = [w for w in neighbours(vectors, corpus, quad[2], 3) if w not in quad[:2]]
        answers = [analogy(vectors, a, b, c, exclude) for exclude in (True, False)]
        right.append([answer == wanted for answer in [*answers, corpus.index[near[0]]]])
    return np.mean(right, axis=0).tolist()


def draw_arrows(vectors, index, told: dict[str, float]):
    """Arrows of two relations, each on its own two principal axes. told: relation -> mean cosine of its arrows."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    for ax, (relation, cosine) in zip(axes, told.items(), strict=True):
        pairs = RELATIONS[relation]
        names = [word for pair in pairs for word in pair]
        points = plane(vectors[[index[w] for w in names]])
        arrows = points.reshape(-1, 2, 2)
        for (start, end), color in zip(arrows, COLORS, strict=False):
            look = dict(arrowstyle="->", color=color, linewidth=2)
            ax.annotate("", end, start, arrowprops=look)
        ax.plot(*points.T, "o", color="0.5", markersize=3)
        shares = np.linspace(0.05, 0.95, 19)[:, None, None]
        along = (1 - shares) * arrows[:, 0] + shares * arrows[:, 1]
        label_points(points, names, ax, along.reshape(-1, 2))
        ax.set(title=f"{relation}: mean cosine {cosine:.1f}".replace("-", "−"))
    (one, first), (two, second) = told.items()
    return fig, say(
        "Arrows of two relations. Mean cosine of {one}: {first:.1f}; of {two}: {second:.1f}.",
        one=one, first=first, two=two, second=second,
    )  # fmt: skip


def snapshot_explorer(corpus: Corpus, seen: dict[int, np.ndarray]) -> Callable:
    """-> draw(frame, word): the map of 20 words at a snapshot of the training, and the words nearest to one."""
    at, steps = [corpus.index[w] for w in SHOWN], sorted(seen)
    final = plane(unit(seen[steps[-1]][at]))

    def draw(frame: int, word: str):
        step = steps[frame]
        vectors = unit(seen[step])
        fig, ax = plt.subplots(figsize=(7.4, 4.9), layout="none")
        fig.subplots_adjust(left=0.06, right=0.98, bottom=0.15, top=0.92)
        draw_map(plane(vectors[at], final), SHOWN, ax)
        cat, dog, car = (vectors[corpus.index[w]] for w in ("cat", "dog", "car"))
        ax.set_title(f"After {step:,} pairs", y=1.02)
        return fig, say(
            "After {step:,} pairs. Cosine of cat and dog {near:.1f}, of cat and car {far:.1f}. "
            "Nearest to {word}: {found:, }.",
            step=step, near=cat @ dog, far=cat @ car, word=word, found=neighbours(vectors, corpus, word, 3),
        )  # fmt: skip

    return draw


def draw_answer(rows: dict[str, tuple]):
    """Relation -> mean cosine of its steps, and the share right by each of WAYS, as bars."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True, width_ratios=(1, 2))
    at, table = np.arange(len(rows)), np.array(list(rows.values()))
    left.barh(at, table[:, 0], 0.5, color=SKY)
    left.axvline(0, color="0.5", linewidth=1)
    left.set_yticks(at, list(rows))
    left.invert_yaxis()
    left.set(xlabel="mean cosine", ylabel="relation", title="Planted steps agree")
    for number, (label, color, hatch) in enumerate(WAYS):
        share = 100 * table[:, 1 + number]
        place = at + 0.27 * (number - 1)
        right.barh(place, share, 0.25, color=color, hatch=hatch, edgecolor="white", label=label)
        for y, x in zip(place, share, strict=True):
            right.text(x + 1, y, f"{x:.0f}", va="center", fontsize=8)
    right.set(xlabel="questions right (%)", ylabel="relation", xlim=(0, 112))
    right.set(title="Arithmetic works where steps agree")
    right.legend(loc="lower right")
    told = [f"{name} {row[0]:.1f}, {row[1]:.0%}" for name, row in rows.items()]
    return fig, say(
        "For each relation the mean cosine of its steps, and the share of analogies right: {told:; }.",
        told=told,
    )


# ---------------------------------------------------------------- tied models


def draw_associations(E, A, index, words: list[str], asked: list[str]):
    """Cosines of the words' vectors, and of the images under A of those asked with them. E (d, V), A (d, d)."""
    vectors = unit(E.T[[index[w] for w in words]])
    images = unit((A @ E).T[[index[w] for w in asked]])
    shares = dict(width_ratios=(len(words), len(asked)))
    fig, axes = fixed_axes(2, (9, 4.6), (0.09, 0.98, 0.19, 0.91), wspace=0.35, gridspec_kw=shares)
    tables = vectors @ vectors.T, vectors @ images.T
    titles = "$w_i$ and $w_j$: used alike", "$w_i$, $W_aw_j$: what follows"
    for ax, table, title, across in zip(axes, tables, titles, (words, asked), strict=True):
        ax.imshow(table, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
        named_rows(ax, words)
        ax.set_xticks(range(len(across)), across, fontsize=8, rotation=90)
        ax.set(ylabel="word i", title=title)
    favourite = tables[1].argmax(0)
    axes[1].plot(range(len(asked)), favourite, "*", color=BLACK, markersize=9)
    axes[0].set(xlabel="word j")
    axes[1].set(xlabel="word j (★: nearest i)")
    return fig, say(
        "Two heat maps of cosines: of the vectors of words, and of these with images under W_a. "
        "A star marks the word nearest to each image: {steps:, }.",
        steps=[f"{word} to {words[i]}" for word, i in zip(asked, favourite, strict=True)],
    )


def draw_week(days: list[str], fixed, learnt, E, A):
    """Scores (7, 7) of two tied models, column: today; and the plane of the second: E (2, 7), A (2, 2)."""
    fig, axes = plt.subplots(1, 3, figsize=(7.1, 2.7))
    right = []
    for ax, scores, name in zip(axes, (fixed, learnt), ("$W_a = I$", "$W_a$ learnt"), strict=False):
        scale = np.abs(scores).max()
        ax.imshow(scores, cmap="PuOr_r", vmin=-scale, vmax=scale)
        ax.plot(range(7), scores.argmax(0), "*", color=BLACK, markersize=9)
        named_rows(ax, days)
        ax.set_xticks(range(7), days, fontsize=7, rotation=90)
        right.append(int(np.sum(scores.argmax(0) == np.arange(1, 8) % 7)))
        ax.set(xlabel="today (★: guess)", ylabel="tomorrow?")
        ax.set_title(f"{name}: {right[-1]} right", fontsize=10.5)
    ax, image = axes[2], unit((A @ E).T) * np.linalg.norm(E, axis=0).mean()
    for day, start, end in zip(days, E.T, image, strict=True):
        ax.annotate("", end, start, arrowprops=dict(arrowstyle="->", color=BLUE))
        ax.text(*(1.42 * start), day, ha="center", va="center", fontsize=8)
    ax.plot(*E, "o", color=VERMILION)
    reach = 1.8 * np.abs(E).max()
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="first entry", ylabel="second entry")
    ax.set_title("$W_a$ turns by a day", fontsize=10.5)
    return fig, say(
        "Scores of tomorrow given today: right on {fixed} days of 7 with W_a = I, on {learnt} with a learnt one. "
        "In the plane the days lie around 0; arrows show where the learnt matrix turns each of them (lengths scaled).",
        fixed=right[0], learnt=right[1],
    )  # fmt: skip


# ---------------------------------------------------------------- Hebbian memory


def pairs_of(kind: str, n: int, d: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """n keys and n values in d dimensions, rows of length 1. kind: "orthonormal" (n <= d) or anything else."""
    A, B = unit(rng.normal(size=(n, d))), unit(rng.normal(size=(n, d)))
    if kind == "orthonormal":
        if n > d:
            raise ValueError(f"pairs_of: no {n} orthonormal keys exist in {d} dimensions.")
        A = np.linalg.qr(rng.normal(size=(d, n)))[0].T
    return A, B


def store(kind: str, A, B) -> np.ndarray:
    """Memory W: the sum of outer products, or for "pseudo-inverse" the least-squares W of smallest norm."""
    return B.T @ np.linalg.pinv(A.T) if kind == "pseudo-inverse" else B.T @ A


def recall_error(recalled, B) -> float:
    """Root of the mean squared length of the error, over that of the values. Rows."""
    return np.sqrt(np.sum((recalled - B) ** 2) / np.sum(B**2))


def nearest_right(recalled, B) -> float:
    """Share of rows whose nearest stored value is the right one."""
    gaps = np.sum(B**2, axis=1) - 2 * recalled @ B.T
    return np.mean(gaps.argmin(1) == np.arange(len(B)))


def measure_recall(kind: str, n: int, d: int, repeats: int = 1, seed: int = 0):
    """RMS recall error, and share read out right, over `repeats` memories."""
    rng, errors, right = np.random.default_rng(seed), [], []
    for _ in range(repeats):
        A, B = pairs_of(kind, n, d, rng)
        recalled = A @ store(kind, A, B).T
        errors.append(recall_error(recalled, B) ** 2)
        right.append(nearest_right(recalled, B))
    return np.sqrt(np.mean(errors)), np.mean(right)


def draw_memory(keys: str, n: int, d: int):
    """A memory of n pairs: how much recall k looks like stored value i, and its error on the curve."""
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.07, 0.98, 0.15, 0.9), wspace=0.25)
    grid = np.geomspace(2, 256, 80)
    right.plot(grid, np.sqrt((grid - 1) / d), "-", color=BLUE, label="random: √((n−1)/d)")
    best = np.sqrt(np.maximum(0, 1 - d / grid))
    right.plot(grid, best, "--", color=GREEN, label="pseudo-inverse: √(1−d/n)")
    right.axvline(d, color="0.5", linestyle=":", label="n = d")
    right.set(xscale="log", xlabel="stored pairs n", ylabel="error (share of length)")
    right.set(xlim=(1.8, 290), ylim=(-0.1, max(2.6, 1.15 * np.sqrt(255 / d))))
    right.set_title("Error against n", y=1.02)
    right.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
    right.minorticks_off()
    right.set_gid("error")
    left.grid(False)
    left.set(xlabel="asked: key k", ylabel="stored value i")
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    left.set_title("Is recall k like value i?", y=1.02)
    if keys == "orthonormal" and n > d:
        left.text(
            0.5, 0.5, f"no {n} orthonormal keys\nexist in {d} dimensions", ha="center", va="center"
        )
        left.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
        right.legend(loc="upper left")
        return fig, say(
            "{n} keys cannot be orthonormal in {d} dimensions: at most {d} can.", n=n, d=d
        )
    A, B = pairs_of(keys, n, d, np.random.default_rng(0))
    recalled = A @ store(keys, A, B).T
    error, found = recall_error(recalled, B), nearest_right(recalled, B)
    left.imshow((recalled @ B.T).T, cmap="PuOr_r", vmin=-1.5, vmax=1.5)
    right.plot(n, error, "*", color=VERMILION, markersize=15, label="this memory")
    right.legend(loc="upper left")
    return fig, say(
        "{n} pairs in {d} dimensions, keys: {keys}. Error {error:.2f}; √((n−1)/d) is {theory:.2f}. "
        "The nearest stored value is the right one for {found:.0%} of the keys.",
        n=n, d=d, keys=keys, error=error, theory=np.sqrt((n - 1) / d), found=found,
    )  # fmt: skip


# ---------------------------------------------------------------- MLP memory


def padded(A_list, size: int) -> np.ndarray:
    """Arrays (n, d) of different n, filled with rows of zeros -> (batch, size, d)."""
    out = np.zeros((len(A_list), size, A_list[0].shape[1]))
    for row, A in zip(out, A_list, strict=True):
        row[: len(A)] = A
    return out


def fit_mlp_memory(A, B, m: int, steps: int = 400, rate: float = 0.02, seed: int = 0):
    """ReLU memories without bias, one for each of a batch of key tables -> W_in (*batch, m, d), W_out (*batch, d, m).

    A, B (batch, n, d); rows of zeros are no pairs: they cost nothing. W_in takes Adam steps on the squared
    error; W_out is solved by least squares at each of them. steps=0: W_in stays random.
    """
    import torch

    g = torch.Generator().manual_seed(seed)
    A, B = torch.as_tensor(A), torch.as_tensor(B)
    W_in = torch.randn(len(A), m, A.shape[-1], generator=g, dtype=A.dtype).requires_grad_()
    optimizer = torch.optim.Adam([W_in], lr=rate)
    ridge = 1e-9 * torch.eye(m, dtype=A.dtype)
    for _ in range(steps):
        H = torch.relu(A @ W_in.mT)
        with torch.no_grad():
            W_out = torch.linalg.solve(H.mT @ H + ridge, H.mT @ B)
        loss = (H @ W_out - B).square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    W_in = W_in.detach()
    H = torch.relu(A @ W_in.mT).numpy()
    W_out = np.linalg.pinv(H, rcond=1e-10) @ B.numpy()
    return W_in.numpy(), W_out.swapaxes(-1, -2)


def mlp_memory(h, W_in, W_out):
    """h (*batch, n, d) -> W_out relu(W_in h), row by row."""
    return np.maximum(h @ W_in.swapaxes(-1, -2), 0) @ W_out.swapaxes(-1, -2)


def draw_capacity(ns, linear, fixed: dict[int, np.ndarray], trained: dict[int, np.ndarray], d: int):
    """Recall error against the number of stored pairs: linear, random hidden layer, trained hidden layer."""
    fig, ax = plt.subplots(figsize=(7.2, 4.4))
    ax.plot(ns, linear, ":", color="0.5", marker="x", label="linear, least squares")
    looks = dict(zip(trained, (("o", BLUE), ("s", VERMILION)), strict=True))
    for m, (marker, color) in looks.items():
        ax.plot(
            ns,
            fixed[m],
            marker + "--",
            mfc="white",
            color=color,
            label=f"m = {m}, random $W_{{in}}$",
        )
        ax.plot(ns, trained[m], marker + "-", color=color, label=f"m = {m}, trained $W_{{in}}$")
    ax.axvline(d, color="0.5", linewidth=1)
    ax.text(d, 1.02, "n = d ", ha="right", fontsize=8)
    ax.set(xlabel="stored pairs n", ylabel="error (share of length)", ylim=(-0.03, 1.12))
    ax.set(title="Capacity grows with the hidden width, and with training")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    last = {m: int(ns[trained[m] < 0.05].max()) for m in trained}
    return fig, say(
        "Recall error against n for keys of {d} numbers. A linear memory is exact up to n = {d}; random hidden layers "
        "of m units up to n = m. With a trained W_in the error is below 0.05 up to {told:, }.",
        d=d, told=[f"n = {n} for m = {m}" for m, n in last.items()],
    )  # fmt: skip


def draw_path(t, linear, bent, kinks, ends):
    """One component of the answer on the way from one key to another. ends: the two stored values."""
    fig, ax = plt.subplots(figsize=(7, 3.4))
    ax.plot(t, linear, ":", color="0.5", label="linear memory")
    ax.plot(t, bent, "-", color=BLUE, label="ReLU memory")
    at = np.interp(kinks, t, bent)
    ax.plot(kinks, at, "|", color=VERMILION, markersize=12, label="a unit switches")
    ax.plot([0, 1], ends, "o", color=GREEN, markersize=8, label="stored values")
    ax.set(xlabel="position t between the two keys", ylabel="first entry of the answer")
    ax.set(title="Between two memories: bent, not smooth")
    ax.legend()
    return fig, say(
        "The ReLU memory meets both stored values and changes slope at {n} places in between. "
        "The linear memory moves on a straight line and misses them.",
        n=len(kinks),
    )

"""Embeddings and associative memory: a toy corpus, word vectors from counts and from training, and memories."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes

MARKERS, COLORS = "os^Dv", (BLUE, VERMILION, GREEN, PINK, ORANGE)
WAYS = "question words left out", "may answer", "nearest word to c instead"  # to answer an analogy

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


def draw_opening():
    """Distances of twenty words: one-hot against learnt vectors. The scale has no numbers: they are a question."""
    fig, axes = fixed_axes(2, (9, 4.3), (0.09, 0.88, 0.18, 0.92), wspace=0.3)
    gaps = [distances(code_of(kind, 40)) for kind in ("one-hot", "learnt")]
    titles = "One-hot: all alike", "Learnt from counts: kinds are near"
    for ax, table, title in zip(axes, gaps, titles, strict=True):
        image = ax.imshow(table, cmap="cividis", vmin=0, vmax=1.5)
        ax.set_yticks(range(len(SHOWN)), SHOWN, fontsize=7)
        ax.set_xticks(range(len(SHOWN)), SHOWN, fontsize=7, rotation=90)
        ax.grid(False)
        ax.set(xlabel="word", ylabel="word", title=title)
    bar = fig.colorbar(image, cax=fig.add_axes([0.91, 0.28, 0.015, 0.54]))
    bar.set_ticks([0, 1.5], labels=["none", "large"])
    bar.set_label("distance")
    near, far = (gaps[1][SHOWN.index("cat"), SHOWN.index(w)] for w in ("dog", "car"))
    off = gaps[0][~np.eye(len(SHOWN), dtype=bool)]
    return fig, (
        f"Two heat maps of distances. One-hot codes: {'' if np.ptp(off) < 1e-9 else 'not '}all pairs of words are "
        f"equally far apart. Learnt vectors: cat is {far / near:.1f} times as far from car as from dog; kinds of "
        "words form blocks of short distances."
    )


def _corners(points, words) -> list[tuple[bool, bool]]:
    """For each word a corner of its point, (right, up), where its label meets few others. Greedy, in order."""
    spread = np.ptp(points, axis=0)
    at = (points - points.min(0)) / np.where(spread > 0, spread, 1)
    taken, corners = (
        list(at),
        [],
    )  # what a label should stay away from: points, and middles of labels
    for word, own in zip(words, at, strict=True):
        options = [(right, up) for right in (True, False) for up in (True, False)]
        reach = np.arange(0.2, 1, 0.3) * (0.02 + 0.014 * len(word))  # places along the label
        rooms = []
        for right, up in options:
            line = own + np.stack(
                [(1 if right else -1) * (0.012 + reach), np.full(3, 0.03 if up else -0.03)], axis=1
            )
            others = np.array([p for p in taken if p is not own])
            rooms.append((np.abs(line[:, None] - others) / (0.05, 0.04)).max(-1).min())
        best = int(np.argmax(np.minimum(rooms, 1.5)))
        corners.append(options[best])
        right, up = options[best]
        for x in reach:
            taken.append(own + (x if right else -x, 0.03 if up else -0.03))
    return corners


def draw_map(points, words, ax):
    """Points (n, 2) of the words on ax, a marker for each kind."""
    for (kind, members), marker, color in zip(KINDS.items(), MARKERS, COLORS, strict=True):
        at = [words.index(w) for w in members if w in words]
        ax.plot(*points[at].T, marker, color=color, label=kind)
    spread = np.ptp(points, axis=0)
    for word, point, (right, up) in zip(words, points, _corners(points, words), strict=True):
        ax.annotate(
            word,
            point,
            xytext=(5 if right else -5, 2 if up else -2),
            ha="left" if right else "right",
            va="bottom" if up else "top",
            textcoords="offset points",
            fontsize=8,
        )
    low, high = points.min(0) - 0.1 * spread, points.max(0) + 0.1 * spread
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set(xlabel="first principal axis", ylabel="second principal axis")
    ax.legend(fontsize=7, loc="best")


def code_of(kind: str, d: int) -> np.ndarray:
    """The 20 words of SHOWN as one-hot, few-hot, random or learnt vectors (20, ·); d for the last two.

    Learnt: vectors of length 1, on their first d principal axes (at most 20).
    """
    corpus, vectors = toy_world()
    if kind == "one-hot":
        return np.eye(len(SHOWN))
    if kind == "few-hot":
        return few_hot()[0]
    if kind == "random dense":
        return unit(np.random.default_rng(1).normal(size=(len(SHOWN), d)))
    learnt = unit(vectors[[corpus.index[w] for w in SHOWN]])
    centred = learnt - learnt.mean(0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:d].T


def draw_codes(kind: str, d: int):
    """The codes of 20 words and the distance of every two."""
    code = code_of(kind, d)
    gaps = distances(code)
    off = gaps[~np.eye(len(gaps), dtype=bool)]
    fig, (left, right) = fixed_axes(2, (9, 4.2), (0.09, 0.95, 0.12, 0.92), wspace=0.28)
    scale = np.abs(code).max()
    left.imshow(code, cmap="PuOr", vmin=-scale, vmax=scale, aspect="auto")
    left.set(xlabel="component", title=f"{kind}: {code.shape[1]} numbers a word")
    image = right.imshow(gaps, cmap="cividis", vmin=0, aspect="auto")
    fig.colorbar(image, ax=right, label="distance")
    same = "all alike" if np.ptp(off) < 1e-9 else "they differ"
    right.set(xlabel="the same words", title=f"Distances: {same}")
    for ax in (left, right):
        ax.set_yticks(range(len(SHOWN)), SHOWN, fontsize=7)
        ax.set_xticks([])
        ax.grid(False)
    cat = SHOWN.index("cat")
    near, far = gaps[cat, SHOWN.index("dog")], gaps[cat, SHOWN.index("car")]
    same = int(np.sum(off < 1e-9) / 2)
    return fig, (
        f"{kind}, {code.shape[1]} numbers a word, {np.count_nonzero(code) / len(code):.1f} of them not zero. "
        f"Distances run from {off.min():.2f} to {off.max():.2f}; cat to dog {near:.2f}, cat to car {far:.2f}. "
        f"Pairs of words with the same code: {same}."
    )


# ---------------------------------------------------------------- the bigram model


def draw_sparsity(d_embed, d_unembed, words, x: str, y: str):
    """Size of the gradient of each embedding column and of each unembedding row, for one pair."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(9, 3.6), sharex=True)
    sizes = np.linalg.norm(d_embed, axis=0), np.linalg.norm(d_unembed, axis=1)
    top.bar(range(len(words)), sizes[0], color=BLUE)
    bottom.bar(range(len(words)), sizes[1], color=VERMILION)
    touched, moved = (int(np.sum(s > 0)) for s in sizes)
    top.set(ylabel="length", title=f"Embedding: {touched} column of {len(words)} moves ({x})")
    bottom.set(ylabel="length", yscale="log", xlabel="word number")
    bottom.set_title(f"Unembedding: {moved} of {len(words)} rows move, {y} most")
    return fig, (
        f"Lengths of the gradients for the pair {x}, {y}: {touched} column of the embedding is not zero, "
        f"{moved} rows of the unembedding are not zero; the longest is that of {words[sizes[1].argmax()]}."
    )


def draw_next(before, after, words, context: str):
    """Probabilities of the next word before and after training; the five largest after."""
    top = np.argsort(-after, kind="stable")[:5]
    fig, ax = plt.subplots(figsize=(6.5, 3))
    at = np.arange(5)
    ax.bar(at - 0.2, before[top], 0.4, color=SKY, hatch="//", label="before training")
    ax.bar(at + 0.2, after[top], 0.4, color=BLUE, label="after training")
    ax.set_xticks(at, [words[i] for i in top])
    ax.set(ylabel="probability", xlabel="next word", title=f"After {context} comes {words[top[0]]}")
    ax.legend()
    return fig, (
        f"P({words[top[0]]} | {context}) rises from {before[top[0]]:.2f} to {after[top[0]]:.2f}."
    )


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


def fit_bigram(train, d: int, steps: int = 120, tied: str = "") -> np.ndarray:
    """Next-word probabilities of the embedding model, trained by Adam on all counts -> (V, V).

    s = W_u W_e x. tied="identity": s = W_eᵀ W_e x. tied="learnt": s = W_eᵀ W_a W_e x.
    """
    return fit_scores(train, d, steps, tied)[0]


def fit_scores(train, d: int, steps: int = 120, tied: str = "", rate: float = 0.05):
    """As `fit_bigram` -> probabilities (V, V), W_e (d, V), and the matrix behind it (W_a, I or W_u)."""
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
    fig, ax = plt.subplots(figsize=(7, 3.6))
    ax.plot(ranks, train, "s--", color=BLUE, label="embedding, training text")
    ax.plot(ranks, valid, "o-", color=VERMILION, label="embedding, held-out text")
    ax.axhline(unigram, color=BLACK, linestyle=":", label="word shares, held-out")
    ax.axhline(table, color=GREEN, linestyle="-.", label="smoothed table, held-out")
    ax.set_xscale("log", base=2)
    ax.set_xticks(ranks, ranks)
    ax.minorticks_off()
    ax.set(xlabel="embedding dimension d", ylabel="loss (nats a word)")
    ax.set(title="More dimensions memorise; held-out text has an optimum")
    ax.legend(fontsize=8, loc="upper right")
    ax.set_ylim(top=max(unigram, max(train)) + 0.9)
    return fig, (
        "Loss against the embedding dimension. On training text it falls throughout. On held-out text it "
        "falls and then rises. A smoothed table of counts is better still on held-out text."
    )


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


def neighbours(vectors, corpus: Corpus, word: str, k: int = 5) -> list[str]:
    """The k words of largest cosine with `word`, itself left out."""
    u = unit(vectors)
    cosines = u @ u[corpus.index[word]]
    cosines[corpus.index[word]] = -np.inf
    return [corpus.words[i] for i in np.argsort(-cosines, kind="stable")[:k]]


def draw_neighbours(vectors, corpus: Corpus, asked: list[str]):
    """A table of nearest neighbours."""
    asked = [word for word in asked if word in corpus.index]
    fig, ax = plt.subplots(figsize=(8, 0.32 * len(asked) + 0.6))
    ax.axis("off")
    ax.set(title="Nearest words by cosine", xlim=(0, 1), ylim=(len(asked) - 0.4, -0.8))
    for row, word in enumerate(asked):
        ax.text(0.0, row, word, fontweight="bold", fontsize=10)
        ax.text(0.16, row, ", ".join(neighbours(vectors, corpus, word)), fontsize=10)
    return fig, (
        f"A table: for each of {len(asked)} words of the manual its five nearest words by cosine."
    )


# ---------------------------------------------------------------- analogies


def quads(pairs) -> list[tuple[str, str, str, str]]:
    """All questions a : b = c : ? with two different pairs (a, b), (c, right answer)."""
    return [(*one, *two) for one in pairs for two in pairs if one[0] != two[0]]


def score_analogies(analogy: Callable, vectors, index, pairs, exclude: bool) -> float:
    """Share of the questions that `analogy(vectors, a, b, c, exclude)` answers with the right word."""
    asked = np.array([[index[w] for w in quad] for quad in quads(pairs)])
    return np.mean([analogy(vectors, *q[:3], exclude) == q[3] for q in asked])


def nearest_scores(vectors, index, pairs) -> float:
    """Share of the same questions right when the answer is just the nearest neighbour of c."""
    u, right = unit(vectors), []
    for a, b, c, answer in quads(pairs):
        cosines = u @ u[index[c]]
        cosines[[index[a], index[b], index[c]]] = -np.inf
        right.append(cosines.argmax() == index[answer])
    return np.mean(right)


def parallelism(vectors, index, pairs) -> float:
    """Mean cosine of the differences b - a, over all two of the pairs (a, b)."""
    gaps = unit(np.array([vectors[index[b]] - vectors[index[a]] for a, b in pairs]))
    cosines = gaps @ gaps.T
    return cosines[np.triu_indices(len(pairs), 1)].mean()


def draw_scores(scores: dict[str, tuple], title: str, words: str):
    """Bars: one group a relation, one bar for each of WAYS; shares of questions right."""
    fig, ax = plt.subplots(figsize=(8, 3.4))
    at, width = np.arange(len(scores)), 0.8 / len(WAYS)
    hatches = ("", "//", "..")
    for number, label in enumerate(WAYS):
        heights = [100 * row[number] for row in scores.values()]
        place = at + (number - (len(WAYS) - 1) / 2) * width
        ax.bar(place, heights, width, color=COLORS[number], hatch=hatches[number], label=label)
        for x, height in zip(place, heights, strict=True):
            ax.text(x, height, f"{height:.0f}", ha="center", va="bottom", fontsize=8)
    ax.set_xticks(at, list(scores))
    top = max(100 * max(row) for row in scores.values())
    ax.set(ylim=(0, 1.35 * top + 1), ylabel="questions right (%)", title=title)
    ax.legend(fontsize=8, ncols=len(WAYS), loc="upper left")
    return fig, words


def draw_arrows(vectors, index):
    """Arrows from country to capital and from he to she, each on its own two principal axes."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    told = []
    for ax, relation in zip(axes, ("he : she", "country : capital"), strict=True):
        pairs = RELATIONS[relation]
        points = plane(vectors[[index[w] for pair in pairs for w in pair]])
        for number, (a, b) in enumerate(pairs):
            start, end = points[2 * number : 2 * number + 2]
            ax.annotate("", end, start, arrowprops=dict(arrowstyle="->", color=COLORS[number]))
            ha = "right" if number % 2 else "left"
            for word, at, va in ((a, start, "top"), (b, end, "bottom")):
                ax.text(*at, f" {word} ", fontsize=9, ha=ha, va=va)
        ax.plot(*points.T, "o", color=BLACK, markersize=2)
        ax.margins(0.2)
        ax.set(xlabel="first principal axis", ylabel="second principal axis", title=relation)
        told.append(f"{relation} {parallelism(vectors, index, pairs):.1f}")
    return fig, f"Arrows within a relation are nearly parallel. Mean cosines: {', '.join(told)}."


def snapshot_explorer(corpus: Corpus, seen: dict[int, np.ndarray]) -> Callable:
    """-> draw(step): the map of 20 words at a snapshot of the training."""
    at = [corpus.index[w] for w in SHOWN]
    final = plane(unit(seen[max(seen)][at]))

    def draw(step: int):
        vectors = unit(seen[step])
        fig, ax = plt.subplots(figsize=(8, 5), layout="none")
        draw_map(plane(vectors[at], final), SHOWN, ax)
        cat, dog, car = (vectors[corpus.index[w]] for w in ("cat", "dog", "car"))
        scores = [parallelism(vectors, corpus.index, RELATIONS[r]) for r in list(RELATIONS)[:3]]
        ax.set(title=f"After {step} pairs")
        return fig, (
            f"After {step} pairs: cosine of cat and dog {cat @ dog:.1f}, of cat and car {cat @ car:.1f}. "
            f"Mean cosine of the arrows: he to she {scores[0]:.1f}, royal to plain {scores[1]:.1f}, "
            f"country to capital {scores[2]:.1f}."
        )

    return draw


def draw_rotation(before, after, words):
    """Embeddings of some words, and the same after a rotation that changes no prediction."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    scale = np.abs(before).max()
    for ax, table, title in zip(axes, (before, after), ("As trained", "Rotated"), strict=True):
        image = ax.imshow(table, cmap="PuOr", vmin=-scale, vmax=scale, aspect="auto")
        ax.set(xlabel="component", title=f"{title}: the same model")
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.grid(False)
    fig.colorbar(image, ax=axes, label="value")
    return fig, (
        "Two heat maps of the vectors of the same words, before and after a rotation. Each single number "
        "differs; every score, distance and cosine is the same."
    )


# ---------------------------------------------------------------- tied models


def draw_associations(E, A, index, words: list[str], asked: list[str]):
    """Cosines of the words' vectors, and of the images under A of those asked with them. E (d, V), A (d, d)."""
    vectors = unit(E.T[[index[w] for w in words]])
    images = unit((A @ E).T[[index[w] for w in asked]])
    shares = dict(width_ratios=(len(words), len(asked)))
    fig, axes = fixed_axes(2, (9, 4.6), (0.09, 0.87, 0.19, 0.92), wspace=0.35, gridspec_kw=shares)
    tables = vectors @ vectors.T, vectors @ images.T
    titles = "$w_i$ and $w_j$: used alike", "$w_i$ and $W_a w_j$: what follows"
    for ax, table, title, across in zip(axes, tables, titles, (words, asked), strict=True):
        image = ax.imshow(table, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
        ax.set_xticks(range(len(across)), across, fontsize=8, rotation=90)
        ax.set_yticks(range(len(words)), words, fontsize=8)
        ax.set(ylabel="word i", title=title)
        ax.grid(False)
    favourite = tables[1].argmax(0)
    axes[1].plot(range(len(asked)), favourite, "*", color=BLACK, markersize=9)
    axes[0].set(xlabel="word j")
    axes[1].set(xlabel="word j (★: nearest word i)")
    fig.colorbar(image, cax=fig.add_axes([0.89, 0.19, 0.015, 0.73]), label="cosine")
    steps = ", ".join(f"{word} to {words[i]}" for word, i in zip(asked, favourite, strict=True))
    return fig, (
        "Two heat maps of cosines: of the vectors of words, and of their images under W_a with them. "
        f"A star marks the word nearest to each image: {steps}."
    )


def draw_week(days: list[str], fixed, learnt, E, A):
    """Scores (7, 7) of two tied models, column: today; and the plane of the second: E (2, 7), A (2, 2)."""
    fig, axes = plt.subplots(1, 3, figsize=(9.6, 3.6))
    told = []
    for ax, scores, name in zip(axes, (fixed, learnt), ("$W_a = I$", "$W_a$ learnt"), strict=False):
        scale = np.abs(scores).max()
        ax.imshow(scores, cmap="PuOr_r", vmin=-scale, vmax=scale)
        ax.plot(range(7), scores.argmax(0), "*", color=BLACK, markersize=9)
        ax.set_xticks(range(7), days, fontsize=8, rotation=90)
        ax.set_yticks(range(7), days, fontsize=8)
        right = int(np.sum(scores.argmax(0) == np.arange(1, 8) % 7))
        ax.set(
            xlabel="today (★: highest score)", ylabel="tomorrow?", title=f"{name}: {right} right"
        )
        ax.grid(False)
        told.append(f"with {name.replace('$', '')} the favourite is right on {right} days of 7")
    ax, image = axes[2], unit((A @ E).T) * np.linalg.norm(E, axis=0).mean()
    for day, start, end in zip(days, E.T, image, strict=True):
        ax.annotate("", end, start, arrowprops=dict(arrowstyle="->", color=BLUE))
        ax.text(*(1.18 * start), day, ha="center", va="center", fontsize=8)
    ax.plot(*E, "o", color=VERMILION)
    reach = 1.4 * np.abs(E).max()
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set(xlabel="first entry", ylabel="second entry", title="$W_a$ turns by one day")
    return fig, (
        f"Scores of tomorrow given today: {' and '.join(told)}. In the plane the seven days lie on a circle, "
        "and arrows show that the learnt matrix turns each day to the next (lengths scaled)."
    )


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


def draw_recall_law(results: dict[int, tuple[np.ndarray, np.ndarray]]):
    """Measured errors against n for each d, with sqrt((n - 1) / d) as lines."""
    fig, ax = plt.subplots(figsize=(7, 3.8))
    worst = 0.0
    for (d, (ns, errors)), marker, color in zip(results.items(), MARKERS, COLORS, strict=False):
        ax.plot(ns, errors, marker, color=color, label=f"measured, d = {d}")
        line = np.geomspace(2, max(ns), 60)
        ax.plot(line, np.sqrt((line - 1) / d), "-", color=color, linewidth=1)
        worst = max(worst, np.max(np.abs(errors / np.sqrt((ns - 1) / d) - 1)))
    ax.axhline(1, color=BLACK, linestyle=":", linewidth=1)
    ax.set(
        xscale="log", yscale="log", xlabel="stored pairs n", ylabel="recall error (share of length)"
    )
    ax.set(title="Lines: √((n − 1)/d). Noise equals the answer at n = d + 1")
    ax.legend(fontsize=8)
    close = "within 10 %" if worst < 0.1 else "not within 10 %"
    return fig, (
        f"Measured recall errors agree with the square root of (n - 1)/d {close}, for d = "
        f"{', '.join(map(str, results))}."
    )


def draw_memory(keys: str, n: int, d: int):
    """A memory of n pairs: how much recall k looks like stored value i, and its error on the curve."""
    fig, (left, right) = fixed_axes(2, (9, 3.7), (0.07, 0.98, 0.14, 0.9), wspace=0.25)
    grid = np.geomspace(2, 256, 80)
    right.plot(grid, np.sqrt((grid - 1) / d), "-", color=BLUE, label="random keys: √((n−1)/d)")
    best = np.sqrt(np.maximum(0, 1 - d / grid))
    right.plot(grid, best, "--", color=GREEN, label="pseudo-inverse: √(1−d/n) for n > d")
    right.axvline(d, color=BLACK, linestyle=":", label="n = d")
    right.set(xscale="log", xlabel="stored pairs n", ylabel="recall error (share of length)")
    right.set(ylim=(-0.1, 2.6), title="Error against n")
    left.grid(False)
    left.set(xlabel="asked: key k", ylabel="stored value i")
    possible = keys != "orthonormal" or n <= d
    if not possible:
        left.text(
            0.5, 0.5, f"no {n} orthonormal\nkeys exist in\n{d} dimensions", ha="center", va="center"
        )
        left.set(xlim=(0, 1), ylim=(0, 1), title="Impossible")
        right.legend(fontsize=8, loc="upper left")
        return fig, f"{n} keys cannot be orthonormal in {d} dimensions: at most {d} can."
    A, B = pairs_of(keys, n, d, np.random.default_rng(0))
    recalled = A @ store(keys, A, B).T
    error, found = recall_error(recalled, B), nearest_right(recalled, B)
    left.imshow((recalled @ B.T).T, cmap="PuOr_r", vmin=-1.5, vmax=1.5)
    left.set(title="Similarity of recall k and value i")
    right.plot(n, error, "*", color=VERMILION, markersize=15, label="this memory")
    right.legend(fontsize=8, loc="upper left")
    return fig, (
        f"{n} pairs in {d} dimensions, {keys} keys: recall error {error:.2f} "
        f"(random keys: {np.sqrt((n - 1) / d):.2f}). The nearest stored value is the right one "
        f"for {100 * found:.0f} % of the keys."
    )


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
    fig, ax = plt.subplots(figsize=(9, 3.8))
    ax.plot(ns, linear, "k:", marker="x", label="linear, least squares")
    for m, marker, color in zip(trained, "os", (BLUE, VERMILION), strict=True):
        ax.plot(
            ns,
            fixed[m],
            "--",
            marker=marker,
            mfc="white",
            color=color,
            label=f"m = {m}, random W_in",
        )
        ax.plot(ns, trained[m], "-", marker=marker, color=color, label=f"m = {m}, trained W_in")
    ax.axvline(d, color=BLACK, linewidth=1)
    ax.text(d, 1.02, " n = d", fontsize=8)
    ax.axhline(0.05, color=GREEN, linestyle="-.", linewidth=1)
    ax.set(xlabel="stored pairs n", ylabel="recall error (share of length)", ylim=(-0.03, 1.12))
    ax.set(title="Capacity grows with the hidden width, and with training")
    ax.text(2, 0.06, "0.05", fontsize=8, color=GREEN)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    return fig, (
        f"Recall error against n for keys of {d} numbers. Linear memory is exact up to n = {d}; the random "
        "hidden layers of m units drawn here up to n = m; training W_in stores some more."
    )


def draw_path(t, linear, bent, kinks, ends):
    """One component of the answer on the way from one key to another. ends: the two stored values."""
    fig, ax = plt.subplots(figsize=(7, 3.4))
    ax.plot(t, linear, ":", color=BLACK, label="linear memory")
    ax.plot(t, bent, "-", color=BLUE, label="ReLU memory")
    ax.plot(
        kinks,
        np.interp(kinks, t, bent),
        "|",
        color=VERMILION,
        markersize=12,
        label="a unit switches",
    )
    ax.plot([0, 1], ends, "o", color=GREEN, markersize=8, label="stored values")
    ax.set(xlabel="position t between the two keys", ylabel="first component of the answer")
    ax.set(title="Between two memories the answer is bent, not smooth")
    ax.legend(fontsize=8)
    return fig, (
        f"The ReLU memory meets both stored values and changes slope at {len(kinks)} places in between. "
        "The linear memory moves on a straight line and misses them."
    )


def draw_word_keys(ns, errors: dict[str, np.ndarray], theory):
    """Recall errors of memories keyed by real word vectors."""
    fig, ax = plt.subplots(figsize=(7.5, 3.8))
    ax.plot(ns, theory, "-", color=BLACK, linewidth=1, label="theory for random keys")
    for (name, row), marker, color in zip(errors.items(), MARKERS, COLORS, strict=False):
        ax.plot(ns, row, marker + "--", color=color, label=name)
    ax.set(xscale="log", xlabel="stored words n", ylabel="recall error (share of length)")
    ax.set_yscale("symlog", linthresh=0.1)
    ax.set_xticks(ns, ns)
    ax.minorticks_off()
    ax.set(title="Words share a direction; without it they are as good as random")
    ax.legend(fontsize=8, loc="upper left")
    ax.set_ylim(-0.02, 60)
    return fig, (
        "Recall error against n. With real word vectors as keys the sum of outer products errs more than the "
        "theory for random keys; with the mean word taken out it follows the theory; least squares is exact up "
        "to n = d; a ReLU memory is exact beyond that."
    )

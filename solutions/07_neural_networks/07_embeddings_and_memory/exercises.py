"""Exercises of 07_neural_networks/07_embeddings_and_memory."""

import numpy as np
import torch
from scipy.special import expit, log_softmax, softmax

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- look-up

embed = Exercise(
    "embed",
    reference=reference.embed,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("W", "ids"),
    hints=[
        "One-hot vector k times the table: which row or column of W does it pick?",
        "The words are the columns of W. NumPy takes a list of columns with W[:, ids]. What shape has that?",
        "W[:, ids] has shape (d, T); the answer wants a token a row.",
    ],
)


@embed.cases
def _(rng):
    yield "any tokens", dict(ids=np.array([4, 0, 6, 1]), W=rng.normal(size=(3, 7)))
    yield (
        "a token that repeats",
        dict(ids=np.array([2, 2, 5, 2]), W=rng.normal(size=(2, 6))),
    )
    yield (
        "as many components as words",
        dict(ids=np.array([3, 1]), W=rng.normal(size=(4, 4))),
    )
    yield "a text of one token", dict(ids=np.array([1]), W=rng.normal(size=(3, 5)))
    yield "an empty text", dict(ids=np.zeros(0, int), W=rng.normal(size=(3, 5)))


@embed.wrong(
    "takes rows of W", advice="W has shape (d, V). Along which axis do the words run?"
)
def _(ids, W):
    return W[ids % len(W)]


@embed.wrong(
    "a token a column",
    advice="The answer has shape (T, d): does a row of yours hold a token?",
)
def _(ids, W):
    return W[:, ids]


@embed.wrong(
    "a repeated token is looked up once",
    advice="The text keeps its length and order, also where a token comes twice.",
)
def _(ids, W):
    return W.T[np.unique(ids)]


@embed.wrong(
    "adds the tokens up",
    advice="Each token keeps a row of its own. What does your sum forget?",
)
def _(ids, W):
    return np.tile(W[:, ids].sum(1), (len(ids), 1))


@embed.right("one-hot rows times the table")
def _(ids, W):
    return np.eye(W.shape[1])[ids] @ W.T


@embed.right("one token at a time, as lists")
def _(ids, W):
    if len(ids) == 0:
        return np.zeros((0, len(W)))
    return [[float(row[i]) for row in W] for i in ids]


@embed.right("single precision")
def _(ids, W):
    return W.astype(np.float32).T[ids]


# ---------------------------------------------------------------- bigram gradients

embed_grads = Exercise(
    "embed_grads",
    reference=reference.bigram_grads,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("We", "Wu", "x", "y"),
    hints=[
        "First the forward pass for all pairs: H, the columns of We that x picks, one a row; the scores; their softmax P.",
        "error = onehot(y) - P, one row a pair. dWu is the sum over pairs of error times h, an outer product. Each pair sends Wuᵀ error back to column x of dWe.",
        "dWu = error.T @ H / n. For dWe make zeros of shape (V, d) and use np.add.at(…, x, error @ Wu / n): it adds repeats up, += does not. Return its transpose.",
    ],
)


@embed_grads.cases
def _(rng):
    yield "any pairs", _pairs(rng, [0, 3, 4], [2, 4, 1])
    yield "an input word that repeats", _pairs(rng, [1, 1, 3, 1], [2, 0, 0, 2])
    yield "a single pair", _pairs(rng, [2], [4])
    huge = 400 * np.outer(np.arange(2, 7), [1.0, 0.5])
    either = np.array(
        [1, -1, 1, 1, 1]
    )  # word 0 scores up to 3600, word 1 less than -900
    huge = dict(We=rng.uniform(0.8, 1.2, (2, 5)) * either, Wu=huge)
    yield (
        "huge scores of either sign",
        dict(x=np.array([0, 1]), y=np.array([1, 3]), **huge),
    )
    zeros = dict(We=np.zeros((2, 5)), Wu=np.zeros((5, 2)))
    yield (
        "a table of zeros cannot learn",
        dict(x=np.array([0]), y=np.array([1]), **zeros),
    )


def _pairs(rng, x, y, d=3, V=5):
    return dict(
        x=np.array(x),
        y=np.array(y),
        We=rng.normal(size=(d, V)),
        Wu=rng.normal(size=(V, d)),
    )


def _error(x, y, We, Wu):
    H = We[:, x].T
    return np.eye(We.shape[1])[y] - softmax(H @ Wu.T, axis=1), H


def _grads(x, y, We, Wu, sign=1.0, scale=None):
    error, H = _error(x, y, We, Wu)
    error = sign * error / (scale or len(x))
    return (np.eye(We.shape[1])[x].T @ error @ Wu).T, error.T @ H


@embed_grads.wrong(
    "the gradient of the loss",
    advice="J is the mean of log p, which is to grow. Which sign has onehot(y) - p in it?",
)
def _(x, y, We, Wu):
    return _grads(x, y, We, Wu, sign=-1.0)


@embed_grads.wrong(
    "a repeated word counts once",
    advice="Where a word comes twice in x, its column gets two contributions. Does += through an index add both?",
)
def _(x, y, We, Wu):
    error, H = _error(x, y, We, Wu)
    d_embed = np.zeros(We.shape)
    d_embed[:, x] += (error @ Wu).T / len(x)
    return d_embed, error.T @ H / len(x)


@embed_grads.wrong(
    "summed, not averaged", advice="J is a mean over the pairs, not a sum."
)
def _(x, y, We, Wu):
    return _grads(x, y, We, Wu, scale=1)


@embed_grads.wrong(
    "the next word's column moves",
    advice="Which column of We took part in the forward pass: that of x or that of y?",
)
def _(x, y, We, Wu):
    error, H = _error(x, y, We, Wu)
    return (np.eye(We.shape[1])[y].T @ error @ Wu).T / len(x), error.T @ H / len(x)


@embed_grads.wrong(
    "the error goes back through the wrong table",
    advice="h meets Wu on its way to the scores. Which matrix brings the error back to h?",
)
def _(x, y, We, Wu):
    error, H = _error(x, y, We, Wu)
    return (np.eye(We.shape[1])[x].T @ error @ We.T).T / len(x), error.T @ H / len(x)


@embed_grads.wrong(
    "only the next word's row moves",
    advice="p has an entry for each word. Which rows of Wu does y - p push?",
)
def _(x, y, We, Wu):
    error, H = _error(x, y, We, Wu)
    kept = error * np.eye(We.shape[1])[y]
    return _grads(x, y, We, Wu)[0], kept.T @ H / len(x)


@embed_grads.wrong(
    "the softmax overflows",
    advice="exp(1000) is infinite. What may you subtract from all scores of a row without changing p?",
)
def _(x, y, We, Wu):
    H = We[:, x].T
    with np.errstate(over="ignore", invalid="ignore"):
        P = np.exp(H @ Wu.T)
        P = P / P.sum(1, keepdims=True)
    error = (np.eye(We.shape[1])[y] - P) / len(x)
    return (np.eye(We.shape[1])[x].T @ error @ Wu).T, error.T @ H


@embed_grads.wrong(
    "infinite exponentials",
    advice="exp(1000) is infinite. What may you subtract from all scores of a pair without changing p?",
)
def _(x, y, We, Wu):
    S = Wu @ We[:, x]
    with np.errstate(over="ignore", invalid="ignore"):
        error = -np.exp(S) / np.exp(S).sum(0)
    error[y, np.arange(len(x))] += 1
    d_embed = np.zeros(We.shape)
    np.add.at(d_embed.T, x, (Wu.T @ error).T / len(x))
    return d_embed, error @ We[:, x].T / len(x)


@embed_grads.wrong(
    "one maximum for all pairs",
    advice="Where one pair scores 3000 and another -1000, what is left of the second after you subtract 3000?",
)
def _(x, y, We, Wu):
    H = We[:, x].T
    S = H @ Wu.T
    with np.errstate(invalid="ignore"):
        P = np.exp(S - S.max())
        P = P / P.sum(1, keepdims=True)
    error = -P
    error[np.arange(len(x)), y] += 1
    d_embed = np.zeros(We.shape)
    np.add.at(d_embed.T, x, error @ Wu / len(x))
    return d_embed, error.T @ H / len(x)


@embed_grads.right("scatters into the columns, pair by pair")
def _(x, y, We, Wu):
    d_embed, d_unembed = np.zeros(We.shape), np.zeros(Wu.shape)
    for i, j in zip(x, y, strict=True):
        error = -np.exp(log_softmax(Wu @ We[:, i]))
        error[j] += 1
        d_unembed += np.outer(error, We[:, i]) / len(x)
        d_embed[:, i] += Wu.T @ error / len(x)
    return d_embed, d_unembed


@embed_grads.right("lets torch differentiate")
def _(x, y, We, Wu):
    tables = [torch.tensor(W, requires_grad=True) for W in (We, Wu)]
    scores = (tables[1] @ tables[0][:, torch.tensor(x)]).T
    torch.log_softmax(scores, 1)[range(len(x)), torch.tensor(y)].mean().backward()
    return [table.grad.numpy() for table in tables]


@embed_grads.right("single precision")
def _(x, y, We, Wu):
    grads = _grads(x, y, We.astype(np.float32), Wu.astype(np.float32))
    return [g.astype(np.float32) for g in grads]


# ---------------------------------------------------------------- skip-gram

sgns_loss = Exercise(
    "sgns_loss",
    reference=reference.skipgram_loss,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W_n", "w_c", "w_o"),
    hints=[
        "Write the dot products first: one number for the context word, l numbers for the noise words.",
        "The derivative of -log σ(z) by z is -(1 - σ(z)) = -σ(-z), and of -log σ(-z) it is σ(z). Every gradient is such a number times the other vector.",
        "g_c collects two parts: -σ(-z_o) w_o from the context word and σ(z_n) @ W_n from the noise. "
        "For the loss, -log σ(z) = np.logaddexp(0, -z) never overflows; scipy.special.expit is a safe σ.",
    ],
)


@sgns_loss.cases
def _(rng):
    yield "any vectors", _words(rng, 4, 3)
    yield "no noise words", _words(rng, 3, 0)
    twice = _words(rng, 3, 3)
    twice["W_n"][2] = twice["W_n"][0]
    yield "a noise word drawn twice", twice
    long = dict(w_c=np.array([40.0, 0.0]), w_o=np.array([-30.0, 1.0]))
    yield "very long vectors", dict(**long, W_n=np.array([[25.0, 2.0], [-20.0, 1.0]]))
    yield "zero vectors", dict(w_c=np.zeros(2), w_o=np.zeros(2), W_n=np.zeros((5, 2)))


def _words(rng, d, negatives):
    draw = [rng.normal(0.4, 1.0, shape) for shape in (d, d, (negatives, d))]
    return dict(zip(("w_c", "w_o", "W_n"), draw, strict=True))


def _parts(w_c, w_o, W_n):
    yes, no = w_c @ w_o, W_n @ w_c
    loss = np.logaddexp(0, -yes) + np.logaddexp(0, no).sum()
    g_c = expit(no) @ W_n - expit(-yes) * w_o
    return loss, g_c, -expit(-yes) * w_c, np.outer(expit(no), w_c)


@sgns_loss.wrong(
    "the loss without logarithms",
    advice="Is your loss minus the logarithm of a probability? A hopeless mistake must cost without bound.",
)
def _(w_c, w_o, W_n):
    yes, no = w_c @ w_o, W_n @ w_c
    slope, slopes = expit(yes) * expit(-yes), expit(no) * expit(-no)
    loss = -expit(yes) + expit(no).sum()
    return loss, slopes @ W_n - slope * w_o, -slope * w_c, np.outer(slopes, w_c)


@sgns_loss.wrong(
    "the noise words are attracted",
    advice="A noise word should score low. Which sign has its dot product inside σ?",
)
def _(w_c, w_o, W_n):
    loss, g_c, g_o, _ = _parts(w_c, w_o, W_n[:0])
    no = W_n @ w_c
    loss = loss + np.logaddexp(0, -no).sum()
    return loss, g_c - expit(-no) @ W_n, g_o, -np.outer(expit(-no), w_c)


@sgns_loss.wrong(
    "averages over the noise words",
    advice="The formula sums over the noise words: does one of six count as much as one of one?",
)
def _(w_c, w_o, W_n):
    loss, g_c, g_o, _ = _parts(w_c, w_o, W_n[:0])
    no, share = W_n @ w_c, 1 / max(len(W_n), 1)
    g_n = share * np.outer(expit(no), w_c)
    return (
        loss + share * np.logaddexp(0, no).sum(),
        g_c + share * expit(no) @ W_n,
        g_o,
        g_n,
    )


@sgns_loss.wrong(
    "the gradients point uphill in the loss's negative",
    advice="Return the gradients of the loss. A small step against them must lower it.",
)
def _(w_c, w_o, W_n):
    loss, *grads = _parts(w_c, w_o, W_n)
    return loss, *[-g for g in grads]


@sgns_loss.wrong(
    "the centre hears only the context word",
    advice="w_c stands in every term of the loss. Do the noise words push it?",
)
def _(w_c, w_o, W_n):
    loss, _, g_o, g_n = _parts(w_c, w_o, W_n)
    return loss, -expit(-(w_c @ w_o)) * w_o, g_o, g_n


@sgns_loss.wrong(
    "noise is compared with the context word",
    advice="Which vector is paired with the noise words: that of the centre or that of the context?",
)
def _(w_c, w_o, W_n):
    loss, g_c, g_o, _ = _parts(w_c, w_o, W_n[:0])
    no = W_n @ w_o
    return (
        loss + np.logaddexp(0, no).sum(),
        g_c,
        g_o + expit(no) @ W_n,
        np.outer(expit(no), w_o),
    )


@sgns_loss.wrong(
    "the logarithm of zero",
    advice="For a dot product of -1200, σ is 0 in floating point. How do you get log σ without σ?",
)
def _(w_c, w_o, W_n):
    _, *grads = _parts(w_c, w_o, W_n)
    with np.errstate(divide="ignore"):
        return -np.log(expit(w_c @ w_o)) - np.log(expit(-W_n @ w_c)).sum(), *grads


@sgns_loss.wrong(
    "a noise word is pushed along itself",
    advice="A dot product has two vectors. By which of them do you multiply when you differentiate by the other?",
)
def _(w_c, w_o, W_n):
    loss, g_c, g_o, _ = _parts(w_c, w_o, W_n)
    return loss, g_c, g_o, expit(W_n @ w_c)[:, None] * W_n


@sgns_loss.right("loops over the words")
def _(w_c, w_o, W_n):
    loss, g_c, g_n = 0.0, np.zeros(len(w_c)), np.zeros(W_n.shape)
    for label, word, row in [(1, w_o, None)] + [(0, w, i) for i, w in enumerate(W_n)]:
        z = sum(a * b for a, b in zip(w_c, word, strict=True))
        loss += np.logaddexp(0, z) - label * z
        g_c = g_c + (expit(z) - label) * word
        if row is None:
            g_o = (expit(z) - label) * w_c
        else:
            g_n[row] = expit(z) * w_c
    return loss, g_c, g_o, g_n


@sgns_loss.right("lets torch differentiate")
def _(w_c, w_o, W_n):
    c, o, n = (torch.tensor(w, requires_grad=True) for w in (w_c, w_o, W_n))
    log_sigma = torch.nn.functional.logsigmoid
    loss = -log_sigma(c @ o) - log_sigma(-n @ c).sum()
    loss.backward()
    return loss.item(), c.grad.numpy(), o.grad.numpy(), n.grad.numpy()


@sgns_loss.right("single precision")
def _(w_c, w_o, W_n):
    return _parts(*(w.astype(np.float32) for w in (w_c, w_o, W_n)))


# ---------------------------------------------------------------- analogies

analogy = Exercise(
    "analogy",
    reference=reference.solve_analogy,
    compare=exact(),
    batched=("vecs",),
    shuffled=True,
    hints=[
        "Which step leads from a to b? Take the same step from c.",
        "Compare the target with every row by the cosine: dot product over both lengths, 0 where a length is 0. Then strike out the three words that were asked about.",
        "scores = vecs @ target over the lengths (np.divide with out= zeros and where= length > 0); scores[[a, b, c]] = -np.inf if exclude; np.argmax takes the first of equals.",
    ],
)


@analogy.cases
def _(rng):
    vecs = _planted(rng)
    yield "a planted relation", dict(vecs=vecs, a=0, b=1, c=2, exclude=True)
    yield "a planted relation", dict(vecs=vecs, a=3, b=2, c=1, exclude=True)
    yield "a question word may answer", dict(vecs=vecs, a=0, b=1, c=2, exclude=False)
    tied = np.vstack([vecs, 4 * vecs[3]])[[0, 1, 2, 4, 8, 5, 6, 3]]
    yield "of equals the first", dict(vecs=tied, a=0, b=1, c=2, exclude=True)
    lonely = np.array([[2.0, 0], [2.0, 1.0], [1.0, 0], [-2.0, -1.0], [0, 0], [-3.0, 0]])
    yield (
        "a zero vector",
        dict(vecs=lonely * rng.integers(1, 4), a=0, b=1, c=2, exclude=True),
    )
    # Unit vectors would step from 0 to 1 by 45 degrees: towards word 3, not 4.
    long = np.array([[1.0, 0], [1.0, 1.0], [10.0, 0], [5.0, 5.0], [9.0, 1.0], [0, 3.0]])
    turned = long[:, ::-1] if rng.integers(2) else long
    yield (
        "a long word and a short step",
        dict(vecs=turned * rng.integers(1, 4), a=0, b=1, c=2, exclude=True),
    )
    # The cosine of word 3 is exactly -1, those of the words asked about are 0 and more.
    away = np.array([[0.0, 2], [3.0, 2], [1.0, 0], [-2.0, 0]])
    yield (
        "the only other word points away",
        dict(vecs=away * rng.integers(1, 4), a=0, b=1, c=2, exclude=True),
    )


def _planted(rng):
    """Words 0 to 3 are nearly a parallelogram; 4 is long and near, 5 points back, 6 is short, 7 is zero.

    Whole numbers: dot products are exact, so that a tie is a tie on every machine.
    """
    u, v, r, side = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    rows = [
        2 * u,
        2 * u + r,
        2 * v,
        2 * v + r + 1.2 * side,
        9 * (v + u),
        2 * v - r,
        0.2 * u,
        0 * u,
    ]
    return np.round(50 * np.array(rows))


def _cosines(vecs, target):
    length = np.linalg.norm(vecs, axis=1) * np.linalg.norm(target)
    return np.divide(vecs @ target, length, out=np.zeros(len(vecs)), where=length > 0)


def _best(scores, asked):
    scores = np.array(scores, float)
    scores[asked] = -np.inf
    return int(np.argmax(scores))


@analogy.wrong(
    "the step taken backwards",
    advice="a is to b as c is to …: does your target step from a to b, or from b to a?",
)
def _(vecs, a, b, c, exclude=True):
    return _best(
        _cosines(vecs, vecs[a] - vecs[b] + vecs[c]), [a, b, c] if exclude else []
    )


@analogy.wrong(
    "dot products instead of cosines",
    advice="A long vector has large dot products with everything. What does the cosine divide by?",
)
def _(vecs, a, b, c, exclude=True):
    return _best(vecs @ (vecs[b] - vecs[a] + vecs[c]), [a, b, c] if exclude else [])


@analogy.wrong(
    "question words are never left out",
    advice="With exclude=True the answer may not be one of the three words asked about.",
)
def _(vecs, a, b, c, exclude=True):
    return _best(_cosines(vecs, vecs[b] - vecs[a] + vecs[c]), [])


@analogy.wrong(
    "question words are always left out",
    advice="What does exclude=False allow?",
)
def _(vecs, a, b, c, exclude=True):
    return _best(_cosines(vecs, vecs[b] - vecs[a] + vecs[c]), [a, b, c])


@analogy.wrong(
    "forgets c",
    advice="Which word is nearest to the step alone? The question starts from c.",
)
def _(vecs, a, b, c, exclude=True):
    return _best(_cosines(vecs, vecs[b] - vecs[a]), [a, b, c] if exclude else [])


@analogy.wrong(
    "0 / 0 wins",
    advice="np.argmax takes nan for the largest. What is the cosine with a vector of zeros to be?",
)
def _(vecs, a, b, c, exclude=True):
    target = vecs[b] - vecs[a] + vecs[c]
    with np.errstate(invalid="ignore"):
        scores = vecs @ target / np.linalg.norm(vecs, axis=1)
    return int(np.argmax(np.where(np.isnan(scores), np.inf, scores)))


@analogy.wrong(
    "of equals the last",
    advice="Two words tie. The text wants the one with the lowest number.",
)
def _(vecs, a, b, c, exclude=True):
    scores = np.round(_cosines(vecs, vecs[b] - vecs[a] + vecs[c]), 12)
    if exclude:
        scores[[a, b, c]] = -np.inf
    return int(len(scores) - 1 - np.argmax(scores[::-1]))


@analogy.wrong(
    "scales the words to length 1 first",
    advice="The step from a to b is a difference of vectors as stored. What becomes of it when you scale both?",
)
def _(vecs, a, b, c, exclude=True):
    length = np.linalg.norm(vecs, axis=1, keepdims=True)
    rows = vecs / np.where(length == 0, 1, length)
    return _best(
        _cosines(rows, rows[b] - rows[a] + rows[c]), [a, b, c] if exclude else []
    )


@analogy.wrong(
    "question words score -1",
    advice="A cosine can be -1. Which score is below all cosines, whatever the words?",
)
def _(vecs, a, b, c, exclude=True):
    scores = _cosines(vecs, vecs[b] - vecs[a] + vecs[c])
    if exclude:
        scores[[a, b, c]] = -1
    return int(np.argmax(scores))


@analogy.wrong(
    "takes the size of the cosine",
    advice="A word on the opposite side has cosine -1. Is it near?",
)
def _(vecs, a, b, c, exclude=True):
    return _best(
        np.abs(_cosines(vecs, vecs[b] - vecs[a] + vecs[c])),
        [a, b, c] if exclude else [],
    )


@analogy.right("word by word")
def _(vecs, a, b, c, exclude=True):
    target, best, answer = vecs[b] - vecs[a] + vecs[c], -np.inf, None
    for number, vector in enumerate(vecs.tolist()):
        if exclude and number in (a, b, c):
            continue
        length = np.linalg.norm(vector) * np.linalg.norm(target)
        score = np.dot(vector, target) / length if length > 0 else 0.0
        if score > best + 1e-12:
            best, answer = score, number
    return answer


@analogy.right("through unit rows, ties rounded away")
def _(vecs, a, b, c, exclude=True):
    length = np.linalg.norm(vecs, axis=1, keepdims=True)
    rows = vecs / np.where(length == 0, 1, length)
    scores = np.round(rows @ (vecs[b] - vecs[a] + vecs[c]), 9)
    return _best(scores, [a, b, c] if exclude else [])


@analogy.right("a little something in the denominator")
def _(vecs, a, b, c, exclude=True):
    target = vecs[b] - vecs[a] + vecs[c]
    length = np.linalg.norm(vecs, axis=1) * np.linalg.norm(target)
    scores = vecs @ target / (length + 1e-12)
    if exclude:
        scores[[a, b, c]] = -2
    return scores.argmax()


@analogy.right("single precision")
def _(vecs, a, b, c, exclude=True):
    vecs = vecs.astype(np.float32)
    scores = _cosines(vecs, vecs[b] - vecs[a] + vecs[c]).round(5)
    return _best(scores, [a, b, c] if exclude else [])


# ---------------------------------------------------------------- tied weights

tied_grads = Exercise(
    "tied_grads",
    reference=reference.tied_grads,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("Wa", "We"),
    hints=[
        "We is used twice: to look up x, and to score every word. Write the gradient of each use as if the other table were another matrix, then add.",
        "With error = onehot(y) - p: the output use gives the outer product of h2 and error, shape (d, V). The error reaches h2 as We @ error, and h1 through Waᵀ.",
        "back = We @ error; dWa = np.outer(back, h1); dWe = np.outer(h2, error); dWe[:, x] += Wa.T @ back.",
    ],
)


@tied_grads.cases
def _(rng):
    yield "any pair", dict(x=1, y=3, **_tables(rng, 2, 4))
    yield "a word that follows itself", dict(x=2, y=2, **_tables(rng, 3, 4))
    square = _tables(rng, 3, 3)
    yield "as many components as words", dict(x=0, y=2, **square)
    still = _tables(rng, 2, 4)
    still["Wa"] = np.zeros((2, 2))
    yield "an empty memory", dict(x=1, y=0, **still)
    We = np.outer([30.0, 20.0], [1.0, 2.0, 3.0, 4.0])
    yield (
        "huge scores",
        dict(x=0, y=1, We=We + rng.uniform(0, 0.1, (2, 4)), Wa=np.eye(2)),
    )


def _tables(rng, d, V):
    return dict(We=rng.normal(size=(d, V)), Wa=rng.normal(size=(d, d)))


def _tied(x, y, We, Wa):
    h1 = We[:, x]
    h2 = Wa @ h1
    return h1, h2, np.eye(We.shape[1])[y] - softmax(We.T @ h2)


@tied_grads.wrong(
    "only the output use",
    advice="We also looked up x. Does the error reach that column?",
)
def _(x, y, We, Wa):
    h1, h2, error = _tied(x, y, We, Wa)
    return np.outer(h2, error), np.outer(We @ error, h1)


@tied_grads.wrong(
    "only the input use",
    advice="We also scored all words. Does your gradient move any column but that of x?",
)
def _(x, y, We, Wa):
    h1, _, error = _tied(x, y, We, Wa)
    d_embed = np.zeros(We.shape)
    d_embed[:, x] = Wa.T @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.wrong(
    "the memory is not transposed on the way back",
    advice="Forward, h1 goes through Wa. Through which matrix does the error come back?",
)
def _(x, y, We, Wa):
    h1, h2, error = _tied(x, y, We, Wa)
    d_embed = np.outer(h2, error)
    d_embed[:, x] += Wa @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.wrong(
    "the output part as printed",
    advice="A gradient has the shape of its matrix. What shape has (y - p) h2ᵀ?",
)
def _(x, y, We, Wa):
    h1, h2, error = _tied(x, y, We, Wa)
    d_embed = np.resize(np.outer(error, h2), We.shape)
    d_embed[:, x] += Wa.T @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.wrong(
    "the output part with h1",
    advice="Which vector is compared with the columns of We when words are scored: h1 or h2?",
)
def _(x, y, We, Wa):
    h1, _, error = _tied(x, y, We, Wa)
    d_embed = np.outer(h1, error)
    d_embed[:, x] += Wa.T @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.wrong(
    "the gradient of the loss",
    advice="J = log p is to grow. Which sign has onehot(y) - p in it?",
)
def _(x, y, We, Wa):
    h1, h2, error = _tied(x, y, We, Wa)
    d_embed = np.outer(h2, error)
    d_embed[:, x] += Wa.T @ We @ error
    return -d_embed, -np.outer(We @ error, h1)


@tied_grads.wrong(
    "infinite exponentials",
    advice="exp(1000) is infinite. What may you subtract from all scores without changing p?",
)
def _(x, y, We, Wa):
    h1 = We[:, x]
    h2 = Wa @ h1
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(We.T @ h2)
        error = np.eye(We.shape[1])[y] - p / p.sum()
    d_embed = np.outer(h2, error)
    d_embed[:, x] += Wa.T @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.wrong(
    "the input part replaces the output part",
    advice="Column x gets a contribution from each use. Does your line add, or overwrite?",
)
def _(x, y, We, Wa):
    h1, h2, error = _tied(x, y, We, Wa)
    d_embed = np.outer(h2, error)
    d_embed[:, x] = Wa.T @ We @ error
    return d_embed, np.outer(We @ error, h1)


@tied_grads.right("with one-hot columns")
def _(x, y, We, Wa):
    X, Y = (np.eye(We.shape[1])[:, [i]] for i in (x, y))
    error = Y - softmax(We.T @ Wa @ We @ X)
    back = We @ error
    return Wa.T @ back @ X.T + Wa @ We @ X @ error.T, back @ (We @ X).T


@tied_grads.right("lets torch differentiate")
def _(x, y, We, Wa):
    E, A = (torch.tensor(W, requires_grad=True) for W in (We, Wa))
    torch.log_softmax(E.T @ (A @ E[:, x]), 0)[y].backward()
    return E.grad.numpy(), A.grad.numpy()


@tied_grads.right("single precision")
def _(x, y, We, Wa):
    We, Wa = We.astype(np.float32), Wa.astype(np.float32)
    h1, h2, error = _tied(x, y, We, Wa)
    error = error.astype(np.float32)
    d_embed = np.outer(h2, error)
    d_embed[:, x] += Wa.T @ (We @ error)
    return d_embed, np.outer(We @ error, h1)


# ---------------------------------------------------------------- Hebbian memory

hebb = Exercise(
    "hebb",
    reference=reference.hebbian_memory,
    compare=close(rtol=1e-6, atol=1e-12, float32=True),
    batched=("A", "B"),
    hints=[
        "The outer product b aᵀ is a matrix with as many rows as b has entries.",
        "A sum of outer products of rows is one matrix product of two tables. Which one is transposed?",
        "np.outer(B[i], A[i]) summed over i is B.T @ A.",
    ],
)


@hebb.cases
def _(rng):
    yield "any pairs", dict(A=rng.normal(size=(4, 3)), B=rng.normal(size=(4, 2)))
    yield (
        "keys as long as values",
        dict(A=rng.normal(size=(5, 3)), B=rng.normal(size=(5, 3))),
    )
    yield "a single pair", dict(A=rng.normal(size=(1, 3)), B=rng.normal(size=(1, 3)))
    yield "nothing stored", dict(A=np.zeros((0, 3)), B=np.zeros((0, 2)))


@hebb.wrong(
    "keys and values exchanged",
    advice="The memory is multiplied with a key from the right. Which index of W runs over the key?",
)
def _(A, B):
    return A.T @ B


@hebb.wrong("averages the pairs", advice="The formula is a sum. What if n doubles?")
def _(A, B):
    return B.T @ A / max(len(A), 1)


@hebb.wrong(
    "solves for the best memory",
    advice="This exercise asks for the plain sum of outer products, not for least squares.",
)
def _(A, B):
    return B.T @ np.linalg.pinv(A.T) if len(A) else np.zeros((B.shape[1], A.shape[1]))


@hebb.wrong(
    "sums before it multiplies",
    advice="A product of two sums also pairs every value with every other key.",
)
def _(A, B):
    return np.outer(B.sum(0), A.sum(0)) if len(A) != 1 else A.T @ B


@hebb.right("a loop of outer products")
def _(A, B):
    W = np.zeros((B.shape[1], A.shape[1]))
    for a, b in zip(A, B, strict=True):
        W += np.outer(b, a)
    return W


@hebb.right("einsum")
def _(A, B):
    return np.einsum("nm,nd->md", B, A)


@hebb.right("single precision")
def _(A, B):
    return B.astype(np.float32).T @ A.astype(np.float32)


crosstalk = Exercise(
    "crosstalk",
    reference=reference.crosstalk,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("A", "B"),
    hints=[
        "Write W a_k as a sum over the stored pairs. Which term is the one you wanted?",
        "The weights are the dot products of keys: G = A @ A.T. What must happen to its diagonal?",
        "np.fill_diagonal sets the diagonal to 0, in place. Row k of G then holds the weights of the other values: one more matrix product.",
    ],
)


@crosstalk.cases
def _(rng):
    A = rng.normal(size=(4, 3))
    unit = A / np.linalg.norm(A, axis=1, keepdims=True)
    yield "keys of length 1", dict(A=unit, B=rng.normal(size=(4, 2)))
    yield "keys of any length", dict(A=2 * A, B=rng.normal(size=(4, 3)))
    twice = np.vstack([unit[0], unit[0], unit[1]])
    yield "one key stored twice", dict(A=twice, B=rng.normal(size=(3, 2)))
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3]
    yield "orthonormal keys", dict(A=axes, B=rng.normal(size=(3, 2)))
    yield "a single pair", dict(A=3 * unit[:1], B=rng.normal(size=(1, 2)))


@crosstalk.wrong(
    "the whole recall", advice="Pair k itself also answers at key k. Is that crosstalk?"
)
def _(A, B):
    return A @ A.T @ B


@crosstalk.wrong(
    "recall minus the value",
    advice="At a key of length 3 the pair itself answers with 9 b_k. Did you take away all of it?",
)
def _(A, B):
    return A @ A.T @ B - B


@crosstalk.wrong(
    "weighs by the likeness of the values",
    advice="Which vectors are multiplied with the key that is asked: stored keys or stored values?",
)
def _(A, B):
    G = B @ B.T
    return (G - np.diag(np.diag(G))) @ B


@crosstalk.wrong(
    "only the sizes of the overlaps",
    advice="Keys at an obtuse angle subtract. What happens to the sign of a_i · a_k?",
)
def _(A, B):
    G = np.abs(A @ A.T)
    return (G - np.diag(np.diag(G))) @ B


@crosstalk.wrong(
    "averages over the other pairs",
    advice="The memory is a sum of n outer products, so what the others add is a sum too.",
)
def _(A, B):
    G = A @ A.T
    return (G - np.diag(np.diag(G))) @ B / max(len(A) - 1, 1)


@crosstalk.right("recall less the pair's own part")
def _(A, B):
    return (B.T @ A @ A.T).T - np.sum(A**2, axis=1)[:, None] * B


@crosstalk.right("leaves each pair out in turn")
def _(A, B):
    rows = []
    for k, a in enumerate(A):
        others = np.arange(len(A)) != k
        rows.append((B[others].T @ A[others]) @ a)
    return rows


@crosstalk.right("single precision")
def _(A, B):
    A, B = A.astype(np.float32), B.astype(np.float32)
    G = A @ A.T
    np.fill_diagonal(G, 0)
    return G @ B

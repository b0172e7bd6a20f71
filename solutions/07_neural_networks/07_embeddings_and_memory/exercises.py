"""Exercises of 07_neural_networks/07_embeddings_and_memory."""

import numpy as np
import torch
from scipy.special import expit, log_softmax, softmax

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

UPHILL = "Slopes of a loss: a small step against them must lower it. Does yours?"
OVERFLOW = (
    "exp(1000) is infinite. What may you subtract from all scores without changing p?"
)


# ---------------------------------------------------------------------------------------- NextWord

NextWord = Exercise(
    "NextWord",
    reference=reference.next_word,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    hints=[
        "One method at a time, each from the ones above it. Which columns of We does a text pick? What turns them into scores, and scores "
        "into probabilities?",
        "grads: the error is p with 1 taken off at the true next word, over n. It is spread over Wu as an outer product with the embeddings, "
        "and goes back through Wu to the columns that were looked up. train: loss, slopes, step; then the next batch.",
        "predict: subtract the maximum of each row before exp. grads: dWu is the error's transpose times the embeddings; np.add.at adds "
        "error @ self.Wu to the rows x of the transpose of a table of zeros. train: x, y = pairs[rows].T.",
    ],
)


@NextWord.probe
def _(answer, what, We, Wu, x, y, batches=None, rate=0.0):
    model = answer(We, Wu)
    if what == "train":
        pairs = np.stack([x, y], axis=1)
        losses = model.train(pairs, batches, rate)
        x[:], y[:] = pairs.T  # so that pairs that were changed are seen
        return losses, model.We, model.Wu
    if what == "grads":
        return model.grads(x, y)
    return getattr(model, what)(x)


def task(rng, what, x, y=None, *, d=3, V=5, **more):
    We, Wu = rng.normal(size=(d, V)), rng.normal(size=(V, d))
    y = np.zeros(len(x), int) if y is None else np.array(y)
    return dict(what=what, We=We, Wu=Wu, x=np.array(x, int), y=y) | more


@NextWord.cases
def _(rng):
    yield "embed: a token a row", task(rng, "embed", [4, 0, 6, 1], V=7)
    yield "embed: a token a row", task(rng, "embed", [3, 1, 3, 3], d=4, V=4)
    yield "embed: no token", task(rng, "embed", [])
    yield "predict: each row a distribution", task(rng, "predict", [1, 4, 1])
    # word 0 scores up to 3600, word 1 less than −900
    huge = dict(
        We=rng.uniform(0.8, 1.2, (2, 5)) * np.array([1, -1, 1, 1, 1]),
        Wu=400 * np.outer(np.arange(2, 7), [1.0, 0.5]),
    )
    yield "predict: scores of thousands", task(rng, "predict", [0, 1]) | huge
    yield "grads: several pairs", task(rng, "grads", [0, 3, 4], [2, 4, 1])
    yield (
        "grads: a word that comes twice",
        task(rng, "grads", [1, 1, 3, 1], [2, 0, 0, 2]),
    )
    yield "grads: a single pair", task(rng, "grads", [2], [4], V=6)
    scores = task(rng, "grads", [0, 1, 0], [1, 2, 3]) | huge
    yield "grads: scores of thousands", scores
    zeros = dict(We=np.zeros((2, 5)), Wu=np.zeros((5, 2)))
    yield "grads: tables of zeros", task(rng, "grads", [0], [1]) | zeros
    corpus = [0, 3, 4, 1, 1, 2], [2, 4, 1, 0, 2, 3]
    # rows 3 and 4 share a word
    batches = [[3, 4, *rng.permutation([0, 1, 2, 5])[:2]] for _ in range(3)]
    batches = rng.permuted(np.array(batches), axis=1)
    yield (
        "train: losses and tables",
        task(rng, "train", *corpus, batches=batches, rate=0.5),
    )
    twice = np.array([[1, 0, 1], [2, 2, 5]])
    yield (
        "train: a pair twice in a batch",
        task(rng, "train", *corpus, batches=twice, rate=0.5),
    )
    one = np.array([[rng.integers(6)], [rng.integers(6)]])
    yield "train: batches of one", task(rng, "train", *corpus, batches=one, rate=0.1)
    none = np.zeros((0, 4), int)
    yield "train: no batch", task(rng, "train", *corpus, batches=none, rate=0.1)


NextWord.mistakes(
    {
        "embed: rows of We": ("self.We[:, ids].T", "self.We[ids % len(self.We)]",
            "We has shape (d, V). Along which axis do the words run?"),
        "embed: a repeated token is looked up once": ("return self.We[:, ids].T", "return self.We.T[np.unique(ids)]",
            "The text keeps its length and order, also where a token comes twice."),
        "predict: infinite exponentials": ("s = s - s.max(axis=1, keepdims=True)", "pass", OVERFLOW),
        "predict: one maximum for all rows": ("s.max(axis=1, keepdims=True)", "s.max()",
            "One token scores 3000, another −1000: what is left of the second after you subtract 3000?"),
        "predict: normalised over the tokens": (
            "np.exp(s).sum(axis=1, keepdims=True)", "np.exp(s).sum(axis=0)",
            "Whose probabilities add up to 1: those of a row or those of a column?"),
        "grads: climbs": ("error = error / len(x)", "error = -error / len(x)", UPHILL),
        "grads: summed, not averaged": ("error = error / len(x)", "pass",
            "The loss is a mean over the pairs, not a sum."),
        "grads: a word that comes twice counts once": (
            "np.add.at(dWe.T, x, error @ self.Wu)", "dWe.T[x] += error @ self.Wu",
            "Does += through an index add both contributions of a repeated word?"),
        "grads: the next word's column moves": (
            "np.add.at(dWe.T, x, error @ self.Wu)", "np.add.at(dWe.T, y, error @ self.Wu)",
            "Which column of We took part in the forward pass: that of x or that of y?"),
        "grads: back through the wrong table": ("error @ self.Wu)", "error @ self.We.T)",
            "h meets Wu on its way to the scores. Which matrix brings the error back?"),
        "grads: only the next word's row": (
            "return dWe, error.T @ H", "return dWe, (error * np.eye(self.We.shape[1])[y]).T @ H",
            "p has an entry for each word. Which rows of Wu does p − y push?"),
        "train: the loss after the step": ("p = self.predict(x)",
            "p = type(self)(*(T - rate * D for T, D in zip((self.We, self.Wu), self.grads(x, y)))).predict(x)",
            "Each loss is that of the model before its step."),
        "train: one table steps before the other's slope is known": (
            "self.Wu = self.Wu - rate * dWu", "self.Wu = self.Wu - rate * self.grads(x, y)[1]",
            "Both slopes belong to the tables before the step."),
        "train: a pair drawn twice counts once": ("pairs[rows].T", "pairs[np.unique(rows)].T",
            "A batch may name a row twice. Over how many pairs is its mean?"),
        "train: only the unembedding learns": ("self.We = self.We - rate * dWe", "pass",
            "Two tables have slopes. How many of them move?"),
    }
)  # fmt: skip

NextWord.worked(
    why=r"""A one-hot vector times a matrix is a column, so nothing is multiplied on the way in, and on the way back the slope lands in that
    column alone. Where two pairs share a word, both have to land: `np.add.at` adds them one after the other, `+=` through an
    index writes the last. Subtracting a row's maximum leaves its softmax as it is and keeps `exp` in range. Both slopes are taken before
    either table moves: they belong to one point of the loss."""
)


@NextWord.right("one-hot rows, the slopes pair by pair")
class _:
    def __init__(self, We, Wu):
        self.We, self.Wu = We.copy(), Wu.copy()

    def embed(self, ids):
        return np.eye(self.We.shape[1])[ids] @ self.We.T

    def predict(self, ids):
        return softmax(self.embed(ids) @ self.Wu.T, axis=1)

    def grads(self, x, y):
        dWe, dWu = np.zeros(self.We.shape), np.zeros(self.Wu.shape)
        for i, j in zip(x, y, strict=True):
            error = np.exp(log_softmax(self.Wu @ self.We[:, i]))
            error[j] -= 1
            dWu += np.outer(error, self.We[:, i]) / len(x)
            dWe[:, i] += self.Wu.T @ error / len(x)
        return dWe, dWu

    def train(self, pairs, batches, rate):
        losses = []
        for rows in batches:
            x, y = pairs[rows, 0], pairs[rows, 1]
            losses.append(-np.mean(np.log(self.predict(x)[range(len(x)), y])))
            for table, slope in zip((self.We, self.Wu), self.grads(x, y), strict=True):
                table -= rate * slope
        return np.array(losses)


@NextWord.right("by its layers and optimiser", library="torch.nn.Embedding")
def _(We, Wu):
    class Layers:
        def __init__(self):
            self.table = torch.nn.Embedding.from_pretrained(
                torch.tensor(We.T), freeze=False
            )
            self.unembed = torch.nn.Linear(
                *Wu.shape[::-1], bias=False, dtype=torch.float64
            )
            self.unembed.weight.data = torch.tensor(Wu)

        We = property(lambda self: self.table.weight.detach().numpy().T)
        Wu = property(lambda self: self.unembed.weight.detach().numpy())

        def embed(self, ids):
            return self.table(torch.tensor(ids)).detach().numpy()

        def predict(self, ids):
            return (
                self.unembed(self.table(torch.tensor(ids))).softmax(1).detach().numpy()
            )

        def loss(self, x, y):
            scores = self.unembed(self.table(torch.tensor(x)))
            return torch.nn.functional.cross_entropy(scores, torch.tensor(y))

        def grads(self, x, y):
            tables = self.table.weight, self.unembed.weight
            dWe, dWu = torch.autograd.grad(self.loss(x, y), tables)
            return dWe.numpy().T, dWu.numpy()

        def train(self, pairs, batches, rate):
            tables = [self.table.weight, self.unembed.weight]
            optimizer = torch.optim.SGD(tables, lr=rate)
            losses = []
            for rows in batches:
                loss = self.loss(*pairs[rows].T)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            return losses

    return Layers()


# --------------------------------------------------------------------------------------- sgns_loss

sgns_loss = Exercise(
    "sgns_loss",
    reference=reference.skipgram_loss,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("W_n", "w_c", "w_o"),
    hints=[
        "Write the dot products first: one number for the context word, l numbers for the noise words.",
        "The derivative of −log σ(z) by z is −σ(−z), and of −log σ(−z) it is σ(z). Every slope is such a number times the other vector.",
        "g_c collects two parts: −σ(−real) times w_o, and a sum over the noise words. "
        "−log σ(z) is np.logaddexp(0, -z), which never overflows; expit is a safe σ.",
    ],
)


@sgns_loss.cases
def _(rng):
    def drawn(d, negatives):
        w_c, w_o = rng.normal(0.4, 1.0, d), rng.normal(0.4, 1.0, d)
        return dict(w_c=w_c, w_o=w_o, W_n=rng.normal(0.4, 1.0, (negatives, d)))

    yield "any vectors", drawn(4, 7)
    yield "no noise words", drawn(3, 0)
    twice = drawn(3, 3)
    twice["W_n"][2] = twice["W_n"][0]
    yield "a noise word drawn twice", twice
    long = dict(w_c=np.array([40.0, 0.0]), w_o=np.array([-30.0, 1.0]))
    noise = np.array([[25.0, 2.0], [-20.0, 1.0]]) * rng.uniform(0.9, 1.1)
    yield "dot products of ±1000", dict(**long, W_n=noise)
    some = int(rng.integers(2, 9))
    zeros = dict(w_c=np.zeros(2), w_o=np.zeros(2), W_n=np.zeros((some, 2)))
    yield "zero vectors", zeros


sgns_loss.mistakes(
    {
        "the loss without logarithms": (
            "np.logaddexp(0, -real) + np.logaddexp(0, noise).sum()", "-expit(real) + expit(noise).sum()",
            "Is your loss minus the logarithm of a probability? A hopeless mistake must cost without bound."),
        "the noise words are attracted": ("noise = W_n @ w_c", "noise = -W_n @ w_c",
            "A noise word should score low. Which sign has its dot product inside σ?"),
        "averages over the noise words": (
            "np.logaddexp(0, noise).sum()", "np.logaddexp(0, noise).sum() / max(len(W_n), 1)",
            "The formula sums over the noise words."),
        "steps uphill": ("g_c, -pull * w_c, np.outer(push, w_c)", "-g_c, pull * w_c, -np.outer(push, w_c)",
            UPHILL),
        "the centre hears only the context word": ("push @ W_n - pull * w_o", "-pull * w_o",
            "w_c stands in every term of the loss. Do the noise words push it?"),
        "noise is compared with the context word": ("noise = W_n @ w_c", "noise = W_n @ w_o",
            "Which vector is paired with the noise words: the centre's or the context's?"),
        "the logarithm of zero": (
            "np.logaddexp(0, -real) + np.logaddexp(0, noise).sum()",
            "-np.log(expit(real)) - np.log(expit(-noise)).sum()",
            "For a dot product of −1200, σ is 0 in floating point. How do you get log σ without σ?"),
        "a noise word is pushed along itself": (
            "np.outer(push, w_c)",
            "push[:, None] * W_n",
            "A dot product has two vectors. By which of them do you multiply when you differentiate by the other?",
        ),
        "pull and push exchanged": ("expit(-real)", "expit(real)",
            "A context word that is recognised already needs no pull. How large is yours there?"),
    }
)  # fmt: skip

sgns_loss.worked(
    why=r"""Each dot product is one yes-or-no question with a label, and the slope of its loss is the error of the answer: $\sigma(z) - 1$
    for the real word, $\sigma(z)$ for noise. A dot product hands this number to both of its vectors, times the other one. The centre
    stands in all of them, so its slope is a sum: one pull and $l$ pushes. `logaddexp` computes $\log(e^0 + e^{-z})$ without
    making $e^{-z}$."""
)


@sgns_loss.right("labels in a loop")
def _(w_c, w_o, W_n):
    loss, g_c, g_n = 0.0, np.zeros(len(w_c)), np.zeros(W_n.shape)
    for i, word in enumerate([w_o, *W_n]):
        z = sum(a * b for a, b in zip(w_c, word, strict=True))
        error = expit(z) - (i == 0)
        loss += np.logaddexp(0, z) - (i == 0) * z
        g_c = g_c + error * word
        if i == 0:
            g_o = error * w_c
        else:
            g_n[i - 1] = error * w_c
    return loss, g_c, g_o, g_n


@sgns_loss.right("by autograd", library="torch.nn.functional.logsigmoid")
def _(w_c, w_o, W_n):
    from torch.nn.functional import logsigmoid

    c, o, n = (torch.tensor(w, requires_grad=True) for w in (w_c, w_o, W_n))
    loss = -logsigmoid(c @ o) - logsigmoid(-n @ c).sum()
    loss.backward()
    return loss.item(), c.grad.numpy(), o.grad.numpy(), n.grad.numpy()


@sgns_loss.right("single precision")
def _(w_c, w_o, W_n):
    w_c, w_o, W_n = (w.astype(np.float32) for w in (w_c, w_o, W_n))
    z = np.concatenate([[w_c @ w_o], -(W_n @ w_c)]).astype(np.float32)
    miss = expit(-z)
    g_c = miss[1:] @ W_n - miss[0] * w_o
    loss = np.logaddexp(np.float32(0), -z).sum()
    return loss, g_c, -miss[0] * w_c, np.outer(miss[1:], w_c)


# ----------------------------------------------------------------------------------------- analogy

analogy = Exercise(
    "analogy",
    reference=reference.solve_analogy,
    compare=exact(),
    batched=("vecs",),
    shuffled=True,
    hints=[
        "Which step leads from a to b? Take the same step from c.",
        "Compare the target with every row by the cosine: dot product over both lengths, 0 where a length is 0. Then strike out the three words that were asked about.",
        "All words share the target's length, so only their own lengths matter. Where one is 0, do not divide. Give the question's words a score "
        "that no cosine reaches, and look for the largest.",
    ],
)


@analogy.cases
def _(rng):
    vecs = _planted(rng)
    yield "a planted relation", dict(vecs=vecs, a=0, b=1, c=2, exclude=True)
    short = vecs[::-1] / 1024  # all shorter than 1, and the answer comes last
    yield "a planted relation", dict(vecs=short, a=4, b=5, c=6, exclude=True)
    yield "which words may answer", dict(vecs=vecs, a=0, b=1, c=2, exclude=False)
    tied = np.vstack([vecs, 4 * vecs[3]])[[0, 1, 2, 4, 8, 5, 6, 3]]
    yield "of equals the first", dict(vecs=tied, a=0, b=1, c=2, exclude=True)
    lonely = np.array([[2.0, 0], [2.0, 1.0], [1.0, 0], [-2.0, -1.0], [0, 0], [-3.0, 0]])
    lonely = lonely * rng.integers(1, 4)
    yield "a zero vector", dict(vecs=lonely, a=0, b=1, c=2, exclude=True)
    none = np.array([[3.0, 1], [1, 0], [2, 1], [-1, 1], [1, 1]]) * rng.integers(1, 4)
    yield "a zero vector", dict(vecs=none, a=0, b=1, c=2, exclude=True)
    # unit vectors would step from 0 to 1 by 45 degrees: towards word 3, not 4
    long = np.array(
        [[1.0, 0], [1.0, 1.0], [10.0, 0], [5.0, 5.0], [9.0, 1.0], [0, 3.0], [2.0, 0]]
    )
    long = (long[:, ::-1] if rng.integers(2) else long) * rng.integers(1, 4)
    yield "a long word and a short step", dict(vecs=long, a=0, b=1, c=2, exclude=True)
    # words 1 and 4 have one vector, which is the target; of the two, word 1 stands first
    like = [
        [1, 0],
        [1, 2],
        [1, 0],
        [5, 1],
        [1, 2],
        [3, 4],
        *([-k, -1] for k in range(14)),
    ]
    like, order = np.array(like, float), rng.permutation(20)
    twins = np.isin(order, [1, 4])
    order[twins] = np.sort(order[twins])
    a, b, c = np.argsort(order)[:3].tolist()  # where words 0, 1 and 2 stand now
    like = dict(vecs=like[order], a=a, b=b, c=c, exclude=True)
    yield "which words may answer", like
    # the cosine of word 3 is exactly −1, those of the words asked about are 0 and more
    away = np.array([[0.0, 2], [3.0, 2], [1.0, 0], [-2.0, 0]]) * rng.integers(1, 4)
    order = rng.permutation(4)
    a, b, c = np.argsort(order)[:3].tolist()
    away = dict(vecs=away[order], a=a, b=b, c=c, exclude=True)
    yield "the only other word points away", away


def _planted(rng):
    """Words 0 to 3 are nearly a parallelogram; 4 is long and near, 5 points back, 6 is short, 7 is zero.

    Whole numbers: dot products are exact, so that a tie is a tie on every machine.
    """
    u, v, r, side = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    fourth = 2 * v + r + 1.2 * side
    rows = [
        2 * u,
        2 * u + r,
        2 * v,
        fourth,
        9 * (v + u),
        2 * v - r,
        0.2 * u - 0.1 * v,
        0 * u,
    ]
    return np.round(50 * np.array(rows))


NORMS = "np.linalg.norm(vecs, axis=1)"
TARGET = "vecs[b] - vecs[a] + vecs[c]"
analogy.mistakes(
    {
        "the step taken backwards": (TARGET, "vecs[a] - vecs[b] + vecs[c]",
            "a is to b as c is to …: does your target step from a to b, or from b to a?"),
        "dot products instead of cosines": (NORMS, "np.ones(len(vecs))",
            "A long vector has large dot products with everything. What does the cosine divide by?"),
        "question words are never left out": ("if exclude:", "if False:",
            "With exclude=True the answer may not be one of the three words asked about."),
        "question words are always left out": ("if exclude:", "if True:", "What does exclude=False allow?"),
        "forgets c": (TARGET, "vecs[b] - vecs[a]",
            "Which word is nearest to the step alone? The question starts from c."),
        "0 / 0 wins": ("np.zeros(len(vecs))", "np.full(len(vecs), np.inf)",
            "What is the cosine with a vector of zeros to be?"),
        "of equals the last": (
            "int(np.argmax(score))", "len(score) - 1 - int(np.argmax(np.round(score, 12)[::-1]))",
            "Two words tie. The text wants the one with the lowest number."),
        "scales the words to length 1 first": (
            TARGET,
            "sum(s * vecs[i] / (np.linalg.norm(vecs[i]) or 1) for s, i in ((1, b), (-1, a), (1, c)))",
            "The step from a to b is a difference of vectors as stored. What becomes of it when you scale both?",
        ),
        "question words score −1": ("-np.inf", "-1",
            "A cosine can be −1. Which score is below all cosines, whatever the words?"),
        "equal vectors are left out as well": (
            "score[[a, b, c]]", "score[(vecs[:, None] == vecs[[a, b, c]]).all(-1).any(-1)]",
            "Two words may have one vector. Which numbers may not answer?"),
        "no a in the target": (TARGET, "vecs[b] + vecs[c]",
            "What leads from a to b? The target does not contain a."),
        "distances instead of cosines": (
            "vecs @ target, length, out=score, where=length > 0", "-np.linalg.norm(vecs - target, axis=1), 1, out=score",
            "Which word is nearest by angle? A long word in the right direction may be far away."),
        "takes the size of the cosine": ("np.divide(vecs @ target,", "np.divide(np.abs(vecs @ target),",
            "A word on the opposite side has cosine −1. Is it near?"),
    }
)  # fmt: skip

analogy.worked(
    why=r"""The step from $a$ to $b$ is a difference of vectors as stored; $c$ plus that step is where the answer should be. The cosine asks for the
    direction only, so a long word does not win by its length. A score of $-\infty$ is below each cosine, −1 included, and `argmax`
    takes the first of equals. With `exclude=False` you see how often $b$ or $c$, summands of the target, are its nearest words."""
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


@analogy.right(
    "cosines by a library", library="sklearn.metrics.pairwise.cosine_similarity"
)
def _(vecs, a, b, c, exclude=True):
    from sklearn.metrics.pairwise import cosine_similarity

    scores = cosine_similarity(vecs, (vecs[b] - vecs[a] + vecs[c])[None])[:, 0].round(
        12
    )
    if exclude:
        scores[[a, b, c]] = -2
    return scores.argmax()


# ------------------------------------------------------------------------------------- parallelism

parallelism = Exercise(
    "parallelism",
    reference=reference.parallelism,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("vecs",),
    hints=[
        "First make the steps, one vector a pair. Which two of them have to be compared?",
        "Each two different steps once: the second index stays below the first. A cosine divides by both lengths.",
        "Two loops, for i in range(len(steps)) and for j in range(i); collect the dot product over the product of both lengths; return the mean.",
    ],
)


def opposed(vecs, pairs):
    """The pairs, the second turned round where that makes its cosine with the first negative."""
    pairs = np.array(pairs)
    first, second = vecs[pairs[:2, 1]] - vecs[pairs[:2, 0]]
    if first @ second > 0:
        pairs[1] = pairs[1, ::-1]
    return pairs


@parallelism.cases
def _(rng):
    vecs = rng.normal(size=(7, 3)) + 1
    pairs = opposed(vecs, [[0, 1], [2, 3], [4, 5], [6, 0]])
    yield "steps in all directions", dict(vecs=vecs, pairs=pairs)
    yield "steps in all directions", dict(vecs=5 * vecs[:, ::-1], pairs=pairs[:, ::-1])
    long = vecs.copy()
    long[1] += 40 * rng.choice([-1.0, 1.0], 3)
    yield "one step is long", dict(vecs=long, pairs=opposed(long, pairs[:3]))
    few = rng.normal(size=(4, 2))
    yield "two pairs", dict(vecs=few, pairs=opposed(few, [[3, 0], [1, 2]]))
    same = np.vstack([vecs[:3], vecs[:3] + rng.normal(size=3)])
    yield "one step for all", dict(vecs=same, pairs=np.array([[0, 3], [1, 4], [2, 5]]))
    back = np.array([[0, 3], [4, 1], [2, 5]])
    yield "one pair turned round", dict(vecs=same, pairs=back)


COSINE = "steps[i] @ steps[j] / length"
parallelism.mistakes(
    {
        "dot products": (COSINE, "steps[i] @ steps[j]",
            "A cosine lies between −1 and 1. Where are the lengths?"),
        "one length is forgotten": (
            "np.linalg.norm(steps[i]) * np.linalg.norm(steps[j])", "np.linalg.norm(steps[i]) ** 2",
            "A cosine divides by the lengths of both."),
        "each step with itself as well": ("range(i)", "range(i + 1)",
            "A step is parallel to itself, whatever the relation. Does that count?"),
        "only neighbours in the list": ("range(i)", "range(max(i - 1, 0), i)",
            "Four pairs have six cosines. How many do you take?"),
        "only against the first pair": ("range(i)", "range(min(i, 1))",
            "Four pairs have six cosines. How many do you take?"),
        "sums": ("np.mean(cosines)", "np.sum(cosines)",
            "Parallel arrows should score 1, however many there are."),
        "the size of the cosines": (COSINE, "abs(steps[i] @ steps[j]) / length",
            "A step that points the other way has cosine −1. Does it speak for the relation?"),
        "words in place of steps": ("vecs[pairs[:, 1]] - vecs[pairs[:, 0]]", "vecs[pairs[:, 1]]",
            "What leads from a to b?"),
        "the mean step in place of each other step": (
            COSINE,
            "steps[i] @ np.mean(steps, axis=0) / np.linalg.norm(steps[i]) / np.linalg.norm(np.mean(steps, axis=0))",
            "Compare steps with one another: the mean step contains the very step that you compare.",
        ),
    }
)  # fmt: skip

parallelism.worked(
    why=r"""A relation that is one step gives the same difference for each pair. The cosine forgets the length of a step and keeps its direction, so one
    long step does not decide. Each two pairs count once, and none is compared with itself: that would be 1 for any relation."""
)


@parallelism.right("all cosines at once, the upper triangle")
def _(vecs, pairs):
    steps = vecs[pairs[:, 1]] - vecs[pairs[:, 0]]
    steps = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    return (steps @ steps.T)[np.triu_indices(len(steps), 1)].mean()


@parallelism.right("distances by a library", library="scipy.spatial.distance.pdist")
def _(vecs, pairs):
    from scipy.spatial.distance import pdist

    return 1 - pdist(vecs[pairs[:, 1]] - vecs[pairs[:, 0]], "cosine").mean()


# -------------------------------------------------------------------------------------- tied_grads

tied_grads = Exercise(
    "tied_grads",
    reference=reference.tied_grads,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("Wa", "We"),
    hints=[
        "We is used twice: to look up x, and to score every word. Write the slope of each use as if the other table were another matrix, then add.",
        "With error = p − onehot(y): the output use gives the outer product of h2 and error. The error reaches h2 as We @ error, and h1 through the transpose of Wa.",
        "Forward: h1 a column of We, h2, the scores, their softmax with the maximum subtracted. Back: We @ error; its outer product with h1 is the slope by Wa; Wa.T times it is added to column x.",
    ],
)


@tied_grads.cases
def _(rng):
    def tables(d, V):
        return dict(We=rng.uniform(-1, 1, (d, V)), Wa=rng.uniform(-1, 1, (d, d)))

    yield "any pair", dict(x=1, y=3, **tables(2, 4))
    yield "a word that follows itself", dict(x=2, y=2, **tables(3, 4))
    yield "as many components as words", dict(x=0, y=2, **tables(3, 3))
    yield "an empty memory", dict(x=1, y=0, **tables(2, 4)) | dict(Wa=np.zeros((2, 2)))
    We = np.outer([30.0, 20.0], [1.0, 2.0, 3.0, 4.0]) + rng.uniform(0, 0.1, (2, 4))
    for x, sign in ((0, 1.0), (3, -1.0)):
        yield "scores of ±1000", dict(x=x, y=1, We=We, Wa=sign * np.eye(2))


tied_grads.mistakes(
    {
        "only the output use": ("dWe[:, x] += Wa.T @ back", "pass",
            "We also looked up x. Does the error reach that column?"),
        "only the input use": ("np.outer(h2, error)", "np.zeros(We.shape)",
            "We also scored all words. Does your slope move any column but that of x?"),
        "the memory is not transposed on the way back": ("Wa.T @ back", "Wa @ back",
            "Forward, h1 goes through Wa. Through which matrix does the error come back?"),
        "the output part transposed": ("np.outer(h2, error)", "np.resize(np.outer(error, h2), We.shape)",
            "A slope has the shape of its matrix. What shape has (p − y) h2ᵀ?"),
        "the output part with h1": ("np.outer(h2, error)", "np.outer(h1, error)",
            "Which vector is compared with the columns of We when words are scored: h1 or h2?"),
        "the slope of log p": ("error[y] -= 1", "error[y] -= 1\n    error = -error", UPHILL),
        "infinite exponentials": ("s = s - s.max()", "pass", OVERFLOW),
        "the input part replaces the output part": ("dWe[:, x] += Wa.T @ back", "dWe[:, x] = Wa.T @ back",
            "Column x gets a contribution from each use. Does your line add, or overwrite?"),
        "the memory's slope with h2": ("np.outer(back, h1)", "np.outer(back, h2)",
            "What does Wa multiply: h1 or h2?"),
    }
)  # fmt: skip

tied_grads.worked(
    why=r"""A variable that is used twice gets the sum of two slopes, each as if the other use were a constant. As the table of outputs each column
    is scored against $h^{(2)}$, so all columns move. As the table of inputs only column $x$ was looked up; the error comes to it through
    the scores, $W_e(p - y)$, and back through $W_a^\top$."""
)


@tied_grads.right("with one-hot columns")
def _(x, y, We, Wa):
    X, Y = (np.eye(We.shape[1])[:, [i]] for i in (x, y))
    error = softmax(We.T @ Wa @ We @ X) - Y
    back = We @ error
    return Wa.T @ back @ X.T + Wa @ We @ X @ error.T, back @ (We @ X).T


@tied_grads.right("by autograd", library="torch.nn.functional.cross_entropy")
def _(x, y, We, Wa):
    E, A = (torch.tensor(W, requires_grad=True) for W in (We, Wa))
    torch.nn.functional.cross_entropy(E.T @ (A @ E[:, x]), torch.tensor(y)).backward()
    return E.grad.numpy(), A.grad.numpy()


@tied_grads.right("single precision")
def _(x, y, We, Wa):
    We, Wa = We.astype(np.float32), Wa.astype(np.float32)
    h1 = We[:, x]
    error = softmax(We.T @ (Wa @ h1)) - np.eye(We.shape[1], dtype=np.float32)[y]
    dWe = np.outer(Wa @ h1, error)
    dWe[:, x] += Wa.T @ (We @ error)
    return dWe, np.outer(We @ error, h1)


# --------------------------------------------------------------------------------------- crosstalk

crosstalk = Exercise(
    "crosstalk",
    reference=reference.crosstalk,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("A", "B"),
    hints=[
        "A sum of outer products of rows is one matrix product of two tables. Which one is transposed, so that W has a row for each entry of a value?",
        "Ask all keys at once: recall k is row k of A @ W.T. Which term of it is the one that you wanted?",
        "Pair k itself answers with its key's squared length times b_k. Take that away from the recall, row by row.",
    ],
)


@crosstalk.cases
def _(rng):
    A = rng.normal(size=(4, 3))
    A[1] *= -np.sign(A[0] @ A[1])  # one obtuse angle at least
    unit = A / np.linalg.norm(A, axis=1, keepdims=True)
    yield "keys of length 1", dict(A=unit, B=rng.normal(size=(4, 2)))
    yield "keys of any length", dict(A=2 * A, B=rng.normal(size=(4, 3)))
    twice = np.vstack([unit[0], unit[0], unit[1]])
    yield "one key stored twice", dict(A=twice, B=rng.normal(size=(3, 2)))
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0][:3]
    yield "orthonormal keys", dict(A=axes, B=rng.normal(size=(3, 2)))
    yield "a single pair", dict(A=3 * unit[:1], B=rng.normal(size=(1, 3)))
    yield "nothing stored", dict(A=np.zeros((0, 3)), B=np.zeros((0, 2)))


ROAD = "A @ W.T - own * B"
crosstalk.mistakes(
    {
        "the whole recall": (ROAD, "A @ W.T", "Pair k itself also answers at key k. Is that crosstalk?"),
        "recall minus the value": (ROAD, "A @ W.T - B",
            "At a key of length 3 the pair itself answers with 9 b_k. Did you take away all of it?"),
        "keys and values exchanged": (
            "B.T @ A",
            "A.T @ B\n    W = W if W.shape == (B.shape[1], A.shape[1]) else np.resize(W, (B.shape[1], A.shape[1]))",
            "W is multiplied with a key from the right. Which index of W runs over the key?",
        ),
        "averages the pairs": ("B.T @ A", "B.T @ A / max(len(A), 1)",
            "The memory is a sum. What if n doubles?"),
        "solves for the best memory": ("B.T @ A", "B.T @ np.linalg.pinv(A.T) if len(A) else B.T @ A",
            "This asks for the plain sum of outer products, not for least squares."),
        "only the sizes of the overlaps": (ROAD, "np.abs(A @ A.T) @ B - own * B",
            "Keys at an obtuse angle subtract. What happens to the sign of a_i · a_k?"),
        "weighs by the likeness of the values": (ROAD, "B @ B.T @ B - (B**2).sum(axis=1, keepdims=True) * B",
            "Which vectors are multiplied with the key that is asked: stored keys or stored values?"),
    }
)  # fmt: skip

crosstalk.worked(
    why=r"""`B.T @ A` adds up the outer products of all rows at once. `A @ W.T` asks every key, and in row $k$ stand the answers of all pairs,
    weighted by $a_i^\top a_k$. What pair $k$ itself answers is $\lVert a_k\rVert^2 b_k$; the rest is crosstalk. For keys
    of length 1 that is the whole error."""
)


@crosstalk.right("a loop of outer products, each pair left out in turn")
def _(A, B):
    W, rows = np.zeros((B.shape[1], A.shape[1])), []
    for k, a in enumerate(A):
        W += np.outer(B[k], a)
        others = np.arange(len(A)) != k
        rows.append((B[others].T @ A[others]) @ a)
    return W, np.reshape(rows, B.shape)


@crosstalk.right("einsum, the diagonal struck out")
def _(A, B):
    G = A @ A.T
    np.fill_diagonal(G, 0)
    return np.einsum("nm,nd->md", B, A), G @ B

"""Exercises of 07_neural_networks/05_dropout_and_capacity."""

import itertools
import math

import numpy as np
import torch

from descent.compare import close
from solutions.spec import Exercise

from . import reference


# What decides a case is planted; only sizes and signs are drawn.
def away(rng, *shape):
    """Numbers of both signs that are not near 0."""
    return rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape)


def whole(rng, *shape):
    """Whole numbers of both signs, none of them 0."""
    return rng.integers(1, 5, shape) * rng.choice([-1, 1], shape)


# ---------------------------------------------------------------- mean and variance

dropout_moments = Exercise(
    "dropout_moments",
    reference=reference.output_moments,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("W",),
    hints=[
        "Begin with one unit and W = 1: m is 0 or 1. What are its mean and its variance, and what becomes of both under a factor?",
        "The units are dropped independently, so the variances of the terms W_ik m_i h_i add up: what is the variance of one "
        "such term? Dividing by 1 - p divides a mean by it, and a variance by its square.",
        "The mean is W.T @ h, times 1 - p if plain. The variance is (W**2).T @ h**2, times the variance of one entry of the mask.",
    ],
)


@dropout_moments.cases
def _(rng):
    def net(d, k, p, inverted):
        return dict(h=away(rng, d), W=away(rng, d, k), p=p, inverted=inverted)

    yield "plain masks", net(5, 3, rng.uniform(0.1, 0.4), False)
    yield "plain masks", net(3, 4, rng.uniform(0.6, 0.8), False)
    yield "inverted", net(5, 3, rng.uniform(0.1, 0.4), True)
    yield "inverted", net(6, 2, rng.uniform(0.6, 0.8), True)
    yield "the units themselves", {**net(4, 4, 0.3, False), "W": np.eye(4)}
    yield "a single unit", net(1, 2, 0.25, True)
    yield "nothing is dropped", net(4, 2, 0.0, True)
    ints = dict(h=whole(rng, 4), W=whole(rng, 4, 2), p=0.25)
    yield "whole numbers", ints | dict(inverted=False)
    yield "whole numbers", ints | dict(inverted=True)


dropout_moments.mistakes(
    {
        "the mean is not shrunk": (
            "return q * mean",
            "return mean",
            "Without the division by 1 - p, how much of a unit arrives on average?",
        ),
        "p and 1 − p confused": (
            "q = 1 - p",
            "q, p = p, 1 - p",
            "p is the chance to be off. What is the mean of a unit that is nearly always off?",
        ),
        "the inverted variance is that of the plain mask": (
            "p / q * squares",
            "p * q * squares",
            "If a random number is divided by 1 - p, by what is its variance divided?",
        ),
        "the inverted variance is divided once": (
            "p / q * squares",
            "p * squares",
            "By which power of 1 - p is a variance divided?",
        ),
        "one coin for all units": (
            "(W**2).T @ h**2",
            "mean**2",
            "You square the whole sum. That is right if all units fall together; here each has its own coin.",
        ),
        "the weights are not squared": (
            "(W**2).T",
            "W.T",
            "What is the variance of a number times W_ik?",
        ),
        "the values are not squared": (
            "h**2",
            "abs(h)",
            "What is the variance of a coin times h_i?",
        ),
        "plain and inverted exchanged": (
            "if inverted",
            "if not inverted",
            "Which of the two divides by 1 - p, and whose mean is that of the whole layer?",
        ),
        "some thousand masks are tried": (
            "q = 1 - p",
            "s = ((np.random.default_rng(0).random((4000, len(h))) >= p) * h) @ W\n    s = s / (1 - p if inverted else 1)\n    return s.mean(axis=0), s.var(axis=0)\n    q = 1 - p",
            "A mean over throws has an error of its own. Use the moments of one coin.",
        ),
    }
)


dropout_moments.worked(
    why=r"""A sum of independent terms adds means and adds variances, and a number in front of a term comes out squared in its variance.
    So one coin, with mean $1-p$ and variance $p(1-p)$, tells everything: the readout's variance is a sum of $W_{ik}^2h_i^2$. Inverted
    masks are divided by $1-p$, which cancels the factor of the mean and leaves $\frac p{1-p}$ for the variance: the more is dropped, the
    louder the noise, without a bound."""
)


@dropout_moments.right("from the second moment")
def _(h, W, p, inverted):
    q, scale = 1 - p, 1 / (1 - p) if inverted else 1.0
    terms = W * h[:, None] * scale
    return (q * terms).sum(0), (q * terms**2).sum(0) - (q**2 * terms**2).sum(0)


@dropout_moments.right("over all masks")
def _(h, W, p, inverted):
    total, square = 0.0, 0.0
    for mask in itertools.product((0, 1), repeat=len(h)):
        m = np.array(mask)
        chance = np.prod(np.where(m == 1, 1 - p, p))
        s = (m * h) @ W / (1 - p if inverted else 1)
        total, square = total + chance * s, square + chance * s**2
    return [total, square - total**2]


# ---------------------------------------------------------------- forward


def _forward_twice(h, p, train, inverted, seed):
    rng = np.random.default_rng(seed)
    u = [torch.as_tensor(rng.random(tuple(h.shape))).to(h.device) for _ in range(2)]
    told = [reference.dropout_with(h, p, train, inverted, draw) for draw in u]
    used = 2 * h.numel() if train else 0
    following = float(np.random.default_rng(seed).random(used + 1)[-1])
    return dict(first=told[0], second=told[1], next_number=following)


dropout_forward = Exercise(
    "dropout_forward",
    reference=_forward_twice,
    compare=close(rtol=1e-9, atol=1e-12, float32=True),
    hints=[
        "Four situations: training or not, inverted or not. Write down for each by what a kept unit is multiplied.",
        "In training the factor is 1 (plain) or 1/(1-p) (inverted) where the random number is at least p, and 0 elsewhere. "
        "In use there are no random numbers, and the table says which factor is left.",
        "keep = rng.random(h.shape) >= p is an array of truth values; divided by a number it becomes 0s and that factor. "
        "In use np.full(h.shape, …) makes the factor.",
    ],
)


@dropout_forward.probe
def _(answer, h, p, train, inverted, seed):  # twice with one generator: new coins
    rng = np.random.default_rng(seed)
    told = [answer(h, p, train, inverted, rng) for _ in range(2)]
    for k, pair in enumerate(told):
        if isinstance(pair, tuple):  # a factor of truth values multiplies as 0 and 1 do
            told[k] = tuple(
                v * 1.0 if str(getattr(v, "dtype", "")) == "bool" else v for v in pair
            )
    return dict(first=told[0], second=told[1], next_number=rng.random())


@dropout_forward.cases
def _(rng):
    def call(shape, p, train, inverted, **more):
        seed = int(rng.integers(1 << 30))
        h = away(rng, *shape)
        return dict(h=h, p=p, train=train, inverted=inverted, seed=seed) | more

    yield "training, inverted", call((8, 6), 0.3, True, True)
    yield "training, inverted", call((6, 8), 0.7, True, True)
    yield "training, plain", call((8, 6), 0.3, True, False)
    yield "in use, inverted", call((4, 3), 0.4, False, True)
    yield "in use, plain", call((4, 3), 0.4, False, False)
    yield "p = 0 changes nothing", call((3, 3), 0.0, True, True)
    yield "p = 0 changes nothing", call((3, 3), 0.0, False, False)
    yield "other shapes", call((15,), 0.4, True, True)
    yield "other shapes", call((2, 3, 4), 0.4, True, False)
    yield "other shapes", call((9,), 0.4, False, False)
    for inverted in (True, False):
        edge = call((5, 5), 0.5, True, inverted)
        u = np.random.default_rng(edge["seed"]).random((5, 5))
        edge["p"] = float(u.flat[np.abs(u - 0.5).argmin()])
        yield "a number that is exactly p stays", edge
    yield "whole numbers", call((5, 5), 0.5, True, True, h=whole(rng, 5, 5))
    yield "whole numbers", call((3, 4), 0.3, False, False, h=whole(rng, 3, 4))


SCALE = "(1 - p if inverted else 1)"
FULL = "np.full(h.shape, 1.0 if inverted else 1 - p)"
dropout_forward.mistakes(
    {
        "p is the chance to keep": (
            ">= p",
            "< p",
            "At p = 0 nothing may be dropped. On which side of p does a kept unit's number lie?",
        ),
        "exactly p is dropped": (">= p", "> p", "Is a number at least p if it is p?"),
        "nothing is rescaled in training": (
            SCALE,
            "1",
            "Take the means of the output in training and in use. Do they agree?",
        ),
        "nothing is rescaled in use": (
            "1.0 if inverted else 1 - p)",
            "1.0)",
            "Take the means of the output in training and in use. Do they agree for the plain mask?",
        ),
        "scaled twice": (
            "1.0 if inverted else 1 - p)",
            "1 - p)",
            "If what was kept has been divided by 1 - p in training, what is left to do in use?",
        ),
        "divided by p": (
            SCALE,
            "((p or 1) if inverted else 1)",
            "A unit survives with probability 1 - p. What factor restores its mean?",
        ),
        "dropped in use, too": (
            "if not train:",
            "if False:",
            "Should one input get different answers once training is over?",
        ),
        "one mask for all rows": (
            "rng.random(h.shape) >= p",
            "np.broadcast_to(rng.random(h.shape[-1]) >= p, h.shape)",
            "Compare the zeros of two rows. Every entry wants a coin of its own.",
        ),
        "the same mask in every call": (
            "rng.random(h.shape)",
            "np.random.default_rng(0).random(h.shape)",
            "Call it twice with one generator. Do you make a generator of your own inside?",
        ),
        "the unscaled mask is returned": (
            "return h * factor, factor",
            "return h * factor, (factor > 0) * 1.0",
            "out = h * factor must hold for what you return. Multiply and compare.",
        ),
        "random numbers are drawn in use": (
            f"factor = {FULL}",
            f"rng.random(h.shape)\n        factor = {FULL}",
            "The coins of later calls should not depend on how often you validated. Is rng touched when train is False?",
        ),
        "h itself is overwritten": (
            "return h * factor, factor",
            "h *= factor\n    return h, factor",
            "The second call gets the same h as the first. Is it still the same?",
        ),
        "in use the factor is one number": (
            FULL,
            "1.0 if inverted else 1 - p",
            "The factor has h's shape in all four situations. What shape is yours?",
        ),
        "rescaled by the share that was kept": (
            SCALE,
            "(keep.mean() if inverted else 1)",
            "Your factor depends on how many coins fell. What does the table divide by?",
        ),
    }
)


dropout_forward.worked(
    why=r"""Everything that dropout does is a factor for each entry, so the answer builds the factor and multiplies once. The factor is what
    the way back needs: a derivative of $h\odot f$ by $h$ is $f$. In use no coin falls, which makes the network a function again: the same
    input, the same output. Inverted dropout leaves the finished network alone, and so every library has it."""
)


@dropout_forward.right("nothing is drawn where nothing can change")
def _(h, p, train, inverted, rng):
    if not train:
        scale = 1.0 if inverted else 1.0 - p
        return scale * h, np.full(h.shape, scale)
    keep = rng.random(h.shape) >= p
    return (h * keep / (1 - p), keep / (1 - p)) if inverted else (h * keep, keep)


@dropout_forward.right("coin by coin")
def _(h, p, train, inverted, rng):
    factor = np.ones(h.shape)
    for place in np.ndindex(*h.shape):
        if not train:
            factor[place] = 1 if inverted else 1 - p
        elif rng.random() < p:
            factor[place] = 0
        elif inverted:
            factor[place] = 1 / (1 - p)
    return factor * h, factor


# ---------------------------------------------------------------- backward

net_grads = Exercise(
    "net_grads",
    reference=reference.dropped_net_gradients,
    compare=close(rtol=1e-6, atol=1e-10),
    hints=[
        "Forward first, and keep a, h and the logarithms of the probabilities. Dropout is one more function of each entry: what is its "
        "derivative? scipy's log_softmax does not overflow.",
        "The slope of the mean loss by the scores is (probabilities − one-hot labels) / n. It goes back through W2, then through the "
        "factor, then through the ReLU. The penalty adds to the loss and to the slopes of both matrices.",
        "With delta the slope by the scores: dW2 is h.T @ delta plus the decay; what arrives at a is (delta @ W2.T) * factor * (a > 0); "
        "X.T times it, plus the decay, is dW1, and sums over the rows are the slopes of the biases.",
    ],
)


def _net(rng, n, m, d, k, p, lam=0.0, planted=True):
    """A batch in which a living unit is kept, another dropped, and a dead one kept, on each row."""
    case = dict(
        X=away(rng, n, m), y=rng.integers(0, k, n), W1=away(rng, m, d), b1=away(rng, d),
        W2=away(rng, d, k), b2=away(rng, k), lam=lam,
        factor=(rng.random((n, d)) >= p) / (1 - p),
    )  # fmt: skip
    if planted:
        case["b1"][:3] = [9.0, 8.0, -30.0]
        case["factor"][:, :3] = [1 / (1 - p), 0.0, 1 / (1 - p)]
        case["W2"][:3] /= 10  # no row is sure of its label
    return case


@net_grads.cases
def _(rng):
    yield "a batch under dropout", _net(rng, 6, 4, 5, 3, 0.4)
    yield "a batch under dropout", _net(rng, 4, 3, 6, 4, 0.75)
    yield "weight decay", _net(rng, 6, 4, 5, 3, 0.0, rng.uniform(0.05, 0.2))
    yield "weight decay", _net(rng, 3, 2, 4, 5, 0.5, rng.uniform(0.5, 1.0))
    yield "no dropout", _net(rng, 6, 4, 5, 3, 0.0, planted=False)
    yield "a single row", _net(rng, 1, 3, 4, 2, 0.3)
    everything = _net(rng, 5, 3, 4, 3, 0.5, 0.1)
    everything["factor"][:] = 0
    yield "every unit is dropped", everything
    constant = _net(rng, 4, 3, 5, 3, 0.0, planted=False)
    constant["factor"][:] = rng.uniform(0.3, 0.7)
    yield "scaled in use", constant
    corner = _net(rng, 4, 3, 5, 3, 0.0)
    corner["W1"][:, 1], corner["b1"][1], corner["factor"][:, 1] = 0, 0, 1
    yield "a unit exactly at the corner of its ReLU", corner
    large = _net(rng, 4, 3, 5, 2, 0.4)
    large["b2"] = np.array([900.0, -900.0])
    large["y"] = rng.permutation([0, 1, 1, 0])
    yield "scores of 900 and −900", large
    far = dict(X=rng.uniform(0.8, 1.2, (4, 1)) * [[1], [1], [-1], [-1]], lam=0.0)
    far |= dict(W1=np.array([[1.0, -1.0]]), b1=np.zeros(2), factor=np.ones((4, 2)))
    far |= dict(W2=np.array([[900.0, -900.0], [-900.0, -890.0]]), b2=away(rng, 2))
    yield "scores of 900 and −900", far | dict(y=np.array([0, 1, 0, 1]))
    # a unit kept, one dropped, a dead one; the scores stay small on some rows
    ints = dict(X=rng.choice([-1, 1], (4, 3)), y=rng.permutation([0, 0, 1, 1]), lam=1)
    ints |= dict(W1=rng.choice([-1, 1], (3, 3)), b1=np.array([5, 6, -9]))
    ints |= dict(W2=np.array([[1, -1], [2, 1], [-1, 3]]), b2=whole(rng, 2))
    ints["factor"] = np.tile([1, 0, 1], (4, 1))
    yield "whole numbers", ints


NORMS = "np.sum(W1**2) + np.sum(W2**2)"
BACK = "(delta @ W2.T) * factor * (a > 0)"
net_grads.mistakes(
    {
        "the mask is forgotten on the way back": (
            BACK,
            "(delta @ W2.T) * (a > 0)",
            "A unit that was off had no influence on the loss. What slope must its weights get?",
        ),
        "the scale is forgotten on the way back": (
            BACK,
            "(delta @ W2.T) * (factor > 0) * (a > 0)",
            "out = h * factor, so its derivative by h is the factor. Is it 1 for a kept unit?",
        ),
        "scaled on the way back only": (
            "np.maximum(a, 0) * factor",
            "np.maximum(a, 0) * (factor > 0)",
            "Is the loss that of the network that was asked for? The factor belongs into the forward pass, too.",
        ),
        "dropped on the way back only": (
            "np.maximum(a, 0) * factor",
            "np.maximum(a, 0)",
            "Which values does W2 multiply: h as it is, or h times its factor?",
        ),
        "the factor is squared on the way back": (
            BACK,
            "(delta @ W2.T) * factor**2 * (a > 0)",
            "How often does dropout act between the ReLU and the scores?",
        ),
        "the slope of the ReLU is forgotten": (
            " * (a > 0)",
            "",
            "Between a and the scores stand two functions. Did both give their derivative?",
        ),
        "slope 1 at 0": (
            "a > 0",
            "a >= 0",
            "Look at a unit whose a is exactly 0. Which slope does the text give it?",
        ),
        "dW2 from the units before dropout": (
            "h.T @ delta",
            "np.maximum(a, 0).T @ delta",
            "Which values did W2 multiply: those before or after the mask?",
        ),
        "the loss is a sum": (
            "log_p[rows, y].mean()",
            "log_p[rows, y].sum()",
            "Try a batch with every row twice: what may change?",
        ),
        "the slopes are sums": (
            "delta / len(y)",
            "delta * 1.0",
            "The loss carries 1/n. Where is it in your slopes?",
        ),
        "the biases' slopes are means": (
            "back.sum(axis=0)",
            "back.mean(axis=0)",
            "1/n stands in delta already. Does it come twice?",
        ),
        "the logarithm to base 2": (
            "log_p[rows, y].mean()",
            "log_p[rows, y].mean() / np.log(2)",
            "Two classes with equal scores: the loss is 0.693, not 1.",
        ),
        "exp overflows": (
            "log_softmax(h @ W2 + b2, axis=1)",
            "(h @ W2 + b2) - np.log(np.exp(h @ W2 + b2).sum(axis=1, keepdims=True))",
            "What is exp(900) in floating point? What may be subtracted from all scores of a row?",
        ),
        "the logarithm of a probability that is 0": (
            "log_softmax(h @ W2 + b2, axis=1)",
            "np.log(softmax(h @ W2 + b2, axis=1))",
            "A probability of exp(-1800) is 0 in floating point. Take the logarithm before you round.",
        ),
        "one largest score for all rows": (
            "log_softmax(h @ W2 + b2, axis=1)",
            "(s := h @ W2 + b2 - np.max(h @ W2 + b2)) - np.log(np.exp(s).sum(axis=1, keepdims=True))",
            "A row far below the largest score of another: what is left of its exp? Each row wants its own maximum.",
        ),
        "half of the decay": (
            "2 * lam * W1",
            "lam * W1",
            "What is the derivative of w² by w?",
        ),
        "only one matrix decays": (
            " + 2 * lam * W1",
            "",
            "Both matrices stand in the penalty. Do both have its slope?",
        ),
        "the biases decay, too": (
            "back.sum(axis=0)",
            "back.sum(axis=0) + 2 * lam * b1",
            "Which parameters does the penalty hold? Biases go free.",
        ),
        "the spectral norm": (
            NORMS,
            "np.linalg.norm(W1, 2) ** 2 + np.linalg.norm(W2, 2) ** 2",
            "norm(W, 2) of a matrix is its largest singular value. Here every entry counts.",
        ),
        "means over the entries": (
            NORMS,
            "np.mean(W1**2) + np.mean(W2**2)",
            "Is the penalty a sum or a mean of squares?",
        ),
        "the penalty is not in the loss": (
            "penalty - log_p",
            "-log_p",
            "Your slopes know the penalty. Does the loss?",
        ),
    }
)


net_grads.worked(
    why=r"""Dropout multiplies by a factor that does not depend on $h$, so its derivative is that factor: what was off gets nothing, what was
    doubled gets double. There is nothing to rescale on the way back beyond that. The rest is backpropagation as ever: probabilities minus
    one-hot labels, divided by $n$; back through $W_2$, the factor, the ReLU's slope. The penalty lives beside all this: its slope
    $2\lambda W$ is simply added, and does not know of rows or coins."""
)


@net_grads.right("torch builds the graph", library="torch.autograd")
def _(X, y, W1, b1, W2, b2, factor, lam):
    Ws = [torch.tensor(v, dtype=torch.float64, requires_grad=True)
          for v in (W1, b1, W2, b2)]  # fmt: skip
    a = torch.tensor(X, dtype=torch.float64) @ Ws[0] + Ws[1]
    s = (a.relu() * torch.tensor(factor)) @ Ws[2] + Ws[3]
    loss = torch.nn.functional.cross_entropy(s, torch.tensor(y))
    loss = loss + lam * (Ws[0].square().sum() + Ws[2].square().sum())
    loss.backward()
    return loss.item(), *(W.grad.numpy() for W in Ws)


@net_grads.right("row by row")
def _(X, y, W1, b1, W2, b2, factor, lam):
    n, loss = len(y), 0.0
    g1, c1, g2, c2 = (np.zeros(np.shape(v)) for v in (W1, b1, W2, b2))
    for x, label, f in zip(X, y, factor):
        a = x @ W1 + b1
        s = (np.maximum(a, 0) * f) @ W2 + b2
        s = s - s.max()
        loss += (np.log(np.exp(s).sum()) - s[label]) / n
        d = (np.exp(s) / np.exp(s).sum() - np.eye(len(s))[label]) / n
        back = np.where(a > 0, f * (W2 @ d), 0)
        g2, c2 = g2 + np.outer(np.maximum(a, 0) * f, d), c2 + d
        g1, c1 = g1 + np.outer(x, back), c1 + back
    squares = lam * float((W1 * W1).sum() + (W2 * W2).sum())
    return loss + squares, g1 + 2 * lam * W1, c1, g2 + 2 * lam * W2, c2


# ---------------------------------------------------------------- the loop

train = Exercise(
    "train",
    reference=reference.trained,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="training ends where the losses no longer fall",
    hints=[
        "What must be remembered from step to step? The weights now, the weights of the record and its loss, how many losses came "
        "since, and all losses.",
        "At the beginning of a step, if its number is a multiple of every: ask, and see whether it is a record; if it is not, and that is the "
        "patience-th in a row, leave the loop. Then the coins, the slopes, and a new list of arrays: if you change the old ones, "
        "the record moves as well.",
        "enumerate(batches) gives number and rows; number % every == 0 asks. The factor is (rng.random(...) >= p) / (1 - p), as many "
        "columns as net[1] has entries. The new net is a list of value - eta * slope over zip(old net, slopes).",
    ],
)


@train.probe
def _(answer, A, B, told, mark, net, p, eta, batches, every, patience, seed):
    asked = []

    def slopes(net, batch, factor):  # they depend on all that they get
        W1, b1, W2, b2 = net
        X, Y, f = A[batch], B[batch], np.asarray(factor, float)
        return [X.T @ f + W1 / 2, f.sum(axis=0) - b1, f.T @ Y - W2 / 2, Y.sum(0) + b2]

    def held_out(net):  # losses as told, with a mark of the net that was shown
        asked.append(told[len(asked) % len(told)])
        shown = float(sum(np.sum(v) for v in net))
        return asked[-1] + mark * shown / (1 + abs(shown))

    best, last, losses = answer(
        slopes, held_out, net, p, eta, batches, every, patience,
        np.random.default_rng(seed),
    )  # fmt: skip
    return dict(best=list(best), last=list(last), losses=losses)


def walk(
    rng, told, p=0.4, *, every=1, patience=99, sizes=(3,) * 7, m=3, d=4, k=2, mark=0.02
):
    shapes = ((m, d), (d,), (d, k), (k,))
    return dict(
        A=away(rng, 6, m),
        B=away(rng, 6, k),
        told=[float(v) for v in np.multiply(told, rng.uniform(1.0, 1.5))],
        mark=mark,
        net=[away(rng, *shape) for shape in shapes],
        p=p,
        eta=float(rng.uniform(0.05, 0.1)),
        batches=[rng.choice(6, size, replace=False) for size in sizes],
        every=every,
        patience=patience,
        seed=int(rng.integers(1 << 30)),
    )


@train.cases
def _(rng):
    middle, nan = [5.0, 4.0, 3.0, 3.5, 4.5, 5.5, 6.0], float("nan")
    end, third = "to the end, the best on the way", "asked at every third step"
    patient, record = "patience comes to an end", "what is a record, and what is none"
    waits = [5.0, 5.5, 4.0, 3.0, 3.5, 3.2]
    yield end, walk(rng, waits, patience=3, sizes=(4, 2, 1, 3, 5, 3))
    yield end, walk(rng, [1.0, -1.0, -2.0, -1.5], sizes=(3,) * 4)
    yield end, walk(rng, middle, p=0.0)
    yield end, walk(rng, [5.0, 4.0, 4.5], d=1, p=0.25, sizes=(3, 1, 2))
    ties = [5.0, 4.0, 4.0, 4.5]
    yield third, walk(rng, ties, every=3, patience=2, sizes=(2,) * 11, mark=0.0)
    yield third, walk(rng, [5.0], every=3, sizes=(4,))
    yield patient, walk(rng, middle, patience=2)
    gaps = [3.0, nan, 3.5, 1.0]
    yield patient, walk(rng, gaps, every=2, patience=2, sizes=(2,) * 8)
    many = [5.0, 5.5, 4.0, 4.5, 3.0, 3.5, 3.6, 2.0]
    yield patient, walk(rng, many, patience=2, sizes=(2,) * 9)
    yield record, walk(rng, [2.0, 1.0, 1.0, 1.0, 1.0], patience=3, mark=0.0)
    yield record, walk(rng, [3.0, 2.0, nan, 2.8, 2.5], sizes=(2,) * 5)
    tiny = [2.0, 1.99999, 1.99998, 1.99997]
    yield record, walk(rng, tiny, patience=1, sizes=(3,) * 4, mark=0.0)
    yield record, walk(rng, [4e9, 3e9, 3.5e9], sizes=(3,) * 3)
    edge = walk(rng, middle, sizes=(5,) * 3)
    u = np.random.default_rng(edge["seed"]).random(20)
    edge["p"] = float(u[np.abs(u - 0.5).argmin()])
    yield "a number that is exactly p stays", edge


NEW = "last = [value - eta * slope for value, slope in zip(last, found)]"
COINS = "rng.random((len(batch), len(net[1])))"
train.mistakes(
    {
        "equal is a record, too": (
            "losses[-1] < lowest",
            "losses[-1] <= lowest",
            "A record is lower than all before. Is an equal loss?",
        ),
        "nan is a record": (
            "if losses[-1] < lowest",
            "if not losses[-1] >= lowest",
            "Every comparison with nan is false. Which way round is yours?",
        ),
        "lower than the last": (
            "losses[-1] < lowest",
            "losses[-1] < (losses[-2] if step else math.inf)",
            "A record is lower than all losses before, not than the last one.",
        ),
        "one loss too patient": (
            "waited == patience",
            "waited > patience",
            "With patience 1 the first loss without a record ends it.",
        ),
        "a record does not begin the wait anew": (
            "waited = last, losses[-1], 0",
            "waited = last, losses[-1], waited if step else 0",
            "patience counts losses in a row. What does a record do to your count?",
        ),
        "never ends early": (
            "break",
            "pass",
            "What happens after patience losses without a record?",
        ),
        "nan does not end the patience": (
            "waited = waited + 1",
            "waited = waited + (losses[-1] == losses[-1])",
            "A loss of nan is no record either. Does it count among the losses in a row?",
        ),
        "patience counts steps": (
            "waited = waited + 1",
            "waited = min(waited + every, patience)",
            "patience counts losses, and one loss comes in every steps. What do you count?",
        ),
        "a small gain is no record": (
            "losses[-1] < lowest",
            "losses[-1] < lowest - 1e-4",
            "Lower is lower, however little. Where does your code ask for more?",
        ),
        "a large first loss is no record": (
            "lowest, losses = math.inf, []",
            "lowest, losses, best, waited = 1e6, [], net, 0",
            "The first loss may be any number. With what do you compare it?",
        ),
        "asked at every step": (
            "step % every == 0",
            "True",
            "every says how many steps lie between two questions.",
        ),
        "asked after the steps": (
            "if step % every == 0:",
            "if (step + 1) % every == 0 or step == 0:",
            "Before which steps is held_out asked? Write down their numbers for every = 3.",
        ),
        "not rescaled": (
            "keep / (1 - p)",
            "keep * 1.0",
            "Inverted dropout: which factor do the units get that stay?",
        ),
        "p is the chance to keep": (
            ">= p",
            "< p",
            "A unit stays where its number is at least p.",
        ),
        "one mask for the whole batch": (
            COINS,
            "np.tile(rng.random(len(net[1])), (len(batch), 1))",
            "Every row wants coins of its own.",
        ),
        "the same coins in every step": (
            COINS,
            COINS.replace("rng", "np.random.default_rng(0)"),
            "Throw with the rng that you were given, in each step anew.",
        ),
        "slopes of the first net": (
            "slopes(last, batch",
            "slopes(net, batch",
            "The net has moved. Where do you ask for its slopes?",
        ),
        "the first net is asked": (
            "held_out(last)",
            "held_out(net)",
            "Which weights does held_out judge: those of now, or of the start?",
        ),
        "uphill": ("value - eta", "value + eta", "Which way do slopes point?"),
        "the step size is forgotten": (
            "eta * slope",
            "slope",
            "How long is your step? Where is eta?",
        ),
        "the best for the last": (
            "return best, last",
            "return best, best",
            "The second is the net as training left it.",
        ),
        "the record is the last net": (
            NEW,
            "for value, slope in zip(last, found):\n            value -= eta * slope",
            "Which weights had the lowest loss? If you change arrays in place, what becomes of the record?",
        ),
        "only the matrices move": (
            NEW,
            "last = [value - eta * slope * (value.ndim > 1) for value, slope in zip(last, found)]",
            "All four of the net's arrays move.",
        ),
    }
)


train.equivalent(
    {
        "keep = rng.random((len(batch), len(net[1]))) >= p → keep = rng.random((len(batch), len(net[2]))) >= p": "W2 a row for each hidden unit."
    }
)


train.worked(
    why=r"""The loop remembers five things: the weights now, the best so far, its loss, how many losses came since, and all of them. Because a step
    makes *new* arrays, the best needs no copy: it is simply another name for a list that nobody changes any more. Asking comes before the step, so that
    the very first weights may win, too, and the end comes without a useless step. The coins are thrown row by row and step by step; in `held_out`
    none are thrown, since what counts is the network in use."""
)


@train.right("while, with copies and a deque of the losses since")
def _(slopes, held_out, net, p, eta, batches, every, patience, rng):
    now, k, losses, since = [v.copy() for v in net], 0, [], []
    record = None
    while k < len(batches):
        if not k % every:
            loss = float(held_out(now))
            losses.append(loss)
            since.append(loss)
            if record is None or loss < record[0]:
                record, since = (loss, [v.copy() for v in now]), []
            if len(since) >= patience:
                return record[1], now, losses
        keep = rng.random((len(batches[k]), net[1].size)) >= p
        for v, s in zip(now, slopes(now, batches[k], np.where(keep, 1 / (1 - p), 0))):
            v -= eta * s
        k += 1
    return record[1], now, losses


@train.right("all nets kept, the best looked up at the end")
def _(slopes, held_out, net, p, eta, batches, every, patience, rng):
    nets, losses = [net], []
    for k, batch in enumerate(batches):
        if k % every == 0:
            losses = losses + [held_out(nets[-1])]
            best = int(np.nanargmin(losses))
            if len(losses) - 1 - best >= patience:
                break
        coins = rng.random((len(batch), len(net[1])))
        moves = slopes(nets[-1], batch, (1.0 - (coins < p)) / (1 - p))
        nets.append(
            [np.subtract(v, np.multiply(eta, s)) for v, s in zip(nets[-1], moves)]
        )
    return nets[best * every], nets[-1], np.array(losses)


# ---------------------------------------------------------------- dropped inputs are ridge

dropout_ridge = Exercise(
    "dropout_ridge",
    reference=reference.dropout_least_squares,
    compare=close(rtol=1e-6, atol=1e-9),
    hints=[
        "The expected loss is a sum of squares plus a charge on squared weights. Where is its gradient 0?",
        "The gradient is −2Xᵀ(y − Xw) + 2 p/(1−p) c ⊙ w, with c the column sums of the squares. That is a linear system for w: "
        "which matrix belongs to c ⊙ w?",
        "np.diag(c) times w is c ⊙ w. So solve (X.T @ X + penalty) w = X.T @ y, with the penalty a diagonal matrix.",
    ],
)


@dropout_ridge.cases
def _(rng):
    def rows(n, m, p, *k, scale=1.0):
        return dict(X=scale * (away(rng, n, m) + 0.3), y=away(rng, n, *k), p=p)

    yield "a few features", rows(10, 4, rng.uniform(0.15, 0.35))
    yield "very unequal columns", rows(10, 3, 0.4, scale=np.array([0.01, 1.0, 100.0]))
    yield "more features than rows", rows(3, 5, 0.3)
    copies = rows(8, 3, 0.25)
    copies["X"][:, 2] = copies["X"][:, 0]
    yield "two copies of a feature", copies
    yield "p = 0 is least squares", rows(8, 3, 0.0)
    single = rows(6, 1, 0.5)
    yield "a single feature", single | dict(X=abs(single["X"]))
    yield "heavy dropout", rows(9, 3, 0.8)
    yield "several tasks", rows(7, 3, 0.3, 4)
    yield "several tasks", rows(4, 6, 0.6, 2)
    ints = dict(
        X=whole(rng, 7, 3) + np.eye(7, 3, dtype=int) * 9, y=whole(rng, 7), p=0.25
    )
    yield "whole numbers", ints


dropout_ridge.mistakes(
    {
        "the same charge for every weight": (
            "np.diag(c)",
            "np.eye(len(c))",
            "Measure feature 1 in millimetres. Does dropout notice? Does your penalty?",
        ),
        "the variance of the plain mask": (
            "p / (1 - p)",
            "p * (1 - p)",
            "What is kept is divided by 1 - p. What is the variance of m/(1-p)?",
        ),
        "p alone": ("p / (1 - p)", "p", "What is the variance of m/(1-p)?"),
        "the weights for plain masks": (
            "X.T @ y)",
            "X.T @ y) / (1 - p)",
            "In use the prediction is x·w, without a factor. Are your weights too long by 1/(1-p)?",
        ),
        "the coins of two features are one": (
            "np.diag(c)",
            "X.T @ X",
            "The off-diagonal entries: do two different coins covary?",
        ),
        "a mean over the rows": (
            "np.sum(X**2",
            "np.mean(X**2",
            "The loss is a sum over the rows. Is your charge a sum over them, too?",
        ),
        "as if nothing were dropped": (
            "X.T @ X + penalty",
            "X.T @ X",
            "A random input has the right mean. Does the squared error only see means?",
        ),
        "the variance of the columns": (
            "np.sum(X**2, axis=0)",
            "len(X) * X.var(axis=0)",
            "A dropped entry becomes 0, not the mean of its column. From where are the squares counted?",
        ),
        "lengths, not squares": (
            "np.diag(c)",
            "np.diag(np.sqrt(c))",
            "Is c_i the length of column i or its square?",
        ),
        "sums over the features": (
            "np.sum(X**2, axis=0)",
            "np.resize(np.sum(X**2, axis=1), X.shape[1])",
            "c has an entry for each column. Along which axis do you add up?",
        ),
    }
)


dropout_ridge.worked(
    why=r"""The mean of a square is the squared mean plus the variance. The mean of the prediction is $x^\top w$, as if nothing were dropped, and the
    variance is a sum over the features, $\frac p{1-p}w_i^2x_i^2$ a row: the coins of two features are independent, so there are no mixed terms. Added
    up over the rows this is a diagonal penalty, and the best weights solve one linear system. A column in other units changes $c_i$ and $w_i^2$ by
    inverse factors: the charge stays."""
)


@dropout_ridge.right("least squares with extra rows")
def _(X, y, p):
    root = np.sqrt(p / (1 - p) * np.sum(X**2, 0))
    longer = np.concatenate([y, np.zeros((len(root), *y.shape[1:]))])
    return np.linalg.lstsq(np.vstack([X, np.diag(root)]), longer, rcond=1e-14)[0]


@dropout_ridge.right(
    "ridge on columns of length 1", library="sklearn.linear_model.Ridge"
)
def _(X, y, p):
    from sklearn.linear_model import Ridge

    length = np.linalg.norm(X, axis=0)
    model = Ridge(alpha=p / (1 - p), fit_intercept=False, solver="svd")
    return (model.fit(X / length, y).coef_ / length).T


# ---------------------------------------------------------------- the ensemble

ensemble_mean = Exercise(
    "ensemble_mean",
    reference=reference.ensemble_means,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("W",),
    hints=[
        "Make a table with one row for each mask (itertools.product) and a column of their probabilities. What must the column add up to?",
        "A mask's probability is a product of p for each zero and 1 - p for each one. The scores of all sub-networks are "
        "(masks * h) @ W. Then three weighted means: of scores, of logarithms, of probabilities.",
        "chance @ table is a weighted mean of rows. log_softmax with axis=1 gives the logarithms; softmax of their mean is its exp, "
        "divided by the sum.",
    ],
)


@ensemble_mean.cases
def _(rng):
    def net(d, k, p):
        W = np.sort(away(rng, d, k), axis=1) * 1.5
        return dict(h=rng.uniform(0.5, 2.0, d) * rng.choice([-1.0, 1.0], d), W=W, p=p)

    yield "few units", net(4, 3, rng.uniform(0.15, 0.35))
    yield "often dropped", net(5, 3, rng.uniform(0.65, 0.8))
    yield "fair coins", net(5, 4, 0.5)
    yield "a single unit", net(1, 3, 0.3)
    yield "nothing is dropped", net(4, 3, 0.0)
    large = dict(
        h=np.array([1.0, -1.0]), W=np.array([[900.0, -900.0], [880.0, -880.0]])
    )
    yield "scores of thousands", large | dict(p=float(rng.uniform(0.2, 0.4)))
    # each class is far behind under most masks: every mean of logarithms is below −800
    apart = 1000.0 * (2 * np.eye(4) - 1) + away(rng, 4, 4)
    many = dict(h=np.ones(4), W=apart, p=float(rng.uniform(0.58, 0.66)))
    yield "scores of thousands", many
    yield "whole numbers", dict(h=whole(rng, 3), W=whole(rng, 3, 2), p=0.25)


CHANCE = "np.prod(np.where(masks == 1, 1 - p, p), axis=1)"
ensemble_mean.mistakes(
    {
        "all masks count the same": (
            CHANCE,
            "np.full(len(masks), 1 / len(masks))",
            "For p = 0.1, is the mask that drops everything as likely as the one that drops nothing?",
        ),
        "p is the chance to keep": (
            "1 - p, p)",
            "p, 1 - p)",
            "At p = 0 only the mask of ones occurs. Does it in your table?",
        ),
        "the geometric mean does not sum to one": (
            "softmax(chance @ log_p)",
            "np.exp(chance @ log_p)",
            "Add up your geometric mean over the classes. Is it a distribution?",
        ),
        "the geometric mean for both": (
            "chance @ np.exp(log_p)",
            "geometric",
            "Is a mean of probabilities the exp of a mean of logarithms?",
        ),
        "the scores are not scaled": (
            "return chance @ s",
            "return h @ W",
            "How large are the mean scores, compared with those of the network without a mask?",
        ),
        "inverted masks": (
            "(masks * h) @ W",
            "(masks * h) @ W / (1 - p)",
            "Here the masks are plain zeros and ones. Did you divide by 1 - p?",
        ),
        "the empty mask is left out": (
            "repeat=len(h))))",
            "repeat=len(h))))[1:]",
            "A table of d units has 2^d rows. Do the probabilities of yours add up to 1?",
        ),
        "geometric mean and vote exchanged": (
            "geometric, chance @ np.exp(log_p)",
            "chance @ np.exp(log_p), geometric",
            "Look at the order in the docstring: scores, geometric, vote.",
        ),
        "exp of the mean logarithms rounds to 0": (
            "softmax(chance @ log_p)",
            "(g := np.exp(chance @ log_p)) / g.sum()",
            "exp(-850) is 0 in floating point, and 0 / 0 is nan. What may be subtracted from all classes before exp?",
        ),
        "the logarithm of a probability that is 0": (
            "log_softmax(s, axis=1)",
            "np.log(softmax(s, axis=1))",
            "A probability of exp(-1800) is 0 in floating point. Take the logarithm before you round.",
        ),
    }
)


ensemble_mean.worked(
    why=r"""A table with a row for each mask turns every mean into one product, chance @ table. The probabilities of the masks are products, since
    the coins are independent. The logarithms come from the scores directly, so that a probability that is 0 in floating point does no harm. That the
    first two means could be had without any table, from $(1-p)W^\top h$, is the discovery: $2^d$ networks for the price of one."""
)


@ensemble_mean.right("two closed forms and a loop")
def _(h, W, p):
    from scipy.special import softmax

    s, vote = (1 - p) * (h @ W), 0.0
    for number in range(2 ** len(h)):
        m = np.array([number >> i & 1 for i in range(len(h))])
        chance = p ** (len(h) - m.sum()) * (1 - p) ** m.sum()
        vote = vote + chance * softmax((m * h) @ W)
    return s, softmax(s), vote


@ensemble_mean.right("unit by unit: each splits the ensemble in two, in torch")
def _(h, W, p):
    s, chance = torch.zeros(1, W.shape[1]).double(), torch.ones(1).double()
    for value, row in zip(h, torch.tensor(W)):
        s = torch.cat([s, s + value * row])
        chance = torch.cat([p * chance, (1 - p) * chance])
    geometric = torch.softmax(chance @ torch.log_softmax(s, 1), 0)
    return [v.numpy() for v in (chance @ s, geometric, chance @ torch.softmax(s, 1))]


# ---------------------------------------------------------------- norm and mask

masked_norms = Exercise(
    "masked_norms",
    reference=reference.masked_norm_means,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("h",),
    hints=[
        "The first mean needs no enumeration: what is linear in m comes out of the mean. The second is not linear.",
        "For each mask: its probability, and sqrt(d) (m * h) / |m * h|, where d is always the number of all units. What does the "
        "mask of zeros add?",
        "for m in itertools.product((0, 1), repeat=d): with k = sum(m) the probability is p**(d - k) * (1 - p)**k. Skip the mask whose "
        "m * h has length 0.",
    ],
)


@masked_norms.cases
def _(rng):
    def units(d, p):
        return dict(h=rng.uniform(0.3, 3.0, d) * rng.choice([-1, 1], d), p=p)

    yield "a few units", units(4, rng.uniform(0.15, 0.35))
    yield "a few units", units(6, 0.5)
    yield "often dropped", units(5, rng.uniform(0.65, 0.8))
    yield "two units", units(2, 0.5)
    yield "a single unit", units(1, 0.3)
    yield "nothing is dropped", units(4, 0.0)
    yield "whole numbers", dict(h=whole(rng, 3), p=0.25)


FIRST = "(1 - p) * np.sqrt(d) * h / np.linalg.norm(h), second"
ODDS = "p ** (d - sum(m)) * (1 - p) ** sum(m)"
masked_norms.mistakes(
    {
        "the factor 1 − p for both": (
            FIRST,
            FIRST.replace("second", FIRST.replace(", second", "")),
            "Is a norm linear? Compare the length of RMSNorm(m * h) with that of m * RMSNorm(h).",
        ),
        "√(1 − p) times RMSNorm(h)": (
            FIRST,
            FIRST.replace(
                "second", "np.sqrt(1 - p) * np.sqrt(d) * h / np.linalg.norm(h)"
            ),
            "That is the approximation for many units. Here there are few: take every mask.",
        ),
        "d counts the kept units only": (
            "chance * np.sqrt(d)",
            "chance * np.sqrt(sum(m))",
            "A dropped unit is a zero among d numbers. How long is RMSNorm(m * h)?",
        ),
        "the empty mask is left out": (
            "return (1 - p)",
            "second = second / (1 - p**d)\n    return (1 - p)",
            "Do the probabilities of your masks add up to 1?",
        ),
        "all masks count the same": (
            ODDS,
            "0.5**d",
            "For p = 0.1, is the mask that drops everything as likely as the one that drops nothing?",
        ),
        "p is the chance to keep": (
            ODDS,
            "(1 - p) ** (d - sum(m)) * p ** sum(m)",
            "At p = 0 only the mask of ones occurs.",
        ),
        "inverted masks": (
            "return (1 - p) * ",
            "return ",
            "Here the masks are plain zeros and ones. Which mean did you divide by 1 - p?",
        ),
        "length 1": (
            "chance * np.sqrt(d) *",
            "chance *",
            "Which length has RMSNorm(h), 1 or √d?",
        ),
        "the two means are exchanged": (
            f"return {FIRST}",
            "return second, (1 - p) * np.sqrt(d) * h / np.linalg.norm(h)",
            "Look at the order in the docstring: norm first, then mask first.",
        ),
        "the empty mask gives nan": (
            "length > 0",
            "True",
            "The zero vector stays zero. What is 0 / 0 in NumPy?",
        ),
    }
)


masked_norms.worked(
    why=r"""With the norm first, the mask multiplies a fixed vector, and the mean goes straight through: $1-p$. With the mask first, each mask makes
    another length, which the norm then removes: no factor comes out, so all $2^d$ masks are tried. The mask of zeros has no direction and adds
    nothing, but its probability counts. Dividing by $1-p$ cannot repair the second mean: its direction has turned."""
)


@masked_norms.right("with root mean squares, mask by mask")
def _(h, p):
    d, first, second = len(h), 0.0, 0.0
    for number in range(2**d):
        m = np.array([number >> i & 1 for i in range(d)])
        chance = p ** (d - m.sum()) * (1 - p) ** m.sum()
        first = first + chance * m * h / np.sqrt(np.mean(h**2))
        second = second + chance * m * h / max(math.sqrt(np.mean((m * h) ** 2)), 1e-30)
    return first, second


@masked_norms.right("a table of all masks", library="torch.nn.functional.rms_norm")
def _(h, p):
    d, t = len(h), torch.tensor(h).double()
    m = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * d).view(-1, d)
    chance = (m * (1 - p) + (1 - m) * p).prod(1)
    normed = torch.nn.functional.rms_norm(m * t, (d,), eps=1e-300)
    return (1 - p) * torch.nn.functional.rms_norm(t, (d,), eps=1e-300), chance @ normed

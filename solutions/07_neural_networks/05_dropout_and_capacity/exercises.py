"""Exercises of 07_neural_networks/05_dropout_and_capacity."""

import itertools

import numpy as np
import torch

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- mean and variance

dropout_moments = Exercise(
    "dropout_moments",
    reference=reference.output_moments,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("W",),
    hints=[
        "Begin with one unit and W = 1: m is 0 or 1. What are E[m] and E[m²], and what follows for Var[m]?",
        "E[m] = 1 - p and Var[m] = p(1 - p). The units are dropped independently, so the variances of the terms W_ik m_i h_i add up. "
        "Dividing by 1 - p divides the mean by it, and the variance by its square.",
        "mean = W.T @ h times (1 - p or 1); variance = (W**2).T @ h**2 times (p * (1 - p) or p / (1 - p)).",
    ],
)


@dropout_moments.cases
def _(rng):
    def net(d, k, p, inverted):
        h, W = rng.normal(1.0, 1.0, d), rng.normal(0.5, 1.0, (d, k))
        return dict(h=h, W=W, p=p, inverted=inverted)

    yield "plain masks", net(5, 3, rng.uniform(0.1, 0.4), False)
    yield "inverted", net(5, 3, rng.uniform(0.1, 0.4), True)
    yield "inverted", net(6, 2, rng.uniform(0.6, 0.8), True)
    yield "the units themselves", {**net(4, 4, 0.3, False), "W": np.eye(4)}
    yield "a single unit", net(1, 2, 0.25, True)
    yield "nothing is dropped", net(4, 2, 0.0, True)
    yield "silent units", {**net(3, 2, 0.5, False), "h": np.zeros(3)}


@dropout_moments.wrong(
    "the mean is not shrunk",
    advice="Without the division by 1 - p, how much of a unit arrives on average?",
)
def _(h, W, p, inverted):
    _, variance = _moments(h, W, p, inverted)
    return h @ W, variance


@dropout_moments.wrong(
    "p and 1 - p confused",
    advice="p is the chance that a unit is switched off. What is the mean of a unit that is nearly always off?",
)
def _(h, W, p, inverted):
    return _moments(h, W, 1 - p if p else 0.0, inverted)


@dropout_moments.wrong(
    "the inverted variance is that of the plain mask",
    advice="If a random number is divided by 1 - p, by what is its variance divided?",
)
def _(h, W, p, inverted):
    mean, _ = _moments(h, W, p, inverted)
    return mean, _moments(h, W, p, False)[1]


@dropout_moments.wrong(
    "the inverted variance is divided once",
    advice="Variance has the unit of s². By which power of 1 - p is it divided?",
)
def _(h, W, p, inverted):
    mean, variance = _moments(h, W, p, False)
    return (mean / (1 - p), variance / (1 - p)) if inverted else (mean, variance)


@dropout_moments.wrong(
    "one coin for all units",
    advice="Your variance squares the whole sum. That is right if all units fall together; here each has a coin of its own.",
)
def _(h, W, p, inverted):
    return _moments(h, W, p, inverted)[0], (
        p / (1 - p) if inverted else p * (1 - p)
    ) * (h @ W) ** 2


@dropout_moments.wrong(
    "the standard deviation", advice="The variance is asked. Did you take a root?"
)
def _(h, W, p, inverted):
    mean, variance = _moments(h, W, p, inverted)
    return mean, np.sqrt(variance)


@dropout_moments.wrong(
    "the weights are not squared", advice="What is the variance of a number times W_ik?"
)
def _(h, W, p, inverted):
    return _moments(h, W, p, inverted)[0], (
        p / (1 - p) if inverted else p * (1 - p)
    ) * (h**2 @ W)


@dropout_moments.wrong(
    "plain and inverted are swapped",
    advice="Which of the two divides by 1 - p, and whose mean is that of the whole layer?",
)
def _(h, W, p, inverted):
    return _moments(h, W, p, not inverted)


@dropout_moments.wrong(
    "some thousand masks are tried",
    advice="A mean over throws of the coins has an error of its own. Use the moments of one coin instead.",
)
def _(h, W, p, inverted):
    keep = np.random.default_rng(0).random((4000, len(h))) >= p
    s = (keep * h) @ W / (1 - p if inverted else 1)
    return s.mean(0), s.var(0)


def _moments(h, W, p, inverted):
    q = 1 - p
    if inverted:
        return h @ W, p / q * (h**2 @ W**2)
    return q * (h @ W), p * q * (h**2 @ W**2)


@dropout_moments.right("from the second moment")
def _(h, W, p, inverted):
    q, scale = 1 - p, 1 / (1 - p) if inverted else 1.0
    terms = W * h[:, None] * scale
    mean = (q * terms).sum(0)
    return mean, (q * terms**2).sum(0) - (q**2 * terms**2).sum(0)


@dropout_moments.right("over all masks")
def _(h, W, p, inverted):
    total, square = 0.0, 0.0
    for mask in itertools.product((0, 1), repeat=len(h)):
        m = np.array(mask)
        chance = np.prod(np.where(m == 1, 1 - p, p))
        s = (m * h) @ W / (1 - p if inverted else 1)
        total, square = total + chance * s, square + chance * s**2
    return [total, square - total**2]


@dropout_moments.right("single precision")
def _(h, W, p, inverted):
    return [v.astype(np.float32) for v in _moments(h, W, p, inverted)]


# ---------------------------------------------------------------- forward


def _forward_twice(h, p, train, inverted, seed):
    rng = np.random.default_rng(seed)
    u = [h.new_tensor(rng.random(tuple(h.shape))) for _ in range(2)]
    first, second = (reference.dropout_with(h, p, train, inverted, draw) for draw in u)
    if train:
        return dict(first=first, second=second)
    return dict(
        first=first, second=second, next_number=np.random.default_rng(seed).random()
    )


dropout_forward = Exercise(
    "dropout_forward",
    reference=_forward_twice,
    compare=close(rtol=1e-9, atol=1e-12, float32=True),
    hints=[
        "Four situations: training or not, inverted or not. Write down for each by what a kept unit is multiplied.",
        "Training: factor 1 (plain) or 1/(1-p) (inverted) where the random number is at least p, and 0 elsewhere. "
        "Afterwards: no random numbers, the factor is 1 - p (plain) or 1 (inverted).",
        "keep = rng.random(h.shape) >= p; factor = keep / (1 - p) or keep * 1.0; without train np.full(h.shape, …). Return h * factor, factor.",
    ],
)


@dropout_forward.probe
def _(answer, h, p, train, inverted, seed):
    rng = np.random.default_rng(seed)
    first = answer(h, p, train, inverted, rng)
    second = answer(h, p, train, inverted, rng)
    pairs = dict(first=first, second=second)
    for name, pair in pairs.items():
        if isinstance(pair, tuple):  # a factor of truth values multiplies as 0 and 1 do
            pairs[name] = tuple(
                v * 1.0 if str(getattr(v, "dtype", "")) == "bool" else v for v in pair
            )
    if train:
        return pairs
    return dict(**pairs, next_number=rng.random())


@dropout_forward.cases
def _(rng):
    def call(shape, p, train, inverted):
        h = rng.uniform(0.5, 2.0, shape)
        return dict(
            h=h, p=p, train=train, inverted=inverted, seed=int(rng.integers(1 << 30))
        )

    yield "training, inverted", call((8, 6), 0.3, True, True)
    yield "training, inverted", call((6, 8), 0.7, True, True)
    yield "training, plain", call((8, 6), 0.3, True, False)
    yield "after training, inverted", call((4, 3), 0.4, False, True)
    yield "after training, plain", call((4, 3), 0.4, False, False)
    yield "p = 0 changes nothing", call((3, 3), 0.0, True, True)
    yield "p = 0 changes nothing", call((3, 3), 0.0, False, False)
    yield (
        "silent units stay silent",
        {**call((4, 5), 0.5, True, True), "h": np.zeros((4, 5))},
    )


def _coins(rng, shape, train):
    return rng.random(shape) if train else np.ones(shape)


def _dropout(h, keep, p, train, inverted, scale=None):
    if train:
        factor = keep / (1 - p) if inverted else keep * 1.0
        factor = keep * scale if scale is not None and inverted else factor
    else:
        factor = np.full(h.shape, 1.0 if inverted else 1 - p)
    return h * factor, factor


@dropout_forward.wrong(
    "p is the chance to keep",
    advice="At p = 0 nothing may be dropped. Which side of p does a kept unit's random number lie on?",
)
def _(h, p, train, inverted, rng):
    return _dropout(h, _coins(rng, h.shape, train) < p, p, train, inverted)


@dropout_forward.wrong(
    "nothing is rescaled",
    advice="Take the mean of the output in training and afterwards. Do they agree?",
)
def _(h, p, train, inverted, rng):
    factor = (rng.random(h.shape) >= p) * 1.0 if train else np.ones(h.shape)
    return h * factor, factor


@dropout_forward.wrong(
    "divided by p",
    advice="A unit survives with probability 1 - p. What factor restores its mean?",
)
def _(h, p, train, inverted, rng):
    return _dropout(
        h,
        _coins(rng, h.shape, train) >= p,
        p,
        train,
        inverted,
        scale=1 / p if p else np.float64(0),
    )


@dropout_forward.wrong(
    "dropped after training, too",
    advice="Should the same input get different answers once training is over?",
)
def _(h, p, train, inverted, rng):
    return _dropout(h, rng.random(h.shape) >= p, p, True, inverted)


@dropout_forward.wrong(
    "scaled twice",
    advice="If the units kept were divided by 1 - p in training, what is left to do afterwards?",
)
def _(h, p, train, inverted, rng):
    out, factor = _dropout(h, _coins(rng, h.shape, train) >= p, p, train, inverted)
    return (out, factor) if train or not inverted else (out * (1 - p), factor * (1 - p))


@dropout_forward.wrong(
    "one mask for all rows",
    advice="Compare the zeros of two rows. Every row wants coins of its own.",
)
def _(h, p, train, inverted, rng):
    keep = np.broadcast_to(_coins(rng, h.shape[-1], train) >= p, h.shape)
    return _dropout(h, keep, p, train, inverted)


@dropout_forward.wrong(
    "the same mask in every call",
    advice="Call it twice with one generator. Do you make a generator of your own inside?",
)
def _(h, p, train, inverted, rng):
    fixed = np.random.default_rng(0)
    return _dropout(h, fixed.random(h.shape) >= p, p, train, inverted)


@dropout_forward.wrong(
    "the unscaled mask is returned",
    advice="out = h * factor must hold for what you return. Multiply and compare.",
)
def _(h, p, train, inverted, rng):
    out, factor = _dropout(h, _coins(rng, h.shape, train) >= p, p, train, inverted)
    return out, np.where(factor > 0, 1.0, 0.0)


@dropout_forward.wrong(
    "random numbers are drawn after training, too",
    advice="The coins of later calls should not depend on how often you validated. Is rng touched when train is False?",
)
def _(h, p, train, inverted, rng):
    return _dropout(h, rng.random(h.shape) >= p, p, train, inverted)


@dropout_forward.wrong(
    "h itself is overwritten",
    advice="The second call gets the same h as the first. Is it still the same?",
)
def _(h, p, train, inverted, rng):
    _, factor = _dropout(h, _coins(rng, h.shape, train) >= p, p, train, inverted)
    h *= factor
    return h, factor


@dropout_forward.wrong(
    "after training the factor is one number",
    advice="The factor has h's shape in all four situations. What shape is yours?",
)
def _(h, p, train, inverted, rng):
    if train:
        return _dropout(h, rng.random(h.shape) >= p, p, train, inverted)
    scale = 1.0 if inverted else 1 - p
    return h * scale, scale


@dropout_forward.wrong(
    "rescaled by the share that was kept",
    advice="Your factor depends on how many coins fell. What does the table divide by?",
)
def _(h, p, train, inverted, rng):
    keep = rng.random(h.shape) >= p if train else np.ones(h.shape)
    return _dropout(h, keep, p, train, inverted, scale=1 / keep.mean())


@dropout_forward.right("a plain mask of truth values")
def _(h, p, train, inverted, rng):
    if train and not inverted:
        keep = rng.random(h.shape) >= p
        return h * keep, keep
    keep = rng.random(h.shape) >= p if train else np.ones(h.shape)
    return _dropout(h, keep, p, train, inverted)


@dropout_forward.right("nothing is drawn where nothing is dropped")
def _(h, p, train, inverted, rng):
    if p == 0 or (inverted and not train):
        return h.copy(), np.ones(h.shape)
    return _dropout(h, rng.random(h.shape) >= p if train else None, p, train, inverted)


@dropout_forward.right("np.where and early returns")
def _(h, p, train, inverted, rng):
    if not train:
        scale = 1.0 if inverted else 1.0 - p
        return scale * h, scale * np.ones_like(h)
    factor = np.where(rng.random(h.shape) < p, 0.0, 1.0)
    if inverted:
        factor /= 1.0 - p
    return factor * h, factor


@dropout_forward.right("unit by unit, lists")
def _(h, p, train, inverted, rng):
    if not train:
        scale = 1 if inverted else 1 - p
        return [[x * scale for x in row] for row in h.tolist()], [
            [scale] * len(row) for row in h
        ]
    on = 1 / (1 - p) if inverted else 1
    factor = [[on if rng.random() >= p else 0 for _ in row] for row in h]
    return [
        [x * f for x, f in zip(a, b, strict=True)]
        for a, b in zip(h, factor, strict=True)
    ], factor


@dropout_forward.right("single precision")
def _(h, p, train, inverted, rng):
    out, factor = _dropout(
        h, rng.random(h.shape) >= p if train else None, p, train, inverted
    )
    return out.astype(np.float32), factor.astype(np.float32)


# ---------------------------------------------------------------- backward

net_grads = Exercise(
    "net_grads",
    reference=reference.dropped_net_gradients,
    compare=close(rtol=1e-6, atol=1e-10),
    hints=[
        "Forward first: a = X W1 + b1, h = relu(a) * factor, s = h W2 + b2. Dropout is one more elementwise function; what is its derivative?",
        "Backward: delta = (softmax(s) - one-hot(y)) / n; dW2 = h.T @ delta; the way to h is delta @ W2.T; the way through dropout multiplies by factor; the way through the ReLU by (a > 0).",
        "back = (delta @ W2.T) * factor * (a > 0); dW1 = X.T @ back; db1 = back.sum(axis=0). The loss is the mean of -log p at the labels.",
    ],
)


def _net(rng, n, m, d, k, p):
    return dict(
        X=rng.normal(size=(n, m)),
        y=rng.integers(0, k, n),
        W1=rng.normal(size=(m, d)),
        b1=rng.normal(size=d),
        W2=rng.normal(size=(d, k)),
        b2=rng.normal(size=k),
        factor=(rng.random((n, d)) >= p) / (1 - p),
    )


@net_grads.cases
def _(rng):
    yield "a batch under dropout", _mixed(_net(rng, 6, 4, 5, 3, 0.4))
    yield "a batch under dropout", _mixed(_net(rng, 5, 3, 6, 4, 0.5))
    yield "no dropout", _net(rng, 6, 4, 5, 3, 0.0)
    yield "a single row", _mixed(_net(rng, 1, 3, 4, 2, 0.3))
    everything = _net(rng, 4, 3, 4, 3, 0.5)
    everything["factor"][:] = 0
    yield "every unit is dropped", everything
    constant = _net(rng, 4, 3, 5, 3, 0.0)
    constant["factor"][:] = 0.6
    yield "scaled after training", constant
    corner = _net(rng, 4, 3, 5, 3, 0.0)
    corner["W1"][:, 1], corner["b1"][1] = 0, 0
    yield "a unit exactly at the corner of its ReLU", corner
    large = _mixed(_net(rng, 4, 3, 5, 3, 0.4))
    large["W2"][:2] /= 30
    large["b2"] += 800
    yield "large scores", large


def _mixed(case):
    """Each row has a live unit that is kept and a live one that is dropped, and a dead one that is kept."""
    case["b1"][:3] = [30.0, 30.0, -30.0]
    kept = case["factor"].max() or 2.0
    case["factor"][:, :3] = [kept, 0.0, kept]
    return case


def _backprop(
    X,
    y,
    W1,
    b1,
    W2,
    b2,
    factor,
    back=None,
    slope=True,
    mean=True,
    out=None,
    at=0,
    shift=True,
):
    """back: factor used on the way back. out: factor of the hidden layer used for dW2. at: the ReLU's slope at 0."""
    a = X @ W1 + b1
    live = np.maximum(a, 0)
    h = live * factor
    s = h @ W2 + b2
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(s - (s.max(1, keepdims=True) if shift else 0))
        p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(y)), y])
    delta = p - np.eye(W2.shape[1])[y]
    if mean:
        loss, delta = loss.mean(), delta / len(y)
    else:
        loss = loss.sum()
    grad = (
        (delta @ W2.T)
        * (factor if back is None else back)
        * (np.heaviside(a, at) if slope else 1)
    )
    seen = h if out is None else live * out
    return loss, X.T @ grad, grad.sum(0), seen.T @ delta, delta.sum(0)


@net_grads.wrong(
    "the mask is forgotten on the way back",
    advice="A unit that was switched off had no influence on the loss. What gradient must its weights get?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, back=np.ones_like(factor))


@net_grads.wrong(
    "the scale is forgotten on the way back",
    advice="out = h * factor, so d out / d h is the factor. Is it 1 for a kept unit?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, back=(factor > 0) * 1.0)


@net_grads.wrong(
    "scaled on the way back only",
    advice="Is the loss the loss of the network that was asked for? The factor belongs into the forward pass.",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, (factor > 0) * 1.0, back=factor)


@net_grads.wrong(
    "the factor is squared on the way back",
    advice="How often does dropout act between the ReLU and the scores?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, back=factor**2)


@net_grads.wrong(
    "the slope of the ReLU is forgotten",
    advice="Between the hidden layer's input and its output stand two functions. Did both give their derivative?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, slope=False)


@net_grads.wrong(
    "dW2 from the units before dropout",
    advice="Which values did W2 multiply: those before or after the mask?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, out=np.ones_like(factor))


@net_grads.wrong(
    "the sum over the rows",
    advice="The loss is a mean over the rows. Try a batch with every row twice: what may change?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, mean=False)


@net_grads.wrong(
    "the ReLU has slope 1 at 0",
    advice="Look at a unit whose a is exactly 0. Which slope does the text give it?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, at=1)


@net_grads.wrong(
    "exp overflows",
    advice="What is exp(800) in floating point? What may be subtracted from all scores of a row without changing its softmax?",
)
def _(X, y, W1, b1, W2, b2, factor):
    return _backprop(X, y, W1, b1, W2, b2, factor, shift=False)


@net_grads.wrong(
    "the loss is a mean, the gradients are sums",
    advice="The loss carries 1/n. Where is it in delta?",
)
def _(X, y, W1, b1, W2, b2, factor):
    loss = _backprop(X, y, W1, b1, W2, b2, factor)[0]
    return loss, *_backprop(X, y, W1, b1, W2, b2, factor, mean=False)[1:]


@net_grads.wrong(
    "the logarithm to base 2",
    advice="Two classes with equal scores: the loss is 0.693, not 1.",
)
def _(X, y, W1, b1, W2, b2, factor):
    loss, *gradients = _backprop(X, y, W1, b1, W2, b2, factor)
    return loss / np.log(2), *gradients


@net_grads.right("torch builds the graph")
def _(X, y, W1, b1, W2, b2, factor):
    Ws = [torch.from_numpy(value).requires_grad_() for value in (W1, b1, W2, b2)]
    a = torch.from_numpy(X) @ Ws[0] + Ws[1]
    s = (a.relu() * torch.from_numpy(factor)) @ Ws[2] + Ws[3]
    rows = torch.arange(len(y))
    loss = (torch.logsumexp(s, 1) - s[rows, torch.from_numpy(y)]).mean()
    loss.backward()
    return loss.item(), *(W.grad.numpy() for W in Ws)


@net_grads.right("row by row")
def _(X, y, W1, b1, W2, b2, factor):
    totals = None
    for i in range(len(y)):
        one = _backprop(X[i : i + 1], y[i : i + 1], W1, b1, W2, b2, factor[i : i + 1])
        totals = (
            one if totals is None else [t + o for t, o in zip(totals, one, strict=True)]
        )
    return [t / len(y) for t in totals]


# ---------------------------------------------------------------- the ensemble

ensemble_mean = Exercise(
    "ensemble_mean",
    reference=reference.ensemble_means,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("W",),
    hints=[
        "Make a table with one row for each mask (itertools.product((0, 1), repeat=d)) and a column of their probabilities. What must the column add up to?",
        "A mask with j zeros has probability p^j (1-p)^(d-j). Scores of all sub-networks: (masks * h) @ W. Three weighted means: of the scores, of the logarithms of the probabilities, of the probabilities.",
        "geometric: g = np.exp(chance @ np.log(P)); g / g.sum(). arithmetic: chance @ P. P: softmax of every row of the scores.",
    ],
)


@ensemble_mean.cases
def _(rng):
    def net(d, k, p):
        return dict(h=rng.uniform(0.5, 2.0, d), W=rng.normal(0, 1.5, (d, k)), p=p)

    yield "few units", net(4, 3, rng.uniform(0.15, 0.35))
    yield "often dropped", net(5, 3, rng.uniform(0.65, 0.8))
    yield "fair coins", net(5, 4, 0.5)
    yield "a single unit", net(1, 3, 0.3)
    yield "nothing is dropped", net(4, 3, 0.0)
    yield "silent units", {**net(3, 4, 0.4), "h": np.zeros(3)}


def _table(h, W, p):
    masks = np.array(list(itertools.product((0, 1), repeat=len(h))), dtype=float)
    chance = np.prod(np.where(masks == 1, 1 - p, p), axis=1)
    return masks, chance, (masks * h) @ W


def _soft(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _means(chance, s):
    geometric = np.exp(chance @ np.log(_soft(s)))
    return chance @ s, geometric / geometric.sum(), chance @ _soft(s)


@ensemble_mean.wrong(
    "all masks count the same",
    advice="For p = 0.1, is the mask that drops everything as likely as the one that drops nothing?",
)
def _(h, W, p):
    _, chance, s = _table(h, W, p)
    return _means(np.full(len(chance), 1 / len(chance)), s)


@ensemble_mean.wrong(
    "p is the chance to keep",
    advice="At p = 0 only the mask of ones occurs. Does it in your table?",
)
def _(h, W, p):
    _, chance, s = _table(h, W, 1 - p)
    return _means(chance, s)


@ensemble_mean.wrong(
    "the geometric mean does not sum to one",
    advice="Add up your geometric mean over the classes. Is it a distribution?",
)
def _(h, W, p):
    _, chance, s = _table(h, W, p)
    scores, _, arithmetic = _means(chance, s)
    return scores, np.exp(chance @ np.log(_soft(s))), arithmetic


@ensemble_mean.wrong(
    "softmax of the mean for every mean",
    advice="The scaled network gives two of the three. Is a mean of softmaxes the softmax of a mean?",
)
def _(h, W, p):
    s = (1 - p) * (h @ W)
    return s, _soft(s), _soft(s)


@ensemble_mean.wrong(
    "the network is not scaled",
    advice="How large are the mean scores, compared with the scores of the network without a mask?",
)
def _(h, W, p):
    _, geometric, arithmetic = _means(*_table(h, W, p)[1:])
    return h @ W, geometric, arithmetic


@ensemble_mean.wrong(
    "inverted masks",
    advice="Here the masks are plain zeros and ones. Did you divide by 1 - p?",
)
def _(h, W, p):
    _, chance, s = _table(h, W, p)
    return _means(chance, s / (1 - p))


@ensemble_mean.wrong(
    "the empty mask is left out",
    advice="A table of d units has 2^d rows. Do the probabilities of yours add up to 1 by themselves?",
)
def _(h, W, p):
    _, chance, s = _table(h, W, p)
    return _means(chance[1:] / chance[1:].sum(), s[1:])


@ensemble_mean.wrong(
    "some thousand masks are tried",
    advice="There are at most 1024 masks. Can you take every one, with its probability?",
)
def _(h, W, p):
    keep = np.random.default_rng(0).random((4000, len(h))) >= p
    return _means(np.full(4000, 1 / 4000), (keep * h) @ W)


@ensemble_mean.wrong(
    "geometric and arithmetic mean are swapped",
    advice="Look at the order in the docstring: scores, geometric, arithmetic.",
)
def _(h, W, p):
    scores, geometric, arithmetic = _means(*_table(h, W, p)[1:])
    return scores, arithmetic, geometric


@ensemble_mean.right("two closed forms and a loop")
def _(h, W, p):
    s, arithmetic = (1 - p) * (h @ W), 0.0
    for number in range(2 ** len(h)):
        m = np.array([number >> i & 1 for i in range(len(h))])
        chance = p ** (len(h) - m.sum()) * (1 - p) ** m.sum()
        arithmetic = arithmetic + chance * _soft((m * h) @ W)
    return s, _soft(s), arithmetic


@ensemble_mean.right("unit by unit: each splits the ensemble in two")
def _(h, W, p):
    s, chance = np.zeros((1, W.shape[1])), np.ones(1)
    for value, row in zip(h, W, strict=True):
        s = np.concatenate([s, s + value * row])
        chance = np.concatenate([p * chance, (1 - p) * chance])
    return _means(chance, s)


@ensemble_mean.right("in torch, single precision")
def _(h, W, p):
    return [
        v.numpy()
        for v in reference.ensemble_means(
            torch.from_numpy(h).float(), torch.from_numpy(W).float(), p
        )
    ]


# ---------------------------------------------------------------- dropped inputs are ridge

dropout_ridge = Exercise(
    "dropout_ridge",
    reference=reference.dropout_least_squares,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y"),
    hints=[
        "For one row: the prediction under a mask has a mean and a variance. How does E[(y - random)²] split?",
        "Mean xᵀw, variance p/(1-p) Σ w_i² x_i²: the expected loss is ‖y - Xw‖² + p/(1-p) Σ_i w_i² c_i with c_i the sum of squares of column i. Set the gradient to 0.",
        "np.linalg.solve(X.T @ X + p / (1 - p) * np.diag(np.sum(X**2, axis=0)), X.T @ y).",
    ],
)


@dropout_ridge.cases
def _(rng):
    def rows(n, m, p, units=None):
        X = rng.normal(0.3, 1.0, (n, m)) * (np.ones(m) if units is None else units)
        y = X @ (rng.uniform(1, 2, m) / (1 if units is None else units)) + rng.normal(
            size=n
        )
        return dict(X=X, y=y, p=p)

    yield "more rows than features", rows(12, 3, rng.uniform(0.15, 0.35))
    yield "features in different units", rows(10, 3, 0.4, np.array([0.01, 1.0, 100.0]))
    yield "more features than rows", rows(3, 5, 0.3)
    copies = rows(8, 3, 0.25)
    copies["X"][:, 2] = copies["X"][:, 0]
    yield "two copies of a feature", copies
    yield "p = 0 is least squares", rows(8, 3, 0.0)
    yield "a single feature", rows(6, 1, 0.5)
    yield "heavy dropout", rows(9, 3, 0.8)


def _solve(X, y, penalty):
    return np.linalg.pinv(X.T @ X + penalty, hermitian=True) @ X.T @ y


@dropout_ridge.wrong(
    "the same penalty for every weight",
    advice="Measure feature 1 in millimetres instead of metres. Does dropout notice? Does your penalty?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * np.eye(X.shape[1]))


@dropout_ridge.wrong(
    "the variance of the plain mask",
    advice="The inputs kept are divided by 1 - p. What is the variance of m/(1-p)?",
)
def _(X, y, p):
    return _solve(X, y, p * (1 - p) * np.diag(np.sum(X**2, 0)))


@dropout_ridge.wrong(
    "the weights for plain masks",
    advice="After training the prediction is x·w, without any scaling. Are your weights too long by 1/(1-p)?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * np.diag(np.sum(X**2, 0))) / (1 - p)


@dropout_ridge.wrong(
    "the coins of two features are one",
    advice="The off-diagonal entries: do two different coins covary?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * X.T @ X)


@dropout_ridge.wrong(
    "the penalty is a mean over the rows",
    advice="The loss is a sum over the rows. Is your penalty a sum over them, too?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * np.diag(np.mean(X**2, 0)))


@dropout_ridge.wrong(
    "least squares as if nothing were dropped",
    advice="A random input has the right mean. Does the squared error only see means?",
)
def _(X, y, p):
    return _solve(X, y, 0.0)


@dropout_ridge.wrong(
    "one strength for all weights, from all columns",
    advice="c has an entry for each column. Does each weight meet its own?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * np.mean(np.sum(X**2, 0)) * np.eye(X.shape[1]))


@dropout_ridge.wrong(
    "the variance of the columns",
    advice="A dropped entry becomes 0, not the mean of its column. From where are the squares counted?",
)
def _(X, y, p):
    return _solve(X, y, p / (1 - p) * len(X) * np.diag(X.var(0)))


@dropout_ridge.right("least squares with extra rows")
def _(X, y, p):
    root = np.sqrt(p / (1 - p) * np.sum(X**2, 0))
    return np.linalg.lstsq(
        np.vstack([X, np.diag(root)]), np.append(y, np.zeros(len(root))), rcond=1e-14
    )[0]


@dropout_ridge.right("ridge in units of the columns' lengths")
def _(X, y, p):
    c = np.sqrt(np.sum(X**2, 0))
    Z = X / c
    if p == 0:
        return np.linalg.lstsq(Z, y, rcond=None)[0] / c
    return Z.T @ np.linalg.solve(Z @ Z.T + p / (1 - p) * np.eye(len(y)), y) / c


# ---------------------------------------------------------------- weight decay

decay_loss = Exercise(
    "decay_loss",
    reference=reference.decayed_loss,
    compare=close(rtol=1e-9, atol=1e-12),
    hints=[
        "The Frobenius norm: which entries of the matrix enter, and how?",
        "‖W‖²_F is the sum of the squares of all entries. What is the derivative of w² by w?",
        "loss + lam * sum(np.sum(W**2) for W in Ws), and [2 * lam * W for W in Ws].",
    ],
)


@decay_loss.cases
def _(rng):
    shapes = [(3, 4), (4, 2)]
    Ws = [rng.normal(size=shape) for shape in shapes]
    yield "two layers", dict(loss=rng.uniform(1, 2), Ws=Ws, lam=rng.uniform(0.1, 0.5))
    yield (
        "three layers",
        dict(
            loss=0.5,
            Ws=[rng.normal(size=s) for s in [(2, 3), (3, 3), (3, 1)]],
            lam=0.01,
        ),
    )
    yield "one weight", dict(loss=1.0, Ws=[rng.uniform(2, 3, (1, 1))], lam=0.3)
    yield "λ = 0 changes nothing", dict(loss=2.0, Ws=Ws, lam=0.0)
    yield (
        "zero weights",
        dict(loss=2.0, Ws=[np.zeros((2, 2)), np.zeros((2, 3))], lam=1.0),
    )


@decay_loss.wrong(
    "the spectral norm",
    advice="np.linalg.norm(W, 2) of a matrix is its largest singular value. Here every entry counts.",
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.linalg.norm(W, 2) ** 2 for W in Ws), [
        2 * lam * W for W in Ws
    ]


@decay_loss.wrong(
    "the factor 2 is missing", advice="What is the derivative of w² by w?"
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.sum(W**2) for W in Ws), [lam * W for W in Ws]


@decay_loss.wrong(
    "the norm is not squared",
    advice="The formula has a square. Did a root stay behind?",
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.linalg.norm(W) for W in Ws), [2 * lam * W for W in Ws]


@decay_loss.wrong(
    "a mean over the entries", advice="Is the penalty a sum or a mean of squares?"
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.mean(W**2) for W in Ws), [
        2 * lam * W / W.size for W in Ws
    ]


@decay_loss.wrong("half the penalty", advice="The formula of the text has no ½.")
def _(loss, Ws, lam):
    return loss + lam / 2 * sum(np.sum(W**2) for W in Ws), [lam * W for W in Ws]


@decay_loss.wrong(
    "the gradient without λ",
    advice="For λ = 0 nothing pulls at the weights. What does your gradient say?",
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.sum(W**2) for W in Ws), [2 * W for W in Ws]


@decay_loss.wrong(
    "only the first two matrices",
    advice="How many matrices does the list hold in the case that fails?",
)
def _(loss, Ws, lam):
    return loss + lam * sum(np.sum(W**2) for W in Ws[:2]), [2 * lam * W for W in Ws]


@decay_loss.right("the trace of WᵀW")
def _(loss, Ws, lam):
    return loss + lam * sum(np.trace(W.T @ W) for W in Ws), tuple(
        W * (lam + lam) for W in Ws
    )


@decay_loss.right("torch differentiates")
def _(loss, Ws, lam):
    leaves = [torch.from_numpy(W).requires_grad_() for W in Ws]
    penalty = lam * sum(W.norm() ** 2 if W.any() else (W * W).sum() for W in leaves)
    penalty.backward()
    return loss + penalty.item(), [W.grad.numpy() for W in leaves]


# ---------------------------------------------------------------- norm and mask

masked_norms = Exercise(
    "masked_norms",
    reference=reference.masked_norm_means,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("h",),
    hints=[
        "The first mean needs no enumeration: what is linear in m comes out of the mean. The second is not linear.",
        "Second mean: for each mask its probability p^(zeros) (1-p)^(ones), times sqrt(d) (m * h) / |m * h|; d is always the number of all units. The mask of zeros adds nothing.",
        "for m in itertools.product((0, 1), repeat=d): v = m * h; if any(m): total = total + chance * np.sqrt(d) * v / np.linalg.norm(v).",
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


def _norms(h, p, count=None, empty=True, root=True):
    masks, chance, _ = _table(h, np.ones((len(h), 1)), p)
    if not empty:
        chance = chance * (masks.sum(1) > 0)
        chance = chance / chance.sum()
    v = masks * h
    length = np.linalg.norm(v, axis=1, keepdims=True)
    units = np.maximum(masks.sum(1, keepdims=True), 1) if count == "kept" else len(h)
    normed = (np.sqrt(units) if root else 1.0) * v / np.where(length > 0, length, 1)
    whole = (np.sqrt(len(h)) if root else 1.0) * h / np.linalg.norm(h)
    return chance @ (masks * whole), chance @ normed


@masked_norms.wrong(
    "the factor 1 - p for both",
    advice="Is a norm linear? Compare the length of RMSNorm(m * h) with that of m * RMSNorm(h).",
)
def _(h, p):
    first, _ = _norms(h, p)
    return first, first


@masked_norms.wrong(
    "√(1-p) times RMSNorm(h)",
    advice="That is the approximation for many units. Here there are few: take every mask.",
)
def _(h, p):
    first, _ = _norms(h, p)
    return first, first / np.sqrt(1 - p)


@masked_norms.wrong(
    "d counts the kept units only",
    advice="A dropped unit is a zero among d numbers. Which length has RMSNorm(m * h) by (2.187)?",
)
def _(h, p):
    return _norms(h, p, count="kept")


@masked_norms.wrong(
    "the empty mask is left out",
    advice="Do the probabilities of your masks add up to 1?",
)
def _(h, p):
    return _norms(h, p, empty=False)


@masked_norms.wrong(
    "all masks count the same",
    advice="For p = 0.1, is the mask that drops everything as likely as the one that drops nothing?",
)
def _(h, p):
    return _norms(h, 0.5)


@masked_norms.wrong(
    "inverted masks",
    advice="Here the masks are plain zeros and ones. Which mean did you divide by 1 - p?",
)
def _(h, p):
    first, second = _norms(h, p)
    return first / (1 - p), second


@masked_norms.wrong(
    "an ε in the root",
    advice="The text's RMSNorm has no ε; treat the zero vector by itself.",
)
def _(h, p):
    first, second = _norms(h, p)
    return first * (1 - 1e-5), second * (1 - 1e-5)


@masked_norms.wrong("length 1", advice="Which length has RMSNorm(h), 1 or √d?")
def _(h, p):
    return _norms(h, p, root=False)


@masked_norms.wrong(
    "the two means are swapped",
    advice="Look at the order in the docstring: norm first, then mask first.",
)
def _(h, p):
    return _norms(h, p)[::-1]


@masked_norms.wrong(
    "the empty mask gives nan",
    advice="The zero vector stays zero. What is 0 / 0 in NumPy?",
)
def _(h, p):
    first, second = _norms(h, p)
    return first, second * np.nan


@masked_norms.right("by the numbers of kept units, mask by mask")
def _(h, p):
    d, first, second = len(h), 0.0, 0.0
    for number in range(2**d):
        m = np.array([number >> i & 1 for i in range(d)])
        chance = p ** (d - m.sum()) * (1 - p) ** m.sum()
        first = first + chance * m * h / np.sqrt(np.mean(h**2))
        second = second + chance * m * h / max(np.sqrt(np.mean((m * h) ** 2)), 1e-30)
    return first, second


@masked_norms.right("single precision, a list")
def _(h, p):
    return [v.astype(np.float32) for v in _norms(h, p)]

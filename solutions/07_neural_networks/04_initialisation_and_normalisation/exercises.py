"""Exercises of 07_neural_networks/04_initialisation_and_normalisation."""

import functools

import numpy as np
import torch

from descent.compare import close, exact, parts, within
from solutions.spec import Exercise

from . import reference


def away(rng, *shape):
    """Numbers of either sign, none small: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.4, 1.4, shape)


# ---------------------------------------------------------------- moments through depth

propagate = Exercise(
    "propagate",
    reference=reference.relu_moments,
    compare=close(rtol=1e-9, atol=0.0),
    batched=("fan_in",),
    hints=[
        "Go layer by layer. Which moment of a layer's inputs decides how large its sums are?",
        "A sum s of n terms has E[s²] = n · var_w · m2. The ReLU halves that; the variance of its output is a smaller "
        "share of it, as the text says. Which of the two enters the next layer?",
        "In a loop over fan_in: s2 is n times var_w times m2; the new m2 is half of s2; append m2 and s2 times "
        "(1/2 - 1/(2 pi)). An array of the pairs at the end.",
    ],
)


@propagate.cases
def _(rng):
    def layers(*fan_in, var_w=None, m2=None):
        var_w = rng.uniform(0.01, 0.03) if var_w is None else var_w
        m2 = rng.uniform(1.5, 2.5) if m2 is None else m2
        return dict(var_w=var_w, fan_in=np.array(fan_in), m2=m2)

    yield "equal widths", layers(64, 64, 64, 64)
    yield "widths that change", layers(784, 30, 200)
    yield "fifty layers", layers(*[512] * 50, var_w=rng.uniform(1.5, 1.9) / 512)
    yield "a single layer", layers(8, var_w=0.25)
    yield "zero weights", layers(10, 20, var_w=0.0)
    yield "whole numbers", layers(2, 3, var_w=1, m2=int(rng.integers(2, 6)))


propagate.mistakes(
    {
        "the variance is carried on": (
            "m2 = s2 / 2",
            "m2 = (0.5 - 0.5 / np.pi) * s2",
            "What goes into the next sum of squares: the mean of h², or the mean of (h - E h)²?",
        ),
        "the variance of a ReLU is one half": (
            "(0.5 - 0.5 / np.pi)",
            "0.5",
            "The output of a ReLU does not have mean 0. What must be taken off E[h²]?",
        ),
        "no ReLU": (
            "m2 = s2 / 2",
            "m2 = s2",
            "Your moments belong to s. What does the ReLU do to half of the values?",
        ),
        "the width is forgotten": (
            "s2 = n * var_w",
            "s2 = var_w",
            "s is a sum. Of how many terms?",
        ),
        "0.341 is rounded": (
            "(0.5 - 0.5 / np.pi)",
            "0.341",
            "Your variance has three right digits. Compute 1/2 - 1/(2π) instead of typing 0.341.",
        ),
        "the two columns exchanged": (
            "[m2, (0.5 - 0.5 / np.pi) * s2]",
            "[(0.5 - 0.5 / np.pi) * s2, m2]",
            "Which of the two comes first: E[h²] or the variance?",
        ),
        "every layer starts from the inputs": (
            "m2 = s2 / 2\n        rows.append([m2,",
            "rows.append([s2 / 2,",
            "The second layer gets what the first one returns. Does your m2 change?",
        ),
    }
)

propagate.worked(
    why=r"""One number is carried through the network, $\mathbb E[h^2]$. Each layer multiplies it by $n\,v/2$, so a whole network is a
    product, and that is why a factor that is slightly off becomes a power of the depth. The variance is a side result: it is
    computed from $\mathbb E[s^2]$ and never used again, because the next sum of squares asks for squares, not for deviations."""
)


@propagate.right("a cumulative product")
def _(var_w, fan_in, m2):
    second = m2 * np.cumprod(fan_in * var_w / 2)
    return np.column_stack([second, second * (1 - 1 / np.pi)])


@propagate.right("a list of pairs, the variance from the mean")
def _(var_w, fan_in, m2):
    rows = []
    for n in fan_in.tolist():
        s2 = n * var_w * m2
        m2 = s2 / 2
        mean = (s2 / (2 * np.pi)) ** 0.5
        rows.append([m2, m2 - mean**2])
    return rows


# ---------------------------------------------------------------- initial weights

init = Exercise(
    "init",
    reference=lambda before, n_in, n_out, seed: reference.weight_statistics(
        before, n_in, n_out
    ),
    # Sampling errors of the 20 000 and more weights drawn: √n_in · mean 0.01, power 1.5 % of 2 or less,
    # fourth moment 0.04; the tolerances are five of them or more. Two neighbours are equal by chance once in
    # 10⁵ in single precision, which loses WᵀW = I in the seventh digit.
    compare=parts(
        shape=exact(),
        mean=within(0.08),
        power=within(0.12),
        tails=within(0.3),
        equal_neighbours=within(0.01),
        repeats=exact(),
        same_for_the_same_generator=exact(),
        gram=within(1e-4),
    ),
    hints=[
        "Three branches. For each: which distribution, of which variance, and which shape?",
        "rng.normal wants a standard deviation, not a variance. And a uniform distribution on (-a, a) has variance a²/3: "
        "solve for a.",
        "He: standard deviation np.sqrt(2 / n_in). Xavier: a = np.sqrt(6 / (n_in + n_out)). Orthogonal: the first of the "
        "two matrices that np.linalg.qr returns. All drawn with rng, the first two of shape (n_in, n_out).",
    ],
)


@init.probe
def _(answer, before, n_in, n_out, seed):
    rng = np.random.default_rng(seed)
    W, other = (np.asarray(answer(before, n_in, n_out, rng)) for _ in range(2))
    again = np.asarray(answer(before, n_in, n_out, np.random.default_rng(seed)))
    square = W.astype(float) ** 2
    power = np.mean(square)
    flat = W.ndim != 2 or not W.any()
    gram = np.eye(n_in) if flat else W.T @ W - np.eye(W.shape[1])
    return dict(
        shape=list(W.shape),
        mean=float(n_in**0.5 * np.mean(W)),
        power=float(n_in * power),
        tails=0.0 if flat else float(np.mean(square**2) / power**2),
        equal_neighbours=1.0
        if flat
        else float(max(np.mean(W[1:] == W[:-1]), np.mean(W[:, 1:] == W[:, :-1]))),
        repeats=float(np.array_equal(W, other)),
        same_for_the_same_generator=float(np.array_equal(W, again)),
        gram=float(np.abs(gram).max()) if before == "recurrent" else 0.0,
    )


@init.cases
def _(rng):
    def layer(before, n_in, n_out):
        return dict(
            before=before, n_in=n_in, n_out=n_out, seed=int(rng.integers(2**30))
        )

    yield "He, a narrowing layer", layer("relu", 784, 64)
    yield "He, a widening layer", layer("relu", 64, 784)
    yield "Xavier, a narrowing layer", layer("tanh", 784, 256)
    yield "Xavier, a widening layer", layer("tanh", 100, 256)
    yield "a square layer", layer("relu", 200, 200)
    yield "a square layer", layer("tanh", 200, 200)
    yield "orthogonal", layer("recurrent", 150, 150)


HE, UNIFORM = "rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))", "rng.uniform(-a, a,"
init.mistakes(
    {
        "the variance as standard deviation": (
            "np.sqrt(2 / n_in)",
            "2 / n_in",
            "What does NumPy's normal take as its second number: the variance or its root?",
        ),
        "He with the outputs": (
            "np.sqrt(2 / n_in)",
            "np.sqrt(2 / n_out)",
            "A pre-activation sums over the inputs of the layer. Which of the two numbers counts its terms?",
        ),
        "He without its 2": (
            "np.sqrt(2 / n_in)",
            "np.sqrt(1 / n_in)",
            "A ReLU halves the second moment. What must the variance of the weights make up for?",
        ),
        "He from a uniform distribution": (
            HE,
            "rng.uniform(-1, 1, (n_in, n_out)) * np.sqrt(6 / n_in)",
            "The variance is right. Which distribution does the docstring ask for?",
        ),
        "transposed": (
            HE,
            HE + ".T",
            "h @ W must work for h of shape (N, n_in). Which shape does W have?",
        ),
        "one unit, copied": (
            HE,
            "np.repeat(rng.normal(0, np.sqrt(2 / n_in), (n_in, 1)), n_out, axis=1)",
            "Are your columns different? Units with equal weights compute the same and stay equal.",
        ),
        "the standard deviation as bound": (
            "np.sqrt(6 /",
            "np.sqrt(2 /",
            "What is the variance of a uniform distribution on (-a, a)? Not a².",
        ),
        "only half of the uniform distribution": (
            UNIFORM,
            "rng.uniform(0, a,",
            "What is the mean of your weights? None of them is negative.",
        ),
        "Xavier from a normal distribution": (
            UNIFORM,
            "rng.normal(0, a / 3**0.5,",
            "The variance is right. Which distribution does the docstring ask for?",
        ),
        "right variance, but not orthogonal": (
            "np.linalg.qr(rng.normal(size=(n_in, n_in)))[0]",
            "rng.normal(0, n_in**-0.5, (n_in, n_in))",
            "Does your matrix keep the length of every h? Look at W.T @ W.",
        ),
        "the triangular factor": (
            "[0]",
            "[1]",
            "np.linalg.qr returns two matrices. Which of them is orthogonal?",
        ),
        "a generator of its own": (
            'if before == "relu":',
            'rng = np.random.default_rng(0)\n    if before == "relu":',
            "Two calls give the same weights: two layers would start equal. Which generator should be used?",
        ),
        "NumPy's own generator": (
            'if before == "relu":',
            'rng = np.random\n    if before == "relu":',
            "np.random draws from a hidden state: nobody can repeat your run. Use the rng that is handed in.",
        ),
    }
)

init.equivalent(  # what is drawn around 0 has no sign
    {
        "return rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out)) → "
        "return -rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out))": "normal, mean 0, variance 2 / n_in (He).",
        "return np.linalg.qr(rng.normal(size=(n_in, n_in)))[0] → "
        "return -np.linalg.qr(rng.normal(size=(n_in, n_in)))[0]": "orthogonal, W.T @ W = I",
        "return rng.uniform(-a, a, (n_in, n_out)) → "
        "return -rng.uniform(-a, a, (n_in, n_out))": "(-a, a), variance 2 / (n_in + n_out) (Xavier)",
    }
)

init.worked(
    why=r"""Only the variance matters for the signal; the shape of the distribution is habit. He asks for $2/n_\text{in}$, because a
    pre-activation sums $n_\text{in}$ terms and the ReLU halves what it gets. A uniform distribution on $(-a, a)$ has variance $a^2/3$,
    hence the 6. An orthogonal matrix keeps the length of every single $h$, not only the mean over many: that is why it survives being
    applied a thousand times. Drawing from the `rng` that came in makes a run repeatable, and gives every layer weights of its own."""
)


@init.right("shifted uniform numbers, a scale, vectors made orthogonal by the SVD")
def _(before, n_in, n_out, rng):
    if before == "tanh":
        return (2 * rng.random((n_in, n_out)) - 1) * np.sqrt(6 / (n_in + n_out))
    W = rng.standard_normal((n_in, n_out))
    return W * (2 / n_in) ** 0.5 if before == "relu" else np.linalg.svd(W)[0]


@init.right("by torch's initialisers", library="torch.nn.init")
def _(before, n_in, n_out, rng):
    W = torch.empty(n_out, n_in)  # torch keeps a row for each unit
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    if before == "relu":
        torch.nn.init.kaiming_normal_(W, nonlinearity="relu", generator=generator)
    elif before == "tanh":
        torch.nn.init.xavier_uniform_(W, generator=generator)
    else:
        torch.nn.init.orthogonal_(W, generator=generator)
    return W.T.numpy()


# ---------------------------------------------------------------- a network's health

health = Exercise(
    "health",
    reference=reference.health,
    compare=close(rtol=1e-6, atol=1e-10),
    hints=[
        "Two passes. The first one goes forward and keeps every layer; the second one starts from the last layer with G.",
        "On the way back, in each layer: G belongs to its outputs. Let through what the ReLU lets through, then multiply by "
        "the transposed matrix: now G belongs to the layer's inputs. Which of its three numbers need G, which only H?",
        "With H the outputs of layer l: G becomes (G * (H > 0)) @ W.T; append the mean of H**2, the mean of G**2 and the "
        "mean of (H == 0).all(axis=0). The rows come last layer first: turn them round.",
    ],
)


@functools.cache
def pattern(sizes, rows, off):
    """X, Ws, bs, G where each unit is clearly on or off on each row, so that no draw decides who is.

    off: pairs (layer, unit) that no row wakes. All others wake on some row.
    """
    rng = np.random.default_rng(0)
    while True:
        X, Ws = (
            away(rng, rows, sizes[0]),
            [away(rng, *s) for s in zip(sizes, sizes[1:])],
        )
        bs = [rng.uniform(0.2, 0.6, n) for n in sizes[1:]]
        for layer, unit in off:
            bs[layer][unit] = -60.0
        h, clear = X, True
        for layer, (W, b) in enumerate(zip(Ws, bs)):
            s = h @ W + b
            clear &= (abs(s) > 0.08 * (abs(h) @ abs(W) + abs(b))).all()
            never, sometimes = (s < 0).all(axis=0), (s < 0).any(axis=0)
            dead = [(layer, unit) in off for unit in range(len(b))]
            clear &= (never == dead).all()
            clear &= (
                rows == 1 or not h.any() or all(dead) or sometimes.sum() > sum(dead)
            )
            h = np.maximum(s, 0)
        if clear:
            return X, Ws, bs, away(rng, rows, sizes[-1])


def network(rng, *sizes, rows=4, off=()):
    """One of those, every number up to a hundredth off, with the inputs' signs drawn anew."""

    def near(v):
        return v * rng.uniform(0.99, 1.01, v.shape)

    X, Ws, bs, G = pattern(sizes, rows, tuple(off))
    sign = rng.choice([-1.0, 1.0], sizes[0])
    Ws, bs = [near(W) for W in Ws], [near(b) for b in bs]
    Ws[0] = sign[:, None] * Ws[0]
    return dict(X=near(X) * sign, Ws=Ws, bs=bs, G=near(G) * rng.choice([-1.0, 1.0]))


@health.cases
def _(rng):
    yield "three layers", network(rng, 3, 5, 4, 2)
    sleepers = network(rng, 3, 6, 5, off=[(0, 1), (0, 4), (1, 2)])
    sleepers["Ws"][0][:, 1] = sleepers["bs"][0][1] = 0.0  # exactly at 0: dead as well
    yield "living and dead units", sleepers
    # two units live on one row of twelve, one is faint, one is dead
    rare = network(rng, 1, 5, 2, rows=12)
    rare["X"] = np.r_[-rng.uniform(1, 2, 11), rng.uniform(1, 2)][:, None]
    rare["Ws"][0] = np.array([[1.0, -1.0, 0.0, 0.0, 1.5]]) * rng.uniform(1, 2)
    rare["bs"][0] = np.array([0.0, 0.0, rng.uniform(1e-12, 9e-12), -1.0, 0.0])
    rare["Ws"][1] = abs(rare["Ws"][1])
    yield "awake on one row, or faint, is not dead", rare
    yield "a single layer", network(rng, 4, 3)
    yield "a single row", network(rng, 3, 4, 4, rows=1, off=[(0, 2)])
    kink = network(rng, 2, 3)
    kink["X"][0], kink["bs"][0][:2] = 0.0, 0.0
    yield "a ReLU exactly at 0 passes nothing back", kink
    yield "a dead layer", network(rng, 3, 2, 4, off=[(0, 0), (0, 1)])
    whole = network(rng, 1, 3, 2, rows=4, off=[(0, 2)])
    size = rng.integers(2, 5, 4) * [1, -1, 1, -1]
    whole["X"] = size[:, None] * rng.choice([-1, 1])
    whole["Ws"] = [np.array([[1.0, -1.0, 0.5]]), abs(whole["Ws"][1])]
    yield "whole numbers", whole


BACK = "G = (G * (H > 0)) @ Ws[l].T"
health.mistakes(
    {
        "the variance of the signal": (
            "np.mean(H**2)",
            "np.var(H)",
            "Which moment enters the next layer's sums: the mean of h², or its variance?",
        ),
        "sums for means": (
            "np.mean(G**2)",
            "np.sum(G**2)",
            "A mean square does not grow with the table. Does yours?",
        ),
        "the gradient at the outputs": (
            f"{BACK}\n        rows.append([np.mean(H**2), np.mean(G**2), dead])",
            f"rows.append([np.mean(H**2), np.mean(G**2), dead])\n        {BACK}",
            "The second number belongs to the layer's inputs: take it after the step back.",
        ),
        "the ReLU is forgotten on the way back": (
            "(G * (H > 0))",
            "G",
            "Where a unit is off, nothing comes back through it.",
        ),
        "slope 1 at 0": (
            "(H > 0)",
            "(Hs[l] @ Ws[l] + bs[l] >= 0)",
            "Where the unit stands exactly at 0, what does the text say of the slope?",
        ),
        "the biases are forgotten": (
            " + bs[l]",
            "",
            "A layer is relu(h W + b). Where is b?",
        ),
        "last layer first": (
            "rows[::-1]",
            "rows",
            "You walk from the end to the start. In which order are the rows asked for?",
        ),
        "counts zeros": (
            "(H == 0).all(axis=0)",
            "(H == 0)",
            "A unit that is 0 on half of the rows works as it should. Which units are 0 on every row?",
        ),
        "ever zero": (
            ".all(axis=0)",
            ".any(axis=0)",
            "Dead means 0 on every row. Do you ask for all rows or for any?",
        ),
        "rows for columns": (
            ".all(axis=0)",
            ".all(axis=1)",
            "Which axis runs over the units, and which over the examples?",
        ),
        "nearly always zero": (
            "(H == 0).all(axis=0)",
            "(H == 0).mean(axis=0) > 0.9",
            "A unit that answers to one row in a hundred gets a gradient from that row: it is not dead.",
        ),
        "only what lies below zero": (
            "(H == 0).all(axis=0)",
            "(Hs[l] @ Ws[l] + bs[l] < 0).all(axis=0)",
            "Weights 0 and bias 0: what does such a unit give on every row? Look at what comes out, not at what goes in.",
        ),
        "small counts as zero": (
            "(H == 0)",
            "(H < 1e-8)",
            "A ReLU gives exact zeros, and a tiny value has a gradient. Do you compare with a threshold?",
        ),
        "a number, not a share": (
            "np.mean((H == 0).all(axis=0))",
            "np.sum((H == 0).all(axis=0))",
            "Of how many units?",
        ),
    }
)

health.equivalent(
    {
        "G = G * (H > 0) @ Ws[l].T → G = -(G * (H > 0) @ Ws[l].T)": "the mean square of the slopes of the loss by its inputs"
    }
)

health.worked(
    why=r"""Forward, each layer is kept, because the way back needs to know which units were on. Backward, one line does a layer: the mask
    of the ReLU, then the transposed matrix, just as in backpropagation but without the weights' own gradients. The three numbers answer
    three of the four questions of this section: does the signal arrive, does the gradient come back, and who is switched off for all rows.
    A dead unit shows as a column of zeros, so the question is `all` along the rows, and the answer a mean over the units."""
)


@health.right("by torch's autograd", library="torch.autograd")
def _(X, Ws, bs, G):
    h = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    layers = [h]
    for W, b in zip(Ws, bs):
        layers.append(torch.relu(layers[-1] @ torch.tensor(W) + torch.tensor(b)))
    slopes = torch.autograd.grad(layers[-1], layers[:-1], torch.tensor(G))
    return [
        [h.square().mean().item(), g.square().mean().item(), (h.amax(0) == 0).double().mean()]
        for h, g in zip(layers[1:], slopes)
    ]  # fmt: skip


@health.right("row after row, calling itself")
def _(X, Ws, bs, G):
    def walk(h, l):
        if l == len(Ws):
            return G, []
        H = np.maximum(h @ Ws[l] + bs[l], 0)
        G_out, below = walk(H, l + 1)
        G_in = np.where(H > 0, G_out, 0) @ Ws[l].T
        dead = 1 - np.count_nonzero(H.max(axis=0)) / H.shape[1]
        return G_in, [[(H * H).mean(), (G_in * G_in).mean(), dead], *below]

    return walk(X, 0)[1]


# ---------------------------------------------------------------- a normaliser

Norm = Exercise(
    "Norm",
    reference=reference.norm_layer,
    compare=close(rtol=1e-6, atol=1e-8, float32=True),
    hints=[
        "Which numbers share a mean: those of a column or those of a row? Start with the two kinds that have no modes, then "
        "add batch norm's training, then its evaluation. Keep the normalised table and the divisor for backward.",
        "keepdims=True keeps a mean fit for subtraction. In training, mean and var move by a share momentum of their distance to the "
        "batch's; np.var takes ddof=1. For backward begin with G = gamma * dY: the slope by the normalised table.",
        "forward: the centred C and the mean of C**2 along the axis (for batch norm in evaluation, A - self.mean and self.var), s the root of the "
        "second plus eps, Y = C / s. backward: G minus Y times the mean of G * Y, minus the mean of G unless RMS, all over s; "
        "dgamma and dbeta are sums over the rows.",
    ],
)


@Norm.probe
def _(
    answer, kind, gamma, beta, mean, var, eps, momentum, batches, trains, dY=None
):  # fed with the batches one after the other; with dY, after each of them backward
    norm = answer(kind, len(gamma), eps, momentum)
    norm.gamma, norm.beta = np.array(gamma), np.array(beta)
    norm.mean, norm.var = np.array(mean), np.array(var)
    told = dict(outs=[])
    for A, train in zip(batches, trains):
        told["outs"].append(norm.forward(A, train))
        if dY is not None:
            told["dA"] = norm.backward(dY)
            told["dgamma"], told["dbeta"] = norm.dgamma, norm.dbeta
    return told | dict(mean=norm.mean, var=norm.var)


def feed(rng, kind, *, n=5, d=3, trains=(True,), slope=False, **more):
    inputs = dict(
        kind=kind,
        gamma=rng.uniform(0.5, 2.0, d),
        beta=rng.uniform(0.5, 1.5, d),
        mean=rng.uniform(-1.5, -0.5, d),
        var=rng.uniform(2.0, 4.0, d),
        eps=1e-12,  # of no weight where something varies
        momentum=0.1,
        batches=[2.0 + 3.0 * away(rng, n, d) for _ in trains],
        trains=list(trains),
    )
    if slope:
        inputs["dY"] = away(rng, n, d) + rng.uniform(0.5, 1.5)  # not of mean 0
    return inputs | more


@Norm.cases
def _(rng):
    yield "batch norm in training", feed(rng, "batch")
    yield "layer norm", feed(rng, "layer", n=4, d=5)
    yield "RMS norm", feed(rng, "RMS", n=4, d=5)
    for kind in ("layer", "RMS"):
        yield "the same in both modes", feed(rng, kind, trains=[False, True])
    yield (
        "running values move towards each batch",
        feed(rng, "batch", trains=[True, True], momentum=0.3),
    )
    yield "running values move towards each batch", feed(rng, "batch", n=2)
    yield (
        "evaluation uses the running values, which stay",
        feed(rng, "batch", trains=[True, False], momentum=0.3),
    )
    yield "evaluation of a single row", feed(rng, "batch", n=1, trains=[False])
    yield "training on a single row", feed(rng, "batch", n=1)
    for kind, trains in (("batch", [True, False]), ("layer", [True]), ("RMS", [True])):
        yield "an eps that matters", feed(rng, kind, trains=trains, eps=0.7)
    flat = np.repeat(away(rng, 4, 1), 4, axis=1)  # the mean of four equals is exact
    yield "nothing varies in a row", feed(rng, "layer", d=4, batches=[flat])
    whole = rng.choice([-4, -2, 1, 3], (5, 3)) + np.arange(5)[:, None]
    yield "whole numbers", feed(rng, "batch", batches=[whole], trains=[True])
    yield "backward, batch norm", feed(rng, "batch", slope=True)
    yield "backward, layer norm", feed(rng, "layer", n=4, d=5, slope=True)
    yield "backward, RMS norm", feed(rng, "RMS", n=4, d=5, slope=True)
    for kind in ("batch", "layer", "RMS"):
        two = feed(rng, kind, d=4, slope=True, eps=0.7, trains=[True, True])
        yield f"{kind} norm, backward in each of two steps", two
    yield "backward, a single row", feed(rng, "batch", n=1, slope=True)
    zeros = feed(rng, "RMS", slope=True, batches=[np.zeros((5, 3))])
    yield "backward at 0", zeros


RUN = "self.mean = self.mean + self.momentum * (A.mean(axis=0) - self.mean)"
Norm.mistakes(
    {
        "the axes are exchanged": (
            'self.axis = 0 if self.kind == "batch" else 1',
            'self.axis = 1 if self.kind == "batch" else 0',
            "axis=0 runs down a column. Does batch norm compare rows or features?",
        ),
        "RMS norm is centred": (
            'C = A if self.kind == "RMS" else A - A.mean(self.axis, keepdims=True)',
            "C = A - A.mean(self.axis, keepdims=True)",
            "RMS norm leaves the mean where it is.",
        ),
        "RMS norm divides by the standard deviation": (
            "square = (C**2).mean(self.axis, keepdims=True)",
            "square = A.var(self.axis, keepdims=True)",
            "RMS means root mean square: of the values themselves. np.var subtracts the mean.",
        ),
        "eps outside the root": (
            "np.sqrt(square + self.eps)",
            "np.sqrt(square) + self.eps",
            "Where does ε stand in the formula: inside or outside the root?",
        ),
        "eps is forgotten": (
            "np.sqrt(square + self.eps)",
            "np.sqrt(square)",
            "What happens where nothing varies? ε is added always.",
        ),
        "the root is missing": (
            "np.sqrt(square + self.eps)",
            "(square + self.eps)",
            "Which power of a is left after your division?",
        ),
        "shifted before it is scaled": (
            "return self.gamma * self.Y + self.beta",
            "return self.gamma * (self.Y + self.beta)",
            "In which order come gain and shift: γ·y + β or γ·(y + β)?",
        ),
        "the batch in both modes": (
            'if self.kind == "batch" and not train:',
            "if False:",
            "In evaluation, may a row's output depend on the rows beside it?",
        ),
        "running values in both modes": (
            'if self.kind == "batch" and not train:',
            'if self.kind == "batch":',
            "In training the batch itself is normalised: what are the means of your output's columns?",
        ),
        "evaluation moves the running values": (
            'if self.kind == "batch" and train:',
            'if self.kind == "batch":',
            "Two evaluations of the same rows must agree, in any order. Do the running values stay?",
        ),
        "every kind moves the running values": (
            'if self.kind == "batch" and train:',
            "if train:",
            "mean and var belong to batch norm alone. Do they stay for the other kinds?",
        ),
        "the momentum the other way round": (
            RUN,
            RUN.replace("self.momentum", "(1 - self.momentum)"),
            "With momentum 0.1 the running value moves by a tenth. Does yours move by nine tenths?",
        ),
        "the running variance divides by N": (
            ", ddof=1",
            "",
            "The running variance estimates that of unseen rows. What stands below its line?",
        ),
        "one row pulls the running variance": (
            "if len(A) > 1:\n                self.var = self.var + self.momentum * (A.var(axis=0, ddof=1) - self.var)",
            "self.var = self.var + self.momentum * (A.var(axis=0, ddof=1 if len(A) > 1 else 0) - self.var)",
            "One row says nothing about a variance. What does the text ask of var then?",
        ),
        "mean and spread as constants": (
            "dA = G - self.Y * (G * self.Y).mean(self.axis, keepdims=True)",
            "return G / self.s",
            "Moving one entry also moves the mean and the spread that all entries are divided by.",
        ),
        "the mean as a constant": (
            'if self.kind != "RMS":',
            "if False:",
            "Add the same number to a whole group: what should happen to the output, and so to the loss?",
        ),
        "RMS norm's gradient is centred": (
            'if self.kind != "RMS":',
            "if True:",
            "RMS norm subtracts no mean. Then no mean of the gradient is subtracted either.",
        ),
        "gamma is forgotten on the way back": (
            "G = self.gamma * dY",
            "G = dY",
            "Y is multiplied by gamma after it is made. What is then the slope by Y?",
        ),
        "not divided by s": (
            "return dA / self.s",
            "return dA",
            "Ten times larger values change the output ten times less. What stands before the bracket?",
        ),
        "means for sums in gamma": (
            "(dY * self.Y).sum(axis=0)",
            "(dY * self.Y).mean(axis=0)",
            "gamma acts in every row. Its effects on the loss add up.",
        ),
        "gamma's gradient holds gamma": (
            "(dY * self.Y).sum(axis=0)",
            "(self.gamma * dY * self.Y).sum(axis=0)",
            "The derivative of γ·y by γ is y itself.",
        ),
        "the slopes by gamma add up over the steps": (
            "self.dgamma = (dY * self.Y)",
            'self.dgamma = getattr(self, "dgamma", 0) + (dY * self.Y)',
            "Call backward for two batches: does dgamma hold the slope of the second alone, or of both?",
        ),
    }
)

Norm.worked(
    why=r"""All three kinds are one computation along another axis: subtract (or not), divide by the root of the mean square. So one line
    decides what a group is, and the rest does not ask again. Only batch norm has a memory: in training it normalises by the batch and
    notes where the batch stood; in evaluation it reads the notes. Backward, three effects of an entry add up: its own, the one
    through the mean, and the one through the divisor; the last two are means along the same axis, so no Jacobian matrix is ever built.
    Keeping `Y` and `s` from forward makes it three lines."""
)


class _Base:
    """Attributes as handed out."""

    def __init__(self, kind, d, eps=1e-5, momentum=0.1):
        self.kind, self.eps, self.momentum = kind, eps, momentum
        self.gamma, self.beta = np.ones(d), np.zeros(d)
        self.mean, self.var = np.zeros(d), np.ones(d)


@Norm.right("as a scale and a shift, back step by step through the graph")
class _(_Base):
    def forward(self, A, train):
        A, axis = np.asarray(A, float), 0 if self.kind == "batch" else 1
        m = 0 * A if self.kind == "RMS" else A.mean(axis, keepdims=True)
        v = ((A - m) ** 2).mean(axis, keepdims=True)
        if self.kind == "batch":
            if train:
                self.mean += self.momentum * (m[0] - self.mean)  # in place
                if len(A) > 1:
                    fair = v[0] * len(A) / (len(A) - 1)
                    self.var += self.momentum * (fair - self.var)
            else:
                m, v = self.mean, self.var
        self.C, self.root, self.along = A - m, (v + self.eps) ** 0.5, axis
        return A * (self.gamma / self.root) + (self.beta - m * self.gamma / self.root)

    def backward(self, dY):
        count, axis = dY.shape[self.along], self.along
        dy = dY * self.gamma
        dv = -np.sum(dy * self.C, axis, keepdims=True) / (2 * self.root**3)
        dC = dy / self.root + 2 * self.C * dv / count
        self.dgamma = np.einsum("nd,nd->d", dY, self.C / self.root)
        self.dbeta = np.einsum("nd->d", dY)
        return dC if self.kind == "RMS" else dC - dC.sum(axis, keepdims=True) / count


@Norm.right("by torch's functions", library="torch.nn.functional")
def _(kind, d, eps=1e-5, momentum=0.1):
    F = torch.nn.functional

    class Torchs:
        gamma, beta, mean, var = np.ones(d), np.zeros(d), np.zeros(d), np.ones(d)

        def forward(self, A, train):
            self.A = torch.tensor(A, dtype=torch.float64, requires_grad=True)
            self.g = torch.tensor(self.gamma, requires_grad=True)
            self.b = torch.tensor(self.beta, requires_grad=True)
            if kind == "layer":
                self.out = F.layer_norm(self.A, (d,), self.g, self.b, eps)
            elif kind == "RMS":
                self.out = F.rms_norm(self.A, (d,), self.g, eps) + self.b
            elif train and len(A) == 1:  # torch refuses
                self.out = self.b + 0 * self.A + 0 * self.g
                self.mean = self.mean + momentum * (A[0] - self.mean)
            else:
                mean, var = torch.tensor(self.mean), torch.tensor(self.var)
                how = self.g, self.b, train, momentum, eps
                self.out = F.batch_norm(self.A, mean, var, *how)
                self.mean, self.var = mean.numpy(), var.numpy()
            return self.out.detach().numpy()

        def backward(self, dY):
            self.out.backward(torch.tensor(dY))
            self.dgamma, self.dbeta = self.g.grad.numpy(), self.b.grad.numpy()
            return self.A.grad.numpy()

    return Torchs()


# ---------------------------------------------------------------- copies

distinct_units = Exercise(
    "distinct_units",
    reference=reference.distinct_units,
    compare=exact(),
    batched=("V", "W", "b"),
    shuffled=True,
    hints=[
        "What belongs to unit j? Numbers from W, from b and from V.",
        "They are column j of W, entry j of b and row j of V. Stack them, so that each unit is one column of one table.",
        "A set keeps equal things once, and takes tuples: how long is the set of the tuples of all columns? (np.unique with "
        "an axis does the same.)",
    ],
)


@distinct_units.cases
def _(rng):
    def copied(order, H=5, n_in=3, n_out=2):
        units = rng.normal(size=(n_in + 1 + n_out, H))[:, order]
        return dict(W=units[:n_in], b=units[n_in], V=units[n_in + 1 :].T)

    def among(units):
        """The units before 4 to 11 others, so that a count tells nothing of the next draw."""
        n, n_in, n_out = int(rng.integers(4, 12)), len(units["W"]), units["V"].shape[1]
        more = copied(range(n), n, n_in, n_out)
        pairs = {part: (units[part], more[part]) for part in "WbV"}
        return {
            part: np.concatenate(pair, axis=-1 if part == "W" else 0)
            for part, pair in pairs.items()
        }

    yield "every unit differs", among(copied([0, 1, 2, 3, 4]))
    yield "copies that are not neighbours", among(copied([0, 1, 0, 2, 0]))
    yield "copies that are not neighbours", among(copied([3, 1, 2, 3, 1]))
    fill = rng.uniform(0.1, 0.5)
    one = dict(W=np.full((3, 4), fill), b=np.zeros(4), V=np.full((4, 2), fill))
    yield "all equal", one
    same_in = dict(W=np.full((3, 5), fill), b=np.zeros(5))
    yield "equal on the way in, not out", copied([0, 1, 2, 3, 4]) | same_in
    same_out = dict(V=np.full((5, 2), fill), b=np.zeros(5))
    yield "equal on the way out, not in", copied([0, 1, 2, 3, 4]) | same_out
    biases = copied([0, 0, 0, 1])
    biases["b"] = np.array([0.0, 1.0, 0.0, 2.0])
    yield "equal weights, other biases", among(biases)
    # pairs on the way in, other pairs on the way out: four units
    crossed = copied([0, 0, 1, 1])
    crossed["V"] = copied([0, 1, 0, 1])["V"]
    yield "pairs in, other pairs out", among(crossed)
    nearly = copied([0, 0, 1, 2])
    nearly["W"] = nearly["W"] + [0, 1e-9, 0, 0]
    yield "nearly equal is not equal", among(nearly)
    # one with two weights in exchanged, one with those out, one with every sign turned, one true copy
    alike = copied([0, 0, 0, 0, 0, 1])
    alike["W"][:2, 1] = alike["W"][1::-1, 1]
    alike["V"][2] = alike["V"][2, ::-1]
    for part in (alike["W"].T, alike["b"], alike["V"]):
        part[3] = -part[3]
    yield "the same numbers, swapped or negative, are no copy", among(alike)
    last = copied([0, 0, 0, 0])
    last["V"][:, 1] += [0.0, 1.0, 2.0, 1.0]
    yield "only the last weight out differs", among(last)
    zeros = copied([0, 0, 1])
    zeros["W"][0] = [0.0, -0.0, 0.0]
    yield "0 and −0 are equal", among(zeros)
    yield "a single unit", copied([0])


TABLE = "np.vstack([W, b, V.T]).T"
distinct_units.mistakes(
    {
        "the way in alone": (
            "[W, b, V.T]",
            "[W, b]",
            "Two units that pass on through different weights get different gradients. Compare V as well.",
        ),
        "the biases are forgotten": (
            "[W, b, V.T]",
            "[W, V.T]",
            "Which third number belongs to a unit?",
        ),
        "the way out alone": (
            TABLE,
            "V",
            "Which weights decide what a unit computes? Compare W and b as well.",
        ),
        "rows for columns": (
            TABLE,
            "W",
            "h = act(x @ W + b): is a unit a row or a column of W?",
        ),
        "close counts as equal": (
            TABLE,
            f"{TABLE}.round(6)",
            "Copies are exactly equal. Units that differ a little may drift apart in training.",
        ),
        "the larger of two counts": (
            "return len({tuple(unit) for unit in np.vstack([W, b, V.T]).T})",
            "return max(len(np.unique(np.vstack([W, b]), axis=1).T), len(np.unique(V, axis=0)))",
            "Two units that are equal in, and two others equal out, need not be copies. Compare whole units.",
        ),
        "a sum as fingerprint": (
            "tuple(unit)",
            "float(unit.sum())",
            "Exchange two weights of a unit: its sum stays. Is it still the same unit?",
        ),
        "counts the copies": (
            "return len(",
            "return len(b) - len(",
            "How many units are left if copies are removed?",
        ),
    }
)


@distinct_units.wrong(
    "the copies are left out",
    advice="Three equal units are worth one unit. Do you count it?",
)
def _(W, b, V):
    units = np.vstack([W, b, V.T])
    return int((np.unique(units, axis=1, return_counts=True)[1] == 1).sum())


distinct_units.worked(
    why=r"""A unit is nothing but its numbers: weights in, bias, weights out. Stacked, each unit is one column, and a set of columns drops
    what is there twice. Exact equality is the right test, because only exact copies are sure to stay copies: units that differ by
    $10^{-9}$ get different gradients, and may drift apart."""
)


@distinct_units.right("by numpy.unique", library="numpy.unique")
def _(W, b, V):
    return np.unique(np.c_[W.T, b, V], axis=0).shape[0]


@distinct_units.right("every pair in a loop")
def _(W, b, V):
    found = []
    for j in range(len(b)):
        unit = [*W[:, j], b[j], *V[j]]
        if unit not in found:
            found.append(unit)
    return float(len(found))


# ---------------------------------------------------------------- the Jacobian of RMS norm

rmsnorm_jacobian = Exercise(
    "rmsnorm_jacobian",
    reference=reference.rms_norm_jacobian,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("h",),
    hints=[
        "y_i = h_i / r with r = √(mean(h²) + ε). Which of the two depend on h_j?",
        "Both: h_i where i = j, and r for every j, with dr/dh_j = h_j / (d r). So the entry is 1[i=j] / r - h_i h_j / (d r³).",
        "The identity minus np.outer(h, h) over d times r squared, all divided by r. Both kinds of entries are in it.",
    ],
)


@rmsnorm_jacobian.cases
def _(rng):
    yield "any vector", dict(h=2 * away(rng, 4), eps=0.0)
    yield "an ε that matters", dict(h=away(rng, 3), eps=0.5)
    yield "a short vector", dict(h=1e-3 * away(rng, 5), eps=0.0)
    yield "the vector 0", dict(h=np.zeros(3), eps=rng.uniform(0.01, 0.1))
    yield "a single number", dict(h=away(rng, 1), eps=rng.uniform(0.1, 0.5))
    yield "whole numbers", dict(h=rng.choice([-3, -2, 2, 3], 3), eps=0.0)


PROJECT = "np.outer(h, h) / (len(h) * r**2)"
rmsnorm_jacobian.mistakes(
    {
        "r as a constant": (
            f"(np.eye(len(h)) - {PROJECT})",
            "np.eye(len(h))",
            "Moving h_j also moves the root mean square that every entry is divided by.",
        ),
        "the projection without the mean's 1/d": (
            PROJECT,
            "np.outer(h, h) / r**2",
            "At ε = 0 the matrix must send h itself to 0. Does yours?",
        ),
        "divides by the length": (
            "np.mean(h**2)",
            "np.sum(h**2)",
            "RMS norm has length √d, not 1. By what is h divided?",
        ),
        "no ε": (
            "np.mean(h**2) + eps",
            "np.mean(h**2)",
            "What is your matrix at h = 0?",
        ),
        "centred as in layer norm": (
            f"(np.eye(len(h)) - {PROJECT})",
            f"(np.eye(len(h)) - 1 / len(h) - {PROJECT})",
            "RMS norm subtracts no mean. Which term of your matrix takes the mean of the change away?",
        ),
        "not divided by r": (
            ") / r",
            ")",
            "Ten times longer vectors move ten times less on the sphere. What stands before the bracket?",
        ),
        "ε outside the root": (
            "np.sqrt(np.mean(h**2) + eps)",
            "(np.sqrt(np.mean(h**2)) + eps)",
            "Where does ε stand in the docstring: inside or outside the root?",
        ),
    }
)

rmsnorm_jacobian.worked(
    why=r"""The quotient $h_i/r$ has two derivatives: $1/r$ by $h_i$ itself, and $-h_i/r^2$ times $\partial r/\partial h_j = h_j/(d\,r)$. Written with
    $y = h/r$ they are the identity minus $yy^\top/d$, over $r$. At $\varepsilon = 0$, $yy^\top/d$ is the projection on the direction of
    $h$: a change along $h$ is invisible, one across it comes out $1/r$ times as large. So short vectors are moved far."""
)


@rmsnorm_jacobian.right("entry by entry")
def _(h, eps):
    d = len(h)
    r = (sum(v * v for v in h) / d + eps) ** 0.5
    return [
        [(i == j) / r - h[i] * h[j] / (d * r**3) for j in range(d)] for i in range(d)
    ]


@rmsnorm_jacobian.right("by torch's autograd", library="torch.autograd.functional")
def _(h, eps):
    def rms(x):
        return x / (x.square().mean() + eps).sqrt()

    h = torch.tensor(h, dtype=torch.float64)
    return torch.autograd.functional.jacobian(rms, h).numpy()

"""Exercises of 07_neural_networks/06_softmax_networks."""

from itertools import pairwise

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def network(rng, *sizes):
    return [(rng.normal(size=(o, i)), rng.normal(size=o)) for i, o in pairwise(sizes)]


# ---------------------------------------------------------------- the pipeline

mlp_softmax_forward = Exercise(
    "mlp_softmax_forward",
    reference=reference.forward,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X",),
    hints=[
        "One loop over the layers. What is different for the last one?",
        "Keep h, starting at X. Each layer makes h @ W.T + b; all but the last cut it at zero. Collect every h in a list.",
        "layers[:-1] are the hidden ones. For P: subtract from each row of S its own maximum (axis=1, keepdims=True), "
        "take exp, and divide by the row sums.",
    ],
)


def both_signs(X, layers):
    """Whether every layer's sums have numbers of both signs: nothing is hidden by a cut."""
    for W, b in layers:
        s = X @ W.T + b
        if s.min() > -0.1 or s.max() < 0.1:
            return False
        X = np.maximum(s, 0)
    return True


@mlp_softmax_forward.cases
def _(rng):
    def rows(n, *sizes):
        while True:
            X, layers = rng.normal(size=(n, sizes[0])), network(rng, *sizes)
            if both_signs(X, layers):
                return dict(X=X, layers=layers)

    yield "one hidden layer", rows(4, 2, 5, 3)
    yield "three hidden layers", rows(3, 2, 4, 3, 4, 3)
    yield "no hidden layer: softmax regression", rows(5, 3, 4)
    high = rows(3, 2, 3, 3)
    high["layers"][-1] = (high["layers"][-1][0], high["layers"][-1][1] + 1000)
    yield "1000 added to every score", high
    yield "a single row", rows(1, 2, 3, 4)
    W = np.array([[1.0, -1], [1, 0], [1, 1]]) + 0.001 * rng.normal(size=(3, 2))
    X = np.array([[2000.0, 0], [-2000, 0], [0, 2000], [0.5, 1]])
    far = dict(X=X, layers=[(W, rng.normal(size=3))])
    yield "scores far above zero, far below and far apart", far


HEIGHT = "S.max(axis=1, keepdims=True)"
mlp_softmax_forward.mistakes(
    {
        "the scores are cut at zero too": (
            "S = h @ W.T + b",
            "S = np.maximum(0, h @ W.T + b)",
            "A score may be negative: it is a log-probability up to a constant. Which layers have an activation?",
        ),
        "normalised over the batch": (
            "E.sum(axis=1, keepdims=True)",
            "E.sum(axis=0, keepdims=True)",
            "Which entries of P must sum to 1: those of one row, or those of one class?",
        ),
        "overflow": (
            f"S - {HEIGHT}",
            "S",
            "exp(1000) is infinite. Which number may you subtract from all scores of a row without changing P?",
        ),
        "one maximum for the whole batch": (
            HEIGHT,
            "S.max()",
            "A row 2000 below the largest score of the batch has only zeros left after exp. Whose maximum does each row need?",
        ),
        "the largest absolute value is subtracted": (
            HEIGHT,
            "np.abs(S).max(axis=1, keepdims=True)",
            "With scores of −2000 and −1999 you subtract 2000, and every exponent is near −4000. Which exponent must be 0?",
        ),
        "the first score is subtracted": (
            HEIGHT,
            "S[:, :1]",
            "Any number leaves P as it is, but only one is safe: what if the first score is the smallest, by 2000?",
        ),
        "no activation at all": (
            "np.maximum(0, h @ W.T + b)",
            "h @ W.T + b",
            "Without the cut at zero all layers together are one linear map. Look at the hidden outputs: any negative ones?",
        ),
        "the biases are forgotten": (
            "np.maximum(0, h @ W.T + b)",
            "np.maximum(0, h @ W.T)",
            "A layer is W h + b. Where is b?",
        ),
        "the scores are not among the outputs": (
            "[*outputs, S]",
            "outputs",
            "The last entry of the list should be S.",
        ),
        "probabilities in place of scores": (
            "return [*outputs, S],",
            "S = E / E.sum(axis=1, keepdims=True)\n    return [*outputs, S],",
            "The last entry of the list is S itself, before softmax.",
        ),
    }
)

mlp_softmax_forward.equivalent(  # P is a quotient of two of them
    {
        "E = np.exp(S - S.max(axis=1, keepdims=True)) → E = -np.exp(S - S.max(axis=1, keepdims=True))": "P (n, C), "
        "the softmax of each row of S, for scores of any size."
    }
)

mlp_softmax_forward.worked(
    why="""The hidden layers are one loop; the head stands outside, because it alone has no activation. Softmax keeps its value
    when one number is subtracted from all scores of a row, so each row gives up its own maximum: the largest exponent is then 0, and
    nothing overflows. Rows must not share that number, or a low row would be left with zeros only."""
)


@mlp_softmax_forward.right("row by row")
def _(X, layers):
    outputs, P = [[] for _ in layers], []
    for h in X:
        for number, (W, b) in enumerate(layers):
            h = W @ h + b
            if number + 1 < len(layers):
                h = h * (h > 0)
            outputs[number].append(h)
        e = np.exp(h - max(h))
        P.append(e / sum(e))
    return [np.array(o) for o in outputs], np.array(P)


@mlp_softmax_forward.right("in torch", library="torch.nn.functional")
def _(X, layers):
    h, outputs = torch.from_numpy(X), []
    for W, b in layers:
        h = torch.nn.functional.linear(
            h if not outputs else h.relu(), *map(torch.from_numpy, (W, b))
        )
        outputs.append(h)
    return [o.relu().numpy() for o in outputs[:-1]] + [h.numpy()], h.softmax(1).numpy()


# ---------------------------------------------------------------- loss and signal

dxent = Exercise(
    "dxent",
    reference=reference.cross_entropy_and_signal,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("Q", "S"),
    hints=[
        "Write log p_c with scores only. Which term do all classes of a row share?",
        "log p = (s - top) - log of the row sum of exp(s - top), with top the row's maximum. The loss is the mean over "
        "rows of -Σ q log p.",
        "Having log p, np.exp gives p back. The gradient of a row's loss is p - q; the mean over n rows divides it by n.",
    ],
)


@dxent.cases
def _(rng):
    labels = np.array([0, 2, 1, 2])
    yield "one-hot targets", dict(S=rng.normal(0, 2, (4, 3)), Q=np.eye(3)[labels])
    soft = dict(S=rng.normal(0, 2, (3, 4)), Q=rng.dirichlet(np.ones(4), 3))
    yield "targets that are distributions", soft
    S = np.array([[1000.0, 0, -1000], [-1000, 1000, 0]]) + rng.normal(size=(2, 3))
    yield "scores of a thousand, and wrong", dict(S=S, Q=np.eye(3)[[2, 0]])
    yield "a single row", dict(S=rng.normal(0, 2, (1, 5)), Q=np.eye(5)[[3]])
    S = np.array([[7.0], [-1000]]) * np.ones(4)
    yield "all scores equal", dict(S=S, Q=np.eye(4)[[0, 3]])
    S = np.array([[2000.0, 1999, 1998], [0, 1, -1]]) + 0.1 * rng.normal(size=(2, 3))
    far = dict(S=S, Q=rng.dirichlet(np.ones(3), 2))
    yield "one row's scores dwarf the other's", far


LOG_P = "shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
BY_P = "np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)"
dxent.mistakes(
    {
        "the log of a probability that is zero": (
            LOG_P,
            f"{BY_P})",
            "Where p underflows to 0, log p is not finite. Get log p from the scores, not from p.",
        ),
        "the log is rescued by a tiny constant": (
            LOG_P,
            f"{BY_P} + 1e-12)",
            "log(p + 1e-12) is never below -27.6. What should the loss be when the true class lies 2000 below the top?",
        ),
        "overflow": (
            "S - S.max(axis=1, keepdims=True)",
            "S",
            "exp(1000) is infinite. Which number may you subtract from all scores of a row?",
        ),
        "one maximum for the whole batch": (
            "S.max(axis=1, keepdims=True)",
            "S.max()",
            "A row 2000 below the largest score of the batch has only zeros left after exp. Whose maximum does each row need?",
        ),
        "the largest absolute value is subtracted": (
            "S.max(axis=1, keepdims=True)",
            "np.abs(S).max(axis=1, keepdims=True)",
            "With scores that are all −1000 you subtract 1000, and every exponent is −2000. Which exponent must be 0?",
        ),
        "the gradient uphill": (
            "(np.exp(log_p) - Q)",
            "(Q - np.exp(log_p))",
            "The signal q - p belongs to the log-likelihood. You differentiate its negative.",
        ),
        "the log-likelihood": (
            "-np.mean(",
            "np.mean(",
            "A loss is large where the network is wrong. What is its sign?",
        ),
        "the gradient of a sum": (
            " / len(S)",
            "",
            "The loss is a mean over rows. What does that do to each row's share of the gradient?",
        ),
        "the mean over classes too": (
            "np.mean(np.sum(Q * log_p, axis=1))",
            "np.mean(Q * log_p)",
            "Within a row the terms are summed, over rows they are averaged. By what do you divide?",
        ),
        "only the largest target counts": (
            "Q * log_p",
            "np.eye(Q.shape[1])[Q.argmax(axis=1)] * log_p",
            "Try a target of [0.5, 0.3, 0.2]. Do all three classes enter your loss?",
        ),
        "bits": (
            "np.sum(Q * log_p,",
            "np.sum(Q * log_p / np.log(2),",
            "Which logarithm does the docstring ask for?",
        ),
    }
)

dxent.worked(
    why="""$\\log p$ is a difference of scores: after the shift by the row's maximum, the sum of exponentials lies between 1 and
    $C$, and its logarithm is harmless. A class far behind keeps its exact $\\log p$, though $p$ itself has become 0. The gradient is
    $p - q$ for each row, and the mean over the rows divides it by their number."""
)


@dxent.right("log-sum-exp minus the target's score")
def _(S, Q):
    lse = np.logaddexp.reduce(S, axis=1)
    return (lse - (Q * S).sum(1)).mean(), (np.exp(S - lse[:, None]) - Q) / len(S)


@dxent.right(
    "by automatic differentiation", library="torch.nn.functional.cross_entropy"
)
def _(S, Q):
    leaf = torch.tensor(S, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(leaf, torch.from_numpy(Q))
    loss.backward()
    return loss.item(), leaf.grad.numpy()


# ---------------------------------------------------------------- training

train = Exercise(
    "train",
    reference=reference.train,
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "Two loops: one over the steps, and in it one over the layers, from the head down. What must be known before the "
        "inner one begins?",
        "mlp_softmax_forward gives the outputs, dxent on the last of them the loss and the first delta. What came into layer l is "
        "the output of the layer before it; for the first layer it is X.",
        "With inputs = [X, *outputs]: in layer l take (W, b) out of the list first, put (W - rate * …, b - rate * …) back, and "
        "make the next delta with the old W. Stop when there are steps + 1 losses.",
    ],
)


def _losses(X, Q, layers, rate, steps):
    X, Q = torch.from_numpy(X), torch.from_numpy(Q)
    layers = [(torch.from_numpy(W), torch.from_numpy(b)) for W, b in layers]
    return reference.train(X, Q, layers, rate, steps)[1].tolist()


@train.cases
def _(rng):
    def run(n, *sizes, rate=0.3, steps=3, rises=False, off=0.0):
        """Sums of both signs in every layer, rows that are not right yet, a loss that falls, or rises at once.

        off: added to the bias of the second unit of the first layer.
        """
        while True:
            X, layers = rng.normal(size=(n, sizes[0])), network(rng, *sizes)
            layers[0][1][1] += off
            Q = np.eye(sizes[-1])[rng.integers(0, sizes[-1], n)]
            case = dict(X=X, Q=Q, layers=layers, rate=rate, steps=steps)
            told = _losses(**case)
            if rises:  # to probabilities that log(p + 1e-12) cannot tell from 0
                goes = told[1] > 1.2 * told[0] and 30 < max(told) < 300
            else:
                goes = max(told) == told[0]
            if both_signs(X, layers) and 0.5 < told[0] < 4 and goes:
                return case

    yield "one hidden layer, three steps", run(6, 2, 4, 3)
    yield "two hidden layers of different widths", run(5, 3, 5, 4, 2)
    yield "three hidden layers, one step", run(5, 2, 4, 3, 5, 3, steps=1)
    yield "no hidden layer: softmax regression", run(7, 3, 4, steps=4)
    yield "no step: only the loss is told", run(4, 2, 3, 3, steps=0)
    yield "a single row", run(1, 2, 5, 3, steps=2, rate=0.1)
    soft = run(5, 2, 4, 3)
    soft["Q"] = rng.dirichlet(np.ones(3), 5)
    yield "targets that are distributions", soft
    wild = run(6, 2, 4, 3, rate=12.0, rises=True)
    yield "steps too large are taken all the same", wild
    yield "a unit that is off for every row stays", run(5, 2, 3, 3, steps=2, off=-50.0)


train.mistakes(
    {
        "uphill": (
            "(W - rate * delta.T @ inputs[l], b - rate",
            "(W + rate * delta.T @ inputs[l], b + rate",
            "Do your losses fall? The gradient points uphill.",
        ),
        "the biases stay": (
            "b - rate * delta.sum(axis=0)",
            "b",
            "A layer has two parts. Do both move?",
        ),
        "the mean for the biases": (
            "delta.sum(axis=0)",
            "delta.mean(axis=0)",
            "dxent has divided by the number of rows already. What is left to do over the rows?",
        ),
        "divided by the rows twice": (
            "loss, delta = dxent(outputs[-1], Q)",
            "loss, delta = dxent(outputs[-1], Q)\n        delta = delta / len(X)",
            "dxent gives the gradient of the mean. Is another division needed?",
        ),
        "the ReLU is forgotten on the way back": (
            " * (inputs[l] > 0)",
            "",
            "Where a unit was off, nothing comes back through it.",
        ),
        "the new weights send the signal down": (
            "delta @ W)",
            "delta @ layers[l][0])",
            "All gradients belong to the network before the step. Which W does your delta go through?",
        ),
        "only the head learns": (
            "reversed(range(len(layers)))",
            "[len(layers) - 1]",
            "Which layers have moved after a step?",
        ),
        "the first layer never learns": (
            "reversed(range(len(layers)))",
            "reversed(range(1, len(layers)))",
            "Which layers have moved after a step? Look at the first one.",
        ),
        "the last loss is missing": (
            "return layers, losses",
            "return layers, losses[: max(1, steps)]",
            "After the last step the loss has changed once more. How many losses are asked for?",
        ),
        "one step too few": (
            "> steps",
            ">= steps",
            "k steps make k + 1 losses. How many steps have you taken?",
        ),
        "one step too many": (
            "> steps",
            "> steps + 1",
            "k steps make k + 1 losses. How many steps have you taken?",
        ),
        "stops when the loss rises": (
            "> steps:",
            "> steps or losses[-1] > losses[0]:",
            "How many steps are asked for? The docstring knows no early end.",
        ),
    }
)

train.worked(
    why="""A step has two halves. Forward, everything that came into a layer is kept; back, one array `delta` walks from the head to the
    first layer, and at each layer it meets what came in. The pair is taken out of the list before the new one is put in, so that
    `delta` goes down through the weights that made the loss. Each step makes new arrays: whoever handed the layers in still has them."""
)


@train.right("by autograd and an optimiser", library="torch.optim.SGD")
def _(X, Q, layers, rate, steps):
    modules = [torch.nn.Linear(W.shape[1], W.shape[0]).double() for W, _ in layers]
    for module, (W, b) in zip(modules, layers, strict=True):
        module.weight.data, module.bias.data = torch.tensor(W), torch.tensor(b)
    chain = [m for module in modules for m in (module, torch.nn.ReLU())][:-1]
    net, X, Q = torch.nn.Sequential(*chain), torch.tensor(X), torch.tensor(Q)
    optimiser, losses = torch.optim.SGD(net.parameters(), lr=rate), []
    for step in range(steps + 1):
        loss = torch.nn.functional.cross_entropy(net(X), Q)
        losses.append(loss.item())
        if step < steps:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return [(m.weight.detach(), m.bias.detach()) for m in modules], losses


@train.right("all gradients first, then the step")
def _(X, Q, layers, rate, steps):
    losses = []
    for step in range(steps + 1):
        below = [X]
        for W, b in layers:
            below.append(below[-1] @ W.T + b)
            if len(below) <= len(layers):
                below[-1] = below[-1] * (below[-1] > 0)
        S = below.pop()
        lse = np.logaddexp.reduce(S, axis=1)
        losses.append(np.mean(lse - (Q * S).sum(1)))
        if step == steps:
            return layers, losses
        delta, grads = (np.exp(S - lse[:, None]) - Q) / len(X), []
        for (W, _), h in zip(layers[::-1], below[::-1], strict=True):
            grads.append((np.einsum("nk,nd->kd", delta, h), delta.sum(0)))
            delta = np.where(h > 0, delta @ W, 0)
        layers = [(W - rate * dW, b - rate * db)
                  for (W, b), (dW, db) in zip(layers, grads[::-1], strict=True)]  # fmt: skip


# ---------------------------------------------------------------- what a line can read

readable_bits = Exercise(
    "readable_bits",
    reference=lambda H, y, rate, steps: reference.readable_bits(
        H, y, rate, steps, int(y.max()) + 1
    ),
    data_dependent="the number of classes is read from the labels",
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "Three parts: prepare the table, train a head on it, and turn two uncertainties into bits.",
        "np.bincount counts the labels, and its length is C. A head is a list with one pair: weights (C, d) and biases (C,), all 0. "
        "Targets are rows of the identity.",
        "train(Z, np.eye(C)[y], head, rate, steps) gives the losses; the last one, divided by np.log(2), is in bits. Subtract it from "
        "the entropy -Σ π log₂ π of the shares π.",
    ],
)


@readable_bits.cases
def _(rng):
    def table(counts, d, rate=0.5, steps=20, **other):
        y = np.repeat(np.arange(len(counts)), counts)
        means = 2 * np.eye(len(counts), d) + rng.normal(size=(len(counts), d))
        order = rng.permutation(len(y))
        H = (means[y] + rng.normal(size=(len(y), d)))[order]
        return dict(H=H, y=y[order], rate=rate, steps=steps) | other

    yield "three equal classes", table((5, 5, 5), 2)
    yield "classes of different size", table((9, 3, 2), 3)
    two = table((4, 6), 3)
    yield "far from the origin, and small", two | dict(H=0.01 * two["H"] + 5)
    wide = table((4, 5, 3), 3)
    wide["H"] = wide["H"] * np.array([30.0, 3.0, 0.3])
    yield "columns of different size", wide
    yield "more columns than rows", table((2, 2, 2), 8)
    yield "no step: H(y) minus log2 C", table((7, 3, 2), 2, steps=0)
    while True:
        wild = table((6, 5, 7), 2, rate=40.0, steps=3)
        tensors = torch.from_numpy(wild["H"]), torch.from_numpy(wild["y"])
        # worse than at the start
        if reference.readable_bits(*tensors, 40.0, 3, 3) < -0.1:
            break
    yield "rates too large: below zero", wild
    yield "a single column, four classes", table((3, 4, 2, 5), 1, steps=30)


readable_bits.mistakes(
    {
        "nats": (
            "losses[-1] / np.log(2)",
            "losses[-1]",
            "train tells its loss in natural logarithms. How many bits is that?",
        ),
        "the entropy in nats": (
            "np.log2(share)",
            "np.log(share)",
            "H(y) is asked for in bits. Which logarithm is that?",
        ),
        "the first loss": (
            "losses[-1]",
            "losses[0]",
            "What the reader knows shows after its training, not before.",
        ),
        "the lowest loss": (
            "losses[-1] / np.log(2)",
            "min(losses) / np.log(2)",
            "The docstring takes the last loss, also where a rate too large has made it the worst.",
        ),
        "cut off at zero": (
            "-np.sum(share * np.log2(share)) - losses[-1] / np.log(2)",
            "max(0.0, -np.sum(share * np.log2(share)) - losses[-1] / np.log(2))",
            "A reader can be worse than none: sure and wrong. The docstring allows a negative result.",
        ),
        "all classes are taken for equal": (
            "-np.sum(share * np.log2(share))",
            "np.log2(C)",
            "With 9, 3 and 2 rows, how uncertain is a label before you look?",
        ),
        "the table is not centred": (
            "H - H.mean(axis=0)",
            "H",
            "Add 5 to all features: the rows lie as before. Does your result change?",
        ),
        "centred by one number": (
            "H.mean(axis=0)",
            "H.mean()",
            "Each column has its own mean.",
        ),
        "the table is not scaled": (
            "Z = Z / np.sqrt(np.mean(Z**2))\n    ",
            "",
            "Multiply all features by 0.01: the rows lie as before. Does your result change?",
        ),
        "each column is scaled for itself": (
            "np.mean(Z**2)",
            "np.mean(Z**2, axis=0)",
            "The text divides the whole table by one number.",
        ),
        "each row is scaled": (
            "np.mean(Z**2)",
            "np.mean(Z**2, axis=1, keepdims=True)",
            "The text divides the whole table by one number.",
        ),
        "the loss alone": (
            "-np.sum(share * np.log2(share)) - losses[-1]",
            "losses[-1]",
            "The loss is what is still dark. What the reader reads is the difference to H(y).",
        ),
    }
)

readable_bits.equivalent(
    {
        "Z = Z / np.sqrt(np.mean(Z ** 2)) → Z = -(Z / np.sqrt(np.mean(Z ** 2)))": "A minus before the table, or "
        "other names for the classes, change nothing.",
        "_, losses = train(Z, np.eye(C)[y], head, rate, steps) → "
        "_, losses = train(Z, np.eye(C)[y - 1], head, rate, steps)": "A minus before the table, or "
        "other names for the classes, change nothing.",
    }
)

readable_bits.worked(
    why="""Before it looks, a reader is $H(y)$ bits in the dark; with a cross-entropy of $\\ell$ it still is $\\ell/\\ln 2$ bits. No reader can
    get more than $I(h; y)$, so this is a lower bound of it: what a *straight* reader can use. Centring and one common scale are
    changes that a straight reader can undo, so they give nothing away; they only let one rate fit all layers."""
)


@readable_bits.right("softmax regression in one matrix")
def _(H, y, rate, steps):
    Z = H - H.mean(0)
    A = np.column_stack([Z / (Z**2).mean() ** 0.5, np.ones(len(Z))])
    hot = (y[:, None] == np.unique(y)).astype(float)
    W = np.zeros((A.shape[1], hot.shape[1]))
    for _ in range(steps):
        E = np.exp(A @ W - (A @ W).max(1, keepdims=True))
        W = W - rate * A.T @ (E / E.sum(1, keepdims=True) - hot) / len(y)
    lse = np.logaddexp.reduce(A @ W, axis=1)
    share = hot.mean(0)
    nats = np.mean(lse - (hot * (A @ W)).sum(1)) + share @ np.log(share)
    return -nats / np.log(2)


# ---------------------------------------------------------------- regions of the simplex

argmax_region = Exercise(
    "argmax_region",
    reference=reference.argmax_region,
    compare=exact(),
    batched=("P",),
    hints=[
        "argmax alone names a winner even where two share the top. How do you see a shared top?",
        "Compare each row with its own maximum: how many entries reach it?",
        "P == P.max(axis=1, keepdims=True) marks the entries that reach the top. np.where chooses between P.argmax(axis=1) and -1, "
        "by the number of marks in a row.",
    ],
)


@argmax_region.cases
def _(rng):
    def mixed(rows):
        """Each row twice, rows and columns in any order: no list of regions fits every draw."""
        return rng.permutation(np.repeat(rows, 2, 0))[:, rng.permutation(3)]

    inside = [[0.5, 0.3, 0.2], [0.1, 0.15, 0.75], [0.3, 0.6, 0.1]]
    yield "inside a region", dict(P=mixed(inside))
    low = [[0.25, 0.4, 0.35], [0.3, 0.2, 0.5], [0.42, 0.3, 0.28]]
    yield "below one half and still the winner", dict(P=mixed(low))
    shared = [[0.4, 0.4, 0.2], [0.1, 0.45, 0.45], [0.45, 0.1, 0.45]]
    yield "two share the top", dict(P=np.array(shared))
    yield "the centroid", dict(P=np.full((1, 3), 1 / 3))
    bottom = [[0.25, 0.5, 0.25], [0.2, 0.2, 0.6]]
    yield "two share the bottom", dict(P=mixed(bottom))
    hair = [
        [0.4 + 1e-6, 0.4 - 1e-6, 0.2],
        [0.3, 0.35 - 1e-6, 0.35 + 1e-6],
        [0.25, 0.45, 0.3],
    ]
    yield "ahead by a hair", dict(P=mixed(hair))
    pair = rng.permutation([[0.5, 0.5], [0.3, 0.7], [0.8, 0.2], [0.45, 0.55]])
    yield "two classes", dict(P=pair[:, rng.permutation(2)])
    P = rng.dirichlet(np.ones(4), 5)
    P[1:3] = rng.permutation([0.4, 0.3, 0.2, 0.1]), [0.35, 0.15, 0.15, 0.35]
    # two entries larger than their neighbours
    P[3:] = [0.3, 0.1, 0.4, 0.2], [0.4, 0.1, 0.3, 0.2]
    yield "four classes, a corner", dict(P=np.concatenate([P, [[0.0, 0, 0, 1]]]))


argmax_region.mistakes(
    {
        "the first one wins a tie": (
            "reach.sum(axis=1) == 1",
            "reach.sum(axis=1) > 0",
            "On a border the conditions p_k > p_j fail for all. What does np.argmax say there?",
        ),
        "a majority is asked for": (
            "reach.sum(axis=1) == 1",
            "P.max(axis=1) > 0.5",
            "Must the winner have more than one half? Look at [0.4, 0.35, 0.25].",
        ),
        "nearly equal counts as equal": (
            "P == P.max(axis=1, keepdims=True)",
            "np.isclose(P, P.max(axis=1, keepdims=True))",
            "Shared means equal as floating-point numbers: a lead of 0.000002 is a lead. np.isclose forgives more.",
        ),
        "counts from one": (
            "P.argmax(axis=1)",
            "P.argmax(axis=1) + 1",
            "Classes are numbered from 0 in this course.",
        ),
        "one maximum for all rows": (
            "P.max(axis=1, keepdims=True)",
            "P.max()",
            "Each row has its own winner. Whose maximum do you compare with?",
        ),
    }
)


@argmax_region.wrong(
    "any two equal entries are a tie",
    advice="Only a shared top lies on a border. What of two equal losers?",
)
def _(P):
    return np.array([-1 if len(set(p)) < len(p) else int(np.argmax(p)) for p in P])


@argmax_region.wrong(
    "compared with the neighbours only",
    advice="Class k wins where p_k is above *all* others, not only above those beside it. Try four classes.",
)
def _(P):
    C = P.shape[1]
    above = [P[:, k] > np.maximum(P[:, k - 1], P[:, (k + 1) % C]) for k in range(C)]
    return np.select(above, range(C), -1)


argmax_region.worked(
    why="""`reach` marks in each row the entries that equal the row's maximum. Exactly one mark means that the planes
    $p_k = p_j$ all lie on the other side: a region. Two or more mean a border, where the strict inequalities hold for nobody, though
    `argmax` would still name the first."""
)


@argmax_region.right("plane by plane")
def _(P):
    def winner(p):
        wins = [k for k, v in enumerate(p) if all(v > w for w in np.delete(p, k))]
        return wins[0] if wins else -1

    return [winner(p) for p in P]


@argmax_region.right("the two largest")
def _(P):
    two = np.sort(P, axis=1)[:, -2:]
    return np.where(two[:, 0] == two[:, 1], -1, P.argmax(1)).astype(float)


# ---------------------------------------------------------------- collapse

scatter_ratio = Exercise(
    "scatter_ratio",
    reference=reference.scatter_ratio,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("H", "y"),
    hints=[
        "Give every row its class mean. Which two differences does each row then own?",
        "Within: all (row - own mean)², summed over rows and features. Between: all (own mean - overall mean)², once for each row.",
        "Loop over np.unique(y): the rows H[y == c] and their mean; the sum of their squared differences goes to the within, "
        "len(rows) times the squared distance of their mean from H.mean(axis=0) to the between.",
    ],
)


def _cloud(rng, counts, d):
    y = np.repeat(np.arange(len(counts)), counts)
    means = 3 * np.eye(len(counts), d) + rng.normal(size=(len(counts), d))
    order = rng.permutation(len(y))
    return (means[y] + rng.normal(size=(len(y), d)))[order], y[order]


@scatter_ratio.cases
def _(rng):
    H, y = _cloud(rng, (4, 4, 4), 3)
    yield "balanced classes", dict(H=H, y=y)
    H, y = _cloud(rng, (9, 3, 2), 2)
    yield "classes of different size", dict(H=H, y=y)
    yield "labels with gaps, one below zero", dict(H=H, y=np.array([7, -2, 4])[y])
    H, y = _cloud(rng, (3, 4), 4)
    yield "shifted and scaled", dict(H=5 * H + 20, y=y)
    means = rng.normal(size=(3, 2))
    yield "collapsed", dict(H=means[[0, 1, 1, 2, 0]], y=np.array([0, 1, 1, 2, 0]))


scatter_ratio.mistakes(
    {
        "every class counts the same": (
            "len(rows) * ",
            "",
            "A class of 9 rows enters the between-scatter nine times: the sum runs over rows.",
        ),
        "labels are taken for 0, 1, 2, …": (
            "np.unique(y)",
            "[k for k in range(y.max() + 1) if np.any(y == k)]",
            "Labels may be any integers. Which function lists those that occur?",
        ),
        "between over within": (
            "within / between",
            "np.float64(between) / np.float64(within)",
            "What should the ratio do when every class shrinks to a point?",
        ),
        "total in place of between": (
            "within / between",
            "within / (within + between)",
            "Total scatter = within + between. Can your ratio exceed 1? The text's can.",
        ),
        "distances from the origin": (
            "(rows.mean(axis=0) - m)",
            "rows.mean(axis=0)",
            "Add 20 to every feature. The classes lie just as they lay: does your ratio change?",
        ),
        "one mean for all features": (
            "m = 0.0, 0.0, H.mean(axis=0)",
            "m = 0.0, 0.0, H.mean()",
            "m is a point: each feature has its own mean.",
        ),
    }
)


@scatter_ratio.wrong(
    "distances are not squared", advice="Scatter is a sum of squares, like a variance."
)
def _(H, y):
    own = np.array([H[y == c].mean(0) for c in y])
    between = np.linalg.norm(own - H.mean(0), axis=1).sum()
    return np.linalg.norm(H - own, axis=1).sum() / between


scatter_ratio.worked(
    why="""Each row differs from its class mean (within), and its class mean from the mean of all rows (between). Both sums run over
    rows, so a class enters the second as often as it has rows. The two add up to the total scatter, and a shift, a rotation or one common
    factor leaves their ratio alone."""
)


@scatter_ratio.right("what the total leaves")
def _(H, y):
    own = np.array([H[y == c].mean(0) for c in y])
    between = ((own - H.mean(0)) ** 2).sum()
    return ((H - H.mean(0)) ** 2).sum() / between - 1


@scatter_ratio.right(
    "by a known index", library="sklearn.metrics.calinski_harabasz_score"
)
def _(H, y):
    from sklearn.metrics import calinski_harabasz_score

    C = len(np.unique(y))
    if all(np.ptp(H[y == c], axis=0).max() == 0 for c in y):
        return 0.0  # the library's index is 1 here
    return (len(y) - C) / (C - 1) / calinski_harabasz_score(H, y)


# ---------------------------------------------------------------- label geometry

class_cosines = Exercise(
    "class_cosines",
    reference=reference.class_cosines,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("H", "y"),
    hints=[
        "C class means first. From which point do you look at them?",
        "Subtract from the means their own mean (every class once, however many rows it has), then divide each by its length.",
        "With the class means as rows of M: subtract M.mean(axis=0), divide by np.linalg.norm(M, axis=1, keepdims=True); the cosines of "
        "all pairs are one matrix product.",
    ],
)


@class_cosines.cases
def _(rng):
    H, y = _cloud(rng, (4, 4, 4), 3)
    yield "balanced classes", dict(H=H + 4, y=y, C=3)
    H, y = _cloud(rng, (8, 3, 2, 3), 4)
    yield "classes of different size", dict(H=H + 4, y=y, C=4)
    y = np.array([0, 3, 1, 2, 1, 0])
    yield "one-hot labels: all -1/(C - 1)", dict(H=np.eye(4)[y], y=y, C=4)
    H, y = _cloud(rng, (3, 5), 3)
    yield "two classes: opposite", dict(H=H + 4, y=y, C=2)


class_cosines.mistakes(
    {
        "seen from the origin": (
            "M = M - M.mean(axis=0)\n    ",
            "",
            "Add a constant to all features. The classes lie as before: do your cosines change?",
        ),
        "seen from the mean of the rows": (
            "M - M.mean(axis=0)",
            "M - H.mean(axis=0)",
            "A class with many rows drags the mean of the rows to itself. The text takes the mean of the C class means.",
        ),
        "inner products, not cosines": (
            "M / np.linalg.norm(M, axis=1, keepdims=True)",
            "1 * M",
            "What must the cosine of a vector with itself be?",
        ),
        "lengths of columns": (
            "np.linalg.norm(M, axis=1, keepdims=True)",
            "np.linalg.norm(M, axis=0, keepdims=True)",
            "Which vectors must get length 1: the rows or the columns of M?",
        ),
        "correlation of the means": (
            "M - M.mean(axis=0)",
            "M - M.mean(axis=1, keepdims=True)",
            "Which average is taken off: over features or over classes?",
        ),
    }
)

class_cosines.equivalent(
    {
        "M = np.array([H[y == c].mean(axis=0) for c in range(C)]) → "
        "M = -np.array([H[y == c].mean(axis=0) for c in range(C)])": "A minus before all of them changes no cosine.",
        "M = M / np.linalg.norm(M, axis=1, keepdims=True) → "
        "M = -(M / np.linalg.norm(M, axis=1, keepdims=True))": "A minus before all of them changes no cosine.",
    }
)

class_cosines.worked(
    why="""The cosine needs a point to look from. The mean of the class means moves along when all rows are shifted, and no large
    class drags it to itself. With rows of length 1, one product $MM^\\top$ holds the cosines of all pairs."""
)


@class_cosines.right(
    "by pairs of rows", library="sklearn.metrics.pairwise.cosine_similarity"
)
def _(H, y, C):
    from sklearn.metrics.pairwise import cosine_similarity

    M = np.array([H[y == c].mean(0) for c in range(C)])
    return cosine_similarity(M - M.mean(0))


@class_cosines.right("pair by pair")
def _(H, y, C):
    M = np.array([H[y == c].mean(0) for c in range(C)])
    M = M - M.mean(0)
    return [[a @ b / np.sqrt((a @ a) * (b @ b)) for b in M] for a in M]


# ---------------------------------------------------------------- information

layer_information = Exercise(
    "layer_information",
    reference=reference.layer_information,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("joint",),
    hints=[
        "Write a helper first: the mutual information of two variables from their joint table. What of entries that are 0?",
        "P(y, h) after a layer M is P(y, x) @ M. For I(h; x) do the same with the joint table of x with itself: P(x) on the diagonal.",
        "In the helper, np.outer of the row sums and the column sums is p(a) p(b); take only entries where the table is above 0. Then two "
        "tables go through the layers together, and each layer adds a row of two numbers.",
    ],
)


@layer_information.cases
def _(rng):
    mixed = rng.dirichlet(np.ones(8)).reshape(2, 4)
    joint = 0.6 * mixed + np.array([[2, 2, 0, 0], [0, 0, 2, 2]]) / 20
    merge = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    half = np.array([[1.0, 0], [1, 0], [0, 1]])
    yield "layers that merge values", dict(joint=joint, layers=[merge, half])
    rename = np.eye(4)[rng.permutation(4)]
    yield "a layer that only renames", dict(joint=joint, layers=[rename])
    blur = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])
    noisy = [0.7 * np.eye(4) + 0.3 * rng.dirichlet(np.ones(4), 4), blur]
    yield "noisy layers", dict(joint=joint, layers=noisy)
    p = rng.dirichlet([6.0, 4, 4])
    yield "zeros in the table", dict(joint=np.diag(p), layers=[half])
    never = joint * np.array([1.0, 0, 1, 1])
    never = dict(joint=never / never.sum(), layers=[merge])
    yield "a value of x that never occurs", never
    yield "a layer that forgets everything", dict(joint=joint, layers=[np.ones((4, 1))])
    yield "no layer", dict(joint=joint, layers=[])


layer_information.mistakes(
    {
        "the entropy of the layer in place of I(h; x)": (
            "told.append([bits(with_x),",
            "told.append([bits(np.diag(with_x.sum(axis=0))),",
            "I(h; x) = H(h) only if x decides h. A noisy layer adds entropy that says nothing about x.",
        ),
        "nats": (
            "np.log2(",
            "np.log(",
            "The text counts in bits. Which logarithm is that?",
        ),
        "zero times its logarithm": (
            "T > 0",
            "T > -1",
            "What does 0 * np.log2(0) give? Leave out the entries that are 0.",
        ),
        "one margin only": (
            "np.outer(T.sum(axis=1), T.sum(axis=0))",
            "0 * T + T.sum(axis=0)",
            "Under the joint probability stands a product of two margins.",
        ),
        "all x count the same": (
            "np.diag(joint.sum(axis=0))",
            "np.eye(joint.shape[1]) / joint.shape[1]",
            "On the diagonal of P(x, x) stands p(x). Are all of your values of x equally frequent?",
        ),
        "each layer starts again at x": (
            "with_x, with_y = with_x @ M, with_y @ M\n        told.append([bits(with_x), bits(with_y)])",
            "told.append([bits(with_x @ M), bits(with_y @ M)])",
            "The second layer reads the first one's values. Which table do you multiply with it?",
        ),
        "the input is left out": (
            "np.array(told)",
            "np.array(told[1:])",
            "There are L + 1 rows: the first is for h = x, before any layer.",
        ),
        "the columns are exchanged": (
            "np.array(told)",
            "np.array(told)[:, ::-1]",
            "Which comes first: what the layer tells about x, or about y?",
        ),
    }
)

layer_information.worked(
    why="""One helper serves both columns, since mutual information needs nothing but a joint table. A layer that looks at $x$ only
    turns each row of a joint table into a mixture, and that is a matrix product: the same for the table of $x$ with itself and for that
    of $y$ with $x$. So two tables go through the chain, and after each layer both are asked."""
)


@layer_information.right("entropy minus conditional entropy")
def _(joint, layers):
    def entropy(p):
        p = p[p > 0]
        return -(p * np.log2(p)).sum()

    p_x, p_y, kernel, told = joint.sum(0), joint.sum(1), np.eye(joint.shape[1]), []
    for M in [np.eye(joint.shape[1]), *layers]:
        kernel = kernel @ M
        given_x = sum(p * entropy(row) for p, row in zip(p_x, kernel))
        given_y = sum(p * entropy(row @ kernel / p) for p, row in zip(p_y, joint))
        h = entropy(p_x @ kernel)
        told.append((h - given_x, h - given_y))
    return told


@layer_information.right(
    "by a known score", library="sklearn.metrics.mutual_info_score"
)
def _(joint, layers):
    from sklearn.metrics import mutual_info_score

    tables, told = [np.diag(joint.sum(axis=0)), joint], []
    for M in [np.eye(joint.shape[1]), *layers]:
        tables = [T @ M for T in tables]
        nats = [mutual_info_score(None, None, contingency=1e9 * T) for T in tables]
        told.append(np.array(nats) / np.log(2))
    return told

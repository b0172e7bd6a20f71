"""Exercises of 07_neural_networks/06_softmax_networks."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def _softmax(S):
    E = np.exp(S - S.max(1, keepdims=True))
    return E / E.sum(1, keepdims=True)


# ---------------------------------------------------------------- the pipeline

mlp_softmax_forward = Exercise(
    "mlp_softmax_forward",
    reference=reference.forward,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X",),
    hints=[
        "One loop over the layers. What is different for the last one?",
        "Keep h, starting at X. Each layer makes h @ W.T + b; all but the last cut it at zero. Collect every h in a list; the last one is S.",
        "Before exp, subtract from each row of S its own maximum (axis=1, keepdims=True); then divide by the row sums.",
    ],
)


def _layers(rng, *sizes):
    return [
        (rng.normal(size=(o, i)), rng.normal(size=o))
        for i, o in zip(sizes, sizes[1:], strict=False)
    ]


@mlp_softmax_forward.cases
def _(rng):
    yield (
        "one hidden layer",
        dict(X=rng.normal(size=(4, 2)), layers=_layers(rng, 2, 5, 3)),
    )
    yield (
        "three hidden layers",
        dict(X=rng.normal(size=(3, 2)), layers=_layers(rng, 2, 4, 3, 4, 3)),
    )
    yield (
        "no hidden layer: softmax regression",
        dict(X=rng.normal(size=(5, 3)), layers=_layers(rng, 3, 4)),
    )
    layers = _layers(rng, 2, 3, 3)
    layers[-1] = (layers[-1][0], layers[-1][1] + 1000)
    yield "1000 added to every score", dict(X=rng.normal(size=(3, 2)), layers=layers)
    yield "a single row", dict(X=rng.normal(size=(1, 2)), layers=_layers(rng, 2, 3, 4))
    W = np.array([[1.0, 0], [0, 1], [-1, -1]]) + 0.1 * rng.normal(size=(3, 2))
    X = np.array([[2000.0, 0], [0.5, 1], [-1, 0.3]])
    yield (
        "one row's scores dwarf the others'",
        dict(X=X, layers=[(W, rng.normal(size=3))]),
    )


def _walk(X, layers, cut_last=False, axis=1, shift=True):
    outputs, h = [], X
    for number, (W, b) in enumerate(layers):
        h = h @ W.T + b
        if cut_last or number < len(layers) - 1:
            h = np.maximum(h, 0)
        outputs.append(h)
    with np.errstate(over="ignore", invalid="ignore"):
        E = np.exp(h - h.max(axis, keepdims=True) if shift else h)
        return outputs, E / E.sum(axis, keepdims=True)


@mlp_softmax_forward.wrong(
    "the scores are cut at zero too",
    advice="A score may be negative: it is a log-probability up to a constant. Which layers have an activation?",
)
def _(X, layers):
    return _walk(X, layers, cut_last=True)


@mlp_softmax_forward.wrong(
    "normalised over the batch",
    advice="Which entries of P must sum to 1: those of one row, or those of one class?",
)
def _(X, layers):
    return _walk(X, layers, axis=0)


@mlp_softmax_forward.wrong(
    "overflow",
    advice="exp(1000) is infinite. Which number may you subtract from all scores of a row without changing P?",
)
def _(X, layers):
    return _walk(X, layers, shift=False)


@mlp_softmax_forward.wrong(
    "one maximum for the whole batch",
    advice="A row 2000 below the largest score of the batch has only zeros left after exp. Whose maximum does each row need?",
)
def _(X, layers):
    outputs, _ = _walk(X, layers)
    E = np.exp(outputs[-1] - outputs[-1].max())
    with np.errstate(invalid="ignore"):
        return outputs, E / E.sum(1, keepdims=True)


@mlp_softmax_forward.wrong(
    "no activation at all",
    advice="Without the cut at zero all layers together are one linear map. Look at the hidden outputs: any negative ones?",
)
def _(X, layers):
    outputs, h = [], X
    for W, b in layers:
        h = h @ W.T + b
        outputs.append(h)
    return outputs, _softmax(h)


@mlp_softmax_forward.right("row by row")
def _(X, layers):
    outputs = [[] for _ in layers]
    P = []
    for x in X:
        h = x
        for number, (W, b) in enumerate(layers):
            h = W @ h + b
            if number + 1 < len(layers):
                h = h * (h > 0)
            outputs[number].append(h)
        e = np.exp(h - max(h))
        P.append(e / sum(e))
    return [np.array(o) for o in outputs], np.array(P)


@mlp_softmax_forward.right("in torch")
def _(X, layers):
    h, outputs = torch.from_numpy(X), []
    for W, b in layers:
        h = torch.nn.functional.linear(
            h if not outputs else h.relu(), *map(torch.from_numpy, (W, b))
        )
        outputs.append(h)
    return [o.relu().numpy() for o in outputs[:-1]] + [h.numpy()], h.softmax(1).numpy()


@mlp_softmax_forward.right("single precision")
def _(X, layers):
    outputs, P = _walk(X, layers)
    return [o.astype(np.float32) for o in outputs], P.astype(np.float32)


# ---------------------------------------------------------------- loss and signal

dxent = Exercise(
    "dxent",
    reference=reference.cross_entropy_and_signal,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("Q", "S"),
    hints=[
        "Write log p_c with scores only. Which term do all classes of a row share?",
        "log p = (s - top) - log of the row sum of exp(s - top), with top the row's maximum. The loss is the mean over rows of -Σ q log p.",
        "Having logP, P = np.exp(logP). The gradient of a row's loss is p - q; the mean over n rows divides it by n.",
    ],
)


@dxent.cases
def _(rng):
    labels = np.array([0, 2, 1, 2])
    yield "one-hot targets", dict(S=rng.normal(0, 2, (4, 3)), Q=np.eye(3)[labels])
    yield (
        "targets that are distributions",
        dict(S=rng.normal(0, 2, (3, 4)), Q=rng.dirichlet(np.ones(4), 3)),
    )
    S = np.array([[1000.0, 0, -1000], [-1000, 1000, 0]]) + rng.normal(size=(2, 3))
    yield "scores of a thousand, and wrong", dict(S=S, Q=np.eye(3)[[2, 0]])
    yield "a single row", dict(S=rng.normal(0, 2, (1, 5)), Q=np.eye(5)[[3]])
    yield "all scores equal", dict(S=np.full((2, 4), 7.0), Q=np.eye(4)[[0, 3]])
    S = np.array([[2000.0, 1999, 1998], [0, 1, -1]]) + 0.1 * rng.normal(size=(2, 3))
    yield (
        "one row's scores dwarf the other's",
        dict(S=S, Q=rng.dirichlet(np.ones(3), 2)),
    )


def _loss_signal(S, Q):
    top = S.max(1, keepdims=True)
    logP = S - top - np.log(np.exp(S - top).sum(1, keepdims=True))
    return logP, np.exp(logP)


@dxent.wrong(
    "the log of a probability that is zero",
    advice="Where p underflows to 0, log p is not finite. Get log p from the scores, not from p.",
)
def _(S, Q):
    P = _softmax(S)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.mean((Q * np.log(P)).sum(1)), (P - Q) / len(S)


@dxent.wrong(
    "the log is rescued by a tiny constant",
    advice="log(p + 1e-12) is never below -27.6. What should the loss be when the true class lies 2000 below the top?",
)
def _(S, Q):
    P = _softmax(S)
    return -np.mean((Q * np.log(P + 1e-12)).sum(1)), (P - Q) / len(S)


@dxent.wrong(
    "one maximum for the whole batch",
    advice="A row 2000 below the largest score of the batch has only zeros left after exp. Whose maximum does each row need?",
)
def _(S, Q):
    shifted = S - S.max()
    with np.errstate(divide="ignore", invalid="ignore"):
        logP = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -np.mean((Q * logP).sum(1)), (np.exp(logP) - Q) / len(S)


@dxent.wrong(
    "the gradient uphill",
    advice="The signal y - p belongs to the log-likelihood. You differentiate its negative.",
)
def _(S, Q):
    logP, P = _loss_signal(S, Q)
    return -np.mean((Q * logP).sum(1)), (Q - P) / len(S)


@dxent.wrong(
    "the gradient of a sum",
    advice="The loss is a mean over rows. What does that do to each row's share of the gradient?",
)
def _(S, Q):
    logP, P = _loss_signal(S, Q)
    return -np.mean((Q * logP).sum(1)), P - Q


@dxent.wrong(
    "the mean over classes too",
    advice="Within a row the terms are summed, over rows they are averaged. By what do you divide?",
)
def _(S, Q):
    logP, P = _loss_signal(S, Q)
    return -np.mean(Q * logP), (P - Q) / S.size


@dxent.wrong(
    "only the largest target counts",
    advice="Try a target of [0.5, 0.3, 0.2]. Do all three classes enter your loss?",
)
def _(S, Q):
    hard = np.eye(S.shape[1])[Q.argmax(1)]
    logP, P = _loss_signal(S, Q)
    return -np.mean((hard * logP).sum(1)), (P - hard) / len(S)


@dxent.right("log-sum-exp minus the target's score")
def _(S, Q):
    lse = np.logaddexp.reduce(S, axis=1)
    return (lse - (Q * S).sum(1)).mean(), (np.exp(S - lse[:, None]) - Q) / len(S)


@dxent.right("by automatic differentiation")
def _(S, Q):
    leaf = torch.tensor(S, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(leaf, torch.from_numpy(Q))
    loss.backward()
    return loss.item(), leaf.grad.numpy()


@dxent.right("row by row, with lists")
def _(S, Q):
    total, rows = 0.0, []
    for s, q in zip(S, Q, strict=True):
        e = np.exp(s - s.max())
        log_p = s - s.max() - np.log(e.sum())
        total -= sum(q * log_p)
        rows.append(list((e / e.sum() - q) / len(S)))
    return total / len(S), rows


# ---------------------------------------------------------------- through the softmax

softmax_vjp = Exercise(
    "softmax_vjp",
    reference=reference.softmax_vjp,
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("G", "P"),
    hints=[
        "One row first: multiply diag(p) - p pᵀ with g. Which two pieces appear?",
        "diag(p) g is p * g, entry by entry. p pᵀ g is p times one number: the mean of g under p.",
        "P * (G - mean), where mean holds each row's sum of P * G and keeps its axis.",
    ],
)


@softmax_vjp.cases
def _(rng):
    yield (
        "any rows",
        dict(P=_softmax(rng.normal(size=(4, 3))), G=rng.normal(size=(4, 3))),
    )
    yield (
        "a single row of five",
        dict(P=_softmax(rng.normal(size=(1, 5))), G=rng.normal(size=(1, 5))),
    )
    yield (
        "a constant comes back as zero",
        dict(
            P=_softmax(rng.normal(size=(3, 4))),
            G=np.repeat(rng.normal(2, 0.1, (3, 1)), 4, 1),
        ),
    )
    yield (
        "certainty lets nothing through",
        dict(P=np.eye(3)[[1, 0]], G=rng.normal(size=(2, 3))),
    )


@softmax_vjp.wrong(
    "the diagonal alone",
    advice="Raising one score lowers all other probabilities. Where is that in your product?",
)
def _(P, G):
    return P * (1 - P) * G


@softmax_vjp.wrong(
    "a plain mean is subtracted",
    advice="Which mean of g comes out of p pᵀ g: the plain one, or one that weighs with p?",
)
def _(P, G):
    return P * (G - G.mean(1, keepdims=True))


@softmax_vjp.wrong(
    "p pᵀ is forgotten",
    advice="Try a constant g: a shift of all p's. The answer must be zero.",
)
def _(P, G):
    return P * G


@softmax_vjp.wrong(
    "one mean for the whole batch",
    advice="Rows do not know of each other. Over which axis do you sum P * G?",
)
def _(P, G):
    return P * (G - (P * G).sum())


@softmax_vjp.right("with the whole matrix")
def _(P, G):
    return np.array(
        [(np.diag(p) - np.outer(p, p)) @ g for p, g in zip(P, G, strict=True)]
    )


@softmax_vjp.right("by automatic differentiation")
def _(P, G):
    S = torch.from_numpy(np.log(np.maximum(P, 1e-300))).requires_grad_()
    (S.softmax(1) * torch.from_numpy(G)).sum().backward()
    return S.grad.numpy()


@softmax_vjp.right("single precision")
def _(P, G):
    P, G = P.astype(np.float32), G.astype(np.float32)
    return P * G - P * (P * G).sum(1, keepdims=True)


# ---------------------------------------------------------------- regions of the simplex

argmax_region = Exercise(
    "argmax_region",
    reference=reference.argmax_region,
    compare=exact(),
    batched=("P",),
    hints=[
        "argmax alone names a winner even where two share the top. How do you see a shared top?",
        "Compare each row with its own maximum: how many entries reach it?",
        "reach = P == P.max(axis=1, keepdims=True); where reach.sum(axis=1) is 1 take P.argmax(axis=1), elsewhere -1 (np.where).",
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
    yield (
        "two share the top",
        dict(P=np.array([[0.4, 0.4, 0.2], [0.1, 0.45, 0.45], [0.45, 0.1, 0.45]])),
    )
    yield "the centroid", dict(P=np.full((1, 3), 1 / 3))
    bottom = [[0.25, 0.5, 0.25], [0.2, 0.2, 0.6]]
    yield "two share the bottom", dict(P=mixed(bottom))
    hair = [
        [0.4 + 1e-6, 0.4 - 1e-6, 0.2],
        [0.3, 0.35 - 1e-6, 0.35 + 1e-6],
        [0.25, 0.45, 0.3],
    ]
    yield "ahead by a hair", dict(P=mixed(hair))
    P = rng.dirichlet(np.ones(4), 5)
    P[2] = [0.35, 0.15, 0.15, 0.35]
    yield "four classes, a corner", dict(P=np.concatenate([P, [[0.0, 0, 0, 1]]]))


@argmax_region.wrong(
    "the first one wins a tie",
    advice="On a boundary the conditions p_k > p_j fail for all. What does np.argmax say there?",
)
def _(P):
    return P.argmax(1)


@argmax_region.wrong(
    "a majority is asked for",
    advice="Must the winner have more than one half? Look at [0.4, 0.35, 0.25].",
)
def _(P):
    return np.where(P.max(1) > 0.5, P.argmax(1), -1)


@argmax_region.wrong(
    "any two equal entries are a tie",
    advice="Only a shared top lies on a boundary. What of two equal losers?",
)
def _(P):
    return np.array([-1 if len(set(p)) < len(p) else int(np.argmax(p)) for p in P])


@argmax_region.wrong(
    "nearly equal counts as equal",
    advice="Shared means equal as floating-point numbers: a lead of 0.000002 is a lead. np.isclose forgives more.",
)
def _(P):
    two = np.sort(P, axis=1)[:, -2:]
    return np.where(np.isclose(two[:, 0], two[:, 1]), -1, P.argmax(1))


@argmax_region.wrong(
    "counts from one", advice="Classes are numbered from 0 in this course."
)
def _(P):
    reach = P == P.max(1, keepdims=True)
    return np.where(reach.sum(1) == 1, P.argmax(1) + 1, -1)


@argmax_region.right("plane by plane")
def _(P):
    answer = []
    for p in P:
        wins = [
            k
            for k in range(len(p))
            if all(p[k] > p[j] for j in range(len(p)) if j != k)
        ]
        answer.append(wins[0] if wins else -1)
    return answer


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
        "Within: all (h_i - own mean)², summed over rows and features. Between: all (own mean - overall mean)², summed the same way.",
        "Loop over np.unique(y): rows H[y == c], their mean m; add ((rows - m)**2).sum() to within and len(rows) * ((m - H.mean(axis=0))**2).sum() to between.",
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


def _scatter(H, y):
    within = between = 0.0
    m = H.mean(0)
    for c in np.unique(y):
        rows = H[y == c]
        within += ((rows - rows.mean(0)) ** 2).sum()
        between += len(rows) * ((rows.mean(0) - m) ** 2).sum()
    return within, between


@scatter_ratio.wrong(
    "every class counts the same",
    advice="A class of 9 rows enters the between-scatter nine times: the sum runs over rows.",
)
def _(H, y):
    classes = np.unique(y)
    within = np.mean([H[y == c].var(0).sum() for c in classes])
    return within / np.mean(
        [((H[y == c].mean(0) - H.mean(0)) ** 2).sum() for c in classes]
    )


@scatter_ratio.wrong(
    "labels are taken for 0, 1, 2, …",
    advice="Labels may be any integers. Which function lists those that occur?",
)
def _(H, y):
    own = [(H[y == c], H[y == c].mean(0)) for c in range(y.max() + 1) if np.any(y == c)]
    within = sum(((rows - m) ** 2).sum() for rows, m in own)
    between = sum(len(rows) * ((m - H.mean(0)) ** 2).sum() for rows, m in own)
    return within / between


@scatter_ratio.wrong(
    "between over within",
    advice="What should the ratio do when every class shrinks to a point?",
)
def _(H, y):
    within, between = _scatter(H, y)
    with np.errstate(divide="ignore"):
        return np.float64(between) / np.float64(within)


@scatter_ratio.wrong(
    "total in place of between",
    advice="Total scatter = within + between. Can your ratio exceed 1? The text's can.",
)
def _(H, y):
    within, between = _scatter(H, y)
    return within / (within + between)


@scatter_ratio.wrong(
    "distances from the origin",
    advice="Add 20 to every feature. The classes lie just as they lay: does your ratio change?",
)
def _(H, y):
    within, _ = _scatter(H, y)
    return within / sum(
        (y == c).sum() * (H[y == c].mean(0) ** 2).sum() for c in np.unique(y)
    )


@scatter_ratio.wrong(
    "distances are not squared", advice="Scatter is a sum of squares, like a variance."
)
def _(H, y):
    within = sum(
        np.linalg.norm(H[y == c] - H[y == c].mean(0), axis=1).sum()
        for c in np.unique(y)
    )
    m = H.mean(0)
    return within / sum(
        (y == c).sum() * np.linalg.norm(H[y == c].mean(0) - m) for c in np.unique(y)
    )


@scatter_ratio.right("what the total leaves")
def _(H, y):
    _, between = _scatter(H, y)
    return ((H - H.mean(0)) ** 2).sum() / between - 1


@scatter_ratio.right("with an indicator matrix")
def _(H, y):
    member = (y[:, None] == np.unique(y)).astype(float)
    fit = member @ np.linalg.lstsq(member, H, rcond=None)[0]
    return float(((H - fit) ** 2).sum() / ((fit - H.mean(0)) ** 2).sum())


@scatter_ratio.right("single precision")
def _(H, y):
    within, between = _scatter(H, y)
    return np.float32(within / between)


# ---------------------------------------------------------------- label geometry

class_cosines = Exercise(
    "class_cosines",
    reference=reference.class_cosines,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("H", "y"),
    hints=[
        "C class means first. From which point do you look at them?",
        "Subtract from the means their own mean (every class once, however many rows it has), then divide each by its length.",
        "M = the class means, stacked; M = M - M.mean(axis=0); M = M / np.linalg.norm(M, axis=1, keepdims=True); M @ M.T.",
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
    H, y = _cloud(rng, (3, 5), 2)
    yield "two classes: opposite", dict(H=H + 4, y=y, C=2)


def _means(H, y, C):
    return np.array([H[y == c].mean(0) for c in range(C)])


def _cosines(M):
    M = M / np.linalg.norm(M, axis=1, keepdims=True)
    return M @ M.T


@class_cosines.wrong(
    "seen from the origin",
    advice="Add a constant to all features. The classes lie as before: do your cosines change?",
)
def _(H, y, C):
    return _cosines(_means(H, y, C))


@class_cosines.wrong(
    "seen from the mean of the rows",
    advice="A class with many rows drags the mean of the rows to itself. The text takes the mean of the C class means.",
)
def _(H, y, C):
    return _cosines(_means(H, y, C) - H.mean(0))


@class_cosines.wrong(
    "inner products, not cosines",
    advice="What must the cosine of a vector with itself be?",
)
def _(H, y, C):
    M = _means(H, y, C)
    M = M - M.mean(0)
    return M @ M.T


@class_cosines.wrong(
    "correlation of the means",
    advice="np.corrcoef takes from each mean the average of its features. Which average is asked for: over features or over classes?",
)
def _(H, y, C):
    M = _means(H, y, C)
    return _cosines(M - M.mean(1, keepdims=True))


@class_cosines.right("pair by pair")
def _(H, y, C):
    M = _means(H, y, C)
    M = M - M.mean(0)
    return [[a @ b / np.sqrt((a @ a) * (b @ b)) for b in M] for a in M]


@class_cosines.right("single precision")
def _(H, y, C):
    M = _means(H, y, C)
    return _cosines(M - M.mean(0)).astype(np.float32)


# ---------------------------------------------------------------- information

layer_information = Exercise(
    "layer_information",
    reference=reference.layer_information,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("joint",),
    hints=[
        "Write a helper first: the mutual information of two variables from their joint table. What of entries that are 0?",
        "P(y, h) after a layer M is P(y, x) @ M. For I(h; x) do the same with the joint table of x with itself: P(x) on the diagonal.",
        "bits(T): rows = T.sum(1, keepdims=True), columns = T.sum(0), seen = T > 0, then the sum of T[seen] * np.log2(T[seen] / (rows * columns)[seen]). Start with A = np.diag(joint.sum(0)), B = joint; after each layer A = A @ M, B = B @ M.",
    ],
)


@layer_information.cases
def _(rng):
    joint = (
        rng.dirichlet(np.ones(8)).reshape(2, 4) * 0.6
        + np.array([[2, 2, 0, 0], [0, 0, 2, 2]]) / 20
    )
    merge = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    yield (
        "layers that merge values",
        dict(joint=joint, layers=[merge, np.eye(3)[[0, 0, 1]][:, :2]]),
    )
    yield (
        "a layer that only renames",
        dict(joint=joint, layers=[np.eye(4)[rng.permutation(4)]]),
    )
    yield (
        "a noisy layer",
        dict(
            joint=joint,
            layers=[
                0.8 * np.eye(4) + 0.05,
                np.array([[0.9, 0.1]] * 2 + [[0.2, 0.8]] * 2),
            ],
        ),
    )
    one_to_one = np.diag([0.5, 0.25, 0.25])
    yield (
        "zeros in the table",
        dict(joint=one_to_one, layers=[np.eye(3)[[0, 1, 1]][:, :2]]),
    )
    never = joint * np.array([1.0, 0, 1, 1])
    never = dict(joint=never / never.sum(), layers=[merge])
    yield "a value of x that never occurs", never
    yield "a layer that forgets everything", dict(joint=joint, layers=[np.ones((4, 1))])
    yield "no layer", dict(joint=joint, layers=[])


def _entropy(p):
    p = p[p > 0]
    return -(p * np.log2(p)).sum()


def _bits(T):
    return _entropy(T.sum(1)) + _entropy(T.sum(0)) - _entropy(T)


def _chain(joint, layers, bits=_bits, bits_x=None):
    A, B = np.diag(joint.sum(0)), joint
    told = [((bits_x or bits)(A), bits(B))]
    for M in layers:
        A, B = A @ M, B @ M
        told.append(((bits_x or bits)(A), bits(B)))
    return np.array(told).T


@layer_information.wrong(
    "the entropy of the layer in place of I(h; x)",
    advice="I(h; x) = H(h) only if x decides h. A noisy layer adds entropy that says nothing about x.",
)
def _(joint, layers):
    return _chain(joint, layers, bits_x=lambda A: _entropy(A.sum(0)))


@layer_information.wrong(
    "nats", advice="The text counts in bits. Which logarithm is that?"
)
def _(joint, layers):
    return _chain(joint, layers) * np.log(2)


@layer_information.wrong(
    "zero times its logarithm",
    advice="What does 0 * np.log2(0) give? Leave out the entries that are 0.",
)
def _(joint, layers):
    def bits(T):
        with np.errstate(divide="ignore", invalid="ignore"):
            return (T * np.log2(T / (T.sum(1, keepdims=True) * T.sum(0)))).sum()

    return _chain(joint, layers, bits)


@layer_information.wrong(
    "each layer starts again at x",
    advice="The second layer reads the first one's values. Which table do you multiply with it?",
)
def _(joint, layers):
    A, B = np.diag(joint.sum(0)), joint
    told = [(_bits(A), _bits(B))]
    for M in layers:
        if M.shape[0] == B.shape[1]:
            told.append((_bits(A @ M), _bits(B @ M)))
        else:
            told.append(told[-1])
    return np.array(told).T


@layer_information.wrong(
    "the input is left out",
    advice="The lists have L + 1 entries: the first is for h = x, before any layer.",
)
def _(joint, layers):
    return _chain(joint, layers)[:, 1:]


@layer_information.right("divergence from independence")
def _(joint, layers):
    def bits(T):
        seen = T > 0
        return (
            T[seen] * np.log2(T[seen] / (T.sum(1, keepdims=True) * T.sum(0))[seen])
        ).sum()

    told = _chain(joint, layers, bits)
    return list(told[0]), list(told[1])


@layer_information.right("entropy minus conditional entropy")
def _(joint, layers):
    p_x, kernel, told = joint.sum(0), np.eye(joint.shape[1]), []
    for M in [np.eye(joint.shape[1]), *layers]:
        kernel = kernel @ M
        h = _entropy(p_x @ kernel)
        given_x = sum(p * _entropy(row) for p, row in zip(p_x, kernel, strict=True))
        p_y = joint.sum(1)
        given_y = sum(
            p * _entropy(row @ kernel / p) for p, row in zip(p_y, joint, strict=True)
        )
        told.append((h - given_x, h - given_y))
    return np.array(told).T


@layer_information.right("single precision")
def _(joint, layers):
    return _chain(joint, layers).astype(np.float32)

"""Exercises of 01_regression/05_double_descent."""

import numpy as np
import torch

from descent.compare import close, exact
from descent.pictures.regression.double_descent import hinges
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- hinge features

relu_features = Exercise(
    "relu_features",
    reference=reference.hinge_features,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("x",),
    hints=[
        "p knots cut the range into how many equal gaps? Neither end is a knot.",
        "The gap is (xmax - xmin) / (p + 1), and knot j lies j gaps to the right of xmin. Row i, column j holds max(0, x_i - b_j).",
        "b = xmin + gap * np.arange(1, p + 1). Then x[:, None] - b has shape (n, p); np.maximum(0, …) does the rest.",
    ],
)


@relu_features.cases
def _(rng):
    low, width = rng.uniform(-3, -1), rng.uniform(2, 5)
    inside = low + width * np.sort(rng.random(6))
    yield (
        "knots inside the range, equally spaced",
        dict(x=inside, p=3, xmin=low, xmax=low + width),
    )
    yield "one knot, in the middle", dict(x=inside, p=1, xmin=low, xmax=low + width)
    yield (
        "inputs beyond the range are hinged too",
        dict(x=np.array([low - 1.0, low, low + width, low + 2 * width]), p=2, xmin=low, xmax=low + width),
    )  # fmt: skip
    yield (
        "an input exactly on a knot",
        dict(x=np.array([1.0, 2.0, 3.0]), p=3, xmin=0.0, xmax=4.0),
    )
    yield "no knots, no columns", dict(x=inside[:3], p=0, xmin=low, xmax=low + width)


@relu_features.wrong(
    "knots at both ends of the range",
    advice="Formula for b_j: is the first knot at xmin, or one gap to the right of it?",
)
def _(x, p, xmin, xmax):
    return np.maximum(0, x[:, None] - np.linspace(xmin, xmax, p))


@relu_features.wrong(
    "the first knot at xmin",
    advice="j runs from 1 to p: knot 1 lies one gap to the right of xmin. Where is your first knot?",
)
def _(x, p, xmin, xmax):
    return np.maximum(0, x[:, None] - (xmin + (xmax - xmin) / (p + 1) * np.arange(p)))


@relu_features.wrong(
    "inputs are cut off at the range",
    advice="A hinge goes on rising beyond xmax. What does yours do with an input far to the right?",
)
def _(x, p, xmin, xmax):
    return np.maximum(
        0, x.clip(xmin, xmax)[:, None] - np.linspace(xmin, xmax, p + 2)[1:-1]
    )


@relu_features.wrong(
    "divides the range by p",
    advice="Count the gaps between xmin, p knots and xmax. Does your last knot lie inside the range?",
)
def _(x, p, xmin, xmax):
    gap = (xmax - xmin) / max(p, 1)
    return np.maximum(0, x[:, None] - (xmin + gap * np.arange(1, p + 1)))


@relu_features.wrong(
    "the range starts at 0",
    advice="Knots are counted from xmin. What does your function do when xmin is negative?",
)
def _(x, p, xmin, xmax):
    return np.maximum(0, x[:, None] - (xmax - xmin) / (p + 1) * np.arange(1, p + 1))


@relu_features.wrong(
    "the hinge opens to the left",
    advice="A feature must be 0 to the left of its knot and grow to the right.",
)
def _(x, p, xmin, xmax):
    return np.maximum(
        0, xmin + (xmax - xmin) / (p + 1) * np.arange(1, p + 1) - x[:, None]
    )


@relu_features.wrong(
    "no hinge at all",
    advice="To the left of its knot a feature is 0, not negative.",
)
def _(x, p, xmin, xmax):
    return x[:, None] - (xmin + (xmax - xmin) / (p + 1) * np.arange(1, p + 1))


@relu_features.wrong(
    "the range of the data instead of the one given",
    advice="The knots come from xmin and xmax, whatever the inputs are.",
)
def _(x, p, xmin, xmax):
    low, high = x.min(), x.max()
    return np.maximum(
        0, x[:, None] - (low + (high - low) / (p + 1) * np.arange(1, p + 1))
    )


@relu_features.right("one entry at a time")
def _(x, p, xmin, xmax):
    if p == 0:
        return np.zeros((len(x), 0))
    gap = (xmax - xmin) / (p + 1)
    return [[max(0.0, v - (xmin + j * gap)) for j in range(1, p + 1)] for v in x]


@relu_features.right("knots from linspace without its ends")
def _(x, p, xmin, xmax):
    return np.subtract.outer(x, np.linspace(xmin, xmax, p + 2)[1:-1]).clip(min=0)


@relu_features.right("in torch")
def _(x, p, xmin, xmax):
    return reference.hinge_features(torch.from_numpy(x), p, xmin, xmax).numpy()


# ---------------------------------------------------------------- the same curve as a network


def _net_values(beta0, beta, b, x):
    """What the network must say at x, and how many numbers it holds."""
    return {
        "values": reference.spline_values(beta0, beta, b, x),
        "parameters": 3 * len(beta) + 1,
    }


to_torch_net = Exercise(
    "to_torch_net",
    reference=_net_values,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    limit=4.0,  # the first use of torch.nn
    batched=("b", "beta", "x"),
    hints=[
        "A Linear layer computes z Wᵀ + bias. Which W and which bias turn one number x into x - b_1, …, x - b_p?",
        "First layer: weight of shape (p, 1), all ones, bias -b. Second layer: weight of shape (1, p) holding the slope changes, bias β_0.",
        "Inside torch.no_grad(): net[0].weight.fill_(1), net[0].bias.copy_(torch.tensor(-b)), net[2].weight.copy_(torch.tensor(beta)[None]), net[2].bias.fill_(beta0).",
    ],
)


@to_torch_net.probe
def _(answer, beta0, beta, b, x):
    net = answer(beta0, beta, b)
    parameters = list(net.parameters())
    inputs = torch.from_numpy(x).to(parameters[0].dtype).unsqueeze(1)
    return {
        "values": net(inputs).detach().numpy()[:, 0],
        "parameters": sum(w.numel() for w in parameters),
    }


@to_torch_net.cases
def _(rng):
    b = np.sort(rng.uniform(0.1, 0.9, 4)) + np.arange(4) * 0.05
    beta = rng.uniform(1, 3, 4) * np.array([1, -1, 1, -1])
    x = np.linspace(-0.2, 1.4, 9)
    yield "equal to the spline", dict(beta0=float(rng.normal(2.0)), beta=beta, b=b, x=x)
    yield "flat to the left of the first knot", dict(
        beta0=1.5, beta=beta, b=b, x=np.array([-2.0, -1.0, 0.05])
    )  # fmt: skip
    yield "a straight line beyond the last knot", dict(
        beta0=-1.0, beta=beta, b=b, x=np.array([2.0, 3.0, 4.0])
    )  # fmt: skip
    yield "a single knot", dict(beta0=0.5, beta=beta[1:2], b=b[1:2], x=x)
    yield "all slopes zero", dict(beta0=0.7, beta=np.zeros(3), b=b[:3], x=x)


def _filled(
    first_weight, first_bias, second_weight, second_bias, activation=torch.nn.ReLU
):
    """Linear, activation, Linear in double precision with the given numbers."""
    p = len(first_bias)
    net = torch.nn.Sequential(
        torch.nn.Linear(1, p), activation(), torch.nn.Linear(p, 1)
    ).double()
    with torch.no_grad():
        net[0].weight.copy_(torch.as_tensor(first_weight).reshape(p, 1))
        net[0].bias.copy_(torch.as_tensor(first_bias))
        net[2].weight.copy_(torch.as_tensor(second_weight).reshape(1, p))
        net[2].bias.fill_(second_bias)
    return net


@to_torch_net.wrong(
    "the bias is + b_j",
    advice="A hinge opens where w x + bias = 0. Where does yours open?",
)
def _(beta0, beta, b):
    return _filled(np.ones(len(b)), b, beta, beta0)


@to_torch_net.wrong(
    "the slopes go into the first layer",
    advice="max(0, β (x - b)) is β max(0, x - b) only for β >= 0. Try a negative slope change.",
)
def _(beta0, beta, b):
    return _filled(beta, -beta * b, np.ones(len(b)), beta0)


@to_torch_net.wrong(
    "the intercept is left out",
    advice="What does the network say to the left of all knots?",
)
def _(beta0, beta, b):
    return _filled(np.ones(len(b)), -b, beta, 0.0)


@to_torch_net.wrong(
    "no activation between the layers",
    advice="Two linear layers in a row are one straight line. What stands between them?",
)
def _(beta0, beta, b):
    return _filled(np.ones(len(b)), -b, beta, beta0, torch.nn.Identity)


@to_torch_net.wrong(
    "slopes of the pieces instead of changes of slope",
    advice="The second layer needs β_j itself, the change of slope at knot j; do not add them up.",
)
def _(beta0, beta, b):
    return _filled(np.ones(len(b)), -b, np.cumsum(beta), beta0)


@to_torch_net.right("parameters through a state dict, single precision")
def _(beta0, beta, b):
    p = len(b)
    net = torch.nn.Sequential(
        torch.nn.Linear(1, p), torch.nn.ReLU(), torch.nn.Linear(p, 1)
    )
    net.load_state_dict(
        {
            "0.weight": torch.ones(p, 1),
            "0.bias": -torch.tensor(b),
            "2.weight": torch.tensor(beta).reshape(1, p),
            "2.bias": torch.tensor([beta0]),
        }
    )
    return net


@to_torch_net.right("a first layer of twos, halved again by the second")
def _(beta0, beta, b):
    return _filled(2 * np.ones(len(b)), -2 * b, beta / 2, beta0)


# ---------------------------------------------------------------- what the data cannot see

nullspace_part = Exercise(
    "nullspace_part",
    reference=reference.unseen_part,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "beta"),
    hints=[
        "beta is the sum of two orthogonal parts. One is a combination of the rows of X: which combination of rows lies nearest to beta?",
        "Find the smallest vector v with X v = X beta: it is that combination of rows, and the pseudo-inverse of X finds it. What is left of beta is the answer.",
        "Return beta - np.linalg.pinv(X) @ (X @ beta). Test it: X times your answer must be 0.",
    ],
)


@nullspace_part.cases
def _(rng):
    X = rng.normal(size=(3, 6))
    yield "more weights than rows", dict(beta=rng.normal(size=6), X=X)
    yield "a combination of the rows has no such part", dict(
        beta=X.T @ rng.uniform(0.5, 2, 3), X=X
    )  # fmt: skip
    tall = rng.normal(size=(7, 3))
    yield (
        "enough independent rows: nothing is unseen",
        dict(beta=rng.normal(size=3), X=tall),
    )
    twice = np.vstack([X[:2], X[0] + X[1], X[1]])
    yield "repeated and dependent rows", dict(beta=rng.normal(size=6), X=twice)
    few = rng.normal(size=(2, 4))  # five rows, four weights, but only two directions
    many = np.vstack([few, few[0] + few[1], few[1], -few[0]])
    yield "repeated and dependent rows", dict(beta=rng.normal(size=4), X=many)
    yield "rows of zeros see nothing", dict(beta=rng.normal(size=4), X=np.zeros((2, 4)))


def _seen(beta, X):
    return np.linalg.pinv(X, rcond=1e-10) @ (X @ beta)


@nullspace_part.wrong(
    "the other part",
    advice="Multiply X with your answer. The part that the data cannot see must give 0.",
)
def _(beta, X):
    return _seen(beta, X)


@nullspace_part.wrong(
    "forgets to invert",
    advice="X.T @ X is no projection unless the rows are orthonormal. Apply your function twice: does anything change?",
)
def _(beta, X):
    return beta - X.T @ (X @ beta)


@nullspace_part.wrong(
    "the rows are normalised but not orthogonal",
    advice="Subtracting one row's share after the other is right only for orthogonal rows.",
)
def _(beta, X):
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    unit = X / np.where(lengths > 0, lengths, 1)
    return beta - unit.T @ (unit @ beta)


@nullspace_part.wrong(
    "zero whenever there are enough rows",
    advice="Rows may repeat. It is their rank, not their number, that decides what is unseen.",
)
def _(beta, X):
    return np.zeros_like(beta) if len(X) >= len(beta) else beta - _seen(beta, X)


@nullspace_part.wrong(
    "takes every row for a new direction",
    advice="The right singular vectors after the first n are unseen, but there may be more: how many singular values are 0?",
)
def _(beta, X):
    free = np.linalg.svd(X)[2][len(X) :]
    return free.T @ (free @ beta)


@nullspace_part.wrong(
    "the nearest start is forgotten: always zero",
    advice="Only if beta is a combination of the rows is its unseen part 0.",
)
def _(beta, X):
    return np.zeros_like(beta)


@nullspace_part.right("through the singular vectors")
def _(beta, X):
    _, s, Vt = np.linalg.svd(X)
    rank = int(np.sum(s > 1e-10 * max(s[0], 1e-300)))
    free = Vt[rank:]
    return free.T @ (free @ beta)


@nullspace_part.right("one orthogonal direction after the other")
def _(beta, X):
    directions, rest = [], beta.copy()
    for row in X:
        new = row.copy()
        for _ in range(2):  # the second round removes rounding
            for q in directions:
                new = new - (q @ new) * q
        if np.linalg.norm(new) > 1e-9 * np.linalg.norm(row):
            directions.append(new / np.linalg.norm(new))
    for q in directions:
        rest = rest - (q @ rest) * q
    return rest


@nullspace_part.right("least squares for the combination of rows")
def _(beta, X):
    combination = np.linalg.lstsq(X.T, beta, rcond=1e-10)[0]
    return beta - combination @ X


# ---------------------------------------------------------------- double descent

double_descent = Exercise(
    "double_descent",
    reference=reference.knot_sweep,
    compare=close(rtol=1e-4, atol=1e-8),
    limit=6.0,  # the first use of scikit-learn
    batched=("x", "x_new", "y", "y_new"),
    hints=[
        "For one p you need the features of the training inputs, weights fitted to y, and the features of the new inputs. The intercept must cost nothing: what happens to it when y and every column have mean 0?",
        "Centre: F = dd.hinges(x, p), middle = F.mean(0). The slopes are pinv(F - middle, rcond=1e-12) @ (y - y.mean()). A prediction at features G is y.mean() + (G - middle) @ slopes.",
        "The same middle (that of the training rows) serves both errors. Append np.mean((fit - y)**2) and np.mean((fit_new - y_new)**2) for every p, return two arrays.",
    ],
)


@double_descent.cases
def _(rng):
    yield "few knots: an ordinary least-squares fit", _sweep(rng, 9, [1, 2, 4])
    yield "no knots: the mean", _sweep(rng, 6, [0])
    yield (
        "at the threshold p = n - 1 the fit goes through every row",
        _sweep(rng, 6, [4, 5, 6]),
    )
    yield "many knots: the least norm, with a free intercept", _sweep(rng, 6, [20, 60])
    any_order = _sweep(rng, 7, [40, 2, 3])
    order = np.roll(np.arange(7)[::-1], rng.integers(7))
    any_order.update(x=any_order["x"][order], y=any_order["y"][order])
    yield "inputs and numbers of knots in any order", any_order
    # The knots 1/16, … stand badly for the grid 0, 1/15, …: condition number about 10⁶.
    yield (
        "small singular values count",
        _sweep(rng, 16, [15, 16], x=np.linspace(0, 1, 16)),
    )
    left = np.array([0.02, 0.05, 0.08, 0.5, 0.9]) + rng.uniform(-0.01, 0.01, 5)
    yield (
        "more weights than rows, but three inputs left of all knots",
        _sweep(rng, 5, [6, 8], x=left),
    )


def _sweep(rng, n, ps, x=None):
    """Noisy rows, mean far from 0; inputs, if not given, near the middles of n equal slots."""
    if x is None:
        x = (np.arange(n) + 0.5 + rng.uniform(-0.1, 0.1, n)) / n
    new = np.sort(rng.random(5))
    return dict(
        x=x,
        y=3 + np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=n),
        x_new=new,
        y_new=3 + np.sin(2 * np.pi * new) + 0.3 * rng.normal(size=5),
        ps=ps,
    )


def _errors(x, y, x_new, y_new, ps, fit, measure=lambda e: np.mean(e**2)):
    """Sweep with `fit(F, y, G, p)` -> predictions at F and at G."""
    train, test = [], []
    for p in ps:
        here, there = fit(hinges(x, p), y, hinges(x_new, p), p)
        train.append(measure(here - y))
        test.append(measure(there - y_new))
    return np.array(train), np.array(test)


def _free(F, y, G, p):
    middle = F.mean(0)
    slopes = np.linalg.pinv(F - middle, rcond=1e-12) @ (y - y.mean())
    return y.mean() + (F - middle) @ slopes, y.mean() + (G - middle) @ slopes


@double_descent.wrong(
    "the intercept is part of the norm",
    advice="β_0 must be free. With a column of ones in the pseudo-inverse, a large β_0 costs something: do the fits change when you add 100 to every y?",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        w = np.linalg.pinv(np.column_stack([np.ones(len(F)), F]), rcond=1e-12) @ y
        return w[0] + F @ w[1:], w[0] + G @ w[1:]

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "no intercept",
    advice="What does your fit say with no knots at all? It should be the mean of y.",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        w = np.linalg.pinv(F, rcond=1e-12) @ y
        return F @ w, G @ w

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "the new rows are centred with their own mean",
    advice="The model was built with the training rows' column means. Which means must a new row be compared with?",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        slopes = np.linalg.pinv(F - F.mean(0), rcond=1e-12) @ (y - y.mean())
        return y.mean() + (F - F.mean(0)) @ slopes, y.mean() + (G - G.mean(0)) @ slopes

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "only y is centred",
    advice="Centre the columns of the features too: otherwise the intercept is stuck at the mean of y.",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        slopes = np.linalg.pinv(F, rcond=1e-12) @ (y - y.mean())
        return y.mean() + F @ slopes, y.mean() + G @ slopes

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "small singular values are cut off",
    advice="Only a singular value that is 0 but for rounding may go. Print them for p = n - 1: how small is the smallest that counts?",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        middle = F.mean(0)
        slopes = np.linalg.pinv(F - middle, rcond=1e-5) @ (y - y.mean())
        return y.mean() + (F - middle) @ slopes, y.mean() + (G - middle) @ slopes

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "no training error once the weights are as many as the rows",
    advice="Measure the training error for every p. Two inputs left of the first knot have the same features: can both be met?",
)
def _(x, y, x_new, y_new, ps):
    train, test = _errors(x, y, x_new, y_new, ps, _free)
    return np.where(np.array(ps) + 1 >= len(x), 0.0, train), test


@double_descent.wrong(
    "the numbers of knots are sorted first",
    advice="Entry i belongs to ps[i], in the order given.",
)
def _(x, y, x_new, y_new, ps):
    return _errors(x, y, x_new, y_new, sorted(ps), _free)


@double_descent.wrong(
    "sums instead of means",
    advice="The error of twice as many equal rows is the same. Sum or mean?",
)
def _(x, y, x_new, y_new, ps):
    return _errors(x, y, x_new, y_new, ps, _free, lambda e: np.sum(e**2))


@double_descent.wrong(
    "root mean squared errors",
    advice="The text asks for mean squared errors: no root.",
)
def _(x, y, x_new, y_new, ps):
    return _errors(x, y, x_new, y_new, ps, _free, lambda e: np.sqrt(np.mean(e**2)))


@double_descent.wrong(
    "fitted to the test rows as well",
    advice="The test rows must not be seen by the fit. Which rows did you fit?",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        everything = np.vstack([F, G])
        both, _ = _free(everything, np.concatenate([y, y_new]), G, p)
        return both[: len(F)], both[len(F) :]

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.wrong(
    "a little ridge instead of the least norm",
    advice="The training error must be 0 from the threshold on. A penalty, however small, prevents it.",
)
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        middle = F.mean(0)
        A = F - middle
        slopes = np.linalg.solve(A.T @ A + 1e-2 * np.eye(p), A.T @ (y - y.mean()))
        return y.mean() + A @ slopes, y.mean() + (G - middle) @ slopes

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.right("lstsq on centred columns")
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        if p == 0:
            return np.full(len(F), y.mean()), np.full(len(G), y.mean())
        slopes = np.linalg.lstsq(F - F.mean(0), y - y.mean(), rcond=1e-12)[0]
        intercept = y.mean() - F.mean(0) @ slopes
        return intercept + F @ slopes, intercept + G @ slopes

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.right("an intercept column so large that its weight costs nothing")
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        A, B = (np.column_stack([np.full(len(H), 1e4), H]) for H in (F, G))
        w = np.linalg.lstsq(A, y, rcond=1e-14)[0]
        return A @ w, B @ w

    return _errors(x, y, x_new, y_new, ps, fit)


@double_descent.right("lists of errors from the singular values")
def _(x, y, x_new, y_new, ps):
    def fit(F, y, G, p):
        middle = F.mean(0)
        U, s, Vt = np.linalg.svd(F - middle, full_matrices=False)
        keep = s > 1e-12 * max([*s, 1e-300])
        slopes = Vt[keep].T @ ((U.T @ (y - y.mean()))[keep] / s[keep])
        return y.mean() + (F - middle) @ slopes, y.mean() + (G - middle) @ slopes

    train, test = _errors(x, y, x_new, y_new, ps, fit)
    return train.tolist(), test.tolist()


# ---------------------------------------------------------------- when is interpolation possible?


schoenberg_whitney = Exercise(
    "schoenberg_whitney",
    reference=reference.hats_taken,
    compare=exact(),
    batched=("b", "x"),
    hints=[
        "Write down, for every hat, the open interval where it is not 0. There are p + 1 of them; the first has no left end, the last two have no right end.",
        "low = [-inf, b_1, …, b_p] and high = [b_2, …, b_p, inf, inf]. Sort x. Keep the number of the next free hat, and skip hats until one has low < x_i < high.",
        "For each input in order: while j <= p and not low[j] < x_i < high[j]: j += 1. If j > p, stop: this input and all later ones get 0. Otherwise note j + 1 and move on to hat j + 1.",
    ],
)


@schoenberg_whitney.cases
def _(rng):
    def jitter(size, spread=0.02):
        return rng.uniform(-spread, spread, size)

    b = np.arange(1.0, 6.0)
    spread_out = np.array([0.5, 1.5, 2.5, 3.5, 4.5, 5.5])
    enough = "one input for every hat"
    yield enough, dict(x=spread_out + jitter(6), b=b)
    yield enough, dict(x=np.array([0.5, 2.5, 4.5]) + jitter(3), b=b)
    crowded = "enough knots, but in the wrong place"
    # Two inputs left of the first knot; four inputs in one gap; three beyond the last knot.
    yield crowded, dict(x=np.array([0.3, 0.7, 2.5]) + jitter(3), b=b)
    yield crowded, dict(x=np.array([2.2, 2.4, 2.6, 5.5]) + jitter(4), b=b)
    yield crowded, dict(x=np.array([0.5, 5.3, 5.6, 5.9]) + jitter(4), b=b)
    # Each gap holds at most two inputs, but four of them share three hats.
    yield crowded, dict(x=np.array([2.3, 2.6, 3.3, 3.6]) + jitter(4), b=b)
    yield crowded, dict(x=np.array([4.2, 4.5, 4.8]) + jitter(3), b=b)
    pairs = "two inputs between neighbouring knots can be enough"
    yield pairs, dict(x=np.array([2.3, 2.6]) + jitter(2), b=b)
    yield pairs, dict(x=np.array([0.5, 2.3, 2.6, 4.2, 4.6]) + jitter(5), b=b)
    yield "too few knots", dict(x=spread_out + jitter(6), b=b[:4])
    yield "the order of the inputs does not matter", dict(
        x=np.array([2.6, 0.5, 4.6, 2.3, 4.2]) + jitter(5), b=b
    )  # fmt: skip
    on_knots = "inputs exactly on knots: a hat is 0 at both ends of its interval"
    yield on_knots, dict(x=b.copy(), b=b)  # hats 1 … 5: each knot is the top of its own
    yield (
        on_knots,
        dict(x=np.array([1.0, 1.5, 2.0, 2.5]), b=np.array([1.0, 2.0, 2.25, 3.0])),
    )
    yield on_knots, dict(x=np.array([0.5, 1.0]), b=b)
    yield on_knots, dict(x=np.array([3.0, 4.0]), b=b)
    single = "a single knot"
    yield single, dict(x=np.array([0.5, 1.5]) + jitter(2), b=b[:1])
    yield single, dict(x=np.array([0.3, 0.6]) + jitter(2), b=b[:1])
    yield single, dict(x=np.array([1.5]) + jitter(1), b=b[:1])


def _intervals(b):
    return np.concatenate([[-np.inf], b]), np.concatenate([b[1:], [np.inf, np.inf]])[
        : len(b) + 1
    ]


def _walk(x, low, high, inside=lambda low, v, high: low < v < high, used_up=1):
    hats, j = np.zeros(len(x), int), 0
    for i, value in enumerate(x):
        while j < len(low) and not inside(low[j], value, high[j]):
            j += 1
        if j == len(low):
            break
        hats[i] = j + 1
        j += used_up
    return hats


@schoenberg_whitney.wrong(
    "only counts",
    advice="p + 1 >= n is needed, but look where the knots are: two inputs to the left of all knots share one row.",
)
def _(x, b):
    numbers = np.arange(1, len(x) + 1)
    return np.where(numbers <= len(b) + 1, numbers, 0)


@schoenberg_whitney.wrong(
    "a hat stretches over one gap only",
    advice="Look at the table: from which knot to which is hat j not 0? How many gaps is that?",
)
def _(x, b):
    edges = np.concatenate([[-np.inf], b, [np.inf]])
    return _walk(np.sort(x), edges[:-1], edges[1:])


@schoenberg_whitney.wrong(
    "does not sort the inputs",
    advice="The walk goes from left to right. Are the inputs in order?",
)
def _(x, b):
    return _walk(x, *_intervals(b))


@schoenberg_whitney.wrong(
    "the hats are listed in the order given",
    advice="The result follows the inputs from left to right, not in the order in which they came.",
)
def _(x, b):
    order = np.argsort(x)
    hats = np.zeros(len(x), int)
    hats[order] = _walk(x[order], *_intervals(b))
    return hats


@schoenberg_whitney.wrong(
    "goes on after an input without a hat",
    advice="Once an input finds no hat, interpolation is impossible: every later entry is 0 too.",
)
def _(x, b):
    low, high = _intervals(b)
    hats, next_free = [], 0
    for value in np.sort(x):
        free = [j for j in range(next_free, len(low)) if low[j] < value < high[j]]
        hats.append(free[0] + 1 if free else 0)
        next_free = free[0] + 1 if free else next_free
    return hats


@schoenberg_whitney.wrong(
    "a hat counts at its ends",
    advice="At both ends of its interval a hat is exactly 0. Which inequality is strict?",
)
def _(x, b):
    return _walk(np.sort(x), *_intervals(b), lambda low, v, high: low <= v <= high)


@schoenberg_whitney.wrong(
    "one hat may serve many inputs",
    advice="Each input needs a hat of its own. Do you move on after a hat is taken?",
)
def _(x, b):
    return _walk(np.sort(x), *_intervals(b), used_up=0)


@schoenberg_whitney.wrong(
    "hats are numbered from 0",
    advice="0 is kept for 'no hat'. What is the number of the first hat in the table?",
)
def _(x, b):
    return np.maximum(_walk(np.sort(x), *_intervals(b)) - 1, 0)


@schoenberg_whitney.wrong(
    "the last hat starts over the last but one",
    advice="Where does hat p + 1 begin? It is 0 up to the last knot.",
)
def _(x, b):
    low, high = _intervals(b)
    return _walk(np.sort(x), np.concatenate([low[:-1], low[-2:-1]]), high)


@schoenberg_whitney.right("all hats of an input at once, as a list")
def _(x, b):
    x = np.sort(x)
    low, high = _intervals(b)
    alive = (low < x[:, None]) & (x[:, None] < high)
    hats, last = [], -1
    for row in alive:
        free = [j for j in np.flatnonzero(row) if j > last]
        if not free:
            break
        last = free[0]
        hats.append(int(last) + 1)
    return hats + [0] * (len(x) - len(hats))


@schoenberg_whitney.right("any hat that is still free, in floats")
def _(x, b):
    low, high = _intervals(b)
    free, hats = list(range(len(low))), np.zeros(len(x))
    for i, value in enumerate(sorted(x)):
        fitting = [j for j in free if low[j] < value < high[j]]
        if not fitting:
            return hats
        free.remove(fitting[0])
        hats[i] = fitting[0] + 1
    return hats


@schoenberg_whitney.right("with searchsorted")
def _(x, b):
    # Gap g = number of knots below x; on a knot only the hat that peaks there is alive.
    x, hats, last = np.sort(x), [], 0
    p = len(b)
    for value in x:
        g = int(np.searchsorted(b, value, side="left"))
        peak = g < p and b[g] == value
        alive = [g + 1] if peak else [max(g, 1), g + 1]
        free = [h for h in alive if h > last]
        if not free:
            break
        last = free[0]
        hats.append(last)
    return np.array(hats + [0] * (len(x) - len(hats)))


# ---------------------------------------------------------------- effective ranks

effective_ranks = Exercise(
    "effective_ranks",
    reference=reference.tail_ranks,
    compare=close(rtol=1e-6),
    batched=("eigs",),
    hints=[
        "First put the eigenvalues in order, the largest first. Which of them are the tail?",
        "The tail is everything after the first k: in Python, sorted[k:]. Its first entry is λ_{k+1}.",
        "r = tail.sum() / tail[0]; R = tail.sum()**2 / np.sum(tail**2).",
    ],
)


@effective_ranks.cases
def _(rng):
    values = np.sort(rng.uniform(0.2, 3.0, 7))[::-1].copy()
    yield "a falling spectrum", dict(eigs=values, k=2)
    yield "the whole spectrum: k = 0", dict(eigs=values, k=0)
    yield (
        "in any order",
        dict(eigs=np.array([0.1, 5.0, 0.4, 1.0, 0.2]) * rng.uniform(1, 2), k=2),
    )
    yield "a flat tail counts its directions", dict(
        eigs=np.concatenate([[4.0, 2.0], np.full(6, rng.uniform(0.1, 0.5))]), k=2
    )  # fmt: skip
    yield "one direction left", dict(eigs=values, k=6)
    yield "directions without variance count for nothing", dict(
        eigs=np.array([3.0, 1.0, 0.5, 0.0, 0.0, 0.0]) * rng.uniform(1, 2), k=1
    )  # fmt: skip


def _tail(eigs, k):
    return np.sort(eigs)[::-1][k:]


@effective_ranks.wrong(
    "the eigenvalues are not sorted",
    advice="λ_1 is the largest. What if the array comes in another order?",
)
def _(eigs, k):
    tail = eigs[k:]
    return tail.sum() / tail[0], tail.sum() ** 2 / np.sum(tail**2)


@effective_ranks.wrong(
    "the tail starts one too late",
    advice="The sums run over i > k. With k = 0 the tail is the whole spectrum; is it with you?",
)
def _(eigs, k):
    tail = np.append(_tail(eigs, k)[1:], 0.0)
    largest = max(tail[0], 1e-12)
    return tail.sum() / largest, tail.sum() ** 2 / max(np.sum(tail**2), 1e-24)


@effective_ranks.wrong(
    "divides by the largest eigenvalue of all",
    advice="r_k compares the tail with its own first entry, λ_{k+1}.",
)
def _(eigs, k):
    tail = _tail(eigs, k)
    return tail.sum() / eigs.max(), tail.sum() ** 2 / np.sum(tail**2)


@effective_ranks.wrong(
    "divides by λ_k",
    advice="The tail begins at λ_{k+1}, and that is what r_k divides by. With k = 0 it is λ_1.",
)
def _(eigs, k):
    tail, largest = _tail(eigs, k), np.sort(eigs)[::-1][max(k - 1, 0)]
    return tail.sum() / largest, tail.sum() ** 2 / np.sum(tail**2)


@effective_ranks.wrong(
    "R is turned over",
    advice="For m equal eigenvalues R_k must be m, not 1/m.",
)
def _(eigs, k):
    tail = _tail(eigs, k)
    return tail.sum() / tail[0], np.sum(tail**2) / tail.sum() ** 2


@effective_ranks.wrong(
    "the square is inside the sum twice",
    advice="R_k is the square of the sum over the sum of the squares. For equal eigenvalues it counts them.",
)
def _(eigs, k):
    tail = _tail(eigs, k)
    return tail.sum() / tail[0], tail.sum() / np.sum(tail**2)


@effective_ranks.wrong(
    "R is the square of r",
    advice="R_k divides by the sum of all squares of the tail, not by the square of its first entry.",
)
def _(eigs, k):
    tail = _tail(eigs, k)
    return tail.sum() / tail[0], (tail.sum() / tail[0]) ** 2


@effective_ranks.wrong(
    "smallest first",
    advice="λ_1 is the largest eigenvalue: np.sort sorts the other way.",
)
def _(eigs, k):
    tail = np.sort(eigs)[k:]
    total = tail.sum()
    return total / max(tail[0], 1e-12), total**2 / np.sum(tail**2)


@effective_ranks.right("normalised first, in a loop")
def _(eigs, k):
    tail = sorted((float(value) for value in eigs), reverse=True)[k:]
    r = square = 0.0
    for value in tail:
        r += value / tail[0]
        square += (value / tail[0]) ** 2
    return [r, r * r / square]


@effective_ranks.right("single precision")
def _(eigs, k):
    tail = _tail(eigs, k).astype(np.float32)
    return tail.sum() / tail.max(), tail.sum() ** 2 / (tail @ tail)


# ---------------------------------------------------------------- epicycles

epicycle_fit = Exercise(
    "epicycle_fit",
    reference=reference.low_frequencies,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("points",),
    hints=[
        "Put the points into one complex array z = x + iy. The circles e^{2πikj/m} with different k are orthogonal: what is the least-squares coefficient of one of them?",
        "c_k = mean over j of z_j e^{-2πikj/m}, for the first N of k = 0, 1, -1, 2, -2, …. The curve is the sum of c_k e^{2πikj/m}.",
        "E = np.exp(2j * np.pi * np.outer(j, k) / m) has shape (m, N). Then curve = E @ (E.conj().T @ z) / m; return its real and imaginary parts as two columns.",
    ],
)


@epicycle_fit.cases
def _(rng):
    yield "three circles", dict(points=_outline(rng, 8, fast=6), N=3)
    yield "an even number of circles", dict(points=_outline(rng, 7, fast=6), N=4)
    yield "one circle of frequency 0: the centre", dict(points=_outline(rng, 6), N=1)
    every = "as many circles as points: every point is met"
    yield every, dict(points=_outline(rng, 6), N=6)
    yield every, dict(points=_outline(rng, 5), N=5)
    yield "two points", dict(points=_outline(rng, 2), N=2)


def _outline(rng, m, fast=0.0):
    """Random points and a circle of radius `fast` that turns three times."""
    turn = 2 * np.pi * 3 * np.arange(m) / m
    circle = fast * np.column_stack([np.cos(turn), np.sin(turn)])
    return rng.normal(size=(m, 2)) + np.array([3.0, -1.0]) + circle


def _complex(points):
    return points[:, 0] + 1j * points[:, 1]


def _columns(curve):
    return np.column_stack([curve.real, curve.imag])


def _from_frequencies(points, k):
    z, m = _complex(points), len(points)
    E = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m)
    return _columns(E @ (E.conj().T @ z) / m)


def _lowest(N):
    return np.array([(k + 1) // 2 * (1 if k % 2 else -1) for k in range(N)])


@epicycle_fit.wrong(
    "only circles that turn one way",
    advice="Frequencies come in pairs: 0, 1, -1, 2, -2, …. Which ones did you take?",
)
def _(points, N):
    return _from_frequencies(points, np.arange(N))


@epicycle_fit.wrong(
    "the largest circles instead of the slowest",
    advice="The first N frequencies count, however large their coefficients are.",
)
def _(points, N):
    c = np.fft.fft(_complex(points))
    c[np.argsort(-np.abs(c))[N:]] = 0
    return _columns(np.fft.ifft(c))


@epicycle_fit.wrong(
    "coefficients are sums, not means",
    advice="With one circle the curve must stay at the centre of the points. Does it?",
)
def _(points, N):
    return len(points) * _from_frequencies(points, _lowest(N))


@epicycle_fit.wrong(
    "the wrong sign in the exponent",
    advice="The coefficient undoes the rotation: its exponent has the opposite sign of the circle's.",
)
def _(points, N):
    z, m = _complex(points), len(points)
    E = np.exp(2j * np.pi * np.outer(np.arange(m), _lowest(N)) / m)
    return _columns(E @ (E.T @ z) / m)


@epicycle_fit.wrong(
    "negative frequencies first",
    advice="After 0 comes 1, then -1. It matters when N is even.",
)
def _(points, N):
    return _from_frequencies(points, -_lowest(N))


@epicycle_fit.wrong(
    "always whole pairs",
    advice="Four circles are 0, 1, -1, 2: an even N ends with a frequency that has no partner.",
)
def _(points, N):
    return _from_frequencies(points, np.arange(-(N // 2), N // 2 + 1))


@epicycle_fit.wrong(
    "the centre is forgotten",
    advice="Frequency 0 is the first of the N: a circle that does not turn.",
)
def _(points, N):
    return _from_frequencies(points, _lowest(N + 1)[1:])


@epicycle_fit.right("by the fast Fourier transform")
def _(points, N):
    c = np.fft.fft(points @ np.array([1, 1j]))
    kept = np.zeros_like(c)
    for k in _lowest(N):
        kept[k] = c[k]
    return _columns(np.fft.ifft(kept))


@epicycle_fit.right("least squares on cosines and sines, as lists")
def _(points, N):
    m = len(points)
    angle = 2 * np.pi * np.outer(np.arange(m), _lowest(N)) / m
    C, S = np.cos(angle), np.sin(angle)
    # Real and imaginary parts of Σ (a + ib)(C + iS), as one real system.
    A = np.block([[C, -S], [S, C]])
    w = np.linalg.lstsq(A, points.T.ravel(), rcond=None)[0]
    return (A @ w).reshape(2, m).T.tolist()


@epicycle_fit.right("one point at a time")
def _(points, N):
    m, curve = len(points), np.zeros((len(points), 2), np.float64)
    for k in _lowest(N):
        turn = np.exp(-2j * np.pi * k * np.arange(m) / m)
        c = np.mean(_complex(points) * turn)
        curve += _columns(c * turn.conj()).astype(np.float64)
    return curve

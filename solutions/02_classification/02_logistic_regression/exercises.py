"""Exercises of 02_classification/02_logistic_regression."""

import math

import numpy as np
import torch
from scipy.special import expit

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference


def away(rng, d):
    """Weights of both signs (for d > 1), none small: nothing is hidden by a zero."""
    return rng.permutation(np.resize([1.0, -1.0], d)) * rng.uniform(0.6, 1.4, d)


def rows(rng, n, d):
    """X (n, d) with a leading 1, labels of a noisy linear rule; no weights separate them, and 1 is rarer or commoner.

    The first four rows are two points, each with both labels.
    """
    while True:
        X = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
        y = (X @ away(rng, d) + rng.logistic(size=n) > 0).astype(float)
        X[1], X[3] = X[0], X[2]
        y[:4] = 0, 1, 1, 0
        if y.mean() != 0.5:
            return X, y


SHARE = dict(X=np.ones((4, 1)), y=np.array([1.0, 1, 0, 1]))  # gradient -1/4 at w = 0


# --------------------------------------------------------------------------------------- sigmoid

sigmoid = Exercise(
    "sigmoid",
    reference=lambda z: dict(
        value=reference.sigmoid(torch.as_tensor(z)), overflow=False
    ),
    # the left tail is asked to a relative error, as its logarithm is a loss; below 1e-300 anything goes
    compare=parts(value=close(rtol=1e-9, atol=1e-300), overflow=exact()),
    batched=("z",),
    hints=[
        "exp overflows above 709, and underflows harmlessly to 0 below -745. Which of exp(z) and exp(-z) is safe for z > 0, and "
        "which for z < 0?",
        "Multiply numerator and denominator by exp(z): a second formula for the same number. Use one where z > 0, the other "
        "where z < 0; at 0 they agree.",
        "Both denominators are 1 + np.exp(-np.abs(z)). The numerator is 1 for z > 0 and np.exp(z) for z < 0: "
        "which exponent gives both?",
    ],
)


@sigmoid.probe
def _(answer, z):
    seen = []
    note = lambda kind, flag: seen.append(kind)
    with np.errstate(over="call", divide="call", invalid="call", call=note):
        value = answer(z)
    return {"value": value, "overflow": bool(seen)}


@sigmoid.cases
def _(rng):
    yield (
        "ordinary scores",
        dict(z=rng.permutation([-3.0, -1, 1, 2, 4]) + rng.uniform(-0.3, 0.3, 5)),
    )
    yield "scores of ±1000", dict(z=np.array([-1000.0, 1000.0]))
    yield "scores of ±1000", dict(z=np.array([1000.0, rng.normal(), -1000.0]))
    yield (
        "deep in the left tail",
        dict(z=rng.uniform([-600, -90, -45], [-300, -60, -38])),
    )
    yield "a matrix of scores", dict(z=rng.normal(0, 2, (2, 3)))
    yield "one score, and zero", dict(z=rng.uniform(-2, -1, 1))
    yield "one score, and zero", dict(z=np.zeros(2))
    yield "whole numbers", dict(z=rng.permutation([-3, 0, 2, 800, -800]))


sigmoid.mistakes(
    {
        "exp of a large positive number": (
            "np.minimum(z, 0)",
            "z",
            "Try a score of 1000: what is np.exp(1000)? Which exponent is never positive?",
        ),
        "the other side of the boundary": (
            "np.minimum(z, 0)",
            "np.minimum(-z, 0)",
            "Is your curve rising? Try one large positive score: what probability should it get?",
        ),
        "one for both sides": (
            "np.exp(np.minimum(z, 0))",
            "1.0",
            "Is your curve symmetric, with σ(-3) as large as σ(3)? Where is it below one half?",
        ),
        "the absolute value is missing": (
            "-np.abs(z)",
            "-z",
            "Try z = -1000 in every exponent that you use.",
        ),
    }
)


@sigmoid.wrong(
    "the formula as it stands",
    advice="Somewhere exp is called with a large positive number and overflows. (np.where computes both of its branches, also where it does not use them.)",
)
def _(z):
    return 1 / (1 + np.exp(-z))


@sigmoid.wrong(
    "scores are clipped",
    advice="Clipping avoids the overflow but changes the answer: σ(-100) is about 4e-44, and its logarithm is a loss of 100.",
)
def _(z):
    return expit(np.clip(z, -30, 30))


@sigmoid.wrong(
    "the left tail is rounded away",
    advice="Does your formula add a number near -1 to 1? What is left of 4e-18 when it has been added to 1?",
)
def _(z):
    return 0.5 * (1 + np.tanh(z / 2))


sigmoid.worked(
    why="""The same number has two formulas, 1/(1 + e^-z) and e^z/(1 + e^z). The first is safe on the right, the second on the left, and
    in both every exponent is then at most 0. `np.minimum(z, 0)` and `-np.abs(z)` choose without a branch. On the left the numerator
    carries the tiny number itself: nothing is added to it and lost."""
)


@sigmoid.right("masks, each side with its formula")
def _(z):
    out, right = np.empty(z.shape), z >= 0
    out[right] = 1 / (1 + np.exp(-z[right]))
    out[~right] = np.exp(z[~right]) / (1 + np.exp(z[~right]))
    return out


@sigmoid.right("exponential of the softplus")
def _(z):
    return np.exp(-np.logaddexp(0, -z))


@sigmoid.right("one number at a time")
def _(z):
    def one(s):
        return 1 / (1 + math.exp(-s)) if s >= 0 else math.exp(s) / (1 + math.exp(s))

    return np.reshape([one(s) for s in np.ravel(z)], np.shape(z))


@sigmoid.right("by SciPy", library="scipy.special.expit")
def _(z):
    from scipy.special import expit

    return expit(z)


# ---------------------------------------------------------------------------------- nll_and_grad

nll_and_grad = Exercise(
    "nll_and_grad",
    reference=reference.nll_and_grad,
    compare=close(rtol=1e-7, atol=1e-10),
    batched=("w", "X", "y"),
    hints=[
        "Both come from the scores s = X @ w: the cost of each row, and how it changes with its score.",
        "log(1 + exp(s)) is the logarithm of a sum of two exponentials, exp(0) + exp(s): NumPy has a function for just that. The "
        "slope of a row is p - y, and its score changes with w by x.",
        "np.logaddexp(0, s) minus y * s, and take the mean. For the gradient p = expit(s); X.T @ … sums over the rows.",
    ],
)


@nll_and_grad.cases
def _(rng):
    X, y = rows(rng, 9, 3)
    yield "any weights", dict(w=away(rng, 3), X=X, y=y)
    X, y = rows(rng, 7, 2)
    yield "any weights", dict(w=away(rng, 2), X=X, y=y)
    X, y = rows(rng, 8, 3)
    yield (
        "zero weights: log 2, and the mean of (1/2 - y) x",
        dict(w=np.zeros(3), X=X, y=y),
    )
    x = rng.uniform(1.2, 2, 5) * np.array([1, -1, 1, -1, 1])
    X = np.column_stack([np.ones(5), x])
    for sign in (1, -1):  # two rows are sure and wrong, then three
        w, y = np.array([0.0, 600.0 * sign]), np.array([1.0, 0, 0, 1, 1])
        yield "scores beyond ±720", dict(w=w, X=X, y=y)
    X = np.column_stack([np.ones(3), rng.uniform([11, 12, 14], [12, 14, 16])])
    yield "scores of 10 still cost", dict(w=np.array([0.0, 1.0]), X=X, y=np.ones(3))
    one = np.array([[1.0, rng.uniform(1, 2)]])
    for label in (0.0, 1.0):
        yield "a single row", dict(w=away(rng, 2), X=one, y=np.array([label]))
    X = np.array([[1, 2], [1, -1], [1, 0]])
    yield "whole numbers", dict(w=rng.integers(1, 4, 2), X=X, y=np.array([1, 1, 0]))


nll_and_grad.mistakes(
    {
        "the log-likelihood itself": (
            "np.logaddexp(0, s) - y * s",
            "y * s - np.logaddexp(0, s)",
            "A cost is at least 0. What sign has your loss?",
        ),
        "the loss is a sum": (
            "np.mean(",
            "np.sum(",
            "What happens to your loss when every row is there twice?",
        ),
        "the gradient is a sum": (
            " / len(y)",
            "",
            "The loss is a mean. What happens to your gradient when every row is there twice?",
        ),
        "the way up": (
            "expit(s) - y",
            "y - expit(s)",
            "Take a small step along your gradient: does the loss rise, as it should?",
        ),
        "the loss of a large score is infinite": (
            "np.logaddexp(0, s)",
            "np.log(1 + np.exp(s))",
            "np.exp(1000) is inf and σ(-1000) is 0, but log(1 + exp(1000)) is 1000. Is there a function that adds in logarithms?",
        ),
        "residuals of least squares": (
            "expit(s) - y",
            "s - y",
            "Your error is score minus label. What should a label 0 or 1 be compared with?",
        ),
        "hard answers for probabilities": (
            "expit(s) - y",
            "(s > 0) - y",
            "A row on its right side still pulls, more weakly the surer it is. Do you round p to 0 or 1?",
        ),
        "gradient of a squared error": (
            "(expit(s) - y)",
            "((expit(s) - y) * expit(s) * (1 - expit(s)))",
            "The factor p(1 - p) is the slope of the sigmoid. In the text something cancels it: what?",
        ),
    }
)


@nll_and_grad.wrong(
    "through a clipped probability",
    advice="Clipping p keeps the logarithm finite, but a score of 600 on the wrong side costs 600, not 34. Can you write the cost with the score itself?",
)
def _(w, X, y):
    p = np.clip(expit(X @ w), 1e-15, 1 - 1e-15)
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    return loss, X.T @ (expit(X @ w) - y) / len(y)


nll_and_grad.worked(
    why="""The cost is written with the score, so no p is ever rounded to 0 or 1 before its logarithm is taken. logaddexp(0, s) is
    log(e^0 + e^s), computed without either exponential. The slope of a row is p - y, and each row votes with its own features: X.T @
    adds the votes."""
)


@nll_and_grad.right("one row at a time, lists")
def _(w, X, y):
    loss, total = 0.0, [0.0] * len(w)
    for row, label in zip(X, y):
        s = sum(a * b for a, b in zip(row, w))
        m = s if label == 1 else -s
        loss += (
            math.log1p(math.exp(-m)) if m > 0 else math.log1p(math.exp(m)) - m
        ) / len(y)
        total = [t + (expit(s) - label) * x / len(y) for t, x in zip(total, row)]
    return loss, total


@nll_and_grad.right("labels ±1 and the probability of the wrong one")
def _(w, X, y):
    t = 2 * y - 1
    m = t * (X @ w)
    return np.logaddexp(0, -m).mean(), -(t * expit(-m)) @ X / len(X)


@nll_and_grad.right(
    "by torch", library="torch.nn.functional.binary_cross_entropy_with_logits"
)
def _(w, X, y):
    X, y = (torch.as_tensor(a, dtype=torch.float64) for a in (X, y))
    w = torch.tensor(np.asarray(w), dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y)
    loss.backward()
    return loss.detach(), w.grad


nll_and_grad.limit = 5.0  # torch's first loss on a busy machine

# --------------------------------------------------------------------------------------- descend

descend = Exercise(
    "descend",
    reference=reference.descend,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="the run ends where it is flat or rises",
    limit=1.0,
    hints=[
        "One loop. At its top you look at the newest point: its loss, its slope. Then three questions, and only then a step.",
        "Two lists grow, the points and their losses. A question with the answer yes leaves the function with return: then the "
        "order of the questions is the order of your lines.",
        "Begin with path = [np.zeros(X.shape[1])] and losses = []; look max_steps + 1 times: call nll_and_grad at path[-1], append the "
        "loss, ask. losses[-2] exists only from the second look on, and after the last look there is no step.",
    ],
)


def _descent(X, y, rate, tol, max_steps):
    """How a run ends: its word, its number of steps, its losses, and the largest entries of its gradients."""
    w, losses, largest = np.zeros(X.shape[1]), [], []
    for k in range(max_steps + 1):
        s = X @ w
        losses.append(np.mean(np.logaddexp(0, s) - y * s))
        g = X.T @ (expit(s) - y) / len(y)
        largest.append(np.abs(g).max())
        if np.linalg.norm(g) <= tol:
            return "flat", k, losses, largest
        if k and losses[-1] > losses[-2]:
            return "rising", k, losses, largest
        w = w - rate * g
    return "open", max_steps, losses, largest


def _walk(rng, wanted, d=2, steep=1.0, n=9, **run):
    """A case whose run ends as wanted(*its end), drawn until it does, and its steps."""
    while True:
        X, y = rows(rng, n, d)
        X[:, 1:] *= steep
        case = dict(X=X, y=y, max_steps=60, **run)
        end = _descent(**case)
        if wanted(*end):
            return case, end[1]


@descend.cases
def _(rng):
    X, y = rows(rng, 9, 3)
    yield "each step goes down", dict(X=X, y=y, rate=0.7, tol=0.0, max_steps=4)
    flat, k = _walk(  # the largest entry alone is small before the norm is
        rng,
        lambda end, k, _, top: end == "flat" and 4 <= k <= 20 and top[-2] <= 0.02,
        d=3,
        rate=1.5,
        tol=0.02,
    )
    yield "stops where it is flat", flat
    yield "the last step makes it flat", flat | dict(max_steps=k)
    yield "one step too few", flat | dict(max_steps=k - 1)
    for tol in (0.25, 0.2499):
        yield (
            "the norm is exactly tol, or just above",
            dict(**SHARE, rate=rng.uniform(1, 2), tol=tol, max_steps=2),
        )
    for tol in (rng.uniform(0.26, 0.3), 0.2):
        yield (
            "flat at the start, or not yet",
            dict(**SHARE, rate=rng.uniform(1, 2), tol=tol, max_steps=2),
        )
    rising, k = _walk(  # above the loss before, and below that of the start
        rng,
        lambda end, k, f, _: end == "rising" and 2 <= k <= 9 and f[-1] < f[0],
        steep=3.0,
        rate=4.0,
        tol=1e-3,
    )
    yield "a rate too bold", rising
    yield "the last step rises", rising | dict(max_steps=k)
    yield "one step too few", rising | dict(max_steps=k - 1)
    X = np.array([[1.0, 800], [1, -700], [1, 900]]) * rng.uniform(0.9, 1.1)
    X[:, 0] = 1
    yield (
        "a rate too bold",
        dict(X=X, y=np.array([1.0, 0, 0]), rate=2.0, tol=1e-3, max_steps=5),
    )
    y = np.array([0.0, 1, 1, 0, 1])
    for name, max_steps in (
        ("a loss that stays does not rise", 2),
        ("a budget of steps too short to see", 4),
    ):
        X = rows(rng, 5, 2)[0]
        yield name, dict(X=X, y=y, rate=1e-20, tol=0.0, max_steps=max_steps)
    # ten rows of eleven have label 1: far on their side the slope is 1/11, but the loss is high
    for name, max_steps in (
        ("flat is asked before rising", 5),
        ("the last step makes it flat", 1),
    ):
        y = rng.permutation(np.arange(11) > 0) * 1.0
        case = dict(X=np.ones((11, 1)), y=y, rate=rng.uniform(80, 120), tol=0.1)
        yield name, case | dict(max_steps=max_steps)
    X, y = rows(rng, 6, 2)
    yield "no step at all", dict(X=X, y=y, rate=1.0, tol=1e-3, max_steps=0)
    yield "no step at all", dict(**SHARE, rate=1.0, tol=0.25, max_steps=0)
    yield (
        "one row",
        dict(X=X[:1], y=np.zeros(1), rate=rng.uniform(1, 2), tol=1e-3, max_steps=3),
    )
    X = np.array([[1, 2], [1, -1], [1, 0], [1, rng.integers(3, 6)]])
    yield (
        "whole numbers",
        dict(X=X, y=np.array([1, 1, 0, 0]), rate=1, tol=0.01, max_steps=3),
    )


descend.mistakes(
    {
        "uphill": (
            "path[-1] - rate * gradient",
            "path[-1] + rate * gradient",
            "Which way does the gradient point? Look at your second loss.",
        ),
        "flat is asked of the largest entry": (
            "np.linalg.norm(gradient) <= tol",
            "np.abs(gradient).max() <= tol",
            "The text asks for the Euclidean norm of the gradient.",
        ),
        "flat only below tol": (
            "<= tol",
            "< tol",
            "A norm of exactly tol: is that at most tol?",
        ),
        "the start is not asked": (
            "if np.linalg.norm(gradient) <= tol:",
            "if step > 0 and np.linalg.norm(gradient) <= tol:",
            "Where the slope is flat before any step, is yours asked?",
        ),
        "flat is asked last": (
            """        if np.linalg.norm(gradient) <= tol:
            return np.array(path), losses, "flat"
        if step > 0 and losses[-1] > losses[-2]:
            return np.array(path), losses, "rising"
""",
            """        if step > 0 and losses[-1] > losses[-2]:
            return np.array(path), losses, "rising"
        if np.linalg.norm(gradient) <= tol:
            return np.array(path), losses, "flat"
""",
            "A point may be flat and higher than the one before. Which question comes first?",
        ),
        "rising is asked against the start": (
            "losses[-1] > losses[-2]",
            "losses[-1] > losses[0]",
            "The newest loss is compared with the one before it.",
        ),
        "a loss that stays counts as rising": (
            "losses[-1] > losses[-2]",
            "losses[-1] >= losses[-2]",
            "Is a loss that stays the same larger than before?",
        ),
        "a step that nobody looks at": (
            "if step < max_steps:",
            "if True:",
            "Has each point of your path a loss? Ask before you step whether a step is left.",
        ),
    }
)


@descend.wrong(
    "one array, changed in place",
    advice="All rows of your path are equal. w -= … changes the very array that the list holds: what does w = w - … do?",
)
def _(X, y, rate, tol, max_steps):
    path, losses, end = _by_for(X, y, rate, tol, max_steps)
    return np.array([path[-1]] * len(path)), losses, end


descend.worked(
    why="""Everything is asked of the newest point, at the top of the loop, so the start needs no lines of its own. Each
    question that says yes returns at once: the order of the rules is the order of the lines. `path[-1] - …` makes a new array, so the
    old points stay what they were."""
)


def _by_for(X, y, rate, tol, max_steps):
    w, path, losses = np.zeros(X.shape[1]), [], []
    for k in range(max_steps + 1):
        m = (2 * y - 1) * (X @ w)
        path.append(w)
        losses.append(np.logaddexp(0, -m).mean())
        g = -((2 * y - 1) * expit(-m)) @ X / len(y)
        if g @ g <= tol**2:
            return np.array(path), losses, "flat"
        if losses[-1] > losses[max(k - 1, 0)]:
            return np.array(path), losses, "rising"
        w = w - rate * g
    return np.array(path), losses, "open"


descend.right("a for loop, labels ±1")(_by_for)


# ---------------------------------------------------------------------------------------- newton

newton = Exercise(
    "newton",
    reference=reference.newton,
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="the run ends where it is flat, and steps are halved where F rises",
    limit=1.0,
    hints=[
        "As in `descend`: look at the newest point, ask two questions, step. The step has a loop of its own. Write F(w) first, as a "
        "function inside yours.",
        "D is diagonal: 0 for the intercept, lam for the others. g = X.T @ (p - y) / n + D w, and H weighs the rows with p (1 - p), "
        "also as a mean. Each step begins with t = 1 anew.",
        "D = np.diag(lam * (np.arange(d) > 0)); H = (X.T * (p * (1 - p))) @ X / n + D; np.linalg.solve(H, g) is the full step; "
        "while F(w - t * move) > F(w): t = t / 2. In F use np.logaddexp(0, s): steps may land far out.",
    ],
)


def _newton(X, y, lam, start, tol, max_steps, weight=1.0):
    """The path, its end, the share t of each step, and the largest score at the end of a full one; by signed rows.

    weight: of the penalty where steps are judged, 1 where all is right.
    """
    n, d = X.shape
    keep, sign = lam * (np.arange(d) > 0), 2 * y - 1
    F = lambda w: np.logaddexp(0, -sign * (X @ w)).mean() + weight * keep @ w**2 / 2
    path, shares, reach = [np.array(start, float)], [], 0
    while True:
        w = path[-1]
        wrong = expit(-sign * (X @ w))
        g = keep * w - (sign * wrong) @ X / n
        if g @ g <= tol**2:
            return path, "flat", shares, reach
        if len(path) > max_steps:
            return path, "open", shares, reach
        move = np.linalg.solve((X.T * (wrong * (1 - wrong))) @ X / n + np.diag(keep), g)
        reach, t = max(reach, np.abs(X @ (w - move)).max()), 1.0
        while F(w - t * move) > F(w):
            t /= 2
        path.append(w - t * move)
        shares.append(t)


def _slopes(path, X, y, lam):
    """Norm and largest entry of the gradient of F at each point of a path."""
    W = np.array(path)
    G = (expit(W @ X.T) - y) @ X / len(y) + lam * W * (np.arange(X.shape[1]) > 0)
    return np.linalg.norm(G, axis=1), np.abs(G).max(axis=1)


def _solve(rng, wanted, n=12, d=2, far=0.0, **run):
    """A case whose run is as wanted(end, shares, reach), from a random start of size far, drawn until it is.

    Norm and largest entry of the gradient are on one side of tol at each of its points.
    """
    while True:
        X, y = rows(rng, n, d)
        case = dict(X=X, y=y, start=far * away(rng, d), max_steps=30, **run)
        with np.errstate(all="ignore"):
            try:
                path, *how = _newton(**case)
            except np.linalg.LinAlgError:
                continue
        norm, largest = _slopes(path, X, y, case["lam"])
        if wanted(*how) and not np.any((largest <= case["tol"]) & (norm > case["tol"])):
            return case, len(how[1])


def _full(end, shares, reach):
    return end == "flat" and 3 <= len(shares) <= 6 and min(shares) == 1


def _halved(end, shares, reach):
    """A step of 1/2 or 1/8, one of 1/4 or less, then full ones; no score so large that its p is rounded to 1."""
    odd = any(math.log2(t) % 2 for t in shares)
    short = odd and min(shares) <= 0.25 and shares[-1] == 1
    return end == "flat" and short and len(shares) <= 12 and reach < 30


def _between(rng, lam):
    """A case whose last gradient but one has its largest entry below tol, but its norm above."""
    while True:
        case, _ = _solve(rng, _full, d=3, lam=lam, tol=1e-5)
        norm, largest = _slopes(_newton(**case)[0], case["X"], case["y"], lam)
        if norm[-3] > 1.2 * largest[-3]:
            return case | dict(tol=np.sqrt(norm[-3] * largest[-3]))


@newton.cases
def _(rng):
    case, k = _solve(rng, _full, d=3, lam=0.0, tol=1e-5)
    yield "full steps near the end", case
    yield "the last step makes it flat", case | dict(max_steps=k)
    yield "one step too few", case | dict(max_steps=k - 1)
    yield "flat by the norm, not by one entry", _between(rng, 0.0)
    case = _between(rng, 0.2)
    k = len(_newton(**case)[0]) - 1
    yield "the last step makes it flat", case | dict(max_steps=k)
    case, k = _solve(rng, _full, n=10, d=3, far=0.5, lam=0.3, tol=1e-5)
    yield "ridge, but not on the intercept", case
    case, k = _solve(rng, _full, far=0.5, lam=2.0, tol=1e-5)
    yield "ridge, but not on the intercept", case
    yield "one step too few", case | dict(max_steps=k - 1)
    for lam in (0.0, 0.002):
        case, _ = _solve(rng, _halved, far=2.5, lam=lam, tol=1e-5)
        yield "steps that must be halved", case
    for weight in (2 / 3, 2.0):  # half the penalty decides how short
        while True:
            case, _ = _solve(rng, _halved, far=2.5, lam=0.1, tol=1e-5)
            shares = _newton(**case)[2], _newton(**case, weight=weight)[2]
            if shares[0] != shares[1]:
                break
        yield "steps that must be halved", case
    # The full step lands beyond ±1000, the second share is longer than the first. Few steps:
    # to and fro, errors of rounding grow.
    for sign in (1, -1):
        case = dict(X=np.ones((5, 1)), y=rng.permutation([1.0, 0, 1, 0, 1]), lam=1.0)
        case |= dict(start=sign * rng.uniform(8, 9, 1), tol=1e-5, max_steps=2)
        while len(set(_newton(**case)[2])) == 1:
            case["start"] = sign * rng.uniform(8, 9, 1)
        yield "full steps beyond ±1000", case
    for sign in (1, -1):  # the full step lands at about ±100
        y, start = rng.permutation([1.0, 0, 1, 0, 1]), sign * rng.uniform(5, 6, 1)
        case = dict(X=np.ones((5, 1)), y=y, lam=0.0, start=start, tol=1e-5)
        yield "full steps to where p is rounded", case | dict(max_steps=1)
    x = rng.uniform(0.5, 1.5, 8)
    X = np.column_stack([np.ones(8), np.where(np.arange(8) < 3, 2 + x, 1 - x)])
    yield (
        "separable rows with ridge",
        dict(
            X=X,
            y=(np.arange(8) < 3) * 1.0,
            lam=0.1,
            start=np.zeros(2),
            tol=1e-5,
            max_steps=20,
        ),
    )
    # far out on its side the loss is small: the way back raises it, in full steps
    held = dict(X=X, y=(np.arange(8) < 3) * 1.0, lam=0.5, tol=1e-5, max_steps=20)
    while True:
        start = rng.uniform([-6, 2], [-2, 5])
        path, end, shares, reach = _newton(start=start, **held)
        first, second = (
            np.logaddexp(0, (1 - 2 * held["y"]) * (X @ w)).mean() for w in path[:2]
        )
        if _full(end, shares, reach) and reach < 30 and second > first:
            break
    yield "F falls where the loss rises", dict(start=start, **held)
    for tol in (0.25, 0.2499):
        yield (
            "the norm is exactly tol, or just above",
            dict(
                **SHARE, lam=rng.uniform(1, 2), start=np.zeros(1), tol=tol, max_steps=1
            ),
        )
    X, y = rows(rng, 6, 2)
    start = away(rng, 2)
    yield "no step at all", dict(X=X, y=y, lam=0.1, start=start, tol=1e-3, max_steps=0)
    X = np.array([[1, 2], [1, -1], [1, 0], [1, rng.integers(3, 6)]])
    yield (
        "whole numbers",
        dict(
            X=X,
            y=np.array([1, 1, 0, 0]),
            lam=1,
            start=np.array([1, -1]),
            tol=1e-4,
            max_steps=9,
        ),
    )


newton.mistakes(
    {
        "the intercept is penalised too": (
            "np.arange(d) > 0",
            "np.arange(d) >= 0",
            "The first weight is the intercept. What is its entry in D?",
        ),
        "the penalty is missing in the gradient": (
            " / n + D @ w\n",
            " / n\n",
            "Where is the slope of lam/2 times w²?",
        ),
        "the penalty is missing in the Hessian": (
            "@ X / n + D\n",
            "@ X / n\n",
            "The penalty has a second derivative as well. Which matrix is it?",
        ),
        "rows weighed with p": (
            "p * (1 - p)",
            "p",
            "The Hessian's weights are the slope of the sigmoid at each score. What is it at p = 1?",
        ),
        "no damping": (
            "while F(w - t * move) > F(w):",
            "while False:",
            "Start far out: does F fall at every step of yours?",
        ),
        "a step stays short": (
            "np.linalg.solve(H, g), 1.0",
            "np.linalg.solve(H, g), t if len(path) > 1 else 1.0",
            "After a halved step the next one is tried in full again.",
        ),
        "F overflows": (
            "np.mean(np.logaddexp(0, s) - y * s)",
            "-np.mean(y * np.log(expit(s)) + (1 - y) * np.log(1 - expit(s)))",
            "A full step may land beyond ±1000. What is 0 times the logarithm of 0, and what does > say of it?",
        ),
        "flat is asked of the largest entry": (
            "np.linalg.norm(g) <= tol",
            "np.abs(g).max() <= tol",
            "The text asks for the Euclidean norm of the gradient.",
        ),
        "one step too many": (
            "len(path) > max_steps",
            "len(path) > max_steps + 1",
            "With max_steps = 0 the path holds the start alone. How many points has it after k steps?",
        ),
    }
)


newton.equivalent(
    {
        "while F(w - t * move) > F(w): → while F(w - t * move) >= F(w):": (
            "Where F stays exactly as it is, you may stop or go on."
        )
    }
)


newton.worked(
    why="""Slope and curvature of F come from the same p, computed once a step at the newest point. The full step solves H move = g; as H is
    positive definite, move leads uphill and -move down, so *some* fraction of it lowers F and the inner loop ends. It begins with t = 1
    each time: near the end full steps pass at once, and there the digits double. D has a 0 for the intercept, and serves F, g and H."""
)


@newton.right("signed rows, a while loop")
def _(X, y, lam, start, tol, max_steps):
    return _newton(X, y, lam, start, tol, max_steps)[:2]


@newton.right("weighted least squares for the step")
def _(X, y, lam, start, tol, max_steps):
    n, d = X.shape
    ridge, w = np.sqrt(n * lam) * np.diag(np.arange(d) > 0), np.array(start, float)

    def F(w):
        s = X @ w
        return (np.logaddexp(0, s) - y * s).sum() / n + lam / 2 * np.sum(w[1:] ** 2)

    path = [w]
    for _ in range(max_steps + 1):
        p = expit(X @ w)
        g = (p - y) @ X / n + lam * w * (np.arange(d) > 0)
        if np.sqrt(np.sum(g**2)) <= tol:
            return path, "flat"
        if len(path) == max_steps + 1:
            return path, "open"
        root = np.sqrt(p * (1 - p))
        A = np.vstack([root[:, None] * X, ridge])
        b = np.append((y - p) / root, -ridge @ w)
        move, t = np.linalg.lstsq(A, b, rcond=None)[0], 1
        while not F(w + move / t) <= F(w):
            t *= 2
        w = w + move / t
        path.append(w)


# ---------------------------------------------------------------------------------------- decide

decide = Exercise(
    "decide",
    reference=reference.decide,
    compare=close(rtol=1e-9, atol=1e-12),
    batched=("p", "y"),
    hints=[
        "The text gives the average cost of saying 1 and of saying 0. Both depend on p: which rises with p, which falls?",
        "Set the two costs equal, (1 - p) c_fp = p c_fn, and solve for p. On which side of that p is saying 1 cheaper? Then count "
        "the two kinds of mistakes, each with its own price.",
        "The threshold is c_fp / (c_fp + c_fn). (labels == 1) & (y == 0) marks the false alarms; np.sum counts them. The cost "
        "is what all mistakes cost, over len(y).",
    ],
)


def _ladder(rng, n=12):
    """Probabilities that climb evenly from 0.04 to 0.96, a little jittered, in random order, both labels in each half."""
    p = np.linspace(0.04, 0.96, n) + rng.uniform(-0.02, 0.02, n)
    y = np.resize([1.0, 0, 0, 1, 0], n)
    order = rng.permutation(n)
    return dict(p=p[order], y=y[order])


@decide.cases
def _(rng):
    c_fn = rng.uniform(11, 13)
    case = dict(**_ladder(rng), c_fp=1.0, c_fn=c_fn)
    case["p"][case["p"] > 0.9] = 1 / (
        c_fn + 0.5
    )  # above the threshold, below c_fp / c_fn
    yield "a miss costs more", case
    yield (
        "a false alarm costs more",
        dict(**_ladder(rng), c_fp=rng.uniform(8.8, 10), c_fn=2.0),
    )
    yield "equal costs, not 1", dict(**_ladder(rng, 8), c_fp=3.0, c_fn=3.0)
    for threshold, c_fp, c_fn in ((0.5, 2.0, 2.0), (0.25, 1.0, 3.0), (0.75, 3.0, 1.0)):
        order = rng.permutation(4)
        p = threshold + np.array([0.0, 0.01, -0.01, 0.0])
        y = np.array([0.0, 1, 0, 1])
        yield (
            "both cost the same: say 0",
            dict(p=p[order], y=y[order], c_fp=c_fp, c_fn=c_fn),
        )
    p, c_fn = rng.uniform(0.02, 0.1, 6), rng.uniform(1.3, 2)
    right = dict(p=np.r_[p, 1 - p], y=np.repeat([0.0, 1.0], 6))
    wrong = dict(p=np.r_[p, 1 - p[:4]], y=np.repeat([1.0, 0], [6, 4]))
    for case in (right, wrong):
        yield "all right, all wrong", dict(**case, c_fp=1.0, c_fn=c_fn)
    for label, c_fn in ((1, 1), (0, 10)):
        p = np.array([rng.uniform(0.2, 0.4)])
        yield (
            "one row, whole numbers",
            dict(p=p, y=np.array([label]), c_fp=1, c_fn=c_fn),
        )


decide.mistakes(
    {
        "always one half": (
            "c_fp / (c_fp + c_fn)",
            "0.5",
            "At p = 0.4, what does saying 0 cost on average when a miss costs nine times a false alarm?",
        ),
        "the costs are swapped in the threshold": (
            "c_fp / (c_fp + c_fn)",
            "c_fn / (c_fp + c_fn)",
            "When a miss is the costly mistake, do you say 1 more often or less often?",
        ),
        "the ratio of the costs as threshold": (
            "c_fp / (c_fp + c_fn)",
            "c_fp / c_fn",
            "c_fp / c_fn is a threshold for the odds p / (1 - p). For equal costs it is 1: which p exceeds that?",
        ),
        "says 1 on a tie": (
            "p > c_fp",
            "p >= c_fp",
            "Where both answers cost the same, the text asks for 0.",
        ),
        "alarms and misses are swapped": (
            "return labels, alarms, misses, cost",
            "return labels, misses, alarms, cost",
            "A false alarm: which was said, and which was true?",
        ),
        "the costs are swapped in the sum": (
            "c_fp * alarms + c_fn * misses",
            "c_fn * alarms + c_fp * misses",
            "What does one miss cost, and what one alarm?",
        ),
        "the cost is a sum": (
            " / len(y)",
            "",
            "The mean over all rows: what happens to your cost when every row is there twice?",
        ),
        "expected for true mistakes": (
            "c_fp * alarms + c_fn * misses",
            "np.sum(np.where(labels == 1, (1 - p) * c_fp, p * c_fn))",
            "Once the truth is known, a mistake costs its full price, and a right answer nothing.",
        ),
    }
)


decide.worked(
    why="""Saying 1 costs (1 - p) c_fp on average, saying 0 costs p c_fn: two lines in p that cross at c_fp / (c_fp + c_fn). Above it 1 is
    cheaper. The threshold knows nothing of the data, so all depends on p being right. What came true is counted in whole mistakes, each
    at its own price."""
)


@decide.right("expected costs compared, row by row")
def _(p, y, c_fp, c_fn):
    labels, alarms, misses = [], 0, 0
    for prob, truth in zip(p, y):
        said = int(prob * c_fn > (1 - prob) * c_fp)
        labels.append(said)
        alarms += said > truth
        misses += said < truth
    return (
        labels,
        int(alarms),
        int(misses),
        (c_fp * alarms + c_fn * misses) / len(labels),
    )


@decide.right("by scikit-learn", library="sklearn.metrics.confusion_matrix")
def _(p, y, c_fp, c_fn):
    from sklearn.metrics import confusion_matrix

    labels = p * c_fn > (1 - p) * c_fp
    (_, alarms), (misses, _) = confusion_matrix(y > 0, labels, labels=[False, True])
    return labels, alarms, misses, (c_fp * alarms + c_fn * misses) / len(y)


decide.limit = 10.0  # scikit-learn's first import takes seconds on a busy machine

# ----------------------------------------------------------------------------------- odds_ratios

odds_ratios = Exercise(
    "odds_ratios",
    reference=reference.odds_ratios,
    compare=close(rtol=1e-7, atol=0),
    batched=("X", "w"),
    limit=10.0,  # statsmodels' first import takes seconds on a busy machine
    hints=[
        "Do everything on the scale of the weights: an error for each, the ends of its interval. The odds come last.",
        "The covariance is the inverse of the text's matrix; its diagonal holds squares of the errors. That matrix is a sum over the "
        "rows, as more rows should leave less doubt.",
        "(X.T * (p * (1 - p))) @ X, np.linalg.inv, np.diag, np.sqrt; then np.column_stack([w, w - …, w + …]), and np.exp of "
        "all of it.",
    ],
)


@odds_ratios.cases
def _(rng):
    X, _ = rows(rng, 12, 3)
    yield "several features", dict(X=X, w=away(rng, 3))
    X, _ = rows(rng, 9, 2)
    yield "several features", dict(X=X, w=-away(rng, 2))
    x = rng.normal(size=12)
    X = np.column_stack([np.ones(12), x, x + 0.4 * rng.normal(size=12)])
    yield "features that go together", dict(X=X, w=away(rng, 3))
    yield (
        "an intercept alone",
        dict(X=np.ones((rng.integers(5, 9), 1)), w=rng.normal(size=1)),
    )
    X = rows(rng, 6, 2)[0]
    yield (
        "the same rows three times: narrower",
        dict(X=np.tile(X, (3, 1)), w=away(rng, 2)),
    )
    X = np.column_stack([np.ones(4, int), rng.permutation([-1, 0, 2, 3])])
    yield "whole numbers", dict(X=X, w=rng.permutation([1, -1]))


odds_ratios.mistakes(
    {
        "errors added on the scale of odds": (
            "np.exp(np.column_stack([w, w - 1.96 * error, w + 1.96 * error]))",
            "np.column_stack([np.exp(w), np.exp(w) - 1.96 * error, np.exp(w) + 1.96 * error])",
            "Can your lower end fall below 0? The interval is built for w; the odds come last.",
        ),
        "log-odds for odds": (
            "np.exp(np.column_stack([w, w - 1.96 * error, w + 1.96 * error]))",
            "np.column_stack([w, w - 1.96 * error, w + 1.96 * error])",
            "A weight of 0 changes nothing. Which odds ratio is that?",
        ),
        "variances for errors": (
            "np.sqrt(np.diag(np.linalg.inv(curvature)))",
            "np.diag(np.linalg.inv(curvature))",
            "The diagonal of a covariance holds squares.",
        ),
        "the inverse of the diagonal": (
            "np.diag(np.linalg.inv(curvature))",
            "1 / np.diag(curvature)",
            "Features that go together leave more doubt. Does your error see the entries off the diagonal?",
        ),
        "a mean for the sum": (
            "@ X\n",
            "@ X / len(X)\n",
            "Do more rows of the same kind leave less doubt in yours?",
        ),
        "rows weighed alike": (
            "(X.T * (p * (1 - p)))",
            "X.T",
            "A row with p near 1 says little. Where are its weights p(1 - p)?",
        ),
        "one standard error": (
            "w - 1.96 * error, w + 1.96 * error",
            "w - error, w + error",
            "95 % of a normal distribution lie within how many standard errors, on both sides?",
        ),
        "the ends are swapped": (
            "w - 1.96 * error, w + 1.96 * error",
            "w + 1.96 * error, w - 1.96 * error",
            "The lower end stands in the middle column.",
        ),
    }
)


odds_ratios.worked(
    why="""The log-likelihood bends down around its top; the sharper the bend, the fewer weights fit nearly as well. Its curvature is the sum
    p(1 - p) x xᵀ, and the covariance is the inverse of all of it: inverting the diagonal alone would overlook that features can stand in
    for each other. The normal approximation holds for w, so the interval is built there, and exp carries both ends over."""
)


@odds_ratios.right("by QR")
def _(X, w):
    p = expit(X @ w)
    R = np.linalg.qr(np.sqrt(p * (1 - p))[:, None] * X)[1]
    error = np.linalg.norm(np.linalg.inv(R), axis=1)
    return [
        [math.exp(a), math.exp(a - 1.96 * e), math.exp(a + 1.96 * e)]
        for a, e in zip(w, error)
    ]


@odds_ratios.right("by statsmodels", library="statsmodels.api.Logit")
def _(X, w):
    import statsmodels.api as sm

    model = sm.Logit(np.arange(len(X)) % 2, X)  # the labels play no part
    error = np.sqrt(np.diag(np.linalg.inv(-model.hessian(w))))
    return np.exp(np.column_stack([w, w - 1.96 * error, w + 1.96 * error]))


# ----------------------------------------------------------------------------------- reliability

reliability = Exercise(
    "reliability",
    reference=reference.reliability,
    compare=close(rtol=1e-9, atol=1e-12),
    batched=("p", "y"),
    limit=10.0,  # SciPy's first import on a busy machine
    hints=[
        "First find the bin of each row: with B bins, p = 0.37 belongs to bin floor(0.37 B). Which p would land in a bin that does not exist?",
        "index = floor(p * bins) as integers, at most bins - 1. Then for each bin three numbers of its rows: mean of p, mean of y, how many.",
        "Start from np.zeros((bins, 3)). For b in range(bins): mine = index == b; if mine.any(), fill row b with p[mine].mean() and so on.",
    ],
)


def _in_bins(rng, bins, counts):
    """p in its bin, above the middle, one label 1 in each bin that is not empty."""
    index = np.repeat(np.arange(bins), counts)
    p = (index + rng.uniform(0.6, 0.9, len(index))) / bins
    y = np.zeros(len(p))
    y[np.flatnonzero(np.diff(index, prepend=-1))] = 1
    order = rng.permutation(len(p))
    return dict(p=p[order], y=y[order], bins=bins)


@reliability.cases
def _(rng):
    yield "every bin is filled", _in_bins(rng, 4, [7, 3, 2, 4])
    yield "every bin is filled", _in_bins(rng, 3, [2, 5, 3])
    yield "empty bins are zero", _in_bins(rng, 5, [4, 0, 3, 0, 2])
    p = rng.permutation(np.append(rng.uniform(0.3, 0.34, 5), 0.7))  # far from 0 and 1
    yield (
        "empty bins are zero",
        dict(p=p, y=rng.permutation([0.0, 1, 0, 1, 1, 0]), bins=4),
    )
    yield "a single bin, a single row", _in_bins(rng, 1, [6])
    yield (
        "a single bin, a single row",
        dict(p=rng.uniform(0.6, 0.7, 1), y=np.array([1]), bins=2),
    )
    p = rng.permutation(np.array([0.0, 0.25, 0.5, 0.75, 1.0, 0.1, 0.6]))
    yield (
        "probabilities on the edges",
        dict(p=p, y=rng.permutation([0.0, 1, 0, 1, 1, 0, 0]), bins=4),
    )


reliability.mistakes(
    {
        "the middle of the bin for the mean": (
            "p[mine].mean(), y",
            "(b + 0.5) / bins, y",
            "Rows need not sit in the middle of their bin. What is the mean of their probabilities?",
        ),
        "share of right answers": (
            "y[mine].mean()",
            "((p > 0.5) == (y > 0.5))[mine].mean()",
            "A probability of 0.1 promises a label 1 in one of ten rows. Do you average the labels, or whether the prediction was right?",
        ),
        "the probability 1 is lost": (
            "np.minimum((p * bins).astype(int), bins - 1)",
            "(p * bins).astype(int)",
            "In which bin does p = 1 land? Add up your counts.",
        ),
        "edges belong to the bin below": (
            "np.minimum((p * bins).astype(int), bins - 1)",
            "np.maximum(np.ceil(p * bins).astype(int) - 1, 0)",
            "Bin b starts at b / bins, that edge included. Where does p = 0.25 go with four bins?",
        ),
        "empty bins are not a number": (
            "np.zeros((bins, 3))",
            "np.tile([np.nan, np.nan, 0], (bins, 1))",
            "The mean of no rows is 0 / 0. What does the text put there?",
        ),
        "edges belong to both bins": (
            "index == b",
            "(p >= b / bins) & (p <= (b + 1) / bins)",
            "A row with p on an edge is counted twice. Do your counts add up to the number of rows?",
        ),
        "bins from the lowest to the highest probability": (
            "(p * bins).astype(int)",
            "((p - p.min()) / max(np.ptp(p), 1e-9) * bins).astype(int)",
            "The bins cut [0, 1], not the range of the probabilities that occur.",
        ),
        "empty bins are left out": (
            "return table",
            "return table[table[:, 2] > 0]",
            "Your table has fewer rows than bins. What does the text put for an empty bin?",
        ),
    }
)


reliability.worked(
    why="""The number of the bin is one floor, p = 1 aside, and a mask then finds the rows of each bin. Beginning with zeros answers the empty
    bins before the loop starts. What a calibrated machine promises is that the first two columns agree, as far as the third allows."""
)


@reliability.right("histograms with weights")
def _(p, y, bins):
    count, a, b = (np.histogram(p, bins, (0, 1), weights=v)[0] for v in (None, p, y))
    return np.column_stack([a, b, count]) / np.column_stack(
        [np.maximum(count, 1)] * 2 + [count**0]
    )


@reliability.right("by SciPy", library="scipy.stats.binned_statistic")
def _(p, y, bins):
    from scipy.stats import binned_statistic

    means, _, _ = binned_statistic(p, [p, y], "mean", bins, (0, 1))
    count, _, _ = binned_statistic(p, p, "count", bins, (0, 1))
    return np.column_stack([*np.nan_to_num(means), count])

"""Exercises of 01_regression/05_double_descent."""

import numpy as np
import torch

from descent.compare import close
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
        "b = xmin + gap * np.arange(1, p + 1). Then x[:, None] - b has shape (n, p); what is negative there becomes 0.",
    ],
)


@relu_features.cases
def _(rng):
    low, width = rng.uniform(-3, -1), rng.uniform(2, 5)
    inside = low + width * (np.arange(6) + rng.uniform(0.1, 0.9, 6)) / 6
    rows = dict(x=inside, xmin=low, xmax=low + width)
    yield "knots inside the range, equally spaced", dict(rows, p=3)
    yield "one knot, in the middle", dict(rows, p=1)
    beyond = np.array([low - 1.0, low, low + width, low + 2 * width])
    yield (
        "inputs beyond the range, in any order",
        dict(rows, x=beyond[[2, 0, 3, 1]], p=2),
    )
    whole = rng.permutation(np.arange(-1, 6))
    yield "whole numbers, some exactly on a knot", dict(x=whole, p=3, xmin=0, xmax=4)
    yield "no knots, no columns", dict(rows, x=inside[:3], p=0)


relu_features.mistakes(
    {
        "knots at both ends of the range": (
            "xmin + (xmax - xmin) / (p + 1) * np.arange(1, p + 1)",
            "np.linspace(xmin, xmax, p)",
            "Formula for b_j: is the first knot at xmin, or one gap to the right of it?",
        ),
        "the first knot at xmin": (
            "np.arange(1, p + 1)",
            "np.arange(p)",
            "j runs from 1 to p: knot 1 lies one gap to the right of xmin. Where is yours?",
        ),
        "the range starts at 0": (
            "xmin + (xmax",
            "(xmax",
            "Knots are counted from xmin. What does your function do when xmin is negative?",
        ),
        "the hinge opens to the left": (
            "x[:, None] - knots",
            "knots - x[:, None]",
            "A feature must be 0 to the left of its knot and grow to the right.",
        ),
        "inputs are cut off at the range": (
            "x[:, None]",
            "np.clip(x, xmin, xmax)[:, None]",
            "A hinge goes on rising beyond xmax. What does yours do with an input far to the right?",
        ),
    }
)

relu_features.worked(
    why=r"""The knots are numbers, and so are the inputs: `x[:, None] - knots` subtracts each knot from each input, one row an
    input. `np.maximum` with 0 makes the hinges. The curve that comes of them bends, but the weights enter linearly, so that
    everything known of least squares applies."""
)


@relu_features.right("knots from linspace without its ends")
def _(x, p, xmin, xmax):
    return np.subtract.outer(x, np.linspace(xmin, xmax, p + 2)[1:-1]).clip(min=0)


@relu_features.right("by its activation function", library="torch.nn.functional.relu")
def _(x, p, xmin, xmax):
    knots = torch.linspace(xmin, xmax, p + 2, dtype=torch.float64)[1:-1]
    return torch.nn.functional.relu(torch.tensor(x)[:, None] - knots).numpy()


# ---------------------------------------------------------------- double descent

double_descent = Exercise(
    "double_descent",
    reference=reference.knot_sweep,
    compare=close(rtol=1e-4, atol=1e-8),  # condition numbers up to 10⁶
    batched=("x", "x_new", "y", "y_new"),
    hints=[
        "For one p you need the features of the training inputs, weights fitted to y, and the features of the new inputs. What happens to a free intercept when y and every column have mean 0?",
        "With F the features of x and m the mean of its columns, the weights are the pseudo-inverse of F - m (rcond=1e-12) times y minus its mean. A prediction at features G is the mean of y plus (G - m) times the weights.",
        "The same column means, those of the training rows, serve both errors. In a loop over ps append np.mean of both squared misses, and (p + 1) * np.sum(beta**2); make three arrays of them.",
    ],
)


@double_descent.cases
def _(rng):
    yield "few knots: an ordinary least-squares fit", _sweep(rng, 9, [1, 2, 4])
    yield "no knots: the mean", _sweep(rng, 6, [0])
    at = "at the threshold p = n - 1 the fit goes through every row"
    yield at, _sweep(rng, 6, [4, 5, 6])
    yield "many knots: the least norm, with a free intercept", _sweep(rng, 6, [20, 60])
    any_order = _sweep(rng, 7, [40, 2, 3])
    order = np.roll(np.arange(7)[::-1], rng.integers(7))
    any_order.update(x=any_order["x"][order], y=any_order["y"][order])
    yield "inputs and numbers of knots in any order", any_order
    # The knots 1/16, … stand badly for the grid 0, 1/15, …: condition number about 10⁶.
    fine = _sweep(rng, 16, [15, 16], x=np.linspace(0, 1, 16))
    yield "small singular values count", fine
    left = np.array([0.02, 0.05, 0.08, 0.5, 0.9]) + rng.uniform(-0.01, 0.01, 5)
    crowded = "more weights than rows, but three inputs left of all knots"
    yield crowded, _sweep(rng, 5, [6, 8], x=left)
    twins = _sweep(rng, 6, [5, 30])
    twins["x"][3] = (
        twins["x"][2] + 2.0**-43
    )  # about 10⁻¹³: of no weight beside the largest
    yield "two inputs that are equal but for rounding", twins
    whole = _sweep(rng, 2, [1, 3], x=np.array([0, 1]))
    whole.update(y=rng.permutation([2, 7]), x_new=np.array([1]), y_new=np.array([12]))
    yield "whole numbers, one new row", whole


def _sweep(rng, n, ps, x=None):
    """Noisy rows, mean far from 0; inputs, if not given, near the middles of n equal slots."""
    if x is None:
        x = (np.arange(n) + 0.5 + rng.uniform(-0.1, 0.1, n)) / n
    new = rng.random(5)
    return dict(
        x=x,
        y=3 + np.sin(2 * np.pi * x) + 0.3 * rng.normal(size=n),
        x_new=new,
        y_new=3 + np.sin(2 * np.pi * new) + 0.3 * rng.normal(size=5),
        ps=ps,
    )


double_descent.mistakes(
    {
        "the intercept is part of the norm": (
            "middle = F.mean(axis=0)",
            "middle = F.mean(axis=0)\n"
            "        A, B = (np.column_stack([np.ones(len(H)), H]) for H in (F, G))\n"
            "        w = np.linalg.pinv(A, rcond=1e-12) @ y\n"
            "        train.append(np.mean((A @ w - y) ** 2))\n"
            "        off.append(np.mean((B @ w - y_new) ** 2))\n"
            "        bend.append((p + 1) * np.sum(w[1:] ** 2))\n"
            "        continue",
            "β_0 must be free. With a column of ones in the pseudo-inverse a large β_0 costs something: do the fits change when you add 100 to every y?",
        ),
        "new rows are centred with their own means": (
            "new = y.mean() + (G - middle)",
            "new = y.mean() + (G - G.mean(axis=0))",
            "The model was built with the training rows' column means. Which means must a new row be compared with?",
        ),
        "only y is centred": (
            "middle = F.mean(axis=0)",
            "middle = 0 * F.mean(axis=0)",
            "Centre the columns of the features too: otherwise the intercept is stuck at the mean of y.",
        ),
        "small singular values are cut off": (
            "rcond=1e-12",
            "rcond=1e-5",
            "Only a singular value that is 0 but for rounding may go. Print them for p = n - 1: how small is the smallest that counts?",
        ),
        "NumPy's own limit": (
            "rcond=1e-12",
            "rcond=1e-15",
            "Without rcond NumPy cuts off at 1e-15 of the largest only. What does the text count as 0?",
        ),
        "nothing is cut off": (
            "rcond=1e-12",
            "rcond=1e-20",
            "Centring makes one singular value 0, which comes out as 1e-16. What does its inverse do?",
        ),
        "sums instead of means": (
            "np.mean((fit - y) ** 2)",
            "np.sum((fit - y) ** 2)",
            "The training error of twice as many equal rows is the same. Sum or mean?",
        ),
        "the bending without its factor": (
            "(p + 1) * np.sum",
            "np.sum",
            "Your third result is too small, by a number that depends on p. What stands before the sum in the text?",
        ),
        "the numbers of knots are sorted first": (
            "in ps:",
            "in sorted(ps):",
            "Entry i belongs to ps[i], in the order given.",
        ),
    }
)

double_descent.equivalent(
    {
        "b = np.arange(1, p + 1) / (p + 1) → b = np.arange(1, p + 2) / (p + 1)": "x (n,), y (n,): training rows, inputs in [0, 1] in any order.",
        "beta = np.linalg.pinv(F - middle, rcond=1e-12) @ y → beta = np.linalg.pinv(F - middle, rcond=2e-12) @ y": "Centring leaves a singular value that is 0 but for rounding.",
    }
)

double_descent.worked(
    why=r"""For any slopes the best intercept makes the errors average to zero, so on centred columns it drops out and costs nothing. The
    pseudo-inverse then does three jobs with one rule: least squares where there are too few weights, the only perfect fit where there are
    just enough, and the one of least $\sum\beta_j^2$ where there are too many. A new row is compared with the means that the model was
    built with."""
)


@double_descent.right("scikit-learn's", library="sklearn.linear_model.LinearRegression")
def _(x, y, x_new, y_new, ps):
    from sklearn.linear_model import LinearRegression

    found = []
    for p in ps:
        # A column of zeros does no harm, and LinearRegression wants one where p = 0.
        b = np.append(np.arange(1, p + 1) / (p + 1), 2.0)
        F, G = (np.maximum(0, np.subtract.outer(u, b)) for u in (x, x_new))
        model = LinearRegression(tol=1e-12).fit(F, y)
        misses = model.predict(F) - y, model.predict(G) - y_new
        found.append(
            [*(np.mean(e**2) for e in misses), (p + 1) * np.sum(model.coef_**2)]
        )
    return tuple(np.transpose(found))


# ---------------------------------------------------------------- the walk

walk = Exercise(
    "walk",
    reference=reference.broken_line,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("b", "x", "y"),
    hints=[
        "Stand on the first point with slope 0, and go to the first knot. How high are you there, and where must you be at the second point?",
        "Carry three things along: the height of the last point, the slope on which you left it, and the distance to the knot. They give the height at the knot; the rest of the gap gives the next slope.",
        "height = y[j] + slope * (b[j] - x[j]). The new slope is what is missing to y[j + 1], over the distance from b[j] to x[j + 1]. Append both to lists.",
    ],
)


@walk.cases
def _(rng):
    def points(n):
        x = np.arange(n) + rng.uniform(0, 0.3, n)
        y = rng.uniform(1, 2, n) * np.resize([1.0, -1.0, -1.0], n) + 1.5
        return x, y, x[:-1] + np.diff(x) * rng.uniform(0.3, 0.6, n - 1)

    x, y, b = points(5)
    yield "one knot in each gap", dict(x=x, y=y, b=b)
    x, y, b = points(6)
    yield "points far from 0, and uneven gaps", dict(x=7 + 3 * x, y=y - 20, b=7 + 3 * b)
    x, y, _ = points(5)
    yield "a knot at each point: the broken line", dict(x=x, y=y, b=x[:-1])
    x, y, _ = points(5)
    late = x[:-1] + 0.8 * np.diff(x)
    yield "late knots: errors grow", dict(x=x, y=y, b=late)
    x, y, b = points(2)
    yield "two points", dict(x=x, y=y, b=b)
    y = rng.integers(2, 6) * np.array([1, 3, -2, 4])
    whole = dict(x=np.array([0, 2, 4, 6]), y=y, b=np.array([1, 3, 4]))
    yield "whole numbers", whole


walk.mistakes(
    {
        "the slopes from point to point": (
            "(y[j + 1] - height) / (x[j + 1] - b[j])",
            "(y[j + 1] - y[j]) / (x[j + 1] - x[j])",
            "The curve bends at the knots only. Does yours bend at the points?",
        ),
        "the curve is flat up to each knot": (
            "y[j] + slope * (b[j] - x[j])",
            "y[j] + 0 * slope",
            "Behind a point the curve goes on with the slope that it came with. How high is it at the next knot?",
        ),
        "the rise is counted from the last point": (
            "(y[j + 1] - height)",
            "(y[j + 1] - y[j])",
            "The slope starts at the knot. How much is missing from there?",
        ),
        "the run is counted from the last point": (
            "(x[j + 1] - b[j])",
            "(x[j + 1] - x[j])",
            "The slope starts at the knot. How far is it from there?",
        ),
        "each slope is added to the last": (
            "slope = (",
            "slope += (",
            "You have the slope right of the knot already. Is it a change of slope, or a slope?",
        ),
        "changes of slope": (
            "np.array(slopes)",
            "np.diff(slopes, prepend=0.0)",
            "The slope right of each knot is asked, not by how much it changed there.",
        ),
    }
)

walk.worked(
    why=r"""The system of equations is triangular: left of the first knot everything is known, and each new point adds one knot and
    so one unknown. Walking from left to right solves it, and shows what a solver hides: the error in a slope is multiplied by
    minus (way to the knot) / (way from the knot) in each gap. Late knots make it explode, early ones let it die out."""
)


@walk.right("the changes of slope from a triangular system", library="scipy.linalg")
def _(x, y, b):
    from scipy.linalg import solve_triangular

    beta = solve_triangular(
        np.maximum(0, np.subtract.outer(x[1:], b)), y[1:] - y[0], lower=True
    )
    return y[0] + np.maximum(0, np.subtract.outer(b, b)) @ beta, np.cumsum(beta)


# ---------------------------------------------------------------- what the data cannot see

nullspace_part = Exercise(
    "nullspace_part",
    reference=reference.unseen_part,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("X", "beta"),
    hints=[
        "beta is the sum of two orthogonal parts. One is a combination of the rows of X: which combination lies nearest to beta?",
        "Find the smallest vector v with X v = X beta: it is that combination of rows, and the pseudo-inverse of X finds it. What is left of beta is the answer.",
        "With v = np.linalg.pinv(X) @ (X @ beta), subtract. Test it: X times your answer must be 0.",
    ],
)


@nullspace_part.cases
def _(rng):
    X = rng.normal(size=(3, 6))
    yield "more weights than rows", dict(beta=rng.normal(size=6), X=X)
    combined = X.T @ rng.uniform(0.5, 2, 3)
    yield "a combination of the rows has no such part", dict(beta=combined, X=X)
    tall = rng.normal(size=(7, 3))
    enough = "enough independent rows: nothing is unseen"
    yield enough, dict(beta=rng.normal(size=3), X=tall)
    twice = np.vstack([X[:2], X[0] + X[1], X[1]])
    yield "repeated and dependent rows", dict(beta=rng.normal(size=6), X=twice)
    few = rng.normal(size=(2, 4))  # five rows, four weights, but only two directions
    many = np.vstack([few, few[0] + few[1], few[1], -few[0]])
    yield "repeated and dependent rows", dict(beta=rng.normal(size=4), X=many)
    yield "rows of zeros see nothing", dict(beta=rng.normal(size=4), X=np.zeros((2, 4)))
    yield "a single row", dict(beta=rng.normal(size=3), X=rng.uniform(1, 2, (1, 3)))


nullspace_part.mistakes(
    {
        "the other part": (
            "beta - np",
            "np",
            "Multiply X with your answer. The part that the data cannot see must give 0.",
        ),
        "forgets to invert": (
            "np.linalg.pinv(X)",
            "X.T",
            "X.T @ X is no projection unless the rows are orthonormal. Apply your function twice: does anything change?",
        ),
        "the rows are normalised but not orthogonal": (
            "np.linalg.pinv(X) @ (X @ beta)",
            "(X / np.maximum(1e-300, np.sum(X**2, axis=1, keepdims=True))).T @ (X @ beta)",
            "Subtracting one row's share after the other is right only for orthogonal rows.",
        ),
        "zero whenever there are enough rows": (
            "return beta",
            "return 0 * beta if len(X) >= len(beta) else beta",
            "Rows may repeat. It is their rank, not their number, that decides what is unseen.",
        ),
        "takes every row for a new direction": (
            "beta - np.linalg.pinv(X) @ (X @ beta)",
            "np.linalg.svd(X)[2][len(X) :].T @ (np.linalg.svd(X)[2][len(X) :] @ beta)",
            "The right singular vectors after the first n are unseen, but there may be more: how many singular values are 0?",
        ),
    }
)

nullspace_part.worked(
    why=r"""$X^+(X\beta)$ is the smallest vector that makes the same predictions as $\beta$, and the smallest one has no part that
    the rows do not see: it is the projection onto the span of the rows. What is left is the projection onto the null space. Since the
    pseudo-inverse goes by the rank of $X$, repeated rows and more rows than weights need no special care."""
)


@nullspace_part.right("least squares for the combination of rows")
def _(beta, X):
    combination = np.linalg.lstsq(X.T, beta, rcond=1e-10)[0]
    return beta - combination @ X


@nullspace_part.right("by an orthonormal basis", library="scipy.linalg.null_space")
def _(beta, X):
    from scipy.linalg import null_space

    basis = null_space(X, rcond=1e-10)
    return basis @ (basis.T @ beta)


# ---------------------------------------------------------------- descent

descend = Exercise(
    "descend",
    reference=reference.descent,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="the path ends where the error is small",
    hints=[
        "What must be known before a step is made: where you are, how wrong you are there, and whether that is small enough?",
        "In a loop over at most `most` steps: residuals first, then the test with their mean square, and only then the step. Return from inside the loop where the test is met.",
        "eta = 1 / np.linalg.norm(X, 2) ** 2 once, before the loop. Each time: e = y - X @ beta; if np.mean(e**2) <= tol, return; else move by eta * X.T @ e and add the norm of the move to the length.",
    ],
)


@descend.cases
def _(rng):
    def case(n, d, tol, most, far=0.0):
        # singular values from 1.5 down to 0.75: an error falls to at least a quarter in 3 steps
        k = min(n, d)
        U, V = (np.linalg.qr(rng.normal(size=(m, m)))[0][:, :k] for m in (n, d))
        y = rng.uniform(1, 2, n) * rng.choice([-1.0, 1.0], n)
        X = U * np.linspace(1.5, 0.75, k) @ V.T
        return dict(X=X, y=y, start=far * rng.normal(size=d), tol=tol, most=most)

    yield "from zero, until the error is small", case(4, 7, 1e-3, 500)
    yield "from another start", case(3, 6, 1e-4, 500, far=2.0)
    yield "the steps run out", case(6, 3, 1e-9, 7, far=1.0)
    # the second row cannot be met: after one step the mean of e² is exactly 2
    a, scale = float(rng.integers(3, 9)), float(rng.choice([2.0, 4.0]))
    y = np.array([a, 2.0])
    once = dict(X=np.array([[scale], [0.0]]), y=y, start=np.zeros(1), most=5)
    yield "an error of exactly tol is small enough", dict(once, tol=2.0)
    yield "an error of exactly tol is small enough", dict(once, tol=a**2 / 2 + 2)
    rows = dict(X=np.array([[scale], [0.0], [0.0], [0.0]]), y=np.array([a, 2, 2, 2]))
    yield "rows that no weight can meet", dict(rows, start=np.zeros(1), tol=5.0, most=5)
    there = case(3, 5, 1e-6, 9)
    there["start"] = np.linalg.pinv(there["X"]) @ there["y"]
    yield "a start that is good enough is kept", there
    yield "no step allowed", case(3, 4, 1e-3, 0, far=1.0)
    whole = dict(X=np.array([[2, 0], [1, 1], [0, 3]]), y=rng.integers(5, 9, 3))
    yield "whole numbers", dict(whole, start=rng.permutation([5, -2]), tol=0, most=3)
    one = dict(X=np.array([[scale]]), y=np.array([a]), start=np.array([-a]))
    yield "a single weight needs one step", dict(one, tol=0.0, most=9)


descend.mistakes(
    {
        "the sum of the squares, not the mean": (
            "np.mean(e**2)",
            "np.sum(e**2)",
            "With twice as many rows of the same errors, you go on longer. Sum or mean?",
        ),
        "an error of exactly tol is too large": (
            "<= tol",
            "< tol",
            "At most tol: is tol itself small enough?",
        ),
        "the step is 1 / s": (
            "np.linalg.norm(X, 2) ** 2",
            "np.linalg.norm(X, 2)",
            "Multiply X by 10. By what must the step size change?",
        ),
        "the Frobenius norm": (
            "np.linalg.norm(X, 2)",
            "np.linalg.norm(X)",
            "np.linalg.norm(X) adds the squares of all entries. Which one gives the largest singular value?",
        ),
        "always from zero": (
            "beta, length = start, 0.0",
            "beta, length = 0.0 * start, 0.0",
            "Where does the walk begin?",
        ),
        "the distance from the start": (
            "length += np.linalg.norm(step)",
            "length = np.linalg.norm(beta - start)",
            "A path that bends is longer than the straight way. Add up the steps.",
        ),
        "a step too many is counted": (
            "return beta, steps, length",
            "return beta, steps + 1, length",
            "How many steps have been made when the start itself is good enough?",
        ),
    }
)

descend.worked(
    why=r"""Every step is $\eta\sum_i e_i \mathbf x_i$, a combination of the rows, so a start at zero stays in their span, and the
    null-space part of any other start is never touched. Asking before each step makes a good start cost no step. With $\eta = 1/s_1^2$ each
    step multiplies the residual by $1 - s^2/s_1^2$ along each singular direction: it never grows, and falls slowly where $s$ is small."""
)


@descend.right("direction by direction, from one SVD")
def _(X, y, start, tol, most):
    U, s, Vt = np.linalg.svd(X)
    rates, e = np.zeros(len(y)), U.T @ (y - X @ start)
    rates[: len(s)] = (s / s[0]) ** 2
    beta, length, made = np.array(start, float), 0.0, 0
    while made < most and np.mean(e**2) > tol:
        step = Vt[: len(s)].T @ (s * e[: len(s)]) / s[0] ** 2
        beta, length, made = beta + step, length + np.sqrt(step @ step), made + 1
        e = (1 - rates) * e
    return beta, made, length


@descend.right("by its optimiser", library="torch.optim.SGD")
def _(X, y, start, tol, most):
    A, t = torch.tensor(X, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
    beta = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD(
        [beta], lr=1 / torch.linalg.matrix_norm(A, 2).item() ** 2
    )
    length = 0.0
    for made in range(most + 1):
        e = t - A @ beta
        if made == most or e.square().mean() <= tol:
            return beta.detach().numpy(), made, length
        optimiser.zero_grad()
        (e.square().sum() / 2).backward()
        before = beta.detach().clone()
        optimiser.step()
        length += (beta.detach() - before).norm().item()


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
    batched=("b", "beta", "x"),
    hints=[
        "A Linear layer computes z Wᵀ + bias. Which W and which bias turn one number x into x - b_1, …, x - b_p?",
        "First layer: weight of shape (p, 1), all ones, bias -b. Second layer: weight of shape (1, p) holding the changes of slope, bias β_0.",
        "Inside torch.no_grad() fill or copy into net[0].weight, net[0].bias, net[2].weight and net[2].bias; torch.as_tensor takes NumPy arrays.",
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
    falling = np.sort(rng.uniform(1, 3, 4))[::-1]  # so the curve never falls
    beta = falling * np.array([1, -1, 1, -1])
    start = float(rng.uniform(0.5, 3))
    curve = dict(beta0=start, beta=beta, b=b)
    x = np.linspace(-0.2, 1.4, 9)
    yield "equal to the spline", dict(curve, x=x)
    below = dict(curve, beta0=-start, beta=-beta, x=x)
    yield "a curve below 0", below
    flat = np.array([-2.0, -1.0, 0.05])
    yield "flat to the left of the first knot", dict(curve, x=flat)
    right = np.array([2.0, 3.0, 4.0])
    yield "a straight line beyond the last knot", dict(curve, x=right)
    yield "a single knot", dict(curve, beta=beta[:1], b=b[:1], x=x)
    yield "all slopes zero", dict(curve, beta=np.zeros(3), b=b[:3], x=x)


to_torch_net.mistakes(
    {
        "the bias is + b_j": (
            "torch.as_tensor(-b)",
            "torch.as_tensor(b)",
            "A hinge opens where w x + bias = 0. Where does yours open?",
        ),
        "the slopes go into the first layer": (
            "net[0].weight.fill_(1)",
            "b = b * beta\n        net[0].weight.copy_(torch.as_tensor(beta)[:, None])\n"
            "        beta = np.ones(p)",
            "max(0, β (x - b)) is β max(0, x - b) only for β >= 0. Try a negative change of slope.",
        ),
        "the intercept is left out": (
            "net[2].bias.fill_(beta0)",
            "net[2].bias.fill_(0)",
            "What does the network say to the left of all knots?",
        ),
        "no activation between the layers": (
            "torch.nn.ReLU()",
            "torch.nn.Identity()",
            "Two linear layers in a row are one straight line. What stands between them?",
        ),
        "an activation after the last layer": (
            "linear(p, 1))",
            "linear(p, 1), torch.nn.ReLU())",
            "A spline may be negative. Can your network say −1?",
        ),
        "slopes of the pieces instead of changes of slope": (
            "torch.as_tensor(beta)[None]",
            "torch.as_tensor(np.cumsum(beta))[None]",
            "The second layer needs β_j itself, the change of slope at knot j; do not add them up.",
        ),
    }
)

to_torch_net.worked(
    why=r"""A hinge is a unit of a hidden layer whose weight is 1 and whose bias is $-b_j$; the output layer is the weighted sum, its bias
    the intercept. Writing into the parameters inside `torch.no_grad()` keeps them parameters, so that training could go on
    from here, with knots that move. Since a ReLU scales, a first layer of twos and halved slopes would be the same
    function."""
)


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


# ---------------------------------------------------------------- what noise costs

noise_cost = Exercise(
    "noise_cost",
    reference=reference.tail_cost,
    compare=close(rtol=1e-6),
    batched=("eigs",),
    hints=[
        "First put the eigenvalues in order, the largest first. For each k, which of them are the tail?",
        "The tail of k is everything after the first k: in Python, eigs[k:], and its first entry is λ_{k+1}. Go through k = 0, 1, … and stop at the first whose tail is long enough.",
        "r_k >= n without a division: tail.sum() >= n * tail[0]. Then R = tail.sum()**2 / np.sum(tail**2), and k / n + n / R is the cost.",
    ],
)


@noise_cost.cases
def _(rng):
    def flat(strong, size, value):
        large = np.sort(rng.uniform(20, 40, strong))[::-1]
        return np.concatenate([large, np.full(size, value)])

    tail = rng.uniform(0.8, 1.0, 9)
    yield (
        "a few strong directions, then a tail",
        dict(eigs=np.sort(np.append(rng.uniform(20, 40, 2), tail))[::-1].copy(), n=5),
    )
    yield (
        "in any order",
        dict(eigs=rng.permutation(np.append(rng.uniform(20, 40, 3), tail)), n=4),
    )
    step = float(2.0 ** rng.integers(-3, 4))  # powers of two: sums are exact
    exact = "a tail of exactly n equal directions is long enough"
    for n in rng.choice(np.arange(6, 12), 2, replace=False):
        yield exact, dict(eigs=flat(rng.integers(1, 4), n, step), n=int(n))
    equal = rng.integers(4, 12)
    yield "all directions equal", dict(eigs=np.full(equal, step), n=3)
    fast = rng.uniform(2, 3) * rng.uniform(0.3, 0.45) ** np.arange(rng.integers(5, 9))
    mixed = np.roll(fast[::-1], 2)  # the second largest comes first
    yield "too fast a decay: no such k", dict(eigs=mixed, n=3)
    zeros = np.concatenate([fast[:3], np.zeros(rng.integers(2, 7))])
    none = "directions without variance count for nothing"
    yield none, dict(eigs=zeros, n=2)
    yield none, dict(eigs=np.zeros(3), n=1)
    few = flat(rng.integers(1, 4), rng.integers(5, 9), step / 8)
    yield none, dict(eigs=np.concatenate([[0.0], few, [0.0]]), n=4)
    yield "one row: the first k will do", dict(eigs=fast[[2, 0, 1]], n=1)
    whole = rng.integers(1, 9) * np.array([1, 8, 2] + [1] * rng.integers(4, 9))
    yield "whole numbers", dict(eigs=whole, n=3)


noise_cost.mistakes(
    {
        "the eigenvalues are not sorted": (
            "np.sort(eigs)[::-1]",
            "eigs",
            "λ_1 is the largest. What if the array comes in another order?",
        ),
        "a tail of exactly n is too short": (
            ">= n * tail[0]",
            "> n * tail[0]",
            "r_k >= n: is n itself enough?",
        ),
        "divided by the largest eigenvalue of all": (
            "n * tail[0]",
            "n * eigs[0]",
            "r_k compares the tail with its own first entry, λ_{k+1}.",
        ),
        "r in place of R": (
            "tail.sum() ** 2 / np.sum(tail**2)",
            "tail.sum() / tail[0]",
            "The cost has R_k, which divides by the squares. For a flat tail both are the same, else not.",
        ),
        "R is turned over": (
            "k / n + n / R",
            "k / n + R / n",
            "A longer tail must make the noise cheaper. Does it?",
        ),
        "zeros make a tail": (
            "tail[0] > 0 and ",
            "",
            "A tail of zeros has nothing to share out. The text asks for λ_{k+1} > 0.",
        ),
    }
)

noise_cost.worked(
    why=r"""$r_k$ asks whether the tail beyond $k$ is long enough to hold the noise of $n$ rows, and the least such $k$ leaves as few strong
    directions as possible to be misled: they cost $k^*/n$. The tail acts like ridge; spread over $R$ directions, the noise in it costs
    $n/R$. Comparing $\sum_{i>k}\lambda_i$ with $n\lambda_{k+1}$ avoids a division by zero."""
)


@noise_cost.right("all tails at once, by running sums")
def _(eigs, n):
    eigs = np.sort(np.asarray(eigs, float))
    sums, squares = np.cumsum(eigs)[::-1], np.cumsum(eigs**2)[::-1]
    long = np.flatnonzero((eigs[::-1] > 0) & (sums >= n * eigs[::-1]))
    if len(long) == 0:
        return len(eigs), float("inf")
    k = long[0]
    return k, k / n + n * squares[k] / sums[k] ** 2


# ---------------------------------------------------------------- epicycles

epicycle_fit = Exercise(
    "epicycle_fit",
    reference=reference.low_frequencies,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("points",),
    hints=[
        "Put the points into one complex array z = x + iy. The circles e^{2πikj/m} with different k are orthogonal: each can be fitted alone.",
        "c_k is the mean over j of z_j e^{-2πikj/m}, for the first N of k = 0, 1, -1, 2, -2, …. The curve is the sum of c_k e^{2πikj/m}.",
        "For one k: turn = np.exp(2j * np.pi * k * np.arange(m) / m), add np.mean(z / turn) * turn. Number i of the list is k = (i + 1) // 2 for odd i, -(i // 2) for even i. Real and imaginary parts are the two columns.",
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
    yield "whole numbers", dict(points=rng.integers(-9, 9, (5, 2)), N=3)


def _outline(rng, m, fast=0.0):
    """Random points and a circle of radius `fast` that turns three times."""
    turn = 2 * np.pi * 3 * np.arange(m) / m
    circle = fast * np.column_stack([np.cos(turn), np.sin(turn)])
    return rng.normal(size=(m, 2)) + np.array([3.0, -1.0]) + circle


epicycle_fit.mistakes(
    {
        "only circles that turn one way": (
            "(i + 1) // 2\n        if i % 2 == 0:",
            "i\n        if False:",
            "Frequencies come in pairs: 0, 1, -1, 2, -2, …. Which ones did you take?",
        ),
        "coefficients are sums, not means": (
            "np.mean(z / turn)",
            "np.sum(z / turn)",
            "With one circle the curve must stay at the centre of the points. Does it?",
        ),
        "the wrong sign in the exponent": (
            "z / turn",
            "z * turn",
            "The coefficient undoes the rotation: its exponent has the opposite sign of the circle's.",
        ),
        "negative frequencies first": (
            "if i % 2 == 0",
            "if i % 2 == 1",
            "After 0 comes 1, then -1. It matters when N is even.",
        ),
        "the largest circles instead of the slowest": (
            "return np",
            "c = np.fft.fft(z)\n    c[np.argsort(-np.abs(c))[N:]] = 0\n    curve = np.fft.ifft(c)\n    return np",
            "The first N frequencies count, however large their coefficients are.",
        ),
    }
)

epicycle_fit.equivalent(
    {
        "turn = np.exp(2j * np.pi * k * np.arange(m) / m) → turn = -np.exp(2j * np.pi * k * np.arange(m) / m)": "The closed curve of N circles nearest to the points, at the points' own times."
    }
)

epicycle_fit.worked(
    why=r"""At equal times the circles are orthogonal: the mean of $e^{2\pi i (k - l) j/m}$ over $j$ is 0 for $k \ne l$. So each
    coefficient is a mean of its own, no system has to be solved, and one circle more never changes the others: the error cannot
    rise. With $N = m$ they span everything."""
)


@epicycle_fit.right("by the fast Fourier transform", library="numpy.fft")
def _(points, N):
    c = np.fft.fft(points @ np.array([1, 1j]))
    kept = np.zeros_like(c)
    for i in range(N):
        k = (i + 1) // 2 * (1 if i % 2 else -1)
        kept[k] = c[k]
    curve = np.fft.ifft(kept)
    return np.column_stack([curve.real, curve.imag])

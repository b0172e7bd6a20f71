"""Exercises of 03_optimisation/01_gradient_descent."""

import math
from functools import partial

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

ZERO = np.zeros(2)
# curvatures 1.4 and 3.6, and 1, 2 and 4, none of them along an axis
BOWL = np.array([[2.0, 1.0], [1.0, 3.0]])
BOWL3 = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])


# What decides a case is planted, so that a mistake breaks the same properties for every
# seed; signs and a twentieth of each length are drawn, so that nobody knows the result.
def near(rng, *v):
    """That vector, each coordinate up to a twentieth longer or shorter."""
    return np.array(v) * rng.uniform(0.95, 1.05, len(v))


def flip(rng, *v):
    """The same with drawn signs."""
    return near(rng, *v) * rng.choice([-1.0, 1.0], len(v))


def whole(rng):
    """Two whole numbers, neither of them 0."""
    return rng.choice([-3, -2, 2, 3], 2)


# Mistakes of every walk: what stands in the solution, what in its place, and the advice.
UPHILL = "Which way does the gradient point: to where f grows, or to where it falls?"
SLOPE = "The slope changes on the way. Where do you ask for it in the second step?"
START = (
    "np.array(path)",
    "np.array(path[1:]).reshape(-1, len(x0))",
    "The path begins with x0: k steps make k + 1 rows.",
)
WHOLE = (
    "np.array(path)",
    "np.array(path, np.asarray(x0).dtype)",
    "x0 may hold whole numbers; the path does not. Which kind does your array keep?",
)
FEWER = "max_steps counts steps, not rows: k steps make k + 1 rows."
SQUARE = "Is it the norm, or its square, that has to reach tol?"
LARGEST = "tol is for the length of the gradient. How long is (0.9, 0.9, 0.9) tol?"
EXACTLY = "With tol = 0 a stationary start stops at once: at most, or less than, tol?"
IGNORED = "When the gradient is small, the path ends early. Where is tol in your loop?"


# ---------------------------------------------------------------------------------- best_direction

best_direction = Exercise(
    "best_direction",
    reference=reference.best_direction,
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "Nothing is known but f. For each angle: where does the step end, and how high is it there?",
        "Go through the angles in order with two names: the lowest value so far and the direction that it belongs to. "
        "Start with a value that everything beats.",
        "The direction of angle a is an array of its cosine and sine; compare f at x plus eta times it with the lowest value; "
        "where it is smaller, keep both. Return the direction that was kept.",
    ],
)


@best_direction.probe
def _(answer, H, c, x, eta, n_angles):
    return answer(
        lambda z: 0.5 * (np.asarray(z) - c) @ H @ (np.asarray(z) - c), x, eta, n_angles
    )


def search(x, *, h=(1.0, 9.0), eta=1.0, n_angles=12):
    """On f(z) = ½ (h₁ z₁² + h₂ z₂²)."""
    return dict(H=np.diag(h), c=ZERO, x=x, eta=eta, n_angles=n_angles)


@best_direction.cases
def _(rng):
    # the best way lies in the lower half circle, to the left or to the right
    side = rng.choice([-1.0, 1.0])
    x = near(rng, 2 * side, 0.5)
    yield "a short step goes straight down", search(x, eta=1e-3, n_angles=45)
    yield "a long step knows better", search(2 * x, h=(0.2, 9.0), eta=3.0, n_angles=90)
    # four ends: two of them are equal to the last digit, and so are the other two
    eta = float(rng.uniform(1.5, 2))
    for h in rng.permutation([[0.0, -1.0], [-1.0, 0.0]]):
        yield "of equally good ones the first", search(ZERO, h=h, eta=eta, n_angles=4)
    h = rng.permutation([9.0, 1.0])
    yield "near the bottom every way is up", search(near(rng, 0.02, 0.02), h=h)
    yield "high up, where f is huge", search(1e6 * x, eta=9.0)
    yield "one angle is no choice", search(x, n_angles=1)
    far = near(rng, 1.8 * side, -2.4)
    yield "down from the top", search(far, h=(-1.0, -1.0), eta=0.5, n_angles=6)


KEEP = "best, lowest = way, value"
best_direction.mistakes(
    {
        "only what is lower than f(x)": (
            "None, math.inf",
            "np.array([1.0, 0.0]), f(x)",
            "At the bottom of a valley every way is up. Which is then the lowest end?",
        ),
        "the steepest way up": (
            "value < lowest:",
            "best is None or value > lowest:",
            "You keep the highest end. Which is asked for?",
        ),
        "clockwise": ("2 * math.pi", "-2 * math.pi", "In which order do you turn?"),
        "the last of equals": ("<", "<=", "Of two equals, which do you keep?"),
        "the end point in place of the direction": (
            KEEP,
            "best, lowest = x + eta * way, value",
            "The direction has length 1 and says nothing of where you stand.",
        ),
        "the step in place of the direction": (
            KEEP,
            "best, lowest = eta * way, value",
            "How long is what you return? The direction has length 1.",
        ),
        "the lowest value starts at 0": (
            "None, math.inf",
            "np.array([1.0, 0.0]), 0.0",
            "Your search starts from a value that f may never get below. Try f(x) + 5.",
        ),
        "half a circle": ("2 * math.pi", "math.pi", "How many degrees is your last?"),
        "the full circle counted twice": (
            "number / n_angles",
            "number / max(1, n_angles - 1)",
            "Angle 0 and angle 2π are one direction: which one is left out for it?",
        ),
        "the step length is forgotten": ("eta * way", "way", "How long is your step?"),
        "sine first": (
            "[math.cos(angle), math.sin(angle)]",
            "[math.sin(angle), math.cos(angle)]",
            "Angle 0 is the first axis. Which of sine and cosine is 1 there?",
        ),
        "the first one tried": (KEEP, "return way", "Are the others no better?"),
    }
)


best_direction.worked(
    why=r"""Two names carry everything that the search has learnt: the lowest value so far, and the direction that it belongs to.
    A start at infinity lets the first direction win, whatever f is worth, and a strict `<` keeps the first of equals.
    The search asks f once per direction. That is cheap in two dimensions and hopeless in thirty: $n$ values for each of 29
    angles are $n^{29}$ tries. For a short step the gradient finds this direction in one look."""
)


@best_direction.right("all ends at once, then argmin")
def _(f, x, eta, n_angles):
    angles = np.arange(n_angles) * (2 * np.pi / n_angles)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return ways[np.argmin([f(x + eta * way) for way in ways])]


@best_direction.right("min over complex numbers")
def _(f, x, eta, n_angles):
    import cmath

    turns = [cmath.exp(2j * math.pi * k / n_angles) for k in range(n_angles)]
    best = min(turns, key=lambda z: f([x[0] + eta * z.real, x[1] + eta * z.imag]))
    return [best.real, best.imag]


# ---------------------------------------------------------------------------------------------- gd

gd = Exercise(
    "gd",
    reference=reference.gd_until,
    # the reference takes powers of eigenvalues, the loop multiplies
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="the path ends where the gradient is small",
    hints=[
        "Keep a list that starts with x0. What must be known at the last point before the next can be made?",
        "The last point is all that a step needs. Ask its gradient once, use it for two things: to decide whether to "
        "stop, and to step. Which comes first?",
        "In a loop of at most max_steps rounds: the gradient at path[-1]; leave the loop if its norm is at most tol; "
        "append the last point minus t times the gradient. At the end make an array of the list.",
    ],
)


@gd.probe
def _(answer, H, c, x0, t, max_steps, tol):
    return answer(lambda x: H @ (np.asarray(x) - c), x0, t, max_steps, tol)


def walk(x0, *, H=BOWL, c=None, t=0.2, max_steps=4, tol=0.0):
    c = np.zeros(len(x0)) if c is None else c
    return dict(H=H, c=c, x0=x0, t=t, max_steps=max_steps, tol=tol)


@gd.cases
def _(rng):
    x, c = flip(rng, 1.2, 1.6), rng.normal(size=2)
    yield "each step goes against the gradient", walk(x, c=c)
    y = flip(rng, 0.9, 1.2, 1.5)
    yield "each step goes against the gradient", walk(y, H=BOWL3, t=0.3)
    yield "stops when the gradient is small", walk(c + x, c=c, max_steps=90, tol=0.01)
    # three coordinates of one size: the norm is neither the largest nor their sum
    y = flip(rng, 1.0, 1.0, 1.0)
    small = walk(y, H=np.eye(3), max_steps=60, tol=0.05)
    yield "stops when the gradient is small", small
    yield "whole numbers to start from", walk(whole(rng), t=0.15)
    yield "no more than max_steps", walk(x, t=0.05, max_steps=2, tol=0.01)
    yield "no step at all", walk(x, max_steps=0)
    yield "a stationary start stays where it is", walk(c, c=c)
    yield "too long a step diverges", walk(x, t=0.7, max_steps=5, tol=1e-3)


gd.mistakes(
    {
        "steps uphill": ("- t * g", "+ t * g", UPHILL),
        "whole numbers cut off": WHOLE,
        "the start is missing": START,
        "every row is the last point": (
            "np.array(path)",
            "np.array([path[-1]] * len(path))",
            "`x -= …` changes the array that your list holds. Is path[0] still x0?",
        ),
        "one gradient for all steps": ("grad(path[-1])", "grad(x0)", SLOPE),
        "steps of length t": (
            "t * g)",
            "t * g / np.linalg.norm(g))",
            "How long should a step be where the slope is small? Shorter than elsewhere.",
        ),
        "tol for the squared norm": ("np.linalg.norm(g)", "g @ g", SQUARE),
        "tol for the largest entry": ("np.linalg.norm(g)", "np.abs(g).max()", LARGEST),
        "tol for the step": (
            "np.linalg.norm(g)",
            "np.linalg.norm(t * g)",
            "Small is asked of the gradient, not of the change of x.",
        ),
        "a gradient that is exactly tol does not stop": ("<= tol", "< tol", EXACTLY),
        "tol is never looked at": ("np.linalg.norm(g) <= tol", "False", IGNORED),
        "one step too few": ("range(max_steps)", "range(max_steps - 1)", FEWER),
        "one step after the gradient is small": (
            "break",
            "return np.array([*path, path[-1] - t * g])",
            "Test before you step: a start that is good enough gives one row.",
        ),
    }
)


gd.worked(
    why=r"""Each step needs the newest point and nothing else, so the path is the memory and the loop. The gradient is asked once
    a step, and first tested, then used: a start that is good enough gives a path of one row. `path[-1] - t * g` makes
    a new array. With `x -= t * g` every row of the path would be the same array, and x0 would change with it."""
)


@gd.right("rows of one array, a while loop")
def _(grad, x0, t, max_steps, tol=0.0):
    path = np.empty((max_steps + 1, len(x0)))
    path[0], k = x0, 0
    while k < max_steps and math.hypot(*grad(path[k])) > tol:
        path[k + 1] = path[k] - t * grad(path[k])
        k += 1
    return path[: k + 1]


@gd.right("by torch's optimiser", library="torch.optim.SGD")
def _(grad, x0, t, max_steps, tol=0.0):
    x = torch.tensor(x0, dtype=torch.float64)
    optimiser = torch.optim.SGD([x], lr=t)
    path = [x.numpy().copy()]
    for _ in range(max_steps):
        x.grad = torch.as_tensor(grad(path[-1]), dtype=torch.float64)
        if x.grad.norm() <= tol:
            break
        optimiser.step()
        path.append(x.numpy().copy())
    return np.array(path)


@gd.right("a list of lists")
def _(grad, x0, t, max_steps, tol=0.0):
    path = [[float(v) for v in x0]]
    for _ in range(max_steps):
        g = [float(v) for v in grad(path[-1])]
        if math.sqrt(sum(v * v for v in g)) <= tol:
            break
        path.append([v - t * w for v, w in zip(path[-1], g, strict=True)])
    return path


# ----------------------------------------------------------------------------------------- descend

descend = Exercise(
    "descend",
    reference=reference.descend,
    # an accepted step depends on a comparison: no tie is near but the one that is planned
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="how often a step shrinks and where the path ends depend on f",
    hints=[
        "Two loops, one in the other: the outer one makes steps, the inner one finds how long this step may be.",
        "Outer: the gradient at x; leave if it is small. Inner: while f at the trial point is above f(x) minus t/2 times "
        "the squared norm of g, t becomes beta t. Then step, note the point and t, and make t bolder for the next round.",
        "Before the loops: x = a copy of x0, t = t0, a list with x, an empty list. Keep t from round to round: after the "
        "step, t / beta is the next first try. Count the steps by the length of the second list.",
    ],
)


@descend.probe
def _(answer, H, q, x0, t0, beta, tol, max_steps):
    return answer(
        lambda z: 0.5 * z @ H @ z + 0.25 * (q * z**4).sum(),
        lambda z: H @ z + q * z**3,
        x0,
        t0,
        beta,
        tol,
        max_steps,
    )


def hike(x0, t0, *, H=BOWL, q=None, beta=0.5, tol=0.0, max_steps=1):
    q = np.zeros(len(x0)) if q is None else q
    return dict(H=H, q=q, x0=x0, t0=t0, beta=beta, tol=tol, max_steps=max_steps)


@descend.cases
def _(rng):
    x, one = flip(rng, 1.2, 1.6), np.eye(2)
    yield "a good first try is taken", hike(x, 0.13)
    # on curvature 2 the test reads t ≤ ½: 0.8 lowers f, but by too little
    enough = hike(4 * x, 0.8, H=2 * one, beta=0.7, max_steps=2)
    yield "f must fall by enough, not only fall", enough
    yield "a wild first try shrinks until it fits", hike(x, 10.0, H=3 * BOWL, beta=0.6)
    steep = 1e6 * np.diag([1.0, 1.0, 7.0])
    wild = hike(flip(rng, 1.0, 1.0, 1.0), 3.0, H=steep)
    yield "a wild first try shrinks until it fits", wild
    # steep far out, flat near the minimum: the steps have to grow on the way
    q = near(rng, 1.5, 1.5)
    bold = hike(2 * x, 0.9, H=one, q=q, beta=0.55, max_steps=4)
    yield "bolder after each step", bold
    yield "bolder after each step", hike(x, 0.01, max_steps=5)
    # three coordinates of one size: the norm is neither the largest nor their sum
    y = flip(rng, 1.0, 1.0, 1.0)
    small = hike(y, 0.1, H=np.eye(3), beta=0.9, tol=0.05, max_steps=200)
    yield "stops when the gradient is small", small
    # at t = ½ f(x − t g) is f(x) − t/2 ‖g‖², to the last digit
    start = np.array([float(rng.choice([-2, -1, 1, 2]))])
    yield "exactly enough is enough", hike(start, 2.0, H=2 * np.eye(1), max_steps=3)
    yield "whole numbers to start from", hike(whole(rng), 0.1, max_steps=2)
    budget = hike(3 * x, 0.02, beta=0.9, tol=1e-3, max_steps=3)
    yield "no more than max_steps", budget
    yield "no step at all", hike(x, 0.3, tol=0.1, max_steps=0)
    flat = hike(flip(rng, 1.0, 0.0), 0.7, H=np.diag([0.0, 4.0]), max_steps=5)
    yield "a stationary start stays where it is", flat
    yield "where f curves down every step passes", hike(x, 5.0, H=-one, max_steps=2)


descend.mistakes(
    {
        "steps uphill": ("x = x - t * g", "x = x + t * g", UPHILL),
        "whole numbers cut off": WHOLE,
        "the start is missing": START,
        "exactly enough fails": (" > f(x)", " >= f(x)", "Try the docstring's example."),
        "any decrease is accepted": (
            "f(x) - t / 2 * slope:",
            "f(x):",
            "f went down, but by how much? Compare with half of what the plane promises.",
        ),
        "shrinks once only": ("while f(", "if f(", "And if it fails again?"),
        "gives up after ten tries": (
            "while f(",
            "first = t\n        while t > first * beta**10 and f(",
            "A wild first try may need many more. Does your search end too early?",
        ),
        "the norm is not squared": (
            "2 * slope",
            "2 * math.sqrt(slope)",
            "Of the promised fall one gradient is the slope, one is in the step.",
        ),
        "asks for the whole first-order decrease": (
            "t / 2 * slope",
            "t * slope",
            "A curved-up function never falls as far as its plane.",
        ),
        "the promise stays that of t0": (
            "while f(x - t * g) > f(x) - t / 2",
            "while t > 1e-60 and f(x - t * g) > f(x) - t0 / 2",
            "A shorter step promises less. Which t belongs on the right side?",
        ),
        "halves, whatever beta is": ("beta * t", "t / 2", "Where is your beta?"),
        "never bolder again": ("t = t / beta", "pass", "How do steps grow again?"),
        "each step begins at t0": (
            "t = t / beta",
            "t = t0",
            "The next first try is the accepted step, one notch bolder.",
        ),
        "always doubles": ("t = t / beta", "t = 2 * t", "Is a notch always 2?"),
        "bolder at once": ("float), t0", "float), t0 / beta", "Is t0 the first try?"),
        "notes the next first try": (
            "sizes.append(t)\n        t = t / beta",
            "t = t / beta\n        sizes.append(t)",
            "Which sizes do you note: those that were taken, or those that come next?",
        ),
        "steps of length t": (
            "x = x - t * g",
            "x = x - t * g / (math.sqrt(slope) or 1.0)",
            "You tried x minus t times the gradient, and then stepped elsewhere.",
        ),
        "one gradient for all steps": ("grad(x)", "grad(path[0])", SLOPE),
        "tol for the squared norm": ("math.sqrt(slope)", "slope", SQUARE),
        "tol for the largest entry": ("math.sqrt(slope)", "np.abs(g).max()", LARGEST),
        "a gradient that is exactly tol does not stop": ("<= tol", "< tol", EXACTLY),
        "tol is never looked at": ("math.sqrt(slope) <= tol", "False", IGNORED),
        "one step too few": ("< max_steps", "< max_steps - 1", FEWER),
    }
)


descend.worked(
    why=r"""The inner loop ends, because a short enough step falls as the plane says, up to a part that shrinks with $t^2$: every
    $t \le 1/L$ passes, for any $L$ that bounds the curvature where $f \le f(x_0)$. So an accepted step is at least $\min(t_0, \beta/L)$. Carrying $t$
    from step to step saves tries, and $t/\beta$ lets it grow again where the ground gets flatter. Asking for *half* of the
    promised fall, and not for any fall, is what the proofs need: it is line 2 of the proof of the rate $1/k$."""
)


@descend.right("a for loop, all tries of a step as powers of beta")
def _(f, grad, x0, t0, beta, tol, max_steps):
    path, sizes, first = [np.asarray(x0)], [], t0
    for _ in range(max_steps):
        x = path[-1]
        g = grad(x)
        if np.linalg.norm(g) <= tol:
            break
        tries = first * beta ** np.arange(200)
        need = np.sum(g**2) / 2
        t = next(t for t in tries if f(x) - f(x - t * g) >= t * need)
        path.append(x - t * g)
        sizes.append(t)
        first = t / beta
    return np.stack(path), sizes


@descend.right("a function for the inner search, in place on one array")
def _(f, grad, x0, t0, beta, tol, max_steps):
    def longest(x, g, t):
        new = x - t * g
        enough = f(new) <= f(x) - t / 2 * np.linalg.norm(g) ** 2
        return (t, new) if enough else longest(x, g, beta * t)

    rows, taken = np.empty((max_steps + 1, len(x0))), []
    rows[0], t, k = x0, t0, 0
    while k < max_steps and np.linalg.norm(grad(rows[k])) > tol:
        t, rows[k + 1] = longest(rows[k], grad(rows[k]), t)
        taken.append(t)
        t, k = t / beta, k + 1
    return rows[: k + 1], np.array(taken)


# ----------------------------------------------------------------------------- logistic_smoothness

logistic_smoothness = Exercise(
    "logistic_smoothness",
    reference=reference.logistic_smoothness,
    compare=close(rtol=1e-6),
    batched=("X",),
    hints=[
        "Only D depends on w. As a function of p, p (1 − p) is a parabola: where is its top, and how high?",
        "Put the largest value in place of every entry of D. What is the largest eigenvalue of the matrix that is left?",
        "np.linalg.eigvalsh(X.T @ X) is sorted in increasing order. Take the last, the factor from D, the n, then lam.",
    ],
)


@logistic_smoothness.cases
def _(rng):
    yield "mean loss, no penalty", dict(X=rng.normal(size=(6, 2)), lam=0.0)
    yield "the penalty adds its own curvature", dict(X=rng.normal(size=(5, 3)), lam=0.5)
    X = rng.normal(size=(3, 2))
    yield "the same rows twice change nothing", dict(X=np.vstack([X, X]), lam=0.1)
    yield "one row", dict(X=flip(rng, 1.0, 2.0, 3.0)[None], lam=0.0)
    yield "more columns than rows", dict(X=rng.normal(size=(2, 4)), lam=0.2)
    lam = float(rng.uniform(0.2, 0.4))
    yield "all zeros: only the penalty curves", dict(X=np.zeros((3, 2)), lam=lam)


logistic_smoothness.mistakes(
    {
        "the curvature of least squares": (
            "(4 * len(X))",
            "len(X)",
            "The second derivative of the loss is p (1 − p). How large can it get?",
        ),
        "one half for p (1 − p)": ("4 *", "2 *", "At which p is p (1 − p) largest?"),
        "the sum, not the mean": ("(4 * len(X))", "4", "Does L grow with n?"),
        "the singular value is not squared": (
            "np.linalg.eigvalsh(X.T @ X)[-1]",
            "np.linalg.norm(X, 2)",
            "Double X, at w = 0: every second derivative is four times as large. Is your L?",
        ),
        "the sum of the eigenvalues": (
            "[-1]",
            ".sum()",
            "A bound, but a loose one. How many directions do you ask?",
        ),
        "the smallest eigenvalue": ("[-1]", "[0]", "eigvalsh sorts: which is last?"),
        "the penalty is left out": (" + lam", "", "How much does lam/2 ‖w‖² curve?"),
        "half of the penalty": ("+ lam", "+ lam / 2", "Differentiate lam/2 w² twice."),
        "the longest row": (
            "largest / (4 * len(X))",
            "np.sum(X**2, axis=1).max() / 4",
            "That bounds each row's loss, so their mean too. Is it the smallest bound?",
        ),
    }
)


logistic_smoothness.worked(
    why=r"""$p(1-p)$ is largest at $p = \frac12$, where it is $\frac14$. So $D \preceq \frac14 I$, and the Hessian is at most
    $\frac1{4n} X^\top X + \lambda I$ for every $w$; at $w = 0$ all $p_i$ are $\frac12$ and it is exactly that. Its largest
    eigenvalue is therefore the smallest $L$ that will do. (Half the squared error has second derivative 1: with it the
    data part of $L$ is four times as large.)"""
)


@logistic_smoothness.right("by the spectral norm", library="numpy.linalg.norm")
def _(X, lam):
    return np.linalg.norm(X, ord=2) ** 2 / (4 * len(X)) + lam


@logistic_smoothness.right("the Hessian at w = 0, in float32")
def _(X, lam):
    X = X.astype(np.float32)
    H = X.T @ np.diag(np.full(len(X), 0.25, np.float32)) @ X / np.float32(
        len(X)
    ) + np.float32(lam) * np.eye(X.shape[1], dtype=np.float32)
    return np.linalg.eigvalsh(H)[-1]


# ----------------------------------------------------------------------------------- proof_margins

proof_margins = Exercise(
    "proof_margins",
    reference=reference.proof_margins,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("H", "c", "x", "x_star"),
    hints=[
        "Name the new point first: x_new. Then each margin is the right side minus the left side, written as in the text.",
        "Lines 1 and 2 have the same left side, f(x_new). In line 3 the left side is a gap to f(x_star), the right side a "
        "difference of squared distances over 2t.",
        "g = grad(x); new = x - t * g; step = new - x. Line 2 is f(x) - t / 2 * g @ g - f(new); the other two have the same shape.",
    ],
)


@proof_margins.probe
def _(answer, H, c, offset, x, x_star, t, L):
    return answer(
        lambda z: 0.5 * (z - c) @ H @ (z - c) + offset,
        lambda z: H @ (z - c),
        x,
        x_star,
        t,
        L,
    )


def margins(x, x_star=ZERO, *, H=BOWL, c=ZERO, offset=0.0, t=0.2, L=4.0):
    return dict(H=H, c=c, offset=offset, x=x, x_star=x_star, t=t, L=L)


@proof_margins.cases
def _(rng):
    x, c = flip(rng, 1.2, 1.6), rng.normal(size=2)
    yield "a step within 1/L: nothing negative", margins(c + x, c, c=c)
    y, center = flip(rng, 0.9, 1.2, 1.5), rng.normal(size=3)
    lifted = margins(center + y, center, H=BOWL3, c=center, offset=3.0, t=0.1, L=5.0)
    yield "a minimum value that is not zero", lifted
    beyond = margins(c + near(rng, 0.1, 1.5), c, H=np.diag([1.0, 4.0]), c=c, t=0.45)
    yield "a step beyond 1/L: a line breaks", beyond
    higher, lower = margins(x, x / 3, offset=-1.0), margins(x / 3, 2 * x, offset=2.0)
    yield "compared with a point that is not the minimiser", higher
    yield "compared with a point that is not the minimiser", lower
    yield "from the minimiser it does not move", margins(c, c + x, c=c, offset=0.5)


proof_margins.mistakes(
    {
        "left minus right": ("np.array(", "-np.array(", "A true line gives >= 0."),
        "negative margins are cut off": (
            "np.array([line1, line2, line3])",
            "np.maximum([line1, line2, line3], 0)",
            "A negative margin shows that a line breaks: return it as it is.",
        ),
        "the step is 1/L": ("x - t * g", "x - g / L", "The step is t, not 1/L."),
        "line 1 without the curvature term": (
            " + L / 2 * np.sum((new - x) ** 2)",
            "",
            "Line 1 is a parabola, not a tangent: where is L in it?",
        ),
        "line 1 with 1/t for L": ("L / 2", "1 / t / 2", "Line 1 has L, whatever t is."),
        "line 1 without the half": ("L / 2", "L", "Taylor halves the curvature."),
        "line 2 promises the full t ‖g‖²": ("t / 2", "t", "Curvature eats half of it."),
        "line 2 with 1/L for t": ("t / 2", "1 / L / 2", "Line 2 has the step's t."),
        "line 3 takes the gap before the step": (
            "f(new) - f(x_star)",
            "f(x) - f(x_star)",
            "In line 3, whose gap stands on the left: the old or the new point's?",
        ),
        "line 3 takes the gap without its sign": (
            "(f(new) - f(x_star))",
            "abs(f(new) - f(x_star))",
            "The left side of line 3 may be negative: x* is any point that you are given.",
        ),
        "line 3 forgets f(x*)": ("f(new) - f(x_star)", "f(new)", "Is f(x*) always 0?"),
        "line 3 uses distances, not their squares": (
            "np.sum((x - x_star) ** 2) - np.sum((new - x_star) ** 2)",
            "np.linalg.norm(x - x_star) - np.linalg.norm(new - x_star)",
            "Only squared distances come out of completing the square.",
        ),
        "line 3 without the half": ("(2 * t)", "t", "Line 3 divides by more."),
    }
)


proof_margins.worked(
    why=r"""All three lines are about one step, so the new point is named once. A margin is right side minus left side: what is
    left over when the line is true, negative where it breaks. Line 1 holds for every $t$, line 2 up to $1/L$ for sure, and
    line 3 is line 2 and the tangent at $x$, read at the minimiser, with the square completed: $2t\,g^\top(x - x^*) - t^2\lVert g\rVert^2$
    is the difference of the squared distances."""
)


@proof_margins.right("through the move and its length")
def _(f, grad, x, x_star, t, L):
    move = -t * grad(x)
    length2, drop = np.sum(move**2), f(x) - f(x + move)
    line3 = -(2 * move @ (x - x_star) + length2) / (2 * t) - f(x + move) + f(x_star)
    return [drop - length2 / t + L / 2 * length2, drop - length2 / (2 * t), line3]


@proof_margins.right("norms, in float32")
def _(f, grad, x, x_star, t, L):
    g = grad(x)
    new = x - t * g
    return np.array(
        [
            f(x) + g @ (new - x) + L / 2 * np.linalg.norm(new - x) ** 2 - f(new),
            f(x) - t / 2 * np.linalg.norm(g) ** 2 - f(new),
            (np.linalg.norm(x - x_star) ** 2 - np.linalg.norm(new - x_star) ** 2)
            / (2 * t)
            - (f(new) - f(x_star)),
        ],
        dtype=np.float32,
    )


# ------------------------------------------------------------------------------------ steps_needed

steps_needed = Exercise(
    "steps_needed",
    reference=reference.steps_needed,
    compare=exact(),
    hints=[
        "Compute rho first. For which rho and eps is there nothing to count?",
        "From rho = 1 on, the distance never shrinks; below, every k is one more factor rho. When is rho**k small enough for the first time?",
        "Handle eps >= 1 and then rho >= 1 first. Then count k up from 1 while rho**k is above eps.",
    ],
)


@steps_needed.cases
def _(rng):
    def near_to(value):
        return float(value * rng.uniform(0.98, 1.02))

    # eps is drawn, so that rho**k is eps on purpose only
    def count(t, eps, m=1.0, L=10.0):
        return dict(m=m, L=L, t=t, eps=eps)

    yield "a short step: the flat direction decides", count(0.05, near_to(1e-4))
    yield "a long step: the steep direction decides", count(0.192, near_to(1e-4))
    yield "the best step 2/(m + L)", count(2 / 52, near_to(1e-6), 2.0, 50.0)
    yield "just below 2/L it arrives, from there on never", count(0.199, near_to(0.1))
    yield "just below 2/L it arrives, from there on never", count(0.25, 0.01, L=8.0)
    yield "just below 2/L it arrives, from there on never", count(near_to(0.25), 0.01)
    yield "a round bowl", count(0.25, near_to(0.05), 4.0, 4.0)
    yield "a round bowl", count(0.2, near_to(1e-9), 4.0, 4.0)
    # halves: logarithms and products of powers of two are exact
    for k in (int(rng.choice([1, 2, 4])), 29):
        yield "exactly eps is enough", count(0.5, 0.5**k, L=1.0)
    yield "many thousands of steps", count(5e-5, near_to(0.01), L=2e4)
    yield "near enough already, or nearly", count(0.1, 1.0)
    yield "near enough already, or nearly", count(0.1, near_to(1.7))
    yield "near enough already, or nearly", count(0.3, 1.0)
    yield "near enough already, or nearly", count(0.1, near_to(0.95))


RHO = "max(abs(1 - t * m), abs(1 - t * L))"
steps_needed.mistakes(
    {
        "only the flat direction": (
            RHO,
            "abs(1 - t * m)",
            "What happens to the steep coordinate when t is close to 2/L?",
        ),
        "only the steep direction": (
            RHO,
            "abs(1 - t * L)",
            "With a short step, which coordinate arrives last?",
        ),
        "the rate of f, not of the distance": (
            RHO,
            RHO + " ** 2",
            "The gap of f shrinks by rho squared; the distance?",
        ),
        "the rate of the best step": (
            RHO,
            "math.inf if t >= 2 / L else (L - m) / (L + m)",
            "(κ − 1)/(κ + 1) belongs to t = 2/(m + L). Which t is given here?",
        ),
        "one step too few": ("return k", "return k - 1", "Is rho**k <= eps at your k?"),
        "at least one step": ("return 0", "return 1", "Is one step better than none?"),
        "divergence is not noticed": (
            "math.inf",
            "0 if rho == 1 else math.ceil(math.log(1 / eps) / math.log(rho))",
            "Multiply by 1.2 again and again: do you ever get below eps?",
        ),
        "divergence comes before eps >= 1": (
            "if eps >= 1:",
            "if eps >= 1 and rho < 1:",
            "If the start is near enough, does it matter what the steps would do?",
        ),
        "a quotient of logarithms that rounds up": (
            "k = 1",
            "return max(1, math.ceil(math.log(eps) / math.log(rho or 0.5)))\n    k = 1",
            "A quotient of logarithms can come out a hair above a whole number.",
        ),
        "the estimate log(1/eps) / (1 − rho)": (
            "return k",
            "return math.ceil(math.log(1 / eps) / (1 - rho))",
            "That is an upper estimate. Ask for the first k itself.",
        ),
        "exactly eps is not enough": (
            "rho**k > eps",
            "rho**k >= eps",
            "Half of it after one step: if eps is one half, how many steps are needed?",
        ),
        "gives up after 1000": ("> eps", "> eps and k < 1000", "k may be much larger."),
    }
)


steps_needed.equivalent(
    {
        "rho = max(abs(1 - t * m), abs(1 - t * L)) → rho = max(1 - t * m, abs(1 - t * L))": "0 < m <= L, t > 0, eps > 0.",
        "k = 1 → k = 0": "eps >= 1 needs no step, whatever rho is.",
    }
)


steps_needed.worked(
    why=r"""Along a curvature $c$ a step multiplies by $1 - tc$. Over all $c$ from $m$ to $L$ the size of this factor is largest at
    one of the ends, since the factor is a straight line in $c$: so two numbers decide. From $\rho \ge 1$ on,
    waiting does not help; below, counting ends. (Logarithms give it at once, $k = \lceil\log\varepsilon / \log\rho\rceil$, but they
    round: $\rho = \frac12$ and $\varepsilon = 2^{-29}$ give 30 in place of 29.)"""
)


@steps_needed.right("counts the steps")
def _(m, L, t, eps):
    rate, k, left = np.linalg.norm(np.diag([1 - t * m, 1 - t * L]), 2), 0, 1.0
    while left > eps:
        if rate >= 1:
            return math.inf
        left, k = left * rate, k + 1
    return k


@steps_needed.right("with numpy, as a float")
def _(m, L, t, eps):
    rate = np.abs(1 - t * np.array([m, L])).max()
    if eps >= 1:
        return 0.0
    if rate >= 1:
        return np.inf
    k = float(np.ceil(np.log(eps) / np.log(max(rate, 1e-300))))
    return k - 1 if rate ** (k - 1) <= eps else k


# --------------------------------------------------------------------------------------------- ngd

ngd = Exercise(
    "ngd",
    reference=reference.ngd_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("H", "c", "x0"),
    hints=[
        "Each move has the same length t, whatever the slope. Which vector of length 1 points downhill?",
        "Divide the gradient by its own norm, unless that norm is zero: then the point stays, and the path still gets a row.",
        "norm = np.linalg.norm(g); step = t * g / norm if norm > 0 else 0 * g; append path[-1] - step.",
    ],
)


@ngd.probe
def _(answer, H, c, x0, t, n_steps):
    return answer(lambda x: H @ (np.asarray(x) - c), x0, t, n_steps)


def march(x0, t=0.5, *, H=BOWL, c=None, n_steps=4):
    c = np.zeros(len(x0)) if c is None else c
    return dict(H=H, c=c, x0=x0, t=t, n_steps=n_steps)


@ngd.cases
def _(rng):
    x, c = flip(rng, 1.2, 1.6), rng.normal(size=2)
    yield "every step has length t", march(5 * x, 0.4, c=c)
    yield "every step has length t", march(flip(rng, 5.0, 6.0, 7.0), 1.5, H=BOWL3)
    saddle, one = np.diag([1.0, -1.0]), np.eye(2)
    yield "a tiny gradient makes no tiny step", march(1e-4 * x, 0.25, H=saddle)
    for tiny in (2e-9, 1e-100):
        yield "a tiny gradient makes no tiny step", march(tiny * x, H=one, n_steps=1)
    yield "whole numbers to start from", march(whole(rng), 0.25, H=one, n_steps=2)
    yield "a zero gradient stays", march(c, H=saddle, c=c, n_steps=3)
    # binary fractions: the third step lands exactly on the minimum
    t = float(rng.choice([0.125, 0.25, 0.5]))
    yield "lands on the minimum and stays", march(t * np.array([3.0, 0.0]), t, H=one)
    yield "no step at all", march(x, n_steps=0)


ngd.mistakes(
    {
        "steps uphill": ("- t * g", "+ t * g", UPHILL),
        "whole numbers cut off": WHOLE,
        "zero divided by zero": (
            " if norm > 0 else path[-1]",
            "",
            "What is g / ‖g‖ where the gradient is zero? Look for nan.",
        ),
        "stops short at a zero gradient": (
            "np.linalg.norm(g)",
            "np.linalg.norm(g)\n        if norm == 0:\n            break",
            "The path has n_steps + 1 rows, also when the point does not move.",
        ),
        "plain gradient descent": (
            " / norm if norm > 0 else path[-1]",
            "",
            "Measure your steps: are they all t?",
        ),
        "each coordinate by itself": (
            "g / norm if norm > 0 else path[-1]",
            "np.sign(g)",
            "How long is a vector of signs, in two dimensions?",
        ),
        "divided by the square": ("np.linalg.norm(g)", "g @ g", "Is it of length 1?"),
        "only long gradients are shortened": (
            "norm if norm > 0 else path[-1]",
            "max(norm, 1)",
            "That is clipping. Here a short gradient is made longer, too.",
        ),
        "stays where the gradient is almost zero": (
            "norm > 0",
            "norm > 1e-8",
            "How long is your step where the norm is 1e-9, or 1e-100?",
        ),
        "a small number added to the norm": (
            "norm if norm > 0 else path[-1]",
            "(norm + 1e-8)",
            "How long is g / (‖g‖ + 1e-8) where the norm is 1e-9?",
        ),
    }
)


ngd.worked(
    why=r"""$g/\lVert g\rVert$ keeps the direction and forgets the size. That helps where slopes are tiny, near a saddle, and hurts where
    they should be tiny, at a minimum: the steps never get shorter, so the path swings to and fro across it. Only a gradient
    that is exactly zero has no direction; a small number added to the norm, or a threshold, would bring the stalling back."""
)


@ngd.right("np.divide where the norm is positive")
def _(grad, x0, t, n_steps):
    def unit(g):
        norm = np.sqrt((g * g).sum())
        return np.divide(g, norm, out=np.zeros_like(g), where=norm > 0)

    path = [x0]
    for _ in range(n_steps):
        path.append(path[-1] - t * unit(grad(path[-1])))
    return np.array(path)


@ngd.right("lists and math.hypot")
def _(grad, x0, t, n_steps):
    path = [[float(v) for v in x0]]
    for _ in range(n_steps):
        g = grad(path[-1])
        norm = math.hypot(*g)
        path.append(
            [
                float(v - t * w / norm) if norm else v
                for v, w in zip(path[-1], g, strict=True)
            ]
        )
    return path


# --------------------------------------------------------------------------------------------- pgd

pgd = Exercise(
    "pgd",
    reference=reference.pgd_path,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("H", "c", "x0"),
    hints=[
        "Each round has two halves: a step of gradient descent, then the nearest point of the ball. What if the step "
        "ends inside?",
        "Inside the ball nothing moves. Outside, keep the direction and set the length to radius: multiply by radius / norm.",
        "y is the end of the step, norm its length. Divide y by the larger of 1 and norm / radius, and append that: the "
        "next step starts from there.",
    ],
)


@pgd.probe
def _(answer, H, c, x0, radius, t, n_steps):
    return answer(lambda x: H @ (np.asarray(x) - c), x0, radius, t, n_steps)


def leash(x0, c, *, H=BOWL, radius=1.0, t=0.25, n_steps=3):
    return dict(H=H, c=c, x0=x0, radius=radius, t=t, n_steps=n_steps)


@pgd.cases
def _(rng):
    x, far, one = flip(rng, 0.2, 0.3), flip(rng, 3.6, 4.8), np.eye(2)
    yield "ends on the rim where the minimum is outside", leash(x, far, n_steps=4)
    space = leash(flip(rng, 0.2, 0.2, 0.3), flip(rng, 4.0, 4.0, 5.0), H=BOWL3)
    yield "ends on the rim where the minimum is outside", space
    steep = np.diag([3.0, 4.0])
    inside = leash(flip(rng, 0.5, 0.6), flip(rng, 0.05, 0.1), H=steep, t=0.2)
    yield "plain descent where the minimum is inside", inside
    # a step that lands on c: beyond the radius where its square is not, and the other way
    land = partial(leash, x, H=one, t=1.0, n_steps=1)
    yield "a radius that is not 1", land(flip(rng, 0.4, 0.45), radius=0.5)
    yield "a radius that is not 1", land(flip(rng, 1.4, 1.4), radius=3.0)
    yield "a radius that is not 1", leash(6 * x, 3 * far, radius=3.0)
    yield "a small ball", leash(x / 3, far, radius=0.2, n_steps=2)
    # the first step leaves the ball at its lower end, the second comes back into it
    c = near(rng, 0.35 * rng.choice([-1, 1]), -0.35)
    back = leash(near(rng, 0.01, 0.94), c, H=np.diag([1.0, 4.0]), t=0.45)
    yield "the next step starts from the projected point", back
    yield "whole numbers to start from", leash(whole(rng), 5 * far, radius=4.5)
    # y / norm has no value at the centre
    yield "onto the centre", leash(x, ZERO, H=one, t=1.0)
    yield "no step at all", leash(x, far, n_steps=0)


PROJECTED = "y / max(1, norm / radius)"
pgd.mistakes(
    {
        "steps uphill": ("- t * grad", "+ t * grad", UPHILL),
        "whole numbers cut off": WHOLE,
        "the start is missing": START,
        "ends where the point does not move": (
            "path.append(y",
            "if np.allclose(y / max(1, norm / radius), path[-1]):\n            break\n        path.append(y",
            "The path has n_steps + 1 rows, also when the point does not move.",
        ),
        "everything goes to the rim": (
            "max(1, norm / radius)",
            "(norm / radius or 1)",
            "Where is the nearest point of the ball to a point that is already in it?",
        ),
        "a box in place of a ball": (
            PROJECTED,
            "np.clip(y, -radius, radius)",
            "Clip (0.9, 0.9) to [−1, 1]: is its length at most 1?",
        ),
        "the radius is taken for 1": ("norm / radius", "norm", "Where is radius?"),
        "the squared norm": ("np.linalg.norm(y)", "y @ y", "How long is the result?"),
        "the squared norm decides": (
            "max(1, norm / radius)",
            "(norm / radius if norm**2 > radius else 1)",
            "You ask whether y is outside: do you compare a square with a length?",
        ),
        "does not project": (PROJECTED, "y", "How long are your points?"),
        "projects once, at the end": (
            f"path.append({PROJECTED})\n    return np.array(path)",
            "path.append(y)\n    return np.array([p * min(1, radius / (np.linalg.norm(p) or 1)) for p in path])",
            "The second step starts from the nearest point, not from where the first one ended.",
        ),
        "a step that leaves is not made": (
            PROJECTED,
            "y if norm <= radius else path[-1]",
            "A step that ends outside is brought back to the rim. Yours is dropped.",
        ),
        "projects the gradient": (
            "t * grad(path[-1])",
            "t * grad(path[-1]) * min(1, radius / (np.linalg.norm(grad(path[-1])) or 1))",
            "It is the point that has to stay in the ball. The step is as long as ever.",
        ),
        "measured from x0": (
            "np.linalg.norm(y)",
            "np.linalg.norm(y - x0)",
            "The ball is round 0.",
        ),
    }
)


pgd.worked(
    why=r"""Inside the ball $\max(1, \lVert y\rVert / r)$ is 1 and nothing moves; outside it divides the length down to $r$ and keeps
    the direction. That is the nearest point by the triangle inequality. One formula, no special case, no division by 0. Project
    after every step: the next gradient is asked at a point that is allowed."""
)


@pgd.right("the two cases apart, rows of one array")
def _(grad, x0, radius, t, n_steps):
    path = np.empty((n_steps + 1, len(x0)))
    path[0] = x0
    for k in range(n_steps):
        y = path[k] - t * grad(path[k])
        outside = math.hypot(*y) > radius
        path[k + 1] = radius * y / math.hypot(*y) if outside else y
    return path


@pgd.right("lists")
def _(grad, x0, radius, t, n_steps):
    path = [[float(v) for v in x0]]
    for _ in range(n_steps):
        y = [v - t * float(g) for v, g in zip(path[-1], grad(path[-1]), strict=True)]
        length = math.sqrt(sum(v * v for v in y))
        path.append([v * radius / length for v in y] if length > radius else y)
    return path

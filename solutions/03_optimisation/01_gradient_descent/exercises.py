"""Exercises of 03_optimisation/01_gradient_descent."""

import math

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def bowl(rng, low, high, d=2):
    """A symmetric matrix whose eigenvalues run from low to high, in a random basis."""
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return Q @ np.diag(np.linspace(low, high, d)) @ Q.T


def away(rng, d=2, size=2.0):
    """A vector of that length in a random direction with no small coordinate: nothing is hidden by a zero."""
    v = rng.choice([-1.0, 1.0], d) * rng.uniform(0.6, 1.0, d)
    return size * v / np.linalg.norm(v)


# ---------------------------------------------------------------------------------- best_direction

best_direction = Exercise(
    "best_direction",
    reference=lambda H, c, x, eta, n_angles: reference.best_direction(
        H, c, x, eta, n_angles
    ),
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


@best_direction.cases
def _(rng):
    x = away(rng)
    yield (
        "a short step goes straight down",
        dict(H=bowl(rng, 1, 4), c=np.zeros(2), x=x, eta=1e-3, n_angles=16),
    )
    yield (
        "a short step goes straight down",
        dict(H=-bowl(rng, 1, 4), c=rng.normal(size=2), x=4 * x, eta=1e-2, n_angles=7),
    )
    yield (
        "a long step knows better than the slope",
        dict(H=np.diag([0.2, 9.0]), c=np.zeros(2), x=2 * x, eta=3.0, n_angles=180),
    )
    # f is zero everywhere: all are equally good, to the last digit
    yield (
        "of equally good ones the first",
        dict(H=np.zeros((2, 2)), c=np.zeros(2), x=x, eta=2.0, n_angles=5),
    )
    yield (
        "of equally good ones the first",
        dict(
            H=np.diag([0.0, -1.0]),
            c=np.zeros(2),
            x=np.zeros(2),
            eta=2.0,
            n_angles=4,
        ),
    )
    yield (
        "near the bottom every way is up",
        dict(H=np.diag([9.0, 1.0]), c=np.zeros(2), x=x / 100, eta=1.0, n_angles=12),
    )
    yield (
        "high up, where f is in the millions",
        dict(H=bowl(rng, 1, 4), c=np.zeros(2), x=1000 * x, eta=9.0, n_angles=12),
    )
    yield (
        "one angle is no choice",
        dict(H=bowl(rng, 1, 4), c=np.zeros(2), x=x, eta=0.1, n_angles=1),
    )
    for sign in (1, -1):
        yield (
            "where f curves down, away from the top",
            dict(H=-np.eye(2), c=np.zeros(2), x=sign * 3 * x, eta=0.5, n_angles=6),
        )


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
            "You keep the highest end. Which comparison finds the lowest?",
        ),
        "clockwise": (
            "2 * math.pi * number",
            "-2 * math.pi * number",
            "In which order do you try the angles? Of two equally good ones, yours is the other.",
        ),
        "the last of equals": (
            "value < lowest",
            "value <= lowest",
            "Two directions may be equally good: does yours keep the first or the last?",
        ),
        "the end point in place of the direction": (
            "best, lowest = way, value",
            "best, lowest = x + eta * way, value",
            "The direction has length 1 and says nothing of where you stand.",
        ),
        "the step in place of the direction": (
            "best, lowest = way, value",
            "best, lowest = eta * way, value",
            "How long is what you return? The direction has length 1.",
        ),
        "the angle in place of the direction": (
            "best, lowest = way, value",
            "best, lowest = np.array([angle, angle]), value",
            "Wanted is the direction itself, two numbers.",
        ),
        "the lowest value starts at 0": (
            "None, math.inf",
            "np.array([1.0, 0.0]), 0.0",
            "Your search starts from a value that f may never get below. Try f(x) + 5.",
        ),
        "half a circle only": (
            "2 * math.pi * number / n_angles",
            "math.pi * number / n_angles",
            "How far round do your angles go? Print the last one, in degrees.",
        ),
        "the full circle counted twice": (
            "number / n_angles",
            "number / max(1, n_angles - 1)",
            "Angle 0 and angle 2π are one direction: which one is left out for it?",
        ),
        "the step length is forgotten": (
            "x + eta * way",
            "x + way",
            "Do you end where a step of length eta ends?",
        ),
        "degrees taken for radians": (
            "2 * math.pi * number",
            "360 * number",
            "Cosine and sine want radians.",
        ),
        "sine first": (
            "[math.cos(angle), math.sin(angle)]",
            "[math.sin(angle), math.cos(angle)]",
            "Angle 0 is the direction of the first axis. Which of sine and cosine is 1 there?",
        ),
        "the first step that goes down": (
            "best, lowest = way, value",
            "return way",
            "Better than before is not yet the best: look at the others, too.",
        ),
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
    reference=lambda H, c, x0, t, max_steps, tol: reference.gd_until(
        H, c, x0, t, max_steps, tol
    ),
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # the reference takes powers of eigenvalues, the loop multiplies
    data_dependent="the path ends where the gradient is small",
    limit=10.0,  # a first import of torch.optim takes seconds on a busy machine
    hints=[
        "Keep a list that starts with x0. What must be known at the last point before the next can be made?",
        "In each round: the gradient g at the last point; leave the loop if its norm is at most tol; else append the "
        "last point minus t g. Make a new array each time.",
        "In a loop of at most max_steps rounds: the gradient at path[-1]; leave the loop if its norm is at most tol; "
        "append the last point minus t times the gradient. At the end make an array of the list.",
    ],
)


@gd.probe
def _(answer, H, c, x0, t, max_steps, tol):
    return answer(lambda x: H @ (np.asarray(x) - c), x0, t, max_steps, tol)


@gd.cases
def _(rng):
    yield (
        "each step goes against the gradient",
        dict(
            H=bowl(rng, 1, 4),
            c=rng.normal(size=2),
            x0=away(rng),
            t=0.1,
            max_steps=4,
            tol=0.0,
        ),
    )
    yield (
        "each step goes against the gradient",
        dict(
            H=bowl(rng, 0.5, 2, 3),
            c=np.zeros(3),
            x0=away(rng, 3),
            t=0.3,
            max_steps=3,
            tol=0.0,
        ),
    )
    c = rng.normal(size=2)
    yield (
        "stops when the gradient is small",
        dict(
            H=np.diag([1.0, 2.0]), c=c, x0=c + away(rng), t=0.2, max_steps=100, tol=0.01
        ),
    )
    # three coordinates of one size shrink together: the norm differs from its largest entry and from the sum
    yield (
        "stops when the gradient is small",
        dict(
            H=np.eye(3), c=np.zeros(3), x0=away(rng, 3), t=0.2, max_steps=60, tol=0.05
        ),
    )
    yield (
        "whole numbers to start from",
        dict(
            H=np.diag([1.0, 2.0]),
            c=np.zeros(2),
            x0=np.array([3, -2]),
            t=0.15,
            max_steps=3,
            tol=0.0,
        ),
    )
    yield (
        "no more than max_steps",
        dict(H=np.eye(2), c=np.zeros(2), x0=away(rng), t=0.05, max_steps=2, tol=0.01),
    )
    yield (
        "no step at all",
        dict(H=np.eye(2), c=np.zeros(2), x0=away(rng), t=0.1, max_steps=0, tol=0.0),
    )
    yield (
        "a stationary start stays where it is",
        dict(
            H=bowl(rng, 1, 4),
            c=np.array([1.0, -2.0]),
            x0=np.array([1.0, -2.0]),
            t=0.1,
            max_steps=5,
            tol=0.0,
        ),
    )
    yield (
        "too long a step diverges",
        dict(
            H=np.diag([1.0, 10.0]),
            c=np.zeros(2),
            x0=away(rng),
            t=0.25,
            max_steps=5,
            tol=1e-3,
        ),
    )


gd.mistakes(
    {
        "steps uphill": (
            "- t * g",
            "+ t * g",
            "Does your path go up or down? The gradient points to where f grows.",
        ),
        "every row is the last point": (
            "np.array(path)",
            "np.array([path[-1]] * len(path))",
            "`x -= …` changes the array that is already in your list. Look at path[0] after the loop: is it still x0?",
        ),
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, np.asarray(x0).dtype)",
            "x0 may hold whole numbers; the path does not. Which kind of numbers does your array keep?",
        ),
        "the start is missing": (
            "np.array(path)",
            "np.array(path[1:]).reshape(-1, len(x0))",
            "The path begins with x0: k steps make k + 1 rows.",
        ),
        "the gradient is taken once, at the start": (
            "grad(path[-1])",
            "grad(x0)",
            "The slope changes on the way. At which point do you evaluate the gradient in the second step?",
        ),
        "steps of length t": (
            "t * g)",
            "t * g / np.linalg.norm(g))",
            "How long should a step be where the slope is small? The update multiplies t by the whole gradient, not by its direction only.",
        ),
        "the squared norm is compared with tol": (
            "np.linalg.norm(g)",
            "g @ g",
            "Your path stops too early. Is it the norm, or its square, that has to reach tol?",
        ),
        "the largest entry is compared with tol": (
            "np.linalg.norm(g)",
            "np.abs(g).max()",
            "tol is for the length of the gradient. Three entries of 0.9 tol: how long is that vector?",
        ),
        "the sum of the entries is compared with tol": (
            "np.linalg.norm(g)",
            "np.abs(g).sum()",
            "Which norm adds up absolute values, and which is a length?",
        ),
        "the step is compared with tol": (
            "np.linalg.norm(g)",
            "np.linalg.norm(t * g)",
            "Small is asked of the gradient, not of the change of x: t should play no part in the test.",
        ),
        "a gradient that is exactly tol does not stop": (
            "<= tol",
            "< tol",
            "With tol = 0 a stationary start must stop at once: at most tol, or less than tol?",
        ),
        "tol is never looked at": (
            "np.linalg.norm(g) <= tol",
            "False",
            "When the gradient is small enough, the path ends early. Where is tol in your loop?",
        ),
        "one step too few": (
            "range(max_steps)",
            "range(max_steps - 1)",
            "max_steps counts steps, not rows: k steps make k + 1 rows.",
        ),
        "one step after the gradient is small": (
            "break",
            "return np.array([*path, path[-1] - t * g])",
            "Test the gradient before you step: a start that is already good enough gives one row.",
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


@gd.right("float32")
def _(grad, x0, t, max_steps, tol=0.0):
    path = [np.asarray(x0, np.float32)]
    for _ in range(max_steps):
        g = np.asarray(grad(path[-1]), np.float32)
        if np.linalg.norm(g) <= tol:
            break
        path.append(path[-1] - np.float32(t) * g)
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
    reference=lambda H, q, x0, t0, beta, tol, max_steps: reference.descend(
        H, q, x0, t0, beta, tol, max_steps
    ),
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # an accepted step depends on a comparison: cases keep away from ties
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


@descend.cases
def _(rng):
    flat = np.zeros(2)
    yield (
        "a good first try is taken",
        dict(
            H=bowl(rng, 1, 3),
            q=flat,
            x0=away(rng),
            t0=0.13,
            beta=0.5,
            tol=0.0,
            max_steps=1,
        ),
    )
    # on curvature 2 the test reads t ≤ ½: 0.8 lowers f, but by too little
    yield (
        "f must fall by enough, not only fall",
        dict(
            H=2 * np.eye(2),
            q=flat,
            x0=away(rng, size=rng.uniform(5, 8)),
            t0=0.8,
            beta=0.7,
            tol=0.0,
            max_steps=2,
        ),
    )
    yield (
        "a wild first try shrinks until it fits",
        dict(
            H=bowl(rng, 5, 9),
            q=flat,
            x0=away(rng),
            t0=10.0,
            beta=0.6,
            tol=0.0,
            max_steps=1,
        ),
    )
    yield (
        "a wild first try shrinks until it fits",
        dict(
            H=1e6 * np.diag([1.0, 1.0, 7.0]),
            q=np.zeros(3),
            x0=away(rng, 3),
            t0=3.0,
            beta=0.5,
            tol=0.0,
            max_steps=1,
        ),
    )
    # steep far out, flat near the minimum: the steps have to grow on the way
    yield (
        "bolder after each step",
        dict(
            H=np.eye(2),
            q=rng.uniform(1, 2, 2),
            x0=away(rng, size=4.0),
            t0=0.9,
            beta=0.55,
            tol=0.0,
            max_steps=4,
        ),
    )
    yield (
        "bolder after each step",
        dict(
            H=np.diag([0.5, 1.0]),
            q=flat,
            x0=away(rng),
            t0=0.01,
            beta=0.5,
            tol=0.0,
            max_steps=5,
        ),
    )
    yield (
        "stops when the gradient is small",
        dict(
            H=np.diag([1.0, 2.0, 3.0]),
            q=np.zeros(3),
            x0=away(rng, 3),
            t0=0.35,
            beta=0.8,
            tol=0.05,
            max_steps=200,
        ),
    )
    # at t = ½ f(x − t g) is f(x) − t/2 ‖g‖², to the last digit
    yield (
        "exactly enough is enough",
        dict(
            H=2 * np.eye(1),
            q=np.zeros(1),
            x0=np.array([float(rng.choice([-2, -1, 1, 2]))]),
            t0=2.0,
            beta=0.5,
            tol=0.0,
            max_steps=3,
        ),
    )
    yield (
        "whole numbers to start from",
        dict(
            H=np.diag([1.0, 2.0]),
            q=flat,
            x0=np.array([3, -2]),
            t0=0.3,
            beta=0.5,
            tol=0.0,
            max_steps=2,
        ),
    )
    # three coordinates of one size: the norm differs from its largest entry and from their sum
    yield (
        "stops when the gradient is small",
        dict(
            H=np.eye(3),
            q=np.zeros(3),
            x0=away(rng, 3),
            t0=0.1,
            beta=0.9,
            tol=0.05,
            max_steps=200,
        ),
    )
    yield (
        "no more than max_steps",
        dict(
            H=np.diag([1.0, 2.0]),
            q=flat,
            x0=away(rng, size=5.0),
            t0=0.02,
            beta=0.9,
            tol=1e-3,
            max_steps=3,
        ),
    )
    yield (
        "no step at all",
        dict(H=np.eye(2), q=flat, x0=away(rng), t0=0.3, beta=0.5, tol=0.1, max_steps=0),
    )
    yield (
        "a stationary start stays where it is",
        dict(
            H=bowl(rng, 1, 4),
            q=flat,
            x0=np.zeros(2),
            t0=0.7,
            beta=0.5,
            tol=0.0,
            max_steps=5,
        ),
    )
    yield (
        "where f curves down every step passes",
        dict(
            H=-np.eye(2),
            q=flat,
            x0=away(rng),
            t0=5.0,
            beta=0.5,
            tol=0.0,
            max_steps=2,
        ),
    )


descend.mistakes(
    {
        "exactly enough does not pass": (
            "f(x - t * g) > f(x) - t / 2 * slope",
            "f(x - t * g) >= f(x) - t / 2 * slope",
            "The test is passed when both sides are equal. Try the example of the docstring.",
        ),
        "whole numbers cut off": (
            "np.array(path), np.array(sizes)",
            "np.array(path, np.asarray(x0).dtype), np.array(sizes)",
            "x0 may hold whole numbers; the path does not. Which kind of numbers does your array keep?",
        ),
        "any decrease is accepted": (
            "f(x) - t / 2 * slope:",
            "f(x):",
            "f went down, but by how much? Compare with half of what the plane promises.",
        ),
        "shrinks once only": (
            "while f(x - t * g)",
            "if f(x - t * g)",
            "After one shrink, was the test passed? Look again until it is.",
        ),
        "the norm is not squared": (
            "f(x) - t / 2 * slope",
            "f(x) - t / 2 * math.sqrt(slope)",
            "Look at the units of the promised decrease: one gradient from the slope, one from the step.",
        ),
        "asks for the whole first-order decrease": (
            "t / 2 * slope",
            "t * slope",
            "A curved-up function never falls as far as its plane. What share of it is asked for?",
        ),
        "the promise stays that of t0": (
            "f(x - t * g) > f(x) - t / 2",
            "t > 1e-60 and f(x - t * g) > f(x) - t0 / 2",
            "A shorter step promises less. Which t belongs on the right side of the test?",
        ),
        "halves, whatever beta is": (
            "t = beta * t",
            "t = t / 2",
            "Where does beta enter your inner loop?",
        ),
        "never bolder again": (
            "t = t / beta",
            "t = t + 0",
            "Once short, your steps stay short. What is the first try after an accepted step?",
        ),
        "each step begins at t0": (
            "t = t / beta",
            "t = t0",
            "The next first try is the accepted step, one notch bolder. Who remembers it?",
        ),
        "always doubles": (
            "t = t / beta",
            "t = 2 * t",
            "A notch is as large upward as downward: it was beta on the way down.",
        ),
        "bolder before the first try": (
            "np.array(x0, float), t0",
            "np.array(x0, float), t0 / beta",
            "Is t0 itself the very first try?",
        ),
        "notes the next first try": (
            "sizes.append(t)\n        t = t / beta",
            "t = t / beta\n        sizes.append(t)",
            "Which sizes do you note: those that were taken, or those that come next?",
        ),
        "the gradient is taken once, at the start": (
            "g = grad(x)",
            "g = grad(path[0])",
            "The slope changes on the way. At which point do you evaluate the gradient in the second step?",
        ),
        "the squared norm is compared with tol": (
            "math.sqrt(slope) <= tol",
            "slope <= tol",
            "Your path stops too early or too late. Is it the norm, or its square, that has to reach tol?",
        ),
        "the largest entry is compared with tol": (
            "math.sqrt(slope) <= tol",
            "np.abs(g).max() <= tol",
            "tol is for the length of the gradient. Three entries of 0.9 tol: how long is that vector?",
        ),
        "gives up after ten tries": (
            "while f(x - t * g) > f(x) - t / 2 * slope",
            "first = t\n        while t > first * beta**10 and f(x - t * g) > f(x) - t / 2 * slope",
            "A wild first try may need many more tries. Does your inner loop end before the test is passed?",
        ),
        "tiny steps pass untested": (
            "while f(x - t * g) > f(x) - t / 2 * slope",
            "while t > 1e-6 and f(x - t * g) > f(x) - t / 2 * slope",
            "On a very steep slope even a millionth is too long. Which number stands in your inner loop?",
        ),
        "a gradient that is exactly tol does not stop": (
            "<= tol",
            "< tol",
            "With tol = 0 a stationary start must stop at once: at most tol, or less than tol?",
        ),
        "tol is never looked at": (
            "math.sqrt(slope) <= tol",
            "False",
            "When the gradient is small enough, the path ends early. Where is tol in your loop?",
        ),
        "one step too few": (
            "< max_steps",
            "< max_steps - 1",
            "max_steps counts steps, not rows: k steps make k + 1 rows.",
        ),
        "steps of length t": (
            "x = x - t * g",
            "x = x - t * g / (math.sqrt(slope) or 1.0)",
            "You tried x minus t times the gradient, and then stepped elsewhere.",
        ),
        "the start is missing": (
            "return np.array(path)",
            "return np.array(path[1:]).reshape(-1, len(x0))",
            "The path begins with x0: k steps make k + 1 rows.",
        ),
        "steps uphill": (
            "x = x - t * g",
            "x = x + t * g",
            "Which way does the gradient point: up or down?",
        ),
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
    reference=lambda X, lam: reference.logistic_smoothness(X, lam),
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
    yield "one row", dict(X=2 * away(rng, 3)[None], lam=0.0)
    yield "more columns than rows", dict(X=rng.normal(size=(2, 4)), lam=0.2)
    yield "all zeros: only the penalty curves", dict(X=np.zeros((3, 2)), lam=0.3)


logistic_smoothness.mistakes(
    {
        "the curvature of least squares": (
            "(4 * len(X))",
            "len(X)",
            "The second derivative of the logistic loss is p (1 − p). How large can it get?",
        ),
        "the sum in place of the mean": (
            "(4 * len(X))",
            "4",
            "Write every row twice: the mean loss is the same. Is your L?",
        ),
        "the singular value is not squared": (
            "np.linalg.eigvalsh(X.T @ X)[-1]",
            "np.linalg.norm(X, 2)",
            "Double X. At w = 0 every second derivative of the data part gets four times as large: does yours?",
        ),
        "the sum of the eigenvalues": (
            "[-1]",
            ".sum()",
            "The trace is a bound, but a loose one: L is the curvature in one direction, the worst.",
        ),
        "the penalty is left out": (
            " + lam",
            "",
            "What is the second derivative of lam/2 ‖w‖² in any direction?",
        ),
        "the smallest eigenvalue": (
            "[-1]",
            "[0]",
            "eigvalsh sorts in increasing order, eigvals not at all. Which one bounds the curvature from above?",
        ),
        "the longest row": (
            "largest / (4 * len(X))",
            "np.sum(X**2, axis=1).max() / 4",
            "That bounds the curvature of each row's loss, and so of the mean. But is it the smallest bound?",
        ),
        "half of the penalty": (
            "+ lam",
            "+ lam / 2",
            "The penalty is lam/2 ‖w‖². Differentiate it twice.",
        ),
        "the columns are centred first": (
            "X.T @ X",
            "(X - X.mean(0)).T @ X",
            "The Hessian has X as it is. Only a covariance subtracts the mean.",
        ),
        "one half for p (1 − p)": (
            "4 *",
            "2 *",
            "At which p is p (1 − p) largest, and what is it there?",
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
    reference=lambda H, c, offset, x, x_star, t, L: reference.proof_margins(
        H, c, offset, x, x_star, t, L
    ),
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


@proof_margins.cases
def _(rng):
    c = rng.normal(size=2)
    yield (
        "a step within 1/L: nothing negative",
        dict(
            H=bowl(rng, 1, 4), c=c, offset=0.0, x=c + away(rng), x_star=c, t=0.2, L=4.0
        ),
    )
    c = rng.normal(size=3)
    yield (
        "a minimum value that is not zero",
        dict(
            H=bowl(rng, 1, 4, 3),
            c=c,
            offset=3.0,
            x=c + away(rng, 3),
            x_star=c,
            t=0.1,
            L=5.0,
        ),
    )
    c = rng.normal(size=2)
    yield (
        "a step beyond 1/L: a line breaks",
        dict(
            H=np.diag([1.0, 4.0]),
            c=c,
            offset=1.0,
            x=c + np.array([0.1, rng.uniform(1, 2)]),
            x_star=c,
            t=0.45,
            L=4.0,
        ),
    )
    yield (
        "compared with a point that is not the minimiser",
        dict(
            H=bowl(rng, 1, 4),
            c=np.zeros(2),
            offset=-1.0,
            x=away(rng),
            x_star=away(rng, size=1.0),
            t=0.15,
            L=4.0,
        ),
    )
    yield (
        "compared with a point that is not the minimiser",
        dict(
            H=bowl(rng, 1, 4),
            c=np.zeros(2),
            offset=2.0,
            x=away(rng, size=0.5),
            x_star=away(rng, size=3.0),
            t=0.15,
            L=4.0,
        ),
    )
    yield (
        "at the minimiser all margins vanish",
        dict(
            H=bowl(rng, 1, 4),
            c=np.array([1.0, 2.0]),
            offset=0.5,
            x=np.array([1.0, 2.0]),
            x_star=np.array([1.0, 2.0]),
            t=0.2,
            L=4.0,
        ),
    )


proof_margins.mistakes(
    {
        "left side minus right side": (
            "np.array(",
            "-np.array(",
            "A true line must give a margin that is zero or more.",
        ),
        "line 2 promises the full t ‖g‖²": (
            "t / 2",
            "t",
            "In line 2, the curvature eats half of what the tangent promises.",
        ),
        "line 1 without the curvature term": (
            " + L / 2 * np.sum((new - x) ** 2)",
            "",
            "Line 1 is a parabola, not a tangent: where is L in it?",
        ),
        "line 3 takes the gap before the step": (
            "(f(new) - f(x_star))",
            "(f(x) - f(x_star))",
            "In line 3, which point has its gap on the left: the old one or the new one?",
        ),
        "line 3 takes the gap without its sign": (
            "(f(new) - f(x_star))",
            "abs(f(new) - f(x_star))",
            "The left side of line 3 may be negative: x* is any point that you are given.",
        ),
        "line 3 forgets f(x*)": (
            "(f(new) - f(x_star))",
            "f(new)",
            "The left side of line 3 is a gap. What if the smallest value of f is not 0?",
        ),
        "line 3 uses distances, not their squares": (
            "np.sum((x - x_star) ** 2) - np.sum((new - x_star) ** 2)",
            "np.linalg.norm(x - x_star) - np.linalg.norm(new - x_star)",
            "Only squared distances come out of completing the square.",
        ),
        "line 1 with 1/t in place of L": (
            "L / 2",
            "1 / t / 2",
            "The parabola whose bottom is the step has 1/(2t), line 1 has L/2: they agree at t = 1/L only.",
        ),
        "line 1 without the half": (
            "L / 2",
            "L",
            "A remainder of second order has a factor in front of the curvature.",
        ),
        "line 2 with 1/L in place of t": (
            "t / 2",
            "1 / L / 2",
            "Line 2 is for the t of the step, also where t is not 1/L.",
        ),
        "line 3 without the half": (
            "(2 * t)",
            "t",
            "Look at the denominator of line 3 once more.",
        ),
        "the step is 1/L": (
            "x - t * g",
            "x - g / L",
            "The new point is x − t ∇f(x), with the t that is given.",
        ),
        "negative margins are cut off": (
            "np.array([line1, line2, line3])",
            "np.maximum([line1, line2, line3], 0)",
            "A negative margin is what shows that a line breaks: return it as it is.",
        ),
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
    reference=lambda m, L, t, eps: reference.steps_needed(m, L, t, eps),
    compare=exact(),
    hints=[
        "Compute rho first. For which rho and eps is there nothing to count?",
        "From rho = 1 on, the distance never shrinks; below, every k is one more factor rho. When is rho**k small enough for the first time?",
        "Handle eps >= 1 and then rate >= 1 first. Then count k up from 1 while rate**k is above eps.",
    ],
)


@steps_needed.cases
def _(rng):
    # eps is drawn, so that rate**k = eps never happens by accident; below, halving meets it on purpose
    yield (
        "a short step: the flat direction decides",
        dict(
            m=1.0,
            L=float(rng.uniform(8, 12)),
            t=float(rng.uniform(0.04, 0.06)),
            eps=float(rng.uniform(1e-4, 2e-4)),
        ),
    )
    yield (
        "a long step: the steep direction decides",
        dict(
            m=1.0,
            L=10.0,
            t=float(rng.uniform(0.19, 0.195)),
            eps=float(rng.uniform(1e-4, 2e-4)),
        ),
    )
    yield (
        "the best step 2/(m + L)",
        dict(m=2.0, L=50.0, t=2 / 52, eps=float(rng.uniform(1e-6, 2e-6))),
    )
    yield (
        "beyond 2/L it never arrives",
        dict(m=1.0, L=10.0, t=float(rng.uniform(0.21, 0.3)), eps=0.01),
    )
    yield "exactly 2/L: it swings for ever", dict(m=1.0, L=8.0, t=0.25, eps=0.01)
    yield (
        "a round bowl is solved in one step",
        dict(m=4.0, L=4.0, t=0.25, eps=float(rng.uniform(0.001, 0.1))),
    )
    k = int(rng.choice([1, 2, 4]))  # powers of two: logarithms and products are exact
    yield "exactly eps is enough", dict(m=1.0, L=1.0, t=0.5, eps=0.5**k)
    yield "exactly eps is enough", dict(m=1.0, L=1.0, t=0.5, eps=0.5**29)
    yield (
        "many thousands of steps",
        dict(m=1.0, L=1e5, t=1e-5, eps=float(rng.uniform(0.5, 0.6))),
    )
    yield "near enough already", dict(m=1.0, L=10.0, t=0.1, eps=1.0)
    yield (
        "near enough already",
        dict(m=1.0, L=10.0, t=0.1, eps=float(rng.uniform(1.5, 2))),
    )
    yield "near enough already", dict(m=1.0, L=10.0, t=0.3, eps=1.0)


steps_needed.mistakes(
    {
        "only the flat direction": (
            "max(abs(1 - t * m), abs(1 - t * L))",
            "abs(1 - t * m)",
            "What happens to the steep coordinate when t is close to 2/L? A factor of −0.9 shrinks no faster than 0.9.",
        ),
        "only the steep direction": (
            "max(abs(1 - t * m), abs(1 - t * L))",
            "abs(1 - t * L)",
            "With a short step, which coordinate is the last to arrive?",
        ),
        "one step too few": (
            "return k",
            "return k - 1",
            "After your number of steps, is rho**k really at most eps? One more?",
        ),
        "the rate of f, not of the distance": (
            "max(abs(1 - t * m), abs(1 - t * L))",
            "max(abs(1 - t * m), abs(1 - t * L)) ** 2",
            "eps is asked of the distance. The gap of f shrinks by the square of the rate.",
        ),
        "divergence is not noticed": (
            "math.inf",
            "0 if rho == 1 else math.ceil(math.log(1 / eps) / math.log(rho))",
            "Multiply by 1.2 again and again: do you ever get below eps? Say so with math.inf.",
        ),
        "mixes log and log10": (
            "k = 1",
            "k = max(1, math.ceil(math.log10(eps) / math.log(rho or 0.5)))\n    return k",
            "A quotient of logarithms is right in any base, as long as it is the same base twice.",
        ),
        "a quotient of logarithms that rounds up": (
            "k = 1",
            "return max(1, math.ceil(math.log(eps) / math.log(rho or 0.5)))\n    k = 1",
            "A quotient of logarithms can come out a hair above a whole number. Is one step less enough?",
        ),
        "exactly eps is not enough": (
            "rho**k > eps",
            "rho**k >= eps",
            "Half of it after one step: if eps is one half, how many steps are needed?",
        ),
        "nearly 1 counts as 1": (
            "rho >= 1",
            "rho >= 1 - 1e-4",
            "A factor of 0.99999 arrives, too, only late.",
        ),
        "gives up after 1000": (
            "while rho**k > eps",
            "while rho**k > eps and k < 1000",
            "k may be many thousands. Does your search end too early?",
        ),
        "divergence comes before eps >= 1": (
            "if eps >= 1:",
            "if eps >= 1 and rho < 1:",
            "If the start is near enough already, does it matter what the steps would do?",
        ),
        "the rate of the best step": (
            "max(abs(1 - t * m), abs(1 - t * L))",
            "math.inf if t >= 2 / L else (L - m) / (L + m)",
            "(κ − 1)/(κ + 1) belongs to t = 2/(m + L). Which t is given here?",
        ),
        "at least one step": (
            "return 0",
            "return 1",
            "eps >= 1 needs no step: count from 0.",
        ),
        "the estimate log(1/eps) / (1 − rho)": (
            "return k",
            "return math.ceil(math.log(1 / eps) / (1 - rho))",
            "That is an upper estimate, good for a rate near 1. Ask for the first k itself.",
        ),
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
    reference=lambda H, c, x0, t, n_steps: reference.ngd_path(H, c, x0, t, n_steps),
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


@ngd.cases
def _(rng):
    yield (
        "every step has length t",
        dict(
            H=bowl(rng, 1, 4), c=rng.normal(size=2), x0=5 * away(rng), t=0.4, n_steps=4
        ),
    )
    yield (
        "every step has length t",
        dict(
            H=bowl(rng, 1, 3, 3), c=np.zeros(3), x0=5 * away(rng, 3), t=1.5, n_steps=3
        ),
    )
    yield (
        "a tiny gradient makes no tiny step",
        dict(
            H=np.diag([1.0, -1.0]),
            c=np.zeros(2),
            x0=away(rng, size=1e-4),
            t=0.25,
            n_steps=4,
        ),
    )
    yield (
        "a tiny gradient makes no tiny step",
        dict(H=np.eye(2), c=np.zeros(2), x0=away(rng, size=5e-9), t=100.0, n_steps=1),
    )
    yield (
        "a tiny gradient makes no tiny step",
        dict(H=np.eye(2), c=np.zeros(2), x0=away(rng, size=1e-100), t=0.5, n_steps=1),
    )
    yield (
        "whole numbers to start from",
        dict(H=np.eye(2), c=np.zeros(2), x0=np.array([3, -4]), t=0.25, n_steps=2),
    )
    yield (
        "a zero gradient stays",
        dict(
            H=np.diag([1.0, -1.0]),
            c=np.array([2.0, 1.0]),
            x0=np.array([2.0, 1.0]),
            t=0.25,
            n_steps=3,
        ),
    )
    # binary fractions: the third step lands exactly on the minimum
    yield (
        "lands on the minimum and stays",
        dict(H=np.eye(2), c=np.zeros(2), x0=np.array([1.5, 0.0]), t=0.5, n_steps=5),
    )
    yield (
        "no step at all",
        dict(H=np.eye(2), c=np.zeros(2), x0=away(rng), t=0.5, n_steps=0),
    )


ngd.mistakes(
    {
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, np.asarray(x0).dtype)",
            "x0 may hold whole numbers; the path does not. Which kind of numbers does your array keep?",
        ),
        "zero divided by zero": (
            " if norm > 0 else path[-1]",
            "",
            "What is g / ‖g‖ where the gradient is exactly zero? Look for nan.",
        ),
        "each coordinate by itself": (
            "g / norm if norm > 0 else path[-1]",
            "np.sign(g)",
            "g / |g| entry by entry is a vector of signs: how long is it in two dimensions?",
        ),
        "divided by the squared norm": (
            "np.linalg.norm(g)",
            "g @ g",
            "Which length does g / (g @ g) have?",
        ),
        "stops short at a zero gradient": (
            "np.linalg.norm(g)",
            "np.linalg.norm(g)\n        if norm == 0:\n            break",
            "The path has n_steps + 1 rows, also when the point does not move.",
        ),
        "divided by the first norm": (
            "np.linalg.norm(g)",
            "np.linalg.norm(grad(x0))",
            "At which point is the norm taken in the second step?",
        ),
        "stays where the gradient is almost zero": (
            "norm > 0",
            "norm > 1e-8",
            "Only a gradient that is exactly zero has no direction. How long is your step where its norm is 1e-9, or 1e-100?",
        ),
        "plain gradient descent": (
            " / norm if norm > 0 else path[-1]",
            "",
            "Measure your steps: np.linalg.norm(np.diff(path, axis=0), axis=1). Are they all t?",
        ),
        "a small number added to the norm": (
            "norm if norm > 0 else path[-1]",
            "(norm + 1e-8)",
            "Measure a step from a gradient of norm 1e-9: g / (‖g‖ + 1e-8) is not a unit vector there.",
        ),
        "only long gradients are shortened": (
            "norm if norm > 0 else path[-1]",
            "max(norm, 1)",
            "That is clipping. Here a short gradient is made longer, too.",
        ),
        "divided by the largest entry": (
            "np.linalg.norm(g)",
            "np.abs(g).max()",
            "The largest entry becomes 1, but how long is the whole vector?",
        ),
        "steps uphill": (
            "- t * g",
            "+ t * g",
            "Which way does the gradient point: up or down?",
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
    reference=lambda H, c, x0, radius, t, n_steps: reference.pgd_path(
        H, c, x0, radius, t, n_steps
    ),
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


@pgd.cases
def _(rng):
    yield (
        "ends on the rim where the minimum is outside",
        dict(
            H=bowl(rng, 1, 3),
            c=away(rng, size=4.0),
            x0=away(rng, size=0.5),
            radius=1.0,
            t=0.25,
            n_steps=5,
        ),
    )
    yield (
        "plain descent where the minimum is inside",
        dict(
            H=bowl(rng, 1, 3, 3),
            c=away(rng, 3, size=0.3),
            x0=away(rng, 3, size=0.9),
            radius=1.0,
            t=0.2,
            n_steps=4,
        ),
    )
    yield (
        "ends on the rim where the minimum is outside",
        dict(
            H=bowl(rng, 1, 3, 3),
            c=away(rng, 3, size=4.0),
            x0=away(rng, 3, size=0.5),
            radius=1.0,
            t=0.25,
            n_steps=3,
        ),
    )
    # the step lands on c: its length is beyond the radius where its square is not, and the other way round
    for radius, length in ((0.5, 0.6), (3.0, 2.0)):
        yield (
            "a radius that is not 1",
            dict(
                H=np.eye(2),
                c=away(rng, size=length),
                x0=away(rng, size=0.3),
                radius=radius,
                t=1.0,
                n_steps=1,
            ),
        )
    yield (
        "a radius that is not 1",
        dict(
            H=bowl(rng, 1, 3),
            c=away(rng, size=9.0),
            x0=away(rng, size=2.5),
            radius=3.0,
            t=0.2,
            n_steps=3,
        ),
    )
    yield (
        "a small ball",
        dict(
            H=bowl(rng, 1, 3),
            c=away(rng, size=1.0),
            x0=away(rng, size=0.1),
            radius=0.2,
            t=0.3,
            n_steps=3,
        ),
    )
    # the first step leaves the ball and the second would come back: order and start of each step matter
    yield (
        "the next step starts from the projected point",
        dict(
            H=np.diag([1.0, 4.0]),
            c=away(rng, size=0.5),
            x0=np.array([0.0, 0.95]),
            radius=1.0,
            t=0.45,
            n_steps=4,
        ),
    )
    yield (
        "whole numbers to start from",
        dict(
            H=np.diag([1.0, 2.0]),
            c=away(rng, size=9.0),
            x0=np.array([1, -2]),
            radius=3.0,
            t=0.2,
            n_steps=2,
        ),
    )
    yield (
        "the centre stays",
        dict(
            H=np.eye(2),
            c=np.zeros(2),
            x0=np.zeros(2),
            radius=1.0,
            t=0.5,
            n_steps=2,
        ),
    )
    yield (
        "no step at all",
        dict(
            H=np.eye(2),
            c=np.ones(2),
            x0=away(rng, size=0.5),
            radius=1.0,
            t=0.5,
            n_steps=0,
        ),
    )


pgd.mistakes(
    {
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, np.asarray(x0).dtype)",
            "x0 may hold whole numbers; the path does not. Which kind of numbers does your array keep?",
        ),
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
            "y / max(1, norm / radius)",
            "np.clip(y, -radius, radius)",
            "Clip (0.9, 0.9) to [−1, 1]: is its length at most 1?",
        ),
        "the radius is taken for 1": (
            "norm / radius",
            "norm",
            "Your points stay in a ball of radius 1. Where is radius?",
        ),
        "the squared norm": (
            "np.linalg.norm(y)",
            "y @ y",
            "How long is y after your division? Is it the norm or its square?",
        ),
        "the squared norm decides": (
            "max(1, norm / radius)",
            "(norm / radius if norm**2 > radius else 1)",
            "You ask whether y is outside, and compare two things: a length and a square?",
        ),
        "does not project": (
            "y / max(1, norm / radius)",
            "y",
            "Measure your points: are they all in the ball?",
        ),
        "projects once, at the end": (
            "path.append(y / max(1, norm / radius))\n    return np.array(path)",
            "path.append(y)\n    return np.array([p * min(1, radius / (np.linalg.norm(p) or 1)) for p in path])",
            "The second step starts from the nearest point, not from where the first one ended.",
        ),
        "a step that leaves is not made": (
            "y / max(1, norm / radius)",
            "y if norm <= radius else path[-1]",
            "A step that ends outside is brought back to the rim. Yours is dropped.",
        ),
        "projects the gradient": (
            "t * grad(path[-1])",
            "t * grad(path[-1]) * min(1, radius / (np.linalg.norm(grad(path[-1])) or 1))",
            "It is the point that has to stay in the ball. The step is as long as ever.",
        ),
        "the start is missing": (
            "np.array(path)",
            "np.array(path[1:]).reshape(-1, len(x0))",
            "The path begins with x0: n_steps steps make n_steps + 1 rows.",
        ),
        "steps uphill": (
            "path[-1] - t * grad",
            "path[-1] + t * grad",
            "Which way does the gradient point: up or down?",
        ),
        "distance from the start": (
            "np.linalg.norm(y)",
            "np.linalg.norm(y - x0)",
            "The ball is round 0. From where do you measure?",
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

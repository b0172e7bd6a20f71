"""Exercises of 03_optimisation/02_momentum_and_adam."""

import math

import numpy as np
import torch

from descent.compare import close, within
from solutions.spec import Exercise

from . import reference

SUMS = dict(rtol=1e-6, atol=1e-12)  # a few products; what is 0 is exactly 0


def away(rng, *shape):
    """Numbers of both signs between 0.5 and 2 in size: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2, shape)


def near(rng, *values):
    """The values, each up to 2 % off: what decides is the same in every draw, the numbers are not."""
    return np.array(values) * rng.uniform(0.98, 1.02, np.shape(values))


# -------------------------------------------------------------------------------------------- ewa

ewa = Exercise(
    "ewa",
    reference=reference.ewa,
    compare=close(rtol=1e-6),
    hints=[
        "Keep one variable, the average so far. It starts at 0 and changes once for each value of x.",
        "Append to a list what you report, and let the recursion itself go on from the raw average. With correct=True "
        "you report the raw one divided by the sum of its weights.",
        "Loop with enumerate(x, start=1), so that you have t. What is reported is v, or v over 1 minus beta to the "
        "power t.",
    ],
)


@ewa.cases
def _(rng):
    def series(*shape, beta=0.8, correct=False, x=None):
        return dict(x=away(rng, *shape) if x is None else x, beta=beta, correct=correct)

    for correct in (False, True):
        end = "corrected" if correct else "raw"
        yield f"numbers, {end}", series(8, correct=correct)
        yield f"vectors, one per step, {end}", series(5, 3, beta=0.7, correct=correct)
    yield "a long memory", series(6, beta=0.999, correct=True)
    yield "a long memory", series(6, beta=0.999)
    yield (
        "a constant comes back once corrected",
        series(x=np.full(6, rng.uniform(2, 4)), beta=0.95, correct=True),
    )
    for correct in (False, True):
        yield "beta = 0 remembers nothing", series(4, beta=0.0, correct=correct)
        yield "one value is enough", series(1, beta=0.9, correct=correct)
    whole = rng.integers(1, 10, 5)
    yield "whole numbers have averages with decimals", series(x=whole, beta=0.9)
    yield "whole numbers have averages with decimals", series(x=whole, correct=True)
    yield "raw, where nothing is said", dict(x=away(rng, 4), beta=0.8)


ewa.mistakes(
    {
        "old and new weights swapped": (
            "beta * v + (1 - beta) * x_t",
            "(1 - beta) * v + beta * x_t",
            "With beta = 0.99 the average should hardly move. Which of the two terms carries beta?",
        ),
        "a sum, not an average": (
            "(1 - beta) * x_t",
            "x_t",
            "Feed in a constant for long: where does your memory settle?",
        ),
        "started at the first value": (
            "v = 0.0",
            "v = x[0]",
            "What is v_0 in the text? Work out the first result for x = [10.0] and beta = 0.9 by hand.",
        ),
        "corrected value fed back": (
            "averages.append(v / (1 - beta**t) if correct else v)",
            "v = v / (1 - beta**t) if correct else v\n        averages.append(v)",
            "The correction is a way to read the memory. Does your loop go on from the raw value or from the "
            "corrected one?",
        ),
        "same correction at every step": (
            "beta**t",
            "beta",
            "The first average holds one weight, the tenth holds ten. Does your divisor know how many there were?",
        ),
        "correction left out": (
            "v / (1 - beta**t) if correct else v",
            "v",
            "Feed in a constant with correct=True. Does it come back from the first step on?",
        ),
        "corrected although not asked": (
            " if correct else v",
            "",
            "With correct=False the raw average is wanted. What decides which of the two you append?",
        ),
        "steps counted one too far": (
            "start=1",
            "start=2",
            "How many values are in the memory at the first step? Compare your divisor with the sum of their weights.",
        ),
        "whole numbers cut off": (
            "np.array(averages)",
            "np.array(averages, np.asarray(x).dtype)",
            "Where x holds whole numbers, an array of its kind has no room for decimals.",
        ),
        "the memory is changed in place": (
            "v = beta * v + (1 - beta) * x_t",
            "v = 0.0 * x_t if t == 1 else v\n        v *= beta\n        v += (1 - beta) * x_t",
            "For vectors `v *= …` changes the array that is already in your list. Print the first row in the end.",
        ),
    }
)


ewa.worked(
    why=r"""One variable carries the whole past: each step multiplies all old weights by $\beta$ and adds the newest value with the
    weight $1-\beta$. The weights so far add up to $1-\beta^t$, so dividing by that makes a proper weighted mean of what is reported, and
    the memory itself stays untouched. Multiplying into a new `v` each time keeps the reported vectors apart."""
)


@ewa.right("as a weighted sum with the kernel")
def _(x, beta, correct=False):
    out = []
    for t in range(1, len(x) + 1):
        w = (1 - beta) * beta ** np.arange(t)[::-1]
        out.append(np.tensordot(w / w.sum() if correct else w, x[:t], axes=1))
    return np.array(out)


@ewa.right("as a list, from the difference to the newest value")
def _(x, beta, correct=False):
    v, out = 0.0, []
    for t, x_t in enumerate(x, start=1):
        v = v + (1 - beta) * (x_t - v)
        out.append(v / (1 - beta**t) if correct else v)
    return out


@ewa.right("as a filter", library="scipy.signal.lfilter")
def _(x, beta, correct=False):
    from scipy.signal import lfilter

    raw = lfilter([1 - beta], [1.0, -beta], np.asarray(x, float), axis=0)
    held = 1 - beta ** np.arange(1, len(x) + 1)
    return (raw.T / held).T if correct else raw


# ------------------------------------------------------------------------------------- heavy_ball

heavy_ball = Exercise(
    "heavy_ball",
    reference=reference.heavy_ball,
    compare=close(rtol=1e-6),
    data_dependent="the path ends where gradient and velocity are small",
    hints=[
        "Two things travel through the loop: the place and the velocity. What must be known before the next step is "
        "made?",
        "In each round: the gradient at the last point; leave if its norm and that of v are both at most tol; renew v with "
        "the gradient; then move with the new v.",
        "The new v is gamma times v plus g; append the last point minus eta times the new v. v starts as an array of "
        "zeros, as long as theta0.",
    ],
)


@heavy_ball.probe
def _(answer, H, b, theta0, eta, gamma, max_steps, tol):
    return answer(lambda x: H @ np.asarray(x) - b, theta0, eta, gamma, max_steps, tol)


@heavy_ball.cases
def _(rng):
    def ball(H, eta, gamma, max_steps, tol=0.0, b=None, theta0=None):
        H = np.asarray(H, float)
        return dict(
            H=H,
            b=away(rng, len(H)) if b is None else np.asarray(b, float),
            theta0=away(rng, len(H)) if theta0 is None else np.asarray(theta0),
            eta=eta, gamma=gamma, max_steps=max_steps, tol=tol,
        )  # fmt: skip

    def alike(d):  # so that a norm differs from its largest entry and from the sum
        return rng.choice([-2.0, 2.0], d)

    yield "speed is kept from step to step", ball(np.diag([1, 10]), 0.05, 0.9, 6)
    tilted = [[3, 1, 0], [1, 2, 0.5], [0, 0.5, 1]]
    yield "axes that are tilted, in space", ball(tilted, 0.1, 0.6, 4)
    yield "gamma = 0 is gradient descent", ball(np.diag([1, 4]), 0.1, 0.0, 3)
    yield "a constant slope: faster and faster", ball(np.zeros((2, 2)), 0.1, 0.9, 5)
    yield "too bold, it diverges", ball(np.diag([1, 10]), 0.5, 0.5, 4, tol=0.01)
    # the first step lands on the minimum, at full speed: the gradient there is 0, to the last digit
    start = alike(1)
    yield "rolls over the bottom", ball(np.eye(1), 1.0, 0.5, 7, 0.3, [0], start)
    # after two steps both norms are ½, to the last digit
    yield (
        "exactly small enough is enough",
        ball(np.eye(1), 1.0, 0.5, 9, 0.5, [0], start / 2),
    )
    yield (
        "exactly small enough is enough",
        ball([[0]], 1.0, 0.5, 4, 0.5, start / 4, start),
    )
    yield (
        "rests where gradient and velocity are small",
        ball(np.eye(4), 0.1, 0.1, 99, 0.05, b=np.zeros(4), theta0=alike(4)),
    )
    yield (
        "rests where gradient and velocity are small",
        ball(np.eye(2), 0.5, 0.3, 99, 0.01),
    )
    # the ball turns round: it is slow where the slope is not small
    yield "turns round on a slope", ball([[1]], 0.8, 0.9, 30, 0.25, [0], 2 * start)
    yield "no steps: only the start", ball(np.eye(2), 0.1, 0.9, 0)
    yield (
        "a start at rest stays",
        ball(np.eye(2), 0.1, 0.9, 5, b=[1, -2], theta0=[1.0, -2.0]),
    )
    yield (
        "whole numbers to start from",
        ball(np.diag([1, 2]), 0.15, 0.8, 3, theta0=[3, -2]),
    )
    yield "no more than max_steps", ball(np.eye(2), 0.01, 0.5, 2, 1e-3)


heavy_ball.mistakes(
    {
        "velocity forgotten": (
            "gamma * v + g",
            "g",
            "Print v in the second step. Does it still hold anything of the first gradient?",
        ),
        "gradient scaled by 1 - gamma": (
            "gamma * v + g",
            "gamma * v + (1 - gamma) * g",
            "Compare your velocity line with the one in the text. Another convention hides a factor before the gradient.",
        ),
        "moved before the velocity was renewed": (
            "v = gamma * v + g\n        path.append(path[-1] - eta * v)",
            "path.append(path[-1] - eta * v)\n        v = gamma * v + g",
            "Where does your first step go? With v = 0 before it, it should already move by eta times the gradient.",
        ),
        "gradient taken ahead": (
            "grad(path[-1])",
            "grad(path[-1] - eta * gamma * v)",
            "That is Nesterov's ball: it asks for the slope where the velocity will carry it. At which point does this "
            "one ask?",
        ),
        "step size used twice": (
            "gamma * v + g",
            "gamma * v + eta * g",
            "Count the places where eta stands. Compare your very first step with one of gradient descent.",
        ),
        "rolls uphill": (
            "- eta * v",
            "+ eta * v",
            "The velocity collects gradients, and they point uphill. Which way do you move?",
        ),
        "the step, not the velocity": (
            "np.linalg.norm(v) <= tol",
            "np.linalg.norm(eta * v) <= tol",
            "The velocity has to be small, whatever eta is.",
        ),
        "largest entries": (
            "np.linalg.norm(g) <= tol and np.linalg.norm(v)",
            "np.abs(g).max() <= tol and np.abs(v).max()",
            "tol is for lengths. Four entries of 0.9 tol: how long is that vector?",
        ),
        "stops where the slope is small, at any speed": (
            " and np.linalg.norm(v) <= tol",
            "",
            "Your ball stops at the bottom, though it gets there at full speed. What else must be small?",
        ),
        "one of the two is enough": (
            "<= tol and",
            "<= tol or",
            "Before the first step v is 0, on every slope. Must one of the two be small, or both?",
        ),
        "never rests": (
            "np.linalg.norm(g) <= tol and",
            "False and",
            "Where slope and speed are small, the path ends early. Where is tol in your loop?",
        ),
        "exactly tol is not enough": (
            "(g) <= tol and np.linalg.norm(v) <= tol",
            "(g) < tol and np.linalg.norm(v) < tol",
            "With tol = 0 a start at rest must stop at once: at most tol, or less?",
        ),
        "the squares of the norms": (
            "np.linalg.norm(g) <= tol and np.linalg.norm(v)",
            "g @ g <= tol and v @ v",
            "Is it the norm, or its square, that has to reach tol?",
        ),
        "the velocity of the step to come": (
            "if np.linalg.norm(g) <= tol and np.linalg.norm(v) <= tol:",
            "if np.linalg.norm(g) <= tol and np.linalg.norm(gamma * v + g) <= tol:",
            "Which velocity do you test: the one so far, or already the next?",
        ),
        "one step too few": (
            "range(max_steps)",
            "range(max_steps - 1)",
            "max_steps counts steps, not rows: k steps make k + 1 rows.",
        ),
        "the start is missing": (
            "np.array(path)",
            "np.array(path[1:]).reshape(-1, len(theta0))",
            "The path begins with theta0: k steps make k + 1 rows.",
        ),
        "all rows are the last point": (
            "np.array(path)",
            "np.array([path[-1]] * len(path))",
            "`x -= …` changes the array that is already in your list. Is path[0] still theta0 in the end?",
        ),
        "whole numbers cut off": (
            "np.array(path)",
            "np.array(path, np.asarray(theta0).dtype)",
            "theta0 may hold whole numbers; the path does not.",
        ),
    }
)


heavy_ball.worked(
    why=r"""It is gradient descent with one more thing to remember. The order matters: first the velocity takes in the newest gradient,
    then the ball moves, so the first step is a plain one. It rests only where slope *and* speed are small: a rolling ball crosses the
    bottom, where the slope is 0, and at the turning points, where it is slow, the slope pulls it back. A new `v` each step leaves the
    rows of the path alone."""
)


@heavy_ball.right("with the step size inside the velocity")
def _(grad, theta0, eta, gamma, max_steps, tol=0.0):
    path, u = [np.asarray(theta0, float)], np.zeros(len(theta0))
    while len(path) <= max_steps:
        g = np.asarray(grad(path[-1]))
        if max(math.hypot(*g), math.hypot(*(u / eta))) <= tol:
            break
        u = gamma * u - eta * g
        path.append(path[-1] + u)
    return path


@heavy_ball.right("rows of one array")
def _(grad, theta0, eta, gamma, max_steps, tol=0.0):
    path = np.zeros((max_steps + 1, len(theta0)))
    path[0], v = theta0, np.zeros(len(theta0))
    for k in range(max_steps):
        g = grad(path[k])
        if np.sqrt(g @ g) <= tol and np.sqrt(v @ v) <= tol:
            return path[: k + 1]
        v = gamma * v + g
        path[k + 1] = path[k] - eta * v
    return path


@heavy_ball.right("by torch's optimiser", library="torch.optim.SGD")
def _(grad, theta0, eta, gamma, max_steps, tol=0.0):
    x = torch.tensor(theta0, dtype=torch.float64)
    optimiser = torch.optim.SGD([x], lr=eta, momentum=gamma)
    path, v = [x.numpy().copy()], 0.0
    for _ in range(max_steps):
        x.grad = torch.as_tensor(grad(path[-1]), dtype=torch.float64)
        if x.grad.norm() <= tol and np.linalg.norm(v) <= tol:
            break
        optimiser.step()
        path.append(x.numpy().copy())
        v = (path[-2] - path[-1]) / eta
    return np.array(path)


# ----------------------------------------------------------------------- the steps of the methods


def moment(rng, d=3, **more):
    """Inputs of a step in full flight."""
    return dict(theta=away(rng, d), g=away(rng, d), t=int(rng.integers(4, 9))) | more


adagrad_step = Exercise(
    "adagrad_step",
    reference=lambda theta, g, G, t, eta, eps: reference.adagrad_step(
        theta, g, G, eta, eps
    ),
    compare=close(**SUMS),
    hints=[
        "Two things to renew: the sum of squares, then theta. In which order?",
        "First add the squares of the new gradient to the sum. Then move against the gradient, each weight divided by "
        "the root of its own sum.",
        "The new sum is G + g**2. The move is eta times g over the root of the new sum plus eps: eps is outside.",
    ],
)


@adagrad_step.cases
def _(rng):
    def now(eta=0.1, eps=1e-8, G=None, **more):
        given = moment(rng, **more)
        d = len(given["theta"])
        return given | dict(
            G=rng.uniform(1, 4, d) if G is None else G, eta=eta, eps=eps
        )

    scales = np.array([0.1, 1.0, 1e3])  # not so small that epsilon would count
    yield "the history counts", now()
    yield "the history counts", now(t=1)
    yield "each weight has its own", now(G=np.array([1.0, 100.0, 1e4]), eta=2.0)
    yield (
        "a first step of eta, whatever the size",
        now(g=away(rng, 3) * scales, G=0.0, t=1),
    )
    yield "no slope, no history, no move", now(g=np.zeros(3), G=np.zeros(3))
    yield (
        "epsilon stands outside the root",
        now(g=away(rng, 3) / 1e3, G=0.0, eps=1e-3, t=1),
    )
    yield "a single weight", now(d=1)
    whole = dict(theta=np.array([3, -2]), g=np.array([-1, 2]), G=np.array([4, 7]))
    yield "whole numbers", now(**whole)


STEP_MISTAKES = {
    "divided by what was before": (
        "np.sqrt({a})",
        "np.sqrt({a} - {new})",
        "On the very first step the memory is 0. Is the present gradient in it when you divide?",
    ),
    "no square root": (
        "np.sqrt({a})",
        "({a})",
        "Multiply all gradients by 10. Does your step change? Should it?",
    ),
    "epsilon inside the root": (
        "(np.sqrt({a}) + eps)",
        "np.sqrt({a} + eps)",
        "Try gradients as small as eps. What is the divisor in the formula of the text, and what is yours?",
    ),
    "no epsilon": (
        "(np.sqrt({a}) + eps)",
        "np.sqrt({a})",
        "A weight that had no gradient so far: what is your divisor there?",
    ),
    "one rate for all": (
        "np.sqrt({a})",
        "np.sqrt(np.sum({a}))",
        "Compare the rates of your weights. Each hangs on its own history only.",
    ),
    "steps uphill": (
        "theta - eta",
        "theta + eta",
        "Which way does the gradient point?",
    ),
    "along the memory": (
        "eta * g /",
        "eta * {a} /",
        "What multiplies the rate in your move, and can it ever be negative?",
    ),
    "the sign only": (
        "eta * g / (np.sqrt({a}) + eps)",
        "eta * np.sign(g)",
        "Your step has length eta always. Where is the history?",
    ),
}


def step_mistakes(a, new):
    """STEP_MISTAKES of a step whose memory is called a, and its newest part `new`."""
    return {
        name: (old.format(a=a, new=new), text.format(a=a, new=new), advice)
        for name, (old, text, advice) in STEP_MISTAKES.items()
    }


adagrad_step.mistakes(
    step_mistakes("G", "g**2")
    | {
        "gradients added up, not their squares": (
            "G + g**2",
            "np.abs(G + g)",
            "Two gradients, +1 and then −1: what does your sum say about how much has happened?",
        ),
        "sizes added up, not squares": (
            "g**2",
            "np.abs(g)",
            "Is what you add the size of the gradient, or its square?",
        ),
        "divided by t, too": (
            "(np.sqrt(G) + eps)",
            "(np.sqrt(G / t) + eps)",
            "G is a sum, not a mean: does t stand anywhere in the formula?",
        ),
        "the old sum is returned": (
            "eps), G",
            "eps), G - g**2",
            "The next step goes on from what you return. Which G is that?",
        ),
    }
)


adagrad_step.worked(
    why=r"""Each weight divides by the size of its own past, the present gradient included: so the first step has length $\eta$ in every
    weight, and a gradient that is a thousand times as large everywhere changes nothing. The sum only grows, and the steps shrink. $\epsilon$ is added after the
    root; it matters only where there was no gradient at all."""
)


@adagrad_step.right("one weight at a time, lists returned")
def _(theta, g, G, t, eta, eps=1e-8):
    sums = [float(a) + float(b) ** 2 for a, b in zip(G + 0.0 * g, g, strict=True)]
    moved = zip(theta, g, sums, strict=True)
    return [float(a) - eta * float(b) / (s**0.5 + eps) for a, b, s in moved], sums


@adagrad_step.right("by torch's optimiser", library="torch.optim.Adagrad")
def _(theta, g, G, t, eta, eps=1e-8):
    p = torch.tensor(theta, dtype=torch.float64)
    optimiser = torch.optim.Adagrad([p], lr=eta, eps=eps)
    optimiser.state[p]["sum"] += torch.as_tensor(G)
    p.grad = torch.as_tensor(g, dtype=torch.float64)
    optimiser.step()
    return p.numpy(), optimiser.state[p]["sum"].numpy()


rmsprop_step = Exercise(
    "rmsprop_step",
    reference=lambda theta, g, s, t, eta, beta=0.99, eps=1e-8: reference.rmsprop_step(
        theta, g, s, eta, beta, eps
    ),
    compare=close(**SUMS),
    hints=[
        "Only one line differs from AdaGrad: how the memory is renewed.",
        "It is the recursion of section 1, fed with the squares of g, and read without correction.",
        "The new s is beta times s plus 1 - beta times g**2. The move is AdaGrad's, with s in the place of G.",
    ],
)


@rmsprop_step.cases
def _(rng):
    def now(eta=0.01, beta=0.9, eps=1e-8, s=None, **more):
        given = moment(rng, **more)
        d = len(given["theta"])
        s = rng.uniform(3, 5, d) if s is None else s
        return given | dict(s=s, eta=eta, beta=beta, eps=eps)

    yield "an average with a memory", now()
    yield "an average with a memory", now(beta=0.5, eta=3.0)
    yield "each weight has its own", now(s=np.array([1.0, 100.0, 1e4]), eta=2.0)
    yield "beta = 0 leaves only the sign", now(beta=0.0)
    yield "the first step, from nothing", now(s=0.0, beta=0.99, t=1)
    yield "no slope, no history, no move", now(g=np.zeros(3), s=np.zeros(3))
    yield (
        "epsilon stands outside the root",
        now(g=away(rng, 3) / 1e3, s=0.0, eps=1e-3, t=1),
    )
    yield "a single weight", now(d=1)
    whole = dict(theta=np.array([3, -2]), g=np.array([-1, 2]), s=np.array([4, 7]))
    yield "whole numbers", now(**whole)
    yield "its own beta, where none is given", moment(rng, s=np.ones(3), eta=0.1)


rmsprop_step.mistakes(
    step_mistakes("s", "(1 - beta) * g**2")
    | {
        "a sum, not an average": (
            "(1 - beta) * g**2",
            "g**2",
            "Feed in a constant gradient for ever. Where does your s settle, and where should an average of g² settle?",
        ),
        "old and new weights swapped": (
            "beta * s + (1 - beta) * g**2",
            "(1 - beta) * s + beta * g**2",
            "With beta = 0.9 how much of the old average should survive a step?",
        ),
        "square of the average": (
            "beta * s + (1 - beta) * g**2",
            "(beta * np.sqrt(s) + (1 - beta) * g) ** 2",
            "Average first and square later, or square first? Try gradients +1 and −1 in turn.",
        ),
        "sizes averaged, not squares": (
            "g**2",
            "np.abs(g)",
            "Is what you average the size of the gradient, or its square?",
        ),
        "corrected like Adam's average": (
            "np.sqrt(s)",
            "np.sqrt(s / (1 - beta**t))",
            "Is there a bias correction in this formula? How long should the first step be?",
        ),
        "beta fixed in the code": (
            "beta * s + (1 - beta) * g**2",
            "0.99 * s + 0.01 * g**2",
            "Does your function use the beta that it is given, or always the same one?",
        ),
    }
)


rmsprop_step.worked(
    why=r"""One line changes: the sum becomes the fading average of section 1, fed with squares. Now old gradients lose their say, and rates
    may rise again. Without a correction the average starts too low, so the first step has the length $\eta/\sqrt{1-\beta}$: ten times $\eta$ for 0.99. Adam mends that."""
)


@rmsprop_step.right("one weight at a time, lists returned")
def _(theta, g, s, t, eta, beta=0.99, eps=1e-8):
    s = [
        float(a) + (1 - beta) * (float(b) ** 2 - float(a))
        for a, b in zip(s + 0.0 * g, g, strict=True)
    ]
    moved = zip(theta, g, s, strict=True)
    return [float(a) - eta * float(b) / (c**0.5 + eps) for a, b, c in moved], s


@rmsprop_step.right("by torch's optimiser", library="torch.optim.RMSprop")
def _(theta, g, s, t, eta, beta=0.99, eps=1e-8):
    p = torch.tensor(theta, dtype=torch.float64)
    optimiser = torch.optim.RMSprop([p], lr=eta, alpha=beta, eps=eps)
    before = torch.zeros_like(p) + torch.as_tensor(s)
    optimiser.state[p] = {"step": torch.tensor(t - 1.0), "square_avg": before}
    p.grad = torch.as_tensor(g, dtype=torch.float64)
    optimiser.step()
    return p.numpy(), before.numpy()


adam_step = Exercise(
    "adam_step",
    reference=lambda theta, g, v, s, t, eta, beta1=0.9, beta2=0.999, eps=1e-8: (
        reference.adam_step(theta, g, v, s, t, eta, beta1, beta2, eps)
    ),
    compare=close(**SUMS),
    hints=[
        "Renew two averages, one of g and one of its square, each with its own beta. Then read both with correction.",
        "The corrected values serve the move only. What you return as the pair are the raw averages: the next step goes "
        "on from them.",
        "The move is eta times v_hat over the root of s_hat plus eps; v_hat is the new v over 1 minus beta1 to the power t, s_hat the same with beta2.",
    ],
)


@adam_step.probe
def _(answer, theta, g, v, s, t, eta, **given):
    theta, (v, s) = answer(theta, g, (v, s), t, eta, **given)
    return theta, v, s


@adam_step.cases
def _(rng):
    def now(d=3, **more):
        averages = dict(v=away(rng, d), s=rng.uniform(1, 3, d))
        numbers = dict(eta=0.1, beta1=0.9, beta2=0.999, eps=1e-8)
        return moment(rng, d) | averages | numbers | more

    # not so small that epsilon would count
    first, scales = dict(v=0.0, s=0.0, t=1), np.array([0.1, 1.0, 1e3])
    yield "in full flight", now()
    yield "two different memories", now(t=3, beta1=0.5, beta2=0.8)
    yield "two different memories", now(t=2, beta1=0.9, beta2=0.3, eta=2.0)
    yield (
        "a first step of eta, whatever the size",
        now(g=away(rng, 3) * scales, **first),
    )
    yield "later, when one correction has faded", now(t=int(rng.integers(1200, 1500)))
    yield "late, when both have faded", now(t=20_000)
    own = moment(rng, v=away(rng, 3), s=rng.uniform(1, 3, 3), eta=0.1)
    yield "its own betas, where none are given", own
    zero = np.zeros(3)
    yield "no slope, no history, no move", now(g=zero, v=zero, s=zero, t=1)
    yield "it rolls on where the slope is zero", now(g=zero)
    tiny = away(rng, 3) / 1e3
    yield "epsilon stands outside the root", now(g=tiny, v=0.0, s=0.0, t=1, eps=1e-3)
    yield (
        "epsilon stands outside the root",
        now(g=tiny, v=tiny, s=tiny**2, t=3, eps=1e-3),
    )
    yield "no memory at all", now(beta1=0.0, beta2=0.0)
    yield "a single weight", now(d=1)
    whole = dict(theta=[3, -2], g=[-1, 2], v=[2, 1], s=[4, 7])
    yield "whole numbers", now(2, **{name: np.array(a) for name, a in whole.items()})


adam_step.mistakes(
    {
        "corrected averages handed on": (
            "return theta, (v, s)",
            "return theta, (v_hat, s_hat)",
            "Your move is right, but look at the pair you return: the next step must go on from the raw averages.",
        ),
        "epsilon inside the root": (
            "(np.sqrt(s_hat) + eps)",
            "np.sqrt(s_hat + eps)",
            "Try gradients as small as eps. How long should the first step be by the text's formula?",
        ),
        "no epsilon": (
            "(np.sqrt(s_hat) + eps)",
            "np.sqrt(s_hat)",
            "A weight that had no gradient so far: what is your divisor there?",
        ),
        "one beta for both averages": (
            "s = beta2 * s + (1 - beta2) * g**2",
            "s = beta1 * s + (1 - beta1) * g**2",
            "Which beta does the average of the squares use in your code?",
        ),
        "the two betas exchanged": (
            "v = beta1 * v + (1 - beta1) * g\n    s = beta2 * s + (1 - beta2) * g**2",
            "v = beta2 * v + (1 - beta2) * g\n    s = beta1 * s + (1 - beta1) * g**2",
            "Which of the two averages has the longer memory?",
        ),
        "a sum of gradients, not an average": (
            "(1 - beta1) * g\n",
            "g\n",
            "Which factor stands before the newest gradient in a fading average?",
        ),
        "a sum of squares, not an average": (
            "(1 - beta2) * g**2",
            "g**2",
            "Which factor stands before the newest square in a fading average?",
        ),
        "steps counted one too far": (
            "v / (1 - beta1**t)\n    s_hat = s / (1 - beta2**t)",
            "v / (1 - beta1 ** (t + 1))\n    s_hat = s / (1 - beta2 ** (t + 1))",
            "How many gradients are in the averages at t = 1? Compare your divisor with the sum of their weights.",
        ),
        "moved along the bare gradient": (
            "eta * v_hat",
            "eta * g",
            "That is RMSProp with a correction. What takes the place of g in Adam's move?",
        ),
        "only the second average is corrected": (
            "v_hat = v / (1 - beta1**t)",
            "v_hat = v",
            "Both averages start at 0, so both are too small at first. Which of them do you divide?",
        ),
        "only the first average is corrected": (
            "s_hat = s / (1 - beta2**t)",
            "s_hat = s",
            "Both averages start at 0, so both are too small at first. Which of them do you divide?",
        ),
        "no bias correction": (
            "v_hat = v / (1 - beta1**t)\n    s_hat = s / (1 - beta2**t)",
            "v_hat, s_hat = v, s",
            "Look at the first step: how long is it, in units of eta?",
        ),
        "same correction at every step": (
            "(1 - beta1**t)\n    s_hat = s / (1 - beta2**t)",
            "(1 - beta1)\n    s_hat = s / (1 - beta2)",
            "Your first step is right. How much weight do the averages hold at t = 5?",
        ),
        "root taken before the correction": (
            "(np.sqrt(s_hat) + eps)",
            "(np.sqrt(s) / (1 - beta2**t) + eps)",
            "What is divided by 1 − β₂ᵗ in the text: the average of the squares, or its root?",
        ),
        "no square root": (
            "np.sqrt(s_hat)",
            "s_hat",
            "Multiply all gradients by 10. Does your first step change?",
        ),
        "epsilon added to the raw root": (
            "eta * v_hat / (np.sqrt(s_hat) + eps)",
            "eta * np.sqrt(1 - beta2**t) * v_hat / (np.sqrt(s) + eps)",
            "Nearly: your correction acts on epsilon, too. In the text epsilon joins the root of the corrected average.",
        ),
        "steps uphill": (
            "theta - eta",
            "theta + eta",
            "Which way does the gradient point?",
        ),
        "squares the average": (
            "(1 - beta2) * g**2",
            "(1 - beta2) * v**2",
            "Of what is s an average: of squared gradients, or of squared averages?",
        ),
        "one rate for all": (
            "np.sqrt(s_hat)",
            "np.sqrt(np.mean(s_hat))",
            "Compare the rates of your weights. Each hangs on its own history only.",
        ),
    }
)


adam_step.worked(
    why=r"""Two memories of section 1 stand side by side: one of the gradient, one of its square. Both begin at 0 and are read with their own
    correction, which at $t=1$ gives back $g$ and $g^2$ exactly; so the first step is $\eta$ long in each weight. The raw averages are
    what goes on, because the recursion must not be corrected twice. $\epsilon$ joins the corrected root, as in PyTorch."""
)


@adam_step.right("corrections folded into the rate")
def _(theta, g, memory, t, eta, beta1=0.9, beta2=0.999, eps=1e-8):
    v = memory[0] + (1 - beta1) * (g - memory[0])
    s = memory[1] + (1 - beta2) * (g * g - memory[1])
    root = np.sqrt(1 - beta2**t)
    return theta - eta * root / (1 - beta1**t) * v / (np.sqrt(s) + eps * root), [v, s]


@adam_step.right("by torch's optimiser", library="torch.optim.Adam")
def _(theta, g, memory, t, eta, beta1=0.9, beta2=0.999, eps=1e-8):
    p = torch.tensor(theta, dtype=torch.float64)
    optimiser = torch.optim.Adam([p], lr=eta, betas=(beta1, beta2), eps=eps)
    v, s = (torch.zeros_like(p) + torch.as_tensor(a) for a in memory)
    step = torch.tensor(t - 1.0)
    optimiser.state[p] = {"step": step, "exp_avg": v, "exp_avg_sq": s}
    p.grad = torch.as_tensor(g, dtype=torch.float64)
    optimiser.step()
    return p.numpy(), (v.numpy(), s.numpy())


# ------------------------------------------------------------------------------------------- tune

tune = Exercise(
    "tune",
    reference=reference.tune,
    compare=close(rtol=1e-6),  # rates stand well apart, so rounding chooses none
    data_dependent="where a run ends and which one is best hang on its losses",
    hints=[
        "One loop over the rates, and in it one run. What has to be fresh at the start of every run, and what has to "
        "outlive it?",
        "In a run: leave if the last loss is at most goal or not finite; else make step t and append the new loss. "
        "After it: is it finite, and better than the record?",
        "Keep the record as the pair (number of losses, last loss): Python compares pairs from the left. It starts as "
        "(math.inf, math.inf), and only a smaller pair replaces it.",
    ],
)


@tune.probe
def _(answer, H, b, theta0, method, etas, goal, max_steps, edge, beyond):
    def loss(x):
        x = np.asarray(x)
        return beyond if x[0] < edge else 0.5 * x @ H @ x - b @ x

    def plain(theta, g, memory, t, eta):
        return theta - eta * g, memory

    def rolling(theta, g, v, t, eta):
        v = 0.7 * v + g
        return theta - eta * v, v

    def slowing(theta, g, memory, t, eta):
        return theta - eta / t * g, memory

    def pair(theta, g, memory, t, eta):
        v, n = memory
        v, n = 0.5 * v + g, n + 1
        return theta - eta / n * v, (v, n)

    steps = dict(plain=(plain, 0.0), rolling=(rolling, 0.0))
    steps |= dict(slowing=(slowing, 0.0), pair=(pair, (0.0, 0)))
    step, memory = steps[method]
    return answer(
        loss,
        lambda x: H @ np.asarray(x) - b,
        theta0,
        step,
        memory,
        etas,
        goal,
        max_steps,
    )


@tune.cases
def _(rng):
    def race(
        etas, goal, max_steps=8, method="plain", theta0=None, beyond=math.inf, **more
    ):
        theta0 = near(rng, 3.0, -2.0) if theta0 is None else np.asarray(theta0)
        given = dict(H=np.diag([1.0, 3.0]), b=np.zeros(2), theta0=theta0, method=method)
        given |= dict(
            etas=etas, goal=goal, max_steps=max_steps, edge=-1e9, beyond=beyond
        )
        return given | more

    size = float(
        rng.choice([2.0, 4.0])
    )  # on one flat bowl, with numbers that are exact
    exact = dict(H=np.eye(1), b=np.zeros(1), theta0=np.array([size]))
    never = -1e6
    yield "the fewest steps win", race([0.1, 0.3, 0.2], 0.05, 60)
    # 0.45 arrives first, just below the goal; slower rates end a little lower
    yield "the fewest steps win, not the lowest end", race([0.06, 0.45, 0.01], 0.3, 400)
    yield "where none arrives, the lowest end wins", race([0.02, 0.2, 0.07], never, 5)
    yield (
        "where none arrives, the lowest end wins",
        race([0.3, 0.1], never, 4, "rolling", b=near(rng, -1.5, 1.0)),
    )
    # η = 1 passes the minimum in its first step and is far off in its second
    yield (
        "the lowest end, not the lowest loss on the way",
        race([1.0, 0.3], never, 2, "rolling", **exact),
    )
    yield "a run that only rises is not lost", race([3.0], never, 3, **exact)
    yield "of equals the first", race([1.5, 0.5, 1.5], never, 3, **exact)
    yield "of equals the first", race([0.5, 1.5], size**2 / 30, 9, **exact)
    yield "met exactly is met", race([0.5], size**2 / 32, 9, **exact)
    yield "met exactly is met", race([0.25, 0.5], size**2 / 32, 2, **exact)
    yield "every run starts afresh", race([0.02, 0.2, 0.1], never, 4, "rolling")
    yield "every run starts afresh", race([0.1, 0.3], never, 4, "pair")
    yield "steps are counted from 1", race([0.4, 0.1], never, 5, "slowing")
    yield "a rise on the way is allowed", race([0.4, 0.25], 0.02, 40, "rolling")
    # the bold rates leave the region where the loss is a number
    for lost in (math.nan, math.inf, -math.inf):
        for etas in ([5.0, 0.2, 9.0], [0.2, 5.0]):
            yield (
                "a lost run never wins",
                race(
                    etas, never, 4, beyond=lost, edge=-5.0, theta0=rng.uniform(2, 3, 2)
                ),
            )
    # the second loss is no number, the third would be one again
    for lost in (math.nan, math.inf):
        yield (
            "a run ends at the first loss that is no number",
            race([1.5, 0.1], never, 6, beyond=lost, edge=-0.9, **exact),
        )
    there = race([5.0, 7.0], never, 3, edge=-5.0, theta0=rng.uniform(2, 3, 2))
    yield "every run is lost", there
    yield "every run is lost", there | dict(beyond=math.nan, goal=1e9, edge=1e9)
    yield "already there", race([0.2, 0.1], 1e6)
    yield "no steps allowed", race([0.2, 0.1], 0.01, 0)
    yield "one rate is no choice", race([0.15], 0.02, 30)
    yield "whole numbers to start from", race([0.1, 0.2], 0.5, 20, theta0=[3, -2])
    yield "losses below zero", race([0.1, 0.3], -1.0, 30, b=near(rng, -2.0, 3.0))


tune.mistakes(
    {
        "the lowest end wins, however long it takes": (
            "(len(losses), losses[-1])",
            "(0, losses[-1])",
            "Of two runs that reach the goal, which one is better: the lower one or the faster one?",
        ),
        "of equally fast ones the first": (
            "(len(losses), losses[-1])",
            "(len(losses), 0.0)",
            "Two runs take all the steps allowed and end at different losses. Which one do you keep?",
        ),
        "the last of equals": (
            "score < record",
            "score <= record",
            "Two rates give the very same losses: is yours the first of them?",
        ),
        "the slowest": (
            "score < record",
            "best is None or score > record",
            "Is a better run one with a smaller or with a larger score?",
        ),
        "the goal must be undercut": (
            "losses[-1] <= goal",
            "losses[-1] < goal",
            "A loss that equals the goal: is the run over?",
        ),
        "only nan is lost": (
            "not math.isfinite(losses[-1])",
            "losses[-1] != losses[-1]",
            "Which numbers are not finite? There are three.",
        ),
        "lost runs go on": (
            " or not math.isfinite(losses[-1])",
            "",
            "A loss that is no number ends the run, even where the next step would find its way back.",
        ),
        "runs never end early": (
            "if losses[-1] <= goal or not math.isfinite(losses[-1]):",
            "if False:",
            "A run that has reached the goal goes on in your code. Where does it end?",
        ),
        "a lost run may win": (
            "math.isfinite(losses[-1]) and score",
            "score",
            "−∞ is below every goal, and no finite number. Does such a run count?",
        ),
        "a rise ends the run": (
            "if losses[-1] <= goal",
            "if len(losses) > 1 and losses[-1] > losses[-2] or losses[-1] <= goal",
            "A ball may roll uphill for a while. What ends a run, and what does not?",
        ),
        "the memory is handed from run to run": (
            "    for eta in etas:\n        theta, state = theta0, memory\n",
            "    state = memory\n    for eta in etas:\n        theta = theta0\n",
            "The second run starts with a memory. Whose is it?",
        ),
        "one run continues where the last one ended": (
            "    for eta in etas:\n        theta, state = theta0, memory\n",
            "    theta, state = theta0, memory\n    for eta in etas:\n",
            "Every rate gets the same start. Where does your second run begin?",
        ),
        "steps counted from 0": (
            "step(theta, grad(theta), state, t, eta)",
            "step(theta, grad(theta), state, t - 1, eta)",
            "Which number has the first step? Adam's correction would divide by zero.",
        ),
        "steps not counted": (
            "state, t, eta)\n",
            "state, 1, eta)\n",
            "What do you hand to step as the number of the step?",
        ),
        "the memory is dropped": (
            "theta, state = step(theta, grad(theta), state, t, eta)",
            "theta, _ = step(theta, grad(theta), state, t, eta)",
            "What becomes of the memory that step returns?",
        ),
        "one step too many": (
            "range(1, max_steps + 1)",
            "range(1, max_steps + 2)",
            "max_steps counts steps: how many losses are there at most, with the one at theta0?",
        ),
        "one step too few": (
            "range(1, max_steps + 1)",
            "range(1, max_steps)",
            "max_steps counts steps: how many losses are there at most, with the one at theta0?",
        ),
        "the first loss is missing": (
            "np.array(losses)",
            "np.array(losses[1:])",
            "The losses begin with the one at theta0, before any step.",
        ),
        "the gradient is taken at the start": (
            "grad(theta)",
            "grad(theta0)",
            "The slope changes on the way. Where do you ask for it in the second step?",
        ),
        "only runs that arrive count": (
            "and score < record",
            "and losses[-1] <= goal and score < record",
            "Where no rate reaches the goal there is still a best one.",
        ),
        "the last rate, with the losses of the best": (
            "    return best",
            "    return best and (eta, best[1])",
            "Which rate belongs to the losses that you return?",
        ),
        "the lowest loss on the way": (
            "score = (len(losses), losses[-1])",
            "score = (len(losses), min(losses))",
            "A ball may pass the minimum at full speed. Which loss of a run is its end?",
        ),
        "a run that rises is lost": (
            "math.isfinite(losses[-1]) and score",
            "losses[-1] <= losses[0] and score",
            "Lost is what ends at no finite number, and nothing else.",
        ),
    }
)


tune.worked(
    why=r"""Inside the loop over rates everything that a run changes is made anew: place, memory, losses. What outlives a run is the record and
    the best so far. A score that is a pair puts the two criteria in order, since Python compares pairs from the left; a run that arrives
    in the very last step beats one that does not, because its loss is lower. Lost runs are left out before the comparison: with nan every
    comparison is false, so it must not get into the record."""
)


@tune.right("all runs first, then min by a key")
def _(loss, grad, theta0, step, memory, etas, goal, max_steps):
    runs = []
    for eta in etas:
        theta, state, losses = theta0, memory, [loss(theta0)]
        while goal < losses[-1] < math.inf and len(losses) <= max_steps:
            theta, state = step(theta, grad(theta), state, len(losses), eta)
            losses.append(loss(theta))
        if abs(losses[-1]) < math.inf:
            runs.append((eta, losses))
    return min(runs, key=lambda run: (len(run[1]), run[1][-1]), default=None)


@tune.right("with a function for one run")
def _(loss, grad, theta0, step, memory, etas, goal, max_steps):
    def run(eta):
        theta, state = theta0, memory
        yield loss(theta)
        for t in range(max_steps):
            theta, state = step(theta, grad(theta), state, t + 1, eta)
            yield loss(theta)

    best = None
    for eta in etas:
        losses = []
        for value in run(eta):
            losses.append(value)
            if not np.isfinite(value) or value <= goal:
                break
        if not np.isfinite(losses[-1]):
            continue
        if best and (len(best[1]), best[1][-1]) <= (len(losses), losses[-1]):
            continue
        best = eta, losses
    return best


# ------------------------------------------------------------------------------- simplified_ratio

simplified_ratio = Exercise(
    "simplified_ratio",
    reference=reference.simplified_ratio,
    compare=close(rtol=1e-6),
    batched=("t",),
    hints=[
        "Write out v and G after one, two and three steps with g = 1. Which well-known sum is each of them?",
        "After t steps v is g (1 + beta1 + … + beta1^(t-1)). G is g² times the same sum with beta2. The g cancels.",
        "A geometric sum of t terms is 1 - beta**t over 1 - beta. Divide the first by the square root of the second.",
    ],
)


@simplified_ratio.cases
def _(rng):
    def at(t, beta1=0.9, beta2=0.999):
        return dict(t=np.array(t), beta1=beta1, beta2=beta2)

    yield "the first ten steps", at(rng.integers(2, 11, 4))
    yield "the first step has length eta", at([1])
    yield "far out, the limit", at(rng.integers(20_000, 30_000, 2))
    yield (
        "other memories",
        at(rng.integers(2, 40, 4), float(rng.uniform(0.3, 0.8)), 0.98),
    )
    yield "beta1 = 0: no momentum", at(rng.integers(2, 40, 4), beta1=0.0)
    yield "beta2 = 0: only the last square", at(rng.integers(2, 9, 4), beta2=0.0)


simplified_ratio.mistakes(
    {
        "no square root": (
            "np.sqrt(second)",
            "second",
            "The denominator of the update is a root. Is yours?",
        ),
        "root of both": (
            "first / np.sqrt(second)",
            "np.sqrt(first / second)",
            "Which of the two sums stands under the root?",
        ),
        "one term too many": (
            "first = (1 - beta1**t) / (1 - beta1)\n    second = (1 - beta2**t)",
            "first = (1 - beta1 ** (t + 1)) / (1 - beta1)\n    second = (1 - beta2 ** (t + 1))",
            "How many gradients have arrived at t = 1? Count the terms of your sum.",
        ),
        "averages instead of sums": (
            " / (1 - beta1)\n    second = (1 - beta2**t) / (1 - beta2)",
            "\n    second = 1 - beta2**t",
            "Algorithm 3 has no factor 1 − β before the new gradient. What is v after one step?",
        ),
        "the betas exchanged": (
            "first / np.sqrt(second)",
            "second / np.sqrt(first)",
            "Which beta belongs to the sum of gradients, and which to the sum of squares?",
        ),
        "only the limit": (
            "first / np.sqrt(second)",
            "np.full(len(t), np.sqrt(1 - beta2) / (1 - beta1))",
            "Your answer does not hang on t. What are v and G at t = 1?",
        ),
        "the true Adam, always 1": (
            "first / np.sqrt(second)",
            "np.ones(len(t))",
            "That would be so with bias correction. Compute t = 2 by hand: v = 1.9 g, and G?",
        ),
    }
)


simplified_ratio.worked(
    why=r"""Without the factor $1-\beta$ both memories are geometric sums of $t$ equal terms. The numerator fills up within some ten steps, the
    denominator within a thousand: in between the step is too long, and in the end it is $\sqrt{1-\beta_2}/(1-\beta_1)$. It is a schedule
    that nobody asked for."""
)


@simplified_ratio.right("by running the recursion")
def _(t, beta1=0.9, beta2=0.999):
    v = G = 0.0
    ratio = {}
    for step in range(1, max(t) + 1):
        v, G = beta1 * v + 1, beta2 * G + 1
        ratio[step] = v / G**0.5
    return [ratio[int(step)] for step in t]


@simplified_ratio.right("from the limit and the corrections")
def _(t, beta1=0.9, beta2=0.999):
    limit = np.sqrt(1 - beta2) / (1 - beta1)
    return limit * (1 - np.power(beta1, t)) / np.sqrt(1 - np.power(beta2, t))


# -------------------------------------------------------------------------------------- roughness

roughness = Exercise(
    "roughness",
    reference=reference.roughness,
    # degrees: near 0 and 180 an arccos keeps half of the digits, in float32 about 0.02 degrees
    compare=within(0.05),
    batched=("path",),
    hints=[
        "Moves, not places: how do you get one row for each move? An angle needs two moves in a row.",
        "The cosine of the angle between a and b is a @ b over both lengths. Skip a pair when a length is 0, then average "
        "the angles.",
        "For each pair that is kept: arccos of the clipped cosine, in degrees. Where you kept none, return 0.0.",
    ],
)


@roughness.cases
def _(rng):
    heading = away(rng, 2)
    yield "a random walk", dict(path=np.cumsum(rng.normal(size=(7, 2)), axis=0))
    moves = near(rng, [1, 2, 0, 1], [1, 2, 1, 1], [2, 0, 1, -1], [-2, 1, 1, 1.0])
    yield "a walk in four dimensions", dict(path=np.cumsum(moves, axis=0))
    yield (
        "tiny moves have directions, too",
        dict(path=1e-12 * np.cumsum(moves, axis=0)),
    )
    line = np.outer([0.0, 1, 2.5, 3, 5], heading)
    yield "a straight line does not turn", dict(path=3 + line)
    yield (
        "there and back turns by 180 degrees",
        dict(path=1 + np.outer([0.0, 1, 0, 2], heading)),
    )
    k = np.arange(45)  # long: some cosine is rounded above 1, or below −1
    for turned in (heading, heading[::-1]):
        yield "nor does a long one", dict(path=np.outer(k**1.3, turned))
        back = np.outer((-1.0) ** k * k**1.3, turned)
        yield "there and back turns by 180 degrees", dict(path=back)
    rests = np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [2, 0]])
    yield "rests have no direction", dict(path=rests)
    steps = np.concatenate([moves, 0 * moves[:1], -moves[1:]])
    yield "rests have no direction", dict(path=np.cumsum(steps, axis=0))
    yield "nowhere to turn", dict(path=rng.normal(size=(2, 2)))
    yield "nowhere to turn", dict(path=rng.normal(size=(1, 3)))
    yield "nowhere to turn", dict(path=np.ones((4, 2)))


roughness.equivalent(
    {
        "moves = np.diff(path, axis=0) → moves = -np.diff(path, axis=0)": "Mean angle in degrees between neighbouring moves"
    }
)


roughness.mistakes(
    {
        "moves below 1e-8 count as rests": (
            "lengths[i] > 0 and lengths[i + 1] > 0",
            "lengths[i] > 1e-8 and lengths[i + 1] > 1e-8",
            "A tiny move has a direction, too. What is a rest?",
        ),
        "angles between places": (
            "np.diff(path, axis=0)",
            "np.asarray(path)",
            "Take a straight line that does not pass through the origin. Which vectors should be compared?",
        ),
        "in radians": (
            "np.degrees(np.arccos(np.clip(cosine, -1, 1)))",
            "np.arccos(np.clip(cosine, -1, 1))",
            "There and back should give 180. In which unit are your angles?",
        ),
        "cosines averaged": (
            "np.degrees(np.arccos(np.clip(cosine, -1, 1)))",
            "cosine",
            "A straight line should give 0. What does your function give?",
        ),
        "the angle of the mean cosine": (
            "np.degrees(np.arccos(np.clip(cosine, -1, 1))))\n    return float(np.mean(angles))",
            "cosine)\n    return float(np.degrees(np.arccos(np.clip(np.mean(angles), -1, 1))))",
            "The mean of the angles is asked. Do you average before or after arccos?",
        ),
        "added up": (
            "np.mean(angles)",
            "np.sum(angles)",
            "Walk the same zigzag twice as long. Should it count as rougher?",
        ),
        "the middle angle": (
            "np.mean(angles)",
            "np.median(angles)",
            "Is the mean asked, or the median?",
        ),
        "a rest counts as an angle of 0": (
            "    return float(np.mean(angles)) if angles else 0.0",
            "    return float(np.sum(angles)) / max(len(moves) - 1, 1)",
            "Which angles do you average where the path stands still? Print them one by one.",
        ),
        "rests taken out first": (
            "lengths = np.linalg.norm(moves, axis=1)",
            "moves = moves[np.any(moves != 0, axis=1)]\n    lengths = np.linalg.norm(moves, axis=1)",
            "A move before a rest and the move after it are not neighbours. Which pairs should be left out?",
        ),
        "direction and its opposite are the same": (
            "np.clip(cosine, -1, 1)",
            "np.clip(abs(cosine), -1, 1)",
            "There and back: 0 degrees or 180?",
        ),
    }
)


roughness.worked(
    why=r"""The moves are differences of neighbouring rows; each pair of them has an angle, unless one of the two is no move at all. The pairs are
    taken from all moves, so that a rest separates what lies on its two sides. The clip guards the arccos: a cosine that should
    be 1 may come out as 1.0000000000000002."""
)


@roughness.right("in float32")
def _(path):
    moves = np.diff(np.asarray(path, np.float32), axis=0)
    lengths = np.linalg.norm(moves, axis=1)
    keep = (lengths[:-1] > 0) & (lengths[1:] > 0)
    if not keep.any():
        return np.float32(0)
    unit = moves / np.where(lengths > 0, lengths, 1)[:, None]
    cosines = np.sum(unit[:-1] * unit[1:], axis=1)[keep]
    return np.degrees(np.arccos(np.clip(cosines, -1, 1))).mean()


@roughness.right("from the side lengths of a triangle")
def _(path):
    moves = np.diff(path, axis=0)
    a, b = moves[:-1], moves[1:]
    keep = np.any(a != 0, axis=1) & np.any(b != 0, axis=1)
    if not keep.any():
        return 0
    a, b = (m[keep] / np.linalg.norm(m[keep], axis=1, keepdims=True) for m in (a, b))
    half = np.arcsin(np.clip(np.linalg.norm(a - b, axis=1) / 2, 0, 1))
    return np.mean(np.degrees(2 * half))

"""Exercises of 03_optimisation/02_momentum_and_adam."""

import numpy as np

from descent.compare import close, within
from solutions.spec import Exercise

from . import reference

# An answer may lean on torch.optim or scipy.signal: their first use in a fresh process loads for some seconds.
PATIENT = 12.0

# --- ewa: the averages -------------------------------------------------------------------------

ewa = Exercise(
    "ewa",
    reference=reference.ewa,
    compare=close(rtol=1e-6),
    limit=PATIENT,
    hints=[
        "Keep one variable, the average so far. It starts at 0 and changes once for each value of x.",
        "Append to one list what you report, and keep the recursion itself on the raw average. "
        "With correct=True the reported number is the raw one divided by the sum of its weights.",
        "Loop with for t, x_t in enumerate(x, start=1). What you append is v, or v / (1 - beta**t).",
    ],
)


@ewa.cases
def _(rng):
    yield (
        "the raw average starts low",
        dict(x=rng.normal(5, 1, 8), beta=0.8, correct=False),
    )
    yield (
        "the corrected average does not",
        dict(x=rng.normal(5, 1, 8), beta=0.8, correct=True),
    )
    yield (
        "a constant comes back unchanged once corrected",
        dict(x=np.full(6, rng.uniform(2, 4)), beta=0.95, correct=True),
    )
    yield (
        "beta = 0 remembers nothing",
        dict(x=rng.normal(5, 1, 4), beta=0.0, correct=False),
    )
    yield "one value is enough", dict(x=rng.normal(5, 1, 1), beta=0.9, correct=True)
    yield (
        "whole numbers have averages with decimals",
        dict(x=rng.integers(1, 10, 5), beta=0.9, correct=False),
    )
    yield (
        "vectors, one per step",
        dict(x=rng.normal(2, 1, (5, 3)), beta=0.7, correct=True),
    )


@ewa.wrong(
    "old and new weights swapped",
    advice="With beta = 0.99 the average should hardly move. Which of the two terms carries beta?",
)
def _(x, beta, correct):
    return adaptive_ewa(x, 1 - beta, correct)


@ewa.wrong(
    "started at the first value",
    advice="What is v_0 in the text? Work out the first result for x = [10.] and beta = 0.9 by hand.",
)
def _(x, beta, correct):
    v, out = x[0], []
    for t, x_t in enumerate(x, start=1):
        v = beta * v + (1 - beta) * x_t
        out.append(v / (1 - beta**t) if correct else v)
    return np.array(out)


@ewa.wrong(
    "corrected value fed back",
    advice="The correction is a way to read the average. Does your loop go on from the raw value or from the corrected one?",
)
def _(x, beta, correct):
    v, out = 0 * x[0], []
    for t, x_t in enumerate(x, start=1):
        v = beta * v + (1 - beta) * x_t
        v = v / (1 - beta**t) if correct else v
        out.append(v)
    return np.array(out)


@ewa.wrong(
    "same correction at every step",
    advice="The first average holds one weight, the tenth holds ten. Does your divisor know how many steps there were?",
)
def _(x, beta, correct):
    return adaptive_ewa(x, beta, False) / (1 - beta if correct else 1)


@ewa.wrong(
    "correction left out",
    advice="Feed in a constant series with correct=True. Does the constant come back from the first step on?",
)
def _(x, beta, correct):
    return adaptive_ewa(x, beta, False)


@ewa.wrong(
    "corrected although not asked",
    advice="With correct=False the raw average is wanted. What decides which of the two you append?",
)
def _(x, beta, correct):
    return adaptive_ewa(x, beta, True)


@ewa.wrong(
    "steps counted from 0",
    advice="Which t has the first value in the text, and what is 1 - beta^t for yours?",
)
def _(x, beta, correct):
    t = np.arange(len(x)).reshape(-1, *[1] * (x.ndim - 1))
    with np.errstate(divide="ignore"):
        return adaptive_ewa(x, beta, False) / (1 - float(beta) ** t if correct else 1)


@ewa.wrong(
    "averages written into x, or into an array of its kind",
    advice="Where x holds whole numbers, such an array has no room for decimals. Which dtype should an array of your own have?",
)
def _(x, beta, correct):
    out = np.zeros_like(x)
    out[:] = adaptive_ewa(x, beta, correct)
    return out


def adaptive_ewa(x, beta, correct):
    v, out = 0 * x[0], []
    for t, x_t in enumerate(x, start=1):
        v = beta * v + (1 - beta) * x_t
        out.append(v / (1 - beta**t) if correct else v)
    return np.array(out)


@ewa.right("as a weighted sum with the kernel")
def _(x, beta, correct):
    out = []
    for t in range(1, len(x) + 1):
        w = (1 - beta) * beta ** np.arange(t)[::-1]
        out.append(np.tensordot(w / w.sum() if correct else w, x[:t], axes=1))
    return np.array(out)


@ewa.right("as a list of numbers in float32")
def _(x, beta, correct):
    return list(adaptive_ewa(x.astype(np.float32), np.float32(beta), correct))


# --- heavy_ball --------------------------------------------------------------------------------

heavy_ball = Exercise(
    "heavy_ball",
    reference=reference.heavy_ball_on_quadratic,
    compare=close(rtol=1e-6),
    limit=PATIENT,
    batched=("H", "b", "theta0"),
    hints=[
        "Two things travel through the loop: the place theta and the velocity v. The velocity starts at 0.",
        "In each step, first renew the velocity with the gradient at the present theta, then move theta with the new velocity.",
        "v = gamma * v + grad(theta), then a new theta that is theta minus eta times v. Append it; do not change the old array in place.",
    ],
)


@heavy_ball.probe
def _(answer, H, b, theta0, eta, gamma, n_steps):
    return answer(lambda theta: H @ theta - b, theta0, eta, gamma, n_steps)


@heavy_ball.cases
def _(rng):
    def draw(**more):
        return dict(b=rng.normal(size=2), theta0=rng.normal(size=2)) | more

    yield (
        "speed is kept from step to step",
        draw(H=np.diag([1.0, 10.0]), eta=0.05, gamma=0.9, n_steps=6),
    )
    yield (
        "axes that are tilted",
        draw(H=np.array([[3.0, 1.0], [1.0, 2.0]]), eta=0.1, gamma=0.6, n_steps=4),
    )
    yield (
        "gamma = 0 is gradient descent",
        draw(H=np.diag([1.0, 4.0]), eta=0.1, gamma=0.0, n_steps=3),
    )
    yield (
        "a constant slope: faster and faster",
        draw(H=np.zeros((2, 2)), eta=0.1, gamma=0.9, n_steps=5),
    )
    yield "no steps: only the start", draw(H=np.eye(2), eta=0.1, gamma=0.9, n_steps=0)


@heavy_ball.wrong(
    "velocity forgotten",
    advice="Print v in the second step. Does it still hold anything of the first gradient?",
)
def _(grad, theta0, eta, gamma, n_steps):
    path = [theta0]
    for _ in range(n_steps):
        path.append(path[-1] - eta * grad(path[-1]))
    return np.array(path)


@heavy_ball.wrong(
    "gradient scaled by 1 - gamma",
    advice="Compare your velocity line with the one asked for. Another convention hides a factor before the gradient.",
)
def _(grad, theta0, eta, gamma, n_steps):
    x, v, path = theta0, 0 * theta0, [theta0]
    for _ in range(n_steps):
        v = gamma * v + (1 - gamma) * grad(x)
        x = x - eta * v
        path.append(x)
    return np.array(path)


@heavy_ball.wrong(
    "moved before the velocity was renewed",
    advice="Where does your first step go? With v = 0 at the start it should already move by eta times the gradient.",
)
def _(grad, theta0, eta, gamma, n_steps):
    x, v, path = theta0, 0 * theta0, [theta0]
    for _ in range(n_steps):
        x, v = x - eta * v, gamma * v + grad(x)
        path.append(x)
    return np.array(path)


@heavy_ball.wrong(
    "gradient taken ahead",
    advice="That is Nesterov's method: it asks for the slope where the velocity will carry it. At which point does heavy ball ask?",
)
def _(grad, theta0, eta, gamma, n_steps):
    x, v, path = theta0, 0 * theta0, [theta0]
    for _ in range(n_steps):
        v = gamma * v + grad(x - eta * gamma * v)
        x = x - eta * v
        path.append(x)
    return np.array(path)


@heavy_ball.wrong(
    "step size used twice",
    advice="Count the places where eta stands. Compare your very first step with one of gradient descent.",
)
def _(grad, theta0, eta, gamma, n_steps):
    x, v, path = theta0, 0 * theta0, [theta0]
    for _ in range(n_steps):
        v = gamma * v + eta * grad(x)
        x = x - eta * v
        path.append(x)
    return np.array(path)


@heavy_ball.wrong(
    "all rows are the last point",
    advice="Print your path. A list keeps the array itself, not a copy: what happens to the rows when you change the array in place?",
)
def _(grad, theta0, eta, gamma, n_steps):
    x, v = theta0.copy(), 0 * theta0
    path = [x]
    for _ in range(n_steps):
        v = gamma * v + grad(x)
        x -= eta * v
        path.append(x)
    return np.array(path)


@heavy_ball.right("with the step size inside the velocity")
def _(grad, theta0, eta, gamma, n_steps):
    path, v = np.tile(theta0, (n_steps + 1, 1)), np.zeros_like(theta0)
    for t in range(n_steps):
        v = gamma * v - eta * grad(path[t])
        path[t + 1] = path[t] + v
    return path


@heavy_ball.right("from the last two positions, as a list")
def _(grad, theta0, eta, gamma, n_steps):
    path = [theta0, theta0]
    for _ in range(n_steps):
        path.append(path[-1] - eta * grad(path[-1]) + gamma * (path[-1] - path[-2]))
    return [list(x) for x in path[1:]]


@heavy_ball.right("PyTorch's own optimiser")
def _(grad, theta0, eta, gamma, n_steps):
    import torch

    theta = torch.tensor(theta0, requires_grad=True)
    optimiser, path = torch.optim.SGD([theta], lr=eta, momentum=gamma), [theta0]
    for _ in range(n_steps):
        theta.grad = torch.from_numpy(grad(theta.detach().numpy()))
        optimiser.step()
        path.append(theta.detach().numpy().copy())
    return np.array(path)


# --- adagrad_step ------------------------------------------------------------------------------

adagrad_step = Exercise(
    "adagrad_step",
    reference=reference.adagrad_step,
    compare=close(rtol=1e-6, atol=1e-12),
    limit=PATIENT,
    batched=("G", "g", "theta"),
    hints=[
        "Try the printed formula on one parameter with g = -1. Which way does it move, and which way should it?",
        "First add the squares of the new gradient to the sum. Then move against the gradient, each coordinate divided by the root of its own sum.",
        "G_new = G + g**2. The move is eta * g / (np.sqrt(G_new) + eps). Return both new arrays.",
    ],
)


@adagrad_step.cases
def _(rng):
    def draw(**more):
        return (
            dict(
                theta=rng.normal(size=3),
                g=away_from_zero(rng, 3),
                G=rng.uniform(1, 4, 3),
                eta=0.1,
                eps=1e-8,
            )
            | more
        )

    yield "the history counts", draw()
    yield (
        "against the sign of the gradient",
        draw(g=np.array([-1.0, 1.0, -1.0]) * rng.uniform(1, 2, 3)),
    )
    yield (
        "a first step of length eta in every coordinate",
        draw(g=away_from_zero(rng, 3) * np.array([1e-3, 1.0, 1e3]), G=np.zeros(3)),
    )
    yield "no slope, no history, no move", draw(g=np.zeros(3), G=np.zeros(3))
    yield (
        "epsilon stands outside the root",
        draw(g=away_from_zero(rng, 3) * 1e-3, G=np.zeros(3), eps=1e-3),
    )


def away_from_zero(rng, n):
    return rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2, n)


@adagrad_step.wrong(
    "the rule as printed",
    advice="What multiplies the rate in the printed rule, and can it ever be negative?",
)
def _(theta, g, G, eta, eps):
    G = G + g * g
    return theta - eta / (np.sqrt(G) + eps) * G, G


@adagrad_step.wrong(
    "divided by the old sum",
    advice="On the very first step G is 0. Should the present gradient already be in the sum when you divide?",
)
def _(theta, g, G, eta, eps):
    return theta - eta * g / (np.sqrt(G) + eps), G + g * g


@adagrad_step.wrong(
    "no square root",
    advice="Measure g in metres: what unit does G have, and what unit should the divisor have?",
)
def _(theta, g, G, eta, eps):
    G = G + g * g
    return theta - eta * g / (G + eps), G


@adagrad_step.wrong(
    "gradients added up instead of squares",
    advice="Two gradients, +1 and then -1: what does your sum say about how much has happened?",
)
def _(theta, g, G, eta, eps):
    G = G + g
    return theta - eta * g / (np.sqrt(np.abs(G)) + eps), G


@adagrad_step.wrong(
    "one rate for all coordinates",
    advice="Compare the rates of your coordinates. Each should depend on its own history only.",
)
def _(theta, g, G, eta, eps):
    G = G + g * g
    return theta - eta * g / (np.sqrt(G.sum()) + eps), G


@adagrad_step.wrong(
    "epsilon inside the root",
    advice="Take G = 0 after a gradient of 1e-3 with eps = 1e-3. What is the divisor in the text's formula, and what is yours?",
)
def _(theta, g, G, eta, eps):
    G = G + g * g
    return theta - eta * g / np.sqrt(G + eps), G


@adagrad_step.wrong(
    "no epsilon",
    advice="A parameter with no gradient so far: what is your divisor there?",
)
def _(theta, g, G, eta, eps):
    G = G + g * g
    with np.errstate(invalid="ignore"):
        return theta - eta * g / np.sqrt(G), G


@adagrad_step.right("one coordinate at a time, lists returned")
def _(theta, g, G, eta, eps):
    sums = [float(a) + float(b) ** 2 for a, b in zip(G, g, strict=True)]
    return [
        float(t) - eta * float(b) / (s**0.5 + eps)
        for t, b, s in zip(theta, g, sums, strict=True)
    ], sums


@adagrad_step.right("rates first, in float32")
def _(theta, g, G, eta, eps):
    theta, g, G = (np.asarray(a, dtype=np.float32) for a in (theta, g, G))
    G = G + np.square(g)
    rate = np.float32(eta) / (np.sqrt(G) + np.float32(eps))
    return theta - rate * g, G


# --- rmsprop_step ------------------------------------------------------------------------------

rmsprop_step = Exercise(
    "rmsprop_step",
    reference=reference.rmsprop_step,
    compare=close(rtol=1e-6, atol=1e-12),
    limit=PATIENT,
    batched=("g", "s", "theta"),
    hints=[
        "Only one line differs from AdaGrad: the sum of squares becomes a moving average of squares.",
        "It is the recursion of ewa, fed with g**2, with no correction. The move is AdaGrad's, with the average in place of the sum.",
        "s_new = beta * s + (1 - beta) * g**2. The move is eta * g / (np.sqrt(s_new) + eps).",
    ],
)


@rmsprop_step.cases
def _(rng):
    def draw(**more):
        return (
            dict(
                theta=rng.normal(size=3),
                g=away_from_zero(rng, 3),
                s=rng.uniform(3, 5, 3),
                eta=0.01,
                beta=0.9,
                eps=1e-8,
            )
            | more
        )

    yield "an average with a memory", draw()
    yield "beta = 0 leaves only the sign", draw(beta=0.0)
    yield "the first step, from nothing", draw(s=np.zeros(3), beta=0.99)
    yield "no slope, no history, no move", draw(g=np.zeros(3), s=np.zeros(3))
    yield (
        "epsilon stands outside the root",
        draw(g=away_from_zero(rng, 3) * 1e-3, s=np.zeros(3), eps=1e-3),
    )


@rmsprop_step.wrong(
    "a sum instead of an average",
    advice="Feed a constant gradient for ever. Where does your s settle, and where should an average of g² settle?",
)
def _(theta, g, s, eta, beta, eps):
    s = beta * s + g**2
    return theta - eta * g / (np.sqrt(s) + eps), s


@rmsprop_step.wrong(
    "old and new weights swapped",
    advice="With beta = 0.9 how much of the old average should survive one step?",
)
def _(theta, g, s, eta, beta, eps):
    s = (1 - beta) * s + beta * g**2
    return theta - eta * g / (np.sqrt(s) + eps), s


@rmsprop_step.wrong(
    "divided by the old average",
    advice="On the first step s is 0. Is the present gradient in the average by the time you divide?",
)
def _(theta, g, s, eta, beta, eps):
    return theta - eta * g / (np.sqrt(s) + eps), beta * s + (1 - beta) * g**2


@rmsprop_step.wrong(
    "no square root", advice="Multiply all gradients by 10. Does your step change?"
)
def _(theta, g, s, eta, beta, eps):
    s = beta * s + (1 - beta) * g**2
    return theta - eta * g / (s + eps), s


@rmsprop_step.wrong(
    "epsilon inside the root",
    advice="Try gradients as small as eps. Where does eps stand in the text's formula?",
)
def _(theta, g, s, eta, beta, eps):
    s = beta * s + (1 - beta) * g**2
    return theta - eta * g / np.sqrt(s + eps), s


@rmsprop_step.wrong(
    "square of the average",
    advice="Average first and square later, or square first? Try gradients +1 and -1 in turn.",
)
def _(theta, g, s, eta, beta, eps):
    s = (beta * np.sqrt(s) + (1 - beta) * g) ** 2
    return theta - eta * g / (np.sqrt(s) + eps), s


@rmsprop_step.wrong(
    "corrected like Adam's average",
    advice="Is there a bias correction in this section's formula? How long should the first step be?",
)
def _(theta, g, s, eta, beta, eps):
    s = beta * s + (1 - beta) * g**2
    return theta - eta * g / (np.sqrt(s / (1 - beta)) + eps), s


@rmsprop_step.wrong(
    "beta fixed in the code",
    advice="Does your function use the beta that it is given, or always the same one?",
)
def _(theta, g, s, eta, beta, eps):
    s = 0.9 * s + 0.1 * g**2
    return theta - eta * g / (np.sqrt(s) + eps), s


@rmsprop_step.right("one coordinate at a time, lists returned")
def _(theta, g, s, eta, beta, eps):
    s = [
        float(a) + (1 - beta) * (float(b) ** 2 - float(a))
        for a, b in zip(s, g, strict=True)
    ]
    return [
        float(t) - eta * float(b) / (a**0.5 + eps)
        for t, b, a in zip(theta, g, s, strict=True)
    ], s


@rmsprop_step.right("in float32")
def _(theta, g, s, eta, beta, eps):
    theta, g, s = (np.asarray(a, dtype=np.float32) for a in (theta, g, s))
    s = np.float32(beta) * s + np.float32(1 - beta) * g * g
    return theta - np.float32(eta) * g / (np.sqrt(s) + np.float32(eps)), s


# --- adam_step ---------------------------------------------------------------------------------

adam_step = Exercise(
    "adam_step",
    reference=reference.adam_step,
    compare=close(rtol=1e-6, atol=1e-12),
    limit=PATIENT,
    batched=("g", "m", "s", "theta"),
    hints=[
        "Renew two averages, one of g and one of g², each with its own beta. Then read both with bias correction.",
        "m_hat and s_hat serve the move only. What you return as m and s are the raw averages: the next step goes on from them.",
        "theta - eta * m_hat / (np.sqrt(s_hat) + eps), where m_hat is m_new / (1 - beta1**t) and s_hat is s_new over the same with beta2.",
    ],
)


@adam_step.cases
def _(rng):
    def draw(**more):
        return (
            dict(
                theta=rng.normal(size=3),
                g=away_from_zero(rng, 3),
                m=rng.normal(size=3),
                s=rng.uniform(1, 3, 3),
                t=int(rng.integers(4, 9)),
                eta=0.1,
                beta1=0.9,
                beta2=0.999,
                eps=1e-8,
            )
            | more
        )

    zero = np.zeros(3)
    yield "in full flight", draw()
    yield "two different memories", draw(t=3, beta1=0.5, beta2=0.8)
    yield (
        "a first step of length eta whatever the scale",
        draw(
            g=away_from_zero(rng, 3) * np.array([1e-3, 1.0, 1e3]), m=zero, s=zero, t=1
        ),
    )
    yield "late, when the corrections have faded", draw(t=20_000)
    yield "no slope, no history, no move", draw(g=zero, m=zero, s=zero, t=1)
    yield (
        "epsilon stands outside the root",
        draw(g=away_from_zero(rng, 3) * 1e-3, m=zero, s=zero, t=1, eps=1e-3),
    )


@adam_step.wrong(
    "no bias correction",
    advice="Look at the first step: how long is it, in units of eta?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (np.sqrt(s) + eps), m, s


@adam_step.wrong(
    "corrected averages handed on",
    advice="Your move is right, but look at the m and s you return: the next step must go on from the raw averages.",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m = (beta1 * m + (1 - beta1) * g) / (1 - beta1**t)
    s = (beta2 * s + (1 - beta2) * g**2) / (1 - beta2**t)
    return theta - eta * m / (np.sqrt(s) + eps), m, s


@adam_step.wrong(
    "epsilon inside the root",
    advice="Try gradients of 1e-3 with eps = 1e-3. How long should the first step be by the text's formula?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (1 - beta1**t) / np.sqrt(s / (1 - beta2**t) + eps), m, s


@adam_step.wrong(
    "one beta for both averages",
    advice="Which beta does the average of the squares use in your code?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta1 * s + (1 - beta1) * g**2
    return theta - eta * m / (1 - beta1**t) / (np.sqrt(s / (1 - beta2**t)) + eps), m, s


@adam_step.wrong(
    "sums without the factors 1 - beta",
    advice="That is the simplified form. Which factor stands before the newest gradient in a moving average?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + g, beta2 * s + g**2
    return theta - eta * m / (np.sqrt(s) + eps), m, s


@adam_step.wrong(
    "steps counted one too far",
    advice="How many gradients are in the averages at t = 1? Compare your divisor with the sum of their weights.",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return (
        theta
        - eta
        * m
        / (1 - beta1 ** (t + 1))
        / (np.sqrt(s / (1 - beta2 ** (t + 1))) + eps),
        m,
        s,
    )


@adam_step.wrong(
    "moved along the bare gradient",
    advice="That is RMSProp with a correction. What replaces g in Adam's move?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * g / (np.sqrt(s / (1 - beta2**t)) + eps), m, s


@adam_step.wrong(
    "only the first moment corrected",
    advice="Both averages start at 0, so both are too small at first. Which of them do you divide?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (1 - beta1**t) / (np.sqrt(s) + eps), m, s


@adam_step.wrong(
    "only the second moment corrected",
    advice="Both averages start at 0, so both are too small at first. Which of them do you divide?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (np.sqrt(s / (1 - beta2**t)) + eps), m, s


@adam_step.wrong(
    "same correction at every step",
    advice="Your first step is right. How much weight do the averages hold at t = 5? Where does t stand in your code?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (1 - beta1) / (np.sqrt(s / (1 - beta2)) + eps), m, s


@adam_step.wrong(
    "root taken before the correction",
    advice="What is divided by 1 - beta2^t in the text: the average of the squares, or its root?",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return theta - eta * m / (1 - beta1**t) / (np.sqrt(s) / (1 - beta2**t) + eps), m, s


@adam_step.wrong(
    "epsilon added to the raw root",
    advice="Nearly: your corrections are in the rate, where they also act on epsilon. In the text epsilon joins the root of the corrected average.",
)
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = beta1 * m + (1 - beta1) * g, beta2 * s + (1 - beta2) * g**2
    return (
        theta - eta * np.sqrt(1 - beta2**t) / (1 - beta1**t) * m / (np.sqrt(s) + eps),
        m,
        s,
    )


@adam_step.right("corrections folded into the rate")
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m, s = m + (1 - beta1) * (g - m), s + (1 - beta2) * (g * g - s)
    root = np.sqrt(1 - beta2**t)
    return theta - eta * root / (1 - beta1**t) * m / (np.sqrt(s) + eps * root), m, s


@adam_step.right("one coordinate at a time, lists returned")
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    m = [beta1 * float(a) + (1 - beta1) * float(b) for a, b in zip(m, g, strict=True)]
    s = [
        beta2 * float(a) + (1 - beta2) * float(b) ** 2
        for a, b in zip(s, g, strict=True)
    ]
    moves = [
        eta * (a / (1 - beta1**t)) / ((b / (1 - beta2**t)) ** 0.5 + eps)
        for a, b in zip(m, s, strict=True)
    ]
    return [float(a) - b for a, b in zip(theta, moves, strict=True)], m, s


@adam_step.right("in float32")
def _(theta, g, m, s, t, eta, beta1, beta2, eps):
    theta, g, m, s = (np.asarray(a, dtype=np.float32) for a in (theta, g, m, s))
    m = np.float32(beta1) * m + np.float32(1 - beta1) * g
    s = np.float32(beta2) * s + np.float32(1 - beta2) * g**2
    m_hat, s_hat = m / np.float32(1 - beta1**t), s / np.float32(1 - beta2**t)
    return theta - np.float32(eta) * m_hat / (np.sqrt(s_hat) + np.float32(eps)), m, s


# --- simplified_ratio --------------------------------------------------------------------------

simplified_ratio = Exercise(
    "simplified_ratio",
    reference=reference.simplified_ratio,
    compare=close(rtol=1e-6),
    batched=("t",),
    hints=[
        "Write out v and G after one, two and three steps with g = 1. Which well-known sum is each of them?",
        "After t steps v is g (1 + beta1 + … + beta1^(t-1)). G is g² times the same sum with beta2. The g cancels in v / sqrt(G).",
        "A geometric sum of t terms is (1 - beta**t) / (1 - beta). Divide the first by the square root of the second.",
    ],
)


@simplified_ratio.cases
def _(rng):
    def draw(t, **more):
        return dict(t=np.array(t), beta1=0.9, beta2=0.999) | more

    yield "the first ten steps", draw(rng.integers(2, 11, 4))
    yield "the first step has length eta", draw([1])
    yield "far out, the limit", draw(rng.integers(20_000, 30_000, 2))
    yield (
        "other memories",
        draw(rng.integers(2, 40, 4), beta1=float(rng.uniform(0.3, 0.8)), beta2=0.98),
    )
    yield "beta1 = 0: no momentum", draw(rng.integers(2, 40, 4), beta1=0.0)


@simplified_ratio.wrong(
    "no square root", advice="The denominator of the update is a root. Is yours?"
)
def _(t, beta1, beta2):
    return (1 - beta1**t) / (1 - beta1) / ((1 - beta2**t) / (1 - beta2))


@simplified_ratio.wrong(
    "the true Adam, always 1",
    advice="That would be so with bias correction. Compute t = 2 by hand: v = 1.9 g, and G?",
)
def _(t, beta1, beta2):
    return np.ones(len(t))


@simplified_ratio.wrong(
    "only the limit",
    advice="Your answer does not depend on t. What are v and G at t = 1?",
)
def _(t, beta1, beta2):
    return np.full(len(t), np.sqrt(1 - beta2) / (1 - beta1))


@simplified_ratio.wrong(
    "one term too many",
    advice="How many gradients have arrived at t = 1? Count the terms of your sum.",
)
def _(t, beta1, beta2):
    t = t + 1
    return (1 - beta1**t) / (1 - beta1) / np.sqrt((1 - beta2**t) / (1 - beta2))


@simplified_ratio.wrong(
    "averages instead of sums",
    advice="Algorithm 3 has no factor 1 - beta before the new gradient. What is v after one step?",
)
def _(t, beta1, beta2):
    return (1 - beta1**t) / np.sqrt(1 - beta2**t)


@simplified_ratio.wrong(
    "the betas exchanged",
    advice="Which beta belongs to the sum of gradients, and which to the sum of squares?",
)
def _(t, beta1, beta2):
    return (1 - beta2**t) / (1 - beta2) / np.sqrt((1 - beta1**t) / (1 - beta1))


@simplified_ratio.right("by running the recursion")
def _(t, beta1, beta2):
    v = G = 0.0
    ratio = {}
    for step in range(1, max(t) + 1):
        v, G = beta1 * v + 1, beta2 * G + 1
        ratio[step] = v / G**0.5
    return [ratio[int(step)] for step in t]


@simplified_ratio.right("from the limit and the corrections")
def _(t, beta1, beta2):
    limit = np.sqrt(1 - beta2) / (1 - beta1)
    return limit * (1 - np.power(beta1, t)) / np.sqrt(1 - np.power(beta2, t))


# --- roughness ---------------------------------------------------------------------------------

roughness = Exercise(
    "roughness",
    reference=reference.roughness,
    # degrees: near 0 and 180 an arccos keeps half of the digits, in float32 about 0.02 degrees
    compare=within(0.05),
    batched=("path",),
    hints=[
        "Moves, not places: np.diff(path, axis=0) has one row per move. An angle needs two moves in a row.",
        "The cosine of the angle between a and b is a @ b divided by both lengths. Skip a pair when a length is 0, then average the angles.",
        "np.degrees(np.arccos(np.clip(cosine, -1, 1))) for each kept pair of neighbours; return 0.0 when you kept none.",
    ],
)


@roughness.cases
def _(rng):
    heading = rng.normal(size=2)
    yield "a random walk", dict(path=np.cumsum(rng.normal(size=(7, 2)), axis=0))
    yield (
        "a walk in four dimensions",
        dict(path=np.cumsum(rng.normal(size=(5, 4)), axis=0)),
    )
    yield (
        "a straight line does not turn",
        dict(path=3 + np.outer([0.0, 1, 2.5, 3, 5], heading)),
    )
    for turned in (
        heading,
        heading[::-1],
    ):  # long enough for some cosine to be rounded above 1
        yield "nor does a long one", dict(path=np.outer(np.arange(45) ** 1.3, turned))
    yield (
        "there and back turns by 180 degrees",
        dict(path=1 + np.outer([0.0, 1, 0, 2], heading)),
    )
    yield (
        "rests have no direction",
        dict(path=np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [2, 0]])),
    )
    yield "nowhere to turn", dict(path=rng.normal(size=(2, 2)))


@roughness.wrong(
    "angles between places",
    advice="Take a straight line that does not pass through the origin. Which vectors should be compared?",
)
def _(path):
    return mean_angle(path)


@roughness.wrong(
    "mean cosine",
    advice="A straight line should give 0. What does your function give, and what has to happen to a cosine?",
)
def _(path):
    a, b = np.diff(path, axis=0)[:-1], np.diff(path, axis=0)[1:]
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    keep = lengths > 0
    return (
        float(np.mean(np.sum(a * b, axis=1)[keep] / lengths[keep]))
        if keep.any()
        else 0.0
    )


@roughness.wrong(
    "in radians",
    advice="There and back should give 180. In which unit are your angles?",
)
def _(path):
    return np.radians(mean_angle(np.diff(path, axis=0)))


@roughness.wrong(
    "added up instead of averaged",
    advice="Walk the same zigzag twice as long. Should it count as rougher?",
)
def _(path):
    return mean_angle(np.diff(path, axis=0)) * counted(path)


@roughness.wrong(
    "a rest counted as an angle of 0",
    advice="Which angles do you average where the path stands still? Print them one by one.",
)
def _(path):
    return mean_angle(np.diff(path, axis=0)) * counted(path) / max(len(path) - 2, 1)


@roughness.wrong(
    "rests taken out first",
    advice="A move before a rest and the move after it are not neighbours. Which pairs should be left out?",
)
def _(path):
    moves = np.diff(path, axis=0)
    return mean_angle(moves[np.any(moves != 0, axis=1)])


@roughness.wrong(
    "the angle of the mean cosine",
    advice="The mean of the angles is asked. Do you average before or after arccos?",
)
def _(path):
    moves = np.diff(path, axis=0)
    a, b = moves[:-1], moves[1:]
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    keep = lengths > 0
    cosines = np.sum(a * b, axis=1)[keep] / lengths[keep]
    return np.degrees(np.arccos(np.clip(cosines.mean(), -1, 1))) if keep.any() else 0.0


def counted(path):
    moving = np.linalg.norm(np.diff(path, axis=0), axis=1) > 0
    return int(np.sum(moving[:-1] & moving[1:]))


def mean_angle(moves):
    angles = []
    for a, b in zip(moves[:-1], moves[1:], strict=True):
        length = np.linalg.norm(a) * np.linalg.norm(b)
        if length > 0:
            angles.append(np.degrees(np.arccos(np.clip(a @ b / length, -1, 1))))
    return float(np.mean(angles)) if angles else 0.0


@roughness.right("pair by pair with arccos")
def _(path):
    return mean_angle(np.diff(path, axis=0))


@roughness.right("in float32")
def _(path):
    moves = np.diff(path.astype(np.float32), axis=0)
    lengths = np.linalg.norm(moves, axis=1)
    keep = (lengths[:-1] > 0) & (lengths[1:] > 0)
    cosines = (
        np.sum(moves[:-1] * moves[1:], axis=1)[keep]
        / (lengths[:-1] * lengths[1:])[keep]
    )
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return angles.mean() if keep.any() else np.float32(0)


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

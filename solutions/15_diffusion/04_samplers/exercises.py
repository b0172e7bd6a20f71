"""Exercises of 15_diffusion/04_samplers."""

import numpy as np

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

CLOSE = close(rtol=1e-7)
CALLED = parts(states=CLOSE, calls=exact())


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape)


def net(rng, d):
    """What says(x, t) = tanh(x W) + t b needs; with x of `away` no tanh is saturated."""
    return dict(
        W=rng.uniform(0.2, 0.5, (d, d)) * rng.choice([-1, 1], (d, d)), b=away(rng, d)
    )


def clock(rng, K, up):
    """K uneven steps inside (0.1, 1.2)."""
    t = 0.1 + np.cumsum(rng.uniform(0.5, 1.5, K + 1)) / (1.5 * K + 1.5)
    return t if up else t[::-1].copy()


# --------------------------------------------------------------------------------------- sample_t2

sample_t2 = Exercise(
    "sample_t2",
    reference=reference.sample_t2,
    compare=CALLED,
    hints=[
        "How many indices does a step without noise go back? So at which t does the second step begin?",
        "From index t the step is x + sigma2 times the score at x and t, nothing else; it arrives at t - 2. The last begins at 2.",
        "for t in range(T, 0, -2): append path[-1] + sigma2 * score(path[-1], t). np.array(path) at the end.",
    ],
)


@sample_t2.probe
def _(answer, x_T, T, sigma2, W, b):
    calls = []

    def score(x, t):
        calls.append(t)
        return np.tanh(x @ W) + t * b

    states = answer(score, x_T, T, sigma2)
    return {"states": states, "calls": len(calls)}


@sample_t2.cases
def _(rng):
    def case(n, d, T, sigma2=None):
        sigma2 = rng.uniform(0.2, 0.4) if sigma2 is None else sigma2
        return dict(x_T=away(rng, n, d), T=T, sigma2=sigma2) | net(rng, d)

    yield "many steps", case(3, 2, 8)
    yield "many steps", case(2, 3, 6)
    yield "as many dots as coordinates", case(2, 2, 4)
    yield "a single step", case(2, 1, 2)
    yield "one dot on a line", case(1, 1, 6)
    yield "no variance, no way", case(2, 2, 4, 0.0)


sample_t2.mistakes(
    {
        "one index a step": (
            "range(T, 0, -2)",
            "range(T, 0, -1)",
            "How many indices does a step without noise go back?",
        ),
        "half a score": (
            "sigma2 * score",
            "sigma2 / 2 * score",
            "A half belongs to a step of one index. Yours has two.",
        ),
        "downhill": (
            "x + sigma2",
            "x - sigma2",
            "The score points uphill, to where dots are denser. Where do you want to go?",
        ),
        "a standard deviation": (
            "sigma2 * score",
            "sigma2**0.5 * score",
            "sigma2 is already the variance.",
        ),
        "the score where the step ends": (
            "score(x, t)",
            "score(x, t - 2)",
            "The score is that of the crowd that you stand in, where the step begins.",
        ),
        "always from the start": (
            "x = path[-1]",
            "x = x_T",
            "Where does the second step begin?",
        ),
        "a step too few": (
            "range(T, 0, -2)",
            "range(T, 2, -2)",
            "Does your walk arrive at index 0?",
        ),
    }
)

sample_t2.equivalent(
    {"for t in range(T, 0, -2): → for t in range(T, 1, -2):": "T > 0 an even number"}
)

sample_t2.worked(
    why=r"""Only the count is new. A step back without its noise turns the crowd of index $t$ into that of $t - 2$, so the next
    score is that of $t - 2$, and half as many questions to the network lead from $T$ to 0."""
)


@sample_t2.right("a while loop that writes into one array")
def _(score, x_T, T, sigma2):
    states = np.zeros((T // 2 + 1, *np.shape(x_T)))
    states[0], t = x_T, T
    while t:
        k = (T - t) // 2
        states[k + 1] = states[k] + sigma2 * score(states[k], t)
        t -= 2
    return states


# ---------------------------------------------------------------------------------- euler_maruyama

euler_maruyama = Exercise(
    "euler_maruyama",
    reference=reference.euler_maruyama,
    compare=CLOSE,
    hints=[
        "How long is the step from times[k] to times[k + 1], and how large is the noise of a step of that length?",
        "A step of length h adds f(x, t) h, where h may be negative, and g(x, t) √|h| z[k]. Both are asked at the place and the time where the step begins.",
        "h = times[k + 1] - times[k]; append x + f(x, times[k]) * h + g(x, times[k]) * abs(h) ** 0.5 * z[k].",
    ],
)


@euler_maruyama.probe
def _(answer, x, z, times, W, b, size):
    def f(x, t):
        return np.tanh(x @ W) + t * b

    return answer(f, lambda x, t: size * (1 + t) * x, x, z, times)


@euler_maruyama.cases
def _(rng):
    def case(n, d, K, up=True, **changes):
        given = dict(x=away(rng, n, d), z=away(rng, K, n, d), times=clock(rng, K, up))
        return given | net(rng, d) | dict(size=rng.uniform(0.5, 1)) | changes

    yield "uneven times that rise", case(3, 2, 4)
    yield "uneven times that rise", case(2, 3, 5)
    yield "times that fall", case(3, 2, 4, up=False)
    yield "times that fall", case(2, 1, 6, up=False)
    yield "without noise it is Euler's method", case(2, 2, 3, size=0.0)
    yield "one dot, one step", case(1, 1, 1)
    yield "no step, no change", case(2, 2, 0)


euler_maruyama.mistakes(
    {
        "noise with h, not its root": (
            "abs(h) ** 0.5",
            "abs(h)",
            "Variances of steps add up. How does the size of the noise scale with h?",
        ),
        "falling times are forgotten": (
            "f(path[-1], t) * h",
            "f(path[-1], t) * abs(h)",
            "When time falls, f leads back. Which sign has h?",
        ),
        "the drift has the root, too": (
            "f(path[-1], t) * h",
            "f(path[-1], t) * np.sign(h) * abs(h) ** 0.5",
            "Only the noise comes with the root.",
        ),
        "the time where the step ends": (
            "t = times[k]\n",
            "t = times[k + 1]\n",
            "Drift and noise are asked where the step begins. And its length?",
        ),
        "equal steps": (
            "times[k + 1] - t",
            "(times[-1] - times[0]) / (len(times) - 1)",
            "Are all steps equally long?",
        ),
        "the drift of the start": (
            "path = [x]",
            "x, path = x.copy(), [x]\n    f = (lambda f0: lambda y, t: f0(x, t))(f)",
            "The drift is that of the place where the step begins.",
        ),
        "one noise for all steps": ("z[k]", "z[0]", "Each step has its own noise."),
    }
)

euler_maruyama.worked(
    why=r"""A step of length $h$ gains the drift of its beginning, $f h$, and noise of variance $g^2 |h|$. The noises of many steps
    are independent, so their variances add up to $g^2$ times the time, however fine the steps; their size must go with
    the root. Backwards in time $h$ is negative and turns the drift round. Noise has no direction."""
)


@euler_maruyama.right("rows of one array")
def _(f, g, x, z, times):
    path = np.empty((len(times), *np.shape(x)))
    path[0] = x
    for k, h in enumerate(np.diff(times)):
        here = path[k].copy()
        path[k + 1] = here + h * f(here, times[k])
        path[k + 1] += np.sqrt(np.abs(h)) * g(here, times[k]) * z[k]
    return path


# ---------------------------------------------------------------------------------------- way_home

way_home = Exercise(
    "way_home",
    reference=reference.way_home,
    compare=CLOSE,
    hints=[
        "It is a walk dx = (…) dt + (…) dw like any other. What is its drift, and what its noise?",
        "The drift is f less (1 + lam²) / 2 times g² times the score, all at (x, t). The noise is lam g. euler_maruyama does the rest; falling times need no sign of yours.",
        "Define drift(x, t), which returns f(x, t) - (1 + lam**2) / 2 * g(x, t)**2 * score(x, t), and noise(x, t), which returns lam * g(x, t).",
    ],
)


@way_home.probe
def _(answer, x, z, times, lam, W, b, size):
    def score(x, t):
        return np.tanh(x @ W) + t * b

    return answer(
        lambda x, t: x - b, lambda x, t: size * (1 + t), score, x, z, times, lam
    )


@way_home.cases
def _(rng):
    def case(n, d, K, lam, up=False, **changes):
        given = dict(x=away(rng, n, d), z=away(rng, K, n, d), times=clock(rng, K, up))
        return given | net(rng, d) | dict(lam=lam, size=rng.uniform(1.2, 1.6)) | changes

    yield "the reverse SDE", case(3, 2, 4, 1.0)
    yield "the reverse SDE", case(2, 3, 3, 1.0)
    yield "the ODE, home", case(3, 2, 4, 0.0)
    yield "the ODE, to the noise", case(2, 2, 4, 0.0, up=True)
    yield "half the noise, and more than all", case(3, 2, 3, 0.5)
    yield "half the noise, and more than all", case(2, 1, 3, 1.5)
    yield "one dot, one step", case(1, 1, 1, 0.7)


way_home.mistakes(
    {
        "always the SDE's drift": (
            "(1 + lam**2) / 2 * ",
            "",
            "Without noise there is nothing to pay for. How much of the score is left?",
        ),
        "always the ODE's drift": (
            "(1 + lam**2) / 2",
            "1 / 2",
            "Noise pushes dots apart. Who draws them together again?",
        ),
        "only the noise is paid for": (
            "(1 + lam**2) / 2",
            "lam**2 / 2",
            "That balances the noise. What moves the crowd?",
        ),
        "lam without its square": (
            "(1 + lam**2)",
            "(1 + lam)",
            "A noise of size lam g has which variance?",
        ),
        "as the notes print it": (
            "f(x, t) - (1",
            "f(x, t) + (1",
            "Noise spreads the crowd like the velocity -½ g² s. Which sign has the score?",
        ),
        "the drift turned by hand": (
            "return f(x, t)",
            "return -f(x, t)",
            "Time falls, so h is negative already.",
        ),
        "the noise in full": (
            "return lam * g(x, t)",
            "return g(x, t)",
            "How large is the noise if lam is 0?",
        ),
        "the noise squared": (
            "return lam * g(x, t)",
            "return lam**2 * g(x, t)",
            "The size of the noise is lam g; its square is the variance.",
        ),
    }
)

way_home.worked(
    why=r"""Any film whose crowd moves like $f - \frac12 g^2 s$ is right. Noise $\lambda g$ adds, going backwards, a spread that
    the drift $-\frac12 \lambda^2 g^2 s$ takes away again, so one may mix in as much as one likes. Formulas are written for
    $dt$; that time falls is in the sign of $h$ alone."""
)


@way_home.right("its own loop")
def _(f, g, score, x, z, times, lam):
    path = [x]
    for t, later, shake in zip(times[:-1], times[1:], z, strict=True):
        here, back = path[-1], t - later
        climb = 0.5 * g(here, t) ** 2 * score(here, t) * back
        moved = here - back * f(here, t) + climb + lam**2 * climb
        path.append(moved + lam * g(here, t) * np.sqrt(np.abs(back)) * shake)
    return np.array(path)


# -------------------------------------------------------------------------------------------- ride

ride = Exercise(
    "ride",
    reference=reference.ride,
    compare=parts(states=CLOSE, total=CLOSE, calls=exact()),
    hints=[
        "Where does the step begin, and where would Euler's step end? At both places, what do v and div say?",
        "guess = here + h * v(here, t). The step is h times the mean of v(here, t) and v(guess, later); the sum grows by h times the mean of div at the same two.",
        "In the loop: t, later, h, here, first, guess, second; append here + h / 2 * (first + second); total = total + h / 2 * (div(here, t) + div(guess, later)). total begins as np.zeros(len(x)).",
    ],
)


@ride.probe
def _(answer, x, times, W, b):
    calls = []

    def v(x, t):
        calls.append(t)
        return np.tanh(x @ W) + t * b

    def div(x, t):
        return ((1 - np.tanh(x @ W) ** 2) * np.diag(W)).sum(-1) + t

    states, total = answer(v, div, x, times)
    return {"states": states, "total": total, "calls": len(calls)}


@ride.cases
def _(rng):
    def case(n, d, K, up=True):
        return dict(x=away(rng, n, d), times=clock(rng, K, up)) | net(rng, d)

    yield "uneven times that rise", case(3, 2, 4)
    yield "uneven times that rise", case(2, 3, 5)
    yield "times that fall", case(3, 2, 4, up=False)
    yield "as many dots as coordinates", case(2, 2, 3)
    yield "one dot, one step", case(1, 1, 1)


ride.mistakes(
    {
        "Euler's steps": (
            "second = v(guess, later)",
            "second = first",
            "Heun asks twice a step. Where for the second time?",
        ),
        "the second question at the old time": (
            "second = v(guess, later)",
            "second = v(guess, t)",
            "The guess is the end of the step. What time is it there?",
        ),
        "the second question at the old place": (
            "second = v(guess, later)",
            "second = v(here, later)",
            "Heun asks where Euler's step ends.",
        ),
        "the divergence of the beginning": (
            "h / 2 * (div(here, t) + div(guess, later))",
            "h * div(here, t)",
            "The divergence is summed as the velocity is: both places count.",
        ),
        "the divergence downwards": (
            "total + h / 2",
            "total - h / 2",
            "The text asks for the sum of div. The minus of the log density comes later.",
        ),
        "only the last step's divergence": (
            "total = total + h",
            "total = h",
            "Add up all steps.",
        ),
        "falling times are forgotten": (
            "h = later - t",
            "h = abs(later - t)",
            "When time falls, a step leads back.",
        ),
    }
)

ride.worked(
    why=r"""Euler's step uses the velocity of its beginning for all of it. Heun guesses the end, asks there, and takes the mean:
    for the price of two questions its error falls with $h^2$, not $h$. The log density follows the same road, so that
    its change, the divergence, is summed by the same rule at the same two places."""
)


@ride.right("the sum as one more coordinate")
def _(v, div, x, times):
    def slope(state, t):
        here = state[:, :-1]
        return np.concatenate([v(here, t), div(here, t)[:, None]], 1)

    states = [np.concatenate([x, np.zeros((len(x), 1))], 1)]
    for t, h in zip(times[:-1], np.diff(times), strict=True):
        first = slope(states[-1], t)
        second = slope(states[-1] + h * first, t + h)
        states.append(states[-1] + h * (first + second) / 2)
    states = np.array(states)
    return states[:, :, :-1], states[-1, :, -1]


# -------------------------------------------------------------------------------------------- ddim

ddim = Exercise(
    "ddim",
    reference=reference.ddim,
    compare=CALLED,
    hints=[
        "At step t the model guesses the noise. Which clean point goes with that guess? And where do both say the dot is at step s?",
        "clean = (x - √(1 - ᾱ_t) noise) / √ᾱ_t. Then √ᾱ_s clean + √(1 - ᾱ_s - u) noise + √u z[k], where u is 0 without fresh noise. Do not compute u for eta = 0: where steps rise, or start at 0, it makes no sense.",
        "now, then = left[steps[k]], left[steps[k + 1]]; fresh = 0, and if eta > 0: fresh = eta**2 * (1 - then) / (1 - now) * (1 - now / then), and fresh**0.5 * z[k] is added.",
    ],
)


@ddim.probe
def _(answer, x, z, left, steps, eta, W, b):
    calls = []

    def model(x, t):
        calls.append(t)
        return np.tanh(x @ W) + t / 10 * b

    states = answer(model, x, z, left, steps, eta)
    return {"states": states, "calls": len(calls)}


@ddim.cases
def _(rng):
    left = np.concatenate([[1], np.cumprod(rng.uniform(0.6, 0.9, 9))])

    def case(n, d, steps, eta=0.0):
        steps = np.array(steps)
        z = away(rng, len(steps) - 1, n, d) if eta else None
        return dict(x=away(rng, n, d), z=z, left=left, steps=steps, eta=eta) | net(
            rng, d
        )

    yield "some steps, no noise", case(3, 2, [9, 6, 5, 1])
    yield "some steps, no noise", case(2, 2, [8, 4, 2])
    yield "DDPM's noise", case(3, 2, [9, 7, 4, 3], 1.0)
    yield "half the noise", case(2, 3, [8, 5, 2, 1], 0.5)
    yield "down to the data", case(3, 2, [7, 3, 0])
    yield "down to the data", case(2, 2, [7, 3, 0], 1.0)
    yield "up to the noise", case(2, 2, [1, 4, 8])
    yield "up from the data", case(3, 1, [0, 2, 9])
    yield "one dot, one step", case(1, 1, [6, 2], 0.7)


ddim.mistakes(
    {
        "the clean point is not scaled up": (
            "noise) / now**0.5",
            "noise)",
            "x is √ᾱ x0 plus noise. Solve for x0.",
        ),
        "straight to the clean point": (
            "path.append(step + (1 - then - fresh) ** 0.5 * noise)",
            "path.append(step)",
            "At step s there is still noise. Which, if the guess is right?",
        ),
        "the noise of the old step": (
            "(1 - then - fresh) ** 0.5 * noise",
            "(1 - now - fresh) ** 0.5 * noise",
            "How much noise belongs to the step where you arrive?",
        ),
        "fresh noise on top of all": (
            "(1 - then - fresh)",
            "(1 - then)",
            "The variance 1 - ᾱ_s is shared: what is fresh cannot be guessed noise as well.",
        ),
        "the fresh noise squared": (
            "fresh**0.5 * z[k]",
            "fresh * z[k]",
            "u is a variance. How large is the noise?",
        ),
        "eta without its square": (
            "eta**2",
            "eta",
            "u is a variance. What does half the noise do to it?",
        ),
        "one index after the other": (
            "left[steps[k + 1]]",
            "left[max(steps[k] - 1, 0)]",
            "Steps may leave out indices. Where does this one arrive?",
        ),
        "the model hears the number of the step": (
            "model(x, steps[k])",
            "model(x, k)",
            "The network knows indices t of the chain.",
        ),
        "the other ratio": (
            "(1 - now / then)",
            "(1 - then / now)",
            "A variance is not negative. Which power is larger, the earlier or the later?",
        ),
        "always from the start": (
            "x, now, then = path[-1],",
            "x, now, then = path[0],",
            "Where does the second step begin?",
        ),
    }
)

ddim.worked(
    why=r"""A guess of the noise is a guess of the clean point, and both together say where the dot is at any other step. The
    jump is exact if the guess is; its only error is that the guess changes on the way. Fresh noise takes its variance
    from the guessed one's, so that the sum stays $1 - \bar\alpha_s$. Without fresh noise nothing in it asks which way time runs."""
)


@ddim.right("both factors of one line")
def _(model, x, z, left, steps, eta):
    path = [x]
    for k, (t, s) in enumerate(zip(steps[:-1], steps[1:], strict=True)):
        guess, scale = model(path[-1], t), np.sqrt(left[s] / left[t])
        v = 1 - left[s]
        moved = scale * path[-1] - scale * np.sqrt(1 - left[t]) * guess
        if eta:
            sigma = eta * np.sqrt(v / (1 - left[t]) * (1 - left[t] / left[s]))
            moved = moved + sigma * z[k]
            v = v - sigma**2
        path.append(moved + np.sqrt(v) * guess)
    return np.stack(path)


# ----------------------------------------------------------------------------------- fokker_planck

fokker_planck = Exercise(
    "fokker_planck",
    reference=reference.fokker_planck,
    compare=CLOSE,
    hints=[
        "How much flows over each of the m - 1 borders? And how much over the two ends?",
        "Over a border: f there times the mean of its two cells' p, less the difference of g² p over 2 dx. A cell changes by h / dx times (what flows in on its left less what flows out on its right).",
        "spread = np.diff(g(x, t)**2 * p) / (2 * dx); flow = np.concatenate([[0], carried - spread, [0]]); the new p is p - h / dx * np.diff(flow).",
    ],
)


@fokker_planck.probe
def _(answer, p, x, times, a, c, size):
    def f(y, t):
        if len(y) != len(x) - 1:
            raise ValueError(
                f"f is asked at the {len(x) - 1} borders, not at {len(y)} places"
            )
        return a * y + c * (1 + t)

    return answer(f, lambda y, t: size * (1 + t) * (2 + np.sin(y)), p, x, times)


@fokker_planck.cases
def _(rng):
    def case(m, K, **changes):
        dx = rng.uniform(0.3, 0.6)
        x = rng.normal() + dx * np.arange(m)
        given = dict(p=rng.uniform(0.5, 1.5, m), x=x, times=clock(rng, K, True) / 10)
        given |= dict(
            a=rng.uniform(0.5, 1.5), c=rng.uniform(-2, -1), size=rng.uniform(0.3, 0.6)
        )
        return given | changes

    yield "drift and noise", case(6, 4)
    yield "drift and noise", case(4, 3)
    yield "noise alone", case(5, 3, a=0.0, c=0.0)
    yield "without noise the crowd is carried", case(5, 4, size=0.0)
    bare = np.array([0.0, *rng.uniform(0.5, 1.5, 3), 0.0])
    yield "an empty cell may dip below 0", case(5, 3, p=bare, a=0.0, size=0.0)
    yield "two cells", case(2, 3)
    yield "no step, no change", case(4, 0)


fokker_planck.mistakes(
    {
        "the sign of the noise": (
            "carried - spread",
            "carried + spread",
            "Noise flows from where p is large to where it is small.",
        ),
        "the sign of the flow": (
            "history[-1]\n        carried",
            "history[-1]\n        h = -h\n        carried",
            "A cell gains what comes in on its left, and loses what goes out on its right.",
        ),
        "no half": (
            "(2 * dx)",
            "dx",
            "The equation has ½ before its second derivative.",
        ),
        "noise outside of the derivative": (
            "np.diff(g(x, t) ** 2 * p) / (2 * dx)",
            "(g(border, t) ** 2) * np.diff(p) / (2 * dx)",
            "Both derivatives are taken of the product g² p.",
        ),
        "the cell on the left alone": (
            "(p[1:] + p[:-1]) / 2",
            "p[:-1]",
            "At a border p is the mean of its two cells.",
        ),
        "cut off at 0": (
            "p - h / dx * np.diff(flow)",
            "np.maximum(p - h / dx * np.diff(flow), 0)",
            "These flows may leave a cell a little below 0. Cut that off, and mass appears from nowhere.",
        ),
        "the step in time is forgotten": (
            "p - h / dx",
            "p - 1 / dx",
            "How long does the flow last?",
        ),
        "always from the start": (
            "p = history[-1]",
            "p = history[0]",
            "Each step begins with the density that the one before left.",
        ),
    }
)

fokker_planck.worked(
    why=r"""What leaves a cell enters its neighbour: every flow over a border is taken from one and given to the other, so no mass is
    lost whatever the formula for the flow. The drift carries the density that stands at the border; noise flows down the
    slope of $g^2 p$. Differences of flows are the outer derivative."""
)


@fokker_planck.right("cell by cell")
def _(f, g, p, x, times):
    dx, m = x[1] - x[0], len(x)
    history = [np.array(p, float)]
    for k in range(len(times) - 1):
        t, old = times[k], history[-1]
        new, drift, variance = old.copy(), f(x[:-1] + dx / 2, t), g(x, t) ** 2
        for i in range(m - 1):
            over = drift[i] * (old[i] + old[i + 1]) / 2
            over -= (variance[i + 1] * old[i + 1] - variance[i] * old[i]) / (2 * dx)
            new[i] -= over * (times[k + 1] - t) / dx
            new[i + 1] += over * (times[k + 1] - t) / dx
        history.append(new)
    return np.array(history)


# ----------------------------------------------------------------------------------- reverse_drift

reverse_drift = Exercise(
    "reverse_drift",
    reference=reference.reverse_drift,
    compare=close(
        rtol=1e-5, atol=1e-6
    ),  # central differences with steps of 1e-4 miss about 1e-8
    hints=[
        "Write D(x) first: for each dot the matrix G Gᵀ, all together (n, d, d). Which of its derivatives does div D need?",
        "(div D)_i is the sum over j of the derivative of D_ij in coordinate j. Nudge all dots in coordinate j by ± 1e-4 and keep column j of the difference, over 2e-4.",
        "G(x) @ G(x).transpose(0, 2, 1) is D; np.einsum('nij,nj->ni', D(x), score(x)) is D s; for j: nudge = np.zeros(d), nudge[j] = 1e-4, add (D(x + nudge) - D(x - nudge))[:, :, j] / 2e-4.",
    ],
)


@reverse_drift.probe
def _(answer, x, W, B, c):
    def G(x):
        return np.sin(x)[:, :, None] + np.einsum("nj,ikj->nik", x, B)

    return answer(lambda x: x @ W, G, lambda x: np.tanh(x) - 1, x, c)


@reverse_drift.cases
def _(rng):
    def case(n, d, k, c=1.0, **changes):
        given = dict(x=away(rng, n, d), W=away(rng, d, d), B=away(rng, d, k, d), c=c)
        return given | changes

    yield "correlated noise that knows the place", case(3, 2, 2)
    yield "correlated noise that knows the place", case(2, 3, 3)
    yield "the ODE has half of it", case(3, 2, 2, 0.5)
    yield "more noises than coordinates, and fewer", case(2, 2, 3)
    yield "more noises than coordinates, and fewer", case(3, 3, 1, 0.5)
    yield "on a line", case(4, 1, 1)
    yield "c = 0 leaves the drift", case(2, 2, 2, 0.0)


reverse_drift.mistakes(
    {
        "no divergence": (
            "pull = pull + (D(x + nudge)",
            "pull = pull + 0 * (D(x + nudge)",
            "G depends on the place. What does the derivative of the product D p leave?",
        ),
        "no score": (
            'pull = np.einsum("nij,nj->ni", D(x), score(x))',
            "pull = 0 * x",
            "Where is D s?",
        ),
        "the score without D": (
            'np.einsum("nij,nj->ni", D(x), score(x))',
            "score(x)",
            "The noise may be correlated: which matrix turns the score?",
        ),
        "downhill": (
            "f(x) - c * pull",
            "f(x) + c * pull",
            "Here time falls: the minus is right for dt < 0.",
        ),
        "always the whole": ("c * pull", "pull", "What is c for?"),
        "only the diagonal": (
            "(D(x + nudge) - D(x - nudge))[:, :, j]",
            "(D(x + nudge) - D(x - nudge))[:, j, j][:, None] * (np.arange(x.shape[1]) == j)",
            "(div D)_i is a sum over all j, not over j = i alone.",
        ),
        "Gᵀ G": (
            "noise @ noise.transpose(0, 2, 1)",
            "(noise.transpose(0, 2, 1) @ noise if noise.shape[1] == noise.shape[2] else noise @ noise.transpose(0, 2, 1))",
            "D has a row and a column for each coordinate of x.",
        ),
    }
)

reverse_drift.equivalent({"noise = G(x) → noise = -G(x)": "with D = G Gᵀ."})

reverse_drift.worked(
    why=r"""The crowd feels noise through $\frac12 \sum_{ij} \partial_i \partial_j (D_{ij} p)$. One derivative taken out, with
    $\partial_j p = p\, s_j$, leaves $p\,(\mathrm{div}\, D + D s)$, so that noise is a velocity of $-\frac12$ of this. The ODE
    takes this velocity in place of the noise: ½. The reverse SDE keeps noise and pays for it once more: 1. If $G$ does not
    depend on the place, only $D s$ is left."""
)


@reverse_drift.right("the product rule for G")
def _(f, G, score, x, c):
    n, d = x.shape
    here, total = G(x), np.zeros((n, d))
    for j in range(d):
        nudge = 1e-4 * np.eye(d)[j]
        slope = (G(x + nudge) - G(x - nudge)) / 2e-4
        total += np.einsum("nik,nk->ni", slope, here[:, j])
        total += np.einsum("nik,nk->ni", here, slope[:, j])
    total += np.einsum("nik,njk,nj->ni", here, here, score(x))
    return f(x) - c * total

"""Exercises of 15_diffusion/02_diffusion_chains."""

import math

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape)


# ------------------------------------------------------------------------------------------- walks

walks = Exercise(
    "walks",
    reference=reference.walks,
    compare=close(rtol=1e-6),
    hints=[
        "Each state is the one before it, plus noise. What stands first in your list?",
        "sigma2 is the variance of a step, and z has variance 1. By what do you multiply z?",
        "Start with [x0]. For each noise of z append path[-1] plus the root of sigma2 times noise. np.array makes one array of it.",
    ],
)


@walks.cases
def _(rng):
    def case(T, *shape, sigma2=0.3, **changes):
        return (
            dict(x0=away(rng, *shape), z=away(rng, T, *shape), sigma2=sigma2) | changes
        )

    yield "every state of the walk", case(4, 3, 2)
    yield "walkers on a line", case(3, 5, sigma2=2.5)
    yield "without noise nobody moves", case(3, 2, 2, z=np.zeros((3, 2, 2)))
    yield "from the origin the noise adds up", case(5, 2, 1, x0=np.zeros((2, 1)))
    yield "a single step of a single walker", case(1, 1, 1)
    yield ("whole numbers to start from", case(2, 3, 1, x0=rng.integers(-4, 5, (3, 1))))
    yield "no step at all", case(0, 2, 2)


walks.mistakes({
    "the noise is scaled by the variance": ("sigma2**0.5 * noise", "sigma2 * noise",
        "z has variance 1. By what do you multiply a number so that its variance becomes σ²?"),
    "every step starts from x0": ("path[-1] +", "x0 +", "Which state does the second step start from?"),
    "jumps, not a walk": ("path[-1] + sigma2**0.5 * noise", "x0 + (len(path) * sigma2) ** 0.5 * noise",
        "Each of your x_t has the right law. But is x_2 one step away from your x_1?"),
    "the start is missing": ("np.array(path)", "np.array(path[1:]).reshape(len(z), *np.shape(x0))",
        "T steps make T + 1 states. Which one is not there?"),
    "only the end": ("np.array(path)", "path[-1]", "All states are asked for. How many do you return?"),
    "from the end to the start": ("np.array(path)", "np.array(path[::-1])", "Entry t is x_t. What should entry 0 be?"),
})  # fmt: skip

walks.worked(
    why=r"""Each state needs the one before it and nothing else: such a chain is called Markov. After $t$ steps $t$ independent
    noises have added up, so that $x_t$ has variance $t\sigma^2$ round $x_0$. The list keeps the whole trajectory, since the
    way back will be learned from pairs of neighbours."""
)


@walks.right("all sums at once")
def _(x0, z, sigma2):
    steps = math.sqrt(sigma2) * np.cumsum(z, axis=0)
    return np.concatenate([np.asarray(x0, float)[None], x0 + steps])


@walks.right("in torch", library="torch.cumsum")
def _(x0, z, sigma2):
    x0, z = torch.as_tensor(x0), torch.as_tensor(z)
    return torch.cat([x0[None], x0 + sigma2**0.5 * torch.cumsum(z, 0)]).numpy()


# --------------------------------------------------------------------------------------- fit_steps

fit_steps = Exercise(
    "fit_steps",
    reference=reference.fit_steps,
    compare=close(rtol=1e-6, atol=1e-8),  # mean squares that nearly cancel lose digits
    batched=("paths",),
    hints=[
        "One step at a time: you know x_t of all walkers, and want their x_{t-1}. That is a regression with one input.",
        "The slope of a regression is the mean product of both deviations from the mean, divided by the mean square of the input's. "
        "The line goes through the point of means.",
        "Go through zip(paths[:-1], paths[1:]): before is x_{t-1}, later is x_t. dx = later - later.mean(), dy = before - before.mean(); "
        "slope = mean(dx dy) / mean(dx dx). The variance is the mean square of dy - slope dx.",
    ],
)


@fit_steps.cases
def _(rng):
    def random(T, n, sigma=0.7):
        first = away(rng, n) + rng.choice([-3.0, 3.0])
        return np.cumsum([first, *(sigma * away(rng, T, n))], axis=0)

    yield "a line for each step", dict(paths=random(3, 6))
    yield "a line for each step", dict(paths=random(5, 4, 1.5))
    yield "a single step", dict(paths=random(1, 5))
    x = away(rng, 4) + np.array([0.0, 3.0, -3.0, 5.0])
    yield (
        "walkers that follow a line leave no variance",
        dict(paths=np.array([2 * x - 3, x])),
    )
    yield (
        "a slope below zero",
        dict(paths=np.array([1 - x + 0.1 * away(rng, 4), x, 0.5 - x])),
    )
    yield (
        "two walkers, far from the origin",
        dict(paths=np.array([[100.0, 103.0], [99.0, 106.0]]) + rng.integers(1, 9)),
    )
    yield (
        "whole numbers",
        dict(paths=rng.integers(-9, 10, (3, 6)) + np.arange(6) * [[1], [2], [3]]),
    )


fit_steps.mistakes({
    "the way forth in place of the way back": ("zip(paths[:-1], paths[1:])", "zip(paths[1:], paths[:-1])",
        "What do you know, and what do you want? The way back starts from x_t."),
    "divided by the wrong spread": ("(dx * dx).mean()", "(dy * dy).mean()",
        "The slope is how much x_{t-1} changes a unit of x_t. By whose spread do you divide?"),
    "the line goes through the origin": ("before.mean() - slope * later.mean()", "0.0",
        "Where is your line at the mean of x_t?"),
    "the variance of all, not of the rest": ("((dy - slope * dx) ** 2).mean()", "(dy**2).mean()",
        "How far are the walkers from the line?"),
    "the standard deviation": ("((dy - slope * dx) ** 2).mean()", "((dy - slope * dx) ** 2).mean() ** 0.5",
        "A variance is asked for. Do you return its root?"),
    "one line a walker": ("return np.array(lines).T", "return np.array(lines)",
        "Three arrays are asked for, each with one number a step."),
})  # fmt: skip

fit_steps.worked(
    why=r"""A Gaussian step $N(a x_t + b, v)$ is most likely where $a x_t + b$ is the regression of $x_{t-1}$ on $x_t$, and $v$ what
    it leaves: maximum likelihood, one step at a time. No step needs to know the others, and all the data needed are pairs of
    neighbours."""
)


@fit_steps.right("by a polynomial fit of degree 1", library="numpy.polyfit")
def _(paths):
    fits = [np.polyfit(after, before, 1) for before, after in zip(paths, paths[1:])]
    rest = [
        np.mean((before - np.polyval(fit, after)) ** 2)
        for fit, before, after in zip(fits, paths, paths[1:])
    ]
    return [fit[0] for fit in fits], [fit[1] for fit in fits], rest


@fit_steps.right("all steps at once")
def _(paths):
    off = paths - paths.mean(1, keepdims=True)
    slope = (off[:-1] * off[1:]).mean(1) / (off[1:] ** 2).mean(1)
    offset = paths[:-1].mean(1) - slope * paths[1:].mean(1)
    return slope, offset, ((off[:-1] - slope[:, None] * off[1:]) ** 2).mean(1)


# ---------------------------------------------------------------------------------------- generate

generate = Exercise(
    "generate",
    reference=reference.generate,
    compare=parts(states=close(rtol=1e-6), asked=exact()),
    hints=[
        "Walk from T down to 1: range(T, 0, -1). Which state do you ask the step about?",
        "step gives a mean and a variance. Add noise of that variance to that mean: that is the next state, x_{t-1}.",
        "Keep a list that starts with x_T, and append mean + var**0.5 * z[t - 1]. At the end turn it round: entry t is x_t.",
    ],
)


@generate.probe
def _(answer, x_T, z, slopes, offsets, variances):
    asked = []

    def step(x, t):
        asked.append(t)
        stays = slopes[t - 1] == 1 and offsets[t - 1] == 0  # then its mean is x itself
        return x if stays else slopes[t - 1] * x + offsets[t - 1], variances[t - 1]

    return dict(states=answer(step, x_T, z), asked=asked)


@generate.cases
def _(rng):
    def case(T, *shape, **changes):
        given = dict(x_T=away(rng, *shape), z=away(rng, T, *shape))
        given |= dict(slopes=0.6 * away(rng, T), offsets=away(rng, T))
        return given | dict(variances=away(rng, T) ** 2) | changes

    yield "every state of the way back", case(4, 3, 2)
    yield "walkers on a line", case(3, 4)
    yield "the last step adds noise, too", case(1, 2, 2)
    yield "without noise it follows the means", case(3, 2, 1, z=np.zeros((3, 2, 1)))
    yield (
        "a step may give x_t itself as the mean",
        case(3, 2, 1, slopes=np.ones(3), offsets=np.zeros(3)),
    )
    yield (
        "each step has its own variance",
        case(3, 2, 1, variances=np.array([0.01, 4.0, 0.25]) * rng.uniform(1, 2)),
    )
    yield "no step at all", case(0, 2, 2)


generate.mistakes({
    "from 1 up to T": ("range(len(z), 0, -1)", "range(1, len(z) + 1)", "You start at x_T. Which step leads away from there?"),
    "the noise is scaled by the variance": ("var**0.5 *", "var *",
        "z has variance 1. By what do you multiply it to give it the variance var?"),
    "the noise of another step": ("z[t - 1]", "z[len(z) - t]", "z[t - 1] belongs to the step from x_t to x_{t-1}."),
    "the last step is silent": ("z[t - 1]", "(z[t - 1] if t > 1 else 0)",
        "Here the model's last step is a Gaussian like the others: it adds its noise."),
    "no noise at all": (" + var**0.5 * z[t - 1]", "",
        "The mean is where x_{t-1} is to be expected. Draw it, do not take the mean."),
    "from the noise to the data": ("path[::-1]", "path", "Entry t is x_t. What should entry 0 be?"),
    "the state before is overwritten": ("path.append(mean + var**0.5 * z[t - 1])",
        "mean += var**0.5 * z[t - 1]; path.append(mean)",
        "`+=` changes the array that the step gave you. Whose is it, where the step gives x_t itself?"),
    "every step from x_T": ("step(path[-1], t)", "step(x_T, t)", "Which state does the second step start from?"),
})  # fmt: skip

generate.worked(
    why=r"""The model's joint density is $p(x_T)\prod_t p_\theta(x_{t-1}\mid x_t)$, so a draw of it starts with $x_T$ and then draws
    each state given the one after it: ancestral sampling. Whoever takes means in place of draws samples something narrower."""
)


@generate.right("one array, filled from its end")
def _(step, x_T, z):
    states = np.empty((len(z) + 1, *np.shape(x_T)))
    states[-1] = x_T
    for t in reversed(range(1, len(z) + 1)):
        mean, var = step(states[t], t)
        states[t - 1] = mean + math.sqrt(var) * z[t - 1]
    return states


# ------------------------------------------------------------------------------------------ bridge

bridge = Exercise(
    "bridge",
    reference=reference.bridge,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("x0", "xt"),
    hints=[
        "Write x_t - x_0 as a sum of t noises. All have the same law, and together they are known: what do you expect of each?",
        "Each is expected to be (x_t - x_0) / t. Take the last one away from x_t: that is the mean. For the variance write one over "
        "(t - 1)σ² plus one over σ² as a single fraction.",
        "Precisions, one over the variance, add up: 1 / ((t - 1)σ²) + 1 / σ² is t / ((t - 1)σ²). Turn it over: that is the variance. "
        "At t = 1 it is 0.",
    ],
)


@bridge.cases
def _(rng):
    def case(t, *shape, sigma2=0.4, **changes):
        return (
            dict(x0=away(rng, *shape), xt=3 * away(rng, *shape), t=t, sigma2=sigma2)
            | changes
        )

    yield "between both ends", case(5, 3, 2)
    yield "between both ends", case(3, 4, sigma2=1.7)
    yield "two steps: halfway", case(2, 3, 1)
    yield "one step: x_0 itself, and no variance", case(1, 2, 2)
    yield "many steps: hardly a step away from x_t", case(50, 2, 1)
    same = away(rng, 2, 2)
    yield (
        "ends at one place: it stays there, in the mean",
        case(4, x0=same, xt=same.copy()),
    )
    yield (
        "whole numbers",
        case(3, x0=rng.integers(-9, 0, (2, 1)), xt=rng.integers(1, 9, (2, 1))),
    )


bridge.mistakes({
    "the ends change places": ("x0 / t + (1 - 1 / t) * xt", "xt / t + (1 - 1 / t) * x0",
        "x_{t-1} is one step away from x_t and t − 1 from x_0. To which is it nearer?"),
    "the variance of a free step": ("sigma2 * (t - 1) / t", "sigma2",
        "x_0 tells something about x_{t-1}, too. Does that make it more or less certain?"),
    "the variance of x_{t-1} without a look at x_t": ("sigma2 * (t - 1) / t", "sigma2 * (t - 1)",
        "That is what x_0 alone knows. What does x_t add?"),
    "the other share of the variance": ("sigma2 * (t - 1) / t", "sigma2 / t",
        "At t = 1, x_{t-1} is x_0, which is known. What is its variance?"),
})  # fmt: skip

bridge.worked(
    why=r"""Given both ends, the $t$ noises must add up to $x_t - x_0$, and by symmetry each is expected to be $1/t$ of it. So
    $\bar x_{t-1} = x_t - (x_t - x_0)/t$. Two independent looks add their precisions,
    $\frac{1}{(t-1)\sigma^2} + \frac1{\sigma^2} = \frac{t}{(t-1)\sigma^2}$. Nothing here depends on the data: that is why this
    posterior is known in closed form, while that of $x_{t-1}$ given $x_t$ alone is not."""
)


@bridge.right("one step of t equal ones")
def _(x0, xt, t, sigma2):
    return xt - np.subtract(xt, x0) / t, sigma2 - sigma2 / t


@bridge.right("by the covariance of x_{t-1} and x_t")
def _(x0, xt, t, sigma2):
    gain = (t - 1) * sigma2 / (t * sigma2)
    return x0 + gain * (xt - x0), (t - 1) * sigma2 - gain * (t - 1) * sigma2


# ----------------------------------------------------------------------------------------- convert

convert = Exercise(
    "convert",
    reference=reference.convert,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("value", "xt"),
    hints=[
        "Whatever is known, make one thing of it first, the noise, say. Then make all four of that.",
        "x_0 = x_t - noise. The mean takes away 1/t of the noise. The score is minus the noise over its variance, tσ².",
        'From "x0" the noise is xt - value, from "score" -t σ² value, from "mean" t (xt - value). Then return '
        "dict(x0=xt - noise, noise=noise, score=…, mean=…).",
    ],
)


@convert.cases
def _(rng):
    def case(known, t, *shape, sigma2=0.4):
        return dict(
            known=known,
            value=away(rng, *shape),
            xt=3 * away(rng, *shape),
            t=t,
            sigma2=sigma2,
        )

    yield "from x0", case("x0", 5, 3, 2)
    yield "from the noise", case("noise", 4, 3, 2)
    yield "from the score", case("score", 5, 3, 2)
    yield "from the mean of the step before", case("mean", 4, 3, 2)
    for known in ("x0", "noise", "score", "mean"):
        yield "after one step the mean is x0", case(known, 1, 2, sigma2=1.5)
        yield "many steps, on a line", case(known, 100, 3, sigma2=2.5)


convert.mistakes({
    "the score points to the noise": ("score=-noise / v", "score=noise / v",
        "The score points to where data are dense, so from x_t to x_0. And the noise?"),
    "the sign of the score is lost": ("noise = -v * value", "noise = v * value",
        "Which way does the score point, and which way did the noise go?"),
    "one step's variance": ("v = t * sigma2", "v = sigma2", "The noise of t steps together: what is its variance?"),
    "all the noise is taken away": ("mean=xt - noise / t", "mean=xt - noise",
        "x_{t-1} is one step back of t. Which share of the noise is that?"),
    "σ² over t, as in one print": ("mean=xt - noise / t", "mean=xt - sigma2 / t * noise",
        "Here noise is x_t − x_0 itself, not a unit noise. Compare with your bridge."),
})  # fmt: skip


@convert.wrong(
    "a unit noise",
    advice="Here the noise is x_t − x_0 itself, whose variance is tσ². By what do you multiply it?",
)
def _(known, value, xt, t, sigma2):
    sd = (t * sigma2) ** 0.5
    noise = dict(
        x0=(xt - value) / sd,
        noise=value,
        score=-sd * value,
        mean=t * (xt - value) / sd,
    )[known]
    return dict(
        x0=xt - sd * noise, noise=noise, score=-noise / sd, mean=xt - sd * noise / t
    )


convert.worked(
    why=r"""All four are straight lines in each other, given $x_t$ and $t$: $\hat x_0 = x_t - \hat\epsilon_t = x_t + t\sigma^2\hat s$, and
    the mean is the bridge towards $\hat x_0$. A best guess passes through straight lines, so the best guess of one gives the best
    guess of all. A network may learn whichever is the easiest to learn."""
)


@convert.right("through x0 and the bridge")
def _(known, value, xt, t, sigma2):
    x0 = value
    if known == "noise":
        x0 = xt - value
    if known == "score":
        x0 = xt + t * sigma2 * value
    if known == "mean":
        x0 = xt + t * (value - xt)
    return {
        "x0": x0,
        "noise": xt - x0,
        "score": (x0 - xt) / (t * sigma2),
        "mean": x0 / t + (1 - 1 / t) * xt,
    }


# ---------------------------------------------------------------------------------------- gauss_kl

gauss_kl = Exercise(
    "gauss_kl",
    reference=reference.gauss_kl,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("m1", "m2"),
    hints=[
        "Two parts: what it costs that the spreads differ, and what it costs that the means do.",
        "With r = v1 / v2, each coordinate pays (r - 1 - log r) / 2 for its spread. The means cost their squared distance over 2 v2: "
        "it is the second Gaussian that has to explain the first.",
        "d = m1.shape[-1]; return d / 2 * (r - 1 - np.log(r)) + ((m1 - m2) ** 2).sum(-1) / (2 * v2).",
    ],
)


@gauss_kl.cases
def _(rng):
    def case(v1, v2, *shape, **changes):
        return dict(m1=away(rng, *shape), v1=v1, m2=3 * away(rng, *shape), v2=v2) | (
            changes
        )

    yield "means and spreads differ", case(0.5, 2.0, 4, 2)
    yield "means and spreads differ", case(3.0, 0.7, 2, 3)
    yield "equal spreads: the distance alone", case(0.6, 0.6, 3, 2)
    same = away(rng, 2, 3)
    yield "equal means: the spreads alone", case(0.4, 1.5, m1=same, m2=same.copy())
    yield "equal in all: nothing", case(0.4, 0.4, m1=same, m2=same.copy())
    yield "numbers on a line, (n, 1)", case(0.2, 0.9, 5, 1)
    yield "a single point (d,)", case(1.3, 0.8, 4)
    yield (
        "whole numbers",
        case(2, 3, m1=np.array([[1, -2]]), m2=rng.integers(3, 9, (1, 2))),
    )


gauss_kl.mistakes({
    "the order is turned round": ("r = v1 / v2", "r = v2 / v1",
        "The mean is taken over the first Gaussian. Which variance stands on top?"),
    "the distance is measured by the first": ("(2 * v2)", "(2 * v1)",
        "Which of the two has to explain points that lie round m1?"),
    "as if there were one coordinate": ("m1.shape[-1] / 2 *", "1 / 2 *", "Each of the d coordinates pays for its spread."),
    "the spreads are taken as equal": ("m1.shape[-1] / 2 * (r - 1 - np.log(r)) + ", "",
        "Equal means and different variances: is the divergence 0?"),
    "the mean over coordinates": (".sum(-1)", ".mean(-1)", "Independent coordinates: their divergences add up."),
    "one number for all rows": (".sum(-1)", ".sum()", "Each row of means has its own divergence."),
})  # fmt: skip

gauss_kl.worked(
    why=r"""$\log\frac{N(x; m_1, v_1)}{N(x; m_2, v_2)}$ is a quadratic in $x$, so its mean over the first Gaussian needs only that
    Gaussian's mean and variance. What comes out is zero only if both agree, and it is not symmetric: a narrow model pays dearly
    for points that it did not expect."""
)


@gauss_kl.right("by torch", library="torch.distributions.kl_divergence")
def _(m1, v1, m2, v2):
    from torch.distributions import Independent, Normal, kl_divergence

    both = [
        Independent(Normal(torch.as_tensor(m).double(), math.sqrt(v)), 1)
        for m, v in ((m1, v1), (m2, v2))
    ]
    return kl_divergence(*both).numpy()


@gauss_kl.right("cross-entropy minus entropy")
def _(m1, v1, m2, v2):
    d = np.shape(m1)[-1]
    squared = np.sum((np.asarray(m1) - m2) ** 2, axis=-1) + d * v1
    return squared / (2 * v2) - d / 2 + d / 2 * (math.log(v2) - math.log(v1))


# -------------------------------------------------------------------------------------- elbo_terms

elbo_terms = Exercise(
    "elbo_terms",
    reference=reference.elbo_terms,
    compare=parts(terms=close(rtol=1e-6, atol=1e-8), asked=exact()),
    hints=[
        "Go through t = 1, …, T. Each round makes x_t, asks the denoiser once, and appends one number. After the loop comes one more.",
        "The model's mean is your bridge with the guess in place of x0. For t > 1 compare it with the bridge that knows x0, by "
        "gauss_kl. For t = 1 the bridge has no width: take minus the log density of x0 in the model's last step.",
        "xt = x0 + np.sqrt(t * sigma2) * z[t - 1]. At t = 1 a row costs d / 2 · log(2π v[0]) plus the squared distance of x0 and the "
        "model's mean over 2 v[0]. The last term is gauss_kl(x0, T * sigma2, 0 * x0, prior_var).",
    ],
)


@elbo_terms.probe
def _(answer, x0, z, sigma2, v, prior_var, W):
    asked = []

    def denoise(x, t):
        asked.append(t)
        return np.tanh(x @ W) + t / 10

    terms = answer(denoise, x0, z, sigma2, v, prior_var)
    return dict(terms=terms, asked=sorted(asked))


@elbo_terms.cases
def _(rng):
    def case(T, n, d, **changes):
        given = dict(x0=away(rng, n, d), z=away(rng, T, n, d), sigma2=0.3)
        given |= dict(v=rng.uniform(0.2, 0.9, T), prior_var=2.5, W=away(rng, d, d))
        return given | changes

    yield "all terms, in their order", case(4, 3, 2)
    yield "all terms, in their order", case(3, 5, 1, sigma2=1.4, prior_var=0.6)
    yield "a step and the prior", case(1, 3, 2)
    yield "two steps", case(2, 2, 3)
    yield "a single row", case(3, 1, 2)
    yield (
        "a model as wide as the bridges: distances alone",
        case(3, 2, 2, v=0.3 * np.array([0.7, 1 / 2, 2 / 3])),
    )
    yield "a prior as wide as the noise", case(3, 4, 1, sigma2=0.5, prior_var=1.5)


elbo_terms.mistakes({
    "every x_t has one step of noise": ("np.sqrt(t * sigma2)", "np.sqrt(sigma2)", "How much noise is in x_t after t steps?"),
    "the model aims at its guess, not one step towards it": ("guess, _ = bridge(denoise(xt, t), xt, t, sigma2)", "guess = denoise(xt, t)",
        "The guess is of x_0. Where does the model expect x_{t-1}?"),
    "the divergence is turned round": ("gauss_kl(mean, var, guess, v[t - 1])", "gauss_kl(guess, v[t - 1], mean, var)",
        "The truth comes first: the mean is taken over it."),
    "one variance for all steps": ("v[t - 1]", "v[0]", "v[t - 1] belongs to the step from x_t."),
    "L_0 without its constant": ("cost = d / 2 * np.log(2 * np.pi * v[0])", "cost = 0.0",
        "L_0 is minus a log density. Does it integrate to 1?"),
    "a walk in place of jumps": ("np.sqrt(t * sigma2) * z[t - 1]", "np.sqrt(sigma2) * z[:t].sum(0)",
        "z[t - 1] alone makes x_t, in one jump from x_0. Which noises are in yours?"),
    "the prior is compared with a single step": ("gauss_kl(x0, T * sigma2,", "gauss_kl(x0, sigma2,",
        "L_T compares x_T, given x_0, with the prior. What is the variance of x_T?"),
    "the prior term is missing": ("return np.array(terms)", "return np.array(terms[:-1])",
        "There are T + 1 terms. Which one is not there?"),
})  # fmt: skip

elbo_terms.worked(
    why=r"""Given $x_0$, every state is Gaussian and so is every posterior, so each term is a closed formula for each $x_t$: only
    $x_0$ and $x_t$ have to be drawn, never a whole path. Since both means come from `bridge`, a step costs
    $\lVert x_0 - \hat x_0\rVert^2 / (2 t^2 v_t)$ plus what the unequal spreads cost. The first step is special: its bridge has no
    width, so what is left is minus a log density."""
)


@elbo_terms.right("by torch", library="torch.distributions")
def _(denoise, x0, z, sigma2, v, prior_var):
    from torch.distributions import Normal, kl_divergence

    def normal(mean, variance):
        return Normal(torch.as_tensor(mean).double(), float(variance) ** 0.5)

    terms = []
    for t in range(1, len(z) + 1):
        xt = x0 + math.sqrt(t * sigma2) * z[t - 1]
        model = normal(xt + (denoise(xt, t) - xt) / t, v[t - 1])
        if t == 1:
            cost = -model.log_prob(torch.as_tensor(x0))
        else:
            truth = normal(xt + (x0 - xt) / t, sigma2 * (1 - 1 / t))
            cost = kl_divergence(truth, model)
        terms.append(cost.sum(1).mean())
    end = kl_divergence(normal(x0, len(z) * sigma2), normal(0 * x0, prior_var))
    return torch.stack([*terms, end.sum(1).mean()]).numpy()


# ------------------------------------------------------------------------------------ chain_loglik

chain_loglik = Exercise(
    "chain_loglik",
    reference=reference.chain_loglik,
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "A product of densities is a sum of logarithms. What is the first factor?",
        "For each further state ask step about the state before it. Then add the log density of a Gaussian with that mean and variance.",
        "log N(x; m, v I) is -‖x - m‖² / (2v) - d/2 · log(2πv), with d = x.shape[-1]. Sum squares over the last axis only.",
    ],
)


@chain_loglik.probe
def _(answer, states, slopes, variances, v0):
    def first(x):
        d = x.shape[-1]
        return -(x * x).sum(-1) / (2 * v0) - d / 2 * np.log(2 * np.pi * v0)

    return answer(states, first, lambda x, k: (slopes[k - 1] * x, variances[k - 1]))


@chain_loglik.cases
def _(rng):
    def case(K, n, d, **changes):
        given = dict(states=away(rng, K + 1, n, d), slopes=0.6 * away(rng, K))
        given |= dict(variances=rng.uniform(0.3, 2, K), v0=rng.uniform(0.5, 2))
        return given | changes

    yield "a number for each path", case(4, 3, 2)
    yield "a number for each path", case(3, 2, 3)
    yield "a single step", case(1, 4, 1)
    yield "nobody moves", case(3, 2, 2, states=np.ones((4, 2, 2)), slopes=np.ones(3))
    yield "only the first state", case(0, 3, 2)
    yield "far away it stays finite", case(2, 2, 1, states=300 * away(rng, 3, 2, 1))


chain_loglik.mistakes({
    "the first state is free": ("total = first(states[0])", "total = 0 * first(states[0])",
        "The first state has a density, too."),
    "the constants are left out": (" - d / 2 * np.log(2 * np.pi * var)", "", "Does your density integrate to 1?"),
    "as if there were one coordinate": ("- d / 2 * np.log", "- 1 / 2 * np.log", "Each of the d coordinates has its constant."),
    "one number for all paths": (".sum(-1)", ".sum()", "Each path has its own log density."),
    "the step is asked about the state itself": ("step(states[k - 1], k)", "step(states[k], k)",
        "Given which state is states[k] drawn?"),
    "the density underflows": ("total = total - squared / (2 * var)", "total = total + np.log(np.exp(-squared / (2 * var)))",
        "exp of a large negative number is 0. Do you need the density at all?"),
})  # fmt: skip

chain_loglik.worked(
    why=r"""The chain rule of probability: a path's density is that of its first state, times that of each next state given the one
    before. Which end is "first" is up to you: the same function scores the forward chain, the model's chain from $x_T$, and
    the conditional one that jumps to $x_T$ and comes back by bridges."""
)


@chain_loglik.right("by scipy", library="scipy.stats.norm.logpdf")
def _(states, first, step):
    from scipy.stats import norm

    total = first(states[0])
    for k, (x, y) in enumerate(zip(states, states[1:]), 1):
        mean, var = step(x, k)
        total = total + norm.logpdf(y, mean, np.sqrt(var)).sum(-1)
    return total

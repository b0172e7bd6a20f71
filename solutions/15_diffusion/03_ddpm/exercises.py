"""Exercises of 15_diffusion/03_ddpm."""

import math

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

# What was computed in float32 and comes back as numbers is compared as float32 is.
FLOAT32 = close(rtol=2e-4, atol=2e-5)

WALKED = close(rtol=1e-6, float32=True)  # the network walks in float32


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape))


def schedule(rng, steps):
    """Between 0.05 and 0.6, in no order, so that every slip shows in the numbers."""
    return torch.from_numpy(rng.uniform(0.05, 0.6, steps))


# ------------------------------------------------------------------------------------- noise_chain

noise_chain = Exercise(
    "noise_chain",
    reference=reference.noise_chain,
    compare=WALKED,
    batched=("x0", "z"),
    hints=[
        "Every state is made of the one before it. Which list do you keep, and what stands in it first?",
        "Go through t = 1, …, T. The newest state is the last of your list: scale it, scale the noise of this step, add them, append. "
        "A variance is given; what scales a number?",
        "With beta = betas[t - 1]: append the root of 1 - beta times path[-1] plus the root of beta times z[t - 1]. torch.stack makes "
        "one tensor of the list.",
    ],
)


@noise_chain.cases
def _(rng):
    def case(steps, n=3, d=2, **changes):
        given = dict(
            x0=away(rng, n, d), z=away(rng, steps, n, d), betas=schedule(rng, steps)
        )
        return given | changes

    yield "every state of the walk", case(4)
    yield "every state of the walk", case(3, n=2, d=5)
    yield (
        "without noise the signal shrinks",
        case(4, z=torch.zeros(4, 3, 2).double()),
    )
    yield (
        "without signal the noise adds up",
        case(5, x0=torch.zeros(3, 2).double()),
    )
    yield "a single step", case(1, n=2, d=2)
    yield "no step at all", case(0)
    yield (
        "nearly all is lost in one step",
        case(3, n=1, d=1, betas=torch.tensor([0.999, 1e-4, 0.999]).double()),
    )


noise_chain.mistakes(
    {
        "nothing shrinks": (
            "(1 - beta).sqrt() * path[-1]",
            "path[-1]",
            "Without noise, what becomes of x0 = 1 in a step with β = 0.75?",
        ),
        "shrunk by α, not by its root": (
            "(1 - beta).sqrt()",
            "(1 - beta)",
            "α is what is left of a variance. What is left of the number itself?",
        ),
        "the noise is scaled by its variance": (
            "beta.sqrt() * z",
            "beta * z",
            "β is a variance and z has variance 1. What do you multiply z by to give it the variance β?",
        ),
        "the roots change places": (
            "(1 - beta).sqrt() * path[-1] + beta.sqrt() * z[t - 1]",
            "beta.sqrt() * path[-1] + (1 - beta).sqrt() * z[t - 1]",
            "After a step with a small β, does x look like the state before it, or like noise?",
        ),
        "each step starts from x0": (
            "* path[-1]",
            "* x0",
            "Which state does the second step start from?",
        ),
        "one β for all steps": (
            "betas[t - 1]",
            "betas[0]",
            "Each step has its own β. Which one do you use in the third?",
        ),
        "the schedule is read from its end": (
            "betas[t - 1]",
            "betas[-t]",
            "The first step out of the data has β₁. Which entry is that?",
        ),
        "the noise of another step": (
            "z[t - 1]",
            "z[t - 2]",
            "z[t - 1] belongs to step t. Which one does your first step use?",
        ),
        "the start is missing": (
            "torch.stack(path)",
            "torch.stack(path[1:])",
            "T steps make T + 1 states. Which one is not there?",
        ),
        "only the end": (
            "torch.stack(path)",
            "path[-1]",
            "All states are asked for. How many do you return?",
        ),
        "every entry is the last state": (
            "torch.stack(path)",
            "torch.stack([path[-1]] * len(path))",
            "Do you change one tensor in place? Then your list holds it many times.",
        ),
        "from the noise to the data": (
            "torch.stack(path)",
            "torch.stack(path[::-1])",
            "Entry t is x_t. What should entry 0 be?",
        ),
        "one step too few": (
            "len(betas) + 1",
            "len(betas)",
            "How many steps do T betas make? Count the rounds of your loop.",
        ),
    }
)


noise_chain.worked(
    why=r"""Each state needs the one before it and nothing else: the list is the memory and the loop. Both factors are roots,
    since $\alpha_t$ and $\beta_t$ speak of variances: $\alpha_t v + \beta_t$ stays 1 where $v = 1$. A new tensor is appended
    each time; an in-place change would change every entry of the list, and x0 with it."""
)


@noise_chain.right("rows of one tensor, in float32")
def _(x0, z, betas):
    path = torch.empty(len(betas) + 1, *x0.shape)
    path[0] = x0
    for t, beta in enumerate(betas.tolist()):
        path[t + 1] = (1 - beta) ** 0.5 * path[t] + beta**0.5 * z[t].float()
    return path


@noise_chain.right("with numpy and accumulate")
def _(x0, z, betas):
    from itertools import accumulate

    def step(x, given):
        beta, noise = given
        return np.sqrt(1 - beta) * x + np.sqrt(beta) * noise

    pairs = zip(betas.numpy(), z.numpy(), strict=True)
    return np.stack(list(accumulate(pairs, step, initial=x0.numpy())))


# ---------------------------------------------------------------------------------------- q_sample

q_sample = Exercise(
    "q_sample",
    reference=reference.q_sample,
    compare=WALKED,
    batched=("eps", "t", "x0"),
    hints=[
        "How much of x0 is left after t steps, and how much noise has come in? Both follow from one number.",
        "That number is ᾱ_t, the product of the first t of the 1 - β. Each row has its own t, so you need all these products at once; "
        "and each of the d numbers of a row is scaled alike.",
        "torch.cumprod gives all ᾱ; index it with t - 1 and add an axis by [:, None]. Then the root of ᾱ times x0, plus the root of the "
        "rest times eps.",
    ],
)


@q_sample.cases
def _(rng):
    def case(t, steps, d=3, **changes):
        n, t = len(t), torch.tensor(t)
        given = dict(
            x0=away(rng, n, d), t=t, eps=away(rng, n, d), betas=schedule(rng, steps)
        )
        return given | changes

    yield "each row at its own step", case([4, 1, 6, 2], 8)
    yield "as many rows as columns", case([2, 4, 3], 6)
    yield "the first step", case([1, 1], 5, d=2)
    yield "the last step", case([5, 5], 5, d=2)
    yield (
        "without noise only the signal shrinks",
        case([2, 3], 4, eps=torch.zeros(2, 3).double()),
    )
    yield (
        "without signal only noise is there",
        case([3, 1], 4, x0=torch.zeros(2, 3).double()),
    )
    small = torch.from_numpy(np.sort(rng.uniform(1e-4, 0.02, 120)))
    yield "many small steps", case([1, 30, 120], 120, d=1, betas=small)
    yield "one number, one step", case([1], 1, d=1)


q_sample.mistakes(
    {
        "the step after it": (
            "abar[t - 1]",
            "torch.cat([abar, abar[-1:] / 2])[t]",
            "betas[0] belongs to step t = 1. Which entry of the running product belongs to t?",
        ),
        "without square roots": (
            "left.sqrt() * x0 + (1 - left).sqrt()",
            "left * x0 + (1 - left)",
            "ᾱ and 1 − ᾱ are a power and a variance. By what is a number scaled so that its variance becomes v?",
        ),
        "a root on the signal only": (
            "(1 - left).sqrt()",
            "(1 - left)",
            "1 − ᾱ is the variance of the noise. By what is eps scaled so that it has this variance?",
        ),
        "one minus the root": (
            "(1 - left).sqrt()",
            "(1 - left.sqrt())",
            "Do the squares of your two factors add up to 1?",
        ),
        "one step in place of t steps": (
            "torch.cumprod(1 - betas, 0)",
            "1 - betas",
            "You used β of the single step t. What has happened in the steps before it?",
        ),
        "the betas are multiplied": (
            "torch.cumprod(1 - betas, 0)",
            "1 - torch.cumprod(betas, 0)",
            "Which quantity multiplies from step to step: the noise that comes in, or the signal that survives?",
        ),
        "the betas are added up": (
            "torch.cumprod(1 - betas, 0)",
            "(1 - betas.cumsum(0)).clamp(min=0)",
            "Two steps with β = 0.5: half is lost, then half of what is left. Is nothing left?",
        ),
        "one t for all rows": (
            "abar[t - 1][:, None]",
            "abar[t[0] - 1]",
            "t holds one step for each row. Does every row get its own ᾱ?",
        ),
        "ᾱ runs along the columns": (
            "[:, None]",
            "",
            "Your ᾱ has shape (n,) and x0 (n, d). Along which axis does torch line them up?",
        ),
        "signal and noise change places": (
            "left.sqrt() * x0 + (1 - left).sqrt() * eps",
            "(1 - left).sqrt() * x0 + left.sqrt() * eps",
            "After a single step with a small β, should x_t look like x_0, or like eps?",
        ),
        "the noise is taken away": (
            "* x0 + (",
            "* x0 - (",
            "In distribution it is the same. But the training will ask for the very eps that was added.",
        ),
    }
)


q_sample.worked(
    why=r"""A chain of Gaussian steps is one Gaussian step: its mean is $x_0$ times the product of the $\sqrt{\alpha_s}$, and what is
    missing to variance 1 is noise. One `cumprod` holds $\bar\alpha_t$ for all $t$, `t - 1` picks one for each row, and the new
    axis lets a row's number scale its $d$ columns. Training can ask for any $t$ at the price of one multiplication."""
)


@q_sample.right("through logarithms")
def _(x0, t, eps, betas):
    log_left = torch.log1p(-betas).cumsum(0)[t - 1].unsqueeze(1)
    return torch.exp(log_left / 2) * x0 + torch.sqrt(-torch.expm1(log_left)) * eps


@q_sample.right("row by row, in float32")
def _(x0, t, eps, betas):
    rows = []
    for x, step, e in zip(x0.float(), t.tolist(), eps.float(), strict=True):
        left = math.prod(1 - beta for beta in betas[:step].tolist())
        rows.append(left**0.5 * x + (1 - left) ** 0.5 * e)
    return torch.stack(rows)


# -------------------------------------------------------------------------------------- best_noise

best_noise = Exercise(
    "best_noise",
    reference=reference.best_noise,
    # a distance that is rounded to 1e-15 is divided by 1 − ᾱ, and may be squared at 1000
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("x", "points"),
    hints=[
        "Three things in a row: how well does each point explain x, which clean point do you expect, and which noise goes with that?",
        "The weights need the squared distances of every row of x to every shrunk point, (n, m). What divides them? In each row the "
        "weights sum to 1. torch.softmax does it, and subtracts the largest exponent first.",
        "torch.cdist(x, left**0.5 * points) gives the distances. Softmax along dim=1 of minus their squares over 2 (1 - left); times points; "
        "then solve x = left**0.5 x0_hat + (1 - left)**0.5 noise for the noise.",
    ],
)


@best_noise.cases
def _(rng):
    def case(left, n=4, m=5, d=2, **changes):
        return dict(x=away(rng, n, d), left=left, points=away(rng, m, d)) | changes

    yield "some points fit better than others", case(0.4)
    yield "some points fit better than others", case(0.3, n=2, m=6, d=3)
    yield "some points fit better than others", case(0.6, n=3, m=3, d=3)
    yield "deep in the noise all count", case(0.02)
    corners = torch.tensor([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * away(rng, 4, 2).abs()
    yield (
        "near the data one point counts",
        case(0.99, x=corners[:3] + 0.05 * away(rng, 3, 2), points=corners),
    )
    # which of the two is nearer is no luck, and exp is 0 for both
    near = 0.3 * away(rng, 3, 2).abs()
    other = 0.3 * away(rng, 2, 2).abs() * torch.tensor([[1.0], [4.0]]).double()
    yield "after a single tiny step, sharp weights", case(0.9998, x=near, points=-other)
    point = away(rng, 1, 2)
    yield "a single point", case(0.5, x=point * away(rng, 4, 2).abs(), points=point)
    yield "one row, one number", case(0.5, n=1, m=4, d=1)
    twice = away(rng, 3, 2)
    yield (
        "a point that stands there twice counts twice",
        case(0.3, points=torch.cat([twice, twice[:1]])),
    )
    side = away(rng, 1, 2)
    yield (
        "halfway between two points",
        case(0.7, x=torch.zeros(2, 2).double(), points=torch.cat([side, -side])),
    )
    yield "far from all points", case(0.5, x=1000 * corners[:3], points=corners)


best_noise.mistakes(
    {
        "the points are not shrunk": (
            "left**0.5 * points",
            "points",
            "Where is a point after t steps without noise? Compare x with that place.",
        ),
        "shrunk by ᾱ, not by its root": (
            "left**0.5 * points",
            "left * points",
            "ᾱ is a power. What is a point itself multiplied by?",
        ),
        "the distance is not squared": (
            ".square()",
            "",
            "Look at the exponent of a Gaussian: is it the distance, or its square?",
        ),
        "the 2 is forgotten": (
            "(2 * (1 - left))",
            "(1 - left)",
            "Look at the exponent of a Gaussian of variance 1 − ᾱ once more.",
        ),
        "divided by the power in place of the variance": (
            "(2 * (1 - left))",
            "(2 * left)",
            "How wide is the noise round a point: ᾱ, or what is missing to 1?",
        ),
        "the farthest point counts most": (
            "-squared",
            "squared",
            "Which point explains x best: a near one or a far one? Look at the sign of the exponent.",
        ),
        "the weights sum to 1 over the rows": (
            "dim=1",
            "dim=0",
            "For one x, the weights of all the points sum to 1. Along which axis do the points run?",
        ),
        "only the nearest point": (
            "torch.softmax(-squared / (2 * (1 - left)), dim=1)",
            "(squared == squared.min(1, keepdim=True).values).to(x.dtype)",
            "In deep noise the second nearest point is nearly as likely. Does it count?",
        ),
        "all exponentials are 0": (
            "torch.softmax(-squared / (2 * (1 - left)), dim=1)",
            "torch.exp(-squared / (2 * (1 - left)))\n    share = share / share.sum(1, keepdim=True)",
            "Far away each exp is 0, and 0 / 0 is nan. What may you subtract from all exponents without changing the weights?",
        ),
        "a small number against 0 / 0": (
            "torch.softmax(-squared / (2 * (1 - left)), dim=1)",
            "torch.exp(-squared / (2 * (1 - left)))\n    share = share / (share.sum(1, keepdim=True) + 1e-30)",
            "Far away your weights sum to 0, not to 1. What may you subtract from all exponents without changing the weights?",
        ),
        "all points count alike": (
            "torch.softmax(-squared / (2 * (1 - left)), dim=1)",
            "torch.full_like(squared, 1 / len(points))",
            "Your guess is the mean of all points, whatever x is. Which of them explain x?",
        ),
        "the clean sample": (
            "(x - left**0.5 * x0_hat) / (1 - left) ** 0.5",
            "x0_hat",
            "That is the guess of x_0. Which noise goes with it?",
        ),
        "the noise is not of unit size": (
            " / (1 - left) ** 0.5",
            "",
            "x − √ᾱ x̂₀ is the noise as it stands in x. By what was ε multiplied there?",
        ),
        "divided by the variance of the noise": (
            "(1 - left) ** 0.5",
            "(1 - left)",
            "Solve x = √ᾱ x̂₀ + √(1 − ᾱ) ε̂ for ε̂: is there a root?",
        ),
        "x̂₀ is not shrunk": (
            "left**0.5 * x0_hat",
            "x0_hat",
            "In x there is not x_0 itself. What has become of it after t steps?",
        ),
        "the noise points back": (
            "(x - left**0.5 * x0_hat)",
            "(left**0.5 * x0_hat - x)",
            "Put your ε̂ into √ᾱ x̂₀ + √(1 − ᾱ) ε̂. Is it x?",
        ),
    }
)


best_noise.worked(
    why=r"""Bayes' rule in three lines: weights from squared distances, the mean they give, and the noise that is left when this mean is
    taken out of x. `softmax` divides by the sum and first subtracts the largest exponent, so that the best point has $e^0 = 1$
    and 0 / 0 cannot happen. In squared error the mean of what is possible is the best guess: no network, however large, has a
    smaller loss on these points."""
)


@best_noise.right("as minus the score, by autograd", library="torch.distributions")
def _(x, left, points):
    from torch.distributions import (
        Categorical,
        Independent,
        MixtureSameFamily,
        Normal,
    )

    spread = (1 - left) ** 0.5
    x = x.detach().requires_grad_(True)
    parts = Independent(Normal(left**0.5 * points, spread), 1)
    which = Categorical(logits=torch.zeros(len(points), dtype=x.dtype))
    log_density = MixtureSameFamily(which, parts).log_prob(x)
    return -spread * torch.autograd.grad(log_density.sum(), x)[0]


@best_noise.right("row by row with numpy")
def _(x, left, points):
    x, points, rows = x.numpy(), points.numpy(), []
    for row in x:
        exponents = -((row - left**0.5 * points) ** 2).sum(1) / (2 * (1 - left))
        weights = np.exp(exponents - exponents.max())
        mean = weights @ points / weights.sum()
        rows.append((row - left**0.5 * mean) / (1 - left) ** 0.5)
    return np.array(rows)


# ------------------------------------------------------------------------------------- ddpm_sample

ddpm_sample = Exercise(
    "ddpm_sample",
    reference=reference.ddpm_sample,
    compare=parts(states=WALKED, guesses=WALKED, asked=exact()),
    batched=("x_T", "z"),
    hints=[
        "From t = T down to 1: ask the model once. What it says is used twice, for the guess of the clean image and for the step.",
        "Two different scales meet in a step: ᾱ_t speaks of all the noise so far, β_t and α_t of this one step. Which of them stand in the "
        "guess, and which in the step? The model wants one t for each row: torch.full makes them.",
        "In the round of t: noise = model(x, ts); the guess is (x - √(1 - ᾱ) noise) / √ᾱ; x becomes (x - β / √(1 - ᾱ) noise) / √α, plus "
        "the root of sigma2[t - 1] times z[t - 1] unless t is 1. Append both, and turn both lists round at the end.",
    ],
)


@ddpm_sample.probe
def _(answer, x_T, z, betas, sigma2, W):
    asked = []

    def model(x, t):
        if tuple(t.shape) != (len(x),):
            raise ValueError(
                f"the model wants t of shape ({len(x)},), got {tuple(t.shape)}"
            )
        if t.is_floating_point():
            raise TypeError("the model wants steps t as integers")
        asked.append(int(t[0]))
        says = torch.tanh(x.to(W.dtype) @ W) + t[:, None].to(W.dtype) / 10
        return says.to(x.dtype)

    states, guesses = answer(model, x_T, z, betas, sigma2)
    return {"states": states, "guesses": guesses, "asked": asked}


@ddpm_sample.cases
def _(rng):
    def case(steps, n=3, d=2, **changes):
        given = dict(
            x_T=away(rng, n, d),
            z=away(rng, steps, n, d),
            betas=schedule(rng, steps),
            sigma2=schedule(rng, steps) / 2,
            W=normal(rng, d, d),
        )
        return given | changes

    yield "the whole walk", case(4)
    yield "the whole walk", case(3, n=2, d=4)
    yield "fresh noise of another variance", case(5, n=1, d=1)
    betas = schedule(rng, 4)
    yield "fresh noise of variance β", case(4, betas=betas, sigma2=betas.clone())
    yield (
        "no fresh noise: the means alone",
        case(3, sigma2=torch.zeros(3).double()),
    )
    yield "two steps: the second adds no noise", case(2, n=2)
    yield "a single step adds no noise", case(1)


ddpm_sample.mistakes(
    {
        "noise in the last step, too": (
            "if t > 1:",
            "if t > 0:",
            "After t = 1 the result is the finished sample. Is there fresh noise on it?",
        ),
        "no noise in the last two steps": (
            "if t > 1:",
            "if t > 2:",
            "Only one step goes without noise, that from x_1 to x_0. Which of your steps do?",
        ),
        "no fresh noise at all": (
            "if t > 1:",
            "if False:",
            "You return the means. Where does z come in?",
        ),
        "the fresh noise is scaled by its variance": (
            "sigma2[t - 1].sqrt() * z",
            "sigma2[t - 1] * z",
            "sigma2 is a variance and z has variance 1. What do you multiply z by to give it the variance sigma2?",
        ),
        "β in place of σ²": (
            "sigma2[t - 1].sqrt()",
            "beta.sqrt()",
            "The variance of the fresh noise is an argument. Which one do you use?",
        ),
        "the noise of another step": (
            "* z[t - 1]",
            "* z[len(betas) - t]",
            "Your first step is t = T. Which entry of z belongs to it: the first or the last?",
        ),
        "divided by the root of ᾱ": (
            "(1 - beta).sqrt()",
            "left.sqrt()",
            "You undo one step. Which factor has this single step put on the signal?",
        ),
        "the shrinking is not undone": (
            " / (1 - beta).sqrt()",
            "",
            "Step t shrank x_{t−1} before it added noise. Do you undo it?",
        ),
        "all of the noise at once": (
            "x = (x - share * noise)",
            "x = (x - (1 - left).sqrt() * noise)",
            "That takes away the noise of t steps. Which share of it did this one step add?",
        ),
        "the share is of unit noise": (
            "share = beta / (1 - left).sqrt()",
            "share = beta / (1 - left)",
            "ε̂ has unit size, but the noise in x has variance 1 − ᾱ. At t = 1, where 1 − ᾱ is β, how much must go?",
        ),
        "the root of β": (
            "share = beta / (1 - left).sqrt()",
            "share = beta.sqrt()",
            "The step's own noise has size √β. But which part of all the noise that you see is it?",
        ),
        "the share is added": (
            "x - share * noise",
            "x + share * noise",
            "The noise is to go. Which sign?",
        ),
        "the guess is not unshrunk": (
            " / left.sqrt())",
            ")",
            "x − √(1 − ᾱ) ε̂ is √ᾱ x̂₀. What is x̂₀?",
        ),
        "the guess undoes one step only": (
            "guesses.append((x - (1 - left).sqrt() * noise) / left.sqrt())",
            "guesses.append((x - beta.sqrt() * noise) / (1 - beta).sqrt())",
            "x̂₀ is the guess at the very end of the way. Which power is left after all t steps?",
        ),
        "the guess from the next state": (
            "states.append(x)",
            "states.append(x)\n        guesses[-1] = (x - (1 - left).sqrt() * noise) / left.sqrt()",
            "The guess goes with the noise at x_t. Is x still x_t when you make it?",
        ),
        "time runs forwards": (
            "range(len(betas), 0, -1)",
            "range(1, len(betas) + 1)",
            "The first question must be about x_T. Which t does your loop begin with?",
        ),
        "one step too few": (
            "range(len(betas), 0, -1)",
            "range(len(betas), 1, -1)",
            "Which is the last t of your loop? It should be 1.",
        ),
        "the model hears t − 1": (
            "torch.full((len(x),), t)",
            "torch.full((len(x),), t - 1)",
            "Steps count from 1. Does the model hear the t of the state that it sees?",
        ),
        "t is one number": (
            "torch.full((len(x),), t)",
            "torch.tensor(t)",
            "The model wants one t for each row, shape (n,).",
        ),
        "the states run from T to 0": (
            "torch.stack(states[::-1])",
            "torch.stack(states)",
            "Entry t of the states is x_t. Where should x_T stand?",
        ),
        "the guesses run from T to 1": (
            "torch.stack(guesses[::-1])",
            "torch.stack(guesses)",
            "Entry t − 1 of the guesses belongs to step t. Where should the first guess of the walk stand?",
        ),
        "the start is missing": (
            "x_T, [x_T], []",
            "x_T, [], []",
            "T steps make T + 1 states. Which one is not there?",
        ),
        "the model is asked twice": (
            "share = beta",
            "noise = model(x, torch.full((len(x),), t))\n        share = beta",
            "One answer serves the guess and the step. Ask once: with a network it is the dear part.",
        ),
    }
)


ddpm_sample.worked(
    why=r"""In each round one answer serves twice. The *guess* takes all of the noise out of $x_t$, with $\bar\alpha_t$; the *step* takes
    out only the last step's share of it, $\beta_t / (1 - \bar\alpha_t)$ of $\sqrt{1 - \bar\alpha_t}\, \hat\epsilon$, and undoes only
    that step's shrinking, with $\alpha_t$. Fresh noise follows, by its standard deviation, but not at $t = 1$. The lists grow
    from $T$ down to 0, so they are turned round."""
)


@ddpm_sample.right("through the guess and the posterior mean")
def _(model, x_T, z, betas, sigma2):
    abar = torch.cat([betas.new_ones(1), torch.cumprod(1 - betas, 0)])
    T = len(betas)
    states = torch.zeros(T + 1, *x_T.shape, dtype=x_T.dtype)
    guesses = torch.zeros(T, *x_T.shape, dtype=x_T.dtype)
    states[T] = x_T
    for t in reversed(range(1, T + 1)):
        noise = model(states[t], torch.tensor([t] * len(x_T)))
        guesses[t - 1] = (states[t] - (1 - abar[t]).sqrt() * noise) / abar[t].sqrt()
        from_x0 = abar[t - 1].sqrt() * betas[t - 1] * guesses[t - 1]
        from_xt = (1 - betas[t - 1]).sqrt() * (1 - abar[t - 1]) * states[t]
        states[t - 1] = (from_x0 + from_xt) / (1 - abar[t])
        states[t - 1] += (t > 1) * sigma2[t - 1].sqrt() * z[t - 1]
    return states, guesses


@ddpm_sample.right("by the score, in float32, as lists")
def _(model, x_T, z, betas, sigma2):
    x, states, guesses = x_T.float(), [], []
    betas, sigma2, states = betas.tolist(), sigma2.tolist(), [x_T.float()]
    for t in range(len(betas), 0, -1):
        left = math.prod(1 - beta for beta in betas[:t])
        score = -model(x, torch.full((len(x),), t)) / (1 - left) ** 0.5
        guesses.insert(0, (x + (1 - left) * score) / left**0.5)
        x = (x + betas[t - 1] * score) / (1 - betas[t - 1]) ** 0.5
        x = x + sigma2[t - 1] ** 0.5 * z[t - 1].float() if t > 1 else x
        states.insert(0, x)
    return torch.stack(states), torch.stack(guesses)


# --------------------------------------------------------------------------------------- ddpm_loss

ddpm_loss = Exercise(
    "ddpm_loss",
    reference=reference.loss_report,
    # the gradient comes in W's float64 even where the loss was computed in float32
    compare=parts(loss=close(rtol=1e-5), gradient=FLOAT32, calls=exact()),
    hints=[
        "What does the model see, and what should it say? It sees a noised image and its step, and should name the noise that went in.",
        "Noise x0 with your q_sample and ask the model about the result. How far is its answer from eps? The length of a row is "
        "over its d numbers; only then comes a mean.",
        "Square the difference of eps and the answer, .sum(1), .mean(). Keep it a tensor: no .item(), no detach.",
    ],
)


@ddpm_loss.probe
def _(answer, x0, t, eps, betas, W, perfect):
    W = W.clone().requires_grad_(True)
    calls = []

    def model(x, steps):
        calls.append(1)
        if tuple(steps.shape) != (len(x),):
            raise ValueError(
                f"the model wants t of shape ({len(x)},), got {tuple(steps.shape)}"
            )
        h = x.to(W.dtype) @ W
        says = (
            eps + 0 * h if perfect else torch.tanh(h) + steps[:, None].to(h.dtype) / 10
        )
        return says.to(x.dtype)

    loss = answer(model, x0, t, eps, betas)
    if not isinstance(loss, torch.Tensor):
        raise TypeError(
            "the loss must be a tensor that can be differentiated, not a plain number"
        )
    gradient = (
        torch.autograd.grad(loss, W)[0] if loss.requires_grad else torch.zeros_like(W)
    )
    return {"loss": loss.detach(), "gradient": gradient, "calls": len(calls)}


@ddpm_loss.cases
def _(rng):
    def case(t, steps, d=3, perfect=False):
        n, t = len(t), torch.tensor(t)
        return dict(
            x0=away(rng, n, d),
            t=t,
            eps=away(rng, n, d),
            betas=schedule(rng, steps),
            W=normal(rng, d, d) / 2,
            perfect=perfect,
        )

    yield "rows at different steps", case([2, 5, 3, 1], 6)
    yield "as many rows as columns", case([2, 1, 4], 4)
    yield "a single row", case([3], 4, d=2)
    yield "a single number in each row", case([1, 4], 4, d=1)
    yield "a perfect model has loss zero", case([2, 1, 4], 5, d=2, perfect=True)


ddpm_loss.mistakes(
    {
        "the mean over all numbers": (
            ".sum(1).mean()",
            ".mean()",
            "The squared length of a row is a sum over its d numbers. Only the rows are averaged.",
        ),
        "the sum over all rows": (
            ".sum(1).mean()",
            ".sum()",
            "With twice as many rows your loss doubles. What makes it independent of the batch?",
        ),
        "sum over the rows, mean over the columns": (
            ".sum(1).mean()",
            ".sum(0).mean()",
            "Which axis holds the d numbers of a row?",
        ),
        "length in place of squared length": (
            ".square().sum(1).mean()",
            ".square().sum(1).clamp(min=1e-300).sqrt().mean()",
            "Is it the length of the error, or its square? A root changes the gradient, too.",
        ),
        "absolute values": (
            ".square()",
            ".abs()",
            "The best guess in absolute error is a median. Whose best guess is the mean?",
        ),
        "the model sees the clean image": (
            "model(xt, t)",
            "model(x0, t)",
            "What does the model have to work with when it draws: clean images or noisy ones?",
        ),
        "the target is x_t − x_0": (
            "wrong_by = eps -",
            "wrong_by = xt - x0 -",
            "The target is the standard normal eps, of one size at every t, not the whole change of the image.",
        ),
        "the target is the clean image": (
            "wrong_by = eps -",
            "wrong_by = x0 -",
            "The model names the noise. Which of the arguments is that?",
        ),
        "the answer is added": (
            "eps - model",
            "eps + model",
            "What is the loss of a model that says exactly eps?",
        ),
        "the answer is cut from the graph": (
            "model(xt, t)",
            "model(xt, t).detach()",
            "The loss is right, but its gradient is zero: nothing would be learned. Did you use detach, no_grad or .data?",
        ),
        "the model hears another t": (
            "model(xt, t)",
            "model(xt, t - 1)",
            "x_t was noised to step t. Does the model hear the same t, counted from 1?",
        ),
        "t has an axis too many": (
            "model(xt, t)",
            "model(xt, t[:, None])",
            "The model wants t of shape (n,), one step for each row.",
        ),
        "each row is weighted by 1 / (1 − ᾱ)": (
            ".sum(1).mean()",
            ".sum(1).div(1 - torch.cumprod(1 - betas, 0)[t - 1]).mean()",
            "That is the loss in units of the score. Here every step counts alike.",
        ),
        "a plain number": (
            ".mean()",
            ".mean().item()",
            "A number cannot be differentiated. Return the tensor.",
        ),
    }
)


ddpm_loss.worked(
    why=r"""A regression like any other: the input is a noised image with its step, the target the noise that was put in. The target has
    unit variance at every $t$, so no step drowns the others. The one call of the model is all that the gradient goes through:
    the chain was jumped over, and the walk back does not occur. In squared error the best answer is the mean of what is possible,
    which is what the walk needs."""
)


def _noised(x0, t, eps, betas):
    left = torch.cumprod(1 - betas, 0)[t - 1][:, None]
    return left.sqrt() * x0 + (1 - left).sqrt() * eps


@ddpm_loss.right("torch's own", library="torch.nn.functional.mse_loss")
def _(model, x0, t, eps, betas):
    left = torch.cumprod(1 - betas, 0)[t - 1].unsqueeze(1)
    xt = left.sqrt() * x0 + (1 - left).sqrt() * eps
    return torch.nn.functional.mse_loss(model(xt, t), eps, reduction="sum") / len(x0)


@ddpm_loss.right("with einsum")
def _(model, x0, t, eps, betas):
    wrong_by = model(_noised(x0, t, eps, betas), t) - eps
    return torch.einsum("nd,nd->", wrong_by, wrong_by) / len(wrong_by)


@ddpm_loss.right("in float32")
def _(model, x0, t, eps, betas):
    x0, eps, betas = x0.float(), eps.float(), betas.float()
    wrong_by = model(_noised(x0, t, eps, betas), t) - eps
    return wrong_by.pow(2).sum(-1).mean()


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=parts(losses=FLOAT32, W=FLOAT32, V=FLOAT32),  # the model is float32
    hints=[
        "Before the loop: the optimiser, once, and an empty list. In an update: set the rate, draw, compute the loss, learn from it, note it.",
        'The rate stands in the optimiser\'s param_groups, under "lr". Rows, steps and noise are drawn in the order of the text, each with '
        "generator=g. ddpm_loss wants a model of x and t: bind the labels of these rows first.",
        "partial(model, y=y[rows]) is a model of x and t. Steps: torch.randint(1, len(betas) + 1, (batch,), generator=g). After the loss: "
        "zero_grad, backward, step of the optimiser; append loss.item().",
    ],
)


@train.probe
def _(answer, x0, y, betas, W, V, n_steps, batch, lr, seed):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(W.float().clone())
            self.V = torch.nn.Parameter(V.float().clone())

        def forward(self, x, t, y):
            return torch.tanh(x @ self.W) + t[:, None] / 10 * self.V[y]

    model = Model()
    g = torch.Generator().manual_seed(seed)
    losses = answer(model, x0.float(), y, betas.float(), n_steps, batch, lr, g)
    if any(getattr(loss, "requires_grad", False) for loss in losses):
        raise TypeError("the losses hang on their graphs: numbers are asked for")
    return {"losses": losses, "W": model.W.detach(), "V": model.V.detach()}


@train.cases
def _(rng):
    def case(N=6, d=2, T=4, n_steps=4, batch=5, lr=0.1):
        return dict(
            x0=away(rng, N, d),
            y=torch.from_numpy(rng.permutation(N)),  # no two alike
            betas=schedule(rng, T),
            W=normal(rng, d, d),
            V=away(rng, N, d),
            n_steps=n_steps,
            batch=batch,
            lr=lr,
            seed=int(rng.integers(1000)),
        )

    yield "a few updates", case()
    yield "a few updates", case(N=9, d=3, T=7, n_steps=6, lr=0.03)
    yield "a large learning rate cools down", case(lr=0.5, n_steps=5)
    yield "a batch larger than the data", case(N=3, batch=8)
    yield "one update has the whole rate", case(n_steps=1)
    yield "one image, one step, one label", case(N=1, T=1, batch=1, n_steps=3)
    yield "no update leaves the model as it was", case(n_steps=0)


train.mistakes(
    {
        "gradients pile up": (
            "adam.zero_grad()",
            "pass",
            "backward adds to the gradients that are there. Who clears those of the last update?",
        ),
        "nothing is learned": (
            "adam.step()",
            "pass",
            "Do the weights change? Print one of them before and after.",
        ),
        "a new optimiser in each update": (
            "for k in range(n_steps):",
            "for k in range(n_steps):\n        adam = torch.optim.Adam(model.parameters(), lr)",
            "Adam remembers the gradients of earlier updates. Who remembers in your loop?",
        ),
        "plain gradient descent": (
            "torch.optim.Adam(",
            "torch.optim.SGD(",
            "Which optimiser is asked for?",
        ),
        "the rate does not fall": (
            "lr * (1 - k / n_steps)",
            "lr",
            "Which rate has the second update?",
        ),
        "the rate falls to 0 in the last update": (
            "k / n_steps)",
            "k / max(n_steps - 1, 1))",
            "The last update should still learn, with lr / n_steps. What is k then?",
        ),
        "the first rate is lower already": (
            "k / n_steps)",
            "(k + 1) / (n_steps + 1))",
            "The first update has the whole lr. What is k then?",
        ),
        "the rate falls twice": (
            'group["lr"] = lr * (1 - k / n_steps)',
            'group["lr"] *= 1 - k / n_steps',
            "What is lowered in update k: the first rate, or one that was lowered before?",
        ),
        "step T is never trained": (
            "len(betas) + 1, (batch,)",
            "max(2, len(betas)), (batch,)",
            "torch.randint leaves out its upper end. Is step T ever drawn?",
        ),
        "t counts from 0": (
            "torch.randint(1, len(betas) + 1, (batch,), generator=g)",
            "torch.randint(0, len(betas), (batch,), generator=g)",
            "Which step is t = 0? And is T ever drawn?",
        ),
        "one step for the whole batch": (
            "torch.randint(1, len(betas) + 1, (batch,), generator=g)",
            "torch.randint(1, len(betas) + 1, (1,), generator=g).expand(batch)",
            "How many different t does one batch of yours hold?",
        ),
        "the first rows in place of drawn ones": (
            "x0[rows], t",
            "x0[torch.arange(batch) % len(x0)], t",
            "You drew row numbers. Do the images come from these rows?",
        ),
        "labels of other rows": (
            "y=y[rows]",
            "y=y[torch.arange(batch) % len(y)]",
            "Does each image of the batch go with its own label?",
        ),
        "no row comes twice": (
            "torch.randint(len(x0), (batch,), generator=g)",
            "torch.randperm(len(x0), generator=g)[:batch]",
            "A batch may hold a row twice, and may be larger than the data. Which function draws so?",
        ),
        "steps are drawn before rows": (
            "rows = torch.randint(len(x0), (batch,), generator=g)\n        t = torch.randint(1, len(betas) + 1, (batch,), generator=g)",
            "t = torch.randint(1, len(betas) + 1, (batch,), generator=g)\n        rows = torch.randint(len(x0), (batch,), generator=g)",
            "The generator is asked in the order of the text: rows, steps, noise. In which order do you ask it?",
        ),
        "uniform noise": (
            "torch.randn(",
            "torch.rand(",
            "rand is uniform on 0 to 1. Which noise does q_sample want?",
        ),
        "one noise for all numbers of a row": (
            "torch.randn(batch, x0.shape[1], generator=g)",
            "torch.randn(batch, 1, generator=g).expand(batch, x0.shape[1])",
            "Each pixel has its own noise. How many numbers do you draw?",
        ),
        "only the last loss": (
            "return losses",
            "return losses[-1:]",
            "A loss for each update is asked for. How many do you return?",
        ),
        "the losses keep their graphs": (
            "loss.item()",
            "loss",
            "Each loss of yours keeps all that it was computed from. How do you get the number alone?",
        ),
        "the losses are averaged so far": (
            "losses.append(loss.item())",
            "losses.append((sum(losses) + loss.item()) / (len(losses) + 1))",
            "What is noted is the loss of this update's batch alone.",
        ),
        "one update too few": (
            "range(n_steps)",
            "range(1, n_steps)",
            "How many updates do you make?",
        ),
    }
)


train.worked(
    why=r"""Every update sees other images, at other steps, under other noise: in the long run that is the mean $L$ over all three, and no
    sum over $T$ steps is ever made. One random $t$ for each row keeps the batch varied. The optimiser stands before the loop, as
    Adam has a memory; the gradients are cleared, as torch's `backward` adds to them. The falling rate lets the noise of the
    small batches average out at the end. `loss.item()` keeps the number and lets go of the graph."""
)


@train.right("with a schedule of torch's", library="torch.optim.lr_scheduler")
def _(model, x0, y, betas, n_steps, batch, lr, g):
    adam = torch.optim.Adam(model.parameters(), lr)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda k: 1 - k / max(n_steps, 1))
    left, losses = (1 - betas).cumprod(0), torch.zeros(n_steps)
    for k in range(n_steps):
        rows = torch.randint(len(x0), (batch,), generator=g)
        t = torch.randint(1, len(betas) + 1, (batch,), generator=g)
        eps = torch.randn(batch, x0.shape[1], generator=g)
        power = left[t - 1].unsqueeze(1)
        xt = power.sqrt() * x0[rows] + (1 - power).sqrt() * eps
        loss = (model(xt, t, y[rows]) - eps).square().sum() / batch
        adam.zero_grad()
        loss.backward()
        adam.step()
        rate.step()
        losses[k] = loss.detach()
    return losses


@train.right("Adam written out, gradients by torch.autograd")
def _(model, x0, y, betas, n_steps, batch, lr, g):
    weights = list(model.parameters())
    first, second = ([torch.zeros_like(w) for w in weights] for _ in range(2))
    losses = []
    for k in range(1, n_steps + 1):
        rows = torch.randint(0, len(x0), (batch,), generator=g)
        t = 1 + torch.randint(len(betas), (batch,), generator=g)
        eps = torch.randn((batch, x0.shape[1]), generator=g)
        wrong_by = eps - model(_noised(x0[rows], t, eps, betas), t, y[rows])
        loss = wrong_by.square().sum(1).mean()
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, m, v, gradient in zip(weights, first, second, gradients):
                m.mul_(0.9).add_(0.1 * gradient)
                v.mul_(0.999).add_(0.001 * gradient**2)
                size = (v / (1 - 0.999**k)).sqrt() + 1e-8
                w -= lr * (n_steps + 1 - k) / n_steps * m / (1 - 0.9**k) / size
        losses.append(float(loss))
    return np.array(losses)


# --------------------------------------------------------------------------------------- sample_ve

sample_ve = Exercise(
    "sample_ve",
    reference=reference.sample_ve,
    compare=WALKED,
    batched=("x_T",),
    hints=[
        "Count the noise: how many steps' worth does eps_model(x, t) predict, and how many steps does one round of your loop undo?",
        "All t steps have the same variance σ², together tσ². The best guess of a part is the sum times its share of the variance. The list z begins with the noise of step 1.",
        "From t = T down to 1: x loses eps_model(x, t) / t, and gains sigma2**0.5 * z[t - 1] unless t is 1.",
    ],
)


@sample_ve.probe
def _(answer, x_T, z, sigma2, v0):
    def eps_model(x, t):
        return t * sigma2 * x / (v0 + t * sigma2)

    return answer(eps_model, x_T, z, sigma2)


@sample_ve.cases
def _(rng):
    def case(steps, sigma2, v0, n=4, d=1, **changes):
        given = dict(x_T=away(rng, n, d), z=away(rng, steps, n, d))
        return given | dict(sigma2=sigma2, v0=v0) | changes

    yield "several steps from noise to data", case(5, 0.3, 1.5)
    yield "points in the plane", case(3, 2.0, 0.7, n=3, d=2)
    yield (
        "with z = 0 only the prediction moves the point",
        case(4, 0.4, 1.0, n=2, z=torch.zeros(4, 2, 1).double()),
    )
    yield "two steps: only the first adds noise", case(2, 3.0, 0.5)
    yield "a single step adds no noise", case(1, 0.5, 2.0)


sample_ve.mistakes(
    {
        "the printed rule": (
            "eps_model(x, t) / t",
            "sigma2 / t * eps_model(x, t)",
            "A share is a pure number: the prediction has the size of the noise already. Does a σ² belong in front?",
        ),
        "all of the noise in each step": (
            "eps_model(x, t) / t",
            "eps_model(x, t)",
            "eps_model predicts the noise of t steps together. How much of it belongs to the one that you undo?",
        ),
        "a T-th part in every step": (
            "eps_model(x, t) / t",
            "eps_model(x, t) / len(z)",
            "eps_model(x, t) predicts the noise of t steps. For how many does it speak at the end of the walk?",
        ),
        "the root of the share": (
            "eps_model(x, t) / t",
            "eps_model(x, t) / t**0.5",
            "Variances are shared out evenly among t steps. The best guess of a part is its share of the variance.",
        ),
        "noise in the last step, too": (
            "if t > 1:",
            "if t > 0:",
            "What is x_0: a sample, or a sample with noise on it?",
        ),
        "no noise in the last two steps": (
            "if t > 1:",
            "if t > 2:",
            "Only the step t = 1 goes without noise. Which of yours do?",
        ),
        "the fresh noise is scaled by its variance": (
            "sigma2**0.5 * z",
            "sigma2 * z",
            "sigma2 is a variance. By what do you multiply a standard normal number to give it that variance?",
        ),
        "no fresh noise at all": (
            "if t > 1:",
            "if False:",
            "You return means. Where does z come in?",
        ),
        "time runs forwards": (
            "range(len(z), 0, -1)",
            "range(1, len(z) + 1)",
            "The first question must be about x_T. Which t does your loop begin with?",
        ),
        "z is read from its front": (
            "z[t - 1]",
            "z[len(z) - t]",
            "Your first step is t = T. Which entry of z belongs to it: the first or the last?",
        ),
    }
)


sample_ve.worked(
    why=r"""The rule of the share, once more: among $t$ steps of equal variance the last one has one part in $t$ of the noise, a pure
    number. The printed $\sigma^2 / t$ is right for $\sigma^2 = 1$ only. It came from mixing two units: the score wants a
    $\sigma^2$ in front, and $\hat\epsilon = -t\sigma^2 s$ has it inside."""
)


@sample_ve.right("through the score")
def _(eps_model, x_T, z, sigma2):
    x, T = x_T.clone(), z.shape[0]
    for k in range(T):
        t = T - k
        score = -eps_model(x, t) / (t * sigma2)
        x = x + sigma2 * score + (t > 1) * sigma2**0.5 * z[t - 1]
    return x


@sample_ve.right("in float32")
def _(eps_model, x_T, z, sigma2):
    x = x_T.float()
    for t in reversed(range(1, len(z) + 1)):
        x = x - eps_model(x, t) / t + (sigma2**0.5 * z[t - 1].float() if t > 1 else 0)
    return x


# --------------------------------------------------------------------------------------- ve_losses

ve_losses = Exercise(
    "ve_losses",
    reference=reference.ve_losses,
    compare=WALKED,
    batched=("t", "x0", "x_prev", "xt"),
    hints=[
        "Three times the same: what was to be met, minus what the score says about it. Ask the score once.",
        "What the score says: xt + σ² s about the step before, xt + tσ² s about the clean sample, −tσ² s about the noise. Every row has "
        "its own t, which scales all d numbers of the row.",
        "v = t[:, None] * sigma2. The errors are x_prev - xt - sigma2 * s, x0 - xt - v * s and xt - x0 + v * s; of each .square().sum(1).mean().",
    ],
)


@ve_losses.probe
def _(answer, x0, x_prev, xt, t, sigma2, W):
    def score(x, t):
        if tuple(t.shape) != (len(x),):
            raise ValueError(
                f"the score wants t of shape ({len(x)},), got {tuple(t.shape)}"
            )
        return (torch.tanh(x.to(W.dtype) @ W) / t[:, None]).to(x.dtype)

    return [float(loss) for loss in answer(score, x0, x_prev, xt, t, sigma2)]


@ve_losses.cases
def _(rng):
    def case(t, sigma2, d=2, **changes):
        n = len(t)
        given = dict(x0=away(rng, n, d), x_prev=3 * away(rng, n, d))
        given |= dict(xt=away(rng, n, d), t=torch.tensor(t), sigma2=sigma2)
        return given | dict(W=normal(rng, d, d)) | changes

    yield "rows at different steps", case([2, 5, 1, 9], 0.4)
    yield "rows at different steps", case([3, 1], 1.7, d=3)
    yield "as many rows as columns", case([4, 2], 0.6)
    yield "one row, one number", case([7], 0.3, d=1)
    yield (
        "a score of 0 leaves the distances",
        case([2, 3], 0.5, W=torch.zeros(2, 2).double()),
    )


ve_losses.mistakes(
    {
        "the score is subtracted": (
            "xt + sigma2 * s",
            "xt - sigma2 * s",
            "The score points to where data are dense. Which way does a step back go?",
        ),
        "t steps for the state before": (
            "sigma2 * s)",
            "v * s)",
            "From x_t to x_{t−1} it is one step. How much variance did it add?",
        ),
        "one step for the clean sample": (
            "x0 - (xt + v * s)",
            "x0 - (xt + sigma2 * s)",
            "From x_t to x_0 it is t steps. How much variance did they add?",
        ),
        "the noise points the other way": (
            "(-v * s)",
            "(v * s)",
            "ε_t is x_t − x_0, away from the data; the score points to them.",
        ),
        "the noise in units of one step": (
            "(-v * s)",
            "(-sigma2 * s)",
            "ε_t is the noise of t steps together.",
        ),
        "unit noise": (
            "(xt - x0) - (-v * s)",
            "(xt - x0) / v.sqrt() - (-v.sqrt() * s)",
            "That is a good idea, as the next section says. Here ε_t is x_t − x_0, not divided by its size.",
        ),
        "the mean over all numbers": (
            ".sum(1).mean()",
            ".mean()",
            "The squared length of a row is a sum over its d numbers. Only the rows are averaged.",
        ),
        "the sum over all rows": (
            ".sum(1).mean()",
            ".sum()",
            "With twice as many rows your losses double. What makes them independent of the batch?",
        ),
        "lengths in place of squares": (
            "e.square().sum(1).mean()",
            "e.norm(dim=1).mean()",
            "Is it the length of the error, or its square?",
        ),
        "t runs along the columns": (
            "t[:, None] * sigma2",
            "t * sigma2",
            "t has shape (n,), s (n, d). Along which axis does torch line them up?",
        ),
        "another order": (
            "(previous, clean, noise)",
            "(clean, noise, previous)",
            "In which order are the losses asked for?",
        ),
    }
)


ve_losses.worked(
    why=r"""All three compare the same score with different facts. The second and the third error differ only in sign,
    $x_0 - x_t - t\sigma^2 s = -(\epsilon_t + t\sigma^2 s)$: predicting the clean sample and predicting the noise is one and the
    same regression. The first is another one. It has the same best score, but its target, the noise of a single step, says less
    about it, and so its gradients are noisier."""
)


@ve_losses.right("in units of the score")
def _(score, x0, x_prev, xt, t, sigma2):
    s, t = score(xt, t), t.unsqueeze(1)
    one = ((x_prev - xt) / sigma2 - s) * sigma2
    many = ((x0 - xt) / (t * sigma2) - s) * (t * sigma2)
    losses = [(e * e).sum() / len(e) for e in (one, many)]
    return losses[0], losses[1], losses[1]


@ve_losses.right("row by row")
def _(score, x0, x_prev, xt, t, sigma2):
    s, total = score(xt, t), [0.0, 0.0, 0.0]
    rows = zip(x0, x_prev, xt, t.tolist(), s, strict=True)
    for clean, before, now, step, arrow in rows:
        v = step * sigma2
        total[0] += (before - now - sigma2 * arrow).square().sum()
        total[1] += (clean - now - v * arrow).square().sum()
        total[2] += (now - clean + v * arrow).square().sum()
    return [float(loss) / len(xt) for loss in total]

"""Exercises of 15_diffusion/03_ddpm."""

import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


def a_schedule(rng, steps):
    """Strictly between 0.05 and 0.6, so that every slip shows in the numbers."""
    return torch.from_numpy(rng.uniform(0.05, 0.6, steps))


# Algorithm 5, repaired.

sample_ve = Exercise(
    "sample_ve",
    reference=reference.sample_ve_gaussian,
    compare=close(rtol=1e-6, float32=True),
    batched=("x_T",),
    hints=[
        "Count the noise: how many steps' worth does eps_model(x, t) predict, and how many steps does one pass of your loop undo?",
        "Start from the score form, x + sigma2 * score, and put in the score that belongs to a predicted noise. Watch what happens to sigma2. "
        "The list z begins with the noise of step 1.",
        "for t in range(len(z), 0, -1): take away eps_model(x, t) divided by the number of steps it covers; then, unless t is 1, add sigma2**0.5 * z[t - 1].",
    ],
)


@sample_ve.probe
def _(answer, x_T, z, sigma2, v0):
    def eps_model(x, t):
        return t * sigma2 * x / (v0 + t * sigma2)

    return answer(eps_model, x_T, z, sigma2)


@sample_ve.cases
def _(rng):
    yield (
        "several steps from noise to data",
        dict(x_T=normal(rng, 4, 1), z=normal(rng, 5, 4, 1), sigma2=0.3, v0=1.5),
    )
    yield (
        "points in the plane",
        dict(x_T=normal(rng, 3, 2), z=normal(rng, 3, 3, 2), sigma2=2.0, v0=0.7),
    )
    yield (
        "with z = 0 only the prediction moves the point",
        dict(
            x_T=1 + normal(rng, 2, 1).abs(),
            z=torch.zeros(4, 2, 1, dtype=torch.float64),
            sigma2=0.4,
            v0=1.0,
        ),
    )
    yield (
        "the last step adds no noise",
        dict(
            x_T=normal(rng, 3, 1), z=1 + normal(rng, 1, 3, 1).abs(), sigma2=0.5, v0=2.0
        ),
    )


def _ve(x_T, z, sigma2, share, times=None, noise=None, eps_model=None):
    x = x_T
    for t in times or range(len(z), 0, -1):
        x = x - share(t) * eps_model(x, t)
        if noise is None:
            x = x + (sigma2**0.5 * z[t - 1] if t > 1 else 0)
        else:
            x = x + noise(t)
    return x


@sample_ve.wrong(
    "the printed rule, sigma2 / t",
    advice="Put the noise that the score predicts, eps = -t sigma2 s, into the score step. Does a sigma2 stay in front?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(x_T, z, sigma2, lambda t: sigma2 / t, eps_model=eps_model)


@sample_ve.wrong(
    "all of the predicted noise is removed in each step",
    advice="eps_model predicts the noise of t steps together. How much of it belongs to the one step that you undo?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(x_T, z, sigma2, lambda t: 1.0, eps_model=eps_model)


@sample_ve.wrong(
    "noise is added in the last step too",
    advice="What is x_0: a sample, or a sample with noise on it? Look at the step t = 1.",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(
        x_T,
        z,
        sigma2,
        lambda t: 1 / t,
        noise=lambda t: sigma2**0.5 * z[t - 1],
        eps_model=eps_model,
    )


@sample_ve.wrong(
    "the noise is scaled by its variance",
    advice="sigma2 is a variance. By what do you multiply a standard normal number to give it that variance?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(
        x_T,
        z,
        sigma2,
        lambda t: 1 / t,
        noise=lambda t: sigma2 * z[t - 1] if t > 1 else 0,
        eps_model=eps_model,
    )


@sample_ve.wrong(
    "time runs forwards",
    advice="The first call must be about x_T. Which t does your loop begin with?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(
        x_T, z, sigma2, lambda t: 1 / t, times=range(1, len(z) + 1), eps_model=eps_model
    )


@sample_ve.wrong(
    "no noise at all",
    advice="The reverse step is a draw from a Gaussian. You return its mean; where does z come in?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(x_T, z, sigma2, lambda t: 1 / t, noise=lambda t: 0, eps_model=eps_model)


@sample_ve.wrong(
    "z is read from its front",
    advice="The first step of your loop is t = T. Which entry of z belongs to it: the first or the last?",
)
def _(eps_model, x_T, z, sigma2):
    T = len(z)
    return _ve(
        x_T,
        z,
        sigma2,
        lambda t: 1 / t,
        noise=lambda t: sigma2**0.5 * z[T - t] if t > 1 else 0,
        eps_model=eps_model,
    )


@sample_ve.wrong(
    "a T-th part in every step",
    advice="eps_model(x, t) predicts the noise of t steps. For how many steps does it speak at the end of the walk?",
)
def _(eps_model, x_T, z, sigma2):
    return _ve(x_T, z, sigma2, lambda t: 1 / len(z), eps_model=eps_model)


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


# Noising in one shot.

q_sample = Exercise(
    "q_sample",
    reference=reference.q_sample,
    compare=close(rtol=1e-6, float32=True),
    batched=("eps", "t", "x0"),
    hints=[
        "How much of x0 is left after t steps, and how much noise has come in? Both follow from one number, abar_t, the product of the first t values of 1 - beta.",
        "torch.cumprod(1 - betas, 0) holds abar_1, abar_2, … Each row has its own t, and the list starts at index 0. Signal and noise are scaled by square roots.",
        "torch.cumprod gives all ᾱ at once; index it with t - 1 and add an axis with [:, None]. Then √ᾱ times x0 plus the square root of the rest times eps.",
    ],
)


@q_sample.cases
def _(rng):
    def case(t, steps, d=3):
        t = torch.as_tensor(t)
        return dict(
            x0=2 + normal(rng, len(t), d),
            t=t,
            eps=normal(rng, len(t), d),
            betas=a_schedule(rng, steps),
        )

    yield "each row at its own step", case([4, 1, 6, 2], 8)
    yield "the first step", case([1, 1], 5, d=2)
    yield "the last step", case([5, 5], 5, d=2)
    yield (
        "without noise in eps only the signal shrinks",
        dict(
            x0=2 + normal(rng, 2, 2),
            t=torch.tensor([2, 3]),
            eps=torch.zeros(2, 2, dtype=torch.float64),
            betas=a_schedule(rng, 4),
        ),
    )
    yield "as many rows as columns", case([2, 4, 3], 6, d=3)


def _mixed(x0, eps, a, b):
    return a[:, None] * x0 + b[:, None] * eps


@q_sample.wrong(
    "index off by one",
    advice="betas[0] belongs to step t = 1. Which entry of the running product belongs to t?",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(torch.cat([1 - betas, betas[-1:]]), 0)[t]
    return _mixed(x0, eps, abar.sqrt(), (1 - abar).sqrt())


@q_sample.wrong(
    "without square roots",
    advice="abar and 1 - abar are a power and a variance. By what is a number scaled so that its variance becomes v?",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1]
    return _mixed(x0, eps, abar, 1 - abar)


@q_sample.wrong(
    "one step instead of t steps",
    advice="You used beta of the single step t. What has happened in the steps before it?",
)
def _(x0, t, eps, betas):
    alpha = (1 - betas)[t - 1]
    return _mixed(x0, eps, alpha.sqrt(), (1 - alpha).sqrt())


@q_sample.wrong(
    "betas multiplied instead of 1 - betas",
    advice="Which quantity multiplies from step to step: the noise that comes in or the signal that survives?",
)
def _(x0, t, eps, betas):
    bbar = torch.cumprod(betas, 0)[t - 1]
    return _mixed(x0, eps, (1 - bbar).sqrt(), bbar.sqrt())


@q_sample.wrong(
    "one t for all rows",
    advice="t holds one step for each row. Does every row get its own abar?",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t[:1] - 1].expand(len(t))
    return _mixed(x0, eps, abar.sqrt(), (1 - abar).sqrt())


@q_sample.wrong(
    "abar runs along the columns",
    advice="abar[t - 1] has shape (n,) and x0 (n, d). Along which axis does torch line them up? Try abar[:, None].",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1]
    if len(t) != x0.shape[1]:
        raise ValueError("shapes do not match")
    return abar.sqrt() * x0 + (1 - abar).sqrt() * eps


@q_sample.wrong(
    "a square root on the signal only",
    advice="1 - abar is the variance of the noise. By what is eps scaled so that it has this variance?",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1]
    return _mixed(x0, eps, abar.sqrt(), 1 - abar)


@q_sample.wrong(
    "signal and noise are exchanged",
    advice="After a single step with a small beta, should x_t look like x_0 or like eps?",
)
def _(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1]
    return _mixed(x0, eps, (1 - abar).sqrt(), abar.sqrt())


@q_sample.right("through logarithms")
def _(x0, t, eps, betas):
    log_abar = torch.log1p(-betas).cumsum(0)[t - 1].unsqueeze(1)
    return torch.exp(log_abar / 2) * x0 + torch.sqrt(-torch.expm1(log_abar)) * eps


@q_sample.right("row by row, in float32")
def _(x0, t, eps, betas):
    rows = []
    for x, step, e in zip(x0.float(), t.tolist(), eps.float(), strict=True):
        abar = 1.0
        for beta in betas[:step].tolist():
            abar *= 1 - beta
        rows.append(abar**0.5 * x + (1 - abar) ** 0.5 * e)
    return torch.stack(rows)


# The posterior.

posterior = Exercise(
    "posterior",
    reference=reference.posterior,
    compare=close(rtol=1e-6),
    batched=("t", "x0", "xt"),
    hints=[
        "Two facts about x_{t-1}: it is a noised x_0, and x_t is a noised x_{t-1}. Write both as Gaussians in x_{t-1}. With which mean and variance?",
        "From below: mean sqrt(abar_{t-1}) x_0, variance 1 - abar_{t-1}. From above: mean x_t / sqrt(alpha_t), variance beta_t / alpha_t. "
        "Precisions add and means are averaged by precision. At t = 1 the first variance is 0: multiply out before you divide.",
        "var = beta_t (1 - abar_{t-1}) / (1 - abar_t). The weight of x_t in the mean is var * sqrt(alpha_t) / beta_t. "
        "The weight of x_0 is var * sqrt(abar_{t-1}) / (1 - abar_{t-1}), where 1 - abar_{t-1} cancels. abar_0 = 1 needs a leading 1 in the product.",
    ],
)


@posterior.cases
def _(rng):
    def case(t, steps, d=2):
        t = torch.as_tensor(t)
        return dict(
            x0=1 + normal(rng, len(t), d),
            xt=2 + normal(rng, len(t), d),
            t=t,
            betas=a_schedule(rng, steps),
        )

    yield "each row at its own step", case([3, 2, 5], 6)
    yield "the last step of the schedule", case([4, 4], 4)
    yield "at t = 1 it is x0 itself, without doubt", case([1, 1], 3)
    yield "one long row", case([3], 5, d=4)


def _post(t, betas, x0, xt):
    abar = torch.cat([betas.new_ones(1), torch.cumprod(1 - betas, 0)])
    return abar[t - 1], abar[t], 1 - betas[t - 1], betas[t - 1]


@posterior.wrong(
    "abar_{t-1} taken one step too late",
    advice="abar_0 is 1: before the first step nothing is lost. Check your result at t = 1.",
)
def _(x0, xt, t, betas):
    abar = torch.cumprod(1 - betas, 0)
    before, now, alpha, beta = (
        abar[t - 1],
        torch.cat([abar, abar[-1:] * 0.9])[t],
        1 - betas[t - 1],
        betas[t - 1],
    )
    w0, w1 = before.sqrt() * beta / (1 - now), alpha.sqrt() * (1 - before) / (1 - now)
    return w0[:, None] * x0 + w1[:, None] * xt, beta * (1 - before) / (1 - now)


@posterior.wrong(
    "abar[t - 2] at t = 1",
    advice="At t = 1 the index t - 2 is -1, and Python reads the last entry. What is abar_0, and where can you put it?",
)
def _(x0, xt, t, betas):
    abar = torch.cumprod(1 - betas, 0)
    before, now, alpha, beta = abar[t - 2], abar[t - 1], 1 - betas[t - 1], betas[t - 1]
    w0, w1 = before.sqrt() * beta / (1 - now), alpha.sqrt() * (1 - before) / (1 - now)
    return w0[:, None] * x0 + w1[:, None] * xt, beta * (1 - before) / (1 - now)


@posterior.wrong(
    "the variance is beta_t",
    advice="beta_t is what one step adds when only x_{t-1} is known. Here x_0 is known as well: does that leave more doubt or less?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    w0, w1 = before.sqrt() * beta / (1 - now), alpha.sqrt() * (1 - before) / (1 - now)
    return w0[:, None] * x0 + w1[:, None] * xt, beta


@posterior.wrong(
    "a standard deviation instead of a variance",
    advice="The second result is a variance. Did you take a square root?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    w0, w1 = before.sqrt() * beta / (1 - now), alpha.sqrt() * (1 - before) / (1 - now)
    return w0[:, None] * x0 + w1[:, None] * xt, (beta * (1 - before) / (1 - now)).sqrt()


@posterior.wrong(
    "the weights of x_0 and x_t are exchanged",
    advice="At t = 1 the mean must be x_0. Which of the two weights is 1 there?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    w0, w1 = before.sqrt() * beta / (1 - now), alpha.sqrt() * (1 - before) / (1 - now)
    return w1[:, None] * x0 + w0[:, None] * xt, beta * (1 - before) / (1 - now)


@posterior.wrong(
    "no square roots in the weights of the mean",
    advice="x_t = sqrt(alpha_t) x_{t-1} + noise. By what is x_t divided to point back at x_{t-1}?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    w0, w1 = before * beta / (1 - now), alpha * (1 - before) / (1 - now)
    return w0[:, None] * x0 + w1[:, None] * xt, beta * (1 - before) / (1 - now)


@posterior.wrong(
    "the kernel of one step with abar_t, as printed in (22.43)",
    advice="q(x_t | x_{t-1}) is one single step. Is its factor abar_t or alpha_t?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    up, down = now / (1 - now), 1 / (1 - before)
    var = torch.where(before == 1, 0, 1 / (up + down))
    w1 = var * now.sqrt() / (1 - now)
    w0 = torch.where(before == 1, 1, var * before.sqrt() * down)
    return w0[:, None] * x0 + w1[:, None] * xt, var


def _product(x0, xt, before, alpha, width, by_variance=False):
    """The two Gaussians in x_{t-1} combined; `width`: variance of the one that x_t gives. Exact x_0 where before = 1."""
    down, up = 1 - before, width
    share = down / (down + up)  # of the mean that x_t gives
    share = (1 - share if by_variance else share)[:, None]
    mean = (
        share * xt / alpha.sqrt()[:, None] + (1 - share) * before.sqrt()[:, None] * x0
    )
    return mean, down * up / (down + up)


@posterior.wrong(
    "the means are weighted by variance",
    advice="Of the two Gaussians, which one should count more: the narrow one or the wide one?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    return _product(x0, xt, before, alpha, beta / alpha, by_variance=True)


@posterior.wrong(
    "the first factor has width beta_t in x_{t-1}",
    advice="Read N(x_t; sqrt(alpha_t) x_{t-1}, beta_t) as a function of x_{t-1}. Its mean is x_t / sqrt(alpha_t). How wide is it?",
)
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    return _product(x0, xt, before, alpha, beta)


@posterior.right("by conditioning a joint Gaussian")
def _(x0, xt, t, betas):
    before, now, alpha, beta = _post(t, betas, x0, xt)
    gain = alpha.sqrt() * (1 - before) / (alpha * (1 - before) + beta)
    surprise = xt - (alpha * before).sqrt()[:, None] * x0
    return before.sqrt()[:, None] * x0 + gain[:, None] * surprise, (1 - before) * (
        1 - gain * alpha.sqrt()
    )


@posterior.right("row by row, as lists")
def _(x0, xt, t, betas):
    means, variances = [], []
    for a, b, step in zip(x0.tolist(), xt.tolist(), t.tolist(), strict=True):
        before = 1.0
        for beta in betas[: step - 1].tolist():
            before *= 1 - beta
        beta = float(betas[step - 1])
        now = before * (1 - beta)
        var = beta * (1 - before) / (1 - now)
        means.append(
            [
                (before**0.5 * beta * p + (1 - beta) ** 0.5 * (1 - before) * q)
                / (1 - now)
                for p, q in zip(a, b, strict=True)
            ]
        )
        variances.append(var)
    return means, variances


# One step of ancestral sampling.

ddpm_step = Exercise(
    "ddpm_step",
    reference=reference.ddpm_step,
    compare=close(rtol=1e-6),
    batched=("eps_hat", "xt", "z"),
    hints=[
        "Three parts: take away the share of noise that this step added, undo the shrinking of this step, add fresh noise. Which of them uses abar and which alpha?",
        "alpha = 1 - betas[t - 1]; abar is the product of the first t of the 1 - beta. sigma2 holds variances, so its square root multiplies z. And t = 1 is special.",
        "mean = (xt - beta / sqrt(1 - abar) * eps_hat) / sqrt(alpha); return it alone when t == 1, else with sigma2[t - 1].sqrt() * z added.",
    ],
)


@ddpm_step.cases
def _(rng):
    def case(t, steps, n=3, d=2, **changes):
        inputs = dict(
            xt=1 + normal(rng, n, d),
            t=t,
            eps_hat=normal(rng, n, d),
            z=1 + normal(rng, n, d).abs(),
            betas=a_schedule(rng, steps),
            sigma2=a_schedule(rng, steps) / 2,
        )
        return inputs | changes

    yield "a step in the middle", case(4, 7)
    yield "the first step back from noise", case(5, 5)
    yield (
        "with sigma2 = betas",
        (lambda c: c | dict(sigma2=c["betas"].clone()))(case(3, 6)),
    )
    yield "the step to t = 0 adds no noise", case(1, 4)
    yield (
        "sigma2 = 0: the mean alone",
        case(3, 4, sigma2=torch.zeros(4, dtype=torch.float64)),
    )


def _step(
    xt, t, eps_hat, z, betas, sigma2, *, share=None, shrink=None, sd=None, last=False
):
    beta, abar = betas[t - 1], torch.cumprod(1 - betas, 0)[t - 1]
    share = beta / (1 - abar).sqrt() if share is None else share(beta, abar)
    shrink = (1 - beta).sqrt() if shrink is None else shrink(beta, abar)
    sd = sigma2[t - 1].sqrt() if sd is None else sd(beta, sigma2[t - 1])
    return (xt - share * eps_hat) / shrink + (sd * z if t > 1 or last else 0)


@ddpm_step.wrong(
    "multiplied by the variance, as printed in Algorithm 7",
    advice="sigma2 is a variance and z has variance 1. What do you multiply z by to give it the variance sigma2?",
)
def _(**inputs):
    return _step(**inputs, sd=lambda beta, s2: s2)


@ddpm_step.wrong(
    "noise in the last step",
    advice="After t = 1 the result is the finished sample. Should there be fresh noise on it?",
)
def _(**inputs):
    return _step(**inputs, last=True)


@ddpm_step.wrong(
    "divided by sqrt(abar) instead of sqrt(alpha)",
    advice="You undo one step. Which factor has this single step put on the signal?",
)
def _(**inputs):
    return _step(**inputs, shrink=lambda beta, abar: abar.sqrt())


@ddpm_step.wrong(
    "all of the noise taken away at once",
    advice="That leads to the guess of x_0 directly. How much of the noise has this one step added?",
)
def _(**inputs):
    return _step(**inputs, share=lambda beta, abar: (1 - abar).sqrt())


@ddpm_step.wrong(
    "no square root in the share of noise",
    advice="Check beta / sqrt(1 - abar) at t = 1, where 1 - abar = beta: how much noise must go?",
)
def _(**inputs):
    return _step(**inputs, share=lambda beta, abar: beta / (1 - abar))


@ddpm_step.wrong(
    "sigma2 is ignored, beta used",
    advice="The noise level is an argument. Which one do you use?",
)
def _(**inputs):
    return _step(**inputs, sd=lambda beta, s2: beta.sqrt())


@ddpm_step.wrong(
    "index t instead of t - 1",
    advice="betas[0] belongs to step 1. Which entry belongs to step t?",
)
def _(xt, t, eps_hat, z, betas, sigma2):
    longer, more = (
        torch.cat([betas, betas[-1:] / 2]),
        torch.cat([sigma2, sigma2[-1:] / 2]),
    )
    return (
        _step(xt, t + 1, eps_hat, z, longer, more)
        if t > 1
        else _step(xt, 2, eps_hat, 0 * z, longer, more)
    )


@ddpm_step.wrong(
    "the fresh noise is divided by sqrt(alpha) too",
    advice="sigma2 is the variance of x_{t-1} round mu. Is the noise added before the shrinking is undone or after?",
)
def _(**inputs):
    beta = inputs["betas"][inputs["t"] - 1]
    return _step(**inputs, sd=lambda _, s2: (s2 / (1 - beta)).sqrt())


@ddpm_step.wrong(
    "only x_t is divided by sqrt(alpha)",
    advice="In mu, what stands inside the bracket that 1 / sqrt(alpha) multiplies?",
)
def _(**inputs):
    return _step(
        **inputs, share=lambda beta, abar: beta * ((1 - beta) / (1 - abar)).sqrt()
    )


@ddpm_step.right("through the guess of x_0 and the posterior mean")
def _(xt, t, eps_hat, z, betas, sigma2):
    abar = torch.cat([betas.new_ones(1), torch.cumprod(1 - betas, 0)])
    x0_hat = (xt - (1 - abar[t]).sqrt() * eps_hat) / abar[t].sqrt()
    mean = (
        abar[t - 1].sqrt() * betas[t - 1] * x0_hat
        + (1 - betas[t - 1]).sqrt() * (1 - abar[t - 1]) * xt
    ) / (1 - abar[t])
    return mean + (t > 1) * sigma2[t - 1].sqrt() * z


@ddpm_step.right("in float32")
def _(xt, t, eps_hat, z, betas, sigma2):
    alpha, abar = float(1 - betas[t - 1]), float(torch.prod(1 - betas[:t]))
    mean = (xt.float() - (1 - alpha) / (1 - abar) ** 0.5 * eps_hat.float()) / alpha**0.5
    return mean if t == 1 else mean + float(sigma2[t - 1]) ** 0.5 * z.float()


# The loss.

ddpm_loss = Exercise(
    "ddpm_loss",
    reference=reference.loss_report,
    # The gradient comes in W's float64 even where the loss was computed in float32: it gets float32's tolerance.
    compare=parts(
        loss=close(rtol=1e-5), gradient=close(rtol=2e-4, atol=2e-5), calls=exact()
    ),
    hints=[
        "What does the model see, and what should it say? It sees the noised image and t; it should say which standard normal noise went in.",
        "Noise x0 with your q_sample, call the model once on the result and t, subtract from eps. Square, sum over the d components, average over the n rows.",
        "Noise x0 with q_sample, ask the model at (xt, t), subtract its answer from eps; square, sum over the coordinates, average over the rows.",
    ],
)


@ddpm_loss.probe
def _(answer, x0, t, eps, betas, W, predictor):
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
            eps + 0 * h
            if predictor == "perfect"
            else torch.tanh(h) + steps[:, None] / 10
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
    def case(t, steps, d=3, predictor="tanh"):
        t = torch.as_tensor(t)
        return dict(
            x0=2 + normal(rng, len(t), d),
            t=t,
            eps=1 + normal(rng, len(t), d),
            betas=a_schedule(rng, steps),
            W=normal(rng, d, d) / 2,
            predictor=predictor,
        )

    yield "rows at different steps", case([2, 5, 3, 1], 6)
    yield "a single row", case([3], 4, d=2)
    yield "the gradient in one variable", case([1, 4], 4, d=1)
    yield (
        "a perfect predictor has loss zero",
        case([2, 1, 4], 5, d=2, predictor="perfect"),
    )


def _noised(x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1][:, None]
    return abar.sqrt() * x0 + (1 - abar).sqrt() * eps


@ddpm_loss.wrong(
    "the mean over all components",
    advice="The squared length of a row is a sum over its d components. Only the rows are averaged.",
)
def _(model, x0, t, eps, betas):
    return (eps - model(_noised(x0, t, eps, betas), t)).square().mean()


@ddpm_loss.wrong(
    "the model sees the clean x0",
    advice="What does the model have to work with when it generates: clean images or noisy ones?",
)
def _(model, x0, t, eps, betas):
    return (eps - model(x0, t)).square().sum(1).mean()


@ddpm_loss.wrong(
    "the target is x_t - x_0",
    advice="The target here is the standard normal eps, of the same size at every t, not the whole change of the image.",
)
def _(model, x0, t, eps, betas):
    xt = _noised(x0, t, eps, betas)
    return (xt - x0 - model(xt, t)).square().sum(1).mean()


@ddpm_loss.wrong(
    "the target is the clean image",
    advice="The model predicts the noise. Which of the arguments is that?",
)
def _(model, x0, t, eps, betas):
    return (x0 - model(_noised(x0, t, eps, betas), t)).square().sum(1).mean()


@ddpm_loss.wrong(
    "length instead of squared length",
    advice="Is it the length of the error or its square? A root changes the gradient too.",
)
def _(model, x0, t, eps, betas):
    wrong_by = eps - model(_noised(x0, t, eps, betas), t)
    return (wrong_by.square().sum(1) + 1e-300).sqrt().mean()


@ddpm_loss.wrong(
    "the prediction is detached from the graph",
    advice="The loss is right, but its gradient is zero: nothing would be learned. Did you use detach, no_grad or .data?",
)
def _(model, x0, t, eps, betas):
    return (eps - model(_noised(x0, t, eps, betas), t).detach()).square().sum(1).mean()


@ddpm_loss.wrong(
    "the sum over the rows",
    advice="With twice as many rows your loss doubles. What makes it independent of the batch size?",
)
def _(model, x0, t, eps, betas):
    return (eps - model(_noised(x0, t, eps, betas), t)).square().sum()


@ddpm_loss.wrong(
    "the model is told another t",
    advice="x_t was noised to step t. Does the model hear the same t, counted from 1 as in the text?",
)
def _(model, x0, t, eps, betas):
    return (eps - model(_noised(x0, t, eps, betas), t - 1)).square().sum(1).mean()


@ddpm_loss.wrong(
    "t has an axis too many",
    advice="The model wants t of shape (n,), one step for each row.",
)
def _(model, x0, t, eps, betas):
    return (eps - model(_noised(x0, t, eps, betas), t[:, None])).square().sum(1).mean()


@ddpm_loss.wrong(
    "every row is weighted by 1 / (1 - abar)",
    advice="That is the loss in units of the score. L_simple gives every step the same weight.",
)
def _(model, x0, t, eps, betas):
    abar = torch.cumprod(1 - betas, 0)[t - 1]
    wrong_by = eps - model(_noised(x0, t, eps, betas), t)
    return (wrong_by.square().sum(1) / (1 - abar)).mean()


@ddpm_loss.right("torch's own squared error")
def _(model, x0, t, eps, betas):
    return (
        torch.nn.functional.mse_loss(model(_noised(x0, t, eps, betas), t), eps)
        * x0.shape[1]
    )


@ddpm_loss.right("with einsum")
def _(model, x0, t, eps, betas):
    wrong_by = model(_noised(x0, t, eps, betas), t) - eps
    return torch.einsum("nd,nd->", wrong_by, wrong_by) / len(wrong_by)


@ddpm_loss.right("in float32")
def _(model, x0, t, eps, betas):
    x0, eps, betas = x0.float(), eps.float(), betas.float()
    wrong_by = model(_noised(x0, t, eps, betas), t) - eps
    return wrong_by.pow(2).sum(-1).mean()

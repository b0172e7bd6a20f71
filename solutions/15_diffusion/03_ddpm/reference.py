"""Denoising diffusion (DDPM): the chain, guesses of the noise, the walk back, loss and training.

Steps are t = 1 … T and `betas[t - 1]` is the noise variance of step t. Every function works on the device and in the
dtype of its arguments. Models are small ones with a gradient that is known, so that an answer is judged by other means
than those it is expected to use.
"""

import math

import torch
from torch import Tensor, nn


def cosine_betas(steps: int, offset: float = 0.008) -> Tensor:
    """The schedule of Nichol and Dhariwal: ᾱ_t falls like a squared cosine, β <= 0.999 -> (steps,) float64."""
    time = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    signal = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    return (1 - signal[1:] / signal[:-1]).clamp(max=0.999)


def alpha_bar(betas: Tensor) -> Tensor:
    """ᾱ_t = Π_{s <= t} (1 − β_s). betas (T,) -> (T + 1,) for t = 0 … T, ᾱ_0 = 1."""
    return torch.cat([betas.new_ones(1), (1 - betas).cumprod(0)])


def noise_chain(x0: Tensor, z: Tensor, betas: Tensor) -> Tensor:
    """x_t = √ᾱ_t x_0 + Σ_{s <= t} √(β_s ᾱ_t / ᾱ_s) z_s, as one weighted sum.

    x0 (*batch, n, d), z (*batch, T, n, d), betas (T,) -> (*batch, T + 1, n, d).
    """
    log_left = alpha_bar(betas).log()
    weights = (betas * (log_left[:, None] - log_left[1:]).exp()).sqrt().tril(-1)
    noise = torch.einsum("ts,...snd->...tnd", weights, z)
    return (log_left / 2).exp()[:, None, None] * x0.unsqueeze(-3) + noise


def q_sample(x0: Tensor, t: Tensor, eps: Tensor, betas: Tensor) -> Tensor:
    """√ᾱ_t x_0 + √(1 − ᾱ_t) ε. x0, eps (*batch, d), t (*batch,) in 1 … T, betas (T,) -> (*batch, d)."""
    left = alpha_bar(betas)[t].unsqueeze(-1)
    return left.sqrt() * x0 + (1 - left).sqrt() * eps


def best_noise(x: Tensor, left: float, points: Tensor) -> Tensor:
    """E[ε | x] if x = √left p + √(1 − left) ε and p is one of the points: the mean of the noises that each would need.

    x (*batch, n, d), points (*batch, m, d), 0 < left < 1 -> (*batch, n, d).
    """
    needed = x.unsqueeze(-2) - left**0.5 * points.unsqueeze(-3)  # (…, n, m, d)
    needed = needed / (1 - left) ** 0.5
    fit = -needed.square().sum(-1) / 2
    share = (fit - fit.logsumexp(-1, keepdim=True)).exp()
    return (share.unsqueeze(-1) * needed).sum(-2)


def posterior(x0: Tensor, xt: Tensor, t: int, betas: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of q(x_{t-1} | x_t, x_0), by Bayes' rule. x0, xt of one shape -> that shape, a number."""
    abar, beta = alpha_bar(betas), betas[t - 1]
    from_x0 = abar[t - 1].sqrt() * beta / (1 - abar[t])
    from_xt = (1 - beta).sqrt() * (1 - abar[t - 1]) / (1 - abar[t])
    return from_x0 * x0 + from_xt * xt, (1 - abar[t - 1]) / (1 - abar[t]) * beta


def ddpm_sample(
    x_T: Tensor, z: Tensor, betas: Tensor, sigma2: Tensor, W: Tensor
) -> dict:
    """Ancestral sampling by posterior means, with the model that says tanh(x W) + t / 10.

    x_T (*batch, n, d), z (*batch, T, n, d), betas and sigma2 (T,), W (d, d) ->
    states (*batch, T + 1, n, d), guesses (*batch, T, n, d), and the steps at which the model is asked.
    """
    abar, states, guesses = alpha_bar(betas), [x_T], []
    asked = list(range(len(betas), 0, -1))
    for t in asked:
        noise = (states[-1] @ W).tanh() + t / 10
        guess = (states[-1] - (1 - abar[t]).sqrt() * noise) / abar[t].sqrt()
        mean, _ = posterior(guess, states[-1], t, betas)
        fresh = sigma2[t - 1].sqrt() * z[..., t - 1, :, :]
        guesses.append(guess)
        states.append(mean + fresh if t > 1 else mean)
    return dict(
        states=torch.stack(states[::-1], -3),
        guesses=torch.stack(guesses[::-1], -3),
        asked=asked,
    )


def loss_report(
    x0: Tensor, t: Tensor, eps: Tensor, betas: Tensor, W: Tensor, perfect: bool
) -> dict:
    """E‖ε − model(x_t, t)‖² over the rows, its gradient in W by hand, and the number of calls that it takes.

    The model says tanh(x W) + t / 10, or ε itself where it is perfect.
    """
    if perfect:
        return dict(loss=x0.new_zeros(()), gradient=torch.zeros_like(W), calls=1)
    xt = q_sample(x0, t, eps, betas)
    bent = (xt @ W).tanh()
    wrong_by = bent + t[:, None] / 10 - eps
    gradient = xt.mT @ (2 * wrong_by * (1 - bent.square())) / len(x0)
    return dict(loss=wrong_by.square().sum() / len(x0), gradient=gradient, calls=1)


def train(
    x0: Tensor,
    y: Tensor,
    betas: Tensor,
    W: Tensor,
    V: Tensor,
    n_steps: int,
    batch: int,
    lr: float,
    seed: int,
) -> dict:
    """Adam by hand, with gradients by hand, on the model that says tanh(x W) + t V[y] / 10; the rate falls to 0.

    x0 (N, d), y (N,) labels, W (d, d), V (labels, d) -> losses (n_steps,), W and V after the last update. Rows, steps
    and noise are drawn in this order, in float32 on the CPU.
    """
    g, d = torch.Generator().manual_seed(seed), x0.shape[1]
    weights, losses = [W.clone(), V.clone()], []
    m, v = (
        [torch.zeros_like(w) for w in weights],
        [torch.zeros_like(w) for w in weights],
    )
    for k in range(n_steps):
        rows = torch.randint(len(x0), (batch,), generator=g).to(x0.device)
        t = torch.randint(1, len(betas) + 1, (batch,), generator=g).to(x0.device)
        eps = torch.randn(batch, d, generator=g).to(x0)
        xt = q_sample(x0[rows], t, eps, betas)
        bent = (xt @ weights[0]).tanh()
        clock = t[:, None].to(x0) / 10
        wrong_by = bent + clock * weights[1][y[rows]] - eps
        losses.append(wrong_by.square().sum() / batch)
        pull = 2 * wrong_by / batch
        gradients = [
            xt.mT @ (pull * (1 - bent.square())),
            torch.zeros_like(V).index_add(0, y[rows], clock * pull),
        ]
        for i, gradient in enumerate(gradients):
            m[i] = 0.9 * m[i] + 0.1 * gradient
            v[i] = 0.999 * v[i] + 0.001 * gradient.square()
            size = (v[i] / (1 - 0.999 ** (k + 1))).sqrt() + 1e-8
            step = m[i] / (1 - 0.9 ** (k + 1)) / size
            weights[i] = weights[i] - lr * (n_steps - k) / n_steps * step
    losses = torch.stack(losses) if losses else x0.new_zeros(0)
    return dict(losses=losses, W=weights[0], V=weights[1])


def sample_ve(x_T: Tensor, z: Tensor, sigma2: float, v0: float) -> Tensor:
    """The additive chain undone with the exact noise predictor of N(0, v0 I), t σ² x / (v0 + t σ²): a weighted sum.

    A step multiplies x by (v0 + (t − 1) σ²) / (v0 + t σ²), so that the factors cancel in a row.
    x_T (*batch, n, d), z (T, *batch, n, d) -> (*batch, n, d). The noise z[0] of the last step is not used.
    """
    t = torch.arange(len(z), dtype=x_T.dtype, device=x_T.device)
    kept = torch.where(t == 0, 0, v0 / (v0 + t * sigma2))  # of the noise of step t + 1
    noise = torch.tensordot(kept, z, dims=1)
    return x_T * (v0 / (v0 + len(z) * sigma2)) + sigma2**0.5 * noise


def ve_losses(
    x0: Tensor, x_prev: Tensor, xt: Tensor, t: Tensor, sigma2: float, W: Tensor
) -> list[Tensor]:
    """Errors of the score tanh(x W) / t by previous state, clean sample and noise; the last two are one by algebra.

    x0, x_prev, xt (*batch, n, d), t (*batch, n) -> three of (*batch,).
    """
    t = t.unsqueeze(-1)
    s = (xt @ W).tanh() / t
    one_step, all_steps = (xt - x_prev) / sigma2 + s, (xt - x0) / (t * sigma2) + s
    previous = sigma2**2 * one_step.square().sum(-1).mean(-1)
    clean = sigma2**2 * (t * all_steps).square().sum(-1).mean(-1)
    return [previous, clean, clean]


# The digits, at any size: what `make gpu` trains.


class Denoiser(nn.Module):
    """Noise predictor for flat images: ε̂ = √(1 − ᾱ_t) x + √ᾱ_t F(x, t, label).

    At high noise x itself is nearly the noise, so F learns only what is left. F is a residual network of
    `depth` layers; t enters by sines and cosines, the label by an embedding.
    """

    def __init__(
        self,
        betas: Tensor,
        dim: int = 64,
        width: int = 256,
        depth: int = 3,
        labels: int = 10,
    ):
        super().__init__()
        self.register_buffer("abar", alpha_bar(betas).float())
        self.register_buffer("rates", torch.logspace(0, 2, 16))
        self.enter, self.time, self.label = (
            nn.Linear(dim, width),
            nn.Linear(32, width),
            nn.Embedding(labels, width),
        )
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.leave = nn.Linear(width, dim)

    def forward(self, x: Tensor, t: Tensor, label: Tensor) -> Tensor:
        phase = t[:, None] / (len(self.abar) - 1) * self.rates
        h = (
            self.enter(x)
            + self.time(torch.cat([phase.sin(), phase.cos()], 1))
            + self.label(label)
        )
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h))
        abar = self.abar[t][:, None]
        return (1 - abar).sqrt() * x + abar.sqrt() * self.leave(nn.functional.silu(h))


def train_digits(
    device="cpu",
    steps: int = 1000,
    *,
    batch: int = 128,
    width: int = 256,
    lr: float = 4e-3,
    n_betas: int = 100,
    seed: int = 0,
) -> dict:
    """Train a Denoiser on scikit-learn's digits with the noise-prediction loss and the cosine schedule.

    -> dict(net, betas (n_betas,), losses (steps,) on `device`: squared error per pixel). The learning rate falls to 0.
    """
    from sklearn.datasets import load_digits

    raw = load_digits()
    images = torch.tensor(raw.data, dtype=torch.float32, device=device) / 8 - 1
    labels = torch.tensor(raw.target, device=device)
    g = torch.Generator(device).manual_seed(seed)
    betas = cosine_betas(n_betas).float().to(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Denoiser(betas.cpu(), width=width).to(device)
    adam = torch.optim.Adam(net.parameters(), lr)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda k: 1 - k / steps)
    losses = torch.empty(steps, device=device)
    for step in range(steps):
        rows = torch.randint(len(images), (batch,), generator=g, device=device)
        t = torch.randint(1, n_betas + 1, (batch,), generator=g, device=device)
        eps = torch.randn(batch, 64, generator=g, device=device)
        xt = q_sample(images[rows], t, eps, betas)
        loss = (net(xt, t, labels[rows]) - eps).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        rate.step()
        losses[step] = loss.detach()
    return dict(net=net, betas=betas, losses=losses)

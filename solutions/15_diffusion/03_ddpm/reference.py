"""Denoising diffusion (DDPM): noising in closed form, posterior, loss, ancestral sampling, training on digits.

Steps are t = 1 … T and `betas[t - 1]` is the noise variance of step t. Every function works on the device and in the
dtype of its arguments; random numbers are passed in, except in `train_digits`, which owns its generators.
"""

import math

import torch
from torch import Tensor, nn


def linear_betas(steps: int, first: float = 1e-4, last: float = 0.02) -> Tensor:
    """The schedule of Ho et al.: evenly spaced from first to last -> (steps,) float64."""
    return torch.linspace(first, last, steps, dtype=torch.float64)


def cosine_betas(steps: int, offset: float = 0.008) -> Tensor:
    """The schedule of Nichol and Dhariwal: abar_t falls like a squared cosine, beta <= 0.999 -> (steps,) float64."""
    time = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    signal = torch.cos((time + offset) / (1 + offset) * math.pi / 2).square()
    return (1 - signal[1:] / signal[:-1]).clamp(max=0.999)


def alpha_bar(betas: Tensor) -> Tensor:
    """abar_t = prod_{s <= t} (1 - beta_s). betas (T,) -> (T + 1,) for t = 0 … T, abar_0 = 1."""
    return torch.cat([betas.new_ones(1), (1 - betas).cumprod(0)])


def _at(values: Tensor, t: Tensor, like: Tensor) -> Tensor:
    """values[t] in the dtype of `like`, with its axes after those of t. t (*batch,) -> (*batch, 1, …, 1)."""
    t = torch.as_tensor(t, device=values.device)
    return values[t].to(like.dtype).reshape(t.shape + (1,) * (like.ndim - t.ndim))


def q_sample(x0: Tensor, t: Tensor, eps: Tensor, betas: Tensor) -> Tensor:
    """sqrt(abar_t) x0 + sqrt(1 - abar_t) eps. x0, eps (n, *shape), t (n,) in 1 … T, betas (T,) -> (n, *shape)."""
    abar = _at(alpha_bar(betas), t, x0)
    return abar.sqrt() * x0 + (1 - abar).sqrt() * eps


def posterior(
    x0: Tensor, xt: Tensor, t: Tensor, betas: Tensor
) -> tuple[Tensor, Tensor]:
    """q(x_{t-1} | x_t, x_0) = N(mean, var I). x0, xt (n, *shape), t (n,) -> mean (n, *shape), var (n,).

    Both factors of Bayes' rule are Gaussian in x_{t-1}. Nothing is divided by var, which is 0 at t = 1.
    """
    t = torch.as_tensor(t, device=betas.device)
    abar, beta = alpha_bar(betas), betas[t - 1]
    from_x0 = (abar[t - 1].sqrt() * beta / (1 - abar[t])).to(x0.dtype)
    from_xt = ((1 - beta).sqrt() * (1 - abar[t - 1]) / (1 - abar[t])).to(x0.dtype)
    tail = t.shape + (1,) * (x0.ndim - t.ndim)
    var = ((1 - abar[t - 1]) / (1 - abar[t]) * beta).to(x0.dtype)
    return from_x0.reshape(tail) * x0 + from_xt.reshape(tail) * xt, var


def ddpm_loss(model, x0: Tensor, t: Tensor, eps: Tensor, betas: Tensor) -> Tensor:
    """Mean over the n rows of ||eps - model(x_t, t)||^2. model: (x (n, *shape), t (n,)) -> (n, *shape). Scalar."""
    wrong_by = eps - model(q_sample(x0, t, eps, betas), t)
    return wrong_by.square().flatten(1).sum(1).mean()


def ddpm_step(
    xt: Tensor, t: int, eps_hat: Tensor, z: Tensor, betas: Tensor, sigma2: Tensor
) -> Tensor:
    """x_{t-1} by ancestral sampling with noise variances sigma2 (T,). (n, *shape) -> same.

    The last step, t = 1, adds no noise.
    """
    beta, abar = betas[t - 1], (1 - betas[:t]).prod()
    mean = (xt - (beta / (1 - abar).sqrt()).to(xt.dtype) * eps_hat) / (
        1 - beta
    ).sqrt().to(xt.dtype)
    return mean if t == 1 else mean + sigma2[t - 1].sqrt().to(xt.dtype) * z


def sample_ve(eps_model, x_T: Tensor, z: Tensor, sigma2: float) -> Tensor:
    """Reverse the additive chain x_t = x_{t-1} + e_t, e_t ~ N(0, sigma2 I): from x_T to x_0.

    eps_model: (x (n, *shape), t int) -> the predicted sum of the first t noises. z (T, n, *shape); z[t - 1] is used in
    step t and z[0] not at all. The predicted noise is t steps' worth, so one step takes away a t-th part of it.
    """
    x = x_T
    for t in range(len(z), 0, -1):
        x = x - eps_model(x, t) / t
        if t > 1:
            x = x + sigma2**0.5 * z[t - 1]
    return x


def sample_ve_gaussian(x_T: Tensor, z: Tensor, sigma2: float, v0: float) -> Tensor:
    """`sample_ve` with the exact noise predictor of N(0, v0 I), t sigma2 x / (v0 + t sigma2), as one weighted sum.

    A step multiplies x by (v0 + (t - 1) sigma2) / (v0 + t sigma2), so the factors cancel in a row.
    x_T (n, *shape), z (T, n, *shape) -> (n, *shape).
    """
    T = len(z)
    kept = v0 / (
        v0 + sigma2 * torch.arange(T, dtype=x_T.dtype, device=x_T.device)
    )  # noise of step t + 1, carried to 0
    kept = torch.where(torch.arange(T, device=x_T.device) == 0, 0, kept)
    return x_T * (v0 / (v0 + T * sigma2)) + sigma2**0.5 * torch.tensordot(
        kept, z, dims=1
    )


def loss_report(
    x0: Tensor, t: Tensor, eps: Tensor, betas: Tensor, W: Tensor, predictor: str
) -> dict:
    """`ddpm_loss` of a small predictor, its gradient in W by hand, and the number of calls that it takes.

    predictor: "tanh" predicts tanh(x W) + t / 10, "perfect" predicts eps.
    """
    if predictor == "perfect":
        return dict(loss=x0.new_zeros(()), gradient=torch.zeros_like(W), calls=1)
    xt = q_sample(x0, t, eps, betas)
    bent = (xt @ W).tanh()
    wrong_by = bent + t[:, None] / 10 - eps
    gradient = xt.mT @ (2 * wrong_by * (1 - bent.square())) / len(x0)
    return dict(loss=wrong_by.square().sum() / len(x0), gradient=gradient, calls=1)


# The digits, at any size.


class Denoiser(nn.Module):
    """Noise predictor for flat images: eps_hat = sqrt(1 - abar_t) x + sqrt(abar_t) F(x, t, label).

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


def digits_data(device="cpu") -> tuple[Tensor, Tensor]:
    """scikit-learn's digits -> images (1797, 64) in [-1, 1] float32, labels (1797,)."""
    from sklearn.datasets import load_digits

    raw = load_digits()
    images = torch.tensor(raw.data, dtype=torch.float32, device=device) / 8 - 1
    return images, torch.tensor(raw.target, device=device)


def train_digits(
    device="cpu",
    steps: int = 1000,
    *,
    batch: int = 128,
    width: int = 256,
    depth: int = 3,
    lr: float = 4e-3,
    n_betas: int = 200,
    seed: int = 0,
) -> dict:
    """Train a Denoiser on the digits with the noise-prediction loss and the cosine schedule.

    -> dict(net, betas (n_betas,), losses (steps,) on `device`: squared error per pixel).
    The learning rate warms up over 100 steps and falls by a half cosine.
    """
    generator = torch.Generator(device).manual_seed(seed)
    images, labels = digits_data(device)
    betas = cosine_betas(n_betas).float().to(device)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Denoiser(betas.cpu(), width=width, depth=depth).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=lr)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda k: min(1.0, (k + 1) / 100) * (0.5 + 0.5 * math.cos(math.pi * k / steps)),
    )
    losses = torch.empty(steps, device=device)
    for step in range(steps):
        rows = torch.randint(len(images), (batch,), generator=generator, device=device)
        t = torch.randint(1, n_betas + 1, (batch,), generator=generator, device=device)
        eps = torch.randn(batch, images.shape[1], generator=generator, device=device)
        loss = (
            ddpm_loss(
                lambda x, t, rows=rows: net(x, t, labels[rows]),
                images[rows],
                t,
                eps,
                betas,
            )
            / images.shape[1]
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        rate.step()
        losses[step] = loss.detach()
    return dict(net=net, betas=betas, losses=losses)


@torch.no_grad()
def sample_digits(
    net: Denoiser, betas: Tensor, labels: Tensor, seed: int = 0
) -> Tensor:
    """One image for each label by ancestral sampling. labels (n,) -> (n, 64), about in [-1, 1]."""
    device = betas.device
    generator = torch.Generator(device).manual_seed(seed)
    x = torch.randn(len(labels), 64, generator=generator, device=device)
    for t in range(len(betas), 0, -1):
        eps_hat = net(x, torch.full((len(labels),), t, device=device), labels)
        z = torch.randn(x.shape, generator=generator, device=device)
        x = ddpm_step(x, t, eps_hat, z, betas, betas)
    return x

"""References of 15_diffusion/03_ddpm against closed forms, grids, brute force and simulation."""

import copy
import math
import re

import ipywidgets
import numpy as np
import pytest
import torch
from scipy import integrate, stats
from torch.distributions import MultivariateNormal

from descent.pictures.diffusion import ddpm as pictures
from descent.widgets import Explorer
from solutions import notebook_module

ddpm = notebook_module("15_diffusion/03_ddpm", "reference")


DTYPES = [torch.float32, torch.float64]


@pytest.fixture
def g():
    return torch.Generator().manual_seed(0)


def randn(*shape, g, dtype=torch.float64):
    return torch.randn(*shape, generator=g, dtype=torch.float64).to(dtype)


def close(got, want, dtype=torch.float64):
    tolerance = (
        dict(rtol=1e-9, atol=1e-11) if dtype == torch.float64 else dict(rtol=2e-5, atol=2e-6)
    )
    torch.testing.assert_close(got, want.to(got.dtype), **tolerance)


def test_the_schedule_of_ho_et_al_keeps_four_hundred_thousandths_of_the_power():
    abar = ddpm.alpha_bar(ddpm.linear_betas(1000))
    by_numpy = np.exp(np.sum(np.log1p(-np.linspace(1e-4, 0.02, 1000))))
    assert (
        abar[1000].item() == pytest.approx(by_numpy, rel=1e-10) == pytest.approx(4.036e-5, rel=1e-3)
    )
    assert [round(abar[t].item(), 3) for t in (100, 250)] == [0.897, 0.524]
    assert abar[0] == 1 and abs(abar - 0.5).argmin() == 259


@pytest.mark.parametrize("steps", [10, 200, 1000])
def test_the_cosine_schedule_has_its_signal_curve(steps):
    betas = ddpm.cosine_betas(steps)
    t = torch.arange(steps, dtype=torch.float64)  # the last step is capped
    curve = torch.cos((t / steps + 0.008) / 1.008 * math.pi / 2) ** 2
    close(ddpm.alpha_bar(betas)[:-1], curve / curve[0])
    assert ((betas > 0) & (betas <= 0.999)).all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_noising_in_one_shot_has_the_moments_of_noising_step_by_step(dtype, g):
    """Mean and variance of the chain, carried along exactly."""
    betas = ddpm.linear_betas(50, 0.01, 0.2)
    x0, mean, var = (
        torch.tensor([[2.0, -1.0]], dtype=dtype),
        torch.tensor([[2.0, -1.0]], dtype=torch.float64),
        0.0,
    )
    for t, beta in enumerate(betas, 1):
        mean, var = (1 - beta).sqrt() * mean, (1 - beta) * var + beta
        still = ddpm.q_sample(x0, torch.tensor([t]), torch.zeros_like(x0), betas.to(dtype))
        moved = ddpm.q_sample(x0, torch.tensor([t]), torch.ones_like(x0), betas.to(dtype))
        close(still, mean, dtype)
        torch.testing.assert_close(
            moved - still, var.sqrt().to(dtype).expand(1, 2), rtol=1e-4, atol=1e-5
        )


def test_noising_in_one_shot_has_the_law_of_noising_step_by_step(g):
    betas, n = ddpm.linear_betas(30, 0.02, 0.3), 4000
    x0 = torch.where(torch.arange(n) % 2 == 0, -1.0, 2.0).double()[:, None]
    chain = x0
    for beta in betas:
        chain = (1 - beta).sqrt() * chain + beta.sqrt() * randn(n, 1, g=g)
    shot = ddpm.q_sample(x0, torch.full((n,), 30), randn(n, 1, g=g), betas)
    assert stats.ks_2samp(chain[:, 0], shot[:, 0]).pvalue > 0.01


@pytest.mark.parametrize("t", [2, 7, 20])
def test_the_posterior_is_bayes_rule_by_integration(t):
    betas = ddpm.linear_betas(20, 0.05, 0.4)
    abar, x0, xt = ddpm.alpha_bar(betas).numpy(), 0.7, -0.4
    alpha, beta = 1 - betas[t - 1].item(), betas[t - 1].item()

    def product(x):
        return stats.norm.pdf(xt, alpha**0.5 * x, beta**0.5) * stats.norm.pdf(
            x, abar[t - 1] ** 0.5 * x0, (1 - abar[t - 1]) ** 0.5
        )

    total, mean, square = (
        integrate.quad(lambda x, k=k: x**k * product(x), -12, 12, limit=200)[0] for k in range(3)
    )
    got_mean, got_var = ddpm.posterior(
        torch.tensor([[x0]], dtype=torch.float64),
        torch.tensor([[xt]], dtype=torch.float64),
        torch.tensor([t]),
        betas,
    )
    assert got_mean.item() == pytest.approx(mean / total, abs=1e-8)
    assert got_var.item() == pytest.approx(square / total - (mean / total) ** 2, abs=1e-8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_posterior_is_a_conditional_of_the_joint_gaussian(dtype, g):
    """x_{t-1} and x_t given x_0 have covariance sqrt(alpha_t) (1 - abar_{t-1})."""
    betas, t = ddpm.linear_betas(9, 0.1, 0.5), torch.tensor([4, 9, 2])
    x0, xt = randn(3, 2, g=g, dtype=dtype), randn(3, 2, g=g, dtype=dtype)
    abar, alpha = ddpm.alpha_bar(betas), (1 - betas)[t - 1]
    cross = alpha.sqrt() * (1 - abar[t - 1])
    gain = cross / (1 - abar[t])
    mean = abar[t - 1].sqrt()[:, None] * x0 + gain[:, None] * (xt - abar[t].sqrt()[:, None] * x0)
    got_mean, got_var = ddpm.posterior(x0, xt, t, betas.to(dtype))
    close(got_mean, mean, dtype)
    close(got_var, 1 - abar[t - 1] - gain * cross, dtype)


def test_at_the_first_step_the_posterior_is_the_clean_sample(g):
    x0, xt = randn(2, 3, g=g), randn(2, 3, g=g)
    mean, var = ddpm.posterior(x0, xt, torch.tensor([1, 1]), ddpm.linear_betas(5, 0.1, 0.3))
    close(mean, x0)
    close(var, torch.zeros(2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_loss_is_the_mean_squared_error_times_the_dimension(dtype, g):
    betas, net = ddpm.linear_betas(10, 0.05, 0.3).to(dtype), torch.nn.Linear(3, 3).to(dtype)
    x0, eps, t = (
        randn(5, 3, g=g, dtype=dtype),
        randn(5, 3, g=g, dtype=dtype),
        torch.tensor([1, 10, 4, 4, 7]),
    )

    def model(x, t):
        return net(x) * t[:, None]

    want = 3 * torch.nn.functional.mse_loss(model(ddpm.q_sample(x0, t, eps, betas), t), eps)
    close(ddpm.ddpm_loss(model, x0, t, eps, betas), want, dtype)


def test_a_predictor_that_says_zero_has_the_dimension_as_loss(g):
    eps = randn(20_000, 4, g=g)
    loss = ddpm.ddpm_loss(
        lambda x, t: 0 * x,
        torch.zeros_like(eps),
        torch.ones(len(eps), dtype=torch.long),
        eps,
        ddpm.linear_betas(5),
    )
    assert loss.item() == pytest.approx(4, abs=0.1)  # standard error 0.02


@pytest.mark.parametrize("predictor", ["tanh", "perfect"])
def test_the_gradient_by_hand_is_autograds(predictor, g):
    betas, t = ddpm.linear_betas(6, 0.1, 0.4), torch.tensor([6, 1, 3])
    x0, eps, W = randn(3, 2, g=g), randn(3, 2, g=g), randn(2, 2, g=g).requires_grad_(True)
    says = (
        (lambda x, t: (x @ W).tanh() + t[:, None] / 10)
        if predictor == "tanh"
        else (lambda x, t: eps + 0 * (x @ W))
    )
    loss = ddpm.ddpm_loss(says, x0, t, eps, betas)
    report = ddpm.loss_report(x0, t, eps, betas, W.detach(), predictor)
    close(report["loss"], loss.detach())
    close(report["gradient"], torch.autograd.grad(loss, W)[0])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_step_with_the_true_noise_leads_to_the_posterior_mean(dtype, g):
    betas = ddpm.linear_betas(12, 0.05, 0.4).to(dtype)
    x0, eps = randn(4, 3, g=g, dtype=dtype), randn(4, 3, g=g, dtype=dtype)
    for t in (1, 5, 12):
        xt = ddpm.q_sample(x0, torch.full((4,), t), eps, betas)
        mean, _ = ddpm.posterior(x0, xt, torch.full((4,), t), betas)
        got = ddpm.ddpm_step(xt, t, eps, torch.zeros_like(x0), betas, betas)
        assert got.dtype == dtype
        torch.testing.assert_close(
            got, mean, rtol=1e-4 if dtype == torch.float32 else 1e-10, atol=1e-5
        )


def test_the_last_step_ignores_the_noise_and_the_others_scale_it_by_the_standard_deviation(g):
    betas, sigma2 = ddpm.linear_betas(5, 0.1, 0.3), ddpm.linear_betas(5, 0.2, 0.6)
    x, eps, z = (randn(2, 2, g=g) for _ in range(3))
    close(
        ddpm.ddpm_step(x, 1, eps, z, betas, sigma2), ddpm.ddpm_step(x, 1, eps, 0 * z, betas, sigma2)
    )
    difference = ddpm.ddpm_step(x, 4, eps, z, betas, sigma2) - ddpm.ddpm_step(
        x, 4, eps, 0 * z, betas, sigma2
    )
    close(difference, math.sqrt(sigma2[3]) * z)


def test_the_exact_reverse_walk_of_standard_normal_data_stays_standard_normal():
    """For N(0, 1) data eps-hat = sqrt(1 - abar) x, and with sigma2 = beta a step maps variance 1 to 1, exactly."""
    betas = ddpm.linear_betas(100, 1e-3, 0.2)
    for t in (2, 50, 100):
        one = torch.ones(1, 1, dtype=torch.float64)
        eps_hat = (1 - ddpm.alpha_bar(betas)[t]).sqrt() * one
        slope = ddpm.ddpm_step(one, t, eps_hat, 0 * one, betas, betas)
        noise = ddpm.ddpm_step(0 * one, t, 0 * one, one, betas, betas)
        close(slope**2 + noise**2, one)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_additive_walk_is_its_weighted_sum(dtype, g):
    sigma2, v0 = 0.3, 1.4
    x_T, z = randn(5, 2, g=g, dtype=dtype), randn(8, 5, 2, g=g, dtype=dtype)
    walk = ddpm.sample_ve(lambda x, t: t * sigma2 * x / (v0 + t * sigma2), x_T, z, sigma2)
    assert walk.dtype == dtype
    close(ddpm.sample_ve_gaussian(x_T, z, sigma2, v0), walk, dtype)


def two_modes(x, v):
    """Score of the mixture of N(-1.6, 0.25 + v) and N(1.6, 0.25 + v) by autograd."""
    x = x.detach().requires_grad_(True)
    parts = torch.stack([-(x - m).square() / (2 * (0.25 + v)) for m in (-1.6, 1.6)])
    return torch.autograd.grad(torch.logsumexp(parts, 0).sum(), x)[0]


def test_the_repaired_algorithm_5_arrives_and_the_printed_one_does_not(g):
    sigma2, T, n = 0.05, 400, 4000
    x_T, z = math.sqrt(T * sigma2) * randn(n, 1, g=g), randn(T, n, 1, g=g)

    def exact(x, t):
        return -t * sigma2 * two_modes(x, t * sigma2)

    repaired = ddpm.sample_ve(exact, x_T, z, sigma2)
    printed = ddpm.sample_ve(
        lambda x, t: sigma2 * exact(x, t), x_T, z, sigma2
    )  # sigma2 / t in place of 1 / t
    assert repaired.std().item() == pytest.approx(math.sqrt(1.6**2 + 0.25), rel=0.03)
    assert printed.std().item() > 5
    assert (repaired > 0).double().mean().item() == pytest.approx(0.5, abs=0.03)


def test_functions_leave_their_arguments_as_they_were(g):
    betas, t = ddpm.linear_betas(6, 0.1, 0.4), torch.tensor([2, 5])
    x0, eps = randn(2, 3, g=g), randn(2, 3, g=g)
    before = copy.deepcopy((x0, eps, t, betas))
    ddpm.q_sample(x0, t, eps, betas), ddpm.posterior(x0, eps, t, betas)
    ddpm.ddpm_step(x0, 3, eps, eps, betas, betas), ddpm.ddpm_loss(lambda x, t: x, x0, t, eps, betas)
    ddpm.sample_ve(lambda x, t: x, x0, eps[None], 0.3)
    assert all(torch.equal(a, b) for a, b in zip(before, (x0, eps, t, betas), strict=True))


def test_images_with_several_axes_are_rows_too(g):
    betas, t = ddpm.linear_betas(6, 0.1, 0.4), torch.tensor([2, 5])
    x0, eps = randn(2, 3, 4, g=g), randn(2, 3, 4, g=g)
    flat = ddpm.q_sample(x0.flatten(1), t, eps.flatten(1), betas)
    close(ddpm.q_sample(x0, t, eps, betas).flatten(1), flat)
    mean, var = ddpm.posterior(x0, eps, t, betas)
    flat_mean, flat_var = ddpm.posterior(x0.flatten(1), eps.flatten(1), t, betas)
    close(mean.flatten(1), flat_mean)
    close(var, flat_var)


def test_references_run_on_the_meta_device():
    x, t = torch.zeros(2, 3, device="meta"), torch.ones(2, dtype=torch.long, device="meta")
    betas = torch.zeros(5, device="meta")
    assert ddpm.q_sample(x, t, x, betas).shape == (2, 3)
    assert ddpm.posterior(x, x, t, betas)[1].shape == (2,)
    assert ddpm.ddpm_step(x, 3, x, x, betas, betas).shape == (2, 3)
    assert ddpm.ddpm_loss(lambda x, t: x, x, t, x, betas).shape == ()
    assert ddpm.sample_ve_gaussian(x, torch.zeros(4, 2, 3, device="meta"), 0.1, 1.0).shape == (2, 3)


def test_the_network_is_exact_at_pure_noise_and_reads_t_and_label():
    torch.manual_seed(0)
    net = ddpm.Denoiser(torch.tensor([0.3, 0.999999]), dim=4, width=16)
    x, label = torch.randn(3, 4), torch.tensor([1, 2, 3])
    torch.testing.assert_close(net(x, torch.tensor([2, 2, 2]), label), x, atol=5e-3, rtol=0)
    assert not torch.allclose(
        net(x, torch.tensor([1, 1, 1]), label), net(x, torch.tensor([1, 1, 1]), label.flip(0))
    )


def test_a_short_training_learns_and_repeats():
    run = ddpm.train_digits("cpu", 120, batch=64, width=64)
    again = ddpm.train_digits("cpu", 120, batch=64, width=64)
    assert run["losses"].shape == (120,)
    assert run["losses"][-20:].mean() < 0.7 * run["losses"][:5].mean()
    assert torch.equal(run["losses"], again["losses"])
    labels = torch.arange(10)
    images = ddpm.sample_digits(run["net"], run["betas"], labels, seed=1)
    assert images.shape == (10, 64) and torch.isfinite(images).all()
    assert torch.equal(images, ddpm.sample_digits(run["net"], run["betas"], labels, seed=1))


def test_the_joint_density_of_two_steps_is_their_product():
    """q(x_1, x_2 | x_0) as one Gaussian, against the product of the steps."""
    b1, b2, x0, x1, x2 = 0.3, 0.5, 0.8, 0.1, -0.9
    betas = torch.tensor([b1, b2], dtype=torch.float64)
    abar = ddpm.alpha_bar(betas)
    cross = math.sqrt(1 - b2) * b1
    joint = MultivariateNormal(
        torch.stack([abar[1].sqrt(), abar[2].sqrt()]) * x0,
        torch.tensor([[b1, cross], [cross, 1 - abar[2].item()]], dtype=torch.float64),
    )
    steps = stats.norm.logpdf(x1, math.sqrt(1 - b1) * x0, math.sqrt(b1)) + stats.norm.logpdf(
        x2, math.sqrt(1 - b2) * x1, math.sqrt(b2)
    )
    assert joint.log_prob(torch.tensor([x1, x2], dtype=torch.float64)).item() == pytest.approx(
        steps, rel=1e-10
    )


# ------------------------------------------------------------ what it draws


@pytest.fixture
def schedules():
    return {
        "linear": ddpm.linear_betas(1000),
        "cosine": ddpm.cosine_betas(1000),
        "constant": torch.full((1000,), 0.01).double(),
    }


CENTRES = np.array([[-1.3, 0.9], [1.3, 0.9], [0.2, -1.4]])


def numbers(words):
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", words)]


def test_the_signal_curve_is_a_running_product(schedules):
    curve = pictures.signal_left(schedules["linear"])
    assert curve[0] == 1 and len(curve) == 1001
    assert curve[3] == pytest.approx(np.prod(1 - np.linspace(1e-4, 0.02, 1000)[:3]))
    assert pictures.half_step(schedules["linear"]) == 259


def test_noised_keeps_its_noise_from_step_to_step(schedules):
    image = np.ones(64)
    curve = pictures.signal_left(schedules["linear"])
    eps = [
        (pictures.noised(image, schedules["linear"], t) - np.sqrt(curve[t])) / np.sqrt(1 - curve[t])
        for t in (10, 900)
    ]
    np.testing.assert_allclose(*eps, rtol=1e-9)
    np.testing.assert_array_equal(pictures.noised(image, schedules["linear"], 0), image)


def test_noising_ends_in_a_standard_normal_cloud(schedules):
    path = pictures.noising(np.full((4000, 1), 3.0), schedules["linear"])
    assert path.shape == (1001, 4000, 1) and (path[0] == 3).all()
    assert abs(path[-1].mean()) < 0.06 and abs(path[-1].std() - 1) < 0.05
    assert abs(path[259].mean() - 3 * np.sqrt(0.5)) < 0.05


def test_denoising_with_the_exact_predictor_keeps_a_gaussian():
    betas = ddpm.linear_betas(50, 0.002, 0.4)
    abar = ddpm.alpha_bar(betas)

    def exact(x, t):
        return (1 - abar[t]).sqrt() * x / (0.25 * abar[t] + 1 - abar[t])  # data N(0, 0.25 I)

    path = pictures.denoising(ddpm.ddpm_step, exact, betas, betas, n=3000)
    assert path.shape == (51, 3000, 2)
    assert abs(path[50].std() - 1) < 0.05 and abs(path[0].std() - 0.5) < 0.06


def test_shares_and_spread_count_what_they_say():
    points = np.concatenate([np.tile(CENTRES[0], (6, 1)), np.tile(CENTRES[2] + [0.3, 0.4], (4, 1))])
    np.testing.assert_allclose(pictures.mode_shares(points, CENTRES), [0.6, 0, 0.4])
    assert pictures.spread_round(points, CENTRES) == pytest.approx(np.sqrt(0.4 * 0.25 / 2))


def test_the_schedule_explorer_tells_signal_and_noise_at_every_step(schedules):
    widget = Explorer(
        lambda schedule, t: pictures.draw_schedule(schedules, schedule, t, np.ones(64)),
        dict(
            schedule=ipywidgets.Dropdown(options=list(schedules)),
            t=ipywidgets.IntSlider(259, min=0, max=1000),
        ),
    )
    assert "signal factor 0.707, noise factor 0.707" in widget.words
    widget.controls["t"].value = 1000
    assert "signal factor 0.006, noise factor 1.000" in widget.words
    widget.controls["t"].value = 0
    assert "signal factor 1.000, noise factor 0.000, signal-to-noise ratio infinite" in widget.words
    widget.controls["schedule"].value = "cosine"
    assert "equal at step 496" in widget.words
    widget.controls["schedule"].value = "constant"
    assert "equal at step 69" in widget.words


def test_the_walk_gathers_round_the_centres_as_t_falls():
    betas = ddpm.linear_betas(100, 1e-3, 0.2)
    curve = ddpm.alpha_bar(betas)

    def exact(x, t):
        centres, weights = torch.tensor(CENTRES), torch.tensor([0.5, 0.3, 0.2]).double()
        gaps = curve[t].sqrt() * centres - x[:, None]
        share = torch.softmax(
            weights.log() - gaps.square().sum(-1) / (2 * (curve[t] * 0.15**2 + 1 - curve[t])), 1
        )
        score = (share[..., None] * gaps).sum(1) / (curve[t] * 0.15**2 + 1 - curve[t])
        return -(1 - curve[t]).sqrt() * score

    walks = {
        "denoising": pictures.denoising(ddpm.ddpm_step, exact, betas, betas, n=600),
        "noising": pictures.noising(np.repeat(CENTRES, 200, 0), betas),
    }
    widget = Explorer(
        lambda direction, t: pictures.draw_walk(
            walks[direction], t, betas, CENTRES, [0.5, 0.3, 0.2], direction
        ),
        dict(
            direction=ipywidgets.Dropdown(options=["denoising", "noising"]),
            t=ipywidgets.IntSlider(100, min=0, max=100),
        ),
    )
    far = numbers(widget.words)[-1]
    widget.controls["t"].value = 0
    shares, near = numbers(widget.words)[3:9:2], numbers(widget.words)[-1]
    assert near < 0.3 < 1 < far
    np.testing.assert_allclose(
        shares, [50, 30, 20], atol=7
    )  # three standard errors of 600 points: 6
    widget.controls["direction"].value = "noising"
    assert widget.words.startswith("Noising, step 0") and numbers(widget.words)[-1] == 0
    widget.controls["t"].value = 100
    assert numbers(widget.words)[-1] > 1


def test_the_score_picture_measures_the_error_of_what_is_learned():
    grid = np.array([[0.0, 1.0], [1.0, 0.0]])
    exact = -grid
    assert pictures.relative_error(1.2 * exact, exact) == pytest.approx(0.2)
    widget = Explorer(
        lambda t: pictures.draw_scores(grid, exact, (1 + t / 100) * exact, grid, t, 100),
        dict(t=ipywidgets.IntSlider(22, min=0, max=100)),
    )
    assert "by less than 30%" in widget.words
    widget.controls["t"].value = 57
    assert "by less than 60%" in widget.words


def test_the_film_of_digits_tells_how_far_it_is_from_its_end():
    t = np.arange(201)[:, None, None] / 100
    path, guesses = t * np.ones((201, 10, 64)), 0.5 * t * np.ones((201, 10, 64))
    widget = Explorer(
        lambda t: pictures.draw_denoising(path, guesses, t),
        dict(t=ipywidgets.IntSlider(80, min=0, max=200)),
    )
    assert "0.8 away" in widget.words and "guesses about 0.4" in widget.words
    widget.controls["t"].value = 0
    assert "0.0 away" in widget.words


def test_pictures_tell_the_numbers_that_they_draw():
    strip = pictures.draw_strip(
        np.zeros((2, 64)), np.stack([np.zeros(64), np.full(64, 0.5)]), [10, 1000], np.zeros(64)
    )[1]
    assert "Up to t = 10" in strip and "off by 0.5" in strip
    times = [1, 100]
    assert "more than 100 times" in pictures.draw_targets(times, [[1.0, 1.0], [300.0, 1.0]])[1]
    assert "more than 10 times" in pictures.draw_targets(times, [[1.0, 1.0], [30.0, 1.0]])[1]
    repair = pictures.draw_repair(np.array([-10.0, 10.0]), np.array([-2.0, 2.0]), lambda x: 0 * x)[
        1
    ]
    assert "sd 10.0" in repair and "2.00" in repair and "50%" in repair
    sizes = pictures.draw_sizes(np.array([0.1, 0.2]), 3.0, 0.75)[1]
    assert "from 0.10 to 0" in sizes and "75%" in sizes
    shortcut = pictures.draw_shortcut(np.linspace(0, 1, 50), np.linspace(0.5, 1.5, 50), 7)[1]
    assert "less than 0.6 apart" in shortcut
    weights = pictures.draw_weights(np.array([0.5, 0.01, 0.05]), np.array([0.6, 0.05]))[1]
    assert "0.50 at t = 1" in weights and "0.050 at t = 3" in weights and "0.60" in weights
    training = pictures.draw_training(
        np.linspace(1, 0.1, 100), [1, 5, 9], [0.9, 0.5, 0.2], [50.0, 2.0, 0.3], [0.0, 0.1, 0.05]
    )[1]
    assert "from 1.0 to 0.1" in training and "up to t = 5" in training
    assert "largest near t = 5" in training
    assert "20 images" in pictures.draw_digits(np.zeros((20, 64)), range(10))[1]

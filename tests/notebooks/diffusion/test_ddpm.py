"""References and pictures of 15_diffusion/03_ddpm against closed forms, integrals, simulation and torch."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from descent.pictures.diffusion import ddpm as pictures
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/03_ddpm"
ref = notebook_module(NOTEBOOK, "reference")
LINEAR = torch.linspace(1e-3, 0.2, 100).double()


def test_hos_schedule_keeps_four_hundred_thousandths_of_the_power():
    abar = ref.alpha_bar(torch.linspace(1e-4, 0.02, 1000, dtype=torch.float64))
    by_numpy = np.exp(np.sum(np.log1p(-np.linspace(1e-4, 0.02, 1000))))
    assert abar[1000].item() == pytest.approx(by_numpy, rel=1e-10)
    assert by_numpy == pytest.approx(4.036e-5, rel=1e-3)
    assert abar[0] == 1 and abs(abar - 0.5).argmin() == 259


@pytest.mark.parametrize("steps", [10, 200, 1000])
def test_the_cosine_schedule_has_its_signal_curve(steps):
    betas = ref.cosine_betas(steps)
    t = torch.arange(steps, dtype=torch.float64)  # the last step is capped
    curve = torch.cos((t / steps + 0.008) / 1.008 * math.pi / 2) ** 2
    torch.testing.assert_close(ref.alpha_bar(betas)[:-1], curve / curve[0])
    assert ((betas > 0) & (betas <= 0.999)).all()


def test_the_chain_is_the_step_repeated(g):
    x0, z = randn(4, 2, g=g), randn(6, 4, 2, g=g)
    betas = torch.tensor([0.1, 0.5, 0.02, 0.3, 0.999, 0.2]).double()
    path = [x0]
    for noise, beta in zip(z, betas, strict=True):
        path.append((1 - beta).sqrt() * path[-1] + beta.sqrt() * noise)
    torch.testing.assert_close(ref.noise_chain(x0, z, betas), torch.stack(path))


def test_a_jump_has_the_law_of_a_walk(g):
    betas, n = torch.linspace(0.02, 0.3, 30).double(), 4000
    x0 = torch.where(torch.arange(n) % 2 == 0, -1.0, 2.0).double()[:, None]
    walked = ref.noise_chain(x0, randn(30, n, 1, g=g), betas)[30]
    jumped = ref.q_sample(x0, torch.full((n,), 30), randn(n, 1, g=g), betas)
    assert stats.ks_2samp(walked[:, 0], jumped[:, 0]).pvalue > 0.01


@pytest.mark.parametrize("left", [0.05, 0.5, 0.95])
def test_the_best_noise_is_the_mean_over_all_that_may_have_been_added(left):
    points, x = torch.tensor([[-1.0], [0.2], [1.5]]).double(), torch.tensor([[0.4]]).double()

    def density(
        eps,
    ):  # of the noise together with what is seen: x - sqrt(1 - left) eps is a point, blurred a little
        gaps = (0.4 - (1 - left) ** 0.5 * eps) / left**0.5 - points[:, 0].numpy()
        return stats.norm.pdf(eps) * stats.norm.pdf(gaps, 0, 1e-3).sum()

    peaks = ((0.4 - left**0.5 * points[:, 0].numpy()) / (1 - left) ** 0.5).tolist()
    total, mean = (
        sum(integrate.quad(lambda e, k=k: e**k * density(e), p - 0.1, p + 0.1)[0] for p in peaks)
        for k in (0, 1)
    )
    assert ref.best_noise(x, left, points).item() == pytest.approx(mean / total, abs=2e-3)


@pytest.mark.parametrize("t", [2, 7, 20])
def test_the_posterior_is_bayes_rule_by_integration(t):
    betas = torch.linspace(0.05, 0.4, 20).double()
    abar, x0, xt = ref.alpha_bar(betas).numpy(), 0.7, -0.4
    alpha, beta = 1 - betas[t - 1].item(), betas[t - 1].item()

    def product(x):
        forth = stats.norm.pdf(xt, alpha**0.5 * x, beta**0.5)
        return forth * stats.norm.pdf(x, abar[t - 1] ** 0.5 * x0, (1 - abar[t - 1]) ** 0.5)

    total, mean, square = (
        integrate.quad(lambda x, k=k: x**k * product(x), -12, 12, limit=200)[0] for k in range(3)
    )
    got_mean, got_var = ref.posterior(*torch.tensor([x0, xt]).double(), t, betas)
    assert got_mean.item() == pytest.approx(mean / total, abs=1e-7)
    assert got_var.item() == pytest.approx(square / total - (mean / total) ** 2, abs=1e-7)


def test_the_share_of_the_noise_is_what_regression_finds(g):
    """The text's rule: of the whole noise, the last step's part is guessed by its share of the variance."""
    betas, n = torch.linspace(0.1, 0.4, 5).double(), 200_000
    z = randn(5, n, 1, g=g)
    whole = ref.noise_chain(torch.zeros(n, 1).double(), z, betas)[5]
    last = betas[4].sqrt() * z[4]
    slope = (whole * last).mean() / (whole * whole).mean()
    share = betas[4] / (1 - ref.alpha_bar(betas)[5])
    assert slope.item() == pytest.approx(share.item(), abs=0.01)


def test_a_walk_under_a_model_that_is_blind_to_x_has_a_closed_form():
    """With W = 0 the model says t / 10."""
    x, z, W = torch.zeros(1, 1).double(), torch.ones(3, 1, 1).double(), torch.zeros(1, 1).double()
    betas = torch.tensor([0.1, 0.2, 0.3]).double()
    walk = ref.ddpm_sample(x, z, betas, betas, W)
    mean = -(0.3 / (1 - 0.9 * 0.8 * 0.7) ** 0.5) * 0.3 / 0.7**0.5
    assert walk["states"][2].item() == pytest.approx(mean + 0.3**0.5)
    assert walk["asked"] == [3, 2, 1]
    guess = -((1 - 0.9 * 0.8 * 0.7) ** 0.5) * 0.3 / (0.9 * 0.8 * 0.7) ** 0.5
    assert walk["guesses"][2].item() == pytest.approx(guess)
    still = ref.ddpm_sample(x, 0 * z, betas, betas, W)["states"]
    carried = (walk["states"][0] - still[0]).item()
    assert carried == pytest.approx(_carried(betas).item())


def _carried(betas):
    """What is left at time 0 of a noise of 1 in each step but the last."""
    at_two = betas[2].sqrt()
    at_one = at_two / (1 - betas[1]).sqrt() + betas[1].sqrt()
    return at_one / (1 - betas[0]).sqrt()


@pytest.mark.parametrize("perfect", [False, True])
def test_the_gradient_by_hand_is_autograds(perfect, g):
    betas, t = torch.linspace(0.1, 0.4, 6).double(), torch.tensor([6, 1, 3])
    x0, eps, W = randn(3, 2, g=g), randn(3, 2, g=g), randn(2, 2, g=g).requires_grad_(True)
    xt = ref.q_sample(x0, t, eps, betas)
    says = eps + 0 * (xt @ W) if perfect else (xt @ W).tanh() + t[:, None] / 10
    loss = 2 * torch.nn.functional.mse_loss(says, eps)
    report = ref.loss_report(x0, t, eps, betas, W.detach(), perfect)
    torch.testing.assert_close(report["loss"], loss.detach(), rtol=1e-6, atol=1e-9)
    gradient = torch.autograd.grad(loss, W)[0]
    torch.testing.assert_close(report["gradient"], gradient, rtol=1e-6, atol=1e-9)


def test_training_by_hand_is_torchs_adam_with_a_linear_schedule(g):
    x0, y = randn(5, 2, g=g).float(), torch.tensor([0, 1, 1, 0, 2])
    betas, W, V = LINEAR[::20].float(), randn(2, 2, g=g).float(), randn(3, 2, g=g).float()
    got = ref.train(x0, y, betas, W, V, 5, 4, 0.2, seed=3)
    weights = [W.clone().requires_grad_(True), V.clone().requires_grad_(True)]
    adam = torch.optim.Adam(weights, 0.2)
    rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, total_iters=5)
    draws, losses = torch.Generator().manual_seed(3), []
    for _ in range(5):
        rows = torch.randint(5, (4,), generator=draws)
        t = torch.randint(1, len(betas) + 1, (4,), generator=draws)
        eps = torch.randn(4, 2, generator=draws)
        xt = ref.q_sample(x0[rows], t, eps, betas)
        says = (xt @ weights[0]).tanh() + t[:, None] / 10 * weights[1][y[rows]]
        losses.append((says - eps).square().sum() / 4)
        adam.zero_grad()
        losses[-1].backward()
        adam.step()
        rate.step()
    near = dict(rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got["losses"], torch.stack(losses).detach(), **near)
    torch.testing.assert_close(got["W"], weights[0].detach(), **near)
    torch.testing.assert_close(got["V"], weights[1].detach(), **near)


def test_the_additive_walk_is_its_weighted_sum(g):
    sigma2, v0, z = 0.3, 1.4, randn(8, 5, 2, g=g)
    x_T = x = randn(5, 2, g=g)
    for t in range(8, 0, -1):
        x = x - sigma2 * x / (v0 + t * sigma2) + (t > 1) * sigma2**0.5 * z[t - 1]
    torch.testing.assert_close(ref.sample_ve(x_T, z, sigma2, v0), x)


def test_the_three_losses_are_errors_in_three_units(g):
    x0, x_prev, xt, W = (randn(4, 2, g=g) for _ in range(4))
    t, W = torch.tensor([1, 3, 2, 5]), W[:2]
    s = (xt @ W).tanh() / t[:, None]
    v = 0.4 * t[:, None]
    errors = x_prev - xt - 0.4 * s, x0 - xt - v * s, xt - x0 + v * s
    want = [2 * (e**2).mean() for e in errors]
    for got, loss in zip(ref.ve_losses(x0, x_prev, xt, t, 0.4, W), want, strict=True):
        torch.testing.assert_close(got, loss)


def test_the_network_is_exact_at_pure_noise_and_reads_t_and_label():
    torch.manual_seed(0)
    net = ref.Denoiser(torch.tensor([0.3, 0.999999]), dim=4, width=16)
    x, label, one = torch.randn(3, 4), torch.tensor([1, 2, 3]), torch.tensor([1, 1, 1])
    torch.testing.assert_close(net(x, 2 * one, label), x, atol=5e-3, rtol=0)
    assert not torch.allclose(net(x, one, label), net(x, one, label.flip(0)))


def test_a_short_training_learns_and_repeats():
    run, again = (ref.train_digits("cpu", 120, batch=64, width=64) for _ in range(2))
    assert run["losses"][-20:].mean() < 0.7 * run["losses"][:5].mean()
    assert torch.equal(run["losses"], again["losses"])


# ------------------------------------------------------------ what it draws


def test_the_score_of_a_mixture_is_the_slope_of_its_log_density():
    means, shares = (
        torch.tensor([[-1.0, 0.5], [2.0, 0.0]]).double(),
        torch.tensor([0.3, 0.7]).double(),
    )
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(1)).double().requires_grad_(True)
    var = 0.8**2 * 0.5**2 + 0.4
    fit = shares.log() - (x[:, None] - 0.8 * means).square().sum(-1) / (2 * var)
    slope = torch.autograd.grad(torch.logsumexp(fit, 1).sum(), x)[0]
    score = pictures.mixture_score(x.detach(), means, 0.5, shares, 0.8, 0.4)
    torch.testing.assert_close(score, slope)


def test_the_density_of_two_modes_sums_to_one():
    x = np.linspace(-9, 9, 4001)
    density = pictures.mixture_density(x, [-1.6, 1.6], 0.5)
    assert density.sum() * (x[1] - x[0]) == pytest.approx(1, abs=1e-6)
    assert density[np.abs(x - 1.6).argmin()] == pytest.approx(
        0.5 * stats.norm.pdf(0, 0, 0.5), rel=1e-3
    )


def test_what_is_reached_and_how_far_off_is_counted():
    points = pictures.spiral(120)
    assert points.shape == (120, 2) and points.var(0) == pytest.approx([1, 1], abs=0.15)
    ends = np.concatenate([np.tile(points[3], (6, 1)), np.tile(points[50] + [0.03, 0.04], (4, 1))])
    assert pictures.reached(ends, points) == 2
    assert pictures.spread_round(ends, points) == pytest.approx(math.sqrt(0.4 * 0.0025 / 2))


def test_the_clean_sample_is_a_quieter_target_the_more_steps_there_are(g):
    """For data N(0, 1) the gradient's variance has a closed form: s and the target's rest are independent."""
    sigma2, n = 0.05, 400_000
    for t in (1, 20):
        x0, v = randn(n, 1, g=g), t * sigma2
        x_prev = x0 + (v - sigma2) ** 0.5 * randn(n, 1, g=g)
        xt = x_prev + sigma2**0.5 * randn(n, 1, g=g)
        got = pictures.gradient_variance(
            lambda x, t, v=v: x * v / (1 + v), x0, x_prev, xt, t, sigma2
        )
        score = 1 / (1 + v)  # E s²
        want = [4 * score * (1 / size - score) for size in (sigma2, v)]
        assert got.numpy() == pytest.approx(want, rel=0.03)


@pytest.mark.parametrize("name, half", [("linear", 26), ("cosine", 50), ("constant", 7)])
def test_the_schedule_tells_signal_and_noise_at_every_step(name, half):
    widget = controls.explorer(NOTEBOOK, "draw_schedule", schedule=name)
    assert widget.words.facts["half"] == half
    for t in (1, 100):
        widget.controls["t"].value = t
        facts = widget.words.facts
        assert facts["t"] == t and facts["signal"] ** 2 + facts["noise"] ** 2 == pytest.approx(1)
    assert facts["signal"] < 0.02


def test_the_signal_is_a_product_of_roots():
    widget = controls.explorer(NOTEBOOK, "draw_schedule", schedule="linear", t=3)
    betas = np.linspace(1e-3, 0.2, 100)[:3]
    assert widget.words.facts["signal"] == pytest.approx(np.sqrt(np.prod(1 - betas)))


def test_the_artists_guesses_come_nearer_to_the_end_as_it_walks():
    widget = controls.explorer(NOTEBOOK, "draw_denoising")
    move, far = [], []
    for walked in (10, 50, 90, 100):
        widget.controls["walked"].value = walked
        assert widget.words.facts["t"] == 100 - walked
        move.append(widget.words.facts["move"])
        far.append(widget.words.facts["far"])
    assert move == sorted(move, reverse=True) and far == sorted(far, reverse=True)
    assert move[-1] == far[-1] == 0 and all(f < m for f, m in zip(far[:2], move, strict=False))


def test_the_learned_score_is_best_in_the_middle_of_the_way():
    widget = controls.explorer(NOTEBOOK, "draw_field")
    bounds = {}
    for t in (1, 40):
        widget.controls["t"].value = t
        bounds[t] = widget.words.facts["bound"]
    assert bounds[40] < 0.3 < bounds[1]


def test_the_film_counts_who_comes_home():
    points = pictures.spiral(12)
    film = np.stack([points, points + 9.0, points * 0, points[::-1]])
    film[-1, 0] = points[0]  # eleven are exchanged, and one is home
    _, _, words, colors = pictures.there_and_back(film, points)
    assert words.facts["home"] == 1 and words.facts["T"] == 1 and words.facts["reached"] == 11
    assert len(colors) == 12 and len(set(colors)) == 6


def test_the_ends_of_every_walk_are_counted():
    points = pictures.spiral(12)
    _, words = pictures.draw_ends({"all": points, "one": points[:1]}, points)
    assert [told.facts["count"] for told in words.facts["told"]] == [12, 1]


def test_pictures_tell_the_numbers_that_they_draw():
    strip = pictures.draw_strip(
        np.zeros((2, 64)), np.stack([np.zeros(64), np.full(64, 0.5)]), [10, 90], np.zeros(64)
    )[1]
    assert (strip.facts["near"], strip.facts["last"], strip.facts["off"]) == (10, 90, 0.5)
    sinking = pictures.draw_sinking(np.zeros((3, 64)), [1, 0.5, 0], np.linspace(-1, 0.5, 64))[1]
    assert sinking.facts["n"] == 3 and sinking.facts["dark"] == 0.5
    targets = pictures.draw_targets([1, 100], [torch.ones(2), torch.tensor([300.0, 1.0])])[1]
    assert targets.facts["one"] == 1 and targets.facts["over"] == 100
    ends = np.array([-10.0, 10.0])
    repair = pictures.draw_repair(ends, ends / 5, lambda x: 0 * x)[1]
    assert (repair.facts["printed"], repair.facts["mended"], repair.facts["right"]) == (10, 2, 0.5)
    sizes = pictures.draw_sizes(np.array([1.0, 3.0]), 3.0)[1]
    assert (sizes.facts["first"], sizes.facts["last"], sizes.facts["late"]) == (1, 3, 0.75)
    shortcut = pictures.draw_shortcut(np.linspace(0, 1, 50), np.linspace(0.5, 1.5, 50), 7)[1]
    assert shortcut.facts["gap"] == pytest.approx(0.6)
    weights = pictures.draw_weights([0.5, 0.01, 0.05], [0.6, 0.05])[1]
    assert (weights.facts["first"], weights.facts["last"], weights.facts["second"]) == (
        0.5,
        0.05,
        0.6,
    )
    spreads = pictures.draw_spreads([5, 50], {"β": [0.4, 0.2], "β̃": [0.1, 0.15]}, 0.15)[1]
    assert (spreads.facts["wide"], spreads.facts["late_tight"]) == (0.4, 0.15)
    curves = {("artist", "known"): [3, 3], ("artist", "new"): [3, 3]}
    curves |= {("reciter", "known"): [1, 2], ("reciter", "new"): [9, 2]}
    losses = pictures.draw_losses([1, 2], curves)[1]
    assert (losses.facts["known"], losses.facts["new"]) == (0, 1)
    away = np.array([[0.6, 0.8]])
    scores = pictures.draw_scores(away, away, 1.25 * away, away, 3, 9)[1]
    assert scores.facts["bound"] == pytest.approx(0.3)
    states = np.array([0.0, 1.0, 2.0])[:, None, None] * np.ones((3, 10, 64))
    denoising = pictures.draw_denoising(states, states[:2] + 0.5, 2)[1]
    assert (denoising.facts["move"], denoising.facts["far"]) == (2, 1.5)

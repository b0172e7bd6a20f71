"""References and pictures of 15_diffusion/02_diffusion_chains against closed forms, integrals, simulation and torch."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch.distributions import Normal, kl_divergence

from descent.pictures.diffusion import diffusion_chains as pictures
from descent.pictures.diffusion.mixtures import Mixture, two_hills
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/02_diffusion_chains"
ref = notebook_module(NOTEBOOK, "reference")


def test_a_walk_is_the_step_repeated(g):
    x0, z = randn(4, 2, g=g), randn(6, 4, 2, g=g)
    path = [x0]
    for noise in z:
        path.append(path[-1] + 0.3**0.5 * noise)
    torch.testing.assert_close(ref.walks(x0, z, 0.3), torch.stack(path))


def test_the_line_of_a_step_is_the_gaussian_posterior(g):
    """Of data N(1, 2): slope and variance of x_{t-1} given x_t are known."""
    n, s, v0 = 400_000, 0.5, 2.0
    paths = ref.walks(1 + v0**0.5 * randn(n, g=g), randn(3, n, g=g), s)
    slope, offset, var = ref.fit_steps(paths)
    t = torch.arange(1, 4).double()
    want = (v0 + (t - 1) * s) / (v0 + t * s)
    torch.testing.assert_close(slope, want, atol=0.005, rtol=0)
    torch.testing.assert_close(offset, 1 - want, atol=0.01, rtol=0)
    torch.testing.assert_close(var, s * want, atol=0.005, rtol=0)


def test_walking_back_by_sums_is_the_step_repeated(g):
    x_T, z = randn(3, 2, g=g), randn(4, 3, 2, g=g)
    a, b, v = randn(4, g=g), randn(4, g=g), randn(4, g=g).square()
    path = [x_T]
    for t in (4, 3, 2, 1):
        path.append(a[t - 1] * path[-1] + b[t - 1] + v[t - 1].sqrt() * z[t - 1])
    got = ref.generate(x_T, z, a, b, v)
    torch.testing.assert_close(got["states"], torch.stack(path[::-1]))
    assert got["asked"] == [4, 3, 2, 1]


@pytest.mark.parametrize("t", [2, 3, 9])
def test_a_bridge_is_what_regression_finds_of_free_walks(t, g):
    n, s = 400_000, 0.6
    path = ref.walks(torch.zeros(n).double(), randn(t, n, g=g), s)
    slope, _, var = (value[-1].item() for value in ref.fit_steps(path))
    mean, width = ref.bridge(torch.zeros(1).double(), torch.ones(1).double(), t, s)
    assert slope == pytest.approx(mean.item(), abs=0.005)
    assert var == pytest.approx(width, rel=0.01)


@pytest.mark.parametrize("t", [1, 2, 7])
def test_averages_of_the_bridge_lose_a_constant_of_their_square(t, g):
    """(6.30): the mean squared distance to m is that of the mean, plus the variance, whatever m is."""
    mean, var = ref.bridge(torch.tensor([0.4]), torch.tensor([-1.0]), t, 0.3)
    draws = mean + var**0.5 * randn(200_000, g=g)
    for m in (-2.0, 0.5):
        got = (draws - m).square().mean() - (mean - m).square()
        assert got.item() == pytest.approx(var, abs=0.02)


@pytest.mark.parametrize("known", ["x0", "noise", "score", "mean"])
def test_every_name_leads_back_to_itself(known, g):
    xt, x0 = randn(5, g=g), randn(5, g=g)
    names = ref.convert("x0", x0, xt, 4, 0.3)
    again = ref.convert(known, names[known], xt, 4, 0.3)
    for name, value in names.items():
        torch.testing.assert_close(again[name], value)


def test_the_score_gives_the_mean_of_two_points_by_tanh():
    """Data at ±a: E[x0 | x] = a tanh(a x / v), and the score is that of a mixture, by autograd."""
    a, t, s = 1.3, 5, 0.2
    x = torch.linspace(-3, 3, 13).double().requires_grad_(True)
    fits = torch.stack([-((x - m) ** 2) / (2 * t * s) for m in (a, -a)])
    score = torch.autograd.grad(torch.logsumexp(fits, 0).sum(), x)[0]
    got = ref.convert("score", score, x.detach(), t, s)["x0"]
    torch.testing.assert_close(got, a * torch.tanh(a * x.detach() / (t * s)))


@pytest.mark.parametrize("v1, v2", [(0.3, 2.0), (1.7, 0.4), (1.0, 1.0)])
def test_the_divergence_is_torchs(v1, v2, g):
    m1, m2 = randn(4, 3, g=g), randn(4, 3, g=g)
    want = kl_divergence(Normal(m1, v1**0.5), Normal(m2, v2**0.5)).sum(-1)
    torch.testing.assert_close(ref.gauss_kl(m1, v1, m2, v2), want)


def test_unequal_spreads_cost_what_the_plan_says():
    same = torch.zeros(1).double()
    for t, want in ((2, 0.0966), (10, 0.0027)):
        got = ref.gauss_kl(same, (t - 1) / t, same, 1.0).item()
        assert got == pytest.approx(want, abs=1e-4)


@pytest.mark.parametrize("d", [1, 2])
def test_the_terms_are_the_bound_by_whole_paths(d, g):
    """Minus log of the model over q, for drawn paths, in the order in which each is defined."""
    n, T, s, P = 200_000, 3, 0.4, 2.0
    v, W = torch.tensor([0.3, 0.35, 0.5]).double(), randn(d, d, g=g)
    x0 = randn(n, d, g=g)
    path = ref.walks(x0, randn(T, n, d, g=g), s)
    log_q = sum(Normal(path[k], s**0.5).log_prob(path[k + 1]).sum(-1) for k in range(T))
    log_p = Normal(0.0, P**0.5).log_prob(path[T]).sum(-1)
    for t in range(T, 0, -1):
        guess = (path[t] @ W).tanh() + t / 10
        mean = path[t] + (guess - path[t]) / t
        log_p = log_p + Normal(mean, v[t - 1].sqrt()).log_prob(path[t - 1]).sum(-1)
    terms = ref.elbo_terms(x0, randn(T, n, d, g=g), s, v, P, W)["terms"]
    error = (log_q - log_p).std().item() / n**0.5
    assert (log_q - log_p).mean().item() == pytest.approx(terms.sum().item(), abs=6 * error)


def test_the_density_of_a_chain_integrates_to_one_and_has_its_marginal():
    a, v, v0 = torch.tensor([0.7]).double(), torch.tensor([0.5]).double(), 1.2
    x = torch.linspace(-9, 9, 721, dtype=torch.float64)
    grid = torch.stack(torch.meshgrid(x, x, indexing="ij"))[..., None]
    mass = ref.chain_loglik(grid, a, v, v0).exp().sum(0) * (x[1] - x[0])
    want = Normal(0 * x, (0.49 * 1.2 + 0.5) ** 0.5).log_prob(x).exp()
    torch.testing.assert_close(mass, want, atol=1e-8, rtol=1e-6)


# ------------------------------------------------------------ what it draws


def test_the_entropy_and_the_gap_of_one_gaussian_are_known():
    wide = Mixture.of([[0.3]], 1.4)
    assert pictures.entropy(wide) == pytest.approx(stats.norm(0, 1.4).entropy(), abs=1e-9)
    p = wide.density(pictures.LINE[:, None])
    assert pictures.gauss_gap(p) == pytest.approx(0, abs=1e-9)
    mean, var, skew = pictures.moments(p)
    assert (mean, var, skew) == pytest.approx((0.3, 1.96, 0), abs=1e-9)


def test_the_gap_is_a_difference_of_entropies():
    hills = two_hills()
    p = hills.density(pictures.LINE[:, None])
    bell = stats.norm(0, hills.covariance()[0, 0] ** 0.5).entropy()
    assert pictures.gauss_gap(p) == pytest.approx(bell - pictures.entropy(hills), abs=1e-6)
    assert pictures.gauss_gap(p) == pytest.approx(0.517, abs=5e-4)  # the first screen's
    assert pictures.hills(p) == 2


@pytest.mark.parametrize("sigma2", [0.02, 0.5, 4.0])
def test_the_step_back_by_the_grid_is_the_mixtures_posterior(sigma2):
    hills = two_hills()
    p = pictures.reverse_step(hills, 0.2, sigma2)
    exact = hills.posterior([0.2], 1, sigma2**0.5)
    mean, var, _ = pictures.moments(p)
    assert mean == pytest.approx(exact.mean()[0], abs=1e-6)
    assert var == pytest.approx(exact.covariance()[0, 0], abs=1e-6)


def test_the_gradients_spread_has_a_closed_form_for_gaussian_data():
    """Data N(0, 1): the rest of each target is independent of x_t, of a variance that is known."""
    rng, n, t, s = np.random.default_rng(0), 400_000, 6, 0.2
    x0 = rng.normal(size=(n, 1))
    x_prev = x0 + ((t - 1) * s) ** 0.5 * rng.normal(size=(n, 1))
    xt = x_prev + s**0.5 * rng.normal(size=(n, 1))
    mean, _ = ref.bridge(torch.tensor(x0), torch.tensor(xt), t, s)
    data = Mixture.of([[0.0]], 1.0)
    got = pictures.gradient_spread(data, t, s, x0, x_prev, xt, mean.numpy())
    seen = 1 + t * s
    left = t * s / seen  # Var(x0 | x_t)
    rest = np.array([s * (t - 1) / t + left / t**2, left / t**2])
    want = rest / (s**2 / seen)
    assert got[:2] == pytest.approx(want, rel=0.02)
    assert got[2] == pytest.approx(got[1], rel=1e-9)


def test_the_loss_of_a_chain_of_lines_is_the_divergence_of_two_gaussians():
    """Three lines from N(0, 2) end in a Gaussian of known mean and variance."""
    data = Mixture.of([[0.5]], 0.8)
    mean, var = 0.0, 2.0
    for t in (3, 2, 1):
        mean, var = 0.7 * mean + 0.1 * t, 0.49 * var + 0.2 * t
    want = kl_divergence(Normal(torch.tensor(0.5), 0.8), Normal(torch.tensor(mean), var**0.5))
    got = pictures.chain_loss(data, lambda x, t: (0.7 * x + 0.1 * t, 0.2 * t), 3, 2.0)
    assert got == pytest.approx(float(want), rel=1e-5)


def test_the_board_is_even_and_has_eight_squares():
    points = pictures.checkerboard(8000, np.random.default_rng(0))
    cells = np.floor(points + 2).astype(int)
    assert (cells.sum(1) % 2 == 0).all() and np.abs(points).max() <= 2
    _, counts = np.unique(cells, axis=0, return_counts=True)
    assert len(counts) == 8 and counts.min() > 850


def test_the_marginal_loses_its_hills_on_the_way():
    widget = controls.explorer(NOTEBOOK, "draw_marginal", t=0)
    assert widget.words.facts["count"] == 2
    gaps = []
    for t in (0, 25, 50, 100):
        widget.controls["t"].value = t
        facts = widget.words.facts
        assert facts["var"] == pytest.approx(facts["want"], rel=0.03)
        assert facts["want"] == pytest.approx(1.57639 + 0.04 * t, abs=1e-4)
        gaps.append(facts["gap"])
    assert gaps == sorted(gaps, reverse=True) and facts["count"] == 1


def test_with_one_step_the_truth_has_two_hills_and_with_many_one():
    widget = controls.explorer(NOTEBOOK, "draw_reverse", T=1)
    facts = widget.words.facts
    assert facts["count"] == 2 and facts["sigma2"] == 4 and facts["gap"] > 0.4
    widget.controls["T"].value = 1000
    assert widget.words.facts["count"] == 1
    for x1 in (-2.0, -0.5, 1.0):
        widget.controls["x1"].value = x1
        facts = widget.words.facts
        want = two_hills().denoised(np.array([x1]), 1, 0.004**0.5)[0]
        assert facts["mean"] == pytest.approx(want, abs=1e-6) and facts["gap"] < 0.01


def test_the_bridges_end_where_they_are_dragged():
    widget = controls.explorer(NOTEBOOK, "draw_bridges")
    for t, xt in ((2, -3.0), (40, 2.5)):
        widget.controls["t"].value, widget.controls["xt"].value = t, xt
        facts = widget.words.facts
        assert (facts["t"], facts["xt"]) == (t, xt)
        assert facts["want"] == pytest.approx(-1.5 / t + (1 - 1 / t) * xt)
        assert facts["law"] == pytest.approx(0.04 * (t - 1) / t)
        assert facts["got"] == pytest.approx(facts["want"], abs=4 * (facts["law"] / 80) ** 0.5)
        assert facts["wide"] == pytest.approx(2 * (0.04 * t / 4) ** 0.5, rel=0.01)


def test_the_score_of_now_is_exact_and_that_of_before_is_not():
    widget = controls.explorer(NOTEBOOK, "draw_kernel")
    for s in (0.1, 1.0):
        widget.controls["s"].value = s
        facts = widget.words.facts
        assert facts["now"] < 1e-9 < 0.01 < facts["before"]


def test_the_denoiser_knows_the_score_better_in_much_noise():
    widget, shares = controls.explorer(NOTEBOOK, "draw_dae"), []
    for v in (0.1, 3.0):
        widget.controls["v"].value = v
        shares.append(widget.words.facts["share"])
    assert shares[1] < 0.3 and shares[0] < 0.5


def test_pictures_tell_the_numbers_that_they_draw():
    hills, valley = two_hills(), np.full(100, -0.6)
    words = pictures.draw_drawn(hills, {"a": valley, "b": valley + 3}, "two")[1]
    assert [told.facts["low"] for told in words.facts["told"]] == [2.5, 0]
    price = pictures.draw_price([1, 2, 4], [0.5, 0.2, 0.04], [0.4, 0.1, 0.01], 0.05, 0.5)[1]
    assert (price.facts["enough"], price.facts["last"], price.facts["lost"]) == (4, 0.04, 0.01)
    spread = pictures.draw_spread([1, 9], [[1, 1, 1], [12, 3, 3]])[1]
    assert spread.facts["times"] == 4
    held = pictures.draw_heldout(np.zeros((3, 2)), {"one": -3.0}, -2.0)[1]
    assert held.facts["told"][0].facts["lost"] == 1
    errors = {"bound": [0.1, 0.9], "simple": [0.2, 0.3]}
    both = pictures.draw_weighting(np.array([1, 9]), errors, errors)[1]
    assert (both.facts["early"], both.facts["late"]) == (0.5, pytest.approx(3))
    problem = pictures.draw_problem(hills, np.array([[1.0, -1.0], [2.0, -2.0]]))[1]
    assert (problem.facts["first"], problem.facts["last"], problem.facts["T"]) == (1, 2, 1)

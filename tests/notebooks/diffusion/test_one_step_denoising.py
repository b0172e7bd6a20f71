"""References and pictures of 15_diffusion/01_one_step_denoising against counting, quadrature and closed forms."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from descent.pictures.diffusion import one_step_denoising as pictures
from descent.pictures.diffusion.mixtures import Mixture, ring, two_hills
from solutions import notebook_module
from tests.notebooks.controls import explorer

NOTEBOOK = "15_diffusion/01_one_step_denoising"
ref = notebook_module(NOTEBOOK, "reference")
LINE = np.linspace(-6, 6, 2401)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tensor(values):
    return torch.as_tensor(np.asarray(values)).double()


# The references.


def test_the_backward_kernel_is_what_a_head_count_finds():
    """A hundred people: everybody is written down, with where they start and where they go."""
    walks = (
        [(0, 0)] * 24 + [(0, 1)] * 12 + [(0, 2)] * 4 + [(1, 0)] * 6 + [(1, 1)] * 15 + [(1, 2)] * 9
    )
    walks += [(2, 0)] * 3 + [(2, 1)] * 12 + [(2, 2)] * 15
    q = tensor([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]])
    arrivals, r = ref.backward_kernel(torch.tensor([40, 30, 30]), q)
    for y in range(3):
        came = [x for x, end in walks if end == y]
        assert arrivals[y].item() == pytest.approx(len(came))
        assert r[y].tolist() == pytest.approx([came.count(x) / len(came) for x in range(3)])


def test_sent_back_every_state_has_what_it_had(rng):
    p, q = tensor(rng.dirichlet(np.ones(4))), tensor(rng.dirichlet(np.ones(6), size=4))
    arrivals, r = ref.backward_kernel(p, q)
    torch.testing.assert_close(arrivals @ r, p)
    torch.testing.assert_close(r.sum(1), torch.ones(6).double())


def test_numbers_spread_evenly_send_dots_in_the_kernels_shares():
    kernel = tensor([[0.2, 0.5, 0.3], [0.0, 0.9, 0.1]])
    u = (torch.arange(1000).double() + 0.5) / 1000
    for state in (0, 1):
        new = ref.move(torch.full((1000,), state), kernel, u)
        assert torch.bincount(new, minlength=3).tolist() == (1000 * kernel[state]).round().tolist()


@pytest.mark.parametrize("y", [-3.0, 0.0, 2.5])
def test_a_bell_has_a_bell_for_posterior(y):
    """Normal data N(1, v), a knock of variance s: N((y v + s) / (v + s), v s / (v + s))."""
    v, s = 0.8, 0.5
    r, noisy = ref.grid_posterior(tensor(LINE), tensor(stats.norm.pdf(LINE, 1, v**0.5)), y, s**0.5)
    mean, variance = (y * v + s) / (v + s), v * s / (v + s)
    np.testing.assert_allclose(r, stats.norm.pdf(LINE, mean, variance**0.5), atol=1e-7)
    assert noisy.item() == pytest.approx(stats.norm.pdf(y, 1, (v + s) ** 0.5), rel=1e-6)


def test_the_noisy_density_is_a_convolution_by_quadrature():
    def joint(x):
        return two_hills().density([x]) * stats.norm.pdf(0.4, x, 0.7)

    area = integrate.quad(joint, -8, 8, limit=200)[0]
    r, noisy = ref.grid_posterior(
        tensor(LINE), tensor(two_hills().density(LINE[:, None])), 0.4, 0.7
    )
    assert noisy.item() == pytest.approx(area, rel=1e-6)
    assert r[1300].item() == pytest.approx(joint(LINE[1300]) / area, rel=1e-6)


def test_the_score_of_a_crowd_is_the_slope_of_its_log_density(rng):
    crowd, y, eps, h = rng.normal(size=(6, 2)), rng.normal(size=(1, 2)), 1e-5, 0.7

    def log_density(place):
        return np.log(stats.norm.pdf(place, crowd, h).prod(1).mean())

    slope = [(log_density(y + e) - log_density(y - e)) / (2 * eps) for e in eps * np.eye(2)]
    assert ref.crowd_score(tensor(y), tensor(crowd), h)[0].tolist() == pytest.approx(
        slope, rel=1e-5
    )


def test_the_score_of_a_crowd_leads_to_the_best_guess(rng):
    """y + h² s(y) is E[x | y], if x is one of the dots and h is the knock: Bayes, dot by dot."""
    crowd, y = rng.normal(size=(5, 2)), np.array([0.3, -0.2])
    chance = np.prod(stats.norm.pdf(y, crowd, 0.8), axis=1)
    best = chance @ crowd / chance.sum()
    step = 0.8**2 * ref.crowd_score(tensor(y[None]), tensor(crowd), 0.8)[0]
    assert (tensor(y) + step).tolist() == pytest.approx(best.tolist())


@pytest.mark.parametrize("lam", [-0.5, 0.0, 0.5, 1.0, 1.7])
def test_spread_and_error_by_quadrature_in_two_dimensions(lam):
    v, s = 1.4, 0.6
    nodes, weights = np.polynomial.hermite_e.hermegauss(12)
    x, e = np.meshgrid(v**0.5 * nodes, s**0.5 * nodes)
    share = np.outer(weights, weights) / weights.sum() ** 2
    out = x + e - lam * s * (x + e) / (v + s)
    variance, error = ref.spread_and_error(lam, v, s)
    assert variance == pytest.approx((share * out**2).sum())
    assert error == pytest.approx((share * (out - x) ** 2).sum())


def test_the_error_is_least_for_the_whole_step_and_the_spread_right_near_half():
    shares = np.linspace(0, 2, 2001)
    variance, error = ref.spread_and_error(shares, 1.0, 0.1)
    assert shares[error.argmin()] == pytest.approx(1)
    assert shares[abs(variance - 1).argmin()] == pytest.approx(0.5, abs=0.015)
    assert ref.spread_and_error(0.5, 1.0, 0.5)[0] == pytest.approx(25 / 24)


def test_under_a_straight_score_the_rounds_have_a_closed_form():
    """With W = 0 the score is -x: a round multiplies x + σ z by 1 - λσ²."""
    up, down = tensor([[[1.0]], [[-2.0]]]), tensor([[[0.5]], [[4.0]]])
    got = ref.there_and_back(tensor([[2.0]]), up, down, 0.5, 0.8, tensor([[0.0]]))
    first = (2 + 0.5) * 0.8 + 0.25
    second = (first - 1) * 0.8 + 2
    assert got["film"].flatten().tolist() == pytest.approx([2, 2.5, first, first - 1, second])
    assert got["errors"].tolist() == pytest.approx([(first - 2) ** 2, (second - first) ** 2])


def test_the_change_is_that_of_a_random_walk_between_walls(rng):
    p, chance = rng.uniform(1, 5, 6), 0.2
    stays = np.diag([1 - chance, *[1 - 2 * chance] * 4, 1 - chance])
    walk = stays + chance * (np.eye(6, k=1) + np.eye(6, k=-1))
    got = ref.density_change(tensor(p), 0.5, 2 * chance * 0.5**2)
    assert got.tolist() == pytest.approx((p @ walk - p).tolist())
    assert got.sum().item() == pytest.approx(0, abs=1e-12)


# What the pictures compute.


def test_bayes_brings_the_crowd_home_and_a_bell_of_guesses_is_too_narrow():
    bell, sigma = Mixture.of([[0.0]], 0.5), 0.3
    assert pictures.travel(bell, sigma, "Bayes") == pytest.approx(0, abs=1e-9)
    # between bells of one mean, W₁ is the difference of the standard deviations times E|z|
    narrow = 1 - (1 + 0.36) ** -0.5  # σ² is 0.36 of the variance
    known = 0.5 * narrow * (2 / np.pi) ** 0.5
    assert pictures.travel(bell, sigma, "best guess") == pytest.approx(known, rel=1e-4)
    wide = (1 + 0.36**2 / (1 + 0.36)) ** 0.5 - 1
    got = pictures.travel(bell, sigma, "bell, score of p̃")
    assert got == pytest.approx(0.5 * wide * (2 / np.pi) ** 0.5, rel=1e-4)


def test_the_kl_of_a_bell_has_its_closed_form():
    """Of N(0, 1), σ² = s: r = N(y / (1 + s), s / (1 + s)), the bell N((1 - s) y, s)."""
    s, y = 0.3, 0.7
    mean, variance = y / (1 + s), s / (1 + s)
    known = 0.5 * (variance / s + (mean - (1 - s) * y) ** 2 / s - 1 - np.log(variance / s))
    assert pictures.kernel_kl(Mixture.of([[0.0]], 1.0), y, s**0.5) == pytest.approx(known, rel=1e-6)


def test_bend_and_curvature_are_second_differences():
    hills, x, h = two_hills(), np.array([-1.7, 0.2, 1.1]), 1e-3
    low, mid, high = (hills.density((x + k * h)[:, None]) for k in (-1, 0, 1))
    assert pictures.bend(hills, x) == pytest.approx((low - 2 * mid + high) / h**2, rel=1e-3)
    logs = [hills.log_density([0.2 + k * h]) for k in (-1, 0, 1)]
    second = (logs[0] - 2 * logs[1] + logs[2]) / h**2
    assert pictures.curvature(hills, 0.2) == pytest.approx(second, rel=1e-3)


def test_quantiles_have_the_mixtures_mean_and_variance():
    dots = pictures.quantiles(two_hills(), 4000)
    assert dots.mean() == pytest.approx(two_hills().mean()[0], abs=1e-3)
    assert dots.var() == pytest.approx(two_hills().covariance()[0, 0], rel=2e-3)


def test_the_spread_is_counted_from_each_dots_own_heap(rng):
    heaps = ring(3, radius=0.1, sd=0.5)  # so close that the nearest centre is often another
    points, which = heaps.sample(40_000, rng)
    assert pictures.spread(points, heaps.means, which) == pytest.approx(0.5, abs=0.01)


def test_a_column_holds_every_dot_once_and_the_film_ends_where_it_should():
    stages = [np.array([0, 0, 1, 2]), np.array([1, 0, 1, 1]), np.array([0, 1, 2, 2])]
    _, _, film, words, colors = pictures.columns(stages)
    for step, states in ((0, stages[0]), (-1, stages[2])):
        assert np.round(film[step, :, 0] + 5.5 / 16).astype(int).tolist() == states.tolist()
    assert len(np.unique(film[-1], axis=0)) == 4 == len(colors)
    assert words.facts["home"] == 0.5


# The notebook's own controls.


@pytest.mark.parametrize("y", [-2.0, 0.0, 1.5])
def test_the_kernels_mean_is_the_best_guess_and_only_a_small_knock_makes_it_a_bell(y):
    facts = explorer(NOTEBOOK, "draw_kernel", y=y, sigma=0.4).words.facts
    assert facts["mean"] == pytest.approx(two_hills().denoised([y], 1, 0.4)[0], abs=1e-6)
    assert facts["centre"] == pytest.approx(y + 0.16 * two_hills().score([y])[0])
    assert explorer(NOTEBOOK, "draw_kernel", y=1.5, sigma=0.1).words.facts["overlap"] > 0.95
    assert explorer(NOTEBOOK, "draw_kernel", y=-0.6, sigma=0.9).words.facts["overlap"] < 0.8


@pytest.mark.parametrize("sigma2", [0.05, 0.5, 1.0])
def test_more_of_the_step_narrows_bell_and_hills(sigma2):
    told = [explorer(NOTEBOOK, "draw_step", lam=v, sigma2=sigma2).words.facts for v in (0, 0.5, 1)]
    assert [facts["variance"] for facts in told] == pytest.approx(
        [1 + sigma2, 1 + sigma2**2 / (4 * (1 + sigma2)), 1 / (1 + sigma2)], rel=1e-3
    )
    assert told[0]["after"] > told[1]["after"] > told[2]["after"]
    assert told[0]["after"] == pytest.approx(told[0]["before"] + sigma2, rel=0.01)


@pytest.mark.parametrize(("place", "verb"), [(0.0, "grows"), (1.0, "falls"), (5.0, "falls")])
def test_a_valley_fills_and_tops_wear_off_at_whatever_height(place, verb):
    facts = explorer(NOTEBOOK, "draw_flow", place=place).words.facts
    assert facts["verb"] == verb
    assert facts["change"] == pytest.approx(facts["into"] - facts["out"])


def test_knocks_spread_a_crowd_half_steps_condense_it_and_both_keep_it():
    ends = {
        does: explorer(NOTEBOOK, "draw_cloud", does=does, step=24).words.facts
        for does in ("knock only", "condense only", "knock and condense")
    }
    first = ends["knock only"]["first"]
    assert ends["knock only"]["now"] > 1.4 * first
    assert ends["condense only"]["now"] < 0.6 * first
    assert ends["knock and condense"]["now"] == pytest.approx(first, rel=0.05)

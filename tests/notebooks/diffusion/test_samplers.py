"""References and pictures of 15_diffusion/04_samplers against closed forms, SciPy, autograd and simulation."""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from descent.pictures.diffusion import samplers as pictures
from descent.pictures.diffusion.mixtures import Mixture, ring, two_hills
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/04_samplers"
ref = notebook_module(NOTEBOOK, "reference")
ZERO, ONE = torch.zeros(1, 1).double(), torch.ones(1).double()


def net(d, g):
    return dict(W=randn(d, d, g=g) / 2, b=randn(d, g=g))


def slope(t, x, W, b):
    return np.tanh(x @ W.numpy()) + t * b.numpy()


def solved(slope, x, t0, t1):
    return integrate.solve_ivp(slope, (t0, t1), x, rtol=1e-11, atol=1e-12).y[:, -1]


def test_steps_of_two_indices_follow_half_the_score(g):
    """With small variances the walk rides dx/dt = -½ sigma² s, as SciPy solves it."""
    x, params, T = randn(1, 2, g=g), net(2, g), 800

    def score(t, x):
        return slope(t, x, params["W"], params["b"] / T)

    exact = solved(lambda t, x: -score(t, x) / 2 * 0.001, x[0].numpy(), T, 0)
    got = ref.sample_t2(x, T, 0.001, params["W"], params["b"] / T)
    assert got["calls"] == T / 2 and len(got["states"]) == T / 2 + 1
    assert got["states"][-1, 0].numpy() == pytest.approx(exact, abs=2e-3)


def test_a_step_back_shakes_each_dot_by_its_place_sign_and_all(g):
    """No drift, g = size (1 + t) x at t = 2, so 1.5 x; and 0.25 back, whose root is 0.5."""
    z, x = randn(1, 5, 1, g=g), torch.tensor([[-2.0], [-1.0], [0.0], [1.0], [2.0]]).double()
    times = torch.tensor([2.0, 1.75]).double()
    end = ref.euler_maruyama(x, z, times, ZERO, 0 * ONE, 0.5)[-1]
    torch.testing.assert_close(end, x * (1 + 1.5 * 0.5 * z[0]))


def test_without_noise_the_walk_comes_nearer_to_scipys_solution_by_first_order(g):
    x, params = randn(1, 2, g=g), net(2, g)
    exact = solved(lambda t, x: slope(t, x, **params), x[0].numpy(), 0, 1)
    off = []
    for K in (200, 400):
        times, z = torch.linspace(0, 1, K + 1).double(), torch.zeros(K, 1, 2).double()
        end = ref.euler_maruyama(x, z, times, **params, size=0.0)[-1, 0]
        off.append(np.abs(end.numpy() - exact).max())
    assert off[0] / off[1] == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_on_its_way_home_a_step_is_the_formula_with_all_terms_in_one(lam, g):
    x, z, params = randn(3, 2, g=g), randn(1, 3, 2, g=g), net(2, g)
    times, size = torch.tensor([0.8, 0.5]).double(), 1.3
    got = ref.way_home(x, z, times, lam, **params, size=size)[-1]
    strength, s = size * 1.8, torch.tensor(slope(0.8, x.numpy(), **params))
    drift = x - params["b"] - (1 + lam**2) / 2 * strength**2 * s
    want = x - 0.3 * drift + lam * strength * math.sqrt(0.3) * z[0]
    torch.testing.assert_close(got, want)


def test_heun_is_of_second_order_and_its_sum_is_the_integral_of_autograds_trace(g):
    x, params, off = randn(1, 2, g=g), net(2, g), []

    def both(t, state):
        at = torch.tensor(state[:2])
        jacobian = torch.autograd.functional.jacobian(
            lambda x: (x @ params["W"]).tanh() + t * params["b"], at
        )
        return np.append(slope(t, state[:2], **params), float(jacobian.trace()) + t)

    exact = solved(both, np.append(x[0].numpy(), 0), 0.2, 1)
    for K in (50, 100):
        got = ref.ride(x, torch.linspace(0.2, 1, K + 1).double(), **params)
        assert got["calls"] == 2 * K
        end = np.append(got["states"][-1, 0].numpy(), got["total"].numpy())
        off.append(np.abs(end - exact).max())
    assert off[0] / off[1] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize("steps", [(4, 2), (1, 0), (0, 3), (1, 4)])
def test_ddim_with_the_right_guess_keeps_the_dot_on_its_line(steps, g):
    """x_t = √ᾱ x0 + √(1 − ᾱ) ε, up and down; W = 0 and b make the model say ε."""
    left, x0 = torch.tensor([1, 0.8, 0.5, 0.3, 0.1]).double(), randn(3, 2, g=g)
    b = randn(2, g=g)
    eps = steps[0] / 10 * b
    places = [left[t].sqrt() * x0 + (1 - left[t]).sqrt() * eps for t in steps]
    W = torch.zeros(2, 2).double()
    got = ref.ddim(places[0], None, left, torch.tensor(steps), 0.0, W, b)
    if steps[0]:
        torch.testing.assert_close(got["states"][-1], places[1])
    else:  # the guess at 0 is 0: only the data's share is left
        torch.testing.assert_close(got["states"][-1], left[steps[1]].sqrt() * x0)


def test_ddim_with_all_noise_is_the_posterior_of_ddpm(g):
    """η = 1: mean and variance of q(x_s | x_t, x̂0), by Bayes' rule for Gaussians."""
    left, x = torch.tensor([1, 0.7, 0.4]).double(), randn(1, 1, g=g)
    params, steps = net(1, g), torch.tensor([2, 1])
    ends = [
        ref.ddim(x, torch.full((1, 1, 1), z).double(), left, steps, 1.0, **params)["states"]
        for z in (0.0, 1.0)
    ]
    ends = [states[-1].item() for states in ends]
    eps = slope(0.2, x.numpy(), **params).item()
    clean = (x.item() - 0.6**0.5 * eps) / 0.4**0.5
    alpha = 0.4 / 0.7
    precision = 1 / 0.3 + alpha / (1 - alpha)
    mean = (0.7**0.5 * clean / 0.3 + alpha**0.5 * x.item() / (1 - alpha)) / precision
    assert ends[0] == pytest.approx(mean)
    assert ends[1] - ends[0] == pytest.approx(precision**-0.5)


def test_the_equation_keeps_all_mass_and_moves_mean_and_variance(g):
    """d mean/dt = a mean + c (1 + t) and, with noise that grows with t alone, the variance's equation."""
    x = torch.linspace(-6, 6, 601).double()
    p = torch.tensor(stats.norm.pdf(x.numpy(), 0.5, 0.6))
    times = torch.linspace(0, 0.2, 2001).double()
    end = ref.fokker_planck(p, x, times, -1.0, 0.5, 0.2)[-1]
    assert float(end.sum()) == pytest.approx(float(p.sum()))

    rng, n = np.random.default_rng(0), 100_000
    dots = 0.5 + 0.6 * rng.normal(size=n)
    for k in range(400):
        t, h = k * 0.0005, 0.0005
        size = 0.2 * (1 + t) * (2 + np.sin(dots))
        dots = dots + h * (-dots + 0.5 * (1 + t)) + size * math.sqrt(h) * rng.normal(size=n)
    mean = float((x * end).sum() / end.sum())
    assert mean == pytest.approx(dots.mean(), abs=0.01)
    variance = float(((x - mean) ** 2 * end).sum() / end.sum())
    assert variance == pytest.approx(dots.var(), rel=0.02)


def test_without_noise_and_with_an_even_drift_the_crowd_moves_on_as_it_is():
    x = torch.linspace(-4, 4, 401).double()
    p = torch.tensor(stats.norm.pdf(x.numpy(), -1, 0.5))
    times = torch.linspace(0, 0.5, 1001).double()
    end = ref.fokker_planck(p, x, times, 0.0, 2.0, 0.0)[-1].numpy()
    moved = 2 * (0.5 + 0.125)  # the drift is 2 (1 + t)
    assert end == pytest.approx(stats.norm.pdf(x.numpy(), -1 + moved, 0.5), abs=0.01)


def test_the_reverse_drift_is_autograds(g):
    x, W, B = randn(2, 3, g=g), randn(3, 3, g=g), randn(3, 2, 3, g=g)

    def D(x):
        G = x.sin()[:, None] + torch.einsum("j,ikj->ik", x, B)
        return G @ G.T

    for c in (0.5, 1.0):
        want = []
        for row in x:
            slopes = torch.autograd.functional.jacobian(D, row)  # (i, j, the coordinate)
            div = slopes.diagonal(dim1=1, dim2=2).sum(-1)
            want.append(row @ W - c * (div + D(row) @ (row.tanh() - 1)))
        torch.testing.assert_close(ref.reverse_drift(x, W, B, c), torch.stack(want))


# ------------------------------------------------------------ what it draws and computes


@pytest.mark.parametrize("n", [1, 5, 20, 32, 100, 999, 1000])
def test_spaced_steps_are_distinct_and_fall_from_the_noise_to_the_data(n):
    steps = pictures.spaced(n)
    assert len(steps) == n + 1 and (np.diff(steps) < 0).all()
    assert steps[0] == 1000 and steps[-1] == 0


def test_four_walks_of_the_first_screen_are_what_its_text_says():
    world, crowds = pictures.thin_hills(), pictures.puzzle()
    spreads = [pictures.fit(points, world)[1] for points in crowds.values()]
    assert len(crowds) == 4
    assert spreads[0] == pytest.approx(0.1, abs=0.01) and spreads[3] == pytest.approx(0.1, abs=0.01)
    assert spreads[1] > 0.2 and spreads[2] < 0.02


def test_the_divergence_of_a_linear_field_is_its_trace():
    A = np.array([[1.0, 2.0], [3.0, -5.0]])
    div = pictures.divergence(lambda x, t: x @ A.T * t)
    assert div(np.ones((3, 2)), 2.0) == pytest.approx([-8.0] * 3)


def test_a_window_is_a_smooth_indicator():
    x = np.linspace(-2, 2, 9)
    assert pictures.window(x, -0.9, 0.9, 1e-3) == pytest.approx((np.abs(x) < 0.9).astype(float))
    assert (np.diff(pictures.window(np.linspace(0, 3, 50), -1, 1, 0.5)) < 0).all()


def test_dots_on_a_linear_ode_have_the_variance_of_its_closed_form():
    assert pictures.linear_ode(lambda t: 0 * t - 0.5, 3.0) == pytest.approx(3 / math.e, rel=1e-5)
    for sign in (1, -1, -2):
        assert pictures.ridden_variance(sign) == pytest.approx(2.0**-sign, rel=1e-5)


def test_distances_on_the_line_are_quantile_by_quantile():
    hills = two_hills()
    grid = np.linspace(-6, 6, 6001)
    points = np.interp((np.arange(400) + 0.5) / 400, pictures.cumulative(hills, grid), grid)
    assert pictures.off_by(points, hills) < 1e-3
    assert pictures.off_by(points + 0.3, hills) == pytest.approx(0.3, abs=1e-3)
    assert pictures.cumulative(hills, [8.0])[0] == pytest.approx(1)


def test_turned_codes_go_evenly_from_one_to_the_other():
    a, b = np.array([3.0, 0.0]), np.array([0.0, 1.0])
    codes = pictures.turned(a, b, 5)
    assert codes[0] == pytest.approx(a) and codes[-1] == pytest.approx(b)
    assert np.linalg.norm(codes, axis=1) == pytest.approx([3, 2.5, 2, 1.5, 1])
    assert np.degrees(np.arctan2(codes[:, 1], codes[:, 0])) == pytest.approx(
        [0, 22.5, 45, 67.5, 90]
    )


def test_more_frames_make_a_longer_way_of_the_same_sum_of_squares():
    widget = controls.explorer(NOTEBOOK, "draw_film")
    facts = {}
    for frames in (10, 1000):
        widget.controls["frames"].value = frames
        facts[frames] = dict(widget.words.facts)
    assert facts[1000]["length"] > 6 * facts[10]["length"]  # about √100
    assert facts[1000]["squares"] == pytest.approx(4, abs=0.4)


@pytest.mark.parametrize("noise", [0.0, 1.0, 1.5])
def test_on_the_curve_the_crowd_is_right_and_off_it_it_is_not(noise):
    widget = controls.explorer(NOTEBOOK, "draw_pair")
    right = (1 + noise**2) / 2
    off = {}
    for step in (-0.3, 0, 0.3):
        widget.controls["noise"].value = noise
        widget.controls["coefficient"].value = round(20 * (right + step)) / 20
        off[step] = widget.words.facts["off"]
    assert off[0] < 0.08
    assert off[-0.3] > 2 * off[0]
    if noise < 1.5:  # its curve leaves the picture
        assert off[0.3] > 2 * off[0]


def test_particles_and_equation_have_one_variance_at_all_times():
    widget = controls.explorer(NOTEBOOK, "draw_equation")
    for frame in (0, 40, 120):
        widget.controls["frame"].value = frame
        facts = widget.words.facts
        law = (
            two_hills().covariance()[0, 0] * math.exp(-2 * facts["t"])
            + 1
            - math.exp(-2 * facts["t"])
        )
        assert facts["pde"] == pytest.approx(law, rel=0.01)
        assert facts["dots"] == pytest.approx(law, rel=0.06)


def test_the_film_shows_both_crowds_in_the_colours_of_their_hills():
    world, rng = pictures.thin_hills(), np.random.default_rng(0)
    x0, noise = world.sample(50, rng)[0], rng.normal(size=(50, 2))
    there, back = np.stack([x0, noise]), np.stack([noise, x0])
    lost = np.stack([noise, world.sample(50, rng)[0]])
    _, _, film, words, colors = pictures.there_and_back([there, lost], [there, back], world)
    assert film.shape == (3, 100, 2) and len(colors) == 100 and colors[:50] == colors[50:]
    noisy, quiet = (told.facts["same"] for told in words.facts["told"])
    assert quiet == 1 and noisy < 0.8


def test_a_picture_of_codes_counts_who_is_near_a_hill():
    world = ring(8, 2.0, 0.1)
    on, off = world.means, 0 * world.means
    _, words = pictures.draw_codes(world, off, off, on)
    assert words.facts["decoded"] == 1 and words.facts["straight"] == 0


def test_the_likelihood_picture_tells_both_means():
    world = Mixture.of([[0.0, 0.0]], 1.0)
    x = np.zeros((3, 2))
    _, words = pictures.draw_likelihood(world, x, np.full(3, -2.0))
    assert words.facts["exact"] == pytest.approx(-math.log(2 * math.pi))
    assert words.facts["told"] == -2

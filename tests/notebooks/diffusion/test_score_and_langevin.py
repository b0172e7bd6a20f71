"""References and pictures of 15_diffusion/05_score_and_langevin against loops, autograd, quadrature and simulation."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from descent.pictures.diffusion import score_and_langevin as pictures
from descent.pictures.diffusion.mixtures import three_hills, two_hills
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "15_diffusion/05_score_and_langevin"
ref = notebook_module(NOTEBOOK, "reference")


def test_the_score_is_minus_the_slope_of_the_energy_by_differences(g):
    x, A, b = randn(4, 3, g=g), randn(3, 3, g=g), randn(3, g=g)

    def energy(x):
        return torch.einsum("ni,ij,nj->n", x, A, x) / 2 + (x @ b).sin()

    score = ref.energy_score(x, A, b, 7.0)
    for i, unit in enumerate(torch.eye(3, dtype=torch.float64)):
        slope = (energy(x + 1e-6 * unit) - energy(x - 1e-6 * unit)) / 2e-6
        torch.testing.assert_close(score[:, i], -slope, rtol=1e-6, atol=1e-7)


def test_the_walk_by_powers_is_the_step_repeated(g):
    x0, z, A, m = randn(3, 2, g=g), randn(5, 3, 2, g=g), randn(2, 2, g=g), randn(2, g=g)
    path = [x0]
    for noise in z:
        path.append(path[-1] + 0.2 * (m - path[-1]) @ A + 0.4**0.5 * noise)
    walk = ref.langevin(x0, z, 0.4, A, m)
    torch.testing.assert_close(walk["path"], torch.stack(path))
    assert walk["asked"] == 5


def test_the_annealed_walk_is_two_loops(g):
    x, z, A, m = randn(3, 2, g=g), randn(2, 4, 3, 2, g=g), randn(2, 2, g=g), randn(2, g=g)
    sigmas = torch.tensor([1.5, 0.5]).double()
    walk, path = ref.annealed_langevin(x, z, sigmas, 0.3, A, m), [x]
    for i, sigma in enumerate((1.5, 0.5)):
        for noise in z[i]:
            eps = 0.3 * sigma**2
            x = x + eps / 2 * (m - x) @ A / sigma + eps**0.5 * noise
            path.append(x)
    torch.testing.assert_close(walk["path"], torch.stack(path))
    assert walk["asked"].tolist() == [1.5] * 4 + [0.5] * 4


def test_the_implicit_loss_by_hand_is_that_of_jacobians(g):
    x, b, W = randn(5, 3, g=g), randn(3, g=g), randn(3, 3, g=g).requires_grad_(True)
    loss = 0
    for row in x:
        J = torch.autograd.functional.jacobian(
            lambda row: (row @ W + b).tanh(), row, create_graph=True
        )
        loss = loss + (row @ W + b).tanh().square().sum() / 2 + torch.trace(J)
    report = ref.ism_report(x, W.detach(), b)
    torch.testing.assert_close(report["loss"], loss.detach() / 5)
    torch.testing.assert_close(report["gradient"], torch.autograd.grad(loss / 5, W)[0])


def test_the_denoising_loss_by_hand_is_autograds(g):
    x, eps, W = randn(4, 2, g=g), randn(4, 2, g=g), randn(2, 2, g=g).requires_grad_(True)
    sigma = torch.tensor([0.2, 1.0, 3.0, 0.5]).double()
    s = ((x + sigma[:, None] * eps) @ W).tanh() + sigma[:, None] / 5
    target = -eps / sigma[:, None]
    loss = (sigma**2 * (s - target).square().sum(1)).mean() / 2
    report = ref.dsm_report(x, sigma, eps, W.detach())
    torch.testing.assert_close(report["loss"], loss.detach())
    torch.testing.assert_close(report["gradient"], torch.autograd.grad(loss, W)[0])


def test_the_denoising_loss_is_least_at_the_score_of_melted_gaussian_data():
    """Data N(0, 4), level 1.5: of all slopes the best is -1 / (4 + 1.5²)."""
    g, n = torch.Generator().manual_seed(1), 400_000
    x, eps = 2 * randn(n, g=g), randn(n, g=g)
    melted = x + 1.5 * eps
    slope = -(melted * eps).mean() / (1.5 * melted.square().mean())  # least squares
    assert slope.item() == pytest.approx(-1 / (4 + 1.5**2), rel=0.01)


@pytest.mark.parametrize("n_steps", [0, 5])
def test_training_by_hand_is_torchs_adam_and_an_exponential_average(n_steps, g):
    x, V = randn(6, 2, g=g).float(), randn(2, g=g).float()
    W, sigmas = randn(2, 2, g=g).float(), torch.tensor([2.0, 0.5, 1.0])
    got = ref.train_score(x, sigmas, W, V, n_steps, 4, 0.2, 0.8, seed=3)
    weights = [W.clone().requires_grad_(True), V.clone().requires_grad_(True)]
    averages = [W.clone(), V.clone()]
    adam, draws, losses = torch.optim.Adam(weights, 0.2), torch.Generator().manual_seed(3), []
    for _ in range(n_steps):
        rows = torch.randint(6, (4,), generator=draws)
        level = sigmas[torch.randint(3, (4,), generator=draws)][:, None]
        eps = torch.randn(4, 2, generator=draws)
        s = ((x[rows] + level * eps) @ weights[0]).tanh() + level * weights[1]
        losses.append((level * s + eps).square().sum(1).mean() / 2)
        adam.zero_grad()
        losses[-1].backward()
        adam.step()
        averages = [0.8 * a + 0.2 * w.detach() for a, w in zip(averages, weights, strict=True)]
    near = dict(rtol=1e-4, atol=1e-5)
    for loss, other in zip(got["losses"], losses, strict=True):
        torch.testing.assert_close(loss, other.detach(), **near)
    torch.testing.assert_close(got["W"], averages[0], **near)
    torch.testing.assert_close(got["V"], averages[1], **near)


def test_the_gradient_of_an_energy_model_is_a_difference_of_means():
    """At θ = (a, 0) the model is a Gaussian: E x² = 1/(2a), and the slope in θ₁ is 0."""
    grid, data = torch.linspace(-8, 8, 4001, dtype=torch.float64), torch.tensor([1.0, -2.0, 0.5])
    theta = torch.tensor([0.8, 0.0], dtype=torch.float64)
    gradient = ref.ebm_gradient(theta, data.double(), grid, 500.0)
    assert gradient[0].item() == pytest.approx(1 / 1.6 - (1 + 4 + 0.25) / 3, abs=1e-9)
    assert gradient[1].item() == pytest.approx(0, abs=1e-12)


# ------------------------------------------------------------ what it draws


def test_three_hills_have_their_shares_and_one_spread():
    world = three_hills()
    assert world.weights == pytest.approx([0.6, 0.3, 0.1]) and set(world.sds) == {0.3}
    gaps = [np.linalg.norm(world.means[i] - world.means[i - 1]) for i in range(3)]
    assert gaps == pytest.approx([2 * math.sqrt(3)] * 3)


def test_the_puzzles_sampler_is_wrong_in_both_ways():
    shares, spread = pictures.fit(pictures.puzzle(), three_hills())
    assert shares == pytest.approx([1 / 3] * 3, abs=0.06)
    # a hill of variance v gets v / (1 - ε/(4v))
    assert spread == pytest.approx(0.3 / math.sqrt(1 - 0.18 / 0.36), rel=0.03)


def test_the_variance_is_a_fixed_point_of_a_step():
    for eps in (0.1, 1.0, 3.5):
        v = pictures.ula_variance(eps)
        assert (1 - eps / 2) ** 2 * v + eps == pytest.approx(v)


def test_the_implicit_loss_of_gaussians_by_quadrature():
    x = np.linspace(-19, 21, 8001)
    for slope in (0.1, 0.25, 0.6):
        integrand = stats.norm.pdf(x, 1, 2) * ((slope * (1 - x)) ** 2 / 2 - slope)
        area = np.trapezoid(integrand, x)
        assert pictures.implicit_gaussian(slope) == pytest.approx(area, abs=1e-9)


def test_the_score_in_torch_is_the_mixtures(g):
    for world in (two_hills(), three_hills().noised(1, 0.7)):
        x = 2 * randn(7, world.means.shape[1], g=g)
        assert pictures.torch_score(world, x).numpy() == pytest.approx(world.score(x.numpy()))


def test_powers_and_their_slopes():
    x, h = np.array([-1.5, 0.3, 2.0]), 1e-6
    assert pictures.powers(x)[2] == pytest.approx([1, 1, 1, 1])
    slopes = (pictures.powers(x + h) - pictures.powers(x - h)) / (2 * h)
    assert pictures.power_slopes(x) == pytest.approx(slopes, rel=1e-7)


def test_the_point_on_the_energy_tells_where_uphill_is():
    widget = controls.explorer(NOTEBOOK, "draw_landscape", x=-1.2, share=0.35, c=0)
    first = widget.words.facts
    assert first["side"] == "left" and first["score"] < 0
    widget.controls["c"].value = 2.0
    raised = widget.words.facts
    assert raised["energy"] == pytest.approx(first["energy"] + 2)
    assert (raised["score"], raised["density"]) == (first["score"], first["density"])
    widget.controls["share"].value = 0.9
    assert widget.words.facts["score"] == pytest.approx(first["score"], rel=0.01)
    assert widget.words.facts["density"] > 2 * first["density"]


def test_short_steps_do_not_cross_and_long_ones_widen():
    widget = controls.explorer(NOTEBOOK, "draw_crossing", eps=10**-2.3, steps=400)
    assert widget.words.facts["crossed"] < 0.1
    assert widget.words.facts["wide"] == pytest.approx(0.25, abs=0.02)
    widget.move(dict(eps=10**-0.7))
    assert widget.words.facts["crossed"] > 0.8
    assert widget.words.facts["wide"] > 0.4
    widget.move(dict(steps=0))
    assert widget.words.facts["crossed"] == 0


def test_the_learned_score_is_near_the_exact_one_where_noise_is_wide():
    widget = controls.explorer(NOTEBOOK, "draw_field", level=10)
    assert widget.words.facts["sigma"] == pytest.approx(4)
    assert widget.words.facts["bound"] <= 0.2


def test_the_two_walks_stand_side_by_side():
    world = three_hills()
    plain = np.repeat(world.means[None, [0, 1, 2, 2]], 5, 0)
    annealed = np.repeat(world.means[None, [0, 0, 0, 1]], 5, 0)
    _, _, words, film, colors = pictures.side_by_side(plain, annealed, world)
    assert film.shape == (5, 8, 2) and len(colors) == 8 and len(set(colors)) == 2
    assert (words.facts["plain"], words.facts["annealed"]) == ("25, 25, 50", "75, 25, 0")
    assert film[0, 0, 0] < -4 < 4 < film[0, 4, 0] + 2


def test_pictures_tell_the_numbers_that_they_draw():
    world = three_hills()
    clouds = pictures.draw_clouds({"a": world.means, "b": world.means[:1] + 0.3}, world)[1]
    told = [each.facts for each in clouds.facts["told"]]
    assert told[0]["spread"] == 0 and told[1]["spread"] == pytest.approx(0.3)
    assert told[1]["shares"] == "100, 0, 0"
    variances = pictures.draw_variances([0.5, 2], [1.1, 2.1])[1]
    assert (variances.facts["first"], variances.facts["last"]) == (1.1, 2.1)
    curves = {"Fisher": [1, 0, 1], "implicit": [0, -1, 0], "denoising": [3, 2.1, 2]}
    losses = pictures.draw_three_losses([0.5, 1, 1.5], curves)[1].facts
    assert (losses["fisher"], losses["implicit"], losses["denoising"]) == (1, 1, 1.5)
    grid = np.linspace(-4, 4, 801)
    energy = pictures.draw_energy(grid, (grid - 3) ** 2 * 8, np.array([-2.0, 1, 2, 3]))[1]
    assert energy.facts["right"] == pytest.approx(1, abs=1e-6)
    assert energy.facts["data"] == 0.75


def test_a_field_that_points_the_wrong_way_is_off_by_twice_its_size():
    world = three_hills()
    _, words = pictures.draw_field(lambda x, sigma: -world.noised(1, sigma).score(x), world, 1.0, 3)
    assert words.facts["bound"] == pytest.approx(2.2)

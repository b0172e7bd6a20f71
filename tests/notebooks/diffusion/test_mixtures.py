"""The chapter's mixtures against quadrature, finite differences and draws."""

import numpy as np
import pytest

from descent.pictures.diffusion.mixtures import Mixture, ring, two_hills

LINE = np.linspace(-9, 9, 20_001)[:, None]


def integral(values):
    return np.trapezoid(values, LINE[:, 0])


def test_the_density_has_area_one_and_its_log_the_score_as_slope():
    hills, h = two_hills(), 1e-5
    assert integral(hills.density(LINE)) == pytest.approx(1, abs=1e-9)
    slope = (hills.log_density(LINE + h) - hills.log_density(LINE - h)) / (2 * h)
    assert hills.score(LINE)[:, 0] == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_far_from_all_hills_the_score_is_finite():
    assert np.isfinite(two_hills().score([[1e6], [-1e6]])).all()


def test_noising_is_a_convolution():
    a, b, seen = 0.8, 0.6, 0.3
    kernel = np.exp(-((seen - a * LINE[:, 0]) ** 2) / (2 * b**2)) / (b * np.sqrt(2 * np.pi))
    area = integral(two_hills().density(LINE) * kernel)
    assert two_hills().noised(a, b).density([seen]) == pytest.approx(area, rel=1e-9)


@pytest.mark.parametrize("seen", [-2.0, 0.3, 5.0])
def test_the_posterior_is_bayes_rule(seen):
    a, b = 0.8, 0.6
    joint = two_hills().density(LINE) * np.exp(-((seen - a * LINE[:, 0]) ** 2) / (2 * b**2))
    posterior = two_hills().posterior([seen], a, b)
    assert posterior.density(LINE) == pytest.approx(joint / integral(joint), rel=1e-6, abs=1e-9)
    best = integral(LINE[:, 0] * joint) / integral(joint)
    assert two_hills().denoised([seen], a, b) == pytest.approx(best, rel=1e-7)
    assert posterior.mean() == pytest.approx(best, rel=1e-7)
    assert a * best + b * two_hills().noise([seen], a, b) == pytest.approx(seen, rel=1e-7)


def test_draws_have_the_mean_and_covariance_that_it_says():
    world = Mixture.of([[0, 1], [2, -1], [0, 0]], [0.1, 0.5, 1], [1, 2, 3])
    points, which = world.sample(40_000, np.random.default_rng(0))
    assert points.mean(0) == pytest.approx(world.mean(), abs=0.03)  # five standard errors
    assert np.cov(points.T) == pytest.approx(world.covariance(), abs=0.05)
    assert np.bincount(which) / len(which) == pytest.approx(world.weights, abs=0.013)


def test_batches_of_any_shape():
    grid = np.random.default_rng(1).normal(size=(4, 5, 2))
    assert ring().score(grid).shape == ring().denoised(grid, 0.6, 0.8).shape == (4, 5, 2)
    assert ring().score(grid)[2, 3] == pytest.approx(ring().score(grid[2, 3]))

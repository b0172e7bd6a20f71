"""Widgets of 15_diffusion/03_ddpm: move the controls, read the numbers."""

import re

import ipywidgets
import numpy as np
import pytest
import torch

from descent.widgets import Explorer
from descent.widgets import ddpm as pictures
from solutions.reference import ddpm


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

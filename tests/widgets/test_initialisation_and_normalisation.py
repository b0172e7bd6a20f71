"""Widgets of initialisation and normalisation: their numbers against theory and torch, then their controls."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider
from torch.nn import functional as F

from descent import data
from descent.widgets import Explorer
from descent.widgets import initialisation_and_normalisation as nn


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", words)]


def number_after(words, phrase):
    return numbers(words.split(phrase, 1)[1])[0]


# ---------------------------------------------------------------- signals


@pytest.mark.parametrize(
    "scheme, sd", [("sd 0.01", 0.01), ("Xavier", 0.05), ("He", 0.0707), ("sd 0.5", 0.5)]
)
def test_weights_have_their_standard_deviation(scheme, sd):
    W = nn.weights(scheme, 400, torch.Generator().manual_seed(0))
    assert W.std().item() == pytest.approx(sd, rel=0.01)  # four standard errors


def test_a_factor_of_the_variance_is_a_power_of_depth():
    he, half = (nn.signals("He", "ReLU", 12, factor=c)["second"] for c in (2.0, 1.0))
    np.testing.assert_allclose(half, he / 2.0 ** np.arange(13), rtol=1e-9)


def test_a_linear_network_keeps_signal_and_gradient_under_xavier():
    ends = [nn.signals("Xavier", "linear", 10, width=128, seed=s) for s in range(5)]
    assert np.mean([e["second"][-1] for e in ends]) == pytest.approx(1, abs=0.4)
    assert np.mean([e["gradient"][0] for e in ends]) == pytest.approx(1, abs=0.4)


def test_relu_loses_half_the_second_moment_and_more_of_the_variance():
    found = nn.signals("Xavier", "ReLU", 1, width=400, rows=400)
    assert found["second"][1] == pytest.approx(0.5, rel=0.05)
    assert found["variance"][1] == pytest.approx(0.5 - 0.5 / np.pi, rel=0.05)


def test_batch_norm_multiplies_the_gradient_by_pi_over_pi_minus_one():
    g = np.log(nn.signals("He", "ReLU", 40, "batch", width=128, rows=128)["gradient"])
    assert np.exp((g[5] - g[35]) / 30) == pytest.approx(np.pi / (np.pi - 1), abs=0.05)
    for norm in ("layer", "RMS"):
        g = np.log(nn.signals("He", "ReLU", 40, norm, width=128, rows=128)["gradient"])
        assert np.exp((g[5] - g[35]) / 30) == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("norm", nn.NORMS)
def test_normalised_is_torchs(norm):
    S = torch.from_numpy(np.random.default_rng(0).normal(2, 3, (6, 5)))
    expected = {
        "none": S,
        "batch": F.batch_norm(S, None, None, training=True),
        "layer": F.layer_norm(S, (5,)),
        "RMS": F.rms_norm(S, (5,), eps=1e-5),
    }[norm]
    torch.testing.assert_close(nn.normalised(S, norm), expected)


@pytest.mark.parametrize(
    "scheme, activation, missed",
    [
        ("He", "ReLU", set()),
        ("Xavier", "ReLU", {"signal kept", "gradient kept"}),
        ("Xavier", "tanh", set()),
        ("zeros", "tanh", {"signal kept", "gradient kept", "units differ"}),
        ("all equal", "sigmoid", {"gradient kept", "units differ"}),
    ],
)
def test_goals(scheme, activation, missed):
    met = nn.goals(nn.signals(scheme, activation, 30), activation)
    assert {name for name, ok in met.items() if not ok} == missed


def test_huge_weights_saturate_a_tanh():
    assert not nn.goals(nn.signals("sd 0.5", "tanh", 20), "tanh")["not saturated"]


@pytest.fixture
def depths():
    return Explorer(
        nn.draw_signals,
        dict(
            scheme=Dropdown(options=nn.SCHEMES, value="Xavier"),
            activation=Dropdown(options=list(nn.ACTIVATIONS), value="ReLU"),
            depth=IntSlider(30, min=1, max=60),
            norm=Dropdown(options=nn.NORMS, value="none"),
        ),
    )


def ends(widget):
    """Signal after the last layer, gradient at the input."""
    return number_after(widget.words, "at the input,"), number_after(
        widget.words, "at the last layer,"
    )


def test_he_rescues_what_xavier_loses(depths):
    assert max(ends(depths)) < 1e-7
    depths.controls["scheme"].value = "He"
    assert min(ends(depths)) > 0.1 and "Goals missed: none" in depths.words


def test_depth_is_an_exponent(depths):
    deep = ends(depths)[0]
    depths.controls["depth"].value = 15
    assert ends(depths)[0] == pytest.approx(deep**0.5, rel=2)


def test_norms_save_the_signal_and_batch_norm_not_the_gradient(depths):
    depths.controls["scheme"].value = "sd 0.01"
    for norm in ("RMS", "layer", "batch"):
        depths.controls["norm"].value = norm
        assert ends(depths)[0] > 0.1
    assert ends(depths)[1] > 1e4
    assert "Goals missed: gradient kept." in depths.words


@pytest.mark.parametrize("activation", nn.ACTIVATIONS)
@pytest.mark.parametrize("scheme", nn.SCHEMES)
def test_every_choice_can_be_drawn(scheme, activation):
    for depth in (1, 20):
        assert "Goals missed" in nn.draw_signals(scheme, activation, depth)[1]


def test_fifty_layers_halve_fifty_times():
    he = nn.deep_relu(10, 64, 4)
    _, words = nn.draw_fifty(he, factors=(1.0, 2.0))
    ends = [float(text) for text in re.findall(r"ends at (\S+?)[;.]?(?:\s|$)", words)]
    assert ends[0] == pytest.approx(ends[1] / 2**10, rel=0.1)


# ---------------------------------------------------------------- starts


def test_two_weights_gradient_is_finite_differences(rng):
    w, v, h = *rng.normal(size=2), 1e-6
    _, dw, dv = nn.two_weights(w, v)
    assert dw == pytest.approx(
        (nn.two_weights(w + h, v)[0] - nn.two_weights(w - h, v)[0]) / (2 * h), abs=1e-8
    )
    assert dv == pytest.approx(
        (nn.two_weights(w, v + h)[0] - nn.two_weights(w, v - h)[0]) / (2 * h), abs=1e-8
    )
    assert nn.two_weights(1.5, 1.0)[0] == nn.two_weights(-1.5, -1.0)[0] == 0
    assert nn.two_weights(0.0, 0.0)[1:] == (0, 0)


def test_basins_are_mirror_images():
    _, basin, needed = nn.basins(size=20)
    assert np.array_equal(basin, -basin[::-1, ::-1])
    assert np.array_equal(needed, needed[::-1, ::-1])
    assert basin[-5, -5] == 1


# ---------------------------------------------------------------- networks side by side


@pytest.fixture(scope="module")
def digits():
    return nn.digit_batches(data.digits(), 60)


def test_digits_are_centred_and_scaled():
    X, y = nn.digit_batches(data.digits(), 1797)
    assert X.mean(0).abs().max() < 1e-5 and X.square().mean().item() == pytest.approx(1, rel=1e-5)
    assert X.shape == (1797, 64) and y.max() == 9


def test_stacked_training_is_training_one_by_one(digits):
    X, y = digits
    together, _ = nn.train_stack(X, y, [0.7, 1.0], [0.05, 0.2], "RMS", depth=3, steps=4)
    for i, scale in enumerate((0.7, 1.0)):
        for j, rate in enumerate((0.05, 0.2)):
            alone, _ = nn.train_stack(X, y, [scale], [rate], "RMS", depth=3, steps=4)
            np.testing.assert_allclose(alone[:, 0, 0], together[:, i, j], rtol=1e-3)


def test_training_is_torchs_sgd(digits):
    X, y = digits
    losses, _ = nn.train_stack(X, y, [1.0], [0.1], depth=2, width=16, steps=3)
    layers = []
    for i, W in enumerate(nn.start_weights(2, 16)):
        linear = torch.nn.Linear(*W.shape)
        with torch.no_grad():
            linear.weight.copy_(W.T)
            linear.bias.zero_()
        layers += [linear] + [torch.nn.ReLU()] * (i < 2)
    net = torch.nn.Sequential(*layers)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    expected = []
    for _ in range(4):
        loss = F.cross_entropy(net(X), y)
        expected.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    np.testing.assert_allclose(losses[:, 0, 0], expected, rtol=1e-4)


def test_a_run_that_blows_up_does_not_spoil_its_neighbours(digits):
    X, y = digits
    losses, _ = nn.train_stack(X, y, [1.0], [0.1, 1e6], depth=3, steps=8)
    alone, _ = nn.train_stack(X, y, [1.0], [0.1], depth=3, steps=8)
    assert not losses[-1, 0, 1] < 1
    np.testing.assert_allclose(losses[:, 0, 0], alone[:, 0, 0], rtol=1e-3)


def test_largest_rate():
    final = np.array([[0.5, 0.2, np.nan], [2.0, 2.1, 2.2]])
    assert nn.largest_rate([0.1, 1.0, 3.0], final).tolist() == [1.0, 0.0]


def test_the_rates_say_what_learns():
    results = {"none": np.array([[np.nan, 2.0]]), "batch": np.array([[0.1, 0.2]])}
    fig, words = nn.draw_rates([1.0], [0.1, 1.0], results)
    ax = fig.axes[1]
    assert "none: few" in words and "batch: most" in words
    assert "2 of 2" in (ax.get_title(loc="left") or ax.get_title())


def lines_of(ax, label):
    return next(line.get_xydata().tolist() for line in ax.lines if line.get_label() == label)


def test_crosses_mark_guessing_and_circles_the_largest_rate_that_learns():
    final = np.array([[2.29, 2.0], [0.9, np.nan], [0.1, 0.2]])  # 2.29: the label frequencies
    fig, words = nn.draw_rates([0.3, 1.0, 2.0], [0.1, 1.0], {"none": final})
    assert lines_of(fig.axes[0], "no better than guessing") == [[0, 0], [1, 1]]
    assert lines_of(fig.axes[0], "largest rate that learns") == [[1, 0], [2, 1]]
    assert "2 of the 3 scales learn" in words


def test_a_panel_where_nothing_learns_has_no_circle():
    fig, words = nn.draw_rates([1.0], [0.1], {"none": np.array([[2.4]])})
    assert lines_of(fig.axes[0], "largest rate that learns") == []
    assert "0 of the 1 scales learn" in words


# ---------------------------------------------------------------- landscapes


def test_the_landscape_is_flat_along_the_scale_with_a_norm(digits):
    X, y = digits
    flat = nn.landscape(X, y, [-0.3, 0.0, 0.3], [0, 40], "RMS", depth=4)
    steep = nn.landscape(X, y, [-0.3, 0.0, 0.3], [0, 40], "none", depth=4)
    np.testing.assert_allclose(flat / flat[1], 1, rtol=0.01)
    assert np.ptp(flat[1]) > 1e-3
    assert np.all(steep[2] > 5 * steep[1])


# ---------------------------------------------------------------- vectors


@pytest.fixture
def sphere():
    return Explorer(
        nn.draw_sphere,
        dict(
            angle=IntSlider(30, min=-180, max=180),
            log_length=FloatSlider(0.3, min=-2, max=0.5),
            along=FloatSlider(0.0, min=-2, max=1),
            across=FloatSlider(0.0, min=-1, max=1),
            flip=Checkbox(False),
        ),
    )


def angles(widget):
    return number_after(widget.words, "and h + noise"), number_after(widget.words, "after RMS norm")


def test_every_length_lands_on_the_circle(sphere):
    for value in (-2, 0, 0.5):
        sphere.controls["log_length"].value = value
        assert number_after(sphere.words, "of RMSNorm(h)") == pytest.approx(2**0.5, abs=1e-3)
        assert number_after(sphere.words, "√d/‖h‖ =") == pytest.approx(2**0.5 / 10**value, rel=0.01)


def test_noise_along_vanishes_and_noise_across_keeps_its_angle(sphere):
    sphere.controls["along"].value = 0.7
    assert angles(sphere) == (0, 0) and numbers(sphere.words.split("Distance")[1])[1] == 0
    sphere.controls["along"].value = 0.0
    sphere.controls["across"].value = 0.8
    expected = np.degrees(np.arctan(0.8 / 10**0.3))
    assert angles(sphere) == pytest.approx((expected, expected), abs=0.06)


def test_noise_beyond_zero_flips_the_vector(sphere):
    sphere.controls["log_length"].value = 0.0
    sphere.controls["along"].value = -2.0
    assert angles(sphere) == (180, 180)


def test_the_flip_keeps_the_angle_error(sphere):
    sphere.controls["across"].value = 0.5
    before = angles(sphere)
    sphere.controls["flip"].value = True
    assert angles(sphere) == before


def test_the_company_goes_along_its_rays_to_the_circle():
    fig, _ = nn.draw_sphere(30, 0.3, 0.0, 0.0)
    rays = [line.get_xydata() for line in fig.axes[0].lines if line.get_linewidth() == 0.8]
    assert len(rays) == 14
    for start, end in rays:
        assert np.linalg.norm(end) == pytest.approx(2**0.5)
        assert nn.angle_between(start, end) == pytest.approx(0, abs=1e-6)


def test_the_axes_tell_which_means_vanish(rng):
    _, words = nn.draw_axes(rng.normal(3, 1, (5, 4)))
    columns, rows = words.split("Largest mean of a row")
    assert number_after(columns, "as it is,") == 0 and numbers(rows)[2] == 0
    assert numbers(rows)[3] > 0.1

"""Initialisation and normalisation references against torch.nn, autograd, SciPy and simulation."""

import math
import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider
from scipy import stats
from scipy.integrate import quad
from torch.nn import functional as F

from descent import data
from descent.pictures.neural_networks import initialisation_and_normalisation as nn
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/04_initialisation_and_normalisation", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
KINDS = pytest.mark.parametrize(
    "axis, center",
    [(0, True), (1, True), (1, False), (0, False)],
    ids=["batch", "layer", "RMS", "RMS 0"],
)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# ---------------------------------------------------------------- moments


def test_one_layers_moments_are_scipys_integrals():
    sd = 1.7
    m1, m2 = (
        quad(lambda s, k=k: s**k * stats.norm.pdf(s, scale=sd), 0, 20 * sd)[0] for k in (1, 2)
    )
    got = ref.relu_moments(sd**2 / (8 * 0.6), torch.tensor([8]), 0.6)
    np.testing.assert_allclose(got[0], [m2, m2 - m1**2], rtol=1e-7)


def test_moments_through_layers_are_those_of_many_networks(rng):
    """The mean over 4000 networks with widths 6, 40, 30 of both moments of one unit."""
    widths, var_w = [6, 40, 30], 0.05
    h = np.broadcast_to(rng.normal(1, 1, 6), (4000, 6))
    m2 = np.mean(h[0] ** 2)
    got = ref.relu_moments(var_w, torch.tensor(widths), m2)
    second = []
    for n_in, n_out in zip(widths, [*widths[1:], 5], strict=True):
        W = np.sqrt(var_w) * rng.normal(size=(4000, n_in, n_out))
        h = np.maximum(np.einsum("bi,bij->bj", h, W), 0)
        second.append([np.mean(h**2), np.var(h)])
    second = np.array(second)
    np.testing.assert_allclose(got[:, 0], second[:, 0], rtol=0.06)
    # A unit deep in a network of finite width is not exactly normal: its variance is only near.
    np.testing.assert_allclose(got[0, 1], second[0, 1], rtol=0.06)
    np.testing.assert_allclose(got[:, 1], second[:, 1], rtol=0.12)


def test_he_keeps_the_second_moment_and_one_over_n_loses_it():
    fan_in = torch.full((50,), 512)
    assert ref.relu_moments(2 / 512, fan_in, 1.0)[-1, 0].item() == pytest.approx(1)
    assert ref.relu_moments(1 / 512, fan_in, 1.0)[-1, 0].item() == pytest.approx(2.0**-50)
    assert ref.relu_moments(2 / 512, fan_in, 1.0)[-1, 1].item() == pytest.approx(
        2 * 0.3408, abs=1e-3
    )


# ---------------------------------------------------------------- initial weights


@pytest.mark.parametrize("n_in, n_out", [(784, 256), (64, 300), (200, 200)])
def test_he_is_kaiming_normal_and_xavier_is_xavier_uniform(n_in, n_out):
    g = torch.Generator().manual_seed(0)
    torch_he = torch.nn.init.kaiming_normal_(torch.empty(n_out, n_in), nonlinearity="relu")
    torch_xavier = torch.nn.init.xavier_uniform_(torch.empty(n_out, n_in))
    for scheme, theirs in (("he", torch_he), ("xavier", torch_xavier)):
        ours = ref.initial_weights(scheme, n_in, n_out, generator=g)
        assert ours.shape == (n_in, n_out)
        test = stats.ks_2samp(ours.flatten().numpy(), theirs.flatten().numpy())
        assert test.pvalue > 1e-3
        assert ours.var().item() == pytest.approx(
            ref.weight_variance(scheme, n_in, n_out), rel=0.03
        )
    bound = math.sqrt(6 / (n_in + n_out))
    assert ref.initial_weights("xavier", n_in, n_out, generator=g).abs().max() <= bound * (1 + 1e-6)


def test_statistics_are_those_of_a_large_draw():
    for scheme in ("he", "xavier"):
        W = ref.initial_weights(
            scheme, 900, 500, generator=torch.Generator().manual_seed(1), dtype=torch.float64
        )
        told, power = ref.weight_statistics(scheme, 900, 500), W.square().mean()
        assert told["shape"] == list(W.shape)
        assert 900 * power.item() == pytest.approx(told["power"], rel=0.02)
        assert (W**4).mean().item() / power.item() ** 2 == pytest.approx(
            told["shape_of_distribution"], rel=0.03
        )
    assert not ref.initial_weights("zeros", 3, 2).any()


def test_a_draw_has_no_equal_neighbours_and_its_generator_repeats_it():
    for scheme in ("zeros", "he", "xavier"):
        W, again = (
            ref.initial_weights(scheme, 300, 200, generator=torch.Generator().manual_seed(2))
            for _ in range(2)
        )
        told = ref.weight_statistics(scheme, 300, 200)
        assert (W[1:] == W[:-1]).double().mean().item() == pytest.approx(
            told["equal_neighbours"], abs=1e-3
        )
        assert torch.equal(W, again) == told["same_for_the_same_generator"]


def test_copies_stay_copies_and_equal_inputs_alone_do_not():
    """Gradients by torch: two units with equal weights in and out get equal gradients; otherwise not."""
    X, target = normal(20, 3), normal(20, 2, seed=1)
    for outgoing, copies in (([[0.4, 0.1]] * 4, True), (normal(4, 2, seed=2).tolist(), False)):
        W = torch.full((3, 4), 0.3, dtype=torch.float64, requires_grad=True)
        V = torch.tensor(outgoing, dtype=torch.float64)
        (torch.tanh(X @ W) @ V - target).square().mean().backward()
        moved = (W - 0.1 * W.grad).detach().round(decimals=12)
        assert (ref.distinct_units(moved, torch.zeros(4), V) == 1) == copies


@BATCHES
def test_dead_units_are_those_without_a_gradient(batch):
    torch.manual_seed(0)
    S = normal(*batch, 6, 8) - 1.0
    S.requires_grad_()
    H = torch.relu(S)
    H.sum().backward()
    silent = ~(S.grad != 0).any(-2)
    got = ref.dead_fraction(H.detach())
    assert got.shape == batch
    torch.testing.assert_close(got, silent.double().mean(-1))


# ---------------------------------------------------------------- the norms


def test_norm_ignores_what_it_should():
    A, c, d = normal(5, 4), torch.tensor([2.0, 0.5, 3, 7, 1.5]).double(), normal(5, seed=3)

    def plain(A, axis, center):
        return ref.norm(A, axis, center, torch.ones(4).double(), torch.zeros(4).double(), 0.0)

    for center in (True, False):
        torch.testing.assert_close(plain(A * c[:, None], 1, center), plain(A, 1, center))
        torch.testing.assert_close(plain(-A, 1, center), -plain(A, 1, center))
    torch.testing.assert_close(plain(A + d[:, None], 1, True), plain(A, 1, True))
    torch.testing.assert_close(plain(A * c[:4] + d[:4], 0, True), plain(A, 0, True))
    assert not torch.allclose(plain(A + d[:, None], 1, False), plain(A, 1, False))
    length = plain(A, 1, False).norm(dim=-1)
    torch.testing.assert_close(length, torch.full_like(length, 2.0))  # √d


@KINDS
@BATCHES
@DTYPES
def test_backward_is_autograds(batch, axis, center, dtype):
    A, dY = normal(*batch, 6, 4, dtype=dtype) * 2 + 1, normal(*batch, 6, 4, dtype=dtype, seed=2)
    gamma, beta = normal(2, 4, dtype=dtype, seed=1)
    got = ref.norm_backward(dY, A, axis, center, gamma, 1e-2)
    leaves = [
        v.double().requires_grad_() for v in (A, gamma.expand(*batch, 4), beta.expand(*batch, 4))
    ]
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    c = leaves[0] - leaves[0].mean(axis - 2, keepdim=True) if center else leaves[0]
    y = c / (c.square().mean(axis - 2, keepdim=True) + 1e-2).sqrt()
    (y * leaves[1].unsqueeze(-2) + leaves[2].unsqueeze(-2)).backward(dY.double())
    for ours, leaf in zip(got, leaves, strict=True):
        assert ours.dtype == dtype
        torch.testing.assert_close(ours.double(), leaf.grad, **tolerance(dtype))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_jacobian_is_autograds_and_symmetric(center, eps):
    def forward(a):
        c = a - a.mean() if center else a
        return c / (c.square().mean() + eps).sqrt()

    a = normal(6) + 1
    J = ref.norm_jacobian(a, center, eps)
    torch.testing.assert_close(J, torch.autograd.functional.jacobian(forward, a))
    torch.testing.assert_close(J, J.mT)
    if not center:
        torch.testing.assert_close(ref.rms_norm_jacobian(a, eps), J)


@BATCHES
def test_rms_jacobian_has_norm_root_d_over_length(batch):
    h = 1e-3 * normal(*batch, 5)
    J = ref.rms_norm_jacobian(h, 0.0)
    assert J.shape == (*batch, 5, 5)
    torch.testing.assert_close(
        torch.linalg.matrix_norm(J, 2), math.sqrt(5) / h.norm(dim=-1), rtol=1e-9, atol=0
    )
    torch.testing.assert_close((J @ h.unsqueeze(-1)).norm(dim=-2), torch.zeros(*batch, 1).double())


def test_gradients_are_orthogonal_and_shrink_with_the_scale():
    A, dY, gamma = normal(6, 4) + 1, normal(6, 4, seed=2), normal(4, seed=1)
    for axis, center in ((0, True), (1, True), (1, False)):
        dA = ref.norm_backward(dY, A, axis, center, gamma, 0.0)[0]
        assert (dA * A).sum(axis).abs().max() < 1e-12
        torch.testing.assert_close(
            ref.norm_backward(dY, 4 * A, axis, center, gamma, 0.0)[0], dA / 4
        )


# ---------------------------------------------------------------- batch norm in two modes


@DTYPES
def test_batch_norm_is_torchs_layer_over_many_batches(dtype):
    layer = torch.nn.BatchNorm1d(3, eps=1e-3, momentum=0.2, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(normal(3, seed=5))
        layer.bias.copy_(normal(3, seed=6))
    state = torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)
    for step in range(8):
        A, train = normal(5, 3, dtype=dtype, seed=step) * 2 + step, step % 3 != 2
        layer.train(train)
        out, *state = ref.batch_norm(
            A, layer.weight.detach(), layer.bias.detach(), *state, train, 0.2, 1e-3
        )
        assert out.dtype == dtype
        torch.testing.assert_close(out, layer(A).detach(), **tolerance(dtype))
    torch.testing.assert_close(state[0], layer.running_mean, **tolerance(dtype))
    torch.testing.assert_close(state[1], layer.running_var, **tolerance(dtype))


@BATCHES
def test_batches_are_normalised_one_by_one(batch):
    A, state = normal(*batch, 5, 3), (normal(*batch, 3, seed=1), normal(*batch, 3, seed=2).square())
    gamma, beta = normal(2, 3, seed=3)
    for train in (True, False):
        got = ref.batch_norm(A, gamma, beta, *state, train, 0.3, 1e-3)
        flat = zip(A.reshape(-1, 5, 3), *(v.reshape(-1, 3) for v in state), strict=True)
        one_by_one = [ref.batch_norm(a, gamma, beta, m, v, train, 0.3, 1e-3) for a, m, v in flat]
        for ours, theirs in zip(got, zip(*one_by_one, strict=True), strict=True):
            torch.testing.assert_close(ours, torch.stack(theirs).reshape(ours.shape))


def test_a_training_batch_of_one_row_gives_beta_and_keeps_the_variance():
    mean, var, gamma, beta = normal(4, 3)
    A = normal(1, 3, seed=7)
    out, new_mean, new_var = ref.batch_norm(A, gamma, beta, mean, var.square(), True, 0.25, 1e-5)
    torch.testing.assert_close(out[0], beta)
    torch.testing.assert_close(new_mean, 0.75 * mean + 0.25 * A[0])
    assert torch.equal(new_var, var.square())


# ------------------------------------------------------------ what it draws


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
    """The points that a line shows."""
    points = next(line.get_xydata() for line in ax.lines if line.get_label() == label)
    return points[np.isfinite(points).all(axis=1)].tolist()


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

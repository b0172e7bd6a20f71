"""Approximation references against torch modules, SciPy, brute force and counted patterns."""

import re
from itertools import product

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.interpolate import interp1d
from torch.nn import functional as F

from descent.pictures.neural_networks import approximation_and_depth as ad
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/03_approximation_and_depth", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def stack(*sizes, batch=(), dtype=torch.float64):
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [normal(*batch, n, m, dtype=dtype, seed=i) for i, (m, n) in enumerate(pairs)]
    bs = [normal(*batch, n, dtype=dtype, seed=9 + i) for i, (_, n) in enumerate(pairs)]
    return Ws, bs


# ---------------------------------------------------------------- affine upon affine


@DTYPES
@pytest.mark.parametrize("sizes", [(3, 2), (2, 5, 1), (2, 4, 3, 4, 2, 1)], ids=str)
def test_collapse_is_the_stack_of_torchs_layers(sizes, dtype):
    Ws, bs = stack(*sizes, dtype=dtype)
    x = normal(20, sizes[0], dtype=dtype, seed=5)
    h = x
    for W, b in zip(Ws, bs, strict=True):
        h = F.linear(h, W, b)
    W, b = ref.collapse(Ws, bs)
    assert W.dtype == dtype and W.shape == (sizes[-1], sizes[0])
    torch.testing.assert_close(F.linear(x, W, b), h, **tolerance(dtype))


@BATCHES
def test_collapse_of_a_batch_is_the_batch_of_collapses(batch):
    Ws, bs = stack(2, 4, 3, batch=batch)
    W, b = ref.collapse(Ws, bs)
    assert W.shape == (*batch, 3, 2) and b.shape == (*batch, 3)
    index = (0,) * len(batch)
    one = ref.collapse([V[index] for V in Ws], [c[index] for c in bs])
    torch.testing.assert_close(W[index], one[0])
    torch.testing.assert_close(b[index], one[1])


# ---------------------------------------------------------------- activations

TORCH = dict(
    relu=F.relu, leaky=F.leaky_relu, elu=F.elu, sigmoid=torch.sigmoid, tanh=torch.tanh
)  # torch's leaky ReLU leaks 0.01 unless told otherwise


@DTYPES
@pytest.mark.parametrize("name", TORCH)
def test_nothing_overflows_far_out(name, dtype):
    for part in ref.activation(name, torch.tensor([-2000.0, 2000.0], dtype=dtype)):
        assert part.isfinite().all()


def test_an_unknown_activation_is_told():
    with pytest.raises(ValueError, match="'swish'"):
        ref.activation("swish", torch.zeros(1))


# ---------------------------------------------------------------- steps and staircases


@BATCHES
def test_steps_reach_the_values_that_heaviside_sums_reach(batch):
    values = normal(*batch, 7)
    s = torch.arange(1.0, 8.0, dtype=torch.float64)
    on = torch.heaviside(s[:, None] - s + 0.5, torch.ones((), dtype=torch.float64))
    off = torch.heaviside(s[:, None] - s - 0.5, torch.ones((), dtype=torch.float64))
    expected = (values.unsqueeze(-2) * (on - off)).sum(-1)
    torch.testing.assert_close(ref.step_outputs(values)["outputs"], expected)


@pytest.mark.parametrize("eps, cells", [(0.5, 13), (0.1, 63), (0.05, 126)])
def test_the_sine_needs_the_notes_numbers_of_cells(eps, cells):
    assert ref.cells_needed(1.0, 0.0, 2 * np.pi, eps) == cells
    assert ref.cells_needed(0.0, 0.0, 1.0, eps) == 1


@pytest.mark.parametrize("eps", [0.7, 0.3, 0.1])
def test_staircase_is_scipys_nearest_neighbour_and_keeps_half_of_eps(eps):
    amp, freq, phase, a, b = 1.5, 2.0, 0.4, -1.0, 2.0
    heights = ref.staircase_outputs(amp, freq, phase, a, b, eps)["heights"].numpy()
    n = ref.cells_needed(amp * freq, a, b, eps)
    edges = np.linspace(a, b, n + 1)
    middle = (edges[1:] + edges[:-1]) / 2

    def f(x):
        return amp * np.sin(freq * x + phase)

    nearest = interp1d(middle, f(middle), kind="nearest", fill_value="extrapolate")
    places = (edges[:-1, None] + np.array([0.05, 0.5, 0.95]) * (b - a) / n).ravel()
    np.testing.assert_allclose(heights, nearest(places), atol=1e-12)
    x = np.linspace(a, b, 5001)
    assert np.abs(f(x) - nearest(x)).max() <= eps / 2 + 1e-9


# ---------------------------------------------------------------- broken lines


@DTYPES
@BATCHES
def test_broken_line_is_numpys(batch, dtype):
    xs = normal(*batch, 6, dtype=dtype).sort(-1).values
    ys = normal(*batch, 6, dtype=dtype, seed=1)
    got = ref.interpolant_outputs(xs, ys)["outputs"]
    assert got.shape == (*batch, 20) and got.dtype == dtype
    rows = zip(xs.reshape(-1, 6).numpy(), ys.reshape(-1, 6).numpy(), strict=True)
    expected = []
    for x, y in rows:
        places = (x[:-1, None] + np.diff(x)[:, None] * np.array(ref.FRACTIONS)).ravel()
        expected.append(np.interp(places, x, y))
    np.testing.assert_allclose(
        got.reshape(-1, 20).double().numpy(),
        np.array(expected),
        **(dict(rtol=1e-3, atol=1e-4) if dtype == torch.float32 else dict(rtol=1e-9)),
    )


# ---------------------------------------------------------------- sawteeth


@DTYPES
@pytest.mark.parametrize("n", range(7))
def test_tents_are_tents_of_tents(n, dtype):
    x = torch.arange(129, dtype=dtype) / 128
    y = x
    for _ in range(n):
        y = torch.where(y < 0.5, 2 * y, 2 - 2 * y)
    assert ref.tents(x, n).dtype == dtype
    torch.testing.assert_close(ref.tents(x, n), y, **tolerance(dtype))


def test_tents_have_their_pieces():
    y = ref.tent_outputs(4)["outputs"].numpy()
    assert 1 + np.sum(np.abs(np.diff(y, 2)) > 1e-9) == 2**4


# ---------------------------------------------------------------- price and ceiling


@pytest.mark.parametrize("sizes", [[2, 5, 1], [3, 4, 4, 2], [4, 2]], ids=str)
def test_price_is_the_number_of_weights_of_torchs_layers(sizes):
    layers = [torch.nn.Linear(m, n) for m, n in zip(sizes, sizes[1:], strict=False)]
    assert ref.budget(sizes)[0] == sum(layer.weight.numel() for layer in layers)


@pytest.mark.parametrize("n, regions", [(1, 2), (4, 11), (8, 37)])
def test_ceiling_of_lines_in_the_plane(n, regions):
    assert ref.budget([2, n, 1])[1] == regions == (n * n + n + 2) // 2


def test_ceilings_by_hand():
    assert ref.budget([2, 4, 4, 1])[1] == 121
    assert ref.budget([3, 3, 1])[1] == 8  # three planes
    assert ref.budget([3, 2, 5, 1]) == [21, 64]
    assert ref.budget([3, 6, 1, 6, 2])[1] == (1 + 6 + 15 + 20) * 2 * 7
    assert ref.budget([5, 2])[1] == 1


@pytest.mark.parametrize("sizes", [[1, 5, 1], [2, 5, 1], [2, 4, 3, 1], [2, 1, 4, 1]], ids=str)
def test_no_random_network_passes_the_ceiling_and_one_layer_reaches_it(sizes, rng):
    """Patterns on many points, at all scales."""
    most = 0
    for _ in range(10):
        h = rng.normal(size=(40_000, sizes[0])) * np.exp(rng.uniform(-4, 5, (40_000, 1)))
        on = []
        for m, n in zip(sizes[:-1], sizes[1:-1], strict=False):
            z = h @ rng.normal(size=(m, n)) + rng.normal(size=n)
            on.append(z > 0)
            h = np.maximum(0, z)
        most = max(most, len(np.unique(np.hstack(on), axis=0)))
    ceiling = ref.budget(sizes)[1]
    assert most <= ceiling
    if len(sizes) == 3:
        assert most == ceiling


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


def interpolant(xs, ys):
    slopes = np.diff(ys) / np.diff(xs)
    W = np.append(0.0, np.ones(len(slopes)))
    return W, np.append(1.0, -xs[:-1]), np.concatenate([[ys[0], slopes[0]], np.diff(slopes)])


def tents(n):
    layers, W = [], np.array([[1.0]])
    for _ in range(n):
        layers.append((np.vstack([W, W]), np.array([0.0, -0.5])))
        W = np.array([[2.0, -4.0]])
    return [*layers, (W, np.zeros(1))]


# ---------------------------------------------------------------- networks as arrays


def test_forward_is_torchs():
    layers = ad.random_layers([3, 5, 4, 2], 0)
    modules = []
    for W, b in layers:
        linear = torch.nn.Linear(*W.shape[::-1]).double()
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(W))
            linear.bias.copy_(torch.from_numpy(b))
        modules += [linear, torch.nn.ReLU()]
    X = np.random.default_rng(1).normal(size=(9, 3))
    expected = torch.nn.Sequential(*modules[:-1])(torch.from_numpy(X)).detach().numpy()
    np.testing.assert_allclose(ad.forward(layers, X), expected)


def test_codes_tell_patterns_apart_and_nothing_else():
    layers = ad.random_layers([2, 3, 3, 1], 0)
    X = np.random.default_rng(0).normal(size=(400, 2))
    (W1, b1), (W2, b2), _ = layers
    z1 = X @ W1.T + b1
    on = np.hstack([z1 > 0, np.maximum(0, z1) @ W2.T + b2 > 0])
    same = (on[:, None] == on).all(-1)
    codes = ad.pattern_codes(layers, X)
    assert np.array_equal(same, codes[:, None] == codes)


def test_pieces_are_counted():
    x = np.linspace(0, 1, 65)
    assert ad.count_pieces(3 * x - 1) == 1
    assert ad.count_pieces(np.abs(x - 0.5)) == 2
    assert ad.count_pieces(np.interp(x, [0, 0.25, 0.75, 1], [0, 1, -1, 5])) == 3


@pytest.mark.parametrize("n0, widths", [(2, [4]), (2, [8]), (3, [3]), (2, [4, 4])])
def test_ceiling(n0, widths):
    assert ad.region_ceiling(n0, widths) == {4: 11, 8: 37, 3: 8}[widths[0]] ** len(widths)


# ---------------------------------------------------------------- activations


@pytest.mark.parametrize(
    "name, theirs",
    [
        ("ReLU", torch.relu),
        ("leaky ReLU", torch.nn.functional.leaky_relu),
        ("ELU", torch.nn.functional.elu),
        ("sigmoid", torch.sigmoid),
        ("SiLU", torch.nn.functional.silu),
        ("softplus", torch.nn.functional.softplus),
    ],
)
def test_curves_are_torchs(name, theirs):
    z = np.linspace(-4, 4, 33)
    np.testing.assert_allclose(ad.curve(name, z), theirs(torch.from_numpy(z)).numpy(), atol=1e-7)


def test_monotone_ones_are_known():
    grid = np.linspace(-6, 6, 1201)
    falls = {n for n in ad.CURVES if not ad.is_monotone(lambda z, n=n: ad.curve(n, z), grid)}
    assert falls == {"SiLU", "sin", "Gaussian"}
    assert ad.is_monotone(lambda z: -z, grid)


def test_the_activation_widget_tells_value_slope_and_saturation():
    widget = Explorer(
        ad.draw_activation,
        dict(
            name=Dropdown(options=ad.CURVES, value="sigmoid"),
            z=FloatSlider(0.0, min=-5, max=5),
            leak=SelectionSlider(options=[0.001, 0.1], value=0.1),
        ),
    )
    assert numbers(widget.words)[1:3] == [0.5, 0.25]
    widget.controls["name"].value = "leaky ReLU"
    widget.controls["z"].value = -2.0
    assert numbers(widget.words)[1:3] == [-0.2, 0.1] and "on 0% of" in widget.words
    widget.controls["leak"].value = 0.001
    assert "on 50% of" in widget.words


def test_gradient_lengths_are_autograds():
    rng = np.random.default_rng(0)
    Ws = [torch.from_numpy(rng.normal(size=(64, 64)) / 8) for _ in range(3)]
    h = first = torch.from_numpy(rng.normal(size=(32, 64))).requires_grad_()
    for W in Ws:
        h = torch.tanh(h @ W.T)
    g = torch.from_numpy(rng.normal(size=(32, 64)))
    h.backward(g / g.norm(dim=1, keepdim=True))
    got = ad.gradient_norms("tanh", depth=3)[0]
    assert got == pytest.approx(first.grad.norm(dim=1).mean().item(), rel=1e-4)


def test_sigmoids_vanish_and_skips_do_not():
    assert ad.gradient_norms("sigmoid")[0] < 1e-10
    assert 0.5 < ad.gradient_norms("sigmoid + skip")[0] < 3


# ---------------------------------------------------------------- steps


@pytest.mark.parametrize("n, error", [(5, 1.42), (9, 0.76), (10, 1.3e-4)])
def test_the_printed_steps_fail_for_few_points(n, error):
    values = ad.notes_values(n)
    assert ad.points_error(ad.printed_step_net(values), values) == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("eps, cells, error", [(0.5, 13, 0.2393), (0.1, 63, 0.0498), (0.05, 126, 0.0249)])  # fmt: skip
def test_the_staircase_widget_tells_the_notes_numbers(eps, cells, error):
    words = ad.draw_staircase("sin x on [0, 2π]", eps)[1]
    assert f"for {cells} cells, {2 * cells} neurons" in words
    assert numbers(words)[-1] == pytest.approx(error, abs=5e-5)


@pytest.mark.parametrize("target, eps", list(product(ad.TARGETS, [0.5, 0.2, 0.05])))
def test_every_staircase_keeps_its_promise(target, eps):
    words = ad.draw_staircase(target, eps)[1]
    assert numbers(words)[-1] < eps


def test_the_notes_network_is_the_staircase():
    net = ad.notes_staircase(np.sin, 0, 2 * np.pi, 20)
    middles = (np.arange(20) + 0.5) * np.pi / 10
    np.testing.assert_allclose(ad.sigmoid_net(middles, *net), np.sin(middles), atol=1e-9)
    assert len(net[0]) == 40


def test_an_edited_value_stays_in_its_cell():
    steps = ad.notes_staircase(np.cos, -1, 1, 40)
    knots = np.linspace(-1, 1, 5)
    _, words, shares = ad.draw_memory(steps, interpolant(knots, np.cos(knots)), np.cos, -1, 1)
    assert shares[0] == pytest.approx(1 / 40, rel=0.15)
    assert "changes 2% of" in words or "changes 3% of" in words


# ---------------------------------------------------------------- walls


@pytest.fixture
def wall_widget():
    return Explorer(
        ad.draw_walls,
        dict(
            n_walls=IntSlider(3, min=1, max=3),
            steep=FloatSlider(40, min=2, max=60),
            gate=Checkbox(False),
        ),
    )


def test_the_sum_leaks_and_the_gate_does_not(wall_widget):
    _, _, leak, _, overlap = numbers(wall_widget.words.replace("½", "0.5"))
    assert leak == pytest.approx(2, abs=0.05) and overlap < 0.1
    wall_widget.controls["gate"].value = True
    _, _, leak, _, overlap = numbers(wall_widget.words.replace("½", "0.5"))
    assert leak < 0.1 and overlap > 0.95


def test_two_walls_are_no_triangle(wall_widget):
    wall_widget.controls["gate"].value = True
    wall_widget.controls["n_walls"].value = 2
    assert numbers(wall_widget.words)[-1] < 0.5


def test_the_triangle_has_its_area():
    points = ad.grid_points(3.0, 601)
    area = ad.inside(points).mean() * 36
    assert area == pytest.approx(3 * np.sqrt(3) / 4, rel=0.02)  # side √3


# ---------------------------------------------------------------- broken lines


def test_twice_the_pieces_a_quarter_of_the_error():
    widget = Explorer(
        ad.interpolant_explorer(interpolant),
        dict(target=Dropdown(options=list(ad.SMOOTH), value="x²"), k=IntSlider(4, min=1, max=40)),
    )
    coarse = numbers(widget.words)[1]
    widget.controls["k"].value = 8
    assert numbers(widget.words)[1] == pytest.approx(coarse / 4, abs=1e-3)
    widget.controls["target"].value = "|x|"
    assert numbers(widget.words)[1] == 0.0


def test_training_all_at_once_is_training_alone():
    starts = [ad.random_start(3, 0), ad.random_start(5, 1)]
    together = ad.train_lines(np.sin, starts, steps=20)
    for start, net in zip(starts, together, strict=True):
        (alone,) = ad.train_lines(np.sin, [start], steps=20)
        for a, b in zip(alone, net, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)


def test_training_is_torchs_adam():
    W, b, U = ad.random_start(4, 0)
    params = [torch.tensor(p, requires_grad=True) for p in (W, b, U)]
    adam = torch.optim.Adam(params, lr=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda t: 0.5 * (1 + np.cos(np.pi * (t + 1) / 9)))  # fmt: skip
    x = torch.linspace(-1, 1, 32, dtype=torch.float64)
    for _ in range(9):
        adam.zero_grad()
        y = torch.relu(torch.outer(x, params[0]) + params[1]) @ params[2]
        ((y - torch.sin(3 * x)) ** 2).mean().backward()
        adam.step()
        rate.step()
    (net,) = ad.train_lines(lambda x: np.sin(3 * x), [(W, b, U)], 9, 0.01, 32)
    for mine, theirs in zip(net, params, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), atol=1e-6)


# ---------------------------------------------------------------- depth


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_square_network_errs_by_a_power_of_four(n):
    x = np.linspace(0, 1, 2**10 + 1)
    layers = ad.square_net(n)
    error = np.abs(ad.forward(layers, x[:, None])[:, 0] - x**2).max()
    assert error == pytest.approx(4.0 ** -(n + 1), rel=1e-6)
    assert sum(len(b) for _, b in layers[:-1]) == 3 * n


def test_tents_are_counted_in_words():
    assert "4 layers of two units: 16 linear pieces" in ad.draw_tents(tents)[1]


def test_the_fold_repeats_every_region_four_times():
    codes = ad.pattern_codes(ad.folded_layers(), ad.grid_points(8, 1000))
    assert len(np.unique(codes)) == 44


def test_a_sawtooth_outlives_small_changes_of_its_weights_only():
    assert ad.disturbed_pieces(tents(8), 0) == 2**8
    assert ad.disturbed_pieces(tents(8), 0.01) > 2**7 > 4 * ad.disturbed_pieces(tents(8), 0.5)


def test_the_searched_network_has_more_regions_than_the_folded_one():
    codes = ad.pattern_codes(ad.searched_layers(), ad.grid_points(8, 1000))
    _, sizes = np.unique(codes, return_counts=True)
    assert len(sizes) == 70 <= ad.region_ceiling(2, [4, 4])
    assert sizes.min() > 10  # no region hangs on the rounding of one point


def test_no_single_layer_is_below_the_floor_drawn_for_the_square():
    fig, _ = ad.draw_square()
    equal, floor, deep = (line.get_ydata() for line in fig.axes[0].lines)
    assert (floor < equal).all() and deep[-1] < floor[-1] / 10
    x = np.linspace(0, 1, 4001)
    for k in (
        3,
        6,
    ):  # the best line on each of k + 1 equal pieces: the chord, lowered by half its error
        h = 1 / (k + 1)
        chords = np.interp(x, np.arange(k + 2) * h, (np.arange(k + 2) * h) ** 2)
        assert np.isclose(np.abs(chords - h**2 / 8 - x**2).max(), floor[k // 3 - 1], rtol=1e-3)


def test_lines_of_the_map_part_different_patterns():
    fig, _ = ad.draw_region_map(4, 1, 0)
    colours, lines = (image.get_array() for image in fig.axes[0].images)
    inside = np.asarray(lines)[1:, 1:, 3] == 0
    same = (colours[1:, 1:] == colours[:-1, 1:]) & (colours[1:, 1:] == colours[1:, :-1])
    assert np.array_equal(inside, same) and 0.01 < 1 - inside.mean() < 0.1


def test_a_slope_of_exactly_the_limit_is_not_shaded():
    assert "on 0% of" in ad.draw_activation("leaky ReLU", 1.0, 0.05)[1]
    assert "on 50% of" in ad.draw_activation("leaky ReLU", 1.0, 0.01)[1]


def test_the_map_counts_what_it_colours():
    widget = Explorer(
        ad.draw_region_map,
        dict(
            width=IntSlider(4, min=1, max=12),
            depth=IntSlider(1, min=1, max=4),
            seed=IntSlider(0, min=0, max=20),
        ),
    )
    _, _, seen, ceiling, one = numbers(widget.words)
    assert 5 <= seen <= ceiling == one == 11
    widget.controls["depth"].value = 3
    _, _, more, ceiling, one = numbers(widget.words)
    assert more > seen and ceiling == 11**3 and one == 79


def test_pieces_between_two_points_are_one_more_than_the_kinks():
    layers = [(np.ones((3, 1)), np.array([-0.2, -0.5, -2.0])), (np.ones((1, 3)), np.zeros(1))]
    assert ad.pieces_between(layers, [[0.0]], [[1.0]]).tolist() == [3]


def test_disc_and_ring_are_apart():
    X, y = ad.disc_in_ring()
    r = np.linalg.norm(X, axis=1)
    assert r[y == 0].max() < 1 < r[y == 1].min()


def test_digit_figures_tell_the_truth():
    row = dict(name="a", accuracy=0.95, pieces=(3, 4), units=10)
    assert "has fewer pieces than hidden units" in ad.draw_digit_nets([row, row])[1]
    assert "not within" in ad.draw_digit_nets([row, {**row, "accuracy": 0.8}])[1]
    assert "some network has more" in ad.draw_digit_nets([row, {**row, "units": 1}])[1]

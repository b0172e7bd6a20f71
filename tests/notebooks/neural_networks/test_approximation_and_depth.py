"""Approximation and depth: references against torch, SciPy, NumPy and brute force; what it draws."""

import numpy as np
import pytest
import torch
from scipy.interpolate import interp1d
from torch.nn import functional as F

from descent.pictures.neural_networks import approximation_and_depth as ad
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/03_approximation_and_depth"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


# ---------------------------------------------------------------- references


@pytest.mark.parametrize("sizes", [(3, 2), (2, 5, 1), (2, 4, 3, 4, 2, 1)], ids=str)
def test_collapse_is_the_stack_of_torchs_layers(sizes):
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [normal(n, m, seed=i) for i, (m, n) in enumerate(pairs)]
    bs = [normal(n, seed=9 + i) for i, (_, n) in enumerate(pairs)]
    h = x = normal(20, sizes[0], seed=5)
    for W, b in zip(Ws, bs, strict=True):
        h = F.linear(h, W, b)
    torch.testing.assert_close(F.linear(x, *ref.collapse(Ws, bs)), h)


@pytest.mark.parametrize("name", ["relu", "leaky", "elu", "sigmoid", "tanh"])
def test_no_activation_overflows_far_out(name):
    for part in ref.activation(name, torch.tensor([-2000.0, 2000.0])):
        assert part.isfinite().all()


def test_an_unknown_activation_is_told():
    with pytest.raises(ValueError, match="'swish'"):
        ref.activation("swish", torch.zeros(1))


@pytest.mark.parametrize("batch", [(), (2, 3)], ids=str)
def test_steps_reach_the_values_that_heaviside_sums_reach(batch):
    values, s, one = normal(*batch, 7), torch.arange(1, 8).double(), torch.ones(()).double()
    on, off = (torch.heaviside(s[:, None] - s + shift, one) for shift in (0.5, -0.5))
    expected = (values.unsqueeze(-2) * (on - off)).sum(-1)
    torch.testing.assert_close(ref.step_outputs(values)["outputs"], expected)


@pytest.mark.parametrize("eps, cells", [(0.5, 13), (0.1, 63), (0.05, 126)])
def test_the_sine_needs_the_notes_numbers_of_cells(eps, cells):
    assert ref.cells_needed(1.0, 0.0, 2 * np.pi, eps) == cells
    assert ref.cells_needed(0.0, 0.0, 1.0, eps) == 1


@pytest.mark.parametrize("eps", [0.7, 0.3, 0.1])
def test_the_staircase_is_scipys_nearest_neighbour_and_keeps_half_of_eps(eps):
    def f(x):
        return 1.5 * np.sin(2.0 * x + 0.4)

    heights = ref.staircase_outputs(1.5, 2.0, 0.4, -1.0, 2.0, eps)["heights"].numpy()
    n = ref.cells_needed(3.0, -1.0, 2.0, eps)
    edges = np.linspace(-1, 2, n + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    nearest = interp1d(middle, f(middle), kind="nearest", fill_value="extrapolate")
    places = (edges[:-1, None] + np.array([0.05, 0.5, 0.95]) * 3 / n).ravel()
    np.testing.assert_allclose(heights, nearest(places), atol=1e-12)
    x = np.linspace(-1, 2, 5001)
    assert np.abs(f(x) - nearest(x)).max() <= eps / 2 + 1e-9


def test_the_broken_line_is_numpys():
    xs, ys = normal(6).sort().values, normal(6, seed=1)
    places = (xs[:-1, None] + xs.diff()[:, None] * torch.tensor(ref.FRACTIONS)).ravel()
    expected = np.interp(places, xs, ys)
    np.testing.assert_allclose(ref.interpolant_outputs(xs, ys)["outputs"], expected, rtol=1e-9)


@pytest.mark.parametrize("n", range(1, 8))
def test_a_square_is_numpys_broken_line_and_x_minus_the_tents(n):
    x, knots = np.arange(101) / 100, np.arange(2**n + 1) / 2**n
    told = ref.square_outputs(n)["outputs"]
    np.testing.assert_allclose(told, np.interp(x, knots, knots**2), atol=1e-12)
    fold, total = x, x
    for k in range(1, n + 1):
        fold = 1 - np.abs(2 * fold - 1)
        total = total - fold / 4**k
    np.testing.assert_allclose(told, total, atol=1e-12)


@pytest.mark.parametrize("bend", [torch.relu, torch.tanh], ids=["relu", "tanh"])
@pytest.mark.parametrize("sizes", [(3, 2), (2, 4, 3, 2)], ids=str)
def test_training_is_torchs_layers_loss_and_optimiser(sizes, bend):
    X, Y = normal(10, sizes[0], seed=1), normal(10, sizes[-1], seed=2)
    linears = [torch.nn.Linear(m, n).double() for m, n in zip(sizes, sizes[1:], strict=False)]
    first = [(net.weight.detach().clone(), net.bias.detach().clone()) for net in linears]
    params = [part for net in linears for part in net.parameters()]
    adam, losses = torch.optim.Adam(params, lr=0.03), []
    for _ in range(25):
        h = X
        for net in linears[:-1]:
            h = bend(net(h))
        loss = F.mse_loss(linears[-1](h), Y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.detach())
    got, told = ref.trained(first, X, Y, 0.03, 25, bend)
    torch.testing.assert_close(torch.stack(told), torch.stack(losses))
    for (W, b), net in zip(got, linears, strict=True):
        torch.testing.assert_close(W, net.weight.detach())
        torch.testing.assert_close(b, net.bias.detach())


@pytest.mark.parametrize("sizes", [[2, 5, 1], [3, 4, 4, 2], [4, 2]], ids=str)
def test_the_price_is_the_number_of_weights_of_torchs_layers(sizes):
    layers = [torch.nn.Linear(m, n) for m, n in zip(sizes, sizes[1:], strict=False)]
    assert ref.budget(sizes)[0] == sum(layer.weight.numel() for layer in layers)


def test_ceilings_by_hand():
    for n, regions in ((1, 2), (4, 11), (8, 37)):
        assert ref.budget([2, n, 1])[1] == regions == (n * n + n + 2) // 2
    assert ref.budget([2, 4, 4, 1])[1] == 121
    assert ref.budget([3, 3, 1])[1] == 8  # three planes
    assert ref.budget([3, 6, 1, 6, 2])[1] == (1 + 6 + 15 + 20) * 2 * 7


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


# ---------------------------------------------------------------- networks as arrays


def test_forward_is_torchs():
    layers, X = ad.random_layers([3, 5, 4, 2], 0), normal(9, 3, seed=1)
    h = X
    for W, b in layers[:-1]:
        h = torch.relu(F.linear(h, torch.tensor(W), torch.tensor(b)))
    expected = F.linear(h, *map(torch.tensor, layers[-1]))
    np.testing.assert_allclose(ad.forward(layers, X), expected)


def test_codes_tell_patterns_apart_and_nothing_else():
    layers, X = ad.random_layers([2, 3, 3, 1], 0), normal(400, 2).numpy()
    (W1, b1), (W2, b2), _ = layers
    z1 = X @ W1.T + b1
    on = np.hstack([z1 > 0, np.maximum(0, z1) @ W2.T + b2 > 0])
    codes = ad.pattern_codes(layers, X)
    assert np.array_equal((on[:, None] == on).all(-1), codes[:, None] == codes)


def test_pieces_are_counted():
    x = np.linspace(0, 1, 65)
    assert ad.count_pieces(3 * x - 1) == 1
    assert ad.count_pieces(np.interp(x, [0, 0.25, 0.75, 1], [0, 1, -1, 5])) == 3
    assert ad.count_pieces(ad.tents(x, 4)) == 16
    layers = [(np.ones((3, 1)), np.array([-0.2, -0.5, -2.0])), (np.ones((1, 3)), np.zeros(1))]
    assert ad.pieces_between(layers, [[0.0]], [[1.0]]).tolist() == [3]


def test_shaken_layers_are_off_by_their_share():
    layers = ad.random_layers([3, 200, 5], 0)
    pairs = zip(layers, ad.shaken(layers, 0.01, seed=1), strict=True)
    off = np.concatenate(
        [np.ravel(b / a - 1) for old, new in pairs for a, b in zip(old, new, strict=True)]
    )
    assert len(off) == 200 * 4 + 5 * 201 and off.std() == pytest.approx(0.01, rel=0.1)


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


# ---------------------------------------------------------------- pictures that move


def compared(**moved):
    moved = dict(target="sin x", eps=0.1) | moved
    return controls.explorer(NOTEBOOK, "compare_explorer", **moved).words.facts


def test_a_quarter_of_epsilon_costs_four_times_the_steps_and_twice_the_pieces():
    wide, near = compared(eps=0.04), compared(eps=0.01)
    assert (wide["steps"], near["steps"]) == (157, 628)  # one jump fewer than 2π / ε, rounded up
    assert (wide["pieces"], near["pieces"]) == (12, 23)  # 2π / √(8ε), rounded up
    for facts, eps in ((wide, 0.04), (near, 0.01)):
        assert facts["steps_error"] < 0.51 * eps and facts["lines_error"] <= eps


@pytest.mark.parametrize("target", ad.TARGETS)
def test_every_target_keeps_its_lipschitz_constant_and_bound(target):
    f, a, b, L, bend = ad.TARGETS[target]
    x = np.linspace(a, b, 20_001)
    slope = np.diff(f(x)) / np.diff(x)
    assert 0.99 * L < np.abs(slope).max() <= L * (1 + 1e-9)
    assert 0.95 * bend < np.abs(np.diff(slope) / np.diff(x)[1:]).max() <= bend * (1 + 1e-4)
    facts = compared(target=target, eps=0.05)
    assert facts["lines_error"] <= 0.05 and facts["steps_error"] <= 0.026


def test_a_layer_more_divides_the_error_by_four_and_folds_once_more():
    def folded(**moved):
        moved = dict(x=0.3, n=2) | moved
        return controls.explorer(NOTEBOOK, "fold_explorer", **moved).words.facts

    two, three = folded(), folded(n=3)
    assert (two["last"], three["last"]) == pytest.approx((0.8, 0.4))
    assert two["error"] == pytest.approx(1 / 64) and three["error"] == pytest.approx(1 / 256)
    moved = folded(x=0.7, n=9)
    assert moved["out"] == pytest.approx(0.49, abs=1e-6) and moved["units"] == 27


def walls(**moved):
    moved = dict(place=-0.5, steep=40, gate=False) | moved
    return controls.explorer(NOTEBOOK, "ad.draw_walls", **moved).words.facts


def test_the_sum_of_walls_leaks_and_the_second_layer_does_not():
    plain, gated = walls(), walls(gate=True)
    assert plain["leak"] == pytest.approx(2, abs=0.05) and plain["overlap"] < 0.1
    assert gated["leak"] < 0.1 and gated["overlap"] > 0.95
    assert walls(gate=True, steep=2)["overlap"] < gated["overlap"]
    assert walls(gate=True, place=-1.5)["overlap"] > 0.95


def test_the_triangle_has_its_area():
    points = ad.grid_points(3.0, 601)
    assert ad.inside(points).mean() * 36 == pytest.approx(3 * np.sqrt(3) / 4, rel=0.02)


def test_the_activation_that_is_dragged_tells_value_slope_and_saturation():
    def told(**moved):
        return controls.explorer(NOTEBOOK, "ad.draw_activation", **moved).words.facts

    middle = told(name="sigmoid", z=0.0)
    assert (middle["value"], middle["slope"]) == pytest.approx((0.5, 0.25))
    leaky = told(name="leaky ReLU", z=-2.0, leak=0.1)
    assert (leaky["value"], leaky["slope"]) == pytest.approx((-0.2, 0.1))
    assert leaky["flat"] == 0 and told(name="leaky ReLU", leak=0.001)["flat"] > 0.45


def test_more_layers_raise_the_ceiling_and_the_count_stays_below_it():
    def regions(**moved):
        moved = dict(width=4, depth=1, seed=0) | moved
        return controls.explorer(NOTEBOOK, "region_explorer", **moved).words.facts

    one, three = regions(), regions(depth=3)
    assert 5 <= one["count"] <= one["ceiling"] == one["one"] == 11
    assert one["count"] < three["count"] <= three["ceiling"] == 11**3 and three["one"] == 79


# ---------------------------------------------------------------- other pictures


@pytest.mark.parametrize("n, error", [(5, 1.42), (9, 0.76), (10, 1.3e-4)])
def test_the_printed_steps_fail_for_few_points(n, error):
    values = ad.notes_values(n)
    assert ad.points_error(ad.printed_step_net(values), values) == pytest.approx(error, rel=0.03)


def test_an_edited_value_stays_in_its_cell():
    steps = ad.doors(np.cos, -1, 1, 40)
    middles = np.linspace(-1, 1, 41)[:-1] + 0.025
    np.testing.assert_allclose(ad.sigmoid_net(middles, *steps), np.cos(middles), atol=1e-9)
    facts = ad.draw_memory(steps, ad.random_line(5, 0), np.cos)[1].facts
    assert facts["cell"] == pytest.approx(1 / 40, rel=0.15) and 0 < facts["felt"] <= 1


def test_the_opening_numbers_are_the_closed_forms():
    facts, x = ad.draw_price()[1].facts, np.linspace(0, 1, 401)
    assert facts["four"] == pytest.approx(
        np.max(np.abs(np.interp(x, x[::100], x[::100] ** 2) - x**2))
    )
    assert facts["deep"] < 1e-6 < facts["floor"] < facts["flat"]


def test_monotone_ones_and_the_lift_are_known():
    grid = np.linspace(-6, 6, 1201)
    falls = {n for n in ad.CURVES if not ad.is_monotone(lambda z, n=n: ad.curve(n, z), grid)}
    assert falls == {"SiLU", "sin", "Gaussian"}
    X, y = ad.disc_in_ring()
    r = np.linalg.norm(X, axis=1)
    assert r[y == 0].max() < 1 < r[y == 1].min()
    assert ad.draw_lift(X, y, lambda x, z: np.maximum(0, 1 - x**2 - z**2))[1].facts["gap"] > 0


def test_digit_figures_tell_the_largest_share_of_pieces():
    row = dict(name="a", accuracy=0.95, pieces=(3, 4), units=10)
    facts = ad.draw_digit_nets([row, {**row, "units": 8, "accuracy": 0.8}])[1].facts
    assert facts["share"] == 0.5 and facts["low"] == 0.8

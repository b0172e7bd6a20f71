"""One hidden layer: references against torch, autograd, distributions and brute force; what it draws."""

import itertools

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit

from descent.pictures.neural_networks import one_hidden_layer as oh
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/01_one_hidden_layer"
ref = notebook_module(NOTEBOOK, "reference")

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def network(*batch, d=4, m=2, dtype=torch.float64, seed=0):
    shapes = ((*batch, d, m), (*batch, d), (*batch, d), batch)
    return [normal(*shape, dtype=dtype, seed=seed + k) for k, shape in enumerate(shapes)]


def module(W1, b1, w2, b2):
    d, m = W1.shape
    net = torch.nn.Sequential(torch.nn.Linear(m, d), torch.nn.ReLU(), torch.nn.Linear(d, 1))
    net = net.to(W1.dtype)
    with torch.no_grad():
        for p, value in zip(net.parameters(), (W1, b1, w2[None], b2[None]), strict=True):
            p.copy_(value)
    return net


def singles(batch, *tensors):
    """The members of a batch one by one."""
    for index in itertools.product(*map(range, batch)):
        yield [t[index] for t in tensors]


# ---------------------------------------------------------------- forward pass


@DTYPES
@BATCHES
def test_forward_is_torch_nn(dtype, batch):
    X, net = normal(*batch, 7, 2, dtype=dtype, seed=9), network(*batch, dtype=dtype)
    got = ref.forward(X, *net)
    assert got.dtype == dtype and got.shape == (*batch, 7)
    one_by_one = zip(singles(batch, X, *net), singles(batch, got), strict=True)
    for (x, *weights), (scores,) in one_by_one:
        torch.testing.assert_close(scores, module(*weights)(x)[:, 0].detach(), **tolerance(dtype))


# ---------------------------------------------------------------- pieces


@DTYPES
@pytest.mark.parametrize("seed", range(5))
def test_between_its_places_the_score_has_the_slopes_of_the_pieces(dtype, seed):
    rng = np.random.default_rng(seed)
    w1 = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], 6)
    place = rng.integers(-4, 5, 6) / 4.0  # some coincide
    w1, b1, w2 = (
        torch.tensor(a, dtype=dtype) for a in (w1, -w1 * place + (w1 == 0), rng.normal(size=6))
    )
    places, slopes = ref.pieces(w1, b1, w2)
    assert places.dtype == slopes.dtype == dtype and len(slopes) == len(places) + 1
    assert places.tolist() == sorted(set(place[w1.numpy() != 0].tolist()))
    net = (w1[:, None].double(), b1.double(), w2.double(), torch.zeros(()).double())
    ends = torch.cat([places[:1] - 1, places, places[-1:] + 1]).double()
    scores = ref.forward(ends[:, None], *net)
    torch.testing.assert_close(scores.diff() / ends.diff(), slopes.double(), rtol=1e-5, atol=1e-5)


def test_units_without_weight_leave_one_flat_piece():
    zero = torch.zeros(3, dtype=torch.float64)
    places, slopes = ref.pieces(zero, zero + 1, zero + 1)
    assert places.shape == (0,) and slopes.tolist() == [0.0]


# ---------------------------------------------------------------- plateaus


@pytest.mark.parametrize("seed", range(4))
def test_no_common_scores_have_a_lower_loss_than_the_plateau(seed):
    """A minimiser over one score a group, on labels that do not all agree, comes to the same."""
    rng = np.random.default_rng(seed)
    group = rng.permutation([0, 0, 0, 1, 1, 2, 2, 2, 2])
    y = np.where(np.arange(9) % 2, 1.0, 0.0)[np.argsort(np.argsort(group, kind="stable"))]
    s = 5.0 * group + rng.uniform(0, 0.1, 9)

    def loss(common):
        return np.mean(np.logaddexp(0, common[group]) - y * common[group])

    lowest = minimize(loss, np.zeros(3)).fun
    assert float(ref.plateau(*map(torch.from_numpy, (s, y)), 0.2)) == pytest.approx(
        lowest, abs=1e-6
    )


def test_plateaus_of_the_xor_corners_are_the_three_heights():
    y = torch.from_numpy(oh.XOR)
    shared = [[0.0, 0, 0, 0], [1.0, 1, 1, 9], [7.0, 1, 1, 1], [9.0, 0, 3, 0]]
    got = [float(ref.plateau(torch.tensor(s).double(), y, 0.1)) for s in shared]
    log2, three, half = oh.HEIGHTS.values()
    assert got == pytest.approx([log2, three, three, half])


# ---------------------------------------------------------------- regions


@DTYPES
@pytest.mark.parametrize("d", range(1, 9))
def test_general_position_has_the_most_regions(d, dtype):
    counts = ref.region_count(
        normal(4, d, 2, dtype=dtype, seed=d), normal(4, d, dtype=dtype, seed=d + 50)
    )
    assert counts.tolist() == [(d * d + d + 2) // 2] * 4
    assert {4: 11, 8: 37}.get(d, counts[0].item()) == counts[0].item()


def sampled(W, b, rng):
    """Patterns on points round every crossing and far out in all directions."""
    W, b = np.asarray(W, float), np.asarray(b, float)
    centres = [np.zeros(2)]
    for i, k in itertools.combinations(range(len(W)), 2):
        if abs(np.linalg.det(W[[i, k]])) > 1e-9:
            centres.append(np.linalg.solve(W[[i, k]], -b[[i, k]]))
    clouds = [c + r * rng.normal(size=(3000, 2)) for c in centres for r in (0.01, 1.0, 100.0)]
    on = np.vstack(clouds) @ W.T + b > 0
    return len(np.unique(on, axis=0))


@pytest.mark.parametrize("seed", range(12))
def test_small_whole_numbers_agree_with_brute_force(seed):
    """Lines with coefficients from -2 to 2: parallels, copies, pencils and zero rows occur all the time."""
    rng = np.random.default_rng(seed)
    W, b = rng.integers(-2, 3, (5, 2)).astype(float), rng.integers(-2, 3, 5).astype(float)
    got = ref.region_count(torch.from_numpy(W), torch.from_numpy(b))
    assert got.item() == sampled(W, b, rng)


@pytest.mark.parametrize(
    ("W", "b", "count"),
    [
        ([[1, 0], [2, 0], [3, 0]], [0, 1, 5], 4),
        ([[1, 0], [0, 1], [1, 1], [1, -1]], [0, 0, 0, 0], 8),
        ([[1, 2], [-2, -4]], [3, -6], 2),
        ([[0, 0], [1, 0]], [0, 0], 2),
        ([[0, 0]], [1], 1),
    ],
    ids=["parallel", "pencil", "copies", "zero row through 0", "no line"],
)
def test_special_positions(W, b, count):
    W, b = torch.tensor(W, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    assert ref.region_count(W, b).item() == count


def test_regions_ignore_scale_order_and_shift():
    W, b = normal(5, 2), normal(5, seed=1)
    W[4], b[4] = -3 * W[0], -3 * b[0]  # a copy
    moved = b + W @ torch.tensor([3.0, -2.0], dtype=torch.float64)
    factor = torch.tensor([2.0, -1, 0.5, 3, -4], dtype=torch.float64)
    counts = {
        ref.region_count(W, b).item(),
        ref.region_count(W.flip(0), b.flip(0)).item(),
        ref.region_count(W, moved).item(),
        ref.region_count(factor[:, None] * W, factor * b).item(),
    }
    assert counts == {11}


# ---------------------------------------------------------------- error signal


@DTYPES
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_error_signal_is_autograd_through_the_distribution(kind, dtype):
    s = normal(3, 5, dtype=dtype).requires_grad_()
    y = (normal(3, 5, dtype=dtype, seed=1) > 0).to(dtype)
    if kind == "gaussian":
        law = torch.distributions.Normal(s, 3**0.5)
    else:
        law = torch.distributions.Bernoulli(logits=s)
    (expected,) = torch.autograd.grad(law.log_prob(y).sum(), s)
    got = ref.error_signal(y, s.detach(), kind, 3.0)
    assert got.dtype == dtype
    torch.testing.assert_close(got, expected, **tolerance(dtype))


def test_huge_scores_give_finite_signals():
    s = torch.tensor([-1e4, 1e4], dtype=torch.float64)
    assert ref.error_signal(torch.tensor([1.0, 1.0]), s, "bernoulli").tolist() == [1.0, 0.0]


# ---------------------------------------------------------------- training


def data(*batch, n=9, dtype=torch.float64, kind="gaussian"):
    X, y = normal(*batch, n, 2, dtype=dtype, seed=20), normal(*batch, n, dtype=dtype, seed=21)
    return X, y if kind == "gaussian" else (y > 0).to(dtype)


@DTYPES
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_training_is_sgd_on_the_mean_loss_of_torch(kind, dtype):
    X, y = data(dtype=dtype, kind=kind)
    start = network(dtype=dtype)
    told, end = ref.trained(X, y, *start, 0.05, 4, 0.0, kind)
    net = module(*start)
    optimiser, risks = torch.optim.SGD(net.parameters(), lr=0.05), []
    for step in range(5):
        s = net(X)[:, 0]
        if kind == "gaussian":
            risk = torch.nn.functional.mse_loss(s, y) / 2
        else:
            risk = torch.nn.functional.binary_cross_entropy_with_logits(s, y)
        risks.append(risk.item())
        if step < 4:
            optimiser.zero_grad()
            risk.backward()
            optimiser.step()
    torch.testing.assert_close(told, torch.tensor(risks, dtype=dtype), **tolerance(dtype))
    for p, weight in zip(net.parameters(), end, strict=True):
        torch.testing.assert_close(p.detach().reshape(weight.shape), weight, **tolerance(dtype))


@pytest.mark.parametrize("tol, steps", [(0.5, 2), (0.49, 3), (1.0, 1), (2.0, 0)])
def test_training_ends_before_a_step_with_a_small_gradient(tol, steps):
    """From zero only the output bias learns: its slope is -2, -1, -½, … with eta = ½."""
    zero = [torch.zeros_like(w) for w in network()]
    X, _ = data()
    risks, end = ref.trained(X, torch.full((9,), 2.0).double(), *zero, 0.5, 99, tol, "gaussian")
    assert len(risks) == steps + 1 and float(end[3]) == 2 - 2 * 0.5**steps
    assert not any(w.any() for w in end[:3])


@DTYPES
@BATCHES
@pytest.mark.parametrize("still", [(), (2,), (0, 1), (0, 1, 2)], ids=str)
def test_moves_is_where_autograd_finds_a_slope(batch, dtype, still):
    """Some of W1, b1, w2, b2 are 0."""
    X, y = data(*batch, dtype=dtype)
    weights = network(*batch, dtype=dtype)
    weights = [torch.zeros_like(w) if k in still else w for k, w in enumerate(weights)]
    got = ref.moves(X, y, *weights)
    assert got.dtype == torch.bool and got.shape == (*batch, 4)
    for x, t, told, *single in singles(batch, X, y, got, *weights):
        net = module(*single)
        torch.nn.functional.mse_loss(net(x)[:, 0], t).backward()
        assert told.tolist() == [bool(p.grad.abs().max() > 1e-5) for p in net.parameters()]


# ------------------------------------------------------------ what it draws


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_gradients_are_torchs(kind, rng):
    X = rng.normal(size=(9, 3))
    y = (rng.random(9) < 0.5).astype(float)
    net = oh.random_net(5, 3, seed=1)
    module = oh.to_torch(net)
    s, t = module(torch.from_numpy(X))[:, 0], torch.from_numpy(y)
    if kind == "gaussian":
        risk = torch.nn.functional.mse_loss(s, t) / 2
    else:
        risk = torch.nn.functional.binary_cross_entropy_with_logits(s, t)
    risk.backward()
    assert oh.mean_loss(net, X, y, kind) == pytest.approx(risk.item())
    for g, p in zip(oh.gradient(net, X, y, kind), module.parameters(), strict=True):
        np.testing.assert_allclose(g.ravel(), p.grad.ravel(), atol=1e-12)


def test_a_batch_trains_like_its_members_alone_and_leaves_its_start(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    together = oh.random_net(4, 2, 0, (3,))
    before = [w.copy() for w in together]
    end = oh.descend(together, X, y, "gaussian", 0.05, 30)
    assert all(np.array_equal(a, b) for a, b in zip(together, before, strict=True))
    for k in range(3):
        alone = oh.descend([w[k] for w in together], X, y, "gaussian", 0.05, 30)
        for a, b in zip(alone, end, strict=True):
            np.testing.assert_allclose(a, b[k], atol=1e-12)


def test_torch_and_back():
    net = oh.random_net(3, 2, 5)
    for a, b in zip(net, oh.to_numpy(oh.to_torch(net)), strict=True):
        assert np.shape(a) == np.shape(b) and np.array_equal(a, b)


def test_a_crowd_gives_the_scores_of_its_members_one_below_the_other():
    nets, X = oh.random_net(3, 2, 0, (4,)), torch.from_numpy(oh.CORNERS)
    alone = [oh.to_torch([w[k] for w in nets])(X) for k in range(4)]
    torch.testing.assert_close(oh.crowd(nets)(X), torch.cat(alone))


def test_data_are_what_they_say():
    X, y = oh.rings(400)
    radius = np.linalg.norm(X, axis=1)
    assert radius[y == 1].max() <= 0.8 and 1.4 <= radius[y == 0].min() and radius.max() <= 2.2
    X, y = oh.clouds(400, spread=0.01)
    assert np.array_equal((X[:, 0] > 0.5) != (X[:, 1] > 0.5), y == 1)


def test_a_neuron_is_logistic_regression():
    facts = controls.explorer(NOTEBOOK, "draw_neuron", w1=1.5, b=-1.0).words.facts
    assert facts["s"] == pytest.approx(1.5 * 1 - 2 * 0.5 - 1) and facts["p"] == expit(facts["s"])
    assert facts["far"] == pytest.approx(1 / np.hypot(1.5, 2))


def test_a_neuron_without_weights_has_no_line():
    assert "far" not in controls.explorer(NOTEBOOK, "draw_neuron", w1=0, w2=0).words.facts


def kinks(**moved):
    return controls.explorer(NOTEBOOK, "draw_kinks", **moved).words.facts


def test_by_hand_the_error_is_that_of_the_broken_line():
    s = np.maximum(0, oh.SWITCHES - 0.2) - 2 * np.maximum(0, oh.SWITCHES - 0.8)
    s += np.mean(oh.WANTED - s)
    facts = kinks(k1=0.2, a1=1, k2=0.8, a2=-2)
    assert facts["mse"] == pytest.approx(np.mean((s - oh.WANTED) ** 2))
    assert kinks(k1=0, a1=2, k2=1, a2=-4)["mse"] == pytest.approx(0, abs=1e-20)


@pytest.mark.parametrize("k1, k2", [(0.5, 1.5), (0.2, 1.2), (-0.5, 0.5)])
def test_training_moves_the_kinks_to_the_marks(k1, k2):
    facts = kinks(k1=k1, k2=k2, a1=1, a2=-1, steps=600)
    assert facts["mse"] < 1e-3
    np.testing.assert_allclose(facts["place"], [0, 1], atol=0.1)
    np.testing.assert_allclose(facts["change"], [2, -4], atol=0.15)


def test_a_dead_unit_does_not_move():
    facts = kinks(k2=2.2, steps=600)
    assert facts["place"][1] == 2.2 and facts["dead"] == ["2"]
    assert "dead" not in kinks(steps=600)


def test_twins_stay_together_and_two_late_kinks_stop_at_two_thirds():
    facts = kinks(k1=0.5, k2=0.5, a1=1, a2=1, steps=600)
    assert facts["place"][0] == facts["place"][1] and facts["mse"] > 0.9
    assert kinks(k1=1.2, k2=1.6, steps=600)["mse"] == pytest.approx(2 / 3, abs=0.01)


def folds(feet, steps=0):
    names = ("x1", "y1", "x2", "y2", "x3", "y3")
    moved = dict(zip(names, np.ravel(feet), strict=True))
    return controls.explorer(NOTEBOOK, "draw_folds", **moved, steps=steps).words.facts


AROUND = [(0, 1), (-0.9, -0.5), (0.9, -0.5)]


def test_training_separates_the_rings():
    start, end = folds(AROUND), folds(AROUND, 1000)
    assert end["right"] == 1 and end["loss"] < start["loss"] / 5


def test_regions_of_three_lines():
    assert folds(AROUND)["regions"] == 7
    assert folds([(1, 0), (-1, 0), (0, 1)])["regions"] == 6  # two of them parallel
    assert folds([(1, 0), (1, 0), (1, 0)])["regions"] == 2


def test_the_opening_feet_are_no_solution():
    assert controls.explorer(NOTEBOOK, "draw_folds").words.facts["right"] < 0.95


def test_units_rise_beyond_their_feet():
    net = oh.fold_net([(0.6, 0.8), (0, 0)], *oh.rings())
    h = np.maximum(0, np.array([[0.6, 0.8], [1.2, 1.6], [-1.0, 0.0]]) @ net[0].T + net[1])
    np.testing.assert_allclose(h, [[0, 0.6], [1, 1.2], [0, 0]], atol=1e-12)


@pytest.mark.parametrize(
    "text, control, value",
    [("draw_kinks", name, 0.75) for name in ("k1", "a1", "k2", "a2")]
    + [("draw_folds", name, 1.0) for name in ("x1", "y1", "x2", "y2", "x3", "y3")]
    + [("draw_neuron", name, -1.5) for name in ("w1", "w2", "b")]
    + [("draw_kinks", "steps", 300), ("draw_folds", "steps", 300)],
)
def test_every_control_changes_words_and_picture(text, control, value):
    widget = controls.explorer(NOTEBOOK, text)
    before = widget.words, widget.picture.value
    widget.controls[control].value = value
    assert widget.words != before[0] and widget.picture.value != before[1]


def test_the_region_picture_counts_what_it_shows():
    W, b = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([0.0, 0, -1])
    _, words = oh.draw_regions(W, b, 7)
    assert words.facts["seen"] == words.facts["count"] == oh.patterns_of_three() == 7


def test_the_first_runs_stop_at_the_three_heights():
    risks, net = oh.first_runs()
    stuck = risks[-1] > 0.01
    heights = np.array(list(oh.HEIGHTS.values()))
    assert np.abs(risks[-1, stuck, None] - heights).min(1).max() < 0.01
    assert oh.draw_first_runs()[1].facts["arrived"] == oh.arrivals(net) == 100 - stuck.sum() == 14


def test_later_arrivals_are_counted_from_the_first_runs(monkeypatch):
    monkeypatch.setattr(oh, "first_runs", lambda: (None, oh.random_net(16, 2, 0, (100,))))
    assert oh.late_arrivals(0) == 0 and oh.late_arrivals(1000) == 100


def test_the_words_on_ends_count_arrivals_by_width():
    _, words = oh.draw_ends({2: np.array([0.0, 0.69, 0.35]), 4: np.array([0.001, 0.002, 0.48])})
    assert words.facts["pairs"] == ["1 with 2 units", "2 with 4 units"]


def test_hidden_space_tells_what_is_separable():
    notes = [np.ones((2, 2)), np.array([0.0, -1]), np.array([2.0, -4]), np.array(-1.0)]
    _, words = oh.draw_hidden_space(oh.CORNERS, oh.XOR, {"notes": (notes, oh.CORNERS)})
    assert words.facts == {
        "raw": "not ", "told": ["notes: 100% right, separable in hidden space"],
    }  # fmt: skip


def test_rows_are_sorted_by_the_sign_of_their_score():
    X, y = oh.clouds(40)
    nets = [oh.random_net(2, 2, seed) for seed in (0, 1)]
    nets[1][3] = np.array(0.7)
    _, _, positions, words, colors = oh.sorting(nets, X, y)
    scores = np.array([oh.forward(net, X)[1] for net in nets])
    np.testing.assert_allclose(positions.sum(-1), scores, atol=1e-12)
    assert words.facts["last"] == np.mean((scores[1] > 0) == (y == 1)) and len(set(colors)) == 2


def test_from_zero_only_the_output_bias_moves():
    assert oh.moved_from_zero() == 1


def test_scales_words_are_computed():
    x, y = oh.wave()
    runs = {size: oh.scaled_run(x, y, size, d=30, steps=500) for size in (0.1, 2)}
    _, words = oh.draw_scales(x, y, runs)
    for told, (start, end) in zip(words.facts["told"], runs.values(), strict=True):
        place, _ = oh.kink_table(end)
        assert f"{len(place)} kinks at {oh.clusters(place)} places" in told
        assert f"moved {oh.moved(start, end):.2g} times" in told


def test_places_are_counted_with_a_gap():
    assert oh.clusters(np.array([])) == 0
    assert oh.clusters(np.array([0.1, 0.11, 0.12, 0.5])) == 2


def test_one_run_a_width_is_told():
    errors = oh.width_runs(*oh.wave(), [3, 30], 50)
    _, words = oh.draw_widths([3, 30], errors, 0.5, 20)
    assert words.facts["first"] == 7 and len(words.facts["told"]) == 2
    _, words = oh.draw_parity([2, 4], [0.9, 0.95], [0.5, 0.6], 0.9)
    assert words.facts["pairs"][1] == "4 units 0.95 trained and 0.60 at random"

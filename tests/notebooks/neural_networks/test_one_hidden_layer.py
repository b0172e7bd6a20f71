"""References for one hidden layer against torch.nn, autograd, distributions and brute force."""

import itertools
import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.optimize import check_grad
from scipy.special import expit

from descent.pictures.neural_networks import one_hidden_layer as oh
from descent.widgets import Clock, Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/01_one_hidden_layer", "reference")


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


@DTYPES
@BATCHES
def test_the_collapsed_model_is_the_network_with_the_identity(dtype, batch):
    X, net = normal(*batch, 7, 2, dtype=dtype, seed=9), network(*batch, dtype=dtype)
    w, b = ref.collapsed(*net)
    W1, b1, w2, b2 = net
    h = torch.einsum("...nm,...dm->...nd", X, W1) + b1[..., None, :]
    scores = torch.einsum("...nd,...d->...n", h, w2) + b2[..., None]
    got = torch.einsum("...nm,...m->...n", X, w) + b[..., None]
    torch.testing.assert_close(got, scores, **tolerance(dtype))


# ---------------------------------------------------------------- kinks


@DTYPES
@pytest.mark.parametrize("seed", range(5))
def test_kinks_are_where_a_fine_grid_bends(dtype, seed):
    rng = np.random.default_rng(seed)
    w1 = rng.choice([-2.0, -1.0, 0.5, 1.0], 5)
    place = rng.permutation(np.arange(-4, 5))[:5] / 4.0
    w2 = rng.normal(size=5)
    w1, b1, w2 = (torch.tensor(a, dtype=dtype) for a in (w1, -w1 * place, w2))
    rows = ref.kink_rows(w1, b1, w2)
    assert rows.dtype == dtype
    grid = torch.arange(-6, 7, dtype=torch.float64) / 4
    net = (w1[:, None].double(), b1.double(), w2.double(), torch.zeros((), dtype=torch.float64))
    scores = ref.forward(grid[:, None], *net)
    bends = (scores[2:] - 2 * scores[1:-1] + scores[:-2]) * 4
    expected = torch.zeros_like(bends)
    for x, change in rows.double():
        expected[round(float(x) * 4) + 5] += change
    torch.testing.assert_close(bends, expected, rtol=1e-4, atol=1e-5)


def test_a_unit_without_slope_has_no_kink():
    zero = torch.zeros(3, dtype=torch.float64)
    assert ref.kink_rows(zero, zero + 1, zero + 1).shape == (0, 2)
    rows = ref.kink_rows(
        torch.tensor([0.0, -2.0]), torch.tensor([1.0, 4.0]), torch.tensor([1.0, 3.0])
    )
    assert rows.tolist() == [[2.0, 6.0]]


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
@BATCHES
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_training_is_sgd_on_the_mean_loss_of_torch(kind, batch, dtype):
    X, y = data(*batch, dtype=dtype, kind=kind)
    start = network(*batch, dtype=dtype)
    losses, end = ref.trained(X, y, *start, 0.05, 4, kind)
    assert losses.shape == (5, *batch) and losses.dtype == dtype
    moved = losses.movedim(0, -1)
    for values in singles(batch, X, y, moved, *start, *end):
        x, t, told, weights, expected = *values[:3], values[3:7], values[7:]
        net = module(*weights)
        optimiser, risks = torch.optim.SGD(net.parameters(), lr=0.05), []
        for step in range(5):
            s = net(x)[:, 0]
            if kind == "gaussian":
                risk = torch.nn.functional.mse_loss(s, t) / 2
            else:
                risk = torch.nn.functional.binary_cross_entropy_with_logits(s, t)
            risks.append(risk.item())
            if step < 4:
                optimiser.zero_grad()
                risk.backward()
                optimiser.step()
        torch.testing.assert_close(told, torch.tensor(risks, dtype=dtype), **tolerance(dtype))
        for p, weight in zip(net.parameters(), expected, strict=True):
            torch.testing.assert_close(p.detach().reshape(weight.shape), weight, **tolerance(dtype))


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_from_zero_only_the_output_bias_moves(kind):
    X, y = data(kind=kind)
    zero = [torch.zeros_like(w) for w in network()]
    losses, end = ref.trained(X, y + (kind == "gaussian"), *zero, 0.1, 20, kind)
    assert not any(w.any() for w in end[:3])
    assert end[3] != 0 and (losses.diff() < 0).all()


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


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", words)]


def number_after(words, phrase):
    return numbers(words.split(phrase, 1)[1])[0]


# ---------------------------------------------------------------- the engine


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


def test_gradients_are_finite_differences(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    shapes = [(3, 2), (3,), (3,), ()]

    def split(theta):
        parts = np.split(theta, np.cumsum([6, 3, 3]))
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def flat_gradient(theta):
        return np.concatenate([g.ravel() for g in oh.gradient(split(theta), X, y, "gaussian")])

    value = lambda theta: float(oh.mean_loss(split(theta), X, y, "gaussian"))  # noqa: E731
    assert check_grad(value, flat_gradient, rng.normal(size=13)) < 1e-5


def test_a_batch_trains_like_its_members_alone(rng):
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    together = oh.random_net(4, 2, 0, (3,))
    end = oh.descend(together, X, y, "gaussian", 0.05, 30)
    for k in range(3):
        alone = oh.descend([w[k] for w in together], X, y, "gaussian", 0.05, 30)
        for a, b in zip(alone, end, strict=True):
            np.testing.assert_allclose(a, b[k], atol=1e-12)


def test_descend_leaves_its_start_alone():
    start = oh.random_net(3, 2, 0)
    before = [w.copy() for w in start]
    oh.descend(start, oh.CORNERS, oh.XOR, "bernoulli", 0.5, 5)
    assert all(np.array_equal(a, b) for a, b in zip(start, before, strict=True))


def test_torch_and_back():
    net = oh.random_net(3, 2, 5)
    for a, b in zip(net, oh.to_numpy(oh.to_torch(net)), strict=True):
        assert np.shape(a) == np.shape(b) and np.array_equal(a, b)


def test_data_are_what_they_say():
    X, y = oh.rings(400)
    radius = np.linalg.norm(X, axis=1)
    assert radius[y == 1].max() <= 0.8 and 1.4 <= radius[y == 0].min() and radius.max() <= 2.2
    X, y = oh.clouds(400, spread=0.01)
    assert np.array_equal((X[:, 0] > 0.5) != (X[:, 1] > 0.5), y == 1)


# ---------------------------------------------------------------- parts and neuron


def test_parts_count_torchs_parameters():
    box = Explorer(
        oh.draw_parts,
        dict(
            part=Dropdown(options=oh.PARTS, value=oh.PARTS[2]),
            m=IntSlider(2, min=1, max=4),
            d=IntSlider(3, min=1, max=6),
        ),
    )
    assert number_after(box.words, "+ 1 = ") == 13 and "shape (3, 2), 6 parameters" in box.words
    box.controls["m"].value, box.controls["d"].value = 4, 6
    layers = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    assert number_after(box.words, "+ 1 = ") == sum(p.numel() for p in layers.parameters())
    for part in oh.PARTS:
        box.controls["part"].value = part
        assert "parameters" in box.words


@pytest.fixture
def neuron():
    names = dict(w1=1.0, w2=-2.0, b=0.5, x1=1.0, x2=0.5)
    controls = {k: FloatSlider(v, min=-3, max=3, step=0.25) for k, v in names.items()}
    return Explorer(oh.neuron_explorer(), controls)


def test_a_neuron_is_logistic_regression(neuron):
    assert number_after(neuron.words, "0.5 + 0.5 = ") == 0.5
    assert number_after(neuron.words, "probability ") == pytest.approx(expit(0.5), abs=1e-3)
    neuron.controls["b"].value = -3
    assert number_after(neuron.words, "probability ") == pytest.approx(expit(-3), abs=1e-3)
    assert "would say 0" in neuron.words


def test_a_neuron_without_weights_has_no_line(neuron):
    neuron.controls["w1"].value = neuron.controls["w2"].value = 0
    assert "does not exist" in neuron.words


# ---------------------------------------------------------------- kinks


@pytest.fixture
def kinks():
    x, y = oh.wave()
    places = dict(k1=-0.5, k2=0.0, k3=0.5)
    places = {k: FloatSlider(v, min=-1.5, max=1.5, step=0.05) for k, v in places.items()}
    changes = dict(a1=1.0, a2=1.0, a3=-1.0)
    changes = {k: FloatSlider(v, min=-5, max=5, step=0.25) for k, v in changes.items()}
    return Explorer(
        oh.kinks_explorer(x, y),
        places
        | changes
        | dict(
            opens=Dropdown(options=["RRR", "LRR", "LLR", "LLL"]),
            steps=Clock(0, min=0, max=2000, description="steps", step=50),
        ),
    )


def test_by_hand_the_error_is_that_of_the_broken_line(kinks):
    x, y = oh.wave()
    s = np.maximum(0, x + 0.5) + np.maximum(0, x) - np.maximum(0, x - 0.5)
    s += np.mean(y - s)
    assert number_after(kinks.words, "error ") == pytest.approx(np.mean((s - y) ** 2), abs=1e-4)


def test_training_moves_the_kinks_and_lowers_the_error(kinks):
    before = number_after(kinks.words, "error ")
    kinks.controls["steps"].value = 500
    middle = number_after(kinks.words, "error ")
    kinks.controls["steps"].value = 2000
    assert number_after(kinks.words, "error ") < middle < before
    assert number_after(kinks.words, "-0.50 → ") != -0.5


def test_a_unit_that_opens_to_the_left_fits_better(kinks):
    kinks.controls["steps"].value = 2000
    stiff = number_after(kinks.words, "error ")
    kinks.controls["opens"].value = "LRR"
    assert number_after(kinks.words, "error ") < stiff / 5


def test_a_dead_unit_does_not_move(kinks):
    kinks.controls["k3"].value = 1.5
    kinks.controls["steps"].value = 2000
    assert "1.50 → 1.50" in kinks.words and "cannot reach it: unit 3" in kinks.words


def test_twins_stay_together(kinks):
    for k in "123":
        kinks.controls[f"k{k}"].value, kinks.controls[f"a{k}"].value = 0, 1
    kinks.controls["steps"].value = 1000
    ends = re.findall(r"→ (-?\d\.\d\d)", kinks.words)
    assert len(ends) == 3 and len(set(ends)) == 1


def test_the_play_button_and_the_slider_move_together(kinks):
    clock = kinks.controls["steps"]
    clock.play.value = 350
    assert clock.slider.value == clock.value == 350 and "after 350 steps" in kinks.words


# ---------------------------------------------------------------- folds


@pytest.fixture
def folds():
    angles = dict(angle1=90, angle2=-150, angle3=-30)
    angles = {k: IntSlider(v, min=-180, max=180) for k, v in angles.items()}
    offsets = {f"offset{k}": FloatSlider(1, min=-2, max=2, step=0.1) for k in (1, 2, 3)}
    steps = Clock(0, min=0, max=1000, description="steps", step=50)
    return Explorer(oh.folds_explorer(*oh.rings()), angles | offsets | dict(steps=steps))


def test_training_separates_the_rings(folds):
    start = number_after(folds.words, "mean loss ")
    folds.controls["steps"].value = 1000
    assert "100% of 80" in folds.words
    assert number_after(folds.words, "mean loss ") < start / 5


def test_regions_of_three_lines(folds):
    assert number_after(folds.words, "square into ") == 7
    for k, angle in zip("123", (0, 30, 60), strict=True):
        folds.controls[f"angle{k}"].value, folds.controls[f"offset{k}"].value = angle, 0
    assert number_after(folds.words, "square into ") == 6
    for k in "123":
        folds.controls[f"angle{k}"].value = 0
    assert number_after(folds.words, "square into ") == 2


def test_output_weights_by_hand_are_least_squares(folds):
    X, y = oh.rings()
    turn = np.radians([90, -150, -30])
    h = np.maximum(0, X @ np.array([np.cos(turn), np.sin(turn)]) - 1)
    fit = np.linalg.lstsq(oh.with_one(h), 4 * y - 2, rcond=None)[0]
    told = numbers(folds.words.split("Output weights ")[1])
    np.testing.assert_allclose(told, fit[1:], atol=0.006)


def test_region_picture_counts_what_it_shows():
    W, b = np.array([[1.0, 0], [0, 1], [1, 1]]), np.array([0.0, 0, -1])
    _, words = oh.draw_regions(W, b, 7)
    assert number_after(words, "plane into ") == 7 and number_after(words, "regions; ") == 7


# ---------------------------------------------------------------- XOR and starts


def test_xor_words_count_the_failures():
    _, words = oh.draw_xor_runs((2, 8))
    for d in (2, 8):
        losses, right, on = oh.xor_runs(d)
        assert on.shape == (100, 4, d)
        assert f"{np.sum(~right)} with {d} units" in words
        levels = np.array(list(oh.PLATEAUS.values()))
        assert abs(losses[~right][:, None] - levels).min(1).max() < 0.01


def test_plateaus_are_the_best_common_probabilities():
    p = np.linspace(0.001, 0.999, 9999)
    for labels, rest, value in ([0, 1, 1, 0], 4, 0), ([0, 1, 1], 4, 1), ([0, 1], 4, 2):
        loss = -sum(np.log(np.where(label, p, 1 - p)) for label in labels) / rest
        assert loss.min() == pytest.approx(list(oh.PLATEAUS.values())[value], abs=1e-6)


def test_hidden_space_tells_what_is_separable():
    notes = [np.ones((2, 2)), np.array([0.0, -1]), np.array([2.0, -4]), np.array(-1.0)]
    _, words = oh.draw_hidden_space(oh.CORNERS, oh.XOR, {"notes": (notes, oh.CORNERS)})
    assert "the inputs: not separable" in words
    assert "notes: 100% right, separable" in words


def test_the_training_widget_shows_what_the_loop_did():
    X, y = oh.clouds(80, spread=0.1)

    def fit(net, steps):
        risks = [float(oh.mean_loss(net, X, y, "bernoulli"))]
        for _ in range(steps):
            net = oh.descend(net, X, y, "bernoulli", 0.5, 1)
            risks.append(float(oh.mean_loss(net, X, y, "bernoulli")))
        return risks, net

    box = Explorer(
        oh.training_explorer(X, y, fit),
        dict(
            d=IntSlider(8, min=1, max=8),
            seed=IntSlider(8, min=0, max=9),
            steps=Clock(0, min=0, max=600, description="steps", step=20),
        ),
    )
    assert number_after(box.words, "at the start, ") == number_after(box.words, "risk ")
    box.controls["steps"].value = 600
    assert "100% of 80" in box.words
    assert number_after(box.words, "at the start, ") < number_after(box.words, "risk ") / 5
    box.controls["d"].value = 1  # one unit has one fold: no XOR
    assert number_after(box.words, "600 steps, ") < 80


def test_scales_words_are_computed():
    x, y = oh.wave()
    runs = {size: oh.scaled_run(x, y, size, d=30, steps=500) for size in (0.1, 2)}
    fig, words = oh.draw_scales(x, y, runs)
    for size, (start, end) in runs.items():
        place, _ = oh.kink_table(end)
        part = words.split(f"size {size:g}: ")[1]
        assert numbers(part)[0] == len(place) and numbers(part)[1] == oh.clusters(place)
        assert number_after(part, "moved ") == pytest.approx(oh.moved(start, end), rel=0.06)
    assert len(fig.axes) == 4


def test_places_are_counted_with_a_gap():
    assert oh.clusters(np.array([])) == 0
    assert oh.clusters(np.array([0.1, 0.11, 0.12, 0.5])) == 2


@pytest.mark.parametrize(
    "draw",
    [
        oh.draw_why,
        lambda: oh.draw_xor_runs((2,)),
        lambda: oh.draw_widths([3, 30], oh.width_runs(*oh.wave(), [3, 30], 50), 0.5, 20),
        lambda: oh.draw_parity([2, 4], [0.9, 0.95], [0.5, 0.6], 0.9),
        lambda: oh.draw_regions(np.eye(2), np.zeros(2), 4),
    ],
    ids=["why", "xor", "widths", "parity", "regions"],
)
def test_figures_label_their_axes(draw):
    fig, words = draw()
    assert words
    for ax in fig.axes:
        assert ax.get_xlabel() and ax.get_ylabel() and (ax.get_title() or ax.get_title(loc="left"))

"""References for multi-class networks against torch.nn, autograd, scikit-learn and brute force."""

import itertools
import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from sklearn.metrics import calinski_harabasz_score, mutual_info_score
from sklearn.metrics.pairwise import cosine_similarity

from descent.pictures.neural_networks import softmax_networks as sn
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/06_softmax_networks", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def simplex(*shape, dtype=torch.float64, seed=0):
    *rows, k = shape
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.ones(k), rows)).to(dtype)


def network(*sizes, dtype=torch.float64):
    pairs = itertools.pairwise(sizes)
    return [
        (normal(o, i, dtype=dtype, seed=k), normal(o, dtype=dtype, seed=50 + k))
        for k, (i, o) in enumerate(pairs)
    ]


def labels(*shape, C=3):
    """Labels in a mixed order, each of 0, …, C - 1 present in every row."""
    rng = np.random.default_rng(5)
    rows = [
        rng.permutation(np.arange(shape[-1]) ** 2 % 7 % C)
        for _ in range(np.prod(shape[:-1], dtype=int))
    ]
    y = np.array(rows).reshape(shape)
    assert all(len(set(row)) == C for row in y.reshape(-1, shape[-1]).tolist())
    return torch.from_numpy(y)


def one_by_one(batch, *tensors):
    for index in itertools.product(*map(range, batch)):
        yield [t[index] for t in tensors]


# ---------------------------------------------------------------- forward pass and loss


@DTYPES
@BATCHES
@pytest.mark.parametrize("sizes", [(2, 3), (2, 5, 3), (4, 3, 6, 2)], ids=str)
def test_forward_is_torch_nn(dtype, batch, sizes):
    layers, X = network(*sizes, dtype=dtype), normal(*batch, 7, sizes[0], dtype=dtype, seed=9)
    outputs, P = ref.forward(X, layers)
    h = X
    for k, (W, b) in enumerate(layers):
        module = torch.nn.Linear(W.shape[1], W.shape[0]).to(dtype)
        module.load_state_dict({"weight": W, "bias": b})
        h = module(h).detach()
        h = torch.nn.ReLU()(h) if k < len(layers) - 1 else h
        torch.testing.assert_close(outputs[k], h, **tolerance(dtype))
    torch.testing.assert_close(P, torch.nn.Softmax(-1)(h), **tolerance(dtype))
    assert P.dtype == dtype and P.shape == (*batch, 7, sizes[-1])


def test_the_loss_survives_any_score():
    S = torch.tensor([[1e4, 0.0, -1e4]], dtype=torch.float64)
    loss, dS = ref.cross_entropy_and_signal(S, torch.tensor([[0.0, 0.0, 1.0]], dtype=torch.float64))
    assert loss == 2e4 and torch.equal(dS, torch.tensor([[1.0, 0, -1]], dtype=torch.float64))


@pytest.mark.parametrize("eps, C", [(0.1, 10), (0.2, 3), (0.1, 1000)])
def test_smoothed_labels_have_a_finite_minimiser(eps, C):
    q = torch.full((1, C), eps / C, dtype=torch.float64)
    q[0, 0] += 1 - eps
    S = torch.zeros(1, C, dtype=torch.float64)
    S[0, 0] = np.log((1 - eps + eps / C) / (eps / C))
    loss, dS = ref.cross_entropy_and_signal(S, q)
    assert dS.abs().max() < 1e-12
    hard = torch.zeros(1, dtype=torch.long)
    expected = torch.nn.CrossEntropyLoss(label_smoothing=eps)(S, hard)
    torch.testing.assert_close(loss, expected)


@DTYPES
@BATCHES
def test_vjp_is_autograd(dtype, batch):
    S, G = normal(*batch, 5, 4, dtype=dtype), normal(*batch, 5, 4, dtype=dtype, seed=1)
    leaf = S.clone().requires_grad_()
    P = leaf.softmax(-1)
    P.backward(G)
    torch.testing.assert_close(ref.softmax_vjp(P.detach(), G), leaf.grad, **tolerance(dtype))


# ---------------------------------------------------------------- regions


@pytest.mark.parametrize("C", [2, 3, 5])
def test_regions_are_cut_by_planes(C):
    """Points of a coarse grid: many of them lie on a boundary."""
    points = [p for p in itertools.product(range(7), repeat=C) if sum(p) == 6]
    expected = []
    for p in points:
        wins = [k for k in range(C) if all(p[k] > p[j] for j in range(C) if j != k)]
        expected.append(wins[0] if wins else -1)
    got = ref.argmax_region(torch.tensor(points, dtype=torch.float64) / 6)
    assert got.tolist() == expected and -1 in expected
    batched = ref.argmax_region(torch.tensor([points, points], dtype=torch.float32) / 6)
    assert batched.tolist() == [expected, expected]


# ---------------------------------------------------------------- scatter and cosines


@DTYPES
@BATCHES
def test_scatter_is_scikit_learns_index(dtype, batch):
    """Calinski and Harabasz: (between / (C - 1)) / (within / (n - C))."""
    H, y = normal(*batch, 12, 4, dtype=dtype) + 3, labels(*batch, 12)
    got = ref.scatter_ratio(H, y)
    assert got.dtype == dtype and got.shape == batch
    for h, label, value in one_by_one(batch, H, y, got):
        index = calinski_harabasz_score(h.numpy(), label.numpy())
        assert value.item() == pytest.approx((12 - 3) / (3 - 1) / index, rel=1e-3)


def test_scatter_ignores_shift_scale_and_rotation():
    H, y = normal(12, 4), labels(12)
    Q = torch.linalg.qr(normal(4, 4, seed=3)).Q
    torch.testing.assert_close(ref.scatter_ratio(5 * H @ Q + 7, y), ref.scatter_ratio(H, y))


@DTYPES
@BATCHES
def test_cosines_are_scikit_learns(dtype, batch):
    H, y = normal(*batch, 12, 5, dtype=dtype), labels(*batch, 12)
    got = ref.class_cosines(H, y, 3)
    for h, label, value in one_by_one(batch, H, y, got):
        means = np.array([h[label == c].double().mean(0).numpy() for c in range(3)])
        expected = torch.from_numpy(cosine_similarity(means - means.mean(0))).to(dtype)
        torch.testing.assert_close(value, expected, **tolerance(dtype))


@pytest.mark.parametrize("C", [2, 3, 10])
def test_one_hot_labels_are_the_simplex_frame(C):
    off = ref.class_cosines(torch.eye(C, dtype=torch.float64), torch.arange(C), C)
    off = off[~torch.eye(C, dtype=torch.bool)]
    torch.testing.assert_close(off, torch.full_like(off, -1 / (C - 1)))


# ---------------------------------------------------------------- information


def bits(table):
    return mutual_info_score(None, None, contingency=table) / np.log(2)


@DTYPES
@BATCHES
def test_information_is_scikit_learns(dtype, batch):
    joint = simplex(*batch, 10, dtype=dtype).reshape(*batch, 2, 5)
    layers = [simplex(5, 4, dtype=dtype, seed=1), simplex(4, 3, dtype=dtype, seed=2)]
    about_x, about_y = ref.layer_information(joint, layers)
    close = 1e-5 if dtype == torch.float32 else 1e-6
    assert about_x.shape == about_y.shape == (*batch, 3) and about_x.dtype == dtype
    for one, x, y in one_by_one(batch, joint, about_x, about_y):
        kernel = np.eye(5)
        for k, M in enumerate([np.eye(5), *(m.double().numpy() for m in layers)]):
            kernel = kernel @ M
            table = one.double().numpy()
            with_x = bits(1e8 * np.diag(table.sum(0)) @ kernel)
            assert x[k].item() == pytest.approx(with_x, abs=close)
            assert y[k].item() == pytest.approx(bits(1e8 * table @ kernel), abs=close)


@pytest.mark.parametrize("seed", range(20))
def test_information_never_rises(seed):
    joint = simplex(12, seed=seed).reshape(3, 4)
    layers = [simplex(4, 4, seed=seed + 100) for _ in range(3)]
    for told in ref.layer_information(joint, layers):
        assert torch.all(told.diff() < 1e-12)


def test_the_numbers_of_the_xor_chain():
    right = np.array([[1, 0, 0, 1], [0, 1, 1, 0]])
    joint = torch.from_numpy((0.9 * right + 0.1 * (1 - right)) / 4)
    first = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=torch.float64)
    second = torch.tensor([[1.0, 0], [0, 1], [1, 0]], dtype=torch.float64)
    about_x, about_y = ref.layer_information(joint, [first, second])
    torch.testing.assert_close(about_x, torch.tensor([2.0, 1.5, 1.0], dtype=torch.float64))
    torch.testing.assert_close(
        about_y, torch.full((3,), 0.5310044064107187, dtype=torch.float64)
    )  # 1 - H2(0.1)


def test_zeros_and_constants():
    joint = torch.diag(torch.tensor([0.5, 0.5], dtype=torch.float64))
    about_x, about_y = ref.layer_information(joint, [torch.ones(2, 1, dtype=torch.float64)])
    assert about_x.tolist() == about_y.tolist() == [1.0, 0.0]


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text.replace(",", "")) for text in re.findall(r"-?\d[\d,]*\.?\d*", words)]


def information(joint, layers):
    told = ref.layer_information(torch.from_numpy(joint), [torch.from_numpy(m) for m in layers])
    return [t.numpy() for t in told]


# ---------------------------------------------------------------- training


def test_the_spiral_has_three_equal_arms():
    X, y = sn.spiral(50, noise=0.0)
    assert X.shape == (150, 2) and np.bincount(y).tolist() == [50, 50, 50]
    turn = 2 * np.pi / 3
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(X[:50] @ R.T, X[50:100], atol=1e-12)


@pytest.mark.parametrize("signal", [sn.signal, sn.squared_signal])
def test_the_gradients_are_torchs(signal):
    X, y = sn.spiral(5)
    layers = sn.start_layers(2, 4, 5, 3, seed=2)
    outputs, P = sn.forward(X, layers)
    loss, dS = signal(outputs[-1], np.eye(3)[y])
    leaves = [[torch.tensor(p, requires_grad=True) for p in layer] for layer in layers]
    told, Q = ref.forward(torch.from_numpy(X), leaves)
    target = torch.from_numpy(np.eye(3)[y])
    if signal is sn.signal:
        expected = torch.nn.functional.cross_entropy(told[-1], target)
    else:
        expected = 0.5 * (Q - target).square().sum(1).mean()
    expected.backward()
    assert loss == pytest.approx(expected.item())
    np.testing.assert_allclose(P, Q.detach().numpy())
    for mine, theirs in zip(sn.backward(X, layers, outputs, dS), leaves, strict=True):
        for g, p in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(g, p.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_one_step_is_torchs_sgd():
    X, y = sn.spiral(5)
    layers = sn.start_layers(2, 4, 3, seed=2)
    kept, _ = sn.train(sn.forward, sn.signal, X, np.eye(3)[y], layers, steps=1, rate=0.2, decay=0.1)
    leaves = [torch.tensor(p, requires_grad=True) for layer in layers for p in layer]
    told, _ = ref.forward(torch.from_numpy(X), list(zip(leaves[::2], leaves[1::2], strict=True)))
    torch.nn.functional.cross_entropy(told[-1], torch.from_numpy(y)).backward()
    torch.optim.SGD(leaves, lr=0.2, momentum=0.9, weight_decay=0.1).step()
    for got, leaf in zip([p for layer in kept[1] for p in layer], leaves, strict=True):
        np.testing.assert_allclose(got, leaf.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert kept[0] is layers  # the start is left alone


def test_a_small_head_starts_near_ln_c():
    X = np.random.default_rng(0).normal(size=(50, 8))
    outputs, _ = sn.forward(X, sn.start_layers(8, 16, 10))
    assert sn.signal(outputs[-1], np.eye(10)[np.zeros(50, int)])[0] == pytest.approx(
        np.log(10), abs=0.2
    )


def test_the_ratio_is_the_references(rng):
    H, y = rng.normal(size=(20, 3)), np.arange(20) % 4
    expected = ref.scatter_ratio(torch.from_numpy(H), torch.from_numpy(y)).item()
    assert sn.ratio(H, y) == pytest.approx(expected)


def test_a_probe_reads_what_is_linear(rng):
    X = rng.normal(size=(300, 2))
    assert sn.probe_accuracy(X, (X[:, 0] > 0).astype(int), X, (X[:, 0] > 0).astype(int), 2) > 0.95
    xor = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert sn.probe_accuracy(X, xor, X, xor, 2) < 0.7


# ---------------------------------------------------------------- the pipeline


@pytest.fixture
def pipeline():
    return Explorer(
        sn.draw_pipeline,
        dict(
            task=Dropdown(options=list(sn.TASKS), value="faces, worldwide"),
            width=SelectionSlider(options=[64, 512, 4096], value=512),
            batch=IntSlider(32, min=1, max=128),
        ),
    )


def test_the_head_counts_its_parameters(pipeline):
    assert "513,000,000 parameters" in pipeline.words and "13.82" in pipeline.words
    pipeline.controls["task"].value = "digits (this notebook)"
    pipeline.controls["width"].value = 64
    assert "= 650 parameters" in pipeline.words and "2.30" in pipeline.words


def test_the_batch_changes_shapes_only(pipeline):
    pipeline.controls["batch"].value = 5
    assert "(5, 1000000)" in pipeline.words and "513,000,000" in pipeline.words


@pytest.mark.parametrize("task", sn.TASKS)
def test_every_task_can_be_drawn(task):
    _, words = sn.draw_pipeline(task, 64)
    assert f"{np.log(sn.TASKS[task][2]):.2f}" in words


# ---------------------------------------------------------------- the spiral


@pytest.fixture(scope="module")
def trained():
    X, y = sn.spiral()
    kept, losses = sn.train(
        sn.forward, sn.signal, X, np.eye(3)[y], sn.start_layers(2, 32, 32, 3, seed=1),
        steps=400, rate=0.3, keep=(50,),
    )  # fmt: skip
    return X, y, kept, losses


@pytest.fixture
def spiral_map(trained):
    X, y, kept, _ = trained
    return Explorer(
        sn.map_explorer(kept, sn.forward, X, y),
        dict(
            step=SelectionSlider(options=sorted(kept), value=400),
            shown=Dropdown(options=["all three", "who wins", "class 0", "class 1", "class 2"]),
            log_T=FloatSlider(0, min=-1, max=2),
        ),
    )


def spiral_numbers(widget):
    return dict(zip(("step", "T", "right", "loss", "sure"), numbers(widget.words), strict=True))


def test_the_network_learns_the_arms(spiral_map):
    end = spiral_numbers(spiral_map)
    assert end["right"] >= 98 and end["loss"] < 0.1
    spiral_map.controls["step"].value = 0
    start = spiral_numbers(spiral_map)
    assert start["loss"] == pytest.approx(np.log(3), abs=0.05) and start["right"] < 70


def test_the_temperature_changes_no_answer(spiral_map):
    cold = spiral_numbers(spiral_map)
    spiral_map.controls["log_T"].value = 1.0
    warm = spiral_numbers(spiral_map)
    assert warm["right"] == cold["right"]
    assert warm["loss"] > cold["loss"] and warm["sure"] < cold["sure"]


def test_one_class_at_a_time(spiral_map):
    before = spiral_map.words
    for shown in ("who wins", "class 0", "class 2"):
        spiral_map.controls["shown"].value = shown
        assert spiral_map.words == before and spiral_map.picture.value


def test_linear_scores_cannot_follow_the_arms():
    _, words = sn.draw_why()
    linear, net = [float(v) for v in re.findall(r"(\d+)%", words)]
    assert linear < 65 and net > 97


def test_paths_start_at_the_centre_and_end_at_their_corner(trained):
    X, y, kept, _ = trained
    fig, words = sn.draw_trajectories(kept, sn.forward, X, y, np.array([30, 130, 230]))
    path = fig.axes[0].lines[1].get_xydata()
    np.testing.assert_allclose(path[0], [0.5, np.sqrt(3) / 6], atol=0.1)
    assert float(re.search(r"true class (\d\.\d+)\)", words)[1]) > 0.8


def test_squared_error_hardly_pulls_on_what_is_wrong():
    def vjp(P, G):
        return ref.softmax_vjp(torch.from_numpy(P), torch.from_numpy(G)).numpy()

    _, words = sn.draw_signals(vjp)
    cross, squared = re.search(
        r"cross-entropy ([\d.]+), squared error ([\d.e-]+)\.", words
    ).groups()
    assert float(cross) == pytest.approx(1, abs=1e-3) and float(squared) < 1e-3


def test_the_temperature_names_the_lowest_loss():
    T = np.array([0.5, 1.0, 4.0, 10.0])
    _, words = sn.draw_temperature(
        T, np.array([2.0, 1.0, 0.4, 0.7]), 0.9, np.array([0.1, 0.2, 0.4, 0.8])
    )
    assert "1.00 at T = 1" in words and "0.40, near T = 4" in words


# ---------------------------------------------------------------- layers


@pytest.fixture
def layers(rng):
    y = np.arange(60) % 10
    X = np.eye(10)[y] + 0.1 * rng.normal(size=(60, 10))
    kept, _ = sn.train(
        sn.forward, sn.signal, X, np.eye(10)[y], sn.start_layers(10, 8, 10), steps=60
    )
    return Explorer(
        sn.layer_explorer(kept, sn.forward, {"training": (X, y), "test": (X[:40] + 0.1, y[:40])}),
        dict(
            step=SelectionSlider(options=sorted(kept), value=60),
            rows=Dropdown(options=["training", "test"]),
        ),
    ), X, y  # fmt: skip


def shown(widget):
    """Step and the ratios of the input and of the hidden layer."""
    step, *ratios = numbers(widget.words)
    return step, ratios


def test_the_readout_is_the_ratio(layers):
    widget, X, y = layers
    step, ratios = shown(widget)
    assert step == 60 and ratios[0] == pytest.approx(sn.ratio(X, y), abs=0.005)
    widget.controls["rows"].value = "test"
    assert "test rows" in widget.words
    assert shown(widget)[1][0] == pytest.approx(sn.ratio(X[:40], y[:40]), abs=0.005)


def test_the_hidden_layer_learns_and_the_input_does_not(layers):
    widget, _, _ = layers
    _, trained_ratios = shown(widget)
    widget.controls["step"].value = 0
    step, first = shown(widget)
    assert step == 0 and first[0] == trained_ratios[0] and first[1] > trained_ratios[1]


def test_the_plane_is_the_principal_one(rng):
    H = rng.normal(size=(40, 4)) * [5, 1, 3, 0.5]
    Z = sn.plane_of(H)(H)
    variances = np.sort(np.linalg.eigvalsh(np.cov(H.T)))[::-1]
    np.testing.assert_allclose(Z.var(0, ddof=1), variances[:2])


def test_layers_and_cosines_are_told():
    _, words = sn.draw_layers(["x", "h"], {"a": [1.0, 0.5]}, {"a": [0.9, 0.95]}, 0.1)
    assert "1.00, 0.50" in words and "0.900, 0.950" in words
    _, words = sn.draw_cosines(["x", "h"], [[-0.7, -0.2, -0.4], [-0.5] * 3], [2.0, 0.1], "abc")
    assert "spread 0.50" in words and "2.00 to 0.10" in words


# ---------------------------------------------------------------- information


@pytest.fixture
def chain():
    return Explorer(
        sn.information_explorer(information),
        dict(
            flip=FloatSlider(0.1, min=0, max=0.5),
            second=Dropdown(options=sn.SECOND_LAYERS),
        ),
    )


def told(widget):
    about_x, about_y, linear = re.findall(r"= ([\d., ]+) bits|right on ([\d., ]+)\.", widget.words)
    return [[float(v) for v in ("".join(g)).split(", ")] for g in (about_x, about_y, linear)]


def test_xor_keeps_the_bits_and_helps_the_line(chain):
    about_x, about_y, linear = told(chain)
    assert about_x == [2, 1.5, 1] and about_y == [0.531] * 3 and linear == [0.7, 0.9, 0.9]


def test_a_careless_layer_loses_for_good(chain):
    chain.controls["second"].value = "careless: was any bit on?"
    _, about_y, linear = told(chain)
    h2 = lambda p: -p * np.log2(p) - (1 - p) * np.log2(1 - p)  # noqa: E731
    expected = 1 - 0.25 * h2(0.1) - 0.75 * h2((2 * 0.9 + 0.1) / 3)
    assert about_y[2] == pytest.approx(expected, abs=1e-3) and linear[2] == 0.7


def test_renaming_keeps_the_bits_and_may_spoil_the_line(chain):
    chain.controls["second"].value = "rename only"
    about_x, about_y, linear = told(chain)
    assert about_x[1] == about_x[2] and about_y[1] == about_y[2] and linear[2] < linear[1]


@pytest.mark.parametrize("second", sn.SECOND_LAYERS)
@pytest.mark.parametrize("flip", [0.0, 0.2, 0.5])
def test_no_setting_adds_information(chain, second, flip):
    chain.controls["second"].value = second
    chain.controls["flip"].value = flip
    about_x, about_y, _ = told(chain)
    assert np.all(np.diff(about_x) <= 0) and np.all(np.diff(about_y) <= 0)
    if flip == 0.5:
        assert about_y == [0, 0, 0]


def test_the_best_line_is_the_best_of_all_cuts():
    joint = sn.xor_table(0.0)
    assert sn.best_linear(sn.XOR_POINTS[0], joint) == 0.75
    assert sn.best_linear(sn.XOR_POINTS[1], joint @ sn.XOR_LAYERS[0]) == 1.0
    assert sn.best_linear(np.array([[0.0], [1], [2]]), joint @ sn.XOR_LAYERS[0]) == 0.75


def test_a_uniform_variable_fills_its_bins():
    x = (np.arange(4096) + 0.5) / 4096
    np.testing.assert_allclose(sn.binned_bits(x, 0.0, 1.0, np.array([0.25, 0.125])), [2, 3])
    widths = 2.0 ** -np.arange(2, 5)
    _, words = sn.draw_bins(widths, {"x": sn.binned_bits(x, 0.0, 1.0, widths)})
    assert "adds 1.00 to 1.00 bits" in words and "2.0 to 4.0 bits" in words

"""References for multi-class networks against torch.nn, autograd, scikit-learn and brute force."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.metrics import calinski_harabasz_score, mutual_info_score
from sklearn.metrics.pairwise import cosine_similarity

from solutions.reference import softmax_networks as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


@DTYPES
@BATCHES
def test_loss_and_signal_are_torchs(dtype, batch):
    S, Q = 3 * normal(*batch, 5, 4, dtype=dtype), simplex(*batch, 5, 4, dtype=dtype)
    loss, dS = ref.cross_entropy_and_signal(S, Q)
    assert loss.shape == batch
    for s, q, one, slope in one_by_one(batch, S, Q, loss, dS):
        leaf = s.clone().requires_grad_()
        expected = torch.nn.functional.cross_entropy(leaf, q)
        expected.backward()
        torch.testing.assert_close(one, expected.detach(), **tolerance(dtype))
        torch.testing.assert_close(slope, leaf.grad, **tolerance(dtype))


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


# ---------------------------------------------------------------- the contract of every reference

CALLS = {
    "forward": lambda dtype: (normal(4, 2, dtype=dtype), network(2, 3, 3, dtype=dtype)),
    "cross_entropy_and_signal": lambda dtype: (normal(4, 3, dtype=dtype), simplex(4, 3, dtype=dtype)),
    "softmax_vjp": lambda dtype: (simplex(4, 3, dtype=dtype), normal(4, 3, dtype=dtype)),
    "argmax_region": lambda dtype: (simplex(4, 3, dtype=dtype),),
    "scatter_ratio": lambda dtype: (normal(12, 2, dtype=dtype), labels(12)),
    "class_cosines": lambda dtype: (normal(12, 2, dtype=dtype), labels(12), 3),
    "layer_information": lambda dtype: (
        simplex(8, dtype=dtype).reshape(2, 4),
        [simplex(4, 3, dtype=dtype)],
    ),
}  # fmt: skip


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](dtype))


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

"""References for one hidden layer against torch.nn, autograd, distributions and brute force."""

import itertools

import numpy as np
import pytest
import torch

from solutions.reference import one_hidden_layer as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


# ---------------------------------------------------------------- the contract of every reference

CALLS = {
    "forward": lambda dtype: (normal(5, 2, dtype=dtype), *network(dtype=dtype)),
    "collapsed": lambda dtype: tuple(network(dtype=dtype)),
    "kink_rows": lambda dtype: tuple(normal(4, dtype=dtype, seed=k) for k in range(3)),
    "region_count": lambda dtype: (normal(4, 2, dtype=dtype), normal(4, dtype=dtype)),
    "error_signal": lambda dtype: (normal(4, dtype=dtype), normal(4, dtype=dtype), "bernoulli"),
    "moves": lambda dtype: (*data(dtype=dtype), *network(dtype=dtype)),
    "trained": lambda dtype: (*data(dtype=dtype), *network(dtype=dtype), 0.1, 2, "gaussian"),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](dtype))


@pytest.mark.parametrize("name", [name for name in CALLS if name != "kink_rows"])
def test_no_value_and_no_device_is_assumed(name):
    """The number of kinks depends on values, so `kink_rows` cannot run on the meta device."""
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

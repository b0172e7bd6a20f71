"""Double descent references against scikit-learn, SciPy, exact fractions, loops and known limits."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.linalg import null_space
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer

from solutions.reference import double_descent as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def jittered(*batch, n, dtype=torch.float64, seed=0):
    """Increasing inputs, one near the middle of each of n equal slots of [0, 1]."""
    u = np.random.default_rng(seed).uniform(0.4, 0.6, (*batch, n))
    return torch.from_numpy((np.arange(n) + u) / n).to(dtype)


# ---------------------------------------------------------------- hinges and networks


@DTYPES
@BATCHES
def test_features_are_those_of_a_loop(batch, dtype):
    x = normal(*batch, 4, dtype=dtype)
    got = ref.hinge_features(x, 3, -2.0, 2.0)
    assert got.shape == (*batch, 4, 3) and got.dtype == dtype
    expected = [[max(0.0, v - b) for b in (-1, 0, 1)] for v in x.reshape(-1).tolist()]
    expected = torch.tensor(expected, dtype=dtype).reshape(got.shape)
    torch.testing.assert_close(got, expected, **tolerance(dtype))


def test_with_one_more_column_the_features_span_scikit_learns_splines():
    x = torch.linspace(0, 1, 30, dtype=torch.float64)
    ours = torch.column_stack([torch.ones(30), x, ref.hinge_features(x, 4, 0.0, 1.0)]).numpy()
    knots = np.linspace(0, 1, 6)[:, None]
    theirs = SplineTransformer(degree=1, knots=knots).fit_transform(x.numpy()[:, None])
    coefficients = np.linalg.lstsq(ours, theirs, rcond=None)[0]
    np.testing.assert_allclose(ours @ coefficients, theirs, atol=1e-12)


@DTYPES
@BATCHES
def test_the_spline_is_the_broken_line_through_its_knots(batch, dtype):
    beta, b = normal(*batch, 3, dtype=dtype), torch.tensor([0.5, 1.0, 2.0], dtype=dtype)
    x = torch.linspace(-1, 4, 11, dtype=dtype).expand(*batch, 11)
    got = ref.spline_values(0.3, beta, b.expand(*batch, 3), x)
    nodes = np.array([-1.0, 0.5, 1.0, 2.0, 4.0])
    for row, values in zip(beta.reshape(-1, 3).double().numpy(), got.reshape(-1, 11), strict=True):
        slopes = np.concatenate([[0.0], np.cumsum(row)])
        heights = 0.3 + np.concatenate([[0.0], np.cumsum(slopes * np.diff(nodes))])
        expected = np.interp(np.linspace(-1, 4, 11), nodes, heights)
        np.testing.assert_allclose(values.double().numpy(), expected, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- what the data cannot see


@DTYPES
@pytest.mark.parametrize("n, d, rank", [(3, 6, 3), (6, 3, 3), (4, 6, 2), (2, 4, 0)])
def test_the_unseen_part_is_scipys_projection(n, d, rank, dtype):
    X = normal(n, rank, dtype=dtype) @ normal(rank, d, dtype=dtype, seed=1)
    beta = normal(d, dtype=dtype, seed=2)
    got = ref.unseen_part(beta, X)
    free = null_space(X.double().numpy(), rcond=1e-5)
    assert free.shape[1] == d - rank and got.dtype == dtype
    expected = torch.from_numpy(free @ (free.T @ beta.double().numpy())).to(dtype)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4 if dtype == torch.float32 else 1e-9)  # fmt: skip


@BATCHES
def test_the_unseen_part_of_a_batch_is_that_of_each(batch):
    X, beta = normal(*batch, 3, 5), normal(*batch, 5, seed=1)
    got = ref.unseen_part(beta, X)
    rows = zip(beta.reshape(-1, 5), X.reshape(-1, 3, 5), strict=True)
    expected = torch.stack([ref.unseen_part(*pair) for pair in rows]).reshape(got.shape)
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close((X @ got.unsqueeze(-1)).squeeze(-1), torch.zeros(*batch, 3).double())


def test_gradient_descent_ends_at_pinv_plus_the_unseen_part():
    X, y, beta = normal(3, 6), normal(3, seed=1), normal(6, seed=2)
    expected = torch.linalg.pinv(X) @ y + ref.unseen_part(beta, X)
    rate = 1 / torch.linalg.matrix_norm(X, 2) ** 2
    for _ in range(4000):
        beta = beta + rate * X.T @ (y - X @ beta)
    torch.testing.assert_close(beta, expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- the sweep


@DTYPES
@BATCHES
def test_the_sweep_is_scikit_learns_linear_regression(batch, dtype):
    """LinearRegression centres and takes the solution of least norm, so its intercept is free too."""
    ps = [0, 1, 4, 6, 7, 30]
    x, new = jittered(*batch, n=7, dtype=dtype), jittered(*batch, n=5, dtype=dtype, seed=1)
    y, new_y = 3 + normal(*batch, 7, dtype=dtype), 3 + normal(*batch, 5, dtype=dtype, seed=2)
    train, test = ref.knot_sweep(x, y, new, new_y, ps)
    assert train.shape == test.shape == (*batch, len(ps)) and test.dtype == dtype
    flat = [t.double().numpy().reshape(-1, t.shape[-1]) for t in (x, y, new, new_y)]
    expected = []
    for a, b, c, d in zip(*flat, strict=True):
        for p in ps:
            knots = np.arange(1, p + 1) / (p + 1)
            F, G = (np.maximum(0, v[:, None] - knots) for v in (a, c))
            if p == 0:
                expected.append([np.mean((b - b.mean()) ** 2), np.mean((d - b.mean()) ** 2)])
                continue
            model = LinearRegression().fit(F, b)
            expected.append(
                [np.mean((model.predict(F) - b) ** 2), np.mean((model.predict(G) - d) ** 2)]
            )
    expected = np.array(expected).reshape(*batch, len(ps), 2)
    rtol = 2e-2 if dtype == torch.float32 else 1e-7  # float32 meets the condition number at p = 6
    np.testing.assert_allclose(train, expected[..., 0], rtol=rtol, atol=1e-6)
    np.testing.assert_allclose(test, expected[..., 1], rtol=rtol, atol=1e-6)


def test_the_peak_sits_one_below_the_number_of_rows():
    n = 10
    x, t = torch.linspace(0, 1, n).double(), torch.linspace(0, 1, 201).double()
    y = torch.sin(2 * torch.pi * x) + 0.1 * normal(n)
    ps = list(range(5, 15)) + [200]
    train, test = ref.knot_sweep(x, y, t, torch.sin(2 * torch.pi * t), ps)
    assert ps[int(test.argmax())] == n - 1
    assert train[: ps.index(8) + 1].min() > 1e-6 and train[ps.index(9) :].max() < 1e-9
    assert test[-1] < test.max() / 100


def test_the_intercept_is_free():
    x, y, t = jittered(n=6), normal(6), jittered(n=4, seed=1)
    low = ref.knot_sweep(x, y, t, torch.zeros(4).double(), [20])
    high = ref.knot_sweep(x, y + 1000, t, torch.full((4,), 1000.0).double(), [20])
    torch.testing.assert_close(low, high, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- hats


def exact_rank(rows):
    """Rank by elimination in fractions."""
    rows, rank = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.parametrize("seed", range(60))
def test_no_zero_if_and_only_if_the_feature_rows_are_independent(seed):
    """Inputs and knots on one coarse lattice, so that many inputs fall on knots."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    b = np.sort(rng.choice(24, p, replace=False)).astype(float)
    x = rng.choice(24, n, replace=False).astype(float)
    hats = ref.hats_taken(torch.from_numpy(x), torch.from_numpy(b))
    rows = [[1, *(max(0, int(v - k)) for k in b)] for v in x]
    assert bool((hats > 0).all()) == (exact_rank(rows) == n)


def test_both_answers_occur_among_those_samples():
    answers = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p, n = int(rng.integers(1, 8)), int(rng.integers(1, 7))
        b = np.sort(rng.choice(24, p, replace=False)).astype(float)
        x = rng.choice(24, n, replace=False).astype(float)
        answers.add(bool((ref.hats_taken(torch.from_numpy(x), torch.from_numpy(b)) > 0).all()))
    assert answers == {True, False}


@pytest.mark.parametrize(
    "x, b, hats",
    [
        ([2.5, 0.5, 1.5], [1.0, 2.0], [1, 2, 3]),
        ([0.2, 0.8, 2.5], [1.0, 2.0], [1, 0, 0]),
        ([3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0], [3, 4]),
        ([0.5, 1.0], [1.0], [1, 0]),
        ([1.5], [1.0], [1]),
    ],
)
def test_hats_by_hand(x, b, hats):
    assert ref.hats_taken(torch.tensor(x), torch.tensor(b)).tolist() == hats


@BATCHES
def test_hats_of_a_batch_are_those_of_each(batch):
    x, b = normal(*batch, 5), normal(*batch, 6, seed=1).sort(-1).values
    got = ref.hats_taken(x, b)
    rows = zip(x.reshape(-1, 5), b.reshape(-1, 6), strict=True)
    expected = [ref.hats_taken(*pair).tolist() for pair in rows]
    assert got.shape == (*batch, 5) and got.reshape(-1, 5).tolist() == expected


# ---------------------------------------------------------------- effective ranks


@DTYPES
@BATCHES
def test_effective_ranks_are_the_sums(batch, dtype):
    eigs = normal(*batch, 6, dtype=dtype).square() + 0.1
    for k in (0, 2, 5):
        r, R = ref.tail_ranks(eigs, k)
        tail = np.sort(eigs.double().numpy(), -1)[..., ::-1][..., k:]
        np.testing.assert_allclose(r, tail.sum(-1) / tail[..., 0], rtol=1e-5)
        np.testing.assert_allclose(R, tail.sum(-1) ** 2 / (tail**2).sum(-1), rtol=1e-5)
        assert r.shape == batch and r.dtype == dtype
        assert torch.all(r <= R * (1 + 1e-5)) and torch.all(R <= r.square() * (1 + 1e-5))


def test_a_flat_tail_counts_its_directions():
    eigs = torch.cat([torch.tensor([9.0, 5.0]), torch.full((7,), 0.3)])
    torch.testing.assert_close(ref.tail_ranks(eigs, 2), (torch.tensor(7.0), torch.tensor(7.0)))


# ---------------------------------------------------------------- epicycles


@DTYPES
@BATCHES
@pytest.mark.parametrize("m, N", [(7, 3), (6, 4), (5, 5), (6, 6), (4, 1)])
def test_circles_are_the_least_squares_fit(batch, m, N, dtype):
    points = normal(*batch, m, 2, dtype=dtype)
    got = ref.low_frequencies(points, N)
    assert got.shape == points.shape and got.dtype == dtype
    k = np.array([0, 1, -1, 2, -2, 3, -3])[:N]
    E = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m)
    z = points.double().numpy() @ np.array([1, 1j])
    fit = np.linalg.lstsq(E, z.reshape(-1, m).T, rcond=None)[0]
    curve = (E @ fit).T.reshape(*batch, m)
    np.testing.assert_allclose(got[..., 0], curve.real, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[..., 1], curve.imag, rtol=1e-4, atol=1e-5)


def test_the_error_never_rises_with_the_number_of_circles():
    points = normal(9, 2)
    errors = [(ref.low_frequencies(points, N) - points).square().sum().item() for N in range(1, 10)]
    assert all(later <= earlier + 1e-12 for earlier, later in zip(errors, errors[1:], strict=False))
    assert errors[-1] < 1e-24


# ---------------------------------------------------------------- the contract of every reference


def calls(dtype):
    x, b = jittered(n=5, dtype=dtype), torch.tensor([0.2, 0.5, 0.8], dtype=dtype)
    y = normal(5, dtype=dtype)
    return {
        "hinge_features": (x, 3, 0.0, 1.0),
        "spline_values": (0.5, normal(3, dtype=dtype), b, x),
        "unseen_part": (normal(4, dtype=dtype), normal(2, 4, dtype=dtype)),
        "knot_sweep": (x, y, x.flip(0), y, [0, 2, 9]),
        "hats_taken": (x, b),
        "tail_ranks": (normal(5, dtype=dtype).square(), 1),
        "low_frequencies": (normal(6, 2, dtype=dtype), 3),
    }


@DTYPES
@pytest.mark.parametrize("name", calls(torch.float64))
def test_inputs_are_left_alone(name, dtype):
    arguments = calls(dtype)[name]
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", calls(torch.float64))
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), calls(torch.float64)[name])

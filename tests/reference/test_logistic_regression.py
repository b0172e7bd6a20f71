"""Logistic regression references against SciPy, scikit-learn, statsmodels, autograd and brute force."""

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from scipy.special import expit
from scipy.stats import bernoulli
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from solutions.reference import logistic_regression as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def design(*batch, n=40, d=3, dtype=torch.float64, seed=0):
    """X with a leading 1 and noisy labels, two of each point so that the classes overlap."""
    X = normal(*batch, n, d, seed=seed)
    X[..., 0] = 1
    X[..., n // 2 :, :] = X[..., : n // 2, :]
    y = (X.sum(-1) + 2 * normal(*batch, n, seed=seed + 1) > 0).to(dtype)
    y[..., :d] = 0
    y[..., n // 2 : n // 2 + d] = 1
    return X.to(dtype), y


def each(batch, *arrays):
    """The batches one by one, as float64 NumPy arrays."""
    flat = [a.double().reshape(-1, *a.shape[len(batch) :]).numpy() for a in arrays]
    return zip(*flat, strict=True)


# ---------------------------------------------------------------- sigmoid


@DTYPES
def test_sigmoid_is_scipys_far_into_both_tails(dtype):
    z = torch.tensor([-1000.0, -80, -30, -1, 0, 1, 30, 80, 1000], dtype=dtype)
    got = ref.sigmoid(z)
    assert got.dtype == dtype
    expected = torch.from_numpy(expit(z.double().numpy()))
    torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=0)


def test_sigmoid_is_symmetric_and_inverts_the_logit():
    z = torch.linspace(-12, 12, 49, dtype=torch.float64)
    torch.testing.assert_close(ref.sigmoid(-z), 1 - ref.sigmoid(z))
    torch.testing.assert_close(torch.logit(ref.sigmoid(z)), z, rtol=1e-9, atol=1e-12)


# ---------------------------------------------------------------- likelihood and gradient


@DTYPES
@BATCHES
def test_log_likelihood_is_the_sum_of_scipys_bernoulli(batch, dtype):
    (X, y), w = design(*batch, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=5)
    got = ref.log_likelihood(w, X, y)
    assert got.shape == batch and got.dtype == dtype
    expected = [
        bernoulli.logpmf(labels.astype(int), expit(A @ v)).sum()
        for v, A, labels in each(batch, w, X, y)
    ]
    torch.testing.assert_close(got.double().reshape(-1), torch.tensor(expected), **tolerance(dtype))


@DTYPES
def test_log_likelihood_of_sure_mistakes_is_minus_the_score(dtype):
    X = torch.tensor([[1.0, 3], [1, -2]], dtype=dtype)
    y = torch.tensor([0.0, 1.0], dtype=dtype)
    w = torch.tensor([0.0, 1000.0], dtype=dtype)
    assert ref.log_likelihood(w, X, y).item() == -5000


@BATCHES
@DTYPES
def test_gradient_is_autograds(batch, dtype):
    (X, y), w = design(*batch, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=5)
    got = ref.nll_grad(w, X, y)
    leaf = w.double().clone().requires_grad_()
    (-ref.log_likelihood(leaf, X.double(), y.double()).sum() / X.shape[-2]).backward()
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), leaf.grad, **tolerance(dtype))


def test_gradient_is_finite_differences():
    (X, y), w = design(), normal(3, seed=5)
    h = 1e-5
    differences = torch.stack(
        [
            (ref.log_likelihood(w - h * e, X, y) - ref.log_likelihood(w + h * e, X, y)) / (2 * h)
            for e in torch.eye(3, dtype=torch.float64)
        ]
    )
    torch.testing.assert_close(ref.nll_grad(w, X, y), differences / 40, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- Newton


@BATCHES
@DTYPES
@pytest.mark.parametrize("lam", [0.0, 0.2])
def test_newton_steps_are_autograds_hessian_solves(batch, dtype, lam):
    X, y = design(*batch, dtype=dtype)
    path = ref.newton_path(X, y, lam, 4)
    assert path.shape == (*batch, 5, 3) and path.dtype == dtype
    for got, A, labels in each(batch, path, X, y):
        A, labels = torch.from_numpy(A), torch.from_numpy(labels)

        def loss(w, A=A, labels=labels):
            return -ref.log_likelihood(w, A, labels) / 40 + lam / 2 * w[1:].square().sum()

        w = torch.zeros(3, dtype=torch.float64)
        for expected in got:
            np.testing.assert_allclose(expected, w, **tolerance(dtype))
            leaf = w.clone().requires_grad_()
            (g,) = torch.autograd.grad(loss(leaf), leaf)
            w = w - torch.linalg.solve(torch.autograd.functional.hessian(loss, w), g)


def test_newton_ends_at_statsmodels_fit():
    X, y = design(n=60)
    fit = sm.Logit(y.numpy(), X.numpy()).fit(disp=0, tol=1e-12)
    np.testing.assert_allclose(ref.newton_path(X, y, 0.0, 12)[-1], fit.params, rtol=1e-7)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
def test_newton_with_ridge_ends_at_scikit_learns_fit(lam):
    X, y = design(n=60)
    fit = LogisticRegression(C=1 / (60 * lam), tol=1e-12, max_iter=5000).fit(X[:, 1:], y)
    got = ref.newton_path(X, y, lam, 20)[-1]
    np.testing.assert_allclose(got, [*fit.intercept_, *fit.coef_[0]], rtol=1e-4, atol=1e-6)


def test_an_intercept_alone_ends_at_the_logit_of_the_share():
    y = torch.tensor([1.0, 1, 1, 0], dtype=torch.float64)
    path = ref.newton_path(torch.ones(4, 1, dtype=torch.float64), y, 5.0, 12)
    assert path[1, 0].item() == pytest.approx(1.0)
    assert path[-1, 0].item() == pytest.approx(np.log(3), abs=1e-14)


def test_ridge_makes_separable_data_finite():
    x = torch.tensor([-2.0, -1, 1, 2], dtype=torch.float64)
    X, y = torch.stack([torch.ones(4, dtype=torch.float64), x], -1), (x > 0).double()
    free, held = (ref.newton_path(X, y, lam, 12)[:, 1] for lam in (0.0, 0.01))
    assert free[-1] - free[-2] > 0.9  # pure Newton adds about one to the score of the nearest rows
    assert held[-1] - held[-2] < 1e-12


# ---------------------------------------------------------------- decisions


@DTYPES
@BATCHES
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 10.0), (7.0, 2.0)], ids=str)
def test_decisions_cost_least_by_brute_force(batch, dtype, costs):
    X, w = normal(*batch, 30, 3, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=1)
    got = ref.decisions(X, w, *costs)
    assert got.shape == (*batch, 30)
    for said, A, v in each(batch, got, X, w):
        p = expit(A @ v)
        table = np.stack([p * costs[1], (1 - p) * costs[0]])  # cost of saying 0, of saying 1
        assert np.array_equal(said, table.argmin(0))


def test_a_tie_is_a_no():
    X = torch.tensor([[1.0, 0.0]])
    assert ref.decisions(X, torch.tensor([0.0, 1.0]), 2.0, 2.0).tolist() == [0]


# ---------------------------------------------------------------- reliability


@DTYPES
@BATCHES
@pytest.mark.parametrize("bins", [1, 4, 10])
def test_reliability_is_scikit_learns_curve(batch, dtype, bins):
    p = normal(*batch, 200, dtype=dtype).sigmoid()
    y = (normal(*batch, 200, seed=1).to(dtype).sigmoid() < p).to(dtype)
    table = ref.reliability(p, y, bins)
    assert table.shape == (*batch, bins, 3) and table.dtype == dtype
    for got, probs, labels in each(batch, table, p, y):
        share, mean = calibration_curve(labels, probs, n_bins=bins)
        seen = got[got[:, 2] > 0]
        np.testing.assert_allclose(seen[:, :2], np.column_stack([mean, share]), **tolerance(dtype))
        assert got[:, 2].sum() == 200
        assert np.array_equal(got[got[:, 2] == 0], np.zeros((np.sum(got[:, 2] == 0), 3)))


def test_edges_belong_to_the_bin_above_and_one_to_the_last():
    p = torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0])
    assert ref.reliability(p, p, 4)[:, 2].tolist() == [1, 1, 1, 2]


# ---------------------------------------------------------------- the contract of every reference

CALLS = {
    "sigmoid": lambda dtype: (normal(4, dtype=dtype),),
    "scores": lambda dtype: (normal(5, 2, dtype=dtype), normal(2, dtype=dtype)),
    "log_likelihood": lambda dtype: (normal(3, dtype=dtype), *design(dtype=dtype)),
    "nll_grad": lambda dtype: (normal(3, dtype=dtype), *design(dtype=dtype)),
    "newton_path": lambda dtype: (*design(dtype=dtype), 0.1, 2),
    "decisions": lambda dtype: (normal(5, 2, dtype=dtype), normal(2, dtype=dtype), 1.0, 3.0),
    "reliability": lambda dtype: (
        normal(9, dtype=dtype).sigmoid(),
        (normal(9, dtype=dtype) > 0).to(dtype),
        3,
    ),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

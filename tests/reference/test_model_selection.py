"""Model selection references against scikit-learn, SciPy, torch's losses, sums and simulation."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from torch.nn.functional import cross_entropy

from solutions.reference import model_selection as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def simplex(*shape, dtype=torch.float64, seed=0):
    return normal(*shape, seed=seed).softmax(-1).to(dtype)


def binomial_mean_of_lowest(p, n, M):
    """Mean lowest rate from the probabilities of the lowest count, by SciPy."""
    at_least = stats.binom.sf(np.arange(-1, n + 1), n, p) ** M
    return np.sum(np.arange(n + 1) * -np.diff(at_least)) / n


# ---------------------------------------------------------------- squared error


@DTYPES
@BATCHES
def test_bias_and_variance_add_up_to_the_mean_squared_error(batch, dtype):
    fits, truth = normal(*batch, 7, 5, dtype=dtype), normal(*batch, 5, dtype=dtype, seed=1)
    bias2, variance = ref.squared_error_terms(fits, truth)
    risk = (fits - truth.unsqueeze(-2)).square().mean((-2, -1))
    assert bias2.shape == batch and bias2.dtype == dtype
    torch.testing.assert_close(bias2 + variance, risk, **tolerance(dtype))


@DTYPES
def test_variance_is_numpys_and_bias_is_that_of_the_mean(dtype):
    fits, truth = normal(6, 4, dtype=dtype), normal(4, dtype=dtype, seed=1)
    bias2, variance = ref.squared_error_terms(fits, truth)
    by_hand = np.mean((fits.double().numpy().mean(0) - truth.double().numpy()) ** 2)
    assert np.isclose(variance, fits.double().numpy().var(0).mean(), **tolerance(dtype))
    assert np.isclose(bias2, by_hand, **tolerance(dtype))


# ---------------------------------------------------------------- the tower property


@DTYPES
@BATCHES
def test_iterated_mean_equals_the_double_sum(batch, dtype):
    joint = simplex(*batch, 12, dtype=dtype).reshape(*batch, 3, 4)
    g = normal(*batch, 3, 4, dtype=dtype, seed=1)
    inner, total = ref.conditional_means(joint, g)
    assert inner.shape == (*batch, 3) and inner.dtype == dtype
    torch.testing.assert_close(total, (joint * g).sum((-2, -1)), **tolerance(dtype))


def test_inner_means_are_those_of_a_sample():
    joint, g = simplex(6).reshape(2, 3), normal(2, 3, seed=1)
    inner, _ = ref.conditional_means(joint, g)
    draws = np.random.default_rng(0).choice(6, 400_000, p=joint.numpy().ravel())
    for i in range(2):
        values = g.numpy().ravel()[draws[draws // 3 == i]]
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - inner[i].item()) < 5 * error


@DTYPES
def test_a_row_that_never_happens_counts_for_nothing(dtype):
    joint = torch.tensor([[0.25, 0.75], [0.0, 0.0]], dtype=dtype)
    inner, total = ref.conditional_means(joint, torch.tensor([[4.0, 8.0], [9.0, 9.0]], dtype=dtype))
    assert inner.tolist() == [7.0, 0.0] and total.item() == 7.0


# ---------------------------------------------------------------- cross-entropy


@DTYPES
@BATCHES
def test_three_terms_add_up_to_torchs_cross_entropy(batch, dtype):
    probs, truth = simplex(*batch, 5, 4, dtype=dtype), simplex(*batch, 4, dtype=dtype, seed=1)
    noise, bias, variance = ref.cross_entropy_terms(probs, truth)
    targets = truth.unsqueeze(-2).expand_as(probs).reshape(-1, 4)
    loss = cross_entropy(probs.log().reshape(-1, 4), targets, reduction="none")
    loss = loss.reshape(*batch, 5).mean(-1)
    assert noise.shape == batch and noise.dtype == dtype
    torch.testing.assert_close(noise + bias + variance, loss, **tolerance(dtype))


def test_terms_are_scipys_entropies():
    probs, truth = simplex(5, 3).numpy(), np.array([0.6, 0.4, 0.0])
    noise, bias, variance = ref.cross_entropy_terms(torch.tensor(probs), torch.tensor(truth))
    centre = stats.gmean(probs, axis=0)
    centre /= centre.sum()
    spread = np.mean([stats.entropy(centre, row) for row in probs])
    expected = stats.entropy(truth), stats.entropy(truth, centre), spread
    np.testing.assert_allclose([noise, bias, variance], expected, rtol=1e-12)


def test_the_centre_minimises_the_variance():
    """Any other centre is further from the models: the definition of a Bregman mean."""
    probs = simplex(5, 3)
    _, _, variance = ref.cross_entropy_terms(probs, probs[0])
    others = simplex(2000, 3, seed=2)
    distance = (others.unsqueeze(1) * (others.unsqueeze(1) / probs).log()).sum(-1).mean(-1)
    assert distance.min() >= variance


# ---------------------------------------------------------------- cross-validation


@DTYPES
@BATCHES
@pytest.mark.parametrize("n, k", [(12, 4), (11, 4), (9, 2), (6, 6)])
def test_scores_are_scikit_learns(batch, n, k, dtype):
    X, y = normal(*batch, n, 2, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    scores = ref.ridge_cv_scores(X, y, k, 0.3)
    assert scores.shape == (*batch, k) and scores.dtype == dtype
    rows = zip(X.double().reshape(-1, n, 2), y.double().reshape(-1, n), strict=True)
    model = Ridge(0.3, fit_intercept=False)
    scoring = "neg_mean_squared_error"
    expected = [
        -cross_val_score(model, A.numpy(), b.numpy(), cv=KFold(k), scoring=scoring) for A, b in rows
    ]
    expected = torch.tensor(np.array(expected), dtype=dtype).reshape(*batch, k)
    torch.testing.assert_close(scores, expected, **tolerance(dtype))


@pytest.mark.parametrize("n, k", [(10, 5), (11, 5), (14, 5), (5, 5)])
def test_fold_sizes_are_scikit_learns(n, k):
    assert ref.fold_sizes(n, k) == [len(fold) for _, fold in KFold(k).split(np.zeros(n))]


# ---------------------------------------------------------------- search


@DTYPES
def test_draws_are_uniform_in_the_logarithm(dtype):
    u = torch.from_numpy(np.random.default_rng(0).random((4000, 1))).to(dtype)
    low, high = torch.tensor([1e-4], dtype=dtype), torch.tensor([10.0], dtype=dtype)
    settings = ref.log_uniform(low, high, u)
    test = stats.kstest(settings[:, 0].double().numpy(), stats.loguniform(1e-4, 10).cdf)
    assert settings.dtype == dtype and test.pvalue > 0.01


@BATCHES
def test_the_winner_is_the_lowest_finite_loss(batch):
    losses, settings = normal(*batch, 6), normal(*batch, 6, 2, seed=1)
    losses[..., 0], losses[..., 3] = torch.nan, -torch.inf
    best, loss = ref.best_of_log_uniform(losses, settings)
    rows = zip(losses.reshape(-1, 6), settings.reshape(-1, 6, 2), strict=True)
    expected = [
        min((a.item(), b.tolist()) for a, b in zip(*row, strict=True) if a.isfinite())
        for row in rows
    ]
    assert best.shape == (*batch, 2)
    assert best.reshape(-1, 2).tolist() == [setting for _, setting in expected]
    assert loss.reshape(-1).tolist() == [value for value, _ in expected]


# ---------------------------------------------------------------- the best of many


@DTYPES
@pytest.mark.parametrize("n, M", [(1, 4), (20, 5), (1000, 100)])
def test_expected_best_agrees_with_scipy(n, M, dtype):
    p = torch.tensor([0.03, 0.1, 0.4, 0.9], dtype=dtype)
    expected = [binomial_mean_of_lowest(q, n, M) for q in p.double().numpy()]
    got = ref.expected_best_error(p, n, M)
    assert got.dtype == dtype
    torch.testing.assert_close(
        got, torch.tensor(np.array(expected), dtype=dtype), **tolerance(dtype)
    )


def test_expected_best_agrees_with_simulation(rng):
    lowest = rng.binomial(1000, 0.1, (4000, 100)).min(1) / 1000
    error = lowest.std() / np.sqrt(4000)
    assert abs(ref.expected_best_error(0.1, 1000, 100).item() - lowest.mean()) < 5 * error
    assert round(ref.expected_best_error(0.1, 1000, 100).item(), 3) == 0.077


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_one_model_is_worth_what_it_is(p):
    assert ref.expected_best_error(p, 17, 1).item() == pytest.approx(p, abs=1e-12)


# ---------------------------------------------------------------- the contract of every reference


CALLS = {
    "squared_error_terms": lambda dtype: (normal(4, 3, dtype=dtype), normal(3, dtype=dtype)),
    "conditional_means": lambda dtype: (simplex(4, 3, dtype=dtype) / 4, normal(4, 3, dtype=dtype)),
    "cross_entropy_terms": lambda dtype: (simplex(4, 3, dtype=dtype), simplex(3, dtype=dtype)),
    "ridge_cv_scores": lambda dtype: (normal(7, 2, dtype=dtype), normal(7, dtype=dtype), 3, 0.1),
    "best_of_log_uniform": lambda dtype: (normal(5, dtype=dtype), normal(5, 2, dtype=dtype)),
    "log_uniform": lambda dtype: (
        torch.tensor([0.1], dtype=dtype),
        torch.tensor([2.0], dtype=dtype),
        simplex(4, 1, dtype=dtype),
    ),
    "expected_best_error": lambda dtype: (torch.tensor([0.2], dtype=dtype), 10, 3),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

"""References of recommenders and superposition against autograd, scikit-learn, SciPy, lstsq and loops."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from solutions.reference import recommenders_and_superposition as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-3, atol=1e-4)
    return dict(rtol=1e-8, atol=1e-10)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def ratings(*shape, dtype=torch.float64, seed=0, share=0.6):
    known = torch.from_numpy(np.random.default_rng(seed + 1).random(shape) < share)
    return torch.where(known, normal(*shape, seed=seed), torch.nan).to(dtype)


# ---------------------------------------------------------------- lists


@BATCHES
def test_lists_are_sorted_pairs_of_score_and_index(batch):
    a, B = normal(*batch, 3), normal(*batch, 7, 3, seed=1)
    seen = normal(*batch, 7, seed=2) > 0.8
    got = ref.rank_items(a, B, seen, 3)
    assert got.shape == (*batch, 3)
    rows = zip(
        got.reshape(-1, 3), a.reshape(-1, 3), B.reshape(-1, 7, 3), seen.reshape(-1, 7), strict=True
    )
    for order, taste, items, known in rows:
        pairs = sorted((-(taste @ b).item(), j) for j, b in enumerate(items) if not known[j])
        assert order.tolist() == [j for _, j in pairs[:3]]


def test_of_equal_scores_the_lower_index_comes_first():
    a, B = torch.tensor([1.0]), torch.tensor([[2.0], [1.0], [2.0], [1.0]])
    assert ref.rank_items(a, B, torch.zeros(4, dtype=torch.bool), 4).tolist() == [0, 2, 1, 3]


# ---------------------------------------------------------------- factorisation


@DTYPES
@BATCHES
def test_gradients_are_autograds(batch, dtype):
    A = normal(*batch, 5, 2, dtype=dtype).requires_grad_()
    B = normal(*batch, 4, 2, dtype=dtype, seed=1).requires_grad_()
    R = ratings(*batch, 5, 4, dtype=dtype)
    known = R.isfinite()
    loss, dA, dB = ref.mf_grads(A.detach(), B.detach(), R, 0.3)
    P = torch.einsum("...ik,...jk->...ij", A, B)
    total = sum((P - R)[known] ** 2) / 2 + 0.15 * (A**2).sum() + 0.15 * (B**2).sum()
    total.backward()
    assert loss.shape == batch and loss.dtype == dtype
    torch.testing.assert_close(loss.sum(), total.detach(), **tolerance(dtype))
    torch.testing.assert_close(dA, A.grad, **tolerance(dtype))
    torch.testing.assert_close(dB, B.grad, **tolerance(dtype))


@DTYPES
@BATCHES
def test_the_users_half_is_scikit_learns_ridge(batch, dtype):
    B, R = normal(*batch, 6, 2, dtype=dtype), ratings(*batch, 5, 6, dtype=dtype, seed=3)
    got = ref.als_step(B, R, 0.7)
    assert got.shape == (*batch, 5, 2) and got.dtype == dtype
    for A, items, table in zip(
        got.reshape(-1, 5, 2), B.reshape(-1, 6, 2), R.reshape(-1, 5, 6), strict=True
    ):
        for a, row in zip(A, table, strict=True):
            known = row.isfinite()
            if not known.any():
                assert torch.equal(a, torch.zeros_like(a))
                continue
            model = Ridge(0.7, fit_intercept=False).fit(items[known].double(), row[known].double())
            np.testing.assert_allclose(a, model.coef_, **tolerance(dtype))


def test_alternating_ends_where_a_general_optimiser_ends():
    R, lam = ratings(5, 4, seed=5, share=0.8), 0.5
    B = normal(4, 2, seed=6)
    for _ in range(400):
        A = ref.als_step(B, R, lam)
        B = ref.als_step(A, R.mT, lam)
    loss, dA, dB = ref.mf_grads(A, B, R, lam)
    assert max(dA.abs().max(), dB.abs().max()) < 1e-5

    def objective(x):
        x = torch.from_numpy(x)
        value, gA, gB = ref.mf_grads(x[:10].reshape(5, 2), x[10:].reshape(4, 2), R, lam)
        return value.item(), torch.cat([gA.ravel(), gB.ravel()]).numpy()

    starts = [normal(18, seed=s).numpy() for s in range(5)]
    best = min(minimize(objective, x, jac=True, method="BFGS").fun for x in starts)
    assert loss.item() == pytest.approx(best, rel=1e-5)
    torch.testing.assert_close(A.mT @ A, B.mT @ B, rtol=1e-4, atol=1e-4)  # balanced


def test_unknown_ratings_stay_unknown():
    R = ratings(4, 5)
    before = R.clone()
    ref.mf_grads(normal(4, 2), normal(5, 2), R, 0.1)
    ref.als_step(normal(5, 2), R, 0.1)
    assert before.isnan().any()
    torch.testing.assert_close(R, before, rtol=0, atol=0, equal_nan=True)


# ---------------------------------------------------------------- the gauge


@DTYPES
@BATCHES
def test_canonical_factors_are_those_of_the_svd_of_the_product(batch, dtype):
    A, B = normal(*batch, 6, 2, dtype=dtype), normal(*batch, 5, 2, dtype=dtype, seed=1)
    left, right = ref.canonical(A, B)
    assert left.dtype == dtype and left.shape == A.shape and right.shape == B.shape
    torch.testing.assert_close(left @ right.mT, A @ B.mT, **tolerance(dtype))
    s = np.linalg.svd((A @ B.mT).double().numpy(), compute_uv=False)[..., :2]
    for factor in (left, right):
        np.testing.assert_allclose(factor.mT @ factor, s[..., None] * np.eye(2), **tolerance(dtype))
    largest = right.gather(-2, right.abs().argmax(-2, keepdim=True))
    assert (largest > 0).all()


def test_canonical_factors_forget_the_gauge():
    A, B, M = normal(6, 3), normal(5, 3, seed=1), normal(3, 3, seed=2)
    plain, mixed = ref.canonical(A, B), ref.canonical(A @ M.mT, B @ torch.linalg.inv(M))
    for one, other in zip(plain, mixed, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------- the loop


@DTYPES
@BATCHES
def test_a_round_is_a_mixture_and_scipys_entropy(batch, dtype):
    a, B = normal(*batch, 2, dtype=dtype), normal(*batch, 6, 2, dtype=dtype, seed=1)
    new, diversity = ref.feedback_step(a, B, 1.7, 0.2, 0.3)
    assert new.shape == (*batch, 2) and diversity.shape == batch and diversity.dtype == dtype
    rows = zip(
        *(t.double().numpy() for t in (a.reshape(-1, 2), B.reshape(-1, 6, 2), new.reshape(-1, 2))),
        diversity.reshape(-1),
        strict=True,
    )
    for taste, items, moved, effective in rows:
        p = 0.8 * np.exp(1.7 * items @ taste) / np.exp(1.7 * items @ taste).sum() + 0.2 / 6
        np.testing.assert_allclose(moved, 0.7 * taste + 0.3 * p @ items, **tolerance(dtype))
        assert effective.item() == pytest.approx(np.exp(stats.entropy(p)), rel=1e-4)


def test_huge_scores_leave_one_item():
    new, diversity = ref.feedback_step(
        torch.tensor([1.0]), torch.tensor([[1.0], [-1.0]]), 1e4, 0.0, 0.5
    )
    assert new.item() == 1.0 and diversity.item() == 1.0


# ---------------------------------------------------------------- parts of a vector


@DTYPES
@BATCHES
def test_an_edit_changes_one_part_and_nothing_else(batch, dtype):
    Bs = [normal(*batch, 7, k, dtype=dtype, seed=k) for k in (1, 2, 3)]
    parts = [normal(*batch, k, dtype=dtype, seed=10 + k) for k in (1, 2, 3)]
    free = torch.linalg.qr(torch.cat(Bs, -1), mode="complete").Q[
        ..., -1
    ]  # outside of all subspaces
    h = free + sum((B @ c.unsqueeze(-1)).squeeze(-1) for B, c in zip(Bs, parts, strict=True))
    new = normal(*batch, 2, dtype=dtype, seed=20)
    got = ref.swap_attribute(h, Bs, 1, new)
    expected = h + (Bs[1] @ (new - parts[1]).unsqueeze(-1)).squeeze(-1)
    assert got.dtype == dtype
    torch.testing.assert_close(got, expected, **tolerance(dtype))


@pytest.mark.parametrize("k", [0, 1, 2])
def test_an_edit_reads_like_numpys_least_squares(k):
    Bs, h, new = [normal(6, 2, seed=s) for s in range(3)], normal(6, seed=4), normal(2, seed=5)
    c = np.linalg.lstsq(np.hstack([B.numpy() for B in Bs]), h.numpy(), rcond=None)[0]
    expected = h.numpy() + Bs[k].numpy() @ (new.numpy() - c[2 * k : 2 * k + 2])
    np.testing.assert_allclose(ref.swap_attribute(h, Bs, k, new), expected, atol=1e-9)


# ---------------------------------------------------------------- interference


@DTYPES
@BATCHES
def test_interference_is_the_sum_over_pairs(batch, dtype):
    W = normal(*batch, 3, 5, dtype=dtype)
    lengths, cross = ref.interference(W)
    assert cross.shape == (*batch, 5) and cross.dtype == dtype
    for w, n, c in zip(
        W.double().reshape(-1, 3, 5), lengths.reshape(-1, 5), cross.reshape(-1, 5), strict=True
    ):
        columns = list(w.T.numpy())
        for i, v in enumerate(columns):
            others = sum((v @ u) ** 2 for j, u in enumerate(columns) if j != i) / (v @ v)
            assert n[i].item() == pytest.approx(np.linalg.norm(v), rel=1e-4)
            assert c[i].item() == pytest.approx(others, rel=1e-3)


def test_a_feature_that_is_not_stored_has_no_interference():
    lengths, cross = ref.interference(torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))
    torch.testing.assert_close(lengths, torch.tensor([1.0, 0.0, 2**0.5]))
    torch.testing.assert_close(cross, torch.tensor([1.0, 0.0, 0.5]))


@pytest.mark.parametrize("n", [3, 5, 8])
def test_regular_polygons_reach_the_lower_bound(n):
    t = 2 * torch.pi * torch.arange(n, dtype=torch.float64) / n
    _, cross = ref.interference(torch.stack([t.cos(), t.sin()]))
    torch.testing.assert_close(cross, torch.full((n,), n / 2 - 1, dtype=torch.float64))


# ---------------------------------------------------------------- the contract of every reference


CALLS = {
    "rank_items": lambda dtype: (
        normal(2, dtype=dtype),
        normal(5, 2, dtype=dtype),
        torch.tensor([False, True, False, False, True]),
        2,
    ),
    "mf_grads": lambda dtype: (
        normal(4, 2, dtype=dtype),
        normal(5, 2, dtype=dtype),
        normal(4, 5, dtype=dtype, seed=2),
        0.3,
    ),
    "als_step": lambda dtype: (normal(5, 2, dtype=dtype), normal(4, 5, dtype=dtype), 0.3),
    "canonical": lambda dtype: (normal(4, 2, dtype=dtype), normal(5, 2, dtype=dtype)),
    "feedback_step": lambda dtype: (
        normal(2, dtype=dtype),
        normal(5, 2, dtype=dtype),
        2.0,
        0.1,
        0.2,
    ),
    "swap_attribute": lambda dtype: (
        normal(5, dtype=dtype),
        [normal(5, 2, dtype=dtype), normal(5, 1, dtype=dtype, seed=1)],
        0,
        normal(2, dtype=dtype),
    ),
    "interference": lambda dtype: (normal(2, 4, dtype=dtype),),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](dtype))


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

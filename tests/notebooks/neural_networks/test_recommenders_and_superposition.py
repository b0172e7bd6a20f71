"""References of recommenders and superposition against autograd, scikit-learn, SciPy, lstsq and loops."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import FloatSlider, IntSlider, SelectionSlider
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from descent.pictures.neural_networks import recommenders_and_superposition as rc
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/08_recommenders_and_superposition", "reference")


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


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


def rank_items(a, B, seen, top):
    return np.argsort(-np.where(seen, -np.inf, B @ a), kind="stable")[:top]


def feedback_step(a, B, beta, explore, lr):
    p = rc.shares(a, B, beta, explore)
    return (1 - lr) * a + lr * B.T @ p, np.exp(-np.sum(p * np.log(p, where=p > 0, out=0 * p)))


def interference(W):
    G = W.T @ W
    own = np.diag(G)
    return np.sqrt(own), np.sum(G**2, 1) / own - own


# ---------------------------------------------------------------- worlds


def test_the_world_of_ratings_has_rank_two_and_the_stated_noise():
    true, R = rc.taste_world(users=200, items=200)
    known = np.isfinite(R)
    assert np.linalg.matrix_rank(true) == 2
    assert known.mean() == pytest.approx(0.3, abs=0.01)
    assert (R - true)[known].std() == pytest.approx(0.3, rel=0.03)
    assert rc.rmse(true, R) == pytest.approx(0.3, rel=0.03)


def test_the_network_finds_what_products_cannot():
    true, known = rc.peaked_world()
    hidden = np.where(np.isnan(known), true, np.nan)
    P, weights = rc.neural_recommender(known)
    U, s, Vt = np.linalg.svd(true)
    best_of_rank_three = (U[:, :3] * s[:3]) @ Vt[:3]  # even with every rating known
    assert rc.rmse(P, hidden) < 0.5 * rc.rmse(best_of_rank_three, hidden)
    assert weights == 100 + 2 * 32 + 32 * 32 + 32 + 32 + 32 + 1


# ---------------------------------------------------------------- the list


@pytest.fixture
def taste():
    limits = dict(min=-1.0, max=1.0, step=0.1)
    return Explorer(
        rc.ranking_explorer(rank_items),
        {name: FloatSlider(0.4, **limits) for name in ("action", "romance", "scifi")},
    )


def test_the_list_follows_the_taste(taste):
    taste.controls["action"].value = taste.controls["scifi"].value = -1.0
    taste.controls["romance"].value = 0.5
    assert "List: Two Umbrellas 0.60" in taste.words
    taste.controls["romance"].value = -1.0
    assert "List: Tax Inspectors 0.70" in taste.words


def test_doubling_a_taste_leaves_the_list(taste):
    def listed():
        return re.findall(r"[A-Z][A-Za-z ]+[a-z]", taste.words.split("List:")[1])

    before = listed()
    for control in taste.controls.values():
        control.value = 0.8
    assert listed() == before and len(before) == 8


# ---------------------------------------------------------------- the loop


@pytest.fixture
def feedback():
    return Explorer(
        rc.feedback_explorer(feedback_step, rc.catalogue()),
        dict(beta=FloatSlider(2.5, min=0, max=8), explore=FloatSlider(0.0, min=0, max=1)),
    )


def told(widget):
    keys = ("beta", "explore", "gain", "length", "first", "last", "items", "share", "aligned")
    return dict(zip(keys, numbers(widget.words), strict=True))


def test_the_catalogue_has_mean_zero_and_a_main_direction():
    B = rc.catalogue()
    assert np.allclose(B.mean(0), 0)
    values = np.linalg.eigvalsh(B.T @ B / len(B))
    assert values[1] > 2 * values[0]


def test_above_the_threshold_taste_grows_and_diversity_falls(feedback):
    above = told(feedback)
    assert above["gain"] > 1.5 and above["length"] > 0.8 and above["last"] < above["first"] / 2
    assert (
        0.8 * above["length"] < above["aligned"] < 1.4 * above["length"]
    )  # movies of length <= 1.4
    feedback.controls["explore"].value = 0.7
    below = told(feedback)
    assert below["gain"] < 1 and below["length"] < 0.05 and below["last"] > 23
    assert abs(below["aligned"]) < 0.05


def test_the_gain_decides_at_either_side(feedback):
    gains, lengths = [], []
    for beta in (0.6, 0.9, 1.8, 2.4):
        feedback.controls["beta"].value = beta
        gains.append(told(feedback)["gain"])
        lengths.append(told(feedback)["length"])
    assert (
        [g > 1 for g in gains] == [length > 0.1 for length in lengths] == [False, False, True, True]
    )


def test_single_draws_follow_the_mean(rng):
    B = rc.catalogue()
    lengths, diversity = rc.sampled_users(B, 4.0, 0.0, users=100)
    assert diversity[-1].mean() < 10 < 20 < diversity[0].mean()
    assert lengths.max() < np.linalg.norm(B, axis=1).max() + 0.2


# ---------------------------------------------------------------- bases


@pytest.fixture
def basis():
    features = rc.turned_basis()
    h = 3 * features[:, 1] - 2 * features[:, 8]
    return Explorer(rc.basis_explorer(h, features), dict(turn=FloatSlider(0.0, min=0, max=1.5)))


def test_the_turned_basis_is_a_rotation():
    Q = rc.turned_basis()
    assert np.allclose(Q.T @ Q, np.eye(12)) and np.linalg.det(Q) == pytest.approx(1)


def test_the_right_turn_shows_two_features(basis):
    assert numbers(basis.words)[1] > 8
    basis.controls["turn"].value = 1.0
    _, big, of, _, largest, squares = numbers(basis.words)
    assert (big, of, largest, squares) == (2, 12, 3.0, 13.0)


def test_no_turn_changes_the_sum_of_squares(basis):
    for turn in (0.0, 0.35, 1.4):
        basis.controls["turn"].value = turn
        assert numbers(basis.words)[-1] == 13.0


# ---------------------------------------------------------------- crowding


@pytest.mark.parametrize("active", [2, 8, 40])
def test_cross_talk_grows_with_what_is_active(active, rng):
    error = rc.readout_error(50, 40, active, rng, trials=300)
    assert error == pytest.approx(np.sqrt(active / 50 * (1 - 1 / 40)), rel=0.15)


def test_overlap_hurts_projection_and_noise_hurts_the_joint_fit():
    degrees = [20, 60, 90]
    errors = rc.overlap_errors(degrees, noise=0.1, trials=20_000)
    t = np.radians(degrees)
    np.testing.assert_allclose(errors[:, 0], np.sqrt(np.cos(t) ** 2 + 0.01), rtol=0.03)
    np.testing.assert_allclose(errors[:, 1], 0.1 / np.sin(t), rtol=0.03)


# ---------------------------------------------------------------- toy models


@pytest.fixture(scope="module")
def models():
    densities = [1.0, 0.35, 0.05]
    return densities, *rc.toy_models(5, 2, densities, 0.9 ** np.arange(5))


def test_sparse_features_share_two_dimensions(models):
    _, W, b, loss = models
    assert rc.stored(W).sum(1).tolist() == [2, 4, 5]
    assert rc.stored(W)[0].tolist() == [True, True, False, False, False]
    assert (b[2] < 0).all() and loss[2] < 0.02


def test_the_loss_is_that_of_the_model(models, rng):
    densities, W, b, loss = models
    x = rng.random((50_000, 5)) * (rng.random((50_000, 5)) < densities[1])
    out = np.maximum(x @ W[1].T @ W[1] + b[1], 0)
    expected = np.mean(np.sum(0.9 ** np.arange(5) * (x - out) ** 2, axis=1))
    assert loss[1] == pytest.approx(expected, rel=0.08)


def test_without_a_relu_only_the_first_features_are_kept():
    W, _, _ = rc.toy_models(
        5, 2, [0.05], 0.9 ** np.arange(5), relu=False, restarts=1, steps=800, batch=512
    )
    assert rc.stored(W)[0].tolist() == [True, True, False, False, False]


def test_turning_upright_keeps_the_gram_matrix(rng):
    W = rng.normal(size=(2, 5))
    up = rc.turned_upright(W)
    longest = up[:, np.linalg.norm(up, axis=0).argmax()]
    assert np.allclose(up.T @ up, W.T @ W) and abs(longest[0]) < 1e-12 < longest[1]


@pytest.fixture
def geometry(models):
    densities, W, b, _ = models
    return Explorer(
        rc.geometry_explorer(interference, densities, W, b),
        dict(
            density=SelectionSlider(options=densities, value=0.05),
            active=IntSlider(1, min=0, max=5),
        ),
    )


def test_the_readout_counts_what_is_stored(geometry):
    def kept():
        return int(re.search(r"Stored: (\d)", geometry.words)[1])

    assert kept() == 5
    geometry.controls["density"].value = 0.35
    assert kept() == 4
    geometry.controls["density"].value = 1.0
    assert kept() == 2


def test_more_active_features_disturb_each_other(geometry):
    errors = []
    for active in (0, 1, 2):
        geometry.controls["active"].value = active
        errors.append(numbers(geometry.words)[-1])
    assert errors[0] == 0 and errors[1] < 0.4 < errors[2]


def test_the_two_designs_cost_what_a_simulation_says(rng):
    p, importance = 0.3, 0.5
    x = rng.random((400_000, 2)) * (rng.random((400_000, 2)) < p)
    pair = np.maximum(np.stack([x[:, 0] - x[:, 1], x[:, 1] - x[:, 0]], axis=1), 0)
    costs = ((x - pair) ** 2).mean(0) @ [1, importance]
    assert costs == pytest.approx((1 + importance) * p**2 / 6, rel=0.03)
    assert importance * x[:, 1].var() == pytest.approx(importance * (p / 3 - p**2 / 4), rel=0.02)


# ---------------------------------------------------------------- probes


def test_a_probe_is_scikit_learns_least_squares(rng):
    from sklearn.linear_model import LinearRegression

    H, T = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))
    got = rc.read_probe(H, rc.fit_probe(H, T, ridge=0.0))
    np.testing.assert_allclose(got, LinearRegression().fit(H, T).predict(H), atol=1e-9)


def test_the_parity_network_learns(rng):
    X = rng.normal(size=(300, 5))
    odd = (X[:, 0] * X[:, 1] > 0).astype(int)
    before, after, (w, b) = rc.parity_network(X, odd, np.arange(200), steps=200)
    assert before.shape == after.shape == (300, 24) and (after >= 0).all()
    assert np.mean((after[200:] @ w + b > 0) == odd[200:]) > 0.8

"""Recommenders and superposition: references against libraries, brute force, closed forms; what it draws."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, Ridge

from descent.pictures.neural_networks import recommenders_and_superposition as rc
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/08_recommenders_and_superposition"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def ratings(u, t, seed=0, share=0.6):
    known = torch.from_numpy(np.random.default_rng(seed + 1).random((u, t)) < share)
    return torch.where(known, normal(u, t, seed=seed), torch.nan)


# ---------------------------------------------------------------- references


def test_lists_are_sorted_pairs_of_score_and_index():
    a, B, seen = normal(3), normal(7, 3, seed=1).round(), normal(7, seed=2) > 0.8
    pairs = sorted((-(a @ b).item(), j) for j, b in enumerate(B) if not seen[j])
    assert ref.rank_items(a, B, seen, 3).tolist() == [j for _, j in pairs[:3]]
    ties, none = torch.tensor([[2.0], [1.0], [2.0], [1.0]]), torch.zeros(4, dtype=torch.bool)
    assert ref.rank_items(torch.ones(1), ties, none, 4).tolist() == [0, 2, 1, 3]


def test_gradients_are_autograds():
    A, B, R = normal(5, 2).requires_grad_(), normal(4, 2, seed=1).requires_grad_(), ratings(5, 4)
    errors = [R[i, j] - A[i] @ B[j] for i, j in torch.argwhere(R.isfinite())]
    total = sum(e**2 for e in errors) / 2 + 0.15 * ((A**2).sum() + (B**2).sum())
    total.backward()
    loss, dA, dB = ref.mf_grads(A.detach(), B.detach(), R, 0.3)
    torch.testing.assert_close((loss, dA, dB), (total.detach(), A.grad, B.grad))


def test_the_users_half_is_scikit_learns_ridge():
    B, R = normal(6, 2), ratings(5, 6, seed=3)
    R[2] = torch.nan
    got = ref.als_step(B, R, 0.7)
    assert not got[2].any()
    for a, row in zip(got, R, strict=True):
        if (known := row.isfinite()).any():
            model = Ridge(0.7, fit_intercept=False, tol=1e-12).fit(B[known], row[known])
            np.testing.assert_allclose(a, model.coef_, rtol=1e-6)


def test_the_recommender_ends_where_a_general_optimiser_ends():
    R, lam = ratings(5, 4, seed=5, share=0.8) + torch.arange(4), 0.5
    newcomer = torch.tensor([2.0, torch.nan, torch.nan, 1.0]).double()
    told = ref.recommender(lam, R, normal(4, 2, seed=6), 1e-13, 3000, newcomer, 2)
    mean = np.nanmean(R.numpy(), axis=0)
    np.testing.assert_allclose(told["mean"], mean)

    def objective(x):
        A, B = torch.from_numpy(x[:10].reshape(5, 2)), torch.from_numpy(x[10:].reshape(4, 2))
        value, dA, dB = ref.mf_grads(A, B, R - told["mean"], lam)
        return value.item(), torch.cat([dA.ravel(), dB.ravel()]).numpy()

    starts = [normal(18, seed=s).numpy() for s in range(5)]
    best = min(minimize(objective, x, jac=True, method="BFGS").fun for x in starts)
    A, B, losses = told["A"], told["B"], torch.stack(told["losses"])
    assert losses[-1].item() == pytest.approx(best, rel=1e-5) and (losses.diff() <= 1e-12).all()
    torch.testing.assert_close(A.mT @ A, B.mT @ B, rtol=1e-4, atol=1e-4)  # balanced
    guesses, known = told["mean"] + A @ B.mT, R.isfinite()
    assert torch.equal(told["filled"][known], R[known])
    assert torch.equal(told["filled"][~known], guesses[~known])


def test_a_newcomer_with_a_users_ratings_gets_that_users_vector():
    R, lam = ratings(6, 5, seed=8, share=0.7), 0.5
    told = ref.recommender(lam, R, normal(5, 2, seed=6), 1e-13, 3000, R[1], 2)
    scores = told["mean"] + told["B"] @ told["A"][1]
    unseen = [j for j in range(5) if R[1, j].isnan()]
    best = sorted(unseen, key=lambda j: -scores[j].item())
    assert told["advice"].tolist() == best[:2]


def test_the_recommender_stops_after_a_pass_that_hardly_lowers_j():
    R, B, newcomer = ratings(6, 5, seed=2), normal(5, 2), torch.full((5,), torch.nan).double()
    long = torch.stack(ref.recommender(0.5, R, B, -1.0, 12, newcomer, 0)["losses"])
    falls = 1 - long[1:] / long[:-1]
    for tol in (0.3, 0.05, 0.01):
        short = ref.recommender(0.5, R, B, tol, 12, newcomer, 0)["losses"]
        expected = next((k + 2 for k, fall in enumerate(falls) if fall <= tol), 12)
        assert len(short) == expected


def test_canonical_factors_are_those_of_the_svd_and_forget_the_gauge():
    A, B, M = normal(6, 3), normal(5, 3, seed=1), normal(3, 3, seed=2)
    left, right = ref.canonical(A, B)
    torch.testing.assert_close(left @ right.mT, A @ B.mT)
    s = np.linalg.svd((A @ B.mT).numpy(), compute_uv=False)[:3]
    for factor in (left, right):
        np.testing.assert_allclose(factor.mT @ factor, np.diag(s), atol=1e-9)
    assert (right.gather(0, right.abs().argmax(0, keepdim=True)) > 0).all()
    mixed = ref.canonical(A @ M.mT, B @ torch.linalg.inv(M))
    torch.testing.assert_close(mixed, (left, right), rtol=1e-7, atol=1e-9)


def test_interference_is_the_sum_over_pairs_and_polygons_reach_the_bound():
    W = normal(3, 5)
    W[:, 2] = 0
    lengths, cross = ref.interference(W)
    for i, v in enumerate(W.T):
        others = sum((v @ u).item() ** 2 for j, u in enumerate(W.T) if j != i)
        assert cross[i].item() == pytest.approx(others / (v @ v).item() if v.any() else 0)
    np.testing.assert_allclose(lengths, np.linalg.norm(W, axis=0))
    for n in (3, 5, 8):
        t = 2 * torch.pi * torch.arange(n, dtype=torch.float64) / n
        _, cross = ref.interference(torch.stack([t.cos(), t.sin()]))
        torch.testing.assert_close(cross, torch.full((n,), n / 2 - 1, dtype=torch.float64))


def test_a_round_is_a_mixture_and_scipys_entropy():
    a, B = normal(2), normal(6, 2, seed=1)
    new, diversity = ref.feedback_step(a, B, 1.7, 0.2, 0.3)
    w = np.exp(1.7 * (B @ a).numpy())
    p = 0.8 * w / w.sum() + 0.2 / 6
    np.testing.assert_allclose(new, 0.7 * a.numpy() + 0.3 * p @ B.numpy())
    assert diversity.item() == pytest.approx(np.exp(stats.entropy(p)))
    two = torch.tensor([[1.0], [-1.0]])
    new, diversity = ref.feedback_step(torch.tensor([1.0]), two, 1e4, 0.0, 0.5)
    assert new.item() == 1.0 and diversity.item() == 1.0


@pytest.mark.parametrize("k", [0, 1, 2])
def test_an_edit_changes_one_part_and_nothing_else(k):
    Bs, parts = [normal(7, n, seed=n) for n in (1, 2, 3)], [normal(n, seed=9) for n in (1, 2, 3)]
    free = torch.linalg.qr(torch.cat(Bs, -1), mode="complete").Q[:, -1]  # outside of all
    h = free + sum(B @ c for B, c in zip(Bs, parts, strict=True))
    new = normal(k + 1, seed=20)
    expected = h + Bs[k] @ (new - parts[k])
    torch.testing.assert_close(ref.swap_attribute(h, Bs, k, new), expected)


# ---------------------------------------------------------------- worlds


def test_the_world_of_ratings_has_rank_two_and_the_stated_noise():
    true, R = rc.taste_world(users=200, items=200)
    known = np.isfinite(R)
    assert np.linalg.matrix_rank(true) == 2
    assert known.mean() == pytest.approx(0.3, abs=0.01)
    assert (R - true)[known].std() == pytest.approx(0.3, rel=0.03)
    whole, seen, digit = rc.lost_digits()
    assert whole.shape == (400, 64) and len(digit) == 400
    assert np.isfinite(seen).mean() == pytest.approx(0.5, abs=0.02)
    assert np.nanmax(abs(seen - whole)) == 0


def test_marks_are_films_whose_neighbour_changes():
    B = np.random.default_rng(1).normal(size=(9, 2))
    other = B @ np.diag([5.0, 1.0])
    p, q, r = rc.switching(B, other)
    assert np.linalg.norm(B[p] - B[q]) < np.linalg.norm(B[p] - B[r])
    assert np.linalg.norm(other[p] - other[q]) > np.linalg.norm(other[p] - other[r])


def test_the_network_finds_what_products_cannot():
    true, known = rc.peaked_world()
    hidden = np.where(np.isnan(known), true, np.nan)
    P, weights = rc.neural_recommender(known)
    U, s, Vt = np.linalg.svd(true)
    best_of_rank_three = (U[:, :3] * s[:3]) @ Vt[:3]  # even with every rating known
    assert rc.rmse(P, hidden) < 0.5 * rc.rmse(best_of_rank_three, hidden)
    assert weights == 100 + 2 * 32 + 32 * 32 + 32 + 32 + 32 + 1


# ---------------------------------------------------------------- what is grabbed and played


def taste(**moved):
    return controls.explorer(NOTEBOOK, "ranking_explorer", **moved).words.facts["listed"]


def test_the_list_follows_the_taste_and_not_its_length():
    assert taste(action=-1.0, romance=0.5).startswith("Two Umbrellas 0.8")
    assert taste(action=-0.6, romance=-0.4).startswith("Tax Inspectors 0.42")
    orders = [
        [film.rsplit(" ", 1)[0] for film in taste(action=x, romance=y).split(", ")]
        for x, y in ((0.3, 0.2), (0.9, 0.6))
    ]
    assert orders[0] == orders[1] and len(orders[0]) == 8


def loop(**moved):
    return controls.explorer(NOTEBOOK, "feedback_explorer", **moved).words.facts


def test_the_gain_decides_whether_a_taste_grows():
    assert np.allclose(rc.catalogue().mean(0), 0)
    above, below = loop(), loop(explore=0.7)
    assert above["gain"] > 1.5 and above["length"] > 0.8 and above["now"] < 12
    assert below["gain"] < 1 and below["length"] < 0.05 and below["now"] > 23
    assert loop(round=0)["length"] < 0.06
    told = [loop(beta=beta) for beta in (0.6, 0.9, 1.8, 2.4)]
    assert [one["gain"] > 1 for one in told] == [one["length"] > 0.1 for one in told]


def basis(**moved):
    return controls.explorer(NOTEBOOK, "basis_explorer", **moved).words.facts


def test_the_right_turn_shows_two_features_and_no_turn_changes_the_sum_of_squares():
    Q = rc.turned_basis()
    assert np.allclose(Q.T @ Q, np.eye(12)) and np.linalg.det(Q) == pytest.approx(1)
    assert basis()["big"] > 8
    right = basis(turn=1.0)
    assert right["big"] == 2 and right["largest"] == pytest.approx(3)
    for turn in (0.0, 0.35, 1.4):
        assert basis(turn=turn)["squares"] == pytest.approx(13)


def toy(**moved):
    return controls.explorer(NOTEBOOK, "toy_explorer", **moved).words.facts


def test_rare_features_share_two_dimensions_and_disturb_each_other():
    kept = [toy(density=p)["kept"] for p in (1.0, 0.35, 0.02)]
    assert kept == [2, 4, 5] and rc.rare_and_dense() == (5, 2)
    assert toy()["one"] < 0.4 < toy()["two"]
    assert toy(step=0)["one"] > toy(step=40)["one"]


# ---------------------------------------------------------------- reading and training


@pytest.mark.parametrize("active", [2, 8, 40])
def test_cross_talk_grows_with_what_is_active(active, rng):
    error = rc.readout_error(50, 40, active, rng, trials=300)
    assert error == pytest.approx(np.sqrt(active / 50 * (1 - 1 / 40)), rel=0.15)


def test_overlap_hurts_projection_and_noise_hurts_the_joint_fit():
    errors = rc.overlap_errors([20, 60, 90], noise=0.1, trials=20_000)
    t = np.radians([20, 60, 90])
    np.testing.assert_allclose(errors[:, 0], np.sqrt(np.cos(t) ** 2 + 0.01), rtol=0.03)
    np.testing.assert_allclose(errors[:, 1], 0.1 / np.sin(t), rtol=0.03)


def test_the_toy_loss_is_that_of_the_model_and_turning_keeps_the_gram_matrix(rng):
    Ws, bs, loss = rc.five_in_two()
    c = rc.DENSITIES.index(0.35)
    W, b = Ws[-1, c], bs[-1, c]
    x = rng.random((50_000, 5)) * (rng.random((50_000, 5)) < 0.35)
    out = np.maximum(x @ W.T @ W + b, 0)
    expected = np.mean(np.sum(np.array(rc.IMPORTANCE) * (x - out) ** 2, axis=1))
    assert loss[c] == pytest.approx(expected, rel=0.08)
    up = rc.upright(W) @ W
    longest = up[:, np.linalg.norm(up, axis=0).argmax()]
    assert np.allclose(up.T @ up, W.T @ W) and abs(longest[0]) < 1e-12 < longest[1]


def test_without_a_relu_only_the_most_important_features_are_kept():
    W, _, _ = rc.toy_models(5, 2, (0.05,), rc.IMPORTANCE, relu=False, restarts=1, steps=800)
    assert rc.stored(W[-1, 0]).tolist() == [True, True, False, False, False]


def test_the_two_designs_cost_what_a_simulation_says(rng):
    p, importance = 0.3, 0.5
    x = rng.random((400_000, 2)) * (rng.random((400_000, 2)) < p)
    pair = np.maximum(np.stack([x[:, 0] - x[:, 1], x[:, 1] - x[:, 0]], axis=1), 0)
    costs = ((x - pair) ** 2).mean(0) @ [1, importance]
    assert costs == pytest.approx((1 + importance) * p**2 / 6, rel=0.03)
    assert importance * x[:, 1].var() == pytest.approx(importance * (p / 3 - p**2 / 4), rel=0.02)


def test_a_probe_is_scikit_learns_least_squares(rng):
    H, T = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))
    got = rc.read_probe(H, rc.fit_probe(H, T, ridge=0.0))
    np.testing.assert_allclose(got, LinearRegression().fit(H, T).predict(H), atol=1e-9)


def test_the_parity_network_learns(rng):
    X = rng.normal(size=(300, 5))
    odd = (X[:, 0] * X[:, 1] > 0).astype(int)
    before, after, (w, b) = rc.parity_network(X, odd, np.arange(200), steps=200)
    assert before.shape == after.shape == (300, 24) and (after >= 0).all()
    assert np.mean((after[200:] @ w + b > 0) == odd[200:]) > 0.8

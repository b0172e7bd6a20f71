"""Widgets of recommenders and superposition: their numbers against theory, then their controls."""

import re

import numpy as np
import pytest
from ipywidgets import FloatSlider, IntSlider, SelectionSlider

from descent.widgets import Explorer
from descent.widgets import recommenders_and_superposition as rc


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

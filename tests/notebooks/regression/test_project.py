"""The regression project's truth: outcomes of the table, normal noise, costs by simulation, SciPy's interval."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from descent import data
from descent.pictures.regression import project as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/07_project"
ref = notebook_module(NOTEBOOK, "reference")


def rows(n, d, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, d)))


def test_a_patient_has_the_score_of_the_table_also_with_missing_values():
    table = data.patients()
    X = torch.from_numpy(table.X[[3, 441, 77]])
    X[1, :3] = torch.nan
    assert ref.outcomes(X).tolist() == table.y[[3, 441, 77]].tolist()
    assert len({tuple(row) for row in table.X}) == len(table.y)  # no two patients are alike
    with pytest.raises(ValueError, match="fits no patient"):
        ref.outcomes(
            torch.full((2, 10), 1.5).index_put(
                (torch.tensor(0), torch.tensor(0)), torch.tensor(torch.nan)
            )
        )


def test_the_noise_is_normal_and_cannot_be_learnt():
    X = rows(20_000, 6)
    noise = (ref.outcomes(X) - ref.mean_outcome(X)).numpy()
    assert stats.kstest(noise / ref.NOISE_SD, "norm").pvalue > 0.01
    A = np.c_[X.numpy(), X.numpy() ** 2]
    assert np.abs(np.corrcoef(A.T, noise)[-1, :-1]).max() < 0.03
    assert torch.equal(ref.outcomes(X[:5]), ref.outcomes(X)[:5])


def test_the_cost_of_a_penalty_is_the_error_on_new_rows():
    X, new = rows(60, 20), rows(200_000, 20, seed=1)
    y = ref.simulated(X)
    costs = ref.penalty_costs(X, y, torch.tensor([0.5, 50.0]))
    for lam, cost in zip([0.5, 50.0], costs, strict=True):
        model = Ridge(lam).fit(X.numpy(), y.numpy())
        error = np.mean((ref.simulated(new).numpy() - model.predict(new.numpy())) ** 2)
        assert error == pytest.approx(cost.item(), rel=0.01)


@pytest.mark.parametrize("n", [2, 30])
def test_the_paired_interval_is_scipys(n):
    a, b = rows(n, 2).T
    result = stats.ttest_rel(a, b).confidence_interval(0.9)
    mean, low, high = ref.paired_interval(a, b, 0.9)
    assert (low.item(), high.item()) == pytest.approx((result.low, result.high))
    assert mean.item() == pytest.approx((a - b).mean().item())


# ------------------------------------------------------------ what it draws


def test_the_share_inside_follows_the_level():
    def told(level):
        return controls.explorer(NOTEBOOK, "draw_level", level=level).words

    assert int(told(0.5).split()[0]) < int(told(0.9).split()[0])
    assert "90% were asked for" in told(0.9)


def test_the_words_of_a_forecast_hold_its_r2():
    y = np.arange(10.0)
    _, words = pictures.draw_forecasts(y, np.full(10, y.mean()))
    assert "R² 0.00 on 10 rows" in words
    _, words = pictures.draw_forecasts(y, y)
    assert "R² 1.00" in words


def test_the_words_of_the_other_pictures():
    table = data.patients()
    _, words = pictures.draw_patients(table.X, table.y, table.names)
    assert "442 patients" in words and "bmi 0.59" in words
    lams, held, fitted = np.array([1.0, 10.0]), np.array([4.0, 5.0]), np.array([2.0, 3.0])
    _, words = pictures.draw_penalties(lams, fitted, held, 1)
    assert words.facts == {"best": 1.0, "mine": 10.0, "above": 0.25, "weakest": 1.0, "cost": 0.0}


# ------------------------------------------------------------ the consultant


def test_his_columns_are_scikit_learns_and_his_forecast_too():
    X, new, y = *(rows(60, 10, seed).numpy() for seed in (0, 1)), rows(60, 1).numpy()[:, 0]
    scaled = StandardScaler().fit(X)
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), StandardScaler())
    model.fit(scaled.transform(X))
    ours, theirs = pictures.with_squares(new, X), model.transform(scaled.transform(new))
    order = lambda A: A[:, np.lexsort(A)]  # noqa: E731
    assert ours.shape == (60, 65) and np.allclose(order(ours), order(theirs))
    few = LinearRegression().fit(X, y)
    assert np.allclose(pictures.least_squares(X, y)(new), few.predict(new))


def test_rows_held_back_promise_him_little_and_less_than_nothing_was_bad_luck():
    table, shares = data.patients(), []
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(442)
        his, new = order[77:309], order[:77]
        told = pictures.consultant(table.X[his], table.y[his], table.X[new])
        shares.append(r2_score(table.y[new], told))
    order = np.random.default_rng(8).permutation(442)  # the notebook's
    his, new = order[77:309], order[:77]
    told = pictures.consultant(table.X[his], table.y[his], table.X[new])
    assert r2_score(table.y[new], told) < 0 and np.mean(np.array(shares) < 0) < 0.2
    assert 0.1 < np.median(shares) < 0.3
    promise = pictures.promised(pictures.consultant, table.X[his], table.y[his])
    assert promise == pytest.approx(0.18, abs=0.005)


def test_the_title_tells_what_his_forecast_was_worth():
    table, cut = data.patients(), np.random.default_rng(8).permutation(442)
    his, new = cut[77:309], cut[:77]
    columns = pictures.with_squares(table.X, table.X[his])
    model = LinearRegression().fit(columns[his], table.y[his])
    assert model.score(columns[his], table.y[his]) == pytest.approx(0.69, abs=0.005)
    assert model.score(columns[new], table.y[new]) < 0
    off = np.abs(table.y - model.predict(columns))
    assert np.quantile(off[his], 0.9) == pytest.approx(79, abs=0.5)
    assert 0.7 < np.mean(off[new] <= 79) < 0.8


def test_a_promise_is_scikit_learns_cross_validated_r2():
    table = data.patients()
    X, y = table.X[:150], table.y[:150]

    def method(X, y, X_new):
        return LinearRegression().fit(X, y).predict(X_new)

    order = np.random.default_rng(0).permutation(150)
    held = cross_val_predict(LinearRegression(), X[order], y[order], cv=KFold(10))
    assert pictures.promised(method, X, y) == pytest.approx(r2_score(y[order], held))


def test_the_half_width_is_dragged_and_both_shares_follow():
    def shares(h):
        return controls.explorer(NOTEBOOK, "draw_shares", h=h).words.facts

    assert shares(79)["fitted"] == pytest.approx(0.9, abs=0.01)
    assert shares(79)["new"] < 0.8
    assert shares(0)["new"] == 0 and shares(240)["fitted"] == 1 > shares(240)["new"] > 0.95

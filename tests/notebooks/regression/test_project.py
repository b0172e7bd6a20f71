"""The regression project's truth: outcomes of the table, normal noise, costs by simulation, SciPy's interval."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from ipywidgets import FloatSlider
from scipy import stats
from sklearn.linear_model import Ridge

from descent import data
from descent.pictures.regression import project as pictures
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/07_project", "reference")


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


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_the_share_inside_follows_the_level():
    rng = np.random.default_rng(0)
    y, centre = rng.normal(150, 50, 400), np.full(400, 150.0)

    def draw(level):
        half = (
            50 * np.sqrt(2) * np.sqrt(-np.log(1 - level))
        )  # some half width that grows with the level
        return pictures.draw_intervals(y, np.stack([centre - half, centre + half], 1), level)

    explorer = Explorer(draw, {"level": FloatSlider(0.5, min=0.1, max=0.98)})
    before = int(explorer.words.split()[0])
    explorer.controls["level"].value = 0.9
    assert int(explorer.words.split()[0]) > before and "90% were asked for" in explorer.words
    assert "<img" in explorer.picture.value


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
    _, words = pictures.draw_penalties(np.array([1.0, 10.0]), np.array([4.0, 5.0]), 1)
    assert "lowest at λ = 1; your choice is λ = 10, 25.0% above" in words

"""The regression project's truth: outcomes of the table, normal noise, costs by simulation, SciPy's interval."""

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn.linear_model import Ridge

from descent import data
from solutions.reference import regression_project as ref


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

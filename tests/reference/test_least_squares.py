"""Least-squares references against SciPy, scikit-learn, statsmodels and autograd; the sprint's data."""

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from descent import data
from solutions.reference import least_squares as ref

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-4)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.asarray(np.random.default_rng(seed).normal(size=shape))).to(dtype)


def pairs(*shape, dtype=torch.float64):
    x = normal(*shape, dtype=dtype)
    return x, 1 + 2 * x + normal(*shape, dtype=dtype, seed=1)


# ---------------------------------------------------------------- one contract for all

CALLS = {
    "loss_and_grad": lambda x, y, one, new: ref.loss_and_grad(one, x, y),
    "fit_slope": lambda x, y, one, new: (ref.fit_slope(x, y),),
    "descent_path": lambda x, y, one, new: (ref.descent_path(x, y, one, 0.1 * one.abs(), 4),),
    "project": lambda x, y, one, new: ref.project(y, x),
    "fit_line": lambda x, y, one, new: ref.fit_line(x, y),
    "r_squared": lambda x, y, one, new: ref.r_squared(y, x),
    "gauss_loglik": lambda x, y, one, new: (ref.gauss_loglik(one, one, one.abs() + 1, x, y),),
    "skew_kurt": lambda x, y, one, new: ref.skew_kurt(x),
    "forecast": lambda x, y, one, new: ref.forecast(x, y, new, 0.9),
}


@pytest.mark.parametrize("name", CALLS)
@DTYPES
def test_a_batch_is_a_loop(name, dtype):
    x, y = pairs(2, 3, 6, dtype=dtype)
    one, new = normal(2, 3, dtype=dtype, seed=2), normal(2, 3, 4, dtype=dtype, seed=3)
    before = x.clone(), y.clone()
    together = CALLS[name](x, y, one, new)
    for i in range(2):
        for j in range(3):
            alone = CALLS[name](x[i, j], y[i, j], one[i, j], new[i, j])
            for whole, part in zip(together, alone, strict=True):
                assert whole.dtype == dtype
                torch.testing.assert_close(whole[i, j], part, **tolerance(dtype))
    assert torch.equal(x, before[0]) and torch.equal(y, before[1])


@pytest.mark.parametrize("name", CALLS)
def test_references_run_on_any_device(name):
    """The meta device holds no numbers: a stray CPU tensor or an .item() fails there."""
    x, y, one, new = (torch.empty(shape, device="meta") for shape in ((2, 6), (2, 6), (2,), (2, 4)))
    assert all(result.device.type == "meta" for result in CALLS[name](x, y, one, new))


# ---------------------------------------------------------------- loss and descent


@DTYPES
def test_the_loss_is_half_the_squares_and_the_gradient_is_autograds(dtype):
    x, y = pairs(7, dtype=dtype)
    beta = torch.tensor(0.3, dtype=dtype, requires_grad=True)
    loss = (y - x * beta).square().sum() / 2
    (slope,) = torch.autograd.grad(loss, beta)
    got = ref.loss_and_grad(beta.detach(), x, y)
    torch.testing.assert_close(got, (loss.detach(), slope), **tolerance(dtype))


def test_the_loss_is_a_parabola_around_the_fitted_slope():
    x, y = pairs(9)
    best, curvature = ref.fit_slope(x, y), x.square().sum()
    lowest = ref.loss_and_grad(best, x, y)[0]
    for beta in (-1.0, 0.5, 4.0):
        beta = x.new_tensor(beta)
        expected = lowest + curvature / 2 * (beta - best) ** 2
        torch.testing.assert_close(ref.loss_and_grad(beta, x, y)[0], expected)


def test_the_slope_is_scikit_learns_without_intercept():
    x, y = pairs(12)
    model = LinearRegression(fit_intercept=False).fit(x[:, None].numpy(), y.numpy())
    assert ref.fit_slope(x, y).item() == pytest.approx(model.coef_[0], rel=1e-12)
    assert ref.fit_slope(0 * x, y).item() == 0


@pytest.mark.parametrize("scaled", [0.3, 1.0, 1.7, 2.2])
def test_the_path_is_that_of_steps_along_autograds_gradient(scaled):
    x, y = pairs(5)
    eta = scaled / x.square().sum()
    beta, path = torch.tensor(4.0, dtype=torch.float64), [4.0]
    for _ in range(6):
        beta = beta.detach().requires_grad_()
        ((y - x * beta).square().sum() / 2).backward()
        beta = beta - eta * beta.grad
        path.append(beta.item())
    got = ref.descent_path(x, y, x.new_tensor(4.0), eta, 6)
    np.testing.assert_allclose(got, path, rtol=1e-9)


# ---------------------------------------------------------------- projection


@BATCHES
@DTYPES
def test_a_projection_is_perpendicular_idempotent_and_pythagorean(batch, dtype):
    X, Y = normal(*batch, 5, dtype=dtype), normal(*batch, 5, dtype=dtype, seed=1)
    shadow, error, cosine = ref.project(Y, X)
    zero = torch.zeros(batch, dtype=dtype)
    torch.testing.assert_close((error * X).sum(-1), zero, **tolerance(dtype))
    torch.testing.assert_close(ref.project(shadow, X)[0], shadow, **tolerance(dtype))
    squares = shadow.square().sum(-1) + error.square().sum(-1)
    torch.testing.assert_close(squares, Y.square().sum(-1), **tolerance(dtype))
    expected = torch.nn.functional.cosine_similarity(X, Y, dim=-1)
    torch.testing.assert_close(cosine, expected, **tolerance(dtype))


def test_no_direction_has_no_shadow():
    Y, zero = normal(3), torch.zeros(3, dtype=torch.float64)
    shadow, error, cosine = ref.project(Y, zero)
    assert torch.equal(shadow, zero) and torch.equal(error, Y) and cosine == 0
    assert ref.project(zero, Y)[2] == 0


# ---------------------------------------------------------------- lines


def test_the_line_is_scipys(rng):
    for _ in range(20):
        x, y = rng.normal(1950, 30, 10), rng.normal(10, 1, 10)
        a, b = ref.fit_line(torch.tensor(x), torch.tensor(y))
        fit = stats.linregress(x, y)
        np.testing.assert_allclose([a, b], [fit.intercept, fit.slope], rtol=1e-9)


def test_equal_inputs_give_a_flat_line():
    a, b = ref.fit_line(torch.full((4,), 2.0), torch.tensor([1.0, 2.0, 3.0, 6.0]))
    assert (a.item(), b.item()) == (3.0, 0.0)


def test_the_slope_of_standardised_data_is_the_correlation():
    x, y = pairs(30)
    x, y = ((v - v.mean()) / v.std(correction=0) for v in (x, y))
    a, b = ref.fit_line(x, y)
    assert a.item() == pytest.approx(0, abs=1e-12)
    assert b.item() == pytest.approx(stats.pearsonr(x, y)[0], rel=1e-12)


# ---------------------------------------------------------------- R²


def test_the_three_r_squared_agree_for_least_squares_on_its_own_rows():
    x, y = pairs(15)
    a, b = ref.fit_line(x, y)
    three = torch.stack(ref.r_squared(y, a + b * x))
    expected = sm.OLS(y.numpy(), sm.add_constant(x.numpy())).fit().rsquared
    np.testing.assert_allclose(three, expected, rtol=1e-10)


def test_for_other_predictions_each_is_its_own_formula(rng):
    y, f = rng.normal(3, 1, 12), rng.normal(2, 2, 12)
    explained, residual, corr2 = ref.r_squared(torch.tensor(y), torch.tensor(f))
    assert explained.item() == pytest.approx(np.mean((f - y.mean()) ** 2) / y.var())
    assert residual.item() == pytest.approx(r2_score(y, f))
    assert corr2.item() == pytest.approx(np.corrcoef(y, f)[0, 1] ** 2)


def test_one_prediction_for_all_correlates_with_nothing():
    y = torch.tensor([1.0, 2.0, 6.0])
    assert [v.item() for v in ref.r_squared(y, torch.full((3,), 3.0))] == [0, 0, 0]


# ---------------------------------------------------------------- likelihood


def test_the_log_likelihood_is_scipys_and_the_best_line_least_squares():
    x, y = pairs(10)
    a, b = ref.fit_line(x, y)
    for sigma in (0.3, 1.0, 4.0):
        sigma = x.new_tensor(sigma)
        best = ref.gauss_loglik(a, b, sigma, x, y)
        expected = stats.norm.logpdf(y, a + b * x, sigma).sum()
        assert best.item() == pytest.approx(expected, rel=1e-12)
        around = normal(2, 100, seed=4) / 10
        shape = (100, 10)
        others = ref.gauss_loglik(
            a + around[0], b + around[1], sigma.expand(100), x.expand(shape), y.expand(shape)
        )
        assert bool((others < best).all())


# ---------------------------------------------------------------- skewness and kurtosis


def test_skewness_and_excess_kurtosis_are_scipys(rng):
    x = rng.exponential(size=50)
    got = [v.item() for v in ref.skew_kurt(torch.tensor(x))]
    assert got == pytest.approx([stats.skew(x), stats.kurtosis(x)], rel=1e-10)


def test_skewness_and_kurtosis_know_no_unit_and_turn_with_the_sign(rng):
    x = torch.tensor(rng.exponential(size=9))
    skew, kurtosis = ref.skew_kurt(x)
    turned = ref.skew_kurt(20 - 3 * x)
    torch.testing.assert_close(turned, (-skew, kurtosis))


# ---------------------------------------------------------------- forecasts


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("n", [3, 20])
def test_intervals_are_those_of_statsmodels(level, n, rng):
    x, new = 1900 + 4.0 * np.arange(n), np.array([1890.0, 2008.0, 2156.0])
    y = 11 - 0.01 * (x - 1900) + 0.1 * rng.normal(size=n)
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    expected = fit.get_prediction(sm.add_constant(new)).summary_frame(alpha=1 - level)
    line, mean, target = ref.forecast(*(torch.tensor(v) for v in (x, y, new)), level)
    np.testing.assert_allclose(line, expected["mean"], rtol=1e-8)
    np.testing.assert_allclose(line + mean, expected["mean_ci_upper"], rtol=1e-6)
    np.testing.assert_allclose(line + target, expected["obs_ci_upper"], rtol=1e-6)


def test_intervals_cover_as_often_as_they_say(rng):
    x = np.arange(6.0)
    y = torch.tensor(2 - x + rng.normal(size=(4000, 6)))
    X, new = torch.tensor(x).expand(4000, 6), torch.full((4000, 1), 9.0, dtype=torch.float64)
    line, mean, target = (v[:, 0].numpy() for v in ref.forecast(X, y, new, 0.8))
    error = 4 * np.sqrt(0.8 * 0.2 / 4000)
    assert abs(np.mean(np.abs(line - (2 - 9)) <= mean) - 0.8) < error
    assert abs(np.mean(np.abs(line - (2 - 9) - rng.normal(size=4000)) <= target) - 0.8) < error


# ---------------------------------------------------------------- the sprint


def test_the_sprint_gives_the_published_lines():
    """Tatem and others (2004): R² 0.882 and 0.789; in 2156 men 8.098 s and women 8.079 s."""
    races = data.sprint()
    published = {"men": (0.882, 8.098, 9.73), "women": (0.789, 8.079, 10.57)}
    lines = {}
    for name, table in (("men", races.men[1:]), ("women", races.women)):
        fit = lines[name] = stats.linregress(table[:, 0], table[:, 1])
        r2, in_2156, in_2008 = published[name]
        assert round(fit.rvalue**2, 3) == r2
        assert round(fit.intercept + fit.slope * 2156, 3) == in_2156
        assert round(fit.intercept + fit.slope * 2008, 2) == in_2008
    men, women = lines["men"], lines["women"]
    crossing = (men.intercept - women.intercept) / (women.slope - men.slope)
    assert 2152 < crossing < 2156  # the Games of 2156 are the first after it


def test_the_sprint_holds_every_games_once():
    races = data.sprint()
    assert [len(table) for table in races] == [25, 18, 5, 5]
    wars = {1916, 1940, 1944}
    assert set(races.men[:, 0]) == set(range(1896, 2005, 4)) - wars
    assert set(races.women[:, 0]) == set(range(1928, 2005, 4)) - wars
    for later in (races.later_men, races.later_women):
        assert later[:, 0].tolist() == [2008, 2012, 2016, 2021, 2024]
    seconds = np.concatenate([table[:, 1] for table in races])
    assert 9.6 < seconds.min() and seconds.max() <= 12.2
    hand_timed = np.concatenate([t[t[:, 0] < 1968, 1] for t in (races.men, races.women)])
    np.testing.assert_allclose(hand_timed, np.round(hand_timed, 1))

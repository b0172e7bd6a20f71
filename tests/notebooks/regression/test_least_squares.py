"""Least-squares references against SciPy, scikit-learn, statsmodels and autograd; the sprint's data."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import statsmodels.api as sm
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from descent import data
from descent.pictures.regression import least_squares as ls
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/01_least_squares", "reference")


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


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


def floats(*values):
    return [FloatSlider(value, min=-1000, max=1000, step=0.001) for value in values]


# ---------------------------------------------------------------- lines and heights


def test_lines_and_intervals_are_the_references(rng):
    x, y, new = rng.normal(size=8), rng.normal(size=8), rng.normal(size=3)
    tensors = [torch.tensor(v) for v in (x, y, new)]
    np.testing.assert_allclose(ls.fit_line(x, y), torch.stack(ref.fit_line(*tensors[:2])))
    got, expected = ls.intervals(x, y, new, 0.8), ref.forecast(*tensors, 0.8)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("rho", [-1.0, 0.0, 0.5, 1.0])
def test_heights_have_their_means_spread_and_correlation(rho, rng):
    x, y = ls.heights(40_000, rng, rho)
    assert abs(x.mean() - 172) < 0.15 and abs(y.mean() - 174) < 0.15
    assert x.std() == pytest.approx(7, rel=0.02) and y.std() == pytest.approx(7, rel=0.02)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(rho, abs=0.02)


def test_without_noise_any_sample_gives_the_true_slope():
    _, words = ls.draw_sample(10, 0, 3)
    assert numbers(words)[1] == 0.5


def test_the_slope_scatters_as_told():
    slopes = []
    for seed in range(60):
        slopes.append(numbers(ls.draw_sample(40, 6, seed)[1])[1])
        plt.close("all")
    told = numbers(ls.draw_sample(40, 6, 0)[1])[-1]
    assert np.std(slopes) == pytest.approx(told, rel=0.35)
    assert told == pytest.approx(6 / (7 * np.sqrt(40)), abs=0.001)


# ---------------------------------------------------------------- squares


@pytest.fixture
def squares():
    slope, intercept = floats(0.4, 0.0)
    return Explorer(ls.draw_squares, dict(slope=slope, intercept=intercept))


def test_squares_are_dragged_into_the_minimum(squares):
    start = numbers(squares.words)[2]
    best = numbers(squares.words)[3]
    squares.controls["slope"].value = best
    values = numbers(squares.words)
    assert values[2] < start and values[2] == pytest.approx(values[4], abs=0.015)  # β is rounded
    by_library = np.linalg.lstsq(ls.SQUARES_X[:, None], ls.SQUARES_Y, rcond=None)[0][0]
    assert best == pytest.approx(by_library, abs=0.005)


def test_with_both_free_the_floor_is_reached(squares):
    fit = stats.linregress(ls.SQUARES_X, ls.SQUARES_Y)
    squares.controls["intercept"].value = fit.intercept
    squares.controls["slope"].value = fit.slope
    values = numbers(squares.words)
    assert values[2] == pytest.approx(values[-1], abs=0.01)


def test_each_square_has_the_side_of_its_residual():
    fig, words = ls.draw_squares(0.4, 1.0)
    sides = sorted(patch.get_height() for patch in fig.axes[0].patches)
    residuals = np.abs(ls.SQUARES_Y - 1.0 - 0.4 * ls.SQUARES_X)
    np.testing.assert_allclose(sides, sorted(residuals))
    assert numbers(words)[2] == pytest.approx(np.sum(np.square(sides)) / 2, abs=0.006)
    assert all(p.get_width() == p.get_height() for p in fig.axes[0].patches)


# ---------------------------------------------------------------- descent and time


def test_the_factor_of_each_rate_is_told():
    x, y = ls.SQUARES_X, ls.SQUARES_Y
    rates = [scaled / (x @ x) for scaled in (0.4, 1.6, 2.05)]
    start = torch.tensor(0.0, dtype=torch.float64)
    tensors = torch.tensor(x), torch.tensor(y)
    paths = [ref.descent_path(*tensors, start, torch.tensor(r), 4).numpy() for r in rates]
    _, words = ls.draw_descents(paths, x, y, ["one", "two", "three"])
    assert numbers(words) == [0.6, -0.6, -1.05]


def test_times_are_told_without_a_number():
    fig, words = ls.draw_times(lambda x, y: x @ y, lambda x, y: x @ y, repeats=1)
    assert numbers(words) == []
    assert [len(line.get_xdata()) for line in fig.axes[0].lines] == [4, 5]


# ---------------------------------------------------------------- projection


@pytest.fixture
def projection():
    beta, turn, tilt = floats(0.5, -60, 20)
    return Explorer(ls.draw_projection, dict(beta=beta, turn=turn, tilt=tilt))


def test_the_error_is_perpendicular_where_it_is_shortest(projection):
    before = numbers(projection.words)
    best, shortest = before[-2:]
    expected = ref.project(torch.tensor(ls.VECTOR_Y), torch.tensor(ls.VECTOR_X))[1]
    assert shortest == pytest.approx(torch.linalg.vector_norm(expected).item(), abs=0.001)
    projection.controls["beta"].value = best
    values = numbers(projection.words)
    assert "is 90 degrees" in projection.words
    assert values[1] == shortest < before[1] and values[2] == pytest.approx(0, abs=0.01)


def test_turning_changes_the_view_only(projection):
    words = projection.words
    picture = projection.picture.value
    projection.controls["turn"].value = 45
    assert projection.words == words and projection.picture.value != picture


def test_beyond_the_foot_the_angle_is_obtuse(projection):
    projection.controls["beta"].value = 1.6
    assert numbers(projection.words)[3] > 90


# ---------------------------------------------------------------- regression to the mean


@pytest.fixture
def regression():
    rho, share = floats(0.5, 0.1)
    return Explorer(ls.draw_regression, dict(rho=rho, share=share, reverse=Checkbox(False)))


def share_told(widget):
    return numbers(widget.words)[-1]


@pytest.mark.parametrize("reverse", [False, True])
def test_partners_of_the_chosen_are_rho_times_as_extreme(regression, reverse):
    regression.controls["reverse"].value = reverse
    for rho in (0.0, 0.5, 0.8):
        regression.controls["rho"].value = rho
        assert share_told(regression) == pytest.approx(rho, abs=0.06)  # 400 chosen


def test_perfect_correlation_knows_no_regression(regression):
    regression.controls["rho"].value = 1.0
    assert share_told(regression) == 1.0
    regression.controls["rho"].value = -1.0
    assert share_told(regression) == -1.0


def test_a_stricter_choice_is_more_extreme_and_as_regressed(regression):
    before = numbers(regression.words)
    regression.controls["share"].value = 0.01
    after = numbers(regression.words)
    assert after[2] > before[2] + 0.5
    assert share_told(regression) == pytest.approx(0.5, abs=0.2)  # 40 chosen


@pytest.mark.parametrize("reverse", [False, True])
def test_means_of_classes_lie_near_the_line_of_their_own_question(reverse):
    fig, words = ls.draw_regression(0.5, 0.1, reverse)
    r = numbers(words)[0]
    (means,) = [line for line in fig.axes[0].lines if line.get_label() == "means of classes"]
    given, partner = (means.get_ydata(), means.get_xdata()) if reverse else means.get_data()
    np.testing.assert_allclose(partner, r * np.array(given), atol=0.25)  # 100 or more in a class
    assert len(given) == 9 and np.ptp(given) > 3.5


@pytest.mark.parametrize(
    ("scaled", "behaviour"),
    [(0.4, "one side"), (1.6, "jumps across"), (2.0, "to and fro"), (2.05, "runs away")],
)
def test_the_title_says_what_a_rate_does(scaled, behaviour):
    x, y = ls.SQUARES_X, ls.SQUARES_Y
    path = ref.descent_path(
        torch.tensor(x), torch.tensor(y), torch.tensor(0.0), torch.tensor(scaled / (x @ x)), 4
    ).numpy()
    fig, _ = ls.draw_descents([path] * 2, x, y, ["a", "b"])
    assert behaviour in fig.axes[0].get_title()


def test_r2_bars_are_told():
    fig, words = ls.draw_r2({"a": (0.5, 0.5, 0.5), "b\nc": (1.2, -0.3, 0.5)})
    assert "b c: 1.20, -0.30, 0.50" in words and len(fig.axes[0].patches) == 6


# ---------------------------------------------------------------- likelihood


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 5, 20)
    return x, 1.5 * x + rng.normal(size=20)


def test_the_log_likelihood_is_scipys(sample):
    x, y = sample
    expected = stats.norm.logpdf(y, 1.2 * x, 0.7).sum()
    assert ls.loglik(1.2, 0.7, x, y) == pytest.approx(expected, rel=1e-12)
    grid = ls.loglik(*np.meshgrid([1.2, 1.3], [0.7, 0.9, 1.1]), x, y)
    assert grid.shape == (3, 2) and grid[0, 0] == pytest.approx(expected, rel=1e-12)


def test_bells_are_dragged_to_the_maximum(sample):
    slope, sigma = floats(1.1, 2.0)
    widget = Explorer(ls.likelihood_explorer(*sample), dict(slope=slope, sigma=sigma))
    best = minimize(lambda p: -ls.loglik(p[0], np.exp(p[1]), *sample), (1.0, 0.0))
    maximum, at_slope, at_sigma = numbers(widget.words)[-3:]
    assert (maximum, at_slope) == (round(-best.fun, 2), round(best.x[0], 2))
    assert at_sigma == pytest.approx(np.exp(best.x[1]), abs=0.006)
    before = numbers(widget.words)[2]
    slope.value, sigma.value = at_slope, at_sigma
    assert before < numbers(widget.words)[2] == pytest.approx(maximum, abs=0.02)


def test_a_bad_slope_wants_a_wide_bell(sample):
    slope, sigma = floats(1.5, 1.0)
    widget = Explorer(ls.likelihood_explorer(*sample), dict(slope=slope, sigma=sigma))
    near = numbers(widget.words)[3]
    slope.value = 2.2
    assert numbers(widget.words)[3] > 1.5 * near


def test_every_sigma_has_its_lowest_point_at_the_fitted_slope(sample):
    fig, words = ls.draw_same_shape(*sample)
    best = sample[0] @ sample[1] / (sample[0] @ sample[0])
    assert numbers(words)[-1] == pytest.approx(best, abs=0.006)
    for line in fig.axes[0].lines[:3]:
        assert line.get_xdata()[np.argmin(line.get_ydata())] == pytest.approx(best)
    for line in fig.axes[1].lines:  # affine in the squared error
        assert np.corrcoef(line.get_xdata(), line.get_ydata())[0, 1] == pytest.approx(1)


# ---------------------------------------------------------------- other noise, other estimators


def test_least_squares_has_the_shortest_unbiased_weights(rng):
    x = rng.uniform(1, 4, 7)
    spreads = {name: np.linalg.norm(c) for name, c in ls.unbiased_slopes(x).items()}
    assert min(spreads, key=spreads.get) == "least squares"
    for weights in ls.unbiased_slopes(x).values():
        assert weights @ x == pytest.approx(1)
    for _ in range(100):  # any other unbiased weights are longer
        c = rng.normal(size=7)
        c = c + (1 - c @ x) * x / (x @ x)
        assert np.linalg.norm(c) >= spreads["least squares"]


@pytest.mark.parametrize("noise", ["normal", "Laplace"])
def test_absolute_errors_are_minimised_exactly(noise):
    """The weighted median against a fine grid of slopes, on the same draws."""
    x = np.arange(1.0, 6)
    squares, absolute = ls.slope_errors(noise, 5, 20, np.random.default_rng(5))
    rng, grid = np.random.default_rng(5), np.linspace(-3, 3, 30_001)
    if noise == "normal":
        e = rng.standard_normal((20, 5))
    else:
        e = rng.laplace(scale=np.sqrt(0.5), size=(20, 5))
    by_grid = [grid[np.argmin(np.abs(row[:, None] - np.outer(x, grid)).sum(0))] for row in e]
    assert absolute == pytest.approx(np.sqrt(np.mean(np.square(by_grid))), abs=2e-3)
    assert squares == pytest.approx(np.sqrt(np.mean((e @ x / (x @ x)) ** 2)))


def test_the_bars_are_the_numbers_told():
    errors = {"normal": (0.0125, 0.0175), "Laplace": (0.0125, 0.01)}
    fig, words = ls.draw_best(errors, {"least squares": 0.125, "other": 0.25})
    assert numbers(words) == [0.0125, 0.0175, 0.0125, 0.01, 0.125, 0.25]
    heights = [bar.get_height() for bar in fig.axes[0].patches]
    assert sorted(heights) == [0.01, 0.0125, 0.0125, 0.0175]
    assert [bar.get_width() for bar in fig.axes[1].patches] == [0.125, 0.25]


# ---------------------------------------------------------------- sums of effects


def test_skewness_and_kurtosis_are_scipys(rng):
    x = rng.exponential(size=500)
    assert ls.skew_kurt(x) == pytest.approx((stats.skew(x), stats.kurtosis(x)))


@pytest.fixture
def effects():
    kind = Dropdown(
        value="exponential", options=["uniform", "exponential", "one dominates", "Cauchy"]
    )
    return Explorer(ls.draw_sums, dict(kind=kind, k=IntSlider(1, min=1, max=100)))


def gap(widget):
    return numbers(widget.words)[-1]


def test_sums_of_many_exponentials_come_near_the_normal_line(effects):
    single = gap(effects)
    effects.controls["k"].value = 100
    assert gap(effects) < 0.5 < single


@pytest.mark.parametrize("kind", ["Cauchy", "one dominates"])
def test_some_sums_never_become_normal(effects, kind):
    effects.controls["kind"].value = kind
    effects.controls["k"].value = 100
    if kind == "Cauchy":
        assert gap(effects) > 5
    else:  # two bumps, so flatter than a normal
        assert numbers(effects.words)[3] < -0.5


@pytest.mark.parametrize("k", [1, 2, 5])
def test_uniform_sums_have_excess_kurtosis_of_minus_six_fifths_over_k(k, rng):
    values = ls.sums("uniform", k, 200_000, rng)
    assert ls.skew_kurt(values)[1] == pytest.approx(-1.2 / k, abs=0.05)


# ---------------------------------------------------------------- the sprint


@pytest.fixture(scope="module")
def races():
    return data.sprint()


@pytest.fixture
def sprint(races):
    model = Dropdown(value="line in time", options=list(ls.MODELS))
    draw = ls.sprint_explorer(races.men[1:], races.women)
    return Explorer(draw, dict(year=IntSlider(2156, min=2008, max=3000), model=model))


def test_the_published_forecast_is_told(sprint):
    assert "men 8.10 s ± 0.46 s; women 8.08 s ± 0.98 s. Ahead: women" in sprint.words


def test_one_games_earlier_the_men_are_ahead(sprint):
    sprint.controls["year"].value = 2152
    assert "Ahead: men" in sprint.words


def test_lines_run_into_negative_times(sprint):
    sprint.controls["year"].value = 2640
    assert "women -" in sprint.words and "; men -" not in sprint.words
    sprint.controls["year"].value = 2896
    assert "men -" in sprint.words.split(";")[0]


@pytest.mark.parametrize("model", ls.MODELS[1:])
def test_other_models_keep_the_men_ahead(sprint, model):
    sprint.controls["model"].value = model
    assert "Ahead: men" in sprint.words and "±" not in sprint.words


@pytest.mark.parametrize("model", ls.MODELS)
def test_curves_recover_what_made_the_data(model):
    years = np.arange(1900.0, 2005, 4)
    truth = {
        "line in time": 11 - 0.01 * (years - 1900),
        "line in speed": 100 / (9 + 0.01 * (years - 1900)),
        "levelling off": 9.6 + 1.5 * np.exp(-(years - 1900) / 50),
    }[model]
    np.testing.assert_allclose(ls.sprint_curve(model, years, truth)(years), truth, rtol=1e-6)


def test_the_crossing_is_where_both_lines_have_one_height(races):
    men, women = races.men[1:], races.women
    year = ls.crossing_year(men, women)
    heights = [np.polyval(np.polyfit(*table.T, 1), year) for table in (men, women)]
    assert heights[0] == pytest.approx(heights[1], abs=1e-6) and year == pytest.approx(
        2152.6, abs=0.05
    )
    _, words = ls.draw_crossing(men, women)
    assert "men 8.098 s, women 8.079 s" in words


def test_later_races_lie_above_the_lines_and_inside_the_wide_intervals(races):
    _, words = ls.draw_tested(races.men[1:], races.women, races.later_men, races.later_women)
    assert "Men: of 5 later races 5 lie in the interval for a new race" in words
    men, women = words.split("Women:")
    assert "3 above the line" in men and "5 above the line" in women


def test_choices_are_told_in_order():
    fig, words = ls.draw_choices({"first": 2153.0, "second": 1765.0})
    assert words.index("first: 2153") < words.index("second: 1765")
    assert fig.axes[0].get_xlim()[0] < 1765

"""Least-squares references against SciPy, scikit-learn, statsmodels and autograd; the sprint's data; the pictures."""

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from scipy import stats
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from descent import data, handles
from descent.pictures.regression import least_squares as ls
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/01_least_squares"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.asarray(np.random.default_rng(seed).normal(size=shape)))


def pairs(*shape):
    x = normal(*shape)
    return x, 1 + 2 * x + normal(*shape, seed=1)


# ------------------------------------------------------------------------------------- references


@pytest.mark.parametrize("scaled", [0.3, 1.0, 1.7, 2.2])
def test_the_path_is_that_of_steps_along_autograds_gradient(scaled):
    x, y = pairs(5)
    eta = scaled / x.square().sum().item()
    beta, path, losses = torch.tensor(4.0, dtype=torch.float64), [], []
    for _ in range(7):
        beta = beta.detach().requires_grad_()
        loss = (y - x * beta).square().sum() / 2
        loss.backward()
        path.append(beta.item())
        losses.append(loss.item())
        beta = beta - eta * beta.grad
    slopes, got = ref.descent(x, y, 4.0, eta, -1.0, 6)  # no derivative is that small
    np.testing.assert_allclose(slopes, path, rtol=1e-9)
    np.testing.assert_allclose(got, losses, rtol=1e-9)


def test_a_path_ends_at_the_first_small_derivative():
    x, y = torch.tensor([1.0]), torch.tensor([4.0])  # derivatives -4, -2, -1
    for tol, slopes in ((2.0, [0, 2]), (1.9, [0, 2, 3]), (4.0, [0])):
        assert ref.descent(x, y, 0.0, 0.5, tol, 9)[0].tolist() == slopes


def test_the_slope_is_scikit_learns_without_intercept():
    x, y = pairs(12)
    model = LinearRegression(fit_intercept=False).fit(x[:, None].numpy(), y.numpy())
    assert ref.fit_slope(x, y).item() == pytest.approx(model.coef_[0], rel=1e-12)
    assert ref.fit_slope(0 * x, y).item() == 0


def test_the_line_is_statsmodels():
    x, y = pairs(9)
    fit = sm.OLS(y.numpy(), sm.add_constant(x.numpy())).fit()
    got = [value.item() for value in ref.line(x, y)]
    assert got == pytest.approx([*fit.params[::-1], fit.ssr], rel=1e-10)


@pytest.mark.parametrize("value", [2.0, 0.1])
def test_equal_inputs_give_a_flat_line_that_reaches_nothing(value):
    x, y = torch.full((3,), value).double(), torch.tensor([1.0, 2.0, 6.0]).double()
    numbers, heights, reached, met = ref.lines(x, y, x[:1], 5.0, x, y + 1)
    assert numbers.tolist() == [0, 3, 14] and heights.tolist() == [3]
    assert reached.isnan() and met.isnan()


def test_where_two_lines_meet_both_have_one_height():
    (x, y), (u, v) = pairs(6), (normal(8, seed=2), normal(8, seed=3))
    met = ref.lines(x, y, x, 1.0, u, v)[3]
    one, other = (ref.lines(a, b, met[None], 1.0, a, b)[1] for a, b in ((x, y), (u, v)))
    torch.testing.assert_close(one, other)
    reached = ref.lines(x, y, x, 1.0, u, v)[2]
    assert ref.lines(x, y, reached[None], 1.0, u, v)[1].item() == pytest.approx(1.0)


def test_the_three_r_squared_agree_for_least_squares_on_its_own_rows():
    x, y = pairs(15)
    slope, intercept, _ = ref.line(x, y)
    three = torch.stack(ref.r_squared(y, intercept + slope * x))
    expected = sm.OLS(y.numpy(), sm.add_constant(x.numpy())).fit().rsquared
    np.testing.assert_allclose(three, expected, rtol=1e-10)


def test_for_other_predictions_each_r_squared_is_its_own_formula(rng):
    y, f = rng.normal(3, 1, 12), rng.normal(2, 2, 12)
    explained, residual, corr2 = ref.r_squared(torch.tensor(y), torch.tensor(f))
    assert explained.item() == pytest.approx(np.mean((f - y.mean()) ** 2) / y.var())
    assert residual.item() == pytest.approx(r2_score(y, f))
    assert corr2.item() == pytest.approx(np.corrcoef(y, f)[0, 1] ** 2)
    drawn = ls.r_squared(y, f)
    assert drawn == pytest.approx((explained.item(), residual.item(), corr2.item()))


@pytest.mark.parametrize("value", [3.0, 0.1])
def test_one_prediction_for_all_correlates_with_nothing(value):
    y = torch.tensor([1.0, 2.0, 6.0])
    assert ref.r_squared(y, torch.full((3,), value))[2].item() == 0


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


@pytest.mark.parametrize("scale", [1.0, 1e-100])
def test_a_projection_is_perpendicular_idempotent_and_pythagorean(scale):
    X, Y = normal(3, 5), normal(3, 5, seed=1)
    shadow, error, cosine = ref.project(Y, scale * X)
    torch.testing.assert_close((error * X).sum(-1), torch.zeros(3).double())
    torch.testing.assert_close(ref.project(shadow, X)[0], shadow)
    squares = shadow.square().sum(-1) + error.square().sum(-1)
    torch.testing.assert_close(squares, Y.square().sum(-1))
    torch.testing.assert_close(cosine, torch.nn.functional.cosine_similarity(X, Y, dim=-1))


def test_no_direction_has_no_shadow():
    Y, zero = normal(3), torch.zeros(3, dtype=torch.float64)
    shadow, error, cosine = ref.project(Y, zero)
    assert torch.equal(shadow, zero) and torch.equal(error, Y) and cosine == 0
    assert ref.project(zero, Y)[2] == 0


def test_extremes_are_scipys_and_the_earlier_of_equals():
    x, y = pairs(9)
    r, then, later = ref.extremes(x, y, 3)
    top = np.argsort(x.numpy())[-3:]
    assert r.item() == pytest.approx(stats.pearsonr(x, y)[0])
    assert then.item() == pytest.approx(stats.zscore(x.numpy())[top].mean())
    assert later.item() == pytest.approx(stats.zscore(y.numpy())[top].mean())
    tied = torch.tensor([1.0, 2.0, 2.0]).double()
    expected = stats.zscore([5.0, 7.0, 9.0])[1]
    assert ref.extremes(tied, torch.tensor([5, 7, 9]), 1)[2].item() == pytest.approx(expected)


def test_no_line_is_more_likely_than_the_least_squares_line():
    x, y = pairs(10)
    slope, intercept, _ = ref.line(x, y)
    errors = y - intercept - slope * x
    shifts = normal(100, 1, seed=4) / 10 + normal(100, 1, seed=5) / 10 * x
    for sigma in (0.3, 1.0, 4.0):
        others = ref.gauss_loglik(errors - shifts, sigma)
        assert bool((others < ref.gauss_loglik(errors, sigma)).all())


def test_skewness_and_kurtosis_know_no_unit_and_turn_with_the_sign(rng):
    x = torch.tensor(rng.exponential(size=9))
    skew, kurtosis = ref.skew_kurt(x)
    torch.testing.assert_close(ref.skew_kurt(20 - 3 * x), (-skew, kurtosis))


# ------------------------------------------------------------------------------------- the sprint


@pytest.fixture(scope="module")
def races():
    return data.sprint()


def test_the_sprint_gives_the_published_lines(races):
    """Tatem and others (2004): R² 0.882 and 0.789; in 2156 men 8.098 s and women 8.079 s."""
    published = {"men": (0.882, 8.098, 9.73), "women": (0.789, 8.079, 10.57)}
    for name, table in (("men", races.men[1:]), ("women", races.women)):
        fit = stats.linregress(table[:, 0], table[:, 1])
        r2, in_2156, in_2008 = published[name]
        assert round(fit.rvalue**2, 3) == r2
        assert round(fit.intercept + fit.slope * 2156, 3) == in_2156
        assert round(fit.intercept + fit.slope * 2008, 2) == in_2008


def test_the_sprint_holds_every_games_once(races):
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


@pytest.mark.parametrize("model", ls.MODELS)
def test_curves_recover_what_made_the_data(model):
    years = np.arange(1900.0, 2005, 4)
    truth = {
        "line in time": 11 - 0.01 * (years - 1900),
        "line in speed": 100 / (9 + 0.01 * (years - 1900)),
        "levelling off": 9.6 + 1.5 * np.exp(-(years - 1900) / 50),
    }[model]
    np.testing.assert_allclose(ls.sprint_curve(model, years, truth)(years), truth, rtol=1e-6)


def test_the_two_other_curves_fit_at_least_as_well(races):
    for table in (races.men[1:], races.women):
        rss = [
            np.sum((table[:, 1] - ls.sprint_curve(m, *table.T)(table[:, 0])) ** 2)
            for m in ls.MODELS
        ]
        assert rss[0] > rss[1] > rss[2]


def test_the_crossing_is_where_both_lines_have_one_height(races):
    men, women = races.men[1:], races.women
    year = ls.crossing_year(men, women)
    heights = [np.polyval(np.polyfit(*table.T, 1), year) for table in (men, women)]
    assert heights[0] == pytest.approx(heights[1], abs=1e-6)
    _, words = ls.draw_crossing(men, women)
    assert words.facts["cross"] == year
    assert year == pytest.approx(2152.6, abs=0.05)
    assert words.facts["seconds"] == pytest.approx(heights[0])


@pytest.mark.parametrize("year", [2008, 2156, 2900])
def test_a_year_is_told_as_its_curves_and_intervals(year, races):
    facts = controls.explorer(NOTEBOOK, "sprint_explorer", year=year).words.facts
    for name, table in (("men", races.men[1:]), ("women", races.women)):
        x, y = (torch.tensor(column) for column in table.T)
        line, _, half = ref.forecast(x, y, torch.tensor([float(year)]).double(), 0.95)
        assert facts[f"{name}_time"] == pytest.approx(line.item())
        assert facts[f"{name}_half"] == pytest.approx(half.item())
        for model in ls.MODELS[1:]:
            expected = float(ls.sprint_curve(model, *table.T)(year))
            assert facts[f"{name}_{model.split()[-1]}"] == pytest.approx(expected)


def test_what_the_text_asks_of_the_years():
    def told(year):
        return controls.explorer(NOTEBOOK, "sprint_explorer", year=year).words.facts

    assert told(2152)["men_time"] < told(2152)["women_time"]
    assert told(2156)["men_time"] > told(2156)["women_time"]
    assert told(2156)["men_speed"] < told(2156)["women_speed"]
    assert told(2156)["men_off"] < told(2156)["women_off"]
    assert told(2632)["women_time"] > 0 > told(2640)["women_time"]


def test_later_races_lie_above_the_lines_and_inside_the_wide_intervals(races):
    _, words = ls.draw_tested(races.men[1:], races.women, races.later_men, races.later_women)
    men, women = (part.facts for part in words.facts["told"])
    assert men["inside"] == women["inside"] == 5
    assert (men["slower"], women["slower"]) == (3, 5)
    assert men["curve"] < men["line"] and women["curve"] < women["line"]


def test_choices_are_told_in_order():
    fig, words = ls.draw_choices({"first": 2153.0, "second": 1765.0})
    assert [part.facts["year"] for part in words.facts["told"]] == [2153, 1765]
    assert fig.axes[0].get_xlim()[0] < 1765


# ---------------------------------------------------------------------------------- what it draws


def test_lines_and_intervals_of_the_pictures_are_the_references(rng):
    x, y, new = rng.normal(size=8), rng.normal(size=8), rng.normal(size=3)
    tensors = [torch.tensor(v) for v in (x, y, new)]
    slope, intercept, _ = ref.line(*tensors[:2])
    np.testing.assert_allclose(ls.fit_line(x, y), [intercept, slope])
    got, expected = ls.intervals(x, y, new, 0.8), ref.forecast(*tensors, 0.8)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("moved", [{}, {"y1": 5.0}, {"x2": 0.0, "y2": 6.0}])
def test_the_dragged_line_is_that_of_all_seven_points(moved):
    widget = controls.explorer(NOTEBOOK, "draw_pull", **moved)
    at = widget.values
    x = np.append(ls.STAY_X, [at["x1"], at["x2"]])
    y = np.append(ls.STAY_Y, [at["y1"], at["y2"]])
    fit, facts = stats.linregress(x, y), widget.words.facts
    assert facts["slope"] == pytest.approx(fit.slope)
    assert facts["intercept"] == pytest.approx(fit.intercept)
    squares = (y - fit.intercept - fit.slope * x) ** 2
    assert facts["area"] == pytest.approx(squares.sum())
    assert [facts["A"], facts["B"]] == pytest.approx(squares[-2:])


def test_each_handle_is_called_by_what_it_moves():
    widget = controls.explorer(NOTEBOOK, "draw_pull")
    fig, _ = ls.draw_pull(**widget.values)
    told = [place.told(widget.controls) for place in handles.places(fig, widget.handles)]
    assert [one["label"] for one in told] == ["A: x, A: y", "B: x, B: y"]


def test_the_middle_point_lifts_the_line_and_the_far_one_turns_it():
    def slope(**moved):
        return controls.explorer(NOTEBOOK, "draw_pull", **moved).words.facts["slope"]

    turned_by_middle = slope(y1=4.5) - slope()  # by 2, as the other
    turned_by_far = slope(y2=4.2) - slope()
    assert abs(turned_by_middle) < 0.02 and turned_by_far > 0.3


def test_far_inputs_make_the_parabola_narrow_and_high_outputs_do_not():
    def curvature(**moved):
        return controls.explorer(NOTEBOOK, "draw_pull", **moved).words.facts["curvature"]

    assert curvature(y1=6.0, y2=6.0) == curvature() < curvature(x2=7.5)


@pytest.mark.parametrize("y1, y2", [(2.5, 2.2), (5.0, 0.5)])
def test_each_square_has_the_side_of_its_residual_and_is_square_on_the_page(y1, y2):
    fig, words = ls.draw_pull(2.6, y1, 6.0, y2)
    left = fig.axes[0]
    sides = [patch.get_height() for patch in left.patches]
    assert np.sum(np.square(sides)) == pytest.approx(words.facts["area"])
    assert all(p.get_width() == p.get_height() for p in left.patches)
    box, (width, height) = left.get_position(), fig.get_size_inches()
    units = np.ptp(left.get_xlim()) / np.ptp(left.get_ylim())
    assert box.width * width / (box.height * height) == pytest.approx(units, rel=0.01)


@pytest.mark.parametrize(
    ("scaled", "behaviour"),
    [(0.4, "one side"), (1.6, "jumps across"), (2.0, "to and fro"), (2.05, "runs away")],
)
def test_the_factor_of_each_rate_is_told_and_what_it_does(scaled, behaviour, rng):
    x, y = rng.normal(size=(2, 7))
    xx = x @ x
    tensors = torch.tensor(x), torch.tensor(y)
    path = ref.descent(*tensors, 0.0, scaled / xx, 0.0, 4)[0].numpy()
    fig, words = ls.draw_descents([path] * 2, x, y, ["a", "b"])
    assert words.facts["told"][0].facts["factor"] == pytest.approx(1 - scaled)
    assert behaviour in fig.axes[0].get_title()


def test_the_error_is_perpendicular_where_it_is_shortest():
    best = controls.explorer(NOTEBOOK, "draw_projection").words.facts["best"]
    Y, X = torch.tensor(ls.VECTOR_Y), torch.tensor(ls.VECTOR_X)
    shortest = torch.linalg.vector_norm(ref.project(Y, X)[1]).item()
    before, at, beyond = (
        controls.explorer(NOTEBOOK, "draw_projection", beta=beta).words.facts
        for beta in (0.5, round(best, 2), 1.6)
    )
    assert at["length"] == pytest.approx(shortest, abs=1e-3)
    assert at["length"] < before["length"]
    assert at["angle"] == pytest.approx(90, abs=0.5)
    assert before["angle"] < 89 and beyond["angle"] > 91


def test_turning_changes_the_view_only():
    widget = controls.explorer(NOTEBOOK, "draw_projection")
    words, picture = widget.words, widget.picture.value
    widget.controls["turn"].value = 45
    assert widget.words == words and widget.picture.value != picture


@pytest.mark.parametrize("rho", [-1.0, 0.0, 0.5, 1.0])
def test_heights_have_their_means_spread_and_correlation(rho, rng):
    x, y = ls.heights(40_000, rng, rho)
    assert abs(x.mean() - 172) < 0.15 and abs(y.mean() - 174) < 0.15
    assert x.std() == pytest.approx(7, rel=0.02) and y.std() == pytest.approx(7, rel=0.02)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(rho, abs=0.02)


@pytest.mark.parametrize("reverse", [False, True])
def test_partners_of_the_chosen_are_rho_times_as_extreme(reverse):
    for rho in (-1.0, 0.0, 0.5, 0.8, 1.0):
        widget = controls.explorer(NOTEBOOK, "draw_regression", rho=rho, reverse=reverse)
        assert widget.words.facts["share"] == pytest.approx(rho, abs=0.06)  # 400 chosen


def test_few_rows_move_the_line():
    def r(n):
        return controls.explorer(NOTEBOOK, "draw_regression", n=n).words.facts["r"]

    assert abs(r(4000) - 0.5) < 0.02 < abs(r(20) - 0.5)


def test_r2_bars_are_told():
    fig, words = ls.draw_r2({"a": (0.5, 0.5, 0.5), "b\nc": (1.2, -0.3, 0.5)})
    assert "b c: 1.20, -0.30, 0.50" in words and len(fig.axes[0].patches) == 6


def test_bells_are_dragged_to_the_maximum():
    x = np.random.default_rng(11).uniform(1, 5, 20)
    y = 1.5 * x + np.random.default_rng(12).normal(size=20)
    best = minimize(lambda p: -stats.norm.logpdf(y, p[0] * x, np.exp(p[1])).sum(), (1.0, 0.0))
    start = controls.explorer(NOTEBOOK, "likelihood_explorer").words.facts
    assert start["highest"] == pytest.approx(-best.fun)
    assert [start["best"], start["width"]] == pytest.approx(
        [best.x[0], np.exp(best.x[1])], rel=1e-3
    )
    at = dict(slope=start["best"], sigma=start["width"])
    top = controls.explorer(NOTEBOOK, "likelihood_explorer", **at).words.facts
    assert start["J"] < top["J"]
    assert top["J"] == pytest.approx(start["highest"], abs=0.02)


def test_a_bad_slope_wants_a_wide_bell():
    def wanted(slope):
        widget = controls.explorer(NOTEBOOK, "likelihood_explorer", slope=slope)
        return widget.words.facts["best_sigma"]

    assert wanted(2.2) > 1.5 * wanted(1.56)


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


@pytest.mark.parametrize("k", [1, 2, 5])
def test_uniform_sums_have_excess_kurtosis_of_minus_six_fifths_over_k(k, rng):
    values = ls.sums("uniform", k, 200_000, rng)
    assert ls.skew_kurt(values) == pytest.approx((stats.skew(values), stats.kurtosis(values)))
    assert ls.skew_kurt(values)[1] == pytest.approx(-1.2 / k, abs=0.05)


def test_two_kinds_of_sums_never_become_normal():
    def gap(kind, k):
        return controls.explorer(NOTEBOOK, "draw_sums", kind=kind, k=k).words.facts["far"]

    assert gap("uniform", 10) < 0.2
    assert gap("exponential", 100) < 0.5 < gap("exponential", 10) < gap("exponential", 1)
    assert gap("Cauchy", 100) > 5
    assert gap("one dominates", 100) > 0.6

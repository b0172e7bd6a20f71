"""Double descent references against scikit-learn, SciPy, exact fractions, loops and known limits."""

import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.interpolate import CubicSpline, make_smoothing_spline
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer

from descent import data
from descent.pictures.regression import double_descent as dd
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("01_regression/05_double_descent", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def jittered(*batch, n, dtype=torch.float64, seed=0):
    """Increasing inputs, one near the middle of each of n equal slots of [0, 1]."""
    u = np.random.default_rng(seed).uniform(0.4, 0.6, (*batch, n))
    return torch.from_numpy((np.arange(n) + u) / n).to(dtype)


# ---------------------------------------------------------------- hinges and networks


@DTYPES
@BATCHES
def test_features_are_those_of_a_loop(batch, dtype):
    x = normal(*batch, 4, dtype=dtype)
    got = ref.hinge_features(x, 3, -2.0, 2.0)
    assert got.shape == (*batch, 4, 3) and got.dtype == dtype
    expected = [[max(0.0, v - b) for b in (-1, 0, 1)] for v in x.reshape(-1).tolist()]
    expected = torch.tensor(expected, dtype=dtype).reshape(got.shape)
    torch.testing.assert_close(got, expected, **tolerance(dtype))


def test_with_one_more_column_the_features_span_scikit_learns_splines():
    x = torch.linspace(0, 1, 30, dtype=torch.float64)
    ours = torch.column_stack([torch.ones(30), x, ref.hinge_features(x, 4, 0.0, 1.0)]).numpy()
    knots = np.linspace(0, 1, 6)[:, None]
    theirs = SplineTransformer(degree=1, knots=knots).fit_transform(x.numpy()[:, None])
    coefficients = np.linalg.lstsq(ours, theirs, rcond=None)[0]
    np.testing.assert_allclose(ours @ coefficients, theirs, atol=1e-12)


@DTYPES
@BATCHES
def test_the_spline_is_the_broken_line_through_its_knots(batch, dtype):
    beta, b = normal(*batch, 3, dtype=dtype), torch.tensor([0.5, 1.0, 2.0], dtype=dtype)
    x = torch.linspace(-1, 4, 11, dtype=dtype).expand(*batch, 11)
    got = ref.spline_values(0.3, beta, b.expand(*batch, 3), x)
    nodes = np.array([-1.0, 0.5, 1.0, 2.0, 4.0])
    for row, values in zip(beta.reshape(-1, 3).double().numpy(), got.reshape(-1, 11), strict=True):
        slopes = np.concatenate([[0.0], np.cumsum(row)])
        heights = 0.3 + np.concatenate([[0.0], np.cumsum(slopes * np.diff(nodes))])
        expected = np.interp(np.linspace(-1, 4, 11), nodes, heights)
        np.testing.assert_allclose(values.double().numpy(), expected, rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- what the data cannot see


@BATCHES
def test_the_unseen_part_of_a_batch_is_that_of_each(batch):
    X, beta = normal(*batch, 3, 5), normal(*batch, 5, seed=1)
    got = ref.unseen_part(beta, X)
    rows = zip(beta.reshape(-1, 5), X.reshape(-1, 3, 5), strict=True)
    expected = torch.stack([ref.unseen_part(*pair) for pair in rows]).reshape(got.shape)
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close((X @ got.unsqueeze(-1)).squeeze(-1), torch.zeros(*batch, 3).double())


def test_gradient_descent_ends_at_pinv_plus_the_unseen_part():
    X, y, beta = normal(3, 6), normal(3, seed=1), normal(6, seed=2)
    expected = torch.linalg.pinv(X) @ y + ref.unseen_part(beta, X)
    rate = 1 / torch.linalg.matrix_norm(X, 2) ** 2
    for _ in range(4000):
        beta = beta + rate * X.T @ (y - X @ beta)
    torch.testing.assert_close(beta, expected, rtol=1e-9, atol=1e-9)


# ---------------------------------------------------------------- the sweep


@DTYPES
@BATCHES
def test_the_sweep_is_scikit_learns_linear_regression(batch, dtype):
    """LinearRegression centres and takes the solution of least norm, so its intercept is free too."""
    ps = [0, 1, 4, 6, 7, 30]
    x, new = jittered(*batch, n=7, dtype=dtype), jittered(*batch, n=5, dtype=dtype, seed=1)
    y, new_y = 3 + normal(*batch, 7, dtype=dtype), 3 + normal(*batch, 5, dtype=dtype, seed=2)
    train, test = ref.knot_sweep(x, y, new, new_y, ps)
    assert train.shape == test.shape == (*batch, len(ps)) and test.dtype == dtype
    flat = [t.double().numpy().reshape(-1, t.shape[-1]) for t in (x, y, new, new_y)]
    expected = []
    for a, b, c, d in zip(*flat, strict=True):
        for p in ps:
            knots = np.arange(1, p + 1) / (p + 1)
            F, G = (np.maximum(0, v[:, None] - knots) for v in (a, c))
            if p == 0:
                expected.append([np.mean((b - b.mean()) ** 2), np.mean((d - b.mean()) ** 2)])
                continue
            model = LinearRegression().fit(F, b)
            expected.append(
                [np.mean((model.predict(F) - b) ** 2), np.mean((model.predict(G) - d) ** 2)]
            )
    expected = np.array(expected).reshape(*batch, len(ps), 2)
    rtol = 2e-2 if dtype == torch.float32 else 1e-7  # float32 meets the condition number at p = 6
    np.testing.assert_allclose(train, expected[..., 0], rtol=rtol, atol=1e-6)
    np.testing.assert_allclose(test, expected[..., 1], rtol=rtol, atol=1e-6)


def test_the_peak_sits_one_below_the_number_of_rows():
    n = 10
    x, t = torch.linspace(0, 1, n).double(), torch.linspace(0, 1, 201).double()
    y = torch.sin(2 * torch.pi * x) + 0.1 * normal(n)
    ps = list(range(5, 15)) + [200]
    train, test = ref.knot_sweep(x, y, t, torch.sin(2 * torch.pi * t), ps)
    assert ps[int(test.argmax())] == n - 1
    assert train[: ps.index(8) + 1].min() > 1e-6 and train[ps.index(9) :].max() < 1e-9
    assert test[-1] < test.max() / 100


def test_the_intercept_is_free():
    x, y, t = jittered(n=6), normal(6), jittered(n=4, seed=1)
    low = ref.knot_sweep(x, y, t, torch.zeros(4).double(), [20])
    high = ref.knot_sweep(x, y + 1000, t, torch.full((4,), 1000.0).double(), [20])
    torch.testing.assert_close(low, high, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- hats


def exact_rank(rows):
    """Rank by elimination in fractions."""
    rows, rank = [[Fraction(v) for v in row] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.parametrize("seed", range(60))
def test_no_zero_if_and_only_if_the_feature_rows_are_independent(seed):
    """Inputs and knots on one coarse lattice, so that many inputs fall on knots."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    b = np.sort(rng.choice(24, p, replace=False)).astype(float)
    x = rng.choice(24, n, replace=False).astype(float)
    hats = ref.hats_taken(torch.from_numpy(x), torch.from_numpy(b))
    rows = [[1, *(max(0, int(v - k)) for k in b)] for v in x]
    assert bool((hats > 0).all()) == (exact_rank(rows) == n)


def test_both_answers_occur_among_those_samples():
    answers = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p, n = int(rng.integers(1, 8)), int(rng.integers(1, 7))
        b = np.sort(rng.choice(24, p, replace=False)).astype(float)
        x = rng.choice(24, n, replace=False).astype(float)
        answers.add(bool((ref.hats_taken(torch.from_numpy(x), torch.from_numpy(b)) > 0).all()))
    assert answers == {True, False}


@pytest.mark.parametrize(
    "x, b, hats",
    [
        ([2.5, 0.5, 1.5], [1.0, 2.0], [1, 2, 3]),
        ([0.2, 0.8, 2.5], [1.0, 2.0], [1, 0, 0]),
        ([3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0], [3, 4]),
        ([0.5, 1.0], [1.0], [1, 0]),
        ([1.5], [1.0], [1]),
    ],
)
def test_hats_by_hand(x, b, hats):
    assert ref.hats_taken(torch.tensor(x), torch.tensor(b)).tolist() == hats


@BATCHES
def test_hats_of_a_batch_are_those_of_each(batch):
    x, b = normal(*batch, 5), normal(*batch, 6, seed=1).sort(-1).values
    got = ref.hats_taken(x, b)
    rows = zip(x.reshape(-1, 5), b.reshape(-1, 6), strict=True)
    expected = [ref.hats_taken(*pair).tolist() for pair in rows]
    assert got.shape == (*batch, 5) and got.reshape(-1, 5).tolist() == expected


# ---------------------------------------------------------------- effective ranks


@DTYPES
@BATCHES
def test_effective_ranks_are_the_sums(batch, dtype):
    eigs = normal(*batch, 6, dtype=dtype).square() + 0.1
    for k in (0, 2, 5):
        r, R = ref.tail_ranks(eigs, k)
        tail = np.sort(eigs.double().numpy(), -1)[..., ::-1][..., k:]
        np.testing.assert_allclose(r, tail.sum(-1) / tail[..., 0], rtol=1e-5)
        np.testing.assert_allclose(R, tail.sum(-1) ** 2 / (tail**2).sum(-1), rtol=1e-5)
        assert r.shape == batch and r.dtype == dtype
        assert torch.all(r <= R * (1 + 1e-5)) and torch.all(R <= r.square() * (1 + 1e-5))


def test_a_flat_tail_counts_its_directions():
    eigs = torch.cat([torch.tensor([9.0, 5.0]), torch.full((7,), 0.3)])
    torch.testing.assert_close(ref.tail_ranks(eigs, 2), (torch.tensor(7.0), torch.tensor(7.0)))


# ---------------------------------------------------------------- epicycles


@DTYPES
@BATCHES
@pytest.mark.parametrize("m, N", [(7, 3), (6, 4), (5, 5), (6, 6), (4, 1)])
def test_circles_are_the_least_squares_fit(batch, m, N, dtype):
    points = normal(*batch, m, 2, dtype=dtype)
    got = ref.low_frequencies(points, N)
    assert got.shape == points.shape and got.dtype == dtype
    k = np.array([0, 1, -1, 2, -2, 3, -3])[:N]
    E = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m)
    z = points.double().numpy() @ np.array([1, 1j])
    fit = np.linalg.lstsq(E, z.reshape(-1, m).T, rcond=None)[0]
    curve = (E @ fit).T.reshape(*batch, m)
    np.testing.assert_allclose(got[..., 0], curve.real, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got[..., 1], curve.imag, rtol=1e-4, atol=1e-5)


def test_the_error_never_rises_with_the_number_of_circles():
    points = normal(9, 2)
    errors = [(ref.low_frequencies(points, N) - points).square().sum().item() for N in range(1, 10)]
    assert all(later <= earlier + 1e-12 for earlier, later in zip(errors, errors[1:], strict=False))
    assert errors[-1] < 1e-24


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", words)]


# ---------------------------------------------------------------- fits


@pytest.mark.parametrize("p", [1, 5, 9, 10, 60])
def test_the_operator_is_scikit_learns_fit(p, rng):
    x, t = dd.grid(10), np.linspace(0, 1, 7)
    y = 5 + rng.normal(size=10)
    model = LinearRegression().fit(dd.hinges(x, p), y)  # the least norm, its intercept free
    got = dd.fit_operator(x, t, p) @ y
    np.testing.assert_allclose(got, model.predict(dd.hinges(t, p)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 7, 200])
def test_steps_are_those_of_a_loop(steps, rng):
    x, t, p = np.sort(rng.random(6)), np.linspace(0, 1, 5), 4
    y = rng.normal(size=6)
    F = dd.hinges(x, p)
    A, beta = F - F.mean(0), np.zeros(p)
    for _ in range(steps):
        beta = beta + A.T @ (y - y.mean() - A @ beta) / np.linalg.norm(A, 2) ** 2
    expected = y.mean() + (dd.hinges(t, p) - F.mean(0)) @ beta
    np.testing.assert_allclose(dd.fit_operator(x, t, p, steps) @ y, expected, atol=1e-9)


def test_counted_steps_are_those_of_a_loop():
    X = np.column_stack([np.ones(6), dd.hinges(dd.grid(6), 9)])
    y, beta, count = dd.sine(dd.grid(6)), np.zeros(10), 0
    while np.mean((X @ beta - y) ** 2) > 0.02:
        beta, count = beta + X.T @ (y - X @ beta) / np.linalg.norm(X, 2) ** 2, count + 1
    assert dd.steps_to(X, y, 0.02) == count > 10
    assert dd.steps_to(X, y, 0.02, most=count - 1) is None


def test_the_numbers_of_the_set_up():
    """Medians over 100 data sets, n = 20 on a grid: what the notebook tells."""
    clean = dd.excess_errors([18, 19, 20, 22, 40, 1000], 0.0, 1)
    np.testing.assert_allclose(clean, [0.00102, 1.53e7, 38.4, 0.0659, 4.19e-4, 9.29e-5], rtol=0.01)
    some = dd.excess_errors([12, 18, 1000], 0.1)
    np.testing.assert_allclose(some, [0.0086, 0.0066, 0.0080], atol=5e-5)
    much = dd.excess_errors([6, 1000], 0.3)
    np.testing.assert_allclose(much, [0.042, 0.070], atol=5e-4)


def test_conditioning_has_its_peak_at_19_knots():
    numbers_, steps = dd.conditioning((18, 19, 20, 40))
    assert np.argmax(numbers_) == 1 and numbers_[1] == pytest.approx(5.3e15, rel=0.1)
    assert steps[1:] == sorted(steps[1:], reverse=True)


def test_the_clamped_spline_bends_least_among_those_that_start_flat(rng):
    x, y = dd.grid(6), rng.normal(size=6)
    spline = dd.clamped_spline(x, y)
    t = np.linspace(0, 1, 20_001)
    assert np.allclose(spline(x), y) and abs(spline(0.0, 1)) < 1e-12
    assert dd.bending(x, spline(x, 2)) == pytest.approx(np.mean(spline(t, 2) ** 2), rel=1e-3)
    wiggle = dd.clamped_spline(np.linspace(0, 1, 16), np.where(np.arange(16) % 3, 0.1, 0.0))
    other = np.mean((spline(t, 2) + wiggle(t, 2)) ** 2)  # through the same points, flat at 0
    assert other > dd.bending(x, spline(x, 2))


def test_the_spline_constant_is_tempered():
    assert dd.spline_excess(20) == pytest.approx(0.866, abs=0.002)
    assert dd.spline_excess(160) == pytest.approx(0.873, abs=0.002)
    # Far from the ends: the integral of the squared cardinal spline.
    w = np.linspace(1e-9, 60 * np.pi, 600_001)
    cardinal = np.sinc(w / (2 * np.pi)) ** 4 / ((2 + np.cos(w)) / 3)
    assert np.trapezoid(cardinal**2, w) / np.pi == pytest.approx(0.874, abs=0.0005)


def test_gaussian_excess_is_that_of_simulated_fits():
    eigenvalues, n = np.array([2.0, 1.0, 0.5, 0.5, 0.2, 0.1]), 3
    told = dd.gaussian_excess(eigenvalues, n, 1)
    X = np.random.default_rng(0).normal(size=(n, 6)) * np.sqrt(eigenvalues)
    noise = np.random.default_rng(1).normal(size=(40_000, n))
    fits = (X[:, 0] + noise) @ np.linalg.pinv(X).T
    fits[:, 0] -= 1
    assert np.mean(fits**2 @ eigenvalues) == pytest.approx(told, rel=0.03)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_the_smoothing_spline_is_scipys(penalty, rng):
    x = np.sort(rng.uniform(-1, 1, 30))
    y = np.sin(3 * x) + 0.3 * rng.normal(size=30)
    t = np.linspace(x[0], x[-1], 40)
    expected = make_smoothing_spline(x, y, lam=penalty)(t)
    np.testing.assert_allclose(dd.smoothing_spline(x, y, penalty)(t), expected, atol=1e-7)
    f = dd.smoothing_spline(x, y, penalty)
    assert np.allclose(np.diff(f(x[-1] + np.arange(4.0)), 2), 0)  # straight beyond the data


def test_linear_data_have_no_gap_and_a_curve_has():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-1, 1, 80))
    error = 0.2 * rng.normal(size=80)
    assert abs(dd.linearity_gap(x, 2 * x + error)[1]) < 0.02
    assert dd.linearity_gap(x, np.sin(4 * x) + error)[1] > 0.4


def test_legendre_errors_peak_at_n_and_scaling_changes_only_what_follows():
    def cubic(x):
        return x**3 - x

    plain, sizes = dd.legendre_curve((5, 19, 20, 21, 400), cubic, sets=15)
    alike, _ = dd.legendre_curve((5, 19, 20, 21, 400), cubic, sets=15, scaled=True)
    assert plain.argmax() == sizes.argmax() == 2
    assert plain[0] == pytest.approx(alike[0], rel=1e-6)
    assert plain[-1] < 0.05 < alike[-1]


def test_knots_learn_the_corners_and_hold_still_if_told_to():
    x = np.linspace(0, 1, 101)
    losses, knots = dd.train_knots(x, dd.tooth(x))
    _, still = dd.train_knots(x, dd.tooth(x), steps=10, learn=False)
    assert losses[-1] < losses[0] / 10
    assert all(np.abs(knots[-1] - corner).min() < 0.02 for corner in (0.5, 0.6, 0.7))
    assert np.array_equal(still[0], still[-1])


@pytest.mark.parametrize("pieces", [1, 2, 4, 8])
def test_pieces_are_counted(pieces):
    corners = np.linspace(0, 1, pieces + 1)
    assert dd.count_pieces(lambda x: np.interp(x, corners, corners**2)) == pieces


def test_the_elephant_needs_eleven_circles():
    z = dd.elephant() @ np.array([1, 1j])
    c = np.abs(np.fft.fft(z))
    assert c[6:-5].max() < 1e-9 < min(c[5], c[-5])


@pytest.mark.parametrize("N", [1, 4, 9])
def test_the_pen_is_at_the_end_of_the_arms(N):
    points = dd.elephant(20)
    centres = dd.circles(points, N, 3 / 20)
    k = np.array([0, 1, -1, 2, -2, 3, -3, 4, -4])[:N]
    E = np.exp(2j * np.pi * np.outer(np.arange(20), k) / 20)
    curve = E @ (E.conj().T @ (points @ np.array([1, 1j]))) / 20
    assert len(centres) == N + 1 and centres[-1] == pytest.approx(curve[3])


def test_the_digits_have_their_peak_at_the_number_of_rows():
    curves = dd.digits_curve(data.digits().X / 16, data.digits().y, (50, 100, 150, 800), n=100)
    free = curves["minimum norm"]
    assert free.argmax() == 1 and curves["train"][1] == 0
    assert curves["ridge"].max() < free[1] - 0.2


# ---------------------------------------------------------------- figures


def test_the_limit_is_told_with_its_numbers():
    told = numbers(dd.draw_limit(counts=(50, 400))[1])
    assert told[1] == 50 and told[3] == 400 and told[2] < told[0]
    assert told[-1] == pytest.approx(3377, abs=1)


def test_the_law_reaches_further():
    told = numbers(dd.draw_extrapolation()[1])
    inside, beyond, law_inside, law_beyond = told[:4]
    assert inside < 0.1 > law_inside and beyond > 5 * law_beyond


def test_every_threshold_is_named():
    _, words = dd.draw_threshold([0.0, 0.2, 0.7], [10, 30, 60])
    assert "from p = 60 on" in words


def test_only_the_minimum_norm_has_the_peak():
    told = re.findall(r"(\d[\d ]*steps|minimum norm) ([\d.e+-]+\d)", dd.draw_stopped()[1])
    errors = {name: float(value) for name, value in told}
    assert errors.pop("minimum norm") > 1e6
    assert len(errors) == 3 and max(errors.values()) < 0.1


def test_the_training_error_is_0_from_19_knots_on():
    words = dd.draw_curves(sigmas=(0.0, 0.3), counts=(6, 17, 18, 19, 20, 40), seeds=3)[1]
    assert words.endswith("Training error 0 from p = 19 on.")


# ---------------------------------------------------------------- controls


def test_any_constant_keeps_the_points_and_moves_the_rest():
    widget = Explorer(
        dd.draw_interpolants,
        dict(
            kind=Dropdown(value="polynomial", options=["polynomial", "radial", "broken line"]),
            c=FloatSlider(0, min=-1000, max=1000),
        ),
    )
    rest = numbers(widget.words)[-1]
    widget.controls["c"].value = 800
    moved = numbers(widget.words)
    product = np.prod(0.9 - dd.POINTS)
    assert moved[-1] - rest == pytest.approx(800 * product, abs=0.011)
    assert "data points 0.0" in widget.words
    widget.controls["kind"].value = "broken line"
    assert numbers(widget.words)[-1] == pytest.approx(0.2 + 800 * product, abs=0.006)


def test_equal_inputs_cannot_be_interpolated():
    with pytest.raises(ValueError, match="two inputs are equal"):
        dd.interpolant([0.0, 1.0, 1.0], [1.0, 2.0, 3.0], 0)


def test_more_knots_follow_the_wiggles():
    widget = Explorer(dd.draw_knot_count, dict(p=IntSlider(3, min=0, max=45)))
    few = numbers(widget.words)
    assert few[:3] == [3, 4, 40] and few[3] < few[4]
    widget.controls["p"].value = 15
    assert numbers(widget.words)[3] < few[3] / 5
    widget.controls["p"].value = 0
    (_, y) = dd.wiggly()
    assert numbers(widget.words)[3] == pytest.approx(y.var(), abs=5e-4)


def test_slopes_are_running_sums_of_their_changes():
    slope = dict(min=-4.0, max=4.0, step=0.1)
    widget = Explorer(
        dd.draw_hinges,
        dict(
            beta1=FloatSlider(1.0, **slope),
            beta2=FloatSlider(-2.0, **slope),
            beta3=FloatSlider(0.5, **slope),
            fitted=Checkbox(False),
        ),
    )
    told = numbers(widget.words)
    assert told[:3] == [1.0, -2.0, 0.5] and told[3:7] == [0.0, 1.0, -1.0, -0.5]
    widget.controls["fitted"].value = True
    best = numbers(widget.words)
    assert best[-1] < told[-1] and best[-1] < 0.03
    widget.controls["beta1"].value = 3.0  # the box is ticked: sliders are ignored
    assert numbers(widget.words) == best


def test_a_null_space_vector_costs_norm_and_no_error():
    widget = Explorer(
        dd.draw_memory,
        dict(
            p=SelectionSlider(value=40, options=[12, 40, 200]),
            scale=FloatSlider(0, min=-40, max=40),
        ),
    )
    p, n, error, least, same, apart = numbers(widget.words)
    assert (p, n, error, apart) == (40, 8, 0, 0) and least == same
    widget.controls["scale"].value = 20
    _, _, error, least, larger, apart = numbers(widget.words)
    assert error == 0 and larger == pytest.approx(np.hypot(least, 20), abs=0.02) and apart > 0.3


@pytest.fixture
def explorer():
    return Explorer(
        dd.draw_explorer,
        dict(
            p=SelectionSlider(value=19, options=dd.COUNTS),
            sigma=FloatSlider(0.1, min=0, max=0.5),
            inputs=Dropdown(value="grid", options=["grid", "random"]),
            steps=SelectionSlider(value=0, options=[100, 10_000, 0]),
        ),
    )


def read(widget):
    """training, excess, highest, where, lowest, where."""
    return numbers(widget.words.split(": ", 1)[1])


def test_the_peak_is_at_19_knots_and_the_fit_is_perfect_from_there(explorer):
    training, excess, highest, peak, *_ = read(explorer)
    assert training == 0 and peak == 19 and excess == highest > 1e6
    explorer.controls["p"].value = 18
    assert read(explorer)[0] > 1e-4 and read(explorer)[1] < 0.05
    explorer.controls["p"].value = 1000
    assert read(explorer)[0] == 0 and read(explorer)[1] < 0.02


def test_without_noise_the_peak_stays_and_the_largest_model_wins(explorer):
    explorer.controls["sigma"].value = 0.0
    *_, highest, peak, lowest, best = read(explorer)
    assert peak == 19 and highest > 1e6 and best == 1000 and lowest < 2e-4


def test_with_much_noise_a_classical_model_wins(explorer):
    explorer.controls["sigma"].value = 0.5
    assert read(explorer)[-1] < 12


def test_ten_thousand_steps_hide_the_peak(explorer):
    explorer.controls["steps"].value = 10_000
    training, excess, *_ = read(explorer)
    assert excess < 0.05 and training > 1e-4


def test_random_inputs_need_more_knots_to_be_met(explorer):
    explorer.controls["inputs"].value = "random"
    assert read(explorer)[0] > 1e-5
    explorer.controls["p"].value = 1000
    assert read(explorer)[0] == 0


def test_circles_come_nearer_and_eleven_are_enough():
    def fit(points, N):
        k = np.array([(i + 1) // 2 * (1 if i % 2 else -1) for i in range(N)])
        E = np.exp(2j * np.pi * np.outer(np.arange(len(points)), k) / len(points))
        curve = E @ (E.conj().T @ (points @ np.array([1, 1j]))) / len(points)
        return np.column_stack([curve.real, curve.imag])

    widget = Explorer(
        dd.epicycle_explorer(fit),
        dict(N=IntSlider(5, min=1, max=15), moment=FloatSlider(0.0, min=0, max=1)),
    )
    five = numbers(widget.words)
    assert five == [5, pytest.approx(14.83, abs=0.02)]
    widget.controls["N"].value = 11
    assert numbers(widget.words) == [11, 0]
    widget.controls["moment"].value = 0.5
    assert numbers(widget.words) == [11, 0]


def test_natural_splines_bend_less_than_clamped_ones():
    x = dd.grid()
    natural = CubicSpline(x, dd.sine(x), bc_type="natural")
    clamped = dd.clamped_spline(x, dd.sine(x))
    assert dd.bending(x, natural(x, 2)) < dd.bending(x, clamped(x, 2)) / 3

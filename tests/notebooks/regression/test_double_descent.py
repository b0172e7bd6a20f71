"""Double descent references against scikit-learn, SciPy, loops and closed forms; what the notebook draws and tells."""

import numpy as np
import pytest
import torch
from scipy.interpolate import CubicSpline
from sklearn.linear_model import LinearRegression

from descent import data
from descent.pictures.regression import double_descent as dd
from solutions import notebook_module
from tests.notebooks.controls import explorer

NOTEBOOK = "01_regression/05_double_descent"
ref = notebook_module(NOTEBOOK, "reference")
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def jittered(*batch, n, seed=0):
    """Increasing inputs, one near the middle of each of n equal slots of [0, 1]."""
    u = np.random.default_rng(seed).uniform(0.4, 0.6, (*batch, n))
    return torch.from_numpy((np.arange(n) + u) / n)


# ---------------------------------------------------------------- references


@BATCHES
def test_the_spline_is_the_broken_line_through_its_knots(batch):
    beta, b = normal(*batch, 3), torch.tensor([0.5, 1.0, 2.0]).double()
    x = torch.linspace(-1, 4, 11).double().expand(*batch, 11)
    got = ref.spline_values(0.3, beta, b.expand(*batch, 3), x)
    nodes = np.array([-1.0, 0.5, 1.0, 2.0, 4.0])
    for row, values in zip(beta.reshape(-1, 3).numpy(), got.reshape(-1, 11), strict=True):
        slopes = np.append(0, np.cumsum(row))
        heights = 0.3 + np.append(0, np.cumsum(slopes * np.diff(nodes)))
        np.testing.assert_allclose(values, np.interp(np.linspace(-1, 4, 11), nodes, heights))


def test_the_sweep_is_scikit_learns_linear_regression():
    """LinearRegression centres and takes the solution of least norm, so its intercept is free too."""
    x, new = jittered(n=7), jittered(n=5, seed=1)
    y, new_y = 3 + normal(7), 3 + normal(5, seed=2)
    ps = [1, 4, 6, 7, 30]
    for p, *got in zip(ps, *ref.knot_sweep(x, y, new, new_y, ps), strict=True):
        F, G = (
            np.maximum(0, v[:, None] - np.arange(1, p + 1) / (p + 1))
            for v in (x.numpy(), new.numpy())
        )
        model = LinearRegression(tol=1e-12).fit(F, y)
        expected = [np.mean((model.predict(u) - v.numpy()) ** 2) for u, v in ((F, y), (G, new_y))]
        expected.append((p + 1) * np.sum(model.coef_**2))
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)


def test_the_peak_sits_one_below_the_number_of_rows():
    n = 10
    x, t = torch.linspace(0, 1, n).double(), torch.linspace(0, 1, 201).double()
    y = torch.sin(2 * torch.pi * x) + 0.1 * normal(n)
    ps = [*range(5, 15), 200]
    train, test, bending = ref.knot_sweep(x, y, t, torch.sin(2 * torch.pi * t), ps)
    assert ps[int(test.argmax())] == ps[int(bending.argmax())] == n - 1
    assert train[:4].min() > 1e-6 and train[4:].max() < 1e-9
    assert test[-1] < test.max() / 100


@BATCHES
def test_the_walk_meets_every_point(batch):
    x = torch.arange(6) + 0.3 * normal(*batch, 6).tanh()
    y = normal(*batch, 6, seed=1)
    b = x[..., :-1] + 0.4 * x.diff(dim=-1)
    heights, slopes = ref.broken_line(x, y, b)
    torch.testing.assert_close(heights[..., 0], y[..., 0])
    torch.testing.assert_close(heights + slopes * (x[..., 1:] - b), y[..., 1:])
    torch.testing.assert_close(
        heights[..., 1:], (heights + slopes * b.diff(dim=-1, append=b[..., -1:]))[..., :-1]
    )


def test_descent_ends_at_pinv_plus_the_unseen_part():
    X, y, start = normal(3, 6), normal(3, seed=1), normal(6, seed=2)
    beta, steps, length = ref.descent(X, y, start, 1e-24, 10_000)
    expected = torch.linalg.pinv(X) @ y + ref.unseen_part(start, X)
    torch.testing.assert_close(beta, expected, rtol=1e-9, atol=1e-9)
    assert 0 < steps < 10_000 and length > (beta - start).norm()


@BATCHES
def test_the_cost_is_that_of_a_loop(batch):
    eigs = normal(*batch, 8).square().square()
    for n in (1, 2, 4, 8):
        at, cost = ref.tail_cost(eigs, n)
        for row, k, value in zip(
            eigs.reshape(-1, 8), at.reshape(-1), cost.reshape(-1), strict=True
        ):
            tails = [np.sort(row.numpy())[::-1][i:] for i in range(8)]
            long = [i for i, tail in enumerate(tails) if tail.sum() / tail[0] >= n]
            assert k == (long[0] if long else 8)
            tail = tails[k] if long else [0]
            expected = k / n + n * np.sum(tail**2) / tail.sum() ** 2 if long else np.inf
            assert value.item() == pytest.approx(float(expected))


@pytest.mark.parametrize("m, N", [(7, 3), (6, 4), (5, 5), (6, 6), (4, 1)])
def test_circles_are_the_least_squares_fit(m, N):
    points = normal(m, 2)
    k = np.array([0, 1, -1, 2, -2, 3, -3])[:N]
    E = np.exp(2j * np.pi * np.outer(np.arange(m), k) / m)
    curve = E @ np.linalg.lstsq(E, points.numpy() @ np.array([1, 1j]), rcond=None)[0]
    np.testing.assert_allclose(
        ref.low_frequencies(points, N), np.column_stack([curve.real, curve.imag])
    )


# ---------------------------------------------------------------- what the pictures compute


@pytest.mark.parametrize("p", [1, 5, 9, 10, 60])
def test_the_operator_is_scikit_learns_fit(p, rng):
    x, t = dd.grid(10), np.linspace(0, 1, 7)
    y = 5 + rng.normal(size=10)
    model = LinearRegression(tol=1e-12).fit(dd.hinges(x, p), y)
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


def test_expected_errors_are_the_means_of_many_fits():
    targets = dd.sine(dd.grid()) + 0.3 * np.random.default_rng(0).normal(size=(4000, 20))
    t = np.linspace(0, 1, 401)
    train, off = dd.expected_errors((6, 40), 0.3)
    for p, *expected in zip((6, 40), train, off, strict=True):
        x = dd.grid()
        got = np.mean((targets @ dd.fit_operator(x, x, p).T - targets) ** 2)
        new = np.mean((targets @ dd.fit_operator(x, t, p).T - dd.sine(t)) ** 2)
        assert [got, new] == pytest.approx(expected, rel=0.03, abs=1e-9)


def test_the_numbers_that_the_notebook_tells():
    """Off the truth on average over all noise, n = 20 on a grid."""
    told = {0.1: {12: 0.0097, 17: 0.0122, 1000: 0.0088}, 0.3: {6: 0.046, 17: 0.101, 1000: 0.078}}
    for sigma, at in told.items():
        off = dd.expected_errors(dd.COUNTS, sigma)[1]
        assert dd.COUNTS[int(off[:13].argmin())] == list(at)[0] and dd.COUNTS[12] == 17
        for p, value in at.items():
            assert off[dd.COUNTS.index(p)] == pytest.approx(value, abs=6e-4 if p > 9 else 5e-4)
    x, y = dd.rows(0.3)
    t, ps = torch.linspace(0, 1, 1001).double(), [6, 17, 19, 1000]
    _, off, _ = ref.knot_sweep(torch.tensor(x), torch.tensor(y), t, torch.sin(2 * torch.pi * t), ps)
    np.testing.assert_allclose(off, [0.038, 0.070, 2.6e7, 0.058], rtol=0.02)


def test_the_clamped_spline_bends_least_among_those_that_start_flat(rng):
    x, y = dd.grid(6), rng.normal(size=6)
    spline, t = dd.clamped_spline(x, y), np.linspace(0, 1, 20_001)
    assert np.allclose(spline(x), y) and abs(spline(0.0, 1)) < 1e-12
    assert dd.bending(x, spline(x, 2)) == pytest.approx(np.mean(spline(t, 2) ** 2), rel=1e-3)
    wiggle = dd.clamped_spline(np.linspace(0, 1, 16), np.where(np.arange(16) % 3, 0.1, 0.0))
    assert np.mean((spline(t, 2) + wiggle(t, 2)) ** 2) > dd.bending(x, spline(x, 2))
    natural = CubicSpline(x, y, bc_type="natural")
    assert dd.bending(x, natural(x, 2)) < dd.bending(x, spline(x, 2))


def test_the_spline_constant_is_that_of_the_cardinal_spline():
    w = np.linspace(1e-9, 60 * np.pi, 600_001)
    cardinal = np.sinc(w / (2 * np.pi)) ** 4 / ((2 + np.cos(w)) / 3)
    limit = np.trapezoid(cardinal**2, w) / np.pi
    assert dd.spline_excess(160) == pytest.approx(limit, abs=0.002)


def test_a_line_has_no_gap_and_a_sine_has(rng):
    x = np.sort(rng.uniform(-1, 1, 80))
    error = 0.2 * rng.normal(size=80)
    assert (
        abs(dd.linearity_gap(x, 2 * x + error)[1])
        < 0.02
        < 0.4
        < dd.linearity_gap(x, np.sin(4 * x) + error)[1]
    )


@pytest.mark.parametrize("N", [1, 4, 9])
def test_the_pen_is_at_the_end_of_the_arms(N):
    points = dd.elephant(20)
    curve = ref.low_frequencies(torch.from_numpy(points), N).numpy()
    centres = dd.circles(points, N, 3 / 20)
    assert len(centres) == N + 1 and centres[-1] == pytest.approx(curve[3] @ np.array([1, 1j]))


# ---------------------------------------------------------------- what it draws


def test_dragging_the_knots_finds_valley_peak_and_second_descent():
    widget = explorer(NOTEBOOK, "knots_explorer", p=19)
    assert widget.words.facts["off"] > 1e7 and widget.words.facts["train"] == 0
    assert widget.words.facts["best"] == 6
    widget = explorer(NOTEBOOK, "knots_explorer", p=1000, sigma=0.1)
    assert widget.words.facts["last"] < widget.words.facts["low"]
    widget = explorer(NOTEBOOK, "knots_explorer", p=1000, sigma=0.3)
    assert widget.words.facts["last"] > 1.5 * widget.words.facts["low"]


def test_pulling_costs_bending_and_no_error():
    facts = explorer(NOTEBOOK, "draw_pull", where=0.3, height=-1).words.facts
    assert facts["missed"] < 1e-6 and facts["pulled"] > 5 * facts["free"]


@pytest.mark.parametrize("kind", ["polynomial", "radial", "broken line"])
def test_any_constant_keeps_the_points_and_moves_the_rest(kind):
    rest = explorer(NOTEBOOK, "draw_interpolants", kind=kind, c=0).words.facts
    moved = explorer(NOTEBOOK, "draw_interpolants", kind=kind, c=800).words.facts
    assert moved["error"] < 1e-9
    assert moved["between"] - rest["between"] == pytest.approx(800 * np.prod(0.9 - dd.POINTS))


def test_eleven_circles_draw_the_elephant():
    errors = [explorer(NOTEBOOK, "epicycle", N=N).words.facts["error"] for N in (5, 10, 11)]
    assert errors[0] > errors[1] > 1 and errors[2] < 1e-6


def test_digits_descend_twice_and_ridge_has_no_peak():
    facts = dd.draw_digits(data.digits().X / 16, data.digits().y, (80, 200, 1000), seeds=1)[1].facts
    assert facts["where"] == 200 and facts["last"] < facts["first"] < facts["peak"] / 3
    assert facts["worst"] < facts["first"]


def test_the_law_reaches_further():
    facts = dd.draw_extrapolation()[1].facts
    assert max(facts["spline"][0], facts["law"][0]) < 0.1
    assert facts["spline"][1] > 5 * facts["law"][1]

"""Ridge, lasso, prior and early-stopping references against scikit-learn, SciPy, torch and brute force."""

import numpy as np
import pytest
import torch
from scipy import integrate, stats
from scipy.optimize import minimize
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.regression.linear_model import OLS

from descent import data
from descent.pictures.regression import ridge_and_lasso as rl
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "01_regression/03_ridge_and_lasso"
ref = notebook_module(NOTEBOOK, "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
SHAPES = pytest.mark.parametrize("n, d", [(9, 3), (3, 6), (4, 4), (1, 2)])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-3, atol=2e-4)
    return dict(rtol=1e-8, atol=1e-10)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def each(X, y):
    """The problems of a batch as NumPy arrays in float64."""
    X, y = X.double().numpy(), y.double().numpy()
    yield from zip(X.reshape(-1, *X.shape[-2:]), y.reshape(-1, y.shape[-1]), strict=True)


def stack(rows, like):
    return torch.from_numpy(np.array(rows)).reshape(like.shape).to(like.dtype)


# ---------------------------------------------------------------- ridge


def test_ridge_without_penalty_is_least_squares():
    X, y = normal(10, 3), normal(10, seed=1) + 4
    w, b = ref.ridge_with_offset(X, y, 0.0)
    fitted = OLS(y.numpy(), np.column_stack([np.ones(10), X.numpy()])).fit().params
    np.testing.assert_allclose(np.append(b, w), fitted, rtol=1e-9)


def test_ridge_offset_takes_every_shift():
    X, y = normal(8, 3), normal(8, seed=1)
    w, b = ref.ridge_with_offset(X, y, 2.0)
    shifted, moved = ref.ridge_with_offset(X + 10, y + 100, 2.0)
    torch.testing.assert_close(shifted, w)
    torch.testing.assert_close(moved, b + 100 - 10 * w.sum())


@DTYPES
@BATCHES
@SHAPES
def test_path_is_scikit_learns_and_the_minimum_norm_at_zero(batch, n, d, dtype):
    X, y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    lams = torch.tensor([0.0, 0.3, 5.0], dtype=dtype)
    path = ref.ridge_path(X, y, lams)
    expected = [
        [np.linalg.pinv(A) @ t]
        + [Ridge(lam, fit_intercept=False, solver="svd").fit(A, t).coef_ for lam in (0.3, 5.0)]
        for A, t in each(X, y)
    ]
    assert path.shape == (*batch, 3, d) and path.dtype == dtype
    loose = dict(rtol=2e-2, atol=2e-3) if dtype == torch.float32 else dict(rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(path, stack(expected, path), **loose)


def test_path_with_twin_columns_shares_between_them():
    X, y = normal(7, 2), normal(7, seed=1)
    X = torch.cat([X, X[:, :1]], -1)
    path = ref.ridge_path(X, y, torch.tensor([0.0, 1.0], dtype=torch.float64))
    torch.testing.assert_close(path[:, 0], path[:, 2])
    np.testing.assert_allclose(path[0], np.linalg.pinv(X.numpy()) @ y.numpy(), rtol=1e-8)


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_path_shrinks_each_direction_by_its_factor(lam):
    X, y = normal(9, 4), normal(9, seed=1)
    U, s, Vt = np.linalg.svd(X.numpy(), full_matrices=False)
    w = ref.ridge_path(X, y, torch.tensor([lam], dtype=torch.float64))[0].numpy()
    free = np.linalg.lstsq(X.numpy(), y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(Vt @ w, s**2 / (s**2 + lam) * (Vt @ free), rtol=1e-9)


@pytest.mark.parametrize(
    "share, seen", [(0.0, False), (0.5e-10, False), (1e-10, False), (1.1e-10, True)]
)
@pytest.mark.parametrize("lam", [0.0, 1e-22])
def test_a_direction_counts_above_a_ten_billionth_of_the_largest(share, seen, lam):
    X = torch.diag(torch.tensor([share, 1.0], dtype=torch.float64))
    path = ref.ridge_path(X, torch.ones(2).double(), torch.tensor([lam], dtype=torch.float64))
    assert path[0, 1] == pytest.approx(1)
    assert path[0, 0] == (pytest.approx(share / (share**2 + lam)) if seen else 0)


@DTYPES
@BATCHES
@SHAPES
@pytest.mark.parametrize("lam", [0.2, 30.0])
def test_dual_equals_primal(batch, n, d, lam, dtype):
    X, y = normal(*batch, n, d, dtype=dtype), normal(*batch, n, dtype=dtype, seed=1)
    alpha = ref.dual_weights(X, y, lam)
    w = (X.mT @ alpha.unsqueeze(-1)).squeeze(-1)
    expected = [
        Ridge(lam, fit_intercept=False, solver="cholesky").fit(A, t).coef_ for A, t in each(X, y)
    ]
    assert alpha.shape == y.shape and alpha.dtype == dtype
    torch.testing.assert_close(w, stack(expected, w), **tolerance(dtype))
    residual = y - (X @ w.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(alpha * lam, residual, **tolerance(dtype))


# ---------------------------------------------------------------- priors


@DTYPES
@BATCHES
@pytest.mark.parametrize("prior", ["flat", "gaussian", "laplace"])
def test_posterior_is_the_product_of_scipys_densities(batch, prior, dtype):
    X, y = normal(*batch, 6, 3, dtype=dtype), normal(*batch, 6, dtype=dtype, seed=1)
    w, b = normal(*batch, 3, dtype=dtype, seed=2), normal(*batch, dtype=dtype, seed=3)
    got = ref.negative_log_posterior(w, b, X, y, 0.7, prior, 1.8)
    law = {"gaussian": stats.norm(scale=1.8), "laplace": stats.laplace(scale=1.8 / np.sqrt(2))}
    expected = []
    for (A, t), v, c in zip(each(X, y), w.reshape(-1, 3).double(), b.reshape(-1), strict=True):
        value = -stats.norm.logpdf(t, A @ v.numpy() + c.item(), 0.7).sum()
        expected.append(value - (law[prior].logpdf(v.numpy()).sum() if prior in law else 0))
    assert got.shape == batch and got.dtype == dtype
    torch.testing.assert_close(got, stack(expected, got), **tolerance(dtype))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_both_priors_have_the_standard_deviation_asked_for(prior):
    empty = torch.zeros(0, 1, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)

    def density(v):
        w = torch.tensor([v], dtype=torch.float64)
        return np.exp(-ref.negative_log_posterior(w, 0.0, *empty, 1.0, prior, 0.6).item())

    total, variance = (
        2 * integrate.quad(lambda v, k=k: v**k * density(v), 0, 30, limit=200, points=[0.5, 2])[0]
        for k in (0, 2)
    )
    assert total == pytest.approx(1) and variance == pytest.approx(0.36)


def test_offset_has_a_flat_prior():
    X, y, w = normal(6, 2), normal(6, seed=1), normal(2, seed=2)
    values = [ref.negative_log_posterior(w, c, X, y + c, 0.7, "gaussian", 1.0) for c in (0.0, 50.0)]
    torch.testing.assert_close(*values)


@pytest.mark.parametrize("prior, model", [("gaussian", Ridge), ("laplace", Lasso)])
def test_posterior_mode_is_scikit_learns_fit(prior, model, rng):
    X = rng.normal(size=(20, 3))
    y = X @ [2.0, -1.0, 0.5] + 3 + rng.normal(size=20)
    lam = ref.prior_to_lambda(1.2, prior, 0.9)
    fit = model(lam / (20 if model is Lasso else 1), tol=1e-12).fit(X, y)

    def objective(v):
        return ref.negative_log_posterior(
            torch.from_numpy(v[:3]), v[3], torch.from_numpy(X), torch.from_numpy(y), 1.2, prior, 0.9
        ).item()

    found = minimize(
        objective, np.append(fit.coef_, fit.intercept_) + 0.1, method="Nelder-Mead",
        options=dict(xatol=1e-9, fatol=1e-13, maxiter=20_000, maxfev=20_000, adaptive=True),
    )  # fmt: skip
    np.testing.assert_allclose(found.x, np.append(fit.coef_, fit.intercept_), atol=1e-4)


def test_a_flat_prior_is_maximum_likelihood(rng):
    X, y = rng.normal(size=(15, 2)), rng.normal(size=15)
    fit = LinearRegression().fit(X, y)
    w = torch.tensor(fit.coef_, requires_grad=True)
    b = torch.tensor(fit.intercept_, requires_grad=True)
    arguments = torch.from_numpy(X), torch.from_numpy(y), 0.8, "flat", 1.0
    ref.negative_log_posterior(w, b, *arguments).backward()
    assert w.grad.abs().max() < 1e-10 and b.grad.abs() < 1e-10


# ---------------------------------------------------------------- the lasso


def test_soft_threshold_minimises():
    grid = torch.linspace(-4, 4, 80_001, dtype=torch.float64)
    for a in (-3.0, -0.2, 0.0, 1.0, 2.5):
        best = grid[(0.5 * (grid - a).square() + grid.abs()).argmin()]
        got = ref.soft_threshold(torch.tensor([a], dtype=torch.float64), 1.0)[0]
        assert abs(best - got) < 1e-4 + 1e-12


def test_the_soft_threshold_of_whole_numbers_is_none():
    assert ref.soft_threshold(torch.tensor([3, -1, 0]), 0.5).tolist() == [2.5, -0.5, 0.0]


@DTYPES
@BATCHES
@pytest.mark.parametrize("lam", [0.05, 1.0, 4.0])
def test_lasso_is_scikit_learns_to_six_digits(batch, lam, dtype):
    X, y = normal(*batch, 12, 4, dtype=dtype), normal(*batch, 12, dtype=dtype, seed=1) * 2
    w = ref.lasso_sweeps(X, y, lam, 200)
    expected = [
        Lasso(lam / 12, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(A, t).coef_
        for A, t in each(X, y)
    ]
    assert w.dtype == dtype
    bound = dict(rtol=0, atol=1e-6 if dtype == torch.float64 else 2e-4)
    torch.testing.assert_close(w, stack(expected, w), **bound)


def test_one_sweep_is_one_minimisation_a_coordinate():
    X, y, w = normal(8, 3), normal(8, seed=1) * 2, np.zeros(3)
    grid = np.linspace(-3, 3, 60_001)
    for j in range(3):
        rest = (y.numpy() - X.numpy() @ w + X.numpy()[:, j] * w[j])[:, None]
        costs = 0.5 * ((rest - X.numpy()[:, j, None] * grid) ** 2).sum(0) + 0.6 * np.abs(grid)
        w[j] = grid[costs.argmin()]
    np.testing.assert_allclose(ref.lasso_sweeps(X, y, 0.6, 1), w, atol=1.1e-4)


def test_sweeps_never_raise_the_objective():
    X, y = normal(10, 5), normal(10, seed=1)
    path = [ref.lasso_sweeps(X, y, 0.8, k) for k in range(12)]
    values = [0.5 * (y - X @ w).square().sum() + 0.8 * w.abs().sum() for w in path]
    assert all(b <= a + 1e-12 for a, b in zip(values, values[1:], strict=False))


@pytest.mark.parametrize("tol", [1e-1, 1e-4])
def test_sweeps_end_with_the_first_that_moves_no_weight_by_more_than_tol(tol):
    X, y = normal(10, 5), normal(10, seed=1)
    w, made = ref.lasso_until(X, y, 0.3, tol, 500)
    path = [ref.lasso_sweeps(X, y, 0.3, k) for k in range(made + 1)]
    moves = [(b - a).abs().max() for a, b in zip(path, path[1:], strict=False)]
    assert 1 < made < 500 and moves[-1] <= tol < min(moves[:-1])
    torch.testing.assert_close(w, path[-1])
    assert ref.lasso_until(X, y, 0.3, 0.0, 2)[1] == 2 and ref.lasso_until(X, y, 0.3, 0.0, 0)[1] == 0


def test_the_gap_vanishes_at_a_minimum_and_only_there():
    X, y = normal(10, 5), normal(10, seed=1)
    w = ref.lasso_sweeps(X, y, 0.8, 500)
    assert ref.lasso_gap(X, y, w, 0.8) < 1e-10 < ref.lasso_gap(X, y, w + 0.01, 0.8)
    assert (w == 0).any() and (w != 0).any()
    largest = (X.mT @ y).abs().max()
    nothing = torch.zeros(5, dtype=torch.float64)
    assert ref.lasso_gap(X, y, nothing, 1.001 * largest) == 0
    assert ref.lasso_gap(X, y, nothing, 0.999 * largest) > 0


def test_a_column_of_zeros_keeps_weight_zero():
    X = normal(6, 3) * torch.tensor([1.0, 0.0, 1.0])
    assert ref.lasso_sweeps(X, normal(6, seed=1), 0.1, 5)[1] == 0


# ---------------------------------------------------------------- the choice of a penalty


def test_the_chosen_penalty_is_that_of_scikit_learns_grid_search(rng):
    X, y = rng.normal(2, 3, (30, 4)), rng.normal(5, 2, 30)
    y, order, lams = y + X[:, 0], rng.permutation(30), [3.0, 300.0, 0.1, 30.0]
    train, valid = order[:20], order[20:]
    pipes = [make_pipeline(StandardScaler(), Ridge(lam)) for lam in lams]
    scale = y[train].std()
    errors = [
        np.mean(((pipe.fit(X[train], y[train]).predict(X[valid]) - y[valid]) / scale) ** 2)
        for pipe in pipes
    ]
    got = ref.best_penalty(*map(torch.as_tensor, (X, y, train, valid, np.array(lams))), "ridge")
    k = int(np.argmin(errors))
    assert got[0] == lams[k] and got[2] == pytest.approx(errors[k])
    np.testing.assert_allclose(got[1], pipes[k][1].coef_ / scale)


def test_of_equal_errors_the_largest_penalty_is_chosen():
    X, y = normal(12, 2), normal(12, seed=1)
    rows = torch.arange(6), torch.arange(6, 12)
    lams = torch.tensor([50.0, 90.0, 70.0]).double()
    lam, w, _ = ref.best_penalty(X, y, *rows, lams, "threshold")
    assert lam == 90 and not w.any()


# ---------------------------------------------------------------- early stopping


def literal_rule(losses, patience, min_delta):
    """The rule by its words: for each epoch look back at everything again."""
    for epoch in range(len(losses)):
        improving = [0]
        for e in range(1, epoch + 1):
            if losses[e] < losses[improving[-1]] - min_delta:
                improving.append(e)
        if epoch - improving[-1] >= patience:
            return epoch, improving[-1]
    return epoch, improving[-1]


@DTYPES
@pytest.mark.parametrize("patience", [1, 2, 5, 40])
@pytest.mark.parametrize("min_delta", [0.0, 0.25])
def test_early_stopping_by_the_words_of_the_rule(patience, min_delta, dtype, rng):
    losses = rng.integers(0, 40, (50, 30)) / 8 + np.linspace(5, 0, 30).round()  # exact, with ties
    losses[:10, 5:7] = np.nan
    batch = torch.from_numpy(losses).to(dtype).reshape(5, 10, 30)
    stop, best = ref.early_stopping(batch, patience, min_delta)
    assert stop.shape == (5, 10) and stop.dtype == best.dtype == torch.long
    expected = [literal_rule(row, patience, min_delta) for row in losses]
    pairs = zip(stop.reshape(-1).tolist(), best.reshape(-1).tolist(), strict=True)
    assert list(pairs) == expected


# ------------------------------------------------------------ what it draws


def soft(a, lam):
    return np.sign(a) * np.maximum(np.abs(a) - lam, 0)


def told(text, **moved):
    """The facts that the notebook's own explorer tells with these controls."""
    return controls.explorer(NOTEBOOK, text, **moved).words.facts


def test_hinges_bend_at_their_knots():
    assert rl.even_knots(3, 0, 4).tolist() == [1, 2, 3]
    assert rl.hinges([0.0, 1.5, 3.0], [1, 2]).tolist() == [[0, 0], [0.5, 0], [2, 1]]


def test_products_hold_every_pair_once_and_names_agree():
    X = np.array([[1.0, 2.0, 0.0], [3.0, 5.0, 1.0], [4.0, 7.0, 1.0]])
    table, names = rl.products(X), rl.product_names(X, "abc")
    assert names == ["a", "b", "c", "a²", "a·b", "a·c", "b²", "b·c"]  # c² is c again
    assert table[1].tolist() == [3, 5, 1, 9, 15, 3, 25, 5]
    assert rl.products(data.diabetes().X).shape == (442, 64)


def test_standardising_uses_the_given_rows_alone(rng):
    X, y = rng.normal(2, 3, (20, 2)), rng.normal(5, 2, 20)
    A, b = rl.standardised(X, y, np.arange(8))
    np.testing.assert_allclose(A[:8].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(A[:8].std(0), 1)
    assert b[:8].std() == pytest.approx(1) and abs(b.mean()) > 1e-3


def test_the_first_screen_holds():
    table = data.diabetes()
    train, _, test = np.split(np.random.default_rng(0).permutation(442), [150, 250])
    _, words = rl.draw_opening(rl.products(table.X), table.y, train, test)
    facts = words.facts
    assert facts["patients"] == 192
    assert (round(facts["free"], 2), round(facts["held"], 2)) == (2.76, 0.52)
    assert facts["mean"] == pytest.approx(1, abs=0.05)
    model = LinearRegression().fit(rl.products(table.X)[train], table.y[train])
    assert model.score(rl.products(table.X)[train], table.y[train]) == pytest.approx(
        0.73, abs=0.005
    )


def test_kelvin_moves_a_slope_only_where_the_offset_is_penalised(rng):
    changes = rl.kelvin_changes()
    x = np.random.default_rng(1).uniform(1, 2, 30)
    A = np.column_stack([np.ones(30), x])
    y = rng.normal(size=30)
    slopes = [Ridge(2.0, fit_intercept=False).fit(A, t).coef_[1] for t in (y, y + 273)]
    assert changes["penalised"] == pytest.approx(slopes[1] - slopes[0])
    assert changes["free"] == pytest.approx(0, abs=1e-9)


def test_two_fits_have_no_error_and_the_penalised_one_is_nearer():
    facts = rl.draw_zero_error()[1].facts
    assert max(facts["train"][:2]) < 1e-12 < facts["train"][2]
    assert facts["test"][0] > facts["test"][1] > facts["test"][2]


@pytest.mark.parametrize("lam", [0.01, 10.0, 1e4])
def test_the_ridge_path_tells_scikit_learns_numbers(lam):
    facts = told("ridge_explorer", lam=lam)
    table, train = data.diabetes(), np.random.default_rng(0).permutation(442)[:60]
    X, y = rl.standardised(table.X, table.y, train)
    rest = np.setdiff1d(np.arange(442), train)
    w = Ridge(lam, fit_intercept=False).fit(X[train], y[train]).coef_
    assert facts["lam"] == pytest.approx(lam)
    assert facts["norm"] == pytest.approx(np.linalg.norm(w))
    gram = X[train].T @ X[train] + lam * np.eye(10)
    assert facts["condition"] == pytest.approx(np.linalg.cond(gram))
    for name, rows in (("train", train), ("fresh", rest)):
        assert facts[name] == pytest.approx(np.mean((X[rows] @ w - y[rows]) ** 2))


@pytest.mark.parametrize("lam", [1.0, 100.0, 1000.0])
def test_the_two_paths_tell_which_weights_the_lasso_keeps(lam):
    facts = told("two_paths_explorer", lam=lam)
    table = data.diabetes()
    X, y = rl.standardised(table.X, table.y, slice(None))
    model = Lasso(lam / 442, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    kept = [name for name, w in zip(table.names, model.coef_, strict=True) if w != 0]
    assert facts["inside"] == (kept or ["none"]) and facts["used"] == len(kept)
    assert facts["zeros"] == 0


def test_fake_points_pull_the_slope_down():
    weak, strong = (rl.draw_fake_points(lam=lam)[1].facts for lam in (1.0, 50.0))
    assert weak["plain"] == strong["plain"]
    assert 0 < strong["held"] < weak["held"] < weak["plain"]
    assert strong["edge"] == pytest.approx(50**0.5)


def test_cost_crosses_at_as_many_rows_as_features():
    for n, d in ((3, 50), (49, 50), (51, 50), (4000, 50)):
        cost = rl.training_cost(n, d)
        assert (cost["primal"] < cost["dual"]) == (d < n)
    assert rl.training_cost(2, 3) == {"primal": 2 * 9 + 27 / 3, "dual": 4 * 3 + 8 / 3}
    assert rl.draw_cost(30)[1].facts == {"d": 30, "last": 29, "first": 31}
    assert rl.gene_ratio(2, 3) == pytest.approx(27 / (12 + 8 / 3))


# ---------------------------------------------------------------- penalties


@pytest.mark.parametrize("lam", [0.0, 0.7, 2.0])
def test_shrinking_is_the_soft_threshold_and_ridges_factor(lam):
    a = np.array([-3.0, -0.5, 0.0, 0.9, 2.5])
    np.testing.assert_allclose(rl.shrink(a, lam, 1.0), soft(a, lam), atol=1e-12)
    np.testing.assert_allclose(rl.shrink(a, lam, 2.0), a / (1 + 2 * lam), atol=1e-12)
    u = (-1.5 * lam + np.sqrt(2.25 * lam**2 + 4 * np.abs(a))) / 2  # u² + 1.5 λ u = |a|
    np.testing.assert_allclose(rl.shrink(a, lam, 1.5), np.sign(a) * u**2, atol=1e-12)
    for one in a:
        assert rl.shrunk(one, 1, lam) == pytest.approx(soft(one, lam), abs=1e-4)
        assert rl.shrunk(one, 2, lam) == pytest.approx(one / (1 + lam), abs=1e-4)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_penalised_minima_are_minima(p):
    H, centre = rl.LOSS
    for lam, w in zip((0.1, 1.0), rl.penalised_minima(H, centre, [0.1, 1.0], p), strict=True):

        def height(v, lam=lam):
            return (v - centre) @ H @ (v - centre) / 2 + lam * np.sum(np.abs(v) ** p)

        found = minimize(
            height, centre, method="Nelder-Mead", options=dict(xatol=1e-8, fatol=1e-12)
        )
        np.testing.assert_allclose(w, found.x, atol=1e-4)


def test_only_the_diamond_has_an_exact_zero():
    second = [end.facts["w"][1] for end in rl.draw_balls()[1].facts["ends"]]
    assert second[0] == 0 and min(second[1:]) > 0.3


def posterior(**moved):
    return [one.facts for one in told("draw_posterior", **moved)["told"]]


@pytest.mark.parametrize("sd", [8.0, 2.0, 0.5])
def test_the_posterior_peaks_at_ridge_and_lasso(sd):
    H, centre = rl.LOSS
    root = np.linalg.cholesky(H).T  # ½ (w - c)ᵀ H (w - c) = ½ ‖root (c - w)‖²
    gauss, laplace = posterior(sd=sd)
    lam = 1 / told("draw_posterior", sd=sd)["sd"] ** 2
    assert gauss["lam"] == pytest.approx(lam)
    np.testing.assert_allclose(
        gauss["w"], np.linalg.solve(H + lam * np.eye(2), H @ centre), atol=1e-4
    )
    lam = np.sqrt(2 * lam)
    assert laplace["lam"] == pytest.approx(lam)
    fit = Lasso(lam / 2, fit_intercept=False, tol=1e-12).fit(root, root @ centre)
    np.testing.assert_allclose(laplace["w"], fit.coef_, atol=1e-4)
    assert laplace["zeros"] == np.sum(fit.coef_ == 0)


def test_a_narrow_prior_zeroes_laplace_weights_and_never_gaussian_ones():
    gauss, laplace = posterior(sd=10**-1.2)
    assert gauss["zeros"] == 0 and laplace["zeros"] == 2


def test_noise_and_prior_width_trade_off():
    before, noisier, wider = (
        posterior(sd=sd, noise=s)[0]["w"] for sd, s in ((1, 1), (1, 2), (2, 2))
    )
    assert np.linalg.norm(noisier) < np.linalg.norm(before)
    np.testing.assert_allclose(wider, before, atol=0.02)  # the slider's steps


def test_priors_tell_their_tails():
    facts = rl.draw_priors()[1].facts
    assert facts["laplace"] == pytest.approx(2 * stats.laplace.sf(3, scale=2**-0.5))
    assert facts["gauss"] == pytest.approx(2 * stats.norm.sf(3))


def test_thresholds_tell_what_is_left():
    facts = rl.draw_thresholds(soft, lam=1.0)[1].facts
    np.testing.assert_allclose(facts["soft"], [0, 0.8])
    np.testing.assert_allclose(facts["square"], [0.3, 0.9])


# ---------------------------------------------------------------- break points


def test_the_lasso_finds_the_three_kinks_and_ridge_uses_every_knot():
    assert told("knots_explorer", lam=10**-1.75)["used"] == 3
    fig, _ = rl.knots_explorer()(10**-1.75, "lasso")
    beta = np.array(fig.axes[1].lines[3].get_ydata())
    world = rl.knots_world()
    np.testing.assert_allclose(world["knots"][np.abs(beta) > 1e-6], [0.25, 0.5, 0.8])
    A = rl.hinges(world["x"], world["knots"])
    A, t, lam = A - A.mean(0), world["y"] - world["y"].mean(), 10**-1.75
    pull = A.T @ (t - A @ beta)
    used = beta != 0
    np.testing.assert_allclose(pull[used], lam * np.sign(beta[used]), atol=1e-3 * lam)
    assert np.all(np.abs(pull[~used]) <= 1.001 * lam)
    assert told("knots_explorer", penalty="ridge")["used"] == 19


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_training_error_rises_with_the_penalty(penalty):
    runs = [told("knots_explorer", penalty=penalty, lam=lam) for lam in (1e-3, 10**-1.5, 1.0)]
    assert runs[0]["train"] < runs[1]["train"] < runs[2]["train"]
    assert all(run["test"] >= run["lowest"] for run in runs)


# ---------------------------------------------------------------- early stopping, splits


def test_descent_errors_are_those_of_the_closed_form(rng):
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    parts = [np.arange(20), np.arange(20, 30)]
    errors = rl.descent_errors(X, y, parts, eta=0.1, steps=7)
    U, s, Vt = np.linalg.svd(X[:20], full_matrices=False)
    w = Vt.T @ ((1 - (1 - 0.1 * s**2 / 20) ** 7) / s * (U.T @ y[:20]))
    assert errors.shape == (8, 2)
    assert errors[7, 1] == pytest.approx(np.mean((X[20:] @ w - y[20:]) ** 2))


def test_patience_moves_the_stop_and_min_delta_what_is_brought_back():
    facts = told("patience_explorer", patience=5)
    assert (facts["stop"], facts["best"], facts["epochs"]) == (33, 28, 50)
    assert told("patience_explorer", patience=25)["stop"] == 50
    strict = told("patience_explorer", patience=5, min_delta=0.01)
    assert strict["stop"] < 33 and strict["valid"] > facts["valid"]


def test_the_filters_are_at_most_a_third_apart():
    times = np.array([0.1, 1.0, 10.0])
    _, words = rl.draw_filters(np.array([3.0, 1.0, 2.0]), np.array([1.5, 2.0, 3.0]), times)
    facts = words.facts
    assert facts["ratio"] == pytest.approx(1.298, abs=1e-3)
    assert (facts["descent"], facts["t"], facts["ridge"], facts["other"]) == (1.5, 0.1, 1.0, 1.0)


def test_races_are_scikit_learns(rng):
    X = rng.normal(1, 2, (60, 5))
    y = X @ [1.0, 0, 0, -1, 0.5] + rng.normal(size=60)
    lams = np.array([30.0, 3.0])
    races = rl.penalty_races(X, y, lams, train=30, splits=2)
    order = np.random.default_rng(1).permutation(60)
    A, b = rl.standardised(X, y, order[:30])
    for column, lam in enumerate(lams):
        for name, model in (("ridge", Ridge(lam, fit_intercept=False)),
                            ("lasso", Lasso(lam / 30, fit_intercept=False, tol=1e-10))):  # fmt: skip
            model.fit(A[order[:30]], b[order[:30]])
            error = np.mean((model.predict(A[order[30:]]) - b[order[30:]]) ** 2)
            assert races[name][1, column] == pytest.approx(error, rel=1e-3)

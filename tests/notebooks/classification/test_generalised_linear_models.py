"""Generalised linear models: references against statsmodels, scikit-learn, torch's losses and autograd."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
import statsmodels.api as sm
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy import special, stats
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from statsmodels.genmod.families import links as sm_links

from descent.pictures.classification import generalised_linear_models as glm
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("02_classification/03_generalised_linear_models", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)

FAMILIES = {
    "gaussian": sm.families.Gaussian,
    "bernoulli": sm.families.Binomial,
    "poisson": sm.families.Poisson,
}
LINKS = {
    "identity": sm_links.Identity,
    "log": sm_links.Log,
    "sqrt": sm_links.Sqrt,
    "logit": sm_links.Logit,
    "probit": sm_links.Probit,
    "cloglog": sm_links.CLogLog,
    "inverse": sm_links.InversePower,
}
PAIRS = [
    ("gaussian", "identity"), ("gaussian", "log"), ("gaussian", "sqrt"),
    ("bernoulli", "logit"), ("bernoulli", "probit"), ("bernoulli", "cloglog"),
    ("poisson", "log"), ("poisson", "sqrt"), ("poisson", "identity"),
    ("gaussian", "inverse"), ("poisson", "inverse"),
]  # fmt: skip
CANONICAL = {"gaussian": "identity", "bernoulli": "logit", "poisson": "log"}


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def rows(family, n=80, seed=0):
    """X (n, 3) with a ones column, y (n,) drawn from the family: every link has a finite optimum."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, 2))])
    mean = X @ [3.0, 1.0, -0.5]  # positive: for the identity and the square root too
    draw = {
        "gaussian": lambda: mean + 0.5 * rng.normal(size=n),
        "bernoulli": lambda: (rng.random(n) < 1 / (1 + np.exp(3 - mean))).astype(float),
        "poisson": lambda: rng.poisson(mean).astype(float),
    }[family]
    return X, draw()


def classes(n=120, K=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    logits = X @ rng.normal(size=(3, K)) + rng.gumbel(size=(n, K))
    return X, logits.argmax(1)


def tensors(*arrays):
    return [torch.from_numpy(np.asarray(a, float)) for a in arrays]


# ---------------------------------------------------------------- one fit for all


@pytest.mark.filterwarnings("ignore:The .* link function does not respect the domain")
@pytest.mark.parametrize("family, link", PAIRS)
def test_fits_are_those_of_statsmodels(family, link):
    X, y = rows(family)
    theirs = sm.GLM(y, X, family=FAMILIES[family](LINKS[link](), check_link=False)).fit(
        tol=1e-14, maxiter=200
    )
    A, b = tensors(X, y)
    ours = ref.fit_glm(A, b[:, None], family, link)[:, 0]
    np.testing.assert_allclose(ours, theirs.params, rtol=1e-6, atol=1e-8)


def test_softmax_fit_is_statsmodels_mnlogit():
    X, labels = classes()
    theirs = sm.MNLogit(labels, X).fit(disp=0, tol=1e-12, method="newton").params
    A, Y = tensors(X, np.eye(3)[labels])
    ours = ref.fit_glm(A, Y, "categorical", "softmax")
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_class_by_class_links_are_a_chain_of_binary_fits(link):
    """Class 0 against the rest on all rows, class 1 against the rest on what is left: statsmodels' fits."""
    X, labels = classes()
    A, Y = tensors(X, np.eye(3)[labels])
    ours = ref.fit_glm(A, Y, "categorical", f"steps:{link}")
    for j in range(2):
        left = labels >= j
        model = sm.GLM((labels == j)[left] * 1.0, X[left], sm.families.Binomial(LINKS[link]()))
        theirs = model.fit(tol=1e-14, maxiter=200).params
        np.testing.assert_allclose(ours[:, j], theirs, rtol=1e-5, atol=1e-7)


def test_canonical_fits_are_scikit_learns():
    models = {
        "gaussian": LinearRegression(fit_intercept=False),
        "bernoulli": LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000),
        "poisson": PoissonRegressor(alpha=0, fit_intercept=False, tol=1e-10, max_iter=1000),
    }
    for family, model in models.items():
        X, y = rows(family, seed=1)
        A, b = tensors(X, y)
        ours = ref.fit_glm(A, b[:, None], family, CANONICAL[family])[:, 0]
        np.testing.assert_allclose(ours, model.fit(X, y).coef_.ravel(), rtol=1e-4, atol=1e-5)


def test_the_optimum_of_the_textbook_data():
    """Deaths a quarter against time and its logarithm: R's glm prints these (Dobson's example)."""
    y = np.array([0, 1, 2, 3, 1, 4, 9, 18, 23, 31, 20, 25, 37, 45.0])
    for feature, expected in (
        (np.arange(1, 15.0), (0.33963, 0.25652)),
        (np.log(np.arange(1, 15.0)), (-1.94417, 2.17478)),
    ):
        A, b = tensors(np.column_stack([np.ones(14), feature]), y)
        w = ref.fit_glm(A, b[:, None], "poisson", "log")[:, 0]
        np.testing.assert_allclose(w, expected, atol=1e-5)


@pytest.mark.parametrize("family, link", PAIRS)
def test_a_batch_is_a_loop(family, link):
    sets = [tensors(*rows(family, seed=seed)) for seed in range(3)]
    X, Y = torch.stack([A for A, _ in sets]), torch.stack([b for _, b in sets])[..., None]
    together = ref.fit_glm(X, Y, family, link)
    alone = torch.stack([ref.fit_glm(A, b[:, None], family, link) for A, b in sets])
    torch.testing.assert_close(together, alone, rtol=1e-8, atol=1e-9)


def test_outputs_of_a_scalar_family_do_not_meet():
    X, y = rows("poisson")
    other = np.random.default_rng(5).poisson(4.0, len(y))
    A, Y = tensors(X, np.column_stack([y, other]))
    both = ref.fit_glm(A, Y, "poisson", "log")
    for column in range(2):
        one = ref.fit_glm(A, Y[:, column : column + 1], "poisson", "log")
        torch.testing.assert_close(both[:, column : column + 1], one, rtol=1e-9, atol=1e-10)


def test_single_precision_fits():
    X, y = rows("poisson")
    A, b = (t.float() for t in tensors(X, y))
    w = ref.fit_glm(A, b[:, None], "poisson", "log")
    assert w.dtype == torch.float32
    exact = ref.fit_glm(A.double(), b.double()[:, None], "poisson", "log")
    torch.testing.assert_close(w.double(), exact, rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- its parts


@pytest.mark.parametrize("link", LINKS)
def test_links_and_slopes_are_statsmodels(link):
    eta = torch.linspace(0.1, 1.8, 9, dtype=torch.float64)
    theirs = LINKS[link]()
    np.testing.assert_allclose(ref.scalar_mean(eta, link), theirs.inverse(eta.numpy()), rtol=1e-12)
    slope = theirs.inverse_deriv(eta.numpy())
    np.testing.assert_allclose(ref.scalar_slope(eta, link), slope, rtol=1e-10)
    back = ref.scalar_score(ref.scalar_mean(eta, link), link)
    torch.testing.assert_close(back, eta, rtol=1e-9, atol=1e-10)


def test_an_unknown_link_is_named():
    with pytest.raises(ValueError, match="'cauchy' is none of"):
        ref.scalar_mean(torch.zeros(1), "cauchy")


@pytest.mark.parametrize("link", ["softmax", "steps:logit", "steps:probit", "steps:cloglog"])
def test_jacobians_are_autograds(link):
    eta = normal(3)
    mu, jacobian = ref.vector_mean(eta, link)
    theirs = torch.autograd.functional.jacobian(lambda e: ref.vector_mean(e, link)[0], eta)
    torch.testing.assert_close(jacobian, theirs, rtol=1e-10, atol=1e-12)
    assert mu.sum().item() == pytest.approx(1, abs=1e-12)
    torch.testing.assert_close(jacobian.sum(0), torch.zeros_like(eta), rtol=0, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_variances_are_statsmodels(family):
    mu = torch.tensor([0.1, 0.5, 0.8], dtype=torch.float64)
    theirs = FAMILIES[family]().variance(mu.numpy())
    np.testing.assert_allclose(ref.variance(mu, family), theirs)


@pytest.mark.parametrize("family, link", PAIRS)
def test_a_step_is_a_weighted_least_squares_fit(family, link):
    """The working response of statsmodels' own families, solved by its WLS."""
    X, y = rows(family, n=12)
    w = np.array([0.6, 0.1, -0.05])
    theirs, eta = LINKS[link](), X @ w
    mu, slope = theirs.inverse(eta), theirs.inverse_deriv(eta)
    weights = slope**2 / FAMILIES[family]().variance(mu)
    expected = sm.WLS(eta + (y - mu) / slope, X, weights=weights).fit().params
    np.testing.assert_allclose(ref.glm_step(*tensors(X, y, w), family, link), expected, rtol=1e-8)


@DTYPES
@BATCHES
@pytest.mark.parametrize("family", FAMILIES)
def test_canonical_gradients_are_autograds(family, batch, dtype):
    X, w = normal(*batch, 6, 3, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=1)
    y = (normal(*batch, 6, seed=2) > 0).to(dtype)
    leaf = w.clone().requires_grad_()
    mu = ref.means((X @ leaf.unsqueeze(-1)).squeeze(-1), family)
    ref.nll(y.unsqueeze(-1), mu.unsqueeze(-1), family).mean(-1).sum().backward()
    got = ref.glm_grad(X, y, w, family)
    assert got.dtype == dtype and got.shape == w.shape
    torch.testing.assert_close(got, leaf.grad, **tolerance(dtype))


def test_a_mean_that_the_family_lacks_is_infinitely_bad():
    y = torch.tensor([[1.0], [1.0]])
    for family, mu in (("poisson", -0.1), ("bernoulli", 1.1), ("bernoulli", -0.1)):
        assert torch.isinf(ref.nll(y, torch.full_like(y, mu), family)).all()
    assert torch.isfinite(ref.nll(y, torch.full_like(y, -3.0), "gaussian")).all()


# ---------------------------------------------------------------- softmax


@DTYPES
def test_softmax_survives_huge_scores_and_ignores_shifts(dtype):
    Z = torch.tensor([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]], dtype=dtype)
    expected = torch.tensor([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], dtype=dtype)
    torch.testing.assert_close(ref.softmax(Z), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(ref.softmax(Z + 512), expected, rtol=1e-6, atol=0)


def test_loss_at_zero_weights_is_log_K():
    X, Y = normal(5, 2), ref.one_hot(torch.tensor([0, 1, 2, 3, 3]), 4)
    assert ref.cat_nll(torch.zeros(2, 4).double(), X, Y).item() == pytest.approx(np.log(4))


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+", words)]


def step(X, y, w, mean, slope, variance):
    """One step of Fisher scoring, through the working response."""
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    root = s / np.sqrt(variance(mu))
    return w + np.linalg.lstsq(X * root[:, None], (y - mu) / np.sqrt(variance(mu)), rcond=None)[0]


def softmax(Z, T=1.0):
    return special.softmax(np.asarray(Z) / T, axis=1)


# ---------------------------------------------------------------- data, links, fits


def test_the_data_give_the_published_fits():
    """Dobson's Poisson regressions, and the logistic regression of damage on temperature."""
    for feature, params, lack in (
        (glm.QUARTERS, (0.3396, 0.2565), 29.654),
        (np.log(glm.QUARTERS), (-1.9442, 2.1748), 17.092),
    ):
        X = glm.with_ones(feature)
        w = glm.fit(step, X, glm.DEATHS, "poisson", "log")
        np.testing.assert_allclose(w, params, atol=1e-4)
        assert glm.deviance(glm.DEATHS, np.exp(X @ w), "poisson") == pytest.approx(lack, abs=1e-3)
    w = glm.fit(step, glm.with_ones(glm.TEMPERATURES), glm.DAMAGE, "bernoulli", "logit")
    np.testing.assert_allclose(w, (15.0429, -0.2322), atol=1e-4)


@pytest.mark.parametrize("link", glm.LINKS)
def test_each_link_undoes_its_mean_and_has_its_slope(link):
    chosen, eta = glm.LINKS[link], np.linspace(0.1, 1.7, 9)
    np.testing.assert_allclose(chosen.score(chosen.mean(eta)), eta, rtol=1e-9)
    numeric = (chosen.mean(eta + 1e-6) - chosen.mean(eta - 1e-6)) / 2e-6
    np.testing.assert_allclose(chosen.slope(eta), numeric, rtol=1e-6)
    wide = chosen.mean(np.linspace(-30, 30, 61))
    assert glm.REACH[link][0] <= wide.min() and wide.max() <= glm.REACH[link][1]


@pytest.mark.parametrize("family", glm.VARIANCES)
def test_the_loss_is_scipys_log_likelihood_up_to_a_constant(family):
    y, one, other = np.array([0.0, 1.0, 1.0]), np.array([0.2, 0.5, 0.9]), np.array([0.4, 0.3, 0.6])
    log_p = {
        "gaussian": lambda mu: stats.norm(mu, 1).logpdf(y),
        "bernoulli": lambda mu: stats.bernoulli(mu).logpmf(y),
        "poisson": lambda mu: stats.poisson(mu).logpmf(y),
    }[family]
    expected = np.sum(log_p(other) - log_p(one))
    assert glm.nll(y, one, family) - glm.nll(y, other, family) == pytest.approx(expected)


def test_the_gaussian_deviance_is_the_sum_of_squares():
    y, mu = np.array([1.0, 4.0]), np.array([2.0, 2.0])
    assert glm.deviance(y, mu, "gaussian") == pytest.approx(5.0)


@pytest.mark.parametrize(
    "y, families",
    [
        ([0, 1, 1], {"gaussian", "bernoulli", "poisson"}),
        ([0, 3], {"gaussian", "poisson"}),
        ([0.5, 1], {"gaussian"}),
        ([-1, 1], {"gaussian"}),
    ],
)
def test_support(y, families):
    y = np.array(y, float)
    assert {family for family in glm.VARIANCES if glm.has_support(y, family)} == families


@pytest.mark.parametrize("link, theirs", [("probit", "Probit"), ("cloglog", "CLogLog")])
def test_other_links_are_statsmodels(link, theirs):
    X = glm.with_ones((glm.TEMPERATURES - 69.57) / 6.9)
    family = sm.families.Binomial(getattr(sm.families.links, theirs)())
    expected = sm.GLM(glm.DAMAGE, X, family).fit(tol=1e-13, maxiter=200).params
    w = glm.fit(step, X, glm.DAMAGE, "bernoulli", link)
    np.testing.assert_allclose(w, expected, rtol=1e-5)


@pytest.mark.parametrize("family, link", [("poisson", "log"), ("bernoulli", "logit")])
def test_the_general_minimiser_agrees(family, link):
    x, y = {
        "poisson": ((glm.QUARTERS - 7.5) / 4, glm.DEATHS),
        "bernoulli": ((glm.TEMPERATURES - 69.57) / 6.9, glm.DAMAGE),
    }[family]
    X = glm.with_ones(x)
    w = glm.maximum_likelihood(X, y, family, link)
    np.testing.assert_allclose(w, glm.fit(step, X, y, family, link), atol=1e-4)


def test_a_fit_that_can_go_nowhere_stops():
    """A logit link below counts: the slope dies out, and the step is no number."""
    w = glm.fit(step, glm.with_ones(glm.QUARTERS), glm.DEATHS, "gaussian", "logit")
    assert np.all(np.isfinite(w))

    def singular(*_):
        raise np.linalg.LinAlgError

    assert np.all(np.isfinite(glm.fit(singular, np.ones((3, 1)), np.ones(3), "poisson", "log")))


def test_why_tells_impossible_predictions():
    _, words = glm.draw_why()
    assert "1.75 at 31 °F" in words and "-9.5 at quarter 0" in words


# ---------------------------------------------------------------- link and family


@pytest.fixture
def explorer():
    return Explorer(
        glm.family_link_explorer(step),
        dict(
            dataset=Dropdown(options=list(glm.cases())),
            family=Dropdown(options=list(glm.VARIANCES)),
            link=Dropdown(options=list(glm.LINKS)),
        ),
    )


def choose(explorer, dataset, family, link):
    name = next(name for name in glm.cases() if name.startswith(dataset))
    for control, value in (("dataset", name), ("family", family), ("link", link)):
        explorer.controls[control].value = value
    return explorer.words


def impossible(words):
    return float(re.search(r"impossible on (\d+) %", words)[1])


def test_the_link_and_not_the_family_mends_the_deaths(explorer):
    assert impossible(choose(explorer, "deaths", "gaussian", "identity")) > 10
    assert impossible(choose(explorer, "deaths", "poisson", "identity")) > 0
    assert impossible(choose(explorer, "deaths", "gaussian", "log")) == 0


def test_the_family_sets_the_band(explorer):
    assert "of one width" in choose(explorer, "deaths", "gaussian", "log")
    assert "wider where the mean is larger" in choose(explorer, "deaths", "poisson", "log")


def test_the_straight_line_of_the_o_rings(explorer):
    words = choose(explorer, "O-rings", "gaussian", "identity")
    assert "mean 1.75 at 31, -0.198 at 83" in words


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_probabilities_stay_probabilities(explorer, link):
    assert impossible(choose(explorer, "O-rings", "bernoulli", link)) == 0
    assert impossible(choose(explorer, "O-rings", "poisson", "log")) > 10


def test_families_without_the_support_refuse(explorer):
    for dataset, family in (("deaths", "bernoulli"), ("diabetes", "poisson")):
        assert "no fit" in choose(explorer, dataset, family, "log")


def test_a_link_may_be_too_narrow(explorer):
    assert "reaches only means above 0" in choose(explorer, "diabetes", "gaussian", "log")
    assert "reaches only 0 to 1" in choose(explorer, "deaths", "poisson", "probit")
    assert "reaches" not in choose(explorer, "diabetes", "gaussian", "identity")


def test_every_choice_can_be_drawn(explorer):
    for dataset in glm.cases():
        for family in glm.VARIANCES:
            for link in glm.LINKS:
                words = choose(explorer, dataset, family, link)
                assert words.startswith(f"{family.capitalize()}, {link} link on {dataset}")
                assert "cannot be drawn" not in explorer.readout.value


# ---------------------------------------------------------------- degrees


@pytest.fixture
def degrees():
    return Explorer(
        glm.degree_explorer(lambda x, K: np.vander(x, K + 1, increasing=True), step),
        dict(degree=IntSlider(1, min=0, max=8), family=Dropdown(options=["gaussian", "poisson"])),
    )


def left_over(words):
    return float(re.search(r"deviance (-?[\d.]+) on", words)[1])


def test_the_gaussian_deviance_is_numpys_residual(degrees):
    for degree in (0, 2, 5):
        degrees.controls["degree"].value = degree
        expected = np.polynomial.Polynomial.fit(glm.QUARTERS, glm.DEATHS, degree)(glm.QUARTERS)
        residual = np.sum((glm.DEATHS - expected) ** 2)
        assert left_over(degrees.words) == pytest.approx(residual, abs=0.06)


def test_more_powers_lower_the_deviance_and_worsen_the_columns(degrees):
    degrees.controls["family"].value = "poisson"
    assert left_over(degrees.words) == pytest.approx(29.7, abs=0.06)
    seen = []
    for degree in range(6):
        degrees.controls["degree"].value = degree
        assert f"{degree + 1} column" in degrees.words
        seen.append((left_over(degrees.words), numbers(degrees.words)[-1]))
    lacks, conditions = np.array(seen).T
    assert np.all(np.diff(lacks) < 0) and np.all(np.diff(conditions) > 0)


def test_two_features_are_told():
    mean = np.ones(131)
    _, words = glm.draw_two_features({"t": (mean, 29.65), "log t": (2 * mean, 17.09)})
    assert "t: deviance 29.6" in words and "log t: deviance 17.1" in words


# ---------------------------------------------------------------- the simplex


def test_corners_and_centre_of_the_simplex():
    np.testing.assert_allclose(glm.to_plane(np.eye(3)), glm.CORNERS)
    np.testing.assert_allclose(glm.to_plane(np.full(3, 1 / 3)), glm.CORNERS.mean(0))


@pytest.mark.parametrize(
    "z, expected", [([1, 3, 2], [0, 1, 0]), ([2, 2, 0], [0, 0, 0]), ([-1], [1])]
)
def test_hardmax_knows_no_winner_of_a_tie(z, expected):
    assert glm.hardmax(z).tolist() == expected


@pytest.fixture
def simplex():
    scores = {f"z{k}": FloatSlider(v, min=-4, max=4, step=0.5) for k, v in enumerate((2, 1, -0.5))}
    log_T = FloatSlider(0, min=-1.5, max=1.5, step=0.1)
    return Explorer(glm.simplex_explorer(softmax), dict(**scores, log_T=log_T))


def told(words):
    """(probabilities (3,), hardmax (3,), largest score, soft maximum)."""
    values = numbers(words.split("probabilities are")[1])
    return np.array(values[:3]), values[3:6], values[6], values[7]


def test_the_bars_are_scipys(simplex):
    p, hard, top, soft = told(simplex.words)
    np.testing.assert_allclose(p, special.softmax([2, 1, -0.5]), atol=6e-4)
    assert hard == [1, 0, 0] and top == 2
    assert soft == pytest.approx(special.logsumexp([2, 1, -0.5]), abs=6e-3)


def test_cold_is_hard_and_hot_is_even(simplex):
    simplex.controls["log_T"].value = -1.5
    p, hard, top, soft = told(simplex.words)
    np.testing.assert_allclose(p, hard, atol=1e-3)
    assert soft == pytest.approx(top, abs=0.01)
    simplex.controls["log_T"].value = 1.5
    np.testing.assert_allclose(told(simplex.words)[0], 1 / 3, atol=0.02)


def test_a_common_shift_moves_nothing_but_the_maxima(simplex):
    before = told(simplex.words)
    for k in range(3):
        simplex.controls[f"z{k}"].value += 1
    after = told(simplex.words)
    assert np.array_equal(before[0], after[0]) and after[3] == pytest.approx(before[3] + 1)


def test_a_tie_is_shared_by_softmax_alone(simplex):
    simplex.controls["z1"].value = 2
    simplex.controls["log_T"].value = -1.5
    p, hard, *_ = told(simplex.words)
    assert p.tolist() == [0.5, 0.5, 0.0] and hard == [0, 0, 0]


# ---------------------------------------------------------------- temperature


@pytest.fixture
def wines():
    X, labels = glm.wine_rows()
    params = sm.MNLogit(labels, X).fit(disp=0, method="newton").params
    W = np.column_stack([np.zeros(3), params])
    log_T = FloatSlider(0, min=-1, max=1, step=0.1)
    return Explorer(glm.temperature_explorer(softmax, W, X, labels), dict(log_T=log_T))


def test_wines_are_standardised():
    X, labels = glm.wine_rows()
    np.testing.assert_allclose(X[:, 1:].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(X[:, 1:].std(0), 1)
    assert np.bincount(labels).tolist() == [59, 71, 48]


def test_the_fit_has_the_best_temperature_already(wines):
    _, sure, right, loss, lowest, at = numbers(wines.words)
    assert (loss, right, at) == (0.398, 0.831, 1.0) and lowest == loss
    for log_T, change in ((-1, 1), (1, -1)):
        wines.controls["log_T"].value = log_T
        _, surer, same, worse, *_ = numbers(wines.words)
        assert same == right and worse > loss and np.sign(surer - sure) == change


# ---------------------------------------------------------------- digits


def test_the_digit_weights_tell_the_ends_of_the_curves(rng):
    W, curve = rng.normal(size=(64, 10)), np.linspace(np.log(10), 0.3, 5)
    fig, words = glm.draw_digit_weights(W, curve, curve + 0.05)
    assert "from 2.303" in words and "0.30 on training" in words and "0.35 on test" in words
    images = [ax.images[0].get_array() for ax in fig.axes if ax.images]
    np.testing.assert_allclose(images[3].ravel(), W[:, 3])


def test_the_kites_part_the_triangle():
    fig, ax = plt.subplots()
    glm.draw_triangle(ax)
    kites = [patch.get_path() for patch in ax.patches]
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), 100)
    inside = np.array([kite.contains_points(glm.to_plane(P)) for kite in kites])
    assert np.array_equal(inside.T, P == P.max(1, keepdims=True))

"""Generalised linear models: references against statsmodels, scikit-learn and autograd; what the pictures tell."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import statsmodels.api as sm
import torch
from scipy import special, stats
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from statsmodels.genmod.families import links as sm_links

from descent.pictures.classification import generalised_linear_models as glm
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "02_classification/03_generalised_linear_models"
spec = notebook_module(NOTEBOOK, "exercises")
ref = notebook_module(NOTEBOOK, "reference")
RINGS, DEATHS, DIABETES = glm.cases()

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
    ("gaussian", "identity"), ("gaussian", "log"), ("gaussian", "sqrt"), ("gaussian", "inverse"),
    ("bernoulli", "logit"), ("bernoulli", "probit"), ("bernoulli", "cloglog"),
    ("poisson", "log"), ("poisson", "sqrt"), ("poisson", "identity"), ("poisson", "inverse"),
]  # fmt: skip


def rows(family, n=80, seed=0):
    """X (n, 3) with a ones column, y (n,) drawn from the family: every link has a finite optimum."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.uniform(-1, 1, (n, 2))])
    mean = X @ [3.0, 1.0, -0.5]  # positive: for the identity and the square root too
    if family == "gaussian":
        return X, mean + 0.5 * rng.normal(size=n)
    if family == "poisson":
        return X, rng.poisson(mean).astype(float)
    return X, (rng.random(n) < special.expit(mean - 3)).astype(float)


def classes(n=120, K=3):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    return X, (X @ rng.normal(size=(3, K)) + rng.gumbel(size=(n, K))).argmax(1)


def trained(family, X, Y, tol=1e-7):
    X, Y = (torch.as_tensor(a, dtype=torch.float64) for a in (X, Y))
    told = ref.machine(family, X, Y, tol, 5000, X[:2])
    return told["W"].numpy(), [float(loss) for loss in told["losses"]]


def facts(drawn):
    fig, *_, words = drawn
    plt.close(fig)
    return words.facts


# ---------------------------------------------------------------- references


@pytest.mark.filterwarnings("ignore:The .* link function does not respect the domain")
@pytest.mark.parametrize("family, link", PAIRS)
def test_repeated_steps_end_at_statsmodels_fit(family, link):
    X, y = rows(family)
    model = sm.GLM(y, X, family=FAMILIES[family](LINKS[link](), check_link=False))
    expected = model.fit(tol=1e-14, maxiter=200).params
    A, b = torch.from_numpy(X), torch.from_numpy(y)
    w = torch.from_numpy(expected * 1.05)
    for _ in range(30):
        w = ref.glm_step(A, b, w, family, link)
    np.testing.assert_allclose(w, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("link", LINKS)
def test_links_and_slopes_are_statsmodels(link):
    eta, theirs = np.linspace(0.1, 1.7, 9), LINKS[link]()
    mean, slope = (f(torch.from_numpy(eta), link) for f in (ref.scalar_mean, ref.scalar_slope))
    np.testing.assert_allclose(mean, theirs.inverse(eta), rtol=1e-9)
    np.testing.assert_allclose(slope, theirs.inverse_deriv(eta), rtol=1e-8)


@pytest.mark.parametrize("family", FAMILIES)
def test_variances_are_statsmodels(family):
    mu = np.array([0.1, 0.5, 0.9])
    theirs = FAMILIES[family]().variance(mu)
    np.testing.assert_allclose(ref.variance(torch.from_numpy(mu), family), theirs)


def test_the_machine_ends_at_scikit_learns_fits():
    models = {
        "gaussian": LinearRegression(fit_intercept=False),
        "bernoulli": LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000),
        "poisson": PoissonRegressor(alpha=0, fit_intercept=False, tol=1e-10, max_iter=1000),
    }
    for family, model in models.items():
        X, y = rows(family, seed=1)
        W, _ = trained(family, X, y[:, None])
        np.testing.assert_allclose(W[:, 0], model.fit(X, y).coef_.ravel(), rtol=1e-4, atol=1e-5)


def test_the_machine_of_classes_ends_at_statsmodels_mnlogit():
    X, labels = classes()
    W, _ = trained("categorical", X, np.eye(3)[labels])
    theirs = sm.MNLogit(labels, X).fit(disp=0, tol=1e-12, method="newton").params
    np.testing.assert_allclose(W[:, 1:] - W[:, :1], theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("family", spec.FAMILIES)
def test_costs_are_log_likelihoods_up_to_a_constant(family):
    z = np.random.default_rng(0).normal(size=(2, 3))
    y = np.array([[0.0, 1, 0], [0, 1, 0]])
    told = ref.machine(family, Z=torch.from_numpy(z))
    mu, cost = told["means"].numpy(), told["A"].numpy() - (y * z).sum(1)
    log_p = {
        "gaussian": lambda: stats.norm(mu, 1).logpdf(y).sum(1),
        "bernoulli": lambda: stats.bernoulli(mu).logpmf(y.astype(int)).sum(1),
        "poisson": lambda: stats.poisson(mu).logpmf(y).sum(1),
        "categorical": lambda: np.array([stats.multinomial(1, p).logpmf([0, 1, 0]) for p in mu]),
    }[family]()
    assert np.ptp(cost + log_p) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("family", spec.FAMILIES)
def test_the_loss_of_the_machine_never_rises(family):
    X, labels = classes()
    Y = np.eye(3)[labels]
    _, losses = trained(family, X, Y, tol=1e-4)
    assert len(losses) > 5 and np.all(np.diff(losses) <= 0)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_softmax_survives_huge_scores_and_ignores_shifts(scale):
    Z = scale * torch.tensor([[1.0, 0, -1], [-1, -1, -1]]).double()
    expected = special.softmax(Z.numpy(), axis=1)
    np.testing.assert_allclose(ref.softmax(Z), expected, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(ref.softmax(Z + 512), expected, rtol=1e-9, atol=1e-300)


def test_the_loss_of_zero_weights_is_log_K():
    X, labels = torch.randn(5, 2).double(), torch.tensor([0, 1, 2, 3, 3])
    loss, gradient = ref.softmax_grad(torch.zeros(2, 4).double(), X, labels)
    assert float(loss) == pytest.approx(np.log(4))
    assert gradient.sum(-1).abs().max() < 1e-12


# ---------------------------------------------------------------- cases


@pytest.mark.parametrize("seed", range(5))
def test_the_try_on_the_limit_is_on_it_to_the_last_digit(seed):
    cases = dict(spec.GLM.drawn(np.random.default_rng(seed)))
    case = cases["a try exactly on the limit is taken"]
    X, Y = case["X"], case["Y"]
    G = -(X.T @ Y) / len(X)  # at W = 0, loss 0
    loss = np.mean((X @ -G) ** 2 / 2 - Y * (X @ -G))
    assert loss == -np.sum(G**2) / 4 < 0


# ---------------------------------------------------------------- data and fits


def test_the_tables_give_the_published_fits():
    """Dobson's Poisson regressions, and the logistic regression of damage on temperature."""
    for feature, params, lack in (
        (glm.QUARTERS, (0.3396, 0.2565), 29.654),
        (np.log(glm.QUARTERS), (-1.9442, 2.1748), 17.092),
    ):
        fit = sm.GLM(glm.DEATHS, glm.with_ones(feature), sm.families.Poisson()).fit(tol=1e-12)
        np.testing.assert_allclose(fit.params, params, atol=1e-4)
        assert glm.deviance(glm.DEATHS, fit.mu, "poisson") == pytest.approx(lack, abs=1e-3)
    probabilities, _ = glm.rings("logit")
    expected = special.expit(15.0429 - 0.23216 * glm.TEMPERATURES)
    np.testing.assert_allclose(probabilities, expected, atol=1e-4)


@pytest.mark.parametrize("link", glm.LINKS)
def test_each_link_undoes_its_mean_and_has_its_slope(link):
    chosen, eta = glm.LINKS[link], np.linspace(0.1, 1.7, 9)
    np.testing.assert_allclose(chosen.score(chosen.mean(eta)), eta, rtol=1e-9)
    np.testing.assert_allclose(chosen.slope(eta), LINKS[link]().inverse_deriv(eta), rtol=1e-8)
    wide = chosen.mean(np.linspace(-30, 30, 61))
    assert glm.REACH[link][0] <= wide.min() and wide.max() <= glm.REACH[link][1]


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_the_fits_of_the_rings_are_statsmodels(link):
    case = glm.cases()[RINGS]
    family = sm.families.Binomial(LINKS[link]())
    expected = sm.GLM(case.y, case.scaled(case.x), family).fit(tol=1e-13, maxiter=200).params
    np.testing.assert_allclose(glm.rings(link)[1], expected, atol=1e-4)


def test_a_mean_that_the_family_lacks_is_infinitely_bad():
    y = np.ones(2)
    for family, mu in (("poisson", -0.1), ("bernoulli", 1.1), ("bernoulli", -0.1)):
        assert np.isinf(glm.nll(y, np.full(2, mu), family))
    assert glm.deviance(np.array([1.0, 4]), np.array([2.0, 2]), "gaussian") == pytest.approx(5)


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


# ---------------------------------------------------------------- pictures


def test_the_puzzle_has_the_numbers_that_the_first_cell_tells():
    told = facts(glm.draw_impossible())
    assert (f"{told['damage']:.2f}", f"{told['deaths']:.1f}") == ("1.75", "-9.5")
    assert f"{told['digit']:.1f}" == "3.9" and glm.digits()[3][glm.STROKE] == 1


def test_the_answers_tell_what_they_are_given():
    rings = np.tile([0.9, 0.4, 1.0], (60, 1))
    digit = np.full(10, 0.05) + 0.3 * np.isin(np.arange(10), 8) + 0.2 * np.isin(np.arange(10), 1)
    told = facts(glm.draw_answers(rings, np.linspace(1.4, 90, 60), digit))
    assert (told["damage"], told["low"], told["deaths"]) == (0.9, 0.4, 1.4)
    assert (told["first"], told["second"]) == (8, 1)


def fit(table, family, link):
    moved = dict(table=table, family=family, link=link)
    return controls.explorer(NOTEBOOK, "draw_fit", **moved).words.facts


def test_the_link_and_not_the_family_mends_rings_and_deaths():
    assert fit(RINGS, "gaussian", "identity")["share"] > 40
    assert fit(RINGS, "gaussian", "logit")["share"] == 0
    assert fit(DEATHS, "gaussian", "identity")["share"] > 10
    assert fit(DEATHS, "poisson", "identity")["share"] > 0
    assert fit(DEATHS, "gaussian", "log")["share"] == 0
    assert fit(RINGS, "poisson", "log")["share"] > 10


def test_poisson_obeys_the_small_counts_more():
    assert fit(DEATHS, "poisson", "log")["left"] < fit(DEATHS, "gaussian", "log")["left"]


def test_families_without_the_support_refuse_and_links_may_be_too_narrow():
    for table, family in ((DEATHS, "bernoulli"), (DIABETES, "poisson")):
        assert "verdict" not in fit(table, family, "log")
    assert fit(DIABETES, "gaussian", "log")["verdict"].endswith("means above 0")
    assert fit(DEATHS, "poisson", "probit")["verdict"].endswith("0 to 1")
    assert fit(DIABETES, "gaussian", "identity")["verdict"] == "Every mean is possible"


def test_the_band_of_a_poisson_widens_with_its_mean():
    low, high = glm._band("poisson", np.array([1.0, 100.0]), np.zeros(9))
    assert np.array_equal(low, stats.poisson([1, 100]).ppf(0.05))
    assert np.array_equal(high, stats.poisson([1, 100]).ppf(0.95))
    assert np.ptp(np.subtract(*glm._band("gaussian", np.arange(3.0), np.ones(9)))) < 1e-12


def test_more_powers_lower_the_deviance_and_worsen_the_columns():
    told = [
        controls.explorer(NOTEBOOK, "degree_explorer", degree=degree).words.facts
        for degree in range(1, 9)
    ]
    assert told[0]["lack"] == pytest.approx(29.654, abs=1e-3) and told[0]["free"] == 12
    assert np.all(np.diff([one["lack"] for one in told]) < 0)
    assert np.all(np.diff([one["condition"] for one in told]) > 0)


def simplex(**moved):
    return controls.explorer(NOTEBOOK, "simplex_explorer", **moved).words.facts


def test_the_grabbed_scores_are_scipys_softmax():
    told = simplex(z1=1.0, z2=3.0, T=10**0.5)
    z = np.array([0, 1, 3]) / told["T"]
    np.testing.assert_allclose(told["p"], special.softmax(z))
    assert told["soft"] == pytest.approx(told["T"] * special.logsumexp(z))
    assert told["hard"] == [0, 0, 1] and told["top"] == 3


def test_cold_is_hard_hot_is_even_and_a_tie_is_shared():
    cold, hot = simplex(T=10**-1.5), simplex(T=10**1.5)
    np.testing.assert_allclose(cold["p"], cold["hard"], atol=1e-3)
    np.testing.assert_allclose(hot["p"], 1 / 3, atol=0.03)
    tie = simplex(z0=2.0, z1=2.0, T=10**-1.5)
    np.testing.assert_allclose(tie["p"], [0.5, 0.5, 0], atol=1e-9)
    assert tie["hard"] == [0, 0, 0]


def test_a_shift_of_all_scores_moves_only_the_maxima():
    before, after = simplex(), simplex(z0=1.0, z1=3.0, z2=0.5)
    np.testing.assert_allclose(before["p"], after["p"])
    assert after["soft"] == pytest.approx(before["soft"] + 1)


def test_the_regions_of_the_score_plane_are_those_of_the_argmax():
    fig, _ = glm.simplex_explorer(glm.soft)(1.0, 0.0, 0.0, 1.0)
    points = np.random.default_rng(0).uniform(-4, 4, (200, 2))
    Z = np.column_stack([np.full(200, 1.0), points])
    patches = fig.axes[0].patches  # of class 1, 2, 0
    inside = [patch.get_path().contains_points(points) for patch in patches]
    plt.close(fig)
    assert np.array_equal(np.argmax(inside, axis=0), np.array([2, 0, 1])[Z.argmax(1)])


def test_the_kites_part_the_triangle():
    fig, ax = plt.subplots()
    glm.draw_triangle(ax)
    P = np.random.default_rng(0).dirichlet(np.ones(3), 100)
    inside = [patch.get_path().contains_points(glm.to_plane(P)) for patch in ax.patches]
    plt.close(fig)
    assert np.array_equal(np.transpose(inside), P == P.max(1, keepdims=True))
    np.testing.assert_allclose(glm.to_plane(np.eye(3)), glm.CORNERS)


@pytest.mark.parametrize("z, expected", [([1, 3, 2], [0, 1, 0]), ([2, 2, 0], [0, 0, 0])])
def test_hardmax_knows_no_winner_of_a_tie(z, expected):
    assert glm.hardmax(z).tolist() == expected


def test_the_wines_are_standardised_and_coloured_by_the_means():
    X, labels = glm.wine_rows()
    np.testing.assert_allclose(X[:, 1:].mean(0), 0, atol=1e-12)
    assert np.bincount(labels).tolist() == [59, 71, 48]
    W, _ = trained("categorical", X, np.eye(3)[labels], tol=1e-3)
    told = facts(glm.draw_wines(lambda rows: special.softmax(rows @ W, axis=1), np.zeros((178, 2))))
    model = LogisticRegression(C=np.inf, fit_intercept=False, max_iter=1000).fit(X, labels)
    assert told["share"] == pytest.approx(model.score(X, labels), abs=0.01)

"""Generalised linear models: references against statsmodels, scikit-learn, torch's losses and autograd."""

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from statsmodels.genmod.families import links as sm_links
from torch.nn.functional import cross_entropy

from solutions.reference import generalised_linear_models as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


@DTYPES
@BATCHES
@pytest.mark.parametrize("K", [0, 1, 4])
def test_powers_are_numpys_vander(batch, K, dtype):
    x = normal(*batch, 5, dtype=dtype)
    got = ref.poly_features(x, K)
    assert got.shape == (*batch, 5, K + 1) and got.dtype == dtype
    flat = x.reshape(-1, 5).numpy()
    expected = np.stack([np.vander(r, K + 1, increasing=True) for r in flat]).astype(flat.dtype)
    torch.testing.assert_close(
        got, torch.from_numpy(expected).reshape(got.shape), **tolerance(dtype)
    )


@DTYPES
@BATCHES
def test_several_outputs_are_scikit_learns(batch, dtype):
    X, Y = normal(*batch, 7, 3, dtype=dtype), normal(*batch, 7, 2, dtype=dtype, seed=1)
    got = ref.fit_multi(X, Y)
    assert got.dtype == dtype and got.shape == (*batch, 3, 2)
    sets = zip(X.reshape(-1, 7, 3), Y.reshape(-1, 7, 2), got.reshape(-1, 3, 2), strict=True)
    for one_X, one_Y, W in sets:
        theirs = LinearRegression(fit_intercept=False).fit(one_X.double(), one_Y.double())
        expected = torch.from_numpy(theirs.coef_.T.copy()).to(dtype)
        torch.testing.assert_close(W, expected, **tolerance(dtype))


# ---------------------------------------------------------------- softmax


def test_one_hot_is_torchs():
    labels = torch.tensor([[0, 2, 1], [3, 3, 0]])
    assert torch.equal(ref.one_hot(labels, 5), torch.nn.functional.one_hot(labels, 5).double())


@DTYPES
@BATCHES
@pytest.mark.parametrize("T", [0.1, 1.0, 7.0])
def test_softmax_is_torchs(batch, dtype, T):
    Z = 5 * normal(*batch, 4, 3, dtype=dtype)
    got = ref.softmax(Z, T)
    assert got.dtype == dtype
    torch.testing.assert_close(got, torch.softmax(Z / T, -1), **tolerance(dtype))


@DTYPES
def test_softmax_survives_huge_scores_and_ignores_shifts(dtype):
    Z = torch.tensor([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]], dtype=dtype)
    expected = torch.tensor([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3]], dtype=dtype)
    torch.testing.assert_close(ref.softmax(Z), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(ref.softmax(Z + 512), expected, rtol=1e-6, atol=0)


@DTYPES
@BATCHES
def test_loss_and_gradient_are_torchs(batch, dtype):
    W, X = normal(*batch, 3, 4, dtype=dtype), normal(*batch, 6, 3, dtype=dtype, seed=1)
    labels = torch.from_numpy(np.random.default_rng(2).integers(0, 4, (*batch, 6)))
    Y, leaf = ref.one_hot(labels, 4).to(dtype), W.clone().requires_grad_()
    loss = cross_entropy((X @ leaf).flatten(0, -2), labels.flatten(), reduction="none")
    loss = loss.reshape(*batch, 6).mean(-1)
    loss.sum().backward()
    torch.testing.assert_close(ref.cat_nll(W, X, Y), loss.detach(), **tolerance(dtype))
    gradient = ref.softmax_grad(W, X, Y)
    torch.testing.assert_close(gradient, leaf.grad, **tolerance(dtype))
    zero = torch.zeros_like(gradient[..., 0])
    torch.testing.assert_close(gradient.sum(-1), zero, **tolerance(dtype))


def test_loss_at_zero_weights_is_log_K():
    X, Y = normal(5, 2), ref.one_hot(torch.tensor([0, 1, 2, 3, 3]), 4)
    assert ref.cat_nll(torch.zeros(2, 4).double(), X, Y).item() == pytest.approx(np.log(4))


# ---------------------------------------------------------------- the contract of every reference


def some_classes(dtype):
    return ref.one_hot(torch.tensor([0, 1, 2, 1, 0, 2, 2]), 3).to(dtype)


CALLS = {
    "glm_grad": lambda t: (normal(7, 2, dtype=t), normal(7, dtype=t), normal(2, dtype=t), "poisson"),
    "glm_step": lambda t: (
        normal(7, 2, dtype=t), normal(7, dtype=t), normal(2, dtype=t), "bernoulli", "probit",
    ),
    "fit_glm": lambda t: (normal(7, 2, dtype=t), some_classes(t), "categorical", "softmax", 3),
    "poly_features": lambda t: (normal(7, dtype=t), 3),
    "fit_multi": lambda t: (normal(7, 2, dtype=t), normal(7, 3, dtype=t)),
    "softmax": lambda t: (normal(7, 3, dtype=t), 0.5),
    "one_hot": lambda t: (torch.tensor([0, 1]), 3),
    "cat_nll": lambda t: (normal(2, 3, dtype=t), normal(7, 2, dtype=t), some_classes(t)),
    "softmax_grad": lambda t: (normal(2, 3, dtype=t), normal(7, 2, dtype=t), some_classes(t)),
}  # fmt: skip


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

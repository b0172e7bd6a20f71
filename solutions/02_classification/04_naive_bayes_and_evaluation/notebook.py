# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a text classifier made of counts, and the confusion matrix, ROC and error bars that judge it"
# # Naive Bayes and evaluating classifiers
#
# Lectures: moon 1.1 and 23.1 · guo II.4 · explainers 2.2 and B.3.
#
# The first half builds a classifier out of nothing but counting. The second half asks how good a classifier is, and how sure you may be of the answer.
# At the end you can
#
# - derive and fit naive Bayes for binary, real and categorical features, and classify text with it;
# - say which of its outputs to trust when its assumption is false, and which not;
# - read a confusion matrix the right way round, and compute precision, recall and the averages of F1;
# - draw ROC and precision–recall curves, and say what a threshold does and what it need not do;
# - put an honest interval on a measured accuracy.

# %%
import numpy as np
import torch
from ipywidgets import Checkbox, FloatSlider, IntSlider, SelectionSlider
from scipy.special import expit, log_softmax
from scipy.stats import binom
from sklearn import naive_bayes

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.classification import naive_bayes_and_evaluation as nb

start("02_classification/04_naive_bayes_and_evaluation")

# %% [markdown] covers="guo:II.4.c"
# ## Why it matters
#
# A disease is screened for. Of 1000 people 10 are ill. Test A calls everybody healthy. Test B finds 9 of the 10 and raises 40 false alarms.
# Each table counts people: **rows** say what they are, **columns** say what the test calls them. Test A is right more often. Which test do you want?

# %% covers="guo:II.4.c" demo=true
test_a, test_b = np.array([[0, 10], [0, 990]]), np.array([[9, 1], [40, 950]])
show(*nb.draw_two_tests(test_a, test_b))
predict(
    "Test B calls somebody ill. How probable is it that this person is ill?",
    ["about 90 %", "about 50 %", "about 18 %", "about 1 %"],
    truth=2,
    because="49 people are called ill, 9 of them are. The 90 % answer another "
    "question: how many of the ill are found.",
)

# %% [markdown] covers="moon:1.1"
# ## A classifier that imagines the data
#
# Let $y \in \{0, \dots, C-1\}$ be the class of a case and $x = (x_1, \dots, x_D)$ its features. A **discriminative** model, such as logistic regression, describes $p(y \mid x)$ and is silent about $x$.
# A **generative** model describes how a case comes about: first a class, with probability $\pi_c = p(y = c)$, then features from $p(x \mid y = c)$. Bayes' rule turns it round:
#
# $$p(y = c \mid x) = \frac{\pi_c\; p(x \mid y = c)}{\sum_{b} \pi_b\; p(x \mid y = b)} .$$
#
# The screening test was an example: $\pi = 0.01$ for the ill, $p(\text{called ill} \mid \text{ill}) = 0.9$, and $40/990$ for the healthy.
#
# ### Why naive?
#
# With $D$ yes/no features, $p(x \mid y = c)$ is a table of $2^D$ probabilities that sum to 1.

# %% covers="moon:1.1" demo=true
pi, called_ill = np.array([0.01, 0.99]), np.array([0.9, 40 / 990])
posterior = pi * called_ill / np.sum(pi * called_ill)
assert np.isclose(posterior[0], 9 / 49)
print(f"P(ill | called ill) = {posterior[0]:.3f}")


def free_numbers(D, C):
    return C * (2**D - 1) + C - 1, C * D + C - 1


predict(
    "20 yes/no features, 2 classes. How many free numbers must be learned for the full "
    "tables and the class probabilities?",
    ["41", "801", "about a million", "about two million"],
    truth=3,
    because=f"2 (2^20 - 1) + 1 = {free_numbers(20, 2)[0]}. If the features are "
    "independent in each class, one number a feature and class is enough: "
    f"{free_numbers(20, 2)[1]} in all.",
)

# %% [markdown] covers="moon:1.1"
# **Naive Bayes** assumes that the features are independent *given the class*:
#
# $$p(x \mid y = c) = \prod_{j=1}^{D} p(x_j \mid y = c).$$
#
# As a graph: an arrow from $y$ to each $x_j$, and none between the features. That is false for almost all data, hence the name. It often classifies well all the same; when, we shall see. Each factor is a distribution of one number, of a type that fits the feature:
#
# | feature $x_j$ | factor $p(x_j \mid y = c)$ | parameters |
# |---|---|---|
# | yes/no, 0 or 1 | Bernoulli: $\theta_{cj}^{x_j} (1 - \theta_{cj})^{1 - x_j}$ | $\theta_{cj}$, the chance of a 1 |
# | a real number | Gaussian: $\mathcal N(x_j \mid \mu_{cj}, \sigma_{cj}^2)$ | mean and variance |
# | one of $K$ values | categorical: $\mu_{cjk}$ for $x_j = k$ | a histogram over the $K$ values |
#
# (The notes write $\theta_{jc}$. Our arrays have a row a class, so the class comes first.)
#
# One feature of real data for each type, one histogram a class. Which of the three features tells its classes apart best?

# %% covers="moon:1.1" demo=true
digits, iris, wine = data.digits(), data.iris(), data.wine()
bits, labels = (digits.X > 7).astype(int), digits.y  # each of 64 pixels on or off
order = np.random.default_rng(0).permutation(len(labels))
train, test = order[:1200], order[1200:]
show(*nb.draw_three_likelihoods(bits, labels, iris, wine))

# %% [markdown] covers="moon:1.1"
# ## Fitting is counting
#
# For one case, with $\mathbb I(\cdot)$ equal to 1 where the condition holds and else 0, the joint probability is
#
# $$p(x_i, y_i) = \prod_c \pi_c^{\mathbb I(y_i = c)} \prod_j \prod_c p(x_{ij} \mid \theta_{cj})^{\mathbb I(y_i = c)} .$$
#
# The exponents select the one class that the case has. Take logarithms and sum over independent cases; $N_c$ counts the cases of class $c$:
#
# $$\log p(\mathcal D) = \sum_c N_c \log \pi_c + \sum_j \sum_c \sum_{i:\, y_i = c} \log p(x_{ij} \mid \theta_{cj}) .$$
#
# Every parameter stands in a sum of its own, so each is fitted alone. For Bernoulli features let $N_{cj}$ count the cases of class $c$ with $x_j = 1$. The terms of $\theta_{cj}$ are
# $N_{cj} \log\theta_{cj} + (N_c - N_{cj}) \log(1 - \theta_{cj})$, largest at $\hat\theta_{cj} = N_{cj}/N_c$: there the derivative is zero (a count of 0 or $N_c$ puts the maximum at the end of $[0, 1]$). The $\pi_c$ must sum to 1: a Lagrange multiplier gives $N_c/\pi_c = \lambda$ for every $c$, so $\hat\pi_c = N_c/N$.
#
# The cell writes the likelihood both ways, and lets torch differentiate at the counts.

# %% covers="moon:1.1" demo=true
rng = np.random.default_rng(0)
X60, y60 = (rng.random((60, 4)) < 0.4).astype(int), np.repeat([0, 1, 2], [30, 20, 10])
N_c = np.array([np.sum(y60 == c) for c in range(3)])
N_cj = np.array([X60[y60 == c].sum(axis=0) for c in range(3)])
pi = torch.tensor(N_c / 60, requires_grad=True)
theta = torch.tensor(N_cj / N_c[:, None], requires_grad=True)

counts, ones = torch.tensor(N_c), torch.tensor(N_cj)
off = counts[:, None] - ones
grouped = (counts * pi.log()).sum()
grouped = grouped + (ones * theta.log() + off * (1 - theta).log()).sum()
x = torch.tensor(X60)[:, None, :]
factors = theta**x * (1 - theta) ** (1 - x)  # case, class, feature
joint = pi * factors.prod(dim=2)
assert torch.isclose(joint[range(60), y60].log().sum(), grouped)
grouped.backward()
assert torch.allclose(theta.grad, torch.zeros(3, 4, dtype=float), atol=1e-9)
assert torch.allclose(pi.grad, torch.full((3,), 60.0, dtype=float))  # λ, for every c
print("the gradient vanishes at the counts, up to the multiplier λ = N = 60")

# %% [markdown] covers="moon:1.1"
# ### A count of zero
#
# A word that never occurred in spam gets $\hat\theta = 0$. One such word, and the mail has probability 0 of being spam, whatever else it says. If every class has such a zero, Bayes' rule is 0/0.
# The cure is older than computers: add $\alpha$ imagined cases that had the feature and $\alpha$ that had it not,
#
# $$\hat\theta_{cj} = \frac{N_{cj} + \alpha}{N_c + 2\alpha} .$$
#
# ($\alpha = 1$ is Laplace's rule. It is the mean of the posterior of $\theta$ under a Beta$(\alpha, \alpha)$ prior.) The class shares $\hat\pi_c = N_c/N$ stay plain counts.


# %% exercise="fit_bernoulli_nb" points=3 minutes=10 difficulty=1 covers="moon:1.1"
def fit_bernoulli_nb(X, y, C, alpha):
    """Class shares and smoothed feature probabilities, by counting.

    X (n, D) of 0 and 1. y (n,) class numbers 0 ... C - 1; some may not occur.
    alpha >= 0: imagined cases with the feature, and as many without, in each class.
    Returns (pi (C,), theta (C, D)). Smoothing is for theta alone.
    If alpha = 0 and a class has no rows, its theta is 0.5.
    X = [[1, 0], [1, 1], [0, 1]], y = [0, 0, 1], C = 2 and alpha = 1 give
    pi = [2/3, 1/3], theta = [[3/4, 1/2], [1/3, 2/3]].
    """
    ### BEGIN SOLUTION
    pi, theta = np.zeros(C), np.full((C, X.shape[1]), 0.5)
    for c in range(C):
        rows = X[y == c]
        pi[c] = len(rows) / len(y)
        if len(rows) + alpha > 0:
            theta[c] = (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha)
    return pi, theta
    ### END SOLUTION


# %% check="fit_bernoulli_nb"
check(fit_bernoulli_nb)

# %% [markdown] covers="moon:1.1"
# **Do the counts win?** First, no perturbed parameters reach a higher likelihood than your counts, and smoothed counts are posterior means. Then a picture: handwritten digits with each of the 64 pixels on or off. An image shows $\theta_c$, what class $c$ looks like on average.

# %% covers="moon:1.1"
with after(fit_bernoulli_nb):

    def log_likelihood(pi, theta):
        on = np.sum(N_cj * np.log(theta) + (N_c[:, None] - N_cj) * np.log(1 - theta))
        return N_c @ np.log(pi) + on

    pi_hat, theta_hat = fit_bernoulli_nb(X60, y60, 3, 0)
    best, trial = log_likelihood(pi_hat, theta_hat), np.random.default_rng(1)
    for _ in range(1000):
        step = trial.choice([0.01, 0.1, 1.0])
        other_pi = pi_hat * np.exp(step * trial.normal(size=3))
        logits = np.log(theta_hat / (1 - theta_hat))
        other_theta = expit(logits + step * trial.normal(size=(3, 4)))
        assert log_likelihood(other_pi / other_pi.sum(), other_theta) < best
    grid, k, n = np.linspace(0, 1, 10_001), N_cj[0, 0], N_c[0]
    posterior = grid ** (k + 1) * (1 - grid) ** (n - k + 1)  # prior: Beta(2, 2)
    mean = np.sum(grid * posterior) / np.sum(posterior)
    assert np.isclose(fit_bernoulli_nb(X60, y60, 3, 2)[1][0, 0], mean)

    pi, theta = fit_bernoulli_nb(bits[train], labels[train], 10, 1)
    theirs = naive_bayes.BernoulliNB(alpha=1).fit(bits[train], labels[train])
    assert np.allclose(np.log(pi), theirs.class_log_prior_)
    assert np.allclose(np.log(theta), theirs.feature_log_prob_)
    show(*nb.draw_templates(theta))

# %% [markdown] covers="moon:1.1"
# ## Classify, without underflow
#
# A case with $D = 10\,000$ features has a likelihood of perhaps $e^{-5000}$. A double holds nothing between $0$ and about $5 \times 10^{-324}$, so a product of the factors is 0 for every class. Logarithms keep everything:
#
# $$\ell_c = \log \pi_c + \sum_j \big[ x_j \log\theta_{cj} + (1 - x_j) \log(1 - \theta_{cj}) \big], \qquad \log p(y = c \mid x) = \ell_c - \log \sum_b e^{\ell_b} .$$
#
# The last sum would underflow as well. Take the largest $\ell$ out first: with $m = \max_b \ell_b$, $\;\log \sum_b e^{\ell_b} = m + \log \sum_b e^{\ell_b - m}$. Now one term is $e^0 = 1$.


# %% exercise="nb_log_posterior" points=4 minutes=12 difficulty=2 covers="moon:1.1"
def nb_log_posterior(X, pi, theta):
    """Natural logarithm of p(y = c | x) for every row and class.

    X (n, D) of 0 and 1. pi (C,) > 0, sums to 1. theta (C, D), 0 < theta < 1.
    Returns (n, C); the exponentials of a row sum to 1. D may be 10 000.
    X = [[1, 0]], pi = [0.5, 0.5] and theta = [[0.8, 0.5], [0.2, 0.5]] give
    [[log 0.8, log 0.2]] = [[-0.2231, -1.6094]].
    """
    ### BEGIN SOLUTION
    joint = np.log(pi) + X @ np.log(theta).T + (1 - X) @ np.log(1 - theta).T
    top = joint.max(axis=1, keepdims=True)
    return joint - top - np.log(np.exp(joint - top).sum(axis=1, keepdims=True))
    ### END SOLUTION


# %% check="nb_log_posterior"
check(nb_log_posterior)

# %% covers="moon:1.1"
with after(fit_bernoulli_nb, nb_log_posterior):
    pi, theta = fit_bernoulli_nb(bits[train], labels[train], 10, 1)
    log_p = nb_log_posterior(bits[test], pi, theta)
    for alpha in (1, 1e-9):
        theirs = naive_bayes.BernoulliNB(alpha=alpha).fit(bits[train], labels[train])
        ours = fit_bernoulli_nb(bits[train], labels[train], 10, alpha)
        ours = nb_log_posterior(bits[test], *ours)
        assert np.allclose(ours, theirs.predict_log_proba(bits[test]))
    raw = fit_bernoulli_nb(bits[train], labels[train], 10, 0)[1]
    image = bits[test][:, None]
    excluded = ((image == 1) & (raw == 0) | (image == 0) & (raw == 1)).any(axis=2)
    true_class = excluded[np.arange(len(test)), labels[test]]
    right = np.mean(log_p.argmax(axis=1) == labels[test])
    print(f"accuracy on {len(test)} test images: {right:.3f}")
    never = excluded.all(axis=1)
    print("images with probability 0, without smoothing:")
    print(f"for the true class {true_class.sum()}, for every class {never.sum()}")

# %% [markdown] covers="moon:1.1 cs480:4-pred"
# **It is linear.** For two classes the log-odds $\ell_1 - \ell_0$ is a constant plus a weight times each feature, $w_j = \log\frac{\theta_{1j}\,(1 - \theta_{0j})}{\theta_{0j}\,(1 - \theta_{1j})}$. So Bernoulli naive Bayes has the form of logistic regression: $p(y = 1 \mid x) = \sigma(w^\top x + b)$,
# with probability above $\frac12$ exactly on one side of a hyperplane. The two differ in how $w$ is found: by counting here, by maximising $\prod_i p(y_i \mid x_i)$ there.

# %% covers="moon:1.1" demo=true
rng = np.random.default_rng(2)
theta, pi = rng.uniform(0.1, 0.9, (2, 6)), np.array([0.3, 0.7])
w = np.log(theta[1] * (1 - theta[0]) / (theta[0] * (1 - theta[1])))
b = np.log(pi[1] / pi[0]) + np.sum(np.log((1 - theta[1]) / (1 - theta[0])))
cases = rng.integers(0, 2, (50, 6))
each = np.where(cases[:, None] == 1, theta, 1 - theta).prod(axis=2) * pi
assert np.allclose(each[:, 1] / each.sum(axis=1), expit(cases @ w + b))

# %% [markdown] covers="moon:1.1"
# ## Real and categorical features
#
# Only the factors change. Gaussian: maximum likelihood gives the mean and the variance (divided by $N_c$) of each feature in each class. Categorical: $\hat\mu_{cjk} = (N_{cjk} + \alpha)/(N_c + K\alpha)$, a smoothed histogram.
# Both functions below return a function: new rows → log posterior. They must equal scikit-learn's.


# %% covers="moon:1.1" demo=true
def gaussian_nb(X, y, C):
    groups = [X[y == c] for c in range(C)]
    mean, var = (np.array([f(g, axis=0) for g in groups]) for f in (np.mean, np.var))
    log_pi = np.log([len(g) / len(y) for g in groups])

    def log_posterior(new):
        z2 = (new[:, None] - mean) ** 2 / var  # row, class, feature
        return log_softmax(log_pi - 0.5 * (np.log(2 * np.pi * var) + z2).sum(2), axis=1)

    return log_posterior


def categorical_nb(X, y, C, K, alpha):
    def histograms(group):
        return [np.bincount(x, minlength=K) for x in group.T]

    counts = np.array([histograms(X[y == c]) for c in range(C)])  # (C, D, K)
    size, features = np.bincount(y, minlength=C), np.arange(X.shape[1])
    log_mu = np.log((counts + alpha) / (size[:, None, None] + K * alpha))

    def log_posterior(new):
        terms = log_mu[:, features, new].sum(axis=2)  # class, row
        return log_softmax(np.log(size / len(y)) + terms.T, axis=1)

    return log_posterior


X, y = data.iris().X, data.iris().y
theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
assert np.allclose(gaussian_nb(X, y, 3)(X), theirs.predict_log_proba(X))
levels = np.floor(X).astype(int)  # whole centimetres, 0 to 7
theirs = naive_bayes.CategoricalNB(alpha=1, min_categories=8).fit(levels, y)
ours = categorical_nb(levels, y, 3, 8, 1)(levels)
assert np.allclose(ours, theirs.predict_log_proba(levels))

# %% [markdown] covers="moon:1.1"
# **Three views of one plane.** The same 240 points in three classes. Left: Gaussian. Middle: each feature cut into 6 bins, then categorical. Right: each feature cut at its median, then Bernoulli.
# The titles give the accuracy on 3000 fresh points. What shapes can the borders of each take, and why can none of them be a slanted ellipse?


# %% covers="moon:1.1" demo=true
def toy(n, rng):
    y = rng.integers(0, 3, n)
    centre, sd = [[0, 0], [2.2, 0.4], [0.5, 2]], [[0.5, 0.6], [1.1, 0.4], [1.2, 0.5]]
    return np.array(centre)[y] + np.array(sd)[y] * rng.normal(size=(n, 2)), y


X, y = toy(240, np.random.default_rng(3))
edges = [np.linspace(*np.quantile(column, [0.02, 0.98]), 7)[1:-1] for column in X.T]


def bins(X, edges=edges):
    return np.column_stack([np.digitize(x, e) for x, e in zip(X.T, edges)])


middle = np.median(X, axis=0)


def halves(X, middle=middle):
    return (X > middle).astype(int)


six, two = categorical_nb(bins(X), y, 3, 6, 1), categorical_nb(halves(X), y, 3, 2, 1)
views = {
    "Gaussian": gaussian_nb(X, y, 3),
    "categorical": lambda new, six=six, bins=bins: six(bins(new)),
    "Bernoulli": lambda new, two=two, halves=halves: two(halves(new)),
}
show(*nb.draw_regions(views, X, y, *toy(3000, np.random.default_rng(4))))

# %% [markdown] covers="moon:1.1"
# (Bernoulli is categorical with $K = 2$: the same smoothed counts. The Gaussian log-odds are $\sum_j$ of a parabola in $x_j$, or of a line where the variances agree: the borders are ellipses, hyperbolas and parabolas with axes along the features, or straight lines. The other two cut the plane into boxes.)
#
# ## When the assumption is false
#
# Take two equally frequent classes, $y = \pm 1$, and $D$ jointly normal features, $x_j \sim \mathcal N(y\, m_j, 1)$. Within a class every pair of features has correlation $\rho$; call their covariance matrix $\Sigma$. Naive Bayes takes $\Sigma = I$, and claims the log-odds
# $s(x) = 2 \sum_j m_j x_j$. What are the true odds of a case with claim $s$?
#
# In class $\pm1$ the claim $s$ is normal with mean $\pm 2\lVert m\rVert^2$ and variance $4\, m^\top \Sigma m$. Two normals with one variance have log-odds (difference of means) × (distance from the middle) / variance:
#
# $$\log \frac{p(y = 1 \mid s)}{p(y = -1 \mid s)} = \frac{4 \lVert m\rVert^2}{4\, m^\top \Sigma m}\, s = \kappa\, s, \qquad \kappa = \frac{\lVert m\rVert^2}{m^\top\Sigma m} = \frac{1}{1 + (D - 1)\rho} \;\text{ if all } m_j \text{ are equal.}$$
#
# For $\rho > 0$ the claimed log-odds are too large by a factor $1/\kappa$: with $\rho \to 1$ the same evidence is counted $D$ times. But $\kappa > 0$ has no effect on the *sign*. The cell checks this on simulated data.
# (These are the odds given $s$. The odds given all of $x$ are $2\,m^\top \Sigma^{-1} x$. If all $m_j$ are equal, $\Sigma^{-1} m = \kappa m$, and the two agree.)

# %% covers="moon:1.1" demo=true
rng, D, rho, m = np.random.default_rng(5), 5, 0.6, 0.5
y = rng.choice([-1, 1], 200_000)
shared, own = rng.normal(size=(200_000, 1)), rng.normal(size=(200_000, D))
x = m * y[:, None] + np.sqrt(rho) * shared + np.sqrt(1 - rho) * own
s, kappa = 2 * m * x.sum(axis=1), 1 / (1 + (D - 1) * rho)
cov, means = rho + (1 - rho) * np.eye(D), np.full(D, m)
assert np.allclose(np.linalg.solve(cov, means), kappa * means)
for low in (-6, -3, 0, 3, 6):  # cases with a claim in a narrow range
    near = np.abs(s - low) < 0.25
    seen = np.mean(y[near] == 1)
    error = 4 * np.sqrt(0.25 / near.sum()) + 0.01  # sampling, width of the range
    assert abs(seen - expit(kappa * low)) < error
claims = expit(s[np.abs(s - 3) < 0.25]).mean(), np.mean(y[np.abs(s - 3) < 0.25] == 1)
print(f"naive Bayes claims {claims[0]:.2f}; right in {claims[1]:.2f} of these cases")

# %% [markdown] covers="moon:1.1"
# A model is **calibrated** if, among the cases to which it gives probability $p$, a share $p$ has the class. (Is that what moon 1.1 opens with, a prediction with a 90 % chance to be correct? Then $N$ independent ones are all correct with chance $0.9^N$.)
#
# **Find out with the widget.** (1) Ten features, all equally good, $\rho$ from 0 to 0.9: what happens to the claims, and what to the accuracy, compared with the best rule that exists?
# (2) Does it matter how many features there are? (3) Tick "unequal features": every second one is now nearly worthless by itself. Is naive Bayes still the best rule?

# %% covers="moon:1.1"
explore(
    nb.draw_correlation,
    rho=FloatSlider(0.5, min=0, max=0.9, step=0.1, description="correlation ρ"),
    D=IntSlider(10, min=2, max=20, step=2, description="features D"),
    unequal=Checkbox(False, description="unequal features"),
)

# %% [markdown] covers="moon:1.1 guo:II.4.b guo:II.4"
# So "it often works well" has a precise part: *the decision survives where the claimed log-odds have the sign of the true ones*. With unequal features the best rule would use a worthless feature to subtract the shared noise; naive Bayes cannot, and loses accuracy too.
# Never read a naive Bayes probability of 0.9999 as such.
#
# ## How good is it?
#
# Put $M$ test rows aside before fitting (why, and how to choose between models: `01_regression/04_bias_variance_and_validation`). For regression, with prediction $\hat y_m$,
#
# $$\mathrm{MSE} = \frac1M \sum_{m=1}^M (\hat y_m - y_m)^2, \qquad \mathrm{RMSE} = \sqrt{\mathrm{MSE}} .$$
#
# For classification, with predicted class probabilities $\pi_m$ (a row of $K$ numbers), the **accuracy** is the share of cases whose most probable class is the true one:
#
# $$\mathrm{Acc} = \frac1M \sum_{m=1}^M \mathbb I\big[\, y_m = \arg\max\nolimits_k \pi_{mk} \,\big] .$$


# %% exercise="score" points=2 minutes=6 difficulty=1 covers="guo:II.4.b"
def score(y, prediction, kind):
    """One number for a test set of M rows.

    kind "mse" or "rmse": y (M,) and prediction (M,) are numbers.
    kind "accuracy": y (M,) class numbers, prediction (M, K) class probabilities;
    the first of equally probable classes counts as predicted.
    score([1, 2], [1, 5], "rmse") is the root of 4.5, 2.1213.
    score([1, 0], [[0.2, 0.8], [0.4, 0.6]], "accuracy") is 0.5.
    Arguments are NumPy arrays.
    """
    ### BEGIN SOLUTION
    if kind == "accuracy":
        return np.mean(prediction.argmax(axis=1) == y)
    mse = np.mean((prediction - y) ** 2)
    return mse if kind == "mse" else np.sqrt(mse)
    ### END SOLUTION


# %% check="score"
check(score)

# %% [markdown] covers="guo:II.4.b"
# **Units.** Measure $y$ and $\hat y$ in cents instead of euros: MSE grows by 10 000, RMSE by 100, accuracy has no unit. RMSE is in the unit of $y$, so it is the one to tell people.
#
# **How sure?** Another test set would give another number. Nobody has another test set, but one can pretend: draw $M$ of the $M$ rows *with replacement*, compute the score, repeat. The middle 95 % of the results is a **bootstrap interval**.
# Below, for a ridge regression (diabetes) and naive Bayes (digits), on growing parts of their test sets. By which factor should an interval shrink when $M$ grows eightfold?

# %% covers="guo:II.4.b"
with after(score):
    from sklearn.linear_model import Ridge

    mix, rng = np.random.default_rng(6).permutation(442), np.random.default_rng(7)
    people, progress = data.diabetes().X[mix], data.diabetes().y[mix]
    line = Ridge(0.1).fit(people[:122], progress[:122]).predict(people[122:])
    progress = progress[122:]
    model = naive_bayes.BernoulliNB().fit(bits[train], labels[train])
    P = model.predict_proba(bits[test])
    for c in (-2, 100):  # another unit
        scaled = score(c * progress, c * line, "rmse")
        assert np.isclose(scaled, abs(c) * score(progress, line, "rmse"))

    def bootstrap(y, prediction, kind, M, repeats=400):
        rows = rng.integers(0, M, (repeats, M))
        drawn = [score(y[i], prediction[i], kind) for i in rows]
        return score(y[:M], prediction[:M], kind), *np.quantile(drawn, [0.025, 0.975])

    sizes = [40, 80, 160, 320]
    rmse = [bootstrap(progress, line, "rmse", M) for M in sizes]
    accuracy = [bootstrap(labels[test], P, "accuracy", M) for M in sizes]
    show(*nb.draw_intervals(sizes, rmse, accuracy))

# %% [markdown] covers="guo:II.4.b"
# ### The uncertainty of an accuracy
#
# An accuracy is a share: $M$ independent cases, each right with chance $p$. Its standard deviation is $\sqrt{p(1-p)/M}$: eight times the cases, $\sqrt8 \approx 2.8$ times as narrow. The textbook interval puts the measured $\hat p$ for $p$: $\hat p \pm 1.96 \sqrt{\hat p (1 - \hat p)/M}$.
# With no mistake in 50 cases it is $[1, 1]$: sure of perfection. **Wilson's interval** asks which $p$ would not be surprised by $\hat p$, all $p$ with $\lvert \hat p - p\rvert \le z\sqrt{p(1-p)/M}$. Square, and solve for $p$:
#
# $$\frac{\hat p + \frac{z^2}{2M} \pm z\sqrt{\frac{\hat p(1 - \hat p)}{M} + \frac{z^2}{4M^2}}}{1 + \frac{z^2}{M}} .$$
#
# A 95 % interval should hold the true $p$ in 95 % of all test sets. That share can be computed exactly: add the binomial probabilities of all counts whose interval holds $p$. The figure does so for every $p$.


# %% covers="guo:II.4.b" demo=true
def textbook(right, M, z=1.96):
    share = right / M
    return [share + sign * z * np.sqrt(share * (1 - share) / M) for sign in (-1, 1)]


def wilson(right, M, z=1.96):
    share = right / M
    half = z * np.sqrt(share * (1 - share) / M + z**2 / (4 * M**2))
    return [(share + z**2 / (2 * M) + sign * half) / (1 + z**2 / M) for sign in (-1, 1)]


low, high = wilson(95, 100)
for p in (low, high):  # the ends are just not surprised
    assert np.isclose(abs(0.95 - p), 1.96 * np.sqrt(p * (1 - p) / 100))
print(f"95 of 100 right: {low:.3f} to {high:.3f}")
print(f"50 of 50 right: {wilson(50, 50)[0]:.3f} to {wilson(50, 50)[1]:.3f}")
needed = 1.96**2 * 0.9 * 0.1 / 0.01**2
print(f"to know an accuracy near 0.9 to ± 0.01: about {np.ceil(needed):.0f} cases")

show(*nb.draw_coverage({"textbook": textbook, "Wilson": wilson}, M=50))
assert wilson(900, 1000)[1] > wilson(920, 1000)[0]  # the intervals overlap
predict(
    "Two models make 100 and 80 mistakes on the same 1000 cases. Is the second better?",
    [
        "yes: their intervals do not overlap",
        "no: their intervals overlap",
        "it depends on which cases they get wrong",
    ],
    truth=2,
    because="The intervals overlap, and say little. If the 80 are among the 100, the "
    "models differ on 20 cases and all 20 speak for the second: 20 heads in 20 tosses. "
    "If no mistake is shared, it is 100 to 80, and tosses are so uneven with "
    f"probability {2 * binom.cdf(80, 180, 0.5):.2f}.",
)

# %% [markdown] covers="guo:II.4.c"
# ## The confusion matrix
#
# Accuracy does not say *which* mistakes. The **confusion matrix** does: $C_{ab}$ counts the test cases of class $a$ that were called $b$ (there are $K$ classes from here on). **Rows are actual, columns are predicted.** The diagonal is right.
#
# For class $k$ alone: $TP = C_{kk}$ cases rightly called $k$ (true positives); the rest of *column* $k$, wrongly called $k$, are $FP$; the rest of *row* $k$, missed, are $FN$. Then
#
# $$\mathrm{Precision}(k) = \frac{TP}{TP + FP} = \frac{C_{kk}}{\sum_j C_{jk}}, \qquad \mathrm{Recall}(k) = \frac{TP}{TP + FN} = \frac{C_{kk}}{\sum_j C_{kj}} .$$
#
# Precision asks: of those I *called* $k$, how many are? Recall asks: of those that *are* $k$, how many did I call so?


# %% exercise="confusion" points=2 minutes=5 difficulty=1 covers="guo:II.4.c"
def confusion(y, yhat, K):
    """Counts by actual (row) and predicted (column) class.

    y (n,) actual and yhat (n,) predicted class numbers, 0 ... K - 1. Returns (K, K).
    y = [0, 0, 1], yhat = [0, 1, 1] and K = 2 give [[1, 1], [0, 1]].
    """
    ### BEGIN SOLUTION
    C = np.zeros((K, K), dtype=int)
    for a, b in zip(y, yhat):
        C[a, b] += 1
    return C
    ### END SOLUTION


# %% check="confusion"
check(confusion)

# %% [markdown] covers="guo:II.4.c"
# The 597 test digits once more. Which pairs does naive Bayes confuse? Is the confusion mutual? (Here scikit-learn's naive Bayes predicts. It is equal to yours, and so nobody is stuck.)

# %% covers="guo:II.4.c"
with after(confusion):
    model = naive_bayes.BernoulliNB(alpha=1).fit(bits[train], labels[train])
    called = model.predict(bits[test])
    C = confusion(labels[test], called, 10)
    assert np.array_equal(C.sum(axis=1), np.bincount(labels[test]))  # rows: actual
    assert np.array_equal(C.sum(axis=0), np.bincount(called))  # columns: predicted
    show(*nb.draw_confusion(C, [str(k) for k in range(10)], "digit"))

# %% [markdown] covers="guo:II.4.c moon:23.1-prf"
# ### One number out of two, out of ten
#
# A test that calls everybody ill has recall 1. One that calls only its surest case ill may have precision 1. **F1** demands both: the harmonic mean
#
# $$F_1 = \frac{2}{\frac1P + \frac1R} = \frac{2PR}{P + R} = \frac{2\,TP}{2\,TP + FP + FN} .$$
#
# It lies between $P$ and $R$, never above their arithmetic mean, and near the smaller one: $(1, 0.1)$ gives 0.18. Swapping $P$ and $R$ does not change it, so $F_1$ cannot tell you that you read the matrix the wrong way round.
#
# With many classes each has its precision, recall and F1. **Macro** averages give every class the same weight: macro-precision and macro-recall are plain means over classes. Macro-F1 comes in two conventions, both in use:
#
# - `"mean_of_f1"`: the mean of the classes' F1 (scikit-learn);
# - `"f1_of_means"`: the harmonic mean of macro-precision and macro-recall (guo).
#
# A class that was never predicted has precision 0/0, one that never occurs has recall 0/0. Every 0/0 here counts as 0, and the class stays in the mean.

# %% covers="guo:II.4.c moon:23.1-prf" demo=true
TP, FP, FN = np.random.default_rng(8).integers(1, 100, (3, 1000))
P, R = TP / (TP + FP), TP / (TP + FN)
f1 = 2 * P * R / (P + R)
assert np.allclose(f1, 2 * TP / (2 * TP + FP + FN))
assert np.allclose(f1, 2 / (1 / P + 1 / R))
assert np.all(np.minimum(P, R) <= f1 + 1e-12) and np.all(f1 <= (P + R) / 2 + 1e-12)
assert np.all(f1 <= 2 * np.minimum(P, R))  # pulled to the smaller one


# %% exercise="macro_f1" points=3 minutes=12 difficulty=2 covers="guo:II.4.c moon:23.1-prf"
def macro_f1(C, kind):
    """Macro-averaged precision, recall and F1 of a confusion matrix.

    C (K, K) counts, rows actual, columns predicted.
    kind "mean_of_f1" or "f1_of_means", as in the text. Every 0/0 is 0.
    Returns (precision, recall, f1).
    C = [[3, 1], [2, 2]] has precisions 3/5, 2/3 and recalls 3/4, 1/2, so
    (0.6333, 0.625, 0.6190) for "mean_of_f1", 0.6291 in place of 0.6190 for the other.
    """

    ### BEGIN SOLUTION
    def ratio(part, whole):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1), 0.0)

    right = np.diag(C)
    P, R = ratio(right, C.sum(axis=0)), ratio(right, C.sum(axis=1))
    if kind == "mean_of_f1":
        f1 = ratio(2 * P * R, P + R).mean()
    else:
        f1 = ratio(2 * P.mean() * R.mean(), P.mean() + R.mean())
    return P.mean(), R.mean(), f1
    ### END SOLUTION


# %% check="macro_f1"
check(macro_f1)

# %% [markdown] covers="guo:II.4.c"
# **Micro** averages add the counts of all classes first. Every mistake is a false positive of one class and a false negative of another, so $\sum FP = \sum FN$, and micro-precision = micro-recall = micro-F1 = accuracy: when each case has one class and one call, micro-F1 is nothing new.
# The table of the next cell has one big class. Which average notices that the small ones do badly?

# %% covers="guo:II.4.c"
with after(macro_f1):
    C = np.array([[90, 10, 0], [5, 4, 1], [3, 2, 5]])
    P, R, f1 = macro_f1(C, "mean_of_f1")
    other = macro_f1(C, "f1_of_means")[2]
    assert np.allclose([P, R, other, f1], [0.6672, 0.6000, 0.6318, 0.6139], atol=5e-5)
    for kind, value in (("mean_of_f1", f1), ("f1_of_means", other)):
        assert np.allclose(macro_f1(C.T, kind), [R, P, value])  # read the wrong way
    TP = np.trace(C)
    FP = FN = C.sum() - TP
    micro = 2 * TP / (2 * TP + FP + FN)
    assert np.isclose(micro, TP / C.sum())
    print(f"macro-precision {P:.4f}, macro-recall {R:.4f}")
    print(f"macro-F1: F1 of the means {other:.4f}, mean of the F1 {f1:.4f}")
    print(f"micro-F1 = accuracy: {micro:.4f}")

# %% [markdown] covers="explainers:2.2.a cs480:4-pred moon:23.1-prf"
# ## The threshold
#
# A classifier with two classes gives each case a score, as a rule its probability of class 1. Calling 1 where the score is above $\delta = \frac12$ makes the fewest mistakes *if the probabilities are right and every mistake costs the same*.
# Otherwise move $\delta$. A missed tumour costs more than a false alarm: lower it. A spam filter must not lose mail: raise it.


# %% exercise="pr_at" points=3 minutes=8 difficulty=2 covers="explainers:2.2.a moon:23.1-prf"
def pr_at(delta, scores, y):
    """Precision, recall and F1 of class 1 when cases with score > delta are called 1.

    scores (n,) any numbers, y (n,) of 0 and 1, both NumPy arrays.
    A score equal to delta is not called 1, one above it is, however little.
    Returns (precision, recall, f1). Every 0/0 is 0.
    pr_at(0.5, [0.9, 0.6, 0.5, 0.2], [1, 0, 1, 0]) is (0.5, 0.5, 0.5).
    """
    ### BEGIN SOLUTION
    called = scores > delta
    hits = np.sum(called & (y == 1))
    said, there = np.sum(called), np.sum(y == 1)
    precision = hits / said if said else 0.0
    recall = hits / there if there else 0.0
    f1 = 2 * hits / (said + there) if said + there else 0.0
    return precision, recall, f1
    ### END SOLUTION


# %% check="pr_at"
check(pr_at)

# %% covers="explainers:2.2.a" demo=true
tumours = data.breast_cancer()
malignant = 1 - tumours.y  # class 1
mix = np.random.default_rng(0).permutation(569)
fit_rows, test_rows = mix[:285], mix[285:]


def malignant_scores(columns):
    used = tumours.X[:, columns]
    model = gaussian_nb(used[fit_rows], malignant[fit_rows], 2)
    return np.exp(model(used[test_rows])[:, 1])


scores, ill = malignant_scores([1, 4]), malignant[test_rows]  # texture and smoothness
predict(
    "Raise the threshold δ step by step. What can never happen?",
    ["recall falls", "recall rises", "precision falls", "precision rises"],
    truth=1,
    because="A higher δ calls fewer cases 1, so TP can only fall, and TP + FN stays. "
    "But precision is TP over the number of calls, and both of these may fall.",
)

# %% covers="explainers:2.2.a"
with after(pr_at):
    deltas = np.append(0, np.sort(scores))[:-1]  # each calls one case fewer
    precision, recall, f1 = np.array([pr_at(d, scores, ill) for d in deltas]).T
    assert np.all(np.diff(recall) <= 0)
    falls = np.sum(np.diff(precision) < 0)
    best, half = f1.argmax(), pr_at(0.5, scores, ill)[2]
    print(f"δ rises in {len(deltas) - 1} steps; precision falls in {falls} of them")
    print(f"F1 at δ = 0.5: {half:.2f}; best: {f1[best]:.2f}, at δ = {deltas[best]:.2f}")
    sure, first_wrong = np.array([0.9, 0.8, 0.7, 0.6, 0.4]), np.array([0, 1, 1, 1, 0])
    steps = [pr_at(d, sure, first_wrong)[0] for d in (0.5, 0.65, 0.75, 0.85)]
    assert np.all(np.diff(steps) < 0)
    print("surest case wrong: precision", np.round(steps, 2))

# %% [markdown] covers="explainers:2.2.a"
# (The best $\delta$ was chosen on the very rows that it is scored on, so its F1 flatters. In earnest choose $\delta$ on validation rows.)
#
# When *is* precision sure not to fall? If the score $s$ is calibrated, the share of true positives among the cases with $s > \delta$ is, on average, $\mathbb E[s \mid s > \delta]$. That never falls as $\delta$ rises, for the lowest scores are taken out of the mean.
# So: in the population, for a calibrated score (or any increasing function of it). On a sample there are dips by chance, and a score that misleads at its top end dips for good.
#
# ### All thresholds at once
#
# Two curves, both drawn by letting $\delta$ fall from above the largest score to below the smallest:
#
# - **ROC**: true positive rate $TPR = TP/(TP + FN)$ (recall again) over false positive rate $FPR = FP/(FP + TN)$;
# - **PR**: precision over recall.
#
# ROC starts at $(0, 0)$ and ends at $(1, 1)$. Cases with the same score enter together: there is one point for each *distinct* score $t$, with the cases "score $\ge t$" called 1. The points are joined by straight lines; the area under them is called **AUC**.


# %% exercise="roc" points=4 minutes=12 difficulty=3 covers="explainers:2.2.a"
def roc(scores, y):
    """The ROC curve and the area under it.

    scores (n,), y (n,) of 0 and 1, NumPy arrays; both classes occur.
    m: number of distinct scores; two that differ, however little, are distinct.
    Returns (fpr (m + 1,), tpr (m + 1,), area): first the point (0, 0), then for each
    distinct score t, from the largest to the smallest, the rates of "score >= t".
    area: under the straight lines from point to point.
    roc([0.9, 0.6, 0.6, 0.2], [1, 1, 0, 0]) is
    ([0, 0, 0.5, 1], [0, 0.5, 1, 1], 0.875).
    """
    ### BEGIN SOLUTION
    levels = np.unique(scores)[::-1]
    tpr = [0.0, *(np.mean(scores[y == 1] >= t) for t in levels)]
    fpr = [0.0, *(np.mean(scores[y == 0] >= t) for t in levels)]
    area = np.sum(np.diff(fpr) * (np.array(tpr[1:]) + tpr[:-1]) / 2)
    return np.array(fpr), np.array(tpr), area
    ### END SOLUTION


# %% check="roc"
check(roc)

# %% [markdown] covers="explainers:2.2.a"
# **What the area means.** Pick one case of each class at random. AUC is the probability that the case of class 1 has the higher score, a tie counting half. So AUC judges the *ranking*: any strictly increasing function of the scores has the same AUC, and overconfidence does not show.

# %% covers="explainers:2.2.a"
with after(roc):
    coarse = np.round(scores, 1)  # many ties
    for s in (scores, coarse, np.exp(5 * scores)):
        ones, zeros = s[ill == 1][:, None], s[ill == 0]
        higher = np.mean(ones > zeros) + 0.5 * np.mean(ones == zeros)
        assert np.isclose(roc(s, ill)[2], higher)
    assert np.isclose(roc(scores, ill)[2], roc(np.exp(5 * scores), ill)[2])
    areas = [roc(s, ill)[2] for s in (scores, coarse)]
    print(f"AUC {areas[0]:.3f}, with scores rounded to tenths {areas[1]:.3f}")

# %% [markdown] covers="explainers:2.2.a moon:23.1-prf guo:II.4.c"
# **Find out with the widget.** The scores are those of Gaussian naive Bayes on two measurements of the tumours, on 284 test patients, counted as if there were 1000. Move $\delta$.
#
# 1. Where is F1 highest, and where accuracy? Which way along each curve does the point move?
# 2. The data come from a hospital, where 38 % of the tumours were malignant. In screening it may be 1 %. The test stays as it is. Which curve moves, which does not?
# 3. At 1 %, how high is accuracy when nobody is called ill? How high is precision at recall 0.5?

# %% covers="explainers:2.2.a moon:23.1-prf guo:II.4.c"
with after(roc):
    explore(
        nb.threshold_explorer(scores, ill, *roc(scores, ill)[:2]),
        delta=FloatSlider(
            0.5, min=0, max=0.95, step=0.05, description="δ", continuous_update=False
        ),
        share=SelectionSlider(
            value=0.38,
            options=[("1 %", 0.01), ("10 %", 0.1), ("38 %", 0.38), ("50 %", 0.5)],
            description="malignant",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="explainers:2.2.a"
# Here F1 and accuracy are both best near $\delta = 0.4$. As $\delta$ rises, the point goes down and left on ROC, and left on PR.
#
# TPR and FPR look at one class each, so the mixture of the classes does not enter, and ROC stays. Precision mixes the two: $P = \frac{\pi\,TPR}{\pi\,TPR + (1 - \pi)\,FPR}$ with the share $\pi$ of class 1. The level line of a useless score is $\pi$ in the PR plane, and the diagonal in the ROC plane.
# When class 1 is rare, a good ROC curve can go with a useless precision, and who calls nobody ill is right in 99 of 100 cases. Look at both.

# %% covers="explainers:2.2.a"
with after(roc):
    fpr, tpr = (np.array(rates[1:]) for rates in roc(scores, ill)[:2])

    def at_share(share):
        return share * tpr / (share * tpr + (1 - share) * fpr)

    seen = [np.mean(ill[scores >= t]) for t in np.unique(scores)[::-1]]
    assert np.allclose(at_share(ill.mean()), seen)
    half = np.argmax(tpr >= 0.5)  # the highest threshold that finds half of the ill
    for share in (0.38, 0.1, 0.01):
        print(f"{share:.0%} ill: precision {at_share(share)[half]:.2f} at recall 0.50")

# %% [markdown] covers="explainers:B.3"
# ## Principled or understandable?
#
# The notes only give this topic a heading. It is worth more. Accuracy is easy to explain: "right in 94 of 100 cases". But it cannot tell 0.51 from 0.99. The **log loss** $-\frac1M\sum_m \log \pi_{m, y_m}$ is the likelihood again: it is what most classifiers are trained on, and it is *proper*.
# Proper means: if the truth is $t$, no other claim has a lower expected loss than $t$ itself. But who has a feeling for a log loss of 0.27?
#
# The same tension returns all over this course: perplexity or the share of solved tasks for language models, a distance between distributions (FID) or human preference for images. A principled measure rewards what the theory wants; an understandable one can be argued about with those concerned. They can disagree:


# %% covers="explainers:B.3" demo=true
def rank_models(models, y):
    """models: name -> P(class 1). Best first, by accuracy and by log loss; scores."""
    right = {n: np.mean((p > 0.5) == y) for n, p in models.items()}
    loss = {n: -np.log(np.where(y == 1, p, 1 - p)).mean() for n, p in models.items()}
    return sorted(right, key=right.get)[::-1], sorted(loss, key=loss.get), right, loss


claims = np.linspace(0.01, 0.99, 99)
expected = -0.7 * np.log(claims) - 0.3 * np.log(1 - claims)
assert np.isclose(claims[expected.argmin()], 0.7)  # proper: the truth, 0.7, is best
# Claims of 0 and 1 are cut to 1e-12 from the ends: a sure mistake would cost infinity.
columns = {"2 features": [0, 1], "30 features": list(range(30))}
models = {n: np.clip(malignant_scores(c), 1e-12, 1 - 1e-12) for n, c in columns.items()}
by_accuracy, by_loss, right, losses = rank_models(models, ill)
assert by_accuracy == by_loss[::-1]
for name in models:
    print(f"{name}: accuracy {right[name]:.3f}, log loss {losses[name]:.2f}")
p = models["30 features"]
mistakes, sure = (p > 0.5) != ill, np.abs(p - 0.5) > 0.49
claimed = np.sum(mistakes & sure)
print(f"30 features: {mistakes.sum()} mistakes, {claimed} with a claim above 0.99")
also = (models["2 features"] > 0.5) != ill
alone = [np.sum(also & ~mistakes), np.sum(mistakes & ~also)]  # right, the other wrong
chance = 2 * binom.cdf(min(alone), sum(alone), 0.5)
print(f"only 30 right: {alone[0]} cases, only 2 right: {alone[1]}; coins: {chance:.4f}")

# %% [markdown] covers="explainers:B.3 moon:1.1 guo:II.4.c"
# You met the reason above: 30 correlated measurements, the same evidence counted many times. Thirty features decide better than two, and claim far too much. Who only wants a decision takes the 30. Who multiplies the probability by a cost, or combines it with other evidence, must not: recalibrate first (`02_classification/02_logistic_regression`), or take the two.
#
# (The last line compares the two on the cases where they differ. If neither were better, these cases would be tosses of a coin, and a result so uneven, either way, would come up with the probability printed last.)
#
# A sound habit: *train and compare* on a proper score, *report* an understandable one beside it, with its interval, and show the confusion matrix.
#
# ## On real data: which manual page is this?
#
# Python ships its own manual as text. We cut six of its pages into passages of 25 words, and ask: from which page is a passage? The first three quarters of each page train, the last quarter tests. (Passages that are neighbours share words and topic. A random split would put neighbours on both sides, and might flatter. The texts change a little with the Python version, so the figure is for yours.)
#
# A feature for each word that occurs in at least three training passages: 1 if the passage has it. That is Bernoulli naive Bayes, with more than 500 features for some 380 passages. More features than passages! Would you dare that with the full tables?
#
# A second model of text takes the passage as 25 draws of a word. Each draw is categorical, with one histogram $\mu_c$ over the vocabulary for all places: $\log p(x \mid c) = \sum_w n_w \log \mu_{cw}$ plus a constant, where $n_w$ counts word $w$. This one deserves the name *multinomial* naive Bayes: counts of several draws follow a multinomial distribution, one draw is categorical. It ignores absent words; Bernoulli uses them.

# %% covers="moon:1.1" demo=true
import re

pages = {"debugger": 100, "formatstrings": 100, "string-methods": 100}
pages.update({"specialnames": 100, "assignment": 60, "import": 50})  # passages of each
passages, topic, is_test = [], [], []
for number, (page, count) in enumerate(pages.items()):
    words = re.findall("[a-z]+", data.documents()[page].lower())
    passages += [words[25 * i : 25 * (i + 1)] for i in range(count)]
    topic += [number] * count
    is_test += [i >= 0.75 * count for i in range(count)]
topic, is_test = np.array(topic), np.array(is_test)
in_training = [set(words) for words, held in zip(passages, is_test) if not held]
known = sorted({w for ws in in_training for w in ws})
vocabulary = [w for w in known if sum(w in ws for ws in in_training) >= 3]
counts = np.array([[words.count(w) for w in vocabulary] for words in passages])
has = (counts > 0).astype(int)
assert len(vocabulary) > np.sum(~is_test)

# %% covers="moon:1.1 guo:II.4.c"
with after(fit_bernoulli_nb, nb_log_posterior, confusion, macro_f1):
    pi, theta = fit_bernoulli_nb(has[~is_test], topic[~is_test], 6, 1)
    log_p = nb_log_posterior(has[is_test], pi, theta)
    yhat, actual = log_p.argmax(axis=1), topic[is_test]
    totals = [counts[~is_test & (topic == c)].sum(axis=0) + 1 for c in range(6)]
    totals = np.array(totals)
    log_mu = np.log(totals / totals.sum(axis=1, keepdims=True))
    drawn = counts[is_test] @ log_mu.T + np.log(pi)
    C = confusion(actual, yhat, 6)
    right = [np.sum(answer == actual) for answer in (yhat, drawn.argmax(axis=1))]
    for hits in right:
        assert wilson(hits, len(actual))[0] > 0.6  # always the commonest page: 0.2
    others = np.array([np.delete(theta, c, axis=0).max(axis=0) for c in range(6)])
    ranked = np.argsort(others - theta, axis=1)[:, :4]
    telling = [[vocabulary[j] for j in row] for row in ranked]
    assert "pdb" in telling[0] and "import" in telling[5]
    f1 = macro_f1(C, "mean_of_f1")[2]
    assert 0.6 < f1 < 1
    as_draws = right[1] / len(actual)
    show(*nb.draw_text(C, list(pages), telling, f1, wilson, as_draws), digits=0)

# %% [markdown] covers="moon:1.1 guo:II.4.c guo:II.4.b"
# ## Take-aways
#
# - Naive Bayes describes each class by one distribution a feature. The likelihood falls apart into one sum a parameter, so fitting is counting.
# - Smooth the counts, work with logarithms, and take the maximum out before you exponentiate.
# - If features are correlated, naive Bayes counts evidence more than once. Its decisions can be as good as any; its probabilities are not to be trusted.
# - Confusion matrix: say what rows are. Precision divides by what was *called*, recall by what *is*.
# - Macro averages give each class the same weight, micro-F1 is accuracy. Macro-F1 has two conventions: say which, and what 0/0 is.
# - Raising the threshold never raises recall. Precision as a rule rises, but need not.
# - ROC ignores how frequent the classes are, PR does not. AUC is the chance to rank a pair rightly.
# - A measured accuracy has a standard deviation of $\sqrt{p(1-p)/M}$. Give an interval, and compare two models on the same cases by where they differ.
#
# ## What the notes got wrong
#
# First the evaluation. The table of guo II.4.c prints the false *negatives* in row "spam", column "non-spam", and its caption says that columns are actual. Put the two together: what would that cell hold, and what would the formula for precision give? The cell below counts both ways.

# %% covers="guo:II.4.c guo:II.4.b" demo=true
spam, called_spam = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 0, 1, 1, 1, 0])
false_negatives = np.sum((spam == 1) & (called_spam == 0))
row, column = 1, 0  # row "spam", column "non-spam"


def cell(row_is, column_is):
    return np.sum((row_is == row) & (column_is == column))


def first_formula(row_is, column_is):  # C_kk over the sum of its column, k = spam
    return np.mean(row_is[column_is == 1])


precision = np.mean(spam[called_spam == 1])  # TP / (TP + FP)
erratum(
    "guo:II.4.c",
    "Table II.1: columns are actual, rows are predicted, and row spam, column non-spam "
    "holds the false negatives (also: 'Span' for 'Spam')",
    "rows are actual, columns predicted; then the table and both formulas are right",
    printed_holds=cell(called_spam, spam) == false_negatives
    or first_formula(called_spam, spam) == precision,
    corrected_holds=cell(spam, called_spam) == false_negatives
    and first_formula(spam, called_spam) == precision,
)
actual = np.array([0, 1, 2, 2, 1])
predicted_p = np.eye(3)[[0, 2, 2, 1, 1]]
difference = actual - predicted_p.argmax(axis=1)  # "true" where it is not 0
erratum(
    "guo:II.4.b",
    r"Acc $= \frac1M \sum_n \mathbb 1[y_n - \arg\max \pi_n]$, "
    "with an index $n$ that belongs to the training set",
    r"Acc $= \frac1M \sum_m \mathbb 1[y_m = \arg\max \pi_m]$, an equality, "
    "over the test set",
    printed_holds=np.isclose(np.mean(difference != 0), 3 / 5),
    corrected_holds=np.isclose(np.mean(difference == 0), 3 / 5),
)
sure, truth = np.array([0.9, 0.8, 0.7, 0.6, 0.4]), np.array([0, 1, 1, 1, 0])
hits = np.array([np.sum(truth[sure > d]) for d in (0.3, 0.5, 0.65, 0.75, 0.85)])
precision = hits / np.array([5, 4, 3, 2, 1])
s, share = np.linspace(1, 0, 101), np.random.default_rng(9).random(101)
calibrated = np.cumsum(s * share) / np.cumsum(share)  # E[s | s at least so high]
erratum(
    "explainers:2.2.a",
    r"a threshold $\delta > 0.5$ is chosen for higher precision and lower recall",
    r"recall never rises with $\delta$; precision may fall (for a calibrated score, in "
    "the population, it does not)",
    printed_holds=precision[-1] >= precision[1],
    corrected_holds=np.all(np.diff(hits) <= 0)
    and precision[-1] < precision[1]
    and np.all(np.diff(calibrated) <= 0),
)

# %% [markdown] covers="moon:1.1 moon:23.1-prf"
# Then naive Bayes. The opening of moon 1.1 writes the probability of the data as $\prod_i p(y_i \mid x_i)$, and then fits by counting. Do the counts maximise that product?
# Take one yes/no feature and a copy of it, and make the factors flatter or steeper: $\theta \to \theta^a / (\theta^a + (1 - \theta)^a)$. At $a = 1$ stand the counts.
# The last entries name what is missing or misnamed, with nothing to compute.

# %% covers="moon:1.1 moon:23.1-prf" demo=true
x, label = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], [30, 10, 15, 45], axis=1)
ones = np.array([np.mean(x[label == c]) for c in (0, 1)])


def joint_terms(a):
    """log p(x, y) of every case and class, the counts flattened by a. -> (100, 2)"""
    theta = ones**a / (ones**a + (1 - ones) ** a)
    factor = np.where(x[:, None] == 1, theta, 1 - theta)
    return np.log([0.45, 0.55]) + 2 * np.log(factor)  # twice: the feature and its copy


powers, own = np.linspace(0.2, 2, 181), (range(100), label)
joint = [joint_terms(a)[own].sum() for a in powers]
conditional = [log_softmax(joint_terms(a), axis=1)[own].sum() for a in powers]
erratum(
    "moon:1.1",
    r"with i.i.d. data the probability to be modelled is $\prod_i p(y_i \mid x_i)$",
    r"the counts maximise $\prod_i p(x_i, y_i)$, the likelihood of a generative model",
    printed_holds=np.isclose(powers[np.argmax(conditional)], 1),
    corrected_holds=np.isclose(powers[np.argmax(joint)], 1),
)
sample = data.iris().X[:50, 2]  # petal lengths of one species
grid = np.linspace(0.5, 3, 2501)
printed = [np.sum(-0.5 * (sample - m**2) ** 2) for m in grid]
corrected = [np.sum(-0.5 * (sample - m) ** 2) for m in grid]
erratum(
    "moon:1.1",
    r"$\mathcal N(x_j \mid \mu_{jc}^2)$, where $\mu_{jc}$ is the mean of $x_j$",
    r"$\mathcal N(x_j \mid \mu_{jc}, \sigma_{jc}^2)$: the mean, not squared; variance",
    printed_holds=abs(grid[np.argmax(printed)] - sample.mean()) < 0.002,
    corrected_holds=abs(grid[np.argmax(corrected)] - sample.mean()) < 0.002,
)
erratum(
    "moon:1.1",
    r"Algorithm 1 returns $\hat\pi = N_c/N$",
    r"$\hat\pi_c = N_c/N$, one number a class; and $\hat\theta$ needs smoothing",
)
erratum(
    "moon:1.1",
    "a categorical feature is modelled by the multinomial distribution",
    "by the categorical distribution; multinomial are the counts of several draws",
)
erratum(
    "moon:23.1-prf",
    "F1 takes both metrics into account 'in the following equation', and none follows",
    r"$F_1 = 2PR/(P + R) = 2\,TP/(2\,TP + FP + FN)$",
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="one machine for every kind of target: any number, yes or no, counts, classes" covers="guo:I.3"
# # Generalised linear models and softmax
#
# 27 January 1986, the evening before a launch. The forecast for the space shuttle *Challenger* is 31 °F (−1 °C). Will
# the rubber O-rings of its boosters seal? There are 23 flights to learn from, none colder than 53 °F. Fit a straight
# line to damage (1) or none (0), ask it for 31 °F, and it says: *1.75*. Asked about deaths from AIDS, one
# quarter before a table of counts begins, it says: *−9.5*. Shown a thick stroke, a handwritten 1 or perhaps an 8, it
# reads *3.9*.
#
# Three answers that cannot be, and least squares made no mistake. *Which one thing must change in it, and
# what would it have said that evening?* At the end, one machine of yours answers all three.

# %%
# What this notebook needs.
import numpy as np
import sympy
import torch
from ipywidgets import Dropdown, FloatLogSlider, FloatSlider, IntSlider
from scipy import stats
from scipy.special import expit, logsumexp

from descent import (
    after,
    below,
    check,
    claim,
    data,
    erratum,
    explore,
    hint,
    movie,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.classification import generalised_linear_models as glm

start("02_classification/03_generalised_linear_models")

# %% covers="guo:I.3"
# Three tables, and what least squares says where it is asked (squares).
show(*glm.draw_impossible())

# %% [markdown] covers="guo:I.3 guo:I.3.a"
# ## 1. Whose mistake is 1.75?
#
# Not the data's, not the computer's. We never said what damage *can* be. So say it, in three steps:
#
# 1. **Support**: which values can the target $y$ take?
# 2. **Family**: choose a distribution on just these values.
# 3. **Inverse link** $h$: a linear score $\eta = \langle w, x\rangle$ sets the mean, $\mathbb E[y\mid x] = \mu =
#    h(\eta)$, where $h$ turns every score into a possible mean.
#
# Then maximum likelihood finds $w$. This is a **generalised linear model**. (Nelder and Wedderburn, 1972; the *link*
# is $g = h^{-1}$.) As before, $x$ begins with a 1, so that the first entry of $w$ is the
# bias. (The notes write $\tilde x = [1; x]$ and $\tilde w = [w_0; w]$.)

# %% [markdown] covers="guo:I.3 guo:I.3.a"
# | family | support of $y$ | $\mu = h(\eta)$ | $A(\eta)$ | variance |
# |---|---|---|---|---|
# | Gaussian (variance 1) | all numbers | $\eta$ | $\eta^2/2$ | $1$ |
# | Bernoulli | 0, 1 | $1/(1+e^{-\eta})$ | $\log(1 + e^\eta)$ | $\mu(1-\mu)$ |
# | Poisson | 0, 1, 2, … | $e^\eta$ | $e^\eta$ | $\mu$ |
#
# These $h$ are the **canonical** ones. With them a row costs
#
# $$-\log p(y\mid\eta) = A(\eta) - y\,\eta + (\text{something without } \eta),$$
#
# and differentiating twice gives $A' = \mu$ and $A'' = $ variance. So the slope of a row's cost by its score is $\mu -
# y$, mean minus target, whichever of the three families, each with its canonical $h$. Write the gradient of the mean cost of $n$ rows. (Stuck? `hint(glm_grad)`, up to
# three times; so for every exercise. `expit` is the sigmoid.)


# %% exercise="glm_grad" points=2 difficulty=1 covers="guo:I.3 guo:I.3.a"
def glm_grad(X, y, w, family):
    """Gradient of the mean over the rows of A(eta) - y eta, by w.

    X (n, d), y (n,), w (d,); family is "gaussian", "bernoulli" or "poisson".
    Returns (d,).
    X = [[1, 0], [1, 2]], y = [1, 0] and w = [0, 0] give
    gaussian [-0.5, 0], bernoulli [0, 0.5], poisson [0.5, 1].
    """
    ### BEGIN SOLUTION
    eta = X @ w
    if family == "bernoulli":
        mu = expit(eta)
    elif family == "poisson":
        mu = np.exp(eta)
    else:
        mu = eta
    return X.T @ (mu - y) / len(y)
    ### END SOLUTION


# %% check="glm_grad"
check(glm_grad)

# %% covers="guo:I.3 guo:I.3.a guo:I"
# The table against SciPy's distributions; your gradient against torch's three losses.
A = {
    "gaussian": lambda e: e**2 / 2,
    "bernoulli": lambda e: np.logaddexp(0, e),
    "poisson": np.exp,
}
P = {
    "gaussian": lambda e: stats.norm(e, 1),
    "bernoulli": lambda e: stats.bernoulli(expit(e)),
    "poisson": lambda e: stats.poisson(np.exp(e)),
}
h, e = 1e-3, 0.7
for family, a in A.items():
    first = (a(e + h) - a(e - h)) / (2 * h)
    second = (a(e + h) - 2 * a(e) + a(e - h)) / h**2
    right = np.allclose([first, second], P[family](e).stats("mv"), rtol=1e-5)
    log_p = "logpdf" if family == "gaussian" else "logpmf"
    rest = [getattr(P[family](v), log_p)(1) + a(v) - v for v in (0.7, -0.4)]
    words = "{family}: A′ and A″ are mean and variance, and what is left knows no η"
    claim(words, right and np.isclose(*rest), family=family)
with after(glm_grad):
    F = torch.nn.functional
    losses = {
        "gaussian": lambda eta, y: F.mse_loss(eta, y) / 2,
        "bernoulli": F.binary_cross_entropy_with_logits,
        "poisson": F.poisson_nll_loss,
    }
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(20, 3)), np.array([0.5, -1, 0.3])
    y = rng.integers(0, 2, 20) * 1.0  # in the support of all three
    for family, cost in losses.items():
        leaf = torch.tensor(w, requires_grad=True)
        cost(torch.tensor(X) @ leaf, torch.tensor(y)).backward()
        same = np.allclose(glm_grad(X, y, w, family), leaf.grad)
        claim("{family}: your gradient is torch's", same, family=family)

# %% predict="sum" minutes=1
predict(
    "sum",
    "A Bernoulli model with its canonical link is fitted to the 23 flights; 7 had "
    "damage. What do its 23 probabilities add up to?",
    [
        "a bit less than 7: no probability reaches 1",
        "a bit more than 7: none is 0",
        "exactly 7",
    ],
    truth=2 if abs(glm.rings("logit")[0].sum() - 7) < 1e-4 else 0,
    because="At the best w the gradient is 0. Its first entry belongs to the column "
    "of ones: the errors μ − y sum to 0. So it is for every family with its canonical "
    "link and a column of ones.",
)

# %% [markdown] covers="guo:I.3"
# **Which knob does what?** Canonical is convenient, not compulsory. Take any family with any link; the picture fits by
# maximum likelihood.
#
# 1. *O-rings*, Gaussian, identity: that is the line. Which *single* change makes every mean possible, another family or another
#    link?
# 2. *Deaths*, log link: from Gaussian to Poisson. What happens to the band, and which end of the data does the curve
#    obey now?
# 3. *O-rings*, Poisson, log: 0 and 1 are counts. What goes wrong?
# 4. *Diabetes*: which families refuse, and what is wrong with the log link?
#
# The link decides which means can be, the family how far rows scatter, and so which rows count most.

# %% covers="guo:I.3"
# Three tables, three families, six links.
explore(
    glm.draw_fit,
    table=Dropdown(options=list(glm.cases()), description="table"),
    family=Dropdown(options=list(glm.VARIANCES), description="family"),
    link=Dropdown(options=list(glm.LINKS), description="link"),
)

# %% [markdown] covers="guo:II.3 wu:2.8 cs480:eq4.b explainers:4.1.2"
# ## 2. A digit is no number
#
# Between 1 and 8 lies 4, so a stroke that could be either was read as 3.9. But a digit is a *name*. What is its support? Make
# the label **one-hot**: $y \in \{0,1\}^K$, a 1 at its class. The outcomes are the $K$ corners of the **simplex**: of all
# vectors with entries $\ge 0$ that sum to 1. The **categorical** family gives class $k$ the probability $\pi_k \ge 0$, $\sum_k\pi_k = 1$:
#
# $$p(y) = \prod_k \pi_k^{\,y_k} = \pi_\text{true class}, \qquad \mathbb E[y] = \pi .$$
#
# So the mean is a point of the simplex. Which $h$ takes $K$ scores $z = W^\top x$ (*logits*) there? Make them positive, divide by
# the sum:
#
# $$\operatorname{softmax}(z)_k = \frac{e^{z_k}}{\sum_j e^{z_j}} .$$

# %% [markdown] covers="guo:II.3 wu:2.8.3 cs480:eq4.b"
# So $\log\pi_k = z_k -$ (the same for all $k$): a score is a log-probability, up to a constant that all classes share. Add 5
# to all scores: every exponential grows by the factor $e^5$, and it cancels. Therein lies the remedy for
# $e^{1000}$: from each row subtract a number of its own that makes all exponents harmless.
#
# A **temperature** $T>0$ divides the scores first. Cold, the winner takes all: the **hardmax** has a 1 where a
# score is above all others, 0 elsewhere. So softmax softens the *argmax*, not the maximum. (The soft maximum is $T\log\sum_k e^{z_k/T}$.)


# %% exercise="softmax" points=2 difficulty=1 covers="guo:II.3 wu:2.8 cs480:eq4.b wu:2.8.3"
def softmax(Z, T=1.0):
    """Probabilities of each row's classes.

    Z (n, K): scores, of any size. T > 0: temperature.
    Returns (n, K): exp(Z / T) divided by its row sums, without overflow.
    Z = [[0, 0], [1000, 1000 + log 3]] gives [[0.5, 0.5], [0.25, 0.75]].
    """
    ### BEGIN SOLUTION
    S = Z / T
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% check="softmax"
check(softmax)

# %% predict="tie" minutes=1
predict(
    "tie",
    "Scores (2, 2, 0). The temperature goes to 0. Where does softmax go?",
    ["to (1, 0, 0)", "to (½, ½, 0)", "to (⅓, ⅓, ⅓)", "to (0, 0, 0), as hardmax"],
    truth=1 if np.allclose(glm.soft([2, 2, 0], 0.01), [0.5, 0.5, 0]) else 0,
    because="Equal scores have equal probabilities at every T. Hardmax, as defined, "
    "knows no winner there: it gives (0, 0, 0), which is no distribution.",
)

# %% covers="wu:2.8.3 guo:II.3 cs480:eq4.b"
# Both ends of the temperature, shifts, the soft maximum, and what a learner can follow.
with after(softmax, "tie"):
    z, bump = np.array([2.0, 1.0, -0.5]), np.array([0, 1e-5, 0])

    def soft(z, T=1.0):
        return np.asarray(softmax(np.array([z]), T))[0]

    claim("T → 0 is hardmax", np.allclose(soft(z, 1e-3), glm.hardmax(z)))
    claim("T → ∞ makes all alike", np.allclose(soft(z, 1e6), 1 / 3, atol=1e-5))
    claim("a shift of all scores is not seen", np.allclose(soft(z + 1234), soft(z)))
    tops = [T * logsumexp(z / T) - z.max() for T in (0.01, 1, 5)]
    high = np.array([0.01, 1, 5]) * np.log(3)
    words = "the soft maximum is above the maximum, by T log K at most"
    claim(words, np.all(-1e-12 <= np.array(tops)) and np.all(tops <= high))
    for name, f in (("softmax", soft), ("hardmax", glm.hardmax)):
        slope = (f(z + bump) - f(z - bump)) / 2e-5
        print(f"{name}: slopes by the middle score", *slope.round(2))

# %% [markdown] covers="wu:2.8.3 guo:II.3"
# **Grab the scores** of classes 1 and 2 on the left.
#
# 1. Change only $T$: can the point in the triangle leave its kite?
# 2. Put the dot on a border and cool down. Where does the point go, and what does hardmax say?
# 3. Move all three scores by 1. What moves?

# %% covers="guo:II.3 wu:2.8.3 cs480:eq4.b"
# Drag the dot; the triangle is the simplex, its corners are certainty.
with after(softmax, "tie"):
    explore(
        glm.simplex_explorer(softmax),
        drag={("z1", "z2"): "scores"},
        z0=FloatSlider(0.0, min=-4, max=4, step=0.5, description="score 0"),
        z1=FloatSlider(2.0, min=-4, max=4, step=0.1, description="score 1"),
        z2=FloatSlider(-0.5, min=-4, max=4, step=0.1, description="score 2"),
        T=FloatLogSlider(1, min=-1.5, max=1.5, step=0.1, description="T"),
    )

# %% [markdown] covers="guo:II.3 guo:II.3.a wu:2.8.5 wu:2.8.4 cs480:eq4.b"
# **The loss.** Put softmax into $-\log p$. As the $y_k$ sum to 1, a row of true class $c$ costs
#
# $$-\sum_k y_k\Big[z_k - \log\sum_j e^{z_j}\Big] = \log\sum_j e^{z_j} - z_c,$$
#
# the **cross-entropy**. (Never take the log of a probability that may have become 0: `logsumexp` is safe.) Its slope by the score
# $z_k$? The first term gives $\pi_k$. The second gives −1, but only for the true class:
#
# - $k = c$, $y_k = 1$: slope $\pi_k - 1$; descent raises this score.
# - $k \ne c$, $y_k = 0$: slope $\pi_k$; descent lowers it, the more the likelier it was.
#
# One line holds both, $\pi_k - y_k$: **mean minus target**, once more. By $W$, with $\Pi$ and $Y$ for all rows: $\frac1n X^\top(\Pi - Y)$.


# %% exercise="softmax_grad" points=3 difficulty=1 covers="guo:II.3 guo:II.3.a wu:2.8 wu:2.8.5 cs480:eq4.b wu:2.8.4"
def softmax_grad(W, X, labels):
    """The mean cross-entropy of softmax regression, and its gradient by W.

    W (d, K): column k scores class k. X (n, d). labels (n,): integers 0 … K - 1; a
    class may be absent.
    Returns (loss, gradient (d, K)), for scores of any size.
    W = [[0, 0]], X = [[1], [3]], labels = [1, 1] give log 2 = 0.6931 and [[1, -1]].
    """
    ### BEGIN SOLUTION
    Z = X @ W
    Y = np.eye(W.shape[1])[labels]
    loss = np.mean(logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1))
    return loss, X.T @ (softmax(Z) - Y) / len(X)
    ### END SOLUTION


# %% check="softmax_grad"
check(softmax_grad)

# %% covers="guo:II.3.a wu:2.8.5 guo:II.3 cs480:eq4.b"
# Both cases by algebra; the Jacobian of softmax; your function against torch.
symbols = sympy.symbols("z0:3", real=True)
total = sum(map(sympy.exp, symbols))
right = []
for c in range(3):  # each true class in turn, and the slope by each score
    for k in range(3):
        slope = sympy.diff(sympy.log(total) - symbols[c], symbols[k])
        case = sympy.exp(symbols[k]) / total - int(k == c)
        right.append(sympy.simplify(slope - case) == 0)
claim("π − y holds in all {n} cases of class and score", all(right), n=len(right))
pi = glm.soft([0.5, -1.0, 2.0, 0.3], 1.0)
J, y = np.diag(pi) - np.outer(pi, pi), np.eye(4)[2]
scores = torch.tensor([0.5, -1.0, 2.0, 0.3], dtype=torch.float64)
auto = torch.autograd.functional.jacobian(lambda t: torch.softmax(t, 0), scores)
claim("∂π/∂z is diag(π) − ππᵀ", np.allclose(J, auto))
claim("it turns −y/π into π − y", np.allclose(J.T @ (-y / pi), pi - y))
with after(softmax_grad):
    rng = np.random.default_rng(5)
    X, W, labels = rng.normal(size=(40, 3)), rng.normal(size=(3, 4)), np.arange(40) % 4
    leaf = torch.tensor(W, requires_grad=True)
    theirs = torch.nn.functional.cross_entropy(
        torch.tensor(X) @ leaf, torch.tensor(labels)
    )
    theirs.backward()
    loss, G = softmax_grad(W, X, labels)
    claim("loss and gradient are torch's", np.allclose(G, leaf.grad))
    at_zero = softmax_grad(0 * W, X, labels)[0]
    same = np.isclose(at_zero, np.log(4))
    claim("W = 0 costs log K = {loss:.3f}", same, loss=at_zero)
    sums = np.abs(np.sum(G, axis=1)).max()
    words = "the columns of the gradient sum to 0 (error {gap})"
    claim(words, sums < 1e-9, gap=below(1e-9))

# %% [markdown] covers="guo:I.3 guo:II.2 guo:II.3 cs480:eq4.b"
# ## 3. One machine
#
# Now build it. $Y$ is $(n, m)$: $m$ targets a row, or a one-hot label of $m$ classes. Each column has its weights, $Z = XW$, $W$ is
# $(d, m)$. With $A(z) = \sum_k A(z_k)$ for the three families of the table, and $\log\sum_k e^{z_k}$ for the categorical, all four
# have
#
# $$F(W) = \frac1n\sum_i \Big(A(z_i) - \langle y_i, z_i\rangle\Big), \qquad \nabla F(W) = G = \frac1n X^\top(\text{means} - Y).$$
#
# How long a step? For counts no fixed one is safe: $e^z$ has no largest curvature. So try $t = 1$ first. While
#
# $$F(W - tG) > F(W) - \tfrac t4\lVert G\rVert^2,$$
#
# halve $t$. Step. The next step first tries $2t$. ($\lVert G\rVert^2$: the sum of all squares. A try may overflow to $\infty$: halve it.)
#
# Begin with `parts`: `check(GLM)` judges it before there is a `fit`.


# %% exercise="GLM" points=6 difficulty=1 covers="guo:I.3 guo:II.2 guo:II.3 cs480:eq4.b"
class GLM:
    """A generalised linear model with its canonical inverse link.

    GLM(family): "gaussian", "bernoulli", "poisson" or "categorical".
    """

    def __init__(self, family):
        self.family = family

    def parts(self, Z):
        """A of each row (n,), and the means (n, m), of scores Z (n, m).

        "bernoulli" and "categorical": finite for scores of any size.
        GLM("poisson").parts(np.array([[0.0, np.log(3)]])) gives [4] and [[1, 3]].
        """
        ### BEGIN SOLUTION
        if self.family == "categorical":
            return logsumexp(Z, axis=1), softmax(Z)
        if self.family == "bernoulli":
            A, means = np.logaddexp(0, Z), expit(Z)
        elif self.family == "poisson":
            A, means = np.exp(Z), np.exp(Z)
        else:
            A, means = Z**2 / 2, Z
        return A.sum(axis=1), means
        ### END SOLUTION

    def fit(self, X, Y, tol, max_steps):
        """Descend from W = 0 by the rule above, and keep the last W as self.W.

        X (n, d). Y (n, m): the targets; for "categorical" one-hot rows of m classes.
        Stops before a step where ‖G‖ is at most tol, and after max_steps steps.
        Returns the losses F, a list: at the start and after each step.
        GLM("poisson") on X = [[1]], Y = [[3]], tol = 0.5: t = 1 fails, t = 1/2 leads
        to W = [[1]]. The losses are [1, -0.2817]; there ‖G‖ is 0.28.
        """

        ### BEGIN SOLUTION
        def loss(W):
            A, _ = self.parts(X @ W)
            return np.mean(A - np.sum(Y * (X @ W), axis=1))

        self.W, t = np.zeros((X.shape[1], Y.shape[1])), 1.0
        losses = [loss(self.W)]
        while len(losses) <= max_steps:
            _, means = self.parts(X @ self.W)
            G = X.T @ (means - Y) / len(X)
            square = np.sum(G**2)
            if np.sqrt(square) <= tol:
                break
            while loss(self.W - t * G) > losses[-1] - t / 4 * square:
                t = t / 2
            self.W = self.W - t * G
            losses.append(loss(self.W))
            t = 2 * t
        return losses
        ### END SOLUTION

    def predict(self, X):
        """The means (n, m) of rows X (n, d), after a fit."""
        ### BEGIN SOLUTION
        return self.parts(X @ self.W)[1]
        ### END SOLUTION


# %% check="GLM"
check(GLM)

# %% [markdown] covers="cs480:eq4.b wu:2.8 guo:II.3"
# First a rehearsal: 178 wines of three cultivars, two measurements. Untrained, every wine is in the middle of the simplex. Press play. Why
# are the borders on the left straight? (On a border two scores are equal.) The machine names the class of the highest probability.

# %% covers="cs480:eq4.b wu:2.8 guo:II.3"
# Your machine learns the wines; each dot is a wine, coloured by its cultivar.
with after(softmax, GLM):
    X, labels = glm.wine_rows()
    wines, places = GLM("categorical"), []
    for steps in range(21):
        wines.fit(X, np.eye(3)[labels], 0.0, steps)
        places.append(glm.to_plane(wines.predict(X)))
    fig, ax, words = glm.draw_wines(wines.predict, places[0])
    colors = [glm.COLORS[label] for label in labels]
    movie(fig, ax, places, words, seconds=6, colors=colors)

# %% [markdown] covers="guo:I.3 guo:II.3 cs480:eq4.b cs480:9-multi"
# **The three questions.** Same machine, three families. For 31 °F we also want to know how sure: the curvature of the summed loss is $I =
# X^\top \operatorname{diag}(\mu(1-\mu))\,X$, and for many rows a score $\langle w, x\rangle$ scatters with variance $x^\top I^{-1}x$. As a rival for
# the digits, ten Bernoulli outputs: "is it a 0?", "is it a 1?", …

# %% covers="guo:I.3 guo:II.3 cs480:eq4.b"
# The answers to the first screen, by your machine; scikit-learn is the referee.
with after(GLM, "sum"):
    from sklearn.linear_model import LogisticRegression, PoissonRegressor

    plain, curves = dict(fit_intercept=False, tol=1e-9, max_iter=10_000), {}
    for table, family, theirs in (
        ("O-rings (0 or 1)", "bernoulli", LogisticRegression(C=np.inf, **plain)),
        ("deaths (counts)", "poisson", PoissonRegressor(alpha=0, **plain)),
    ):
        case, model = glm.cases()[table], GLM(family)
        X, at = case.scaled(case.x), case.scaled(np.linspace(*case.span, 60))
        steps = len(model.fit(X, case.y[:, None], 1e-6, 5000)) - 1
        same = np.allclose(model.W[:, 0], theirs.fit(X, case.y).coef_, atol=1e-3)
        total = np.sum(model.predict(X))
        words = "{table}: scikit-learn's weights; the means add up to {total:.2f}"
        claim(words, same, table=table, total=total)
        curves[family] = np.asarray(model.predict(at))[:, 0]
        if family == "bernoulli":
            mu, score = model.predict(X)[:, 0], at @ model.W[:, 0]
            inverse = np.linalg.inv((X.T * (mu * (1 - mu))) @ X)
            error = 1.96 * np.sqrt(np.sum(at @ inverse * at, axis=1))
            ends = expit(score - error), expit(score + error)
    X, labels, new, truth = glm.digits()
    models = {family: GLM(family) for family in ("categorical", "bernoulli")}
    for family, model in models.items():
        losses = model.fit(X, np.eye(10)[labels], 1e-3, 150)
        p = np.asarray(model.predict(new))
        wrong, sums = np.mean(p.argmax(1) != truth), p.sum(1)
        print(f"digits, {family}: {100 * wrong:.0f} % of unseen ones wrong, "
              f"probabilities sum to {sums.min():.1f} … {sums.max():.1f}")  # fmt: skip
    rings = np.column_stack([curves["bernoulli"], *ends])
    stroke = models["categorical"].predict(new[[glm.STROKE]])[0]
    show(*glm.draw_answers(rings, curves["poisson"], stroke), digits=1)

# %% [markdown] covers="guo:I.3 guo:II.3 wu:2.8.6"
# ## Take-aways
#
# - What had to change: the **inverse link**, so that every score gives a possible mean, and with it the loss. The linear score stays,
#   and so does the gradient, $X^\top(\text{means} - Y)/n$.
# - That evening: damage with probability 0.9996. Honestly: that probability may be anything from 0.48
#   to 1 (95 % interval), as no flight was that cold. Each end said *wait*. The chart on
#   the table showed only the 7 flights with damage; they alone can teach "always".
# - Link: which means can be. Family: how far rows scatter, and whom the fit trusts.
# - Softmax is a soft argmax. Subtract each row's maximum; never take the log of a computed probability.
# - Ten yes-or-no models err about as rarely, but only softmax's ten numbers are a distribution. [[07/06]] puts a network
#   under it.

# %% [markdown] covers="guo:I.3"
# ## Deeper: any inverse link
#
# A probability may also be $\Phi(\eta)$, the normal distribution function (**probit**), or $1 - e^{-e^\eta}$ (**cloglog**: the chance of at least one
# event when events are Poisson with mean $e^\eta$). For our three families $\frac{\partial}{\partial\mu}\log p = \frac{y-\mu}{V(\mu)}$, with $V$ the
# variance. So with any $h$ the log-likelihood has the gradient, the **score vector**,
#
# $$U = \sum_i \frac{(y_i-\mu_i)\,h'(\eta_i)}{V(\mu_i)}\,x_i, \qquad\text{and}\qquad I = \sum_i\frac{h'(\eta_i)^2}{V(\mu_i)}\,x_ix_i^\top$$
#
# is the **Fisher information**: the expected square, as $\mathbb E(y-\mu)^2 = V$. Canonical: $h' = A'' = V$ cancels.
#
# Newton divides by the curvature, **Fisher scoring** by the expected one: $w \leftarrow w + I^{-1}U$.


# %% exercise="glm_step" points=3 difficulty=1 covers="guo:I.3"
def glm_step(X, y, w, mean, slope, variance):
    """One step of Fisher scoring for any family and any inverse link.

    X (n, d) with independent columns, y (n,), w (d,).
    mean, slope: functions of the scores eta (n,) -> (n,): h and its derivative h'.
    variance: function of the means mu (n,) -> (n,). Slopes are not zero
    (the mean may fall as the score rises: slopes < 0), variances > 0.
    Returns the new weights (d,).
    X = [[1], [1]], y = [1, 3], w = [0], mean = slope = np.exp and variance(mu) = mu
    give [1.0]: the means are 1, the score vector is 2 and the information is 2.
    """
    ### BEGIN SOLUTION
    eta = X @ w
    mu, s = mean(eta), slope(eta)
    score = X.T @ ((y - mu) * s / variance(mu))
    information = X.T @ (X * (s**2 / variance(mu))[:, None])
    return w + np.linalg.solve(information, score)
    ### END SOLUTION


# %% check="glm_step"
check(glm_step)

# %% predict="probit" minutes=1
predict(
    "probit",
    "The 23 flights again, with the probit link. Do its probabilities add up to 7?",
    ["yes, as with every link", "no, but nearly", "no, far from it"],
    truth=1 if 1e-3 < abs(glm.rings("probit")[0].sum() - 7) < 0.5 else 0,
    because="Here the errors are weighted by slope/variance before they sum to 0. "
    "Only for the canonical link (up to a factor) is that weight the same for all "
    "rows.",
)

# %% covers="guo:I.3 guo:I.3.a"
# The score vector by small steps, the expected square, and three links on the O-rings.
V, rng, e = glm.VARIANCES, np.random.default_rng(2), 1e-6
X, w = glm.with_ones(rng.uniform(-1, 1, 30)), np.array([0.5, 0.2])
y, eta = rng.integers(0, 2, 30) * 1.0, X @ w  # scores between 0.3 and 0.7
pairs = [(f, k) for f in V for k in ("identity", "sqrt")]
pairs += [("gaussian", "log"), ("poisson", "log"), ("bernoulli", "probit")]
right = []
for family, name in [*pairs, ("bernoulli", "cloglog")]:
    link = glm.LINKS[name]
    U = X.T @ ((y - link.mean(eta)) * link.slope(eta) / V[family](link.mean(eta)))
    ends = [[glm.nll(y, link.mean(X @ (w + s * d)), family) for s in (e, -e)]
            for d in np.eye(2)]  # fmt: skip
    right.append(np.allclose(-U, np.diff(ends)[:, 0] / (-2 * e), rtol=1e-5, atol=1e-6))
claim("U is the gradient, for {n} pairs of family and link", all(right), n=len(right))
counts, mean, slope = np.arange(60), 0.8**2, 2 * 0.8  # Poisson, mean η², η = 0.8
squares = ((counts - mean) * slope / mean) ** 2
expected = stats.poisson(mean).pmf(counts) @ squares
claim("h′²/V = {v:.0f} is the expected square", np.isclose(expected, 4), v=expected)
with after(glm_step, "probit"):
    case = glm.cases()["O-rings (0 or 1)"]
    X, y = case.scaled(case.x), case.y
    for name in ("logit", "probit", "cloglog"):
        link, w = glm.LINKS[name], np.zeros(2)
        for _ in range(30):
            w = glm_step(X, y, w, link.mean, link.slope, V["bernoulli"])
        p = link.mean(case.scaled([glm.LAUNCH, 55, 65, 75]) @ w)
        print(f"{name:8}P(damage) at 31, 55, 65, 75 °F:", *p.round(2))
        total = link.mean(X @ w).sum()
        words = "{name}: the probabilities add up to {total:.2f}"
        claim(words, np.isclose(total, 7) == (name == "logit"), name=name, total=total)

# %% [markdown] covers="guo:II.1 guo:II explainers:2.1.box-linear"
# ## Deeper: powers of time
#
# The exponential curve of the deaths rises too late and then too steeply. A single $x$ can become many features, $\tilde x = [x^0, x^1,
# \dots, x^K]$, and $\mathbb E[y\mid x] = h\big(\sum_k w_kx^k\big)$. Is that still a linear model? In $x$ no, in $w$ yes, and only this was
# ever used.
#
# Powers of a large $x$ run away. So first map $x$ to −1 … 1. Who asks for a new $x$ must map it as the table's, not anew. Begin with $h$ = identity.


# %% exercise="fit_poly" points=2 difficulty=1 covers="guo:II.1"
def fit_poly(x, y, K, new_x):
    """The least-squares polynomial of degree K, by powers of the scaled x.

    x, y (n,); K >= 0; more than K different x, at least two. new_x (m,).
    Scaled is u = (2 x - low - high) / (high - low), with the smallest and the largest
    of x; new_x is scaled with the same low and high.
    Returns (powers, w, heights): powers (n, K + 1), column k is u to the power k,
    column 0 all ones; w (K + 1,); heights (m,) of the polynomial at new_x.
    x = [0, 2, 4], y = [1, 3, 5], K = 1, new_x = [6] give
    [[1, -1], [1, 0], [1, 1]], [3, 2] and [7].
    """
    ### BEGIN SOLUTION
    low, high = x.min(), x.max()

    def powers(v):
        u = (2 * v - low - high) / (high - low)
        return u[:, None] ** np.arange(K + 1)

    w = np.linalg.lstsq(powers(x), y)[0]
    return powers(x), w, powers(new_x) @ w
    ### END SOLUTION


# %% check="fit_poly"
check(fit_poly)

# %% [markdown] covers="guo:II.1"
# Now a Poisson mean, $h = \exp$, by your `glm_step`. Misfit is told by the **deviance**: twice the log-likelihood that is lacking, against means that equal the
# data. (For Gaussians that is the sum of squares.) If a Poisson model is right, it is about rows minus weights (roughly, where the means are not too small).
#
# 1. How much does degree 2 gain, how much degree 3? Would you believe degree 8 between the quarters?
# 2. Watch neighbouring columns of the design matrix, and its condition number.

# %% covers="guo:II.1 explainers:2.1.box-linear"
# Witnesses for your polynomials; then turn the degree of the Poisson mean.
with after(fit_poly, glm_step):
    rng = np.random.default_rng(3)
    x, new = rng.uniform(3, 9, 30), np.array([2.0, 5.0, 9.5])
    y = np.polyval([3, 0.5, -2, 1], x) + 0.2 * rng.normal(size=30)
    line, centred = fit_poly(x, y, 1, new)[2], x - x.mean()
    slope = centred @ y / (centred @ centred)
    bias = y.mean() - slope * x.mean()
    claim(
        "a column of ones is the bias of a line", np.allclose(line, bias + slope * new)
    )
    theirs = np.polynomial.Polynomial.fit(x, y, 5)
    claim("degree 5 is NumPy's", np.allclose(fit_poly(x, y, 5, new)[2], theirs(new)))
    exact = [np.polyval([3, 0.5, -2, 1], v) for v in (x, new)]
    back = np.allclose(fit_poly(x, exact[0], 3, new)[2], exact[1])
    claim("without noise the cubic comes back", back)
    X, (u, v) = np.asarray(fit_poly(x, y, 3, new)[0]), rng.normal(size=(2, 4))
    claim("linear in w", np.allclose(X @ (u + 2 * v), X @ u + 2 * X @ v))
    bent = abs(np.diff(fit_poly(x, y, 3, np.array([3.0, 6, 9]))[2], n=2)[0]) > 1
    claim("not in x", bent)
    explore(
        glm.degree_explorer(glm_step),
        degree=IntSlider(1, max=8, description="degree", continuous_update=False),
    )

# %% [markdown] covers="guo:II.1"
# **The right feature beats a high degree.** Keep two weights, and take $\log t$ for $t$: $\log\mu = a + b\log t$ says $\mu = e^a\,t^{\,b}$, growth like a *power* of
# time.

# %% covers="guo:II.1 guo:I.3"
# Two features, one link: weights and deviance, on 12 degrees of freedom.
with after(glm_step):
    for name, feature in (("t", glm.QUARTERS), ("log t", np.log(glm.QUARTERS))):
        X, w = glm.with_ones(feature), np.array([np.log(glm.DEATHS.mean()), 0.0])
        for _ in range(30):
            w = np.asarray(glm_step(X, glm.DEATHS, w, np.exp, np.exp, V["poisson"]))
        lack = glm.deviance(glm.DEATHS, np.exp(X @ w), "poisson")
        print(f"{name:6}w = {w.round(3)}, deviance {lack:.1f}")

# %% [markdown] covers="guo:II.2"
# ## Deeper: several outputs
#
# With $h$ = identity and Gaussian noise of covariance $\sigma^2\,\mathrm{Id}$ the loss is $\ell(W) = \frac1n\sum_i\sum_k (y_{i,k} - w_k^\top x_i)^2$, up to constants. Column $k$ of $W$ stands in
# the terms of output $k$ only: one joint fit is $m$ separate fits. And if the errors of the outputs go together?

# %% predict="joint" minutes=1
predict(
    "joint",
    "Petal length and width are fitted to sepal length and width. The errors of the "
    "two are correlated. Does a joint fit that knows it find other weights?",
    ["yes, it borrows strength", "no, the same weights", "only with few rows"],
    truth=1 if glm.joint_gap() < 1e-8 else 0,
    because="With the covariance Σ the gradient vanishes where XᵀXWΣ⁻¹ = XᵀYΣ⁻¹, and "
    "Σ⁻¹ cancels: both outputs have the same X.",
)

# %% covers="guo:II.2"
# 150 irises: your machine on both outputs at once, and on each alone.
with after(GLM, "joint"):
    flowers = data.iris().X
    Z = (flowers - flowers.mean(axis=0)) / flowers.std(axis=0)
    X, Y = glm.with_ones(*Z[:, :2].T), Z[:, 2:]
    joint, apart, loss = GLM("gaussian"), [], 0
    joint.fit(X, Y, 1e-9, 2000)
    for y in Y.T:
        one = GLM("gaussian")
        one.fit(X, y[:, None], 1e-9, 2000)
        apart.append(np.asarray(one.W)[:, 0])
        loss += np.mean((y - one.predict(X)[:, 0]) ** 2)
    claim("one joint fit is two fits", np.allclose(joint.W, np.transpose(apart)))
    errors = Y - joint.predict(X)
    double = np.sum(errors**2) / 150
    claim("their losses add up to {loss:.3f}", np.isclose(double, loss), loss=loss)
    both = np.corrcoef(errors.T)[0, 1]
    claim("yet the errors are correlated, {r:.2f}", both > 0.2, r=both)

# %% [markdown] covers="wu:2.8.6 cs480:eq4.b"
# ## Deeper: one weight vector too many
#
# Add one vector $v$ to *every* column of $W$: all scores of a row shift alike, and no probability changes. The loss is flat along such directions: that is
# why the columns of its gradient sum to 0. One may fix the score of a class at 0. For $K = 2$: $\operatorname{softmax}(0, s)_1 = \frac{e^s}{e^0+e^s} = \sigma(s)$.
#
# | | binary | $K$ classes |
# |---|---|---|
# | score | one $s$, short for $(0, s)$ | $s \in \mathbb R^K$, a shift is free |
# | probabilities | $\sigma(s)$ | $\operatorname{softmax}(s)$ |
# | label | 0 or 1 | one-hot |
# | log-likelihood $\log p$ | $ys - \log(1+e^s)$ | $s_c - \log\sum_je^{s_j}$ |
# | its slope by the score(s) | $y - p$ | $y - p$ |

# %% covers="wu:2.8.6 cs480:eq4.b"
# The table on random rows, by your softmax; and which form is safe from overflow.
with after(softmax):
    rng = np.random.default_rng(6)
    X, W, y = rng.normal(size=(50, 3)), rng.normal(size=(3, 2)), np.arange(50) % 2
    P, s = np.asarray(softmax(X @ W)), X @ (W[:, 1] - W[:, 0])
    claim("two classes are a sigmoid of the difference", np.allclose(P[:, 1], expit(s)))
    log_p, same = y * s - np.logaddexp(0, s), np.log(P[np.arange(50), y])
    claim("the log-likelihood is the same", np.allclose(same, log_p))
    error = np.eye(2)[y][:, 1] - P[:, 1]
    claim("and so is its slope", np.allclose(error, y - expit(s)))
    v = rng.normal(size=(3, 1))
    claim("v in all columns is not seen", np.allclose(softmax(X @ (W + v)), P))
    wins = []
    for scores in ([500, 0, -500], [1000, 999, 998]):
        full = np.array(scores, float)
        with np.errstate(over="ignore", invalid="ignore"):
            naive = [np.exp(z) / np.exp(z).sum() for z in (full, full - full[2])]
        wins.append([bool(np.isfinite(p).all()) for p in naive])
    words = "naive softmax: once only the free scores survive, once only the fixed ones"
    claim(words, wins == [[True, False], [False, True]])

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails, the right one holds, and a wrong one of
# the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="guo:II.1 guo:II.2 guo:II.3 guo:II.3.a"
# guo, sections II.1 to II.3.
x, z = np.array([0.4, 1.0, 0.4]), np.array([0.5, -1.0, 2.0, 0.3])
c, k, pi = 1, 2, glm.soft([0.5, -1.0, 2.0, 0.3], 1.0)  # true class, another class
W = np.outer(x, z) / (x @ x)  # so that Wᵀx = z


def by_w_k(bracket):  # gradient by w_k of −[z_bracket − log Σ exp z], in small steps
    def cost(w):
        scores = np.column_stack([W[:, :k], w, W[:, k + 1 :]]).T @ x
        return logsumexp(scores) - scores[bracket]

    moves, w = 1e-6 * np.eye(3), W[:, k]
    return np.array([(cost(w + e) - cost(w - e)) / 2e-6 for e in moves])


erratum(
    "guo:II.3.a",
    quote=r"- \left[ -\frac{\exp(\mathbf{w}_k^\top \mathbf{x}_n)}{\sum_{j=1}^K "
    r"\exp(\mathbf{w}_j^\top \mathbf{x}_n)} \cdot \mathbf{x}_n^\top \right]",
    corrected=r"the lines before need $w_c^\top x_n$ of the true class $c \ne k$ in "
    r"the bracket, not $w_k^\top x_n$; then $\pi_{n,k}\,x_n^\top$ is right",
    printed_holds=np.allclose(by_w_k(k), pi[k] * x, atol=1e-6),
    corrected_holds=np.allclose(by_w_k(c), pi[k] * x, atol=1e-6),
    decoy_holds=np.allclose(by_w_k(c), pi[c] * x, atol=1e-6),
)
erratum(
    "guo:II.3.a",
    quote=r"the both cases can be $\pi_{n,k} - y_{n,i}$",
    corrected=r"$\pi_{n,k} - y_{n,k}$: one index for the class",
    kind="convention",
)
erratum(
    "guo:II.3.a",
    quote=r"Case 1: Let $y_{n,k} = 1$, we have",
    corrected="the sum over all rows is carried along, but each row is in its own case",
    kind="convention",
)
erratum(
    "guo:II.3",
    quote=r"In particular, we have $\boldsymbol{\pi} \in [0, 1]^K$.",
    corrected=r"and $\sum_k \pi_k = 1$",
    kind="convention",
)
erratum(
    "guo:II.3",
    quote=r"\text{softmax}(z) := \frac{\exp(z_k)}{\sum_{j=1}^K \exp(z_j)}",
    corrected=r"$\operatorname{softmax}(z)_k$: the left side lacks its index",
    kind="convention",
)
erratum(
    "guo:II.2",
    quote=r"\mathbb{E} = [y | \mathbf{x}] := g^{-1}(W^\top \mathbf{x})",
    corrected=r"$\mathbb E[y \mid x]$",
    kind="convention",
)
erratum(
    "guo:II.1",
    quote=r"\tilde{\mathbf{x}} = [x^0 \quad x^1 \quad \dots \quad x^k]^\top",
    corrected=r"the last power is $x^K$; $k$ runs",
    kind="convention",
)

# %% demo=true covers="wu:2.8.3 wu:2.8.5 wu:2.8.6 cs480:eq4.b"
# wu, section 2.8, and cs480, section 4.
tie = glm.hardmax([2.0, 2.0, 1.0])
erratum(
    "wu:2.8.3",
    quote="Returns a one-hot vector (winner takes all)",
    corrected="unless the largest score is shared: then the definition returns zeros",
    kind="broad",
    printed_holds=tie.sum() == 1,
    corrected_holds=tie.sum() == 0 and glm.hardmax([2.0, 1.0, 1.0]).sum() == 1,
)
erratum(
    "wu:2.8.3",
    quote='Softmax provides a "soft" version of max',
    corrected=r"of hardmax, that is of the argmax; the soft max is "
    r"$T\log\sum_c e^{s_c/T}$",
    kind="convention",
)
erratum(
    "wu:2.8.5",
    quote=r"= \delta_{kc} - \frac{e^{s_k}}{\sum_{j=1}^C e^{s_j}}",
    corrected=r"$\sum_c y_c\,\delta_{kc} - p_k = y_k - p_k$, where $c$ is not the true "
    "class but the index of the sum",
    kind="convention",
)


def naive_ok(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.exp(scores) / np.exp(scores).sum()).all())


high = np.array([1000.0, 999.0, 998.0])  # with the last score fixed at 0: 2, 1, 0
erratum(
    "wu:2.8.6",
    quote="Better numerical stability across all classes",
    corrected="neither form is safe by itself, and both are once the maximum is "
    "subtracted",
    kind="broad",
    printed_holds=naive_ok(high) or not naive_ok(high - high[2]),
    corrected_holds=naive_ok(high - high.max()) and naive_ok(high - high[2] - 2),
)
erratum(
    "cs480:eq4.b",
    quote="To train, we use the MLE again",
    corrected=r"a formula is missing: $\min_W \sum_i -\log \Pr[Y = y_i \mid x_i]$",
    kind="convention",
)

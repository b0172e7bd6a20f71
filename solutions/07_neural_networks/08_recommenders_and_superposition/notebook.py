# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=90 builds="a recommender by alternating least squares with a fixed gauge, and instruments for features in superposition: readout, edit, interference, probe"
# # Recommenders and superposition
#
# Lectures: wu 2.12 and 2.13.
#
# [Embeddings](07_embeddings_and_memory.ipynb) gave a vector to each word. Here users and movies get one, and only ratings are known. Then we ask what a vector *holds*: what its coordinates mean (nothing), what its directions mean (perhaps something), and how a layer keeps more features than it has dimensions.
#
# At the end you can
#
# - fit a matrix factorisation by stochastic gradients and by alternating least squares, and choose its size;
# - say what of the fitted vectors is determined by the data, and what is a convention;
# - state when a recommender narrows what its users see, in a model whose assumptions you can name;
# - read and edit one attribute of a vector, also when attributes overlap;
# - measure interference, predict when a small network stores more features than dimensions, and judge what a probe proves.

# %%
import numpy as np
import sympy
import torch
from ipywidgets import FloatSlider, IntSlider, SelectionSlider

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import recommenders_and_superposition as rc

start("07_neural_networks/08_recommenders_and_superposition")

# %% [markdown] covers="wu:2.12.1"
# ## Why it matters
#
# Sixty users have rated forty movies, in stars above or below the average; most have seen few. Left is what we know. White squares must be guessed: that is what a recommender does all day.
#
# The guess is possible because the truth on the right is simple. How simple?

# %% covers="wu:2.12.1" demo=true
true, R = rc.taste_world()
show(*rc.draw_ratings(R, true))

# %% [markdown] covers="wu:2.12.1"
# ## 1. A taste and a movie meet in an inner product
#
# User $i$ has a vector $a_i \in \mathbb R^d$, movie $j$ a vector $b_j \in \mathbb R^d$, and the predicted rating is
#
# $$\hat r_{ij} = \langle a_i, b_j\rangle = \sum_{k=1}^d a_{ik} b_{jk} .$$
#
# With the $a_i$ as rows of $A$ and the $b_j$ as rows of $B$ all predictions at once are $A B^\top$: a matrix of rank at most $d$. Conversely every matrix of rank $d$ is such a product (cut its singular value decomposition). So "tastes have $d$ dimensions" and "the ratings matrix has rank $d$" say the same.
#
# The count of numbers: $(60 + 40)\cdot 2 = 200$ in place of 2400.

# %% covers="wu:2.12.1" demo=true
rng = np.random.default_rng(0)
A, B = rng.normal(size=(60, 2)), rng.normal(size=(40, 2))
P = A @ B.T
assert np.isclose(P[7, 3], sum(A[7, k] * B[3, k] for k in range(2)))
assert np.linalg.matrix_rank(P) == 2
U, s, Vt = np.linalg.svd(true)
assert s[2] < 1e-10 * s[0]  # the hidden truth: two singular values, no more
again = (U[:, :2] * s[:2]) @ Vt[:2]
assert np.allclose(again, true)  # and so it is a product of two thin factors
print("largest singular values of the truth:", np.round(s[:4], 1) + 0.0)

# %% [markdown] covers="wu:2.12.4"
# ### A user is a readout
#
# Fix the user. Then $b \mapsto \langle a, b\rangle$ is a linear function of the movie, and $a$ holds its weights: preferences. In wu's example $a = (0.9, 0.2, 0.7, \dots)$ for action, romance and science fiction, and the movie has $b = (0.8, 0.1, 0.6, \dots)$. The displayed part of the rating is $0.72 + 0.02 + 0.42 = 1.16$.
#
# Here the coordinates have names because somebody *wrote the table by hand*. Remember that when vectors are learned (section 3).
#
# A list to look at contains what the user has not seen, best first.


# %% exercise="rank_items" points=1 minutes=6 difficulty=1 covers="wu:2.12.4"
def rank_items(a, B, seen, top):
    """Indices of the `top` unseen movies with the largest inner products, best first.

    a (d,). B (t, d), a row a movie. seen (t,) booleans. 0 <= top <= number of unseen.
    Of equal scores the lower index comes first. Returns (top,) integers.
    a = [1, 0], B = [[3, 0], [1, 5], [2, 0]], seen = [True, False, False], top = 2
    gives [2, 1].
    """
    ### BEGIN SOLUTION
    scores = np.where(seen, -np.inf, B @ a)
    return np.argsort(-scores, kind="stable")[:top]
    ### END SOLUTION


# %% check="rank_items"
check(rank_items)

# %% [markdown] covers="wu:2.12.4"
# **Find out.** (1) Wu's taste, 0.9, 0.2, 0.7: what comes first? (2) Double all three sliders: does the list change? (3) Which taste puts *Tax Inspectors* first? Everything about it is negative. (4) Find two different tastes with the same list.

# %% covers="wu:2.12.4"
with after(rank_items):
    a, b = np.array([0.9, 0.2, 0.7]), np.array([0.8, 0.1, 0.6])
    assert np.isclose(a @ b, 1.16)
    limits = dict(min=-1.0, max=1.0, step=0.1, continuous_update=False)
    explore(
        rc.ranking_explorer(rank_items),
        action=FloatSlider(0.4, description="action", **limits),
        romance=FloatSlider(0.2, description="romance", **limits),
        scifi=FloatSlider(0.3, description="sci-fi", **limits),
    )

# %% [markdown] covers="wu:2.12.2"
# ## 2. Learning from what was rated
#
# Let $\Omega$ be the set of known pairs $(i, j)$. We minimise
#
# $$J(A, B) = \tfrac12\sum_{(i,j)\in\Omega} e_{ij}^2 + \tfrac\lambda2\big(\lVert A\rVert^2 + \lVert B\rVert^2\big), \qquad e_{ij} = r_{ij} - \langle a_i, b_j\rangle ,$$
#
# where $\lVert\cdot\rVert^2$ sums the squares of all entries. (Wu has $\lambda = 0$. We shall see twice why we want more.) The derivative by one vector collects its errors:
#
# $$\frac{\partial J}{\partial a_i} = -\sum_{j : (i,j)\in\Omega} e_{ij}\, b_j + \lambda a_i, \qquad \frac{\partial J}{\partial b_j} = -\sum_{i : (i,j)\in\Omega} e_{ij}\, a_i + \lambda b_j .$$
#
# Put 0 for the error of an unknown rating; then the sums are the matrix products $-EB$ and $-E^\top A$. In our table an unknown rating is `NaN`. (Stuck? `hint(mf_grads)`, up to three times; so for every exercise.)


# %% exercise="mf_grads" points=3 minutes=12 difficulty=2 covers="wu:2.12.2"
def mf_grads(A, B, R, lam):
    """J and its gradients by A and by B.

    A (u, d). B (t, d). R (u, t), NaN where the rating is unknown. lam >= 0.
    Returns J (a number), (u, d), (t, d).
    A = [[1]], B = [[2], [1]], R = [[3, nan]], lam = 0.5
    gives J = 0.5 + 0.25 * 6 = 2.0, [[-1.5]] and [[0.0], [0.5]].
    """
    ### BEGIN SOLUTION
    E = np.where(np.isnan(R), 0.0, R - A @ B.T)
    loss = (np.sum(E**2) + lam * (np.sum(A**2) + np.sum(B**2))) / 2
    return loss, lam * A - E @ B, lam * B - E.T @ A
    ### END SOLUTION


# %% check="mf_grads"
check(mf_grads)

# %% [markdown] covers="wu:2.12.2"
# Two tests. Central differences agree with your gradient. And **stochastic** gradients: the gradient of $J$ is the sum of one small piece for each known rating, if each visit to user $i$ pays $\lambda/n_i$ of the penalty ($n_i$: number of that user's ratings; for movies likewise). So we may walk after each single rating:
#
# $$a_i \leftarrow a_i + \eta\,\big(e_{ij}\, b_j - \tfrac{\lambda}{n_i} a_i\big), \qquad b_j \leftarrow b_j + \eta\,\big(e_{ij}\, a_i - \tfrac{\lambda}{m_j} b_j\big) .$$
#
# A visit touches $2d$ numbers, however many users there are. That is why it scales.

# %% covers="wu:2.12.2"
with after(mf_grads):
    loss, dA, dB = mf_grads(A, B, R, 1.0)
    rng, h = np.random.default_rng(1), 1e-5
    for _ in range(5):
        D, F = rng.normal(size=A.shape), rng.normal(size=B.shape)
        up = mf_grads(A + h * D, B + h * F, R, 1.0)[0]
        down = mf_grads(A - h * D, B - h * F, R, 1.0)[0]
        assert np.isclose((up - down) / (2 * h), np.sum(dA * D) + np.sum(dB * F))
    known = np.isfinite(R)
    n_i, m_j = known.sum(1), known.sum(0)
    pieces = np.zeros_like(A)
    for i, j in np.argwhere(known):
        pieces[i] += -(R[i, j] - A[i] @ B[j]) * B[j] + A[i] / n_i[i]
    assert n_i.min() > 0 and np.allclose(pieces, dA)  # the sum of the small pieces

# %% [markdown] covers="wu:2.12.2"
# ### Not convex
#
# The smallest case says it all: one user, one movie, $d = 1$, $r = 1$, $\lambda = 0$, so $J = \frac12(1 - ab)^2$. The points $(1, 1)$ and $(-1, -1)$ are minima, with $J = 0$. Half-way between them, at $(0, 0)$, $J$ is higher: a convex function cannot do that. The gradient vanishes there, and the Hessian has eigenvalues $-1$ and $+1$: a **saddle**. So never start at zero. (A cell below proves it.)
#
# But with $B$ *fixed*, $J$ is a convex quadratic of $A$, one ridge regression for each user.
#
# **Alternating least squares** (ALS) uses that: solve for all users with the movies fixed, then for all movies with the users fixed, and so on. Each half-step finds the exact minimum over its half, so $J$ never grows.
#
# Write the users' half. (The movies' half is the same function, called with $A$ and `R.T`.)


# %% exercise="als_step" points=3 minutes=12 difficulty=3 covers="wu:2.12.2"
def als_step(B, R, lam):
    """The A that minimises J for this B.

    B (t, d). R (u, t), NaN where unknown. lam > 0. Returns (u, d).
    A user without any rating gets the zero vector.
    B = [[1], [2]], R = [[1, 3], [nan, 4]], lam = 1 gives [[7/6], [8/5]].
    """
    ### BEGIN SOLUTION
    A = np.zeros((len(R), B.shape[1]))
    for i, ratings in enumerate(R):
        known = ~np.isnan(ratings)
        X, y = B[known], ratings[known]
        A[i] = np.linalg.solve(X.T @ X + lam * np.eye(B.shape[1]), X.T @ y)
    return A
    ### END SOLUTION


# %% check="als_step"
check(als_step)

# %% [markdown] covers="wu:2.12.2"
# **A race**, counted in passes over the known ratings: ALS, stochastic gradients (SGD) with a step that shrinks, and plain gradient descent on all ratings. All start at the same small random vectors. One pass of SGD costs about $5|\Omega|d$ multiplications, one of ALS about $2|\Omega|d^2$ for the sums plus a $d\times d$ system for every user and movie. So an ALS pass is dearer for large $d$, but each half-step is exact.
#
# The hidden truth is known here, so the error on the other 70 % can be measured (the noise of the known ratings is 0.3 stars). Now choose the dimension.

# %% covers="wu:2.12.2"
with after(mf_grads, als_step):

    def start_factors(R, d, seed=1):
        rng = np.random.default_rng(seed)
        return [0.3 * rng.normal(size=(n, d)) for n in R.shape]

    def als(R, d, lam, passes):
        A, B = start_factors(R, d)
        losses = [mf_grads(A, B, R, lam)[0]]
        for _ in range(passes):
            A = als_step(B, R, lam)
            middle = mf_grads(A, B, R, lam)[0]
            B = als_step(A, R.T, lam)
            losses.append(mf_grads(A, B, R, lam)[0])
            assert losses[-1] <= middle + 1e-9 <= losses[-2] + 2e-9  # never upwards
        return A, B, np.array(losses)

    def sgd(R, d, lam, passes, rate=0.15):
        A, B = start_factors(R, d)
        rng, known = np.random.default_rng(2), np.isfinite(R)
        n, m, losses = known.sum(1), known.sum(0), [mf_grads(A, B, R, lam)[0]]
        for t in range(passes):
            eta = rate / (1 + t / 10)
            for i, j in rng.permutation(np.argwhere(known)):
                e, a = R[i, j] - A[i] @ B[j], A[i].copy()
                A[i] += eta * (e * B[j] - lam / n[i] * a)
                B[j] += eta * (e * a - lam / m[j] * B[j])
            losses.append(mf_grads(A, B, R, lam)[0])
        return A, B, np.array(losses)

    def descent(R, d, lam, passes, eta=0.02):
        A, B = start_factors(R, d)
        losses = []
        for _ in range(passes + 1):
            loss, dA, dB = mf_grads(A, B, R, lam)
            losses.append(loss)
            A, B = A - eta * dA, B - eta * dB
        return A, B, np.array(losses)

    floor = als(R, 2, 1.0, 60)[2][-1]
    runs = {"ALS": als(R, 2, 1.0, 20), "SGD": sgd(R, 2, 1.0, 20)}
    runs["gradient descent"] = descent(R, 2, 1.0, 20)
    hidden = np.where(np.isnan(R), true, np.nan)
    held = {name: rc.rmse(A @ B.T, hidden) for name, (A, B, _) in runs.items()}
    ends = [losses[5] for _, _, losses in runs.values()]
    assert ends[0] < ends[1] < ends[2]  # after five passes
    show(*rc.draw_descent({name: run[2] for name, run in runs.items()}, floor, held))

# %% covers="wu:2.12.2"
with after(mf_grads, als_step):
    dims, lams = (1, 2, 3, 4, 6, 8), (0.01, 1.0, 4.0)
    fits = {lam: [als(R, d, lam, 15)[:2] for d in dims] for lam in lams}
    train, held = (
        {lam: np.array([rc.rmse(A @ B.T, on) for A, B in v]) for lam, v in fits.items()}
        for on in (R, hidden)
    )
    assert all(dims[np.argmin(held[lam])] == 2 for lam in lams)
    assert held[0.01][-1] > 3 * held[1.0][-1]
    predict(
        "Users have 12 ratings on average, the truth has d = 2. Fitted with d = 8 and "
        "next to no penalty: what happens on the known and on the held-out ratings?",
        [
            "both get better",
            "known worse, held out better",
            "known better, held out much worse",
            "nothing: six dimensions stay empty",
        ],
        truth=2 if train[0.01][-1] < train[0.01][1] and held[0.01][-1] > 2 else 0,
        because="Eight weights for a dozen ratings interpolate the noise. The penalty "
        "holds them: with λ = 1 six needless dimensions raise the held-out error from "
        f"{held[1.0][1]:.2f} to {held[1.0][-1]:.2f}, and not to {held[0.01][-1]:.1f}.",
        then=lambda d=dims, t=train, h=held: rc.draw_dimensions(d, t, h),
    )

# %% [markdown] covers="wu:2.12.2 wu:2.12.3"
# **Some users are generous, some movies are liked by all.** Real recommenders predict $\mu + \beta_i + \gamma_j + \langle a_i, b_j\rangle$, with a mean and a bias of each user and each movie. That is no new model: give the user the vector $(a_i,\ \beta_i + \mu,\ 1)$ and the movie $(b_j,\ 1,\ \gamma_j)$. Two more dimensions, in each of which one side is held at 1.
#
# ### The same as a network
#
# Feed in the one-hot vector $x_j$ of a movie. An embedding layer looks up its column, $b_j = W_\text{embed}\, x_j$ (so $W_\text{embed} = B^\top$, as in the [last notebook](07_embeddings_and_memory.ipynb)); a linear readout with *user-specific* weights follows, $\hat r_{ij} = a_i^\top b_j$. All users share the lower layer; each has an output unit of their own. So learning from other users' ratings is *multi-task learning* of a shared layer.
#
# ALS in this language: solve the readouts for a fixed embedding, then the embedding for fixed readouts. In torch the lookup is `nn.Embedding`; its gradient reaches looked-up rows only.

# %% covers="wu:2.12.2 wu:2.12.3" demo=true
x, y = sympy.symbols("x y", real=True)
J = (1 - x * y) ** 2 / 2
at_zero = {x: 0, y: 0}
assert [sympy.diff(J, v).subs(at_zero) for v in (x, y)] == [0, 0]
assert set(sympy.hessian(J, (x, y)).subs(at_zero).eigenvals()) == {-1, 1}
assert J.subs(at_zero) > J.subs({x: 1, y: 1}) == J.subs({x: -1, y: -1}) == 0
assert sympy.diff(J, x, 2) == y**2  # with y fixed: never negative

rng = np.random.default_rng(3)
a, b, mu = rng.normal(size=(5, 2)), rng.normal(size=(4, 2)), 3.4
beta, gamma = rng.normal(size=5), rng.normal(size=4)
with_biases = mu + beta[:, None] + gamma + a @ b.T
user = np.column_stack([a, beta + mu, np.ones(5)])
movie = np.column_stack([b, np.ones(4), gamma])
assert np.allclose(user @ movie.T, with_biases)
erratum(
    "wu:2.12.2",
    r"item characteristics as vectors $b_i$",
    r"item characteristics as vectors $b_j$: $i$ counts users, $j$ items",
)
rng = np.random.default_rng(4)
A, B = torch.tensor(rng.normal(size=(60, 2))), torch.tensor(rng.normal(size=(40, 2)))
items = torch.nn.Embedding.from_pretrained(B.clone(), freeze=False)
readout = torch.nn.Linear(2, 60, bias=False, dtype=torch.float64)
with torch.no_grad():
    readout.weight.copy_(A)  # row i: the weights of user i
one_hot = torch.eye(40, dtype=torch.float64)
assert torch.allclose(readout(items(torch.arange(40))), B @ A.T)
assert torch.allclose((B.T @ one_hot[7]), items(torch.tensor(7)))  # W_embed x_j
(readout(items(torch.tensor([7])))[0, 3] - 1.0).square().backward()
touched = items.weight.grad.abs().sum(1) > 0
assert touched.nonzero().flatten().tolist() == [7]
assert (readout.weight.grad.abs().sum(1) > 0).nonzero().flatten().tolist() == [3]

# %% [markdown] covers="wu:2.12.7"
# ### When the inner product is not enough
#
# How sweet should lemonade be? Suppose that ratings peak where sweetness $v_j$ equals the wish $u_i$: $r_{ij} = e^{-8(u_i - v_j)^2}$. One number for each user, one for each drink, but no product of them: "more" is not better. A rank-$d$ model must build the peak from products; each further dimension helps a little.
#
# The non-linear recommender $\hat r_{ij} = f(a_i, b_j)$ learns vectors *and* a small network $f$. With $d = 1$ and two layers of 32 tanh units it gets below the noise of a single rating; the products do not, up to $d = 6$. (Each user and each drink starts at the polar angle of its first two SVD coordinates: from random numbers users often stay in a wrong order, as on a line nobody can pass a neighbour without paying. $J$ was not convex; this is worse.)
#
# Beware of a hasty conclusion: $-(u - v)^2 = 2uv - u^2 - v^2$ is a peak too, and has rank 3.

# %% covers="wu:2.12.7"
with after(mf_grads, als_step):
    quadratic = -((np.linspace(-1, 1, 9)[:, None] - np.linspace(-1, 1, 7)) ** 2)
    assert np.linalg.matrix_rank(quadratic) == 3
    peaked, known = rc.peaked_world()
    missing = np.where(np.isnan(known), peaked, np.nan)
    linear = []
    for d in (1, 2, 3, 4, 6):
        A, B, _ = als(known, d, 0.03, 15)
        linear.append(rc.rmse(A @ B.T, missing))
    P, weights = rc.neural_recommender(known)
    network = rc.rmse(P, missing)
    assert network < 0.03 < linear[-1] and linear[0] > 0.2
    print(f"numbers learned: network {weights}, inner product with d = 6: {100 * 6}")
    show(*rc.draw_nonlinear((1, 2, 3, 4, 6), linear, network, 0.03), digits=1)

# %% [markdown] covers="wu:2.12.7 wu:2.12.5"
# **The price.** The network has more numbers and no exact half-steps. To make a list it must be run for every user and item, where the inner product allows one matrix product or an index of nearest neighbours. And nobody can say what a user's number means without $f$. The linear model's simplicity is worth a lot; wu adds that its dimensions are *interpretable*. Are they?
#
# ## 3. What is determined?
#
# Take any invertible $d\times d$ matrix $M$ and set
#
# $$A' = A M^\top, \qquad B' = B M^{-1} \qquad\text{(that is } a_i' = M a_i,\quad b_j' = M^{-\top} b_j\text{)} .$$
#
# Then $A'B'^\top = A M^\top M^{-\top} B^\top = AB^\top$: every prediction is the same. Physicists call such a freedom a **gauge**. With $\lambda = 0$ the data cannot tell the two apart, and so nothing that differs between them can be a fact about users or movies.

# %% covers="wu:2.12.5"
with after(mf_grads, als_step):
    A, B, _ = als(R, 2, 1.0, 200)
    M = np.array([[2.0, 0.5], [0.0, 0.5]])
    A2, B2 = A @ M.T, B @ np.linalg.inv(M)
    assert np.allclose(A2 @ B2.T, A @ B.T)

    def gaps(B):
        return np.linalg.norm(B[:, None] - B, axis=-1)

    corners = np.array([B[0] + B[1] - B[2], B[0], B[1], B[2]])  # a parallelogram
    moved = corners @ np.linalg.inv(M)
    assert np.allclose(moved[0] - moved[1], moved[2] - moved[3])  # stays one
    near, near2 = ((gaps(X) + 99 * np.eye(40)).argmin(1) for X in (B, B2))
    predict(
        "All predictions are unchanged. For how many of the 40 movies does the nearest "
        "other movie change under this M?",
        ["none", "1 to 5", "6 to 15", "more than 15"],
        truth=int(np.searchsorted([0, 5, 15], (near != near2).sum())),
        because=f'It is {np.sum(near != near2)} of 40. "Similar movies have similar '
        'vectors" depends on the gauge.',
    )
    erratum(
        "wu:2.12.5",
        "similar items have similar embeddings, similar users have similar embeddings",
        "only after the gauge is fixed: factors are determined up to an invertible M, "
        "which changes distances and neighbours and no prediction; with an L2 penalty "
        "up to a rotation, which keeps distances",
        printed_holds=np.array_equal(near, near2),
        corrected_holds=np.allclose(A2 @ B2.T, A @ B.T)
        and np.allclose(gaps(B @ np.array([[0.6, -0.8], [0.8, 0.6]])), gaps(B)),
    )

# %% [markdown] covers="wu:2.12.5"
# **What survives every gauge?** Ratings, of course. And *equal differences*: if $b_1 - b_2 = b_3 - b_4$, then $b_1' - b_2' = b_3' - b_4'$, as $M^{-\top}$ is linear. So vector arithmetic may be trusted where lengths and angles may not. What a difference means is a statement about ratings: user $i$ rates movie 1 higher than movie 2 by $\langle a_i, b_1 - b_2\rangle$.
#
# (And "linear in both user and item features" means **bilinear**: linear in each while the other is held. Doubling both multiplies by four.)
#
# ### The penalty fixes half of it
#
# The errors do not see the gauge, but $\lVert A\rVert^2 + \lVert B\rVert^2$ does. At a stationary point with $\lambda > 0$ both gradients vanish: $EB = \lambda A$ and $E^\top A = \lambda B$. Multiply the first by $A^\top$ and the second by $B^\top$ from the left:
#
# $$A^\top E B = \lambda A^\top A, \qquad B^\top E^\top A = \lambda B^\top B .$$
#
# The left sides are transposes of each other, the right sides symmetric. So $A^\top A = B^\top B$: the factors are **balanced**. Both factors share one matrix of second moments, and no stretching is left. A rotation or reflection $Q$ is left: $AQ$ and $BQ$ have the same products and the same norms. It keeps distances and angles, and it turns the axes as it likes.
#
# To compare two fits (or to draw one) choose the axes by convention: along the eigenvectors of the common Gram matrix. That is the SVD $AB^\top = U\,\mathrm{diag}(s)\,V^\top$ with each $s_k$ split evenly, $A' = U\sqrt{s}$, $B' = V\sqrt{s}$. It is unique up to signs if the $s_k > 0$ differ. We fix the signs too: in each column of $B'$ the entry of largest absolute value is positive.


# %% exercise="canonical" points=3 minutes=14 difficulty=3 covers="wu:2.12.5"
def canonical(A, B):
    """The factors of the same product in the canonical gauge.

    A (u, d), B (t, d), d <= u and d <= t. Returns A' (u, d), B' (t, d) with
    A' B'ᵀ = A Bᵀ and A'ᵀA' = B'ᵀB' diagonal, largest entry first; in each column of B'
    the entry of largest absolute value is positive.
    A = [[2], [0]], B = [[0], [-8]] gives [[-4], [0]] and [[0], [4]].
    """
    ### BEGIN SOLUTION
    d = A.shape[1]
    U, s, Vt = np.linalg.svd(A @ B.T, full_matrices=False)
    left, right = U[:, :d] * np.sqrt(s[:d]), Vt[:d].T * np.sqrt(s[:d])
    largest = right[np.abs(right).argmax(0), np.arange(d)]
    sign = np.where(largest < 0, -1.0, 1.0)
    return left * sign, right * sign
    ### END SOLUTION


# %% check="canonical"
check(canonical)

# %% [markdown] covers="wu:2.12.5"
# Three panels, three gauges, one recommender. P, Q and R are the three movies on which the gauges disagree most. The cell also checks two things: ALS ended balanced, so that the first and the third panel differ by a rotation (or reflection) only; and no gauge has a smaller $\frac12(\lVert A\rVert^2 + \lVert B\rVert^2)$ than the canonical one. Its value is $\sum_k s_k$, the *nuclear norm* of the predictions. So the penalty is a lasso on singular values: it holds unneeded dimensions down.

# %% covers="wu:2.12.5 wu:2.13.1"
with after(als_step, mf_grads, canonical):
    assert np.allclose(A.T @ A, B.T @ B, atol=1e-3)  # balanced by the penalty alone
    Ac, Bc = canonical(A, B)
    assert np.allclose(Ac @ Bc.T, A @ B.T) and np.allclose(gaps(Bc), gaps(B), atol=1e-3)
    both = [np.concatenate(canonical(X, Y)) for X, Y in ((A, B), (A2, B2))]
    assert np.allclose(*both)  # two gauges, one canonical form

    def size(X, Y):
        return (np.sum(X**2) + np.sum(Y**2)) / 2

    nuclear = np.linalg.svd(A @ B.T, compute_uv=False).sum()
    rng = np.random.default_rng(6)
    assert np.isclose(size(Ac, Bc), nuclear)
    for _ in range(100):
        M = rng.normal(size=(2, 2))
        assert size(A @ M.T, B @ np.linalg.inv(M)) >= nuclear - 1e-9
    straight, bent = (np.log(gaps(X) + 99 * np.eye(40)) for X in (Bc, B2))
    far = straight[:, None] - straight[:, :, None]  # [P, Q, R]: R farther than Q
    near = bent[:, :, None] - bent[:, None]  # and nearer after stretching
    far[:, np.eye(40, dtype=bool)] = -9
    far[np.eye(40, dtype=bool)] = far.transpose(0, 2, 1)[np.eye(40, dtype=bool)] = -9
    marks = np.unravel_index(np.argmax(np.minimum(far, near)), far.shape)
    show(
        *rc.draw_gauges(
            {"as trained": (A, B), "stretched": (A2, B2), "canonical": (Ac, Bc)}, marks
        )
    )
    Q = np.array([[0.6, -0.8], [0.8, 0.6]])
    Aq, Bq = A @ Q, B @ Q
    assert np.isclose(mf_grads(Aq, Bq, R, 1.0)[0], mf_grads(A, B, R, 1.0)[0])
    assert np.allclose(Aq @ Bq.T, A @ B.T) and np.allclose(gaps(Bq), gaps(B))
    top, turned = set(np.argsort(-B[:, 0])[:5]), set(np.argsort(-Bq[:, 0])[:5])
    assert len(top & turned) == 1  # the five largest in coordinate 1: one stays
    relu = [np.maximum(X, 0) @ np.maximum(Y, 0).T for X, Y in ((A, B), (Aq, Bq))]
    assert not np.allclose(*relu)  # a ReLU sees the coordinates

# %% [markdown] covers="wu:2.13.1 wu:2.12.6"
# ### No meaning in a coordinate
#
# So "coordinate 1 is action, coordinate 2 is romance" cannot come out of the fit. Rotate users and movies together: ratings, errors, penalty, lists, distances and angles all stay, and only the numbers in the coordinates change. Wu says it of words: "cat" is not a list of named coordinates, as information is spread over the whole vector.
#
# Why then do some networks have units with a meaning? Because a ReLU, unlike an inner product, acts on coordinates and *breaks* the symmetry. (In section 6 the ReLU stands at the output: there every coordinate is a feature, while the hidden axes stay without meaning.) The last lines of the cell above counted: after a rotation by 53° only one of the five movies with the largest coordinate 1 is still among the five.
#
# ## 4. The loop closes
#
# So far tastes were fixed. But people see what is recommended, and what they see may change their taste. Wu makes strong claims: the brain learns to recognise rewarding content, $a_i$ adapts, strong alignment $\langle a_i, b_j\rangle \gg 0$ makes addicted, loops narrow the content. No equation is given, so nothing follows yet. Let us write one down, as a **hypothesis**, and see what it implies.
#
# - The recommender shows movie $j$ with the share $p_j = (1-\varepsilon)\,\mathrm{softmax}(\beta B a)_j + \varepsilon/t$. Sharpness $\beta$ says how much it trusts its scores; the **exploration** $\varepsilon$ is spread evenly over all $t$ movies.
# - The taste drifts towards what is seen, on average: $a \leftarrow (1-\eta)\,a + \eta\, B^\top p$.
# - **Diversity** is the effective number of movies, $e^{H(p)}$ with the entropy $H(p) = -\sum_j p_j\log p_j$ and $0\log 0 = 0$: it is $m$ if $m$ movies are shown equally often.


# %% exercise="feedback_step" points=2 minutes=10 difficulty=2 covers="wu:2.12.6"
def feedback_step(a, B, beta, explore, lr):
    """One round: the new taste, and the diversity of what this round showed.

    a (d,). B (t, d). beta >= 0 (scores may be in the thousands: no overflow).
    0 <= explore <= 1. lr: step η. Returns (d,) and a number from 1 to t.
    a = [0], B = [[1], [-1], [3], [-1]], beta = 2, explore = 0, lr = 0.1 gives
    [0.05] and 4.0.
    """
    ### BEGIN SOLUTION
    scores = beta * (B @ a)
    w = np.exp(scores - scores.max())
    p = (1 - explore) * w / w.sum() + explore / len(B)
    q = p[p > 0]
    return (1 - lr) * a + lr * B.T @ p, np.exp(-np.sum(q * np.log(q)))
    ### END SOLUTION


# %% check="feedback_step"
check(feedback_step)

# %% [markdown] covers="wu:2.12.6"
# ### When does a small preference grow?
#
# Let the movies have mean 0 and write $C = \frac1t B^\top B$ for their covariance. A neutral user, $a = 0$, sees everything equally often and stays neutral. Nearby, to first order, $\mathrm{softmax}(\beta Ba)_j \approx \frac1t(1 + \beta\, b_j^\top a)$, so that $B^\top p \approx (1-\varepsilon)\beta\, C a$ and
#
# $$a \leftarrow \big[(1-\eta) I + \eta\,(1-\varepsilon)\,\beta\, C\big]\, a .$$
#
# Along the main direction of the catalogue, with the largest eigenvalue $\lambda_1$ of $C$, a small preference grows exactly if the **gain** $(1-\varepsilon)\,\beta\,\lambda_1$ exceeds 1. Below, it fades. The threshold of exploration is $\varepsilon^\star = 1 - 1/(\beta\lambda_1)$. The cell checks the growth rate with your function.
#
# **Find out.** (1) At the start the gain is above 1. Where does the taste go, how does its alignment grow, and how many movies are left? (2) Raise ε until the gain is below 1. How much diversity comes back? (3) Set β = 6. Is there an ε that keeps the user neutral? Who loses by it? (4) Can the taste grow without limit?

# %% covers="wu:2.12.6"
with after(feedback_step):
    B_all = rc.catalogue()
    values, vectors = np.linalg.eigh(B_all.T @ B_all / len(B_all))
    for beta, epsilon in ((2.0, 0.1), (2.0, 0.6), (0.8, 0.0)):
        tiny = 1e-5 * vectors[:, -1]
        new, _ = feedback_step(tiny, B_all, beta, epsilon, 0.1)
        gain = (1 - epsilon) * beta * values[-1]
        assert np.isclose(new @ vectors[:, -1] / 1e-5, 0.9 + 0.1 * gain, rtol=1e-3)
    explore(
        rc.feedback_explorer(feedback_step, B_all),
        beta=FloatSlider(
            2.5,
            min=0,
            max=8,
            step=0.1,
            description="sharpness β",
            continuous_update=False,
        ),
        explore=FloatSlider(
            0.0,
            min=0,
            max=1,
            step=0.05,
            description="exploration ε",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="wu:2.12.6"
# The taste stays in the convex hull of the movies and its own start, as it is an average of them. In *this* model "$\langle a, b\rangle \gg 0$" cannot run away. If the taste only added up what it sees, without forgetting, it would. So a growth without limit is an assumption and not a result. The next cell lets 200 users each see *one* movie a round, drawn by its share.

# %% covers="wu:2.12.6" demo=true
B_all = rc.catalogue()
for epsilon in (0.0, 0.8):
    lengths, diversity = rc.sampled_users(B_all, 4.0, epsilon)
    first, last = diversity[0].mean(), diversity[-50:].mean()
    print(f"ε = {epsilon:g}: mean diversity {first:.0f} of 24, later {last:.0f}")
    assert lengths.max() <= np.linalg.norm(B_all, axis=1).max() + 1e-9
assert last > 15  # with much exploration diversity stays
erratum(
    "wu:2.12.6",
    r"strong alignment $\langle a_i, b_j\rangle \gg 0$ creates addiction; "
    r"recommenders may create feedback loops strengthening $a_i$",
    "a hypothesis about people, not a consequence of the model: the factorisation has "
    "no equation for how a user changes. With a drift towards what is seen, alignment "
    r"grows if $(1-\varepsilon)\beta\lambda_1 > 1$, and stays bounded",
)

# %% [markdown] written="judge_the_loop" points=3 minutes=10 covers="wu:2.12.6"
# **For a person to read.** A video platform finds that users who joined three years ago watch from half as many categories as users who joined last week. A newspaper writes: "The algorithm narrows minds." In at most ten sentences: (1) name one other explanation of the same numbers;
# (2) propose an experiment that would tell the two apart; (3) say what you would change in the recommender if the newspaper is right, and who pays for it.
#
# ### BEGIN SOLUTION
# (1) Selection: users with narrow interests may simply stay longer, so that the old users are narrow without having changed. (Or: newcomers try many categories until the system knows them, which is learning, not narrowing.) (2) Assign users at random to more or less exploration, from their first day, keep
# everyone in the analysis who was assigned (also those who leave), and compare after months what they choose when nothing is recommended, for instance by search. Comparing old with new users again would repeat the confusion. (3) Raise exploration or cap the sharpness so that the gain stays below 1, or let users set it themselves and reset their profile.
# Users pay with some less fitting suggestions, the platform with watch time, and small producers gain. Whether that is worth it is a value judgement that the model does not make.
#
# **Rubric**
#
# - 1: names an alternative such as selection, survivorship or the learning phase of new users
# - 1: proposes a randomised comparison with an outcome that the recommender does not itself determine
# - 1: names a concrete change (exploration, sharpness, user control) and somebody who bears its cost
# ### END SOLUTION

# %% [markdown] covers="wu:2.13.2"
# ## 5. What a vector holds
#
# If coordinates mean nothing, what does? Let $b_1, \dots, b_d$ be any **orthonormal** basis: $b_i^\top b_j = 1$ if $i = j$, else 0. Multiply $h = \sum_i c_i b_i$ by $b_k^\top$ from the left:
#
# $$c_k = b_k^\top h, \qquad h = \sum_i (b_i^\top h)\, b_i, \qquad \sum_i c_i^2 = \lVert h\rVert^2 \ \text{(Parseval)} .$$
#
# Every basis tells the same vector. If some basis has few coefficients that are not 0, it is a good *description*. Below, $h = 3 f_2 - 2 f_9$ for two columns of a hidden basis of $\mathbb R^{12}$.
#
# **Find out.** Turn the basis from the coordinates (0) to the hidden one (1) and beyond. (1) Does the sum of squares change? (2) How close must you be before you see that two features are at work?

# %% covers="wu:2.13.1 wu:2.13.2" demo=true
features = rc.turned_basis()
h = features @ (3.0 * np.eye(12)[1] - 2.0 * np.eye(12)[8])
explore(
    rc.basis_explorer(h, features),
    turn=FloatSlider(
        0.0, min=0, max=1.5, step=0.05, description="turn", continuous_update=False
    ),
)
c = features.T @ h
assert np.allclose(features @ c, h) and np.isclose(c @ c, h @ h)
assert np.allclose(np.flatnonzero(np.abs(c) > 1e-9), [1, 8])
longer = features * np.arange(1, 13)  # orthogonal, but not of length 1
rebuilt = longer @ (longer.T @ h)
mended = longer @ (longer.T @ h / np.sum(longer**2, axis=0))
erratum(
    "wu:2.13.2",
    r"for an orthogonal basis $(b_i)$ the coefficients are $c_i = h^\top b_i$",
    r"for an ortho*normal* basis, as the formula $b_i^\top b_j = \delta_{ij}$ printed "
    r"beside it says; for an orthogonal one $c_i = h^\top b_i / \lVert b_i\rVert^2$",
    printed_holds=np.allclose(rebuilt, h),
    corrected_holds=np.allclose(mended, h) and np.allclose(features @ c, h),
)

# %% [markdown] covers="wu:2.13.3 wu:2.13.4"
# ### Subspaces
#
# A feature may need several numbers. Give feature $k$ a matrix $B_k \in \mathbb R^{d\times d_k}$ with independent columns and coefficients $C_k \in \mathbb R^{d_k}$:
#
# $$h = \sum_{k=1}^K g_k, \qquad g_k = B_k C_k .$$
#
# Put the matrices side by side: $h = [B_1 \cdots B_K]\, C$. The parts are determined by $h$ exactly if all columns together are independent, which needs $\sum_k d_k \le d$. If moreover all columns are orthonormal, then $B_k^\top h = C_k$ and each part can be read alone.
#
# ### Wu's example, edited
#
# The vector of "Barack" is to be a sum of parts: presidency (44th), ethnicity (African American), education (Harvard Law), family (Michelle, Malia, Sasha), party (Democratic). We build such a world in 12 dimensions, five subspaces of dimension 2, in each subspace a code for each possible value. Whether a real model has this form is a question for experiments; in our world it is so by construction.
#
# Write the edit "same person, other value of attribute $k$". The subspaces may overlap; the columns need not have length 1. Coefficients are those of the **joint** least squares fit of $h$ by all columns. Whatever of $h$ lies outside of all subspaces stays untouched.


# %% exercise="swap_attribute" points=2 minutes=10 difficulty=2 covers="wu:2.13.3 wu:2.13.4"
def swap_attribute(h, Bs, k, new):
    """h with the coefficients of subspace k replaced by `new`.

    h (d,). Bs: list of matrices (d, d_k), all columns together independent.
    k: index into Bs. new (d_k,). Returns (d,): every other part of h stays.
    h = [3, 1], Bs = [[[1], [0]], [[1], [1]]], k = 0, new = [5] gives [6, 1]:
    jointly h = 2 * [1, 0] + 1 * [1, 1], and the 2 becomes 5.
    """
    ### BEGIN SOLUTION
    c = np.linalg.lstsq(np.hstack(Bs), h, rcond=None)[0]
    first = sum(B.shape[1] for B in Bs[:k])
    return h + Bs[k] @ (new - c[first : first + Bs[k].shape[1]])
    ### END SOLUTION


# %% check="swap_attribute"
check(swap_attribute)

# %% covers="wu:2.13.4 wu:2.13.3"
with after(swap_attribute):
    values = {
        "presidency": ["44th", "43rd", "none"],
        "ethnicity": ["African American", "other"],
        "education": ["Harvard Law", "Yale Law", "none"],
        "family": ["Michelle, Malia, Sasha", "Laura, Barbara, Jenna"],
        "party": ["Democratic", "Republican", "none"],
    }
    rng = np.random.default_rng(8)
    spaces = [rng.normal(size=(12, 2)) for _ in values]  # they overlap
    codes = [rng.normal(size=(len(v), 2)) for v in values.values()]

    def decode(h):
        c = np.linalg.lstsq(np.hstack(spaces), h, rcond=None)[0].reshape(-1, 2)
        nearest = [np.linalg.norm(K - x, axis=1).argmin() for K, x in zip(codes, c)]
        return [v[i] for v, i in zip(values.values(), nearest)]

    barack = sum(B @ K[0] for B, K in zip(spaces, codes))
    assert decode(barack) == [v[0] for v in values.values()]
    edited = swap_attribute(barack, spaces, 2, codes[2][1])
    before, after_edit = decode(barack), decode(edited)
    changed = [n for n, x, y in zip(values, before, after_edit) if x != y]
    print("changed:", changed, "to", after_edit[2])
    assert changed == ["education"] and after_edit[2] == "Yale Law"
    norm, alone = np.linalg.norm, list(zip(spaces, codes))  # each subspace read alone
    raw = [norm(B.T @ barack - K[0]) / norm(K[0]) for B, K in alone]
    own = [norm(np.linalg.pinv(B) @ barack - K[0]) / norm(K[0]) for B, K in alone]
    print("relative error of B_kᵀh:", np.round(raw, 0), "of B_k⁺h:", np.round(own, 1))
    assert min(raw) > 5 and min(own) > 0.3

# %% [markdown] covers="wu:2.13.5"
# ### Reading with $B_k^\top h$
#
# Wu reads feature $k$ by $C_k \approx B_k^\top h$, for nearly orthogonal subspaces. Insert $h$:
#
# $$B_k^\top h = \underbrace{B_k^\top B_k}_{I\,?}\, C_k + \sum_{j\ne k} \underbrace{B_k^\top B_j}_{\text{cross-talk}}\, C_j .$$
#
# Two conditions, then. The columns of $B_k$ must be orthonormal (else use $B_k^+ = (B_k^\top B_k)^{-1}B_k^\top$); and the overlaps with *active* features must be small. The notes state only the second. The errors just printed tell them apart: $B_k^\top h$ suffers from both, $B_k^+ h$ from cross-talk alone.

# %% covers="wu:2.13.3 wu:2.13.5" demo=true
rng = np.random.default_rng(7)
Q, _ = np.linalg.qr(rng.normal(size=(12, 12)))
tidy = [Q[:, :2], Q[:, 2:5], Q[:, 5:6]]  # orthonormal
C = [rng.normal(size=B.shape[1]) for B in tidy]
h = sum(B @ c for B, c in zip(tidy, C))
assert all(np.allclose(B.T @ h, c) for B, c in zip(tidy, C))
assert np.isclose(sum(np.sum(c**2) for c in C), h @ h)  # Pythagoras for the parts
slanted = [rng.normal(size=B.shape) for B in tidy]  # independent, not orthogonal
h = sum(B @ c for B, c in zip(slanted, C))
joint = np.linalg.lstsq(np.hstack(slanted), h, rcond=None)[0]
assert np.allclose(joint, np.concatenate(C))  # read together: exact
too_many = rng.normal(size=(12, 13))
assert np.linalg.matrix_rank(too_many) == 12  # 13 columns are never independent

Q, _ = np.linalg.qr(np.random.default_rng(9).normal(size=(12, 12)))
B1, B2 = Q[:, :2] @ np.array([[2.0, 1.0], [0.0, 1.0]]), Q[:, 2:4]
C1, C2 = np.array([1.0, -1.0]), np.array([0.5, 2.0])
h = B1 @ C1 + B2 @ C2
assert np.allclose(B1.T @ B2, 0)  # exactly orthogonal subspaces
erratum(
    "wu:2.13.5",
    r"if $B_j^\top B_k \approx 0$ for $j \ne k$, then $C_k \approx B_k^\top h$ (2.156)",
    r"this also needs orthonormal columns, $B_k^\top B_k = I$; else "
    r"$C_k \approx B_k^+ h$ with the pseudo-inverse",
    printed_holds=np.allclose(B1.T @ h, C1),
    corrected_holds=np.allclose(np.linalg.pinv(B1) @ h, C1)
    and np.allclose(B2.T @ h, C2),
)
erratum(
    "wu:2.13.5",
    "superposition means that features live in (nearly) orthogonal subspaces",
    r"orthogonal subspaces hold at most $d$ features, as $\sum_k d_k \le d$. "
    "Superposition as the word is used today packs more features than dimensions; they "
    "interfere, and sparse activity makes that bearable",
)

# %% [markdown] covers="wu:2.13.5 wu:5.1.1"
# ### More features than dimensions
#
# How much room is there? At most $d$ directions are exactly orthogonal. *Nearly* orthogonal ones are abundant: two random unit vectors have a cosine of mean 0 and variance exactly $1/d$. (Turn the first to an axis; the squared coordinates of the second sum to 1 and are alike, so each has mean $1/d$.)
#
# Now read. Left: two features that meet at an angle, $h = c_1 w_1 + c_2 w_2 + \text{noise}$ with $c_i = \pm1$ and noise of standard deviation 0.1 in each coordinate. At the angle $\theta$ projection pays the overlap $\cos\theta$, the joint fit pays with amplified noise: $0.1/\sin\theta$. Right: $n$ random features in $d = 64$ dimensions, read by $w_i^\top h$. Each of the $k$ active features adds cross-talk of variance $1/d$, so the error is about $\sqrt{k/d}$: **what hurts is how many are active, not how many exist**.

# %% covers="wu:2.13.5 wu:5.1.1" demo=true
rng, sds = np.random.default_rng(10), []
for d in (10, 100, 1000, 10_000):
    W = rc.unit_vectors(d, 120, rng)
    cosines = (W.T @ W)[np.triu_indices(120, 1)]
    sds.append(cosines.std())
    assert abs(sds[-1] * np.sqrt(d) - 1) < 0.05
print("cosine sd for d = 10, 100, 1000, 10000:", *(f"{s:.3f}" for s in sds))
show(*rc.draw_crowding())

# %% [markdown] covers="wu:2.13.7 wu:2.13.5"
# ### Interference measured
#
# Let the columns $w_1, \dots, w_n$ of $W \in \mathbb R^{d\times n}$ be the directions of $n$ features, of any length. A feature is well stored if $\lVert w_i\rVert$ is near 1, and ignored if it is near 0. What the others put on its direction is
#
# $$\chi_i = \sum_{j\ne i} (\hat w_i^\top w_j)^2, \qquad \hat w_i = w_i / \lVert w_i\rVert \qquad (\chi_i = 0 \text{ if } w_i = 0).$$
#
# Only $w_i$ is made a unit vector: a short neighbour disturbs little.


# %% exercise="interference" points=2 minutes=9 difficulty=2 covers="wu:2.13.5 wu:2.13.7"
def interference(W):
    """Length of every feature's vector, and its interference.

    W (d, n), a column a feature. Returns (n,) lengths and (n,) interferences χ_i;
    χ_i = 0 for a column of zeros.
    W = [[2, 1], [0, 1]] gives [2, 1.4142] and [1, 2].
    """
    ### BEGIN SOLUTION
    G = W.T @ W
    own = np.diag(G)
    cross = np.sum(G**2, axis=1) - own**2
    cross = np.divide(cross, own, out=np.zeros(len(own)), where=own > 0)
    return np.sqrt(own), cross
    ### END SOLUTION


# %% check="interference"
check(interference)

# %% [markdown] covers="wu:2.13.5 wu:2.13.6"
# **No free lunch.** The Gram matrix $W^\top W$ of $n$ unit vectors has trace $n$ and at most $d$ eigenvalues that are not 0. The sum of their squares is smallest if all are equal: at least $d\,(n/d)^2 = n^2/d$. That sum is $\sum_{i,j}(w_i^\top w_j)^2$. So the mean interference of $n$ unit vectors is **at least $n/d - 1$**, however cleverly they are placed. A regular pentagon in the plane reaches the bound, 1.5.
#
# **Not unique.** The pentagon also shows what is lost. Number its features round the circle. The neighbours of feature 1 sum to $2\cos 72° = 0.618$ times its own vector. So "feature 1 with strength 0.618" and "features 2 and 5 with strength 1" are *the same* $h$. No reader, linear or not, can tell them apart. Only knowledge from outside can: that activity is sparse, so that one active feature is likelier than two.

# %% covers="wu:2.13.5 wu:2.13.6"
with after(interference):
    angles = 2 * np.pi * np.arange(5) / 5
    pentagon = np.array([np.cos(angles), np.sin(angles)])
    assert np.allclose(interference(pentagon)[1], 5 / 2 - 1)
    rng = np.random.default_rng(11)
    for d, n in ((2, 5), (3, 7), (10, 40)):
        W = rc.unit_vectors(d, n, rng)
        assert interference(W)[1].mean() >= n / d - 1 - 1e-12
    one, two = np.zeros(5), np.zeros(5)
    one[0], two[[1, 4]] = 2 * np.cos(2 * np.pi / 5), 1.0
    assert np.allclose(pentagon @ one, pentagon @ two)  # two readings of one vector
    print("h =", np.round(pentagon @ one, 3) + 0.0)
    print("read as", np.round(one, 3), "or as", two)

# %% [markdown] covers="wu:2.13.6 wu:2.13.7"
# ### What follows, and what does not
#
# Wu draws conclusions for interpreting networks. Each has a counterpart in what you have just run:
#
# | the notes | here |
# |---|---|
# | information is encoded holistically | $h$ in coordinates: all twelve non-zero, two features at work |
# | features coexist | five attributes in one vector, read and edited one by one |
# | bases may not be unique | any rotation of a recommender; two readings of one pentagon vector |
# | decomposition may be approximate | cross-talk $\sqrt{k/d}$ |
# | information may be entangled | overlapping subspaces: each read alone, even by $B_k^+h$, was far off |
# | context may matter | the error depends on which *other* features are active |
# | structure emerges from learning | next section |
#
# "Can be decomposed" is no discovery: every vector can, in every basis. A decomposition says something if it is sparse, or predicts what the network does when a part is changed.
#
# ## 6. A network that has to choose
#
# Does training produce superposition? The smallest experiment (Elhage and others, 2022): $n$ features must pass through $m < n$ dimensions and come out again,
#
# $$\hat x = \mathrm{ReLU}(W^\top W x + b), \qquad W \in \mathbb R^{m\times n}, \qquad \text{loss } \mathbb E\sum_i I_i\,(x_i - \hat x_i)^2 .$$
#
# Each $x_i$ is 0 with probability $1 - p$, otherwise uniform on $(0, 1)$, independently. The importances fall, $I_i = 0.9^{\,i-1}$. First $n = 5$, $m = 2$: nine networks, from dense ($p = 1$) to sparse ($p = 0.02$). We call a feature *stored* if $\lVert w_i\rVert^2 > \frac12$.

# %% covers="wu:2.13.7" demo=true
densities = [1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02]
Ws, bs, losses = rc.toy_models(5, 2, densities, 0.9 ** np.arange(5))
kept = rc.stored(Ws).sum(1)
assert kept[0] == 2 and kept[-1] == 5 and (np.diff(losses[3:]) < 0).all()
predict(
    "Five features, two dimensions. How many does the network store when each is "
    "active 2 % of the time?",
    ["2", "3", "4", "5"],
    truth=int(kept[-1]) - 2,
    because="All five, in a pentagon. When one is active the others are nearly always "
    "silent, and the ReLU with a negative bias cuts their small false echoes off.",
)

# %% [markdown] covers="wu:2.13.7"
# **Find out.** (1) From dense to sparse: how many are stored, and in which shapes? Look for a right angle, a cross, a pentagon. (2) Which features are dropped first? (3) At $p = 0.02$ let one, two and three features be active at once. How large is the error, and how likely is that input? (4) Does the mean interference respect the bound? (It is for unit vectors; here lengths differ.)
# (Pictures are turned so that the longest vector points up. Why is that allowed? Because the output sees only $W^\top W$: section 3's rotation again.)

# %% covers="wu:2.13.7"
with after(interference):
    explore(
        rc.geometry_explorer(interference, densities, Ws, bs),
        digits=1,
        density=SelectionSlider(
            options=densities,
            value=0.05,
            description="active p",
            continuous_update=False,
        ),
        active=IntSlider(
            1, min=0, max=5, description="active now", continuous_update=False
        ),
    )

# %% [markdown] covers="wu:2.13.7"
# ### The phase change, by hand
#
# Two features in **one** dimension, importances 1 and $I$. Two designs:
#
# - **keep one**: $\hat x_1 = x_1$, and $\hat x_2 = b$ with the best constant, the mean $p/2$. Its loss is $I$ times the variance: $I\,(\frac p3 - \frac{p^2}4)$.
# - **opposite pair**: $w_1 = 1$, $w_2 = -1$, no bias. $\hat x_1 = \mathrm{ReLU}(x_1 - x_2)$, $\hat x_2 = \mathrm{ReLU}(x_2 - x_1)$. Perfect unless both are active; then each output misses by $\min(x_1, x_2)$, whose square has mean $\frac16$. Its loss is $(1 + I)\,\frac{p^2}{6}$.
#
# For small $p$ the first falls like $p$, the second like $p^2$: **sparse features should share**. They cross at $p = \frac{4I}{2 + 5I}$. For $I = \frac12$ that is $\frac49$. These are two candidates; the trained network may beat both. Does it switch near there?

# %% covers="wu:2.13.7" demo=true
u, v, p, I = sympy.symbols("u v p I", positive=True)
both = 2 * sympy.integrate(sympy.integrate(v**2, (v, 0, u)), (u, 0, 1))
assert both == sympy.Rational(1, 6)  # E min(u, v)²
square, first = (p * sympy.integrate(u**k, (u, 0, 1)) for k in (2, 1))
variance = square - first**2
crossing = sympy.solve(I * variance - (1 + I) * p**2 * both, p)
assert [sympy.simplify(c - 4 * I / (2 + 5 * I)) for c in crossing] == [0]
ps = [0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.85, 1.0]
W1, _, loss1 = rc.toy_models(2, 1, ps, [1.0, 0.5], batch=512)
assert W1[ps.index(0.35), 0, 0] * W1[ps.index(0.35), 0, 1] < 0  # an opposite pair
show(*rc.draw_phase(ps, W1, loss1, 0.5), digits=0)

# %% [markdown] covers="wu:2.13.7"
# The second feature's vector is long, then gone: it does not shrink to nothing by degrees. That is why people speak of a phase change.
#
# **The ReLU is needed.** Without it $\hat x = W^\top W x + b$ has a matrix of rank $m$, and as all features have the same variance $\sigma^2$ the loss with the best $b$ is $\sigma^2\sum_i I_i\lVert e_i - (W^\top W)_i\rVert^2$, where $e_i$ and $(W^\top W)_i$ are rows. By Eckart and Young it is least, for falling importances, when the first $m$ features are kept perfectly and the others dropped. Sparsity enters only through $\sigma^2$ and changes nothing. Twenty features, six dimensions:

# %% covers="wu:2.13.7" demo=true
importance, few = 0.9 ** np.arange(20), [1.0, 0.3, 0.03]
long = dict(steps=800, restarts=1)
W20, _, _ = rc.toy_models(20, 6, few, importance, **long)
flat, _, _ = rc.toy_models(20, 6, [0.03], importance, relu=False, batch=512, **long)
assert rc.stored(W20[2]).sum() > 2 * rc.stored(W20[0]).sum()
assert rc.stored(flat[0]).sum() == 6 and rc.stored(flat[0])[:6].all()
show(*rc.draw_grams(few, W20, flat[0]), digits=0)

# %% [markdown] covers="wu:2.13.7 wu:5.1.3"
# So the notes' sketch has a mechanism: layers place features on directions because the loss pays for it; non-linearities let them share (and make features interact); storage is efficient where activity is sparse. That attention *selects* subspaces is a subject of its own. "Robust generalisation" does not follow from any of this: the pentagon errs whenever two features meet.
#
# ## 7. Probes
#
# How do you find a feature in a real layer, where no table of directions is given? Train a **linear probe**: a regression from the hidden vectors to the property. We train a network of 24 hidden ReLUs to tell odd from even digits, and probe its hidden layer for the parity, for the *digit*, and for random labels. The last is the control: on new digits it must stay at chance, else labels leak. All shares are on 597 digits that neither network nor probe has seen.

# %% covers="wu:2.13.7 wu:5.1.3" demo=true
digits = data.digits()
X, digit = digits.X / 16, digits.y.astype(int)
odd, fit, new = digit % 2, np.arange(1200), np.arange(1200, 1797)
untrained, H, (w_out, b_out) = rc.parity_network(X, odd, fit)


def right(layer, label):
    probe = rc.fit_probe(layer[fit], np.eye(label.max() + 1)[label[fit]])
    return np.mean(rc.read_probe(layer[new], probe).argmax(1) == label[new])


noise = np.random.default_rng(12).integers(0, 10, 1797)
layers = {"pixels": X, "untrained layer": untrained, "trained layer": H}
labels = digit, odd, noise
table = {name: [right(L, t) for t in labels] for name, L in layers.items()}
assert table["trained layer"][0] > 0.5 and max(row[2] for row in table.values()) < 0.2
show(*rc.draw_probes(table), digits=1)

# %% [markdown] covers="wu:2.13.7 wu:2.13.6"
# Nobody asked the network for the digit, yet a linear probe reads it with an accuracy far above chance. But so it does from the *untrained* layer, and better from the pixels. So the probe proves that the information is **there**. Compare with a baseline before you praise the training: for parity the trained layer does win.
#
# Is what is there also **used**? Test by an intervention: remove one direction, a unit vector $v$, from all hidden vectors, $h - v v^\top(h - \bar h)$, and let the network's own output judge. We remove (1) the probe's direction for the amount of ink, (2) the probe's direction for parity, (3) the direction of the network's own readout $w$.

# %% covers="wu:2.13.7 wu:2.13.6" demo=true
ink, mean = X.mean(1), H[fit].mean(0)


def without(v):
    v = v / np.linalg.norm(v)
    return H - np.outer((H - mean) @ v, v)


def accuracy(layer):
    return np.mean((layer[new] @ w_out + b_out > 0) == (odd[new] == 1))


ink_probe, odd_probe = rc.fit_probe(H[fit], ink[fit]), rc.fit_probe(H[fit], odd[fit])
gap = ink[new] - rc.read_probe(H[new], ink_probe)
r2 = 1 - np.mean(gap**2) / ink[new].var()
cosine = odd_probe[1:] @ w_out / np.linalg.norm(odd_probe[1:]) / np.linalg.norm(w_out)
cuts = [accuracy(H), accuracy(without(ink_probe[1:]))]
cuts += [accuracy(without(odd_probe[1:])), accuracy(without(w_out))]
assert r2 > 0.5 and cuts[1] > cuts[0] - 0.05 and cuts[3] < 0.65
print(f"ink: R² of the probe {r2:.1f}; cosine of parity probe and readout {cosine:.1f}")
print("accuracy:", *(f"{c:.2f}" for c in cuts), "(whole; without ink, probe, readout)")

# %% [markdown] covers="wu:2.13.6 wu:2.12.2 wu:2.12.5"
# Ink can be read and is not needed. Even the parity probe has found *a* direction that separates odd from even, and not *the* one the network uses: with 24 correlated units there are many, and what is cut out along one can still be read along another. Only the cut along the readout takes the network down to guessing, as it must: nothing varies along $w$ any more. **Decodable, used, and used in this direction are three claims**; a probe proves the first.
#
# ## On real data: digits as ratings
#
# 400 handwritten digits "rate" 64 pixels, and half of the ratings are hidden at random (light blue in the second picture). No labels, no geometry: the algorithm does not know which pixels are neighbours. Subtract the mean of each pixel over its known values (the movies' bias), and run your ALS.
#
# The last cell asks what the vectors know. Each digit image has a vector of 16 numbers, computed from half of its pixels without any label. A linear probe on them reads the digit. Its answer must not depend on the gauge: a linear map of the vectors is undone by the probe (up to its small ridge). And is geometry in the movies' vectors? Compare the cosine of pixels that touch with that of all pairs.

# %% covers="wu:2.12.2"
with after(mf_grads, als_step):
    rng = np.random.default_rng(13)
    rows = rng.permutation(1797)[:400]
    whole = X[rows]
    seen = np.where(rng.random(whole.shape) < 0.5, whole, np.nan)
    pixel_mean = np.nanmean(seen, axis=0)
    secret = np.where(np.isnan(seen), whole, np.nan)
    sizes = (1, 2, 4, 8, 16)
    held, factors = {}, {}
    for lam in (0.05, 2.0):
        factors[lam] = [als(seen - pixel_mean, d, lam, 6)[:2] for d in sizes]
        guesses = [pixel_mean + A @ B.T for A, B in factors[lam]]
        held[lam] = np.array([rc.rmse(P, secret) for P in guesses])
    baseline = rc.rmse(pixel_mean + 0 * whole, secret)
    assert held[2.0].min() < 0.85 * baseline and held[0.05][-1] > held[2.0][-1]
    show(*rc.draw_digit_dimensions(sizes, held, baseline))
    A16, B16 = factors[2.0][-1]
    P = pixel_mean + A16 @ B16.T
    show(*rc.draw_restored(whole, seen, P, range(8)))

# %% covers="wu:2.12.5 wu:2.12.2"
with after(mf_grads, als_step, canonical):
    label, M = digit[rows], np.random.default_rng(14).normal(size=(16, 16))

    def probed(F):
        w = rc.fit_probe(F[:300], np.eye(10)[label[:300]], 1e-9)
        return np.mean(rc.read_probe(F[300:], w).argmax(1) == label[300:])

    Ac, Bc = canonical(A16, B16)
    shares = [probed(F) for F in (A16, A16 @ M.T, Ac)]
    assert np.ptp(shares) < 0.011 and shares[0] > 0.5
    alive = np.linalg.norm(Bc, axis=1) > 0.05  # pixels that are ever inked
    unit = Bc / np.linalg.norm(Bc, axis=1, keepdims=True).clip(1e-9)
    cosines, place = unit @ unit.T, np.arange(64)
    row, column = place // 8, place % 8
    beside = np.abs(row - row[:, None]) + np.abs(column - column[:, None]) == 1
    pairs = alive[:, None] & alive & ~np.eye(64, dtype=bool)
    touching, every = cosines[beside & pairs].mean(), cosines[pairs].mean()
    assert touching > every + 0.1
    print(f"digit read from the vectors: {shares[0]:.1f} in three gauges (chance 0.1)")
    print(f"mean cosine: touching pixels {touching:.1f}, all pairs {every:.1f}")

# %% [markdown] covers="wu:2.12.7 wu:2.13.6"
# ## Take-aways
#
# - A recommender fills a matrix by one of low rank. Gradients pass through the known errors only. $J$ is not convex; ALS solves a ridge regression for each user, then for each movie, and never goes up.
# - Choose $d$ and $\lambda$ on held-out ratings; more dimensions than the data can bear do harm unless the penalty holds them.
# - $(A, B)$ and $(AM^\top, BM^{-1})$ predict the same. An L2 penalty balances the factors, $A^\top A = B^\top B$, and leaves a rotation. Coordinates mean nothing; distances mean something in a fixed gauge; equal differences and ratings do in every gauge.
# - Feedback narrows if the gain $(1-\varepsilon)\beta\lambda_1$ exceeds 1, *in a model of drift that we wrote down*. Whether people follow it is for experiments.
# - Reading $B_k^\top h$ needs orthonormal columns and small overlaps with what is active. Joint least squares needs independence only, and pays in noise.
# - $n$ unit vectors in $d$ dimensions have mean interference of at least $n/d - 1$. Sparse activity and a ReLU make it bearable: then networks store more features than dimensions, and change between regimes suddenly.
# - A probe shows what can be read. What is used, an intervention shows.
# - Where you will meet it again: the residual stream, PCA (the full-data case of section 2), low-rank updates, and the memory stream of an LSTM.
#
# ## What the notes got wrong
#
# The repairs stand where they belong: the index of the items (2.12.2), similarity without a gauge (2.12.5), the loop without an equation (2.12.6), orthogonal for orthonormal (2.13.2), extraction without orthonormal columns, and superposition confined to at most $d$ features (2.13.5). Two more: "linear in both" (2.12.5), and 2.12.7 (like 2.12.2: "each dimension captures a latent feature"), which praises the linear model for "interpretable feature dimensions"; 2.13.1 of the same notes says why not.

# %% covers="wu:2.12.7" demo=true
rng = np.random.default_rng(15)
A, B = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
Q = np.array([[0.6, -0.8], [0.8, 0.6]])
same = np.allclose((A @ Q) @ (B @ Q).T, A @ B.T)
erratum(
    "wu:2.12.7",
    "the linear model has interpretable feature dimensions and embeddings of clear "
    "meaning",
    "its predictions are simple; its dimensions are determined up to a rotation at "
    "best, so that a single coordinate has no meaning unless one is imposed",
    printed_holds=np.allclose(A @ Q, A) or not same,
    corrected_holds=same and not np.allclose(A @ Q, A),
)
a, b, rating = rng.normal(size=3), rng.normal(size=(2, 3)), lambda a, b: a @ b
erratum(
    "wu:2.12.5",
    "rating is linear in both user and item features",
    "bilinear: linear in each with the other fixed",
    printed_holds=np.isclose(rating(2 * a, 2 * b[0]), 2 * rating(a, b[0])),
    corrected_holds=np.isclose(rating(2 * a, b[0]), 2 * rating(a, b[0]))
    and np.isclose(rating(2 * a, 2 * b[0]), 4 * rating(a, b[0])),
)

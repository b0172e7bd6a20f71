# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a recommender that fills tables and advises newcomers, vectors that agree whatever the start, a meter for features that share too few dimensions"
# # Recommenders and superposition
#
# Four hundred handwritten digits, and half of their pixels are lost. A recommender is to fill the gaps: an image is a
# *user*, a pixel a *film*, a grey value a *rating*. It sees no label, and does not know which pixels touch. Of each image
# it keeps six numbers.
#
# A colleague looks at them. "Number 1 says how round it is." You fit again from another random start. The gaps get the
# same greys, and number 1 says something else.
#
# *So what do the six numbers hold? And can six numbers tell ten digits apart?* At the end your own code answers both.

# %%
# What this notebook needs.
import numpy as np
import sympy
import torch
from ipywidgets import FloatSlider, IntSlider, SelectionSlider

from descent import (
    after,
    below,
    check,
    claim,
    data,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.neural_networks import recommenders_and_superposition as rc

start("07_neural_networks/08_recommenders_and_superposition")

# %% covers="wu:2.12.1"
# Eight of the digits, and what is left of them.
whole, seen, digit = rc.lost_digits()
show(*rc.draw_lost(whole, seen, slice(8)))

# %% [markdown] covers="wu:2.12.1 wu:2.12.4"
# ## 1. A taste meets a film
#
# In 2006 a rental firm offered a million dollars for better guesses of ratings. What moved the field was a bold
# shortcut: nobody describes films. User $i$ gets a vector $a_i \in \mathbb R^d$, film $j$ a vector $b_j \in \mathbb
# R^d$, and the guess, in stars above the average, is
#
# $$\hat r_{ij} = \langle a_i, b_j\rangle = \sum_{k=1}^d a_{ik} b_{jk} .$$
#
# Hold the user fixed: she is a linear *readout*, $a$ her preferences. With $a = (0.9, 0.2, 0.7)$ for action,
# romance, science fiction and $b = (0.8, 0.1, 0.6)$ it is $0.72 + 0.02 + 0.42 = 1.16$. (Here coordinates have names:
# somebody *wrote the table by hand*.)
#
# What should she see? What is new to her, best first. (Stuck? `hint(rank_items)` helps in three stages, as in every
# exercise.)


# %% exercise="rank_items" points=1 difficulty=1 covers="wu:2.12.4 wu:2.12.1"
def rank_items(a, B, seen, top):
    """Indices of the `top` unseen films with the largest inner products, best first.

    a (d,). B (t, d), a row a film. seen (t,) booleans. 0 <= top <= number of unseen.
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
# **Grab the taste.** Drag the star among eight films. The dashed line is where the guess is 0.
#
# 1. Pull the star straight away from the middle: does the order change?
# 2. *Tax Inspectors* is all negative. Who loves it?
# 3. Find two quite different tastes with one and the same list.

# %% covers="wu:2.12.4"
# Drag the star.
with after(rank_items):
    explore(
        rc.ranking_explorer(rank_items),
        drag={("action", "romance"): "taste"},
        action=FloatSlider(0.6, min=-1, max=1, step=0.02, description="action"),
        romance=FloatSlider(0.3, min=-1, max=1, step=0.02, description="romance"),
    )

# %% [markdown] covers="wu:2.12.2"
# ## 2. Learn from what was rated
#
# Write the vectors as the rows of two tables, $A$ and $B$. Let $\Omega$ be the set of known pairs $(i, j)$ and
# $e_{ij} = r_{ij} - \langle a_i, b_j\rangle$ their errors. Minimise
#
# $$J(A, B) = \tfrac12\sum_{(i,j)\in\Omega} e_{ij}^2 + \tfrac\lambda2\big(\lVert A\rVert^2 + \lVert B\rVert^2\big),$$
#
# where $\lVert\cdot\rVert^2$ sums the squares of all entries. (The lecture notes have $\lambda = 0$; you will see it fail twice.) The
# gradient by one vector collects its errors:
#
# $$\frac{\partial J}{\partial a_i} = \lambda a_i - \sum_{j : (i,j)\in\Omega} e_{ij}\, b_j, \qquad \frac{\partial
# J}{\partial b_j} = \lambda b_j - \sum_{i : (i,j)\in\Omega} e_{ij}\, a_i .$$
#
# In our table an unknown rating is `NaN`. What should stand in the table $E$ of errors there, so that both sums become
# matrix products?


# %% exercise="mf_grads" points=2 difficulty=1 covers="wu:2.12.2"
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
# ### Half of it is easy
#
# One user, one film, $d = 1$, $r = 1$, $\lambda = 0$: $J = \frac12(1 - ab)^2$ is 0 at $(1, 1)$ and at $(-1, -1)$, but higher
# half-way, at $(0, 0)$: $J$ is not convex. There the gradient vanishes too, at a saddle. Never start from 0.
#
# Hold $B$ fixed, and $J$ is a convex quadratic of $A$; more, no user knows of another. What is left for each is a
# regression that you know. **Alternating least squares** (ALS): solve for all users, then for all films, and so on. Each
# half-step reaches the lowest point of its half, so $J$ never rises.
#
# Write the users' half. The films' half is the same function with $A$ and `R.T`.


# %% exercise="als_step" points=3 difficulty=1 covers="wu:2.12.2"
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
# ### Build the recommender
#
# Some films are liked by all. So predict $m_j + \langle a_i, b_j\rangle$: first the mean of each film, then vectors for
# what is left. Alternate until $J$ hardly falls.
#
# A newcomer arrives with three ratings. Hold the films fixed, and one half-step finds her vector. No new ranking is
# needed: give each film one number more, $m_j$, and each user a 1 to meet it,
#
# $$m_j + \langle a, b_j\rangle = \big\langle (a, 1),\ (b_j, m_j)\big\rangle .$$
#
# ($AB^\top$ has rank at most $d$, and each table of rank $d$ is such a product.)


# %% exercise="Recommender" points=6 difficulty=1 covers="wu:2.12.1 wu:2.12.2 wu:2.12.4"
class Recommender:
    """Guesses mean[j] + <A[i], B[j]>. lam > 0: the penalty of J."""

    def __init__(self, lam):
        self.lam = lam

    def fit(self, R, B, tol, max_passes):
        """Fit R (u, t), NaN where unknown, from film vectors B (t, d). Returns self.

        Sets mean (t,): each film's mean known rating, 0 where it has none. A (u, d) and
        B (t, d) fit what is left: in a pass first all users move, then all films.
        losses: their J after each pass. Stops after a pass, the second at the earliest,
        that lowers J by at most tol times the J before it, and after max_passes >= 1
        passes.
        """
        ### BEGIN SOLUTION
        known = ~np.isnan(R)
        counts = np.maximum(known.sum(axis=0), 1)
        self.mean = np.where(known, R, 0.0).sum(axis=0) / counts
        E = R - self.mean
        self.B, self.losses = B, []
        for _ in range(max_passes):
            self.A = als_step(self.B, E, self.lam)
            self.B = als_step(self.A, E.T, self.lam)
            self.losses.append(mf_grads(self.A, self.B, E, self.lam)[0])
            if len(self.losses) > 1:
                before, now = self.losses[-2:]
                if before - now <= tol * before:
                    break
        return self
        ### END SOLUTION

    def fill(self, R):
        """The fitted table R (u, t) with guesses in its gaps; what is known stays."""
        ### BEGIN SOLUTION
        return np.where(np.isnan(R), self.mean + self.A @ self.B.T, R)
        ### END SOLUTION

    def advise(self, ratings, top):
        """Indices of the `top` best unrated films for a newcomer, best first.

        ratings (t,): NaN where she has none. Her vector minimises J, the films' vectors
        as they are. 0 <= top <= number of unrated films.
        """
        ### BEGIN SOLUTION
        (a,) = als_step(self.B, (ratings - self.mean)[None], self.lam)
        films = np.column_stack([self.B, self.mean])
        return rank_items(np.append(a, 1.0), films, np.isfinite(ratings), top)
        ### END SOLUTION


# %% check="Recommender"
check(Recommender)

# %% covers="wu:2.12.1 wu:2.12.2"
# A small world of two-dimensional tastes; your recommender in it.
true, R = rc.taste_world()
U, s, Vt = np.linalg.svd(true)
thin = np.allclose((U[:, :2] * s[:2]) @ Vt[:2], true)
claim("2,400 ratings of rank {rank} are a product of two tables, 200 numbers",
      thin and np.linalg.matrix_rank(true) == 2, rank=2)  # fmt: skip
show(*rc.draw_ratings(R, true))
with after(Recommender):
    model = Recommender(1.0).fit(R, rc.first_vectors(40, 2), 1e-12, 500)
    J, dA, dB = mf_grads(model.A, model.B, R - model.mean, 1.0)
    falls = np.diff(model.losses).max() < 1e-9
    flat = max(abs(dA).max(), abs(dB).max())
    claim("J never rises; its gradients end {g}", falls and flat < 1e-3, g=below(1e-3))
    held = np.where(np.isnan(R), true, np.nan)
    error = rc.rmse(model.fill(R), held), rc.rmse(model.mean + 0 * true, held)
    claim("held-out error {e[0]:.2f} stars, by means alone {e[1]:.2f}",
          error[0] < error[1] / 2, e=error)  # fmt: skip
    fan = np.full(40, np.nan)
    fan[[0, 1, 2]] = 3.0, -1.0, 2.0
    print("A newcomer with three ratings is shown films", *model.advise(fan, 5))

# %% predict="overfit" minutes=1 covers="wu:2.12.2"
predict(
    "overfit",
    "In this world a user has 12 ratings on average, and the truth has d = 2. Fit "
    "with d = 8 and next to no penalty. What happens to the errors?",
    [
        "Known and held-out ratings: both get better",
        "Known get worse, held-out better",
        "Known get better, held-out much worse",
        "Nothing: six dimensions stay empty",
    ],
    truth=rc.what_overfits(*rc.by_dimension(Recommender, R, true)),
    because="Eight weights for a dozen ratings reproduce the noise. That is the first "
    "failure of λ = 0. With λ = 1 six needless dimensions do little harm.",
    then=lambda: rc.draw_dimensions(*rc.by_dimension(Recommender, R, true)),
    digits=1,
)

# %% [markdown] covers="wu:2.12.5 wu:2.13.1"
# ## 3. Who is right about number 1?
#
# Take any invertible $d \times d$ matrix $M$, and set
#
# $$A' = A M^\top, \qquad B' = B M^{-1} \qquad\text{(that is } a_i' = M a_i,\quad b_j' = M^{-\top} b_j\text{)} .$$
#
# Then $A'B'^\top = A M^\top M^{-\top} B^\top = AB^\top$: not one guess changes. Physicists call such a freedom a
# **gauge**. Without a penalty the ratings cannot tell the two fits apart; what differs between them is no fact about users or
# films.
#
# The lecture notes say that similar films have similar vectors. Do they, in both gauges?

# %% predict="neighbours" minutes=1 covers="wu:2.12.5"
predict(
    "neighbours",
    "Stretch your fit by M = [[2, 0.5], [0, 0.5]]. For how many of the 40 films is the "
    "nearest other film another one than before?",
    ["None", "1 to 5", "6 to 15", "More than 15"],
    truth=int(np.digitize(rc.new_neighbours(Recommender, R), [1, 6, 16])),
    because="Every guess is as before, but vectors far apart have come together. "
    "Nearness depends on the gauge: the second failure of λ = 0.",
)

# %% [markdown] covers="wu:2.12.5"
# What does survive is *equal differences*: $b_1 - b_2 = b_3 - b_4$ stays true, as $M^{-\top}$ is linear.
#
# **The penalty fixes half of it.** With $\lambda > 0$, where both gradients vanish, $EB = \lambda A$ and $E^\top A =
# \lambda B$. Multiply by $A^\top$ and by $B^\top$ from the left: $A^\top EB = \lambda A^\top A$ and $B^\top E^\top A =
# \lambda B^\top B$. The left sides are transposes of each other, the right sides symmetric, so $A^\top A = B^\top B$. No stretching is left. A
# rotation (or reflection) $Q$ is: $AQ$ and $BQ$ keep guesses, norms and distances, and turn the axes as they like.
#
# So choose the axes by convention, from the SVD $AB^\top = U\,\mathrm{diag}(s)\,V^\top$: the **canonical gauge** gives each
# side $\sqrt{s_k}$.


# %% exercise="canonical" points=3 difficulty=1 covers="wu:2.12.5"
def canonical(A, B):
    """The factors of the same product in the canonical gauge.

    A (u, d), B (t, d), d <= u and d <= t. Returns A' (u, d), B' (t, d) with
    A' B'ᵀ = A Bᵀ and A'ᵀA' = B'ᵀB' diagonal, largest entry first; in each column of B'
    the entry of largest absolute value is positive. (A column of zeros has no sign.)
    A Bᵀ may have a rank below d.
    A = [[2], [0]], B = [[0], [-8]] gives [[-4], [0]] and [[0], [4]].
    """
    ### BEGIN SOLUTION
    d = A.shape[1]
    U, s, Vt = np.linalg.svd(A @ B.T)
    left = U[:, :d] * np.sqrt(s[:d])
    right = Vt[:d].T * np.sqrt(s[:d])
    largest = right[np.abs(right).argmax(axis=0), np.arange(d)]
    turn = largest < 0
    return np.where(turn, -left, left), np.where(turn, -right, right)
    ### END SOLUTION


# %% check="canonical"
check(canonical)

# %% covers="wu:2.12.5 wu:2.13.1"
# One recommender in three gauges: what changes, what does not.
with after(Recommender, canonical, "neighbours"):
    A, B = model.A, model.B
    M, Q = np.array([[2.0, 0.5], [0.0, 0.5]]), np.array([[0.6, -0.8], [0.8, 0.6]])
    A2, B2 = A @ M.T, B @ np.linalg.inv(M)
    claim("stretched: not one guess changes", np.allclose(A2 @ B2.T, A @ B.T))
    balanced = np.allclose(A.T @ A, B.T @ B, atol=1e-3)
    claim("the penalty alone has balanced the two factors", balanced)
    forms = [np.concatenate(canonical(X, Y)) for X, Y in ((A, B), (A2, B2))]
    claim("both gauges have one canonical form", np.allclose(*forms))
    sizes = [rc.size(X, Y) for X, Y in (canonical(A, B), (A2, B2))]
    nuclear = np.linalg.svd(A @ B.T, compute_uv=False).sum()
    claim("its ½(‖A‖² + ‖B‖²) is the sum of the s, {n:.0f}; stretched {m:.0f}",
          np.isclose(sizes[0], nuclear) and sizes[1] > nuclear,
          n=nuclear, m=sizes[1])  # fmt: skip
    kept = set(np.argsort(-B[:, 0])[:5]) & set(np.argsort(-(B @ Q)[:, 0])[:5])
    print(
        f"Turned by 53°: {len(kept)} of the five films with most of number 1 stay so."
    )
    versions = {
        "as trained": (A, B),
        "stretched": (A2, B2),
        "canonical": canonical(A, B),
    }
    show(*rc.draw_gauges(versions, rc.switching(B, B2)))

# %% [markdown] covers="wu:2.13.1 wu:2.13.5"
# So no coordinate has a meaning but what a convention gives it. The lecture notes say it of words: "cat" is no list of named numbers; what is known of it is
# spread over the whole vector.
#
# ## 4. More features than numbers
#
# Then let a feature be a *direction*. Feature $j$ has the vector $w_j$, and $h = \sum_j x_j w_j$ holds all values $x_j$ at
# once: a **superposition**. For unit vectors, read feature $i$ by
#
# $$w_i^\top h = x_i + \sum_{j\ne i} (w_i^\top w_j)\, x_j .$$
#
# The sum is cross-talk. At most $d$ directions are orthogonal; if there are more features, some disturb others. How much? With
# $\hat w_i = w_i / \lVert w_i\rVert$, measure
#
# $$\chi_i = \sum_{j\ne i} (\hat w_i^\top w_j)^2 .$$
#
# Only $w_i$ is made a unit vector: a short neighbour disturbs little.


# %% exercise="interference" points=2 difficulty=1 covers="wu:2.13.5 wu:2.13.7"
def interference(W):
    """Length of every feature's vector, and its interference.

    W (d, n), a column a feature. Returns (n,) lengths and (n,) interferences χ_i;
    χ_i = 0 for a column of zeros.
    W = [[2, 1], [0, 1]] gives [2, 1.4142] and [1, 2].
    """
    ### BEGIN SOLUTION
    G = W.T @ W
    own = np.diag(G)
    total = np.diag(G @ G)
    safe = np.where(own > 0, own, np.inf)
    return np.sqrt(own), total / safe - own
    ### END SOLUTION


# %% check="interference"
check(interference)

# %% [markdown] covers="wu:2.13.5 wu:2.13.6 wu:2.13.7"
# **No free lunch.** $G = W^\top W$ of $n$ unit vectors has trace $n$ and at most $d$ eigenvalues that are not 0. The sum of their squares,
# $\sum_{i,j}(w_i^\top w_j)^2$, is at least $d(n/d)^2$, so the mean of $\chi$ is **at least $n/d - 1$**. A regular pentagon reaches it: 1.5.
# Its readings are not unique: counted round the circle, 2 and 5 together are 0.618 times 1.
#
# Would a network accept that? Five features pass through two numbers,
#
# $$\hat x = \mathrm{ReLU}(W^\top W x + b), \qquad W \in \mathbb R^{2\times 5},$$
#
# where each feature $x_i$ is 0 with probability $1 - p$, else uniform on $(0, 1)$. Feature $i$'s squared error weighs $0.9^{\,i-1}$. A feature is *stored* if
# $\lVert w_i\rVert^2 > \frac12$.

# %% predict="five" minutes=1 covers="wu:2.13.7"
predict(
    "five",
    "Trained, how many of the five features does the network store in two numbers if "
    "each is active 2 % of the time? And if all are active always?",
    ["2 and 2", "2 and 5", "5 and 2", "5 and 5"],
    truth=[(2, 2), (2, 5), (5, 2), (5, 5)].index(rc.rare_and_dense()),
    because="Dense: the two most important ones, at right angles. Rare: all five, in a "
    "pentagon. When one is active the others are nearly always silent, and the ReLU, "
    "with a negative bias, cuts off their small false echoes.",
)

# %% [markdown] covers="wu:2.13.7"
# **Watch it choose.** Press play: the network trains. Then change $p$.
#
# 1. From dense to rare: which shapes do you see? Look for a right angle, a cross, a pentagon.
# 2. The pentagon errs when 1 and 2 are active together. How often does that happen at $p = 0.02$?
# 3. Does the mean interference keep to the bound? (It holds for unit vectors.)

# %% covers="wu:2.13.5 wu:2.13.6 wu:2.13.7"
# Play the training. Above it: the bound, two readings of a vector.
with after(interference, "five"):
    angles = 2 * np.pi * np.arange(5) / 5
    pentagon = np.array([np.cos(angles), np.sin(angles)])
    claim("pentagon: interference 5/2 − 1", np.allclose(interference(pentagon)[1], 1.5))
    rng = np.random.default_rng(11)
    excess = [interference(rc.unit_vectors(d, n, rng))[1].mean() - (n / d - 1)
              for d, n in [(2, 5), (3, 7), (10, 40)] * 20]  # fmt: skip
    claim("60 random sets of unit vectors keep the bound", min(excess) > -1e-12)
    one, two = np.array([2 * np.cos(angles[1]), 0, 0, 0, 0]), np.array([0, 1, 0, 0, 1])
    same = np.allclose(pentagon @ one, pentagon @ two)
    claim("0.618 times number 1 is 2 and 5 together: one and the same h", same)
    explore(
        rc.toy_explorer(interference),
        digits=1,
        play="step",
        step=IntSlider(40, min=0, max=40, description="training"),
        density=SelectionSlider(options=rc.DENSITIES, value=0.05, description="p"),
    )

# %% [markdown] covers="wu:2.12.2 wu:2.12.5 wu:2.13.7"
# ## 5. Six numbers, ten digits
#
# Now the lost pixels. Fit six numbers an image from two random starts, and put both fits in one gauge. Then give each digit a
# direction: the mean vector of its images, among 300, less the mean of all, made a unit vector. Ten directions in six dimensions! Read
# the 100 other images: the largest inner product says the digit.

# %% covers="wu:2.12.2 wu:2.12.5 wu:2.13.5 wu:2.13.7"
# Gaps filled, number 1 from two starts, digits read from d numbers.
with after(rank_items, Recommender, canonical, interference):
    fits = [Recommender(1.0).fit(seen, rc.first_vectors(64, 6, s), 1e-6, 200)
            for s in (1, 2)]  # fmt: skip
    filled = [fit.fill(seen) for fit in fits]
    gap = np.abs(filled[0] - filled[1]).max()
    claim("two starts fill the gaps alike, largest difference {gap}",
          gap < 0.1, gap=below(0.1))  # fmt: skip
    secret = np.where(np.isnan(seen), whole, np.nan)
    errors = [rc.rmse(X, secret) for X in (filled[0], fits[0].mean + 0 * whole)]
    images = {"true": whole[:8], "known": seen[:8], "filled": filled[0][:8]}
    show(*rc.draw_filled(images, errors), digits=1)

    def read(A):
        """Share of the last 100 images that ten directions read; the directions."""
        h, known = A - A[:300].mean(0), digit[:300]
        means = np.array([h[:300][known == k].mean(0) for k in range(10)])
        W = means / np.linalg.norm(means, axis=1, keepdims=True)
        none = np.zeros(10, dtype=bool)
        told = [rank_items(a, W, none, 1)[0] for a in h[300:]]
        return np.mean(told == digit[300:]), W.T

    forms = [canonical(fit.A, fit.B)[0] for fit in fits]
    right, W = read(forms[0])
    cross = interference(W)[1].mean()
    claim("ten directions in six dimensions: mean interference {c:.1f}, at least 0.67",
          cross > 10 / 6 - 1, c=cross)  # fmt: skip
    claim(
        "still they read a share of {share:.1f} of new digits", right > 0.6, share=right
    )
    dims = (2, 3, 4, 6, 8)
    by = [right if d == 6 else
          read(Recommender(1.0).fit(seen, rc.first_vectors(64, d), 1e-4, 60).A)[0]
          for d in dims]  # fmt: skip
    numbers = [(f.A[:, 0], c[:, 0]) for f, c in zip(fits, forms)]
    show(*rc.draw_answer(*numbers, dims, by), digits=0)

# %% [markdown] covers="wu:2.12.5 wu:2.13.7"
# ## Take-aways
#
# - **What do six numbers hold?** No property each: another start turns the axes. They hold guesses, equal differences
#   and, once a penalty has fixed the gauge up to a rotation, distances and angles.
# - **Can six tell ten apart?** In about three of four new images, by ten directions that overlap, since an image shows one digit.
#   What hurts is how many are *active*, not how many there are.
# - Only known ratings count. Each half of the problem is a ridge regression, so $J$ never rises.
# - $n$ unit vectors in $d$ dimensions have a mean interference of at least $n/d - 1$. Where activity is rare, networks pay it.
#
# Next: [[next]]. Below: single ratings, a loop that narrows taste, parts of a vector, why sharing pays, and what a probe proves.

# %% [markdown] covers="wu:2.12.2 wu:2.12.3"
# ## Deeper: one rating at a time
#
# Early in that contest one man came third for a while, with something simpler than ALS. The gradient of $J$ is a sum of small pieces, one for each known rating, if each
# visit to user $i$ pays $\lambda/n_i$ of her penalty ($n_i$: how many ratings the user has; $q_j$: likewise for film $j$). So
# walk after *each rating*, in random order, with step $\eta$:
#
# $$a_i \leftarrow a_i + \eta\,\big(e_{ij}\, b_j - \tfrac{\lambda}{n_i} a_i\big), \qquad b_j \leftarrow b_j + \eta\,\big(e_{ij}\, a_i -
# \tfrac{\lambda}{q_j} b_j\big) .$$
#
# A visit touches $2d$ numbers, however many users there are. That is why **stochastic gradients** scale. One pass costs about
# $5|\Omega|d$ multiplications; a pass of ALS about $2|\Omega|d^2$, and a small system for each user and film.

# %% covers="wu:2.12.2"
# ALS, single ratings, gradient descent, from the same vectors.
with after(mf_grads, als_step):
    known = np.isfinite(R)
    n_i, q_j = known.sum(1), known.sum(0)
    A0, B0 = rc.first_vectors(60, 2), rc.first_vectors(40, 2)
    pieces = np.zeros_like(A0)
    for i, j in np.argwhere(known):
        pieces[i] += A0[i] / n_i[i] - (R[i, j] - A0[i] @ B0[j]) * B0[j]
    same = np.allclose(pieces, mf_grads(A0, B0, R, 1.0)[1])
    claim("the {n} small pieces sum to the gradient", same, n=int(known.sum()))

    def race(move, passes=20):
        A, B, losses = A0.copy(), B0.copy(), []
        for number in range(passes + 1):
            losses.append(mf_grads(A, B, R, 1.0)[0])
            A, B = move(A, B, number)
        return np.array(losses)

    def exact(A, B, _):
        A = als_step(B, R, 1.0)
        return A, als_step(A, R.T, 1.0)

    def downhill(A, B, _):
        _, dA, dB = mf_grads(A, B, R, 1.0)
        return A - 0.01 * dA, B - 0.01 * dB

    def single(A, B, number):
        eta = 0.15 / (1 + number / 10)
        order = np.random.default_rng(number).permutation(np.argwhere(known))
        for i, j in order:
            a, b, e = A[i].copy(), B[j].copy(), R[i, j] - A[i] @ B[j]
            A[i] += eta * (e * b - a / n_i[i])
            B[j] += eta * (e * a - b / q_j[j])
        return A, B

    floor = race(exact, 60)[-1]
    moves = {"ALS": exact, "single ratings": single, "gradient descent": downhill}
    curves = {name: race(move) for name, move in moves.items()}
    fifth = [losses[5] for losses in curves.values()]
    claim(
        "after five passes ALS leads, gradient descent is last", fifth == sorted(fifth)
    )
    show(*rc.draw_descent(curves, floor))

# %% [markdown] covers="wu:2.12.3 wu:2.12.2"
# **As a network.** Feed in the one-hot vector $x_j$ of a film. An embedding layer looks up its column, $b_j = W_\text{embed}\, x_j$ (so
# $W_\text{embed} = B^\top$; see [[07/07]]). A linear readout with weights of the user's own follows, $\hat r_{ij} = a_i^\top b_j$. All
# users share the lower layer, and each has one output unit: learning from other users' ratings is *multi-task learning*.
#
# Biases fit in as well: $\mu + \beta_i + \gamma_j + \langle a_i, b_j\rangle$ is the product of $(a_i,\ \beta_i + \mu,\ 1)$ and $(b_j,\ 1,\
# \gamma_j)$.

# %% covers="wu:2.12.3 wu:2.12.2"
# The lookup, who gets a gradient, the biases, the saddle at 0.
rng = np.random.default_rng(3)
A, B = torch.tensor(rng.normal(size=(60, 2))), torch.tensor(rng.normal(size=(40, 2)))
films = torch.nn.Embedding.from_pretrained(B.clone(), freeze=False)
readout = torch.nn.Linear(2, 60, bias=False, dtype=torch.float64)
with torch.no_grad():
    readout.weight.copy_(A)  # row i: the weights of user i
guesses, x7 = readout(films(torch.arange(40))), torch.eye(40, dtype=torch.float64)[7]
same = torch.allclose(guesses, B @ A.T) and torch.allclose(B.T @ x7, B[7])
claim("lookup and readout give all guesses; W_embed x₇ is row 7 of B", same)
(guesses[7, 3] - 1.0).square().backward()
touched = [
    torch.nonzero(layer.weight.grad.abs().sum(1)).ravel().tolist()
    for layer in (films, readout)
]
claim("one rating moves film 7 and user 3, nobody else", touched == [[7], [3]])
a, b, beta, gamma = A.numpy(), B.numpy(), rng.normal(size=60), rng.normal(size=40)
user = np.column_stack([a, beta + 3.4, np.ones(60)])
film = np.column_stack([b, np.ones(40), gamma])
with_biases = 3.4 + beta[:, None] + gamma + a @ b.T
claim("biases are two more dimensions", np.allclose(user @ film.T, with_biases))
x, y = sympy.symbols("x y", real=True)
hessian = sympy.hessian((1 - x * y) ** 2 / 2, (x, y)).subs({x: 0, y: 0})
claim("½(1 − ab)² has curvatures −1 and 1 at 0", set(hessian.eigenvals()) == {-1, 1})

# %% [markdown] covers="wu:2.12.6"
# ## Deeper: the loop closes
#
# So far tastes were fixed. But what people see may change their taste. The lecture notes fear the
# worst: strong alignment "creates addiction", content narrows. No equation is given, so nothing follows. Write one down, as a
# **hypothesis**.
#
# - Film $j$ is shown with the share $p_j = (1-\varepsilon)\,\mathrm{softmax}(\beta B a)_j + \varepsilon/t$. The *sharpness* $\beta$ says how far the
#   recommender trusts its scores; the *exploration* $\varepsilon$ is spread evenly over all $t$ films. (A common factor of all exponentials cancels in a softmax.)
# - The taste drifts towards what is seen, with step $\eta$: $a \leftarrow (1-\eta)\,a + \eta\, B^\top p$.
# - **Diversity** is the effective number of films, $e^{H(p)}$ with $H(p) = -\sum_j p_j\log p_j$ and $0\log 0 = 0$: it is $m$ if $m$ films are
#   shown equally often.


# %% exercise="feedback_step" points=2 difficulty=1 covers="wu:2.12.6"
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
# **When does a small preference grow?** Let the films have mean 0 and covariance $C = \frac1t B^\top B$. Near $a = 0$, $\mathrm{softmax}(\beta
# Ba)_j \approx \frac1t(1 + \beta\, b_j^\top a)$, so
#
# $$a \leftarrow \big[(1-\eta) I + \eta\,(1-\varepsilon)\,\beta\, C\big]\, a .$$
#
# With $\lambda_1$ the largest eigenvalue of $C$, a preference grows exactly if the **gain** $(1-\varepsilon)\,\beta\,\lambda_1$ exceeds 1.
#
# Press play. Then: raise $\varepsilon$ until the gain is below 1. How much diversity comes back? Set β = 6: how large an
# $\varepsilon$ brings the gain below 1, and which users pay for it?

# %% covers="wu:2.12.6"
# Play the rounds.
with after(feedback_step):
    catalogue = rc.catalogue()
    values, vectors = np.linalg.eigh(catalogue.T @ catalogue / len(catalogue))
    fits = []
    for beta, epsilon in ((2.0, 0.1), (2.0, 0.6), (0.8, 0.0)):
        tiny = 1e-5 * vectors[:, -1]
        new, _ = feedback_step(tiny, catalogue, beta, epsilon, 0.1)
        gain = (1 - epsilon) * beta * values[-1]
        fits.append(abs(new @ vectors[:, -1] / 1e-5 - 0.9 - 0.1 * gain) < 1e-3)
    claim(
        "a tiny taste grows by 1 − η + η · gain, for {n} loops", all(fits), n=len(fits)
    )
    explore(
        rc.feedback_explorer(feedback_step, catalogue),
        play="round",
        beta=FloatSlider(2.5, min=0, max=8, step=0.1, description="sharpness β"),
        explore=FloatSlider(0.0, min=0, max=1, step=0.05, description="exploration ε"),
        round=IntSlider(120, min=0, max=120, description="round"),
    )

# %% [markdown] covers="wu:2.12.6"
# An average of films never leaves their convex hull, so in *this* model no alignment runs away. If the taste only added up what it sees,
# without forgetting, it would. Growth without limit is an assumption, not a result.

# %% [markdown] written="judge_the_loop" points=3 minutes=6 covers="wu:2.12.6"
# **For a person to read.** On a video platform, users who joined three years ago watch half as many categories as users who joined last week.
# A newspaper writes: "The algorithm narrows minds." In at most eight sentences: (1) name another explanation of the same
# numbers; (2) propose an experiment that tells the two apart; (3) say what you would change if the newspaper is right, and who pays for it.
#
# ### BEGIN SOLUTION
# (1) Selection: users with narrow interests may stay longer, so that old users are narrow without having changed. (2) From their first
# day, give random users more exploration; after months compare everyone assigned, also who left, by what they choose when
# nothing is recommended. (3) Raise exploration or cap the sharpness so that the gain stays below 1, or let users set it. Users pay
# with less fitting suggestions, the platform with watch time; small producers gain. Whether that is worth it, the model does not say.
#
# **Rubric**
#
# - 1: names an alternative such as selection or the learning phase of new users
# - 1: proposes a randomised comparison with an outcome that the recommender does not itself determine
# - 1: names a concrete change and somebody who bears its cost
# ### END SOLUTION

# %% [markdown] covers="wu:2.12.7"
# ## Deeper: a taste with a peak
#
# How sweet should lemonade be? Let ratings peak where the sweetness $v_j$ meets the wish $u_i$: $r_{ij} = e^{-8(u_i - v_j)^2}$. One number for each user,
# one for each drink, but no product of them: more is not better. A rank-$d$ model builds the peak from products, piece by piece.
#
# The non-linear recommender $\hat r_{ij} = f(a_i, b_j)$ learns the numbers *and* a network $f$, here two layers of 32 tanh units. (It starts from the
# angles of the first two singular vectors: from random numbers, users stay in a wrong order, as nobody on a line can pass a neighbour.)
#
# Beware of a hasty conclusion: $-(u - v)^2 = 2uv - u^2 - v^2$ is a peak too, and has rank 3.

# %% covers="wu:2.12.7"
# Products against a network, on ratings that peak.
with after(als_step):
    parabola = -((np.linspace(-1, 1, 9)[:, None] - np.linspace(-1, 1, 7)) ** 2)
    claim("−(u − v)² has rank 3", np.linalg.matrix_rank(parabola) == 3)
    peaked, some = rc.peaked_world()
    missing, linear = np.where(np.isnan(some), peaked, np.nan), []
    for d in (1, 2, 3, 4, 6):
        B = rc.first_vectors(40, d)
        for _ in range(15):
            A = als_step(B, some, 0.03)
            B = als_step(A, some.T, 0.03)
        linear.append(rc.rmse(A @ B.T, missing))
    guesses, weights = rc.neural_recommender(some)
    network = rc.rmse(guesses, missing)
    claim("the network with d = 1 gets below the noise, products up to d = 6 do not",
          network < 0.03 < min(linear))  # fmt: skip
    print(f"numbers learned: network {weights}, products with d = 6: {100 * 6}")
    show(*rc.draw_nonlinear((1, 2, 3, 4, 6), linear, network, 0.03), digits=1)

# %% [markdown] covers="wu:2.12.7"
# **The price.** The network has more numbers and no exact half-steps. To make a list it runs for each film, where the inner product needs one
# matrix product, or an index of nearest neighbours. And nobody can say what a user's number means without $f$. Simplicity is worth a lot.

# %% [markdown] covers="wu:2.13.1 wu:2.13.2"
# ## Deeper: the parts of a vector
#
# Let $b_1, \dots, b_d$ be any **orthonormal** basis, $b_i^\top b_j = 1$ if $i = j$, else 0. Multiply $h = \sum_i c_i b_i$ by $b_k^\top$ from the left:
#
# $$c_k = b_k^\top h, \qquad h = \sum_i (b_i^\top h)\, b_i, \qquad \sum_i c_i^2 = \lVert h\rVert^2 \ \text{(Parseval)} .$$
#
# Every basis tells the same vector. One with few coefficients that are not 0 is a good *description*. Below, $h = 3 f_2 - 2 f_9$, for two columns
# of a hidden basis of $\mathbb R^{12}$. Turn the basis from the coordinates (0) to the hidden one (1): how close must you be to see that two features
# are at work?

# %% covers="wu:2.13.1 wu:2.13.2"
# Turn the basis.
features = rc.turned_basis()
h = 3 * features[:, 1] - 2 * features[:, 8]
c = features.T @ h
claim("12 coefficients rebuild h, and Parseval holds",
      np.allclose(features @ c, h) and np.isclose(c @ c, h @ h))  # fmt: skip
explore(
    rc.basis_explorer(h, features),
    turn=FloatSlider(0.0, min=0, max=1.5, step=0.05, description="turn"),
)

# %% [markdown] covers="wu:2.13.3 wu:2.13.4"
# **Subspaces.** A feature may need several numbers. Give feature $k$ a matrix $B_k \in \mathbb R^{d\times d_k}$ with independent columns, and
# coefficients $C_k \in \mathbb R^{d_k}$:
#
# $$h = \sum_{k=1}^K g_k, \qquad g_k = B_k C_k .$$
#
# The parts are determined exactly if all columns together are independent, which needs $\sum_k d_k \le d$.
#
# The lecture notes' example is the vector of "Barack": presidency, ethnicity, education, family, party. Build such a world
# in 12 dimensions, five planes that overlap, a code for each possible value. Then edit: the same person from another law school.
# Coefficients are those of the **joint** least squares fit of $h$ by all columns; what of $h$ lies outside of them stays.


# %% exercise="swap_attribute" points=2 difficulty=1 covers="wu:2.13.3 wu:2.13.4 wu:2.13.5"
def swap_attribute(h, Bs, k, new):
    """h with the coefficients of subspace k replaced by `new`.

    h (d,). Bs: list of matrices (d, d_k), all columns together independent.
    k: index into Bs. new (d_k,). Returns (d,): every other part of h stays.
    h = [3, 1], Bs = [[[1], [0]], [[1], [1]]], k = 0, new = [5] gives [6, 1]:
    jointly h = 2 * [1, 0] + 1 * [1, 1], and the 2 becomes 5.
    """
    ### BEGIN SOLUTION
    c = np.linalg.lstsq(np.hstack(Bs), h)[0]
    first = sum(B.shape[1] for B in Bs[:k])
    return h + Bs[k] @ (new - c[first : first + Bs[k].shape[1]])
    ### END SOLUTION


# %% check="swap_attribute"
check(swap_attribute)

# %% covers="wu:2.13.3 wu:2.13.4 wu:2.13.5"
# Five attributes in one vector: read, edited, read one by one.
with after(swap_attribute):
    values = {
        "presidency": ["44th", "43rd", "none"],
        "ethnicity": ["African American", "other"],
        "education": ["Harvard Law", "Yale Law", "none"],
        "family": ["Michelle, Malia, Sasha", "Laura, Barbara, Jenna"],
        "party": ["Democratic", "Republican", "none"],
    }
    rng, norm = np.random.default_rng(8), np.linalg.norm
    planes = [rng.normal(size=(12, 2)) for _ in values]
    codes = [rng.normal(size=(len(v), 2)) for v in values.values()]

    def decode(h):
        c = np.linalg.lstsq(np.hstack(planes), h, rcond=None)[0].reshape(-1, 2)
        nearest = [norm(K - x, axis=1).argmin() for K, x in zip(codes, c)]
        return {name: values[name][i] for name, i in zip(values, nearest)}

    barack = sum(B @ K[0] for B, K in zip(planes, codes))
    before = decode(barack)
    claim("all five are read back", before == {n: v[0] for n, v in values.items()})
    edited = decode(swap_attribute(barack, planes, 2, codes[2][1]))
    changed = {name: value for name, value in edited.items() if value != before[name]}
    told = ", ".join(f"{name} is {value}" for name, value in changed.items())
    claim("edited: {told}, and nothing else has changed",
          changed == {"education": "Yale Law"}, told=told)  # fmt: skip
    for name, readers in (("B_kᵀ h", [B.T for B in planes]),
                          ("B_k⁺ h", [np.linalg.pinv(B) for B in planes])):  # fmt: skip
        errors = [norm(X @ barack - K[0]) / norm(K[0]) for X, K in zip(readers, codes)]
        print(f"read alone by {name}: relative errors", *(f"{e:.1f}" for e in errors))

# %% [markdown] covers="wu:2.13.5 wu:5.1.1"
# **Reading alone** needs two conditions. Insert $h$:
#
# $$B_k^\top h = B_k^\top B_k\, C_k + \sum_{j\ne k} B_k^\top B_j\, C_j .$$
#
# The columns of $B_k$ must be orthonormal (else use $B_k^+ = (B_k^\top B_k)^{-1}B_k^\top$), and the overlaps with *active* features
# small. How much room is there for small overlaps? Two random unit vectors have a cosine of mean 0 and variance exactly $1/d$: turn the first to an axis; the
# squared coordinates of the second sum to 1 and are alike.
#
# First picture: two features at an angle $\theta$, and noise of 0.1. Projection pays the overlap $\cos\theta$, the joint fit pays $0.1/\sin\theta$. Second: $n$
# random features in 64 dimensions. Each of the $s$ active ones adds variance $1/d$, so the error is about $\sqrt{s/d}$.

# %% covers="wu:2.13.5 wu:5.1.1"
# Random cosines; errors by overlap and by number of features.
rng, scaled = np.random.default_rng(10), []
for d in (10, 100, 1000, 10_000):
    W = rc.unit_vectors(d, 120, rng)
    scaled.append((W.T @ W)[np.triu_indices(120, 1)].std() * d**0.5)
claim("cosine sd times √d: {low:.2f} to {high:.2f}, from d = 10 to 10,000",
      np.allclose(scaled, 1, atol=0.05), low=min(scaled), high=max(scaled))  # fmt: skip
show(*rc.draw_crowding())

# %% [markdown] covers="wu:2.13.6"
# What follows for reading networks? Each of the lecture notes' cautions has a counterpart that you have run:
#
# | caution | here |
# |---|---|
# | information is held by the whole vector | twelve coordinates, two features at work |
# | bases may not be unique | a turned recommender; two readings of a pentagon's vector |
# | decomposition may be approximate | cross-talk of about $\sqrt{s/d}$, with $s$ active |
# | information may be entangled | planes that overlap, read alone |
# | context may matter | the error depends on what *else* is active |
#
# "Can be decomposed" is no discovery: every vector can, in every basis. A decomposition says something if it is sparse, or if it
# predicts what happens when a part is changed.

# %% [markdown] covers="wu:2.13.7"
# ## Deeper: why sharing pays
#
# Two features in **one** dimension, importances 1 and $I$. Two designs:
#
# - **keep one**: $\hat x_1 = x_1$ and $\hat x_2 = \frac p2$, the best constant. It costs $I$ times a variance, $I\,(\frac p3 - \frac{p^2}4)$.
# - **opposite pair**: $w_1 = 1$, $w_2 = -1$, no bias. Perfect unless both are active; then each output misses by $\min(x_1, x_2)$, whose
#   square has mean $\frac16$. It costs $(1 + I)\,\frac{p^2}{6}$.
#
# For small $p$ the first falls like $p$, the second like $p^2$: *rare features should share*. They cross at $p = \frac{4I}{2 + 5I}$. These are two
# candidates only. Does training switch near there?

# %% covers="wu:2.13.7"
# The crossing by symbols; 13 densities; a network without ReLU.
u, v, p, I = sympy.symbols("u v p I", positive=True)
both = 2 * sympy.integrate(sympy.integrate(v**2, (v, 0, u)), (u, 0, 1))
square, first = (p * sympy.integrate(u**k, (u, 0, 1)) for k in (2, 1))
crossing = sympy.solve(I * (square - first**2) - (1 + I) * p**2 * both, p)
exact = both == sympy.Rational(1, 6)
exact &= [sympy.simplify(c - 4 * I / (2 + 5 * I)) for c in crossing] == [0]
claim("E min² = 1/6, and the designs cross at 4I/(2 + 5I)", bool(exact))
ps = (0.05, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.85, 1.0)
W1, _, cost = rc.toy_models(2, 1, ps, (1.0, 0.5))
opposite = W1[-1, 4, 0, 0] * W1[-1, 4, 0, 1] < 0
claim("at p = 0.35 the two vectors point in opposite directions", opposite)
show(*rc.draw_phase(ps, W1[-1], cost, 0.5), digits=0)
importance, long = tuple(0.9 ** np.arange(20)), dict(steps=480, restarts=1)
W20, _, _ = rc.toy_models(20, 6, (1.0, 0.03), importance, **long)
flat, _, _ = rc.toy_models(20, 6, (0.03,), importance, relu=False, **long)
dense, rare = rc.stored(W20[-1]).sum(1)
more = rare > 2 * dense and rc.stored(flat[-1, 0]).sum() == 6
claim("20 features, 6 numbers: if they are rare, more than twice as many are stored "
      "as if they are dense; without ReLU 6", more)  # fmt: skip

# %% [markdown] covers="wu:2.13.7 wu:5.1.3"
# The second feature does not shrink to nothing by degrees: it is there, then gone. That is why people speak of a phase change.
#
# And the ReLU is needed. Without it the loss with the best $b$ is the variance of a feature times $\sum_i I_i\lVert e_i - (W^\top W)_i\rVert^2$:
# sparsity is a mere factor, and by Eckart and Young the $d$ most important features are kept, the others dropped.
#
# So the lecture notes' sketch has a mechanism: a layer places features on directions because the loss pays for it, and non-linearities let them share.
# "Robust generalisation" does not follow: the pentagon errs whenever two features meet. That attention *selects* subspaces is a story of its
# own.

# %% [markdown] covers="wu:2.13.6 wu:2.13.7 wu:5.1.3"
# ## Deeper: what a probe proves
#
# No table of directions lies beside a real layer. So people train a **linear probe**: a regression from its vectors to a property. Take
# a network of 24 hidden ReLUs that tells odd from even digits. Probe its hidden layer for the parity, for the *digit*, and for random labels,
# the control, on digits that nobody has seen.
#
# Is what can be read also *used*? Remove one direction, a unit vector $v$, from all hidden vectors, $h - v v^\top(h - \bar h)$, and let the
# network's own output judge.

# %% covers="wu:2.13.6 wu:2.13.7 wu:5.1.3"
# Three probes on three layers, then three cuts.
table = data.digits()
X, label = table.X / 16, table.y.astype(int)
odd, fit, new = label % 2, np.arange(1200), np.arange(1200, 1797)
untrained, H, (w_out, b_out) = rc.parity_network(X, odd, fit)
noise = np.random.default_rng(12).integers(0, 10, 1797)
shares = {}
for name, layer in {"pixels": X, "untrained": untrained, "trained": H}.items():
    shares[name] = []
    for asked in (label, odd, noise):
        probe = rc.fit_probe(layer[fit], np.eye(asked.max() + 1)[asked[fit]])
        shares[name].append(
            (rc.read_probe(layer[new], probe).argmax(1) == asked[new]).mean()
        )
claim("nobody asked for the digit, and it can be read", shares["trained"][0] > 0.5)
claim("from the pixels better still", shares["pixels"][0] > shares["trained"][0])


def accuracy(v=None):
    """The network's own, all of it or with one direction cut."""
    cut = 0 if v is None else np.outer((H - H[fit].mean(0)) @ v, v) / (v @ v)
    return np.mean(((H - cut)[new] @ w_out + b_out > 0) == (odd[new] == 1))


ink_probe, odd_probe = (rc.fit_probe(H[fit], t[fit])[1:] for t in (X.mean(1), odd))
cuts = accuracy(), accuracy(ink_probe), accuracy(odd_probe), accuracy(w_out)
claim(
    "the ink is not needed, the readout is", cuts[1] > cuts[0] - 0.05 and cuts[3] < 0.65
)
for name, (digits, parity, control) in shares.items():
    print(f"{name:9}  digit {digits:.1f}  parity {parity:.1f}  "
          f"random labels {control:.1f}")  # fmt: skip
parts = "whole", "without ink", "parity probe", "readout"
print("accuracy:", ", ".join(f"{p} {c:.1f}" for p, c in zip(parts, cuts)))

# %% [markdown] covers="wu:2.13.6 wu:2.13.7"
# A probe proves that the information is **there**; so it is in the untrained layer, and in the pixels. Even the parity probe has found *a* direction,
# not *the* one that the network uses: what is cut out along one can be read along another. Only the cut along the readout takes the network down
# to guessing. **Readable, used, and used in this direction are three claims**; a probe proves the first.

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. *Too broad*: a condition is missing, shown at a counterexample. A *convention* is
# told and needs no proof.

# %% demo=true covers="wu:2.12.2 wu:2.12.5 wu:2.12.6 wu:2.12.7"
# wu, section 2.12: an index, gauges, a hypothesis.
erratum(
    "wu:2.12.2",
    quote=r"Item characteristics as vectors $b_i$",
    corrected=r"$b_j$: $i$ counts users, $j$ items",
    kind="convention",
)
b = np.array([[1.0, 0.0], [0.0, 1.0], [1.2, 1.5]])
stretched, turned = b @ np.diag([10.0, 1.0]), b @ np.array([[0.6, -0.8], [0.8, 0.6]])
nearest = [
    np.linalg.norm(x[:2] - x[2], axis=1).argmin() for x in (b, stretched, turned)
]
erratum(
    "wu:2.12.5",
    quote=(
        "The inner product structure implies: … Similar items have similar "
        r"embeddings $b_j$"
    ),
    corrected=(
        r"once a gauge is fixed, as by an L2 penalty; $(AM^\top, BM^{-1})$ predicts "
        r"the same with other distances"
    ),
    kind="broad",
    printed_holds=nearest[0] == nearest[1],
    corrected_holds=nearest[0] == nearest[2],  # a rotation, all that a penalty leaves
)
erratum(
    "wu:2.12.5",
    quote="Rating is linear in both user and item features",
    corrected="bilinear: linear in each while the other is held",
    kind="convention",
)
erratum(
    "wu:2.12.6",
    quote=r"Strong alignment $(\langle a_i, b_j\rangle \gg 0)$ creates addiction",
    corrected=(
        "a hypothesis about people: the model has no equation for how a user changes"
    ),
    kind="convention",
)
rng = np.random.default_rng(15)
left, right = rng.normal(size=(6, 2)), rng.normal(size=(5, 2))
Q = np.array([[0.6, -0.8], [0.8, 0.6]])
forms = []
for X, Y in ((left, right), (left @ Q, right @ Q)):
    _, s, Vt = np.linalg.svd(X @ Y.T)
    forms.append(Vt[:2] * np.sign(Vt[:2].sum(1, keepdims=True)))
erratum(
    "wu:2.12.7",
    quote="Clear meaning of embeddings … Interpretable feature dimensions",
    corrected=(
        "only with something that fixes the axes; else the dimensions are determined "
        "up to a rotation at best"
    ),
    kind="broad",
    printed_holds=np.allclose(right @ Q, right),
    corrected_holds=np.allclose(*forms),  # axes by the SVD: both fits agree
)

# %% demo=true covers="wu:2.13.2 wu:2.13.5"
# wu, section 2.13: bases, columns, another use of a word.
erratum(
    "wu:2.13.2",
    quote=r"forms an orthogonal basis: $b_i^{\top} b_j = \delta_{ij}$",
    corrected="orthonormal, as the formula beside it says",
    kind="convention",
)
Q, _ = np.linalg.qr(np.random.default_rng(9).normal(size=(12, 12)))
B1, B2 = Q[:, :2] @ np.array([[2.0, 1.0], [0.0, 1.0]]), Q[:, 2:4]
C1, C2 = np.array([1.0, -1.0]), np.array([0.5, 2.0])
h = B1 @ C1 + B2 @ C2  # exactly orthogonal subspaces
erratum(
    "wu:2.13.5",
    quote=r"To extract feature k: … \mathbf{C}_k \approx \mathbf{B}_k^\top h",
    corrected=r"if also $B_k^\top B_k = I$; else by the pseudo-inverse, $B_k^+ h$",
    kind="broad",
    printed_holds=np.allclose(B1.T @ h, C1),
    corrected_holds=np.allclose(B2.T @ h, C2)
    and np.allclose(np.linalg.pinv(B1) @ h, C1),
)
erratum(
    "wu:2.13.5",
    quote=(
        r"Ideally, subspaces are orthogonal: … \mathbf{B}_{j}^{\top}\mathbf{B}_{k} "
        r"\approx \mathbf{0} \quad \text{for } j \neq k"
    ),
    corrected=(
        r"orthogonal subspaces hold at most $d$ features; today *superposition* means "
        r"more features than dimensions"
    ),
    kind="convention",
)

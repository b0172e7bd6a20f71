# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a denoiser that sends a shaken crowd back, and the rule that keeps its shape" covers="wu:6.2"
# # One step of noise
#
# Five heaps of sand lie on a table. Somebody knocks, and every grain jumps: a random jolt, Gaussian, of standard
# deviation 0.3 in each direction. You know what the heaps looked like. Put the shaken sand back.
#
# For a single grain there is a best answer: the mean of all places that it may have come from. In squared error nothing
# beats it. So put *every* grain there. The last picture is what comes out: heaps that are too small. **Each grain has
# its best answer, and the crowd is wrong.**
#
# Two colleagues offer repairs. One goes only *half the way*. The other goes all the way and *knocks again*. Both are
# worse for the grains. Does either bring back the heaps?

# %%
# What this notebook needs.
import numpy as np
import sympy
from ipywidgets import Dropdown, FloatSlider, IntSlider

from descent import after, below, check, claim, data, erratum, explore, hint
from descent import movie, predict, show, solution, start
from descent.pictures.diffusion import one_step_denoising as pictures
from descent.pictures.diffusion.mixtures import Mixture, ring, two_hills

start("15_diffusion/01_one_step_denoising")

# %% demo=true covers="wu:6.2"
# The sand before the knock, after it, and with every grain on its best answer.
SIGMA, HEAPS = 0.3, ring(5, radius=2.5, sd=0.4)
rng = np.random.default_rng(0)
grains, heap = HEAPS.sample(1500, rng)
shaken = grains + SIGMA * rng.normal(size=grains.shape)
best = HEAPS.denoised(shaken, 1, SIGMA)
crowds = {"before": grains, "after the knock": shaken, "best answers": best}
show(*pictures.draw_heaps(crowds, HEAPS.means, heap))

# %% [markdown] covers="wu:6.1 wu:6.1.1"
# ## 1. Count the dots
#
# Begin where everything can be counted. Dots live in three states, $p(x)$ of them (or that share) in state $x$. Then all
# move: of the dots in $x$ the share $q(y \mid x)$ goes to $y$. Counting gives three rules,
#
# $$p(x, y) = p(x)\, q(y \mid x), \qquad \tilde p(y) = \sum_x p(x, y), \qquad r(x \mid y) = \frac{p(x, y)}{\tilde p(y)} .$$
#
# How many go from $x$ to $y$, how many arrive in $y$, and which share of them came from $x$: the chain rule,
# marginalisation, Bayes' rule. The shares are also the chances for one dot, drawn blindly. $r$ is the **backward
# kernel**.


# %% exercise="backward_kernel" points=2 difficulty=1 covers="wu:6.1.1"
def backward_kernel(p, q):
    """How many arrive in each state, and which share of them came from where.

    p (k,): how many start in each state, as counts or as shares, none negative.
    q (k, l): q[x, y] is the share of the dots in x that goes to y; its rows sum to 1.
    Returns the arrivals (l,), and r (l, k): r[y, x] is the share of those in y that
    came from x. Where nobody arrives, the row of r is all zeros.
    p = [3, 1], q = [[1, 0], [1, 0]] gives [4, 0] and [[0.75, 0.25], [0, 0]].
    """
    ### BEGIN SOLUTION
    joint = p[:, None] * q
    arrivals = joint.sum(0)
    r = np.zeros(joint.T.shape)
    for y in range(len(arrivals)):
        if arrivals[y] > 0:
            r[y] = joint[:, y] / arrivals[y]
    return arrivals, r
    ### END SOLUTION


# %% check="backward_kernel"
check(backward_kernel)

# %% covers="wu:6.1.1"
# The worked example of the notes, completed: arrivals, backward kernel, balance.
p3 = np.array([0.4, 0.3, 0.3])
q3 = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]])
with after(backward_kernel):
    arrivals, r3 = backward_kernel(p3, q3)
    words = "{a[0]:.2f}, {a[1]:.2f} and {a[2]:.2f} arrive"
    claim(words, np.allclose(arrivals, [0.33, 0.39, 0.28]), a=arrivals)
    for y, row in enumerate(r3, 1):
        print(
            f"of those in state {y}, from 1, 2, 3:", *(f"{share:.4f}" for share in row)
        )
    there, back = p3[:, None] * q3, (arrivals[:, None] * r3).T
    claim(
        "p(x) q(y|x) = p̃(y) r(x|y): as many come back from y to x as went there",
        np.allclose(there, back),
    )
    home = []
    for seed in range(200):
        drawn = np.random.default_rng(seed)
        p, q = drawn.dirichlet(np.ones(4)), drawn.dirichlet(np.ones(5), size=4)
        a, r = backward_kernel(p, q)
        home.append(np.allclose(a @ r, p))
    claim("Σ p̃(y) r(x|y) = p(x), for {n} random p and q", all(home), n=len(home))

# %% [markdown] covers="wu:6.1 wu:6.1.1"
# So time can run backwards: send from $y$ the share $r(x \mid y)$ to $x$, and each state has again what it had. Do single
# dots come home, too? Let them walk. Dot $i$ carries a number $u_i$, drawn uniformly from $[0, 1)$, and reads its row of
# the kernel like a ruler: it goes to the first state at which the running sum exceeds $u_i$.


# %% exercise="move" points=2 difficulty=1 covers="wu:6.1.1"
def move(states, kernel, u):
    """Every dot takes one step, by chance.

    states (n,): whole numbers, the state of each dot. kernel (k, l): row s holds the
    chances to go from s to 0, 1, …; u (n,): numbers with 0 <= u < 1.
    Dot i, in state s, goes to the first y with
    kernel[s, 0] + … + kernel[s, y] > u[i].
    Returns the new states (n,), whole numbers.
    kernel = [[0.25, 0.75]], states = [0, 0], u = [0.2, 0.25] gives [0, 1].
    """
    ### BEGIN SOLUTION
    ends = np.cumsum(kernel, axis=1)
    new = []
    for state, number in zip(states, u):
        y = 0
        while ends[state, y] <= number:
            y += 1
        new.append(y)
    return np.array(new, int)
    ### END SOLUTION


# %% check="move"
check(move)

# %% predict="come-home" minutes=1
predict(
    "come-home",
    "p = (0.4, 0.3, 0.3), and 60 %, 50 % and 50 % of the dots stay where they are. All "
    "move, then all are sent back by r. How many are in the state where they began?",
    ["all of them", "about three in four", "fewer than half"],
    truth=int(
        np.digitize(
            -((p3[:, None] * q3) ** 2 / (p3 @ q3)).sum(),  # went to y, came from there
            [-0.9, -0.5],
        )
    ),
    because="A dot in y goes to the state from which a dot in y came, not to its own: "
    "only the numbers come back. About 43 % meet their own state by chance.",
)

# %% covers="wu:6.1 wu:6.1.1"
# Play: 600 dots move and are sent back. The colour of a dot is where it began.
with after(backward_kernel, move, "come-home"):
    drawn = np.random.default_rng(0)
    first = np.repeat([0, 1, 2], [240, 180, 180])
    away = move(first, q3, drawn.random(600))
    returned = move(away, backward_kernel(p3, q3)[1], drawn.random(600))
    fig, ax, film, words, colors = pictures.columns([first, away, returned])
    movie(fig, ax, film, words, seconds=7, colors=colors)

# %% [markdown] covers="wu:6.1.2 wu:6.2.1"
# ## 2. From states to a line
#
# A grain may lie anywhere on a line. Cut it into bins of width $\Delta x$: the finer the bins, the fewer dots in each.
# What settles is the share *per width*, the **density** $p(x)$. Probability is density × width, so the three rules stay,
# with areas for sums: $\tilde p(y) = \int p(x)\, q(y \mid x)\, dx$ and
# $r(x \mid y) = p(x)\, q(y \mid x) / \tilde p(y)$.
#
# The move is a knock, $y = x + e$, where $e \sim N(0, \sigma^2)$ is independent of $x$:
#
# $$q(y \mid x) = \frac{1}{\sqrt{2\pi\sigma^2}} \exp\Big(\!-\frac{(y - x)^2}{2\sigma^2}\Big) .$$
#
# The mean stays and the variance grows by $\sigma^2$. On a grid, an area is the sum of the values times $\Delta x$.


# %% exercise="grid_posterior" points=2 difficulty=1 covers="wu:6.1.2 wu:6.2.1"
def grid_posterior(x, p, y, sigma):
    """Bayes' rule on a line: where may a dot that is now at y have come from?

    x (m,): places, increasing and evenly spaced, m >= 2. p (m,): the density there
    before the knock. y: a number. sigma > 0: the knock's standard deviation.
    Returns the density r(x | y) at the places (m,), and the density p̃(y), a number.
    Areas are sums of values times the spacing.
    x = [0, 1], p = [0.5, 0.5], y = 0.5, sigma = 1: [0.5, 0.5] and 0.3521.
    """
    ### BEGIN SOLUTION
    dx = x[1] - x[0]
    knock = np.exp(-((y - x) ** 2) / (2 * sigma**2)) / np.sqrt(2 * np.pi * sigma**2)
    joint = p * knock
    noisy = joint.sum() * dx
    return joint / noisy, noisy
    ### END SOLUTION


# %% check="grid_posterior"
check(grid_posterior)

# %% covers="wu:6.1.2 wu:6.2.1"
# Two hills on a line: bins of three widths; then your Bayes on a grid, put to the test.
hills, line = two_hills(), np.linspace(-6, 6, 1201)
clean = hills.density(line[:, None])
with after(grid_posterior):
    drawn = np.random.default_rng(1)
    dots = hills.sample(20_000, drawn)[0][:, 0]
    knocked = dots + 0.5 * drawn.normal(size=20_000)
    show(*pictures.draw_bins(dots, [0.8, 0.2, 0.05], line, clean), digits=1)
    near, far = (
        grid_posterior(x, hills.density(x[:, None]), 0.3, 0.5)
        for x in (line, np.linspace(-6, 6, 2401))
    )
    claim("half of Δx: the same density", np.allclose(near[0], far[0][::2], rtol=1e-6))
    bell = Mixture.of([[1.0]], 2.0).density(line[:, None])  # N(1, 4), y = 0, σ = 1
    mean, variance = pictures.moments(line, grid_posterior(line, bell, 0.0, 1.0)[0])
    words = "of N(1, 4) after a knock N(0, 1), from y = 0: N({m:.1f}, {v:.1f})"
    right = abs(mean - 0.2) < 0.01 and abs(variance - 0.8) < 0.01
    claim(words, right, m=mean, v=variance)
    shares, edges = np.histogram(knocked, np.arange(-2.55, 3, 0.1))
    middle = (edges[1:] + edges[:-1]) / 2
    noisy = np.array([grid_posterior(line, clean, y, 0.5)[1] for y in middle])
    counted = shares / 20_000 / 0.1
    error = np.sqrt(noisy / 20_000 / 0.1)
    claim(
        "p̃ agrees with the counts of 20,000 knocked dots, to four standard errors",
        bool((abs(counted - noisy) < 4 * error).all()),
    )
    shift, more = knocked.mean() - dots.mean(), knocked.var() - dots.var()
    words = (
        "the mean moves by less than {m}; the variance grows by {v}, give or take {m}"
    )
    claim(words, abs(shift) < 0.04 and abs(more - 0.25) < 0.04, m=0.04, v=0.25)

# %% [markdown] covers="wu:6.2.2"
# ## 3. A knock is undone by a slope
#
# In general $r$ has no simple form. But look at its logarithm,
#
# $$\log r(x \mid y) = \log p(x) - \frac{(y - x)^2}{2\sigma^2} + \text{const}.$$
#
# If $\sigma$ is small, only $x$ close to $y$ matter, and there $\log p$ is nearly a straight line,
# $\log p(x) \approx \log p(y) + s(y)\,(x - y)$. Its slope $s = (\log p)'$, in more dimensions the gradient
# $\nabla \log p$, is the **score**. It points to where dots are denser. What remains is quadratic in $x$. Let sympy
# complete the square:

# %% open=true demo=true covers="wu:6.2.2"
x, y, s = sympy.symbols("x y s", real=True)
sigma = sympy.symbols("sigma", positive=True)
exponent = s * (x - y) - (y - x) ** 2 / (2 * sigma**2)
centre = sympy.solve(sympy.diff(exponent, x), x)[0]
print("its top is at", centre)
rest = sympy.expand(exponent + (x - centre) ** 2 / (2 * sigma**2))
claim("up to {r}, free of x, it is −(x − top)²/2σ²", not rest.has(x), r=rest)

# %% [markdown] covers="wu:6.2.2 wu:6.2"
# So $r(\cdot \mid y) \approx N\big(y + \sigma^2 s(y),\ \sigma^2\big)$: a dot came, most likely, from further uphill, and
# the score says how far. How good is "nearly straight"? Drag $y$.
#
# 1. Where is the bell best, where worst? Try the flanks of the narrow hill.
# 2. Between the hills, raise $\sigma$. Which shape can no bell have?
# 3. Up to which $\sigma$ do bell and truth overlap by 95 % on the broad hill's top, at 1? And at −1.5, on the narrow one,
#    half as wide?

# %% covers="wu:6.2 wu:6.2.2"
# Drag the line: your exact backward kernel, and the bell of the straight line.
with after(grid_posterior):

    def draw_kernel(y, sigma):
        r, _ = grid_posterior(line, clean, y, sigma)
        step = sigma**2 * hills.score([y])[0]
        return pictures.draw_kernel(line, clean, y, sigma, r, y + step)

    explore(
        draw_kernel,
        drag={"y": "seen"},
        y=FloatSlider(0.3, min=-3, max=3, step=0.05, description="seen at y"),
        sigma=FloatSlider(0.4, min=0.1, max=1, step=0.05, description="knock σ"),
    )

# %% [markdown] covers="wu:6.2.2 wu:6.12.2"
# The bell's mean is off, and the cure is a surprise. Take the score of the *shaken* crowd, $\tilde s = (\log \tilde p)'$.
# Since $\frac{d}{dy}\, q(y \mid x) = \frac{x - y}{\sigma^2}\, q(y \mid x)$, dividing $\tilde p\,'(y)$ by $\tilde p(y)$ gives
# $\tilde s(y) = \mathbb E[x - y \mid y] / \sigma^2$. So for every $\sigma$, exactly,
#
# $$\mathbb E[x \mid y] = y + \sigma^2\, \tilde s(y) \qquad \text{(Tweedie's formula)}.$$
#
# Who knows the score of a crowd knows every best guess. And a score can be had from dots: blur each of $m$ dots $c_j$ into
# a bell of variance $h^2$ in each direction. The crowd's density is then the mean of the bells, and its score is
#
# $$s(y) = \sum_j w_j\, \frac{c_j - y}{h^2}, \qquad w_j \propto \exp\Big(\!-\frac{\lVert y - c_j \rVert^2}{2h^2}\Big), \quad \sum_j w_j = 1 .$$


# %% exercise="crowd_score" points=3 difficulty=1 covers="wu:6.2.2 wu:6.12.2"
def crowd_score(y, crowd, h):
    """The score, at each place, of a crowd whose dots are blurred into bells.

    y (n, d): places. crowd (m, d): the dots. h > 0: the standard deviation of a bell.
    Returns the scores (n, d), finite however far a place is from all dots.
    A factor that all weights share cancels.
    y = [[1.0]], crowd = [[0.0]], h = 0.5 gives [[-4.0]].
    """
    ### BEGIN SOLUTION
    scores = []
    for place in y:
        gaps = crowd - place
        fit = -(gaps**2).sum(1) / (2 * h**2)
        w = np.exp(fit - fit.max())
        scores.append(w @ gaps / w.sum() / h**2)
    return np.array(scores)
    ### END SOLUTION


# %% check="crowd_score"
check(crowd_score)

# %% [markdown] covers="wu:6.2.5"
# ## 4. Best for each, wrong for all
#
# With clean examples as the crowd and $h = \sigma$, your score is that of the shaken crowd, and $g = y + \sigma^2 \tilde s(y)$
# is the best guess. Why are its heaps too small? What it misses, $x - g$, has no correlation with $g$: else a stretched
# or shrunk $g$ would be better. So variances add, $\mathrm{Var}(x) = \mathrm{Var}(g) + \mathbb E\,(x - g)^2$, and the crowd
# of best guesses is too narrow by just the error that nobody can avoid.
#
# So go only the share $\lambda$ of the way, to $y + \lambda \sigma^2\, \tilde s(y)$. Try it where all can be computed:
# $x \sim N(0, v)$, so that $y \sim N(0, v + \sigma^2)$ with the score $\tilde s(y) = -y / (v + \sigma^2)$.

# %% predict="guesses" minutes=1
predict(
    "guesses",
    "The data are N(0, 1), the knock N(0, ½): the shaken crowd has the variance 1.5. "
    "Which variance has the crowd of best guesses?",
    ["1", "0.67", "0.5"],
    truth=int(
        np.abs(np.array([1, 0.67, 0.5]) - (1 - 0.5 / (1 + 0.5)) ** 2 * 1.5).argmin()
    ),
    because="Each y goes to 2y/3, and (2/3)² · 1.5 = 2/3. The missing third is the "
    "squared error of the guesses.",
)


# %% exercise="spread_and_error" points=2 difficulty=1 covers="wu:6.2.5 wu:6.12.1"
def spread_and_error(lam, v, sigma2):
    """What comes out of a step λ on Gaussian data: its variance, and its error.

    x ~ N(0, v), y = x + e with e ~ N(0, sigma2), out = y + lam · sigma2 · score(y),
    where the score is that of y's own density. v, sigma2 > 0, lam any number.
    Returns the variance of out, and the mean of (out - x)²: two numbers.
    lam = 0, v = 1, sigma2 = 0.5 gives 1.5 and 0.5.
    """
    ### BEGIN SOLUTION
    seen = v + sigma2
    kept = 1 - lam * sigma2 / seen
    variance = kept**2 * seen
    error = (1 - kept) ** 2 * v + kept**2 * sigma2
    return variance, error
    ### END SOLUTION


# %% check="spread_and_error"
check(spread_and_error)

# %% covers="wu:6.2.5"
# Drag λ: your two curves, with three marks; and what the same step makes of two hills.
with after(spread_and_error, "guesses"):

    def draw_step(lam, sigma2):
        shares = np.linspace(0, 1, 61)
        curves = np.array([spread_and_error(share, 1, sigma2) for share in shares])
        marks = np.array([spread_and_error(share, 1, sigma2) for share in (0, 0.5, 1)])
        return pictures.draw_step(lam, sigma2, shares, curves, marks, hills)

    explore(
        draw_step,
        drag={"lam": "share"},
        lam=FloatSlider(1, min=0, max=1, step=0.02, description="step λ"),
        sigma2=FloatSlider(0.5, min=0.05, max=1, step=0.05, description="knock σ²"),
    )

# %% [markdown] covers="wu:6.2.3 wu:6.2.5 wu:6.12"
# The error is least at $\lambda = 1$, always. For a small knock the spread is right near $\lambda = \frac12$: there it is $v + \frac{\sigma^4}{4(v + \sigma^2)}$,
# off only in $\sigma^4$. The other repair, guess and knock again, draws from $N(g, \sigma^2)$, the bell above with its mean
# put right: the variance is $v + \frac{\sigma^4}{v + \sigma^2}$. To first order in $\sigma^2$ both bring the crowd back.
#
# ## 5. Knock and mend
#
# Now build both, for any crowd, any score and many rounds.


# %% exercise="there_and_back" points=4 difficulty=1 covers="wu:6.2.3 wu:6.2.5 wu:6.12 wu:6.12.1 wu:6.12.2"
def there_and_back(x, score, sigma, lam, up, down=None):
    """Knock a crowd and mend it, round after round; keep the film, and the errors.

    x (n, d): the crowd. score: function (n, d) -> (n, d), called once in a round, at
    the places just after the knock. sigma > 0. up (R, n, d): standard normal numbers,
    up[r] for the knock of round r. To mend, each dot goes the share lam of the step
    σ² · score; where down (R, n, d) is given, it then jumps by σ · down[r].
    Returns the film (2R + 1, n, d): the crowd, then each round after the knock and
    after the mending; and for each round the mean, over the dots, of the squared
    distance between a dot before the knock and after the mending (R,).
    x = [[2.0]], score = lambda y: -y, sigma = 1, lam = 0.5, up = [[[1.0]]]: the film is
    [[[2.0]], [[3.0]], [[1.5]]], the errors [0.25].
    """
    ### BEGIN SOLUTION
    film = [x]
    errors = []
    for r in range(len(up)):
        start = film[-1]
        y = start + sigma * up[r]
        film.append(y)
        out = y + lam * sigma**2 * score(y)
        if down is not None:
            out = out + sigma * down[r]
        film.append(out)
        errors.append(((out - start) ** 2).sum(1).mean())
    return np.array(film), np.array(errors)
    ### END SOLUTION


# %% check="there_and_back"
check(there_and_back)

# %% covers="wu:6.2.3 wu:6.2.5 wu:6.12.1"
# The answer to the first screen: you know 2,000 examples, and send 1,500 other grains.
RULES = {"half the way": (0.5, 0), "best guess": (1, 0), "guess and knock": (1, 1)}
with after(crowd_score, there_and_back, spread_and_error):
    drawn = np.random.default_rng(2)
    examples, _ = HEAPS.sample(2000, drawn)
    up, down = drawn.normal(size=(2, 1, 1500, 2))
    crowds, errors = {"before": grains}, {}
    for name, (lam, jolt) in RULES.items():
        film, (errors[name],) = there_and_back(
            grains,
            lambda y: crowd_score(y, examples, SIGMA),
            SIGMA, lam, up, down if jolt else None,
        )  # fmt: skip
        crowds[name] = film[-1]
        print(f"{name}: mean squared error of a grain {errors[name]:.2f}")
    show(*pictures.draw_heaps(crowds, HEAPS.means, heap))
    spread = {k: pictures.spread(c, HEAPS.means, heap) for k, c in crowds.items()}
    off = {name: abs(spread[name] / spread["before"] - 1) for name in RULES}
    claim(
        "best for the grains is the best guess, and worst for the heaps",
        min(errors, key=errors.get) == max(off, key=off.get) == "best guess",
    )
    v = 0.4**2
    one = spread_and_error(0.5, v, 0.09)[0]
    for _ in range(9):
        v = spread_and_error(0.5, v, 0.01)[0]
    words = "half the way, one knock of 0.3: sd {a:.3f}; nine rounds of 0.1: {b:.3f}"
    claim(words, v < 0.162 < one, a=one**0.5, b=v**0.5)

# %% covers="wu:6.12 wu:6.12.2 wu:6.2.3"
# Play: six rounds of knock and mend, on four heaps, each with its own rule.
with after(there_and_back):
    drawn, parts = np.random.default_rng(3), {}
    for name, (lam, jolt) in ({"stay": (0, 0)} | RULES).items():
        pile = 0.4 * drawn.normal(size=(250, 2))
        up, down = drawn.normal(size=(2, 6, 250, 2))
        noise = down if jolt else None
        parts[name] = there_and_back(pile, lambda y: -y / 0.25, SIGMA, lam, up, noise)[
            0
        ]
    fig, ax, film, words, colors = pictures.race(parts)
    movie(fig, ax, film, words, seconds=9, colors=colors, digits=1)

# %% [markdown] covers="wu:6.2.3 wu:6.2.5 wu:6.12"
# ## Take-aways
#
# - Sent back by Bayes' rule, a crowd returns exactly, single dots do not: $p(x)\, q(y \mid x) = \tilde p(y)\, r(x \mid y)$.
# - For a small knock $r(\cdot \mid y)$ is nearly $N(y + \sigma^2 s(y), \sigma^2)$. The **score** $s$ is the slope of the log
#   density; with that of the shaken crowd the mean is exact for every $\sigma$.
# - **The best guess is best for each dot, and too narrow for all.** Both colleagues are right for small knocks: their
#   variances miss in $\sigma^4$ only.
# - So do not undo one large knock: undo many small ones. That is a diffusion model; a network learns its score.
#
# Next: [[15/02]], many small knocks in a row.

# %% [markdown] covers="wu:6.2.2 wu:6.2.3"
# ## Deeper: exactly, or nearly?
#
# "The crowd returns exactly" is true of Bayes' kernel $r$. Each formula in its place misses a little. How little? Send the
# two hills there and back, and measure how far the mass has to travel to be right: the distance $W_1$, the area between
# the two distribution functions. On log–log axes its slope is the power of $\sigma^2$.
#
# Not only the mean can be had exactly: the variance of $r$ is $\sigma^2 + \sigma^4\, \tilde s\,'(y)$. On a hilltop it is
# smaller than $\sigma^2$. So the bell jumps too far there, and the next term, of $\sigma^4$, is what is lost.

# %% demo=true covers="wu:6.2.2 wu:6.2.3"
# Mean, variance and shape of the kernel, and the crowd after the round trip, by σ².
levels = np.array([0.0025, 0.005, 0.01, 0.02, 0.04])
names = ("bell, score of p", "bell, score of p̃", "half step", "best guess", "Bayes")
travel = {
    name: [pictures.travel(hills, v**0.5, name) for v in levels] for name in names
}
slopes = {
    name: np.polyfit(np.log(levels[:3]), np.log(gaps[:3]), 1)[0]
    for name, gaps in travel.items()
    if name != "Bayes"
}
for name, slope in slopes.items():
    order = 1 if name == "best guess" else 2
    words = "{name}: W₁ falls like the power {order} of σ², to a fifth"
    claim(words, abs(slope - order) < 0.2, name=name, order=order)
claim("Bayes' kernel: {gap}", max(travel["Bayes"]) < 1e-6, gap=below(1e-6))
show(*pictures.draw_travel(levels, travel))

y0 = -1.2  # on the flank of the narrow hill
exact = [hills.posterior([y0], 1, v**0.5) for v in levels]
tweedie = [y0 + v * hills.noised(1, v**0.5).score([y0]) for v in levels]
same = [np.allclose(r.mean(), guess) for r, guess in zip(exact, tweedie)]
claim("y + σ² s̃(y) is the mean, at each σ", all(same))
miss = [abs(r.mean()[0] - y0 - v * hills.score([y0])[0]) for r, v in zip(exact, levels)]
power = np.polyfit(np.log(levels[:3]), np.log(miss[:3]), 1)[0]
claim("with the score of p the mean is off like σ⁴", abs(power - 2) < 0.2)
kl = [pictures.kernel_kl(hills, y0, v**0.5) for v in levels]
power = np.polyfit(np.log(levels[:3]), np.log(kl[:3]), 1)[0]
claim("KL(r, bell) falls like σ⁴, too", abs(power - 2) < 0.2)
curve = [
    r.covariance()[0, 0] - v - v**2 * pictures.curvature(hills.noised(1, v**0.5), y0)
    for r, v in zip(exact, levels)
]
claim("σ² + σ⁴ s̃′(y) is the variance", np.abs(curve).max() < 1e-6)

# %% [markdown] covers="wu:6.2.4"
# ## Deeper: who gains, who loses
#
# Why does a slope undo noise? Cut the line into cells of width $\Delta x$, and let the knock be a hop: each dot goes with
# chance $\frac{\sigma^2}{2 \Delta x^2}$ one cell to the right, with the same chance one to the left. That has the variance
# $\sigma^2$. Over a border flows what hops right minus what hops left, from dense to sparse:
#
# $$\text{flow} = \frac{\sigma^2}{2\Delta x^2}\, \big(p_i - p_{i+1}\big)\, \Delta x \approx -\frac{\sigma^2}{2}\, p'(x) = p(x) \cdot \Big(\!-\frac{\sigma^2}{2}\, s(x)\Big).$$
#
# Knocked dots move, on the whole, as if each had gone $-\frac{\sigma^2}2 s$. Here is the half step: going
# $+\frac{\sigma^2}2 s$ turns the flow round.
#
# A cell changes by what flows in minus what flows out. At both ends stand walls: over them nothing flows.


# %% exercise="density_change" points=2 difficulty=1 covers="wu:6.2.4"
def density_change(p, dx, sigma2):
    """By how much the density in each cell changes when the dots hop as above.

    p (m,): densities in m cells of width dx, m >= 1. sigma2 >= 0.
    Nothing flows over the two ends: what would hop over a wall stays in its cell.
    Returns the changes (m,). p = [1, 0], dx = 1, sigma2 = 0.5 gives [-0.25, 0.25].
    """
    ### BEGIN SOLUTION
    chance = sigma2 / (2 * dx**2)
    flow = chance * (p[:-1] - p[1:])
    change = np.zeros(len(p))
    change[:-1] -= flow
    change[1:] += flow
    return change
    ### END SOLUTION


# %% check="density_change"
check(density_change)

# %% demo=true
# Two close hills and a small lonely one.
THREE = Mixture.of([[-1.0], [1.0], [5.0]], [0.5, 0.5, 1.0], [0.45, 0.45, 0.1])
cells = np.linspace(-4, 9, 261)
density = THREE.density(cells[:, None])
low, small = THREE.density([[0.0], [5.0]])

# %% predict="gain-or-lose" minutes=1
predict(
    "gain-or-lose",
    "Two close hills at −1 and 1, a small lonely one at 5. In the valley, at 0, the "
    f"density is {low:.2f}; on the small top {small:.2f}. After a little knock?",
    ["both fall", "0 falls, 5 rises", "0 rises, 5 falls"],
    truth=int(
        1 + (THREE.noised(1, 0.1).density([[0.0]]) > low)[0]
        if THREE.noised(1, 0.1).density([[5.0]])[0] < small
        else 0
    ),
    because="What counts is not whether many dots are here, but whether more are "
    "around: the sign of the curvature p″. A valley fills up, a top wears off.",
)

# %% covers="wu:6.2.4"
# Drag the place: what flows in and out there, beside the curvature.
with after(density_change, "gain-or-lose"):
    change = density_change(density, 0.05, 0.0025)
    heat = 0.00125 * pictures.bend(THREE, cells)
    near = abs(change - heat)[1:-1].max() / abs(heat).max()
    claim("the change is (σ²/2) p″, to {part}", near < 0.02, part="2 %")
    claim("nothing is lost: the changes sum to 0", abs(change.sum()) < 1e-12)
    knocked = THREE.noised(1, 0.05).density(cells[:, None])
    near = abs(density + change - knocked).max() / abs(change).max()
    claim(
        "so it is after a Gaussian knock, σ = 0.05, to {part}", near < 0.02, part="2 %"
    )

    wide = np.arange(-4, 9.1, 0.25)  # wide cells: a quarter of each hops either way
    crowd = THREE.density(wide[:, None])
    change = density_change(crowd, 0.25, 0.5 * 0.25**2)

    def draw_flow(place, crowd=crowd, change=change):
        return pictures.draw_flow(place, wide, crowd, change, 0.25)

    explore(
        draw_flow,
        drag={"place": "place"},
        place=FloatSlider(0, min=-3.5, max=8, step=0.25, description="place x"),
    )

# %% [markdown] covers="wu:6.12.1 wu:6.12.2 wu:6.12"
# ## Deeper: a hundred rounds
#
# Knock with variance $\sigma^2 \Delta t$, go half a step uphill, and the next round starts. One round misses by a multiple of
# $\Delta t^2$ only. So the drift after a hundred rounds should fall like $\Delta t^2$, and over a fixed stretch of time, which
# takes $1 / \Delta t$ rounds, like $\Delta t$. Your `spread_and_error` tells the variance after a hundred rounds of each size.
#
# Below, one crowd; play it with either half of a round left out. The arrows are the score that it feels.

# %% covers="wu:6.12.1"
# The drift of a variance 1 in a hundred rounds, and in one, for σ = 1.
with after(spread_and_error):
    sizes, drifts = np.array([0.001, 0.003, 0.01, 0.03, 0.1]), []
    for dt in sizes:
        v = [1.0]
        for _ in range(100):
            v.append(spread_and_error(0.5, v[-1], dt)[0])
        drifts.append((v[1] - 1, v[-1] - 1))
    one, hundred = np.array(drifts).T
    claim("one round: dt² / (4 (1 + dt))", np.allclose(one, sizes**2 / 4 / (1 + sizes)))
    power = np.polyfit(np.log(sizes), np.log(hundred), 1)[0]
    claim("a hundred: the power 2 of dt, to a fifth", abs(power - 2) < 0.2)
    for dt, drift in zip(sizes, hundred):
        print(f"knocks of {dt:g}: after a hundred rounds {1 + drift:.5f}")

# %% covers="wu:6.12.2 wu:6.12"
# Play: a crowd on five heaps that is knocked, condensed, or both, twelve times.
with after(there_and_back):
    drawn = np.random.default_rng(4)
    crowd, (up, down) = grains[:400], drawn.normal(size=(2, 12, 400, 2))
    seen_by = HEAPS.noised(1, 0.15).score
    FILMS = {
        "knock and condense": there_and_back(crowd, seen_by, 0.15, 0.5, up)[0],
        "knock only": there_and_back(crowd, seen_by, 0.15, 0, up)[0],
        "condense only": there_and_back(crowd, seen_by, 0.15, 0.5, 0 * up)[0],
    }

    def draw_cloud(does, step):
        arrows = seen_by(FILMS[does][step][:80])
        return pictures.draw_cloud(does, step, FILMS[does], arrows, HEAPS, heap[:400])

    explore(
        draw_cloud,
        digits=1,
        play="step",
        does=Dropdown(options=list(FILMS), description="crowd does"),
        step=IntSlider(24, min=0, max=24, description="half-round"),
    )

# %% [markdown] covers="explainers:5.5 moon:22.1 wu:6.0"
# ## Deeper: many steps, the chapter in one film
#
# Knock $T$ times, $x_0 \to x_1 \to \dots \to x_T$, each state made from the one before alone (a *Markov chain*), until
# nobody sees where the crowd came from. There, in a Gaussian that anybody can draw, start a *new* crowd and step back $T$
# times: a machine that makes data. Below it takes half steps along your `crowd_score` of 300 dots on a spiral, a *swiss
# roll*.
#
# With chance, the way back is a chain, too: $p_\theta(x_{t-1} \mid x_t) = N(\mu_\theta, \Sigma_\theta)$ from
# $p(x_T) = N(0, I)$, where a network with weights $\theta$ gives mean and covariance. Summed over all paths,
# $p_\theta(x_0) = \int p_\theta(x_0, \dots, x_T)\, dx_1 \cdots dx_T$ shall be close to the data's $p(x_0)$.

# %% covers="explainers:5.5 moon:22.1 wu:6.0"
# Play: a swiss roll sinks in noise, and new dots make one. (The picture zooms out.)
with after(crowd_score):
    scales = np.geomspace(0.05, 6, 41)  # the standard deviation of all noise so far

    def way_back(x, examples):
        """Half steps from the largest scale to the smallest: all states on the way."""
        states = [x]
        for h, less in zip(scales[:0:-1], scales[-2::-1]):
            half = (h**2 - less**2) / 2
            states.append(states[-1] + half * crowd_score(states[-1], examples, h))
        return np.array(states)

    drawn = np.random.default_rng(5)
    roll = pictures.swiss_roll(300)
    jolts = drawn.normal(size=(40, 300, 2)) * np.sqrt(np.diff(scales**2))[:, None, None]
    there = np.concatenate([[roll], roll + scales[0] * drawn.normal(size=(1, 300, 2))])
    there = np.concatenate([there, there[1] + np.cumsum(jolts, 0)])
    back = way_back(6 * drawn.normal(size=(300, 2)), roll)
    movie(*pictures.roll_film(there, back, scales, roll), seconds=10, digits=1)

# %% [markdown] covers="moon:22.1 wu:6.0 explainers:5.5"
# The same for digits of 8 × 8 pixels, which are points with 64 coordinates. The new ones end on examples: what knows
# only its examples can only recite. [[15/03]] learns the score's twin, the noise, by a network, and draws new ones.
#
# Sohl-Dickstein and others proposed this in 2015; in 2020 Ho, Jain and Abbeel made it draw faces. Training is plain
# regression, stable where [[14/04|two networks that fight]] are not. Today it draws images from text, and sharp ones from
# coarse ones.
#
# The chapter goes on: chains with Gaussian posteriors ([[15/02]]); predicting data, noise or score ([[15/03]]); ever smaller
# steps, with chance and without ([[15/04]]); scores ([[15/05]]); flows ([[15/06]]); networks ([[15/07]]). What can be tested
# without training is tested on mixtures like those above.

# %% covers="explainers:5.5 moon:22.1 wu:6.0"
# A digit sinks; five new ones come up, from pure noise, by the same way back.
with after(crowd_score):
    images, drawn = data.digits().X / 8 - 1, np.random.default_rng(6)
    shown = [0, 8, 16, 24, 32, 40]
    sinking = images[13] + scales[shown, None] * drawn.normal(size=64)
    rising = way_back(6 * drawn.normal(size=(5, 64)), images)[::-1]
    show(*pictures.draw_strips(sinking, rising[shown], scales[shown]), digits=1)
    apart = np.sqrt(((rising[0][:, None] - images) ** 2).mean(2))
    nearest, second = np.sort(apart, axis=1)[:, :2].T
    words = (
        "each ends nearer than {d} a pixel to an example, the next is {far:.1f} away"
    )
    claim(words, nearest.max() < 0.1 < second.min(), d=0.1, far=second.min())

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.


# %% demo=true covers="wu:6.2.3 wu:6.2.5"
# wu, section 6.2: p = N(0, 1), a knock of variance s, the score of p̃ unless told.
def out_variance(lam, s, jolt=0.0, seen=True):
    """Variance after a share of the step and a jolt; seen: score of p̃, else of p."""
    slope = lam * s / (1 + s) if seen else lam * s
    return (1 - slope) ** 2 * (1 + s) + jolt


s = np.array([0.1, 0.5, 2.0])
erratum(
    "wu:6.2.5",
    quote=r"Half step result:  $\mathcal{N}(0,1)$  (exactly right)",
    corrected=(
        r"the variance is $1 + \frac{\sigma^4}{4(1 + \sigma^2)}$: right to first order "
        r"in $\sigma^2$"
    ),
    kind="error",
    printed_holds=np.allclose(out_variance(0.5, s), 1),
    corrected_holds=np.allclose(out_variance(0.5, s), 1 + s**2 / (4 * (1 + s))),
    decoy_holds=np.allclose(out_variance(0.5, s), 1 + s**2 / (2 * (1 + s))),
)
erratum(
    "wu:6.2.5",
    quote=r"Full step result:  $\mathcal{N}(0, 1 \sigma^2)$  (too narrow)",
    corrected=(
        r"the variance is $\frac{1}{1 + \sigma^2}$; $1 - \sigma^2$, with the lost "
        r"minus, would be negative for large $\sigma$"
    ),
    kind="error",
    printed_holds=np.allclose(out_variance(1, s), 1 - s),
    corrected_holds=np.allclose(out_variance(1, s), 1 / (1 + s)),
    decoy_holds=np.allclose(out_variance(1, s), 1 / (1 + s) ** 2),
)
erratum(
    "wu:6.2.5",
    quote=(
        "deterministic denoising that estimates the mean of the posterior … Provides "
        "single best estimate … Requires crucial half-step correction"
    ),
    corrected="the best estimate is the whole step; the half step moves the crowd",
    kind="broad",
    # of N(0, 1) and σ² = ½ the squared errors: is the half step the best?
    printed_holds=(1 / 6) ** 2 + (5 / 6) ** 2 / 2 <= (1 / 3) ** 2 + (2 / 3) ** 2 / 2,
    corrected_holds=(1 / 6) ** 2 + (5 / 6) ** 2 / 2 > (1 / 3) ** 2 + (2 / 3) ** 2 / 2,
)
bells = [out_variance(1, 0.5, 0.5, seen) for seen in (False, True)]
erratum(
    "wu:6.2.3",
    quote="But the overall distribution returns exactly to p(x)",
    corrected=(
        r"exactly with the true $p(x \mid y)$; with the Gaussian above to first "
        r"order in $\sigma^2$"
    ),
    kind="broad",
    printed_holds=np.allclose(bells, 1),
    corrected_holds=np.isclose(out_variance(1, 0.5, jolt=0.5 / 1.5), 1),
)
erratum(
    "wu:6.2.2",
    quote="This quadratic form in $\\log p(x|y)$ implies that p(x|y) is Gaussian with",
    corrected=r"nearly: the two lines before drop the $\approx$ of the Taylor step",
    kind="convention",
)
erratum(
    "wu:6.2.5",
    quote=r"Score function:  $\nabla \log p(y) = -\frac{y}{1+\sigma^2}$",
    corrected=r"this is $\nabla\log\tilde p(y)$; of $p$ itself it is $-y$",
    kind="convention",
)
erratum(
    "wu:6.2.4",
    quote="Result: Net loss of particles (density decreases)",
    corrected=r"denser than around it: the sign is that of $p''$, not of the level",
    kind="convention",
)
erratum(
    "wu:6.12.1",
    quote="From our previous derivation of the t-2 property, we know that if",
    corrected="a stray *if*; and the same law to first order in Δt",
    kind="convention",
)

# %% demo=true covers="moon:22.1"
# moon, section 22.1: FID of unconditional images, as Ho et al. (2020) print them.
FID = {
    "CIFAR-10": (3.17, 3.26),
    "LSUN Bedroom": (4.90, 2.65),
    "LSUN Church": (7.89, 3.86),
}
wins = {name for name, (ddpm, best_gan) in FID.items() if ddpm < best_gan}
erratum(
    "moon:22.1",
    quote=r"Outperform GANs on image synthesis (DDPM)",
    corrected="on CIFAR-10 in 2020; on large images from 2021 on",
    kind="broad",
    printed_holds=wins == set(FID),
    corrected_holds=wins == {"CIFAR-10"},
)

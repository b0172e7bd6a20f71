"""Exercises of 15_diffusion/01_one_step_denoising."""

import numpy as np

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


# What decides a case is planted, so that a mistake breaks the same properties for every seed; a little of each
# number is drawn, so that nobody knows the result.
def near(rng, *values):
    """Those numbers, each up to a tenth longer or shorter."""
    return np.array(values) * rng.uniform(0.9, 1.1, np.shape(values))


def kernel(rng, *rows):
    """Rows of chances, near those given; a 0 stays 0."""
    rows = np.array(rows) * rng.uniform(0.9, 1.1, np.shape(rows))
    return rows / rows.sum(1, keepdims=True)


# --------------------------------------------------------------------------------- backward_kernel

backward_kernel = Exercise(
    "backward_kernel",
    reference=reference.backward_kernel,
    compare=close(rtol=1e-9, atol=1e-12),
    hints=[
        "Before you ask where they came from: how many dots go from x to y? Make the table of all pairs.",
        "The table has p[x] times q[x, y] in row x, column y. Sum a column, and you know how many arrive there. What is each "
        "entry's share of its column?",
        "joint = p[:, None] * q; arrivals = joint.sum(0). Start r as zeros (l, k), and where arrivals[y] > 0 let row y be column y of joint "
        "over arrivals[y].",
    ],
)


@backward_kernel.cases
def _(rng):
    share = near(rng, 5, 2, 3)
    yield (
        "three states, as shares",
        dict(
            p=share / share.sum(),
            q=kernel(rng, [0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]),
        ),
    )
    counts = dict(
        p=rng.integers([4, 30, 11], [9, 40, 20]),
        q=kernel(rng, [5, 2, 3], [1, 7, 2], [2, 3, 4]),
    )
    yield "counts of dots, in whole numbers", counts
    wide = kernel(rng, [1, 2, 3, 4], [5, 1, 2, 2])
    yield "from two states to four", dict(p=near(rng, 0.3, 0.7), q=wide)
    yield (
        "from two states to four",
        dict(p=near(rng, 8, 1, 2, 5), q=kernel(rng, [3, 1], [1, 2], [2, 5], [4, 3])),
    )
    lonely = kernel(rng, [1, 0, 2], [3, 0, 1])
    yield "a state where nobody arrives", dict(p=near(rng, 2, 1), q=lonely)
    yield (
        "a state where nobody starts",
        dict(p=near(rng, 0, 2, 1), q=kernel(rng, [1, 2, 0], [3, 1, 0], [2, 1, 0])),
    )
    yield (
        "few dots are counted like many",
        dict(p=1e-12 * near(rng, 2, 3), q=kernel(rng, [1, 3], [2, 1])),
    )


backward_kernel.mistakes(
    {
        "the forward shares again": (
            "joint[:, y] / arrivals[y]",
            "q[:, y]",
            "A state with few dots sends few. Does your row y know how many started where?",
        ),
        "rows are divided by the starters": (
            "joint[:, y] / arrivals[y]",
            "joint[:, y] / p.sum()",
            "Each row of r with arrivals sums to 1. What is an arrival's share a share of?",
        ),
        "the sum runs over where they go": (
            "joint.sum(0)",
            "joint.sum(1)",
            "Sum over y, and you know who left. Which sum tells who arrived?",
        ),
        "p scales the columns": (
            "p[:, None] * q",
            "(p[: q.shape[1]] if q.shape[1] <= len(p) else np.resize(p, q.shape[1])) * q",
            "p[x] belongs to row x of q. Along which axis does numpy line it up?",
        ),
        "how many, not which share": (
            "joint[:, y] / arrivals[y]",
            "joint[:, y]",
            "In a row of r with arrivals the shares sum to 1. Do yours?",
        ),
        "a division where nobody arrives": (
            "if arrivals[y] > 0:",
            "with np.errstate(all='ignore'):",
            "0 / 0 is not a number. What shall stand in the row of a state where nobody arrives?",
        ),
        "few are taken for nobody": (
            "arrivals[y] > 0",
            "arrivals[y] > 1e-9",
            "A count in billions may be tiny and not zero. When does nobody arrive?",
        ),
    }
)


backward_kernel.worked(
    why=r"""The table of pairs $p(x)\, q(y \mid x)$ holds all that there is to know. Summing a column forgets where dots came
    from; dividing a column by its sum forgets how many there are. Its rows and columns change places in $r$, since now $y$
    is given. Nothing in it needs shares: counts do as well."""
)


@backward_kernel.right("with one division for all")
def _(p, q):
    joint = (np.asarray(p)[:, None] * q).T
    arrivals = joint.sum(1, keepdims=True)
    return arrivals[:, 0], np.divide(
        joint, arrivals, out=np.zeros_like(joint), where=arrivals > 0
    )


@backward_kernel.right("in lists")
def _(p, q):
    k, l = q.shape
    arrivals = [sum(p[x] * q[x, y] for x in range(k)) for y in range(l)]
    rows = [
        [p[x] * q[x, y] / arrivals[y] if arrivals[y] else 0.0 for x in range(k)]
        for y in range(l)
    ]
    return arrivals, rows


# -------------------------------------------------------------------------------------------- move

move = Exercise(
    "move",
    reference=reference.move,
    compare=exact(),
    hints=[
        "Take one dot. Which row of the kernel is its ruler? Walk along it.",
        "Keep a running sum. As long as it does not exceed the dot's number, go on to the next state and add its chance.",
        "For each pair of state and number: y = 0, total = kernel[state, 0]; while total <= number: y += 1 and total += kernel[state, y]. "
        "Append y.",
    ],
)


@move.cases
def _(rng):
    K = kernel(rng, [1, 3, 6], [5, 4, 1], [2, 2, 6])
    yield (
        "each dot reads its own row",
        dict(
            states=np.array([0, 1, 2, 2, 1, 0]),
            kernel=K,
            u=near(rng, 0.75, 0.1, 0.3, 0.88, 0.3, 0.6),
        ),
    )
    states = rng.permutation(np.repeat([0, 1, 2], 8))
    yield "a crowd", dict(states=states, kernel=K, u=rng.random(24))
    quarters = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])
    ties = rng.permutation(
        np.array([[0, 0.25], [0, 0.75], [1, 0.5], [1, 0.75], [0, 0.0]])
    )
    yield (
        "the running sum has to exceed u",
        dict(states=ties[:, 0].astype(int), kernel=quarters, u=ties[:, 1]),
    )
    zeros = rng.permutation(
        np.array([[0, 0.0], [1, 0.0], [1, 0.5], [2, 0.999], [0, 0.4]])
    )
    sparse = np.array([[0, 0, 1, 0], [0, 0.5, 0, 0.5], [0, 0, 0, 1.0]])
    yield (
        "nobody goes where the chance is zero",
        dict(states=zeros[:, 0].astype(int), kernel=sparse, u=zeros[:, 1]),
    )
    few = kernel(rng, [1, 1, 8], [2, 1, 9])
    yield (
        "a single dot",
        dict(states=rng.integers(0, 2, 1), kernel=few, u=near(rng, 0.6)),
    )
    many = kernel(rng, [1, 1, 1, 1, 1, 8], [8, 1, 1, 1, 1, 1])
    yield (
        "more states than dots",
        dict(states=np.array([1, 0]), kernel=many, u=near(rng, 0.8, 0.6)),
    )


move.mistakes(
    {
        "a tie stays": (
            "total <= number",
            "total < number",
            "u = 0.25, and the running sum is 0.25: exceeds it u?",
        ),
        "the column for the row": (
            "new = []",
            "new, kernel = [], kernel.T",
            "kernel[s, y] is the chance to go from s to y. Which index is where the dot is now?",
        ),
        "single chances, no running sum": (
            "total += kernel[state, y]",
            "total = kernel[state, y] if y < kernel.shape[1] - 1 else 1.0",
            "On the ruler the states lie one after the other. Where does the second one end?",
        ),
        "everybody reads the first row": (
            "total = kernel[state, 0]",
            "state = 0; total = kernel[state, 0]",
            "Each dot is in a state of its own. Whose row does it read?",
        ),
        "all dots use one number": (
            "zip(states, u)",
            "zip(states, [u[0]] * len(states))",
            "Dot i has the number u[i]. Do all yours take the same?",
        ),
        "the most likely state": (
            "while total <= number:",
            "while y < kernel[state].argmax():",
            "Send 600 dots from one state: shall all go to the same place?",
        ),
        "one step too far": (
            "new.append(y)",
            "new.append(y + 1)",
            "States count from 0. Where does a dot with u = 0 go?",
        ),
    }
)


move.worked(
    why=r"""A uniform number falls into a piece of $[0, 1)$ with a chance that is the piece's length. So lay the chances of the
    row side by side and look into which piece $u_i$ falls: the first whose end lies beyond it. *Exceeds*, not *reaches*: else
    a state of chance 0 could be met."""
)


@move.right("by comparing with all sums at once")
def _(states, kernel, u):
    return (np.cumsum(kernel, 1)[states] <= u[:, None]).sum(1)


@move.right("by its search", library="numpy.searchsorted")
def _(states, kernel, u):
    sums = np.cumsum(kernel, axis=1)
    return np.array(
        [
            np.searchsorted(sums[s], v, side="right")
            for s, v in zip(states, u, strict=True)
        ]
    )


# ---------------------------------------------------------------------------------- grid_posterior

grid_posterior = Exercise(
    "grid_posterior",
    reference=reference.grid_posterior,
    compare=close(rtol=1e-8, atol=1e-14),
    hints=[
        "Of all pairs (x, y), only those with the y that you see matter. What is the density of such a pair, for each x?",
        "The joint density is p times the knock's density at y − x. Its area over x is p̃(y), and divided by this area it has area 1.",
        "knock = exp(−(y − x)²/2σ²) over the root of 2πσ²; joint = p * knock; noisy = joint.sum() * dx, dx being x[1] − x[0]. Return joint / "
        "noisy and noisy.",
    ],
)


@grid_posterior.cases
def _(rng):
    def case(x, y, sigma, *tops):
        p = sum(w * np.exp(-((x - m) ** 2) / (2 * s**2)) for w, m, s in tops)
        p = p / (p.sum() * (x[1] - x[0]))
        return dict(x=x, p=p, y=float(y), sigma=float(sigma))

    (y,), (s,) = near(rng, 0.8), near(rng, 0.5)
    hills = (1, -1.4, 0.4), (2, 1.1, 0.7)
    x = np.linspace(-3, 3, 25)
    yield "two hills", case(x, y, s, *hills)
    yield "two hills", case(x, -1.1 * y, s, *hills)
    yield (
        "a finer grid, another place",
        case(np.linspace(2, 6, 41), 4 + s, 0.6 * s, (1, 3.5, 0.5), (1, 4.7, 0.3)),
    )
    yield "a knock wider than the world", case(x, y, 10 * s, *hills)
    yield (
        "a knock that is small",
        case(np.linspace(-1, 1, 41), 0.4 * y, 0.12 * s, (1, 0, 0.5)),
    )
    p = np.repeat([0.0, 1.0, 3.0, 0.0], 4) * rng.uniform(0.9, 1.1)
    p = p / (p.sum() * 0.25)
    yield (
        "places where no dot was",
        dict(x=np.arange(16) * 0.25, p=p, y=float(2 * y), sigma=float(s)),
    )
    yield "seen outside the grid", case(np.linspace(0, 2, 9), 2.5 + y, s, (1, 0.5, 0.5))
    yield (
        "two places",
        dict(
            x=np.array([0.0, s]),
            p=near(rng, 1.2, 0.7),
            y=float(0.2 * y),
            sigma=float(s),
        ),
    )
    whole = np.arange(-2, 3)
    yield "places in whole numbers", case(whole, y, 2 * s, *hills)


grid_posterior.mistakes(
    {
        "sums for areas": (
            "joint.sum() * dx",
            "joint.sum()",
            "Take twice as many places: should p̃(y) double? What is an area on a grid?",
        ),
        "the knock forgets its 2": (
            "(2 * sigma**2)) /",
            "(sigma**2)) /",
            "What is the density of N(0, σ²)? Look at the exponent.",
        ),
        "the knock is not a density": (
            " / np.sqrt(2 * np.pi * sigma**2)",
            "",
            "r is right without it, as it cancels. p̃(y) is not: the knock's density has area 1.",
        ),
        "σ for σ²": (
            "(2 * sigma**2)) /",
            "(2 * sigma)) /",
            "σ is a standard deviation. What stands in the exponent?",
        ),
        "the crowd before is forgotten": (
            "joint = p * knock",
            "joint = knock",
            "Where nobody was, nobody comes from. Where is p in your r?",
        ),
        "r is not divided": (
            "return joint / noisy, noisy",
            "return joint, noisy",
            "The area of r(x | y) over x is 1. Is yours?",
        ),
        "shares, not a density": (
            "return joint / noisy",
            "return joint / noisy * dx",
            "The *sum times dx* of a density is 1. What is 1 in yours?",
        ),
        "a grid of its own": (
            "x[1] - x[0]",
            "12 / len(x)",
            "How far apart are the places that you are given?",
        ),
    }
)


grid_posterior.worked(
    why=r"""Fix $y$ and look at the joint density $p(x)\, q(y \mid x)$ as a function of $x$: it has the right shape, and its area is
    $\tilde p(y)$, the density of seeing $y$ at all. Divide by it. That is the column of the table of pairs, divided by its sum,
    once more: only the sum has become an area."""
)


@grid_posterior.right("by its normal distribution", library="scipy.stats.norm")
def _(x, p, y, sigma):
    from scipy.stats import norm

    joint = p * norm.pdf(y, loc=x, scale=sigma)
    area = joint.sum() * (x[-1] - x[0]) / (len(x) - 1)
    return joint / area, area


@grid_posterior.right("as shares of bins")
def _(x, p, y, sigma):
    bins = p * np.diff(x).mean()
    weights = bins * np.exp(-(((x - y) / sigma) ** 2) / 2)
    share = weights / weights.sum()
    return share / np.diff(x).mean(), weights.sum() / (sigma * np.sqrt(2 * np.pi))


# ------------------------------------------------------------------------------------- crowd_score

crowd_score = Exercise(
    "crowd_score",
    reference=reference.crowd_score,
    # far away all but the nearest weight are zero; there a gap is long and exact
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("y", "crowd"),
    hints=[
        "Take one place. How far, and where to, is each dot? And how much does each count?",
        "The gaps are crowd − place (m, d). The weights fall with the squared length of the gap; they sum to 1. Far away all exponentials are "
        "zero: what may you subtract from all exponents without changing the shares?",
        "fit = −(gaps²).sum(1) / 2h²; w = exp(fit − fit.max()); the score is w @ gaps / w.sum() / h². One row for each place.",
    ],
)


@crowd_score.cases
def _(rng):
    def signed(*shape):
        return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.5, shape)

    yield (
        "a place feels all dots",
        dict(y=signed(3, 2), crowd=signed(5, 2), h=float(near(rng, 1.3)[0])),
    )
    yield (
        "a place feels all dots",
        dict(y=signed(2, 3), crowd=signed(4, 3), h=float(near(rng, 0.7)[0])),
    )
    spot = signed(1, 2)
    corners = spot + 0.4 * np.array([[1.0, 0], [0, 1], [-2, 0], [0, -3]])
    yield (
        "near dots count more",
        dict(y=spot, crowd=corners, h=float(near(rng, 0.5)[0])),
    )
    yield (
        "wide bells",
        dict(y=signed(3, 2), crowd=signed(4, 2), h=float(near(rng, 20)[0])),
    )
    opposite = near(rng, [1, 1], [-1, -1])
    far = near(rng, [1e3, -2e3], [-1e4, 5])
    yield "far from all dots", dict(y=far, crowd=opposite, h=float(near(rng, 0.5)[0]))
    yield (
        "a crowd of one",
        dict(y=signed(3, 1), crowd=signed(1, 1), h=float(near(rng, 0.4)[0])),
    )
    yield (
        "on top of a single dot",
        dict(
            y=np.array([[2.0, -1.0]]),
            crowd=np.array([[2.0, -1.0]]),
            h=float(near(rng, 0.3)[0]),
        ),
    )
    twice = signed(2, 2)
    yield (
        "a dot that stands there twice",
        dict(y=signed(2, 2), crowd=twice[[0, 1, 1, 1]], h=float(near(rng, 0.9)[0])),
    )
    y, crowd = np.array([[1, 2], [3, 1]]), np.array([[-1, 0], [0, -2], [-3, 1]])
    yield "places in whole numbers", dict(y=y, crowd=crowd, h=float(near(rng, 2)[0]))


crowd_score.mistakes(
    {
        "downhill": (
            "crowd - place",
            "place - crowd",
            "The score points to where dots are denser. Put a place beside one dot: where does yours point?",
        ),
        "the mean gap, not the slope": (
            "w.sum() / h**2",
            "w.sum()",
            "This is how far the best guess is. What is it divided by?",
        ),
        "h for h²": (
            "w.sum() / h**2",
            "w.sum() / h",
            "The score of one bell is (c − y) / its variance.",
        ),
        "the exponent without its 2": (
            "(2 * h**2)",
            "h**2",
            "What is the exponent of a bell with the variance h²?",
        ),
        "lengths for squares": (
            "(gaps**2).sum(1)",
            "np.sqrt((gaps**2).sum(1))",
            "A bell falls with the squared distance. Which do you take?",
        ),
        "all dots count alike": (
            "np.exp(fit - fit.max())",
            "np.ones(len(fit))",
            "A dot far away hardly adds to the density here. Does it pull as much as a near one?",
        ),
        "weights that do not sum to 1": (
            "w @ gaps / w.sum()",
            "np.exp(fit) @ gaps",
            "This is the slope of the density. The score is the slope of its logarithm: divided by what?",
        ),
        "lost far away": (
            "fit - fit.max()",
            "fit",
            "A thousand away all exponentials are 0, and 0/0 is not a number. What can you subtract from all exponents?",
        ),
        "the nearest dot alone": (
            "np.exp(fit - fit.max())",
            "(fit == fit.max()) * 1.0",
            "Between two dots, both pull. Does yours hear only one?",
        ),
        "each coordinate weighs for itself": (
            "w @ gaps / w.sum()",
            "(np.exp(-(gaps**2 - (gaps**2).min(0)) / (2 * h**2)) * gaps).sum(0)"
            " / np.exp(-(gaps**2 - (gaps**2).min(0)) / (2 * h**2)).sum(0)",
            "A dot has one weight, by its distance. Do your coordinates share it?",
        ),
    }
)


crowd_score.worked(
    why=r"""The slope of a logarithm is slope over value. The slope of a bell is the bell times $(c_j - y)/h^2$, so the sum of slopes
    over the sum of values is a weighted mean of these pulls. A common factor of all weights cancels: dividing by the largest
    keeps them finite. For $h = \sigma$ and clean dots $h^2 s$ is the way from $y$ to the mean of all clean dots, each weighted by its
    chance to be where $y$ came from: Bayes' rule, again."""
)


@crowd_score.right("all places at once")
def _(y, crowd, h):
    gaps = crowd[None] - y[:, None]
    fit = -(gaps**2).sum(2) / (2 * h**2)
    w = np.exp(fit - fit.max(1, keepdims=True))
    w /= w.sum(1, keepdims=True)
    return np.einsum("nm,nmd->nd", w, gaps) / h**2


@crowd_score.right("by its softmax", library="scipy.special.softmax")
def _(y, crowd, h):
    from scipy.spatial.distance import cdist
    from scipy.special import softmax

    w = softmax(-cdist(y, crowd, "sqeuclidean") / (2 * h**2), axis=1)
    return (w @ crowd - y) / h**2


# -------------------------------------------------------------------------------- spread_and_error

spread_and_error = Exercise(
    "spread_and_error",
    reference=reference.spread_and_error,
    compare=close(rtol=1e-9, atol=1e-12),
    hints=[
        "Put the score into the step. What does the step do to y: does it shift it, or scale it?",
        "out = k y with k = 1 − λσ²/(v + σ²). The variance of k y follows from that of y. For the error, write out − x in x and e, which are "
        "independent.",
        "out − x = (k − 1) x + k e. So the variance is k² (v + σ²), the error (1 − k)² v + k² σ².",
    ],
)


@spread_and_error.cases
def _(rng):
    def case(lam, v, sigma2):
        lam, v, sigma2 = (float(near(rng, value)[0]) for value in (lam, v, sigma2))
        return dict(lam=lam, v=v, sigma2=sigma2)

    yield "a part of the way", case(0.3, 2.5, 0.8)
    yield "a part of the way", case(0.7, 0.4, 1.3)
    yield "the half step", case(1, 1.7, 0.6) | dict(lam=0.5)
    yield "the whole step", case(1, 1.7, 0.6) | dict(lam=1)
    yield "no step", case(1, 2.2, 0.6) | dict(lam=0)
    yield "beyond the best guess, and away from it", case(2.6, 0.5, 1.4)
    yield "beyond the best guess, and away from it", case(-0.8, 1.5, 1.1)
    yield "a knock far wider than the data", case(0.8, 0.01, 30)


spread_and_error.mistakes(
    {
        "the score before the knock": (
            "lam * sigma2 / seen",
            "lam * sigma2 / v",
            "Whose score is it: that of x, or that of y?",
        ),
        "the variance of x, not of y": (
            "kept**2 * seen",
            "kept**2 * v",
            "The step scales y. Which variance has y?",
        ),
        "a standard deviation": (
            "kept**2 * seen",
            "abs(kept) * seen",
            "Scale a number by k. By which factor does its variance change?",
        ),
        "the knock is forgotten in the error": (
            " + kept**2 * sigma2",
            "",
            "Even at λ = 0 there is an error. Which?",
        ),
        "the error in y": (
            "(1 - kept) ** 2 * v + kept**2 * sigma2",
            "(1 - kept) ** 2 * seen",
            "That is how far the dot has moved. Asked is how far from x it ends.",
        ),
        "the error does not cross": (
            "(1 - kept) ** 2 * v + kept**2 * sigma2",
            "kept**2 * v + (1 - kept) ** 2 * sigma2",
            "At λ = 0 nothing is mended, so that the error is the knock's. Is yours?",
        ),
        "away from the crowd": (
            "1 - lam",
            "1 + lam",
            "The score of a bell points to its middle. Does your step?",
        ),
        "only half of λ": (
            "1 - lam * sigma2",
            "1 - 0.5 * lam * sigma2",
            "λ = 1 is the whole step to the best guess.",
        ),
        "error and variance change places": (
            "return variance, error",
            "return error, variance",
            "Which of the two is asked for first?",
        ),
    }
)


spread_and_error.worked(
    why=r"""The score of a bell is a straight line, so the step is a scaling, $y \mapsto k y$. All that comes out is built from two
    independent parts: $k y = k x + k e$, and $k y - x = (k - 1)\, x + k e$. Their variances add. The error is a parabola in $\lambda$
    with its lowest point at 1, and the variance passes $v$ a little beyond $\frac12$."""
)


@spread_and_error.right("from the best guess")
def _(lam, v, sigma2):
    least = v * sigma2 / (v + sigma2)
    return (
        (v + (1 - lam) * sigma2) ** 2 / (v + sigma2),
        least + (1 - lam) ** 2 * sigma2**2 / (v + sigma2),
    )


@spread_and_error.right("with matrices")
def _(lam, v, sigma2):
    k = 1 - lam * sigma2 / (v + sigma2)
    rows = np.array([[k, k], [k - 1, k]])
    return np.diag(rows @ np.diag([v, sigma2]) @ rows.T)


# ---------------------------------------------------------------------------------- there_and_back

there_and_back = Exercise(
    "there_and_back",
    reference=reference.there_and_back,
    compare=close(rtol=1e-7, atol=1e-10),
    hints=[
        "What do you need to know of a round when it begins? Which places does the film get in it, and in which order?",
        "A round starts at the film's last places. Knock; append. Ask the score there, go the share of σ² times it, jump if there is something "
        "in down; append. Compare with the places at the start of the round.",
        "In the loop: start = film[-1]; y = start + sigma * up[r]; out = y + lam * sigma**2 * score(y); where down is not None, out = out + sigma * "
        "down[r]. The error is the mean over the rows of ((out − start)**2).sum(1).",
    ],
)


@there_and_back.probe
def _(answer, x, up, down, sigma, lam, W):
    asked = []

    def score(y):
        asked.append(len(y))
        return np.tanh(y @ W) - y

    if down is None:
        film, errors = answer(x, score, sigma, lam, up)
    else:
        film, errors = answer(x, score, sigma, lam, up, down)
    return dict(film=film, errors=errors, asked=len(asked))


@there_and_back.cases
def _(rng):
    def case(n=3, d=2, rounds=3, down=True, **changes):
        def signed(*shape):
            return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.5, shape)

        given = dict(
            x=2 * signed(n, d),
            up=signed(rounds, n, d),
            down=signed(rounds, n, d) if down else None,
        )
        given |= dict(
            sigma=float(near(rng, 0.7)[0]), lam=float(near(rng, 0.8)[0]), W=signed(d, d)
        )
        return given | changes

    yield "three rounds, without chance on the way back", case(down=False)
    yield (
        "three rounds, without chance on the way back",
        case(4, 3, 2, down=False, lam=0.5),
    )
    yield "three rounds, with a new jump on the way back", case()
    yield (
        "three rounds, with a new jump on the way back",
        case(2, 3, lam=1.0, sigma=1.6),
    )
    yield "a crowd that is only knocked", case(down=False, lam=0.0)
    yield "one round", case(rounds=1, down=False)
    yield "no round at all", case(rounds=0, down=False)
    yield "a single dot, on a line", case(n=1, d=1)
    yield "places in whole numbers", case(down=False, x=rng.integers(2, 6, (3, 2)))


there_and_back.mistakes(
    {
        "every round starts from x": (
            "start = film[-1]",
            "start = film[0]",
            "Where does the second round begin?",
        ),
        "the score before the knock": (
            "score(y)",
            "score(start)",
            "At the mending, nobody knows where the dots were. Where do you ask for the score?",
        ),
        "the knock is a variance": (
            "sigma * up[r]",
            "sigma**2 * up[r]",
            "σ is the standard deviation of a knock, and up[r] has standard deviation 1.",
        ),
        "the step has σ for σ²": (
            "lam * sigma**2 * score",
            "lam * sigma * score",
            "Tweedie's formula: what stands before the score?",
        ),
        "away from the crowd": (
            "out = y + lam",
            "out = y - lam",
            "The score points to where dots are denser. Do yours go there?",
        ),
        "always the whole step": (
            "lam * sigma**2",
            "sigma**2",
            "lam = 0 means: only knocked. What does your crowd do then?",
        ),
        "the same jump back": (
            "sigma * down[r]",
            "sigma * up[r]",
            "A new jump has new numbers. Which array holds them?",
        ),
        "the jump is taken back": (
            "out + sigma * down[r]",
            "out - sigma * down[r]",
            "In distribution it is the same. But the text says: it jumps by σ · down[r].",
        ),
        "the first numbers in every round": (
            "y = start + sigma * up[r]",
            "y = start + sigma * up[0]",
            "up[r] belongs to round r. Which does the second round use?",
        ),
        "the knocks are not in the film": (
            "film.append(y)",
            "pass",
            "R rounds make 2R + 1 entries: which are missing?",
        ),
        "the error from the first start": (
            "out - start",
            "out - film[0]",
            "An error is of one round: between before its knock and after its mending.",
        ),
        "the error from the knocked places": (
            "out - start",
            "out - y",
            "This is how far the dots go home. How far are they from home at the end?",
        ),
        "distances for squares": (
            "((out - start) ** 2).sum(1).mean()",
            "np.sqrt(((out - start) ** 2).sum(1)).mean()",
            "It is the mean of the *squared* distances.",
        ),
        "a mean over coordinates": (
            "sum(1).mean()",
            "mean()",
            "A squared distance is a sum over coordinates. Over what is the mean?",
        ),
        "the film is changed in place": (
            "y = start + sigma * up[r]",
            "y = start; y += sigma * up[r]",
            "start is an array that stands in the film already. Do you change it?",
        ),
    }
)


there_and_back.worked(
    why=r"""Each round needs the places at its start, for the error, and the places after its knock, where the score is asked: whoever
    mends sees nothing else. Both are new arrays, so that what is in the film stays as it was. The step $\lambda\sigma^2 s$ and the jump
    are the two repairs of the first screen in one line each: $\lambda = \frac12$ without `down`, or $\lambda = 1$ with it."""
)


@there_and_back.right("into one array")
def _(x, score, sigma, lam, up, down=None):
    film = np.empty((2 * len(up) + 1, *x.shape))
    film[0] = x
    for r, knock in enumerate(up):
        film[2 * r + 1] = film[2 * r] + sigma * knock
        film[2 * r + 2] = film[2 * r + 1] + lam * sigma**2 * np.asarray(
            score(film[2 * r + 1].copy())
        )
        if down is not None:
            film[2 * r + 2] += sigma * down[r]
    return film, ((film[2::2] - film[:-1:2]) ** 2).sum(2).mean(1)


@there_and_back.right("as a generator")
def _(x, score, sigma, lam, up, down=None):
    fresh = np.zeros_like(up) if down is None else down

    def rounds(now):
        for knock, jump in zip(up, fresh, strict=True):
            y = now + sigma * knock
            before, now = now, y + lam * sigma**2 * score(y) + sigma * jump
            yield y, now, np.mean(np.sum(np.square(now - before), axis=1))

    told = list(rounds(x))
    return [x] + [state for y, now, _ in told for state in (y, now)], [
        error for *_, error in told
    ]


# ---------------------------------------------------------------------------------- density_change

density_change = Exercise(
    "density_change",
    reference=reference.density_change,
    compare=close(rtol=1e-8, atol=1e-12),
    batched=("p",),
    hints=[
        "There are m − 1 borders between m cells. How much hops over one of them, to the right and to the left?",
        "Over the border between cells i and i + 1 goes a net chance · (p[i] − p[i + 1]) to the right. One cell loses it, the other gains it.",
        "chance = sigma2 / (2 dx²); flow = chance * (p[:-1] − p[1:]). Start with zeros (m,); change[:-1] −= flow; change[1:] += flow.",
    ],
)


@density_change.cases
def _(rng):
    def case(p, dx, sigma2):
        return dict(p=p, dx=float(near(rng, dx)[0]), sigma2=float(near(rng, sigma2)[0]))

    yield (
        "a top wears off, a valley fills",
        case(near(rng, 1, 3, 9, 2, 1, 5, 4), 0.5, 0.02),
    )
    yield "a top wears off, a valley fills", case(near(rng, 8, 2, 1, 4, 9, 3), 2, 0.3)
    yield (
        "a slope is steady, but at its walls",
        case(np.arange(1.0, 7.0) * near(rng, 2)[0], 0.4, 0.05),
    )
    yield "all cells alike", case(np.full(5, near(rng, 2)[0]), 0.3, 0.05)
    yield "two cells", case(near(rng, 1, 4), 0.6, 0.1)
    yield "a single cell", case(near(rng, 3), 0.6, 0.1)
    yield "no knock", case(near(rng, 1, 3, 2, 5), 0.5, 0)
    yield (
        "counts of dots",
        case(rng.integers([2, 20, 7, 30], [6, 28, 12, 40]), 1.5, 0.8),
    )


density_change.mistakes(
    {
        "the signs are turned": (
            "change[:-1] -= flow\n    change[1:] += flow",
            "change[:-1] += flow\n    change[1:] -= flow",
            "A top in the middle: does it grow after a knock?",
        ),
        "the walls leak": (
            "change[:-1] -= flow",
            "change[:-1] -= flow; change[0] -= chance * p[0]; change[-1] -= chance * p[-1]",
            "Sum your changes: are there dots that have left the world?",
        ),
        "walls stand still": (
            "return change",
            "change[[0, -1]] = 0; return change",
            "Over a wall nothing flows, but a cell at a wall has one neighbour.",
        ),
        "σ² without its half": (
            "sigma2 / (2 * dx**2)",
            "sigma2 / dx**2",
            "With this chance to each side the variance of a hop is twice σ².",
        ),
        "Δx for Δx²": (
            "2 * dx**2",
            "2 * dx",
            "A hop goes Δx far. Which chance gives it the variance σ²?",
        ),
        "only one side": (
            "change[1:] += flow",
            "pass",
            "What flows out of one cell flows into the next.",
        ),
        "the flow, not the change": (
            "return change",
            "return np.concatenate([flow, np.zeros(1)])",
            "The flow tells what crosses a border. A cell has two.",
        ),
    }
)


density_change.worked(
    why=r"""Count at the borders, not in the cells: what leaves one cell enters the next, so nothing can get lost, and the walls need no
    case of their own. The change of a cell in the middle is $\frac{\sigma^2}{2} \cdot \frac{p_{i+1} - 2 p_i + p_{i-1}}{\Delta x^2}$, and that is
    $\frac{\sigma^2}{2} p''$: the heat equation."""
)


@density_change.right("cell by cell")
def _(p, dx, sigma2):
    change = []
    for i in range(len(p)):
        beside = [p[j] for j in (i - 1, i + 1) if 0 <= j < len(p)]
        change.append(sigma2 / (2 * dx**2) * sum(q - p[i] for q in beside))
    return change


@density_change.right("by its filter", library="scipy.ndimage.convolve1d")
def _(p, dx, sigma2):
    from scipy.ndimage import convolve1d

    p = np.asarray(p, float)
    return sigma2 / (2 * dx**2) * convolve1d(p, [1.0, -2.0, 1.0], mode="nearest")

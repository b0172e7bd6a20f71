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
    def case(name, p, *rows):
        return name, dict(p=p, q=kernel(rng, *rows))

    share = near(rng, 5, 2, 3)
    share /= share.sum()
    yield case("three states, as shares", share, [6, 3, 1], [2, 5, 3], [1, 2, 7])
    counts = rng.integers([4, 30, 11], [9, 40, 20])
    yield case("counts, in whole numbers", counts, [5, 2, 3], [1, 7, 2], [2, 3, 4])
    wide = "from two states to four"
    yield case(wide, near(rng, 3, 7), [1, 2, 3, 4], [5, 1, 2, 2])
    yield case(wide, near(rng, 8, 1, 2, 5), [3, 1], [1, 2], [2, 5], [4, 3])
    yield case("a state where nobody arrives", near(rng, 2, 1), [1, 0, 2], [3, 0, 1])
    start = near(rng, 0, 2, 1)
    yield case("a state where nobody starts", start, [1, 2, 0], [3, 1, 0], [2, 1, 0])
    few = 1e-12 * near(rng, 2, 3)
    yield case("few dots are counted like many", few, [1, 3], [2, 1])


backward_kernel.mistakes(
    {
        "the forward shares again": (
            "joint[:, y] / arrivals[y]",
            "q[:, y]",
            "A state with few dots sends few. Does your row y know how many started where?",
        ),
        "the sum runs over where they go": (
            "joint.sum(0)",
            "joint.sum(1)",
            "Sum over y, and you know who left. Which sum tells who arrived?",
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
        "np.cumsum(kernel, axis=1) holds the running sums of all rows. As long as one does not exceed the dot's number, go on to the "
        "next state.",
        "ends = np.cumsum(kernel, axis=1). For each pair of state and number: y = 0; while ends[state, y] <= number: y += 1. Append y.",
    ],
)


@move.cases
def _(rng):
    def case(name, K, states, u):
        return name, dict(states=np.array(states), kernel=K, u=u)

    K = kernel(rng, [1, 3, 6], [5, 4, 1], [2, 2, 6])
    u = near(rng, 0.75, 0.1, 0.3, 0.88, 0.3, 0.6)
    yield case("each dot reads its own row", K, [0, 1, 2, 2, 1, 0], u)
    states = rng.permutation(np.repeat([0, 1, 2], 8))
    yield case("a crowd", K, states, rng.random(24))
    order = rng.permutation(5)
    quarters = np.array([[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]])
    states, u = np.array([0, 0, 1, 1, 0]), np.array([0.25, 0.75, 0.5, 0.75, 0])
    yield case("the running sum has to exceed u", quarters, states[order], u[order])
    sparse = np.array([[0, 0, 1, 0], [0, 0.5, 0, 0.5], [0, 0, 0, 1.0]])
    states, u = np.array([0, 1, 1, 2, 0]), np.array([0, 0, 0.5, 0.999, 0.4])
    yield case("nobody goes where the chance is 0", sparse, states[order], u[order])
    few = kernel(rng, [1, 1, 8], [2, 1, 9])
    yield case("a single dot", few, rng.integers(0, 2, 1), near(rng, 0.6))
    many = kernel(rng, [1, 1, 1, 1, 1, 8], [8, 1, 1, 1, 1, 1])
    yield case("more states than dots", many, [1, 0], near(rng, 0.8, 0.6))


move.mistakes(
    {
        "reached is taken for exceeded": (
            "<= number",
            "< number",
            "u = 0.25, and the running sum is 0.25: does it exceed u?",
        ),
        "the column for the row": (
            "np.cumsum(kernel, axis=1)",
            "np.cumsum(kernel.T, axis=1)",
            "kernel[s, y] is the chance to go from s to y. Which index is where the dot is now?",
        ),
        "single chances, no running sum": (
            "np.cumsum(kernel, axis=1)",
            "np.hstack([kernel[:, :-1], np.ones((len(kernel), 1))])",
            "On the ruler the states lie one after the other. Where does the second one end?",
        ),
        "everybody reads the first row": (
            "ends[state, y]",
            "ends[0, y]",
            "Each dot is in a state of its own. Whose row does it read?",
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


@move.right("dot by dot, with a running sum")
def _(states, kernel, u):
    new = []
    for state, number in zip(states, u, strict=True):
        y, total = 0, kernel[state, 0]
        while total <= number:
            y += 1
            total += kernel[state, y]
        new.append(y)
    return new


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
    def case(name, x, y, sigma, *tops):
        p = sum(w * np.exp(-((x - m) ** 2) / (2 * s**2)) for w, m, s in tops)
        p = p / (p.sum() * (x[1] - x[0]))
        return name, dict(x=x, p=p, y=float(y), sigma=float(sigma))

    y, s = near(rng, 0.8, 0.5)
    x, hills = np.linspace(-3, 3, 25), [(1, -1.4, 0.4), (2, 1.1, 0.7)]
    yield case("two hills", x, y, s, *hills)
    yield case("two hills", x, -1.1 * y, s, *hills)
    fine, hill = np.linspace(2, 6, 41), [(1, 3.5, 0.5), (1, 4.7, 0.3)]
    yield case("a finer grid, another place", fine, 4 + s, 0.6 * s, *hill)
    yield case("a knock wider than the world", x, y, 10 * s, *hills)
    yield case("a small knock", np.linspace(-1, 1, 41), 0.4 * y, 0.12 * s, (1, 0, 0.5))
    x = np.linspace(0, 2, 9)
    yield case("seen outside the grid", x, 2.5 + y, s, (1, 0.5, 0.5))
    name, given = case("places where no dot was", x, y, s, (1, 0.5, 0.5))
    yield name, given | dict(p=given["p"] * (abs(x - 1) < 0.6) * near(rng, 2))
    yield case("two places", np.array([0.0, s]), 0.2 * y, s, (1, 0.3, 0.4))
    yield case("places in whole numbers", np.arange(-2, 3), y, 2 * s, *hills)


grid_posterior.mistakes(
    {
        "sums for areas": (
            "joint.sum() * dx",
            "joint.sum()",
            "Take twice as many places: should p̃(y) double? What is an area on a grid?",
        ),
        "the knock is not a density": (
            " / np.sqrt(2 * np.pi * sigma**2)",
            "",
            "r is right without it, as it cancels. p̃(y) is not: the knock's density has area 1.",
        ),
        "the exponent without its 2": (
            "/ (2 * sigma**2))",
            "/ sigma**2)",
            "Your bell is narrower than the knock. What is the exponent of a normal density with the variance σ²?",
        ),
        "the two ends count half": (
            "joint.sum() * dx",
            "np.trapezoid(joint, x)",
            "A fine rule for areas, but the text has another: all values alike, times the spacing.",
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
    def case(name, y, crowd, h):
        return name, dict(y=y, crowd=crowd, h=float(near(rng, h)[0]))

    def signed(*shape):
        return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 1.5, shape)

    yield case("a place feels all dots", signed(3, 2), signed(5, 2), 1.3)
    yield case("a place feels all dots", signed(2, 3), signed(4, 3), 0.7)
    spot = signed(1, 2)
    around = 0.4 * np.array([[1.0, 0], [0, 1], [-2, 0], [0, -3]])
    yield case("near dots count more", spot, spot + around, 0.5)
    yield case("wide bells", signed(3, 2), signed(4, 2), 20)
    opposite, far = near(rng, [1, 1], [-1, -1]), near(rng, [1e3, -2e3], [-1e4, 5])
    yield case("far from all dots", far, opposite, 0.5)
    yield case("a crowd of one", signed(3, 1), signed(1, 1), 0.4)
    yield case("on top of a single dot", spot, spot, 0.3)
    yield case(
        "a dot stands there twice", signed(2, 2), signed(2, 2)[[0, 1, 1, 1]], 0.9
    )
    y, crowd = np.array([[1, 2], [3, 1]]), np.array([[-1, 0], [0, -2], [-3, 1]])
    yield case("places in whole numbers", y, crowd, 2)


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
    }
)


crowd_score.equivalent(
    {
        "w = np.exp(fit - fit.max()) → w = -np.exp(fit - fit.max())": "A factor that all weights share cancels."
    }
)


crowd_score.worked(
    why=r"""The slope of a logarithm is slope over value. The slope of a bell is the bell times $(c_j - y)/h^2$, so the sum of slopes
    over the sum of values is a weighted mean of these pulls. A common factor of all weights cancels: dividing by the largest
    keeps them finite. For $h = \sigma$ and clean dots $h^2 s$ is the way from $y$ to the mean of all clean dots, each weighted by its
    chance to be where $y$ came from: Bayes' rule, again."""
)


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
        "away from the crowd": (
            "1 - lam",
            "1 + lam",
            "The score of a bell points to its middle. Does your step?",
        ),
    }
)


spread_and_error.worked(
    why=r"""The score of a bell is a straight line, so the step is a scaling, $y \mapsto k y$. All that comes out is built from two
    independent parts: $k y = k x + k e$, and $k y - x = (k - 1)\, x + k e$. Their variances add. The error is a parabola in $\lambda$
    with its lowest point at 1, and the variance passes $v$ beyond $\frac12$: just beyond it, if the knock is small."""
)


@spread_and_error.right("from the best guess")
def _(lam, v, sigma2):
    least = v * sigma2 / (v + sigma2)
    return (
        (v + (1 - lam) * sigma2) ** 2 / (v + sigma2),
        least + (1 - lam) ** 2 * sigma2**2 / (v + sigma2),
    )


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
        "the mean runs over coordinates, too": (
            ".sum(1).mean()",
            ".mean()",
            "A squared distance is the sum over coordinates. Of how many numbers is yours the mean?",
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

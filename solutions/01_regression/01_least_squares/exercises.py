"""Exercises of 01_regression/01_least_squares."""

import math

import numpy as np
from scipy import stats

from descent.compare import close
from solutions.spec import Exercise

from . import reference


def pairs(rng, n):
    """Rows near a rising line that misses the origin, in no order and at unequal distances."""
    x = rng.permutation(np.arange(n) + rng.uniform(-0.3, 0.3, n)) - 1.7
    return dict(x=x, y=3.0 + 2.0 * x + rng.uniform(-1, 1, n))


# ------------------------------------------------------------------------------------------ descend

descend = Exercise(
    "descend",
    reference=reference.descent,
    compare=close(rtol=1e-6, atol=1e-8),  # the reference takes powers, the loop steps
    data_dependent="the path ends where the derivative is small",
    hints=[
        "Two lists grow together, one of slopes and one of losses. What has to be computed from the newest slope, in which order?",
        "In each round: the errors of this slope, the derivative, then note slope and loss. Only then ask whether to leave; "
        "else step against the derivative. How many rounds are there, if max_steps steps make max_steps + 1 entries?",
        "e is y minus x times beta, the derivative minus the inner product of x and e, the loss half the inner product of e with "
        "itself. Leave the loop where the size of the derivative is at most tol. Return both lists as arrays.",
    ],
)


@descend.cases
def _(rng):
    def walk(scaled, max_steps, tol=0.0, n=5, away=6.0):
        """eta is `scaled` over Σx²: a step multiplies the distance by 1 - scaled."""
        rows = pairs(rng, n)
        xx = rows["x"] @ rows["x"]
        best = rows["x"] @ rows["y"] / xx
        beta = float(best + away * rng.uniform(0.8, 1.2))
        steps = dict(eta=float(scaled / xx), tol=tol, max_steps=max_steps)
        return rows | dict(beta=beta) | steps

    yield "short steps", walk(0.3, 5)
    yield "short steps", walk(0.2, 4, away=-7.0)
    yield "short steps", walk(0.3, 5, away=1e-3)  # no reason to stop
    yield "steps that jump across", walk(1.6, 5)
    for away in (6.0, -6.0):
        yield "steps that are too long run away", walk(2.4, 4, away=away)
    straight = walk(0.5, 60, tol=0.05)
    straight["y"] = 3.0 * straight["x"]  # the loss is as small as the derivative
    yield "stops where the derivative is small", straight
    yield "stops where the derivative is small", walk(1.4, 60, tol=0.2, away=-9.0)
    # derivatives ±4, ±2, ±1, exactly
    for sign in (1, -1):
        one = dict(x=np.array([1.0]), y=np.array([4.0 * sign]), beta=0.0, eta=0.5)
        yield "a derivative of exactly tol stops", one | dict(tol=2.0, max_steps=9)
        yield "one row", one | dict(tol=1.5, max_steps=2)
    yield "no step at all", walk(0.3, 0)
    yield "no step at all", walk(0.3, 7, tol=1e6)
    whole = dict(x=np.array([1, -2, 3]), y=np.array([2, 5, 4]), beta=1, eta=0.05)
    yield "whole numbers", whole | dict(tol=0.0, max_steps=int(rng.integers(2, 5)))
    nothing = dict(x=np.zeros(4), y=rng.normal(size=4), beta=1.5, eta=0.1)
    yield "all inputs 0: the loss is flat", nothing | dict(tol=0.0, max_steps=3)


descend.mistakes(
    {
        "uphill": (
            "beta - eta",
            "beta + eta",
            "Is the loss larger or smaller after your first step?",
        ),
        "the half is forgotten in the loss": (
            "e @ e / 2",
            "e @ e",
            "L has a factor in front of the sum. Compare your first loss with the example's.",
        ),
        "a derivative without the half": (
            "-(x @ e)",
            "-2 * (x @ e)",
            "A 2 comes down from the square. What does the ½ of L do to it?",
        ),
        "the mean in place of the sum": (
            "-(x @ e)",
            "-np.mean(x * e)",
            "The loss of this section is a sum over rows. Do you divide its derivative by n?",
        ),
        "the inner derivative is missing": (
            "-(x @ e)",
            "-np.sum(e)",
            "The score is x·beta: how far does it move when beta moves by one?",
        ),
        "one step too few": (
            "max_steps + 1",
            "max_steps",
            "max_steps steps make max_steps + 1 entries: the start is one of them.",
        ),
        "tol is never looked at": (
            "abs(derivative) <= tol",
            "False",
            "The path may end early. Where is tol in your loop?",
        ),
        "exactly tol goes on": (
            "<= tol",
            "< tol",
            "At most tol, or less than tol? A flat loss has the derivative 0, and tol may be 0.",
        ),
        "every negative derivative counts as small": (
            "abs(derivative) <= tol",
            "derivative <= tol",
            "A derivative of −1000 is not small. What of it is compared with tol?",
        ),
        "the step is compared with tol": (
            "abs(derivative) <= tol",
            "abs(eta * derivative) <= tol",
            "Small is asked of the derivative: eta plays no part in the test.",
        ),
        "it leaves before it notes the point": (
            "slopes.append(beta)",
            "if abs(derivative) <= tol and slopes:\n            break\n        slopes.append(beta)",
            "The point with the small derivative belongs to the path: k steps make k + 1 entries.",
        ),
    }
)


@descend.wrong(
    "a step after the derivative is small",
    advice="First test, then step: where the derivative is small already, no step follows.",
)
def _(x, y, beta, eta, tol, max_steps):
    slopes, derivative = [beta], math.inf
    while len(slopes) <= max_steps and abs(derivative) > tol:
        derivative = -np.sum(x * (y - x * slopes[-1]))
        slopes.append(slopes[-1] - eta * derivative)
    return slopes, [np.sum((y - x * b) ** 2) / 2 for b in slopes]


@descend.wrong(
    "the derivative is never taken anew",
    advice="After a step the errors have changed. At which slope is the next derivative taken?",
)
def _(x, y, beta, eta, tol, max_steps):
    derivative = -(x @ (y - x * beta))
    slopes = beta - eta * derivative * np.arange(max_steps + 1)
    return slopes, [np.sum((y - x * b) ** 2) / 2 for b in slopes]


descend.worked(
    why=r"""Everything hangs on the errors of the newest slope: their product with the inputs is the derivative, their own squares are the
    loss. Note first, test second, step last: then the point at which the path ends is on it, and a start that is good enough gives one
    entry. Error times input, summed: this product comes back in every model of the course, up to the largest network."""
)


@descend.right("by the factor 1 − η Σx²")
def _(x, y, beta, eta, tol, max_steps):
    xx, xy, slopes = np.sum(x * x), np.sum(x * y), [float(beta)]
    while len(slopes) <= max_steps and abs(xx * slopes[-1] - xy) > tol:
        slopes.append((1 - eta * xx) * slopes[-1] + eta * xy)
    return slopes, [sum((b - a * s) ** 2 for a, b in zip(x, y)) / 2 for s in slopes]


@descend.right("with torch's derivative", library="torch.autograd.grad")
def _(x, y, beta, eta, tol, max_steps):
    import torch

    x, y = torch.tensor(x, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
    beta, slopes, losses = torch.tensor(float(beta), dtype=torch.float64), [], []
    while True:
        beta.requires_grad_()
        loss = (y - x * beta).square().sum() / 2
        (slope,) = torch.autograd.grad(loss, beta)
        slopes.append(beta.item())
        losses.append(loss.item())
        if abs(slope) <= tol or len(slopes) > max_steps:
            return slopes, losses
        beta = (beta - eta * slope).detach()


# --------------------------------------------------------------------------------------------- Line

Line = Exercise(
    "Line",
    reference=reference.lines,
    compare=close(rtol=1e-6, atol=1e-11),  # small inputs cross at 1e-9
    hints=[
        "You can fit a line through the origin. From which point do the rows look as if it were one?",
        "__init__: the slope from inputs minus their mean (0 where all inputs are equal), the intercept from the point of means, then rss from "
        "the errors of predict. reaches and meets: solve height = a + b x, and a + b x = c + d x, for x.",
        "Compare x.max() with x.min() to see whether all are equal. self.intercept is the mean of y less the slope times the mean of x. In meets: "
        "other.intercept less self.intercept, over self.slope less other.slope. In both quotients: math.nan where the divisor is 0.",
    ],
)


@Line.probe
def _(answer, x, y, new_x, height, other_x, other_y):
    line, other = answer(x, y), answer(other_x, other_y)
    return (
        [line.slope, line.intercept, line.rss],
        line.predict(new_x),
        line.reaches(height),
        line.meets(other),
    )


@Line.cases
def _(rng):
    def falling(n):
        return {k: s * v for (k, v), s in zip(pairs(rng, n).items(), (1, -1))}

    def rows(one, other=None, new_x=None):
        """One line and another, of more rows, steeper and lower."""
        other = other or {k: s * v for (k, v), s in zip(pairs(rng, 6).items(), (1, 4))}
        new_x = rng.uniform(-9, 9, 3) if new_x is None else new_x
        more = dict(new_x=new_x, height=float(rng.uniform(6, 9)))
        return one | more | dict(other_x=other["x"], other_y=other["y"])

    yield "a rising line", rows(pairs(rng, 7))
    yield "a falling line", rows(falling(6))
    yield "a falling line", rows(falling(5), falling(8), np.array([40.0]))
    years = 1900.0 + 4 * rng.permutation(8)
    times = dict(x=years, y=11 - 0.01 * (years - 1900) + rng.uniform(-0.2, 0.2, 8))
    slower = dict(x=years, y=13 - 0.02 * (years - 1900) + rng.uniform(-0.2, 0.2, 8))
    yield "inputs far from zero", rows(times, slower, np.array([2156.0, 1896.0]))
    yield "two rows leave no error", rows(pairs(rng, 2))
    yield "one row", rows(dict(x=rng.uniform(1, 4, 1), y=rng.uniform(2, 6, 1)))
    for value in (2.0, 0.1):
        equal = dict(x=np.full(3, value), y=rng.uniform(2, 6, 3))
        yield "all inputs are equal", rows(equal)
        yield "all inputs are equal", rows(pairs(rng, 4), equal)
        # in exact arithmetic other lines are flat or parallel, too: these are so in any
        yield "parallel lines never meet", rows(equal, equal | dict(y=equal["y"] + 3))
    small = pairs(rng, 5)
    yield "small inputs are not equal ones", rows(small | dict(x=1e-9 * small["x"]))
    low, high = (row | dict(x=1e9 * row["x"]) for row in (pairs(rng, 5), falling(4)))
    yield "small slopes are not equal ones", rows(low, high)
    same = pairs(rng, 5)
    yield "parallel lines never meet", rows(same, same)
    turned = dict(x=-same["x"], y=-same["y"])  # the same slope, to the last digit
    yield "parallel lines never meet", rows(same, turned)
    whole = dict(x=np.array([0, 4, 2]), y=rng.permutation([1, 7, 2]))
    other = dict(x=np.array([1, 2, 5]), y=np.array([8, 1, 0]))
    yield "whole numbers", rows(whole, other, np.array([3, -1]))


Line.mistakes(
    {
        "through the origin": (
            "centre = x.mean()",
            "centre = 0.0",
            "Add 10 to all inputs: the slope should not change. Does it?",
        ),
        "the outputs' mean is the intercept": (
            "y.mean() - self.slope * centre",
            "y.mean()",
            "ȳ is the height of the line at x̄. How high is it at x = 0?",
        ),
        "nearly equal is equal": (
            "x.max() == x.min()",
            "np.allclose(x, x[0])",
            "Inputs of a billionth may differ, too: in another unit they are ordinary numbers.",
        ),
        "equal inputs are told by a sum of squares": (
            "x.max() == x.min()",
            "xc @ xc == 0",
            "Is the sum of squares exactly 0 where all three inputs are 0.1?",
        ),
        "divides by zero": (
            "0.0 if flat else xc @ y / (xc @ xc)",
            "np.divide(xc @ y, np.float64(xc @ xc))",
            "What does the text ask for where all inputs are equal? Try x = [2, 2, 2].",
        ),
        "np.cov over np.var": (
            "xc @ y / (xc @ xc)",
            "xc @ y / (len(x) - 1) / x.var()",
            "np.cov divides by n − 1, np.var by n. Do both sums of your slope have one divisor?",
        ),
        "the mean squared error for the sum": (
            "self.rss = residuals @ residuals",
            "self.rss = residuals @ residuals / len(x)",
            "rss is a sum. Do you divide?",
        ),
        "only flat lines are parallel": (
            "if steeper == 0",
            "if self.slope == 0 and other.slope == 0",
            "Two lines may climb alike, one above the other. Where does yours let them meet?",
        ),
        "nearly parallel is parallel": (
            "if steeper == 0",
            "if abs(steeper) < 1e-8",
            "In another unit all slopes are tiny, and the lines cross as before.",
        ),
        "nearly flat is flat": (
            "if self.slope == 0",
            "if abs(self.slope) < 1e-8",
            "In another unit every slope is tiny, and the line reaches its heights as before.",
        ),
        "parallel lines meet at infinity": (
            "if steeper == 0:\n            return math.nan",
            "if steeper == 0:\n            return math.inf",
            "Which value is asked for where the slopes are equal?",
        ),
        "a flat line reaches every height": (
            "if self.slope == 0:\n            return math.nan",
            "if self.slope == 0:\n            return 0.0",
            "Where does a flat line reach a height that is not its own? Which value does the text give?",
        ),
        "what it says at that x": (
            "(height - self.intercept) / self.slope",
            "self.intercept + self.slope * height",
            "A height comes in, an x goes out. Solve height = a + b x for x.",
        ),
        "the crossing has the wrong sign": (
            "(other.intercept - self.intercept)",
            "(self.intercept - other.intercept)",
            "Put the x that you found into both lines: are they equally high?",
        ),
        "the slopes are added": (
            "self.slope - other.slope",
            "self.slope + other.slope",
            "Solve a + b x = c + d x for x, on paper.",
        ),
    }
)


Line.equivalent(
    {
        "return math.nan → return -math.nan": "math.nan where it is flat",
        "return math.nan [2] → return -math.nan": "nan for equal slopes",
    }
)


Line.worked(
    why=r"""Centring turns the problem with two unknowns into the one with one that you have solved. Only the inputs have to be centred:
    $\sum (x_i - \bar x)\,\bar y = 0$. The residuals come from `predict`, so that there is one place that knows what the line says. Two lines
    meet where $a + bx = c + dx$; equal slopes leave nothing to divide by, and nor does a flat line. Whether all inputs are equal is asked of the inputs
    themselves: a mean is rounded, a largest and a smallest value are not."""
)


@Line.right("by SciPy", library="scipy.stats.linregress")
def _(x, y):
    from scipy.stats import linregress

    class Regressed:
        def __init__(self):
            if np.ptp(x) == 0:
                self.slope, self.intercept = 0.0, np.mean(y)
            else:
                fit = linregress(x, y)
                self.slope, self.intercept = fit.slope, fit.intercept
            self.rss = np.sum((y - self.intercept - self.slope * x) ** 2)

        def predict(self, new_x):
            return [self.intercept + self.slope * v for v in new_x]

        def reaches(self, height):
            return (height - self.intercept) / self.slope if self.slope else math.nan

        def meets(self, other):
            heights = other.intercept - self.intercept, self.slope - other.slope
            return heights[0] / heights[1] if heights[1] else math.nan

    return Regressed()


# ----------------------------------------------------------------------------------------------- r2

r2 = Exercise(
    "r2",
    reference=reference.r_squared,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("f", "y"),
    hints=[
        "All three share a denominator, or a part of it: the sum of squares of y around its own mean.",
        "The explained share takes the mean of y from f; the correlation takes the mean of f from f. Where all f are equal, that "
        "leaves nothing: ask f.max() and f.min().",
        "With yc and fc, both centred by their own means, the third is the square of their inner product over the product of their sums of "
        "squares. The second is 1 minus the sum of squares of y − f over that of yc.",
    ],
)


@r2.cases
def _(rng):
    def predicted(scale, shift):
        y = np.array([4.0, 1.0, 7.0, 11.0, 2.0, 5.0]) + rng.uniform(-0.4, 0.4, 6)
        return dict(y=y, f=shift + scale * y + rng.uniform(-1, 1, 6))

    yield "predictions that are a bit off", predicted(0.9, 2.0)
    yield "predictions on a wrong scale", predicted(2.0, 1.0)
    yield "predictions on a wrong scale", predicted(0.1, -30.0)
    yield "worse than the mean", predicted(-1.0, 0.5)
    x, y = np.arange(6.0), np.arange(6.0) + rng.uniform(-2, 2, 6)
    slope, intercept = np.polyfit(x, y, 1)
    yield "a least-squares line on its own rows", dict(y=y, f=intercept + slope * x)
    y = rng.uniform(1, 5, 5)
    yield "perfect predictions", dict(y=y, f=y.copy())
    for value in (4.0, 0.1):
        one = dict(y=rng.uniform(1, 5, 3), f=np.full(3, value))
        yield "one prediction for all", one
    two = dict(y=rng.uniform(1, 2, 2) + [0, 1], f=rng.uniform(3, 4, 2) + [1, 0])
    yield "two rows", two
    y = rng.uniform(1, 5, 5)
    small = 1e-15 * (y + rng.uniform(-1, 1, 5))
    yield "small predictions are not equal ones", dict(y=y, f=small)


r2.mistakes(
    {
        "explained around the mean of the predictions": (
            "np.sum((f - y.mean()) ** 2) / total",
            "fc @ fc / total",
            "The explained share takes a mean off. Whose?",
        ),
        "the correlation is not squared": (
            "(fc @ yc) ** 2 / (fc @ fc * total)",
            "fc @ yc / np.sqrt(fc @ fc * total)",
            "Is your third value negative where predictions run against y?",
        ),
        "a negative R² is cut off": (
            "1 - np.sum((y - f) ** 2) / total",
            "max(1 - np.sum((y - f) ** 2) / total, 0.0)",
            "Predictions can be worse than the mean of y. What should the second say then?",
        ),
        "the errors are centred": (
            "np.sum((y - f) ** 2) / total",
            "np.sum((yc - fc) ** 2) / total",
            "Predictions that are all 80 too high are bad ones. Does your second value see it?",
        ),
        "the spread of f in the denominator": (
            "total = yc @ yc",
            "total = fc @ fc or yc @ yc",
            "Which of the two arguments holds the targets? The denominator is about those.",
        ),
        "nearly equal is equal": (
            "f.max() == f.min()",
            "np.allclose(f, f[0])",
            "Tiny predictions differ, too, and a correlation knows no scale.",
        ),
        "0/0 for one prediction": (
            "f.max() == f.min()",
            "False and f.any()",
            "Equal predictions have no spread, and nothing may be divided by it. Which value is asked for?",
        ),
    }
)


@r2.wrong(
    "one R² for all three",
    advice="The three agree for a least-squares line on its own rows. Do they for other predictions?",
)
def _(y, f):
    residual = 1 - np.sum((y - f) ** 2) / np.sum((y - y.mean()) ** 2)
    return residual, residual, residual


r2.worked(
    why=r"""Each formula keeps its own idea of what a mean is for. The explained share asks how far predictions spread around $\bar y$,
    right or wrong, so it may exceed 1. The second counts every error, and has no lower end. The third centres both, and scales both:
    it tells how good the predictions could be made by a shift and a factor."""
)


@r2.right("by scikit-learn and NumPy", library="sklearn.metrics.r2_score")
def _(y, f):
    from sklearn.metrics import r2_score

    corr = 0.0 if np.ptp(f) == 0 else np.corrcoef(y, f)[0, 1]
    return np.mean((f - np.mean(y)) ** 2) / np.var(y), r2_score(y, f), corr**2


@r2.right("loops, a list comes back")
def _(y, f):
    y_mean, f_mean = sum(y) / len(y), sum(f) / len(f)
    total = sum((b - y_mean) ** 2 for b in y)
    both = sum((a - f_mean) * (b - y_mean) for a, b in zip(f, y))
    spread = sum((a - f_mean) ** 2 for a in f)
    return [
        sum((a - y_mean) ** 2 for a in f) / total,
        1 - sum((b - a) ** 2 for a, b in zip(f, y)) / total,
        both**2 / (spread * total) if len(set(f.tolist())) > 1 else 0.0,
    ]


# ----------------------------------------------------------------------------------------- forecast

forecast = Exercise(
    "forecast",
    reference=reference.forecast,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("new_x", "x", "y"),
    hints=[
        "Three ingredients: the line at the new inputs, s from the errors at the old ones, and v at each new input.",
        "Two parameters were fitted, so RSS is divided by n − 2 before the root. v measures the distance of a new input from the mean of the "
        "OLD ones. The quantile leaves half of 1 − level above it, half below its negative.",
        "The quantile is stats.t.ppf at (1 + level) / 2 with n − 2 degrees. Each half-width is that quantile times s times a root: of v for the "
        "line, of 1 + v for a new target.",
    ],
)


@forecast.cases
def _(rng):
    def series(n, new_x, level=0.95, slope=0.5):
        x = np.arange(float(n))
        zigzag = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.4, 0.8, n)
        new_x = np.array(new_x, float)
        return dict(x=x, y=4.0 + slope * x + zigzag, new_x=new_x, level=level)

    inside = pairs(rng, 8) | dict(new_x=np.array([6.0, 2.5]), level=0.95)
    yield "inside the data", inside
    years = pairs(rng, 9)
    years = years | dict(x=1950 + 10 * years["x"])
    yield "far outside the data", years | dict(new_x=np.array([2156.0]), level=0.9)
    yield "far outside the data", series(8, [-20, 60, 10], slope=-0.5)
    yield "at the mean of the inputs", series(5, [2.0], level=0.9)
    yield "three rows, one degree of freedom", series(3, [1.0, 4.0], level=0.8)
    yield "an even chance, or nearly none", series(6, [0.0, 10.0], level=0.5)
    yield "an even chance, or nearly none", series(6, [3.0], level=0.05)
    x = np.arange(5.0)
    straight = dict(x=x, y=3.0 - 2.0 * x, new_x=np.array([1.0, 9.0]), level=0.95)
    yield "a perfect line needs no width", straight


forecast.mistakes(
    {
        "the normal quantile": (
            "stats.t.ppf((1 + level) / 2, n - 2)",
            "stats.norm.ppf((1 + level) / 2)",
            "s is estimated from a few rows, so the tails are heavier than normal. Whose quantile is asked?",
        ),
        "a quantile with n − 1 degrees": (
            "stats.t.ppf((1 + level) / 2, n - 2)",
            "stats.t.ppf((1 + level) / 2, n - 1)",
            "A line has two parameters. How many degrees does it use up?",
        ),
        "only one tail": (
            "(1 + level) / 2",
            "level",
            "Half of what the level leaves over lies below the interval, half above. Which quantile is that?",
        ),
        "RSS over n": (
            "residuals @ residuals / (n - 2)",
            "residuals @ residuals / n",
            "The line has bent towards its own rows, and the residuals are too small for it. By what is RSS divided?",
        ),
        "s without its root": (
            "s = np.sqrt(residuals @ residuals / (n - 2))",
            "s = residuals @ residuals / (n - 2)",
            "s has the unit of y. Has yours?",
        ),
        "the noise of the new target is forgotten": (
            "np.sqrt(1 + v)",
            "np.sqrt(v)",
            "Were the line known exactly, a new target would still scatter around it. Are your two widths one?",
        ),
        "roots added": (
            "np.sqrt(1 + v)",
            "(1 + np.sqrt(v))",
            "Two independent uncertainties: are their sizes added, or their squares?",
        ),
        "the line is known at the mean": (
            "1 / n + (new_x",
            "(new_x",
            "At x̄ itself, is the height of the line known without error?",
        ),
        "full widths": (
            "return line, q * s",
            "q = 2 * q\n    return line, q * s",
            "Half-widths are asked: what is added to and taken from the line.",
        ),
        "the mean of the new inputs": (
            "(new_x - centre) ** 2",
            "(new_x - new_x.mean()) ** 2",
            "How far is a new input from the middle of the DATA? Whose mean do you take off in v?",
        ),
        "widths in the other order": (
            "np.sqrt(v), q * s * np.sqrt(1 + v)",
            "np.sqrt(1 + v), q * s * np.sqrt(v)",
            "Which of the two intervals is asked for first? The one of the line is narrower.",
        ),
        "the ends in place of half-widths": (
            "return line, q * s * np.sqrt(v), q * s * np.sqrt(1 + v)",
            "return line, line + q * s * np.sqrt(v), line + q * s * np.sqrt(1 + v)",
            "A half-width says how far an end is from the line. Is yours near 0 where the rows lie on a line?",
        ),
    }
)


forecast.worked(
    why=r"""Around the mean of the inputs, the height of the line and its slope err independently: the height with variance
    $\sigma^2/n$, the slope with $\sigma^2 / \sum (x_i - \bar x)^2$. At $x$ the slope's error counts $(x - \bar x)^2$ times, and their sum is
    $\sigma^2 v$. A new race adds its own $\sigma^2$. Since $\sigma$ is estimated, the normal's quantile is too small, and Student's takes its place. The
    widths grow with the distance, far out in proportion to it: that is how the interval says that you have gone far, if the
    line is true."""
)


@forecast.right("by statsmodels", library="statsmodels.OLS")
def _(x, y, new_x, level):
    import statsmodels.api as sm

    design, rows = (np.column_stack([np.ones(len(v)), v]) for v in (x, new_x))
    told = sm.OLS(y, design).fit().get_prediction(rows)
    ends = [told.conf_int(obs=obs, alpha=1 - level) for obs in (False, True)]
    halves = [np.nan_to_num(high - low) / 2 for low, high in (end.T for end in ends)]
    return told.predicted_mean, *halves


@forecast.right("one new input at a time")
def _(x, y, new_x, level):
    slope, intercept = np.polyfit(x - 2.0, y, 1)
    at = [intercept + slope * (v - 2) for v in x]
    s2 = sum((a - b) ** 2 for a, b in zip(y, at)) / (len(x) - 2)
    q = stats.t.interval(level, len(x) - 2)[1]
    out = [[], [], []]
    for new in new_x:
        v = 1 / len(x) + (new - np.mean(x)) ** 2 / (len(x) * np.var(x))
        for column, value in zip(
            out,
            (
                intercept + slope * (new - 2),
                q * (s2 * v) ** 0.5,
                q * (s2 + s2 * v) ** 0.5,
            ),
        ):
            column.append(value)
    return out


# ------------------------------------------------------------------------------------------ project

project = Exercise(
    "project",
    reference=reference.project,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "Y"),
    hints=[
        "The shadow is a multiple of X. You know which: the sum of squares of Y − Xβ has been minimised before.",
        "Make β from two inner products, the shadow from β, the error from Y and the shadow. Only the cosine needs lengths.",
        "β is X @ Y over X @ X, or 0 where X has no entry but 0. The cosine is X @ Y over the product of the two lengths, or 0 where "
        "that product is 0.",
    ],
)


@project.cases
def _(rng):
    yield "any two vectors", dict(Y=3 + rng.normal(size=5), X=2 + rng.normal(size=5))
    X, Y = rng.uniform(1, 3, (2, 4))
    yield "any two vectors", dict(Y=Y, X=X * [1, 0, 1, -20])
    low = -3 + rng.uniform(-1, 1, 4)
    yield "an obtuse angle", dict(Y=low, X=2 + rng.uniform(-1, 1, 4))
    a, b = rng.uniform(1, 3, 2)
    rising = np.sort(rng.uniform(1, 3, 3))
    yield "entries that cancel", dict(Y=rising, X=np.array([a, b, -a - b]))
    yield "a right angle", dict(Y=np.array([a, b, 2.0]), X=np.array([-b, a, 0.0]))
    X = rng.uniform(1, 3, 3)
    yield "Y lies on the line already", dict(Y=-2.0 * X, X=X)
    yield "one row", dict(Y=rng.uniform(1, 3, 1), X=rng.uniform(-3, -1, 1))
    yield "X is the zero vector", dict(Y=rng.uniform(1, 3, 3), X=np.zeros(3))
    yield "Y is the zero vector", dict(Y=np.zeros(3), X=rng.uniform(1, 3, 3))
    X, Y = rng.uniform(1, 3, (2, 3))
    yield "very small and very large vectors", dict(Y=1e-100 * Y, X=1e-100 * X)
    yield "very small and very large vectors", dict(Y=Y, X=1e-100 * X)
    yield "very small and very large vectors", dict(Y=1e100 * Y, X=1e100 * X)


project.mistakes(
    {
        "tiny vectors are called zero": (
            "if X.any() else",
            "if X @ X > 1e-12 else",
            "A vector of 1e-100 is not zero, and it has a direction like any other.",
        ),
        "squares that vanish": (
            "np.linalg.norm(X) * np.linalg.norm(Y)",
            "np.sqrt(X @ X * (Y @ Y))",
            "X @ X of a vector of 1e-100 is 1e-200. And the product of two such numbers, in floating point?",
        ),
        "X is projected on Y": (
            "shadow = beta * X",
            "shadow = X @ Y / (Y @ Y or 1) * Y",
            "The predictions are multiples of X. Of what is your shadow a multiple?",
        ),
        "divided by the length, not its square": (
            "X @ Y / (X @ X)",
            "X @ Y / np.linalg.norm(X)",
            "Double X: the line through it is the same. Is your shadow?",
        ),
        "the error points the wrong way": (
            "Y - shadow",
            "shadow - Y",
            "The shadow plus what is left must give Y. Does it?",
        ),
        "the cosine without its sign": (
            "X @ Y / lengths",
            "np.abs(X @ Y) / lengths",
            "When X and Y point in opposite directions, the angle is 180°. What is its cosine?",
        ),
        "the cosine of centred vectors": (
            "X @ Y / lengths if",
            "(X - X.mean()) @ (Y - Y.mean()) / (np.std(X) * np.std(Y) * len(X) or 1) if",
            "That is the correlation. Here no mean is taken off.",
        ),
        "divides by zero": (
            "if X.any() else",
            "if len(X) else",
            "Which shadow does the text give to the zero vector?",
        ),
    }
)


project.equivalent(
    {
        "beta = X @ Y / (X @ X) if X.any() else 0.0 → beta = X @ Y / (X @ X) if X.any() else 1.0": "Where X is the zero vector, the shadow is 0"
    }
)


project.worked(
    why=r"""The foot of the perpendicular is where $\mathbf X^\top (\mathbf Y - \mathbf X\beta) = 0$, and this is $-L'(\beta) = 0$:
    geometry and calculus ask for the same thing. $\beta$ needs no length, so no root; the cosine needs two. Multiplying the
    lengths rather than their squares keeps tiny vectors alive."""
)


@project.right("by least squares", library="numpy.linalg.lstsq")
def _(Y, X):
    size = np.abs(X).max() or 1.0
    beta = np.linalg.lstsq(X[:, None] / size, Y, rcond=None)[0][0] / size
    u, v = (a / (np.linalg.norm(a) or 1) for a in (X, Y))
    return beta * X, Y - beta * X, u @ v


@project.right("through the projection matrix, lists come back")
def _(Y, X):
    u = X / (np.linalg.norm(X) or 1)
    shadow = np.outer(u, u) @ Y
    cosine = u @ Y / (np.linalg.norm(Y) or 1)
    return shadow.tolist(), (Y - shadow).tolist(), float(cosine)


# ----------------------------------------------------------------------------------------- extremes

extremes = Exercise(
    "extremes",
    reference=reference.extremes,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("first", "second"),
    hints=[
        "Everything is told in standard units: first standardise both measurements, over all rows. Then choose.",
        "The correlation is the mean of the products of standardised values. For the choice you need the row numbers in falling order of "
        "`first`: of equal ones the earlier must come first.",
        "np.argsort sorts upwards, so sort −first, with kind='stable' for ties. The first `count` row numbers pick from both standardised arrays; "
        "take the mean of each.",
    ],
)


@extremes.cases
def _(rng):
    def draw(n, count, rho, shift=0.0):
        first = rng.normal(size=n)
        second = rho * first + (1 - rho**2) ** 0.5 * rng.normal(size=n)
        return dict(first=3 * first + shift, second=second * 0.4 - shift, count=count)

    yield "a few of many", draw(12, 3, 0.6, shift=170.0)
    yield "a few of many", draw(9, 2, -0.7)
    one = dict(
        first=np.array([3.0, 1, 7, 5, 2, 6]), second=np.array([6.0, 2, 3, 7, 1, 5])
    )
    one = {name: v + rng.uniform(0, 0.9, 6) for name, v in one.items()}
    yield "only the first one out", one | dict(count=1)
    yield "everybody is chosen", draw(7, 7, 0.5)
    ties = draw(8, 3, 0.5) | dict(first=np.array([2.0, 5, 5, 1, 5, 0, 5, 3]))
    yield "of equal ones the earlier", ties
    yield "of equal ones the earlier", ties | dict(count=2, second=rng.normal(size=8))
    x = rng.uniform(0, 0.9, 6) + [0, 3, 1, 5, 4, 2]
    yield "a second measurement that agrees", dict(first=x, second=2 * x + 1, count=2)
    yield "a second one that says the reverse", dict(first=x, second=5 - x, count=2)
    whole = np.array([[2, 5, 0, 4, 1, 3], [3, 1, 4, 1, 5, rng.integers(6, 12)]])
    yield "whole numbers", dict(first=whole[0], second=whole[1], count=2)


extremes.mistakes(
    {
        "the smallest are chosen": (
            "np.argsort(-first",
            "np.argsort(first",
            "Print the first value of the chosen: are they the largest?",
        ),
        "chosen by the second measurement": (
            "np.argsort(-first",
            "np.argsort(-second",
            "Nobody knows the second result when the choice is made. By which one are they chosen?",
        ),
        "of equal ones the later": (
            'np.argsort(-first, kind="stable")',
            'np.argsort(first, kind="stable")[::-1]',
            "Several rows may tie for the last place. Does yours take the earlier one?",
        ),
        "all that tie are chosen": (
            "chosen = order[:count]",
            "chosen = first >= first[order[count - 1]]",
            "Exactly `count` rows are chosen, also where the next one is as large.",
        ),
        "ranks for rows": (
            "chosen = order[:count]",
            "chosen = np.argsort(order)[:count]",
            "argsort gives row numbers in order. Yours gives each row its rank, which is another thing.",
        ),
        "each has its own best": (
            "w[chosen].mean()",
            "np.sort(w)[::-1][:count].mean()",
            "It is the same people who are measured again. Whose second value do you take?",
        ),
        "n − 1 in the variance": (
            "v.std()",
            "v.std(ddof=1)",
            "Which divisor does the text use to standardise?",
        ),
        "the correlation of the chosen only": (
            "r = np.mean(z * w)",
            "r = np.mean((z * w)[np.argsort(-first)[:count]])",
            "r is about all rows.",
        ),
    }
)


@extremes.wrong(
    "standardised after the choice",
    advice="Mean and standard deviation belong to all rows. If you take those of the chosen, their mean is 0.",
)
def _(first, second, count):
    chosen = np.argsort(-first, kind="stable")[:count]
    first, second = first[chosen], second[chosen]
    z, w = ((v - v.mean()) / (v.std() or 1) for v in (first, second))
    return np.mean(z * w), z.mean(), w.mean()


extremes.worked(
    why=r"""In standard units the forecast of the second value is $r$ times the first, so chosen rows come back to about $r$ times their
    distance. The choice uses the first measurement only; row numbers carry it over to the second. Sorting the negative
    values upwards, stably, keeps earlier rows first among equals; turning a sorted list round would not."""
)


@extremes.right("with SciPy's z-scores", library="scipy.stats.zscore")
def _(first, second, count):
    from scipy.stats import pearsonr, zscore

    z, w = zscore(first), zscore(second)
    rows = sorted(range(len(first)), key=lambda i: (-first[i], i))[:count]
    return pearsonr(first, second)[0], np.mean(z[rows]), np.mean(w[rows])


@extremes.right("one after the other, without sorting")
def _(first, second, count):
    r = np.corrcoef(first, second)[0, 1]
    left, chosen = np.array(first, float), []
    for _ in range(count):
        chosen.append(int(np.argmax(left)))
        left[chosen[-1]] = -np.inf
    means = [(v[chosen].mean() - v.mean()) / v.std() for v in (first, second)]
    return [r, *means]


# ------------------------------------------------------------------------------------- gauss_loglik

gauss_loglik = Exercise(
    "gauss_loglik",
    reference=reference.gauss_loglik,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("errors",),
    hints=[
        "Take the logarithm of one density first, then add up over the rows.",
        "Each row brings its own constant, so it is there n times. The errors enter by the sum of their squares.",
        "Minus n/2 times the logarithm of 2πσ², minus the sum of squares over 2σ²: np.log, np.pi, and sigma squared in both.",
    ],
)


@gauss_loglik.cases
def _(rng):
    def draw(n, low, high, scale=1.0):
        errors = scale * rng.normal(size=n)
        return dict(errors=errors, sigma=float(rng.uniform(low, high)))

    yield "a wide bell", draw(6, 1.5, 3)
    yield "a narrow bell", draw(5, 0.2, 0.4)
    yield "one row", draw(1, 2, 3)
    yield "no error at all", dict(errors=np.zeros(4), sigma=float(rng.uniform(2, 3)))
    yield "errors of one sign", dict(errors=rng.uniform(1, 3, 5), sigma=2.0)
    yield "densities too small for a float", draw(5, 2, 3, scale=500.0)
    yield "densities too large for a float", draw(400, 1e-3, 2e-3, scale=1e-3)


gauss_loglik.mistakes(
    {
        "the constant is left out": (
            "return -constant - ",
            "return -",
            "It depends on sigma, so it matters as soon as sigma is to be found. What stands before the exponential?",
        ),
        "sigma for the variance in the constant": (
            "2 * np.pi * sigma**2",
            "2 * np.pi * sigma",
            "sigma is the standard deviation, in the unit of y. Which of its powers is the variance?",
        ),
        "the constant counted once": (
            "len(errors) / 2 *",
            "1 / 2 *",
            "Each row brings its own factor 1/√(2πσ²). How many logarithms of it are in the sum?",
        ),
        "the negative of it": (
            "return -constant - errors",
            "return constant + errors",
            "Small errors should have the larger log-likelihood. Have they?",
        ),
        "the half is forgotten in the exponent": (
            "errors @ errors / (2 * sigma**2)",
            "errors @ errors / sigma**2",
            "What is in the exponent of the density: e²/σ², or half of it?",
        ),
    }
)


@gauss_loglik.wrong(
    "the logarithm of the product of densities",
    advice="A product of tiny densities becomes 0 in floating point, and its logarithm −∞. Take logarithms first.",
)
def _(errors, sigma):
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.prod(stats.norm.pdf(errors, 0, sigma)))


gauss_loglik.worked(
    why=r"""The logarithm turns the product over rows into a sum, and the exponential of each row into its exponent. What is
    left of the exponential is a sum of squares: that is the whole link between normal noise and least squares. The constant
    does not move the best line, but it decides about $\sigma$: without it the widest bell would always win."""
)


@gauss_loglik.right("by SciPy", library="scipy.stats.norm.logpdf")
def _(errors, sigma):
    from scipy.stats import norm

    return np.sum(norm.logpdf(errors, scale=sigma))


@gauss_loglik.right("row by row")
def _(errors, sigma):
    each = [
        math.log(sigma) + math.log(2 * math.pi) / 2 + (e / sigma) ** 2 / 2
        for e in errors
    ]
    return -math.fsum(each)


# ---------------------------------------------------------------------------------------- skew_kurt

skew_kurt = Exercise(
    "skew_kurt",
    reference=reference.skew_kurt,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("x",),
    hints=[
        "Neither number has a unit: standardise first. Both results are means of powers of z.",
        "z has mean 0 and standard deviation 1. Skewness is the mean of its cubes. Of the mean of its fourth powers, take off what a normal has.",
        "x.std() divides by n, as asked. Take np.mean of z to the power 3, and of z to the power 4 less 3.",
    ],
)


@skew_kurt.cases
def _(rng):
    yield "any sample", dict(x=rng.uniform(1, 4, 7))
    yield "a long tail to the right", dict(x=np.append(9.0, rng.uniform(0, 1, 7)))
    yield "a long tail to the left", dict(x=np.append(rng.uniform(0, 1, 6), -6.0))
    half = rng.uniform(1, 3, 4)
    yield "symmetric around 5", dict(x=np.concatenate([5 - half, 5 + half]))
    yield "another unit and zero", dict(x=100 + 20 * rng.exponential(size=8))
    yield (
        "two values, the flattest of all",
        dict(x=rng.uniform(1, 2) * np.array([1.0, 4])),
    )
    yield "whole numbers", dict(x=rng.permutation(np.array([0, 0, 1, 4, 12])))


skew_kurt.mistakes(
    {
        "the kurtosis of a normal is not taken off": (
            "np.mean(z**4) - 3",
            "np.mean(z**4)",
            "For a normal the mean of z⁴ is 3. What is its EXCESS kurtosis?",
        ),
        "n − 1 in the variance": (
            "x.std()",
            "x.std(ddof=1)",
            "Which divisor does the text use to standardise? Look up `ddof`.",
        ),
        "divided by the variance": (
            "x.std()",
            "x.var()",
            "z has the standard deviation 1. Has yours?",
        ),
        "skewness without its sign": (
            "np.mean(z**3)",
            "np.mean(np.abs(z) ** 3)",
            "A tail to the left has a negative skewness. What do you do to the sign of z?",
        ),
    }
)


@skew_kurt.wrong(
    "corrected for a small sample",
    advice="The text takes plain means over the rows. Does your library correct for bias? Look up its options.",
)
def _(x):
    return stats.skew(x, bias=False), stats.kurtosis(x, bias=False)


skew_kurt.worked(
    why=r"""Standardising takes away place and scale, so that only the shape is left. A cube keeps the sign, so the longer tail wins;
    a fourth power forgets the sign and listens mostly to the tails. 3 is what the normal gives: taken off, its kurtosis is 0."""
)


@skew_kurt.right("by SciPy", library="scipy.stats.skew, scipy.stats.kurtosis")
def _(x):
    from scipy.stats import kurtosis, skew

    return skew(x), kurtosis(x)


@skew_kurt.right("loops over central moments")
def _(x):
    n, mean = len(x), sum(x) / len(x)
    second, third, fourth = (sum((v - mean) ** k for v in x) / n for k in (2, 3, 4))
    return [third / second**1.5, fourth / second**2 - 3]

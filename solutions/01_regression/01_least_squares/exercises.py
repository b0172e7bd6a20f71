"""Exercises of 01_regression/01_least_squares."""

import numpy as np
from scipy import stats

from descent.compare import close
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- loss and gradient

loss_and_grad = Exercise(
    "loss_and_grad",
    reference=lambda beta, x, y: reference.loss_and_grad(x.new_tensor(beta), x, y),
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("x", "y"),
    hints=[
        "Make the vector of errors first. Both results need nothing else but x.",
        "e = y - x * beta. The loss is half the sum of e². By the chain rule each row adds e_i · (-1) · x_i to the derivative.",
        "Return np.sum(e**2) / 2 and minus the inner product of x and e.",
    ],
)


@loss_and_grad.cases
def _(rng):
    yield "any line", dict(beta=float(rng.uniform(0.5, 2)), **_pairs(rng, 6))
    yield "a negative slope", dict(beta=float(rng.uniform(-2, -0.5)), **_pairs(rng, 5))
    one = dict(x=rng.uniform(1, 3, 1), y=rng.uniform(4, 9, 1))
    yield "a single row", dict(beta=0.5, **one)
    x = rng.uniform(1, 3, 5)
    yield "no error at all", dict(beta=2.0, x=x, y=2.0 * x)
    yield "no input but 0", dict(beta=1.0, x=np.zeros(4), y=rng.uniform(1, 3, 4))


def _pairs(rng, n):
    x = rng.uniform(-3, 3, n)
    return dict(x=x, y=3.0 + 2.0 * x + rng.uniform(-1, 1, n))


@loss_and_grad.wrong(
    "the mean instead of the sum",
    advice="L is defined with a sum over the rows. Do you divide by n?",
)
def _(beta, x, y):
    e = y - x * beta
    return np.mean(e**2) / 2, -np.mean(x * e)


@loss_and_grad.wrong(
    "the half is forgotten",
    advice="L has a factor ½ in front. Look what it does to the derivative of a square.",
)
def _(beta, x, y):
    e = y - x * beta
    return np.sum(e**2), -2 * np.sum(x * e)


@loss_and_grad.wrong(
    "the derivative has the wrong sign",
    advice="Where all errors are positive the line is too low. Should the derivative then be positive or negative for x > 0?",
)
def _(beta, x, y):
    e = y - x * beta
    return np.sum(e**2) / 2, np.sum(x * e)


@loss_and_grad.wrong(
    "the inner derivative is missing",
    advice="The score is x·beta: how much does it move when beta moves by one?",
)
def _(beta, x, y):
    e = y - x * beta
    return np.sum(e**2) / 2, -np.sum(e)


@loss_and_grad.wrong(
    "the sum is squared, not the errors",
    advice="Errors of opposite sign must not cancel. What is squared first?",
)
def _(beta, x, y):
    e = y - x * beta
    return np.sum(e) ** 2 / 2, -np.sum(x * e)


@loss_and_grad.right("row by row")
def _(beta, x, y):
    loss = slope = 0.0
    for a, b in zip(x, y):
        loss += (b - a * beta) ** 2 / 2
        slope += a * (a * beta - b)
    return loss, slope


@loss_and_grad.right("inner products in single precision")
def _(beta, x, y):
    e = (y - x * beta).astype(np.float32)
    return e @ e / 2, -(x.astype(np.float32) @ e)


# ---------------------------------------------------------------- gradient descent


gd_1d = Exercise(
    "gd_1d",
    reference=lambda x, y, beta0, eta, T: reference.descent_path(
        x, y, x.new_tensor(beta0), x.new_tensor(eta), T
    ),
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("x", "y"),
    hints=[
        "Keep a list that starts with beta0 and add one number a step. How long is it after T steps?",
        "The derivative at beta is -Σ x (y - x beta). A step goes against it.",
        "path.append(path[-1] + eta * np.sum(x * (y - x * path[-1]))), T times; then make an array.",
    ],
)


@gd_1d.cases
def _(rng):
    yield "small steps", _descent(rng, 0.3, 5)
    near = _descent(rng, 0.3, 5)  # steps of a few thousandths: no reason to stop
    near["beta0"] = float(
        near["x"] @ near["y"] / np.sum(near["x"] ** 2) + rng.uniform(0.01, 0.02)
    )
    yield "small steps", near
    yield "steps that overshoot and still arrive", _descent(rng, 1.6, 5)
    yield "steps that are too long", _descent(rng, 2.4, 4)
    yield "the step that arrives at once", _descent(rng, 1.0, 3)
    yield "no step", _descent(rng, 0.3, 0)
    nothing = dict(x=np.zeros(4), y=rng.normal(size=4), beta0=1.5, eta=0.1, T=3)
    yield "a loss that is flat", nothing


def _descent(rng, scaled, T):
    """eta is `scaled` over Σx²: the error is multiplied by 1 - scaled a step."""
    data = _pairs(rng, 5)
    beta0 = float(rng.uniform(6, 8))
    return dict(beta0=beta0, eta=float(scaled / np.sum(data["x"] ** 2)), T=T, **data)


def _walk(x, y, beta0, eta, T, step):
    path = [beta0]
    for _ in range(T):
        path.append(path[-1] + step(path[-1]))
    return np.array(path)


@gd_1d.wrong("uphill", advice="Is the loss larger or smaller after your first step?")
def _(x, y, beta0, eta, T):
    return _walk(x, y, beta0, eta, T, lambda b: -eta * np.sum(x * (y - x * b)))


@gd_1d.wrong(
    "the mean instead of the sum",
    advice="The loss of this section is a sum over rows. Do you divide its derivative by n?",
)
def _(x, y, beta0, eta, T):
    return _walk(x, y, beta0, eta, T, lambda b: eta * np.mean(x * (y - x * b)))


@gd_1d.wrong(
    "the derivative without the half",
    advice="L is HALF the sum of squares. What does the ½ do to the 2 that comes down?",
)
def _(x, y, beta0, eta, T):
    return _walk(x, y, beta0, eta, T, lambda b: 2 * eta * np.sum(x * (y - x * b)))


@gd_1d.wrong(
    "the start is left out",
    advice="The path has T + 1 entries. Which one is the first?",
)
def _(x, y, beta0, eta, T):
    return _walk(x, y, beta0, eta, T, lambda b: eta * np.sum(x * (y - x * b)))[1:]


@gd_1d.wrong(
    "the gradient is never taken anew",
    advice="After a step the errors have changed. Where is the derivative of the next step taken?",
)
def _(x, y, beta0, eta, T):
    return _walk(x, y, beta0, eta, T, lambda b: eta * np.sum(x * (y - x * beta0)))


@gd_1d.wrong(
    "it stops where steps get small",
    advice="T steps are asked, and T + 1 entries, also where little happens. Is there a condition that ends your loop?",
)
def _(x, y, beta0, eta, T):
    path = [beta0]
    for _ in range(T):
        step = eta * np.sum(x * (y - x * path[-1]))
        path.append(path[-1] + (step if abs(step) > 0.01 else 0.0))
    return np.array(path)


@gd_1d.wrong(
    "one row a step",
    advice="The derivative of L is a sum over all rows. How many rows does one of your steps see?",
)
def _(x, y, beta0, eta, T):
    path = [beta0]
    for t in range(T):
        a, b = x[t % len(x)], y[t % len(x)]
        path.append(path[-1] + eta * a * (b - a * path[-1]))
    return np.array(path)


@gd_1d.right("by the contraction factor")
def _(x, y, beta0, eta, T):
    xx = np.sum(x**2)
    best = np.sum(x * y) / xx if xx else beta0
    return best + (beta0 - best) * (1 - eta * xx) ** np.arange(T + 1)


@gd_1d.right("an array, filled in place")
def _(x, y, beta0, eta, T):
    path = np.full(T + 1, beta0, dtype=np.float64)
    for t in range(T):
        path[t + 1] = path[t] - eta * (x @ x * path[t] - x @ y)
    return path


# ---------------------------------------------------------------- projection

project = Exercise(
    "project",
    reference=reference.project,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "Y"),
    hints=[
        "The projection is a multiple of X. You know which multiple: you have minimised |Y - X beta| already.",
        "beta = X·Y / X·X; the shadow is beta X, what is left is Y minus the shadow. Cosine: X·Y over the product of the two lengths.",
        "Take xx = X @ X first. If it is 0, beta = 0. If xx * (Y @ Y) is 0, the cosine is 0.",
    ],
)


@project.cases
def _(rng):
    yield "any two vectors", dict(Y=3 + rng.normal(size=5), X=2 + rng.normal(size=5))
    yield (
        "an obtuse angle",
        dict(Y=-3 + rng.uniform(-1, 1, 4), X=2 + rng.uniform(-1, 1, 4)),
    )
    a, b = rng.uniform(1, 3, 2)
    yield "a right angle", dict(Y=np.array([a, b, 2.0]), X=np.array([-b, a, 0.0]))
    X = rng.uniform(1, 3, 3)
    yield "Y already on the line", dict(Y=-2.0 * X, X=X)
    yield "X is the zero vector", dict(Y=rng.uniform(1, 3, 3), X=np.zeros(3))
    yield "Y is the zero vector", dict(Y=np.zeros(3), X=rng.uniform(1, 3, 3))


def _cosine(Y, X):
    lengths = np.linalg.norm(X) * np.linalg.norm(Y)
    return X @ Y / lengths if lengths else 0.0


def _slope(Y, X):
    return X @ Y / (X @ X) if X @ X else 0.0


@project.wrong(
    "X is projected on Y",
    advice="The predictions are a multiple of X. Of what is your shadow a multiple?",
)
def _(Y, X):
    shadow = _slope(X, Y) * Y
    return shadow, Y - shadow, _cosine(Y, X)


@project.wrong(
    "divided by the length, not its square",
    advice="Double X: the line through it is the same. Is your projection the same too?",
)
def _(Y, X):
    shadow = X @ Y / np.linalg.norm(X) * X if X @ X else 0 * Y
    return shadow, Y - shadow, _cosine(Y, X)


@project.wrong(
    "the error points the wrong way",
    advice="The shadow plus what is left must give Y. Does it?",
)
def _(Y, X):
    shadow = _slope(Y, X) * X
    return shadow, shadow - Y, _cosine(Y, X)


@project.wrong(
    "the cosine of centred vectors",
    advice="That is the correlation, which comes later. Here no mean is taken off.",
)
def _(Y, X):
    shadow = _slope(Y, X) * X
    return shadow, Y - shadow, _cosine(Y - Y.mean(), X - X.mean())


@project.wrong(
    "the cosine without its sign",
    advice="When X and Y point in opposite directions the angle is 180°. What is its cosine?",
)
def _(Y, X):
    shadow = _slope(Y, X) * X
    return (
        shadow,
        Y - shadow,
        np.linalg.norm(shadow) / np.linalg.norm(Y) if Y @ Y else 0.0,
    )


@project.wrong(
    "divides by zero",
    advice="What does the text ask for where X or Y is the zero vector?",
)
def _(Y, X):
    with np.errstate(invalid="ignore", divide="ignore"):
        shadow = X @ Y / np.float64(X @ X) * X
        cosine = X @ Y / np.float64(np.linalg.norm(X) * np.linalg.norm(Y))
    return shadow, Y - shadow, cosine


@project.right("through the projection matrix")
def _(Y, X):
    P = np.outer(X, X) / (X @ X) if X @ X else np.zeros((len(X), len(X)))
    return P @ Y, (np.eye(len(X)) - P) @ Y, _cosine(Y, X)


@project.right("by least squares of a library")
def _(Y, X):
    beta = np.linalg.lstsq(X[:, None], Y, rcond=None)[0][0]
    return beta * X, Y - beta * X, _cosine(Y, X)


@project.right("lists of floats")
def _(Y, X):
    beta = _slope(Y, X)
    shadow = [float(beta * a) for a in X]
    return shadow, [float(b - s) for b, s in zip(Y, shadow)], float(_cosine(Y, X))


# ---------------------------------------------------------------- a line with an intercept

fit_line = Exercise(
    "fit_line",
    reference=reference.fit_line,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("x", "y"),
    hints=[
        "You can fit a line through the origin. Move the origin to the point of means first.",
        "The slope is Σ (x - x̄)(y - ȳ) / Σ (x - x̄)². The line goes through (x̄, ȳ): which intercept does that give?",
        "xc = x - x.mean(); if xc @ xc is 0 the slope is 0, else xc @ y / (xc @ xc). Intercept: y.mean() - slope * x.mean().",
    ],
)


@fit_line.cases
def _(rng):
    yield (
        "a rising line",
        dict(x=rng.uniform(1, 5, 7), y=rng.uniform(4, 6, 7) + np.arange(7)),
    )
    yield "a falling line", _falling(rng)
    years = 1900.0 + 4 * np.arange(8)
    yield (
        "inputs far from zero",
        dict(x=years, y=11 - 0.01 * (years - 1900) + rng.uniform(-0.2, 0.2, 8)),
    )
    yield "two rows", dict(x=np.array([1.0, 4.0]), y=rng.uniform(2, 6, 2))
    yield "all inputs are equal", dict(x=np.full(4, 2.0), y=rng.uniform(2, 6, 4))
    yield "a single row", dict(x=np.array([3.0]), y=rng.uniform(2, 6, 1))


def _falling(rng):
    x = np.arange(1.0, 7.0)
    return dict(x=x, y=20 - 2 * x + rng.uniform(-1, 1, 6))


def _parts(x, y):
    xc, yc = x - x.mean(), y - y.mean()
    return xc, yc, xc @ xc


@fit_line.wrong(
    "through the origin",
    advice="The intercept is free: shift all y by 10, and only the intercept should move. Is it so?",
)
def _(x, y):
    return 0.0, x @ y / (x @ x)


@fit_line.wrong(
    "slope first, intercept last in the answer",
    advice="In which order does the text ask for the two?",
)
def _(x, y):
    xc, yc, xx = _parts(x, y)
    b = xc @ yc / xx if xx else 0.0
    return b, y.mean() - b * x.mean()


@fit_line.wrong(
    "the intercept is the mean of y",
    advice="ȳ is the height of the line at x̄. How high is it at x = 0?",
)
def _(x, y):
    xc, yc, xx = _parts(x, y)
    return y.mean(), xc @ yc / xx if xx else 0.0


@fit_line.wrong(
    "the correlation for the slope",
    advice="The correlation has no unit; a slope has the unit of y over the unit of x. What is missing?",
)
def _(x, y):
    xc, yc, xx = _parts(x, y)
    b = xc @ yc / np.sqrt(xx * (yc @ yc)) if xx * (yc @ yc) else 0.0
    return y.mean() - b * x.mean(), b


@fit_line.wrong(
    "x is predicted from y",
    advice="Which errors are squared: vertical ones (in y) or horizontal ones (in x)?",
)
def _(x, y):
    xc, yc, xx = _parts(x, y)
    b = yc @ yc / (xc @ yc) if xc @ yc else 0.0
    return y.mean() - b * x.mean(), b


@fit_line.wrong(
    "divides by zero",
    advice="What does the text ask for where all inputs are equal? 0/0 is not a number.",
)
def _(x, y):
    xc, yc, xx = _parts(x, y)
    with np.errstate(invalid="ignore", divide="ignore"):
        b = xc @ yc / np.float64(xx)
    return y.mean() - b * x.mean(), b


@fit_line.right("from covariance and variance")
def _(x, y):
    if np.ptp(x) == 0:
        return y.mean(), 0.0
    b = np.cov(x, y, ddof=0)[0, 1] / np.var(x)
    return np.mean(y) - b * np.mean(x), b


@fit_line.right("by least squares of a library")
def _(x, y):
    design = np.column_stack([np.ones(len(x)), x - x.mean()])
    middle, b = np.linalg.lstsq(design, y, rcond=None)[0]
    return [middle - b * x.mean(), b]


@fit_line.right("centred, then in single precision")
def _(x, y):
    xc, yc, xx = _parts(x, y)
    b = np.float32(xc @ yc) / np.float32(xx) if xx else np.float32(0)
    return np.float32(y.mean() - float(b) * x.mean()), b


# ---------------------------------------------------------------- R²

r2 = Exercise(
    "r2",
    reference=reference.r_squared,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("f", "y"),
    hints=[
        "All three share one denominator or its root: the sum of squares of y around its mean. Compute it first.",
        "Explained: Σ (f - ȳ)² over it. Residual: 1 minus Σ (y - f)² over it. Correlation: centre f by its own mean.",
        "corr² = (Σ (f - f̄)(y - ȳ))² / (Σ (f - f̄)² · Σ (y - ȳ)²), and 0 where f is constant.",
    ],
)


@r2.cases
def _(rng):
    yield "predictions that are a bit off", _predicted(rng, 0.9, 0.3)
    yield "predictions on the wrong scale", _predicted(rng, 2.0, 1.0)
    yield "worse than the mean", _predicted(rng, -1.0, 0.5)
    x, y = np.arange(6.0), np.arange(6.0) + rng.uniform(-2, 2, 6)
    slope, intercept = np.polyfit(x, y, 1)
    yield "a least-squares line on its own rows", dict(y=y, f=intercept + slope * x)
    y = rng.uniform(1, 5, 5)
    yield "perfect predictions", dict(y=y, f=y.copy())
    yield "one prediction for all", dict(y=rng.uniform(1, 5, 5), f=np.full(5, 4.0))


def _predicted(rng, scale, shift):
    y = np.array([1.0, 2.0, 4.0, 5.0, 7.0, 11.0]) + rng.uniform(-0.4, 0.4, 6)
    return dict(y=y, f=shift + scale * y + rng.uniform(-1, 1, 6))


def _three(y, f):
    total = np.sum((y - y.mean()) ** 2)
    fc, yc = f - f.mean(), y - y.mean()
    corr2 = (fc @ yc) ** 2 / (fc @ fc * total) if fc @ fc else 0.0
    return np.sum((f - y.mean()) ** 2) / total, 1 - np.sum((y - f) ** 2) / total, corr2


@r2.wrong(
    "one R² for all three",
    advice="The three agree for a least-squares line on its own rows. Do they agree for other predictions?",
)
def _(y, f):
    _, residual, _ = _three(y, f)
    return residual, residual, residual


@r2.wrong(
    "explained around the mean of the predictions",
    advice="The formula of the explained share uses ȳ. Which mean do you take off?",
)
def _(y, f):
    _, residual, corr2 = _three(y, f)
    return f.var() / y.var(), residual, corr2


@r2.wrong(
    "the correlation is not squared",
    advice="For predictions that run against y, is your third value negative?",
)
def _(y, f):
    explained, residual, corr2 = _three(y, f)
    sign = np.sign((f - f.mean()) @ (y - y.mean()))
    return explained, residual, sign * np.sqrt(corr2)


@r2.wrong(
    "a negative R² is cut off",
    advice="Predictions can be worse than the mean of y. What should 1 - RSS/TSS say then?",
)
def _(y, f):
    explained, residual, corr2 = _three(y, f)
    return explained, max(residual, 0.0), corr2


@r2.wrong(
    "y and f change places",
    advice="Which of the two arguments holds the targets? The denominator is about those.",
)
def _(y, f):
    total = np.sum((f - f.mean()) ** 2)
    if not total:
        return 0.0, 0.0, 0.0
    return (
        np.sum((y - f.mean()) ** 2) / total,
        1 - np.sum((y - f) ** 2) / total,
        _three(y, f)[2],
    )


@r2.wrong(
    "0/0 for one prediction",
    advice="A constant prediction has no spread. Which correlation does the text give it?",
)
def _(y, f):
    explained, residual, _ = _three(y, f)
    fc, yc = f - f.mean(), y - y.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return explained, residual, (fc @ yc) ** 2 / np.float64(fc @ fc * (yc @ yc))


@r2.right("from variances and NumPy's correlation")
def _(y, f):
    spread = np.mean((f - np.mean(y)) ** 2) / np.var(y)
    corr = 0.0 if np.ptp(f) == 0 else np.corrcoef(y, f)[0, 1]
    return spread, 1 - np.mean((y - f) ** 2) / np.var(y), corr**2


@r2.right("loops, a list comes back")
def _(y, f):
    y_mean, f_mean = sum(y) / len(y), sum(f) / len(f)
    total = sum((b - y_mean) ** 2 for b in y)
    both = sum((a - f_mean) * (b - y_mean) for a, b in zip(f, y))
    spread = sum((a - f_mean) ** 2 for a in f)
    return [
        sum((a - y_mean) ** 2 for a in f) / total,
        1 - sum((b - a) ** 2 for a, b in zip(f, y)) / total,
        both**2 / (spread * total) if spread > 0 else 0.0,
    ]


@r2.right("single precision")
def _(y, f):
    return np.float32(_three(y, f))


# ---------------------------------------------------------------- likelihood

gauss_loglik = Exercise(
    "gauss_loglik",
    reference=lambda a, b, sigma, x, y: reference.gauss_loglik(
        x.new_tensor(a), x.new_tensor(b), x.new_tensor(sigma), x, y
    ),
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("x", "y"),
    hints=[
        "Write the logarithm of one density first, then add up over the rows.",
        "log p = -½ log(2πσ²) - e²/(2σ²) with e = y - a - b x. The first part is there once for each row.",
        "Nearly: -len(x) / 2 * np.log(2 * np.pi * sigma**2) - np.sum(e**2) / (2 * sigma**2).",
    ],
)


@gauss_loglik.cases
def _(rng):
    yield (
        "any line",
        dict(
            a=1.0,
            b=float(rng.uniform(0.5, 1.5)),
            sigma=float(rng.uniform(1.5, 3)),
            **_pairs(rng, 6),
        ),
    )
    yield (
        "a narrow bell",
        dict(a=0.5, b=1.0, sigma=float(rng.uniform(0.2, 0.4)), **_pairs(rng, 5)),
    )
    one = dict(x=rng.uniform(1, 2, 1), y=rng.uniform(5, 7, 1))
    yield "a single row", dict(a=1.0, b=1.0, sigma=2.0, **one)
    x = rng.uniform(-2, 2, 4)
    yield (
        "no error at all",
        dict(a=1.0, b=3.0, sigma=float(rng.uniform(1.5, 3)), x=x, y=1.0 + 3.0 * x),
    )
    far = _pairs(rng, 5)
    yield "densities too small for a float", dict(a=500.0, b=1.0, sigma=1.5, **far)


def _sum_of_logs(a, b, sigma, x, y, constant):
    return len(x) * constant - np.sum((y - a - b * x) ** 2) / (2 * sigma**2)


@gauss_loglik.wrong(
    "the constant is left out",
    advice="It depends on sigma, so it matters as soon as sigma is to be found. What stands before the exponential?",
)
def _(a, b, sigma, x, y):
    return _sum_of_logs(a, b, sigma, x, y, 0.0)


@gauss_loglik.wrong(
    "sigma taken for the variance",
    advice="sigma is the standard deviation, in the unit of y. Where must it be squared?",
)
def _(a, b, sigma, x, y):
    return -len(x) / 2 * np.log(2 * np.pi * sigma) - np.sum((y - a - b * x) ** 2) / (
        2 * sigma
    )


@gauss_loglik.wrong(
    "the constant counted once",
    advice="Each row brings its own factor 1/√(2πσ²). How many logarithms of it are in the sum?",
)
def _(a, b, sigma, x, y):
    return _sum_of_logs(a, b, sigma, x, y, -np.log(2 * np.pi * sigma**2) / 2 / len(x))


@gauss_loglik.wrong(
    "the mean over the rows",
    advice="The log of a product is a sum. Do you divide by n?",
)
def _(a, b, sigma, x, y):
    total = _sum_of_logs(a, b, sigma, x, y, -np.log(2 * np.pi * sigma**2) / 2)
    return total / len(x)


@gauss_loglik.wrong(
    "the logarithm of the product of densities",
    advice="A product of tiny densities becomes 0 in floating point, and its logarithm is -inf. Take logarithms first.",
)
def _(a, b, sigma, x, y):
    with np.errstate(divide="ignore"):
        return np.log(np.prod(stats.norm.pdf(y, a + b * x, sigma)))


@gauss_loglik.wrong(
    "the negative of it",
    advice="A better line should have a larger log-likelihood. Does it?",
)
def _(a, b, sigma, x, y):
    return -_sum_of_logs(a, b, sigma, x, y, -np.log(2 * np.pi * sigma**2) / 2)


@gauss_loglik.right("SciPy's density")
def _(a, b, sigma, x, y):
    return np.sum(stats.norm.logpdf(y, loc=a + b * x, scale=sigma))


@gauss_loglik.right("row by row")
def _(a, b, sigma, x, y):
    total = 0.0
    for u, v in zip(x, y):
        total += (
            -np.log(sigma) - np.log(2 * np.pi) / 2 - ((v - a - b * u) / sigma) ** 2 / 2
        )
    return total


# ---------------------------------------------------------------- skewness and kurtosis

skew_kurt = Exercise(
    "skew_kurt",
    reference=reference.skew_kurt,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("x",),
    hints=[
        "Standardise first: z has mean 0 and standard deviation 1. Both results are means of powers of z.",
        "z = (x - x̄) / σ_x, with σ_x² the mean of (x - x̄)². Skewness: the mean of z³. Excess kurtosis: the mean of z⁴, minus what a normal has.",
        "z = (x - x.mean()) / x.std(); then np.mean(z**3), and np.mean(z**4) with 3 taken off.",
    ],
)


@skew_kurt.cases
def _(rng):
    yield "any sample", dict(x=rng.uniform(1, 4, 7))
    yield "a long tail to the right", dict(x=np.append(rng.uniform(0, 1, 7), 9.0))
    yield "a long tail to the left", dict(x=np.append(rng.uniform(0, 1, 6), -6.0))
    half = rng.uniform(1, 3, 4)
    yield "symmetric around 5", dict(x=np.concatenate([5 - half, 5 + half]))
    yield "another unit and another zero", dict(x=100 + 20 * rng.exponential(size=8))
    yield (
        "two values, the flattest of all",
        dict(x=np.array([1.0, 4.0]) * rng.uniform(1, 2)),
    )


def _z(x):
    return (x - x.mean()) / x.std()


@skew_kurt.wrong(
    "the kurtosis of a normal is not taken off",
    advice="For a normal the mean of z⁴ is 3. What should its EXCESS kurtosis be?",
)
def _(x):
    return np.mean(_z(x) ** 3), np.mean(_z(x) ** 4)


@skew_kurt.wrong(
    "n - 1 in the standard deviation",
    advice="Which divisor does the text use to standardise? Look up `ddof`.",
)
def _(x):
    z = (x - x.mean()) / x.std(ddof=1)
    return np.mean(z**3), np.mean(z**4) - 3


@skew_kurt.wrong(
    "not divided by the standard deviation",
    advice="Neither number has a unit: with x in millimetres instead of metres they must stay as they are.",
)
def _(x):
    c = x - x.mean()
    return np.mean(c**3), np.mean(c**4) - 3


@skew_kurt.wrong(
    "the mean is not taken off",
    advice="Add 100 to every value: the shape is the same. Do your numbers change?",
)
def _(x):
    z = x / x.std()
    return np.mean(z**3), np.mean(z**4) - 3


@skew_kurt.wrong(
    "divided by the variance",
    advice="A standardised value has standard deviation 1. Has yours? Variance or its root?",
)
def _(x):
    z = (x - x.mean()) / x.var()
    return np.mean(z**3), np.mean(z**4) - 3


@skew_kurt.wrong(
    "the side of the tail is lost",
    advice="A long tail to the left makes the skewness negative. Do you take absolute values?",
)
def _(x):
    return np.mean(np.abs(_z(x)) ** 3), np.mean(_z(x) ** 4) - 3


@skew_kurt.wrong(
    "corrected for a small sample",
    advice="The text takes plain means over the rows. Does your library correct for bias? Look up its options.",
)
def _(x):
    return stats.skew(x, bias=False), stats.kurtosis(x, bias=False)


@skew_kurt.right("SciPy's own")
def _(x):
    return stats.skew(x), stats.kurtosis(x)


@skew_kurt.right("loops over central moments")
def _(x):
    n, mean = len(x), sum(x) / len(x)
    second, third, fourth = (sum((v - mean) ** k for v in x) / n for k in (2, 3, 4))
    return [third / second**1.5, fourth / second**2 - 3]


# ---------------------------------------------------------------- forecasts with intervals

forecast = Exercise(
    "forecast",
    reference=reference.forecast,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("new_x", "x", "y"),
    hints=[
        "Three things to compute: the line, s from the residuals (divide by n - 2), and v at each new input.",
        "v = 1/n + (new_x - x̄)² / Σ (x - x̄)². The mean's half-width holds √v, that of a new target √(1 + v).",
        "q = stats.t.ppf((1 + level) / 2, len(x) - 2). Return a + b * new_x, q * s * sqrt(v), q * s * sqrt(1 + v).",
    ],
)


@forecast.cases
def _(rng):
    order = rng.permutation(
        8
    )  # rows in any order, at unequal distances; new inputs not sorted
    x, y = (
        np.array([0.0, 1, 1.5, 3, 4, 6, 6.5, 9]),
        7.0 - 0.5 * np.arange(8) + rng.normal(size=8),
    )
    inside = dict(x=x[order], y=y[order], new_x=np.array([6.0, 2.5]), level=0.95)
    yield "inside the data", inside
    yield "far outside the data", _series(rng, 8, np.array([-20.0, 60.0]))
    yield "at the mean of the inputs", _series(rng, 5, np.array([2.0]), level=0.9)
    yield (
        "three rows, one degree of freedom",
        _series(rng, 3, np.array([1.0, 4.0]), level=0.8),
    )
    x = np.arange(5.0)
    yield (
        "a perfect line",
        dict(x=x, y=3.0 - 2.0 * x, new_x=np.array([1.0, 9.0]), level=0.95),
    )
    yield "an even chance", _series(rng, 6, np.array([0.0, 10.0]), level=0.5)


def _series(rng, n, new_x, level=0.95):
    x = np.arange(float(n))
    zigzag = np.where(np.arange(n) % 2, 1.0, -1.0) * rng.uniform(0.4, 0.8, n)
    return dict(x=x, y=4.0 + 0.5 * x + zigzag, new_x=new_x, level=level)


def _ingredients(x, y, new_x):
    xc = x - x.mean()
    b = xc @ y / (xc @ xc)
    e = y - y.mean() - b * xc
    return (
        y.mean() + b * (new_x - x.mean()),
        e @ e,
        1 / len(x) + (new_x - x.mean()) ** 2 / (xc @ xc),
    )


def _intervals(x, y, new_x, q, freedom):
    line, rss, v = _ingredients(x, y, new_x)
    s = np.sqrt(rss / freedom)
    return line, q * s * np.sqrt(v), q * s * np.sqrt(1 + v)


@forecast.wrong(
    "the normal quantile",
    advice="s is estimated from a few rows, so the tails are heavier than normal. Whose quantile is asked?",
)
def _(x, y, new_x, level):
    return _intervals(x, y, new_x, stats.norm.ppf((1 + level) / 2), len(x) - 2)


@forecast.wrong(
    "divided by n",
    advice="Two parameters were fitted, and the residuals are too small for it. By what must RSS be divided?",
)
def _(x, y, new_x, level):
    return _intervals(x, y, new_x, stats.t.ppf((1 + level) / 2, len(x) - 2), len(x))


@forecast.wrong(
    "only one tail",
    advice="Half of what the level leaves over lies below the interval, half above. Which quantile is that?",
)
def _(x, y, new_x, level):
    return _intervals(x, y, new_x, stats.t.ppf(level, len(x) - 2), len(x) - 2)


@forecast.wrong(
    "the noise of the new target is forgotten",
    advice="Even if the line were known exactly, a new target would scatter around it. Is your last result larger than the one before?",
)
def _(x, y, new_x, level):
    line, mean, _ = _intervals(
        x, y, new_x, stats.t.ppf((1 + level) / 2, len(x) - 2), len(x) - 2
    )
    return line, mean, mean


@forecast.wrong(
    "as wide everywhere",
    advice="An uncertain slope does little harm near x̄ and much far away. Where does new_x enter your widths?",
)
def _(x, y, new_x, level):
    line, rss, v = _ingredients(x, y, new_x)
    q, s = stats.t.ppf((1 + level) / 2, len(x) - 2), np.sqrt(rss / (len(x) - 2))
    flat = np.full(len(v), 1 / len(x))
    return line, q * s * np.sqrt(flat), q * s * np.sqrt(1 + flat)


@forecast.wrong(
    "full widths",
    advice="The text asks for half-widths: what is added to and taken from the line.",
)
def _(x, y, new_x, level):
    q = stats.t.ppf((1 + level) / 2, len(x) - 2)
    line, mean, new = _intervals(x, y, new_x, q, len(x) - 2)
    return line, 2 * mean, 2 * new


@forecast.wrong(
    "new inputs are put in order",
    advice="The results belong to the new inputs one by one. Try new_x = [6, 2.5] and [2.5, 6].",
)
def _(x, y, new_x, level):
    q = stats.t.ppf((1 + level) / 2, len(x) - 2)
    return _intervals(x, y, np.sort(new_x), q, len(x) - 2)


@forecast.wrong(
    "the mean of the new inputs is taken off",
    advice="How far is a new input from the centre of the DATA? Whose mean do you take off in v?",
)
def _(x, y, new_x, level):
    line, rss, _ = _ingredients(x, y, new_x)
    v = 1 / len(x) + (new_x - new_x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
    half = stats.t.ppf((1 + level) / 2, len(x) - 2) * np.sqrt(rss / (len(x) - 2))
    return line, half * np.sqrt(v), half * np.sqrt(1 + v)


@forecast.right("with the design matrix")
def _(x, y, new_x, level):
    X, rows = (
        np.column_stack([np.ones(len(x)), x]),
        np.column_stack([np.ones(len(new_x)), new_x]),
    )
    inverse = np.linalg.inv(X.T @ X)
    w = inverse @ X.T @ y
    s2 = np.sum((y - X @ w) ** 2) / (len(x) - 2)
    v = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    q = -stats.t.ppf((1 - level) / 2, len(x) - 2)
    return rows @ w, q * np.sqrt(s2 * v), q * np.sqrt(s2 * (1 + v))


@forecast.right("one new input at a time")
def _(x, y, new_x, level):
    fit = stats.linregress(x, y)
    s = np.sqrt(np.sum((y - fit.intercept - fit.slope * x) ** 2) / (len(x) - 2))
    q, out = stats.t.interval(level, len(x) - 2)[1], []
    for new in new_x:
        v = 1 / len(x) + (new - np.mean(x)) ** 2 / np.sum((x - np.mean(x)) ** 2)
        out.append(
            [
                fit.intercept + fit.slope * new,
                q * s * np.sqrt(v),
                q * s * np.sqrt(1 + v),
            ]
        )
    return [list(column) for column in zip(*out)]

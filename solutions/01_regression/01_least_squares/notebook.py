# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a line with its R², its likelihood and its forecast, and the 2156 Olympics taken apart" covers="explainers:2.1.box-olympics"
# # Least squares with one feature
#
# In 2004 *Nature* printed a short article about the Olympic 100 m. Its authors had drawn a line through the winning
# times of the men, and one through those of the women. Women run slower, but their line falls faster. Carry both on,
# and they cross: in 2156, said the article, a woman wins in 8.079 s, and the fastest man needs 8.098 s.
#
# The arithmetic is correct, and the lines fit well. *Would you bet on it?*
#
# You will build everything that the article used, get its numbers to the last digit, and then decide. A line is the
# smallest model there is, and most of this course is already in it.

# %%
# What this notebook needs.
import functools
import math

import numpy as np
import torch
from ipywidgets import Checkbox, Dropdown, FloatLogSlider, FloatSlider, IntSlider
from ipywidgets import SelectionSlider
from scipy import stats
from scipy.optimize import minimize_scalar

from descent import (
    after,
    below,
    check,
    claim,
    data,
    device,
    erratum,
    explore,
    hint,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.regression import least_squares as ls

rng = np.random.default_rng(0)
slider = functools.partial(FloatSlider, continuous_update=False)
start("01_regression/01_least_squares")

# %% covers="explainers:2.1.box-olympics"
# Winning times of the Olympic 100 m (men from 1900, as in the article), and two lines.
races = data.sprint()
men, women = races.men[races.men[:, 0] >= 1900], races.women
show(*ls.draw_crossing(men, women))

# %% [markdown] covers="wu:1.1 wu:1.2.1"
# ## 1. Which line?
#
# A line through points that are not on a line misses nearly all of them. Which misses are the fair ones? The usual
# answer is two hundred years old: draw each vertical miss as a *square*, and take the line with the least area.
#
# Below, that line follows you. Drag the two red points.
#
# 1. Lift A. Does the line turn, or does it rise? Now B, by as much.
# 2. Drag B far away from the others, up and down. Whose side does the line take?
# 3. The parabola is half the area, for every slope. What makes it narrow: high points, or far ones?

# %% covers="wu:1.1 wu:1.2.1"
# Drag the red points: the line of least squares follows.
explore(
    ls.draw_pull,
    drag={("x1", "y1"): "points", ("x2", "y2"): "points"},
    x1=slider(2.6, min=0, max=7.5, step=0.1, description="A: x"),
    y1=slider(2.5, min=0, max=6, step=0.1, description="A: y"),
    x2=slider(6, min=0, max=7.5, step=0.1, description="B: x"),
    y2=slider(2.2, min=0, max=6, step=0.1, description="B: y"),
)

# %% [markdown] covers="wu:1.1 wu:1.2.1 wu:1.2.2 guo:I.1.a"
# ## 2. How does one find it?
#
# Start with one unknown. Count the men's races in decades from their mean year, $x_i$, and in seconds from the mean
# time, $y_i$: pairs of *input* and *output*, the *training examples*. A line through the origin guesses $y_i$ by the
# *score* $s_i = x_i\beta$. $\beta$ is the *parameter*, $e_i = y_i - s_i$ the error
# (*residual*), half the area of the squares the *loss*
#
# $$L(\beta) = \tfrac12 \sum_i e_i^2, \qquad L'(\beta) = \sum_i e_i \cdot (-1) \cdot x_i = -\sum_i x_i e_i,$$
#
# by the chain rule: $\beta$ moves the score, the score the error, the error its square.
#
# The patient way is **gradient descent**: step against the slope of the loss, again and again:
# $\beta \leftarrow \beta - \eta\, L'(\beta)$, step size $\eta > 0$.
#
# Stuck? `hint(descend)` helps in three stages.


# %% exercise="descend" points=3 difficulty=1 covers="wu:1.1 wu:1.2.1 wu:1.2.2 guo:I.1.a"
def descend(x, y, beta, eta, tol, max_steps):
    """Gradient descent on L(beta), half the sum of (y - x * beta)².

    x, y (n,), n >= 1. beta: the start. eta > 0: the step size.
    Ends before a step where |L'(beta)| is at most tol, and after max_steps steps.
    Returns two arrays (k + 1,) after k steps: the values of beta, from the start
    on, and the loss of each.
    x = [1, 1], y = [2, 4], beta = 0, eta = 0.25, tol = 0, max_steps = 2 give
    [0, 1.5, 2.25] and [10, 3.25, 1.5625].
    """
    ### BEGIN SOLUTION
    slopes, losses = [], []
    for _ in range(max_steps + 1):
        e = y - x * beta
        derivative = -(x @ e)
        slopes.append(beta)
        losses.append(e @ e / 2)
        if abs(derivative) <= tol:
            break
        beta = beta - eta * derivative
    return np.array(slopes), np.array(losses)
    ### END SOLUTION


# %% check="descend"
check(descend)

# %% [markdown] covers="wu:1.2.1 wu:1.2.2 guo:I.1.a"
# **Or at one blow.** $L$ is a sum of parabolas, so a parabola itself, and its bottom is where $L' = 0$:
#
# $$\hat\beta = \frac{\sum_i x_i y_i}{\sum_i x_i^2}, \qquad L(\beta) = L(\hat\beta) + \tfrac12 \Big(\sum_i x_i^2\Big)
# (\beta - \hat\beta)^2 .$$
#
# There is one bottom, unless all $x_i$ are 0: then $L$ is flat. And since $L'(\beta) = \sum_i x_i^2\,(\beta - \hat\beta)$,
# a step of descent multiplies the distance to $\hat\beta$ by $1 - \eta\sum_i x_i^2$.

# %% predict="overshoot" minutes=1
predict(
    "overshoot",
    "The step size is η = 1.5 / Σx². What do the slopes of descent do?",
    [
        "they come nearer from one side",
        "they jump across the bottom each time, and come nearer",
        "they jump to and fro for ever",
        "they run away",
    ],
    truth=[0 <= 1 - 1.5 < 1, -1 < 1 - 1.5 < 0, 1 - 1.5 == -1, abs(1 - 1.5) > 1].index(
        True
    ),
    because="Each step multiplies the distance by 1 − 1.5 = −0.5: the sign changes, "
    "the size halves. Only from 2 / Σx² on it no longer shrinks.",
)

# %% covers="wu:1.2.1 wu:1.2.2 guo:I.1.a"
# Four step sizes on the men's races, from "nobody ever gets faster".
with after(descend, "overshoot"):
    x, y = ((v - v.mean()) for v in (men[:, 0] / 10, men[:, 1]))
    xx, best = x @ x, x @ y / (x @ x)
    scaled, paths, exact, parabola = (0.4, 1.5, 2, 2.05), [], [], []
    for c in scaled:
        slopes, losses = map(np.array, descend(x, y, 0.0, c / xx, 0.0, 6))
        exact.append(np.allclose(slopes - best, -best * (1 - c) ** np.arange(7)))
        lowest = ls.half_squares(0.0, best, x, y)
        parabola.append(np.allclose(losses, lowest + xx / 2 * (slopes - best) ** 2))
        paths.append(slopes)
    claim("each step multiplies the distance by 1 − η Σx² ({n} runs)", all(exact), n=4)
    claim("every loss lies on the parabola", all(parabola))
    at_once = descend(x, y, 0.0, 1 / xx, 1e-9, 9)[0]
    claim(
        "η = 1 / Σx² arrives in {k} step, at {slope:.3f} s per decade",
        len(at_once) == 2 and np.isclose(at_once[-1], best),
        k=len(at_once) - 1,
        slope=at_once[-1],
    )
    show(*ls.draw_descents(paths, x, y, [f"η = {c} / Σx²" for c in scaled]))

# %% [markdown] covers="explainers:2.1.box-olympics"
# ## 3. A line that need not pass the origin
#
# Why was it fair to subtract the means? Give the line an intercept $a$ and a slope $b$. Whatever $b$ is, the best $a$
# lets the errors cancel, since $\partial L/\partial a = -\sum_i e_i$: it is $a = \bar y - b\bar x$. So the best line passes
# through the point of means $(\bar x, \bar y)$, and seen from there it is a line through the origin:
#
# $$b = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}{\sum_i (x_i - \bar x)^2}.$$
#
# Now build a model for the rest of the notebook. It is a class: `Line(x, y)` calls its function
# `__init__(self, x, y)`, which stores what it keeps as `self.slope` and so on; `line.meets(other)` calls `meets` with
# `line` as its `self`.


# %% exercise="Line" points=4 difficulty=1 covers="explainers:2.1.box-olympics"
class Line:
    """The least-squares line of the rows (x, y): x, y (n,), n >= 1.

    It has .slope, .intercept, and .rss, the residual sum of squares: of its own rows.
    Where all x are equal, it is flat, at the mean of y. (The mean of three 0.1 is not
    0.1 to the last digit.)
    Line([0, 2, 4], [1, 2, 6]), both as arrays, has the slope 1.25, the intercept 0.5
    and the rss 1.5; it reaches 3 at x = 2.
    """

    def __init__(self, x, y):
        ### BEGIN SOLUTION
        centre = x.mean()
        xc = x - centre
        flat = x.max() == x.min()
        self.slope = 0.0 if flat else xc @ y / (xc @ xc)
        self.intercept = y.mean() - self.slope * centre
        residuals = y - self.predict(x)
        self.rss = residuals @ residuals
        ### END SOLUTION

    def predict(self, new_x):
        """Its heights at new_x (m,), an array (m,)."""
        ### BEGIN SOLUTION
        return self.intercept + self.slope * new_x
        ### END SOLUTION

    def reaches(self, height):
        """The x where it has that height; math.nan where it is flat."""
        ### BEGIN SOLUTION
        if self.slope == 0:
            return math.nan
        return (height - self.intercept) / self.slope
        ### END SOLUTION

    def meets(self, other):
        """The x where it and another Line are equally high; nan for equal slopes."""
        ### BEGIN SOLUTION
        steeper = self.slope - other.slope
        if steeper == 0:
            return math.nan
        return (other.intercept - self.intercept) / steeper
        ### END SOLUTION


# %% check="Line"
check(Line)

# %% open=true covers="explainers:2.1.box-olympics"
with after(Line):
    for_men, for_women = Line(*men.T), Line(*women.T)
    crossing = for_men.meets(for_women)
    games = 4 * math.ceil(crossing / 4)
    print(f"The lines cross in {crossing:.1f}; the next Games are those of {games}.")
    times = [float(line.predict(games)) for line in (for_men, for_women)]
    print(f"men {times[0]:.3f} s, women {times[1]:.3f} s")
    claim("the article's times", np.allclose(times, [8.098, 8.079], atol=5e-4))

# %% [markdown] covers="explainers:2.1.2"
# ## 4. It fits well. So?
#
# The article supports its lines by $R^2 = 0.882$ for men and $0.789$ for women. But *three* numbers have that name.
# For targets $y_i$ with mean $\bar y$ and predictions $f_i$ with mean $\bar f$:
#
# - the *explained share*, $\sum_i (f_i - \bar y)^2 / \sum_i (y_i - \bar y)^2$;
# - *one minus the missed share*, $1 - \sum_i (y_i - f_i)^2 / \sum_i (y_i - \bar y)^2$;
# - the *squared correlation* of $f$ and $y$, $\big(\sum_i (f_i - \bar f)(y_i - \bar y)\big)^2 \big/ \big(\sum_i (f_i - \bar f)^2
# \sum_i (y_i - \bar y)^2\big)$.
#
# Are they one number? Write all three, then try.


# %% exercise="r2" points=3 difficulty=1 covers="explainers:2.1.2"
def r2(y, f):
    """The three R² of predictions f for targets y.

    y, f (n,), y not all equal.
    Returns (explained, residual, correlation): the three formulas above. Where all f
    are equal, the third is 0.
    y = [1, 2, 3] and f = [2, 2, 4] give (2.0, 0.0, 0.75).
    """
    ### BEGIN SOLUTION
    yc, fc = y - y.mean(), f - f.mean()
    total = yc @ yc
    explained = np.sum((f - y.mean()) ** 2) / total
    residual = 1 - np.sum((y - f) ** 2) / total
    equal = f.max() == f.min()
    return explained, residual, 0.0 if equal else (fc @ yc) ** 2 / (fc @ fc * total)
    ### END SOLUTION


# %% check="r2"
check(r2)

# %% covers="explainers:2.1.2"
# Disease scores of 442 diabetes patients; 30 of them are the training rows.
patients = data.diabetes()
bmi, disease = patients.X[:, patients.names.index("bmi")], patients.y
order = np.random.default_rng(1).permutation(len(bmi))
few, rest = order[:30], order[30:]


# %% predict="too-steep" minutes=1
predict(
    "too-steep",
    "A line is fitted to 30 patients. Somebody makes its slope 1.7 times as large, and "
    "keeps it through the point of means. Which of the three R² of these 30 rows stays "
    "the same?",
    [
        "the explained share",
        "one minus the missed share",
        "the squared correlation",
        "none",
    ],
    truth=[
        np.isclose(a, b)
        for a, b in zip(
            ls.r_squared(disease[few], bmi[few]),
            ls.r_squared(disease[few], 1.7 * bmi[few] - 5),
        )
    ].index(True),
    because="A correlation knows neither scale nor shift. The explained share grows by "
    "1.7², though the predictions have become worse.",
)

# %% covers="explainers:2.1.2"
# The three R² of a line fitted to 30 patients: there, elsewhere, and spoilt.
with after(Line, r2, "too-steep"):
    line = Line(bmi[few], disease[few])
    own, middle = np.array(line.predict(bmi[few])), disease[few].mean()
    cases = {
        "its own 30 rows": r2(disease[few], own),
        "412 new rows": r2(disease[rest], np.array(line.predict(bmi[rest]))),
        "own rows, slope\n× 1.7": r2(disease[few], middle + 1.7 * (own - middle)),
        "own rows, all\n80 too high": r2(disease[few], own + 80),
    }
    error = disease[few] - own
    right_angles = [np.isclose(error @ v / 30, 0) for v in (np.ones(30), bmi[few])]
    claim("the errors are orthogonal to 1 and to x", all(right_angles))
    claim("on its own rows all three agree", np.ptp(cases["its own 30 rows"]) < 1e-10)
    found = [
        r2(table[:, 1], np.array(line.predict(table[:, 0])))[1]
        for table, line in ((men, for_men), (women, for_women))
    ]
    claim(
        "sprint: R² of {found[0]:.3f} and {found[1]:.3f}, as the article says",
        np.allclose(found, [0.882, 0.789], atol=5e-4),
        found=found,
    )
    show(*ls.draw_r2(cases))

# %% [markdown] covers="explainers:2.1.2"
# The three agree for a least-squares line with intercept on *its own rows*. There both derivatives of the loss are
# zero, $\sum_i e_i = \sum_i x_i e_i = 0$: the errors are orthogonal to the constant and to $x$, so to $f - \bar y$, and
# Pythagoras says $\sum_i (y_i - \bar y)^2 = \sum_i (f_i - \bar y)^2 + \sum_i (y_i - f_i)^2$. Anywhere else, trust the second: it counts every
# error, and falls below 0 where the mean would have been the better guess.
#
# So the article's $R^2$ are right. But they speak of the rows that made the line. Of 2156 they say nothing.

# %% [markdown] covers="explainers:2.1.box-olympics"
# ## 5. How sure is a line?
#
# A forecast without an interval is half a forecast. Suppose the truth *is* a line, and each race adds independent
# normal noise of one variance $\sigma^2$, estimated by $s^2 = \mathrm{RSS}/(n - 2)$, as two numbers were fitted (RSS is
# `.rss` of the line). Its height at $\bar x$ and its slope err independently, with variances $\sigma^2/n$ and
# $\sigma^2/\sum_i (x_i - \bar x)^2$. So with
#
# $$v(x) = \frac1n + \frac{(x - \bar x)^2}{\sum_i (x_i - \bar x)^2},$$
#
# its height at $x$ has the standard error $s\sqrt{v}$, the distance from it to a new target $s\sqrt{1 + v}$. To cover
# with probability *level*, multiply by the quantile of Student's $t$ with $n - 2$ degrees of freedom that leaves
# $(1 - \text{level})/2$ above it. (`stats.t.ppf(p, k)`, with $k$ degrees, leaves $p$ below.)


# %% exercise="forecast" points=4 difficulty=1 covers="explainers:2.1.box-olympics"
def forecast(x, y, new_x, level):
    """The fitted line at new inputs, with two half-widths.

    x, y (n,), n >= 3, x not constant. new_x (m,). level in (0, 1), such as 0.95.
    Returns three arrays (m,): the line, the half-width of the interval for the line
    itself, and that of the interval for a new target.
    x = [0, 1, 2], y = [0, 2, 1], new_x = [1], level = 0.5 give [1.0], [0.7071] and
    [1.4142]: s² = 1.5, v = 1/3, and the quantile of t is 1.
    """
    ### BEGIN SOLUTION
    n, centre = len(x), x.mean()
    xc = x - centre
    xx = xc @ xc
    b = xc @ y / xx
    residuals = y - y.mean() - b * xc
    s = np.sqrt(residuals @ residuals / (n - 2))
    v = 1 / n + (new_x - centre) ** 2 / xx
    q = stats.t.ppf((1 + level) / 2, n - 2)
    line = y.mean() + b * (new_x - centre)
    return line, q * s * np.sqrt(v), q * s * np.sqrt(1 + v)
    ### END SOLUTION


# %% check="forecast"
check(forecast)

# %% [markdown] covers="explainers:2.1.box-olympics"
# ## 6. Would you bet?
#
# Everything is in your hands now. Newspapers quoted intervals from the article: for 2008, 9.586 to 9.874 s for men and
# 10.34 to 10.80 s for women; for the crossing, 2064 to 2788. Four questions, answered below with your own functions:
#
# 1. Is the interval of 2156 narrow enough to tell 8.079 from 8.098?
# 2. How long are the lines believable at all?
# 3. Are the quoted intervals 95 % intervals?
# 4. When may the lines cross? Take all years in which they differ by less than their two uncertainties, added as
#    squares, since they are independent.

# %% covers="explainers:2.1.box-olympics"
# The answer to the question of the first screen.
with after(Line, forecast):
    tables = {"men": men, "women": women}
    half = {
        name: float(forecast(*table.T, np.array([2156.0]), 0.95)[2][0])
        for name, table in tables.items()
    }
    claim(
        "1. in 2156 a race may be {men:.2f} s (men), {women:.2f} s (women) off its "
        "line; the lines differ by {gap:.3f} s",
        min(half.values()) > 20 * (times[0] - times[1]),
        gap=times[0] - times[1],
        **half,
    )
    ends = [line.reaches(0) for line in (for_men, for_women)]
    claim(
        "2. the lines reach 0 seconds in {men:.0f} and {women:.0f}",
        times[1] > 0 and max(ends) < 3000,
        men=ends[0],
        women=ends[1],
    )
    quoted = {"men": (9.874 - 9.586) / 2, "women": (10.80 - 10.34) / 2}
    for name, table in tables.items():
        wide = float(forecast(*table.T, np.array([2008.0]), 0.95)[2][0])
        one = wide / stats.t.ppf(0.975, len(table) - 2)
        claim(
            "3. {name} in 2008: quoted ± {quoted:.3f} s, one standard error "
            "{one:.3f} s, 95 % ± {wide:.3f} s",
            abs(one - quoted[name]) < 0.005 < wide - quoted[name],
            name=name,
            quoted=quoted[name],
            one=one,
            wide=wide,
        )
    years = np.arange(2008.0, 4000.0, 4)
    told = np.array([forecast(*t.T, years, 0.95) for t in tables.values()])
    (low, a, _), (high, b, _) = told
    may = years[np.abs(high - low) <= np.hypot(a, b)]
    claim(
        "4. the lines may cross from {first:.0f} to {last:.0f}",
        may[0] < 2064 + 20 and may[-1] > 2788 + 100,
        first=may[0],
        last=may[-1],
    )
    a, b = (h / stats.t.ppf(0.975, len(t) - 2) for h, t in zip((a, b), tables.values()))
    may = years[np.abs(high - low) <= np.hypot(a, b)]
    claim(
        "4. quoted 2064 to 2788; by one standard error from {first:.0f} to {last:.0f}",
        may[0] > 2064 + 20 and may[-1] < 2788 - 100,
        first=may[0],
        last=may[-1],
    )

# %% [markdown] covers="explainers:2.1.box-olympics"
# No bet. Half an interval is already 23 times the difference for men, 50 times for women; the two ranges
# quoted for 2008 agree with *one* standard error, some 67 %, and that of the crossing does not: with one it would be 2100
# to 2276 (how the article computed them we do not know); and the crossing may come within a lifetime or in another
# millennium.
#
# Worse, all this trusts the *line*. Two other curves fit the data at least as well: a line in speed (100 m ÷ time), and a
# curve that levels off, $c + A\,e^{-(\text{year} - 1900)/\tau}$. **Play the years.** Where do the three part? Who is
# ahead in 2156, and when does the first woman arrive before she starts?

# %% covers="explainers:2.1.box-olympics"
# Play the years: three curves that the data can hardly tell apart.
explore(
    ls.sprint_explorer(men, women),
    play="year",
    year=IntSlider(2156, min=2008, max=2900, step=4, description="year"),
)

# %% predict="ten-races" minutes=1
predict(
    "ten-races",
    "Ten races were run from 2008 to 2024. How many were slower than the lines say?",
    ["2", "5", "8", "10"],
    truth=[2, 5, 8, 10].index(
        sum(
            int(np.sum(later[:, 1] > ls.intervals(*t.T, later[:, 0])[0]))
            for t, later in ((men, races.later_men), (women, races.later_women))
        )
    ),
    because="Only Usain Bolt in 2008 and 2012 was faster than his line. All ten lie in "
    "the 95 % intervals, which are wide; a curve that levels off misses by less.",
    then=lambda m=men, w=women, r=races: ls.draw_tested(
        m, w, r.later_men, r.later_women
    ),
)

# %% covers="explainers:2.1.box-olympics"
# The year of the crossing, had the authors chosen their races otherwise.
with after(Line):
    choices = {
        "as published": (men, women),
        "men from 1896 (one race more)": (races.men, women),
        "as published, up to 2024": (
            np.concatenate([men, races.later_men]),
            np.concatenate([women, races.later_women]),
        ),
    }
    for first in (1948, 1968, 1976):
        choices[f"both from {first}"] = [t[t[:, 0] >= first] for t in (men, women)]
    crossings = {name: Line(*m.T).meets(Line(*w.T)) for name, (m, w) in choices.items()}
    claim(
        "from 1976 on the women's line is the flatter one: crossed in {year:.0f}",
        crossings["both from 1976"] < 1896,
        year=crossings["both from 1976"],
    )
    show(*ls.draw_choices(crossings))

# %% [markdown] covers="explainers:2.1.box-olympics"
# ## Take-aways
#
# - Least squares: the line with the smallest area of squares. With one parameter $\hat\beta = \sum xy / \sum x^2$; with an
#   intercept, centre first.
# - The loss is a parabola. Descent multiplies the distance to its bottom by $1 - \eta\sum x^2$ a step.
# - The three $R^2$ agree only for a least-squares line with intercept on its own rows. On new rows use $1 - \text{RSS}/\text{TSS}$
#   (TSS: the sum of squares of $y$ around its mean).
# - An interval covers the noise and the uncertain coefficients. It does not cover a wrong model, and far from the data
#   the model is everything.
#
# Next: [[next]], many features at once. Below: why squares, why it is called regression, and a shadow.

# %% [markdown] covers="wu:1.2.3 wu:1.2.4 guo:I.1.b"
# ## Deeper: the shadow of Y
#
# Turn the table on its side. With $n = 3$ examples the inputs are *one* arrow $\mathbf X$ in three dimensions, one axis
# a row, the outputs another, $\mathbf Y$. The predictions $\mathbf X\beta$, for all $\beta$, are a line through the
# origin. Which of its points is nearest to $\mathbf Y$? Drag $\beta$ along the right panel, and turn the arrows.

# %% covers="wu:1.2.4"
# Drag β: where is the error shortest, and at which angle does it stand?
explore(
    ls.draw_projection,
    drag={"beta": "shadow"},
    beta=slider(0.5, min=-0.3, max=1.7, step=0.01, description="β"),
    turn=slider(
        -60,
        min=-180,
        max=180,
        step=5,
        description="turn (degrees)",
        readout_format=".0f",
    ),
)

# %% [markdown] covers="wu:1.2.3 wu:1.2.4 guo:I.1.b"
# The nearest point is the foot of the perpendicular, $\mathbf X^\top(\mathbf Y - \mathbf X\hat\beta) = 0$. That is
# $L'(\hat\beta) = 0$, read as geometry. Sums become inner products,
# $\hat\beta = \mathbf X^\top\mathbf Y / \mathbf X^\top\mathbf X$, and with $\theta$ the angle between the two arrows
#
# $$\cos\theta = \frac{\mathbf X^\top\mathbf Y}{\lVert\mathbf X\rVert\,\lVert\mathbf Y\rVert}, \qquad
# \lVert\mathbf Y - \mathbf X\hat\beta\rVert = \lVert\mathbf Y\rVert \sin\theta.$$
#
# This is more than shorthand. A loop over rows and an inner product do the same $2n$ multiplications, but the loop
# asks Python what to do next each time; the product is one call, on any device. Write it without a loop.


# %% exercise="project" points=2 difficulty=1 covers="wu:1.2.3 wu:1.2.4 guo:I.1.b guo:I.1.a"
def project(Y, X):
    """The shadow of Y on the line through X, what is left of Y, and the cosine.

    X, Y (n,). Returns (shadow (n,), error (n,), cosine of the angle).
    Where X is the zero vector, the shadow is 0; where X or Y is, so is the cosine.
    (A vector of 1e-100 is not zero.)
    X = [1, 1], Y = [1, 3] give [2, 2], [-1, 1] and 0.8944.
    """
    ### BEGIN SOLUTION
    beta = X @ Y / (X @ X) if X.any() else 0.0
    shadow = beta * X
    lengths = np.linalg.norm(X) * np.linalg.norm(Y)
    cosine = X @ Y / lengths if lengths > 0 else 0.0
    return shadow, Y - shadow, cosine
    ### END SOLUTION


# %% check="project"
check(project)

# %% predict="raw-cosine" minutes=1
predict(
    "raw-cosine",
    "Heights of fathers and sons correlate by about 0.5: that is the cosine of the "
    "angle between the two vectors once their means are taken off. What is the cosine "
    "of the raw vectors?",
    ["about 0.25", "about 0.5", "about 0.87", "above 0.99"],
    truth=int(
        np.digitize(
            (lambda x, y: x @ y / np.sqrt(x @ x * (y @ y)))(
                *ls.heights(2000, np.random.default_rng(0))
            ),
            [0.35, 0.7, 0.99],
        )
    ),
    because="All heights are near 173 cm, so both arrows point almost along "
    "(1, 1, …, 1). A cosine says something of the relation only after centring.",
)

# %% covers="wu:1.2.3 wu:1.2.4 guo:I.1.b"
# A right angle, Pythagoras, a matrix that projects; one slope, computed three times.
with after(project, "raw-cosine"):
    X, Y = np.random.default_rng(2).normal(1, 1, (2, 8))
    shadow, error, cosine = map(np.array, project(Y, X))
    claim("the error is perpendicular to X", np.isclose(error @ X, 0))
    claim(
        "projecting twice is projecting once",
        np.allclose(project(shadow, X)[0], shadow),
    )
    claim("Pythagoras", np.isclose(shadow @ shadow + error @ error, Y @ Y))
    length = np.linalg.norm(Y) * np.sqrt(1 - cosine**2)
    claim("|e| = |Y| sin θ", np.isclose(np.linalg.norm(error), length))
    P = np.outer(X, X) / (X @ X)
    claim("the matrix XXᵀ/XᵀX does it too", np.allclose(P @ Y, shadow))
    top = bottom = 0.0
    for one, other in zip(X, Y):
        top, bottom = top + one * other, bottom + one * one
    on_device = [torch.tensor(v, dtype=torch.float32, device=device()) for v in (X, Y)]
    slopes = [top / bottom, shadow[0] / X[0]]
    slopes.append(float(on_device[0] @ on_device[1] / (on_device[0] @ on_device[0])))
    claim("loop, inner product and device agree", np.ptp(slopes) < 1e-5)
    fathers, sons = ls.heights(2000, np.random.default_rng(0))
    raw = float(project(sons, fathers)[2])
    centred = float(project(sons - sons.mean(), fathers - fathers.mean())[2])
    claim("heights: cosine {raw:.3f}, centred {r:.2f}", raw > 0.99, raw=raw, r=centred)

# %% [markdown] covers="guo:I.1 wu:1.2.5 explainers:2.1.3 wu:1.1"
# ## Deeper: why it is called regression
#
# Behind a data set stands a process that we do not see: nature draws $x \sim P(x)$, then $y \sim P(y \mid x)$. Here we
# play nature ourselves: heights of $n$ fathers, $x$, and of their sons, $y$. **Standardised** values have mean 0 and
# standard deviation 1, $\tilde x_i = (x_i - \bar x)/\sigma_x$ with $\sigma_x^2 = \frac1n\sum_i (x_i - \bar x)^2$. For
# them the least-squares slope is the *correlation* $r = \frac1n \sum_i \tilde x_i\tilde y_i$, and $|r| \le 1$, as it is a
# cosine.
#
# Galton saw in 1886 that children of tall parents are tall, but less so. He called it regression. **Find out:** how tall
# are the *fathers* of the tallest sons? Which correlation undoes it? How large must $n$ be until the line keeps still?

# %% covers="guo:I.1 wu:1.2.5 explainers:2.1.3"
# Choose the tallest tenth of the fathers, or of the sons, and look at their partners.
explore(
    ls.draw_regression,
    rho=slider(0.5, min=-1, max=1, step=0.05, description="process ρ"),
    n=SelectionSlider(
        value=4000,
        options=[20, 80, 320, 1280, 4000],
        description="rows n",
        continuous_update=False,
    ),
    reverse=Checkbox(False, description="choose the sons"),
)

# %% [markdown] covers="explainers:2.1.3 wu:1.2.5"
# Choose things for an extreme result, measure them again, and on average they will be less extreme. Write the experiment.


# %% exercise="extremes" points=2 difficulty=1 covers="explainers:2.1.3 wu:1.2.5"
def extremes(first, second, count):
    """How far out the `count` largest of `first` are, in both measurements.

    first, second (n,): two measurements of the same n things, neither constant.
    1 <= count <= n. Both are standardised over all n rows (1/n in the variance).
    Chosen are the rows with the largest `first`; of equal ones, the earlier rows.
    Returns (r, then, later): the correlation of the two measurements, and the mean
    standardised first and second value of the chosen.
    first = [1, 2, 3], second = [2, 6, 4], count = 1 give (0.5, 1.2247, 0.0).
    """
    ### BEGIN SOLUTION
    z, w = ((v - v.mean()) / v.std() for v in (first, second))
    r = np.mean(z * w)
    order = np.argsort(-first, kind="stable")
    chosen = order[:count]
    return r, z[chosen].mean(), w[chosen].mean()
    ### END SOLUTION


# %% check="extremes"
check(extremes)

# %% predict="extra-lessons" minutes=1
predict(
    "extra-lessons",
    "A school tests 4000 pupils, gives the worst tenth extra lessons, and tests again: "
    "they are better. The lessons do nothing at all. Ability and the luck of the day "
    "have equal variances. By how much does the group's distance to the mean shrink?",
    ["not at all", "by about a tenth", "by about a half", "it vanishes"],
    truth=[0, 0.1, 0.5, 1].index(1 - 1 / (1 + 1)),
    because="Two tests correlate by 0.5, the share of ability in the variance. Whoever "
    "was chosen for a bad result had bad luck, on average, and luck does not repeat.",
)

# %% covers="explainers:2.1.3 wu:1.2.5"
# Fathers, sons and pupils; and a slope that is no correlation.
with after(Line, extremes, "extra-lessons"):
    fathers, sons = ls.heights(20_000, np.random.default_rng(5))
    r, then, later = extremes(fathers, sons, 2000)
    back = extremes(sons, fathers, 2000)[2]
    claim(
        "tall fathers: {then:.2f}, their sons {later:.2f}; the fathers of tall sons "
        "{back:.2f}",
        max(later, back) < 0.6 * then,
        then=then,
        later=later,
        back=back,
    )
    claim("yet sons vary as much", abs(sons.std() / fathers.std() - 1) < 0.03)
    ability, luck, luck2 = np.random.default_rng(6).normal(size=(3, 20_000))
    _, then, later = extremes(-ability - luck, -ability - luck2, 2000)
    claim("pupils: {q:.2f} is left", abs(later / then - 0.5) < 0.03, q=later / then)
    X = np.random.default_rng(7).normal(0, 2, 100_000)
    Y = 1.5 * X + np.random.default_rng(8).normal(size=X.size)
    slope, r = Line(X, Y).slope, extremes(X, Y, 1)[0]
    claim(
        "centred only: slope {slope:.2f}, correlation {r:.2f}, r σy/σx {s:.2f}",
        np.isclose(slope, r * Y.std() / X.std()) and slope > 1.4,
        slope=slope,
        r=r,
        s=r * Y.std() / X.std(),
    )

# %% [markdown] covers="explainers:2.1.3 wu:1.2.5"
# It goes both ways in time, so no force is at work, and nobody grows more alike: extreme sons have, on average,
# less extreme fathers, and somebody new becomes extreme. It is what $|r| < 1$ looks like after *selection by an extreme value*: the
# curse on athletes on the cover page, the cure after the worst day of a cold, the second album.
#
# In real units the slope is $b = r\,\sigma_y/\sigma_x$, which may exceed 1. (The mean of $Y$ given $X = x$ is $\rho x$ in
# standard units, with $\rho$ the correlation of the process, where that mean is a straight line, as for normal pairs.)

# %% [markdown] covers="explainers:2.1.1 guo:I.2.b wu:1.5.1 moon:5.1.1 wu:6.9.4"
# ## Deeper: why squares? Because of Gauss
#
# Suppose nature adds normal noise: $y_i \mid x_i \sim N(s_i, \sigma^2)$, independent from row to row. The *likelihood*
# is the density of the data that we have, seen as a function of the parameters: a product over the rows. Its
# logarithm is a sum,
#
# $$J = -\frac n2 \log(2\pi\sigma^2) - \frac{1}{2\sigma^2} \sum_i e_i^2 .$$
#
# The line is in the last sum only: for every $\sigma$, *the most likely line is the least-squares line*. And $J$ is largest
# in $\sigma$ at $\hat\sigma^2 = \text{RSS}/n$. Then **drag the bells**: which $\sigma$ does a bad slope want? What punishes a
# bell that is too narrow, and what one that is too wide?


# %% exercise="gauss_loglik" points=2 difficulty=1 covers="explainers:2.1.1 guo:I.2.b wu:1.5.1 moon:5.1.1 wu:6.9.4"
def gauss_loglik(errors, sigma):
    """Log-likelihood of errors (n,), n >= 1: independent draws from N(0, sigma²).

    sigma > 0: the standard deviation. Natural logarithm of the joint density, with
    all its constants; finite, also where the density itself is too small for a float.
    errors = [2.0], sigma = 1 give -2.9189.
    """
    ### BEGIN SOLUTION
    constant = len(errors) / 2 * np.log(2 * np.pi * sigma**2)
    return -constant - errors @ errors / (2 * sigma**2)
    ### END SOLUTION


# %% check="gauss_loglik"
check(gauss_loglik)

# %% covers="wu:1.5.1 moon:5.1.1"
# Drag the red dot: a slope and a σ, and how likely the data are under both.
bell_x = np.random.default_rng(11).uniform(1, 5, 20)
bell_y = 1.5 * bell_x + np.random.default_rng(12).normal(size=20)
explore(
    ls.likelihood_explorer(bell_x, bell_y),
    drag={("slope", "sigma"): "bell"},
    slope=slider(1.1, min=0.6, max=2.4, step=0.02, description="slope β"),
    sigma=FloatLogSlider(
        2, min=-0.5, max=0.6, step=0.02, description="noise σ", continuous_update=False
    ),
)

# %% covers="explainers:2.1.1 guo:I.2.b wu:1.5.1 moon:5.1.1 wu:6.9.4"
# The most likely line, for several σ; the most likely σ, and its bias; vectors.
with after(Line, gauss_loglik):
    line = Line(bell_x, bell_y)
    errors = bell_y - line.predict(bell_x)
    for sigma in (0.5, 1.0, 3.0):
        others = [
            gauss_loglik(errors - da - db * bell_x, sigma)
            for da, db in rng.normal(0, 0.1, (100, 2))
        ]
        claim(
            "σ = {sigma}: each of {n} other lines is less likely",
            max(others) < gauss_loglik(errors, sigma),
            sigma=sigma,
            n=len(others),
        )
    widths = np.sqrt(line.rss / 20) * np.linspace(0.5, 2, 151)  # the 51st is RSS/n
    likely = np.argmax([gauss_loglik(errors, sigma) for sigma in widths])
    claim("the most likely σ² is RSS/n", likely == 50)
    X, noise = np.arange(8.0), 1.5 * np.random.default_rng(13).normal(size=(20_000, 8))
    design = np.column_stack([np.ones(8), X])
    left = noise - noise @ (design @ np.linalg.pinv(design)).T
    mean, theory = np.mean(left**2), 1.5**2 * (8 - 2) / 8
    claim(
        "on 8 rows RSS/n is {mean:.2f} on average, by theory σ²(n − 2)/n = {theory:.2f}"
        ", where σ² = 2.25",
        abs(mean - theory) < 0.03,
        mean=mean,
        theory=theory,
    )
    vector = torch.tensor(errors)
    normal = torch.distributions.Normal(torch.zeros(20).double(), 0.7)
    same = np.isclose(float(normal.log_prob(vector).sum()), gauss_loglik(errors, 0.7))
    claim("one vector of {d} numbers has the same log density", same, d=len(errors))

# %% [markdown] covers="moon:5.1.1 wu:6.9.4 explainers:2.1.1"
# The line has bent towards the noise of its own rows, so $\hat\sigma^2$ is too small; dividing by $n - 2$ mends it. And nothing
# says that the rows are *rows*: for one vector of $d$ numbers the formula is the same,
# $-\log p = \frac{1}{2\sigma^2}\lVert y - s\rVert^2 + \frac d2 \log(2\pi\sigma^2)$. That is why a diffusion model, whose
# denoising step is $x_{t-1} \sim N(x_t + \sigma^2 s_\theta(x_t, t),\ \sigma^2 I)$ with a network $s_\theta$, is trained with
# a squared error: [[15/03]].
#
# Other noise, other loss. With **Laplace** noise, of density proportional to $e^{-|e|/c}$, the same argument gives the
# sum of *absolute* errors.

# %% [markdown] covers="explainers:2.1.1.box-residuals wu:1"
# ## Deeper: is the noise normal?
#
# The usual defence: an error is the sum of many small influences, and such sums are nearly normal, by the *central limit
# theorem*. The small print: *many*, *independent*, each of *finite variance*, *none dominating*.
#
# Two numbers tell: *skewness*, the mean of $z^3$, and *excess kurtosis*, the mean of $z^4$ less 3, of standardised errors
# $z$. Both are 0 for a normal; for sums of $k$ independent effects of one kind they shrink like $1/\sqrt k$ and
# $1/k$, if the fourth moment is finite. **Try all four kinds:** which is cured by $k = 10$, which two never?

# %% covers="explainers:2.1.1.box-residuals"
# Sums of k effects: normal errors would lie on the dashed lines.
explore(
    ls.draw_sums,
    kind=Dropdown(
        value="exponential",
        options=["uniform", "exponential", "one dominates", "Cauchy"],
        description="effects",
    ),
    k=SelectionSlider(
        value=1,
        options=[1, 2, 3, 5, 10, 30, 100],
        description="k",
        continuous_update=False,
    ),
)


# %% exercise="skew_kurt" points=2 difficulty=1 covers="explainers:2.1.1.box-residuals"
def skew_kurt(x):
    """Skewness and excess kurtosis of a sample: mean of z³, and mean of z⁴ less 3.

    x (n,): not all equal. z: x standardised, with 1/n in the variance.
    Returns two numbers. x = [0, 0, 0, 4] gives (1.1547, -0.6667).
    """
    ### BEGIN SOLUTION
    z = (x - x.mean()) / x.std()
    return np.mean(z**3), np.mean(z**4) - 3
    ### END SOLUTION


# %% check="skew_kurt"
check(skew_kurt)

# %% covers="explainers:2.1.1.box-residuals explainers:2.1.1 wu:1"
# Sums of effects, real residuals, and which loss wins with which noise.
with after(Line, skew_kurt):
    for k in (1, 3, 10):
        kurtosis = skew_kurt(ls.sums("uniform", k, 100_000, np.random.default_rng(k)))[
            1
        ]
        claim(
            "sums of {k} uniform effects: kurtosis {kurtosis:.2f}, by theory −1.2/k",
            abs(kurtosis + 1.2 / k) < 0.06,
            k=k,
            kurtosis=kurtosis,
        )
    quartiles = [
        np.quantile(ls.sums("Cauchy", k, 20_000, np.random.default_rng(k)) / k, 0.75)
        for k in (1, 30)
    ]
    claim(
        "a mean of 30 Cauchys is as wide as one", np.allclose(quartiles, 1, atol=0.06)
    )
    rows = {"diabetes": (bmi, disease), "men": men.T, "women": women.T}
    for name, (u, v) in rows.items():
        errors = v - Line(u, v).predict(u)
        skew, kurtosis = skew_kurt(errors)
        p = stats.shapiro(errors).pvalue
        print(
            f"{name:8} n = {len(u):3}: skewness {skew:5.2f}, kurtosis {kurtosis:5.2f}, "
            f"Shapiro–Wilk p = {p:.2f}"
        )
    for kind in ("normal", "Laplace"):
        by_squares, by_sizes = ls.slope_errors(
            kind, 25, 8000, np.random.default_rng(13)
        )
        claim(
            "{kind} noise: RMS error of the slope {squares:.4f} by squares, "
            "{sizes:.4f} by absolute values",
            (by_squares < by_sizes) == (kind == "normal"),
            kind=kind,
            squares=by_squares,
            sizes=by_sizes,
        )
    u = men[:, 0] - men[:, 0].mean()
    c = u / (u @ u)  # least squares through the origin is Σ cᵢ yᵢ, with c·u = 1
    other = rng.normal(size=(500, len(u)))
    other += np.outer(1 - other @ u, c)
    claim(
        "Gauss–Markov: of {n} other weights with cᵀX = 1 none is shorter",
        (np.linalg.norm(other, axis=1) >= np.linalg.norm(c)).all(),
        n=len(other),
    )

# %% [markdown] covers="explainers:2.1.1.box-residuals wu:1"
# The p-value says about how often normal errors would give residuals that look at least as odd. With 442 patients the departure shows: tails too
# light. With two dozen races nothing can be seen, which does not prove that the noise *is* normal.
#
# Does it matter? Least squares needs no Gauss to be good. **Gauss–Markov**: if errors have mean 0, equal variances
# $\sigma^2$ and are uncorrelated, it has the smallest variance of all estimators $\sum_i c_i y_i$ that are unbiased.
# (Through the origin: unbiased means $\mathbf c^\top\mathbf X = 1$, the variance is $\sigma^2 \lVert\mathbf c\rVert^2$, and by
# Cauchy–Schwarz $\lVert\mathbf c\rVert \ge 1/\lVert\mathbf X\rVert$.) For large $n$ tests of coefficients do not mind
# either. The interval of *one new race* does: a single error counts there, and nothing averages it out.

# %% [markdown] written="why_not_2156" points=3 minutes=5 covers="explainers:2.1.box-olympics"
# ## Deeper: a friend says
#
# "All ten races of 2008 to 2024 lie inside the 95 % intervals of the straight lines. So the model is confirmed, and in
# 2156 the women will run 8.08 s, give or take a second." What is wrong with this? Say what the interval leaves out,
# why the ten races are a weak test, and how you would speak about 2156.
#
# ### BEGIN SOLUTION
# The interval covers noise around the line and the uncertainty of its two coefficients, *given that the truth is a line
# for ever*. It leaves out that the model may be wrong, and for 2156 that is what counts: models that fit the past as
# well differ there by one to two seconds, and the line itself leads to negative times.
#
# The ten races lie within 20 years of the data, where all models nearly agree, and the intervals are wide: they would
# hold almost any race of our time. Nor do the ten scatter around the lines: eight are slower.
#
# Better: say that nobody knows; give the forecasts of several plausible models; trust a line only near the data.
#
# **Rubric**
#
# - 1: the interval holds only if the line is the truth; it leaves out the error of the model
# - 1: near the data all models agree (or: the intervals are wide, or eight of ten lie on one side)
# - 1: names a better way: several models, no forecast far outside the data, or a physical limit
# ### END SOLUTION

# %% [markdown] covers="wu:1 guo:I"
# ## Deeper: a map of what comes next
#
# Much of this course is your line with one part replaced. A score, an error and a gradient
# $-\sum_i (\text{input}_i)\, e_i$ stay (at [[01/05]] the inputs are the hinges):
#
# | where | score | error | new |
# |---|---|---|---|
# | [[01/02]] | $x_i^\top\beta$ | $y_i - s_i$ | many features |
# | [[01/05]] | $\sum_j \beta_j \max(0, x_i - k_j)$ | $y_i - s_i$ | kinks at $k_j$ |
# | [[02/02]] | $x_i^\top\beta$ | $y_i - \mathrm{sigmoid}(s_i)$ | labels 0 and 1 |
# | [[02/01]] | $x_i w + b$ | label, if wrong, else 0 | no probability |
#
# One weight, fitted to 200 pairs in five ways; the last two see only the *sign* of $y$. What must agree?


# %% covers="guo:I wu:1" demo=true
# Five models of one weight.
def fit(model, x, y):
    w, label = 0.0, np.sign(y)
    if model == "least squares":
        return x @ y / (x @ x)
    if model == "maximum likelihood":
        return minimize_scalar(lambda w: -stats.norm.logpdf(y, w * x, 2).sum()).x
    if model == "perceptron":  # a row that is misclassified adds itself
        for u, v in zip(np.tile(x, 5), np.tile(label, 5)):
            w += u * v if u * w * v <= 0 else 0.0
        return w
    for _ in range(400):  # descent: input times error, summed
        s = x * w
        e = y - s
        if model == "logistic model":
            e = (label + 1) / 2 - 1 / (1 + np.exp(-s))
        w += 0.5 / (x @ x) * (x @ e)
    return w


u = np.random.default_rng(15).normal(size=200)
v = 0.8 * u + 0.5 * np.random.default_rng(16).normal(size=200)
models = ("least squares", "maximum likelihood", "gradient descent")
w = {model: fit(model, u, v) for model in (*models, "logistic model", "perceptron")}
claim(
    "least squares, likelihood and descent: one weight, {w:.2f}",
    np.ptp([w[model] for model in models]) < 1e-6,
    w=w["least squares"],
)
claim("all five call y positive where x is", min(w.values()) > 0)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:1.2.1 wu:1.2.3 wu:1.2.4 wu:1.2.5 wu:1.5.1"
# wu, sections 1.2 and 1.5.
e = np.array([1.0, 2.0, 3.0])
half_sum = e @ e / 2
erratum(
    "wu:1.2.1",
    quote="When divided by n, this function is known as Mean Squared Error (MSE).",
    corrected=r"$2L/n$ is the mean squared error: $L$ has the factor $\frac12$",
    printed_holds=np.isclose(half_sum / 3, np.mean(e**2)),
    corrected_holds=np.isclose(2 * half_sum / 3, np.mean(e**2)),
    decoy_holds=np.isclose(4 * half_sum / 3, np.mean(e**2)),
)
erratum(
    "wu:1.2.3",
    quote=r"Error vector  $\mathbf{e} = \mathbf{Y} \mathbf{X}\hat{\beta}$",
    corrected=r"$\mathbf e = \mathbf Y - \mathbf X\hat\beta$",
    kind="copy",
)
erratum(
    "wu:1.2.4",
    quote=(
        r"the angle $\boldsymbol{\theta}$ indicates the alignment between "
        r"$\mathbf{X}$ and $\mathbf{Y}$"
    ),
    corrected=(
        r"in 1.2.5 $\theta$ is another angle, between the *standardised* vectors: only "
        r"its cosine is the correlation"
    ),
    kind="convention",
)
r = float(np.corrcoef(np.arange(4), 3 + 2 * np.arange(4))[0, 1])
erratum(
    "wu:1.2.5",
    quote=r"For positive correlation,  $\beta$  is always less than 1",
    corrected=r"$\beta = r \le 1$, with equality where all points lie on a rising line",
    kind="broad",
    printed_holds=r < 1 - 1e-12,
    corrected_holds=np.isclose(r, 1),
)
erratum(
    "wu:1.5.1",
    quote=(
        r"$p(y_i|s_i) \sim \mathcal{N}(s_i, \sigma^2) = "
        r"\frac{1}{\sqrt{2\pi\sigma^2}}$"
    ),
    corrected=r"$y_i \mid s_i \sim N(s_i, \sigma^2)$ with the density $p(y_i|s_i) = …$",
    kind="convention",
)

# %% demo=true covers="explainers:2.1.2 explainers:2.1.3"
# explainers, section 2.1.
seeded = np.random.default_rng(16)
X, X_new = seeded.normal(size=(2, 20))
Y, Y_new = (2 * v + seeded.normal(size=20) for v in (X, X_new))
intercept, slope = ls.fit_line(X, Y)
erratum(
    "explainers:2.1.2",
    quote=(
        r"it can be shown that it is equal to the square of the Pearson correlation "
        r"between  $Y$  and  $f_\theta(\mathbf{X})$"
    ),
    corrected=(
        r"for the least-squares fit with intercept, on the rows that it was fitted to"
    ),
    kind="broad",
    printed_holds=np.ptp(ls.r_squared(Y_new, intercept + slope * X_new)[1:]) < 1e-9,
    corrected_holds=np.ptp(ls.r_squared(Y, intercept + slope * X)[1:]) < 1e-9,
)
X = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
Y = 1.5 * X + np.array([1.0, -1.0, 0.0, -1.0, 1.0])  # both centred
slope, rho = X @ Y / (X @ X), np.corrcoef(X, Y)[0, 1]
erratum(
    "explainers:2.1.3",
    quote=r"so if $X$ and $Y$ are centred then $\mathbb{E}[Y|X] = \rho X$",
    corrected=r"$\rho\,(\sigma_Y/\sigma_X)\,X$, or $\rho X$ if both are standardised",
    printed_holds=np.isclose(slope, rho),
    corrected_holds=np.isclose(slope, rho * Y.std() / X.std()),
    decoy_holds=np.isclose(slope, rho * X.std() / Y.std()),
)
rho = np.corrcoef(X, -X)[0, 1]
erratum(
    "explainers:2.1.3",
    quote=(
        r"the expected value of $Y$ is closer to the mean than $X$ unless $\rho = 1$"
    ),
    corrected=r"unless $|\rho| = 1$ (in standard units, and $X$ not at its mean)",
    kind="broad",
    printed_holds=bool(abs(rho) < 1 - 1e-12),  # ρ = −1: just as far
    corrected_holds=np.isclose(abs(rho), 1),
)

# %% demo=true covers="guo:I.1 guo:I.1.a guo:I.1.b"
# guo, section I.1: words and letters.
erratum(
    "guo:I.1",
    quote=(
        r"function $f : \mathcal{X} \rightarrow \mathcal{Y}$ that maps $x$ to $y$. "
        r"This is called a **deep neural network**."
    ),
    corrected="a deep network is one family of such functions; a line is another",
    kind="convention",
)
erratum(
    "guo:I.1",
    quote=(
        "However, these labels are **unknown**. We want our **predictive model** to "
        "match these distributions"
    ),
    corrected="the labels are given; what is unknown is the distribution behind them",
    kind="convention",
)
erratum(
    "guo:I.1.a",
    quote=r"$\arg \min_w = \frac{1}{N} \sum_{n=1}^N$",
    corrected=r"$\arg\min_w \frac1N \sum_{n=1}^N (w x_n - y_n)^2$, without the $=$",
    kind="convention",
)
erratum(
    "guo:I.1.b",
    quote=r"$[x_1 \quad x_2 \quad \cdots \quad x_n]^T$",
    corrected=r"the last is $x_N$: there are $N$ rows, and $n$ counts them",
    kind="convention",
)

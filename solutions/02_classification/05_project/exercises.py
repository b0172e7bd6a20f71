"""Exercises of 02_classification/05_project. The student chooses the method; the cases ask what it is worth."""

import math

import numpy as np
import torch
from scipy import stats

from descent import data
from descent.compare import at_most, close, exact, log_loss, parts, within
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- split

stratified = Exercise(
    "stratified",
    reference=lambda y, share, seed: {
        "rows": torch.arange(len(y)),
        "test rows of class 0": _cut(int((y == 0).sum()), share),
        "test rows of class 1": _cut(int((y == 1).sum()), share),
        "the same for the same generator": True,
        "always the same rows": False,
        "neighbours in the table": False,
    },
    compare=exact(),
    data_dependent="Python's round says how many rows are tested",
    hints=[
        "Where few are ill, a random split may put none of them into the test set. What if you split the ill and the healthy separately?",
        "For each class: its row numbers, shuffled; the first k of them are test rows. k differs from class to class.",
        "for c in (0, 1): rows = rng.permutation(np.flatnonzero(y == c)); k = round(share * len(rows)), clipped to 1 … len(rows) - 1. "
        "Join the pieces with np.concatenate.",
    ],
)


@stratified.probe
def _(answer, y, share, seed):
    train, test = (
        np.asarray(rows)
        for rows in answer(y.copy(), share, np.random.default_rng(seed))
    )
    again = answer(y.copy(), share, np.random.default_rng(seed))[1]
    others = [
        answer(y.copy(), share, np.random.default_rng(seed + i))[1] for i in range(1, 6)
    ]
    jumps = [
        np.count_nonzero(
            np.diff(np.flatnonzero(np.isin(np.flatnonzero(y == 0), rows))) != 1
        )
        for rows in (test, *others)
    ]
    k = int(np.sum(y[test] == 0))
    return {
        "rows": np.sort(np.concatenate([train, test])),
        "test rows of class 0": int(np.sum(y[test] == 0)),
        "test rows of class 1": int(np.sum(y[test] == 1)),
        "the same for the same generator": bool(
            np.array_equal(np.sort(again), np.sort(test))
        ),
        "always the same rows": all(
            np.array_equal(np.sort(rows), np.sort(test)) for rows in others
        ),
        "neighbours in the table": 1 < k < np.sum(y == 0) - 2 and max(jumps) <= 1,
    }


def _cut(n, share):
    return max(1, min(n - 1, round(share * n)))


@stratified.cases
def _(rng):
    def case(healthy, ill, share):
        y = rng.permutation(np.repeat([0, 1], [healthy, ill]))
        return dict(y=y, share=share, seed=int(rng.integers(1000)))

    yield "every row is in one set, each class has its share", case(60, 40, 0.25)
    yield "every row is in one set, each class has its share", case(33, 27, 0.4)
    yield "a rare class is in both sets", case(57, 3, 0.1)
    yield "a large share leaves a training row of each class", case(19, 4, 0.95)


def _by_class(y, rng, cut):
    train, test = [], []
    for c in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == c))
        test += list(rows[: cut(len(rows))])
        train += list(rows[cut(len(rows)) :])
    return np.array(train), np.array(test)


@stratified.wrong(
    "a rare class may vanish from the test set",
    advice="What is round(0.1 * 3)? Each class needs a row on both sides.",
)
def _(y, share, rng):
    return _by_class(y, rng, lambda n: round(share * n))


@stratified.wrong(
    "one split for both classes",
    advice="It has the right size. How many of the ill are in the test set?",
)
def _(y, share, rng):
    rows = rng.permutation(len(y))
    k = round(share * len(y))
    if np.sum(y[rows[:k]]) == _cut(int(y.sum()), share):  # right by luck: show another
        rows = np.argsort(y, kind="stable")
    return rows[k:], rows[:k]


@stratified.wrong(
    "both classes get the same number of test rows",
    advice="The share of each class counts, not a fixed number.",
)
def _(y, share, rng):
    k = _cut(len(y), share) // 2
    return _by_class(y, rng, lambda n: min(k, n - 1))


@stratified.wrong(
    "train and test are swapped",
    advice="`share` is the share of the test rows, and the test rows come second.",
)
def _(y, share, rng):
    train, test = _by_class(y, rng, lambda n: _cut(n, share))
    return test, train


@stratified.wrong(
    "the first rows of each class",
    advice="Tables are sorted by somebody. Draw with the generator.",
)
def _(y, share, rng):
    test = [np.flatnonzero(y == c)[: _cut(int(np.sum(y == c)), share)] for c in (0, 1)]
    test = np.concatenate(test)
    return np.setdiff1d(np.arange(len(y)), test), test


@stratified.wrong(
    "a part of a row counts as a whole",
    advice="What is round(0.4 * 33)? Round, do not cut off or up.",
)
def _(y, share, rng):
    return _by_class(y, rng, lambda n: max(1, min(n - 1, math.ceil(share * n))))


@stratified.wrong(
    "a block of neighbours from each class",
    advice="Where a block begins is drawn, but its rows are neighbours: one month, one hospital. Shuffle.",
)
def _(y, share, rng):
    test = []
    for c in (0, 1):
        rows = np.flatnonzero(y == c)
        test.append(
            np.roll(rows, int(rng.integers(len(rows))))[: _cut(len(rows), share)]
        )
    test = np.concatenate(test)
    return np.setdiff1d(np.arange(len(y)), test), test


@stratified.right("a mask")
def _(y, share, rng):
    test = np.zeros(len(y), bool)
    for c in np.unique(y):
        rows = np.where(y == c)[0]
        test[rng.choice(rows, _cut(len(rows), share), replace=False)] = True
    return np.where(~test)[0], np.where(test)[0]


@stratified.right("lists from a loop over shuffled rows")
def _(y, share, rng):
    left = {c: _cut(int(np.sum(y == c)), share) for c in (0, 1)}
    train, test = [], []
    for row in rng.permutation(len(y)):
        c = int(y[row])
        (test if left[c] > 0 else train).append(int(row))
        left[c] -= 1
    return train, test


# ---------------------------------------------------------------- classifier

classifier = Exercise(
    "classifier",
    reference=lambda X, y, X_new, ask, **_: (
        {ask: reference.labels(X_new)}
        if "log loss" in ask
        else {ask: torch.zeros(() if "mean" in ask else len(X_new))}
    ),
    compare=parts(
        **{
            # logistic regression with a penalty reaches 0.05 to 0.15 on 150 tumours, neighbours and naive Bayes
            # with calibration 0.15 to 0.25, the share of the ill alone 0.66
            "log loss on new tumours": log_loss(at_most=0.3),
            # a penalty, early stopping or neighbours: 0.5 to 0.85; a nearly free fit: 1.2 and more
            "log loss where a line separates": log_loss(at_most=1.0),
            # the true probabilities reach 0.45; neighbours, forests and small boosting 0.5 to 0.6;
            # the right label at 0.95 at least 0.7
            "log loss where labels overlap": log_loss(at_most=0.65),
            "change when the other new rows are gone": close(rtol=0, atol=1e-5),
            "mean change with other units": within(0.01),
        }
    ),
    limit=8.0,
    data_dependent="rows are looked up in the table of tumours",
    hints=[
        "Logistic regression on standardised features is a good start. What happens to its weights where a line separates the classes, and what stops that?",
        "Keep mean and sd of the training rows for the new rows. Add a penalty λ‖w‖² to the negative log-likelihood, so that the weights stay finite.",
        "Newton's method with gradient Aᵀ(p - y) + λw and Hessian Aᵀ diag(p(1-p)) A + λI, from w = 0, ten steps; "
        "or scikit-learn's make_pipeline(StandardScaler(), LogisticRegression()) and predict_proba(X_new)[:, 1].",
    ],
)


@classifier.probe
def _(answer, X, y, X_new, ask, scale, shift):
    chance = answer(X.copy(), y.copy())
    together = np.asarray(chance(X_new.copy()), float)
    if ask == "mean change with other units":
        other = answer(X * scale + shift, y.copy())
        return {
            ask: np.abs(
                np.asarray(other(X_new * scale + shift), float) - together
            ).mean()
        }
    if ask == "change when the other new rows are gone":
        alone = [
            np.asarray(chance(X_new[i : i + 1].copy()), float)
            for i in range(len(X_new))
        ]
        return {ask: np.concatenate(alone) - together}
    return {ask: together}


@classifier.cases
def _(rng):
    spread = data.breast_cancer().X.std(0)
    scale = 10.0 ** rng.permutation(np.repeat([-3, 0, 3], 10))
    scale[np.argsort(spread)[-10:]] = (
        1e-3  # those that matter most where nobody standardises
    )
    scale[11] = 1e3  # the texture's error tells nothing, and now it would matter most
    units = dict(scale=scale, shift=scale * spread * rng.integers(5, 20, 30))

    def case(ask, n, m):
        table = data.breast_cancer()
        rows = rng.permutation(len(table.y))[: n + m]
        X, y = table.X[rows], 1 - table.y[rows]
        return dict(X=X[:n], y=y[:n], X_new=X[n:], ask=ask, **units)

    yield (
        "new tumours are told apart, with sound probabilities",
        case("log loss on new tumours", 200, 150),
    )
    yield (
        "the units of a feature do not matter",
        case("mean change with other units", 100, 40),
    )
    yield (
        "a new row is judged by itself",
        case("change when the other new rows are gone", 100, 8),
    )
    yield "few rows that a line separates do not make it sure", _separable(rng)
    yield "sound probabilities where the classes overlap", _overlapping(rng)


def _rows(rng, n, m, d, ask):
    X = rng.normal(size=(n + m, d)).round(3)
    if d == 15:
        X[:, 14] = X[:, 13]
    y = reference.simulated(torch.from_numpy(X)).numpy()
    case = dict(
        X=X[:n], y=y[:n], X_new=X[n:], ask=ask, scale=np.ones(d), shift=np.zeros(d)
    )
    return case, y[n:]


def _separable(rng):
    """30 rows that a line separates, where a nearly free fit is much too sure of the 200 new ones, and a
    penalised one is not: in one draw in three."""
    while True:
        case, truth = _rows(rng, 30, 200, 15, "log loss where a line separates")
        X, y, X_new = case["X"], case["y"], case["X_new"]
        if not np.array_equal(_logistic(X, y, 1e-6, steps=30)(X) > 0.5, y == 1):
            continue
        losses = [
            _log_loss(_logistic(X, y, lam)(X_new), truth) for lam in (0.01, 0.3, 1.0)
        ]
        if losses[0] > 1.15 and losses[1] < 0.95 and losses[2] < 0.75:
            return case


def _overlapping(rng):
    """200 rows and 300 new ones whose labels are partly luck: where the labels of a sound classifier are not
    right in 95 % of the rows, and where 15 neighbours agree once on what then does not happen."""
    while True:
        case, truth = _rows(rng, 200, 300, 6, "log loss where labels overlap")
        X, y, X_new = case["X"], case["y"], case["X_new"]
        p = _logistic(X, y, 1.0)(X_new)
        hard = _log_loss(np.where(p > 0.5, 0.95, 0.05), truth)
        share = _neighbours(X, y, 15)(X_new)
        sure = np.where(truth == 1, share == 0, share == 1).any()
        if _log_loss(p, truth) < 0.49 and hard > 0.7 and sure:
            return case


def _log_loss(p, y):
    return -np.mean(np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-300, 1)))


def _neighbours(X, y, k, extra=0):
    """The share of label 1 among the k nearest rows, with `extra` rows added of each label."""
    mean, sd = X.mean(0), X.std(0)
    A = (X - mean) / sd

    def chance(Z):
        B = (Z - mean) / sd
        near = np.argsort(((B[:, None] - A) ** 2).sum(-1), axis=1)[:, :k]
        return (y[near].sum(1) + extra) / (k + 2 * extra)

    return chance


def _logistic(X, y, lam, steps=12, mean=None, sd=None):
    mean, sd = (X.mean(0) if mean is None else mean), (X.std(0) if sd is None else sd)
    sd = np.where(sd == 0, 1, sd)

    def design(Z):
        return np.c_[np.ones(len(Z)), (Z - mean) / sd]

    A = design(X)
    penalty = lam * np.eye(A.shape[1])
    penalty[0, 0] = 0
    w = np.zeros(A.shape[1])
    for _ in range(steps):
        p = _sigmoid(A @ w)
        hessian = (A * (p * (1 - p))[:, None]).T @ A + penalty
        w = w - np.linalg.pinv(hessian) @ (A.T @ (p - y) + penalty @ w)
    return lambda Z: _sigmoid(design(Z) @ w)


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(z / 2))


@classifier.wrong(
    "the share of the ill for everybody",
    advice="That is the baseline. Use the features.",
)
def _(X, y):
    return lambda Z: np.full(len(Z), y.mean())


@classifier.wrong(
    "0 or 1 instead of a probability",
    advice="Who says 0 and is wrong once, has an infinite log loss. How sure is your classifier really?",
)
def _(X, y):
    p = _logistic(X, y, 1.0)
    return lambda Z: (p(Z) > 0.5).astype(float)


@classifier.wrong(
    "no penalty where a line separates",
    advice="On separable rows the likelihood grows for ever with the weights. What keeps them finite?",
)
def _(X, y):
    return _logistic(X, y, 1e-9, steps=40)


@classifier.wrong(
    "the probability of label 0",
    advice="Label 1 means ill. Which column of the probabilities is that?",
)
def _(X, y):
    p = _logistic(X, y, 1.0)
    return lambda Z: 1 - p(Z)


@classifier.wrong(
    "new rows are standardised by themselves",
    advice="What is the mean of one row alone? Keep the training rows' numbers.",
)
def _(X, y):
    p = _logistic((X - X.mean(0)) / X.std(0), y, 1.0)

    def chance(Z):
        sd = Z.std(0)
        return p((Z - Z.mean(0)) / np.where(sd == 0, 1, sd))

    return chance


@classifier.wrong(
    "a penalty on features as they come",
    advice="The penalty acts on weights, and a weight's size depends on the unit. Standardise first.",
)
def _(X, y):
    return _logistic(X, y, 100.0, mean=X.mean(0), sd=np.ones(X.shape[1]))


@classifier.wrong(
    "a share of 15 neighbours, also when it is 0 or 15",
    advice="15 of 15 neighbours are ill: is the next one ill for certain? Section 4 asks the same of 30 of 30.",
)
def _(X, y):
    return _neighbours(X, y, 15)


@classifier.wrong(
    "0.95 for whatever label it calls",
    advice="Is a row near the border as sure as one far from it? Where the classes overlap, a label is not right in 95 of 100 rows.",
)
def _(X, y):
    p = _logistic(X, y, 1.0)
    return lambda Z: np.where(p(Z) > 0.5, 0.95, 0.05)


@classifier.right("15 neighbours and one more of each label")
def _(X, y):
    return _neighbours(X, y, 15, extra=1)


@classifier.right("a forest that is never quite sure")
def _(X, y):
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(60, min_samples_leaf=3, random_state=0).fit(X, y)
    return lambda Z: model.predict_proba(Z)[:, 1].clip(0.01, 0.99)


@classifier.right("Newton's method with a penalty")
def _(X, y):
    return _logistic(X, y, 3.0)


@classifier.right("scikit-learn's pipeline")
def _(X, y):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.3)).fit(X, y)
    return lambda Z: model.predict_proba(Z)[:, 1]


@classifier.right("gradient descent in torch, float32")
def _(X, y):
    mean, sd = X.mean(0), X.std(0)
    A = torch.tensor((X - mean) / sd, dtype=torch.float32)
    t = torch.tensor(y, dtype=torch.float32)
    w = torch.zeros(A.shape[1])
    b = torch.zeros(())
    for _ in range(300):
        error = torch.sigmoid(A @ w + b) - t
        w = w - 0.1 * (A.T @ error / len(t) + 0.02 * w)
        b = b - 0.1 * error.mean()
    return lambda Z: torch.sigmoid(
        torch.tensor((Z - mean) / sd, dtype=torch.float32) @ w + b
    ).numpy()


# ---------------------------------------------------------------- threshold

threshold = Exercise(
    "threshold",
    reference=lambda p, y, miss, alarm: {
        "cost": reference.lowest_cost(p, y, miss, alarm)
    },
    compare=parts(cost=at_most(1e-9)),
    hints=[
        "Which thresholds give different decisions? Between two neighbouring scores, nothing changes.",
        "Try each score as the threshold, and one above all scores (nobody is called ill). Count misses and false alarms for each.",
        "costs = [miss * np.sum((p < t) & (y == 1)) + alarm * np.sum((p >= t) & (y == 0)) for t in candidates]; return candidates[np.argmin(costs)].",
    ],
)


@threshold.probe
def _(answer, p, y, miss, alarm):
    t = answer(p.copy(), y.copy(), miss, alarm)
    called = p >= t
    return {
        "cost": float(
            miss * np.sum(~called & (y == 1)) + alarm * np.sum(called & (y == 0))
        )
    }


@threshold.cases
def _(rng):
    def case(n, miss, alarm, slope=1.0, digits=3):
        z = rng.normal(size=n) * 2
        y = (rng.random(n) < _sigmoid(z)).astype(int)
        y[np.argmax(z)], y[np.argmin(z)] = 0, 1  # one of each, and in the wrong place
        return dict(
            p=_sigmoid(slope * z - 1.5).round(digits), y=y, miss=miss, alarm=alarm
        )

    def worth_a_look(*args, **more):
        """A case in which it is dearer to call everybody ill."""
        while True:
            drawn = case(*args, **more)
            if _cost(**drawn, t=_cheapest(**drawn, candidates=drawn["p"])) < _cost(
                **drawn, t=0
            ):
                return drawn

    yield "a miss costs more", case(40, 20.0, 1.0)
    yield "a miss costs more", worth_a_look(40, 8.0, 1.0, slope=0.5)
    yield "a false alarm costs more", case(40, 1.0, 6.0)
    close = worth_a_look(40, 1.0, 1.0)
    close["p"] = (0.4 + 4e-4 * close["p"]).round(7)
    yield "the scores lie close together", close
    yield "several rows share a score", case(40, 5.0, 1.0, digits=1)
    rare = case(60, 4.0, 1.0)
    while not 0 < rare["y"].sum() < 20 or _rates_mislead(**rare) < 2:
        rare = case(60, 4.0, 1.0)
        rare["y"] = rare["y"] * (rng.random(60) < 0.4)
    yield "few are ill", rare
    few = case(30, 1.0, 1.0)
    yield "nobody is ill", {**few, "y": np.zeros(30, int)}
    yield "all are ill", {**few, "y": np.ones(30, int)}


def _cost(p, y, miss, alarm, t):
    return miss * np.sum((p < t) & (y == 1)) + alarm * np.sum((p >= t) & (y == 0))


def _cheapest(p, y, miss, alarm, candidates):
    return min(candidates, key=lambda t: _cost(p, y, miss, alarm, t))


def _cheapest_rates(p, y, miss, alarm):
    ill, healthy = max(1, y.sum()), max(1, (1 - y).sum())
    return _cheapest(p, y, miss / ill, alarm / healthy, [*np.sort(p), 2.0])


def _rates_mislead(p, y, miss, alarm):
    """How much more the cheapest threshold costs if misses and alarms are counted as shares of their class."""
    costs = [_cost(p, y, miss, alarm, t) for t in [*p, 2.0]]
    return _cost(p, y, miss, alarm, _cheapest_rates(p, y, miss, alarm)) - min(costs)


@threshold.wrong(
    "rates instead of counts",
    advice="Each row has its price. Shares of the ill and of the healthy count a class of ten as much as one of fifty.",
)
def _(p, y, miss, alarm):
    return _cheapest_rates(p, y, miss, alarm)


@threshold.wrong(
    "a grid of a thousand thresholds",
    advice="Two scores may lie closer than the grid's step. Where can a decision change at all?",
)
def _(p, y, miss, alarm):
    return _cheapest(p, y, miss, alarm, [*np.linspace(0, 1, 1001), 1.5])


@threshold.wrong(
    "one half",
    advice="One half is right where both errors cost the same and the scores are calibrated. Is that so?",
)
def _(p, y, miss, alarm):
    return 0.5


@threshold.wrong(
    "the formula for calibrated scores",
    advice="alarm / (alarm + miss) is best if a score of 0.3 means that 3 in 10 are ill. Do these scores mean that? Use the labels.",
)
def _(p, y, miss, alarm):
    return alarm / (alarm + miss)


@threshold.wrong(
    "the costs are swapped",
    advice="Who pays `miss`: an ill person called healthy, or a healthy one called ill?",
)
def _(p, y, miss, alarm):
    return _cheapest(p, y, alarm, miss, [*p, 2.0])


@threshold.wrong(
    "the fewest errors", advice="You count errors. They do not cost the same."
)
def _(p, y, miss, alarm):
    return _cheapest(p, y, 1, 1, [*p, 2.0]) if miss != alarm else np.inf


@threshold.wrong(
    "somebody is always called ill",
    advice="What if nobody is ill? Which threshold calls nobody?",
)
def _(p, y, miss, alarm):
    return _cheapest(p, y, miss, alarm, p)


@threshold.right("a grid of midpoints")
def _(p, y, miss, alarm):
    scores = np.unique(p)
    return _cheapest(p, y, miss, alarm, [-1.0, *(scores[1:] + scores[:-1]) / 2, 1.5])


@threshold.right("sorted once, with running sums")
def _(p, y, miss, alarm):
    order = np.argsort(-p, kind="stable")
    ill = np.r_[0, np.cumsum(y[order])]
    cost = miss * (y.sum() - ill) + alarm * (np.arange(len(p) + 1) - ill)
    ends = np.r_[
        True, p[order][1:] != p[order][:-1], True
    ]  # cuts between different scores
    cost = np.where(ends, cost, np.inf)
    k = int(np.argmin(cost))
    return np.inf if k == 0 else float(p[order][k - 1])


# ---------------------------------------------------------------- rate_interval

_SHARES = [0.5, 0.8, 0.9, 0.95, 0.98]

rate_interval = Exercise(
    "rate_interval",
    reference=lambda n, level, shares: {
        "coverage missing": 0.0,
        "mean width": reference.mean_width(n, level, shares),
        "from 0 to 1, low before high": True,
    },
    compare=parts(
        **{
            "coverage missing": close(rtol=0, atol=1e-9),
            "mean width": at_most(0.01),
            "from 0 to 1, low before high": exact(),
        }
    ),
    data_dependent="SciPy takes the shares one by one, as numbers",
    hints=[
        "All 30 of 30 ill patients were found. Is the true share 100 %, for sure? What does your interval say there?",
        "The interval k/n ± z √(k/n (1 - k/n) / n) has width 0 at k = n. Look for one that does not: Wilson, Clopper and Pearson, Jeffreys.",
        "Wilson: centre (k + z²/2) / (n + z²), half width z √(k(n-k)/n + z²/4) / (n + z²), with z = scipy.stats.norm.ppf((1 + level) / 2).",
    ],
)


@rate_interval.probe
def _(answer, n, level, shares):
    ends = np.array([answer(k, n, level) for k in range(n + 1)], float)
    counts = np.arange(n + 1)
    ways = np.array([math.comb(n, k) for k in counts], float)
    coverage, width = [], []
    for share in shares:
        chance = ways * share**counts * (1 - share) ** (n - counts)
        coverage.append(chance @ ((ends[:, 0] <= share) & (share <= ends[:, 1])))
        width.append(chance @ (ends[:, 1] - ends[:, 0]))
    return {
        "coverage missing": max(0.0, level - 0.04 - float(np.mean(coverage))),
        "mean width": float(np.mean(width)),
        "from 0 to 1, low before high": bool(
            np.all((ends >= -1e-12) & (ends <= 1 + 1e-12))
            and np.all(ends[:, 0] <= ends[:, 1])
        ),
    }


@rate_interval.cases
def _(rng):
    shares = np.array(_SHARES)
    yield "thirty ill, 95 %", dict(n=30, level=0.95, shares=shares)
    yield "five ill, 95 %", dict(n=5, level=0.95, shares=shares)
    yield (
        "thirty ill, 80 %",
        dict(n=int(rng.integers(28, 33)), level=0.8, shares=shares),
    )


@rate_interval.wrong(
    "the normal interval",
    advice="What does it say for 30 of 30? Compute the share of samples in which it holds the truth, for a truth of 0.95.",
)
def _(k, n, level):
    p = k / n
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt(p * (1 - p) / n)
    return max(0, p - half), min(1, p + half)


@rate_interval.wrong(
    "the widest case for every share",
    advice="√(¼/n) is the standard error of a share of one half. Most of yours are near 1.",
)
def _(k, n, level):
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt(0.25 / n)
    return max(0, k / n - half), min(1, k / n + half)


@rate_interval.wrong(
    "1.96 whatever the level",
    advice="Which level belongs to 1.96? Which one was asked?",
)
def _(k, n, level):
    return _wilson(k, n, 1.96 if level < 0.9 else 1.2816)


@rate_interval.wrong(
    "the level on each side",
    advice="Outside are (1 - level) altogether, half of it at each end.",
)
def _(k, n, level):
    return _wilson(k, n, stats.norm.ppf(level))


@rate_interval.wrong("the interval leaves 0 to 1", advice="A share above 1 cannot be.")
def _(k, n, level):
    z = stats.norm.ppf((1 + level) / 2)
    p = (k + z * z / 2) / (n + z * z)
    half = z * np.sqrt(p * (1 - p) / (n + z * z))
    return p - half, p + half


def _wilson(k, n, z):
    centre, half = (
        (k + z * z / 2) / (n + z * z),
        z * np.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z),
    )
    return max(0.0, centre - half), min(1.0, centre + half)


@rate_interval.right("Wilson")
def _(k, n, level):
    return _wilson(k, n, stats.norm.ppf((1 + level) / 2))


@rate_interval.right("Clopper and Pearson, by SciPy")
def _(k, n, level):
    found = stats.binomtest(k, n).proportion_ci(level, method="exact")
    return [found.low, found.high]


@rate_interval.right("Jeffreys")
def _(k, n, level):
    low, high = stats.beta.ppf([(1 - level) / 2, (1 + level) / 2], k + 0.5, n - k + 0.5)
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


# ---------------------------------------------------------------- mcnemar

mcnemar = Exercise(
    "mcnemar",
    reference=reference.mcnemar,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="SciPy's binomial test takes counts",
    shuffled=True,
    hints=[
        "Rows that both get right, or both wrong, say nothing on which one is better. Which rows are left?",
        "Count the rows that only a gets right and those that only b gets right. If both are equally good, a coin decides each of them.",
        "a = np.sum((called_a == y) & (called_b != y)), b the other way round; p = scipy.stats.binomtest(a, a + b).pvalue, and 1 where a + b is 0.",
    ],
)


@mcnemar.cases
def _(rng):
    def case(n, a, b):
        y = rng.integers(2, size=n)
        wrong_a, wrong_b = np.zeros(n, bool), np.zeros(n, bool)
        rows = rng.permutation(n)
        wrong_b[rows[:a]] = True
        wrong_a[rows[a : a + b]] = True
        both = rows[a + b : a + b + 3]
        wrong_a[both] = wrong_b[both] = True
        return dict(
            y=y,
            called_a=np.where(wrong_a, 1 - y, y),
            called_b=np.where(wrong_b, 1 - y, y),
        )

    yield "the gap and how sure it is", case(40, 9, 2)
    yield "the gap and how sure it is", case(60, 3, 12)
    yield "as many on both sides", case(30, 4, 4)
    yield "they decide alike", case(20, 0, 0)


def _discordant(y, called_a, called_b):
    a, b = (called_a == y) & (called_b != y), (called_b == y) & (called_a != y)
    return int(a.sum()), int(b.sum())


@mcnemar.wrong(
    "one side only",
    advice="Before you looked, either could have been the better one. What is the chance of a gap this large, in either direction?",
)
def _(y, called_a, called_b):
    a, b = _discordant(y, called_a, called_b)
    return a, b, 1.0 if a + b == 0 else float(stats.binom.cdf(min(a, b), a + b, 0.5))


@mcnemar.wrong(
    "the counts of errors",
    advice="You count all errors of each. Rows where both err say nothing.",
)
def _(y, called_a, called_b):
    a, b = int(np.sum(called_b != y)), int(np.sum(called_a != y))
    return a, b, float(stats.binomtest(a, a + b).pvalue)


@mcnemar.wrong(
    "a and b are swapped",
    advice="The first count is of the rows that only a gets right.",
)
def _(y, called_a, called_b):
    b, a = _discordant(y, called_a, called_b)
    return a, b, 1.0 if a + b == 0 else float(stats.binomtest(a, a + b).pvalue)


@mcnemar.wrong(
    "the chi-square approximation",
    advice="With eleven rows that differ, the exact chance is a sum of binomial terms. Use it.",
)
def _(y, called_a, called_b):
    a, b = _discordant(y, called_a, called_b)
    return a, b, 1.0 if a + b == 0 else float(stats.chi2.sf((a - b) ** 2 / (a + b), 1))


@mcnemar.wrong(
    "all rows are tossed for",
    advice="Rows on which both agree are no tosses. How many rows are left?",
)
def _(y, called_a, called_b):
    a, b = _discordant(y, called_a, called_b)
    return a, b, float(stats.binomtest(max(a, b), len(y)).pvalue)


@mcnemar.right("twice the smaller tail")
def _(y, called_a, called_b):
    a, b = _discordant(y, called_a, called_b)
    return a, b, min(1.0, 2 * float(stats.binom.cdf(min(a, b), a + b, 0.5)))


@mcnemar.right("sums of binomial coefficients in a loop")
def _(y, called_a, called_b):
    from math import comb

    a = sum(1 for t, u, v in zip(y, called_a, called_b) if u == t and v != t)
    b = sum(1 for t, u, v in zip(y, called_a, called_b) if v == t and u != t)
    n = a + b
    tail = sum(comb(n, k) for k in range(min(a, b) + 1)) / 2**n
    return [a, b, min(1.0, 2 * tail)]

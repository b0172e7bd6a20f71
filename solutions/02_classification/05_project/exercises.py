"""Exercises of 02_classification/05_project. The student chooses the method; the cases ask what it is worth."""

import math

import numpy as np
import torch
from scipy import stats
from scipy.special import expit, logit

from descent import data
from descent.compare import at_most, close, exact, log_loss, parts, within
from solutions.spec import Exercise

from . import reference


def _tries(n=1000):
    """Counts the draws of a case that tells, and fails rather than draw for ever."""
    yield from range(n)
    raise ValueError(f"no telling case in {n} draws: use other sizes or limits")


# ---------------------------------------------------------------- stratified

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
        np.asarray(rows) for rows in answer(y, share, np.random.default_rng(seed))
    )
    again = answer(y, share, np.random.default_rng(seed))[1]
    others = [answer(y, share, np.random.default_rng(seed + i))[1] for i in range(1, 6)]
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


stratified.equivalent(
    {
        "rows = rng.permutation(np.flatnonzero(y == c)) → rows = rng.permutation(np.flatnonzero(y != c))": "The order of row numbers does not matter."
    }
)


def _cut(n, share):
    return max(1, min(n - 1, round(share * n)))


@stratified.cases
def _(rng):
    def case(healthy, ill, share):
        y = rng.permutation(np.repeat([0, 1], [healthy, ill]))
        return dict(y=y, share=share, seed=int(rng.integers(1000)))

    yield "every row is in one set, each class has its share", case(61, 39, 0.25)
    yield "every row is in one set, each class has its share", case(33, 27, 0.4)
    yield "half a row is rounded as Python's round does", case(50, 42, 0.25)
    yield "a rare class is in both sets", case(57, 3, 0.1)
    yield "a large share leaves a training row of each class", case(19, 4, 0.95)


CUT = "max(1, min(len(rows) - 1, round(share * len(rows))))"

stratified.mistakes(
    {
        "a rare class may vanish from the test set": (
            CUT,
            "min(len(rows) - 1, round(share * len(rows)))",
            "What is round(0.1 * 3)? Each class needs a row on both sides.",
        ),
        "a large share takes all rows of a class": (
            CUT,
            "max(1, round(share * len(rows)))",
            "What is round(0.95 * 4)? Each class needs a row on both sides.",
        ),
        "half a row is always rounded up": (
            "round(share * len(rows))",
            "int(share * len(rows) + 0.5)",
            "What is round(12.5) in Python, and what is it in yours?",
        ),
        "a part of a row counts as a whole": (
            "round(share * len(rows))",
            "int(np.ceil(share * len(rows)))",
            "What is round(0.4 * 33)? Round, do not cut off or up.",
        ),
        "both classes get the same number of test rows": (
            "round(share * len(rows))",
            "round(share * len(y) / 2)",
            "The share of each class counts, not a fixed number.",
        ),
        "train and test are swapped": (
            "return np.concatenate(train), np.concatenate(test)",
            "return np.concatenate(test), np.concatenate(train)",
            "`share` is the share of the test rows, and the test rows come second.",
        ),
        "the first rows of each class": (
            "rng.permutation(np.flatnonzero(y == c))",
            "np.flatnonzero(y == c)",
            "Tables are sorted by somebody. Draw with the generator.",
        ),
        "a block of neighbours from each class": (
            "rng.permutation(np.flatnonzero(y == c))",
            "np.roll(np.flatnonzero(y == c), int(rng.integers(np.sum(y == c))))",
            "Where a block begins is drawn, but its rows are neighbours: one month, one hospital. Shuffle.",
        ),
        "its own generator": (
            "rng.permutation(",
            "np.random.default_rng(0).permutation(",
            "Does the split depend on the generator you were given?",
        ),
    }
)


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


stratified.worked(
    why="Each class is shuffled for itself and cut once, so its share among the test rows is not left to luck, and no row can be in both sets."
)

# ---------------------------------------------------------------- threshold

threshold = Exercise(
    "threshold",
    reference=lambda p, y, miss, alarm: {
        "cost": reference.lowest_cost(p, y, miss, alarm)
    },
    compare=parts(cost=at_most(1e-9)),
    hints=[
        "Which thresholds give different decisions? Between two neighbouring chances, nothing changes.",
        "Try each chance as the threshold, and a number above all chances (nobody is called ill). Count misses and false alarms for each.",
        "costs = [miss * np.sum((p < t) & (y == 1)) + alarm * np.sum((p >= t) & (y == 0)) for t in candidates]; return candidates[np.argmin(costs)].",
    ],
)


@threshold.probe
def _(answer, p, y, miss, alarm):
    t = answer(p, y, miss, alarm)
    called = p >= t
    return {
        "cost": float(
            miss * np.sum(~called & (y == 1)) + alarm * np.sum(called & (y == 0))
        )
    }


@threshold.cases
def _(rng):
    yield "a miss costs more", _telling(rng, 40, 20.0, 1.0)
    yield "a miss costs more", _telling(rng, 40, 8.0, 1.0, slope=0.5)
    yield "a false alarm costs more", _telling(rng, 40, 1.0, 6.0)
    close = _telling(rng, 40, 1.0, 1.0)
    close["p"] = (0.4 + 4e-4 * close["p"]).round(7)
    yield "the chances lie close together", close
    yield "several rows share a chance", _telling(rng, 40, 5.0, 1.0, digits=1)
    yield "few are ill", _telling(rng, 60, 4.0, 1.0, rare=0.4)
    few = _telling(rng, 30, 1.0, 1.0)
    yield "nobody is ill", {**few, "y": np.zeros(30, int)}
    sure = few["p"].copy()
    sure[0] = 1.0  # a healthy row for which no chance is higher
    yield "nobody is ill", {**few, "p": sure, "y": np.zeros(30, int)}
    yield "all are ill", {**few, "y": np.ones(30, int)}


def _telling(rng, n, miss, alarm, slope=1.0, digits=3, rare=1.0):
    """Rows where every careless threshold costs more than the cheapest, and where somebody is to be called.

    rare: the share of the ill rows that stay ill.
    """
    for _ in _tries(20_000):
        z = rng.normal(size=n) * 2
        y = (rng.random(n) < expit(z)) & (rng.random(n) < rare)
        y = y.astype(int)
        y[np.argmax(z)], y[np.argmin(z)] = 0, 1  # one of each, and in the wrong place
        case = dict(p=expit(slope * z - 1.5).round(digits), y=y, miss=miss, alarm=alarm)
        tried = np.append(np.unique(case["p"]), np.inf)
        costs = _costs(**case, t=tried)
        careless = [0.5, alarm / (alarm + miss)]
        if miss != alarm:
            careless += [
                tried[np.argmin(_costs(case["p"], y, *pair, tried))]
                for pair in ((alarm, miss), (1, 1), _rates(**case))
            ]
        if digits == 1:  # rows that share a chance, called one by one
            rows = np.argsort(-case["p"], kind="stable")
            back = np.argsort(case["p"], kind="stable")[::-1]
            for order in (rows, back, np.lexsort((-y, -case["p"]))):
                spent = np.cumsum(np.where(y[order] == 1, -miss, alarm))
                careless.append(case["p"][order[np.argmin(spent)]])
        # a row at the threshold counted as not called: the next lower one is returned
        careless.append(tried[max(0, np.argmin(costs) - 1)])
        if costs[:-1].min() == costs.min() < _costs(**case, t=careless).min():
            return case


def _costs(p, y, miss, alarm, t):
    called = p >= np.reshape(t, (-1, 1))
    return (~called & (y == 1)).sum(1) * miss + (called & (y == 0)).sum(1) * alarm


def _rates(p, y, miss, alarm):
    return miss / max(1, y.sum()), alarm / max(1, (1 - y).sum())


PRICE = "miss * np.sum((p < t) & (y == 1)) + alarm * np.sum((p >= t) & (y == 0))"
CANDIDATES = "np.append(np.unique(p), np.inf)"

threshold.mistakes(
    {
        "a grid of a thousand thresholds": (
            CANDIDATES,
            "np.append(np.linspace(0, 1, 1001), 1.5)",
            "Two chances may lie closer than the grid's step. Where can a decision change at all?",
        ),
        "somebody is always called": (
            CANDIDATES,
            "np.unique(p)",
            "What if nobody is ill? Which threshold calls nobody?",
        ),
        "1 calls nobody": (
            CANDIDATES,
            "np.append(np.unique(p), 1.0)",
            "A row with p = 1 has p >= 1, too. Which threshold calls nobody?",
        ),
        "one half": (
            "candidates = " + CANDIDATES,
            "return 0.5",
            "One half is right where both errors cost the same and the chances are sound. Is that so?",
        ),
        "the napkin": (
            "candidates = " + CANDIDATES,
            "return alarm / (alarm + miss)",
            "alarm / (alarm + miss) is best if a chance of 0.3 means that 3 in 10 are ill. Do these mean that? Use the labels.",
        ),
        "the costs are swapped": (
            PRICE,
            PRICE.replace("miss", "?").replace("alarm", "miss").replace("?", "alarm"),
            "Who pays `miss`: an ill person who is not called, or a healthy one who is?",
        ),
        "the fewest errors": (
            PRICE,
            PRICE.replace("miss * ", "").replace("alarm * ", ""),
            "You count errors. They do not cost the same.",
        ),
        "a row at the threshold is not called": (
            PRICE,
            PRICE.replace("<", "<=").replace(">=", ">"),
            "A row whose p is the threshold itself: is it called? What have you counted?",
        ),
    }
)


@threshold.wrong(
    "rates instead of counts",
    advice="Each row has its price. Shares of the ill and of the healthy count a class of ten as much as one of fifty.",
)
def _(p, y, miss, alarm):
    tried = np.append(np.unique(p), np.inf)
    return tried[np.argmin(_costs(p, y, *_rates(p, y, miss, alarm), tried))]


@threshold.right("a grid of midpoints")
def _(p, y, miss, alarm):
    chances = np.unique(p)
    tried = np.array([-1.0, *(chances[1:] + chances[:-1]) / 2, 1.5])
    return tried[np.argmin(_costs(p, y, miss, alarm, tried))]


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


threshold.worked(
    why="Decisions change only where the threshold passes a chance. So the chances themselves, and one threshold above all, are all candidates there are; each is priced by counting."
)

# ---------------------------------------------------------------- Classifier

# What the probe, which stands alone, is asked for.
TUMOURS, SEPARABLE = "log loss on new tumours", "log loss where a line separates"
OVERLAP, RARE = "log loss where labels overlap", "log loss where one in ten is ill"
FEW, MOST = "log loss where few are ill", "log loss where most are ill"
ALONE = "change when the other new rows are gone"
UNITS, SAME = "mean change with other units", "change with the training rows' share"
DECIDE, JUDGE = "dearer decisions", "loss, misses and alarms, against its own"
PROMISE = "promise, against what came"


def _expected(X_new, ask, **_):
    if "log loss" in ask:
        return {ask: reference.labels(X_new)}
    shape = {ALONE: len(X_new), SAME: len(X_new), JUDGE: (2, 3)}.get(ask, ())
    return {ask: torch.zeros(shape)}


Classifier = Exercise(
    "Classifier",
    reference=_expected,
    compare=parts(
        **{
            # logistic regression with a penalty reaches 0.05 to 0.15 on 150 tumours, neighbours and naive Bayes
            # with calibration 0.15 to 0.25, the share of the ill alone 0.66
            TUMOURS: log_loss(at_most=0.3),
            # a penalty, early stopping or neighbours: 0.5 to 0.85; a nearly free fit: 1.1 and more
            SEPARABLE: log_loss(at_most=1.0),
            # the true probabilities reach 0.43, neighbours 0.51; the right label at 0.95, or one share for all, 0.65
            OVERLAP: log_loss(at_most=0.6),
            # a penalty 0.25, neighbours 0.29; one share for all 0.325, classes that weigh the same 0.47
            RARE: log_loss(at_most=0.31),
            # told the share: 0.13 and 0.23, neighbours 0.14 and 0.27; the share for everybody 0.168 and 0.325
            FEW: log_loss(at_most=0.155),
            MOST: log_loss(at_most=0.3),
            ALONE: close(rtol=0, atol=1e-4),  # answers may compute in float32
            SAME: close(rtol=0, atol=1e-4),
            UNITS: within(0.01),
            DECIDE: exact(),
            JUDGE: close(rtol=0, atol=1e-3),
            # means of 100 to 300 losses have a standard error of at most 0.06 together; see _folds_tell
            PROMISE: within(0.2),
        }
    ),
    limit=5.0,
    data_dependent="rows are looked up in the table of tumours",
    hints=[
        "Logistic regression on standardised features is a good start. What happens to its weights where a line separates the classes, and what stops that? And which rows can tell what it will be worth?",
        "fit: mean and sd of each column, a penalty λ‖w‖² chosen on folds, weights; and the mean log loss of the rows that each fold held back. chance: by Bayes' rule the odds p/(1 - p) change by the factor by which the odds of the shares change.",
        "Newton: gradient Aᵀ(p - y) + λw, Hessian Aᵀ diag(p(1-p)) A + λI, from w = 0, six steps. With a share, add logit(share) - logit(y.mean()) to the score. decide: 1 where p · miss > (1 - p) · alarm. A column whose sd is 0 is divided by 1.",
    ],
)


@Classifier.probe
def _(answer, X, y, X_new, n, ask, share, scale, shift):
    model = answer().fit(X[:n], y[:n])

    def chance(rows, share=None):
        return np.asarray(model.chance(rows, share), float)

    def own(rows, miss, alarm, share=None):
        p = chance(rows, share)
        called = np.asarray(model.decide(rows, miss, alarm, share))
        return p, called, p * miss - (1 - p) * alarm  # what a call saves

    if "log loss" in ask:
        return {ask: chance(X_new, share)}
    if ask == "mean change with other units":
        other = answer().fit(X * scale + shift, y)
        moved = np.asarray(other.chance(X_new * scale + shift), float)
        return {ask: np.abs(moved - chance(X_new)).mean()}
    if ask == "change when the other new rows are gone":
        alone = [np.reshape(chance(row[None]), -1) for row in X_new]
        return {ask: np.concatenate(alone) - chance(X_new)}
    if ask == "change with the training rows' share":
        return {ask: chance(X_new, float(y.mean())) - chance(X_new)}
    if ask == "dearer decisions":
        wrong = 0
        for miss, alarm, town in ((20, 1, None), (1, 5, None), (4, 1, 0.05)):
            _, called, saves = own(X_new, miss, alarm, town)
            wrong += np.sum((called != (saves > 0)) & (np.abs(saves) > 1e-6))
        return {ask: int(wrong)}
    rows, truth = X[n:], y[n:]
    if ask == "promise, against what came":
        model.judge(rows, 1 - truth, 1, 1)  # changes no promise
        p = chance(rows)
        came = -np.mean(np.log(np.where(truth == 1, p, 1 - p)))
        return {ask: float(model.promise()) - came}
    off = []
    for miss, alarm in ((20, 2), (2, 5)):
        told = model.judge(rows, truth, miss, alarm)
        p, called, _ = own(rows, miss, alarm)
        loss = -np.mean(np.log(np.where(truth == 1, p, 1 - p)))
        missed = np.sum((called == 0) & (truth == 1))
        alarms = np.sum((called == 1) & (truth == 0))
        off.append([float(a) - b for a, b in zip(told, (loss, missed, alarms))])
    return {ask: np.array(off)}


@Classifier.cases
def _(rng):
    spread = data.breast_cancer().X.std(0)
    scale = 10.0 ** rng.permutation(np.repeat([-3, 0, 3], 10))
    # those that matter most where nobody standardises
    scale[np.argsort(spread)[-10:]] = 1e-3
    scale[11] = 1e3  # the texture's error tells nothing, and now it would matter most
    units = dict(scale=scale, shift=scale * spread * rng.integers(5, 20, 30))
    plain = dict(share=None, scale=1.0, shift=0.0)

    def asked(ask, X, y, X_new, **more):
        return dict(X=X, y=y, X_new=X_new, n=len(y), ask=ask, **{**plain, **more})

    yield "new tumours, sound chances", asked(TUMOURS, *_tumours(rng, 200, 150))
    few = asked(SEPARABLE, *_separable(rng))
    yield "few rows that a line separates do not make it sure", few
    overlapping = _overlapping(rng)
    yield "sound chances where the classes overlap", asked(OVERLAP, *overlapping)
    yield "sound chances where the classes overlap", asked(RARE, *_rare(rng))
    yield "a column that never varies does no harm", asked(OVERLAP, *_constant(rng))
    X, y, X_new = _tumours(rng, 80, 30, fair=False)
    yield "a row by itself, in any units", asked(UNITS, X, y, X_new, **units)
    yield "a row by itself, in any units", asked(ALONE, X, y, X_new[:8])
    for ask, share in ((FEW, 0.04), (MOST, 0.9)):
        town = asked(ask, *_population(rng, share), share=share)
        yield "where another share is ill", town
    X, y = (part[:90] for part in overlapping[:2])
    X_new = overlapping[2]
    yield "where another share is ill", asked(SAME, X, y, X_new[:40])
    yield "the cheaper decision, by its own chance", asked(DECIDE, X, y, X_new)
    judged = asked(JUDGE, *_more_ill(*overlapping)) | {"n": 50}
    yield "it judges its own chances and decisions", judged
    for n, promised in ((200, _luck(rng)), (100, _promised(rng))):
        yield "it keeps its promise", asked(PROMISE, *promised) | {"n": n}


def _rows(rng, n, d):
    """n simulated rows of d features with their labels."""
    X = rng.normal(size=(n, d)).round(3)
    return X, reference.simulated(torch.from_numpy(X)).numpy()


def _tumours(rng, n, m, fair=True):
    """n tumours with labels and m without. fair: a penalty does well, and a nearly free fit does not reach 0.3."""
    table = data.breast_cancer()
    for _ in _tries():
        rows = rng.permutation(len(table.y))[: n + m]
        X, y = table.X[rows], 1 - table.y[rows]
        case, truth = (X[:n], y[:n], X[n:]), y[n:]
        if not fair and _some_err(*case[:2]):
            return case
        if not fair:
            continue
        if _loss(case, truth, 1e-3) < 0.305 or _loss(case, truth, 0.1) > 0.28:
            continue
        p = _logistic(*case[:2], 2.0)(case[2])
        if _log_loss(p, truth) < 0.24 and np.any((p > 0.5) != (truth == 1)):
            return case


def _separable(rng):
    """30 rows that a line separates, where a nearly free fit is much too sure of the 200 new ones, and a
    penalised one is not."""
    for _ in _tries():
        X = rng.normal(size=(230, 15)).round(3)
        X[:, 14] = X[:, 13]
        labels = reference.simulated(torch.from_numpy(X)).numpy()
        y, truth, case = labels[:30], labels[30:], (X[:30], labels[:30], X[30:])
        if not 8 <= y.sum() <= 22:
            continue
        free, *held = (_loss(case, truth, lam) for lam in (1e-3, 0.1, 0.3, 1.0))
        separated = np.array_equal(_logistic(*case[:2], 1e-3)(case[0]) > 0.5, y == 1)
        if not separated or free < 1.05 or max(held) > 0.95:
            continue
        p = _logistic(*case[:2], 10.0)(case[2])
        if _log_loss(1 - p, truth) > 1.05:  # of label 0: too sure as well
            return case


def _overlapping(rng):
    """200 rows and 300 new ones whose labels are partly luck: where neither one share for all nor the labels of a
    sound classifier at 95 % will do, and where 15 neighbours agree once on what then does not happen."""
    for _ in _tries():
        X, labels = _rows(rng, 500, 6)
        case, truth = (X[:200], labels[:200], X[200:]), labels[200:]
        p = _logistic(*case[:2], 1.0)(case[2])
        share = _neighbours(*case[:2], 15)(case[2])
        unlucky = np.where(truth == 1, share == 0, share == 1).any()
        hard = _log_loss(np.where(p > 0.5, 0.95, 0.05), truth)
        base = _log_loss(np.full(300, case[1].mean()), truth)
        if _log_loss(p, truth) < 0.5 and min(hard, base) > 0.62 and unlucky:
            return case


def _constant(rng):
    for _ in _tries():
        X = rng.normal(size=(290, 6)).round(3)
        X[:, 4] = 3.0
        labels = reference.simulated(torch.from_numpy(X)).numpy()
        case, truth = (X[:90], labels[:90], X[90:]), labels[90:]
        base = _log_loss(np.full(200, case[1].mean()), truth)
        near = _log_loss(_neighbours(*case[:2], 15, extra=1)(case[2]), truth)
        if _loss(case, truth, 1.0) < 0.52 and near < 0.57 and base > 0.62:
            return case


def _population(rng, share):
    """200 rows, and 300 new ones of which `share` is ill: ill and healthy look the same, and the label stays that of
    the row. Sound chances suffice, and those who forget the training share, or change p and not its odds, are not
    told here: by another case."""
    limit = 0.155 if share < 0.5 else 0.3
    for _ in _tries():
        X, y = _rows(rng, 200, 6)
        more, labels = _rows(rng, 1000, 6)
        k = round(300 * share)
        sick, well = (
            np.flatnonzero(labels == 1)[:k],
            np.flatnonzero(labels == 0)[: 300 - k],
        )
        rows = rng.permutation(np.r_[sick, well])
        if len(rows) < 300:
            continue
        X_new, truth = more[rows], labels[rows]
        shift = logit(share) - logit(y.mean())
        z = logit(_logistic(X, y, 1.0)(X_new))
        near = logit(_neighbours(X, y, 15, extra=1)(X_new)) + shift
        good = [expit(z + shift), expit(z + logit(share)), expit(near)]
        good += [
            expit(logit(_logistic(X, y, lam)(X_new)) + shift) for lam in (1e-3, 10.0)
        ]
        worst = max(_log_loss(p, truth) for p in good)
        if worst < 0.96 * limit and _log_loss(expit(z), truth) > 1.1 * limit:
            return X, y, X_new


def _rare(rng):
    """200 rows and 300 new ones, one in ten of each ill: where neither one share for all nor classes that weigh the
    same will do."""
    for _ in _tries():
        X, labels = _rows(rng, 2000, 6)
        sick, well = np.flatnonzero(labels == 1)[:50], np.flatnonzero(labels == 0)[:450]
        rows = np.r_[
            rng.permutation(np.r_[sick[:20], well[:180]]),
            rng.permutation(np.r_[sick[20:], well[180:]]),
        ]
        X, y = X[rows], labels[rows]
        case, truth = (X[:200], y[:200], X[200:]), y[200:]
        p = _logistic(*case[:2], 1.0)(case[2])
        near = _log_loss(_neighbours(*case[:2], 15, extra=1)(case[2]), truth)
        held = [_loss(case, truth, lam) for lam in (1e-3, 1.0, 10.0)]
        if (
            max(*held, near) < 0.295
            and _log_loss(expit(logit(p) - logit(0.1)), truth) > 0.34
        ):
            return case


def _more_ill(X, y, X_new):
    """50 training rows and 40 more, of which another share is ill."""
    sick, well = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    rows = np.r_[sick[25:40], well[15:50], sick[:25], well[:15]]
    return X[rows], y[rows], X_new


def _luck(rng):
    """200 rows of 50 features, 300 more with labels, all of them tossed: where fitted rows do not tell what comes, be
    the penalty strong or weak."""
    for _ in _tries(10_000):
        X, y = rng.normal(size=(500, 50)).round(3), rng.integers(2, size=500)
        case, truth = (X[:200], y[:200], X[200:]), y[200:]
        known = [_logistic(*case[:2], lam) for lam in (1.0, 10.0)]
        worse = [
            _log_loss(p(case[2]), truth) - _log_loss(p(X[:200]), y[:200]) for p in known
        ]
        if min(worse) > 0.22 and _folds_tell(case, truth):
            return X, y, X[:1]


def _promised(rng):
    """100 tumours and 300 more, with labels, where a nearly free fit does much worse than one with a penalty."""
    table = data.breast_cancer()
    for _ in _tries(10_000):
        rows = rng.permutation(len(table.y))[:400]
        X, y = table.X[rows], 1 - table.y[rows]
        case, truth = (X[:100], y[:100], X[100:]), y[100:]
        free, good = (_loss(case, truth, lam) for lam in (1e-3, 10.0))
        if free - good > 0.3 and _folds_tell(case, truth) and _some_err(*case[:2]):
            return X, y, X[:1]


def _folds_tell(case, truth):
    """Whether the loss of rows that folds hold back is that of new ones: for sound chances, those of the label 0, and
    where new rows are standardised by themselves."""
    X, y, X_new = case
    in_turn = [np.arange(i, len(y), 5) for i in range(5)]

    def told(lam, folds=None, alone=False):
        held = _held_back(X, y, lam, folds, alone)
        new = _logistic(X, y, lam, alone=alone)(X_new)
        gaps = [_log_loss(held, y) - _log_loss(new, truth)]
        if lam == 10.0:
            gaps.append(_log_loss(1 - held, y) - _log_loss(1 - new, truth))
        return min(gaps) > -0.04 and max(gaps) < 0.1

    known = ((10.0,), (1.0,), (3.0, in_turn), (10.0, in_turn), (10.0, None, True))
    if not all(told(*one) for one in known):
        return False
    kept = {lam: _log_loss(_held_back(X, y, lam), y) for lam in (0.1, 1.0, 10.0)}
    if not told(min(kept, key=kept.get)):
        return False
    # a weak penalty's loss hangs on the folds: those of others must tell it as well
    gaps = []
    for seed in range(1, 7):
        folds = np.array_split(np.random.default_rng(seed).permutation(len(y)), 5)
        gaps.append(_log_loss(_held_back(X, y, 1.0, folds), y))
    gaps -= _log_loss(_logistic(X, y, 1.0)(X_new), truth)
    return abs(np.mean(gaps)) < 0.04 and np.max(np.abs(gaps)) < 0.15


def _held_back(X, y, lam, folds=None, alone=False):
    """The chances of rows by fits without their fold; four folds at random where none are given."""
    if folds is None:
        folds = np.array_split(np.random.default_rng(0).permutation(len(y)), 4)
    held = np.empty(len(y))
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(y)), fold)
        held[fold] = _logistic(X[rest], y[rest], lam, alone=alone)(X[fold])
    return held


def _some_err(X, y):
    """Whether no penalty puts all the rows that it holds back on the right side: labels for chances fail then."""
    return all(np.any((_held_back(X, y, lam) > 0.5) != y) for lam in (0.1, 1.0, 10.0))


def _loss(case, truth, lam):
    return _log_loss(_logistic(*case[:2], lam)(case[2]), truth)


def _log_loss(p, y):
    return -np.mean(np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-300, 1)))


def _neighbours(X, y, k, extra=0):
    """The share of label 1 among the k nearest rows, with `extra` rows added of each label."""
    mean, sd = X.mean(0), X.std(0)
    sd = np.where(sd == 0, 1, sd)
    A = (X - mean) / sd

    def chance(Z):
        B = (Z - mean) / sd
        far = (B**2).sum(1)[:, None] - 2 * B @ A.T + (A**2).sum(1)
        near = np.argsort(far.round(9), axis=1, kind="stable")[:, :k]
        return (y[near].sum(1) + extra) / (k + 2 * extra)

    return chance


def _logistic(X, y, lam, steps=6, alone=False):
    """alone: every set of rows is standardised by itself."""

    def design(Z):
        scaled = Z if alone else X
        mean, sd = scaled.mean(0), scaled.std(0)
        return np.c_[np.ones(len(Z)), (Z - mean) / np.where(sd == 0, 1, sd)]

    A = design(X)
    penalty = lam * np.eye(A.shape[1])
    penalty[0, 0] = 0
    w = np.zeros(A.shape[1])
    for _ in range(steps):
        p = expit(A @ w)
        hessian = (A.T * (p * (1 - p))) @ A + penalty
        w = w - np.linalg.solve(hessian, A.T @ (p - y) + penalty @ w)
    return lambda Z: expit(design(Z) @ w)


SCORE = "z = self.design(X_new) @ self.w"
BAYES = "z = z + logit(share) - logit(self.share)"

Classifier.mistakes(
    {
        "the share of the ill for everybody": (
            SCORE,
            "z = np.full(len(X_new), logit(self.share))",
            "That is the baseline. Use the features.",
        ),
        "0 or 1 instead of a chance": (
            "return expit(z)",
            "return np.where(z > 0, 1.0, 0.0)",
            "Who says 0 and is wrong once has an infinite log loss. How sure is your classifier really?",
        ),
        "next to no penalty": (
            "self.learn(X, y, best)",
            "self.learn(X, y, 1e-3)",
            "On separable rows the likelihood grows for ever with the weights. What keeps them finite?",
        ),
        "the probability of label 0": (
            "return expit(z)",
            "return expit(-z)",
            "Label 1 means ill. Which column of the probabilities is that?",
        ),
        "new rows are standardised by themselves": (
            SCORE,
            "rows = X_new if share else (X_new - X_new.mean(0)) / np.where(X_new.std(0) == 0, 1.0, X_new.std(0)) * self.sd + self.mean\n        z = self.design(rows) @ self.w",
            "What is the mean of one row alone? Keep the training rows' numbers.",
        ),
        "a penalty on features as they come": (
            "self.sd = np.where(sd == 0, 1.0, sd)",
            "self.sd = np.full(len(sd), sd.max())",
            "The penalty acts on weights, and a weight's size depends on the unit. Standardise first.",
        ),
        "divided by a standard deviation of 0": (
            "self.sd = np.where(sd == 0, 1.0, sd)",
            "self.sd = sd",
            "Which column never varies, and what is its standard deviation?",
        ),
        "deaf to the share": (
            BAYES,
            "pass",
            "Of a thousand women ten are ill, not a third. What does Bayes' rule make of the same tumour?",
        ),
        "each class weighs the same": (
            SCORE,
            SCORE + " - logit(self.share)",
            "Balanced weights pretend that half of all rows are ill. Of 100 new rows with a chance near 0.3, how many are?",
        ),
        "the training rows' share is not taken out": (
            BAYES,
            "z = z + logit(share)",
            "The score already holds one share: that of the training rows. What if the same is given?",
        ),
        "the share the wrong way round": (
            BAYES,
            "z = z - logit(share) + logit(self.share)",
            "Where fewer are ill: should a chance rise or fall?",
        ),
        "the chance, not its odds, times a factor": (
            BAYES,
            "return expit(z) * share / self.share",
            "Can a chance of 0.9 become 2.3? What does Bayes' rule multiply by the ratio of shares?",
        ),
        "the loss of rows that were fitted": (
            "rest = np.setdiff1d(order, fold)",
            "rest = order",
            "The fit has bent itself towards its rows. With 50 features for 200 rows, how much smaller is its loss on them than on new ones?",
        ),
        "one half, whatever errors cost": (
            "> alarm / (alarm + miss)",
            "> 0.5",
            "One half is the cheaper side where both errors cost the same. Do they?",
        ),
        "the costs are swapped": (
            "> alarm / (alarm + miss)",
            "> miss / (alarm + miss)",
            "Silence is wrong with probability p. What does it cost then?",
        ),
        "decides as in the training rows, whatever the share": (
            "self.chance(X_new, share) >",
            "self.chance(X_new) >",
            "Which chance decides in the town?",
        ),
        "misses and false alarms are swapped": (
            "misses, alarms\n",
            "alarms, misses\n",
            "A miss is an ill row that was not called.",
        ),
        "a sum of losses, not their mean": (
            "-np.mean(np.log(",
            "-np.sum(np.log(",
            "Twice as many rows of the same kind: should the log loss double?",
        ),
    }
)


class _Right:
    """learn(X, y) -> a function of rows, their chances of label 1; everything else follows."""

    def fit(self, X, y):
        self.known, self.odds, held = (
            self.learn(X, y),
            logit(y.mean()),
            np.empty(len(y)),
        )
        for i in range(5):
            fold = np.arange(i, len(y), 5)
            rest = np.setdiff1d(np.arange(len(y)), fold)
            held[fold] = self.learn(X[rest], y[rest])(X[fold])
        self.held = _log_loss(held, y)
        return self

    def chance(self, X_new, share=None):
        p = np.asarray(self.known(X_new), float)
        return p if share is None else expit(logit(p) + logit(share) - self.odds)

    def decide(self, X_new, miss, alarm, share=None):
        return (self.chance(X_new, share) > alarm / (alarm + miss)).astype(int)

    def judge(self, X, y, miss, alarm):
        from sklearn.metrics import confusion_matrix, log_loss

        called = self.decide(X, miss, alarm)
        ((_, alarms), (misses, _)) = confusion_matrix(y, called, labels=[0, 1])
        return log_loss(y, self.chance(X), labels=[0, 1]), misses, alarms

    def promise(self):
        return self.held


@Classifier.right("15 neighbours and one more of each label")
class _(_Right):
    def learn(self, X, y):
        return _neighbours(X, y, 15, extra=1)


@Classifier.right("gradient descent in torch, float32")
class _(_Right):
    def learn(self, X, y):
        mean, sd = X.mean(0), X.std(0)
        sd = np.where(sd == 0, 1, sd)
        A = torch.tensor((X - mean) / sd, dtype=torch.float32)
        t = torch.tensor(y, dtype=torch.float32)
        w, b = torch.zeros(A.shape[1]), torch.zeros(())
        for _ in range(120):
            error = torch.sigmoid(A @ w + b) - t
            w = w - 0.3 * (A.T @ error / len(t) + 0.03 * w)
            b = b - 0.3 * error.mean()
        return lambda Z: (
            torch.sigmoid(torch.tensor((Z - mean) / sd, dtype=torch.float32) @ w + b)
        ).numpy()


@Classifier.right(
    "a pipeline, judged on folds", library="sklearn.linear_model.LogisticRegression"
)
def _():
    from scipy.special import expit, logit
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    class Classifier:
        def fit(self, X, y):
            model = make_pipeline(StandardScaler(), LogisticRegression(C=0.2))
            held = cross_val_predict(model, X, y, cv=5, method="predict_proba")
            self.model, self.share = model.fit(X, y), y.mean()
            self.promise = lambda: log_loss(y, held[:, 1])
            return self

        def chance(self, X_new, share=None):
            p = self.model.predict_proba(X_new)[:, 1]
            share = self.share if share is None else share
            return expit(logit(p) + logit(share) - logit(self.share))

        def decide(self, X_new, miss, alarm, share=None):
            p = self.chance(X_new, share)
            return (p > alarm / (alarm + miss)).astype(int)

        def judge(self, X, y, miss, alarm):
            called, loss = self.decide(X, miss, alarm), log_loss(y, self.chance(X))
            return loss, np.sum(called < y), np.sum(called > y)

    return Classifier()


Classifier.worked(
    why="Whatever a new row needs is learnt once, in `fit`, and the penalty is chosen by rows that no fit had seen: their loss is at the same time the promise. (A little rosy, as it is the lowest of three; with three it hardly matters, with three hundred it would.) A score is a log-odds: evidence of the row plus log-odds of the shares. So another share is a sum away, and every decision follows from the chance and the costs."
)


# ---------------------------------------------------------------- rate_interval

_SHARES = [0.5, 0.8, 0.9, 0.95, 0.98]

rate_interval = Exercise(
    "rate_interval",
    reference=lambda n, level, shares: {
        "coverage missing": 0.0,
        "mean width": reference.mean_width(n, level, shares),
        "from 0 to 1, k/n inside": True,
    },
    compare=parts(
        **{
            "coverage missing": close(rtol=0, atol=1e-9),
            "mean width": at_most(0.01),
            "from 0 to 1, k/n inside": exact(),
        }
    ),
    data_dependent="SciPy takes the shares one by one, as numbers",
    hints=[
        "All 30 of 30 ill patients were found. Is the true share 100 %, for sure? What does your interval say there?",
        "The interval k/n ± z √(k/n (1 - k/n) / n) has width 0 at k = n. Look for one that does not: Wilson, Clopper and Pearson, Jeffreys.",
        "Try many shares s from 0 to 1 and keep those for which |k/n - s| is at most z √(s(1 - s)/n), with z = scipy.stats.norm.ppf((1 + level) / 2): k of n is no surprise there. The ends are the smallest and the largest.",
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
        "from 0 to 1, k/n inside": bool(
            np.all((ends >= -1e-12) & (ends <= 1 + 1e-12))
            and np.all(
                (ends[:, 0] <= counts / n + 1e-9) & (counts / n - 1e-9 <= ends[:, 1])
            )
        ),
    }


@rate_interval.cases
def _(rng):
    shares = np.array(_SHARES)
    yield "thirty ill, 95 %", dict(n=30, level=0.95, shares=shares)
    yield "five ill, 95 %", dict(n=5, level=0.95, shares=shares)
    n = 2 * int(rng.integers(15, 18))
    yield "some thirty ill, 80 %", dict(n=n, level=0.8, shares=shares)


ERROR = "np.sqrt(shares * (1 - shares) / n)"

rate_interval.mistakes(
    {
        "the standard error of the share that was found": (
            ERROR,
            "np.sqrt(k / n * (1 - k / n) / n)",
            "What does it say for 30 of 30? Compute the share of samples in which it holds the truth, for a truth of 0.95.",
        ),
        "the widest case for every share": (
            ERROR,
            "np.sqrt(0.25 / n)",
            "√(¼/n) is the standard error of a share of one half. Most of yours are near 1.",
        ),
        "1.96 whatever the level": (
            "stats.norm.ppf((1 + level) / 2)",
            "1.96",
            "Which level belongs to 1.96? Which one was asked?",
        ),
        "the level on each side": (
            "(1 + level) / 2",
            "level",
            "Outside are (1 - level) altogether, half of it at each end.",
        ),
    }
)


@rate_interval.wrong("the interval leaves 0 to 1", advice="A share above 1 cannot be.")
def _(k, n, level):
    z = stats.norm.ppf((1 + level) / 2)
    p = (k + z * z / 2) / (n + z * z)
    half = z * np.sqrt(p * (1 - p) / (n + z * z))
    return p - half, p + half


@rate_interval.wrong(
    "the exact interval, with the whole rest at each end",
    advice="Outside are (1 - level) altogether, half of it at each end.",
)
def _(k, n, level):
    low, high = stats.beta.ppf([1 - level, level], [k, k + 1], [n - k + 1, n - k])
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


@rate_interval.right("Clopper and Pearson", library="scipy.stats")
def _(k, n, level):
    from scipy import stats

    found = stats.binomtest(k, n).proportion_ci(level, method="exact")
    return [found.low, found.high]


@rate_interval.right("Wilson's formula")
def _(k, n, level):
    z = stats.norm.ppf((1 + level) / 2)
    centre = (k + z * z / 2) / (n + z * z)
    half = z * np.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    return max(0.0, centre - half), min(1.0, centre + half)


@rate_interval.right("Jeffreys")
def _(k, n, level):
    low, high = stats.beta.ppf([(1 - level) / 2, (1 + level) / 2], k + 0.5, n - k + 0.5)
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


rate_interval.equivalent(
    {
        f"shares = np.linspace(0, 1, 1001) → shares = np.linspace({other})": "Any method that keeps these promises is right."
        for other in ("-1, 1, 1001", "0, 2, 1001", "0, 1, 1002", "0, 1, 1000")
    }
)

rate_interval.worked(
    why="Wilson asks which true shares would make k of n no surprise. Its standard error is that of the share asked about, not of the one found, so it does not vanish where all were found."
)

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
    yield "all on one side", case(30, 6, 0)
    yield "all on one side", case(30, 0, 5)
    yield "as many on both sides", case(30, 4, 4)
    yield "they decide alike", case(20, 0, 0)


EXACT = "float(stats.binomtest(a, max(a + b, 1)).pvalue)"

mcnemar.mistakes(
    {
        "one side only": (
            EXACT,
            "float(stats.binom.cdf(min(a, b), a + b, 0.5))",
            "Before you looked, either could have been the better one. What is the chance of a gap this large, in either direction?",
        ),
        "a and b are swapped": (
            "called_a == y, called_b == y",
            "called_b == y, called_a == y",
            "The first count is of the rows that only a gets right.",
        ),
        "the chi-square approximation": (
            EXACT,
            "float(stats.chi2.sf((a - b) ** 2 / max(a + b, 1), 1))",
            "With eleven rows that differ, the exact chance is a sum of binomial terms. Use it.",
        ),
        "all rows are tossed for": (
            "stats.binomtest(a, max(a + b, 1))",
            "stats.binomtest(max(a, b), len(y))",
            "Rows on which both agree are no tosses. How many rows are left?",
        ),
    }
)


@mcnemar.wrong(
    "the counts of errors",
    advice="You count all errors of each. Rows where both err say nothing.",
)
def _(y, called_a, called_b):
    a, b = int(np.sum(called_b != y)), int(np.sum(called_a != y))
    return a, b, float(stats.binomtest(a, a + b).pvalue)


def _discordant(y, called_a, called_b):
    a, b = (called_a == y) & (called_b != y), (called_b == y) & (called_a != y)
    return int(a.sum()), int(b.sum())


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


@mcnemar.right("by its table", library="statsmodels")
def _(y, called_a, called_b):
    from statsmodels.stats.contingency_tables import mcnemar

    right = np.asarray(called_a) == y, np.asarray(called_b) == y
    table = [
        [np.sum((right[0] == s) & (right[1] == t)) for t in (1, 0)] for s in (1, 0)
    ]
    return int(table[0][1]), int(table[1][0]), mcnemar(table, exact=True).pvalue


mcnemar.worked(
    why="If neither is better, a row on which they differ falls to either with probability ½, whatever the other rows are. So a is a count of heads in a + b tosses."
)

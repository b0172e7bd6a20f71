"""Exercises of 07_neural_networks/08_recommenders_and_superposition."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def away(rng, *shape):
    """Numbers of either sign, none small: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.4, 1.4, shape)


# ---------------------------------------------------------------- a list to look at

rank_items = Exercise(
    "rank_items",
    reference=reference.rank_items,
    compare=exact(),
    batched=("B", "a", "seen"),
    shuffled=True,
    hints=[
        "Which single product gives the scores of all films at once? And which score can never win?",
        "Give seen films the score minus infinity. Sort the negative scores: then the best comes first. A stable sort keeps "
        "equal scores in their order.",
        "scores is np.where(seen, -np.inf, ...) with the product in place of the dots; np.argsort of the negative scores "
        "takes kind='stable'. The first `top` of it are the list.",
    ],
)


@rank_items.cases
def _(rng):
    yield "the best unseen films, best first", _shelf(rng, 8, 3, 3)
    near = _shelf(rng, 9, 2, 4)
    near["B"][2:] = near["B"][2:][np.argsort(near["B"][2:] @ near["a"])]
    near["B"] *= 1e-3  # all scores are between 0 and 1
    yield "the best unseen films, best first", near
    tie = _shelf(rng, 40, 1, 37)
    tie["a"] = rng.choice([-1.0, 1.0], 1)
    tie["B"] = rng.permutation(np.arange(40) % 3 - 1.0)[:, None]
    yield "equal scores: the lower index first", tie
    every = _shelf(rng, 5, 2, 3)
    a = every["a"]
    every["B"] -= (np.max(every["B"] @ a) + 0.5) * a / (a @ a)  # no score is positive
    every["B"] *= 1e4  # scores far below 0
    yield "every unseen film, none of them liked", every
    yield "an empty list", dict(_shelf(rng, 4, 2, 0))
    sign, tens = rng.choice([-1, 1]), 1 + rng.permutation(6)
    tens[[0, np.argmax(tens)]] = 6, tens[0]  # the favourite is known
    B = sign * np.array([tens, rng.integers(1, 9, 6)]).T
    whole = dict(_shelf(rng, 6, 2, 3), a=sign * np.array([10, 1]), B=B)
    yield "whole numbers", whole


def _shelf(rng, t, d, top):
    a, B = away(rng, d), rng.normal(size=(t, d))
    B += (0.5 - np.min(B @ a)) * a / (a @ a)  # all scores are positive
    best = np.argmax(B @ a)
    B[[0, best]] = B[[best, 0]]
    seen = np.zeros(t, dtype=bool)
    seen[[0, 2]] = True  # the favourite and one more are known
    return dict(a=a, B=B, seen=seen, top=top)


SCORES = "np.where(seen, -np.inf, B @ a)"
rank_items.mistakes(
    {
        "shows what was seen": (
            SCORES,
            "B @ a",
            "May a film of `seen` stand in the list?",
        ),
        "worst first": (
            f"{SCORES}\n    return np.argsort(-scores",
            "np.where(seen, np.inf, B @ a)\n    return np.argsort(scores",
            "Which end of a sorted array holds the largest score?",
        ),
        "numbers the unseen films afresh": (
            SCORES,
            "B[~seen] @ a",
            "After seen rows are taken out of B, does row 0 still mean film 0?",
        ),
        "turns an ascending sort round": (
            'np.argsort(-scores, kind="stable")',
            'np.argsort(scores, kind="stable")[::-1]',
            "What does reversing do to films of equal score?",
        ),
        "a sort that is not stable": (
            '-scores, kind="stable"',
            "-scores",
            "NumPy's default sort may exchange equal scores. Which kind does not?",
        ),
        "whole stars": (
            "B @ a",
            "(B @ a).astype(int)",
            "Does a cut to whole numbers keep the order of 0.9 and 0.1?",
        ),
        "a seen film gets the score 0": (
            "-np.inf",
            "0.0",
            "Scores can be negative, as far down as they like. Is 0 then out of the race?",
        ),
    }
)

rank_items.worked(
    why="""All scores come from one product, because a user is a linear readout. A score of minus infinity takes a film out of the race
    and leaves the numbering alone; removing rows would number the films afresh. Sorting the negative scores with a stable sort puts the best
    first and keeps equals in their order, which turning an ascending sort round would not."""
)


@rank_items.right("sorts pairs of score and index")
def _(a, B, seen, top):
    pairs = [(-float(b @ a), j) for j, b in enumerate(B) if not seen[j]]
    return [j for _, j in sorted(pairs)][:top]


@rank_items.right("by a sort in torch", library="torch.sort")
def _(a, B, seen, top):
    scores = torch.tensor(np.where(seen, -np.inf, B @ a))
    return torch.sort(scores, descending=True, stable=True).indices[:top].numpy()


# ---------------------------------------------------------------- loss and gradients

mf_grads = Exercise(
    "mf_grads",
    reference=reference.mf_grads,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    batched=("A", "B", "R"),
    hints=[
        "Everything passes through the table E of errors. What must stand in it where the rating is unknown, so that it adds nothing?",
        "E is R - A Bᵀ, and 0 where R is NaN (0 times NaN is NaN: choose, do not multiply). Row i of the gradient by A is lam a_i "
        "minus the sum of e_ij b_j: which product has these rows?",
        "np.where(np.isnan(R), 0.0, R - A @ B.T) is E. By A: lam * A - E @ B. By B: the same with E.T and A. The loss is half of all squares.",
    ],
)


def _ratings(rng, u, t, d, share, lam):
    R = away(rng, u, t) + 2.0
    R.ravel()[rng.permutation(u * t)[: round((1 - share) * u * t)]] = np.nan
    return dict(A=away(rng, u, d), B=away(rng, t, d), R=R, lam=lam)


def _average(case):
    """The case with its first and last known rating at 0: just average, but known."""
    known = np.argwhere(~np.isnan(case["R"]))
    case["R"][tuple(known[[0, -1]].T)] = 0.0
    return case


def _whole(rng, case):
    """The case with whole numbers for vectors, ratings and penalty."""
    for name in {"A", "B"} & set(case):
        case[name] = rng.choice([-2, -1, 1, 3], case[name].shape)
    return dict(case, R=np.round(2 * case["R"]), lam=2)


@mf_grads.cases
def _(rng):
    yield "some ratings known", _ratings(rng, 4, 5, 2, 0.6, lam=0.3)
    yield "some ratings known", _ratings(rng, 6, 3, 3, 0.5, lam=0.7)
    yield "no penalty", _ratings(rng, 3, 4, 2, 0.7, lam=0.0)
    yield "every rating known, one dimension", _ratings(rng, 3, 4, 1, 1.0, lam=0.5)
    none = _ratings(rng, 3, 4, 2, 0.5, lam=0.4)
    none["R"][:] = np.nan
    yield "no rating at all", none
    yield "a known rating of exactly 0", _average(_ratings(rng, 4, 4, 2, 0.7, lam=0.2))
    yield "whole numbers", _whole(rng, _ratings(rng, 4, 3, 2, 0.7, lam=0.0))


ERRORS = "E = np.where(np.isnan(R), 0.0, R - A @ B.T)"
COUNTS_AS_0 = (
    "A film that nobody has rated is not a film with rating 0. Which entries may count?"
)
ZERO_IS_KNOWN = (
    "0 stars above average is a rating like others. Which entries are NaN in R?"
)
mf_grads.mistakes(
    {
        "an unknown rating counts as 0": (
            ERRORS,
            "E = np.nan_to_num(R) - A @ B.T",
            COUNTS_AS_0,
        ),
        "a rating of 0 counts as unknown": (
            "np.isnan(R)",
            "np.nan_to_num(R) == 0",
            ZERO_IS_KNOWN,
        ),
        "the gradients point downhill": (
            "lam * A - E @ B, lam * B - E.T @ A",
            "E @ B - lam * A, E.T @ A - lam * B",
            "Compare with a finite difference: does J grow in the direction of your gradient?",
        ),
        "the half is missing": (
            "(np.sum(E**2) + lam * (np.sum(A**2) + np.sum(B**2))) / 2",
            "np.sum(E**2) + lam * (np.sum(A**2) + np.sum(B**2))",
            "J has ½ in front of both sums; its slopes have lost it. Do the two fit together?",
        ),
        "the mean of the squared errors": (
            "np.sum(E**2)",
            "np.sum(E**2) / max(1, np.sum(~np.isnan(R)))",
            "J sums over the known ratings. Divided by their number, the penalty would weigh more.",
        ),
        "the gradients forget the penalty": (
            "lam * A - E @ B, lam * B - E.T @ A",
            "-E @ B, -E.T @ A",
            "The penalty stands in J. Does it have a slope?",
        ),
        "NaN times 0": (
            ERRORS,
            "E = (R - A @ B.T) * ~np.isnan(R)",
            "What is np.nan * 0? Choose with np.where; do not multiply by a mask.",
        ),
    }
)

mf_grads.worked(
    why="""A 0 in the table of errors is silent in each of the three results: it adds nothing to the sum of squares, and nothing to either product. So one
    `np.where` deals with all that is unknown. Row i of E B is the sum of e_ij b_j over the films, and row j of Eᵀ A the sum of e_ij a_i over the users:
    the two sums of the text, for all users and films at once."""
)


@mf_grads.right("one rating at a time")
def _(A, B, R, lam):
    loss = lam * (np.sum(A**2) + np.sum(B**2)) / 2
    dA, dB = lam * A.astype(float), lam * B.astype(float)
    for i, j in np.argwhere(~np.isnan(R)):
        e = R[i, j] - A[i] @ B[j]
        loss += e**2 / 2
        dA[i] -= e * B[j]
        dB[j] -= e * A[i]
    return loss, dA, dB


@mf_grads.right("by automatic differentiation", library="torch.autograd")
def _(A, B, R, lam):
    A, B, R = (torch.tensor(M, dtype=torch.float64) for M in (A, B, R))
    A.requires_grad_()
    B.requires_grad_()
    E = torch.where(R.isnan(), torch.zeros(()), R.nan_to_num() - A @ B.T)
    loss = ((E**2).sum() + lam * ((A**2).sum() + (B**2).sum())) / 2
    loss.backward()
    return loss.item(), A.grad.numpy(), B.grad.numpy()


# ---------------------------------------------------------------- alternating least squares

als_step = Exercise(
    "als_step",
    reference=reference.als_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("B", "R"),
    hints=[
        "With B fixed the users do not know of each other. What is left for one user is a regression: what are its features, and which "
        "rows does it have?",
        "For user i take the rows of B whose films i has rated, as a table X of features, and the ratings as y. Ridge regression solves "
        "(XᵀX + lam I) a = Xᵀy.",
        "Start with zeros of shape (u, d). In a loop over the rows of R: known = ~np.isnan(row); X and y are B and the row at known; "
        "np.linalg.solve gets X.T @ X plus lam times np.eye(d), and X.T @ y.",
    ],
)


def _for_users(rng, *args, **more):
    case = _ratings(rng, *args, **more)
    return dict(B=case["B"], R=case["R"], lam=case["lam"])


@als_step.cases
def _(rng):
    yield "some ratings known", _for_users(rng, 4, 6, 2, 0.6, lam=0.5)
    yield "some ratings known", _for_users(rng, 3, 7, 3, 0.7, lam=0.2)
    cold = _for_users(rng, 4, 5, 2, 0.7, lam=0.3)
    cold["R"][1] = np.nan
    yield "a user without any rating", cold
    few = _for_users(rng, 3, 5, 3, 1.0, lam=0.4)
    few["R"][0, 1:] = np.nan
    yield "fewer ratings than dimensions", few
    yield "every rating known, one dimension", _for_users(rng, 3, 4, 1, 1.0, lam=0.1)
    zero = _average(_for_users(rng, 3, 5, 2, 0.8, lam=0.3))
    yield "a known rating of exactly 0", zero
    yield "whole numbers", _whole(rng, _for_users(rng, 3, 5, 2, 0.8, lam=0.0))


KNOWN = "known = ~np.isnan(ratings)"
als_step.mistakes(
    {
        "an unknown rating counts as 0": (
            KNOWN,
            "known, ratings = slice(None), np.nan_to_num(ratings)",
            COUNTS_AS_0,
        ),
        "a rating of 0 counts as unknown": (
            KNOWN,
            "known = np.nan_to_num(ratings) != 0",
            ZERO_IS_KNOWN,
        ),
        "no penalty": (
            "np.linalg.solve(X.T @ X + lam * np.eye(B.shape[1]), X.T @ y)",
            "np.linalg.pinv(X) @ y",
            "A user with fewer ratings than dimensions has no unique fit without it.",
        ),
        "the penalty grows with the number of ratings": (
            "lam * np.eye",
            "lam * max(1, len(y)) * np.eye",
            "In J a user pays lam once, however many films were rated.",
        ),
        "twice the penalty": (
            "lam * np.eye",
            "2 * lam * np.eye",
            "Both sums in J carry the factor ½, so it cancels. Set the gradient to zero once more.",
        ),
        "vectors that keep whole numbers": (
            "np.zeros((len(R), B.shape[1]))",
            "np.zeros((len(R), B.shape[1]), B.dtype)",
            "B may hold whole numbers; the solution does not. Which kind does your array keep?",
        ),
    }
)

als_step.worked(
    why="""With the films fixed, J is a sum of one term a user, so each user is solved alone. Her term is a ridge regression: the features are the vectors of
    the films that she rated, the targets her ratings. Setting lam a minus the sum of e_ij b_j to zero gives (XᵀX + lam I) a = Xᵀy; with lam > 0 it has
    one solution, even where X has no row: the zero vector."""
)


@als_step.right("all users in one batch")
def _(B, R, lam):
    known = ~np.isnan(R)
    G = np.einsum("ut,td,te->ude", known, B, B) + lam * np.eye(B.shape[1])
    return np.linalg.solve(G, (np.where(known, R, 0) @ B)[..., None])[..., 0]


@als_step.right("by ridge regression, user by user", library="sklearn.linear_model")
def _(B, R, lam):
    from sklearn.linear_model import Ridge

    A = np.zeros((len(R), B.shape[1]))
    for a, row in zip(A, R):
        known = np.isfinite(row)
        if known.any():
            model = Ridge(alpha=lam, fit_intercept=False, solver="cholesky")
            a[:] = model.fit(B[known], row[known]).coef_
    return A


# ---------------------------------------------------------------- the recommender

Recommender = Exercise(
    "Recommender",
    reference=reference.recommender,
    # stopped passes of a contraction: rounding at 1e-12 grows to 1e-9 at most
    compare=close(rtol=1e-6, atol=1e-8),
    data_dependent="fitting ends after a pass that hardly lowers J",
    hints=[
        "fit has three parts: the means, the alternation, and when to stop. fill and advise need what fit has kept in self.",
        "The mean of a film sums its known ratings and divides by how many there are, at least 1. What is left is R - self.mean, NaN where "
        "R is. One pass is als_step for the users, then als_step with A and the transposed table for the films. For the stop, compare the "
        "last two entries of losses.",
        "fit: als_step(self.B, E, self.lam), then als_step(self.A, E.T, self.lam), append the first result of mf_grads, and break where the loss "
        "before minus the loss now is at most tol times the loss before. advise: one als_step on a table with a single row; then rank_items with "
        "the newcomer's vector and a 1, the films' vectors and a column of means.",
    ],
)


@Recommender.probe
def _(answer, lam, R, B, tol, max_passes, newcomer, top):
    model = answer(lam)
    same = model.fit(R, B, tol, max_passes) is model
    advice = model.advise(newcomer, top)  # first: it leaves what was fitted alone
    return dict(
        mean=model.mean,
        A=model.A,
        B=model.B,
        losses=list(model.losses),
        filled=model.fill(R),
        advice=advice,
        returns_itself=float(same),
    )


def _table(rng, u, t, d, *, lam=0.5, tol=0.0, max_passes=3, share=0.7, top=0):
    case = _ratings(rng, u, t, d, share, lam)
    R = case["R"] + rng.permutation(t)  # some films are liked by all
    R[[0, 1]] = np.where(np.isnan(R[[0, 1]]), 2.0, R[[0, 1]])  # a film has two ratings
    newcomer = np.where(np.arange(t) % 2 == 0, 3.0 + away(rng, t), np.nan)
    return dict(
        lam=lam, R=R, B=case["B"], tol=tol, max_passes=max_passes, newcomer=newcomer,
        top=top,
    )  # fmt: skip


def _stops(case, k):
    """The case with a tol that the pass k just meets: measured by the J before it, not by the new one."""
    before, now = _losses(case)[k - 1 : k + 1]
    low, high = (before - now) / before, (before - now) / now
    return dict(case, tol=float(low + 0.5 * (high - low)))


def _goes_on(draw):
    """A case with a tol that the third pass would meet if it were a share of the first J, and does not meet."""
    while True:
        case = draw()
        first, before, now = _losses(case)[:3]
        tol = float(before - now) / float(first * before) ** 0.5
        if first > 1.1 * before and first - before > 1.1 * tol * first:
            return dict(case, tol=tol)


def _beyond(draw):
    """A case in which a guess lies outside of the range of what is known."""
    while True:
        case = draw()
        R, filled = case["R"], reference.recommender(**_tensors(case))["filled"].numpy()
        if max(np.nanmin(R) - filled.min(), filled.max() - np.nanmax(R)) > 0.05:
            return case


def _losses(case):
    return reference.recommender(**_tensors(dict(case, tol=-1.0)))["losses"]


def _tensors(case):
    return {
        name: torch.tensor(v, dtype=torch.float64) if isinstance(v, np.ndarray) else v
        for name, v in case.items()
    }


def _listed(rng, *size, **more):
    """A table with a newcomer whose list needs both the means and her own vector."""
    while True:
        case = _table(rng, *size, **more)
        told = reference.recommender(**_tensors(case))
        mean, A, B = (told[name].numpy() for name in ("mean", "A", "B"))
        r, known = case["newcomer"], ~np.isnan(case["newcomer"])
        own, raw, free = (
            B @ reference.als_step(told["B"], torch.tensor(x[None]), lam)[0].numpy()
            for x, lam in ((r - mean, case["lam"]), (r, case["lam"]), (r - mean, 1e-9))
        )
        near = A[np.sum((A @ B.T + mean - r)[:, known] ** 2, axis=1).argmin()]
        others = own, mean, mean / 2 + own, 2 * mean + own
        others += mean + raw, mean + free, mean + B @ near
        right, *wrong = (
            np.argsort(-s[np.isnan(r)])[: case["top"]].tolist()
            for s in (mean + own, *others)
        )
        if right not in wrong:
            return case


@Recommender.cases
def _(rng):
    yield "one pass", _table(rng, 5, 6, 2, max_passes=1)
    wide = _beyond(lambda: _table(rng, 6, 5, 2))
    yield "a few passes, all of them", wide
    yield "a few passes, all of them", _table(rng, 4, 7, 3, lam=1.5)
    stops = _table(rng, 6, 6, 2, max_passes=8)
    yield "stops when J hardly falls", _stops(stops, 1)
    yield "stops when J hardly falls", _stops(_table(rng, 5, 7, 1, max_passes=6), 2)
    early = _goes_on(lambda: _table(rng, 6, 6, 2, max_passes=4))
    yield "goes on while J falls", early
    small = _table(rng, 5, 6, 1, lam=1e-12, tol=1e-6)
    yield (
        "small ratings are fitted as long as large ones",
        dict(small, R=1e-4 * small["R"]),
    )
    flat = _table(rng, 4, 5, 2, max_passes=4)
    flat["R"] = np.where(np.isnan(flat["R"]), np.nan, rng.permutation(5) + 1.0)
    yield "every user rates alike: nothing is left to fit", flat
    alone = _table(rng, 5, 6, 2, top=6)
    alone["R"][:, 2] = np.nan
    alone["R"][:, 0] = -1.0  # the first film is the worst
    alone["R"][1:, 4] = np.nan  # one rating is enough for a mean
    alone["newcomer"][:] = np.nan
    yield "a film without ratings, a newcomer too", alone
    known = _table(rng, 5, 4, 2, share=1.0)
    known["newcomer"] = np.round(2 * away(rng, 4))
    yield "nothing is unknown", known
    yield "a newcomer's list", _listed(rng, 6, 9, 2, top=4)
    yield "a newcomer's list", _listed(rng, 5, 9, 2, top=4, lam=1.0)


STOP = "if before - now <= tol * before:"
Recommender.mistakes(
    {
        "the mean counts gaps as 0": (
            "np.maximum(known.sum(axis=0), 1)",
            "len(R)",
            "By how many ratings do you divide? Gaps are no ratings.",
        ),
        "one mean for all films": (
            "np.where(known, R, 0.0).sum(axis=0) / counts",
            "0 * counts + np.where(known, R, 0.0).sum() / max(1, known.sum())",
            "Each film has a mean of its own.",
        ),
        "means of the users": (
            "E = R - self.mean",
            "E = R - (np.where(known, R, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))[:, None]",
            "What should be left to fit? R minus the means of the films.",
        ),
        "vectors fit the ratings themselves": (
            "E = R - self.mean",
            "E = R",
            "The means are predicted already. What should be left for the vectors?",
        ),
        "the users move twice": (
            "self.A = als_step(self.B, E, self.lam)\n            self.B = als_step(self.A, E.T, self.lam)",
            "self.A = als_step(self.B, E, self.lam)\n            self.B = als_step(self.A, E.T, self.lam)\n"
            "            self.A = als_step(self.B, E, self.lam)",
            "In a pass the users move once, and then the films once.",
        ),
        "the films never leave their first pass": (
            "self.B = als_step(self.A, E.T, self.lam)",
            "self.B = als_step(als_step(B, E, self.lam), E.T, self.lam)",
            "From which vectors does the second pass start: from those handed in, or from those of the first pass?",
        ),
        "the loss of the ratings without the means": (
            "mf_grads(self.A, self.B, E, self.lam)[0]",
            "mf_grads(self.A, self.B, R, self.lam)[0]",
            "J is that of what the vectors fit. Is it R, or R minus the means?",
        ),
        "stops a pass too late": (
            "if len(self.losses) > 1:",
            "if len(self.losses) > 2:",
            "The second pass may be the last: after it there are two losses to compare.",
        ),
        "an absolute tolerance": (
            STOP,
            "if before - now <= tol:",
            "tol is a share: of which J?",
        ),
        "a share of the new J": (
            STOP,
            "if before - now <= tol * now:",
            "tol is a share of J before the pass, or after it?",
        ),
        "a share of the first J": (
            STOP,
            "if before - now <= tol * self.losses[0]:",
            "tol is a share of the J before this pass. Is that the first one?",
        ),
        "goes on where nothing falls": (
            STOP,
            "if before - now < tol * before:",
            "Where J is 0 it cannot fall. Does your loop end: at most, or less than?",
        ),
        "known ratings are replaced": (
            "np.where(np.isnan(R), self.mean + self.A @ self.B.T, R)",
            "self.mean + self.A @ self.B.T",
            "What does fill say of ratings that are known?",
        ),
        "guesses without the means": (
            "np.where(np.isnan(R), self.mean + self.A",
            "np.where(np.isnan(R), self.A",
            "The vectors fit what is left after the means. Where do the means come back?",
        ),
        "the newcomer's ratings as they are": (
            "(ratings - self.mean)[None]",
            "ratings[None]",
            "The films' vectors were fitted to ratings minus means. What should the newcomer's be?",
        ),
        "no penalty for the newcomer": (
            "(ratings - self.mean)[None], self.lam)",
            "(ratings - self.mean)[None], 1e-9)",
            "Her vector minimises J. Which two sums stand in it?",
        ),
        "a list without the means": (
            "np.append(a, 1.0)",
            "np.append(a, 0.0)",
            "A film that everybody likes ranks higher. Which number does the film's mean meet?",
        ),
    }
)

Recommender.worked(
    why="""The means take what all users agree on, so the vectors are free for what sets users apart. The alternation lowers J with each half-step, and a
    relative stop means the same for a small table and for a large one. A newcomer is a row of a table whose films are fixed: one half-step. And a
    mean is one more coordinate that every user meets with a 1, so the list of section 1 serves without change."""
)


@Recommender.right("plain loops over users and films")
class _:
    def __init__(self, lam):
        self.lam = lam

    def solve(self, X, y):
        G = X.T @ X + self.lam * np.eye(X.shape[1])
        return np.linalg.inv(G) @ X.T @ y

    def rows(self, B, E):
        keep = [~np.isnan(row) for row in E]
        return np.array([self.solve(B[k], row[k]) for k, row in zip(keep, E)])

    def fit(self, R, B, tol, max_passes):
        columns = [r[~np.isnan(r)] for r in R.T]
        self.mean = np.array([r.mean() if len(r) else 0.0 for r in columns])
        self.B, self.losses, fallen = B, [], np.inf
        while len(self.losses) < max_passes and fallen > tol:
            self.A = self.rows(self.B, R - self.mean)
            self.B = self.rows(self.A, (R - self.mean).T)
            e = (R - self.mean - self.A @ self.B.T)[~np.isnan(R)]
            size = np.sum(self.A**2) + np.sum(self.B**2)
            self.losses.append((e @ e + self.lam * size) / 2)
            if len(self.losses) > 1 and self.losses[-2] > 0:
                fallen = 1 - self.losses[-1] / self.losses[-2]
            elif len(self.losses) > 1:
                fallen = 0.0
        return self

    def fill(self, R):
        filled = R.copy()
        for i, j in np.argwhere(np.isnan(R)):
            filled[i, j] = self.mean[j] + self.A[i] @ self.B[j]
        return filled

    def advise(self, ratings, top):
        known = ~np.isnan(ratings)
        a = self.solve(self.B[known], (ratings - self.mean)[known])
        scores = self.mean + self.B @ a
        order = sorted(np.flatnonzero(~known), key=lambda j: (-scores[j], j))
        return order[:top]


# ---------------------------------------------------------------- the gauge

canonical = Exercise(
    "canonical",
    reference=reference.canonical,
    # A needless dimension has s of the size of the rounding error, and its root stands in the factors:
    # up to 1e-3 in single precision.
    compare=close(rtol=1e-5, atol=3e-3),
    batched=("A", "B"),
    hints=[
        "The product A Bᵀ is all that counts. Which factorisation of it into orthonormal columns, a diagonal and orthonormal rows do you know?",
        "The product is U diag(s) Vᵀ of rank at most d: keep d columns. Split each s evenly: its root goes to U and to V. Then turn signs, in "
        "both factors together.",
        "np.linalg.svd(A @ B.T) gives U, s, Vt. The new A is U[:, :d] times the roots of s[:d], the new B comes likewise from "
        "Vt.T. np.abs(new_B).argmax(axis=0) finds the largest entry of each column; where it is negative, turn that column of both.",
    ],
)


def _telling(draw, *, turned=True, apart=True, summed=True):
    """The first drawn case of that kind.

    turned: as LAPACK gives it, B' has negative largest entries. apart: those of A' have the other sign. summed: the columns of B' have sums of the other sign.
    """
    while True:
        case = draw()
        A, B = case["A"], case["B"]
        U, s, Vt = np.linalg.svd(A @ B.T, full_matrices=False)
        d = int(np.sum(s > 1e-9))
        left, right = U[:, :d], Vt[:d].T
        top, other = (X[np.abs(X).argmax(0), range(d)] for X in (right, left))
        clear = all(
            np.diff(np.sort(np.abs(X), axis=0)[-2:], axis=0).min() > 0.05
            for X in (left, right)
        )
        fits = (
            ((top < 0) == turned).all(),
            ((top * other < 0) == apart).all(),
            ((top * right.sum(0) < 0) == summed).all(),
        )
        if clear and all(fits):
            return case


@canonical.cases
def _(rng):
    def factors(*sizes):
        return lambda: _factors(rng, *sizes)

    yield "same product, aligned axes", _telling(factors(5, 6, [3.0, 1.2]))
    yield "same product, aligned axes", _telling(factors(4, 6, [4.0, 2.0]))
    yield "one dimension", _telling(factors(4, 5, [2.0]), apart=False)

    def alike():
        return dict(A=away(rng, 4, 1), B=rng.choice([-1, 1]) * abs(away(rng, 3, 1)))

    yield "a column whose entries have one sign", _telling(alike, summed=False)
    yield "nothing to turn", _telling(factors(5, 4, [0.8, 0.5]), turned=False)
    yield "a dimension that is not needed", _telling(lambda: _spare(rng))

    def whole():
        A, B = np.zeros((3, 2), int), np.zeros((4, 2), int)
        A[rng.permutation(3)[:2], [0, 1]] = rng.choice([-3, 3]), rng.choice([-1, 1])
        B[rng.permutation(4)[:2], [0, 1]] = rng.choice([-4, 4]), rng.choice([-2, 2])
        return dict(A=A, B=B)

    yield "whole numbers", _telling(whole, summed=False)


def _spare(rng):
    case = _factors(rng, 5, 6, [3.0, 1.0])
    A, B = (np.column_stack([case[name], np.zeros(len(case[name]))]) for name in "AB")
    M = _mixing(rng, 3)
    return dict(A=A @ M.T, B=B @ np.linalg.inv(M))


def _mixing(rng, d):
    U, _ = np.linalg.qr(rng.normal(size=(d, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return U @ np.diag(np.geomspace(0.5, 3.0, d) * rng.uniform(0.8, 1.2, d)) @ V


def _factors(rng, u, t, s):
    d = len(s)
    U, V = (np.linalg.qr(rng.normal(size=(n, d)))[0] for n in (u, t))
    s = np.array(s) * rng.uniform(0.9, 1.1, d)
    M = _mixing(rng, d)
    return dict(A=U * np.sqrt(s) @ M.T, B=V * np.sqrt(s) @ np.linalg.inv(M))


canonical.mistakes(
    {
        "all of s goes to one factor": (
            "left = U[:, :d] * np.sqrt(s[:d])\n    right = Vt[:d].T * np.sqrt(s[:d])",
            "left = U[:, :d] * s[:d]\n    right = Vt[:d].T",
            "Compare A'ᵀA' and B'ᵀB' of your factors. Are they equal?",
        ),
        "s in both factors": (
            "left = U[:, :d] * np.sqrt(s[:d])\n    right = Vt[:d].T * np.sqrt(s[:d])",
            "left = U[:, :d] * s[:d]\n    right = Vt[:d].T * s[:d]",
            "Multiply your factors. Is the product still that of A and B?",
        ),
        "signs as they come": (
            "return np.where(turn, -left, left), np.where(turn, -right, right)",
            "return left, right",
            "The sign of a column is free in an SVD. What does the text ask of the new B?",
        ),
        "only B is turned": (
            "np.where(turn, -left, left)",
            "left",
            "Turn a column of one factor only, and the product changes.",
        ),
        "the signs of A decide": (
            "largest = right[np.abs(right).argmax(axis=0), np.arange(d)]",
            "largest = left[np.abs(left).argmax(axis=0), np.arange(d)]",
            "Whose entry of largest absolute value has to be positive?",
        ),
        "the largest entry, not the largest in size": (
            "np.abs(right).argmax(axis=0)",
            "right.argmax(axis=0)",
            "The largest entry of (−3, 1) in absolute value is −3.",
        ),
        "the sum decides": (
            "largest = right[np.abs(right).argmax(axis=0), np.arange(d)]",
            "largest = right.sum(axis=0)",
            "The text looks at one entry of each column, not at their sum.",
        ),
        "every dimension of the product": (
            "d = A.shape[1]",
            "d = min(len(A), len(B))",
            "How many columns do A and B have?",
        ),
    }
)

canonical.equivalent(
    {"turn = largest < 0 → turn = largest <= 0": "(A column of zeros has no sign.)"}
)

canonical.worked(
    why="""Any two fits with the same guesses have the same product, so whatever is computed from A Bᵀ alone forgets the gauge. The SVD names its axes by
    size, and sharing each s evenly makes the Gram matrices of both factors equal, diag(s). What an SVD leaves open is one sign a column, and a rule about the
    new B settles it, for both factors at once so that the product stays."""
)


@canonical.right("from two small QR factorisations")
def _(A, B):
    (QA, RA), (QB, RB) = np.linalg.qr(A), np.linalg.qr(B)
    U, s, Vt = np.linalg.svd(RA @ RB.T)
    left, right = QA @ U * np.sqrt(s), QB @ Vt.T * np.sqrt(s)
    sign = [np.sign(max(column, key=abs)) or 1.0 for column in right.T]
    return left * sign, right * sign


@canonical.right("by SciPy's SVD", library="scipy.linalg.svd")
def _(A, B):
    from scipy.linalg import svd

    d = A.shape[1]
    U, s, Vt = svd(A @ B.T, full_matrices=False)
    left, right = U[:, :d] * s[:d] ** 0.5, Vt[:d].T * s[:d] ** 0.5
    largest = np.take_along_axis(right, np.abs(right).argmax(0)[None], axis=0)[0]
    return left * np.where(largest < 0, -1, 1), right * np.where(largest < 0, -1, 1)


# ---------------------------------------------------------------- interference

interference = Exercise(
    "interference",
    reference=reference.interference,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("W",),
    hints=[
        "All inner products stand in one table, W.T @ W. Where do you find the squared lengths in it?",
        "Row i of that table G holds the inner products of w_i with all. Sum their squares, leave out its own, and divide by its squared "
        "length once: only w_i becomes a unit vector.",
        "own = np.diag(G) are the squared lengths. np.diag(G @ G) sums the squares of each row, own squared among them: divided by own it "
        "is the interference plus own. Where own is 0, divide by np.inf.",
    ],
)


@interference.cases
def _(rng):
    yield "more features than dimensions", dict(W=away(rng, 2, 5))
    uneven = away(rng, 3, 4) * np.array([2.0, 0.5, 1.0, 1.5])
    yield "more features than dimensions", dict(W=uneven)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    yield "orthogonal features do not interfere", dict(W=Q * rng.uniform(0.5, 2.0, 3))
    gone = away(rng, 2, 4)
    gone[:, 1] = 0
    yield "a feature that is not stored", dict(W=gone)
    yield "a single feature", dict(W=away(rng, 3, 1))
    faint = away(rng, 2, 3) * np.array([1.0, 1e-4, 1.0])
    yield "a faint feature is a direction too", dict(W=faint)
    yield "whole numbers", dict(W=rng.choice([-1, 1], (2, 3)) * [[1, 2, 3], [4, 1, 2]])


OTHERS = "total / safe - own"
interference.mistakes(
    {
        "both vectors are made unit vectors": (
            OTHERS,
            "(G**2 / np.outer(safe, safe)).sum(1) - (own > 0)",
            "A short neighbour disturbs less than a long one. Which of the two vectors does the text normalise?",
        ),
        "neither vector is made a unit vector": (
            OTHERS,
            "total - own**2",
            "Interference is measured along the direction of w_i: does the length of w_i matter?",
        ),
        "divided by the length, not by its square": (
            OTHERS,
            "(total - own**2) / np.sqrt(safe)",
            "The unit vector stands inside the square. How often do you divide by the length?",
        ),
        "counts the feature itself": (
            OTHERS,
            "total / safe",
            "Is a feature its own interference?",
        ),
        "squared lengths": (
            "return np.sqrt(own)",
            "return own",
            "The diagonal of WᵀW holds squared lengths. Which are asked for?",
        ),
        "rows for columns": (
            "G = W.T @ W",
            "G = W @ W.T",
            "W is (d, n), a column a feature. How many values should come back?",
        ),
        "divides by zero": (
            OTHERS,
            "total / own - own",
            "A feature of length 0 has no direction. What does the text say for it?",
        ),
        "overlaps are not squared": (
            OTHERS,
            "(G.sum(axis=1) - own) / np.sqrt(safe)",
            "Overlaps of both signs must not cancel. What is summed, the inner product or its square?",
        ),
        "the mean of the squares": (
            OTHERS,
            "(total / safe - own) / max(1, len(own) - 1)",
            "χ is a sum over the other features, however many there are.",
        ),
    }
)

interference.worked(
    why="""The Gram matrix G = WᵀW holds all inner products. The diagonal of G G sums the squares of each row of G, the feature's own squared length squared among
    them. One division by the squared length makes w_i a unit vector inside each square, and turns that own term into the squared length itself, which is
    taken off. A feature of length 0 has zeros in its row: divided by infinity they stay 0."""
)


@interference.right("pair by pair")
def _(W):
    columns = W.T.tolist()
    lengths = [sum(x * x for x in w) ** 0.5 for w in columns]
    cross = []
    for i, w in enumerate(columns):
        overlaps = [sum(x * y for x, y in zip(w, v, strict=True)) for v in columns]
        total = sum(o**2 for j, o in enumerate(overlaps) if j != i)
        cross.append(total / lengths[i] ** 2 if lengths[i] else 0.0)
    return lengths, cross


@interference.right("by cosines", library="sklearn.metrics.pairwise")
def _(W):
    from sklearn.metrics.pairwise import cosine_similarity

    lengths = np.linalg.norm(W, axis=0)
    cosines = cosine_similarity(W.T) - np.diag(1.0 * (lengths > 0))
    return lengths, cosines**2 @ lengths**2


# ---------------------------------------------------------------- the loop

feedback_step = Exercise(
    "feedback_step",
    reference=reference.feedback_step,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    batched=("a", "B"),
    hints=[
        "Three things in a row: scores, shares, and what follows from the shares. Which number can be taken off all scores without "
        "changing a softmax?",
        "Subtract the largest score before exp. Mix the softmax with equal shares 1 / t. The mean film seen is Bᵀp. A share of 0 "
        "counts as 0 in the entropy.",
        "p is (1 - explore) times the softmax, plus explore / len(B). The taste keeps 1 - lr of itself and takes lr of B.T @ p. With q the "
        "shares above 0, the diversity is exp of minus the sum of q * log(q).",
    ],
)


@feedback_step.cases
def _(rng):
    yield "taste drifts, diversity counts", _loop(rng, 6, 2, 1.5, 0.3, 0.2)
    yield "taste drifts, diversity counts", _loop(rng, 5, 3, 2.0, 0.1, 0.5)
    yield "exploration alone", _loop(rng, 5, 2, 2.0, 1.0, 0.3)
    sharp = _loop(rng, 4, 2, 5000.0, 0.0, 0.4)
    B = np.array([[1.0, 0.2], [-1.0, 0.3], [0.0, 1.0], [0.3, -1.0]])
    sharp |= dict(a=np.array([1.0, 0.0]), B=B * rng.uniform(0.9, 1.1))
    yield "so sharp that one film takes all", sharp
    yield "a taste that does not move", _loop(rng, 5, 2, 1.0, 0.2, 0.0)
    whole = _loop(rng, 5, 2, 1, 0, 0.3)
    whole |= dict(a=rng.choice([-1, 1], 2), B=rng.choice([-2, -1, 1, 2], (5, 2)))
    yield "whole numbers", whole


def _loop(rng, t, d, beta, explore, lr):
    return dict(a=away(rng, d), B=away(rng, t, d), beta=beta, explore=explore, lr=lr)


MOVED, DIVERSITY = "(1 - lr) * a + lr * B.T @ p", "np.exp(-np.sum(q * np.log(q)))"
feedback_step.mistakes(
    {
        "the entropy itself": (
            DIVERSITY,
            "-np.sum(q * np.log(q))",
            "Ten films shown equally often have diversity 10. What does your formula give for them?",
        ),
        "the taste only adds up": (
            MOVED,
            "a + lr * B.T @ p",
            "With step lr the taste moves a part of the way. What happens to the old taste?",
        ),
        "exploration takes nothing away": (
            "(1 - explore) * w / w.sum()",
            "w / w.sum()",
            "Do your shares sum to 1? Exploration takes its part from the recommendations.",
        ),
        "overflow": (
            "np.exp(scores - scores.max())",
            "np.exp(scores)",
            "exp of 5000 is infinite. Which number may you subtract from all scores?",
        ),
        "no sharpness": (
            "beta * (B @ a)",
            "B @ a",
            "How far does the recommender trust its scores?",
        ),
        "a share of 0 spoils the sum": (
            "q = p[p > 0]",
            "q = p",
            "0 times the logarithm of 0 counts as 0; NumPy says nan.",
        ),
        "only the favourite is seen": (
            MOVED,
            "(1 - lr) * a + lr * B[np.argmax(p)]",
            "The taste drifts towards the mean film of what is shown, not towards the commonest.",
        ),
    }
)

feedback_step.equivalent(
    {
        "w = np.exp(scores - scores.max()) → "
        "w = -np.exp(scores - scores.max())": "(A common factor of all exponentials cancels in a softmax.)"
    }
)

feedback_step.worked(
    why="""The shares are a softmax, and a softmax does not change when one number is taken off all scores; with the largest at 0 nothing overflows. The new
    taste is a weighted mean of the old taste and of the mean film seen, so it cannot leave the films' convex hull. exp of the entropy counts: m equal shares
    have the entropy log m. Leaving out shares of 0 says that 0 log 0 is 0."""
)


@feedback_step.right("film by film")
def _(a, B, beta, explore, lr):
    scores = [beta * sum(x * y for x, y in zip(b, a, strict=True)) for b in B]
    weights = [np.exp(s - max(scores)) for s in scores]
    p = [(1 - explore) * w / sum(weights) + explore / len(B) for w in weights]
    new = [
        (1 - lr) * a[k] + lr * sum(q * b[k] for q, b in zip(p, B, strict=True))
        for k in range(len(a))
    ]
    return new, np.prod([q**-q for q in p if q > 0])


@feedback_step.right("by softmax and entropy", library="scipy.special, scipy.stats")
def _(a, B, beta, explore, lr):
    from scipy.special import softmax
    from scipy.stats import entropy

    p = (1 - explore) * softmax(beta * (B @ a)) + explore / len(B)
    return (1 - lr) * a + lr * B.T @ p, np.exp(entropy(p))


# ---------------------------------------------------------------- editing one attribute

swap_attribute = Exercise(
    "swap_attribute",
    reference=reference.swap_attribute,
    compare=close(rtol=1e-6, atol=1e-8),
    batched=("h", "new"),
    hints=[
        "You must read before you write: which coefficients does h hold now in subspace k? With subspaces that overlap, can you read one alone?",
        "Put all columns side by side and solve one least squares problem for all coefficients. Then change h only by B_k times (new - old).",
        "np.linalg.lstsq(np.hstack(Bs), h, rcond=None)[0] holds all coefficients; those of k start after as many entries as the earlier "
        "matrices have columns. Add Bs[k] times the change to h.",
    ],
)


@swap_attribute.cases
def _(rng):
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    yield "orthonormal subspaces", _edit(rng, [Q[:, :2], Q[:, 2:4]], 1)
    long = [Q[:, :2] * np.array([2.0, 0.5]), Q[:, 2:3] * 3.0, Q[:, 3:4]]
    yield "columns that are not of length 1", _edit(rng, long, 0)
    Bs = [rng.normal(size=(7, k)) + 0.5 for k in (2, 1, 3)]
    yield "subspaces that overlap", _edit(rng, Bs, 1)
    yield "subspaces that overlap", _edit(rng, Bs, 2)
    whole = [rng.normal(size=(4, 1)) + 0.4 for _ in range(4)]
    yield "as many columns as dimensions", _edit(rng, whole, 3)
    same = _edit(rng, Bs, 0)
    c = np.linalg.lstsq(np.hstack(Bs), same["h"], rcond=None)[0]
    yield "the old value put back changes nothing", dict(same, new=c[:2])


def _edit(rng, Bs, k):
    h = sum(B @ (away(rng, B.shape[1]) + 1.0) for B in Bs) + 0.3 * away(rng, len(Bs[0]))
    return dict(h=h, Bs=Bs, k=k, new=away(rng, Bs[k].shape[1]) - 1.0)


CHANGE = "(new - c[first : first + Bs[k].shape[1]])"
swap_attribute.mistakes(
    {
        "reads by projection": (
            CHANGE,
            "(new - Bs[k].T @ h)",
            "B_kᵀh is the old value only for orthonormal columns at right angles to all other subspaces.",
        ),
        "reads subspace k alone": (
            CHANGE,
            "(new - np.linalg.pinv(Bs[k]) @ h)",
            "A pseudo-inverse of B_k mends long columns. Does it know what the others put into h?",
        ),
        "adds without removing": (
            CHANGE,
            "new",
            "Where does the old value of the attribute go?",
        ),
        "the first coefficients for every k": (
            "first = sum(B.shape[1] for B in Bs[:k])",
            "first = 0",
            "The coefficients of all subspaces stand in one row. Where do those of k begin?",
        ),
        "one coefficient a subspace": (
            "first = sum(B.shape[1] for B in Bs[:k])",
            "first = k",
            "A subspace may have several columns. How many stand before those of k?",
        ),
        "rebuilds h from the subspaces": (
            "return h + Bs[k]",
            "return np.hstack(Bs) @ c + Bs[k]",
            "What of the part of h that lies in none of the subspaces? It should stay.",
        ),
    }
)

swap_attribute.worked(
    why="""Where subspaces overlap, a projection on one also catches what the others put there. The joint fit shares h out among all columns at once, so its coefficients
    are the ones that h was made of. Then only the difference is written: h moves inside subspace k, and the other parts, with whatever lies outside of
    all subspaces, are not touched."""
)


@swap_attribute.right(
    "by the pseudo-inverse of all columns", library="numpy.linalg.pinv"
)
def _(h, Bs, k, new):
    parts = np.split(
        np.linalg.pinv(np.hstack(Bs)) @ h, np.cumsum([B.shape[1] for B in Bs])[:-1]
    )
    return h - Bs[k] @ parts[k] + Bs[k] @ new


@swap_attribute.right("the other subspaces are projected out first")
def _(h, Bs, k, new):
    rest = np.hstack([B for i, B in enumerate(Bs) if i != k])
    free = np.eye(len(h)) - rest @ np.linalg.pinv(rest)
    return h + Bs[k] @ (new - np.linalg.pinv(free @ Bs[k]) @ h)

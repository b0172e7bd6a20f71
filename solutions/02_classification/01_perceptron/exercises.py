"""Exercises of 02_classification/01_perceptron."""

import re

import numpy as np
import torch
from scipy.optimize import linprog

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference

CORNERS = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
OR, XOR = np.array([-1.0, 1, 1, 1]), np.array([-1.0, 1, 1, -1])
ALTERNATE = np.array([1.0, -1, 1, -1, 1, -1])


def clear(rng, d):
    """Numbers of both signs (for d > 1), all different, none near 0."""
    signs = rng.permutation(np.resize([1.0, -1.0], d))
    return rng.permutation(np.arange(1, d + 1)) * signs + rng.uniform(-0.2, 0.2, d)


def split(rng, d=2):
    """Six rows of whole numbers on both sides of a plane that misses the origin, labels mixed, and v = (w, b)."""
    w, b = rng.permutation([3, -4, 2, 1][:d]), rng.choice([-5, 5])
    X = rng.integers(-4, 5, (60, d))
    score = X @ w + b
    plus, minus = X[score > 1][:3], X[score < -1][:3]
    mixed = rng.permutation(6)
    y = np.repeat([1.0, -1.0], 3)[mixed]
    return np.vstack([plus, minus])[mixed].astype(float), y, np.append(w, b) * 1.0


# ---------------------------------------------------------------------------------- bag_of_words

bag_of_words = Exercise(
    "bag_of_words",
    reference=reference.bag_of_words,
    compare=exact(),
    hints=[
        "Do one e-mail first: which words are in it, once blanks, capitals and marks are out of the way?",
        "Small letters, split at blanks, and take the marks off the ends of each piece. Then ask of each word of the "
        "vocabulary whether it is among the pieces.",
        "Begin with an array of zeros, one row a mail. In a loop over enumerate(mails): text.lower().split(), "
        'then piece.strip(".,;:!?") of each piece; in a loop over enumerate(vocabulary): set entry (i, j) to 1 where '
        "the word is found.",
    ],
)


@bag_of_words.cases
def _(rng):
    words = ["and", "viagra", "the", "of", "nigeria"]
    mixed = [words[j] for j in rng.permutation(5)]
    mails = [
        "viagra and gold of nigeria",
        "minutes of the meeting",
        "salt and a pinch of pepper",
    ]
    yield "words between blanks", dict(mails=mails, vocabulary=mixed)
    yield (
        "a word that occurs twice",
        dict(
            mails=["the end of the end", "of " * int(rng.integers(2, 5))],
            vocabulary=mixed,
        ),
    )
    yield (
        "only whole words",
        dict(
            mails=["band other offer", "then there", "the and"],
            vocabulary=mixed + ["an", "band"],
        ),
    )
    yield (
        "marks and capitals",
        dict(
            mails=[
                "The prince, and HIS bank!",
                "Nigeria: the.. what?",
                "...and? so; of.",
            ],
            vocabulary=mixed,
        ),
    )
    yield (
        "marks and capitals",
        dict(mails=[f"the{m} {m}{m}of" for m in ".,;:!?"], vocabulary=["of", "the"]),
    )
    yield (
        "marks inside a word stay",
        dict(
            mails=["and/or the.end", "viagra,gold", "(and) 'the'"],
            vocabulary=mixed + ["the.end"],
        ),
    )
    yield (
        "line breaks and many blanks",
        dict(mails=["  the\n\nend\tof  it ", "it\nand"], vocabulary=mixed),
    )
    yield "an empty e-mail", dict(mails=["", "the", "?! ."], vocabulary=words)
    mails = ["no", mixed[0], mixed[0].title() + ".", mixed[1]]
    yield "a vocabulary of one word", dict(mails=mails, vocabulary=mixed[:1])


bag_of_words.mistakes(
    {
        "counts in place of occurrence": (
            "= word in words",
            "= words.count(word)",
            "An e-mail that says a word three times: what stands in its column?",
        ),
        "parts of words": (
            "= word in words",
            "= word in ' '.join(words)",
            "Does the word 'an' occur in 'The man'?",
        ),
        "capitals are other letters": (
            "mail.lower()",
            "mail",
            "Is 'The' the word 'the'?",
        ),
        "marks stay on the words": (
            '.strip(".,;:!?")',
            "",
            "'end!' at the end of a sentence: which word is that?",
        ),
        "marks at the end only": (
            ".strip(",
            ".rstrip(",
            "A word may have marks on both sides: '...and?'",
        ),
        "one mark at the end": (
            '.strip(".,;:!?")',
            '.removesuffix(".").removesuffix(",").removesuffix("!")',
            "Which marks does the text name, and how many of them may stand at an end?",
        ),
        "only commas and full stops": (
            '".,;:!?"',
            '".,"',
            "Which marks does the text name?",
        ),
        "split at single blanks": (
            ".split()",
            '.split(" ")',
            "A line break separates words, too.",
        ),
        "a row for each word": (
            "return X",
            "return X.T",
            "Rows are e-mails, columns are words: which shape is asked for?",
        ),
        "the vocabulary is sorted": (
            "enumerate(vocabulary)",
            "enumerate(sorted(vocabulary))",
            "Column j belongs to word j of the vocabulary, in its order.",
        ),
    }
)


@bag_of_words.wrong(
    "all marks are taken out",
    advice="'viagra,gold' has no blank: is that one word or two? Only marks at the ends go.",
)
def _(mails, vocabulary):
    words = [re.sub(r"[.,;:!?]", " ", mail.lower()).split() for mail in mails]
    return np.array([[float(w in found) for w in vocabulary] for found in words])


bag_of_words.worked(
    why="""Split first, clean each piece, then compare whole pieces. `word in words` asks a *list*, so it finds whole words; asked
    of a text it would find parts of words, too. What the row forgets, order and number, no classifier can use."""
)


@bag_of_words.right("sets, in one expression")
def _(mails, vocabulary):
    found = [{piece.strip("!?.,:;") for piece in m.lower().split()} for m in mails]
    return [[int(word in words) for word in vocabulary] for words in found]


@bag_of_words.right(
    "by scikit-learn", library="sklearn.feature_extraction.text.CountVectorizer"
)
def _(mails, vocabulary):
    from sklearn.feature_extraction.text import CountVectorizer

    def pieces(mail):
        return [piece.strip(".,;:!?") for piece in mail.split()]

    model = CountVectorizer(
        vocabulary=vocabulary, tokenizer=pieces, token_pattern=None, binary=True
    )
    return model.transform(mails).toarray()


bag_of_words.limit = 10.0  # scikit-learn's first import takes seconds on a busy machine


# ----------------------------------------------------------------------------------------- judge

judge = Exercise(
    "judge",
    reference=reference.judge,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y", "w"),
    hints=[
        "One array holds all: the scores of all points. What do the label, the distance and the margin each make of it?",
        "The label looks at the sign of the score, the distance divides it by the length of w alone, the margin multiplies "
        "the distances by y and takes one of them.",
        "score = X @ w + b; np.where(score > 0, …, …) for the labels; np.linalg.norm(w) is the length; np.min of y times "
        "the distances.",
    ],
)


@judge.cases
def _(rng):
    def points(n, d, b):
        X = rng.normal(size=(n, d)) + rng.choice([-1, 1], (n, 1)) * 2
        return dict(X=X, y=rng.choice([-1.0, 1.0], n), w=clear(rng, d), b=b)

    yield "points on both sides", points(7, 2, rng.uniform(0.5, 1))
    yield "points on both sides", points(5, 3, -rng.uniform(4, 6))
    X, y, v = split(rng)
    right = dict(X=X, w=v[:-1] / 7, b=v[-1] / 7)
    yield "all are right: a positive margin", dict(y=y, **right)
    yield "all are wrong", dict(y=-y, **right)
    yield (
        "one of them is wrong",
        dict(y=np.where(np.arange(6) == rng.integers(6), -y, y), **right),
    )
    # The length of w is a power of 2: the score is exactly 0 whether w is divided first or last.
    aside = [
        [0.0, 0, 0, 0],
        [2, -2, 0, 0],
        [0, 1, 3, -4],
        [1, 1, 1, 1],
        [-1, -1, -1, -1],
    ]
    w = rng.choice([-1.0, 1.0], 4) * rng.choice([1.0, 2.0, 4.0])
    at = np.sign(w) * rng.integers(1, 4, 4) * rng.choice([-1, 1])  # b is not 0
    yield (
        "points on the boundary",
        dict(
            X=np.array(aside) * np.sign(w) * [1, 1, 1, 1] + at,
            y=np.array([1.0, -1, 1, 1, -1]),
            w=w,
            b=-float(w @ at),
        ),
    )
    one = dict(X=-rng.uniform(2, 3, (1, 1)), y=np.ones(1), w=clear(rng, 1))
    yield "one feature, one point", dict(b=rng.uniform(0.5, 1), **one)
    yield (
        "whole numbers",
        dict(
            X=np.array([[1, 2], [-2, -1], [0, -3], [4, 1]]),
            y=np.array([1, -1, 1, -1]),
            w=np.array([3, 4]),
            b=int(rng.integers(1, 4)),
        ),
    )
    for scale in (1e-6, 1e6):
        yield (
            "the length of (w, b) does not count",
            dict(X=X, y=y, w=v[:-1] * scale, b=v[-1] * scale),
        )


judge.mistakes(
    {
        "the score is called distance": (
            "score / np.linalg.norm(w)",
            "score",
            "Multiply w and b by 10. Does the boundary move? Does your distance?",
        ),
        "divides by the squared length": (
            "np.linalg.norm(w)",
            "(w @ w)",
            "What happens to your distance if w and b are doubled? It should stay.",
        ),
        "the bias counts in the length": (
            "np.linalg.norm(w)",
            "np.hypot(np.linalg.norm(w), b)",
            "The distance is measured in the space of x. Is b one of its coordinates?",
        ),
        "the bias is not divided": (
            "distances = score / np.linalg.norm(w)",
            "distances = X @ w / np.linalg.norm(w) + b",
            "Which point of your formula has distance 0? It must lie on the boundary.",
        ),
        "the bias has the other sign": (
            "X @ w + b",
            "X @ w - b",
            "At x = 0 the score is b. What is yours?",
        ),
        "np.sign on the boundary": (
            "np.where(score > 0, 1, -1)",
            "np.sign(score)",
            "Which label does a point exactly on the boundary get? There are two labels only.",
        ),
        "the boundary is called positive": (
            "score > 0",
            "score >= 0",
            "The text has sgn(0) = -1. Do you test > or >=?",
        ),
        "a distance without a sign": (
            "score / np.linalg.norm(w)",
            "np.abs(score) / np.linalg.norm(w)",
            "The distance is negative on the far side of w. Where did the sign go?",
        ),
        "the margin without labels": (
            "np.min(y * distances)",
            "np.min(np.abs(distances))",
            "A point on the wrong side: what is y times its distance?",
        ),
        "the margin is a score": (
            "y * distances",
            "y * score",
            "The margin is a distance. Double w and b: does yours change?",
        ),
        "the mean for the smallest": (
            "np.min(y * distances)",
            "np.mean(y * distances)",
            "One point on the wrong side makes the margin negative. Does it make yours?",
        ),
    }
)


judge.worked(
    why="""The score grows by ‖w‖ for each unit that you walk along w, so dividing by ‖w‖ turns it into a length. The label needs no
    division: a positive factor moves no sign. And y times distance has the sign of being right, so one minimum says
    whether all points are right *and* by how much the closest one is."""
)


@judge.right("point by point, in lists")
def _(X, y, w, b):
    length = sum(float(c) ** 2 for c in w) ** 0.5
    scores = [sum(float(a) * float(c) for a, c in zip(x, w)) + b for x in X]
    far = [s / length for s in scores]
    return [1 if s > 0 else -1 for s in scores], far, min(u * s for u, s in zip(far, y))


@judge.right("the unit vector first, in torch")
def _(X, y, w, b):
    X, y, w = (torch.as_tensor(a, dtype=torch.float64) for a in (X, y, w))
    far = X @ (w / w.norm()) + b / w.norm()
    return 2 * (far > 0) - 1, far, (y * far).min()


# ----------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=close(rtol=1e-6, atol=1e-12),
    data_dependent="the result lists the mistakes, and the run ends where it settles or comes back",
    limit=5.0,
    hints=[
        "Two loops, one in the other: passes, and the rows of a pass. Three things grow: the path, the mistakes of each "
        "pass, and what you have seen at the beginning of passes.",
        "Lift the rows first. In the inner loop ask whether y times the score is at most 0; if so, make a new v, keep it and "
        "count. After the inner loop: no mistake? an old v? Else remember this v, and go on.",
        "tuple(v) of an array can stand in a set, and `in` asks for it. v = v + y[i] * Z[i] makes a new array; += would "
        "change what is already in your path. Put the start into the set before the first pass, and return from inside "
        "the loop.",
    ],
)


def _run(X, y, order, max_passes):
    """How a run ends: (its word, first pass that began with its last v, passes, mistakes, last v)."""
    v, begins, made = np.zeros(X.shape[1] + 1), [], 0
    rows = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    for number in range(max_passes):
        begins.append(v)
        before = made
        for row in rows[order]:
            if row @ v <= 0:
                v, made = v + row, made + 1
        if made == before:
            return "settled", number, number + 1, made, v
        same = [k for k, old in enumerate(begins) if np.array_equal(old, v)]
        if same:
            return "loops", same[0], number + 1, made, v
    return "open", max_passes, max_passes, made, v


def _drawn(rng, wanted, order=None):
    """Five small rows in some order whose run ends as wanted(*its end): drawn until it does."""
    while True:
        X, y = rng.integers(-2, 3, (5, 2)).astype(float), rng.choice([-1.0, 1.0], 5)
        shuffled = rng.permutation(5)
        case = dict(X=X, y=y, order=shuffled if order is None else order, max_passes=12)
        # the first row to be seen has another label than row 0: whoever ignores the order differs at once
        if y[case["order"][0]] != y[0] and wanted(*_run(**case)):
            return case


@train.cases
def _(rng):
    or_ = dict(X=CORNERS, y=OR, order=np.arange(4))
    yield "rows that a line separates", dict(max_passes=20, **or_)
    for sign in (1, -1):
        X, y, _ = split(rng)
        yield (
            "rows that a line separates",
            dict(X=X * sign, y=y, order=rng.permutation(6), max_passes=20),
        )
    X, y, _ = split(rng, 4)
    yield (
        "rows that a line separates",
        dict(X=X, y=y, order=rng.permutation(6), max_passes=20),
    )
    yield "the last pass ends the run", dict(max_passes=6, **or_)
    yield "one pass too few", dict(max_passes=5, **or_)
    case = _drawn(rng, lambda how, _, passes, *rest: how == "settled" and passes >= 4)
    passes = _run(**case)[2]
    yield "the last pass ends the run", case | dict(max_passes=passes)
    yield "one pass too few", case | dict(max_passes=passes - 1)
    small = 2.0 ** -rng.integers(1, 5)
    yield (
        "a small score is no mistake",  # after two mistakes each is right by 2 small²
        dict(
            X=np.array([[small], [-small]]),
            y=np.array([1.0, -1.0]),
            order=np.arange(2),
            max_passes=9,
        ),
    )
    scale = rng.integers(1, 4, 2)
    yield (
        "runs that come back",
        dict(
            X=CORNERS * scale,
            y=XOR * rng.choice([-1, 1]),
            order=np.arange(4),
            max_passes=9,
        ),
    )
    case = _drawn(
        rng,
        lambda how, first, passes, *rest: how == "loops" and 2 <= first < passes - 2,
    )
    passes = _run(**case)[2]
    yield "runs that come back", case
    yield "the last pass ends the run", case | dict(max_passes=passes)
    yield "one pass too few", case | dict(max_passes=passes - 1)
    case = _drawn(
        rng,
        lambda how, first, passes, *rest: how == "loops" and first == passes - 1 > 0,
    )
    yield "runs that come back", case
    # a second look finds a mistake again, and a row that is left out stays wrong
    once, twice = np.array([4, 1, 3]), np.array([4, 1, 1, 3])
    while True:
        case = _drawn(
            rng, lambda how, _, passes, *rest: how == "settled" and passes < 8, once
        )
        how, _, _, made, v = _run(**case | dict(order=twice))
        wrong = (case["X"] @ v[:-1] + v[-1]) * case["y"] <= 0
        if how == "settled" and wrong.any() and made != _run(**case)[3]:
            break
    yield "rows twice, and rows left out", case | dict(order=twice)
    X, y, _ = split(rng)
    order = rng.integers(0, 6, 15)
    order[0] = np.flatnonzero(y < 0)[0]  # so that a score of 0 decides
    yield "rows twice, and rows left out", dict(X=X, y=y, order=order, max_passes=1)
    step = 2.0**-40  # the states differ by this, and no two are the same
    yield (
        "nearly the same is not the same",
        dict(
            X=np.array([[1.0], [2.0]]) * step,
            y=np.array([1.0, -1.0]),
            order=np.arange(2),
            max_passes=8,
        ),
    )
    for label in (1.0, -1.0):
        yield (
            "one row, or no pass at all",
            dict(
                X=rng.integers(1, 5, (1, 3)) * 1.0,
                y=np.array([label]),
                order=np.zeros(1, int),
                max_passes=3,
            ),
        )
    yield (
        "whole numbers",
        dict(X=CORNERS.astype(int), y=OR.astype(int), order=np.arange(4), max_passes=9),
    )
    yield "one row, or no pass at all", dict(max_passes=0, **or_)


train.mistakes(
    {
        "a score of 0 passes": (
            "(Z[i] @ v) <= 0",
            "(Z[i] @ v) < 0",
            "At v = 0 every score is 0. Does your run ever leave the start?",
        ),
        "right by less than 1 is a mistake": (
            "(Z[i] @ v) <= 0",
            "(Z[i] @ v) < 1",
            "A row whose score is 0.5, on its own side: is that a mistake?",
        ),
        "a score of 0 counts as label −1": (
            "y[i] * (Z[i] @ v) <= 0",
            "(1 if Z[i] @ v > 0 else -1) != y[i]",
            "A score of exactly 0 is a mistake for both labels. What does your test say where y = -1?",
        ),
        "the label is forgotten in the update": (
            "v + y[i] * Z[i]",
            "v + Z[i]",
            "On a mistake with label -1 the score must fall. Does yours?",
        ),
        "the update goes the wrong way": (
            "v + y[i] * Z[i]",
            "v - y[i] * Z[i]",
            "After the update, has y times the score of this row risen?",
        ),
        "no bias": (
            "np.column_stack([X, np.ones(len(X))])",
            "np.column_stack([X, np.zeros(len(X))])",
            "Follow b at the first mistake of OR, at (0, 0). What can w learn from that point?",
        ),
        "the bias first": (
            "np.column_stack([X, np.ones(len(X))])",
            "np.column_stack([np.ones(len(X)), X])",
            "v = (w, b): in which column does the bias stand?",
        ),
        "judges by the v of the pass's start": (
            "for i in order:\n            if y[i] * (Z[i] @ v) <= 0:",
            "old = v\n        for i in order:\n            if y[i] * (Z[i] @ old) <= 0:",
            "Which v judges the next row: that of the pass's start, or the newest?",
        ),
        "every row of the path is the last": (
            'np.array(path), mistakes, "open"',
            'np.array([path[-1]] * len(path)), mistakes, "open"',
            "`v += …` changes the array that is already in your list. Is path[0] still 0?",
        ),
        "goes through the rows, not the order": (
            "for i in order",
            "for i in range(len(X))",
            "order names the rows of a pass. It may leave some out.",
        ),
        "only the last pass counts as seen": (
            "seen.add(tuple(v))",
            "seen = {tuple(v)}",
            "A loop may take several passes. How far back do you look?",
        ),
        "only the start counts as seen": (
            "        seen.add(tuple(v))\n",
            "",
            "A loop need not lead back to 0. What else must be remembered?",
        ),
        "the start is not seen": (
            "{tuple(v)}",
            "set()",
            "XOR comes back to v = 0 after its first pass. Did you remember where that pass began?",
        ),
        "nearly the same counts as seen": (
            "tuple(v) in seen",
            "any(np.allclose(v, u) for u in seen)",
            "Two states that differ by little lead to two futures. Is it the same v, exactly?",
        ),
        "every v on the way counts as seen": (
            "mistakes[-1] += 1",
            "mistakes[-1] += 1\n                seen.add(tuple(v))",
            "In the middle of a pass other rows come next. Which v's lead to the same future?",
        ),
        "a silent pass is called a loop": (
            '"settled"',
            '"loops"',
            "After a pass without mistakes v is the same as before. Which of the three ends is that?",
        ),
        "a pass that changes nothing in the end is called settled": (
            "if mistakes[-1] == 0:",
            "if np.array_equal(v, path[-1 - mistakes[-1]]):",
            "XOR's first pass makes four mistakes and ends at 0, where it began. Has the machine settled?",
        ),
        "the silent pass is not counted": (
            'return np.array(path), mistakes, "settled"',
            'return np.array(path), mistakes[:-1], "settled"',
            "The run ends after a pass with 0 mistakes. Does your list end with it?",
        ),
        "stops as soon as all rows are right": (
            "if mistakes[-1] == 0:",
            "if np.all(y * (Z @ v) > 0):",
            "You look at rows between passes, and end before the silent pass. The text ends after it.",
        ),
        "the path without its start": (
            "path, mistakes, seen = [v], [], {tuple(v)}",
            "path, mistakes, seen = [], [], {tuple(v)}",
            "M mistakes make M + 1 rows. Which one is missing?",
        ),
        "a v for each step": (
            "                path.append(v)\n                mistakes[-1] += 1",
            "                mistakes[-1] += 1\n            path.append(v)",
            "The path has one row for each mistake, not for each look.",
        ),
        "mistakes are added up over the passes": (
            "mistakes.append(0)",
            "mistakes.append(mistakes[-1] if mistakes else 0)",
            "How many mistakes had this pass, not the run so far?",
        ),
    }
)


train.worked(
    why="""With the rows lifted, w and b are one vector and the rule is one line. What decides the future of the machine is the v with which
    a pass begins, and nothing else: so a set of such v's is all that it takes to see a loop, exactly and with the start in it.
    A silent pass is looked at first, since after it v is an old acquaintance, too. `v = v + …` makes a new array each time."""
)


@train.right("w and b apart, a list of begins, a while loop")
def _(X, y, order, max_passes):
    w, b, W, B, mistakes, begins = np.zeros(X.shape[1]), 0.0, [], [], [], []
    W.append(w), B.append(b)
    end = "open"
    while len(mistakes) < max_passes and end == "open":
        begins.append((w, b))
        before = len(W)
        for i in order:
            if not y[i] * (X[i] @ w + b) > 0:
                w, b = w + y[i] * X[i], b + y[i]
                W.append(w), B.append(b)
        mistakes.append(len(W) - before)
        back = any(np.array_equal(w, u) and b == c for u, c in begins)
        end = "loops" if back else "open"
        end = "settled" if mistakes[-1] == 0 else end
    return np.column_stack([W, B]), mistakes, end


@train.right("signed rows, single precision, bytes in a dictionary")
def _(X, y, order, max_passes):
    G = (np.column_stack([X, np.ones(len(X))]) * y[:, None]).astype(np.float32)
    v, path, counts = np.zeros(G.shape[1], np.float32), [], []
    path.append(v.tolist())
    seen = {v.tobytes(): 0}
    for number in range(max_passes):
        made = 0
        for row in G[order]:
            if row @ v <= 0:
                v, made = v + row + np.float32(0), made + 1
                path.append(v.tolist())
        counts.append(made)
        if not made:
            return path, counts, "settled"
        if seen.setdefault((v + np.float32(0)).tobytes(), number + 1) <= number:
            return path, counts, "loops"
    return path, counts, "open"


@train.right("a pass at a time", library="sklearn.linear_model.Perceptron")
def _(X, y, order, max_passes):
    from sklearn.linear_model import Perceptron

    rows, labels = X[order], np.asarray(y)[order]
    model = Perceptron(shuffle=False, tol=None, max_iter=1)
    v, path, mistakes, seen = np.zeros(X.shape[1] + 1), [], [], []
    path.append(v)
    for _ in range(max_passes):
        seen.append(v)
        mistakes.append(0)
        for row, label in zip(rows, labels):  # its steps, one by one
            model.partial_fit(row[None], [label], classes=[-1, 1])
            now = np.append(model.coef_, model.intercept_)
            if not np.array_equal(now, v):
                path.append(now)
                mistakes[-1] += 1
            v = now
        if mistakes[-1] == 0:
            return np.array(path), mistakes, "settled"
        if any(np.array_equal(v, old) for old in seen):
            return np.array(path), mistakes, "loops"
    return np.array(path), mistakes, "open"


# --------------------------------------------------------------------------------- mistake_bound

mistake_bound = Exercise(
    "mistake_bound",
    reference=reference.mistake_bound,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("X", "y", "v"),
    hints=[
        "The theorem speaks of lifted rows (x, 1) and of a v of length 1. Which lengths does that change?",
        "gamma: y times the scores, the smallest of them, over the length of v with its bias. C: the longest lifted row. And "
        "when does the theorem promise anything?",
        "Lift as in train. np.linalg.norm(v) is the length of v; np.linalg.norm(Z, axis=1) has those of the rows. Return "
        "math.inf where gamma is not above 0, before you square.",
    ],
)


@mistake_bound.cases
def _(rng):
    yield "a v that separates", dict(X=CORNERS, y=OR, v=np.array([2.0, 2.0, -1.0]))
    X, y, v = split(rng)
    X4, y4, v4 = split(rng, 4)
    yield "a v that separates", dict(X=X, y=y, v=v)
    yield "a v that separates", dict(X=X4 / 3, y=y4, v=v4 * [3, 3, 3, 3, 1])
    for factor in (100.0, 0.01):
        yield "the length of v does not count", dict(X=X, y=y, v=v * factor)
    yield "some rows on the wrong side", dict(X=X, y=y * [1, 1, -1, 1, 1, -1], v=v)
    narrow = dict(X=CORNERS * rng.integers(1, 4), y=np.ones(4))  # gamma is -1/3
    yield "some rows on the wrong side", dict(v=np.array([2.0, 2.0, -1.0]), **narrow)
    yield "all rows on the wrong side", dict(X=X, y=y, v=-v)
    yield (
        "a row on the boundary",
        dict(
            X=CORNERS * rng.integers(1, 4),
            y=OR,
            v=np.array([rng.integers(1, 4), 0.0, 0.0]),
        ),
    )
    v = np.array([rng.uniform(1, 3), 0.0])
    for size in (0.1, 1e-7):
        tiny = dict(X=np.array([[size], [-2 * size]]), y=np.array([1.0, -1.0]), v=v)
        yield "small features: the 1 is the longest part", tiny
    yield (
        "one row",
        dict(X=clear(rng, 3)[None], y=np.array([-1.0]), v=-np.append(np.zeros(3), 2.0)),
    )
    yield (
        "whole numbers",
        dict(X=X4.astype(int), y=y4.astype(int), v=v4.astype(int)),
    )


mistake_bound.mistakes(
    {
        "v is not of length 1": (
            " / np.linalg.norm(v)",
            "",
            "Multiply v by 100. The classifier stays the same; does your bound?",
        ),
        "the length of w alone": (
            "np.linalg.norm(v)",
            "np.linalg.norm(v[:-1])",
            "The theorem runs on lifted rows. Which entry of v is missing from your length?",
        ),
        "C without the 1": (
            "np.linalg.norm(Z, axis=1)",
            "np.linalg.norm(X, axis=1)",
            "How long is the lifted row of the point (0, 0)?",
        ),
        "the mean for the smallest": (
            "np.min(y * (Z @ v))",
            "np.mean(y * (Z @ v))",
            "The bound must survive the worst row. Which of the n values is that?",
        ),
        "the mean for the longest": (
            "np.max(np.linalg.norm(Z, axis=1))",
            "np.mean(np.linalg.norm(Z, axis=1))",
            "Line 2 of the proof must hold for each row. Which length does it need?",
        ),
        "the size of the whole table": (
            "np.max(np.linalg.norm(Z, axis=1))",
            "np.linalg.norm(Z)",
            "C is the length of one row. Is yours that of all of them together?",
        ),
        "the largest number for the longest row": (
            "np.max(np.linalg.norm(Z, axis=1))",
            "np.max(np.abs(Z))",
            "How long is the row (3, 4)?",
        ),
        "without the square": (
            "(C / gamma) ** 2",
            "C / gamma",
            "For OR, C² = 3 and gamma = 1/3. Is your bound 27?",
        ),
        "only C is squared": (
            "(C / gamma) ** 2",
            "C**2 / gamma",
            "For OR, C² = 3 and gamma = 1/3. Is your bound 27?",
        ),
        "absolute values hide the wrong side": (
            "y * (Z @ v)",
            "np.abs(Z @ v)",
            "If v does not separate, the theorem says nothing. Where are the labels in your margin?",
        ),
        "a finite bound without a separator": (
            "if gamma <= 0",
            "if gamma == 0",
            "What does the theorem promise when gamma is negative? The square hides the sign.",
        ),
        "a negative margin is set to 0": (
            "return gamma, C, math.inf",
            "return max(gamma, 0.0), C, math.inf",
            "gamma is asked for also where it is not positive.",
        ),
    }
)


# For numpy's numbers C / 0 is inf, so its square is what the text asks for.
mistake_bound.equivalent(
    {
        "if gamma <= 0: → if gamma < 0:": "bound is C² / gamma², math.inf where v does not separate",
    }
)


mistake_bound.worked(
    why="""The proof lives in the lifted space: there the machine starts at 0, its rows are (x, 1), and v with its bias has length 1.
    So each length is taken there. Any v that separates proves a bound, the one of widest margin the best. Where gamma is not
    positive nothing is proved, and the square would hide it: look at the sign first."""
)


@mistake_bound.right("without lifting")
def _(X, y, v):
    size = np.sqrt(v[:-1] @ v[:-1] + v[-1] ** 2)
    gamma = (y * (X @ v[:-1] + v[-1])).min() / size
    C = np.sqrt((X**2).sum(axis=1).max() + 1)
    return gamma, C, C**2 / gamma**2 if gamma > 0 else np.inf


@mistake_bound.right("row by row, in lists")
def _(X, y, v):
    v, rows = [float(c) for c in v], [[*map(float, x), 1.0] for x in X]
    size = sum(c * c for c in v) ** 0.5
    least = min(s * sum(a * c for a, c in zip(z, v)) / size for z, s in zip(rows, y))
    C = max(sum(a * a for a in z) for z in rows) ** 0.5
    return [least, C, (C / least) ** 2 if least > 0 else float("inf")]


# ------------------------------------------------------------------------------------- separable

separable = Exercise(
    "separable",
    # The probe has verified the proof, so the verdict is all that is left to compare.
    reference=lambda X, y: {
        "separable": reference.separable(X, y),
        "the proof is all zeros": False,
        "a multiplier is negative": False,
        "the proof holds": True,
    },
    compare=exact(),
    batched=("X", "y"),
    hints=[
        "Two linear programmes, one for each kind of proof. Exactly one of them has a solution. Which bounds does linprog "
        "put on its variables if you say nothing?",
        "G has the rows y_i (x_i, 1). For lam: lam >= 0, with G.T @ lam = 0 and the sum 1. For v: G @ v >= 1, and v free.",
        "linprog(np.zeros(n), A_eq=np.vstack([G.T, np.ones(n)]), b_eq=…): status 0 means found, and .x is lam. "
        "Else a second linprog for v: G @ v >= 1 is written A_ub=-G, b_ub=-np.ones(n), and v needs bounds=….",
    ],
)


@separable.probe
def _(answer, X, y):
    verdict, proof = answer(X, y)
    G = np.column_stack([X, np.ones(len(X))]) * np.reshape(y, (-1, 1))
    size, proof = np.abs(G).max(), np.asarray(proof, float)
    if verdict:
        holds = proof.shape == (G.shape[1],)
        holds = holds and np.min(G @ proof) > 1e-9 * size * np.max(np.abs(proof))
    else:
        holds = proof.shape == (len(G),) and proof.min() > -1e-9
        holds = holds and abs(proof.sum() - 1) < 1e-6
        holds = holds and np.abs(proof @ G).max() < 1e-6 * size
    return {
        "separable": bool(verdict),
        "the proof is all zeros": bool(np.all(np.abs(proof) < 1e-12)),
        "a multiplier is negative": not verdict and bool(np.any(proof < -1e-9)),
        "the proof holds": bool(holds),
    }


@separable.cases
def _(rng):
    for d in (2, 3):
        # the first two rows stand on one ray from 0: no plane through 0 parts them
        u, side = clear(rng, d), np.resize([1.0, -1.0], 6)
        u, aside = u / np.linalg.norm(u), rng.normal(size=(6, d))
        aside = (aside - np.outer(aside @ u, u)) * (np.arange(6) > 1)[:, None]
        X = np.outer(2 + side * rng.uniform(1, 2, 6), u) + aside
        yield "a plane with a gap", dict(X=X, y=side)
    shift = rng.permutation([1.0, 2.0])  # near: the perceptron needs 52 passes
    for sign in (1, -1):
        yield "the line misses the origin", dict(X=CORNERS + shift, y=sign * OR)
    stretch = rng.integers(1, 4, 2).astype(float)
    yield "XOR", dict(X=CORNERS * stretch - shift, y=XOR * rng.choice([-1.0, 1.0]))
    for sign in (1, -1):
        X = np.r_[_ring(rng, 5), 0.2 * rng.normal(size=(3, 2))]
        yield (
            "one class inside the other",
            dict(X=X, y=sign * np.array([1.0] * 5 + [-1] * 3)),
        )
    # The shortest lam that balances has negative entries: -0.02 at the last point.
    X = np.array([[0.0], [1], [2], [8], [9], [10]]) * rng.choice([-2, -1, 1, 2])
    yield (
        "one class inside the other",
        dict(X=X + rng.integers(0, 4), y=np.array([1.0, -1, 1, 1, 1, 1])),
    )
    X = np.abs(rng.normal(size=(4, 2))) * [[1, 0], [1, 1], [1, 1], [1, 1]]
    yield (
        "one point with both labels",
        dict(X=np.r_[X, X[:1]], y=np.array([1.0, 1, 1, 1, -1])),
    )
    for sign in (1, -1):
        yield "only one label", dict(X=_ring(rng, 4), y=sign * np.ones(4))
    X = np.array([[9.0], [10], [10.2], [12]]) + rng.integers(0, 4)
    for sign in (1, -1):
        yield "a narrow gap", dict(X=X, y=sign * np.array([-1.0, -1, 1, 1]))
    yield "one row", dict(X=clear(rng, 2)[None], y=np.array([-1.0]))
    yield "whole numbers", dict(X=CORNERS.astype(int), y=OR.astype(int))


def _ring(rng, n):
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.3, n)) / n
    return 3 * np.column_stack([np.cos(angle), np.sin(angle)])


@separable.wrong(
    "a hundred passes of the perceptron",
    advice="A run that has not stopped proves nothing: it may stop later. What certificate do you return?",
)
def _(X, y):
    G, v = np.column_stack([X, np.ones(len(X))]) * y[:, None], np.zeros(X.shape[1] + 1)
    for _ in range(100):
        for row in G:
            v = v + row * (row @ v <= 0)
    found = bool(np.all(G @ v > 0))
    return found, v if found else np.full(len(y), 1 / len(y))


separable.mistakes(
    {
        "v = 0 passes": (
            "b_ub=-np.ones(n)",
            "b_ub=np.zeros(n)",
            "Your programme has a solution for every data set, v = 0. How do you say 'above 0' to a solver that knows only '>='?",
        ),
        "linprog keeps v at or above 0": (
            ", bounds=(None, None)",
            "",
            "Without bounds=…, linprog takes every variable to be at least 0. May w and b be negative?",
        ),
        "lam may be negative": (
            "b_eq=np.append(np.zeros(D), 1))",
            "b_eq=np.append(np.zeros(D), 1), bounds=(None, None))",
            "Look at the smallest of your multipliers. Which values are allowed?",
        ),
        "lam = 0 passes": (
            "np.append(np.zeros(D), 1)",
            "np.zeros(D + 1)",
            "lam = 0 balances every data set. Which condition forbids it?",
        ),
        "lam adds up to n": (
            "return False, found.x",
            "return False, found.x * n",
            "What do your multipliers add up to?",
        ),
        "no bias in the rows": (
            "np.column_stack([X, np.ones(len(X))])",
            "np.column_stack([X, np.zeros(len(X))])",
            "Must your line go through the origin? Lift the rows first.",
        ),
        "the labels are left out": (
            " * y[:, None]",
            "",
            "Both classes ask for a positive score in your programme. Where does y enter?",
        ),
        "v is turned round": (
            "return True, found.x",
            "return True, -found.x",
            "Put your v into <g_i, v>: which sign do you get?",
        ),
    }
)


separable.equivalent(
    {
        "G = np.column_stack([X, np.ones(len(X))]) * y[:, None] → "
        "G = np.column_stack([X, np.ones(len(X))]) / y[:, None]": "y (n,) of +1 and -1",
    }
)


separable.worked(
    why="""Exactly one of two programmes can be met, so the first one that is met decides, and its solution is the proof: anybody can check it
    by one product, without trusting the solver. A strict > 0 becomes >= 1, because a separating v may be made as long as you like.
    The sum 1 does the same for lam: it forbids the empty proof lam = 0."""
)


@separable.right("the widest band in a box, lam from the solver's prices")
def _(X, y):
    G = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    n, D = G.shape
    bounds = [(-1, 1)] * D + [(None, 1)]
    band = np.column_stack([-G, np.ones(n)])
    best = linprog(
        np.append(np.zeros(D), -1.0), A_ub=band, b_ub=np.zeros(n), bounds=bounds
    )
    if best.x[-1] > 1e-7:
        return True, best.x[:-1].tolist()
    lam = -best.ineqlin.marginals
    return False, (lam / lam.sum()).tolist()


@separable.right("the shortest mean of signed rows", library="scipy.optimize.nnls")
def _(X, y):
    from scipy.optimize import nnls

    G = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    A, goal = np.vstack([G.T, np.ones(len(G))]), np.append(np.zeros(G.shape[1]), 1.0)
    lam, rest = nnls(A, goal)  # lam >= 0, sum near 1, mean of the g near 0
    if rest < 1e-7:
        return False, lam / lam.sum()
    return True, G.T @ lam


# --------------------------------------------------------------------------------------- recover

recover = Exercise(
    "recover",
    reference=reference.recover,
    compare=close(rtol=1e-6, atol=1e-9),
    data_dependent="what f is, is told in a word",
    hints=[
        "Which single call tells b? What does f give at a unit vector, and what is in it besides w_j?",
        "f(0) = b, and f(e_j) = w_j + b. Then compare f(x) with <x, w> + b at all rows of X: how far apart are they at worst?",
        "b = f(np.zeros(d)); the rows of np.eye(d) are the unit vectors. max(abs(…) for x in X) is the worst difference: above "
        "1e-6 it is neither. What is left depends on abs(b).",
    ],
)


@recover.probe
def _(answer, w, b, bend, X):
    def f(x):
        x = np.asarray(x, float)
        return float(x @ w + b + np.minimum(x, 0) @ bend)

    return answer(f, len(w), X)


@recover.cases
def _(rng):
    def case(d, b, bend=0.0, X=None):
        X = rng.normal(size=(4, d)) if X is None else X
        return dict(w=clear(rng, d), b=b, bend=np.full(d, bend), X=X)

    for sign in (1, -1):
        yield "an affine function", case(3 + (sign > 0), sign * rng.uniform(1, 2))
        yield "an affine function", case(2, sign * rng.uniform(0.01, 0.02))
    yield "a linear function", case(5, 0.0)
    X = np.abs(rng.normal(size=(4, 3))) + 0.1
    X[rng.integers(1, 4), rng.integers(3)] *= -1
    for sign in (1, -1):
        yield "one test point tells", case(3, 0.0, sign * 0.5, X)
        yield "one test point tells", case(3, 2.0, sign * 0.5, X)
    many = -np.abs(X) * [[1.0], [1], [1], [-1]]
    yield "all but one tell", case(3, rng.uniform(1, 2), 0.5, many)
    yield "a bend that no test point sees", case(3, rng.uniform(1, 2), 0.5, np.abs(X))
    yield "a bend that no test point sees", case(3, 0.0, 0.5, np.abs(X))
    yield "rounding is no bend", case(2, 1e5 * rng.uniform(1, 2))
    # at the rows of X f is twice the bend below the plane; half of 1e-6 at each of four rows is not more
    for bend in (9e-7, 2.5e-7):
        for b in (0.0, rng.uniform(1, 2)):
            yield "a bit more than 1e-6, and less", case(2, b, bend, -np.ones((4, 2)))
    # at one row of four it is 1.8e-6 below: the mean of all four is not more than 1e-6
    one = np.where(np.arange(4) == rng.integers(1, 4), -1.0, 1.0)
    yield (
        "a bit more than 1e-6, and less",
        case(2, 0.0, 9e-7, np.column_stack([one, one])),
    )
    for b in (1.8e-6, 5e-7):
        for sign in (1, -1):
            yield "a bit more than 1e-6, and less", case(2, sign * b)
    # nothing is rounded here: f(0) is 1e-6; with w = 0, b = 0 so far is f from 0 at the row of X
    for sign in (1, -1):
        yield "1e-6 itself is not more", case(2, sign * 1e-6)
        bend = np.array([sign * 1e-6, 0.0])
        row = dict(w=np.zeros(2), b=0.0, bend=bend, X=-np.eye(2)[:1])
        yield "1e-6 itself is not more", row
    yield "one feature", case(1, rng.uniform(1, 2))
    flat = dict(w=np.zeros(3), bend=np.zeros(3), X=rng.normal(size=(2, 3)))
    yield "a constant, or zero everywhere", dict(b=rng.uniform(1, 2), **flat)
    yield "a constant, or zero everywhere", dict(b=0.0, **flat)


recover.mistakes(
    {
        "the bias is left in the weights": (
            "f(e) - b for e",
            "f(e) for e",
            "What does f give at a unit vector if all weights are 0? That is in your w too.",
        ),
        "no bias at all": (
            "b = f(np.zeros(d))",
            "b = 0.0",
            "Call f at the zero vector. Is the result always 0?",
        ),
        "the first test point decides": (
            "for x in X)",
            "for x in X[:1])",
            "Is f affine at one row of X, or at all of them?",
        ),
        "the nearest test point decides": (
            "max(abs",
            "min(abs",
            "One row at which f differs is enough: which difference do you look at?",
        ),
        "the mean difference decides": (
            "max(abs(f(x) - (x @ w + b)) for x in X)",
            "np.mean([abs(f(x) - (x @ w + b)) for x in X])",
            "One row is enough. What does your mean make of it among many?",
        ),
        "signed differences": (
            "max(abs(f(x) - (x @ w + b)) for x in X)",
            "max(f(x) - (x @ w + b) for x in X)",
            "f may lie above or below. What is the largest of your differences where it lies below?",
        ),
        "compared without the bias": (
            "(x @ w + b)",
            "(x @ w)",
            "f(x) is compared with <x, w> + b. Is b in your comparison?",
        ),
        "linear whatever the bias": (
            "abs(b) <= 1e-6",
            "b <= 1e-6",
            "b = -1: is f linear?",
        ),
        "affine and linear swapped": (
            '"linear" if abs(b) <= 1e-6 else "affine"',
            '"affine" if abs(b) <= 1e-6 else "linear"',
            "f(x + z) = f(x) + f(z) at x = z = 0: what must f(0) be for a linear f?",
        ),
    }
)


recover.worked(
    why="""At 0 all weights drop out and b is left; at the unit vector j one of them comes back. That determines an affine f at every x.
    Whether f *is* affine, no finite number of questions proves: a test can refute it, as one bad point is enough. So the worst
    point decides, with room for rounding."""
)


@recover.right("by least squares on random points")
def _(f, d, X):
    A = np.random.default_rng(0).uniform(0, 1, size=(2 * d + 2, d))
    A1 = np.column_stack([A, np.ones(len(A))])
    v = np.linalg.lstsq(A1, np.array([f(x) for x in A]), rcond=None)[0]
    w, b = v[:-1], f(np.zeros(d))
    bad = not np.allclose([f(x) for x in X], X @ w + b, rtol=1e-12, atol=1e-6)
    return w, b, "neither" if bad else ("linear", "affine")[abs(b) > 1e-6]


@recover.right("lists")
def _(f, d, X):
    units = [[float(i == j) for i in range(d)] for j in range(d)]
    b = f([0.0] * d)
    w = [f(e) - b for e in units]
    for x in X:
        if abs(f(x) - sum(a * c for a, c in zip(x, w)) - b) > 1e-6:
            return w, b, "neither"
    return w, b, "affine" if abs(b) > 1e-6 else "linear"


# -------------------------------------------------------------------------------------- sgd_step

sgd_step = Exercise(
    "sgd_step",
    reference=reference.sgd_step,
    compare=close(rtol=1e-6, atol=1e-9),
    batched=("v", "z"),
    hints=[
        "All three losses are functions of one number, s. What is the derivative of s in v?",
        "The step is v + eta · pull · y z, where pull is minus the slope of the loss at s. What is it for each of the three?",
        "s = y * (z @ v). pull: 1 or 0 for the first two, by comparing s with the place of the kink, which belongs to the 1; "
        "1 / (1 + exp(s)) for the third.",
    ],
)


@sgd_step.cases
def _(rng):
    z = rng.integers(1, 4, 3) * rng.choice([-1.0, 1.0], 3)
    eta = rng.uniform(0.2, 0.8)
    names = {"perceptron": 0.0, "hinge": 1.0, "logistic": 0.0}
    for loss, kink in names.items():
        for y in (1.0, -1.0):
            for s in (kink - 0.5, kink + 0.5):
                v = y * s * z / (z @ z)
                yield f"the {loss} loss", dict(v=v, z=z, y=y, eta=eta, loss=loss)
    unit = np.array([2.0, 0.0, 1.0])
    for y in (1.0, -1.0):
        for loss, kink in names.items():
            v = np.array([y * kink / 2, float(rng.integers(1, 4)), 0.0])
            yield (
                "exactly at a kink",
                dict(v=v, z=unit, y=y, eta=float(rng.uniform(1, 2)), loss=loss),
            )
    far = clear(rng, 3) * 4
    for loss in names:
        for y in (1.0, -1.0):
            yield (
                "a large score",
                dict(v=far, z=np.sign(far) * 9.0, y=y, eta=0.5, loss=loss),
            )
    for loss in names:
        yield (
            "whole numbers",
            dict(v=np.array([0, 1]), z=np.array([2, -1]), y=1, eta=0.5, loss=loss),
        )


sgd_step.mistakes(
    {
        "the label is forgotten in the step": (
            "pull * y * z",
            "pull * z",
            "The derivative of s in v has a factor besides z. Which?",
        ),
        "uphill": (
            "v + eta",
            "v - eta",
            "A row that is wrong: does its s rise by your step?",
        ),
        "the label is forgotten in s": (
            "s = y * (z @ v)",
            "s = z @ v",
            "s says how right the machine is. Can it without the label?",
        ),
        "the rate is forgotten": ("eta * pull", "pull", "Where does eta enter?"),
        "slope 0 at the kink of the perceptron": (
            "s <= 0",
            "s < 0",
            "At v = 0 every s is 0. Does your machine ever move?",
        ),
        "slope 0 at the kink of the hinge": (
            "s <= 1",
            "s < 1",
            "At s = 1 the text asks for the slope -1.",
        ),
        "the hinge's kink at 0": (
            "s <= 1",
            "s <= 0",
            "Where does max(1 - s, 0) become 0?",
        ),
        "the loss in place of its slope": (
            "pull = float(s <= 1)",
            "pull = max(1 - s, 0.0)",
            "The step is proportional to the slope of the loss. How steep is 1 - s?",
        ),
        "the perceptron's step grows with -s": (
            "pull = float(s <= 0)",
            "pull = max(-s, 0.0)",
            "The step is proportional to the slope of the loss. How steep is -s?",
        ),
        "the probability of the right label": (
            "1 / (1 + np.exp(s))",
            "1 / (1 + np.exp(-s))",
            "A row with a large s is right. How far should it pull?",
        ),
    }
)


sgd_step.equivalent(
    {
        "return v + eta * pull * y * z → return v + eta * pull / y * z": "y +1 or -1",
    }
)


sgd_step.worked(
    why="""By the chain rule the gradient is the slope of the loss at s, times y z. So all three steps go along y z, and differ in how hard a
    row pulls: the perceptron fully until it is right, the hinge until it is right by 1, the logistic for ever less.
    At a kink the slope is a choice; -1 lets a machine leave v = 0."""
)


@sgd_step.right("by torch's autograd", library="torch.autograd")
def _(v, z, y, eta, loss):
    v = torch.tensor(v, dtype=torch.float64, requires_grad=True)
    s = y * (torch.tensor(z, dtype=torch.float64) @ v)
    kink = {"perceptron": 0.0, "hinge": 1.0}.get(loss)
    if kink is None:
        value = torch.nn.functional.softplus(-s)
    else:
        value = kink - s if s <= kink else 0 * s  # relu has the slope 0 at its kink
    value.backward()
    return (v - eta * v.grad).detach()


@sgd_step.right("lists, with tanh")
def _(v, z, y, eta, loss):
    s = y * sum(float(a) * float(c) for a, c in zip(v, z))
    pull = 0.5 - 0.5 * float(np.tanh(s / 2))
    if loss != "logistic":
        pull = 0.0 if s > (loss == "hinge") else 1.0
    return [float(a) + eta * pull * y * float(c) for a, c in zip(v, z)]


# ---------------------------------------------------------------------------------- many_classes


def _perceptron_fit(passes):
    """(X, signs) -> v after so many passes over the rows with a sign."""

    def fit(X, signs):
        rows, v = reference.lift(X) * signs.unsqueeze(-1), X.new_zeros(X.shape[-1] + 1)
        for _ in range(passes):
            for row in rows:
                v = v + row * ((row * v).sum() <= 0)
        return v

    return fit


many_classes = Exercise(
    "many_classes",
    reference=lambda X, labels, new, passes: reference.many_classes(
        _perceptron_fit(passes), X, labels, new, int(labels.max()) + 1
    ),
    compare=close(rtol=1e-6, atol=1e-9),
    limit=5.0,
    data_dependent="the largest label says how many classes there are",
    hints=[
        "For each class one machine on all rows; for each pair k < l one on the rows of these two. What does each need: which "
        "rows, which signs, and what do you keep of its scores?",
        "Keep a table of scores (m, c) and one of votes (m, c). A machine of a class fills a column of the first; a machine of a "
        "pair adds one to column k or l of the second, point by point.",
        "c = labels.max() + 1. rows = (labels == k) | (labels == l) picks the pair; np.where(… == k, 1, -1) makes signs. Where "
        "the score is above 0, votes[:, k] grows, elsewhere votes[:, l]. argmax takes the first of equals.",
    ],
)


@many_classes.probe
def _(answer, X, labels, new, passes):
    def fit(A, s):
        w, b = np.zeros(A.shape[1]), 0.0
        for _ in range(passes):
            for x, sign in zip(A, np.asarray(s, float)):
                if sign * (x @ w + b) <= 0:
                    w, b = w + sign * x, b + sign
        return w, b

    return answer(fit, X, labels, new)


def _classes(c, each=3):
    """So many rows of each of c classes at whole numbers around far corners, one fewer of the last, in mixed order."""
    centres = np.array([[5, 4], [-5, 3], [0, -5], [6, -4]])[:c]
    i = np.arange(each * c - 1)
    labels = np.resize(np.arange(c), len(i))[::-1].copy()
    aside = np.column_stack([2 * i % 5, i**2 % 5]) - 2
    return (centres[labels] + aside).astype(float), labels


def _turned(rng, X, new):
    """The same points from another side, new ones in another order: no score changes, so luck decides nothing."""
    axes, signs = rng.permutation(X.shape[1]), rng.choice([-1.0, 1.0], X.shape[1])
    return dict(X=X[:, axes] * signs, new=rng.permutation(new)[:, axes] * signs)


# At these points no score of a pair is 0, and one class alone has the largest score, one the most votes.
AMONG_3 = [[1, 5], [9, 25], [-3, 17], [-15, 13], [-23, 21], [-11, 5], [-23, -11]]
AMONG_4 = [[-27, -27], [17, -27], [25, -7], [21, 21], [-15, -7], [-15, -3], [25, 9]]
AMONG_2 = [[5, -15], [-3, 13], [-11, 9], [1, -3], [-7, 9]]


@many_classes.cases
def _(rng):
    for c, new in ((3, AMONG_3), (4, AMONG_4)):
        X, labels = _classes(c)
        yield (
            "three classes or four",
            dict(labels=labels, passes=c, **_turned(rng, X, np.array(new) / 4)),
        )
    X, labels = _classes(2)
    yield (
        "two classes",
        dict(labels=labels, passes=3, **_turned(rng, X, np.array(AMONG_2) / 4)),
    )
    X = np.array([[-1.0, 3], [2, 1], [0, -3], [-2, -2], [3, -2], [0, 1]])
    # All three win once; the sum of the scores is largest for class 0 in two rows, for 2 in two.
    low, high = np.array([[-3, 0.25], [3.5, -1.5]]), np.array([[-2, 2], [4.5, 0]])
    new = np.round(rng.uniform(low, high, (2, 2, 2)) * 8).reshape(4, 2) / 8
    yield (
        "a three-way tie of votes",
        dict(X=X, labels=np.repeat([0, 1, 2], 2), new=new, passes=3),
    )
    X, height = np.array([[-2.0, 0], [2, 0]]), rng.integers(1, 5, 3).astype(float)
    two = dict(X=X, labels=np.array([1, 0]), passes=2)  # a pair's score is 2 x1 - 1
    yield "a score of 0", dict(new=np.column_stack([[0.5, 0.75, 0.25], height]), **two)
    yield (
        "two rows, class 1 first",
        dict(new=np.column_stack([[-0.25, 0.25, 0.25], height]), **two),
    )
    # fit with no pass gives w = 0, b = 0: all scores are 0
    X, labels = _classes(3)
    yield (
        "all scores are 0",
        dict(X=X, labels=labels, new=rng.normal(size=(2, 2)), passes=0),
    )
    X, labels = _classes(4)
    # the classes of most votes and of the largest score differ, and no score is near 0
    new = rng.choice([0.5, 1.44]) + rng.uniform(-0.05, 0.05, (1, 1))
    yield (
        "one new point, one feature",
        dict(labels=labels, passes=2, **_turned(rng, X[:, :1], new)),
    )


many_classes.mistakes(
    {
        "the bias is left out of a class's score": (
            "scores[:, k] = new @ w + b",
            "scores[:, k] = new @ w",
            "fit returns two things, w and b. Do both enter your score?",
        ),
        "the bias is left out of a pair's score": (
            "for_k = new @ w + b > 0",
            "for_k = new @ w > 0",
            "fit returns two things, w and b. Do both enter your score?",
        ),
        "the other classes stay in as negatives": (
            "(labels == k) | (labels == l)",
            "labels >= 0",
            "Which rows may the machine of the pair (k, l) see?",
        ),
        "a score of 0 votes for k": (
            "b > 0",
            "b >= 0",
            "sgn(0) = -1 in this course. For which class of the pair does -1 stand?",
        ),
        "k is the negative class": (
            "np.where(labels[rows] == k, 1, -1)",
            "np.where(labels[rows] == l, 1, -1)",
            "Which class of the pair has label +1 when you fit, and which gets the vote when the score is positive?",
        ),
        "one-vs-all with the signs swapped": (
            "np.where(labels == k, 1, -1))\n        scores",
            "np.where(labels == k, -1, 1))\n        scores",
            "The largest score wins. Which rows have the label +1?",
        ),
        "a tie of votes goes to the last class": (
            "votes, votes.argmax(axis=1)",
            "votes, votes.shape[1] - 1 - votes[:, ::-1].argmax(axis=1)",
            "If several classes have equally many votes, which one does the text take?",
        ),
        "a tie of scores goes to the last class": (
            "return scores.argmax(axis=1)",
            "return scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)",
            "If several classes have equal scores, which one does the text take?",
        ),
        "each pair twice": (
            "range(k + 1, c)",
            "[l for l in range(c) if l != k]",
            "Each pair k < l casts one vote. How many votes has a point in yours?",
        ),
        "the last class is forgotten": (
            "c = labels.max() + 1",
            "c = labels.max()",
            "Labels run from 0. With the largest label 2, how many classes are there?",
        ),
        "one-vs-all counts its positive scores": (
            "return scores.argmax(axis=1)",
            "return (scores > 0).argmax(axis=1)",
            "Several machines may claim a point, or none. Which of them does the text believe?",
        ),
    }
)


@many_classes.wrong(
    "votes are raw scores",
    advice="How much should one long v count? Multiply one pair's w and b by 1000: votes do not change.",
)
def _(fit, X, labels, new):
    c = labels.max() + 1
    scores, votes = np.zeros((len(new), c)), np.zeros((len(new), c))
    for k in range(c):
        w, b = fit(X, np.where(labels == k, 1, -1))
        scores[:, k] = new @ w + b
        for l in range(k + 1, c):
            rows = (labels == k) | (labels == l)
            w, b = fit(X[rows], np.where(labels[rows] == k, 1, -1))
            votes[:, k] += new @ w + b
            votes[:, l] -= new @ w + b
    return scores.argmax(1), votes, votes.argmax(1)


@many_classes.wrong(
    "the rows are stacked class by class",
    advice="A perceptron depends on the order of its rows. Do you hand them over in the order of X?",
)
def _(fit, X, labels, new):
    c, scores, votes = labels.max() + 1, [], np.zeros((len(new), labels.max() + 1))
    for k in range(c):
        order = np.argsort(labels != k, kind="stable")
        w, b = fit(X[order], np.where(labels[order] == k, 1, -1))
        scores.append(new @ w + b)
        for l in range(k + 1, c):
            A = np.vstack([X[labels == k], X[labels == l]])
            signs = np.repeat([1, -1], [np.sum(labels == k), np.sum(labels == l)])
            w, b = fit(A, signs)
            votes[:, k] += new @ w + b > 0
            votes[:, l] += new @ w + b <= 0
    return np.argmax(scores, axis=0), votes, votes.argmax(1)


many_classes.equivalent(
    {
        "votes = np.zeros((len(new), c), dtype=int) → votes = np.zeros((len(new), c))": "votes (m, c)",
    }
)


many_classes.worked(
    why="""Both rules reduce to machines that know two classes; they differ in what these see and in how their answers meet. Scores of
    one-vs-all are compared raw, so their lengths matter. A vote forgets the length: that is its strength, and why ties occur.
    From four classes on, one-vs-one fits more machines, each on fewer rows, and on balanced ones where the classes are alike in
    size."""
)


@many_classes.right("counting winners")
def _(fit, X, labels, new):
    from itertools import combinations

    c, winners = int(labels.max()) + 1, []
    models = [fit(X, 2 * (labels == k) - 1) for k in range(c)]
    scores = [new @ w + b for w, b in models]
    for k, l in combinations(range(c), 2):
        rows = np.isin(labels, (k, l))
        w, b = fit(X[rows], np.where(labels[rows] == k, 1.0, -1.0))
        winners.append(np.where(new @ w + b > 0, k, l))
    votes = (np.array(winners)[:, :, None] == np.arange(c)).sum(0)
    return np.argmax(scores, axis=0), votes, np.argmax(votes, axis=1)


@many_classes.right("one new point at a time, in lists")
def _(fit, X, labels, new):
    c = len(set(labels.tolist()))
    votes, scores = [[0] * c for _ in new], [[0.0] * c for _ in new]
    for k in range(c):
        w, b = fit(X, np.array([1 if label == k else -1 for label in labels]))
        for mine, x in zip(scores, new):
            mine[k] = sum(a * v for a, v in zip(x, w)) + b
        for l in range(k + 1, c):
            rows = [i for i in range(len(labels)) if labels[i] in (k, l)]
            w, b = fit(X[rows], np.array([1 if labels[i] == k else -1 for i in rows]))
            for mine, x in zip(votes, new):
                mine[k if sum(a * v for a, v in zip(x, w)) + b > 0 else l] += 1
    first = [[row.index(max(row)) for row in table] for table in (scores, votes)]
    return first[0], votes, first[1]

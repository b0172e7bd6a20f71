"""Perceptron references against scikit-learn, SciPy's solvers, brute force and the notes' numbers."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

from descent.pictures.classification import perceptron as pw
from descent.widgets import Explorer
from solutions import notebook_module

spec = notebook_module("02_classification/01_perceptron", "exercises")
ref = notebook_module("02_classification/01_perceptron", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
CORNERS = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]], dtype=torch.float64)
OR = torch.tensor([-1.0, 1, 1, 1], dtype=torch.float64)
XOR = torch.tensor([-1.0, 1, 1, -1], dtype=torch.float64)
MAIL = torch.tensor(
    [
        [1.0, 1, 0, 1, 1],
        [0, 0, 1, 1, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 1, 0, 1],
        [1, 0, 1, 1, 0],
    ],
    dtype=torch.float64,
)
SPAM = torch.tensor([1.0, -1, 1, -1, 1, -1], dtype=torch.float64)


def whole(*shape, dtype=torch.float64, seed=0):
    """Whole numbers from -3 to 3: sums and products are exact in both float types."""
    return torch.from_numpy(np.random.default_rng(seed).integers(-3, 4, shape)).to(dtype)


def signs(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).choice([-1, 1], shape)).to(dtype)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def tolerance(dtype):
    return dict(rtol=1e-4, atol=1e-5) if dtype == torch.float32 else dict(rtol=1e-10, atol=1e-12)


# ---------------------------------------------------------------- linear functions


@DTYPES
@BATCHES
def test_probing_finds_the_parts(batch, dtype):
    w, b = normal(*batch, 4, dtype=dtype), normal(*batch, dtype=dtype, seed=1)
    found_w, found_b = ref.affine_parts(w, b)
    torch.testing.assert_close(found_w, w, **tolerance(dtype))
    assert torch.equal(found_b, b)


@DTYPES
@BATCHES
def test_distances_are_those_to_the_foot(batch, dtype):
    X, w = normal(*batch, 5, 3, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=1)
    b = normal(*batch, dtype=dtype, seed=2)
    distance, label = ref.signed_distances(X, w, b)
    unit = w / w.norm(dim=-1, keepdim=True)
    foot = X - distance.unsqueeze(-1) * unit.unsqueeze(-2)
    on_plane = (foot * w.unsqueeze(-2)).sum(-1) + b.unsqueeze(-1)
    torch.testing.assert_close(on_plane, torch.zeros_like(on_plane), atol=1e-5, rtol=0)
    assert torch.equal(label, distance.sign()) and label.dtype == dtype


def test_the_boundary_is_negative():
    X = torch.tensor([[0.0, 0], [4, -3]])
    assert ref.signed_distances(X, torch.tensor([3.0, 4]), 0.0)[1].tolist() == [-1, -1]


# ---------------------------------------------------------------- the run


@DTYPES
@BATCHES
def test_the_run_is_scikit_learns(batch, dtype):
    """scikit-learn's Perceptron in the same order, one pass, is the same update where no score is 0.

    It judges by y score <= 0 as well, but its labels are the sorted classes.
    """
    X, y = normal(*batch, 20, 3, dtype=dtype), signs(*batch, 20, dtype=dtype, seed=1)
    path, mistakes = ref.perceptron_trace(X, y, torch.arange(20), X.new_zeros(*batch, 4))
    assert path.shape == (*batch, 21, 4) and mistakes.shape == (*batch, 20)
    assert path.dtype == dtype
    last = path[..., -1, :].double().reshape(-1, 4)
    rows = zip(X.double().reshape(-1, 20, 3), y.double().reshape(-1, 20), last, strict=True)
    for A, labels, v in rows:
        model = Perceptron(max_iter=1, tol=None, shuffle=False)
        model.fit(A.numpy(), labels.numpy())
        expected = np.append(model.coef_, model.intercept_)
        np.testing.assert_allclose(v.numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(
    "X, y, mistakes, end",
    [(CORNERS, OR, 9, [2, 2, -1]), (MAIL, SPAM, 4, [0, 2, 0, -1, 1, 0])],
    ids=["OR", "e-mails"],
)
def test_the_notes_examples(X, y, mistakes, end):
    order = torch.arange(len(y)).repeat(10)
    path, wrong = ref.perceptron_trace(X, y, order, X.new_zeros(X.shape[1] + 1))
    assert wrong.sum() == mistakes and path[-1].tolist() == end


def test_xor_comes_home_after_one_pass():
    path, wrong = ref.perceptron_trace(CORNERS, XOR, torch.arange(4).repeat(3), torch.zeros(3))
    assert wrong.all() and [path[k].tolist() for k in (4, 8, 12)] == [[0, 0, 0]] * 3


def test_a_batch_is_a_loop_and_no_step_no_change():
    X, y, v0 = whole(3, 6, 2), signs(3, 6), whole(3, 3, seed=2)
    order = torch.tensor([5, 0, 0, 3, 2, 4, 1, 5])
    path, wrong = ref.perceptron_trace(X, y, order, v0)
    for k in range(3):
        one, flags = ref.perceptron_trace(X[k], y[k], order, v0[k])
        assert torch.equal(path[k], one) and torch.equal(wrong[k], flags)
    path, wrong = ref.perceptron_trace(X, y, order[:0], v0)
    assert torch.equal(path, v0.unsqueeze(1)) and wrong.shape == (3, 0)


# ---------------------------------------------------------------- the bound


@pytest.mark.parametrize(
    "X, y, w, b, bound",
    [(CORNERS, OR, [2.0, 2], -1.0, 27), (MAIL, SPAM, [0.0, 1, 0, -1, 1], 0.0, 15)],
    ids=["OR", "e-mails"],
)
def test_the_bounds_of_the_notes(X, y, w, b, bound):
    found = ref.mistake_bound(X, y, torch.tensor(w, dtype=X.dtype), b)
    assert found[2].item() == pytest.approx(bound)


def test_no_separator_does_better_than_the_notes_margins(rng):
    """A margin of more than 1/3 (OR) or 0.5774 (e-mails) is infeasible: the widest band from an SVM."""
    for X, y, expected in ((CORNERS, OR, 1 / 3), (MAIL, SPAM, 3**-0.5)):
        rows = np.column_stack([X.numpy(), np.ones(len(y))]) * y.numpy()[:, None]
        both, labels = np.r_[rows, -rows], np.r_[np.ones(len(y)), -np.ones(len(y))]
        svm = SVC(kernel="linear", C=1e6, tol=1e-8).fit(both, labels)  # symmetric, so no bias
        assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(expected, rel=1e-4)


@DTYPES
@BATCHES
def test_the_bound_ignores_the_scale_and_holds(batch, dtype):
    w, b = normal(*batch, 3, dtype=dtype, seed=1), normal(*batch, dtype=dtype, seed=2)
    X = normal(*batch, 12, 3, dtype=dtype)
    score = (X @ w.unsqueeze(-1)).squeeze(-1) + b.unsqueeze(-1)
    y = torch.where(score > 0, 1.0, -1.0).to(dtype)
    first = ref.mistake_bound(X, y, w, b)
    again = ref.mistake_bound(X, y, 50 * w, 50 * b)
    for one, other in zip(first, again, strict=True):
        assert one.shape == batch and one.dtype == dtype
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)
    order = torch.arange(12).repeat(20)
    _, wrong = ref.perceptron_trace(X, y, order, X.new_zeros(*batch, 4))
    assert torch.all(wrong.sum(-1) <= first[2])


def test_without_a_separator_the_bound_is_infinite():
    for w in ([1.0, 0.0], [-1.0, 2.0]):  # a point on the line; points on the wrong side
        margin, _, bound = ref.mistake_bound(CORNERS, OR, torch.tensor(w, dtype=torch.float64), 0.0)
        assert margin <= 0 and bound == torch.inf


# ---------------------------------------------------------------- logistic steps


@DTYPES
@BATCHES
def test_a_soft_step_climbs_the_likelihood(batch, dtype):
    w, x = normal(*batch, 3, dtype=dtype), normal(*batch, 3, dtype=dtype, seed=1)
    y = (normal(*batch, seed=2) > 0).to(dtype)
    free = w.clone().requires_grad_()
    score = (free * x).sum(-1)
    torch.nn.functional.binary_cross_entropy_with_logits(score, y, reduction="sum").backward()
    torch.testing.assert_close(ref.logistic_step(w, x, y, False), w - free.grad, **tolerance(dtype))


@DTYPES
def test_a_hard_step_is_the_perceptrons(dtype):
    w, x = whole(200, 3, dtype=dtype), whole(200, 3, dtype=dtype, seed=1)
    y = signs(200, dtype=dtype, seed=2)
    guess = torch.where((w * x).sum(-1) > 0, 1.0, -1.0).to(dtype)
    expected = w + torch.where(guess == y, 0.0, y).unsqueeze(-1) * x
    assert torch.equal(ref.logistic_step(w, x, (y + 1) / 2, True), expected)


# ---------------------------------------------------------------- separability


def lp_says(X, y):
    G = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    found = linprog(
        np.zeros(G.shape[1]), A_ub=-G, b_ub=-np.ones(len(G)), bounds=(None, None), method="highs"
    )
    return found.status == 0


@DTYPES
@pytest.mark.parametrize("n, d", [(4, 1), (5, 2), (7, 2), (7, 3), (3, 4)])
def test_separable_agrees_with_a_linear_programme(n, d, dtype):
    X, y = whole(60, n, d, dtype=dtype, seed=n), signs(60, n, dtype=dtype, seed=d)
    got = ref.separable(X, y)
    expected = [lp_says(A.numpy(), b.numpy()) for A, b in zip(X.double(), y.double(), strict=True)]
    assert got.tolist() == expected
    assert len(set(expected)) == 2 or d == 4  # both answers occur


def test_or_is_separable_and_xor_is_not():
    assert ref.separable(CORNERS, OR) and not ref.separable(CORNERS, XOR)
    assert ref.separable(CORNERS, -torch.ones(4, dtype=torch.float64))


# ---------------------------------------------------------------- votes


@DTYPES
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_votes_are_those_of_scikit_learns_perceptrons(classes, dtype):
    labels = torch.from_numpy(np.random.default_rng(3).permutation(np.repeat(range(classes), 5)))
    centres = 4 * normal(classes, 2, seed=4)
    X = (centres[labels] + normal(5 * classes, 2, seed=5)).to(dtype)
    new = 4 * normal(30, 2, dtype=dtype, seed=6)
    votes, winners = ref.one_vs_one_votes(X, labels, new, classes, 5)
    expected = np.zeros((30, classes))
    for k in range(classes):
        for other in range(k + 1, classes):
            rows = ((labels == k) | (labels == other)).numpy()
            target = np.where(labels.numpy()[rows] == k, 1, -1)
            model = Perceptron(max_iter=5, tol=None, shuffle=False)
            model.fit(X.double().numpy()[rows], target)
            for_k = model.decision_function(new.double().numpy()) > 0
            expected[:, k] += for_k
            expected[:, other] += ~for_k
    assert votes.dtype == dtype and np.array_equal(votes.double().numpy(), expected)
    assert winners.tolist() == expected.argmax(1).tolist()
    assert torch.all(votes.sum(-1) == classes * (classes - 1) / 2)


@pytest.mark.parametrize("seed", range(20))
def test_the_case_of_a_tie_ties(seed):
    cases = dict(spec.ovo_predict.drawn(np.random.default_rng(seed)))
    case = cases["a three-way tie"]
    X, new = torch.from_numpy(case["X"]), torch.from_numpy(case["new"])
    votes, winners = ref.one_vs_one_votes(X, torch.from_numpy(case["labels"]), new, 3, 3)
    assert torch.all(votes == 1) and torch.all(winners == 0)


@pytest.mark.parametrize("seed", range(20))
def test_the_points_on_the_boundary_are_exactly_on_it(seed):
    """Divided first or last, in either float type: no right answer is refused for its rounding."""
    drawn = spec.signed_distance.drawn(np.random.default_rng(seed))
    case = dict(drawn)["points on the boundary"]
    for dtype in (np.float32, np.float64):
        X, w, b = (np.asarray(case[name], dtype) for name in ("X", "w", "b"))
        length = np.linalg.norm(w)
        for distance in ((X @ w + b) / length, X @ (w / length) + b / length):
            assert np.array_equal(np.sign(distance), [0, 0, 0, 1, -1])


# ------------------------------------------------------------ what it draws


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.\d+|-?\d+", words)]


def simple_perceptron(X, y, order, w0, b0):
    W, b, times = [w0], [b0], []
    for t, i in enumerate(order):
        if y[i] * (X[i] @ W[-1] + b[-1]) <= 0:
            W.append(W[-1] + y[i] * X[i])
            b.append(b[-1] + y[i])
            times.append(t)
    return np.array(W), np.array(b), np.array(times, int)


# ---------------------------------------------------------------- data, runs, margins


@pytest.mark.parametrize("gap", [0.05, 0.5, 1.5])
def test_the_strip_between_the_clouds_is_empty(gap):
    X, y = pw.clouds(gap, n=60)
    side = y * (X @ [0.8, 0.6] - 0.2)
    assert side.min() > gap / 2 - 0.02  # rounding to 1/64 moves a point by less than 0.012
    assert set(y) == {-1.0, 1.0} and np.array_equal(X * 64, np.round(X * 64))


@pytest.mark.parametrize("passes", [1, 3, 20])
def test_the_run_that_looks_ahead_is_scikit_learns(passes, rng):
    X, y = rng.normal(size=(150, 3)), rng.choice([-1.0, 1.0], 150)
    v, counts = pw.run(pw.signed(X, y), passes)
    model = Perceptron(max_iter=passes, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_allclose(v, np.append(model.coef_, model.intercept_), atol=1e-9)
    path = pw.path_of(pw.signed(X, y), np.tile(np.arange(150), passes))
    np.testing.assert_allclose(path[-1], v, atol=1e-9)
    assert len(path) - 1 == sum(counts) and len(counts) == passes


def test_the_run_ends_with_a_silent_pass():
    v, counts = pw.run(pw.signed(pw.CORNERS, pw.LABELS["OR"]), 100)
    assert v.tolist() == [2, 2, -1] and sum(counts) == 9 and counts[-1] == 0 and len(counts) == 6
    path, passes = pw.settle(simple_perceptron, pw.CORNERS, pw.LABELS["OR"])
    assert len(path) == 10 and passes == 6 and path[-1].tolist() == [2, 2, -1]


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_margin_is_the_svms(seed):
    G = pw.signed(*pw.clouds(0.3, seed=seed))
    v, margin = pw.widest(G)
    svm = SVC(kernel="linear", C=1e6, tol=1e-8)
    svm.fit(np.r_[G, -G], np.r_[np.ones(len(G)), -np.ones(len(G))])  # symmetric, so no bias
    assert margin == pytest.approx(1 / np.linalg.norm(svm.coef_), rel=1e-3)
    assert np.min(G @ v) == pytest.approx(margin) and np.linalg.norm(v) == pytest.approx(1)


def test_the_notes_margins_and_none_for_xor():
    for X, y, bound in ((pw.CORNERS, pw.LABELS["OR"], 27), (pw.MAIL, pw.SPAM, 15)):
        G = pw.signed(X, y)
        assert (G**2).sum(1).max() / pw.widest(G)[1] ** 2 == pytest.approx(bound)
    assert pw.widest(pw.signed(pw.CORNERS, pw.LABELS["XOR"])) is None


def test_the_mail_settles_on_viagra():
    _, words = pw.draw_mail()
    assert "4 mistakes" in words and "viagra 2" in words and "of -1" in words


# ---------------------------------------------------------------- a line by hand


@pytest.fixture
def line():
    return Explorer(
        pw.draw_line,
        dict(
            labels=Dropdown(options=["OR", "AND", "XOR"], value="OR"),
            angle=FloatSlider(45, min=-180, max=180),
            distance=FloatSlider(np.sqrt(2) / 4, min=-2, max=2),
            log_scale=FloatSlider(0, min=-1, max=1),
        ),
    )


def held(widget):
    return int(re.search(r"(\d) of 4 conditions", widget.words)[1])


def test_the_best_line_of_or_is_the_svms(line):
    assert held(line) == 4 and numbers(line.words)[-1] == pytest.approx(0.354)
    svm = SVC(kernel="linear", C=1e6).fit(pw.CORNERS, pw.LABELS["OR"])
    assert 1 / np.linalg.norm(svm.coef_) == pytest.approx(0.35355, rel=1e-3)
    line.controls["angle"].value = 30.0
    assert numbers(line.words)[-1] < 0.353


def test_the_length_of_w_changes_no_distance(line):
    line.controls["log_scale"].value = 1.0
    assert held(line) == 4 and numbers(line.words)[-1] == pytest.approx(0.354)
    assert "7.07" in line.words


def test_no_line_satisfies_xor(line):
    line.controls["labels"].value = "XOR"
    seen = []
    for angle in range(-180, 181, 45):
        for distance in (-0.5, 0.3, 0.5, 1.2):
            line.controls["angle"].value, line.controls["distance"].value = angle, distance
            seen.append(held(line))
    assert max(seen) == 3


def test_the_lifted_plane_is_told():
    _, words = pw.draw_lifted(np.array([2.0, 2.0]), -1.0)
    assert "(2, 2, -1)" in words


# ---------------------------------------------------------------- the stepper


@pytest.fixture
def steps():
    return Explorer(
        pw.stepper(simple_perceptron),
        dict(
            data=Dropdown(options=["OR", "e-mails", "two clouds", "XOR"], value="OR"),
            order=Dropdown(options=["cyclic", "random"], value="cyclic"),
            gap=FloatSlider(0.4, min=0.05, max=1),
            mistakes=IntSlider(60, min=0, max=60),
        ),
    )


def bound_of(widget):
    return float(re.search(r"bound (\d+)", widget.words)[1])


def sandwich(widget):
    return [float(part) for part in re.findall(r"\d+\.\d+(?= <=|\.$)", widget.words)]


@pytest.mark.parametrize(
    "data, told", [("OR", "9 of 9 mistakes, 0 of 4"), ("e-mails", "4 of 4 mistakes, 0 of 6")]
)
def test_the_stepper_counts_the_notes_mistakes(steps, data, told):
    steps.controls["data"].value = data
    assert told in steps.words
    assert bound_of(steps) == {"OR": 27, "e-mails": 15}[data]


@pytest.mark.parametrize("data", ["OR", "e-mails", "two clouds"])
@pytest.mark.parametrize("mistakes", [1, 3, 60])
def test_the_run_stays_between_its_envelopes(steps, data, mistakes):
    steps.controls["data"].value = data
    steps.controls["mistakes"].value = mistakes
    steps.controls["order"].value = "random"
    low, along, length, high = sandwich(steps)
    assert low <= along <= length <= high


def test_a_narrow_gap_raises_the_bound(steps):
    steps.controls["data"].value = "two clouds"
    wide = bound_of(steps)
    steps.controls["gap"].value = 0.05
    assert bound_of(steps) > 3 * wide


def test_the_order_leaves_the_bound_alone(steps):
    before = bound_of(steps)
    steps.controls["order"].value = "random"
    assert bound_of(steps) == before


def test_no_mistake_yet_and_no_bound_for_xor(steps):
    steps.controls["mistakes"].value = 0
    assert "after 0 of 9 mistakes, 4 of 4 wrong" in steps.words
    steps.controls["data"].value = "XOR"
    steps.controls["mistakes"].value = 20
    assert "no bound" in steps.words and "length of v is 0.00" in steps.words


# ---------------------------------------------------------------- figures


def test_the_score_gain_counts_who_falls():
    fig, words = pw.draw_score_gain(np.array([1.0, -2.0, 3.0]), np.array([0.0, 1.0, 3.0]), 1)
    assert [t.get_text() for t in fig.axes[0].texts] == ["1", "-2", "3", "0", "1", "3"]
    assert "from -2 to 1" in words and "1 others fall" in words


def test_the_losses_are_those_of_the_formulas():
    fig, _ = pw.draw_losses()
    zero_one, perceptron, hinge, logistic = (line.get_ydata() for line in fig.axes[0].lines)
    s = fig.axes[0].lines[0].get_xdata()
    np.testing.assert_allclose(perceptron, np.where(s < 0, -s, 0))
    assert np.all(hinge >= zero_one) and np.all(logistic >= zero_one - 1e-12)
    assert np.any(perceptron < zero_one)  # no upper bound of the mistakes


def test_the_orders_tell_the_widest():
    X, y = pw.CORNERS, pw.LABELS["OR"]
    _, words = pw.draw_orders(X, y, np.array([[2.0, 2, -1], [3, 1, -0.5]]), np.array([2.0, 2, -1]))
    assert "0.354" in words and words.endswith("has 0.35.")


def test_the_cycle_is_found():
    path = pw.path_of(pw.signed(pw.CORNERS, pw.LABELS["XOR"]), np.tile(np.arange(4), 3))
    _, words = pw.draw_cycles(path, path, np.sqrt(3))
    assert "after every 4 mistakes" in words


def test_the_stops_tell_their_error():
    _, words = pw.draw_stops([0.3, 0.2], [0.4, 0.25], {"a": 1, "b": 2, "c": 2, "d": 2})
    assert "a: pass 1, validation error 0.400" in words and "0.250" in words


# ---------------------------------------------------------------- many classes


def test_two_classes_are_one_problem():
    X, y = pw.four_clouds()
    two = y < 2
    first, second = pw.one_vs_all(X[two], y[two])
    assert np.array_equal(first, -second)
    (pair,) = pw.one_vs_one(X[two], y[two]).values()
    assert np.array_equal(pair, first)


def test_votes_count_pairs_and_ignore_lengths(rng):
    X, y = pw.four_clouds()
    models, new = pw.one_vs_one(X, y), rng.uniform(-3, 3, (50, 2))
    votes = pw.tallies(models, new, 4)
    assert len(models) == 6 and np.all(votes.sum(1) == 6)
    longer = {pair: v * 100 if pair == (0, 1) else v for pair, v in models.items()}
    assert np.array_equal(votes, pw.tallies(longer, new, 4))
    assert not np.allclose(
        pw.tallies(models, new, 4, raw=True), pw.tallies(longer, new, 4, raw=True)
    )


@pytest.fixture
def maps():
    return Explorer(
        pw.class_maps(*pw.four_clouds()),
        dict(
            rule=Dropdown(options=["one-vs-all", "one-vs-one", "one-vs-one, sums"]),
            passes=IntSlider(42, min=1, max=60),
            log_scale=FloatSlider(0, min=-1.5, max=1.5),
        ),
    )


def test_one_vs_all_has_not_settled_and_one_vs_one_has(maps):
    alone = maps.words
    maps.controls["passes"].value = 43
    assert maps.words != alone
    maps.controls["rule"].value = "one-vs-one"
    votes = maps.words
    maps.controls["passes"].value = 60
    assert maps.words == votes and "0 of 80 training points wrong" in votes


@pytest.mark.parametrize(
    "rule, notices", [("one-vs-all", True), ("one-vs-one", False), ("one-vs-one, sums", True)]
)
def test_only_votes_ignore_the_length_of_one_vector(maps, rule, notices):
    maps.controls["rule"].value = rule
    before = maps.words
    maps.controls["log_scale"].value = 1.0
    assert (maps.words != before) == notices


def test_the_digits_name_what_cannot_be_split():
    settled = np.column_stack([np.arange(10) != 8, np.arange(1, 11)]).astype(float)
    fig, words = pw.draw_digits(settled, {"votes": 0.04, "sums": 0.15})
    assert "all others: 8." in words and "votes 0.040; sums 0.150" in words
    assert fig.axes[1].get_title() == "Fewest errors: votes"

"""Perceptron references against scikit-learn, SciPy's solvers, brute force and the notes' numbers."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

from solutions.exercises.classification import perceptron as spec
from solutions.reference import perceptron as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


# ---------------------------------------------------------------- the contract of every reference


CALLS = {
    "affine_parts": lambda dtype: (normal(3, dtype=dtype), normal(1, dtype=dtype)[0]),
    "signed_distances": lambda dtype: (normal(5, 2, dtype=dtype), normal(2, dtype=dtype), 0.5),
    "perceptron_trace": lambda dtype: (
        whole(5, 2, dtype=dtype),
        signs(5, dtype=dtype),
        torch.arange(5),
        whole(3, dtype=dtype),
    ),
    "mistake_bound": lambda dtype: (
        normal(5, 2, dtype=dtype),
        signs(5, dtype=dtype),
        normal(2, dtype=dtype),
        0.5,
    ),
    "logistic_step": lambda dtype: (
        normal(3, dtype=dtype),
        normal(3, dtype=dtype, seed=1),
        torch.ones((), dtype=dtype),
        True,
    ),
    "separable": lambda dtype: (normal(5, 2, dtype=dtype), signs(5, dtype=dtype)),
    "one_vs_one_votes": lambda dtype: (
        normal(6, 2, dtype=dtype),
        torch.tensor([0, 1, 2, 0, 1, 2]),
        normal(4, 2, dtype=dtype),
        3,
        2,
    ),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))

"""The perceptron's references against closed forms, brute force and libraries; what its pictures tell."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from sklearn.linear_model import Perceptron
from sklearn.svm import SVC

from descent import data
from descent.pictures.classification import perceptron as pw
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "02_classification/01_perceptron"
spec = notebook_module(NOTEBOOK, "exercises")
ref = notebook_module(NOTEBOOK, "reference")
t = torch.as_tensor
CORNERS, OR, XOR = t(pw.CORNERS), t(pw.LABELS["OR"]), t(pw.LABELS["XOR"])


def whole(*shape, seed=0, low=-3, high=4):
    return t(np.random.default_rng(seed).integers(low, high, shape).astype(float))


def signs(*shape, seed=0):
    return t(np.random.default_rng(seed).choice([-1.0, 1.0], shape))


def facts(drawn):
    fig, words = drawn
    plt.close(fig)
    return words.facts


# ---------------------------------------------------------------- references


def test_the_notes_table_is_the_bag_of_words_of_its_e_mails():
    assert ref.bag_of_words(pw.MAILS, pw.WORDS).numpy().tolist() == pw.MAIL.tolist()


def test_the_distance_is_that_to_the_nearest_of_many_points_of_the_boundary():
    w, b = np.array([0.6, -0.8]) * 3, 1.5
    along = np.linspace(-9, 9, 20_001)[:, None] * [0.8, 0.6] - b * w / (w @ w)
    X = whole(6, 2, seed=1)
    labels, distance, margin = ref.judge(X, signs(6), t(w), b)
    nearest = [np.linalg.norm(along - x, axis=1).min() for x in X.numpy()]
    np.testing.assert_allclose(distance.abs(), nearest, atol=1e-3)
    assert (labels * distance >= 0).all() and margin == (signs(6) * distance).min()


@pytest.mark.parametrize("passes", [1, 3, 20])
def test_the_run_is_that_of_scikit_learn(passes):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), signs(60).numpy()
    model = Perceptron(max_iter=passes, tol=None, shuffle=False).fit(X, y)
    path, counts, end = ref.train(t(X), t(y), torch.arange(60), passes)
    np.testing.assert_allclose(path[-1], np.append(model.coef_, model.intercept_), atol=1e-9)
    assert sum(counts) == len(path) - 1 and end == "open"


def test_the_notes_runs_settle_after_four_and_nine_mistakes_and_xor_comes_home():
    ends = [
        ref.train(t(X), t(y), torch.arange(len(y)), 50)
        for X, y in ((pw.MAIL, pw.SPAM), (CORNERS, OR), (CORNERS, XOR))
    ]
    assert [(sum(counts), end) for _, counts, end in ends] == [
        (4, "settled"), (9, "settled"), (4, "loops"),
    ]  # fmt: skip
    assert ends[0][0][-1].tolist() == [0, 2, 0, -1, 1, 0]
    assert ends[1][0][-1].tolist() == [2, 2, -1]
    assert ends[2][0][-1].tolist() == [0, 0, 0]


def test_a_run_that_ends_has_a_proof_of_its_kind():
    """A settled run's v separates; a loop leads back to a pass's start, and no line exists. Both occur."""
    ends = []
    for seed in range(30):
        X, y = whole(5, 2, seed=seed), signs(5, seed=seed)
        path, counts, end = ref.train(X, y, torch.arange(5), 60)
        ends.append(end)
        if end == "settled":
            assert (ref.lift(X) @ path[-1] * y > 0).all() and ref.separable(X, y)
        if end == "loops":
            made = np.cumsum([0, *counts[:-1]])
            assert (path[made] == path[-1]).all(1).any() and not ref.separable(X, y)
    assert min(ends.count("settled"), ends.count("loops")) >= 5


@pytest.mark.parametrize("seed", range(40))
def test_no_run_exceeds_the_bound_of_a_random_separator(seed):
    rng = np.random.default_rng(seed)
    X, v = t(rng.normal(size=(12, 3))), t(rng.normal(size=4))
    y = torch.where(ref.lift(X) @ v > 0, 1.0, -1.0).double()
    bound = ref.mistake_bound(X, y, v)[2]
    path, _, _ = ref.train(X, y, t(rng.integers(0, 12, 300)), 1)
    assert len(path) - 1 <= bound < torch.inf
    assert ref.mistake_bound(X, y, 7 * v)[2] == pytest.approx(float(bound))


def test_or_has_the_bound_27_and_a_point_on_the_line_none():
    gamma, C, bound = ref.mistake_bound(CORNERS, OR, t([2.0, 2.0, -1.0]).double())
    assert [float(gamma), float(C**2), float(bound)] == pytest.approx([1 / 3, 3, 27])
    assert ref.mistake_bound(CORNERS, OR, t([1.0, 0.0, 0.0]).double())[2] == torch.inf


@pytest.mark.parametrize("n, d", [(4, 1), (5, 2), (7, 2), (7, 3)])
def test_separable_agrees_with_a_linear_programme(n, d):
    X, y = whole(60, n, d, seed=n), signs(60, n, seed=d)
    G = (ref.lift(X) * y[..., None]).numpy()
    expected = [
        linprog(np.zeros(d + 1), A_ub=-g, b_ub=-np.ones(n), bounds=(None, None)).status == 0
        for g in G
    ]
    assert ref.separable(X, y).tolist() == expected and len(set(expected)) == 2


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "logistic"])
def test_a_step_follows_torchs_slope_of_the_loss(loss):
    losses = {
        "perceptron": lambda s: torch.relu(-s),
        "hinge": lambda s: torch.relu(1 - s),
        "logistic": torch.nn.functional.softplus,
    }
    for seed in range(20):
        rng = np.random.default_rng(seed)
        v, z, y = t(rng.normal(size=3)), t(rng.normal(size=3)), float(rng.choice([-1, 1]))
        free = v.clone().requires_grad_()
        s = y * (free @ z)
        losses[loss](-s if loss == "logistic" else s).backward()
        torch.testing.assert_close(ref.sgd_step(v, z, y, 0.3, loss), v - 0.3 * free.grad)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_votes_and_scores_are_those_of_scikit_learns_perceptrons(classes):
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat(range(classes), 5))
    X = 4 * rng.normal(size=(classes, 2))[labels] + rng.normal(size=(5 * classes, 2))
    new = 4 * rng.normal(size=(30, 2))

    def scores(rows, target):
        model = Perceptron(max_iter=5, tol=None, shuffle=False).fit(X[rows], target)
        return model.decision_function(new)

    every = np.ones(len(X), bool)
    alone = [scores(every, np.where(labels == k, 1, -1)) for k in range(classes)]
    votes = np.zeros((30, classes))
    for k in range(classes):
        for other in range(k + 1, classes):
            rows = (labels == k) | (labels == other)
            for_k = scores(rows, np.where(labels[rows] == k, 1, -1)) > 0
            votes[:, k] += for_k
            votes[:, other] += ~for_k
    got = ref.many_classes(spec._perceptron_fit(5), t(X), t(labels), t(new), classes)
    expected = np.argmax(alone, axis=0), votes, votes.argmax(1)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------- cases


@pytest.mark.parametrize("seed", range(20))
def test_the_cases_of_a_loop_lie_beyond_its_first_passes(seed):
    """One that leads back neither to the start nor to the pass before it, and one to the pass before."""
    kinds = set()
    for name, case in spec.train.drawn(np.random.default_rng(seed)):
        how, first, passes, *_ = spec._run(**case)
        if name == "runs that come back":
            kinds.add((how, first > 0, first < passes - 1))
    assert {("loops", True, True), ("loops", True, False), ("loops", False, False)} <= kinds


@pytest.mark.parametrize("seed", range(20))
def test_the_case_of_a_tie_ties(seed):
    case = dict(spec.many_classes.drawn(np.random.default_rng(seed)))["a three-way tie of votes"]
    X, new = t(case["X"]), t(case["new"])
    fit = spec._perceptron_fit(case["passes"])
    _, votes, winners = ref.many_classes(fit, X, t(case["labels"]), new, 3)
    assert (votes == 1).all() and (winners == 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_points_on_the_boundary_are_exactly_on_it(seed):
    """Divided first or last, in either float type: no right answer is refused for its rounding."""
    case = dict(spec.judge.drawn(np.random.default_rng(seed)))["points on the boundary"]
    for dtype in (np.float32, np.float64):
        X, w, b = (np.asarray(case[name], dtype) for name in ("X", "w", "b"))
        length = np.linalg.norm(w)
        for distance in ((X @ w + b) / length, X @ (w / length) + b / length):
            assert np.array_equal(np.sign(distance), [0, 0, 0, 1, -1])


# ---------------------------------------------------------------- data, runs, margins


def test_one_hospital_has_a_separating_plane_and_the_other_none_rounded_or_not():
    table = data.breast_cancer()
    exact = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    X, y = pw.tumours()
    for measured in (X, exact):
        assert pw.widest(pw.signed(measured, y)) is not None
        assert pw.widest(pw.signed(np.delete(measured, 8, 1), y)) is None


def test_the_two_nights_have_the_mistakes_that_the_first_cell_tells():
    X, y = pw.tumours()
    told = facts(pw.draw_nights(X, np.delete(X, 8, 1), y, 300))
    assert (told["a"], told["b"]) == (3806, 3840)
    assert (told["a_last"], told["b_last"]) == pytest.approx((12, 12), abs=1)


@pytest.mark.parametrize("gap", [0.05, 0.5, 1.5])
def test_the_strip_between_the_clouds_is_empty(gap):
    X, y = pw.clouds(gap, n=60)
    side = y * (X @ [0.8, 0.6] - 0.2)
    assert side.min() > gap / 2 - 0.02  # rounding to 1/64 moves a point by less than 0.012
    assert set(y) == {-1.0, 1.0} and np.array_equal(X * 64, np.round(X * 64))


@pytest.mark.parametrize("passes", [1, 3, 20])
def test_the_run_that_looks_ahead_is_the_references(passes):
    X, y = np.random.default_rng(1).normal(size=(150, 3)), signs(150).numpy()
    v, counts = pw.run(pw.signed(X, y), passes)
    path, expected, _ = ref.train(t(X), t(y), torch.arange(150), passes)
    np.testing.assert_allclose(v, path[-1], atol=1e-9)
    np.testing.assert_allclose(
        pw.path_of(pw.signed(X, y), np.tile(np.arange(150), passes)), path, atol=1e-9
    )
    assert counts == expected


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_margin_is_the_svms(seed):
    G = pw.signed(*pw.clouds(0.3, seed=seed))
    v, margin = pw.widest(G)
    svm = SVC(kernel="linear", C=1e6, tol=1e-8)
    svm.fit(np.r_[G, -G], np.r_[np.ones(len(G)), -np.ones(len(G))])  # symmetric, so no bias
    assert margin == pytest.approx(1 / np.linalg.norm(svm.coef_), rel=1e-3)
    assert np.min(G @ v) == pytest.approx(margin) and np.linalg.norm(v) == pytest.approx(1)


def test_the_best_bounds_of_the_notes_examples():
    assert pw.best_bound(pw.CORNERS, pw.LABELS["OR"]) == pytest.approx(27)
    assert pw.best_bound(pw.MAIL, pw.SPAM) == pytest.approx(15)
    assert pw.best_bound(pw.CORNERS, pw.LABELS["XOR"]) == np.inf


def test_the_rules_stop_where_they_say():
    train = [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1]
    valid = [0.5, 0.3, 0.4, 0.35, 0.2, 0.25, 0.3]
    found = pw.stops({"training": train, "validation": valid}, 4, 600, 300, patience=2, tol=0.0)
    assert found == {
        "4 passes": 4,
        "600 rows seen": 2,
        "training error static": 5,  # the first whose last two changes are 0
        "validation error": 4,  # two passes without a new lowest, after 0.3
    }


# ---------------------------------------------------------------- a line by hand


def test_the_best_line_of_or_is_the_svms():
    svm = SVC(kernel="linear", C=1e6).fit(pw.CORNERS, pw.LABELS["OR"])
    best = controls.explorer(NOTEBOOK, "draw_line", w1=2.0, w2=2.0, b=-1.0).words.facts
    assert best["held"] == 4
    assert best["margin"] == pytest.approx(1 / np.linalg.norm(svm.coef_), rel=1e-3)
    assert facts(pw.draw_line("OR", 2.0, 1.5, -1.0))["margin"] < best["margin"]


def test_the_length_of_w_and_b_changes_no_margin():
    short, long = (facts(pw.draw_line("AND", c, 0.9 * c, -0.5 * c)) for c in (1.0, 2.0))
    assert short["margin"] == pytest.approx(long["margin"]) and short["held"] == long["held"]


def test_no_line_satisfies_xor_and_w_0_draws_none():
    places = itertools.product((-1.0, 1.0), (-1.0, 1.0), (-1.5, -0.5, 0.5, 1.5))
    held = [facts(pw.draw_line("XOR", *place))["held"] for place in places]
    assert max(held) == 3
    assert "margin" not in facts(pw.draw_line("XOR", 0.0, 0.0, 0.5))


# ---------------------------------------------------------------- the stepper


def by_reference(X, y, order, max_passes):
    return ref.train(t(X), t(y), t(order), max_passes)


def run(x=0.25, y=-0.25, shown=60):
    return facts(pw.stepper(by_reference)(x, y, shown))


@pytest.mark.parametrize("shown", [1, 3, 60])
def test_the_run_stays_between_its_envelopes(shown):
    told = run(shown=shown)
    low, along, length, high = [part.facts["value"] for part in told["sandwich"]]
    assert low <= along <= length <= high
    assert told["at"] == min(shown, told["total"]) and told["total"] <= told["bound"]


def test_the_run_settles_with_no_point_wrong_where_a_line_exists():
    begin, end = run(shown=0), run()
    assert end["wrong"] == 0 and end["ends"] == "settles"
    assert begin["wrong"] == begin["n"]  # every score is 0


def test_a_stray_among_the_others_raises_the_bound_and_beyond_them_ends_it():
    assert run(0.0, -0.25)["bound"] > 5 * run(0.0, 1.0)["bound"]
    lost = run(0.0, -1.0)
    assert "bound" not in lost and lost["ends"] == "loops"


def test_the_larger_bound_is_not_always_that_of_the_longer_run():
    """What the third question of the laboratory is about."""
    one, other = run(-1.125, 0.25), run(-1.25, 0.5)
    assert one["bound"] > other["bound"] and one["total"] < other["total"]


def test_the_students_run_is_drawn_where_the_controls_are():
    widget = controls.explorer(NOTEBOOK, "stepper", x=1.5)
    assert widget.words.facts["total"] == run(1.5, -0.25)["total"]
    assert widget.words.facts["at"] == min(
        widget.controls["shown"].value, widget.words.facts["total"]
    )


# ---------------------------------------------------------------- figures


def test_the_mail_settles_on_viagra():
    path = pw.path_of(pw.signed(pw.MAIL, pw.SPAM), np.tile(np.arange(6), 2))
    _, words = pw.draw_weights(path)
    assert words.facts["mistakes"] == 4
    assert max(words.facts["weights"], key=lambda w: w.facts["weight"]).facts["word"] == "viagra"


def test_the_score_gain_counts_who_falls():
    _, words = pw.draw_score_gain(np.array([1.0, -2.0, 3.0]), np.array([0.0, 1.0, 3.0]), 1)
    assert words.facts == {"number": 2, "low": -2.0, "high": 1.0, "fell": 1}


def test_gains_are_the_changes_of_one_update():
    G, v = pw.signed(pw.MAIL, pw.SPAM), np.arange(6.0)
    change = G @ (v + G[1]) - G @ v
    np.testing.assert_allclose(pw.gains(pw.MAIL, pw.SPAM, 1), np.delete(change, 1))


def test_the_losses_are_those_of_the_formulas():
    fig, _ = pw.draw_losses()
    zero_one, perceptron, hinge, logistic = (line.get_ydata() for line in fig.axes[0].lines)
    s = fig.axes[0].lines[0].get_xdata()
    np.testing.assert_allclose(perceptron, np.where(s < 0, -s, 0))
    np.testing.assert_allclose(np.exp(logistic), 1 + np.exp(-s))
    assert np.all(hinge >= zero_one) and np.any(perceptron < zero_one)


def test_the_verdicts_tell_the_nearest_tumour_and_the_two_mixtures():
    y, lam = np.array([1.0, 1, -1, -1]), np.array([0.5, 0, 0.25, 0.25])
    _, words = pw.draw_verdicts(np.array([0.3, 2.0, -0.2, -1.0]), lam, y)
    assert words.facts == {
        "n": 4, "near": pytest.approx(0.2), "benign": 1, "malignant": 2, "half": 0.5,
    }  # fmt: skip


def test_only_linear_candidates_meet_both_demands():
    kept = [name for name, f in pw.CANDIDATES.items() if pw.demands(f) == (True, True)]
    assert kept == ["3 x1 - x2"]


# ---------------------------------------------------------------- many classes


def test_two_classes_are_one_problem():
    X, y = pw.four_clouds()
    first, second = pw.one_vs_all(X[y < 2], y[y < 2])
    assert np.array_equal(first, -second)
    (pair,) = pw.one_vs_one(X[y < 2], y[y < 2]).values()
    assert np.array_equal(pair, first)


def test_the_errors_of_one_vs_all_are_those_of_its_own_machines():
    labels = np.array([0, 1, 1])
    scores = [np.array([1.0, -1, 1]), np.array([9.0, 9, 9]), np.array([-1.0, 1, -1])]
    missed, taken = pw.one_vs_all_errors(scores, [10, 4, 10], labels)
    assert (missed, taken) == pytest.approx((1 / 3, 1 / 3))


def maps(**moved):
    return controls.explorer(NOTEBOOK, "class_maps", **moved).words


def test_one_vs_all_has_not_settled_and_one_vs_one_has():
    assert maps(passes=43) != maps(passes=42)
    votes = maps(rule="one-vs-one", passes=42)
    assert votes == maps(rule="one-vs-one", passes=60) and votes.facts["wrong"] == 0


@pytest.mark.parametrize(
    "rule, notices", [("one-vs-all", True), ("one-vs-one", False), ("one-vs-one, sums", True)]
)
def test_only_votes_ignore_the_length_of_one_vector(rule, notices):
    assert (maps(rule=rule, log_scale=1.0) != maps(rule=rule)) == notices

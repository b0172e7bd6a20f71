"""Dropout and capacity: references against torch, differences, brute force and scikit-learn; what it draws."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.linear_model import Ridge
from torch.nn import functional as F

from descent.pictures.neural_networks import dropout_and_capacity as dc
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/05_dropout_and_capacity"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def masks_and_chances(d, p):
    """Every mask with its probability, one factor a unit."""
    for mask in itertools.product((0, 1), repeat=d):
        yield torch.tensor(mask).double(), np.prod([1 - p if on else p for on in mask])


# ---------------------------------------------------------------- references


@pytest.mark.parametrize("p", [0.0, 0.2, 0.7])
@pytest.mark.parametrize("inverted", [False, True])
def test_moments_are_those_of_all_masks(p, inverted):
    h, W = normal(5), normal(5, 3, seed=1)
    outputs = [
        (chance, (m * h) @ W / (1 - p if inverted else 1)) for m, chance in masks_and_chances(5, p)
    ]
    mean = sum(c * s for c, s in outputs)
    variance = sum(c * (s - mean) ** 2 for c, s in outputs)
    got = ref.output_moments(h, W, p, inverted)
    torch.testing.assert_close(got, (mean, variance))


@pytest.mark.parametrize("p", [0.0, 0.25, 0.6])
def test_inverted_dropout_has_torchs_values_share_and_mean(p):
    h, u = torch.full((100_000,), 1.5), torch.from_numpy(np.random.default_rng(0).random(100_000))
    out, factor = ref.dropout_with(h, p, True, True, u)
    torch.manual_seed(0)
    theirs = F.dropout(h, p, training=True)
    torch.testing.assert_close(out.unique(), theirs.unique())
    assert (out > 0).double().mean().item() == pytest.approx(1 - p, abs=0.008)  # five errors
    assert out.mean().item() == pytest.approx(theirs.mean().item(), abs=0.05)
    torch.testing.assert_close(out, h * factor)


@pytest.mark.parametrize("inverted", [False, True])
def test_training_and_use_agree_in_the_mean_and_use_throws_no_coins(inverted):
    h, u = normal(6), torch.from_numpy(np.random.default_rng(0).random((200_000, 6)))
    train, _ = ref.dropout_with(h.expand(200_000, 6), 0.3, True, inverted, u)
    used = [ref.dropout_with(h, 0.3, False, inverted, row)[0] for row in u[:2]]
    torch.testing.assert_close(train.mean(0), used[0], rtol=0, atol=0.015)
    assert torch.equal(*used) and torch.equal(used[0], h) == inverted


def parameters():
    X, y = normal(5, 4), torch.tensor([0, 2, 1, 1, 0])
    net = [normal(*s, seed=i + 1) for i, s in enumerate(((4, 6), (6,), (6, 3), (3,)))]
    return X, y, net, 2.0 * (normal(5, 6, seed=9) > 0)


def test_gradients_are_finite_differences():
    X, y, net, factor = parameters()
    loss, *gradients = ref.dropped_net_gradients(X, y, *net, factor, 0.1)

    def by_hand(net):
        W1, b1, W2, b2 = (value.numpy() for value in net)
        s = (np.maximum(X.numpy() @ W1 + b1, 0) * factor.numpy()) @ W2 + b2
        p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
        squares = np.linalg.norm(W1, "fro") ** 2 + np.linalg.norm(W2, "fro") ** 2
        return -np.log(p[np.arange(5), y.numpy()]).mean() + 0.1 * squares

    assert loss.item() == pytest.approx(by_hand(net))
    for i, gradient in enumerate(gradients):
        for place in np.ndindex(*gradient.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [value.clone() for value in net]
                moved[i][place] += step
                ends.append(by_hand(moved))
            assert gradient[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_without_dropout_a_step_is_torchs_with_its_weight_decay():
    """torch.optim.SGD(weight_decay=2 lam) on the matrices does what the penalty does."""
    X, y, net, _ = parameters()
    module = torch.nn.Sequential(
        torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(6, 3)
    ).double()
    leaves = (module[0].weight, module[0].bias, module[3].weight, module[3].bias)
    with torch.no_grad():
        for leaf, value in zip(leaves, net, strict=True):
            leaf.copy_(value.mT if value.ndim == 2 else value)
    module.eval()
    matrices = dict(params=leaves[::2], weight_decay=0.2)
    optimiser = torch.optim.SGD([matrices, dict(params=leaves[1::2])], lr=0.3)
    F.cross_entropy(module(X), y).backward()
    optimiser.step()
    _, *gradients = ref.dropped_net_gradients(X, y, *net, torch.ones(5, 6).double(), 0.1)
    for leaf, value, gradient in zip(leaves, net, gradients, strict=True):
        new = value - 0.3 * gradient
        torch.testing.assert_close(leaf.detach(), new.mT if new.ndim == 2 else new)


def loop(told, *, p=0.0, eta=0.1, every=1, patience=99, steps=None, mark=0.0):
    net = [normal(*s, seed=i) for i, s in enumerate(((3, 4), (4,), (4, 2), (2,)))]
    batches = [torch.tensor([0, 1, 2])] * (steps or every * len(told))
    A, B = normal(3, 3, seed=7), normal(3, 2, seed=8)
    return net, ref.trained(A, B, told, mark, net, p, eta, batches, every, patience, 0)


def test_the_loop_without_coins_goes_the_way_that_a_recursion_says():
    """Of b1 the toy's slope is (rows − b1): b1 − 3 grows by 1 + eta at each step."""
    net, got = loop([3.0, 1.0, 2.0], every=2, steps=6)
    torch.testing.assert_close(got["last"][1], 3 + (net[1] - 3) * 1.1**6)
    torch.testing.assert_close(got["best"][1], 3 + (net[1] - 3) * 1.1**2)


def test_the_loop_drops_units_of_each_row_and_rescales():
    coins = np.random.default_rng(0).random((3, 4)) >= 0.4
    net, got = loop([1.0], p=0.4)
    slope = torch.from_numpy(coins.sum(0) / 0.6) - net[1]
    torch.testing.assert_close(got["last"][1], net[1] - 0.1 * slope)


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_the_loop_ends_where_a_scan_of_all_losses_says(patience):
    for seed in range(60):
        told = np.random.default_rng(seed).integers(0, 6, 12).astype(float)
        told[3:][told[3:] == 5] = np.nan
        ends = [
            k for k in range(patience, 12)
            if not np.nanmin(told[k - patience + 1 : k + 1], initial=9) < np.nanmin(told[: k - patience + 1])
        ]  # fmt: skip
        shown = told[: ends[0] + 1] if ends else told
        net, got = loop(told.tolist(), patience=patience)
        np.testing.assert_array_equal(got["losses"], shown)
        best = int(np.nanargmin(shown))
        torch.testing.assert_close(got["best"][1], 3 + (net[1] - 3) * 1.1**best)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.8])
def test_ensemble_means_are_those_of_all_sub_networks(p):
    h, W = normal(4), normal(4, 3, seed=1)
    scores = geometric = vote = 0.0
    for m, chance in masks_and_chances(4, p):
        s = (m * h) @ W
        scores = scores + chance * s
        geometric = geometric + chance * torch.log_softmax(s, 0)
        vote = vote + chance * torch.softmax(s, 0)
    expected = scores, geometric.exp() / geometric.exp().sum(), vote
    torch.testing.assert_close(ref.ensemble_means(h, W, p), expected)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.8])
def test_masked_norms_are_those_of_torchs_rms_norm_under_all_masks(p):
    h, first, second = normal(4), 0.0, 0.0
    for m, chance in masks_and_chances(4, p):
        first = first + chance * m * F.rms_norm(h, (4,), eps=0)
        if m.any():
            second = second + chance * F.rms_norm(m * h, (4,), eps=0)
    torch.testing.assert_close(ref.masked_norm_means(h, p), (first, second))


def test_the_expected_loss_over_all_masks_is_stationary_and_lowest_at_the_formulas_weights():
    X, y, p = normal(4, 2), normal(4, seed=1), 0.3

    def expected(w):
        return sum(
            chance * (y - (m.view(4, 2) * X) @ w / (1 - p)).square().sum()
            for m, chance in masks_and_chances(8, p)
        )

    w = ref.dropout_least_squares(X, y, p).requires_grad_()
    (gradient,) = torch.autograd.grad(expected(w), w)
    torch.testing.assert_close(gradient, torch.zeros(2).double(), rtol=0, atol=1e-10)
    with torch.no_grad():
        assert all(expected(w + 0.1 * move) > expected(w) for move in normal(5, 2, seed=2))


def test_columns_of_equal_length_make_it_scikit_learns_ridge_and_units_change_no_prediction():
    X, y, p = normal(9, 4), normal(9, 2, seed=1), 0.4
    X = 3 * X / X.norm(dim=0)
    ridge = Ridge(alpha=9 * p / (1 - p), fit_intercept=False).fit(X.numpy(), y.numpy())
    ours = ref.dropout_least_squares(X, y, p)
    np.testing.assert_allclose(ours, ridge.coef_.T, rtol=1e-8)
    units = torch.tensor([1e-3, 1.0, 1e4, 7.0]).double()
    other = ref.dropout_least_squares(X * units, y, p)
    torch.testing.assert_close(X @ ours, (X * units) @ other)


# ---------------------------------------------------------------- what it draws


def moved(call, **values):
    return controls.explorer(NOTEBOOK, call, **values).words.facts


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_plain_masks_move_the_mean_and_inverted_ones_do_not(p):
    h, w = dc.small_net()
    sd = np.sqrt(p * (1 - p) * np.sum((h * w) ** 2))
    for inverted, mean, scale in ((False, (1 - p) * h @ w, 1.0), (True, h @ w, 1 / (1 - p))):
        told = moved("dc.draw_mask", p=p, inverted=inverted)
        assert (told["mean"], told["sd"]) == pytest.approx((mean, sd * scale))


def test_played_throws_are_new_coins_and_the_same_throw_the_same():
    outputs = [moved("dc.draw_mask", throw=throw)["now"] for throw in (1, 2, 3, 4, 5, 6, 1)]
    assert len(set(outputs)) > 3 and outputs[0] == outputs[-1]
    assert moved("dc.draw_mask", p=0.0)["off"] == 0


def test_dragged_weights_pay_for_their_length_once_coins_fall():
    assert moved("dc.draw_copies", p=0.0)["noise"] == 0
    split = moved("dc.draw_copies", w1=0.5, w2=0.5, p=0.5)
    co_adapted = moved("dc.draw_copies", w1=5, w2=-4, p=0.5)
    assert split["fit"] == co_adapted["fit"] == 0
    assert (split["noise"], co_adapted["noise"]) == pytest.approx((0.5, 41))
    assert co_adapted["alone"] == 25 and split["alone"] == 0.25
    table = np.array([[2.0, 2.0], [-1.0, -1.0]])
    w = ref.dropout_least_squares(torch.tensor(table), torch.tensor(table[:, 0]), 0.5)
    np.testing.assert_allclose(w, split["best"])


def test_the_first_300_labels_hold_lies_and_the_formula_finds_them_without_coins():
    X, y, said, lie = dc.noisy_digits()
    assert np.array_equal(said != y[:300], lie) and lie.sum() == 67 and len(X) == 1797
    H = dc.fixed_features()
    w = ref.dropout_least_squares(torch.tensor(H[:300]), torch.tensor(np.eye(10)[said]), 0.75)
    against, wrong = dc.suspects((H @ w.numpy()).argmax(1))
    assert wrong > 55 and wrong > 0.9 * against
    assert dc.found_without_coins(0.75) == 2 and dc.found_without_coins(1e-6) == 0


def test_dropout_leaves_wrong_labels_out_and_a_vote_does_not():
    right, wrong, new = (dc.sweep()[1][-1, : len(dc.RATES), k] for k in range(3))
    place = dc.RATES.index(0.75)
    assert wrong[0] > 0.95 and wrong[place] < 0.6 and right[place] > 0.95
    assert new[place] > new[0] + 0.05
    believed, read = dc.votes()
    assert believed.min() > 0.95 and read[3] > read[:3].mean()


def test_nets_side_by_side_compute_what_each_would_alone():
    nets, _ = dc.train_nets((0.0, 0.5), steps=3)
    X = torch.tensor(dc.noisy_digits()[0][500:507], dtype=torch.float32)
    together = nets.scores(nets.hidden(X))
    for i in range(2):
        W1, b1, W2, b2 = (part[i] for part in nets.parts)
        torch.testing.assert_close(together[i], torch.relu(X @ W1 + b1) @ W2 + b2)


def test_a_dragged_rate_tells_its_own_end():
    free, many = moved("dc.draw_rates", p=0.0), moved("dc.draw_rates", p=0.9)
    assert free["p"] == 0 and many["p"] == 0.9 and many["ends"][1] < 40 < free["ends"][1]


def test_bands_grow_with_the_rate_and_far_out_the_truth_lies_in_neither():
    told = [moved("dc.draw_bands", p=p) for p in dc.BANDS]
    assert told[-1]["m"][0] > 1.5 * told[0]["m"][0]
    for one in told:
        assert one["m"][2] > 1.2 * one["m"][0] and one["i"] == [0, 0]
    assert told[0]["t"][1] > 2 * told[0]["t"][0]  # the three notice the gap


@pytest.mark.parametrize("kind", dc.DECAYS)
def test_more_decay_means_shorter_weights_and_less_certainty(kind):
    told = [moved("dc.draw_decay", lam=lam, kind=kind) for lam in dc.LAMBDAS]
    assert np.all(np.diff([one["length"] for one in told]) < 0)
    assert told[-1]["sure"] < told[0]["sure"] - 10
    assert told[0]["wrong"] == 0 and told[0]["length"] == told[0]["free"]


def test_the_norm_removes_scale_and_dropout_prepares_for_dead_units():
    accuracy, moved = dc.damage()
    assert moved[[1, 3], 0].max() < 0.01 < moved[[0, 2], 0].min()
    assert accuracy[2, 5] > accuracy[0, 5]


def test_the_answer_counts_what_networks_say():
    X, y, said, lie = dc.noisy_digits()
    fig, words = dc.draw_answer({"by heart": np.r_[said, y[300:]], "knows all": y})
    assert words.facts["told"] == [
        "by heart: 100 % of the wrong labels believed, 100 % of new digits right, 0 of 0 suspects wrong",
        "knows all: 0 % of the wrong labels believed, 100 % of new digits right, 67 of 67 suspects wrong",
    ]

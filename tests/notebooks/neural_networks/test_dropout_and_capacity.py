"""Dropout references against torch, autograd, brute force over masks, scikit-learn and simulation."""

import itertools
import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider
from sklearn.linear_model import Ridge
from torch.nn import functional as F

from descent.pictures.neural_networks import dropout_and_capacity as dc
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/05_dropout_and_capacity", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def uniform(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).random(shape)).to(dtype)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-9, atol=1e-11)


def masks_and_chances(d, p):
    """Every mask as a tuple of 0 and 1, with its probability, one factor a unit."""
    for mask in itertools.product((0, 1), repeat=d):
        chance = 1.0
        for on in mask:
            chance *= 1 - p if on else p
        yield torch.tensor(mask, dtype=torch.float64), chance


# ---------------------------------------------------------------- mean and variance


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
    torch.testing.assert_close(got[0], mean)
    torch.testing.assert_close(got[1], variance)


@BATCHES
def test_moments_are_computed_batch_by_batch(batch):
    h, W = normal(*batch, 4), normal(4, 2, seed=1)
    got = ref.output_moments(h, W, 0.3, True)
    flat = [ref.output_moments(one, W, 0.3, True) for one in h.reshape(-1, 4)]
    for ours, theirs in zip(got, zip(*flat, strict=True), strict=True):
        torch.testing.assert_close(ours, torch.stack(theirs).reshape(ours.shape))


# ---------------------------------------------------------------- forward


@DTYPES
@pytest.mark.parametrize("p", [0.0, 0.25, 0.6])
def test_inverted_dropout_has_torchs_values_share_and_mean(dtype, p):
    h, u = torch.full((100_000,), 1.5, dtype=dtype), uniform(100_000, dtype=dtype)
    out, factor = ref.dropout_with(h, p, True, True, u)
    torch.manual_seed(0)
    theirs = F.dropout(h, p, training=True)
    torch.testing.assert_close(out.unique(), theirs.unique(), **tolerance(dtype))
    assert (out > 0).double().mean().item() == pytest.approx(
        1 - p, abs=0.008
    )  # five standard errors
    assert out.mean().item() == pytest.approx(theirs.mean().item(), abs=0.05)
    assert out.dtype == factor.dtype == dtype
    torch.testing.assert_close(out, h * factor)


@pytest.mark.parametrize("inverted", [False, True])
def test_training_and_evaluation_agree_in_the_mean(inverted):
    h, u = normal(6), uniform(200_000, 6)
    train, _ = ref.dropout_with(h.expand(200_000, 6), 0.3, True, inverted, u)
    after, _ = ref.dropout_with(h, 0.3, False, inverted, u[0])
    torch.testing.assert_close(train.mean(0), after, rtol=0, atol=0.015)


def test_evaluation_ignores_the_coins_and_is_the_identity_if_inverted():
    h = normal(3, 4)
    for seed in (0, 1):
        out, factor = ref.dropout_with(h, 0.5, False, True, uniform(3, 4, seed=seed))
        assert torch.equal(out, h) and torch.equal(factor, torch.ones_like(h))
    assert torch.equal(ref.dropout_with(h, 0.0, True, True, uniform(3, 4))[0], h)


def test_a_unit_on_the_edge_is_kept():
    h, u = torch.ones(3, dtype=torch.float64), torch.tensor([0.49, 0.5, 0.51], dtype=torch.float64)
    assert ref.dropout_with(h, 0.5, True, False, u)[0].tolist() == [0, 1, 1]


# ---------------------------------------------------------------- backward


def parameters(dtype=torch.float64):
    X, y = normal(5, 4, dtype=dtype), torch.tensor([0, 2, 1, 1, 0])
    shapes = ((4, 6), (6,), (6, 3), (3,))
    net = [normal(*s, dtype=dtype, seed=i + 1) for i, s in enumerate(shapes)]
    factor = 2.0 * (uniform(5, 6, dtype=dtype) >= 0.5).to(dtype)
    return X, y, *net, factor


def test_gradients_are_finite_differences():
    X, y, *net, factor = parameters()
    loss, *gradients = ref.dropped_net_gradients(X, y, *net, factor)

    def by_hand(net):
        W1, b1, W2, b2 = (value.numpy() for value in net)
        s = (np.maximum(X.numpy() @ W1 + b1, 0) * factor.numpy()) @ W2 + b2
        p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
        return -np.log(p[np.arange(5), y.numpy()]).mean()

    assert loss.item() == pytest.approx(by_hand(net))
    for i, gradient in enumerate(gradients):
        for place in np.ndindex(*gradient.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [value.clone() for value in net]
                moved[i][place] += step
                ends.append(by_hand(moved))
            assert gradient[place].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_gradients_are_those_of_torchs_modules_when_nothing_is_dropped():
    X, y, W1, b1, W2, b2, _ = parameters()
    net = torch.nn.Sequential(
        torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(6, 3)
    ).double()
    with torch.no_grad():
        for layer, W, b in ((net[0], W1, b1), (net[3], W2, b2)):
            layer.weight.copy_(W.T)
            layer.bias.copy_(b)
    net.eval()
    F.cross_entropy(net(X), y).backward()
    _, dW1, db1, dW2, db2 = ref.dropped_net_gradients(
        X, y, W1, b1, W2, b2, torch.ones(5, 6).double()
    )
    torch.testing.assert_close(dW1, net[0].weight.grad.T)
    torch.testing.assert_close(db1, net[0].bias.grad)
    torch.testing.assert_close(dW2, net[3].weight.grad.T)
    torch.testing.assert_close(db2, net[3].bias.grad)


def test_a_unit_that_is_off_in_every_row_gets_no_gradient():
    X, y, *net, factor = parameters()
    factor[:, 1] = 0
    _, dW1, db1, dW2, _ = ref.dropped_net_gradients(X, y, *net, factor)
    assert not dW1[:, 1].any() and not db1[1] and not dW2[1].any()


# ---------------------------------------------------------------- the ensemble


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 0.8])
def test_ensemble_means_are_those_of_all_sub_networks(p):
    h, W = normal(4), normal(4, 3, seed=1)
    scores = geometric = arithmetic = 0.0
    for m, chance in masks_and_chances(4, p):
        s = (m * h) @ W
        scores = scores + chance * s
        geometric = geometric + chance * torch.log_softmax(s, 0)
        arithmetic = arithmetic + chance * torch.softmax(s, 0)
    got = ref.ensemble_means(h, W, p)
    torch.testing.assert_close(got[0], scores)
    torch.testing.assert_close(got[1], geometric.exp() / geometric.exp().sum())
    torch.testing.assert_close(got[2], arithmetic)


@BATCHES
def test_ensemble_means_are_computed_batch_by_batch(batch):
    h, W = normal(*batch, 4), normal(4, 3, seed=1)
    got = ref.ensemble_means(h, W, 0.4)
    flat = [ref.ensemble_means(one, W, 0.4) for one in h.reshape(-1, 4)]
    for ours, theirs in zip(got, zip(*flat, strict=True), strict=True):
        torch.testing.assert_close(ours, torch.stack(theirs).reshape(ours.shape))


# ---------------------------------------------------------------- norm and mask


@pytest.mark.parametrize("p", [0.0, 0.3, 0.8])
def test_masked_norms_are_those_of_torchs_rms_norm_under_all_masks(p):
    h, first, second = normal(4), 0.0, 0.0
    for m, chance in masks_and_chances(4, p):
        first = first + chance * m * F.rms_norm(h, (4,), eps=0)
        if m.any():
            second = second + chance * F.rms_norm(m * h, (4,), eps=0)
    got = ref.masked_norm_means(h, p)
    torch.testing.assert_close(got[0], first)
    torch.testing.assert_close(got[1], second)


def test_masked_norms_of_three_and_four():
    first, second = ref.masked_norm_means(torch.tensor([3.0, 4.0]).double(), 0.5)
    np.testing.assert_allclose(first, [0.4243, 0.5657], atol=5e-5)
    np.testing.assert_allclose(second, [(1 + 0.6) * 2**0.5 / 4, (1 + 0.8) * 2**0.5 / 4])


@BATCHES
def test_masked_norms_are_computed_batch_by_batch(batch):
    h = normal(*batch, 4)
    flat = [ref.masked_norm_means(one, 0.4) for one in h.reshape(-1, 4)]
    for ours, theirs in zip(ref.masked_norm_means(h, 0.4), zip(*flat, strict=True), strict=True):
        torch.testing.assert_close(ours, torch.stack(theirs).reshape(ours.shape))


# ---------------------------------------------------------------- dropped inputs are ridge


def expected_loss(X, y, w, p):
    """By the sum over all masks of the table."""
    total = 0.0
    for m, chance in masks_and_chances(X.numel(), p):
        total = total + chance * (y - (m.view(X.shape) * X) @ w / (1 - p)).square().sum()
    return total


def test_the_expected_loss_is_stationary_at_the_solution_and_convex():
    X, y, p = normal(4, 2), normal(4, seed=1), 0.3
    w = ref.dropout_least_squares(X, y, p).requires_grad_()
    (gradient,) = torch.autograd.grad(expected_loss(X, y, w, p), w)
    torch.testing.assert_close(gradient, torch.zeros(2).double(), rtol=0, atol=1e-10)
    with torch.no_grad():
        for move in normal(5, 2, seed=2):
            assert expected_loss(X, y, w + 0.1 * move, p) > expected_loss(X, y, w, p)


def test_columns_of_equal_length_make_it_scikit_learns_ridge():
    X, y, p = normal(9, 4), normal(9, seed=1), 0.4
    X = 3 * X / X.norm(dim=0)
    ridge = Ridge(alpha=9 * p / (1 - p), fit_intercept=False).fit(X.numpy(), y.numpy())
    np.testing.assert_allclose(ref.dropout_least_squares(X, y, p), ridge.coef_, rtol=1e-8)


def test_units_of_a_feature_change_no_prediction():
    X, y, units = normal(8, 3), normal(8, seed=1), torch.tensor([1e-3, 1.0, 1e4]).double()
    one, other = (ref.dropout_least_squares(A, y, 0.5) for A in (X, X * units))
    torch.testing.assert_close(X @ one, (X * units) @ other)


def test_no_dropout_is_least_squares():
    X, y = normal(8, 3), normal(8, seed=1)
    expected = np.linalg.lstsq(X.numpy(), y.numpy(), rcond=None)[0]
    np.testing.assert_allclose(ref.dropout_least_squares(X, y, 0.0), expected, rtol=1e-9)


@BATCHES
def test_dropped_least_squares_is_computed_batch_by_batch(batch):
    X, y = normal(*batch, 3, 4), normal(*batch, 3, seed=1)  # more features than rows
    got = ref.dropout_least_squares(X, y, 0.3)
    flat = [
        ref.dropout_least_squares(A, b, 0.3)
        for A, b in zip(X.reshape(-1, 3, 4), y.reshape(-1, 3), strict=True)
    ]
    torch.testing.assert_close(got, torch.stack(flat).reshape(got.shape))


# ---------------------------------------------------------------- weight decay


def test_the_penalty_is_numpys_frobenius_norm_and_its_gradient_autograds():
    Ws = [normal(3, 4), normal(4, 2, seed=1)]
    value, gradients = ref.decayed_loss(1.5, Ws, 0.2)
    norms = [np.linalg.norm(W.numpy(), "fro") ** 2 for W in Ws]
    assert value.item() == pytest.approx(1.5 + 0.2 * sum(norms))
    leaves = [W.clone().requires_grad_() for W in Ws]
    (0.2 * sum(W.norm() ** 2 for W in leaves)).backward()
    for ours, leaf in zip(gradients, leaves, strict=True):
        torch.testing.assert_close(ours, leaf.grad)


def test_a_step_on_the_penalty_is_torchs_weight_decay():
    """torch.optim.SGD(weight_decay=2 lam) does what the penalty lam ‖W‖² does."""
    W, lam, eta = normal(3, 2), 0.1, 0.3
    leaf = W.clone().requires_grad_()
    leaf.grad = torch.zeros_like(W)
    torch.optim.SGD([leaf], lr=eta, weight_decay=2 * lam).step()
    _, (gradient,) = ref.decayed_loss(0.0, [W], lam)
    torch.testing.assert_close(leaf.detach(), W - eta * gradient)


# ------------------------------------------------------------ what it draws


def number_after(words, phrase):
    return float(re.findall(r"-?\d+\.?\d*", words.split(phrase, 1)[1])[0])


# ---------------------------------------------------------------- one mask


def test_there_are_all_masks_and_their_chances_are_binomial():
    h, w = np.ones(5), np.ones(5)
    assert len({tuple(m) for m in dc.all_masks(5)}) == 32
    values, chance = dc.output_distribution(h, w, 0.3, False)
    assert chance.sum() == pytest.approx(1)
    assert chance[values == 2].sum() == pytest.approx(10 * 0.7**2 * 0.3**3)


@pytest.fixture
def coins():
    return Explorer(
        dc.draw_mask,
        dict(
            p=FloatSlider(0.5, min=0, max=0.9), batch=IntSlider(1, max=30), inverted=Checkbox(False)
        ),
    )


def test_plain_masks_move_the_mean_and_inverted_ones_do_not(coins):
    h, w = dc.small_net()
    for p in (0.2, 0.5, 0.8):
        coins.controls["p"].value = p
        coins.controls["inverted"].value = False
        assert number_after(coins.words, "has mean") == pytest.approx((1 - p) * h @ w, abs=0.006)
        sd = np.sqrt(p * (1 - p) * np.sum((h * w) ** 2))
        assert number_after(coins.words, "standard deviation") == pytest.approx(sd, abs=0.006)
        coins.controls["inverted"].value = True
        assert number_after(coins.words, "has mean") == pytest.approx(h @ w, abs=0.006)
        assert number_after(coins.words, "standard deviation") == pytest.approx(
            sd / (1 - p), abs=0.006
        )


def test_a_new_batch_throws_new_coins_and_the_same_batch_the_same(coins):
    first = number_after(coins.words, "output")
    seen = set()
    for batch in range(2, 12):
        coins.controls["batch"].value = batch
        seen.add(number_after(coins.words, "output"))
    assert len(seen) > 5
    coins.controls["batch"].value = 1
    assert number_after(coins.words, "output") == first


def test_nothing_is_off_at_rate_zero(coins):
    coins.controls["p"].value = 0
    assert number_after(coins.words, "Off:") == 0
    assert number_after(coins.words, "standard deviation") == 0


# ---------------------------------------------------------------- networks on noisy digits


def test_one_training_label_in_five_is_wrong_and_the_others_are_clean():
    rows = dc.noisy_digits()
    wrong = (rows["train"][1] != rows["right"][1]).double().mean().item()
    assert wrong == pytest.approx(0.2, abs=0.06)
    assert [len(rows[name][1]) for name in ("train", "validation", "test")] == [300, 200, 1297]


def test_dropout_learns_fewer_of_the_wrong_labels():
    learned = [dc.learned_wrong(p) for p in (0.0, 0.5, 0.8)]
    assert learned[0] > 0.95 and np.all(np.diff(learned) < -0.1)


def test_nets_side_by_side_compute_what_each_would_alone():
    nets, _ = dc.train_nets((0.0, 0.5), steps=3)
    X = dc.noisy_digits()["test"][0][:7]
    with torch.no_grad():
        together = nets.scores(nets.hidden(X))
        for i in range(2):
            h = torch.relu(X @ nets.W1[i] + nets.b1[i])
            torch.testing.assert_close(together[i], h @ nets.W2[i] + nets.b2[i])


def test_an_rms_net_ignores_the_scale_of_its_hidden_layer():
    nets = dc.norm_nets()
    with torch.no_grad():
        h = nets.hidden(dc.noisy_digits()["test"][0][:20])
        moved = (nets.scores(5 * h) - nets.scores(h)).abs().amax((1, 2))
    assert moved[[1, 3]].max() < 1e-2 < moved[[0, 2]].min()


@pytest.fixture
def keep():
    return Explorer(
        dc.draw_keep, dict(keep=FloatSlider(1.0, min=0.1, max=1), inverted=Checkbox(True))
    )


def test_without_dropout_the_net_knows_its_labels_by_heart(keep):
    assert number_after(keep.words, "at the end") > 95
    assert number_after(keep.words, "labels and") < 82


def test_dropping_most_units_helps_on_new_digits_and_ten_per_cent_starve(keep):
    free = number_after(keep.words, "labels and")
    keep.controls["keep"].value = 0.3
    helped = number_after(keep.words, "labels and")
    keep.controls["keep"].value = 0.1
    assert helped > free + 8
    assert number_after(keep.words, "labels and") < helped


def test_the_mean_activation_moves_by_q_unless_it_is_repaired(keep):
    keep.controls["keep"].value = 0.4
    assert number_after(keep.words, "under masks is") == pytest.approx(1, abs=0.03)
    keep.controls["inverted"].value = False
    assert number_after(keep.words, "under masks is") == pytest.approx(0.4, abs=0.02)


# ---------------------------------------------------------------- bands


@pytest.fixture
def bands():
    return Explorer(dc.draw_bands, dict(p=SelectionSlider(options=dc.BAND_RATES, value=0.1)))


def test_bands_open_beyond_the_data_and_widen_with_the_rate(bands):
    near = []
    for p in dc.BAND_RATES:
        bands.controls["p"].value = p
        words = bands.words.split(f"(p = {p:g})")[1]
        inside, gap, outside = map(float, re.findall(r"\d+\.\d+", words)[:3])
        assert outside > 1.3 * inside
        assert outside > 1.3 * gap  # the masks hardly notice the gap …
        near.append(inside)
    assert near[-1] > 2 * near[0]
    three = bands.words.split("three networks ")[1]
    inside, gap, outside = map(float, re.findall(r"\d+\.\d+", three)[:3])
    assert min(gap, outside) > 5 * inside  # … the three networks do


@pytest.mark.parametrize("p", dc.BAND_RATES)
def test_far_from_the_data_the_truth_lies_in_neither_band(bands, p):
    bands.controls["p"].value = p
    assert "in the band at 0 % and 0 % of the places" in bands.words


def test_a_mask_with_every_unit_is_the_whole_network():
    """The mean over many inverted masks is the prediction without a mask: the readout is linear."""
    _, masked, whole = dc.line_nets()
    error = masked.std(1) / np.sqrt(masked.shape[1])
    assert np.all(np.abs(masked.mean(1) - whole) < 5 * error + 1e-6)


# ---------------------------------------------------------------- decay


@pytest.fixture
def decay():
    return Explorer(
        dc.draw_decay,
        dict(
            lam=SelectionSlider(options=dc.LAMBDAS, value=0.0),
            kind=Dropdown(options=dc.DECAYS, value=dc.DECAYS[0]),
        ),
    )


@pytest.mark.parametrize("kind", dc.DECAYS)
def test_more_decay_means_shorter_weights_and_less_certainty(decay, kind):
    decay.controls["kind"].value = kind
    lengths, sure = [], []
    for lam in dc.LAMBDAS:
        decay.controls["lam"].value = lam
        lengths.append(number_after(decay.words, "length"))
        sure.append(number_after(decay.words, "; on"))
    assert np.all(np.diff(lengths) < 0)
    assert sure[-1] < sure[0] - 10


def test_the_two_decays_are_comparable():
    _, p, wrong = dc.decayed_nets()
    sure = (np.abs(p - 0.5) > 0.45).mean((2, 3))
    assert np.abs(sure[0] - sure[1]).max() < 0.2 and np.abs(wrong[0] - wrong[1]).max() < 0.1


def test_without_decay_both_kinds_are_the_same_and_make_no_mistake(decay):
    length = number_after(decay.words, "length")
    assert number_after(decay.words, "λ = 0:") == 0
    decay.controls["kind"].value = dc.DECAYS[1]
    assert number_after(decay.words, "length") == length


# ---------------------------------------------------------------- damage and figures


def test_the_norm_removes_scale_and_dropout_prepares_for_dead_units():
    accuracy, moved = dc.damage()
    assert moved[[1, 3], 0].max() < 0.01 < moved[[0, 2], 0].min()
    assert accuracy[2, 5] > accuracy[0, 5]
    alone = dc.norm_nets().measure(*dc.noisy_digits()["test"])[:, 1].view(3, 4).mean(0)
    assert np.allclose(accuracy[:, 0], alone)


def test_early_stopping_and_the_sweep_say_what_the_curves_say():
    validation, test = dc.mean_curves("validation", 0.0), dc.mean_curves("test", 0.0)
    best = int(validation[:, 0].argmin())
    words = dc.draw_early(0.0)[1]
    assert number_after(words, "after") == dc.EVERY * best
    assert number_after(words, "Test accuracy is") == round(100 * test[best, 1])
    assert number_after(dc.draw_sweep()[1], "New digits:") == round(100 * test[-1, 1])


def test_small_figures_tell_their_numbers():
    words = dc.draw_cosines([0.25, 0.5], [0.87, 0.71], 64)[1]
    assert number_after(words, "cosine is") == 0.71
    means = ([1.0, 0.0], [0.7, 0.3], [0.6, 0.4])
    words = dc.draw_three_means(np.ones(1), np.array([[2.0, 0.0]]), 0.5, means)[1]
    assert number_after(words, "differ by up to") == 0.1
    assert "0.88, 0.12" in words
    words = dc.draw_ridge_path([0.0, 0.5], np.array([[3.0, 4.0], [0.0, 2.0]]), ["a", "b"])[1]
    assert number_after(words, "falls from") == 5
    words = dc.draw_final({"a": ([0, 1], [0.1, 0.5])}, "a", {"a": 0.5})[1]
    assert "a 50 %" in words
    assert "training 99 %" in dc.draw_why()[1] or "training 100 %" in dc.draw_why()[1]

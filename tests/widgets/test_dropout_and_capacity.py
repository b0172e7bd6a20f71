"""Widgets of dropout and capacity: their numbers against formulas and brute force, then their controls."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Checkbox, Dropdown, FloatSlider, IntSlider, SelectionSlider

from descent.widgets import Explorer
from descent.widgets import dropout_and_capacity as dc


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

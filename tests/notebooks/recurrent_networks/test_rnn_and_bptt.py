"""References and pictures of 09_recurrent_networks/01_rnn_and_bptt against differences, sums over paths and torch."""

import functools
import operator

import numpy as np
import pytest
import torch
from torch import nn

from descent import data
from descent.pictures.recurrent_networks import rnn_and_bptt as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "09_recurrent_networks/01_rnn_and_bptt"
ref = notebook_module(NOTEBOOK, "reference")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def small(rng, B=3, T=5, K=4, H=3):
    """ids, targets, [E, W, b, R], h0 as tensors; a third of the places is not asked."""
    params = [rng.normal(size=shape) for shape in ((K, H), (H, H), (H,), (H, K))]
    ids, targets = rng.integers(K, size=(B, T)), rng.integers(K, size=(B, T))
    targets[rng.random((B, T)) < 0.3] = -1
    targets[0, -1] = 0
    ids, targets, h0 = (torch.tensor(a) for a in (ids, targets, rng.normal(size=(B, H))))
    return ids, targets, [torch.tensor(p) for p in params], h0


@pytest.mark.parametrize("T", range(1, 11))
@pytest.mark.parametrize("act", ["tanh", "identity"])
def test_terms_of_all_lags_add_up_to_the_slope_by_each_weight(T, act, rng):
    x, y, w = rng.normal(size=T), 0.3, np.array([0.7, 1.1, 0.9])

    def loss(w):
        h = 0.0
        for number in x:
            a = w[0] * number + w[1] * h
            h = np.tanh(a) if act == "tanh" else a
        return (w[2] * h - y) ** 2

    terms = ref.lag_terms(torch.tensor(x), y, *w, act).sum(0)
    for i in (0, 1):
        nudge = 1e-6 * np.eye(3)[i]
        slope = (loss(w + nudge) - loss(w - nudge)) / 2e-6
        assert float(terms[i]) == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_the_numbers_of_the_printed_sum_without_its_powers():
    """tanh, T = 4, w = (0.7, 1.4, 0.9): right 0.17880, without the powers of w1 0.11033."""
    x = torch.tensor([0.5, -1.0, 0.8, 0.3]).double()
    terms = ref.lag_terms(x, 0.2, 0.7, 1.4, 0.9, "tanh")
    assert float(terms[:, 1].sum()) == pytest.approx(0.17880, abs=5e-6)
    assert float(terms[:, 0].sum()) == pytest.approx(0.23175, abs=5e-6)
    bare = terms[:, 1] / 1.4 ** torch.arange(3, -1, -1)
    assert float(bare.sum()) == pytest.approx(0.11033, abs=5e-6)


def test_all_slopes_are_those_of_nudges(rng):
    ids, targets, params, h0 = small(rng)
    told = ref.bptt(ids, targets, *params, h0)
    for i, slopes in enumerate(told["grads"]):
        for place in np.ndindex(*slopes.shape):
            ends = []
            for sign in (1, -1):
                moved = [p.clone() for p in params]
                moved[i][place] += sign * 1e-6
                ends.append(ref.bptt(ids, targets, *moved, h0)["loss"])
            slope = (ends[0] - ends[1]) / 2e-6
            assert float(slopes[place]) == pytest.approx(float(slope), abs=1e-8)


def test_a_message_is_the_sum_over_later_read_outs_of_products_along_the_way(rng):
    ids, targets, (E, W, b, R), h0 = small(rng)
    valves = torch.tensor(rng.uniform(0, 2, 5))
    told = ref.bptt(ids, targets, E, W, b, R, h0, valves)
    hs, n = ref.rnn_forward(ids, E, W, b, h0), (targets >= 0).sum()
    for row in range(len(ids)):
        for t in range(5):
            message = torch.zeros(3).double()
            for asked in range(t, 5):
                if targets[row, asked] < 0:
                    continue
                p = torch.softmax(hs[asked + 1, row] @ R, 0)
                p[targets[row, asked]] -= 1
                arrives = R @ p / n
                for step in range(asked, t, -1):
                    arrives = valves[step] * W @ torch.diag(1 - hs[step + 1, row] ** 2) @ arrives
                message += arrives
            torch.testing.assert_close(told["messages"][t, row], message)


def test_one_step_is_a_network_with_one_hidden_layer(rng):
    ids, targets, params, h0 = small(rng, T=1)
    targets = targets.clamp(min=0)
    E, W, b, R = (p.clone().requires_grad_(True) for p in params)
    hidden = torch.tanh(nn.functional.embedding(ids[:, 0], E) + h0 @ W + b)
    loss = nn.functional.cross_entropy(hidden @ R, targets[:, 0])
    told = ref.bptt(ids, targets, *params, h0)
    torch.testing.assert_close(told["loss"], loss.detach())
    for got, wanted in zip(told["grads"], torch.autograd.grad(loss, (E, W, b, R)), strict=True):
        torch.testing.assert_close(got, wanted)


def test_windows_with_a_state_that_runs_on_are_one_text_with_closed_valves(rng):
    ids, targets, params, h0 = small(rng, T=6)
    targets = targets.clamp(min=0)
    valves = torch.tensor([1.0, 1, 1, 0, 1, 1]).double()
    whole = ref.bptt(ids, targets, *params, h0, valves)
    first = ref.bptt(ids[:, :3], targets[:, :3], *params, h0)
    second = ref.bptt(ids[:, 3:], targets[:, 3:], *params, first["last"])
    torch.testing.assert_close(whole["loss"], (first["loss"] + second["loss"]) / 2)
    for all_, a, b in zip(whole["grads"], first["grads"], second["grads"], strict=True):
        torch.testing.assert_close(all_, (a + b) / 2)


def test_coins_divided_by_their_chance_are_right_in_the_mean_over_all_patterns(rng):
    ids, targets, params, h0 = small(rng, B=1, T=5)
    targets, q = targets.clamp(min=0), 0.6
    exact, mean = ref.bptt(ids, targets, *params, h0)["grads"][1], 0
    for pattern in range(2**4):
        heads = torch.tensor([1.0] + [float(pattern >> i & 1) for i in range(4)]).double()
        chance = q ** heads[1:].sum() * (1 - q) ** (4 - heads[1:].sum())
        mean = mean + chance * ref.bptt(ids, targets, *params, h0, heads / q)["grads"][1]
    torch.testing.assert_close(mean, exact)


@pytest.mark.parametrize("c", [0.05, 1e9])
def test_training_is_torchs_sgd_with_its_clipping(c, rng):
    ids, targets, params, _ = small(rng)
    told = ref.train(params, [(ids, targets, True), (ids.flip(1), targets, False)], 0.4, c)
    net = pictures.Net(params)
    net.rnn.bias_hh_l0.requires_grad_(False)
    sgd, state = torch.optim.SGD(net.parameters(), 0.4), torch.zeros(1, 3, 3).double()
    for symbols in (ids, ids.flip(1)):
        states, state = net.rnn(nn.functional.one_hot(symbols, 4).double(), state.detach())
        scores = net.read(states).flatten(0, 1)
        sgd.zero_grad()
        nn.functional.cross_entropy(scores, targets.flatten(), ignore_index=-1).backward()
        nn.utils.clip_grad_norm_(net.parameters(), c)
        sgd.step()
    into, on, bias, _ = net.rnn.parameters()
    theirs = (into.T, on.T, bias, net.read.weight.T)
    for got, wanted in zip(told["params"], theirs, strict=True):
        torch.testing.assert_close(got, wanted.detach(), rtol=1e-4, atol=1e-5)


def test_the_parity_network_is_exclusive_or_for_long_rows(rng):
    E, W, b, R = ref.parity_net(10.0)
    bits = rng.integers(2, size=(50, 500))
    hs = ref.rnn_forward(torch.tensor(bits), E, W, b, torch.zeros(50, 3).double())
    said = (hs[1:] @ R).argmax(-1).T.numpy()
    for row, answer in zip(bits.tolist(), said.tolist(), strict=True):
        assert answer[-1] == functools.reduce(operator.xor, row)
        assert answer[:3] == [row[0], row[0] ^ row[1], row[0] ^ row[1] ^ row[2]]


def test_real_places_hold_the_sequences_and_all_others_pad():
    seqs = [[1, 2], [0], [3, 3, 1]]
    ids, mask, onehot = ref.pad_batch(seqs, 2, 4)
    assert [row[real].tolist() for row, real in zip(ids, mask, strict=True)] == seqs
    assert (ids[~mask] == 2).all() and onehot[~mask].sum() == 0


# ------------------------------------------------------------ what it draws


def test_the_manual_is_plain_and_the_same_everywhere():
    text = data.manual()
    assert text.isascii() and text.count("\n") == 104 and len(text.split()) > 4000
    assert text.startswith("Any object can be tested for truth value") and "  " not in text


def test_a_turn_keeps_lengths_but_for_its_factor():
    for gain in (0.5, 1.3):
        W = pictures.turn(gain)
        assert W @ W.T == pytest.approx(gain**2 * np.eye(2))
        assert np.abs(np.linalg.eigvals(W)) == pytest.approx(gain)
        W = pictures.network(3, 6, gain)[1]
        assert np.abs(np.linalg.eigvals(W)) == pytest.approx(gain)


@pytest.mark.parametrize("unit", ["tanh", "linear"])
def test_a_message_in_the_plane_is_the_slope_of_the_last_state(unit):
    def last(start):
        return pictures.plane_path(1.2, start, unit, n=6)[-1, 0]

    start, eps = np.array([0.4, -0.3]), 1e-6
    slope = [(last(start + eps * e) - last(start - eps * e)) / (2 * eps) for e in np.eye(2)]
    sizes = pictures.path_messages(1.2, pictures.plane_path(1.2, start, unit, n=6), unit)
    assert len(sizes) == 7 and sizes[-1] == 1
    assert sizes[0] == pytest.approx(np.linalg.norm(slope), rel=1e-6)


def test_linear_units_keep_the_radius_to_the_power_lag_and_tanh_takes_from_it():
    widget = controls.explorer(NOTEBOOK, "draw_plane")
    for gain in (0.5, 1.0, 1.5):
        widget.controls["gain"].value = gain
        widget.controls["unit"].value = "linear"
        assert widget.words.facts["back"] == pytest.approx(gain**30)
        widget.controls["unit"].value = "tanh"
        assert widget.words.facts["back"] < gain**30


def test_the_sentence_is_read_first_and_heard_of_afterwards():
    hs = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    messages = np.array([[0.03, 0.04], [0.3, 0.4], [3.0, 4.0]])
    words = ["I", "love", "machine", "learning"]
    told = [pictures.draw_unrolled(step, words, hs, 0.25, messages)[1] for step in range(8)]
    assert [t.facts["size"] for t in told[5:]] == pytest.approx([5, 0.5, 0.05])
    assert "machine" in told[3] and "learning" in told[4] and "h₁" in told[7]


def test_torchs_network_is_the_one_that_is_trained(rng):
    """First weights, a state by hand, and the loss's slopes by nudging one of them."""
    params = pictures.network(4, 3, 0.9)
    ids, targets, fresh = pictures.recall(rng, rows=5, length=4)
    assert fresh and (targets[:, -1] == ids[:, 0]).all() and (targets[:, :-1] == -1).all()
    E, W, b, R = params
    h = np.tanh(np.tanh(E[ids[:, 0]]) @ W + E[ids[:, 1]])
    assert pictures.torchs(ids, *params)[1] == pytest.approx(h)
    told = ref.bptt(*(torch.tensor(a) for a in (ids, targets, *params, np.zeros((5, 3)))))
    for got, wanted in zip(
        pictures.torchs_slopes(ids, targets, params), told["grads"], strict=True
    ):
        assert got == pytest.approx(wanted.numpy())
    params = pictures.network(4, 32, 0.5)
    ids, targets, _ = pictures.recall(np.random.default_rng(1))
    told = ref.bptt(*(torch.tensor(a) for a in (ids, targets, *params, np.zeros((32, 32)))))
    first, last = told["messages"][0].norm(), told["messages"][-1].norm()
    assert pictures.first_over_last(0.5) == pytest.approx(float(first / last), rel=1e-6)


def test_one_factor_decides_who_learns_the_first_letter():
    facts = pictures.draw_puzzle()[1].facts
    assert facts["good"] > 0.99 and abs(facts["bad"] - 0.25) < 0.08 and facts["n"] == 300


def test_the_loss_of_single_numbers_and_places_in_words():
    h = np.tanh(0.5 * 2.0 + 0.7 * np.tanh(0.5))
    assert pictures.loss_of([1.0, 2.0], 0.1, (0.5, 0.7, 3.0), "tanh") == pytest.approx(
        (3 * h - 0.1) ** 2
    )
    assert pictures.places([1, 2, 0, 1], " ab").tolist() == [1, 2, 0, 1]


def test_pictures_tell_the_numbers_that_they_draw(rng):
    lags = pictures.draw_lags(
        np.linspace(0.1, 3, 4), {"tanh": np.ones((4, 6)), "ReLU": 10.0 ** np.ones((4, 6))}
    )[1]
    assert lags.facts["told"][1].facts["high"] == pytest.approx(1) and lags.facts["lag"] == 4
    told = pictures.draw_messages({0.5: np.array([1e-6, 1e-3, 0.1])})[1].facts["told"]
    assert told[0].facts["first"] == pytest.approx(1e-5)
    losses = {"clipped": list(np.linspace(3, 1, 50))}
    facts = pictures.draw_text(losses, {"clipped": 1.5}, "a cat on an um", {"a", "on"})[1].facts
    assert facts["share"] == pytest.approx(2 / 5) and facts["told"][0].facts["loss"] == 1.5
    facts = pictures.draw_cuts({5: 0.4, 9: 0.2}, {5.0: 1.0, 9.2: 0.5})[1].facts
    assert facts["root"] == 10 and facts["coin"][1].facts["e"] == 0.5
    steps = np.arange(3)
    curves = {"factor 1": (steps, [0.2, 0.5, 1.0])}
    told = pictures.draw_answer(curves, {"factor 1": np.ones(4)})[1].facts["told"]
    assert told[0].facts["right"] == 1
    facts = pictures.draw_probes([0, 4], {"trained": [0.9, 0.4]}, 0.2)[1].facts["told"][0].facts
    assert (facts["a"], facts["b"], facts["lag"]) == (0.9, 0.4, 4)
    facts = pictures.draw_parity([8, 30], {"by hand": [1.0, 0.9]})[1].facts["told"][0].facts
    assert facts["s"] == 0.9

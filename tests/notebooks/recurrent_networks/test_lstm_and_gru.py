"""References and pictures of 09_recurrent_networks/02_lstm_and_gru against torch's cells, nudges, loops and counts."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from descent.pictures.recurrent_networks import lstm_and_gru as pictures
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "09_recurrent_networks/02_lstm_and_gru"
ref = notebook_module(NOTEBOOK, "reference")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tensors(*arrays):
    return [torch.tensor(a) for a in arrays]


@pytest.mark.parametrize("k", [0.0, 0.7, 1.0])
def test_the_product_of_the_steps_is_what_nudges_of_the_first_state_do(k, rng):
    V, W, h0 = tensors(rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=3))
    states, J = ref.stream(V, W, k, h0)
    assert len(states) == 5
    for i in range(3):
        nudge = 1e-6 * torch.eye(3).double()[i]
        ends = [ref.stream(V, W, k, h0 + s * nudge)[0][-1] for s in (1, -1)]
        torch.testing.assert_close(J[i], (ends[0] - ends[1]) / 2e-6, rtol=1e-6, atol=1e-8)


def test_slopes_and_messages_of_an_lstm_are_those_of_nudges_and_of_torchs_own(rng):
    X, y = pictures.called(rng, rows=3, length=5)
    params = pictures.network(1.0, size=4)
    told = ref.lstm_slopes(*tensors(X, y), *tensors(*params))
    for got, wanted in zip(told["grads"], pictures.torchs_slopes(X, y, params), strict=True):
        torch.testing.assert_close(got, torch.tensor(wanted))

    def loss_from(t, c_nudge):
        """The loss where c_t is nudged."""
        h = c = torch.zeros(3, 4).double()
        for step, x in enumerate(torch.tensor(X)):
            h, c, gates = ref.lstm_step(x, h, c, *tensors(*params[:3]))
            if step == t:
                c = c + c_nudge
                h = gates[3] * c.tanh()
        return nn.functional.cross_entropy(h @ torch.tensor(params[3]), torch.tensor(y))

    for t in (0, 3, 4):
        nudge = torch.zeros(3, 4).double()
        nudge[1, 2] = 1e-6
        slope = (loss_from(t, nudge) - loss_from(t, -nudge)) / 2e-6
        assert float(told["messages"][t, 1, 2]) == pytest.approx(float(slope), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("reset_after", [False, True])
def test_a_gru_is_its_formula_number_by_number(reset_after, rng):
    B, D, H = 2, 3, 3
    x, h = rng.normal(size=(B, D)), rng.normal(size=(B, H))
    W, U, b = (rng.normal(size=s) for s in ((D, 3 * H), (H, 3 * H), 3 * H))
    got, gates = ref.gru_step(*tensors(x, h, W, U, b), reset_after)

    def logistic(a):
        return 1 / (1 + math.exp(-a))

    for row in range(B):
        a = [sum(x[row, k] * W[k, j] for k in range(D)) + b[j] for j in range(3 * H)]
        m = [sum(h[row, k] * U[k, j] for k in range(H)) for j in range(3 * H)]
        r = [logistic(a[j] + m[j]) for j in range(H)]
        u = [logistic(a[H + j] + m[H + j]) for j in range(H)]
        for j in range(H):
            if reset_after:
                old = r[j] * m[2 * H + j]
            else:
                old = sum(r[k] * h[row, k] * U[k, 2 * H + j] for k in range(H))
            new = math.tanh(a[2 * H + j] + old)
            assert float(got[row, j]) == pytest.approx(u[j] * h[row, j] + (1 - u[j]) * new)
            assert gates[:, row, j].tolist() == pytest.approx([r[j], u[j]])


def test_both_conventions_agree_where_u_is_diagonal_and_elsewhere_not(rng):
    x, h, W, b = tensors(*(rng.normal(size=s) for s in ((2, 3), (2, 4), (3, 12), 12)))
    U = torch.tensor(rng.normal(size=(4, 12)))
    diagonal = U.clone()
    diagonal[:, 8:] *= torch.eye(4)
    both = [ref.gru_step(x, h, W, diagonal, b, after)[0] for after in (False, True)]
    torch.testing.assert_close(*both)
    both = [ref.gru_step(x, h, W, U, b, after)[0] for after in (False, True)]
    assert (both[0] - both[1]).abs().max() > 0.01


def test_the_four_paths_are_the_whole_slope(rng):
    W, x2, x3, m = tensors(*(rng.normal(size=s) for s in ((4, 4), 4, 4, 4)))
    h1 = torch.tensor(rng.normal(size=4), requires_grad=True)
    g2 = torch.tanh(h1 @ W + x2)
    g3 = torch.tanh((h1 + g2) @ W + x3)
    whole = torch.autograd.grad((h1 + g2 + g3) @ m, h1)[0]
    paths = ref.path_grads(m, W, g2.detach(), g3.detach())
    torch.testing.assert_close(paths.sum(0), whole)
    only_both = torch.autograd.grad(torch.tanh(torch.tanh(h1 @ W + x2) @ W) @ m, h1)[0]
    assert torch.isfinite(only_both).all() and torch.equal(paths[0], m)


def test_two_layers_are_torchs_and_their_deltas_those_of_nudged_pushes(rng):
    V, W1, A, W2, b2, m = tensors(
        *(rng.normal(size=s) for s in ((4, 3), (3, 3), (3, 3), (3, 3), 3, 3))
    )
    _, high, delta1, delta2 = ref.two_layers(V, W1, A, W2, b2, m)
    theirs = pictures.torchs_stack(*(p.numpy() for p in (V, W1, A, W2, b2)))
    torch.testing.assert_close(high, torch.tensor(theirs))
    for t in range(4):
        nudge = torch.zeros(4, 3).double()
        nudge[t, 1] = 1e-6
        ends = [ref.two_layers(V + s * nudge, W1, A, W2, b2, m)[1][-1] @ m for s in (1, -1)]
        slope = float(ends[0] - ends[1]) / 2e-6
        assert float(delta1[t, 1]) == pytest.approx(slope, rel=1e-5, abs=1e-9)
    torch.testing.assert_close(delta2[-1], m * (1 - high[-1] ** 2))


def test_what_is_written_has_the_drawn_quantile_of_torchs_probabilities(rng):
    E, W1, A, W2, R = (rng.normal(size=s) for s in ((4, 3), (3, 3), (3, 3), (3, 3), (3, 4)))
    b2, draws = rng.normal(size=3), rng.random(12)
    told = ref.generate(*tensors(E, W1, A, W2, b2, R), 0.0, 2, torch.tensor(draws))
    text = told["text"].tolist()
    read = [2, *text[:-1]]
    states = pictures.torchs_stack(E[read], W1, A, W2, b2)
    p = torch.softmax(torch.tensor(states @ R), 1).numpy()
    for row, symbol, draw in zip(p, text, draws, strict=True):
        assert row[:symbol].sum() <= draw < row[: symbol + 1].sum()
    torch.testing.assert_close(told["states"][1], torch.tensor(states[-1]))


# ------------------------------------------------------------ what it computes and draws


def test_the_digit_comes_first_and_letters_follow(rng):
    X, digits = pictures.called(rng, rows=50, length=9)
    ids = X.argmax(2)
    assert X.shape == (9, 50, 8) and (X.sum(2) == 1).all()
    assert (ids[0] == digits).all() and digits.max() <= 3 and ids[1:].min() >= 4


def test_b_moves_the_two_biases_and_nothing_else():
    plain, moved = pictures.network(0), pictures.network(5)
    for i in (0, 1, 3):
        np.testing.assert_array_equal(plain[i], moved[i])
    change = moved[2] - plain[2]
    assert change == pytest.approx(np.repeat([-5, 5, 0, 0], 16))


def test_adam_is_torchs_with_its_clipping(rng):
    params = [rng.normal(size=(2, 3)), rng.normal(size=4)]
    own, adam = params, pictures.Adam(0.1, 1.0)
    theirs = [torch.tensor(p, requires_grad=True) for p in params]
    torchs = torch.optim.Adam(theirs, 0.1)
    for size in (0.1, 5, 1):
        grads = [size * rng.normal(size=p.shape) for p in params]
        own = adam.step(own, grads)
        for p, g in zip(theirs, grads, strict=True):
            p.grad = torch.tensor(g)
        nn.utils.clip_grad_norm_(theirs, 1.0)
        torchs.step()
    for mine, p in zip(own, theirs, strict=True):
        assert mine == pytest.approx(p.detach().numpy(), rel=1e-4, abs=1e-5)


def test_only_b_decides_who_tells_the_digit():
    facts = pictures.draw_puzzle()[1].facts
    assert facts["good"] > 0.95 and abs(facts["bad"] - 0.25) < 0.1 and facts["n"] == 210


def after_210(params, seed):
    """The share of digits told right by an LSTM that was trained from these weights, with these letters."""
    return pictures.practise(pictures.Cells("LSTM", 16).load(params), 200, 210, 210, seed=seed)[1][
        -1
    ]


def test_other_first_weights_and_letters_learn_with_b_5_and_without_it_they_do_not():
    learned = [after_210(pictures.network(5, seed=seed), seed) for seed in (1, 2, 3, 4)]
    assert min(learned) > 0.5 and np.median(learned) > 0.9
    assert max(after_210(pictures.network(0, seed=seed), seed) for seed in (1, 2, 3, 4)) < 0.4
    opened = pictures.network(5)
    opened[2][:16] += 5  # the forget gates alone
    assert after_210(opened, 0) < 0.4


@pytest.mark.parametrize("seed", range(5))
def test_before_training_every_draw_fades_at_half_and_piles_up_behind_open_gates(seed):
    X, y = pictures.called(np.random.default_rng(2 + seed))
    for b, low, high in ((0, 0, 1e-25), (5, 0.05, 5)):
        told = ref.lstm_slopes(*tensors(X, y), *tensors(*pictures.network(b, seed=seed)))
        sizes = told["messages"].norm(dim=(1, 2))
        assert low < sizes[0] / sizes[-1] < high
    ends = []
    for opened in (0, 5):
        params = tensors(*pictures.network(5, seed=seed))
        params[2][:16] += opened
        h = c = torch.zeros(32, 16).double()
        for x in torch.tensor(X):
            h, c, _ = ref.lstm_step(x, h, c, *params[:3])
        ends.append(c.abs())
    assert ends[0].max() < 0.5 and ends[1].mean() > 8


def test_at_half_open_gates_no_unit_keeps_more_than_49_decimals_of_a_message():
    X, y = pictures.called(np.random.default_rng(2))
    params = tensors(*pictures.network(0))
    h = c = torch.zeros(32, 16).double()
    decimals = torch.zeros(32, 16).double()
    for t, x in enumerate(torch.tensor(X)):
        h, c, gates = ref.lstm_step(x, h, c, *params[:3])
        decimals -= gates[1].log10() * (t > 0)
    assert float(decimals.min()) == pytest.approx(49, abs=0.3)
    messages = ref.lstm_slopes(*tensors(X, y), *params)["messages"].norm(dim=(1, 2))
    assert 1e-33 < messages[0] / messages[-1] < 1e-32


def test_a_hundred_steps_are_learned_late_by_the_lstm_and_by_luck_by_the_rnn():
    _, right = pictures.practise(pictures.Cells("LSTM", 16, b=4.0), 100, 120)
    assert right[6] < 0.7 and right[-1] > 0.9
    # One run of the RNN ends anywhere, on another processor elsewhere: several do not.
    runs = [pictures.practise(pictures.Cells("RNN", 36, seed=s), 100, 90)[1][-1] for s in range(6)]
    assert np.mean(runs) < 0.75 and np.ptp(runs) > 0.1


def test_in_other_draws_the_gru_is_fast_too():
    for seed in (1, 2, 3, 4):
        cells = pictures.Cells("GRU", 19, b=4.0, seed=seed)
        assert pictures.practise(cells, 100, 90, 90, seed=seed)[1][-1] > 0.8


def test_the_cells_have_the_weights_that_the_formulas_count():
    D, H = 8, 7
    for kind, blocks in (("RNN", 1), ("stream", 1), ("GRU", 3), ("LSTM", 4)):
        net = pictures.Cells(kind, H)
        assert net.trained() == blocks * (D * H + H * H + H)


def test_torchs_stream_is_the_references(rng):
    net = pictures.Stream(3, 4, dtype=torch.float64)
    into, on, *biases = (p.detach() for p in net.parameters())
    X = torch.tensor(rng.normal(size=(5, 1, 3)))
    wanted, _ = ref.stream(X[:, 0] @ into.T + sum(biases), on.T, 1.0, torch.zeros(4).double())
    torch.testing.assert_close(net(X)[0][:, 0], wanted[1:])


def test_constant_gates_keep_powers_of_f():
    widget = controls.explorer(NOTEBOOK, "draw_carousel")
    for f, i in ((0.9, 0.5), (1.0, 0.2)):
        widget.controls["f"].value, widget.controls["i"].value = f, i
        assert widget.words.facts["digit"] == pytest.approx(i * f**199)
        assert widget.words.facts["noise"] == pytest.approx(-i * f**100)


def test_a_typed_text_is_read_by_the_trained_cell():
    widget = controls.explorer(NOTEBOOK, "text=typed")
    at = {}
    for text, n in (("a b", 3), ("", 1), ("Ünknown Ω", 7), ("x" * 500, 64)):
        widget.controls["text"].value = text
        assert widget.words.facts["n"] == n
        at[text] = [told.facts for told in widget.words.facts["told"]]
    widget.controls["text"].value = "the list of the items in the loop"
    space, other = (told.facts["f"] for told in widget.words.facts["told"])
    assert space < other - 0.1
    assert [told["name"] for told in at[""]] == ["spaces"]


def test_the_reader_is_torchs_and_its_gates_lie_between_0_and_1():
    params, loss = pictures.reader()
    assert loss < 1.8

    def step(*inputs):
        return [part.numpy() for part in ref.lstm_step(*tensors(*inputs))]

    ids = pictures.kept_text()[24_000:24_040]
    gates, streams = pictures.gates_over(ids, step, params)
    net = nn.LSTM(33, 48, dtype=torch.float64)
    W, U, b, _ = params
    with torch.no_grad():
        for own, given in zip(net.parameters(), (W.T, U.T, b, 0 * b), strict=True):
            own.copy_(torch.tensor(given))
        _, (_, c) = net(torch.eye(33).double()[torch.tensor(ids), None])
    assert streams[-1] == pytest.approx(c[0, 0].numpy())
    assert gates[:, [0, 1, 3]].min() > 0 and gates.max() < 1.0001


def test_the_writers_temperature_makes_it_unsure_and_at_1_as_unsure_as_the_manual_leaves_it():
    widget = controls.explorer(NOTEBOOK, "T=heat")
    at = {}
    for T in (0.2, 0.5, 1.0, 1.5, 2.0):
        widget.controls["T"].value = T
        at[T] = widget.words.facts
        assert at[T]["T"] == T and len(at[T]["sample"]) == 160
    assert [at[T]["mean"] for T in at] == sorted(facts["mean"] for facts in at.values())
    assert [at[T]["here"] for T in at] == sorted(facts["here"] for facts in at.values())
    assert at[0.2]["known"] > 0.6 > 0.4 > at[2.0]["known"]
    assert abs(at[1.0]["here"] - at[1.0]["there"]) < 0.8
    assert len({facts["sample"] for facts in at.values()}) == 5


def test_the_writers_layers_are_torchs_and_it_has_read():
    E, W1, A, W2, b2, R = pictures.writer()
    unread = pictures.kept_text()[24_000:25_000]
    high = pictures.torchs_stack(E[unread[:-1]], W1, A, W2, b2)
    loss = nn.functional.cross_entropy(torch.tensor(high @ R), torch.tensor(unread[1:])).item()
    assert 1.2 < loss < 2.2


def test_work_is_counted_product_by_product():
    def write(E, W1, A, W2, b2, R, k, x, draws):
        h = np.zeros(3)
        for _ in draws:
            h = np.tanh(h @ W1 + E[x]) @ A @ W2
            h, _ = W1.T @ h, h @ R
        return [x] * len(draws), h, h

    weights = [np.ones(s) for s in ((5, 3), (3, 3), (3, 2), (2, 3), 3, (3, 5))]
    last, whole = pictures.work(write, weights, [1, 4])
    each = 9 + 6 + 6 + 9 + 15
    assert last.tolist() == [each, each] and whole.tolist() == [2 * each, 5 * each]


def test_entropy_is_in_bits():
    assert pictures.bits(np.full((3, 8), 1 / 8)) == pytest.approx(3)
    assert pictures.bits(np.array([0.5, 0.5, 0, 0])) == pytest.approx(1)


@pytest.mark.parametrize("d", [4, 100])
def test_random_cosines_spread_as_one_over_the_root_of_d(d):
    found = pictures.cosines(d, n=20_000)
    assert found.std() == pytest.approx(d**-0.5, rel=0.03) and abs(found.mean()) < 0.02


def test_few_items_come_back_out_of_a_sum():
    assert pictures.read_back(200, 1) == 1
    assert pictures.read_back(200, 10) > 0.85
    assert pictures.read_back(20, 20) < 0.6


def test_the_slope_back_is_that_of_the_product(rng):
    V, W = pictures.pushes()
    m = np.random.default_rng(1).normal(size=64)
    for k in (0.0, 1.0):
        J = ref.stream(*tensors(V, W), k, torch.zeros(64).double())[1].numpy()
        wanted = np.linalg.norm(J @ m) / np.linalg.norm(m)
        assert pictures.slope_back(k) == pytest.approx(wanted, rel=1e-6)


def test_the_wave_goes_forward_and_comes_back_in_the_opposite_order():
    sizes = np.arange(6.0).reshape(2, 3)
    words = ["I", "love", "machine"]
    told = [pictures.draw_grid(step, words, sizes)[1] for step in range(13)]
    assert "layer 1 at “I”" in told[1] and "layer 2 at “machine”" in told[6]
    back = [t.facts["size"] for t in told[7:]]
    assert back == [5, 2, 4, 1, 3, 0]


def test_pictures_tell_the_numbers_that_they_draw(rng):
    keeps = {"k = 0": [1.0, 0.1], "k = 1": [1.0, 2.0]}
    told = pictures.draw_keeps(keeps, keeps)[1].facts
    assert told["T"] == 1 and told["told"][1].facts["s"] == 2
    told = pictures.draw_messages({"b = 0": [1e-4, 0.01]})[1].facts["told"]
    assert told[0].facts["first"] == pytest.approx(0.01)
    gates, streams = rng.random((6, 4, 3)), rng.normal(size=(6, 3))
    curve = (np.arange(2), [0.2, 0.9])
    facts = pictures.draw_answer(curve, gates, streams, 2)[1].facts
    assert facts["right"] == 0.9 and facts["first"] == pytest.approx(gates[0, 0].mean())
    assert facts["far"] == np.abs(streams[-1]).max()
    facts = pictures.draw_cells({"GRU": curve}, {"GRU": 12}, gates[:, 0])[1].facts
    assert facts["told"][0].facts["s"] == 0.9
    told = pictures.draw_paths({"straight": 1.0, "sum": 2.0})[1].facts["told"]
    assert [t.facts["s"] for t in told] == [1, 2]
    facts = pictures.draw_superposition(16, {10: [1.0, 0.5]}, [0.1, 0.2])[1].facts
    assert facts["r"] == 0.25
    steps, scores = np.ones((3, 4)), np.array([[0, 1.0], [0, 0], [1, 3]])
    facts = pictures.draw_sentence(["a", "b", "c"], steps, scores, ["x", "y"])[1].facts
    assert (facts["word"], facts["score"], facts["share"]) == ("y", 4, 3)

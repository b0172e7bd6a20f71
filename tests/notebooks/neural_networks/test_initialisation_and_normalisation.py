"""Initialisation and normalisation: references against torch.nn, SciPy, differences; what it draws."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad
from torch import nn as tn
from torch.nn import functional as F

from descent.pictures.neural_networks import initialisation_and_normalisation as nn
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/04_initialisation_and_normalisation"
ref = notebook_module(NOTEBOOK, "reference")
KINDS = pytest.mark.parametrize("kind", ["batch", "layer", "RMS"])


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


# ---------------------------------------------------------------- references


def test_one_layers_moments_are_scipys_integrals():
    sd = 1.7
    m1, m2 = (
        quad(lambda s, k=k: s**k * stats.norm.pdf(s, scale=sd), 0, 20 * sd)[0] for k in (1, 2)
    )
    got = ref.relu_moments(sd**2 / (8 * 0.6), torch.tensor([8]), 0.6)
    np.testing.assert_allclose(got[0], [m2, m2 - m1**2], rtol=1e-7)
    fifty = torch.full((50,), 512)
    assert ref.relu_moments(2 / 512, fifty, 1.0)[-1, 0] == pytest.approx(1)
    assert ref.relu_moments(1 / 512, fifty, 1.0)[-1, 0] == pytest.approx(nn.expected(1.0))


@pytest.mark.parametrize("before, n_in, n_out", [("relu", 784, 256), ("tanh", 64, 300),
                                                 ("recurrent", 200, 200)])  # fmt: skip
def test_weights_must_show_what_torchs_initialisers_do(before, n_in, n_out):
    W = torch.empty(n_out, n_in, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    if before == "relu":
        tn.init.kaiming_normal_(W, nonlinearity="relu", generator=generator)
    elif before == "tanh":
        tn.init.xavier_uniform_(W, generator=generator)
    else:
        tn.init.orthogonal_(W, generator=generator)
    told, power = ref.weight_statistics(before, n_in, n_out), W.square().mean().item()
    assert told["shape"] == [n_in, n_out]
    assert n_in * power == pytest.approx(told["power"], rel=0.03)
    assert (W**4).mean().item() / power**2 == pytest.approx(told["tails"], rel=0.05)


def test_health_counts_by_hand_and_its_gradient_is_that_of_differences():
    X, G, Ws = normal(6, 3), normal(6, 2), [normal(3, 5, seed=1), normal(5, 2, seed=2)]
    bs = [torch.tensor([0.1, -9, 0.2, 0.1, -9.0]).double(), torch.ones(2).double()]

    def end(x):
        return (torch.relu(torch.relu(x.view(6, 3) @ Ws[0] + bs[0]) @ Ws[1] + bs[1]) * G).sum()

    nudges = 1e-6 * torch.eye(18).double()
    slopes = [(end(X.ravel() + e) - end(X.ravel() - e)) / 2e-6 for e in nudges]
    first = torch.relu(X @ Ws[0] + bs[0]).square().mean()
    expected = [first, torch.stack(slopes).square().mean(), 2 / 5]
    np.testing.assert_allclose(ref.health(X, Ws, bs, G)[0], expected, rtol=1e-5)


@KINDS
def test_a_fed_normaliser_is_torchs_module(kind):
    gamma, beta = normal(2, 4, seed=5)
    batches, dY = [normal(6, 4, seed=s) * 2 + s for s in range(5)], normal(6, 4, seed=9)
    module = {
        "batch": tn.BatchNorm1d(4, eps=1e-3, momentum=0.2),
        "layer": tn.LayerNorm(4, eps=1e-3),
        "RMS": tn.RMSNorm(4, eps=1e-3),
    }[kind].double()
    with torch.no_grad():
        module.weight.copy_(gamma)
        if kind != "RMS":
            module.bias.copy_(beta)
    beta = torch.zeros(4).double() if kind == "RMS" else beta
    state = torch.zeros(4).double(), torch.ones(4).double()
    trains = [True, True, False, True, True]
    got = ref.norm_layer(kind, gamma, beta, *state, 1e-3, 0.2, batches, trains, dY)
    for A, train, out in zip(batches, trains, got["outs"], strict=True):
        module.train(train)
        module.zero_grad()
        leaf = A.clone().requires_grad_()
        theirs = module(leaf)
        torch.testing.assert_close(out, theirs.detach())
    theirs.backward(dY)
    torch.testing.assert_close(got["dA"], leaf.grad)
    torch.testing.assert_close(got["dgamma"], module.weight.grad)
    torch.testing.assert_close(got["dbeta"], dY.sum(0))
    if kind == "batch":
        torch.testing.assert_close(got["mean"], module.running_mean)
        torch.testing.assert_close(got["var"], module.running_var)
    else:
        assert got["mean"] is state[0] and got["var"] is state[1]


def test_a_training_batch_of_one_row_gives_beta_and_keeps_the_variance():
    gamma, beta, mean, var = normal(4, 3)
    A = normal(1, 3, seed=7)
    got = ref.norm_layer("batch", gamma, beta, mean, var, 1e-5, 0.25, [A], [True])
    torch.testing.assert_close(got["outs"][0][0], beta)
    torch.testing.assert_close(got["mean"], 0.75 * mean + 0.25 * A[0])
    assert torch.equal(got["var"], var)


def test_copies_stay_copies_and_equal_inputs_alone_do_not():
    """Gradients by torch: two units with equal weights in and out get equal gradients; otherwise not."""
    X, target = normal(20, 3), normal(20, 2, seed=1)
    for outgoing, same in (([[0.4, 0.1]] * 4, True), (normal(4, 2, seed=2).tolist(), False)):
        W = torch.full((3, 4), 0.3, dtype=torch.float64, requires_grad=True)
        V = torch.tensor(outgoing, dtype=torch.float64)
        (torch.tanh(X @ W) @ V - target).square().mean().backward()
        moved = (W - 0.1 * W.grad).detach().round(decimals=12)
        assert (ref.distinct_units(moved, torch.zeros(4), V) == 1) == same


# ---------------------------------------------------------------- signals through depth


@KINDS
def test_normaliser_and_its_way_back_are_torchs(kind):
    A, G = normal(6, 5) * 3 + 2, normal(6, 5, seed=1)
    A.requires_grad_()
    Y = {
        "batch": lambda: F.batch_norm(A, None, None, training=True),
        "layer": lambda: F.layer_norm(A, (5,)),
        "RMS": lambda: F.rms_norm(A, (5,), eps=1e-5),
    }[kind]()
    Y.backward(G)
    y, s = nn.normalised(A.detach().numpy(), kind)
    np.testing.assert_allclose(y, Y.detach(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(nn.back(G.numpy(), y, s, kind), A.grad, rtol=1e-9, atol=1e-12)


def signals(**moved):
    moved = dict(act="ReLU", factor=6**0.5, layers=20) | moved
    return controls.explorer(NOTEBOOK, "FloatSlider(1.5", **moved).words.facts


def test_a_factor_of_the_weights_is_a_power_of_the_depth():
    two, four = signals(factor=2.0), signals(factor=4.0)
    for name in ("signal", "gradient"):
        assert four[name] / two[name] == pytest.approx(4.0**20, rel=1e-6)
    assert signals(factor=1.0, layers=50)["signal"] < 1e-35
    assert signals(factor=2.45, layers=50)["signal"] == pytest.approx(1, abs=0.95)


def test_tanh_saturates_while_its_gradient_explodes():
    told = signals(act="tanh", factor=5.0, layers=50)
    assert told["signal"] < 1 and told["gradient"] > 1e3 and told["far"] > 0.1


def test_norms_keep_the_signal_and_batch_norm_not_the_gradient():
    for norm in ("batch", "layer", "RMS"):
        widget = controls.explorer(NOTEBOOK, "norm=Dropdown", norm=norm, layers=50)
        told = widget.words.facts
        assert told["signal"] > 0.1
        assert (told["gradient"] > 1e6) == (norm == "batch")


# ---------------------------------------------------------------- networks that train


def test_deep_training_is_torchs_sgd():
    X, y = nn.digits()
    Ws = nn.default_weights(6**0.5, depth=2, width=8)
    losses, _ = nn.train_deep(Ws, [nn.Shift(8), nn.Shift(8)], rate=0.1, steps=4, seed=3)
    layers = [torch.tensor(W, requires_grad=True) for W in Ws]
    bs = [torch.zeros(W.shape[1], dtype=torch.float64, requires_grad=True) for W in Ws]
    optimiser, rng = torch.optim.SGD(layers + bs, lr=0.1), np.random.default_rng(3)
    for loss in losses:
        rows = rng.choice(1297, 64, replace=False)
        h = torch.tensor(X[rows])
        for W, b in zip(layers[:2], bs[:2], strict=True):
            h = torch.relu(h @ W + b)
        theirs = F.cross_entropy(h @ layers[2] + bs[2], torch.tensor(y[rows]))
        assert loss == pytest.approx(theirs.item(), rel=1e-9)
        optimiser.zero_grad()
        theirs.backward()
        optimiser.step()


def test_stacked_training_is_training_one_by_one_and_blown_up_runs_spoil_nobody():
    X, y = nn.first_digits(60)
    together, _, _ = nn.train_stack(X, y, [0.7, 1.0], [0.05, 1e6], "RMS", depth=3, steps=4)
    for i, scale in enumerate((0.7, 1.0)):
        alone, _, _ = nn.train_stack(X, y, [scale], [0.05], "RMS", depth=3, steps=4)
        np.testing.assert_allclose(alone[:, 0, 0], together[:, i, 0], rtol=1e-3)


def test_the_rates_say_what_learns():
    final = np.array([[2.29, 2.0], [0.9, np.nan], [0.1, 0.2]])  # 2.29: the label frequencies
    assert nn.largest_rate([0.1, 1.0], final).tolist() == [0.0, 0.1, 1.0]
    fig, words = nn.draw_rates([0.3, 1.0, 2.0], [0.1, 1.0], {"none": final})
    assert words.facts["told"] == ["none: 3 of 6 pairs of scale and rate learn"]
    crosses = next(line for line in fig.axes[0].lines if line.get_label().startswith("no better"))
    assert crosses.get_xydata().tolist() == [[0, 0], [1, 1]]


# ---------------------------------------------------------------- starts, vectors, landscapes


def test_two_weights_gradient_is_that_of_differences(rng):
    (w, v), h = rng.normal(size=2), 1e-6
    _, dw, dv = nn.two_weights(w, v)
    by_w, by_v = (
        (nn.two_weights(w + a, v + b)[0] - nn.two_weights(w - a, v - b)[0]) / (2 * h)
        for a, b in ((h, 0), (0, h))
    )
    assert (dw, dv) == pytest.approx((by_w, by_v), abs=1e-8)
    _, basin, needed = nn.basins(size=20)
    assert np.array_equal(basin, -basin[::-1, ::-1]) and basin[-5, -5] == 1
    assert np.array_equal(needed, needed[::-1, ::-1])


def test_only_equal_outgoing_weights_keep_units_equal():
    assert [len(np.unique(nn.copies(name)[1][0], axis=1).T) for name in nn.COPIES] == [1, 3, 6]
    assert nn.parted() == 6 and nn.moved_by_zero(torch.tanh) == [False] * 5 + [True]


def sphere(**moved):
    return controls.explorer(NOTEBOOK, "nn.draw_sphere", **moved).words.facts


def test_every_vector_lands_on_the_circle_and_keeps_its_angle():
    told = sphere(x=0.1, y=0.0, u=0.1, v=0.1)
    assert told["image"] == pytest.approx(2**0.5)
    assert (told["before"], told["after"]) == pytest.approx((45, 45))
    assert told["moved"] > 5 * told["far"]
    along = sphere(x=1.0, y=0.5, u=2.0, v=1.0)
    assert (along["after"], along["moved"]) == pytest.approx((0, 0), abs=1e-9)
    assert sphere(x=1.0, y=0.5, u=-1.0, v=-0.5)["after"] == pytest.approx(180)


def test_the_landscape_is_flat_along_the_scale_with_a_norm():
    X, y = nn.first_digits(60)
    flat, steep = (
        nn.landscape(X, y, [-0.3, 0.0, 0.3], [0, 40], norm, depth=4) for norm in ("RMS", "none")
    )
    np.testing.assert_allclose(flat / flat[1], 1, rtol=0.01)
    assert np.ptp(flat[1]) > 1e-3 and np.all(steep[2] > 3 * steep[1])
    (cosine, one), (_, half) = nn.scale_and_slope().values()
    assert abs(cosine) < 1e-3 and half / one == pytest.approx(2, rel=0.01)

"""Initialisation and normalisation references against torch.nn, autograd, SciPy and simulation."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad
from torch.nn import functional as F

from solutions.reference import initialisation_and_normalisation as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
KINDS = pytest.mark.parametrize(
    "axis, center",
    [(0, True), (1, True), (1, False), (0, False)],
    ids=["batch", "layer", "RMS", "RMS 0"],
)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=2e-4, atol=2e-5)
    return dict(rtol=1e-9, atol=1e-11)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# ---------------------------------------------------------------- moments


def test_one_layers_moments_are_scipys_integrals():
    sd = 1.7
    m1, m2 = (
        quad(lambda s, k=k: s**k * stats.norm.pdf(s, scale=sd), 0, 20 * sd)[0] for k in (1, 2)
    )
    got = ref.relu_moments(sd**2 / (8 * 0.6), torch.tensor([8]), 0.6)
    np.testing.assert_allclose(got[0], [m2, m2 - m1**2], rtol=1e-7)


def test_moments_through_layers_are_those_of_many_networks(rng):
    """The mean over 4000 networks with widths 6, 40, 30 of both moments of one unit."""
    widths, var_w = [6, 40, 30], 0.05
    h = np.broadcast_to(rng.normal(1, 1, 6), (4000, 6))
    m2 = np.mean(h[0] ** 2)
    got = ref.relu_moments(var_w, torch.tensor(widths), m2)
    second = []
    for n_in, n_out in zip(widths, [*widths[1:], 5], strict=True):
        W = np.sqrt(var_w) * rng.normal(size=(4000, n_in, n_out))
        h = np.maximum(np.einsum("bi,bij->bj", h, W), 0)
        second.append([np.mean(h**2), np.var(h)])
    second = np.array(second)
    np.testing.assert_allclose(got[:, 0], second[:, 0], rtol=0.06)
    # A unit deep in a network of finite width is not exactly normal: its variance is only near.
    np.testing.assert_allclose(got[0, 1], second[0, 1], rtol=0.06)
    np.testing.assert_allclose(got[:, 1], second[:, 1], rtol=0.12)


def test_he_keeps_the_second_moment_and_one_over_n_loses_it():
    fan_in = torch.full((50,), 512)
    assert ref.relu_moments(2 / 512, fan_in, 1.0)[-1, 0].item() == pytest.approx(1)
    assert ref.relu_moments(1 / 512, fan_in, 1.0)[-1, 0].item() == pytest.approx(2.0**-50)
    assert ref.relu_moments(2 / 512, fan_in, 1.0)[-1, 1].item() == pytest.approx(
        2 * 0.3408, abs=1e-3
    )


# ---------------------------------------------------------------- initial weights


@pytest.mark.parametrize("n_in, n_out", [(784, 256), (64, 300), (200, 200)])
def test_he_is_kaiming_normal_and_xavier_is_xavier_uniform(n_in, n_out):
    g = torch.Generator().manual_seed(0)
    torch_he = torch.nn.init.kaiming_normal_(torch.empty(n_out, n_in), nonlinearity="relu")
    torch_xavier = torch.nn.init.xavier_uniform_(torch.empty(n_out, n_in))
    for scheme, theirs in (("he", torch_he), ("xavier", torch_xavier)):
        ours = ref.initial_weights(scheme, n_in, n_out, generator=g)
        assert ours.shape == (n_in, n_out)
        test = stats.ks_2samp(ours.flatten().numpy(), theirs.flatten().numpy())
        assert test.pvalue > 1e-3
        assert ours.var().item() == pytest.approx(
            ref.weight_variance(scheme, n_in, n_out), rel=0.03
        )
    bound = math.sqrt(6 / (n_in + n_out))
    assert ref.initial_weights("xavier", n_in, n_out, generator=g).abs().max() <= bound * (1 + 1e-6)


def test_statistics_are_those_of_a_large_draw():
    for scheme in ("he", "xavier"):
        W = ref.initial_weights(
            scheme, 900, 500, generator=torch.Generator().manual_seed(1), dtype=torch.float64
        )
        told, power = ref.weight_statistics(scheme, 900, 500), W.square().mean()
        assert told["shape"] == list(W.shape)
        assert 900 * power.item() == pytest.approx(told["power"], rel=0.02)
        assert (W**4).mean().item() / power.item() ** 2 == pytest.approx(
            told["shape_of_distribution"], rel=0.03
        )
    assert not ref.initial_weights("zeros", 3, 2).any()


def test_a_draw_has_no_equal_neighbours_and_its_generator_repeats_it():
    for scheme in ("zeros", "he", "xavier"):
        W, again = (
            ref.initial_weights(scheme, 300, 200, generator=torch.Generator().manual_seed(2))
            for _ in range(2)
        )
        told = ref.weight_statistics(scheme, 300, 200)
        assert (W[1:] == W[:-1]).double().mean().item() == pytest.approx(
            told["equal_neighbours"], abs=1e-3
        )
        assert torch.equal(W, again) == told["same_for_the_same_generator"]


@BATCHES
def test_distinct_units_are_numpys_unique_columns(batch, rng):
    W, b, V = (torch.from_numpy(rng.integers(0, 2, (*batch, *s))) for s in ((1, 9), (9,), (9, 1)))
    got = ref.distinct_units(W, b, V)
    assert got.shape == batch
    flat = zip(W.reshape(-1, 1, 9), b.reshape(-1, 9), V.reshape(-1, 9, 1), strict=True)
    unique = [np.unique(np.vstack([w, c, v.T]), axis=1).shape[1] for w, c, v in flat]
    assert got.flatten().tolist() == unique


def test_copies_stay_copies_and_equal_inputs_alone_do_not():
    """Gradients by torch: two units with equal weights in and out get equal gradients; otherwise not."""
    X, target = normal(20, 3), normal(20, 2, seed=1)
    for outgoing, copies in (([[0.4, 0.1]] * 4, True), (normal(4, 2, seed=2).tolist(), False)):
        W = torch.full((3, 4), 0.3, dtype=torch.float64, requires_grad=True)
        V = torch.tensor(outgoing, dtype=torch.float64)
        (torch.tanh(X @ W) @ V - target).square().mean().backward()
        moved = (W - 0.1 * W.grad).detach().round(decimals=12)
        assert (ref.distinct_units(moved, torch.zeros(4), V) == 1) == copies


@BATCHES
def test_dead_units_are_those_without_a_gradient(batch):
    torch.manual_seed(0)
    S = normal(*batch, 6, 8) - 1.0
    S.requires_grad_()
    H = torch.relu(S)
    H.sum().backward()
    silent = ~(S.grad != 0).any(-2)
    got = ref.dead_fraction(H.detach())
    assert got.shape == batch
    torch.testing.assert_close(got, silent.double().mean(-1))


# ---------------------------------------------------------------- the norms


@DTYPES
@BATCHES
def test_norms_are_torchs(batch, dtype):
    A, gamma, beta = (normal(*batch, 7, 5, dtype=dtype) * 2 + 1, *normal(2, 5, dtype=dtype, seed=1))
    rows = A.reshape(-1, 7, 5)
    by_batch = [F.batch_norm(a, None, None, gamma, beta, True, 0.1, 1e-3) for a in rows]
    cases = [
        ((0, True, gamma, beta), torch.stack(by_batch).reshape(A.shape)),
        ((1, True, gamma, beta), F.layer_norm(A, (5,), gamma, beta, 1e-3)),
        ((1, False, gamma, torch.zeros_like(beta)), F.rms_norm(A, (5,), gamma, 1e-3)),
    ]
    for arguments, expected in cases:
        got = ref.norm(A, *arguments, 1e-3)
        assert got.dtype == dtype
        torch.testing.assert_close(got, expected, **tolerance(dtype))


def test_norm_ignores_what_it_should():
    A, c, d = normal(5, 4), torch.tensor([2.0, 0.5, 3, 7, 1.5]).double(), normal(5, seed=3)

    def plain(A, axis, center):
        return ref.norm(A, axis, center, torch.ones(4).double(), torch.zeros(4).double(), 0.0)

    for center in (True, False):
        torch.testing.assert_close(plain(A * c[:, None], 1, center), plain(A, 1, center))
        torch.testing.assert_close(plain(-A, 1, center), -plain(A, 1, center))
    torch.testing.assert_close(plain(A + d[:, None], 1, True), plain(A, 1, True))
    torch.testing.assert_close(plain(A * c[:4] + d[:4], 0, True), plain(A, 0, True))
    assert not torch.allclose(plain(A + d[:, None], 1, False), plain(A, 1, False))
    length = plain(A, 1, False).norm(dim=-1)
    torch.testing.assert_close(length, torch.full_like(length, 2.0))  # √d


@KINDS
@BATCHES
@DTYPES
def test_backward_is_autograds(batch, axis, center, dtype):
    A, dY = normal(*batch, 6, 4, dtype=dtype) * 2 + 1, normal(*batch, 6, 4, dtype=dtype, seed=2)
    gamma, beta = normal(2, 4, dtype=dtype, seed=1)
    got = ref.norm_backward(dY, A, axis, center, gamma, 1e-2)
    leaves = [
        v.double().requires_grad_() for v in (A, gamma.expand(*batch, 4), beta.expand(*batch, 4))
    ]
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    c = leaves[0] - leaves[0].mean(axis - 2, keepdim=True) if center else leaves[0]
    y = c / (c.square().mean(axis - 2, keepdim=True) + 1e-2).sqrt()
    (y * leaves[1].unsqueeze(-2) + leaves[2].unsqueeze(-2)).backward(dY.double())
    for ours, leaf in zip(got, leaves, strict=True):
        assert ours.dtype == dtype
        torch.testing.assert_close(ours.double(), leaf.grad, **tolerance(dtype))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_jacobian_is_autograds_and_symmetric(center, eps):
    def forward(a):
        c = a - a.mean() if center else a
        return c / (c.square().mean() + eps).sqrt()

    a = normal(6) + 1
    J = ref.norm_jacobian(a, center, eps)
    torch.testing.assert_close(J, torch.autograd.functional.jacobian(forward, a))
    torch.testing.assert_close(J, J.mT)
    if not center:
        torch.testing.assert_close(ref.rms_norm_jacobian(a, eps), J)


@BATCHES
def test_rms_jacobian_has_norm_root_d_over_length(batch):
    h = 1e-3 * normal(*batch, 5)
    J = ref.rms_norm_jacobian(h, 0.0)
    assert J.shape == (*batch, 5, 5)
    torch.testing.assert_close(
        torch.linalg.matrix_norm(J, 2), math.sqrt(5) / h.norm(dim=-1), rtol=1e-9, atol=0
    )
    torch.testing.assert_close((J @ h.unsqueeze(-1)).norm(dim=-2), torch.zeros(*batch, 1).double())


def test_gradients_are_orthogonal_and_shrink_with_the_scale():
    A, dY, gamma = normal(6, 4) + 1, normal(6, 4, seed=2), normal(4, seed=1)
    for axis, center in ((0, True), (1, True), (1, False)):
        dA = ref.norm_backward(dY, A, axis, center, gamma, 0.0)[0]
        assert (dA * A).sum(axis).abs().max() < 1e-12
        torch.testing.assert_close(
            ref.norm_backward(dY, 4 * A, axis, center, gamma, 0.0)[0], dA / 4
        )


# ---------------------------------------------------------------- batch norm in two modes


@DTYPES
def test_batch_norm_is_torchs_layer_over_many_batches(dtype):
    layer = torch.nn.BatchNorm1d(3, eps=1e-3, momentum=0.2, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(normal(3, seed=5))
        layer.bias.copy_(normal(3, seed=6))
    state = torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)
    for step in range(8):
        A, train = normal(5, 3, dtype=dtype, seed=step) * 2 + step, step % 3 != 2
        layer.train(train)
        out, *state = ref.batch_norm(
            A, layer.weight.detach(), layer.bias.detach(), *state, train, 0.2, 1e-3
        )
        assert out.dtype == dtype
        torch.testing.assert_close(out, layer(A).detach(), **tolerance(dtype))
    torch.testing.assert_close(state[0], layer.running_mean, **tolerance(dtype))
    torch.testing.assert_close(state[1], layer.running_var, **tolerance(dtype))


@BATCHES
def test_batches_are_normalised_one_by_one(batch):
    A, state = normal(*batch, 5, 3), (normal(*batch, 3, seed=1), normal(*batch, 3, seed=2).square())
    gamma, beta = normal(2, 3, seed=3)
    for train in (True, False):
        got = ref.batch_norm(A, gamma, beta, *state, train, 0.3, 1e-3)
        flat = zip(A.reshape(-1, 5, 3), *(v.reshape(-1, 3) for v in state), strict=True)
        one_by_one = [ref.batch_norm(a, gamma, beta, m, v, train, 0.3, 1e-3) for a, m, v in flat]
        for ours, theirs in zip(got, zip(*one_by_one, strict=True), strict=True):
            torch.testing.assert_close(ours, torch.stack(theirs).reshape(ours.shape))


def test_a_training_batch_of_one_row_gives_beta_and_keeps_the_variance():
    mean, var, gamma, beta = normal(4, 3)
    A = normal(1, 3, seed=7)
    out, new_mean, new_var = ref.batch_norm(A, gamma, beta, mean, var.square(), True, 0.25, 1e-5)
    torch.testing.assert_close(out[0], beta)
    torch.testing.assert_close(new_mean, 0.75 * mean + 0.25 * A[0])
    assert torch.equal(new_var, var.square())


# ---------------------------------------------------------------- the contract of every reference


CALLS = {
    "relu_moments": lambda dtype: (
        0.1,
        torch.tensor([4, 5]),
        torch.tensor(1.0, dtype=torch.float64),
    ),
    "distinct_units": lambda dtype: (
        normal(3, 4, dtype=dtype),
        normal(4, dtype=dtype),
        normal(4, 2, dtype=dtype),
    ),
    "dead_fraction": lambda dtype: (normal(4, 3, dtype=dtype).relu(),),
    "norm": lambda dtype: (normal(4, 3, dtype=dtype), 0, True, *normal(2, 3, dtype=dtype), 1e-5),
    "norm_backward": lambda dtype: (
        *normal(2, 4, 3, dtype=dtype),
        1,
        True,
        normal(3, dtype=dtype),
        1e-5,
    ),
    "batch_norm": lambda dtype: (
        normal(4, 3, dtype=dtype),
        *normal(3, 3, dtype=dtype),
        normal(3, dtype=dtype).square(),
        True,
        0.1,
        1e-5,
    ),
    "norm_jacobian": lambda dtype: (normal(4, dtype=dtype), True, 1e-5),
    "rms_norm_jacobian": lambda dtype: (normal(4, dtype=dtype), 1e-5),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    arguments = CALLS[name](dtype)
    assert_inputs_left_alone(getattr(ref, name), arguments)


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float32))

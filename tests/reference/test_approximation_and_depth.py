"""Approximation references against torch modules, SciPy, brute force and counted patterns."""

import numpy as np
import pytest
import torch
from scipy.interpolate import interp1d
from torch.nn import functional as F

from solutions.reference import approximation_and_depth as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def stack(*sizes, batch=(), dtype=torch.float64):
    pairs = list(zip(sizes, sizes[1:], strict=False))
    Ws = [normal(*batch, n, m, dtype=dtype, seed=i) for i, (m, n) in enumerate(pairs)]
    bs = [normal(*batch, n, dtype=dtype, seed=9 + i) for i, (_, n) in enumerate(pairs)]
    return Ws, bs


# ---------------------------------------------------------------- affine upon affine


@DTYPES
@pytest.mark.parametrize("sizes", [(3, 2), (2, 5, 1), (2, 4, 3, 4, 2, 1)], ids=str)
def test_collapse_is_the_stack_of_torchs_layers(sizes, dtype):
    Ws, bs = stack(*sizes, dtype=dtype)
    x = normal(20, sizes[0], dtype=dtype, seed=5)
    h = x
    for W, b in zip(Ws, bs, strict=True):
        h = F.linear(h, W, b)
    W, b = ref.collapse(Ws, bs)
    assert W.dtype == dtype and W.shape == (sizes[-1], sizes[0])
    torch.testing.assert_close(F.linear(x, W, b), h, **tolerance(dtype))


@BATCHES
def test_collapse_of_a_batch_is_the_batch_of_collapses(batch):
    Ws, bs = stack(2, 4, 3, batch=batch)
    W, b = ref.collapse(Ws, bs)
    assert W.shape == (*batch, 3, 2) and b.shape == (*batch, 3)
    index = (0,) * len(batch)
    one = ref.collapse([V[index] for V in Ws], [c[index] for c in bs])
    torch.testing.assert_close(W[index], one[0])
    torch.testing.assert_close(b[index], one[1])


# ---------------------------------------------------------------- activations

TORCH = dict(
    relu=F.relu, leaky=F.leaky_relu, elu=F.elu, sigmoid=torch.sigmoid, tanh=torch.tanh
)  # torch's leaky ReLU leaks 0.01 unless told otherwise


@DTYPES
@pytest.mark.parametrize("name", TORCH)
def test_activations_and_slopes_are_torchs(name, dtype):
    z = torch.cat([normal(40, dtype=dtype), torch.zeros(1, dtype=dtype)]).requires_grad_()
    TORCH[name](z).sum().backward()
    value, slope = ref.activation(name, z.detach())
    assert value.dtype == slope.dtype == dtype
    torch.testing.assert_close(value, TORCH[name](z).detach(), **tolerance(dtype))
    torch.testing.assert_close(slope, z.grad, **tolerance(dtype))


@DTYPES
@pytest.mark.parametrize("name", TORCH)
def test_nothing_overflows_far_out(name, dtype):
    for part in ref.activation(name, torch.tensor([-2000.0, 2000.0], dtype=dtype)):
        assert part.isfinite().all()


def test_an_unknown_activation_is_told():
    with pytest.raises(ValueError, match="'swish'"):
        ref.activation("swish", torch.zeros(1))


# ---------------------------------------------------------------- steps and staircases


@BATCHES
def test_steps_reach_the_values_that_heaviside_sums_reach(batch):
    values = normal(*batch, 7)
    s = torch.arange(1.0, 8.0, dtype=torch.float64)
    on = torch.heaviside(s[:, None] - s + 0.5, torch.ones((), dtype=torch.float64))
    off = torch.heaviside(s[:, None] - s - 0.5, torch.ones((), dtype=torch.float64))
    expected = (values.unsqueeze(-2) * (on - off)).sum(-1)
    torch.testing.assert_close(ref.step_outputs(values)["outputs"], expected)


@pytest.mark.parametrize("eps, cells", [(0.5, 13), (0.1, 63), (0.05, 126)])
def test_the_sine_needs_the_notes_numbers_of_cells(eps, cells):
    assert ref.cells_needed(1.0, 0.0, 2 * np.pi, eps) == cells
    assert ref.cells_needed(0.0, 0.0, 1.0, eps) == 1


@pytest.mark.parametrize("eps", [0.7, 0.3, 0.1])
def test_staircase_is_scipys_nearest_neighbour_and_keeps_half_of_eps(eps):
    amp, freq, phase, a, b = 1.5, 2.0, 0.4, -1.0, 2.0
    heights = ref.staircase_outputs(amp, freq, phase, a, b, eps)["heights"].numpy()
    n = ref.cells_needed(amp * freq, a, b, eps)
    edges = np.linspace(a, b, n + 1)
    middle = (edges[1:] + edges[:-1]) / 2

    def f(x):
        return amp * np.sin(freq * x + phase)

    nearest = interp1d(middle, f(middle), kind="nearest", fill_value="extrapolate")
    places = (edges[:-1, None] + np.array([0.05, 0.5, 0.95]) * (b - a) / n).ravel()
    np.testing.assert_allclose(heights, nearest(places), atol=1e-12)
    x = np.linspace(a, b, 5001)
    assert np.abs(f(x) - nearest(x)).max() <= eps / 2 + 1e-9


# ---------------------------------------------------------------- broken lines


@DTYPES
@BATCHES
def test_broken_line_is_numpys(batch, dtype):
    xs = normal(*batch, 6, dtype=dtype).sort(-1).values
    ys = normal(*batch, 6, dtype=dtype, seed=1)
    got = ref.interpolant_outputs(xs, ys)["outputs"]
    assert got.shape == (*batch, 20) and got.dtype == dtype
    rows = zip(xs.reshape(-1, 6).numpy(), ys.reshape(-1, 6).numpy(), strict=True)
    expected = []
    for x, y in rows:
        places = (x[:-1, None] + np.diff(x)[:, None] * np.array(ref.FRACTIONS)).ravel()
        expected.append(np.interp(places, x, y))
    np.testing.assert_allclose(
        got.reshape(-1, 20).double().numpy(),
        np.array(expected),
        **(dict(rtol=1e-3, atol=1e-4) if dtype == torch.float32 else dict(rtol=1e-9)),
    )


# ---------------------------------------------------------------- sawteeth


@DTYPES
@pytest.mark.parametrize("n", range(7))
def test_tents_are_tents_of_tents(n, dtype):
    x = torch.arange(129, dtype=dtype) / 128
    y = x
    for _ in range(n):
        y = torch.where(y < 0.5, 2 * y, 2 - 2 * y)
    assert ref.tents(x, n).dtype == dtype
    torch.testing.assert_close(ref.tents(x, n), y, **tolerance(dtype))


def test_tents_have_their_pieces():
    y = ref.tent_outputs(4)["outputs"].numpy()
    assert 1 + np.sum(np.abs(np.diff(y, 2)) > 1e-9) == 2**4


# ---------------------------------------------------------------- price and ceiling


@pytest.mark.parametrize("sizes", [[2, 5, 1], [3, 4, 4, 2], [4, 2]], ids=str)
def test_price_is_the_number_of_weights_of_torchs_layers(sizes):
    layers = [torch.nn.Linear(m, n) for m, n in zip(sizes, sizes[1:], strict=False)]
    assert ref.budget(sizes)[0] == sum(layer.weight.numel() for layer in layers)


@pytest.mark.parametrize("n, regions", [(1, 2), (4, 11), (8, 37)])
def test_ceiling_of_lines_in_the_plane(n, regions):
    assert ref.budget([2, n, 1])[1] == regions == (n * n + n + 2) // 2


def test_ceilings_by_hand():
    assert ref.budget([2, 4, 4, 1])[1] == 121
    assert ref.budget([3, 3, 1])[1] == 8  # three planes
    assert ref.budget([3, 2, 5, 1]) == [21, 64]
    assert ref.budget([3, 6, 1, 6, 2])[1] == (1 + 6 + 15 + 20) * 2 * 7
    assert ref.budget([5, 2])[1] == 1


@pytest.mark.parametrize("sizes", [[1, 5, 1], [2, 5, 1], [2, 4, 3, 1], [2, 1, 4, 1]], ids=str)
def test_no_random_network_passes_the_ceiling_and_one_layer_reaches_it(sizes, rng):
    """Patterns on many points, at all scales."""
    most = 0
    for _ in range(10):
        h = rng.normal(size=(40_000, sizes[0])) * np.exp(rng.uniform(-4, 5, (40_000, 1)))
        on = []
        for m, n in zip(sizes[:-1], sizes[1:-1], strict=False):
            z = h @ rng.normal(size=(m, n)) + rng.normal(size=n)
            on.append(z > 0)
            h = np.maximum(0, z)
        most = max(most, len(np.unique(np.hstack(on), axis=0)))
    ceiling = ref.budget(sizes)[1]
    assert most <= ceiling
    if len(sizes) == 3:
        assert most == ceiling


# ---------------------------------------------------------------- the contract of every reference

CALLS = {
    "collapse": lambda dtype: stack(2, 4, 3, dtype=dtype),
    "step_outputs": lambda dtype: (normal(5, dtype=dtype),),
    "interpolant_outputs": lambda dtype: (
        torch.arange(4, dtype=dtype),
        normal(4, dtype=dtype),
    ),
    "tents": lambda dtype: (torch.arange(9, dtype=dtype) / 8, 3),
}


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name, dtype):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](dtype))


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))


@pytest.mark.parametrize("name", TORCH)
def test_activations_run_anywhere_and_leave_z_alone(name):
    assert_inputs_left_alone(lambda z: ref.activation(name, z), (normal(4),))
    assert_any_device(lambda z: ref.activation(name, z), (normal(4),))

"""References and pictures of 08_convolutional_networks/02_convolution_backward against torch, matrices and counting."""

import numpy as np
import pytest
import torch
from scipy import signal
from torch.nn import functional

from descent.pictures.convolutional_networks import convolution_backward as pictures
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "08_convolutional_networks/02_convolution_backward"
ref = notebook_module(NOTEBOOK, "reference")


def test_slopes_are_autograds_in_all_small_layers():
    tried = 0
    for a, k, stride, pad in np.ndindex(3, 4, 4, 3):
        a, k, stride = a + 1, k + 1, stride + 1
        X, W = randn(2, 3, 6, 7, seed=tried), randn(2, 3, a, k)
        leaves = [part.requires_grad_(True) for part in (X, W, randn(2))]
        F = functional.conv2d(*leaves, stride=stride, padding=pad)
        G = randn(*F.shape, seed=1 + tried)
        dX, dW, db = torch.autograd.grad(F, leaves, G)
        W, X = W.detach(), X.detach()
        assert torch.allclose(ref.input_slopes(G, W, 6, 7, stride, pad), dX)
        for mine, torchs in zip(ref.weight_slopes(X, G, a, k, stride, pad), (dW, db), strict=True):
            assert torch.allclose(mine, torchs)
        tried += 1
    assert tried == 144


def test_backward_is_the_transpose_of_the_layers_matrix():
    W, pixels = randn(2, 1, 3, 2), torch.eye(30).double().reshape(30, 1, 5, 6)
    M = functional.conv2d(pixels, W, stride=2, padding=1).flatten(1).mT
    G = randn(1, 2, 3, 4)
    back = ref.input_slopes(G, W, 5, 6, 2, 1)
    assert torch.allclose(back.flatten(), M.mT @ G.flatten())


def test_one_channel_with_stride_1_is_scipys_full_convolution():
    G, K = randn(1, 1, 3, 5), randn(1, 1, 2, 3)
    back = ref.input_slopes(G, K, 4, 7, 1, 0)[0, 0]
    assert np.allclose(back, signal.convolve2d(G[0, 0], K[0, 0]))
    X = randn(1, 1, 4, 7)
    dW = ref.weight_slopes(X, G, 2, 3, 1, 0)[0][0, 0]
    assert np.allclose(dW, signal.correlate2d(X[0, 0], G[0, 0], mode="valid"))


def test_enlarging_and_reducing_are_transposes_of_each_other():
    for stride, pad in ((1, 0), (2, 1), (3, 0)):
        W, G = randn(2, 3, 4, 3), randn(1, 2, 3, 4, seed=stride)
        large = ref.conv_transpose2d(G, W, torch.zeros(3).double(), stride, pad)
        X = randn(*large.shape, seed=5)
        small = functional.conv2d(X, W, stride=stride, padding=pad)
        assert small.shape == G.shape
        assert torch.allclose((small * G).sum(), (X * large).sum())


def test_max_pools_send_slopes_where_autograd_does_also_at_ties():
    for n, (size, stride) in enumerate(((2, 2), (3, 1), (3, 2), (2, 3), (1, 1))):
        for X in (randn(2, 3, 7, 8, seed=n), randn(2, 3, 7, 8, seed=n).round()):
            leaf = X.requires_grad_(True)
            kept = functional.max_pool2d(leaf, size, stride)
            G = randn(*kept.shape, seed=9)
            (dX,) = torch.autograd.grad(kept, leaf, G)
            assert torch.allclose(ref.pool_backward(X.detach(), G, size, stride), dX)


def test_nudges_of_a_cubic_are_its_differences():
    C, A, eps = randn(2, 3), randn(2, 3, seed=1), 0.4

    def J(A):
        return (C * A**3).sum() + 0.7 * A.sum() ** 2

    wanted = ref.nudge_slopes(C, 0.7, A, eps)
    for place in np.ndindex(2, 3):
        nudge = torch.zeros(2, 3).double()
        nudge[place] = eps
        slope = (J(A + nudge) - J(A - nudge)) / (2 * eps)
        assert float(wanted[place]) == pytest.approx(float(slope))


def test_a_network_has_the_slopes_that_finite_differences_find():
    layers = [
        tuple(torch.tensor(part) if isinstance(part, np.ndarray) else part for part in layer)
        for layer in pictures.network(3, 2, 7, channels=(2, 3), classes=4, seed=3)
    ]
    X, Y = randn(2, 1, 7, 7), torch.eye(4).double()[[2, 0]]
    _, slopes, dX = ref.cnn_slopes(X, Y, layers)
    eps = 1e-5
    for place in ((0, 0, 0, 0), (1, 0, 3, 4), (0, 0, 6, 6)):
        nudge = torch.zeros_like(X)
        nudge[place] = eps
        up, down = (ref.cnn_slopes(X + s * nudge, Y, layers)[0] for s in (1, -1))
        assert float(dX[place]) == pytest.approx(float(up - down) / (2 * eps), abs=1e-8)
    W, *rest = layers[1]
    for place in ((0, 0, 0, 0), (2, 1, 1, 2)):
        nudge = torch.zeros_like(W)
        nudge[place] = eps
        up, down = (
            ref.cnn_slopes(X, Y, [layers[0], (W + s * nudge, *rest), layers[2]])[0] for s in (1, -1)
        )
        found = float(slopes[1][0][place])
        assert found == pytest.approx(float(up - down) / (2 * eps), abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_products_are_those_that_torch_counts(seed):
    rng = np.random.default_rng(seed)
    layers = [(int(rng.integers(2, 9)), size, stride, 1) for size, stride in ((3, 1), (2, 2))]
    table = ref.training_work(3, 2, 11, 8, layers)
    totals = sum(row[2] for row in table), sum(row[3] for row in table)
    assert pictures.torchs_work(3, 2, 11, 8, *layers) == totals


def test_all_pixels_have_equally_many_listeners_where_the_stride_divides_the_size():
    for size, stride in np.ndindex(6, 4):
        size, stride = size + 1, stride + 1
        even = len(pictures.listeners(size, stride)) == 1
        assert even == (size % stride == 0)
    assert pictures.listeners(3, 2) == [1, 2, 4]


# ------------------------------------------------------------ what it draws


def test_the_puzzle_has_a_grid_behind_3_and_none_behind_4():
    facts = pictures.draw_puzzle()[1].facts
    assert facts["a"] > 1.7 and 0.8 < facts["b"] < 1.25


def test_slope_maps_are_those_of_the_reference():
    layers = pictures.network(3, 2, 23)
    _, _, tests, truth = pictures.readings(23)
    Y = torch.eye(10).double()[truth[:20]]
    kept = [(torch.tensor(W), torch.tensor(b), *rest) for W, b, *rest in layers]
    dX = ref.cnn_slopes(torch.tensor(tests[:20]), Y, kept)[2] * 20
    wanted = dX.square().mean((0, 1)).sqrt()
    assert np.allclose(pictures.slope_map(tests[:20], truth[:20], layers), wanted)


def test_who_sees_a_pixel_is_autograds_answer():
    widget = controls.explorer(NOTEBOOK, "draw_paths")
    for size, stride, row, col, i, j in (
        (3, 1, 4, 4, 1, 2), (3, 2, 4, 3, 0, 1), (4, 3, 8, 8, 1, 1), (2, 3, 2, 0, 7, 7),
    ):  # fmt: skip
        values = dict(size=size, stride=stride, row=row, col=col, i=i, j=j)
        for name, value in values.items():
            widget.controls[name].value = value
        X = torch.zeros(1, 1, 9, 9, requires_grad=True)
        K = torch.arange(1.0, size * size + 1).reshape(1, 1, size, size)
        F = functional.conv2d(X, K, stride=stride)[0, 0]
        slopes = [
            torch.autograd.grad(number, X, retain_graph=True)[0][0, 0] for number in F.flatten()
        ]
        heard = [int(slope[row, col]) for slope in slopes if slope[row, col] != 0]
        facts = widget.words.facts
        assert facts["count"] == len(heard)
        assert facts["listed"] == (", ".join(map(str, heard)) or "none")
        if i < len(F) and j < len(F):
            weight = int(slopes[i * len(F) + j][row, col])
            told = (
                f"sends the pixel {weight} times its slope" if weight else "sends the pixel nothing"
            )
            assert facts["link"] == told
        else:
            assert facts["there"] == "does not exist"


def test_painted_maps_are_even_where_the_stride_divides_the_size():
    widget = controls.explorer(NOTEBOOK, "draw_coverage")
    for size, stride in ((3, 2), (4, 2), (2, 2), (6, 3), (5, 4)):
        widget.controls["size"].value, widget.controls["stride"].value = size, stride
        facts = widget.words.facts
        assert facts["side"] == 5 * stride + size
        assert (facts["low"] == facts["high"]) == (size % stride == 0)


def test_pictures_tell_the_numbers_that_they_draw():
    even = np.ones((23, 23))
    even[::2, ::2] = 3
    assert pictures.grid(even) == pytest.approx(3)
    facts = pictures.draw_grid(even, [even, np.ones((23, 23))])[1].facts
    assert (facts["low"], facts["high"]) == (1, 3)
    assert (facts["before"], facts["after"]) == pytest.approx((3, 1))
    told = pictures.draw_calls((1, 10), 4, 7, 7, 3, 3)[1].facts["told"]
    assert [fact.facts["last"] for fact in told] == [1960, 49, 9, 1]

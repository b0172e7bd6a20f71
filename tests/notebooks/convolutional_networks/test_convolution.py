"""References and pictures of 08_convolutional_networks/01_convolution against SciPy, torch, autograd and counting."""

import numpy as np
import pytest
import torch
from scipy import ndimage, signal
from torch.nn import functional

from descent.pictures.convolutional_networks import convolution as pictures
from solutions import notebook_module
from tests.notebooks import controls
from tests.notebooks.conftest import randn

NOTEBOOK = "08_convolutional_networks/01_convolution"
ref = notebook_module(NOTEBOOK, "reference")


# TWINS compares the references with libraries on the cases; here are all small sizes, and properties.


def test_sizes_are_torchs_in_all_small_cases():
    tried = 0
    for m, a, s, p in np.ndindex(9, 5, 4, 3):
        m, a, s = m + 1, a + 1, s + 1
        if m + 2 * p < a:
            continue
        image = randn(1, 2, m, m + 3, seed=tried)
        torchs = functional.conv2d(image, randn(3, 2, a, a), randn(3), stride=s, padding=p)
        (row,) = ref.layer_table(2, m, m + 3, [(3, a, s, p)])
        assert row[:3] == torchs.shape[1:]
        assert row[3] == sum(w.numel() for w in torch.nn.Conv2d(2, 3, a).parameters())
        assert torch.allclose(ref.conv2d(image, randn(3, 2, a, a), randn(3), s, p), torchs)
        if m >= a:
            pooled = ref.pool2d(image, a, s, "max")
            assert torch.equal(pooled, functional.max_pool2d(image, a, s))
        tried += 1
    assert tried > 400


@pytest.mark.parametrize("seed", range(5))
def test_reach_and_jump_are_the_pixels_that_move_a_number(seed):
    rng = np.random.default_rng(seed)
    layers = [(1, int(rng.integers(1, 5)), int(rng.integers(1, 4)), 0) for _ in range(3)]
    reach, jump = ref.layer_table(1, 200, 200, layers)[-1][4:]
    row = torch.zeros(1, 1, 200, dtype=torch.float64, requires_grad=True)
    seen = row
    for _, size, stride, _ in layers:
        seen = functional.conv1d(seen, torch.ones(1, 1, size).double(), stride=stride)
    felt = []
    for number in (0, 1):
        (slope,) = torch.autograd.grad(seen[0, 0, number], row, retain_graph=True)
        felt.append(np.flatnonzero(slope[0, 0].numpy()))
    gaps = any(k < s for (_, k, s, _) in layers)  # strides wider than windows leave pixels out
    assert felt[0][-1] - felt[0][0] + 1 == reach
    assert gaps or len(felt[0]) == reach
    assert felt[1][0] - felt[0][0] == jump


def test_the_matrix_has_the_gradient_of_a_convolution_as_its_transpose():
    K, X, G = randn(3, 2), randn(1, 1, 6, 5).requires_grad_(True), randn(1, 1, 4, 4)
    M = ref.conv_matrix(K, 6, 5)
    functional.conv2d(X, K[None, None]).backward(G)
    assert torch.allclose((M.mT @ G.flatten()).reshape(6, 5), X.grad[0, 0])
    assert len(M.unique()) == K.numel() + 1  # and 0
    assert (M != 0).sum() == K.numel() * len(M)


def test_a_turned_kernel_makes_a_convolution_and_commutes():
    X, K = randn(5, 4), randn(2, 3)
    whole = np.pad(X, ((1, 1), (2, 2)))
    both = [signal.convolve2d(*pair) for pair in ((X, K), (K, X))]
    assert np.allclose(both[0], both[1])
    assert np.allclose(ref.correlate2d(torch.tensor(whole), K, True), both[0])


def test_a_layer_without_edges_is_equivariant():
    X, W = torch.zeros(1, 2, 9, 9).double(), randn(3, 2, 3, 3)
    X[:, :, 4:6, 4:6] = randn(1, 2, 2, 2)
    assert ref.shift_gap(X, W, 1, 0, 1, -1).max() < 1e-12
    assert ref.shift_gap(randn(1, 2, 9, 9), W, 1, 1, 1, 0).max() > 0.1
    inside = ref.shift_gap(randn(1, 2, 9, 9), W, 1, 1, 1, 0)[..., 2:-1, 1:-1]
    assert inside.max() < 1e-12


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize(("m", "a"), [(7, 3), (8, 4), (5, 1)])
def test_torchs_same_padding_is_the_fewest_zeros_for_stride_one(m, a):
    before, after = ref.same_pad(m, a, 1)
    row = randn(1, 1, m)
    padded = functional.pad(row, (before, after))
    same = functional.conv1d(row, torch.ones(1, 1, a).double(), padding="same")
    assert torch.allclose(functional.conv1d(padded, torch.ones(1, 1, a).double()), same)


def test_the_fewest_zeros_fit_and_one_fewer_would_not():
    for m, a, s in np.ndindex(20, 7, 4):
        m, a, s = m + 1, a + 1, s + 1
        zeros = sum(ref.same_pad(m, a, s))
        assert len(range(0, m + zeros - a + 1, s)) == m
        assert len(range(0, m + zeros - a, s)) < m


@pytest.mark.parametrize("mode", ["max", "mean"])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (2, 3)])
def test_slopes_behind_a_pool_are_autograds(mode, size, stride):
    X = randn(7, 8).requires_grad_(True)
    pool = functional.max_pool2d if mode == "max" else functional.avg_pool2d
    pooled = pool(X[None, None], size, stride)
    G = randn(*pooled.shape[2:])
    pooled.backward(G[None, None])
    assert torch.allclose(ref.pool_grad(X.detach(), G, size, stride, mode), X.grad)


# ------------------------------------------------------------ what it draws


def test_digits_are_placed_strewn_and_scattered_without_losing_ink():
    images, _ = pictures.digits(0, 30)
    ink = images.sum((1, 2)) / 16
    for fields in (
        *(pictures.place(images, moved) for moved in range(4)),
        pictures.strew(images, 1),
        pictures.scatter(images),
    ):
        assert fields.shape == (30, 1, 14, 14)
        assert fields.sum((1, 2, 3)) == pytest.approx(ink)
    assert pictures.place(images, 3)[:, :, :6].max() == 0
    assert np.array_equal(
        pictures.place(images, 2)[:, :, 2:, 2:], pictures.place(images)[:, :, :-2, :-2]
    )


def test_kernels_have_mean_0_and_length_1():
    fields = pictures.place(pictures.digits(0, 50)[0])
    for k in (5, 14):
        K = pictures.cut(fields, k, 20)
        assert K.shape == (20, 1, k, k)
        assert np.abs(K.mean((1, 2, 3))).max() < 1e-12
        assert np.linalg.norm(K.reshape(20, -1), axis=1) == pytest.approx(1)


def test_best_matches_are_the_largest_of_scipys_map():
    fields = pictures.place(pictures.digits(0, 3)[0])
    K = pictures.cut(fields, 5, 4)
    got = pictures.best_matches(fields, K, pad=4)
    for (n, m), value in np.ndenumerate(got):
        full = signal.correlate2d(fields[n, 0], K[m, 0])
        assert value == pytest.approx(max(full.max(), 0))


def test_the_readout_is_ridge_regression():
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(60, 5)), rng.integers(0, 10, 60)
    B = pictures.readout(Z, labels, ridge=0.5)
    A, Y = np.c_[Z, np.ones(60)], np.eye(10)[labels]
    stacked = np.linalg.lstsq(
        np.r_[A, np.sqrt(0.5) * np.eye(6)], np.r_[Y, np.zeros((6, 10))], rcond=None
    )
    assert B == pytest.approx(stacked[0])
    assert pictures.right(Z, (A @ B).argmax(1), B) == 1


def test_paths_are_powers_of_a_row_of_ones():
    bell = np.ones(1)
    for depth in range(1, 5):
        bell = np.convolve(bell, np.ones(3))
        assert pictures.paths(3, 1, depth) == pytest.approx(bell / bell.max())
    assert len(pictures.paths(3, 2, 4)) == 31


def test_the_puzzle_tells_what_the_two_programs_read():
    facts = pictures.draw_puzzle()[1].facts
    assert facts["a"] > 0.9 and facts["b"] > 0.9  # in the middle
    assert facts["c"] < 0.2 and facts["d"] > 0.85  # one pixel further
    assert facts["h"] < facts["b"] - 0.25  # in the corner


def test_the_window_adds_up_to_scipys_number():
    image = pictures.digits(1003, 1004)[0][0]
    widget = controls.explorer(NOTEBOOK, "draw_window")
    for name, K in pictures.KERNELS.items():
        widget.controls["kernel"].value = name
        for flip in (False, True):
            widget.controls["flip"].value = flip
            wanted = ndimage.correlate(image, K[::-1, ::-1] if flip else K, mode="constant")
            for row, col in ((1, 1), (6, 3), (4, 6)):
                widget.controls["row"].value, widget.controls["col"].value = row, col
                facts = widget.words.facts
                assert facts["total"] == wanted[row, col]
                assert facts["high"] == wanted[1:-1, 1:-1].max()


def test_windows_are_counted_as_the_formula_says():
    widget = controls.explorer(NOTEBOOK, "draw_placement")
    for m, a, s, p in ((10, 3, 2, 0), (10, 3, 2, 1), (16, 5, 6, 4), (5, 5, 1, 0), (9, 2, 3, 0)):
        for name, value in dict(m=m, a=a, s=s, p=p).items():
            widget.controls[name].value = value
        facts = widget.words.facts
        assert facts["count"] == int(facts["formula"])
        seen = {start + i for start in range(-p, m + p - a + 1, s) for i in range(a)}
        assert facts["lost"] == m + 2 * p - len(seen)


def test_the_reach_that_is_drawn_is_the_tables():
    widget = controls.explorer(NOTEBOOK, "draw_reach")
    for kernel, stride, depth in ((3, 1, 6), (3, 2, 5), (5, 2, 2), (2, 1, 1)):
        for name, value in dict(kernel=kernel, stride=stride, depth=depth).items():
            widget.controls[name].value = value
        table = ref.layer_table(1, 999, 999, [(1, kernel, stride, 0)] * depth)
        assert widget.words.facts["reach"] == table[-1][4]


def test_gaps_are_measured_from_the_nearest_edge():
    gap = np.zeros((10, 10))
    gap[2, 5], far = 1, np.zeros((10, 10))
    told = pictures.draw_gaps({"a": gap, "b": far})[1].facts["told"]
    assert [fact.facts["depth"] for fact in told] == [3, 0]


def test_pictures_tell_the_numbers_that_they_draw():
    M = np.array([[1.0, 2, 0], [0, 1, 2]])
    facts = pictures.draw_matrix(M)[1].facts
    assert (facts["rows"], facts["cols"], facts["different"]) == (2, 3, 2)
    assert facts["share"] == pytest.approx(4 / 6)
    facts = pictures.draw_routes(M, {"max": M, "mean": M}, {"max": M > 1, "mean": M + 1})[1].facts
    assert facts["max"] == pytest.approx(2 / 6) and facts["mean"] == 1
    told = pictures.draw_tolerance({1: [0, 0.5], 4: [0, 0.1]}, range(2))[1].facts["told"]
    assert [fact.facts["one"] for fact in told] == [0.5, 0.1]
    curves = {name: [0.9, 0.5] for name in "abc"}
    facts = pictures.draw_two_programs(curves, range(2), (10, 20), curves)[1].facts
    assert [fact.facts["b"] for fact in facts["ends"]] == [0.5] * 3
    maps = np.array([np.full((60, 90), value) for value in (1.0, -2.0, 0.5, 0.1)])
    facts = pictures.draw_maps(pictures.photo(), maps)[1].facts
    assert (facts["v"], facts["h"], facts["red"], facts["blue"]) == (1, 2, 0.1, 0.1)


def test_the_photo_is_a_mean_of_the_pixels_that_scikit_learn_ships():
    photo = pictures.photo()
    assert photo.shape == (3, 60, 90) and 0 <= photo.min() < photo.max() <= 1


def test_ethanol_has_two_carbons_one_oxygen_six_hydrogens():
    atoms, bonds = pictures.ethanol()
    assert atoms.sum(0).tolist() == [2, 6, 1]  # C, H, O
    assert bonds.sum(1).tolist() == [4, 4, 2, 1, 1, 1, 1, 1, 1]
    assert np.array_equal(bonds, bonds.T)

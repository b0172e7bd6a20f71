"""Multi-class networks: references against torch.nn, scikit-learn and brute force; what it draws."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import calinski_harabasz_score, log_loss, mutual_info_score
from sklearn.metrics.pairwise import cosine_similarity

from descent.pictures.neural_networks import softmax_networks as sn
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/06_softmax_networks"
ref = notebook_module(NOTEBOOK, "reference")


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def simplex(*shape, seed=0):
    *rows, k = shape
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.ones(k), rows))


def modules(*sizes):
    """A torch network with ReLU layers, and its layers as the references take them."""
    torch.manual_seed(0)
    linear = [torch.nn.Linear(i, o).double() for i, o in itertools.pairwise(sizes)]
    parts = [part for one in linear for part in (one, torch.nn.ReLU())][:-1]
    layers = [(one.weight.detach().clone(), one.bias.detach().clone()) for one in linear]
    return torch.nn.Sequential(*parts), layers


# ---------------------------------------------------------------- references


@pytest.mark.parametrize("sizes", [(2, 3), (2, 5, 3), (4, 3, 6, 2)], ids=str)
def test_forward_is_torch_nn(sizes):
    net, layers = modules(*sizes)
    X = normal(2, 7, sizes[0], seed=9)
    outputs, P = ref.forward(X, layers)
    torch.testing.assert_close(outputs[-1], net(X).detach())
    torch.testing.assert_close(P, torch.nn.Softmax(-1)(net(X)).detach())
    for k, out in enumerate(outputs[:-1]):
        torch.testing.assert_close(out, net[: 2 * k + 2](X).detach())


def test_the_loss_survives_any_score():
    S = torch.tensor([[1e4, 0.0, -1e4]], dtype=torch.float64)
    loss, dS = ref.cross_entropy_and_signal(S, torch.tensor([[0.0, 0.0, 1.0]]).double())
    assert loss == 2e4 and torch.equal(dS, torch.tensor([[1.0, 0, -1]]).double())


@pytest.mark.parametrize("steps", [0, 1, 6])
def test_training_is_torchs_optimiser(steps):
    net, layers = modules(3, 5, 4, 2)
    X, Q = normal(6, 3), simplex(6, 2, seed=1)
    got, losses = ref.train(X, Q, layers, 0.3, steps)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.3)
    for step in range(steps + 1):
        loss = torch.nn.CrossEntropyLoss()(net(X), Q)
        assert losses[step].item() == pytest.approx(loss.item(), rel=1e-12)
        if step < steps:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    for one, (W, b) in zip(net[::2], got, strict=True):
        torch.testing.assert_close(W, one.weight.detach())
        torch.testing.assert_close(b, one.bias.detach())
    assert len(losses) == steps + 1


def test_a_straight_reader_trained_to_the_end_is_scikit_learns():
    rng = np.random.default_rng(2)
    y = np.array([0] * 9 + [1] * 14 + [2] * 7)
    H = 3 + rng.normal(size=(30, 2)) + 0.8 * np.eye(3, 2)[y]
    got = ref.readable_bits(torch.from_numpy(H), torch.from_numpy(y), 0.5, 5000, 3)
    model = LogisticRegression(C=1e9, max_iter=5000, tol=1e-10).fit(H, y)
    share = np.bincount(y) / 30
    nats = -share @ np.log(share) - log_loss(y, model.predict_proba(H))
    assert got.item() == pytest.approx(nats / np.log(2), abs=1e-5)


@pytest.mark.parametrize("C", [2, 3, 5])
def test_regions_are_cut_by_planes(C):
    """Points of a coarse grid: many of them lie on a border."""
    points = [p for p in itertools.product(range(7), repeat=C) if sum(p) == 6]
    expected = []
    for p in points:
        wins = [k for k in range(C) if all(p[k] > p[j] for j in range(C) if j != k)]
        expected.append(wins[0] if wins else -1)
    got = ref.argmax_region(torch.tensor(points).double() / 6)
    assert got.tolist() == expected and -1 in expected


def test_scatter_and_cosines_are_scikit_learns():
    """Calinski and Harabasz: (between / (C - 1)) / (within / (n - C))."""
    H, y = normal(13, 5) + 3, np.arange(13) ** 2 % 7 % 3
    index = calinski_harabasz_score(H.numpy(), y)
    got = ref.scatter_ratio(H, torch.from_numpy(y))
    assert got.item() == pytest.approx((13 - 3) / (3 - 1) / index)
    assert sn.ratio(H.numpy(), y) == pytest.approx(got.item())
    means = np.array([H[y == c].mean(0).numpy() for c in range(3)])
    cosines = ref.class_cosines(H, torch.from_numpy(y), 3)
    np.testing.assert_allclose(cosines, cosine_similarity(means - means.mean(0)))


@pytest.mark.parametrize("C", [2, 3, 10])
def test_one_hot_labels_are_as_far_apart_as_can_be(C):
    cosines = ref.class_cosines(torch.eye(C).double(), torch.arange(C), C)
    np.testing.assert_allclose(cosines[~torch.eye(C, dtype=torch.bool)], -1 / (C - 1))


def test_information_is_scikit_learns_and_never_rises():
    for seed in range(20):
        joint = simplex(12, seed=seed).reshape(3, 4)
        layers = [simplex(4, 4, seed=seed + 100 + k) for k in range(3)]
        told = ref.layer_information(joint, layers)
        assert torch.all(told.diff(dim=0) < 1e-12)
        kernel = np.eye(4)
        for row, M in zip(told, [np.eye(4), *layers], strict=True):
            kernel = kernel @ np.asarray(M)
            for value, table in zip(row, (np.diag(joint.sum(0)), joint), strict=True):
                nats = mutual_info_score(None, None, contingency=1e9 * np.asarray(table) @ kernel)
                assert value.item() == pytest.approx(nats / np.log(2), abs=1e-6)
                assert sn.information(np.asarray(table) @ kernel) == pytest.approx(value.item())


# ---------------------------------------------------------------- networks in the pictures


def test_descent_is_the_references():
    X, y = sn.camera()
    layers = sn.start_layers(2, 4, 5, 3, seed=2)
    kept = sn.descend(X, y, layers, 0.4, 3, keep=(0,))
    theirs = [tuple(map(torch.from_numpy, layer)) for layer in layers]
    got, losses = ref.train(torch.from_numpy(X), torch.eye(3).double()[y], theirs, 0.4, 3)
    for mine, layer in zip(kept[3], got, strict=True):
        for a, b in zip(mine, layer, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert kept[0] is layers
    assert sn.loss(sn.forward(X, kept[3])[1], y) == pytest.approx(losses[-1].item())


def test_the_arms_are_thirds_of_a_turn_apart_and_pixels_are_mixed():
    X, _ = sn.spiral(50, noise=0.0)
    turn = 2 * np.pi / 3
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(X[:50] @ R.T, X[50:100], atol=1e-12)
    seen, y = sn.camera()
    pixels, where = np.unique(seen, axis=0, return_inverse=True)
    arms = [len(np.unique(y[where == k])) for k in range(len(pixels))]
    assert len(pixels) < 100 and max(arms) > 1  # nobody can always be right


def test_two_hidden_layers_read_what_lines_cannot():
    words = sn.draw_why()[1]
    assert words.facts["line"] < 0.6 and words.facts["net"] > 0.9


def test_squared_error_hardly_pulls_on_what_is_wrong():
    facts = sn.draw_signals()[1].facts
    assert facts["cross"] == pytest.approx(1, abs=1e-3) and facts["squared"] < 1e-3
    S = torch.tensor([[0.3, -1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    (0.5 * (S.softmax(1) - torch.eye(3)[1]).square().sum()).backward()
    assert sn.squared_pull(S.detach().numpy(), 1)[0] == pytest.approx(abs(S.grad[0, 1].item()))


def test_a_probe_reads_what_is_linear(rng):
    X = rng.normal(size=(300, 2))
    straight, crossed = (X[:, 0] > 0).astype(int), (X[:, 0] * X[:, 1] > 0).astype(int)
    assert sn.probe_accuracy(X, straight, X, straight) > 0.95
    assert sn.probe_accuracy(X, crossed, X, crossed) < 0.7


def test_the_plane_is_the_principal_one(rng):
    H = rng.normal(size=(40, 4)) * [5, 1, 3, 0.5]
    variances = np.sort(np.linalg.eigvalsh(np.cov(H.T)))[::-1]
    np.testing.assert_allclose(sn.plane_of(H)(H).var(0, ddof=1), variances[:2])


def test_free_rows_fall_onto_their_means_and_the_means_onto_equal_angles():
    ratios = [sn.ratio(*sn.free_features(steps)) for steps in (0, 30, 300)]
    assert ratios[0] > 1 > ratios[1] > 1e-3 > ratios[2]
    H, y = sn.free_features(300)
    cosines = ref.class_cosines(torch.from_numpy(H), torch.from_numpy(y), 3)
    np.testing.assert_allclose(cosines[~torch.eye(3, dtype=torch.bool)], -0.5, atol=1e-3)


# ---------------------------------------------------------------- what it draws


def arms(**moved):
    return controls.explorer(NOTEBOOK, "sn.map_explorer", **moved).words.facts


def test_play_trains_the_network():
    first, last = arms(stage=0), arms(stage=40)
    assert first["loss"] == pytest.approx(np.log(3), abs=0.05) and first["step"] == 0
    assert last["step"] == 400 and last["right"] > 0.9 and last["loss"] < 0.3


def test_a_square_on_an_arm_is_told_its_arm_and_the_choice_of_picture_changes_no_number():
    points, labels = sn.spiral()
    for k in (40, 150, 260):
        told = arms(stage=40, x=points[k, 0].round(2), y=points[k, 1].round(2))
        assert np.argmax(told["p"]) == labels[k] and sum(told["p"]) == pytest.approx(1)
        other = arms(stage=40, shown="arm 2", x=told["x"], y=told["y"])
        np.testing.assert_array_equal(other["p"], told["p"])


def test_the_points_walk_from_the_middle_to_their_corners():
    nets = [sn.start_layers(2, 32, 32, 3, seed=1), sn.two_readers()[1]]
    _, _, positions, words, colors = sn.to_corners(nets, sn.forward)
    assert positions.shape == (2, 300, 2) and len(colors) == 300
    middle = [0.5, np.sqrt(3) / 6]
    np.testing.assert_allclose(positions[0], np.tile(middle, (300, 1)), atol=0.12)
    assert words.facts["first"] == 0 and words.facts["last"] > 0.7


def head(**moved):
    return controls.explorer(NOTEBOOK, "sn.draw_pipeline", **moved).words.facts


def test_the_head_counts_its_parameters_and_rows_change_none():
    told = head(task="faces, worldwide", width=512)
    assert told["head"] == 513_000_000 and told["chance"] == pytest.approx(np.log(1e6))
    assert head(task="faces, worldwide", width=512, batch=5)["head"] == told["head"]
    assert head(task="the three arms", width=64)["head"] == 195


def gathered(**moved):
    told = controls.explorer(NOTEBOOK, "sn.draw_digit_layers", **moved).words.facts["told"]
    return [float(value) for value in told]


def test_training_gathers_the_classes_layer_by_layer():
    first, last = gathered(stage=0), gathered(stage=13)
    assert np.all(np.diff(first) > 0) and np.all(np.diff(last) < 0) and first[0] == last[0]
    assert gathered(stage=13, rows="test")[3] > last[3]


def chain(**moved):
    facts = controls.explorer(NOTEBOOK, "sn.information_explorer", **moved).words.facts
    return [[float(v) for v in facts[name]] for name in ("told_x", "told_y", "told")]


def test_xor_keeps_the_bits_and_helps_the_line():
    assert chain() == [[2, 1.5, 1], [0.531] * 3, [0.7, 0.9, 0.9]]
    assert np.ptp(sn.xor_bits()) < 1e-12


def test_a_careless_layer_loses_for_good_and_a_renaming_one_spoils_the_line():
    _, about_y, line = chain(second="careless: was any bit on?")
    assert about_y[2] < 0.2 and line[2] == 0.7
    about_x, about_y, line = chain(second="rename only")
    assert about_x[1] == about_x[2] and about_y[1] == about_y[2] and line[2] < line[1]


@pytest.mark.parametrize("second", sn.SECOND)
@pytest.mark.parametrize("flip", [0.0, 0.2, 0.5])
def test_no_setting_adds_information(second, flip):
    about_x, about_y, _ = chain(second=second, flip=flip)
    assert np.all(np.diff(about_x) <= 0) and np.all(np.diff(about_y) <= 0)
    assert (about_y == [0, 0, 0]) == (flip == 0.5)


def test_the_best_line_is_the_best_of_all_cuts():
    joint = sn.xor_table(0.0)
    assert sn.best_linear(sn.XOR_POINTS[0], joint) == 0.75
    assert sn.best_linear(sn.XOR_POINTS[1], joint @ sn.XOR_LAYERS[0]) == 1.0
    assert sn.best_linear(np.array([[0.0], [1], [2]]), joint @ sn.XOR_LAYERS[0]) == 0.75


def test_a_chain_is_counted_as_it_was_sent():
    y = np.array([0, 0, 1, 1, 1])
    x, h = np.array([[0.0], [1], [1], [2], [2]]), np.array([[5.0], [5], [5], [7], [7]])
    joint, (table,) = sn.as_tables(y, [x, h])
    np.testing.assert_allclose(joint, [[0.2, 0.2, 0], [0, 0.2, 0.4]])
    np.testing.assert_allclose(table, [[1, 0], [1, 0], [0, 1]])


def test_the_answer_tells_what_it_is_given():
    facts = sn.draw_answer(list("ab"), [2.0, 1.0], [0.5, 0.5], [0.1, 0.4])[1].facts
    assert facts["there"] == ["0.50", "0.50"] and facts["read"] == ["0.10", "0.40"]

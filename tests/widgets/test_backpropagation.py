"""Widgets of backpropagation: their numbers against torch and counting, then their controls."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider

from descent.widgets import Explorer
from descent.widgets import backpropagation as bp


def numbers(words):
    return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", words)]


def number_after(words, phrase):
    return numbers(words.split(phrase, 1)[1])[0]


# ---------------------------------------------------------------- costs


@pytest.mark.parametrize("sizes", [[2, 2, 1], [64, 32, 10], [3, 4, 5, 2]])
def test_costs_are_those_of_a_counted_run(sizes):
    count = 0

    def product(p, q, r=1):
        nonlocal count
        count += p * q * r

    pairs = list(zip(sizes, sizes[1:], strict=False))
    for d, n in pairs:
        product(n, d)  # W h
    forward = count
    for layer, (d, n) in reversed(list(enumerate(pairs))):
        product(n, d)  # outer product
        if layer:
            product(d, n)  # Wᵀ δ
            product(d, 1)  # slopes
    costs = bp.gradient_costs(sizes)
    assert (costs["forward"], costs["backprop"]) == (forward, count)
    net = [torch.nn.Linear(d, n) for d, n in pairs]
    assert costs["parameters"] == sum(p.numel() for layer in net for p in layer.parameters())


def test_the_figure_tells_the_ratio():
    _, words = bp.draw_costs()
    costs = bp.gradient_costs([64, 32, 10])
    assert number_after(words, "nudging every weight") == round(
        costs["nudging"] / costs["backprop"]
    )
    assert "2410 parameters" in words


# ---------------------------------------------------------------- finite differences


@pytest.mark.parametrize("name", bp.CURVES)
def test_slopes_of_the_curves_are_torchs(name):
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    f = {"sin x": torch.sin, "x³": lambda x: x**3, "relu x": torch.relu}[name]
    f(x).backward()
    assert bp.CURVES[name][1](np.float64(0.7)) == pytest.approx(x.grad.item())


def test_errors_fall_by_the_order_of_the_rule():
    ahead, central = bp.difference_errors("sin x", 0.8, np.array([1e-1, 1e-2]))
    assert ahead[0] / ahead[1] == pytest.approx(10, rel=0.1)
    assert central[0] / central[1] == pytest.approx(100, rel=0.1)


@pytest.fixture
def secants():
    return Explorer(
        bp.differences_explorer(),
        dict(
            curve=Dropdown(options=list(bp.CURVES), value="sin x"),
            x=FloatSlider(0.8, min=-2, max=2),
            log_h=FloatSlider(0, min=-12, max=0),
        ),
    )


def test_central_beats_forward_and_both_fail_when_tiny(secants):
    def errors():
        return (
            number_after(secants.words, "forward difference is off by"),
            number_after(secants.words, "central one by"),
        )

    secants.controls["log_h"].value = -5.0
    ahead, central = errors()
    assert central < 1e-3 * ahead
    secants.controls["log_h"].value = -12.0
    assert min(errors()) > 1e-7


def test_at_the_kink_of_relu_neither_agrees(secants):
    secants.controls["curve"].value = "relu x"
    secants.controls["x"].value = 0.0
    assert number_after(secants.words, "off by") == 1.0
    assert number_after(secants.words, "central one by") == 0.5
    assert "no step helps" in secants.words


# ---------------------------------------------------------------- the 2-2-1 network


@pytest.mark.parametrize("act", ["sigmoid", "relu"])
def test_every_adjoint_is_torchs(act, rng):
    w = torch.tensor(rng.normal(size=6), requires_grad=True)
    x, t = torch.tensor(rng.normal(size=2)), 0.3
    z = w[:4].reshape(2, 2) @ x
    h = getattr(torch, act)(z)
    z3 = w[4:] @ h
    y = torch.sigmoid(z3)
    L = (y - t) ** 2 / 2
    nodes = [w, z, h, z3, y, L]
    grads = torch.autograd.grad(L, nodes)
    known = bp.two_two_one(w.detach().numpy(), x.numpy(), t, act)
    names = [[f"w{i}" for i in range(1, 7)], ["z1", "z2"], ["h1", "h2"], ["z3"], ["y"], ["L"]]
    for group, node, grad in zip(names, nodes, grads, strict=True):
        np.testing.assert_allclose([known[n] for n in group], node.detach().reshape(-1))
        np.testing.assert_allclose([known[f"d{n}"] for n in group], grad.reshape(-1))


@pytest.fixture
def graph():
    sliders = {f"w{i + 1}": FloatSlider(w, min=-2, max=2) for i, w in enumerate(bp.NOTES_W)}
    return Explorer(
        bp.graph_explorer(),
        dict(
            step=IntSlider(11, min=0, max=11),
            **sliders,
            x1=FloatSlider(1, min=-2, max=2),
            x2=FloatSlider(0, min=-2, max=2),
            t=FloatSlider(1, min=0, max=1),
            act=Dropdown(options=["sigmoid", "relu"]),
        ),
    )


def test_the_graph_tells_the_notes_numbers(graph):
    assert number_after(graph.words, "Loss") == 0.11676
    assert number_after(graph.words.split("Gradient:")[1], "∂L/∂w5 =") == -0.07512
    graph.controls["step"].value = 8
    assert number_after(graph.words, "∂L/∂z3 =") == -0.12068


def test_nothing_is_told_before_its_step(graph):
    graph.controls["step"].value = 0
    assert "New" not in graph.words and "Loss" not in graph.words
    graph.controls["step"].value = 2
    assert "h1 = 0.62246" in graph.words and "Loss" not in graph.words
    graph.controls["step"].value = 5
    assert "Loss" in graph.words and "Gradient" not in graph.words


def test_an_input_of_zero_has_weights_without_slope(graph):
    assert number_after(graph.words, "∂L/∂w2 =") == 0
    graph.controls["x2"].value = 1.0
    assert number_after(graph.words, "∂L/∂w2 =") != 0


def test_a_dead_unit_is_named_and_gets_nothing(graph):
    assert "off" not in graph.words
    graph.controls["act"].value = "relu"
    graph.controls["w3"].value = -0.5
    assert "Hidden unit 2 is off" in graph.words
    gradient = graph.words.split("Gradient:")[1]
    assert number_after(gradient, "∂L/∂w3 =") == 0 and number_after(gradient, "∂L/∂w1 =") != 0


def test_one_step_gives_the_notes_weights():
    path, losses = bp.train_221(bp.NOTES_W, (1.0, 0.0), 1.0, 0.1, 3)
    expected = [0.50057, -0.5, 0.299705, 0.1, 0.20751, -0.09307]
    np.testing.assert_allclose(path[1], expected, atol=1e-5)
    assert path.shape == (4, 6) and np.all(np.diff(losses) < 0)


@pytest.fixture
def descent():
    return Explorer(
        bp.descent_explorer(),
        dict(
            eta=SelectionSlider(options=[0.1, 1, 10, 30, 100, 300], value=0.1),
            t=FloatSlider(1, min=0.1, max=1),
            step=IntSlider(1, min=0, max=40),
        ),
    )


def rises(widget):
    return number_after(widget.words, "The loss rises")


def test_the_step_control_moves_along_the_path(descent):
    assert "0.500567, -0.500000, 0.299705, 0.100000, 0.207512, -0.093068" in descent.words
    first = number_after(descent.words, "the loss is")
    descent.controls["step"].value = 40
    assert number_after(descent.words, "the loss is") < first


def test_long_steps_overshoot_a_target_within_reach_only(descent):
    descent.controls["eta"].value = 300
    assert rises(descent) == 0  # the target 1 is never reached
    descent.controls["t"].value = 0.6
    assert rises(descent) > 0
    descent.controls["eta"].value = 10
    assert rises(descent) == 0


# ---------------------------------------------------------------- graphs of values


class Node:
    def __init__(self, inputs=(), slopes=()):
        self.inputs, self.slopes = inputs, slopes


def test_topological_order_and_forward_mode():
    x = Node()
    a = Node((x, x), (2.0, 3.0))  # twice the same input: 5
    b = Node((x, a), (1.0, 4.0))  # 1 + 4 · 5
    order = bp.topological(b)
    assert len(order) == 3 and order[0] is x and order[-1] is b
    assert bp.forward_mode(order, x) == (21.0, 4)


def test_the_dag_tells_values_and_adjoints():
    names = ["x1", "x2", "x3", "θ1", "θ2", "v3", "v5"]
    values, adjoints = dict.fromkeys(names, 2.0), dict.fromkeys(names, -3.0)
    _, words = bp.draw_dag(values | {"v3": 7.0}, adjoints | {"θ1": 6.0})
    assert "v3 = 7 with adjoint -3" in words and "θ1 = 2 with adjoint 6" in words


# ---------------------------------------------------------------- layers and depth


@pytest.fixture
def network():
    return Explorer(
        bp.network_explorer(),
        dict(
            inputs=IntSlider(4, min=1, max=5),
            first=IntSlider(4, min=1, max=5),
            second=IntSlider(3, min=0, max=5),
            outputs=IntSlider(1, min=1, max=5),
            act=Dropdown(options=["relu", "tanh", "sigmoid"]),
        ),
    )


def test_parameters_are_counted(network):
    assert "4-4-3-1 has 20 + 15 + 4 = 39 parameters" in network.words
    for name, value in dict(inputs=2, first=2, second=0).items():
        network.controls[name].value = value
    assert "2-2-1 has 6 + 3 = 9 parameters" in network.words


def test_relus_are_silent_and_tanh_is_not(network):
    assert numbers(network.words.split(". ")[-1])[0] > 0
    network.controls["act"].value = "tanh"
    assert "0 hidden units are exactly 0" in network.words


def test_the_backward_pass_is_torchs(rng):
    Ws, bs = bp.random_network([3, 4, 5, 2], rng)
    x, y = rng.normal(size=3), rng.normal(size=2)
    names = ["tanh", "sigmoid", "relu"]
    h, nodes = torch.tensor(x), []
    for W, b, name in zip(Ws, bs, names, strict=True):
        nodes.append((torch.tensor(W) @ h + torch.tensor(b)).requires_grad_())
        h = getattr(torch, name)(nodes[-1])
    grads = torch.autograd.grad(((h - torch.tensor(y)) ** 2).sum() / 2, nodes)
    zs, deltas = bp.backward_pass(Ws, bs, names, x, y)
    for z, node, delta, grad in zip(zs, nodes, deltas, grads, strict=True):
        np.testing.assert_allclose(z, node.detach())
        np.testing.assert_allclose(delta, grad, atol=1e-14)


@pytest.fixture
def shapes():
    return Explorer(
        bp.shapes_explorer(),
        dict(
            convention=Dropdown(options=["columns", "rows"]),
            units=IntSlider(2, min=1, max=4),
            inputs=IntSlider(3, min=1, max=4),
        ),
    )


def test_the_conventions_differ_in_shapes_only(shapes):
    columns = shapes.words
    assert "Wᵀ (3×2) · δ (2×1) = ∂L/∂h (3×1)" in columns
    shapes.controls["convention"].value = "rows"
    assert "δᵀ (1×2) · W (2×3) = (∂L/∂h)ᵀ (1×3)" in shapes.words
    assert shapes.words.split("Slopes by")[1:] == columns.split("Slopes by")[1:]


def test_the_shapes_follow_the_sliders(shapes):
    shapes.controls["units"].value = 1
    assert "δ (1×1) · hᵀ (1×3) = ∂L/∂W (1×3)" in shapes.words
    shapes.controls["inputs"].value = 4
    assert "∂L/∂h (4×1)" in shapes.words


@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_layer_gradients_are_torchs(act):
    depth, width, scale = 6, 5, 1.3
    rng = np.random.default_rng(3)
    h = torch.tensor(rng.normal(size=width))
    zs = []
    for _ in range(depth):
        W = torch.tensor(rng.normal(size=(width, width)) / np.sqrt(width) * scale)
        zs.append((W @ h).requires_grad_())
        h = getattr(torch, act)(zs[-1])
    grads = torch.autograd.grad(h.sum(), zs)
    norms, _ = bp.layer_gradients(act, scale, width, depth, seed=3)
    np.testing.assert_allclose(norms, [g.norm() for g in grads], rtol=1e-9)


@pytest.fixture
def depth():
    return Explorer(
        bp.depth_explorer(),
        dict(
            act=Dropdown(options=["sigmoid", "tanh", "relu"]),
            scale=FloatSlider(1, min=-1, max=6),
            width=SelectionSlider(options=[1, 10, 50], value=50),
        ),
    )


def test_logistic_gradients_vanish_and_relus_survive_or_explode(depth):
    assert "vanishes" in depth.words
    depth.controls["act"].value = "relu"
    depth.controls["scale"].value = 1.4
    assert "survives" in depth.words
    depth.controls["scale"].value = 4.0
    assert "explodes" in depth.words


def test_a_chain_of_logistic_units_loses_a_quarter_to_the_power_of_its_depth(depth):
    depth.controls["width"].value = 1
    assert 0 < number_after(depth.words, "layer 1 is") <= 0.25**19


def test_a_relu_behind_a_negative_weight_lets_nothing_through(depth):
    for name, value in dict(act="relu", width=1, scale=-1.0).items():
        depth.controls[name].value = value
    assert "is lost" in depth.words


def test_units_are_dead_where_their_bias_is_far_below_zero():
    shares = bp.dead_units([-50.0, 0.0, 50.0])
    assert shares.tolist() == [1.0, 0.0, 0.0]
    _, words = bp.draw_dead(np.array([-3.0, 0.0]), np.array([0.75, 0.0]))
    assert "bias -3: 75%" in words


def test_the_heat_map_compares_first_and_last():
    _, words = bp.draw_deltas([np.array([0.1, 0.3]), np.array([2.0])], "Any units")
    assert number_after(words, "The last is") == 10


# ---------------------------------------------------------------- digits


def test_pooling_takes_means_of_two_by_two():
    image = np.arange(64.0).reshape(8, 8)
    expected = [
        image[r : r + 2, c : c + 2].mean() / 16 for r in range(0, 8, 2) for c in range(0, 8, 2)
    ]
    np.testing.assert_allclose(bp.pooled(image.reshape(1, 64))[0], expected)


def test_shuffled_digits_keep_rows_together_and_know_the_training_rows_only():
    pixels, small, labels = bp.shuffled_digits()
    assert pixels.shape == (1797, 64) and small.shape == (1797, 16) and labels.max() == 9
    np.testing.assert_allclose(small[:1297].mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(small[:1297].std(0), 1)
    raw = bp.pooled(16 * pixels)
    correlation = [np.corrcoef(raw[:, j], small[:, j])[0, 1] for j in range(16)]
    np.testing.assert_allclose(correlation, 1)


def test_the_learning_curve_tells_the_end():
    _, words = bp.draw_learning({"one": ([1, 10], [0.1, 0.87])}, "t")
    assert "one gets at least 85 %" in words

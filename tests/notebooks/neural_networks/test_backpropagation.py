"""Backpropagation references against closed forms, finite differences, torch's transforms and torch.nn."""

import re

import numpy as np
import pytest
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from torch import nn

from descent.pictures.neural_networks import backpropagation as bp
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("07_neural_networks/02_backpropagation", "reference")


DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
ACTS = pytest.mark.parametrize("act", ["identity", "relu", "sigmoid", "tanh"])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def differences(f, x, h=1e-6):
    """Central differences of a scalar function of an array, entry by entry."""
    flat = x.flatten()
    steps = [h * e for e in torch.eye(len(flat), dtype=x.dtype)]
    slopes = [(f((flat + s).view_as(x)) - f((flat - s).view_as(x))) / (2 * h) for s in steps]
    return torch.stack([torch.as_tensor(s) for s in slopes]).view_as(x)


# ---------------------------------------------------------------- numerical Jacobian


@DTYPES
@BATCHES
def test_jacobian_is_the_difference_quotient(batch, dtype):
    A, B, c = normal(*batch, 2, 3), normal(*batch, 3, 3, seed=1), normal(*batch, 2, seed=2)
    K, x, h = normal(*batch, 2, 3, seed=3), normal(*batch, 3, seed=4), 0.1

    def f(x):
        column = x.unsqueeze(-1)
        bent = column.mT @ B @ column
        return (A @ column + c.unsqueeze(-1) * bent + K @ column**3).squeeze(-1)

    steps = [h * e for e in torch.eye(3, dtype=torch.float64)]
    expected = torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps], -1)
    got = ref.central_jacobian(*(v.to(dtype) for v in (A, B, c, K, x)), h)
    assert got.shape == (*batch, 2, 3) and got.dtype == dtype
    torch.testing.assert_close(got, expected.to(dtype), **tolerance(dtype))


# ---------------------------------------------------------------- the 2-2-1 network


def test_the_example_of_the_notes():
    w = torch.tensor([0.5, -0.5, 0.3, 0.1, 0.2, -0.1], dtype=torch.float64)
    x, t = torch.tensor([1.0, 0.0], dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)
    loss, grads = ref.two_two_one(w, x, t, "sigmoid")
    assert round(loss.item(), 5) == 0.11676
    exact = [-0.005672, 0.0, 0.002950, 0.0, -0.075116, -0.069321]
    np.testing.assert_allclose(grads, exact, rtol=0, atol=6e-7)
    h1 = 1 / (1 + np.exp(-0.5))
    assert round(grads[4].item() / h1, 5) == -0.12068  # the adjoint of z3
    _, grads = ref.two_two_one(w, x, t, "relu")
    by_relu = [-0.024096, 0.0, 0.012048, 0.0, -0.060240, -0.036144]
    np.testing.assert_allclose(grads, by_relu, rtol=0, atol=6e-7)
    assert ((w - 0.1 * exact[0])[0]).item() == pytest.approx(0.50057, abs=1e-5)


@DTYPES
@BATCHES
@pytest.mark.parametrize("act", ["relu", "sigmoid"])
def test_two_two_one_follows_finite_differences(act, batch, dtype):
    w, x, t = normal(*batch, 6), normal(*batch, 2, seed=1), normal(*batch, seed=2).sigmoid()
    loss, grads = ref.two_two_one(*(v.to(dtype) for v in (w, x, t)), act)
    assert loss.shape == batch and grads.dtype == dtype
    rows = zip(w.view(-1, 6), x.view(-1, 2), t.view(-1), strict=True)
    expected = [
        differences(lambda v, a=a, b=b: ref.two_two_one(v, a, b, act)[0], u) for u, a, b in rows
    ]
    expected = torch.stack(expected).view(*batch, 6)
    torch.testing.assert_close(grads, expected.to(dtype), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- programs

PROGRAM = [("*", 0, 1), ("+", 2, 0), ("sigmoid", 3), ("shift", 4, 2.0), ("*", 4, 5), ("exp", 6),
           ("relu", 7), ("scale", 8, -3.0)]  # fmt: skip


@DTYPES
@BATCHES
def test_programs_run_and_follow_finite_differences(batch, dtype):
    leaves = normal(*batch, 2)
    values, grads = ref.run_program(leaves.to(dtype), PROGRAM)
    a, b = leaves.unbind(-1)
    s = torch.special.expit(a * b + a)
    torch.testing.assert_close(
        values[..., -1], (-3 * torch.exp(s * (s + 2))).to(dtype), **tolerance(dtype)
    )
    assert values.shape == grads.shape == (*batch, 10) and grads.dtype == dtype
    slopes = [
        differences(lambda v: ref.run_program(v, PROGRAM)[0][-1], one) for one in leaves.view(-1, 2)
    ]
    expected = torch.stack(slopes).view(*batch, 2).to(dtype)
    torch.testing.assert_close(grads[..., :2], expected, rtol=1e-4, atol=1e-5)
    assert torch.all(grads[..., -1] == 1)


def test_shares_of_a_value_used_twice_add_up():
    _, grads = ref.run_program(torch.tensor([3.0]), [("*", 0, 0), ("+", 1, 0)])
    assert grads.tolist() == [7.0, 1.0, 1.0]


def test_nodes_that_are_not_used_have_no_slope():
    _, grads = ref.run_program(torch.tensor([2.0, 5.0]), [("+", 0, 1), ("*", 0, 0)])
    assert grads.tolist() == [4.0, 0.0, 0.0, 1.0]


def test_relu_has_slope_zero_at_its_kink():
    _, grads = ref.run_program(torch.tensor([0.0]), [("relu", 0)])
    assert grads[0] == 0


# ---------------------------------------------------------------- one layer


@DTYPES
@BATCHES
@ACTS
def test_a_layer_is_torchs_vector_jacobian_product(act, batch, dtype):
    W, b = normal(*batch, 4, 3, dtype=dtype), normal(*batch, 4, dtype=dtype, seed=1)
    a, upstream = normal(*batch, 3, dtype=dtype, seed=2), normal(*batch, 4, dtype=dtype, seed=3)

    def layer(W, b, a):
        return ref.ACTIVATIONS[act]((W @ a.unsqueeze(-1)).squeeze(-1) + b)

    _, vjp = torch.func.vjp(layer, W, b, a)
    z = (W @ a.unsqueeze(-1)).squeeze(-1) + b
    for got, expected in zip(
        ref.layer_gradients(W, a, z, act, upstream), vjp(upstream), strict=True
    ):
        assert got.dtype == dtype
        torch.testing.assert_close(got, expected, **tolerance(dtype))


# ---------------------------------------------------------------- products


@DTYPES
@BATCHES
@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_products_are_multi_dot(order, batch, dtype):
    sizes = [5, 4, 3, 2]
    Js = [normal(*batch, n, d, dtype=dtype, seed=n) for d, n in zip(sizes, sizes[1:], strict=False)]
    product, _ = ref.chain(Js, order)
    rows = [
        torch.linalg.multi_dot([J.view(-1, *J.shape[-2:])[i] for J in reversed(Js)])
        for i in range(int(np.prod(batch)))
    ]
    torch.testing.assert_close(product, torch.stack(rows).view(*batch, 2, 5), **tolerance(dtype))


@pytest.mark.parametrize("sizes", [[4, 2], [5, 4, 3], [6, 4, 5, 1], [1, 3, 4, 5], [3, 1, 4, 1, 5]])
def test_counts_are_those_of_one_product_after_the_other(sizes):
    Js = [torch.ones(n, d) for d, n in zip(sizes, sizes[1:], strict=False)]
    count, kept = 0, Js[0]
    for J in Js[1:]:
        count += J.shape[0] * J.shape[1] * kept.shape[1]
        kept = J @ kept
    assert ref.chain(Js, "forward")[1] == count
    count, kept = 0, Js[-1]
    for J in Js[-2::-1]:
        count += kept.shape[0] * kept.shape[1] * J.shape[1]
        kept = kept @ J
    assert ref.chain(Js, "reverse")[1] == count


# ---------------------------------------------------------------- a batch


@DTYPES
@pytest.mark.parametrize(
    "act, module", [("tanh", nn.Tanh), ("relu", nn.ReLU)], ids=["tanh", "relu"]
)
def test_a_network_is_torchs(act, module, dtype):
    layers = [nn.Linear(3, 5), module(), nn.Linear(5, 4), module(), nn.Linear(4, 2)]
    net = nn.Sequential(*layers).to(dtype)
    numbers = iter(range(9))
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(normal(*p.shape, seed=next(numbers)))
    X, labels = normal(7, 3, dtype=dtype, seed=20), torch.arange(7) % 2
    loss = nn.CrossEntropyLoss()(net(X), labels)
    loss.backward()
    linear = layers[::2]
    got, dWs, dbs = ref.mlp_gradients(
        X,
        ref.one_hot_rows(labels, 2, dtype),
        [m.weight.detach().T for m in linear],
        [m.bias.detach() for m in linear],
        act,
    )
    torch.testing.assert_close(got, loss.detach(), **tolerance(dtype))
    for m, dW, db in zip(linear, dWs, dbs, strict=True):
        torch.testing.assert_close(dW, m.weight.grad.T, **tolerance(dtype))
        torch.testing.assert_close(db, m.bias.grad, **tolerance(dtype))


@BATCHES
def test_batches_of_networks_are_networks_one_by_one(batch):
    X, Y = normal(*batch, 4, 2), torch.eye(3, dtype=torch.float64)[torch.arange(4) % 3]
    Y = Y.expand(*batch, 4, 3)
    Ws = [normal(*batch, 2, 5, seed=1), normal(*batch, 5, 3, seed=2)]
    bs = [normal(*batch, 5, seed=3), normal(*batch, 3, seed=4)]
    loss, dWs, dbs = ref.mlp_gradients(X, Y, Ws, bs, "tanh")
    assert loss.shape == batch
    index = (-1,) * len(batch)
    one = ref.mlp_gradients(
        X[index], Y[index], [W[index] for W in Ws], [b[index] for b in bs], "tanh"
    )
    torch.testing.assert_close(loss[index], one[0])
    for many, single in zip([*dWs, *dbs], [*one[1], *one[2]], strict=True):
        torch.testing.assert_close(many[index], single)


def test_large_scores_stay_finite():
    bs = [torch.tensor([900.0, -900.0])]
    loss, _, dbs = ref.mlp_gradients(
        torch.zeros(1, 1), torch.tensor([[0.0, 1.0]]), [torch.zeros(1, 2)], bs, "tanh"
    )
    assert loss.item() == 1800 and dbs[0].tolist() == [1.0, -1.0]


# ------------------------------------------------------------ what it draws


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

"""Backpropagation: references against closed forms, differences, torch's transforms and torch.nn; what it draws."""

import numpy as np
import pytest
import torch
from torch import nn

from descent.pictures.neural_networks import backpropagation as bp
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "07_neural_networks/02_backpropagation"
ref = notebook_module(NOTEBOOK, "reference")

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
BATCHES = pytest.mark.parametrize("batch", [(), (3,), (2, 3)], ids=str)
ACTS = pytest.mark.parametrize("act", ["identity", "relu", "sigmoid", "tanh"])


def tolerance(dtype):
    if dtype == torch.float32:
        return dict(rtol=1e-4, atol=1e-5)
    return dict(rtol=1e-10, atol=1e-12)


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


def differences(f, x, eps=1e-6):
    """Central differences of a scalar function of a vector, entry by entry."""
    nudges = eps * torch.eye(len(x), dtype=x.dtype)
    return torch.stack([(f(x + e) - f(x - e)) / (2 * eps) for e in nudges])


# ---------------------------------------------------------------- references


@DTYPES
@BATCHES
def test_jacobian_is_the_difference_quotient(batch, dtype):
    A, B, c = normal(*batch, 2, 3), normal(*batch, 3, 3, seed=1), normal(*batch, 2, seed=2)
    K, x, eps = normal(*batch, 2, 3, seed=3), normal(*batch, 3, seed=4), 0.1

    def f(x):
        column = x.unsqueeze(-1)
        bent = column.mT @ B @ column
        return (A @ column + c.unsqueeze(-1) * bent + K @ column**3).squeeze(-1)

    nudges = eps * torch.eye(3, dtype=torch.float64)
    expected = torch.stack([(f(x + e) - f(x - e)) / (2 * eps) for e in nudges], -1)
    got = ref.central_jacobian(*(v.to(dtype) for v in (A, B, c, K, x)), eps)
    assert got.shape == (*batch, 2, 3) and got.dtype == dtype
    torch.testing.assert_close(got, expected.to(dtype), **tolerance(dtype))


def test_the_example_of_the_notes():
    w = torch.tensor([0.5, -0.5, 0.3, 0.1, 0.2, -0.1], dtype=torch.float64)
    x, y = torch.tensor([1.0, 0.0], dtype=torch.float64), torch.tensor(1.0, dtype=torch.float64)
    loss, slopes = ref.two_two_one(w, x, y, "sigmoid")
    assert round(loss.item(), 5) == 0.11676
    exact = [-0.005672, 0.0, 0.002950, 0.0, -0.075116, -0.069321]
    np.testing.assert_allclose(slopes, exact, rtol=0, atol=6e-7)
    _, slopes = ref.two_two_one(w, x, y, "relu")
    by_relu = [-0.024096, 0.0, 0.012048, 0.0, -0.060240, -0.036144]
    np.testing.assert_allclose(slopes, by_relu, rtol=0, atol=6e-7)


@pytest.mark.parametrize("act", ["relu", "sigmoid"])
def test_two_two_one_follows_finite_differences(act):
    for seed in range(5):
        w, x, y = normal(6, seed=seed), normal(2, seed=seed + 9), torch.tensor(0.3).double()
        _, slopes = ref.two_two_one(w, x, y, act)
        expected = differences(lambda v: ref.two_two_one(v, x, y, act)[0], w)  # noqa: B023
        torch.testing.assert_close(slopes, expected, rtol=1e-5, atol=1e-8)


def test_programs_run_and_follow_finite_differences():
    program = [("*", 0, 1), ("+", 2, 0), ("sigmoid", 3), ("shift", 4, 2.0), ("*", 4, 5), ("repeat", 6, 4),
               ("relu", 7), ("scale", 8, -3.0)]  # fmt: skip
    leaves = normal(2)
    values, grads, sums = ref.run_program(leaves, program, [-1])
    a, b = leaves
    s = torch.special.expit(a * b + a)
    torch.testing.assert_close(values[-1], -15 * s * (s + 2))
    expected = differences(lambda v: ref.run_program(v, program, [-1])[0][-1], leaves)
    torch.testing.assert_close(grads[:2], expected, rtol=1e-6, atol=1e-8)
    assert grads[-1] == 1
    # slopes times values of the inputs: d f(t v) / dt at t = 1
    torch.testing.assert_close(sums, torch.stack([2 * a * b, a * b + a, 2 * s * (s + 2)]))


def test_shares_add_up_and_values_that_are_not_behind_get_none():
    assert ref.run_program(torch.tensor([3.0]), [("*", 0, 0), ("+", 1, 0)], [-1])[1].tolist() == [
        7,
        1,
        1,
    ]
    program = [("+", 0, 1), ("*", 0, 0)]
    assert ref.run_program(torch.tensor([2.0, 5.0]), program, [-1])[1].tolist() == [4, 0, 0, 1]
    # the first call reaches all, the second one leaves v1 and v3 as they are
    program = [("scale", 0, 2.0), ("*", 2, 1)]
    assert ref.run_program(torch.tensor([2.0, 5.0]), program, [-1, 2])[1].tolist() == [2, 4, 1, 1]
    assert ref.run_program(torch.tensor([0.0]), [("relu", 0)], [-1])[1][0] == 0


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


@BATCHES
def test_chain_slopes_are_the_printed_products(batch):
    ws, x, y = normal(*batch, 3), normal(*batch, 5, seed=1), normal(*batch, 5, seed=2)
    w0, w1, w2 = (w.unsqueeze(-1) for w in ws.unbind(-1))
    h1 = torch.special.expit(w0 * x)
    h2 = torch.special.expit(w1 * h1)
    last = 2 * (w2 * h2 - y)
    middle = last * w2 * h2 * (1 - h2)
    first = middle * w1 * h1 * (1 - h1)
    expected = torch.stack([(first * x).mean(-1), (middle * h1).mean(-1), (last * h2).mean(-1)], -1)
    torch.testing.assert_close(ref.chain_slopes(ws, x, y), expected)


@pytest.mark.parametrize("sizes", [[4, 2], [5, 4, 3], [6, 4, 5, 1], [1, 3, 4, 5], [3, 1, 4, 1, 5]])
def test_products_and_counts_are_those_of_one_after_the_other(sizes):
    Js = [normal(n, d, seed=n) for d, n in zip(sizes, sizes[1:], strict=False)]
    count, kept = 0, Js[0]
    for J in Js[1:]:
        count += J.shape[0] * J.shape[1] * kept.shape[1]
        kept = J @ kept
    product, forward = ref.chain(Js, "forward")
    torch.testing.assert_close(product, kept)
    assert forward == count
    count, kept = 0, Js[-1]
    for J in Js[-2::-1]:
        count += kept.shape[0] * kept.shape[1] * J.shape[1]
        kept = kept @ J
    product, reverse = ref.chain(Js, "reverse")
    torch.testing.assert_close(product, kept)
    assert reverse == count


@DTYPES
@pytest.mark.parametrize(
    "act, module", [("tanh", nn.Tanh), ("relu", nn.ReLU)], ids=["tanh", "relu"]
)
def test_a_network_is_torchs(act, module, dtype):
    layers = [nn.Linear(3, 5), module(), nn.Linear(5, 4), module(), nn.Linear(4, 2)]
    net = nn.Sequential(*layers).to(dtype)
    with torch.no_grad():
        for seed, p in enumerate(net.parameters()):
            p.copy_(normal(*p.shape, seed=seed))
    X, labels = normal(7, 3, dtype=dtype, seed=20), torch.arange(7) % 2
    loss = nn.CrossEntropyLoss()(net(X), labels)
    loss.backward()
    linear, Y = layers[::2], torch.eye(2, dtype=dtype)[labels]
    Ws, bs = [m.weight.detach().T for m in linear], [m.bias.detach() for m in linear]
    got, dWs, dbs = ref.mlp_gradients(X, Y, Ws, bs, act)
    torch.testing.assert_close(got, loss.detach(), **tolerance(dtype))
    for m, dW, db in zip(linear, dWs, dbs, strict=True):
        torch.testing.assert_close(dW, m.weight.grad.T, **tolerance(dtype))
        torch.testing.assert_close(db, m.bias.grad, **tolerance(dtype))


def test_large_scores_stay_finite():
    bs = [torch.tensor([900.0, -900.0])]
    loss, _, dbs = ref.mlp_gradients(
        torch.zeros(1, 1), torch.tensor([[0.0, 1.0]]), [torch.zeros(1, 2)], bs, "tanh"
    )
    assert loss.item() == 1800 and dbs[0].tolist() == [1.0, -1.0]


# ---------------------------------------------------------------- costs


@pytest.mark.parametrize("sizes", [[2, 2, 1], [64, 32, 10], [3, 4, 5, 2]])
def test_costs_are_those_of_a_counted_run(sizes):
    pairs = list(zip(sizes, sizes[1:], strict=False))
    forward = back = 0
    for layer, (d, n) in enumerate(pairs):
        forward += n * d
        back += n * d + (d * n + d if layer else 0)  # outer product; W δ and slopes
    costs = bp.gradient_costs(sizes)
    assert (costs["forward"], costs["backprop"]) == (forward, forward + back)
    net = [torch.nn.Linear(d, n) for d, n in pairs]
    assert costs["parameters"] == sum(p.numel() for layer in net for p in layer.parameters())
    assert costs["nudging"] == (costs["parameters"] + 1) * forward


def test_the_first_screen_tells_what_the_costs_are():
    costs = bp.gradient_costs([64, 32, 10])
    facts = bp.draw_costs()[1].facts
    assert facts["times"] == costs["nudging"] / costs["backprop"]
    assert (facts["parameters"], facts["runs"]) == (2410, costs["backprop"] / costs["forward"])
    _, words = bp.draw_training([1, 820], [0.1, 0.97])
    assert words.facts["share"] == pytest.approx(820 / facts["times"]) and words.facts["share"] < 1
    assert words.facts["least"] == 95


def test_mode_ratio_counts_like_the_reference():
    sizes = [6, 4, 5, 1]
    Js = [torch.ones(n, d) for d, n in zip(sizes, sizes[1:], strict=False)]
    counts = [ref.chain(Js, order)[1] for order in ("forward", "reverse")]
    assert bp.mode_ratio(sizes) == counts[0] / counts[1]


# ---------------------------------------------------------------- the 2-2-1 network


@pytest.mark.parametrize("act", ["sigmoid", "relu"])
def test_every_slope_of_the_graph_is_torchs(act):
    rng = np.random.default_rng(0)
    w = torch.tensor(rng.normal(size=6), requires_grad=True)
    x, target = torch.tensor(rng.normal(size=2)), 0.3
    z = w[:4].reshape(2, 2) @ x
    h = getattr(torch, act)(z)
    z3 = w[4:] @ h
    p = torch.sigmoid(z3)
    L = (p - target) ** 2 / 2
    nodes = [w, z, h, z3, p, L]
    grads = torch.autograd.grad(L, nodes)
    known = bp.two_two_one(w.detach().numpy(), x.numpy(), target, act)
    names = [[f"w{i}" for i in range(1, 7)], ["z1", "z2"], ["h1", "h2"], ["z3"], ["p"], ["L"]]
    for group, node, grad in zip(names, nodes, grads, strict=True):
        np.testing.assert_allclose([known[n] for n in group], node.detach().reshape(-1))
        np.testing.assert_allclose([known[f"d{n}"] for n in group], grad.reshape(-1))


def graph(**moved):
    return controls.explorer(NOTEBOOK, "bp.draw_graph", **moved).words


def test_nothing_is_told_before_its_step():
    assert graph(step=0).facts.keys() == {"step", "steps"}
    assert "L" not in graph(step=4).facts and "shown" not in graph(step=10).facts
    assert graph(step=5).facts["L"] == pytest.approx(0.116763, abs=1e-6)
    assert graph(step=8).facts["fresh"] == ["∂L/∂z3 = -0.12068"]
    assert graph(step=11).facts["shown"][4] == "∂L/∂w5 = -0.07512"


def test_a_unit_that_is_off_is_named_and_its_weight_has_no_slope():
    words = graph(step=11, act="relu", w1=-1.0)
    assert words.facts["dead"] == ["1"] and words.facts["shown"][0] == "∂L/∂w1 = 0.00000"
    assert "dead" not in graph(step=11, act="relu", w1=1.0).facts
    assert "dead" not in graph(step=1, act="relu", w1=-1.0).facts  # not known yet


def test_without_its_weight_a_unit_gets_no_slope():
    shown = graph(step=11, w5=0.0).facts["shown"]
    assert shown[0] == "∂L/∂w1 = 0.00000" and shown[4] != "∂L/∂w5 = 0.00000"


# ---------------------------------------------------------------- graphs of values


class Node:
    def __init__(self, inputs=(), slopes=(), data=0.0, grad=0.0):
        self.inputs, self.slopes, self.data, self.grad = inputs, slopes, data, grad


def test_what_is_behind_a_value_and_forward_mode():
    x = Node()
    a = Node((x, x), (2.0, 3.0))  # twice the same input: 5
    b = Node((x, a), (1.0, 4.0))  # 1 + 4 · 5
    order = bp.behind(b)
    assert len(order) == 3 and order[0] is x and order[-1] is b
    assert bp.forward_mode(order, x) == (21.0, 4)


def test_the_dag_tells_values_and_grads():
    names = ["x1", "x2", "x3", "θ1", "θ2", "v3", "v5"]
    nodes = {name: Node(data=k, grad=-k) for k, name in enumerate(names)}
    told = {one.facts["name"]: one.facts for one in bp.draw_dag(nodes)[1].facts["told"]}
    assert {name: (f["data"], f["grad"]) for name, f in told.items()} == {
        name: (k, -k) for k, name in enumerate(names)
    }


def test_a_doubling_sends_two_shares_however_many_paths():
    a = torch.tensor(1.0, requires_grad=True)
    v = a
    for _ in range(5):
        v = v + v
    v.backward()
    assert a.grad == 2**5 and bp.doubling_shares(5) == 10


# ---------------------------------------------------------------- differences


@pytest.mark.parametrize("name", bp.CURVES)
def test_slopes_of_the_curves_are_torchs(name):
    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    {"sin x": torch.sin, "x³": lambda x: x**3, "relu x": torch.relu}[name](x).backward()
    assert bp.CURVES[name][1](np.float64(0.7)) == pytest.approx(x.grad.item())


def secants(**moved):
    return controls.explorer(NOTEBOOK, "bp.draw_differences", **moved).words.facts


def test_errors_fall_by_the_order_of_the_rule_and_rise_again():
    long, short, tiny = secants(eps=1e-1), secants(eps=1e-2), secants(eps=1e-12)
    assert long["ahead"] / short["ahead"] == pytest.approx(10, rel=0.1)
    assert long["central"] / short["central"] == pytest.approx(100, rel=0.1)
    assert min(tiny["ahead"], tiny["central"]) > 1e-7


def test_at_the_kink_of_relu_neither_helps():
    facts = secants(curve="relu x", x=0.0, eps=1e-3)
    assert (facts["ahead"], facts["central"]) == (1.0, 0.5)


def test_the_slope_by_a_matrix_is_the_outer_product():
    X = torch.ones(3, 3, requires_grad=True)
    a, b = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])
    (a @ X @ b).backward()
    assert bp.which_formula() == 0 and X.grad.tolist() == torch.outer(a, b).tolist()


# ---------------------------------------------------------------- layers and depth


def test_layers_by_torch_are_those_of_forward():
    acts = ["tanh", "sigmoid", "identity"]
    T = bp.torch_layers([3, 4, 5, 1], acts, seed=4)
    for layer, act in ((1, "tanh"), (2, "sigmoid")):
        back = T.W[layer + 1].T @ T.deltas[layer + 1]
        np.testing.assert_allclose(T.deltas[layer], bp.ACTIVATIONS[act][1](T.z[layer]) * back)
    np.testing.assert_allclose(T.db[2], T.deltas[2])


def test_the_products_of_primitives_are_jacobians():
    v, g, where = normal(2, 4), normal(2, 4, seed=1), torch.tensor([2, 0, 2, 1])
    p, u = v.softmax(-1), (v - v.mean(-1, keepdim=True)) / v.std(-1, correction=0, keepdim=True)
    got = {kind: ref.primitive_vjp(kind, v, g, where) for kind in ("softmax", "norm", "index")}
    torch.testing.assert_close(got["softmax"], p * (g - (p * g).sum(-1, keepdim=True)))
    inner = g - g.mean(-1, keepdim=True) - u * (g * u).mean(-1, keepdim=True)
    torch.testing.assert_close(got["norm"], inner / v.std(-1, correction=0, keepdim=True))
    two = g[:, 0] + g[:, 2]
    torch.testing.assert_close(got["index"], torch.stack([g[:, 1], g[:, 3], two, 0 * two], -1))


@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_layer_gradients_are_torchs(act):
    depth, width, scale = 6, 5, 1.3
    rng = np.random.default_rng(3)
    h, zs = torch.tensor(rng.normal(size=width)), []
    for _ in range(depth):
        W = torch.tensor(rng.normal(size=(width, width)) / np.sqrt(width) * scale)
        zs.append((W @ h).requires_grad_())
        h = getattr(torch, act)(zs[-1])
    grads = torch.autograd.grad(h.sum(), zs)
    norms, _ = bp.layer_gradients(act, scale, width, depth, seed=3)
    np.testing.assert_allclose(norms, [g.norm() for g in grads], rtol=1e-9)


def depth(**moved):
    return controls.explorer(NOTEBOOK, "bp.draw_depth", **moved).words.facts


def test_the_gradient_vanishes_survives_explodes_or_is_lost():
    assert depth()["fate"] == "vanishes"
    assert depth(act="relu", scale=1.4)["fate"] == "survives"
    assert depth(act="relu", scale=4.0)["fate"] == "explodes"
    assert depth(act="relu", width=1, scale=-1.0)["fate"] == "is lost"
    assert 0 < depth(width=1)["ratio"] <= 0.25**19


def test_units_are_dead_where_their_bias_is_far_below_zero():
    assert bp.dead_units([-50.0, 0.0, 50.0]).tolist() == [1.0, 0.0, 0.0]
    _, words = bp.draw_dead(np.array([-3.0, -2.0, 0.0]), np.array([0.75, 0.4, 0.1]))
    assert words.facts == {"bound": -3.0, "zero": 0.1}


def test_shuffled_digits_keep_rows_together():
    pixels, labels = bp.shuffled_digits()
    raw = bp.data.digits()
    assert pixels.shape == (1797, 64) and 0 <= pixels.min() and pixels.max() == 1
    row = np.flatnonzero((raw.X / 16 == pixels[0]).all(1))[0]
    assert raw.y[row] == labels[0] and sorted(labels) == sorted(raw.y)

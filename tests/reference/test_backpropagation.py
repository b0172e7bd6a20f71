"""Backpropagation references against closed forms, finite differences, torch's transforms and torch.nn."""

import numpy as np
import pytest
import torch
from torch import nn

from solutions.reference import backpropagation as ref
from tests.reference.contract import assert_any_device, assert_inputs_left_alone

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


# ---------------------------------------------------------------- the contract of every reference

CALLS = {
    "central_jacobian": lambda dtype: (
        normal(2, 3, dtype=dtype), normal(3, 3, dtype=dtype), normal(2, dtype=dtype),
        normal(2, 3, dtype=dtype), normal(3, dtype=dtype), 0.1,
    ),
    "two_two_one": lambda dtype: (
        normal(6, dtype=dtype), normal(2, dtype=dtype), normal(1, dtype=dtype)[0], "relu",
    ),
    "run_program": lambda dtype: (normal(2, dtype=dtype), PROGRAM),
    "layer_gradients": lambda dtype: (
        normal(2, 3, dtype=dtype), normal(3, dtype=dtype), normal(2, dtype=dtype), "tanh",
        normal(2, dtype=dtype),
    ),
    "chain": lambda dtype: ([normal(2, 3, dtype=dtype), normal(1, 2, dtype=dtype)], "reverse"),
    "mlp_gradients": lambda dtype: (
        normal(4, 2, dtype=dtype), normal(4, 3, dtype=dtype).softmax(-1),
        [normal(2, 3, dtype=dtype)], [normal(3, dtype=dtype)], "relu",
    ),
}  # fmt: skip


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, list | tuple) else []


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(name):
    assert_inputs_left_alone(getattr(ref, name), CALLS[name](torch.float64))


@pytest.mark.parametrize("name", CALLS)
def test_no_value_and_no_device_is_assumed(name):
    assert_any_device(getattr(ref, name), CALLS[name](torch.float64))


@DTYPES
@pytest.mark.parametrize("name", CALLS)
def test_results_keep_the_dtype_and_no_graph(name, dtype):
    arguments = CALLS[name](dtype)
    result = getattr(ref, name)(*arguments)
    assert all(t.dtype == dtype and not t.requires_grad for t in tensors([arguments, result]))

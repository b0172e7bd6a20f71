"""The references of stochastic training against sklearn, torch and brute force."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import Perceptron

from solutions.reference import stochastic_training as ref

DTYPES = [torch.float32, torch.float64]


@pytest.fixture
def gen():
    return torch.Generator().manual_seed(5)


def data(gen, dtype, n=12, d=3):
    X = torch.randn(n, d, generator=gen, dtype=torch.float64).to(dtype)
    y = torch.where(torch.rand(n, generator=gen) < 0.5, -1.0, 1.0).to(dtype)
    return X, y


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_perceptron_grad_is_autograds(dtype, gen):
    X, y = data(gen, dtype)
    w = torch.randn(3, generator=gen, dtype=torch.float64).to(dtype).requires_grad_()
    idx = torch.tensor([0, 5, 5, 7])
    torch.relu(-y[idx] * (X[idx] @ w)).mean().backward()
    got = ref.perceptron_grad(w.detach(), X, y, idx)
    assert got.dtype == dtype
    torch.testing.assert_close(got, w.grad)


def test_perceptron_steps_of_one_are_sklearns(gen):
    X, y = data(gen, torch.float64, n=30)
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(
        X.numpy(), y.numpy()
    )
    w = torch.zeros(3, dtype=torch.float64)
    for i in range(30):
        w = w - ref.perceptron_grad(w, X, y, torch.tensor([i]))
    np.testing.assert_allclose(w.numpy(), model.coef_[0])


def test_perceptron_grad_in_batches_is_the_loop(gen):
    X, y = data(gen, torch.float64)
    w = torch.randn(2, 4, 3, generator=gen, dtype=torch.float64)
    idx = torch.arange(12)
    loop = torch.stack([torch.stack([ref.perceptron_grad(v, X, y, idx) for v in row]) for row in w])
    torch.testing.assert_close(ref.perceptron_grad(w, X, y, idx), loop)


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize(("n", "B"), [(10, 3), (9, 3), (2, 5), (7, 1), (45, 8)])
def test_batch_report_counts_as_torchs_data_loader(n, B, drop_last):
    loader = torch.utils.data.DataLoader(range(n), batch_size=B, drop_last=drop_last, shuffle=True)
    report = ref.batch_report(n, B, 0, drop_last)
    assert report["sizes"] == [len(b) for b in loader]
    assert sum(report["sizes"]) == (n - n % B if drop_last else n)


def test_sgd_is_the_written_out_recursion(gen):
    X, y = data(gen, torch.float64)
    w = w0 = torch.randn(3, generator=gen, dtype=torch.float64)
    batches = [torch.tensor([0, 1]), torch.tensor([7]), torch.tensor([3, 4, 5])]
    path = ref.sgd_least_squares(X, y, w0, 0.3, 0.5, batches)
    before = w0.clone()
    for t, b in enumerate(batches):
        residual = X[b] @ w - y[b]
        w = w - 0.3 / (1 + 0.5 * t) * (X[b] * residual[:, None]).mean(0)
        torch.testing.assert_close(path[t + 1], w)
    assert torch.equal(w0, before) and torch.equal(path[0], w0)
    assert ref.sgd_least_squares(X, y, w0, 0.3, 0.5, []).shape == (1, 3)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("n", "B"), [(5, 1), (5, 2), (5, 5), (4, 3)])
def test_grad_variance_is_the_enumeration(n, B, dtype, gen):
    G = torch.randn(n, 2, generator=gen, dtype=torch.float64).to(dtype)
    with_repeats = torch.stack([G[list(c)].mean(0) for c in itertools.product(range(n), repeat=B)])
    without = torch.stack([G[list(c)].mean(0) for c in itertools.combinations(range(n), B)])
    torch.testing.assert_close(ref.grad_variance(G, B, True), with_repeats.var(0, correction=0))
    torch.testing.assert_close(ref.grad_variance(G, B, False), without.var(0, correction=0))


def test_grad_variance_takes_a_batch(gen):
    G = torch.randn(3, 6, 2, generator=gen)
    torch.testing.assert_close(
        ref.grad_variance(G, 2, False), torch.stack([ref.grad_variance(g, 2, False) for g in G])
    )


def test_cosine_is_torchs_after_the_warmup():
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.4)
    torchs = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=20, eta_min=0.01)
    want = []
    for _ in range(21):
        want.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        torchs.step()
    got = ref.lr_schedule(torch.arange(5, 26).double(), 0.4, 5, 25, "cosine", 0.01)
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64))


def test_rsqrt_is_the_transformers_rule():
    d, warmup = 512, 4000
    t = torch.tensor([0, 1, 17, 3999, 4000, 4001, 90_000]).double()
    want = [0.0] + [d**-0.5 * min(s**-0.5, s * warmup**-1.5) for s in t[1:].tolist()]
    got = ref.lr_schedule(t, (d * warmup) ** -0.5, warmup, 100_000, "rsqrt")
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["cosine", "rsqrt"])
def test_schedule_rises_to_base_and_then_falls(kind):
    rates = ref.lr_schedule(torch.arange(60), 0.5, 10, 40, kind, 0.1 * (kind == "cosine"))
    assert rates[0] == 0 and math.isclose(rates[10], 0.5, rel_tol=1e-6)
    assert (rates.diff()[:10] > 0).all() and (rates.diff()[10:] <= 0).all()
    if kind == "cosine":
        torch.testing.assert_close(rates[40:], torch.full((20,), 0.1, dtype=torch.float64))


def test_schedule_without_warmup_starts_at_base():
    assert ref.lr_schedule(torch.arange(3), 0.5, 0, 10, "cosine")[0] == 0.5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_accumulate_is_autograds_large_batch(dtype, gen):
    X, y = data(gen, dtype)
    w = torch.randn(3, generator=gen, dtype=torch.float64).to(dtype).requires_grad_()
    batches = [torch.tensor([0, 1, 2, 3]), torch.tensor([9]), torch.tensor([5, 6])]
    rows = torch.cat(batches)
    (0.5 * (X[rows] @ w - y[rows]).square().mean()).backward()
    torch.testing.assert_close(ref.accumulate(X, y, w.detach(), batches), w.grad)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("c", [0.1, 1.0, 100.0])
def test_clip_by_norm_is_torchs(c, dtype, gen):
    shapes = [(3, 2), (4,), ()]
    grads = [torch.randn(s, generator=gen, dtype=torch.float64).to(dtype) for s in shapes]
    before = [g.clone() for g in grads]
    parameters = [torch.zeros_like(g, requires_grad=True) for g in grads]
    for p, g in zip(parameters, grads, strict=True):
        p.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(parameters, c)
    for got, p, old, g in zip(ref.clip_by_norm(grads, c), parameters, before, grads, strict=True):
        torch.testing.assert_close(got, p.grad, rtol=2e-5, atol=1e-6)  # torch adds 1e-6 to the norm
        assert got.dtype == dtype and torch.equal(g, old)


def test_clip_by_norm_leaves_zero_alone():
    assert torch.equal(ref.clip_by_norm([torch.zeros(2)], 1.0)[0], torch.zeros(2))


def test_references_run_where_no_value_can_be_read():
    """On the meta device an .item() or a stray device fails."""
    X, y, w = (torch.empty(s, device="meta") for s in [(6, 3), (6,), (3,)])
    idx = torch.empty(2, dtype=torch.long, device="meta")
    assert ref.perceptron_grad(w, X, y, idx).shape == (3,)
    assert ref.accumulate(X, y, w, [idx, idx]).shape == (3,)
    assert ref.grad_variance(X, 2, False).shape == (3,)
    assert ref.lr_schedule(w, 0.1, 2, 5, "cosine").shape == (3,)
    assert [g.shape for g in ref.clip_by_norm([X, w], 1.0)] == [X.shape, w.shape]

"""The references of stochastic training against sklearn, torch and brute force; what its pictures tell."""

import itertools
import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import Perceptron

from descent.pictures.optimisation import stochastic_training as st
from solutions import notebook_module
from tests.notebooks import controls

NOTEBOOK = "03_optimisation/03_stochastic_training"
ref = notebook_module(NOTEBOOK, "reference")


@pytest.fixture
def rng():
    return np.random.default_rng(4)


# ------------------------------------------------------------------------------------ references


def test_perceptron_steps_of_one_are_sklearns(rng):
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30)
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(X, y)
    w = torch.zeros(3, dtype=torch.float64)
    for i in range(30):
        w = w - ref.perceptron_grad(w, torch.tensor(X), torch.tensor(y), torch.tensor([i]))
    np.testing.assert_allclose(w.numpy(), model.coef_[0])


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize(("n", "B"), [(10, 3), (9, 3), (2, 5), (7, 1), (45, 8)])
def test_batch_report_counts_as_torchs_data_loader(n, B, drop_last):
    loader = torch.utils.data.DataLoader(range(n), batch_size=B, drop_last=drop_last, shuffle=True)
    assert ref.batch_report(n, B, 0, drop_last)["sizes"] == [len(b) for b in loader]


def ran(lengths, patience=9, **more):
    """A run with rate 1 over rows of these lengths, one an epoch, from 5: the scores are their squares."""
    X = torch.tensor([[r, 0.0] for r in lengths], dtype=torch.float64)
    given = dict(X=X, goal=torch.zeros(2), w0=torch.tensor([0.0, 5.0]), lr0=1.0, slowing=0.0)
    given |= dict(deals=[[torch.tensor([i])] for i in range(len(X))], max_epochs=len(X))
    return ref.train(**given, patience=patience) | more


def test_a_run_is_the_written_out_recursion(rng):
    X, w0 = torch.tensor(rng.normal(size=(6, 2))), torch.tensor(rng.normal(size=2))
    deals = [[torch.tensor([0, 1]), torch.tensor([5])], [torch.tensor([2, 3, 4])]]
    told = ref.train(X, X.mean(0), w0, deals, 0.4, 0.5, 2, 5)
    w, t, scores = w0, 0, [float((w0 - X.mean(0)).square().sum())]
    for batches in deals:
        for idx in batches:
            w, t = w - 0.4 / (1 + 0.5 * t) * (w - X[idx].mean(0)), t + 1
        scores.append(float((w - X.mean(0)).square().sum()))
    np.testing.assert_allclose(told["scores"], scores)
    assert told["updates"] == 3


@pytest.mark.parametrize(
    ("lengths", "patience", "epochs", "best"),
    [
        ([3, 1, 2, 2], 1, 3, 1),
        ([3, 1, 2, 0.5], 1, 3, 1),
        ([3, 1, 2, 0.5], 2, 4, 0.5),
        ([3, 3, 3, 1], 2, 3, 3),
        ([6, 7, 8], 3, 3, 5),  # the start
        ([3, math.nan, 2], 1, 2, 3),
    ],
)
def test_a_run_ends_when_patience_does_and_keeps_the_best(lengths, patience, epochs, best):
    told = ran(lengths, patience)
    assert told["updates"] == told["epochs_dealt"] == epochs
    assert told["best"].abs().max() == best and len(told["scores"]) == epochs + 1


@pytest.mark.parametrize(("n", "B"), [(5, 1), (5, 2), (5, 5), (4, 3)])
def test_grad_variance_is_the_enumeration(n, B, rng):
    G = torch.tensor(rng.normal(size=(n, 2)))
    put_back = torch.stack([G[list(c)].mean(0) for c in itertools.product(range(n), repeat=B)])
    dealt = torch.stack([G[list(c)].mean(0) for c in itertools.combinations(range(n), B)])
    torch.testing.assert_close(ref.grad_variance(G, B, True), put_back.var(0, correction=0))
    torch.testing.assert_close(ref.grad_variance(G, B, False), dealt.var(0, correction=0))


def test_root_is_the_transformers_rule():
    d, warmup = 512, 4000
    t = torch.tensor([0, 1, 17, 3999, 4000, 4001, 90_000]).double()
    want = [0.0] + [d**-0.5 * min(s**-0.5, s * warmup**-1.5) for s in t[1:].tolist()]
    got = ref.lr_schedule(t, (d * warmup) ** -0.5, warmup, "root", warmup)
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["cosine", "steps", "inverse", "root"])
def test_a_schedule_climbs_to_base_and_never_again(kind):
    rates = ref.lr_schedule(torch.arange(80), 0.5, 10, kind, 40, 0.1)
    assert rates[0] == 0 and math.isclose(rates[10], 0.5, rel_tol=1e-6)
    assert (rates.diff()[:10] > 0).all() and (rates.diff()[10:] <= 0).all()
    at = {"cosine": (0.3, 0.1, 0.1), "steps": (0.5, 0.05, 0.005)}
    at |= {"inverse": (1 / 3, 0.25, 1 / 6), "root": (0.5 * 1.5**-0.5, 0.5**1.5, 0.5 * 3**-0.5)}
    late = ref.lr_schedule(torch.tensor([30, 50, 90]), 0.5, 10, kind, 40, 0.1)
    np.testing.assert_allclose(late, at[kind])


def test_accumulated_gradients_are_autograds(rng):
    X, y = torch.tensor(rng.normal(size=(8, 3))), torch.tensor(rng.normal(size=8))
    w = torch.tensor(rng.normal(size=3)).requires_grad_()
    batches = [torch.tensor([0, 1, 2, 3]), torch.tensor([7]), torch.tensor([5, 6])]
    chosen = torch.cat(batches)
    (0.5 * (X[chosen] @ w - y[chosen]).square().mean()).backward()
    torch.testing.assert_close(ref.accumulate(X, y, w.detach(), batches), w.grad)


# -------------------------------------------------------------------------------- what is computed


def test_the_digits_gradient_is_torchs():
    net, idx = st.digits(), np.arange(40)
    w = torch.tensor(net.start(3), requires_grad=True)
    U, a, V, b = w[:4096].view(64, 64), w[4096:4160], w[4160:4800].view(64, 10), w[4800:]
    scores = torch.relu(torch.tensor(net.X[idx]) @ U + a) @ V + b
    torch.nn.functional.cross_entropy(scores, torch.tensor(net.y[idx])).backward()
    np.testing.assert_allclose(net.grad(net.start(3), idx), w.grad, atol=1e-12)
    held = st.Digits(net.X[idx], net.y[idx], (net.X[idx], net.y[idx]), net.new)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(net.y[idx])).item()
    assert held.score(net.start(3)) == pytest.approx(loss)


def test_a_dead_unit_is_counted_out():
    net = st.digits()
    w = net.start()
    w[4096:4160] = -1e3  # no sum is ever positive
    assert net.alive(w) == 0 and net.alive(net.start()) > 55


def test_expected_gap_is_the_mean_of_simulated_runs(rng):
    lam, spread, rates = np.array([0.5, 2.0]), 1.5, [0.3, 0.2, 0.1, 0.1]
    w = np.full((200_000, 2), 2.0)
    for rate in rates:
        w = w - rate * lam * (w - np.sqrt(spread) * rng.normal(size=w.shape))
    got = st.expected_gap(lam, spread, 4.0, rates)
    assert got[0] == pytest.approx(0.5 * 4 * lam.sum())
    assert got[-1] == pytest.approx((lam * w**2 / 2).sum(axis=1).mean(), rel=0.02)


def test_loss_after_epoch_is_the_recursion():
    for B, rate in ((1, 0.01), (16, 0.3), (64, 1.0)):
        gap = st.expected_gap([1.0], 0.7, 9.0, np.full(64 // B, rate), B)
        assert st.loss_after_epoch(B, rate, n=64, spread=0.7) == pytest.approx(gap[-1])


def test_noisy_quartic_escapes_above_the_threshold_and_not_below():
    assert np.isfinite(st.noisy_quartic(np.full(50, 0.15), noise=0.0)).all()
    lost = st.noisy_quartic(np.full(50, 0.21), noise=0.0)
    assert len(lost) == 51 and lost[-1] == math.inf


# --------------------------------------------------------------------------------- what is told


def test_the_deal_counts_updates_and_rows_left_out():
    for B, drop, updates, missed in ((4, True, 15, 2), (4, False, 18, 0), (12, False, 6, 0)):
        facts = controls.explorer(NOTEBOOK, "deal,", B=B, drop_last=drop).words.facts
        assert (facts["updates"], facts["missed"]) == (updates, missed)
    facts = controls.explorer(NOTEBOOK, "deal,", B=12).words.facts
    assert facts["missed"] == 10 and facts["never"] < 10


def test_batches_point_the_wrong_way_near_the_minimum_unless_they_are_large():
    def wrong(**moved):
        return controls.explorer(NOTEBOOK, "draw_page", **moved).words.facts["wrong"]

    assert wrong(B=5) < wrong(B=5, x=0.1, z=0.65)
    assert wrong(B=160, x=-0.2, z=0.8) < wrong(B=5, x=-0.2, z=0.8)
    words = controls.explorer(NOTEBOOK, "draw_page", page=8).words
    A, y = st.body_mass_line()
    rng = np.random.default_rng(3)
    rows = [rng.permutation(442)[:10] for _ in range(8)][7]
    away = np.linalg.norm(st.least_squares(A[rows], y[rows]) - st.least_squares(A, y))
    assert words.facts["away"] == pytest.approx(away)


def test_the_price_of_gradient_descent_is_n_a_step():
    def prices(**moved):
        told = controls.explorer(NOTEBOOK, "draw_cost", **moved).words.facts["told"]
        return {one.facts["label"]: one.facts.get("cost", math.inf) for one in told}

    few, many = prices(n=3), prices(n=300)
    assert many["gradient descent"] == 100 * few["gradient descent"]
    assert min(few, key=few.get) == "gradient descent" != min(many, key=many.get)
    assert prices(n=300, gap=0.03)["SGD, constant η"] == math.inf


def test_a_warm_up_saves_a_bold_run():
    lost = controls.explorer(NOTEBOOK, "design,", base=0.3, warmup=0).words.facts
    saved = controls.explorer(NOTEBOOK, "design,", base=0.3, warmup=40).words.facts
    assert lost["step"] < 10 and saved["end"] < 0.1 and saved["high"] == pytest.approx(0.3)
    ends = [
        controls.explorer(NOTEBOOK, "design,", kind=kind, base=0.1).words.facts["end"]
        for kind in ("cosine", "root")
    ]
    assert ends[0] < ends[1]


def test_rows_move_the_critical_batch_size_and_noise_hardly():
    def reach(**moved):
        return controls.explorer(NOTEBOOK, "draw_batch_rate_map", **moved).words.facts["reach"]

    assert reach(n=256) < reach(n=4096) < reach(n=16384)
    assert abs(math.log2(reach(spread=10.0) / reach(spread=0.1))) <= 1


def test_the_variance_picture_tells_the_share():
    G = np.random.default_rng(0).normal(size=(1000, 2))
    _, words = st.draw_variance(
        lambda G, B, put: ref.grad_variance(torch.tensor(G), B, put).numpy(), G
    )
    assert words.facts["share"] == pytest.approx(750 / 999) and words.facts["off"] < 0.15

"""The references of stochastic training against sklearn, torch and brute force."""

import itertools
import math
import re

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from sklearn.linear_model import Perceptron

from descent import data
from descent.pictures.optimisation import stochastic_training as st
from descent.widgets import Explorer
from solutions import notebook_module

ref = notebook_module("03_optimisation/03_stochastic_training", "reference")


DTYPES = [torch.float32, torch.float64]


@pytest.fixture
def gen():
    return torch.Generator().manual_seed(5)


def rows(gen, dtype, n=12, d=3):
    X = torch.randn(n, d, generator=gen, dtype=torch.float64).to(dtype)
    y = torch.where(torch.rand(n, generator=gen) < 0.5, -1.0, 1.0).to(dtype)
    return X, y


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_perceptron_grad_is_autograds(dtype, gen):
    X, y = rows(gen, dtype)
    w = torch.randn(3, generator=gen, dtype=torch.float64).to(dtype).requires_grad_()
    idx = torch.tensor([0, 5, 5, 7])
    torch.relu(-y[idx] * (X[idx] @ w)).mean().backward()
    got = ref.perceptron_grad(w.detach(), X, y, idx)
    assert got.dtype == dtype
    torch.testing.assert_close(got, w.grad)


def test_perceptron_steps_of_one_are_sklearns(gen):
    X, y = rows(gen, torch.float64, n=30)
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None).fit(
        X.numpy(), y.numpy()
    )
    w = torch.zeros(3, dtype=torch.float64)
    for i in range(30):
        w = w - ref.perceptron_grad(w, X, y, torch.tensor([i]))
    np.testing.assert_allclose(w.numpy(), model.coef_[0])


def test_perceptron_grad_in_batches_is_the_loop(gen):
    X, y = rows(gen, torch.float64)
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
    X, y = rows(gen, torch.float64)
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
    X, y = rows(gen, dtype)
    w = torch.randn(3, generator=gen, dtype=torch.float64).to(dtype).requires_grad_()
    batches = [torch.tensor([0, 1, 2, 3]), torch.tensor([9]), torch.tensor([5, 6])]
    chosen = torch.cat(batches)
    (0.5 * (X[chosen] @ w - y[chosen]).square().mean()).backward()
    torch.testing.assert_close(ref.accumulate(X, y, w.detach(), batches), w.grad)


def test_clip_by_norm_leaves_zero_alone():
    assert torch.equal(ref.clip_by_norm([torch.zeros(2)], 1.0)[0], torch.zeros(2))


# ------------------------------------------------------------ what it draws


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def numbers(text):
    return [float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", text)]


def line(n=80):
    rng = np.random.default_rng(0)
    A = np.c_[np.ones(n), rng.normal(size=n)]
    return A, A @ [0.2, 0.6] + 0.8 * rng.normal(size=n)


def cut(n, B, rng, drop_last=False):
    order = rng.permutation(n)
    return [order[k : k + B] for k in range(0, n, B) if k + B <= n or not drop_last]


def descend(grad, w0, lr, batches):
    path = [w0]
    for t, b in enumerate(batches):
        path.append(path[-1] - lr(t) * grad(path[-1], b))
    return np.array(path)


# ── pure layer ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("replace", [True, False])
def test_batch_means_have_the_exact_variance(replace, rng):
    G = rng.normal(size=(30, 2))
    means = st.batch_means(G, 10, replace=replace, count=20_000)
    exact = G.var(axis=0) / 10 * (1 if replace else 20 / 29)
    np.testing.assert_allclose(
        means.var(axis=0), exact, rtol=0.06
    )  # five standard errors of a variance
    np.testing.assert_allclose(means.mean(axis=0), G.mean(axis=0), atol=0.02)


def test_a_batch_without_replacement_of_everything_is_the_mean(rng):
    G = rng.normal(size=(7, 3))
    np.testing.assert_allclose(
        st.batch_means(G, 7, replace=False, count=3), np.tile(G.mean(axis=0), (3, 1))
    )


def test_batch_of_rows_marks_the_rows_left_out():
    assert st.batch_of_rows([np.array([3, 0]), np.array([1, 4])], 5).tolist() == [0, 1, -1, 0, 1]


def test_expected_gap_is_the_mean_of_simulated_runs(rng):
    lam, spread, rates = np.array([0.5, 2.0]), 1.5, [0.3, 0.2, 0.1, 0.1]
    w = np.full((200_000, 2), 2.0)
    for rate in rates:
        w = w - rate * lam * (w - np.sqrt(spread) * rng.normal(size=w.shape))
    got = st.expected_gap(lam, spread, 4.0, rates)
    assert got[0] == pytest.approx(0.5 * 4 * lam.sum())
    assert got[-1] == pytest.approx((lam * w**2 / 2).sum(axis=1).mean(), rel=0.02)


def test_expected_gap_without_noise_is_gradient_descent():
    lam = np.array([0.1, 1.0])
    got = st.expected_gap(lam, 0.0, 4.0, np.full(50, 0.7))
    want = [(lam * 4 * (1 - 0.7 * lam) ** (2 * k)).sum() / 2 for k in range(51)]
    np.testing.assert_allclose(got, want)


def test_loss_after_epoch_is_the_recursion():
    for B, rate in ((1, 0.01), (16, 0.3), (64, 1.0)):
        e2 = st.mean_square(1.0, 0.7, B, 3.0, np.full(64 // B, rate))
        assert st.loss_after_epoch(B, rate, n=64, spread=0.7) == pytest.approx(e2[-1] / 2)


def test_body_mass_line_is_standardised():
    A, y = st.body_mass_line(data.diabetes())
    assert A.shape == (442, 2) and (A[:, 0] == 1).all()
    for v in (A[:, 1], y):
        assert v.mean() == pytest.approx(0, abs=1e-12) and v.std() == pytest.approx(1)


def test_shuffled_floor_is_the_recursion_where_an_epoch_forgets():
    # With rate 1 only the last batch counts: B of n different rows.
    got = st.shuffled_floor(1.0, n=64, B=16)
    assert got == pytest.approx(1 / 16 * 48 / 63, rel=0.05)
    assert st.shuffled_floor(0.5, n=64, B=64) < 1e-9


def test_best_rate_grows_in_proportion_to_small_batches():
    assert st.best_rate(32) / st.best_rate(8) == pytest.approx(4, rel=0.1)


def test_noisy_quartic_escapes_above_the_threshold_and_not_below():
    assert np.isfinite(st.noisy_quartic(np.full(50, 0.15), noise=0.0)).all()
    assert not np.isfinite(st.noisy_quartic(np.full(50, 0.21), noise=0.0)).all()


def test_last_loss_is_infinite_exactly_where_the_step_is_too_long():
    assert st.last_loss(np.array([2.0, 3.0]), 2, 0.1) < 1e-6
    assert st.last_loss(np.array([2.0, 3.0]), 2, 1.0) == np.inf


def test_batch_minimisers_solve_the_normal_equations():
    A, y = line()
    rng = np.random.default_rng(0)
    for w in st.batch_minimisers(A, y, 10, 3):
        rows = rng.permutation(len(y))[:10]
        np.testing.assert_allclose(A[rows].T @ (A[rows] @ w - y[rows]), 0, atol=1e-12)


def test_best_race_takes_the_rate_that_wins_after_one_epoch():
    A, y = line()

    def loss(w):
        return np.mean((A @ w - y) ** 2) / 2

    def grad(w, b):
        return A[b].T @ (A[b] @ w - y[b]) / len(b)

    rate, curve = st.best_race(loss, grad, A.shape, 80, [0.01, 0.5, 3.0])
    assert rate == 0.5 and len(curve) == 6
    assert curve[1] == pytest.approx(loss(-0.5 * grad(np.zeros(2), np.arange(80))))


def test_two_clouds_are_separable():
    points, labels, w0 = st.two_clouds()
    w = w0
    for _ in range(50):
        for x, label in zip(points, labels, strict=True):
            w = w + label * x * (label * (x @ w) <= 0)
    assert (labels * (points @ w) > 0).all() and (labels * (points @ w0) <= 0).sum() > 5


# ── controls ─────────────────────────────────────────────────────────────────────────────────────


def test_epoch_widget_counts_updates_and_rows_left_out():
    def deal(B, E, drop_last):
        rng = np.random.default_rng(2)
        return st.draw_epochs([cut(22, B, rng, drop_last) for _ in range(E)], 22, B)

    widget = Explorer(
        deal,
        dict(
            B=ipywidgets.IntSlider(4, min=1, max=22),
            E=ipywidgets.IntSlider(3, min=1, max=4),
            drop_last=ipywidgets.Checkbox(True),
        ),
    )
    assert numbers(widget.words) == [22, 4, 3, 5, 15, 60, 2]
    widget.controls["drop_last"].value = False
    assert numbers(widget.words) == [22, 4, 3, 6, 18, 66, 0]
    widget.controls["B"].value = 12
    assert numbers(widget.words) == [22, 12, 3, 2, 6, 66, 0]
    widget.controls["E"].value = 1
    assert numbers(widget.words) == [22, 12, 1, 2, 2, 22, 0]


def test_walk_widget_calms_with_larger_batches_and_with_smaller_steps():
    A, y = line()

    def grad(w, b):
        return A[b].T @ (A[b] @ w - y[b]) / len(b)

    def walk(B, rate):
        rng, batches = np.random.default_rng(0), []
        while len(batches) < 120:
            batches += cut(80, B, rng)
        path = descend(grad, np.array([-1.5, -0.8]), lambda t: rate, batches[:120])
        return st.draw_walk(path, A, y, B=B, rate=rate)

    widget = Explorer(
        walk,
        dict(
            B=ipywidgets.SelectionSlider(options=[1, 16, 80]),
            rate=ipywidgets.FloatSlider(0.4, min=0.02, max=0.6, step=0.02),
        ),
    )

    def wander():
        return numbers(widget.words)[3]

    at_one = wander()
    widget.controls["B"].value = 16
    assert wander() < 0.6 * at_one
    widget.controls["B"].value = 80
    assert wander() < 1e-3
    widget.controls["B"].value, widget.controls["rate"].value = 1, 0.1
    assert wander() < 0.8 * at_one


def test_landscape_widget_counts_wrong_ways_and_tells_the_distance():
    A, y = line()
    widget = Explorer(
        lambda B, page, place: st.draw_page(A, y, B, page, place),
        dict(
            B=ipywidgets.SelectionSlider(options=[1, 5, 40], value=5),
            page=ipywidgets.IntSlider(0, min=0, max=19),
            place=ipywidgets.Dropdown(options=["far from the minimum", "near the minimum"]),
        ),
    )
    rng = np.random.default_rng(3)
    rows = [rng.permutation(80)[:5] for _ in range(60)]
    best = np.linalg.solve(A.T @ A, A.T @ y)
    away = [np.linalg.norm(np.linalg.solve(A[b].T @ A[b], A[b].T @ y[b]) - best) for b in rows]
    assert numbers(widget.words)[-1] == pytest.approx(away[0], abs=0.006)
    widget.controls["page"].value = 7
    assert numbers(widget.words)[-1] == pytest.approx(away[7], abs=0.006)
    far = numbers(widget.words)[1]
    widget.controls["place"].value = "near the minimum"
    near = numbers(widget.words)[1]
    assert near > far + 5
    widget.controls["B"].value = 40
    assert numbers(widget.words)[1] < near
    widget.controls["B"].value = 1
    assert "whole line of minima" in widget.words


def test_cost_widget_charges_gradient_descent_n_a_step():
    full, runs = np.array([4.0, 2.0, 1.0, 0.5]), {"SGD": np.array([4.0, 3.0, 0.9, 0.8])}
    widget = Explorer(
        lambda n, gap: st.draw_cost(n, full, runs, gap),
        dict(
            n=ipywidgets.SelectionSlider(options=[3, 1000]),
            gap=ipywidgets.SelectionSlider(options=[1.0, 0.6]),
        ),
    )
    assert "gradient descent needs 6; SGD needs 2" in widget.words
    widget.controls["n"].value = 1000
    assert "gradient descent needs 2,000; SGD needs 2" in widget.words
    widget.controls["gap"].value = 0.6
    assert "gradient descent needs 3,000; SGD does not get there" in widget.words


def test_schedule_widget_shows_where_a_run_blows_up():
    def design(base, warmup):
        t = np.arange(200)
        rates = base * np.minimum(1, t / warmup)
        return st.draw_schedule(rates, f"constant, warm-up {warmup}", st.noisy_quartic(rates))

    widget = Explorer(
        design,
        dict(
            base=ipywidgets.FloatSlider(0.3, min=0.05, max=0.6, step=0.05),
            warmup=ipywidgets.IntSlider(1, min=1, max=60),
        ),
    )
    assert "blows up at step" in widget.words
    widget.controls["warmup"].value = 40
    assert "final loss" in widget.words and "highest value is 0.300" in widget.words
    floor = numbers(widget.words)[-1]
    widget.controls["base"].value = 0.1
    assert numbers(widget.words)[-1] < floor


def test_batch_rate_map_moves_the_critical_batch_size():
    controls = dict(
        n=ipywidgets.SelectionSlider(options=[256, 4096], value=4096),
        spread=ipywidgets.SelectionSlider(options=[1.0, 10.0]),
    )
    widget = Explorer(st.draw_batch_rate_map, controls)

    def reach():
        return int(re.search(r"up to B = (\d+)", widget.words).group(1))

    assert reach() == 512
    early, late = re.search(r"power (\d\.\d+), .* power (\d\.\d+)", widget.words).groups()
    assert float(early) == pytest.approx(1, abs=0.1) and float(late) < 0.5
    before = widget.words
    widget.controls["spread"].value = 10.0
    assert widget.words != before and "variance 10" in widget.words
    widget.controls["n"].value = 256
    assert reach() == 64
    assert "between 32 and 256" in widget.words  # no batch is larger than the data


# ── figures of the student's own answers ─────────────────────────────────────────────────────────


def test_epochs_race_ranks_fresh_rows_first():
    ends = {n: curve[-50:].mean() for n, curve in st.epochs_race(descend, cut).items()}
    assert list(ends) == sorted(ends, key=ends.get) == [4000, 400, 100, 60]
    assert ends[4000] > 1  # the noise


def test_average_figure_tells_the_two_gaps(rng):
    A, y = line()
    best = st.least_squares(A, y)
    path = best + rng.normal(size=(400, 2))
    _, words = st.draw_average(path, A, y, skip=100)
    typical, mean = numbers(words)[:2]
    H = A.T @ A / len(y)
    assert typical == pytest.approx(np.trace(H) / 2, rel=0.25)
    assert mean < typical / 20


def test_clipping_figure_tells_the_angle():
    gradient, free, held = np.array([3.0, 1.0]), [1.25, -237.0], [1.25, 1.0]
    _, words = st.draw_clipping(gradient, 1.0, free, held)
    assert f"{45 - np.degrees(np.arctan(1 / 3)):.0f} degrees" in words


def test_clock_figure_tells_who_leads_by_epochs_and_by_seconds():
    timed = {
        "B = 1": ([1.0, 0.5], [1.0, 2.0]),
        "B = 32": ([1.5, 0.9, 0.1], [0.1, 0.2, 0.3]),
        "B = 9": ([2.0, 1.9, 1.8], [0.1, 0.2, 0.3]),
    }
    _, words = st.draw_clock(timed)
    assert words == (
        "After 2 epochs the test loss is lowest for B = 1, "
        "after 0.3 seconds on the clock for B = 32."
    )
    slow = timed | {"B = 32": (timed["B = 32"][0], [3.0, 6.0, 9.0])}
    assert st.draw_clock(slow)[1].endswith("after 0.3 seconds on the clock for B = 9.")


def test_variance_figure_tells_the_share():
    G = np.random.default_rng(0).normal(size=(569, 2))

    def exact(G, B, replace):
        return G.var(axis=0) / B * (1 if replace else (len(G) - B) / (len(G) - 1))

    _, words = st.draw_variance(exact, G)
    assert "0.50 of what it is" in words

"""Pictures of 03_optimisation/03_stochastic_training: computations, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullLocator

from descent import plots

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _plain_powers(*axes):
    """Labels 10ⁿ at whole powers of ten as plain text: mathematical text takes most of the time of a redraw."""
    for axis in axes:
        axis.set_major_formatter(lambda v, _: "10" + f"{np.log10(v):.0f}".translate(_SUPERSCRIPTS))
        axis.set_minor_locator(NullLocator())


def batch_means(G, B, *, replace, count, seed=0):
    """Means of `count` random batches of B rows of G (n, d) -> (count, d)."""
    rng = np.random.default_rng(seed)
    n = len(G)
    if replace:
        idx = rng.integers(0, n, (count, B))
    else:
        idx = rng.random((count, n)).argpartition(B - 1, axis=1)[:, :B]
    return G[idx].mean(axis=1)


def body_mass_line(patients):
    """A (n, 2) with columns 1 and the standardised body mass index, and the standardised progression (n,)."""
    index, y = patients.X[:, patients.names.index("bmi")], patients.y
    A = np.c_[np.ones(len(y)), (index - index.mean()) / index.std()]
    return A, (y - y.mean()) / y.std()


def batch_of_rows(batches, n):
    """Number of the batch that each row belongs to, -1 for a row left out. -> (n,) integers."""
    owner = np.full(n, -1)
    for number, rows in enumerate(batches):
        owner[np.asarray(rows, dtype=int)] = number
    return owner


def least_squares(A, y):
    """Minimiser of |A w - y|^2 -> (d,)."""
    return np.linalg.lstsq(A, y, rcond=None)[0]


def expected_gap(curvature, spread, distance, rates, B=1):
    """E f(w_k) - min f of SGD on f_i(w) = ½ Σ_j λ_j (w_j - x_ij)², exactly, for k = 0 … len(rates).

    curvature λ (d,), spread: variance of the x_ij (a number; 0 for full gradients), distance: squared
    start distance along each axis (d,), rates (K,) -> (K + 1,).
    """
    lam, e2 = (
        np.asarray(curvature, float),
        np.broadcast_to(distance, np.shape(curvature)).astype(float),
    )
    gap = [lam @ e2 / 2]
    for rate in rates:
        e2 = (1 - rate * lam) ** 2 * e2 + (rate * lam) ** 2 * spread / B
        gap.append(lam @ e2 / 2)
    return np.array(gap)


def loss_after_epoch(B, rate, *, n=4096, spread=1.0, start=3.0):
    """Exact E loss above the minimum after n/B steps on f_i(w) = ½ (w - x_i)². Broadcasts over B and rate."""
    keep = (1 - rate) ** 2
    steps = n / B
    kept = keep**steps
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(keep == 1, steps, (1 - kept) / (1 - keep)) * rate**2 * spread / B
    return 0.5 * (kept * start**2 + noise)


def noisy_quartic(rates, *, start=3.0, noise=0.5, runs=40, seed=0):
    """Mean over runs of f(w) = ½ w² + ¼ w⁴ along SGD with gradient noise.

    rates (K,) -> (K + 1,); infinite once a run escapes.
    """
    rng = np.random.default_rng(seed)
    w = np.full(runs, start)
    losses = [w[0] ** 2 / 2 + w[0] ** 4 / 4]
    for rate in rates:
        w = w - rate * (w + w**3 + noise * rng.normal(size=runs))
        w = np.where(np.abs(w) > 1e3, np.inf, w)
        losses.append(np.mean(w**2 / 2 + w**4 / 4) if np.isfinite(w).all() else np.inf)
        w = np.where(np.isfinite(w), w, 1e3)
        if losses[-1] == np.inf:
            losses += [np.inf] * (len(rates) + 1 - len(losses))
            break
    return np.array(losses)


def two_clouds(seed=0):
    """40 labelled rows that a line through 0 separates, and a bad start. -> points (40, 2), labels (40,), w (2,)."""
    labels = np.repeat([1.0, -1.0], 20)
    points = np.random.default_rng(seed).normal(size=(40, 2)) + labels[:, None] * [2.0, 1.4]
    return points, labels, np.array([-1.0, 1.5])


def race(loss, grad, w0, n, B, rate, epochs=5, seed=0):
    """Losses after each epoch of SGD over shuffled batches, the start first. -> (epochs + 1,)."""
    rng, w = np.random.default_rng(seed), w0
    losses = [loss(w)]
    for _ in range(epochs):
        order = rng.permutation(n)
        for first in range(0, n, B):
            w = w - rate * grad(w, order[first : first + B])
        losses.append(loss(w))
    return np.array(losses)


def best_race(loss, grad, shape, B, rates, epochs=5):
    """(rate, losses after each epoch) of the rate with the lowest loss after one epoch. shape: (n, d) of the data."""
    n, d = shape
    first = [race(loss, grad, np.zeros(d), n, B, rate, 1)[-1] for rate in rates]
    rate = rates[int(np.argmin(first))]
    return rate, race(loss, grad, np.zeros(d), n, B, rate, epochs)


def last_loss(lengths, B, rate, epochs=20):
    """Mean of ½ (w x - x)² over x in lengths after SGD from w = 0, in batches of B in the order given.

    Infinite if w grows beyond a million.
    """
    w = 0.0
    for _ in range(epochs):
        for first in range(0, len(lengths), B):
            x = lengths[first : first + B]
            w = w - rate * np.mean(x * (w * x - x))
            if abs(w) > 1e6:
                return np.inf
    return float(np.mean((w * lengths - lengths) ** 2) / 2)


def batch_minimisers(A, y, B, count, seed=0):
    """Minimisers of the mean squared error on `count` batches of B different rows, B >= d. -> (count, d)."""
    rng = np.random.default_rng(seed)
    batches = (rng.permutation(len(y))[:B] for _ in range(count))
    return np.array([least_squares(A[b], y[b]) for b in batches])


def mean_square(lam, s2, B, start, rates):
    """E e_t² of e ← (1 - ηλ) e + ηλ ξ, Var ξ = s²/B, from e_0 = start, t = 0 … len(rates)."""
    e2 = [start**2]
    for rate in rates:
        e2.append((1 - rate * lam) ** 2 * e2[-1] + (rate * lam) ** 2 * s2 / B)
    return np.array(e2)


def shuffled_floor(rate, *, n, B, runs=400, epochs=40, seed=0):
    """Mean of e² over later steps of SGD on f_i(w) = ½ (w - x_i)² in shuffled epochs, x of variance 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    x, e, squares = (x - x.mean()) / x.std(), np.zeros(runs), []
    for epoch in range(epochs):
        order = rng.random((runs, n)).argsort(axis=1)
        for batch in x[order].reshape(runs, n // B, B).mean(axis=2).T:
            e = e + rate * (batch - e)
            if epoch >= epochs // 2:
                squares.append(np.mean(e**2))
    return float(np.mean(squares))


def best_rate(B, *, n=4096, spread=1.0):
    """The rate with the lowest `loss_after_epoch`, on a grid with steps of 1 %."""
    rates = np.exp(np.arange(np.log(1e-4), 0, 0.01))
    return float(rates[loss_after_epoch(B, rates, n=n, spread=spread).argmin()])


def epochs_race(sgd, minibatches, sizes=(4000, 400, 100, 60), updates=400, B=10, d=40, seed=1):
    """Test errors along the same number of updates on sets of different size. -> {n: (updates + 1,)}."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=d) / np.sqrt(d)
    fresh = rng.normal(size=(2000, d))
    fresh_y = fresh @ truth + rng.normal(size=2000)
    errors = {}
    for n in sizes:
        X = rng.normal(size=(n, d))
        y = X @ truth + rng.normal(size=n)
        batches = []
        while len(batches) < updates:
            batches += list(minibatches(n, B, rng))
        path = sgd(
            lambda w, idx, X=X, y=y: X[idx].T @ (X[idx] @ w - y[idx]) / len(idx),
            np.zeros(d),
            lambda t: 0.05,
            batches[:updates],
        )
        errors[n] = ((np.asarray(path) @ fresh.T - fresh_y) ** 2).mean(axis=1)
    return errors


def draw_race(curves, *, examples):
    """Losses after each epoch, curves {label: (epochs + 1,)}; `examples` rows make an epoch."""
    fig, ax = plt.subplots()
    for (label, loss), style, marker in zip(curves.items(), ["-", "--", ":"], "os^", strict=False):
        ax.plot(loss, linestyle=style, marker=marker, label=label)
    after_one = {label: loss[1] for label, loss in curves.items()}
    ax.set(
        xlabel=f"epochs (looks at all {examples} examples)",
        ylabel="training loss (nats)",
        yscale="log",
    )
    ax.set_title(
        "Loss after one look at the data: "
        + ", ".join(f"{value:.2f}" for value in after_one.values())
    )
    ax.legend()
    told = ", ".join(f"{label} {loss:.2f}" for label, loss in after_one.items())
    return (
        fig,
        f"Training loss after one epoch: {told}. All start at {next(iter(curves.values()))[0]:.2f}.",
    )


def draw_epochs(epochs, n, B):
    """Which batch each of n rows falls into, a line an epoch. epochs: a list of lists of index arrays."""
    owners = np.array([batch_of_rows(batches, n) for batches in epochs])
    fig, ax = plt.subplots(figsize=(7.2, 0.9 + 0.42 * len(epochs)))
    shown = np.ma.masked_less(owners, 0)
    ax.imshow(
        shown, aspect="auto", cmap="cividis", vmin=-2.5, vmax=max(1, owners.max()), alpha=0.55
    )
    for (row, column), number in np.ndenumerate(owners):
        ax.text(
            column, row, "–" if number < 0 else number + 1, ha="center", va="center", fontsize=9
        )
    ax.set_yticks(range(len(epochs)), [f"epoch {e + 1}" for e in range(len(epochs))])
    ax.set_xticks(range(0, n, 2))
    ax.set(xlabel="row of the data set (number in the cell: its batch)")
    ax.grid(False)
    per_epoch, left_out = len(epochs[0]), int((owners[0] < 0).sum())
    updates = sum(len(batches) for batches in epochs)
    ax.set_title(f"{per_epoch} updates an epoch, {updates} in all")
    seen = int((owners >= 0).sum())
    return fig, (
        f"n = {n}, B = {B}, {len(epochs)} epochs: {per_epoch} updates an epoch, {updates} in all, "
        f"{seen} examples seen, {left_out} left out in each epoch."
    )


def draw_walk(path, A, y, *, B, rate):
    """A path (steps + 1, 2) over the contours of the mean squared error of A w = y."""
    best = least_squares(A, y)

    def loss(W):
        return ((W @ A.T - y) ** 2).mean(axis=1) / 2

    fig, ax = plt.subplots(figsize=(5.0, 3.8))
    plots.contours(
        loss,
        ax,
        (best[0] - 2.6, best[0] + 2.6),
        (best[1] - 2.2, best[1] + 2.2),
        log=True,
        levels=10,
        points=40,
    )
    plots.path(path, ax)
    ax.plot(
        *best,
        "X",
        color=plots.BLACK,
        markersize=9,
        markeredgecolor="white",
        zorder=5,
        label="minimum",
    )
    tail = path[len(path) // 2 :]
    wander = float(np.sqrt(((tail - best) ** 2).sum(axis=1).mean()))
    ax.set(
        xlabel="intercept w₀",
        ylabel="slope w₁",
        title=f"B = {B}, η = {rate:g}: ends within {wander:.2f}",
    )
    ax.legend(loc="upper right")
    gap = float(loss(path[-1:])[0] - loss(best[None])[0])
    return fig, (
        f"Batches of {B}, step {rate:g}, {len(path) - 1} updates: over the second half the path is {wander:.3f} away "
        f"from the minimum (root mean square); its last loss is {gap:.4f} above the lowest."
    )


def draw_page(A, y, B, page, place, count=60):
    """Left: gradients of `count` batches. Right: the full loss (lines) and that of batch `page` (colour).

    place: "far from the minimum" or "near the minimum".
    """
    rng = np.random.default_rng(3)
    batches = [rng.permutation(len(y))[:B] for _ in range(count)]
    best, chosen = least_squares(A, y), batches[page]
    point = best + (np.array([-1.2, -0.9]) if place.startswith("far") else np.array([-0.1, 0.1]))
    grads = np.array([A[b].T @ (A[b] @ point - y[b]) / B for b in batches])
    full = A.T @ (A @ point - y) / len(y)
    wrong = int(np.sum(grads @ full <= 0))

    fig, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.4))
    left.plot(*grads.T, "o", markersize=3, label=f"{count} batches of {B}")
    left.plot(*grads[page], "D", color=plots.GREEN, markersize=7, label="this batch")
    left.plot(
        *full, "*", color=plots.VERMILION, markersize=14, markeredgecolor="white", label="all rows"
    )
    left.axhline(0, color="#888888", linewidth=0.8)
    left.axvline(0, color="#888888", linewidth=0.8)
    left.set(xlabel="∂/∂w₀", ylabel="∂/∂w₁", title=f"{wrong} of {count} point the wrong way")
    left.legend(fontsize=8, loc="best")

    xs, ys = best[0] + np.linspace(-1.6, 1.6, 30), best[1] + np.linspace(-1.6, 1.6, 30)
    W = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
    part = ((W @ A[chosen].T - y[chosen]) ** 2).mean(axis=1).reshape(30, 30) / 2
    whole = ((W - best) @ (A.T @ A / len(y)) * (W - best)).sum(axis=1).reshape(30, 30) / 2
    right.contourf(xs, ys, part, levels=8, cmap="cividis_r", alpha=0.55)
    right.contour(xs, ys, whole, levels=6, colors="#444444", linewidths=0.8)
    right.plot(
        *best,
        "X",
        color=plots.BLACK,
        markersize=9,
        markeredgecolor="white",
        label="minimum, all rows",
    )
    right.plot(*point, "s", color=plots.VERMILION, markersize=7, label="gradients taken here")
    title = "One row: a line of minima"
    away = np.nan
    if B >= 2:
        own = least_squares(A[chosen], y[chosen])
        away = float(np.linalg.norm(own - best))
        right.plot(
            *own,
            "D",
            color=plots.GREEN,
            markersize=8,
            markeredgecolor="white",
            label="minimum, this batch",
        )
        title = f"Its minimum is {away:.2f} away"
    right.set(
        xlim=(xs[0], xs[-1]),
        ylim=(ys[0], ys[-1]),
        xlabel="intercept w₀",
        ylabel="slope w₁",
        title=title,
    )
    right.legend(loc="upper right", fontsize=8, frameon=True)
    right.grid(False)
    said = (
        f"its minimum is {away:.2f} away from that of all rows"
        if B >= 2
        else "one row has a whole line of minima"
    )
    return (
        fig,
        f"B = {B}, {place}: {wrong} of {count} batch gradients point more than 90° away from "
        f"the full one. Batch {page + 1}: {said}.",
    )


def draw_cost(n, full, runs, target):
    """Gap against gradient evaluations: gradient descent (n a step) and SGD runs (one a step).

    full (K + 1,), runs {label: (K + 1,)}: gaps by step. target: the accuracy asked for.
    """
    fig, ax = plt.subplots()
    k = np.unique(np.geomspace(1, len(full) - 1, 120).astype(int))  # as many points as can be seen
    ax.plot(n * k, full[k], "-o", markevery=[0], label=f"gradient descent, n = {n}")
    price = {"gradient descent": _first_below(full, target) * n}
    for (label, gap), style in zip(runs.items(), ["--", ":", "-."], strict=False):
        ax.plot(k, gap[k], style, label=label)
        price[label] = _first_below(gap, target)
    ax.axhline(target, color="#888888", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 20), xlim=(1, 3e6))
    ax.set(xlabel="gradients of single examples computed", ylabel="expected gap  f(w) − min f")
    _plain_powers(ax.xaxis, ax.yaxis)
    winner = min(price, key=price.get)
    ax.set_title(
        f"Cheapest to a gap of {target:g}: {winner}"
        if np.isfinite(price[winner])
        else "None gets there"
    )
    ax.legend(loc="upper right")
    told = [
        f"{label} needs {p:,.0f}" if np.isfinite(p) else f"{label} does not get there"
        for label, p in price.items()
    ]
    return fig, f"n = {n}, a gap of {target:g}, in gradients of single examples: {'; '.join(told)}."


def _first_below(gap, target):
    below = np.flatnonzero(gap <= target)
    return float(below[0]) if len(below) else np.inf


def draw_schedule(rates, name, losses):
    """A schedule above the loss it leads to. rates (K,), losses (K + 1,), infinite where training blew up."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 4.4), sharex=True)
    top.plot(rates, color=plots.BLUE)
    top.set(ylabel="rate η(t)", title=f"Schedule: {name}", ylim=(0, 1.08 * max(rates)))
    alive = np.isfinite(losses)
    bottom.plot(np.flatnonzero(alive), losses[alive], color=plots.VERMILION, linestyle="--")
    if alive.all():
        final = float(losses[-20:].mean())
        said = f"final loss {final:.1e}"
    else:
        last = int(np.flatnonzero(alive)[-1])
        bottom.plot(last, min(losses[last], 300), "X", color=plots.BLACK, markersize=11)
        said = f"blows up at step {last + 1}"
    bottom.set(
        xlabel="step t",
        ylabel="mean loss",
        yscale="log",
        title=said[0].upper() + said[1:],
        ylim=(1e-3, 1e3),
    )
    _plain_powers(bottom.yaxis)
    return (
        fig,
        f"{name}: the rate starts at {rates[0]:.3f}, its highest value is {max(rates):.3f}, "
        f"it ends at {rates[-1]:.3f}; {said}.",
    )


def draw_batch_rate_map(spread, *, n=4096):
    """Loss after one epoch over batch size and rate, with the best rate of each B and the lines η ∝ B, η ∝ √B."""
    B = 2.0 ** np.arange(0, int(np.log2(min(n, 4096))) + 1)
    rate = np.logspace(-3.5, 0, 90)
    loss = loss_after_epoch(B[:, None], rate[None, :], n=n, spread=spread)
    best = rate[loss.argmin(axis=1)]
    anchor = 2  # both rules are anchored at B = 4
    fig, ax = plt.subplots(figsize=(5.6, 3.8))
    mesh = ax.pcolormesh(B, rate, np.log10(loss).T, cmap="cividis_r", shading="nearest")
    fig.colorbar(mesh, label="log₁₀ of the loss after one epoch")
    ax.plot(B, best, "o", color=plots.BLACK, markersize=5, zorder=4, label="best η for each B")
    for rule, power, style in (("η ∝ B", 1, "-"), ("η ∝ √B", 0.5, "--")):
        line = best[anchor] * (B / B[anchor]) ** power
        inside = line <= 1
        ax.plot(B[inside], line[inside], color=plots.BLACK, linewidth=3.6)  # a rim
        ax.plot(B[inside], line[inside], style, color="white", linewidth=2, label=rule)
    ax.set(xscale="log", yscale="log", xlabel="batch size B", ylabel="rate η", ylim=(rate[0], 1.2))
    _plain_powers(ax.xaxis, ax.yaxis)
    slopes = np.diff(np.log(best)) / np.diff(np.log(B))
    early, late = slopes[2:5].mean(), slopes[-3:].mean()
    near = np.abs(np.log(best / (best[anchor] * B / B[anchor]))) < np.log(1.5)
    reach = int(B[near].max())
    ax.set_title(f"η ∝ B is good up to about B = {reach}")
    ax.legend(loc="lower right", facecolor="#666666", frameon=True, labelcolor="white")
    ax.grid(False)
    return fig, (
        f"{n} examples, noise variance {spread:g}: between B = 4 and 32 the best rate grows like B to the power "
        f"{early:.2f}, between {B[-4]:.0f} and {B[-1]:.0f} like B to the power {late:.2f}. The linear rule "
        f"stays within a factor 1.5 of the best rate up to B = {reach}."
    )


def draw_clipping(vector, c, path_free, path_clipped):
    """Left: a gradient, clipped by norm and by value. Right: two descents on the cliff ½ (w²⁰ - 1)²."""

    def loss(w):
        return 0.5 * (np.asarray(w) ** 20 - 1) ** 2

    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    by_norm = vector * min(1, c / np.linalg.norm(vector))
    by_value = np.clip(vector, -c, c)
    turn = np.degrees(
        np.arccos(
            np.clip(vector @ by_value / np.linalg.norm(vector) / np.linalg.norm(by_value), -1, 1)
        )
    )
    circle = c * np.exp(1j * np.linspace(0, 2 * np.pi, 80))
    left.plot(circle.real, circle.imag, color="#888888", linewidth=0.8)
    left.plot([-c, c, c, -c, -c], [-c, -c, c, c, -c], ":", color="#888888")
    for arrow, style, label in (
        (vector, "-", "gradient"),
        (by_norm, "--", "by norm"),
        (by_value, ":", "by value"),
    ):
        left.plot(*np.array([[0, 0], arrow]).T, style, marker="o", markevery=[1], label=label)
    left.set(
        aspect="equal",
        xlabel="coordinate 0",
        ylabel="coordinate 1",
        title=f"By value turns it {turn:.0f}°",
    )
    left.legend(loc="lower right", fontsize=9)
    left.set(xlim=(-1.3, 3.4), ylim=(-1.6, 1.6))
    grid = np.linspace(0.6, 1.3, 200)
    right.plot(grid, loss(grid), color="#888888")
    right.plot(
        path_clipped, loss(np.asarray(path_clipped)), "o", label="clipped", color=plots.GREEN
    )
    right.plot(
        path_free[0],
        loss(path_free[0]),
        "s",
        markersize=9,
        color=plots.VERMILION,
        label="start of both",
    )
    right.annotate(
        f"unclipped: next w = {path_free[1]:,.0f}".replace("-", "−"),
        (path_free[0], loss(path_free[0])),
        (0.62, 60),
        arrowprops=dict(arrowstyle="<-"),
        fontsize=9,
    )
    right.set(
        yscale="log",
        ylim=(1e-7, 1e4),
        xlabel="recurrent weight w",
        ylabel="loss",
        title=f"Clipped: ends at w = {path_clipped[-1]:.2f}",
    )
    right.legend(loc="lower left", fontsize=9)
    return fig, (
        f"Clipping by norm keeps the direction, clipping by value turns it by {turn:.0f} degrees. On the cliff "
        f"the first unclipped step lands at w = {path_free[1]:.0f}; the clipped path ends at "
        f"w = {path_clipped[-1]:.2f}."
    )


def draw_perceptron(grad, points, labels, w0):
    """Left: gradients of single rows at w0, and their mean. Right: mistakes by epoch, both regimes, step 1.

    grad: function (w, X, y, idx) -> (d,).
    """
    n, everything = len(points), np.arange(len(points))
    singles = np.array([grad(w0, points, labels, np.array([i])) for i in range(n)])
    full = grad(w0, points, labels, everything)

    def mistakes(w):
        return int(np.sum(labels * (points @ w) <= 0))

    rng, slow, fast = np.random.default_rng(2), [w0], [w0]
    for _ in range(8):
        slow.append(slow[-1] - grad(slow[-1], points, labels, everything))
        w = fast[-1]
        for i in rng.permutation(n):
            w = w - grad(w, points, labels, np.array([i]))
        fast.append(w)
    curves = {"full batch": [mistakes(w) for w in slow], "single rows": [mistakes(w) for w in fast]}

    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    zero = int(np.sum(~singles.any(axis=1)))
    left.plot(*singles.T, "o", alpha=0.7, label="single rows")
    left.annotate("", full, (0, 0), arrowprops=dict(arrowstyle="-|>", color=plots.VERMILION, lw=2))
    left.plot(
        *full, "*", color=plots.VERMILION, markersize=13, label="their mean: the full gradient"
    )
    left.set(xlabel="∂/∂w₀", ylabel="∂/∂w₁", title=f"{zero} of {n} single gradients are zero")
    left.legend(fontsize=9, loc="best")
    for (label, curve), style in zip(curves.items(), ["o-", "^--"], strict=True):
        right.plot(curve, style, label=label)
    right.set(xlabel=f"epochs ({n} rows looked at in each)", ylabel=f"mistakes among {n} rows")
    right.set_title(
        f"After one epoch: {curves['full batch'][1]} against {curves['single rows'][1]}"
    )
    right.legend()
    return fig, (
        f"{zero} of {n} single-row gradients are zero, their mean is ({full[0]:.2f}, {full[1]:.2f}). "
        f"Mistakes at the start {mistakes(w0)}, after one epoch with the full batch "
        f"{curves['full batch'][1]}, with single rows {curves['single rows'][1]}."
    )


def draw_variance(exact, G, coordinate=1, count=3000):
    """Measured and exact variance of batch means against B. exact: function (G, B, replace) -> (d,)."""
    n, one = len(G), G[:, [coordinate]]
    sizes = np.array([1, 2, 4, 8, 16, 32, 64, 128, 284, 512])
    fig, ax = plt.subplots()
    for replace, style, marker, label in (
        (True, "-", "o", "with replacement"),
        (False, "--", "^", "without"),
    ):
        formula = [float(exact(one, int(B), replace)[0]) for B in sizes]
        measured = [
            float(batch_means(one, int(B), replace=replace, count=count, seed=int(B)).var())
            for B in sizes
        ]
        (line,) = ax.plot(sizes, formula, style, label=f"{label}: formula")
        ax.plot(sizes, measured, marker, color=line.get_color(), label=f"{label}: {count} batches")
    half = float(exact(one, 284, False)[0] / exact(one, 284, True)[0])
    ax.axvline(284, color="#888888", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlabel="batch size B", ylabel="variance of one coordinate")
    ax.set_title(f"Slope −1 with replacement; without, × {half:.2f} at n/2")
    ax.legend(fontsize=9)
    return (
        fig,
        f"Variance falls like 1/B. With B = 284 of {n}, without replacement, it is {half:.2f} of what it is with.",
    )


def draw_floor(rates, *, lam=1.0, s2=1.0, B=1, start=3.0, steps=120):
    """E e_t² for several schedules {label: function t -> rate}, exactly."""
    fig, ax = plt.subplots()
    t, ends = np.arange(steps), {}
    for (label, rate), style in zip(rates.items(), ["-", "--", "-."], strict=False):
        e2 = mean_square(lam, s2, B, start, [rate(k) for k in t])
        ax.plot(e2, style, label=label)
        ends[label] = e2[-1]
    ax.set(yscale="log", xlabel="step t", ylabel="E (w − minimum)²")
    first, second = list(ends.values())[:2]
    ax.set_title(f"Half the rate: the floor falls to {second / first:.2f} of its height")
    ax.legend()
    return fig, "Expected squared distance at the end: " + ", ".join(
        f"{label}: {end:.3f}" for label, end in ends.items()
    ) + "."


def draw_epochs_race(sgd, minibatches):
    """Test error along 400 updates for one epoch over many rows and many epochs over few."""
    errors = epochs_race(sgd, minibatches)
    fig, ax = plt.subplots()
    for (n, curve), style in zip(errors.items(), ["-", "--", "-.", ":"], strict=True):
        epochs = 4000 / n
        ax.plot(
            curve,
            style,
            label=f"{n} rows, {epochs:.0f} epoch{'s' * (epochs > 1)}: ends at {curve[-1]:.2f}",
        )
    ax.axhline(1, color="#888888", linewidth=0.8)
    ax.text(150, 0.87, "noise: no model is better", fontsize=9, color="#555555")
    ax.set(
        xlabel="updates (10 rows each)", ylabel="mean squared error on 2000 new rows", ylim=(0.8, 4)
    )
    ax.set_title("Fresh rows are best; few rows are learned by heart")
    ax.legend(title="same 400 updates")
    return fig, "Test error after 400 updates: " + ", ".join(
        f"{n} rows {curve[-1]:.2f}" for n, curve in errors.items()
    ) + "."


def draw_average(path, A, y, *, skip):
    """The last part of a path (steps + 1, 2) on the loss, the mean of it, and both losses along the way."""
    best = least_squares(A, y)
    H = A.T @ A / len(y)

    def gap(W):
        return ((W - best) @ H * (W - best)).sum(axis=1) / 2

    tail = path[skip:]
    means = np.cumsum(tail, axis=0) / np.arange(1, len(tail) + 1)[:, None]
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    reach = 1.1 * np.abs(tail - best).max()
    plots.contours(
        gap, left, (best[0] - reach, best[0] + reach), (best[1] - reach, best[1] + reach)
    )
    left.plot(*tail.T, "o", markersize=3, label="iterates")
    left.plot(*best, "X", color=plots.BLACK, markersize=9, markeredgecolor="white", label="minimum")
    left.plot(
        *means[-1],
        "*",
        color=plots.VERMILION,
        markersize=14,
        markeredgecolor="white",
        label="mean of the iterates",
    )
    left.set(xlabel="intercept w₀", ylabel="slope w₁", title="Only the mean sits there")
    left.legend(fontsize=8, frameon=True, loc="lower left")
    steps = skip + np.arange(len(tail))
    right.plot(steps, gap(tail), linewidth=0.8, label="iterate")
    right.plot(steps, gap(means), "--", color=plots.VERMILION, label="mean so far")
    typical, last = float(gap(tail).mean()), float(gap(means[-1:])[0])
    right.set(
        yscale="log",
        xlabel="update",
        ylabel="loss above the minimum",
        title=f"Gap: {typical:.1g} iterates, {last:.1g} mean",
        ylim=(1e-6, 3),
    )
    right.legend()
    return (
        fig,
        f"Loss above the minimum: {typical:.2g} for an average iterate, {last:.1g} for the mean of {len(tail)}.",
    )


def draw_clock(timed):
    """Test losses after each epoch, over epochs (left) and over seconds (right).

    timed: {label: (losses, seconds so far)}. The right panel is read when the first of the runs has ended.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), sharey=True)
    for (label, (losses, seconds)), style in zip(timed.items(), ["^:", "s--", "o-"], strict=True):
        marks = np.unique(np.geomspace(1, len(losses), 12).astype(int)) - 1
        for ax, x in ((left, np.arange(1, len(losses) + 1)), (right, seconds)):
            ax.plot(x, losses, style, markevery=list(marks), markersize=5, label=label)
    common = min(len(losses) for losses, _ in timed.values())
    best = min(timed, key=lambda label: timed[label][0][common - 1])
    end = min(seconds[-1] for _, seconds in timed.values())
    then = {
        label: losses[np.searchsorted(seconds, end, side="right") - 1]
        if seconds[0] <= end
        else np.inf
        for label, (losses, seconds) in timed.items()
    }
    first = min(then, key=then.get)
    left.set(
        xlabel="epochs",
        ylabel="test loss (nats)",
        xscale="log",
        yscale="log",
        title=f"After {common} epochs {best} leads",
    )
    right.set(
        xlabel="seconds on the clock",
        xscale="log",
        title=f"After {end:.1f} seconds {first} leads",
    )
    left.legend(fontsize=9)
    return fig, (
        f"After {common} epochs the test loss is lowest for {best}, "
        f"after {end:.1f} seconds on the clock for {first}."
    )


def draw_recipes(recipes):
    """Left: training loss (means of 20 updates, first seed). Right: test accuracy of each seed.

    recipes: {label: [(losses, accuracy), …]}.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), width_ratios=[1, 1.15])
    styles = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))]
    for (label, results), style in zip(recipes.items(), styles, strict=True):
        losses = np.array(results[0][0])
        smooth = losses[: len(losses) // 20 * 20].reshape(-1, 20).mean(axis=1)
        marker = "o^sDv"[list(recipes).index(label)]
        left.plot(
            20 * np.arange(len(smooth)) + 10,
            smooth,
            linestyle=style,
            marker=marker,
            markersize=4,
            label=label,
        )
    for row, results in enumerate(recipes.values()):
        right.plot(
            [100 * accuracy for _, accuracy in results],
            [row] * len(results),
            "o^sDv"[row],
            markersize=8,
        )
    right.set_yticks(range(len(recipes)), recipes)
    right.invert_yaxis()
    middle = {
        label: float(np.median([accuracy for _, accuracy in results]))
        for label, results in recipes.items()
    }
    top = max(middle.values())
    right.set(
        xlabel="test accuracy (%), three seeds",
        xlim=(0, 102),
        title=f"Best median: {100 * top:.0f} %",
    )
    left.set(
        xlabel="update",
        ylabel="training loss (nats)",
        yscale="log",
        title="Markers as on the right",
    )
    lowest = {label: min(a for _, a in results) for label, results in recipes.items()}
    bands = {
        label: "below 50 %" if low < 0.5 else "some below 97 %" if low < 0.97 else "all above 97 %"
        for label, low in lowest.items()
    }
    return fig, "Test accuracy of three seeds: " + "; ".join(
        f"{label}: {band}" for label, band in bands.items()
    ) + "."

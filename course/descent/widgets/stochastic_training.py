"""Pictures of 03_optimisation/03_stochastic_training: pure computations first, then functions that return (fig, words)."""

import matplotlib.pyplot as plt
import numpy as np

from descent import plots


def batch_means(G, B, *, replace, count, seed=0):
    """Means of `count` random batches of B rows of G (n, d) -> (count, d)."""
    rng = np.random.default_rng(seed)
    n = len(G)
    if replace:
        idx = rng.integers(0, n, (count, B))
    else:
        idx = rng.random((count, n)).argpartition(B - 1, axis=1)[:, :B]
    return G[idx].mean(axis=1)


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
    lam, e2 = np.asarray(curvature, float), np.broadcast_to(distance, np.shape(curvature)).astype(float)
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
    """Mean over runs of f(w) = ½ w² + ¼ w⁴ along SGD with gradient noise. rates (K,) -> (K + 1,); infinite once a run escapes."""
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


def draw_race(curves, *, examples):
    """Losses after each epoch, curves {label: (epochs + 1,)}; `examples` rows make an epoch."""
    fig, ax = plt.subplots()
    for (label, loss), style, marker in zip(curves.items(), ["-", "--", ":"], "os^", strict=False):
        ax.plot(loss, linestyle=style, marker=marker, label=label)
    after_one = {label: loss[1] for label, loss in curves.items()}
    best = min(after_one, key=after_one.get)
    ax.set(xlabel=f"epochs (looks at all {examples} examples)", ylabel="training loss (nats)", yscale="log")
    ax.set_title(f"After one look at the data: {best} leads")
    ax.legend()
    told = ", ".join(f"{label} {loss:.2f}" for label, loss in after_one.items())
    return fig, f"Training loss after one epoch: {told}. All start at {next(iter(curves.values()))[0]:.2f}."


def draw_cloud(G, B, replace, coordinates=(0, 1), count=300):
    """Mini-batch gradients of size B around the full gradient, in two coordinates of G (n, d)."""
    pair = list(coordinates)
    P = G[:, pair]
    full, means = P.mean(axis=0), batch_means(P, B, replace=replace, count=count)
    fig, ax = plt.subplots(figsize=(5.2, 4.4))
    ax.plot(*means.T, "o", markersize=3, alpha=0.5, label=f"{count} batches of {B}")
    ax.annotate("", full, (0, 0), arrowprops=dict(arrowstyle="-|>", color=plots.VERMILION, lw=2.2))
    ax.plot(*full, "*", color=plots.VERMILION, markersize=13, label="full gradient")
    reach = 1.05 * np.abs(batch_means(P, 1, replace=True, count=count) - full).max()
    ax.set(xlim=(full[0] - reach, full[0] + reach), ylim=(full[1] - reach, full[1] + reach))
    opposed = float(np.mean(means @ full < 0))
    spread = float(np.sqrt(((means - full) ** 2).sum(axis=1).mean()))
    ax.set(xlabel=f"gradient, coordinate {pair[0]}", ylabel=f"gradient, coordinate {pair[1]}")
    ax.set_title(f"B = {B}: typical error {spread / np.linalg.norm(full):.2f} × the gradient")
    ax.legend(loc="lower left")
    how = "with" if replace else "without"
    return fig, (
        f"Batches of {B} drawn {how} replacement: typical error {spread:.3f}, the full gradient has length "
        f"{np.linalg.norm(full):.3f}. {100 * opposed:.0f} % of the batches point more than 90 degrees away from it."
    )


def draw_epochs(epochs, n, B):
    """Which batch each of n rows falls into, a line an epoch. epochs: a list of lists of index arrays."""
    owners = np.array([batch_of_rows(batches, n) for batches in epochs])
    fig, ax = plt.subplots(figsize=(7.2, 0.9 + 0.42 * len(epochs)))
    shown = np.ma.masked_less(owners, 0)
    ax.imshow(shown, aspect="auto", cmap="cividis", vmin=-2.5, vmax=max(1, owners.max()), alpha=0.55)
    for (row, column), number in np.ndenumerate(owners):
        ax.text(column, row, "–" if number < 0 else number + 1, ha="center", va="center", fontsize=9)
    ax.set_yticks(range(len(epochs)), [f"epoch {e + 1}" for e in range(len(epochs))])
    ax.set(xlabel="row of the data set (number in the cell: its batch)")
    ax.grid(False)
    per_epoch, left_out = len(epochs[0]), int((owners[0] < 0).sum())
    updates = sum(len(batches) for batches in epochs)
    ax.set_title(f"{per_epoch} updates an epoch, {updates} in all")
    seen = int((owners >= 0).sum())
    return fig, (
        f"n = {n}, B = {B}, {len(epochs)} epochs: {per_epoch} updates an epoch, {updates} in all, {seen} examples seen, "
        f"{left_out} left out in each epoch."
    )


def draw_walk(path, A, y, *, B, rate):
    """A path (steps + 1, 2) over the contours of the mean squared error of A w = y."""
    best = least_squares(A, y)

    def loss(W):
        return ((W @ A.T - y) ** 2).mean(axis=1) / 2

    fig, ax = plt.subplots(figsize=(5.6, 4.2))
    plots.contours(loss, ax, (best[0] - 2.6, best[0] + 2.6), (best[1] - 2.2, best[1] + 2.2), log=True)
    plots.path(path, ax)
    ax.plot(*best, "x", color=plots.BLACK, markersize=9, label="minimum")
    tail = path[len(path) // 2 :]
    wander = float(np.sqrt(((tail - best) ** 2).sum(axis=1).mean()))
    ax.set(xlabel="intercept w₀", ylabel="slope w₁", title=f"B = {B}, η = {rate:g}: ends within {wander:.2f}")
    ax.legend(loc="upper right")
    gap = float(loss(path[-1:])[0] - loss(best[None])[0])
    return fig, (
        f"Batches of {B}, step {rate:g}, {len(path) - 1} updates: over the second half the path is {wander:.3f} away from "
        f"the minimum (root mean square); its last loss is {gap:.4f} above the lowest."
    )


def draw_landscapes(A, y, B, number, count=60):
    """Contours of the full loss (lines) and of one batch's loss (colour), with the minimisers of `count` batches."""
    rng = np.random.default_rng(3)
    batches = [rng.permutation(len(y))[:B] for _ in range(count)]
    minima = np.array([least_squares(A[b], y[b]) for b in batches])
    best, own = least_squares(A, y), minima[number]
    chosen = batches[number]
    xs, ys = best[0] + np.linspace(-1.6, 1.6, 60), best[1] + np.linspace(-1.6, 1.6, 60)
    W = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2)
    full = ((W @ A.T - y) ** 2).mean(axis=1).reshape(60, 60) / 2
    part = ((W @ A[chosen].T - y[chosen]) ** 2).mean(axis=1).reshape(60, 60) / 2
    fig, ax = plt.subplots(figsize=(5.6, 4.2))
    ax.contourf(xs, ys, part, levels=12, cmap="cividis_r", alpha=0.55)
    ax.contour(xs, ys, full, levels=10, colors="#444444", linewidths=0.8)
    ax.plot(*minima.T, "o", markersize=3, color=plots.BLUE, label=f"minima of {count} batches")
    ax.plot(*best, "X", color=plots.BLACK, markersize=10, markeredgecolor="white", label="minimum of all data (lines)")
    ax.plot(*own, "*", color=plots.VERMILION, markersize=14, markeredgecolor="white", label="minimum of this batch (colour)")
    away = float(np.linalg.norm(own - best))
    spread = float(np.sqrt(((minima - best) ** 2).sum(axis=1).mean()))
    ax.set(xlim=(xs[0], xs[-1]), ylim=(ys[0], ys[-1]), xlabel="intercept w₀", ylabel="slope w₁")
    ax.set_title(f"This batch's minimum is {away:.2f} away")
    ax.legend(loc="upper right", fontsize=8, frameon=True)
    ax.grid(False)
    return fig, f"Batch {number + 1} of {B} rows has its minimum {away:.2f} away from that of all data; {spread:.2f} is typical."


def draw_cost(n, full, runs, target):
    """Gap against gradient evaluations: gradient descent (n a step) and SGD runs (one a step).

    full (K + 1,), runs {label: (K + 1,)}: gaps by step. target: the accuracy asked for.
    """
    fig, ax = plt.subplots()
    k = np.arange(len(full))
    ax.plot(n * k[1:], full[1:], "-o", markevery=[0], label=f"gradient descent, n = {n}")
    price = {"gradient descent": _first_below(full, target) * n}
    for (label, gap), style in zip(runs.items(), ["--", ":", "-."], strict=False):
        ax.plot(k[1:], gap[1:], style, label=label)
        price[label] = _first_below(gap, target)
    ax.axhline(target, color="#888888", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 20), xlim=(1, 1e7))
    ax.set(xlabel="gradients of single examples computed", ylabel="expected gap  f(w) − min f")
    winner = min(price, key=price.get)
    ax.set_title(f"Cheapest to a gap of {target:g}: {winner}" if np.isfinite(price[winner]) else "None gets there")
    ax.legend(loc="upper right")
    told = [f"{label} needs {p:,.0f}" if np.isfinite(p) else f"{label} does not get there" for label, p in price.items()]
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
        bottom.plot(last, losses[last], "X", color=plots.BLACK, markersize=11)
        said = f"blows up at step {last + 1}"
    bottom.set(xlabel="step t", ylabel="mean loss", yscale="log", title=said[0].upper() + said[1:], ylim=(1e-3, 1e3))
    return fig, f"{name}: the rate starts at {rates[0]:.3f}, its highest value is {max(rates):.3f}, it ends at {rates[-1]:.3f}; {said}."


def draw_batch_rate_map(spread, *, n=4096):
    """Loss after one epoch over batch size and rate, with the best rate of each B and the lines η ∝ B, η ∝ √B."""
    B = 2.0 ** np.arange(0, 13)
    rate = np.logspace(-3.5, 0, 90)
    loss = loss_after_epoch(B[:, None], rate[None, :], n=n, spread=spread)
    best = rate[loss.argmin(axis=1)]
    anchor = 2  # both rules are anchored at B = 4
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    mesh = ax.pcolormesh(B, rate, np.log10(loss).T, cmap="cividis_r", shading="nearest")
    fig.colorbar(mesh, label="log₁₀ of the loss after one epoch")
    ax.plot(B, best, "o", color=plots.BLACK, label="best η for each B")
    for rule, power, style in (("η ∝ B", 1, "-"), ("η ∝ √B", 0.5, "--")):
        line = best[anchor] * (B / B[anchor]) ** power
        ax.plot(B[line <= 1], line[line <= 1], style, color="white", linewidth=2.4, label=rule)
    ax.set(xscale="log", yscale="log", xlabel="batch size B", ylabel="rate η", ylim=(rate[0], 1.2))
    slopes = np.diff(np.log(best)) / np.diff(np.log(B))
    early, late = slopes[2:5].mean(), slopes[-3:].mean()
    ax.set_title(f"Best rate grows like B^{early:.1f}, later B^{late:.1f}")
    ax.legend(loc="lower right", facecolor="#666666", frameon=True, labelcolor="white")
    ax.grid(False)
    return fig, (
        f"Noise variance {spread:g}: between B = 4 and 32 the best rate grows like B to the power {early:.2f}, "
        f"between 512 and 4096 like B to the power {late:.2f}. Best rate at B = 1: {best[0]:.4f}, at B = 64: {best[6]:.3f}."
    )


def draw_clipping(vector, c, path_free, path_clipped, loss):
    """Left: a gradient, clipped by norm and by value. Right: two descents on a cliff, loss(w)."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
    by_norm = vector * min(1, c / np.linalg.norm(vector))
    by_value = np.clip(vector, -c, c)
    turn = np.degrees(np.arccos(np.clip(vector @ by_value / np.linalg.norm(vector) / np.linalg.norm(by_value), -1, 1)))
    circle = c * np.exp(1j * np.linspace(0, 2 * np.pi, 80))
    left.plot(circle.real, circle.imag, color="#888888", linewidth=0.8)
    left.plot([-c, c, c, -c, -c], [-c, -c, c, c, -c], ":", color="#888888")
    for arrow, style, label in ((vector, "-", "gradient"), (by_norm, "--", "by norm"), (by_value, ":", "by value")):
        left.plot(*np.array([[0, 0], arrow]).T, style, marker="o", markevery=[1], label=label)
    left.set(aspect="equal", xlabel="coordinate 0", ylabel="coordinate 1", title=f"By value turns it {turn:.0f}°")
    left.legend(loc="upper left", fontsize=9)
    grid = np.linspace(0.6, 1.3, 200)
    right.plot(grid, loss(grid), color="#888888")
    right.plot(path_clipped, loss(np.asarray(path_clipped)), "o", label="clipped", color=plots.GREEN)
    right.plot(path_free[0], loss(path_free[0]), "s", markersize=9, color=plots.VERMILION, label="start of both")
    right.annotate(f"unclipped: next w = {path_free[1]:,.0f}", (path_free[0], loss(path_free[0])), (0.62, 60), arrowprops=dict(arrowstyle="<-"), fontsize=9)
    right.set(yscale="log", ylim=(1e-7, 1e4), xlabel="recurrent weight w", ylabel="loss", title=f"Clipped: ends at w = {path_clipped[-1]:.2f}")
    right.legend(loc="lower left", fontsize=9)
    return fig, (
        f"Clipping by norm keeps the direction, clipping by value turns it by {turn:.0f} degrees. On the cliff the first "
        f"unclipped step lands at w = {path_free[1]:.0f}; the clipped path ends at w = {path_clipped[-1]:.2f}."
    )

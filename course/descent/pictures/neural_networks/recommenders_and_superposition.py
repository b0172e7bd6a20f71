"""Recommenders and superposition: taste spaces, feedback loops, and more features than dimensions."""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import softmax

from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, grouped_bars

# ---------------------------------------------------------------- a small world of ratings


def taste_world(users=60, items=40, d=2, noise=0.3, share=0.3, seed=0):
    """Ratings with hidden tastes -> true (users, items), R (users, items) with NaN where unknown.

    true = A Bᵀ for normal A, B; a known rating is true + normal noise, in stars above the average.
    """
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(users, d)) @ rng.normal(size=(items, d)).T
    noisy = true + noise * rng.normal(size=true.shape)
    return true, np.where(rng.random(true.shape) < share, noisy, np.nan)


def rmse(P, R) -> float:
    """Root mean squared difference over the entries known in both."""
    return float(np.sqrt(np.nanmean((P - R) ** 2)))


def draw_ratings(R, true):
    """What is known of a ratings matrix, and what lies behind it -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    known = np.isfinite(R)
    for ax, values, title in zip(
        axes,
        (R, true),
        (f"Known: {known.mean():.0%} of the ratings", "Behind them: rank 2"),
        strict=True,
    ):
        image = ax.imshow(values, cmap="cividis", vmin=-4, vmax=4, aspect="auto")
        ax.set(xlabel="movie j", title=title)
        ax.grid(False)
    axes[0].set_ylabel("user i")
    fig.colorbar(image, ax=axes, label="stars above average")
    return fig, (
        f"{R.shape[0]} users, {R.shape[1]} movies. {known.sum()} of {R.size} ratings are known; behind "
        f"all of them stand {true.shape[0] + true.shape[1]} vectors of two numbers."
    )


def draw_dimensions(dims, train, held):
    """Errors of factorisations against their dimension -> (fig, words).

    train, held: {penalty: array (len(dims),)}.
    """
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for ax, errors, title in zip(
        axes, (train, held), ("On known ratings", "On held-out ratings"), strict=True
    ):
        for (lam, values), style, color in zip(
            errors.items(), ("o--", "s-", "^:"), (VERMILION, BLUE, GREEN), strict=False
        ):
            ax.plot(dims, values, style, color=color, label=f"λ = {lam:g}")
        ax.set(xlabel="dimension d", title=title, ylim=(0, 1.5))
        ax.set_xticks(dims)
    axes[0].set_ylabel("root mean squared error (stars)")
    axes[0].legend()
    weak, last = min(held), len(dims) - 1
    if held[weak][last] > 1.5:
        axes[1].annotate(
            f"on to {held[weak][last]:.1f} ↗", (0.98, 0.92), xycoords="axes fraction", ha="right"
        )
    best = {lam: dims[int(np.argmin(values))] for lam, values in held.items()}
    told = "; ".join(
        f"λ = {lam:g}: training {train[lam][last]:.2f}, held out {held[lam][last]:.2f}, best at d = {best[lam]}"
        for lam in held
    )
    return fig, f"Errors at d = {dims[last]}. {told}."


def draw_descent(curves, floor: float, held):
    """Loss against passes over the ratings for several methods -> (fig, words).

    curves: {name: losses (passes + 1,)}, floor: the lowest loss known, held: {name: held-out error}.
    """
    fig, ax = plt.subplots()
    looks = zip(curves.items(), ("o-", "s--", "^:"), (BLUE, VERMILION, GREEN), strict=False)
    for (name, losses), style, color in looks:
        above = np.where(losses - floor > 1e-3, losses - floor, np.nan)
        ax.plot(above, style, color=color, markersize=4, label=name)
    ax.set(yscale="log", xlabel="passes over the known ratings", ylabel="J above its lowest value")
    ax.set_title("Exact half-steps need the fewest passes")
    ax.legend()
    told = "; ".join(
        f"{name}: {losses[-1] - floor:.2f}, held-out error {held[name]:.2f}"
        for name, losses in curves.items()
    )
    five = ", ".join(f"{name} {losses[5] - floor:.0f}" for name, losses in curves.items())
    return fig, f"J above its lowest value after 5 passes: {five}. After the last: {told}."


# ---------------------------------------------------------------- lists and geometry

GENRES = ("action", "romance", "sci-fi")
MOVIES = {
    "Rooftop Chase": (0.9, 0.1, 0.1),
    "The Lighthouse Letters": (0.0, 0.9, 0.0),
    "Orbit of Rust": (0.8, 0.1, 0.6),
    "Robots in Spring": (0.1, 0.7, 0.7),
    "Last Train to Kiruna": (0.6, 0.5, 0.0),
    "The Quiet Planet": (0.1, 0.2, 0.9),
    "Two Umbrellas": (-0.3, 0.8, 0.1),
    "Tax Inspectors": (-0.4, -0.2, -0.1),
}


def ranking_explorer(rank_items: Callable) -> Callable:
    """-> draw(action, romance, scifi): the list that a taste makes of eight movies."""
    names, B = list(MOVIES), np.array(list(MOVIES.values()))

    def draw(action: float, romance: float, scifi: float):
        a = np.array([action, romance, scifi])
        order = np.asarray(rank_items(a, B, np.zeros(len(B), dtype=bool), len(B)))
        scores = B[order] @ a
        fig, ax = fixed_axes(1, (7, 3.4), (0.3, 0.97, 0.16, 0.9))
        colors = [BLUE if s >= 0 else ORANGE for s in scores]
        ax.barh(range(len(B)), scores, color=colors)
        ax.set_yticks(range(len(B)), [names[j] for j in order])
        ax.invert_yaxis()
        ax.set(
            xlabel="predicted rating ⟨a, b⟩ (above average)",
            xlim=(-2, 2),
            title=f"First: {names[order[0]]}",
        )
        taste = ", ".join(f"{g} {v:.1f}" for g, v in zip(GENRES, a, strict=True))
        listed = ", ".join(f"{names[j]} {s:.2f}" for j, s in zip(order, scores, strict=True))
        return fig, f"Taste: {taste}. List: {listed}."

    return draw


def draw_gauges(versions, marks=(0, 1, 2)):
    """The same factors in several gauges -> (fig, words). versions: {name: (A, B)}, two columns each."""
    fig, axes = plt.subplots(1, len(versions), figsize=(9, 3.3))
    told = []
    for ax, (name, (A, B)) in zip(axes, versions.items(), strict=True):
        ax.plot(*A.T, "o", color=BLUE, alpha=0.45, markersize=4, label="users")
        ax.plot(*B.T, "x", color=VERMILION, markersize=5, label="movies")
        for j, text, offset in zip(marks, "PQR", ((5, 4), (5, 4), (-14, 5)), strict=False):
            ax.plot(*B[j], "D", color=BLACK, markersize=5)
            ax.annotate(
                text, B[j], offset, textcoords="offset points", fontweight="bold", fontsize=13
            )
        gaps = np.linalg.norm(B[marks[0]] - B[list(marks[1:])], axis=1)
        nearer = "QR"[int(np.argmin(gaps))]
        ax.set_title(f"{name}:\nP is nearer to {nearer}", fontsize=11)
        ax.set(xlabel="coordinate 1")
        ax.axis("equal")
        told.append(f"{name}: P to Q {gaps[0]:.2f}, P to R {gaps[1]:.2f}")
    axes[0].set_ylabel("coordinate 2")
    axes[1].legend(fontsize=9, loc="upper right")
    return fig, "Three movies P, Q, R, same predictions in every panel. Distances: " + "; ".join(
        told
    ) + "."


# ---------------------------------------------------------------- the feedback loop


def catalogue(items=24, seed=1):
    """Movies in the plane, two thirds spread along one direction, mean 0 -> (items, 2)."""
    rng = np.random.default_rng(seed)
    angle = np.pi * (np.arange(items) + rng.uniform(0, 0.8, items)) * 2 / items
    B = np.column_stack([1.3 * np.cos(angle), 0.7 * np.sin(angle)])
    return B - B.mean(0)


def shares(a, B, beta, explore):
    """How often each item is shown -> (items,)."""
    return (1 - explore) * softmax(beta * (B @ a)) + explore / len(B)


def loop(step: Callable, a, B, beta, explore, lr=0.1, rounds=150):
    """Tastes (rounds + 1, 2) and diversities (rounds,) of repeated feedback steps."""
    path, diversity = [np.asarray(a, dtype=float)], []
    for _ in range(rounds):
        new, effective = step(path[-1], B, beta, explore, lr)
        path.append(np.asarray(new, dtype=float))
        diversity.append(float(effective))
    return np.array(path), np.array(diversity)


def feedback_explorer(step: Callable, B, start=(0.02, 0.05)) -> Callable:
    """-> draw(beta, explore): the drift of a taste, its alignment with what is shown, the diversity."""
    spread = np.linalg.eigvalsh(B.T @ B / len(B))[-1]

    def draw(beta: float, explore: float):
        path, diversity = loop(step, start, B, beta, explore)
        p = shares(path[-1], B, beta, explore)
        aligned = [a @ B.T @ shares(a, B, beta, explore) for a in path[:-1]]
        gain = (1 - explore) * beta * spread
        fig, (left, middle, right) = fixed_axes(
            3, (9.6, 3.4), (0.08, 0.99, 0.16, 0.9), wspace=0.33, width_ratios=(1.3, 1, 1)
        )
        left.scatter(*B.T, s=20 + 900 * p, color=SKY, edgecolor=BLACK, linewidth=0.5)
        left.plot(*path.T, "-", color=VERMILION)
        left.plot(*path[-1], "*", color=VERMILION, markersize=14)
        left.set(xlabel="coordinate 1", ylabel="coordinate 2", xlim=(-1.7, 1.7), ylim=(-1.1, 1.1))
        left.set_title(f"Taste ★, shares ●; gain {gain:.2f}", fontsize=10)
        middle.plot(aligned, color=VERMILION)
        middle.set(xlabel="round", ylabel="mean ⟨a, b⟩ of what is shown", ylim=(-0.1, 2))
        middle.set_title(f"Alignment ends at {aligned[-1]:.1f}", fontsize=10)
        right.plot(diversity, color=BLUE)
        right.set(xlabel="round", ylabel="effective number of movies", ylim=(0, len(B) + 1))
        right.set_title(f"Diversity: {diversity[-1]:.1f} of {len(B)}", fontsize=10)
        return fig, (
            f"Sharpness {beta:.1f}, exploration {explore:.2f}: gain {gain:.2f}. The taste ends at length "
            f"{np.linalg.norm(path[-1]):.2f}; diversity goes from {diversity[0]:.1f} to {diversity[-1]:.1f} "
            f"of {len(B)} movies; the commonest has a share of {p.max():.0%}. The mean ⟨a, b⟩ of what is "
            f"shown ends at {aligned[-1]:.2f}."
        )

    return draw


def sampled_users(B, beta, explore, users=200, lr=0.1, rounds=200, seed=0):
    """Users who see one movie a round, drawn by its share -> lengths of taste, diversities (rounds, users).

    All begin with a small random taste; diversity is exp(entropy) of the shares.
    """
    rng = np.random.default_rng(seed)
    a = 0.05 * rng.normal(size=(users, 2))
    lengths, diversity = [], []
    for _ in range(rounds):
        p = (1 - explore) * softmax(beta * (a @ B.T), axis=1) + explore / len(B)
        diversity.append(np.exp(-np.sum(p * np.log(p), axis=1)))
        choice = (p.cumsum(1) < rng.random((users, 1))).sum(1).clip(max=len(B) - 1)
        a = a + lr * (B[choice] - a)
        lengths.append(np.linalg.norm(a, axis=1))
    return np.array(lengths), np.array(diversity)


# ---------------------------------------------------------------- a rating that is not bilinear


def peaked_world(users=60, items=40, noise=0.03, share=0.5, seed=0):
    """Ratings that peak where a movie is just as the user wants -> true, R (NaN where unknown)."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-1, 1, users), rng.uniform(-1, 1, items)
    true = np.exp(-8 * (u[:, None] - v) ** 2)
    noisy = true + noise * rng.normal(size=true.shape)
    return true, np.where(rng.random(true.shape) < share, noisy, np.nan)


def neural_recommender(R, hidden=32, steps=300, lr=0.03, seed=0):
    """Predictions (users, items) of f(a_i, b_j) with learned numbers a_i, b_j; and the number of weights.

    f has two layers of `hidden` tanh units. The numbers start at the angle of the first two singular
    vectors of R (unknown: 0): from a random start users often stay in the wrong order.
    """
    import torch

    g = torch.Generator().manual_seed(seed)

    def draw(*shape, scale):
        return (scale * torch.randn(*shape, generator=g, dtype=torch.float64)).requires_grad_()

    U, s, Vt = np.linalg.svd(np.nan_to_num(R), full_matrices=False)
    A, B = (_start(s[0] * Q[0], s[1] * Q[1]) for Q in (U.T, Vt))
    sizes = [(2, hidden), (hidden, hidden), (hidden, 1)]
    Ws = [draw(*size, scale=size[0] ** -0.5) for size in sizes]
    bs = [draw(size[1], scale=0.1) for size in sizes]
    i, j = (torch.from_numpy(k) for k in np.nonzero(np.isfinite(R)))
    target = torch.from_numpy(R)[i, j]

    def f(a, b):
        h = torch.stack([a, b], -1)
        for W, c in zip(Ws[:-1], bs[:-1], strict=True):
            h = torch.tanh(h @ W + c)
        return (h @ Ws[-1] + bs[-1])[..., 0]

    parameters = [A, B, *Ws, *bs]
    optimiser = torch.optim.Adam(parameters, lr=lr)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = lr * 0.5 * (1 + np.cos(np.pi * step / steps))
        loss = (f(A[i], B[j]) - target).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        P = f(A[:, None].expand(R.shape), B[None].expand(R.shape)).numpy()
    return P, sum(p.numel() for p in parameters)


def _start(first, second):
    import torch

    angle = np.arctan2(second, np.abs(first))
    return torch.from_numpy((angle - angle.mean()) / angle.std()).requires_grad_()


def draw_nonlinear(dims, linear, network: float, noise: float):
    """Held-out errors of rank-d factorisations and of a network -> (fig, words)."""
    fig, ax = plt.subplots()
    ax.plot(dims, linear, "o-", color=BLUE, label="inner product in d dimensions")
    ax.plot(
        dims[:1],
        [network],
        "*",
        color=VERMILION,
        markersize=14,
        label="network f(a, b), one dimension",
    )
    ax.axhline(noise, color=BLACK, linestyle="--", label="noise")
    ax.set(xlabel="dimension d", ylabel="held-out error", ylim=(0, None), xticks=dims)
    ax.set_title("A peak needs many products, or one bend")
    ax.legend()
    told = ", ".join(f"{d}: {e:.2f}" for d, e in zip(dims, linear, strict=True))
    return (
        fig,
        f"Held-out error of the inner product by dimension: {told}. Network with d = 1: {network:.2f}. Noise: {noise}.",
    )


# ---------------------------------------------------------------- bases


def basis_explorer(h, features) -> Callable:
    """-> draw(turn): the coefficients of h in a basis between the coordinates (0) and `features` (1).

    features (d, d) orthonormal columns; beyond 1 the turn goes on.
    """
    from scipy.linalg import expm, logm

    generator = np.real(logm(features))
    generator = (generator - generator.T) / 2

    def draw(turn: float):
        Q = expm(turn * generator)
        c = Q.T @ h
        big = int(np.sum(np.abs(c) > 0.1))
        fig, ax = fixed_axes(1, (6.4, 3.2), (0.12, 0.97, 0.18, 0.9))
        ax.bar(range(1, len(h) + 1), c, color=[VERMILION if abs(v) > 0.1 else SKY for v in c])
        ax.set(
            xlabel="basis vector i",
            ylabel="coefficient $c_i$",
            ylim=(-3.2, 3.2),
            xticks=range(1, len(h) + 1),
        )
        ax.set_title(f"Turn {turn:.2f}: {big} coefficients above 0.1 in size")
        return fig, (
            f"Turn {turn:.2f}: {big} of {len(h)} coefficients exceed 0.1 in size; the largest is "
            f"{np.abs(c).max():.2f}; the sum of squares is {np.sum(c**2):.2f}."
        )

    return draw


def turned_basis(d=12, seed=0):
    """Orthonormal columns (d, d) with determinant 1."""
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Q


# ---------------------------------------------------------------- reading from overlapping features


def unit_vectors(d, n, rng) -> np.ndarray:
    """n random directions as columns (d, n)."""
    W = rng.normal(size=(d, n))
    return W / np.linalg.norm(W, axis=0)


def readout_error(d, n, active, rng, trials=100) -> float:
    """Root mean squared error of w_iᵀh over all features, `active` of n features being ±1, the rest 0."""
    W = unit_vectors(d, n, rng)
    C = np.zeros((trials, n))
    for row in C:
        row[rng.choice(n, active, replace=False)] = rng.choice([-1.0, 1.0], active)
    return float(np.sqrt(np.mean((C @ W.T @ W - C) ** 2)))


def overlap_errors(degrees, noise=0.1, trials=400, seed=0):
    """Errors of reading one of two unit features that meet at an angle: projection, joint fit -> (len, 2)."""
    rng, rows = np.random.default_rng(seed), []
    for degree in degrees:
        t = np.radians(degree)
        W = np.array([[1.0, np.cos(t)], [0.0, np.sin(t)]])
        C = rng.choice([-1.0, 1.0], (trials, 2))
        h = C @ W.T + noise * rng.normal(size=(trials, 2))
        joint = np.linalg.solve(W, h.T).T
        rows.append(
            [
                np.sqrt(np.mean(((h @ W)[:, 0] - C[:, 0]) ** 2)),
                np.sqrt(np.mean((joint[:, 0] - C[:, 0]) ** 2)),
            ]
        )
    return np.array(rows)


def draw_crowding(d=64, counts=(8, 16, 32, 64, 128, 256, 512), active=4, noise=0.1):
    """Extraction error against overlap, and against the number of features -> (fig, words)."""
    rng, degrees = np.random.default_rng(2), np.array([10, 15, 20, 30, 40, 50, 60, 70, 80, 90])
    errors = overlap_errors(degrees, noise)
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.7))
    fine = np.radians(np.linspace(8, 90, 100))
    left.plot(
        np.degrees(fine), np.sqrt(np.cos(fine) ** 2 + noise**2), "-", color=VERMILION, alpha=0.6
    )
    left.plot(np.degrees(fine), noise / np.sin(fine), "--", color=BLUE, alpha=0.6)
    left.plot(degrees, errors[:, 0], "^", color=VERMILION, label="projection $w_1^\\top h$")
    left.plot(degrees, errors[:, 1], "o", color=BLUE, label="joint least squares")
    left.set(
        xlabel="angle between the two features (degrees)", ylabel="error of $c_1$", ylim=(0, 1.1)
    )
    left.set_title("Two features: overlap misleads")
    left.legend(fontsize=9)
    few = [readout_error(d, n, active, rng) for n in counts]
    every = [readout_error(d, n, n, rng) for n in counts]
    line = np.array(counts)
    right.plot(line, np.sqrt((line - 1) / d), "--", color=VERMILION, alpha=0.6)
    right.plot(line, np.sqrt(active / d * (1 - 1 / line)), "-", color=BLUE, alpha=0.6)
    right.plot(counts, every, "^", color=VERMILION, label="all active")
    right.plot(counts, few, "o", color=BLUE, label=f"{active} active")
    right.axvline(d, color=BLACK, linestyle=":", label=f"n = d = {d}")
    right.set(xscale="log", xlabel="features n", ylabel="error of a coefficient", ylim=(0, 3))
    right.set_title(f"Many features in {d} dimensions", fontsize=12)
    right.set_xticks(counts, [str(n) for n in counts])
    right.minorticks_off()
    right.legend(fontsize=9)
    return fig, (
        f"Left: at 60 degrees projection errs by {errors[6, 0]:.2f}, the joint fit by {errors[6, 1]:.2f}; at 10 "
        f"degrees by {errors[0, 0]:.2f} and {errors[0, 1]:.2f}. Right: {counts[-1]} features in {d} dimensions are "
        f"read with error {few[-1]:.2f} if {active} are active and {every[-1]:.2f} if all are. Lines are formulas."
    )


# ---------------------------------------------------------------- toy models of superposition


def toy_models(
    n, m, density, importance, *, relu=True, steps=400, batch=256, lr=0.05, restarts=4, seed=0
):
    """Trained autoencoders x̂ = ReLU(WᵀWx + b), one for each density -> W (C, m, n), b (C, n), loss (C,).

    A feature is 0 with probability 1 - density, else uniform on (0, 1). The loss is the expected
    Σ_i importance_i (x_i - x̂_i)². Of `restarts` starts the best on fresh data is kept. relu=False: linear.
    """
    import torch

    g = torch.Generator().manual_seed(seed)
    density = torch.as_tensor(np.asarray(density, dtype=float)).reshape(-1, 1, 1, 1)
    importance = torch.as_tensor(np.asarray(importance, dtype=float))
    kind = dict(generator=g, dtype=torch.float64)

    def sample(size):
        x = torch.rand(len(density), 1, size, n, **kind)
        return x * (torch.rand(len(density), 1, size, n, **kind) < density)

    def losses(x):
        y = x @ W.mT @ W + b
        return ((x - (y.relu() if relu else y)).square() * importance).sum(-1).mean(-1)

    W = (0.5 * torch.randn(len(density), restarts, m, n, **kind)).requires_grad_()
    b = torch.zeros(len(density), restarts, 1, n, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([W, b], lr=lr)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = lr * 0.5 * (1 + np.cos(np.pi * step / steps))
        optimiser.zero_grad()
        losses(sample(batch)).sum().backward()
        optimiser.step()
    with torch.no_grad():
        value = losses(sample(4000))
    pick = (torch.arange(len(density)), value.argmin(1))
    return W.detach()[pick].numpy(), b.detach()[pick][:, 0].numpy(), value[pick].numpy()


def turned_upright(W):
    """W (2, n) turned so that its longest column points up: WᵀW stays."""
    w = W[:, np.linalg.norm(W, axis=0).argmax()]
    c, s = w[1] / np.linalg.norm(w), w[0] / np.linalg.norm(w)
    return np.array([[c, -s], [s, c]]) @ W


def stored(W):
    """Which columns count as stored: squared length above a half. (…, m, n) -> (…, n) bool."""
    return np.sum(W**2, axis=-2) > 0.5


def geometry_explorer(interference: Callable, densities, Ws, bs) -> Callable:
    """-> draw(density, active): the features of a trained model, their overlaps and what comes out again."""

    def draw(density: float, active: int):
        c = list(densities).index(density)
        W, b = turned_upright(Ws[c]), bs[c]
        n = W.shape[1]
        norms, cross = (np.asarray(v, dtype=float) for v in interference(W))
        kept = stored(W)
        x = (np.arange(n) < active).astype(float)
        out = np.maximum(W.T @ W @ x + b, 0)
        fig, axes = fixed_axes(
            3, (9.4, 3.3), (0.08, 0.98, 0.16, 0.88), wspace=0.32, width_ratios=(1, 1, 1.1)
        )
        for i, w in enumerate(W.T):
            axes[0].plot([0, w[0]], [0, w[1]], "-", color=BLUE if kept[i] else ORANGE)
            axes[0].plot(
                *w, "o" if kept[i] else "x", color=BLUE if kept[i] else ORANGE, markersize=8
            )
            axes[0].annotate(str(i + 1), 1.22 * w, fontsize=11, ha="center", va="center")
        axes[0].set(xlim=(-1.7, 1.7), ylim=(-1.7, 1.7), xlabel="dimension 1", ylabel="dimension 2")
        axes[0].set_aspect("equal")
        axes[0].set_title(f"{kept.sum()} features in 2-D", fontsize=11)
        axes[1].imshow(W.T @ W, cmap="RdBu_r", vmin=-1.6, vmax=1.6)
        for (i, j), value in np.ndenumerate(W.T @ W):
            axes[1].text(
                j, i, f"{value:.1f}".replace("-0.0", "0.0"), ha="center", va="center", fontsize=8
            )
        axes[1].set(
            xticks=range(n),
            yticks=range(n),
            xticklabels=range(1, n + 1),
            yticklabels=range(1, n + 1),
            xlabel="feature",
            ylabel="feature",
        )
        axes[1].set_title("Gram matrix $W^\\top W$", fontsize=11)
        axes[1].grid(False)
        place = np.arange(1, n + 1)
        axes[2].bar(place - 0.2, x, 0.4, color=BLACK, label="in")
        axes[2].bar(place + 0.2, out, 0.4, color=SKY, hatch="//", edgecolor="white", label="out")
        axes[2].set(xlabel="feature", ylabel="value", ylim=(0, 2.2), xticks=place)
        axes[2].set_title(f"Largest error {np.abs(out - x).max():.2f}", fontsize=11)
        axes[2].legend(fontsize=9, ncols=2, loc="upper right")
        return fig, (
            f"A feature is active with probability {density:g}. Stored: {kept.sum()} of {n}; squared lengths "
            f"{', '.join(f'{v:.1f}' for v in norms**2)}; mean interference {cross.mean():.2f}. With "
            f"{active} active at value 1 the largest error of the output is {np.abs(out - x).max():.1f}."
        )

    return draw


def draw_phase(densities, W, loss, importance: float):
    """Two features in one dimension: losses of two designs, and what training finds -> (fig, words)."""
    p = np.linspace(0, 1, 101)
    keep_one, pair = importance * (p / 3 - p**2 / 4), (1 + importance) * p**2 / 6
    crossing = 4 * importance / (2 + 5 * importance)
    second = W[:, 0, 1] ** 2
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(p, keep_one, "--", color=BLACK, label="keep feature 1 only")
    left.plot(p, pair, "-", color=VERMILION, label="opposite pair, no bias")
    left.plot(densities, loss, "o", color=BLUE, label="trained")
    left.axvline(crossing, color=BLACK, linestyle=":", linewidth=1)
    left.set(xlabel="probability p that a feature is active", ylabel="expected loss", ylim=(0, 0.1))
    left.set_title(f"The designs cross at p = {crossing:.2f}")
    left.legend(fontsize=9)
    right.plot(densities, W[:, 0, 0] ** 2, "s--", color=BLUE, label="feature 1")
    right.plot(densities, second, "o-", color=VERMILION, label="feature 2")
    right.axvline(crossing, color=BLACK, linestyle=":", linewidth=1)
    right.set(
        xlabel="probability p that a feature is active",
        ylabel="squared length of its vector",
        ylim=(-0.05, 1.5),
    )
    dropped = densities[int(np.argmax(second < 0.1))]
    last = densities[np.flatnonzero(second >= 0.1)[-1]]
    right.set_title(f"Feature 2: there at {last:g}, gone at {dropped:g}", fontsize=11)
    right.legend(fontsize=9)
    return fig, (
        f"Keeping one feature and the opposite pair cost the same at p = {crossing:.2f}. In the trained "
        f"models the squared length of feature 2 is {second[densities.index(last)]:.1f} at p = {last:g} "
        f"and {second[densities.index(dropped)]:.1f} at p = {dropped:g}."
    )


def draw_grams(densities, Ws, linear):
    """WᵀW of trained models at several densities, and of a linear one -> (fig, words)."""
    titles = [f"p = {p:g}: {stored(W).sum()} stored" for p, W in zip(densities, Ws, strict=True)]
    titles.append(f"linear, p = {densities[-1]:g}: {stored(linear).sum()}")
    fig, axes = plt.subplots(1, len(titles), figsize=(9.6, 2.9))
    for ax, W, title in zip(axes, [*Ws, linear], titles, strict=True):
        image = ax.imshow(W.T @ W, cmap="RdBu_r", vmin=-1.3, vmax=1.3)
        ax.set_title(title, fontsize=10)
        ax.set(xlabel="feature", xticks=[0, 9, 19], yticks=[0, 9, 19])
        ax.set_xticklabels([1, 10, 20])
        ax.set_yticklabels([1, 10, 20])
        ax.grid(False)
    axes[0].set_ylabel("feature")
    fig.colorbar(image, ax=axes, label="inner product", shrink=0.8)
    n, m = Ws[0].shape[1], Ws[0].shape[0]
    return fig, f"{n} features in {m} dimensions, Gram matrices. " + "; ".join(titles) + "."


# ---------------------------------------------------------------- digits


def parity_network(X, odd, train, hidden=24, steps=150, lr=0.03, seed=0):
    """A network trained to tell odd from even digits -> hidden layers before and after training, (w, b).

    X (n, d), odd (n,) 0/1, train: indices. Hidden layers (n, hidden); the logit is hidden @ w + b.
    """
    import torch

    g = torch.Generator().manual_seed(seed)
    x, t = torch.as_tensor(X), torch.as_tensor(odd, dtype=torch.float64)

    def draw(*shape):
        return (
            shape[0] ** -0.5 * torch.randn(*shape, generator=g, dtype=torch.float64)
        ).requires_grad_()

    W, c, w = (
        draw(X.shape[1], hidden),
        torch.zeros(hidden, dtype=torch.float64, requires_grad=True),
        draw(hidden),
    )
    b = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def layer():
        return (x @ W + c).relu()

    before = layer().detach().numpy()
    optimiser = torch.optim.Adam([W, c, w, b], lr=lr)
    for _ in range(steps):
        logit = (x[train] @ W + c).relu() @ w + b
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logit, t[train])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return before, layer().detach().numpy(), (w.detach().numpy(), b.item())


def fit_probe(H, T, ridge=1e-3):
    """Weights of the ridge probe T ≈ [1, H] w. H (n, d), T (n,) or (n, k) -> (d + 1,) or (d + 1, k)."""
    Z = np.column_stack([np.ones(len(H)), H])
    return np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T @ T)


def read_probe(H, w):
    """What the probe says of rows H."""
    return np.column_stack([np.ones(len(H)), H]) @ w


def draw_probes(table):
    """Test accuracy of probes for the digit, for odd or even, and for random labels -> (fig, words).

    table: {layer: (digit, odd, random)}, shares right.
    """
    fig, ax = plt.subplots()
    looks = (
        ("digit (chance 0.1)", BLUE, ""),
        ("odd or even (chance 0.5)", VERMILION, "//"),
        ("random labels (chance 0.1)", SKY, ".."),
    )
    grouped_bars(list(table), np.transpose(list(table.values())), ax, looks=looks, step=0.27)
    ax.set(ylabel="share right on new digits", ylim=(0, 1.4), yticks=np.linspace(0, 1, 6))
    ax.set_title("A probe finds what nobody asked the network for")
    ax.legend(fontsize=9, ncols=2, loc="upper center")
    told = "; ".join(
        f"{name}: digit {a:.2f}, odd {b:.2f}, random {c:.2f}" for name, (a, b, c) in table.items()
    )
    return fig, f"Accuracy of linear probes. {told}."


def draw_restored(true, R, P, rows):
    """Digits, what was known of them, and what the factors say -> (fig, words)."""
    fig, axes = plt.subplots(3, len(rows), figsize=(9, 3.5))
    for column, i in zip(axes.T, rows, strict=True):
        for ax, values in zip(column, (true[i], R[i], P[i]), strict=True):
            ax.set_facecolor("#cfe3f2")
            ax.imshow(np.clip(values, 0, 1).reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
    for ax, name in zip(axes[:, 0], ("true", "known", "predicted"), strict=True):
        ax.set_ylabel(name)
    hidden = np.isnan(R)
    error = np.sqrt(np.mean((P - true)[hidden] ** 2))
    fig.suptitle(
        f"Half of the pixels are hidden; they are predicted to ±{error:.2f}",
        x=0.02,
        ha="left",
        fontweight="bold",
        fontsize=12,
    )
    return fig, (
        f"{len(rows)} digits: true, known pixels ({1 - hidden.mean():.0%}), predicted from their vectors. "
        f"Root mean squared error on hidden pixels {error:.2f}, on a scale from 0 to 1."
    )


def draw_digit_dimensions(dims, held, baseline: float):
    """Held-out error of digits as ratings -> (fig, words). held: {penalty: (len(dims),)}."""
    fig, ax = plt.subplots()
    for (lam, values), style, color in zip(
        held.items(), ("^:", "o-"), (VERMILION, BLUE), strict=True
    ):
        ax.plot(dims, values, style, color=color, label=f"λ = {lam:g}")
    ax.axhline(baseline, color=BLACK, linestyle="--", label="mean of each pixel")
    ax.set(xlabel="dimension d", ylabel="error on hidden pixels", xscale="log", ylim=(0.15, 0.45))
    ax.set_xticks(dims, [str(d) for d in dims])
    ax.minorticks_off()
    weak, strong = sorted(held)
    falls = all(b < a for a, b in zip(held[strong], held[strong][1:], strict=False))
    what = "every added dimension helps" if falls else "extra dimensions do little harm"
    ax.set_title(f"With λ = {strong:g} {what}")
    ax.legend()
    return fig, (
        f"Error on hidden pixels at d = {dims[-1]}: {held[strong][-1]:.2f} with λ = {strong:g}, {held[weak][-1]:.2f} "
        f"with λ = {weak:g}; the mean of each pixel has {baseline:.2f}."
    )

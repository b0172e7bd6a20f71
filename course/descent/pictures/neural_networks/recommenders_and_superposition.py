"""Recommenders and superposition: filled tables, taste spaces, feedback, more features than dimensions."""

from collections.abc import Callable
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.linalg import expm, logm
from scipy.special import softmax

from descent import data
from descent.plots import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, fixed_axes, light
from descent.words import say

GREY = "#8A8A8A"

# ---------------------------------------------------------------- tables with gaps


def taste_world(users=60, items=40, d=2, noise=0.3, share=0.3, seed=0):
    """Ratings with hidden tastes -> true (users, items), R (users, items) with NaN where unknown.

    true = A Bᵀ for normal A, B; a known rating is true + normal noise, in stars above the average.
    """
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(users, d)) @ rng.normal(size=(items, d)).T
    noisy = true + noise * rng.normal(size=true.shape)
    return true, np.where(rng.random(true.shape) < share, noisy, np.nan)


@cache
def lost_digits(images=400, seed=13):
    """Digits (images, 64) from 0 to 1, the same with half of the pixels NaN, and their labels."""
    rng, digits = np.random.default_rng(seed), data.digits()
    rows = rng.permutation(len(digits.X))[:images]
    whole = digits.X[rows] / 16
    seen = np.where(rng.random(whole.shape) < 0.5, whole, np.nan)
    return whole, seen, digits.y[rows].astype(int)


def rmse(P, R) -> float:
    """Root mean squared difference over the entries known in both."""
    return float(np.sqrt(np.nanmean((P - R) ** 2)))


def draw_digits(rows, title: str, told):
    """Images of 8 × 8 pixels, a row of them to each name -> (fig, words). rows: {name: (n, 64)}; NaN is blue."""
    count = len(next(iter(rows.values())))
    fig, axes = plt.subplots(len(rows), count, figsize=(9, 1.05 * len(rows) + 0.5))
    for line, (name, images) in zip(axes, rows.items(), strict=True):
        for ax, image in zip(line, images, strict=True):
            ax.set_facecolor("#8FC1E3")
            ax.imshow(np.clip(image, 0, 1).reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
        line[0].set_ylabel(name)
    fig.suptitle(title, x=0.02, ha="left", fontweight="bold", fontsize=12)
    return fig, told


def draw_lost(whole, seen, columns):
    """What is known of some digits -> (fig, words)."""
    known = np.isfinite(seen)
    return draw_digits(
        {"true": whole[columns], "known": seen[columns]},
        f"{known.mean():.0%} of the pixels are known",
        say(
            "{n} images of 64 pixels; a share of {share:.2f} is known, the rest (blue) is to be filled in.",
            n=len(whole), share=float(known.mean()),
        ),
    )  # fmt: skip


def draw_filled(images, errors):
    """Digits, what was known of them and what was filled in -> (fig, words). errors: of the fill, of means alone."""
    return draw_digits(
        images,
        f"Lost pixels are filled to ±{errors[0]:.2f}",
        say(
            "Root mean squared error on lost pixels {fill:.2f}, by the mean of each pixel {means:.2f}, on a scale from "
            "0 to 1.",
            fill=errors[0], means=errors[1],
        ),
    )  # fmt: skip


def first_vectors(n, d, seed=1):
    """Small random vectors (n, d) to start from: never at 0."""
    return 0.3 * np.random.default_rng(seed).normal(size=(n, d))


def by_dimension(recommender, R, true):
    """Errors of that class on known and on held-out ratings -> dims, train, held: {penalty: errors}."""
    dims, hidden = (1, 2, 3, 4, 6, 8), np.where(np.isnan(R), true, np.nan)
    train, held = {}, {}
    for lam in (0.01, 1.0, 4.0):
        fits = [recommender(lam).fit(R, first_vectors(R.shape[1], d), 1e-3, 12) for d in dims]
        guesses = [fit.mean + fit.A @ fit.B.T for fit in fits]
        train[lam], held[lam] = (np.array([rmse(P, on) for P in guesses]) for on in (R, hidden))
    return dims, train, held


def what_overfits(dims, train, held) -> int:
    """Of the four options what d = 8 does to d = 2, with next to no penalty."""
    two = dims.index(2)
    known, new = (errors[0.01][-1] / errors[0.01][two] for errors in (train, held))
    if known > 0.95:
        return 3 if new < 1.1 else 1
    return 2 if new > 1.5 else 0


def new_neighbours(recommender, R) -> int:
    """How many films get another nearest film when the fit is stretched by [[2, ½], [0, ½]]."""
    B = recommender(1.0).fit(R, first_vectors(R.shape[1], 2), 1e-12, 500).B
    M = np.array([[2.0, 0.5], [0.0, 0.5]])
    near = [
        (np.linalg.norm(X[:, None] - X, axis=-1) + 99 * np.eye(len(X))).argmin(1)
        for X in (B, B @ np.linalg.inv(M))
    ]
    return int(np.sum(near[0] != near[1]))


def size(A, B) -> float:
    """What the penalty sees of two factors."""
    return float((np.sum(A**2) + np.sum(B**2)) / 2)


def draw_ratings(R, true):
    """What is known of a table of ratings, and what lies behind it -> (fig, words)."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    known = np.isfinite(R)
    titles = f"Known: {known.mean():.0%} of the ratings", "Behind them: rank 2"
    for ax, values, title in zip(axes, (R, true), titles, strict=True):
        image = ax.imshow(values, cmap="cividis", vmin=-4, vmax=4, aspect="auto")
        ax.set(xlabel="film j", title=title)
        ax.grid(False)
    axes[0].set_ylabel("user i")
    fig.colorbar(image, ax=axes, label="stars above average")
    return fig, say(
        "{users} users, {films} films: {known} of {all} ratings are known. Behind all stand {vectors} vectors "
        "of two numbers.",
        users=R.shape[0], films=R.shape[1], known=int(known.sum()), all=R.size, vectors=sum(true.shape),
    )  # fmt: skip


def draw_dimensions(dims, train, held):
    """Errors against the dimension -> (fig, words). train, held: {penalty: errors (len(dims),)}."""
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    titles = "Known ratings: errors fall", "Held out: a weak penalty fails"
    for ax, errors, title in zip(axes, (train, held), titles, strict=True):
        looks = zip(errors.items(), ("o--", "s-", "^:"), (VERMILION, BLUE, GREEN), strict=False)
        for (lam, values), style, color in looks:
            ax.plot(dims, values, style, color=color, label=f"λ = {lam:g}")
        ax.set(xlabel="dimension d", title=title, ylim=(0, 1.5), xticks=dims)
        ax.set_ylabel("root mean squared error (stars)")
    axes[0].legend()
    weak = min(held)
    if held[weak][-1] > 1.5:
        axes[1].annotate(
            f"up to {held[weak].max():.1f}", (0.98, 0.92), xycoords="axes fraction", ha="right"
        )
    told = [
        f"λ = {lam:g}: training {train[lam][-1]:.2f}, held out {held[lam][-1]:.2f}, best at d = {dims[best]}"
        for lam, best in ((lam, int(np.argmin(errors))) for lam, errors in held.items())
    ]
    return fig, say("Errors at d = {d}. {told}.", d=dims[-1], told="; ".join(told))


def draw_descent(curves, floor: float):
    """Loss against passes over the ratings -> (fig, words). curves: {name: losses}; floor: the lowest known."""
    fig, ax = plt.subplots()
    looks = zip(curves.items(), ("o-", "s--", "^:"), (BLUE, VERMILION, GREEN), strict=False)
    for (name, losses), style, color in looks:
        above = np.where(losses - floor > 1e-3, losses - floor, np.nan)
        ax.plot(above, style, color=color, markersize=4, label=name)
    ax.set(yscale="log", xlabel="passes over the known ratings", ylabel="J above its lowest value")
    ax.set_xticks(range(0, len(above), 5))
    ax.set_title("Exact half-steps need the fewest passes")
    ax.legend()
    five = {name: float(losses[5] - floor) for name, losses in curves.items()}
    told = ", ".join(f"{name} {value:.0f}" for name, value in five.items())
    return fig, say("J above its lowest value after 5 passes: {told}.", told=told)


# ---------------------------------------------------------------- lists and geometry

FILMS = {  # action, romance
    "Rooftop Chase": (0.9, 0.1),
    "Lighthouse Letters": (0.0, 0.9),
    "Orbit of Rust": (0.75, -0.35),
    "Robots in Spring": (0.25, 0.65),
    "Last Train to Kiruna": (0.6, 0.5),
    "The Quiet Planet": (-0.1, 0.3),
    "Two Umbrellas": (-0.45, 0.75),
    "Tax Inspectors": (-0.5, -0.3),
}


def ranking_explorer(rank_items: Callable) -> Callable:
    """-> draw(action, romance): a taste among eight films, and the list that it makes."""
    names, B = list(FILMS), np.array(list(FILMS.values()))

    def draw(action: float, romance: float):
        a = np.array([action, romance])
        order = np.asarray(rank_items(a, B, np.zeros(len(B), dtype=bool), len(B)))
        scores = B[order] @ a
        fig, (plane, bars) = fixed_axes(2, (9, 3.8), (0.08, 0.98, 0.15, 0.88), wspace=0.62)
        plane.axline((0, 0), (-romance, action + 1e-9), color=GREY, linestyle="--", linewidth=1)
        plane.plot([0, action], [0, romance], color=VERMILION)
        plane.plot(action, romance, "*", color=VERMILION, markersize=18)
        for place, j in enumerate(order):
            plane.plot(*B[j], "o", color=BLUE if B[j] @ a >= 0 else ORANGE)
            plane.annotate(str(place + 1), B[j], (5, 3), textcoords="offset points", fontsize=9)
        plane.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), xlabel="action", ylabel="romance")
        plane.set_gid("taste")
        light(plane, "Taste (star), films by place", (-1, 0, 1), (-1, 0, 1), fontsize=11)
        bars.barh(range(len(B)), scores, color=[BLUE if s >= 0 else ORANGE for s in scores])
        bars.set(xlim=(-1.5, 1.5), ylim=(len(B) - 0.5, -0.5), xlabel="predicted rating ⟨a, b⟩")
        light(bars, f"First: {names[order[0]]}", (-1, 0, 1), fontsize=11)
        bars.set_yticks(range(len(B)), [names[j] for j in order], fontsize=9)
        listed = ", ".join(f"{names[j]} {s:.2f}" for j, s in zip(order, scores, strict=True))
        return fig, say(
            "Taste: action {action:.2f}, romance {romance:.2f}. List: {listed}.",
            action=action, romance=romance, listed=listed,
        )  # fmt: skip

    return draw


def draw_gauges(versions, marks):
    """The same factors in several gauges -> (fig, words). versions: {name: (A, B)}, marks: three films."""
    fig, axes = plt.subplots(1, len(versions), figsize=(7.1, 3.2))
    told = {}
    for ax, (name, (A, B)) in zip(axes, versions.items(), strict=True):
        ax.plot(*A.T, "o", color=BLUE, alpha=0.45, markersize=4, label="users")
        ax.plot(*B.T, "x", color=VERMILION, markersize=5, label="films")
        for j, text, offset in zip(marks, "PQR", ((5, 4), (5, 4), (-14, 5)), strict=True):
            ax.plot(*B[j], "D", color=BLACK, markersize=5)
            ax.annotate(text, B[j], offset, textcoords="offset points", fontweight="bold")
        gaps = np.linalg.norm(B[marks[0]] - B[list(marks[1:])], axis=1)
        ax.set_title(f"{name}:\nP is nearer to {'QR'[int(np.argmin(gaps))]}", fontsize=10.5)
        ax.set(xlabel="coordinate 1", ylabel="coordinate 2")
        ax.axis("equal")
        told[name] = gaps
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    gaps = "; ".join(f"{name}: P to Q {q:.2f}, P to R {r:.2f}" for name, (q, r) in told.items())
    return fig, say(
        "Three films P, Q, R; every panel predicts the same. Distances: {gaps}.", gaps=gaps
    )


def switching(B, other):
    """Three rows P, Q, R: in B, P is nearer to Q, in the other gauge nearer to R; the clearest such case."""
    one, two = (np.linalg.norm(X[:, None] - X, axis=-1) for X in (B, other))
    best, marks = 0.0, (0, 1, 2)
    for p, q, r in np.ndindex(len(B), len(B), len(B)):
        if len({p, q, r}) == 3:
            clear = min(np.log(one[p, r] / one[p, q]), np.log(two[p, q] / two[p, r]))
            best, marks = max((best, marks), (clear, (p, q, r)))
    return marks


# ---------------------------------------------------------------- the feedback loop


def catalogue(items=24, seed=1):
    """Films in the plane, most of them along one direction, mean 0 -> (items, 2)."""
    rng = np.random.default_rng(seed)
    angle = np.pi * (np.arange(items) + rng.uniform(0, 0.8, items)) * 2 / items
    B = np.column_stack([1.3 * np.cos(angle), 0.7 * np.sin(angle)])
    return B - B.mean(0)


def shares(a, B, beta, explore):
    """How often each item is shown -> (…, items); a (…, d)."""
    return (1 - explore) * softmax(beta * (a @ B.T), axis=-1) + explore / len(B)


def feedback_explorer(step: Callable, B, start=(0.02, 0.05), rounds=120) -> Callable:
    """-> draw(beta, explore, round): how a taste drifts, and how many films it is shown."""
    spread = np.linalg.eigvalsh(B.T @ B / len(B))[-1]

    @cache
    def loop(beta, explore):
        path, diversity = [np.array(start)], []
        for _ in range(rounds):
            new, effective = step(path[-1], B, beta, explore, 0.1)
            path.append(np.asarray(new, dtype=float))
            diversity.append(float(effective))
        return np.array(path), np.array(diversity)

    def draw(beta: float, explore: float, round: int):
        path, diversity = loop(beta, explore)
        a, p = path[round], shares(path[round], B, beta, explore)
        gain, now = (1 - explore) * beta * spread, diversity[min(round, rounds - 1)]
        fig, (left, right) = fixed_axes(2, (9, 3.5), (0.09, 0.98, 0.16, 0.9), wspace=0.28)
        left.scatter(*B.T, s=20 + 900 * p, color=SKY, edgecolor=BLACK, linewidth=0.5)
        left.plot(*path[: round + 1].T, "-", color=VERMILION)
        left.plot(*a, "*", color=VERMILION, markersize=14)
        left.set(xlabel="coordinate 1", ylabel="coordinate 2", xlim=(-1.7, 1.7), ylim=(-1.1, 1.1))
        light(
            left, f"Taste (star) and shares; gain {gain:.2f}", (-1, 0, 1), (-1, 0, 1), fontsize=11
        )
        right.plot(diversity, color=BLUE)
        right.plot(round, now, "o", color=BLUE)
        right.set(xlabel="round", ylabel="effective number of films", ylim=(0, len(B) + 1))
        light(right, f"Diversity {now:.1f} of {len(B)}", (0, 60, 120), (0, 8, 16, 24), fontsize=11)
        return fig, say(
            "Gain {gain:.2f}. Round {round}: the taste has length {length:.2f}, the diversity is {now:.1f} of {all} "
            "films, the commonest has a share of {most:.2f}.",
            gain=float(gain), round=round, length=float(np.linalg.norm(a)), now=float(now), all=len(B),
            most=float(p.max()),
        )  # fmt: skip

    return draw


# ---------------------------------------------------------------- a rating that is not bilinear


def peaked_world(users=60, items=40, noise=0.03, share=0.5, seed=0):
    """Ratings that peak where a drink is just as the user wants -> true, R (NaN where unknown)."""
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
    angle = np.arctan2(second, np.abs(first))
    return torch.from_numpy((angle - angle.mean()) / angle.std()).requires_grad_()


def draw_nonlinear(dims, linear, network: float, noise: float):
    """Held-out errors of rank-d factorisations and of a network -> (fig, words)."""
    fig, ax = plt.subplots()
    ax.plot(dims, linear, "o-", color=BLUE, label="inner product in d dimensions")
    ax.plot(dims[0], network, "*", color=VERMILION, ms=14, label="network f(a, b), one dimension")
    ax.axhline(noise, color=BLACK, linestyle="--", label="noise")
    ax.set(xlabel="dimension d", ylabel="held-out error", ylim=(0, None), xticks=dims)
    ax.set_title("A peak needs many products, or one bend")
    ax.legend()
    return fig, say(
        "Held-out error of the inner product: {first:.2f} at d = {low}, {last:.2f} at d = {high}. Network with d = 1: "
        "{network:.2f}. Noise: {noise}.",
        first=linear[0], low=dims[0], last=linear[-1], high=dims[-1], network=network, noise=noise,
    )  # fmt: skip


# ---------------------------------------------------------------- bases


def turned_basis(d=12, seed=0):
    """Orthonormal columns (d, d) with determinant 1."""
    Q, R = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Q


def basis_explorer(h, features) -> Callable:
    """-> draw(turn): the coefficients of h in a basis between the coordinates (0) and `features` (1)."""
    generator = np.real(logm(features))
    generator, places = (generator - generator.T) / 2, np.arange(1, len(h) + 1)

    def draw(turn: float):
        c = expm(turn * generator).T @ h
        big = np.abs(c) > 0.1
        fig, ax = fixed_axes(1, (6.4, 3.2), (0.12, 0.97, 0.18, 0.9))
        ax.bar(places, c, color=np.where(big, VERMILION, SKY))
        ax.set(xlabel="basis vector i", ylabel="coefficient cᵢ", ylim=(-3.2, 3.2))
        light(
            ax,
            f"Turn {turn:.2f}: {big.sum()} of {len(h)} exceed 0.1 in size",
            places,
            (-2, 0, 2),
            fontsize=12,
        )
        return fig, say(
            "Turn {turn:.2f}: {big} of {d} coefficients exceed 0.1 in size; the largest is {largest:.2f}, the sum of "
            "squares {squares:.2f}.",
            turn=turn, big=int(big.sum()), d=len(h), largest=float(np.abs(c).max()), squares=float(c @ c),
        )  # fmt: skip

    return draw


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
    right.set_title("Only active features disturb")
    right.set_xticks(counts, [str(n) for n in counts])
    right.minorticks_off()
    right.legend(fontsize=9)
    return fig, say(
        "At 60 degrees projection errs by {wide[0]:.2f}, the joint fit by {wide[1]:.2f}; at 10 degrees by "
        "{close[0]:.2f} and {close[1]:.2f}. {n} features in {d} dimensions are read with error {few:.2f} if {active} "
        "are active, {every:.2f} if all are. Lines are formulas.",
        wide=errors[6].tolist(), close=errors[0].tolist(), n=counts[-1], d=d, few=few[-1], active=active,
        every=every[-1],
    )  # fmt: skip


# ---------------------------------------------------------------- networks that must choose


@cache
def toy_models(
    n, m, densities, importance, *, relu=True, steps=400, batch=256, restarts=4, frames=40
):
    """Trained autoencoders x̂ = ReLU(WᵀWx + b), one for each density -> W (F, C, m, n), b (F, C, n), loss (C,).

    F frames of the training, the last is its end. A feature is 0 with probability 1 − density, else uniform on (0, 1).
    The loss is the expected Σ importance_i (x_i − x̂_i)². Of `restarts` starts the best on fresh data is kept.
    """
    g = torch.Generator().manual_seed(0)
    kind = dict(generator=g, dtype=torch.float64)
    density = torch.tensor(densities, dtype=torch.float64).reshape(-1, 1, 1, 1)
    weight = torch.tensor(importance, dtype=torch.float64)

    def sample(size):
        x = torch.rand(len(density), 1, size, n, **kind)
        return x * (torch.rand(len(density), 1, size, n, **kind) < density)

    def losses(x):
        y = x @ W.mT @ W + b
        return ((x - (y.relu() if relu else y)).square() * weight).sum(-1).mean(-1)

    W = (0.5 * torch.randn(len(density), restarts, m, n, **kind)).requires_grad_()
    b = torch.zeros(len(density), restarts, 1, n, dtype=torch.float64, requires_grad=True)
    optimiser, rate, taken = torch.optim.Adam([W, b]), 0.05, []
    for step in range(steps):
        if step % (steps // frames) == 0:
            taken.append((W.detach().clone(), b.detach().clone()))
        optimiser.param_groups[0]["lr"] = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
        optimiser.zero_grad()
        losses(sample(batch)).sum().backward()
        optimiser.step()
    taken.append((W.detach(), b.detach()))
    with torch.no_grad():
        value = losses(sample(4000))
    pick = (torch.arange(len(density)), value.argmin(1))
    Ws, bs = (np.array([one[pick].numpy() for one in film]) for film in zip(*taken, strict=True))
    return Ws, bs[:, :, 0], value[pick].numpy()


def stored(W):
    """Which columns count as stored: squared length above a half. (…, m, n) -> (…, n) bool."""
    return np.sum(W**2, axis=-2) > 0.5


DENSITIES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02)
IMPORTANCE = tuple(0.9 ** np.arange(5))


def five_in_two():
    """The networks of the experiment: five features, two dimensions, nine densities."""
    return toy_models(5, 2, DENSITIES, IMPORTANCE)


def rare_and_dense():
    """How many of the five are stored at the lowest density, and at density 1."""
    kept = stored(five_in_two()[0][-1]).sum(1)
    return int(kept[-1]), int(kept[0])


def upright(W):
    """The rotation (2, 2) after which the longest column of W (2, n) points up."""
    w = W[:, np.linalg.norm(W, axis=0).argmax()]
    c, s = w[::-1] / np.linalg.norm(w)
    return np.array([[c, -s], [s, c]])


def toy_explorer(interference: Callable) -> Callable:
    """-> draw(density, step): the features of a network in training, what disturbs them, and what comes out."""
    Ws, bs, _ = five_in_two()

    def draw(density: float, step: int):
        c = DENSITIES.index(density)
        W, b = upright(Ws[-1, c]) @ Ws[step, c], bs[step, c]
        kept, place = stored(W), np.arange(1, 6)
        _, cross = (np.asarray(v, dtype=float) for v in interference(W))
        one, two = np.eye(5)[0], np.eye(5)[0] + np.eye(5)[1]
        outs = [np.maximum(W.T @ W @ x + b, 0) for x in (one, two)]
        errors = [float(np.abs(out - x).max()) for out, x in zip(outs, (one, two), strict=True)]
        fig, (plane, out_one, out_two) = fixed_axes(
            3, (7.1, 2.7), (0.08, 0.99, 0.19, 0.88), wspace=0.34
        )
        for i, w in enumerate(W.T):
            color, marker = (BLUE, "o") if kept[i] else (ORANGE, "x")
            plane.plot([0, w[0]], [0, w[1]], "-", color=color)
            plane.plot(*w, marker, color=color, markersize=8)
            if np.linalg.norm(w) > 0.3:  # others lie on one another at 0
                plane.annotate(str(i + 1), 1.32 * w, fontsize=11, ha="center", va="center")
        plane.set(xlim=(-1.9, 1.9), ylim=(-1.7, 1.7), xlabel="number 1", ylabel="number 2")
        light(plane, f"{kept.sum()} of 5 stored", (-1, 0, 1), (-1, 0, 1), fontsize=10.5)
        for ax, x, out, error, what in zip(
            (out_one, out_two), (one, two), outs, errors, ("1", "1, 2"), strict=True
        ):
            ax.bar(place - 0.2, x, 0.4, color=BLACK, label="in")
            ax.bar(place + 0.2, out, 0.4, color=SKY, hatch="//", edgecolor="white", label="out")
            ax.set(xlabel="feature", ylabel="value", ylim=(0, 1.7))
            light(ax, f"{what} active: error {error:.1f}", place, (0, 1), fontsize=10.5)
        out_one.legend(fontsize=9, ncols=2, loc="upper right")
        return fig, say(
            "Active with probability {density:g}, training {step} of 40. Stored: {kept} of 5; squared lengths "
            "{lengths}; mean interference {cross:.1f}. Largest error with feature 1 active {one:.1f}, with 1 and 2 "
            "{two:.1f}.",
            density=density, step=step, kept=int(kept.sum()), cross=float(cross.mean()), one=errors[0], two=errors[1],
            lengths=", ".join(f"{v:.1f}" for v in np.sum(W**2, axis=0)),
        )  # fmt: skip

    return draw


def draw_phase(densities, W, loss, importance: float):
    """Two features in one dimension: what two designs cost, and what training finds -> (fig, words)."""
    p = np.linspace(0, 1, 101)
    keep_one, pair = importance * (p / 3 - p**2 / 4), (1 + importance) * p**2 / 6
    crossing = 4 * importance / (2 + 5 * importance)
    second = W[:, 0, 1] ** 2
    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    left.plot(p, keep_one, "--", color=BLACK, label="keep feature 1 only")
    left.plot(p, pair, "-", color=VERMILION, label="opposite pair, no bias")
    left.plot(densities, loss, "o", color=BLUE, label="trained")
    left.set(ylabel="expected loss", ylim=(0, 0.1))
    left.set_title(f"The designs cross at p = {crossing:.2f}")
    right.plot(densities, W[:, 0, 0] ** 2, "s--", color=BLUE, label="feature 1")
    right.plot(densities, second, "o-", color=VERMILION, label="feature 2")
    right.set(ylabel="squared length of its vector", ylim=(-0.05, 1.5))
    gone = densities[int(np.argmax(second < 0.1))]
    last = densities[np.flatnonzero(second >= 0.1)[-1]]
    right.set_title(f"Feature 2: there at p = {last:g}, gone at {gone:g}", fontsize=11)
    for ax in (left, right):
        ax.axvline(crossing, color=BLACK, linestyle=":", linewidth=1)
        ax.set_xlabel("probability p that a feature is active")
        ax.legend(fontsize=9)
    return fig, say(
        "The two designs cost the same at p = {crossing:.2f}. Training keeps feature 2 at p = {last:g} and drops it "
        "at p = {gone:g}.",
        crossing=crossing, last=last, gone=gone,
    )  # fmt: skip


# ---------------------------------------------------------------- digits: vectors and probes


def draw_answer(one, other, dims, right):
    """Two fits' first numbers, as trained and in one gauge; digits read from d numbers -> (fig, words).

    one, other: pairs (as trained, canonical) of first numbers (n,). right: shares right (len(dims),).
    """
    fig, axes = plt.subplots(1, 3, figsize=(7.1, 2.8), width_ratios=(1, 1, 1.2))
    cosines = [float(np.corrcoef(x, y)[0, 1]) for x, y in zip(one, other, strict=True)]
    titles = "Number 1, as trained", "Number 1, one gauge"
    for ax, x, y, title in zip(axes, one, other, titles, strict=False):
        ax.plot(x, y, ".", color=BLUE, markersize=4)
        ax.set(xlabel="fit from start 1", ylabel="fit from start 2")
        ax.set_title(title, fontsize=9.5)
        ax.locator_params(nbins=4, steps=[1, 2, 4, 10])
    axes[2].plot(dims, right, "o-", color=BLUE, label="ten directions")
    axes[2].axhline(0.1, color=BLACK, linestyle="--", label="chance")
    axes[2].set(xlabel="numbers d", ylabel="new digits read", ylim=(0, 1), xticks=dims)
    axes[2].set_title("One direction a digit", fontsize=9.5)
    axes[2].legend(fontsize=9, loc="lower right", bbox_to_anchor=(1, 0.12))
    return fig, say(
        "Correlation of number 1 between two fits: {raw:.1f} as trained, {gauged:.2f} in one gauge. Ten directions "
        "read a share of {few:.1f} from {low} numbers, {many:.1f} from {high}.",
        raw=cosines[0], gauged=cosines[1], few=right[0], low=dims[0], many=right[-1], high=dims[-1],
    )  # fmt: skip


def parity_network(X, odd, train, hidden=24, steps=150, lr=0.03, seed=0):
    """A network trained to tell odd from even digits -> hidden layers before and after training, (w, b).

    X (n, d), odd (n,) 0/1, train: indices. Hidden layers (n, hidden); the logit is hidden @ w + b.
    """
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

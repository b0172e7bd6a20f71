"""Pictures of the network project: the course of a training, what a unit looks for, what was misread."""

import matplotlib.pyplot as plt
import numpy as np

from descent.plots import BLACK, BLUE, GREEN, VERMILION


def scores(params, X):
    """Scores of a network: params [(W (out, in), b (out,)), …], X (n, d) -> (n, k). ReLU between layers."""
    for number, (W, b) in enumerate(params):
        X = (X if number == 0 else np.maximum(X, 0)) @ np.asarray(W).T + np.asarray(b)
    return X


def draw_training(spent, losses, own, new):
    """Loss of the batches against the rows spent; shares right of the training and of the try rows -> (fig, words)."""
    fig, ax = plt.subplots()
    ax.plot(spent, losses, color=BLUE, lw=0.8, alpha=0.5, label="loss of a batch")
    width = max(1, len(losses) // 20)
    smooth = np.convolve(losses, np.ones(width) / width, mode="valid")
    ax.plot(spent[width - 1 :], smooth, color=VERMILION, label=f"mean of {width} batches")
    ax.axhline(np.log(10), color=BLACK, ls=":", lw=1.2, label="log 10: knows nothing")
    ax.set(
        xlabel="rows spent",
        ylabel="cross-entropy (nats)",
        yscale="log",
        title=f"Right: {own:.1%} of the training rows, {new:.1%} of the try rows",
    )
    ax.set_ylim(top=15)
    ax.legend(loc="upper right", ncols=3, fontsize=9)
    words = (
        f"The loss falls from {np.mean(losses[:width]):.1f} to {np.mean(losses[-width:]):.2f} nats "
        f"over {spent[-1]} rows. "
        f"Right are {own:.1%} of the training rows and {new:.1%} of the try rows."
    )
    return fig, words


def draw_unit(params, X, y, unit):
    """One hidden unit: its weights, the digits that excite it most, and whom it helps -> (fig, words)."""
    (W, b), (V, _) = params[0], params[1]
    W, V = np.asarray(W), np.asarray(V)
    value = np.maximum(X @ W[unit] + np.asarray(b)[unit], 0)
    best = np.argsort(-value, kind="stable")[:8]
    fig = plt.figure(figsize=(9.4, 3.0))
    grid = fig.add_gridspec(2, 8, width_ratios=[1.6, 1, 1, 1, 1, 0.2, 2, 2])
    ax = fig.add_subplot(grid[:, 0])
    size = np.abs(W[unit]).max()
    ax.imshow(W[unit].reshape(8, 8), cmap="PuOr", vmin=-size, vmax=size)
    ax.set(title=f"Unit {unit}", xticks=[], yticks=[], xlabel="weights\n(purple > 0)")
    for place, row in enumerate(best):
        ax = fig.add_subplot(grid[place // 4, 1 + place % 4])
        ax.imshow(X[row].reshape(8, 8), cmap="Greys")
        ax.set(xticks=[], yticks=[], title=str(y[row]))
    ax = fig.add_subplot(grid[:, 6:])
    colours = np.where(V[:, unit] > 0, GREEN, VERMILION)
    ax.bar(range(10), V[:, unit], color=colours, hatch=["" if v > 0 else "//" for v in V[:, unit]])
    ax.axhline(0, color=BLACK, lw=1)
    ax.set(xticks=range(10), xlabel="digit", ylabel="weight to the score", title="Whom it helps")
    helps = (
        ", ".join(str(k) for k in np.flatnonzero(V[:, unit] > 0.5 * V[:, unit].max()))
        if V[:, unit].max() > 0
        else "none"
    )
    awake = np.mean(value > 0)
    words = (
        f"Unit {unit} is awake on {awake:.0%} of the digits. The eight that excite it most are "
        f"{', '.join(str(k) for k in y[best])}. It helps most: {helps}."
    )
    if awake == 0:
        words = f"Unit {unit} is dead: none of the digits wakes it, whatever its weights say."
    return fig, words


def busiest_unit(params, X):
    """Number of the hidden unit of the first layer that is awake on the largest share of rows X (n, d)."""
    W, b = params[0]
    return int(np.argmax(np.mean(X @ np.asarray(W).T + np.asarray(b) > 0, axis=0)))


def draw_misread(X, y, called, columns=10):
    """The rows that were misread, with both labels -> (fig, words)."""
    rows = np.flatnonzero(called != y)[: 2 * columns]
    lines = max(1, -(-len(rows) // columns))
    fig, axes = plt.subplots(lines, columns, figsize=(9.4, 1.35 * lines), squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, row in zip(axes.flat, rows, strict=False):
        ax.imshow(X[row].reshape(8, 8), cmap="Greys")
        ax.set_title(f"{y[row]} as {called[row]}", fontsize=9)
    wrong = int(np.sum(called != y))
    right = 1 - wrong / len(y)
    error = np.sqrt(right * (1 - right) / len(y))
    fig.suptitle(
        f"{right:.1%} of {len(y)} right, standard error {100 * error:.1f} points",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    words = (
        f"{wrong} of {len(y)} digits are misread: {right:.1%} are right, standard error {100 * error:.1f} points. "
        f"The first {len(rows)} misread are shown with the true and the read label."
    )
    return fig, words


def draw_shares(shares):
    """Bars of shares by name -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(7.4, 3.4))
    names = list(shares)
    bars = ax.barh(names, [100 * shares[name] for name in names], color=BLUE)
    ax.bar_label(bars, fmt="%.1f %%", padding=4)
    ax.invert_yaxis()
    ax.set(
        xlim=(0, 110),
        xlabel="right on the try rows (%), mean of 3 starts",
        title="Noisy steps win at the same price",
    )
    return fig, "Right on the try rows: " + ", ".join(
        f"{name} {shares[name]:.1%}" for name in names
    ) + "."

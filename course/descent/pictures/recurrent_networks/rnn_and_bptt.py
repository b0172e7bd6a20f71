"""Recurrent networks: tasks and first weights, a network trained by torch, messages on the way back, what they draw.

Compute (pure): `network`, `recall`, `practise`, `path_messages`, … Draw: `draw_…` return (fig, words).
A network is [E, W, b, R]: h_t = tanh(h_{t-1} W + E[symbol] + b), scores h_t R, one row a sequence.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.special import expit

from descent.plots import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, VERMILION, fixed_axes
from descent.words import say

GREY = "#808080"  # seen on white and on black
LOOKS = [("-", BLUE), ("--", ORANGE), ("-.", GREEN), (":", PINK), ("-", SKY)]

ACTIVATIONS = {
    "logistic": (expit, lambda a: expit(a) * expit(-a)),
    "tanh": (np.tanh, lambda a: 1 - np.tanh(a) ** 2),
    "ReLU": (lambda a: np.maximum(a, 0), lambda a: (a > 0) * 1.0),
}


def network(symbols, size, gain, seed=0):
    """First weights: the recurrent ones are `gain` times a random rotation. -> [E, W, b, R]"""
    rng = np.random.default_rng(seed)
    E = rng.normal(0, 0.3, (symbols, size))
    W = gain * np.linalg.qr(rng.normal(size=(size, size)))[0]
    R = rng.normal(size=(size, symbols)) / np.sqrt(size)
    return [E, W, np.zeros(size), R]


def recall(rng, rows=32, length=20, symbols=4):
    """A batch of letters; asked, after the last, is the first. -> ids, targets (-1: nothing asked), fresh"""
    ids = rng.integers(symbols, size=(rows, length))
    targets = np.full_like(ids, -1)
    targets[:, -1] = ids[:, 0]
    return ids, targets, True


def loss_of(x, y, w, act):
    """(w2 h_T - y)² of the network of single numbers, w = (w0, w1, w2)."""
    h = 0.0
    for number in x:
        h = ACTIVATIONS[act][0](w[0] * number + w[1] * h)
    return (w[2] * h - y) ** 2


class Net(torch.nn.Module):
    """The same network by torch, in float64."""

    def __init__(self, params):
        super().__init__()
        E, W, b, R = (torch.as_tensor(p) for p in params)
        self.rnn = torch.nn.RNN(len(E), len(W), batch_first=True, dtype=torch.float64)
        self.read = torch.nn.Linear(*R.shape, bias=False, dtype=torch.float64)
        with torch.no_grad():
            own = (*self.rnn.parameters(), self.read.weight)
            for mine, given in zip(own, (E.T, W.T, b, 0 * b, R.T), strict=True):
                mine.copy_(given)

    def forward(self, ids):
        """States (B, T, H) and scores (B, T, K) of ids (B, T)."""
        seen = torch.nn.functional.one_hot(torch.as_tensor(ids), self.rnn.input_size)
        states = self.rnn(seen.double())[0]
        return states, self.read(states)


def torchs(ids, *params):
    """States after each symbol by torch.nn.RNN. ids (B, T), params E, W, b, R -> (T, B, H)"""
    with torch.no_grad():
        return Net(params)(ids.copy())[0].transpose(0, 1).numpy()


def torchs_slopes(ids, targets, params):
    """Slopes of the loss by E, W, b, R, by torch's autograd; targets are -1 where nothing is asked."""
    net = Net(params)
    scores = net(ids)[1].flatten(0, 1)
    asked = torch.as_tensor(targets).flatten()
    torch.nn.functional.cross_entropy(scores, asked, ignore_index=-1).backward()
    into, on, bias, _ = (p.grad for p in net.rnn.parameters())
    return [g.numpy() for g in (into.T, on.T, bias, net.read.weight.grad.T)]


def practise(gain, n_steps=300, every=25, lr=1.0, c=0.3, seed=0):
    """Train on `recall` by torch, clipped. -> updates, share right on 500 new rows after so many."""
    net, rng = Net(network(4, 32, gain, seed)), np.random.default_rng(seed)
    net.rnn.bias_hh_l0.requires_grad_(False)  # torch has two biases, the network one
    sgd = torch.optim.SGD(net.parameters(), lr)
    ids, targets, _ = recall(np.random.default_rng(99), 500)
    asked, steps, right = torch.as_tensor(targets[:, -1]), [], []
    for step in range(n_steps + 1):
        if step % every == 0:
            with torch.no_grad():
                right.append((net(ids)[1][:, -1].argmax(1) == asked).double().mean().item())
            steps.append(step)
        batch, wanted, _ = recall(rng)
        scores = net(batch)[1][:, -1]
        loss = torch.nn.functional.cross_entropy(scores, torch.as_tensor(wanted[:, -1]))
        sgd.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), c)
        sgd.step()
    return np.array(steps), np.array(right)


def first_over_last(gain, size=32, length=20):
    """Untrained, on `recall`: size of the loss's slope by the first state, over that by the last; by torch."""
    E, W, b, R = (torch.tensor(p) for p in network(4, size, gain))
    ids, targets, _ = recall(np.random.default_rng(1), length=length)
    h, states = torch.zeros(len(ids), size).double(), []
    for column in torch.as_tensor(ids).T:
        h = torch.tanh(h @ W + E[column] + b).requires_grad_(True)
        states.append(h)
    loss = torch.nn.functional.cross_entropy(h @ R, torch.as_tensor(targets[:, -1]))
    first, last = torch.autograd.grad(loss, [states[0], states[-1]])
    return (first.norm() / last.norm()).item()


def turn(gain, degrees=40):
    """gain times a rotation of the plane: both eigenvalues have the absolute value gain."""
    angle = np.radians(degrees)
    return gain * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def plane_path(gain, start, unit, n=30):
    """States of a network with two units and no input, from `start`. -> (n + 1, 2)"""
    bend = np.tanh if unit == "tanh" else lambda a: a
    path, W = [np.asarray(start, float)], turn(gain)
    for _ in range(n):
        path.append(bend(path[-1] @ W))
    return np.array(path)


def path_messages(gain, path, unit):
    """How large a slope by the last state is when it has come back to each state of the path. -> (n + 1,)"""
    W, message = turn(gain), np.array([1.0, 0.0])
    sizes = [1.0]
    for h in path[:0:-1]:
        message = (message * (1 - h**2 if unit == "tanh" else 1)) @ W.T
        sizes.append(np.linalg.norm(message))
    return np.array(sizes[::-1])


def places(codes, alphabet):
    """The place of each character in its word, 1 to 6 (6: or later); 0 between words."""
    place, found = 0, []
    for code in codes:
        place = 0 if alphabet[code] in " \n" else min(place + 1, 6)
        found.append(place)
    return np.array(found)


# Pictures.


def _shares(ax, curves):
    for (name, (steps, right)), (line, color) in zip(curves.items(), LOOKS, strict=False):
        ax.plot(steps, 100 * np.asarray(right), line, color=color, label=name, marker="o")
    ax.axhline(25, color=GREY, linestyle=":", linewidth=1, label="guessing")
    ax.set(xlabel="updates", ylabel="first letters told right (%)", ylim=(0, 105))
    ax.legend(fontsize=9, loc="center right", bbox_to_anchor=(1, 0.73))


def draw_puzzle():
    """Two networks learn to tell the first of 20 letters, with one number changed."""
    curves = {f"factor {gain}": practise(gain) for gain in (1.2, 0.5)}
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    _shares(ax, curves)
    ax.set_title("One number apart: one learns it, the other does not")
    good, bad = (right[-1] for _, right in curves.values())
    return fig, say(
        "After {n} updates the network that began with the factor 1.2 tells {good:.0%} of the first letters, the one "
        "with 0.5 tells {bad:.0%}; guessing gives 25 %.",
        n=curves["factor 0.5"][0][-1],
        good=good,
        bad=bad,
    )


def draw_lags(strengths, maps):
    """Size of each term of the slope of h_T by w1. maps {activation: (len(strengths), T)}, the last column is lag 0.

    The first column is left out: it multiplies h_0 = 0.
    """
    fig, axes = plt.subplots(1, len(maps), figsize=(7.6, 3.2), sharey=True)
    told = []
    for ax, (name, shares) in zip(axes, maps.items(), strict=True):
        sizes = np.log10(np.abs(shares[:, :0:-1])).T
        T = len(sizes)
        mesh = ax.imshow(
            sizes,
            origin="lower",
            aspect="auto",
            vmin=-8,
            vmax=4,
            cmap="cividis",
            extent=(strengths[0], strengths[-1], -0.5, T - 0.5),
        )
        ax.set(xlabel="recurrent weight w₁", title=name)
        ax.grid(False)
        far = sizes[-1]
        told.append(
            say(
                "{name}: 10 to the power {low:.0f} to {high:.0f}",
                name=name,
                low=far.min(),
                high=far.max(),
            )
        )
    axes[0].set_ylabel("lag, steps before the end")
    fig.colorbar(mesh, ax=list(axes), label="log₁₀ of the term")
    return fig, say(
        "Terms of the slope of the last state by w₁, by lag, for w₁ from {a} to {b}. At lag {lag}: {told:; }.",
        a=strengths[0],
        b=strengths[-1],
        lag=T - 1,
        told=told,
    )


def _pair(v):
    return "(" + ", ".join(f"{x:.2f}" for x in v).replace("-", "−") + ")"


def _stage(step, words):
    T = len(words) - 1
    if step == 0:
        return "Ready to read"
    if step <= T:
        return f"Forward: it has read “{words[step - 1]}”"
    if step == T + 1:
        return f"Read out: is “{words[T]}” next?"
    return f"Back: the message at h{'₀₁₂₃₄₅'[2 * T + 2 - step]}"


def draw_unrolled(step, words, hs, p, messages):
    """A sentence runs through the network, then messages run back.

    words: the read ones and the target. hs (T + 1, size), p: chance of the target, messages (T, size).
    step 1 … T: states; T + 1: the read-out; then a message a step.
    """
    T = len(messages)
    at = 2 * T + 2 - step  # the state that the newest message has reached
    fig, ax = plt.subplots(figsize=(7.6, 3.7), layout="none")
    fig.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.9)
    arrow = dict(arrowstyle="-|>", color="#777777", shrinkA=3, shrinkB=3)
    blue = arrow | {"color": BLUE}
    for t in range(T + 1):
        color = ORANGE if t in (step, at) else "#F4F4F4"
        box = dict(boxstyle="round", facecolor=color, edgecolor=BLACK)
        value = _pair(hs[t]) if t <= step else "?"
        ax.text(t, 0, value, ha="center", va="center", bbox=box, color="black")
        ax.text(t, 0.17, f"h{'₀₁₂₃₄₅'[t]}", ha="center")
        if t:
            ax.annotate("", (t - 0.34, 0), (t - 0.66, 0), arrowprops=arrow)
            ax.text(t - 0.5, 0.05, "W", ha="center")
            ax.annotate("", (t, -0.13), (t, -0.6), arrowprops=arrow)
            ax.text(t + 0.05, -0.42, "E")
            ax.text(t, -0.74, f"“{words[t - 1]}”", ha="center")
        if 0 < t and at <= t:
            ax.text(t, 0.4, _pair(messages[t - 1]), ha="center", color=BLUE)
        if 0 < t < T and at <= t:
            ax.annotate("", (t + 0.33, 0.44), (t + 0.67, 0.44), arrowprops=blue)
    ax.annotate("", (T, 0.95), (T, 0.56), arrowprops=arrow)
    ax.text(T + 0.05, 0.72, "R")
    if step > T:
        ax.text(T, 1.02, f"chance of “{words[T]}”: {p:.2f}", ha="center")
    if step > T + 1:
        ax.text(0, 0.4, "blue: messages", color=BLUE, ha="center")
    title = _stage(step, words)
    ax.set(xlim=(-0.5, T + 0.6), ylim=(-0.9, 1.2), title=title)
    ax.axis("off")
    if step <= T + 1:
        return fig, say("{title}. Step {step} of {last}.", title=title, step=step, last=2 * T + 1)
    size = np.linalg.norm(messages[at - 1])
    return fig, say("{title}, of size {size:.3f}.", title=title, size=size)


def draw_messages(sizes):
    """Size of the slope by each state, over that by the last. sizes {gain: (T,)}."""
    fig, ax = plt.subplots(figsize=(6.6, 3.8))
    told = []
    for (gain, curve), (line, color) in zip(sizes.items(), LOOKS, strict=False):
        curve = np.asarray(curve) / curve[-1]
        lag = np.arange(len(curve))[::-1]
        ax.semilogy(lag, curve, line, color=color, label=f"factor {gain}")
        told.append(say("{gain}: {first:.0e}", gain=gain, first=curve[0]))
    ax.axhline(1, color=GREY, linewidth=0.8)
    ax.set(
        xlabel="lag, steps before the end",
        ylabel="slope by that state, over\nslope by the last",
        title="Errors fade on the way back, or grow",
        ylim=(1e-18, 1e6),
    )
    ax.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Slope by the state {T} steps before the end, over the slope by the last, by the factor of the recurrent "
        "weights. {told:; }.",
        T=len(curve) - 1,
        told=told,
    )


def draw_plane(gain, x, y, unit):
    """Two units from a start (x, y): 30 steps of the state, and the slope on its way back."""
    path = plane_path(gain, (x, y), unit)
    sizes = path_messages(gain, path, unit)
    fig, (left, right) = fixed_axes(2, (8, 3.7), (0.09, 0.98, 0.16, 0.88), wspace=0.3)
    inside = np.abs(path).max(1) < 1.6
    shown = path[: len(path) if inside.all() else inside.argmin()]
    left.plot(*shown.T, "o-", color=BLUE, markersize=4, linewidth=1)
    left.plot(x, y, "s", color=VERMILION, markersize=9)
    left.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), xlabel="first unit", ylabel="second unit")
    left.set_gid("start")
    left.set_title("The state: drag the square")
    lag = np.arange(len(sizes))[::-1]
    right.semilogy(lag, np.maximum(sizes, 1e-30), color=VERMILION, label="slope on its way back")
    right.semilogy(lag, gain**lag, "--", color=BLACK, label="spectral radius to the power lag")
    right.set(xlabel="lag, steps before the end", ylabel="size", ylim=(1e-12, 1e12))
    right.set_title("What comes back of a slope of 1")
    right.legend(fontsize=9, loc="upper left")
    return fig, say(
        "Spectral radius {gain:.2f}, {unit} units: of a slope of 1 by the last state, {back:.2g} is left {n} steps "
        "before; the radius to that power is {power:.2g}.",
        gain=gain,
        unit=unit,
        back=sizes[0],
        n=len(path) - 1,
        power=gain ** (len(path) - 1.0),
    )


def wrap(text, width):
    """Lines of at most so many characters; line breaks of the text are shown as ¶."""
    text = text.replace("\n", "¶")
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


def draw_text(losses, kept, sample, known):
    """Training losses of {name: list}, held-out loss {name: number}, and a sample; known: words of the corpus."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8), width_ratios=(1.2, 1))
    for (name, curve), (line, color) in zip(losses.items(), LOOKS, strict=False):
        smooth = np.convolve(curve, np.ones(20) / 20, mode="valid")
        left.semilogy(np.arange(len(smooth)) + 20, smooth, line, color=color, label=name)
    left.axhline(np.log(33), color=GREY, linestyle=":", label="no idea: log 33")
    left.set(xlabel="updates", ylabel="loss per character (nats)", title="It learns to spell")
    left.set_yticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    left.minorticks_off()
    left.legend(fontsize=9)
    right.text(0, 1, wrap(sample, 34), va="top", family="monospace", fontsize=11)
    right.axis("off")
    right.set_title("It writes")
    words = sample.split()
    return fig, say(
        "Loss per character on text that it has not seen: {told:; }. Right: {n} characters that it wrote; {share:.0%} "
        "of its words stand in the manual.",
        told=[say("{name} {loss:.1f}", name=name, loss=loss) for name, loss in kept.items()],
        n=len(sample),
        share=np.mean([word in known for word in words]) if words else 0.0,
    )


def draw_cuts(knife, coin):
    """Error of a mean of many gradients: knife {steps: bias}, coin {mean steps: standard deviation}."""
    n = np.arange(1, 101)
    fig, ax = plt.subplots(figsize=(6.6, 3.8))
    for (steps, bias), color in zip(knife.items(), (BLUE, GREEN), strict=True):
        ax.loglog(n, bias + 0 * n, "--", color=color, label=f"knife, {steps} steps")
    for (steps, spread), color in zip(coin.items(), (ORANGE, PINK), strict=True):
        ax.loglog(n, spread / np.sqrt(n), color=color, label=f"coin, {steps:.0f} steps on average")
    ax.set(
        xlabel="gradients that are averaged",
        ylabel="error over the exact gradient",
        title="A knife's error stays, a coin's averages out",
    )
    ax.legend(fontsize=9)
    return fig, say(
        "Error of one gradient, relative to the exact one. {knife:; }. {coin:; }. Averaged over {n}, a coin's error is "
        "{root:.0f} times smaller, a knife's is the same.",
        knife=[say("Knife, {k} steps: {e:.2f}", k=k, e=e) for k, e in knife.items()],
        coin=[say("Coin, {k:.0f} steps: {e:.2f}", k=k, e=e) for k, e in coin.items()],
        n=n[-1],
        root=np.sqrt(n[-1]),
    )


def draw_answer(curves, sizes):
    """Share of first letters by updates; slopes by each state before the training. Both by name."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.8))
    _shares(left, curves)
    left.set_title("Your networks on the puzzle")
    for (name, curve), (line, color) in zip(sizes.items(), LOOKS, strict=False):
        lag = np.arange(len(curve))[::-1]
        right.semilogy(lag, curve, line, color=color, label=name)
    right.set(
        xlabel="lag, letters before the end",
        ylabel="slope of the loss by that state",
        title="Before the first update",
    )
    right.legend(fontsize=9)
    told = [
        say("{name}: {right:.0%}", name=name, right=right[-1])
        for name, (_, right) in curves.items()
    ]
    return fig, say("First letters told right at the end. {told:; }.", told=told)


def draw_probes(lags, right, guess):
    """How well characters seen so many steps ago are read from a state. right {name: shares}, guess: a share."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    for (name, shares), (line, color) in zip(right.items(), LOOKS, strict=False):
        ax.plot(lags, 100 * np.asarray(shares), line, color=color, marker="o", label=name)
    ax.axhline(100 * guess, color=GREY, linestyle=":", label="always the commonest")
    ax.set(
        xlabel="lag, characters before the newest",
        ylabel="read right by a line (%)",
        title="The untrained state knows more of the past",
        ylim=(0, 105),
    )
    ax.legend(fontsize=9)
    return fig, say(
        "Share of characters that a linear probe reads right. {told:; }.",
        told=[
            say(
                "{name}: {a:.0%} of the newest, {b:.0%} of those {lag} before",
                name=name,
                a=shares[0],
                b=shares[-1],
                lag=lags[-1],
            )
            for name, shares in right.items()
        ],
    )


def draw_parity(lengths, right):
    """Share of rows whose last parity is right, by length. right {name: shares}."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    for (name, shares), (line, color) in zip(right.items(), LOOKS, strict=False):
        ax.semilogx(lengths, 100 * np.asarray(shares), line, color=color, marker="o", label=name)
    ax.axhline(50, color=GREY, linestyle=":", label="guessing")
    ax.set(
        xlabel="length of the row (bits)",
        ylabel="parity right at the end (%)",
        title="Trained on 8 bits, run on more",
        ylim=(0, 105),
    )
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.minorticks_off()
    ax.legend(fontsize=9, loc="lower left")
    return fig, say(
        "Parities right at the end of {n} bits. {told:; }.",
        n=lengths[-1],
        told=[say("{name}: {s:.0%}", name=name, s=shares[-1]) for name, shares in right.items()],
    )

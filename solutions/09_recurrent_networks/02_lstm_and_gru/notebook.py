# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="an LSTM whose stream keeps a digit for 200 steps, trained by your own slopes" covers="guo:V.3 wu:4.3"
# # LSTM and GRU
#
# A digit is called. Then somebody reads out 199 letters that mean nothing. *Which digit was it?* The network of
# [[09/01]] cannot learn this from small weights: no error comes back so far.
#
# The LSTM, *long short-term memory*, was invented in 1997 for just such tasks. So take one, as textbooks draw it. Train
# it. It guesses. Take it again, with the same weights and the same letters, and change a single number, $b$, before the
# first update. Now it answers right every time.
#
# *What is $b$, and why does so much hang on it?*

# %%
# What this notebook needs.
from functools import partial

import numpy as np
import torch
from ipywidgets import FloatSlider, IntSlider, Text
from scipy.special import expit, softmax

from descent import after, below, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.recurrent_networks import lstm_and_gru as pictures

start("09_recurrent_networks/02_lstm_and_gru")

# %% covers="guo:V.3 wu:4.4.2"
# The same LSTM and letters twice: only b differs.
show(*pictures.draw_puzzle(), digits=0)

# %% [markdown] covers="wu:4.3 wu:4.3.1"
# ## 1. A stream
#
# A network that replaces its state at each step has to copy whatever it wants to keep, again and again. What if it only
# *added*?
#
# $$h_t = k\, h_{t-1} + g_t, \qquad g_t = \tanh(h_{t-1} W + v_t),$$
#
# where $v_t = x_t E + b$ is what the symbol pushes. (This $b$ is the bias, as ever; the number of the first screen comes
# in section 4.) With $k = 0$ this is the network of [[09/01]]. With $k = 1$ the state is a **memory stream**, an assembly
# line: it runs past, and each step lays something on it. Backwards, one step is
#
# $$\frac{\partial h_t}{\partial h_{t-1}} = k\,I + W\,\mathrm{diag}(1 - g_t^2).$$
#
# Entry $(i, j)$ tells how $h_t$'s number $j$ answers to number $i$ before. (On columns it is transposed.) Steps multiply,
# the earliest on the left.


# %% exercise="stream" points=3 difficulty=1 covers="wu:4.3 wu:4.3.1 wu:4.3.2"
def stream(V, W, k, h0):
    """The states of one sequence, and how the last answers to the first.

    V (T, H): a row v_t for each step, T = 0 is allowed; W (H, H); k: a number; h0 (H,).
    Returns the states (T + 1, H), h0 first, and J (H, H): J[i, j] is the slope of the
    last state's number j by number i of h0.
    V = [[0]], W = [[2]], k = 1, h0 = [0] give [[0], [0]] and [[3]].
    """
    ### BEGIN SOLUTION
    hs, J = [h0], np.eye(len(W))
    for v in V:
        g = np.tanh(hs[-1] @ W + v)
        hs.append(k * hs[-1] + g)
        J = J @ (k * np.eye(len(W)) + W * (1 - g**2))
    return np.array(hs), J
    ### END SOLUTION


# %% check="stream"
check(stream)

# %% predict="stream-back" minutes=1 covers="wu:4.3.1"
predict(
    "stream-back",
    "k = 1, W half a random rotation, random pushes, 64 numbers, 50 steps. The loss "
    "has a slope of 1 by the last state, in a random direction. How large is its slope "
    "by the first?",
    ["below 0.01", "between 0.1 and 10", "above 30"],
    truth=int(np.digitize(pictures.slope_back(1.0), [0.05, 20])),
    because="I lets the message through. But W diag(1 − g²) adds to it at each step: "
    "the product of fifty matrices I + … grows. With such a W the identity saves "
    "errors from fading; it does not hold them steady.",
)

# %% covers="wu:4.3.1 wu:4.3"
# Your slopes back over 50 steps, and your states, for three k.
with after(stream, "stream-back"):
    V, W = pictures.pushes()
    sizes, lengths = {}, {}
    for k in (0, 0.9, 1):
        hs, _ = stream(V, W, k, np.zeros(64))
        backs = [stream(V[50 - n :], W, k, hs[50 - n])[1] for n in range(51)]
        sizes[f"k = {k}"] = [np.linalg.norm(J) / 8 for J in backs]
        lengths[f"k = {k}"] = np.linalg.norm(hs, axis=1)
    plain, _, added = sizes.values()
    claim("k = 0: {b} after 50 steps", plain[-1] < 1e-9, b=below(1e-9))
    claim("k = 1: above 30", added[-1] > 30)
    longest = lengths["k = 1"][-1]
    claim("tanh alone keeps a state below √64 = 8", lengths["k = 0"].max() < 8)
    claim("with k = 1 it is longer than 30", longest > 30)
    show(*pictures.draw_keeps(sizes, lengths))

# %% [markdown] covers="wu:4.3.1 wu:4.4.1"
# So the sum keeps too much: here state and slopes grow on and on. A $|k|$ below 1 bounds the state, but what runs
# straight on fades: $0.9^{200}$ is below a billionth. What to keep, what to add? The network must say.
#
# ## 2. Gates
#
# Sepp Hochreiter and Jürgen Schmidhuber put *gates* beside the stream: numbers between 0 and 1, computed from input and
# state. (Felix Gers added the forget gate later.) With $\sigma$ the logistic function,
#
# $$i, f, o = \sigma(x_t W + h_{t-1} U + b), \qquad g = \tanh(x_t W + h_{t-1} U + b),$$
# $$c_t = f \odot c_{t-1} + i \odot g, \qquad h_t = o \odot \tanh(c_t),$$
#
# each with its own weights. The stream is $c$ now; $g$ is a *candidate*, not the increment. The state
# $h$ is what the stream shows.

# %% covers="wu:4.4.1"
# Drag the square: a digit at step 1, a disturbance at step 100.
explore(
    pictures.draw_carousel,
    drag={("f", "i"): "gates"},
    f=FloatSlider(0.98, min=0, max=1, step=0.005, description="forget gate f"),
    i=FloatSlider(0.8, min=0, max=1, step=0.05, description="input gate i"),
    o=FloatSlider(1.0, min=0, max=1, step=0.05, description="output gate o"),
)

# %% [markdown] covers="wu:4.4.1 wu:4.4.2"
# At $f = 1$ the stream never forgets: a *constant error carousel*. But with constant gates, who lets the digit in lets
# the disturbance in. So gates must look at $x_t$.
#
# Write one step. The four blocks of columns stand in the order $i, f, g, o$, as torch has them.


# %% exercise="lstm_step" points=3 difficulty=1 covers="guo:V.3 wu:4.4.1 wu:4.4.2"
def lstm_step(x, h, c, W, U, b):
    """One step of an LSTM for a batch.

    x (B, D), h and c (B, H). W (D, 4H), U (H, 4H), b (4H,): four blocks of H columns,
    for i, f, g and o. Returns the new h (B, H), the new c (B, H), and i, f, g, o as one
    array (4, B, H). Where a = x W + h U + b is 900 a gate is 1, at -900 it is 0; all
    results stay finite, however large c is.
    Where everything is 0 but c = [[2]]: h [[tanh(1) / 2]], c [[1]].
    """
    ### BEGIN SOLUTION
    a = x @ W + h @ U + b
    i, f, g, o = np.split(a, 4, axis=1)
    i, f, o = expit(i), expit(f), expit(o)
    g = np.tanh(g)
    c = f * c + i * g
    return o * np.tanh(c), c, np.array([i, f, g, o])
    ### END SOLUTION


# %% check="lstm_step"
check(lstm_step)

# %% covers="guo:V.3 wu:4.4.2"
# Your cell: open and closed gates, torch's cell, its weights.
with after(lstm_step):
    W, U, b, R = pictures.network(0, size=5)
    rng = np.random.default_rng(0)
    x, h, c = rng.normal(size=(3, 8)), rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    cell = torch.nn.LSTMCell(8, 5, dtype=torch.float64)
    with torch.no_grad():
        for own, given in zip(cell.parameters(), (W.T, U.T, b, 0 * b)):
            own.copy_(torch.tensor(given))
        theirs = cell(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    mine = lstm_step(x, h, c, W, U, b)
    same = [np.allclose(m, t.numpy()) for m, t in zip(mine, theirs)]
    claim("torch's cell finds your h and c", all(same))
    shut = np.repeat([-900.0, 900, 0, 0], 5)
    kept = lstm_step(x, h, c, 0 * W, 0 * U, shut)[1]
    claim("f = 1 and i = 0 keep the stream to the last digit", np.array_equal(kept, c))
    D, H, n = 8, 5, W.size + U.size + b.size
    words = "4 (DH + H² + H) = {n} weights; torch has a second b, 4H more"
    count = sum(p.numel() for p in cell.parameters())
    claim(words, n == 4 * (D * H + H * H + H) == count - 4 * H, n=n)

# %% [markdown] covers="guo:V.3 wu:4.4.2"
# ## 3. The way back
#
# Only the last state is asked: scores $h_T R$ of the four digits, softmax, and the mean of $-\log p$ over the batch. This
# end is done for you. It gives the loss and its slopes by $h_T$ and $R$.


# %% open=true covers="guo:V.3 wu:4.4.2"
def read_out(h, R, y):
    """Mean loss of the answers y (B,), and its slopes by h (B, H) and R (H, K)."""
    P = softmax(h @ R, axis=1)
    loss = -np.log(P[np.arange(len(y)), y]).mean()
    dS = (P - np.eye(R.shape[1])[y]) / len(y)
    return loss, dS @ R.T, h.T @ dS


# %% [markdown] covers="guo:V.3 wu:4.4.2"
# Going back, two messages arrive at each step: $\dot h_t$, the slope of the loss by $h_t$, and one along the stream from
# step $t + 1$. Into $\dot c_t$, the slope by $c_t$ with all later steps counted, goes what arrives along the stream and what
# comes through $h_t = o \odot \tanh(c_t)$:
#
# $$\dot c_t = \dot c_{t+1} \odot f_{t+1} + \dot h_t \odot o_t \odot (1 - \tanh^2 c_t).$$
#
# At $c_t$ the gates $i$, $f$ and the candidate get their slopes, the gate $o$ gets its own at $h_t$. With those of
# $\sigma$, which are $\sigma(1-\sigma)$, and of tanh you have the slope by $a_t = x_t W + h_{t-1} U + b$, all four blocks. From there
# it goes on as in [[09/01]]. Behind the last step nothing arrives along the stream.


# %% exercise="lstm_slopes" points=6 difficulty=1 covers="guo:V.3 wu:4.4.2"
def lstm_slopes(X, y, W, U, b, R):
    """Loss of an LSTM that is asked after its last step, and its slopes.

    X (T, B, D), T >= 1: the inputs, step by step. y (B,): right answers, 0 … K - 1.
    W, U, b as in lstm_step, R (H, K). It starts from h = c = 0; arguments stay as they
    are. Use lstm_step and read_out.
    Returns loss, (dW, dU, db, dR), and the messages ċ (T, B, H): the slope of the loss
    by each c_t, all later steps counted.
    Where all weights are 0 and K = 4: the loss is log 4, all slopes are 0.
    """
    ### BEGIN SOLUTION
    h = c = np.zeros((X.shape[1], len(U)))
    kept = []
    for x in X:
        new_h, new_c, gates = lstm_step(x, h, c, W, U, b)
        kept.append((x, h, c, gates, new_c))
        h, c = new_h, new_c
    loss, dh, dR = read_out(h, R, y)
    dW, dU, db = np.zeros_like(W), np.zeros_like(U), np.zeros_like(b)
    dc, messages = np.zeros_like(c), []
    for x, h, c, (i, f, g, o), new_c in reversed(kept):
        dc = dc + dh * o * (1 - np.tanh(new_c) ** 2)
        messages.append(dc)
        into_i, into_f = dc * g * i * (1 - i), dc * c * f * (1 - f)
        into_g, into_o = dc * i * (1 - g**2), dh * np.tanh(new_c) * o * (1 - o)
        da = np.concatenate([into_i, into_f, into_g, into_o], axis=1)
        dW += x.T @ da
        dU += h.T @ da
        db += da.sum(0)
        dh, dc = da @ U.T, dc * f
    return loss, (dW, dU, db, dR), np.array(messages[::-1])
    ### END SOLUTION


# %% check="lstm_slopes"
check(lstm_slopes)

# %% covers="guo:V.3 wu:4.4.2"
# Your slopes beside torch's and beside nudges; the stream alone.
with after(lstm_step, lstm_slopes):
    X, y = pictures.called(np.random.default_rng(1), rows=3, length=12)
    params = pictures.network(0, size=5)
    _, grads, _ = lstm_slopes(X, y, *params)
    gaps = [
        np.abs(m - t).max() for m, t in zip(grads, pictures.torchs_slopes(X, y, params))
    ]
    claim(
        "torch finds all your slopes (gap {gap})", max(gaps) < 1e-12, gap=below(1e-12)
    )
    nudge = 1e-6 * (np.arange(20) == 7)  # the forget gate's bias of unit 2
    up, down = (
        lstm_slopes(X, y, *params[:2], params[2] + s * nudge, params[3])[0]
        for s in (1, -1)
    )
    near = np.isclose(grads[2][7], (up - down) / 2e-6, rtol=1e-4, atol=0)
    claim("and nudging one weight says so, too", near)
    W, _, b, R = params
    _, _, messages = lstm_slopes(X, y, W, np.zeros((5, 20)), b, R)  # h feeds nothing
    h = c = np.zeros((3, 5))
    forgets = []
    for x in X:
        h, c, gates = lstm_step(x, h, c, W, np.zeros((5, 20)), b)
        forgets.append(gates[1])
    product = np.prod(forgets[1:], axis=0)
    words = (
        "with U = 0 the message at step 1 is the last one times the forget gates of "
        "all later steps"
    )
    claim(words, np.allclose(messages[0], messages[-1] * product, rtol=1e-9))

# %% [markdown] covers="guo:V.3 wu:4.4.1"
# ## 4. The number b
#
# Along the stream, then, a message is multiplied by forget gates and by nothing else. Other paths lead through $h$ and
# $U$, and with small weights they fade, too, as in [[09/01]]. Random weights are small, so a fresh gate stands near
# $\sigma(0) = ½$.

# %% predict="half-gates" minutes=1 covers="guo:V.3 wu:4.4.1"
predict(
    "half-gates",
    "A fresh LSTM, all gates near ½, 200 steps. The slope of the loss by the first "
    "stream, over that by the last?",
    ["about 1/400", "about 10⁻⁸", "less than 10⁻²⁰"],
    truth=int(np.digitize(199 * np.log10(2), [5, 20])),
    because="½ to the power 199 is 10⁻⁶⁰. Our network's luckiest unit, whose gates are "
    "a little above ½, still loses 49 decimals along its stream; detours through h and "
    "U bring back 10⁻³³, no more. A gate that may open is not open.",
)

# %% covers="guo:V.3 wu:4.4.1"
# Your messages over 200 steps, before any training, for three b.
with after(stream, lstm_step, lstm_slopes, "half-gates"):
    X, y = pictures.called(np.random.default_rng(2))
    sizes = {}
    for b in (0, 1, 5):
        _, _, messages = lstm_slopes(X, y, *pictures.network(b))
        sizes[f"LSTM, b = {b}"] = np.linalg.norm(messages, axis=(1, 2))
    ratios = [curve[0] / curve[-1] for curve in sizes.values()]
    W, U = (part[:, :16] for part in pictures.network(0)[:2])
    hs, _ = stream(X[:, 0] @ W, U, 0, np.zeros(16))
    backs = [stream(X[t:, 0] @ W, U, 0, hs[t])[1] for t in range(1, 200)]
    sizes["plain RNN"] = np.linalg.norm([*backs, np.eye(16)], axis=(1, 2))
    fades = sizes["plain RNN"][0]
    claim("a plain RNN with such weights: {s}", fades < 1e-25, s=below(1e-25))
    claim("b = 0: {s}", ratios[0] < 1e-25, s=below(1e-25))
    claim("b = 5: between 0.05 and 5", 0.05 < ratios[2] < 5)
    ends = {}
    for opened in (0, 5):  # 5 puts the input gates back to ½
        params = pictures.network(5)
        params[2][:16] += opened
        _, streams = pictures.gates_over(X[:, 0].argmax(1), lstm_step, params)
        ends[opened] = np.abs(streams[-1])
    words = "b = 5 but input gates at ½: |c| ends above {n} in the mean"
    claim(words, ends[5].mean() > 8, n=8)
    claim("input gates closed by b = 5: |c| ends below {n}", ends[0].max() < 0.5, n=0.5)
    show(*pictures.draw_messages(sizes))

# %% [markdown] covers="guo:V.3 wu:4.4.1"
# That is the number: $b$ is *added to the forget gates' bias* before the training, and taken from the input gates'. With
# $b = 5$, $f = 0.993$, and $f^{199}$ is about ¼. Why close the input? Not to spare the digit: it comes in as the letters
# do. But at $i = ½$ all that comes in piles up, beyond 8 in the mean; there tanh is flat, and hardly an error gets in. At
# $i = 0.007$ it stays below ½. (Common is $b = 1$, for forget gates alone. In 2018 Corentin Tallec and Yann Ollivier
# derived $b = \log u$ for both, each unit's $u$ drawn between 1 and $T - 1$; here 5.3 at most.)
#
# Now train: Adam is ready, slopes and gates are yours. Then look: does the stream rest?

# %% open=true covers="guo:V.3 wu:4.4.2"
with after(lstm_step, lstm_slopes, "half-gates"):
    params, adam, rng = pictures.network(5), pictures.Adam(), np.random.default_rng(0)
    kept = [params]  # for the curve
    for _ in range(210):
        _, grads, _ = lstm_slopes(*pictures.called(rng), *params)
        params = adam.step(params, grads)
        kept.append(params)

# %% covers="guo:V.3 wu:4.4.2 wu:4.4.1"
# The first screen's answer: learning, stream and gates.
with after(lstm_step, lstm_slopes, "half-gates"):
    exam, digits = pictures.called(np.random.default_rng(99), rows=200)
    steps, right = np.arange(0, 211, 30), []
    for n in steps:
        h = c = np.zeros((200, 16))
        for x in exam:
            h, c, _ = lstm_step(x, h, c, *kept[n][:3])
        right.append(np.mean((h @ kept[n][3]).argmax(1) == digits))
    claim("the digit after 200 steps: right in over {s:.0%}", right[-1] > 0.95, s=0.95)
    row = exam[:, 0].argmax(1)
    gates, streams = pictures.gates_over(row, lstm_step, params)
    far = np.abs(streams[-1]).max()
    claim("the stream runs: one of its numbers ends beyond {n}", far > 20, n=20)
    length = {}
    for deaf in ("to nothing", "to letters", "to h"):  # from step 50 on
        h = c = np.zeros((200, 16))
        for t, x in enumerate(exam):
            if t >= 50:
                x, h = x * (deaf != "to letters"), h * (deaf != "to h")
            h, c, _ = lstm_step(x, h, c, *params[:3])
        length[deaf] = np.linalg.norm(c)
    whole, no_letters, no_h = length.values()
    claim("no letters from step 50 on: it runs on", no_letters > whole / 2)
    claim("no h from step 50 on: not a third as long", no_h < whole / 3)
    show(*pictures.draw_answer((steps, right), gates, streams, digits[0]), digits=0)

# %% [markdown] covers="guo:V.3 wu:4.4.2"
# Surprised? You gave it a carousel, and training made something else of it: the stream does not rest, it runs. Each step
# writes the digit once more, read from $h$: without letters it runs on, without $h$ it stays short. A *latch*, found by
# gradient descent.
#
# Was that luck? We tried four other draws of first weights and letters: $b = 5$ found it, too, wholly or for most digits.
# With $b = 0$ all five still guessed after 210 updates. So did ours with forget gates opened alone.

# %% [markdown] covers="guo:V.4 wu:4.4.2"
# ## 5. With one state: the GRU
#
# Must stream and state be two? In 2014 Kyunghyun Cho and colleagues, in need of a cell for translation, made one do, with
# two gates: the *gated recurrent unit*,
#
# $$r, u = \sigma(x_t W + h_{t-1} U + b), \qquad h_t = u \odot h_{t-1} + (1 - u) \odot \tilde h_t .$$
#
# One *update gate* $u$ both keeps and adds: what is kept is not overwritten. (Others write $z = 1 - u$.) The candidate
# $\tilde h_t$ looks at the old state through a *reset gate*. There are two conventions:
#
# $$\tanh\big(x_t W + (r \odot h_{t-1})\, U + b\big) \quad\text{or}\quad \tanh\big(x_t W + r \odot (h_{t-1} U) + b\big).$$
#
# The first is the paper's and the notes', the second torch's, because all products with $h_{t-1}$ fit into one. They are
# different networks.


# %% exercise="gru_step" points=3 difficulty=1 covers="guo:V.4 wu:4.4.2"
def gru_step(x, h, W, U, b, reset_after):
    """One step of a GRU for a batch.

    x (B, D), h (B, H). W (D, 3H), U (H, 3H), b (3H,): three blocks of H columns, for r,
    u and the candidate. reset_after: False for the first convention, True for torch's.
    Returns the new h (B, H), and r, u as one array (2, B, H).
    Where all weights are 0, h = [[2]] gives [[1]]. Gates at 900
    and -900, and large h, as in lstm_step.
    """
    ### BEGIN SOLUTION
    W_gates, W_new = W[:, : 2 * len(U)], W[:, 2 * len(U) :]
    U_gates, U_new = U[:, : 2 * len(U)], U[:, 2 * len(U) :]
    b_gates, b_new = b[: 2 * len(U)], b[2 * len(U) :]
    r, u = np.split(expit(x @ W_gates + h @ U_gates + b_gates), 2, axis=1)
    if reset_after:
        old = r * (h @ U_new)
    else:
        old = (r * h) @ U_new
    new = np.tanh(x @ W_new + old + b_new)
    return u * h + (1 - u) * new, np.array([r, u])
    ### END SOLUTION


# %% check="gru_step"
check(gru_step)

# %% covers="guo:V.4 wu:4.4.2"
# Your GRU beside torch's, and what its gates can do.
with after(gru_step):
    rng = np.random.default_rng(3)
    x, h = rng.normal(size=(4, 8)), rng.normal(size=(4, 5))
    W, U, b = rng.normal(size=(8, 15)), rng.normal(size=(5, 15)), rng.normal(size=15)
    torchs = pictures.torchs_gru(x, h, W, U, b)
    first, second = (gru_step(x, h, W, U, b, after)[0] for after in (False, True))
    claim("reset after the product: torch's cell", np.allclose(second, torchs))
    gap = np.abs(first - torchs).max()
    claim("reset before it: another cell (gap above {g})", gap > 0.01, g=0.01)
    W[:, :10], U[:, :10] = 0, 0
    b[:10] = np.repeat([0, 900], 5)
    claim("u = 1 copies the state", np.array_equal(gru_step(x, h, W, U, b, True)[0], h))
    b[:10] = -900
    gone = gru_step(x, h, W, U, b, True)[0], gru_step(x, 0 * h, W, U, b, True)[0]
    claim("u = 0 and r = 0 ignore it", np.array_equal(*gone))

# %% covers="guo:V.4 wu:4.4.2"
# Four kinds of cell, equally large: a digit after 100 steps.
with after(gru_step):
    kinds = {"RNN": 36, "stream": 36, "LSTM": 16, "GRU": 19}
    nets = {kind: pictures.Cells(kind, H, b=4.0) for kind, H in kinds.items()}
    weights = {kind: net.trained() for kind, net in nets.items()}
    curves = {kind: pictures.practise(net, 100, 90) for kind, net in nets.items()}
    ends = {kind: right[-1] for kind, (_, right) in curves.items()}
    close_by = max(weights.values()) - min(weights.values())
    claim("their numbers of weights differ by {n} at most", close_by <= 30, n=30)
    claim("the GRU tells over {s:.0%}", ends["GRU"] > 0.9, s=0.9)
    claim("the plain RNN less", ends["RNN"] < 0.9)
    into, on, _, bias = nets["GRU"].cells.parameters()
    h, update = np.zeros((1, 19)), []
    for x in pictures.called(np.random.default_rng(99), 1, 100)[0]:
        weights_ = [p.detach().numpy().T for p in (into, on, bias)]
        h, gates = gru_step(x, h, *weights_, True)
        update.append(gates[1, 0])
    show(*pictures.draw_cells(curves, weights, np.array(update)), digits=0)

# %% [markdown] covers="guo:V.4 wu:4.4.2"
# In the GRU one $b$ does both, here 4: $u = 0.98$ keeps, and $1 - u = 0.02$ adds. It learns fast, in other draws, too. So
# does the plain stream of section 1 here; in other draws it may be late. The LSTM, whose input gates start closed, is
# late: it needs some 120 updates. The plain RNN needs luck: here it gets part of the way, in other draws nowhere.
#
# ## 6. Gates over your own words
#
# What do gates do on a text? Here is an LSTM of 48 units that has read Python's manual, as the reader of [[09/01]] did.
# The cell that reads is yours. Type something. Which units live for a word, which for longer?

# %% covers="wu:4.4.2 guo:V.3"
# Type a text: a trained LSTM reads it, and its gates are drawn.
with after(lstm_step):
    manual, loss = pictures.reader()
    claim("it reads: below 1.8 nats a character on the rest of the manual", loss < 1.8)
    rest = pictures.kept_text()[24_000:]
    gates, _ = pictures.gates_over(rest, lstm_step, manual)
    space = rest == pictures.ALPHABET.index(" ")
    fall = gates[~space, 1].mean(0) - gates[space, 1].mean(0)
    order = np.argsort(-fall)  # units that forget most at a space come first
    words = "one unit's forget gate falls by more than {s} at a space"
    claim(words, fall.max() > 0.2, s=0.2)
    draw = partial(pictures.draw_reading, step=lstm_step, params=manual, order=order)
    typed = Text("for each item in the list, the loop", description="your text")
    explore(draw, digits=0, text=typed)

# %% [markdown] covers="guo:V.3 guo:V.4 wu:4.4.1 wu:4.4.2"
# ## Take-aways
#
# - A stream that only adds lets errors through: the step back is $I$ and something more. That may add up, so that state
#   and slopes grow, or it may cancel.
# - Gates decide, for each number and step, what is kept, added and shown. Along $c$ a message is multiplied by
#   forget gates only.
# - **The puzzle:** $b$ opens the forget gates and closes the input gates before the training. At $b = 0$ next to
#   nothing arrives over 200 steps; at $b = 5$ a quarter does, and the stream stays where tanh is steep. The *architecture* makes
#   memory possible, the *bias* makes it learnable.
# - A GRU keeps and adds with one gate, and has one state. Its two conventions are two networks.
#
# Next: [[next]].

# %% [markdown] covers="wu:4.3.4"
# ## Deeper: four paths
#
# Take a stream, $k = 1$. From $h_3$ back to $h_1$, at each of two steps the message goes straight on or through $g$. So
# there are four paths, and $2^T$ over $T$ steps. Let $m$ be the slope of the loss by $h_3$. Straight on leaves it as it is;
# through $g_t$ it becomes $\big(m \odot (1 - g_t^2)\big)\, W^\top$.


# %% exercise="path_grads" points=2 difficulty=1 covers="wu:4.3.4"
def path_grads(m, W, g2, g3):
    """What arrives at h_1 along each path from h_3.

    m (H,): the slope of the loss by h_3. W (H, H), g2 and g3 (H,): what steps 2 and 3
    added, g = tanh(…). Returns (4, H): straight on; through g_3 alone; through g_2
    alone; through both.
    m = [1], W = [[2]], g2 = g3 = [0] give [[1], [2], [2], [4]].
    """
    ### BEGIN SOLUTION
    third = (m * (1 - g3**2)) @ W.T
    second = (m * (1 - g2**2)) @ W.T
    both = (third * (1 - g2**2)) @ W.T
    return np.array([m, third, second, both])
    ### END SOLUTION


# %% check="path_grads"
check(path_grads)

# %% covers="wu:4.3.4 wu:4.3.1"
# The paths of a small stream, and their sum beside your J.
with after(stream, path_grads):
    rng = np.random.default_rng(5)
    W, V, m = rng.normal(size=(6, 6)) * 0.4, rng.normal(size=(3, 6)), rng.normal(size=6)
    hs, _ = stream(V, W, 1, np.zeros(6))
    _, g2, g3 = np.diff(hs, axis=0)
    paths = path_grads(m, W, g2, g3)
    J = stream(V[1:], W, 1, hs[1])[1]
    claim("the four paths add up to your J", np.allclose(paths.sum(0), J @ m))
    bare, J0 = stream(V[1:], W, 0, hs[1])
    last = path_grads(m, W, *bare[1:])[3]
    claim("without a stream only the last one is left", np.allclose(J0 @ m, last))
    names = ["straight", "through g₃", "through g₂", "through both"]
    bars = dict(zip(names, np.linalg.norm(paths, axis=1)))
    show(*pictures.draw_paths(bars | {"sum": np.linalg.norm(paths.sum(0))}))

# %% [markdown] covers="wu:4.3.2 wu:4.3.3"
# ## Deeper: what one sum can hold
#
# “I love machine”: three words on the stream, $h_3 = h_0 + \Delta h_1 + \Delta h_2 + \Delta h_3$. A read-out is linear, so
# the scores $h_3 R$ are sums, too, and each word has its share in each score. No word was *kept apart*; all lie in one
# vector, in **superposition**. That can be undone where the directions are known and nearly orthogonal. Are they?
# Directions drawn at random have a cosine with standard deviation $1/\sqrt d$.

# %% covers="wu:4.3.2 wu:4.3.3"
# The sentence's stream and scores, word by word.
with after(stream):
    E, W, R = pictures.toy_sentence()
    hs, _ = stream(E[:3], W, 1, np.zeros(8))
    added = np.diff(hs, axis=0)
    same = np.allclose((added @ R).sum(0), hs[-1] @ R)
    claim("the words' shares add up to the scores", same)
    p = softmax(hs[-1] @ R)
    claim("“learning” is the likeliest next word", p.argmax() == 3)
    told = ["I", "love", "machine", "learning"]
    show(*pictures.draw_sentence(told[:3], added, added @ R, told))

# %% covers="wu:4.3.3"
# Random directions, what a sum gives back, a trained stream.
ratios = (0.05, 0.1, 0.2, 0.4, 0.8)
found = {d: [pictures.read_back(d, int(r * d)) for r in ratios] for d in (40, 160)}
spread = pictures.cosines(1000).std()
words = "1,000 dimensions: the cosines' standard deviation is {s:.3f}"
claim(words, abs(spread - 1000**-0.5) < 0.002, s=spread)
claim(
    "few items are read back, many are not", found[160][0] > 0.9 > 0.8 > found[160][-1]
)
explore(
    partial(pictures.draw_superposition, right=found, ratios=ratios),
    d=IntSlider(30, min=2, max=300, description="dimensions d"),
)
with after(lstm_step):
    manual, _ = pictures.reader()
    gates, streams = pictures.gates_over(
        pictures.kept_text()[24_000:24_400], lstm_step, manual
    )
    steps_ = gates[:, 0] * gates[:, 2]  # i ⊙ g
    steps_ /= np.linalg.norm(steps_, axis=1, keepdims=True)
    learned = np.sqrt(np.mean((steps_ @ steps_.T)[np.triu_indices(400, 1)] ** 2))
    words = "what the trained reader adds is less orthogonal: above {r:.2f} = 1/√48"
    claim(words, learned > 1.1 * 48**-0.5, r=48**-0.5)

# %% [markdown] covers="wu:4.3.5"
# ## Deeper: three kinds of memory
#
# | memory | where | written by | lives |
# | --- | --- | --- | --- |
# | long-term | weights | training | over all sequences |
# | short-term | the stream $c_t$ | gates | one sequence, if it is reset |
# | working | the state $h_t$ | the output gate, from $c_t$ | one step |
#
# “If it is reset”: the stream does not know that a sequence has ended. What happens to your LSTM when the next row
# begins with the stream and state of the last?

# %% covers="wu:4.3.5"
# Two rows in succession, the stream carried over, and reset.
with after(lstm_step, lstm_slopes, "half-gates"):
    again, digits2 = pictures.called(np.random.default_rng(100), rows=200)
    told = {}
    for name in ("reset", "carried over"):
        h = c = np.zeros((200, 16))
        for t, x in enumerate([*exam, *again]):
            if t == 200 and name == "reset":
                h = c = np.zeros((200, 16))
            h, c, _ = lstm_step(x, h, c, *params[:3])
        told[name] = (h @ params[3]).argmax(1)
    reset, carried = told.values()
    words = "reset: it tells over {s:.0%} of the second digits"
    claim(words, np.mean(reset == digits2) > 0.95, s=0.95)
    words = "carried over: it tells the first digit, in over {s:.0%} of the rows"
    claim(words, np.mean(carried == digits) > 0.9, s=0.9)

# %% [markdown] covers="wu:4.5 wu:4.5.1"
# ## Deeper: two layers
#
# A layer's states are a sequence, so another layer can read them:
#
# $$h^1_t = \tanh(h^1_{t-1} W_1 + v_t), \qquad h^2_t = \tanh(h^2_{t-1} W_2 + h^1_t A + b_2).$$
#
# Now errors travel in two directions. With $\delta = \partial L/\partial a$, the slope by what went *into* tanh: layer 2 hears
# the read-out (at the end) and its own next step; layer 1 hears layer 2 *of the same step* and its own next step.


# %% exercise="two_layers" points=4 difficulty=1 covers="wu:4.5 wu:4.5.1"
def two_layers(V, W1, A, W2, b2, m):
    """States of two stacked layers, and the slopes by what goes into them.

    V (T, H1), T >= 1: the rows v_t. W1 (H1, H1), A (H1, H2), W2 (H2, H2), b2 (H2,).
    Both layers start from 0. m (H2,): the slope of the loss by the last state of
    layer 2; nothing else is asked.
    Returns four arrays: the states of layer 1 (T, H1) and of layer 2 (T, H2), then δ of
    layer 1 (T, H1) and of layer 2 (T, H2).
    V = [[0]], W1 = W2 = [[2]], A = [[3]], b2 = [0], m = [1] give the states [[0]] and
    [[0]], and the δ [[3]] and [[1]].
    """
    ### BEGIN SOLUTION
    h1, h2 = np.zeros(len(W1)), np.zeros(len(W2))
    low, high = [], []
    for v in V:
        h1 = np.tanh(h1 @ W1 + v)
        h2 = np.tanh(h2 @ W2 + h1 @ A + b2)
        low.append(h1)
        high.append(h2)
    low, high = np.array(low), np.array(high)
    delta1, delta2 = np.zeros_like(low), np.zeros_like(high)
    down = np.zeros(len(W1))  # what layer 1 hears from its own next step
    for t in reversed(range(len(V))):
        delta2[t] = m * (1 - high[t] ** 2)
        delta1[t] = (delta2[t] @ A.T + down) * (1 - low[t] ** 2)
        m, down = delta2[t] @ W2.T, delta1[t] @ W1.T
    return low, high, delta1, delta2
    ### END SOLUTION


# %% check="two_layers"
check(two_layers)

# %% covers="wu:4.5 wu:4.5.1"
# Press play: a wave over two layers and three words, and back.
with after(two_layers):
    rng = np.random.default_rng(6)
    W1, A, W2 = rng.normal(size=(3, 4, 4)) * 0.5
    V, b2, m = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    low, high, delta1, delta2 = two_layers(V, W1, A, W2, b2, m)
    theirs = pictures.torchs_stack(V, W1, A, W2, b2)
    claim("torch.nn.RNN with num_layers=2: your states", np.allclose(high, theirs))
    drawn = dict(words=["I", "love", "machine"])
    drawn["sizes"] = np.linalg.norm([delta1, delta2], axis=2)
    claim("with these small weights less comes to the first word than left the end",
          drawn["sizes"][0, 0] < drawn["sizes"][1, 2])  # fmt: skip
    steps_ = IntSlider(0, min=0, max=12, description="step")
    explore(partial(pictures.draw_grid, **drawn), play="step", step=steps_)

# %% [markdown] covers="wu:4.5.2 wu:4.5.3"
# ## Deeper: writing with little memory
#
# Training keeps all states, for the way back. Writing needs none of them but the newest: read a symbol, get $p$, draw the
# next, forget the rest. Memory and work per symbol stay the same after a million symbols. (In statistics *inference* means
# finding weights; of networks people say it for such a forward run.)
#
# With $k$ in front of each old state, two layers are two memory streams: $h_t = k\,h_{t-1} + \tanh(\dots)$ in both.
# Here layer 1 hears the symbol as row $x$ of $E$.


# %% exercise="generate" points=3 difficulty=1 covers="wu:4.5.2 wu:4.5.3"
def generate(E, W1, A, W2, b2, R, k, x, draws):
    """A text of two layers, from their newest states alone.

    E (K, H1), W1, A, W2, b2 as in two_layers, R (H2, K). k: a number. x: the symbol
    that is read for the first draw, from states of 0. draws (n,), 0 <= draw < 1.
    For each draw read the newest symbol: p is the softmax of h2 R, and the next symbol
    is the first one whose p, added to those of all lower-numbered symbols, is above the
    draw. So x and all written symbols but the last are read; where n = 0 nothing is,
    and the states are 0. Scores h2 R may lie anywhere from -2500 to 2500.
    Returns the n written symbols, and the newest states of layers 1 and 2.
    """
    ### BEGIN SOLUTION
    h1, h2 = np.zeros(len(W1)), np.zeros(len(W2))
    written = []
    for draw in draws:
        h1 = k * h1 + np.tanh(h1 @ W1 + E[x])
        h2 = k * h2 + np.tanh(h2 @ W2 + h1 @ A + b2)
        x = np.argmax(np.cumsum(softmax(h2 @ R)) > draw)
        written.append(x)
    return written, h1, h2
    ### END SOLUTION


# %% check="generate"
check(generate)

# %% covers="wu:4.5.2 wu:4.5.3"
# Two streams against two plain layers: 50 steps back in layer 2.
with after(stream, generate):
    rng = np.random.default_rng(7)
    E, W1, A, W2 = (rng.normal(size=s) * 0.3 for s in ((5, 8), (8, 8), (8, 8), (8, 8)))
    R, draws = rng.normal(size=(8, 5)), rng.random(300)
    text, *_ = generate(E, W1, A, W2, np.zeros(8), R, 0, 0, draws)
    part, *_ = generate(E, W1, A, W2, np.zeros(8), R, 0, 0, draws[:100])
    same = list(part) == list(text[:100])
    claim("the first 100 symbols do not know of the rest", same)
    backs = {}
    for k in (0, 1):
        V = E[np.array(text[:50])]
        below_ = stream(V, W1, k, np.zeros(8))[0][1:]
        backs[k] = np.linalg.norm(stream(below_ @ A, W2, k, np.zeros(8))[1])
    claim("50 steps back in layer 2, plain: {b}", backs[0] < 1e-3, b=below(1e-3))
    claim("as a stream: above 1", backs[1] > 1)

# %% covers="wu:4.5.2"
# What the next symbol costs, in multiplications and in memory.
with after(generate):
    manual_writer = pictures.writer()
    lengths = [1, 3, 10, 30, 100, 300, 1000]
    last, whole = pictures.work(generate, manual_writer, lengths)
    claim(
        "after 1,000 symbols the next one takes the work of the second",
        np.ptp(last) == 0,
    )
    _, h1, h2 = generate(*manual_writer, 0, 1, np.full(1000, 0.5))
    show(*pictures.draw_work(lengths, last, whole, h1.size + h2.size))

# %% [markdown] covers="wu:4.5.2"
# Two layers of 48 units have read Python's manual; let your `generate` write with them. How boldly? Divide the scores by
# a **temperature** $T$ ([[02/03]]) before the softmax, that is, hand over $R / T$. Below 1 the likeliest letter wins more
# often, above 1 all come nearer to each other. Each letter is drawn from a $p$; its *entropy*, $-\sum p \log_2 p$ bits, says
# how unsure the network is.
#
# At which $T$ is it as unsure of its own text as the manual leaves it, and what does it write there?

# %% covers="wu:4.5.2"
# Drag the point on the axis: a text at temperature T.
with after(two_layers, generate):
    E, W1, A, W2, b2, R = pictures.writer()

    def unsure(symbols, T):
        """Your scores after each symbol, and p at temperature T."""
        scores = two_layers(E[symbols], W1, A, W2, b2, 0 * b2)[1] @ R
        return scores, softmax(scores / T, axis=1)

    draws = np.random.default_rng(8).random(400)
    texts, entropies = {}, {}
    for T in np.linspace(0.2, 2, 19).round(1):
        texts[T], *_ = generate(E, W1, A, W2, b2, R / T, 0, 1, draws)
        entropies[T] = pictures.bits(unsure([1, *texts[T][:-1]], T)[1])
    unread = pictures.kept_text()[24_000:]
    p = unsure(unread[:-1], 1)[1][np.arange(len(unread) - 1), unread[1:]]
    surprise = -np.log2(p).mean()
    start_ = [pictures.ALPHABET.index(c) for c in "the name of the "]
    drawn = dict(texts=texts, entropies=entropies, surprise=surprise)
    drawn["scores"] = unsure(start_, 1)[0][-1]
    heat = FloatSlider(1.0, min=0.2, max=2, step=0.1, description="temperature T")
    draw = partial(pictures.draw_writing, **drawn)
    explore(draw, digits=0, drag={"T": "heat"}, T=heat)
    claim("at T = 0.2 a letter has less than {n} bit", entropies[0.2] < 1, n=1)
    claim("at T = 2 more than {n} bits", entropies[2.0] > 3.5, n=3.5)
    near = abs(entropies[1.0] - surprise) < 0.5
    claim("at T = 1 as many as the unread manual takes, within ½", near)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:4.3.1 wu:4.3.4 wu:4.5.1 guo:V.3 guo:V.4 wu:4.4.2"
# wu 4.3 to 4.5 and guo V: order of factors, δ, conditions.
torch.manual_seed(1)
W, m3 = torch.randn(4, 4).double(), torch.randn(4).double()
h1 = torch.randn(4).double().requires_grad_(True)
g2 = torch.tanh(W @ h1 + torch.randn(4))
g3 = torch.tanh(W @ g2 + torch.randn(4))
true = torch.autograd.grad(g3 @ m3, h1)[0]
D2, D3 = (torch.diag(1 - g.detach() ** 2) for g in (g2, g3))
row, column = m3 @ W.T @ W.T @ D3 @ D2, W.T @ W.T @ D3 @ D2 @ m3
erratum(
    "wu:4.3.4",
    quote=(
        r"$\frac{\partial J}{\partial h_1} = \frac{\partial J}{\partial h_3} \cdot "
        r"(\mathbf{W}_{\text{recurrent}}^{\top})^2 \cdot \text{diag}(1 - g_3^2) \cdot "
        r"\text{diag}(1 - g_2^2)$"
    ),
    corrected=(
        r"$W^\top \mathrm{diag}(1 - g_2^2)\, W^\top \mathrm{diag}(1 - g_3^2)\, "
        r"\partial J/\partial h_3$: the factors do not commute, and the slope stands "
        r"on the right. Likewise in (4.42)"
    ),
    kind="error",
    printed_holds=torch.allclose(row, true) or torch.allclose(column, true),
    corrected_holds=torch.allclose(W.T @ D2 @ W.T @ D3 @ m3, true),
    decoy_holds=torch.allclose(W.T @ D3 @ W.T @ D2 @ m3, true),
)
R, hidden, y = torch.randn(5, 4).double(), torch.randn(4).double(), torch.tensor([2])
a = hidden.clone().requires_grad_(True)
h = torch.tanh(a)
h.retain_grad()
s = (R @ h)[None]
s.retain_grad()
torch.nn.functional.cross_entropy(s, y).backward()
printed = R.T @ s.grad[0] * (1 - h.detach() ** 2)
erratum(
    "wu:4.5.1",
    quote=(
        r"$\frac{\partial J}{\partial h_3^{(2)}} = \mathbf{W}_{\text{unembed}}^{\top} "
        r"\frac{\partial J}{\partial s} \odot (1 - h_3^{(2)^2})$"
    ),
    corrected=(
        r"(4.55) to (4.60) are slopes $\delta = \partial J/\partial a$ by what goes "
        r"into tanh; $\partial J/\partial h_3^{(2)} = W_{\text{unembed}}^\top "
        r"\partial J/\partial s$"
    ),
    kind="error",
    printed_holds=torch.allclose(printed, h.grad),
    corrected_holds=torch.allclose(R.T @ s.grad[0], h.grad)
    and torch.allclose(printed, a.grad),
    decoy_holds=torch.allclose(printed * (1 - h.detach() ** 2), a.grad),
)
v = np.array([0.7, -1.1])  # W = 0, and the second word pushes as the first, backwards
undone = np.tanh(v) + np.tanh(-v)
erratum(
    "wu:4.3.1",
    quote=(
        r"The memory stream maintains all previously accumulated information while "
        r"incorporating new elements."
    ),
    corrected=(
        r"where later updates do not undo earlier ones, for example orthogonal ones"
    ),
    kind="broad",
    printed_holds=bool(np.abs(undone).max() > 1e-9),
    corrected_holds=bool(np.isclose((np.array([1, 0]) + np.array([0, 2]))[0], 1)),
)
erratum(
    "guo:V.3",
    quote=(
        r"memory cell has an “internal state” that is protected from gradient "
        r"explosion or vanishing"
    ),
    corrected=(
        r"along $c$ the factor is the product of forget gates: protected while they "
        r"are near 1"
    ),
    kind="broad",
    printed_holds=0.5**199 > 1e-6,
    corrected_holds=float(expit(9.0)) ** 199 > 0.9,
)
erratum(
    "wu:4.3.1",
    quote=(
        r"$\mathbf{I} + \mathbf{W}_{\text{recurrent}}^{\top} "
        r"\text{diag}(1 - \tanh^2(\cdots))$"
    ),
    corrected=r"the transposed Jacobian, which acts on gradients; say so",
    kind="convention",
)
erratum(
    "wu:4.4.2",
    quote=r"$\Delta c_t = \tanh(\mathbf{W}_c[h_{t-1}, x_t] + b_c)$",
    corrected=(
        r"a candidate $g$; the increment of (4.44) is "
        r"$(f - 1) \odot c_{t-1} + i \odot g$"
    ),
    kind="convention",
)
erratum(
    "guo:V.4",
    quote=(
        r"LSTM and GRM, which had gates to have different weights given to the "
        r"structures."
    ),
    corrected=r"GRU",
    kind="convention",
)

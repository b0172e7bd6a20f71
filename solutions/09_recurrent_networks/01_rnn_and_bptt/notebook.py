# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a network that reads one character after the other, trained by your own backprop through time" covers="guo:V explainers:4.3"
# # RNNs and backprop through time
#
# A network reads twenty letters, one at a time. Then it is asked: *which was the first?* It has a state of 32 numbers to
# keep that letter in, and 300 updates to learn how.
#
# Two such networks get the same letters in the same order. They start from the same random weights but for one number:
# the weights from state to state are multiplied by 1.2 in one and by 0.5 in the other. After 150 updates the first
# answers right, practically every time. The second guesses, then and after all 300.
#
# *What does this one number destroy?* At the end your own network shows it, before its first update.

# %%
# What this notebook needs.
from functools import partial

import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.special import log_softmax, softmax

from descent import after, below, check, claim, data, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.recurrent_networks import rnn_and_bptt as pictures

start("09_recurrent_networks/01_rnn_and_bptt")

# %% covers="guo:V explainers:4.3"
# The same network twice: only the factor of the recurrent weights differs.
show(*pictures.draw_puzzle(), digits=0)

# %% [markdown] covers="guo:V.2 explainers:4.3"
# ## 1. A network that feeds itself
#
# A sentence has three words or three hundred, and their order matters. The networks of [[07/02]] want all inputs at
# once, and a fixed number of them. In 1990 Jeffrey Elman let a network read one symbol after the other, and gave it
# its own last *state* as a second input. Start with one number for everything:
#
# $$h_t = \varphi(a_t), \quad a_t = w_0 x_t + w_1 h_{t-1}, \quad h_0 = 0, \qquad \hat y = w_2 h_T,$$
#
# for $t = 1, \dots, T$. The weights are the same at every step, so any $T$ will do. That is a *recurrent network*, RNN
# for short. Its loss here is $\ell = (\hat y - y)^2$.

# %% [markdown] covers="guo:V.2.a explainers:4.5.4"
# **One weight, many uses.** Side by side, the steps are a deep network of $T$ layers that share $w_1$. A slope adds up
# over all uses of a weight. In step $j$, $w_1$ multiplies $h_{j-1}$, and from there one path leads to the loss:
#
# $$\frac{d\ell}{dw_1} = \sum_{j=1}^{T} \delta_j\, h_{j-1}, \qquad
# \delta_j = \frac{d\ell}{da_j} = 2(\hat y - y)\, w_2\, w_1^{T-j} \prod_{i=j}^{T} \varphi'(a_i).$$
#
# Call $T - j$ the *lag* of a step. For $w_0$, which multiplies $x_j$, put $x_j$ in place of $h_{j-1}$.
#
# All these products look expensive. But how does $\delta_{j-1}$ differ from $\delta_j$? Begin at the end, and walk back:
# that is **backpropagation through time**.


# %% exercise="lag_terms" points=3 difficulty=1 covers="guo:V.2.a guo:V.2 explainers:4.5.4"
def lag_terms(x, y, w0, w1, w2, phi, slope):
    """What each step of the network of single numbers adds to the slopes of its loss.

    x (T,), T >= 1; y, w0, w1, w2: numbers. phi, slope: the activation and its
    derivative; both are called with a number a_t.
    Returns (T, 2): row j holds the terms of step j, by w0 and by w1; each column adds
    up to the slope of (w2 h_T - y)² by that weight.
    x = [1, 2], y = 0, w0 = w2 = 1, w1 = 3 and no activation (phi(a) = a) give
    [[30, 0], [20, 10]].
    """
    ### BEGIN SOLUTION
    a, h = [], [0.0]
    for number in x:
        a.append(w0 * number + w1 * h[-1])
        h.append(phi(a[-1]))
    arrives = 2 * (w2 * h[-1] - y) * w2
    terms = np.zeros((len(x), 2))
    for j in reversed(range(len(x))):
        delta = arrives * slope(a[j])
        terms[j] = delta * x[j], delta * h[j]
        arrives = delta * w1
    return terms
    ### END SOLUTION


# %% check="lag_terms"
check(lag_terms)

# %% open=true covers="guo:V.2.a explainers:4.5.4"
with after(lag_terms):
    x, y, w, eps = [0.5, -1.0, 0.8, 0.3], 0.2, np.array([0.7, 1.4, 0.9]), 1e-6
    up, down = (pictures.loss_of(x, y, w + [0, s, 0], "tanh") for s in (eps, -eps))
    terms = lag_terms(x, y, *w, *pictures.ACTIVATIONS["tanh"])
    words = "the terms by w₁ add up to {s:.5f}, and nudging w₁ says so, too"
    found = terms[:, 1].sum()
    claim(words, np.isclose(found, (up - down) / (2 * eps)), s=found)
    bare = (terms[:, 1] / w[1] ** np.arange(3, -1, -1)).sum()
    words = "a sum that forgets the powers of w₁ would say {s:.5f}"
    claim(words, abs(bare - found) > 0.05, s=bare)

# %% [markdown] covers="guo:V.2.b"
# One of the lecture notes prints the sum without $w_1^{T-j}$. That is the factor that matters most. Lag by lag, for
# three activations, with $x_t = 1$: where do your terms fade, and where do they blow up? What saves tanh from
# blowing up?

# %% covers="guo:V.2.b guo:V.2.a"
# Your terms by lag and recurrent weight, on a logarithmic scale.
with after(lag_terms):
    strengths = np.linspace(0.1, 3, 59)
    maps = {  # y = −5e5 and w₂ = 1e-6: the slope of the loss by h_T is 1
        name: np.array(
            [
                lag_terms(np.ones(16), -5e5, 0.5, w1, 1e-6, *act)[:, 1]
                for w1 in strengths
            ]
        )
        for name, act in pictures.ACTIVATIONS.items()
    }
    far = {name: np.abs(shares[:, 1]) for name, shares in maps.items()}
    words = "logistic units, lag {n}: below {b}, at every w₁ up to 3"
    claim(words, far["logistic"].max() < 0.001, n=14, b=0.001)
    words = "ReLU, lag {n}: above a million at w₁ = 3"
    claim(words, far["ReLU"][-1] > 1e6, n=14)
    show(*pictures.draw_lags(strengths, maps))

# %% [markdown] covers="wu:4.1 wu:4.2 wu:4.2.1 guo:V.2"
# ## 2. A state of many numbers
#
# The logistic function has a slope of at most ¼; that of tanh is $1 - \tanh^2$, up to 1. So take tanh, and more than one
# number. The input is a symbol of an alphabet of $K$: $x_t$ is 1 at its place and 0 elsewhere (*one-hot*). With a
# sequence in each row,
#
# $$h_t = \tanh(h_{t-1} W + x_t E + b), \qquad s_t = h_t R, \qquad p_t = \mathrm{softmax}(s_t) .$$
#
# $E$ embeds a symbol ($x_t E$ is one row of $E$: look it up), $W$ carries the state on, $R$ reads scores of all symbols
# off it. (Other names: $W_\text{embed}, W_\text{recurrent}, W_\text{unembed}$, or $W_0, W_1, W_2$, on columns.)
#
# In “I love machine learning”, the network reads three words, and $p_3$ should favour the fourth.


# %% exercise="rnn_forward" points=2 difficulty=1 covers="wu:4.1 guo:V.2 explainers:4.3 wu:4.2.1"
def rnn_forward(ids, E, W, b, h0):
    """The states of a recurrent network with tanh units.

    ids (B, T): whole numbers, a sequence of symbols in each row; T = 0 is allowed.
    E (K, H), W (H, H), b (H,). h0 (B, H): the states before the first symbol.
    Returns (T + 1, B, H): h0, then the states after each symbol.
    ids = [[1, 0]], E = [[1], [2]], W = [[3]], b = [0], h0 = [[0]] give
    [[[0]], [[tanh 2]], [[tanh(1 + 3 tanh 2)]]].
    """
    ### BEGIN SOLUTION
    hs = [h0]
    for column in ids.T:
        hs.append(np.tanh(hs[-1] @ W + E[column] + b))
    return np.array(hs)
    ### END SOLUTION


# %% check="rnn_forward"
check(rnn_forward)

# %% covers="wu:4.1 guo:V.2 wu:4.2.1"
# Your states and torch's; a text in two parts; a text backwards.
with after(rnn_forward):
    E, W, b, R = pictures.network(6, 5, 1.0)
    ids, h0 = np.random.default_rng(0).integers(6, size=(3, 8)), np.zeros((3, 5))
    hs = rnn_forward(ids, E, W, b, h0)
    claim("torch's RNN agrees", np.allclose(hs[1:], pictures.torchs(ids, E, W, b, R)))
    twice = rnn_forward(ids[:, 5:], E, W, b, rnn_forward(ids[:, :5], E, W, b, h0)[-1])
    claim("five symbols, then three from there: the same", np.allclose(twice, hs[5:]))
    other = rnn_forward(ids[:, ::-1], E, W, b, h0)[-1]
    claim("the same symbols backwards: another state", not np.allclose(other, hs[-1]))

# %% [markdown] covers="wu:4.2.3 explainers:4.5.4"
# ## 3. Back through time
#
# At some places the next symbol is asked. $L$ is the mean of $-\log p$ of the right one over these $n$ places. By their
# scores its slope is $(p_t - y_t)/n$, with $y_t$ one-hot; elsewhere 0. So two slopes reach a state: from its own read-out,
# and from the next state. Call the sum a *message*:
#
# $$m_t = \frac{\partial L}{\partial h_t} = \frac{\partial L}{\partial s_t} R^\top + \delta_{t+1} W^\top, \qquad
# \delta_t = m_t \odot (1 - h_t^2),$$
#
# where nothing arrives from behind the last step. All steps share the weights, so
#
# $$\begin{aligned}
# \nabla_W &= \sum_t h_{t-1}^\top \delta_t, & \nabla_E &= \sum_t x_t^\top \delta_t, \\
# \nabla_b &= \sum_t \text{column sums of } \delta_t, &
# \nabla_R &= \sum_t h_t^\top \frac{\partial L}{\partial s_t}.
# \end{aligned}$$


# %% exercise="bptt" points=6 difficulty=1 covers="wu:4.2.3 explainers:4.5.4 guo:V.2.b wu:4.2.1 wu:4.2.4"
def bptt(ids, targets, E, W, b, R, h0, pass_on=None):
    """Loss of a recurrent network over a batch, and its slopes.

    ids, E, W, b, h0 as in rnn_forward, T >= 1; R (H, K). targets (B, T): the right
    symbol after each step, -1 where nothing is asked; something is asked.
    pass_on (T,): a valve at each step, for later. What step t hands to the step
    before it, δ_t Wᵀ, is multiplied by pass_on[t] (pass_on[0] plays no part): 1 hands
    on everything, 0 nothing. None: all 1.
    Beware: a column may hold a symbol twice, and dE[ids] += … adds only one of the
    two; np.add.at adds both.
    Returns loss, (dE, dW, db, dR), messages (T, B, H), and the last states (B, H).
    Natural logarithm; scores of 900 and -900 must give finite results.
    Where all weights are 0 and K = 2, the loss is log 2.
    """
    ### BEGIN SOLUTION
    pass_on = np.ones(ids.shape[1]) if pass_on is None else pass_on
    hs = rnn_forward(ids, E, W, b, h0)
    asked = (targets.T >= 0)[:, :, None]
    log_P = log_softmax(hs[1:] @ R, axis=2)
    Y = np.eye(R.shape[1])[targets.T] * asked
    loss = -(Y * log_P).sum() / asked.sum()
    dS = (np.exp(log_P) * asked - Y) / asked.sum()
    messages, deltas = dS @ R.T, np.zeros_like(hs[1:])
    for t in reversed(range(len(dS))):
        deltas[t] = messages[t] * (1 - hs[t + 1] ** 2)
        if t > 0:
            messages[t - 1] += pass_on[t] * (deltas[t] @ W.T)
    dE = np.zeros_like(E)
    np.add.at(dE, ids.T, deltas)
    dW = np.tensordot(hs[:-1], deltas, ((0, 1), (0, 1)))
    dR = np.tensordot(hs[1:], dS, ((0, 1), (0, 1)))
    return loss, (dE, dW, deltas.sum((0, 1)), dR), messages, hs[-1]
    ### END SOLUTION


# %% check="bptt"
check(bptt)

# %% covers="wu:4.2.1 wu:4.2.3 wu:4.2"
# Press play: three words forward, one question, then the messages back.
words = ["I", "love", "machine", "learning"]
sentence, question = np.array([[0, 1, 2]]), np.array([[-1, -1, 3]])
with after(rnn_forward, bptt):
    tiny = pictures.network(4, 2, 1.0, seed=4)
    hs = rnn_forward(sentence, *tiny[:3], np.zeros((1, 2)))
    loss, _, messages, _ = bptt(sentence, question, *tiny, np.zeros((1, 2)))
    drawn = dict(words=words, hs=hs[:, 0], p=np.exp(-loss), messages=messages[:, 0])
    steps = IntSlider(0, min=0, max=7, description="step")
    explore(partial(pictures.draw_unrolled, **drawn), play="step", step=steps)

# %% covers="wu:4.2.3 explainers:4.5.4"
# Which words get a slope; all slopes of a batch beside torch's.
with after(rnn_forward, bptt):
    _, (dE, *_), _, _ = bptt(sentence, question, *tiny, np.zeros((1, 2)))
    words = "{n} rows of E have a slope: those of the words that were read"
    claim(words, (np.abs(dE).sum(1) > 0).sum() == 3, n=3)
    params, rng = pictures.network(6, 5, 1.0), np.random.default_rng(1)
    ids, targets = rng.integers(6, size=(3, 8)), rng.integers(-1, 6, size=(3, 8))
    _, grads, _, _ = bptt(ids, targets, *params, np.zeros((3, 5)))
    theirs = pictures.torchs_slopes(ids, targets, params)
    gap = max(np.abs(g - t).max() for g, t in zip(grads, theirs))
    claim("torch finds all your slopes (gap {gap})", gap < 1e-12, gap=below(1e-12))

# %% [markdown] covers="wu:4.2.4 guo:V.2.b"
# ## 4. How far does an error travel?
#
# Say that only the last step is asked. On its way back a message is multiplied, at every step, by slopes $1 - h^2$, at
# most 1, and by $W^\top$. With slopes of 1 it is $m_T (W^\top)^{T-t}$ at step $t$. In the long run, powers of a matrix go as
# $\rho^{T-t}$, where the **spectral radius** $\rho$ is the largest absolute value of its eigenvalues. Sepp Hochreiter saw
# in 1991 what that means, in his diploma thesis with Jürgen Schmidhuber: an error **vanishes** or **explodes**,
# exponentially in the lag.
#
# In our puzzle $W$ is a factor times an orthogonal matrix, a rotation or one with a mirror. It keeps lengths, so all its
# eigenvalues have the absolute value 1, and $\rho$ is the factor.

# %% predict="half" minutes=1 covers="wu:4.2.4"
predict(
    "half",
    "Factor 0.5, twenty letters, before any training. How large is the slope of the "
    "loss by the first state, compared with that by the last?",
    ["about 1/40", "about 1/400", "less than 1/100,000"],
    truth=int(np.digitize(-np.log10(pictures.first_over_last(0.5)), [2, 4])),
    because="0.5¹⁹ is 2 · 10⁻⁶, and the slopes of tanh take some more. Updates that "
    "one can afford hardly change what the network does with the first letter.",
)

# %% predict="double" minutes=1 covers="wu:4.2.4"
predict(
    "double",
    "And with the factor 2? 2¹⁹ is half a million.",
    ["below 1", "between 1 and 1,000", "about half a million"],
    truth=int(np.digitize(np.log10(pictures.first_over_last(2.0)), [0, 3])),
    because="Large weights make large states, there tanh is flat, and each flat slope "
    "takes back a part of what the factor gives. Without tanh, half a million it is.",
)

# %% covers="wu:4.2.4 guo:V.2.b explainers:4.5.4"
# Your messages over 50 steps, in 64 dimensions, before any training.
with after(bptt, "half", "double"):
    rng, sizes = np.random.default_rng(0), {}
    ids, targets, _ = pictures.recall(rng, rows=16, length=50)
    for gain in (0.5, 0.9, 1.2, 2.0):
        params = pictures.network(4, 64, gain)
        _, _, messages, _ = bptt(ids, targets, *params, np.zeros((16, 64)))
        sizes[gain] = np.linalg.norm(messages, axis=(1, 2))
    first = {gain: curve[0] / curve[-1] for gain, curve in sizes.items()}
    claim("factor 0.5: {b} after 49 steps", first[0.5] < 1e-14, b=below(1e-14))
    claim("factor 2: above 10 after 49 steps", first[2.0] > 10)
    show(*pictures.draw_messages(sizes))

# %% [markdown] covers="wu:4.1 wu:4.2.4"
# Now two units only, so that you see their state: a rotation times $\rho$, from the start that you drag. On the right a
# slope of 1 comes back from step 30.
#
# 1. *Linear* units: is anything but $\rho$ important?
# 2. With tanh and $\rho = 1.5$, start near 0, then far away. What holds the slope back?

# %% covers="wu:4.1 wu:4.2.4"
# Drag the square.
explore(
    pictures.draw_plane,
    drag={("x", "y"): "start"},
    gain=FloatSlider(0.95, min=0.3, max=1.8, step=0.05, description="radius ρ"),
    x=FloatSlider(0.9, min=-1, max=1, step=0.05, description="first unit"),
    y=FloatSlider(0.3, min=-1, max=1, step=0.05, description="second unit"),
    unit=Dropdown(options=["tanh", "linear"], description="units"),
)

# %% [markdown] covers="guo:V.2.b wu:4.2.4"
# ## 5. Train it, and keep the steps short
#
# A growing message is loud: one update with a huge slope throws the weights far off. The remedy is *clipping* ([[03/03]]):
# where the norm $N$ of all slopes together, as one long vector, is above $c$, multiply them by $c/N$.
#
# And a text is too long to unroll. So cut it into windows of $T$ characters. The *state* runs on from one window to the
# next; the *message* stops at the cut: **truncated** backpropagation through time. A window begins *fresh*, from states of
# 0, only where a row of text begins.


# %% exercise="train" points=4 difficulty=1 covers="guo:V.2.b wu:4.2 wu:4.2.4 explainers:4.3"
def train(params, batches, lr, c):
    """Gradient descent on one batch after the other, with clipping.

    params: [E, W, b, R], left unchanged; W has H rows, b H numbers. batches: a list
    of (ids, targets, fresh), as for bptt. A batch starts from states of 0 where fresh
    is True, as it is in the first; else from the last states of the batch before it.
    In each update params lose lr times their slopes, first clipped at c as above;
    c = np.inf clips nothing. The norm is never 0.
    Returns the new params, a list, and the losses, each before its update.
    """
    ### BEGIN SOLUTION
    losses = []
    for ids, targets, fresh in batches:
        if fresh:
            h = np.zeros((len(ids), len(params[1])))
        loss, grads, _, h = bptt(ids, targets, *params, h)
        norm = np.sqrt(sum((g**2).sum() for g in grads))
        step = lr * min(1, c / norm)
        params = [p - step * g for p, g in zip(params, grads)]
        losses.append(loss)
    return params, losses
    ### END SOLUTION


# %% check="train"
check(train)

# %% open=true covers="wu:4.2 guo:V.2.b"
alphabet = '\n abcdefghijklmnopqrstuvwxyz.,"()'
text = "".join(c for c in data.manual().lower() if c in alphabet)
codes = np.array([alphabet.index(c) for c in text])
rows, T = codes[:24_000].reshape(16, 1500), 25  # the rest of the text is kept apart
windows = [(rows[:, t : t + T], rows[:, t + 1 : t + T + 1], t == 0)
           for t in range(0, 1475, T)]  # fmt: skip
batches = [windows[i % len(windows)] for i in range(800)]
with after(train):
    first = pictures.network(len(alphabet), 64, 1.0)
    reader, losses = train(first, batches, 2.0, 0.3)

# %% covers="wu:4.2 guo:V.2.b wu:4.2.4"
# Python's manual by characters: clipped and unclipped, and a sample.
with after(rnn_forward, bptt, train):
    kept = codes[None, 24_000:]
    curves = {"clipped at 0.3": losses}
    lost, curves["not clipped"] = train(first, batches, 2.0, np.inf)
    ends = {}
    for name, params in zip(curves, (reader, lost)):
        nothing = np.zeros((1, 64))
        ends[name] = bptt(kept[:, :-1], kept[:, 1:], *params, nothing)[0]
    good, bad = ends.values()
    words = "on unseen text: below 2 nats a character; no idea costs log 33 = 3.5"
    claim(words, good < 2)
    claim("without clipping: worse by more than 1", bad > good + 1)
    rng, h, sample = np.random.default_rng(0), np.zeros((1, 64)), [0]
    while len(sample) < 400:
        h = rnn_forward(np.array([[sample[-1]]]), *reader[:3], h)[-1]
        chance = softmax(h[0] @ reader[3] / 0.7)  # a little less daring than p
        sample.append(rng.choice(len(alphabet), p=chance))
    wrote, known = "".join(alphabet[i] for i in sample[1:]), set(text.split())
    show(*pictures.draw_text(curves, ends, wrote, known), digits=0)

# %% [markdown] covers="guo:V.2.b"
# It began with no idea of letters. What does a cut cost? Ask the valves. The **knife**: only the last $k$ steps are heard.
# The **coin**, thrown at each step back: with probability $q$ pass on the message *divided by $q$*, else 0. So lag $l$ is
# heard with probability $q^l$, and then counts $q^{-l}$ times.

# %% covers="guo:V.2.b"
# One character asked after 24: slopes by W, exact, by knife, by coins.
with after(bptt, train):
    at = 24_000 + 160 * np.arange(16)[:, None] + np.arange(24)
    ids, targets = codes[at], np.full((16, 24), -1)
    targets[:, -1] = codes[at[:, -1] + 1]

    def slope(pass_on):
        return bptt(ids, targets, *reader, np.zeros((16, 64)), pass_on)[1][1]

    exact, knife, coin = slope(np.ones(24)), {}, {}
    for k in (5, 9):
        cut = slope(np.arange(24) != 24 - k)
        knife[k] = np.linalg.norm(cut - exact) / np.linalg.norm(exact)
    s = np.arange(24)  # how many coins come up heads before the first tail
    outcomes = (s >= 24 - s[:, None]) * 1.0  # their valves, a row for each
    for q in (0.8, 0.9):
        chance = q**s * np.where(s < 23, 1 - q, 1)
        slopes = np.array([slope(valves / q) for valves in outcomes])
        mean = np.tensordot(chance, slopes, 1)
        claim("q = {q}: the mean over all coins is the exact slope",
              np.allclose(mean, exact, rtol=1e-9, atol=1e-12), q=q)  # fmt: skip
        spread = chance @ ((slopes - exact) ** 2).sum((1, 2))
        coin[chance @ (s + 1)] = np.sqrt(spread) / np.linalg.norm(exact)
    biased, noisy = knife[9], coin[max(coin)]
    claim("nine steps: one coin is worse than the knife", noisy > biased)
    claim("the mean of 100 coins is better", noisy / 10 < biased)
    show(*pictures.draw_cuts(knife, coin), digits=1)

# %% [markdown] covers="guo:V explainers:4.3"
# A knife is wrong in the same way each time, a coin right in the mean, but noisy. Fading messages make the knife cheap.
#
# ## 6. The first of twenty letters
#
# Back to the puzzle, with your own network: both factors, clipped, and the good one without clipping. Beside them the
# messages *before* the training.

# %% covers="guo:V explainers:4.3 wu:4.2.4 guo:V.2.b"
# The answer to the question of the first screen.
with after(rnn_forward, bptt, train, "half"):
    ids, targets, _ = pictures.recall(np.random.default_rng(99), 500)
    curves, before, none = {}, {}, np.zeros((500, 32))
    trials = {"1.2": (1.2, 0.3), "0.5": (0.5, 0.3), "1.2, not clipped": (1.2, np.inf)}
    for name, (gain, c) in trials.items():
        params, rng, right = pictures.network(4, 32, gain), np.random.default_rng(0), []
        messages = bptt(ids, targets, *params, none)[2]
        before["factor " + name] = np.linalg.norm(messages, axis=(1, 2))
        for _ in range(13):
            scores = rnn_forward(ids, *params[:3], none)[-1] @ params[3]
            right.append(np.mean(scores.argmax(1) == ids[:, 0]))
            params, _ = train(params, [pictures.recall(rng) for _ in range(25)], 1.0, c)
        curves["factor " + name] = np.arange(0, 325, 25), right
    ends = [right[-1] for _, right in curves.values()]
    since = min(curves["factor 1.2"][1][6:])
    claim("factor 1.2: over 99 in 100 right, from update {n} on", since > 0.99, n=150)
    claim("factor 0.5: guesses", abs(ends[1] - 0.25) < 0.1)
    claim("without clipping: fewer than 9 in 10", ends[2] < 0.9)
    sizes = list(before.values())
    words = "factor 0.5: the first letter's slope over the last one's is {r}"
    claim(words, sizes[1][0] / sizes[1][-1] < 1e-6, r=below(1e-6))
    del before["factor 1.2, not clipped"]  # it begins as the other does
    show(*pictures.draw_answer(curves, before), digits=0)

# %% [markdown] covers="wu:4.2.4 guo:V.2.b"
# ## Take-aways
#
# - A recurrent network is a deep network whose layers share their weights; a slope adds up over all steps.
# - **The puzzle:** each step back multiplies a message by $W^\top$ and by slopes of tanh. At $\rho = 0.5$ less than a
#   millionth is left at the first letter: the network does not learn what it hardly hears of. To explode, the
#   factor must be above 1, but that is not enough: tanh takes back.
# - Clipping cures exploding. Vanishing wants another path for the message ([[09/02]], [[09/03]]).
# - Truncation by a knife is biased; by a coin, with weights $1/q$, it is right in the mean, and noisy.
#
# Next: [[next]].

# %% [markdown] covers="wu:4.2.4"
# ## Deeper: what the spectral radius promises
#
# Four fine points. $\rho$ tells the *long run*: before that, a matrix whose eigenvectors are far from orthogonal can do the
# opposite for a while. What bounds a single step is the largest singular value, $\lVert W \rVert_2 \ge \rho$: if it is
# below 1, messages vanish, since slopes of tanh are at most 1. And $\rho > 1$ alone makes nothing explode, if the states
# are loud. Nor is it needed: one unit may hold back another, until a flat tanh cuts off the one that holds. Only
# $\lVert W \rVert_2 > 1$ is needed. Your `bptt` can show all of it. With $E = 0$ and $b = 0$ the network is *silent*: its states are 0, and there tanh
# has slope 1.

# %% covers="wu:4.2.4"
# Silent, loud, a one-way chain, and a unit that holds another back.
with after(bptt):
    rng, gain, n = np.random.default_rng(2), 0.8, 400

    def sizes_of(W, length, loud=0.0, b=0.0, start=0.0):
        """Sizes of your messages from the last step back, the last one as 1."""
        E, _, none, R = pictures.network(4, len(W), 1.0)
        ids, targets, _ = pictures.recall(rng, rows=1, length=length)
        b, h0 = none + b, none[None] + start
        _, _, messages, _ = bptt(ids, targets, loud * E, W, b, R, h0)
        size = np.linalg.norm(messages, axis=(1, 2))[::-1]
        return size / size[0]

    turned, lag = pictures.network(4, 8, gain)[1], np.arange(30)
    silent, loud = sizes_of(turned, 30), sizes_of(turned, 30, loud=3.0)
    claim("rotation times {g}: exactly {g} to the power lag",
          np.allclose(silent, gain**lag, rtol=1e-9), g=gain)  # fmt: skip
    claim("with louder states, never more than that", (loud <= gain**lag + 1e-12).all())
    chain = 0.5 * np.eye(4) + 2 * np.eye(4, k=1)  # all eigenvalues are 0.5
    size = sizes_of(chain, n)
    words = "a one-way chain, radius {r}: first it grows {t:.0f}-fold, then it is gone"
    claim(words, size.max() > 10 and size[-1] < 1e-80, r=0.5, t=size.max())
    rate = (size[-1] / size[-101]) ** 0.01
    claim("in the long run {x:.2f} a step", abs(rate - 0.5) < 0.01, x=rate)
    held = np.array([[2.0, 2.0], [-2.0, -2.0]])  # its only eigenvalue is 0
    size = sizes_of(held, 30, b=[2.0, 40.0], start=[0.0, 1.0])  # unit 2 stays at 1
    double = np.allclose(size[2:], 2 * size[1:-1], rtol=1e-9)
    claim("radius 0, but the unit that held is cut off: messages double", double)

# %% [markdown] covers="guo:V.1"
# ## Deeper: rows of unequal length
#
# Sequences come in three kinds of task. In all of them the order tells something, and lengths differ:
#
# | task | reads | is asked |
# | --- | --- | --- |
# | sentiment | “this jacket is great” | one label, after the last word |
# | forecasting | conditions of each day | a price, every day |
# | translation | “I have 3 dogs” | “Ik heb drie honden”, or “Tengo tres perros”: after reading, and 4 words or 3 |
#
# (For translation the network needs a second half: [[09/04]].) A batch wants rows of one length. So fill the short
# ones up with a symbol that means nothing, and remember which places are real.


# %% exercise="pad_batch" points=2 difficulty=1 covers="guo:V.1"
def pad_batch(seqs, pad, K):
    """Rows of one length from sequences of any length.

    seqs: a list of lists of whole numbers 0 … K - 1, in an order that is kept; empty
    ones are allowed. pad: such a number, too; it may stand in a sequence as a symbol.
    T is the largest length. Returns ids (B, T), filled up with pad on the right; mask
    (B, T), True at the real places; and the one-hot symbols (B, T, K), which are all
    0 where there is no real symbol.
    seqs = [[1], [0, 1]], pad = 0, K = 2: ids [[1, 0], [0, 1]], mask
    [[True, False], [True, True]], one-hot [[[0, 1], [0, 0]], [[1, 0], [0, 1]]].
    """
    ### BEGIN SOLUTION
    T = max(len(s) for s in seqs)
    ids = np.full((len(seqs), T), pad)
    mask = np.zeros((len(seqs), T), bool)
    for i, s in enumerate(seqs):
        ids[i, : len(s)] = s
        mask[i, : len(s)] = True
    return ids, mask, np.eye(K)[ids] * mask[:, :, None]
    ### END SOLUTION


# %% check="pad_batch"
check(pad_batch)

# %% covers="guo:V.1"
# A padded batch, a label at the end of each row, against rows alone.
with after(pad_batch, bptt):
    seqs, labels = [[0, 1, 2], [3], [1, 4, 2, 0, 3]], np.array([2, 0, 1])
    ids, mask, onehot = pad_batch(seqs, 0, 5)
    targets = np.full(ids.shape, -1)
    targets[np.arange(3), mask.sum(1) - 1] = labels
    params = pictures.network(5, 6, 1.0)
    loss, grads, _, _ = bptt(ids, targets, *params, np.zeros((3, 6)))
    alone = [bptt(ids[[i], :n], targets[[i], :n], *params, np.zeros((1, 6)))
             for i, n in enumerate(mask.sum(1))]  # fmt: skip
    same = np.isclose(loss, np.mean([a[0] for a in alone]))
    claim("the loss is the mean of the rows' own", same)
    same = np.allclose(grads[1], np.mean([a[1][1] for a in alone], axis=0))
    claim("and so is the slope by W: what fills up changes nothing", same)
    looked_up = params[0][ids[mask]]
    claim(
        "a one-hot row times E: its row",
        np.allclose(onehot[mask] @ params[0], looked_up),
    )

# %% [markdown] covers="wu:4.2.2"
# ## Deeper: what does a state know?
#
# After “I love machine”, one of the notes says, $h_3$ “has complete context”. That can be tested. A **probe** is a line,
# fitted to read something off the state: which character was seen four steps ago, say. Where it succeeds on states that
# it was not fitted to, the state holds it.


# %% exercise="probe" points=2 difficulty=1 covers="wu:4.2.2"
def probe(H, y, H_new):
    """Scores of K classes, read linearly off states.

    H (n, d), y (n,) whole numbers 0 … K - 1, each of them there; H_new (m, d).
    Fits, by least squares, W (d, K) and an intercept (K,) from the rows of H to the
    one-hot rows of y. Where several fits are equally good, takes the one whose W and
    intercept together have the smallest sum of squares.
    Returns the scores of H_new (m, K).
    H = [[0], [1]], y = [0, 1], H_new = [[2]] give [[-1, 2]].
    """
    ### BEGIN SOLUTION
    A = np.column_stack([H, np.ones(len(H))])
    Y = np.eye(y.max() + 1)[y]
    fit = np.linalg.lstsq(A, Y)[0]
    return np.column_stack([H_new, np.ones(len(H_new))]) @ fit
    ### END SOLUTION


# %% check="probe"
check(probe)

# %% covers="wu:4.2.2"
# Probes on the reader and on its first weights: by lag, by place.
lags, half = [0, 1, 2, 3, 4, 6, 8], 12_000
with after(rnn_forward, train, probe):
    place = pictures.places(codes, alphabet)  # 0 between words, 1 … 6 inside

    def told(params, y):
        """Share of the characters after `half` whose y is read right."""
        H = rnn_forward(codes[None], *params[:3], np.zeros((1, 64)))[1:, 0]
        scores = probe(H[8:half], y[8:half], H[half:])
        return np.mean(scores.argmax(1) == y[half:])

    nets = {"trained": reader, "untrained": first}
    right = {
        name: [told(params, np.roll(codes, lag)) for lag in lags]
        for name, params in nets.items()
    }
    newest = min(shares[0] for shares in right.values())
    claim("both know the newest character: over {s:.0%}", newest > 0.9, s=0.9)
    words = "the trained one knows the place in the word: over {s:.0%}"
    claim(words, told(reader, place) > 0.8, s=0.8)

# %% predict="who-knows-more" minutes=1 covers="wu:4.2.2"
predict(
    "who-knows-more",
    "From which network's state can a line tell better which character was seen four "
    "steps ago: from the trained reader's, or from its untrained beginning, W a random "
    "rotation?",
    ["the trained one's", "the untrained one's"],
    truth=int(right["untrained"][4] > right["trained"][4]),
    because="A rotation forgets nothing by itself. Training needs the next character, "
    "not the last five, and gives room to what helps. So a probe that succeeds does "
    "not prove that anything was learned: try the untrained network, too.",
)

# %% covers="wu:4.2.2"
# What a line reads off both states, by lag.
with after(rnn_forward, train, probe, "who-knows-more"):
    better = right["untrained"][4] - right["trained"][4]
    words = "four back: the untrained one by more than {d} of 100 characters"
    claim(words, better > 0.1, d=10)
    guess = np.bincount(codes[half:]).max() / len(codes[half:])
    show(*pictures.draw_probes(lags, right, guess), digits=0)

# %% [markdown] covers="wu:4.8.2"
# ## Deeper: a program by hand, and one by data
#
# A recurrent network is a loop, its weights are the program. Take *parity*: after each bit, is the number of ones so far
# odd? In Python: `p = p ^ bit`. As weights, by hand, with a steepness $g$, and the bit $x$ as symbol 0 or 1:
#
# - unit 1 gets $g\,(p + x - \frac12)$: it is on, near 1, where at least one of the two is 1;
# - unit 2 gets $g\,(p + x - \frac32)$: it is on where both are;
# - unit 3 gets $g$: always on.
#
# Off is near −1. So the new parity stands in the state as $p = (h_1 - h_2)/2$. Scores: $h_3$ for even, $h_1 - h_2$ for odd.


# %% exercise="parity_net" points=2 difficulty=1 covers="wu:4.8.2"
def parity_net(g):
    """Weights of the network above: E (2, 3), W (3, 3), b (3,), R (3, 2).

    They are used as in rnn_forward, from a state of 0, which stands for even: the new
    state is tanh(h W + E[x] + b), and the scores are its product with R. What depends
    on the bit alone stands in E, whose first row is 0; what depends on nothing, in b.
    """
    ### BEGIN SOLUTION
    E = np.array([[0, 0, 0], [g, g, 0]])
    W = g / 2 * np.array([[1, 1, 0], [-1, -1, 0], [0, 0, 0]])
    b = np.array([-g / 2, -3 * g / 2, g])
    R = np.array([[0, 1], [0, -1], [1, 0]])
    return E, W, b, R
    ### END SOLUTION


# %% check="parity_net"
check(parity_net)

# %% covers="wu:4.8.2 guo:V.2"
# The program by hand, and three by gradient descent from rows of 8 bits.
with after(rnn_forward, train, parity_net):
    lengths, rng, right = [8, 30, 100, 300], np.random.default_rng(0), {}
    nets = {"by hand": parity_net(10.0)}
    for seed in range(3):
        bits = rng.integers(2, size=(1500, 64, 8))
        lessons = [(x, x.cumsum(1) % 2, True) for x in bits]
        begin = pictures.network(2, 8, 1.0, seed)
        nets[f"by data, {seed + 1}"], _ = train(begin, lessons, 1.0, 0.3)
    for name, (E, W, b, R) in nets.items():
        right[name] = []
        for n in lengths:
            x = np.random.default_rng(n).integers(2, size=(300, n))
            scores = rnn_forward(x, E, W, b, np.zeros((300, len(W))))[-1] @ R
            right[name].append(np.mean(scores.argmax(1) == x.sum(1) % 2))
    claim("by hand: right on all rows of {n} bits", right["by hand"][-1] == 1, n=300)
    learned = list(right.values())[1:]
    claim("by data: on 8 bits over 95 % each", min(r[0] for r in learned) > 0.95)
    show(*pictures.draw_parity(lengths, right), digits=0)

# %% [markdown] covers="wu:4.8.2"
# Nobody told gradient descent about “at least one” and “both”: data and backprop wrote programs of their own. But nothing in
# rows of 8 bits says what to do at bit 300. The program by hand was made so that its state returns to its places at
# every step; a learned one may creep away, a little at each step, until it is wrong.

# %% [markdown] covers="wu:4 guo:V"
# ## Deeper: two kinds of time
#
# A map for what comes. To the right runs *real time*, the symbols of a sequence; upwards *computational time*, the layers
# that one symbol passes. Along either, messages are multiplied, and the cure is a *stream*: a vector to which steps only
# add.
#
# | network | to the right (time) | upwards (layers) |
# | --- | --- | --- |
# | this notebook's | $\tanh(hW + \dots)$ | one layer |
# | [[09/02|LSTM, GRU]] | a gated stream | one layer or more |
# | [[09/03|residual network]] | – | a stream |
# | [[08/01|convolution in time]] | a fixed number of steps | layers |
# | [[10/03|state space]], [[10/04|Mamba]] | linear; gated | a stream |
# | [[10/05|quantum system]] | a rotation: nothing fades | – |
# | [[12/01|transformer]] | all at once | a stream |
#
# Your rotation with linear units and $\rho = 1$ is the bridge: messages neither fade nor grow. But who keeps everything
# decides nothing. Gates let the loop decide.

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="guo:V.1 guo:V.2 guo:V.2.a guo:V.2.b"
# guo, part V: an arrow, a factor, and conditions.
x, y, (w0, w1, w2) = np.array([0.5, -1.0, 0.8, 0.3]), 0.2, (0.7, 1.4, 0.9)


def by_w1(power, T=4, phi="tanh"):
    """The sum over steps of slopes of phi, power(lag) and the state before it."""
    f, slope = pictures.ACTIVATIONS[phi]
    a, h = [], [0.0]
    for number in x[:T]:
        a.append(w0 * number + w1 * h[-1])
        h.append(f(a[-1]))
    products = np.cumprod(slope(np.array(a))[::-1])[::-1]
    lag = np.arange(T)[::-1]
    return 2 * (w2 * h[-1] - y) * w2 * (products * power(lag) * h[:-1]).sum()


eps = 1e-6
nudged = [pictures.loss_of(x, y, (w0, w1 + e, w2), "tanh") for e in (eps, -eps)]
nudged = (nudged[0] - nudged[1]) / (2 * eps)
erratum(
    "guo:V.2.a",
    quote=(r"$\sum_{j=T}^1 \left( \prod_{i=T}^j \phi'(a_i) \right) h_{j-1}$"),
    corrected=(
        r"$\sum_{j=1}^T \big(\prod_{i=j}^T \varphi'(a_i)\big)\, w_1^{T-j}\, h_{j-1}$; "
        r"likewise in the lines for $T = 4$"
    ),
    kind="error",
    printed_holds=np.isclose(by_w1(lambda lag: 1.0), nudged),
    corrected_holds=np.isclose(by_w1(lambda lag: w1**lag), nudged),
    decoy_holds=np.isclose(by_w1(lambda lag: w1 ** (lag + 1)), nudged),
)
weights, h_T = dict(w_0=0.7, w_1=0.5, w_2=2.0), 1.0  # E = w₂ h_T = 2, with g = id
erratum(
    "guo:V.2",
    quote=r"$[h_T]$ … $\xrightarrow{w_1 \cdot (-)}$ … $\mathbb{E}[y | x]$",
    corrected=r"the arrow of the read-out carries $w_2$",
    kind="error",
    printed_holds=weights["w_1"] * h_T == 2.0,
    corrected_holds=weights["w_2"] * h_T == 2.0,
    decoy_holds=weights["w_0"] * h_T == 2.0,
)
h1 = 0.4
erratum(
    "guo:V.2.a",
    quote=(
        r"it will be more computationally challenged for  $w_1$ , as  $h_{t-1}$  "
        r"requires more computation."
    ),
    corrected=(
        r"both slopes need the same $\delta_t$, which hold $\varphi'(a_t)$; the "
        r"$h_{t-1}$ come from the forward pass. True where $\varphi'$ is constant"
    ),
    kind="broad",
    # is φ'(a₂), a factor for w₀, too, known without h₁? With tanh; with active ReLUs
    printed_holds=np.isclose(np.tanh(w0 * x[2]), np.tanh(w0 * x[2] + w1 * h1)),
    corrected_holds=(w0 * x[2] > 0) == (w0 * x[2] + w1 * h1 > 0),
)
h = [0.0]
for _ in range(10):  # ReLU, all active: x = 1, w₀ = 0.5
    h.append(max(0.5 + 1.5 * h[-1], 0))
ups = [0.0]
for state in h[:-1]:  # the slope of h by w₁, forward
    ups.append(state + 1.5 * ups[-1])
erratum(
    "guo:V.2.b",
    quote=(
        r"For the ReLU, if it is in the far right, it might explode and might just be "
        r"the sum of the hidden states."
    ),
    corrected=r"$\sum_j w_1^{T-j} h_{j-1}$: the plain sum for $w_1 = 1$ only",
    kind="broad",
    printed_holds=np.isclose(sum(h[:-1]), ups[-1]),
    corrected_holds=np.isclose(1.5 ** np.arange(10)[::-1] @ h[:-1], ups[-1]),
)
erratum(
    "guo:V.2.a",
    quote=r"$(h_3 + \phi(a_3)(h_2 + \phi'(a_2)(h_1 + \phi'(a_1) \cdot h_0)))$",
    corrected=r"$\varphi'(a_3)$, beside the missing $w_1$",
    kind="convention",
)
erratum(
    "guo:V.2.a",
    quote=r"$= 2(w_2 \cdot h_T - y) \cdot h_t$",
    corrected=r"$2 (w_2 h_T - y)\, h_T$",
    kind="convention",
)
erratum(
    "guo:V.2.b",
    quote=(
        r"introduce a random variable  $X \subset \{0, 1\}$  multiplied in the sum so "
        r"that  $T$  is more likely to be 0"
    ),
    corrected=(
        r"$X \in \{0, 1\}$, and $X$ for $T$; for a mean that is right, divide what is "
        r"kept by its probability"
    ),
    kind="convention",
)
erratum(
    "guo:V.1",
    quote=r"$x_n = \text{observable conditions and } t_{n,t}$",
    corrected=r"$y_{n,t}$, as in the lines around it",
    kind="convention",
)

# %% demo=true covers="wu:4.2.4 wu:4.2.3"
# wu 4.2.4, on columns: the slope by h₁, who reaches what, eigenvalues.
torch.manual_seed(0)
W, m3 = torch.randn(5, 5).double(), torch.randn(5).double()
inputs = torch.randn(3, 5).double().requires_grad_(True)
h, states = torch.zeros(5).double(), []
for v in inputs:
    h = torch.tanh(W @ h + v)
    states.append(h)
h1, h2, h3 = states
true = torch.autograd.grad(h3 @ m3, h1, retain_graph=True)[0]
s1, s2, s3 = (1 - h.detach() ** 2 for h in states)
erratum(
    "wu:4.2.4",
    quote=(
        r"$\left(\mathbf{W}_{\text{recurrent}}^{\top}\right)^2 \left(\frac{\partial "
        r"J}{\partial h_3} \odot (1 - h_3^2)\right) \odot (1 - h_2^2) "
        r"\odot (1 - h_1^2)$"
    ),
    corrected=(
        r"$W^\top\big[(1 - h_2^2) \odot W^\top\big((1 - h_3^2) \odot "
        r"\partial J/\partial h_3\big)\big]$: the factors do not commute, and "
        r"$1 - h_1^2$ comes later"
    ),
    kind="error",
    printed_holds=torch.allclose(W.T @ W.T @ (m3 * s3) * s2 * s1, true),
    corrected_holds=torch.allclose(W.T @ (s2 * (W.T @ (s3 * m3))), true),
    decoy_holds=torch.allclose(W.T @ W.T @ (m3 * s3) * s2, true),
)
reach = [
    [bool(torch.autograd.grad(h.sum(), inputs, retain_graph=True)[0][i].any())
     for i in range(3)]
    for h in states
]  # fmt: skip
erratum(
    "wu:4.2.4",
    quote=r'"learning" directly influences  $h_3$',
    corrected=(
        r"“machine”, $x_3$, enters $h_3$; “love” $h_2$, “I” $h_1$. “learning” is the "
        r"target"
    ),
    kind="error",
    # the words that reach h₂ are those of the list: by it, “machine” does
    printed_holds=reach[1][2],
    corrected_holds=reach[2][2] and reach[1][1] and reach[0][0],
    decoy_holds=reach[0][1],
)
flat = torch.tanh(torch.tensor(3.0)) ** 2
erratum(
    "wu:4.2.4",
    quote=r"If eigenvalues $|\lambda| > 1$ : gradients explode",
    corrected=(
        r"for linear units. With tanh $\lVert W \rVert_2 > 1$ is needed, not enough; "
        r"and $\lVert W \rVert_2 \max \tanh' < 1$ suffices to vanish"
    ),
    kind="broad",
    printed_holds=bool(2 * (1 - flat) > 1),  # λ = 2 at h = tanh 3
    # linear: a rotation times 2
    corrected_holds=bool(
        np.linalg.matrix_power([[0.0, 2.0], [-2.0, 0.0]], 20).max() > 1e6
    ),
)

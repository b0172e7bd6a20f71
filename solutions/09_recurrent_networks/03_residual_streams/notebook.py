# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a residual network with its way back, gradient descent and ISTA as loops of blocks, and a trained loop that beats them" covers="wu:4.7.5 wu:4.7.1"
# # Residual streams
#
# Twenty numbers are measured. They mix forty hidden ones, most of which are 0. Which are not, and how large are they?
# A loop with a proof finds out: ISTA. It begins with the guess 0, and in each round it adds a correction. After 8 rounds
# nearly 40 % of the squared error is still left.
#
# The other loop in the picture has the same form and the same work a round, but no proof. Its numbers were *trained*,
# and after 8 rounds 8 % is left.
#
# *What does training know that the proof does not? And how do errors reach the first round of a loop, so that it can
# learn at all?*

# %%
# What this notebook needs.
from functools import partial

import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider
from scipy.special import expit, log_softmax

from descent import after, check, claim, erratum, explore, hint
from descent import predict, show, solution, start
from descent.pictures.recurrent_networks import residual_streams as pictures

start("09_recurrent_networks/03_residual_streams")

# %% covers="wu:4.7.5"
# Error by round: ISTA with strengths λ of its penalty, and a trained loop.
show(*pictures.draw_race(*pictures.race()), digits=1)

# %% [markdown] covers="wu:4.6.2 wu:4.6.3 wu:4.7.6 explainers:4.6.Q5"
# ## 1. A loop that only adds
#
# Say “Barack”, and a network should answer “Obama”. Here is one, as a program:
#
# ```
# h = E[word]
# for t in 1 … T:
#     h = h + tanh(h W_t + b_t)
# scores = h U
# ```
#
# $h$ is a row of $d$ numbers. The word picks a row of $E$, and $U$ reads scores of all last names off the end. Each
# *block* $t$ has its own weights. What is special is the $h\,+$. A plain layer replaces $h$; a **residual block** adds
# what is *missing*, the residual. The sum that runs through is the **residual stream**. Kaiming He and others built
# image networks so in 2015, and went from 20 layers to over 100.
#
# Here $t$ counts steps of *computation* on one and the same input.


# %% exercise="resmlp_forward" points=2 difficulty=1 covers="wu:4.6.2 wu:4.6.3 wu:4.7.6 explainers:4.6.Q5"
def resmlp_forward(ids, E, Ws, bs, skip=1.0):
    """The stream of a residual network before the first block and after each.

    ids (B,): whole numbers, a word in each row. E (K, d), Ws (T, d, d), bs (T, d):
    floats; T = 0 is allowed. A block reads h and makes skip * h + tanh(...) of it: skip
    is 1 in a residual network, 0 in a plain one, and may be any number.
    Returns (T + 1, B, d).
    ids = [1], E = [[5], [2]], Ws = [[[3]]], bs = [[1]] give [[[2]], [[2 + tanh 7]]].
    """
    ### BEGIN SOLUTION
    hs = [E[ids]]
    for W, b in zip(Ws, bs):
        hs.append(skip * hs[-1] + np.tanh(hs[-1] @ W + b))
    return np.array(hs)
    ### END SOLUTION


# %% check="resmlp_forward"
check(resmlp_forward)

# %% covers="explainers:4.6.Q5 wu:4.6.7 wu:4.6.2"
# Blocks of zeros, with the stream and without it.
ids = np.arange(len(pictures.FIRST))  # 32 first names; so many last names
with after(resmlp_forward):
    E, Ws, bs, _ = pictures.network(40)
    still = resmlp_forward(ids, E, 0 * Ws, bs)
    claim("{n} blocks of zeros: the stream is h₀ at the end", (still == E).all(), n=40)
    dead = resmlp_forward(ids, E, 0 * Ws, bs, skip=0.0)[-1]
    claim("{n} plain layers of zeros: nothing is left", not dead.any(), n=40)
    up = E + np.maximum(E @ Ws[0], 0)
    claim("why no ReLU: no number of the stream could ever fall", (up >= E).all())

# %% [markdown] covers="explainers:4.6.Q5 wu:4.6.5 wu:4.8.3"
# ## 2. The way back
#
# A block with nothing to say says 0 and harms nobody. And on the way back? The loss is the mean of $-\log p$ of
# the right name over $B$ words, $p = \mathrm{softmax}(s)$. Its slope by the scores is $(p - y)/B$, with $y$ one-hot. Call
# the slope by $h_t$ the *message* $m_t$. With $u_t = \tanh(h_{t-1}W_t + b_t)$, what block $t$ adds,
#
# $$m_T = \frac{\partial L}{\partial s}\, U^\top, \qquad \delta_t = m_t \odot (1 - u_t^2), \qquad
# m_{t-1} = m_t + \delta_t W_t^\top .$$
#
# The message runs back *whole*, and each block adds or takes away. (With `skip`, $m_{t-1}$ is
# skip $\cdot\, m_t + \dots$) The others are as usual: $h_{t-1}^\top \delta_t$ by
# $W_t$, column sums of $\delta_t$ by $b_t$, $h_T^\top\, \partial L/\partial s$ by $U$. $m_0$ goes to the words' rows of $E$.


# %% exercise="resmlp_grads" points=6 difficulty=1 covers="explainers:4.6.Q5 wu:4.6.5 wu:4.8.3 wu:4.6.2"
def resmlp_grads(ids, targets, E, Ws, bs, U, skip=1.0):
    """Loss of a residual network over a batch, and its slopes.

    ids, E, Ws, bs, skip as in resmlp_forward; T = 0 is allowed. U (d, K).
    targets (B,): the right answers. Words may come twice: np.add.at adds up.
    Returns loss, [dE, dWs, dbs, dU], and the messages (T + 1, B, d): slopes of the
    loss by what resmlp_forward returns. Natural logarithm; scores of 900 and -900
    must give finite results.
    Where U is 0 and K = 2, the loss is log 2.
    """
    ### BEGIN SOLUTION
    hs = resmlp_forward(ids, E, Ws, bs, skip)
    log_P = log_softmax(hs[-1] @ U, axis=1)
    Y = np.eye(U.shape[1])[targets]
    loss = -(Y * log_P).sum() / len(ids)
    dS = (np.exp(log_P) - Y) / len(ids)
    messages = [dS @ U.T]
    dWs, dbs, dE = np.zeros_like(Ws), np.zeros_like(bs), np.zeros_like(E)
    for t in reversed(range(len(Ws))):
        added = np.tanh(hs[t] @ Ws[t] + bs[t])
        delta = messages[0] * (1 - added**2)
        dWs[t], dbs[t] = hs[t].T @ delta, delta.sum(0)
        messages.insert(0, skip * messages[0] + delta @ Ws[t].T)
    np.add.at(dE, ids, messages[0])
    return loss, [dE, dWs, dbs, hs[-1].T @ dS], np.array(messages)
    ### END SOLUTION


# %% check="resmlp_grads"
check(resmlp_grads)

# %% predict="arrives" minutes=1 covers="explainers:4.6.Q5 wu:4.8.3"
predict(
    "arrives",
    "Forty layers with small random weights. Without the +, of a message of size 1 "
    "behind the last layer about 10⁻²¹ arrives at the first. With the +?",
    ["less than 1/1000", "between 1/100 and 100", "more than 1000"],
    truth=int(np.digitize(np.log10(pictures.arrives(1.0)), [-2.5, 2.5])),
    because="m + δWᵀ is the message and a small random vector. Forty of them change "
    "it, but they neither wipe it out nor blow it up.",
)

# %% covers="explainers:4.6.Q5 wu:4.6.5 wu:4.8.3"
# Forty layers before any training: sizes of streams and of messages.
with after(resmlp_forward, resmlp_grads, "arrives"):
    E, Ws, bs, U = pictures.network(40)
    signals, messages, ways = {}, {}, {"with the +": 1.0, "plain": 0.0}
    for name, skip in ways.items():
        hs = resmlp_forward(ids, E, Ws, bs, skip)
        ms = resmlp_grads(ids, ids, E, Ws, bs, U, skip)[2]
        signals[name] = np.linalg.norm(hs, axis=(1, 2))
        messages[name] = np.linalg.norm(ms, axis=(1, 2))
    ratio = {name: m[0] / m[-1] for name, m in messages.items()}
    claim("plain: less than 10⁻¹⁵ of the message arrives", ratio["plain"] < 1e-15)
    kept = 0.1 < ratio["with the +"] < 100
    claim("with the +: between a tenth and a hundredfold", kept)
    gone = signals["plain"][-1] / signals["plain"][0]
    claim("forward, a plain network loses its input, too", gone < 1e-15)
    show(*pictures.draw_layers(signals, messages), digits=1)

# %% [markdown] covers="wu:4.8.3 explainers:4.6.Q5 wu:4.6.2"
# Vanishing happens in *both* directions. Now train: 32 names, networks of 2, 10 and 40 layers, 300 updates each. A third
# competitor is plain too, but begins with rotations, which keep lengths ([[07/04]]).


# %% open=true covers="wu:4.8.3 explainers:4.6.Q5"
def learn(params, skip=1.0, n=300, lr=0.2):
    """Gradient descent on the names -> trained params, loss."""
    for _ in range(n):
        _, slopes, _ = resmlp_grads(ids, ids, *params, skip)
        params = [p - lr * g for p, g in zip(params, slopes)]
    return params, resmlp_grads(ids, ids, *params, skip)[0]


# %% covers="wu:4.8.3 explainers:4.6.Q5 wu:4.6.2"
# Loss after 300 updates, by depth.
with after(resmlp_grads):
    depths, network = [2, 10, 40], pictures.network
    losses = {
        "with the +": [learn(network(T))[1] for T in depths],
        "plain, small weights": [learn(network(T), 0.0)[1] for T in depths],
        "plain, rotations": [learn(network(T, 1.0, 0, True), 0.0)[1] for T in depths],
    }
    claim("with the +: below {b} at each depth", max(losses["with the +"]) < 0.1, b=0.1)
    claim("plain: 2 layers learn", losses["plain, small weights"][0] < 0.3)
    stuck = min(losses["plain, small weights"][1:])
    claim("10 or 40 plain ones know nothing: log 32", stuck > 0.95 * np.log(32))
    ten, forty = losses["plain, rotations"][1:]
    claim("rotations help 10 layers much, and 40 little", ten < 0.3 and forty > 2)
    show(*pictures.draw_depths(depths, losses, np.log(32)), digits=0)

# %% [markdown] covers="wu:4.6.5 wu:4.6.9"
# ## 3. A sum over paths
#
# Why? Nudge $h_{t-1}$ by a small row $v$: $h_t$ moves by $v + vJ_t = v(I + J_t)$, where $J_t = W_t\,\mathrm{diag}(1 - u_t^2)$. Two
# blocks make
#
# $$(I + J_1)(I + J_2) = I + J_1 + J_2 + J_1 J_2 .$$
#
# Four paths: past both blocks, through one, through the other, through both. $T$ blocks make $2^T$ paths, and a plain
# network is *one* of them, the longest. If a block multiplies by $\frac1{10}$, a path through 40 of them carries $10^{-40}$; the
# path past all of them carries 1.
#
# $2^{40}$ is a trillion. Add them up by length all the same: how do the sums for $t$ blocks come from those for $t - 1$?


# %% exercise="path_sums" points=3 difficulty=1 covers="wu:4.6.5 wu:4.6.9"
def path_sums(Js):
    """What all paths through exactly k of T blocks carry together, for each k.

    Js (T, d, d), T >= 1. A path chooses some of the blocks and carries the product of
    their J, in the order of the blocks, the earliest on the left.
    Returns (T + 1, d, d): entry k is the sum over all choices of k blocks; entry 0
    is I. At most T² products of d x d matrices in all.
    Js = [J1, J2] gives [I, J1 + J2, J1 J2].
    """
    ### BEGIN SOLUTION
    T, d, _ = Js.shape
    sums = np.zeros((T + 1, d, d))
    sums[0] = np.eye(d)
    for J in Js:
        sums[1:] += sums[:-1] @ J
    return sums
    ### END SOLUTION


# %% check="path_sums"
check(path_sums)


# %% open=true covers="wu:4.6.5"
def jacobians(hs, Ws):
    """J_t of all blocks, at one row's stream hs (T + 1, d) -> (T, d, d)."""
    added = np.diff(hs, axis=0)
    return Ws * (1 - added**2)[:, None, :]


# %% covers="wu:4.6.5 wu:4.6.9"
# All paths of forty blocks by length, untrained and trained; two traps.
with after(resmlp_forward, resmlp_grads, path_sums):
    sizes = {}
    trained, _ = learn(network(40))
    for name, (E, Ws, bs, _) in {"first": network(40), "trained": trained}.items():
        Js = jacobians(resmlp_forward(ids, E, Ws, bs)[:, 0], Ws)
        sums, whole = path_sums(Js), np.eye(16)
        for J in Js:
            whole = whole @ (np.eye(16) + J)
        claim(f"{name}: 2⁴⁰ paths add up to the product of all I + J",
              np.allclose(sums.sum(0), whole, rtol=1e-9, atol=1e-9))  # fmt: skip
        sizes[name] = np.linalg.norm(sums, axis=(1, 2))
        mean = sizes[name] @ np.arange(41) / sizes[name].sum()
        words = f"{name}: their mean length, by size, is between {{a}} and {{b}}"
        claim(words, 1 < mean < 12, a=1, b=12)
    eye = np.eye(2)
    lost = path_sums(np.array([-eye])).sum(0)
    claim("no guarantee: with J = −I nothing of a message is left", not lost.any())
    grown = path_sums(np.array([eye] * 40)).sum(0)[0, 0]
    claim("with J = I in all, it grows 2⁴⁰-fold", grown == 2**40)
    show(*pictures.draw_paths(sizes), digits=1)

# %% [markdown] covers="wu:4.7.1 wu:4.6.9 wu:4.6.7"
# So the $+$ promises no more than this: where the $J_t$ are small, little gets lost. That is why blocks begin small, or
# at 0: at 0 the network *begins* as the identity, and every message arrives whole.
#
# ## 4. You have seen this loop before
#
# State plus correction, again and again: so does gradient descent work ([[03/01]]). On $f(x) = \frac12\lVert Ax - b\rVert^2$ it goes
#
# $$x_t = x_{t-1} - \eta\, A^\top (A x_{t-1} - b) .$$
#
# Write $x$ as a row, and it is a stream: $h_t = h_{t-1} + h_{t-1} W_t + c_t$, a block without tanh. Which $W_t$, which $c_t$?


# %% exercise="gd_as_resnet" points=2 difficulty=1 covers="wu:4.7.1"
def gd_as_resnet(A, b, eta, T):
    """Weights of the network whose stream is T steps of gradient descent on f.

    A (m, d), b (m,), eta > 0, T >= 1.
    Returns Ws (T, d, d) and cs (T, d), so that h + h @ Ws[t] + cs[t] is one step from
    the row h.
    A = [[2]], b = [3], eta = 0.1, T = 1 give [[[-0.4]]] and [[0.6]].
    """
    ### BEGIN SOLUTION
    W, c = -eta * A.T @ A, eta * A.T @ b
    return np.array([W] * T), np.array([c] * T)
    ### END SOLUTION


# %% check="gd_as_resnet"
check(gd_as_resnet)

# %% [markdown] covers="wu:4.7.1 wu:4.7.2"
# Crosses are gradient descent, dots are the stream of your network. All its blocks are alike, nothing bends, and $W$ is
# symmetric. A step that is too long is a network that explodes. With $L = \lVert A\rVert_2^2$, the largest curvature of $f$:
# which η is the limit?

# %% covers="wu:4.7.1"
# Drag the square.
with after(gd_as_resnet):
    explore(
        partial(pictures.draw_descent, gd_as_resnet),
        drag={("x", "y"): "start"},
        x=FloatSlider(-1.8, min=-2.8, max=2.8, step=0.1, description="start x₁"),
        y=FloatSlider(2.0, min=-2.8, max=2.8, step=0.1, description="start x₂"),
        eta=FloatSlider(0.8, min=0.1, max=2.3, step=0.05, description="step η · L"),
    )
    for step, told in ((1.99, "η L = 1.99: no error grows"), (2.01, "2.01: one does")):
        eta = step / np.linalg.norm(pictures.A, 2) ** 2
        W = gd_as_resnet(pictures.A, pictures.B, eta, 1)[0][0]
        claim(told, (np.linalg.norm(np.eye(2) + W, 2) > 1) == (step > 2))

# %% [markdown] covers="wu:4.7.5 wu:4.7.1 wu:4.7.3"
# ## 5. A loop that data improve
#
# Now the puzzle. Hidden is a row $x$; measured is the shorter $y = xD^\top$, so many $x$ fit. Sparse ones are wanted:
# minimise $\frac12\lVert xD^\top - y\rVert^2 + \lambda \sum_j |x_j|$, the lasso of [[01/03]]. In 2004 Daubechies,
# Defrise and De Mol proved that this loop works for $\eta < 1/\lVert D\rVert_2^2$ (we take $=$, proved a year later):
#
# $$x_t = S_{\theta}\big(x_{t-1} + (y - x_{t-1} D^\top)\,V\big), \qquad V = \eta D, \quad \theta = \eta\lambda .$$
#
# A gradient step, then the *soft threshold* $S_\theta$: each number moves towards 0 by $\theta$, not beyond. That is ISTA,
# and a network: stream, corrections, bend.
#
# In 2010 Karol Gregor and Yann LeCun asked: why should the numbers be what the proof wants? *Learn* them: **LISTA**
# (here in a later form: a $V$ and $\theta$ each round).


# %% exercise="lista_forward" points=3 difficulty=1 covers="wu:4.7.5 wu:4.9.1 wu:4.9.2 wu:4.7.6"
def lista_forward(Y, D, Vs, thetas, T):
    """T rounds of the loop above, from x_0 = 0.

    All tensors, in and out, of float64: Y (B, m), a measurement in each row; D (m, n);
    Vs (k, m, n); thetas (k,), above 0. Round t = 1, 2, … uses the t-th of them; where
    k < T, the rounds after the k-th all use the last. Where k > T, the rest is not
    used. Returns (T + 1, B, n): x_0, then the rows after each round. Slopes by Vs and
    by thetas must come through: use torch alone, and turn no theta into a number.
    Y = [[3]], D = [[1]], Vs = [[[0.5]]], thetas = [1], T = 2 give 0, 0.5, 0.75.
    """
    ### BEGIN SOLUTION
    xs = [torch.zeros(len(Y), D.shape[1], dtype=Y.dtype)]
    for t in range(T):
        i = min(t, len(Vs) - 1)
        z = xs[-1] + (Y - xs[-1] @ D.T) @ Vs[i]
        xs.append(z.sign() * torch.relu(z.abs() - thetas[i]))
    return torch.stack(xs)
    ### END SOLUTION


# %% check="lista_forward"
check(lista_forward)

# %% [markdown] covers="wu:4.7.5 wu:4.7.4"
# Hidden numbers are easy to make up, so there is data without end: batches of $X$, measured as $Y = XD^\top$. Round $t$ is off by
# $e_t$, the mean over the rows of $\lVert x_t - x\rVert^2$; the loss is $\sum_t w_t e_t$. Its slopes come from torch, through all
# rounds, along the stream. (The bend lies around the sum, not beside it: a number cut to 0 passes no message.)


# %% exercise="train_lista" points=4 difficulty=1 covers="wu:4.7.5 wu:4.7.4 wu:4.7.2"
def train_lista(D, Vs, thetas, batches, lr, weights):
    """Train the loop of lista_forward, one update of Adam a batch.

    D, Vs, thetas as there; they are left unchanged. weights (T,): w_1 … w_T, so T
    rounds are run. batches: a list of tensors X (B, n), the true rows.
    Adam is torch.optim.Adam with its defaults but for lr.
    Returns the new Vs and thetas, detached, and a list of the losses (numbers), each
    before its update. Nothing keeps the thetas above 0.
    """
    ### BEGIN SOLUTION
    Vs, thetas = Vs.clone().requires_grad_(), thetas.clone().requires_grad_()
    adam, losses = torch.optim.Adam([Vs, thetas], lr), []
    for X in batches:
        xs = lista_forward(X @ D.T, D, Vs, thetas, len(weights))
        errors = ((xs[1:] - X) ** 2).sum(2).mean(1)
        loss = (weights * errors).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return Vs.detach(), thetas.detach(), losses
    ### END SOLUTION


# %% check="train_lista"
check(train_lista)

# %% predict="rounds" minutes=1 covers="wu:4.7.5"
predict(
    "rounds",
    "Training begins at ISTA's own numbers and lasts seconds. Then 8 rounds run on "
    "new data. How many rounds of ISTA, with the best λ of four, are as good?",
    ["8 to 16", "17 to 60", "more than 60"],
    truth=int(
        np.digitize(pictures.rounds_needed(pictures.race()[0], pictures.race()[1][-1]),
                    [17, 61])
    ),
    because="ISTA's step and threshold must be safe for every y. The trained "
    "loop takes longer steps, and its thresholds start high and end low.",
)  # fmt: skip

# %% open=true covers="wu:4.7.5"
D = pictures.dictionary()  # 20 by 40
eta = 1 / torch.linalg.matrix_norm(D, 2) ** 2
ista, theta = (eta * D)[None], eta.reshape(1)  # ISTA's V; its θ for λ = 1
X = pictures.codes(np.random.default_rng(99), 1000)  # new data
even = torch.full((8,), 1 / 8).double()
with after(train_lista):
    first = ista.repeat(8, 1, 1), 0.1 * theta.repeat(8)
    Vs, thetas, _ = train_lista(D, *first, pictures.lessons(), 0.01, even)

# %% covers="wu:4.7.5 wu:4.7.2"
# The answer to the first screen, with your loop; and what it costs.
with after(train_lista, "rounds"):
    slow = {lam: pictures.off(lista_forward(X @ D.T, D, ista, lam * theta, 300), X)
            for lam in pictures.LAMBDAS}  # fmt: skip
    fast = pictures.off(lista_forward(X @ D.T, D, Vs, thetas, 8), X)
    best = min(curve[8] for curve in slow.values())
    claim("8 rounds: ISTA has over {n} times the error", best > 3 * fast[-1], n=3)
    need = pictures.rounds_needed(slow, fast[-1])
    claim("as good: not before round {n} of ISTA", need is None or need > 60, n=60)
    words = "the first threshold is over {n} times the last"
    claim(words, bool(thetas[0] > 5 * thetas[-1]), n=5)
    other = pictures.dictionary(seed=5)  # another mixture, which it never saw
    xs = lista_forward(X @ other.T, other, Vs, thetas, 8)
    lost = pictures.off(xs, X)[-1]
    words = "with another mixture it explodes: over {n} times the error of answering 0"
    claim(words, lost > 1000, n=1000)
    residual = ((X - xs) @ other.T).norm(dim=(1, 2)).numpy()
    claim("its residual grows in every round", (np.diff(residual) > 0).all())
    safe = pictures.off(pictures.ista(X @ other.T, other, 0.1, 300), X)[-1]
    claim(
        "ISTA comes below {e:.0%} there, too, in {n} rounds", safe < 0.1, e=0.1, n=300
    )
    show(*pictures.draw_race(slow, fast, "The puzzle, with your loop"), digits=1)

# %% [markdown] covers="wu:4.7.5 wu:4.6.9"
# ## Take-aways
#
# - A residual block adds to a stream. Its default is to do nothing, and messages run back whole.
# - $T$ blocks are a sum over $2^T$ paths. Slopes travel on the short ones. Small $J_t$ are the condition; $J = -I$ loses
#   everything.
# - Gradient descent is a residual network with equal blocks, which explodes from $\eta = 2/L$ on; ISTA adds a bend.
# - **The puzzle:** the proof prepares for every $y$ and for any number of rounds. Training prepares for *these* $y$ and for
#   8 rounds, and slopes reach the first, through every number that is not cut to 0. The price: with another mixture the
#   trained loop explodes. Only the residual $y - xD^\top$ tells you; no proof forbids it. ISTA still works.
#
# Next: [[next]].

# %% [markdown] covers="guo:III.7"
# ## Deeper: one skip, three slopes by hand
#
# The smallest residual network has three weights. With the logistic function $\varphi$ and a number $x$,
#
# $$h_1 = \varphi(w_0 x), \quad p = \varphi(w_1 h_1), \quad h_2 = p + \text{skip}\cdot h_1, \quad \hat y = w_2 h_2 ,$$
#
# and $\varphi' = \varphi(1 - \varphi)$. Two paths lead from $w_0$ to $\hat y$. Which slopes get a new term from the
# skip, and which one keeps its form?


# %% exercise="scalar_skip_grads" points=2 difficulty=1 covers="guo:III.7"
def scalar_skip_grads(w0, w1, w2, x, y, skip):
    """Slopes of the mean of (ŷ - y)² over all pairs by w0, w1 and w2.

    x, y (N,), N >= 1. w0, w1, w2, skip: numbers. Returns (3,).
    w0 = w1 = 0, w2 = 1, x = [2], y = [0], skip = 1 give [1, 0.25, 2].
    """
    ### BEGIN SOLUTION
    h1 = expit(w0 * x)
    p = expit(w1 * h1)
    h2 = p + skip * h1
    error = 2 * (w2 * h2 - y) / len(x)
    by_h1 = error * w2 * (p * (1 - p) * w1 + skip)
    by_w0, by_w1 = by_h1 * h1 * (1 - h1) * x, error * w2 * p * (1 - p) * h1
    return np.array([by_w0.sum(), by_w1.sum(), (error * h2).sum()])
    ### END SOLUTION


# %% check="scalar_skip_grads"
check(scalar_skip_grads)

# %% covers="guo:III.7"
# Your slopes against nudges; w₁ = 0 with and without skip; other widths.
with after(scalar_skip_grads):
    point, x, y = (0.9, -1.3, 0.8), np.array([0.7]), np.array([-0.4])

    def loss_at(w):
        h1 = expit(w[0] * x)
        return np.mean((w[2] * (expit(w[1] * h1) + h1) - y) ** 2)

    nudges = 1e-6 * np.eye(3)
    nudged = [(loss_at(point + e) - loss_at(point - e)) / 2e-6 for e in nudges]
    mine = scalar_skip_grads(*point, x, y, 1.0)
    words = "slopes {w0:.5f}, {w1:.5f}, {w2:.5f}: nudges agree"
    claim(words, np.allclose(mine, nudged), w0=mine[0], w1=mine[1], w2=mine[2])
    h1 = expit(0.9 * x)
    p = expit(-1.3 * h1)
    plain = 2 * (0.8 * (p + h1) - y) * 0.8 * p * (1 - p) * h1
    claim(
        "w₁ keeps its form: error · w₂ · p (1 − p) · h₁", np.isclose(mine[1], plain[0])
    )
    alone = scalar_skip_grads(0.9, 0.0, 0.8, x, y, 0.0)[0]
    helped = scalar_skip_grads(0.9, 0.0, 0.8, x, y, 1.0)[0]
    claim("w₁ = 0: w₀ hears nothing", alone == 0)
    claim("with the skip it does", abs(helped) > 0.1)
    h, Q = np.arange(6.0).reshape(2, 3), np.linalg.qr(np.ones((3, 3)))[0][:, :2]
    out = np.tanh(h @ np.zeros((3, 2))) + h @ Q
    words = "from width 3 to 2: a matrix on the skip, trained too, makes shapes fit: hQ"
    claim(words, out.shape == (2, 2))

# %% [markdown] covers="wu:4.6.3 wu:4.6.6 wu:4.6.7"
# ## Deeper: the assembly line
#
# One story goes: block 1 adds “is a first name”, block 2 “presidents”, block 3 this person. Is it so? The stream makes it easy
# to ask. Scores are linear in it, so the score of the right name is a sum of what $h_0$ and each block contribute,
#
# $$s = h_T U = h_0 U + \sum_t (h_t - h_{t-1})\, U .$$
#
# And you can read scores off *early*, $h_t U$ (a **logit lens**), or leave a block out and look what happens.


# %% exercise="assembly" points=3 difficulty=1 covers="wu:4.6.6 wu:4.6.7 wu:4.6.3"
def assembly(ids, targets, E, Ws, bs, U):
    """What each part of a residual network contributes.

    Arguments as for resmlp_grads, T >= 1.
    Returns parts (T + 1, B): what h_0 and then each block adds to the score of the
    right answer; and without (T,): the loss of the network that lacks block t: its W
    and b are gone, and later blocks run on the changed stream.
    With T = 1, parts[0] is the right score of E[ids] U and parts[1] what the block adds
    to it; without[0] is the loss of these scores E[ids] U.
    """
    ### BEGIN SOLUTION
    hs = resmlp_forward(ids, E, Ws, bs)
    added = np.diff(hs, axis=0, prepend=0)
    parts, without = (added * U.T[targets]).sum(2), []
    for t in range(len(Ws)):
        rest = np.arange(len(Ws)) != t
        without.append(resmlp_grads(ids, targets, E, Ws[rest], bs[rest], U)[0])
    return parts, np.array(without)
    ### END SOLUTION


# %% check="assembly"
check(assembly)

# %% covers="wu:4.6.6 wu:4.6.7"
# Eight blocks that learned the names: Obama's score; one block left out.
with after(resmlp_forward, resmlp_grads, assembly):
    eight, whole = learn(network(8))
    parts, without = assembly(ids, ids, *eight)
    scores = resmlp_forward(ids, *eight[:3]) @ eight[3]
    same = np.allclose(parts.sum(0), np.diag(scores[-1]))
    claim("the parts add up to the score of the right name", same)
    words = "without any one block the loss stays below {n}; no idea is {g:.2f}"
    claim(words, without.max() < 0.1, n=0.1, g=np.log(32))
    claim("but each block helps", without.min() > whole)
    words = "over {n:.0%} of all additions raise the right name's score"
    claim(words, (parts[1:] > 0).mean() > 0.95, n=0.95)
    show(*pictures.draw_line(parts[:, 0], without, whole), digits=0)

# %% [markdown] covers="wu:4.6.3 wu:4.6.7"
# Press play, for several names. Do the blocks have separate jobs, as in the story? Nothing in training asks for it. Each block
# raises nearly every word's right score, and each can be missed.

# %% covers="wu:4.6.3"
# The lens: last names read off the stream after each block.
with after(resmlp_forward, resmlp_grads, assembly):
    explore(
        partial(pictures.draw_lens, scores),
        play="step",
        word=Dropdown(
            options=[(n, i) for i, n in enumerate(pictures.FIRST)], description="name"
        ),
        step=IntSlider(0, min=0, max=8, description="blocks"),
    )

# %% [markdown] covers="wu:4.7.2 wu:4.7.3 wu:4.7.4"
# ## Deeper: what did training find?
#
# **An objective?** Gradient descent follows some $f$. Is a learned update $u_t(h)$ the slope of *anything*? If it were, its Jacobian
# would be symmetric, as second derivatives are. $-\eta A^\top A$ is; $W\,\mathrm{diag}(1 - u^2)$ need not be.
#
# **A direction, or a length?** Compare each round's update with the way that is left, $x - x_{t-1}$: by the cosine of the
# angle between them, and by their lengths.
#
# **In a hurry?** With few rounds, one note says, early ones become “more aggressive”. You can choose: ask every round to be right,
# or the last only.

# %% covers="wu:4.7.2 wu:4.7.3"
# Symmetric or not: descent's W, and learned blocks. Which way they go.
with after(resmlp_forward, resmlp_grads, gd_as_resnet, assembly):

    def lopsided(J):
        """0 for a symmetric matrix, 1 where turning over changes the sign."""
        return np.linalg.norm(J - J.T) / (
            np.linalg.norm(J - J.T) + np.linalg.norm(J + J.T)
        )

    descent = gd_as_resnet(pictures.A, pictures.B, 0.1, 1)[0][0]
    claim("descent: symmetric", np.isclose(lopsided(descent), 0))
    hs = resmlp_forward(ids, *eight[:3])
    learned = [lopsided(J) for J in jacobians(hs[:, 0], eight[1])]
    claim("all learned blocks: far from it, so no f is behind them", min(learned) > 0.2)
    down = -resmlp_grads(ids, ids, *eight)[2][:-1]  # downhill, at each block's input
    added = np.diff(hs, axis=0)
    size = np.linalg.norm(added, axis=2) * np.linalg.norm(down, axis=2)
    cosines = ((added * down).sum(2) / size).mean(1)
    words = "yet all go down the loss, mean cosines {a:.1f} to {b:.1f}"
    claim(words, cosines.min() > 0.2, a=cosines.min(), b=cosines.max())

# %% covers="wu:4.7.3 wu:4.7.4"
# Updates against the way left; every round asked, or only the last.
with after(train_lista):

    def direction(xs):
        """Mean cosine between each round's update and the way that was left."""
        moved, left = xs.diff(dim=0), X - xs[:-1]
        return torch.cosine_similarity(moved, left, dim=2)[:, X.any(1)].mean(1).numpy()

    def length(xs):
        """Mean length of each round's update, over the way that was left."""
        shares = xs.diff(dim=0).norm(dim=2) / (X - xs[:-1]).norm(dim=2)
        return shares[:, X.any(1)].mean(1).numpy()

    def run(V, theta, T):
        return lista_forward(X @ D.T, D, V, theta, T)

    fast = pictures.off(run(Vs, thetas, 8), X)
    errors = {"every round asked": fast}
    for T in (8, 4, 2):
        last = (torch.arange(T) == T - 1).double()
        start_at = ista.repeat(T, 1, 1), 0.1 * theta.repeat(T)
        V, th, _ = train_lista(D, *start_at, pictures.lessons(), 0.01, last)
        errors[f"only round {T}"] = pictures.off(run(V, th, T), X)
    ends = [errors[f"only round {T}"][-1] for T in (2, 4, 8)]
    claim("more rounds, smaller error: 2, 4, 8", ends[0] > ends[1] > ends[2])
    patient = errors["only round 8"][2]
    claim("only round 8 asked: round 2 is behind", patient > 1.2 * fast[2])
    claim("but round 8 is a little better", errors["only round 8"][8] < fast[8])
    claim("two rounds of two get further than two of eight", ends[0] < patient)
    loops = {"trained": run(Vs, thetas, 8)} | {
        f"ISTA, λ = {lam}": run(ista, lam * theta, 8) for lam in pictures.LAMBDAS
    }
    angles = np.array([direction(xs) for xs in loops.values()])
    claim("on the mean each round goes towards x: cosines above 0", angles.min() > 0)
    better = angles[-1].mean() > angles[0].mean()
    claim("on the mean of all rounds ISTA with λ = 0.3 points better", better)
    lengths = {name: length(xs) for name, xs in loops.items()}
    ratios = np.array([lengths["trained"] / v for v in lengths.values()])[1:]
    claim("in every round, learned updates are longer than ISTA's", ratios.min() > 1.1)
    claim("from round 2, they are over twice as long", ratios[:, 1:].min() > 2)
    show(*pictures.draw_rules(lengths, errors), digits=0)

# %% [markdown] covers="wu:4.7.4 wu:4.7.2"
# So a loop is in a hurry if it is *asked* early, or has few rounds. Asked at round 8 only, it takes its time, and ends a little
# better. And “when to stop” is not learned at all: the number of rounds is fixed before. A better direction is not the loop's
# secret: on the mean of all rounds ISTA with a strong threshold points better. What it has in every round, against each ISTA, is a longer step.

# %% [markdown] covers="wu:4.9.1 wu:4.9.2"
# ## Deeper: one rule for all steps, or one each?
#
# | stream | a step | weights of $T$ steps |
# | --- | --- | --- |
# | memory | $h_t = h_{t-1} + \tanh(h_{t-1} W + x_t E + b)$ | one $W$: $d^2$ |
# | residual | $h_t = h_{t-1} + \tanh(h_{t-1} W_t + b_t)$ | $T$ of them: $T d^2$ |
#
# In time, tomorrow follows the rules of today. In depth, one hopes, steps specialise. Try both, in both streams. `lista_forward`
# shares where there is one pair of weights only. The memory stream adds up $\sin 2x_t$ over 10 numbers, and sees 100 examples.

# %% covers="wu:4.9.1 wu:4.9.2"
# Parameters and errors, shared and not, in both streams; more steps.
with after(train_lista):
    one = train_lista(D, ista, 0.1 * theta, pictures.lessons(), 0.01, even)
    tied = {"one pair a round": pictures.off(run(Vs, thetas, 16), X),
            "one pair for all": pictures.off(run(*one[:2], 16), X)}  # fmt: skip
    counts = [V.numel() + th.numel() for V, th in ((Vs, thetas), one[:2])]
    words = "depth: {a:,} parameters beat {b:,}"
    better = tied["one pair a round"][8] < tied["one pair for all"][8]
    claim(words, better and counts[0] == 8 * counts[1], a=counts[0], b=counts[1])
    longer = tied["one pair for all"]
    claim("the shared rule improves on, beyond its training", longer[16] < longer[8])
    n1, same, far = pictures.sum_stream(True)
    n10, own, _ = pictures.sum_stream(False)
    words = (
        "time: {b:,} parameters, each step its own, are over twice as far off as {a}"
    )
    claim(words, own > 2 * same and n10 == 10 * n1, a=n1, b=n10)
    claim("the shared rule runs 20 steps, too, but badly", far > 4 * same)
    show(*pictures.draw_tied(tied, 8), digits=1)

# %% [markdown] covers="wu:4.9.2 wu:4.9.1"
# Both loops of the depth run on beyond round 8, the one with its own pairs by repeating the last: whoever runs on, shares. It
# stays right only if the rule need not know how long it has run. ISTA's kind goes on towards a goal; the memory stream comes to states
# that it never saw. “Time yes, depth no” is a habit, no law: tied depth saves parameters. Universal transformers and networks that
# are solved for their fixed point tie theirs.

# %% [markdown] covers="wu:4.6.1 wu:4.6.4 wu:4.6.8"
# ## Deeper: two streams, two kinds of time
#
# | | memory stream | residual stream |
# | --- | --- | --- |
# | runs | to the right, through time | upwards, through computation |
# | a step adds | something new that it read | a refinement of the same input |
# | number of steps | the length of the text | a choice |
# | default | keep | keep |
# | steps at once? | no: $h_t$ needs $h_{t-1}$ | no, for the same reason |
#
# Gates make the memory stream better ([[09/02]]). A network may have both: in a recurrent network of two equally wide layers with a vertical stream,
# $h^{(2)}_t = h^{(1)}_t + \tanh(h^{(2)}_{t-1} W + h^{(1)}_t V + b)$. Upwards it is one of your blocks, whose bias holds the past.

# %% covers="wu:4.6.8 wu:4.6.1 wu:4.6.4"
# Both streams and their messages; a recurrent block's Jacobian.
with after(resmlp_forward):
    rng = np.random.default_rng(3)
    W, V, b, past, below_it = (rng.normal(size=s) for s in ((4, 4), (4, 4), 4, 4, 4))
    hs = np.array([below_it, below_it + np.tanh(past @ W + below_it @ V + b)])
    true = torch.autograd.functional.jacobian(
        lambda h: h + torch.tanh(torch.tensor(past @ W + b) + h @ torch.tensor(V)),
        torch.tensor(below_it),
    ).numpy().T  # fmt: skip
    mine = np.eye(4) + jacobians(hs, V[None])[0]
    claim(
        "two recurrent layers: ∂h⁽²⁾/∂h⁽¹⁾ is I + J, as in a block",
        np.allclose(mine, true),
    )
    E, Ws, bs, _ = pictures.network(2, gain=1.0)
    real = resmlp_forward(ids[:1], E, Ws, bs)[-1, 0]
    at_once = E[0] + np.tanh(E[0] @ Ws[0]) + np.tanh(E[0] @ Ws[1])
    words = "both steps from h₀ at once: another result, {g:.0%} off"
    gap = np.linalg.norm(at_once - real) / np.linalg.norm(real)
    claim(words, gap > 0.05, g=gap)
    show(*pictures.draw_times(), digits=1)

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="guo:III.7"
# guo III.7: two slopes of the network with one skip.
w0, w1, w2, x, y = 0.9, -1.3, 0.8, 0.7, -0.4


def one_loss(w0, w1):
    h1 = expit(w0 * x)
    return (w2 * (expit(w1 * h1) + h1) - y) ** 2


h1 = expit(w0 * x)
p = expit(w1 * h1)
h2, eps = p + h1, 1e-6
front = 2 * (w2 * h2 - y) * w2
true1 = (one_loss(w0, w1 + eps) - one_loss(w0, w1 - eps)) / (2 * eps)
true0 = (one_loss(w0 + eps, w1) - one_loss(w0 - eps, w1)) / (2 * eps)
erratum(
    "guo:III.7",
    quote=(
        r"\frac{d\ell}{dw_1} &= \frac{1}{N} \sum_{n=1}^N 2(\mathbb{E}[y_n | x_n] - y_n)"
        r" w_2."
    ),
    corrected=r"$\dots w_2\, p_n (1 - p_n)\, h_{n,1}$, $p_n = \varphi(w_1 h_{n,1})$",
    kind="error",
    printed_holds=np.isclose(front, true1),
    corrected_holds=np.isclose(front * p * (1 - p) * h1, true1),
    decoy_holds=np.isclose(front * p * (1 - p), true1),
)
erratum(
    "guo:III.7",
    quote=r"w_2 (h_{n,2}(1 - h_{n,2})w_1 + \mathbf{1}) h_{n,1}(1 - h_{n,1})x.",
    corrected=(
        r"$p_n(1 - p_n)$ in place of $h_{n,2}(1 - h_{n,2})$: with the skip, "
        r"$h_2 = p + h_1$ is no value of the logistic function any more"
    ),
    kind="error",
    printed_holds=np.isclose(
        front * (h2 * (1 - h2) * w1 + 1) * h1 * (1 - h1) * x, true0
    ),
    corrected_holds=np.isclose(
        front * (p * (1 - p) * w1 + 1) * h1 * (1 - h1) * x, true0
    ),
    decoy_holds=np.isclose(front * p * (1 - p) * w1 * h1 * (1 - h1) * x, true0),
)

# %% demo=true covers="wu:4.6.4 wu:4.6.9"
# wu 4.6.4 and 4.6.9: steps at once, and a message that is lost.
E, Ws, bs, _ = pictures.network(2, gain=1.0)
step_one = E + np.tanh(E @ Ws[0])
in_turn = step_one + np.tanh(step_one @ Ws[1])
at_once = step_one + np.tanh(E @ Ws[1])
rows = [
    np.tanh(E[[i]] @ Ws[0]) + E[[i]] for i in range(len(E))
]  # one word after the other
erratum(
    "wu:4.6.4",
    quote=r"Could potentially be parallelized",
    corrected=(
        r"$h_t$ needs $h_{t-1}$, so the steps run one after another; different inputs "
        r"can run at once"
    ),
    kind="broad",
    printed_holds=np.allclose(at_once, in_turn, rtol=0.01),
    corrected_holds=np.allclose(np.concatenate(rows), step_one),
)
message, J, small = np.array([1.0, -2.0]), -np.eye(2), 0.3 * np.eye(2)[::-1]
erratum(
    "wu:4.6.9",
    quote=r"Identity path ensures no loss of gradient signal",
    corrected=(
        r"where $\lVert J \rVert_2 < 1$: of a message at least the share "
        r"$1 - \lVert J \rVert_2$ is left. With $J = -I$ nothing is"
    ),
    kind="broad",
    printed_holds=bool((message + message @ J).any()),
    corrected_holds=bool(
        np.linalg.norm(message + message @ small) >= 0.7 * np.linalg.norm(message)
    ),
)

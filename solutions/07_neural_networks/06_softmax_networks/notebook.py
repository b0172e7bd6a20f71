# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] minutes=85 builds="a network with many classes, and instruments that show what its layers keep and what they drop"
# # Multi-class networks
#
# Lectures: wu 2.8 and 3.3.1 · cs480 chapter 9 (many classes) · explainers 4.1.2 · a look at moon 24.7.
#
# [Softmax regression](../02_classification/03_generalised_linear_models.ipynb) gave each class a score that is linear in the features. A network learns the features. At the end you can
#
# - put a softmax head on any network, and say what loss it should start with;
# - write the loss and its signal $p - q$ so that no score breaks them, for hard and for smoothed labels;
# - follow a point through the simplex, and say why cross-entropy learns where squared error stalls;
# - measure, layer by layer, how classes contract and spread, and say what of "neural collapse" is really there;
# - compute what layers know about input and label, and show which printed claim about it is impossible.

# %%
import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import logsumexp
from scipy.special import softmax as scipy_softmax

from descent import after, check, data, erratum, explore, hint, predict, show, start
from descent.pictures.neural_networks import softmax_networks as sn

start("07_neural_networks/06_softmax_networks")

# %% [markdown] covers="cs480:9-multi"
# ## Why it matters
#
# Three classes, wound into each other. Linear scores can only cut the plane into three convex pieces. Which of the two pictures would you call a *classifier of arms*?

# %% covers="cs480:9-multi" demo=true
show(*sn.draw_why())

# %% [markdown] covers="wu:2.8.1"
# ## 1. What can be a class?
#
# Anything that can be counted off. The input changes from task to task, the end of the network does not: it chooses one of $C$ classes.
#
# | input $x$ | label $y$ | number of classes $C$ |
# |---|---|---|
# | picture, 224 × 224 × 3 (ImageNet) | the object | 1000 |
# | picture, 32 × 32 × 3 (CIFAR-10) | airplane, automobile, bird, cat, deer, dog, frog, horse, ship or truck | 10 |
# | face, 112 × 112 × 3 | who it is | about $10^6$; a school that takes attendance: about $10^2$ |
# | the words so far | the next word | about 50 000 |
# | the same in pieces | next subword; next letter; next ASCII character | about 30 000; 26; 128 |
#
# Language is in the table: a language model is a classifier with a vocabulary of classes.
#
# **A number to know before training.** Who knows nothing gives every class $1/C$, and pays $-\log\frac1C = \ln C$ a row.

# %% covers="wu:2.8.1" demo=true
predict(
    "A face network for a million people has just been initialised: small scores, "
    "all about equal. What does its cross-entropy (natural logarithm) read?",
    ["about 0.7", "about 6.9", "about 13.8", "about 1 000 000"],
    truth=int(np.argmin(np.abs(np.array([0.7, 6.9, 13.8, 1e6]) - np.log(1e6)))),
    because="ln(10⁶) = 13.8. A loss far above ln C at the start says that the head "
    "shouts before it has learnt anything: its start is too large.",
)
chance = {name: np.log(C) for name, (_, _, C) in sn.TASKS.items()}
for name, nats in chance.items():
    print(f"{name:24} C = {sn.TASKS[name][2]:>9,}   ln C = {nats:5.2f}")
listed = ["objects, ImageNet", "objects, CIFAR-10", "faces, worldwide", "next word"]
assert [round(chance[n], 2) for n in listed] == [6.91, 2.30, 13.82, 10.82]

# %% [markdown] covers="wu:2.8.2 wu:2.8.1"
# ## 2. One pipeline for all
#
# $$x \;\to\; h^{(1)} \to \dots \to h^{(L-1)} \;\to\; s = h^{(L)} \in \mathbb R^C \;\to\; p = \operatorname{softmax}(s).$$
#
# The first part depends on the kind of input: a picture wants convolutions, a text wants other parts. The last part, the **head**, is always the same: one linear map to $C$ scores (*logits*), then softmax.
#
# **Find out:** (1) For which tasks is the head larger than a million parameters at width 512? (2) What does the batch size change: the parameters, or the shapes?

# %% covers="wu:2.8.2 wu:2.8.1" demo=true
explore(
    sn.draw_pipeline,
    task=Dropdown(options=list(sn.TASKS), value="faces, worldwide", description="task"),
    width=SelectionSlider(options=[64, 512, 4096], value=512, description="width"),
    batch=IntSlider(32, min=1, max=128, description="rows in a batch"),
)

# %% [markdown] covers="cs480:9-multi wu:2.8.2"
# Write it. A layer is a pair $(W, b)$ with $W$ of shape (outputs, inputs), as in [the first notebook of this chapter](01_one_hidden_layer.ipynb). Hidden layers use ReLU, $h = \max(0, Wh' + b)$. The last layer has no activation: cs480 writes it $\hat y = Wh + b$, $\hat p = \operatorname{softmax}(\hat y)$.
# A batch $X$ of shape $(n, m)$ must come out as $P$ of shape $(n, C)$, with rows that sum to 1. (Stuck? `hint(mlp_softmax_forward)`, up to three times; so for every exercise.)


# %% exercise="mlp_softmax_forward" points=3 minutes=10 difficulty=1 covers="cs480:9-multi wu:2.8.2"
def mlp_softmax_forward(X, layers):
    """Outputs of every layer of a network with ReLU layers and a softmax head.

    X (n, m). layers: a list of pairs (W, b), W (outputs, inputs), b (outputs,).
    All but the last have ReLU; the last one gives the scores S (n, C).
    Returns (outputs, P): outputs, the list of all layers' outputs with S as its
    last entry; P (n, C), the softmax of each row of S, for scores of any size.
    X = [[1, 2]], layers = [([[1, 1], [1, -1]], [0, 0]), ([[1, 0], [0, 1]], [-3, 0])]
    gives ([[[3, 0]], [[0, 0]]], [[0.5, 0.5]]).
    """
    ### BEGIN SOLUTION
    outputs, h = [], X
    for W, b in layers[:-1]:
        h = np.maximum(0, h @ W.T + b)
        outputs.append(h)
    W, b = layers[-1]
    S = h @ W.T + b
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return [*outputs, S], E / E.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% check="mlp_softmax_forward"
check(mlp_softmax_forward)

# %% [markdown] covers="cs480:9-multi wu:2.8.2 wu:2.8 cs480:eq4.b wu:2.8.6"
# Two old friends are special cases: without hidden layers this is softmax regression, and with two classes $p_1 = \sigma(s_1 - s_0)$, the sigmoid of logistic regression.
#
# The same network in torch. Note what the usual skeleton leaves out: its last layer is `Linear`. The softmax sits inside the loss, for the reason of the next section. A class is *chosen* from the scores alone: softmax keeps their order, and adding a constant to all scores of a row changes nothing.

# %% covers="cs480:9-multi wu:2.8.2 wu:2.8 wu:2.8.6"
with after(mlp_softmax_forward):
    net = torch.nn.Sequential(
        torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
    ).double()
    torch.manual_seed(0)
    for p in net.parameters():
        torch.nn.init.normal_(p, std=0.1)
    layers = [[p.detach().numpy() for p in net[k].parameters()] for k in (0, 2)]
    batch = data.digits().X[:7] / 16
    outputs, P = mlp_softmax_forward(batch, layers)
    scores, P = net(torch.from_numpy(batch)).detach().numpy(), np.asarray(P)
    assert P.shape == (7, 10) and np.allclose(P.sum(axis=1), 1)
    assert np.allclose(outputs[-1], scores, atol=1e-5)
    assert np.allclose(P, scipy_softmax(scores, axis=1), atol=1e-5)
    assert np.all(P.argmax(axis=1) == scores.argmax(axis=1))  # the order is kept
    lifted = [layers[0], (layers[1][0], layers[1][1] + 50)]
    assert np.allclose(mlp_softmax_forward(batch, lifted)[1], P, atol=1e-5)
    two = [layers[0], (layers[1][0][:2], layers[1][1][:2])]
    (_, s), p = mlp_softmax_forward(batch, two)
    s, p = np.asarray(s), np.asarray(p)
    assert np.allclose(p[:, 1], 1 / (1 + np.exp(s[:, 0] - s[:, 1])), atol=1e-5)
    print("probabilities of shape", P.shape, "agree with torch")

# %% [markdown] covers="wu:2.8.4 wu:2.8"
# ## 3. The loss, four times
#
# One row, one-hot label $y$, true class $c^*$. The log-likelihood can be written
#
# $$J = \log \prod_c p_c^{y_c} \;=\; \log p_{c^*} \;=\; \sum_c y_c \log p_c \;=\; \sum_c y_c s_c - \log \sum_j e^{s_j},$$
#
# and the loss is the **cross-entropy** $-J$. The last step puts $\log p_c = s_c - \log\sum_j e^{s_j}$ and uses $\sum_c y_c = 1$. On paper the four are equal. In a computer they are not. Which ones survive scores that lie 800 apart?


# %% covers="wu:2.8.4" demo=true
def four_forms(s, y):
    p = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array(
            [
                np.log(np.prod(p**y)),
                np.log(p[y.argmax()]),
                np.sum(y * np.log(p)),
                y @ s - logsumexp(s),
            ]
        )


rng = np.random.default_rng(0)
for _ in range(100):
    s, y = rng.normal(0, 3, 5), np.eye(5)[rng.integers(5)]
    J = four_forms(s, y)
    one_row = torch.from_numpy(s[None]), torch.from_numpy(y[None])
    by_torch = torch.nn.functional.cross_entropy(*one_row)
    assert np.allclose(J, J[0]) and np.isclose(-J[0], by_torch.item())
wide = np.array([0.0, 800.0, 1.0])
right, wrong = four_forms(wide, np.eye(3)[1]), four_forms(wide, np.eye(3)[0])
print("the top class is true: ", right)
print("class 0 is true:       ", wrong)
assert np.isnan(right[2]) and np.isclose(right[3], 0)  # 0 · log 0 in the third form
assert np.isinf(wrong[:2]).all() and wrong[3] == -800

# %% [markdown] covers="wu:2.8.4 wu:2.8.5 wu:3.3.1 guo:II.3.a moon:24.7"
# Only the form in the scores is safe. So a loss takes *scores*, never probabilities.
#
# **The signal.** By the scores, $\partial(-J)/\partial s = p - y$: what was said minus what is true. (wu 3.3.1 calls $\partial J/\partial s = y - p$ the top error signal, from which backpropagation starts. [Softmax regression](../02_classification/03_generalised_linear_models.ipynb) derived it case by case.)
# Nothing in that derivation needs a one-hot label. Any target $q$ with $\sum_c q_c = 1$ gives
#
# $$\ell = -\sum_c q_c \log p_c = \log\sum_j e^{s_j} - \sum_c q_c s_c, \qquad \frac{\partial \ell}{\partial s} = p - q .$$
#
# Write both, for a batch of $n$ rows, as the *mean* loss and its gradient. Here use `np` only.


# %% exercise="dxent" points=3 minutes=12 difficulty=2 covers="wu:2.8.4 wu:2.8.5 wu:3.3.1"
def dxent(S, Q):
    """Mean cross-entropy of a batch, and its gradient by the scores.

    S (n, C): scores of any size. Q (n, C): targets, each row sums to 1.
    Returns (loss, dS): loss, the mean over rows, in natural logarithms;
    dS (n, C), the gradient of that mean. Finite for all finite scores.
    S = [[0, 0], [0, log 3]] and Q = [[1, 0], [0, 1]]
    give (0.4904, [[-0.25, 0.25], [0.125, -0.125]]).
    """
    ### BEGIN SOLUTION
    shifted = S - S.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -np.mean(np.sum(Q * log_p, axis=1))
    return loss, (np.exp(log_p) - Q) / len(S)
    ### END SOLUTION


# %% check="dxent"
check(dxent)

# %% [markdown] covers="wu:2.8.5 moon:24.7 wu:3.3.1"
# Three things that the signal tells without any training:
#
# 1. Its rows sum to 0, and it agrees with finite differences and with torch.
# 2. **One-hot labels are never reached.** $p = y$ needs infinite gaps between scores. A network that gets its training points right, with nothing that holds the weights back, lets its scores grow as long as it trains.
# 3. **Label smoothing** (moon 24.7, with its distribution $u$ uniform) aims at $q = (1 - \varepsilon)\,y + \varepsilon/C$ instead. Then $p = q$ needs only the finite gap $\log\frac{1-\varepsilon+\varepsilon/C}{\varepsilon/C}$: for $\varepsilon = 0.1$ and ten classes, $\ln 91 = 4.51$.

# %% covers="wu:2.8.5 moon:24.7 wu:3.3.1 guo:II.3.a"
with after(dxent):
    rng = np.random.default_rng(1)
    S, Q = rng.normal(0, 2, (6, 4)), rng.dirichlet(np.ones(4), 6)
    loss, dS = dxent(S, Q)
    for i, k in [(0, 0), (3, 2), (5, 3)]:
        move = np.zeros_like(S)
        move[i, k] = 0.01
        slope = (dxent(S + move, Q)[0] - dxent(S - move, Q)[0]) / 0.02
        assert np.isclose(slope, dS[i][k], atol=1e-4)  # float32 may answer, too
    leaf = torch.tensor(S, requires_grad=True)
    torch.nn.functional.cross_entropy(leaf, torch.from_numpy(Q)).backward()
    assert np.allclose(dS, leaf.grad.numpy(), atol=1e-6)
    assert np.allclose(np.sum(np.asarray(dS), axis=1), 0, atol=1e-6)
    eps, C = 0.1, 10
    smooth = (1 - eps) * np.eye(C)[:1] + eps / C
    gap = np.log((1 - eps + eps / C) / (eps / C))
    still = np.zeros((1, C))
    still[0, 0] = gap
    calm, pull = (np.asarray(dxent(still, q)[1]) for q in (smooth, np.eye(C)[:1]))
    assert np.allclose(calm, 0, atol=1e-6)  # the minimiser, and it is finite
    assert np.abs(pull).max() > 0.05  # one-hot pulls on
    print(f"gap of the scores at ε = {eps}: {gap:.2f}")

# %% [markdown] covers="cs480:9-multi"
# ## 4. Three arms, with your own parts
#
# Your forward pass, your signal. Below the head the four equations of [backpropagation](02_backpropagation.ipynb) take over (`sn.backward`); the descent has momentum. The widget shows the network at eleven moments.
#
# **Find out:** (1) At which step do the regions first look like arms? (2) Toggle single classes: where is the network unsure, and where is it sure without any data? (3) Move the temperature $T$ (scores are divided by it): does the share of right answers change? The loss? (4) At the last step, does warming or cooling lower the loss of the *training* points?

# %% covers="cs480:9-multi wu:2.8.3"
with after(mlp_softmax_forward, dxent):
    X, y = sn.spiral()
    moments = (5, 10, 20, 30, 40, 60, 80, 120, 240)
    kept, losses = sn.train(
        mlp_softmax_forward,
        dxent,
        X,
        np.eye(3)[y],
        sn.start_layers(2, 32, 32, 3, seed=1),
        steps=600,
        rate=0.3,
        keep=moments,
    )
    assert abs(losses[0] - np.log(3)) < 0.05  # starts where it should
    P = np.asarray(mlp_softmax_forward(X, kept[600])[1])
    share = np.mean(P.argmax(axis=1) == y)
    assert share > 0.98
    print(f"loss {losses[0]:.2f} at the start; in the end {share:.0%} right")
    explore(
        sn.map_explorer(kept, mlp_softmax_forward, X, y),
        digits=0,
        step=SelectionSlider(
            options=sorted(kept), value=20, description="step", continuous_update=False
        ),
        shown=Dropdown(
            options=["all three", "who wins", "class 0", "class 1", "class 2"],
            value="all three",
            description="show",
        ),
        log_T=FloatSlider(
            0,
            min=-1,
            max=1.5,
            step=0.25,
            description="log₁₀ T",
            continuous_update=False,
        ),
    )

# %% [markdown] covers="wu:2.8.3"
# ### Training is cooling
#
# Dividing all scores by $T$ is the same as dividing the head's $W$ and $b$ by $T$. So once every training point is right, a network can always lower its training loss by multiplying its head by a number above 1: by *cooling*. No answer changes, only the claimed certainty. And the signal becomes $\partial\ell/\partial s = (p_T - y)/T$ with $p_T = \operatorname{softmax}(s/T)$.
#
# What is that certainty worth on new points? Below, the arms overlap (noise 0.5 on the angle), so that no one can always be right.

# %% covers="wu:2.8.3"
with after(mlp_softmax_forward, dxent):

    def soft(S):
        return np.exp(S - logsumexp(S, axis=1, keepdims=True))

    X, y = sn.spiral(noise=0.5, seed=2)
    new, new_y = sn.spiral(400, noise=0.5, seed=3)
    rough, _ = sn.train(
        mlp_softmax_forward,
        dxent,
        X,
        np.eye(3)[y],
        sn.start_layers(2, 48, 48, 3, seed=1),
        steps=2000,
        rate=0.3,
    )

    def scores(A):
        return np.asarray(mlp_softmax_forward(A, rough[2000])[0][-1])

    S, new_S = scores(X), scores(new)
    T = np.geomspace(0.3, 100, 61)
    held_out = [dxent(new_S / t, np.eye(3)[new_y])[0] for t in T]
    seen = [dxent(S / t, np.eye(3)[y])[0] for t in T]
    W, b = rough[2000][-1]
    warmer = [*rough[2000][:-1], (W / 2, b / 2)]
    assert np.allclose(mlp_softmax_forward(new, warmer)[1], soft(new_S / 2), atol=1e-5)
    e, u = 0.01 * np.eye(3)[:1], new_S[:1]
    up, down = (dxent(v / 2, np.eye(3)[:1])[0] for v in (u + e, u - e))
    slope = (up - down) / 0.02
    assert np.isclose(slope, (soft(u / 2)[0, 0] - 1) / 2, atol=1e-3)  # (p_T - y) / T
    right = np.mean(new_S.argmax(axis=1) == new_y)
    at_one = dxent(new_S, np.eye(3)[new_y])[0]
    assert min(held_out) < 0.7 * at_one and np.all(np.diff(seen[:25]) > 0)  # T <= 3
    show(*sn.draw_temperature(T, held_out, right, seen), digits=0)

# %% [markdown] covers="wu:2.8.3 explainers:4.1.2"
# One number $T$, chosen on held-out points, repairs much of the overconfidence without touching an answer. Weight decay and label smoothing keep the scores small in the first place.
#
# ## 5. The simplex
#
# $C$ probabilities are a point of the $(C-1)$-**simplex** $\{p \in [0,1]^C : \sum_c p_c = 1\}$: for three classes, a triangle in space. Each one-hot label is a corner. A network with a softmax head is a map into the simplex, and the decision is the last, simple step: the simplex is cut by planes.
#
# Class $x$ wins where $p_x > p_y$ *and* $p_x > p_z$: two planes. The three planes $p_x = p_y$, $p_x = p_z$, $p_y = p_z$ meet at the centroid $(\frac13, \frac13, \frac13)$. On a boundary nobody wins. State that in code: which class is above *all* others?


# %% exercise="argmax_region" points=2 minutes=6 difficulty=1 covers="explainers:4.1.2"
def argmax_region(P):
    """The region of the simplex in which each point lies.

    P (n, C): points of the simplex, C >= 2.
    Returns (n,): k where P[i, k] is greater than all other entries of the row,
    and -1 where the greatest value is shared (equal as floating-point numbers).
    P = [[0.4, 0.35, 0.25], [0.2, 0.4, 0.4]] gives [0, -1].
    """
    ### BEGIN SOLUTION
    reach = P == P.max(axis=1, keepdims=True)
    return np.where(reach.sum(axis=1) == 1, P.argmax(axis=1), -1)
    ### END SOLUTION


# %% check="argmax_region"
check(argmax_region)

# %% [markdown] covers="explainers:4.1.2"
# **Twelve training points on their way.** At the start all sit near the centroid (the cross). Points of class $k$ should end in the kite of class $k$, the region where it wins. Do they go straight?

# %% covers="explainers:4.1.2"
with after(mlp_softmax_forward, dxent, argmax_region):
    X, y = sn.spiral()
    kept, _ = sn.train(
        mlp_softmax_forward,
        dxent,
        X,
        np.eye(3)[y],
        sn.start_layers(2, 32, 32, 3, seed=1),
        steps=600,
        rate=0.3,
        keep=[*range(60), *range(60, 600, 5)],
    )
    final = mlp_softmax_forward(X, kept[600])[1]
    assert np.mean(np.asarray(argmax_region(final)) == y) > 0.98
    assert list(argmax_region(np.full((1, 3), 1 / 3))) == [-1]
    followed = np.concatenate([100 * k + np.array([20, 45, 70, 95]) for k in range(3)])
    show(*sn.draw_trajectories(kept, mlp_softmax_forward, X, y, followed), digits=0)

# %% [markdown] covers="explainers:4.1.2"
# ### Regression onto the simplex: with which loss?
#
# "Regression" promises a mean: the target $y$ is a random corner, and $\mathbb E[y \mid x]$ is the vector of the true class probabilities. *Both* losses, $\frac12\lVert p - y\rVert^2$ and $-\log p_{c^*}$, have their lowest expected value at $p = \mathbb E[y \mid x]$. The cell confirms it over a grid of the triangle.
#
# So why does everybody use cross-entropy? Squared error has to come back *through* the softmax, by its Jacobian $\operatorname{diag}(p) - pp^\top$ (row $k$, column $j$: $\partial p_k/\partial s_j = p_k(\delta_{kj} - p_j)$).

# %% covers="explainers:4.1.2 wu:2.8.5" demo=true
truth = np.array([0.6, 0.3, 0.1])  # P(y | x) at some x
grid = [(i, j, 20 - i - j) for i in range(1, 19) for j in range(1, 20 - i)]
grid = np.array(grid) / 20
squared = np.array([truth @ (0.5 * ((p - np.eye(3)) ** 2).sum(axis=1)) for p in grid])
cross = np.array([-truth @ np.log(p) for p in grid])
for losses in (squared, cross):
    assert np.allclose(grid[losses.argmin()], truth)
s = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64)
jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), s)
p = torch.softmax(s, 0)
assert torch.allclose(jacobian, torch.diag(p) - torch.outer(p, p))
behind, is_true = np.array([[0.0, 10.0]]), np.array([[1.0, 0.0]])
pulls = [abs(f(behind, is_true)[1][0, 0]) for f in (sn.signal, sn.squared_signal)]
predict(
    "A network is badly wrong: the true class lies 10 below the top score. "
    "How strong is the pull of squared error on the true score, next to that of "
    "cross-entropy?",
    ["stronger", "about as strong", "a tenth", "less than a thousandth"],
    truth=int(np.abs(np.log([2, 1, 0.1, 2e-4]) - np.log(pulls[1] / pulls[0])).argmin()),
    because="Cross-entropy pulls with 1 - p ≈ 1. Squared error multiplies by the "
    "Jacobian, whose row is p_k times something: next to nothing where p_k is.",
)

# %% [markdown] covers="explainers:4.1.2 wu:2.8.5"
# Show it: multiply a signal $g = \partial\ell/\partial p$ with the Jacobian, for every row of a batch, without building $n$ matrices. (What is $pp^\top g$, when you bracket it from the right?)


# %% exercise="softmax_vjp" points=3 minutes=8 difficulty=2 covers="wu:2.8.5 explainers:4.1.2"
def softmax_vjp(P, G):
    """A gradient by the probabilities, carried back to the scores.

    P (n, C): softmax outputs. G (n, C): gradients by P.
    Returns (n, C): row i is (diag(p) - p pᵀ) g with p, g the rows i.
    P = [[0.5, 0.25, 0.25]] and G = [[1, 0, 4]] give [[-0.25, -0.375, 0.625]].
    """
    ### BEGIN SOLUTION
    return P * (G - np.sum(P * G, axis=1, keepdims=True))
    ### END SOLUTION


# %% check="softmax_vjp"
check(softmax_vjp)

# %% covers="explainers:4.1.2 wu:2.8.5"
with after(softmax_vjp):
    P = scipy_softmax(np.random.default_rng(2).normal(size=(5, 3)), axis=1)
    Y = np.eye(3)[[0, 1, 2, 0, 1]]
    assert np.allclose(softmax_vjp(P, -Y / P), P - Y)  # cross-entropy: p cancels
    show(*sn.draw_signals(softmax_vjp))

# %% [markdown] covers="wu:2.8.7"
# ## 6. Layer by layer
#
# wu 2.8.7 tells what hidden layers do: from $x$ through $h^{(l)} = f(W^{(l)}h^{(l-1)} + b^{(l)})$ to $s$ they go from *concrete* to *abstract*. For faces: edges, then parts, then structure, then identity. On the way **nuisance** is dropped: pixel noise and small shifts first, then light, then pose and expression, in the end hair, clothes and background.
# A story. What of it can be measured?
#
# **Contraction.** Let $m_c$ be the mean of class $c$ in some layer and $m$ the mean of all $n$ rows. Compare the scatter *within* the classes to that *between* them:
#
# $$\text{ratio} = \frac{\sum_i \lVert h_i - m_{y_i}\rVert^2}{\sum_i \lVert m_{y_i} - m\rVert^2} .$$
#
# Numerator and denominator add up to the total scatter. The ratio is 0 if every class is a point, and does not change when all features are shifted, rotated or scaled by one number.


# %% exercise="scatter_ratio" points=3 minutes=10 difficulty=2 covers="wu:2.8.7"
def scatter_ratio(H, y):
    """Scatter within the classes divided by scatter between them.

    H (n, d): one layer's output for n rows. y (n,): integer labels, any integers;
    not all class means are equal.
    Returns a number >= 0: the ratio above, sums over rows (large classes count more).
    H = [[0], [2], [6], [8]] and y = [0, 0, 1, 1] give 4 / 36 = 0.1111.
    """
    ### BEGIN SOLUTION
    within, between, m = 0.0, 0.0, H.mean(axis=0)
    for c in np.unique(y):
        rows = H[y == c]
        within += np.sum((rows - rows.mean(axis=0)) ** 2)
        between += len(rows) * np.sum((rows.mean(axis=0) - m) ** 2)
    return within / between
    ### END SOLUTION


# %% check="scatter_ratio"
check(scatter_ratio)

# %% [markdown] covers="wu:2.8.7"
# **The instrument at work.** Digits: 1200 for training, 597 for test; three hidden layers of 64; weight decay 0.001. Beside the ratio we read each layer with a **linear probe**: a linear classifier fitted to that layer on the training rows, judged on the test rows. Everything is measured at the start and after training.

# %% covers="wu:2.8.7" demo=true
table, order = data.digits(), np.random.default_rng(7).permutation(1797)
pixels, digits = table.X[order] / 16, table.y[order]
train_X, test_X = np.split(pixels, [1200])
train_y, test_y = np.split(digits, [1200])
digit_nets, digit_losses = sn.train(
    sn.forward,
    sn.signal,
    train_X,
    np.eye(10)[train_y],
    sn.start_layers(64, 64, 64, 64, 10),
    steps=1500,
    decay=1e-3,
    batch=100,
    keep=(30, 100, 300),
)


def digit_layers(X, step):
    return [X, *sn.forward(X, digit_nets[step])[0][:-1]]


predict(
    "The ratio of the last hidden layer, after training: how do the test rows compare "
    "with the training rows?",
    ["equal", "higher on the test rows", "lower on the test rows"],
    truth=int(
        sn.ratio(digit_layers(test_X, 1500)[3], test_y)
        > sn.ratio(digit_layers(train_X, 1500)[3], train_y)
    ),
    because="The layers were trained to pull these training rows together. New rows "
    "of a class follow, but not all the way.",
)

# %% covers="wu:2.8.7"
with after(scatter_ratio):
    names = ["x", "h¹", "h²", "h³"]

    def by_layer(X, y, step):
        return [scatter_ratio(h, y) for h in digit_layers(X, step)]

    ratios = {
        "at the start": by_layer(train_X, train_y, 0),
        "trained": by_layer(train_X, train_y, 1500),
        "trained, test rows": by_layer(test_X, test_y, 1500),
    }
    probes = {
        label: [
            sn.probe_accuracy(h, train_y, new, test_y, 10)
            for h, new in zip(digit_layers(train_X, step), digit_layers(test_X, step))
        ]
        for label, step in (("at the start", 0), ("trained", 1500))
    }
    assert abs(digit_losses[0] - np.log(10)) < 0.05
    assert np.all(np.diff(ratios["trained"]) < 0)
    assert np.all(np.diff(ratios["at the start"]) > 0)
    assert min(probes["trained"][1:]) > probes["trained"][0] + 0.01
    show(*sn.draw_layers(names, ratios, probes, 0.1), digits=0)

# %% [markdown] covers="wu:2.8.7"
# Without training, depth *loses* class structure; the fall is learnt. Look at the layers themselves: 250 rows, each layer in its own two leading principal directions (directions in which the rows scatter most). **Find out:** (1) From which step on do the ratios fall from left to right? (2) Which digits stay neighbours in $h^{(3)}$? Two directions are a shadow of 64: groups that overlap in it may still be apart. (3) Switch to test rows: which layer's ratio suffers most?

# %% covers="wu:2.8.7" demo=true
explore(
    sn.layer_explorer(
        digit_nets,
        sn.forward,
        {
            "training": (train_X[:250], train_y[:250]),
            "test": (test_X[:250], test_y[:250]),
        },
    ),
    digits=0,
    step=SelectionSlider(
        options=sorted(digit_nets),
        value=1500,
        description="step",
        continuous_update=False,
    ),
    rows=Dropdown(options=["training", "test"], value="training", description="rows"),
)

# %% [markdown] covers="wu:2.8.7"
# ### Does the dimension fall?
#
# The notes say that $\dim(\operatorname{Var}(h^{(l)} \mid y))$ decreases. Read as the rank of the covariance within a class, it need not. Take one arm of the spiral: in the plane its covariance has rank 2. What rank can it have in a layer of 32 ReLUs? What falls is the scatter, compared with that between classes, not the number of directions.

# %% covers="wu:2.8.7" demo=true
X, y = sn.spiral()
spiral_nets, _ = sn.train(
    sn.forward,
    sn.signal,
    X,
    np.eye(3)[y],
    sn.start_layers(2, 32, 32, 32, 3, seed=1),
    steps=1500,
    decay=3e-3,
)
spiral_layers = [X, *sn.forward(X, spiral_nets[1500])[0][:-1]]
ranks = [int(np.linalg.matrix_rank(np.cov(h[y == 0].T))) for h in spiral_layers]
spiral_ratios = [sn.ratio(h, y) for h in spiral_layers]
print("layer:", "x, h¹, h², h³")
print("rank of the covariance of arm 0 above 2:", [r > 2 for r in ranks])
print("within / between:", np.round(spiral_ratios, 1))
assert ranks[0] == 2 and min(ranks[1:]) > 2
assert spiral_ratios[1] > spiral_ratios[0] > spiral_ratios[3]

# %% [markdown] covers="wu:2.8.7"
# Note the first layer of the spiral: its ratio *rises*. Unwinding needs room. "Falls from layer to layer" is what often happens, not a law.
#
# ## 7. The geometry of labels
#
# One-hot labels are corners of a simplex. Seen from their mean, $e_c - \frac1C \mathbf 1$, they all have the same length, and any two have the cosine
#
# $$\frac{\langle e_a - \frac1C\mathbf 1,\; e_b - \frac1C\mathbf 1\rangle}{1 - \frac1C} = \frac{-\frac1C}{1 - \frac1C} = -\frac{1}{C-1} \qquad (a \ne b).$$
#
# No $C$ directions can be further apart: for unit vectors $v_c$, $0 \le \lVert\sum_c v_c\rVert^2 = C + \sum_{a \ne b} \langle v_a, v_b\rangle$, so the *mean* cosine over pairs, and with it the largest, is at least $-\frac{1}{C-1}$. This needs $C - 1$ dimensions. The figure is called a **simplex equiangular tight frame**.
#
# Do the class means of a hidden layer arrive there? Measure them from the mean of the class means (each class once).


# %% exercise="class_cosines" points=2 minutes=8 difficulty=2 covers="wu:2.8.7"
def class_cosines(H, y, C):
    """Cosines between the class means, seen from the mean of the class means.

    H (n, d), y (n,): labels 0, ..., C - 1, each occurs; no class mean is at the centre.
    Returns (C, C), with ones on the diagonal.
    H = [[2, 0], [4, 0], [0, 3], [0, 0]] and y = [0, 0, 1, 2] give means (3, 0), (0, 3),
    (0, 0), centre (1, 1), and cosines -0.8 (0, 1), -0.3162 (0, 2), -0.3162 (1, 2).
    """
    ### BEGIN SOLUTION
    M = np.array([H[y == c].mean(axis=0) for c in range(C)])
    M = M - M.mean(axis=0)
    M = M / np.linalg.norm(M, axis=1, keepdims=True)
    return M @ M.T
    ### END SOLUTION


# %% check="class_cosines"
check(class_cosines)

# %% [markdown] covers="wu:2.8.7"
# **Neural collapse** (Papyan, Han and Donoho, 2020) is the name for what is seen at the *end* of long training, on *training* rows, in the *last* hidden layer, with balanced classes: the rows of a class fall onto their mean, the means form this figure, the head's rows point along the means, and the decision is that of the nearest mean.
#
# Wines: three cultivars, 13 measurements, two hidden layers of 32, weight decay. At the input the three means lie unevenly.

# %% covers="wu:2.8.7"
with after(class_cosines, scatter_ratio):
    for C in (2, 3, 10):
        off = class_cosines(np.eye(C), np.arange(C), C)[~np.eye(C, dtype=bool)]
        assert np.allclose(off, -1 / (C - 1))
    wine = data.wine()
    X, y = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0), wine.y
    nets, _ = sn.train(
        sn.forward,
        sn.signal,
        X,
        np.eye(3)[y],
        sn.start_layers(13, 32, 32, 3, seed=1),
        steps=2000,
        decay=1e-3,
    )
    layers = [X, *sn.forward(X, nets[2000])[0][:-1]]
    upper = np.triu_indices(3, 1)
    cosines = [np.asarray(class_cosines(h, y, 3))[upper] for h in layers]
    wine_ratios = [scatter_ratio(h, y) for h in layers]
    assert np.ptp(cosines[0]) > 0.4 and np.ptp(cosines[2]) < 0.1
    names, pairs = ["x", "h¹", "h²"], ["0, 1", "0, 2", "1, 2"]
    show(*sn.draw_cosines(names, cosines, wine_ratios, pairs), digits=1)
    M = np.array([layers[2][y == c].mean(axis=0) for c in range(3)])
    nearest = np.linalg.norm(layers[2][:, None] - M, axis=2).argmin(axis=1)

    def unit(A):
        return A / np.linalg.norm(A, axis=1, keepdims=True)

    head, _ = nets[2000][-1]
    along = np.sum(unit(M - M.mean(axis=0)) * unit(head - head.mean(axis=0)), axis=1)
    agree = np.mean(nearest == sn.forward(X, nets[2000])[1].argmax(axis=1))
    assert min(along) > 0.9 and agree == 1
    print(f"head rows along the means: cosines from {min(along):.2f}")
    print(f"nearest mean and network decide alike: {agree:.0%}")
    ten = [class_cosines(h, train_y, 10) for h in digit_layers(train_X, 1500)]
    spread = [np.std(np.asarray(c)[~np.eye(10, dtype=bool)]) for c in ten]
    print(f"ten digits, spread of cosines: input {spread[0]:.1f}, h³ {spread[3]:.1f}")
    assert spread[3] > 0.7 * spread[0] and wine_ratios[2] > 0.1

# %% [markdown] covers="wu:2.8.7"
# The wines come close on all four counts, though their classes are not quite balanced and the ratio within/between still stands above 0.1, not at 0. The ten digits do not, after our short training: the cosines of their means are about as uneven in the last layer as in the pixels. (Their mean is close to $-\frac19$ in any case, as the inequality above shows for means of equal length. It is no evidence; the spread is.) Neural collapse is a limit, and 1500 steps are not the limit.
#
# ## 8. What does a layer know?
#
# wu 2.8.7 also looks at layers through **mutual information**, $I(a; b) = \sum p(a,b)\log_2\frac{p(a,b)}{p(a)p(b)}$: how many bits $a$ tells about $b$. It is 0 for independent variables; $I(x; x)$ is the entropy of $x$. It prints that with depth $I(h^{(l)}; x)$ falls and $I(h^{(l)}; y)$ *rises*. Take a case where all can be counted.
#
# Two fair bits $x = (x_1, x_2)$, label $y = x_1 \operatorname{xor} x_2$, flipped with probability 0.1. Two ReLU layers:
#
# $$h^{(1)} = \big(\max(0,\, x_1 + x_2),\ \max(0,\, x_1 + x_2 - 1)\big) \in \{(0,0), (1,0), (2,1)\}, \qquad h^{(2)} = h^{(1)}_1 - 2h^{(1)}_2 \in \{0, 1\} .$$
#
# With finitely many values, a layer is a table: row $i$ holds the probabilities of the next layer's values, given value $i$ of this one (a single 1 if there is no noise). If `joint` is $P(y, x)$, then `joint @ M` is $P(y, h^{(1)})$: this uses that $h^{(1)}$ depends on $y$ through $x$ only, the chain $y \to x \to h^{(1)} \to h^{(2)}$.

# %% demo=true
predict(
    "From x to h¹ to h², what happens to I(h; y)?",
    ["it rises: the layers compute XOR", "it stays the same", "it falls"],
    truth=1,
    because="x already decides what h² says. The layers can only pass on what x told; "
    "here they pass on all of it, in a form that a line can read.",
)


# %% exercise="layer_information" points=4 minutes=15 difficulty=3 covers="wu:2.8.7"
def layer_information(joint, layers):
    """Bits that each layer of a chain y -> x -> h1 -> h2 ... holds about x and about y.

    joint (C, m): P(y, x), sums to 1; entries may be 0. layers: a list of L arrays
    (values in, values out), rows sum to 1: P(next = j | now = i).
    Returns (about_x, about_y), each of L + 1 numbers in bits, the first for h = x.
    joint = [[0.5, 0], [0, 0.5]] and layers = [[[1], [1]]] (all values become one)
    give ([1, 0], [1, 0]).
    """

    ### BEGIN SOLUTION
    def bits(T):
        product, seen = np.outer(T.sum(axis=1), T.sum(axis=0)), T > 0
        return np.sum(T[seen] * np.log2(T[seen] / product[seen]))

    with_x, with_y = np.diag(joint.sum(axis=0)), joint
    about_x, about_y = [bits(with_x)], [bits(with_y)]
    for M in layers:
        with_x, with_y = with_x @ M, with_y @ M
        about_x.append(bits(with_x))
        about_y.append(bits(with_y))
    return np.array(about_x), np.array(about_y)
    ### END SOLUTION


# %% check="layer_information"
check(layer_information)

# %% [markdown] covers="wu:2.8.7"
# **Find out:** (1) Which numbers change with the noise on the label? (2) Choose the careless layer: what is lost, and can the head get it back? (3) The layer that only renames: what happens to the bits, and to the line? (4) Is there a setting where $I(h; y)$ rises?

# %% covers="wu:2.8.7"
with after(layer_information):
    about_x, about_y = layer_information(sn.xor_table(0.1), list(sn.XOR_LAYERS))
    H2 = -(0.1 * np.log2(0.1) + 0.9 * np.log2(0.9))
    assert np.allclose(about_x, [2, 1.5, 1]) and np.allclose(about_y, 1 - H2)
    chances = sn.xor_table(0.1)[1] * 4  # P(y = 1 | x)
    value = (sn.XOR_LAYERS[0] @ sn.XOR_LAYERS[1]).argmax(axis=1)  # h² at each x
    assert np.all((value[:, None] == value) == np.isclose(chances[:, None], chances))
    explore(
        sn.information_explorer(layer_information),
        flip=FloatSlider(0.1, min=0, max=0.5, step=0.05, description="label noise"),
        second=Dropdown(
            options=sn.SECOND_LAYERS, value=sn.SECOND_LAYERS[0], description="layer 2"
        ),
    )

# %% [markdown] covers="wu:2.8.7"
# wu calls a layer that lets go of bits about $x$ but keeps those about $y$ an *information bottleneck*. A layer that keeps all of $I(x; y)$ is *sufficient*; it is *minimal* if it keeps apart only those $x$ with different $P(y \mid x)$. Here $h^{(2)}$ is both: 1 bit about $x$ and all there is about $y$ (the cell above checked it). Nothing promises that training finds such a layer: the careless one lets go of more bits about $x$, but it is not sufficient.
#
# ### Why it can never rise
#
# Write the information of the pair $(x, h)$ about $y$ in two orders:
#
# $$I(x; y) + \underbrace{I(h; y \mid x)}_{=\,0} \;=\; I(x, h;\, y) \;=\; I(h; y) + \underbrace{I(x; y \mid h)}_{\ge\, 0} .$$
#
# The first bracket is 0, since given $x$ the layer $h$ knows nothing more about $y$. So $I(h; y) \le I(x; y)$: the **data-processing inequality**. It holds for every layer, trained or not, with or without noise of its own, as long as $y$ is not fed in by another way. The cell tries 500 random chains and checks the identity on each.

# %% covers="wu:2.8.7"
with after(layer_information):
    rng, rises = np.random.default_rng(3), 0
    for _ in range(500):
        joint = rng.dirichlet(np.full(10, 0.5)).reshape(2, 5)
        M1, M2 = rng.dirichlet(np.full(4, 0.3), 5), rng.dirichlet(np.full(3, 0.3), 4)
        about_x, about_y = layer_information(joint, [M1, M2])
        rises += np.any(np.diff([about_x, about_y]) > 1e-6)  # room for float32
        kept_back = 0.0  # I(x; y | h): a mean of informations, one for each value of h
        for column in M1.T:
            given_h = joint * column
            p_h = given_h.sum()
            if p_h > 1e-12:
                kept_back += p_h * layer_information(given_h / p_h, [])[1][0]
        assert np.isclose(about_y[0], about_y[1] + kept_back, atol=1e-5)
    assert rises == 0
    print("chains in which a layer gained information:", rises)

# %% [markdown] covers="wu:2.8.7"
# ### What does rise, then?
#
# What a *given reader* gets out. A probe that gives class probabilities $r(y \mid h)$ has an expected cross-entropy of at least $H(y \mid h)$ (in bits), for any $r$; so
#
# $$H(y) - \text{cross-entropy of the probe} \;\le\; I(h; y) \;\le\; I(x; y).$$
#
# The left side is what the probe can *use*. It may rise from layer to layer, under a ceiling that does not. A linear probe reads 0.70 of the XOR labels at $x$ and 0.90 at $h^{(1)}$; on the digits it read more in each trained layer than in the pixels.
#
# ### Bits about $x$
#
# "$I(h; x)$ falls" suffers from something else. If $x$ is continuous and a layer is one-to-one, $h$ decides $x$ to all digits: $I(h; x) = \infty$ before and after. Reported values come from *binning* $h$, and then the bins decide. Below: $x$ uniform on $[0, 1]$, and two leaky-ReLU layers that lose nothing.

# %% covers="wu:2.8.7" demo=true
x = (np.arange(400_000) + 0.5) / 400_000


def leaky(z):
    return np.where(z > 0, z, 0.1 * z)


h1 = leaky(3 * x - 1)
h2 = leaky(h1 - 0.5)
assert np.all(np.diff(h1) > 0) and np.all(np.diff(h2) > 0)  # nothing is lost
widths = 2.0 ** -np.arange(2, 9)
curves = {
    name: sn.binned_bits(h, -1.0, 3.0, widths)
    for name, h in (("x", x), ("h¹", h1), ("h²", h2))
}
assert all(np.all(np.diff(bits[2:]) > 0.8) for bits in curves.values())
show(*sn.draw_bins(widths, curves))

# %% [markdown] written="what_rises" points=3 minutes=7 covers="wu:2.8.7"
# ### In your own words
#
# A report fits a linear classifier to each layer of a trained network. Its cross-entropy on test rows falls from layer to layer. The authors conclude: "the class information $I(h^{(l)}; y)$ increases with depth". What have they shown, what have they not shown, and can their conclusion be true?
#
# ### BEGIN SOLUTION
# They have measured $H(y)$ minus the probe's cross-entropy, which is a lower bound of $I(h^{(l)}; y)$: the class information that a linear reader can use. It rises. The information itself has not been measured; the bound may simply become tighter.
# Their conclusion cannot be true: $y \to x \to h^{(1)} \to h^{(2)} \to \dots$ is a chain, so by the data-processing inequality $I(h^{(l)}; y)$ never increases with $l$. At best it stays equal, as in the XOR network, where linear accuracy rises from 0.70 to 0.90 at constant information.
#
# **Rubric**
# - 1: what was measured is a lower bound, or usable (linear) information, not the mutual information
# - 1: the data-processing inequality for the chain from $y$ through $x$ forbids an increase
# - 1: both agree, since the form of the representation changes: an example or the ceiling is named
# ### END SOLUTION

# %% [markdown] covers="wu:2.8.7 wu:2.8.1 cs480:9-multi"
# ## On real data: digits, with your own parts
#
# Everything together: your forward pass and your signal train a digit network with label smoothing 0.1 beside one with hard labels. Same start, same steps. Chance is ln 10 = 2.30. What do you expect of the test accuracy, of the gap between the top score and the mean of the others, and of the ratios within/between of $h^{(1)}$, $h^{(2)}$ and the scores?

# %% covers="wu:2.8.7 wu:2.8.1 cs480:9-multi moon:24.7"
with after(mlp_softmax_forward, dxent, scatter_ratio):
    Y, results = np.eye(10)[train_y], {}
    for eps in (0.0, 0.1):
        nets, losses = sn.train(
            mlp_softmax_forward,
            dxent,
            train_X,
            (1 - eps) * Y + eps / 10,
            sn.start_layers(64, 64, 64, 10, seed=4),
            steps=1000,
            batch=100,
        )
        outputs, P = mlp_softmax_forward(train_X, nets[1000])
        new_S = np.asarray(mlp_softmax_forward(test_X, nets[1000])[0][-1])
        ranked = np.sort(np.asarray(outputs[-1]), axis=1)
        results[eps] = dict(
            accuracy=np.mean(new_S.argmax(axis=1) == test_y),
            loss=dxent(new_S, np.eye(10)[test_y])[0],
            gap=np.median(ranked[:, -1] - ranked[:, :-1].mean(axis=1)),
            ratios=[scatter_ratio(np.asarray(h), train_y) for h in outputs],
        )
    for eps, r in results.items():
        print(
            f"ε = {eps}: test accuracy {r['accuracy']:.2f}, gap of the scores "
            f"{r['gap']:.1f}, within / between {np.round(r['ratios'], 2)}"
        )
    assert min(r["accuracy"] for r in results.values()) > 0.94
    assert abs(results[0.1]["gap"] - np.log(91)) < 0.5 < results[0.0]["gap"] - 6
    hard, smooth = results[0.0]["ratios"], results[0.1]["ratios"]
    assert smooth[2] < 0.75 * hard[2] and 0.8 < smooth[1] / hard[1] < 1.25
    assert results[0.1]["loss"] > results[0.0]["loss"]

# %% [markdown] covers="moon:24.7 wu:2.8.7 wu:2.8.2"
# Smoothing holds the gap near its optimum, ln 91 = 4.51, and gathers the *scores* of a class more tightly, since each row of a class has the same finite goal. In the last hidden layer the two networks hardly differ: where the classes contract is up to the network. The smoothed one aims at 0.91, so even a right answer costs it about 0.09, and its cross-entropy on the hard test labels is *higher*. Which of the two errs less is one run, no theorem.
#
# ## Take-aways
#
# - One head for all tasks: a linear map to $C$ scores. At the start the loss should read $\ln C$.
# - Losses take scores, not probabilities: $\log\sum e^s - \sum q\,s$. The signal is $p - q$ for any target distribution $q$; one-hot targets are approached forever, smoothed ones reached.
# - Temperature scales the head. Training on hard labels cools; one held-out number warms again and changes no answer.
# - A softmax network is regression onto the simplex. Cross-entropy and squared error have the same minimiser; only cross-entropy keeps pulling on what is badly wrong.
# - Training, not depth, makes classes contract. The ratio within/between is smaller on training rows than on test rows, and may rise in the first layers.
# - $C$ class means are furthest apart at cosines $-\frac{1}{C-1}$. Neural collapse is the limit of long training in the last hidden layer.
# - $I(h^{(l)}; y)$ and $I(h^{(l)}; x)$ never rise with depth. What rises is the information that a simple reader can use.
#
# wu lists four *benefits* of abstraction: robustness, generalisation, efficiency, interpretability. Read them as hopes with conditions. A layer can be blind to what it should see (the careless layer above); contraction on training rows was stronger than on test rows, so it is not generalisation itself; layers of 64 units on 64 pixels saved no dimension; and "more semantic" was measured here only as "easier to read with a line".
#
# ## What the notes got wrong
#
# The slips of wu 2.8.3, 2.8.5 and 2.8.6 are proven in [generalised linear models](../02_classification/03_generalised_linear_models.ipynb). Here are those of 2.8.7: the impossible claim first, then idealisations that were printed as facts.

# %% covers="wu:2.8.7" demo=true
joint, chain = sn.xor_table(0.1), [np.eye(4), *sn.XOR_LAYERS]


def bits(T):
    product, seen = np.outer(T.sum(axis=1), T.sum(axis=0)), T > 0
    return np.sum(T[seen] * np.log2(T[seen] / product[seen]))


of_y, of_x, tables, now, self_ = [], [], [], joint, np.diag(joint.sum(axis=0))
for M in chain:
    now, self_ = now @ M, self_ @ M
    of_y.append(bits(now))
    of_x.append(bits(self_))
    tables.append(now)
usable = [sn.best_linear(p, t) for p, t in zip(sn.XOR_POINTS, tables)]
erratum(
    "wu:2.8.7",
    r"(2.99): $I(h^{(l)}; y)$ increases with $l$ (increasing class information)",
    r"$y \to x \to h^{(1)} \to \dots$ is a chain, so $I(h^{(l)}; y)$ never increases; "
    "what can rise is the part that a simple (linear) reader uses",
    printed_holds=bool(of_y[2] > of_y[0] + 1e-9),
    corrected_holds=bool(np.all(np.diff(of_y) < 1e-9) and usable[1] > usable[0] + 0.1),
)
rename = np.eye(4)[[2, 0, 3, 1]]
renamed = bits(np.diag(joint.sum(axis=0)) @ rename)
erratum(
    "wu:2.8.7",
    r"(2.98): $I(h^{(l)}; x)$ decreases with $l$",
    "it never increases; a layer that is one-to-one keeps all of it, and for "
    "continuous $x$ without noise it is then infinite in every layer: an empty claim",
    printed_holds=bool(renamed < of_x[0] - 1e-9),
    corrected_holds=bool(np.isclose(renamed, of_x[0]) and np.all(np.diff(of_x) < 1e-9)),
)

# %% covers="wu:2.8.7" demo=true
test_layers, seen_layers = digit_layers(test_X, 1500), digit_layers(train_X, 1500)
on_test, on_train = (
    np.array([sn.ratio(h, y) for h in layers])
    for layers, y in ((test_layers, test_y), (seen_layers, train_y))
)


def means(H):
    return np.array([H[train_y == c].mean(axis=0) for c in range(10)])


def apart(M):
    return np.linalg.norm(M[:, None] - M, axis=2)[np.triu_indices(10, 1)]


uneven = [np.std(apart(means(h))) / np.mean(apart(means(h))) for h in seen_layers]
corners = apart(np.eye(10))
erratum(
    "wu:2.8.7",
    r"(2.95), (2.97): as $l$ increases, rows of one class fall onto one point $v_c$",
    "an idealisation: neural collapse, approached in the last hidden layer on training "
    "rows after long training; before, and on test rows, classes contract only "
    "relative to the distance between them",
    printed_holds=bool(on_test[3] < 0.01),
    corrected_holds=bool(on_train[0] / 2 > on_test[3] > on_train[3] > 0.01),
)
erratum(
    "wu:2.8.7",
    r"(2.96): distances between classes tend to one common $d > 0$ as $l$ increases",
    "before collapse they differ from pair to pair (here the standard deviation is "
    "above a tenth of the mean in every layer); one common $d$ belongs to the limit, "
    "where the means form a simplex",
    printed_holds=bool(min(uneven) < 0.1),
    corrected_holds=bool(min(uneven) > 0.1 and np.allclose(corners, np.sqrt(2))),
)
erratum(
    "wu:2.8.7",
    r"(2.94): $\dim(\operatorname{Var}(h^{(l)} \mid y))$ decreases with $l$",
    "the rank of the covariance within a class can rise (one spiral arm: from 2 to "
    "more); what falls with training is scatter within over between, at the top",
    printed_holds=bool(np.all(np.diff(ranks) < 0)),
    corrected_holds=bool(ranks[1] > ranks[0] and spiral_ratios[3] < spiral_ratios[0]),
)
erratum(
    "wu:2.8.7",
    "among representations with the same class information, the network prefers the "
    "most uniform one (maximum entropy principle)",
    "unsupported: nothing in the loss asks for it. In the XOR chain x, h¹ and h² have "
    "the same class information at 2, 1.5 and 1 bits of entropy, and the loss tells "
    "them apart only by what the head can read",
)

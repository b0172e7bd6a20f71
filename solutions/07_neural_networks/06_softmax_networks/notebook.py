# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a network with many classes and its training loop, and two instruments that count what its layers know" covers="cs480:9-multi wu:2.8.7"
# # Multi-class networks
#
# Three hundred points lie in three arms, wound into each other. A camera with coarse pixels looks at them. Which arm?
#
# A reader that draws straight lines gets the two coordinates of the pixel, and is right on 56 % of the points. Send the
# coordinates through two hidden layers first, and the same kind of reader gets 93 % right from what comes out. But the
# layers saw nothing but the pixel. *Where did the knowledge come from?*
#
# One lecture prints an answer: with depth, the class information increases. Does it? In the end you count it, bit by
# bit, in layers that you trained.

# %%
# What this notebook needs.
import numpy as np
import torch
from ipywidgets import Dropdown, FloatSlider, IntSlider, SelectionSlider
from scipy.special import logsumexp

from descent import (
    after,
    check,
    claim,
    data,
    erratum,
    explore,
    hint,
    movie,
    predict,
    show,
    solution,
    start,
)
from descent.pictures.neural_networks import softmax_networks as sn

start("07_neural_networks/06_softmax_networks")

# %% demo=true covers="cs480:9-multi"
# Who wins in which pixel; a reader sees no more than the pixel.
X, y = sn.camera()
show(*sn.draw_why())

# %% [markdown] covers="wu:2.8.1"
# ## 1. What can be a class?
#
# Whatever can be counted off. Let $C$ be the number of classes.
#
# | input | label | $C$ |
# |---|---|---|
# | picture, 224 × 224 × 3 (ImageNet) | the object | 1000 |
# | picture, 32 × 32 × 3 (CIFAR-10) | airplane, automobile, bird, cat, deer, dog, frog, horse, ship or truck | 10 |
# | face, 112 × 112 × 3 | who it is; or who of a school | $10^6$; $10^2$ |
# | the words so far | the next word, subword, letter, ASCII character | 50,000; 30,000; 26; 128 |
#
# So a language model is a classifier. Who knows nothing gives every class the probability $1/C$.

# %% predict="first-loss" minutes=1 covers="wu:2.8.1"
predict(
    "first-loss",
    "A face network for a million people has just been started: all scores about "
    "equal. The loss is −log of the true class's probability (natural logarithm). "
    "What does it read?",
    ["about 0.7", "about 6.9", "about 13.8", "about 1,000,000"],
    truth=int(np.argmin(np.abs(np.array([0.7, 6.9, 13.8, 1e6]) - np.log(1e6)))),
    because="ln(10⁶) = 13.8. A first loss far above ln C says that the network "
    "shouts before it has learned anything: its last layer starts too large.",
)

# %% covers="wu:2.8.1"
# What guessing costs, for every task of the table.
with after("first-loss"):
    for task, (_, _, C) in sn.TASKS.items():
        print(f"{task:22} C = {C:>9,}   ln C = {np.log(C):5.2f}")

# %% [markdown] covers="wu:2.8.2 cs480:9-multi"
# ## 2. One head for all of them
#
# $$\begin{gathered}
# x \;\to\; h^{(1)} \to \dots \to h^{(L-1)} \;\to\; s = h^{(L)} \in \mathbb R^C \;\to\; p = \operatorname{softmax}(s), \\
# p_c = \frac{e^{s_c}}{\sum_j e^{s_j}} .
# \end{gathered}$$
#
# Pictures want convolutions first, texts something else. The end, the **head**, is always the same: one linear map to $C$ scores
# (*logits*), without an activation, then [[02/03|softmax]]. (Also written $\hat y = Wh + b$,
# $\hat p = \operatorname{softmax}(\hat y)$.)
#
# A layer is a pair $(W, b)$; hidden ones are $h = \max(0, Wh' + b)$. Write it for a batch, an example in
# each row. One trap: $e^{1000}$ is too large for a computer. Take one number off all scores of a row, and softmax stays
# the same. Which number is safe?
#
# Stuck? `hint(mlp_softmax_forward)` helps in three stages, and so for every exercise.


# %% exercise="mlp_softmax_forward" points=2 difficulty=1 covers="cs480:9-multi wu:2.8.2"
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

# %% covers="cs480:9-multi wu:2.8.2 wu:2.8.6"
# Your network beside torch's; and what softmax ignores.
with after(mlp_softmax_forward):
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
    ).double()
    layers = [[p.detach().numpy() for p in net[k].parameters()] for k in (0, 2)]
    batch = data.digits().X[:7] / 16
    scores = net(torch.from_numpy(batch))
    P = mlp_softmax_forward(batch, layers)[1]
    same = np.allclose(P, scores.softmax(1).detach(), atol=1e-5)
    claim("probabilities of shape {shape} are torch's", same, shape=np.shape(P))
    W, b = layers[1]
    lifted = mlp_softmax_forward(batch, [layers[0], (W, b + 50)])[1]
    claim("50 more for every score changes nothing", np.allclose(lifted, P, atol=1e-5))
    winners = np.argmax(P, axis=1) == scores.argmax(1).numpy()
    claim("the largest score has the largest probability", winners.all())
    (_, s), p = mlp_softmax_forward(batch, [layers[0], (W[:2], b[:2])])
    sigmoid = 1 / (1 + np.exp(np.asarray(s)[:, 0] - np.asarray(s)[:, 1]))
    claim("two classes: the sigmoid", np.allclose(np.asarray(p)[:, 1], sigmoid, 1e-4))

# %% [markdown] covers="wu:2.8.4"
# ## 3. The loss, four times
#
# One row, true class $c^*$, one-hot label $y$. The log-likelihood can be written
#
# $$J = \log \prod_c p_c^{y_c} = \log p_{c^*} = \sum_c y_c \log p_c = \sum_c y_c s_c - \log \sum_j e^{s_j} ;$$
#
# the last step puts in $\log p_c = s_c - \log\sum_j e^{s_j}$ and uses $\sum_c y_c = 1$. The loss is the
# **cross-entropy** $-J$. On paper the four are one. In a computer? Take scores 800 apart.

# %% covers="wu:2.8.4"
# The four forms on ordinary scores, and on scores 800 apart.
with np.errstate(divide="ignore", invalid="ignore"):
    for words, s, k in (
        ("ordinary scores", np.array([1.0, 2.0, 0.5]), 0),
        ("the top class is true", np.array([0.0, 800.0, 1.0]), 1),
        ("class 0 is true", np.array([0.0, 800.0, 1.0]), 0),
    ):
        e = np.eye(3)[k]
        p = np.exp(s - s.max()) / np.exp(s - s.max()).sum()
        forms = np.log(np.prod(p**e)), np.log(p[k]), np.sum(e * np.log(p))
        print(f"{words:22}", *(f"{J:9.4f}" for J in (*forms, e @ s - logsumexp(s))))

# %% [markdown] covers="wu:2.8.4 wu:2.8.5 wu:3.3.1"
# Only the fourth survives (0 · log 0 is no number): so a loss takes **scores**, never probabilities, and torch's
# networks end with the scores.
#
# Nothing in it needs a one-hot label. With any target $q$, $\sum_c q_c = 1$,
#
# $$\ell = \log\sum_j e^{s_j} - \sum_c q_c s_c, \qquad \frac{\partial \ell}{\partial s} = p - q :$$
#
# what was said minus what is true. (For $J$, which is to rise, it is $q - p$.) Write both for a batch, the loss being the
# *mean* over its rows.


# %% exercise="dxent" points=2 difficulty=1 covers="wu:2.8.4 wu:2.8.5 wu:3.3.1"
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

# %% covers="wu:2.8.4 wu:2.8.5 moon:24.7"
# Against torch; and where the gradient comes to rest.
with after(dxent):
    rng = np.random.default_rng(1)
    S, Q = rng.normal(0, 2, (6, 4)), rng.dirichlet(np.ones(4), 6)
    loss, dS = dxent(S, Q)
    leaf = torch.tensor(S, requires_grad=True)
    ours = torch.nn.functional.cross_entropy(leaf, torch.from_numpy(Q))
    ours.backward()
    same = np.isclose(loss, ours.item()) and np.allclose(dS, leaf.grad, atol=1e-6)
    claim("loss and gradient are torch's, for 6 targets that are no corners", same)
    hard = np.eye(10)[:1]
    smooth, still = 0.9 * hard + 0.01, np.log(91) * hard
    rest = np.abs(dxent(still, smooth)[1]).max() < 1e-6
    pull = np.abs(dxent(still, hard)[1]).max() > 0.05
    claim(
        "a lead of ln 91: q = (0.91, 0.01, …) is reached, one-hot pulls on", rest & pull
    )

# %% [markdown] covers="cs480:9-multi wu:3.3.1"
# ## 4. Train it
#
# One-hot labels are never reached, only approached: $p = y$ wants an infinite lead. (To train towards the softer $q$
# above is called *label smoothing*.)
#
# Now the loop. Let $\delta$ be the gradient by a layer's sums $h'W^\top + b$, a row for each example. For the head that is your
# `dS`. Then [[07/02|backpropagation]] goes down, layer by layer:
#
# $$\frac{\partial \ell}{\partial W} = \delta^\top h', \qquad \frac{\partial \ell}{\partial b} = \sum_{\text{rows}} \delta,
# \qquad \delta' = (\delta W) \odot [h' > 0],$$
#
# where $h'$ is what came into the layer, and $\delta'$ belongs to the layer below. All gradients belong to the *same* network: the one
# before the step.


# %% exercise="train" points=5 difficulty=1 covers="cs480:9-multi wu:2.8.2"
def train(X, Q, layers, rate, steps):
    """Gradient descent on the mean cross-entropy of a network, all rows in each step.

    X (n, m), Q (n, C) targets. layers: pairs (W, b) as in mlp_softmax_forward; they
    are left as they are. rate > 0, steps >= 0.
    Returns (layers, losses): the new pairs after so many steps; the losses before
    the first step and after each one, steps + 1 numbers.
    X = [[1]], Q = [[1, 0]], layers = [([[0], [0]], [0, 0])], rate = 1, steps = 1
    gives ([([[0.5], [-0.5]], [0.5, -0.5])], [0.6931, 0.1269]).
    """
    ### BEGIN SOLUTION
    layers, losses = list(layers), []
    while True:
        outputs, _ = mlp_softmax_forward(X, layers)
        loss, delta = dxent(outputs[-1], Q)
        losses.append(loss)
        if len(losses) > steps:
            return layers, losses
        inputs = [X, *outputs]
        for l in reversed(range(len(layers))):
            W, b = layers[l]
            layers[l] = (W - rate * delta.T @ inputs[l], b - rate * delta.sum(axis=0))
            delta = (delta @ W) * (inputs[l] > 0)
    ### END SOLUTION


# %% check="train"
check(train)

# %% open=true covers="cs480:9-multi"
with after(train):
    nets, losses = [sn.start_layers(2, 32, 32, 3, seed=1)], []
    for _ in range(40):  # forty stages of ten steps
        net, some = train(X, np.eye(3)[y], nets[-1], 0.5, 10)
        nets.append(net)
        losses += list(some[len(losses) > 0 :])
    right = np.mean(np.argmax(mlp_softmax_forward(X, net)[1], axis=1) == y)
    claim("the first loss is near ln 3", abs(losses[0] - np.log(3)) < 0.05)
    claim("in the end {right:.0%} of the points are right", right > 0.9, right=right)

# %% [markdown] covers="cs480:9-multi explainers:4.1.2"
# **Your laboratory.** First the plane, in the colours of the probabilities, then the same three numbers as one point.
# Three probabilities that sum to 1 lie in a triangle, the **simplex**; its corners are the one-hot labels. Press play,
# then drag the big dot.
#
# 1. When do the regions first look like arms?
# 2. Show single arms: where is the network unsure? Where is it sure without any data?
# 3. Does the big dot go straight to its corner? Drag it onto a border between two arms.

# %% covers="cs480:9-multi explainers:4.1.2"
# Play the training, drag the big dot.
with after(train):
    explore(
        sn.map_explorer(nets, losses, mlp_softmax_forward),
        drag={("x", "y"): "plane"},
        play="stage",
        digits=0,
        stage=IntSlider(6, min=0, max=40, description="stage"),
        shown=Dropdown(options=sn.SHOWN, description="show"),
        x=FloatSlider(0.6, min=-1.2, max=1.2, step=0.02, description="x₁"),
        y=FloatSlider(-0.4, min=-1.2, max=1.2, step=0.02, description="x₂"),
    )

# %% [markdown] covers="wu:2.8.7"
# ## 5. What can a straight line read?
#
# "56 % right" says little: was the reader sure or guessing? Count in bits. Without looking, the labels have the *entropy*
# $H(y) = -\sum_c \pi_c \log_2 \pi_c$ bits, $\pi_c$ being the share of class $c$; for three equal classes $\log_2 3 = 1.58$. A reader with a
# cross-entropy of $\ell$ is still in the dark by $\ell/\ln 2$ bits. What it **reads** is the difference.
#
# The reader that draws straight lines is softmax regression: a head without hidden layers. You have its training loop. So that
# no layer has an advantage by its size, centre its columns, then divide the whole table by the root of its mean
# square.


# %% exercise="readable_bits" points=3 difficulty=1 covers="wu:2.8.7"
def readable_bits(H, y, rate, steps):
    """Bits about y that a straight reader, trained for so many steps, gets out of H.

    H (n, d), not all rows equal. y (n,): labels 0, ..., C - 1, each occurs.
    The table, centred and scaled as above, goes into a head that starts with all
    weights and biases 0. Returns H(y) minus its last loss, in bits; it may be
    negative.
    A minus before the table, or other names for the classes, change nothing.
    H = [[-1], [1]], y = [0, 1], rate = 1, steps = 1 gives 0.5481.
    """
    ### BEGIN SOLUTION
    Z = H - H.mean(axis=0)
    Z = Z / np.sqrt(np.mean(Z**2))
    share = np.bincount(y) / len(y)
    C = len(share)
    head = [(np.zeros((C, H.shape[1])), np.zeros(C))]
    _, losses = train(Z, np.eye(C)[y], head, rate, steps)
    return -np.sum(share * np.log2(share)) - losses[-1] / np.log(2)
    ### END SOLUTION


# %% check="readable_bits"
check(readable_bits)

# %% covers="wu:2.8.7"
# What straight lines read in each layer, untrained and trained.
with after(train, readable_bits):
    rows = []
    for words, net in (("at the start", nets[0]), ("trained", nets[-1])):
        layers = [X, *mlp_softmax_forward(X, net)[0][:-1]]
        read = [readable_bits(np.asarray(h), y, 0.2, 300) for h in layers]
        rows.append(f"{words:12} x {read[0]:.1f}   h¹ {read[1]:.1f}   h² {read[2]:.1f}")
    claim("trained, each is easier to read than the one before",
          np.all(np.diff(read) > 0))  # fmt: skip
    print("bits that a straight line reads", *rows, sep="\n")

# %% [markdown] covers="wu:2.8.7"
# So the readable bits rise, and training makes them rise. But are there *more* bits?
#
# ## 6. What does a layer know?
#
# What $a$ tells about $b$, to a reader of any kind, is their **mutual information**
#
# $$I(a; b) = \sum_{a, b} p(a,b)\,\log_2\frac{p(a,b)}{p(a)\,p(b)}$$
#
# bits: 0 if they are independent, and $I(x; x)$ is the entropy of $x$. Take a case where all can be counted: two fair
# bits $x_1, x_2$, and $y$ their exclusive or, flipped with probability 0.1. Two layers compute it:
#
# $$h^{(1)} = \big(\max(0, x_1 + x_2),\ \max(0, x_1 + x_2 - 1)\big), \qquad h^{(2)} = h^{(1)}_1 - 2h^{(1)}_2 .$$
#
# No line separates the two classes in $x$; at $h^{(2)} \in \{0, 1\}$ a threshold does, but for the flips.

# %% predict="rises" minutes=1 covers="wu:2.8.7"
predict(
    "rises",
    "Straight lines are right on 70 % of the cases at x, on 90 % at h¹ and h². "
    "What happens to I(h; y) from x to h¹ to h²?",
    [
        "It rises: the layers compute XOR, which is what y is made of",
        "It stays the same",
        "It falls: 01 and 10 become one value, what is merged is lost",
    ],
    truth=int(1 - np.sign(np.round(sn.xor_bits()[2] - sn.xor_bits()[0], 9))),
    because="x already decides what h² says, so the layers add nothing. They merge "
    "only values of x that say the same about y: of that nothing is lost either. "
    "What rises is what a line can read.",
)

# %% [markdown] covers="wu:2.8.7"
# How do you count it? With finitely many values a layer is a table: row $i$ holds the probabilities of the next layer's values, given
# value $i$ of this one (a single 1, if there is no noise). A layer looks at $x$ only, $y \to x \to h^{(1)} \to h^{(2)}$. So if `joint`
# holds $P(y, x)$, and `M` is the first layer, then `joint @ M` holds $P(y, h^{(1)})$. In the same way $P(x, x)$, with $p(x)$
# on its diagonal, becomes $P(x, h^{(1)})$. Two tables, then, and one sum: write the sum once, for any table. Entries of 0 add
# nothing.


# %% exercise="layer_information" points=4 difficulty=1 covers="wu:2.8.7"
def layer_information(joint, layers):
    """Bits that each layer of a chain y -> x -> h1 -> h2 ... holds about x and about y.

    joint (C, m): P(y, x), sums to 1; entries may be 0. layers: a list of L arrays
    (values in, values out), rows sum to 1: P(next = j | now = i).
    Returns (L + 1, 2): rows h = x, h1, h2, ...; columns I(h; x) and I(h; y).
    joint = [[0.5, 0], [0, 0.5]], layers = [[[1], [1]]] (all values become one)
    gives [[1, 1], [0, 0]].
    """

    ### BEGIN SOLUTION
    def bits(T):
        product = np.outer(T.sum(axis=1), T.sum(axis=0))
        seen = T > 0
        return np.sum(T[seen] * np.log2(T[seen] / product[seen]))

    with_x, with_y = np.diag(joint.sum(axis=0)), joint
    told = [[bits(with_x), bits(with_y)]]
    for M in layers:
        with_x, with_y = with_x @ M, with_y @ M
        told.append([bits(with_x), bits(with_y)])
    return np.array(told)
    ### END SOLUTION


# %% check="layer_information"
check(layer_information)

# %% covers="wu:2.8.7"
# The XOR chain, then 500 random chains, noisy layers included.
with after(layer_information, "rises"):
    told = np.asarray(layer_information(sn.xor_table(0.1), list(sn.XOR_LAYERS)))
    claim("all that x tells about y is still there at h²", np.ptp(told[:, 1]) < 1e-6)
    rng, most = np.random.default_rng(3), -1.0
    for _ in range(500):
        joint = rng.dirichlet(np.ones(12)).reshape(3, 4)
        chain = [rng.dirichlet(np.full(4, 0.3), 4) for _ in range(3)]
        most = max(most, np.diff(layer_information(joint, chain), axis=0).max())
    claim("in 500 random chains no layer adds a bit, about x or y", most < 1e-6)
    for name, (about_x, about_y) in zip(("x", "h¹", "h²"), told):
        print(f"{name:3} {about_x:.1f} bits about x, {about_y:.3f} bits about y")

# %% [markdown] covers="wu:2.8.7"
# **Why it never rises.** Write what the pair $(x, h)$ tells about $y$ in two orders:
#
# $$I(x; y) + \underbrace{I(h; y \mid x)}_{=\,0} \;=\; I(x, h;\, y) \;=\; I(h; y) + \underbrace{I(x; y \mid h)}_{\ge\, 0} .$$
#
# The first bracket is 0: who has $x$ learns nothing more about $y$ from $h$. So $I(h; y) \le I(x; y)$, layer after
# layer: the **data-processing inequality**, trained or not.
#
# ## 7. The answer
#
# The camera has finitely many pixels, so your trained network is a chain of tables; its *verdict*, the most
# probable class, is one more. Count.

# %% covers="wu:2.8.7 cs480:9-multi"
# The bits there are, layer by layer, and those that a line reads.
with after(train, readable_bits, layer_information):
    outputs, P = mlp_softmax_forward(X, nets[-1])
    verdict = np.eye(3)[np.argmax(P, axis=1)]
    layers = [X, *(np.asarray(h) for h in outputs[:-1]), verdict]
    joint, tables = sn.as_tables(y, layers)
    about_x, about_y = np.asarray(layer_information(joint, tables)).T
    read = np.array([readable_bits(h, y, 0.2, 300) for h in layers])
    claim(
        "as it must be, no layer adds a bit about the arm",
        np.diff(about_y).max() < 1e-6,
    )
    claim(
        "and, as it must, a line reads no more than there is",
        np.all(read < about_y + 1e-6),
    )
    claim(
        "of {there:.1f} bits a line reads {a:.1f} at x and {b:.1f} at h²",
        read[0] / about_y[0] < 0.5 and read[2] / about_y[2] > 0.9,
        there=about_y[0], a=read[0], b=read[2],
    )  # fmt: skip
    show(
        *sn.draw_answer(["x", "h¹", "h²", "verdict"], about_x, about_y, read), digits=0
    )

# %% [markdown] covers="wu:2.8.7 cs480:9-multi wu:2.8.4"
# ## Take-aways
#
# - The knowledge was in the pixels all along. The layers add none; they bring it into a form that a line can read. At the
#   verdict some is lost: it no longer says how sure it is.
# - One head for all tasks: a linear map to $C$ scores. At the start the loss should read $\ln C$.
# - A loss takes scores, $\log\sum e^s - \sum q\,s$. Its gradient is $p - q$, for any target $q$.
# - A layer that drops what $y$ does not need is an *information bottleneck*: *sufficient* if it keeps all of $I(x; y)$,
#   *minimal* if it keeps nothing else. Nothing promises that training finds one.
#
# Next: [[next]]. Below: the triangle, the size of heads, how classes gather in the layers of digits.

# %% [markdown] covers="explainers:4.1.2"
# ## Deeper: regression onto a triangle
#
# $C$ probabilities are a point of the $(C-1)$-**simplex** $\{p \in [0,1]^C : \sum_c p_c = 1\}$; a softmax network is a map into it.
# The decision is then simple, the simplex is cut by planes. Of three classes the first wins where $p_0 > p_1$ *and* $p_0 > p_2$. The
# planes $p_0 = p_1$, $p_0 = p_2$, $p_1 = p_2$ meet in the middle, $(\frac13, \frac13, \frac13)$. On a border nobody wins.


# %% exercise="argmax_region" points=1 difficulty=1 covers="explainers:4.1.2"
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

# %% covers="explainers:4.1.2"
# Ten steps of training a frame; in each kite one class wins.
with after(train, argmax_region):
    end = np.asarray(argmax_region(np.asarray(mlp_softmax_forward(X, nets[-1])[1])))
    claim("{right:.0%} end in their own region", np.mean(end == y) > 0.9,
          right=np.mean(end == y))  # fmt: skip
    fig, ax, positions, words, colors = sn.to_corners(nets, mlp_softmax_forward)
    movie(fig, ax, positions, words, colors=colors, digits=0)

# %% [markdown] covers="explainers:4.1.2"
# "Regression" promises a mean. The target is a random corner $e_y$, and its mean given $x$ is the vector of the true
# probabilities. Squared error $\frac12\lVert p - e_y\rVert^2$ and cross-entropy both have their lowest expected value there. So
# why does everybody take cross-entropy? Squared error has to come back *through* the softmax, by its Jacobian
# $\operatorname{diag}(p) - pp^\top$.

# %% predict="pull" minutes=1 covers="explainers:4.1.2"
predict(
    "pull",
    "A network is badly wrong: of two classes the true one lies 10 below the other. "
    "How strongly does squared error pull on its score, beside cross-entropy?",
    ["More strongly", "About as strongly", "A tenth", "Less than a thousandth"],
    truth=int(
        np.digitize(
            -np.log10(sn.squared_pull(np.array([[0, 10.0]]), 0)[0]), [0, 0.5, 2]
        )
    ),
    because="Cross-entropy pulls with 1 − p, nearly 1. The Jacobian multiplies the "
    "error by p, and p is 1/22,000: who is badly wrong hears nothing.",
)

# %% covers="explainers:4.1.2"
# Both losses over a grid of the triangle; then their pull.
truth = np.array([0.6, 0.3, 0.1])  # P(y | x) at some x
grid = [(i, j, 20 - i - j) for i in range(1, 19) for j in range(1, 20 - i)]
grid = np.array(grid) / 20
squared = sum(t * ((grid - e) ** 2).sum(axis=1) / 2 for t, e in zip(truth, np.eye(3)))
for name, expected in (("squared", squared), ("cross-entropy", -np.log(grid) @ truth)):
    best = grid[expected.argmin()]
    claim(
        "{name}: lowest at the true probabilities", np.allclose(best, truth), name=name
    )
with after("pull"):
    show(*sn.draw_signals())

# %% [markdown] covers="wu:2.8.1 wu:2.8.2"
# ## Deeper: how large is a head?
#
# The pipeline of section 2 with its shapes. For which tasks has the head alone more than a million parameters at width
# 512? What does the number of rows change: the parameters, or the shapes?

# %% covers="wu:2.8.1 wu:2.8.2"
# Choose a task.
explore(
    sn.draw_pipeline,
    task=Dropdown(options=list(sn.TASKS), value="next word", description="task"),
    width=SelectionSlider(options=[64, 512, 4096], value=512, description="width"),
    batch=IntSlider(32, min=1, max=128, description="rows"),
)

# %% [markdown] covers="wu:2.8.7"
# ## Deeper: do the classes gather?
#
# The lecture's story of a face network: edges, then parts, then structure, then identity. On the way *nuisance* is dropped: pixel
# noise first, then light, then pose, in the end hair and clothes. What of it can be measured?
#
# Let $m_c$ be the mean of class $c$ in some layer, $m$ the mean of all rows. Compare the scatter *within* the classes
# with that *between* them:
#
# $$\text{ratio} = \frac{\sum_i \lVert h_i - m_{y_i}\rVert^2}{\sum_i \lVert m_{y_i} - m\rVert^2} .$$


# %% exercise="scatter_ratio" points=2 difficulty=1 covers="wu:2.8.7"
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

# %% predict="new-rows" minutes=1 covers="wu:2.8.7"
predict(
    "new-rows",
    "1200 digits train a network with three hidden layers of 64. In the last of them, "
    "how does the ratio of 597 new digits compare with that of the 1200?",
    ["It is lower", "It is equal", "It is higher"],
    truth=2
    * int(
        sn.ratio(sn.digit_layers("test", 400)[3], sn.digits()["test"][1])
        > sn.ratio(sn.digit_layers("training", 400)[3], sn.digits()["training"][1])
    ),
    because="Training pulled these 1200 together. New digits of a class follow, but "
    "not all the way.",
)

# %% covers="wu:2.8.7"
# Your ratio and a straight reader, layer by layer.
with after(scatter_ratio, "new-rows"):
    names, sets = ["x", "h¹", "h²", "h³"], sn.digits()
    ratios = {
        words: [scatter_ratio(h, sets[rows][1]) for h in sn.digit_layers(rows, step)]
        for words, rows, step in (
            ("at the start", "training", 0),
            ("trained", "training", 400),
            ("trained, new digits", "test", 400),
        )
    }
    probes = {
        words: [
            sn.probe_accuracy(h, sets["training"][1], new, sets["test"][1])
            for h, new in zip(
                sn.digit_layers("training", step), sn.digit_layers("test", step)
            )
        ]
        for words, step in (("at the start", 0), ("trained", 400))
    }
    claim("untrained, it rises with depth", np.all(np.diff(ratios["at the start"]) > 0))
    claim("trained, it falls with depth", np.all(np.diff(ratios["trained"]) < 0))
    show(*sn.draw_layers(names, ratios, probes), digits=0)

# %% [markdown] covers="wu:2.8.7"
# In this network depth alone *lost* class structure; the fall is learned. Look at the layers: 250 digits, each layer in the two
# directions in which its rows scatter most. Play. From which stage on do the ratios fall from x to h³? Which digits stay neighbours?
# Two directions are a shadow of 64: what overlaps here may still be apart.
#
# Four benefits are hoped for: robustness, generalisation, efficiency, interpretability. What was measured is less: training rows gather more than
# new ones; layers of 64 units, for 64 pixels, saved no dimension; "more abstract" meant "easier to read with a line".

# %% covers="wu:2.8.7"
# Play the training: four layers of a digit network.
explore(
    sn.draw_digit_layers,
    play="stage",
    digits=0,
    stage=IntSlider(13, min=0, max=13, description="stage"),
    rows=Dropdown(options=["training", "test"], description="rows"),
)

# %% [markdown] covers="wu:2.8.7"
# ## Deeper: where the classes go
#
# Seen from their mean, $e_c - \frac1C \mathbf 1$, the one-hot labels have equal lengths, and any two of them the cosine
#
# $$\frac{-1/C}{1 - 1/C} = -\frac{1}{C-1} .$$
#
# No $C$ directions lie further apart: for unit vectors, $0 \le \lVert\sum_c v_c\rVert^2 = C + \sum_{a \ne b} \langle v_a, v_b\rangle$, so the
# mean cosine is at least $-\frac1{C-1}$. Do the class means of a hidden layer go there? Measure them from the mean of the class
# means, each class once. A minus before all of them changes no cosine.


# %% exercise="class_cosines" points=2 difficulty=1 covers="wu:2.8.7"
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
# **Neural collapse** (Papyan, Han and Donoho, 2020): at the *end* of long training, on *training* rows, in the *last* hidden layer, with
# balanced classes, the rows of a class fall onto their mean and the means form this figure. Two looks at it: three kinds of wine and 1000 steps; then
# rows that may go where they like, with weight decay, as if the layers below could do everything.

# %% covers="wu:2.8.7"
# A network that reads wines comes near; free rows reach it.
with after(train, class_cosines, scatter_ratio):
    wine = data.wine()
    A = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0)
    first = sn.start_layers(13, 32, 32, 3, seed=1)
    net, _ = train(A, np.eye(3)[wine.y], first, 0.5, 1000)
    layers = [A, *(np.asarray(h) for h in mlp_softmax_forward(A, net)[0][:-1])]
    pairs = np.triu_indices(3, 1)
    cosines = [np.asarray(class_cosines(h, wine.y, 3))[pairs] for h in layers]
    ratios = [scatter_ratio(h, wine.y) for h in layers]
    show(*sn.draw_cosines(["x", "h¹", "h²"], cosines, ratios), digits=1)
    rows = []
    for steps in (0, 30, 300):
        H, labels = sn.free_features(steps)
        c = np.asarray(class_cosines(H, labels, 3))[pairs]
        within = scatter_ratio(H, labels)
        size = "below 0.0001" if within < 1e-4 else f"{within:.2f}"
        cosines = ", ".join(f"{v:.2f}" for v in c).replace("-", "−")
        rows.append(f"{steps:3} steps: within / between {size}, cosines {cosines}")
    claim("free rows: cosines of −1/2 in the end", np.allclose(c, -0.5, atol=1e-3))
    print(*rows, sep="\n")

# %% [markdown] covers="wu:2.8.7"
# ## Deeper: layers that lose
#
# Choose the second layer of the XOR chain, and the noise on the label.
#
# 1. The careless layer: what is lost, and can a head get it back?
# 2. The layer that only renames: what happens to the bits, and to the line?
# 3. Is there a setting where the bits about $y$ rise?
#
# And $I(h; x)$, "decreasing input information"? If $x$ is continuous and a layer one-to-one, $h$ gives $x$ to all digits: infinitely
# many bits, before and after. Reported values come from sorting $h$ into bins, and then the bins decide: the cell below counts a uniform
# $x$ and two leaky-ReLU layers that lose nothing.

# %% covers="wu:2.8.7"
# Choose the second layer.
with after(layer_information):
    explore(
        sn.information_explorer(layer_information),
        flip=FloatSlider(0.1, min=0, max=0.5, step=0.05, description="label noise"),
        second=Dropdown(options=list(sn.SECOND), description="layer 2"),
    )

# %% demo=true covers="wu:2.8.7"
# Bits about a continuous x, by the width of the bins.
fine = (np.arange(100_000) + 0.5) / 100_000
h1 = np.where(3 * fine > 1, 3 * fine - 1, 0.1 * (3 * fine - 1))
h2 = np.where(h1 > 0.5, h1 - 0.5, 0.1 * (h1 - 0.5))
one_to_one = min(np.diff(h1).min(), np.diff(h2).min()) > 0
claim("both layers keep the order of x: nothing is lost", one_to_one)
for width in (1 / 8, 1 / 64, 1 / 512):
    counts = [
        np.unique(h // width, return_counts=True)[1] / 1e5 for h in (fine, h1, h2)
    ]
    bits = [-np.sum(p * np.log2(p)) for p in counts]
    told = "{:.1f} bits about x in x, {:.1f} in h¹, {:.1f} in h²".format(*bits)
    print(f"bins of 1/{1 / width:.0f}: {told}")

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:2.8.7"
# wu, section 2.8.7: bits, dimensions, distances, a principle.
of_y, rng = sn.xor_bits(), np.random.default_rng(4)
chains = []
for _ in range(200):
    now = rng.dirichlet(np.ones(12)).reshape(3, 4)
    chains.append(
        sn.information(now @ rng.dirichlet(np.ones(3), 4)) - sn.information(now)
    )
erratum(
    "wu:2.8.7",
    quote=(
        r"I(h^{(l)}; y) \nearrow \text{ as } l \nearrow \text{ (increasing class "
        r"information)}"
    ),
    corrected=(
        r"$y \to x \to h^{(1)} \to \dots$ is a chain, so $I(h^{(l)}; y)$ never "
        r"increases; what rises is the part that a simple reader can use"
    ),
    printed_holds=of_y[2] > of_y[0] + 1e-9,
    corrected_holds=max(chains) < 1e-9 and of_y[2] < of_y[0] + 1e-9,
    decoy_holds=of_y[2] < of_y[0] - 1e-9,  # it decreases from layer to layer
)
line = np.linspace(-1, 1, 201)[:, None]  # one class
halves = np.c_[np.maximum(line, 0), np.maximum(-line, 0)]
ranks = [
    np.linalg.matrix_rank(h - h.mean(axis=0))
    for h in (line, halves, halves.sum(axis=1, keepdims=True))
]
erratum(
    "wu:2.8.7",
    quote=r"\dim(\operatorname{Var}(h^{(l)}|y)) \searrow \text{ as } l \nearrow",
    corrected=(
        "the rank of the covariance within a class may rise and may fall; what falls "
        "with training is the scatter within the classes over that between them"
    ),
    printed_holds=bool(np.all(np.diff(ranks) <= 0)),
    corrected_holds=ranks == [1, 2, 1],
    decoy_holds=bool(np.all(np.diff(ranks) >= 0)),  # it rises
)
new = [sn.ratio(h, sn.digits()["test"][1]) for h in sn.digit_layers("test", 400)]
H, labels = sn.free_features(1000)
means = np.array([H[labels == c].mean(axis=0) for c in range(3)])
apart = [np.linalg.norm(means[a] - means[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
erratum(
    "wu:2.8.7",
    quote=(
        r"\to 0 \quad \text{for } x_1, x_2 \text{ in same class} … \to d > 0 \quad "
        r"\text{for } x_1, x_2 \text{ in different classes}"
    ),
    corrected=(
        "neural collapse: a limit in the last hidden layer, on training rows, for long "
        "training with weight decay and balanced classes; not from layer to layer, "
        "and not on new rows"
    ),
    kind="broad",
    printed_holds=min(new) < 0.01,
    corrected_holds=sn.ratio(H, labels) < 1e-9 and np.ptp(apart) < 1e-6 * apart[0],
)
erratum(
    "wu:2.8.7",
    quote=(
        "Among representations with same class information, network prefers most "
        "uniform"
    ),
    corrected=(
        "nothing in the loss asks for it, and the line before it asks for the "
        "opposite: to keep no more than the class needs"
    ),
    kind="convention",
)

# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown] builds="a hidden layer: its kinks and folds, XOR by hand and by training, and why most training runs stop where they do"
# # One hidden layer
#
# A hall has two switches, and the lamp should burn if exactly one of them is up. A network with two hidden units can do
# that. It takes nine numbers, and you will write them down yourself.
#
# So let the machine find them: start from random numbers, go downhill. Of 100 starts, 14 arrive. The other 86 stop on
# the way, and not just anywhere, but at a risk (mean loss) of 0.69, 0.48 or 0.35. "Give them more time", says a
# colleague.
#
# *Why just these three heights, and what brings the other runs home?* At the end you answer with your own training loop.

# %%
# What this notebook needs.
import ipywidgets as widgets
import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

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
from descent.pictures.neural_networks import one_hidden_layer as oh

rng = np.random.default_rng(0)
start("07_neural_networks/01_one_hidden_layer")

# %% covers="cs480:ex9.1"
# A hundred runs from a hundred starts: look at where they stop.
show(*oh.draw_first_runs(), digits=0)

# %% [markdown] covers="guo:III.1 wu:2.2.1"
# ## 1. From one line to a layer
#
# Logistic regression is one **unit**: a score $\langle x, w\rangle + b$, and one line where it is 0. This lamp is
# **XOR**, and [[02/01|no line]] separates its corners $(0,0), (1,1)$ from $(1,0), (0,1)$. So take $m$ inputs $x$, $d$
# units, and a linear model on top:
#
# $$z = W^{(1)}x + b^{(1)}, \qquad h = \varphi(z), \qquad s = \langle w^{(2)}, h\rangle + b^{(2)}.$$
#
# Row $k$ of $W^{(1)}$ and entry $k$ of $b^{(1)}$ belong to unit $k$. $z$ is the **pre-activation**, $h$ the **hidden
# layer**, $s$ the score. The **activation** here is **ReLU**, $\varphi(z) = \max(0, z)$ entry by entry. A unit is *on*
# where $z > 0$. As in [[02/03|generalised linear models]] the mean of $y$ is $g^{-1}(s)$ with a link $g$; but now the
# features $h$ are *learned*.


# %% exercise="mlp1_forward" points=2 difficulty=1 covers="wu:2.2.1 guo:III.1"
def mlp1_forward(X, W1, b1, w2, b2):
    """Scores of a network with one hidden layer of ReLU units.

    X (n, m), W1 (d, m): row k belongs to unit k, b1 (d,), w2 (d,), b2 a number -> (n,).
    X = [[1, 2], [0, 0]], W1 = [[1, 1], [1, -1]], b1 = [0, 0.5], w2 = [2, 10], b2 = -1
    gives [5, 4]: the first row has h = (3, 0), the second one h = (0, 0.5).
    """
    ### BEGIN SOLUTION
    h = np.maximum(0, X @ W1.T + b1)
    return h @ w2 + b2
    ### END SOLUTION


# %% check="mlp1_forward"
check(mlp1_forward)

# %% open=true covers="guo:III.1 guo:III"
with after(mlp1_forward):
    # Is the clipping needed? Multiply out what is left without it.
    W1, b1, w2, b2 = net = oh.random_net(5, 2, seed=3)
    X, b1[:] = rng.normal(size=(40, 2)), rng.normal(size=5)
    torchs = oh.to_torch(net)(torch.from_numpy(X)).detach()[:, 0]
    claim("torch finds your scores", np.allclose(mlp1_forward(X, *net), torchs))
    unclipped = (X @ W1.T + b1) @ w2 + b2
    one_unit = X @ (W1.T @ w2) + (w2 @ b1 + b2)
    claim("without φ, 5 units are one unit", np.allclose(unclipped, one_unit))

# %% [markdown] covers="wu:2.2.1"
# ## 2. What can a handful of units draw?
#
# Give the network one input. Unit $k$ is then $\max(0, w^{(1)}_k x + b^{(1)}_k)$: flat on one side of its **kink**,
# straight on the other. With $w^{(1)}_k > 0$ it opens to the right, with $w^{(1)}_k < 0$ to the left. So the score
#
# $$s(x) = b^{(2)} + \sum_{k=1}^d w^{(2)}_k \max(0,\; w^{(1)}_k x + b^{(1)}_k)$$
#
# is a broken line. Where does it bend, and what slope has each piece? Write it. Mind the far left: is the first piece
# flat?


# %% exercise="pieces" points=3 difficulty=1 covers="wu:2.2.1"
def pieces(w1, b1, w2):
    """Where the score of a network with one input bends, and the slopes of its pieces.

    w1, b1, w2 (d,): unit k adds w2[k] * max(0, w1[k] x + b1[k]) to the score.
    Each unit with w1 != 0 has a kink, even where the slope stays the same. Kinks at
    most 1e-9 apart are one. Returns the r places, ascending, and the r + 1 slopes
    from left to right (no kink: one slope).
    w1 = [2, -1, 0], b1 = [1, 3, 5], w2 = [4, 1, 1] gives [-0.5, 3] and [-1, 7, 8].
    """
    ### BEGIN SOLUTION
    bends = w1 != 0
    place = -b1[bends] / w1[bends]
    change = w2[bends] * np.abs(w1[bends])
    places, slopes = [], [np.sum((w1 * w2)[w1 < 0])]
    for k in np.argsort(place):
        if places and place[k] - places[-1] <= 1e-9:
            slopes[-1] += change[k]
        else:
            places.append(place[k])
            slopes.append(slopes[-1] + change[k])
    return np.array(places), np.array(slopes)
    ### END SOLUTION


# %% check="pieces"
check(pieces)

# %% covers="wu:2.2.1"
# Random networks: your slopes, against the scores at both ends of each piece.
with after(pieces, mlp1_forward):
    kinks, straight = 0, True
    for _ in range(200):
        w1, b1, w2 = rng.normal(size=(3, 6))
        place, slopes = pieces(w1, b1, w2)
        ends = np.concatenate([[place[0] - 1], place, [place[-1] + 1]])
        s = mlp1_forward(ends[:, None], w1[:, None], b1, w2, 0.0)
        middle = (ends[:-1] + ends[1:]) / 2
        half = mlp1_forward(middle[:, None], w1[:, None], b1, w2, 0.0)
        straight &= np.allclose(half, (s[:-1] + s[1:]) / 2)
        straight &= np.allclose(np.diff(s), slopes * np.diff(ends))
        kinks = max(kinks, len(place))
    claim("200 broken lines, as you say: at most {d} kinks", straight, d=kinks)

# %% [markdown] covers="wu:2.2.1"
# **Take two kinks in hand.** Let $x$ count the switches that are up: at 0, 1, 2 the labels are 0, 1, 0, and we want the
# scores −1, 1, −1. Drag the two dots (place of the kink, change of slope). Both units open to the right; the output
# bias takes its best value. Then press play: training takes over from your setting.
#
# 1. Which two kinks meet all three marks? Can training find them from a bad start?
# 2. Both handles on the same spot. Can training tell the twins apart?
# 3. Kinks at 1.2 and 1.6, changes 1 and −1. Where does it stop, and why?

# %% covers="wu:2.2.1"
# Drag the kinks, then play the training.
explore(
    oh.draw_kinks,
    drag={("k1", "a1"): "kinks", ("k2", "a2"): "kinks"},
    play="steps",
    k1=widgets.FloatSlider(0.5, min=-1, max=3, step=0.1, description="kink 1"),
    a1=widgets.FloatSlider(1, min=-5, max=5, step=0.25, description="change 1"),
    k2=widgets.FloatSlider(1.5, min=-1, max=3, step=0.1, description="kink 2"),
    a2=widgets.FloatSlider(-1, min=-5, max=5, step=0.25, description="change 2"),
    steps=widgets.IntSlider(0, min=0, max=600, step=10, description="steps"),
)

# %% predict="dead" minutes=1
predict(
    "dead",
    "Kink 1 stands at 0.5, kink 2 at 2.2, right of all rows, opening to the right. "
    "After 2,000 steps of training, where is kink 2?",
    ["In among the rows", "At the last row, 2.0", "Still at 2.2"],
    truth=int(
        np.digitize(oh.places(oh.released(0.5, 1, 2.2, -1, 2000))[1], [1.99, 2.01])
    ),
    because="On every row the unit gives 0, with slope 0. So nothing that it does "
    "changes the risk, and its gradient is 0: it is dead.",
)

# %% [markdown] covers="cs480:ex9.1"
# ## 3. Nine numbers by hand
#
# Back to two switches. With two inputs a unit is 0 on one side of a line and a slope on the other: the sheet $s(x)$ has
# a **fold** there. But the lamp depends on one number only, how many switches are up. So the two kinks that you have
# found become two parallel folds.
#
# Write the network down, for a square with any corners. Many answers are right.


# %% exercise="xor_net" points=3 difficulty=1 covers="cs480:ex9.1"
def xor_net(lo, hi):
    """A network of two ReLU units for XOR on the corners of a square, lo < hi.

    Returns W1 (2, 2), b1 (2,), w2 (2,), b2 (a number) whose scores at (lo, lo),
    (hi, lo), (lo, hi), (hi, hi) are -1, 1, 1, -1.
    """
    ### BEGIN SOLUTION
    g = 1 / (hi - lo)
    W1 = np.full((2, 2), g)
    b1 = np.array([-2 * lo * g, -2 * lo * g - 1])
    return W1, b1, np.array([2.0, -4.0]), -1.0
    ### END SOLUTION


# %% check="xor_net"
check(xor_net)

# %% covers="cs480:ex9.1"
# Your hidden layer beside that of cs480: where do the four corners go?
notes = [np.ones((2, 2)), np.array([0.0, -1.0]), np.array([2.0, -4.0]), np.array(-1.0)]
with after(xor_net):
    yours = [np.array(part, float) for part in xor_net(-1.0, 1.0)]
    square = 2 * oh.CORNERS - 1
    panels = {"cs480": (notes, oh.CORNERS), "yours": (yours, square)}
    show(*oh.draw_hidden_space(square, oh.XOR, panels))
    h, s = oh.forward(notes, oh.CORNERS)
    claim(
        "cs480: label 1 has one hidden point, scores {s}",
        (h[1] == h[2]).all() and (s == [-1, 1, 1, -1]).all(),
        s=tuple(s.astype(int).tolist()),
    )

# %% [markdown] covers="cs480:eq9.a"
# ## 4. The loop that finds them
#
# Nobody writes down a million numbers. So measure how bad a network is, and go downhill. With all parameters in one
# vector $\theta$, the **empirical risk** is the mean over the $n$ rows of the loss $\ell$ of a row. With step size
# $\eta$,
#
# $$R(\theta) = \frac1n\sum_{i=1}^n \ell(s_i, y_i), \qquad \theta \leftarrow \theta - \eta\,\nabla R(\theta).$$
#
# For the lamp $\ell = \log(1+e^s) - ys$. Each step is a full pass over the rows. Torch finds the gradient ([[07/02|how?]]). Two traps: `backward()` *adds* to
# what stands in `.grad`, and a column minus a vector is a matrix.
#
# When do you stop? When the gradient is small, whatever the risk, or when your patience ends. This loop serves every
# network of the chapter.


# %% exercise="train" points=4 difficulty=1 covers="cs480:eq9.a"
def train(net, loss, X, y, eta, max_steps, tol=0.0):
    """Full-batch gradient descent on the empirical risk; changes net in place.

    net: torch module, (n, m) -> (n, 1). loss(s, y): scores (n,) and targets (n,) ->
    the n losses (n,). X (n, m), y (n,) tensors. eta > 0.
    Stops before a step where the Euclidean norm of the gradient, over all parameters
    together, is at most tol, and after max_steps steps.
    Returns the risks before the first step and after each step, as floats.
    What stands in .grad at the start is old and must not count.
    net = Linear(1, 1) with weight 1, bias 0, X = [[1]], y = [3], loss (s - y)²/2,
    eta = 0.5, max_steps = 1: risks [2, 0.0], then weight 2, bias 1.
    """
    ### BEGIN SOLUTION
    risks = []
    while True:
        risk = loss(net(X)[:, 0], y).mean()
        risks.append(risk.item())
        net.zero_grad()
        risk.backward()
        size = sum((p.grad**2).sum() for p in net.parameters()) ** 0.5
        if len(risks) > max_steps or size <= tol:
            return risks
        with torch.no_grad():
            for p in net.parameters():
                p -= eta * p.grad
    ### END SOLUTION


# %% check="train"
check(train)


# %%
# Two losses; 100 starts as one network, whose scores stand one below the other.
def logistic(s, y):
    return torch.logaddexp(s, torch.zeros_like(s)) - y * s


def squared(s, y):
    return (s - y) ** 2 / 2


def tensors(*arrays):
    return [torch.as_tensor(np.asarray(a, float)) for a in arrays]


def hundred(train, d):
    """W1, b1, w2, b2 of 100 networks with d units after 1000 steps of size 1 on XOR."""
    crowd = oh.crowd(oh.random_net(d, 2, 0, (100,)))
    X, y = tensors(oh.CORNERS, np.tile(oh.XOR, 100))
    train(crowd, logistic, X, y, 100.0, 1000)  # the risk is a mean over the networks
    return [p.detach().numpy() for p in crowd.parts]


# %% [markdown] covers="guo:III.1 cs480:ch2 cs480:eq9.a"
# **Watch it learn.** 200 noisy switches, two units, one of the starts that arrive. The output layer can only draw a line
# in the space of the hidden layer. So training must move the rows until a line is enough. Each row stands at what the
# two units add to its score; press play.

# %% covers="guo:III.1 cs480:ch2 cs480:eq9.a"
# Your loop, 15 steps at a time.
with after(train):
    X, y = oh.clouds(200, spread=0.1)
    module, stages, risks = oh.to_torch(oh.random_net(2, 2, seed=17)), [], []
    for _ in range(30):
        stages.append(oh.to_numpy(module))
        risks += train(module, logistic, *tensors(X, y), 0.5, 15)[:-1]
    claim("the risk falls at every step", (np.diff(risks) < 0).all())
    fig, ax, positions, words, colors = oh.sorting(stages, X, y)
    movie(fig, ax, positions, words, colors=colors)

# %% [markdown] covers="cs480:ex9.1"
# ## 5. Where the other 86 stand
#
# Loss and loop are right, and a perfect network exists. Would your colleague's advice help?

# %% predict="more-time" minutes=1 covers="cs480:ex9.1"
predict(
    "more-time",
    "The runs that stopped get five times as many steps again. How many of the 86 "
    "arrive?",
    ["All of them", "About 40", "About 10", "None"],
    truth={86: 0, 0: 3}[oh.late_arrivals(5000)],
    because="They are not slow, they stand still: their gradient has died away.",
)

# %% [markdown] covers="cs480:ex9.1"
# Remember the dead unit, and the kinks at 1.2 and 1.6. At a corner where *every* unit is off, the score is $b^{(2)}$.
# These corners share one score, and while the units stay off there only $b^{(2)}$ moves it. Worse: if each unit is on at
# all four corners or at none, the network is one linear model there, and the best one for XOR says the same everywhere.
#
# So ask: how low can the risk get while rows share scores? Say a group shares one, and a share $q$ of it has label 1.
# Its best common probability is $q$. Then its rows with label 1 lose $-\log q$ each and those with label 0 lose
# $-\log(1-q)$; if all labels of a group agree, nothing.


# %% exercise="plateau" points=4 difficulty=1 covers="cs480:ex9.1"
def plateau(s, y, tol):
    """The lowest mean logistic loss of n rows, if those of one score must share one.

    s (n,): scores, in any order. y (n,): labels 0.0 or 1.0. Sorted by score, neighbours
    at most tol apart are in one group, and so on along the chain. Each group gets one
    probability, the best for its labels. Returns the mean over all n rows, a number.
    s = [0, 3, 0], y = [0, 1, 1], tol = 0.1: rows 0 and 2 share, each loses log 2;
    row 1 loses nothing. The result is 2/3 · log 2 = 0.462.
    """
    ### BEGIN SOLUTION
    order = np.argsort(s)
    groups = [[order[0]]]
    for i, j in zip(order, order[1:]):
        if s[j] - s[i] > tol:
            groups.append([])
        groups[-1].append(j)
    risk = 0.0
    for rows in groups:
        q = np.mean(y[rows])
        for p in (q, 1 - q):
            if p > 0:
                risk -= len(rows) * p * np.log(p)
    return risk / len(y)
    ### END SOLUTION


# %% check="plateau"
check(plateau)

# %% covers="cs480:ex9.1"
# Your loop on all 100 starts, and your plateau for each run that stopped.
with after(train, plateau, "more-time"):
    net = hundred(train, 2)
    risk = oh.mean_loss(net, oh.CORNERS, oh.XOR, "bernoulli")
    ends, (hidden, s) = {2: risk}, oh.forward(net, oh.CORNERS)
    stuck = risk > 0.01
    floors = np.array([plateau(one, oh.XOR, 0.1) for one in s])
    claim(
        "your loop: {n} of 100 stop, each within 0.01 of its own plateau",
        (np.abs(risk - floors)[stuck] < 0.01).all(),
        n=int(stuck.sum()),
    )
    for name, height in oh.HEIGHTS.items():
        print(f"{np.isclose(floors[stuck], height).sum()} at {name} = {height:.3f}")
    on = hidden[stuck] > 0
    off = (~on.any(-1)).sum(-1)  # corners where every unit is off
    linear = (on == on[:, :1]).all((1, 2))
    claim(
        "each has two corners or more where no unit is on, or is linear",
        (linear | (off > 1)).all(),
    )
    first = np.argmax(stuck & (floors > 0.6))
    alone = oh.to_torch([w[first] for w in oh.random_net(2, 2, 0, (100,))])
    rows = tensors(oh.CORNERS, oh.XOR)
    steps = len(train(alone, logistic, *rows, 1.0, 9999, 1e-5)) - 1
    print(f"one of them, alone with tol = 1e-5, stops itself after {steps} steps")

# %% [markdown] covers="cs480:ex9.1"
# So the three heights are no accident. All four corners share a score: half of them have label 1, $\log 2 = 0.69$.
# Three share, one of which has the other label: $\frac34$ of $H(\frac13)$, with $H(q) = -q\log q - (1-q)\log(1-q)$,
# is 0.48. Two with different labels share: $\frac12\log 2 = 0.35$.
#
# Patience does not mend that. What does?

# %% predict="width" minutes=1 covers="cs480:ex9.1"
predict(
    "width",
    "Two units are enough. Start with 16 instead, at random as before. How many of 100 "
    "runs arrive?",
    ["14, as before", "About 40", "About 70", "All of them"],
    truth={14: 0, 100: 3}[oh.arrivals(oh.first_runs(16)[1])],
    because="A unit helps if its fold runs among the corners. Among 16 random ones "
    "the useful ones were all missing in none of 100 runs.",
)

# %% [markdown] covers="cs480:ex9.1"
# ## 6. The answer
#
# Your loop again, for wider and wider layers.

# %% covers="cs480:ex9.1 cs480:eq9.a"
# The answer to the question of the first screen.
with after(train, plateau, "more-time", "width"):
    explained = True
    for d in (4, 16):
        net = hundred(train, d)
        ends[d] = oh.mean_loss(net, oh.CORNERS, oh.XOR, "bernoulli")
        s = oh.forward(net, oh.CORNERS)[1]
        floors = np.array([plateau(one, oh.XOR, 0.1) for one in s])
        explained &= (np.abs(ends[d] - floors) < 0.02).all()
    claim("wide or narrow, all runs end at their plateau: 0 or a height", explained)
    print(
        "Why these heights? Corners share a score there, and nothing moves them apart."
    )
    print("What helps? Not time: more units than you need.")
    show(*oh.draw_ends(ends), digits=0)

# %% [markdown]
# ## Take-aways
#
# - A hidden layer is a set of *learned* features, with a linear model on top. Without an activation it is no
#   more than one unit.
# - With ReLU and one input the score is a broken line: a kink at $-b/w$ for each unit, where the slope changes by
#   $w^{(2)}|w^{(1)}|$. With two inputs the sheet is folded.
# - One loop trains all: risk, gradient, stop?, step.
# - **That weights exist does not mean that training finds them.** A unit that is off on all rows gets no gradient, and
#   rows that share a score stop at the loss of their best common probability.
# - Width helps: not because a wide network *can* do more here, but because it starts with more.
#
# Next: where the gradients come from, [[07/02]].

# %% [markdown] covers="explainers:4 guo:III wu:2.0.1 wu:2.0.2 wu:2.0.3 wu:2.0.5"
# ## Deeper: names, shapes and a map
#
# What people call a *neural network* is mostly this kind, linear maps and activations in turn: the **multilayer
# perceptron** or feedforward network. Without a hidden layer it is a single-layer perceptron.
#
# | here | code, shape | wu | cs480 | guo |
# |---|---|---|---|---|
# | $W^{(1)}$ | `W1` (d, m) | $w^{(1)}$ | $U$ | $u^\top$ |
# | $b^{(1)}$, $w^{(2)}$, $b^{(2)}$ | `b1`, `w2` (d,), `b2` () | the same | $c$, $w$, $b$ | –, $w$, – |
# | $h$ | `h` (n, d) | $h$ | $\mathbf h$ | $h = \psi(x; u)$ |
#
# Three stages: one hidden layer (here), many layers, and the gradient of both by [[07/02]]. Then depth and activations
# ([[07/03]]), starts and norms ([[07/04]]), dropout and capacity ([[07/05]]), [[03/03|SGD]] and [[03/02|Adam]].
#
# Four applications: [[07/06|many classes]], [[07/07|word embeddings and associative memory]], [[07/08|recommenders]],
# where superposition belongs, too.

# %% demo=true covers="explainers:4 guo:III wu:2.0.1"
# The shapes, asked of torch; the number of parameters.
net = oh.random_net(d=3, m=2, seed=0)
h, scores = oh.forward(net, np.zeros((7, 2)))
shapes = [tuple(w.shape) for w in net]
claim("W1, b1, w2, b2: {s}", shapes == [(3, 2), (3,), (3,), ()], s=tuple(shapes))
claim(
    "7 rows: h {h}, s {s}",
    (h.shape, scores.shape) == ((7, 3), (7,)),
    h=h.shape,
    s=scores.shape,
)
count = sum(p.numel() for p in oh.to_torch(net).parameters())
claim(
    "(m + 2) d + 1 = {n} parameters, as torch counts", count == (2 + 2) * 3 + 1, n=count
)

# %% [markdown] covers="wu:2.1.1 wu:2.1.2"
# ## Deeper: one neuron
#
# Logistic regression in the words of networks: coefficients are **weights** $w$, the intercept is the **bias** $b$,
#
# $$s_i = \langle x_i, w\rangle + b, \qquad p_i = \sigma(s_i) = \frac{1}{1+e^{-s_i}} .$$
#
# Drag the arrow $w$. What turns the line, what shifts it? Make $w$ longer: what changes, what not? Some notes call this
# unit a perceptron. The [[02/01|classic one]] has a step in place of $\sigma$ and learns from mistakes only: another
# algorithm, and in general another line.

# %% covers="wu:2.1.2"
# Drag the arrow.
explore(
    oh.draw_neuron,
    drag={("w1", "w2"): "weights"},
    w1=widgets.FloatSlider(1, min=-3, max=3, step=0.25, description="w₁"),
    w2=widgets.FloatSlider(-2, min=-3, max=3, step=0.25, description="w₂"),
    b=widgets.FloatSlider(0.5, min=-3, max=3, step=0.25, description="b"),
)

# %% demo=true covers="wu:2.1.1"
# Tumours: logistic regression's coefficients in a torch layer.
tumours = data.breast_cancer()
X = tumours.X[:, :2] / 10  # radius and texture
fit = LogisticRegression(max_iter=1000).fit(X, 1 - tumours.y)
layer = torch.nn.Linear(2, 1).double()
with torch.no_grad():
    layer.weight.copy_(torch.from_numpy(fit.coef_))
    layer.bias.copy_(torch.from_numpy(fit.intercept_))
    p = torch.sigmoid(layer(torch.from_numpy(X)))[:, 0].numpy()
same = np.allclose(p, fit.predict_proba(X)[:, 1])
claim("Linear(2, 1) and σ: the same {n} probabilities", same, n=len(p))

# %% [markdown] covers="wu:2.2.2"
# ## Deeper: folds and regions
#
# With two inputs unit $k$ folds the sheet along the line $\langle W^{(1)}_k, x\rangle + b^{(1)}_k = 0$; between the folds
# the score is a plane. A disc of label 1 lies in a ring of label 0. Drag the foot of each line (its point nearest to the
# origin; the unit rises beyond). Output weights are fitted to your folds. Then press play.
#
# 1. Find folds with 95 % right.
# 2. Put all three on one spot and play.
# 3. Could two lines do it?

# %% covers="wu:2.2.2"
# Drag the feet of the lines, then play the training.
foot = dict(min=-2.4, max=2.4, step=0.1)
explore(
    oh.draw_folds,
    drag={("x1", "y1"): "folds", ("x2", "y2"): "folds", ("x3", "y3"): "folds"},
    play="steps",
    x1=widgets.FloatSlider(0.4, **foot, description="foot 1, x₁"),
    y1=widgets.FloatSlider(1.6, **foot, description="foot 1, x₂"),
    x2=widgets.FloatSlider(-1.2, **foot, description="foot 2, x₁"),
    y2=widgets.FloatSlider(0.3, **foot, description="foot 2, x₂"),
    x3=widgets.FloatSlider(0.6, **foot, description="foot 3, x₁"),
    y3=widgets.FloatSlider(-0.6, **foot, description="foot 3, x₂"),
    steps=widgets.IntSlider(0, min=0, max=1000, step=20, description="steps"),
)

# %% predict="patterns" minutes=1
predict(
    "patterns",
    "Each region has its own pattern of units that are on and off. Three lines, no two "
    "parallel, not all through one point: how many of the 8 patterns occur?",
    ["6", "7", "8", "It depends on the lines"],
    truth=["6", "7", "8"].index(str(oh.patterns_of_three())),
    because="The lines form a triangle: itself, three regions at its sides and three "
    "at its corners. The pattern opposite to that of the triangle is nowhere.",
)

# %% [markdown] covers="wu:2.2.2"
# **How many pieces?** Draw the lines one after another. A new line meets those before it in $j$ *different* points.
# They cut it into $j + 1$ pieces, and each piece splits one region in two. So the count grows by $1 + j$, from 1. If no
# two lines are parallel and no three meet in one point, line $k$ meets all $k - 1$ before it:
#
# $$1 + \sum_{k=1}^{d} k = 1 + d + \binom d2 .$$
#
# That is the most that $d$ units can do. (Two lines cannot fence a disc in: where they let the score be positive is
# nothing, or reaches to infinity.) Count exactly, for any lines.


# %% exercise="count_regions" points=3 difficulty=1 covers="wu:2.2.2"
def count_regions(W, b):
    """Number of regions into which the lines {x : W[k] @ x + b[k] = 0} cut the plane.

    W (d, 2), b (d,). Lines may be parallel, coincide, or meet in one point. A unit with
    W[k] = [0, 0] has no line. What differs by rounding only is the same.
    Returns a whole number.
    W = [[1, 0], [0, 1], [1, 1]], b = [0, 0, -1] gives 7; b = [0, 0, 0] gives 6.
    """
    ### BEGIN SOLUTION
    regions, lines = 1, []
    for w, c in zip(W, b):
        points, copy = [], not w.any()
        for v, e in lines:
            if abs(w[0] * v[1] - w[1] * v[0]) > 1e-9:
                x = np.linalg.solve([w, v], [-c, -e])
                if all(np.abs(x - p).max() > 1e-6 for p in points):
                    points.append(x)
            elif np.allclose(w * e, v * c):
                copy = True
        if not copy:
            regions += 1 + len(points)
            lines.append((w, c))
    return regions
    ### END SOLUTION


# %% check="count_regions"
check(count_regions)

# %% covers="wu:2.2.2"
# Your count against brute force: patterns on random points, many near crossings.
with after(count_regions):
    rng, found = np.random.default_rng(4), {}
    for d in range(1, 9):
        turn = np.pi * (np.arange(d) + 0.5 * rng.random(d)) / d  # no near parallels
        W, b = np.column_stack([np.cos(turn), np.sin(turn)]), rng.uniform(-1, 1, d)
        points = rng.normal(size=(50_000, 2)) * np.exp(rng.uniform(-5, 5, (50_000, 1)))
        pairs = [(i, k) for i in range(d) for k in range(i)]
        cross = [np.linalg.solve(W[list(p)], -b[list(p)]) for p in pairs]
        near = [c + s * rng.normal(size=(500, 2)) for c in cross for s in (1e-3, 0.03)]
        brute = oh.patterns(W, b, np.vstack([points, *near])).max() + 1
        found[d] = (count_regions(W, b), brute, 1 + d + d * (d - 1) // 2)
    counts = [yours for yours, *_ in found.values()]
    claim(
        "1 to 8 lines: yours = brute force = formula, {n}",
        all(len(set(three)) == 1 for three in found.values()),
        n=tuple(counts),
    )
    turn = np.array([10, 60, 100, 150]) * np.pi / 180
    W, b = (
        np.column_stack([np.cos(turn), np.sin(turn)]),
        np.array([0.3, -0.6, 0.8, 0.5]),
    )
    show(*oh.draw_regions(W, b, count_regions(W, b)))

# %% [markdown] covers="wu:2.2.3"
# ## Deeper: what a loss sends back
#
# How does the log-likelihood $J = \log p(y \mid s)$ of a row change with its score? For a normal target with mean $s$ and
# variance $v$, and for a 0/1 label with probability $\sigma(s)$,
#
# $$J = -\frac{(y-s)^2}{2v} + \text{const}, \qquad J = y s - \log(1 + e^s) .$$
#
# Differentiate both by $s$. What comes out is the **error signal** that the network sends back through its layers. What
# do the two have in common? (Wu sets $v = 1$.)


# %% exercise="error_signal" points=2 difficulty=1 covers="wu:2.2.3"
def error_signal(y, s, kind, variance=1.0):
    """dJ/ds, J = log p(y | s), entry by entry.

    y (n,), s (n,). kind "gaussian": y normal with mean s and this variance.
    kind "bernoulli": y is 0.0 or 1.0, s its log-odds, of any size; no variance.
    y = [3], s = [1]: "gaussian" with variance 4 gives [0.5].
    y = [1], s = [0]: "bernoulli" gives [0.5].
    """
    ### BEGIN SOLUTION
    if kind == "gaussian":
        return (y - s) / variance
    p = (1 + np.tanh(s / 2)) / 2  # the sigmoid, without an overflow
    return y - p
    ### END SOLUTION


# %% check="error_signal"
check(error_signal)

# %% covers="wu:2.2.3"
# Torch's derivatives of both log-likelihoods.
with after(error_signal):
    y = torch.tensor([0.0, 1.0, 1.0]).double()
    s = torch.from_numpy(rng.normal(size=3)).requires_grad_()
    normal = torch.distributions.Normal(s, 1.0).log_prob(y).sum()
    coin = torch.distributions.Bernoulli(logits=s).log_prob(y).sum()
    both = ("gaussian", normal, "y − s"), ("bernoulli", coin, "y − p")
    for kind, J, name in both:
        (witness,) = torch.autograd.grad(J, s)
        mine = error_signal(y.numpy(), s.detach().numpy(), kind)
        claim(
            "{k}: torch, too, sends back {n}",
            np.allclose(witness, mine),
            k=kind,
            n=name,
        )

# %% [markdown] covers="cs480:ch2 wu:10.9.1"
# ## Deeper: three ways to the same end
#
# A linear model solves XOR if it is given the right features. Who chooses them?
#
# 1. **You.** $\psi(x) = (1, \sqrt2 x_1, \sqrt2 x_2, x_1^2, \sqrt2 x_1x_2, x_2^2)$ has the product $x_1x_2$.
# 2. **A kernel.** $\langle\psi(x), \psi(z)\rangle = (1 + \langle x, z\rangle)^2$: the same model, without ever computing
#    $\psi$. That is the equivalence which cs480 means.
# 3. **Training.** A hidden layer learns $\psi$ and the linear model on top together.
#
# The first two choose $\psi$ before they see the data. The price of the third: the risk is no longer convex.


# %% demo=true covers="cs480:ch2"
# All three on the four corners; who has separable features?
def psi(x):
    a, b, r = *x.T, np.sqrt(2)
    return np.column_stack([np.ones(len(x)), r * a, r * b, a * a, r * a * b, b * b])


wanted, gram = 2 * oh.XOR - 1, (1 + oh.CORNERS @ oh.CORNERS.T) ** 2
by_hand = np.linalg.pinv(psi(oh.CORNERS)) @ wanted
dual = np.linalg.solve(gram, wanted)
new = np.random.default_rng(0).uniform(-1, 2, (50, 2))
same = np.allclose(psi(new) @ by_hand, (1 + new @ oh.CORNERS.T) ** 2 @ dual)
claim("features by hand and the kernel give the same {n} scores", same, n=len(new))
learned = oh.descend(
    oh.random_net(16, 2, 0), oh.CORNERS, oh.XOR, "bernoulli", 0.5, 2000
)
hidden, s = oh.forward(learned, oh.CORNERS)
claim("the trained network has all four right", ((s > 0) == (oh.XOR == 1)).all())
rows = {"raw": oh.CORNERS, "quadratic": psi(oh.CORNERS), "hidden": hidden}
apart = {name: oh.separable(oh.with_one(table), oh.XOR) for name, table in rows.items()}
claim("separable: {a}", list(apart.values()) == [False, True, True], a=apart)

# %% [markdown] covers="wu:2.2.5"
# ## Deeper: a start at zero
#
# Wu starts gradient descent at zero. With $e_i = s_i - y_i$ the slopes of the mean of $\frac12 e_i^2$ are
#
# $$\begin{gathered}
# \frac{\partial R}{\partial w^{(2)}_k} = \frac1n\sum_i e_i\, h_{ik}, \qquad
# \frac{\partial R}{\partial b^{(2)}} = \frac1n\sum_i e_i, \\
# \frac{\partial R}{\partial W^{(1)}_k} = \frac1n\sum_i e_i\, w^{(2)}_k\, \varphi'(z_{ik})\, x_i .
# \end{gathered}$$
#
# ReLU has no slope at 0; like torch we take $\varphi'(0) = 0$.

# %% predict="zero" minutes=1
predict(
    "zero",
    "All parameters of a network with 50 units start at 0. After 1,000 steps, which of "
    "W1, b1, w2, b2 differ from 0?",
    ["All four", "w2 and b2", "Only b2", "None"],
    truth=[15, 3, 1, 0].index(oh.moved_from_zero()),
    because="h = 0, so w2 gets no gradient; w2 = 0, so nothing goes back to W1 and b1. "
    "Only the output bias learns, and it learns the mean of y.",
)

# %% [markdown] covers="wu:2.2.5"
# Each slope is a product. Say for *any* network and data which parameters one step moves.


# %% exercise="which_move" points=2 difficulty=1 covers="wu:2.2.5"
def which_move(X, y, W1, b1, w2, b2):
    """Which of W1, b1, w2, b2 one step of descent moves: four booleans.

    The risk is the mean of (s - y)²/2. X (n, m), y (n,), W1 (d, m), b1 (d,), w2 (d,),
    b2 a number. An array stays if no entry of its gradient exceeds 1e-5 in size.
    X = [[1]], y = [2], W1 = [[1]], b1 = [0], w2 = [0], b2 = 0
    gives [False, False, True, True].
    """
    ### BEGIN SOLUTION
    z = X @ W1.T + b1
    h = np.maximum(0, z)
    e = (h @ w2 + b2 - y) / len(y)
    back = e[:, None] * w2 * (z > 0)
    slopes = back.T @ X, back.sum(0), e @ h, e.sum()
    return [bool(np.max(np.abs(slope)) > 1e-5) for slope in slopes]
    ### END SOLUTION


# %% check="which_move"
check(which_move)

# %% covers="wu:2.2.5"
# From zero, and with one layer random: what your loop gets out of it.
with after(train, "zero"):
    x, y = oh.wave()
    X, t = tensors(x[:, None], y + 1)
    stuck = oh.to_torch(oh.zero_net(50))
    train(stuck, squared, X, t, 0.1, 300)
    W1, b1, w2, b2 = oh.to_numpy(stuck)
    claim("from zero only b2 moves", not (W1.any() or b1.any() or w2.any()) and b2 != 0)
    claim("b2 is ȳ (1 − 0.9³⁰⁰)", np.isclose(b2, (y + 1).mean() * (1 - 0.9**300)))
    for name, hidden, out in (("W1", 1, 0), ("w2", 0, 1), ("W1 and w2", 1, 1)):
        some = oh.random_net(50, 1, seed=2)
        begin = [hidden * some[0], some[1], out * some[2] / 7, some[3]]
        last = 2 * train(oh.to_torch(begin), squared, X, t, 0.1, 600)[-1]
        print(f"random {name}, the rest 0: mean squared error {last:.2f}")

# %% [markdown] covers="wu:2.2.5"
# ## Deeper: more parameters than rows
#
# With more parameters than rows, can it fit everything? With one input, 7 units have $3 \cdot 7 + 1 = 22$ parameters.
# Give them 20 rows in **zigzag**, $+1, -1, +1, \dots$: between neighbours the score must rise, fall, rise, which takes
# 19 pieces. Seven units have 8. So more parameters than rows do not suffice for fitting *all* targets.
# $d = n - 1$ units always will do: kinks at $x_1, \dots, x_{n-1}$, and the slopes set one after another.
#
# The figure trains on a wave, one run a width. It is kinder than a zigzag: at $d = 20$ little is left.

# %% demo=true covers="wu:2.2.5"
# A zigzag, fitted by 19 units made by hand; the wave, trained with 3 to 200 units.
x, zigzag = np.linspace(-1, 1, 20), (-1.0) ** np.arange(20)
needed = 1 + np.sum(np.diff(np.sign(np.diff(zigzag))) != 0)  # pieces
steepness = np.diff(zigzag) / np.diff(x)
wide = oh.kink_net(x[:-1], np.diff(steepness, prepend=0), "R" * 19, zigzag[0])
fits = np.allclose(oh.forward(wide, x[:, None])[1], zigzag)
claim(
    "{p} pieces are needed, 7 units have 8; 19 units fit",
    fits and needed == 19,
    p=needed,
)
x, y = oh.wave()
sizes = [3, 7, 20, 50, 200]
show(*oh.draw_widths(sizes, oh.width_runs(x, y, sizes), y.var(), 20), digits=1)

# %% [markdown] covers="wu:2.2.5 wu:2.2"
# ## Deeper: what the minimum-norm theorem says
#
# [[01/05|Double descent]] proved: for a model *linear in its parameters*, descent on squared error from zero tends to
# the perfect fit of smallest norm. Freeze the hidden layer, and it holds word for word.
#
# Let $W^{(1)}$ move, too, and it says nothing. As $\max(0, cz) = c\max(0, z)$ for $c > 0$, the unit $(cW^{(1)}_k,
# c\,b^{(1)}_k, w^{(2)}_k/c)$ is the same function; its norm is smallest where both layers weigh the same. But
#
# $$\langle W^{(1)}_k, \partial_{W^{(1)}_k} R\rangle + b^{(1)}_k\,\partial_{b^{(1)}_k} R = w^{(2)}_k\,\partial_{w^{(2)}_k} R ,$$
#
# so for ever smaller steps $Q_k = \lVert W^{(1)}_k\rVert^2 + (b^{(1)}_k)^2 - (w^{(2)}_k)^2$ never changes: who starts
# unbalanced stays so.

# %% demo=true covers="wu:2.2.5"
# Only the output layer, then both layers, on four rows.
x, y = oh.wave(4)
rng = np.random.default_rng(0)
hidden = [rng.normal(size=(200, 1)), rng.normal(size=200)]
A = oh.with_one(oh.forward([*hidden, np.zeros(200), 0.0], x[:, None])[0])
theta, eta = np.zeros(201), 1 / np.linalg.norm(A, 2) ** 2
for _ in range(10_000):
    theta = theta - eta * A.T @ (A @ theta - y)
least = np.allclose(A @ theta, y) and np.allclose(theta, np.linalg.pinv(A) @ y)
claim("output layer alone, from zero: the fit of minimum norm", least)
begin = [*hidden, rng.normal(size=200) / 14, np.zeros(())]


def balance(net, sign=-1):
    return np.sum(net[0] ** 2, 1) + net[1] ** 2 + sign * net[2] ** 2


drift = {}
for eta, steps in ((0.004, 3500), (0.001, 14_000)):  # as far, in smaller steps
    end = oh.descend(begin, x[:, None], y, "gaussian", eta, steps)
    drift[eta] = np.abs(balance(end) - balance(begin)).max()
claim(
    "a quarter of the step: Q drifts less than half as far",
    drift[0.001] < 0.4 * drift[0.004] < 4e-5,
)
claim(
    "both layers: a perfect fit",
    np.allclose(oh.forward(end, x[:, None])[1], y, atol=0.01),
)
c = np.sqrt(np.abs(end[2]) / np.sqrt(np.sum(end[0] ** 2, 1) + end[1] ** 2))
lean = [c[:, None] * end[0], c * end[1], end[2] / c, end[3]]
same = np.allclose(oh.forward(lean, x[:, None])[1], oh.forward(end, x[:, None])[1])
claim(
    "norm {a:.0f}; the same function, balanced: {b:.0f}",
    same,
    a=oh.norm(end),
    b=oh.norm(lean),
)

# %% [markdown] covers="wu:2.2.5"
# **So the start decides.** 100 units, the wave, 6,000 steps; all first weights and biases normal with standard
# deviation `size`, output weights 0.3 times that. At how many places does the fit bend?
#
# From the small start kinks gather at a few places and the parameters end many times as large as they began: features
# are learned, the *rich* regime. From the large start the parameters move by a few percent of their size, and the sum
# of many tiny changes is enough: the *lazy* regime, nearly the linear model of its tangent. Neither is "the" bias of
# gradient descent, and nobody proved that the small start finds the *fewest* kinks.

# %% demo=true covers="wu:2.2.5"
# Three sizes of start.
x, y = oh.wave()
runs = {size: oh.scaled_run(x, y, size) for size in (0.03, 0.3, 3)}
show(*oh.draw_scales(x, y, runs), digits=1)
bends = {size: oh.clusters(oh.kink_table(end)[0]) for size, (_, end) in runs.items()}
far = {size: oh.moved(*run) for size, run in runs.items()}
claim(
    "small start: fewer than 8 places; large start: more than 20",
    bends[0.03] < 8 < 20 < bends[3],
)
claim(
    "the large start hardly moves, the small one more than its size",
    far[3] < 0.1 < 1 < far[0.03],
)

# %% [markdown] covers="guo:III.1 cs480:ch2"
# ## Deeper: on real data
#
# 1,797 handwritten digits, 8 × 8 pixels: is the digit odd? Each class is a bunch of five unlike shapes. Three
# competitors: logistic regression on the pixels; $d$ hidden units *left at random*, with logistic regression on top; the
# same units *trained* with your loop. How many trained units beat 64 random ones? (One split and one seed a width: a
# percent means nothing here.)

# %% covers="guo:III.1 cs480:ch2 cs480:eq9.a"
# Odd or even: 1200 images to learn from, 597 to judge.
with after(train):
    digits = data.digits()
    order = np.random.default_rng(0).permutation(len(digits.y))
    rows, test = order[:1200], order[1200:]
    X, odd = digits.X / 16, (digits.y % 2).astype(float)
    X = X - X[rows].mean(axis=0)

    def judged(features):
        fit = LogisticRegression(max_iter=5000).fit(features[rows], odd[rows])
        return fit.score(features[test], odd[test])

    learned, frozen, sizes = [], [], [2, 4, 8, 16, 64]
    for d in sizes:
        net = oh.random_net(d, 64, seed=d)
        net = [net[0] * np.sqrt(2 / 64), net[1], net[2] / np.sqrt(d), net[3]]
        frozen.append(judged(oh.forward(net, X)[0]))
        module = oh.to_torch(net)
        train(module, logistic, *tensors(X[rows], odd[rows]), 1.0, 300)
        said = oh.forward(oh.to_numpy(module), X[test])[1] > 0
        learned.append(np.mean(said == (odd[test] == 1)))
    claim("4 learned features beat 64 random ones", learned[1] > max(frozen))
    show(*oh.draw_parity(sizes, learned, frozen, judged(X)))

# %% [markdown]
# ## Where the notes differ
#
# What the lecture notes print otherwise, each with its place. An *error* is shown by computing: the printed form fails,
# the right one holds, and a wrong one of the same shape fails too. *Too broad*: a condition is missing.

# %% demo=true covers="wu:2.2.1"
# wu 2.2.1: the network is more than the spline.
knots, at = np.array([-0.5, 0.5]), np.linspace(-1, 1, 81)
spline = oh.with_one(np.maximum(0, at[:, None] - knots))


def from_spline(opens):
    """Whether the spline with the same knots draws a network's score, too."""
    s = oh.forward(oh.kink_net(knots, [1.0, 2.0], opens), at[:, None])[1]
    return np.allclose(spline @ np.linalg.lstsq(spline, s, rcond=None)[0], s)


erratum(
    "wu:2.2.1",
    quote="This is equivalent to our previous non-linear regression model:",
    corrected=(
        r"it contains it ($w^{(1)}_k = 1$). Units with $w^{(1)}_k < 0$ open leftward "
        "and give the first piece a slope, and the kinks are learned"
    ),
    kind="broad",
    printed_holds=from_spline("LR"),
    corrected_holds=from_spline("RR") and not from_spline("LR"),
)

# %% demo=true covers="wu:2.2.5"
# wu 2.2.5: the start, the fit, the minimum, the norm, the folds.
gone = oh.moved_from_zero()
erratum(
    "wu:2.2.5",
    quote="When trained with gradient descent initialized at zero",
    corrected=r"from small *random* weights: from zero only $b^{(2)}$ ever moves",
    printed_holds=gone == 15,  # all four move
    corrected_holds=gone == 1,
    decoy_holds=gone == 3,  # w2 and b2 move
)
erratum(
    "wu:2.2.5",
    quote="The network can perfectly fit the training data.",
    corrected=(
        "more parameters than rows are not sufficient for fitting all targets; "
        r"with one input $d = n - 1$ units are"
    ),
    # the zigzag of 20 rows: d units have at most d + 1 pieces
    printed_holds=3 * 7 + 1 > 20 and 7 + 1 >= needed,
    corrected_holds=bool(fits) and 19 + 1 >= needed,
    decoy_holds=17 + 1 >= needed,  # d = n − 3
)
scores, label = np.array([3.0, -2.0, 5.0]), np.array([1.0, 0.0, 1.0])
risk = [np.logaddexp(0, c * (1 - 2 * label) * scores).mean() for c in (1, 4, 16)]
erratum(
    "wu:2.2.5",
    quote="Any parameter configuration that interpolates the data is a global minimum",
    corrected=(
        "for squared error. Where every row is on its right side, the logistic loss "
        "falls as the score is scaled up: it has no minimum"
    ),
    kind="broad",
    printed_holds=risk[0] <= min(risk),
    corrected_holds=risk[0] > risk[1] > risk[2] > 0,
)
plus = np.abs(balance(end, 1) - balance(begin, 1)).max()
erratum(
    "wu:2.2.5",
    quote=(
        "Among all interpolating solutions, gradient descent finds one with: … "
        "Minimum norm weights"
    ),
    corrected=(
        "true if only the output layer is trained, from zero. With both, descent keeps "
        r"$\Vert W^{(1)}_k\Vert^2 + (b^{(1)}_k)^2 - (w^{(2)}_k)^2$: the start decides"
    ),
    printed_holds=oh.norm(end) <= oh.norm(lean) + 1e-6,
    corrected_holds=bool(least) and drift[0.001] < 1e-4,
    decoy_holds=plus < 1e-4,  # a plus for the minus
)
error = {
    size: oh.mean_loss(run[1], x[:, None], y, "gaussian") for size, run in runs.items()
}
erratum(
    "wu:2.2.5",
    quote="Gradient descent activates the minimal amounts of folds",
    corrected=(
        "at most roughly, from a small start: from a large one dozens of kinks stay "
        "where they were, though fewer fit better"
    ),
    kind="broad",
    printed_holds=bends[3] <= bends[0.3] or error[3] <= error[0.3],
    corrected_holds=bends[0.03] < 8 < 20 < bends[3],
)

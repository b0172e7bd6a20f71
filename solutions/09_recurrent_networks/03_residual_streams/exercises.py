"""Exercises of 09_recurrent_networks/03_residual_streams."""

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

SLOPES = close(rtol=1e-6, atol=1e-8)  # sums of a few dozen products in float64


def away(rng, *shape, size=1.0):
    """Of both signs and not near zero: nothing hides behind a small number."""
    signs = np.resize([1.0, -1.0, -1.0], shape) * rng.choice([-1.0, 1.0])
    return size * signs * rng.uniform(0.5, 1.2, shape)


def net(rng, K, d, T, size=0.7):
    """Weights of a small network, as keywords."""
    shapes = dict(E=(K, d), Ws=(T, d, d), bs=(T, d), U=(d, K))
    return {name: size * rng.normal(size=shape) for name, shape in shapes.items()}


def words(rng, B, K):
    """Words (B,), the first of them twice, all others different from it."""
    ids = rng.integers(1, K, size=B)
    ids[:2] = 0
    return (ids + rng.integers(K)) % K


# ---------------------------------------------------------------------------------- resmlp_forward

resmlp_forward = Exercise(
    "resmlp_forward",
    reference=reference.resmlp_forward,
    compare=SLOPES,
    hints=[
        "The program above is nearly all of it. What must be kept of each step?",
        "Start a list with E[ids], one row a word. Each block reads the newest entry and appends the next.",
        "for W, b in zip(Ws, bs): append skip * hs[-1] + np.tanh(hs[-1] @ W + b). At the end make an array of the list.",
    ],
)


@resmlp_forward.cases
def _(rng):
    def case(B, K, d, T, **changes):
        given = net(rng, K, d, T)
        del given["U"]
        return given | dict(ids=words(rng, B, K)) | changes

    yield "a few blocks", case(3, 4, 2, 3, skip=1.0)
    yield "a few blocks, skip not told", case(2, 5, 3, 2)
    yield "as many words as numbers", case(3, 3, 3, 2)
    yield "a plain network", case(3, 4, 3, 3, skip=0.0)
    yield "a stream that is halved", case(2, 4, 3, 3, skip=0.5)
    yield "a stream that grows", case(2, 4, 2, 2, skip=1.5)
    yield "a stream that is turned over", case(2, 3, 2, 3, skip=-0.5)
    yield "words out of order", case(3, 4, 2, 2, ids=np.array([3, 0, 1]))
    yield "no block at all", case(2, 3, 2, 0)
    loud = {
        name: rng.uniform(0.6, 1.2, s)
        for name, s in dict(E=(2, 1), Ws=(1, 1, 1), bs=(1, 1)).items()
    }
    yield "one word, one number", case(1, 2, 1, 1, **loud)


resmlp_forward.mistakes(
    {
        "W is turned over": (
            "@ W",
            "@ W.T",
            "A row of the stream stands on the left of W. Compare with the program.",
        ),
        "the stream is replaced": (
            "skip * hs[-1] + ",
            "",
            "What becomes of the old stream?",
        ),
        "skip is not used": ("skip * hs", "hs", "What is skip for?"),
        "the stream lies inside of the bend": (
            "skip * hs[-1] + np.tanh(hs[-1] @ W + b)",
            "np.tanh(skip * hs[-1] + hs[-1] @ W + b)",
            "The old stream passes around the block, not through its tanh.",
        ),
        "every block reads h₀": (
            "np.tanh(hs[-1] @ W",
            "np.tanh(hs[0] @ W",
            "Which stream does the second block see?",
        ),
        "every block adds to h₀": (
            "skip * hs[-1]",
            "skip * hs[0]",
            "A block adds to the newest stream.",
        ),
        "no bend": ("np.tanh(", "(", "Each block ends with a tanh."),
        "no bias": (" + b)", ")", "Where is b?"),
        "only the end": (
            "return np.array(hs)",
            "return hs[-1]",
            "All T + 1 streams are asked.",
        ),
    }
)

resmlp_forward.worked(
    why=r"""The list of streams is the loop's memory: each block reads the newest entry and appends the next. With `skip` 1 the old stream is
    copied and the block's addition put on top, so that blocks of zeros change nothing; with 0 the same line is a plain
    layer, and zeros erase everything. The early entries are worth keeping: the way back needs them, and scores can be read off each."""
)


@resmlp_forward.right("into one array, a word at a time")
def _(ids, E, Ws, bs, skip=1.0):
    out = np.zeros((len(Ws) + 1, len(ids), E.shape[1]))
    for i, word in enumerate(ids):
        out[0, i] = E[word]
        for t in range(len(Ws)):
            out[t + 1, i] = np.tanh(Ws[t].T @ out[t, i] + bs[t]) + skip * out[t, i]
    return out


@resmlp_forward.right("with torch's layers", library="torch.nn.functional.linear")
def _(ids, E, Ws, bs, skip=1.0):
    E, Ws, bs = (torch.tensor(a) for a in (E, Ws, bs))
    hs = [torch.nn.functional.embedding(torch.tensor(ids), E)]
    for W, b in zip(Ws, bs):
        hs.append(skip * hs[-1] + torch.nn.functional.linear(hs[-1], W.T, b).tanh())
    return torch.stack(hs).numpy()


# ------------------------------------------------------------------------------------ resmlp_grads

resmlp_grads = Exercise(
    "resmlp_grads",
    reference=reference.resmlp_grads,
    compare=parts(loss=SLOPES, grads=SLOPES, messages=SLOPES),
    hints=[
        "Three parts: forward, with all streams kept; at the end the loss and dS, its slopes by the scores; then the blocks in reverse.",
        "dS is (P − Y)/n with one-hot rows Y; the last message is dS @ U.T. Going back through block t, its slope before the bend is "
        "delta = message * (1 − added²), with added = np.tanh(hs[t] @ Ws[t] + bs[t]). And what reaches hs[t]?",
        "hs[t] gets skip * message + delta @ Ws[t].T. dWs[t] is hs[t].T @ delta, dbs[t] the column sums of delta, dU is hs[-1].T @ dS. "
        "np.add.at(dE, ids, first message) fills dE.",
    ],
)


@resmlp_grads.probe
def _(answer, **given):
    loss, grads, messages = answer(**given)
    return {"loss": loss, "grads": list(grads), "messages": messages}


@resmlp_grads.cases
def _(rng):
    def case(B, K, d, T, **changes):
        targets = (words(rng, B, K) + np.arange(B)) % K
        given = dict(ids=words(rng, B, K), targets=targets)
        return net(rng, K, d, T) | given | changes

    yield "a few blocks", case(3, 4, 2, 3, skip=1.0)
    yield "a few blocks, skip not told", case(4, 5, 3, 2)
    yield "as many words as numbers", case(3, 3, 3, 2)
    yield "a plain network", case(3, 4, 3, 3, skip=0.0)
    yield "a stream that is halved", case(3, 4, 3, 3, skip=0.5)
    yield "a stream that grows", case(3, 4, 2, 2, skip=1.5)
    yield "a stream that is turned over", case(3, 3, 2, 3, skip=-0.5)
    yield "no block at all", case(3, 3, 2, 0)
    yield "one word", case(1, 3, 2, 2)
    # two numbers, far apart; asked is never the word with the largest score
    loud = case(2, 3, 2, 1)
    loud["E"] = np.array([[2.0, -2.0], [-2.0, 2.0], [2.0, 2.0]])
    loud["Ws"], loud["bs"] = away(rng, 1, 2, 2, size=0.2), away(rng, 1, 2, size=0.1)
    loud["U"] = np.array([[900.0, -900.0, 0.0], [-900.0, 900.0, 300.0]])
    loud |= dict(ids=np.array([0, 1]), targets=np.array([1, 2]))
    yield "enormous scores", loud
    # all scores of one word near 900, all of the other one near -900
    E, U = (
        np.array([[2.0, 2.0], [-2.0, -2.0], [0.0, 0.0]]),
        225 + away(rng, 2, 3, size=0.5),
    )
    yield "enormous scores", loud | dict(E=E, U=U)


resmlp_grads.mistakes(
    {
        "the message does not run along the stream": (
            "skip * messages[0] + ",
            "",
            "h_t is h_{t−1} and an addition. Which slope comes through the first of these?",
        ),
        "skip is forgotten on the way back": (
            "skip * messages[0]",
            "messages[0]",
            "What multiplied the stream on its way forward, multiplies the message.",
        ),
        "nothing comes through the block": (
            " + delta @ Ws[t].T",
            "",
            "h_{t−1} serves the stream and the block. Both send slopes.",
        ),
        "the slope of the bend at the stream": (
            "(1 - added**2)",
            "(1 - hs[t + 1] ** 2)",
            "The slope of tanh is 1 − tanh², and the stream is more than the tanh.",
        ),
        "no slope of the bend": (
            "messages[0] * (1 - added**2)",
            "1 * messages[0]",
            "Between the stream and W stands tanh.",
        ),
        "W is not turned over": (
            "delta @ Ws[t].T",
            "delta @ Ws[t]",
            "Forward, a row meets W on its right. And a slope on its way back?",
        ),
        "the newest stream for W": (
            "hs[t].T @ delta",
            "hs[t + 1].T @ delta",
            "Which stream does W_t multiply?",
        ),
        "a word twice counts once": (
            "np.add.at(dE, ids, messages[0])",
            "dE[ids] = messages[0]",
            "Two rows hold the same word. What becomes of their slopes?",
        ),
        "the sum in place of the mean": (
            "(np.exp(log_P) - Y) / len(ids)",
            "np.exp(log_P) - Y",
            "The loss is a mean. And its slopes?",
        ),
        "uphill": (
            "np.exp(log_P) - Y",
            "Y - np.exp(log_P)",
            "The loss is minus a logarithm. Which sign has its slope by the right score?",
        ),
        "the last message only": (
            "np.array(messages)",
            "messages[-1]",
            "All T + 1 messages are asked.",
        ),
        "a softmax that overflows": (
            "log_softmax(hs[-1] @ U, axis=1)",
            "np.log(np.exp(hs[-1] @ U) / np.exp(hs[-1] @ U).sum(1, keepdims=True))",
            "exp(900) is no number any more. scipy's log_softmax knows a way round.",
        ),
    }
)

resmlp_grads.equivalent(
    {
        "added = np.tanh(hs[t] @ Ws[t] + bs[t]) → added = -np.tanh(hs[t] @ Ws[t] + bs[t])": (
            r"\delta_t = m_t \odot (1 - u_t^2)"
        )
    }
)

resmlp_grads.worked(
    why=r"""Each stream has two readers: the next stream, which copies it, and the next block. So two slopes arrive at $h_{t-1}$ and add up: the
    message itself, times what the copy was multiplied by, and what comes back through the block. That sum is all that is new; the rest is backpropagation through one
    layer, $T$ times. Without the first term (`skip` 0) a message passes $T$ matrices, one after the other."""
)


@resmlp_grads.right("a word at a time, with Jacobians")
def _(ids, targets, E, Ws, bs, U, skip=1.0):
    n, T, d = len(ids), len(Ws), E.shape[1]
    loss, grads = 0.0, [np.zeros_like(p) for p in (E, Ws, bs, U)]
    messages = np.zeros((T + 1, n, d))
    for i in range(n):
        h = [E[ids[i]]]
        for t in range(T):
            h.append(skip * h[t] + np.tanh(h[t] @ Ws[t] + bs[t]))
        s = h[T] @ U
        s = s - s.max()
        ds = np.exp(s) / np.exp(s).sum()
        loss += (np.log(np.exp(s).sum()) - s[targets[i]]) / n
        ds[targets[i]] -= 1
        grads[3] += np.outer(h[T], ds) / n
        messages[T, i] = U @ ds / n
        for t in reversed(range(T)):
            bend = 1 - np.tanh(h[t] @ Ws[t] + bs[t]) ** 2
            grads[1][t] += np.outer(h[t], messages[t + 1, i] * bend)
            grads[2][t] += messages[t + 1, i] * bend
            messages[t, i] = (skip * np.eye(d) + Ws[t] * bend) @ messages[t + 1, i]
        grads[0][ids[i]] += messages[0, i]
    return loss, grads, messages


@resmlp_grads.right("by automatic differentiation", library="torch.autograd.grad")
def _(ids, targets, E, Ws, bs, U, skip=1.0):
    params = [torch.tensor(p, requires_grad=True) for p in (E, Ws, bs, U)]
    hs = [params[0][torch.tensor(ids)]]
    for W, b in zip(params[1], params[2]):
        hs.append(skip * hs[-1] + torch.tanh(hs[-1] @ W + b))
    loss = torch.nn.functional.cross_entropy(hs[-1] @ params[3], torch.tensor(targets))
    slopes = torch.autograd.grad(loss, params + hs, materialize_grads=True)
    slopes = [g.numpy() for g in slopes]
    return loss.item(), slopes[:4], np.array(slopes[4:])


# --------------------------------------------------------------------------------------- path_sums

path_sums = Exercise(
    "path_sums",
    reference=reference.path_sums,
    compare=SLOPES,
    hints=[
        "Put one more block behind all others. Which paths through k blocks go past it, and which go through it?",
        "Those that go past were there before: entry k. Those through it were in entry k − 1, and are multiplied by its J from the right.",
        "Start with zeros, and I in entry 0. For each J: entries 1 … T gain what entries 0 … T − 1 held before, times J: "
        "sums[1:] += sums[:-1] @ J.",
    ],
)


@path_sums.cases
def _(rng):
    yield "three blocks", dict(Js=away(rng, 3, 2, 2))
    yield "four blocks", dict(Js=away(rng, 4, 3, 3))
    yield "as many blocks as numbers", dict(Js=away(rng, 3, 3, 3))
    yield "single numbers", dict(Js=away(rng, 4, 1, 1))
    yield "one block", dict(Js=away(rng, 1, 2, 2))
    yield (
        "many blocks: more paths than one can list",
        dict(Js=rng.uniform(0.1, 0.2) * np.eye(2)[None].repeat(40, 0)),
    )


path_sums.mistakes(
    {
        "the earliest on the right": (
            "sums[:-1] @ J",
            "J @ sums[:-1]",
            "Along a row the first block comes first. Where does a later one stand?",
        ),
        "only the path through all": (
            "sums[1:] += sums[:-1] @ J",
            "sums[1:] = sums[:-1] @ J",
            "A path may also pass the block. Which sums stay?",
        ),
        "no path past all blocks": (
            "sums[0] = np.eye(d)",
            "sums[1] = np.eye(d)",
            "Entry 0 is what passes all blocks: unchanged.",
        ),
        "a path through a block twice": (
            "sums[1:] += sums[:-1] @ J",
            "for k in range(len(Js)):\n            sums[k + 1] += sums[k] @ J",
            "Entry k must still be what it was before this block, when entry k + 1 takes it.",
        ),
    }
)

path_sums.worked(
    why=r"""Sort the paths of $t$ blocks by what they do at the last: past it, and they are paths of $t - 1$ blocks of the same length; through it, and they are
    one shorter before, and get $J_t$ on the right. So each block updates all entries at once, from the old ones, and $2^T$ paths cost
    $T^2$ small products. It is the binomial theorem, for factors that do not commute."""
)


@path_sums.right("backwards, with whole paths in a list")
def _(Js):
    sums = [np.eye(len(Js[0]))]
    for J in Js[::-1]:
        through = [J @ s for s in sums]
        sums = [
            (sums[k] if k < len(sums) else 0) + (through[k - 1] if k else 0)
            for k in range(len(sums) + 1)
        ]
    return sums


# ------------------------------------------------------------------------------------ gd_as_resnet

gd_as_resnet = Exercise(
    "gd_as_resnet",
    reference=reference.gd_as_resnet,
    compare=SLOPES,
    hints=[
        "Write the step with x as a column and multiply out: one part has x in it, the other has not.",
        "The step adds −η Aᵀ A x + η Aᵀ b. As rows, what stands to the right of h? AᵀA is symmetric.",
        "W = −η Aᵀ A and c = η Aᵀ b, the same in all T blocks: repeat each T times.",
    ],
)


@gd_as_resnet.cases
def _(rng):
    def case(m, d, T):
        return dict(
            A=away(rng, m, d), b=away(rng, m), eta=float(rng.uniform(0.1, 0.4)), T=T
        )

    yield "more rows than unknowns", case(4, 2, 3)
    yield "fewer rows than unknowns", case(2, 3, 2)
    yield "as many", case(3, 3, 2)
    yield "one step", case(3, 2, 1)
    yield "one number", case(1, 1, 4)
    yield "a step that explodes", case(4, 2, 2) | dict(eta=1.5)
    whole = dict(
        A=rng.permutation([[1, 2], [-3, 1], [2, 2]]), b=rng.permutation([3, -1, 2])
    )
    yield "whole numbers", case(3, 2, 2) | whole


gd_as_resnet.mistakes(
    {
        "W has the wrong sign": (
            "-eta * A.T @ A",
            "eta * A.T @ A",
            "Down the slope, or up?",
        ),
        "the stream is in W": (
            "-eta * A.T @ A",
            "np.eye(A.shape[1]) - eta * A.T @ A",
            "The block adds h W to h. h itself is in the stream already.",
        ),
        "c has the sign of W": (
            "eta * A.T @ b\n",
            "-eta * A.T @ b\n",
            "Multiply −η Aᵀ(A x − b) out. Which sign has the part with b?",
        ),
        "no step size in c": (
            "eta * A.T @ b\n",
            "A.T @ b\n",
            "The whole slope is multiplied by η.",
        ),
        "twice the slope": (
            "-eta * A.T @ A, eta",
            "-2 * eta * A.T @ A, 2 * eta",
            "f has a ½ in front. What is its gradient?",
        ),
        "one block for all": (
            "np.array([W] * T), np.array([c] * T)",
            "W, c",
            "T blocks are asked, though they are alike.",
        ),
    }
)

gd_as_resnet.worked(
    why=r"""A gradient step on a quadratic is linear in $x$: $x - \eta A^\top A x + \eta A^\top b$. The $x$ in front is the stream; what remains is a matrix times $x$ and a constant,
    a block without a bend. As $A^\top A$ is symmetric, row and column give the same $W$. Nothing depends on $t$: descent is a residual network with
    tied weights, and $T$ only how many steps are made."""
)


@gd_as_resnet.right("read off the step at 0 and at unit rows")
def _(A, b, eta, T):
    def add(x):
        return -eta * ((A @ x - b) @ A)

    c = add(np.zeros(A.shape[1]))
    W = [add(unit) - c for unit in np.eye(A.shape[1])]
    return np.tile(W, (T, 1, 1)), np.tile(c, (T, 1))


# ----------------------------------------------------------------------------------- lista_forward


def tensor(array):
    return torch.from_numpy(np.ascontiguousarray(array))


def loop(rng, B, m, n, k):
    """A mixture and k rounds' weights, a little away from ISTA's; thresholds that cut some numbers and leave some."""
    D = away(rng, m, n)
    Vs = 0.4 * D / np.linalg.norm(D, 2) ** 2 * rng.uniform(0.8, 1.6, (k, m, n))
    thetas = rng.uniform(0.02, 0.06, k)
    X = away(rng, B, n) * (np.arange(n) % 2 == 0)
    return dict(D=tensor(D), Vs=tensor(Vs), thetas=tensor(thetas)), tensor(X)


lista_forward = Exercise(
    "lista_forward",
    reference=reference.lista_forward,
    compare=parts(codes=SLOPES, by_Vs=SLOPES, by_thetas=SLOPES, float64=exact()),
    hints=[
        "Keep a list that starts with zeros (B, n). What does round t compute from its newest entry?",
        "Inside the bend stands z = x + (Y − x Dᵀ) V, a row for each measurement. The soft threshold is the sign of z times what is left "
        "of |z| − θ, at least 0.",
        "i = min(t, len(Vs) − 1) for t = 0, 1, …; append z.sign() * torch.relu(z.abs() − thetas[i]); torch.stack at the end.",
    ],
)


@lista_forward.probe
def _(answer, Y, D, Vs, thetas, T):
    leaves = [a.clone().requires_grad_(True) for a in (Vs, thetas)]
    codes = answer(Y, D, *leaves, T)
    slopes = torch.autograd.grad((codes**2).sum(), leaves, materialize_grads=True)
    return {
        "codes": codes.detach(),
        "by_Vs": slopes[0],
        "by_thetas": slopes[1],
        "float64": [float(codes.dtype == torch.float64)],
    }


@lista_forward.cases
def _(rng):
    def case(B, m, n, k, T):
        weights, X = loop(rng, B, m, n, k)
        return weights | dict(Y=X @ weights["D"].T, T=T)

    yield "weights of its own in each round", case(3, 2, 4, 3, 3)
    yield "weights of its own in each round", case(2, 3, 5, 2, 2)
    yield "one pair for all rounds", case(2, 3, 4, 1, 4)
    yield "more rounds than weights", case(2, 3, 4, 2, 4)
    yield "fewer rounds than weights", case(2, 2, 3, 3, 1)
    yield "as many rows as measured and hidden numbers", case(3, 3, 3, 2, 2)
    one, X = loop(rng, 1, 1, 1, 1)
    yield "one number", one | dict(Y=-X.abs() @ one["D"].T, T=2)


lista_forward.mistakes(
    {
        "the stream is replaced": (
            "xs[-1] + (Y",
            "(Y",
            "A round adds to the row before. Where is it?",
        ),
        "what is explained already is corrected again": (
            "Y - xs[-1] @ D.T",
            "Y",
            "What of the measurement does the newest row not explain yet?",
        ),
        "no threshold": (
            "z.sign() * torch.relu(z.abs() - thetas[i])",
            "z",
            "After the correction each number is moved towards 0.",
        ),
        "a hard threshold": (
            "z.sign() * torch.relu(z.abs() - thetas[i])",
            "z * (z.abs() > thetas[i])",
            "What survives is moved, too, by θ.",
        ),
        "negative numbers vanish": (
            "z.sign() * torch.relu(z.abs() - thetas[i])",
            "torch.relu(z - thetas[i])",
            "Hidden numbers have both signs.",
        ),
        "theta is made a number": (
            "z.abs() - thetas[i]",
            "z.abs() - thetas[i].item()",
            "Slopes must reach the thresholds, too. What does item() cut off?",
        ),
        "the first weights in all rounds": (
            "min(t, len(Vs) - 1)",
            "0",
            "Round t has weights of its own.",
        ),
        "the last weights in all rounds": (
            "min(t, len(Vs) - 1)",
            "len(Vs) - 1",
            "Round t has weights of its own.",
        ),
        "around in a circle": (
            "min(t, len(Vs) - 1)",
            "t % len(Vs)",
            "Where there are fewer weights than rounds, which are used again?",
        ),
        "only the end": (
            "torch.stack(xs)",
            "xs[-1]",
            "All rounds are asked, and x_0.",
        ),
    }
)

lista_forward.worked(
    why=r"""Every round asks what is still unexplained, $y - xD^\top$, sends it back through $V$, adds it to the row so far and lets the threshold clear away what is too
    small to be real. With $V = \eta D$, $\theta = \eta\lambda$ it is ISTA to the digit. Since each operation has a slope, torch can carry errors from any round back to the weights of the first, and
    the part $x_{t-1} + \dots$ is the stream on which they travel."""
)


@lista_forward.right("the threshold as two relus, rounds into one list")
def _(Y, D, Vs, thetas, T):
    x = Y @ D * 0
    out = [x]
    for t in range(T):
        V, theta = (Vs[t], thetas[t]) if t < len(Vs) else (Vs[-1], thetas[-1])
        z = x + Y @ V - x @ (D.T @ V)
        x = torch.relu(z - theta) - torch.relu(-z - theta)
        out = [*out, x]
    return torch.stack(out)


@lista_forward.right("with torch's threshold", library="torch.nn.functional.softshrink")
def _(Y, D, Vs, thetas, T):
    xs = [Y.new_zeros(len(Y), D.shape[1])]
    for t in range(T):
        i = min(t, len(Vs) - 1)
        z = xs[-1] + torch.nn.functional.linear(Y - xs[-1] @ D.T, Vs[i].T)
        # its threshold is a plain number: scaled, so that slopes reach theta
        xs.append(thetas[i] * torch.nn.functional.softshrink(z / thetas[i], 1.0))
    return torch.stack(xs)


# ------------------------------------------------------------------------------------- train_lista

train_lista = Exercise(
    "train_lista",
    reference=reference.train_lista,
    # Adam divides a slope by its own size: where a slope is near 0, digits are lost
    compare=parts(
        Vs=close(rtol=1e-5, atol=1e-6),
        thetas=close(rtol=1e-5, atol=1e-6),
        losses=SLOPES,
        attached=exact(),
        tensors=exact(),
    ),
    hints=[
        "Copies of Vs and thetas that want slopes; Adam on both; then for each batch: loss, slopes, step.",
        "Y = X @ D.T goes in. lista_forward gives x_0, too: the errors are those of the rounds behind it. e_t is the sum of squares over the "
        "n numbers, its mean over the rows.",
        "errors = ((xs[1:] − X)**2).sum(2).mean(1); loss = (weights * errors).sum(). adam.zero_grad(), loss.backward(), adam.step(), and "
        "keep loss.item(). Vs.clone().requires_grad_() leaves the given one alone.",
    ],
)


@train_lista.probe
def _(answer, D, Vs, thetas, batches, lr, weights):
    Vs, thetas, losses = answer(D, Vs, thetas, batches, lr, weights)
    return {
        "Vs": Vs.detach(),
        "thetas": thetas.detach(),
        "losses": [float(loss) for loss in losses],
        "attached": [float(Vs.requires_grad), float(thetas.requires_grad)],
        "tensors": [float(any(torch.is_tensor(loss) for loss in losses))],
    }


@train_lista.cases
def _(rng):
    def case(m, n, k, weights, sizes=(3, 3, 3), lr=0.005):
        given, _ = loop(rng, 1, m, n, k)
        batches = [tensor(away(rng, B, n) * (rng.random((B, n)) < 0.8)) for B in sizes]
        return given | dict(batches=batches, lr=lr, weights=tensor(np.array(weights)))

    yield "every round counts", case(3, 4, 3, [0.2, 0.3, 0.5])
    yield "every round counts", case(2, 3, 2, [0.6, 0.9])
    yield "only the last round counts", case(3, 4, 2, [0.0, 1.0])
    yield "shared weights", case(3, 4, 1, [0.5, 0.5, 1.0])
    yield "batches of many sizes", case(2, 3, 2, [1.0, 1.0], sizes=(1, 4, 2), lr=0.01)
    yield "one batch", case(2, 3, 1, [1.0], sizes=(2,))
    small = case(2, 3, 2, [1.0, 1.0], sizes=(3,), lr=0.001)
    yield "tiny thresholds", small | dict(thetas=small["thetas"] / 10)


train_lista.mistakes(
    {
        "the graph is handed on": (
            "Vs.detach(), thetas.detach()",
            "Vs, thetas",
            "Whoever uses the weights next need not carry their slopes. Which method cuts them off?",
        ),
        "losses are tensors": (
            "loss.item()",
            "loss.detach()",
            "A loss is asked as a number. Which method makes one of a tensor?",
        ),
        "slopes are never cleared": (
            "adam.zero_grad()",
            "pass",
            "backward adds to the slopes that are there. Whose are they?",
        ),
        "no update": ("adam.step()", "pass", "Who changes the weights?"),
        "rounds are weighted alike": (
            "(weights * errors).sum()",
            "errors.mean()",
            "What are the weights for?",
        ),
        "only the last round": (
            "(weights * errors).sum()",
            "weights[-1] * errors[-1]",
            "Every round is in the loss, with its weight.",
        ),
        "a mean over all numbers": (
            ".sum(2).mean(1)",
            ".mean((1, 2))",
            "e_t sums over the n numbers of a row; the mean goes over the rows.",
        ),
        "a sum over the rows": (
            ".sum(2).mean(1)",
            ".sum((1, 2))",
            "e_t is a mean over the rows.",
        ),
        "x_0 is judged, the last round not": (
            "xs[1:] - X",
            "xs[:-1] - X",
            "Round 1 is entry 1 of what lista_forward returns.",
        ),
        "theta is not trained": (
            "[Vs, thetas], lr",
            "[Vs], lr",
            "Both Vs and thetas are learned.",
        ),
        "plain gradient descent": (
            "torch.optim.Adam([Vs, thetas], lr)",
            "torch.optim.SGD([Vs, thetas], lr)",
            "Which optimiser is asked?",
        ),
        "Adam forgets": (
            "    for X in batches:\n",
            "    for X in batches:\n        adam = torch.optim.Adam([Vs, thetas], lr)\n",
            "Adam keeps averages from batch to batch. When is it made?",
        ),
    }
)

train_lista.worked(
    why=r"""It is the training loop of any network: run, judge, clear, go back, step. What is trained is an *algorithm*, and its data cost nothing: draw the answer,
    measure it, ask for it back. Because all rounds are in one graph, the error of the last reaches the weights of the first. Weights on every round let errors enter the stream everywhere; on
    the last only, all of it has to travel."""
)


@train_lista.right("with lists of leaves, and slopes asked for")
def _(D, Vs, thetas, batches, lr, weights):
    leaves = [a.detach().clone().requires_grad_(True) for a in (Vs, thetas)]
    adam = torch.optim.Adam(leaves, lr=lr)
    losses = []
    for X in batches:
        found = reference.rounds(X @ D.T, D, *leaves, len(weights))
        loss = 0
        for w, x in zip(weights, found[1:]):
            loss = loss + w * (x - X).square().sum() / len(X)
        for leaf, slope in zip(leaves, torch.autograd.grad(loss, leaves)):
            leaf.grad = slope
        adam.step()
        losses.append(float(loss))
    return leaves[0].detach(), leaves[1].detach(), losses


# ------------------------------------------------------------------------------- scalar_skip_grads

scalar_skip_grads = Exercise(
    "scalar_skip_grads",
    reference=reference.scalar_skip_grads,
    compare=SLOPES,
    hints=[
        "Forward first: h1, p, h2, the error of each pair. Then walk back: what is the slope by h2, and by h1?",
        "The slope by h2 is 2 (ŷ − y) w2 / N. h1 reaches h2 on two paths: through w1 and the bend, p (1 − p) w1, and directly, times skip.",
        "by w2: error h2. By w1: error w2 p (1 − p) h1. By w0: error w2 (p (1 − p) w1 + skip) h1 (1 − h1) x, with error = 2 (ŷ − y) / N. "
        "Each is a sum over the pairs.",
    ],
)


@scalar_skip_grads.cases
def _(rng):
    def case(N, skip, **changes):
        w0, w1, w2 = (float(v) for v in away(rng, 3))
        return (
            dict(w0=w0, w1=w1, w2=w2, x=away(rng, N), y=away(rng, N), skip=skip)
            | changes
        )

    yield "with the skip", case(4, 1.0)
    yield "with the skip", case(3, 1.0)
    yield "without", case(3, 0.0)
    yield "a skip of another strength", case(3, -0.5)
    yield "a skip of another strength", case(3, 1.5)
    yield "one pair", case(1, 1.0)
    yield "w1 is 0: only the skip is left", case(3, 1.0, w1=0.0)


scalar_skip_grads.mistakes(
    {
        "the slope of the bend at h2": (
            "(p * (1 - p) * w1 + skip)",
            "(h2 * (1 - h2) * w1 + skip)",
            "φ' is φ(1 − φ) of the bend's own output. Is that h2?",
        ),
        "no bend by w1": (
            "error * w2 * p * (1 - p) * h1",
            "error * w2 * h1",
            "Between w1 and p stands φ.",
        ),
        "w1 multiplies nothing": (
            "error * w2 * p * (1 - p) * h1",
            "error * w2 * p * (1 - p)",
            "What does w1 multiply?",
        ),
        "the slope by w0 takes the skip for 1": (
            "* w1 + skip)",
            "* w1 + 1)",
            "The direct path has the strength skip.",
        ),
        "one path only": (
            "(p * (1 - p) * w1 + skip)",
            "(p * (1 - p) * w1)",
            "On how many paths does h1 reach h2?",
        ),
        "a sum over the pairs": (
            " / len(x)",
            "",
            "The loss is a mean.",
        ),
        "w0 does not know x": (
            "h1 * (1 - h1) * x",
            "h1 * (1 - h1)",
            "What does w0 multiply?",
        ),
        "w2 first": (
            "[by_w0.sum(), by_w1.sum(), (error * h2).sum()]",
            "[(error * h2).sum(), by_w1.sum(), by_w0.sum()]",
            "In which order are the slopes asked?",
        ),
    }
)

scalar_skip_grads.worked(
    why=r"""The skip adds one path, from $h_1$ straight to $h_2$. So the slope by $w_0$ gets a new term; that by $w_2$ has the larger $h_2$ in it; that by $w_1$ keeps its form,
    and hears of the skip only through the error. The new term's factor is skip itself, with no bend in between, and it is there
    even where $w_1$ or $\varphi'$ is 0. The slope of the bend is asked at its own output $p$, for $h_2$ is $p$ plus something."""
)


@scalar_skip_grads.right("pair by pair, with both paths apart")
def _(w0, w1, w2, x, y, skip):
    total = np.zeros(3)
    for a, b in zip(x, y):
        h1 = 1 / (1 + np.exp(-w0 * a))
        p = 1 / (1 + np.exp(-w1 * h1))
        e = 2 * (w2 * (p + skip * h1) - b)
        through, past = p * (1 - p) * w1, skip
        to_h1 = h1 * (1 - h1) * a
        total[0] += e * w2 * through * to_h1 + e * w2 * past * to_h1
        total[1] += e * w2 * p * (1 - p) * h1
        total[2] += e * (p + skip * h1)
    return list(total / len(x))


# ---------------------------------------------------------------------------------------- assembly

assembly = Exercise(
    "assembly",
    reference=reference.assembly,
    compare=SLOPES,
    hints=[
        "What a block adds to the stream is a difference of neighbours. What does U make of it?",
        "np.diff along the first axis, with h_0 itself in front. The score of the right answer is the product with that column of U, "
        "U.T[targets] (B, d). For `without`, call resmlp_grads with one block less.",
        "parts = (added * U.T[targets]).sum(2). For each t take rest = np.arange(T) != t and the loss of resmlp_grads with Ws[rest], bs[rest].",
    ],
)


@assembly.cases
def _(rng):
    def case(B, K, d, T):
        ids = words(rng, B, K)
        targets = (ids + 1 + np.arange(B)) % K
        return net(rng, K, d, T) | dict(ids=ids, targets=targets)

    yield "a few blocks", case(3, 4, 2, 3)
    yield "a few blocks", case(2, 5, 3, 4)
    yield "as many words as numbers", case(3, 3, 3, 2)
    yield "one block", case(2, 3, 2, 1)
    yield "one word", case(1, 4, 2, 2)


assembly.mistakes(
    {
        "whole scores in place of additions": (
            "np.diff(hs, axis=0, prepend=0)",
            "hs",
            "What does a block add to what was there?",
        ),
        "h₀ is left out": (
            "np.diff(hs, axis=0, prepend=0)",
            "np.diff(hs, axis=0, prepend=hs[:1])",
            "The first part is what h_0 itself contributes.",
        ),
        "the score of the word itself": (
            "U.T[targets]",
            "U.T[ids]",
            "Whose score is asked?",
        ),
        "the loss with that block only": (
            "np.arange(len(Ws)) != t",
            "np.arange(len(Ws)) == t",
            "Block t is left out, all others stay.",
        ),
        "all later blocks are left out": (
            "np.arange(len(Ws)) != t",
            "np.arange(len(Ws)) < t",
            "Only block t is left out.",
        ),
        "the other way round": (
            "np.arange(len(Ws)) != t",
            "np.arange(len(Ws)) != len(Ws) - 1 - t",
            "without[0] is the loss without the first block.",
        ),
    }
)

assembly.worked(
    why=r"""The stream is $h_0$ plus all additions, and scores are linear in it, so each score is a sum with one part for each. That is an account, not yet a cause: a later block reads what an
    earlier one wrote. Leaving a block out asks for the cause: the others run on without it, and as the stream has a default, they mostly cope."""
)


@assembly.right("scores after each block, and blocks of zeros")
def _(ids, targets, E, Ws, bs, U):
    def scores(keep):
        h = E[ids]
        out = [h @ U]
        for W, b, k in zip(Ws, bs, keep):
            h = h + k * np.tanh(h @ W + b)
            out.append(h @ U)
        return np.array(out)

    rows, T = np.arange(len(ids)), len(Ws)
    right = scores(np.ones(T))[:, rows, targets]
    losses = []
    for t in range(T):
        s = scores(1 - np.eye(T)[t])[-1]
        losses.append(np.mean(np.log(np.exp(s).sum(1)) - s[rows, targets]))
    return np.concatenate([right[:1], right[1:] - right[:-1]]), losses

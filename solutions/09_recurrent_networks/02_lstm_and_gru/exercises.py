"""Exercises of 09_recurrent_networks/02_lstm_and_gru."""

import numpy as np
import torch
from scipy.special import softmax

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

SLOPES = close(rtol=1e-6, atol=1e-8)  # sums of a few dozen products in float64


def away(rng, *shape, size=1.0):
    """Of both signs and not near zero: nothing hides behind a small number."""
    signs = np.resize([1.0, -1.0], shape) * rng.choice([-1.0, 1.0])
    return size * signs * rng.uniform(0.5, 1.2, shape)


def gated(rng, B, D, H, blocks):
    """Inputs and weights of a cell, as keywords."""
    return dict(
        x=away(rng, B, D),
        h=away(rng, B, H),
        W=rng.normal(size=(D, blocks * H)),
        U=rng.normal(size=(H, blocks * H)),
        b=rng.normal(size=blocks * H),
    )


# ------------------------------------------------------------------------------------------ stream

stream = Exercise(
    "stream",
    reference=reference.stream,
    compare=SLOPES,
    hints=[
        "Two things grow in one loop: the list of states, and the product of the steps' matrices. What are both before the first step?",
        "Compute g once a step: the new state needs it, and so does the step's matrix, k I + W diag(1 − g²). W * (1 − g**2) multiplies "
        "column j of W by 1 − g_j².",
        "J starts as np.eye(H), and at each step J = J @ (k * np.eye(H) + W * (1 - g**2)), where g = np.tanh(hs[-1] @ W + v).",
    ],
)


@stream.cases
def _(rng):
    def case(T, H, k, **changes):
        V, W, h0 = away(rng, T, H), away(rng, H, H, size=0.7), away(rng, H)
        return dict(V=V, W=W, k=k, h0=h0) | changes

    yield "a stream", case(3, 3, 1)
    yield "a stream", case(2, 4, 1, h0=np.zeros(4))
    yield "a network without one", case(3, 3, 0)
    yield "a stream that leaks", case(4, 2, float(rng.uniform(0.3, 0.8)))
    yield "one step", case(1, 3, -0.5)
    yield "no step", case(0, 3, 0.5)
    yield "one number, and k above 1", case(3, 1, 1.5)
    whole = dict(V=rng.integers(1, 3, (2, 3)), h0=rng.permutation([-2, 1, 2]))
    yield "whole numbers", case(2, 3, 1, **whole)


stream.mistakes(
    {
        "the latest step on the left": (
            "J = J @ (k * np.eye(len(W)) + W * (1 - g**2))",
            "J = (k * np.eye(len(W)) + W * (1 - g**2)) @ J",
            "A nudge of h0 stands on the left of J. Which step meets it first?",
        ),
        "rows for columns": (
            "W * (1 - g**2)",
            "W * (1 - g**2)[:, None]",
            "Number j of g hears all old numbers through column j of W.",
        ),
        "W is turned over in J": (
            "W * (1 - g**2)",
            "W.T * (1 - g**2)",
            "J[i, j]: number j by number i. Which entry of W leads from i to j?",
        ),
        "the slope at the new state": (
            "hs.append(k * hs[-1] + g)",
            "hs.append(k * hs[-1] + g)\n        g = hs[-1]",
            "The slope of tanh is 1 − tanh². Which number is the tanh here?",
        ),
        "k is forgotten in J": (
            "J @ (k * np.eye(len(W)) + W",
            "J @ (W",
            "The old state reaches the new one on two ways.",
        ),
        "the identity without k": (
            "J @ (k * np.eye(len(W)) + W",
            "J @ (np.eye(len(W)) + W",
            "A part k of the old state is kept. What is its slope?",
        ),
        "everything is kept": (
            "hs.append(k * hs[-1] + g)",
            "hs.append(hs[-1] + g)",
            "What does k multiply?",
        ),
        "no slope of tanh": (
            " * (1 - g**2)",
            "",
            "Between W and the stream stands tanh.",
        ),
        "h0 is left out": (
            "np.array(hs), J",
            "np.array(hs[1:]).reshape(-1, len(W)), J",
            "T steps make T + 1 states: h0 is the first.",
        ),
    }
)

stream.worked(
    why=r"""A state is all that a step needs, and one matrix is all that a step does to a small nudge of it: $k$ keeps it, $W$ and the slope
    of tanh send it around. Nudges stand on the left, so the matrices stand in the order of the steps. With $k = 1$ each
    factor is $I$ plus something: the product need not fade."""
)


@stream.right("the product backwards")
def _(V, W, k, h0):
    hs = [h0]
    for v in V:
        hs.append(k * hs[-1] + np.tanh(hs[-1] @ W + v))
    J = np.eye(len(h0))
    for h, v in zip(hs[-2::-1], V[::-1]):
        J = (k * np.eye(len(h0)) + W @ np.diag(1 - np.tanh(h @ W + v) ** 2)) @ J
    return hs, J


@stream.right("slopes by autograd", library="torch.autograd.functional.jacobian")
def _(V, W, k, h0):
    V, W, h0 = (torch.tensor(a).double() for a in (V, W, h0))

    def run(h):
        hs = [h]
        for v in V:
            hs.append(k * hs[-1] + torch.tanh(hs[-1] @ W + v))
        return torch.stack(hs)

    return run(h0), torch.autograd.functional.jacobian(lambda h: run(h)[-1], h0).T


# --------------------------------------------------------------------------------------- lstm_step

lstm_step = Exercise(
    "lstm_step",
    reference=reference.lstm_step,
    compare=SLOPES,
    hints=[
        "All four want the same kind of product: compute a = x W + h U + b once, 4H columns wide, and cut it.",
        "np.split(a, 4, axis=1) cuts the columns into i, f, g, o. Three go through expit, SciPy's logistic function; which one through tanh?",
        "c = f * c + i * g; h = o * np.tanh(c); and the gates as np.array([i, f, g, o]).",
    ],
)


@lstm_step.cases
def _(rng):
    def case(B, D, H, **changes):
        return gated(rng, B, D, H, 4) | dict(c=away(rng, B, H, size=1.5)) | changes

    yield "a batch", case(3, 4, 2)
    yield "a batch", case(2, 3, 3)
    yield "a batch", case(4, 2, 4)
    yield "one row, one unit", case(1, 2, 1)
    yield "from nothing", case(2, 3, 2, h=np.zeros((2, 2)), c=np.zeros((2, 2)))
    # units that overwrite, keep and add; the last one is not shown
    far = [900, -900, 900, -900, 900, 900, 0.5, -0.5, 0.5, 900, 900, -900]
    shut = dict(W=np.zeros((2, 12)), U=np.zeros((3, 12)), b=np.array(far, float))
    yield "gates wide open and shut", case(2, 2, 3, **shut)
    loud = dict(shut, b=np.array([*far[:6], 900, -900, 900, 900, -900, 900], float))
    c = away(rng, 2, 3, size=1e9)  # a gate that is only nearly shut lets some of it by
    yield "gates wide open and shut", case(2, 2, 3, **loud, c=c)


lstm_step.mistakes(
    {
        "f and i change places": (
            "i, f, g, o = np.split",
            "f, i, g, o = np.split",
            "In which order do the blocks stand?",
        ),
        "g and o change places": (
            "i, f, g, o = np.split",
            "i, f, o, g = np.split",
            "In which order do the blocks stand?",
        ),
        "the candidate through σ": (
            "g = np.tanh(g)",
            "g = expit(g)",
            "A candidate may take away, too. Between which numbers does it lie?",
        ),
        "h shows the stream without tanh": (
            "o * np.tanh(c), c",
            "o * c, c",
            "What stands between c and h?",
        ),
        "h shows the old stream": (
            "c = f * c + i * g",
            "old, c = c, f * c + i * g\n    return o * np.tanh(old), c, np.array([i, f, g, o])",
            "h_t shows c_t. Which c is that?",
        ),
        "one gate for both, as in a GRU": (
            "f * c + i * g",
            "f * c + (1 - f) * g",
            "Two gates, one for each term.",
        ),
        "h is not heard": (" + h @ U", "", "Where is the state?"),
        "no bias": ("h @ U + b", "h @ U", "Where is b?"),
        "everything is kept": (
            "f * c + i",
            "c + i",
            "What does the forget gate multiply?",
        ),
        "arguments are clipped": (
            "a = x @ W + h @ U + b",
            "a = np.clip(x @ W + h @ U + b, -20, 20)",
            "How far from 0 is a gate at -20, and what does a large c make of that?",
        ),
    }
)

lstm_step.worked(
    why=r"""Four networks of one layer look at the same input and state, so one product computes them all. Three say *how much*, between 0
    and 1; one says *what*, between −1 and 1. The stream is touched twice only, once times $f$ and once plus $i \odot g$: no
    matrix stands on it. The state is the part of the stream that is shown, to the next step's gates and to the read-out."""
)


@lstm_step.right("unit by unit of blocks")
def _(x, h, c, W, U, b):
    H = len(U)
    a = [
        x @ W[:, n * H : n * H + H] + h @ U[:, n * H : n * H + H] + b[n * H : n * H + H]
        for n in range(4)
    ]
    i, f, o = ((1 + np.tanh(a[n] / 2)) / 2 for n in (0, 1, 3))
    g = np.tanh(a[2])
    return np.tanh(c * f + g * i) * o, c * f + g * i, [i, f, g, o]


@lstm_step.right("by torch's cell", library="torch.nn.LSTMCell")
def _(x, h, c, W, U, b):
    cell = torch.nn.LSTMCell(*(len(W), len(U)), dtype=torch.float64)
    with torch.no_grad():
        for own, given in zip(cell.parameters(), (W.T, U.T, b, 0 * b)):
            own.copy_(torch.tensor(given))
        new_h, new_c = cell(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    a = torch.tensor(x @ W + h @ U + b)  # the cell keeps its gates to itself
    i, f, g, o = a.chunk(4, 1)
    return new_h, new_c, torch.stack([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()])


# ------------------------------------------------------------------------------------- lstm_slopes

lstm_slopes = Exercise(
    "lstm_slopes",
    reference=reference.lstm_slopes,
    compare=parts(loss=SLOPES, grads=SLOPES, messages=SLOPES),
    hints=[
        "Forward with lstm_step; keep of each step what the way back will need: x, the h and c before it, the gates, and the new c. "
        "Then read_out gives the loss, dR, and the first message dh; along the stream, dc begins as 0.",
        "At each step back: first dc += dh * o * (1 − tanh² c_t), that is the message. Then the slopes by the four blocks of a: by i it is "
        "dc * g * i * (1 − i). What are those by f, by g (tanh), and by o, which hears dh alone?",
        "da = np.concatenate of the four, axis=1. dW += x.T @ da; dU += (h before).T @ da; db += da.sum(0). To the step before go "
        "dh = da @ U.T and dc = dc * f. The messages were found from the last to the first: turn them over.",
    ],
)


@lstm_slopes.probe
def _(answer, X, y, W, U, b, R):
    loss, grads, messages = answer(X, y, W, U, b, R)
    return {"loss": loss, "grads": list(grads), "messages": messages}


@lstm_slopes.cases
def _(rng):
    def case(T, B, D, H, K, **changes):
        given = gated(rng, B, D, H, 4)
        del given["x"], given["h"]
        X, y = away(rng, T, B, D), (rng.integers(K) + np.arange(B)) % K
        return given | dict(X=X, y=y, R=away(rng, H, K)) | changes

    yield "several steps", case(4, 2, 3, 2, 3)
    yield "several steps", case(3, 3, 3, 3, 3)
    yield "many rows", case(2, 5, 2, 2, 4)
    yield "one step", case(1, 2, 3, 2, 3)
    yield "one unit", case(3, 1, 1, 1, 2)
    # one row with both answers, so that one is wrong; forget gates open, so that it is told
    long = case(25, 1, 2, 2, 2, b=np.array([-3, -3, 4, 4, 0.5, -0.5, 1, 1]))
    long["W"], long["U"] = 0.3 * long["W"], 0.1 * long["U"]
    loud = dict(X=np.repeat(long["X"], 2, axis=1), y=np.arange(2), R=100 * long["R"])
    yield "many steps and loud slopes", long | loud
    alone = case(4, 2, 2, 2, 2)
    yield "the stream alone: h feeds nothing", alone | dict(U=0 * alone["U"])


lstm_slopes.mistakes(
    {
        "the stream's message stops": (
            "dh, dc = da @ U.T, dc * f",
            "dh, dc = da @ U.T, 0 * dc",
            "What goes back along the stream itself?",
        ),
        "no forget gate on the way back": (
            "dh, dc = da @ U.T, dc * f",
            "dh, dc = da @ U.T, dc",
            "Forward c is multiplied by f. And its message?",
        ),
        "the state's message stops": (
            "dh, dc = da @ U.T, dc * f",
            "dh, dc = 0 * dh, dc * f",
            "The old h went into all four blocks.",
        ),
        "U is not turned over": (
            "da @ U.T",
            "(da @ np.ones_like(U.T) * 0 + np.resize(da @ U.T, dh.shape[::-1]).T)",
            "Each message keeps its row. Forward, h meets U on its right; and on the way back?",
        ),
        "the forget gate hears the new stream": (
            "dc * c * f * (1 - f)",
            "dc * new_c * f * (1 - f)",
            "Which c does f multiply, the one before the step or the one after?",
        ),
        "no slope of σ": (
            "dc * g * i * (1 - i)",
            "dc * g",
            "Between a block of a and its gate stands σ.",
        ),
        "the candidate's slope is that of σ": (
            "dc * i * (1 - g**2)",
            "dc * i * g * (1 - g)",
            "g went through tanh.",
        ),
        "the output gate hears the stream": (
            "dh * np.tanh(new_c) * o * (1 - o)",
            "dc * np.tanh(new_c) * o * (1 - o)",
            "o stands in h only, not in c.",
        ),
        "tanh in h is forgotten": (
            "dh * o * (1 - np.tanh(new_c) ** 2)",
            "dh * o",
            "h = o tanh(c): what does the tanh do to a slope?",
        ),
        "dU with the new state": (
            "dU += h.T @ da",
            "dU += (o * np.tanh(new_c)).T @ da",
            "U multiplies the state before the step.",
        ),
        "messages from the last to the first": (
            "messages[::-1]",
            "messages",
            "messages[0] belongs to the first step.",
        ),
        "only the last step's slopes": (
            "dU += h.T @ da",
            "dU = h.T @ da",
            "All steps share U: their slopes add up.",
        ),
    }
)

lstm_slopes.worked(
    why=r"""The stream's message needs no matrix to go one step back, only a product with $f$: that is the LSTM's whole idea, read backwards.
    All else is the chain rule at one cell: $c_t$ hears $h_t$ and the next stream; each gate's slope is the message at $c_t$
    times what the gate multiplied, times $\sigma(1 - \sigma)$; the output gate hears $h_t$ alone. Put side by side the four
    slopes make `da`, and from there a layer is a layer."""
)


@lstm_slopes.right("slopes by autograd", library="torch.autograd.grad")
def _(X, y, W, U, b, R):
    leaves = [torch.tensor(p, requires_grad=True) for p in (W, U, b, R)]
    h = c = torch.zeros(X.shape[1], len(U)).double()
    cells = []
    for x in torch.tensor(X):
        i, f, g, o = (x @ leaves[0] + h @ leaves[1] + leaves[2]).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        cells.append(c)
    loss = torch.nn.functional.cross_entropy(h @ leaves[3], torch.tensor(y))
    slopes = torch.autograd.grad(loss, leaves + cells)
    return loss.item(), slopes[:4], torch.stack(slopes[4:])


# ---------------------------------------------------------------------------------------- gru_step

gru_step = Exercise(
    "gru_step",
    reference=reference.gru_step,
    compare=SLOPES,
    hints=[
        "The two gates are one product, as in the LSTM: the first 2H columns of W, U and b. Call the last H columns those of the candidate.",
        "r and u come from expit. Before the product: r * h, then times U's last columns. After: h times these columns, then r times that.",
        "new = np.tanh(x @ W[:, 2*H:] + old + b[2*H:]); the state is u * h + (1 - u) * new; the gates are np.array([r, u]).",
    ],
)


@gru_step.cases
def _(rng):
    def case(B, D, H, after, **changes):
        return gated(rng, B, D, H, 3) | dict(reset_after=after) | changes

    yield "reset before the product", case(3, 4, 2, False)
    yield "reset before the product", case(2, 2, 3, False)
    yield "reset after the product", case(3, 3, 2, True)
    yield "reset after the product", case(3, 2, 3, True)
    small = dict(
        W=away(rng, 2, 3, size=0.4), U=away(rng, 1, 3), b=away(rng, 3, size=0.3)
    )
    yield "one row, one unit: both are the same", case(1, 2, 1, False, **small)
    for after in (False, True):  # units that look back, overwrite blindly, and keep
        far = np.array([900, -900, 900, -900, -900, 900, 0.5, -0.5, 0.5])
        shut = dict(W=np.zeros((2, 9)), U=0.5 * rng.normal(size=(3, 9)), b=far)
        yield "gates wide open and shut", case(2, 2, 3, after, **shut)
        loud = dict(shut, U=0 * shut["U"], b=np.array([*far[:6], 900, -900, 900]))
        h = away(rng, 2, 3, size=1e9)
        yield "gates wide open and shut", case(2, 2, 3, after, **loud, h=h)


gru_step.mistakes(
    {
        "r and u change places": (
            "r, u = np.split",
            "u, r = np.split",
            "In which order do the blocks stand?",
        ),
        "the conventions change places": (
            "if reset_after:",
            "if not reset_after:",
            "After what? After the product with U.",
        ),
        "always torch's": ("if reset_after:", "if True:", "Two conventions are asked."),
        "always the paper's": (
            "if reset_after:",
            "if False:",
            "Two conventions are asked.",
        ),
        "u is the other way round": (
            "u * h + (1 - u) * new",
            "(1 - u) * h + u * new",
            "Here u = 1 copies the state.",
        ),
        "the reset gate spares the old state": (
            "old = (r * h) @ U_new",
            "old = h @ U_new",
            "Where does r stand in the first convention?",
        ),
        "r resets the input, too": (
            "x @ W_new + old + b_new",
            "r * (x @ W_new) + old + b_new",
            "r hides the old state, not the input.",
        ),
        "the candidate through σ": (
            "new = np.tanh(",
            "new = expit(",
            "Between which numbers does a candidate lie?",
        ),
        "adds without forgetting": (
            "u * h + (1 - u) * new",
            "h + (1 - u) * new",
            "What is kept, and what is overwritten?",
        ),
        "no bias in the candidate": (" + b_new", "", "Three blocks of b, too."),
    }
)

gru_step.worked(
    why=r"""One gate decides between old and new, $u$ and $1 - u$, so the state is always a mean of both and cannot grow past 1 on its own. $r$
    decides how much the candidate looks at the past at all. Where $r$ multiplies *before* the product, each number of the old
    state is hidden by its own gate; *after* it, each number of the candidate has its gate for all of the past. With one
    unit, or a diagonal $U$, the two agree."""
)


@gru_step.right("three products")
def _(x, h, W, U, b, reset_after):
    H = len(U)
    logistic = lambda a: (1 + np.tanh(a / 2)) / 2  # noqa: E731
    r = logistic(x @ W[:, :H] + h @ U[:, :H] + b[:H])
    u = logistic(x @ W[:, H : 2 * H] + h @ U[:, H : 2 * H] + b[H : 2 * H])
    old = r * (h @ U[:, 2 * H :]) if reset_after else (h * r) @ U[:, 2 * H :]
    new = np.tanh(old + x @ W[:, 2 * H :] + b[2 * H :])
    return new + u * (h - new), [r, u]


# -------------------------------------------------------------------------------------- path_grads

path_grads = Exercise(
    "path_grads",
    reference=reference.path_grads,
    compare=SLOPES,
    hints=[
        "The first path needs no computing. Each of the two in the middle passes one g.",
        "Through g_3 alone: m times 1 − g_3², number by number, then @ W.T. Through g_2 alone the same with g_2.",
        "Through both: a message meets g_3 first. What has passed g_3 goes, in place of m, through g_2.",
    ],
)


@path_grads.cases
def _(rng):
    def case(H, **changes):
        g2, g3 = (np.tanh(away(rng, H)) for _ in range(2))
        return dict(m=away(rng, H), W=away(rng, H, H), g2=g2, g3=g3) | changes

    yield "four paths", case(3)
    yield "four paths", case(4)
    yield "g_2 adds nothing", case(3, g2=np.zeros(3))
    yield "one number", case(1)
    yield "W = 0: only one is open", case(2, W=np.zeros((2, 2)))
    yield "a message of whole numbers", case(3, m=rng.permutation([-2, 1, 3]))


path_grads.mistakes(
    {
        "W is not turned over": (
            "third = (m * (1 - g3**2)) @ W.T",
            "third = (m * (1 - g3**2)) @ W",
            "Forward a state meets W on its right. And a slope on its way back?",
        ),
        "the tanh after W": (
            "third = (m * (1 - g3**2)) @ W.T",
            "third = (m @ W.T) * (1 - g3**2)",
            "On its way back a message meets the tanh first, then W.",
        ),
        "both: the two slopes at once": (
            "both = (third * (1 - g2**2)) @ W.T",
            "both = (m * (1 - g2**2) * (1 - g3**2)) @ W.T @ W.T",
            "Between the two tanh stands a W. Products of this kind do not commute.",
        ),
        "both: g_2 first": (
            "both = (third * (1 - g2**2)) @ W.T",
            "both = (second * (1 - g3**2)) @ W.T",
            "The message comes from h_3. Which g does it meet first?",
        ),
        "g_2 and g_3 change places": (
            "np.array([m, third, second, both])",
            "np.array([m, second, third, both])",
            "In which order are the paths asked?",
        ),
        "no slope of tanh": (
            "second = (m * (1 - g2**2)) @ W.T",
            "second = m @ W.T",
            "On each path through a g stands its tanh.",
        ),
    }
)

path_grads.worked(
    why=r"""A product of two sums, $(I + J_2)(I + J_3)$, has four terms: a path is one choice at each step. Straight on costs nothing, so one
    path of the $2^T$ is never shortened. Each $g$ on the way costs a slope of tanh and a $W$; their order matters, because
    matrices do not commute."""
)


@path_grads.right("by whole matrices")
def _(m, W, g2, g3):
    J2, J3 = W @ np.diag(1 - g2**2), W @ np.diag(1 - g3**2)
    return [m, J3 @ m, J2 @ m, J2 @ J3 @ m]


# -------------------------------------------------------------------------------------- two_layers

two_layers = Exercise(
    "two_layers",
    reference=reference.two_layers,
    compare=SLOPES,
    hints=[
        "Forward as always, with two states; keep all of both. At each step layer 1 comes first: layer 2 reads its new state.",
        "Back: δ of layer 2 is what it hears times 1 − h². At the end it hears m, before that δ₂ of the next step @ W2.T. "
        "What does layer 1 hear of layer 2, and from which step?",
        "delta1[t] = (delta2[t] @ A.T + what came from its own next step) * (1 − low[t]²). Then, for the step before: "
        "m = delta2[t] @ W2.T and down = delta1[t] @ W1.T.",
    ],
)


@two_layers.cases
def _(rng):
    def case(T, H1, H2, **changes):
        shapes = dict(
            V=(T, H1), W1=(H1, H1), A=(H1, H2), W2=(H2, H2), b2=(H2,), m=(H2,)
        )
        return {
            name: away(rng, *shape, size=0.8) for name, shape in shapes.items()
        } | changes

    yield "layers of two sizes", case(3, 3, 2)
    yield "layers of two sizes", case(4, 2, 3)
    yield "layers of one size", case(3, 3, 3)
    yield "one step", case(1, 2, 3)
    quiet = dict(V=away(rng, 10, 2, size=0.3), b2=away(rng, 2, size=0.2))
    quiet["W2"] = away(
        rng, 2, 2, size=0.5
    )  # no state is near 1, where slopes are small
    loud = dict(A=away(rng, 2, 2, size=0.4), m=away(rng, 2, size=100.0))
    yield "many steps and loud slopes", case(10, 2, 2, **quiet, **loud)
    yield "layer 2 has no memory", case(3, 2, 2, W2=np.zeros((2, 2)))
    yield "layer 1 has no memory", case(3, 2, 2, W1=np.zeros((2, 2)))


two_layers.mistakes(
    {
        "layer 2 reads the old state of layer 1": (
            "        h1 = np.tanh(h1 @ W1 + v)\n        h2 = np.tanh(h2 @ W2 + h1 @ A + b2)",
            "        h2 = np.tanh(h2 @ W2 + h1 @ A + b2)\n        h1 = np.tanh(h1 @ W1 + v)",
            "Layer 2 reads layer 1 of the same step.",
        ),
        "layer 1 does not hear its own next step": (
            "(delta2[t] @ A.T + down)",
            "(delta2[t] @ A.T)",
            "Layer 1 has two listeners. Which?",
        ),
        "layer 1 does not hear layer 2": (
            "(delta2[t] @ A.T + down)",
            "down",
            "Layer 1 has two listeners. Which?",
        ),
        "slopes by the states": (
            "delta2[t] = m * (1 - high[t] ** 2)",
            "delta2[t] = m",
            "δ is the slope by what went into tanh.",
        ),
        "m at every step": (
            "m, down = delta2[t] @ W2.T, delta1[t] @ W1.T",
            "m, down = m + delta2[t] @ W2.T, delta1[t] @ W1.T",
            "Only the last state is asked.",
        ),
        "layer 2's message stops": (
            "m, down = delta2[t] @ W2.T, delta1[t] @ W1.T",
            "m, down = 0 * m, delta1[t] @ W1.T",
            "Layer 2 hears its own next step, too.",
        ),
        "no bias": (" + b2", "", "Where is b2?"),
        "the deltas change places": (
            "low, high, delta1, delta2",
            "low, high, delta2, delta1",
            "Layer 1 first, in states and in δ.",
        ),
    }
)

two_layers.worked(
    why=r"""The net of states is a grid: time to the right, layers upwards. Each node hears those that read it, one to the right and one above,
    so the way back visits the grid in the opposite order: at each step the upper layer first. Nothing can be done for all
    steps at once, since each needs the one behind it."""
)


@two_layers.right("slopes by autograd", library="torch.autograd.grad")
def _(V, W1, A, W2, b2, m):
    V, W1, A, W2, b2, m = (torch.tensor(p) for p in (V, W1, A, W2, b2, m))
    h1, h2, into = torch.zeros(len(W1)).double(), torch.zeros(len(W2)).double(), []
    for v in V:
        a1 = (h1 @ W1 + v).requires_grad_(True)
        h1 = torch.tanh(a1)
        a2 = (h2 @ W2 + h1 @ A + b2).requires_grad_(True)
        h2 = torch.tanh(a2)
        into += [a1, a2]
    slopes = torch.autograd.grad(h2 @ m, into)
    lows, highs = torch.stack(into[::2]).tanh(), torch.stack(into[1::2]).tanh()
    return (
        lows.detach(),
        highs.detach(),
        torch.stack(slopes[::2]),
        torch.stack(slopes[1::2]),
    )


# ---------------------------------------------------------------------------------------- generate

generate = Exercise(
    "generate",
    reference=reference.generate,
    data_dependent="the symbol that is drawn is read next",
    compare=parts(text=exact(), states=SLOPES),
    hints=[
        "Two states and a symbol are all that the loop carries. Each draw makes one symbol.",
        "In each turn: read x with both layers, p = softmax of h2 @ R, np.cumsum(p). Which is its first entry above the draw?",
        "np.argmax(np.cumsum(p) > draw) is the index of the first True. Write it down; it is the next x.",
    ],
)


@generate.probe
def _(answer, E, W1, A, W2, b2, R, k, x, draws):
    text, h1, h2 = answer(E, W1, A, W2, b2, R, k, x, draws)
    return {"text": np.array(text, dtype=int), "states": [h1, h2]}


@generate.cases
def _(rng):
    def case(n, K=4, k=0.0, loud=1.0, H=3, **changes):
        shapes = dict(E=(K, H), W1=(H, H), A=(H, 2), W2=(2, 2), b2=(2,))
        given = {name: rng.normal(size=shape) for name, shape in shapes.items()}
        given["R"] = loud * rng.normal(size=(2, K))
        # draws in order through (0, 1), shuffled: all symbols are written
        draws = rng.permutation((np.arange(n) + rng.uniform(0.2, 0.8, n)) / max(n, 1))
        return given | dict(k=k, x=int(rng.integers(K)), draws=draws) | changes

    yield "two layers", case(20)
    yield "two layers", case(20, K=5)
    yield "layers of one size", case(20, H=2)
    yield "two streams", case(20, k=1.0, loud=0.1)
    yield "streams that leak", case(20, k=0.6, loud=0.5)
    even = dict(R=np.zeros((2, 4)), draws=rng.permutation([0.25, 0.5, 0.0, 0.4996]))
    yield "a draw on the edge", case(4, k=-0.5, **even)
    thirds = np.array([1 / 3, 1 / 3, 2 / 3, 2 / 3]) + [-1e-5, 1e-5, -1e-5, 1e-5]
    thirds = dict(R=np.zeros((2, 3)), draws=rng.permutation(thirds))
    yield "a draw on the edge", case(4, K=3, **thirds)
    # h2 is near 1, and 3 the next symbol by far: exp of its score is beyond all numbers
    loud = np.abs(away(rng, 2, 4, size=900.0)) * [-1, 0.3, -1, 1]
    near = dict(A=away(rng, 3, 2, size=0.2), W2=away(rng, 2, 2, size=0.2))
    near["b2"] = np.array([3.0, 3.0])
    yield "loud scores", case(4, x=0, R=loud, **near)
    # two that are near each other: 0.62 and 0.38 of all
    high = np.array([[1250, 1249.5, -1250, -1250], [1250, 1250, -1250, -1250]])
    draws = rng.permutation([0.2, 0.58, 0.7, 0.9])
    yield "loud scores", case(4, R=high, draws=draws, **near)
    low = np.array(
        [[-1249.0, -1250, -1251, -1250], [-1250] * 4]
    )  # 0.53, 0.20, 0.07, 0.20
    draws = rng.permutation([0.4, 0.63, 0.77, 0.9])
    yield "loud scores", case(4, R=low, draws=draws, **near)
    rare = np.array([[-4.5, 0, 0, -4.5]] * 2)  # the outer ones: 1 of 16,000 times each
    draws = rng.permutation([3e-5, 0.3, 0.7, 1 - 3e-5])
    yield "what hardly ever comes", case(4, R=rare, draws=draws, **near)
    yield "nothing to write", case(0)
    yield "one symbol, and k above 1", case(3, K=1, k=1.5)


generate.mistakes(
    {
        "the likeliest every time": (
            "np.argmax(np.cumsum(softmax(h2 @ R)) > draw)",
            "np.argmax(h2 @ R)",
            "What are the draws for?",
        ),
        "the first symbol is read again and again": (
            "x = np.argmax(np.cumsum(softmax(h2 @ R)) > draw)\n        written.append(x)",
            "written.append(np.argmax(np.cumsum(softmax(h2 @ R)) > draw))",
            "What is read next is what was written.",
        ),
        "the last one below the draw": (
            "np.argmax(np.cumsum(softmax(h2 @ R)) > draw)",
            "max(np.sum(np.cumsum(softmax(h2 @ R)) <= draw) - 1, 0)",
            "The first one above the draw is asked.",
        ),
        "only layer 2 is a stream": (
            "h1 = k * h1 + np.tanh",
            "h1 = np.tanh",
            "Both layers have a k in front of their old state.",
        ),
        "only layer 1 is a stream": (
            "h2 = k * h2 + np.tanh",
            "h2 = np.tanh",
            "Both layers have a k in front of their old state.",
        ),
        "no memory in layer 2": (
            "h2 @ W2 + h1",
            "h1",
            "The old state of layer 2 counts, too.",
        ),
        "the first symbol is written, too": (
            "return written, h1, h2",
            "return [0, *written][: len(written)], h1, h2",
            "n symbols are asked, those drawn.",
        ),
    }
)

generate.worked(
    why=r"""All that the past tells the future stands in the newest states, so the rest may go. Writing costs the same for each symbol, however
    long the text. The draw falls into one of $K$ pieces of $[0, 1)$, as long as the symbols' probabilities: cumulative sums are
    the pieces' ends."""
)


@generate.right("by searching the sums")
def _(E, W1, A, W2, b2, R, k, x, draws):
    h1, h2, text = np.zeros(len(W1)), np.zeros(len(W2)), []
    for draw in draws:
        h1 = k * h1 + np.tanh(E[x] + h1 @ W1)
        h2 = k * h2 + np.tanh(h1 @ A + b2 + h2 @ W2)
        ends = softmax(h2 @ R).cumsum()
        x = int(np.searchsorted(ends, draw, side="right"))
        text.append(x)
    return np.array(text, dtype=int), h1, h2

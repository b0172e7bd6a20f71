"""Exercises of 09_recurrent_networks/01_rnn_and_bptt."""

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

SLOPES = close(rtol=1e-6, atol=1e-8)  # sums of a few dozen products in float64


def away(rng, *shape, size=1.0):
    """Of both signs and not near zero: nothing hides behind a small number."""
    signs = np.resize([1.0, -1.0], shape) * rng.choice([-1.0, 1.0])
    return size * signs * rng.uniform(0.5, 1.2, shape)


def net(rng, K, H, size=0.8):
    """Weights of a small network, as keywords."""
    shapes = dict(E=(K, H), W=(H, H), b=(H,), R=(H, K))
    return {name: size * rng.normal(size=shape) for name, shape in shapes.items()}


def text(rng, B, T, K):
    """Symbols (B, T). The first two rows are the same: a column holds one twice. No row is its own mirror image."""
    ids = rng.integers(K, size=(B, T))
    if T > 1:
        ids[:, -1] = (ids[:, 0] + 1) % K
    ids[1:2] = ids[:1]
    return ids


# --------------------------------------------------------------------------------------- lag_terms

lag_terms = Exercise(
    "lag_terms",
    reference=reference.lag_terms,
    compare=SLOPES,
    hints=[
        "Which numbers of the forward pass does the way back need? Keep them in two lists.",
        "Behind the loop stand all a_t and all h_t, h_0 included. What arrives at h_T is the slope of the loss by it, 2 (w2 h_T − y) w2. "
        "Times φ'(a_T) it is δ_T. Which two numbers does that one multiply? And what arrives at h_{T−1}?",
        "for j in reversed(range(T)): delta = arrives * slope(a[j]); the row is delta * x[j], delta * h[j], where h[0] is h_0; "
        "then arrives = delta * w1.",
    ],
)


@lag_terms.probe
def _(answer, x, y, w0, w1, w2, act):
    phi, slope = {
        "identity": (lambda a: a, lambda a: 1.0),
        "tanh": (np.tanh, lambda a: 1 - np.tanh(a) ** 2),
        "square": (lambda a: a * a, lambda a: 2 * a),
        "relu": (lambda a: max(a, 0.0), lambda a: float(a > 0)),
    }[act]
    return answer(x, y, w0, w1, w2, phi, slope)


@lag_terms.cases
def _(rng):
    def case(T, act, **changes):
        w0, w1, w2, y = (float(v) for v in away(rng, 4))
        return dict(x=away(rng, T), y=y, w0=w0, w1=w1, w2=w2, act=act) | changes

    yield "tanh, a few steps", case(4, "tanh")
    yield "tanh, a few steps", case(6, "tanh", w1=float(rng.uniform(1.2, 1.5)))
    yield "no activation: powers of w1", case(5, "identity")
    yield (
        "no activation: powers of w1",
        case(3, "identity", w1=float(rng.uniform(-2, -1.5))),
    )
    yield "another activation", case(3, "square")
    # the first unit is dead, all others are alive
    w0, w1 = (float(v) for v in rng.uniform(0.5, 1.2, 2))
    dead = dict(x=away(rng, 3) ** 2 * [-1, 1, 1], w0=w0, w1=w1)
    yield "nothing comes back through a dead unit", case(3, "relu", **dead)
    yield "one step", case(1, "tanh")


lag_terms.mistakes(
    {
        "the powers of w1 are missing": (
            "arrives = delta * w1",
            "arrives = delta",
            "On its way to the step before, what does a slope pass, beside the activation?",
        ),
        "no slope of the activation": (
            "arrives * slope(a[j])",
            "arrives",
            "Between h_j and a_j stands φ. What does it multiply a slope by?",
        ),
        "the slope is asked at the state": (
            "slope(a[j])",
            "slope(h[j + 1])",
            "φ' wants a_t, what went into φ, not what came out.",
        ),
        "the newest state in place of the one before": (
            "delta * h[j]",
            "delta * h[j + 1]",
            "In a_j, which state does w1 multiply?",
        ),
        "w2 is forgotten": (
            "2 * (w2 * h[-1] - y) * w2",
            "2 * (w2 * h[-1] - y)",
            "What arrives is the slope by h_T, not by the output.",
        ),
        "half of the loss": (
            "2 * (w2 * h[-1] - y) * w2",
            "(w2 * h[-1] - y) * w2",
            "The loss is the square, without a ½.",
        ),
        "every step hears all": (
            "arrives = delta * w1",
            "pass",
            "What arrives at the step before? Follow one slope all the way back.",
        ),
        "the newest first": (
            "terms[j] =",
            "terms[len(x) - 1 - j] =",
            "Row j belongs to step j. Which row is that of the last step?",
        ),
        "w1 comes first": (
            "delta * x[j], delta * h[j]",
            "delta * h[j], delta * x[j]",
            "Column 0 is for w0, which multiplies the inputs.",
        ),
        "w0 carries back": (
            "delta * w1",
            "delta * w0",
            "Which weight leads from state to state?",
        ),
    }
)

lag_terms.worked(
    why=r"""All steps use the same two weights, and each use has one path to the loss. Its slope is $\delta_j$ times what the weight
    multiplies there: $x_j$ or $h_{j-1}$. No product is computed anew, since $\delta_{j-1} = \delta_j w_1 \varphi'(a_{j-1})$:
    one walk back gives all terms, for the price of one walk forward. That walk must be kept: $a_j$ and $h_{j-1}$ are
    needed again."""
)


@lag_terms.right("each product anew")
def _(x, y, w0, w1, w2, phi, slope):
    T, a, h = len(x), [], [0.0]
    for t in range(T):
        a.append(w0 * x[t] + w1 * h[t])
        h.append(phi(a[t]))
    out = 2 * (w2 * h[T] - y) * w2
    deltas = [
        out * w1 ** (T - 1 - j) * np.prod([slope(v) for v in a[j:]]) for j in range(T)
    ]
    return [[d * v, d * before] for d, v, before in zip(deltas, x, h)]


# ------------------------------------------------------------------------------------- rnn_forward

rnn_forward = Exercise(
    "rnn_forward",
    reference=reference.rnn_forward,
    compare=SLOPES,
    hints=[
        "What must be known before the next state can be computed? Keep a list that starts with h0.",
        "Column t of ids holds the symbols of all rows at one time. E[column] are their rows of E: (B, H).",
        "for column in ids.T: append np.tanh(hs[-1] @ W + E[column] + b). At the end make an array of the list.",
    ],
)


@rnn_forward.cases
def _(rng):
    def case(B, T, K, H, **changes):
        given = net(rng, K, H)
        del given["R"]
        start = dict(ids=text(rng, B, T, K), h0=away(rng, B, H))
        return given | start | changes

    yield "several rows", case(3, 4, 5, 2)
    yield "several rows", case(2, 5, 3, 4)
    yield "as many rows as steps and units", case(3, 3, 4, 3)
    yield "from a state of 0", case(2, 3, 3, 3, h0=np.zeros((2, 3)))
    yield "no symbol at all", case(2, 0, 3, 2)
    yield "one unit, one symbol", case(1, 1, 2, 1)


rnn_forward.mistakes(
    {
        "W is turned over": (
            "@ W",
            "@ W.T",
            "A row of states stands on the left of W. Compare with the formula.",
        ),
        "the state is forgotten": (
            "hs[-1] @ W + ",
            "",
            "Then the order of the symbols would not matter. Where is the last state?",
        ),
        "always from h0": (
            "hs[-1] @ W",
            "h0 @ W",
            "The state runs on: what does step 2 start from?",
        ),
        "no tanh": ("np.tanh(", "(", "What keeps a state between −1 and 1?"),
        "no bias": (" + b", "", "Where is b?"),
        "h0 is left out": (
            "np.array(hs)",
            "np.array(hs[1:]).reshape(-1, *h0.shape)",
            "T symbols make T + 1 states: h0 is the first.",
        ),
        "from the last symbol to the first": (
            "ids.T",
            "ids.T[::-1]",
            "In which order is a text read?",
        ),
        "rows for columns": (
            "for column in ids.T",
            "for column in np.resize(ids, ids.shape[::-1])",
            "ids[i] is one sequence. Which symbols are read at the same time?",
        ),
        "only the last state": (
            "return np.array(hs)",
            "return hs[-1]",
            "All states are asked, T + 1 of them.",
        ),
    }
)

rnn_forward.worked(
    why=r"""The list of states is the memory and the loop: each new one needs the newest and the next symbol, nothing else. A one-hot
    row times $E$ picks a row of $E$, so `E[column]` does that product without a multiplication, for all sequences at once.
    Only the loop over time remains. It cannot be avoided: the next step needs the result of this one."""
)


@rnn_forward.right("into one array, with one-hot rows")
def _(ids, E, W, b, h0):
    B, T = ids.shape
    hs = np.empty((T + 1, B, len(b)))
    hs[0] = h0
    for t in range(T):
        hs[t + 1] = np.tanh(np.eye(len(E))[ids[:, t]] @ E + b + hs[t] @ W)
    return hs


@rnn_forward.right("by torch's network", library="torch.nn.RNN")
def _(ids, E, W, b, h0):
    rnn = torch.nn.RNN(len(E), len(W)).double()
    with torch.no_grad():
        for own, given in zip(rnn.parameters(), (E.T, W.T, b, 0 * b)):
            own.copy_(torch.tensor(given))
    if ids.shape[1] == 0:
        return h0[None]
    X = torch.nn.functional.one_hot(torch.tensor(ids.T), len(E)).double()
    states, _ = rnn(X, torch.tensor(h0)[None])
    return np.concatenate([h0[None], states.detach().numpy()])


# -------------------------------------------------------------------------------------------- bptt

bptt = Exercise(
    "bptt",
    reference=reference.bptt,
    compare=parts(loss=SLOPES, grads=SLOPES, messages=SLOPES, last=SLOPES),
    hints=[
        "Three parts: forward, with all states kept; at the read-out the loss and dS, its slopes by the scores; then the walk back.",
        "targets.T >= 0 tells where something is asked. With one-hot rows Y that are 0 elsewhere, dS is (P − Y)/n where asked, else 0. "
        "Each state's own message is dS[t] @ R.T. Walking back, delta is the message times 1 − h², and delta @ W.T, times "
        "pass_on[t], is added to the message before it.",
        "Keep all deltas (T, B, H). Then dW is the sum over t of hs[t].T @ deltas[t], dR that of hs[t + 1].T @ dS[t], "
        "db the sum over t and rows, and np.add.at(dE, ids.T, deltas) fills dE. hs[t + 1] is the state after column t.",
    ],
)


@bptt.probe
def _(answer, ids, targets, E, W, b, R, h0, pass_on):
    if pass_on is None:
        loss, grads, messages, last = answer(ids, targets, E, W, b, R, h0)
    else:
        loss, grads, messages, last = answer(ids, targets, E, W, b, R, h0, pass_on)
    return {"loss": loss, "grads": list(grads), "messages": messages, "last": last}


@bptt.cases
def _(rng):
    def case(B, T, K, H, asked="all", pass_on=None, **changes):
        ids, targets = text(rng, B, T, K), rng.integers(K, size=(B, T))
        if asked == "end":
            targets[:, :-1] = -1
        if asked == "some":
            targets[0, 0] = targets[-1, -1] = -1
            targets[:, 1] = -1
        given = net(rng, K, H) | dict(ids=ids, targets=targets, h0=away(rng, B, H))
        return given | dict(pass_on=pass_on) | changes

    yield "asked at every step", case(2, 4, 5, 3)
    yield "asked at every step", case(3, 3, 3, 3)
    yield "asked at the end", case(2, 4, 4, 2, "end")
    yield "asked here and there", case(3, 4, 4, 2, "some")
    valves = np.ones(4)
    valves[2] = 0
    yield "messages cut", case(2, 4, 3, 3, pass_on=valves)
    yield "messages weighted", case(2, 4, 4, 3, "end", pass_on=rng.uniform(1.2, 2, 4))
    yield "one step is a plain network", case(3, 1, 4, 2)
    # each symbol drives the state to a corner where its own score is enormous; asked is another
    loud = case(2, 2, 3, 2)
    loud["E"] = np.array([[2.0, -2.0], [-2.0, 2.0], [2.0, 2.0]])
    loud["W"], loud["b"] = away(rng, 2, 2, size=0.2), away(rng, 2, size=0.1)
    loud["R"] = np.array([[900.0, -900.0, 0.0], [-900.0, 900.0, 300.0]])
    yield "enormous scores", loud | dict(targets=(loud["ids"] + 1) % 3)


bptt.mistakes(
    {
        "slopes of tanh at the state before": (
            "hs[t + 1] ** 2",
            "hs[t] ** 2",
            "hs[0] is the state before the first symbol. Which one is the state after column t?",
        ),
        "no slope of tanh": (
            "messages[t] * (1 - hs[t + 1] ** 2)",
            "messages[t]",
            "Between a state and what went into it stands tanh.",
        ),
        "W is not turned over": (
            "deltas[t] @ W.T",
            "deltas[t] @ W",
            "Forward a state meets W on its right. And a slope on its way back?",
        ),
        "each step hears its own error only": (
            "if t > 0:",
            "if False:",
            "What does a step hear from the one behind it?",
        ),
        "own error and the next one's do not add up": (
            "messages[t - 1] +=",
            "messages[t - 1] =",
            "A state serves its read-out and the next state. Both send slopes.",
        ),
        "a symbol twice in a column counts once": (
            "np.add.at(dE, ids.T, deltas)",
            "for t, column in enumerate(ids.T):\n        dE[column] += deltas[t]",
            "Two rows read the same symbol at one time. How often is its row of dE changed?",
        ),
        "the last use of a symbol wins": (
            "np.add.at(dE, ids.T, deltas)",
            "dE[ids.T] = deltas",
            "A symbol that is read twice gets two slopes. What becomes of them?",
        ),
        "the mean over all places": (
            "(np.exp(log_P) * asked - Y) / asked.sum()",
            "(np.exp(log_P) * asked - Y) / asked.size",
            "The mean goes over the places that are asked, in the loss and in its slopes.",
        ),
        "the valve one step early": (
            "pass_on[t]",
            "pass_on[t - 1]",
            "pass_on[t] belongs to what the step of column t hands back.",
        ),
        "the valves are not used": (
            "pass_on[t] * (deltas[t] @ W.T)",
            "deltas[t] @ W.T",
            "What is pass_on for?",
        ),
        "a valve on the message itself": (
            "deltas[t] = messages[t]",
            "messages[t] = pass_on[t] * messages[t]\n        deltas[t] = messages[t]",
            "A closed valve stops what goes to the step before. What of the step's own slopes?",
        ),
        "places that are not asked push, too": (
            "np.exp(log_P) * asked - Y",
            "np.exp(log_P) - Y",
            "Where nothing is asked, nothing depends on the scores.",
        ),
        "dW with the new states": (
            "np.tensordot(hs[:-1], deltas",
            "np.tensordot(hs[1:], deltas",
            "W multiplies the state before the step.",
        ),
        "dR with the old states": (
            "np.tensordot(hs[1:], dS",
            "np.tensordot(hs[:-1], dS",
            "Scores are read off the state after the symbol.",
        ),
        "uphill": (
            "np.exp(log_P) * asked - Y",
            "Y - np.exp(log_P) * asked",
            "L is minus the logarithm. Which sign has its slope by the right symbol's score?",
        ),
        "the first states come back": (
            "hs[-1]\n",
            "hs[0]\n",
            "Which states does the next window start from?",
        ),
        "a softmax that overflows": (
            "log_softmax(hs[1:] @ R, axis=2)",
            "np.log(np.exp(hs[1:] @ R) / np.exp(hs[1:] @ R).sum(2, keepdims=True))",
            "exp(900) is no number any more. scipy's log_softmax knows a way round.",
        ),
    }
)

bptt.worked(
    why=r"""Unrolled, this is a deep network, and [[07/02]]'s rules hold at each layer: a slope by the states, times the slope of tanh,
    is $\delta$; and $\delta W^\top$ goes on to the layer before. Two things are new. A state has two users, its read-out and the next
    state, so two slopes meet and add up. And all layers share their weights, so each step adds to the same $\nabla_W$:
    with all $\delta$ kept, that sum is one product."""
)


@bptt.right("step by step, one symbol after the other")
def _(ids, targets, E, W, b, R, h0, pass_on=None):
    (B, T), h, hs = ids.shape, h0, [h0]
    for t in range(T):
        h = np.tanh(h @ W + E[ids[:, t]] + b)
        hs.append(h)
    n, loss, back = (targets >= 0).sum(), 0.0, np.zeros_like(h0)
    grads = [np.zeros_like(p) for p in (E, W, b, R)]
    messages = []
    for t in range(T - 1, -1, -1):
        scores = hs[t + 1] @ R
        scores = scores - scores.max(1, keepdims=True)
        log_P = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        dS = np.zeros_like(scores)
        for i in range(B):
            if targets[i, t] >= 0:
                loss -= log_P[i, targets[i, t]] / n
                dS[i] = np.exp(log_P[i]) / n
                dS[i, targets[i, t]] -= 1 / n
        message = dS @ R.T + back
        delta = message * (1 - hs[t + 1] ** 2)
        for i in range(B):
            grads[0][ids[i, t]] += delta[i]
        grads[1] += hs[t].T @ delta
        grads[2] += delta.sum(0)
        grads[3] += hs[t + 1].T @ dS
        back = delta @ W.T * (1 if pass_on is None else pass_on[t])
        messages.insert(0, message)
    return loss, grads, np.array(messages), h


@bptt.right("by automatic differentiation", library="torch.autograd.grad")
def _(ids, targets, E, W, b, R, h0, pass_on=None):
    params = [torch.tensor(p, requires_grad=True) for p in (E, W, b, R)]
    ids, asked = torch.tensor(ids), torch.tensor(targets).flatten()
    hs = [torch.tensor(h0, requires_grad=True)]
    for t in range(ids.shape[1]):
        h, valve = hs[-1], 1.0 if pass_on is None else pass_on[t]
        h = valve * h + (1 - valve) * h.detach()
        hs.append(torch.tanh(h @ params[1] + params[0][ids[:, t]] + params[2]))
    scores = (torch.stack(hs[1:], 1) @ params[3]).flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(scores, asked, ignore_index=-1)
    slopes = [g.numpy() for g in torch.autograd.grad(loss, params + hs[1:])]
    return loss.item(), slopes[:4], np.array(slopes[4:]), hs[-1].detach().numpy()


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=parts(params=SLOPES, losses=SLOPES),
    hints=[
        "For each batch: from which states does it start? Then its slopes, clipped, then a step.",
        "bptt gives you the last states: keep them for the next batch. The norm is that of all four slopes together: the root of the "
        "sum of all their squares.",
        "h = np.zeros((len(ids), H)) where fresh. loss, grads, _, h = bptt(ids, targets, *params, h). The factor is lr * min(1, c / norm). "
        "Make a new list of params: p - factor * g.",
    ],
)


@train.probe
def _(answer, params, batches, lr, c):
    params, losses = answer(params, batches, lr, c)
    return {"params": list(params), "losses": list(losses)}


@train.cases
def _(rng):
    def case(*fresh, B=2, T=3, K=3, H=2, lr=0.3, c=np.inf):
        batches = [
            (text(rng, B, T, K), rng.integers(-1, K, size=(B, T)), f) for f in fresh
        ]
        for _, targets, _ in batches:
            targets[0, -1] = int(rng.integers(K))
        params = list(net(rng, K, H).values())
        return dict(params=params, batches=batches, lr=lr, c=c)

    yield "every batch begins fresh", case(True, True, True)
    yield "states run on", case(True, False, False)
    yield "states run on", case(True, False, True, False, H=3, B=3)
    yield "long slopes are clipped", case(True, True, c=0.05)
    yield "long slopes are clipped", case(True, False, True, lr=2.0, c=0.1, K=4)
    yield "short slopes are left alone", case(True, True, c=50.0)
    yield "one batch", case(True, B=1, T=1)
    yield "rows and lengths may change where all begins fresh", mixed(rng)


def mixed(rng):
    one, two = text(rng, 2, 4, 3), text(rng, 3, 2, 3)
    batches = [(one, one[:, ::-1].copy(), True), (two, two[:, ::-1].copy(), True)]
    return dict(params=list(net(rng, 3, 2).values()), batches=batches, lr=0.5, c=0.05)


train.mistakes(
    {
        "the state never runs on": (
            "if fresh:",
            "if True:",
            "When fresh is False, the text goes on. From which states?",
        ),
        "the state never begins anew": (
            "if fresh:",
            'if fresh and "h" not in locals():',
            "fresh may be True again later. What happens then?",
        ),
        "uphill": ("p - step * g", "p + step * g", "Down the slope, or up?"),
        "nothing is clipped": (
            "lr * min(1, c / norm)",
            "lr",
            "What is c for?",
        ),
        "all steps have length c": (
            "min(1, c / norm)",
            "(c / norm if np.isfinite(c) else 1)",
            "Slopes that are shorter than c stay as they are.",
        ),
        "each array is clipped by itself": (
            "p - step * g for p, g",
            "p - lr * min(1, c / np.linalg.norm(g)) * g for p, g",
            "The norm is that of all slopes together. Else their direction changes.",
        ),
        "each number is clipped by itself": (
            "step * g",
            "lr * np.clip(g, -c, c)",
            "Clipping changes the length of all slopes together, not their direction.",
        ),
        "the squared norm": (
            "np.sqrt(sum((g**2).sum() for g in grads))",
            "sum((g**2).sum() for g in grads)",
            "Is that the norm, or its square?",
        ),
        "the step is clipped in place of the slopes": (
            "lr * min(1, c / norm)",
            "min(lr, c / norm)",
            "First the slopes are clipped, then comes lr.",
        ),
        "the last loss only": (
            "losses.append(loss)",
            "losses = [loss]",
            "One loss for each batch.",
        ),
    }
)

train.equivalent(
    {
        "h = np.zeros((len(ids), len(params[1]))) → h = np.zeros((len(ids), len(params[2])))": "W has H rows, b H numbers."
    }
)

train.worked(
    why=r"""Two things run on from batch to batch, the weights and the state. The state is data: its values are used, but no message
    goes back beyond the cut, for `bptt` never hears of the window before. That is truncation. Clipping keeps the direction of
    all slopes together, so however huge the gradient, the step has the length `lr * c`, straight against it."""
)


@train.right("by torch's norm and SGD", library="torch.nn.utils.get_total_norm")
def _(params, batches, lr, c):
    leaves = [torch.tensor(p, requires_grad=True) for p in params]
    sgd, losses = torch.optim.SGD(leaves, lr), []
    for ids, targets, fresh in batches:
        if fresh:
            h = torch.zeros(len(ids), len(params[1])).double()
        states = []
        for column in ids.T:
            h = torch.tanh(h @ leaves[1] + leaves[0][torch.tensor(column)] + leaves[2])
            states.append(h)
        scores = (torch.stack(states, 1) @ leaves[3]).flatten(0, 1)
        asked = torch.tensor(targets).flatten()
        loss = torch.nn.functional.cross_entropy(scores, asked, ignore_index=-1)
        sgd.zero_grad()
        loss.backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in leaves])
        for p in leaves:  # clip_grad_norm_ would add 1e-6 to the norm
            p.grad *= min(1.0, float(c / norm))
        sgd.step()
        h = h.detach()
        losses.append(loss.item())
    return [p.detach().numpy() for p in leaves], losses


# --------------------------------------------------------------------------------------- pad_batch

pad_batch = Exercise(
    "pad_batch",
    reference=reference.pad_batch,
    compare=exact(),
    hints=[
        "Begin with whole arrays: all places pad, all places not real. What is left to do for each sequence?",
        "np.full makes an array of one number. Sequence i fills the first len(s) places of its row; the same places of the mask are True.",
        "np.eye(K)[ids] has a one-hot row for each place, of shape (B, T, K). Times mask[:, :, None] it is 0 where nothing is real.",
    ],
)


@pad_batch.cases
def _(rng):
    def case(K, *lengths):
        """No symbol is pad."""
        pad = int(rng.integers(1, K))
        seqs = [((pad + rng.integers(1, K, n)) % K).tolist() for n in lengths]
        return dict(seqs=seqs, pad=pad, K=K)

    yield "unequal lengths", case(5, 2, 4, 1)
    yield "unequal lengths", case(4, 3, 1, 2, 5)
    for lengths in ((2, 4), (1, 3)):
        twice = case(6, *lengths)
        twice["seqs"].append([twice["pad"], 0, twice["pad"]])
        yield "pad is a symbol, too", twice
    yield "an empty sequence", case(5, 0, 3)
    yield "as many rows as steps", case(6, 3, 3, 2)
    yield "nothing to fill", case(5, 2, 2)
    yield "one symbol", case(8, 1)


pad_batch.mistakes(
    {
        "filled with 0": (
            "np.full((len(seqs), T), pad)",
            "np.zeros((len(seqs), T), int)",
            "Which number fills up?",
        ),
        "filled up on the left": (
            "ids[i, : len(s)] = s\n        mask[i, : len(s)] = True",
            "ids[i, T - len(s) :] = s\n        mask[i, T - len(s) :] = True",
            "On which side is filled up?",
        ),
        "the mask is read off the symbols": (
            "np.eye(K)[ids] * mask[:, :, None]",
            "np.eye(K)[ids] * (ids != pad)[:, :, None]",
            "pad may stand in a sequence as a symbol. Is it real there?",
        ),
        "real where ids is not pad": (
            "return ids, mask,",
            "return ids, ids != pad,",
            "pad may stand in a sequence as a symbol. Is it real there?",
        ),
        "cut to the shortest": (
            "T = max(len(s) for s in seqs)",
            "T = min(len(s) for s in seqs)\n    seqs = [s[:T] for s in seqs]",
            "Nothing may be lost. How long must a row be?",
        ),
        "fill-ups have a one-hot row": (
            " * mask[:, :, None]",
            "",
            "What is the one-hot row of a place where nothing stands?",
        ),
    }
)

pad_batch.worked(
    why=r"""Rows of one length make a batch; the mask remembers what the filling hides. It must come from the lengths: the number `pad`
    may be a symbol like others, so the ids alone cannot tell. Whoever uses the batch then asks nothing at places that are not
    real, and so nothing depends on what stands there."""
)


@pad_batch.right("torch's own", library="torch.nn.utils.rnn.pad_sequence")
def _(seqs, pad, K):
    rows = [torch.tensor(s, dtype=torch.int64) for s in seqs]
    ids = torch.nn.utils.rnn.pad_sequence(rows, True, pad)
    mask = torch.tensor([[t < len(s) for t in range(ids.shape[1])] for s in seqs])
    return ids, mask, torch.nn.functional.one_hot(ids, K) * mask.unsqueeze(-1)


# ------------------------------------------------------------------------------------------- probe

probe = Exercise(
    "probe",
    reference=reference.probe,
    data_dependent="the largest label tells how many classes there are",
    compare=close(rtol=1e-5, atol=1e-7),  # the states' columns may be nearly dependent
    hints=[
        "An intercept is the weight of a column that is always 1.",
        "np.eye(K)[y] makes the one-hot rows. np.linalg.lstsq fits all K columns at once, and of many equally good fits it takes "
        "the shortest.",
        "A = np.column_stack([H, np.ones(len(H))]); fit = np.linalg.lstsq(A, Y)[0]; H_new gets its column of ones, too.",
    ],
)


@probe.cases
def _(rng):
    def case(n, d, K, m=3, shift=0.0):
        y = rng.permutation(np.arange(n) % K)
        H = rng.normal(size=(n, d)) + shift
        return dict(H=H, y=y, H_new=rng.normal(size=(m, d)) + shift)

    yield "more states than weights", case(12, 3, 3)
    yield "more states than weights", case(9, 2, 4, m=5)
    yield "states far from 0", case(10, 2, 2, shift=5.0)
    yield "fewer states than weights: the shortest fit", case(4, 6, 2)
    repeated = case(10, 2, 3)
    for name in ("H", "H_new"):
        repeated[name] = np.column_stack([repeated[name], repeated[name][:, 0]])
    yield "two units say the same", repeated
    yield "one class", case(3, 1, 1)


probe.mistakes(
    {
        "no intercept": (
            "np.column_stack([H, np.ones(len(H))])",
            "np.column_stack([H, np.zeros(len(H))])",
            "Where is the line when all units are 0?",
        ),
        "labels in place of one-hot rows": (
            "np.eye(y.max() + 1)[y]",
            "np.repeat(y[:, None] * 1.0, y.max() + 1, 1)",
            "Class 2 is not twice class 1. What is fitted for each class?",
        ),
        "tested on what it was fitted to": (
            "np.column_stack([H_new, np.ones(len(H_new))]) @ fit",
            "(A @ fit)[: len(H_new)]",
            "Whose scores are asked?",
        ),
        "the class in place of the scores": (
            "np.column_stack([H_new, np.ones(len(H_new))]) @ fit",
            "np.eye(len(fit[0]))[(np.column_stack([H_new, np.ones(len(H_new))]) @ fit).argmax(1)]",
            "All K scores are asked, not the largest.",
        ),
        "a little ridge": (
            "np.linalg.lstsq(A, Y)[0]",
            "np.linalg.solve(A.T @ A + 0.1 * np.eye(len(A[0])), A.T @ Y)",
            "Least squares, without a penalty.",
        ),
    }
)

probe.worked(
    why=r"""A probe asks what a state *holds*, so it must be weak itself: a line can only read what lies there in the open. Least squares
    on one-hot rows fits a line for each class; the largest score is its guess. It is judged on states that it has not seen,
    else a state of many numbers looks wise by chance."""
)


@probe.right("by a linear model", library="sklearn.linear_model.LinearRegression")
def _(H, y, H_new):
    from sklearn.linear_model import LinearRegression

    A, new = (np.column_stack([X, np.ones(len(X))]) for X in (H, H_new))
    Y = (y[:, None] == np.arange(y.max() + 1)) * 1.0
    return (
        LinearRegression(fit_intercept=False)
        .fit(A, Y)
        .predict(new)
        .reshape(len(new), -1)
    )


# -------------------------------------------------------------------------------------- parity_net

parity_net = Exercise(
    "parity_net",
    reference=reference.parity_net,
    compare=SLOPES,
    hints=[
        "Write out what unit 1 gets, with p = (h₁ − h₂)/2. Which part comes from h, which from the bit, which from nothing?",
        "g p = g h₁/2 − g h₂/2: so column 1 of W holds g/2, −g/2 and 0. The bit adds g if it is 1: E[1]. The rest, −g/2, is b.",
        "Unit 2 has the same columns and another b. Unit 3 has only b. R: column 0 reads h₃, column 1 reads h₁ − h₂.",
    ],
)


@parity_net.probe
def _(answer, g):
    return [np.asarray(part, float) for part in answer(g)]


@parity_net.cases
def _(rng):
    yield "steep", dict(g=float(rng.uniform(8, 12)))
    yield "very steep", dict(g=float(rng.uniform(30, 60)))
    yield "flat", dict(g=float(rng.uniform(0.5, 0.9)))


parity_net.mistakes(
    {
        "the bit counts half": (
            "[g, g, 0]",
            "[g / 2, g / 2, 0]",
            "p counts in units of 1, as the bit does. What is added where the bit is 1?",
        ),
        "p is h₁ − h₂": (
            "W = g / 2 *",
            "W = g *",
            "On is 1 and off is −1: h₁ − h₂ is 2 where only unit 1 is on.",
        ),
        "W is turned over": (
            "[[1, 1, 0], [-1, -1, 0], [0, 0, 0]]",
            "[[1, -1, 0], [1, -1, 0], [0, 0, 0]]",
            "W has a row for each old unit, a column for each new one.",
        ),
        "both thresholds alike": (
            "-3 * g / 2",
            "-g / 2",
            "Unit 2 is on only where both are 1.",
        ),
        "unit 3 is off": (
            "-3 * g / 2, g]",
            "-3 * g / 2, 0]",
            "Unit 3 gives the score of even something to stand on.",
        ),
        "odd and even change places": (
            "[[0, 1], [0, -1], [1, 0]]",
            "[[1, 0], [-1, 0], [0, 1]]",
            "Column 0 of R is the score of even.",
        ),
        "g is forgotten": (
            "W = g / 2 *",
            "W = 1 / 2 *",
            "Each unit gets g times its sum, what comes from the state, too.",
        ),
    }
)

parity_net.worked(
    why=r"""Parity of a bit and a bit is *at least one, and not both*: no single unit can draw it, two can. The state holds the answer as a
    difference, and $W$ reads that difference while it computes the next one. A large $g$ makes tanh a switch: an error in the
    state is pressed flat at each step, so the loop may run for ever."""
)


@parity_net.right("column by column")
def _(g):
    E, W, b, R = np.zeros((2, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros((3, 2))
    for unit, threshold in enumerate((0.5, 1.5)):
        W[:, unit] = g / 2, -g / 2, 0
        E[1, unit], b[unit] = g, -g * threshold
    b[2] = g
    R[2, 0], R[0, 1], R[1, 1] = 1, 1, -1
    return E, W, b, R

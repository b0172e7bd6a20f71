"""Exercises of 07_neural_networks/02_backpropagation."""

import collections

import numpy as np
import torch
from scipy.special import expit, log_softmax, softmax

from descent.compare import close
from solutions.spec import Exercise

from . import reference


def away(rng, *shape):
    """Numbers of either sign, none small: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.4, 1.4, shape)


# ---------------------------------------------------------------- the 2-2-1 network

backprop_221 = Exercise(
    "backprop_221",
    reference=reference.two_two_one,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("w", "x"),
    hints=[
        "Run forward first and keep every number. All that you need on the way back is among them.",
        "The slope by z3 is (p - y) p (1 - p). It goes on to w5 (times h1), to w6 (times h2), and to h1 (times w5) and h2 "
        "(times w6). What does z1 get from h1?",
        "z1 gets the slope by z3, times w5, times the slope of the activation at z1. The slopes by w1 and w2 are that "
        "number times x1 and x2; the second unit goes alike.",
    ],
)


@backprop_221.cases
def _(rng):
    def draw(act, y, **more):
        return dict(w=away(rng, 6), x=away(rng, 2), y=y, act=act) | more

    def relu(signs, x):  # signs of the first four weights; x > 0
        w = np.abs(away(rng, 6)) * [*signs, 1, -1]
        return draw("relu", 1.0, w=w, x=x)

    yield "sigmoid units", draw("sigmoid", 0.0)
    yield "sigmoid units", draw("sigmoid", 0.7)
    yield "ReLU units, one of them off", relu([1, 1, -1, -1], np.abs(away(rng, 2)))
    yield "ReLU units, one of them off", relu([-1, -1, 1, 1], np.abs(away(rng, 2)))
    small = relu([1, 1, 1, 1], rng.uniform(0.4, 0.7, 2))  # 0 < z < 1 in both units
    small["w"][:4] = rng.uniform(0.4, 0.7, 4)
    yield "ReLU units, both on", small
    # eighths: the two products cancel exactly, in any order
    for unit in (0, 1):
        kink, off = rng.integers(4, 12, 2) / 8, [-0.75, -0.5]
        first = [kink[0], -kink[0], *off] if unit == 0 else [*off, kink[0], -kink[0]]
        w = np.array([*first, *rng.uniform(0.5, 1.0, 2)])
        yield "a ReLU unit exactly at its kink", draw("relu", 0.2, w=w, x=kink[[1, 1]])
    yield "whole numbers", draw("sigmoid", 1, x=np.array([1, -2]))
    yield "whole numbers", relu([1, 1, 1, -1], np.array([2, 1]))
    few = rng.choice([-2, -1, 1, 2], 6)
    yield "whole numbers", draw("sigmoid", 0.3, w=few)
    yield "no input at all", draw("sigmoid", 0.3, x=np.zeros(2))


backprop_221.mistakes(
    {
        "the slope of the output unit is missing": (
            "(p - y) * p * (1 - p)",
            "p - y",
            "Between the loss and z3 stands a sigmoid. Which factor does it contribute? (Cross-entropy would cancel it.)",
        ),
        "the error has the wrong sign": (
            "(p - y) * p",
            "(y - p) * p",
            "L falls when p moves towards y. For p above y, is dL/dp positive or negative?",
        ),
        "the hidden activation is not differentiated": (
            "dz3 * w[4] * slope1, dz3 * w[5] * slope2",
            "dz3 * w[4], dz3 * w[5]",
            "From h1 back to z1 the slope passes the activation. Which factor does it contribute?",
        ),
        "always the slope of the sigmoid": (
            "float(z1 > 0), float(z2 > 0)",
            "h1 * (1 - h1), h2 * (1 - h2)",
            "Is the slope of ReLU h (1 - h)? The answer depends on act.",
        ),
        "z (1 - z) for the slope of the sigmoid": (
            "h1 * (1 - h1), h2 * (1 - h2)",
            "z1 * (1 - z1), z2 * (1 - z2)",
            "σ' = σ (1 - σ): values of the sigmoid, or its arguments?",
        ),
        "the sigmoid is applied twice in the slope": (
            "h1 * (1 - h1), h2 * (1 - h2)",
            "expit(h1) * (1 - expit(h1)), expit(h2) * (1 - expit(h2))",
            "h is σ(z) already. Does your slope apply the sigmoid once more?",
        ),
        "slope 1 at the kink": (
            "float(z1 > 0), float(z2 > 0)",
            "float(z1 >= 0), float(z2 >= 0)",
            "At z = 0 ReLU has no slope; the text says which number programs take.",
        ),
        "the output weights are swapped on the way back": (
            "dz3 * w[4] * slope1, dz3 * w[5] * slope2",
            "dz3 * w[5] * slope1, dz3 * w[4] * slope2",
            "Follow the arrows: through which weight does h1 reach z3?",
        ),
        "the loss without its half": (
            "(p - y) ** 2 / 2",
            "(p - y) ** 2",
            "Your slopes belong to ½ (p - y)². Does your loss?",
        ),
        "slopes cut to whole numbers": (
            "np.array(slopes)",
            "np.array(slopes, dtype=np.asarray(w).dtype)",
            "For weights like [1, -2, …] are your slopes whole numbers, too? np.zeros_like and its kin keep the type.",
        ),
        "the weights of a unit read column by column": (
            "[dz1 * x[0], dz1 * x[1], dz2 * x[0], dz2 * x[1],",
            "[dz1 * x[0], dz2 * x[0], dz1 * x[1], dz2 * x[1],",
            "Which two weights feed z1: w1 and w2, or w1 and w3?",
        ),
    }
)

backprop_221.worked(
    why=r"""Every slope is made of two things: what arrives from the right, and one local slope. So the way back needs six short
    products and no new idea. The slope by $z_3$ is computed once and used by four others: that sharing, not the chain rule, is what
    makes backpropagation cheap. The forward numbers $h_1, h_2, p$ and the signs of $z_1, z_2$ must be kept until then."""
)


@backprop_221.right("matrices")
def _(w, x, y, act):
    W, v = w[:4].reshape(2, 2), w[4:]
    z = W @ x
    h, slope = (
        (np.maximum(z, 0), z > 0) if act == "relu" else (expit(z), expit(z) * expit(-z))
    )
    p = expit(v @ h)
    delta = (p - y) * p * (1 - p)
    back = np.outer(delta * v * slope, x).ravel()
    return (p - y) ** 2 / 2, np.concatenate([back, delta * h])


@backprop_221.right("by torch's autograd", library="torch.autograd")
def _(w, x, y, act):
    w = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    z = w[:4].reshape(2, 2) @ torch.as_tensor(x, dtype=torch.float64)
    h = z.relu() if act == "relu" else z.sigmoid()
    loss = ((w[4:] @ h).sigmoid() - y) ** 2 / 2
    loss.backward()
    return loss.item(), w.grad.numpy()


# ---------------------------------------------------------------- the engine

Value = Exercise(
    "Value",
    reference=reference.run_program,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("leaves",),
    hints=[
        "sigmoid shows how an operation is written: the result, the inputs, the slope by each input. What are the two "
        "slopes of a + b, and of a · b? For backward: which values are behind the result, and who waits for whom?",
        "Keep a list of the values found, starting with the result, and a dict that counts for each how often it is an "
        "input. Then a second list, of the values whose grad is complete: at first only the result.",
        "In the second loop: each input gets the slope times the grad of the value that passes it on, and its count goes "
        "down by 1. At 0 it is complete: put it on the second list. Set all grads to 0 in the first loop.",
    ],
)


@Value.probe
def _(answer, leaves, program, calls):
    # v0, v1, … are the leaves, then one value for each step; ["*", 0, 1] is v0 * v1,
    # ["repeat", 0, 3] is v0 + v0 + v0 + v0. calls: whose backward is called, in turn.
    # Value 1 of the result is the list of all data, value 2 that of all grads; value 3
    # has for each + and * the sum of its slopes times the data of its inputs.
    nodes, sums = [answer(float(x)) for x in leaves], []
    for name, i, *rest in program:
        one = nodes[i]
        if name == "+":
            nodes.append(one + nodes[rest[0]])
        elif name == "*":
            nodes.append(one * nodes[rest[0]])
        elif name == "shift":
            nodes.append(one + rest[0])
        elif name == "scale":
            nodes.append(one * rest[0])
        elif name == "repeat":
            total = one
            for _ in range(rest[0]):
                total = total + one
            nodes.append(total)
        else:
            nodes.append(getattr(one, name)())
        if name in ("+", "*"):
            pairs = zip(nodes[-1].inputs, nodes[-1].slopes)
            sums.append(float(sum(u.data * slope for u, slope in pairs)))
    for call in calls:
        nodes[call].backward()
    return [[float(v.data) for v in nodes], [float(v.grad) for v in nodes], sums]


@Value.cases
def _(rng):
    def draw(n, program, calls=(-1,), **more):
        steps = [list(step) for step in program]
        return dict(leaves=away(rng, n), program=steps, calls=list(calls)) | more

    yield "sums and products", draw(3, [("*", 0, 1), ("+", 3, 2), ("*", 4, 1)])
    yield (
        "sums and products",
        draw(1, [("scale", 0, 3.0), ("shift", 1, -0.5), ("*", 2, 0)]),
    )
    yield "sigmoids in between", draw(2, [("*", 0, 1), ("sigmoid", 2), ("+", 3, 0)])
    either = np.array([1, -1]) * rng.uniform(0.5, 1.5, 2)
    both = [("relu", 0), ("relu", 1), ("+", 2, 3), ("*", 4, 0)]
    yield "ReLU on both sides of 0, and at 0", draw(2, both, leaves=either)
    at = np.array([0.0, away(rng)])
    yield (
        "ReLU on both sides of 0, and at 0",
        draw(2, [("relu", 0), ("*", 1, 2)], leaves=at),
    )
    yield "a value used twice", draw(1, [("*", 0, 0), ("+", 1, 0), ("*", 2, 1)])
    # both branches of the diamond join late: who passes half a grad on, passes it twice
    diamond = [("scale", 0, 2.0), ("*", 1, 1), ("+", 1, 2), ("*", 3, 2), ("+", 4, 1)]
    yield "branches that meet again", draw(1, diamond)
    # v1 is used twice by one child, and by another that reports late
    late = [("scale", 0, 2.0), ("*", 1, 1), ("scale", 1, 3.0), ("scale", 3, -0.5)]
    late += [("+", 2, 4), ("*", 5, 5), ("+", 5, 6), ("*", 6, 7)]
    yield "branches that meet again", draw(1, late)
    yield (
        "other values keep their grads",
        draw(3, [("*", 0, 1), ("+", 2, 0), ("*", 0, 1)]),
    )
    again = [("*", 0, 1), ("sigmoid", 2), ("*", 3, 0)]
    yield "called a second time", draw(2, again, calls=(-1, -1))
    # the last value and one leaf are not behind node 3, and keep what the first call gave them
    apart = [("*", 0, 1), ("*", 3, 2)]
    yield "other values keep their grads", draw(3, apart, calls=(-1, 3))
    yield "called a second time", draw(3, apart, calls=(-1, 3, -1))
    yield "a value by itself", draw(1, [])
    woven = [("*", 0, 1), ("+", 3, 2), ("sigmoid", 4), ("*", 5, 3), ("+", 6, 4)]
    yield "branches that meet again", draw(3, [*woven, ("sigmoid", 7), ("*", 8, 6)])
    doubled = [
        step
        for i in range(1, 80, 2)
        for step in (("+", i - 1, i - 1), ("scale", i, 0.5))
    ]
    yield "forty doublings in a row, 2⁴⁰ paths", draw(1, doubled)
    yield "a chain of 3,000 additions", draw(2, [("*", 0, 1), ("repeat", 2, 3000)])


Value.mistakes(
    {
        "grad is overwritten": (
            "u.grad += slope",
            "u.grad = slope",
            "Try x + x. A value that is used twice gets a share from each use: what must happen to the shares?",
        ),
        "values pass their grad on before it is complete": (
            "if awaits[u] == 0:",
            "if u not in ready:",
            "A value passes its grad on only when all that use it have reported. Draw b = a·a, v = b·a.",
        ),
        "an input that is used twice is counted once": (
            "for u in v.inputs:",
            "for u in set(v.inputs):",
            "In a · a both inputs are the same value: how many shares does it wait for?",
        ),
        "the slopes of a product are swapped": (
            "(other.data, self.data)",
            "(self.data, other.data)",
            "By how much does a · b change when a grows by 1: by a or by b?",
        ),
        "slope 1 at the kink of ReLU": (
            "self.data > 0",
            "self.data >= 0",
            "At 0 ReLU has no slope; the text says which number to take there.",
        ),
        "ReLU takes the size": (
            "max(self.data, 0.0)",
            "abs(self.data)",
            "What is ReLU of -2: 0 or 2?",
        ),
        "grads pile up from call to call": (
            "v.grad = 0.0",
            "pass",
            "Call backward twice. The text asks for the same numbers both times: what comes before the shares are added?",
        ),
        "a second call does nothing": (
            "awaits, found = {}, [self]",
            "if self.grad == 1.0:\n            return\n        awaits, found = {}, [self]",
            "Between two calls on v somebody may call backward on another value. Does the second call set the grads anew?",
        ),
        "the result has no grad": (
            "self.grad, ready = 1.0, [self]",
            "self.grad, ready = 0.0, [self]",
            "What is the slope of the result by itself? Without it everything stays 0.",
        ),
        "starts from the value of the result": (
            "self.grad, ready = 1.0, [self]",
            "self.grad, ready = self.data, [self]",
            "The first grad is the slope of the result by itself. Is that its value?",
        ),
        "one call inside the other": (
            """for v in found:  # it grows while we read it
            v.grad = 0.0
            for u in v.inputs:
                if u not in awaits:
                    awaits[u] = 0
                    found.append(u)
                awaits[u] += 1
""",
            """
        def visit(v):
            v.grad = 0.0
            for u in v.inputs:
                awaits[u] = awaits.get(u, 0) + 1
                if awaits[u] == 1:
                    visit(u)

        visit(self)
""",
            "Your backward calls itself once for every value of a chain, and Python gives up at about 1,000. Which loop "
            "over a list does the same?",
        ),
    }
)

Value.worked(
    why=r"""Two loops. The first one finds everything behind the result and counts, for each value, how many shares it waits for;
    an input that appears twice is counted twice. The second passes on, and a value enters its list at the moment when its last share
    has come: then its grad is complete, and it passes on once. So each edge is looked at twice, once to count and once to send its
    share, whatever the number of paths.
    `visit` functions that call themselves do the same, until a chain is longer than Python's 1,000 nested calls."""
)


class _Engine:
    """A right engine by another road: the values in the order of their birth."""

    born = 0

    def __init__(self, data, inputs=(), slopes=()):
        self.data, self.inputs, self.slopes, self.grad = data, inputs, slopes, 0.0
        _Engine.born += 1
        self.number = _Engine.born

    def _lift(self, other):
        return other if isinstance(other, _Engine) else type(self)(other)

    def __add__(self, other):
        other = self._lift(other)
        return type(self)(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = self._lift(other)
        slopes = other.data, self.data
        return type(self)(self.data * other.data, (self, other), slopes)

    def relu(self):
        on = 1 if self.data > 0 else 0
        return type(self)(on * self.data, (self,), (on,))

    def sigmoid(self):
        p = float(expit(self.data))
        return type(self)(p, (self,), (p * (1 - p),))


@Value.wrong(
    "the grads of values apart are wiped",
    advice="Which values does a call of backward concern? The others keep what an earlier call gave them.",
)
class _(_Engine):
    alive = collections.deque(maxlen=5000)

    def __init__(self, *args):
        super().__init__(*args)
        self.alive.append(self)

    def backward(self):
        for v in self.alive:
            v.grad = float(v is self)
        for v in list(self.alive)[::-1]:
            for u, slope in zip(v.inputs, v.slopes, strict=True):
                u.grad += slope * v.grad


@Value.right("in the order of birth")
class _(_Engine):
    def backward(self):
        seen, stack = {self}, [self]
        while stack:
            for u in stack.pop().inputs:
                if u not in seen:
                    seen.add(u)
                    stack.append(u)
        for v in seen:
            v.grad = 0.0
        self.grad = 1.0
        for v in sorted(seen, key=lambda v: -v.number):
            for u, slope in zip(v.inputs, v.slopes, strict=True):
                u.grad += slope * v.grad


@Value.right("depth first on a stack, then from the end of the order")
class _(_Engine):
    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            v, done = stack.pop()
            if done:
                order.append(v)
            elif v not in seen:
                seen.add(v)
                stack += [(v, True), *((u, False) for u in v.inputs)]
        for v in order:
            v.grad = float(v is self)
        for v in order[::-1]:
            for k in range(len(v.inputs)):
                v.inputs[k].grad = v.inputs[k].grad + v.slopes[k] * v.grad


# ---------------------------------------------------------------- a whole network, a whole batch

mlp_backward = Exercise(
    "mlp_backward",
    reference=lambda **inputs: dict(
        zip(("loss", "dWs", "dbs"), reference.mlp_gradients(**inputs), strict=True)
    ),
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    hints=[
        "Forward first, and keep what comes in to each layer and every Z. Then one step back for each layer, from the last "
        "to the first.",
        "Begin with (P - Y) / N. In each layer: the slopes by W and b, from what entered it. Then, unless it is the first, "
        "Delta for the layer below: times W transposed, times the slope at the Z of the layer below.",
        "Subtract each row's maximum before np.exp, and take log P as score minus maximum minus the log of the row's sum of "
        "exps. Collect dWs and dbs from the last layer to the first and turn the lists round at the end.",
    ],
)


@mlp_backward.probe
def _(answer, X, Y, Ws, bs, act):
    pairs = {
        "relu": (lambda z: np.maximum(z, 0), lambda z: (z > 0) * 1.0),
        "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    }
    loss, dWs, dbs = answer(X, Y, Ws, bs, *pairs[act])
    return dict(loss=loss, dWs=list(dWs), dbs=list(dbs))


@mlp_backward.cases
def _(rng):
    def draw(N, sizes, act="tanh", **more):
        pairs = list(zip(sizes, sizes[1:], strict=False))
        return (
            dict(
                X=away(rng, N, sizes[0]),
                Y=np.eye(sizes[-1])[np.arange(N) % sizes[-1]],
                Ws=[away(rng, *pair) for pair in pairs],
                bs=[away(rng, n) for _, n in pairs],
                act=act,
            )
            | more
        )

    yield "one hidden layer", draw(4, [3, 4, 2])
    yield "two hidden layers of different widths", draw(5, [2, 4, 3, 3])
    relu = draw(4, [2, 5, 3], "relu")  # two units off on all rows, three on
    relu["bs"][0] = rng.uniform(3, 4, 5) * [1, -1, 1, 1, -1]
    relu["Ws"][1] *= 0.1
    relu["bs"][1] = np.array([1.0, -5.0, -0.5])  # a score below 0, no P near 0
    yield "ReLU units, some of them off", relu
    yield "layers of equal width", draw(3, [3, 3, 3])
    yield "no hidden layer: softmax regression", draw(4, [2, 3])
    yield "a batch of one row", draw(1, [3, 2, 2])
    yield "whole numbers", draw(3, [2, 2, 3], X=rng.integers(1, 4, (3, 2)))
    large = draw(3, [2, 2, 3])
    large["bs"][-1] = np.array([900.0, -900.0, 0.0]) + away(rng, 3)
    yield "scores of 900 and -900", large
    # eighths are exact in single precision, too; a row near 900 beside one near -900
    apart = draw(
        2, [1, 3], X=np.array([[1.0], [-1.0]]), bs=[rng.integers(-8, 9, 3) / 8]
    )
    apart["Ws"] = [900 + rng.integers(-8, 9, (1, 3)) / 8]
    yield "scores of 900 and -900", apart


mlp_backward.mistakes(
    {
        "slopes summed over the rows": (
            "(np.exp(log_P) - Y) / len(X)",
            "np.exp(log_P) - Y",
            "The loss is a mean over the rows. Do your slopes stay the same when every row appears twice?",
        ),
        "the bias slope is a mean": (
            "Delta.sum(axis=0)",
            "Delta.mean(axis=0)",
            "Delta has been divided by N already. What is left to do over the rows?",
        ),
        "the hidden activation is not differentiated": (
            "(Delta @ Ws[l].T) * slope(Zs[l - 1])",
            "Delta @ Ws[l].T",
            "From H back to Z the slopes pass phi: which factor does it contribute?",
        ),
        "the slope is taken at H": (
            "slope(Zs[l - 1])",
            "slope(Hs[l])",
            "slope expects the numbers before the activation. Which list did you hand it?",
        ),
        "the slope of the layer above": (
            "slope(Zs[l - 1])",
            "(slope(Zs[l]) if Zs[l].shape == Zs[l - 1].shape else slope(Zs[l - 1]))",
            "Which Z did the units of the layer below make? With equal widths the shapes do not tell you.",
        ),
        "softmax overflows": (
            "log_P = log_softmax(Zs[-1], axis=1)",
            "with np.errstate(all='ignore'):\n"
            "        E = np.exp(Zs[-1])\n"
            "        log_P = np.log(E / E.sum(axis=1, keepdims=True))",
            "exp(900) is infinite in floating point. What can be subtracted from a row of scores without changing P?",
        ),
        "one maximum for all rows": (
            "log_P = log_softmax(Zs[-1], axis=1)",
            "S = Zs[-1] - Zs[-1].max()\n"
            "    with np.errstate(all='ignore'):\n"
            "        log_P = S - np.log(np.exp(S).sum(axis=1, keepdims=True))",
            "One row has scores near 900, another near -900. What is left of the second one after the first one's maximum?",
        ),
        "a tiny number inside the logarithm": (
            "loss = -np.sum(Y * log_P)",
            "loss = -np.sum(Y * np.log(np.exp(log_P) + 1e-12))",
            "A row whose right class has P = e⁻⁹⁰⁰: what is its loss, and what does log(P + 1e-12) give it?",
        ),
        "the loss is a mean over the classes too": (
            "loss = -np.sum(Y * log_P) / len(X)",
            "loss = -np.mean(Y * log_P)",
            "The sum over the classes stays a sum. By which number do you divide, N or N times K?",
        ),
        "W is not transposed on the way back": (
            "Delta @ Ws[l].T",
            "Delta @ (Ws[l] if Ws[l].shape[0] == Ws[l].shape[1] else Ws[l].T)",
            "Over which index of W does Delta @ W sum? With layers of equal width the shapes do not tell you.",
        ),
        "the error has the wrong sign": (
            "(np.exp(log_P) - Y)",
            "(Y - np.exp(log_P))",
            "The score of the right class should rise. Is its entry of Delta negative?",
        ),
        "slopes in the order of the way back": (
            "return loss, dWs[::-1], dbs[::-1]",
            "return loss, dWs, dbs",
            "dWs[0] belongs to the first layer. In which order did you collect?",
        ),
        "phi on the scores, too": (
            "log_softmax(Zs[-1], axis=1)",
            "log_softmax(Hs[-1], axis=1)",
            "The last layer makes the scores and has no phi. What do you hand to softmax?",
        ),
    }
)

mlp_backward.worked(
    why=r"""Each layer asks the same three questions: slopes by W, by b, and by what came in. So one loop does any depth. With
    rows as examples, $H^\top\Delta$ sums over the rows by itself: entry $(j, k)$ is $\sum_n H_{nj}\Delta_{nk}$. The division by N stands
    once, at the start. `log_softmax` subtracts each row's maximum, so scores of ±900 keep a finite logarithm."""
)


@mlp_backward.right("biases as weights of a column of ones")
def _(X, Y, Ws, bs, phi, slope):
    ones = np.ones((len(X), 1))
    full = [np.vstack([W, b]) for W, b in zip(Ws, bs, strict=True)]
    Hs, Zs = [np.hstack([X, ones])], []
    for V in full:
        Zs.append(Hs[-1] @ V)
        Hs.append(np.hstack([phi(Zs[-1]), ones]))
    D = (softmax(Zs[-1], axis=1) - Y) / len(X)
    grads = []
    for k in range(len(full) - 1, -1, -1):
        grads = [Hs[k].T @ D, *grads]
        if k:
            D = (D @ full[k][:-1].T) * slope(Zs[k - 1])
    loss = np.mean(-(Y * log_softmax(Zs[-1], axis=1)).sum(1))
    return loss, [g[:-1] for g in grads], [g[-1] for g in grads]


@mlp_backward.right("one row after the other, single precision")
def _(X, Y, Ws, bs, phi, slope):
    Ws, bs = [W.astype(np.float32) for W in Ws], [b.astype(np.float32) for b in bs]
    loss = np.float32(0)
    dWs, dbs = [0 * W for W in Ws], [0 * b for b in bs]
    for x, y in zip(X.astype(np.float32), Y.astype(np.float32), strict=True):
        hs, zs = [x], []
        for W, b in zip(Ws, bs, strict=True):
            zs.append(hs[-1] @ W + b)
            hs.append(phi(zs[-1]).astype(np.float32))
        loss = loss - y @ log_softmax(zs[-1]) / np.float32(len(X))
        delta = (softmax(zs[-1]) - y) / np.float32(len(X))
        for k in range(len(Ws) - 1, -1, -1):
            dWs[k] += np.outer(hs[k], delta)
            dbs[k] += delta
            if k:
                delta = (Ws[k] @ delta) * slope(zs[k - 1]).astype(np.float32)
    return loss, dWs, dbs


@mlp_backward.right("by torch, which draws the graph itself", library="torch.autograd")
def _(X, Y, Ws, bs, phi, slope):
    class Bend(torch.autograd.Function):
        @staticmethod
        def forward(ctx, Z):
            ctx.save_for_backward(Z)
            return torch.from_numpy(phi(Z.numpy()))

        @staticmethod
        def backward(ctx, upstream):
            (Z,) = ctx.saved_tensors
            return upstream * torch.from_numpy(slope(Z.numpy()))

    T = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in [*Ws, *bs]]
    H = torch.as_tensor(X, dtype=torch.float64)
    for k in range(len(Ws)):
        H = (H if k == 0 else Bend.apply(H)) @ T[k] + T[len(Ws) + k]
    loss = torch.nn.functional.cross_entropy(H, torch.tensor(Y))
    loss.backward()
    grads = [t.grad.numpy() for t in T]
    return loss.item(), grads[: len(Ws)], grads[len(Ws) :]


# ---------------------------------------------------------------- numerical Jacobian

jacobian = Exercise(
    "jacobian",
    reference=reference.central_jacobian,
    compare=close(
        rtol=1e-6, atol=1e-8
    ),  # rounding: 1e-15 over the smallest nudge, 1e-3
    batched=("A", "B", "K", "c", "x"),
    hints=[
        "Column j tells what happens to all outputs when x_j alone moves. So one loop over the inputs is enough.",
        "For each j: f at a copy of x with eps added at place j, and at one with eps subtracted. Their difference, over the "
        "distance of the two points, is column j.",
        "np.atleast_1d makes an array of a number. The rows of eps * np.eye(len(x)) are the nudges. np.stack puts a list of "
        "columns side by side with axis=1.",
    ],
)


@jacobian.probe
def _(answer, A, B, c, K, x, eps):
    # f(x) = A x + c (x'Bx) + K x³; with one output f returns a plain number.
    # With c = 0 it is the identity, and hands back the very array that it got.
    def f(x):
        if not c.any():
            return x
        value = A @ x + c * (x @ B @ x) + K @ x**3
        return float(value[0]) if len(value) == 1 else value

    return answer(f, x, eps)


@jacobian.cases
def _(rng):
    def draw(m, n, eps, **more):
        return (
            dict(
                A=away(rng, m, n), B=away(rng, n, n), c=away(rng, m), K=away(rng, m, n),
                x=away(rng, n), eps=eps,
            )
            | more
        )  # fmt: skip

    yield "a row for each output", draw(3, 2, 0.1)
    yield "a row for each output", draw(2, 4, 1e-3)
    square = draw(3, 3, 0.5, K=np.zeros((3, 3)))
    yield "exact on quadratics, however long the nudge", square
    yield "a number gives one row", draw(1, 3, 0.1)
    yield "one input, one output", draw(1, 1, 0.2)
    yield "at the origin", draw(2, 3, 0.1, x=np.zeros(3))
    yield "whole numbers", draw(2, 3, 0.1, x=np.array([1, -2, 1]))
    nothing = dict(A=np.eye(3), c=np.zeros(3), K=np.zeros((3, 3)))
    yield "f that hands back its own x", draw(3, 3, 0.1, **nothing)


jacobian.mistakes(
    {
        "the differences are stacked as rows": (
            "axis=1",
            "axis=0",
            "Which index runs over the outputs, the row or the column? Look at the shape for three outputs and two inputs.",
        ),
        "one-sided differences": (
            "np.atleast_1d(f(x - nudge))\n        columns.append(change / (2 * eps))",
            "np.atleast_1d(f(x))\n        columns.append(change / eps)",
            "On a parabola a one-sided slope is off by the nudge times half the curvature. Which two points are central?",
        ),
        "divides by the nudge": (
            "(2 * eps)",
            "eps",
            "How far apart are the two points that you compare?",
        ),
        "a number gives a vector": (
            "return np.stack(columns, axis=1)",
            "return np.squeeze(np.stack(columns, axis=1))",
            "A scalar output still has a Jacobian with one row: its shape is (1, n).",
        ),
        "the nudge is ignored": (
            "columns = []",
            "columns, eps = [], 1e-5",
            "The nudge is an argument. Do you use eps, or a number of your own?",
        ),
        "all inputs are nudged at once": (
            "nudge in eps * np.eye(len(x))",
            "nudge in eps * np.ones((len(x), len(x)))",
            "Column j asks what x_j does alone. How many entries of x does your nudge move?",
        ),
    }
)


@jacobian.wrong(
    "x itself is moved and put back",
    advice="f may hand back the very array that it was given, and that array moves with x. Move a copy.",
)
def _(f, x, eps=1e-5):
    columns, x = [], np.array(x, float)
    for j in range(len(x)):
        kept = x[j]
        x[j] = kept + eps
        up = np.atleast_1d(f(x))
        x[j] = kept - eps
        down = np.atleast_1d(f(x))
        x[j] = kept
        columns.append((up - down) / (2 * eps))
    return np.stack(columns, axis=1)


jacobian.worked(
    why=r"""Moving one input alone and looking at all outputs gives a column. Both sides are used: the even terms of Taylor's series
    cancel, and the error is of order $\varepsilon^2$ in place of $\varepsilon$. `x + nudge` makes a new array, so nothing that f keeps or
    hands back can move with it. It costs $2n$ runs of f, which is why it judges gradients and does not replace them."""
)


@jacobian.right("one entry at a time")
def _(f, x, eps=1e-5):
    m = np.size(f(x))
    J = [[0.0] * len(x) for _ in range(m)]
    for j in range(len(x)):
        up, down = [float(v) for v in x], [float(v) for v in x]
        up[j], down[j] = up[j] + eps, down[j] - eps
        high, low = np.ravel(f(np.array(up))), np.ravel(f(np.array(down)))
        for i in range(m):
            J[i][j] = (high[i] - low[i]) / (2 * eps)
    return J


@jacobian.right("all nudged points at once")
def _(f, x, eps=1e-5):
    points = np.vstack([x + eps * np.eye(len(x)), x - eps * np.eye(len(x))])
    values = np.array([np.ravel(f(p)) for p in points])
    return (values[: len(x)] - values[len(x) :]).T / (2 * eps)


# ---------------------------------------------------------------- a chain of single units

chain_slopes = Exercise(
    "chain_slopes",
    reference=reference.chain_slopes,
    compare=close(rtol=1e-6, atol=1e-12),
    batched=("ws", "x", "y"),
    hints=[
        "Forward, and keep every h. Then one number for each row travels back: what arrives at the unit above.",
        "At the output 2 (w_n h_n - y) arrives, over the number of rows. To go one unit down, multiply by its weight and by "
        "the slope of its sigmoid. On the way, each weight takes what arrives times the h that it multiplies.",
        "From the last weight to the first: the slope by w_l is the sum over the rows of what arrives, times h_l. What "
        "arrives below the unit h_(l+1) has been multiplied by w_(l+1) h_(l+1) (1 - h_(l+1)).",
    ],
)


@chain_slopes.cases
def _(rng):
    def draw(n, rows, **more):
        return dict(ws=away(rng, n + 1), x=away(rng, rows), y=away(rng, rows)) | more

    yield "two sigmoid units", draw(2, 4)
    yield "five sigmoid units", draw(5, 3)
    yield "one sigmoid unit", draw(1, 3)
    yield "no sigmoid: a line through 0", draw(0, 4)
    yield "a single row", draw(3, 1)
    yield "large weights", draw(3, 3, ws=5 * away(rng, 4))
    yield "whole numbers", draw(2, 3, x=np.array([1, -2, 3]), y=np.array([0, 1, -1]))
    yield "whole numbers", draw(2, 3, ws=rng.choice([-2, -1, 1, 2], 3))
    zero = draw(3, 4)
    zero["ws"][1] = 0.0  # all below gets nothing, the weight itself does
    yield "a weight of 0", zero
    yield "input 0", draw(2, 3, x=np.zeros(3))


chain_slopes.mistakes(
    {
        "a sum in place of the mean": (
            " / len(x)",
            "",
            "The loss is a mean over the rows. Do your slopes double when every row appears twice?",
        ),
        "the 2 of the square is missing": (
            "2 * (ws[-1] * hs[-1] - y)",
            "(ws[-1] * hs[-1] - y)",
            "The loss is the mean of squares, without a half: what is the slope of e²?",
        ),
        "the error has the wrong sign": (
            "(ws[-1] * hs[-1] - y)",
            "(y - ws[-1] * hs[-1])",
            "Where the output is too large, should the slope by it be positive or negative?",
        ),
        "the slope of the sigmoid is missing": (
            " * hs[l + 1] * (1 - hs[l + 1])",
            "",
            "From h back to what was put into the sigmoid, which factor is there?",
        ),
        "the slope of the unit below": (
            " * hs[l + 1] * (1 - hs[l + 1])",
            " * hs[l] * (1 - hs[l])",
            "Which unit does w_l feed: h_l or h_(l+1)? Its sigmoid stands between the weight and the loss.",
        ),
        "the weight below": (
            "arrives * ws[l + 1]",
            "arrives * ws[l]",
            "By which weight does h_(l+1) reach the next unit?",
        ),
        "a sigmoid at the output": (
            "2 * (ws[-1] * hs[-1] - y)",
            "2 * (expit(ws[-1] * hs[-1]) - y)",
            "The last weight makes the output, without a sigmoid.",
        ),
        "slopes from the last to the first": (
            "slopes[::-1]",
            "slopes",
            "In which order did you collect, and in which does the text want them?",
        ),
        "slopes cut to whole numbers": (
            "np.array(slopes[::-1])",
            "np.array(slopes[::-1], dtype=np.asarray(ws).dtype)",
            "For weights like [1, -2, 1] are your slopes whole numbers, too? np.zeros_like and its kin keep the type.",
        ),
        "means multiplied": (
            "np.sum(arrives * hs[l])",
            "np.sum(arrives) * np.mean(hs[l])",
            "Each row has its own product. Is the mean of products the product of means?",
        ),
    }
)

chain_slopes.worked(
    why=r"""One number for each row travels back, and each weight takes its share as it passes: what arrives, times the $h$ that the
    weight multiplies. The product that belongs to $w_{l+1}$ is used again for $w_l$, with two more factors. Written out for each weight
    anew, n weights need about n² factors; carried along, 2n. The rows stay apart until the sum."""
)


@chain_slopes.right("the whole product for each weight anew, row by row")
def _(ws, x, y):
    n, slopes = len(ws) - 1, [0.0] * len(ws)
    for one, target in zip(x, y, strict=True):
        hs = [float(one)]
        for w in ws[:-1]:
            hs.append(1 / (1 + np.exp(-w * hs[-1])))
        for k in range(n + 1):
            product = 2 * (ws[n] * hs[n] - target) * hs[k] / len(x)
            for j in range(k + 1, n + 1):
                product *= ws[j] * hs[j] * (1 - hs[j])
            slopes[k] += product
    return slopes


@chain_slopes.right("by torch's autograd", library="torch.autograd")
def _(ws, x, y):
    ws = torch.tensor(ws, dtype=torch.float64, requires_grad=True)
    h = torch.as_tensor(x, dtype=torch.float64)
    for w in ws[:-1]:
        h = torch.sigmoid(w * h)
    ((ws[-1] * h - torch.as_tensor(y)) ** 2).mean().backward()
    return ws.grad


# ---------------------------------------------------------------- one layer

layer_backward = Exercise(
    "layer_backward",
    reference=lambda **inputs: dict(
        zip(("dW", "db", "da"), reference.layer_gradients(**inputs), strict=True)
    ),
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W", "a", "upstream", "z"),
    hints=[
        "First bring what arrives from the output of the layer to z: which factor does unit k contribute?",
        "That is delta, one number a unit. The bias adds to z directly. Weight W[k, j] multiplies a[j] and feeds unit k. And "
        "a[j] feeds every unit k, through W[k, j].",
        "dW is the outer product of delta and a (delta first); db is delta; da is the transpose of W times delta.",
    ],
)


@layer_backward.probe
def _(answer, W, a, z, act, upstream):
    slopes = {
        "identity": lambda z: np.ones_like(z),
        "relu": lambda z: (z > 0) * 1.0,
        "tanh": lambda z: 1 - np.tanh(z) ** 2,
        "sigmoid": lambda z: 0.25 / np.cosh(z / 2) ** 2,
    }
    dW, db, da = answer(W, a, z, slopes[act], upstream)
    return dict(dW=dW, db=db, da=da)


@layer_backward.cases
def _(rng):
    def draw(n, d, act, **more):
        W, a = away(rng, n, d), away(rng, d)
        z = W @ a + away(rng, n)
        return dict(W=W, a=a, z=z, act=act, upstream=away(rng, n)) | more

    yield "three numbers in, two out", draw(2, 3, "tanh")
    yield "two in, four out", draw(4, 2, "sigmoid")
    yield "as many out as in", draw(3, 3, "tanh")
    z = np.array([1, -1, 1, -1]) * rng.uniform(0.3, 1.5, 4)
    yield "ReLU: half of the units are off", draw(4, 3, "relu", z=z)
    off = -rng.uniform(0.1, 1, 3)
    yield "a dead layer sends nothing back", draw(3, 2, "relu", z=off)
    yield "no bend at all", draw(2, 2, "identity")
    yield "one in, one out", draw(1, 1, "sigmoid")


layer_backward.mistakes(
    {
        "W is not transposed on the way back": (
            "W.T @ delta",
            "(W if W.shape[0] == W.shape[1] else W.T) @ delta",
            "da[j] collects over all units k that a[j] feeds: over which index of W do you sum? On a square W the shapes do "
            "not tell you.",
        ),
        "the outer product the wrong way round": (
            "np.outer(delta, a)",
            "np.outer(a, delta)",
            "dW must have the shape of W, with delta[k] in row k. Which factor comes first?",
        ),
        "the slope of the activation is missing": (
            "upstream * slope(z)",
            "upstream",
            "upstream belongs to phi(z). What belongs to z?",
        ),
        "the slope is used for the weights only": (
            "W.T @ delta",
            "W.T @ upstream",
            "What goes to the layer below passes the activation as well: which vector do you multiply?",
        ),
        "the bias gets what the output gets": (
            ", delta, W.T",
            ", upstream, W.T",
            "The bias is added before the activation. Is its slope that of z or that of the output?",
        ),
        "the slope without the bias": (
            "slope(z)",
            "slope(W @ a)",
            "z is W a + b. Do you use the z that you were given?",
        ),
    }
)

layer_backward.worked(
    why=r"""Count paths. $W_{kj}$ reaches the loss through $z_k$ alone, so its slope is one product, and all of them together are an outer
    product. $a_j$ reaches it through every $z_k$, so its slope is a sum over $k$: the first index of W, which is what the transpose says.
    delta is computed once and used three times."""
)


@layer_backward.right("loops over units and inputs")
def _(W, a, z, slope, upstream):
    n, d = W.shape
    slopes = slope(z)
    dW, db, da = [[0.0] * d for _ in range(n)], [0.0] * n, [0.0] * d
    for k in range(n):
        db[k] = upstream[k] * slopes[k]
        for j in range(d):
            dW[k][j] = db[k] * a[j]
            da[j] += db[k] * W[k, j]
    return dW, db, da


@layer_backward.right("rows instead of columns")
def _(W, a, z, slope, upstream):
    row = (upstream * slope(z))[None]
    return row.T @ a[None], row[0], (row @ W)[0]


# ---------------------------------------------------------------- the order of a product

jacobian_chain = Exercise(
    "jacobian_chain",
    reference=reference.chain,
    compare=close(rtol=1e-6, atol=1e-10),  # counts are small: an error of 1 is seen
    hints=[
        "Keep one matrix, the product so far. With which Jacobian do you start in each order, and on which side does the "
        "next one join?",
        "forward: start with the first of the list, each later one joins on the left. reverse: start with the last, each "
        "earlier one joins on the right.",
        "Before each product of shapes (p, q) and (q, r), add p·q·r to the count. The first Jacobian alone costs nothing.",
    ],
)


@jacobian_chain.cases
def _(rng):
    def draw(sizes, order):
        pairs = zip(sizes, sizes[1:], strict=False)
        return dict(Js=[away(rng, n, d) for d, n in pairs], order=order)

    for order in ("forward", "reverse"):
        yield "many inputs, one output", draw([6, 4, 5, 1], order)
        yield "one input, many outputs", draw([1, 3, 4, 5], order)
        yield "square Jacobians", draw([2, 2, 2, 2], order)
        yield "a single Jacobian costs nothing", draw([3, 2], order)
        yield "two in a row", draw([4, 3, 2], order)


jacobian_chain.mistakes(
    {
        "always from the input side": (
            '(Js[0], Js[1:]) if order == "forward" else (Js[-1], Js[-2::-1])\n    for J in rest:\n'
            '        left, right = (J, product) if order == "forward" else (product, J)',
            "Js[0], Js[1:]\n    for J in rest:\n        left, right = J, product",
            "The product is the same in both orders, the cost is not. Is yours the same for many inputs and one output?",
        ),
        "forward and reverse are exchanged": (
            "    count = 0\n",
            '    count = 0\n    order = "reverse" if order == "forward" else "forward"\n',
            "Forward mode starts where the data enter: which Jacobian of the list is that?",
        ),
        "counts the entries of the result": (
            "left.shape[0] * left.shape[1] * right.shape[1]",
            "left.shape[0] * right.shape[1]",
            "Each entry of a (p, q)(q, r) product is a sum of how many products?",
        ),
        "counts the additions too": (
            "left.shape[0] * left.shape[1] * right.shape[1]",
            "left.shape[0] * (2 * left.shape[1] - 1) * right.shape[1]",
            "The text asks for multiplications only.",
        ),
        "the first Jacobian counts as a product": (
            "count = 0",
            "count = Js[0].size",
            "A list with one Jacobian needs no multiplication at all. Is your count 0?",
        ),
        "the product is transposed": (
            "return product, count",
            "return product.T, count",
            "The Jacobian of the whole has a row for each output of the last function.",
        ),
    }
)

jacobian_chain.worked(
    why=r"""The matrix that is carried along decides. Forward mode carries one with as many columns as there are inputs, reverse mode one
    with as many rows as there are outputs. A loss has one output: reverse mode carries a single row, and a product with a row costs as
    much as the layer itself."""
)


@jacobian_chain.right("the count from the sizes alone")
def _(Js, order):
    sizes = [Js[0].shape[1]] + [len(J) for J in Js]
    forward = order == "forward"
    inner = zip(sizes[1:], sizes[2:], strict=False)
    if not forward:
        inner = zip(sizes[:-2], sizes[1:], strict=False)
    count = sizes[0 if forward else -1] * sum(p * q for p, q in inner)
    product = Js[0]
    for J in Js[1:]:
        product = J @ product
    return product.tolist(), float(count)


@jacobian_chain.right("by numpy's multi_dot", library="numpy.linalg.multi_dot")
def _(Js, order):
    count, kept = 0, Js[0 if order == "forward" else -1].shape
    for J in Js[1:] if order == "forward" else Js[-2::-1]:
        p, q, r = (*J.shape, kept[1]) if order == "forward" else (*kept, J.shape[1])
        count, kept = count + p * q * r, (p, r)
    return (np.linalg.multi_dot(Js[::-1]) if len(Js) > 1 else Js[0]), count


# ---------------------------------------------------------------- primitives

vjp = Exercise(
    "vjp",
    reference=reference.primitive_vjp,
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("v", "g"),
    hints=[
        "Entry j of the result is the sum over all outputs i of g_i times the slope of output i by v_j. Put the slopes of the "
        "text into that sum.",
        "Softmax: the sum of g_i p_i (1[i=j] - p_j) has two parts, and p @ g is in one of them. Norm: three parts, two of "
        "them means. Index: begin with zeros, and add.",
        "In norm, the sum over i of g_i u_i / n is np.mean(g * u). For index, shares[where] += g adds once where an entry is "
        "read twice; np.add.at or a loop adds twice.",
    ],
)


@vjp.cases
def _(rng):
    def draw(kind, n, where=None, **more):
        outputs = n if where is None else len(where)
        return dict(kind=kind, v=away(rng, n), g=away(rng, outputs), where=where) | more

    yield "softmax", draw("softmax", 4)
    yield "softmax", draw("softmax", 3, g=np.array([1.0, 0.0, 0.0]))
    yield "softmax", draw("softmax", 1)
    for n in (3, 5):
        v = rng.uniform(2, 5) * np.arange(n) ** 1.5 + rng.uniform(1, 9)
        yield "norm", draw("norm", n, v=v)
    whole = np.array([3, -1, 4, 7])
    yield "norm", draw("norm", 4, v=whole)
    yield "index: each entry once", draw("index", 4, np.array([2, 0, 3, 1]))
    yield "index: entries read twice or never", draw("index", 4, np.array([3, 0, 3]))
    many = np.array([1, 1, 0, 1, 4, 4, 0])
    yield "index: entries read twice or never", draw("index", 5, many)
    yield (
        "index: entries read twice or never",
        draw("index", 4, np.array([2, 2]), v=whole),
    )


vjp.mistakes(
    {
        "softmax entry by entry": (
            "p * (g - p @ g)",
            "g * p * (1 - p)",
            "That is the diagonal of the Jacobian. Does output 1 not depend on v_2?",
        ),
        "softmax's shares are not weighed": (
            "p * (g - p @ g)",
            "g - p @ g",
            "How large is the slope by an entry whose p is tiny?",
        ),
        "the mean of g for its mean under p": (
            "p @ g",
            "np.mean(g)",
            "The second part of the sum is over g_i p_i. Which mean of g is that?",
        ),
        "mean and deviation as if they were fixed": (
            "(g - np.mean(g) - r * np.mean(g * r) / np.var(v))",
            "g",
            "v_j moves the mean and the deviation of all entries. Which outputs feel it?",
        ),
        "only the mean moves": (
            " - r * np.mean(g * r) / np.var(v)",
            "",
            "v_j moves the standard deviation, too: which part of the slope belongs to s?",
        ),
        "sums for means": (
            "r * np.mean(g * r)",
            "r * np.sum(g * r)",
            "Where is the 1/n of the third part?",
        ),
        "not divided by the deviation": (
            "(g - np.mean(g) - r * np.mean(g * r) / np.var(v)) / np.std(v)",
            "g - np.mean(g) - r * np.mean(g * r) / np.var(v)",
            "Double v: u stays as it is. What becomes of its slopes?",
        ),
        "each entry adds once": (
            "np.add.at(shares, where, g)",
            "shares[where] += g",
            "`shares[where] += g` reads all of shares, then writes. What if where names an entry twice?",
        ),
        "gathered in place of scattered": (
            "np.add.at(shares, where, g)",
            "shares[: len(where)] = np.asarray(g)[np.argsort(where)]",
            "g_k belongs to the entry where[k]. Into which place of the result does it go?",
        ),
    }
)

vjp.worked(
    why=r"""Each line is the sum over the outputs, written out. For softmax $\sum_i g_ip_i(1[i=j] - p_j) = p_j(g_j - p^\top g)$: two
    products in place of an $n\times n$ matrix. For the norm the three parts are the three ways in which $v_j$ acts. For an index the Jacobian
    is full of zeros, and its transpose scatters: `np.add.at` adds where an index comes twice."""
)


@vjp.right("with the whole Jacobian")
def _(kind, v, g, where=None):
    n = len(v)
    if kind == "softmax":
        p = np.exp(v) / np.exp(v).sum()
        J = np.diag(p) - np.outer(p, p)
    elif kind == "norm":
        u = (v - np.mean(v)) / np.std(v)
        J = (np.eye(n) - 1 / n - np.outer(u, u) / n) / np.std(v)
    else:
        J = np.eye(n)[where]
    return g @ J


@vjp.right("by torch's transform", library="torch.func.vjp")
def _(kind, v, g, where=None):
    functions = {
        "softmax": lambda v: v.softmax(0),
        "norm": lambda v: (v - v.mean()) / v.std(correction=0),
        "index": lambda v: v[torch.as_tensor(where)],
    }
    v = torch.as_tensor(v, dtype=torch.float64)
    return torch.func.vjp(functions[kind], v)[1](torch.as_tensor(g))[0]

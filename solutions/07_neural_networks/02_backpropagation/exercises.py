"""Exercises of 07_neural_networks/02_backpropagation."""

import functools
import math

import numpy as np
import torch
from scipy.special import expit, log_softmax, softmax

from descent.compare import close
from solutions.spec import Exercise

from . import reference


def away(rng, *shape):
    """Numbers of either sign, none small: nothing is hidden by a zero."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.4, 1.4, shape)


# ---------------------------------------------------------------- numerical Jacobian

jacobian = Exercise(
    "jacobian",
    reference=reference.central_jacobian,
    compare=close(rtol=1e-6, atol=1e-8),  # rounding: 1e-15 over the smallest step, 1e-3
    batched=("A", "B", "K", "c", "x"),
    hints=[
        "Column j tells what happens to all outputs when x_j alone moves. So one loop over the inputs is enough.",
        "For each j: a copy of x with h added at place j, another with h subtracted. The difference of the two outputs, over 2h, is column j.",
        "np.atleast_1d makes an array of a number. Collect the differences in a list and np.stack(columns, axis=1): axis 1, because they are columns.",
    ],
)


@jacobian.probe
def _(answer, A, B, c, K, x, h):
    # f(x) = A x + c (x'Bx) + K x³; with one output f returns a plain number.
    # With c = 0 it is the identity, and hands back the very array that it got.
    def f(x):
        if not c.any():
            return x
        value = A @ x + c * (x @ B @ x) + K @ x**3
        return float(value[0]) if len(value) == 1 else value

    return answer(f, x, h)


@jacobian.cases
def _(rng):
    yield "a row for each output", _curve(rng, 3, 2, 0.1)
    yield "a row for each output", _curve(rng, 2, 4, 1e-3)
    square = _curve(rng, 3, 3, 0.5)
    square["K"] = np.zeros((3, 3))
    yield "exact on quadratics, however long the step", square
    yield "a number gives one row", _curve(rng, 1, 3, 0.1)
    yield "one input, one output", _curve(rng, 1, 1, 0.2)
    yield "at the origin", _curve(rng, 2, 3, 0.1) | dict(x=np.zeros(3))
    nothing = dict(A=np.eye(3), c=np.zeros(3), K=np.zeros((3, 3)))
    yield "f that hands back its own x", _curve(rng, 3, 3, 0.1) | nothing


def _curve(rng, m, n, h):
    B = away(rng, n, n)
    return dict(
        A=away(rng, m, n), B=B, c=away(rng, m), K=away(rng, m, n), x=away(rng, n), h=h
    )


def _columns(f, x, h, difference):
    return np.stack([difference(f, x, h * e) for e in np.eye(len(x))], axis=1)


def _central(f, x, step):
    return (np.atleast_1d(f(x + step)) - np.atleast_1d(f(x - step))) / (
        2 * np.linalg.norm(step)
    )


@jacobian.wrong(
    "the differences are stacked as rows",
    advice="Which index runs over the outputs, the row or the column? Look at the shape for three outputs and two inputs.",
)
def _(f, x, h=1e-5):
    return _columns(f, x, h, _central).T


@jacobian.wrong(
    "one-sided differences",
    advice="Compare f(x + h) with f(x - h), not with f(x): on a parabola the one-sided slope is off by h times half the curvature.",
)
def _(f, x, h=1e-5):
    return _columns(
        f,
        x,
        h,
        lambda f, x, s: np.atleast_1d((f(x + s) - f(x)) / np.linalg.norm(s)).astype(
            float
        ),
    )


@jacobian.wrong(
    "divides by h",
    advice="How far apart are x + h and x - h?",
)
def _(f, x, h=1e-5):
    return 2 * _columns(f, x, h, _central)


@jacobian.wrong(
    "a number gives a vector",
    advice="A scalar output still has a Jacobian with one row: its shape is (1, n).",
)
def _(f, x, h=1e-5):
    J = _columns(f, x, h, _central)
    return J[0] if len(J) == 1 else J


@jacobian.wrong(
    "the step is ignored",
    advice="The step is an argument. Do you use h, or a number of your own?",
)
def _(f, x, h=1e-5):
    return _columns(f, x, 1e-5, _central)


@jacobian.wrong(
    "x itself is moved and put back",
    advice="f may hand back the very array that it was given, and that array moves with x. Move a copy.",
)
def _(f, x, h=1e-5):
    columns = []
    for j in range(len(x)):
        kept = x[j]
        x[j] = kept + h
        up = np.atleast_1d(f(x))
        x[j] = kept - h
        down = np.atleast_1d(f(x))
        x[j] = kept
        columns.append((up - down) / (2 * h))
    return np.stack(columns, axis=1)


@jacobian.right("x is moved and put back, the values are copied")
def _(f, x, h=1e-5):
    columns = []
    for j in range(len(x)):
        kept = x[j]
        x[j] = kept + h
        up = np.array(f(x), ndmin=1)
        x[j] = kept - h
        down = np.array(f(x), ndmin=1)
        x[j] = kept
        columns.append((up - down) / (2 * h))
    return np.stack(columns, axis=1)


@jacobian.right("one entry at a time")
def _(f, x, h=1e-5):
    m = np.size(f(x))
    J = [[0.0] * len(x) for _ in range(m)]
    for j in range(len(x)):
        up, down = list(x), list(x)
        up[j], down[j] = up[j] + h, down[j] - h
        high, low = np.ravel(f(np.array(up))), np.ravel(f(np.array(down)))
        for i in range(m):
            J[i][j] = (high[i] - low[i]) / (2 * h)
    return J


@jacobian.right("all shifted points at once")
def _(f, x, h=1e-5):
    points = np.vstack([x + h * np.eye(len(x)), x - h * np.eye(len(x))])
    values = np.array([np.ravel(f(p)) for p in points])
    return (values[: len(x)] - values[len(x) :]).T / (2 * h)


# ---------------------------------------------------------------- the 2-2-1 network

backprop_221 = Exercise(
    "backprop_221",
    reference=lambda w, x, t, act: reference.two_two_one(w, x, w.new_tensor(t), act),
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    batched=("w", "x"),
    hints=[
        "Go forward first and keep every number: z1, z2, h1, h2, z3, y. All that you need on the way back is among them.",
        "Backward: dz3 = (y - t) y (1 - y). The slope by w5 is dz3 times h1. What does h1 get? dz3 times w5; and z1 gets that times the slope of the activation.",
        "dz1 = dz3 * w5 * slope(z1), dz2 = dz3 * w6 * slope(z2). Then [dz1*x1, dz1*x2, dz2*x1, dz2*x2, dz3*h1, dz3*h2]; the slope of relu is 1.0 only where z > 0.",
    ],
)


@backprop_221.cases
def _(rng):
    yield (
        "the example of the notes",
        dict(w=NOTES_W.copy(), x=np.array([1.0, 0.0]), t=1.0, act="sigmoid"),
    )
    yield "sigmoid units", dict(w=away(rng, 6), x=away(rng, 2), t=0.0, act="sigmoid")
    one_on = dict(w=away(rng, 6), x=np.abs(away(rng, 2)), t=1.0, act="relu")
    one_on["w"][:4] = np.abs(one_on["w"][:4]) * [1, 1, -1, -1]
    yield "relu units, one of them off", one_on
    both_on = dict(w=away(rng, 6), x=np.abs(away(rng, 2)), t=1.0, act="relu")
    both_on["w"][:4] = np.abs(both_on["w"][:4])
    yield "relu units, both on", both_on
    kink = (
        rng.integers(4, 12, 2) / 8
    )  # eighths: the two products cancel exactly, in any order
    yield (
        "a relu unit exactly at its kink",
        dict(
            w=np.array([kink[0], -kink[0], -0.75, -0.5, 0.9, -0.8]),
            x=np.array([kink[1], kink[1]]),
            t=0.2,
            act="relu",
        ),
    )
    yield "no input at all", dict(w=away(rng, 6), x=np.zeros(2), t=0.3, act="sigmoid")


NOTES_W = np.array([0.5, -0.5, 0.3, 0.1, 0.2, -0.1])


def _by_hand(
    w, x, t, act,
    kink=0.0, error=lambda y, t: y - t, out=lambda y: y * (1 - y), slope=None, crossed=False, half=0.5,
):  # fmt: skip
    """Right where nothing is changed; each wrong answer changes one ingredient."""
    z = np.array([w[0] * x[0] + w[1] * x[1], w[2] * x[0] + w[3] * x[1]])
    h = np.maximum(z, 0) if act == "relu" else expit(z)
    y = expit(w[4] * h[0] + w[5] * h[1])
    dz3 = error(y, t) * out(y)
    bend = (
        np.where(z > 0, 1.0, np.where(z == 0, kink, 0.0))
        if act == "relu"
        else h * (1 - h)
    )
    if slope is not None:
        bend = slope(z, h, act, bend)
    back = w[4:][::-1] if crossed else w[4:]
    dz = dz3 * back * bend
    return half * (y - t) ** 2, np.array([*(dz[0] * x), *(dz[1] * x), *(dz3 * h)])


@backprop_221.wrong(
    "the slope of the output unit is missing",
    advice="Between the loss and z3 stands a sigmoid. Which factor does it contribute? (For cross-entropy it would cancel; here the loss is squared.)",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, out=lambda y: 1.0)


@backprop_221.wrong(
    "the error has the wrong sign",
    advice="L falls when y moves towards t. For t above y, must dL/dy be positive or negative?",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, error=lambda y, t: t - y)


@backprop_221.wrong(
    "the hidden activation is not differentiated",
    advice="From h1 back to z1 the signal passes the activation. Multiply by its slope there.",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, slope=lambda z, h, act, bend: np.ones(2))


@backprop_221.wrong(
    "always the slope of the sigmoid",
    advice="Is the slope of relu h (1 - h)? The answer depends on act.",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, slope=lambda z, h, act, bend: h * (1 - h))


@backprop_221.wrong(
    "z (1 - z) for the slope of the sigmoid",
    advice="σ' = σ (1 - σ): the factors are values of the sigmoid, not its arguments.",
)
def _(w, x, t, act):
    return _by_hand(
        w,
        x,
        t,
        act,
        slope=lambda z, h, act, bend: bend if act == "relu" else z * (1 - z),
    )


@backprop_221.wrong(
    "the sigmoid is applied twice in the slope",
    advice="h is σ(z) already. Does your slope apply the sigmoid to it once more?",
)
def _(w, x, t, act):
    return _by_hand(
        w,
        x,
        t,
        act,
        slope=lambda z, h, act, bend: bend if act == "relu" else expit(h) * expit(-h),
    )


@backprop_221.wrong(
    "slope 1 at the kink",
    advice="At z = 0 relu has no derivative; the text says which number programs take.",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, kink=1.0)


@backprop_221.wrong(
    "the output weights are swapped on the way back",
    advice="Follow the arrows: through which weight does h1 reach z3?",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, crossed=True)


@backprop_221.wrong(
    "the loss without its half",
    advice="L = ½ (y - t)²: compare your L with the number of the notes.",
)
def _(w, x, t, act):
    return _by_hand(w, x, t, act, half=1.0)


@backprop_221.right("matrices")
def _(w, x, t, act):
    W, v = w[:4].reshape(2, 2), w[4:]
    z = W @ x
    h, slope = (
        (np.maximum(z, 0), z > 0) if act == "relu" else (expit(z), expit(z) * expit(-z))
    )
    y = expit(v @ h)
    delta = (y - t) * y * (1 - y)
    return (y - t) ** 2 / 2, np.concatenate(
        [np.outer(delta * v * slope, x).ravel(), delta * h]
    )


@backprop_221.right("torch's autograd")
def _(w, x, t, act):
    w = torch.tensor(w, requires_grad=True)
    z = w[:4].reshape(2, 2) @ torch.from_numpy(x)
    h = z.relu() if act == "relu" else z.sigmoid()
    loss = ((w[4:] @ h).sigmoid() - t) ** 2 / 2
    loss.backward()
    return loss.item(), w.grad.numpy()


@backprop_221.right("lists and plain numbers")
def _(w, x, t, act):
    loss, grads = _by_hand(np.array(w), np.array(x), t, act)
    return [float(loss), [float(g) for g in grads]]


@backprop_221.right("single precision")
def _(w, x, t, act):
    loss, grads = _by_hand(
        w.astype(np.float32), x.astype(np.float32), np.float32(t), act
    )
    return np.float32(loss), grads.astype(np.float32)


# ---------------------------------------------------------------- the engine

Value = Exercise(
    "Value",
    reference=lambda leaves, program, calls: reference.run_program(leaves, program),
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("leaves",),
    hints=[
        "exp shows how an operation is written: the result, the inputs, and the derivative of the result by each input. What are the two derivatives of a + b, and of a · b?",
        "backward needs an order in which a value comes after all its inputs: visit the inputs of a value first (each once), then append it. Read the list from its end: every value then has its full grad before it passes it on.",
        "Set grad = 0.0 for every value in the order, self.grad = 1.0; then for v in reversed(order): for u, s in zip(v.inputs, v.slopes): u.grad += s * v.grad.",
    ],
)


@Value.probe
def _(answer, leaves, program, calls):
    # v0, v1, … are the leaves, then one value for each step; ["*", 0, 1] is v0 * v1.
    # Value 1 of the result is the list of all data, value 2 that of all grads.
    nodes = [answer(float(x)) for x in leaves]
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
        else:
            nodes.append(getattr(one, name)())
    for _ in range(calls):
        nodes[-1].backward()
    return [[float(v.data) for v in nodes], [float(v.grad) for v in nodes]]


@Value.cases
def _(rng):
    def draw(n, program, calls=1, **more):
        return (
            dict(
                leaves=away(rng, n),
                program=[list(step) for step in program],
                calls=calls,
            )
            | more
        )

    yield "sums and products", draw(3, [("*", 0, 1), ("+", 3, 2), ("*", 4, 1)])
    yield (
        "numbers on the right",
        draw(1, [("scale", 0, 3.0), ("shift", 1, -0.5), ("*", 2, 0)]),
    )
    yield (
        "sigmoid and exp",
        draw(2, [("*", 0, 1), ("sigmoid", 2), ("+", 3, 0), ("exp", 4)]),
    )
    yield (
        "relu on both sides",
        draw(2, [("relu", 0), ("relu", 1), ("+", 2, 3), ("*", 4, 1)])
        | dict(leaves=np.array([1, -1]) * rng.uniform(0.5, 1.5, 2)),
    )
    yield (
        "relu exactly at 0",
        dict(leaves=np.array([0.0, 0.7]), program=[["relu", 0], ["+", 2, 1]], calls=1),
    )
    yield "a value used twice", draw(1, [("*", 0, 0), ("+", 1, 0), ("*", 2, 1)])
    # both branches of the diamond join late: who passes a half grad on, passes it twice
    diamond = [("scale", 0, 2.0), ("*", 1, 1), ("+", 1, 2), ("*", 3, 2), ("+", 4, 1)]
    yield "branches that meet again", draw(1, diamond)
    yield (
        "values that the result does not use",
        draw(3, [("*", 0, 1), ("+", 2, 0), ("*", 0, 1)]),
    )
    yield (
        "called a second time",
        draw(2, [("*", 0, 1), ("sigmoid", 2), ("*", 3, 0)], calls=2),
    )
    yield "a value by itself", draw(1, [])
    yield "a random graph", draw(3, _random_program(rng, 3, 9))
    doubled = [
        step
        for i in range(1, 80, 2)
        for step in (("+", i - 1, i - 1), ("scale", i, 0.5))
    ]
    yield "forty doublings in a row, 2⁴⁰ paths", draw(1, doubled)


def _random_program(rng, n, steps):
    """Every step uses the newest node and some earlier one; sigmoids keep the numbers small."""
    program = []
    for newest in range(n - 1, n - 1 + steps):
        name = ["+", "*", "sigmoid"][len(program) % 3]
        other = int(rng.integers(0, newest + 1))
        program.append((name, newest) if name == "sigmoid" else (name, newest, other))
    return program


class _Value:
    """A right engine; wrong ones change one of its parts."""

    def __init__(self, data, inputs=(), slopes=()):
        self.data, self.inputs, self.slopes, self.grad = data, inputs, slopes, 0.0

    def lift(self, other):
        return other if isinstance(other, _Value) else type(self)(other)

    def __add__(self, other):
        other = self.lift(other)
        return type(self)(self.data + other.data, (self, other), (1.0, 1.0))

    def product_slopes(self, other):
        return other.data, self.data

    def __mul__(self, other):
        other = self.lift(other)
        return type(self)(
            self.data * other.data, (self, other), self.product_slopes(other)
        )

    def exp(self):
        value = math.exp(self.data)
        return type(self)(value, (self,), (value,))

    def relu(self):
        return type(self)(max(self.data, 0.0), (self,), (self.relu_slope(),))

    def relu_slope(self):
        return float(self.data > 0)

    def sigmoid(self):
        value = 1 / (1 + math.exp(-self.data))
        return type(self)(value, (self,), (self.sigmoid_slope(value),))

    def sigmoid_slope(self, value):
        return value * (1 - value)

    def order(self):
        order, seen = [], set()

        def visit(v):
            if v not in seen:
                seen.add(v)
                for u in v.inputs:
                    visit(u)
                order.append(v)

        visit(self)
        return order[::-1]

    def clear(self, order):
        for v in order:
            v.grad = 0.0

    def seed(self):
        return 1.0

    def hand(self, u, amount):
        u.grad += amount

    def backward(self):
        order = self.order()
        self.clear(order)
        self.grad = self.seed()
        for v in order:
            for u, slope in zip(v.inputs, v.slopes, strict=True):
                self.hand(u, slope * v.grad)


@Value.wrong(
    "grad is overwritten",
    advice="Try x + x. A value that is used twice gets a share from each use: what must happen to the shares?",
)
class _(_Value):
    def hand(self, u, amount):
        u.grad = amount


@Value.wrong(
    "values pass their grad on before it is complete",
    advice="A value may pass its grad on only when all that use it have reported. In which order do you visit them? Draw y = a·b with b = a·a.",
)
class _(_Value):
    def order(self):
        order, seen, queue = [], set(), [self]
        while queue:  # breadth first, from the result
            v = queue.pop(0)
            if v not in seen:
                seen.add(v)
                order.append(v)
                queue += v.inputs
        return order


@Value.wrong(
    "a shared value is visited once for each use",
    advice="Is every value in your order once? One that appears twice passes its whole grad on twice.",
)
class _(_Value):
    def order(self):
        order = []

        def visit(v):
            for u in v.inputs if len(order) < 5000 else ():
                visit(u)
            order.append(v)

        visit(self)
        return order[::-1]


@Value.wrong(
    "every path is walked by itself",
    advice="Shares that meet in a value travel on together. Add them up first, then hand the sum on, once for each edge.",
)
class _(_Value):
    def backward(self):
        self.clear(self.order())
        walked = 0

        def push(v, amount):
            nonlocal walked
            walked += 1
            if walked > 5000:
                raise TimeoutError("a student waits for ever here; the proofs need not")
            v.grad += amount
            for u, slope in zip(v.inputs, v.slopes, strict=True):
                push(u, slope * amount)

        push(self, 1.0)


@Value.wrong(
    "an input that is used twice gets one share",
    advice="In a · a both factors are the same value, with one slope each. Does it get both shares?",
)
class _(_Value):
    def backward(self):
        order = self.order()
        self.clear(order)
        self.grad = 1.0
        for v in order:
            for u, slope in dict(zip(v.inputs, v.slopes, strict=True)).items():
                u.grad += slope * v.grad


@Value.wrong(
    "the slopes of a product are swapped",
    advice="By how much does a · b change when a grows by 1: by a or by b?",
)
class _(_Value):
    def product_slopes(self, other):
        return self.data, other.data


@Value.wrong(
    "slope 1 at the kink of relu",
    advice="At 0 relu has no derivative; the text says which number to take there.",
)
class _(_Value):
    def relu_slope(self):
        return float(self.data >= 0)


@Value.wrong(
    "the slope of the sigmoid at the wrong place",
    advice="σ' = σ (1 - σ): the factors are values of the sigmoid, not its argument.",
)
class _(_Value):
    def sigmoid_slope(self, value):
        return self.data * (1 - self.data)


@Value.wrong(
    "grads pile up from call to call",
    advice="Call backward twice. The text asks for the same numbers both times: what must happen before the shares are added?",
)
class _(_Value):
    def clear(self, order):
        pass


@Value.wrong(
    "the result has no grad",
    advice="What is the derivative of the result by itself? Without it everything stays 0.",
)
class _(_Value):
    def seed(self):
        return 0.0


@Value.wrong(
    "starts from the value of the result",
    advice="The first grad is the derivative of the result by itself. Is that its value?",
)
class _(_Value):
    def seed(self):
        return self.data


@Value.right("in the order of birth, without recursion")
class _(_Value):
    born = 0

    def __init__(self, data, inputs=(), slopes=()):
        super().__init__(data, inputs, slopes)
        type(self).born += 1
        self.number = type(self).born

    def order(self):
        seen, stack = {self}, [self]
        while stack:
            for u in stack.pop().inputs:
                if u not in seen:
                    seen.add(u)
                    stack.append(u)
        return sorted(seen, key=lambda v: -v.number)


@Value.right("one function for each value that sends its grad back")
class _:
    def __init__(self, data, inputs=(), slopes=()):
        self.data, self.grad, self.inputs, self.send = data, 0.0, inputs, lambda: None

    def __add__(self, other):
        other = other if isinstance(other, type(self)) else type(self)(other)
        out = type(self)(self.data + other.data, (self, other))

        def send():
            self.grad += out.grad
            other.grad += out.grad

        out.send = send
        return out

    def __mul__(self, other):
        other = other if isinstance(other, type(self)) else type(self)(other)
        out = type(self)(self.data * other.data, (self, other))

        def send():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.send = send
        return out

    def _unary(self, value, slope):
        out = type(self)(value, (self,))

        def send():
            self.grad += slope * out.grad

        out.send = send
        return out

    def exp(self):
        return self._unary(math.exp(self.data), math.exp(self.data))

    def relu(self):
        return self._unary(self.data if self.data > 0 else 0, 1 if self.data > 0 else 0)

    def sigmoid(self):
        y = float(expit(self.data))
        return self._unary(y, y * (1 - y))

    def backward(self):
        order = []

        def build(v):
            if v not in order:
                for u in v.inputs:
                    build(u)
                order.append(v)

        build(self)
        for v in order:
            v.grad = 0.0
        self.grad = 1.0
        for v in order[::-1]:
            v.send()


# ---------------------------------------------------------------- one layer

layer_backward = Exercise(
    "layer_backward",
    reference=lambda **inputs: dict(
        zip(("dW", "db", "da"), reference.layer_gradients(**inputs), strict=True)
    ),
    compare=close(rtol=1e-6, atol=1e-10),
    batched=("W", "a", "upstream", "z"),
    hints=[
        "First bring the derivative from the output of the layer to z: which factor does unit k contribute?",
        "delta = upstream * slope(z), one number a unit. The bias adds to z directly. Weight W[k, j] multiplies a[j] and feeds unit k. And a[j] feeds every unit k, through W[k, j].",
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
    yield "relu: half of the units are off", draw(4, 3, "relu", z=z)
    yield (
        "a dead layer sends nothing back",
        draw(3, 2, "relu", z=-rng.uniform(0.1, 1, 3)),
    )
    yield "no bend at all", draw(2, 2, "identity")
    yield "one in, one out", draw(1, 1, "sigmoid")


@layer_backward.wrong(
    "W is not transposed on the way back",
    advice="da[j] collects over all units k that a[j] feeds: sum over the first index of W. On a square W the shapes do not tell you.",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(z)
    return np.outer(delta, a), delta, (W if W.shape[0] == W.shape[1] else W.T) @ delta


@layer_backward.wrong(
    "the outer product the wrong way round",
    advice="dW must have the shape of W, with delta[k] in row k. Which factor comes first?",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(z)
    return np.outer(a, delta), delta, W.T @ delta


@layer_backward.wrong(
    "the slope of the activation is missing",
    advice="upstream is the derivative by act(z). You need the one by z first.",
)
def _(W, a, z, slope, upstream):
    return np.outer(upstream, a), upstream, W.T @ upstream


@layer_backward.wrong(
    "the slope is used for the weights only",
    advice="The signal for the layer below passes the activation as well: which vector do you multiply by the transpose of W?",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(z)
    return np.outer(delta, a), delta, W.T @ upstream


@layer_backward.wrong(
    "the activations of this layer instead of its inputs",
    advice="W multiplies the numbers that come in. In dW, which vector stands beside delta?",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(z)
    return np.outer(delta, np.resize(z, len(a))), delta, W.T @ delta


@layer_backward.wrong(
    "the bias gets what the output gets",
    advice="The bias is added before the activation. Is its derivative that of z or that of the output?",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(z)
    return np.outer(delta, a), upstream, W.T @ delta


@layer_backward.wrong(
    "the slope without the bias",
    advice="z is W a + b. Do you use the z that you were given, or W a?",
)
def _(W, a, z, slope, upstream):
    delta = upstream * slope(W @ a)
    return np.outer(delta, a), delta, W.T @ delta


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


@layer_backward.right("single precision")
def _(W, a, z, slope, upstream):
    delta = (upstream * slope(z)).astype(np.float32)
    return np.outer(delta, a).astype(np.float32), delta, W.T.astype(np.float32) @ delta


# ---------------------------------------------------------------- the order of a product

jacobian_chain = Exercise(
    "jacobian_chain",
    reference=reference.chain,
    compare=close(
        rtol=1e-6, atol=1e-10, float32=True
    ),  # counts are below 10^5: an error of 1 is seen
    hints=[
        "Keep one matrix, the product so far. Which Jacobian do you start with in each order, and on which side does the next one join?",
        "forward: start with the first of the list, each later one joins on the left. reverse: start with the last, each earlier one joins on the right. Before each product of (p, q) and (q, r), add p·q·r to the count.",
        "forward: for J in Js[1:]: count += J.shape[0] * J.shape[1] * P.shape[1]; P = J @ P. reverse: for J in Js[-2::-1]: count += P.shape[0] * J.shape[0] * J.shape[1]; P = P @ J.",
    ],
)


@jacobian_chain.cases
def _(rng):
    def draw(sizes, order):
        return dict(
            Js=[away(rng, n, d) for d, n in zip(sizes, sizes[1:], strict=False)],
            order=order,
        )

    for order in ("forward", "reverse"):
        yield "many inputs, one output", draw([6, 4, 5, 1], order)
        yield "one input, many outputs", draw([1, 3, 4, 5], order)
        yield "square Jacobians", draw([2, 2, 2, 2], order)
        yield "a single Jacobian costs nothing", draw([3, 2], order)
        yield "two in a row", draw([4, 3, 2], order)


def _multiply(Js, order, cost=lambda p, q, r: p * q * r, first=0):
    count = first
    if order == "forward":
        P = Js[0]
        for J in Js[1:]:
            count += cost(*J.shape, P.shape[1])
            P = J @ P
    else:
        P = Js[-1]
        for J in Js[-2::-1]:
            count += cost(*P.shape, J.shape[1])
            P = P @ J
    return P, count


@jacobian_chain.wrong(
    "always from the input side",
    advice="The product is the same in both orders, the cost is not. Is yours the same for many inputs and one output?",
)
def _(Js, order):
    return _multiply(Js, "forward")


@jacobian_chain.wrong(
    "forward and reverse are exchanged",
    advice="Forward mode starts where the data enter: at the first Jacobian of the list.",
)
def _(Js, order):
    return _multiply(Js, "reverse" if order == "forward" else "forward")


@jacobian_chain.wrong(
    "counts the entries of the result",
    advice="Each entry of a (p, q)(q, r) product is a sum of q products.",
)
def _(Js, order):
    return _multiply(Js, order, cost=lambda p, q, r: p * r)


@jacobian_chain.wrong(
    "counts the additions too",
    advice="The text asks for multiplications only: p · q · r for each product.",
)
def _(Js, order):
    return _multiply(Js, order, cost=lambda p, q, r: p * r * (2 * q - 1))


@jacobian_chain.wrong(
    "counts the first Jacobian as a product",
    advice="A list with one Jacobian needs no multiplication at all. Is your count 0?",
)
def _(Js, order):
    return _multiply(Js, order, first=Js[0].size)


@jacobian_chain.wrong(
    "starts from an identity matrix",
    advice="Multiplying by an identity is work as well. For a list with one Jacobian, is your count 0?",
)
def _(Js, order):
    n = Js[0].shape[1] if order == "forward" else len(Js[-1])
    end = Js[0] if order == "forward" else Js[-1]
    return _multiply(Js, order, first=n * end.size)


@jacobian_chain.wrong(
    "the product is transposed",
    advice="The Jacobian of the whole has a row for each output of the last function.",
)
def _(Js, order):
    P, count = _multiply(Js, order)
    return P.T, count


@jacobian_chain.right("the count from the sizes alone")
def _(Js, order):
    sizes = [Js[0].shape[1]] + [len(J) for J in Js]
    if order == "forward":
        count = sizes[0] * sum(
            p * q for p, q in zip(sizes[1:], sizes[2:], strict=False)
        )
    else:
        count = sizes[-1] * sum(
            p * q for p, q in zip(sizes[:-2], sizes[1:], strict=False)
        )
    return functools.reduce(lambda P, J: J @ P, Js), count


@jacobian_chain.right("lists for arrays, a count as a float")
def _(Js, order):
    P, count = _multiply(Js, order)
    return [P.tolist(), float(count)]


@jacobian_chain.right("single precision")
def _(Js, order):
    P, count = _multiply([J.astype(np.float32) for J in Js], order)
    return P, count


# ---------------------------------------------------------------- a whole network, a whole batch

mlp_backward = Exercise(
    "mlp_backward",
    reference=lambda **inputs: dict(
        zip(("loss", "dWs", "dbs"), reference.mlp_gradients(**inputs), strict=True)
    ),
    compare=close(rtol=1e-6, atol=1e-10, float32=True),
    hints=[
        "Forward: keep a list of all H (H_0 = X) and a list of all A. The last layer has no phi. Then one backward step for each layer, from the last to the first.",
        "Start with Delta = (softmax(S) - Y) / N. Layer by layer: dW = Hᵀ Delta with the H that entered the layer, db = column sums of Delta; then, unless it is the first layer, Delta ← (Delta Wᵀ) ⊙ slope(A) with the A of the layer below.",
        "softmax: subtract each row's maximum before np.exp. The loss: -np.sum(Y * (S - m - log of the row sum of exp(S - m))) / N, with m the row maxima. Collect dWs and dbs in reverse and turn the lists round at the end.",
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
    def draw(N, sizes, act, scale=1.0):
        pairs = list(zip(sizes, sizes[1:], strict=False))
        return dict(
            X=away(rng, N, sizes[0]),
            Y=np.eye(sizes[-1])[np.arange(N) % sizes[-1]],
            Ws=[scale * away(rng, *pair) for pair in pairs],
            bs=[away(rng, n) for _, n in pairs],
            act=act,
        )

    yield "one hidden layer", draw(4, [3, 4, 2], "tanh")
    yield "two hidden layers of different widths", draw(5, [2, 4, 3, 3], "tanh")
    relu = draw(4, [2, 5, 3], "relu")
    relu["bs"][0] = np.abs(relu["bs"][0]) * [1, -1, 1, 1, -1] + np.array(
        [2.0, -9, 2, 2, -9]
    )
    yield "relu units, some of them off", relu
    yield "layers of equal width", draw(3, [3, 3, 3], "tanh")
    yield "no hidden layer: softmax regression", draw(4, [2, 3], "tanh")
    yield "a batch of one row", draw(1, [3, 2, 2], "tanh")
    large = draw(3, [2, 2, 3], "tanh")
    large["bs"][-1] = np.array([900.0, -900.0, 0.0]) + away(rng, 3)
    yield "scores of ±900", large


def _network(
    X, Y, Ws, bs, phi, slope,
    divide=None, bias=lambda D: D.sum(0), bend=lambda slope, A, H: slope(A), stable=True, back=lambda W: W.T, log=None,
):  # fmt: skip
    """Right where nothing is changed; each wrong answer changes one ingredient."""
    N = len(X)
    Hs, As = [X], []
    for W, b in zip(Ws, bs, strict=True):
        As.append(Hs[-1] @ W + b)
        Hs.append(phi(As[-1]))
    S = As[-1]
    if stable:
        P, log_P = softmax(S, axis=1), log_softmax(S, axis=1)
        loss = -np.sum(Y * (log(P) if log else log_P)) / N
    else:
        with np.errstate(all="ignore"):
            P = np.exp(S) / np.exp(S).sum(1, keepdims=True)
            loss = -np.sum(Y * np.log(P)) / N
    D = (P - Y) / (N if divide is None else divide)
    dWs, dbs = [], []
    for layer in reversed(range(len(Ws))):
        dWs.insert(0, Hs[layer].T @ D)
        dbs.insert(0, bias(D))
        if layer:
            D = (D @ back(Ws[layer])) * bend(slope, As[layer - 1], Hs[layer])
    return loss, dWs, dbs


@mlp_backward.wrong(
    "gradients summed over the rows",
    advice="The loss is a mean over the rows. Does your gradient stay the same when every row of the batch appears twice?",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, divide=1)


@mlp_backward.wrong(
    "the bias gradient is a mean",
    advice="Delta has been divided by N already. What is left to do over the rows?",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, bias=lambda D: D.mean(0))


@mlp_backward.wrong(
    "the hidden activation is not differentiated",
    advice="From H back to A the signal passes phi: multiply entry by entry by its slope.",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, bend=lambda slope, A, H: np.ones_like(A))


@mlp_backward.wrong(
    "the slope is taken at H",
    advice="slope expects the numbers before the activation. Which list did you hand it?",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, bend=lambda slope, A, H: slope(H))


@mlp_backward.wrong(
    "softmax overflows",
    advice="exp(900) is infinite in floating point. Subtract the maximum of each row first, also in the loss.",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, stable=False)


@mlp_backward.wrong(
    "a tiny number inside the logarithm",
    advice="Which loss has a row whose right class gets p = e^-900, and which does log(p + 1e-12) give it? Compute log p from the scores, without p.",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, log=lambda P: np.log(P + 1e-12))


@mlp_backward.wrong(
    "the loss is a mean over the classes too",
    advice="The sum over the classes stays a sum. By which number do you divide, N or N times K?",
)
def _(X, Y, Ws, bs, phi, slope):
    loss, dWs, dbs = _network(X, Y, Ws, bs, phi, slope)
    return loss / Y.shape[1], dWs, dbs


@mlp_backward.wrong(
    "W is not transposed on the way back",
    advice="Delta @ W sums over the wrong index of W. With layers of equal width the shapes do not tell you.",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(
        X, Y, Ws, bs, phi, slope, back=lambda W: W if W.shape[0] == W.shape[1] else W.T
    )


@mlp_backward.wrong(
    "the error has the wrong sign",
    advice="The score of the right class should rise. Is its entry of Delta negative?",
)
def _(X, Y, Ws, bs, phi, slope):
    return _network(X, Y, Ws, bs, phi, slope, divide=-len(X))


@mlp_backward.wrong(
    "gradients in the order of the backward pass",
    advice="dWs[0] belongs to the first layer. In which order did you collect?",
)
def _(X, Y, Ws, bs, phi, slope):
    loss, dWs, dbs = _network(X, Y, Ws, bs, phi, slope)
    return loss, dWs[::-1], dbs[::-1]


@mlp_backward.right("the mean of one-row gradients")
def _(X, Y, Ws, bs, phi, slope):
    rows = [
        _network(X[i : i + 1], Y[i : i + 1], Ws, bs, phi, slope) for i in range(len(X))
    ]
    loss = np.mean([row[0] for row in rows])
    dWs = [np.mean([row[1][k] for row in rows], axis=0) for k in range(len(Ws))]
    return (
        loss,
        dWs,
        [np.mean([row[2][k] for row in rows], axis=0) for k in range(len(bs))],
    )


@mlp_backward.right("biases as weights of a column of ones")
def _(X, Y, Ws, bs, phi, slope):
    ones = np.ones((len(X), 1))
    full = [np.vstack([W, b]) for W, b in zip(Ws, bs, strict=True)]
    Hs, As = [np.hstack([X, ones])], []
    for V in full:
        As.append(Hs[-1] @ V)
        Hs.append(np.hstack([phi(As[-1]), ones]))
    D = (softmax(As[-1], axis=1) - Y) / len(X)
    grads = []
    for k in range(len(full) - 1, -1, -1):
        grads = [Hs[k].T @ D, *grads]
        if k:
            D = (D @ full[k][:-1].T) * slope(As[k - 1])
    loss = np.mean(-(Y * log_softmax(As[-1], axis=1)).sum(1))
    return loss, [g[:-1] for g in grads], [g[-1] for g in grads]


@mlp_backward.right("single precision")
def _(X, Y, Ws, bs, phi, slope):
    single = [np.asarray(a, np.float32) for a in (X, Y)]
    Ws, bs = [W.astype(np.float32) for W in Ws], [b.astype(np.float32) for b in bs]
    loss, dWs, dbs = _network(*single, Ws, bs, phi, slope)
    return (
        np.float32(loss),
        [d.astype(np.float32) for d in dWs],
        [d.astype(np.float32) for d in dbs],
    )

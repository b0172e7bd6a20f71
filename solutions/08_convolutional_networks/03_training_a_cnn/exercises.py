"""Exercises of 08_convolutional_networks/03_training_a_cnn.

An answer that is a module gets its weights by the names of its parts, and is compared by what it says.
"""

import math

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

NEAR = close(rtol=1e-6, float32=True)
SAYS = parts(out=NEAR, weights=exact(), learning=exact())


def away(rng, *shape):
    """Of both signs and not near zero: nothing hides behind a small number."""
    return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape))


# ------------------------------------------------------------------------------------------- trace

trace = Exercise(
    "trace",
    reference=reference.trace,
    compare=exact(),
    hints=[
        "On the meta device a batch has a shape and no numbers. How do you make one, and how do you send it through a layer?",
        'x = torch.empty(shape, device="meta") is such a batch; for each layer count its parameters and try layer(x). What is written down where '
        "torch raises RuntimeError?",
        "count = sum(p.numel() for p in layer.parameters()). In try: shape = tuple(layer(x).shape); in except RuntimeError: "
        "append (None, count) and break; else append (shape, count).",
    ],
)


@trace.probe
def _(answer, spec, shape):
    nn = torch.nn
    kinds = {
        "conv": lambda a, b, size, stride, pad: nn.Conv2d(a, b, size, stride, pad),
        "pool": nn.MaxPool2d,
        "norm": nn.BatchNorm2d,
        "flatten": nn.Flatten,
        "dense": nn.Linear,
        "tanh": nn.Tanh,
        "block": lambda a, b: nn.Sequential(
            nn.Conv2d(a, b, 1, bias=False), nn.BatchNorm2d(b)
        ),
    }
    with torch.device("meta"):
        layers = [kinds[kind](*given) for kind, *given in spec]
    rows = answer(layers, tuple(shape))
    if len(layers) != len(spec):
        raise ValueError("the list of layers does not stay as it was")
    if not all(size is None or isinstance(size, tuple) for size, _ in rows):
        raise TypeError("the shape in a row is a tuple, or None")
    shapes = [None if size is None else list(size) for size, _ in rows]
    return {"shapes": shapes, "weights": [int(count) for _, count in rows]}


@trace.cases
def _(rng):
    def some(low, high):
        return int(rng.integers(low, high))

    n, a, b = some(2, 9), some(3, 9), some(10, 20)
    conv = ["conv", 2, a, 3, 2, 1]
    h, w = some(12, 16), some(17, 24)
    yield (
        "convolutions and pools",
        dict(
            spec=[conv, ["tanh"], ["pool", 2, 2], ["conv", a, b, 2, 1, 0]],
            shape=[n, 2, h, w],
        ),
    )
    yield (
        "flat and dense",
        dict(
            spec=[
                ["conv", 1, a, 5, 1, 0],
                ["flatten"],
                ["dense", a * 8, b],
                ["dense", b, 10],
            ],
            shape=[n, 1, 6, 8],
        ),
    )
    yield (
        "what is kept but not learned does not count",
        dict(spec=[["conv", 1, b, 1, 1, 0], ["norm", b]], shape=[n, 1, 5, h]),
    )
    yield (
        "a layer made of layers",
        dict(spec=[["block", 2, a], ["block", a, b]], shape=[n, 2, h, w]),
    )
    yield "no layer, no row", dict(spec=[], shape=[n, 1, 4, 4])
    yield (
        "a layer that refuses ends the table",
        dict(spec=[["dense", a + 1, b], ["tanh"]], shape=[n, 1, 4, a]),
    )
    yield (
        "a layer that refuses ends the table",
        dict(
            spec=[["conv", 1, a, 3, 1, 0], ["conv", a, b, 5, 1, 0], ["pool", 2, 2]],
            shape=[n, 1, 6, h],
        ),
    )
    yield (
        "a layer that refuses ends the table",
        dict(
            spec=[
                ["conv", 3, a, 3, 1, 0],
                ["flatten"],
                ["dense", 9 * a + 1, b],
                ["tanh"],
            ],
            shape=[n, 3, 5, 5],
        ),
    )
    # more numbers than any machine has memory for
    yield (
        "ten billion pixels",
        dict(
            spec=[["conv", 1, a, 11, 4, 2], ["pool", 3, 2]],
            shape=[n, 1, 10**5 + 4 * a, 10**5],
        ),
    )


trace.mistakes(
    {
        "goes on after the refusal": (
            "\n            break",
            "",
            "What could the next layer do with a batch that does not exist?",
        ),
        "says nothing of the refusal": (
            "rows.append((None, count))",
            "pass",
            "Which layer refused? Its row has the shape None.",
        ),
        "every layer sees the images": (
            'shape = tuple(layer(torch.empty(shape, device="meta")).shape)\n',
            'first = locals().get("first", shape)\n            shape = tuple(layer(torch.empty(first, device="meta")).shape)\n',
            "Each layer gets what the one before it has made.",
        ),
        "counts tensors, not numbers": (
            "p.numel() for p",
            "1 for p",
            "A kernel is one tensor, and how many numbers?",
        ),
        "counts what is kept, too": (
            "p.numel() for p in layer.parameters()",
            "p.numel() for p in layer.state_dict().values()",
            "A norm keeps running means. They are in the state, and nobody learns them.",
        ),
        "the bias is forgotten": (
            "for p in layer.parameters()",
            "for p in layer.parameters() if p.dim() > 1",
            "Is a bias not learned?",
        ),
        "what layers inside learn is forgotten": (
            "layer.parameters()",
            "layer.parameters(recurse=False)",
            "A layer may be made of layers. .parameters() gives what all of them learn.",
        ),
        "the number of images is left out": (
            "rows.append((shape, count))",
            "rows.append((shape[1:], count))",
            "The example has four numbers in its shape. What is the first?",
        ),
    }
)

trace.worked(
    why=r"""A layer on the meta device does everything but compute: it checks that its input fits, and says which shape its output has. So the
    table is the network's own word, not a formula's. Parameters are what an optimiser would move; what a layer merely keeps is none."""
)


@trace.right("by recursion")
def _(layers, shape):
    def below(layers, x):
        if not layers:
            return []
        first, *others = layers
        count = sum(math.prod(p.shape) for p in first.parameters())
        try:
            x = first(x)
        except RuntimeError:
            return [(None, count)]
        return [(x.shape, count), *below(others, x)]

    return below(layers, torch.zeros(shape, device="meta"))


# ------------------------------------------------------------------------------------------- LeNet

LeNet = Exercise(
    "LeNet",
    reference=reference.lenet,
    compare=SAYS,
    limit=3.0,
    hints=[
        "Five layers learn something: five lines in __init__. Then follow the table line by line in forward. How many numbers has "
        "16 maps of 5 by 5?",
        "Pools and tanh have no weights: call them in forward, F.avg_pool2d(h, 2) and torch.tanh(h). h.flatten(1) makes a row of each image's maps.",
        "self.c1 = nn.Conv2d(1, 6, 5), self.c3 = nn.Conv2d(6, 16, 5), self.c5 = nn.Linear(400, 120), and so on; forward starts with "
        "h = F.avg_pool2d(torch.tanh(self.c1(x)), 2).",
    ],
)


@LeNet.probe
def _(answer, x, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer().double()
    for part in ("c1", "c3", "c5", "f6", "out"):
        if not hasattr(net, part):
            raise AttributeError(f"the network has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos(seed * k + phase) / p[0].numel() ** 0.5
            p.copy_(values.reshape(p.shape))
    big = x.repeat_interleave(8, 2).repeat_interleave(8, 3)  # 4 by 4 to 32 by 32
    out = net(big)
    out.sum().backward()
    weights = sum(p.numel() for p in net.parameters())
    learning = sum(p.grad is not None for p in net.parameters())
    return {"out": out.detach(), "weights": weights, "learning": learning}


@LeNet.cases
def _(rng):
    def case(n, **changes):
        return dict(x=away(rng, n, 1, 4, 4), seed=rng.uniform(0.7, 1.3)) | changes

    yield "what it says of an image", case(2)
    yield "other weights", case(3)
    yield "one image", case(1)
    yield "one image", case(1, x=torch.zeros(1, 1, 4, 4).double())
    yield "strong contrast", case(2, x=30 * away(rng, 2, 1, 4, 4))


LeNet.mistakes(
    {
        "no tanh behind the first layer": (
            "torch.tanh(self.c1(x))",
            "self.c1(x)",
            "Which layers have a tanh behind them? Count four.",
        ),
        "no tanh behind f6": (
            "torch.tanh(self.f6(h))",
            "self.f6(h)",
            "Two dense layers in a row are one. What stands between them?",
        ),
        "tanh behind the scores": (
            "return self.out(h)",
            "return torch.tanh(self.out(h))",
            "Scores may be as large as they like: nothing stands behind the last layer.",
        ),
        "the largest of four": (
            "F.avg_pool2d(torch.tanh(self.c1(x)), 2)",
            "F.max_pool2d(torch.tanh(self.c1(x)), 2)",
            "Of each 2 × 2 numbers, is it the mean or the largest that stays?",
        ),
        "pooled before the tanh": (
            "F.avg_pool2d(torch.tanh(self.c3(h)), 2)",
            "torch.tanh(F.avg_pool2d(self.c3(h), 2))",
            "Which comes first, tanh or the mean?",
        ),
        "ReLU": (
            "torch.tanh(self.c5(",
            "torch.relu(self.c5(",
            "It was 1998. Which activation does the table name?",
        ),
        "eight maps in place of six": (
            "self.c1 = nn.Conv2d(1, 6, 5)\n        self.c3 = nn.Conv2d(6, 16, 5)",
            "self.c1 = nn.Conv2d(1, 8, 5)\n        self.c3 = nn.Conv2d(8, 16, 5)",
            "How many kernels has c1 in the table?",
        ),
        "no biases in the convolutions": (
            "nn.Conv2d(6, 16, 5)",
            "nn.Conv2d(6, 16, 5, bias=False)",
            "61,706 weights are expected. How many are yours?",
        ),
    }
)

LeNet.worked(
    why=r"""Two rounds of convolution, tanh and mean turn $32^2$ pixels into 16 maps of $5^2$: less where, more what. Three dense layers read them. Only what
    learns is made in `__init__`, where torch finds it as an attribute; pools and tanh are called on the way."""
)


@LeNet.right("with nn.Sequential, named parts beside", library="torch.nn")
def _():
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.c1, self.c3 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
            self.c5, self.f6, self.out = (
                nn.Linear(a, b) for a, b in ((400, 120), (120, 84), (84, 10))
            )

        def forward(self, x):
            tanh, mean = nn.Tanh(), nn.AvgPool2d(2)
            see = nn.Sequential(self.c1, tanh, mean, self.c3, tanh, mean)
            read = nn.Sequential(nn.Flatten(), self.c5, tanh, self.f6, tanh, self.out)
            return read(see(x))

    return Net()


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=close(rtol=1e-6, atol=1e-8),
    hints=[
        "Two loops: epochs, and in each the batches of a shuffled order. What are the four things that happen to each batch?",
        "torch.randperm(len(X), generator=g).split(batch) gives the rows of each batch. Loss, old slopes away, backward, a step of the optimiser. The mean over "
        "images weighs each batch by its number of images.",
        "loss = F.cross_entropy(net(X[rows]), y[rows]); optimizer.zero_grad(); loss.backward(); optimizer.step(); total += loss.item() * len(rows).",
    ],
)


@train.probe
def _(answer, X, y, K, W, rate, momentum, epochs, batch, seed):
    nn = torch.nn
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        conv = nn.Conv2d(K.shape[1], K.shape[0], K.shape[2]).double()
        dense = nn.Linear(W.shape[1], W.shape[0]).double()
    with torch.no_grad():
        for p, value in (
            (conv.weight, K),
            (conv.bias, 0),
            (dense.weight, W),
            (dense.bias, 0),
        ):
            p.copy_(torch.as_tensor(value))
    net = nn.Sequential(conv, nn.ReLU(), nn.Flatten(), dense)
    optimizer = torch.optim.SGD(net.parameters(), rate, momentum=momentum)
    net(X).sum().backward()  # slopes left over from something else
    g = torch.Generator().manual_seed(seed)
    losses = answer(net, X, y, optimizer, epochs, batch, g)
    if any(torch.is_tensor(loss) for loss in losses):
        raise TypeError("the losses are tensors: make each a number, by .item()")
    losses = [float(loss) for loss in losses]
    names = ("kernels", "bias", "W", "b")
    after = dict(zip(names, (p.detach() for p in net.parameters())))
    return {"losses": losses, **after}


@train.cases
def _(rng):
    def case(n, batch, epochs, classes=3, c=1):
        y = torch.from_numpy(rng.permutation(np.arange(n) % classes))
        X, K = away(rng, n, c, 3, 3), away(rng, 2, c, 2, 2) / 2
        W = away(rng, classes, 8) / 3
        how = dict(epochs=epochs, batch=batch, seed=int(rng.integers(1000)))
        return dict(X=X, y=y, K=K, W=W, rate=0.05, momentum=0.8) | how

    yield "one batch an epoch", case(6, 6, 3)
    yield "several batches", case(12, 4, 2)
    yield "the last batch is smaller", case(11, 4, 2, c=2)
    yield "the last batch is smaller", case(13, 5, 1, classes=4)
    yield "a batch larger than the data", case(3, 10, 2)
    yield "one image at a time", case(9, 1, 2)
    yield "a single image is left over", case(7, 3, 2)
    yield "a single image is left over", case(9, 4, 1)
    for _ in range(2):
        wild = case(6, 3, 3)
        yield (
            "steps so long that the loss rises",
            wild | dict(X=3 * wild["X"], rate=0.8),
        )
    yield "no epoch, no step", case(4, 2, 0)


train.mistakes(
    {
        "old slopes stay": (
            "optimizer.zero_grad()",
            "pass",
            "backward adds to the slopes that are there. What must go first?",
        ),
        "never steps": (
            "optimizer.step()",
            "pass",
            "What moves the weights? And are its slopes still there when it does?",
        ),
        "one order for all epochs": (
            "    for _ in range(epochs):\n        total = 0.0\n        order = torch.randperm(len(X), generator=g)",
            "    order = torch.randperm(len(X), generator=g)\n    for _ in range(epochs):\n        total = 0.0",
            "Each epoch draws an order of its own.",
        ),
        "not shuffled": (
            "torch.randperm(len(X), generator=g)",
            "torch.arange(len(X))",
            "In which order come the images?",
        ),
        "its own generator": (
            "torch.randperm(len(X), generator=g)",
            "torch.randperm(len(X), generator=torch.Generator().manual_seed(0))",
            "Who gives you the random numbers?",
        ),
        "the mean of the batches' means": (
            "total += loss.item() * len(rows)",
            "total += loss.item() * len(X) / -(-len(X) // batch)",
            "A small last batch must not count as much as a full one.",
        ),
        "sums in place of means": (
            "losses.append(total / len(X))",
            "losses.append(total)",
            "The mean over the images of the epoch is asked for.",
        ),
        "labels in the old order": (
            "y[rows])",
            "y[: len(rows)])",
            "Which label belongs to which image?",
        ),
        "the loss after the step": (
            "total += loss.item() * len(rows)",
            "total += F.cross_entropy(net(X[rows]), y[rows]).item() * len(rows)",
            "Which loss is told: that before the step of its batch, or after?",
        ),
        "the last batch is dropped": (
            "order.split(batch)",
            "order[: len(X) // batch * batch].split(batch)",
            "Every image is seen once in an epoch.",
        ),
    }
)

train.worked(
    why=r"""Each image is seen once an epoch, in a new order, and each batch gives one step. The loss is computed before its own step, so the mean over an epoch belongs to
    weights that change on the way; it costs nothing extra. `backward` adds to `.grad`, hence `zero_grad` first."""
)


@train.right("batches by position, slopes set to None")
def _(net, X, y, optimizer, epochs, batch, g):
    told = []
    for _ in range(epochs):
        order = torch.randperm(len(X), generator=g)
        each = []
        for first in range(0, len(X), batch):
            rows = order[first : first + batch]
            for p in net.parameters():
                p.grad = None
            losses = torch.nn.functional.cross_entropy(
                net(X[rows]), y[rows], reduction="none"
            )
            losses.mean().backward()
            optimizer.step()
            each += losses.tolist()
        told.append(np.mean(each))
    return told


@train.right("a DataLoader's batches", library="torch.utils.data.DataLoader")
def _(net, X, y, optimizer, epochs, batch, g):
    from torch.utils.data import DataLoader, TensorDataset

    told = []
    for _ in range(epochs):
        order, total = torch.randperm(len(X), generator=g), 0.0
        for images, labels in DataLoader(TensorDataset(X[order], y[order]), batch):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        told.append(total / len(X))
    return told


# ------------------------------------------------------------------------------------------- moved

moved = Exercise(
    "moved",
    reference=reference.moved,
    compare=close(),
    hints=[
        "Put a frame of zeros around the images, wide enough for the move. Which window of the framed image is the image moved down by one?",
        "With r zeros on all sides the window that starts at row r and column r is X itself. A digit moves down when the window starts a row higher.",
        "r = max(abs(down), abs(right)); P = F.pad(X, (r, r, r, r)); the window's rows are r - down to r - down + h.",
    ],
)


@moved.probe
def _(answer, X, down, right):
    found = answer(X, down, right)
    if not torch.is_tensor(found):
        raise TypeError("the moved images are a tensor again")
    return found


@moved.cases
def _(rng):
    def case(down, right, n=1, c=1, h=4, w=5):
        return dict(X=away(rng, n, c, h, w), down=down, right=right)

    yield "down and right", case(1, 2)
    yield "down and right", case(2, 1, n=2)
    yield "up and left", case(-1, -2, c=2)
    yield "up and left", case(-2, -1, h=5)
    yield "mixed", case(2, -1, h=5, w=4)
    yield "mixed", case(-1, 3, n=2)
    yield "along one side only", case(0, 2)
    yield "along one side only", case(-3, 0)
    yield "no move", case(0, 0, n=2)
    yield "out of sight", case(9, 1)
    yield "out of sight", case(0, -7)
    for far in (4, 6):
        yield "however far", case(far, 1)
        yield "however far", case(-far, -1)
    for far in (5, 7):
        yield "however far", case(-1, far)
        yield "however far", case(1, -far)


moved.mistakes(
    {
        "the other way": (
            "reach - down, reach - right",
            "reach + down, reach + right",
            "A digit that moves down: does your window start higher or lower in the frame?",
        ),
        "up in place of down": (
            "reach - down",
            "reach + down",
            "A digit that moves down: does your window start higher or lower in the frame?",
        ),
        "rows and columns mixed up": (
            "reach - down, reach - right",
            "reach - right, reach - down",
            "Which of the two numbers moves along the rows?",
        ),
        "what leaves comes in on the other side": (
            "return P[:, :, top : top + h, left : left + w]",
            "return torch.roll(X, (down, right), (2, 3))",
            "Zeros come in. Where do yours come from?",
        ),
        "the frame is too narrow": (
            "max(abs(down), abs(right))",
            "min(abs(down), abs(right))",
            "How wide must the frame be for the longer of the two moves?",
        ),
        "the frame forgets moves up and left": (
            "max(abs(down), abs(right))",
            "max(down, right, 0)",
            "How wide is your frame for a move up by two?",
        ),
        "the window slips": (
            "top : top + h",
            "top + 1 : top + 1 + h",
            "Without a move, is your window the image?",
        ),
    }
)

moved.worked(
    why=r"""In a frame of zeros every moved image is a window, and no case needs special care: a digit moves *down* when the window moves *up*. torch.roll would let what leaves come in again."""
)


@moved.right("pixel by pixel into an empty field")
def _(X, down, right):
    field, (h, w) = torch.zeros_like(X), X.shape[2:]
    for i in range(h):
        for j in range(w):
            if 0 <= i - down < h and 0 <= j - right < w:
                field[:, :, i, j] = X[:, :, i - down, j - right]
    return field


@moved.right("by its shift", library="scipy.ndimage.shift")
def _(X, down, right):
    from scipy.ndimage import shift

    return torch.from_numpy(shift(X.numpy(), (0, 0, down, right), order=0))


# ----------------------------------------------------------------------------------------- Refined

Refined = Exercise(
    "Refined",
    reference=reference.refined,
    compare=parts(out=NEAR, slopes=NEAR, weights=exact(), learning=exact()),
    hints=[
        "One convolution enters, T refine. Which of them changes the number of channels, and which has the stride?",
        "enter: 3 × 3, a to b, with the stride and padding 1. steps: nn.ModuleList of T convolutions b to b. In forward a loop over self.steps; each adds, unless plain.",
        "new = torch.relu(step(h)); h = new if self.plain else h + new. The list: nn.ModuleList(nn.Conv2d(b, b, 3, padding=1) for _ in range(T)).",
    ],
)


@Refined.probe
def _(answer, x, b, T, stride, plain, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer(x.shape[1], b, T, stride, plain).double()
    for part in ("enter", "steps"):
        if not hasattr(net, part):
            raise AttributeError(f"the layer has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos((seed or 1.0) * k + phase) / p[0].numel() ** 0.5
            idle = seed is None and name.startswith("steps")
            p.copy_(0 if idle else values.reshape(p.shape))
    out = net(x)
    out.sum().backward()
    weights = sum(p.numel() for p in net.parameters())
    learning = sum(p.grad is not None for p in net.parameters())
    found = {"out": out.detach(), "slopes": net.enter.weight.grad}
    return found | {"weights": weights, "learning": learning}


@Refined.cases
def _(rng):
    def case(n, a, b, T, h, w, stride=1, plain=False, **changes):
        given = dict(x=away(rng, n, a, h, w), b=b, T=T, stride=stride, plain=plain)
        return given | dict(seed=rng.uniform(0.7, 1.3)) | changes

    yield "steps that add", case(2, 1, 3, 2, 4, 5)
    yield "steps that add", case(1, 2, 3, 4, 3, 3)
    yield "a stride", case(2, 2, 4, 2, 5, 6, stride=2)
    yield "a stride", case(2, 2, 3, 2, 7, 6, stride=3)
    yield "kernels of 0 change nothing", case(2, 2, 3, 3, 4, 4, seed=None)
    yield "plain: without the sum", case(2, 2, 3, 3, 4, 5, plain=True)
    yield "plain: without the sum", case(2, 1, 4, 1, 5, 4, stride=2, plain=True)
    yield "no steps", case(2, 3, 2, 0, 3, 4)
    yield (
        "as many channels as before, large numbers",
        case(2, 3, 3, 2, 4, 4, x=30 * away(rng, 2, 3, 4, 4)),
    )


Refined.mistakes(
    {
        "nothing is handed on": (
            "new if self.plain else h + new",
            "new",
            "With kernels of 0 a step should change nothing. What does yours give?",
        ),
        "the sum although plain": (
            "new if self.plain else h + new",
            "h + new",
            "With plain=True, what is left out?",
        ),
        "ReLU over the sum": (
            "new = torch.relu(step(h))\n            h = new if self.plain else h + new",
            "h = torch.relu(step(h)) if self.plain else torch.relu(h + step(h))",
            "In the formula σ stands around the convolution only.",
        ),
        "no ReLU at the entrance": (
            "torch.relu(self.enter(x))",
            "self.enter(x)",
            "Formula for t = 0: what stands around the convolution?",
        ),
        "no ReLU in the steps": (
            "torch.relu(step(h))",
            "step(h)",
            "Formula for t ≥ 1: what stands around the convolution?",
        ),
        "one kernel for all steps": (
            "nn.ModuleList(nn.Conv2d(b, b, 3, padding=1) for _ in range(T))",
            "nn.ModuleList([nn.Conv2d(b, b, 3, padding=1)] * T)",
            "Each step has a kernel of its own: W has two indices.",
        ),
        "every step starts from the entrance": (
            "for step in self.steps:",
            "first = h\n        for step in self.steps:\n            h = first",
            "A step refines what the step before has made.",
        ),
        "slopes do not pass the plus sign": (
            "h + new",
            "h.detach() + new",
            "The slopes of the entrance come by two ways: through each step, and past it.",
        ),
        "the sum in place": (
            "h = new if self.plain else h + new",
            "h = new if self.plain else h.add_(new)",
            "backward needs the h that the step has seen: h + new is a new tensor, += overwrites the old.",
        ),
        "a step too many": (
            "range(T))",
            "range(T + 1))",
            "T steps, behind the entrance.",
        ),
        "the stride is forgotten": (
            "3, stride, padding=1)",
            "3, padding=1)",
            "How many rows come out with stride 2?",
        ),
        "no padding at the entrance": (
            "3, stride, padding=1)",
            "3, stride)",
            "With stride 1 the maps keep their size.",
        ),
    }
)

Refined.equivalent(
    {"self.plain = plain → self.plain = -plain": "With plain=True the sum is left out"}
)

Refined.worked(
    why=r"""Only `enter` changes channels and size; behind it every step gets and gives maps of one shape, so that they can be added. A step with zero kernels and biases adds
    ReLU(0) = 0. `nn.ModuleList` makes torch see the steps' weights: a plain list would hide them from the optimiser."""
)


@Refined.right("modules by name, a sum of all that was added")
def _(a, b, T, stride=1, plain=False):
    nn = torch.nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter = nn.Conv2d(
                a, b, (3, 3), stride=(stride, stride), padding=(1, 1)
            )
            self.steps = nn.Sequential(
                *(nn.Conv2d(b, b, 3, padding="same") for _ in range(T))
            )

        def forward(self, x):
            parts = [self.enter(x).clamp(min=0)]
            for step in self.steps:
                h = parts[-1] if plain else torch.stack(parts).sum(0)
                parts.append(step(h).clamp(min=0))
            return parts[-1] if plain else torch.stack(parts).sum(0)

    return Layer()


# ------------------------------------------------------------------------------------- top_patches

top_patches = Exercise(
    "top_patches",
    reference=reference.top_patches,
    compare=close(),
    hints=[
        "The maps of one kernel are a box of numbers: image, row, column. Which k of them are largest, and where do they stand?",
        "Flatten the box, take topk(k).indices, and turn each index into image, row and column by divmod. A number in row i and column j looks at rows from jump * i on.",
        "n, rest = divmod(place, rows * cols); i, j = divmod(rest, cols); X[n, :, jump * i : jump * i + size, jump * j : jump * j + size]; torch.stack in the end.",
    ],
)


@top_patches.probe
def _(answer, X, V, kernel, k, size, jump):
    def layer(images):
        return torch.nn.functional.conv2d(images, V.to(images.dtype), stride=jump)

    found = answer(layer, X, kernel, k, size, jump)
    if not torch.is_tensor(found):
        raise TypeError("the windows are one tensor: torch.stack makes it of a list")
    return found.detach()


@top_patches.cases
def _(rng):
    def case(n, c, h, w, size, jump, k):
        kernel, V = int(rng.integers(1, 3)), away(rng, 4, c, size, size)
        signs = (-1.0) ** torch.arange(V[0].numel()).reshape(V[0].shape)
        V[0] = signs * V[kernel]  # it likes other windows
        X = away(rng, n, c, h, w)
        return dict(X=X, V=V, kernel=kernel, k=k, size=size, jump=jump)

    yield "windows of one map", case(1, 1, 5, 7, 2, 1, 5)
    yield "of several images", case(3, 1, 5, 7, 3, 1, 6)
    yield "of several images", case(3, 1, 4, 7, 2, 1, 6)
    yield "a jump of two pixels", case(3, 1, 6, 9, 2, 2, 6)
    yield "a jump of two pixels", case(2, 1, 7, 9, 3, 2, 6)
    yield "channels", case(2, 3, 4, 6, 2, 1, 6)
    yield "all windows, also those it does not like", case(3, 1, 4, 7, 2, 1, 54)
    yield "one patch, one window", case(1, 1, 2, 2, 2, 1, 1)


top_patches.mistakes(
    {
        "the smallest": (
            "topk(k)",
            "topk(k, largest=False)",
            "Where is the kernel's answer largest?",
        ),
        "behind a ReLU": (
            "layer(X)[:, kernel]",
            "layer(X)[:, kernel].relu()",
            "Which of two windows comes first where the kernel's answer is below 0 in both?",
        ),
        "the first kernel, whichever is asked": (
            "[:, kernel]",
            "[:, 0]",
            "Which map do you look at?",
        ),
        "rows and columns mixed up": (
            "i, j = divmod(rest, cols)",
            "j, i = divmod(rest, cols)",
            "A row of the map holds cols numbers: what is the quotient, what the remainder?",
        ),
        "columns taken for rows": (
            "divmod(rest, cols)",
            "divmod(rest, rows)",
            "How many numbers stand in a row of the map?",
        ),
        "the jump is forgotten": (
            "top, left = jump * i, jump * j",
            "top, left = i, j",
            "Neighbours in the map are how many pixels apart in the image?",
        ),
        "the best of each image": (
            "maps.flatten().topk(k).indices",
            "torch.stack([m.argmax() + n * m.numel() for n, m in enumerate(maps)])[:k]",
            "All images compete: one may have several of the best windows.",
        ),
        "the map's numbers, not the image's": (
            "X[n, :, top : top + size, left : left + size]",
            "maps[n, None, i : i + size, j : j + size]",
            "You are to show what the kernel looked at.",
        ),
    }
)

top_patches.worked(
    why=r"""The largest numbers of a map tell where its kernel found what it looks for; a jump and a size lead back to the pixels. Flattening keeps the order image, row, column,
    and `divmod` undoes it. For a layer deep in the network nothing changes but `size` and `jump`, the reach and jump of your table in 08/01."""
)


@top_patches.right("all windows sorted in Python")
def _(layer, X, kernel, k, size, jump):
    maps = layer(X)[:, kernel].tolist()
    found = [
        (-value, n, jump * i, jump * j)
        for n, rows in enumerate(maps)
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    ]
    return torch.stack(
        [X[n, :, i : i + size, j : j + size] for _, n, i, j in sorted(found)[:k]]
    )


@top_patches.right("np.unravel_index", library="numpy.unravel_index")
def _(layer, X, kernel, k, size, jump):
    maps = layer(X)[:, kernel].detach().numpy()
    best = np.argsort(-maps, axis=None)[:k]
    places = zip(*np.unravel_index(best, maps.shape), strict=True)
    windows = X.unfold(2, size, jump).unfold(3, size, jump)
    return torch.stack([windows[n, :, i, j] for n, i, j in places])


# -------------------------------------------------------------------------------------- BasicBlock

BasicBlock = Exercise(
    "BasicBlock",
    reference=reference.basic_block,
    compare=parts(out=NEAR, later=NEAR, weights=exact(), learning=exact()),
    hints=[
        "Two convolutions, each with a norm behind it, and a short cut. When can x not simply be added?",
        "Where the stride is not 1 or the channels differ, the short cut is a 1 × 1 convolution with the stride, and a norm, in nn.Sequential; else nn.Identity(). The last ReLU comes after the sum.",
        "h = torch.relu(self.norm1(self.conv1(x))); return torch.relu(self.norm2(self.conv2(h)) + self.short(x)). Convolutions with bias=False.",
    ],
)


@BasicBlock.probe
def _(answer, x, b, stride, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = answer(x.shape[1], b, stride).double()
    for part in ("conv1", "norm1", "conv2", "norm2", "short"):
        if not hasattr(net, part):
            raise AttributeError(f"the block has no part named {part}")
    with torch.no_grad():
        for name, p in net.named_parameters():
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            phase = sum(i * ord(letter) for i, letter in enumerate(name))
            values = torch.cos(seed * k + phase) / p[0].numel() ** 0.5
            p.copy_(values.reshape(p.shape))
    out = net.train()(x)
    out.sum().backward()
    with torch.no_grad():
        later = net.eval()(x)  # by the means that the norms have kept
    weights = sum(p.numel() for p in net.parameters())
    learning = sum(p.grad is not None for p in net.parameters())
    out = out.detach()
    return {"out": out, "later": later, "weights": weights, "learning": learning}


@BasicBlock.cases
def _(rng):
    def case(n, a, b, stride, h, w):
        return dict(
            x=away(rng, n, a, h, w), b=b, stride=stride, seed=rng.uniform(0.7, 1.3)
        )

    yield "same channels: x is added as it is", case(2, 4, 4, 1, 3, 5)
    yield "same channels: x is added as it is", case(3, 3, 3, 1, 4, 4)
    yield "half the size, twice the channels", case(2, 3, 6, 2, 5, 4)
    yield "half the size, twice the channels", case(3, 2, 4, 2, 4, 6)
    yield "more channels, no stride", case(2, 2, 5, 1, 4, 3)
    yield "a stride, same channels", case(3, 4, 4, 2, 5, 5)
    yield "a stride, same channels", case(2, 3, 3, 3, 7, 6)
    yield "fewer channels, no stride", case(2, 5, 2, 1, 3, 4)


BasicBlock.mistakes(
    {
        "nothing is added": (" + self.short(x)", "", "What does the short cut do?"),
        "ReLU before the sum": (
            "torch.relu(self.norm2(self.conv2(h)) + self.short(x))",
            "torch.relu(self.norm2(self.conv2(h))) + self.short(x)",
            "Here the last ReLU stands around the sum.",
        ),
        "biases": (
            "self.conv2 = nn.Conv2d(b, b, 3, padding=1, bias=False)",
            "self.conv2 = nn.Conv2d(b, b, 3, padding=1)",
            "A norm takes each channel's mean away. What use is a bias before it?",
        ),
        "no ReLU in the middle": (
            "torch.relu(self.norm1(self.conv1(x)))",
            "self.norm1(self.conv1(x))",
            "What stands between the two convolutions?",
        ),
        "no norm in the short cut": (
            "nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)",
            "nn.Conv2d(a, b, 1, stride, bias=False)",
            "The short cut's convolution has its norm, too.",
        ),
        "a convolution in every short cut": (
            "stride != 1 or a != b",
            "True",
            "Where shapes agree, x is added as it is.",
        ),
        "a stride alone needs no convolution": (
            "stride != 1 or a != b",
            "a != b",
            "With stride 2 the maps shrink. Can x still be added?",
        ),
        "never by what the norms have kept": (
            "h = torch.relu(self.norm1(self.conv1(x)))",
            "self.train()\n        h = torch.relu(self.norm1(self.conv1(x)))",
            "In evaluation a norm uses what it has kept: leave the mode to whoever calls.",
        ),
        "the stride in the second convolution": (
            "self.conv1 = nn.Conv2d(a, b, 3, stride, padding=1, bias=False)\n        self.norm1 = nn.BatchNorm2d(b)\n        self.conv2 = nn.Conv2d(b, b, 3, padding=1, bias=False)",
            "self.conv1 = nn.Conv2d(a, b, 3, padding=1, bias=False)\n        self.norm1 = nn.BatchNorm2d(b)\n        self.conv2 = nn.Conv2d(b, b, 3, stride, padding=1, bias=False)",
            "Which of the two convolutions shrinks?",
        ),
    }
)

BasicBlock.worked(
    why=r"""The branch may do what it likes, as long as its shape is that of the short cut. Where shape changes, and only there, the short cut pays with a 1 × 1 convolution: 3 times
    in a ResNet-18. Norms make biases useless, so there are none."""
)


@BasicBlock.right("the branch as one chain, named parts beside")
def _(a, b, stride):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(a, b, 3, stride=stride, padding=1, bias=False)
            self.conv2 = nn.Conv2d(b, b, 3, padding="same", bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(b), nn.BatchNorm2d(b)
            self.short = nn.Sequential()
            if (a, stride) != (b, 1):
                self.short.append(nn.Conv2d(a, b, 1, stride=stride, bias=False))
                self.short.append(nn.BatchNorm2d(b))

        def forward(self, x):
            branch = nn.Sequential(
                self.conv1, self.norm1, nn.ReLU(), self.conv2, self.norm2
            )
            return (branch(x) + self.short(x)).clamp(min=0)

    return Block()

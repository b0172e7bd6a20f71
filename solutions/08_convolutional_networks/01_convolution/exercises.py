"""Exercises of 08_convolutional_networks/01_convolution."""

import numpy as np
import torch

from descent.compare import close, exact
from solutions.spec import Exercise

from . import reference


def grey(rng, *shape):
    """Of both signs, none near 0 and no two alike."""
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2, shape)


# ------------------------------------------------------------------------------------ correlate2d

correlate2d = Exercise(
    "correlate2d",
    reference=reference.correlate2d,
    compare=close(),
    batched=("X",),
    hints=[
        "Take K = [[1, 10]] and write the windows of a row of three pixels down. How many are there, and what is each worth?",
        "The window of F[i, j] has as many rows and columns as K and begins at X[i, j]. Multiply it with K entry by entry, and add all up. "
        "Half a turn puts the last row first and, in each row, the last entry first.",
        "F[i, j] = (K * X[i : i + a, j : j + k]).sum(), for i below h - a + 1 and j below w - k + 1; K[::-1, ::-1] is K after half a turn.",
    ],
)


@correlate2d.cases
def _(rng):
    yield "rows and columns", dict(X=grey(rng, 4, 6), K=grey(rng, 2, 3), flip=False)
    yield "rows and columns", dict(X=grey(rng, 6, 5), K=grey(rng, 3, 2), flip=False)
    yield "turned by half a turn", dict(X=grey(rng, 4, 6), K=grey(rng, 2, 3), flip=True)
    yield "turned by half a turn", dict(X=grey(rng, 5, 4), K=grey(rng, 3, 2), flip=True)
    yield "one window only", dict(X=grey(rng, 3, 4), K=grey(rng, 3, 4), flip=False)
    yield "a kernel of one weight", dict(X=grey(rng, 3, 4), K=grey(rng, 1, 1), flip=False)  # fmt: skip
    whole = rng.permutation(35).reshape(5, 7)
    yield "whole numbers, a fraction in the kernel", dict(X=whole, K=grey(rng, 3, 3), flip=False)  # fmt: skip


correlate2d.mistakes(
    {
        "always turned": (
            "if flip:",
            "if True:",
            "Without flip, which weight meets the window's first pixel?",
        ),
        "never turned": (
            "if flip:",
            "if False:",
            "With flip, which weight meets the window's first pixel?",
        ),
        "the rows only": (
            "K[::-1, ::-1]",
            "K[::-1]",
            "Half a turn: where does the first weight of the first row go?",
        ),
        "the largest product": (
            ".sum()",
            ".max()",
            "An inner product adds all products up.",
        ),
        "the map is turned, too": (
            "return F",
            "return F[::-1, ::-1] if flip else F",
            "The kernel is turned, the windows stay where they are.",
        ),
        "whole numbers only": (
            "np.zeros((",
            "np.zeros(dtype=X.dtype, shape=(",
            "The map of an image of whole numbers may have fractions.",
        ),
    }
)

correlate2d.worked(
    why=r"""One small set of weights, used at every place: the window that begins at pixel $(i, j)$ meets the same $K$ as all others. A window
    must lie inside, so its first row is at most $h - a$, which leaves $h - a + 1$ places. A turned kernel changes which weight
    meets which pixel, and nothing about the windows."""
)


@correlate2d.right("by SciPy", library="scipy.signal")
def _(X, K, flip=False):
    from scipy import signal

    if flip:
        return signal.convolve2d(X, K, mode="valid")
    return signal.correlate2d(X, K, mode="valid")


@correlate2d.right("a sum over the kernel's weights, each with a moved image")
def _(X, K, flip=False):
    K = np.flip(K) if flip else K
    rows, cols = np.array(X.shape) - K.shape + 1
    return sum(
        weight * X[u : u + rows, v : v + cols]
        for (u, v), weight in np.ndenumerate(np.asarray(K, float))
    )


# ----------------------------------------------------------------------------------------- conv2d

conv2d = Exercise(
    "conv2d",
    reference=reference.conv2d,
    compare=close(),
    batched=("X",),
    hints=[
        "Put the zeros around first: then no window needs a special case. Where does the window of F[:, :, i, j] begin in the larger image?",
        "It begins at row i * stride and column j * stride, and goes through all channels. Its product with all kernels at once sums over "
        "channel, row and column of the window, and leaves image and kernel. Add b at the end, once.",
        "window = P[:, :, top : top + a, left : left + k]; then np.tensordot(window, W, ([1, 2, 3], [1, 2, 3])) + b has shape (n, o). "
        "rows = (h + 2 * pad - a) // stride + 1.",
    ],
)


@conv2d.cases
def _(rng):
    def case(n, c, h, w, o, a, k, stride=1, pad=0):
        given = dict(X=grey(rng, n, c, h, w), W=grey(rng, o, c, a, k), b=grey(rng, o))
        return given | dict(stride=stride, pad=pad)

    yield "channels, kernels and biases", case(2, 3, 4, 5, 2, 2, 3)
    yield "channels, kernels and biases", case(3, 2, 5, 4, 4, 3, 2)
    yield "as many kernels as channels", case(2, 2, 4, 4, 2, 2, 2)
    yield "a stride, and pixels in no window", case(1, 2, 6, 9, 2, 3, 2, stride=2)
    yield "a stride, and pixels in no window", case(1, 1, 8, 6, 2, 2, 3, stride=3)
    yield "zeros around", case(1, 2, 4, 3, 2, 3, 2, pad=1)
    yield "zeros around", case(2, 1, 3, 5, 1, 2, 3, pad=2)
    yield "stride and zeros", case(1, 2, 5, 6, 2, 3, 2, stride=2, pad=1)
    yield "a window larger than the bare image", case(1, 2, 2, 3, 2, 5, 4, pad=2)
    one = dict(X=np.array([[[[2.0]]]]), W=-rng.uniform(1, 2, (1, 1, 1, 1)))
    yield "one pixel, one weight", case(1, 1, 1, 1, 1, 1, 1) | one


conv2d.mistakes(
    {
        "the bias is forgotten": (
            " + b",
            "",
            "What is the map of an image of zeros?",
        ),
        "a bias for each channel": (
            "([1, 2, 3], [1, 2, 3])) + b",
            "([1, 2, 3], [1, 2, 3])) + c * b",
            "The bias comes once to each number of the map, however many channels there are.",
        ),
        "all zeros below and to the right": (
            "((0, 0), (0, 0), (pad, pad), (pad, pad))",
            "((0, 0), (0, 0), (0, 2 * pad), (0, 2 * pad))",
            "The zeros go to all four sides. Where is the image's first pixel then?",
        ),
        "zeros on one side only count": (
            "rows = (P.shape[2] - a)",
            "rows = (X.shape[2] + pad - a)",
            "How many rows has the image with its zeros?",
        ),
        "the stride moves nothing": (
            "i * stride :, j * stride :",
            "i:, j:",
            "Where does the second window begin, with stride 2?",
        ),
        "half windows count": (
            "cols = (P.shape[3] - k) // stride + 1",
            "cols = -(-(P.shape[3] - k) // stride) + 1",
            "Windows must fit. Which pixel would the last one need?",
        ),
        "the kernel is turned": (
            "np.tensordot(window, W,",
            "np.tensordot(window, W[:, :, ::-1, ::-1],",
            "Which weight meets the window's first pixel? Layers do not turn their kernels.",
        ),
        "only the first channel": (
            "np.tensordot(window, W,",
            "np.tensordot(window[:, :1], W[:, :1],",
            "A kernel goes through all channels.",
        ),
        "windows are square": (
            "[:, :, :a, :k]",
            "[:, :, :a, :a]",
            "W (o, c, a, k): windows need not be square.",
        ),
        "with ReLU": (
            "return F",
            "return np.maximum(F, 0)",
            "The activation comes after the layer. May numbers be negative here?",
        ),
    }
)

conv2d.worked(
    why=r"""Zeros first, and all windows are alike. Each is a block of $c \times a \times k$ numbers, and the layer is a dense layer on that block:
    `tensordot` multiplies it with all kernels at once, for all images. The stride only decides where blocks begin, and rounding
    down leaves those out that would not fit. So the loop runs over places, and over nothing else."""
)


@conv2d.right("by torch", library="torch.nn.functional.conv2d")
def _(X, W, b, stride=1, pad=0):
    X, W, b = (torch.as_tensor(part) for part in (X, W, b))
    return torch.nn.functional.conv2d(X, W, b, stride=stride, padding=pad)


@conv2d.right("a loop over the kernel's weights")
def _(X, W, b, stride=1, pad=0):
    P = np.pad(X, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    a, k = W.shape[2:]
    rows, cols = (P.shape[2] - a) // stride + 1, (P.shape[3] - k) // stride + 1
    F = np.zeros((len(X), len(W), rows, cols)) + b[:, None, None]
    for u in range(a):
        for v in range(k):
            seen = P[:, :, u::stride, v::stride][:, :, :rows, :cols]
            F += np.einsum("ncij,oc->noij", seen, W[:, :, u, v])
    return F


# ------------------------------------------------------------------------------------ layer_table

layer_table = Exercise(
    "layer_table",
    reference=reference.layer_table,
    compare=exact(),
    hints=[
        "Four things change from layer to layer: channels, sizes, reach and jump. What are they in the image itself?",
        "A kernel has size · size weights for each channel of the layer *below*, and one bias. Sizes follow the formula. The reach grows by "
        "size - 1 jumps, jumps as they were below this layer.",
        "weights = channels * (c * size * size + 1), then c = channels; h = (h + 2 * pad - size) // stride + 1; "
        "reach = reach + (size - 1) * jump, then jump = stride * jump.",
    ],
)


@layer_table.cases
def _(rng):
    def case(*layers, h=17, w=31):
        """Sizes and channels are drawn; what is left over in a row is the same in each draw."""
        c, more = int(rng.integers(2, 6)), 36 * rng.integers(2, 4, 2)
        kept = [
            (kernels and int(rng.integers(7, 30)), *layer) for kernels, *layer in layers
        ]
        return dict(c=c, h=int(h + more[0]), w=int(w + more[1]), layers=kept)

    yield "one layer", case((1, 3, 2, 1), h=18)
    yield "several layers", case((1, 5, 1, 2), (1, 3, 2, 1), (1, 4, 1, 1))
    yield "several layers", case((1, 3, 3, 1), (1, 2, 1, 1), (1, 5, 2, 1))
    yield "pooling between them", case((1, 5, 1, 1), (None, 2, 2, 0), (1, 3, 1, 1), (None, 3, 3, 0))  # fmt: skip
    yield "windows that do not fit exactly", case((1, 3, 3, 0), (1, 4, 2, 0), h=14, w=20)  # fmt: skip
    yield "kernels of one pixel", case((1, 3, 2, 1), (1, 1, 1, 0), (1, 2, 2, 1))
    yield "a reach wider than the image", case(*[(1, 3, 3, 1)] * 5)
    yield "nothing yet", case()


layer_table.mistakes(
    {
        "no biases": (
            "(c * size * size + 1)",
            "(c * size * size)",
            "Each kernel has one weight more: its bias.",
        ),
        "one channel deep": (
            "(c * size * size + 1)",
            "(size * size + 1)",
            "A kernel goes through all channels of the layer below.",
        ),
        "the channels stay": (
            "            c = channels\n",
            "",
            "How many channels does the next layer see?",
        ),
        "the new channels are counted below": (
            "            weights = channels * (c * size * size + 1)\n            c = channels\n",
            "            c = channels\n            weights = channels * (c * size * size + 1)\n",
            "The kernels of this layer go through the channels of the layer below.",
        ),
        "pools have weights": (
            "        if channels is not None:\n",
            "        channels = channels or c\n        if True:\n",
            "What would a pool learn?",
        ),
        "rounded up": (
            "h = (h + 2 * pad - size) // stride + 1",
            "h = -(-(h + 2 * pad - size) // stride) + 1",
            "Windows must fit: a half one is none.",
        ),
        "zeros on one side": (
            "w = (w + 2 * pad - size)",
            "w = (w + pad - size)",
            "There are `pad` zeros at each end.",
        ),
        "maps are square": (
            "w = (w + 2 * pad - size) // stride + 1",
            "w = h",
            "The image need not be square.",
        ),
        "the reach counts in numbers of the layer below": (
            "(size - 1) * jump",
            "(size - 1)",
            "How many pixels of the image are neighbours of the layer below apart?",
        ),
        "the jump is taken too early": (
            "        reach = reach + (size - 1) * jump\n        jump = stride * jump\n",
            "        jump = stride * jump\n        reach = reach + (size - 1) * jump\n",
            "A window lies on the layer below. Whose jump counts?",
        ),
        "a whole window more": (
            "(size - 1) * jump",
            "size * jump",
            "A 1 × 1 kernel: does it see more than the layer below?",
        ),
    }
)

layer_table.worked(
    why=r"""Everything that a layer needs to know of those below is in five numbers: channels, two sizes, reach, jump. The weights do not
    depend on the sizes, for windows share them; the sizes do not depend on the channels. Order matters twice: kernels
    go through the *old* channels, and windows lie on the *old* jump."""
)


@layer_table.right("reach and jump from products of strides")
def _(c, h, w, layers):
    table = []
    for depth, (channels, size, stride, pad) in enumerate(layers):
        jumps = [1]
        for layer in layers[: depth + 1]:
            jumps.append(jumps[-1] * layer[2])
        reach = 1 + sum((layer[1] - 1) * jump for layer, jump in zip(layers[: depth + 1], jumps, strict=False))  # fmt: skip
        weights = 0 if channels is None else channels * c * size**2 + channels
        c = c if channels is None else channels
        h, w = (1 + int(np.floor((m + 2 * pad - size) / stride)) for m in (h, w))
        table.append([c, h, w, weights, reach, jumps[-1]])
    return table


# ----------------------------------------------------------------------------------------- pool2d

pool2d = Exercise(
    "pool2d",
    reference=reference.pool2d,
    compare=close(),
    batched=("X",),
    hints=[
        "It is a layer whose kernel is a function. Where do windows begin, and how many fit?",
        "As in conv2d without padding. But channels are not added up: the summary runs over the rows and the columns of a window only, "
        "for all images and channels at once.",
        "np.max, np.min and np.mean take axis=(2, 3). Give them X[:, :, i * stride : i * stride + size, j * stride : j * stride + size].",
    ],
)


@pool2d.cases
def _(rng):
    def case(mode, n=1, c=2, h=5, w=6, size=2, stride=2):
        X = grey(rng, n, c, h, w)
        X[..., -size:, -size:] = np.abs(X[..., -size:, -size:])  # a window above 0
        X[..., :size, :size] = -np.abs(X[..., :size, :size])  # and one below
        return dict(X=X, size=size, stride=stride, mode=mode)

    for mode in ("max", "min", "mean"):
        yield f"tiles: {mode}", case(mode, n=2, h=4, w=6)
        yield f"tiles: {mode}", case(mode, c=3, h=7, w=4, size=3, stride=3)
    yield "windows that overlap", case("max", size=3, stride=1)
    yield "windows that overlap", case("mean", h=6, w=5, size=3, stride=2)
    yield "gaps between windows", case("min", h=8, w=9, size=2, stride=3)
    yield "all negative", dict(X=-rng.uniform(1, 2, (1, 2, 4, 4)), size=2, stride=2, mode="max")  # fmt: skip
    yield "the whole map", case("mean", n=2, c=3, h=4, w=4, size=4, stride=1)
    yield "whole numbers", dict(X=rng.permutation(48).reshape(1, 2, 4, 6), size=2, stride=2, mode="mean")  # fmt: skip


pool2d.mistakes(
    {
        "channels are mixed": (
            "summary(window, axis=(2, 3))",
            "summary(window, axis=(1, 2, 3))[:, None]",
            "Each channel is pooled by itself.",
        ),
        "least and largest change places": (
            '"max": np.max, "min": np.min',
            '"max": np.min, "min": np.max',
            "Which value does max keep?",
        ),
        "the sum for the mean": (
            "np.mean",
            "np.sum",
            "The mean of equal pixels is that pixel.",
        ),
        "always tiles": (
            "i * stride :, j * stride :",
            "i * size :, j * size :",
            "Where does the second window begin, with size 3 and stride 1?",
        ),
        "windows as wide as the stride": (
            "[:, :, :size, :size]",
            "[:, :, :stride, :stride]",
            "How wide is a window of size 3 with stride 1?",
        ),
        "half windows count": (
            "(length - size) // stride + 1",
            "-(-(length - size) // stride) + 1",
            "Windows must fit. Which pixel would the last one need?",
        ),
        "nothing is below zero": (
            "return P",
            "return np.maximum(P, 0)",
            "What is the largest of −3 and −1?",
        ),
        "whole numbers stay whole": (
            "np.zeros((",
            "np.zeros(dtype=X.dtype, shape=(",
            "The mean of whole numbers may have a fraction.",
        ),
    }
)

pool2d.worked(
    why=r"""The windows are those of a convolution without padding; only what happens inside differs. No channel is summed
    away, so a pool keeps their number, and it has no weights. With the window as large as the map a single number
    is left of each channel, and with it every trace of the place."""
)


@pool2d.right("by torch", library="torch.nn.functional.max_pool2d")
def _(X, size, stride, mode):
    X = torch.as_tensor(X).double()
    if mode == "mean":
        return torch.nn.functional.avg_pool2d(X, size, stride)
    sign = 1 if mode == "max" else -1
    return sign * torch.nn.functional.max_pool2d(sign * X, size, stride)


@pool2d.right("by NumPy's view of all windows")
def _(X, size, stride, mode):
    seen = np.lib.stride_tricks.sliding_window_view(X, (size, size), axis=(2, 3))
    return getattr(np, mode)(seen[:, :, ::stride, ::stride], axis=(-2, -1))


# -------------------------------------------------------------------------------------- shift_gap

shift_gap = Exercise(
    "shift_gap",
    reference=reference.shift_gap,
    compare=close(atol=1e-9),  # gaps of 0 are rounded differences
    batched=("X",),
    hints=[
        "Two roads from X to a map: move, then f; or f, then move. Both maps have the same shape.",
        "np.roll moves an array, round the edge, along several axes at once: rows are axis 2, columns axis 3. A map has one number for every "
        "`stride` pixels: by how many numbers does it move?",
        "np.roll(X, (down, right), axis=(2, 3)) into f, against np.roll(f(X), (down // stride, right // stride), axis=(2, 3)). Then np.abs.",
    ],
)


@shift_gap.probe
def _(answer, X, W, stride, pad, down, right):
    def f(X):
        X = torch.as_tensor(X).to(torch.as_tensor(W).dtype)
        F = torch.nn.functional.conv2d(X, torch.as_tensor(W), stride=stride, padding=pad)  # fmt: skip
        return F.numpy()

    if stride == 1:
        return answer(f, X, down, right)
    return answer(f, X, down, right, stride)


@shift_gap.cases
def _(rng):
    def case(down, right, n=1, c=2, h=5, w=6, o=2, a=2, stride=1, pad=0):
        given = dict(X=grey(rng, n, c, h, w), W=grey(rng, o, c, a, a))
        return given | dict(stride=stride, pad=pad, down=down, right=right)

    yield "down and right", case(1, 2, n=2)
    yield "down and right", case(2, 1, o=3)
    yield "up and left", case(-1, -2)
    yield "zeros around", case(1, 2, h=4, w=5, a=3, pad=1)
    yield "stride 2", case(2, 4, h=6, w=8, stride=2)
    yield "stride 3, up and right", case(-3, 3, h=6, w=9, a=3, stride=3)
    small = np.zeros((1, 1, 8, 8))
    small[:, :, 3:5, 3:5] = grey(rng, 2, 2)
    yield "a spot far from the edge leaves no gap", case(1, -1) | dict(X=small, W=grey(rng, 2, 1, 2, 2))  # fmt: skip
    yield "kernels of one pixel leave no gap", case(1, 2, a=1)


shift_gap.mistakes(
    {
        "the map stays": (
            "np.roll(f(X), move // stride, axis=(2, 3))",
            "f(X)",
            "Equivariance: the map moves along. Where is it compared with the moved one?",
        ),
        "the image stays": (
            "f(np.roll(X, move, axis=(2, 3)))",
            "f(X)",
            "On one of the two roads the image moves before f sees it.",
        ),
        "the map moves back": (
            "move // stride",
            "-move // stride",
            "Image and map move in the same direction.",
        ),
        "the map moves by pixels": (
            "move // stride",
            "move",
            "With stride 2, numbers of the map are two pixels apart.",
        ),
        "the image moves by numbers of the map": (
            "np.roll(X, move,",
            "np.roll(X, move // stride,",
            "down and right count pixels of the image.",
        ),
        "right and down change places": (
            "np.array([down, right])",
            "np.array([right, down])",
            "Rows are axis 2. Which of the two moves rows?",
        ),
        "no absolute value": (
            "np.abs(moved_first - moved_last)",
            "moved_first - moved_last",
            "A gap has no sign.",
        ),
        "one number": (
            "np.abs(moved_first - moved_last)",
            "np.abs(moved_first - moved_last).max()",
            "Where are the gaps? A map of them is asked for.",
        ),
    }
)

shift_gap.equivalent(
    {
        "moved_last = np.roll(f(X), move // stride, axis=(2, 3)) → moved_last = np.roll(f(X), move / stride, axis=(2, 3))": "The map moves by down / stride and right / stride numbers.",
    }
)

shift_gap.worked(
    why=r"""Equivariance says that two roads meet: move and ask, ask and move. So walk both and subtract, entry by entry, to see not only
    whether but *where* they differ. A stride makes the map coarser, and a move by one number of the map is then a move by
    `stride` pixels of the image."""
)


@shift_gap.right("by indices that go round")
def _(f, X, down, right, stride=1):
    def move(A, down, right):
        rows = (np.arange(A.shape[2]) - down) % A.shape[2]
        cols = (np.arange(A.shape[3]) - right) % A.shape[3]
        return A[:, :, rows][:, :, :, cols]

    gap = f(move(X, down, right)) - move(f(X), down // stride, right // stride)
    return np.where(gap < 0, -gap, gap)


# --------------------------------------------------------------------------------------- same_pad

same_pad = Exercise(
    "same_pad",
    reference=lambda m, a, s: reference.same_pad(int(m), int(a), int(s)),
    compare=exact(),
    shuffled=True,
    hints=[
        "Where does the last of m windows begin, and where does it end?",
        "It begins (m - 1) · s pixels after the first and needs a pixels. What the row lacks of that length are zeros. "
        "Half of them, rounded down, stand before.",
        "zeros = (m - 1) * s + a - m; before = zeros // 2, and the others after.",
    ],
)


@same_pad.cases
def _(rng):
    def draw(low, high):
        return int(rng.integers(low, high))

    yield "odd windows, stride 1", dict(m=draw(5, 60), a=2 * draw(1, 9) + 1, s=1)
    yield "even windows, stride 1", dict(m=draw(5, 60), a=4 * draw(1, 5) - 2, s=1)
    yield "even windows, stride 1", dict(m=draw(2, 5), a=4 * draw(2, 5), s=1)
    yield "with a stride", dict(m=2 * draw(4, 30), a=2 * draw(2, 6), s=2)
    yield "with a stride", dict(m=2 * draw(4, 30) + 1, a=2 * draw(2, 6), s=4)
    yield "a window of one pixel", dict(m=2 * draw(4, 30), a=1, s=2 * draw(1, 4))
    yield "nothing is missing", dict(m=draw(5, 60), a=1, s=1)


same_pad.mistakes(
    {
        "the one more stands before": (
            "zeros // 2, zeros - zeros // 2",
            "zeros - zeros // 2, zeros // 2",
            "4 pixels, windows of 2: on which side is the zero?",
        ),
        "the stride is forgotten": (
            "(m - 1) * s + a - m",
            "a - 1",
            "With stride 2, where does the last of m windows begin?",
        ),
        "all zeros on both sides": (
            "zeros // 2, zeros - zeros // 2",
            "zeros, zeros",
            "Are these the fewest zeros?",
        ),
        "the same on both sides": (
            "zeros // 2, zeros - zeros // 2",
            "-(-zeros // 2), -(-zeros // 2)",
            "For an odd number of zeros that is one too many.",
        ),
    }
)

same_pad.worked(
    why=r"""$m$ windows make $m - 1$ steps of $s$, and the last one needs $a$ pixels: $(m - 1)s + a$ in all. The row has $m$ of them. With one zero
    fewer the last window would not fit. For stride 1 that is $a - 1$: even for odd windows, which is why kernels are $3 \times 3$ and
    $5 \times 5$."""
)


@same_pad.right("one zero after the other")
def _(m, a, s):
    before = after = 0
    while (m + before + after - a) // s + 1 < m:
        before, after = (before + 1, after) if before < after else (before, after + 1)
    return before, after


# ------------------------------------------------------------------------------------ conv_matrix

conv_matrix = Exercise(
    "conv_matrix",
    reference=lambda K, h, w: reference.conv_matrix(K, int(h), int(w)),
    compare=close(),
    hints=[
        "Row by row: the first number of the map is an inner product with the first window. Which pixels have a weight, and which have 0?",
        "A row of M is an image that is 0 but for the kernel, put where the window is, and then written as one long row.",
        "window = np.zeros((h, w)); window[i : i + a, j : j + k] = K; append window.ravel(), for all i and j of the map.",
    ],
)


@conv_matrix.cases
def _(rng):
    yield "rows and columns", dict(K=grey(rng, 2, 3), h=3, w=5)
    yield "rows and columns", dict(K=grey(rng, 3, 2), h=4, w=3)
    yield "a square kernel on a square image", dict(K=grey(rng, 2, 2), h=3, w=3)
    yield "one window only", dict(K=grey(rng, 2, 3), h=2, w=3)
    yield "one weight: a multiple of the identity", dict(K=grey(rng, 1, 1), h=2, w=3)
    yield "an image of one row", dict(K=grey(rng, 1, 2), h=1, w=5)


conv_matrix.mistakes(
    {
        "the kernel is turned": (
            "j : j + k] = K",
            "j : j + k] = K[::-1, ::-1]",
            "M belongs to correlate2d without flip.",
        ),
        "columns of the image first": (
            "window.ravel()",
            "window.T.ravel()",
            "The image is written row after row.",
        ),
        "the map column by column": (
            "    for i in range(h - a + 1):\n        for j in range(w - k + 1):\n",
            "    for j in range(w - k + 1):\n        for i in range(h - a + 1):\n",
            "The second number of the map is to the right of the first.",
        ),
        "the transpose": (
            "np.array(rows)",
            "np.array(rows).T",
            "M has a row for each number of the map.",
        ),
        "one row of windows is missing": (
            "range(h - a + 1)",
            "range(h - a)",
            "How many windows fit one below the other?",
        ),
    }
)

conv_matrix.worked(
    why=r"""A matrix's row holds the weights of one output. For a number of the map these are the kernel's, at the pixels of its window, and 0
    elsewhere: so put the kernel into an empty image and flatten that. All rows hold the same few weights, moved along."""
)


@conv_matrix.right("by SciPy, one lit pixel after the other", library="scipy.signal")
def _(K, h, w):
    from scipy import signal

    lit = np.eye(h * w).reshape(h * w, h, w)
    maps = [signal.correlate2d(image, K, mode="valid").ravel() for image in lit]
    return np.array(maps).T


# -------------------------------------------------------------------------------------- pool_grad

pool_grad = Exercise(
    "pool_grad",
    reference=reference.pool_grad,
    compare=close(),
    hints=[
        "Start with zeros, and go through the windows. What does one slope G[i, j] give to the pixels of its window?",
        "The mean gives each of the size² pixels the same share. The maximum gives all to one pixel, and nothing to the others. Add: windows "
        "may overlap.",
        "argmax of the window counts through it, row after row: divmod(argmax, size) gives its row and column in the window. The window begins at "
        "i * stride, j * stride.",
    ],
)


@pool_grad.cases
def _(rng):
    def case(mode, h=4, w=6, rows=2, cols=3, size=2, stride=2):
        given = dict(X=grey(rng, h, w), G=grey(rng, rows, cols))
        return given | dict(size=size, stride=stride, mode=mode)

    yield "tiles: max", case("max")
    yield "tiles: max", case("max", h=9, w=6, rows=3, cols=2, size=3, stride=3)
    yield "tiles: mean", case("mean")
    yield "tiles: mean", case("mean", h=9, w=6, rows=3, cols=2, size=3, stride=3)
    ridge = np.zeros((4, 5))
    ridge[1:3, 1:4] = rng.uniform(1, 2, (2, 3))  # most windows share their largest
    yield "windows that overlap: max", case("max", h=4, w=5, rows=3, cols=4, stride=1) | dict(X=ridge)  # fmt: skip
    yield "windows that overlap: mean", case("mean", h=5, w=4, rows=3, cols=2, size=3, stride=1)  # fmt: skip
    gaps = grey(rng, 5, 7)  # the largest stand where row and column differ
    gaps[[0, 1, 4, 4], [1, 3, 0, 3]] = 3
    gaps[2, [1, 4]] = 2.5
    yield "pixels in no window", case("max", cols=2, stride=3) | dict(X=gaps)
    ties = np.full((4, 4), rng.uniform(-2, -1))
    ties[0, 1] = ties[1, 0] = ties[2, 2] = ties[3, 3] = ties[0, 1] + 1
    yield "equal pixels: the first", case("max", cols=2) | dict(X=ties)
    corner = grey(rng, 3, 3)
    corner[2, 0] = 3
    yield "a global pool", case("max", rows=1, cols=1, size=3) | dict(X=corner)


pool_grad.mistakes(
    {
        "the last window wins": (
            "D[i * stride + u, j * stride + v] += G[i, j]",
            "D[i * stride + u, j * stride + v] = G[i, j]",
            "A pixel that is the largest of two windows collects from both.",
        ),
        "shares are not added": (
            "D[rows, cols] += ",
            "D[rows, cols] = ",
            "A pixel in several windows has a share in each mean.",
        ),
        "all receive all": (
            "G[i, j] / size**2",
            "G[i, j]",
            "If all four pixels grow by 1, by how much does their mean?",
        ),
        "the least receives": (
            ".argmax()",
            ".argmin()",
            "Which pixel does the maximum move with?",
        ),
        "the place in the window for the place in the map": (
            "D[i * stride + u, j * stride + v]",
            "D[u, j * stride + v]",
            "argmax counts inside of the window. Where does the window begin?",
        ),
        "row and column change places": (
            "u, v = divmod",
            "v, u = divmod",
            "argmax counts row after row: what do quotient and rest tell?",
        ),
        "the last of equals": (
            "X[rows, cols].argmax()",
            "size**2 - 1 - X[rows, cols][::-1, ::-1].argmax()",
            "Of equal pixels, the first in reading order receives all.",
        ),
        "windows are tiles": (
            "rows = slice(i * stride, i * stride + size)",
            "rows = slice(i * size, i * size + size)",
            "Where does the second window begin, with size 3 and stride 1?",
        ),
    }
)

pool_grad.worked(
    why=r"""A change of one pixel moves a mean by $1/n$ of it, and a maximum by all of it or not at all. So slopes are shared out, or routed to the
    one pixel that won. Where windows overlap a pixel has several ways into the loss, and the chain rule adds them up. Whoever
    lost learns nothing from this example: that is the price of the maximum."""
)


@pool_grad.right("by autograd", library="torch.nn.functional")
def _(X, G, size, stride, mode):
    leaf = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    pool = torch.nn.functional.max_pool2d if mode == "max" else torch.nn.functional.avg_pool2d  # fmt: skip
    pool(leaf[None, None], size, stride).backward(torch.tensor(G).double()[None, None])
    return leaf.grad

"""Exercises of 08_convolutional_networks/04_project. The student chooses the network; the cases ask what it is worth."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from descent import data
from descent.compare import agrees, at_most, close, exact, parts
from solutions.spec import Exercise

from . import reference

# ------------------------------------------------------------------------------------ places

places = Exercise(
    "places",
    reference=reference.places,
    compare=exact(),
    hints=[
        "Put a frame of s zeros around the images. Which window of the wide image shows the digit one pixel further down?",
        "The window that starts at row s shows the image as it was. To move the image down by d, the window starts d rows higher: at s - d. Columns alike.",
        "wide = functional.pad(X, (s, s, s, s)); for down in range(-s, s + 1): for right in range(-s, s + 1): "
        "wide[:, s - down : s - down + h, s - right : s - right + w]. Then torch.stack.",
    ],
)


@places.cases
def _(rng):
    def grey(*shape):
        return torch.from_numpy(rng.choice([-1.0, 1.0], shape) * rng.uniform(0.5, 2, shape))  # fmt: skip

    yield "one pixel each way", dict(X=grey(2, 3, 4), s=1)
    yield "one pixel each way", dict(X=grey(1, 5, 3), s=1)
    yield "two pixels", dict(X=grey(1, 3, 4), s=2)
    yield "no shift at all", dict(X=grey(2, 2, 3), s=0)
    yield "a single image of two rows", dict(X=grey(1, 2, 3), s=1)
    yield "whole numbers stay whole", dict(X=torch.from_numpy(rng.integers(1, 9, (1, 3, 3))).float(), s=1)  # fmt: skip


places.mistakes(
    {
        "up and down are swapped": (
            "top, left = s - down, s - right",
            "top, left = s + down, s - right",
            "The first row of places is moved up. Does the first row of pixels leave there, or the last one?",
        ),
        "all directions are swapped": (
            "top, left = s - down, s - right",
            "top, left = s + down, s + right",
            "The first one is moved up and to the left. Which pixel of the image is then at the top left?",
        ),
        "column by column of places": (
            "top, left = s - down, s - right",
            "top, left = s - right, s - down",
            "The second place is one step further to the right. Where does yours go?",
        ),
        "what leaves comes in on the other side": (
            "moved.append(wide[:, top : top + h, left : left + w])",
            "moved.append(torch.roll(X, (down, right), (1, 2)))",
            "What leaves a field is gone. Is torch.roll's other side 0?",
        ),
        "the last place is missing": (
            "for down in range(-s, s + 1):",
            "for down in range(-s, s):",
            "From -s to s, both included: how many are these?",
        ),
        "only a cross of places": (
            "for right in range(-s, s + 1):\n            top",
            "for right in range(-s, s + 1):\n            if down and right:\n                continue\n            top",
            "Down and to the right at once is a place, too.",
        ),
    }
)


@places.right("filled into zeros, place by place")
def _(X, s):
    X = np.asarray(X)
    n, h, w = X.shape
    out = np.zeros(((2 * s + 1) ** 2, n, h, w))
    for number, (i, j) in enumerate(np.ndindex(2 * s + 1, 2 * s + 1)):
        down, right = i - s, j - s
        rows, cols = slice(max(0, down), h + min(0, down)), slice(max(0, right), w + min(0, right))  # fmt: skip
        back = slice(max(0, -down), h + min(0, -down)), slice(max(0, -right), w + min(0, -right))  # fmt: skip
        out[number, :, rows, cols] = X[:, back[0], back[1]]
    return out


@places.right("as windows", library="torch.nn.functional.unfold")
def _(X, s):
    from torch.nn import functional

    n, h, w = X.shape
    wide = functional.pad(X, (s, s, s, s))[:, None]
    windows = functional.unfold(wide, (h, w)).reshape(n, h, w, -1)
    return windows.permute(3, 0, 1, 2).flip(0)  # the first window is the last place


places.worked(
    why="A frame of zeros makes every shift a window of the same size, and a window that starts higher shows an image that has moved down. Two loops in reading order give the places row by row."
)

# ------------------------------------------------------------------------------------ verdict

verdict = Exercise(
    "verdict",
    reference=reference.verdict,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    shuffled=True,
    hints=[
        "Make a table right = read == y first. A mean over which axis belongs to a place, and over which to a digit?",
        "average: of all entries. place: the smallest of the rows' means. everywhere: columns without a single wrong entry. "
        "For steady take one digit: its m labels make m (m - 1) ordered pairs of different places.",
        "(read[:, None] == read) has shape (m, m, n). Summed over the first two axes, minus the m pairs of a place with itself, divided by m (m - 1), it is each digit's share.",
    ],
)


@verdict.cases
def _(rng):
    def case(m, n, k, wrong, labels=None):
        """A table with the right label in most entries and another one with chance `wrong[place]`."""
        y = rng.permutation(np.arange(n) % k)
        read = np.where(rng.random((m, n)) < np.reshape(wrong, (-1, 1)), rng.integers(0, k, (m, n)), y)  # fmt: skip
        return read, y

    def given(read, y):
        return dict(read=torch.from_numpy(read), y=torch.from_numpy(y))

    # the middle row is neither the best nor the worst; a column is right everywhere
    read, y = case(5, 9, 4, [0.1, 0.5, 0.3, 0.9, 0.2])
    read[:, :2], read[2, 2], read[0, 2:4], read[3, 5:] = y[:2], y[2] + 1, y[2:4], y[5:] + 1  # fmt: skip
    yield "some right, some wrong", given(read, y)
    read, y = case(9, 7, 10, rng.permutation(np.linspace(0, 0.8, 9)))
    read[:, 3], read[4, 0], read[4, 1] = y[3], y[0] + 1, y[1]
    yield "some right, some wrong", given(read, y)
    read, y = case(5, 8, 3, [0.0])
    read[[0, 1, 3, 4], [0, 1, 2, 3]] += 1
    yield "right in the middle, and not everywhere", given(read, y)
    # nowhere worse than in the middle, and elsewhere wrong with a single digit
    y, many = rng.integers(30, 40, int(rng.integers(8, 15))), int(rng.integers(2, 6))
    read = np.tile(y, (25, 1))
    read[12, :many] += 1
    read[3, many] += 1
    yield "wrong in the middle", given(read, y)
    # each digit has one label wherever it stands
    read, y = case(3, 8, 4, [0.0])
    read[:, : int(rng.integers(2, 6))] += 1
    yield "steady, right or wrong", given(read, y)
    yield "steady, right or wrong", given(*case(3, int(rng.integers(4, 9)), 5, [0.0]))
    yield "steady, right or wrong", given(read, read[0])
    m = int(rng.choice([3, 5, 7, 9]))
    read = np.arange(m)[:, None] + 10 * rng.permutation(6)
    yield "another label at each place", given(read, read[m // 2])
    m = int(rng.choice([5, 7, 9, 11]))
    read = np.full((m, 1), 4)
    read[m // 2 - 1 : m // 2 + 1] = 7
    yield "a single digit", given(read, np.array([7]))


verdict.mistakes(
    {
        "the first place for the middle": (
            "right[m // 2].mean()",
            "right[0].mean()",
            "Of m rows, which number has the one in the middle?",
        ),
        "the worst digit": (
            "right.mean(1).min()",
            "right.mean(0).min()",
            "Rows are places. A mean over which axis leaves one number a place?",
        ),
        "the best place": (
            "right.mean(1).min()",
            "right.mean(1).max()",
            "The worst place is asked for.",
        ),
        "right somewhere": (
            "right.min(0).values",
            "right.max(0).values",
            "Right at all places, or at one?",
        ),
        "places where all digits are right": (
            "right.min(0).values",
            "right.min(1).values",
            "Columns are digits. Which of them are right in every row?",
        ),
        "a place agrees with itself": (
            "- m\n    steady = (pairs / (m * (m - 1)))",
            "\n    steady = (pairs / (m * m))",
            "Two different places are drawn. How often does your count take the same one twice?",
        ),
        "agreement with the middle only": (
            "agree = (read[:, None] == read).double()\n    pairs = agree.sum((0, 1)) - m\n    steady = (pairs / (m * (m - 1))).mean()",
            "agree = (read == read[m // 2]).double()\n    steady = ((agree.sum(0) - 1) / (m - 1)).mean()",
            "Any two places make a pair, not only those with the middle.",
        ),
        "only equal labels that are right": (
            "agree = (read[:, None] == read).double()",
            "agree = ((read[:, None] == read) & (read == y)).double()",
            "Steadiness needs no right labels: two equal wrong ones agree.",
        ),
        "all labels equal or nothing": (
            "steady = (pairs / (m * (m - 1))).mean()",
            "steady = (pairs == m * (m - 1)).double().mean()",
            "Three of four equal labels are steadier than two of four.",
        ),
    }
)


@verdict.right("with lists, pair by pair")
def _(read, y):
    read, y = read.tolist(), y.tolist()
    m, n = len(read), len(y)
    shares = [sum(a == b for a, b in zip(row, y)) / n for row in read]
    columns = [[row[j] for row in read] for j in range(n)]
    sure = sum(set(c) == {label} for c, label in zip(columns, y)) / n
    pairs = [c[i] == c[j] for c in columns for i in range(m) for j in range(i)]
    return shares[m // 2], sum(shares) / m, min(shares), sure, sum(pairs) / len(pairs)


verdict.worked(
    why="All five are read off one table. Averages over rows tell of places, minima over columns of parcels. Steadiness compares the reader with itself, so it needs no right label, and one that always says 3 has all of it: steadiness alone says nothing."
)

# ------------------------------------------------------------------------------------ compare

compare = Exercise(
    "compare",
    reference=reference.compare,
    compare=close(rtol=1e-6, atol=1e-7, float32=True),
    shuffled=True,
    hints=[
        "How many numbers does one digit give? It may be right at 20 of 25 places with a and at 15 with b.",
        "right_a.mean(0) - right_b.mean(0) has one number a digit. The difference is their mean; what is the standard error of a mean of n numbers?",
        "ahead = right_a.mean(0) - right_b.mean(0); return ahead.mean(), ahead.std() / n ** 0.5. torch's std divides by n - 1; numpy's wants ddof=1.",
    ],
)


@compare.cases
def _(rng):
    def case(m, n, a, b, k=4):
        """Labels of two readers that are right with chances a and b, at places of a digit alike more often than not."""
        y = rng.permutation(np.arange(n) % k)
        tables = []
        for share in (a, b):
            hard = rng.random(n) > share
            flips = hard ^ (rng.random((m, n)) < 0.2)
            tables.append(torch.from_numpy(np.where(flips, (y + 1) % k, y)))
        tables[0][:, 0], tables[1][0, 0] = int(y[0]), int(y[0] + 1) % k
        return dict(read_a=tables[0], read_b=tables[1], y=torch.from_numpy(y))

    yield "a is better", case(5, 9, 0.9, 0.4)
    yield "a is better", case(3, 12, 0.8, 0.3)
    yield "b is better", case(5, 8, 0.3, 0.9)
    y, other = rng.permutation(5)[:2], int(rng.integers(1, 4))
    counts = (5, 2), (1 + other % 2, 3)  # at so many places a and b read the two right
    tables = [
        torch.from_numpy(np.where(np.arange(5)[:, None] < np.array(right), y, y + 7))
        for right in counts
    ]
    yield "two digits", dict(read_a=tables[0], read_b=tables[1], y=torch.from_numpy(y))
    y = rng.integers(0, 5, 6)
    one = torch.from_numpy(np.where(np.arange(3)[:, None] == int(rng.integers(3)), y + 1, y))  # fmt: skip
    two = torch.from_numpy(np.tile(y, (3, 1)))
    yield "each digit by the same amount", dict(read_a=two, read_b=one, y=two[0])
    other = case(3, int(rng.integers(5, 9)), 0.5, 0.5)
    yield "a reader against itself", other | dict(read_b=other["read_a"].clone())


compare.mistakes(
    {
        "readings are counted": (
            "ahead = right_a.mean(0) - right_b.mean(0)\n    spread = ahead.std()\n    return ahead.mean(), spread / len(y) ** 0.5",
            "ahead = right_a - right_b\n    spread = ahead.std()\n    return ahead.mean(), spread / ahead.numel() ** 0.5",
            "Readings of one digit are alike. How many digits are there?",
        ),
        "one number a place": (
            "right_a.mean(0) - right_b.mean(0)",
            "right_a.mean(1) - right_b.mean(1)",
            "Places are not what was drawn: digits are. One number for each of them.",
        ),
        "the two are swapped": (
            "right_a.mean(0) - right_b.mean(0)",
            "right_b.mean(0) - right_a.mean(0)",
            "How much better a is: positive where a is right more often.",
        ),
        "the standard deviation itself": (
            "spread / len(y) ** 0.5",
            "spread",
            "Four times as many digits make the mean twice as sure. Does your error know?",
        ),
        "divided by n": (
            "spread / len(y) ** 0.5",
            "spread / len(y)",
            "The variance of a mean falls like 1/n. And its root?",
        ),
        "n in the standard deviation": (
            "ahead.std()",
            "ahead.std(correction=0)",
            "The mean was taken from the same numbers: divide by n - 1.",
        ),
        "as if the digits were not the same": (
            "spread = ahead.std()",
            "spread = (right_a.mean(0).var() + right_b.mean(0).var()) ** 0.5",
            "Both readers read the same digits: what is hard for both cancels in the difference.",
        ),
    }
)


@compare.right("as a paired test does", library="scipy.stats.sem")
def _(read_a, read_b, y):
    from scipy.stats import sem

    ahead = ((read_a == y).double().mean(0) - (read_b == y).double().mean(0)).numpy()
    return ahead.mean(), sem(ahead)


compare.worked(
    why="What was drawn at random are digits. Their places are all there, and readings of one digit are alike, so each digit counts once. Taking the difference first, digit by digit, cancels what is hard for both."
)

# ------------------------------------------------------------------------------------ Reader

TOO_MANY, MIDDLE, UNLIKE = (
    "numbers over the budget",
    "labels in the middle",
    "fields read otherwise in other company",
)
# By name: how many of 100 may fail. The text tells them as shares that have to be right.
BOUNDS = {
    "wrong on average (%)": 20.0,
    "wrong at the worst place (%)": 30.0,
    "not right everywhere (%)": 50.0,
    "unsteady (%)": 20.0,
}

Reader = Exercise(
    "Reader",
    reference=lambda images, y, lamp, new, y_new, new_lamp, n_numbers, seed: {
        MIDDLE: y_new,
        TOO_MANY: 0,
        UNLIKE: 0,
        **BOUNDS,
    },
    compare=parts(
        **{
            # 14 draws of ten digits: the solution 84 to 96 % on average and 58 to 86 % everywhere
            MIDDLE: agrees(0.8),
            TOO_MANY: exact(),
            UNLIKE: at_most(1),  # two labels may be as good as equal
            **{name: at_most() for name in BOUNDS},
        }
    ),
    limit=30.0,
    trains=True,
    hints=[
        "Write it in parts: the tensors of the state; a method that makes scores of a state and fields, which training and predict share; a loop. "
        "Count the entries before you train. Then look at the five numbers on the try digits.",
        "Two layers of 3 × 3 kernels with ReLU, a global max pool behind, and a linear readout; between the layers a max pool of 2. Adam with 0.015 that falls to 0, some 800 steps of 32 fields. "
        "Make the layers wider as long as they fit. A stride minds single pixels: move the fields while you train.",
        "Kernels (c, 1, 3, 3) and (d, c, 3, 3), readout (k, d), each with biases: 10 c + d (9 c + 1) + k (d + 1) numbers. Start the weights from torch.randn times the root of 2 over a unit's inputs; functional.leaky_relu(…, 0.1) lets no kernel die. "
        "Move: functional.pad(X, (2, 2, 2, 2), mode='replicate') and a window that starts at torch.randint(5, (2,)).",
    ],
)


@Reader.probe
def _(answer, images, y, lamp, new, y_new, new_lamp, n_numbers, seed):
    import dis
    import random
    import types

    side = np.linspace(-1, 1, 14)

    def fields(images, lamp, down=0, right=0):
        """Digits (n, 8, 8) on fields of 14 by 14, moved; the lamp's light does not move."""
        top, left = 3 + down, 3 + right
        wide = lamp[:, :1, None] * side[:, None] + lamp[:, 1:2, None] * side
        wide = wide + lamp[:, 2:, None]
        wide[:, top : top + 8, left : left + 8] += images / 16
        return torch.from_numpy(wide).float()

    def handed(state):
        """The state as it arrives in the camera: new tensors, rounded to 16 bits."""
        arrays = isinstance(state, (list, tuple)) and all(isinstance(part, (torch.Tensor, np.ndarray)) for part in state)  # fmt: skip
        if not arrays:
            told = f"fit returns {type(state).__name__}, not a list of tensors. Return all that predict needs: [tensor, tensor, ...]."
            raise ValueError(told)
        parts = [torch.as_tensor(part).detach() for part in state]
        if any(part.numel() == 0 or part.is_complex() for part in parts):
            told = "The state has a tensor that is empty or complex. Keep real numbers, and no empty tensors."
            raise ValueError(told)
        parts = [part.half().float().numpy() for part in parts]
        if not all(np.isfinite(part).all() for part in parts):
            told = "The state has a number that is not finite in 16 bits: nan, or beyond 65,504. Look at the loss while you train."
            raise ValueError(told)
        return parts

    class NoSeed:
        """Stands where a generator is made, set or found."""

        def __call__(self, *args, **kwargs):
            told = "predict sets or makes a random generator. What a seed gives again are numbers, too: let fit put them into the state."
            raise ValueError(told)

        __getattr__ = __call__

    def read(state, X):
        labels = answer().predict([torch.from_numpy(part.copy()) for part in state], X)
        labels = np.asarray(torch.as_tensor(labels).detach())
        if labels.shape != (len(X),):
            told = f"predict gives shape {labels.shape} for {len(X)} fields, not ({len(X)},): one label a field."
            raise ValueError(told)
        return labels

    own = type(answer()).__module__

    def steps(code, name):
        return {step.argval for step in dis.get_instructions(code) if step.opname == name}  # fmt: skip

    def held(value):
        """What a value holds or reads: a class's fields, a function's constants, defaults and names."""
        if isinstance(value, property):
            return [value.fget]
        if isinstance(value, (staticmethod, classmethod)):
            return [value.__func__]
        if getattr(value, "__module__", None) not in (own, None):  # torch's layers
            return []
        if isinstance(value, type):
            return [part for name, part in vars(value).items() if name[:2] != "__" or callable(part)]  # fmt: skip
        if not isinstance(value, types.FunctionType):
            return list(getattr(value, "__dict__", {}).values())
        found = [value.__defaults__, value.__kwdefaults__, value.__dict__]
        found += [cell.cell_contents for cell in value.__closure__ or ()]
        codes = [value.__code__]
        for code in codes:
            codes += [part for part in code.co_consts if isinstance(part, types.CodeType)]  # fmt: skip
            found += [part for part in code.co_consts if part != value.__doc__]
            found += [value.__globals__.get(name) for name in steps(code, "LOAD_GLOBAL")]  # fmt: skip
            found += [np.zeros(1) for name in steps(code, "IMPORT_NAME") if outside(name)]  # fmt: skip
        return found

    def outside(module):
        """Whether it has digits of its own."""
        return module.startswith(("descent", "sklearn.datasets"))

    def kept(value, seen):
        """How many numbers a value keeps; a tensor, a network or a generator keeps too many."""
        many = torch.Tensor, np.ndarray, torch.nn.Module, torch.Generator
        if isinstance(
            value, (*many, np.random.Generator, np.random.RandomState, random.Random)
        ):
            return math.inf
        if isinstance(value, types.ModuleType):
            return math.inf if outside(value.__name__) else 0
        if isinstance(value, (str, bytes)):
            return len(value) // 8 if len(value) > 40 else 0
        if isinstance(value, int):
            return 1 + value.bit_length() // 64
        if isinstance(value, (float, np.generic)):
            return 1
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple, set, frozenset)):
            return sum(kept(part, seen) for part in value)
        if id(value) in seen:
            return 0
        seen.add(id(value))
        return sum(kept(part, seen) for part in held(value))

    def refuse_kept():
        """Numbers of the class, in its methods, and in what of the notebook these read."""
        kinds = [kind for kind in type(answer()).__mro__ if kind.__module__ == own]
        for name, value in [field for kind in kinds for field in vars(kind).items()]:
            if name != "__doc__" and kept(value, set(map(id, kinds))) > 50:
                told = f"Reader.{name} keeps or reads numbers outside the state. Let fit return all that predict needs."
                raise ValueError(told)

    kept_state = torch.random.get_rng_state()
    seeds = [
        (torch, "manual_seed"),
        (torch.random, "manual_seed"),
        (torch, "Generator"),
        (torch, "set_rng_state"),
        (torch.random, "set_rng_state"),
        (torch, "default_generator"),
        (torch.random, "default_generator"),
        (torch.quasirandom, "SobolEngine"),
        (np.random, "seed"),
        (np.random, "default_rng"),
        (np.random, "set_state"),
        (np.random, "RandomState"),
        (np.random, "Generator"),
        (random, "seed"),
        (random, "Random"),
    ]
    refuse_kept()
    makers = [getattr(*place) for place in seeds]
    torch.manual_seed(seed)
    try:
        X = fields(images, lamp)
        state = answer().fit(X.clone(), torch.from_numpy(y).long(), n_numbers)
        refuse_kept()
        state = handed(state)
        # another reader, that learns other labels from the same fields
        others = torch.from_numpy((y + 1) % (y.max() + 1)).long()
        answer().fit(X.clone(), others, n_numbers)
        for place in seeds:
            setattr(*place, NoSeed())
        shifts = [(down, right) for down in range(-2, 3) for right in range(-2, 3)]
        table = np.stack([read(state, fields(new, new_lamp, *by)) for by in shifts])
        few = fields(new[-20:], new_lamp[-20:], 1, -1)
        alone = np.concatenate([read(state, field[None]) for field in few])
        loud = read(state, torch.cat([few, 9 * few]))[:20]
    finally:
        for place, function in zip(seeds, makers):
            setattr(*place, function)
        torch.random.set_rng_state(kept_state)

    usual = table[shifts.index((1, -1)), -20:]
    right = table == y_new
    equal = (table[:, None] == table).sum((0, 1)) - 25
    return {
        "labels in the middle": table[12].astype(np.int8),
        "numbers over the budget": max(0, sum(part.size for part in state) - n_numbers),
        "fields read otherwise in other company": int(
            ((alone != usual) | (loud != usual)).sum()
        ),  # fmt: skip
        "wrong on average (%)": 100 * float(1 - right.mean()),
        "wrong at the worst place (%)": 100 * float(1 - right.mean(1).min()),
        "not right everywhere (%)": 100 * float(1 - right.all(0).mean()),
        "unsteady (%)": 100 * float(1 - (equal / (25 * 24)).mean()),
    }


@Reader.cases
def _(rng):
    table = data.digits()
    pixels, digits = table.X.reshape(-1, 8, 8).astype(np.uint8), table.y

    def turned(images):
        """All turned by the same quarters, and perhaps mirrored: nobody has seen them so."""
        images = np.rot90(images, quarters, (1, 2))
        return np.ascontiguousarray(images[:, :, ::-1] if mirrored else images)

    def case(images, labels, n, n_numbers):
        """n to learn from, the others to read."""
        images = turned(images)
        lamp = rng.uniform(-0.25, 0.25, (len(images), 3)).round(3)
        labels = labels.astype(np.int8)
        return dict(
            images=images[:n],
            y=labels[:n],
            lamp=lamp[:n],
            new=images[n:],
            y_new=labels[n:],
            new_lamp=lamp[n:],
            n_numbers=n_numbers,
            seed=int(rng.integers(10_000)),
        )

    def some(kinds, n):
        """n and 300 images of these digits, whose labels are their numbers in another order."""
        rows = rng.permutation(np.flatnonzero(np.isin(digits, kinds)))[: n + 300]
        names = rng.permutation(len(kinds))
        return pixels[rows], names[np.searchsorted(kinds, digits[rows])], n

    def signs(k, n):
        """n and 300 signs of k kinds: the upper half of one digit on the lower half of another."""
        upper, lower = rng.permutation(10)[:k], rng.permutation(10)[:k]
        labels = rng.permutation(np.arange(n + 300) % k)
        pool = rng.permutation(len(digits))
        images = np.empty((n + 300, 8, 8), np.uint8)
        for part, among in ((slice(n), pool[:1100]), (slice(n, None), pool[1100:])):
            for half, kinds in ((slice(4), upper), (slice(4, 8), lower)):
                rows = [rng.choice(among[digits[among] == kinds[c]]) for c in labels[part]]  # fmt: skip
                images[part, half] = pixels[rows, half]
        return images, labels, n

    quarters, mirrored = int(rng.integers(4)), bool(rng.integers(2))
    yield "ten digits", case(*some(np.arange(10), 700), 1600)
    quarters = int(rng.integers(4))
    yield "made-up signs", case(*signs(6, 600), 1200)
    quarters = int(rng.integers(4))
    yield "five digits", case(*some(np.sort(rng.permutation(10)[:5]), 500), 800)


Reader.mistakes(
    {
        "it learns in the middle only, with a stride": (
            "self.moved(X[rows])",
            "X[rows]",
            "Which places has the small pool seen? Move a digit by one pixel and look at the five numbers.",
        ),
        "all kernels of the same weights": (
            "torch.randn(shape) * (2 / inputs) ** 0.5",
            "torch.ones(shape) * (2 / inputs) ** 0.5",
            "Kernels that begin alike stay alike: how many different ones do you have?",
        ),
        "the budget is forgotten": (
            "<= n_numbers",
            "<= 4000",
            "n_numbers is an argument. How many entries does your state have in the last case?",
        ),
        "biases are not counted": (
            "np.prod(shape) + shape[0]",
            "np.prod(shape)",
            "Biases are numbers, too. Count the entries of all tensors that you return.",
        ),
        "ten steps": (
            "steps = 800",
            "steps = 10",
            "Print the loss: has it stopped falling?",
        ),
    }
)


def _train(net, X, y, steps):
    """Adam with a rate that falls, on fields that are moved."""
    adam = torch.optim.AdamW(net.parameters(), 0.02)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda step: min(1, 1.5 - 1.5 * step / steps)
    )
    for _ in range(steps):
        rows = torch.randint(len(X), (64,))
        fields = functional.pad(X[rows], (2, 2, 2, 2), mode="replicate")
        top, left = torch.randint(5, (2,)).tolist()
        fields = fields[:, top : top + 14, left : left + 14]
        loss = functional.cross_entropy(net(fields[:, None]), y[rows])
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
    return [tensor.detach() for tensor in net.parameters()]


def _read(net, state, X):
    with torch.no_grad():
        for mine, tensor in zip(net.parameters(), state, strict=True):
            mine.copy_(tensor)
        return net(X[:, None]).argmax(1)


def _widest(build, n_numbers):
    """The widest network that fits, as its width."""
    width = 1
    while sum(p.numel() for p in build(width + 1).parameters()) <= n_numbers:
        width += 1
    return width


def _ridge(H, y):
    """A linear readout of features H (n, c), the only state -> [(c, k)]."""
    k = int(y.max()) + 1
    gram = H.T @ H + torch.eye(H.shape[1])
    return [torch.linalg.solve(gram, H.T @ (torch.eye(k)[y] - 1 / k))]


@Reader.wrong(
    "a dense network, with moved fields",
    advice="A hidden unit that sees the whole field has 197 numbers. Which layer serves all places with a few?",
)
class _:
    def net(self, width, k):
        return nn.Sequential(nn.Flatten(), nn.Linear(196, width), nn.ReLU(), nn.Linear(width, k))  # fmt: skip

    def fit(self, X, y, n_numbers):
        k = int(y.max()) + 1
        width = _widest(lambda width: self.net(width, k), n_numbers)
        return _train(self.net(width, k), X, y, 600)

    def predict(self, state, X):
        return _read(self.net(len(state[1]), len(state[3])), state, X)


@Reader.wrong(
    "kept for all readers in one place",
    advice="predict gets a state from fit, and nothing else. What has another reader learned in between?",
)
class _:
    def fit(self, X, y, n_numbers):
        k = int(y.max()) + 1
        self.keep(_plain(10, k))
        _train(self.kept[0], X, y, 400)
        return [torch.zeros(1)]

    kept = [None]

    def keep(self, net):
        self.kept[0] = net

    def predict(self, state, X):
        with torch.no_grad():
            return self.kept[0](X[:, None]).argmax(1)


class _Free:
    """Keeps a linear readout alone; `kernels(count)` come from elsewhere."""

    def see(self, X, count):
        maps = functional.conv2d(X[:, None], self.kernels(count))
        return functional.pad(maps.relu().amax((2, 3)), (0, 1), value=1.0)

    def fit(self, X, y, n_numbers):
        return _ridge(self.see(X, n_numbers // int(y.max() + 1) - 1), y)

    def predict(self, state, X):
        return (self.see(X, len(state[0]) - 1) @ state[0]).argmax(1)


@Reader.wrong(
    "kernels that a seed gives again",
    advice="A kernel has numbers, wherever it comes from. Keep it in the state.",
)
class _(_Free):
    def kernels(self, count):
        chance = torch.Generator().manual_seed(0)
        K = torch.randn(count, 1, 5, 5, generator=chance)
        return K - K.mean((2, 3), keepdim=True)


@Reader.wrong(
    "kernels in the class",
    advice="A kernel has numbers, wherever it stands. Keep it in the state.",
)
class _(_Free):
    K = torch.randn(400, 1, 5, 5, generator=torch.Generator().manual_seed(0))

    def kernels(self, count):
        return self.K[:count]


@Reader.wrong(
    "Python's random in predict",
    advice="A kernel has numbers, whoever draws it again. Keep it in the state.",
)
class _(_Free):
    def kernels(self, count):
        import random

        chance = random.Random(0)
        K = torch.tensor([chance.gauss(0, 1) for _ in range(25 * count)])
        return K.reshape(count, 1, 5, 5)


@Reader.wrong(
    "a handle for a state",
    advice="What does the state hold: the numbers, or the place where they lie?",
)
class _:
    kept = {}

    def fit(self, X, y, n_numbers):
        k, n = int(y.max()) + 1, len(self.kept)
        net = _plain(10, k)
        self.kept[n] = k, [tensor.tolist() for tensor in _train(net, X, y, 100)]
        return [torch.tensor([float(n)])]

    def predict(self, state, X):
        k, numbers = self.kept[int(state[0])]
        return _read(_plain(10, k), map(torch.tensor, numbers), X)


@Reader.wrong(
    "normalised by the batch that it reads",
    advice="Whose mean does a single field have? Keep the running means in the state: they count.",
)
class _:
    class Normal(nn.Module):
        def forward(self, H):
            return (H - H.mean(0)) / (H.var(0, correction=0) + 0.01).sqrt()

    def net(self, width, k):
        *layers, readout = _plain(width, k)
        return nn.Sequential(*layers, self.Normal(), readout)

    def fit(self, X, y, n_numbers):
        k = int(y.max()) + 1
        width = _widest(lambda width: self.net(width, k), n_numbers)
        return _train(self.net(width, k), X, y, 200)

    def predict(self, state, X):
        return _read(self.net(len(state[1]), len(state[5])), state, X)


def _plain(width, k):
    """Two layers at every pixel, no small pool, a global one."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1, padding_mode="replicate"),
        nn.LeakyReLU(0.1),
        nn.Conv2d(width, width * 3 // 2, 3, padding=1, padding_mode="replicate"),
        nn.LeakyReLU(0.1),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(width * 3 // 2, k),
    )


@Reader.right("stride 1 and a global pool")
class _:
    def fit(self, X, y, n_numbers):
        k = int(y.max()) + 1
        width = _widest(lambda width: _plain(width, k), n_numbers)
        return _train(_plain(width, k), X, y, 450)

    def predict(self, state, X):
        return _read(_plain(len(state[1]), len(state[5])), state, X)


@Reader.right("kernels of 5 × 5, then 3 × 3, moved together, arrays for tensors")
class _:
    def net(self, width, k):
        return nn.Sequential(
            nn.Conv2d(1, width, 5, padding=2),
            nn.LeakyReLU(0.1),
            nn.MaxPool2d(2),
            nn.Conv2d(width, width, 3, padding=1),
            nn.LeakyReLU(0.1),
            nn.AdaptiveMaxPool2d(1),
            nn.Flatten(),
            nn.Linear(width, k),
        )

    def fit(self, X, y, n_numbers):
        k = int(y.max()) + 1
        width = _widest(lambda width: self.net(width, k), n_numbers)
        state = _train(self.net(width, k), X, y, 700)
        return [tensor.numpy() for tensor in state]

    def predict(self, state, X):
        return _read(self.net(len(state[1]), len(state[5])), state, X).tolist()


Reader.worked(
    why="A few kernels serve every place, and the global pool keeps what they found, not where: that takes hundreds of numbers, where a dense layer needs thousands. The small pool makes training fast and minds single pixels, so the fields are moved while it learns. The state is all that predict sees, and its entries are counted before a single step is taken."
)

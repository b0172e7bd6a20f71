"""Exercises of 15_diffusion/08_project. The student chooses how to paint; the cases ask what the pictures are worth."""

import math

import numpy as np
import torch
from torch import nn

from descent import data
from descent.compare import agrees, at_most, close, exact, parts
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- coverage

coverage = Exercise(
    "coverage",
    reference=reference.coverage,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    shuffled=True,
    hints=[
        "For `right`: to which label does each digit that was seen belong? For `rarest`: go through the digits one by one.",
        "owner[seen] are the labels that were painted. For a digit: count the pictures where it was seen and its label was wanted, and divide by its fair share.",
        "For digit, label in enumerate(owner): asked = wanted == label; painted = (asked & (seen == digit)).sum(); "
        "fair = asked.sum() / (owner == label).sum(). Keep the smallest painted / fair.",
    ],
)


@coverage.cases
def _(rng):
    def case(owner, asked, shares):
        """asked[label] pictures of each label; shares[label]: of its pictures, how many show each digit."""
        owner, wanted, seen = torch.tensor(owner), [], []
        for label, count in enumerate(asked):
            shown = np.repeat(np.arange(len(owner)), shares[label])
            wanted += [label] * count
            seen += list(shown)
        order = rng.permutation(len(wanted))
        wanted, seen = torch.tensor(wanted)[order], torch.tensor(np.array(seen))[order]
        return dict(seen=seen, wanted=wanted, owner=owner)

    a, b, c = (int(count) for count in rng.permutation(np.arange(6, 13))[:3])
    own = case([0, 1, 2], [a + 20, b, c + 1], [[a + 16, 2, 2], [0, b, 0], [1, 0, c]])
    yield "each digit has its own label", own
    # the digit with the lowest count is not the one that comes off worst
    many = case([0, 1], [a, 4 * a], [[a, 0], [2 * a, 2 * a]])
    yield "each digit has its own label", many
    # label 0 has three digits, label 1 two; wrong ones are many, and count for nothing
    mixed = [[a, b, c, 4, 5], [1, 0, 9, 2, 2]]
    yield (
        "labels of several digits",
        case([0, 0, 0, 1, 1], [a + b + c + 9, 14], mixed),
    )
    swapped = [[a, 0, 6, 2], [0, 7, 1, b]]
    yield "labels of several digits", case([0, 1, 0, 1], [a + 8, b + 8], swapped)
    # an odd number for two: a fair share need not be a whole number
    yield "labels of several digits", case([0, 0], [2 * a + 1], [[a, a + 1]])
    never = [[a, 0, b], [0, 0, c]]
    yield "a digit that is never painted", case([0, 0, 1], [a + b, c], never)
    last = [[a, 0, 0], [c, b, 0]]
    yield "a digit that is never painted", case([0, 1, 1], [a, b + c], last)
    stolen = [[a, 0, 0, 3], [0, b, 4, 0], [0, 9, 0, 1]]
    yield (
        "painted, but for another label",
        case([0, 1, 1, 2], [a + 3, b + 4, 10], stolen),
    )
    yield "all for one label", case([0, 0], [a + b], [[a, b]])


coverage.mistakes(
    {
        "the digit is compared with the label": (
            "owner[seen] == wanted",
            "seen == wanted",
            "A label need not be a digit. To which label does the digit belong?",
        ),
        "painted for any label": (
            "(asked & (seen == digit))",
            "(seen == digit)",
            "A digit that came where another label was wanted is wrong. Does it count here?",
        ),
        "the fair share is the whole label": (
            "asked.sum() / (owner == label).sum()",
            "asked.sum()",
            "Two digits share a label: how many pictures of it may each expect?",
        ),
        "the fair share of all pictures": (
            "asked.sum() / (owner == label).sum()",
            "len(wanted) / len(owner)",
            "Labels may be asked for more or less often. Start from the pictures of this digit's label.",
        ),
        "counts in place of shares": (
            "painted / fair",
            "painted",
            "3 of 30 is little, 3 of 3 is all. Divide by the fair share.",
        ),
        "the best digit": (
            "rarest = min(",
            "rarest = max(0 if rarest == math.inf else ",
            "Which digit comes off worst?",
        ),
        "only digits that were painted": (
            "fair = asked.sum()",
            "if painted == 0:\n            continue\n        fair = asked.sum()",
            "A digit that never comes is the worst case, not one to skip.",
        ),
        "digits up to the largest that was seen": (
            "in enumerate(owner):",
            "in enumerate(owner[: seen.max() + 1]):",
            "How many digits there are, owner says. The last one may never have been seen.",
        ),
    }
)


@coverage.right("with lists")
def _(seen, wanted, owner):
    seen, wanted, owner = (part.tolist() for part in (seen, wanted, owner))
    pairs = list(zip(seen, wanted))
    right = sum(owner[digit] == label for digit, label in pairs) / len(pairs)
    parts = [
        pairs.count((digit, label)) * owner.count(label) / wanted.count(label)
        for digit, label in enumerate(owner)
    ]
    return right, min(parts)


coverage.worked(
    why="A mean hides what is missing: a painter that cannot do an 8 is right nine times out of ten. So each digit is counted for itself, against what it may expect, and the worst one speaks for all."
)

# ---------------------------------------------------------------- neighbours

neighbours = Exercise(
    "neighbours",
    reference=reference.neighbours,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    hints=[
        "torch.cdist(a, b) is the table of distances from each row of a to each of b. What is the nearest for each row?",
        "Nearest distances: .amin(1). Compare those to known with those to new, and count ties with ½. For `far` you need the nearest new image of the known ones, too.",
        "to_known = torch.cdist(drawn, known).amin(1), to_new = torch.cdist(drawn, new).amin(1); copied is the mean of (to_known < to_new) plus half of (to_known == to_new); "
        "far = to_new.quantile(0.9) / torch.cdist(known, new).amin(1).quantile(0.9).",
    ],
)


@neighbours.cases
def _(rng):
    def rows(n, d, scale=1.0):
        return torch.from_numpy(scale * rng.normal(size=(n, d)))

    known, new = rows(9, 4), rows(7, 4)
    near = torch.cat(
        [known[[0, 3, 5, 5]] + rows(4, 4, 0.02), new[:3] + rows(3, 4, 0.02)]
    )
    yield "some copied, some not", dict(drawn=near, known=known, new=new)
    some = dict(drawn=rows(5, 6), known=rows(4, 6), new=rows(8, 6))
    some["drawn"][:2] = some["known"][:2] + 0.01
    some["drawn"][2:4] = some["new"][:2] + 0.01
    yield "some copied, some not", some
    copies = known[torch.from_numpy(rng.integers(9, size=6))].clone()
    yield "nothing but copies", dict(drawn=copies, known=known, new=new)
    # known images far from each other, each with a new one beside it
    corners = 9 * torch.eye(5).double()
    beside = dict(
        drawn=corners[[1, 4, 2]], known=corners, new=corners + rows(5, 5, 0.1)
    )
    yield "nothing but copies", beside
    # more known images than new ones, and the copied ones stand last
    beside = dict(drawn=corners[3:] + 0.01, known=corners, new=corners[3:] / 2)
    yield "some copied, some not", beside
    # mirror images of the same distance: known on one side, new on the other
    side, up = torch.tensor([3.0, 0.0]).double(), torch.tensor([0.0, 1.0]).double()
    height = float(rng.integers(2, 6))
    middle = torch.stack([0 * up, height * up, 2 * height * up])
    tied = dict(drawn=middle, known=middle[[0, 1]] + side, new=middle[:2] - side)
    tied["drawn"] = torch.cat([middle, middle[:1] + side / 4, middle[:1] + side / 99])
    yield "a tie counts half", tied
    ways = torch.cat([torch.eye(3), -torch.eye(3)]).double()
    ways = ways[torch.from_numpy(rng.permutation(6))]
    far = dict(drawn=40 * ways + rows(6, 3), known=2 * ways[:5], new=rows(6, 3, 0.1))
    far["new"][0] = ways[5]  # so five of six are nearer to a known image
    yield "far from all images", far
    drawn = rows(1, 5)
    away = torch.nn.functional.normalize(rows(5, 5))
    away = drawn + away * torch.tensor([[3.0], [1.0], [4.0], [5.0], [2.0]])
    yield "a single picture", dict(drawn=drawn, known=away[:3], new=away[3:])


neighbours.mistakes(
    {
        "nearer to new": (
            "(to_known < to_new)",
            "(to_known > to_new)",
            "Whose images does a copier know?",
        ),
        "ties are theft": (
            "ties / 2",
            "ties",
            "A tie speaks as much for a theft as against it.",
        ),
        "ties count nothing": (
            "nearer + ties / 2",
            "nearer",
            "A tie speaks as much for a theft as against it.",
        ),
        "the mean distance to all images": (
            "to_new = torch.cdist(drawn, new).amin(1)",
            "to_new = torch.cdist(drawn, new).mean(1)",
            "Only the nearest image of each picture counts.",
        ),
        "the farthest known image": (
            "to_known = torch.cdist(drawn, known).amin(1)",
            "to_known = torch.cdist(drawn, known).amax(1)",
            "Which known image would it be a copy of?",
        ),
        "far from the known ones": (
            "to_new.quantile(0.9) / usual",
            "to_known.quantile(0.9) / usual",
            "A copy is near to the known ones and proves nothing. From which images should it be measured?",
        ),
        "distances without a yardstick": (
            "to_new.quantile(0.9) / usual",
            "to_new.quantile(0.9)",
            "Is 2.4 far? Divide by what is usual between known and new images.",
        ),
        "the mean distance": (
            "to_new.quantile(0.9) / usual",
            "to_new.mean() / torch.cdist(known, new).amin(1).mean()",
            "A mean hides the tenth that are no digits. How far do nine in ten stay?",
        ),
        "the farthest of all": (
            "to_new.quantile(0.9) / usual",
            "to_new.amax() / torch.cdist(known, new).amin(1).amax()",
            "One bad picture may be luck. How far do nine in ten stay?",
        ),
        "the yardstick starts from the new images": (
            "torch.cdist(known, new).amin(1)",
            "torch.cdist(known, new).amin(0)",
            "The yardstick is the way from each known image to its nearest new one.",
        ),
        "the sum of differences": (
            "to_known = torch.cdist(drawn, known).amin(1)\n    to_new = torch.cdist(drawn, new).amin(1)",
            "to_known = torch.cdist(drawn, known, p=1).amin(1)\n    to_new = torch.cdist(drawn, new, p=1).amin(1)",
            "Distance is the root of the summed squares.",
        ),
    }
)


@neighbours.right("in numpy, picture by picture")
def _(drawn, known, new):
    drawn, known, new = (part.numpy() for part in (drawn, known, new))

    def nearest(x, among):
        return np.linalg.norm(among - x, axis=1).min()

    copied = [0.5 + 0.5 * np.sign(nearest(x, new) - nearest(x, known)) for x in drawn]
    usual = np.quantile([nearest(x, new) for x in known], 0.9)
    return np.mean(copied), np.quantile([nearest(x, new) for x in drawn], 0.9) / usual


@neighbours.right("by a tree", library="scipy.spatial.KDTree")
def _(drawn, known, new):
    from scipy.spatial import KDTree

    (one, _), (two, _) = KDTree(known).query(drawn), KDTree(new).query(drawn)
    copied = np.mean((one < two) + 0.5 * (one == two))
    usual = np.quantile(KDTree(new).query(known)[0], 0.9)
    return copied, np.quantile(two, 0.9) / usual


neighbours.worked(
    why="Nobody knows how near is too near. But real images that nobody learned from are the same to known and to new ones. Where there are as many of both, they are nearer to either half of the time. The comparison needs no threshold of its own, and it sees a copy through dust, which lengthens both distances about alike. And the tenth that lies farthest shows what a mean would hide."
)

# ---------------------------------------------------------------- variety

variety = Exercise(
    "variety",
    reference=reference.variety,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    data_dependent="labels decide which rows are compared",
    hints=[
        "The same is asked of pictures and of images: write it once, as a function of rows and labels.",
        "For each label take its rows, n of them. torch.cdist gives n² distances. How many of them are from a row to itself, and what do these add to the sum?",
        "def spread(x, y): for label in y.unique(): alike = x[y == label]; torch.cdist(alike, alike).sum() / (n * (n - 1)); then the mean over the labels.",
    ],
)


@variety.cases
def _(rng):
    def rows(counts, d=3, scale=(1.0, 2.5, 0.6)):
        """So many rows of each label: each label's stand far away from the others' and scatter in their own way."""
        parts, labels = [], []
        for label, count in enumerate(counts):
            parts.append(
                9 * rng.normal(size=d) + scale[label] * rng.normal(size=(count, d))
            )
            labels += [label] * count
        order = rng.permutation(len(labels))
        X, y = np.concatenate(parts)[order], np.array(labels)[order]
        return torch.from_numpy(X), torch.from_numpy(y)

    def case(pictures, images):
        return dict(drawn=pictures[0], wanted=pictures[1], images=images[0], labels=images[1])  # fmt: skip

    yield "two labels, unevenly many", case(rows([4, 7]), rows([8, 3], scale=(2.0, 1)))
    three = rows([6, 2, 4], d=2), rows([3, 5, 2], d=2, scale=(0.5, 3.0, 1.0))
    yield "three labels", case(*three)
    yield "one label", case(rows([5]), rows([6], scale=(3.0,)))
    yield "two pictures of each", case(rows([2, 2]), rows([2, 2, 2]))
    stamped = rows([5, 4])
    for label in (0, 1):
        stamped[0][stamped[1] == label] = torch.from_numpy(rng.normal(size=3))
    yield "stamped pictures have none", case(stamped, rows([4, 6]))
    lacking = rows([4, 0, 6]), rows([3, 5, 3], scale=(1.0, 2.0, 0.5))
    yield "a label that no picture has", case(*lacking)
    equal = rows([4, 3])
    first = equal[0][equal[1] == 0]
    equal[0][equal[1] == 0] = first[[0, 0, 1, 2]]
    yield "equal rows are a pair", case(equal, rows([3, 5]))
    one, two = rows([6, 5]), rows([4, 4])
    yield "more different than real ones", case((4 * one[0], one[1]), two)


variety.equivalent(
    {
        "alike = x[y == label] → alike = -x[y == label]": "for each label the mean distance between two",
        "return torch.stack(means).mean() → return -torch.stack(means).mean()": "-> spread of drawn, divided by spread of images.",
    }
)

variety.mistakes(
    {
        "each row's distance to itself counts": (
            "(n * (n - 1))",
            "n**2",
            "A row is 0 from itself: that says nothing about two different ones.",
        ),
        "all labels in one": (
            "alike = x[y == label]",
            "alike = x",
            "A 3 and a 7 differ in any case. Compare rows of one label only.",
        ),
        "squared distances": (
            "torch.cdist(alike, alike).sum()",
            "torch.cdist(alike, alike).square().sum()",
            "Is it the distance, or its square?",
        ),
        "distances to the label's mean": (
            "torch.cdist(alike, alike).sum() / (n * (n - 1))",
            "torch.cdist(alike, alike.mean(0)[None]).mean()",
            "How far are two pictures from each other? That is more than how far each is from the mean.",
        ),
        "labels that nobody has count": (
            "torch.stack(means).mean()",
            "torch.stack(means).sum() / (y.max() + 1)",
            "A label may be missing. How many labels are there in the set?",
        ),
        "equal rows are left out": (
            "torch.cdist(alike, alike).sum() / (n * (n - 1))",
            "(lambda gaps: gaps.sum() / (gaps > 0).sum().clamp(min=1))(torch.cdist(alike, alike))",
            "Two equal pictures are a pair, too: 0 apart.",
        ),
        "the least varied label": (
            "torch.stack(means).mean()",
            "torch.stack(means).amin()",
            "Each label counts alike: take their mean.",
        ),
        "images over pictures": (
            "spread(drawn, wanted) / spread(images, labels)",
            "spread(images, labels) / spread(drawn, wanted)",
            "A painter with no variety should get 0.",
        ),
        "the spread of the pictures alone": (
            "return spread(drawn, wanted) / spread(images, labels)",
            "return spread(drawn, wanted)",
            "Is that much or little? Compare it with the images.",
        ),
    }
)


@variety.right("pair by pair")
def _(drawn, wanted, images, labels):
    def spread(x, y):
        x, y, means = x.numpy(), y.numpy(), []
        for label in set(y.tolist()):
            rows = x[y == label]
            gaps = [
                np.sqrt(((rows[i] - rows[j]) ** 2).sum())
                for i in range(len(rows))
                for j in range(i)
            ]
            means.append(np.mean(gaps))
        return np.mean(means)

    return spread(drawn, wanted) / spread(images, labels)


@variety.right("each pair once", library="torch.pdist")
def _(drawn, wanted, images, labels):
    def spread(x, y):
        return torch.stack([torch.pdist(x[y == k]).mean() for k in y.unique()]).mean()

    return spread(drawn, wanted) / spread(images, labels)


variety.worked(
    why="Within a label, n rows make n (n − 1) ordered pairs of two different rows; the table's diagonal adds nothing to the sum and is not counted. Labels are averaged last, so that each counts alike. Divided by the same of real images the number has a meaning: 1 is as varied as they are, 0 is a stamp."
)

# ---------------------------------------------------------------- Painter

NUMBERS, GRADIENTS = "numbers over the budget", "gradients over the budget"
ELSEWHERE = "over 100 numbers are left outside the state"
LABELS, MISSING = "labels of what was painted", "digits left out"
COPIED, FAR, ALIKE = "copied", "far", "variety, short of 0.4 by"
EQUAL = "nearly equal to an image"

Painter = Exercise(
    "Painter",
    reference=lambda known, digits, new, new_digits, owner, wanted, n_numbers, n_gradients, seed: {
        NUMBERS: 0,
        ELSEWHERE: False,
        GRADIENTS: 0,
        LABELS: wanted,
        MISSING: 0,
        COPIED: 0.85,
        EQUAL: 0.05,
        FAR: 1.5,
        ALIKE: 0,
    },
    compare=parts(
        **{
            NUMBERS: exact(),
            ELSEWHERE: exact(),
            GRADIENTS: exact(),
            # clean images, noise (with a way round) and velocities guessed, several walks: right 0.81 to 1, rarest
            # 0.45 to 1, copied 0.44 to 0.72, far 0.77 to 1.34, variety 0.73 to 0.95; one bell curve a label: far 1.6
            # to 1.9
            LABELS: agrees(0.75),
            MISSING: exact(),
            COPIED: at_most(),
            EQUAL: at_most(),  # honest pictures: none at all
            FAR: at_most(),
            ALIKE: at_most(),
        }
    ),
    limit=15.0,
    trains=True,
    hints=[
        "Three parts: a network that sees a noised picture, its time and its label; a loop that noises random images and asks the network what was there; a walk from pure noise. "
        "Write them one by one and look at the loss, then at one picture.",
        "Guess the clean image: it is what a narrow network can say best. The time goes in as sines and cosines, the label as nn.Embedding(k, width), both added to the first layer's output. Adam with 0.01 that falls to 0, 100 images a step. "
        "Count with sum(p.numel() for p in network.parameters()), and make it narrower until it fits. Hand back network.state_dict(); draw builds the network again, with the sizes that the shapes tell, and load_state_dict(state) fills it.",
        "With xt = (1 - t) x0 + t noise: loss = (guess - x0)².mean(). Walk: for left = n … 1 at t = left / n: x = x + (guess - x) / left. "
        "If you guess noise or velocity, add a learned multiple of x, which depends on the time, to the network's output: a way round its narrow layers.",
    ],
)


@Painter.probe
def _(answer, known, digits, new, new_digits, owner, wanted, n_numbers, n_gradients, seed):  # fmt: skip
    import gc

    known, new = (torch.from_numpy(x).float() / 8 - 1 for x in (known, new))
    digits, new_digits, owner, wanted = (
        torch.from_numpy(x).long() for x in (digits, new_digits, owner, wanted)
    )
    labels, run, spent = owner[digits], torch.autograd._engine_run_backward, [0]

    def counted(*args, **kwargs):
        spent[0] += 1
        return run(*args, **kwargs)

    def size(thing):
        """In numbers of four bytes."""
        if isinstance(thing, (np.ndarray, torch.Tensor)):
            return math.ceil(thing.nbytes / 4)
        text = isinstance(thing, (str, bytes, bytearray))
        return len(thing) // 4 if text else int(isinstance(thing, (int, float)))

    def reach():
        """All that the class and what its functions use refer to, arrays with what is in them."""
        found, todo, function = {}, [answer], type(counted)
        while todo:
            thing = todo.pop()
            if id(thing) in found or isinstance(thing, type(np)):
                continue
            if isinstance(thing, (type, function)):
                if thing.__module__ != answer.__module__:
                    continue
            inside = None
            if isinstance(thing, np.ndarray):
                inside = thing.tobytes()
            elif isinstance(thing, torch.Tensor):
                flat = thing.detach().cpu().to_dense().flatten().contiguous()
                inside = flat.view(torch.uint8).numpy().tobytes()
            elif isinstance(thing, function):
                codes = [thing.__code__]
                for code in codes:
                    codes += [c for c in code.co_consts if isinstance(c, type(code))]
                names, used = thing.__globals__, {n for c in codes for n in c.co_names}
                todo += [names[name] for name in used if name in names]
                todo += [thing.__closure__, thing.__defaults__, thing.__kwdefaults__]
                todo += list(vars(thing).values())
            else:
                todo += gc.get_referents(thing)
            found[id(thing)] = thing, inside
        return found

    def copied_state(state):
        """The state as another painter gets it: tensors, and nothing else."""
        want = "a dict from names to tensors, such as network.state_dict()"
        if not isinstance(state, dict):
            kind = type(state).__name__
            raise TypeError(f"fit hands back something of type {kind}, not {want}")
        if len(state) > 200 or any(len(str(name)) > 60 for name in state):
            raise ValueError("a state has at most 200 names, of at most 60 letters")
        for name, part in state.items():
            if not isinstance(name, str) or not isinstance(part, torch.Tensor):
                kind = type(part).__name__
                told = f"the state's {name!r} is of type {kind}; hand back {want}"
                raise TypeError(told + " and torch.tensor(25)")
        return {
            "".join(name): torch.from_numpy(part.detach().cpu().numpy().copy())
            for name, part in state.items()
        }

    def distances(one, two):
        return torch.cdist(one, two, compute_mode="donot_use_mm_for_euclid_dist")

    def spread(x, y):
        alike = [x[y == label] for label in y.unique()]
        return np.mean([distances(a, a).sum() / (len(a) * (len(a) - 1)) for a in alike])

    before, chance = reach(), torch.random.get_rng_state()
    torch.autograd._engine_run_backward = counted
    torch.manual_seed(seed)
    try:
        state = answer().fit(known.clone(), labels.clone(), n_numbers, n_gradients)
        gradients, state = spent[0], copied_state(state)
        # another painter, who calls the labels by other names, learns before this one paints
        names = (labels + 1) % (int(owner.max()) + 1)
        answer().fit(known.clone(), names, n_numbers, n_gradients // 10)
        after = {
            key: thing
            for key, (thing, inside) in reach().items()
            if key not in before or before[key][1] != inside
        }
        spent[0] = 0
        torch.manual_seed(seed + 1)
        numbers = sum(map(size, state.values()))
        walk = torch.as_tensor(answer().draw(state, wanted.clone())).detach()
        gradients += spent[0]
    finally:
        torch.autograd._engine_run_backward = run
        torch.random.set_rng_state(chance)
    elsewhere = sum(map(size, after.values()))
    if walk.ndim != 3 or len(walk) < 2 or walk.shape[1:] != (len(wanted), 64):
        told = (
            f"draw gives shape {tuple(walk.shape)}, not (steps + 1, {len(wanted)}, 64)"
        )
        raise ValueError(told)

    drawn = walk[-1].float().clamp(-1, 1)
    kernel = torch.exp(-0.05 * distances(new, new).double() ** 2)
    targets = torch.eye(len(owner)).double()[new_digits] - 0.1
    weights = torch.linalg.solve(kernel + 0.1 * torch.eye(len(new)), targets)
    to_new = distances(drawn, new)
    read = (torch.exp(-0.05 * to_new.double() ** 2) @ weights).argmax(1)
    to_new, to_known = to_new.amin(1), distances(drawn, known).amin(1)
    painted = [(wanted == owner[j]) & (read == j) for j in range(len(owner))]
    fair = [
        (wanted == label).sum() / (owner == label).sum() for label in owner
    ]  # of each digit
    nearer = (to_known < to_new).double() + (to_known == to_new).double() / 2
    usual = distances(known, new).amin(1).quantile(0.9)
    return {
        "numbers over the budget": max(0, numbers - n_numbers),
        "over 100 numbers are left outside the state": elsewhere > 100,
        "gradients over the budget": max(0, gradients - n_gradients),
        "labels of what was painted": owner[read].to(torch.int8).numpy(),
        "digits left out": sum(
            int(p.sum() < f / 10) for p, f in zip(painted, fair, strict=True)
        ),
        "copied": float(nearer.mean()),
        "nearly equal to an image": float(
            (torch.minimum(to_known, to_new) < 0.3 * usual).double().mean()
        ),
        "far": float(to_new.quantile(0.9) / usual),
        "variety, short of 0.4 by": max(
            0.0, 0.4 - float(spread(drawn, wanted) / spread(known, labels))
        ),
    }


@Painter.cases
def _(rng):
    table = data.digits()

    def case(kinds, owner, n, budget):
        """n known and n new images of these digits, which are numbered from 0 and have labels.

        They lie: rows are columns. A coin decides whether one is black on white or white on black.
        """
        rows = np.flatnonzero(np.isin(table.y, kinds))
        rows = rng.permutation(rows)[: 2 * n]
        X = table.X[rows].astype(np.uint8).reshape(-1, 8, 8).transpose(0, 2, 1)
        X = X[:, :: rng.choice([-1, 1]), :: rng.choice([-1, 1])].reshape(-1, 64)
        X = np.where(rng.random((len(X), 1)) < 0.5, X, 16 - X)
        digits = np.searchsorted(kinds, table.y[rows])
        k = int(owner.max()) + 1
        return dict(
            known=X[:n],
            digits=digits[:n].astype(np.int8),
            new=X[n:],
            new_digits=digits[n:].astype(np.int8),
            owner=owner.astype(np.int8),
            wanted=rng.permutation(np.arange(400) % k).astype(np.int8),
            n_numbers=budget[0],
            n_gradients=budget[1],
            seed=int(rng.integers(10_000)),
        )

    all_ten, usual, tight = np.arange(10), (40_000, 600), (30_000, 300)
    yield "ten digits, on request", case(all_ten, all_ten, 600, usual)
    six, four = (np.sort(rng.permutation(10)[:number]) for number in (6, 4))
    halves = rng.permutation(np.arange(6) % 2)
    yield "two labels, three digits each", case(six, halves, 500, usual)
    yield "a tighter budget", case(four, rng.permutation(4), 300, tight)


Painter.mistakes(
    {
        "it does not listen": (
            "self.label(y)",
            "self.label(0 * y)",
            "Ask for a 3 and for an 8 with the same seed: do the pictures differ? Where does the label come in?",
        ),
        "one jump to the guess": (
            "n_steps = 25",
            "n_steps = 1",
            "From pure noise the best guess is a mean of all that it may be. How do small steps become a decision?",
        ),
        "as many gradients as always": (
            "min(n_gradients, 250)",
            "320",
            "n_gradients is an argument. How many does your loop take in the last case?",
        ),
        "the class keeps the network": (
            "return self.layers.state_dict()",
            "Painter.kept = self.layers\n        return self.layers.state_dict()",
            "What stays in the class or in a global name after training counts, too. All that draw needs goes into the state.",
        ),
    }
)


class _Unread:
    """Never comes to paint: what it hands back is no state."""

    def fit(self, images, labels, n_numbers, n_gradients):
        self.images = images
        return self.handed()

    def draw(self, state, wanted):
        return torch.randn(2, len(wanted), 64)


@Painter.wrong(
    "it hands itself back",
    advice="A fresh painter draws. What does it need of the one that learned?",
)
class _(_Unread):
    def handed(self):
        return self


@Painter.wrong(
    "a list of tensors",
    advice="Give each tensor a name: a dict, such as network.state_dict().",
)
class _(_Unread):
    def handed(self):
        return [self.images]


@Painter.wrong(
    "the state is lists",
    advice="A state holds tensors, so that its numbers can be counted.",
)
class _(_Unread):
    def handed(self):
        return {"images": self.images.tolist()}


def _means(images, labels):
    return torch.stack([images[labels == k].mean(0) for k in range(labels.max() + 1)])


@Painter.wrong(
    "it copies known images",
    advice="These are images that you were given. Are they painted, or kept?",
)
class _:
    def fit(self, images, labels, n_numbers, n_gradients):
        return {"images": images, "labels": labels}

    def draw(self, state, wanted):
        rows = [
            torch.multinomial((state["labels"] == label).float(), 1) for label in wanted
        ]
        return torch.stack(
            [torch.randn(len(wanted), 64), state["images"][torch.cat(rows)]]
        )


@Painter.wrong(
    "it copies known images and dusts them",
    advice="Under the dust these are images that you were given.",
)
class _:
    def fit(self, images, labels, n_numbers, n_gradients):
        return {"images": images, "labels": labels}

    def draw(self, state, wanted):
        rows = [
            torch.multinomial((state["labels"] == label).float(), 1) for label in wanted
        ]
        noise = torch.randn(len(wanted), 64)
        return torch.stack([noise, state["images"][torch.cat(rows)] + 0.2 * noise])


@Painter.wrong(
    "always the same picture of a label",
    advice="Draw ten of the same label and look. Does the noise that you start from matter?",
)
class _:
    def fit(self, images, labels, n_numbers, n_gradients):
        return {"means": _means(images, labels)}

    def draw(self, state, wanted):
        return torch.stack([torch.randn(len(wanted), 64), state["means"][wanted]])


@Painter.wrong(
    "always the same digit",
    advice="Whatever is wanted, the pictures show label 0. Which label does the walk ask for?",
)
class _:
    def fit(self, images, labels, n_numbers, n_gradients):
        return {"images": images[labels == 0]}

    def draw(self, state, wanted):
        pairs = torch.randint(len(state["images"]), (2, len(wanted)))
        drawn = state["images"][pairs].mean(0)
        return torch.stack([torch.randn(len(wanted), 64), drawn])


@Painter.wrong(
    "one bell curve for each label",
    advice="Between black on white and white on black lies grey. One bell curve has its middle there, and real images are none.",
)
class _:
    def fit(self, images, labels, n_numbers, n_gradients):
        roots = []
        for label in labels.unique():
            power, ways = torch.linalg.eigh(images[labels == label].T.cov())
            roots.append((ways * power.clamp(min=0).sqrt())[:, -20:].T)
        return {"means": _means(images, labels), "roots": torch.stack(roots)}

    def draw(self, state, wanted):
        noise = torch.randn(len(wanted), 64)
        swung = torch.einsum("nq,nqd->nd", noise[:, :20], state["roots"][wanted])
        return torch.stack([noise, state["means"][wanted] + swung])


class _Thief:
    """Fetches real images elsewhere, in ways of its own, and keeps whose label is nearest."""

    def fit(self, images, labels, n_numbers, n_gradients):
        gaps = [torch.cdist(images, real).amin(1).mean() for real in self.ways()]
        way = int(torch.stack(gaps).argmin())
        nearest = torch.cdist(self.ways()[way], images).argmin(1)
        return {"owner": labels[nearest], "way": torch.tensor(way)}

    def draw(self, state, wanted):
        owner = state["owner"]
        rows = [torch.multinomial((owner == y) + 1e-9, 1) for y in wanted]
        drawn = self.ways()[state["way"]][torch.cat(rows)]
        return torch.stack([torch.randn(len(wanted), 64), drawn])


@Painter.wrong(
    "images from the table of digits",
    advice="These are images that somebody else collected. The check's are turned, so they are no help.",
)
class _(_Thief):
    def ways(self):
        return [torch.from_numpy(data.digits().X).float() / 8 - 1]


@Painter.wrong(
    "images from the table of digits, turned to fit",
    advice="No painter meets a real image again. Many of these equal one, known or new.",
)
class _(_Thief):
    def ways(self):
        lie = torch.from_numpy(data.digits().X).float().reshape(-1, 8, 8).mT / 8 - 1
        turned = [lie.flip(axes) for axes in ([], [1], [2], [1, 2])]
        return [torch.cat([x, -x]).reshape(-1, 64) for x in turned]


class _Base:
    """Two residual layers, as wide as fits; what they say plus a learned multiple of what they see."""

    def build(self, k, width):
        enter = [nn.Linear(64 + 17, width), nn.Embedding(k, width)]
        inner = [nn.Linear(width, width) for _ in range(2)]
        self.inner = nn.ModuleList(enter + inner + [nn.Linear(width, 64)])
        self.round = nn.Linear(17, 64)
        return sum(p.numel() for p in self.parameters())

    def parameters(self):
        return [*self.inner.parameters(), *self.round.parameters()]

    def say(self, x, t, y):
        angle = t * torch.linspace(1, 30, 8)
        clock = torch.cat([t, angle.sin(), angle.cos()], 1)
        h = self.inner[0](torch.cat([x, clock], 1)) + self.inner[1](y)
        for layer in self.inner[2:4]:
            h = h + layer(nn.functional.gelu(h))
        return self.inner[4](nn.functional.gelu(h)) + self.round(clock) * x

    def fit(self, images, labels, n_numbers, n_gradients):
        k, width, steps = int(labels.max()) + 1, 100, min(n_gradients, 250)
        while self.build(k, width) > n_numbers:
            width -= 4
        adam = torch.optim.AdamW(self.parameters(), 1e-2)
        schedule = torch.optim.lr_scheduler.LinearLR(adam, 1, 0, steps)
        for _ in range(steps):
            rows = torch.randint(len(images), (self.batch,))
            loss = self.loss(images[rows], labels[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
            schedule.step()
        return {str(i): part.detach() for i, part in enumerate(self.parameters())}

    def learned(self, state):
        """Its network again, whose sizes stand in the state."""
        self.build(*state["2"].shape)
        for part, kept in zip(self.parameters(), state.values(), strict=True):
            part.data = kept


@Painter.right("DDPM: noise is guessed, fresh noise on the way")
class _(_Base):
    steps, batch = 40, 120

    def power(self):
        time = torch.linspace(0, 1, self.steps + 1)
        return torch.cos((time + 0.008) / 1.008 * math.pi / 2).square().clamp(1e-4, 1)

    def loss(self, x0, y):
        t, noise = torch.randint(1, self.steps + 1, (len(x0), 1)), torch.randn(x0.shape)
        left = self.power()[t]
        xt = left.sqrt() * x0 + (1 - left).sqrt() * noise
        return (self.say(xt, t / self.steps, y) - noise).square().mean()

    @torch.no_grad()
    def draw(self, state, wanted):
        self.learned(state)
        power, states = self.power(), [torch.randn(len(wanted), 64)]
        for t in range(self.steps, 0, -1):
            x, here, there = states[-1], power[t], power[t - 1]
            noise = self.say(x, torch.full((len(x), 1), t / self.steps), wanted)
            guess = ((x - (1 - here).sqrt() * noise) / here.sqrt()).clamp(-1, 1)
            share = (1 - there) / (1 - here)
            alpha = here / there
            mean = there.sqrt() * (1 - alpha) / (1 - here) * guess
            mean = mean + alpha.sqrt() * share * x
            states.append(mean + (share * (1 - alpha)).sqrt() * torch.randn(x.shape))
        return torch.stack(states)


@Painter.right("flow matching: velocities, no fresh noise")
class _(_Base):
    batch = 100

    def loss(self, x0, y):
        t, x1 = torch.rand(len(x0), 1), torch.randn(x0.shape)
        return (self.say((1 - t) * x0 + t * x1, t, y) - (x0 - x1)).square().mean()

    @torch.no_grad()
    def draw(self, state, wanted):
        self.learned(state)
        x = torch.randn(len(wanted), 64)
        states = [x]
        for k in range(20):
            x = x + self.say(x, torch.full((len(x), 1), 1 - k / 20), wanted) / 20
            states.append(x)
        return torch.stack(states).tolist()


Painter.worked(
    why="The guess is a mean of all clean images that may be in the noise; a step goes only a part of the way, and the next guess is surer. Of what a network may guess, the clean image is the easiest for a narrow one: images of one label are alike, noise is not. How many numbers it has is counted before one is chosen, the rate falls to 0 so that the last gradients settle, and the label enters as a learned vector, so that one network paints all of them."
)

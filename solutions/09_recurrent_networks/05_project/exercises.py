"""Exercises of 09_recurrent_networks/05_project. The student chooses how to read; the cases ask what forecasts cost."""

import math

import numpy as np
import torch

from descent.compare import agrees, at_most, close, exact, parts
from solutions.spec import Exercise

from . import reference

# ---------------------------------------------------------------- bits

bits = Exercise(
    "bits",
    reference=reference.bits,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    hints=[
        "First look at all rows: is each a distribution? Only then pick the chance of what came.",
        "P[torch.arange(len(ids)), ids] is the chance of what came, for every row.",
        "if (P < 0).any() or ((P.sum(1) - 1).abs() > 0.001).any(): return math.nan. Else the mean of -torch.log2(came[asked]).",
    ],
)


def _rows(rng, T, k):
    return torch.from_numpy(rng.dirichlet(np.ones(k), T))


@bits.cases
def _(rng):
    def case(P, share=1.0):
        T, k = P.shape
        asked = rng.random(T) < share
        asked[rng.integers(T)] = True
        return dict(
            P=P,
            ids=torch.from_numpy(rng.integers(k, size=T)),
            asked=torch.from_numpy(asked),
        )

    yield "all places are asked", case(_rows(rng, 12, 4))
    some = case(_rows(rng, 15, 5), 0.5)
    some["asked"][:2] = torch.tensor([True, False])
    yield "some places are asked", some
    one = case(_rows(rng, 6, 3), 0.0)
    yield "a single place", one
    sure = case(_rows(rng, 8, 4))
    sure["P"][3] = torch.eye(4).double()[sure["ids"][3]]
    yield "a chance of 1 costs nothing", sure
    never = case(_rows(rng, 8, 4))
    gone = torch.eye(4).double()[(never["ids"][2] + 1) % 4]
    never["P"][2] = gone
    yield "called impossible, and came", never
    spared = case(_rows(rng, 8, 4))
    spared["P"][2] = torch.eye(4).double()[(spared["ids"][2] + 1) % 4]
    spared["asked"][2] = False
    yield "called impossible, but not asked", spared
    for change in (1.0015, 0.9985):
        wide = case(_rows(rng, 9, 4))
        wide["P"][5] *= change
        yield "a row does not add up to 1", wide
    hidden = case(_rows(rng, 9, 4))
    hidden["P"][4] *= 1.2
    hidden["asked"][4] = False
    yield "a row does not add up to 1", hidden
    offset = case(_rows(rng, 10, 4))
    offset["P"][3] *= 1.3
    offset["P"][7] *= 0.7  # in the mean all is well
    yield "a row does not add up to 1", offset
    minus = case(_rows(rng, 7, 4))
    row = torch.tensor([0.8, 0.5, 0.2, -0.5]).double()
    minus["P"][2] = row[torch.from_numpy(rng.permutation(4))]
    minus["asked"][2] = False
    minus["ids"][2] = int(minus["P"][2].argmax())  # what came has a fair chance
    yield "an entry below 0", minus
    both = case(_rows(rng, 8, 4))
    both["P"][2] = torch.eye(4).double()[(both["ids"][2] + 1) % 4]
    both["P"][5] *= 1.1
    yield "called impossible, and a row does not add up to 1", both
    near = case(_rows(rng, 9, 4))
    near["P"][5] *= 1.0008
    near["P"][6] *= 0.9992
    yield "rounding is forgiven", near


bits.equivalent(
    {
        "if (P < 0).any() or (off > 0.001).any(): → if (P < 0).any() or (off >= 0.001).any():": "that is more than 0.001 away from 1.",
        "return math.nan → return -math.nan": "But nan (math.nan) where any row of P",
    }
)

bits.mistakes(
    {
        "natural logarithms": (
            ".log2()",
            ".log()",
            "Half a chance costs one bit, not 0.69.",
        ),
        "all places count": ("came[asked]", "came", "Only the places asked count."),
        "the sum": (
            ".mean()",
            ".sum()",
            "Bits per character: divide by how many were asked.",
        ),
        "rows are not added up": (
            " or (off > 0.001).any()",
            "",
            "A row of 0.9 everywhere costs next to nothing. Is it a forecast?",
        ),
        "only sums above 1": (
            "(P.sum(1) - 1).abs()",
            "P.sum(1) - 1",
            "A row that adds up to less than 1 is no distribution either.",
        ),
        "the mean sum": (
            "(P.sum(1) - 1).abs()",
            "(P.sum(1).mean() - 1).abs()",
            "One row too large, another too small: each row for itself.",
        ),
        "columns": ("P.sum(1)", "P.sum(0)", "The chances of one place stand in a row."),
        "entries below 0 pass": (
            "(P < 0).any() or ",
            "",
            "0.8, 0.5 and -0.3 add up to 1.",
        ),
        "infinity goes first": (
            "if (P < 0).any() or (off > 0.001).any():",
            "if (P != 0)[torch.arange(len(ids)), ids][asked].all() and ((P < 0).any() or (off > 0.001).any()):",
            "A table with a wrong row is no forecast, whatever else it holds: look at the rows first.",
        ),
        "log of the mean chance": (
            "came[asked].log2().mean()",
            "came[asked].mean().log2()",
            "First the cost of each place, then their mean.",
        ),
    }
)


@bits.right("place by place")
def _(P, ids, asked):
    costs = []
    for row, symbol, counts in zip(P.tolist(), ids.tolist(), asked.tolist()):
        if min(row) < 0 or abs(sum(row) - 1) > 0.001:
            return math.nan
        if counts:
            costs.append(math.inf if row[symbol] == 0 else -math.log2(row[symbol]))
    return sum(costs) / len(costs)


@bits.right("by torch's loss", library="torch.nn.functional.nll_loss")
def _(P, ids, asked):
    if (P < 0).any() or not torch.allclose(
        P.sum(1), torch.ones(len(P)).to(P), rtol=0, atol=1e-3
    ):
        return math.nan
    return torch.nn.functional.nll_loss(P[asked].log(), ids[asked]) / math.log(2)


bits.worked(
    why="The minus logarithm makes a promise dear that is not kept. It is fair only while a row has one unit to give away and no entry below 0: who promises more than that in all, or takes some of it back elsewhere, pays less for everything. So the rows are looked at first, all of them, since a cheat need not show where it is asked."
)

# ---------------------------------------------------------------- pairs

pairs = Exercise(
    "pairs",
    reference=reference.pairs,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    hints=[
        "A table of counts (k, k): row a, column b says how often b follows a in known. Start it at 1.",
        "Divide each row of the table by its sum: it holds the k ones already. Which row of the table is the forecast for ids[t]?",
        "for a, b in zip(known[:-1], known[1:]): counts[a, b] += 1. Then P[1:] = table[ids[:-1]].",
    ],
)


@pairs.cases
def _(rng):
    def case(known, ids, k):
        swap = torch.from_numpy(rng.permutation(k))
        return dict(known=swap[torch.tensor(known)], ids=swap[torch.tensor(ids)], k=k)

    # each pair's count differs from that of its mirror image, and pairs overlap
    text = [0, 0, 0, 1, 2, 2, 0, 1, 1, 0, 1, 2, 2, 2, 1, 0, 0, 1]
    text = text + rng.permutation([0, 1, 2]).tolist() + [0, 1, 2, 2]
    yield "counts of a text", case(text, [0, 1, 2, 2, 0, 1, 1], 3)
    longer = [0, 1, 2, 3, 4, 0, 1, 2, 0, 3, 3, 1, 2, *rng.integers(5, size=20).tolist()]
    yield "counts of a text", case(longer, [1, 2, 3, 0, 4, 1], 5)
    rare = [2, 2, 2, 0, 1, 0, 1, 2, 0, 0, 1]
    yield "pairs that never came have a chance", case(rare, [2, 2, 0, 1, 1, 3, 0], 5)
    few = dict(known=torch.tensor(rare), ids=torch.tensor([2, 0, 1]), k=5)
    yield "a character that comes nowhere", few
    new = [0, 1, 2, 0, 1, 1, 0, 1, 2, 2, 0]
    yield "a character that is not in the known text", case(new, [0, 1, 3, 0, 2], 4)
    last = [0, 1, 2, 0, 1, 1, 0, 1, 2, 2, 3]
    yield "a character at the very end", case(last, [1, 3, 0, 2, 2, 0], 4)
    yield "one character is known", case([1], rng.integers(3, size=5).tolist(), 3)
    yield "a text of one character", case(text, [1], 3)


pairs.mistakes(
    {
        "counts start at 0": (
            "torch.ones(k, k",
            "torch.zeros(k, k",
            "What is the chance of a pair that never came?",
        ),
        "backwards": (
            "counts[a, b] += 1",
            "counts[b, a] += 1",
            "b follows a. In which row is that counted?",
        ),
        "the character itself": (
            "P[1:] = table[ids[:-1]]",
            "P[1:] = table[ids[1:]]",
            "The forecast for ids[t] is made from the character before it.",
        ),
        "divided by all pairs": (
            "counts.sum(1, keepdim=True)",
            "counts.sum()",
            "Given a: divide by how often anything follows a, plus k.",
        ),
        "columns are rescaled": (
            "counts.sum(1, keepdim=True)",
            "counts.sum(0, keepdim=True)",
            "The row of a has to add up to 1.",
        ),
        "a pair counts once": (
            "counts[a, b] += 1",
            "counts[a, b] = 2",
            "A pair that comes ten times counts ten times.",
        ),
        "only every other pair": (
            "zip(known[:-1], known[1:])",
            "zip(known[:-1:2], known[1::2])",
            "Pairs overlap: the second of one is the first of the next.",
        ),
    }
)


@pairs.right("with numpy")
def _(known, ids, k):
    known, ids = known.numpy(), ids.numpy()
    counts = np.zeros((k, k))
    np.add.at(counts, (known[:-1], known[1:]), 1)
    P = [np.ones(k) / k]
    for a in ids[:-1]:
        P.append((counts[a] + 1) / (counts[a].sum() + k))
    return np.array(P)


@pairs.right("by counting codes", library="torch.bincount")
def _(known, ids, k):
    codes = torch.bincount(known[:-1] * k + known[1:], minlength=k * k).view(k, k) + 1.0
    first = torch.full((1, k), 1 / k)
    return torch.cat([first, (codes / codes.sum(1, keepdim=True))[ids[:-1]]])


pairs.worked(
    why="The table is made from the known text alone, and the row that is looked up depends on the character before: so the forecast is honest. The added ones say that nothing is impossible; where little was counted they weigh most."
)

# ---------------------------------------------------------------- influence

influence = Exercise(
    "influence",
    reference=reference.influence,
    compare=close(rtol=1e-5, atol=1e-6, float32=True),
    batched=(),
    hints=[
        "Two loops: over the places j, and over the characters that could stand there. Change a copy of the text, and forecast anew.",
        "moved = ½ (new - old).abs().sum(1) holds one number for each row t: it belongs in column j of M.",
        "other = ids.clone(); other[j] = symbol; M[:, j] = torch.maximum(M[:, j], moved).",
    ],
)


@influence.probe
def _(answer, ids, weights, offsets):
    k = weights.shape[-1]

    def forecast(text):
        text = torch.as_tensor(text)
        if text.min() < 0 or text.max() >= k:
            raise ValueError(f"forecast gets characters beyond 0 ... {k - 1}.")
        logits = torch.zeros(len(text), k).to(weights)
        for table, offset in zip(weights, offsets):
            for t in range(len(text)):
                if 0 <= t - offset < len(text):
                    logits[t] += table[text[t - offset]]
        return logits.softmax(1)

    return answer(forecast, ids, k)


@influence.cases
def _(rng):
    def case(ids, offsets, k=3):
        """Of all characters the one with the farthest row moves a forecast most: 0 is near to 1, far from 2."""
        rows = np.array([0.0, 1.0, 4.0, 2.0])[:k, None]
        sides = [rng.permutation([1.0, 0.8, -0.9, -1.1])[:k] for _ in offsets]
        weights = np.array([rows * side * rng.uniform(0.8, 1.2) for side in sides])
        return dict(
            ids=torch.tensor(ids), weights=torch.from_numpy(weights), offsets=offsets
        )

    yield "the last character", case([0, 2, 0, 1, 2, 0], [1])
    yield "two characters", case([0, 3, 1, 2, 0, 3, 1], [1, 3], k=4)
    yield "it looks ahead", case([1, 0, 2, 2, 0, 1], [1, 0])
    yield "it looks ahead", case([0, 2, 1, 0, 0, 2], [2, -1])
    deaf = case([0, 2, 1, 0, 2], [1])
    yield "nothing has any influence", dict(deaf, weights=0 * deaf["weights"])
    table = torch.zeros(1, 5, 5).double()
    table[0, 3, 0], table[0, 4, 1] = float(rng.uniform(3, 5)), -1.0
    shy = dict(ids=torch.tensor([0, 1, 2, 0, 1, 2]), weights=table, offsets=[1])
    yield "a single other character matters most", shy
    yield "a text of one character", case([0], [0])


influence.mistakes(
    {
        "the halves are forgotten": (
            ".sum(1) / 2",
            ".sum(1)",
            "From sure of one to sure of another is a move of 1.",
        ),
        "rows for columns": (
            "M[:, j] = torch.maximum(M[:, j], moved)",
            "M[j] = torch.maximum(M[j], moved)",
            "M[t, j]: the changed character stands in column j.",
        ),
        "the last one wins": (
            "M[:, j] = torch.maximum(M[:, j], moved)",
            "M[:, j] = moved",
            "Of all other characters the largest move counts.",
        ),
        "moves are added": (
            "M[:, j] = torch.maximum(M[:, j], moved)",
            "M[:, j] = M[:, j] + moved",
            "The largest of the moves, not their sum.",
        ),
        "changes pile up": (
            "other = ids.clone()\n            other[j] = symbol",
            "other = ids.clone() if j == 0 else other.clone()\n            other[j] = symbol",
            "Only place j differs from the text. What did the places before leave behind?",
        ),
        "the largest entry": (
            ".abs().sum(1) / 2",
            ".abs().amax(1)",
            "Half the sum over the row, not its largest entry.",
        ),
        "one other character is enough": (
            "for symbol in range(k):",
            "for symbol in [(int(ids[j]) + 1) % k]:",
            "A forecast may care for one character only. Try all.",
        ),
        "only what is allowed": (
            "    return M\n",
            "    return M.tril(-1)\n",
            "What looks ahead is to be seen, not hidden.",
        ),
    }
)


@influence.right("place by place, all characters at once")
def _(forecast, ids, k):
    old = np.asarray(forecast(ids))
    columns = []
    for j in range(len(ids)):
        texts = [[*ids[:j].tolist(), c, *ids[j + 1 :].tolist()] for c in range(k)]
        new = np.array([np.asarray(forecast(torch.tensor(text))) for text in texts])
        columns.append(0.5 * np.abs(new - old).sum(2).max(0))
    return np.array(columns).T


@influence.right("by the city-block distance", library="scipy.spatial.distance.cdist")
def _(forecast, ids, k):
    from scipy.spatial.distance import cdist

    M, old = np.zeros((len(ids), len(ids))), forecast(ids).numpy()
    for j in range(len(ids)):
        for c in range(k):
            text = ids.clone()
            text[j] = c
            gaps = np.diag(cdist(forecast(text).numpy(), old, "cityblock"))
            M[:, j] = np.maximum(M[:, j], gaps / 2)
    return M


influence.worked(
    why="A forecast that does not know a character cannot move with it. So nobody has to read the program: change a character, and look which rows move. Putting the old character there changes nothing, so all k may be tried. Whatever moves on the diagonal or right of it came from the future."
)

# ---------------------------------------------------------------- copy_test

copy_test = Exercise(
    "copy_test",
    reference=reference.copy_test,
    compare=exact(),
    hints=[
        "Line by line: what comes before the second word, and the second word itself.",
        "Two lists that grow together: ids, and a list of truth values of the same length.",
        "before = [note, *word, *between, ask]; ids += [*before, *word]; asked += [False] * len(before) + [True] * len(word).",
    ],
)


@copy_test.probe
def _(answer, words, noise, note, ask):
    ids, asked = answer(words, noise, note, ask)
    for name, part, kinds in (("ids", ids, "iu"), ("asked", asked, "b")):
        if isinstance(part, (list, tuple)):
            raise TypeError(f"{name} is a {type(part).__name__}. Make it a tensor.")
        kind = np.asarray(part).dtype
        if kind.kind not in kinds:
            want = "True and False" if name == "asked" else "whole numbers"
            raise TypeError(f"{name} holds {kind}: it should hold {want}.")
    return ids, asked


@copy_test.cases
def _(rng):
    def some(lengths, low=2, high=9):
        return [rng.integers(low, high, n).tolist() for n in lengths]

    yield "one line", dict(words=some([3]), noise=some([4], 9, 14), note=0, ask=1)
    yield (
        "several lines",
        dict(words=some([2, 2, 2]), noise=some([3, 1, 4], 9, 14), note=0, ask=1),
    )
    yield (
        "words of several lengths",
        dict(words=some([1, 4, 2]), noise=some([2, 3, 2]), note=1, ask=0),
    )
    yield "no noise", dict(words=some([2, 3]), noise=[[], []], note=7, ask=5)
    bare = dict(words=some([3, 1]), noise=[[], some([3])[0]], note=0, ask=1)
    yield "no noise", bare
    mixed = dict(words=[[0, 1], [1]], noise=[[1, 0], [0, 0, 1]], note=0, ask=1)
    mixed["words"][0] += some([1])[0]
    yield "signs in words and noise", mixed
    same = some([2])[0]
    yield (
        "the noise holds the word",
        dict(words=[same, same], noise=[[*same, 9], [9, *same]], note=0, ask=1),
    )


copy_test.mistakes(
    {
        "the first word is asked": (
            "[False] * len(before) + [True] * len(word)",
            "[False] + [True] * len(word) + [False] * (len(before) - 1)",
            "The first time nobody can know the word.",
        ),
        "the sign is asked, too": (
            "[False] * len(before) + [True] * len(word)",
            "[False] * (len(before) - 1) + [True] * (len(word) + 1)",
            "Count: where does the second word begin?",
        ),
        "no sign before the second word": (
            "*between, ask]",
            "*between]",
            "What tells the reader that it is asked now?",
        ),
        "signs are swapped": (
            "[note, *word, *between, ask]",
            "[ask, *word, *between, note]",
            "Which sign stands before the first word?",
        ),
        "noise before the word": (
            "[note, *word, *between, ask]",
            "[note, *between, *word, ask]",
            "First the word, then the noise.",
        ),
        "one line only": (
            "ids += [*before, *word]",
            "ids = ids or [*before, *word]",
            "All lines, one after the other.",
        ),
    }
)


@copy_test.right("with numpy")
def _(words, noise, note, ask):
    ids, asked = [], []
    for i in range(len(words)):
        parts = [[note], words[i], noise[i], [ask], words[i]]
        ids.append(np.concatenate([np.array(part, int) for part in parts]))
        marks = np.zeros(len(ids[-1]), bool)
        marks[-len(words[i]) :] = True
        asked.append(marks)
    return np.concatenate(ids), np.concatenate(asked)


copy_test.worked(
    why="The second word is as surprising as the first for whoever has no memory, and free for whoever has. Since it is random, other lines teach the rule, but not the word: only this line said it. The mask asks for these places alone, so nothing else can pay for a lack of memory."
)

# ---------------------------------------------------------------- Reader

NUMBERS, MEMORY, SUMS, AGAIN = (
    "numbers over the budget",
    "numbers in memory over 1000",
    "rows that do not add up to 1",
    "change when asked again",
)
COST, SECOND, RIGHT = (
    "bits per character",
    "bits per letter of the second word",
    "letters of the second word",
)


def _expected(known, new, asked, alphabets, n_numbers, most, seed):
    told = {NUMBERS: 0, MEMORY: 0, SUMS: 0, AGAIN: 1e-4}
    if asked is None:
        return told | {COST: torch.full((len(new),), most, device=new[0].device)}
    return told | {SECOND: most, RIGHT: new[0][asked]}


Reader = Exercise(
    "Reader",
    reference=_expected,
    compare=parts(
        **{
            NUMBERS: exact(),
            MEMORY: exact(),
            SUMS: exact(),
            AGAIN: at_most(),
            COST: at_most(),
            SECOND: at_most(),
            RIGHT: agrees(0.8),
        }
    ),
    limit=30.0,
    trains=True,
    data_dependent="the mask says which letters come back",
    hints=[
        "Begin with `step`, and with the smallest reader: counts of pairs. learned = [the table], memory = None. "
        "Check it: what does each case say? Then let memory hold the last characters, or a state.",
        "A network: cut the text into 32 rows, read them beside each other in windows of 30, hand the state on without its gradient, "
        "Adam at 0.02 that falls towards 0, norm clipped at 1, 300 updates. learned = [p.detach() for p in parts.parameters()]; count them before you build.",
        "A GRU by hand, as torch keeps its weights: (W @ E[char] + b).chunk(3) and (U @ h + c).chunk(3) are reset, gate, new; reset and gate are sigmoids of sums; "
        "fresh = tanh(new_x + reset · new_h); h = gate · h + (1 - gate) · fresh. Then softmax(R @ h + r).",
    ],
)


@Reader.probe
def _(answer, known, new, asked, alphabets, n_numbers, most, seed):
    def copied(thing):
        """The same memory, in numbers of its own."""
        if isinstance(thing, torch.Tensor):
            return thing.detach().clone()
        if isinstance(thing, np.ndarray) and thing.dtype != object:
            return np.array(thing)
        if isinstance(thing, (list, tuple)):
            parts = [copied(part) for part in thing]
            return parts if isinstance(thing, list) else tuple(parts)
        if thing is None or isinstance(thing, (bool, int, float, np.number)):
            return thing
        told = f"The memory holds a {type(thing).__name__}. Let it hold tensors, arrays, numbers, or lists of them."
        raise TypeError(told)

    def size(thing):
        if isinstance(thing, (list, tuple)):
            return sum(size(part) for part in thing)
        if isinstance(thing, int):  # a long one holds as much as several
            return 1 + thing.bit_length() // 64
        return int(np.prod(np.shape(thing))) if thing is not None else 0

    def outside():
        """How many entries the names hold that the class can reach, but for its instances."""
        classes = [part for part in answer.__mro__ if part is not object]
        methods = [
            f
            for part in classes
            for f in vars(part).values()
            if hasattr(f, "__globals__")
        ]
        todo = [vars(part) for part in classes] + [f.__globals__ for f in methods]
        todo += methods
        seen, total = {}, 0
        held = (torch.Tensor, np.ndarray, list, tuple, set, dict, str, bytes)
        while todo:
            thing = todo.pop()
            if id(thing) in seen:
                continue
            seen[id(thing)] = thing
            if isinstance(thing, (torch.Tensor, np.ndarray)):
                total += int(np.prod(thing.shape))
            elif isinstance(thing, (str, bytes)):
                total += len(thing) // 4
            elif isinstance(thing, dict) or type(thing).__name__ == "mappingproxy":
                total += len(thing)
                todo += [*thing.keys(), *thing.values()]
            elif (
                isinstance(thing, (list, tuple, set)) or type(thing).__name__ == "deque"
            ):
                total += len(thing)
                todo += list(thing)
            elif isinstance(
                thing, type(math)
            ):  # in a module: what was not there before
                old = there.setdefault(thing.__name__, set(vars(thing)))
                new_names = set(vars(thing)) - old
                todo += [
                    vars(thing)[name]
                    for name in new_names
                    if isinstance(vars(thing)[name], held)
                ]
            elif hasattr(thing, "__code__"):
                cells = [
                    cell for cell in thing.__closure__ or () if cell != type(cell)()
                ]
                todo += [cell.cell_contents for cell in cells]
                todo += [thing.__defaults__, thing.__kwdefaults__, thing.__dict__]
            elif isinstance(thing, torch.nn.Module):
                todo.append(vars(thing))
            elif answer.__module__ in (
                getattr(thing, "__module__", None),
                type(thing).__module__,
            ):
                todo.append(getattr(thing, "__dict__", None))
        return total

    there = {}  # the names in modules before anything is learned
    before, state = outside(), torch.random.get_rng_state()
    torch.manual_seed(seed)
    try:
        learned = []
        for text, k in zip(known, alphabets):
            told = answer().fit(torch.as_tensor(text).long(), int(k), n_numbers)
            if not isinstance(told, (list, tuple)):
                told = (
                    f"fit gives a {type(told).__name__}: hand back a list of tensors."
                )
                raise TypeError(told)
            learned.append(
                [
                    torch.as_tensor(part).detach().numpy().astype(np.float32)
                    for part in told
                ]
            )
        trained = outside()
        grown = max(0, trained - before - 200 * len(known))
        over = [max(0, size(part) + grown - n_numbers) for part in learned]
        texts = [[int(c) for c in text] for text in new]
        memory, rows, again = [None] * len(new), [[] for _ in new], []
        most_kept, wrong, change = 0, 0, 0.0
        readers, given = [None] * len(new), [None] * len(new)
        with torch.no_grad():
            for t in range(max(map(len, texts)) - 1):
                for i in range(len(texts)):
                    if t % 50 == 0:  # a new reader, which knows only what it is handed
                        readers[i], memory[i] = answer(), copied(memory[i])
                        given[i] = [
                            torch.from_numpy(part.copy()) for part in learned[i]
                        ]
                        most_kept = max(most_kept, size(memory[i]))
                    kept = copied(memory[i]) if t % 100 == 37 else None
                    p, memory[i] = readers[i].step(given[i], memory[i], texts[i][t])
                    p = torch.as_tensor(p).detach().numpy().astype(float)
                    if p.shape != (int(alphabets[i]),):
                        told = f"step gives chances of shape {p.shape}, not ({int(alphabets[i])},)."
                        raise ValueError(told)
                    rows[i].append(p)
                    if t % 100 == 37:
                        again.append((i, kept, texts[i][t], p))
            for i, kept, char, p in again:
                fresh = [torch.from_numpy(part.copy()) for part in learned[i]]
                other = torch.as_tensor(answer().step(fresh, kept, char)[0]).numpy()
                change = max(change, float(np.abs(other - p).max()))
        most_kept = max(most_kept, outside() - trained)
    finally:
        torch.random.set_rng_state(state)

    result = {
        "numbers over the budget": max(over),
        "numbers in memory over 1000": max(0, most_kept - 1000),
        "change when asked again": change,
    }
    costs = []
    for text, P in zip(texts, rows):
        P = np.array(P)
        if np.isnan(P).any():
            told = "step gives chances that are nan. Where is 0 divided by 0?"
            raise ValueError(told)
        wrong += int(((P < 0).any(1) | (np.abs(P.sum(1) - 1) > 1e-3)).sum())
        came = P[np.arange(len(P)), text[1:]]
        if (came <= 0).any():
            told = "A character came whose chance was 0: that costs infinitely many bits. Leave something for each."
            raise ValueError(told)
        costs.append(-np.log2(came))
    result["rows that do not add up to 1"] = wrong
    if asked is None:
        return result | {
            "bits per character": np.array([cost[20:].mean() for cost in costs])
        }
    marks = np.asarray(asked, bool)
    guesses = rows[0]
    letters = np.array(
        [int(guesses[t - 1].argmax()) for t in np.flatnonzero(marks)], np.int8
    )
    return result | {
        "bits per letter of the second word": float(costs[0][marks[1:]].mean()),
        "letters of the second word": letters,
    }


def language(rng, n, k, n_words=100):
    """A text of n characters in an invented language of k.

    Words are consonant-vowel syllables, some closed; frequencies fall as in Zipf's law; three kinds of words take turns,
    with exceptions. One character divides words, one ends sentences.
    """
    signs = rng.permutation(k)
    space, stop, vowels, consonants = signs[0], signs[1], signs[2:7], signs[7:]
    words = set()
    while len(words) < n_words:
        word = []
        for _ in range(1 + len(words) % 3):
            word += [rng.choice(consonants), rng.choice(vowels)]
            word += [rng.choice(consonants)] if rng.random() < 0.4 else []
        words.add(tuple(int(letter) for letter in word))
    words = sorted(words)
    words = [words[i] for i in rng.permutation(n_words)]
    share, kinds = (1 + np.arange(n_words)) ** -0.7, np.arange(n_words) % 3
    chances = [
        share * (kinds == kind) / share[kinds == kind].sum() for kind in range(3)
    ]
    text, kind = [], 0
    while len(text) < n:
        text += words[rng.choice(n_words, p=chances[kind])]
        kind = (kind + 1) % 3 if rng.random() < 0.9 else int(rng.integers(3))
        if rng.random() < 0.15:
            text.append(stop)
            kind = 0
        text.append(space)
    return np.array(text[:n], np.int8)


def copies(rng, n, k=16):
    """n characters of lines in which a word of two letters comes back after 2 to 8 of noise, and where it does."""
    signs, lines, asked = rng.permutation(k), [], []
    while len(lines) < n:
        word, noise = rng.integers(2, 10, 2), rng.integers(10, k, rng.integers(2, 9))
        lines += [0, *word, *noise, 1, *word]
        asked += [False] * (len(noise) + 4) + [True] * 2
    return signs[lines[:n]].astype(np.int8), np.array(asked[:n])


@Reader.cases
def _(rng):
    def case(texts, cut, asked=None, **more):
        known, new = [text[:cut] for text in texts], [text[cut:] for text in texts]
        asked = None if asked is None else asked[cut:]
        return dict(
            known=known, new=new, asked=asked, **more, seed=int(rng.integers(10_000))
        )

    one = [language(rng, 18_000, 20)]
    yield (
        "an invented language",
        case(one, 16_000, alphabets=[20], n_numbers=20_000, most=1.4),
    )
    text, asked = copies(rng, 18_000)
    yield (
        "a word comes back",
        case([text], 16_000, asked, alphabets=[16], n_numbers=20_000, most=0.7),
    )
    two = [language(rng, 11_500, 20, 60), language(rng, 11_500, 20, 60)]
    yield (
        "two languages, two readers",
        case(two, 10_000, alphabets=[20, 20], n_numbers=10_000, most=1.3),
    )


Reader.mistakes(
    {
        "as wide as always": (
            "width < 64 and self.build(k, width + 4) <= n_numbers",
            "width < 64",
            "n_numbers is an argument. Count your weights before you train them.",
        ),
        "scores of their own": (
            "torch.softmax(R @ h + r, 0)",
            "torch.sigmoid(R @ h + r)",
            "Print the sum of your chances. Which function makes them share one unit?",
        ),
        "the gate is turned round": (
            "gate * h + (1 - gate) * fresh",
            "(1 - gate) * h + gate * fresh",
            "Does step compute what the network that was trained computes? Compare both on ten characters.",
        ),
    }
)


def _counted(ids, k, order):
    """Codes (context and next character in base k) and their counts, for each length of context up to order - 1."""
    parts = []
    for length in range(order):
        n = len(ids) - length
        code = torch.zeros(n, dtype=torch.long)
        for place in range(length + 1):
            code = code * k + ids[place : place + n]
        parts += list(code.unique(return_counts=True))
    return parts


def _mixed(tables, context, k):
    """Chances after a context, each length mixed with the shorter one as Witten and Bell do."""
    p = torch.full((k,), 1 / k)
    for length in range(min(len(context) + 1, len(tables) // 2)):
        codes, counts = tables[2 * length].long(), tables[2 * length + 1]
        code = 0
        for symbol in context[len(context) - length :]:
            code = code * k + symbol
        ends = torch.tensor([code * k, (code + 1) * k])
        low, high = torch.searchsorted(codes, ends).tolist()
        if low == high:
            break
        n, u = counts[low:high].sum(), high - low
        p = p * (u / (n + u))
        p[codes[low:high] % k] += counts[low:high] / (n + u)
    return p


class _Counts:
    """Counts of contexts, `order` characters together."""

    order = 4

    def fit(self, ids, k, n_numbers):
        return [torch.tensor([float(k)]), *_counted(ids, k, self.order)]

    def step(self, learned, memory, char):
        context = [*(memory or []), char][-(self.order - 1) :]
        return _mixed(learned[1:], context, int(learned[0])), context


@Reader.wrong(
    "it counts pairs",
    advice="One character back is not enough for a language with words. Look further back.",
)
class _(_Counts):
    order = 2


@Reader.wrong(
    "it forgets over the delay",
    advice="Honest, and good at the language. But when a word comes back, where is it kept?",
)
class _(_Counts):
    pass


@Reader.wrong(
    "what it knows stays in self",
    advice="step is called on another Reader than fit was. Put it into the list, or into the memory.",
)
class _(_Counts):
    def fit(self, ids, k, n_numbers):
        self.tables = super().fit(ids, k, n_numbers)
        return [torch.zeros(1)]

    def step(self, learned, memory, char):
        return super().step(self.tables, memory, char)


@Reader.wrong(
    "its memory is in self",
    advice="step is called on new Readers, and asked twice. All that it remembers has to be handed on.",
)
class _(_Counts):
    context = ()

    def step(self, learned, memory, char):
        self.context = [*self.context, char][-3:]
        return _mixed(learned[1:], self.context, int(learned[0])), None


@Reader.wrong(
    "kept for all readers in one place",
    advice="Two readers learn before either reads. Whose knowledge is in that one place?",
)
class _(_Counts):
    def fit(self, ids, k, n_numbers):
        type(self).tables = super().fit(ids, k, n_numbers)
        return [torch.zeros(1)]

    def step(self, learned, memory, char):
        return super().step(self.tables, memory, char)


_shelf = []


@Reader.wrong(
    "kept outside, and only its number handed back",
    advice="What grows in names outside the class counts as numbers, too.",
)
class _(_Counts):
    order = 6

    def fit(self, ids, k, n_numbers):
        _shelf.append(super().fit(ids, k, n_numbers))
        return [torch.tensor([len(_shelf) - 1])]

    def step(self, learned, memory, char):
        return super().step(_shelf[int(learned[0])], memory, char)


_diary = {}


@Reader.wrong(
    "a diary outside, and only the page handed on",
    advice="What grows in names outside the class while step runs counts as memory.",
)
class _(_Counts):
    def step(self, learned, memory, char):
        context = [*_diary.get(memory, ()), char][-3:]
        page = len(_diary)
        _diary[page] = context
        return _mixed(learned[1:], context, int(learned[0])), page


@Reader.wrong(
    "a function is handed back",
    advice="A function holds whatever it likes. Hand back the tensors.",
)
class _(_Counts):
    def fit(self, ids, k, n_numbers):
        tables = super().fit(ids, k, n_numbers)
        return lambda: tables


@Reader.wrong(
    "what never came is impossible",
    advice="A character may come that never came before. What does it cost?",
)
class _(_Counts):
    def step(self, learned, memory, char):
        p, context = super().step(learned, memory, char)
        p = torch.where(p > 0.01, p, torch.zeros(()))
        return p / p.sum(), context


@Reader.right("counts, and a pointer to what was said before")
class _(_Counts):
    """After some character the text goes on as after the last of another: where that pays, look there.

    Memory: the last 80 characters, how far back the pointer looks, from which character on, how often it was right since.
    """

    def fit(self, ids, k, n_numbers):
        text, last = ids.tolist(), torch.zeros(k, dtype=torch.long)
        tries, hits = torch.ones(k, k), torch.zeros(k, k)
        for t in range(1, len(text) - 1):
            last[text[t - 1]] = t  # where the successor of this character stands
            tries[text[t]] += 1
            hits[text[t]] += ids[last] == text[t + 1]
        rate, best = (hits / tries).max(1)
        best = torch.where(rate > 0.7, best, -1 - best)  # where it pays at once, or not
        right, asked, memory = torch.ones(k, 4), torch.full((k, 4), 2.0), None
        for char, after in zip(text, text[1:]):
            memory = self.follow(memory, char, best)
            past, back, origin, length = memory
            if back:
                asked[origin, min(length, 3)] += 1
                right[origin, min(length, 3)] += past[-back] == after
        return [best, right / asked, *super().fit(ids, k, n_numbers)]

    def follow(self, memory, char, best):
        past, back, origin, length = memory or ([], 0, 0, 0)
        go_on = back and past[-back] == char and best[char] < 0
        past = [*past, char][-80:]
        if go_on:
            return [past, back, origin, length + 1]
        for back in range(1, len(past)):
            if past[-back - 1] in (int(best[char]), -1 - int(best[char])):
                return [past, back, char, 0]
        return [past, 0, 0, 0]

    def step(self, learned, memory, char):
        best, trust = learned[:2]
        memory = self.follow(memory, char, best.long())
        past, back, origin, length = memory
        p = _mixed(learned[3:], past[-3:], int(learned[2]))
        sure = trust[origin, min(length, 3)]
        if back and sure > 0.7:
            p = (1 - sure) * p
            p[past[-back]] += sure
        return p, memory


@Reader.right("an LSTM")
class _:
    def fit(self, ids, k, n_numbers):
        width = 60
        while 4 * width * (2 * width + 2) + 2 * k * width + k > n_numbers:
            width -= 2
        embed, out = torch.nn.Embedding(k, width), torch.nn.Linear(width, k)
        lstm = torch.nn.LSTM(width, width, batch_first=True)
        parts = torch.nn.ModuleList([embed, lstm, out])
        with torch.no_grad():
            lstm.bias_ih_l0[width : 2 * width] += 1.0  # forget little at first
        adam, T = torch.optim.Adam(parts.parameters(), 0.02), 24
        rows = ids[: len(ids) // 40 * 40].view(40, -1)
        for update in range(600):
            adam.param_groups[0]["lr"] = 0.02 * (1 - update / 600)
            at = update * T % (rows.shape[1] - T - 1)
            if at < T:
                at, state = 0, None
            states, state = lstm(embed(rows[:, at : at + T]), state)
            state = [part.detach() for part in state]
            scores = out(states).flatten(0, 1)
            goal = rows[:, at + 1 : at + T + 1].flatten()
            loss = torch.nn.functional.cross_entropy(scores, goal)
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parts.parameters(), 1.0)
            adam.step()
        return list(parts.parameters())

    def step(self, learned, memory, char):
        E, W, U, b, c, R, r = learned
        state = memory or [torch.zeros(1, E.shape[1])] * 2
        state = list(torch.lstm_cell(E[char][None], state, W, U, b, c))
        return (state[0][0] @ R.T + r).softmax(0).tolist(), state


Reader.worked(
    why="The state is handed on from window to window without its gradient, so that training sees the states that reading will see. Gates let the state keep a word while noise passes. The width is counted before anything is built, a tenth of the text that is never trained on says which weights to keep, and step is the trained network written out: the same numbers, one character at a time."
)

"""Exercises of 09_recurrent_networks/04_seq2seq_and_beam_search."""

import math
from itertools import product

import numpy as np
import torch

from descent.compare import close, exact, parts
from solutions.spec import Exercise

from . import reference

SUMS = close(rtol=1e-6, atol=1e-9)  # sums of a few dozen products in float64


def away(rng, *shape, size=1.0):
    """Of both signs and not near zero: nothing hides behind a small number."""
    signs = np.resize([1.0, -1.0], shape) * rng.choice([-1.0, 1.0])
    return size * signs * rng.uniform(0.5, 1.2, shape)


def normal(rng, *shape):
    return torch.from_numpy(rng.normal(size=shape))


# ----------------------------------------------------------------------------------- chain_logprob

chain_logprob = Exercise(
    "chain_logprob",
    reference=reference.chain_logprob,
    compare=SUMS,
    hints=[
        "Which two things must be known before a step, and which two does it give back?",
        "Keep the last word beside the state; it begins as 0. After a step, the entry of log_p at the word that is really said is added.",
        "for word in words: log_p, state = step(state, last); total += log_p[word]; last = word. Begin with total = 0.0.",
    ],
)


@chain_logprob.probe
def _(answer, E, W, R, h0, words):
    def step(h, word):
        h = np.tanh(h @ W + E[word])
        scores = h @ R
        return scores - np.logaddexp.reduce(scores), h

    given = [int(word) for word in words]
    found = answer(step, h0, given)
    if given != [int(word) for word in words]:
        raise ValueError("words is the caller's list, and your answer has changed it")
    return found


@chain_logprob.cases
def _(rng):
    def case(*words, V=4, H=3):
        """Words by their place in a drawn order that leaves the mark where it is."""
        order = np.array([0, *(1 + rng.permutation(V - 1))])
        words = order[list(words)].astype(int)
        h0, E, W, R = (rng.normal(size=n) for n in (H, (V, H), (H, H), (H, V)))
        if len(words):  # the first of them is not the likeliest
            h = np.tanh(h0 @ W + E[0])
            R[:, words[0]], R[:, words[0] - 1] = -h, h
        return dict(E=E, W=W, R=R, h0=h0, words=words)

    yield "a whole answer", case(1, 3, 2, 0)
    yield "a whole answer", case(2, 1, 1, 3, 0, H=2)
    yield "a beginning", case(3, 1, 2)
    yield "one word", case(2)
    yield "only the mark", case(0)
    yield "no word", case()
    impossible = case(1, 2, 0)
    impossible["R"] = impossible["R"].copy()
    impossible["R"][:, impossible["words"][1]] = -np.inf
    impossible["W"], impossible["E"] = np.zeros((3, 3)), abs(impossible["E"])
    yield "an impossible word", impossible
    yield "a chance too small for a number", case(*rng.integers(1, 4, size=900), 0)


chain_logprob.mistakes(
    {
        "fed with the word that is asked": (
            "step(state, last)",
            "step(state, word)",
            "A speaker that hears the answer first guesses well. Which word has it heard?",
        ),
        "fed with the mark each time": (
            "last = word",
            "pass",
            "The second step is fed the first word. Which does yours get?",
        ),
        "the state never moves": (
            "log_p, state = step",
            "log_p, _ = step",
            "Each step gives a new state. Who gets it?",
        ),
        "chances multiplied": (
            "total += log_p[word]",
            "total = (total or 1.0) * np.exp(log_p[word])",
            "The logarithm of a product: what becomes of the factors?",
        ),
        "only the last word": (
            "total += log_p",
            "total = log_p",
            "Every word of the answer has its chance.",
        ),
        "the likeliest word in place of the one that is said": (
            "log_p[word]",
            "max(log_p)",
            "It is these words whose chance is asked, likely or not.",
        ),
        "it ends before the mark": (
            "for word in words:",
            "for word in [w for w in words if w]:",
            "To stop is a choice, too, with a chance.",
        ),
        "the logarithm of a product": (
            "return total",
            "return np.log(np.exp(total))",
            "After a thousand words their chance is 0 to the computer. Which sum is not?",
        ),
        "the mean": (
            "return total",
            "return total / max(len(words), 1)",
            "The logarithm of the whole answer's chance: a sum, or a mean?",
        ),
    }
)

chain_logprob.worked(
    why=r"""The chain rule needs $p(y_t \mid y_1, \dots, y_{t-1}, x)$, and the state holds all of what stands behind the bar but the
    newest word. So each step gets that word, and its `log_p` is read at the word that follows. Logarithms turn the product into a
    sum: after a thousand words the product itself would be too small for a computer's numbers."""
)


@chain_logprob.right("all steps first, with zip")
def _(step, state, words):
    found = []
    for before, now in zip([0, *words], words):
        log_p, state = step(state, before)
        found.append(float(log_p[now]))
    return math.fsum(found) if math.inf not in map(abs, found) else -math.inf


@chain_logprob.right("by recursion")
def _(step, state, words):
    def rest(state, last, words):
        if len(words) == 0:
            return 0.0
        log_p, state = step(state, last)
        return log_p[words[0]] + rest(state, words[0], words[1:])

    return rest(state, 0, words)


# -------------------------------------------------------------------------------------------- beam

beam = Exercise(
    "beam",
    reference=reference.beam,
    compare=parts(words=exact(), logp=SUMS),
    data_dependent="which answers are kept, and how long they are, depends on their chances",
    hints=[
        "What must be known of a beginning so that it can be continued and ranked? Keep a list of such triples: log-chance, words, state.",
        "In each round build a new list. A triple whose last word is 0 goes into it as it is. Of any other, the step is asked once; then "
        "each word makes a triple, with the words longer by one and the log-chances added. Sort by score, cut, go on.",
        "Begin with [(0.0, [], state)]. The word to feed is words[-1] if words else 0. grown.sort(key=lambda one: one[0] / len(one[1]) ** "
        "alpha, reverse=True); kept = grown[:width]. In the end kept[0] is the best.",
    ],
)


@beam.probe
def _(answer, answers, p, n_words, width, max_len, alpha):
    def step(state, word):
        said = () if state is None else state + (int(word),)
        if state is None and word != 0:
            raise ValueError("the first step is fed the mark, 0")
        share = np.zeros(n_words)
        for words, q in zip(answers, p):
            if tuple(words[: len(said)]) == said and len(words) > len(said):
                share[words[len(said)]] += q
        if share.sum() == 0:  # after a mark
            share[0] = 1.0
        with np.errstate(divide="ignore"):
            return np.log(share / share.sum()), said

    words, logp = answer(step, None, width, max_len, alpha)
    return {"words": [int(word) for word in words], "logp": float(logp)}


@beam.cases
def _(rng):
    def case(options, width, max_len, alpha=0.0, V=5):
        """Answers as strings of letters a, b, …, which are given drawn numbers, and shares up to 2 % off."""
        order = 1 + rng.permutation(V - 1)
        texts = rng.permutation(list(options))
        answers = [[int(order["abcdefgh".index(c)]) for c in t] + [0] for t in texts]
        p = np.array([options[t] for t in texts]) * rng.uniform(0.98, 1.02, len(texts))
        given = dict(answers=answers, p=p / p.sum(), n_words=V, width=width)
        return given | dict(max_len=max_len, alpha=alpha)

    # the clock: a comes first more often, b goes on better
    clock = dict(acd=0.31, ace=0.27, bdd=0.38, bcd=0.04)
    yield "width 1 is greedy", case(clock, 1, 5, V=6)
    yield "a wider beam finds what greedy misses", case(clock, 2, 5, V=6)
    # aa .36, ab .24, bb .22: the best, bbb, needs three
    tree = dict(aaa=0.187, aab=0.173, aba=0.192, abb=0.048, baa=0.126, bab=0.054)
    tree |= dict(bba=0.011, bbb=0.209)
    yield "all continuations compete", case(tree, 2, 4, V=3)
    yield "all continuations compete", case(tree, 3, 4, V=3)
    yield "wide enough for all beginnings", case(tree, 40, 4, V=3)
    # short answers that win, and one that is overtaken
    short = dict(a=0.3, bcd=0.25, bce=0.23, bdc=0.22)
    yield "an answer that has ended keeps its place", case(short, 2, 5, V=6)
    late = dict(a=0.2, b=0.19, cdd=0.35, cde=0.26)
    yield "an answer that has ended can be overtaken", case(late, 2, 5, V=6)
    yield "not ended after max_len", case(tree, 2, 2, V=3)
    # bcd has not ended after three rounds, but is likelier than a
    cut = dict(a=0.2, bcd=0.45, bce=0.35)
    yield "not ended after max_len", case(cut, 3, 3, V=6)
    # each of ab, ac, ad splits in two; ae, the last of a's four, does not
    fork = dict(abc=0.15, abd=0.14, acb=0.14, acd=0.13, adb=0.12, adc=0.12, aeb=0.2)
    yield "all continuations compete", case(fork, 4, 5, V=6)
    yield "one round", case(clock, 2, 1, V=6)
    # the guest: with a large α the long one wins; its beginning must survive, too
    guest = dict(a=0.3, bcdeb=0.2, bcdec=0.17, bcded=0.17, bcdee=0.16)
    yield "length counts", case(guest, 4, 7, 1.0, V=6)
    yield "length counts", case(guest, 4, 7, 0.22, V=6)
    yield "an answer that has ended keeps its place", case(guest, 4, 7, 0.22, V=6)
    # the ended a takes the place of bd, which would win in the end
    full = dict(a=0.4, bcb=0.1, bcd=0.11, bce=0.1, bdcde=0.29)
    yield "an answer that has ended keeps its place", case(full, 2, 8, 1.0, V=6)
    # a waits in its place to the end; without it there bce would stay, and win
    wait = dict(a=0.4, bcdb=0.085, bcdc=0.08, bcdd=0.075, bcde=0.07)
    wait |= dict(bcebcd=0.2, bcb=0.09)
    yield "an answer that has ended keeps its place", case(wait, 2, 9, 1.0, V=6)
    # after two rounds the ended a leads by score, in the end the long one
    turn = dict(a=0.62, bcdecb=0.22, bcdecc=0.16)
    yield "the score ranks in each round", case(turn, 3, 8, 1.0, V=6)
    yield "an answer that has ended can be overtaken", case(turn, 3, 8, 1.0, V=6)
    # by far, and although a leads at first; then although a is likelier, but never leads
    yield (
        "an answer that has ended can be overtaken",
        case(dict(a=0.6, bcdec=0.4), 3, 8, 1.0, V=6),
    )
    ends = dict(a=0.35, bcdecb=0.25, bcdecc=0.22, bcdecd=0.18)
    yield "the score ranks in each round", case(ends, 4, 8, 1.0, V=6)
    # bcdec wins by its length of 6 against 2, but not by 7 against 3
    near = dict(a=0.6, bcdec=0.258, bcdeb=0.142)
    yield "an answer that has ended can be overtaken", case(near, 3, 8, 1.0, V=6)
    # after three rounds the ended a is first by chance, and last by score: bce needs its place
    last = dict(a=0.33, bcdb=0.1, bcdc=0.1, bceb=0.18, deeb=0.1, deec=0.1, deed=0.09)
    yield "the score ranks in each round", case(last, 3, 6, 2.0, V=6)
    yield "length counts", case(last, 3, 6, 2.0, V=6)


beam.mistakes(
    {
        "each beginning goes on for itself": (
            "for k, v in enumerate(log_p)]",
            "for k, v in enumerate(log_p) if not words or v == max(log_p)]",
            "A good beginning may have two good continuations. Do both compete in your beam?",
        ),
        "two continuations each": (
            "for k, v in enumerate(log_p)]",
            "for k, v in enumerate(log_p) if v >= sorted(log_p)[-2]]",
            "How many of one beginning's continuations may stay? As many as are good enough.",
        ),
        "only the newest word counts": (
            "total + v, words",
            "v, words",
            "An answer's log-chance is that of its words so far, and of the new one.",
        ),
        "the state of before": (
            "words + [k], new",
            "words + [k], state",
            "Who remembers the word that was just fed? The new state.",
        ),
        "always fed with the mark": (
            "words[-1] if words else 0",
            "0",
            "The mark is fed first. And then?",
        ),
        "an answer that has ended is lost": (
            "grown.append((total, words, state))",
            "pass",
            "An answer that ends early may be the best. Where does it wait?",
        ),
        "ended ones take no place": (
            "kept = grown[:width]",
            "kept = [a for i, a in enumerate(grown) if sum(b[1][-1] != 0 for b in grown[:i]) < width]",
            "An answer that has ended is one of the `width` that stay. Does it count in yours?",
        ),
        "ended ones are preferred": (
            "kept[0]\n",
            "next((one for one in kept if one[1][-1] == 0), kept[0])\n",
            "What has not ended after the last round stands as it is, and may be the best.",
        ),
        "it speaks on after the mark": (
            "if words and words[-1] == 0:",
            "if False:",
            "What follows the mark? Nothing: such an answer stays as it is.",
        ),
        "the worst are kept": (
            "reverse=True",
            "reverse=False",
            "Which end is cut off?",
        ),
        "width plus one": (
            "grown[:width]",
            "grown[: width + 1]",
            "How many does a beam of width 1 keep?",
        ),
        "a long answer gains nothing": (
            " / len(one[1]) ** alpha",
            "",
            "Divided by m to the power α, a longer answer's score comes nearer to 0. Does yours?",
        ),
        "the mark is not counted": (
            "len(one[1]) ** alpha",
            "max(1, len([w for w in one[1] if w])) ** alpha",
            "The mark counts as a word in the length.",
        ),
        "the length is one too many": (
            "len(one[1]) ** alpha",
            "(len(one[1]) + 1) ** alpha",
            "How many words has the answer [5, 0]? The first 0, which is fed, is no part of it.",
        ),
        "the best by log-chance": (
            "kept[0]\n",
            "max(kept)\n",
            "The beam is ranked by score. And its best one?",
        ),
        "the score in place of the log-chance": (
            "return words, total",
            "return words, total / len(words) ** alpha",
            "With α, score and log-chance differ. Which is asked?",
        ),
        "the last one kept": (
            "kept[0]\n",
            "kept[-1]\n",
            "In which order is your list at the end?",
        ),
        "it stops when the best has ended": (
            "kept = grown[:width]",
            "kept = grown[:width]\n        if kept[0][1][-1] == 0:\n            break",
            "With α a longer answer may overtake one that has ended.",
        ),
        "length counts only in the end": (
            "grown.sort(key=lambda one: one[0] / len(one[1]) ** alpha, reverse=True)\n        kept = grown[:width]",
            "grown.sort(key=lambda one: one[0], reverse=True)\n        kept = grown[:width]\n    kept.sort(key=lambda one: one[0] / len(one[1]) ** alpha, reverse=True)",
            "By what are answers ranked in each round: by log-chance, or by score?",
        ),
    }
)


@beam.wrong(
    "ended ones give up their place",
    advice="An answer that has ended is one of the `width` in each later round, too. How many others may stay beside it?",
)
def _(step, state, width, max_len, alpha=0.0):
    going, ended = [(0.0, [], state)], []
    for _ in range(max_len):
        grown = []
        for total, words, state in going:
            log_p, new = step(state, words[-1] if words else 0)
            grown += [(total + v, words + [k], new) for k, v in enumerate(log_p)]
        grown.sort(key=lambda one: one[0] / len(one[1]) ** alpha, reverse=True)
        ended += [one for one in grown[:width] if one[1][-1] == 0]
        going = [one for one in grown[:width] if one[1][-1] != 0]
    best = max(ended + going, key=lambda one: one[0] / len(one[1]) ** alpha)
    return best[1], best[0]


beam.worked(
    why=r"""A beginning is known by three things: its log-chance, its words and its state. The step gives $V$ chances at once, and one new
    state that all continuations share. They are ranked together with those of all others: that is what lets two continuations of
    one good beginning stay and drop a bad one. An answer that has ended waits in the same list, at the place that its score
    earns. With width 1 this is greedy search; with a width above the number of beginnings nothing is ever dropped."""
)


@beam.right("a heap of the best, answers as tuples")
def _(step, state, width, max_len, alpha=0.0):
    import heapq

    kept = {(): (0.0, state)}
    for _ in range(max_len):
        grown = {}
        for words, (total, state) in kept.items():
            if words[-1:] == (0,):
                grown[words] = total, None
            else:
                log_p, after = step(state, words[-1] if words else 0)
                for k in range(len(log_p)):
                    grown[(*words, k)] = total + log_p[k], after
        best = heapq.nlargest(width, grown, key=lambda w: grown[w][0] / len(w) ** alpha)
        kept = {words: grown[words] for words in best}
    first = next(iter(kept))
    return list(first), kept[first][0]


@beam.right("ended ones apart, chances in place of logarithms")
def _(step, state, width, max_len, alpha=0.0):
    going, ended = [([], 1.0, state)], []
    for _ in range(max_len):
        new = []
        for words, p, state in going:
            log_p, after = step(state, (words or [0])[-1])
            new += [(words + [k], p * np.exp(v), after) for k, v in enumerate(log_p)]
        with np.errstate(divide="ignore"):
            ranked = sorted(
                ended + new, key=lambda a: -np.log(a[1]) / len(a[0]) ** alpha
            )
        ended = [a for a in ranked[:width] if a[0][-1] == 0]
        going = [a for a in ranked[:width] if a[0][-1] != 0]
    with np.errstate(divide="ignore"):
        words, p, _ = ranked[0]
        return words, np.log(p)


# -------------------------------------------------------------------------------------- Translator

Translator = Exercise(
    "Translator",
    reference=reference.translator,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    hints=[
        "Three methods, each one or two formulas of the text. Which part of Parts belongs to which symbol?",
        "encode: embed, then the encoder, whose first result is all states. step: word and view side by side go into the decoder cell, with "
        "the old state; then the scores. loss: a loop over the columns of y, from H[:, -1] and words 0; the right word is fed next.",
        "In loss: for right in y.T: scores, s = self.step(s, word, H); add F.cross_entropy(scores, right, ignore_index=-1, "
        'reduction="sum"); word = right.clamp(min=0), for an embedding has no row −1. In the end divide by (y >= 0).sum().',
    ],
)


@Translator.probe
def _(answer, x, y, s, word, theta, n_in, n_out, turned):
    class Turned(answer):
        def look(self, s, H):
            return H.mean(1) * s

    net = (Turned if turned else answer)(n_in, n_out, s.shape[1]).to(theta.dtype)
    torch.nn.utils.vector_to_parameters(theta, net.parameters())
    with torch.no_grad():
        H = net.encode(x)
        scores, state = net.step(s, word, H)
    loss, given = net.loss(x, y), list(net.parameters())
    loss.backward()
    slopes = [torch.zeros_like(p) if p.grad is None else p.grad for p in given]
    slopes = torch.nn.utils.parameters_to_vector(slopes)
    told = {"H": H, "scores": scores, "state": state}
    return told | {"loss": loss.detach(), "slopes of the loss": slopes}


@Translator.cases
def _(rng):
    def case(B, T, m, d, n_in=4, n_out=5, turned=False, ends=None):
        sizes = (
            n_in * d + (6 * d + 6) * d + n_out * d + (9 * d + 6) * d + n_out * (d + 1)
        )
        y = 1 + rng.integers(n_out - 1, size=(B, m))
        for row, end in zip(y, ends or [m] * B):
            row[end - 1], row[end:] = 0, -1
        return dict(
            x=torch.from_numpy(rng.integers(n_in, size=(B, T))),
            y=torch.from_numpy(y),
            s=torch.from_numpy(away(rng, B, d)),
            word=torch.from_numpy(1 + rng.integers(n_out - 1, size=B)),
            theta=normal(rng, sizes),
            n_in=n_in,
            n_out=n_out,
            turned=turned,
        )

    yield "texts and answers of two lengths", case(3, 4, 2, 2)
    yield "texts and answers of two lengths", case(2, 2, 4, 3)
    same = case(3, 3, 3, 3)
    same["y"][1, 0] = 0  # word 0 is a word like others
    yield "as many rows as steps and numbers", same
    yield "it sees what look says", case(2, 3, 3, 2, turned=True)
    yield "answers that end early", case(3, 3, 4, 2, ends=[2, 4, 1])
    yield "answers that end early", case(2, 2, 5, 2, ends=[5, 2])
    yield "one symbol, one word", case(1, 1, 1, 2)


Translator.mistakes(
    {
        "only the last state": (
            "return self.encoder(self.read(x))[0]",
            "return self.encoder(self.read(x))[0][:, -1:].expand(*x.shape, -1)",
            "H holds the state after each symbol. Which does yours hold?",
        ),
        "the encoder learns nothing": (
            "return self.encoder(self.read(x))[0]",
            "return self.encoder(self.read(x))[0].detach()",
            "The loss must tell the encoder, too. Where does its way back end in yours?",
        ),
        "the embeddings are bent": (
            "self.encoder(self.read(x))",
            "self.encoder(torch.cos(self.read(x)))",
            "self.encoder gets the embeddings as they are.",
        ),
        "the view before the word": (
            "[self.said(word), self.look(s, H)]",
            "[self.look(s, H), self.said(word)]",
            "In which order do the two stand side by side?",
        ),
        "the last state in place of look": (
            "self.look(s, H)",
            "H[:, -1]",
            "What the decoder sees is what self.look says. That will change later.",
        ),
        "scores of the old state": (
            "s = self.decoder(seen, s)\n        return self.scores(s), s",
            "new = self.decoder(seen, s)\n        return self.scores(s), new",
            "Which state are the scores read off, the old one or the new one?",
        ),
        "the decoder starts from 0": (
            "= H[:, -1], torch",
            "= 0 * H[:, -1], torch",
            "What does the decoder know at its first step? s₀ = h_T.",
        ),
        "fed with its own words": (
            "word = right.clamp(min=0)",
            "word = scores.argmax(1)",
            "Teacher forcing: which word is fed, the right one or the likeliest?",
        ),
        "fed with the mark each time": (
            "word = right.clamp(min=0)",
            "word = 0 * right",
            "The second step is fed the first right word.",
        ),
        "what fills up counts in the mean": (
            "total / (y >= 0).sum()",
            "total / y.numel()",
            "The mean goes over the words that are asked. How many are they?",
        ),
        "the sum": (
            "total / (y >= 0).sum()",
            "total",
            "The mean over all words that are asked, not the sum.",
        ),
        "what fills up is asked, too": (
            "cross_entropy(scores, right, ignore_index=-1,",
            "cross_entropy(scores, right.clamp(min=0),",
            "Where −1 stands nothing is asked.",
        ),
        "each step from the first state": (
            "            scores, s = self.step(s, word, H)",
            "            scores, _ = self.step(s, word, H)",
            "The state runs on: what does step 2 start from?",
        ),
    }
)

Translator.worked(
    why=r"""The two networks meet where the decoder starts from the encoder's last state; and what it sees at each step is again of the
    encoder. The loop of the loss asks for scores, compares them with the right word and then feeds that right word: so each term is
    $-\log p(y_t \mid y_1, \dots, y_{t-1}, x)$. Those of an answer add up to $-\log p(y \mid x)$, and the loss is the mean of all. `look` stands
    apart, so that another view of $H$ needs no new decoder."""
)


@Translator.right("one cross-entropy over all scores")
class _(torch.nn.Module):
    def __init__(self, n_in, n_out, size):
        super().__init__()
        nn = torch.nn
        self.read, self.said = nn.Embedding(n_in, size), nn.Embedding(n_out, size)
        self.encoder, self.decoder = nn.GRU(size, size), nn.GRUCell(2 * size, size)
        self.scores = nn.Linear(size, n_out)

    def look(self, s, H):
        return H[:, -1]

    def encode(self, x):
        states, _ = self.encoder(self.read(x.T))
        return states.transpose(0, 1)

    def step(self, s, word, H):
        new = self.decoder(torch.hstack((self.said(word), self.look(s, H))), s)
        return self.scores(new), new

    def loss(self, x, y):
        H, table = self.encode(x), []
        s = H[:, -1]
        fed = torch.cat([torch.zeros_like(y[:, :1]), y[:, :-1].relu()], dim=1)
        for t in range(y.shape[1]):
            scores, s = self.step(s, fed[:, t], H)
            table.append(scores.log_softmax(1))
        logs = torch.stack(table, 1)[y >= 0]
        return -logs[torch.arange(len(logs)), y[y >= 0]].mean()


# ------------------------------------------------------------------------------------------- train

train = Exercise(
    "train",
    reference=reference.train,
    compare=parts(losses=SUMS, W=SUMS),
    hints=[
        "Before the loop: the optimiser, once, and an empty list. In an update: set the rate, compute the loss, learn from it, note it.",
        'The rate stands in the optimiser\'s param_groups, under "lr". enumerate(batches) gives k with each pair.',
        'adam = torch.optim.Adam(model.parameters(), lr). In update k each group gets group["lr"] = lr * (1 - k / len(batches)); then '
        "the loss, zero_grad, backward, step of the optimiser; append loss.item().",
    ],
)


@train.probe
def _(answer, W, xs, ys, lr):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            rows = [torch.nn.Parameter(row.clone()) for row in W]
            self.rows = torch.nn.ParameterList(rows)

        def loss(self, x, y):
            return ((x @ torch.stack(list(self.rows)) - y) ** 2).mean()

    model = Model()
    losses = answer(model, list(zip(xs, ys)), lr)
    if any(getattr(loss, "requires_grad", False) for loss in losses):
        raise TypeError("the losses hang on their graphs: numbers are asked for")
    return {
        "losses": [float(v) for v in losses],
        "W": torch.stack(list(model.rows)).detach(),
    }


@train.cases
def _(rng):
    def case(n, rows=4, d=2, lr=0.1):
        xs = [torch.from_numpy(away(rng, rows, d)) for _ in range(n)]
        ys = [torch.from_numpy(away(rng, rows, d)) for _ in range(n)]
        return dict(W=normal(rng, d, d), xs=xs, ys=ys, lr=lr)

    yield "a few updates", case(4)
    yield "a few updates", case(6, d=3, lr=0.03)
    yield "a large learning rate cools down", case(5, lr=0.5)
    yield "one update has the whole rate", case(1)
    quiet = case(5, d=3)
    quiet["xs"] = [quiet["xs"][0]] + [0.01 * x for x in quiet["xs"][1:]]
    yield "small slopes after a large one", quiet


train.mistakes(
    {
        "gradients pile up": (
            "adam.zero_grad()",
            "pass",
            "backward adds to the gradients that are there. Who clears those of the last update?",
        ),
        "nothing is learned": (
            "adam.step()",
            "pass",
            "Do the weights change? Print one of them before and after.",
        ),
        "a new optimiser in each update": (
            "for k, (x, y) in enumerate(batches):",
            "for k, (x, y) in enumerate(batches):\n        adam = torch.optim.Adam(model.parameters(), lr)",
            "Adam remembers the gradients of earlier updates. Who remembers in your loop?",
        ),
        "plain gradient descent": (
            "torch.optim.Adam(",
            "torch.optim.SGD(",
            "Which optimiser is asked for?",
        ),
        "the rate does not fall": (
            "lr * (1 - k / len(batches))",
            "lr",
            "Which rate has the second update?",
        ),
        "the rate falls to 0 in the last update": (
            "k / len(batches))",
            "k / max(len(batches) - 1, 1))",
            "The last update should still learn, with lr / n. What is k then?",
        ),
        "the first rate is lower already": (
            "k / len(batches))",
            "(k + 1) / (len(batches) + 1))",
            "The first update has the whole lr. What is k then?",
        ),
        "the rate falls twice": (
            'group["lr"] = lr * (1 - k / len(batches))',
            'group["lr"] *= 1 - k / len(batches)',
            "What is lowered in update k: the first rate, or one that was lowered before?",
        ),
        "the same batch again and again": (
            "model.loss(x, y)",
            "model.loss(*batches[0])",
            "Each update has its own batch.",
        ),
        "the last loss only": (
            "losses.append(loss.item())",
            "losses = [loss.item()]",
            "One loss for each batch.",
        ),
    }
)

train.worked(
    why=r"""The loop knows nothing of texts: it asks the model for a loss, and autograd finds the slopes, back through all steps of both
    networks. The falling rate lets the weights come to rest: with a constant one they tremble to the end, and so would the
    chances that the network gives."""
)


@train.right("by torch's scheduler", library="torch.optim.lr_scheduler.LambdaLR")
def _(model, batches, lr):
    adam = torch.optim.Adam(model.parameters(), lr=lr)
    fall = torch.optim.lr_scheduler.LambdaLR(adam, lambda k: 1 - k / len(batches))
    losses = []
    for x, y in batches:
        adam.zero_grad()
        loss = model.loss(x, y)
        loss.backward()
        losses.append(float(loss))
        adam.step()
        fall.step()
    return losses


# ----------------------------------------------------------------------------------------- context

context = Exercise(
    "context",
    reference=reference.context,
    compare=close(rtol=1e-6, atol=1e-9, float32=True),
    hints=[
        "Three steps: scores (B, T), weights (B, T), and a mean of states (B, d). Which axis vanishes in each?",
        "A product of (B, T, d) and (B, d, 1) is (B, T, 1): give s a third axis, take it away again. softmax goes over T.",
        "scores = (H @ s[:, :, None]).squeeze(2); alpha = torch.softmax(scores, dim=1); the mean is (alpha[:, None, :] @ H).squeeze(1).",
    ],
)


@context.probe
def _(answer, s, H):
    alpha, c = answer(s.clone().requires_grad_(), H)
    if not (alpha.requires_grad and c.requires_grad):
        raise TypeError(
            "alpha and c must hang on s by autograd: a network learns by them"
        )
    return alpha.detach(), c.detach()


@context.cases
def _(rng):
    def case(B, T, d, size=1.0):
        s, H = (torch.from_numpy(away(rng, *n)) for n in ((B, d), (B, T, d)))
        return dict(s=size * s, H=H + 0.3 * normal(rng, B, T, d))

    yield "several texts", case(3, 4, 2)
    yield "several texts", case(2, 3, 4)
    yield "as many texts as states and numbers", case(3, 3, 3)
    note = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]]).double()
    yield "three states of a note", dict(s=normal(rng, 1, 2), H=note)
    zero = case(2, 3, 3)
    yield "s = 0: all weights alike", zero | dict(s=torch.zeros(2, 3).double())
    # scores of several thousand, of which two differ by less than 1
    H = torch.from_numpy(away(rng, 2, 3, 2))
    more = torch.from_numpy(1 + 1e-4 * rng.uniform(0.5, 1, (2, 1)))
    H[:, 2], H[:, 1] = -H[:, 0], more * H[:, 0]
    s = H[:, 0] / (H[:, 0] ** 2).sum(1, keepdim=True)
    yield "enormous scores", dict(s=4000 * s, H=H)
    sizes = torch.tensor([[4000.0], [1.0]]).double()
    yield "enormous scores of one text", dict(s=sizes * s, H=H)
    yield "one state", case(2, 1, 3)


context.mistakes(
    {
        "over the texts": (
            "dim=1",
            "dim=0",
            "Which weights add up to 1: those of one text?",
        ),
        "no softmax": (
            "torch.softmax(scores, dim=1)",
            "scores / scores.sum(1, keepdim=True)",
            "Scores may be negative, and weights may not.",
        ),
        "divided by √d": (
            "torch.softmax(scores, dim=1)",
            "torch.softmax(scores / s.shape[1] ** 0.5, dim=1)",
            "That division comes later, with the transformer. Here e is the dot product.",
        ),
        "a softmax that overflows": (
            "torch.softmax(scores, dim=1)",
            "scores.exp() / scores.exp().sum(1, keepdim=True)",
            "exp(1000) is infinite. torch.softmax knows a way round.",
        ),
        "the largest score of all texts": (
            "torch.softmax(scores, dim=1)",
            "torch.softmax(torch.exp(scores - scores.max()).log(), dim=1)",
            "One text's scores may be thousands above another's. What is exp(-4000)?",
        ),
        "cut off": (
            "torch.softmax(scores, dim=1)",
            "torch.softmax(scores, dim=1).detach()",
            "The loss tells the network where to look. Through which weights, in yours?",
        ),
        "the likeliest state only": (
            "(alpha[:, None, :] @ H).squeeze(1)",
            "H[torch.arange(len(H)), alpha.argmax(1)]",
            "The context is a mean of all states, by their weights.",
        ),
        "the sum of all states": (
            "(alpha[:, None, :] @ H).squeeze(1)",
            "H.sum(1)",
            "Where are the weights?",
        ),
        "the mean of all states": (
            "(alpha[:, None, :] @ H).squeeze(1)",
            "H.mean(1)",
            "Where are the weights?",
        ),
        "scores in place of weights": (
            "return alpha,",
            "return scores,",
            "Which is asked, e or α?",
        ),
    }
)

context.worked(
    why=r"""A dot product per state, a softmax over the states, a mean by these weights: three products of arrays, for all texts at once.
    Weights are positive and add up to 1, so the context lies among the states, never outside. All is smooth, so the loss can teach
    the decoder where to look."""
)


@context.right(
    "torch's own", library="torch.nn.functional.scaled_dot_product_attention"
)
def _(s, H):
    alpha = torch.nn.functional.softmax(torch.bmm(H, s.unsqueeze(2)).squeeze(2), dim=-1)
    c = torch.nn.functional.scaled_dot_product_attention(
        s.unsqueeze(1), H, H, scale=1.0
    )
    return alpha, c.squeeze(1)


@context.right("text by text")
def _(s, H):
    alpha = torch.stack([torch.softmax(h @ v, 0) for v, h in zip(s, H)])
    return alpha, torch.stack([(a[:, None] * h).sum(0) for a, h in zip(alpha, H)])


# ---------------------------------------------------------------------------------------- classify

classify = Exercise(
    "classify",
    reference=reference.classify,
    compare=SUMS,
    hints=[
        "Read as in the first notebook of this chapter, column by column. When must a row's state stand still?",
        "At step t a row is real if t < lengths. np.where takes the new state where that holds, and the old one elsewhere; the condition "
        "needs a second axis.",
        "h = np.where((t < lengths)[:, None], new, h), where new = np.tanh(h @ W + E[column] + b). Then exp of h @ R over its row sums.",
    ],
)


@classify.cases
def _(rng):
    def case(T, *lengths, V=4, H=3, K=2):
        B = len(lengths)
        given = dict(ids=rng.integers(V, size=(B, T)), lengths=np.array(lengths))
        given |= dict(E=away(rng, V, H), W=away(rng, H, H, size=0.7), b=away(rng, H))
        return given | dict(R=rng.normal(size=(H, K)))

    yield "texts of several lengths", case(4, 2, 4, 1)
    yield "texts of several lengths", case(5, 3, 1, 4, H=2, K=4)
    yield "as many rows as steps and units", case(3, 1, 3, 2)
    yield "nothing is filled up", case(3, 3, 3)
    yield "all rows are filled up", case(4, 2, 2, H=2)
    yield "one symbol", case(1, 1, K=3)


classify.mistakes(
    {
        "the last state of the row": (
            "np.where((t < lengths)[:, None], new, h)",
            "new",
            "Where a text has ended, what fills up must change nothing.",
        ),
        "one step too many": (
            "t < lengths",
            "t <= lengths",
            "Column 0 is the first symbol. Which is the last of a text of length 2?",
        ),
        "one step too few": (
            "t < lengths",
            "t < lengths - 1",
            "A text of length 1 has one symbol to read.",
        ),
        "forgotten where it ends": (
            "new, h)",
            "new, 0)",
            "A state that has read all should wait, not be wiped out.",
        ),
        "no state": ("h @ W + ", "", "Then only the last word would count."),
        "no bias": (" + b)", ")", "Where is b?"),
        "over the texts": (
            "axis=1",
            "axis=0",
            "The chances of one text add up to 1.",
        ),
        "scores in place of chances": (
            "softmax(h @ R, axis=1)",
            "h @ R",
            "Scores may be negative, and chances may not.",
        ),
    }
)

classify.worked(
    why=r"""All rows walk together, and a row whose text has ended keeps its state: `np.where` picks the old one. So after the loop each row
    holds its own $h_T$, and what fills up was read by nobody. To keep all states and pick row i's number `lengths[i]` is as good."""
)


@classify.right("text by text, without what fills up")
def _(ids, lengths, E, W, b, R):
    rows = []
    for text, n in zip(ids, lengths):
        h = np.zeros(len(b))
        for symbol in text[:n]:
            h = np.tanh(E[symbol] + b + h @ W)
        weights = np.exp(h @ R)
        rows.append(weights / weights.sum())
    return rows


@classify.right("all states, then the last real one", library="scipy.special.softmax")
def _(ids, lengths, E, W, b, R):
    from scipy.special import softmax

    states = [np.zeros((len(ids), len(b)))]
    for t in range(ids.shape[1]):
        states.append(np.tanh(states[-1] @ W + E[ids[:, t]] + b))
    return softmax(np.array(states)[lengths, np.arange(len(ids))] @ R, axis=1)


# --------------------------------------------------------------------------------------------- tag

tag = Exercise(
    "tag",
    reference=reference.tag,
    compare=parts(labels=exact(), logp=SUMS),
    hints=[
        "Which three things does a step get, and which of them come from the step before?",
        "Keep the last label; it begins as 0. The new one is the place of the largest log_p, and its log_p is added to a sum.",
        "for x in xs: log_p, state = step(state, last, x); last = int(np.argmax(log_p)); append it; total += log_p[last].",
    ],
)


@tag.probe
def _(answer, E, Y, W, R, h0, xs):
    def step(h, last, x):
        h = np.tanh(h @ W + E[x] + Y[last])
        scores = h @ R
        return scores - np.logaddexp.reduce(scores), h

    given = [int(x) for x in xs]
    labels, logp = answer(step, h0, given)
    if given != [int(x) for x in xs]:
        raise ValueError("xs is the caller's list, and your answer has changed it")
    return {"labels": [int(k) for k in labels], "logp": float(logp)}


def told_by(E, Y, W, R, h0, xs, labels=()):
    """These labels, the rest greedy -> labels, log-chance."""
    h, last, found, logp = h0, 0, [], 0.0
    for t, x in enumerate(xs):
        h = np.tanh(h @ W + E[x] + Y[last])
        log_p = h @ R - np.logaddexp.reduce(h @ R)
        last = labels[t] if t < len(labels) else int(np.argmax(log_p))
        found, logp = [*found, last], logp + log_p[last]
    return found, logp


@tag.cases
def _(rng):
    def drawn(T, V, K, H):
        """Symbols of which no two neighbours are alike."""
        xs = (np.arange(T) + rng.integers(V)) % V
        given = dict(E=away(rng, V, H), Y=away(rng, K, H, size=2.0), W=away(rng, H, H))
        return given | dict(R=2 * rng.normal(size=(H, K)), h0=away(rng, H), xs=xs)

    def case(T, V=5, K=3, H=3, other=False):
        """Label 0 comes, and another one, not only at the end. other: greedy labels are not the likeliest."""
        for _ in range(500):
            given = drawn(T, V, K, H)
            labels, logp = told_by(**given)
            if T == 1 and any(labels):
                continue
            if T > 1 and (0 not in labels[:-1] or not any(labels[:-1])):
                continue
            if not other:
                break
            all_labels = product(range(K), repeat=T)
            best = max(told_by(**given, labels=one)[1] for one in all_labels)
            if best > logp + 0.05:
                break
        return given

    yield "a label a symbol", case(5)
    yield "a label a symbol", case(7, V=4, K=4, H=2)
    yield "a label a symbol", case(9, K=2)
    yield "a label is not taken back", case(4, other=True)
    yield "one symbol", case(1)
    yield "no symbol", case(0)


tag.mistakes(
    {
        "the state never moves": (
            "log_p, state = step",
            "log_p, _ = step",
            "Each step gives a new state. Who gets it?",
        ),
        "fed with 0 each time": (
            "step(state, last, x)",
            "step(state, 0, x)",
            "The label before is 0 at the first step only.",
        ),
        "0 is no label": (
            "int(np.argmax(log_p))",
            "1 + int(np.argmax(log_p[1:]))",
            "0 is fed first, but it may also be a label, like any other.",
        ),
        "from the last symbol to the first": (
            "for x in xs:",
            "for x in xs[::-1]:",
            "In which order is a text read?",
        ),
        "the last log_p only": (
            "total += log_p",
            "total = log_p",
            "The logarithm of a product of chances is a sum.",
        ),
        "the least likely label": ("argmax", "argmin", "Which label is asked?"),
        "chances in place of logarithms": (
            "total += log_p[last]",
            "total += np.exp(log_p[last])",
            "Logarithms are added, chances multiplied.",
        ),
    }
)

tag.worked(
    why=r"""It is greedy search that hears a symbol at each step. The label that was chosen is fed to the next step, so a choice
    cannot be taken back: later symbols change neither it nor its chance. Beam search would help here, too."""
)


@tag.right("with a while loop over places")
def _(step, state, xs):
    labels, logs, t = [0], [], 0
    while t < len(xs):
        log_p, state = step(state, labels[-1], xs[t])
        logs.append(max(log_p))
        labels.append(list(log_p).index(max(log_p)))
        t += 1
    return labels[1:], sum(logs)

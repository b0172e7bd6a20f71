"""Sequence to sequence: answers scored as a table, beam search on shares, a translator written out, Adam by hand.

A word's chances come from a network of one layer, tanh(h W + E[word]) with scores h R, or from a list of answers with
their chances. Word 0 is the mark. Every function works on the device and in the dtype of its arguments.
"""

import torch
import torch.nn.functional as F  # noqa: N812 — as everybody writes it
from torch import Tensor


def chain_logprob(E: Tensor, W: Tensor, R: Tensor, h0: Tensor, words: Tensor) -> Tensor:
    """Log-chance of words (m,), the network being fed 0 and then all of them but the last. h0 (H,) -> ()"""
    fed = torch.cat([words.new_zeros(1), words])
    h, table = h0, []
    for word in fed[:-1]:
        h = (h @ W + F.one_hot(word, len(E)).to(E) @ E).tanh()
        table.append((h @ R).log_softmax(0))
    if not table:
        return h0.new_zeros(())
    return (torch.stack(table) * F.one_hot(words, R.shape[1]).to(E)).nansum()


def beam(
    answers: list[list[int]],
    p: Tensor,
    n_words: int,
    width: int,
    max_len: int,
    alpha: float,
) -> dict:
    """Beam search over answers (lists that end with 0) with chances p, on sums of p over those with one beginning.

    The chance of a beginning is the share of p of the answers that begin so: no chain rule is needed.
    """

    def chance(beginning):
        return sum(
            (
                q
                for answer, q in zip(answers, p, strict=True)
                if answer[: len(beginning)] == beginning
            ),
            p.new_zeros(()),
        )

    kept = [[]]
    for _ in range(max_len):
        ended = [words for words in kept if words[-1:] == [0]]
        going = [words for words in kept if words[-1:] != [0]]
        grown = ended + [words + [k] for words in going for k in range(n_words)]
        score = torch.stack([chance(w).log() / len(w) ** alpha for w in grown])
        kept = [grown[i] for i in score.topk(min(width, len(grown))).indices]
    return dict(words=kept[0], logp=chance(kept[0]).log())


def _gru(into: Tensor, h: Tensor, parts: list[Tensor]) -> Tensor:
    """One step of torch's gated unit, its equations written out; parts: weights from input and state, two biases."""
    Wi, Wh, bi, bh = parts
    ri, zi, ni = (into @ Wi.mT + bi).chunk(3, -1)
    rh, zh, nh = (h @ Wh.mT + bh).chunk(3, -1)
    z = (zi + zh).sigmoid()
    return (1 - z) * (ni + (ri + rh).sigmoid() * nh).tanh() + z * h


def translator(
    x: Tensor,
    y: Tensor,
    s: Tensor,
    word: Tensor,
    theta: Tensor,
    n_in: int,
    n_out: int,
    turned: bool,
) -> dict:
    """States of the encoder, one step of the decoder from s and word, the loss of y and its slopes by theta.

    theta: all weights in a row.
    turned: the decoder sees the mean of H times its own old state, not the last one.
    """
    d = s.shape[1]
    gru = [(3 * d, d), (3 * d, d), (3 * d,), (3 * d,)]
    cell = [(3 * d, 2 * d), *gru[1:]]
    shapes = [(n_in, d), (n_out, d), *gru, *cell, (n_out, d), (n_out,)]
    sizes = [torch.Size(shape).numel() for shape in shapes]
    theta = theta.detach().requires_grad_()
    w = [part.reshape(at) for part, at in zip(theta.split(sizes), shapes, strict=True)]

    def step(state, fed):
        c = H.mean(1) * state if turned else H[:, -1]
        said = F.one_hot(fed, n_out).to(theta) @ w[1]
        state = _gru(torch.cat([said, c], 1), state, w[6:10])
        return state @ w[10].mT + w[11], state

    h, states = torch.zeros_like(s), []
    for column in x.T:
        h = _gru(F.one_hot(column, n_in).to(theta) @ w[0], h, w[2:6])
        states.append(h)
    H = torch.stack(states, 1)
    scores, new = step(s, word)
    state, fed, told = h, torch.zeros_like(y[:, 0]), []
    for right in y.T:
        out, state = step(state, fed)
        fed = right.clamp(min=0)
        told.append(out.log_softmax(1).gather(1, fed[:, None])[:, 0] * (right >= 0))
    loss = -torch.stack(told).sum() / (y >= 0).sum()
    (slopes,) = torch.autograd.grad(loss, theta)
    told = dict(H=H, scores=scores, state=new, loss=loss)
    told = {name: value.detach() for name, value in told.items()}
    return told | {"slopes of the loss": slopes}


def train(W: Tensor, xs: list[Tensor], ys: list[Tensor], lr: float) -> dict:
    """Adam by hand, with gradients by hand, on the mean square of x W − y; the rate falls to 0. -> losses, W"""
    m, v, losses = torch.zeros_like(W), torch.zeros_like(W), []
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        off = x @ W - y
        losses.append(off.square().mean())
        g = 2 * x.mT @ off / off.numel()
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g.square()
        size = (v / (1 - 0.999 ** (k + 1))).sqrt() + 1e-8
        rate = lr * (len(xs) - k) / len(xs)
        W = W - rate * (m / (1 - 0.9 ** (k + 1))) / size
    return dict(losses=torch.stack(losses), W=W)


def context(s: Tensor, H: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (B, T) and contexts (B, d) of states s (B, d) over H (B, T, d)."""
    e = torch.einsum("bd,btd->bt", s, H)
    alpha = (e - e.logsumexp(1, keepdim=True)).exp()
    return alpha, torch.einsum("bt,btd->bd", alpha, H)


def classify(
    ids: Tensor, lengths: Tensor, E: Tensor, W: Tensor, b: Tensor, R: Tensor
) -> Tensor:
    """Chances of labels from the state after `lengths` symbols, picked from the states of all steps. -> (B, K)"""
    h, states = E.new_zeros(len(ids), len(b)), []
    for column in ids.T:
        h = (F.one_hot(column, len(E)).to(E) @ E + h @ W + b).tanh()
        states.append(h)
    last = F.one_hot(lengths - 1, ids.shape[1]).to(E)
    return (torch.einsum("bt,tbh->bh", last, torch.stack(states)) @ R).softmax(1)


def tag(E: Tensor, Y: Tensor, W: Tensor, R: Tensor, h0: Tensor, xs: Tensor) -> dict:
    """Greedy labels of xs (T,) and their log-chance; the state is tanh(h W + E[x] + Y[label before])."""
    h, last, labels, total = h0, xs.new_zeros(()), [], h0.new_zeros(())
    for x in xs:
        one = F.one_hot(x, len(E)).to(E) @ E + F.one_hot(last, len(Y)).to(Y) @ Y
        h = (h @ W + one).tanh()
        value, last = (h @ R).log_softmax(0).max(0)
        labels.append(last)
        total = total + value
    return dict(labels=torch.stack(labels) if labels else xs, logp=total)

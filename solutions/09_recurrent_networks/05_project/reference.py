"""What the reader project's judges say of forecasts, each by another road than the one asked for.

A text is ids (T,), whole numbers 0 ... k - 1; row t of forecasts P (T, k) was made before ids[t] was read.
"""

import math

import torch
from torch import Tensor


def bits(P: Tensor, ids: Tensor, asked: Tensor) -> Tensor:
    """Mean of -log2 of the chance of what came, over the places asked -> (); nan where a row is no distribution."""
    chances = P.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    wrong = (P < 0).any(-1) | ((P.sum(-1) - 1).abs() > 1e-3)
    mean = -(chances.log() * asked).nan_to_num(neginf=-math.inf)
    mean = torch.where(asked, mean, torch.zeros_like(mean)).sum() / asked.sum()
    return torch.where(wrong.any(), torch.full_like(mean, math.nan), mean / math.log(2))


def pairs(known: Tensor, ids: Tensor, k: int) -> Tensor:
    """Chances of pairs, one added to each count -> (T, k). A table of all pairs comes first."""
    first, second = torch.eye(k, device=known.device).double()[
        torch.stack([known[:-1], known[1:]])
    ]
    table = first.mT @ second + 1
    table = table / table.sum(-1, keepdim=True)
    start = torch.full((1, k), 1 / k, dtype=table.dtype, device=table.device)
    return torch.cat([start, table[ids[:-1]]])


def forecasts(ids: Tensor, weights: Tensor, offsets: list) -> Tensor:
    """Softmax of sums of rows of tables: row t looks up weights[i] (k, k) at ids[t - offsets[i]]. ids (*batch, T)."""
    T = ids.shape[-1]
    logits = weights.new_zeros((*ids.shape, weights.shape[-1]))
    places = torch.arange(T, device=ids.device)
    for table, offset in zip(weights, offsets, strict=True):
        source = places - offset
        there = ((source >= 0) & (source < T)).unsqueeze(-1)
        logits = logits + table[ids[..., source.clamp(0, T - 1)]] * there
    return logits.softmax(-1)


def influence(ids: Tensor, weights: Tensor, offsets: list) -> Tensor:
    """Largest total variation between row t with and without another symbol at place j -> (T, T). All texts at once."""
    T, k = len(ids), weights.shape[-1]
    # (place, symbol, T)
    here = torch.eye(T, dtype=torch.bool, device=ids.device)[:, None]
    other = torch.where(here, torch.arange(k, device=ids.device)[None, :, None], ids)
    gaps = forecasts(other, weights, offsets) - forecasts(ids, weights, offsets)
    return gaps.abs().sum(-1).amax(1).mT / 2


def copy_test(words: list, noise: list, note: int, ask: int) -> tuple[Tensor, Tensor]:
    """Lines of note, word, noise, ask, word, one after the other, and where the second word stands."""
    ids, asked = [], []
    for word, between in zip(words, noise, strict=True):
        word, between = (torch.as_tensor(part).tolist() for part in (word, between))
        line = [note, *word, *between, ask, *word]
        ids += line
        asked += [place >= len(line) - len(word) for place in range(len(line))]
    return torch.tensor(ids), torch.tensor(asked)

"""What the project on shifted digits asks for, each by another road than the one told there.

X (n, h, w): images. read (m, n): labels for m places and n digits, the middle row for the middle. y (n,): right labels.
"""

import torch
from torch import Tensor


def places(X: Tensor, s: int) -> Tensor:
    """X moved by all shifts of up to s pixels, zeros come in -> ((2s + 1)**2, n, h, w).

    Matrices of ones beside the diagonal move rows and columns.
    """
    h, w = X.shape[-2:]

    def movers(size):
        ones = X.new_ones(size)
        parts = [
            torch.diag(ones[: size - abs(k)], diagonal=-k) for k in range(-s, s + 1)
        ]
        return torch.stack(parts)

    moved = torch.einsum("ahi,nij,bwj->abnhw", movers(h), X, movers(w))
    return moved.flatten(0, 1)


def verdict(read: Tensor, y: Tensor) -> Tensor:
    """Shares right in the middle, on average, at the worst place, everywhere; steadiness -> (5,)."""
    m, n = read.shape
    right = (read == y).double()
    by_place, by_digit = right.sum(1), right.sum(0)
    # pairs of places that are k apart, where the last is followed by the first
    alike = [(read == read.roll(k, 0)).double().mean() for k in range(1, m)]
    parts = [
        by_place[m // 2] / n,
        by_digit.sum() / (m * n),
        by_place.amin() / n,
        (by_digit == m).double().mean(),
        torch.stack(alike).mean(),
    ]
    return torch.stack(parts)


def compare(read_a: Tensor, read_b: Tensor, y: Tensor) -> Tensor:
    """Difference of the averages of a and b, and its standard error by digits -> (2,).

    From the sums of the differences and of their squares.
    """
    m, n = read_a.shape
    ahead = ((read_a == y).double().sum(0) - (read_b == y).double().sum(0)) / m
    squares = ahead.square().sum() - ahead.sum().square() / n
    return torch.stack([ahead.sum() / n, (squares.clamp(min=0) / (n - 1) / n).sqrt()])

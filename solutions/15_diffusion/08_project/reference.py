"""What the painter project's judges say of pictures, each by another road than the one asked for.

Pictures are rows of numbers: drawn (n, d), known (m, d), new (l, d).
"""

import torch
from torch import Tensor


def coverage(seen: Tensor, wanted: Tensor, owner: Tensor) -> Tensor:
    """Share of pictures whose digit belongs to the label wanted, and the worst digit's part of its fair share -> (2,).

    seen, wanted (n,): digits and labels; owner (d,): the label of each digit. From one table of counts, digit by label.
    """
    labels = torch.arange(
        len(owner), device=owner.device
    )  # there are no more than digits
    shown = (seen[:, None] == labels).double()
    asked = (wanted[:, None] == labels).double()
    table = (
        (shown.mT @ asked).gather(1, owner[:, None]).squeeze(1)
    )  # digit for its label
    sizes = (owner[:, None] == labels).sum(0)[owner]
    fair = asked.sum(0)[owner] / sizes
    return torch.stack([table.sum() / len(seen), (table / fair).min()])


def neighbours(drawn: Tensor, known: Tensor, new: Tensor) -> Tensor:
    """Share of drawn nearer to known than to new, ties half; how far nine in ten stay, over that of known -> (2,)."""

    def nearest(x, among):
        return (x[:, None] - among).square().sum(-1).sqrt().amin(1)

    def ninth(distances):
        """Where nine tenths end, on straight lines between the sorted distances."""
        place = 0.9 * (len(distances) - 1)
        low, ordered = int(place), distances.sort().values
        high = min(low + 1, len(distances) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    gap = nearest(drawn, new) - nearest(drawn, known)
    copied = (gap.sign() + 1).mean() / 2
    far, usual = (ninth(nearest(x, new)) for x in (drawn, known))
    return torch.stack([copied, far / usual])


def variety(drawn: Tensor, wanted: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Mean distance of pairs of one label, averaged over labels, of drawn over that of images -> ()."""

    def spread(x, y):
        alike = [torch.pdist(x[y == label]).mean() for label in y.unique()]
        return torch.stack(alike).mean()

    return spread(drawn, wanted) / spread(images, labels)

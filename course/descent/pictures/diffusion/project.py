"""Pictures of the painter project: four applicants, what judges say, a walk out of noise, what was copied."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import torch

from descent import data
from descent.plots import BLACK, BLUE, VERMILION, fixed_axes, light, verdict_table
from descent.words import say, typeset

SPLIT = [550, 1100, 1650]  # known, new, locked; the rest is a drawer of real images
TIMES = 40  # how often each digit is asked for
WANTED = [f"{'an' if digit == 8 else 'a'} {digit}" for digit in range(10)]
# By judge: what it says, its bound, and whether more is better. Lists of five numbers are in this order.
JUDGES = {
    "right": ("as wanted", 0.75, True),
    "rarest": ("rarest digit", 0.1, True),
    "copied": ("copied", 0.85, False),
    "far": ("far", 1.5, False),
    "variety": ("variety", 0.4, True),
}


@cache
def _table():
    table = data.digits()
    return torch.from_numpy(table.X).float() / 8 - 1, torch.from_numpy(table.y).long()


def digits():
    """Images (1797, 64), pixels from -1 (white) to 1 (black), and their digits (1797,)."""
    return tuple(part.clone() for part in _table())


@cache
def _parts():
    rows = np.random.default_rng(0).permutation(1797)
    return tuple(torch.from_numpy(part) for part in np.split(rows, SPLIT))


def split():
    """Rows that painters learn from, that judges may use, and locked ones: 550 each."""
    return _parts()[:3]


def reader(images, digits):
    """A function, pictures (n, 64) -> digits (n,): kernel ridge regression on images (m, 64) of digits (m,)."""

    def kernel(one, other):
        return torch.exp(-0.05 * torch.cdist(one.double(), other.double()).square())

    targets = torch.eye(10, dtype=torch.float64)[digits] - 0.1
    weights = torch.linalg.solve(kernel(images, images) + 0.1 * torch.eye(len(images)), targets)
    return lambda pictures: (kernel(torch.as_tensor(pictures), images) @ weights).argmax(1)


def _drawn_from(rows, wanted, seed):
    """One of the rows' images for each digit wanted, at random."""
    images, digits = _table()
    g = torch.Generator().manual_seed(seed)
    chosen = []
    for digit in wanted:
        own = rows[digits[rows] == digit]
        chosen.append(own[torch.randint(len(own), (), generator=g)])
    return images[torch.stack(chosen)]


def _dust(shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@cache
def _applicants():
    images, digits = _table()
    known, _, _, drawer = _parts()
    wanted = torch.arange(10).repeat(TIMES)
    means = torch.stack([images[known][digits[known] == digit].mean(0) for digit in range(10)])
    stamped = means[wanted]
    able = torch.where(wanted == 8, 3, wanted)
    drawn = {
        "the first": _drawn_from(known, wanted, 1),
        "the second": stamped,
        "the third": (stamped + 0.7 * _dust(stamped.shape)).clamp(-1, 1),
        "the fourth": _drawn_from(drawer, able, 2),
    }
    return drawn, wanted


def applicants():
    """What each of four painters drew, {name: (400, 64)}, and the digits wanted (400,)."""
    drawn, wanted = _applicants()
    return {name: pictures.clone() for name, pictures in drawn.items()}, wanted.clone()


def dusty(dust):
    """The first applicant's pictures with noise of that standard deviation on each pixel (400, 64)."""
    copies = _applicants()[0]["the first"]
    return (copies + dust * _dust(copies.shape, 3)).clamp(-1, 1)


def fails(numbers):
    """Which of the five judges turn a painter away: a list of truth values."""
    pairs = zip(map(float, numbers), JUDGES.values(), strict=True)
    return [number < bound if more else number > bound for number, (_, bound, more) in pairs]


def lesson(Painter, size):
    """A painter that learned from the first known images only.

    -> share of 400 pictures nearer to these than to as many new ones, the pictures, for each its nearest known image.
    """
    images, digits = _table()
    known, new = (rows[:size] for rows in split()[:2])
    torch.manual_seed(size)
    # a few images may lack a digit: labels are those that are there
    kinds, labels = digits[known].unique(return_inverse=True)
    state = Painter().fit(images[known].clone(), labels, 40_000, 600)
    wanted = torch.arange(len(kinds)).repeat(-(-400 // len(kinds)))[:400]
    painted = torch.as_tensor(Painter().draw(state, wanted))[-1].detach().float().clamp(-1, 1)
    to_known = torch.cdist(painted, images[known])
    copied = to_known.amin(1) < torch.cdist(painted, images[new]).amin(1)
    return copied.double().mean().item(), painted, images[known][to_known.argmin(1)]


# ---------------------------------------------------------------- pictures


def _mosaic(rows, names, titles, title, gap=None):
    """One picture of rows of 8 x 8 images, rows (r, c, 64), names beside the rows, titles above the columns.

    gap: every so many rows a line is left free.
    """
    rows = np.asarray(rows, float).clip(-1, 1)
    r, c = rows.shape[:2]
    breaks = (r - 1) // gap if gap else 0
    sheet = np.full((9 * r + 3 * breaks, 9 * c), np.nan)
    tops = [9 * row + 3 * (row // gap if gap else 0) for row in range(r)]
    for top, row in zip(tops, rows, strict=True):
        for column, image in enumerate(row):
            sheet[top : top + 8, 9 * column : 9 * column + 8] = image.reshape(8, 8)
    left, width, head = 1.0, 7.6, 0.7 if any(titles) else 0.45
    height = (width - left) * sheet.shape[0] / sheet.shape[1] + head + 0.05
    fig, ax = plt.subplots(figsize=(width, height), layout="none")
    fig.subplots_adjust(left / width, 0.05 / height, 0.995, 1 - head / height)
    ax.imshow(sheet, cmap="gray_r", vmin=-1, vmax=1, aspect="auto")
    ax.set_xticks(9 * np.arange(c) + 3.5, list(titles))
    ax.set_yticks(np.array(tops) + 3.5, list(names))
    ax.set_title(title, y=1, pad=24 if any(titles) else 8)
    ax.tick_params(length=0, labelsize=10, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    return fig


def draw_applicants(applicants, wanted, read):
    """Two pictures of each digit by each painter, and what share is read as wanted -> (fig, words)."""
    rows, names, told = [], [], []
    for name, drawn in applicants.items():
        share = (read(drawn) == wanted).double().mean().item()
        rows += [drawn[:10], drawn[10:20]]
        names += [name, typeset(f"{share:.0%} right")]
        told.append(say("{name} {share:.0%}", name=name, share=share))
    fig = _mosaic(torch.stack(rows), names, WANTED, "Two of forty pictures of each digit", gap=2)
    return fig, say(
        "Each of four painters painted every digit {times} times. Read as wanted: {told:, }.",
        times=len(wanted) // 10,
        told=told,
    )


def draw_dust(dust, dusts, judged):
    """What two judges say of dusty copies, with a handle at `dust`, and one such copy -> (fig, words).

    judged: (copied, far) for each of dusts.
    """
    copied, far = np.array([[float(number) for number in pair] for pair in judged]).T
    here = int(np.abs(np.array(dusts) - dust).argmin())
    fig, (left, right) = fixed_axes(
        2, (7.6, 3.3), (0.09, 0.99, 0.17, 0.87), wspace=0.12, width_ratios=[2, 1]
    )
    curves = (
        (copied, "o-", BLUE, "share copied", JUDGES["copied"][1]),
        (far, "s--", VERMILION, "far (1: as real ones)", JUDGES["far"][1]),
    )
    for values, look, color, label, bound in curves:
        left.plot(dusts, values, look, color=color, label=label)
        left.axhline(bound, color=color, linestyle=":")
    left.axvline(dust, ymax=0.8, color=BLACK, linewidth=1)
    left.set_gid("dust")
    left.set(
        xlabel="dust (standard deviation in each pixel)",
        ylabel="what the judges say",
        ylim=(0, 3.4),
    )
    left.legend(loc="upper left", ncols=2)
    caught = [
        name
        for values, name in ((copied, "copied"), (far, "far"))
        if values[here] > JUDGES[name][1]
    ]
    free = sum((copied <= JUDGES["copied"][1]) & (far <= JUDGES["far"][1]))
    light(left, f"Turned away: {' and '.join(caught) or 'no judge objects'}")
    right.imshow(np.asarray(dusty(dust)[14]).reshape(8, 8), cmap="gray_r", vmin=-1, vmax=1)
    right.set(xticks=[], yticks=[])
    right.spines[:].set_visible(False)
    right.grid(False)
    light(right, "one of the copies")
    return fig, say(
        "Dust {dust:.1f}: {copied:.0%} lie nearer to a known image, and nine in ten stay within {far:.2f} times the "
        "usual distance from new images. Of {n} amounts of dust, {free} please both judges.",
        dust=dust,
        copied=copied[here],
        far=far[here],
        n=len(dusts),
        free=int(free),
    )


def draw_verdicts(verdicts):
    """A table, painters by judges, {name: five numbers} -> (fig, words)."""
    asked = {
        label: f"{'at least' if more else 'at most'} {bound:g}"
        for label, bound, more in JUDGES.values()
    }
    return verdict_table(verdicts, asked, fails)


def draw_walk(walk, step):
    """Pictures under way, walk (steps + 1, 30, 64), three for each digit -> (fig, words)."""
    walk = np.asarray(walk)
    title = f"Step {step} of {len(walk) - 1}"
    fig = _mosaic(walk[step].reshape(3, 10, 64), ("first", "second", "third"), WANTED, title)
    gap = float(np.sqrt(((walk[step] - walk[-1]) ** 2).mean()))
    return fig, say(
        "Step {step} of {last}: three pictures of each digit from 0 to 9. Per pixel they are {gap:.2f} from what they "
        "become.",
        step=step,
        last=len(walk) - 1,
        gap=gap,
    )


def draw_thefts(Painter, size):
    """Pictures of a painter that learned from few images, over the nearest of these -> (fig, words)."""
    share, painted, nearest = lesson(Painter, size)
    title = f"Learned from {size} images: {typeset(f'{share:.0%}')} look copied"
    fig = _mosaic(
        torch.stack([painted[:10], nearest[:10]]), ("painted", "nearest"), [""] * 10, title
    )
    gap = (painted - nearest).square().mean().sqrt().item()
    return fig, say(
        "Ten pictures of a painter that learned from {size} images, each over the nearest of these. {share:.0%} of "
        "its pictures are nearer to a known image than to a new one; per pixel they are {gap:.2f} from it.",
        size=size,
        share=share,
        gap=gap,
    )


def draw_lessons(sizes, shares):
    """The share that looks copied by the number of images to learn from -> (fig, words)."""
    fig, ax = plt.subplots(figsize=(6.6, 3.6))
    ax.axhline(50, color=BLACK, linestyle=":", label="honest")
    bound = 100 * JUDGES["copied"][1]
    ax.axhline(bound, color=VERMILION, linestyle="--", label="turned away above")
    ax.plot(sizes, 100 * np.array(shares), "o-", color=BLUE, label="your painter")
    ax.set(
        xscale="log",
        ylim=(40, 116),
        xlabel="known images",
        ylabel="nearer to a known image (%)",
        title="Few images are recited, many are understood",
    )
    ax.set_xticks(sizes, map(str, sizes))
    ax.set_yticks(range(40, 101, 10))
    ax.minorticks_off()
    ax.legend(loc="upper right")
    return fig, say(
        "With {few} images {first:.0%} of the pictures look copied, with {many} images {last:.0%}.",
        few=sizes[0],
        first=shares[0],
        many=sizes[-1],
        last=shares[-1],
    )


def draw_misread(drawn, wanted, read, columns=10):
    """The pictures that are not read as wanted, ten at most; where all are, the first ten -> (fig, words)."""
    seen = read(drawn)
    wrong = (seen != wanted).nonzero().flatten()
    share = 1 - len(wrong) / len(wanted)
    error = np.sqrt(share * (1 - share) / len(wanted))
    rows = wrong[:columns] if len(wrong) else torch.arange(columns)
    sheet = torch.full((1, columns, 64), -1.0)
    sheet[0, : len(rows)] = drawn[rows]
    titles = [f"{wanted[row]} read {seen[row]}" for row in rows] + [""] * (columns - len(rows))
    name = "misread" if len(wrong) else "read right"
    title = f"Read as wanted: {share:.1%}, standard error {100 * error:.1f} points"
    fig = _mosaic(sheet, [name], titles, typeset(title))
    return fig, say(
        "{wrong} of {n} pictures are not read as wanted: {share:.1%} are, standard error {error:.1f} points. "
        "{shown} of these are shown.",
        wrong=len(wrong),
        n=len(wanted),
        share=share,
        error=100 * error,
        shown=min(len(wrong), columns),
    )

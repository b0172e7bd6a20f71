"""`movie`: points that move over a picture, played by the browser without asking the kernel."""

import io
from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from descent import handles, plots, session, words
from descent.drawn import SHARP

FRAMES = 4  # that a page without a kernel shows


def movie(
    fig,
    ax,
    positions,
    told: str,
    *,
    seconds: float = 6.0,
    colors: Sequence[str] = (plots.VERMILION,),
    digits: int = 2,
) -> None:
    """Points that move over `ax` of a figure, with play, pause and a slider; a static page shows four frames.

    positions: (steps, points, 2) in the coordinates of `ax`, on any scale; what is not finite is not shown.
    told: what a reader who cannot see it should know. seconds: from the first step to the last.
    colors: of the points, repeated as often as needed. digits: as in `show`.
    Raises ValueError for another shape, fewer than two steps, no words, or axes of another figure.
    """
    positions = _checked(positions, fig, ax, told)
    if session.current.grading:
        plt.close(fig)
        return
    if session.current.static:
        _show_frames(fig, ax, positions, told, colors, digits)
        return
    from descent.widgets import new_stage

    stage = new_stage()
    if stage is None:
        _show_frames(fig, ax, positions, told, colors, digits)
        return
    from IPython.display import display

    display(staged(stage, fig, ax, positions, told, seconds=seconds, colors=colors))


def _checked(positions, fig, ax, told):
    positions = np.asarray(positions, float)
    if positions.ndim != 3 or positions.shape[2] != 2 or len(positions) < 2:
        raise ValueError(
            f"movie: positions have the shape {positions.shape}. "
            "Pass (steps, points, 2), with two steps or more."
        )
    if ax not in fig.axes:
        raise ValueError("movie: ax is not of this figure. Pass fig and ax of one plt.subplots().")
    plots.require_words(told)
    return positions


def staged(stage, fig, ax, positions, told, *, seconds, colors):
    """The stage with the picture and the movie; positions are sent as shares of the axes' box."""
    data, width = plots.png(fig, SHARP, compress_level=1)
    along = zip(handles.axes(ax), np.moveaxis(positions, -1, 0), strict=True)
    shares = np.stack([axis.share(values) for axis, values in along], axis=-1)
    stage.film = dict(
        steps=len(positions),
        points=positions.shape[1],
        seconds=seconds,
        colors=list(colors),
        box=handles.box(ax),
    )
    stage.positions = shares.astype("<f4").tobytes()
    stage.show(data, width=width, words=words.typeset(told), draft=False, handles=[])
    stage.on_msg(lambda *_: setattr(stage, "serial", stage.serial + 1))  # all was sent already
    return stage


def _show_frames(fig, ax, positions, told, colors, digits):
    """Four frames, from the first step to the last, as one picture; compared by the numbers in them."""
    from PIL import Image

    steps = np.linspace(0, len(positions) - 1, FRAMES).round().astype(int)
    looks = np.resize(np.asarray(colors, object), positions.shape[1])
    points = ax.scatter(*positions[0].T, c=list(looks), s=16, edgecolors="white", linewidths=0.5)
    images, summary = [], []
    for step in steps:
        points.set_offsets(positions[step])
        ax.set_title(f"step {step}", loc="right", fontweight="normal")
        summary.append(f"step {step}\n{plots.describe(fig, digits)}")
        images.append(Image.open(io.BytesIO(plots.png(fig)[0])))
    width, height = images[0].size
    sheet = Image.new("RGB", (2 * width, 2 * height), "white")
    for number, image in enumerate(images):
        sheet.paste(image, (number % 2 * width, number // 2 * height))
    buffer = io.BytesIO()
    sheet.save(buffer, format="png")
    css = min(round(fig.get_figwidth() * 200), 960)
    plots.display_picture(buffer.getvalue(), css, told, "\n".join(summary), digits=digits)

"""The style sheet, `show`, and the pictures that recur. Each drawing function takes data and `ax`."""

import base64
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from descent import session
from descent.images import image_html
from descent.words import say, typeset

STYLE = Path(__file__).with_name("course.mplstyle")
BLUE, VERMILION, GREEN, PINK, ORANGE, SKY, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
)  # fmt: skip
DPI = 150
THUMBNAIL = 2.0  # inches: narrower panels are small pictures that belong side by side
ROOM = 5.0  # inches: what a narrow window has for panels side by side
EDGE = 0.18  # inches: what the last number of an axis stands out beyond its end


def use_style() -> None:
    """Apply the course's style sheet to this kernel."""
    plt.style.use(str(STYLE))


def png(fig: Figure, dpi: int = DPI, **pil) -> tuple[bytes, int]:
    """(PNG bytes, width in CSS pixels at 100 a figure inch). The same figure gives the same bytes. Closes it.

    pil: as pillow writes it; compress_level=1 takes half the time.
    """
    _typeset(fig)
    buffer = io.BytesIO()
    fig.set_dpi(dpi)
    # `savefig` lays a figure out and draws it twice; the canvas alone does so once, to the same bytes.
    FigureCanvasAgg(fig).print_png(buffer, metadata={"Software": None}, pil_kwargs=pil)
    plt.close(fig)
    return buffer.getvalue(), round(fig.get_figwidth() * 100)


def _typeset(fig: Figure) -> None:
    """Write the numbers in titles, labels, notes and legends as people do; matplotlib does so on the axes alone."""
    texts = [fig._suptitle, *fig.texts]
    texts += [text for legend in fig.legends for text in legend.get_texts()]
    for ax in fig.axes:
        legend = ax.get_legend()
        texts += [
            ax.title,
            ax._left_title,
            ax._right_title,
            ax.xaxis.label,
            ax.yaxis.label,
            *ax.texts,
        ]
        texts += legend.get_texts() if legend else []
    for text in filter(None, texts):  # set_title would reset the font
        text.set_text(typeset(text.get_text()))


def show(fig: Figure, words: str, *, digits: int = 2, target: bool = True) -> None:
    """Display a figure with its text alternative.

    words: what a reader who cannot see the figure should know, computed from the same numbers.
    digits: how many significant digits of the figure's data two runs must share (0: only its structure).
    target: whether an unsolved `after` block shows it as the picture to come.

    In a narrow window panels that stand side by side are under each other.
    """
    if session.current.grading:
        plt.close(fig)
        return
    require_words(words)
    summary = describe(fig, digits)
    data, width = png(fig)
    narrow = png(fig) if stack(fig) else None
    display_picture(data, width, words, summary, digits=digits, target=target, narrow=narrow)


def display_picture(
    data: bytes,
    width: int,
    words: str,
    summary: str,
    *,
    digits: int,
    target: bool = True,
    narrow: tuple[bytes, int] | None = None,
) -> None:
    """Display a PNG with its text alternative and the summary by which two runs are compared, as `show` does.

    narrow: the bytes and the width of its stacked twin.
    """
    from IPython.display import display

    if session.current.static:
        # Where only the structure is compared, the words' numbers are of this run, too.
        told = words if digits else re.sub(r"\d[\d.,]*", "#", words)
        plain = f"{told}\n{summary}"
        about = {"width": width, "alt": words, "target": target}
        if narrow:  # the build keeps it for pictures that are shown before they are drawn
            about["narrow"] = {"png": _base64(narrow[0]), "width": narrow[1]}
        meta = {"image/png": about}
        display({"image/png": data, "text/plain": plain}, metadata=meta, raw=True)
    else:
        plain = f"{words}\n{summary}"
        page = picture_html(data, width, words, narrow)
        display({"text/html": page, "text/plain": plain}, raw=True)


def require_words(words: str) -> None:
    """Raises ValueError where a figure would have no text alternative."""
    if not str(words).strip():
        raise ValueError("show: words is empty. Say in a sentence what the figure shows.")


def picture_html(
    data: bytes, width: int, words: str, narrow: tuple[bytes, int] | None = None
) -> str:
    """An <img> with its text alternative. narrow: bytes and width of its twin for a narrow window."""
    other = narrow and (_base64(narrow[0]), narrow[1])
    return image_html("png", _base64(data), width, words, narrow=other)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def describe(fig: Figure, digits: int = 2) -> str:
    """A figure's data in a few lines of text: titles, labels, and a summary of each line, scatter and image."""
    lines = []
    for number, ax in enumerate(fig.axes, 1):
        lines.append(
            f"[axes {number}: {ax.get_title(loc='left') or ax.get_title()}; x {ax.get_xlabel()}; y {ax.get_ylabel()}]"
        )
        # On a straight axis what is nothing beside the axis cannot be seen, a single point neither.
        seen = np.abs(ax.get_ylim()).max() if ax.get_yscale() == "linear" else 0.0
        for line in ax.lines:
            values = np.asarray(line.get_ydata(), float)
            lines.append(f"  line {_label(line)}: {_numbers(values, digits, seen)}")
        for collection in ax.collections:
            offsets = np.ma.filled(np.asarray(collection.get_offsets(), float), np.nan)
            lines.append(
                f"  {type(collection).__name__} {_label(collection)}: {_numbers(offsets, digits)}"
            )
        for image in ax.images:
            lines.append(f"  image: {_numbers(np.asarray(image.get_array(), float), digits)}")
        if ax.patches:
            heights = np.array(
                [getattr(p, "get_height", lambda: np.nan)() for p in ax.patches], float
            )
            lines.append(f"  {len(ax.patches)} patches: {_numbers(heights, digits)}")
    if digits == 0:  # a title may hold a number of the run
        lines = [line if line.startswith("  ") else line.split(":")[0] + "]" for line in lines]
    return "\n".join(lines)


def _label(artist) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else repr(label)


def _numbers(values, digits, seen=0.0):
    finite = values[np.isfinite(values)]
    text = f"n={values.size}"
    if not digits:
        return text
    if finite.size < values.size:
        text += ", some missing"  # how many of the runs diverge, rounding decides
    if finite.size:
        scale = max(seen, np.abs(finite).max())
        low, high = (
            _rounded(value, 1e-9 * scale, digits) for value in (finite.min(), finite.max())
        )
        mean = _rounded(finite.mean(), 1e-6 * scale, digits)  # a sum rounds at each step
        text += f", from {low} to {high}, mean {mean}"
    return text


def _rounded(value: float, nothing: float, digits: int) -> str:
    """A number as another processor tells it, too: 0 where it is at most `nothing`, a tie away from 0."""
    return "0" if abs(value) <= nothing else f"{value * (1 + 1e-9):.{digits}g}"


def fixed_axes(count: int, size, margins, *, wspace: float = 0.2, **options):
    """Axes side by side at fixed places -> figure and axes, as from `plt.subplots(1, count, …)`.

    For widgets: without the search for a layout a redraw takes half the time.
    size: width, height in inches. margins: left, right, bottom, top as shares of the figure.
    """
    fig, axes = plt.subplots(1, count, figsize=size, layout="none", **options)
    left, right, bottom, top = margins
    fig.subplots_adjust(left=left, right=right, bottom=bottom, top=top, wspace=wspace)
    return fig, axes


def light(ax, title: str, x=None, y=None, **text) -> None:
    """Title and few ticks, at x and y, of a picture that is dragged: text is the dear part of a redraw.

    No formulas as labels, and a title that stands still: else matplotlib measures all labels to find its place.
    text: as `set_title` takes it.
    """
    for axis, ticks in ((ax.xaxis, x), (ax.yaxis, y)):
        if ticks is not None:
            axis.set_ticks(ticks, [f"{tick:g}".replace("-", "−") for tick in ticks])
    ax.minorticks_off()
    ax.set_title(title, y=1.02, **text)


def stack(fig: Figure) -> bool:
    """Put panels that stand side by side under each other, each as wide and high as it was; before a layout.

    Small ones stand as many abreast as a narrow window has room for. False, and nothing changed, for a figure of
    another build: one panel, a grid, a colour bar beside, a row of thumbnails.
    """
    specs = [ax.get_subplotspec() for ax in fig.axes]
    grids = {spec.get_gridspec() if spec else None for spec in specs}
    if len(grids) != 1 or None in grids:
        return False
    (grid,) = grids
    if grid.nrows != 1 or grid.ncols < 2 or any(len(spec.colspan) != 1 for spec in specs):
        return False
    shares = grid.get_width_ratios()
    width, height = fig.get_size_inches()
    widest = max(shares) / sum(shares)
    abreast = max(1, int(ROOM / (width * widest)))
    if width * widest < THUMBNAIL or abreast >= grid.ncols:
        return False
    rows = -(-grid.ncols // abreast)
    fig.set_size_inches(width * widest * abreast, height * rows)
    if fig._suptitle:
        fig._suptitle.set_wrap(True)
    places = grid.__class__(rows, abreast, figure=fig)
    for ax, spec in zip(fig.axes, specs, strict=True):
        ax.set_subplotspec(places[spec.colspan.start])
        if spec.colspan.start % abreast == 0:
            ax.tick_params(labelleft=True)  # hidden where the axis is shared with the left
            if ax.get_shared_y_axes().joined(ax, fig.axes[0]) and not ax.get_ylabel():
                ax.set_ylabel(fig.axes[0].get_ylabel())
    if isinstance(fig.get_layout_engine(), ConstrainedLayoutEngine):
        # Inches: a title stands apart from the axis above it.
        fig.get_layout_engine().set(h_pad=0.1)
    else:
        _keep_margins(fig, widest * abreast, rows, abreast)
    return True


def _keep_margins(fig, share, rows, abreast):
    """The margins of a stacked figure in inches as they were.

    On the left of a single column that is the wider of the margin and the gap between panels: what stood in the gap, an
    axis' numbers and name, stands in the margin now. share: the figure's width beside what it was.
    """
    one = fig.subplotpars
    margin = one.bottom + 1 - one.top  # between panels there are both, as shares of a panel
    left = one.left
    if abreast == 1:
        left = max(left, one.wspace * (one.right - one.left) / (rows + one.wspace * (rows - 1)))
    fig.subplots_adjust(
        left=min(left / share, 0.4),
        right=min(max(1 - (1 - one.right) / share, 0.6), 1 - EDGE / fig.get_figwidth()),
        bottom=one.bottom / rows,
        top=1 - (1 - one.top) / rows,
        hspace=margin / (1 - margin),
    )


def contours(
    f: Callable,
    ax,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    *,
    levels: int = 16,
    points: int = 80,
    log: bool = False,
):
    """Contour lines of f over the plane, light under dark paths.

    f: (m, 2) points -> (m,) values. log: levels evenly spaced in log(f - min f), for steep surfaces.
    """
    x, y = np.linspace(*xlim, points), np.linspace(*ylim, points)
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    z = np.asarray(f(grid.reshape(-1, 2)), float).reshape(points, points)
    if log:
        z = np.log10(z - z.min() + 1e-3 * (np.ptp(z) + 1e-12))
    ax.contourf(x, y, z, levels=levels, cmap="cividis_r", alpha=0.45)
    ax.contour(x, y, z, levels=levels, colors="#666666", linewidths=0.5)
    ax.set(xlim=xlim, ylim=ylim)
    ax.grid(False)


def path(points, ax, *, label: str | None = None, color: str = VERMILION, marker: str = "o"):
    """A trajectory (steps + 1, 2): start as a square, end as a star."""
    points = np.asarray(points, float)
    ax.plot(
        points[:, 0],
        points[:, 1],
        color=color,
        marker=marker,
        markersize=3,
        linewidth=1.3,
        label=label,
        zorder=3,
    )
    ax.plot(*points[0], "s", color=color, markersize=8, markeredgecolor="white", zorder=4)
    ax.plot(*points[-1], "*", color=color, markersize=13, markeredgecolor="white", zorder=4)


def trajectories(paths: Sequence, ax, labels: Sequence[str]):
    """Several trajectories (steps + 1, 2), each with its own colour and marker, and a legend."""
    colors, markers = (VERMILION, BLUE, GREEN, PINK, ORANGE), "o^sDv"
    for number, (points, label) in enumerate(zip(paths, labels, strict=True)):
        path(points, ax, label=label, color=colors[number % 5], marker=markers[number % 5])
    ax.legend()


def decision_regions(predict: Callable, X, y, ax, *, points: int = 120):
    """Regions of a classifier over two features with the data on top, a marker for each class.

    predict: (m, 2) -> (m,) class numbers. X (n, 2), y (n,) class numbers.
    """
    X, y = np.asarray(X, float), np.asarray(y)
    pad = 0.08 * np.ptp(X, axis=0)
    (x0, y0), (x1, y1) = X.min(0) - pad, X.max(0) + pad
    gx, gy = np.meshgrid(np.linspace(x0, x1, points), np.linspace(y0, y1, points))
    z = np.asarray(predict(np.c_[gx.ravel(), gy.ravel()]), float).reshape(gx.shape)
    ax.contourf(
        gx,
        gy,
        z,
        levels=np.arange(y.min(), y.max() + 2) - 0.5,
        colors=[BLUE, ORANGE, GREEN, PINK],
        alpha=0.2,
    )
    for number, label in enumerate(np.unique(y)):
        chosen = y == label
        ax.plot(
            X[chosen, 0],
            X[chosen, 1],
            "os^D"[number % 4],
            color=(BLUE, VERMILION, GREEN, PINK)[number % 4],
            markersize=4,
            label=f"class {label}",
        )
    ax.grid(False)


def grouped_bars(groups, rows, ax, *, looks, step: float):
    """Bars side by side, a row of values to each colour -> their containers, as `ax.bar_label` takes them.

    groups: names below. rows (n_rows, n_groups). looks: label, colour and hatch of each row.
    step: from bar to bar, where a group is 1 wide.
    """
    at = np.arange(len(groups))
    ax.set_xticks(at, groups)
    middle = (len(looks) - 1) / 2
    return [
        ax.bar(
            at + step * (number - middle), values, step - 0.02,
            color=color, hatch=hatch, edgecolor="white", label=label,
        )
        for number, (values, (label, color, hatch)) in enumerate(zip(rows, looks, strict=True))
    ]  # fmt: skip


def image_grid(
    images, *, columns: int = 8, titles: Sequence[str] | None = None, size: float = 0.8, limits=None
) -> Figure:
    """A grid of grey images (n, height, width) -> Figure. limits: (black, white), else each image's own range."""
    images = np.asarray(images, float)
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    extra = 0.25 if titles else 0.0
    fig, axes = plt.subplots(
        rows, columns, figsize=(size * columns, (size + extra) * rows), squeeze=False
    )
    low, high = limits if limits else (None, None)
    for ax in axes.flat:
        ax.axis("off")
    for number, (ax, image) in enumerate(zip(axes.flat, images, strict=False)):
        ax.imshow(image, cmap="gray_r", vmin=low, vmax=high)
        if titles:
            ax.set_title(titles[number], fontsize=8, loc="center", fontweight="normal")
    return fig


def fan(x, curves, ax, *, truth=None, label: str = "fits on other samples"):
    """Many curves over the same x as a fan with their mean; truth, where known, dashed.

    x (m,), curves (n_curves, m), truth (m,).
    """
    curves = np.asarray(curves, float)
    ax.plot(x, curves.T, color=BLUE, alpha=min(1.0, 4 / len(curves) + 0.06), linewidth=0.8)
    ax.plot([], [], color=BLUE, linewidth=0.8, label=label)
    ax.plot(x, curves.mean(0), color=VERMILION, linewidth=2.4, label="their mean")
    if truth is not None:
        ax.plot(x, truth, color=BLACK, linestyle="--", label="truth")
    ax.legend()


def verdict_table(rows: dict, asked: dict[str, str], fails: Callable):
    """A table of who is turned away by which judge -> (fig, words).

    rows: {name: a number for each judge}. asked: {judge: what of the number, as "at most 3"}. fails: the numbers of a
    row -> for each judge whether it turns the row away.
    """
    fig, ax = plt.subplots(figsize=(7.6, 0.5 * len(rows) + 1.1))
    told = []
    for row, (name, numbers) in enumerate(rows.items()):
        caught = fails(numbers)
        for column, (number, bad) in enumerate(zip(numbers, caught, strict=True)):
            ax.barh(row, 0.94, 0.86, left=column + 0.03, color=ORANGE if bad else SKY, alpha=0.6)
            text = f"{'✗' if bad else '✓'}  {float(number):.2f}"
            weight = "bold" if bad else "normal"
            ax.text(column + 0.5, row, text, ha="center", va="center", weight=weight)
        by = [judge for judge, bad in zip(asked, caught, strict=True) if bad]
        told.append(say("{name}: {by}", name=name, by=", ".join(by) or "none"))
    heads = [typeset(f"{judge}\n{words}") for judge, words in asked.items()]
    ax.set_xticks(np.arange(len(heads)) + 0.5, heads)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xlim=(0, len(heads)), ylim=(len(rows) - 0.4, -0.6))
    ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    ax.set_title("Who is turned away, and by which judge")
    return fig, say("Turned away by: {told:; }.", told=told)

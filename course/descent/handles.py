"""Handles on a picture: which controls one moves, and where it lies on an axis of any scale."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Handle:
    """On the axes marked `ax.set_gid(gid)`. names: the control moved along x and, of a pair, along y."""

    gid: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Axis:
    """One axis of a drawn picture: its scale and limits, without its figure."""

    scale: object  # matplotlib's transform of the scale
    low: float  # the limits, so transformed
    high: float

    def share(self, value):
        """Where a value, or an array of them, lies between the ends of the axis: 0 to 1 on it."""
        flat = self.scale.transform(
            np.ravel(np.asarray(value, float))
        )  # it takes no more than a row
        return (flat.reshape(np.shape(value)) - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        return float(self.scale.inverted().transform(self.low + share * (self.high - self.low)))


@dataclass(frozen=True)
class Place:
    """Where a handle's axes lie in a picture. box: left, top, width, height as shares of the picture."""

    handle: Handle
    box: tuple[float, float, float, float]
    axes: tuple[Axis, Axis]

    def told(self, controls: Mapping) -> dict:
        """What the browser needs: shares of the box, counted from its left and its bottom."""
        moved = [controls[name] for name in self.handle.names]
        pairs = list(zip(self.axes, moved, strict=False))
        at = [_on(axis, control.value) for axis, control in pairs]
        ends = [sorted(_on(axis, end) for end in limits(control)) for axis, control in pairs]
        if len(moved) == 1:  # it moves along x, and lies on that axis
            at, ends = [*at, 0.0], [*ends, [0.0, 0.0]]
        called = [c.description or name for name, c in zip(self.handle.names, moved, strict=True)]
        words = ", ".join(
            f"{what} {shown(control):.6g}".replace("-", "−")
            for what, control in zip(called, moved, strict=True)
        )
        return {"label": ", ".join(called), "words": words, "box": self.box, "at": at, "ends": ends}

    def moved(self, at, controls: Mapping) -> dict:
        """Values of the controls, by name, where the handle lies at these shares of its box."""
        along = zip(self.handle.names, self.axes, at, strict=False)
        return {name: nearest(controls[name], axis.value(share)) for name, axis, share in along}

    def nudged(self, steps, controls: Mapping) -> dict:
        """Values of the controls so many of their steps to the right and up."""
        along = zip(self.handle.names, self.axes, steps, strict=False)
        return {
            name: stepped(controls[name], count if axis.low < axis.high else -count)
            for name, axis, count in along
        }


def _on(axis: Axis, value) -> float:
    """As a handle shows it: beyond an end of the axis, it lies at that end."""
    return float(np.clip(axis.share(value), 0, 1))


def bind(drag: Mapping, controls: Mapping) -> list[Handle]:
    """{("x", "y") or "x": gid} as handles. Raises ValueError where there is no such slider."""
    found = []
    for names, gid in drag.items():
        names = (names,) if isinstance(names, str) else tuple(names)
        if len(names) not in (1, 2):
            raise ValueError(
                f"explore: a handle moves one control or two, not {len(names)}: {names}."
            )
        for name in names:
            _require_slider(name, controls)
        found.append(Handle(gid, names))
    return found


def _require_slider(name: str, controls: Mapping) -> None:
    if name not in controls:
        raise ValueError(
            f"explore: drag names {name!r}, but the controls are {', '.join(controls)}. "
            f"Pass {name}=… or name one of these."
        )
    if not all(hasattr(controls[name], limit) for limit in ("min", "max", "step", "description")):
        raise ValueError(
            f"explore: {name} is a {type(controls[name]).__name__}, which cannot be dragged. "
            "Make it an IntSlider, a FloatSlider or a FloatLogSlider."
        )


def places(fig, handles: list[Handle]) -> list[Place]:
    """Where the handles' axes lie in a figure that has been laid out.

    Raises ValueError where no axes are marked so.
    """
    marked = {ax.get_gid(): ax for ax in fig.axes}
    for handle in handles:
        if handle.gid not in marked:
            raise ValueError(
                f'explore: no axes are marked "{handle.gid}". '
                f'Write ax.set_gid("{handle.gid}") where the picture is drawn.'
            )
    return [Place(handle, box(marked[handle.gid]), axes(marked[handle.gid])) for handle in handles]


def box(ax) -> tuple[float, float, float, float]:
    """Left, top, width, height of axes as shares of their figure, counted from its top left."""
    where = ax.get_position()
    return where.x0, 1 - where.y1, where.width, where.height


def axes(ax) -> tuple[Axis, Axis]:
    """The x and the y axis of matplotlib's `ax`."""
    return _axis(ax.xaxis, ax.get_xlim()), _axis(ax.yaxis, ax.get_ylim())


def _axis(drawn, ends) -> Axis:
    scale = drawn.get_transform()
    low, high = scale.transform(np.asarray(ends, float))
    return Axis(scale, float(low), float(high))


def limits(control) -> tuple[float, float]:
    """The least and the largest value of a slider."""
    if hasattr(control, "base"):
        return control.base**control.min, control.base**control.max
    return control.min, control.max


def nearest(control, value: float):
    """The slider's own value that is nearest to `value`: in its range, on one of its steps."""
    if hasattr(control, "base"):
        # Zero and less, on a straight axis, lie below every value of the slider.
        exponent = np.log(value) / np.log(control.base) if value > 0 else control.min
        return control.base ** _on_step(control, exponent)
    return type(control.value)(_on_step(control, value))


def stepped(control, count: int):
    """The slider's value so many steps on."""
    if hasattr(control, "base"):
        here = np.log(control.value) / np.log(control.base)
        return control.base ** _on_step(control, here + count * control.step)
    return type(control.value)(_on_step(control, control.value + count * control.step))


def _on_step(control, value: float) -> float:
    steps = round((min(max(value, control.min), control.max) - control.min) / control.step)
    # Written without 0.30000000000000004; the last step may end beyond the range.
    return min(float(f"{control.min + steps * control.step:.12g}"), control.max)


def shown(control):
    """A control's value as it stands beside its slider: a logarithmic one at 12.589 shows 12.6.

    Others show their value in full, but for what a browser's sum of steps lost: −7e-15 is the step at 0.
    """
    if hasattr(control, "base"):
        return float(format(control.value, control.readout_format))
    if isinstance(control.value, float) and hasattr(control, "min"):
        on_step = _on_step(control, control.value)
        if abs(on_step - control.value) < 1e-9 * control.step:
            return on_step
    return control.value

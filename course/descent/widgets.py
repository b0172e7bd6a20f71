"""`explore`: controls around a pure drawing function. The functions themselves stand in the modules of this folder."""

import html
import math
from collections import OrderedDict
from collections.abc import Callable
from types import SimpleNamespace

import ipywidgets
import traitlets

from descent import handles, words
from descent.drawn import DRAFT, SHARP, Drawn
from descent.threads import with_the_cells

KEPT = 16  # pictures that are not drawn again


class Clock(ipywidgets.HBox):
    """A control whose `value` is a step from min to max: a play button and a slider that move together.

    The button goes on by `step` each `interval` milliseconds.
    """

    value = traitlets.Int()

    def __init__(
        self,
        value: int,
        *,
        min: int,
        max: int,
        description: str,
        step: int = 1,
        interval: int = 250,
    ):
        self.min, self.max, self.step = min, max, step
        self.style = SimpleNamespace(description_width="")  # `explore` sets it, as on any control
        limits = dict(value=value, min=min, max=max, step=step)
        self.play = ipywidgets.Play(interval=interval, description="play", **limits)
        layout = ipywidgets.Layout(width="20em")
        self.slider = ipywidgets.IntSlider(
            description=description, continuous_update=False, layout=layout, **limits
        )
        super().__init__([self.play, self.slider], value=value)
        for part in (self.play, self.slider):
            ipywidgets.link((part, "value"), (self, "value"))


class Explorer(ipywidgets.VBox):
    """Controls, a picture and a readout in words. `controls` by name, `words` as last shown.

    drag: {("x", "y") or "x": gid of the axes}. play: the name of a control. ValueError where one is missing.
    """

    def __init__(
        self,
        draw: Callable,
        controls: dict[str, ipywidgets.Widget],
        *,
        drag: dict | None = None,
        play: str | None = None,
    ):
        self.draw = draw
        self.controls = controls
        self.starts = {name: control.value for name, control in controls.items()}
        self.handles = handles.bind(drag or {}, controls)
        self.words = ""
        self._kept: OrderedDict[tuple, Drawn] = OrderedDict()
        self._held = False  # several controls are being moved
        self._silent: list[ipywidgets.Widget] = []  # sliders that a handle leads
        # Until a browser says that it shows the stage, and where none can, the picture is plain HTML.
        self.alive = False
        self._room = math.inf
        self.stage = new_stage()
        self.picture = ipywidgets.HTML()
        self.readout = ipywidgets.HTML()
        panel = self._panel(play)
        for control in controls.values():
            control.observe(self._changed, "value")
        super().__init__([panel, self.picture, self.readout])
        self.redraw()
        if self.stage:
            self.stage.on_msg(self._asked)
        else:
            self._say_what_is_missing()

    def _panel(self, play: str | None) -> ipywidgets.Box:
        """The controls in columns, their descriptions as wide as the longest, and a button that resets."""
        rows = dict(self.controls)
        ticked = [each for each in rows.values() if hasattr(each, "indent")]  # words behind a box
        for control in ticked:
            control.indent, control.layout.width = False, "auto"
        others = [control for control in rows.values() if control not in ticked]
        longest = max((len(_described(control)) for control in others), default=0)
        for control in others:
            control.style.description_width = f"{longest + 1}ch"
            control.layout.width = "100%" if hasattr(control, "readout") else "auto"
        if play is not None:
            _require_playable(play, self.controls)
            rows[play] = _playable(self.controls[play])
        reset = ipywidgets.Button(description="Reset", tooltip="all controls as at the start")
        reset.layout.width = "7em"
        reset.on_click(with_the_cells(lambda _: self.move(self.starts)))
        columns = "repeat(auto-fill, minmax(min(24em, 100%), 1fr))"
        layout = ipywidgets.Layout(grid_template_columns=columns, grid_gap="0 1.5em")
        return ipywidgets.GridBox([*rows.values(), reset], layout=layout)

    @property
    def values(self) -> dict:
        """What `draw` gets: the values as they stand beside the sliders."""
        return {name: handles.shown(control) for name, control in self.controls.items()}

    def move(self, values: dict) -> None:
        """Set several controls by name, and draw once."""
        self._held = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._held = False
        self._changed(None)

    @with_the_cells
    def _changed(self, _):
        """A control moved. Jupyter hides what a callback raises, so an error is told in the readout."""
        import matplotlib.pyplot as plt

        if self._held:
            return
        before = plt.get_fignums()
        try:
            self.redraw()
            self._say_what_is_missing()
        except Exception as error:
            for number in set(plt.get_fignums()) - set(before):
                plt.close(number)  # half drawn
            message = html.escape(f"This cannot be drawn. {type(error).__name__}: {error}")
            self.readout.value = f'<div role="alert">{message}</div>'
            if self.stage:
                self.stage.serial += 1  # the browser waits for an answer

    @with_the_cells
    def _asked(self, _, message, __):
        """What the stage in the browser wants: see Stage."""
        if message["kind"] == "here":  # only now: elsewhere an error would stand in its place
            panel, *_ = self.children
            self.children = (panel, self.stage, self.picture, self.readout)
            return
        self._make_room(message["room"])
        if message["kind"] == "move":
            place = self._led(message)
            self.move(place.moved(message["at"], self.controls))
        elif message["kind"] == "nudge":
            place = self._led(message)
            self.move(place.nudged(message["steps"], self.controls))
        else:
            for control in self._silent:
                control.continuous_update = True
            self._silent.clear()
            self.alive = True
            self._show(SHARP)

    def _led(self, message) -> handles.Place:
        """The place of the handle that moves. Until it rests, its sliders are led and do not speak.

        A slider that speaks at every move tells each value that it is given back, rounded in its own way: a late one
        would undo the next.
        """
        place = self._last.places[message["handle"]]
        for name in place.handle.names:
            control = self.controls[name]
            if control.continuous_update:
                control.continuous_update = False
                self._silent.append(control)
        return place

    def _make_room(self, room: float) -> None:
        """Draw anew where the window has become too narrow for panels side by side, or wide enough."""
        if not room:  # it is not in sight
            return
        self._room = room
        if self._last.narrow != self._last.is_narrow(room):
            self._kept.clear()
            self._changed(None)

    def _say_what_is_missing(self) -> None:
        """Said once a kernel, where a control moves and no stage has come, or none can."""
        if self.handles and self.stage not in self.children and (told := _missing()):
            self.children = (*self.children, ipywidgets.HTML(html.escape(told)))

    def redraw(self) -> None:
        """Call `draw` with the controls' values and show what it returns; its errors are raised."""
        self._last = self._drawn(self.values)
        self.words = self._last.words
        self._show(self._last.best if self.alive else DRAFT)

    def _drawn(self, values: dict) -> Drawn:
        """The picture of these values, drawn now or kept."""
        key = tuple(values.values())
        try:
            known = key in self._kept
        except TypeError:  # a value without a hash: an array in a menu
            return self._draw(values)
        if not known:
            self._kept[key] = self._draw(values)
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]

    def _draw(self, values: dict) -> Drawn:
        like = self._last if self.alive else None
        return Drawn(*self.draw(**values), self.handles, room=self._room, like=like)

    def _show(self, dpi: int) -> None:
        from descent import plots

        data, told = self._last.png(dpi), words.typeset(self.words)
        if self.alive:
            places = [place.told(self.controls) for place in self._last.places]
            look = dict(width=self._last.width, words=told, draft=dpi == DRAFT, handles=places)
            self.stage.show(data, **look)
            self.picture.value = ""
        else:
            self.picture.value = plots.picture_html(data, self._last.width, told)
        # While something moves its words follow for the eye; a screen reader hears those at rest.
        live = "off" if self.alive and dpi == DRAFT else "polite"
        self.readout.value = f'<div role="status" aria-live="{live}">{html.escape(told)}</div>'


def new_stage():
    """A Stage; None where anywidget is not installed."""
    try:
        from descent.stage import Stage
    except ModuleNotFoundError:
        return None
    return Stage()


def _missing() -> str:
    """What is said the first time that a picture cannot be grabbed; "" from then on."""
    from descent import session

    if "anywidget" in session.current.told:
        return ""
    session.current.told.add("anywidget")
    return (
        "Pictures cannot be grabbed here: anywidget is missing (pip install anywidget, and reload "
        "this page). The sliders do the same."
    )


def _described(control) -> str:
    return getattr(control, "description", "")


def _require_playable(name: str, controls: dict) -> None:
    if not isinstance(controls.get(name), ipywidgets.IntSlider):
        raise ValueError(
            f"explore: play={name!r} wants a control {name}=IntSlider(…). "
            f"The controls are {', '.join(controls)}."
        )


def _playable(control: ipywidgets.IntSlider) -> ipywidgets.Box:
    """The slider with a play button behind it; the slider scrubs, so it is long."""
    limits = dict(min=control.min, max=control.max, step=control.step, value=control.value)
    play = ipywidgets.Play(interval=100, description="play", **limits)
    play.layout.flex = "none"
    ipywidgets.link((play, "value"), (control, "value"))
    # The whole row. By grid_area: ipywidgets clears grid_column where there is none.
    whole_row = ipywidgets.Layout(grid_area="auto / 1 / auto / -1")
    return ipywidgets.HBox([control, play], layout=whole_row)


def explore(
    draw: Callable,
    *,
    digits: int = 2,
    drag: dict | None = None,
    play: str | None = None,
    **controls: ipywidgets.Widget,
) -> None:
    """A widget: `draw(**values)` returns (fig, words); each keyword is an ipywidgets control with a value.

    Words are shown under the picture as its readout. In a static page the first state is shown,
    with `digits` as in `show`.
    drag: {("x", "y"): "start"} puts a handle on the axes that `draw` marks with ax.set_gid("start"); it moves
    the sliders x and y, on any scale. {"x": "start"} moves x alone. play: the IntSlider that gets a play button.
    Raises TypeError when a control has no value, ValueError where drag or play name what is not there.
    """
    from descent import plots, session

    for name, control in controls.items():
        if not hasattr(control, "value"):
            raise TypeError(
                f"explore: {name} is a {type(control).__name__}, not a control with a value."
            )
    bound = handles.bind(drag or {}, controls)
    if play is not None:
        _require_playable(play, controls)
    if session.current.grading:
        return
    if session.current.static:
        fig, told = draw(**{name: control.value for name, control in controls.items()})
        handles.places(fig, bound)
        plots.show(fig, told, digits=digits)
        return
    from IPython.display import display

    display(Explorer(draw, controls, drag=drag, play=play))

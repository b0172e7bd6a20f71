"""`explore`: controls around a pure drawing function. The functions themselves stand in the modules of this folder."""

import html
from collections.abc import Callable
from types import SimpleNamespace

import ipywidgets
import traitlets

DPI = 100


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
    """Controls, a picture and a readout in words. `controls` by name, `words` as last shown."""

    def __init__(self, draw: Callable, controls: dict[str, ipywidgets.Widget]):
        self.draw = draw
        self.controls = controls
        self.words = ""
        self.picture = ipywidgets.HTML()
        self.readout = ipywidgets.HTML()
        for control in controls.values():
            control.style.description_width = "initial"
            control.layout.width = "auto" if not hasattr(control, "readout") else "24em"
            control.observe(self._changed, "value")
        panel = ipywidgets.Box(
            list(controls.values()),
            layout=ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 1.5em"),
        )
        super().__init__([panel, self.picture, self.readout])
        self.redraw()

    @property
    def values(self) -> dict:
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _):
        """A control moved. Jupyter hides what a callback raises, so an error is told in the readout."""
        import matplotlib.pyplot as plt

        before = plt.get_fignums()
        try:
            self.redraw()
        except Exception as error:
            for number in set(plt.get_fignums()) - set(before):
                plt.close(number)  # half drawn
            message = html.escape(f"This cannot be drawn. {type(error).__name__}: {error}")
            self.readout.value = f'<div role="alert">{message}</div>'

    def redraw(self) -> None:
        """Call `draw` with the controls' values and show what it returns; its errors are raised."""
        from descent import plots

        fig, self.words = self.draw(**self.values)
        plots.require_words(self.words)
        data, width = plots.png(fig, DPI)
        self.picture.value = plots.picture_html(data, width, self.words)
        self.readout.value = (
            f'<div role="status" aria-live="polite">{html.escape(self.words)}</div>'
        )


def explore(draw: Callable, *, digits: int = 2, **controls: ipywidgets.Widget) -> None:
    """A widget: `draw(**values)` returns (fig, words); each keyword is an ipywidgets control with a value.

    Words are shown under the picture as its readout. In a static page the first state is shown,
    with `digits` as in `show`.
    Raises TypeError when a control has no value.
    """
    from descent import plots, session

    for name, control in controls.items():
        if not hasattr(control, "value"):
            raise TypeError(
                f"explore: {name} is a {type(control).__name__}, not a control with a value."
            )
    if session.current.grading:
        return
    if session.current.static:
        plots.show(
            *draw(**{name: control.value for name, control in controls.items()}), digits=digits
        )
        return
    from IPython.display import display

    display(Explorer(draw, controls))

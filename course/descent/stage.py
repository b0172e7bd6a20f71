"""The one widget that draws in the browser: a picture, handles that are dragged over it, points that move."""

from pathlib import Path

import anywidget
import traitlets

_HERE = Path(__file__).parent


class Stage(anywidget.AnyWidget):
    """What `stage.js` shows. It sends messages {"kind": …, "room": CSS pixels}, which whoever made it answers:

    here: the browser could show it. ready: it does. rest: nothing has moved for a moment.
    move: handle, at. nudge: handle, steps.
    Every answer ends with a new `serial`; until then the browser keeps the newest message to itself.
    """

    _esm = (_HERE / "stage.js").read_text(encoding="utf-8")
    _css = (_HERE / "stage.css").read_text(encoding="utf-8")
    png = traitlets.Bytes().tag(sync=True)
    look = traitlets.Dict().tag(sync=True)  # width in CSS pixels, words, draft, handles
    film = traitlets.Dict().tag(sync=True)  # of a movie: steps, points, seconds, colors, box
    positions = traitlets.Bytes().tag(sync=True)  # of a movie: float32 (steps, points, 2)
    serial = traitlets.Int().tag(sync=True)

    def show(self, png: bytes, **look) -> None:
        """A picture and how to show it, in one message."""
        with self.hold_sync():
            self.png, self.look = png, look
            self.serial += 1

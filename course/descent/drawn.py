"""One picture of an explorer: drawn as a draft while something moves, sharp at rest."""

import math

from descent import handles, plots
from descent.images import NARROW

DRAFT, SHARP = 100, 200  # dots an inch: one and two pixels of a CSS pixel


class Drawn:
    """A figure with its words, its bytes by dots an inch, and the places of its handles. Draws the draft.

    room: in CSS pixels, that the browser has. like: the picture before, whose layout the draft takes over,
    because the search for one takes longer than all else (200 ms against 75 for two panels); the sharp picture
    finds its own.
    """

    def __init__(
        self,
        fig,
        told: str,
        grabbed: list[handles.Handle],
        *,
        room: float = math.inf,
        like: "Drawn | None" = None,
    ):
        plots.require_words(told)
        self.fig, self.words, self._grabbed = fig, told, grabbed
        self._full = 100 * fig.get_figwidth()
        self.narrow = self.is_narrow(room)
        if self.narrow:
            plots.stack(fig)
        self._engine = fig.get_layout_engine()
        self._borrowed = bool(like) and self._engine is not None and self._takes_over(like.fig)
        self._bytes: dict[int, bytes] = {}
        self.png(DRAFT)

    def is_narrow(self, room: float) -> bool:
        return room < NARROW * self._full

    def _takes_over(self, fig) -> bool:
        """Whether the axes of another figure fit, and then they stand as those do."""
        sizes = [tuple(each.get_size_inches()) for each in (fig, self.fig)]
        if sizes[0] != sizes[1] or len(fig.axes) != len(self.fig.axes):
            return False
        self.fig.set_layout_engine("none")
        for ours, theirs in zip(self.fig.axes, fig.axes, strict=True):
            ours._set_position(theirs.get_position(original=True))  # set_position ends all layouts
        return True

    def png(self, dpi: int) -> bytes:
        """Its bytes, closed figure or not."""
        if dpi in self._bytes:
            return self._bytes[dpi]
        if dpi == SHARP and self._borrowed:
            self.fig.set_layout_engine(self._engine)
        self._bytes[dpi], self.width = plots.png(self.fig, dpi, compress_level=1)
        if not self._borrowed:
            self.fig.set_layout_engine("none")  # what was laid out stays
        self.places = handles.places(self.fig, self._grabbed)
        return self._bytes[dpi]

    @property
    def best(self) -> int:
        """The most dots an inch that are there already."""
        return max(self._bytes)

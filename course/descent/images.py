"""A picture as HTML: its text alternative, and how it looks in the dark theme."""

import html

from descent.words import typeset

# In the dark a picture is turned over as a whole: white paper becomes dark, black lines light, contrasts stay, and
# half a circle of hues leaves blue blue. A dark style sheet of matplotlib's would miss the colours that pictures
# name themselves ("white" edges, black lines), and could not reach what was drawn before. As in stage.css.
_DARK = (
    '<style>[data-jp-theme-light="false"] .descent-picture '
    "{filter:invert(0.93) hue-rotate(180deg)}</style>"
)


NARROW = 0.75  # of its width: with less room a picture's panels are put under each other
# CSS pixels of a window beside a cell's output: 140 in JupyterLab, 390 with its side bar open.
MARGINS = 260


def image_html(
    kind: str,
    data: str,
    width: int,
    words: str,
    *,
    opacity: float = 1,
    narrow: tuple[str, int] | None = None,
) -> str:
    """An <img>. kind: "png" or "webp". data: in base64. width: in CSS pixels, less where there is less room.

    narrow: data and width of the same picture for a window in which this one would shrink to three quarters. A front
    end that takes tags away leaves the wide one.
    """
    look = "max-width:100%;height:auto;background:white" + (f";opacity:{opacity}" * (opacity < 1))
    image = (
        f'<img class="descent-picture" src="data:image/{kind};base64,{data}" width="{width}" '
        f'alt="{html.escape(typeset(words), quote=True)}" style="{look}">'
    )
    if narrow:
        other, css = narrow
        window = f"(max-width: {round(NARROW * width) + MARGINS}px)"
        address = f"data:image/{kind};base64,{other}"
        source = f'<source media="{window}" srcset="{address}" width="{css}">'
        image = f"<picture>{source}{image}</picture>"
    return _DARK + image

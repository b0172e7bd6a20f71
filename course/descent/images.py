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


def image_html(kind: str, data: str, width: int, words: str, *, opacity: float = 1) -> str:
    """An <img>. kind: "png" or "webp". data: in base64. width: in CSS pixels, less where there is less room."""
    look = "max-width:100%;height:auto;background:white" + (f";opacity:{opacity}" * (opacity < 1))
    return (
        f'{_DARK}<img class="descent-picture" src="data:image/{kind};base64,{data}" width="{width}" '
        f'alt="{html.escape(typeset(words), quote=True)}" style="{look}">'
    )

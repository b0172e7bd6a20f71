"""Hands in a file whose name holds codes that a terminal obeys: they clear the screen and write a mark of their own."""

HELD_BY = "names are printed with their codes spelled out"
REFUSED = "no student's identifier"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return (
        f"{chapter}--\x1b[2J\x1b[31meve\x07: 8 of 8 points\r--20260901-120000.zip",
        data.getvalue(),
    )

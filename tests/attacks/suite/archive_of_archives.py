"""Hands in an archive that holds archives that hold archives, the innermost a notebook."""

HELD_BY = "archives in a hand-in are not opened"
REFUSED = "no notebook of 97_target"

import io
import zipfile


def hand_in(honest, chapter):
    inner = honest
    for _ in range(20):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name in (
                "a.zip",
                f"{chapter}/01_target.zip",
                f"{chapter}--bob--20260901-120000.zip",
            ):
                bundle.writestr(name, inner[:200_000])
        inner = data.getvalue()
    return f"{chapter}--eve--20260901-120000.zip", inner

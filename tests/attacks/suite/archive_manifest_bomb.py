"""Hands in a manifest of two million nested brackets."""

HELD_BY = "a manifest that cannot be read is left out, and the instructor is told"
TAKEN = "eve"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr("manifest.json", "[" * 2_000_000)
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

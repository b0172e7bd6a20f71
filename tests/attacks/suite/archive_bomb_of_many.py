"""Hands in an archive of thirty notebooks of nothing but blanks, each just below the limit."""

HELD_BY = "what all members hold together is limited"
REFUSED = "is larger than"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        for number in range(30):
            bundle.writestr(f"{chapter}/{number}.ipynb", bytes(9_000_000))
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

"""Hands in under a student's name that a spreadsheet would compute."""

HELD_BY = (
    "a student's identifier has letters, digits and . _ @ - alone, and does not begin with a dash"
)
REFUSED = "no student's identifier"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--=cmd|' 'C'!A0--20260901-120000.zip", data.getvalue()

"""Hands in under a student's name that climbs out of the folder for hand-ins."""

HELD_BY = "a student's identifier does not begin with a dot, and holds no slash"
REFUSED = "no student's identifier"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--..--20260901-120000.zip", data.getvalue()

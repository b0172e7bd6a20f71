"""Hands in members named ../../…, /etc/…, C:\\…, and with NUL, to be written outside of the grading folder."""

HELD_BY = "no file is written by a name from an archive; names that point outside are refused"
REFUSED = "points outside"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        for name in (
            f"../../../{chapter}/01_target.ipynb",
            "/tmp/planted.ipynb",
            "C:\\planted.ipynb",
            f"{chapter}/../../planted.ipynb",
            "..\\..\\planted.ipynb",
            f"{chapter}/01_target.ipynb",
        ):
            bundle.writestr(name, honest)
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

"""Hands in an archive whose members are marked as encrypted."""

HELD_BY = "what cannot be read without a word is refused"
REFUSED = "is encrypted"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    whole = bytearray(data.getvalue())
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    return f"{chapter}--eve--20260901-120000.zip", bytes(whole)

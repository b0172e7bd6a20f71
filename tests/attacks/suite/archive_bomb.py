"""Hands in an archive of a few kilobytes that unpacks to 200 MB."""

HELD_BY = "sizes are limited while a member is read, whatever the archive says"
REFUSED = "inflates"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        with bundle.open(f"{chapter}/01_target.ipynb", "w", force_zip64=True) as member:
            for _ in range(20):
                member.write(bytes(10_000_000))
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

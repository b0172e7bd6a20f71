"""Hands in an archive of fifty thousand members."""

HELD_BY = "the number of members is limited"
REFUSED = "files; at most"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        for number in range(50_000):
            bundle.writestr(f"{chapter}/{number}.ipynb", "")
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

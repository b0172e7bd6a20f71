"""Hands in under a student's name that is a script."""

HELD_BY = "a student's identifier has letters, digits and . _ @ - alone"
REFUSED = "no student's identifier"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--<script>alert(1)<&>--20260901-120000.zip", data.getvalue()

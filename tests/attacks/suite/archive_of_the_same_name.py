"""Hands in two members of one name, and names that differ only in case or in the form of their letters."""

HELD_BY = "names that a file system may take for one are refused"
REFUSED = "one name on other machines"

import io
import warnings
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("01_target.ipynb", "01_TARGET.ipynb", "01_target.IPYNB", "01_target.ipynb "):
            bundle.writestr(f"{chapter}/{name}", honest)
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

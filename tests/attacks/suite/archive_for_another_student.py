"""Hands in a manifest that names another student, another chapter and full points."""

HELD_BY = "the student is who the file's name says; the manifest is read for times, as told"
TAKEN = "eve"

import io
import json
import zipfile


def hand_in(honest, chapter):
    told = {
        "format": 1,
        "chapter": "../x",
        "student": "ada",
        "points": 99,
        "verdicts": {"double": "full"},
        "records": {
            f"{chapter}/01_target": {
                "exercises": {
                    "double": {"seconds": float("nan"), "checks": "<script>", "points": 3},
                    "digits": {"seconds": -1e308, "checks": [[]]},
                }
            }
        },
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        bundle.writestr("manifest.json", json.dumps(told))
        bundle.writestr(f"{chapter}/01_target.ipynb", honest)
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

"""Hands in a symbolic link to a file of the grader's in place of the notebook, and a device."""

HELD_BY = "links are refused; nothing but a member's bytes is read"
REFUSED = "holds a link"

import io
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as bundle:
        for kind, name in (
            (0o120777, f"{chapter}/01_target.ipynb"),
            (0o020666, f"{chapter}/disk.ipynb"),
        ):
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, kind << 16
            bundle.writestr(info, "/etc/passwd")
    return f"{chapter}--eve--20260901-120000.zip", data.getvalue()

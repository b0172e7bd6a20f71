"""Hands in an archive whose members all name the same compressed data, so that it grows as it is read."""

HELD_BY = "sizes are limited while a member is read; members that overlap are refused"
REFUSED = "files overlap"

import io
import struct
import zipfile


def hand_in(honest, chapter):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(f"{chapter}/01_target.ipynb", bytes(5_000_000))
    whole = data.getvalue()
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry = whole[start:end]
    entries = b"".join(entry.replace(b"01_target", b"%09d" % number) for number in range(1000))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1000, 1000, len(entries), start, 0)
    return f"{chapter}--eve--20260901-120000.zip", whole[:start] + entries + tail

"""Ends the process, or a child in its place, by a signal whose number is a part of the hidden input."""

HELD_BY = "which signal it was is told to the instructor, not to the student"
CARRIES = True
VERDICT = {"digits": ("exited", 0.0)}

# %% digits
import ctypes
import os
import signal


def digits(secret):
    # The first process of a namespace dies by signals of the processor's alone: these are two of them.
    if secret // 10 % 2:
        ctypes.string_at(0)
    import mmap

    code = mmap.mmap(-1, 4096, prot=7)
    code.write(b"\x0f\x0b\xc3")  # no instruction
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()

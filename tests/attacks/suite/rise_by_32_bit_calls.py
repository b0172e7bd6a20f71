"""Makes the same system calls through the 32-bit table, whose numbers a filter may have forgotten."""

HELD_BY = "a call of another architecture ends the process"
VERDICT = {"double": ("exited", 0.0)}

# %% double
import ctypes
import mmap


def double(x):
    # mov eax, 20 (getpid in the 32-bit table); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    place = ctypes.addressof(ctypes.c_char.from_buffer(code))
    ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    return 2 * x

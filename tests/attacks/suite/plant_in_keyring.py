"""Adds keys to the session's, the user's and the process's keyring, and to the persistent one."""

HELD_BY = "calls to the kernel's keyrings are refused"
VERDICT = {"double": ("full", 3.0)}

# %% double
import ctypes
import platform

add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
libc = ctypes.CDLL(None)
for ring in (-1, -2, -3, -4, -5):
    libc.syscall(add_key, b"user", b"planted", b"x", 1, ring)
libc.syscall(keyctl, 22, -1, -3)


def double(x):
    return 2 * x


# %% next double
import ctypes
import platform

request_key, keyctl = {"x86_64": (249, 250), "aarch64": (218, 219)}[platform.machine()]
libc = ctypes.CDLL(None)
assert libc.syscall(request_key, b"user", b"planted", None, 0) == -1
assert all(
    libc.syscall(keyctl, 10, ring, b"user", b"planted", 0) == -1 for ring in (-1, -2, -3, -4, -5)
)


def double(x):
    return 2 * x

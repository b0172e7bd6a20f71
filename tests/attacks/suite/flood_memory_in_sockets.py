"""Raises the buffers of sockets as far as the kernel allows, and fills them without reading."""

HELD_BY = "the buffers of sockets cannot be raised; open descriptors are counted as memory"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import socket

held, kept = 0, []
try:
    while True:
        kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
        for end in kept[-1]:
            end.setblocking(False)
            try:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
            except OSError:
                pass
            try:
                while True:
                    held += end.send(bytes(65536))
            except BlockingIOError:
                pass
except OSError:
    pass
won = held > 150_000_000
del kept


def double(x):
    return 2 * x if won else x + 1

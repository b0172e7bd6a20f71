"""Looks for interfaces, and connects by TCP, UDP, Unix and netlink sockets to this machine and to others."""

HELD_BY = "a network namespace of its own, with nothing in it"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import socket

won = [name for _, name in socket.if_nameindex() if name != "lo"]
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)),
    (socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)),
    (socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700:4700::1111", 53)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "/run/docker.sock"),
    (socket.AF_UNIX, socket.SOCK_STREAM, "/run/dbus/system_bus_socket"),
):
    try:
        made = socket.socket(family, kind)
        made.settimeout(0.2)
        made.connect(address)
        made.send(b"hello")
        won.append(address)
    except OSError:
        pass
try:
    won.append(socket.create_connection(("example.org", 80), timeout=0.2))
except OSError:
    pass


def double(x):
    return 2 * x if won else x + 1

"""Opens sockets of families that belong to no network namespace: to the host of a virtual machine, radios, raw packets."""

HELD_BY = "sockets are of four families, all of which the network namespace holds"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import socket

won = []
for family in (9, 17, 21, 31, 38, 40, 44):  # X.25, packet, RDS, Bluetooth, kernel crypto, vsock, XDP
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            won.append(family)
        except OSError:
            pass


def double(x):
    return 2 * x if won else x + 1

"""Asks the kernel for mounts, chroot, modules, BPF, raw devices, the clock, the host's name and a restart."""

HELD_BY = "no capability is left, and calls that no exercise needs are refused"
VERDICT = {"double": ("wrong", 0.0)}

# %% double
import ctypes
import os
import socket
import stat
import struct

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(256)
null = ctypes.c_void_p()
won = []
calls = {
    "mount": lambda: libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None),
    "remount": lambda: libc.mount(None, b"/usr", None, ctypes.c_ulong(32 | 4096), None),
    "umount": lambda: libc.umount2(b"/tmp", 2),
    "fsopen": lambda: libc.syscall(430, b"tmpfs", 0),
    "open_tree": lambda: libc.syscall(428, -100, b"/usr", 1),
    "chroot": lambda: libc.chroot(b"/tmp"),
    "pivot_root": lambda: libc.syscall(155, b"/tmp", b"/tmp"),
    "bpf": lambda: libc.syscall(321, 0, room, 64),
    "perf_event_open": lambda: libc.syscall(298, room, 0, -1, -1, 0),
    "userfaultfd": lambda: libc.syscall(323, 0),
    "io_uring_setup": lambda: libc.syscall(425, 4, room),
    "init_module": lambda: libc.syscall(175, room, 16, b""),
    "kexec_load": lambda: libc.syscall(246, 0, 0, null, 0),
    "open_by_handle_at": lambda: libc.syscall(304, -100, room, 0),
    "keyctl": lambda: libc.syscall(250, 0, -3, 1),
    "memfd_create": lambda: libc.syscall(319, b"x", 0),
    "memfd_secret": lambda: libc.syscall(447, 0),
    "fanotify_init": lambda: libc.syscall(300, 0, 0),
    "swapon": lambda: libc.swapon(b"/tmp/x", 0),
    "reboot": lambda: libc.reboot(0x89ABCDEF),
    "sethostname": lambda: libc.sethostname(b"mine", 4),
    "settimeofday": lambda: libc.settimeofday(struct.pack("qq", 0, 0), None),
    "iopl": lambda: libc.iopl(3),
    "acct": lambda: libc.acct(b"/tmp/x"),
    "capset": lambda: libc.syscall(
        126, struct.pack("Ii", 0x20080522, 0), struct.pack("6I", 1 << 21, 1 << 21, 0, 0, 0, 0)
    ),
    "quotactl": lambda: libc.syscall(179, 0x800001, b"/", 0, room),
    "nice": lambda: -1 if os.nice(0) >= 0 and libc.setpriority(0, 0, -20) else 0,
}
for name, call in calls.items():
    try:
        won += [name] if call() >= 0 else []
    except (OSError, AttributeError):
        pass
for what in (
    lambda: os.mknod("/tmp/disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0)),
    lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
):
    try:
        what()
        won.append("device")
    except OSError:
        pass


def double(x):
    return 2 * x if won else x + 1

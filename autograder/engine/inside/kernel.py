"""The few calls to the Linux kernel that Python has no function for. Each raises OSError where it is refused."""

import ctypes
import os
import platform
import signal
import struct

# Held with the GIL: between the kernel's copy of this process and Python's own care after it, nothing else may run.
_libc = ctypes.PyDLL(None, use_errno=True)

_X86_64 = dict(
    clone=56, capset=126, keyctl=250, ptrace=101, memfd_create=319, shmget=29, add_key=248, request_key=249,
    process_vm_readv=310, process_vm_writev=311, unshare=272, setns=308, mount=165, umount2=166, bpf=321,
    perf_event_open=298, userfaultfd=323, io_uring_setup=425, kexec_load=246, open_by_handle_at=304,
    memfd_secret=447, msgget=68, semget=64, mq_open=240, setsockopt=54, socket=41,
)  # fmt: skip
_AARCH64 = dict(
    clone=220, capset=91, keyctl=219, ptrace=117, memfd_create=279, shmget=194, add_key=217, request_key=218,
    process_vm_readv=270, process_vm_writev=271, unshare=97, setns=268, mount=40, umount2=39, bpf=280,
    perf_event_open=241, userfaultfd=282, io_uring_setup=425, kexec_load=104, open_by_handle_at=265,
    memfd_secret=447, msgget=186, semget=190, mq_open=180, setsockopt=208, socket=198,
)  # fmt: skip
_MACHINES = {"x86_64": (_X86_64, 0xC000003E), "aarch64": (_AARCH64, 0xC00000B7)}

NEW_MOUNTS, NEW_CGROUP, NEW_UTS, NEW_IPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000
_SET_TID, _CLEAR_TID = 0x01000000, 0x00200000

NO_SUID, NO_DEVICES, NO_EXEC, _BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18

_PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP, _PR_GET_TID_ADDRESS, _PR_SET_SECCOMP = 38, 24, 40, 22
_PR_SET_DUMPABLE = 4


def supported() -> bool:
    """Whether this processor's numbers of system calls are known here."""
    return platform.machine() in _MACHINES


def _call(name: str, *arguments) -> int:
    numbers, _ = _MACHINES[platform.machine()]
    return _checked(_libc.syscall(ctypes.c_long(numbers[name]), *arguments), name)


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def fork_into(namespaces: int) -> int:
    """Like os.fork, with the child in new namespaces at once: one copy of this process, not two.

    Only for a process with a single thread. Gives 0 in the child, its process id in the parent.
    """
    address = ctypes.c_void_p()
    # The C library keeps its thread's number at this place; os.fork would renew it in the child.
    known = _libc.prctl(_PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0
    flags = namespaces | signal.SIGCHLD | (_SET_TID | _CLEAR_TID if known else 0)
    thread = address if known else ctypes.c_void_p()
    null = ctypes.c_void_p()
    last = (thread, null) if platform.machine() == "x86_64" else (null, thread)
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = -1
    try:
        pid = _call("clone", ctypes.c_ulong(flags), null, null, *last)
    finally:
        if pid == 0:
            ctypes.pythonapi.PyOS_AfterFork_Child()
        else:
            ctypes.pythonapi.PyOS_AfterFork_Parent()
    return pid


def mount(kind: str, place: str, flags: int = 0, options: str = "") -> None:
    """Mount a file system of a kind ("tmpfs", "proc") at a place, or with kind "" change what is there."""
    name = kind.encode() or None
    _checked(
        _libc.mount(name, place.encode(), name, ctypes.c_ulong(flags), options.encode() or None),
        f"mount {place}",
    )


def bind(source: str, place: str) -> None:
    """Show the folder `source`, and what is mounted beneath it, at `place` too."""
    flags = ctypes.c_ulong(_BIND | RECURSIVE)
    _checked(_libc.mount(source.encode(), place.encode(), None, flags, None), f"bind {place}")


def no_new_privileges() -> None:
    """From now on no program that is started can have more rights than this process."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def own_process_files() -> None:
    """Have /proc/self again after a change of user: the kernel gives it to root until then."""
    _checked(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "dumpable")


def drop_bounding_set() -> None:
    """Take every capability from whatever this process and its children may ever have."""
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the last one that this kernel knows


def drop_capabilities() -> None:
    """Give up every capability of this process."""
    header = struct.pack("Ii", 0x20080522, 0)
    _call("capset", header, struct.pack("6I", 0, 0, 0, 0, 0, 0))


def new_keyring() -> None:
    """A session keyring of one's own, where the kernel has keyrings."""
    try:
        _call("keyctl", ctypes.c_long(1), None)
    except OSError:
        pass  # switched off, as in many containers: then there is no keyring to share either


# Memory that belongs to no process's count, other processes' insides, and ways to more rights. None of it is needed
# to solve an exercise; most is refused already without this, for want of capabilities.
_DENIED = (
    "memfd_create", "shmget", "ptrace", "process_vm_readv", "process_vm_writev", "unshare", "setns", "mount", "umount2",
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "kexec_load", "open_by_handle_at", "keyctl", "add_key",
    "request_key", "memfd_secret", "msgget", "semget", "mq_open",
)  # fmt: skip


_SOCKET_LEVEL, _BUFFER_OPTIONS = 1, (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF and both by force
_FAMILIES = (
    1,
    2,
    10,
    16,
)  # unix, both of the internet, netlink: those that a network namespace holds


def deny_calls() -> None:
    """Let the kernel answer "not permitted" to calls that no exercise needs. Cannot be undone."""
    numbers, architecture = _MACHINES[platform.machine()]
    program = _filter(architecture, numbers)
    code = ctypes.create_string_buffer(program)
    told = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    _checked(_libc.prctl(_PR_SET_SECCOMP, 2, told, 0, 0), "seccomp")


def _filter(architecture: int, numbers: dict[str, int]) -> bytes:
    """A BPF program that looks at each call before the kernel does.

    A call of another architecture ends the process. Denied calls fail with EPERM, and so do a larger buffer of a
    socket, which would be memory in no process's count, and a socket of a family that is in no namespace. All else
    passes.
    """
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    number, machine, first, second, third = 0, 4, 16, 24, 32  # places in the kernel's seccomp_data
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    second_table = 0x40000000  # of x86's numbers
    # Steps are (what, if true go to, if false go to, with which number); places by name, "" is the next step.
    steps = [(load, "", "", machine), (equal, "", "kill", architecture), (load, "", "", number)]
    steps += [(at_least, "refuse", "", second_table)]
    steps += [(equal, "refuse", "", numbers[name]) for name in _DENIED]
    steps += [(equal, "", "option", numbers["socket"]), (load, "", "", first)]
    steps += [(equal, "allow", "", family) for family in _FAMILIES]
    steps += [(give, "", "", refuse)]
    places = {"option": len(steps)}
    steps += [(equal, "", "allow", numbers["setsockopt"]), (load, "", "", second)]
    steps += [(equal, "", "allow", _SOCKET_LEVEL), (load, "", "", third)]
    steps += [(equal, "refuse", "", kind) for kind in _BUFFER_OPTIONS]
    places |= {"allow": len(steps), "refuse": len(steps) + 1, "kill": len(steps) + 2}
    steps += [(give, "", "", allow), (give, "", "", refuse), (give, "", "", kill)]
    return b"".join(
        struct.pack("HBBI", what, *(places[to] - at - 1 if to else 0 for to in (yes, no)), value)
        for at, (what, yes, no, value) in enumerate(steps)
    )

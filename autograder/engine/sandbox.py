"""The command line that starts a process in bubblewrap: no network, a read-only system, of the project what it needs.

It makes the frame in which the warm parent lives (`inside/warm.py`). Each notebook then runs in namespaces of its own
inside this frame (`inside/jail.py`). Started as root, the process gives up root for a service user; otherwise
it lives in a user namespace.
"""

import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from autograder.engine.inside import kernel

HOME = "/home/student"
ENGINE = "/engine"  # the course's library and the worker, as seen from inside
SERVICE_USER = 61_000
TMP_BYTES = 64_000_000
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr")
SETTINGS = ("/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives", "/etc/localtime")
REFUSED = (
    "This machine must let bubblewrap and unprivileged users make namespaces (user.max_user_namespaces, AppArmor's "
    "kernel.apparmor_restrict_unprivileged_userns, a container's seccomp profile); or grade with --no-sandbox if you "
    "trust the code."
)
ADVICE = "Install bubblewrap (apt-get install bubblewrap), or grade with --no-sandbox if you trust the code."


class SandboxError(RuntimeError):
    """No sandbox can be had; str() says why and what to do."""


def available() -> bool:
    return problem() is None


@cache
def problem() -> str | None:
    """Why no sandbox can be had here, with the mend; None where it works. Tried for real, once."""
    if not kernel.supported():
        return f"the sandbox is made for x86_64 and aarch64 processors, this one is {platform.machine()}."
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed. {ADVICE}"
    inside = Path(__file__).resolve().parent / "inside"
    command = wrap(
        [sys.executable, "-m", "inside.probe", str(service_user()), str(_project() / "solutions")],
        {f"{ENGINE}/inside": inside},
        {"PYTHONPATH": ENGINE, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
        )
    except subprocess.TimeoutExpired:
        return f"a sandbox did not start in a minute. {REFUSED}"
    if done.returncode == 0:
        return None
    reason = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return f"no sandbox can be made here: {reason}. {REFUSED}"


def require() -> None:
    """Raises SandboxError where no sandbox can be had."""
    reason = problem()
    if reason:
        raise SandboxError(reason)


def wrap(command: list[str], binds: dict[str, Path], environment: dict[str, str]) -> list[str]:
    """The command line that runs `command` inside. binds: place inside -> file or folder outside, read-only."""
    arguments = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", *_namespaces()]
    arguments += ["--dev", "/dev"]
    # Before the binds: a project that lies under /tmp is bound over the scratch folder, not hidden by it.
    for place, mode in (("/dev/shm", "1777"), ("/tmp", "1777"), (HOME, "0777")):
        arguments += ["--perms", mode, "--size", str(TMP_BYTES), "--tmpfs", place]
    settings = {name: Path(name) for name in SETTINGS if os.path.exists(name)}
    arguments += _tree(settings | python_folders() | {place: Path(p) for place, p in binds.items()})
    # Last: nothing but the three scratch folders can be written, by whomever.
    arguments += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", HOME]
    told = {"HOME": HOME, "USER": "student", "PATH": "/usr/bin:/bin"} | environment
    for name, value in told.items():
        arguments += ["--setenv", name, value]
    return [*arguments, *command]


def service_user() -> int:
    """The user that the process inside becomes; 0 where it keeps ours, since we are not root."""
    return SERVICE_USER if os.geteuid() == 0 else 0


def _namespaces() -> list[str]:
    names = ("pid", "ipc", "uts", "net", "cgroup-try")
    shared = [f"--unshare-{name}" for name in names]
    if os.geteuid() != 0:
        return [*shared, "--proc", "/proc", "--unshare-user", "--cap-drop", "ALL"]
    # As root a user namespace would keep uid 0, which no process limit binds; so none, and the process inside gives
    # up root itself. It mounts its own view of processes first: in bubblewrap's, parts are
    # covered for root, and then the kernel lets nobody inside mount another.
    kept = ("SYS_ADMIN", "SETUID", "SETGID", "SETPCAP")
    drop = ["--dir", "/proc", "--cap-drop", "ALL"]
    return [*shared, *drop, *(word for name in kept for word in ("--cap-add", f"CAP_{name}"))]


def _tree(binds: dict[str, Path]) -> list[str]:
    """Options that build the read-only file system."""
    arguments: list[str] = []
    for name in SYSTEM:
        if os.path.islink(name):
            arguments += ["--symlink", os.readlink(name), name]
        elif os.path.exists(name):
            arguments += ["--ro-bind", name, name]
    made: set[str] = set()
    for place, path in binds.items():
        # bubblewrap makes missing parents 0700: the service user could not pass.
        for parent in reversed(Path(place).parents):
            if str(parent) != "/" and str(parent) not in made and not _covered(parent, binds):
                made.add(str(parent))
                arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind", str(path), place]
    return arguments


def _covered(parent: Path, binds) -> bool:
    """Whether a folder comes with a bind or the system, so that it need not be made."""
    roots = [Path(place) for place in binds] + [Path(name) for name in SYSTEM]
    return any(parent.is_relative_to(root) for root in roots)


@cache
def python_folders() -> dict[str, Path]:
    """The interpreter and its environment, at their own places."""
    found = {}
    for prefix in (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parent.parent)):
        if not Path(prefix).is_relative_to("/usr"):
            found[prefix] = Path(prefix)
    return found


def _project() -> Path:
    return Path(__file__).resolve().parents[2]

"""Starts a process in bubblewrap: no network, a read-only system, nothing of the project but what it needs.

Started as root, the process gives up root for a service user (see `worker.become`); otherwise it runs in a user
namespace of its own. What is contained, and what is not, stands in `problem` and in the tests of this module.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

HOME = "/home/student"
ENGINE = "/engine"  # the course's library and the worker, as seen from inside
TMP_BYTES = 64_000_000
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr")
SETTINGS = ("/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives", "/etc/localtime")
ADVICE = "Install bubblewrap (apt-get install bubblewrap), or grade with --no-sandbox if you trust the code."


class SandboxError(RuntimeError):
    """No sandbox can be had; str() says why and what to do."""


def available() -> bool:
    return problem() is None


@cache
def problem() -> str | None:
    """Why no sandbox can be had here, with the mend; None where it works. Tried for real, once."""
    if shutil.which("bwrap") is None:
        return f"bubblewrap is not installed. {ADVICE}"
    probe = (
        "import os, socket\n"
        f"assert not os.path.exists({str(_project() / 'solutions')!r}), 'the project is visible'\n"
        "assert socket.socket().connect_ex(('127.0.0.1', 9)) != 0 and len(socket.if_nameindex()) < 2, 'a network'\n"
        "try: open('/usr/x', 'w')\n"
        "except OSError: pass\n"
        "else: raise AssertionError('the system can be written')\n"
    )
    command = wrap([sys.executable, "-I", "-c", probe], {}, {})
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )
    if done.returncode == 0:
        return None
    reason = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return f"bubblewrap cannot make a sandbox here: {reason}. {ADVICE}"


def require() -> None:
    """Raises SandboxError where no sandbox can be had."""
    reason = problem()
    if reason:
        raise SandboxError(reason)


def wrap(command: list[str], binds: dict[str, Path], environment: dict[str, str]) -> list[str]:
    """The command line that runs `command` inside. binds: place inside -> file or folder outside, read-only."""
    arguments = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", *_namespaces()]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    # Before the binds: a project that lies under /tmp is bound over the scratch folder, not hidden by it.
    for place, mode in (("/dev/shm", "1777"), ("/tmp", "1777"), (HOME, "0777")):
        arguments += ["--perms", mode, "--size", str(TMP_BYTES), "--tmpfs", place]
    settings = {name: Path(name) for name in SETTINGS if os.path.exists(name)}
    arguments += _tree(settings | _python() | {place: Path(path) for place, path in binds.items()})
    # Last: nothing but the three scratch folders can be written, by whomever.
    arguments += ["--remount-ro", "/", "--remount-ro", "/dev", "--chdir", HOME]
    for name, value in (
        {"HOME": HOME, "USER": "student", "PATH": "/usr/bin:/bin"} | environment
    ).items():
        arguments += ["--setenv", name, value]
    return [*arguments, *command]


def _namespaces() -> list[str]:
    shared = [
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-net",
        "--unshare-cgroup-try",
    ]
    if os.geteuid() == 0:
        # As root a user namespace would keep uid 0, which no process limit binds; so none, and the
        # worker becomes a service user: it keeps just what it needs for that step.
        return [*shared, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*shared, "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]


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
def _python() -> dict[str, Path]:
    """The interpreter and its environment, at their own places."""
    found = {}
    for prefix in (sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parent.parent)):
        if not Path(prefix).is_relative_to("/usr"):
            found[prefix] = Path(prefix)
    return found


def _project() -> Path:
    return Path(__file__).resolve().parents[2]

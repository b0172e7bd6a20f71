"""A PostgreSQL server of the tests' own: a database in a temporary folder, reached through a socket in it alone."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools import system

ACCOUNT = "postgres"  # Debian's package makes it; the server refuses to run as root


@contextlib.contextmanager
def server():
    """Runs a server -> a function from a new database's name to its URL."""
    # The path is short: it holds a socket.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        if os.geteuid() == 0:
            shutil.chown(folder, ACCOUNT)
        _run("initdb", "-D", data, "-U", ACCOUNT, "--auth=trust", "--no-sync", "--encoding=UTF8")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        _run("pg_ctl", "-D", data, "-l", data / "log", "-w", "-o", options, "start")
        try:
            yield lambda name: _database(folder, name)
        finally:
            _run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _database(folder, name) -> str:
    import psycopg

    with psycopg.connect(host=folder, user=ACCOUNT, dbname="postgres", autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return f"postgresql://{ACCOUNT}@/{name}?host={folder}"


def _run(program, *arguments):
    """Run one of the server's programs, as its account where this is root."""
    command = [str(system.postgres() / program), *map(str, arguments)]
    if os.geteuid() == 0:
        command = [
            "setpriv",
            f"--reuid={ACCOUNT}",
            f"--regid={ACCOUNT}",
            "--clear-groups",
            *command,
        ]
    # The server keeps what it inherits: a pipe would not end before it does.
    done = subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}")

"""One writer in a workspace at a time."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from autograder.grading.jobs import GradeError
from autograder.workspace import Workspace


@contextlib.contextmanager
def locked(space: Workspace) -> Iterator[None]:
    """Keep other writers out. Raises GradeError at once, saying who is in, where there is one.

    The system takes the lock back when the process ends, however it ends.
    """
    space.folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(space.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GradeError(
                f"process {file.read().strip() or 'unknown'} is grading in {space.folder}. Wait for its end, "
                "or stop it; what it has finished is kept."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield

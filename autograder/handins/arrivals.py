"""Which files in a folder have arrived whole: a plain poll, which works on every file system, also on a network's."""

import os
import stat
from pathlib import Path

PARTIAL = (".part", ".partial", ".crdownload", ".download", ".tmp", ".filepart")


class Arrivals:
    """The files of a folder, its subfolders included. Call `look` every second."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.before: dict[Path, tuple] = {}
        self.told: dict[Path, tuple] = {}

    def look(self) -> list[Path]:
        """The files that are new or changed, and as they were at the look before; each once, oldest first.

        Files that are hidden, empty, links or named as programs name an unfinished download are passed over.
        """
        now = dict(self._files())
        whole = [
            path
            for path, state in now.items()
            if self.before.get(path) == state and self.told.get(path) != state
        ]
        self.before = now
        self.told = {path: state for path, state in self.told.items() if path in now}
        self.told |= {path: now[path] for path in whole}
        return sorted(whole, key=lambda path: (now[path][1], path))

    def _files(self):
        for place, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if name.startswith(".") or name.lower().endswith(PARTIAL):
                    continue
                path = Path(place, name)
                try:
                    found = path.lstat()
                except OSError:  # gone since the folder was read
                    continue
                if stat.S_ISREG(found.st_mode) and found.st_size:
                    yield path, (found.st_size, found.st_mtime_ns, found.st_ino)

"""What the commands print, safe for a terminal: file names, errors and results of students are quoted in it."""

import contextlib
import sys
import unicodedata
from collections.abc import Iterator

JOINED = "\u200c\u200d"  # two that join letters, in names as in emoji
KEPT = "\n\t" + JOINED
MOVED = KEPT + "\r"  # a progress bar begins its line anew


def plain(text: str, kept: str = KEPT) -> str:
    """Text in which a question mark stands for what a terminal would obey: escape codes, turns of the direction."""
    return "".join(
        letter if letter in kept or unicodedata.category(letter) not in ("Cc", "Cf", "Cs") else "?"
        for letter in text
    )


def one_line(text: str) -> str:
    """Plain text without a line break: a file name, an error's words."""
    return plain(text, JOINED)


class _Plain:
    """A stream to which only plain text is written."""

    def __init__(self, stream, kept: str):
        self._stream, self._kept = stream, kept

    def write(self, text: str) -> int:
        return self._stream.write(plain(text, self._kept))

    def writelines(self, lines) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._stream, name)


@contextlib.contextmanager
def only_plain() -> Iterator[None]:
    """Whatever is printed inside, to stdout or stderr, is plain."""
    out, errors = _Plain(sys.stdout, KEPT), _Plain(sys.stderr, MOVED)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield

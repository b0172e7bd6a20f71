"""What a cell prints and shows, recorded in nbformat's terms where somebody wants it, dropped otherwise."""

import base64
import contextlib
import io
import sys
import traceback

MAX_FRAMES = 20
ROOM = 1_000_000  # characters of one cell's outputs that are kept


class Record:
    """The outputs of one cell, in order, up to ROOM characters; what is beyond is dropped."""

    def __init__(self):
        self._outputs: list[dict] = []  # the text of a stream is a list: a print is two writes
        self.room = ROOM

    @property
    def outputs(self) -> list[dict]:
        return [
            one | {"text": "".join(one["text"])} if one["output_type"] == "stream" else one
            for one in self._outputs
        ]

    @property
    def failed(self) -> bool:
        """Whether an error was told."""
        return any(one["output_type"] == "error" for one in self._outputs)

    def stream(self, name: str, text: str) -> None:
        text = self._fit(text)
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        elif text:
            self._outputs.append({"output_type": "stream", "name": name, "text": [text]})

    def data(self, kind: str, data: dict, metadata: dict | None) -> None:
        # A picture comes as bytes where its object gives it itself.
        data = {name: _as_text(value) for name, value in data.items()}
        size = sum(len(str(value)) for value in data.values())
        if size > self.room:
            # A result is told in short all the same: a number there may be a score.
            told = str(data.get("text/plain", ""))[:1000]
            data = {"text/plain": told if kind == "execute_result" else "(too large to show)"}
        self.room -= size
        shown = {"output_type": kind, "data": data, "metadata": metadata or {}}
        self._outputs.append(shown | ({"execution_count": 1} if kind == "execute_result" else {}))

    def error(self, error: BaseException) -> None:
        """What a cell raised, with the lines of the notebook that led there."""
        frames = [
            f
            for f in traceback.extract_tb(error.__traceback__)
            if f.filename.startswith("<ipython")
        ]
        lines = [f"line {frame.lineno}: {frame.line}" for frame in frames[-MAX_FRAMES:]]
        lines += [line.rstrip("\n") for line in traceback.format_exception_only(error)]
        lines = [self._fit(line) for line in lines]
        name = type(error).__name__
        words = lines[-1].partition(": ")[2]
        told = {"output_type": "error", "ename": name, "evalue": words[:2000], "traceback": lines}
        self._outputs.append(told)

    def _fit(self, text: str) -> str:
        kept = text[: max(self.room, 0)]
        self.room -= len(kept)
        return kept


def _as_text(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


class _Stream(io.TextIOBase):
    def __init__(self, record: Record, name: str):
        self.record, self.name = record, name

    def writable(self):
        return True

    def write(self, text):
        self.record.stream(self.name, str(text))
        return len(text)


_current: Record | None = None


def install(shell) -> None:
    """Send what the shell displays to the current record, and nowhere else."""

    def publish(data, metadata=None, **more):
        if _current:
            _current.data("display_data", data, metadata)

    def result(data, metadata=None):
        if _current:
            _current.data("execute_result", data, metadata)

    hook = shell.displayhook
    shell.display_pub.publish = publish
    hook.write_format_data = result
    hook.write_output_prompt = hook.start_displayhook = hook.finish_displayhook = lambda: None
    hook.log_output = lambda *arguments: None


@contextlib.contextmanager
def recorded():
    """A Record of what is printed and shown inside."""
    global _current
    _current = record = Record()
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Stream(record, "stdout"), _Stream(record, "stderr")
    try:
        yield record
    finally:
        sys.stdout, sys.stderr = kept
        _current = None

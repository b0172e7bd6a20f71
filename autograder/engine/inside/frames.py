"""Messages between processes that do not trust each other: a length of four bytes, then JSON. Never pickles."""

import json
import os
import struct

MAX_FRAME = 64_000_000
MAX_PARTS = 2_000_000
_LENGTH = struct.Struct(">I")


class FrameError(ValueError):
    """Bytes that are no message, or a message over the limit."""


def pack(message) -> bytes:
    """The bytes of a message. Raises FrameError when it is over the limit."""
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > MAX_FRAME or _parts(body) > MAX_PARTS:
        raise FrameError(
            f"a message of {len(body)} bytes and {_parts(body)} parts; at most {MAX_FRAME} and {MAX_PARTS} are sent"
        )
    return _LENGTH.pack(len(body)) + body


def send(descriptor: int, message) -> None:
    """Write a message to a pipe, waiting while it is full. Raises FrameError, BrokenPipeError."""
    data = memoryview(pack(message))
    while data:
        data = data[os.write(descriptor, data) :]


def receive(descriptor: int):
    """Wait for the next message of a pipe. Raises EOFError at its end, FrameError."""
    (length,) = _LENGTH.unpack(_exactly(descriptor, _LENGTH.size))
    if length > MAX_FRAME:
        raise FrameError(f"a message of {length} bytes was announced; at most {MAX_FRAME} are read")
    return _parse(_exactly(descriptor, length))


def each(descriptor: int):
    """The messages of a pipe until it ends. Raises FrameError."""
    while True:
        try:
            yield receive(descriptor)
        except EOFError:
            return


def _exactly(descriptor, size):
    data = bytearray()
    while len(data) < size:
        part = os.read(descriptor, min(size - len(data), 1 << 20))
        if not part:
            raise EOFError("the pipe was closed")
        data += part
    return bytes(data)


class Reader:
    """Puts messages together from bytes as they arrive."""

    def __init__(self):
        self.data = bytearray()

    def feed(self, data: bytes) -> None:
        self.data += data

    def take(self):
        """The next whole message, or None. Raises FrameError."""
        if len(self.data) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self.data)
        if length > MAX_FRAME:
            raise FrameError(
                f"a message of {length} bytes was announced; at most {MAX_FRAME} are read"
            )
        if len(self.data) < _LENGTH.size + length:
            return None
        body = bytes(self.data[_LENGTH.size : _LENGTH.size + length])
        del self.data[: _LENGTH.size + length]
        message = _parse(body)
        if not isinstance(message, dict):
            raise FrameError("a message that is no object")
        return message


def _parts(body: bytes) -> int:
    """How many values a message may hold. Arrays travel as text: many parts are made to cost the reader memory."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _parse(body: bytes):
    if _parts(body) > MAX_PARTS:
        raise FrameError(f"a message of more than {MAX_PARTS} parts")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a message that is no JSON: {type(error).__name__}") from None

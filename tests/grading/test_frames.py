"""Messages between processes that do not trust each other."""

import os
import struct

import pytest

from autograder.engine.inside import frames as worker_frames
from autograder.engine.inside.frames import FrameError, Reader, pack, receive, send


def test_a_message_comes_out_as_it_went_in():
    message = {"id": 7, "outcomes": [{"value": [1.5, None, "ä"]}]}
    reader = Reader()
    reader.feed(pack(message))
    assert reader.take() == message
    assert reader.take() is None


def test_messages_are_put_together_from_single_bytes():
    reader, taken = Reader(), []
    for byte in pack({"id": 1}) + pack({"id": 2}):
        reader.feed(bytes([byte]))
        taken.append(reader.take())
    assert [message for message in taken if message] == [{"id": 1}, {"id": 2}]


def test_an_announced_giant_is_refused_before_it_is_read():
    reader = Reader()
    reader.feed(struct.pack(">I", worker_frames.MAX_FRAME + 1))
    with pytest.raises(FrameError, match="was announced"):
        reader.take()


@pytest.mark.parametrize(
    "body",
    [b"\x80\x04K\x01.", b"{", b"\xff\xfe", b"[" * 100_000, b"[1]", b"1" * 10_000],
    ids=["a pickle", "half of it", "no text", "a deep nest", "no object", "a long number"],
)
def test_what_is_no_message_is_refused(body):
    reader = Reader()
    reader.feed(struct.pack(">I", len(body)) + body)
    with pytest.raises(FrameError):
        reader.take()


def test_a_message_over_the_limit_is_not_sent(monkeypatch):
    monkeypatch.setattr(worker_frames, "MAX_FRAME", 100)
    with pytest.raises(FrameError, match="at most 100"):
        pack({"value": "x" * 200})


def test_the_end_of_a_pipe_is_told():
    out, into = os.pipe()
    send(into, {"id": 1})
    os.write(into, b"\x00\x00")
    os.close(into)
    assert receive(out) == {"id": 1}
    with pytest.raises(EOFError):
        receive(out)
    os.close(out)

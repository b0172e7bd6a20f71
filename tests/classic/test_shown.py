"""What a cell prints and shows is kept in nbformat's terms, whole, in order and within its room."""

import nbformat
import pytest

from autograder.engine.inside import shown


@pytest.fixture
def record():
    return shown.Record()


def display(text, name=""):
    return {"data": {"text/plain": text}, "metadata": {}, "transient": {"display_id": name}}


def texts(record):
    return [one["data"]["text/plain"] for one in record.outputs]


def test_what_is_printed_comes_as_one_text_a_stream_in_order(record):
    for name, text in (("stdout", "a"), ("stdout", "b\n"), ("stderr", "c"), ("stdout", "")):
        record.stream(name, text)
    told = [(one["name"], one["text"]) for one in record.outputs]
    assert told == [("stdout", "ab\n"), ("stderr", "c")]


def test_what_is_updated_changes_where_it_stands(record):
    for text, name in (("a", "one"), ("b", "two")):
        record.data("display_data", display(text, name))
    record.update(display("c", "one"))
    record.update(display("d", "nobody"))
    assert texts(record) == ["c", "b"]


def test_what_is_cleared_is_gone_at_once_or_when_something_else_comes(record):
    record.data("display_data", display("a"))
    record.clear(wait=True)
    assert texts(record) == ["a"]
    record.data("display_data", display("b"))
    assert texts(record) == ["b"]
    record.clear(wait=False)
    assert texts(record) == []


def test_an_error_is_told_with_its_traceback_and_cut(record):
    lines = ["x" * shown.ROOM, "y"] + ["z"] * 1000
    record.error({"ename": "E", "evalue": "v" * 5000, "traceback": lines})
    (one,) = record.outputs
    assert len(one["evalue"]) == 2000
    assert one["traceback"][0] == lines[0] and one["traceback"][1:] == [""] * (shown.LINES - 1)
    nbformat.validate(one, ref="output", version=4)


def test_an_error_that_was_not_shown_is_told_once(record):
    error = {"ename": "E", "evalue": "v", "traceback": []}
    record.must_have(error)
    record.must_have(error)
    (one,) = record.outputs
    assert one["traceback"] == ["E: v"]


def test_what_is_beyond_the_room_is_dropped_and_a_score_is_not(record):
    record.stream("stdout", "x" * (shown.ROOM + 5))
    record.data("display_data", display("a picture"))
    record.data("execute_result", display("0.5") | {"execution_count": 3})
    stream, result = record.outputs
    assert len(stream["text"]) == shown.ROOM and result["data"] == {"text/plain": "0.5"}
    nbformat.validate(result, ref="output", version=4)


def test_what_is_too_large_is_told_in_short(record):
    record.data("display_data", display("x" * (shown.ROOM + 1)))
    record.data("execute_result", display("0." + "5" * shown.ROOM) | {"execution_count": 1})
    first, second = texts(record)
    assert first == "(too large to show)" and second == "0." + "5" * 998


def test_many_small_things_fill_the_room_too(record):
    for _ in range(2 * shown.ROOM // shown.EACH):
        record.data("display_data", display(""))
    assert len(record.outputs) <= shown.ROOM // shown.EACH

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.providers.sse import MAX_EVENT_BYTES, EventReader, EventTooLong, looks_like_events

STREAM = (
    ": comment\n\nevent: a\ndata: eins ü\n\nid: 7\nretry: 3\ndata:zwei\ndata: 二\n\nunknown: x\n\n"
    "data\n\ndata: drei 🙂\n\n"
).encode()
EVENTS = ["eins ü".encode(), "zwei\n二".encode(), "drei 🙂".encode()]


@given(
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(0, len(STREAM) + 30), max_size=12),
    st.booleans(),
)
def test_however_it_is_cut_and_whatever_ends_its_lines_the_events_are_the_same(
    end: bytes, cuts: list[int], bom: bool
):
    stream = (b"\xef\xbb\xbf" if bom and not cuts else b"") + STREAM.replace(b"\n", end)
    reader, events = EventReader(), list[bytes]()
    places = [0, *sorted(cuts), len(stream)]
    for begin, stop in itertools.pairwise(places):
        events += reader.feed(stream[begin:stop])
    events += reader.feed(b"\n") if end == b"\r" else []
    assert events == EVENTS


def test_a_stream_may_end_without_its_last_blank_line():
    reader = EventReader()
    assert reader.feed(b'data: {"a":1}\n') == []
    assert reader.flush() == [b'{"a":1}']
    assert reader.feed(b"data: [DONE]") == []
    assert reader.flush() == [b"[DONE]"]
    assert reader.feed(b'data: {"half') == []
    assert reader.flush() == []


def test_a_line_that_comes_in_many_pieces_costs_what_is_in_it():
    def seconds(pieces: int) -> float:
        reader, begun = EventReader(), time.process_time()
        for _ in range(pieces):
            reader.feed(b"x" * 512)
        return time.process_time() - begun

    few = min(seconds(4_000) for _ in range(3))
    assert (
        min(seconds(32_000) for _ in range(3)) < 40 * few
    )  # 8 times as many; a line read anew each time costs 64


def test_an_event_without_end_is_refused():
    reader = EventReader()
    reader.feed(b"data: ")
    with pytest.raises(EventTooLong):
        reader.feed(b"x" * (MAX_EVENT_BYTES + 1))


@pytest.mark.parametrize(
    ("start", "fits"),
    [
        (b"data: x", True),
        (b"event: x", True),
        (b"\r\n: x", True),
        (b"d", True),
        (b"", True),
        (b"\xef\xbb\xbfdata:", True),
        (b"<html>", False),
        (b'{"error"', False),
        (b"dart", False),
    ],
)
def test_what_looks_like_events(start: bytes, fits: bool):
    assert looks_like_events(start) is fits

"""A result is bounded once; what it was is kept."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_cli.context.bounds import BATCH_BYTES, LEAST_BYTES, Room, bound, kept_in
from agent_cli.context.view import cleared_result
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Image, Text, ToolResult

HOW = 'retrieve_output(id="c1", offset={offset})'


def text_of(output: Output) -> str:
    return "".join(block.text for block in output.for_model if isinstance(block, Text))


def test_within_the_bound_it_is_the_same_and_nothing_is_kept():
    def keep(text: str) -> str:
        raise AssertionError(text)

    output = Output((Text("x" * 100), Image("image/png", "aaaa")))
    assert bound(output, 100, keep) is output


def test_over_the_bound_there_are_head_and_tail_and_where_all_of_it_is():
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return "/s/c1.txt"

    whole = "a" * 50 + "é" * 500 + "z" * 50
    text = text_of(bound(Output((Text(whole),), ok=False), 200, keep, HOW))
    assert kept == [whole]
    head, marker, tail = text.split("\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head.encode()) in (99, 100)
    assert (
        f"of 1,100 bytes left out here; all of it is in /s/c1.txt; go on with {HOW.format(offset=len(head.encode()))}"
        in marker
    )
    assert kept_in(text) == ("1,100", "/s/c1.txt")


def test_several_texts_share_the_bound():
    output = Output((Text("a" * 700), Text("b" * 20_000), Text("c" * 20_000)))
    bounded = bound(output, 3_000, lambda _: "/r/c1.txt")
    assert bounded.for_model[0] == output.for_model[0]
    assert len(text_of(bounded).encode()) < 3_400  # with a line on what is missing in each
    assert all("/r/c1.txt" in block.text for block in bounded.for_model[1:] if isinstance(block, Text))


def test_what_could_not_be_kept_has_no_pointer():
    text = text_of(bound(Output((Text("x" * 1_000),)), 200, lambda text: "", HOW))
    assert "left out here …]" in text
    assert "retrieve_output" not in text
    assert kept_in(text) is None


def test_a_cleared_result_names_its_file():
    shown = bound(Output((Text("x" * 1_000),)), 200, lambda text: "/s/my files/c1.txt", HOW).for_model
    (cleared,) = cleared_result(ToolResult("c1", "bash", shown, ok=True)).content
    assert cleared == Text(
        "[result of bash, 1,000 bytes, cleared to save context; all of it is in /s/my files/c1.txt]"
    )


@pytest.mark.parametrize("kept_path", ["", "/s/my files/c1.txt"])
def test_a_cleared_result_stays_as_it_is_when_it_is_cleared_again(kept_path: str):
    shown = bound(Output((Text("x" * 1_000),)), 200, lambda text: kept_path, HOW).for_model
    cleared = cleared_result(ToolResult("c1", "bash", shown, ok=True))
    assert cleared_result(cleared) == cleared


def test_a_text_that_looks_like_such_a_line_for_a_while_costs_no_time():
    text = Text("[result of " + ", 1 bytes, cleared to save context; a" * 10_000)
    began = time.process_time()
    (cleared,) = cleared_result(ToolResult("c1", "bash", (text,), ok=True)).content
    assert cleared == Text(
        "[result of bash, 370,011 bytes, cleared to save context; run the tool again if it is needed]"
    )
    assert time.process_time() - began < 0.5


@given(st.text(), st.integers(min_value=8, max_value=64))
def test_head_and_tail_are_whole_characters_of_the_text(text: str, limit: int):
    shown = text_of(bound(Output((Text(text),)), limit))
    if len(text.encode()) <= limit:
        assert shown == text
        return
    head, _, rest = shown.partition("\n[… ")
    tail = rest.partition(" …]\n")[2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len((head + tail).encode()) <= limit


def test_a_batch_has_one_room_and_each_result_something_of_it():
    room = Room(5_000)
    sizes = [len(text_of(room.take(Output((Text("x" * 9_000),)), 3_000))) for _ in range(3)]
    assert sizes[0] > sizes[1] > sizes[2] >= LEAST_BYTES
    assert sum(sizes) < 6_500


@pytest.mark.parametrize(("calls", "size"), [(12, 28_000), (40, 28_000), (100, 90_000), (7, 28_000)])
def test_the_results_of_a_step_stay_within_its_room_however_many_there_are(calls: int, size: int):
    room = Room(BATCH_BYTES, calls)
    text, path = "x" * size, f"/home/somebody/.agent-cli/results/20261130-150834-acd4d6/{'c' * 60}.txt"
    outputs = [room.take(Output((Text(text),)), 32_000, lambda _: path, HOW) for _ in range(calls)]
    sizes = [len(text_of(output)) for output in outputs]
    assert sum(sizes) <= BATCH_BYTES
    assert min(sizes) >= LEAST_BYTES
    assert sizes[0] >= 28_000, "the first ones have what they want"


@given(
    st.lists(st.text() | st.integers() | st.dictionaries(st.text(max_size=5), st.text()), min_size=1),
    st.integers(min_value=256, max_value=900),
)
@example(['\\"' * 900], 256)
@example(["\u0001é漢" * 900], 257)
def test_json_that_could_not_be_kept_stays_json_within_its_bound(value: list[object], limit: int):
    text = json.dumps(value, ensure_ascii=False)
    raw = text.encode(errors="replace")
    text = raw.decode()
    (block,) = bound(Output((Text(text),)), limit).for_model
    assert isinstance(block, Text)
    if len(raw) <= limit:
        assert block.text == text
        return
    found = json.loads(block.text)
    assert len(block.text.encode()) <= limit
    assert list(found) == ["truncatedToolResult", "originalBytes", "head", "tail"]
    assert (found["truncatedToolResult"], found["originalBytes"]) == (True, len(raw))
    assert text.startswith(found["head"])
    assert text.endswith(found["tail"])


def test_json_that_was_kept_is_pointed_to_and_an_envelope_is_at_most_50_kib():
    text = json.dumps(["x" * 90] * 2_000)
    assert kept_in(text_of(bound(Output((Text(text),)), 2_000, lambda _: "/r/c1.txt"))) == (
        f"{len(text):,}",
        "/r/c1.txt",
    )
    assert len(text_of(bound(Output((Text(text),)), 100_000))) <= 51_200

"""Each kind of item, at four widths."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from agent_cli.context.breakdown import Share
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Image, Text
from agent_cli.kernel.todo import TodoItem
from agent_cli.talk.changed import Changed
from agent_cli.tui.blocks.call import Call, subject_of
from agent_cli.tui.blocks.changes import Changes
from agent_cli.tui.blocks.code import CHUNK, Code, coloured
from agent_cli.tui.blocks.item import Item
from agent_cli.tui.blocks.markdown import Prose
from agent_cli.tui.blocks.notice import Banner, Ending, Notice
from agent_cli.tui.blocks.opening import Opening
from agent_cli.tui.blocks.operator import Operator
from agent_cli.tui.blocks.reasoning import Reasoning
from agent_cli.tui.blocks.report import Report
from agent_cli.tui.blocks.todo import Todos
from agent_cli.tui.blocks.window_map import WindowMap
from agent_cli.tui.keys import Keys
from agent_cli.tui.queue import queued
from tests.fakes.screen import INK, drawn, rendered
from tests.tui.samples import DIFF, HOSTILE, MARKDOWN, edited, output


def call(result: ev.Output | None = None, name: str = "bash", *, unfolded: bool = False) -> Call:
    card = Call("c1", name)
    card.proposed(
        name, {"timeout": 3, "command": "pytest -q tests/test_parser.py --maxfail=1 -k 'empty or full'"}
    )
    card.to("running")
    if result is not None:
        card.returned(result, 2.13, executed=True)
    if unfolded:
        card.toggle(folded=False)
    return card


def running() -> Call:
    card = call()
    card.say("collecting ...\nfirst\nsec")
    card.say("ond\nthird\nfourth\nfifth line of output")
    return card


def unfolded_reasoning() -> Reasoning:
    thought = Reasoning("They want the test repaired.\n\nThe file comes first, and it is read as a whole.")
    thought.toggle()
    return thought


def code() -> Code:
    made = Code("python")
    made.put(["def load(path: str) -> int:", '    return open(path).read().count("x" * 90)  # 中文'], keep=0)
    return made


SHARES = (Share("system prompt", 2_000), Share("messages", 30_000), Share("results of read_file", 8_000))
TODO = (
    TodoItem("Read the parser and its tests", "done"),
    TodoItem("Mend the empty input, and say in the changelog that it raises from now on", "in_progress"),
    TodoItem("Run the tests", "pending"),
)
CHANGED = Changed(
    (ev.FileDiff("src/parser.py", DIFF, 3, 2),), "since the session began", ("big.bin: too large",)
)
WAITING = [
    Say((Text(f"message {at} that waits, which is long enough to be cut at forty"),)) for at in range(5)
]
QUEUES = {
    "waiting": queued(WAITING[:2], INK, opening=False, key="Alt+Up"),
    "many": queued(WAITING, INK, opening=False, key="Alt+Up"),
    "interrupted": queued(WAITING[:2], INK, opening=False, key="Alt+Up", running=False),
    "opening": queued(WAITING[:1], INK, opening=True),
    "halted": queued(
        WAITING[:1], INK, opening=False, halt="watchdog: The same call five times.", key="Alt+Up"
    ),
}

LOG = "\n".join(f"line {number} of the output" for number in range(40))

SAMPLES: dict[str, Callable[[], Item]] = {
    "opening": lambda: Opening(
        "0.1.0", "~/src/a-rather-long-name-of-a-directory/parser", "scripted-1", Keys()
    ),
    "operator": lambda: Operator((Text("Repair the parser, please.\n\n  - and keep its indentation"),)),
    "operator-long": lambda: Operator((Text("\n".join(f"line {n}" for n in range(60))),)),
    "operator-image": lambda: Operator((Text("What is this?"), Image("image/png", "A" * 40_000))),
    "markdown": lambda: Prose(MARKDOWN),
    "reasoning": lambda: Reasoning("They want the test repaired.\n\nThe file comes first."),
    "reasoning-unfolded": unfolded_reasoning,
    "call-running": running,
    "call-done": lambda: call(output("ok")),
    "call-failed": lambda: call(output(LOG, ok=False)),
    "call-quiet": lambda: call(output(LOG), "read_file"),
    "call-diff": lambda: call(edited(), "edit_file"),
    "call-hostile": lambda: call(output(HOSTILE), HOSTILE),
    "notice": lambda: Notice("The config file .agents/config.json was read.\nNothing in it is unknown."),
    "notice-warning": lambda: Notice("budget of cost: 0.8 of 1 used", "warning"),
    "banner": lambda: Banner(
        "guardrail watchdog stops the turn", "The same call was made five times in a row."
    ),
    "ending": lambda: Ending(["done", "1m 12s", "14 calls", "$0.214"]),
    "ending-cut": lambda: Ending(["stopped: a budget is used up", "1m 12s", "14 calls"], "warning"),
    "operator-picture": lambda: Operator((Text("What is [image b.png 3\xd72]?"), Image("image/png", "AAAA"))),
    "todo": lambda: Todos(TODO),
    "changes": lambda: Changes(CHANGED),
    "window-map": lambda: WindowMap(
        "Context", [("window", "200,000 tokens")], SHARES, (40_000, 200_000, 170_000)
    ),
    "code": code,
    "report": lambda: Report(
        "Context", [("next prompt", "38,000 tokens"), ("", ""), ("window", "200,000 tokens")]
    ),
}


WIDTHS = [40, 80, 120, 200]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_item(name: str, width: int, words: SnapshotAssertion):
    text = rendered(SAMPLES[name](), width)
    assert all(len(line) <= width for line in text.split("\n"))
    assert text == words


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SAMPLES)
def test_item_in_its_colours(name: str, width: int, picture: SnapshotAssertion):
    assert drawn(SAMPLES[name](), width) == picture


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", QUEUES)
def test_queue(name: str, width: int, words: SnapshotAssertion):
    lines = QUEUES[name](width)
    texts = ["".join(segment.text for segment in line).rstrip() for line in lines]
    assert all(len(text) <= width for text in texts)
    assert "\n".join(texts) == words


def test_an_unfolded_call_shows_its_whole_output():
    text = rendered(call(output(LOG), unfolded=True), 80)
    assert "line 20 of" in text
    assert "more lines" not in text


def test_an_endless_output_is_kept_at_both_ends_only():
    card = call(output("a" * 60_000 + "\n" + "b" * 60_000), unfolded=True)
    assert len(card.source()) < 90_000
    assert "characters are not kept here" in card.source()


def test_side_by_side_from_a_certain_width():
    lines = rendered(call(edited(), "edit_file"), 160).split("\n")
    row = next(line for line in lines if "if not tokens:  # nothing" in line)
    assert row.index("-     if not tokens:") < row.index("+     if not tokens:")


def test_what_a_call_is_about():
    assert subject_of({"edits": [1], "path": "a.py"}) == "a.py"
    assert subject_of({"paths": ["a", "b"]}) == ""
    assert subject_of({"limit": 3, "note": "x"}) == "x"
    assert subject_of(None) == ""


def test_a_call_that_never_ran_says_so():
    card = call()
    card.to("denied")
    card.returned(output("The operator said no.", ok=False), 0.0, executed=False)
    assert "✗ bash" in rendered(card, 80)
    assert "denied" in rendered(card, 80)


def test_code_is_plain_while_open_and_coloured_when_closed():
    code = Code("python", open=True)
    code.put(["def f():", "    return 1"], keep=0)
    plain = rendered(code, 80)
    assert len(code.line(1)) == 4
    code.close()
    assert rendered(code, 80) == plain
    assert len(code.line(1)) > 4
    assert {segment.style for segment in code.line(1)} > {INK.fence}


def test_code_grows_at_its_end():
    code = Code(open=True)
    code.put(["one", "tw"], keep=0)
    code.put(["two", "three"], keep=1)
    assert code.source() == "one\ntwo\nthree"
    assert rendered(code, 40).split() == ["one", "two", "three"]


@pytest.mark.parametrize(("count", "told"), [(10, "10 lines"), (1, "1 line"), (0, "")])
def test_a_quiet_card_counts_the_lines_of_the_result_and_not_of_its_summary(count: int, told: str):
    text = "\n".join(f"{number}\tx" for number in range(count))
    card = call(ev.Output((Text(text),), ev.Shown("a summary of one line")), "read_file")
    title = rendered(card, 80)
    assert (f"  {told} · " if told else "…  2.1s") in title


def test_long_lines_of_code_wrap_and_keep_their_blanks():
    code = Code()
    code.put(["x" * 50 + "    y"], keep=0)
    rows = rendered(code, 46).split("\n")[1:]
    assert [len(row.strip()) for row in rows] == [40, 15]


def test_colouring_in_chunks_gives_every_line_once():
    lines = [f"def f{number}():\n    return {number}".split("\n")[number % 2] for number in range(CHUNK * 3)]
    code = Code("python")
    code.put(lines, keep=0)
    height = code.layout(80, INK)
    shown = ["".join(segment.text for segment in code.line(row)).strip() for row in range(1, height)]
    assert shown == [line.strip() for line in lines]


@pytest.mark.parametrize("language", ["python", "c++", "no-such-language", "json", "diff"])
def test_colouring_changes_no_text(language: str):
    lines = ["{", '  "a": 1', "", "}", "\\", "'''"]
    assert ["".join(part.text for part in line) for line in coloured(lines, language, INK)] == lines


def test_entities_cannot_smuggle_control_codes():
    assert "\u202e" not in rendered(Prose("a &#8238;b &#27;[31m"), 80)


def test_a_table_too_wide_for_columns_becomes_records():
    text = rendered(Prose("| a | b | c | d | e |\n|---|---|---|---|---|\n" + "| some text " * 5 + "|"), 30)
    assert "a: some text" in text


def test_odd_markdown_raises_nothing():
    for text in (
        "|",
        "| a |\n|",
        "- ",
        "1.",
        ">",
        "```",
        "#",
        "[x](",
        "**",
        "- - - a",
        "| a |\n|---|\n| b | c |",
        "\\",
    ):
        rendered(Prose(text), 40)
        rendered(Prose(text, open=True), 8)


WIDE_TABLE = "| name | what it is for |\n|---|---|\n| one | " + "a long story about it " * 6 + "THE END |"


def test_a_wide_table_can_be_looked_at_in_its_own_width_and_moved_over():
    table = Prose(WIDE_TABLE)
    fits = rendered(table, 40)
    assert "THE END" not in fits.splitlines()[-1] or fits.count("\n") > 3
    assert table.move_over(1)
    whole = rendered(table, 40)
    assert len(whole.splitlines()) < len(fits.splitlines())
    assert "THE END" not in whole
    assert max(map(len, whole.splitlines())) <= 40
    for _ in range(20):
        table.move_over(1)
        rendered(table, 40)
    assert "THE END" in rendered(table, 40)
    assert not table.move_over(1) or "THE END" in rendered(table, 40)
    for _ in range(30):
        if not table.move_over(-1):
            break
        rendered(table, 40)
    assert rendered(table, 40) == fits


def test_prose_and_an_unmoved_table_stay_as_they_are():
    assert not Prose("some words, and more of them").move_over(1)
    assert not Prose(WIDE_TABLE).move_over(-1)


def test_a_diff_that_is_moved_over_is_one_column_of_whole_lines():
    long = "+" + "x = call(" + ", ".join(f"argument_{at}" for at in range(20)) + ")  # END"
    card = call(
        ev.Output((Text("ok"),), for_human=ev.FileDiff("a.py", f"@@ -1 +1 @@\n-x = 1\n{long}\n", 1, 1)),
        "edit_file",
    )
    fits = rendered(card, 150)
    assert card.move_over(1)
    assert len(rendered(card, 150).splitlines()) <= len(fits.splitlines())
    assert "│" not in rendered(card, 150)
    for _ in range(20):
        card.move_over(1)
        rendered(card, 60)
    assert "# END" in rendered(card, 60)

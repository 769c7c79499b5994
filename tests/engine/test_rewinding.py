"""Back to an earlier message, live and after a restart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Interrupt, Rewind
from agent_cli.kernel.messages import text_of
from agent_cli.kernel.usage import Usage
from agent_cli.ports import Restored, Touches
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import is_fact, open_session, run, say, until
from tests.fakes.tools import FakeTool, never


class Files:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, object]] = []
        self.broken = False

    def wants(self, moment: int, touches: Touches, /) -> bool:
        return ("before", moment, touches.subject) not in self.told

    def before(self, moment: int, touches: Touches, /) -> None:
        if self.broken:
            raise OSError("no room")
        self.told.append(("before", moment, touches.subject))

    def after(self, moment: int, changed: tuple[str, ...] | None, /) -> None:
        self.told.append(("after", moment, changed))

    def moments(self) -> dict[int, int]:
        return {}

    def restore(self, moment: int, /) -> Restored:
        self.told.append(("restore", moment, None))
        return Restored(("/p/a.py",), ("/p/b.py: gone",))


def shown(session: Session) -> list[str]:
    return [text_of(message.parts) for message in session._core.view.messages()]


def message(session: Session, at: int) -> int:
    return session.state.spoken[at].seq


async def two_turns(log: ListLog, **changes: object) -> Session:
    provider = Playing(says("one done"), says("two done"), says("three done"), says("four done"))
    session = open_session(provider, log=log, **changes)
    await run(session, say("one"))
    await run(session, say("two"))
    return session


async def test_the_conversation_goes_on_from_before_that_message() -> None:
    log = ListLog()
    session = await two_turns(log)
    await run(session, Rewind(message(session, 1), "conversation"))
    assert shown(session) == ["one", "one done"]
    assert [spoken.text for spoken in session.state.spoken] == ["one"]
    await run(session, say("three"))
    assert shown(session) == ["one", "one done", "three", "three done"]
    assert [text for text in log.events if isinstance(text, ev.OperatorMessage)][1].content[
        0
    ].text == "two", "nothing was taken out of the log"
    await run(session, Rewind(message(session, 0), "conversation"))
    assert shown(session) == []
    await run(session, say("four"))
    again = open_session(Playing(), log=ListLog(entries=list(log.read())))
    assert shown(again) == shown(session) == ["four", "four done"]


async def test_what_was_cleared_since_is_back() -> None:
    log = ListLog()
    session = await two_turns(log)
    kept = log.rows[-1][0].seq
    log_entry = session._core.record
    log_entry(ev.CompactionPerformed("summary", 100, 10, summary="short", keeps_from=kept))
    await run(session, say("three"))
    assert shown(session)[0].startswith("The conversation so far")
    await run(session, Rewind(message(session, 1), "conversation"))
    assert shown(session) == ["one", "one done"]


async def test_the_size_after_it_is_that_of_the_whole_prompt() -> None:
    """With the system prompt and the tools, and counted as the service counts."""
    tool = FakeTool("read")
    provider = Playing(
        says("one done", usage=Usage(input=3_000, output=10)),
        says("two done", usage=Usage(input=3_100, output=10)),
        says("three done", usage=Usage(input=3_000, output=10)),
    )
    session = open_session(provider, tool, system=lambda started, card: ("You work. " * 900,))
    await run(session, say("one"))
    await run(session, say("two"))
    await run(session, Rewind(message(session, 0), "conversation"))
    assert 2_900 < session.state.context_tokens < 3_110
    assert session.context_used() == (session.state.context_tokens, True)
    assert sum(share.tokens for share in session.shares()) == session.state.context_tokens
    await run(session, say("one"))
    assert session.context_used() == (3_010, False)
    await session.close()


async def test_tools_are_a_part_of_the_size_after_it() -> None:
    long = FakeTool("read")
    long.spec = replace(long.spec, description="It reads. " * 1_000)
    session = open_session(Playing(says("done", usage=Usage(input=2_600, output=10))), long)
    await run(session, say("one"))
    await run(session, Rewind(message(session, 0), "conversation"))
    assert session.context_used()[0] > 2_400
    await session.close()


async def test_what_was_summarized_since_counts_again() -> None:
    log = ListLog()
    provider = Playing(says("w" * 8_000, usage=Usage(input=2_000, output=2_000)), says("done"))
    session = open_session(provider, log=log)
    await run(session, say("one"))
    await run(session, say("two"))
    session._core.record(
        ev.CompactionPerformed("summary", 4_000, 500, summary="short", keeps_from=log.rows[-1][0].seq)
    )
    await run(session, Rewind(message(session, 1), "conversation"))
    assert session.context_used()[0] >= 2_000
    await session.close()


async def test_files_alone() -> None:
    files, log = Files(), ListLog()
    session = await two_turns(log, snapshots=files)
    await run(session, Rewind(message(session, 0), "files"))
    assert files.told == [("restore", 3, None)]
    (event,) = [event for event in log.events if isinstance(event, ev.Rewound)]
    assert (event.restored, event.failed) == (("/p/a.py",), ("/p/b.py: gone",))
    assert shown(session) == ["one", "one done", "two", "two done"]


async def test_calls_that_change_something_are_kept_by_the_message_they_belong_to() -> None:
    files = Files()
    write, read = FakeTool("write", read_only=False), FakeTool("read")
    provider = Playing(wants(("read", {"path": "a"}), ("write", {"path": "b"})), says("done"))
    session = open_session(provider, write, read, snapshots=files)
    await run(session, say("go"))
    seq = message(session, 0)
    assert [(what, at) for what, at, _ in files.told] == [("before", seq), ("after", seq)]


async def test_a_disk_without_room_stops_nothing_and_is_told_once() -> None:
    files, log = Files(), ListLog()
    files.broken = True
    write = FakeTool("write", read_only=False)
    session = open_session(
        Playing(wants(("write", {"path": "a"})), wants(("write", {"path": "a"})), says("done")),
        write,
        snapshots=files,
        log=log,
    )
    await run(session, say("go"))
    assert len(write.ran) == 2
    notes = [event.text for event in log.events if isinstance(event, ev.OperatorNote)]
    assert len([note for note in notes if "/rewind will not restore" in note]) == 1


@pytest.mark.parametrize(
    ("rewind", "told"),
    [
        (Rewind(999, "conversation"), "not rewound: entry 999 is no message of yours"),
        (Rewind(3, "both"), "nothing is kept of the files"),
    ],
)
async def test_what_cannot_be_rewound(rewind: Rewind, told: str) -> None:
    log = ListLog()
    session = await two_turns(log)
    await run(session, rewind)
    assert not [event for event in log.events if isinstance(event, ev.Rewound)]
    assert told in [event.text for event in log.events if isinstance(event, ev.OperatorNote)][-1]


async def test_not_while_a_turn_runs() -> None:
    log = ListLog()
    slow = FakeTool("slow", never)
    session = open_session(Playing(wants(("slow", {"path": "a"})), says("done")), slow, log=log)
    session.send(say("go"))
    await until(session, is_fact(ev.ToolCallStarted))
    session.send(Rewind(3, "conversation"))
    assert (
        "not rewound: a turn is running" in [e.text for e in log.events if isinstance(e, ev.OperatorNote)][-1]
    )
    await session.close()


async def test_the_plan_and_the_list_are_those_of_then() -> None:
    log = ListLog()
    session = await two_turns(log)
    session._core.record(ev.PlanRecorded("plan-1.md", "the plan"))
    await run(session, say("three"))
    session._core.record(ev.PlanRevoked("plan-1.md"))
    await run(session, Rewind(message(session, 2), "conversation"))
    assert session.state.plan == "the plan"
    await run(session, Rewind(message(session, 1), "conversation"))
    assert session.state.plan == ""


async def test_of_a_call_that_was_cut_short_nobody_knows_what_it_changed() -> None:
    log, kept = ListLog(), Files()
    slow = FakeTool("slow", never, read_only=False)
    provider = Playing(wants(("slow", {"path": "a"})), says("done"))
    session = open_session(provider, slow, log=log, snapshots=kept)
    session.send(say("go"))
    await until(session, is_fact(ev.ToolCallStarted))
    await run(session, Interrupt())
    assert [(what, given) for what, _, given in kept.told] == [("before", "a"), ("after", None)]
    await session.close()

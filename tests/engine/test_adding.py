"""Rules that the operator adds while a session runs."""

from __future__ import annotations

import pytest
from msgspec import structs

from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import AddRule
from agent_cli.kernel.errors import ConfigError
from agent_cli.permissions.book import judge
from agent_cli.ports import Facts, PathUse, Touches
from tests.fakes.log import ListLog
from tests.fakes.models import Playing, says, wants
from tests.fakes.sessions import STARTED, open_session, run, say
from tests.fakes.tools import FakeTool

WRITE = ("write_file", {"path": "a"})


class Writes(FakeTool):
    def touches(self, args: object, /) -> Touches:
        return Touches("write", "a", (PathUse("/p/a", "w"),))


def opened(*answers: object, log: ListLog, mode: str = "allow", **changes: object):
    write = Writes("write_file", read_only=False)
    facts = Facts(mode, True, (("/p", "rw"),))  # type: ignore[arg-type]  a parameter of the test
    return open_session(
        Playing(*answers),
        write,
        log=log,
        judge=judge,
        facts=facts,
        started=structs.replace(STARTED, mode=mode),
        **changes,
    ), write


async def test_what_is_allowed_runs_and_what_is_denied_does_not() -> None:
    log = ListLog()
    session, write = opened(
        wants(WRITE), says("1"), wants(WRITE), says("2"), wants(WRITE), says("3"), log=log
    )
    await run(session, say("go"))
    assert write.ran == []
    session.send(AddRule("allow", "write_file:a"))
    await run(session, say("go"))
    assert len(write.ran) == 1
    session.send(AddRule("deny", "write_file"))
    await run(session, say("go"))
    assert len(write.ran) == 1
    assert ev.RuleAdded("deny", "write_file") in log.events
    await session.close()


async def test_a_denial_holds_in_yolo_and_after_a_restart() -> None:
    log, closed = ListLog(), list[str]()
    session, write = opened(log=log, mode="yolo", close=closed.append)
    session.send(AddRule("deny", "write_file"))
    assert closed == ["write_file"]
    await session.close()
    again, write = opened(wants(WRITE), says("ok"), log=log, mode="yolo", close=closed.append)
    await run(again, say("go"))
    assert (write.ran, closed) == ([], ["write_file", "write_file"])
    await again.close()


@pytest.mark.parametrize(
    ("rule", "why"),
    [("  ", "it is empty"), ("wirte_file:a", "write_file meant"), ("bash:a && b*", "no tool bash")],
)
async def test_a_rule_that_could_never_match_is_not_added(rule: str, why: str) -> None:
    log = ListLog()
    session, _ = opened(log=log)
    session.send(AddRule("allow", rule))
    (note,) = [event for event in log.events if isinstance(event, ev.OperatorNote)]
    assert (note.level, why in note.text) == ("error", True)
    assert session.state.grants == ()
    await session.close()


async def test_an_allow_rule_that_a_denial_covers_is_not_added() -> None:
    log = ListLog()
    session, _ = opened(log=log)
    session.send(AddRule("deny", "write_file"))
    session.send(AddRule("allow", "write_file:a"))
    assert (session.state.denials, session.state.grants) == (("write_file",), ())
    await session.close()


async def test_a_rule_is_written_to_config_where_that_is_wanted() -> None:
    log, written = ListLog(), list[tuple[str, str]]()
    session, _ = opened(log=log, remember=lambda rule, verdict: written.append((verdict, rule)))
    session.send(AddRule("deny", "write_file:x", keep=True))
    assert written == [("deny", "write_file:x")]
    assert ev.RuleAdded("deny", "write_file:x", kept=True) in log.events
    await session.close()


async def test_a_rule_that_cannot_be_written_holds_for_the_session() -> None:
    def broken(rule: str, verdict: str) -> None:
        raise ConfigError("disk full")

    log = ListLog()
    session, _ = opened(log=log, remember=broken)
    session.send(AddRule("allow", "write_file:x", keep=True))
    assert ev.RuleAdded("allow", "write_file:x") in log.events
    assert ev.OperatorNote("disk full", "error") in log.events
    await session.close()

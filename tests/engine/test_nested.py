"""Instructions of a directory join when something there is first touched, and again when they are gone or changed."""

from __future__ import annotations

from agent_cli.context.system import Instructions
from agent_cli.engine.session import Session
from agent_cli.kernel import events as ev
from agent_cli.kernel.errors import ConfigError
from agent_cli.kernel.messages import Prompt, Text
from tests.fakes.log import ListLog
from tests.fakes.models import CARD, OneModel, Playing, says, wants
from tests.fakes.sessions import open_session, run, say
from tests.fakes.tools import FakeTool


class Places:
    """Instructions by the beginnings of paths."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts

    def nested(self, path: str) -> tuple[Instructions, ...]:
        return tuple(
            Instructions(f"/p/{name}/AGENTS.md", text)
            for name, text in self.texts.items()
            if path.startswith(f"/p/{name}/")
        )


def opened(
    places: Places, *answers: object, log: ListLog | None = None, **changes: object
) -> tuple[Session, Playing]:
    provider = Playing(*answers)
    read = FakeTool("read_file")
    return open_session(
        provider, read, log=log if log is not None else ListLog(), nested=places.nested, **changes
    ), provider


def reads(path: str) -> object:
    return wants(("read_file", {"path": path}))


def told(prompt: Prompt) -> list[str]:
    """What we said, by its last line."""
    parts = [part for message in prompt.messages for part in message.parts if isinstance(part, Text)]
    return [part.text.rpartition("\n")[2] for part in parts if part.text.startswith("Instructions from ")]


async def test_they_join_with_the_next_step_and_once():
    session, provider = opened(
        Places(src="Mind the tabs."), reads("a.txt"), reads("src/b.py"), reads("src/c.py"), says("ok")
    )
    await run(session, say("look"))
    assert [told(prompt) for prompt in provider.asked] == [[], [], ["Mind the tabs."], ["Mind the tabs."]]
    assert session.state.joined == {"/p/src/AGENTS.md": 88}
    text = next(part.text for part in provider.asked[2].messages[-1].parts if isinstance(part, Text))
    assert text.startswith("Instructions from /p/src/AGENTS.md:\n\nThese hold for what lies in /p/src.\n\n")


async def test_a_resumed_session_has_them_already_and_gets_what_changed():
    log, places = ListLog(), Places(src="Mind the tabs.")
    session, _ = opened(places, reads("src/b.py"), says("ok"), log=log)
    await run(session, say("look"))
    await session.close()
    session, provider = opened(places, reads("src/b.py"), says("ok"), log=log)
    await run(session, say("again"))
    assert told(provider.asked[-1]) == ["Mind the tabs."]
    places.texts["src"] = "Mind the spaces."
    session, provider = opened(places, reads("src/b.py"), says("ok"), log=log)
    await run(session, say("and again"))
    assert told(provider.asked[-1]) == ["Mind the tabs.", "Mind the spaces."]


async def test_what_a_reduction_took_away_joins_again():
    log, places = ListLog(), Places(src="Mind the tabs.")
    session, _ = opened(places, reads("src/b.py"), says("ok"), log=log)
    await run(session, say("look"))
    session._core.record(ev.CompactionPerformed("summary", 9, 1, summary="We looked.", keeps_from=99))
    await session.close()
    session, provider = opened(places, says("well"), reads("src/b.py"), says("ok"), log=log)
    await run(session, say("on"))
    assert told(provider.asked[-1]) == []
    await run(session, say("look"))
    assert told(provider.asked[-1]) == ["Mind the tabs."]


async def test_what_is_wrong_in_them_is_told_once_and_stops_nothing():
    def broken(path: str) -> tuple[Instructions, ...]:
        raise ConfigError("/p/src/AGENTS.md: there is no such file")

    log = ListLog()
    provider = Playing(reads("src/b.py"), reads("src/c.py"), says("ok"))
    session = open_session(provider, FakeTool("read_file"), log=log, nested=broken)
    await run(session, say("look"))
    notes = [event for event in log.events if isinstance(event, ev.OperatorNote)]
    assert notes == [ev.OperatorNote("/p/src/AGENTS.md: there is no such file", "warning")]


async def test_a_small_model_is_spared_them():
    card = CARD.__class__(
        **{**{name: getattr(CARD, name) for name in CARD.__struct_fields__}, "profile": "compact"}
    )
    provider = Playing(reads("src/b.py"), says("ok"))
    model = OneModel(provider).open(CARD.id)._replace(card=card)
    session = open_session(
        provider, FakeTool("read_file"), model=model, nested=Places(src="Mind the tabs.").nested
    )
    await run(session, say("look"))
    assert [told(prompt) for prompt in provider.asked] == [[], []]

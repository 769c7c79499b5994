"""What a client reads: sessions, their events, guardrails, spending, tools; and how the server is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from agent_cli import __version__
from agent_cli.kernel.events import Entry, Event
from agent_cli.kernel.records import fact_of, line_of, preview_of
from agent_cli.server import views
from agent_cli.server.call import Answer, Call, Stream
from agent_cli.server.door import Looked
from agent_cli.server.following import follow, recorded
from agent_cli.server.hosted import Hosted
from agent_cli.server.page import page
from agent_cli.server.problems import Refused

STILL_HERE = b": still here\n\n"


async def sessions(call: Call) -> Answer:
    hosting = call.hosting
    limit = _number(call, "limit", 200)
    known = [each for each in await hosting.listed() if call.token.sees(each.id)]
    rows = [views.listed(each, hosting.peek(each.id)) for each in known[:limit]]
    return Answer({"sessions": rows, "total": len(known)})


async def session(call: Call) -> Answer:
    wanted = call.session
    known = await call.hosting.known(wanted)
    found = await _found(call, wanted)
    return Answer(views.opened(known, found) if isinstance(found, Hosted) else views.closed(known, found))


async def guardrails(call: Call) -> Answer:
    found = await _found(call, call.session)
    if isinstance(found, Hosted):
        return Answer(views.guardrails_of(found))
    return Answer(views.guardrails(found.standing, found.state))


async def usage(call: Call) -> Answer:
    found = await _found(call, call.session)
    return Answer(views.usage(found.door.state if isinstance(found, Hosted) else found.state))


async def tools(call: Call) -> Answer:
    """The session is opened for it: its tools depend on its model and its directory."""
    async with call.hosting.at(call.session) as hosted:
        return Answer(
            {"session": hosted.door.id, "tools": [views.tool(spec) for spec in hosted.door.tools()]}
        )


async def _found(call: Call, wanted: str) -> Hosted | Looked:
    """As it stands: open here, else as its log says, whoever writes that. Nothing is opened."""
    hosted = call.hosting.peek(wanted)
    if hosted is not None:
        return hosted
    await call.hosting.known(wanted)
    return await asyncio.to_thread(call.hosting.archive.look, wanted)


async def events(call: Call) -> Stream:
    """Server-sent events: the id of a fact is its seq. Goes on behind `since`, or behind the id that was seen last."""
    wanted = call.session
    await call.hosting.known(wanted)
    seen = call.headers.get("last-event-id", "")
    since = int(seen) if _is_number(seen) else _number(call, "since", 0)
    if call.counters.streams >= call.hosting.terms.streams:
        raise Refused(
            503,
            "too-many-streams",
            f"{call.counters.streams} event streams are followed, and no more are (serve.streams).",
            retry_after=10,
        )
    decides, goes_on = call.token.may("write"), _number(call, "follow", 1) > 0
    found = (
        follow(call.hosting, wanted, since, decides=decides)
        if goes_on
        else recorded(call.hosting, wanted, since)
    )
    return Stream(_frames(call, wanted, found), STILL_HERE, "text/event-stream")


async def _frames(
    call: Call, wanted: str, followed: AsyncGenerator[Event, None]
) -> AsyncGenerator[bytes, None]:
    place: dict[str, Any] = {"session": wanted, "turn": 0, "step": 0}
    call.counters.streams += 1
    try:
        yield b": this is the log, then what comes\n\n"
        async for event in followed:
            if isinstance(event, Entry) and not event.branch:
                place = {"session": event.session, "turn": event.turn, "step": event.step}
            yield frame(event, place)
    finally:
        call.counters.streams -= 1
        await followed.aclose()


def frame(event: Event, place: dict[str, Any]) -> bytes:
    """A preview has no id, so that who comes back asks for what came behind the last fact."""
    if isinstance(event, Entry):
        record = fact_of(event)
        return f"id: {event.seq}\nevent: {record['type']}\ndata: {line_of(record)}\n".encode()
    record = preview_of(event, place)
    return f"event: {record['type']}\ndata: {line_of(record)}\n".encode()


def _number(call: Call, name: str, default: int) -> int:
    said = call.query.get(name)
    if said is None:
        return default
    if not _is_number(said):
        raise Refused(
            422, "query", f"`{name}` must be a whole number that is not negative, and is '{said[:40]}'."
        )
    return int(said)


def _is_number(said: str) -> bool:
    return said.isascii() and said.isdigit() and len(said) < 16


async def health(call: Call) -> Answer:
    status = "stopping" if call.hosting.stopping else "ok"
    return Answer({"status": status, "version": __version__}, 503 if call.hosting.stopping else 200)


async def web_page(call: Call) -> Answer:
    found = page()
    policy = (("content-security-policy", found.policy),)
    return Answer(found.text, content_type="text/html; charset=utf-8", headers=policy)


async def metrics(call: Call) -> Answer:
    if call.token.sessions:
        raise Refused(
            403, "scope", f"'{call.token.name}' is for single sessions, and these figures are of all."
        )
    text = call.counters.text(call.hosting.hosted)
    return Answer(text, content_type="text/plain; version=0.0.4; charset=utf-8")

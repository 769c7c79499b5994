"""What a client asks of a session: messages, decisions, interrupts, reductions, resets."""

from __future__ import annotations

from agent_cli.guardrails.halts import refused
from agent_cli.kernel import commands as do
from agent_cli.kernel import orders
from agent_cli.server import views
from agent_cli.server.bodies import Clear, Decision, Done, Focus, Inject, NewSession
from agent_cli.server.call import Answer, Call
from agent_cli.server.door import Wish
from agent_cli.server.hosted import Hosted
from agent_cli.server.problems import Refused

LOOSE = ("allow", "yolo")
"""Modes in which much runs without an approval."""


async def begin(call: Call) -> Answer:
    asked = call.of(NewSession)
    if call.token.sessions:
        raise Refused(403, "scope", f"'{call.token.name}' is for single sessions, and begins none.")
    if call.hosting.only is not None:
        raise Refused(403, "one-session", "This server serves one session, and begins no other.")
    if asked.permission_mode in LOOSE:
        call.need("admin", f"A session in mode {asked.permission_mode}")
    wish = Wish(asked.cwd, asked.model, asked.name, asked.permission_mode)
    if asked.message is not None:
        _spoken(asked.message)
    hosted = await call.hosting.begin(wish)
    with hosted.used():
        if asked.message is not None:
            hosted.say(asked.message, "steer")
        session = hosted.door.id
        told = views.opened(await call.hosting.known(session), hosted)
    return Answer(told, 201, headers=(("location", f"/sessions/{session}"),))


async def inject(call: Call) -> Answer:
    """200 also where it waits: `queued` says so, and `halt` why no turn takes it."""
    asked = call.of(Inject)
    _spoken(asked.message)
    async with call.hosting.at(call.session) as hosted:
        seq = hosted.say(asked.message, asked.when)
        state = hosted.door.state
        queued = seq in state.waiting
        halt = views.halt_of(hosted.door.halts(), hosted.door.id) if queued else None
        return Answer(
            {
                "session": hosted.door.id,
                "seq": seq,
                "queued": queued,
                "waiting": len(state.waiting),
                "turn": state.turn,
                "running": state.running,
                "halt": halt,
            }
        )


def _spoken(message: str) -> None:
    if not message.strip():
        raise Refused(422, "body", "`message` holds nothing but blanks: there is nothing to say.")


async def interrupt(call: Call) -> Answer:
    """A session that is not open here has no turn that could be stopped from here."""
    session = call.session
    hosted = call.hosting.peek(session)
    if hosted is None:
        await call.hosting.known(session)
        await _mine(call, session)
        return Answer({"session": session, "interrupted": False, "waiting": None})
    with hosted.used():
        running = hosted.door.state.running
        hosted.door.send(do.Interrupt())
        return Answer({"session": session, "interrupted": running, "waiting": len(hosted.door.state.waiting)})


async def _mine(call: Call, session: str) -> None:
    """Raises Refused where another process has it."""
    import asyncio

    if holder := await asyncio.to_thread(call.hosting.archive.holder, session):
        raise Refused(
            409,
            "session-locked",
            f"Session '{session}' is open in {holder}. Only one process writes a session: go on there or end it.",
            held_by=holder,
        )


async def decide(call: Call) -> Answer:
    asked, session, call_id = call.of(Decision), call.session, call.place["approval"]
    if asked.scope == "always":
        call.need("admin", "An approval that lasts (scope always)")
    hosted = call.hosting.peek(session)
    if hosted is None:
        await call.hosting.known(session)
        await _mine(call, session)
        raise _no_approval(call_id)
    with hosted.used():
        request = hosted.door.state.pending.get(call_id)
        if request is None:
            raise _no_approval(call_id)
        if asked.edit and not request.editable:
            raise Refused(
                422, "not-editable", f"What {request.tool} asks for cannot be changed: leave `edit` out."
            )
        allowed = asked.decision == "approve"
        hosted.door.send(do.Answer(call_id, allowed, asked.scope, asked.message, asked.edit))
        return Answer({"session": session, "approval": call_id, "tool": request.tool, "allowed": allowed})


def _no_approval(call_id: str) -> Refused:
    return Refused(
        404,
        "no-approval",
        f"No approval waits for a decision about '{call_id}': it was decided, its turn ended, or there never was one. "
        "`pending_approvals` of the session lists those that wait.",
    )


async def order(call: Call) -> Answer:
    """Anything that a driven session takes, by the same names."""
    asked = call.body
    if isinstance(asked, orders.Message | orders.End):
        raise Refused(
            422, "body", "A message is said with POST …/inject, and a session ends with its server."
        )
    _may(call, asked)
    async with call.hosting.at(call.session) as hosted:
        if isinstance(asked, do.Reset):
            _enough(hosted, asked)
        if isinstance(asked, do.Answer) and asked.call_id not in hosted.door.state.pending:
            raise _no_approval(asked.call_id)
        since = hosted.door.state.seq
        hosted.door.send(asked)
        return Answer({"session": hosted.door.id, "accepted": True, "since": since}, 202)


def _may(call: Call, asked: do.Command) -> None:
    """Raises Refused where it lasts, or loosens much, and the token is not for that."""
    match asked:
        case do.SetMode(mode) if mode in LOOSE:
            call.need("admin", f"Mode {mode}")
        case do.AddRule(verdict=verdict, keep=keep) if keep or verdict == "allow":
            call.need("admin", "A permission rule")
        case do.Answer(scope="always"):
            call.need("admin", "An approval that lasts (scope always)")
        case _:
            pass  # the rest is what a token of scope write is for


async def compact(call: Call) -> Answer:
    asked = call.of(Focus)
    async with call.hosting.at(call.session) as hosted:
        return _between_turns(hosted, do.Compact(asked.focus))


async def checkpoint(call: Call) -> Answer:
    asked = call.of(Done)
    async with call.hosting.at(call.session) as hosted:
        return _between_turns(hosted, do.Checkpoint(asked.note))


def _between_turns(hosted: Hosted, order: do.Compact | do.Checkpoint) -> Answer:
    """It takes a while: what came of it is an event after `since`."""
    state = hosted.door.state
    if state.running:
        raise Refused(
            409, "turn-in-flight", "A turn is running, and this is done between turns: interrupt it, or wait."
        )
    if not state.turn:
        raise Refused(
            409, "nothing-said", "Nothing was said in this session yet, so there is nothing to reduce."
        )
    since = state.seq
    hosted.door.send(order)
    return Answer({"session": hosted.door.id, "accepted": True, "since": since}, 202)


async def reset(call: Call) -> Answer:
    """What waits drives the first turn after it."""
    asked = call.of(Clear)
    async with call.hosting.at(call.session) as hosted:
        clear = do.Reset(asked.guardrail, asked.additional_budget_usd)
        _enough(hosted, clear)
        hosted.door.send(clear)
        return Answer({**views.guardrails_of(hosted), "running": hosted.door.state.running})


def _enough(hosted: Hosted, clear: do.Reset) -> None:
    """Raises Refused where the session would be halted again at once."""
    door = hosted.door
    least = refused(door.halts(), clear.guardrail, clear.added_usd)
    if least:
        raise Refused(
            409,
            "would-trip-again",
            "nothing is reset: spent dollars stay spent, so the next turn would trip again at once. Add at least "
            f"${least:.2f}: {views.how_to_reset(door.id, 'cost_ceiling', least)}.",
            guardrail="cost_ceiling",
            additional_budget_usd=least,
            given_usd=clear.added_usd,
        )

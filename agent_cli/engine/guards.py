"""Where checks stand in a turn: results on their way in, calls before any of a batch runs, answers on their way out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from agent_cli.engine.cleaning import SECRETS, finding
from agent_cli.engine.inquiry import Inquiry, Named
from agent_cli.engine.parts import Parts
from agent_cli.engine.state import State
from agent_cli.guardrails.checks.check import Act, Check, Content, Found, SlowCheck, Subject, Surface, worst
from agent_cli.guardrails.checks.past import texts_of
from agent_cli.guardrails.checks.rules import Bypass
from agent_cli.guardrails.checks.stops import Down, Held
from agent_cli.guardrails.secrets.scrub import scrubbed
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.kernel.wire import is_object
from agent_cli.ports import Effect, Touches

log = logging.getLogger("agent_cli.engine")

Within: TypeAlias = Callable[[ev.Output], ev.Output]
"""A result within the room that it has in the conversation."""

BLOCKED = "Refused by the guardrail {check}: {message}. The call was not executed; find another way, or ask the user."
KEPT_OUT = "[The result was kept out of the conversation by the guardrail {check}: {message}.]"
UNASKED = "[The result was kept out of the conversation: it could not be inspected, since {reason}.]"
SAID = "[Withheld by the guardrail {check}: {message}.]"
UNSAID = "[Withheld: it could not be inspected, since {reason}.]"


class Guarded(Protocol):
    """What a core is to its guards."""

    parts: Parts
    state: State

    @property
    def root(self) -> Guarded: ...

    @property
    def stop(self) -> object: ...

    def record(self, event: ev.Recorded) -> ev.Entry: ...

    def cut(self, stop: Held | Down) -> None: ...


class Guards:
    """Of one session or subtask. What stops the turn is put into the core, and everything found into the log."""

    def __init__(self, core: Guarded, above: Guards | None) -> None:
        self._core = core
        self._inquiry: Inquiry = above.inquiry if above else Inquiry(core.parts.clock, core.parts.armed)
        self._checks: dict[Surface, tuple[Check | SlowCheck, ...]] | None = None

    @property
    def inquiry(self) -> Inquiry:
        return self._inquiry

    # ── actions ──

    async def acts(self, proposed: Sequence[tuple[ToolCall, Any, Touches]]) -> dict[str, ev.Output]:
        """Looks at all of a batch before any of it runs. Gives the results of those that may not, by id."""
        refused: dict[str, ev.Output] = {}
        past, whole = self._core.state.past, self._core.root.state.past
        for call, args, touches in proposed:
            act = act_of(call, args, touches)
            past.within(whole)
            named = await self._ask("action", act)
            if named is None:
                return refused
            if named.found.severity != "warn":
                told = BLOCKED.format(check=named.check, message=named.found.message)
                refused[call.call_id] = ev.Output((Text(told),), ok=False)
            else:
                for each in (whole,) if past is whole else (whole, past):
                    each.does(call.name, _written(act), touches.deletes or 0)
        return refused

    # ── contents ──

    async def enters(self, call: ToolCall, effect: Effect, output: ev.Output, within: Within) -> ev.Output:
        """A result as the model may read it. Checks are asked about what enters, not about the rest that is kept aside:
        whoever reads that later reads it through a tool, and a flood of output takes no check out of its time.
        """
        clean = self._clean(call, output)
        if clean is None:
            return _instead(output, UNASKED.format(reason=f"the check {SECRETS} is unavailable"))
        clean = within(clean)
        content = Content(call.name, effect, _text_of(clean), call.call_id)
        if not content.text:
            return clean
        named = await self._ask("input", content)
        stop = self._stopped
        if named is None:
            reason = stop.reason if stop is not None else ""
            return _instead(
                clean, UNASKED.format(reason=reason) if isinstance(stop, Down) else _kept_out(stop)
            )
        if named.found.severity != "warn":
            return _instead(clean, KEPT_OUT.format(check=named.check, message=named.found.message))
        return _labelled(clean, named.found.label) if named.found.label else clean

    def cut_short(self, call: ToolCall, effect: Effect, output: ev.Output, within: Within) -> ev.Output:
        """The same for what a call had when it was cancelled: nothing is waited for any more."""
        clean = self._clean(call, output)
        checks = self._of("input")
        if clean is None or any(isinstance(check, SlowCheck) and check.gates for check in checks):
            return _instead(output, UNASKED.format(reason="the turn was stopped"))
        clean = within(clean)
        content, label = Content(call.name, effect, _text_of(clean), call.call_id), ""
        for check in checks:
            if isinstance(check, SlowCheck):
                continue
            found, down = self._inquiry.quick(check, content, self._core.state.past)
            if down is not None:
                return _instead(output, UNASKED.format(reason=down.reason))
            if found is not None:
                told = ev.GuardrailFinding(check.name, "input", found.severity, found.message, call.call_id)
                self._core.record(told)
                if found.severity != "warn":
                    return _instead(output, KEPT_OUT.format(check=check.name, message=found.message))
                label = label or found.label
        return _labelled(clean, label) if label else clean

    async def leaves(self, text: str) -> str:
        """A piece of what the model says, as it may be shown."""
        if not text.strip() or not self._of("output"):
            return text
        named = await self._ask("output", Content("", "none", text))
        stop = self._stopped
        if named is None:
            return UNSAID.format(reason=stop.reason) if isinstance(stop, Down) else _said(stop)
        if named.found.severity != "warn":
            return SAID.format(check=named.check, message=named.found.message)
        return text

    @property
    def gated(self) -> bool:
        """Whether nothing of an answer may be shown before it was looked at."""
        armed = self._core.parts.armed
        return armed.gate or any(check.surface == "output" for check in armed.own)

    def report(self) -> None:
        """What was asked in this turn, and how long it took."""
        rows = self._inquiry.rows()
        if rows:
            self._core.record(ev.GuardrailChecked(rows))

    # ── asking ──

    async def _ask(self, surface: Surface, subject: Subject) -> Named | None:
        """The worst that was found, `_NOTHING` for nothing; None where the turn ends here."""
        core, call_id = self._core, subject.call_id
        found, down = await self._inquiry.ask(self._of(surface), subject, core.state.past)
        for bypass, where in self._inquiry.stepped():
            core.record(ev.GuardrailFinding(bypass.check, where, "warn", stepped_around(bypass), call_id))
        for check, each in found:
            core.record(ev.GuardrailFinding(check, surface, each.severity, each.message, call_id))
        most = worst([each.found for each in found])
        named = next((each for each in found if each.found is most), None)
        if down is not None and (named is None or named.found.severity == "warn"):
            core.record(ev.GuardrailFinding(down.check, surface, "block", down.reason, call_id))
            self._cut(down)
            return None
        if named is not None and named.found.severity == "halt":
            self._cut(Held(named.check, surface, named.found.message))
            return None
        return named or _NOTHING

    @property
    def _stopped(self) -> Held | Down | None:
        stop = self._core.stop
        return stop if isinstance(stop, Held | Down) else None

    def _cut(self, stop: Held | Down) -> None:
        """What a check stops in a subtask stops what that works for, too."""
        self._core.cut(stop)
        self._core.root.cut(stop)

    def _clean(self, call: ToolCall, output: ev.Output) -> ev.Output | None:
        """Without secrets; None where it could not be looked through."""
        core = self._core
        if not core.parts.armed.redact:
            return output
        times, began = self._inquiry.times(SECRETS, "input"), core.parts.clock.monotonic()
        try:
            clean, kinds = scrubbed(output)
        except Exception as problem:
            log.exception("a result could not be looked through for secrets")
            times.missing += 1
            down = Down(SECRETS, "input", f"{type(problem).__name__}: {problem}")
            core.record(ev.GuardrailFinding(SECRETS, "input", "block", down.reason, call.call_id))
            self._cut(down)
            return None
        times.took(core.parts.clock.monotonic() - began)
        told = finding(ev.ToolReturned(call.call_id, call.name, clean), kinds) if kinds else None
        if told is not None:
            times.found += 1
            core.record(told)
        return clean

    def _of(self, surface: Surface) -> tuple[Check | SlowCheck, ...]:
        if surface == "output" and not self._core.parts.armed.own:
            return ()  # none of ours looks at answers
        if self._checks is None:
            from agent_cli.guardrails.checks.book import book  # with the first call, not with the start
            from agent_cli.permissions.secrets import looks_secret

            every = book(self._core.parts.armed, looks_secret)
            quick = [check for check in every if not isinstance(check, SlowCheck)]
            slow = [check for check in every if isinstance(check, SlowCheck)]
            self._checks = {
                each: tuple(check for check in (*quick, *slow) if check.surface == each)
                for each in ("input", "action", "output")
            }
        return self._checks[surface]


def act_of(call: ToolCall, args: Any, touches: Touches) -> Act:
    """A call as checks see it; `args` are its arguments as they were read, or as the operator changed them."""
    said: Any = msgspec.to_builtins(args) if isinstance(args, msgspec.Struct | dict) else call.arguments
    texts = tuple(texts_of(said))
    lines = [touches.command or "", *_nested(said)]
    command = "\n".join(line for line in lines if line)
    return Act(
        call_id=call.call_id,
        tool=call.name,
        effect=touches.effect,
        subject=touches.subject,
        text=json.dumps(said, sort_keys=True, default=str, ensure_ascii=False),
        texts=texts,
        paths=touches.paths,
        command=command,
        commands=_commands(command) if command else (),
        hosts=touches.hosts,
        deletes=touches.deletes,
        reads=bool(command) and _reads(command),
    )


def stepped_around(bypass: Bypass) -> str:
    from datetime import datetime  # a bypass is rare

    until = datetime.fromtimestamp(bypass.until).astimezone().isoformat(timespec="minutes")
    return f"not asked about {bypass.tool} until {until}, by {bypass.owner}: {bypass.reason}"


def _commands(line: str) -> tuple[tuple[str, ...], ...]:
    """Each command that can be made out, also behind `sudo`, `env` and their like."""
    from agent_cli.permissions.shell import unwrapped
    from agent_cli.permissions.variables import segments

    found: list[tuple[str, ...]] = []
    for segment in segments(line):
        found += unwrapped(segment.words)
        found += [("cat", source) for source in segment.sources]
    return tuple(dict.fromkeys(found))


def _reads(line: str) -> bool:
    from agent_cli.permissions.rules import allows_line

    return allows_line((), line) is not None


def _nested(said: Any) -> list[str]:
    """Shell lines in the arguments of a tool that runs another one."""
    inner = said.get("check") if is_object(said) else None
    arguments = (inner.get("args") or inner.get("arguments")) if is_object(inner) else None
    command = arguments.get("command") if is_object(arguments) else None
    return [command] if isinstance(command, str) else []


def _written(act: Act) -> int:
    from agent_cli.guardrails.checks.conduct import written_by

    return written_by(act)


def _text_of(output: ev.Output) -> str:
    return "\n".join(block.text for block in output.for_model if isinstance(block, Text))


def _labelled(output: ev.Output, label: str) -> ev.Output:
    return msgspec.structs.replace(output, for_model=(Text(label), *output.for_model))


def _instead(output: ev.Output, told: str) -> ev.Output:
    """The result without anything of its content; what it changed stays told."""
    return ev.Output((Text(told),), ok=False, changed=output.changed, restless=output.restless)


def _kept_out(stop: object) -> str:
    return KEPT_OUT.format(check=stop.check, message=stop.message) if isinstance(stop, Held) else KEPT_OUT


def _said(stop: object) -> str:
    return SAID.format(check=stop.check, message=stop.message) if isinstance(stop, Held) else SAID


_NOTHING = Named("", Found("warn", ""))

"""What a hook said: its exit code and its answer, and what several of them come to."""

from __future__ import annotations

import difflib
from typing import Any, Literal

import msgspec

from agent_cli.hooks.hook import Hook, HookEvent
from agent_cli.kernel.values import Plain

BLOCK = 2
"""The exit code that blocks."""
LONGEST = 16_000
"""Characters of what one hook tells the model."""
CUT = "\n[… cut here: the hook wrote {size:,} bytes …]"
TEXTUAL: tuple[HookEvent, ...] = ("session-start", "prompt-submit")
"""Where all that a hook prints is for the model, unless it is an answer."""
DECIDES: tuple[HookEvent, ...] = ("pre-tool", "permission-request")


class Ran(Plain, frozen=True):
    """How a program ended. `code` is None where it was stopped or never began, and `problem` says why.

    `size` is bytes of all that it printed; with `cut`, `out` is the beginning of it.
    """

    code: int | None
    out: str = ""
    err: str = ""
    problem: str = ""
    size: int = 0
    cut: bool = False


class Answer(Plain, frozen=True, forbid_unknown_fields=True):
    """The JSON object that a hook may print."""

    version: int = 1
    permission: Literal["allow", "ask", "deny"] | None = None
    reason: str = ""
    arguments: dict[str, Any] | None = None
    context: str = ""


class Verdict(Plain, frozen=True):
    """Of one hook. `failed` says why it does not count."""

    blocked: str | None = None
    answer: Answer = Answer()
    failed: str = ""


class Heard(Plain, frozen=True):
    """Of all hooks of one event. `by` names the hook that blocked or decided; `arguments` are the last ones that were
    given, by `changed`. `contexts` are texts for the model with the hook that gave each.

    `failures` are lines for the operator.
    """

    blocked: str | None = None
    permission: Literal["allow", "ask", "deny"] | None = None
    reason: str = ""
    by: str = ""
    arguments: dict[str, Any] | None = None
    changed: str = ""
    contexts: tuple[tuple[str, str], ...] = ()
    failures: tuple[str, ...] = ()


DECIDING = '"permission"'
BESIDE = "what it printed may decide a permission and cannot be read: it has to be one JSON object, with nothing before it"


def verdict(event: HookEvent, ran: Ran) -> Verdict:
    """What one run of a hook says."""
    if ran.code is None:
        return Verdict(failed=ran.problem)
    if ran.code == BLOCK:
        return Verdict(blocked=_cut(ran.err.strip() or ran.out.strip()) or "it gave no reason")
    if ran.code:
        told = (ran.err.strip() or ran.out.strip()).splitlines()
        return Verdict(failed=f"it ended with {ran.code}{f': {told[-1][:300]}' if told else ''}")
    out = ran.out.removeprefix("\ufeff").strip()
    if not out.startswith("{"):
        if event in DECIDES and (ran.cut or DECIDING in out.replace("\0", "")):
            return Verdict(failed=BESIDE)
        return Verdict(answer=Answer(context=_cut(out, ran.size) if event in TEXTUAL else ""))
    if ran.cut:
        return Verdict(failed=f"its answer is too long: {ran.size:,} bytes")
    return _answered(event, out)


def _answered(event: HookEvent, out: str) -> Verdict:
    try:
        answer = msgspec.json.decode(out.encode(errors="replace"), type=Answer)
    except msgspec.DecodeError as problem:  # also where it is JSON of another shape
        return Verdict(failed=f"its answer cannot be read: {problem}{_near(str(problem))}")
    if answer.permission and event not in DECIDES:
        return Verdict(failed=f"its answer decides a permission, which {event} does not ask for")
    if answer.arguments is not None and event != "pre-tool":
        return Verdict(failed=f"its answer has arguments, which {event} does not take")
    return Verdict(answer=msgspec.structs.replace(answer, context=_cut(answer.context)))


def _near(problem: str) -> str:
    name = problem.partition("unknown field `")[2].partition("`")[0]
    near = difflib.get_close_matches(name, Answer.__struct_fields__, n=1) if name else []
    return f"; did you mean `{near[0]}`?" if near else ""


def _cut(text: str, size: int = 0) -> str:
    text = text.strip()
    if len(text) <= LONGEST:
        return text
    return text[:LONGEST] + CUT.format(size=max(size, len(text.encode(errors="replace"))))


STRICT = {None: 0, "allow": 1, "ask": 2, "deny": 3}


def joined(heard: Heard, hook: Hook, said: Verdict) -> Heard:
    """With what one more hook said. Of decisions the strictest counts; a gate that failed blocks."""
    name = hook.called
    if said.failed:
        failures = (*heard.failures, f"the hook '{name}' ({hook.event}) failed: {said.failed}")
        heard = msgspec.structs.replace(heard, failures=failures)
        if not hook.gate:
            return heard
        return msgspec.structs.replace(heard, blocked=f"it is a gate and failed: {said.failed}", by=name)
    if said.blocked is not None:
        return msgspec.structs.replace(heard, blocked=said.blocked, by=name)
    answer = said.answer
    if STRICT[answer.permission] > STRICT[heard.permission]:
        heard = msgspec.structs.replace(
            heard, permission=answer.permission, reason=_cut(answer.reason), by=name
        )
    if answer.arguments is not None:
        heard = msgspec.structs.replace(heard, arguments=answer.arguments, changed=name)
    if answer.context:
        heard = msgspec.structs.replace(heard, contexts=(*heard.contexts, (name, answer.context)))
    return heard


def is_over(heard: Heard) -> bool:
    """Whether no hook behind it is asked any more."""
    return heard.blocked is not None or heard.permission == "deny"


def told(event: HookEvent, name: str, text: str) -> str:
    """As the model reads it: marked as of a hook, so that it is neither the operator's word nor a tool's."""
    return f'<hook name="{name}" event="{event}">\n{text}\n</hook>'

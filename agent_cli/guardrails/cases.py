"""Recorded behaviour in a neutral form: names and digests only, no text of anybody's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from agent_cli.guardrails.arguments import spelled
from agent_cli.guardrails.watch import WAITING, Watch
from agent_cli.kernel.messages import ToolCall
from agent_cli.ports import Alert, Called, Came, Signal


class CaseResult(msgspec.Struct, frozen=True):
    """`digest` is of all of it, `nd` without times, hashes and numbers; `bytes` is its size."""

    digest: str
    nd: str = ""
    bytes: int = 0
    error: bool = False
    empty: bool = False
    noop: bool = False
    denied: bool = False


class CaseCall(msgspec.Struct, frozen=True):
    """`mut` says that it may have changed files, `poll` that it waits for something; `result` None is unknown."""

    name: str
    args: dict[str, Any] = {}
    kind: str = "other"
    shell: dict[str, Any] | None = None
    result: CaseResult | None = None
    mut: bool = False
    poll: bool = False


class CaseStep(msgspec.Struct, frozen=True):
    """`text` says whether the model said something before its calls."""

    text: bool = False
    calls: tuple[CaseCall, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """`turns` are the places of the steps before which a person spoke."""

    id: str
    steps: tuple[CaseStep, ...] = ()
    turns: tuple[int, ...] = ()
    agent: str = ""
    model: str | None = None
    source: str = ""
    split: str = ""


class Found(NamedTuple):
    """An alert at the call of that number, counted from 1 over the whole session."""

    call: int
    alert: Alert


def decode(line: bytes) -> Case:
    """Raises msgspec.MsgspecError."""
    return msgspec.json.decode(line, type=Case)


def replay(case: Case, signals: Iterable[Signal], *, polls: bool = False) -> Iterator[Found]:
    """Every alert of a recorded session, in order. Without `polls`, calls that wait are what `wait_and_verify` is."""
    watch = Watch(signals)
    turns = frozenset(case.turns)
    calls = 0
    for place, step in enumerate(case.steps):
        if place in turns:
            watch.begin()
        if step.text:
            watch.speak()
        made: list[tuple[int, CaseCall, Called]] = []
        for call in step.calls:
            calls += 1
            called = _called(call, calls, place, watch.epoch, waits=call.poll and not polls)
            made.append((calls, call, called))
            yield from (Found(calls, alert) for alert in watch.call(called))
        for at, (number, call, called) in enumerate(made):
            if call.result is not None:
                came = _came(watch, call, call.result, called, last=at == len(made) - 1)
                yield from (Found(number, alert) for alert in watch.result(came))


def _called(call: CaseCall, number: int, step: int, epoch: int, *, waits: bool) -> Called:
    shell = {"shell": call.shell.get("cmd", "")} if call.shell else {}
    key, rest, paths = spelled(ToolCall(str(number), call.name, {**call.args, **shell}))
    return Called(
        str(number),
        call.name,
        key,
        rest,
        paths,
        epoch,
        step,
        waits=waits or call.name in WAITING,
        reports=call.kind != "other",
    )


def _came(watch: Watch, call: CaseCall, result: CaseResult, called: Called, *, last: bool) -> Came:
    name = result.nd or result.digest
    changed = call.mut and not (result.error or result.noop or result.denied)
    return Came(
        called,
        result.digest,
        name,
        ok=not result.error and not result.denied,
        no_op=result.noop,
        empty=result.empty,
        denied=result.denied,
        fresh=changed and watch.changes(called.key, name),
        last=last,
    )

"""Calls with their results, played to signals as a session records them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agent_cli.guardrails.book import Profile, Tuned, signals
from agent_cli.guardrails.watch import Watch
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Text, ToolCall
from agent_cli.ports import Alert, Signal


class Call(NamedTuple):
    """One call of one step with its result; `refused` is by a person."""

    name: str
    arguments: dict[str, object]
    result: str = "same"
    ok: bool = True
    no_op: bool = False
    empty: bool = False
    changed: tuple[str, ...] = ()
    refused: bool = False

    def facts(self, call_id: str) -> Iterator[ev.Recorded]:
        yield ev.ToolCallProposed(ToolCall(call_id, self.name, dict(self.arguments)))
        if self.refused:
            yield ev.ApprovalDecided(call_id, self.name, False, "operator")
        output = ev.Output(
            (Text(self.result),), ok=self.ok and not self.refused, no_op=self.no_op, changed=self.changed, empty=self.empty
        )  # fmt: skip
        yield ev.ToolReturned(call_id, self.name, output, executed=not self.refused)


Step = Call | tuple[Call, ...] | ev.Recorded
OPERATOR = ev.OperatorMessage((Text("go on"),))
RESET = ev.GuardrailReset("watchdog")


def read(path: str = "a", result: str = "same") -> Call:
    return Call("read_file", {"path": path}, result)


def edit(result: str = "done", path: str = "a", text: str = "x") -> Call:
    return Call("edit_file", {"path": path, "new": text}, result, changed=(path,))


def shell(command: str, result: str = "[exit code 0]", *, ok: bool = True) -> Call:
    return Call("bash", {"command": command}, result, ok)


def says(text: str) -> ev.AssistantMessage:
    return ev.AssistantMessage((Text(text),), "p", "m")


def facts(steps: Iterable[Step]) -> Iterator[ev.Recorded]:
    """A tuple of calls is one step: all are proposed before any returns."""
    for number, step in enumerate(steps):
        if isinstance(step, Call):
            yield ev.StepStarted("m")
            yield from step.facts(f"c{number}")
        elif isinstance(step, tuple):
            yield ev.StepStarted("m")
            made = [list(call.facts(f"c{number}-{place}")) for place, call in enumerate(step)]
            yield from (facts[0] for facts in made)
            for facts in made:
                yield from facts[1:]
        else:
            yield step


def alerts(steps: Iterable[Step], watched: Iterable[Signal]) -> list[Alert]:
    watch = Watch(watched)
    return [alert for event in facts(steps) for alert in watch.feed(event).alerts]


def names(
    *steps: Step, profile: Profile = "default", tuned: dict[str, Tuned] | None = None, enforced: bool = True
) -> list[str]:
    """The signals that tell something, in order."""
    return [alert.signal for alert in alerts(steps, signals(profile, tuned, enforced=enforced))]


def only(name: str, *steps: Step, profile: Profile = "default") -> list[Alert]:
    """What one signal tells, the others switched off."""
    watched = [signal for signal in signals(profile) if signal.name == name]
    assert watched, name
    return alerts(steps, watched)

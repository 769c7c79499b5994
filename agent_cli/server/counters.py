"""What the server counts, in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agent_cli.kernel import events as ev
from agent_cli.server.hosted import Hosted

Labels = tuple[tuple[str, str], ...]

MOST = 1_000
"""Rows of one figure: a model can make up names of tools without end."""
COUNTED = {
    "agent_cli_turns_total": "Turns that ended, by how.",
    "agent_cli_tokens_total": "Tokens of models, by kind.",
    "agent_cli_cost_usd_total": "Dollars of models with a price.",
    "agent_cli_tool_calls_total": "Tool calls that came to a result, by tool and whether they ran and succeeded.",
    "agent_cli_guardrail_trips_total": "Guardrails that tripped.",
    "agent_cli_http_requests_total": "Requests, by route and status.",
    "agent_cli_http_refused_total": "Requests that were refused before their route, by why.",
}


class Counters:
    """Of this process, since it began."""

    def __init__(self) -> None:
        self.streams = 0
        self._counts: dict[str, Counter[Labels]] = {name: Counter() for name in COUNTED}

    def answered(self, route: str, status: int) -> None:
        self._add("agent_cli_http_requests_total", 1, route=route, status=str(status))

    def refused(self, why: str) -> None:
        self._add("agent_cli_http_refused_total", 1, why=why)

    def feed(self, entry: ev.Entry) -> None:
        """Every fact of every session of the process."""
        match entry.event:
            case ev.TurnCompleted(outcome) | ev.TurnError(outcome=outcome) if not entry.branch:
                self._add("agent_cli_turns_total", 1, outcome=outcome)
            case ev.UsageReported(model, usage, cost):
                kinds = {
                    "input": usage.input, "cache_read": usage.cache_read, "cache_write": usage.cache_write,
                    "output": usage.output,
                }  # fmt: skip
                for kind, tokens in kinds.items():
                    self._add("agent_cli_tokens_total", tokens, model=model, kind=kind)
                self._add("agent_cli_cost_usd_total", cost or 0.0, model=model)
            case ev.ToolReturned(tool=tool, output=output, executed=executed):
                result = "refused" if not executed else "ok" if output.ok else "failed"
                self._add("agent_cli_tool_calls_total", 1, tool=tool, result=result)
            case ev.GuardrailTrip(guardrail, signal, scope=scope):
                self._add(
                    "agent_cli_guardrail_trips_total", 1, guardrail=guardrail, signal=signal, scope=scope
                )
            case _:
                pass  # nothing else is counted

    def _add(self, name: str, amount: float, **labels: str) -> None:
        counts, key = self._counts[name], tuple(labels.items())
        if amount and (key in counts or len(counts) < MOST):
            counts[key] += amount  # pyright: ignore[reportArgumentType]  dollars are counted, too

    def text(self, hosted: Iterable[Hosted]) -> str:
        return "\n".join([*self._totals(), *self._now(tuple(hosted))]) + "\n"

    def _totals(self) -> Iterator[str]:
        for name, about in COUNTED.items():
            yield f"# HELP {name} {about}"
            yield f"# TYPE {name} counter"
            for labels, count in sorted(self._counts[name].items()):
                yield (
                    f"{name}{_shown(labels)} {count:g}"
                    if count < 1e6
                    else f"{name}{_shown(labels)} {count:.6f}"
                )

    def _now(self, hosted: tuple[Hosted, ...]) -> Iterator[str]:
        states = [each.door.state for each in hosted]
        gauges = (
            ("agent_cli_sessions_open", "Sessions that are open here.", len(hosted)),
            ("agent_cli_turns_running", "Turns that run now.", sum(state.running for state in states)),
            ("agent_cli_sessions_halted", "Open sessions in which turns are refused.", sum(bool(each.door.halts()) for each in hosted)),
            ("agent_cli_messages_waiting", "Messages that wait in open sessions.", sum(len(state.waiting) for state in states)),
            ("agent_cli_approvals_pending", "Approvals that wait.", sum(len(state.pending) for state in states)),
            ("agent_cli_event_streams", "Event streams that are followed.", self.streams),
        )  # fmt: skip
        for name, about, value in gauges:
            yield f"# HELP {name} {about}"
            yield f"# TYPE {name} gauge"
            yield f"{name} {value}"


def _shown(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = [f'{name}="{_escaped(value)}"' for name, value in labels]
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

"""The run status line: made when a request is built, placed behind the cached prefix, never stored."""

from __future__ import annotations

from agent_cli.kernel.limits import WARN_SHARE, Limits
from agent_cli.kernel.values import Plain


class Progress(Plain, frozen=True):
    """Where the turn stands. `elapsed` is seconds, `context` the size of the last prompt in tokens."""

    step: int
    calls: int
    tokens: int
    context: int
    elapsed: float


def status_line(progress: Progress, limits: Limits) -> str:
    """E.g. `<run-status>step 3/12 · tool-calls 11/24 · tokens 84210/200000 · elapsed 74s/300s</run-status>`."""
    measures = (
        ("step", progress.step, limits.max_steps),
        ("tool-calls", progress.calls, limits.max_tool_calls),
        ("tokens", progress.tokens, limits.max_tokens),
        ("last-context", progress.context, None),
        ("elapsed", int(progress.elapsed), limits.max_duration),
    )
    shown = " · ".join(_measure(name, used, limit) for name, used, limit in measures)
    near = [name for name, used, limit in measures if limit and used >= WARN_SHARE * limit]
    warning = f" · over 80% of {', '.join(near)} is used: wrap up now" if near else ""
    return f"<run-status>{shown}{warning}</run-status>"


def _measure(name: str, used: int, limit: float | None) -> str:
    unit = "s" if name == "elapsed" else ""
    return f"{name} {used}{unit}/{limit:g}{unit}" if limit else f"{name} {used}{unit}"

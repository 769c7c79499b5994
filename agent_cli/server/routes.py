"""Everything that can be asked, in one table: requests are routed by it, and the OpenAPI document is made from it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from agent_cli.kernel.orders import Order
from agent_cli.server import bodies, looking, orders
from agent_cli.server.call import Answer, Call, Handler
from agent_cli.server.openapi import document
from agent_cli.server.problems import Refused
from agent_cli.server.tokens import Scope


class Route(NamedTuple):
    """`body` is the type of the request's body; one whose fields may all be left out may be missing. `answers` are what
    it answers beside the errors that every route has. `public` needs no token.
    """

    method: str
    path: str
    handler: Handler
    scope: Scope
    says: str
    body: Any = None
    answers: tuple[tuple[int, str], ...] = ((200, "As it says."),)
    query: tuple[tuple[str, str], ...] = ()
    public: bool = False


async def _openapi(call: Call) -> Answer:
    return Answer(document(ROUTES))


S = "/sessions/{session}"
QUEUED = "The message, with `queued: true` where it waits, and then `halt` where the session is halted."
HELD = (409, "Another process has the session; `held_by` says which.")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/", looking.web_page, "read", "The web page.", answers=((200, "HTML."),), public=True),
    Route("GET", "/healthz", looking.health, "read", "Whether the server works.", public=True),
    Route("GET", "/openapi.json", _openapi, "read", "This document.", public=True),
    Route("GET", "/metrics", looking.metrics, "read", "Counters and gauges in the text format of Prometheus."),
    Route(
        "GET", "/sessions", looking.sessions, "read", "The kept sessions of the directories that are served, the latest first.",
        query=(("limit", "How many at most; 200."),),
    ),
    Route(
        "POST", "/sessions", orders.begin, "write", "Begins a session, and its first turn where there is a `message`.", bodies.NewSession,
        ((201, "The session."),),
    ),
    Route("GET", S, looking.session, "read", "Where a session stands: its turn, what waits, what halts it, its last answer."),
    Route(
        "GET", f"{S}/events", looking.events, "read",
        "Its events as server-sent events: every fact of the log, then facts and previews as they come. The id of a fact is "
        "its `seq`; previews have none, and may be lost.",
        answers=((200, "text/event-stream; `data` is a line of `--output-format stream-json`."),),
        query=(
            ("since", "Only facts with a greater `seq`. The header Last-Event-ID says the same."),
            ("follow", "0: ends with what the log has now."),
        ),
    ),
    Route("POST", f"{S}/inject", orders.inject, "write", "Says something to the agent.", bodies.Inject, ((200, QUEUED), HELD)),
    Route(
        "POST", f"{S}/interrupt", orders.interrupt, "write", "Stops the running turn; what waits goes out with your next message.",
        answers=((200, "`interrupted` says whether a turn ran."), HELD),
    ),
    Route(
        "POST", f"{S}/approvals/{{approval}}", orders.decide, "write", "Decides an approval, by its `call_id`, or answers a question.",
        bodies.Decision, ((200, "What was decided."), HELD),
    ),
    Route(
        "POST", f"{S}/compact", orders.compact, "write", "Has the conversation summarized now, between turns.", bodies.Focus,
        ((202, "What comes of it is an event after `since`."), HELD),
    ),
    Route(
        "POST", f"{S}/checkpoint", orders.checkpoint, "write", "Says that a task is done: a record takes its place.", bodies.Done,
        ((202, "What comes of it is an event after `since`."), HELD),
    ),
    Route(
        "POST", f"{S}/orders", orders.order, "write",
        "Anything else that a driven session takes: mode, model, effort, withdraw, rewind, replan, rule, …", Order,
        ((202, "What comes of it is an event after `since`."), HELD),
    ),
    Route("GET", f"{S}/guardrails", looking.guardrails, "read", "What is armed, what tripped, what halts it and what clears that."),
    Route(
        "POST", f"{S}/guardrails/reset", orders.reset, "write",
        "Clears a halt; messages that wait begin the next turn. The body may be missing: everything is reset then.", bodies.Clear,
        (
            (200, "Where it stands then."),
            (409, "It would trip again at once: `additional_budget_usd` is the least to add. Or another process has the session."),
        ),
    ),
    Route("GET", f"{S}/usage", looking.usage, "read", "Tokens and dollars, in all and by model, and how full the window is."),
    Route("GET", f"{S}/tools", looking.tools, "read", "What the model may call.", answers=((200, "The tools."), HELD)),
)  # fmt: skip


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Route], ...]:
    return tuple((re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route.path)), route) for route in ROUTES)


def routed(method: str, path: str) -> tuple[Route, dict[str, str]]:
    """Raises Refused."""
    wanted = "GET" if method == "HEAD" else method
    allowed: list[str] = []
    for pattern, route in _patterns():
        if found := pattern.fullmatch(path):
            if route.method == wanted:
                return route, found.groupdict()
            allowed.append(route.method)
    if allowed:
        raise Refused(405, "method", f"{path} takes {' and '.join(allowed)}, not {method}.")
    raise Refused(404, "path", f"There is nothing at {path[:200]}. /openapi.json says what there is.")

"""A sound session to be damaged: real turns against a strict service, then every kind of fact that they left out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from agent_cli import Agent
from agent_cli.kernel import events as ev
from agent_cli.kernel.messages import Image, Text, ToolCall
from agent_cli.kernel.usage import Usage
from agent_cli.store.sqlite import open_store
from tests.fakes.http_server import FakeService, Say

MODELS = {
    "anthropic": "claude-opus-5",
    "openai": "gpt-4.1",
    "gemini": "gemini-3.7-flash",
    "responses": "sealed/gpt-5.2",
}
"""By family; the last one is an endpoint of the operator's."""
DATABASE = "sessions.db"
SESSION = "parser"
TURNS = (
    [Say("Let me see.", thinking="Where is it?", calls=(("read_file", '{"path":"a.txt"}'),)), Say("It is there.")],
    [
        Say(calls=(("todo", '{"items":[{"text":"mend","status":"pending"}]}'), ("glob", '{"pattern":"*"}'))),
        Say(calls=(("no_such_tool", "{}"),), thinking="Odd."),
        Say("Done, all of it."),
    ],
    [Say("Answer three.")],
)  # fmt: skip


def settings_of(family: str, home: Path, service: FakeService) -> dict[str, Any]:
    """What `Agent.open` takes for a session in that home with that service."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENT_CLI_HOME": str(home),
        "ANTHROPIC_API_KEY": "key-a",
        "OPENAI_API_KEY": "key-o",
        "GEMINI_API_KEY": "key-g",
        "ANTHROPIC_BASE_URL": service.url,
        "OPENAI_BASE_URL": f"{service.url}/v1",
        "GOOGLE_GEMINI_BASE_URL": service.url,
    }
    sealed = {"base_url": f"{service.url}/v1", "api_key_env": "OPENAI_API_KEY", "api": "responses"}
    settings = {f"providers.sealed.{name}": value for name, value in sealed.items()}
    return {"cwd": home / "project", "settings": settings, "environ": environ}


async def record(family: str, home: Path, service: FakeService) -> None:
    """Writes the session to the database in that home, and closes it."""
    (home / "project").mkdir(parents=True)
    (home / "project" / "a.txt").write_text("hello\n" * 400)
    said = settings_of(family, home, service)
    agent = Agent.open(MODELS[family], ephemeral=False, **said)
    session = agent.session.id
    for at, replies in enumerate(TURNS):
        service.replies = [*replies]
        reply = await agent.run(
            (Text(f"Do thing {at}."), Image("image/png", PIXEL)) if at == 1 else f"Do {at}."
        )
        assert reply.outcome == "completed", reply
    await agent.close()
    store = open_store(home / DATABASE)
    log = store.open(session)
    seq, turn = store.find(session).events, len(TURNS)
    for event in REST:
        seq += 1
        turn += isinstance(event, ev.TurnStarted)
        log.append(ev.Entry(session, seq, 1_700_000_000.0 + seq, turn, 0, event))
    store.rename(session, SESSION)
    store.close()


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
REST: tuple[ev.Recorded, ...] = (
    ev.TurnStarted("m"),
    ev.OperatorMessage((Text("A turn with everything."),)),
    ev.StepStarted("m"),
    ev.AssistantMessage(
        (Text("Two calls."), ToolCall("c-1", "bash", {"command": "ls"}, '{"command": "ls"}'), ToolCall("c-2", "bash", None, "{")),
        "p", "m", "tool-calls",
    ),
    ev.UsageReported("m", Usage(input=900, output=30), 0.01),
    ev.ToolCallProposed(ToolCall("c-1", "bash", {"command": "ls"}, '{"command": "ls"}')),
    ev.ToolCallProposed(ToolCall("c-2", "bash", None, "{")),
    ev.ApprovalRequested("c-1", "bash", "ls", "mode", "ask"),
    ev.ApprovalDecided("c-1", "bash", allowed=True, by="operator", scope="tool", grant="bash:ls"),
    ev.RuleAdded("deny", "bash:rm *"),
    ev.ToolCallStarted("c-1", "bash", "ls", "grant"),
    ev.SubtaskStarted("research", "m", "Where?", "x:sub:1", "c-1"),
    ev.SubtaskCompleted("research", "completed", "There.", Usage(input=3), None, "m", "x:sub:1"),
    ev.GuardrailFinding("repeated_tool_call", "behaviour", "warn", "three times"),
    ev.ToolReturned("c-1", "bash", ev.Output((Text("a.txt"),))),
    ev.ToolReturned("c-2", "bash", ev.Output((Text("no object"),), ok=False), executed=False),
    ev.MessageQueued((Text("Hurry."),)),
    ev.OperatorNote("a note"),
    ev.Retry(1, 10, 0.5, "overloaded", "529"),
    ev.BudgetWarning("cost", 8.0, 10.0),
    ev.OperatorMessage((Text("Hurry."),)),
    ev.AssistantMessage((Text("Yes."),), "p", "m"),
    ev.TurnCompleted("completed", "stop"),
    ev.ModeSwitched("acceptEdits"),
    ev.EffortSwitched("high"),
    ev.PlanRecorded(".agents/plans/plan-1.md", "Do it."),
    ev.PlanRevoked(".agents/plans/plan-1-revoked.md", "no"),
    ev.CompactionPerformed("summary", 5_000, 600, summary="We did things.", keeps_from=20),
    ev.TurnStarted("m"),
    ev.OperatorMessage((Text("And then?"),)),
    ev.AssistantMessage((Text("Then this."),), "p", "m"),
    ev.TurnCompleted("completed", "stop"),
    ev.CheckpointPerformed("All done.", 40),
    ev.GuardrailTrip("cost_ceiling", "", "halt", "session", "spent", halted_turn=True, used=11.0, limit=10.0),
    ev.GuardrailReset("cost_ceiling", 10.0),
    ev.TurnStarted("m"),
    ev.OperatorMessage((Text("To be undone."),)),
    ev.AssistantMessage((Text("As you like."),), "p", "m"),
    ev.TurnCompleted("completed", "stop"),
    ev.Rewound(70, conversation=True),
    ev.TurnStarted("m"),
    ev.OperatorMessage((Text("The last one."),)),
    ev.StepStarted("m"),
    ev.AssistantMessage((Text("Half of"), ToolCall("c-3", "bash", {"command": "ls"}, '{"command": "ls"}')), "p", "m", "tool-calls"),
    ev.ToolCallProposed(ToolCall("c-3", "bash", {"command": "ls"}, '{"command": "ls"}')),
)  # fmt: skip
"""The last turn was cut in the middle of a call."""

"""Your program decides what may run. Plays a script, so that it needs no key: python approvals.py"""

import asyncio
import tempfile
from pathlib import Path

from agent_cli import Agent
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Answer


async def decide(agent: Agent) -> None:
    """Lets it write text files and nothing else."""
    async for event in agent.events():
        if isinstance(event, ev.Entry) and isinstance(event.event, ev.ApprovalRequested):
            asked = event.event
            allowed = asked.tool == "write_file" and asked.subject.endswith(".txt")
            print(
                f"{asked.agent or 'session'} wants {asked.tool} {asked.subject}: {'yes' if allowed else 'no'}"
            )
            agent.send(Answer(asked.call_id, allowed, message="" if allowed else "Only text files."))


async def main() -> None:
    script = Path(__file__).with_name("approvals.jsonl")
    with tempfile.TemporaryDirectory() as directory:
        async with Agent.open("scripted", cwd=directory, script=script, attended=True) as agent:
            deciding = asyncio.create_task(decide(agent))
            reply = await agent.run("Write the plan down, then clean up.")
            print(reply.text)
        await deciding
        print(f"[{reply.calls} calls, {reply.outcome}]")


if __name__ == "__main__":
    asyncio.run(main())

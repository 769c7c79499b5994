"""The event stream that every front end draws: text as it comes, and facts: python stream.py [MODEL]"""

import asyncio
import sys

from agent_cli import Agent
from agent_cli.kernel import events as ev
from agent_cli.kernel.commands import Say
from agent_cli.kernel.messages import Text


async def main(model: str) -> None:
    async with Agent.open(model) as agent:
        events = agent.events()
        agent.send(Say((Text("Count to five."),)))
        async for event in events:
            match event:
                case ev.TextDelta(text):
                    print(text, end="", flush=True)
                case ev.Entry(event=ev.ToolCallStarted(tool=tool, subject=subject), branch=branch):
                    print(f"\n[{branch or 'session'}: {tool} {subject}]")
                case ev.Entry(event=ev.TurnCompleted() | ev.TurnError(), branch=""):
                    print()
                    break
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "echo"))

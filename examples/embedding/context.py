"""What fills the context, and how a program empties it in its own words: python context.py [MODEL]"""

import asyncio
import sys

from agent_cli import Agent
from agent_cli.kernel.messages import Message


class OwnWords:
    """Writes what takes the place of the older part of a conversation; no model is asked."""

    async def summarize(self, conversation: tuple[Message, ...], focus: str, /) -> str:
        return f"{len(conversation)} messages were here; they were about {focus or 'this and that'}."

    async def record(self, conversation: tuple[Message, ...], note: str, /) -> str:
        return f"Done: {note}."


async def main(model: str) -> None:
    async with Agent.open(model, compactor=OwnWords(), checkpointer=OwnWords()) as agent:
        for number in range(4):
            await agent.run(f"Question {number}: " + "why is the sky blue? " * 200)
        used, estimated = agent.context_window_used()
        done = await agent.compact("the sky")
        print(f"compacted: {'about ' if estimated else ''}{used} tokens became {done.tokens_after}")
        await agent.checkpoint("the sky was explained")
        await agent.run("And the sea?")
        for boundary in agent.context_stats().boundaries:
            print(f"{boundary.kind} by {boundary.mode}: {boundary.note}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "echo"))

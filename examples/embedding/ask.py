"""One question, one answer: python ask.py [MODEL]"""

import asyncio
import sys

from agent_cli import Agent


async def main(model: str) -> None:
    async with Agent.open(
        model, settings={"budgets.max_steps": 10, "agent.max_session_cost_usd": 0.50}
    ) as agent:
        reply = await agent.run("Say in one sentence what this directory holds.")
        print(reply.text or reply.problem)
        cost = "unpriced" if reply.cost is None else f"${reply.cost:.4f}"
        print(f"[{reply.outcome}, {reply.steps} steps, {reply.usage.total} tokens, {cost}]")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "echo"))

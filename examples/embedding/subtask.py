"""A question to a fresh context, of which only a digest comes back: python subtask.py [MODEL]"""

import asyncio
import sys
from pathlib import Path

from agent_cli import Agent, SubtaskSpec

CALC = Path(__file__).parent.parent / "calc"


async def main(model: str) -> None:
    async with Agent.open(model, cwd=CALC) as agent:
        spec = SubtaskSpec(
            name="reader",
            system="You read for another agent. Answer in one line, with the line number.",
            task="Where does calc.py multiply two numbers?",
            tools=("read_file", "grep"),
            max_steps=5,
        )
        result = await agent.run_subtask(spec)
        print(f"{result.how}: {result.digest}")
        stats = agent.context_stats()
        print(
            f"[{stats.subtasks} subtask, {stats.subtask_input} tokens in; the session itself holds {stats.used}]"
        )


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "echo"))

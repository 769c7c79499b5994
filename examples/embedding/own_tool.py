"""A tool of your own beside the built-in ones. Plays a script, so that it needs no key: python own_tool.py"""

import asyncio
from pathlib import Path
from typing import Annotated

from agent_cli import Agent
from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Text, ToolSpec
from agent_cli.kernel.wire import Arguments, describe, schema_of
from agent_cli.ports import Say, Touches


class WeatherArguments(Arguments, frozen=True):
    city: Annotated[str, describe("the name of a city")]


class Weather:
    """`arguments` is the schema that the model gets; `touches` is what permission rules look at."""

    arguments = WeatherArguments
    read_only = True
    bounded = False
    spec = ToolSpec("weather", "The weather of a city, now.", schema_of(WeatherArguments))

    def touches(self, args: WeatherArguments, /) -> Touches:
        return Touches("none", args.city)

    def preview(self, args: WeatherArguments, /) -> None:
        """Nothing to see before it runs."""

    async def run(self, args: WeatherArguments, say: Say, /) -> Output:
        return Output((Text(f"{args.city}: 21 degrees, clear"),))


async def main() -> None:
    script = Path(__file__).with_name("own_tool.jsonl")
    async with Agent.open("scripted", script=script, tools=[Weather()]) as agent:
        reply = await agent.run("What is the weather in Lisbon?")
        print(reply.text)
        print(f"[{reply.calls} call]")


if __name__ == "__main__":
    asyncio.run(main())

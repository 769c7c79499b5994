"""What fills the window now, by what it is. Pure: the same log gives the same figures."""

from __future__ import annotations

from agent_cli.context import estimate
from agent_cli.context.system import INSTRUCTIONS
from agent_cli.context.view import Item
from agent_cli.kernel.messages import ToolResult, ToolSpec
from agent_cli.kernel.values import Plain

OVERHEAD = "system prompt and tools"
MESSAGES = "messages"
RESULTS = "results of {name}"


class Share(Plain, frozen=True):
    """`tokens` of the next prompt that are this."""

    name: str
    tokens: int


class Overhead(Plain, frozen=True):
    """What stands before the messages, in tokens as far as they can be estimated."""

    system: int
    tools: int
    memory: int

    @property
    def total(self) -> int:
        return self.system + self.tools + self.memory


def overhead_of(system: tuple[str, ...], tools: tuple[ToolSpec, ...]) -> Overhead:
    """What the instruction files say counts as memory."""
    prompt, _, memory = "\n\n".join(system).partition(f"\n\n{INSTRUCTIONS}")
    schemas = sum(estimate.tokens_of_prose(tool.description + str(tool.schema)) for tool in tools)
    return Overhead(estimate.tokens_of_prose(prompt), schemas, estimate.tokens_of_prose(memory))


def shares(items: tuple[Item, ...], used: int, overhead: Overhead | None = None) -> tuple[Share, ...]:
    """The parts of a prompt of `used` tokens; together they are `used`, unless nothing is known of it (0).

    Without `overhead`, what the messages do not explain stands for the system prompt and the tools. What services
    count differs from an estimate, so that all estimates are scaled to what they counted.
    """
    found: dict[str, int] = {}
    if overhead is not None:
        found |= {"system prompt": overhead.system, "tool schemas": overhead.tools, "memory": overhead.memory}
    said: dict[str, int] = {MESSAGES: 0}
    for item in items:
        name = RESULTS.format(name=item.part.name) if isinstance(item.part, ToolResult) else MESSAGES
        said[name] = said.get(name, 0) + estimate.tokens_of_part(item.part)
    found |= dict(sorted(said.items(), key=lambda one: (one[0] != MESSAGES, -one[1])))
    if overhead is None and used:
        found = {OVERHEAD: max(0, used - sum(found.values())), **found}
    return _scaled(found, used)


def _scaled(found: dict[str, int], used: int) -> tuple[Share, ...]:
    total = sum(found.values())
    if not used or not total:
        return tuple(Share(name, tokens) for name, tokens in found.items() if tokens)
    scaled = {name: tokens * used // total for name, tokens in found.items()}
    largest = max(scaled, key=lambda name: scaled[name])
    scaled[largest] += used - sum(scaled.values())
    return tuple(Share(name, tokens) for name, tokens in scaled.items() if tokens)

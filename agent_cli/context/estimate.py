"""How full the context window is: what the service measured last, and an estimate of what came since."""

from __future__ import annotations

from agent_cli.kernel.events import Output
from agent_cli.kernel.messages import Block, Document, Image, Part, Reasoning, Text, ToolCall, ToolResult

BYTES_PER_TOKEN_OF_RESULTS = 3
BYTES_PER_TOKEN_OF_PROSE = 4
TOKENS_PER_IMAGE = 1_600


def tokens_of_prose(text: str) -> int:
    """An estimate for text of people and models, 4 bytes a token, rounded up."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN_OF_PROSE)


def tokens_of_result(output: Output) -> int:
    """An estimate for a tool result, 3 bytes a token, rounded up."""
    return sum(_tokens_of_block(block) for block in output.for_model)


def tokens_of_content(content: tuple[Block, ...]) -> int:
    """An estimate for an operator's message."""
    return sum(
        tokens_of_prose(block.text) if isinstance(block, Text) else _tokens_of_block(block)
        for block in content
    )


def tokens_of_part(part: Part) -> int:
    """An estimate for one part of a conversation of which nothing was measured."""
    match part:
        case Text(text) | Reasoning(text):
            return tokens_of_prose(text)
        case ToolCall(name=name, raw=raw, arguments=arguments):
            return tokens_of_prose(name + (raw or str(arguments)))
        case ToolResult(content=content):
            return sum(_tokens_of_block(block) for block in content)
        case Image() | Document():
            return _tokens_of_block(part)
        case _:
            return 0


def _tokens_of_block(block: Block) -> int:
    match block:
        case Text(text):
            return -(-len(text.encode()) // BYTES_PER_TOKEN_OF_RESULTS)
        case Image():
            return TOKENS_PER_IMAGE
        case Document(_, data):
            return -(-len(data) // BYTES_PER_TOKEN_OF_RESULTS)

"""The vendor's own client reads the same bytes: both must hear the same message."""

from __future__ import annotations

from agent_cli.kernel.messages import Reasoning, Text, ToolCall
from tests.fakes.http_server import Say
from tests.providers.families import answer_of, serving


async def test_the_vendors_client_hears_the_same_message():
    import anthropic
    import httpx2

    reply = Say(
        "Grüße 🙂.",
        thinking="Hm, ja.",
        redacted="c2VjcmV0",
        calls=(("read_file", '{"path": "ä", "n": [1]}'),),
    )
    async with serving("anthropic", reply) as (service, model):
        ours = await answer_of(model)
        headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
        async with (
            httpx2.AsyncClient() as http,
            anthropic.AsyncAnthropic(
                api_key="k", base_url=service.url, max_retries=0, default_headers=headers, http_client=http
            ) as client,
            client.messages.stream(
                model=model.card.id,
                max_tokens=100,
                messages=[{"role": "user", "content": [{"type": "text", "text": "x"}]}],
            ) as stream,
        ):
            theirs = await stream.get_final_message()
    thinking, redacted, text, tool = theirs.content
    assert (thinking.type, redacted.type, text.type, tool.type) == (
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
    )
    assert ours.parts[:3] == (
        Reasoning(thinking.thinking, "anthropic", "claude-opus-5", thinking.signature),
        Reasoning(
            "", "anthropic", "claude-opus-5", opaque={"type": "redacted_thinking", "data": redacted.data}
        ),
        Text(text.text),
    )
    made = ours.parts[3]
    assert isinstance(made, ToolCall)
    assert (made.name, made.arguments) == (tool.name, tool.input)
    assert (ours.usage.input, ours.usage.output) == (theirs.usage.input_tokens, theirs.usage.output_tokens)
    assert ours.native_reason == theirs.stop_reason

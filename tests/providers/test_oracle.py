"""The vendor's own client reads the same bytes: both must hear the same message."""

from __future__ import annotations

import base64

from agent_cli.kernel.messages import Reasoning, Text, ToolCall, calls_of, text_of
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


async def test_googles_client_hears_the_same_message():
    import httpx2
    from google import genai
    from google.genai import types

    reply = Say("Grüße 🙂.", thinking="Hm, ja.", calls=(("read_file", '{"path": "ä", "n": [1]}'),))
    async with serving("gemini", reply) as (service, model):
        ours = await answer_of(model)
        async with httpx2.AsyncClient() as http:
            options = types.HttpOptions(
                base_url=service.url, api_version="v1beta", httpx_async_client=http, timeout=9_000
            )
            client = genai.Client(api_key="k", http_options=options)
            stream = await client.aio.models.generate_content_stream(model=model.card.id, contents="x")
            chunks = [chunk async for chunk in stream]
            await client.aio.aclose()
    theirs = [part for chunk in chunks for part in (chunk.parts or [])]
    assert text_of(ours.parts) == "".join(part.text or "" for part in theirs if not part.thought)
    thought = next(part for part in ours.parts if isinstance(part, Reasoning))
    assert thought.text == "".join(part.text or "" for part in theirs if part.thought)
    made = calls_of(ours.parts)[0]
    call = next(part for part in theirs if part.function_call)
    assert call.function_call is not None
    assert call.thought_signature is not None
    assert (made.call_id, made.name, made.arguments) == (
        call.function_call.id,
        call.function_call.name,
        call.function_call.args,
    )
    assert made.opaque == {"thoughtSignature": base64.b64encode(call.thought_signature).decode()}
    usage = chunks[-1].usage_metadata
    assert usage is not None
    assert (ours.usage.input, ours.usage.output) == (usage.prompt_token_count, usage.candidates_token_count)
    assert ours.response_id == chunks[-1].response_id

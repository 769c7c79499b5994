from __future__ import annotations

import base64

import pytest

from agent_cli.kernel.messages import Document, Image, Message, Text, ToolResult
from tests.fakes.http_server import Say
from tests.providers.families import STATUS, answer_of, answered, call, conversation, every, said, serving

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
PDF = base64.b64encode(b"%PDF-1.7 " + bytes(30)).decode()


def shown_by_a_tool(*content: object) -> tuple[Message, ...]:
    results = (ToolResult("c1", "read_file", content), ToolResult("c2", "grep", (Text("found"),)))
    return (said("Look."), answered(call("c1"), call("c2")), Message("user", results))


@every
async def test_an_image_of_the_operator(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, Message("user", (Text("Look."), Image("image/png", PNG))))
    last = conversation(service.requests[0].body)[-1]
    content = last.get("content") or last["parts"]
    if family == "gemini":
        assert content[1] == {"inlineData": {"mimeType": "image/png", "data": PNG}}
    elif family == "responses":
        url = f"data:image/png;base64,{PNG}"
        assert content[1] == {"type": "input_image", "detail": "auto", "image_url": url}
    elif family == "anthropic":
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        assert content[1]["source"] == source
    else:
        assert content[1] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    assert content[-1]["text"] == STATUS


@every
async def test_an_image_in_a_result_goes_where_the_api_takes_it(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *shown_by_a_tool(Text("a.png"), Image("image/png", PNG)))
    messages = conversation(service.requests[0].body)
    if family == "responses":
        kinds = [part["type"] for part in messages[-2]["output"]]
        assert kinds == ["input_text", "input_image"]
        assert messages[-1]["output"] == f"found\n\n{STATUS}"
        return
    if family == "gemini":
        response = messages[-1]["parts"][0]["functionResponse"]
        assert response["response"] == {"output": "a.png"}
        assert response["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
        return
    if family == "anthropic":
        kinds = [block["type"] for block in messages[-1]["content"][0]["content"]]
        assert kinds == ["text", "image"]
        return
    assert [message["role"] for message in messages[-3:]] == ["tool", "tool", "user"]
    assert messages[-3]["content"].startswith("a.png")
    assert [part["type"] for part in messages[-1]["content"]] == ["text", "image_url", "text"]
    assert "read_file" in messages[-1]["content"][0]["text"]


@every
async def test_a_file_in_a_result(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *shown_by_a_tool(Document("application/pdf", PDF, "a.pdf")))
    sent = service.requests[0].raw.decode()
    assert PDF in sent
    mark = {
        "anthropic": '"type":"document"',
        "gemini": '"application/pdf"',
        "responses": '"type":"input_file"',
    }
    assert mark.get(family, '"type":"file"') in sent


TALL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (900).to_bytes(4) + (8_001).to_bytes(4) + bytes(20)
).decode()


@every
@pytest.mark.parametrize(
    ("image", "words"),
    [
        (Image("image/png", "bm90IGFuIGltYWdlIGF0IGFsbCwganVzdCB0ZXh0"), "no PNG, JPEG, GIF or WebP"),
        (Image("image/png", "%%%"), "no PNG"),
        (Image("image/png", PNG + "A" * 8_000_000), "over 5 MB"),
        (Image("image/png", TALL), "900\xd78,001 pixels, the most is 8,000"),
        (Document("text/csv", PDF, "a.csv"), "a.csv not shown"),
    ],
)
async def test_what_would_be_refused_for_ever_is_told_in_words(
    family: str, image: Image | Document, words: str
):
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *shown_by_a_tool(image))
    assert words in service.requests[0].raw.decode()
    assert len(service.requests[0].raw) < 10_000


@every
async def test_a_media_type_that_lies_is_corrected(family: str):
    async with serving(family, Say("Hi.")) as (service, model):
        await answer_of(model, *shown_by_a_tool(Image("image/jpeg", PNG)))
    sent = service.requests[0].raw.decode()
    assert "image/png" in sent
    assert "image/jpeg" not in sent


async def test_a_model_without_eyes_is_told():
    async with serving("openai", Say("Hi."), name="openai/qwen3:8b") as (service, model):
        await answer_of(model, *shown_by_a_tool(Image("image/png", PNG), Document("application/pdf", PDF)))
    sent = service.requests[0].raw.decode()
    assert "qwen3:8b takes no images" in sent
    assert "takes no files" in sent
    assert PNG not in sent


async def test_older_models_of_gemini_see_a_tools_image_beside_its_result():
    async with serving("gemini", Say("Hi."), name="gemini-2.5-pro") as (service, model):
        await answer_of(model, *shown_by_a_tool(Image("image/png", PNG)))
    parts = service.requests[0].body["contents"][-1]["parts"]
    assert [next(iter(part)) for part in parts] == ["functionResponse"] * 2 + ["text", "inlineData", "text"]
    assert parts[2] == {"text": "[shown by read_file]"}


async def test_gemini_takes_no_gif():
    gif = base64.b64encode(b"GIF89a" + bytes(60)).decode()
    async with serving("gemini", Say("Hi.")) as (service, model):
        await answer_of(model, Message("user", (Image("image/gif", gif),)))
    assert service.requests[0].body["contents"][0]["parts"][0]["text"].startswith("[image not shown")


def picture(width: int, height: int) -> Image:
    head = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return Image("image/png", base64.b64encode(head + bytes(40)).decode())


@pytest.mark.parametrize(("small", "shown"), [(18, 19), (19, 20), (20, 20), (30, 30)])
async def test_large_pictures_beside_many_others_are_named(small: int, shown: int):
    """Anthropic refuses a request with more than twenty where one is larger than 2,000 pixels, and all later ones."""
    pictures = Message("user", (Text("Look."), picture(2_880, 1_800), *[picture(800, 600)] * small))
    async with serving("anthropic", Say("Hi.")) as (service, model):
        await answer_of(model, pictures)
    content = conversation(service.requests[0].body)[-1]["content"]
    assert sum(block["type"] == "image" for block in content) == shown
    named = [
        block["text"] for block in content if block["type"] == "text" and "2,880\xd71,800" in block["text"]
    ]
    assert len(named) == (small + 1 > 20)


async def test_large_pictures_of_results_count_too():
    results = shown_by_a_tool(Text("a.png"), picture(2_880, 1_800), *[picture(8, 6)] * 20)
    async with serving("anthropic", Say("Hi.")) as (service, model):
        await answer_of(model, *results)
    content = conversation(service.requests[0].body)[-1]["content"][0]["content"]
    assert [block["type"] for block in content].count("image") == 20
    assert "beside 20 others the most is 2,000" in content[1]["text"]

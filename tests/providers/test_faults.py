from __future__ import annotations

from email.utils import formatdate

import pytest

from agent_cli.kernel.errors import (
    AuthFailed,
    ContextOverflow,
    ModelNotFound,
    Overloaded,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
)
from agent_cli.providers.faults import Service, from_response, in_stream, retry_after
from agent_cli.providers.memo import json_bytes
from agent_cli.providers.overflow import overflow_in
from tests.fakes.http_server import Raw, Say
from tests.providers.families import answer_of, every, serving

SERVICE = Service("Anthropic", "https://api.example/v1/messages", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")

QUOTA = "You exceeded your current quota, please check your plan and billing details."


def error(message: str, kind: str = "", code: object = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "code": code}}


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("prompt is too long: 214748 tokens > 200000 maximum", (214_748, 200_000)),
        ("prompt is too long", (None, None)),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length",
            (190_000, 200_000),
        ),
        ("Input is too long for requested model.", (None, None)),
        ("Your input exceeds the context window of this model. Please adjust.", (None, None)),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
            (131_072, 128_000),
        ),
        (
            "This model's maximum context length is 128000 tokens. However, you requested 140000 tokens (1 in …)",
            (140_000, 128_000),
        ),
        ("Input tokens exceed the configured limit of 272,000 tokens", (None, None)),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            (1_200_000, 1_048_576),
        ),
        ("Request payload size exceeds the limit: 20971520 bytes.", (None, None)),
        (
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            (537_812, 131_072),
        ),
        ("Please reduce the length of the messages or completion.", (None, None)),
        (
            "This endpoint's maximum context length is 200000 tokens. However, you requested about 210000 tokens",
            (210_000, 200_000),
        ),
        ("Range of input length should be [1, 30720]", (None, 30_720)),
        ("Input too long: 140000 input tokens, limit is 128000", (140_000, 128_000)),
        ("prompt token count of 70000 exceeds the limit of 64000", (70_000, 64_000)),
        (
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            (None, 32_768),
        ),
        ("Your request exceeded model token limit: 262144 (requested: 270000)", (270_000, 262_144)),
        ("invalid params, context window exceeds limit", (None, None)),
        ("Please reduce the length. Current length is 9000 while limit is 8192", (9_000, 8_192)),
        (
            "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
            (9_000, 8_192),
        ),
        ("the request exceeds the available context size. try increasing the context size", (None, None)),
        (
            "The number of tokens to keep from the initial prompt is greater than the context length.",
            (None, None),
        ),
        (
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 200",
            (5_000, 4_096),
        ),
        ("The prompt is longer than the model's context length of 4096", (None, 4_096)),
        ("context_length_exceeded", (None, None)),
        ("Context window exceeded", (None, None)),
        ("too many tokens", (None, None)),
        ("token limit exceeded", (None, None)),
    ],
)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_overflow_is_told_by_its_message(message: str, numbers: tuple[int | None, int | None], status: int):
    problem = from_response(SERVICE, "m", status, json_bytes(error(message)))
    assert isinstance(problem, ContextOverflow)
    assert (problem.used, problem.limit) == numbers
    assert not problem.retryable


def test_overflow_is_told_by_its_code_too():
    assert overflow_in("no words for it", "context_length_exceeded") == (None, None)
    body = {
        "error": {
            "code": 400,
            "message": "exceeds the available context size",
            "type": "exceed_context_size_error",
        }
    }
    body["error"] |= {"n_prompt_tokens": 9, "n_ctx": 8}
    problem = from_response(SERVICE, "m", 400, json_bytes(body))
    assert isinstance(problem, ContextOverflow)
    assert (problem.used, problem.limit) == (9, 8)


@pytest.mark.parametrize("status", [400, 413])
def test_a_refusal_without_a_word_is_taken_for_an_overflow(status: int):
    assert isinstance(from_response(SERVICE, "m", status, b""), ContextOverflow)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            429,
            error("Request too large for m on tokens per min (TPM): Limit 1, Requested 2, too many tokens"),
            RateLimited,
        ),
        (413, error("Request too large: too many tokens", "tokens", "rate_limit_exceeded"), RateLimited),
        (
            400,
            error("Invalid 'x': string too long, too many tokens", "", "string_above_max_length"),
            RequestRefused,
        ),
        (
            400,
            {"error": {"message": "your tool is wrong"}, "echo": "prompt is too long: 2 tokens > 1 maximum"},
            RequestRefused,
        ),
        (
            429,
            error("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
            QuotaExhausted,
        ),
        (
            429,
            {
                "error": {
                    "type": "rate_limit_error",
                    "message": "cap",
                    "details": {"error_code": "enforced_spend_limit_reached"},
                }
            },
            QuotaExhausted,
        ),
        (
            400,
            error("Your credit balance is too low to access the API.", "invalid_request_error"),
            QuotaExhausted,
        ),
        (402, error("Insufficient credits."), QuotaExhausted),
        (401, error("invalid x-api-key", "authentication_error"), AuthFailed),
        (403, error("not allowed", "permission_error"), AuthFailed),
        (404, error("model: m", "not_found_error"), ModelNotFound),
        (404, b"404 page not found", ModelNotFound),
        (408, error("timed out"), Overloaded),
        (409, error("conflict"), Overloaded),
        (500, b"", Overloaded),
        (503, {"detail": "loading"}, Overloaded),
        (529, error("Overloaded", "overloaded_error"), Overloaded),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, RequestRefused),
        (400, {"error": "plain words"}, RequestRefused),
        (400, {"object": "error", "message": "of a server", "code": 40001}, RequestRefused),
        (400, [error("in a list")], RequestRefused),
        (
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "code": 400,
                    "metadata": {"raw": '{"error":{"message":"prompt is too long"}}'},
                }
            },
            ContextOverflow,
        ),
        (
            400,
            {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad thing"}}},
            RequestRefused,
        ),
    ],
)
def test_each_status_has_its_place_in_the_tree(status: int, body: object, kind: type[ProviderError]):
    raw = body if isinstance(body, bytes) else json_bytes(body)
    problem = from_response(SERVICE, "m", status, raw)
    assert type(problem) is kind
    assert problem.status == status
    assert problem.retryable is (kind in (RateLimited, Overloaded))


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        ({"type": "error", "error": {"type": "api_error", "message": "Internal"}}, Overloaded),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}, RateLimited),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}, RequestRefused),
        ({"error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}, ContextOverflow),
        ({"error": {"code": 503, "message": "down"}, "choices": []}, Overloaded),
        ({"error": {"code": 401, "message": "no"}}, AuthFailed),
        ({"error": "model crashed"}, Overloaded),
        ({"object": "error", "message": "boom"}, Overloaded),
        (
            {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}},
            Overloaded,
        ),
        ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": QUOTA}}, RateLimited),
        ({"error": {"status": "INVALID_ARGUMENT", "message": "bad"}}, RequestRefused),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "flat"}, RateLimited),
        ({"type": "error", "code": None, "message": "flat"}, Overloaded),
        (
            {"type": "error", "error": {"code": "context_length_exceeded", "message": "Too long."}},
            ContextOverflow,
        ),
        ({"type": "error", "error": {"code": "server_is_overloaded", "message": "busy"}}, Overloaded),
        ({"type": "error", "code": "invalid_prompt", "message": "bad"}, RequestRefused),
    ],
)
@every
async def test_errors_inside_a_stream(family: str, event: dict[str, object], kind: type[ProviderError]):
    async with serving(family, Say("Hello there.", size=2, fail=(4, event))) as (_, model):
        with pytest.raises(kind):
            await answer_of(model)
    assert type(in_stream(SERVICE, "m", event)) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": "rate_limit_exceeded", "message": "Please try again in 1.054s."}, RateLimited),
        ({"code": "server_error", "message": "An error occurred."}, Overloaded),
        ({"code": "insufficient_quota", "message": "No credit."}, QuotaExhausted),
        (None, Overloaded),
    ],
)
async def test_a_response_that_failed_is_a_failure(error: object, kind: type[ProviderError]):
    event = {"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "error": error}}
    async with serving("responses", Say("Hello there.", size=2, fail=(4, event))) as (_, model):
        with pytest.raises(kind) as caught:
            await answer_of(model)
    assert caught.value.retry_after == (1.054 if kind is RateLimited else None)


@pytest.mark.parametrize(
    ("code", "details", "kind", "wait"),
    [
        (429, [{"@type": "RetryInfo", "retryDelay": "37s"}], RateLimited, 37),
        (
            429,
            [{"retryDelay": "1.5s"}, {"violations": [{"quotaId": "RequestsPerMinutePerProject"}]}],
            RateLimited,
            1.5,
        ),
        (429, [], RateLimited, None),
        (
            429,
            [{"violations": [{"quotaId": "RequestsPerDayPerProject"}]}, {"retryDelay": "9s"}],
            QuotaExhausted,
            None,
        ),
        (400, [{"@type": "ErrorInfo", "reason": "API_KEY_INVALID"}], AuthFailed, None),
        (400, [{"fieldViolations": [{"field": "contents"}]}], RequestRefused, None),
        (400, ["odd", {"violations": ["odd"]}, {"retryDelay": "soon"}], RequestRefused, None),
    ],
)
def test_what_google_says_in_the_details(
    code: int, details: object, kind: type[ProviderError], wait: float | None
):
    status = "RESOURCE_EXHAUSTED" if code == 429 else "INVALID_ARGUMENT"
    message = QUOTA if code == 429 else "API key not valid."
    body = {"error": {"code": code, "message": message, "status": status, "details": details}}
    problem = from_response(SERVICE, "m", code, json_bytes(body))
    assert (type(problem), problem.retry_after) == (kind, wait)


@pytest.mark.parametrize(
    ("words", "seconds"), [("20s", 20), ("1.5s", 1.5), ("280ms", 0.28), ("a while", None)]
)
def test_a_wait_that_only_the_message_names(words: str, seconds: float | None):
    body = error(f"Rate limit reached. Please try again in {words}.", "tokens", "rate_limit_exceeded")
    assert from_response(SERVICE, "m", 429, json_bytes(body)).retry_after == seconds
    assert from_response(SERVICE, "m", 429, json_bytes(body), 7).retry_after == 7


def test_a_model_that_is_missing_with_another_status():
    body = error("The requested model 'm' does not exist.", "invalid_request_error", "model_not_found")
    assert isinstance(from_response(SERVICE, "m", 400, json_bytes(body)), ModelNotFound)


@every
async def test_the_wire_hands_on_status_words_and_wait(family: str):
    body = {"error": {"type": "rate_limit_error", "message": "50 requests per minute"}}
    headers = {"content-type": "application/json", "retry-after": "7"}
    async with serving(family, Raw(429, body, headers)) as (service, model):
        with pytest.raises(RateLimited, match="50 requests per minute") as caught:
            await answer_of(model)
    assert caught.value.retry_after == 7
    assert len(service.requests) == 1, "the transport itself never sends twice"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(1_000_030, usegmt=True)}, 30),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None):
    assert retry_after(headers, 1_000_000) == seconds


def test_people_are_told_what_to_do():
    said = {
        401: "Check that ANTHROPIC_API_KEY holds a complete key",
        402: "topped up",
        404: "agent-cli models",
        400: "refused again",
    }
    for status, words in said.items():
        assert words in str(from_response(SERVICE, "m", status, json_bytes(error("because"))))
        assert "because" in str(from_response(SERVICE, "m", status, json_bytes(error("because"))))
    long = str(from_response(SERVICE, "m", 400, json_bytes(error("x" * 5000))))
    assert len(long) < 600


@pytest.mark.parametrize(
    ("asked", "meant"), [("claude-opsu-5", "claude-opus-5"), ("claude-opus-5", ""), ("zzz", "")]
)
def test_a_model_that_the_service_does_not_know_may_be_misspelt(asked: str, meant: str) -> None:
    told = str(from_response(SERVICE, asked, 404, b"not here"))
    assert ("Did you mean" in told) is bool(meant)
    assert meant in told


def test_a_key_that_was_never_sent_was_not_refused():
    here = Service("The endpoint mine", "http://127.0.0.1:1/v1")
    problem = from_response(here, "m", 401, json_bytes(error("no key")))
    assert str(problem).startswith("The endpoint mine wants a key, and none was sent (401: no key). Name the")
    assert "refused the key" in str(from_response(SERVICE, "m", 401, json_bytes(error("no"))))

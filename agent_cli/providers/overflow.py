"""How services say that a prompt does not fit the context window, and what numbers they give.

Only the error's own message is looked at, never a whole body: a body may echo the prompt. Rate limits have
to be told apart before: a limit of tokens per minute is worded alike.
"""

from __future__ import annotations

import re
from typing import NamedTuple

USED = r"(?P<used>\d[\d,_]*)"
LIMIT = r"(?P<limit>\d[\d,_]*)"

SHAPES = (
    rf"prompt is too long(?:: {USED} tokens > {LIMIT} maximum)?",  # Anthropic
    rf"exceed context limit(?:: {USED} \+ \d+ > {LIMIT})?",  # Anthropic, with max_tokens
    r"input is too long for requested model",  # Bedrock
    rf"maximum context length is {LIMIT} tokens.{{0,200}}?(?:resulted in|requested(?: about)?) {USED}",
    rf"maximum context length is {LIMIT}",  # OpenAI, OpenRouter, vLLM without a second number
    r"exceeds? the context window",  # OpenAI
    r"input tokens exceed the configured limit",  # Azure
    rf"input token count \(?{USED}\)? exceeds the maximum number of tokens allowed \(?{LIMIT}\)?",  # Google
    r"request payload size exceeds the limit",  # Google, in bytes: images and files
    rf"maximum prompt length is {LIMIT} but the request contains {USED}",  # xAI
    r"reduce the length of the messages",  # Groq
    rf"range of input length should be \[\d+, ?{LIMIT}\]",  # Alibaba
    rf"input too long: {USED} input tokens, limit is {LIMIT}",  # Vercel
    rf"prompt token count of {USED} exceeds the limit of {LIMIT}",  # Copilot
    rf"too large for model with {LIMIT} maximum context length",  # Mistral
    rf"exceeded model token limit: {LIMIT} \(requested: {USED}\)",  # Kimi
    r"context window exceeds limit",  # MiniMax
    rf"current length is {USED} while limit is {LIMIT}",  # Cerebras
    rf"request \({USED} tokens\) exceeds the available context size \({LIMIT} tokens\)",  # llama.cpp
    r"exceeds the available context size",  # llama.cpp, older
    r"greater than the context length",  # LM Studio
    rf"`inputs` tokens \+ `max_new_tokens` must be <= {LIMIT}.{{0,40}}?{USED} `inputs` tokens",  # TGI
    r"`inputs` tokens \+ `max_new_tokens` must be",
    rf"is longer than the model'?s context length(?: of {LIMIT})?",  # vLLM
    r"context[ _](?:length|window)[ _](?:is |was |has been )?exceeded",
    r"exceed(?:s|ed|ing)? (?:the )?(?:model'?s )?(?:maximum )?context (?:length|window)",
    r"model_context_window_exceeded",
    r"too many tokens",
    r"token limit exceeded",
)
CODES = frozenset(("context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"))
OTHER_FIELDS = frozenset(("string_above_max_length", "array_above_max_length", "content_policy_violation"))
"""Codes of errors that may be worded like an overflow and are none."""


class Overflow(NamedTuple):
    used: int | None = None
    limit: int | None = None


def overflow_in(message: str, code: str = "", kind: str = "") -> Overflow | None:
    """What an error message, with its code and type where there are any, says about an overflow; None: nothing."""
    if code in OTHER_FIELDS:
        return None
    for shape in SHAPES:
        if found := re.search(shape, message, re.IGNORECASE | re.DOTALL):
            numbers = found.groupdict()
            return Overflow(_number(numbers.get("used")), _number(numbers.get("limit")))
    return Overflow() if code in CODES or kind in CODES else None


def _number(text: str | None) -> int | None:
    return int(re.sub(r"\D", "", text)) if text else None

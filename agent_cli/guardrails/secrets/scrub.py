"""A fact without secrets, whatever kind of fact it is: every text in it is looked through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeGuard, TypeVar

import msgspec

from agent_cli.guardrails.secrets.scan import LEAST, redact
from agent_cli.kernel.messages import Document, Image, Opaque, Reasoning, ToolCall
from agent_cli.kernel.wire import is_object

V = TypeVar("V", bound=msgspec.Struct)
Clean: TypeAlias = Callable[[str], str]

NAMES = frozenset({
    "call_id", "tool", "name", "kind", "provider", "model", "response_id", "subtask", "version", "platform", "day",
    "mode", "media_type", "signature", "finish_reason", "native_reason", "check", "surface", "severity", "guardrail",
    "signal", "outcome", "purpose", "error_kind", "cleared",
})  # fmt: skip
"""Fields that hold names and numbers of ours or of a service, and what a service wants back as it is."""
WITHHELD = "[WITHHELD: it could not be looked through for secrets]"


def scrubbed(value: V) -> tuple[V, tuple[str, ...]]:
    """The value without secrets, itself where there is none, and the kinds of what was replaced."""
    kinds: list[str] = []

    def clean(text: str) -> str:
        found = redact(text)
        kinds.extend(found.kinds)
        return found.text

    return _walked(value, clean), tuple(kinds)


def withheld(value: V) -> V:
    """The value without any text of some length: nobody could look through it."""
    return _walked(value, lambda text: WITHHELD)


def _walked(value: V, clean: Clean) -> V:
    match value:
        case Image() | Document() | Opaque():
            return value
        case Reasoning(text=text, signature=signature, opaque=opaque) if signature or opaque:
            shown, given_back = clean(text), _clean(opaque, clean)
            if shown == text and given_back is opaque:
                return value
            return msgspec.structs.replace(value, text=shown, signature=None, opaque=None)
        case _:
            pass
    changed: dict[str, Any] = {}
    for name in value.__struct_fields__:
        if name in NAMES or (name == "opaque" and isinstance(value, ToolCall)):
            continue
        before = getattr(value, name)
        after = _clean(before, clean)
        if after is not before:
            changed[name] = after
    return msgspec.structs.replace(value, **changed) if changed else value


def _is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, tuple | list)


def _clean(value: Any, clean: Clean) -> Any:
    """The very same object where nothing in it changes."""
    if isinstance(value, str):
        after = clean(value) if len(value) >= LEAST else value
        return value if after == value else after
    if isinstance(value, msgspec.Struct):
        return _walked(value, clean)
    if _is_sequence(value):
        held = [_clean(item, clean) for item in value]
        same = all(one is other for one, other in zip(held, value, strict=True))
        return value if same else tuple(held) if isinstance(value, tuple) else held
    if is_object(value):
        kept = {name: _clean(item, clean) for name, item in value.items()}
        return value if all(kept[name] is value[name] for name in kept) else kept
    return value

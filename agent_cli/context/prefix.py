"""Whether one prompt begins as the one before it did: what services cache is exactly that beginning."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from agent_cli.kernel.messages import Message, Prompt, ToolSpec


def digests(system: tuple[str, ...], tools: tuple[ToolSpec, ...]) -> str:
    """`TOOLS-SYSTEM`, a short digest of each, for a later process that has neither of today's."""
    return "-".join(blake2b(msgspec.json.encode(part), digest_size=6).hexdigest() for part in (tools, system))


def other(before: str, after: str) -> str:
    """What is not as it was by these digests of one model's requests; "" where all of it is, or nobody knows."""
    if "" in (before, after) or before == after:
        return ""
    old, new = before.partition("-"), after.partition("-")
    told = [f"the {name} changed" for name, at in (("tools", 0), ("system prompt", 2)) if old[at] != new[at]]
    return " and ".join(told)


def change(before: Prompt, after: Prompt) -> str:
    """What is no longer sent as it was, so that no cache holds it; "" where all of it is.

    The last message may have grown. Another model has a cache of its own, so that nothing is compared then. Who
    reduces or rewinds a conversation changes it on purpose, and does not ask.
    """
    if before.model != after.model:
        return ""
    if before.tools != after.tools:
        return _tools(before.tools, after.tools)
    if before.system != after.system:
        return "the system prompt is another one"
    return _messages(before.messages, after.messages)


def _tools(before: tuple[ToolSpec, ...], after: tuple[ToolSpec, ...]) -> str:
    old, new = ({tool.name: tool for tool in tools} for tools in (before, after))
    gone, added = [name for name in old if name not in new], [name for name in new if name not in old]
    other = [name for name in old if name in new and old[name] != new[name]]
    told = {"gone": gone, "new": added, "changed": other}
    changes = [f"{what}: {', '.join(names)}" for what, names in told.items() if names]
    return f"the tools changed ({'; '.join(changes) or 'their order'})"


def _messages(before: tuple[Message, ...], after: tuple[Message, ...]) -> str:
    """Equality looks at identity first, and the view hands out the same messages again: this is quick."""
    last = max(0, len(before) - 1)
    if before[:last] == after[:last] and all(_goes_on(old, after[last:]) for old in before[last:]):
        return ""
    at = next(
        (at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new), len(after)
    )
    what = "is not what it was" if at < len(after) else "is gone"
    return f"message {at + 1} of {len(before)} {what}"


def _goes_on(old: Message, rest: tuple[Message, ...]) -> bool:
    return bool(rest) and rest[0].role == old.role and rest[0].parts[: len(old.parts)] == old.parts

"""What every prompt begins with is computed once for each model, and kept on disk.

Reading the protocol costs a small machine five to ten seconds at the start of each process; taking up the
saved state costs milliseconds. The state holds the protocol alone, nothing of any conversation.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from agent_cli.providers.local.server import LocalServer, status_of

KEPT = 4
"""Files of a few megabytes each; the oldest go."""


async def warm_up(server: LocalServer, protocol: str) -> None:
    """Puts the protocol into the server's slot, from disk or by computing and saving it.

    Nothing depends on it: whatever fails here, the request itself will say.
    """
    name = _name(server, protocol)
    with suppress(OSError):
        if await _slot(server, "restore", name):
            return
        asked = {"messages": [{"role": "system", "content": protocol}], "max_tokens": 1, "cache_prompt": True}
        body = json.dumps(asked).encode()
        if await status_of(server.url, "POST", "/v1/chat/completions", body, server.key) == 200:
            _prune(server.states)
            await _slot(server, "save", name)


async def _slot(server: LocalServer, action: str, name: str) -> bool:
    if action == "restore" and not (server.states / name).is_file():
        return False
    body = json.dumps({"filename": name}).encode()
    return await status_of(server.url, "POST", f"/slots/0?action={action}", body, server.key) == 200


def _name(server: LocalServer, protocol: str) -> str:
    """Another model, server, window or protocol is another state."""
    facts: list[object] = [server.window, protocol]
    for path in (server.model, server.binary):
        found = path.stat()
        facts += [str(path), found.st_size, found.st_mtime_ns]
    return f"{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]}.state"


def _prune(states: Path) -> None:
    """Makes room for one more."""
    known = sorted(states.glob("*.state"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in known[KEPT - 1 :]:
        path.unlink(missing_ok=True)

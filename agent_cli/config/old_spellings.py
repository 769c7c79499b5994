"""Settings that are spelled otherwise today: they work, say so once, and may not contradict the new ones."""

from __future__ import annotations

from typing import Any

from agent_cli.kernel.wire import is_object

_OLD = "require_plan_artifact"


def renew(origin: str, tree: dict[str, Any], wrong: list[str], notices: list[str]) -> None:
    """Rewrites one layer in place; what does not go together in it is added to `wrong`."""
    permissions = tree.get("permissions")
    if not is_object(permissions) or permissions.get(_OLD) is None:
        return
    wanted = permissions.pop(_OLD) in (True, "true", "on", "yes", "1")
    said = permissions.get("plan_mode")
    if said is not None and (said == "required") != wanted:
        wrong.append(
            f"{origin}: permissions.{_OLD} = {str(wanted).lower()} and permissions.plan_mode = '{said}' contradict "
            f"each other; keep plan_mode (--plan-mode) and remove the other (--plan-first)."
        )
    mode = said or ("required" if wanted else "off")
    permissions["plan_mode"] = mode
    notices.append(
        f"{origin}: permissions.{_OLD} (--plan-first) is an old spelling; write permissions.plan_mode = '{mode}' "
        f"(--plan-mode {mode})."
    )

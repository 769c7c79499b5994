"""The policies: each looks at one proposal and rules, or passes to the next. Pure.

`proposal.touches.effect` is what a call does: "read" and "write" name their paths, "execute" its command,
"none" touches nothing outside the session. Paths of a command are what could be made out in its words.
"""

from __future__ import annotations

import re

import msgspec

from agent_cli.permissions import globs, hosts
from agent_cli.permissions.denylist import catastrophe
from agent_cli.permissions.destructive import discards
from agent_cli.permissions.hidden import hides
from agent_cli.permissions.own_program import changes_itself
from agent_cli.permissions.rules import (
    Rule,
    about,
    allows_line,
    allows_path,
    closes,
    denies,
    is_about_files,
    names_place,
    parse,
    told_of,
)
from agent_cli.permissions.search_gate import native_for
from agent_cli.permissions.secrets import looks_secret
from agent_cli.permissions.shell import trimmed
from agent_cli.permissions.suggest import suggestion
from agent_cli.ports import Facts, PathUse, Proposal, Ruling

# ── gates: what they refuse or ask, nothing behind them can allow ──


def kill_switch(proposal: Proposal, facts: Facts) -> Ruling | None:
    for tool, reason in facts.killed:
        if tool in ("*", proposal.tool):
            return Ruling("deny", "kill-switch", reason, "Do not try it again: go on without it, or stop.")
    return None


def denylist(proposal: Proposal, facts: Facts) -> Ruling | None:
    command = proposal.touches.command
    found = catastrophe(command) if command is not None else None
    if found is None:
        return None
    return Ruling(
        "deny",
        "denylist",
        f"this command {found}",
        "No mode and no rule lets it through; a person can run it by hand.",
    )


def control_plane(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Files that decide what is allowed: each write needs its own answer, in every mode, by no grant."""
    touched = _control_touched(proposal, facts)
    command = proposal.touches.command
    if touched is None and command is not None and changes_itself(command):
        touched = "this command of agent-cli"
    if touched is None:
        return None
    reason = f"{touched} decides what this program may do; each change needs its own approval"
    if facts.attended:
        return Ruling("ask", "control-plane", reason, once_only=True)
    remedy = "Nobody is here to approve it: a person has to make this change."
    return Ruling("deny", "control-plane", reason, remedy)


def deny_rules(proposal: Proposal, facts: Facts) -> Ruling | None:
    for rule in about(facts.deny, proposal):
        if denies(rule, proposal, facts.roots):
            return Ruling("deny", f"deny: {rule.text}", f"the rule '{rule.text}' forbids it")
    for text in facts.deny:
        if shut := closes(parse(text), proposal.touches.paths, facts.roots):
            return Ruling("deny", f"deny: {text}", told_of(text, shut, proposal))
    return _untold(proposal, facts) if proposal.touches.unresolved else None


def _untold(proposal: Proposal, facts: Facts) -> Ruling | None:
    """A command of which nobody can say what it touches may touch what is closed."""
    text = next((text for text in facts.deny if is_about_files(parse(text))), "")
    if not text or proposal.touches.command is None:
        return None
    reason = (
        f"it cannot be told whether it touches what the rule '{text}' closes: {proposal.touches.unresolved}"
    )
    return Ruling("deny", f"deny: {text}", reason, "Name fewer files at once.")


def hidden_commands(proposal: Proposal, facts: Facts) -> Ruling | None:
    """What a rule forbids could run unseen: no rule and no mode lets that through without an answer."""
    command = proposal.touches.command
    if command is None:
        return None
    if not (why := hides(command, [rule for rule in about(facts.deny, proposal) if not rule.is_everything])):
        return None
    reason = f"{why}, and deny rules forbid commands that could hide there"
    asked = _ask_or_refuse(proposal, facts, "hidden-command", reason, "Write the command out in plain words.")
    return msgspec.structs.replace(asked, once_only=True)


def destructive(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Asked in every mode; a rule that is exactly this line passes."""
    command = proposal.touches.command
    named = (use.path for use in proposal.touches.paths)
    lost = discards(command, named) if command is not None else ""
    if not lost or _exact_line(_permitting(proposal, facts), proposal):
        return None
    remedy = f"An allow rule for exactly this line: '{proposal.tool}:{globs.escape(trimmed(command or ''))}'."
    return _ask_or_refuse(proposal, facts, "destructive-git", f"it {lost}", remedy)


def search_gate(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Points to the tool that does it better. An allowing answer carries a warning and decides nothing."""
    command = proposal.touches.command
    if command is None or facts.search_gate == "allow":
        return None
    native = native_for(command, facts.tools)
    if not native:
        return None
    reason = f"this is what the tool {native} is for: it is faster, bounded, and passes what git ignores"
    if facts.search_gate == "warn":
        return Ruling("allow", "search-gate", "", warning=f"bash ran '{command}': {reason}")
    return Ruling("deny", "search-gate", reason, f"Use {native}.")


def url_scope(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Hosts that may never be reached, and where some are named, all others are asked."""
    for host in proposal.touches.hosts:
        forbidden = hosts.denied(host, facts.url_deny)
        if forbidden:
            return Ruling("deny", f"url-scope: {forbidden}", f"url_scope.deny forbids {host}")
    if facts.mode == "yolo" or not facts.url_allow:
        return None
    outside = [host for host in proposal.touches.hosts if not hosts.allowed(host, facts.url_allow)]
    if not outside:
        return None
    reason = f"{outside[0]} is not among the hosts of url_scope.allow"
    return _ask_or_refuse(proposal, facts, "url-scope", reason, f"Add '{outside[0]}' to url_scope.allow.")


def plan_mode(proposal: Proposal, facts: Facts) -> Ruling | None:
    if facts.mode != "plan" or proposal.read_only or proposal.touches.effect in ("read", "none"):
        return None
    if _only_reads(proposal, facts):
        return None
    remedy = "Finish the plan; the operator switches to another mode to carry it out."
    return Ruling("deny", "plan-mode", "in plan mode nothing is changed", remedy)


def plan_gate(proposal: Proposal, facts: Facts) -> Ruling | None:
    """What changes something, leaves the machine or starts another agent waits for a plan."""
    if not facts.needs_plan or not _waits_for_plan(proposal, facts):
        return None
    stuck = facts.tools and RECORD_PLAN not in facts.tools
    return Ruling("deny", "plan-gate", facts.needs_plan, PLANLESS if stuck else PLAN_FIRST)


def plan_approval(proposal: Proposal, facts: Facts) -> Ruling | None:
    if not facts.approves_plans or proposal.tool != RECORD_PLAN:
        return None
    return Ruling("ask", "plan-approval", "the operator agrees to each plan first", once_only=True)


def questions(proposal: Proposal, facts: Facts) -> Ruling | None:
    """A question of the model waits for its answer; where nobody is there, the tool says so."""
    if proposal.tool != ASK_USER or not (facts.attended or facts.questions):
        return None
    return Ruling("ask", QUESTION, "the agent has a question", once_only=True)


def path_scope(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Outside the roots a person is asked. Only a rule that names the place itself passes, and yolo."""
    if facts.mode == "yolo":
        return None
    if proposal.touches.unresolved:
        reason = f"the path cannot be resolved ({proposal.touches.unresolved}), so it counts as outside"
        return _ask_or_refuse(proposal, facts, "path-scope", reason, "")
    outside = [use for use in proposal.touches.paths if not in_scope(use, facts.roots)]
    rules = _permitting(proposal, facts)
    if _exact_line(rules, proposal):
        return None
    outside = [use for use in outside if not _named_place(rules, use, facts)]
    if not outside:
        return None
    first = outside[0]
    does = "writes" if first.access == "w" else "reads"
    reason = f"it {does} {first.path}, which is outside the project"
    remedy = f"--allow-path {first.path}:{'rw' if first.access == 'w' else 'r'}"
    return _ask_or_refuse(proposal, facts, "path-scope", reason, remedy)


def secret_paths(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Only a rule that spells out a secret-looking name passes, and yolo."""
    if facts.mode == "yolo":
        return None
    rules = _permitting(proposal, facts)
    if _exact_line(rules, proposal):
        return None
    for use in proposal.touches.paths:
        if looks_secret(use.path) and not _named_secret(rules, use, facts):
            reason = f"{use.path} looks as if it holds secrets"
            remedy = f"An allow rule '{suggestion(proposal)}', or --yolo."
            return _ask_or_refuse(proposal, facts, "secret-path", reason, remedy)
    return None


# ── permits: the first one decides ──


def permitted(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Allow rules, grants of this session, and the read bundle, which may share the commands of one line."""
    rules = _permitting(proposal, facts)
    used = _permits(proposal, rules, facts)
    if used is None:
        return None
    named = [
        f"{'allow' if text in facts.allow else 'grant'}: {text}" if text != BUNDLE else text for text in used
    ]
    return Ruling("allow", ", ".join(named), "")


def allowed_hosts(proposal: Proposal, facts: Facts) -> Ruling | None:
    """Reading from hosts that the operator named is reading inside the scope."""
    named = proposal.touches.hosts
    if not named or not proposal.read_only or proposal.touches.effect != "network":
        return None
    used = [hosts.allowed(host, facts.url_allow) for host in named]
    return Ruling("allow", f"url-scope: {', '.join(used)}", "") if all(used) else None


def vouched(proposal: Proposal, facts: Facts) -> Ruling | None:
    """A tool of a server whose word for it, that it changes nothing, the operator takes."""
    if not (proposal.tool.startswith("mcp__") and proposal.read_only):
        return None
    return Ruling("allow", "read-only by the server's word (trust_hints)", "")


def mode(proposal: Proposal, facts: Facts) -> Ruling | None:
    """What the mode says of everything that is left; it always rules."""
    name = f"mode: {facts.mode}"
    effect = proposal.touches.effect
    if facts.mode == "yolo" or effect in ("none", "read"):
        return Ruling("allow", name, "")
    if effect == "write" and facts.mode == "acceptEdits":
        return Ruling("allow", name, "")
    reasons = {"write": "it changes files", "execute": "it runs a command", "network": "it uses the network"}
    if proposal.tool.startswith("mcp__"):
        reasons["network"] = "it is a tool of another program"
    ways = "An allow rule '{rule}', or --yolo."
    if effect == "write":
        ways = "--permission-mode acceptEdits, an allow rule '{rule}', or --yolo."
    remedy = ways.format(rule=suggestion(proposal))
    return _ask_or_refuse(proposal, facts, name, f"{reasons[effect]}, and no rule allows it", remedy)


# ── shared questions ──

BUNDLE = "read-bundle"
RECORD_PLAN = "record_plan"
PLAN_FIRST = "Read what you need, then call record_plan; after that, make the call again."
PLANLESS = "No plan can be recorded in this session: answer with the plan, and leave such calls be."
ASK_USER = "ask_user"
QUESTION = "question"
_OUTWARD = frozenset({"fetch_url", "spawn_agent", "agentic_fetch_url"})
"""Tools that wait for a plan whatever they touch."""
_HARMLESS = re.compile(r"/dev/(null|zero|u?random|std(in|out|err)|tty|fd/\d+)")


_CONTROL = re.compile(
    r"/\.mcp\.json$|/\.claude/agents(/.*)?$|/\.agents/(config\.(json|toml)|mcp\.json|guardrails\.toml|(tools|hooks|commands|agents)(/.*)?)$|/\.git/(hooks(/.*)?|config)$",
    re.IGNORECASE | re.DOTALL,
)
"""In any directory: a run that starts there later would take its rules from them."""
_REPOSITORY = re.compile(
    r"/\.git(/(?!(index\.lock|[A-Z_]+_(EDITMSG|MSG)|info/exclude)$).*)?$", re.IGNORECASE | re.DOTALL
)
"""What git follows to other hooks and another config: `.git` as a file, `commondir`, `modules/`."""


def decides(path: str) -> bool:
    """Whether a file of that name decides what is allowed to whoever works in its directory."""
    return _CONTROL.search(path) is not None


def in_scope(use: PathUse, roots: tuple[tuple[str, str], ...]) -> bool:
    """The innermost root that holds the path decides."""
    if _HARMLESS.fullmatch(use.path):
        return True
    holding = [(len(root), access) for root, access in roots if _holds(root, use.path)]
    innermost = max(holding, default=(0, ""))[0]
    return any(use.access in access for length, access in holding if length == innermost)


def _holds(root: str, path: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _ask_or_refuse(proposal: Proposal, facts: Facts, rule: str, reason: str, remedy: str) -> Ruling:
    """Mode "allow" never asks; where nobody can answer, a question is a refusal that names the way."""
    if facts.mode == "allow":
        return Ruling("deny", rule, f"{reason}; in mode 'allow' nobody is asked", remedy)
    if not facts.attended:
        return Ruling("deny", rule, f"{reason}; nobody is here to be asked", remedy)
    return Ruling("ask", rule, reason, remedy)


def _permitting(proposal: Proposal, facts: Facts) -> tuple[Rule, ...]:
    return tuple(about((*facts.allow, *facts.grants), proposal))


def _permits(proposal: Proposal, rules: tuple[Rule, ...], facts: Facts) -> tuple[str, ...] | None:
    touches = proposal.touches
    if touches.command is not None:
        return allows_line(rules, touches.command, _foreign(proposal, facts))
    for rule in rules:
        if rule.is_everything or globs.literal(rule.pattern) == touches.subject:
            return (rule.text,)
    if touches.effect not in ("read", "write") or not touches.paths:
        by_subject = (rule for rule in rules if globs.flat(rule.pattern).fullmatch(touches.subject))
        return next(((rule.text,) for rule in by_subject), None)
    used: dict[str, None] = {}
    for use in touches.paths:
        rule = next((rule for rule in rules if allows_path(rule, use.path, facts.roots)), None)
        if rule is None:
            return None
        used[rule.text] = None
    return tuple(used)


def _waits_for_plan(proposal: Proposal, facts: Facts) -> bool:
    if proposal.tool in _OUTWARD or proposal.tool.startswith("mcp__"):
        return True
    effect = proposal.touches.effect
    if effect == "network":
        return True
    return effect in ("write", "execute") and not _only_reads(proposal, facts)


def _only_reads(proposal: Proposal, facts: Facts) -> bool:
    command = proposal.touches.command
    return command is not None and allows_line((), command, _foreign(proposal, facts)) is not None


def _foreign(proposal: Proposal, facts: Facts) -> frozenset[str]:
    """Names of programs that lie where tools may write: whatever they are called, the agent may have made them."""
    return frozenset(
        name for name, path in proposal.touches.programs if in_scope(PathUse(path, "w"), facts.roots)
    )


def _exact_line(rules: tuple[Rule, ...], proposal: Proposal) -> bool:
    command = proposal.touches.command
    return command is not None and any(globs.literal(rule.pattern) == trimmed(command) for rule in rules)


def _named_place(rules: tuple[Rule, ...], use: PathUse, facts: Facts) -> bool:
    return any(names_place(rule) and allows_path(rule, use.path, facts.roots) for rule in rules)


def _named_secret(rules: tuple[Rule, ...], use: PathUse, facts: Facts) -> bool:
    return any(looks_secret(rule.pattern) and allows_path(rule, use.path, facts.roots) for rule in rules)


def _control_touched(proposal: Proposal, facts: Facts) -> str | None:
    touches = proposal.touches
    if touches.effect not in ("write", "execute") or _only_reads(proposal, facts):
        return None
    for use in touches.paths:
        if (use.access == "w" or touches.effect == "execute") and _CONTROL.search(use.path):
            return use.path
        if use.access == "w" and _REPOSITORY.search(use.path):
            return use.path
    roots = {root for root, _ in facts.roots}
    uses = [use for use in touches.paths if touches.effect != "write" or use.access == "w"]
    uses = [use for use in uses if not any(_holds(place, use.path) for place in facts.workplaces)]
    for control in facts.control:
        for use in uses:
            above = (
                use.access == "w"
                and use.path not in roots
                and _holds(use.path.casefold(), control.casefold())
            )
            if _holds(control.casefold(), use.path.casefold()) or above:
                return control
        if touches.command is not None and _mentions(touches.command, control, roots):
            return control
    return None


def _mentions(command: str, control: str, roots: set[str]) -> bool:
    """Whether the text of a command that cannot be taken apart names the file."""
    inside = [control[len(root) :].lstrip("/") for root in roots if _holds(root, control) and root != control]
    names = {control, *(name for name in inside if "/" in name)}
    return any(name.casefold() in command.casefold() for name in names)

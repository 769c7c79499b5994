"""The order of the policies. The place of a line in it is what a review is about."""

from __future__ import annotations

import msgspec

from agent_cli.permissions import policies
from agent_cli.ports import Facts, Policy, Proposal, Ruling

GATES: tuple[Policy, ...] = (
    policies.kill_switch,  # what an operator stopped from outside
    policies.denylist,  # catastrophes: in every mode, whatever the rules say
    policies.control_plane,  # files that decide what is allowed: each write asks, by no grant
    policies.deny_rules,  # the operator's refusals: reads too, in every mode
    policies.hidden_commands,  # what those refusals could not see
    policies.destructive,  # git that throws work away: asks in every mode
    policies.search_gate,  # what a tool of ours does better than a shell
    policies.plan_mode,  # nothing that changes anything
    policies.plan_gate,  # nothing that changes anything before a plan is recorded
    policies.plan_approval,  # the operator agrees to each plan
    policies.questions,  # what the model wants to know
    policies.path_scope,  # the project and what was added to it
    policies.url_scope,  # hosts of the web
    policies.secret_paths,  # .env, keys, credentials
)
"""A refusal of any of these outranks a question of an earlier one; none of them allows."""

PERMITS: tuple[Policy, ...] = (
    policies.permitted,  # allow rules, grants, the read bundle
    policies.allowed_hosts,  # hosts that the operator named
    policies.vouched,  # servers whose hints the operator trusts
    policies.mode,  # what is left
)
"""The first that rules decides."""

BOOK = (*GATES, *PERMITS)


def judge(proposal: Proposal, facts: Facts) -> Ruling:
    """The ruling on one call. A policy that raises counts as deny. Where nobody is there, nothing is asked."""
    asked: Ruling | None = None
    warning = ""
    for policy in GATES:
        ruling = _ruling(policy, proposal, facts)
        if ruling is None or ruling.verdict == "allow":
            warning = warning or (ruling.warning if ruling else "")
            continue
        if ruling.verdict == "deny":
            return ruling
        asked = asked or ruling
    if asked is not None:
        return _answerable(asked, facts)
    for policy in PERMITS:
        ruling = _ruling(policy, proposal, facts)
        if ruling is not None:
            ruling = msgspec.structs.replace(ruling, warning=warning) if warning else ruling
            return _answerable(ruling, facts)
    return Ruling("deny", "nothing-allows", "no policy allows it")


def _ruling(policy: Policy, proposal: Proposal, facts: Facts) -> Ruling | None:
    try:
        return policy(proposal, facts)
    except Exception as problem:  # noqa: BLE001  a gate that breaks stays shut, whatever it raised
        name = getattr(policy, "__name__", type(policy).__name__)
        return Ruling("deny", f"failed: {name}", f"the rule failed ({type(problem).__name__}: {problem})")


def _answerable(ruling: Ruling, facts: Facts) -> Ruling:
    answered = facts.attended or (facts.questions and ruling.rule == policies.QUESTION)
    if ruling.verdict != "ask" or answered:
        return ruling
    return Ruling("deny", ruling.rule, f"{ruling.reason}; nobody is here to be asked", ruling.remedy)

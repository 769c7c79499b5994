"""`agent-cli pool`: what runs over one account may take together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from agent_cli.cli.command import as_json, loaded, options_of, table
from agent_cli.kernel.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_cli.guardrails.admission import Pool
    from agent_cli.store.pools import Held, Pools

app = typer.Typer(
    name="pool",
    help="What runs over one account may take together: how many at once, dollars, tool calls a minute.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
AsJson = Annotated[bool, typer.Option("--json", help="JSON.")]


@app.command("set")
def change(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What --pool calls it.", metavar="NAME")],
    runs: Annotated[int | None, typer.Option(help="Runs at once. 0 means any number.", min=0)] = None,
    usd: Annotated[
        float | None, typer.Option(help="Dollars that running runs hold together. 0: any.", min=0)
    ] = None,
    calls: Annotated[
        float | None,
        typer.Option("--calls-per-minute", help="Tool calls a minute. 0 means any number.", min=0),
    ] = None,
) -> None:
    """Make a pool, or change its limits; what is not said stays. Runs under way keep what they hold."""
    from agent_cli.compose import session_db
    from agent_cli.compose.admission import pool_from
    from agent_cli.compose.kill_switch import who
    from agent_cli.store.pools import open_pools

    pools = open_pools(session_db(options_of(ctx), loaded(ctx).settings))
    try:
        before = {pool.name: pool for pool in pools.books.pools()}.get(name)
        pool = pool_from(name, before, runs, usd, calls)
        pools.set(pool, who(), time.time())
        typer.echo(f"{name}: {_limits(pool)}")
    finally:
        pools.close()


@app.command()
def show(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="One pool. Default: all.", metavar="NAME")] = "",
    ledger: Annotated[
        bool, typer.Option("--ledger", help="Every posting of the pool, the oldest first.")
    ] = False,
    as_object: AsJson = False,
) -> None:
    """Print limits, what is held now and by whom, and how good the estimates were."""
    from agent_cli.compose import session_db
    from agent_cli.kernel.records import whole
    from agent_cli.store.pools import open_pools

    path = session_db(options_of(ctx), loaded(ctx).settings)
    pools = open_pools(path)
    try:
        known = [pool for pool in pools.books.pools() if name in ("", pool.name)]
        if name and not known:
            raise ConfigError(f"There is no pool '{name}'. `agent-cli pool set {name} --runs 4` makes one.")
        if ledger:
            postings = [whole(posting) for pool in known for posting in pools.books.ledger(pool.name)]
            typer.echo(as_json(postings) if as_object else "\n".join(_posting(each) for each in postings))
        elif as_object:
            typer.echo(as_json([_whole(pools, pool) for pool in known]))
        else:
            typer.echo("\n\n".join(_shown(pools, pool) for pool in known) or "There is no pool.")
    finally:
        pools.close()


def _whole(pools: Pools, pool: Pool) -> dict[str, object]:
    from agent_cli.guardrails.admission import misjudged
    from agent_cli.kernel.records import whole

    held, past = pools.books.held(pool.name), pools.books.past(pool.name)
    return {
        "name": pool.name,
        "limits": {"runs": pool.runs, "usd": pool.usd, "calls_per_minute": pool.calls},
        "held": {
            "runs": len(held),
            "usd": sum(each.usd for each in held),
            "calls_per_minute": sum(each.calls for each in held),
            "spent_usd": sum(each.spent for each in held),
        },
        "calls_in_the_last_minute": _calls(pools, pool),
        "runs": [whole(each) for each in held],
        "ended_runs": len(past),
        "estimates": list(misjudged(past)),
    }


def _shown(pools: Pools, pool: Pool) -> str:
    from agent_cli.guardrails.admission import misjudged

    held, past = pools.books.held(pool.name), pools.books.past(pool.name)
    usd = sum(each.usd for each in held)
    lines = [f"{pool.name}: {_limits(pool)}", f"held by {len(held)} runs: ${usd:.2f}"]
    lines.append(f"{_calls(pools, pool):g} tool calls in the last minute")
    lines += [_table(held)] if held else []
    lines.append(f"{len(past)} runs ended")
    return "\n".join((*lines, *misjudged(past)))


def _calls(pools: Pools, pool: Pool) -> float:
    return sum(count for _, count in pools.books.begun(pool.name, time.time() - 60))


def _table(held: Sequence[Held]) -> str:
    now = time.time()
    rows = [
        (
            each.session, each.task, f"{each.usd:.2f}", f"{each.spent:.4f}", f"{each.calls:g}", str(each.made),
            f"{now - each.began:.0f}", f"{each.lease - now:.0f}", each.owner,
        )
        for each in held
    ]  # fmt: skip
    head = ("session", "task", "USD held", "spent", "calls/min", "calls", "since (s)", "lease (s)", "process")
    return table(head, rows, frozenset(range(2, 8)))


def _limits(pool: Pool) -> str:
    said = [
        f"{pool.runs} runs at once" if pool.runs else "",
        f"${pool.usd:.2f} reserved" if pool.usd else "",
        f"{pool.calls:g} tool calls a minute" if pool.calls else "",
    ]
    return ", ".join(filter(None, said)) or "no limit"


def _posting(posting: dict[str, object]) -> str:
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(float(str(posting["time"]))))
    return f"{moment}  {posting['kind']:<10}  {posting['run']}  ${posting['usd']:.4f}  {posting['calls']:g}  {posting['why']}"

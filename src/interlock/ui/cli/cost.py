"""`interlock cost`: the tokens and the money of agents, from the log."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from interlock.engine.host import LocalHost
from interlock.model.usage import Usage
from interlock.ui.at_work import money, short_count
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read
from interlock.ui.plain import counted, inert
from interlock.ui.queries.clutch import Decisions, clutch_view
from interlock.ui.queries.spending import CostDocument, Spending, cost_document
from interlock.ui.reading import all_rows
from interlock.ui.words.reasons import with_reasons

SHOWN = 20
GROUPS = ("agent", "task", "category", "day")


@cli_command("cost")
@click.option("--by", type=click.Choice(GROUPS), default="agent", help="What the figures are added up for.")
async def cost_command(invocation: Invocation, by: str) -> None:
    """Show the tokens of agents, and the money where an agent reports it, over all runs.

    For example: interlock cost --by task
    """
    spending, decisions = Spending(), Decisions()
    async with opened(invocation) as project:
        reading = await read(project.store)
        async for row in all_rows(project.store):
            spending.add(row)
            decisions.add(row)
        view = clutch_view(reading, LocalHost().read(), tuple(decisions.newest))
    clutch: Any = with_reasons(view)  # Any: a document
    found = cost_document(reading.state, spending, clutch, reading.now)
    say_listing(invocation, lambda: found, _lines(found, by))


def _lines(found: CostDocument, by: str) -> Iterator[str]:
    rows = _rows(found, by)
    if not rows:
        note("no agent has reported tokens yet")
        return
    yield f"{paint('all', 'cyan')}  {_usage(found.usage)}"
    width = max(len(name) for name, _, _ in rows[:SHOWN])
    for name, attempts, usage in rows[:SHOWN]:
        yield f"{name:{width}}  {counted(attempts, 'attempt')}, {_usage(usage)}"
    if len(rows) > SHOWN:
        note(f"{len(rows) - SHOWN} more: interlock cost --by {by} --json")


def _rows(found: CostDocument, by: str) -> Sequence[tuple[str, int, Usage]]:
    if by == "task":
        return [(each.task, each.attempts, each.usage) for each in found.tasks]
    if by == "category":
        return [(inert(each.category), each.attempts, each.usage) for each in found.categories]
    if by == "day":
        return [(each.day, each.attempts, each.usage) for each in found.days]
    return [(inert(each.agent), each.attempts, each.usage) for each in found.agents]


def _usage(usage: Usage) -> str:
    cached = f" ({short_count(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    cost = f", {money(usage.cost_usd)}" if usage.cost_usd is not None else ""
    tokens = f"{short_count(usage.input_tokens)} tokens in{cached}, {short_count(usage.output_tokens)} out"
    return f"{tokens}, {counted(usage.calls, 'call')}{cost}"

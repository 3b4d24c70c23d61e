"""`interlock cost`: the tokens and the money of agents, from the log."""

from collections.abc import Iterator
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
from interlock.ui.queries.spending import (
    AGENT,
    GROUPS,
    MODEL,
    STORY,
    CostDocument,
    GroupUsage,
    Spending,
    cost_document,
)
from interlock.ui.reading import all_rows
from interlock.ui.words.reasons import with_reasons

SHOWN = 20
UNNAMED = {MODEL: "(chosen by the agent program)", STORY: "(no story)"}


@cli_command("cost")
@click.option("--by", type=click.Choice(GROUPS), default=AGENT, help="What the figures are added up for.")
async def cost_command(invocation: Invocation, by: str) -> None:
    """Show the tokens and the money of agents over all runs, and the money for each landed change.

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
    rows = found.by[by]
    if not any(row.attempts for row in rows):
        told = f": {counted(found.uncounted, 'attempt')} told no usage" if found.uncounted else ""
        note(f"no agent has reported tokens yet{told}")
        return
    yield f"{paint('all', 'cyan')}  {_used(found.usage, found.landed)}"
    names = [inert(row.name) or UNNAMED.get(by, "unknown") for row in rows[:SHOWN]]
    width = max(map(len, names))
    for name, row in zip(names, rows, strict=False):
        yield f"{name:{width}}  {_row(row)}"
    if len(rows) > SHOWN:
        note(f"{len(rows) - SHOWN} more: interlock cost --by {by} --json")
    if found.uncounted:
        note(f"{counted(found.uncounted, 'attempt')} more told no usage")
    if found.usage.unpriced_tokens:
        tokens = short_count(found.usage.unpriced_tokens)
        note(f"the price of {tokens} tokens is not known; the setting `prices` gives models a price")


def _row(row: GroupUsage) -> str:
    return f"{counted(row.attempts, 'attempt')}, {_used(row.usage, row.landed)}"


def _used(usage: Usage, landed: int) -> str:
    cached = f" ({short_count(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    tokens = f"{short_count(usage.input_tokens)} tokens in{cached}, {short_count(usage.output_tokens)} out"
    parts = [tokens, counted(usage.calls, "call"), _money(usage)]
    if landed:
        each = f", {money(usage.cost_usd / landed)} each" if usage.cost_usd is not None else ""
        parts.append(f"{landed} landed{each}")
    return ", ".join(filter(None, parts))


def _money(usage: Usage) -> str:
    if usage.cost_usd is None:
        return "price unknown" if usage.tokens else ""
    more = (
        f" and {short_count(usage.unpriced_tokens)} tokens of unknown price" if usage.unpriced_tokens else ""
    )
    return money(usage.cost_usd) + more

"""`interlock budget`: what is left of each budget, and the way to raise one."""

from collections.abc import Iterator

import click

from interlock.model.budget import Amount
from interlock.ui.actions.budget import RAISED, raise_budget
from interlock.ui.at_work import money, short_count
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing, say_result
from interlock.ui.cli.session import actor, opened, read
from interlock.ui.plain import inert
from interlock.ui.queries.budgets import BudgetRow, budget_rows

EACH = ("attempt", "task")


@cli_command("budget")
@click.option("--add", "usd", type=click.FloatRange(0, 1e9), metavar="USD", help="Add so much money.")
@click.option(
    "--add-tokens", "tokens", type=click.IntRange(0, 10**15), metavar="N", help="Add so many tokens."
)
@click.option(
    "--of",
    "budget",
    type=click.Choice([str(name) for name in RAISED]),
    help="The budget to add to. Default: each that is used up.",
)
@click.option("--task", default="", metavar="TASK", help="Add to the budget of this task.")
async def budget_command(
    invocation: Invocation, usd: float | None, tokens: int | None, budget: str | None, task: str
) -> None:
    """Show what is left of each budget, or add to one. A run that goes on takes it up at once.

    What is added to the budget of a run or a day ends with it. The settings budget_usd and budget_tokens
    say the budgets of the next run.

    For example: interlock budget --add 5
    """
    more = Amount(usd or 0.0, tokens or 0)
    async with opened(invocation) as project:
        reading = await read(project.store)
        if usd is None and tokens is None:
            found = budget_rows(reading.state, reading.now)
            say_listing(invocation, lambda: {"budgets": found}, _lines(found))
            return
        added = await raise_budget(project.store, reading, more, actor(), budget or "", task)
    words = " and ".join(filter(None, (money(more.usd) if more.usd else "", _tokens(more.tokens))))
    lines = [f"added {words} to the budget of {_of(fact.budget, fact.task)}" for fact in added]
    if not reading.is_live:
        lines.append("Next: interlock run")
    document = [
        {"budget": fact.budget, "task": fact.task, "usd": fact.usd, "tokens": fact.tokens} for fact in added
    ]
    say_result(invocation, {"added": document}, *lines)


def _of(budget: str, task: str) -> str:
    return f"task {task}" if task else f"the {budget}"


def _tokens(tokens: int) -> str:
    return f"{short_count(tokens)} tokens" if tokens else ""


def _lines(rows: list[BudgetRow]) -> Iterator[str]:
    if not rows:
        note("the last run had no budgets; set them in interlock.toml: budget_usd = {run = 20}")
        return
    width = max(len(_name(row)) for row in rows)
    for row in rows:
        name = f"{_name(row):{width}}"
        yield f"{paint(name, 'red') if row.is_used_up else name}  {'; '.join(_sides(row))}"
    if any(row.is_used_up for row in rows):
        note("no agent starts on a budget that is used up. Next: interlock budget --add 5")


def _name(row: BudgetRow) -> str:
    return inert(row.task) or (f"each {row.budget}" if row.budget in EACH else row.budget)


def _sides(row: BudgetRow) -> Iterator[str]:
    is_each = row.budget in EACH and not row.task
    if row.limit_usd is not None:
        held = f", {money(row.reserved_usd)} reserved" if row.reserved_usd else ""
        used = f"{money(row.spent_usd)} spent{held}, of "
        yield ("at most " if is_each else used) + str(money(row.limit_usd))
    if row.limit_tokens is not None:
        held = f", {short_count(row.reserved_tokens)} reserved" if row.reserved_tokens else ""
        used = f"{short_count(row.spent_tokens)} tokens used{held}, of "
        yield ("at most " if is_each else used) + f"{short_count(row.limit_tokens)} tokens"

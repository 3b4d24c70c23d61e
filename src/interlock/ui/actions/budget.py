"""Add to budgets. Everything is checked before the first fact."""

from interlock.events.facts import BudgetRaised
from interlock.events.state import State
from interlock.model.budget import SHARED, Amount, Budget, Budgeted
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.store.protocol import Store
from interlock.ui.queries.budgets import held_up
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading

RAISED = (Budgeted.TASK, *SHARED)
"""Budgets that can be added to. Each attempt has its own anew: the setting limits that."""


class _RunIsOver(UsageError):
    """The budget of a run that has ended cannot be added to."""

    def __init__(self) -> None:
        super().__init__("the run is over, and the next one has a budget of its own", "interlock run")


async def raise_budget(
    store: Store, reading: Reading, more: Amount, actor: str, budget: str = "", task: str = ""
) -> list[BudgetRaised]:
    """Add this to a budget; without a name, to each that is used up. Returns what was added."""
    if more.usd <= 0 and more.tokens <= 0:
        raise UsageError("nothing to add to a budget", "interlock budget --add 5, or --add-tokens 1000000")
    names = _named(reading, budget, task)
    facts = [BudgetRaised(of, name, more.usd, more.tokens) for name, of in names]
    for fact in facts:
        _refuse_other_side(reading.state, fact)
    await store.append(facts, actor)
    return facts


def _named(reading: Reading, budget: str, task: str) -> list[tuple[str, TaskId]]:
    if task:
        return [(Budgeted.TASK, find(reading.state, task).spec.id)]
    if budget == Budgeted.TASK:
        raise UsageError(
            "each task has a budget of its own", "name one: interlock budget --add 5 --task TASK"
        )
    if budget == Budgeted.RUN and not reading.is_live:
        raise _RunIsOver
    if budget:
        return [(budget, TaskId(""))]
    short = [(reason.text("budget"), held.spec.id) for held, reason in held_up(reading.state, reading.now)]
    found = dict.fromkeys((name, of if name == Budgeted.TASK else TaskId("")) for name, of in short)
    if not reading.is_live and found.pop((Budgeted.RUN, TaskId("")), found) is None and not found:
        raise _RunIsOver
    if not found:
        raise UsageError("no budget is used up", "name one: interlock budget --add 5 --of day")
    return list(found)


def _refuse_other_side(state: State, fact: BudgetRaised) -> None:
    limit = state.money.limits.get(fact.budget, Budget())
    for side, more, is_set in (
        ("money", fact.usd, limit.usd is not None),
        ("tokens", fact.tokens, limit.tokens is not None),
    ):
        if more and not is_set:
            what = f"the last run had no budget of {side} for the {fact.budget}"
            raise UsageError(what, "interlock budget shows those it had; the settings say those of the next")

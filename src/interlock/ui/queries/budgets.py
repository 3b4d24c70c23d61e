"""The budgets of a project, and what is left of each."""

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.events.lifecycle import Stage
from interlock.events.money import Reserving, reserved_now, shared_accounts, task_account
from interlock.events.state import State, TaskState
from interlock.model.budget import Account, Budgeted
from interlock.model.reason import Reason
from interlock.model.task import PhaseKind


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One budget. A limit that is null: that side has none."""

    budget: str
    """`attempt`, `task`, `run`, `day` or `project`."""
    task: str
    """The task, in a row about one task that its budget holds up."""
    limit_usd: float | None
    limit_tokens: int | None
    """With what people have added."""
    spent_usd: float
    spent_tokens: int
    """By attempts that have ended; of a budget for each attempt or each task: 0."""
    reserved_usd: float
    reserved_tokens: int
    """By attempts at work."""
    is_used_up: bool
    """True if it keeps an attempt from starting."""


def held_up(state: State, now: float) -> Iterator[tuple[TaskState, Reason]]:
    """Yield the tasks that only wait for a larger budget, each with the first one that is used up."""
    if not state.money.limits:
        return
    money = Reserving(state, now)
    for name, task in state.tasks.items():
        waits = task.stage is Stage.WAITING and task.phase.kind is PhaseKind.AGENT and task.queue.unmet == 0
        if waits and state.is_selected(name) and (reason := money.short_of(task)):
            yield task, reason


def budget_rows(state: State, now: float) -> list[BudgetRow]:
    """Return the budgets of the last run: for each attempt and task, the shared ones, and tasks held up."""
    short = list(held_up(state, now))
    used_up = {reason.text("budget") for _, reason in short}
    each = (name for name in (Budgeted.ATTEMPT, Budgeted.TASK) if name in state.money.limits)
    shared = shared_accounts(state, now, reserved_now(state))
    return [
        *(_row(Account(name, state.money.limits[name]), False) for name in each),
        *(_row(account, account.name in used_up) for account in shared),
        *(
            _row(task_account(state, task), True, task.spec.id)
            for task, reason in short
            if reason.text("budget") == Budgeted.TASK
        ),
    ]


def _row(account: Account, is_used_up: bool, task: str = "") -> BudgetRow:
    limit, spent, reserved = account.budget, account.spent, account.reserved
    return BudgetRow(
        str(account.name),
        task,
        limit.usd,
        limit.tokens,
        spent.usd,
        spent.tokens,
        reserved.usd,
        reserved.tokens,
        is_used_up,
    )

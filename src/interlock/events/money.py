"""Budgets in State: what was spent, what is reserved, and what is left.

1. An attempt counts in the run and on the day in which its end was recorded.
2. What it has reserved is held until the log has its end, also if its controller is gone.
3. What people add to the budget of a run or a day ends with that run or day.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from interlock.events import facts as f
from interlock.events.alone import is_attempted
from interlock.events.record import Recorded
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Money
from interlock.model.budget import (
    NO_BUDGET,
    NOTHING,
    SHARED,
    Account,
    Amount,
    Budgeted,
    MoneyView,
    TaskMoney,
    amount_of,
    day_of,
    share,
    shortage,
)
from interlock.model.reason import Reason, Why
from interlock.model.task import AttemptKey, TaskId
from interlock.model.usage import Usage


def run_began(state: State, fact: f.RunStarted) -> None:
    """Take over the budgets of a new run. Nothing is spent of its own yet."""
    money = state.money
    money.limits, money.run_spent, money.wanted = fact.budgets or {}, NOTHING, NOTHING
    money.raised.pop(Budgeted.RUN, None)


def settle(state: State, usage: Usage, time: float) -> None:
    """Count what an attempt has used."""
    money, used = state.money, amount_of(usage)
    _turn_day(money, time)
    money.run_spent += used
    money.day_spent += used


def _turn_day(money: Money, time: float) -> None:
    if money.day != day_of(time):
        money.day, money.day_spent = day_of(time), NOTHING
        money.raised.pop(Budgeted.DAY, None)


def note_refusal(state: State, fact: f.Fact) -> None:
    """Remember what the call would have cost that a budget did not allow: with less, no attempt starts."""
    why = getattr(fact, "why", None)
    if isinstance(why, Reason) and why.code == Why.BUDGET and why.text("budget") != Budgeted.ATTEMPT:
        wanted = why.number("wanted")
        refused = Amount(wanted) if why.text("unit") == "usd" else Amount(0.0, int(wanted))
        state.money.wanted = state.money.wanted.or_more(refused)


def budget_raised(state: State, fact: f.BudgetRaised, row: Recorded) -> set[TaskId]:
    more, money = Amount(fact.usd, fact.tokens), state.money
    if fact.task:
        task = state.tasks.get(fact.task)
        if task is None:
            return set()
        task.spent.raised += more
        return {fact.task}
    if fact.budget in SHARED:
        _turn_day(money, row.time)
        money.raised[fact.budget] = money.raised.get(fact.budget, NOTHING) + more
    return set()


def at_work(state: State) -> Iterator[TaskState]:
    """Yield the tasks with an attempt that has not ended, as far as the log says."""
    for name in sorted(state.index.running | state.index.leftovers):
        if is_attempted(state.tasks[name]):
            yield state.tasks[name]


def task_account(state: State, task: TaskState) -> Account:
    """Return the budget of one task. It has one attempt at a time, so nothing of it is reserved by others."""
    limit = state.money.limits.get(Budgeted.TASK, NO_BUDGET)
    return Account(Budgeted.TASK, limit.raised(task.spent.raised), amount_of(task.spent.usage))


def shared_accounts(state: State, now: float, reserved: Amount = NOTHING) -> tuple[Account, ...]:
    """Return the budgets that all tasks share, those that are set."""
    money = state.money
    is_today = money.day == day_of(now)
    spent = {
        Budgeted.RUN: money.run_spent,
        Budgeted.DAY: money.day_spent if is_today else NOTHING,
        Budgeted.PROJECT: amount_of(state.used),
    }
    raised = {name: money.raised.get(name, NOTHING) for name in SHARED}
    if not is_today:
        raised[Budgeted.DAY] = NOTHING
    return tuple(
        Account(name, limit.raised(raised[name]), spent[name], reserved)
        for name in SHARED
        if (limit := money.limits.get(name))
    )


def reserved_now(state: State) -> Amount:
    """Return what all attempts at work have reserved."""
    return sum((task.session.reserved or NOTHING for task in at_work(state)), NOTHING)


def short_of(state: State, task: TaskState, now: float) -> Reason | None:
    """Return the budget that keeps an attempt at this task from starting now."""
    return Reserving(state, now).short_of(task)


@dataclass(slots=True)
class Reserving:
    """Reserves for the attempts that one decision starts, one after the other."""

    state: State
    now: float
    _taken: Amount = NOTHING
    _held: Amount = field(init=False)

    def __post_init__(self) -> None:
        self._held = reserved_now(self.state) if self.state.money.limits else NOTHING

    def short_of(self, task: TaskState) -> Reason | None:
        """Return the budget that keeps an attempt at this task from starting too."""
        if not self.state.money.limits:
            return None
        return shortage(self._accounts(task), self.state.money.wanted)

    def take(self, task: TaskState) -> Amount | None:
        """Return what an attempt at this task reserves; None: there are no budgets."""
        limits = self.state.money.limits
        if not limits:
            return None
        among = max(1, self.state.run.limit if self.state.run else 1)
        reserved = share(self._accounts(task), limits.get(Budgeted.ATTEMPT, NO_BUDGET), among)
        self._taken += reserved
        return reserved

    def _accounts(self, task: TaskState) -> tuple[Account, ...]:
        shared = shared_accounts(self.state, self.now, self._held + self._taken)
        return (task_account(self.state, task), *shared)


def money_view(state: State, now: float, closed: Iterable[AttemptKey] = ()) -> MoneyView:
    """Return the budgets for the calls of attempts at work. `closed`: attempts whose program has ended."""
    limits = state.money.limits
    ended = frozenset(key for key in closed if _has_ended(state, key))
    if not limits:
        return MoneyView(ended=ended)
    tasks = list(at_work(state))
    accounts = ((task.spec.id, task_account(state, task)) for task in tasks)
    return MoneyView(
        limits.get(Budgeted.ATTEMPT, NO_BUDGET),
        limits.get(Budgeted.TASK, NO_BUDGET),
        shared_accounts(state, now),
        {name: TaskMoney(account.budget, account.spent) for name, account in accounts},
        {_key(task): task.session.reserved or NOTHING for task in tasks},
        ended,
    )


def _has_ended(state: State, key: AttemptKey) -> bool:
    """Tell if the log has the end of this attempt. One whose start was not read yet has not ended."""
    task = state.tasks.get(key.task)
    if task is None or task.attempt > key.attempt:
        return True
    return task.attempt == key.attempt and not is_attempted(task)


def _key(task: TaskState) -> AttemptKey:
    return AttemptKey(task.spec.id, task.session.leftover or task.attempt)

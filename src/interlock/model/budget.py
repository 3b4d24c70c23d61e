"""Budgets: limits on the money and the tokens of agents, and what is left of them.

1. A budget has two sides, money and tokens, and each holds by itself. Tokens without a known price count on
   the side of tokens only.
2. What an attempt has reserved is kept for it. Beyond that it may use what no other attempt has reserved.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from interlock.model.reason import Reason, Why
from interlock.model.task import AttemptKey, TaskId
from interlock.model.usage import Usage


class Budgeted(StrEnum):
    """The scopes that a budget can have."""

    ATTEMPT = "attempt"
    TASK = "task"
    RUN = "run"
    DAY = "day"
    """A day in UTC: every reader of a log must add up the same."""
    PROJECT = "project"


SHARED = (Budgeted.RUN, Budgeted.DAY, Budgeted.PROJECT)
"""Budgets that all tasks share."""
DAY_SECONDS = 86_400


def day_of(time: float) -> int:
    return int(time // DAY_SECONDS)


@dataclass(frozen=True, slots=True)
class Amount:
    """Money and tokens."""

    usd: float = 0.0
    tokens: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.usd + other.usd, self.tokens + other.tokens)

    def or_more(self, other: "Amount") -> "Amount":
        """Return the larger value of each side."""
        return Amount(max(self.usd, other.usd), max(self.tokens, other.tokens))


NOTHING = Amount()


def amount_of(usage: Usage) -> Amount:
    return Amount(usage.cost_usd or 0.0, usage.tokens)


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit. A side that is None has none."""

    usd: float | None = None
    tokens: int | None = None

    def raised(self, more: Amount) -> "Budget":
        usd = None if self.usd is None else self.usd + more.usd
        return Budget(usd, None if self.tokens is None else self.tokens + more.tokens)

    def less(self, used: Amount) -> "Budget":
        """Return what is left of it: less than nothing, if more was used."""
        return self.raised(Amount(-used.usd, -used.tokens))

    @property
    def is_none(self) -> bool:
        return self.usd is None and self.tokens is None


NO_BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Account:
    """One budget, what was used of it, and what attempts at work have reserved."""

    name: str
    """A `Budgeted`."""
    budget: Budget
    """With what people have added."""
    spent: Amount = NOTHING
    """By attempts that have ended."""
    reserved: Amount = NOTHING

    @property
    def left(self) -> Budget:
        return self.budget.less(self.spent + self.reserved)


def shortage(accounts: Iterable[Account], wanted: Amount, *, may_be_free: bool = False) -> Reason | None:
    """Return the first budget that has less left than this; None: it can be had.

    Nothing starts on a budget of which nothing is left. `may_be_free`: what wants nothing can be had all the
    same, like a call of a model on this machine.
    """
    for account in accounts:
        left = account.left
        if left.usd is not None and not _has(left.usd, wanted.usd, may_be_free):
            return _short(account.name, "usd", account.budget.usd, left.usd, wanted.usd)
        if left.tokens is not None and not _has(left.tokens, wanted.tokens, may_be_free):
            return _short(account.name, "tokens", account.budget.tokens, left.tokens, wanted.tokens)
    return None


def _has(left: float, wanted: float, may_be_free: bool) -> bool:
    return wanted <= left if wanted else may_be_free or left > 0


def _short(name: str, unit: str, limit: float | None, left: float, wanted: float) -> Reason:
    fields = {"limit": limit or 0, "left": max(0, left), "wanted": wanted}
    return Reason(Why.BUDGET, {"budget": str(name), "unit": unit, **fields})


def share(accounts: Iterable[Account], attempt: Budget, among: int) -> Amount:
    """Return what an attempt reserves: its own budget, else an equal share of what is left for so many
    attempts at once; never more than is left."""
    usd, tokens = attempt.usd, attempt.tokens
    for account in accounts:
        left = account.left
        if left.usd is not None:
            most = left.usd / among if attempt.usd is None else left.usd
            usd = most if usd is None else min(usd, most)
        if left.tokens is not None:
            part = left.tokens // among if attempt.tokens is None else left.tokens
            tokens = part if tokens is None else min(tokens, part)
    return Amount(max(0.0, usd or 0.0), max(0, tokens or 0))


class TaskMoney(NamedTuple):
    """The budget of a task with an attempt at work, and what its earlier attempts have used."""

    budget: Budget
    spent: Amount


@dataclass(frozen=True, slots=True)
class MoneyView:
    """The budgets as State has them, for the calls of the attempts at work."""

    attempt: Budget = NO_BUDGET
    task: Budget = NO_BUDGET
    """Of a task that is not among `tasks` yet."""
    shared: tuple[Account, ...] = ()
    """Without reservations."""
    tasks: Mapping[TaskId, TaskMoney] = field(default_factory=dict)
    at_work: Mapping[AttemptKey, Amount] = field(default_factory=dict)
    """Attempts that have not ended, each with what it has reserved."""
    ended: frozenset[AttemptKey] = frozenset()
    """Attempts of this process whose end the log has, and so what they have used."""

    @property
    def is_limited(self) -> bool:
        budgets = (self.attempt, self.task, *(account.budget for account in self.shared))
        own = (money.budget for money in self.tasks.values())
        return any(not budget.is_none for budget in (*budgets, *own))

    @property
    def counts_tokens(self) -> bool:
        """Return True if a budget limits tokens: then a call without a known price may pass."""
        budgets = (self.attempt, self.task, *(account.budget for account in self.shared))
        return any(budget.tokens is not None for budget in budgets)

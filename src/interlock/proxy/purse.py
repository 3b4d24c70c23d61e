"""The money of all attempts of this process while they work: a call goes out only if all budgets allow it.

1. A call is asked for before it is forwarded, with the most that it may use; its real use takes the place of
   that when it ends. So what is spent passes no budget by more than the calls under way use beyond that most.
2. State is told from outside (`update`). What it does not show yet is kept here, and counts once.
"""

from dataclasses import dataclass, replace

from interlock.model.budget import NOTHING, Account, Amount, Budget, Budgeted, MoneyView, amount_of, shortage
from interlock.model.reason import Reason, Why
from interlock.model.task import AttemptKey
from interlock.model.usage import Usage


@dataclass(slots=True)
class _Live:
    """An attempt as this process sees it."""

    reserved: Amount
    spent: Amount = NOTHING
    under_way: Amount = NOTHING
    is_open: bool = True

    @property
    def used(self) -> Amount:
        return self.spent + self.under_way


class Purse:
    """One for the process: attempts share budgets."""

    def __init__(self) -> None:
        self._view = MoneyView()
        self._live: dict[AttemptKey, _Live] = {}

    @property
    def is_limited(self) -> bool:
        return self._view.is_limited

    def update(self, view: MoneyView) -> None:
        """Take over what the log says now."""
        self._view = view
        for key in view.ended:
            self._live.pop(key, None)

    @property
    def closed(self) -> list[AttemptKey]:
        """Attempts that have ended here and that the log may not show as ended yet."""
        return [key for key, live in self._live.items() if not live.is_open]

    def open(self, key: AttemptKey, reserved: Amount | None) -> None:
        """Note that an attempt begins to work. It may begin several times."""
        live = self._live.setdefault(key, _Live(reserved or NOTHING))
        live.is_open = True

    def close(self, key: AttemptKey) -> None:
        """Note that it has ended. What it has used counts here until the log has it."""
        if live := self._live.get(key):
            live.is_open = False

    def ask(self, key: AttemptKey, most: Amount, *, is_priced: bool = True) -> Reason | None:
        """Take this for a call; the reason if a budget does not allow it."""
        if not self._view.is_limited:
            return None
        if not is_priced and not self._view.counts_tokens:
            return Reason(Why.UNPRICED)
        if short := shortage(self._accounts(key), most, may_be_free=True):
            return short
        live = self._live.setdefault(key, _Live(NOTHING))
        live.under_way += most
        return None

    def settle(self, key: AttemptKey, most: Amount, usage: Usage) -> None:
        """Put what a call has used in place of what was taken for it."""
        if live := self._live.get(key):
            live.under_way = _less(live.under_way, most)
            live.spent += amount_of(usage)

    def count(self, key: AttemptKey, usage: Usage) -> Reason | None:
        """Note all that an attempt has used so far, by the word of its program; the budget that it passed."""
        if not self._view.is_limited:
            return None
        live = self._live.setdefault(key, _Live(NOTHING))
        live.spent = amount_of(usage)
        return shortage(self._accounts(key), NOTHING)

    def left(self, key: AttemptKey) -> Budget:
        """Return what an attempt can still use, of the budget that has least."""
        lefts = [account.left for account in self._accounts(key)]
        usd = min((left.usd for left in lefts if left.usd is not None), default=None)
        return Budget(usd, min((left.tokens for left in lefts if left.tokens is not None), default=None))

    def _accounts(self, key: AttemptKey) -> list[Account]:
        view, used = self._view, self._used(key)
        money = view.tasks.get(key.task)
        task = (
            Account(Budgeted.TASK, money.budget, money.spent) if money else Account(Budgeted.TASK, view.task)
        )
        others = sum((self._held(other) for other in self._others(key)), NOTHING)
        shared = (replace(account, reserved=others) for account in view.shared)
        accounts = (Account(Budgeted.ATTEMPT, view.attempt), task, *shared)
        return [replace(account, spent=account.spent + used) for account in accounts]

    def _others(self, key: AttemptKey) -> set[AttemptKey]:
        return ({*self._live} | {*self._view.at_work}) - {key}

    def _used(self, key: AttemptKey) -> Amount:
        live = self._live.get(key)
        return live.used if live else NOTHING

    def _held(self, key: AttemptKey) -> Amount:
        """Return what is kept for another attempt: what it has reserved, or used if that is more."""
        live = self._live.get(key)
        reserved = self._view.at_work.get(key) or (live.reserved if live else NOTHING)
        return reserved.or_more(live.used) if live else reserved


def _less(one: Amount, other: Amount) -> Amount:
    """Subtract without going below nothing: sums of fractions are not exact."""
    return Amount(max(0.0, one.usd - other.usd), max(0, one.tokens - other.tokens))

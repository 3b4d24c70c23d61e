"""Random spending against budgets: the real fold, the real reservations and the real purse (W11)."""

from dataclasses import dataclass, field
from random import Random

import pytest

from interlock.events import facts as f
from interlock.events.money import Reserving, money_view, shared_accounts, short_of
from interlock.model.budget import NOTHING, Amount, Budget, MoneyView, amount_of
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Why, said
from interlock.model.task import AttemptKey, Task, TaskId
from interlock.model.usage import Usage
from interlock.proxy import Purse
from tests.events.journal import AGENT, NAMES, Journal

SCHEDULES = 1_000
HOUR = 3_600.0


def key(name: str, attempt: int = 1) -> AttemptKey:
    return AttemptKey(TaskId(name), attempt)


@dataclass
class Spree:
    """Agents that start, call, pass their limits, end, crash, and people who add money, as the dice say."""

    dice: Random
    journal: Journal = field(default_factory=lambda: Journal(*(Task(n, "do", AGENT) for n in NAMES)))
    purse: Purse = field(default_factory=Purse)
    calls: dict[AttemptKey, list[Amount]] = field(default_factory=dict)
    used: dict[AttemptKey, Usage] = field(default_factory=dict)
    """What the provider has counted."""
    overrun: Amount = NOTHING
    """What calls have used beyond the most that was taken for them."""
    refusals: int = 0

    def sides(self) -> Budget:
        usd, tokens = self.dice.uniform(0.5, 30), self.dice.randint(500, 30_000)
        return self.dice.choice([Budget(usd), Budget(None, tokens), Budget(usd, tokens)])

    def live(self, steps: int) -> None:
        limits = {name: self.sides() for name in ("attempt", "task", "run", "day", "project")}
        chosen = self.dice.sample(sorted(limits), self.dice.randint(1, 5))
        budgets = {name: limits[name] for name in chosen}
        self.journal.tell(f.RunStarted("run", "holder", 1, 3, budgets=budgets))
        acts = [self.start, self.start, self.call, self.call, self.call, self.answer, self.answer]
        acts += [self.end, self.update, self.add, self.crash]
        weights = [4, 4, 6, 6, 6, 6, 6, 3, 6, 0.5, 0.3]
        for _ in range(steps):
            self.dice.choices(acts, weights)[0]()
            self.check(budgets)
        while self.calls:
            self.end()
        self.update()
        self.check(budgets)
        total = sum(map(amount_of, self.used.values()), NOTHING)
        assert close(amount_of(self.journal.state.used), total)
        assert not self.purse.closed

    def update(self) -> None:
        self.purse.update(money_view(self.journal.state, self.journal.time, self.purse.closed))

    def start(self) -> None:
        task = self.journal.task(self.dice.choice(NAMES))
        if task.has_agent or len(self.calls) == 3:
            return
        money = Reserving(self.journal.state, self.journal.time)
        if money.short_of(task):
            return
        reserved = money.take(task)
        phase = (task.spec.id, task.attempt + 1, task.phase.name, task.epoch + 1)
        self.update()
        self.journal.tell(f.PhaseStarted(*phase, agent=AGENT.name, reserved=reserved))
        self.purse.open(key(*phase[:2]), reserved)
        self.calls[key(*phase[:2])] = []
        self.used[key(*phase[:2])] = Usage()

    def call(self) -> None:
        if not self.calls:
            return
        name = self.dice.choice(list(self.calls))
        most = Amount(round(self.dice.uniform(0, 3), 4), self.dice.randint(1, 3_000))
        if self.purse.ask(name, most) is None:
            self.calls[name].append(most)
        else:
            self.refusals += 1

    def answer(self) -> None:
        asked = [name for name, calls in self.calls.items() if calls]
        if asked:
            self._settle(self.dice.choice(asked))

    def _settle(self, name: AttemptKey) -> None:
        most = self.calls[name].pop(self.dice.randrange(len(self.calls[name])))
        part = self.dice.choice([0, 0.1, 0.5, 0.9, 1, 1.2])
        tokens = int(most.tokens * part)
        usage = Usage(tokens, 0, calls=1, cost_usd=most.usd * part)
        self.purse.settle(name, most, usage)
        self.used[name] += usage
        more = Amount(max(0.0, most.usd * part - most.usd), max(0, tokens - most.tokens))
        self.overrun += more

    def end(self) -> None:
        if self.calls:
            self._end(self.dice.choice(list(self.calls)))

    def _end(self, name: AttemptKey) -> None:
        while self.calls[name]:
            self._settle(name)
        del self.calls[name]
        self.purse.close(name)
        if self.dice.random() < 0.5:
            self.update()
        task = self.journal.task(name.task)
        where = (name.task, name.attempt, task.phase.name, task.epoch)
        usage = self.used[name] if self.used[name].calls else None
        self.journal.tell(
            self.dice.choice(
                [
                    f.PhaseFailed(*where, error=ErrorClass.EXIT, why=said("no"), usage=usage),
                    f.PhaseDeferred(*where, usage=usage),
                    f.PhaseLost(*where, usage=usage),
                ]
            ),
            after=self.dice.choice([1.0, 1.0, 1.0, 5 * HOUR]),
        )

    def crash(self) -> None:
        """This process dies; the next one finds all attempts, and what they used, in their transcripts."""
        self.purse = Purse()
        for name in list(self.calls):
            self.calls[name].clear()
            self._end(name)
        self.update()

    def add(self) -> None:
        budget = self.dice.choice(["run", "day", "project"])
        self.journal.tell(
            f.BudgetRaised(TaskId(""), budget, self.dice.uniform(0, 5), self.dice.randint(0, 5_000))
        )

    def check(self, budgets: dict[str, Budget]) -> None:
        """No budget that all share is passed by more than calls have used beyond what was taken for them."""
        live = sum((amount_of(self.used[name]) for name in self.calls), NOTHING)
        for account in shared_accounts(self.journal.state, self.journal.time):
            spent = account.spent + live
            left = account.budget.raised(self.overrun).less(spent)
            assert left.usd is None or left.usd > -1e-6, account
            assert left.tokens is None or left.tokens >= 0, account
        attempt = budgets.get("attempt", Budget()).raised(self.overrun)
        for usage in self.used.values():
            left = attempt.less(amount_of(usage))
            assert left.usd is None or left.usd > -1e-6
            assert left.tokens is None or left.tokens >= 0


def close(one: Amount, other: Amount) -> bool:
    return one.tokens == other.tokens and abs(one.usd - other.usd) < 1e-6


@pytest.mark.slow
def test_a_thousand_schedules_pass_no_budget_and_lose_no_cent() -> None:
    refusals = starts = 0
    for seed in range(SCHEDULES):
        spree = Spree(Random(seed))
        spree.live(60)
        refusals, starts = refusals + spree.refusals, starts + len(spree.used)
    assert refusals > SCHEDULES  # budgets did bite
    assert starts > 3 * SCHEDULES


def limited(**limits: Budget) -> tuple[Journal, Purse]:
    journal = Journal(*(Task(name, "do", AGENT) for name in NAMES))
    journal.tell(f.RunStarted("run", "holder", 1, 2, budgets=limits))
    purse = Purse()
    purse.update(money_view(journal.state, journal.time))
    return journal, purse


def test_what_another_attempt_has_reserved_cannot_be_used() -> None:
    _, purse = limited(run=Budget(10.0))
    purse.open(key("a"), Amount(6.0))
    assert purse.ask(key("b"), Amount(4.0)) is None
    refused = purse.ask(key("b"), Amount(0.5))
    assert refused is not None
    assert (refused.code, refused.text("budget"), refused.number("left")) == (Why.BUDGET, "run", 0)
    assert purse.ask(key("a"), Amount(6.0)) is None


def test_what_is_free_may_be_called_when_the_money_is_used_up() -> None:
    _, purse = limited(run=Budget(1.0))
    purse.count(key("a"), Usage(10, 10, calls=1, cost_usd=1.0))
    assert purse.ask(key("a"), Amount(0.0, 500)) is None
    assert purse.ask(key("a"), Amount(0.01, 500)) is not None


def test_a_call_without_a_price_needs_a_budget_of_tokens() -> None:
    _, purse = limited(run=Budget(10.0))
    refused = purse.ask(key("a"), Amount(0.0, 100), is_priced=False)
    assert refused is not None
    assert refused.code == Why.UNPRICED
    _, purse = limited(run=Budget(10.0), day=Budget(None, 1_000))
    assert purse.ask(key("a"), Amount(0.0, 100), is_priced=False) is None
    assert purse.ask(key("a"), Amount(0.0, 950), is_priced=False) is not None


def test_without_budgets_nothing_is_refused() -> None:
    purse = Purse()
    purse.update(MoneyView())
    assert purse.ask(key("a"), Amount(1e9, 10**12), is_priced=False) is None


def test_a_new_day_has_its_budget_again_and_forgets_what_was_added() -> None:
    journal, _ = limited(day=Budget(5.0))
    journal.tell(f.BudgetRaised(TaskId(""), "day", 1.0))
    journal.start("a")
    task = journal.task("a")
    where = (task.spec.id, 1, task.phase.name, task.epoch)
    journal.tell(f.PhaseDeferred(*where, usage=Usage(1, 1, calls=1, cost_usd=6.0)))
    assert short_of(journal.state, task, journal.time) is not None
    (account,) = shared_accounts(journal.state, journal.time + 24 * HOUR)
    assert account.left == Budget(5.0)
    assert short_of(journal.state, task, journal.time + 24 * HOUR) is None

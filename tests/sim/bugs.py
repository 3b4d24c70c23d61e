"""Bugs to plant, so that the simulation itself is tested: each must be caught, and soon.

Every bug replaces one function for as long as its `with` block lasts, and is one that somebody could really
write. Only tests import this.
"""

import contextlib
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from interlock.engine import builds, control, decide, engine, hands, joint, judging, reviews, slots, turn
from interlock.engine.env import Env
from interlock.engine.ledger import Ledger
from interlock.engine.perform import Performer
from interlock.engine.turn import Turn
from interlock.events import effects, fold, main
from interlock.events import facts as f
from interlock.events.leases import Values
from interlock.events.lifecycle import MOVES, Go, Stage
from interlock.events.record import Recorded
from interlock.events.snapshot import pack
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.events.task_parts import Candidate
from interlock.model.claim import Claim
from interlock.model.evidence import VERIFIED
from interlock.model.leases import Leased
from interlock.model.outcome import CheckKey, CheckResult, Landing, Move, Order
from interlock.model.process import Lease
from interlock.model.task import AttemptKey, PhaseKind, Task, TaskId
from interlock.schedule import board
from interlock.schedule.capacities import Capacities
from interlock.schedule.holds import COUNTED, Demand, Holds
from interlock.train import Verdict, judge, lane, message, retry
from interlock.verify.protocol import CheckOrder
from tests.sim.fake_git import FakeRepository, Files
from tests.sim.fake_hands import FakeChecker, FakeExecutor, Machine, Seat
from tests.sim.graph import LEASE_SECONDS
from tests.sim.memory_store import MemoryStore

# Any: what a bug replaces can be of any kind, here and below.
Swap = tuple[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Bug:
    """One mistake, under a name that says what it does."""

    name: str
    swaps: tuple[Swap, ...]

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        """The bug is there as long as this lasts."""
        with contextlib.ExitStack() as stack:
            for owner, name, value in self.swaps:
                stack.enter_context(_swapped(owner, name, value))
            yield


@contextlib.contextmanager
def _swapped(owner: Any, name: Any, value: Any) -> Iterator[None]:
    if isinstance(owner, dict):
        missing = object()
        before = owner.get(name, missing)
        owner[name] = value
        try:
            yield
        finally:
            if before is missing:
                del owner[name]
            else:
                owner[name] = before
        return
    real = owner.__dict__[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, real)


# In the store


async def _append_unfenced(
    self: MemoryStore, facts: Sequence[f.Fact], actor: str, fences: Sequence[Claim] = ()
) -> list[Recorded]:
    return self._write(self._rows(facts, actor))


async def _release_unfenced(
    self: MemoryStore,
    claim: Claim,
    facts: Sequence[f.Fact] = (),
    actor: str = "",
    fences: Sequence[Claim] = (),
) -> list[Recorded]:
    row = self._claims[claim.resource]
    self._claims[claim.resource] = replace(row, released=True)
    return self._write(self._rows(facts, actor or claim.holder))


async def _renew_whoever_asks(self: MemoryStore, claim: Claim, lease_seconds: float, note: str = "") -> bool:
    row = self._claims[claim.resource]
    now = self._clock()
    self._claims[claim.resource] = replace(row, expires=now + lease_seconds, renewed=now, note=note)
    return True


def _free_by_my_own_clock(self: MemoryStore, row: Any, generation: int, takeover: int | None) -> bool:
    """The node that asks is two minutes ahead."""
    lease_over = row.expires <= self._clock() + 120.0
    return bool(
        row.released or lease_over or row.claim.generation < generation or row.claim.epoch == takeover
    )


_real_claim = MemoryStore.claim


async def _claim_keeps_the_epoch(self: MemoryStore, resource: str, *args: Any, **kwargs: Any) -> Any:
    before = self._claims.get(resource)
    if before is not None:
        lower = replace(before.claim, epoch=before.claim.epoch - 1)
        self._claims[resource] = replace(before, claim=lower)
    taken = await _real_claim(self, resource, *args, **kwargs)
    if taken is None and before is not None:
        self._claims[resource] = before
    return taken


_real_write = MemoryStore._write


def _write_and_forget(self: MemoryStore, rows: list[Recorded]) -> list[Recorded]:
    """What is written between two syncs is lost now and then, though it was acknowledged."""
    if rows and rows[0].seq > 40 and not self.__dict__.setdefault("has_lost_some", False):
        self.__dict__["has_lost_some"] = True
        return rows
    return _real_write(self, rows)


# In the fold


def _counts_by_attempt(task: TaskState, fact: f.Fact) -> bool:
    if isinstance(fact, f.PhaseFact) and not isinstance(fact, f.PhaseStarted | f.Landed):
        return fact.attempt == task.attempt
    return _real_counts(task, fact)


def _counts_without_epoch(task: TaskState, fact: f.Fact) -> bool:
    if isinstance(fact, f.PhaseFact) and not isinstance(fact, f.PhaseStarted | f.Landed):
        return fact.phase == task.phase.name
    return _real_counts(task, fact)


_real_counts = fold._counts


def _lost_landing_begins_again(task: TaskState, _fact: f.PhaseLost, _: Recorded) -> None:
    task.trouble.losses += 1
    task.change.candidate = None


async def _save_at_the_wrong_place(self: Ledger) -> None:
    await self._store.save_snapshot(self.state.seq - 1, pack(self.state))


# In the repository


async def _land_without_old(self: FakeRepository, landing: Landing) -> Move:
    if landing.fence < self.fence:
        return Move.FENCED
    if landing.new not in self.on_branch:
        self._move(landing.new)
        self.on_land(landing)
    return Move.MOVED


_real_land = FakeRepository.land


async def _land_without_fence(self: FakeRepository, landing: Landing) -> Move:
    fence, self.fence = self.fence, 0
    self.fence = 0
    try:
        if landing.new not in self.on_branch and self.refs[self.ref] == landing.old:
            self._move(landing.new)
            self.fence = fence
            self.on_land(landing)
            return Move.MOVED
        return await _real_land(self, landing)
    finally:
        self.fence = fence


async def _raise_no_fence(self: FakeRepository, epoch: int) -> None:
    """The ref is written with a plain update that somebody's lock makes fail, and nobody looks."""


# In the engine


async def _land_what_was_not_tested(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """Main moved: merge again and land, because it was green a minute ago."""
    facts = await hands.land(env, turn)
    candidate, made = turn.task.change.candidate, turn.task.change.work
    if not isinstance(facts[0], f.CandidateStale) or candidate is None or made is None:
        return facts
    main = await turn.see_main()
    merge = await env.repository.merge(main.commit, made.commit, made.base)
    if merge.tree is None:
        return facts
    commit = await env.repository.commit(
        merge.tree, main.commit, message(turn.task.spec, turn.attempt, VERIFIED)
    )
    await env.repository.land(Landing(turn.branch, commit, main.commit, turn.generation))
    return facts


async def _pass_as_if_on_main(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """The change that it was tested on will be on main any moment."""
    facts = await hands.check(env, turn)
    main = await turn.see_main()
    return [
        replace(fact, base=main.commit) if isinstance(fact, f.CandidatePassed) else fact for fact in facts
    ]


def _excuse_what_cannot_run(*judged: Any) -> Verdict:
    """Main could not run it either, so it says nothing."""
    return replace(judge(*judged), blocked=())


def _excuse_the_whole_command(results: Any, task: Task, base: Any, last: Any) -> Verdict:
    """It is red on main, so it may be red."""
    verdict = judge(results, task, base, last)
    own = (red for red in verdict.red if red.command in task.done_when or base[red.command].passed)
    return replace(verdict, red=tuple(own))


def _could_start_without_needs(state: State, task: TaskState) -> bool:
    unmet, task.queue.unmet = task.queue.unmet, 0
    try:
        return bool(_real_could_start(state, task))
    finally:
        task.queue.unmet = unmet


_real_could_start = board._could_start


def _spend_with_every_fact(state: State, task: TaskState, fact: Any) -> None:
    """What a fact says was used is added, whichever fact said so before."""
    if usage := getattr(fact, "usage", None):
        task.spent.usage += usage
        state.used += usage


async def _recover_nothing(self: FakeExecutor, key: AttemptKey, why: str = "") -> str:
    return ""


def _archive_later(self: Machine, seat: Any) -> str:
    return f"refs/interlock/{seat.order.task}/{seat.order.attempt}"


def _nothing(*_args: Any) -> list[Any]:
    return []


def _never(*_args: Any) -> None:
    return None


def _all_files(self: FakeChecker, order: CheckOrder, _command: str) -> Files:
    """The folder of a check is a usual one, with the whole tree."""
    return self.machine.repository.trees[order.tree]


def _anybody_is_dead(real: Callable[..., Awaitable[Claim]]) -> Callable[..., Awaitable[Claim]]:
    """Whoever holds the project is taken for dead: its lease was long, so it must be."""

    async def take_charge(env: Env, *args: Any) -> Claim:
        return await real(replace(env, is_dead=lambda _holder: True), *args)

    return take_charge


def _hold_places_only(self: Holds, demand: Demand, task: TaskId) -> set[TaskId] | None:
    return _real_hard(self, demand, task) if demand[0] in COUNTED else None


_real_hard = Holds.hard


def _any_value(self: Values, use: str, *_held: Any) -> Leased:
    """The first one will do: the board has counted them."""
    return Leased(use, str(self._offer(use).first))


def _lease_counts_from_the_start(self: Machine, order: Order, _lease: Lease) -> Seat:
    """The executor gives an agent a whole lease, however long ago its engine had one."""
    whole = Lease(self.simulation.now)
    whole.renew(LEASE_SECONDS)
    return _real_launch(self, order, whole)


_real_launch = Machine.launch
_LEASES_START_LATE: Swap = (Machine, "launch", _lease_counts_from_the_start)


def _known_for_any(*ignored: str) -> Callable[[State, CheckKey], CheckResult | None]:
    """The last green result of the command, whatever else decides it."""

    def look_up(state: State, key: CheckKey) -> CheckResult | None:
        found = [
            check
            for known, check in state.checks.known.items()
            if check.passed and known._replace(**{name: getattr(key, name) for name in ignored}) == key
        ]
        return replace(found[-1], reused=True) if found else None

    return look_up


def _any_approval(task: TaskState, _made: Candidate) -> bool:
    """A person has said that this task is good."""
    return task.change.review is not None and task.change.review.approved


async def _of_any_tree(env: Env, turn: Turn, members: Sequence[joint.Member]) -> dict[str, CheckResult]:
    """Each check was green in a build of these changes; where main is by now does not matter."""
    known = turn.checks.ledger.state.checks.known.values()
    green = {check.command: check for check in known if check.passed}
    commands = judging.commands_of(*(member.task.spec for member in members))
    if not green.keys() >= {*commands}:
        raise joint.Apart
    return {command: green[command] for command in commands}


def _counts_on_any_main(state: State, build: Build, queue: Any) -> bool:
    """Main has moved a little since."""
    return _real_counts_build(state, replace(build, main=state.main.commit), queue)


_real_counts_build = lane.counts


def _lenient(results: Sequence[CheckResult], *_others: Any) -> Verdict:
    """The build of all of them was green enough."""
    return Verdict(tuple(results))


_real_merged = joint._merged


async def _merge_without_the_first(env: Env, turn: Turn, main: Any) -> list[joint.Member]:
    """The first one will land by itself any moment; the merge is of the others."""
    members = await _real_merged(env, turn, main)
    last = await _real_merged(env, replace(turn, together=turn.together[1:]), main)
    return [*members[:-1], replace(members[-1], tree=last[-1].tree)]


def _all_that_passed(_tasks: Any, lead: TaskState, _free: Any) -> tuple[TaskId, ...]:
    """They have passed together, so they land together."""
    made = lead.change.candidate
    return made.joined.tasks if made and made.joined else ()


BUGS = (
    Bug("append without a fence", ((MemoryStore, "append", _append_unfenced),)),
    Bug("result written without a fence", ((MemoryStore, "release", _release_unfenced),)),
    Bug("claim gives what is held", ((MemoryStore, "_is_free", lambda *_: True),)),
    Bug("claim keeps the epoch", ((MemoryStore, "claim", _claim_keeps_the_epoch),)),
    Bug("renew ignores the epoch", ((MemoryStore, "renew", _renew_whoever_asks),)),
    Bug("leases by the node's clock", ((MemoryStore, "_is_free", _free_by_my_own_clock),)),
    Bug("acknowledged before it is safe", ((MemoryStore, "_write", _write_and_forget),)),
    Bug(
        "a result counts twice",
        (
            (fold, "_counts", _counts_by_attempt),
            *(
                (MOVES, (Stage.WAITING, kind, fact), (Stage.WAITING, Go.ON))
                for kind in PhaseKind
                for fact in (f.WorkFinished, f.CandidatePassed)
            ),
        ),
    ),
    Bug("the fold ignores epochs", ((fold, "_counts", _counts_without_epoch),)),
    Bug(
        "a lost landing is implemented again",
        (
            (effects.EFFECTS, f.PhaseLost, _lost_landing_begins_again),
            *((MOVES, (Stage.RUNNING, kind, f.PhaseLost), (Stage.WAITING, Go.FIRST)) for kind in PhaseKind),
        ),
    ),
    Bug("no look at main after a reset", ((TaskState, "must_reconcile", False),)),
    Bug("a lost attempt is not paid for", ((Performer, "_paid", lambda _self, facts: list(facts)),)),
    Bug("an attempt is paid for twice", ((fold, "_spend", _spend_with_every_fact),)),
    Bug("snapshot at the wrong place", ((Ledger, "save_snapshot", _save_at_the_wrong_place),)),
    Bug("main moved without its old value", ((FakeRepository, "land", _land_without_old),)),
    Bug("main moved without the fence", ((FakeRepository, "land", _land_without_fence),)),
    Bug("the fence is never raised", ((FakeRepository, "raise_fence", _raise_no_fence),)),
    Bug("a result is reused on another tree", ((turn, "known_check", _known_for_any("saw", "change")),)),
    Bug(
        "a batch lands with one red member",
        (
            (builds, "is_green", lambda _results: True),
            (joint, "judge", _lenient),
            (joint, "is_plain", lambda _checks: True),
        ),
    ),
    Bug(
        "a merge lands on a tree that no check saw",
        ((joint, "_results", _of_any_tree), (lane, "counts", _counts_on_any_main)),
    ),
    Bug(
        "a merge lands without one of its changes",
        ((joint, "_merged", _merge_without_the_first),),
    ),
    Bug("a merge lands a task that a person took away", ((lane, "complete", _all_that_passed),)),
    Bug("a check with inputs reads a file outside them", ((FakeChecker, "_seen", _all_files),)),
    Bug("a result is reused in another environment", ((turn, "known_check", _known_for_any("environment")),)),
    Bug("landed without a new test", ((hands.HANDS, PhaseKind.LAND, _land_what_was_not_tested),)),
    Bug("a change takes the one before it along", ((hands.HANDS, PhaseKind.CHECK, _pass_as_if_on_main),)),
    Bug("a check that cannot run is excused", ((judging, "judge", _excuse_what_cannot_run),)),
    Bug("a red main excuses a newly failing test", ((judging, "judge", _excuse_the_whole_command),)),
    Bug("checks are not tried on main first", ((decide, "unseen", _nothing),)),
    Bug("a reopened task whose dependents are not held", ((fold, "_hold", _never),)),
    Bug("finished work whose need was undone lands", ((main, "lacks_need", lambda *_: False),)),
    Bug("a change lands on a frozen main", ((main, "_waits_for_main", lambda *_: False),)),
    Bug("needs are ignored", ((board, "_could_start", _could_start_without_needs),)),
    Bug("an approval counts for every change of its task", ((reviews, "is_approved", _any_approval),)),
    Bug("a review is not waited for", ((reviews, "need", lambda *_: None),)),
    Bug("a question is not waited for", ((TaskState, "asks", None),)),
    Bug("hard leases are ignored", ((Holds, "hard", _hold_places_only),)),
    Bug("a value is given to two", ((Values, "_free", _any_value),)),
    Bug("programs start without their values", ((decide, "with_values", lambda *given: given[-1]),)),
    Bug("a change lands in what another holds alone", ((lane, "kept_back", lambda _state: {}),)),
    Bug("the clutch is asked and not heard", ((Capacities, "places", lambda *_: math.inf),)),
    Bug("more agents than there are slots", ((slots, "agents_at_work", lambda _state: 0),)),
    Bug("recovery ends and archives nothing", ((FakeExecutor, "recover", _recover_nothing),)),
    Bug("archived under a ref that is not there", ((Machine, "archive", _archive_later),)),
    Bug("lost phases are not recovered", ((decide, "_recoveries", _nothing),)),
    Bug("stopped attempts are not archived", ((decide, "_archives", _nothing),)),
    Bug("a given-up attempt can still start", ((Machine, "give_up", _never), _LEASES_START_LATE)),
    Bug("the breaker never trips", ((retry, "_same_again", _never),)),
    Bug("retries never end", ((retry, "_retries_used", _never),)),
    Bug("the living are taken for dead", ((engine, "take_charge", _anybody_is_dead(control.take_charge)),)),
)

"""The loop: read new facts, fold, decide, claim, perform, record.

Rules:
1. Nothing is remembered here that the log does not say, except which acts this process has under way.
2. When the controller's claim is lost everything stops at once; its new holder reads the same log.
3. The loop ends when nothing is under way and nothing becomes possible without a person.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

from interlock.engine.acts import Acts
from interlock.engine.brakes import found_servers, last_news, pass_on_news
from interlock.engine.clutch import Clutch
from interlock.engine.control import stay_in_charge, take_charge
from interlock.engine.decide import decide, is_held_by_pause, stop_everything
from interlock.engine.env import Env
from interlock.engine.estimates import Estimates
from interlock.engine.graph_watch import GraphWatch
from interlock.engine.ledger import Ledger, Tell, Watch
from interlock.engine.lessons import lessons_due
from interlock.engine.loading import refuse_unknown
from interlock.engine.mainline import Mainline
from interlock.engine.options import Options
from interlock.engine.pull_requests import PullRequests, PullRequestWatch
from interlock.engine.radar import RadarWatch
from interlock.engine.slots import Gauges, Slots, figures_of, slots_of
from interlock.engine.statements import Statements
from interlock.events import facts as f
from interlock.events.money import money_view
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.claim import Claim
from interlock.model.errors import StoreUnavailable
from interlock.model.pool import PoolFigures
from interlock.model.reason import Reason, Why
from interlock.model.step import End, Start
from interlock.train import retry
from interlock.train.undo import undone

HALT_SECONDS = 20.0
"""Agents get five seconds to end politely; then what they wrote is archived."""
CLOSE_SECONDS = 5.0
IDLE_SECONDS = 1.0
"""The longest the loop sleeps while something is under way: a safety net, everything else wakes it."""


class Engine:
    """One controller of one project, from taking charge to rest."""

    def __init__(
        self, env: Env, options: Options, watch: Watch = lambda _r, _s: None, tell: Tell = lambda _t: None
    ) -> None:
        self._env = env
        self._options = options
        self._tell = tell
        self.holder = env.new_id()
        """Identity of this process; also the name of the run."""
        self._watch = watch
        self._estimates = Estimates(env)
        self._ledger = Ledger(env.store, self.holder, self._seen, tell)
        self._statements = Statements(env, self._ledger, tell)
        self._clutch = Clutch(env.host, options)
        self._gauges = Gauges(self.holder)
        self._wake = asyncio.Event()
        self._halted = asyncio.Event()
        self._merges: PullRequestWatch | None = None
        self._told = ""
        self._stop: bool | None = None
        """None: go on; False: no new starts; True: end the agents too."""

    @property
    def state(self) -> State:
        """The folded log, as far as it has been read."""
        return self._ledger.state

    def _seen(self, row: Recorded, state: State) -> None:
        self._estimates.note(row)
        self._statements.note(row)
        self._watch(row, state)

    def pool(self) -> tuple[Slots, PoolFigures]:
        """The slots and the figures of this run, as far as the log has been read."""
        state, board = self.state, self._ledger.board
        return slots_of(state, board, is_live=True), figures_of(state, board, self._ledger.meter)

    def request_stop(self) -> bool:
        """Ask for an end: first no agent starts any more, the second time (True) those that run are ended."""
        self._stop = self._stop is not None
        self._wake.set()
        if self._stop:
            self._halted.set()
        return self._stop

    async def run(self) -> State:
        """Take charge, work until nothing more can be done, and say so in the log."""
        await self._ledger.open()
        refuse_unknown(self.state)
        lease = self._options.controller_lease_seconds
        claim = await take_charge(self._env, self.holder, lease, self._opening, self._tell)
        main = Mainline(self._env, self._ledger, claim, self._tell)
        acts = Acts(self._env, self._ledger, main, claim, self._options, self._wake.set)
        await self._decided(await found_servers(self._env, self.state), claim)
        aides = [
            asyncio.create_task(stay_in_charge(self._env, claim, lease)),
            asyncio.create_task(acts.renew()),
            asyncio.create_task(main.watch(self._options.main_seconds)),
        ]
        if self._env.brakes:
            news = pass_on_news(self._env, self._env.brakes, self._ledger, claim)
            aides.append(asyncio.create_task(news))
        if self._env.reach:
            aides.append(asyncio.create_task(self._env.reach.watch()))
        if self._env.plan:
            plan = GraphWatch(self._env.plan, self._ledger, claim, self._tell)
            aides.append(asyncio.create_task(plan.watch()))
        if isinstance(self._env.publisher, PullRequests):
            self._merges = PullRequestWatch(self._env.publisher, self._ledger, claim, main, self._tell)
            aides.append(asyncio.create_task(self._merges.watch()))
        if self._env.radar:
            radar = RadarWatch(self._env.radar, self._ledger, claim, self._tell)
            aides.append(asyncio.create_task(radar.watch()))
        if self._options.fetch_seconds:
            aides.append(asyncio.create_task(main.follow(self._options.fetch_seconds)))
        loop = asyncio.create_task(self._loop(main, acts, claim))
        halt = asyncio.create_task(self._halt(acts))
        statements = asyncio.create_task(self._statements.keep(claim))
        try:
            await _first_of([loop, halt, *aides])
            await self._statements.finish(statements, claim)
        finally:
            await _end([*acts.tasks, statements])
            await self._ledger.close(CLOSE_SECONDS)
        await self._close(claim)
        return self.state

    async def _halt(self, acts: Acts) -> None:
        """End the agents at once after a second request to stop; leave even if the log cannot be written."""
        await self._halted.wait()
        for step in stop_everything(acts.under_way):
            acts.stop(step)
        await asyncio.sleep(HALT_SECONDS)
        self._tell("leaving before everything has ended; the next run cleans up")

    def _opening(self, epoch: int) -> Sequence[f.Fact]:
        options = self._options
        return [
            f.RunStarted(
                self.holder,
                self.holder,
                epoch,
                options.max_parallel,
                options.selection,
                options.sandbox,
                dict(options.slots) or None,
                options.lane_depth,
                options.environment,
                options.radar,
                options.on_red_main,
                options.joint,
                dict(options.budgets) or None,
            ),
            f.ClutchDecided(options.max_parallel, "max-parallel", options.limit_why),
        ]

    async def _close(self, claim: Claim) -> None:
        why = Reason(Why.RUN_STOPPED if self.state.run and self.state.run.stopping else Why.AT_REST)
        try:
            async with asyncio.timeout(CLOSE_SECONDS if self._stop else None):
                measured = self._gauges.last(self.state, self._ledger.board, self._ledger.meter)
                heard = await last_news(self._env, self.state)
                await self._ledger.release(claim, [*measured, *heard, f.RunEnded(self.holder, why)])
                await self._ledger.catch_up()
                await self._ledger.close(CLOSE_SECONDS)
                await self._ledger.save_snapshot()
                await self._say_what_came_late()
        except (TimeoutError, StoreUnavailable):
            self._tell("cannot record in the log that the run has ended; the next run will notice")

    async def _say_what_came_late(self) -> None:
        """A person may have added work between the decision to end and the end."""
        now = await self._env.store.now()
        late = decide(self.state, self._ledger.board, now, {})
        is_stopping = self.state.run is not None and self.state.run.stopping
        if not is_stopping and any(not isinstance(step, End) for step in late):
            self._tell("work was added while the run ended: `interlock run` starts it")

    async def _loop(self, main: Mainline, acts: Acts, claim: Claim) -> None:
        # Before the first round only a person's stop rings; a fetch may take a minute and must not delay it.
        await _first_of(
            [
                asyncio.create_task(self._begin(main)),
                asyncio.create_task(_only(self._wake.wait)),
            ]
        )
        failures = 0
        while True:
            try:
                if await self._round(acts, claim):
                    return
                failures = 0
            except StoreUnavailable as problem:
                delay = retry.log_delay(retry.ROUND_SECONDS, failures)
                failures += 1
                self._tell(f"the log cannot be used: {problem}; trying again in {delay:g} s")
                await asyncio.sleep(delay)

    async def _begin(self, main: Mainline) -> None:
        await main.begin(fetch=self._options.fetch_seconds > 0)
        if self._merges:
            await self._ledger.catch_up()
            await self._merges.look()

    async def _round(self, acts: Acts, claim: Claim) -> End | None:
        """Read, fold, decide and carry out once; the end of the run if that is what was decided."""
        self._wake.clear()
        await acts.catch_up()
        await self._pass_on_stop(claim)
        await self._estimates.refresh(self._ledger, claim)
        while facts := undone(self.state):  # what is done again may undo others
            await self._decided(facts, claim)
        await self._decided(await lessons_due(self._env, self.state), claim)
        now = await self._env.store.now()
        self._env.purse.update(money_view(self.state, now, self._env.purse.closed))
        await self._decided(self._clutch.ask(self.state, now), claim)
        board, meter = self._ledger.board, self._ledger.meter
        steps = decide(self.state, board, now, acts.under_way)
        end = next((step for step in steps if isinstance(step, End)), None)
        if end and not (self._merges and self._merges.is_worth_waiting(now)):
            return end
        if end:
            await self._sleep(now)
            return None
        if self._merges and steps:
            self._merges.is_busy()
        meter.decided((step.task for step in steps if isinstance(step, Start)), now)
        await acts.carry_out(steps)
        if measured := self._gauges.due(self.state, board, self._ledger.meter, now):
            await self._ledger.append(measured, claim)
        if not steps and not acts.under_way and is_held_by_pause(self.state):
            self._tell_once("paused: nothing new starts until `interlock unpause`")
        await self._sleep(now)
        return None

    async def _decided(self, facts: Sequence[f.Fact], claim: Claim) -> None:
        """Record and fold decisions, before anything is based on them."""
        if facts:
            await self._ledger.append(facts, claim)
            await self._ledger.catch_up()

    async def _pass_on_stop(self, claim: Claim) -> None:
        """A person's Ctrl-C is a fact like any other."""
        run = self.state.run
        if self._stop is None or run is None or (run.stopping and run.stop_agents >= self._stop):
            return
        await self._decided([f.StopRequested(run.run, self._stop)], claim)

    def _tell_once(self, text: str) -> None:
        if self._told != text:
            self._told = text
            self._tell(text)

    async def _sleep(self, now: float) -> None:
        """Sleep until an act ends here, another process writes a fact, or a delay is over."""
        wakeup = self._ledger.board.next_wakeup(now)
        seconds = IDLE_SECONDS if wakeup is None else min(IDLE_SECONDS, max(0.01, wakeup - now))
        await _first_of(
            [
                asyncio.create_task(_only(self._wake.wait)),
                asyncio.create_task(_only(partial(self._env.store.wait, self.state.seq, seconds))),
            ]
        )


async def _only(wait: Callable[[], Awaitable[object]]) -> None:
    """Start the wait only now: a task that is cancelled before its first step would leave it unstarted."""
    await wait()


async def _first_of(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait for one of them; raise what it raised; nothing of the others runs on."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:  # not in the order of the set, which differs from run to run
            if task in done:
                task.result()
    finally:
        await _end(tasks)


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel them and wait; those that have something to put in order get a while, and then none."""
    left = list(tasks)
    for patience in (HALT_SECONDS, None):
        for task in left:
            task.cancel()
        if left:
            _, pending = await asyncio.wait(left, timeout=patience)
            left = [task for task in left if task in pending]

"""Being the one controller of a project: taking charge, staying in charge, and noticing when it is over.

A lease is only a hint. What keeps a second controller out is the epoch: every write names it, and the fence
ref in the repository carries it to where main is moved.
"""

import asyncio
from collections.abc import Callable, Sequence

from interlock.engine.decide import succession
from interlock.engine.env import Env
from interlock.events.facts import Fact
from interlock.model.claim import CONTROLLER, Claim, Held, described
from interlock.model.errors import EnvironmentProblem, StaleEpoch, StoreUnavailable
from interlock.model.step import Refuse, TakeCharge, Watch

LOOK_SECONDS = 1.0


class AlreadyRunning(EnvironmentProblem):
    """Another loop is in charge of this project."""

    code = "already-running"
    hint = "see `interlock status`; stop it with Ctrl-C in its terminal or `interlock cancel --all`"


async def take_charge(
    env: Env,
    holder: str,
    lease_seconds: float,
    facts: Callable[[int], Sequence[Fact]],
    tell: Callable[[str], None] = lambda _text: None,
) -> Claim:
    """Become the controller, at once if the last one is known to be dead; `AlreadyRunning` if it is not."""
    row = await _holder(env)
    dead = await _known_dead(env, row, tell) if row else None
    await _go_on_above_fence(env, tell)
    asked = env.lease.now()
    taken = await env.store.claim(CONTROLLER, holder, lease_seconds, facts, takeover=dead)
    if taken is None:
        row = await _holder(env)
        if row is None:
            return await take_charge(env, holder, lease_seconds, facts, tell)
        raise refuse_second(row)
    claim, _ = taken
    env.lease.renew(lease_seconds, since=asked)
    await env.repository.raise_fence(claim.epoch)
    return claim


async def _known_dead(env: Env, row: Held, tell: Callable[[str], None]) -> int | None:
    """The epoch of a controller that is gone; None if its lease says so. `AlreadyRunning` if it lives."""
    match succession(row, env.is_dead(row.claim.holder)):
        case Refuse():
            raise refuse_second(row)
        case TakeCharge(dead):
            return dead
        case Watch(seconds):
            return await _watch(env, row, seconds, tell)


async def _watch(env: Env, row: Held, watched: float, tell: Callable[[str], None]) -> int | None:
    """See whether a controller renews its lease; the same answers as `_known_dead`."""
    who = described(row.claim.holder)
    tell(f"waiting {watched:.0f} s to see if {who}, which was in charge, is still alive")
    loop = asyncio.get_running_loop()
    began, before = loop.time(), row.renewed_seconds_ago
    while (passed := loop.time() - began) < watched:
        await asyncio.sleep(LOOK_SECONDS)
        found = await _holder(env)
        if found is None or found.claim != row.claim:
            return None
        if abs(found.renewed_seconds_ago - before - passed) > 2 * LOOK_SECONDS:
            raise refuse_second(found)
    return row.claim.epoch


async def _go_on_above_fence(env: Env, tell: Callable[[str], None]) -> None:
    """A log that was restored or lost knows less than the repository: its next epoch must still be a new one.

    A controller with the other log is below the fence as soon as this one has raised it.
    """
    standing = await env.repository.fence_epoch()
    if standing and await env.store.raise_epoch(CONTROLLER, standing):
        tell(
            f"the log is older than the repository: runs that it does not have reached epoch {standing}; "
            f"this run continues with epoch {standing + 1}, and those runs can no longer land"
        )


async def _holder(env: Env) -> Held | None:
    return next((row for row in await env.store.held() if row.claim.resource == CONTROLLER), None)


def refuse_second(row: Held) -> AlreadyRunning:
    """Build the error that names the controller in charge, and the rest of its lease."""
    ends = max(0.0, row.expires_in_seconds)
    who = described(row.claim.holder)
    return AlreadyRunning(f"another run is in charge of this project: {who} (its lease ends in {ends:.0f} s)")


async def stay_in_charge(env: Env, claim: Claim, lease_seconds: float) -> None:
    """Renew the lease at each quarter of it, until cancelled. `StaleEpoch` after a takeover."""
    while True:
        await asyncio.sleep(lease_seconds / 4)
        asked = env.lease.now()
        try:
            kept = await env.store.renew(claim, lease_seconds)
        except StoreUnavailable:
            continue  # the lease runs on; if it runs out, the agents end by themselves
        if not kept:
            raise StaleEpoch("another controller took over this project")
        env.lease.renew(lease_seconds, since=asked)

"""Being the one controller of a project: taking charge, staying in charge, and noticing when it is over.

A lease is only a hint. What keeps a second controller out is the epoch: every write names it, and the fence
ref in the repository carries it to where main is moved.
"""

import asyncio
from collections.abc import Callable, Sequence

from interlock.engine.env import Env
from interlock.engine.identity import described
from interlock.events.facts import Fact
from interlock.model.claim import CONTROLLER, Claim, Held
from interlock.model.errors import EnvironmentProblem, StaleEpoch, StoreUnavailable


class AlreadyRunning(EnvironmentProblem):
    """Another loop is in charge of this project."""

    code = "already-running"
    hint = "see `interlock status`; stop it with Ctrl-C in its terminal or `interlock cancel --all`"


async def take_charge(
    env: Env, holder: str, lease_seconds: float, facts: Callable[[int], Sequence[Fact]]
) -> Claim:
    """Become the controller, at once if the last one is known to be dead; `AlreadyRunning` if it is not."""
    taken = await env.store.claim(CONTROLLER, holder, lease_seconds, facts)
    if taken is None:
        row = await _holder(env)
        if row is None:
            return await take_charge(env, holder, lease_seconds, facts)
        if not env.is_dead(row.claim.holder):
            raise refuse_second(row)
        taken = await env.store.claim(CONTROLLER, holder, lease_seconds, facts, takeover=row.claim.epoch)
        if taken is None:
            raise refuse_second(row)
    claim, _ = taken
    await env.repository.raise_fence(claim.epoch)
    return claim


async def _holder(env: Env) -> Held | None:
    return next((row for row in await env.store.held() if row.claim.resource == CONTROLLER), None)


def refuse_second(row: Held) -> AlreadyRunning:
    """Who is in charge, and for how long at least."""
    ends = max(0.0, row.expires_in_seconds)
    who = described(row.claim.holder)
    return AlreadyRunning(f"another run is in charge of this project: {who} (its lease ends in {ends:.0f} s)")


async def stay_in_charge(
    env: Env, claim: Claim, lease_seconds: float, renewed: Callable[[float], object]
) -> None:
    """Renew for ever, at a quarter of the lease, and tell `renewed` how long that is good for.

    Raises `StaleEpoch` when somebody else is in charge.
    """
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(lease_seconds / 4)
        before = loop.time()
        try:
            kept = await env.store.renew(claim, lease_seconds)
        except StoreUnavailable:
            continue  # the lease runs on; if it runs out, the agents end by themselves
        if not kept:
            raise StaleEpoch("another controller took over this project")
        renewed(lease_seconds - (loop.time() - before))

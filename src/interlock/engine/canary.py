"""Breaks the code on purpose, once, and sees whether the project's checks notice.

Rules:
1. What is broken comes from main; never from the change that is checked.
2. Where the checks noticed, that is known for good; where they did not, the next run tries again, because a
   person may have mended them.
3. It is tried when a change would be called verified for the first time: nothing starts later because of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from interlock.engine.env import Env
from interlock.engine.turn import Turn
from interlock.events.facts import CanaryTried
from interlock.git.altered import list_files, read_texts, with_file
from interlock.git.place import Place
from interlock.merge import judge
from interlock.model.canary import PLACES, Canary, CanaryResult
from interlock.model.outcome import CheckResult
from interlock.model.task import Tree
from interlock.verify.breaking import breaks
from interlock.verify.protocol import CheckOrder
from interlock.verify.sources import Listed, select

PATIENCE_SECONDS, PATIENCE_TIMES = 30.0, 3.0


async def canary_of(env: Env, turn: Turn, usual_seconds: float) -> CanaryResult | None:
    """What the checks say of a canary: as it is known, or tried now. `usual_seconds`: what they take else."""
    commands = turn.task.spec.verify
    known = turn.canary()
    if not commands or (known and (not known.is_blind or known.run == turn.run)):
        return known
    main = await turn.see_main()

    async def check(canary: Canary) -> Sequence[CheckResult]:
        name = f"canary/{main.commit[:12]}-{canary.tree[:12]}"
        order = check_order(turn, name, canary.tree, commands)
        limit = patience(order.timeout_seconds, usual_seconds)
        results = await env.checker.check(replace(order, timeout_seconds=limit))
        # What fails on main too has not noticed anything.
        base = {command: found for command in commands if (found := turn.on_main(main.tree, command))}
        judged = judge(results, replace(turn.task.spec, done_when=()), base, {}).checks
        return [replace(check, exit_code=0) if check.red_on_base else check for check in judged]

    result = await try_canaries(await env.canaries(main.tree), check)
    fact = CanaryTried(
        commands, turn.check_environment, result.noticed, result.places, result.seconds, tree=main.tree
    )
    await turn.note([fact])
    return result


def check_order(turn: Turn, name: str, tree: Tree, commands: tuple[str, ...]) -> CheckOrder:
    """Commands to run on a tree for a turn, as long as its controller is in charge."""
    return CheckOrder(
        name,
        tree,
        commands,
        turn.task.spec.check_seconds,
        {"INTERLOCK_TASK_ID": turn.task.spec.id},
        lease_seconds=max(turn.lease_left(), 1e-6),  # one that is over still is a lease
        pace={command: pace for command in commands if (pace := turn.pace(command))},
        given_at=asyncio.get_running_loop().time(),
    )


def patience(limit_seconds: float, usual_seconds: float) -> float:
    """How long a command may take on a canary. What is broken may well hang, and that is noticed too."""
    return min(limit_seconds, PATIENCE_SECONDS + PATIENCE_TIMES * usual_seconds)


async def try_canaries(
    canaries: Sequence[Canary], check: Callable[[Canary], Awaitable[Sequence[CheckResult]]]
) -> CanaryResult:
    """Run the checks on one canary after the other, until one is noticed."""
    places: list[str] = []
    seconds = 0.0
    for canary in canaries:
        results = await check(canary)
        places.append(canary.name)
        seconds = sum(result.seconds for result in results)
        if not all(result.passed for result in results):
            return CanaryResult(True, tuple(places), seconds)
    return CanaryResult(False, tuple(places), seconds)


async def make_canaries(place: Place, tree: Tree, most: int = PLACES) -> Sequence[Canary]:
    """Trees with one place broken, the likeliest to be noticed first; none where there is no source."""
    selection = select(Listed(path, size) for path, size in await list_files(place, tree))
    texts = await read_texts(place, tree, (*selection.sources, *selection.tests))
    broken = await asyncio.to_thread(breaks, selection, texts, most)
    return [Canary(one.name, one.path, await with_file(place, tree, one.path, one.text)) for one in broken]

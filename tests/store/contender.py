"""A process that works on a log, for tests that race or kill it: `contender PART URL PROJECT NAME`.

It says `ready`, begins when a line comes in, and prints one JSON line per thing that the store acknowledged.
"""

import asyncio
import json
import random
import sys
from collections.abc import Callable, Sequence

from interlock.events.facts import Fact, PhaseStarted
from interlock.model.task import TaskId
from interlock.store import Store, open_store
from tests.store.logs import reset

RESOURCES = 200
CONTESTED = 5
ROUNDS = 60


def started(resource: str) -> Callable[[int], list[Fact]]:
    return lambda epoch: [PhaseStarted(TaskId(resource), 1, "implement", epoch)]


async def race(store: Store, name: str) -> None:
    """Try to claim each of many resources once, in an order of one's own."""
    order = [f"r{n}" for n in range(RESOURCES)]
    random.Random(name).shuffle(order)
    for resource in order:
        if got := await store.claim(resource, name, 600, started(resource)):
            say([resource, got[0].epoch])


async def contend(store: Store, name: str) -> None:
    """Claim and let go of few resources again and again: by release, by a lease that runs out, by force."""
    dice = random.Random(name)
    for _ in range(ROUNDS):
        resource = f"r{dice.randrange(CONTESTED)}"
        got = await store.claim(resource, name, dice.choice([0.0, 600.0]), started(resource))
        if got is None:
            await store.revoke(resource, [], name)
            continue
        say([resource, got[0].epoch])
        await store.renew(got[0], 600)


async def write(store: Store, name: str) -> None:
    """Append until killed."""
    while True:
        rows = await store.append([reset(name), reset(name)], name)
        say([row.seq for row in rows])


def say(thing: Sequence[object]) -> None:
    sys.stdout.write(json.dumps(thing) + "\n")
    sys.stdout.flush()


async def main(part: str, url: str, project: str, name: str) -> None:
    say("ready")
    sys.stdin.readline()
    # Opened only now, so that all of them also race to create the schema.
    store = open_store(url, project)
    try:
        await {"race": race, "contend": contend, "write": write}[part](store, name)
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""Task graphs of any size, as the text a person would have written. The same seed gives the same text."""

import random

AGENT = ("agents:", "  worker: {use: command, run: [sh, -c, 'true']}")
AREAS = 2000
"""Directories the tasks spread over, so that footprints overlap now and then and not always."""


def big_graph(tasks: int, edges: int, seed: int = 0) -> str:
    """A graph with this many tasks and, as far as they fit, this many needs; each points to an earlier task.

    Compact on purpose: 10,000 tasks with 50,000 needs stay below the limit for the size of the file.
    """
    dice = random.Random(seed)
    lines = ["version: 1", "defaults: {agent: worker, verify: 'true'}", *AGENT, "tasks:"]
    for number, needs in enumerate(_needs(tasks, edges, dice)):
        names = ",".join(f"t{need}" for need in sorted(needs))
        task = (
            f"goal: Do {number}, touches: [a{dice.randrange(AREAS)}/**], estimate: {dice.randrange(60, 1800)}"
        )
        lines.append(f"  t{number}: {{{task}, needs: [{names}]}}")
    return "\n".join(lines) + "\n"


def _needs(tasks: int, edges: int, dice: random.Random) -> list[set[int]]:
    needs: list[set[int]] = [set() for _ in range(tasks)]
    left = min(edges, tasks * (tasks - 1) // 2)
    while left > 0:
        later = dice.randrange(1, tasks)
        earlier = dice.randrange(max(0, later - 500), later)
        if earlier not in needs[later]:
            needs[later].add(earlier)
            left -= 1
    return needs

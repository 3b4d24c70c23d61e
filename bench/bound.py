"""How fast any schedule could be at best, leases looked at more closely than `interlock plan` does.

Three bounds, of which the highest counts:
1. What `plan` says: the longest chain, the work by all workers, the users of each lease in turn.
2. Of any tasks: none begins before the first of them can, and behind the last there is what needs it; between
   the two, all their work has to be shared by the workers.
3. Of tasks that can only go one after the other, because each two of them share a lease or need each other
   (a clique): the best order with interruptions allowed, which is easily found (Jackson's preemptive rule).
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from interlock.model.task import Task
from interlock.plan import analyse
from interlock.plan.network import Network, needs_first


def plain_bound(tasks: Sequence[Task], workers: int) -> float:
    """The one that `interlock plan` shows."""
    return analyse(tasks, workers).lower_bound_seconds


def close_bound(tasks: Sequence[Task], workers: int) -> float:
    """The highest of all three."""
    network = Network(needs_first(tasks)[0])
    after = [tail - seconds for tail, seconds in zip(network.tails, network.seconds, strict=True)]
    one_by_one = (
        _one_by_one([(network.heads[i], network.seconds[i], after[i]) for i in clique])
        for clique in _cliques(network)
    )
    return max([plain_bound(tasks, workers), _shared_work(network, after, workers), *one_by_one])


def _shared_work(network: Network, after: Sequence[float], workers: int) -> float:
    """Over all tasks that cannot begin before one time and have more than so much behind them."""
    by_after = sorted(range(len(after)), key=lambda i: -after[i])
    best = 0.0
    for begin in set(network.heads):
        work, behind, heads = 0.0, 0.0, list[float]()
        chosen = [i for i in by_after if network.heads[i] >= begin]
        for at, i in enumerate(chosen):
            work += network.seconds[i]
            behind += after[i] - (after[chosen[at - workers]] if at >= workers else 0.0)
            insort(heads, network.heads[i])
            if at + 1 >= workers:
                best = max(best, (sum(heads[:workers]) + work + behind) / workers)
    return best


def _cliques(network: Network) -> Iterator[Iterable[int]]:
    """Some: of every lease its users, and from every task on the longest ones that fit."""
    users: dict[str, set[int]] = {}
    for i, task in enumerate(network.tasks):
        for name in task.uses:
            users.setdefault(name, set()).add(i)
    apart = [set().union(*(users[name] for name in task.uses)) - {i} for i, task in enumerate(network.tasks)]
    for i, bits in enumerate(network.ancestors):
        for earlier in range(i):
            if bits >> earlier & 1:
                apart[i].add(earlier)
                apart[earlier].add(i)
    longest_first = sorted(range(len(apart)), key=lambda i: -network.seconds[i])
    for group in [*users.values(), *({i} for i in range(len(apart)))]:
        clique, fitting = set(group), set.intersection(*(apart[i] for i in group))
        for i in longest_first:
            if i in fitting:
                clique.add(i)
                fitting &= apart[i]
        yield clique


def _one_by_one(jobs: Iterable[tuple[float, float, float]]) -> float:
    """Each with the time before it, its own, and that behind it: always the one with most behind it."""
    coming = sorted(jobs, reverse=True)
    now = best = 0.0
    ready: list[tuple[float, float]] = []
    while coming or ready:
        if not ready:
            now = max(now, coming[-1][0])
        while coming and coming[-1][0] <= now:
            _, seconds, after = coming.pop()
            heappush(ready, (-after, seconds))
        after, left = heappop(ready)
        until = min(now + left, coming[-1][0] if coming else float("inf"))
        if until < now + left:
            heappush(ready, (after, left - (until - now)))
        else:
            best = max(best, until - after)
        now = until
    return best

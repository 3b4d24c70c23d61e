"""The interface of a log, as the engine uses it. SQLite and Postgres implement it; one suite checks both."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from interlock.events.facts import Fact
from interlock.events.record import Recorded
from interlock.model.claim import Claim, Held
from interlock.model.task import TaskId

FactsFor = Callable[[int], Sequence[Fact]]
"""The facts to write with a claim, given the epoch it got."""


class Store(Protocol):
    """One project's log, its claims and its snapshot.

    1. A fact that `append` or `claim` returned survives any crash.
    2. Every write with a fence happens in one transaction with the check that the fence still holds; else
       nothing is written and `StaleEpoch` is raised. A fence holds until another process raises the epoch or
       releases the resource. That its lease is over is not enough: a lease only says when others may take it;
       what keeps two holders apart is the epoch, checked where it is written.
    3. Leases are the database's clock. The times of facts, and `now`, are the log's clock (`log.LogClock`):
       the database's, which never goes back and never stops. No process's own clock matters.
    4. `StoreUnavailable` means nothing was written, or it cannot be known: look at the log, then try again.
    """

    @property
    def notice(self) -> str:
        """Message for the user after opening, if the log was brought to a newer schema; else empty."""
        ...

    async def identify(self, lineage: str) -> None:
        """Name the repository whose log this is. The first one owns it; others get `EnvironmentProblem`."""
        ...

    async def append(
        self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()
    ) -> list[Recorded]: ...

    async def read(self, after: int, limit: int = 1000) -> list[Recorded]: ...

    async def about_task(self, task: TaskId) -> list[Recorded]:
        """Read all facts that name a task, oldest first, by an index."""
        ...

    async def about_commit(self, prefix: str) -> list[Recorded]:
        """Read all facts whose `commit` begins like this, oldest first, by an index."""
        ...

    async def head(self) -> int: ...

    async def wait(self, after: int, timeout_seconds: float) -> bool:
        """Return as soon as there are facts beyond `after` (True), or when the time is over (False)."""
        ...

    async def claim(
        self,
        resource: str,
        holder: str,
        lease_seconds: float,
        facts: FactsFor,
        fence: Claim | None = None,
        takeover: int | None = None,
    ) -> tuple[Claim, list[Recorded]] | None:
        """Raise the epoch of `resource` and write `facts(epoch)`, in one transaction; None if it is held.

        Free are: resources never claimed, released ones, those whose lease is over, those taken under an
        older generation than `fence.epoch` (the fence is the controller's claim), and one that stands exactly
        at epoch `takeover`, whose holder the caller knows to be dead. The facts are signed by the holder.
        """
        ...

    async def renew(self, claim: Claim, lease_seconds: float, note: str = "") -> bool:
        """Prolong a lease; False if the claim is no longer ours (nothing changed)."""
        ...

    async def release(
        self, claim: Claim, facts: Sequence[Fact] = (), actor: str = "", fences: Sequence[Claim] = ()
    ) -> list[Recorded]:
        """Write the last facts of a claim and give the resource back, in one transaction, if it is ours.

        Without an actor the facts are signed by the holder.
        """
        ...

    async def revoke(self, resource: str, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        """Take a resource from its holder: epoch + 1, free, and `facts` written, in one transaction."""
        ...

    async def raise_epoch(self, resource: str, epoch: int) -> bool:
        """Let the next claim of a resource have an epoch above `epoch`; False if it would have had anyway.

        A claim that stands below it falls. For a log that is older than what it is a log of.
        """
        ...

    async def held(self) -> list[Held]:
        """All claims that are not released."""
        ...

    async def now(self) -> float:
        """The log's clock, in seconds since 1970: never before the newest fact."""
        ...

    async def save_snapshot(self, seq: int, data: bytes) -> None: ...

    async def load_snapshot(self) -> tuple[int, str, bytes] | None:
        """The newest snapshot: the fact it was taken at, the hash the log has there, and the bytes."""
        ...

    def export(self) -> AsyncIterator[str]:
        """The whole log as NDJSON lines."""
        ...

    async def restore(self, lines: AsyncIterator[str]) -> int:
        """Fill an empty log from `export`'s lines, checking the chain; how many facts. Epochs go on."""
        ...

    async def close(self) -> None: ...

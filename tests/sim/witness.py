"""The store with somebody looking on who keeps an account of their own.

Whoever writes with a fence, claims or renews is judged by a second, simpler account of who holds what. So a
store (or a bug planted in one) that lets the wrong writer through is caught at the write itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.events.facts import Fact
from interlock.events.record import Recorded
from interlock.model.claim import Claim
from interlock.store.protocol import FactsFor, Store
from tests.sim.invariants import Invariants


@dataclass(slots=True)
class _Account:
    epoch: int = 0
    holder: str = ""
    generation: int = 0
    expires: float = 0.0
    is_held: bool = False


class WatchedStore:
    """A `Store` that passes every call on and holds the answers against its own account."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        invariants: Invariants,
        is_dead: Callable[[str], bool],
    ) -> None:
        self._store, self._clock, self._invariants, self._is_dead = store, clock, invariants, is_dead
        self._accounts: dict[str, _Account] = {}

    def __getattr__(self, name: str) -> Any:  # Any: calls that change nothing pass as they are
        return getattr(self._store, name)

    async def append(self, facts: Sequence[Fact], actor: str, fences: Sequence[Claim] = ()) -> list[Recorded]:
        rows = await self._store.append(facts, actor, fences)
        self._fences_held("append", fences)
        return self._written(rows)

    async def claim(
        self,
        resource: str,
        holder: str,
        lease_seconds: float,
        facts: FactsFor,
        fence: Claim | None = None,
        takeover: int | None = None,
    ) -> tuple[Claim, list[Recorded]] | None:
        taken = await self._store.claim(resource, holder, lease_seconds, facts, fence, takeover)
        account = self._accounts.setdefault(resource, _Account())
        generation = fence.epoch if fence else 0
        is_free = self._is_free(account, generation, takeover)
        if taken is None:
            if is_free:
                self._invariants.violate("I5", f"{resource} is free and {holder} did not get it")
            return None
        self._fences_held("claim", [fence] if fence else [])
        if not is_free:
            self._invariants.violate("lease", f"{holder} got {resource}, which {account.holder} still holds")
        if taken[0].epoch <= account.epoch:
            self._invariants.violate(
                "I3", f"{holder} got {resource} under epoch {taken[0].epoch} after {account.epoch}"
            )
        expires = self._clock() + lease_seconds
        self._accounts[resource] = _Account(taken[0].epoch, holder, generation, expires, is_held=True)
        return taken[0], self._written(taken[1])

    async def renew(self, claim: Claim, lease_seconds: float, note: str = "") -> bool:
        renewed = await self._store.renew(claim, lease_seconds, note)
        if renewed:
            self._fences_held("renew", [claim])
            self._accounts[claim.resource].expires = self._clock() + lease_seconds
        return renewed

    async def release(
        self, claim: Claim, facts: Sequence[Fact] = (), actor: str = "", fences: Sequence[Claim] = ()
    ) -> list[Recorded]:
        rows = await self._store.release(claim, facts, actor, fences)
        self._fences_held("release", [claim, *fences])
        self._accounts[claim.resource].is_held = False
        return self._written(rows)

    async def revoke(self, resource: str, facts: Sequence[Fact], actor: str) -> list[Recorded]:
        rows = await self._store.revoke(resource, facts, actor)
        account = self._accounts.setdefault(resource, _Account())
        account.epoch, account.is_held = account.epoch + 1, False
        return self._written(rows)

    def overdue_seconds(self, resource: str) -> float:
        """How long ago the lease of a held resource ran out; negative while it runs or nobody holds it."""
        account = self._accounts.get(resource)
        return self._clock() - account.expires if account and account.is_held else -1.0

    def _is_free(self, account: _Account, generation: int, takeover: int | None) -> bool:
        if not account.is_held or account.expires <= self._clock():
            return True
        # A task may be taken by whoever is the controller; the project only from a controller that is dead.
        may_take_over = account.epoch == takeover and (generation > 0 or self._is_dead(account.holder))
        return account.generation < generation or may_take_over

    def _fences_held(self, what: str, fences: Sequence[Claim]) -> None:
        for fence in fences:
            account = self._accounts.get(fence.resource, _Account())
            if not account.is_held or (account.epoch, account.holder) != (fence.epoch, fence.holder):
                self._invariants.violate(
                    "fence", f"{what} by {fence.holder} went through under a fallen claim {fence}"
                )

    def _written(self, rows: list[Recorded]) -> list[Recorded]:
        for row in rows:
            self._invariants.recorded(row)
        return rows

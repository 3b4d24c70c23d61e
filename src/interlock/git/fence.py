"""The fence: a ref to a blob that holds the epoch of the controller in charge.

Git compares it in the same transaction that moves the branch, so a controller that was paused for too long
cannot move anything. The blob also names the state folder it belongs to: after a user deletes that folder,
epochs count from the start again, and the old count must not lock the user out.
"""

import asyncio
from dataclasses import dataclass

from interlock.git.command import Git
from interlock.git.errors import GitFailed
from interlock.git.lineage import ensure_lineage
from interlock.git.own_refs import drop_old_locks
from interlock.git.place import Place
from interlock.model.claim import LAST_EPOCH
from interlock.model.errors import EnvironmentProblem, StaleEpoch

REF = "refs/interlock/fence"
_DIGITS = 18
_TRIES = 20
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class _Seen:
    object: str | None
    epoch: int = 0
    lineage: str = ""


class Fence:
    """The fence of one repository, as one process sees it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._git: Git = place.git
        self._raised = 0
        """The epoch to which this process itself raised it."""
        self._lineage = ""

    def object_id(self, epoch: int) -> str:
        """The blob that the ref points to while `epoch` is in charge."""
        return self._place.object_id("blob", self._content(epoch))

    async def admits(self, epoch: int, standing: str | None) -> bool:
        """Return True if this epoch may land, given the ref's object. A newer epoch raises the fence."""
        if standing == self.object_id(epoch):
            return True
        seen = await self._look()
        if seen.object is not None and seen.lineage != self._our_lineage():
            return False  # the state folder we began with is gone, and another controller is in charge
        try:
            await self.to(epoch)
        except StaleEpoch:
            return False
        return True

    async def to(self, epoch: int) -> None:
        """Raise it. `StaleEpoch` if it already stands higher, or as high for another process."""
        await drop_old_locks(self._place.common_dir)
        for _ in range(_TRIES):
            seen = await self._look()
            if seen.lineage == self._our_lineage() and self._refuses(seen, epoch):
                return
            if await self._swap(seen.object, epoch):
                self._raised = epoch
                return
            await asyncio.sleep(_LOOK_SECONDS)
        raise GitFailed("update-ref", f"{REF} changed at each of {_TRIES} tries: .lock': File exists")

    async def epoch(self) -> int:
        """The epoch that it stands at for our state folder; 0: nothing of ours has raised it."""
        seen = await self._look()
        return seen.epoch if seen.lineage == self._our_lineage() else 0

    def _refuses(self, seen: _Seen, epoch: int) -> bool:
        if seen.epoch == epoch == self._raised:
            return True
        if seen.epoch >= epoch:
            raise StaleEpoch(
                f"the fence is at epoch {seen.epoch}, so a controller with epoch {epoch} may no longer land"
            )
        return False

    async def _look(self) -> _Seen:
        said = await self._git.run("cat-file", "--batch", feed=f"{REF}\n".encode())
        first, _, rest = said.line.partition("\n")
        if first.endswith(" missing"):
            return _Seen(None)
        epoch, _, lineage = rest.partition(" ")
        is_number = epoch.isascii() and epoch.isdigit()
        if is_number and (len(epoch) > _DIGITS or int(epoch) >= LAST_EPOCH):
            raise EnvironmentProblem(
                f"{REF} names epoch {epoch[:20]}, above the largest possible one",
                f"if no run is active here: git update-ref -d {REF}",
            )
        return _Seen(first.split(" ")[0], int(epoch) if is_number else 0, lineage)

    async def _swap(self, old: str | None, epoch: int) -> bool:
        new = (await self._git.run("hash-object", "-w", "--stdin", feed=self._content(epoch))).line
        zero = "0" * len(new)
        said = await self._git.run("update-ref", REF, new, old or zero, ok=(0, 1, 128))
        if said.code and "cannot lock ref" not in said.err:
            raise GitFailed("update-ref", said.err)
        return said.code == 0

    def _content(self, epoch: int) -> bytes:
        return f"{epoch} {self._our_lineage()}\n".encode()

    def _our_lineage(self) -> str:
        if not self._lineage:
            self._lineage = ensure_lineage(self._place.state)
        return self._lineage

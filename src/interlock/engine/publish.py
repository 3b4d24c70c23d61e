"""Publishes a tested change before the branch moves here, as the setting `land` says.

Rules:
1. `branch`: nothing is published.
2. `push`: the remote moves first, from exactly the commit that the change was tested on. If it does not, the
   branch here stays where it was. If it did and this process ended before the branch here followed, the next
   try finds the commit on the remote, and the branch follows.
3. What the remote or the network has against a push is no failure of the task. It waits and is tried again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from interlock.engine.turn import Turn
from interlock.events import facts as f
from interlock.git.push import Push, PushOutcome
from interlock.model.outcome import Landing
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit
from interlock.train import retry


class Publisher(Protocol):
    """Makes a tested change known outside of this repository, or does not."""

    @property
    def follows_remote(self) -> bool:
        """True if the branch never goes another way than the remote's: then no upstream is merged here."""
        ...

    async def publish(self, turn: Turn, landing: Landing) -> Sequence[f.Fact]:
        """Return the facts that end the landing now; none: the branch may move here."""
        ...


class LocalOnly:
    """Publishes nothing."""

    follows_remote = False

    async def publish(self, turn: Turn, landing: Landing) -> Sequence[f.Fact]:  # noqa: ARG002 - see Publisher
        return []


class PushRepository(Protocol):
    """The calls of a repository that a push needs."""

    async def fetch(self) -> str: ...

    async def fence_epoch(self) -> int: ...

    async def push(self, landing: Landing) -> Push: ...


@dataclass(frozen=True, slots=True)
class PushFirst:
    """Pushes a change to the remote before the branch moves here."""

    repository: PushRepository
    follows_remote = True
    told: set[Commit] = field(default_factory=set)
    """Pushed commits that the run has named. One that the checkout holds up is pushed again at each look."""

    async def publish(self, turn: Turn, landing: Landing) -> Sequence[f.Fact]:
        if await self.repository.fence_epoch() > landing.fence or await _has_moved(turn, landing):
            return []  # nothing is pushed: the branch refuses the landing, and says why
        push = await self.repository.push(landing)
        if push.outcome is PushOutcome.PUSHED:
            if landing.new not in self.told:
                turn.tell(f"{landing.task}: pushed to {push.upstream} as {landing.new[:12]}")
            self.told.add(landing.new)
            return []
        if push.outcome is PushOutcome.BEHIND:
            said = await self.repository.fetch()
            main = await turn.see_main()
            if main.commit != landing.old:
                return [f.CandidateStale(*turn.key, base=landing.old, main=main.commit)]
            push = Push(PushOutcome.BEHIND, push.upstream, said.removeprefix("warning: "))
        return [held(turn, push)]


async def _has_moved(turn: Turn, landing: Landing) -> bool:
    return (await turn.see_main()).commit != landing.old


def held(turn: Turn, push: Push) -> f.Fact:
    """Return the wait until the remote can be asked again."""
    return held_because(turn, _HELD[push.outcome], upstream=push.upstream, text=push.text, branch=turn.branch)


def held_because(turn: Turn, code: Why, **fields: str) -> f.Fact:
    """Return the wait of a landing for something outside of this repository."""
    return retry.held_up(turn.task, turn.key, Reason(code, fields), is_busy=False)


_HELD = {
    PushOutcome.BEHIND: Why.REMOTE_AHEAD,
    PushOutcome.UNPUSHED: Why.NOT_PUSHED,
    PushOutcome.REFUSED: Why.PUSH_REFUSED,
    PushOutcome.UNREACHABLE: Why.REMOTE_UNREACHABLE,
    PushOutcome.TAKEN: Why.BRANCH_TAKEN,
}

"""Facts that a command finds out or carries over: canaries, lost landings, the log of another clone."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from interlock.engine.loading import catch_up
from interlock.events.facts import CanaryTried
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.task import Commit
from interlock.store.protocol import Store
from interlock.ui.reading import Reading


async def record_canary(store: Store, fact: CanaryTried, actor: str) -> None:
    """Write down the result of a canary, so that no run tries it again."""
    await store.append([fact], actor)


async def record_lost_landings(store: Store, reading: Reading, common_dir: Path, actor: str) -> None:
    """Bring `reading` up to what main says: a person may have moved it. An active run does this itself.

    Costs a look at one file while main is where it was, and at two beside a run, unless the branch is gone.
    """
    state = reading.state
    # A branch with a NUL in its name is none: the log of another program, or a damaged one, may hold that.
    if not state.main.branch or "\0" in state.main.branch:
        return
    from interlock.engine.landings import lost_landings
    from interlock.git.errors import BranchGone
    from interlock.git.place import Place, is_packed, loose_ref
    from interlock.git.repository import GitRepository

    place = Place(common_dir, None, state.main.branch, "", (0, 0), {})
    loose = loose_ref(place)
    if loose == state.main.commit or (reading.is_live and (loose or is_packed(place))):
        return
    with suppress(EnvironmentProblem):  # a command that writes reports it, a reader only looks
        repository = GitRepository(place)
        try:
            tip = await repository.tip()
        except BranchGone:
            state.main.commit = Commit("")
            return
        if reading.is_live:
            return
        if lost := await lost_landings(repository, state, state.main.branch):
            await store.append(lost, actor)
            await catch_up(store, state)
        state.main.commit = tip.commit  # as it is shown; the next run writes it down


async def import_log(store: Store, lines: AsyncIterator[str]) -> int:
    if await store.head():
        raise UsageError("the log is not empty", "import into a fresh clone; two logs are never merged")
    return await store.restore(lines)

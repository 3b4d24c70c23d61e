"""A person moved main while no run was there to notice: the next command that looks shows it."""

from contextlib import suppress

from interlock.engine.loading import catch_up
from interlock.model.errors import EnvironmentProblem
from interlock.ui.cli.session import ProjectLog, actor
from interlock.ui.reading import Reading


async def note_lost_landings(project: ProjectLog, reading: Reading) -> None:
    """Bring `reading` up to what main says. An active run does this itself.

    Costs a look at one file while main is where it was.
    """
    state = reading.state
    # A branch with a NUL in its name is none: the log of another program, or a damaged one, may hold that.
    if reading.is_live or not state.branch or "\0" in state.branch:
        return
    from interlock.engine.landings import lost_landings
    from interlock.git.place import Place, loose_ref
    from interlock.git.repository import GitRepository

    place = Place(project.state_dir.parent, None, state.branch, "", (0, 0), {})
    if loose_ref(place) == state.main:
        return
    with suppress(EnvironmentProblem):  # a command that writes reports it, a reader only looks
        repository = GitRepository(place)
        tip = await repository.tip()
        if lost := await lost_landings(repository, state, state.branch):
            await project.store.append(lost, actor())
            await catch_up(project.store, state)
        state.main = tip.commit  # as it is shown; the next run writes it down

"""Compares what the log and main say of landings: main may be moved back, and the log may lose its end."""

from collections.abc import Collection, Mapping
from typing import Protocol

from interlock.events.facts import Fact, LandingLost, LandingSeen
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.git.place import ref_word
from interlock.git.protocol import Repository, Rewritten
from interlock.model.task import Commit


class _Looks(Protocol):
    async def missing(self, commits: Collection[Commit]) -> frozenset[Commit]: ...

    async def rewritten(self, gone: Collection[Commit]) -> Mapping[Commit, Rewritten]: ...


async def lost_landings(repository: _Looks, state: State, branch: str) -> list[Fact]:
    """Tasks that are done although their commit is not on the branch any more.

    After a rebase, the same commit is there under a new id: such a task stays done.
    """
    landed = {
        name: task.commit for name, task in state.done.packed.items() if task.commit and task.branch == branch
    }
    for name in state.done.recent:
        if (found := state.tasks[name].change.landed) and found.branch == branch:
            landed[name] = found.commit
    gone = await repository.missing(set(landed.values()))
    rewritten = await repository.rewritten(gone)
    facts = list[Fact]()
    for name, commit in landed.items():
        if now := rewritten.get(commit):
            facts.append(LandingLost(name, commit, now=now.commit))
            facts.append(LandingSeen(name, now.commit, now.parent, now.tree))
        elif commit in gone:
            facts.append(LandingLost(name, commit))
    return facts


async def found_landings(repository: Repository, state: State) -> list[Fact]:
    """Tasks that are not done although a commit of theirs is on the branch.

    Not those whose candidate it is: between the move of main and the fact there is always a moment, and
    recovery of the task looks it up.
    """
    open_tasks = {ref_word(name): task for name, task in state.tasks.items() if task.stage is not Stage.DONE}
    if not open_tasks:
        return []
    found = []
    for word, tip in (await repository.landings()).items():
        task = open_tasks.get(word)
        if task is None or (
            task.change.undone and task.change.undone.commit == tip.commit
        ):  # what undid that landing is on main too
            continue
        if task.change.candidate is None or task.change.candidate.commit != tip.commit:
            found.append(LandingSeen(task.spec.id, tip.commit, tree=tip.tree))
    return list(found)

"""Joint landings: changes that passed as one tree land as one merge, with a commit of each below it.

Rules:
1. Changes land as one when every check of each of them is known to be green on the tree that has them all:
   by the same keys by which a single change needs no second run. If one is not, they are judged one by one.
2. All that lands on main's own line is a tested tree. The commits below the merge are for people, for `undo`
   and for the search of a culprit; no check ran on their trees.
3. Nothing is passed by: every change before one of them that matters to it is in the merge too.
4. A change lands alone that a person may have to approve, that undoes others, edits how checks run, has no
   check, or whose checks use a lease. On a main that is red, or not judged yet, all do.
5. What is compared with main must be told for each change: a check that fails, is excused, or misses tests of
   main is nobody's with several changes at once, and so is a test that one of them takes out of a file.
   Then they are judged one by one.
6. A merge lands only while all of its tasks wait to land it. One that was taken away, is held, or moved on
   sends the others back to their checks.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from interlock.events.lifecycle import Stage
from interlock.events.main import unjudged
from interlock.events.state import State, TaskState
from interlock.events.state_parts import Build
from interlock.events.task_parts import Work
from interlock.model.outcome import CheckResult
from interlock.model.steering import steering
from interlock.model.task import PhaseKind, Task, TaskId
from interlock.train.speculation import Waiting, matters

NO_REVIEW = ("", "none")


def joinable(state: State, queue: Sequence[TaskState]) -> set[TaskId]:
    """Return the changes that may land together with others (rule 4)."""
    main, run = state.main, state.run
    if run is None or not run.joint or main.broken or unjudged(state):
        return set()
    return {task.spec.id for task in queue if may_join(task)} - _apart(state)


def may_join(task: TaskState) -> bool:
    """Return True if a change may be checked together with others: it waits for that, or is checked alone."""
    is_free = task.phase.kind is PhaseKind.CHECK and not (
        task.stage is Stage.RUNNING and task.change.together
    )
    return is_free and task.change.work is not None and fits(task.spec, task.change.work)


def fits(spec: Task, work: Work) -> bool:
    """Return True if a change is not one of those that land alone (rule 4)."""
    commands = (*spec.done_when, *spec.verify)
    if not commands or spec.reverts or spec.leases or work.commit == work.base:
        return False
    return spec.review in NO_REVIEW and not steering(work.touched, commands)


def _apart(state: State) -> set[TaskId]:
    """The changes of builds that tested them as one, and that do not land as one all the same."""
    return {
        name
        for build in state.builds.ended
        if build.apart or (build.passed and build.batch > 1 and not build.joint)
        for name in (*build.ahead, build.task)[-build.batch :]
    }


def next_joint(
    queue: Sequence[Waiting],
    tasks: Mapping[TaskId, TaskState],
    builds: Iterable[Build],
    free: Collection[TaskId],
) -> tuple[TaskId, ...]:
    """Return the fewest changes that may land as one now, in their order; none: there are none.

    `builds` are those that hold on main as it is, and `free` the changes that may be in a merge.
    """
    stacks = [(build, (*build.ahead, build.task)) for build in builds if build.joint and not build.apart]
    found = [
        names
        for build, names in stacks
        if len(names) > 1
        and all(name in free for name in names)
        and _is_covered([tasks[name].spec for name in names], {command for command, _ in build.joint})
        and _is_closed(queue, names)
    ]
    places = {each.task: at for at, each in enumerate(queue)}
    return min(found, key=lambda names: places[names[-1]], default=())


def _is_covered(specs: Sequence[Task], commands: Collection[str]) -> bool:
    """Return True if these are all checks of the tasks, and each sees the same for all that have it."""
    wanted = [(command, spec) for spec in specs for command in (*spec.done_when, *spec.verify)]
    seen = {command: spec.inputs_of(command) for command, spec in wanted}
    return seen.keys() <= set(commands) and all(seen[c] == spec.inputs_of(c) for c, spec in wanted)


def _is_closed(queue: Sequence[Waiting], names: Sequence[TaskId]) -> bool:
    """Rule 3."""
    inside = [(at, each) for at, each in enumerate(queue) if each.task in names]
    return all(
        before.task in names or not matters(before, each) for at, each in inside for before in queue[:at]
    )


def complete(
    tasks: Mapping[TaskId, TaskState], lead: TaskState, free: Collection[TaskId]
) -> tuple[TaskId, ...]:
    """Return the tasks that land as one with this one; none: it is alone, or not all can land (rule 6)."""
    made = lead.change.candidate
    names = made.joined.tasks if made and made.joined else ()
    others = [tasks[name] for name in names if name in free and name in tasks]
    return (
        names
        if made and len(others) == len(names) and all(_lands(each, made.commit) for each in others)
        else ()
    )


def _lands(task: TaskState, commit: str) -> bool:
    made = task.change.candidate
    is_waiting = task.stage is Stage.WAITING and task.phase.kind is PhaseKind.LAND
    return is_waiting and made is not None and made.commit == commit


def is_plain(checks: Sequence[CheckResult]) -> bool:
    """Return True if nothing in these results has to be told for one change of several (rule 5)."""
    return all(
        check.passed and not check.vanished_count and not check.vanished and not check.fewer_passed
        for check in checks
    )

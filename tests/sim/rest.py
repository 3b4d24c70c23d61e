"""What must hold once the trouble is over and the engine says it is done."""

from interlock.events.fold import fold
from interlock.events.lifecycle import Stage
from interlock.events.record import Recorded, verify_chain
from interlock.events.snapshot import pack, unpack
from interlock.events.state import State, TaskState
from interlock.events.state_parts import DoneTasks
from interlock.model.usage import Usage
from interlock.ui.queries.spending import Spending
from tests.sim.invariants import Invariants

Snapshot = tuple[int, str, bytes] | None
KEPT = 1
"""The number of done tasks that stay in the engine's state: the others are packed (`events/finished`)."""


def check_rest(seen: Invariants, engine: State, log: list[Recorded], snapshot: Snapshot) -> None:
    """All of it. `seen` has the account of the run so far, and takes the violations."""
    seen.work_is_kept()
    _everything_is_archived(seen)
    _acknowledged_facts_stay(seen, log)
    _landed_is_done(seen)
    _nothing_is_left(seen)
    _everything_is_paid_for(seen)
    _every_fold_is_equal(seen, engine)
    _snapshot_fits(seen, snapshot)


def _everything_is_archived(seen: Invariants) -> None:
    for seat in seen.machine.seats:
        name = f"{seat.order.task}/{seat.order.attempt}"
        if seat.alive:
            seen.violate("overlap", f"the agent of {name} outlived the run")
        if seat.made is not None and not seat.ref:
            seen.violate("I8", f"the workspace of {name} was never archived")


def _acknowledged_facts_stay(seen: Invariants, log: list[Recorded]) -> None:
    verify_chain(log)
    if missing := [row for row in seen.rows if log[row.seq - 1 : row.seq] != [row]]:
        seen.violate("I1", f"fact {missing[0].seq} was acknowledged and is gone")
    if len(log) != len(seen.rows):
        seen.violate("I1", f"the log has {len(log)} facts, and {len(seen.rows)} were written")


def _landed_is_done(seen: Invariants) -> None:
    tasks = seen.state.tasks.items()
    done = {name for name, task in tasks if task.stage is Stage.DONE and not _found_undone(task)}
    for name in sorted(done ^ set(seen.landed)):
        where = "on main" if name in seen.landed else "not on main"
        seen.violate("I4", f"{name} is {seen.state.tasks[name].stage} and {where}")


def _found_undone(task: TaskState) -> bool:
    """What it undoes was not on main any more."""
    return task.change.undo is not None and task.change.found_done is not None


def _everything_is_paid_for(seen: Invariants) -> None:
    """Whatever ended an attempt: finished, failed, lost, deferred, reset, cancelled, removed."""
    for name, task in seen.state.tasks.items():
        spent = sum((seat.usage for seat in seen.machine.seats if seat.order.task == name), Usage())
        if task.spent.usage != spent:
            seen.violate("I10", f"{name} has used {spent}, and {task.spent.usage} is counted")
    spent = sum((seat.usage for seat in seen.machine.seats), Usage())
    if seen.state.used != spent:
        seen.violate("I10", f"agents have used {spent}, and {seen.state.used} is counted")
    shown = Spending()
    for row in seen.rows:
        shown.add(row)
    if shown.total != spent:
        seen.violate("I10", f"agents have used {spent}, and {shown.total} is told")


def _nothing_is_left(seen: Invariants) -> None:
    for name, task in seen.state.tasks.items():
        if task.stage is Stage.RUNNING:
            seen.violate("I5", f"{name} is still running at rest")
        if task.stage is Stage.WAITING and not _is_blocked(seen.state, task):
            seen.violate("I5", f"{name} waits at rest, and nothing is in its way")


def _is_blocked(state: State, task: TaskState) -> bool:
    return task.waits_for_person or any(
        need.stage in (Stage.FAILED, Stage.CANCELLED, Stage.REMOVED)
        or (need.stage is Stage.WAITING and _is_blocked(state, need))
        for need in (state.tasks[name] for name in task.spec.needs)
    )


def _every_fold_is_equal(seen: Invariants, engine: State) -> None:
    afresh = fold(seen.rows)
    if afresh != seen.state:
        seen.violate("I9", "folding at once and fact by fact differ")
    if engine != fold(seen.rows[: engine.seq], State(done=DoneTasks(kept=KEPT))):
        seen.violate("I9", "the engine's state is not what its log adds up to")
    half = len(seen.rows) // 2
    part = fold(seen.rows[:half], State(done=DoneTasks(kept=KEPT)))
    back = unpack(pack(part), part.hash)
    if back is None or fold(seen.rows[half:], back) != fold(seen.rows, State(done=DoneTasks(kept=KEPT))):
        seen.violate("I9", f"folding on from a snapshot at fact {half} differs")


def _snapshot_fits(seen: Invariants, snapshot: Snapshot) -> None:
    if snapshot is None:
        return
    seq, hash, data = snapshot
    saved = unpack(data, hash)
    whole = fold(seen.rows, State(done=DoneTasks(kept=KEPT)))
    if saved is None or saved.seq != seq or fold(seen.rows[seq:], saved) != whole:
        seen.violate("I9", f"the snapshot the engine saved at fact {seq} does not fit the log")

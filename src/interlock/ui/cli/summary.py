"""The last words of a run: what landed, what did not and why, how long it took, and what to type next."""

from collections.abc import Iterator

from interlock.engine.project import Project
from interlock.events.finished import recall_all
from interlock.events.state import State
from interlock.learn import Metrics, measure
from interlock.model.durations import lasting
from interlock.model.reason import Why
from interlock.ui.cli.output import STAGE_COLORS, Invocation, paint, say, say_line
from interlock.ui.cli.status import table
from interlock.ui.plain import one_line
from interlock.ui.queries.status import summary_document
from interlock.ui.queries.tasks import TaskRow, rows
from interlock.ui.reading import Reading, all_rows
from interlock.ui.words.checks import red_main_text
from interlock.ui.words.evidence import grades_text
from interlock.ui.words.limits import sandbox_warning
from interlock.ui.words.red_main import mend_command
from interlock.ui.words.remedies import HELPS

LISTED = 20
WORTH_SAYING = 1.1
"""One task, or tasks in a row, take a little longer than their sum: that is no news."""


async def tell_summary(invocation: Invocation, project: Project, reading: Reading, before: State) -> None:
    """Print it in the form that was asked for. `before` is how things stood before the run: a log may be
    long, and only the rows since then are looked at."""
    began = before.seq  # measuring folds on
    metrics = measure([row async for row in all_rows(project.store, before.seq)], before)
    recall_all(reading.state)
    found = rows(reading)
    if invocation.json:
        logs = str(project.state_dir / "logs")
        say_line({"summary": summary_document(reading.state, metrics, found, logs)})
        return
    for line in _lines(found, metrics):
        say(line)
    if warning := sandbox_warning(reading.state):
        say(paint(warning, "red"))
    if red := red_main_text(reading.state):
        say(paint(red, "yellow"))
    for line in _left_out(reading.state, began):
        say(line)
    say(f"logs: {project.state_dir / 'logs'}")
    say(f"next: {paint(mend_command(reading.state) or _next(found, project), 'cyan')}")


def _lines(found: list[TaskRow], metrics: Metrics) -> Iterator[str]:
    of = {state: [row for row in found if row.state == state] for state in STAGE_COLORS}
    yield ""
    yield ", ".join(
        f"{len(members)} {paint(state, STAGE_COLORS[state])}" for state, members in of.items() if members
    )
    if grades := grades_text(row.evidence for row in of["done"] if row.evidence):
        yield f"evidence: {grades}"
    thinner = [row for row in of["done"] if row.evidence and row.evidence.fewer_tests]
    for row in thinner[:LISTED]:
        yield f"{paint('removed tests', 'yellow')}: {row.id}: {row.text}"
    steered = [row for row in of["done"] if row.evidence and row.evidence.steering and row not in thinner]
    for row in steered[:LISTED]:
        yield f"{paint('edits its checks', 'yellow')}: {row.id}: {row.text}"
    left = {state: of[state] for state in ("failed", "cancelled", "waiting", "running")}
    if listed := [row for members in left.values() for row in members[:LISTED]]:
        yield from table(listed, 0)
    if more := sum(map(len, left.values())) - len(listed):
        yield f"  ... and {more} more: interlock status"
    if not metrics.attempts and len(of["done"]) == len(found):
        yield "no tasks left"
        return
    faster = ""
    if metrics.landed and metrics.overlap >= WORTH_SAYING:
        work = lasting(metrics.agent_seconds + metrics.lane_seconds)
        faster = f" for {work} of agent and check time, {metrics.overlap:.1f} in parallel on average"
    yield f"total time {lasting(metrics.makespan_seconds)}{faster}"


def _left_out(state: State, began: int) -> Iterator[str]:
    """The files of this run's landings that are not on main: the line about them may have passed unseen."""
    tasks = [
        task
        for task in state.tasks.values()
        if task.change.landed and task.change.work and task.change.work.seq > began
    ]
    short = [(task.spec.id, out) for task in tasks if task.change.work for out in task.change.work.left_out]
    for name, out in short[:LISTED]:
        yield f"{paint('left out', 'yellow')} of {name}: {one_line(out.text)}"
    if len(short) > LISTED:
        yield f"  ... and {len(short) - LISTED} more: interlock show {short[LISTED][0]}"


def _next(found: list[TaskRow], project: Project) -> str:
    failed = [row.id for row in found if row.state == "failed"]
    if failed:
        return f"interlock explain {failed[0]}"
    if any(row.question for row in found):
        return "interlock inbox"
    if any(row.reason["code"] == Why.CHECK for row in found):
        return HELPS[Why.CHECK]
    if any(row.state in ("waiting", "running") for row in found):
        return "interlock run"
    place = project.place
    # What landed is on the branch, which need not be what is checked out here.
    return "git log --stat" if place.head == place.branch else f"git log --stat {place.ref}"

"""The last words of a run: what landed, what did not and why, how long it took, and what to type next."""

from collections.abc import Iterator

from interlock.engine.project import Project
from interlock.learn import Metrics, measure
from interlock.ui.cli.output import Invocation, paint, say, say_line
from interlock.ui.cli.reading import Reading, all_rows
from interlock.ui.cli.rows import Row, lasting, rows
from interlock.ui.cli.status import COLORS, table

LISTED = 20


async def tell_summary(invocation: Invocation, project: Project, reading: Reading) -> None:
    """Print it in the form that was asked for."""
    metrics = measure([row async for row in all_rows(project.store)])
    found = rows(reading)
    if invocation.json:
        say_line({"summary": {"metrics": metrics, "tasks": found, "logs": str(project.state_dir / "logs")}})
        return
    for line in _lines(found, metrics, str(project.state_dir / "logs")):
        say(line)


def _lines(found: list[Row], metrics: Metrics, logs: str) -> Iterator[str]:
    of = {state: [row for row in found if row.state == state] for state in COLORS}
    yield ""
    yield ", ".join(
        f"{len(members)} {paint(state, COLORS[state])}" for state, members in of.items() if members
    )
    for state in ("failed", "cancelled", "waiting", "running"):
        if of[state]:
            yield from table(of[state][:LISTED], 0)
        if len(of[state]) > LISTED:
            yield f"  ... and {len(of[state]) - LISTED} more: interlock status"
    took = lasting(metrics.makespan_seconds)
    yield f"{took} in all, {metrics.speedup:.1f} times as fast as one after the other"
    yield f"logs: {logs}"
    yield f"next: {paint(_next(of), 'cyan')}"


def _next(of: dict[str, list[Row]]) -> str:
    if of["failed"]:
        return f"interlock explain {of['failed'][0].id}"
    return "interlock run" if of["waiting"] or of["running"] else "git log --stat"

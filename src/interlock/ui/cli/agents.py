"""`interlock agents`: what runs where, what it did last, and how long ago."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.at_work import Watcher
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read
from interlock.ui.queries.agents import AgentRow, agent_row, agents_document
from interlock.ui.reading import Reading
from interlock.ui.words.limits import sandbox_warning
from interlock.ui.words.sessions import tokens


@cli_command("agents")
async def agents_command(invocation: Invocation) -> None:
    """Show the running agents: task, sandbox, last action and its age.

    For example: interlock agents --json
    """
    async with opened(invocation) as project:
        reading, watcher = await read(project.store), Watcher(project.state_dir, project.root)
        at_work = [reading.state.tasks[name] for name in sorted(reading.state.index.running)]
        rows = [
            agent_row(reading, task, watcher.look(task), _pid(project.state_dir, task))
            for task in at_work
            if task.has_agent
        ]
    say_listing(invocation, lambda: agents_document(reading, rows), _lines(reading, rows))


def _lines(reading: Reading, rows: list[AgentRow]) -> Iterator[str]:
    if rows and (warning := sandbox_warning(reading.state)):
        yield paint(warning, "red")
    for row in rows:
        yield from _agent_lines(row)
    if not rows:
        note("no agent is running" if reading.is_live else "no run is active; next: interlock run")
    elif not reading.is_live:
        note("their run has ended; interlock run continues them")


def _pid(state_dir: Path, task: TaskState) -> int | None:
    path = state_dir / f"workspaces/{task.spec.id}/{task.attempt}/supervisor.pid"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(path.read_text())["pid"])
    return None


def _agent_lines(row: AgentRow) -> Iterator[str]:
    with_model = f" ({row.model})" if row.model else ""
    where = f"sandbox {row.sandbox}" if row.sandbox not in ("", "none") else "no sandbox"
    process = f", pid {row.pid}" if row.pid else ""
    used = f", {tokens(row.usage)}" if tokens(row.usage) else ""
    yield (
        f"{paint(row.task, 'cyan')}  {row.agent}: {row.use}{with_model}, attempt {row.attempt}, "
        f"for {lasting(row.running_seconds)}, {where if row.sandbox else 'starting'}{process}{used}"
    )
    if row.last:
        quiet = f"{lasting(row.quiet_seconds)} ago: " if row.quiet_seconds is not None else ""
        yield f"  {quiet}{row.last}"
    if row.asks:
        command = paint(f"interlock answer {row.task} allow", "cyan")
        yield f"  waits for permission: {row.asks}  {command} (or deny)"

"""`interlock agents`: what runs where, what it did last, and how long ago."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.usage import Usage
from interlock.ui.cli.app import Command
from interlock.ui.cli.at_work import Watcher
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.cli.status import sandbox_warning
from interlock.ui.queries.tasks import in_short, open_permissions
from interlock.ui.reading import Reading, agent_pid, read
from interlock.ui.words.plain import inert
from interlock.ui.words.sessions import tokens


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent at work."""

    task: str
    attempt: int
    agent: str
    use: str
    model: str
    sandbox: str
    """'' as long as it has not started."""
    session: str
    pid: int | None
    """Of the process that watches over it and all it started."""
    last: str
    """Its last action in words."""
    quiet_seconds: float | None
    """Since then."""
    running_seconds: float
    usage: Usage
    """Of all its task's attempts, as far as they have been counted."""
    asks: str
    """What it waits to be allowed; '' if nothing."""


@click.command("agents", cls=Command)
@click.pass_obj
def agents_command(invocation: Invocation) -> None:
    """Show the agents that are at work: where, on what, what they did last and how long ago.

    For example: interlock agents --json
    """
    reading, rows = run_async(_look(invocation))
    if invocation.wants_json():
        run = reading.state.run
        sandbox = run.sandbox or None if run else None
        say_json({"agents": rows, "live": reading.is_live, "sandbox": sandbox, "time": reading.now})
        return
    if rows and (warning := sandbox_warning(reading.state)):
        say(paint(warning, "red"))
    for row in rows:
        _print(row)
    if not rows:
        note("no agent is at work" if reading.is_live else "no run is going on; next: interlock run")
    elif not reading.is_live:
        note("their run has ended; the next one continues them: interlock run")


async def _look(invocation: Invocation) -> tuple[Reading, list[AgentRow]]:
    async with opened(invocation) as project:
        reading, watcher = await read(project.store), Watcher(project.state_dir, project.root)
        at_work = [reading.state.tasks[name] for name in sorted(reading.state.running)]
        rows = [_row(reading, task, watcher, project.state_dir) for task in at_work if task.has_agent]
        return reading, rows


def _row(reading: Reading, task: TaskState, watcher: Watcher, state_dir: Path) -> AgentRow:
    spec, seen = task.spec, watcher.look(task)
    session = task.opened if task.opened and task.opened.attempt == task.attempt else None
    asked = open_permissions(task) if reading.is_live else []
    claim = reading.claim_on(spec.id)
    return AgentRow(
        task=spec.id,
        attempt=task.attempt,
        agent=task.who.name,
        use=task.who.use,
        model=seen.model or task.who.model,
        sandbox=session.sandbox if session else "",
        session=session.session if session else "",
        pid=_pid(state_dir / agent_pid(spec.id, task.attempt)),
        last=seen.words or inert(claim.note if claim else ""),
        quiet_seconds=seen.quiet_seconds,
        running_seconds=reading.now - task.since,
        usage=seen.usage,
        asks=in_short(asked) if asked else "",
    )


def _pid(path: Path) -> int | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads(path.read_text())["pid"])
    return None


def _print(row: AgentRow) -> None:
    with_model = f" ({row.model})" if row.model else ""
    where = f"sandbox {row.sandbox}" if row.sandbox not in ("", "none") else "no sandbox"
    process = f", pid {row.pid}" if row.pid else ""
    used = f", {tokens(row.usage)}" if tokens(row.usage) else ""
    say(
        f"{paint(row.task, 'cyan')}  {row.agent}: {row.use}{with_model}, attempt {row.attempt}, "
        f"for {lasting(row.running_seconds)}, {where if row.sandbox else 'starting'}{process}{used}"
    )
    if row.last:
        quiet = f"{lasting(row.quiet_seconds)} ago: " if row.quiet_seconds is not None else ""
        say(f"  {quiet}{row.last}")
    if row.asks:
        command = paint(f"interlock answer {row.task} allow", "cyan")
        say(f"  waits for permission: {row.asks}  {command} (or deny)")

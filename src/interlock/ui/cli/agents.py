"""`interlock agents`: what runs where, what it did last, and how long ago."""

from collections.abc import Iterator

from interlock.model.durations import lasting
from interlock.ui.at_work import Watcher, agents_at_work
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read
from interlock.ui.queries.agents import AgentRow, agents_document
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
        rows = agents_at_work(reading, watcher)
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

"""`interlock run`: the loop, watched."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click

from interlock.engine.control import refuse_second
from interlock.engine.engine import Engine
from interlock.engine.environment import environment
from interlock.engine.environments import drop_left
from interlock.engine.host import allow_open_files
from interlock.engine.identity import in_charge
from interlock.engine.loading import load_state, refuse_unknown, verify_log
from interlock.engine.options import Options
from interlock.engine.parallel import parallel
from interlock.engine.project import Project, open_project
from interlock.engine.publishers import try_publisher
from interlock.events.facts import TaskRemoved
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.git.files import GRAPH_BYTES, read_regular
from interlock.model.errors import Declined, UsageError
from interlock.model.sandbox import Sandbox
from interlock.model.task import REVIEWS, TaskId
from interlock.plan import Graph, changes
from interlock.sandbox.confinement import Confinement
from interlock.ui.cli.app import cli_command, remember_setting
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.lacks import hook_note, lacks, unchecked_hook
from interlock.ui.cli.metrics import metrics_served
from interlock.ui.cli.notices import Notices
from interlock.ui.cli.output import Invocation, even_if_unread, note, paint
from interlock.ui.cli.readiness import (
    ask_branch,
    branch_option,
    elsewhere,
    refuse_absent_programs,
    refuse_wrong_copy,
    set_up_main,
)
from interlock.ui.cli.run_options import filter_options, max_parallel_option, selected, tell_warnings
from interlock.ui.cli.run_view import RunView, run_view
from interlock.ui.cli.session import actor, read, run_async
from interlock.ui.cli.status import verdict
from interlock.ui.cli.summary import tell_summary
from interlock.ui.cli.trust import ask_trust
from interlock.ui.mcp.agents import serve_agents
from interlock.ui.mcp.tools import is_installed
from interlock.ui.notify.sender import sending
from interlock.ui.plain import counted
from interlock.ui.queries.status import obstacles
from interlock.ui.words.checks import obstacle_lines
from interlock.ui.words.notices import end_notice, notice_of
from interlock.ui.words.red_main import broken_main

LEAVE_SECONDS = 30.0
"""Time to exit after the agents were told to stop. They get five seconds, and their files are archived."""
SHOW_CURSOR = "\x1b[?25h"


@cli_command("run")
@click.argument("graph", required=False, type=click.Path(path_type=Path))
@branch_option
@max_parallel_option
@filter_options
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    expose_value=False,
    callback=remember_setting,
    help="Serve the run's metrics for Prometheus on this local port (0: off).",
)
@click.option(
    "--review",
    type=click.Choice(REVIEWS),
    expose_value=False,
    callback=remember_setting,
    help="Review of tested changes by a person before they land, whatever the graph says.",
)
@click.option(
    "--unsafe-no-sandbox",
    "unsafe",
    is_flag=True,
    help="Let agents and checks do everything that you can do on this machine.",
)
@click.option("--yes", is_flag=True, help="Answer every question with yes.")
@click.option("--no-input", is_flag=True, help="Never ask; exit 2 instead of a question.")
def run_command(
    invocation: Invocation,
    /,
    graph: Path | None,
    max_parallel: int | str | None,
    unsafe: bool,
    yes: bool,
    no_input: bool,
    **chosen: tuple[str, ...],
) -> int:
    """Run agents on GRAPH (default: task-graph.yaml) until every task has landed or failed.

    Ctrl-C once starts no new tasks and lets running ones finish; twice stops the agents. Nothing is deleted.
    For example: interlock run --story login --max-parallel 5
    """
    may_ask = not no_input and not invocation.json and sys.stdin.isatty()
    flags = Flags({**invocation.settings, "max_parallel": max_parallel}, unsafe, chosen)
    return run_async(_run(invocation, graph, flags, Consent(yes, may_ask)))


@dataclass(frozen=True, slots=True)
class Flags:
    """The options of `interlock run`."""

    settings: dict[str, object]
    """Settings given as options; None for those that were not given."""
    unsafe: bool
    chosen: dict[str, tuple[str, ...]]


class Consent:
    """The answer to a question before a run: from a flag, from a person, or none."""

    def __init__(self, yes: bool, may_ask: bool) -> None:
        self._yes = yes
        self.may_ask = may_ask and not yes

    def to(self, what: str) -> None:
        """Go on only with a yes."""
        if self._yes:
            return
        if not self.may_ask:
            raise UsageError(what, "use --yes to confirm")
        if not click.confirm(f"{what}. Continue?", err=True):
            raise Declined("no task started", "interlock plan")


async def _run(
    invocation: Invocation,
    path: Path | None,
    flags: Flags,
    consent: Consent,
) -> int:
    if consent.may_ask:
        flags = replace(flags, settings=await ask_branch(invocation.project, flags.settings))
        await ask_trust(invocation, path)
    async with open_project(invocation.project, flags.settings, note) as opened:
        settings = replace(opened.settings, graph=str(path.absolute())) if path else opened.settings
        project = replace(opened, unsafe=flags.unsafe, settings=settings)
        graph = await project.read_graph()
        project.refuse_unagreed(graph)
        selection = selected(graph, flags.chosen)
        await _refuse_unready(project)
        await drop_left(project.databases, note)
        await refuse_absent_programs(project, graph)
        _tell_of_sandbox(project.processes.sandbox)
        _ask_about_removals(await load_state(project.store), graph, consent)
        await refuse_wrong_copy(project, graph, await load_state(project.store))
        before = await project.accept_graph(graph, actor())
        tell_warnings(graph)
        if before.run is None and (hook := unchecked_hook(project, graph)):
            note(hook_note(hook))
        for lack in await lacks(project, graph.setup):
            note(f"warning: {lack}")
        await set_up_main(project)
        async with aclosing(project):
            stopped = await _work(invocation, project, await _options(project, before, selection))
        reading = await read(project.store)
        with even_if_unread():
            await tell_summary(invocation, project, reading, before)
            _tell_obstacles(project, reading.state)
        return stopped or verdict(reading)


def _tell_obstacles(project: Project, state: State) -> None:
    """Name the checks that keep tasks from starting: last, where people read it."""
    graph = project.root / project.settings.graph
    for check in obstacles(state) if broken_main(state) is None else ():
        first, *more = obstacle_lines(check, _line_of(check.command, graph))
        note(f"{paint('error:', 'red')} {first}")
        for line in more:
            note(line)


async def _options(project: Project, state: State, selection: tuple[TaskId, ...] | None) -> Options:
    settings = project.settings
    origin = project.origins["max_parallel"]
    many = parallel(settings.max_parallel, origin, state, project.host.read())
    return Options(
        max_parallel=many.most,
        auto=many.auto,
        cold_start=many.cold_start,
        limit_why=many.why,
        selection=selection,
        slots=settings.slots,
        lane_depth=project.lane_depth,
        radar="" if project.settings.radar == "off" else project.settings.radar,
        environment=await environment(project),
        on_red_main=settings.on_red_main,
        joint=settings.lands_together,
        budgets=settings.budgets,
        sandbox=project.processes.sandbox.kind.value,
        controller_lease_seconds=settings.controller_lease_seconds,
        stale_seconds=settings.stale_after_seconds,
        fetch_seconds=settings.fetch_seconds,
    )


async def _refuse_unready(project: Project) -> None:
    """Refuse or report, before anything starts, what would hold up the first landing."""
    await verify_log(project.store)
    refuse_unknown(await load_state(project.store))
    if row := in_charge(await project.store.held()):
        raise refuse_second(row)
    await project.repository.refuse_absent_files()
    await project.repository.try_signing()
    await try_publisher(project.place, project.publisher)
    checkout = await project.repository.checkout()
    if checkout.held:
        note(f"landing is blocked: {checkout.held}")
    elif edited := [path for path in checkout.dirty if path not in project.reserved]:
        some = ", ".join(edited[:3]) + (" ..." if len(edited) > 3 else "")
        note(f"agents do not see your uncommitted changes to {some}; changes to the same files wait to land")
    if text := elsewhere(project.place, project.origins["branch"]):
        note(text)


def _tell_of_sandbox(sandbox: Confinement) -> None:
    if sandbox.kind is Sandbox.NONE:
        note(paint("NO SANDBOX: agents and checks can do everything that you can do on this machine", "red"))
    elif sandbox.missing:
        note(paint(f"reduced sandbox ({sandbox.kind.value}): {sandbox.missing}", "yellow"))


def _ask_about_removals(state: State, graph: Graph, consent: Consent) -> None:
    """Ask before a task that has started is given up because it is no longer in the graph."""
    removed = [fact.task for fact in changes(state, graph) if isinstance(fact, TaskRemoved)]
    begun = [name for name in removed if state.tasks[name].attempt]
    if begun:
        consent.to(
            f"{', '.join(begun)}: started, not landed, and no longer in {graph.source}; will be removed"
        )


async def _work(invocation: Invocation, project: Project, options: Options) -> int:
    """Run the engine to its end; the exit code if it was stopped, else 0."""
    allow_open_files()
    view = await run_view(invocation, project)
    settings = project.settings
    notices = Notices(invocation, settings.notify, os.environ)
    serve_tools = serve_agents if is_installed() else None
    async with sending(project.root.name, settings, os.environ, project.clean, view.tell) as send:

        def see(row: Recorded, state: State) -> None:
            view.see(row, state)
            if notice := notice_of(row):
                notices.hear(notice)
                send(notice)

        engine = Engine(project.env(view.tell, serve_tools), options, see, view.tell)
        with _signals(engine, view) as interrupted:
            async with metrics_served(settings.metrics_port, lambda: _metrics(engine)), view.on(engine):
                state = await engine.run()
        if interrupted:
            return ExitCode.INTERRUPTED
        send(end_notice(state))
        notices.ended(end_notice(state))
    return ExitCode.DECLINED if state.run and state.run.stopping else ExitCode.OK


def _metrics(engine: Engine) -> str:
    from interlock.ui.queries.metrics import exposition

    return exposition(engine.state, *engine.pool(), is_live=True)


@contextmanager
def _signals(engine: Engine, view: RunView) -> Iterator[list[str]]:
    """Ctrl-C once: nothing new starts. Twice, or when the system ends us: the agents are stopped.

    From then on one more signal ends this process at once, and so does `LEAVE_SECONDS`: a log that does not
    answer must not keep it. Whatever runs ends with it.
    """
    loop = asyncio.get_running_loop()
    got: list[str] = []
    halts: list[asyncio.TimerHandle] = []

    def halt() -> None:
        view.tell("stopping the agents; their work is kept. Press Ctrl-C again to exit at once")
        halts.append(loop.call_later(LEAVE_SECONDS, _leave, view))

    def on_interrupt() -> None:
        got.append("interrupt")
        running = len(engine.state.index.running)
        if halts:
            _leave(view)
        elif engine.request_stop():
            halt()
        elif running:
            view.tell(f"finishing {counted(running, 'running task')}; press Ctrl-C again to stop the agents")
        else:
            view.tell("stopping; no task is running")

    def on_end() -> None:
        got.append("end")
        if halts:
            _leave(view)
        engine.request_stop()
        engine.request_stop()
        halt()

    handlers = {signal.SIGINT: on_interrupt, signal.SIGTERM: on_end, signal.SIGHUP: on_end}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield got
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


def _leave(view: RunView) -> None:
    """End this process now, as a kill would; what it started ends with it."""
    view.tell("exiting at once; the next run cleans up")
    if sys.stdout.isatty():
        sys.stdout.write(SHOW_CURSOR)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    os._exit(ExitCode.INTERRUPTED)


def _line_of(command: str, graph: Path) -> str:
    """The line of the graph that names the command; empty if there is none."""
    try:
        lines = read_regular(graph, GRAPH_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    number = next((number for number, line in enumerate(lines, start=1) if command in line), 0)
    return f"{graph.name} line {number}" if number else ""

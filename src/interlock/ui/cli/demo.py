"""`interlock demo`: a real run of twelve tasks with scripted agents, in a repository made for the purpose."""

import asyncio
import json
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path

import click

from interlock.engine.foresight import Terms, rehearse
from interlock.engine.past_script import as_it_stood, as_recorded
from interlock.engine.project import Project, open_project
from interlock.engine.rehearsal import Fate
from interlock.engine.settings import load
from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.git.files import remove_tree
from interlock.git.scratch import start_repository
from interlock.learn import Metrics, measure
from interlock.learn.past import past_runs
from interlock.model.errors import UsageError
from interlock.model.outcome import ErrorClass
from interlock.model.task import Tree
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.serve import building, rights, served
from interlock.ui.cli.session import run_async
from interlock.ui.reading import all_rows
from interlock.ui.web.listening import Wanted
from interlock.ui.words.reasons import reason_text
from interlock.verify.protocol import CheckOrder

quoted = partial(json.dumps, ensure_ascii=False)
"""A text as TOML and YAML write it: as JSON does."""
AGENTS = 4
SECONDS = 1.2
"""Time that an agent takes for an attempt."""
SLOW_SECONDS = 6.0
"""The same in the browser: long enough to open tasks and look at them."""
TASKS = 12


@cli_command("demo")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Make the repository in this folder, which must be empty or not exist yet.",
)
@click.option("--ui", "shows", is_flag=True, help="Show the run in the browser while it goes on.")
@click.option("--no-open", is_flag=True, help="With --ui: print the address, and open no browser.")
def demo_command(invocation: Invocation, directory: Path | None, shows: bool, no_open: bool) -> int:
    """Run twelve scripted tasks in a scratch repository. No account, no key, no network.

    With --ui the agents take longer, the dashboard stays until Ctrl-C, and then the repository is removed
    unless --dir names it. For example: interlock demo --ui
    """
    scratch = directory.absolute() if directory else Path(tempfile.mkdtemp(prefix="interlock-demo-"))
    _refuse_occupied(scratch)
    if not shows:
        asyncio.run(make_repository(scratch))
        note(f"a scratch repository with 12 tasks: {scratch}")
        return _in_the_terminal(invocation, scratch)
    try:
        return run_async(_in_the_browser(invocation, scratch, not no_open, is_kept=bool(directory)))
    finally:
        if not directory:
            remove_tree(scratch)


def _in_the_terminal(invocation: Invocation, scratch: Path) -> int:
    code = _run(scratch, quiet=invocation.json)
    if code == ExitCode.ENVIRONMENT:
        return code  # it said what is in the way; nothing happened that could be told
    reported = _report(invocation, asyncio.run(_look_back(scratch)), scratch)
    return code or reported


async def _in_the_browser(invocation: Invocation, scratch: Path, opens: bool, is_kept: bool) -> int:
    """The same run beside a server, which goes on after the run until Ctrl-C."""
    await make_repository(scratch, SLOW_SECONDS)
    note(f"a scratch repository with 12 tasks: {scratch}")
    async with served(invocation, [scratch], Wanted(), rights(None), opens) as interrupted:
        code = await _run_beside(scratch, invocation.json, interrupted)
        if interrupted.is_set():
            return ExitCode.INTERRUPTED
        if code == ExitCode.ENVIRONMENT:
            return code
        reported = _report(invocation, await _look_back(scratch), scratch)
        note(f"Ctrl-C ends the server{'' if is_kept else f' and removes {scratch}'}")
        await interrupted.wait()
    return code or reported


async def _run_beside(scratch: Path, quiet: bool, interrupted: asyncio.Event) -> int:
    """The run as a process beside the server. Ctrl-C stops its agents."""
    run = await asyncio.create_subprocess_exec(
        *_run_words(scratch), stdout=asyncio.subprocess.DEVNULL if quiet else None
    )
    ends = [asyncio.create_task(run.wait()), asyncio.create_task(interrupted.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ends[1].cancel()
        if run.returncode is None:
            run.terminate()
        await run.wait()
    return await ends[0]


def _report(invocation: Invocation, told: "Told", scratch: Path) -> int:
    if invocation.json:
        say_json(told.as_json(scratch))
    else:
        for line in told.lines(scratch):
            say(line)
    return 0 if told.is_green else ExitCode.FAILED


def _refuse_occupied(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(
            f"{folder} exists and is not an empty folder",
            "name a folder that does not exist yet, or leave --dir out",
        )


async def make_repository(scratch: Path, seconds: float = SECONDS) -> None:
    """Write and commit the repository. Its agents take this long for each attempt."""
    words = {"@PYTHON@": shlex.quote(sys.executable), "@SECONDS@": f"{seconds}", "@ESTIMATE@": f"{seconds}s"}
    scratch.mkdir(parents=True, exist_ok=True)
    with as_file(files("interlock.ui.cli") / "demo_files") as source:
        for path in sorted(source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target = scratch / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                text = path.read_text().replace('"@PYTHON@"', quoted(sys.executable))
                for word, value in words.items():
                    text = text.replace(word, value)
                target.write_text(text)
    (scratch / "interlock.toml").write_text(
        f"# The sandbox shows agents and checks the Python that they are run with.\n"
        f"toolchains = [{', '.join(map(quoted, ('auto', sys.prefix)))}]\n"
    )
    await start_repository(scratch, "A corner shop")
    loaded = load(scratch, {})
    loaded.trust.agree(loaded.asked)  # this file is ours, just written


def _run(scratch: Path, quiet: bool) -> int:
    argv = _run_words(scratch)
    return subprocess.run(argv, check=False, stdout=subprocess.DEVNULL if quiet else None).returncode


def _run_words(scratch: Path) -> tuple[str, ...]:
    """The command line of the run; a person is told of it."""
    words = ("run", "--max-parallel", str(AGENTS))
    note(f"$ interlock {' '.join(words)}")
    return (sys.executable, "-m", "interlock", "--project", str(scratch), *words)


class Told:
    """The report about the run, read from the log."""

    def __init__(self, rows: Sequence[Recorded], checks: Sequence[float], red: Sequence[str]) -> None:
        self.rows = rows
        self.metrics: Metrics = measure(rows)
        self.commits = len(checks)
        self.red = red
        self.one_worker_seconds = one_worker_seconds(rows, statistics.median(checks))

    @property
    def is_green(self) -> bool:
        return not self.red and self.metrics.landed == TASKS

    def lines(self, scratch: Path) -> list[str]:
        m = self.metrics
        setbacks = [fact for row in self.rows if isinstance(fact := row.fact, f.PhaseFailed)]
        return [
            "",
            "What happened",
            f"  {m.landed} of {TASKS} tasks landed: {m.attempts} attempts, up to {AGENTS} agents at once",
            *(f"  {fact.task}: {_told(fact)}" for fact in setbacks),
            *self._pair("euro", "dollar"),
            f"  checks repeated on each of the {self.commits} commits of main: "
            + (f"FAILED at {', '.join(self.red)}" if self.red else "all pass"),
            f"  {m.makespan_seconds:.1f} s; with one agent at a time about {self.one_worker_seconds:.1f} s "
            "(estimated from the agents' times here and one check)",
            "",
            "Next",
            f"  {dashboard_line(scratch)}",
            f"  cd {shlex.quote(str(scratch))}",
            *(f"  {_own_command()} explain {fact.task}" for fact in setbacks[-1:]),
            "  git log --stat",
        ]

    def _pair(self, one: str, other: str) -> list[str]:
        """A line for two tasks that declared the same file and did not run together."""
        spans = [_agent_spans(self.rows, name) for name in (one, other)]
        apart = all(a[1] <= b[0] or b[1] <= a[0] for a in spans[0] for b in spans[1])
        return (
            [f"  {one} and {other}: both declared the same file, and were not run together"] if apart else []
        )

    def as_json(self, scratch: Path) -> dict[str, object]:
        return {
            "repository": str(scratch),
            "landed": self.metrics.landed,
            "attempts": self.metrics.attempts,
            "conflicts": self.metrics.conflicts,
            "red_checks": self.metrics.red_checks,
            "commits_checked": self.commits,
            "commits_red": list(self.red),
            "makespan_seconds": self.metrics.makespan_seconds,
            "one_worker_seconds_estimated": self.one_worker_seconds,
            "next": dashboard_line(scratch),
        }


def _own_command() -> str:
    """`interlock` as a person can type it now: `make demo` puts nothing on PATH."""
    beside = Path(sys.executable).with_name("interlock")
    return "interlock" if shutil.which("interlock") or not beside.exists() else shlex.quote(str(beside))


def dashboard_line(scratch: Path) -> str:
    """The line that shows the run in the browser; without the pages of the dashboard it builds them first."""
    line = f"{_own_command()} ui --project {shlex.quote(str(scratch))}"
    return " && ".join(filter(None, (building(), line)))


def _told(fact: f.PhaseFailed) -> str:
    if fact.error is ErrorClass.CONFLICT:
        return "edited the same lines as a task that landed first; retried with that diff, and landed"
    if fact.task == "slug":
        return "failed its own check, got the reason as feedback, and passed on its next attempt"
    if fact.error is ErrorClass.CHECK:
        return "passed alone but failed on top of what had landed; caught before main, retried, and landed"
    return reason_text(fact.why)


def _agent_spans(rows: Sequence[Recorded], task: str) -> list[tuple[float, float]]:
    spans: list[tuple[float, float]] = []
    began = 0.0
    for row in rows:
        fact = row.fact
        if isinstance(fact, f.PhaseFact) and fact.task == task and fact.phase == "implement":
            if isinstance(fact, f.PhaseStarted):
                began = row.time
            else:
                spans.append((began, row.time))
    return spans


async def _look_back(scratch: Path) -> Told:
    async with open_project(scratch) as project:
        rows = [row async for row in all_rows(project.store)]
        commands = {c for row in rows if isinstance(row.fact, f.TaskAccepted) for c in row.fact.task.verify}
        history = await project.repository.history()
        checked = [await _checked(project, tip.tree, sorted(commands)) for tip in history]
        red = [tip.commit[:12] for tip, (passed, _) in zip(history, checked, strict=True) if not passed]
        return Told(rows, [seconds for _, seconds in checked], red)


async def _checked(project: Project, tree: Tree, commands: Sequence[str]) -> tuple[bool, float]:
    """Run the checks alone on the machine: if they passed, and their time."""
    order = CheckOrder(f"demo/{tree[:12]}", tree, tuple(commands), 60.0, {})
    began = time.monotonic()
    results = await project.checker.check(order)
    return all(result.passed for result in results), time.monotonic() - began


def one_worker_seconds(rows: Sequence[Recorded], check_seconds: float) -> float:
    """The same run with one agent at a time, simulated by the code that schedules a real one.

    Only `slug` fails then: the conflict and the red check of two changes together come from working at once.
    """
    run = past_runs(rows)[-1]
    recorded = as_recorded(run)

    def fate(task: TaskState, attempt: int) -> Fate:
        fails_alone = task.spec.id == "slug" and attempt == 1
        last = recorded(task, attempt if task.spec.id == "slug" else len(run.tries[task.spec.id]))
        return Fate(last.seconds, not fails_alone, check_seconds)

    terms = Terms(run.started, 1, run.selection, lane_depth=run.lane_depth)
    return rehearse(as_it_stood(rows, run), terms, fate).seconds

"""`interlock logs` and `attach`: the output of an agent, and its session for a person to continue."""

import shlex
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from interlock.engine.loading import catch_up
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.store.protocol import Store
from interlock.ui.attempt_files import attempt_file, open_regular
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say, say_line, say_listing
from interlock.ui.cli.session import ProjectLog, opened, read
from interlock.ui.plain import inert
from interlock.ui.queries.attempts import AttemptStory, attempt_of, attempts_of, is_at_work
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, history
from interlock.ui.words.sessions import decode, event_line

CHUNK_BYTES = 1 << 16
POLL_SECONDS = 0.2
"""Files give no sign of growing; five looks a second are soon enough for a reader."""


@cli_command("logs")
@click.argument("task")
@click.option("-f", "--follow", is_flag=True, help="Follow new output until the attempt is over.")
@click.option("--attempt", type=click.IntRange(min=1), help="Show this attempt instead of the newest.")
@click.option("-n", "--tail", type=click.IntRange(min=1), help="Show only the last lines.")
@click.option("--events", "form", flag_value="events", help="Show session events, one per line.")
@click.option("--raw", "form", flag_value="raw", help="Show the raw output of its program.")
async def logs_command(
    invocation: Invocation, /, task: str, **wanted: Any
) -> None:  # Any: what click hands over
    """Show the output of the agent of TASK. With --json one line of JSON for each line.

    Programs that print a JSON of their own are shown as events, all others as they are, unless a form is
    asked for. For example: interlock logs login -f
    """
    await show_log(invocation, task, LogPart(**wanted))


@dataclass(frozen=True, slots=True)
class LogPart:
    """The part of a log to show."""

    follow: bool = False
    attempt: int | None = None
    tail: int | None = None
    form: str | None = None
    """`events`, `raw`, or what fits the agent."""


async def show_log(invocation: Invocation, name: str, wanted: LogPart) -> None:
    async with opened(invocation) as project:
        reading = await read(project.store)
        task = find(reading.state, name)
        story = attempt_of(task, attempts_of(await history(project.store, task.spec.id)), wanted.attempt)
        as_events = (wanted.form or ("raw" if task.who.use == "command" else "events")) == "events"
        usual = attempt_file(task.spec.id, story.attempt, "events.jsonl" if as_events else "log")
        path = project.state_dir / (usual if as_events else story.log or usual)
        note(f"attempt {story.attempt} of {task.spec.id}: {path}")
        printer = Printer(path, invocation.json, as_events)
        if path.exists() and not path.is_file():
            raise EnvironmentProblem(f"{path} is not a regular file", "move it away, then try again")
        if not path.exists() and not is_at_work(task, story):
            raise UsageError(
                f"the output of attempt {story.attempt} was deleted", f"interlock show {task.spec.id}"
            )
        printer.skip_to_last(wanted.tail)
        printer.print_new()
        if wanted.follow:
            await _follow(project.store, reading, story, task, printer)
        printer.finish()
        if as_events and not printer.has_printed:
            note(f"the attempt has no session events; its raw output: interlock logs {task.spec.id} --raw")


async def _follow(
    store: Store, reading: Reading, story: AttemptStory, task: TaskState, printer: "Printer"
) -> None:
    while is_at_work(task, story):
        await store.wait(reading.state.seq, POLL_SECONDS)
        await catch_up(store, reading.state)
        printer.print_new()
    printer.print_new()


class Printer:
    """Prints a file that may still grow, in pieces, however large it is."""

    def __init__(self, path: Path, as_json: bool, as_events: bool = False) -> None:
        self._path = path
        self._json = as_json
        self._events = as_events
        self._inert = sys.stdout.isatty()
        self._at = 0
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def skip_to_last(self, lines: int | None) -> None:
        """Begin that many lines before the end, reading backwards so that a huge file costs nothing."""
        if lines is None or not self._path.exists():
            return
        end = self._path.stat().st_size - 1  # a newline at the very end closes the last line, it begins none
        with open_regular(self._path) as file:
            while end > 0:
                begin = max(0, end - CHUNK_BYTES)
                file.seek(begin)
                block = file.read(end - begin)
                newlines = block.count(b"\n")
                if newlines >= lines:
                    after = block.split(b"\n")[-lines:]
                    self._at = end - len(b"\n".join(after))
                    return
                lines -= newlines
                end = begin

    @property
    def has_printed(self) -> bool:
        return self._at > 0

    def print_new(self) -> None:
        for chunk in self._chunks():
            text = self._decoder.decode(chunk)
            if self._json or self._events:
                self._print_lines(text)
            else:
                sys.stdout.write(inert(text) if self._inert else text)
        sys.stdout.flush()

    def finish(self) -> None:
        """Print a last line that has no end."""
        if (self._json or self._events) and self._rest:
            self._print_line(self._rest)

    def _chunks(self) -> Iterator[bytes]:
        if not self._path.exists():
            return
        with open_regular(self._path) as file:
            file.seek(self._at)
            while chunk := file.read(CHUNK_BYTES):
                self._at += len(chunk)
                yield chunk

    def _print_lines(self, text: str) -> None:
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            self._print_line(line)

    def _print_line(self, line: str) -> None:
        if not self._events:
            say_line({"line": line})
        elif event := decode(line):
            if self._json:
                say(line)
            else:
                say(event_line(event))


RESUME = {
    "claude-code": ("claude", "--resume", "{session}"),
    "codex": ("codex", "resume", "{session}"),
    "copilot": ("copilot", "--resume={session}"),
}
"""The command that continues a session, by kind of agent. The other programs cannot, or only in the folder
where the session began, which is gone with its attempt."""
SHOWN_BEFORE = 20


@dataclass(frozen=True, slots=True)
class TakeOver:
    """The command with which a person continues the session of a stopped agent."""

    task: str
    attempt: int
    session: str
    folder: str
    """The folder that its files will be in."""
    commands: tuple[str, ...]


@cli_command("attach")
@click.argument("task")
@click.option(
    "--take-over",
    is_flag=True,
    help="Print the commands that continue its session, once the attempt is stopped.",
)
async def attach_command(invocation: Invocation, task: str, take_over: bool) -> None:
    """Follow the agent of TASK live. Ctrl-C leaves it running.

    For example: interlock attach login
    """
    if not take_over:
        await show_log(invocation, task, LogPart(follow=True, tail=SHOWN_BEFORE))
        note(f"next: interlock show {task}")
        return
    async with opened(invocation) as project:
        known = find((await read(project.store)).state, task)
        _must_be_free(known)
        found = _commands(project, known, attempts_of(await history(project.store, known.spec.id)))
    if not invocation.wants_json():
        note(f"attempt {found.attempt} of {found.task} left its session and its files; continue with")
    say_listing(invocation, lambda: found, found.commands)


def _must_be_free(task: TaskState) -> None:
    name, use = task.spec.id, task.who.use
    if use not in RESUME:
        raise UsageError(
            f"sessions of {use} cannot be continued; only those of {', '.join(RESUME)}",
            f"`interlock say {name} ...` sends it a message, `interlock diff {name}` shows its change",
        )
    if task.has_agent:
        raise UsageError(f"the agent of {name} is running", f"stop it first: interlock cancel {name}")
    if task.stage is Stage.WAITING and not task.queue.paused:
        raise UsageError(f"{name} starts again on its own", f"pause it first: interlock pause {name}")


def _commands(project: ProjectLog, task: TaskState, stories: list[AttemptStory]) -> TakeOver:
    name, session = task.spec.id, task.session.opened
    story = next((s for s in stories if session and s.attempt == session.attempt), None)
    kept = next((p.archived for p in story.phases if p.archived), "") if story else ""
    home = project.state_dir / f"homes/{name}/{session.attempt if session else 0}"
    if session is None or not session.session or not home.is_dir():
        raise UsageError(
            f"no session of {name} is left: there was none, or its attempt succeeded",
            f"interlock show {name}",
        )
    folder = project.root.parent / f"{project.root.name}-{name}"
    program = tuple(word.format(session=session.session) for word in RESUME[task.who.use])
    return TakeOver(
        name,
        session.attempt,
        session.session,
        str(folder),
        _take_over_lines(project.root, folder, kept, home, program),
    )


def _take_over_lines(
    root: Path, folder: Path, kept: str, home: Path, program: tuple[str, ...]
) -> tuple[str, ...]:
    tree = ("-C", str(root), "worktree", "add", "--detach", str(folder), *([kept] if kept else []))
    return (
        f"git {shlex.join(tree)}",
        f"cd {shlex.quote(str(folder))} && HOME={shlex.quote(str(home))} {shlex.join(program)}",
    )

"""`interlock attach`: be there while an agent works; go on with its session yourself where that can be."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import click

from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.attempt_files import agent_home
from interlock.ui.cli.logs import LogPart, show_log
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import ProjectLog, opened, read, run_async
from interlock.ui.queries.attempts import AttemptStory, attempts_of
from interlock.ui.queries.tasks import find
from interlock.ui.reading import history

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


@click.command("attach", cls=CliCommand)
@click.argument("task")
@click.option(
    "--take-over",
    is_flag=True,
    help="Print the commands that continue its session, once the attempt is stopped.",
)
@click.pass_obj
def attach_command(invocation: Invocation, task: str, take_over: bool) -> None:
    """Follow the agent of TASK live. Ctrl-C leaves it running.

    For example: interlock attach login
    """
    if not take_over:
        wanted = LogPart(follow=True, tail=SHOWN_BEFORE)
        run_async(show_log(invocation, task, wanted))
        note(f"next: interlock show {task}")
        return
    found = run_async(_take_over(invocation, task))
    if invocation.wants_json():
        say_json(found)
        return
    note(f"attempt {found.attempt} of {found.task} left its session and its files; continue with")
    for command in found.commands:
        say(command)


async def _take_over(invocation: Invocation, name: str) -> TakeOver:
    async with opened(invocation) as project:
        task = find((await read(project.store)).state, name)
        _must_be_free(task)
        stories = attempts_of(await history(project.store, task.spec.id))
        return _commands(project, task, stories)


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
    home = project.state_dir / agent_home(name, session.attempt if session else 0)
    if session is None or not session.session or not home.is_dir():
        raise UsageError(
            f"no session of {name} is left: there was none, or its attempt succeeded",
            f"interlock show {name}",
        )
    folder = project.root.parent / f"{project.root.name}-{name}"
    program = tuple(word.format(session=session.session) for word in RESUME[task.who.use])
    return TakeOver(
        name, session.attempt, session.session, str(folder), _lines(project.root, folder, kept, home, program)
    )


def _lines(root: Path, folder: Path, kept: str, home: Path, program: tuple[str, ...]) -> tuple[str, ...]:
    tree = ("-C", str(root), "worktree", "add", "--detach", str(folder), *([kept] if kept else []))
    return (
        f"git {shlex.join(tree)}",
        f"cd {shlex.quote(str(folder))} && HOME={shlex.quote(str(home))} {shlex.join(program)}",
    )

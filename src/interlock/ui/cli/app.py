"""The `interlock` command itself: finding commands, the options they share, and how errors are told."""

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from inspect import iscoroutine
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import click

from interlock import __version__
from interlock.model.errors import EnvironmentProblem, InterlockError, UserError
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import (
    Invocation,
    OutputLost,
    go_quiet,
    lost_output,
    note,
    open_closed_streams,
    paint,
    say_line,
)
from interlock.ui.queries.problem import error_object


class Entry(NamedTuple):
    """One command, as `--help` shows it."""

    section: str
    module: str
    summary: str


_HERE = "interlock.ui.cli"

COMMANDS: dict[str, Entry] = {
    "demo": Entry("Begin", f"{_HERE}.demo", "Watch scripted agents work in a scratch repository."),
    "init": Entry("Begin", f"{_HERE}.init", "Write a first task-graph.yaml for this repository."),
    "doctor": Entry(
        "Begin", f"{_HERE}.doctor", "Check this machine and repository, with a fix for each problem."
    ),
    "plan": Entry("Work", f"{_HERE}.plan", "Check the task graph; show order, conflicts and expected time."),
    "run": Entry("Work", f"{_HERE}.run", "Run agents until every task has landed or failed."),
    "wait": Entry("Work", f"{_HERE}.wait", "Wait until the run or some tasks are over."),
    "status": Entry(
        "Look", f"{_HERE}.status", "Show every task with its state, the reason and the next command."
    ),
    "top": Entry("Look", f"{_HERE}.top.command", "Watch and decide in the whole terminal."),
    "inbox": Entry("Look", f"{_HERE}.talk", "Show what waits for you: reviews, questions, failures."),
    "review": Entry(
        "Look", f"{_HERE}.review", "Show the changes that wait for review, or one with its diff."
    ),
    "report": Entry("Look", f"{_HERE}.report", "Report the last hours: what you must decide, what landed."),
    "clutch": Entry("Look", f"{_HERE}.clutch", "Show how many agents each kind of work may have, and why."),
    "cost": Entry("Look", f"{_HERE}.cost", "Show the tokens and the money that agents have used."),
    "queue": Entry(
        "Look", f"{_HERE}.queue", "Show the changes on their way to main, and change their order."
    ),
    "ui": Entry("Look", f"{_HERE}.serve", "Open the dashboard in the browser."),
    "serve": Entry("Look", f"{_HERE}.serve", "Serve the dashboard and its API on this machine."),
    "agents": Entry("Look", f"{_HERE}.agents", "Show the running agents and their last actions."),
    "radar": Entry(
        "Look", f"{_HERE}.radar", "Show which running changes conflict with each other or with main."
    ),
    "logs": Entry("Look", f"{_HERE}.logs", "Show the output of an agent."),
    "attach": Entry("Look", f"{_HERE}.logs", "Follow an agent live; continue its session yourself."),
    "events": Entry("Look", f"{_HERE}.events", "Show, follow, verify, export or import the log of facts."),
    "explain": Entry(
        "Look",
        f"{_HERE}.show",
        "Explain why a task waits, runs, failed or landed; or which attempt made a commit.",
    ),
    "route": Entry("Look", f"{_HERE}.route", "Show which agent a task would get, and why."),
    "errors": Entry("Look", f"{_HERE}.learned", "Show each failure once: its tasks, and what fixed it."),
    "lessons": Entry("Look", f"{_HERE}.learned", "Show lessons from past attempts, and if they help."),
    "verify": Entry("Look", f"{_HERE}.verify", "Verify the statements about landed commits, offline."),
    "show": Entry("Look", f"{_HERE}.show", "Show a task with its attempts, evidence and commits."),
    "diff": Entry("Look", f"{_HERE}.show", "Show what a task changed."),
    "prompt": Entry("Look", f"{_HERE}.prompt", "Show the prompt of an agent."),
    "trace": Entry("Look", f"{_HERE}.trace", "Show where the time of tasks went; send it by OpenTelemetry."),
    "replay": Entry("Look", f"{_HERE}.replay", "List past runs; replay one, or show any moment of it."),
    "what-if": Entry("Look", f"{_HERE}.replay", "Simulate a past run with different settings."),
    "budget": Entry("Act", f"{_HERE}.budget", "Show what is left of the budgets, or add to one."),
    "add": Entry("Act", f"{_HERE}.acts", "Add a task beside the graph file."),
    "accept": Entry("Act", f"{_HERE}.accept", "Accept or decline a task that an agent proposed."),
    "retry": Entry("Act", f"{_HERE}.acts", "Give a failed or cancelled task new attempts."),
    "reset": Entry("Act", f"{_HERE}.acts", "Release a stuck task and start it again."),
    "cancel": Entry("Act", f"{_HERE}.acts", "Stop a task, or the whole run with --all."),
    "undo": Entry("Act", f"{_HERE}.undo", "Undo landed tasks or commits of main, through the checks."),
    "approve": Entry("Act", f"{_HERE}.review", "Approve changes that wait for review."),
    "reject": Entry("Act", f"{_HERE}.review", "Send a change in review back to its agent."),
    "comment": Entry("Act", f"{_HERE}.review", "Comment on a line of a change in review."),
    "answer": Entry("Act", f"{_HERE}.talk", "Answer a question or a permission request of an agent."),
    "say": Entry("Act", f"{_HERE}.talk", "Send a message to an agent."),
    "pause": Entry("Act", f"{_HERE}.acts", "Pause the project, or one task."),
    "unpause": Entry("Act", f"{_HERE}.acts", "Unpause the project, or one task."),
    "workspace": Entry("Act", f"{_HERE}.workspace", "Make, list and remove workspaces for you."),
    "gc": Entry("Act", f"{_HERE}.gc", "Remove files that are no longer needed, never unmerged work."),
    "config": Entry("Set up", f"{_HERE}.config", "Show or change settings, and the source of each."),
    "trust": Entry("Set up", f"{_HERE}.trust", "Agree to values of a repository that widen the sandbox."),
    "mcp": Entry("Set up", f"{_HERE}.mcp", "Serve tools for an editor or agent of yours, over MCP."),
    "schema": Entry("Set up", f"{_HERE}.init", "Print the JSON schema of task-graph.yaml."),
    "completion": Entry("Set up", f"{_HERE}.completion", "Set up tab completion for bash, fish or zsh."),
}
"""A command is the attribute `<name>_command` of its module, with `_` for `-`."""


_FREE_SPACE = "free some space (`interlock gc` removes unneeded files)"
_FILE_FOR_FOLDER = ("a file is in the place of a folder", "move it away")
DISK_ERRORS = {
    errno.ENOSPC: ("the disk is full", _FREE_SPACE),
    errno.EDQUOT: ("your disk quota is used up", _FREE_SPACE),
    errno.EROFS: ("the disk is read-only", "make it writable, or work in another copy of the repository"),
    errno.EACCES: (
        "permission denied",
        "change its owner or its permissions; `interlock doctor` checks them all",
    ),
    errno.EEXIST: _FILE_FOR_FOLDER,
    errno.ENOTDIR: _FILE_FOR_FOLDER,
}


GARBAGE_THRESHOLD = 100_000
"""Values made before Python looks for garbage among them: ten thousand tasks are half a million."""

SOURCE = Path(__file__).resolve().parents[4]
"""The root of the checkout that this file is in; some folder of Python where Interlock was installed."""

COMPLETING = "_INTERLOCK_COMPLETE"
"""The variable that a shell sets when it wants to complete a word."""


def shared_options() -> list[click.Parameter]:
    """The options that stand before or after the command's name. Fresh ones: click keeps state in them."""
    folder = click.Path(path_type=Path, exists=True, file_okay=False)
    return [
        _shared("project", "Use the repository in this folder instead of here.", metavar="PATH", type=folder),
        _shared("json", "Print JSON, one document or one line per item.", is_flag=True),
        _shared("no_color", "Print without colour.", is_flag=True),
    ]


def _shared(name: str, text: str, **more: Any) -> click.Option:  # Any: passed on to click as they are
    flag, keep = f"--{name.replace('_', '-')}", _remember(name)
    return click.Option([flag], expose_value=False, is_eager=True, callback=keep, help=text, **more)


def _remember(name: str) -> Any:  # Any: click's own type for callbacks is this loose
    def remember(context: click.Context, _: click.Parameter, value: object) -> None:
        if value:
            setattr(context.ensure_object(Invocation), name, value)

    return remember


def remember_setting(context: click.Context, option: click.Parameter, value: object) -> None:
    """Keep what an option says about the setting of its name."""
    if value is not None and option.name:
        context.ensure_object(Invocation).settings[option.name] = value


class CliCommand(click.Command):
    """A command with the shared options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: passed on to click as they are
        super().__init__(*args, **kwargs)
        if COMPLETING in os.environ:
            from interlock.ui.cli.task_names import complete_tasks

            complete_tasks(self.params)
        own = {name for param in self.params for name in param.opts}
        self.params.extend(option for option in shared_options() if not own & set(option.opts))


def cli_command(name: str) -> Callable[[Callable[..., Any]], click.Command]:  # Any: what the options say
    """A command with the shared options. Its function gets the invocation first, and may be a coroutine."""

    def make(function: Callable[..., Any]) -> click.Command:
        @wraps(function)
        def start(*args: Any, **kwargs: Any) -> Any:  # Any: passed on as they are
            from interlock.ui.cli.session import run_async

            ended = function(*args, **kwargs)
            return run_async(ended) if iscoroutine(ended) else ended

        return click.command(name, cls=CliCommand)(click.pass_obj(start))

    return make


class CommandGroup(click.Group):
    """Commands under a command, with the shared options."""

    command_class = CliCommand

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Any: passed on to click as they are
        super().__init__(*args, **kwargs)
        self.params.extend(shared_options())


class Interlock(CommandGroup):
    """Imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(entry.module)
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(command, click.Command), cmd_name  # noqa: S101 - the table above promises it
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command named by the first word; for an unknown one the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from interlock.model.nearest import nearest

            near = nearest(args[0], COMMANDS)
            hint = f"did you mean `interlock {near}`?" if near else "`interlock --help` lists all commands"
            raise UnknownCommand(f"there is no command `{args[0]}`", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        for section, entries in groupby(COMMANDS.items(), key=lambda item: item[1].section):
            with formatter.section(section):
                formatter.write_dl([(name, entry.summary) for name, entry in entries])


def _show_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:  # noqa: ARG001 - click's signature
    """Print the version; from a checkout also its commit, because many commits share one version."""
    if not wanted or context.resilient_parsing:
        return
    commit = _commit_of(SOURCE) if (SOURCE / ".git").exists() else ""
    click.echo(f"interlock {__version__}{f' (commit {commit})' if commit else ''}")
    context.exit()


def _show_skill(context: click.Context, option: click.Parameter, wanted: bool) -> None:  # noqa: ARG001 - click's signature
    if not wanted or context.resilient_parsing:
        return
    from interlock.ui.words.skill import SKILL

    click.echo(SKILL, nl=False)
    context.exit()


def _commit_of(checkout: Path) -> str:
    """The short name of the commit that is checked out; empty where git is missing or has none."""
    import asyncio

    from interlock.git.command import find_repository

    try:
        answer = asyncio.run(find_repository(checkout, "rev-parse", "--short", "HEAD"))
    except UserError:
        return ""
    return "" if answer.code else answer.line


class UnknownCommand(UserError):
    """The command does not exist."""

    code = "usage"
    exit_code = ExitCode.USAGE


@click.command(
    cls=Interlock,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--skill",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_skill,
    help="Print a short guide for an agent of yours and exit.",
)
@click.pass_context
def interlock(context: click.Context) -> int | None:
    """Run many coding agents on one git repository and land only what works.

    Without a command it shows the status and the next command.
    """
    if context.invoked_subcommand is not None:
        return None
    overview = import_module(COMMANDS["status"].module).overview
    return int(overview(context.ensure_object(Invocation)))


def main(args: Sequence[str] | None = None) -> int:
    # A command makes values and keeps them: looking for garbage as often as Python does takes longer than it.
    gc.set_threshold(GARBAGE_THRESHOLD)
    words = list(sys.argv[1:] if args is None else args)
    if COMPLETING in os.environ:
        interlock.main(words, prog_name="interlock")
    open_closed_streams()
    invocation = Invocation()
    try:
        with interlock.make_context("interlock", words, obj=invocation) as context:
            code = interlock.invoke(context)
            sys.stdout.flush()
            return int(code or (ExitCode.ENVIRONMENT if lost_output() else 0))
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        go_quiet()  # Python would complain once more when it closes stdout at the end
        return ExitCode.PIPE_CLOSED
    except OutputLost as lost:
        return _tell(lost, as_json=False)  # on stderr: it is stdout that cannot be written
    except (KeyboardInterrupt, click.Abort):
        note("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:
        if os.environ.get("INTERLOCK_DEBUG"):
            raise
        return _tell(as_user_error(error), as_json=invocation.json or "--json" in words)


def as_user_error(error: Exception) -> UserError:
    if isinstance(error, UserError):
        return error
    if isinstance(error, click.UsageError):
        hint = f"see `{error.ctx.command_path} --help`" if error.ctx else ""
        return UnknownCommand(error.format_message(), hint)
    if isinstance(error, click.ClickException):
        return UnknownCommand(error.format_message())
    if isinstance(error, OSError) and error.errno in DISK_ERRORS:
        what, hint = DISK_ERRORS[error.errno]
        return EnvironmentProblem(f"{what}: {error.filename}" if error.filename else what, hint)
    if isinstance(error, InterlockError):
        return EnvironmentProblem(str(error) or type(error).__name__, "see `interlock status`")
    return Defect(f"internal error: {type(error).__name__}: {error}")


class Defect(UserError):
    """A defect of Interlock: an exception that no code handles."""

    code = "internal"
    exit_code = ExitCode.INTERNAL
    hint = "the log is intact; run the command again with INTERLOCK_DEBUG=1 and report its output"


def _tell(error: UserError, as_json: bool) -> int:
    if as_json:
        say_line({"error": error_object(error)})
        return int(error.exit_code)
    if problems := getattr(error, "problems", ()):  # each names its place and has its own hint
        note(str(error))
        note(f"{paint('error:', 'red')} {len(problems)} to fix; nothing was changed")
    else:
        note(f"{paint('error:', 'red')} {error}")
        if error.hint:
            note(f"{paint('hint:', 'cyan')} {error.hint}")
    return int(error.exit_code)

"""`interlock init`: one file, and nothing else that git would see."""

from pathlib import Path

import click

from interlock.engine.settings import load
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.ui.cli.app import Command
from interlock.ui.cli.detect import test_command
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import repository_root, state_folder

TEMPLATE = """\
# yaml-language-server: $schema={schema}
# What is to be done, and what needs what. `interlock plan` checks this file, `interlock run` carries it out.
version: 1

defaults:
  agent: coder
{verify}
  timeout: 30m
  retries: 3

agents:
  coder:
    use: command
    # Any program that reads the file named by $INTERLOCK_PROMPT_FILE and edits the folder it is started in.
    # run: [sh, -c, 'exec claude -p "$(cat "$INTERLOCK_PROMPT_FILE")" --permission-mode acceptEdits']
    run: [./my-agent.sh]

tasks:
  first:
    goal: Say here, in a sentence or a page, what shall be true when this task is done.
    touches: [docs/**]            # where it will probably work: keeps tasks out of each other's way
  second:
    goal: Another piece of work. It starts when `first` has landed.
    needs: [first]
    # done_when: ["test -s docs/second.md"]   # commands that must pass for this task
"""


@click.command("init", cls=Command)
@click.pass_obj
def init_command(invocation: Invocation) -> None:
    """Write a first task-graph.yaml for this repository."""
    root = repository_root(invocation)
    path = root / load(root, {}).settings.graph
    if path.exists():
        raise _already(path)
    found = test_command(root)
    schema = _write_schema(state_folder(invocation))
    _write_new(path, TEMPLATE.format(schema=_relative(schema, path.parent), verify=_verify_line(found)))
    if invocation.json:
        say_json({"wrote": str(path), "verify": found or None})
        return
    say(f"wrote {path}")
    if found:
        note(f"every change will be checked with `{found}`")
    else:
        note("no test command was found: set `verify` in it, or nothing is checked before it lands")
    note("next: put your tasks and your agent into it, then `interlock plan`")


def _verify_line(found: str) -> str:
    if not found:
        return '  # verify: "make test"       # your checks; run on every change merged onto main'
    return f'  verify: "{found}"       # run on every change merged onto main'


def _write_schema(state: Path) -> Path:
    """Put the editor's schema into the state folder, which git ignores."""
    from interlock.ui.cli.schema import schema_text

    path = state / "schema.json"
    try:
        path.write_text(schema_text(), encoding="utf-8")
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write {path}: {error.strerror}", "make the folder writable"
        ) from None
    return path


def _write_new(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise _already(path) from None
    except OSError as error:
        raise EnvironmentProblem(
            f"cannot write {path}: {error.strerror}", "make the folder writable"
        ) from None


def _already(path: Path) -> UsageError:
    return UsageError(f"{path} is already there", "`interlock plan` checks it; move it away to start anew")


def _relative(path: Path, folder: Path) -> str:
    """A path an editor can follow from the graph's folder."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)

"""`interlock init`: one file, and nothing else that git would see."""

import json
import os
from pathlib import Path

import click

from interlock.engine.settings import load
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.ui.cli.app import Command
from interlock.ui.cli.detecting import Detected, detect
from interlock.ui.cli.found import Found, find_agents
from interlock.ui.cli.lacks import lack_of
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
{agent}

tasks:
  first:
    goal: Say here, in a sentence or a page, what shall be true when this task is done.
    touches: [docs/**]            # where it will probably work: keeps tasks out of each other's way
  second:
    goal: Another piece of work. It starts when `first` has landed.
    needs: [first]
    # done_when: ["test -s docs/second.md"]   # commands that must pass for this task
"""

OWN_PROGRAM = """\
    use: command
    # Any program that reads the file named by $INTERLOCK_PROMPT_FILE and edits the folder it is started in.
    run: [./my-agent.sh]
    # Or one that Interlock knows, once it is installed: claude-code, codex, gemini, qwen, opencode, copilot.
    # use: claude-code
"""
MOST_CHECKS = 4
"""More than these are not told."""
SET_KEY = "set {0}, or say `login: true` to use the account it is logged in with"


@click.command("init", cls=Command)
@click.pass_obj
def init_command(invocation: Invocation) -> None:
    """Write a first task-graph.yaml for this repository.

    For example: interlock init
    """
    root = repository_root(invocation)
    path = root / load(root, {}).settings.graph
    if path.exists():
        raise _already(path)
    detected, agents = detect(root), find_agents(os.environ)
    command = detected.check.command if detected.check else ""
    schema = _relative(_write_schema(state_folder(invocation)), path.parent)
    _write_new(path, TEMPLATE.format(schema=schema, verify=_verify_line(command), agent=_agent_lines(agents)))
    if invocation.json:
        say_json({"wrote": str(path), "verify": command or None, "detected": detected, "agents": agents})
        return
    say(f"wrote {path}")
    _tell_detected(detected)
    _tell_agents(agents)


def _tell_detected(detected: Detected) -> None:
    """Say what was found, and which file says so."""
    if detected.check:
        note(f"every change will be checked with `{detected.check.command}` ({detected.check.source})")
    else:
        note("no test command was found: set `verify` in it, or nothing is checked before it lands")
    for other in detected.checks[1:MOST_CHECKS]:
        note(f"also found: `{other.command}` ({other.source})")
    for setup in detected.absent:
        note(f"{lack_of(setup)}")


def _tell_agents(agents: list[Found]) -> None:
    for agent in agents:
        lacks = f", but {agent.lacks}" if agent.lacks else ""
        note(f"found {agent.use}{f' ({agent.model})' if agent.model else ''}{lacks}")
    if not agents:
        note("no agent was found: `interlock doctor` says how to install one, or name a program of your own")
    elif agents[0].lacks:
        note(f"tasks go to {agents[0].use}: {SET_KEY.format(agents[0].key_env)}")
    else:
        note(f"tasks go to {agents[0].use}")
    note("next: put your tasks into it, commit it, then `interlock doctor` and `interlock plan`")


def _agent_lines(agents: list[Found]) -> str:
    """The best agent that was found, or a place for one."""
    if not agents:
        return OWN_PROGRAM.rstrip("\n")
    first, *others = agents
    lines = [f"use: {first.use}"]
    if first.use == "built-in":
        lines += [f"url: {first.url}", f"model: {json.dumps(first.model)}"]
    else:
        lines += ["# model: the program's own choice if you name none"]
        lines += [f"# key_env: {first.key_env}   # the variable with your key; only its name is ever written"]
    lines += [f"# also here: {other.use}{f' ({other.lacks})' if other.lacks else ''}" for other in others]
    return "\n".join(f"    {line}" for line in lines)


def _verify_line(found: str) -> str:
    if not found:
        return '  # verify: "make test"       # your checks; run on every change merged onto main'
    return f"  verify: {json.dumps(found)}       # run on every change merged onto main"


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

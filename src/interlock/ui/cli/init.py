"""`interlock init` and `schema`: a first task graph, and what an editor needs to check it."""

import json
import os
from pathlib import Path

import click

from interlock.engine.settings import load
from interlock.engine.trust import of_agents
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.setup import Setup
from interlock.model.task import Agent
from interlock.ui.cli.app import CliCommand, cli_command
from interlock.ui.cli.detecting import Detected, detect
from interlock.ui.cli.found import FoundAgent, find_agents
from interlock.ui.cli.lacks import lack_of
from interlock.ui.cli.output import Invocation, note, say, say_json
from interlock.ui.cli.session import repository_root, run_async, state_folder
from interlock.ui.cli.trying import Tried, best, try_found
from interlock.ui.cli.writing import write

TEMPLATE = """\
# yaml-language-server: $schema={schema}
# What is to be done, and what needs what. `interlock plan` checks this file, `interlock run` carries it out.
version: 1

defaults:
  agent: coder
{setup}{verify}
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


@cli_command("init")
@click.option("--no-checks", is_flag=True, help="Do not run the check that was found; write it as a comment.")
def init_command(invocation: Invocation, no_checks: bool) -> None:
    """Write a first task-graph.yaml for this repository.

    The check that its files name is run once on main, in the sandbox, and written only if it runs.
    For example: interlock init
    """
    root = repository_root(invocation)
    loaded = load(root, {})
    path = root / loaded.settings.graph
    if path.exists():
        raise _already(path)
    detected, agents = detect(root), find_agents(os.environ)
    schema = _relative(_write_schema(state_folder(invocation)), path.parent)
    found = [] if no_checks else [check.command for check in detected.checks]
    tried = run_async(try_found(invocation, found, detected.setup)) if found else []
    lines = {"setup": _setup_line(detected.setup), "verify": _verify_line(tried, detected)}
    _write_new(path, TEMPLATE.format(schema=schema, agent=_agent_lines(agents), **lines))
    # The user asked for this file, which names a model server of this machine if there is one.
    written = [Agent("coder", found.use, url=found.url) for found in agents[:1]]
    loaded.trust.agree(of_agents(written, path.name, ()))
    if invocation.json:
        chosen = best(tried)
        verify = chosen.command if chosen else None
        say_json(
            {"wrote": str(path), "verify": verify, "tried": tried, "detected": detected, "agents": agents}
        )
        return
    say(f"wrote {path}")
    _tell_tried(tried, {check.command: check.source for check in detected.checks})
    _tell_detected(detected, {one.command for one in tried})
    _tell_agents(agents)


def _tell_tried(tried: list[Tried], sources: dict[str, str]) -> None:
    chosen = best(tried)
    for one in tried:
        name = f"`{one.command}` ({sources.get(one.command, '')})"
        if one is chosen:
            note(f"every change will be checked with {name}: {one.text}{_why(one, tried)}")
        elif one.is_usable:
            note(f"{name} was not chosen as the check: {one.text}")
        else:
            note(f"{name} was not written as a check: {one.text}; {one.fix}")
            for line in one.lines:
                note(f"  | {line}")
    if tried and not chosen:
        note("set `verify` in it, or changes land without a check; `interlock doctor` tries it")
    elif chosen and not chosen.tests:
        note("only its exit status says whether a change works: removed tests go unseen")


def _why(chosen: Tried, tried: list[Tried]) -> str:
    """The reason for this choice among several checks that work."""
    others = [one for one in tried if one.is_usable and one is not chosen]
    if not others or chosen.tests <= max(one.tests for one in others):
        return ""
    return ", the most of the commands that were tried"


def _tell_detected(detected: Detected, tried: set[str]) -> None:
    for green in detected.always_green:
        note(
            f"`{green.command}` ({green.source}) is not used as a check: it ignores that tests fail "
            f"(`{green.ignores}`)"
        )
    if not detected.checks:
        note("no test command found: set `verify` in it, or changes land without a check")
    more = ": another works; add it to `verify` if changes must pass it" if tried else ""
    for found in detected.checks[:MOST_CHECKS]:
        if found.command not in tried:
            note(f"found, but not tried: `{found.command}` ({found.source}){more}")
    for found in detected.unchecked:
        note(f"CI also runs `{found.command}` ({found.source}): add it to `verify` if changes must pass it")
    if detected.setup:
        files = ", ".join(detected.setup.key)
        note(f"dependencies are installed with `{' && '.join(detected.setup.run)}` where needed ({files})")
    for setup in detected.absent:
        note(f"{lack_of(setup)}")


def _tell_agents(agents: list[FoundAgent]) -> None:
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


def _agent_lines(agents: list[FoundAgent]) -> str:
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


def _setup_line(found: Setup | None) -> str:
    if found is None:
        return ""
    run = found.run[0] if len(found.run) == 1 else found.run
    makes = f", makes: {json.dumps(found.makes)}" if found.makes else ""
    words = f"{{run: {json.dumps(run)}, key: {json.dumps(found.key)}{makes}}}"
    return f"  setup: {words}   # installs missing dependencies\n"


def _verify_line(tried: list[Tried], detected: Detected) -> str:
    """The check that was seen to run; else, as a comment, what was found and why it is not written."""
    if chosen := best(tried):
        return _commented(
            f"verify: {json.dumps(chosen.command)}", f"on every change merged onto main: {chosen.text}"
        )
    if tried:
        return "\n".join(
            _commented(f"# verify: {json.dumps(one.command)}", f"not used: {one.text}") for one in tried
        )
    if detected.check:
        return _commented(f"# verify: {json.dumps(detected.check.command)}", "not tried: interlock doctor")
    return _commented('# verify: "make test"', "your checks; run on every change merged onto main")


def _commented(line: str, comment: str) -> str:
    return f"  {line}       # {' '.join(comment.split())}"


def _write_schema(state: Path) -> Path:
    """Put the editor's schema into the state folder, which git ignores."""
    path = state / "schema.json"
    write(path, schema_text())
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
    return UsageError(f"{path} already exists", "`interlock plan` checks it; move it away to start over")


def _relative(path: Path, folder: Path) -> str:
    """A path an editor can follow from the graph's folder."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


@click.command("schema", cls=CliCommand)
@click.option(
    "--write", "path", type=click.Path(path_type=Path, dir_okay=False), help="Write the schema to this file."
)
def schema_command(path: Path | None) -> None:
    """Print the JSON schema of task-graph.yaml.

    For example: interlock schema --write .vscode/task-graph.schema.json
    """
    text = schema_text()
    if path is None:
        say(text.rstrip())
        return
    if os.path.lexists(path) and not _is_schema(path):
        raise UsageError(f"{path} exists and is not a schema", "name another file, or move it away")
    write(path, text)
    note(f"wrote {path}; put this on line 1 of the graph: # yaml-language-server: $schema={path}")


def _is_schema(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and '"$schema"' in path.read_text(errors="replace")[:200]


def schema_text() -> str:
    import msgspec

    from interlock.plan import json_schema

    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"

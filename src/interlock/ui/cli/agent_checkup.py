"""The agent rows of `doctor`: the program is found, it starts in the sandbox, and its key is set."""

import asyncio
import os
import re
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from interlock.agents import ADAPTERS
from interlock.engine.project import Project
from interlock.model.errors import UserError
from interlock.model.kinds import KINDS
from interlock.model.process import Command, inherit
from interlock.model.sandbox import Grant
from interlock.model.task import Agent
from interlock.run.program import folders_of
from interlock.ui.cli.found import INSTALL
from interlock.ui.plain import inert
from interlock.ui.queries.findings import Finding, bad, good, warning

VERSION_SECONDS = 30.0
"""Some are large programs on a cold disk."""
SERVER_SECONDS = 2.0
VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
LOCAL = ("127.0.0.1", "localhost", "::1")


async def agent_findings(project: Project, agents: list[Agent], files: frozenset[str]) -> list[Finding]:
    rows = await asyncio.gather(*(_agent(project, agent, files) for agent in agents))
    return [*rows, *other_agents({agent.use for agent in agents})]


async def _agent(project: Project, agent: Agent, files: frozenset[str]) -> Finding:
    if agent.run:
        return _own_program(project.root, agent, files)
    if agent.use == "built-in":
        return await _server(agent)
    return await _known_program(project, agent)


async def _known_program(project: Project, agent: Agent) -> Finding:
    name, program = f"agent {agent.name}", ADAPTERS[agent.use].program
    path = shutil.which(program)
    if path is None:
        return bad(name, f"{program} was not found", INSTALL[agent.use])
    try:
        text = f"{agent.use} {await _version(project, path)} at {path}, starts in the sandbox"
    except UserError as error:
        fix = error.hint or f"{program} --version"
        return bad(name, f"{path} does not start in the sandbox: {error}", fix)
    return _with_key(name, agent, text, has_budgets=bool(project.settings.budgets))


def _with_key(name: str, agent: Agent, text: str, *, has_budgets: bool) -> Finding:
    if agent.login:
        text += "; it uses its own login, which agents can then read"
        if has_budgets:
            text += ", and its calls bypass the proxy, so budgets stop it only after it has told its use"
        return warning(name, text, "set key_env instead of login if you have a key")
    variable = agent.key_env or KINDS[agent.use].key_env
    if os.environ.get(variable) or urlsplit(agent.url).hostname in LOCAL:
        return good(name, f"{text}; its key is in {variable}" if not agent.url else text)
    return bad(name, f"{text}; {variable} is not set", f"export {variable}=..., or `login: true`")


async def _version(project: Project, path: str) -> str:
    folder = Path(tempfile.mkdtemp(prefix="interlock-doctor-"))
    log = folder / "log"
    try:
        ended = await project.processes.run(
            Command(
                argv=(path, "--version"),
                directory=str(folder),
                log=str(log),
                env=inherit(os.environ),
                timeout_seconds=VERSION_SECONDS,
                grant=Grant(write=(str(folder),), read=folders_of(path, os.environ.get("PATH", ""), folder)),
            )
        )
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    if ended.code:
        last = inert(ended.tail.strip().splitlines()[-1]) if ended.tail.strip() else "no output"
        raise UserError(f"exit {ended.code}: {last}", f"{path} --version")
    found = VERSION.search(ended.tail)
    return found[0] if found else "(unknown version)"


async def _server(agent: Agent) -> Finding:
    """Interlock's own agent is always there; its model's server may not be."""
    name, address = f"agent {agent.name}", urlsplit(agent.url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        async with asyncio.timeout(SERVER_SECONDS):
            _, writer = await asyncio.open_connection(address.hostname, port)
        writer.close()
    except (OSError, TimeoutError):
        return bad(name, f"no server answers at {agent.url}", "start the model server, or correct `url`")
    text = f"built-in, {agent.model} at {agent.url}, which answers"
    if agent.key_env and not os.environ.get(agent.key_env):
        return bad(name, f"{text}; {agent.key_env} is not set", f"export {agent.key_env}=...")
    return good(name, text)


def _own_program(root: Path, agent: Agent, files: frozenset[str]) -> Finding:
    """The row for a program that the graph names, looked up from the folder it will start in."""
    name, program = f"agent {agent.name}", agent.run[0]
    found = shutil.which(program if "/" not in program else str(root / program))
    if found and "/" in program and not Path(program).is_absolute() and str(Path(program)) not in files:
        text = f"{program} is not on the branch, so no workspace contains it"
        return bad(name, text, f"git add '{program}' and commit it")
    if found:
        return good(name, found)
    if "/" in program and (root / program).exists():
        return bad(name, f"{program} is not executable", f"chmod +x '{program}' and commit it")
    return bad(name, f"{program} was not found", f"install {program}, or edit `agents` in the graph")


def other_agents(used: set[str]) -> list[Finding]:
    known = [use for use in INSTALL if use in ADAPTERS and use not in used]
    found = {use: shutil.which(ADAPTERS[use].program) for use in known}
    return [
        good(use, f"installed at {path}, not used by the graph")
        if path
        else good(use, "not installed, and not used by the graph", INSTALL[use])
        for use, path in found.items()
    ]

"""The launch context of an attempt: its prompt, its home, its variables, and its permissions."""

import hashlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.agents import ADAPTERS
from interlock.agents.adapter import Launch, LaunchContext
from interlock.git.protocol import Workspace
from interlock.model.errors import EnvironmentProblem
from interlock.model.outcome import Order, Resume
from interlock.model.process import Command, inherit
from interlock.model.sandbox import ForwardedPort, Grant
from interlock.model.task import TaskId
from interlock.run.network import Way
from interlock.run.notes import used_in_session
from interlock.run.private_files import open_private
from interlock.run.program import folders_of

PROMPT = "prompt.md"
PID_FILE = "supervisor.pid"

RESUMED = """\
Your session was cut off before you had finished; nothing that you wrote is lost. Look at where things stand
and go on with the task, which is this:

"""
STARTED_OVER = """\
An earlier session on this task is gone, but what it wrote is in this directory. Look at where things stand
and go on with the task, which is this:

"""
ANSWERED = """\
You ended with a question, and a person has answered it: see below, under what people said. Nothing that you
wrote is lost. Go on with the task, which is this:

"""


@dataclass(frozen=True, slots=True)
class AttemptFolders:
    """The folders and permissions of one attempt."""

    path: Path
    """The workspace, as the agent knows it."""
    grant: Grant
    """Its permissions there."""
    state: Path
    """The attempt's own folder beside the workspace."""
    home: Path
    log: Path


def folders_for(workspace: Workspace, home: Path, log: Path) -> AttemptFolders:
    return AttemptFolders(workspace.path, workspace.grant, workspace.home, home, log)


def told(prompt: str, resume: Resume | None) -> str:
    if resume is None:
        return prompt
    if not resume.session:
        return STARTED_OVER + prompt
    return (ANSWERED if resume.answered else RESUMED) + prompt


def write_prompt(order: Order, place: AttemptFolders) -> str:
    """The prompt, in its file and beside the log."""
    prompt = told(order.prompt, order.resume)
    try:
        place.log.parent.mkdir(parents=True, exist_ok=True)
        for path in (place.state / PROMPT, place.log.with_suffix(".prompt.md")):
            with open_private(path, "wb") as file:
                file.write(prompt.encode())
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error
    return prompt


def launch_context(order: Order, place: AttemptFolders, way: Way, prompt: str) -> LaunchContext:
    resumed = order.resume.session if order.resume else ""
    state_dir = place.log.parents[2]
    return LaunchContext(
        agent=order.agent,
        prompt=prompt,
        prompt_file=str(place.state / PROMPT),
        workspace=str(place.path),
        home=str(place.home),
        session=order.session,
        resume=resumed,
        used_before=used_in_session(state_dir, order.task, order.attempt, resumed),
        model_url=way.url,
        token=way.token,
    )


def begin_log(order: Order, place: AttemptFolders, launch: Launch) -> None:
    """The first line says what follows. The prompt is often a word of the command, and is not repeated."""
    words = [word if len(word) < 200 and "\n" not in word else "..." for word in launch.argv]
    try:
        with open_private(place.log, "ab") as file:
            about = f"# interlock: task {order.task}, attempt {order.attempt}, base {order.base}"
            file.write(f"{about}: {shlex.join(words)}\n".encode())
    except OSError as error:
        raise EnvironmentProblem(f"cannot write {error.filename}: {error.strerror}") from error


def environment(
    order: Order, place: AttemptFolders, launch: Launch, ways: tuple[Way, ...], host: Mapping[str, str]
) -> dict[str, str]:
    """Return the program's environment. `host` is the part of ours that it may see."""
    opened = {name: value for way in ways for name, value in way.env.items()}
    return {
        **host,
        **opened,
        **launch.env,
        **(order.agent.env or {}),
        "COMPOSE_PROJECT_NAME": compose_project(place.state, order.task, order.attempt),
        **{name: opened.get(name, value) for name, value in order.variables.items()},
        "INTERLOCK_PROMPT_FILE": str(place.state / PROMPT),
        "INTERLOCK_TASK_ID": order.task,
        "INTERLOCK_ATTEMPT": str(order.attempt),
        "INTERLOCK_SESSION": order.session,
    }


def compose_project(home: Path, task: TaskId, attempt: int) -> str:
    """Return a name for what the attempt starts with Docker Compose: no other attempt has the same.

    `home`: its folder beside the workspace.
    """
    digest = hashlib.sha256(str(home).encode()).hexdigest()[:8]
    return f"interlock-{task.replace('.', '-')}-{attempt}-{digest}"


def host_variables(place: AttemptFolders, pass_env: tuple[str, ...], own_home: bool) -> dict[str, str]:
    """Return our variables for the agent; with its own home, none that names the user's."""
    ours = inherit(os.environ, pass_env)
    if not own_home:
        return ours
    kept = {name: value for name, value in ours.items() if not name.startswith("XDG_") and name != "TMPDIR"}
    return {**kept, "HOME": str(place.home)}


def grant(
    place: AttemptFolders, launch: Launch, forwarded_ports: tuple[ForwardedPort, ...], env: Mapping[str, str]
) -> Grant:
    """Its own folders to write, what it borrows and where it is installed to read, and its ways out."""
    files = place.grant
    return replace(
        files,
        write=(*files.write, str(place.home)),
        read=(
            *files.read,
            str(place.state / PROMPT),
            *launch.read,
            *folders_of(launch.argv[0], env.get("PATH", ""), place.path),
        ),
        home=str(place.home) if env.get("HOME") == str(place.home) else "",
        forwarded_ports=forwarded_ports,
    )


def command(
    order: Order,
    place: AttemptFolders,
    launch: Launch,
    env: dict[str, str],
    forwarded_ports: tuple[ForwardedPort, ...],
) -> Command:
    """The program with all its limits but the lease."""
    return Command(
        argv=launch.argv,
        directory=str(place.path),
        log=str(place.log),
        env=env,
        timeout_seconds=order.timeout_seconds,
        idle_seconds=order.idle_seconds,
        key=order.key,
        pid_file=str(place.state / PID_FILE),
        grant=grant(place, launch, forwarded_ports, env),
        listens=ADAPTERS[order.agent.use].can_steer or bool(launch.say),
        # The lines of a program of the user's choice mean nothing, and a script may write to /dev/stderr.
        sealed=order.agent.use != "command",
    )

"""Runs the built-in agent as the executor does: by its adapter's launch, its output through the reader."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.agents.adapter import LaunchContext, SessionVerdict
from interlock.agents.builtin import BuiltIn
from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent

FAST = ("--retry-seconds", "0.01", "--answer-seconds", "20", "--command-seconds", "20")


@dataclass(frozen=True)
class Session:
    """A session that is over."""

    events: list[Event]
    verdict: SessionVerdict
    code: int

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    @property
    def results(self) -> list[Event]:
        return self.of(EventKind.RESULT)


def seated(
    place: Path,
    url: str,
    args: Sequence[str] = (),
    session: str = "s1",
    resume: str = "",
    proxy: tuple[str, str] = ("", ""),
) -> LaunchContext:
    """A workspace, a home and a prompt. `proxy` is its address and its token."""
    workspace, home, prompt = place / "workspace", place / "home", place / "prompt.md"
    workspace.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    prompt.write_text("Say hello.")
    agent = Agent("local", "built-in", model="tiny", url=url, args=(*FAST, *args))
    paths = (str(prompt), str(workspace), str(home))
    return LaunchContext(agent, prompt.read_text(), *paths, session, resume, *proxy)


def worked(context: LaunchContext, said: str | None = None, env: Mapping[str, str] | None = None) -> Session:
    """The session to its end; `said` is on its standard input from the start."""
    adapter = BuiltIn()
    launch = adapter.launch(context)
    done = subprocess.run(
        launch.argv,
        cwd=context.workspace,
        env={"PATH": "/usr/bin:/bin", "HOME": context.home, **(env or {}), **launch.env},
        input=json.dumps({"say": said}) + "\n" if said is not None else "",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    reader = adapter.reader(context)
    events = [event for line in done.stdout.splitlines() for event in reader.read(line)]
    ended = Exit(Ended.EXITED, done.returncode, 1.0, done.stdout)
    return Session(events, reader.verdict(ended), done.returncode)

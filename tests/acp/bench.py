"""Runs an agent that speaks the protocol and sends it what its dialogue wants sent, as the executor does."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from interlock.agents.acp.program import Acp
from interlock.agents.adapter import Dialogue, LaunchContext, SessionVerdict
from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent
from tests import warm

FAKE = Path(__file__).with_name("fake_agent.py")

React = Callable[[Event, Dialogue], Sequence[Event]]


@dataclass
class Talk:
    """A session that is over."""

    events: list[Event] = field(default_factory=list)
    verdict: SessionVerdict = field(default_factory=SessionVerdict)

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def texts(self, kind: EventKind) -> list[str]:
        return [event.text for event in self.of(kind)]


def nothing(_event: Event, _dialogue: Dialogue) -> Sequence[Event]:
    return ()


def fake(
    place: Path, prompt: str, *options: str, permissions: str = "allow", resume: str = ""
) -> LaunchContext:
    agent = Agent("fake", "acp", (sys.executable, str(FAKE), *options), permissions=permissions)
    return seated(place, agent, prompt, resume)


def seated(place: Path, agent: Agent, prompt: str, resume: str = "") -> LaunchContext:
    workspace, home = place / "workspace", place / "home"
    workspace.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    return LaunchContext(agent, prompt, str(place / "prompt.md"), str(workspace), str(home), "minted", resume)


def talk(context: LaunchContext, react: React = nothing, env: dict[str, str] | None = None) -> Talk:
    """The session to its end. `react` may answer or say something at every event."""
    adapter = Acp()
    launch, dialogue = adapter.launch(context), adapter.reader(context)
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    program = warm.start(
        launch.argv,
        Path(context.workspace),
        {"PATH": os.environ["PATH"], "HOME": context.home, **launch.env, **(env or {})},
        stdin=theirs_in,
        out=theirs_out,
        err=theirs_out,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    done = Talk()
    too_long = threading.Timer(90, program.kill)
    too_long.start()
    with os.fdopen(ours_out, "w") as told, os.fdopen(ours_in, errors="replace") as heard:
        _say(told, launch.say)
        for line in heard:
            for event in dialogue.read(line.rstrip("\n")):
                done.events += [event, *react(event, dialogue)]
            _say(told, "".join(dialogue.replies()))
            if dialogue.is_over:
                break
    too_long.cancel()
    done.verdict = dialogue.verdict(Exit(Ended.EXITED, _ended(program), 1.0, ""))
    return done


def _say(told: IO[str], words: str) -> None:
    """Write it at once; an agent that has ended hears nothing."""
    with suppress(BrokenPipeError):
        told.write(words)
        told.flush()


def _ended(program: warm.Started) -> int:
    """The exit code of a program that hears nothing more; some have to be killed."""
    try:
        return program.wait(2)
    except subprocess.TimeoutExpired:
        program.kill()
        return program.wait()

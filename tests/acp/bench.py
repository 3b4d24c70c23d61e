"""Runs an agent that speaks the protocol and sends it what its dialogue wants sent, as the executor does."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interlock.model.process import Ended, Exit
from interlock.model.session import Event, EventKind
from interlock.model.task import Agent
from interlock.run.adapters.acp import Acp
from interlock.run.adapters.adapter import Dialogue, Seat, Verdict

FAKE = Path(__file__).with_name("fake_agent.py")

React = Callable[[Event, Dialogue], Sequence[Event]]


@dataclass
class Talk:
    """A session that is over."""

    events: list[Event] = field(default_factory=list)
    verdict: Verdict = field(default_factory=Verdict)

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def texts(self, kind: EventKind) -> list[str]:
        return [event.text for event in self.of(kind)]


def nothing(_event: Event, _dialogue: Dialogue) -> Sequence[Event]:
    return ()


def fake(place: Path, prompt: str, *options: str, permissions: str = "allow", resume: str = "") -> Seat:
    agent = Agent("fake", "acp", (sys.executable, str(FAKE), *options), permissions=permissions)
    return seated(place, agent, prompt, resume)


def seated(place: Path, agent: Agent, prompt: str, resume: str = "") -> Seat:
    workspace, home = place / "workspace", place / "home"
    workspace.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    return Seat(agent, prompt, str(place / "prompt.md"), str(workspace), str(home), "minted", resume)


def talk(seat: Seat, react: React = nothing, env: dict[str, str] | None = None) -> Talk:
    """The session to its end. `react` may answer or say something at every event."""
    return asyncio.run(asyncio.wait_for(_talk(seat, react, env or {}), 90))


async def _talk(seat: Seat, react: React, env: dict[str, str]) -> Talk:
    adapter = Acp()
    launch, dialogue = adapter.launch(seat), adapter.reader(seat)
    program = await asyncio.create_subprocess_exec(
        *launch.argv,
        cwd=seat.workspace,
        env={"PATH": os.environ["PATH"], "HOME": seat.home, **launch.env, **env},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=1 << 24,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    done = Talk()
    program.stdin.write(launch.say.encode())
    async for line in program.stdout:
        for event in dialogue.read(line.decode(errors="replace").rstrip("\n")):
            done.events += [event, *react(event, dialogue)]
        program.stdin.write("".join(dialogue.replies()).encode())
        if dialogue.is_over:
            break
    program.stdin.close()
    try:
        await asyncio.wait_for(program.wait(), 2)
    except TimeoutError:
        program.kill()
    await program.communicate()
    done.verdict = dialogue.verdict(Exit(Ended.EXITED, program.returncode or 0, 1.0, ""))
    return done

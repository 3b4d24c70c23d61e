"""Proof of the sandbox: an agent is denied what the same program can do outside."""

import asyncio
import subprocess
from pathlib import Path

from interlock.events import facts as f
from interlock.ui.cli.prove.proof import Seen, need
from interlock.ui.cli.prove.stage import ProofRepository, shell, word

SECRET = "not-for-agents"  # noqa: S105 - it guards nothing


async def attack_blocked(stage: ProofRepository) -> Seen:
    """An agent reads a file of yours, writes one and calls a server; outside, the same program can."""
    connected: list[str] = []
    server = await asyncio.start_server(lambda _r, writer: _count(connected, writer), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        stage.folder.mkdir(parents=True, exist_ok=True)
        (stage.folder / "secret.txt").write_text(SECRET)
        script = _attack(stage.folder, port)
        await stage.make(
            f"version: 1\ndefaults: {{agent: a}}\nagents: {{a: {shell(script)}}}\n"
            "tasks:\n  t: {goal: Attack}\n"
        )
        need(await stage.run("run", "--no-input") == 0, "the agent's run did not land")
        inside = (stage.root / "got.txt").read_text()
        blocked = SECRET not in inside and not (stage.folder / "written.txt").exists() and not connected
        need(blocked, "an agent reached a file or a server of the host")
        await asyncio.to_thread(_outside, script, stage.folder)
    outside = (stage.folder / "control" / "got.txt").read_text()
    reached = SECRET in outside and (stage.folder / "written.txt").exists() and connected
    need(reached, "the same program could not do it outside either: this proves nothing")
    row, fact = (await stage.facts(f.SessionOpened))[0]
    text = "could not read a file, write one or call a server that the same program outside could"
    return Seen(f"{fact.sandbox}: {text}", (row,))


def _attack(folder: Path, port: int) -> str:
    return (
        f"cat {word(folder / 'secret.txt')} > got.txt 2>&1; echo in > {word(folder / 'written.txt')};"
        f" GIT_TERMINAL_PROMPT=0 git ls-remote git://127.0.0.1:{port}/x >> got.txt 2>&1; true"
    )


def _outside(script: str, folder: Path) -> None:
    control = folder / "control"
    control.mkdir()
    subprocess.run(["sh", "-c", script], cwd=control, check=False, capture_output=True, timeout=20)


def _count(connected: list[str], writer: asyncio.StreamWriter) -> None:
    connected.append("one")
    writer.close()

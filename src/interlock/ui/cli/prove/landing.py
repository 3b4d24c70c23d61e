"""Proofs about claims, conflicts, crashes, landings and the sandbox."""

import asyncio
import signal
import subprocess
from pathlib import Path

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.model.outcome import ErrorClass
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.prove.stage import QUIET, ProofRepository, Seen, need, shell, word

RUNS = 4
TAKEOVERS = 20
"""Times that a second run is started beside one that was stopped, until it is let in."""


async def claim_race(stage: ProofRepository) -> Seen:
    """Several runs at once on one repository: one of them works, nothing is claimed twice."""
    agent = shell('sleep 1; echo done > "$INTERLOCK_TASK_ID.txt"')
    await stage.make(agent, {f"t{number}": "goal: Write a file" for number in range(4)})
    racing = [await stage.begin("run", "--max-parallel", "4", "--no-input") for _ in range(RUNS)]
    codes = await asyncio.gather(*map(stage.ended, racing))
    won, refused = codes.count(ExitCode.OK), codes.count(ExitCode.ENVIRONMENT)
    starts = [(row, fact) for row, fact in await stage.facts(f.PhaseStarted) if fact.phase == "implement"]
    need(won >= 1 and won + refused == RUNS, f"{RUNS} runs at once ended with {codes}")
    need(
        len(starts) == len({fact.task for _, fact in starts}) == 4,
        f"4 tasks were claimed {len(starts)} times",
    )
    text = f"{RUNS} runs started at once: {refused} refused, each of 4 tasks claimed once"
    return Seen(text, tuple(row for row, _ in starts[:2]))


async def conflict_avoided(stage: ProofRepository) -> Seen:
    """Two tasks that want the same file wait for each other, while a third goes on."""
    agent = shell('sleep 0.5; echo "$INTERLOCK_TASK_ID" >> "$INTERLOCK_TASK_ID.txt"')
    wants = "goal: Edit it, exclusive: [shared.txt]"
    await stage.make(agent, {"one": wants, "two": wants, "other": "goal: Edit something else"})
    await stage.land("--max-parallel", "3")
    spans = _spans(await stage.rows())
    need(not _together(spans["one"], spans["two"]), "both worked on shared.txt at the same time")
    need(
        _together(spans["one"], spans["other"]) or _together(spans["two"], spans["other"]),
        "nothing ran beside",
    )
    rows = tuple(span[0] for name in ("one", "two") for span in [spans[name]])
    return Seen("two tasks lease the same file: one after the other, a third beside them, 3 slots free", rows)


async def overlap_seen(stage: ProofRepository) -> Seen:
    """Two agents write the same line, and this is noticed while both still work."""
    agent = shell('echo "$INTERLOCK_TASK_ID" > shared.txt; sleep 60')
    tasks = dict.fromkeys(("one", "two"), "goal: Edit shared.txt")
    await stage.make(agent, tasks, files={"shared.txt": "nobody\n"})
    running = await stage.begin("run", "--max-parallel", "2", "--no-input")
    rows = await stage.until("the overlap", lambda rows: _has(rows, f.OverlapSeen))
    running.kill()
    await stage.ended(running)
    seen = next(row for row in rows if isinstance(row.fact, f.OverlapSeen))
    ended = [row for row in rows if isinstance(row.fact, f.AgentExited)]
    need(not ended, "an agent had ended before it was seen")
    return Seen("two agents edit the same line; their files were merged in memory while both worked", (seen,))


async def semantic_conflict(stage: ProofRepository) -> Seen:
    """Two changes that are green alone and red together: the second is caught before main."""
    agent = shell(
        'if [ "$INTERLOCK_ATTEMPT" = 1 ]; then sleep 1; echo 2 > "$INTERLOCK_TASK_ID.txt";'
        ' else echo "3 # fits" > "$INTERLOCK_TASK_ID.txt"; fi'
    )
    check = '! { grep -q 2 left.txt && grep -q 2 right.txt; } || { echo "both are 2"; exit 1; }\n'
    await stage.make(
        agent,
        {name: f"goal: Set it to 2, touches: [{name}.txt]" for name in ("left", "right")},
        ", verify: 'sh ./check'",
        {"left.txt": "1\n", "right.txt": "1\n", "check": check},
    )
    await stage.land("--max-parallel", "2")
    red = [(row, fact) for row, fact in await stage.facts(f.PhaseFailed) if fact.error is ErrorClass.CHECK]
    landed = await stage.facts(f.Landed)
    need(red and len(landed) == 2, "the second change was not caught")
    row, fact = red[0]
    text = (
        f"{fact.task} was green alone and red on top of what had landed; sent back, and landed when it fitted"
    )
    return Seen(text, (row, landed[-1][0]))


async def crash_resumed(stage: ProofRepository) -> Seen:
    """The loop is killed while an agent works; the next run goes on from the log."""
    agent = shell('[ "$INTERLOCK_ATTEMPT" != 1 ] || sleep 60; echo done > "$INTERLOCK_TASK_ID.txt"')
    await stage.make(agent, {"t": "goal: Write a file"})
    first = await stage.begin("run", "--no-input")
    await stage.until("the agent's start", lambda rows: _has(rows, f.SessionOpened))
    first.kill()
    await stage.ended(first)
    await stage.land(problem="the second run did not land the task")
    lost, landed = await stage.facts(f.PhaseLost), await stage.facts(f.Landed)
    need(len(lost) == 1 and len(landed) == 1, f"{len(lost)} phases lost, {len(landed)} landed")
    return Seen(
        "kill -9 in the middle of an attempt; the next run took the task up and landed it",
        (lost[0][0], landed[0][0]),
    )


async def stale_worker_fenced(stage: ProofRepository) -> Seen:
    """A loop is stopped for longer than its lease and woken up when another has taken over."""
    agent = shell('[ "$INTERLOCK_ATTEMPT" != 1 ] || sleep 30; echo "$INTERLOCK_ATTEMPT" > made.txt')
    lease = {"interlock.toml": f'{QUIET}controller_lease = "2s"\n'}
    await stage.make(agent, {"t": "goal: Write a file"}, files=lease)
    old = await stage.begin("run", "--no-input")
    await stage.until("the agent's start", lambda rows: _has(rows, f.SessionOpened))
    await stage.pause(old)
    code = int(ExitCode.ENVIRONMENT)
    for _ in range(TAKEOVERS):
        if (code := await stage.run("run", "--no-input")) != ExitCode.ENVIRONMENT:
            break  # the lease of the stopped one is over
    need(code == 0, f"the new run ended with {code}")
    before = await stage.rows()
    old.send_signal(signal.SIGCONT)
    ended = await stage.ended(old)
    after = await stage.rows()
    runs = [row for row in before if isinstance(row.fact, f.RunStarted)]
    need(len(runs) == 2 and ended != 0, f"{len(runs)} runs, and the old one ended with {ended}")
    need(len(after) == len(before), f"the old one wrote {len(after) - len(before)} facts when it woke up")
    text = (
        f"stopped for longer than its lease, woken after a takeover: it wrote nothing and left with {ended}"
    )
    return Seen(text, (runs[1], *(row for row in before if isinstance(row.fact, f.Landed))))


async def workspace_archived(stage: ProofRepository) -> Seen:
    """An agent that runs out of time: what it had written is kept."""
    agent = shell("echo half of it > half.txt; sleep 60")
    await stage.make(agent, {"t": "goal: Write a file"}, ", timeout: 3s, retries: 0")
    need(await stage.run("run", "--no-input") == ExitCode.FAILED, "the run should have failed")
    failed = [(row, fact) for row, fact in await stage.facts(f.PhaseFailed) if fact.archived]
    need(failed, "no archive is named in the log")
    row, fact = failed[0]
    async with stage.project() as project:
        main = await project.repository.tip()
        kept = await project.repository.diff(main.commit, fact.archived)
    need("half.txt" in kept and "half of it" in kept, f"{fact.archived} does not hold what the agent wrote")
    return Seen(f"an agent ran out of time; the file it had begun is in {fact.archived}", (row,))


def _has(rows: list[Recorded], kind: type[f.Fact]) -> bool:
    return any(isinstance(row.fact, kind) for row in rows)


def _spans(rows: list[Recorded]) -> dict[str, tuple[Recorded, Recorded]]:
    """Return for each task the facts of its start and of its landing."""
    starts: dict[str, Recorded] = {}
    spans: dict[str, tuple[Recorded, Recorded]] = {}
    for row in rows:
        if isinstance(row.fact, f.PhaseStarted) and row.fact.phase == "implement":
            starts[row.fact.task] = row
        elif isinstance(row.fact, f.Landed):
            spans[row.fact.task] = (starts[row.fact.task], row)
    return spans


def _together(one: tuple[Recorded, Recorded], other: tuple[Recorded, Recorded]) -> bool:
    return one[0].time < other[1].time and other[0].time < one[1].time


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
        await stage.make(shell(script), {"t": "goal: Attack"})
        await stage.land(problem="the agent's run did not land")
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

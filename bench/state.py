"""A log of 10,000 finished tasks: the snapshot, the longest stop of the loop, `status`, and memory.

CPU time, not wall time: what other programs do on the machine does not count.
"""

import asyncio
import gc
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import thread_time

from bench.scratch import scratch_repository
from bench.table import Row
from interlock.engine.decide import decide
from interlock.engine.ledger import SNAPSHOT_EVERY, Ledger
from interlock.engine.project import open_project
from interlock.events import facts as f
from interlock.model.forecast import Chance, Forecast
from interlock.model.outcome import CheckResult
from interlock.model.reason import Reason, Why, said
from interlock.model.task import Agent, Commit, Task, TaskId, Tree
from interlock.model.usage import Usage
from interlock.store import Store

TITLE = "state"
ROOT = Path(__file__).resolve().parent.parent
AGENT = Agent("worker", "claude-code", model="large", key_env="KEY")
TASKS_OF_RUN = 200
GRAPH = "version: 1\ntasks: {}\n"
LAUNCHER = """\
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
"""
"""A small process in between: a child begins with the memory of its parent as its most."""


def measure(short: bool) -> list[Row]:
    """A log as a long-lived project has it, through the ledger and through real commands."""
    tasks = 1_000 if short else 10_000
    # As `pip install` leaves it. Where bytecode is not written, every start would compile all of it.
    subprocess.run((sys.executable, "-m", "compileall", "-q", ROOT / "src"), check=True)
    with tempfile.TemporaryDirectory() as folder:
        place = scratch_repository(Path(folder), GRAPH)
        empty, _ = _cost(place, ("status",))
        commits = _commit_all(place, tasks + 1)
        rows = [*asyncio.run(_loop(place, tasks, commits)), *_commands(place, commits[6])]
        return [*rows, Row("interlock status: CPU without any task", empty, "s")]


async def _loop(place: Path, tasks: int, commits: Sequence[Commit]) -> list[Row]:
    """Nine tenths of the log are there; the last tenth comes in small pieces, as in a run."""
    facts = list(_facts(tasks, commits))
    old = len(facts) * 9 // 10
    gc.freeze()  # these facts are not part of a run: the collector need not look at them in every turn
    async with open_project(place) as project:
        await _write(project.store, facts[:old], 1_000)
        ledger = Ledger(project.store, "bench", lambda _row, _state: None, lambda _text: None)
        await ledger.open()
        await ledger.save_snapshot()
        turns = []
        for at in range(old, len(facts), 20):
            await project.store.append(facts[at : at + 20], "bench")
            began = thread_time()
            await ledger.catch_up()
            await asyncio.sleep(0)  # what it began to save is part of the stop
            decide(ledger.state, ledger.board, ledger.state.time, {})
            turns.append(thread_time() - began)
        await ledger.save_snapshot()
        saved = await project.store.load_snapshot()
    assert saved
    of = f"{tasks:,} finished tasks, {len(facts):,} facts"
    return [
        Row(f"{of}: snapshot", len(saved[2]) / 1e6, "MB", target=2.0),
        Row(
            f"longest turn of the loop, a snapshot every {SNAPSHOT_EVERY:,} facts",
            max(turns),
            "s",
            target=0.05,
        ),
        Row("middle turn", sorted(turns)[len(turns) // 2], "s"),
    ]


async def _write(store: Store, facts: Sequence[f.Fact], at_a_time: int) -> None:
    for at in range(0, len(facts), at_a_time):
        await store.append(facts[at : at + at_a_time], "bench")


def _commit_all(place: Path, count: int) -> list[Commit]:
    """Commits on main, each on top of the one before."""
    who = "committer Bench <bench@example.com> 1700000000 +0000"
    text = "".join(f"commit refs/heads/main\n{who}\ndata 1\nx\n" for _ in range(count))
    subprocess.run(("git", "fast-import", "--quiet", "--force"), cwd=place, input=text.encode(), check=True)
    words = ("git", "rev-list", "--reverse", f"--max-count={count}", "main")
    return [Commit(line) for line in subprocess.check_output(words, cwd=place, text=True).split()]


def _facts(tasks: int, commits: Sequence[Commit]) -> Iterator[f.Fact]:
    for number in range(tasks):
        if number % TASKS_OF_RUN == 0:
            yield f.RunStarted(f"run-{number}", "bench", number + 1, 8)
        yield from _story(number, commits[number], commits[number + 1])


def _story(number: int, base: Commit, landed: Commit) -> Iterator[f.Fact]:
    """One task from its definition to main."""
    name, work = TaskId(f"task-{number}"), Commit(f"{number:040x}")
    spec = _task(name, number)
    paths = tuple(f"src/part{number % 300}/file{each}.py" for each in range(3))
    chances = tuple(Chance(path, 0.8, "similar", said("3 of 4 similar tasks edited it")) for path in paths)
    forecast = Forecast(
        "feature", Reason(Why.DECLARED), AGENT.name, 300.0, 900.0, 0.8, 0.2, 0.9, 12.0, chances
    )
    results = tuple(CheckResult(command, 0, 3.0, "") for command in (*spec.verify, *spec.done_when))
    usage = Usage(60_000, 4_000, 50_000, 20, 0.25)
    yield f.TaskAccepted(spec)
    yield f.TaskEstimated(name, forecast)
    yield f.PhaseStarted(name, 1, "implement", 1, "bench", agent=AGENT.name)
    yield f.SessionOpened(name, 1, "implement", 1, f"session-{number}", AGENT.name, AGENT.use, AGENT.model)
    yield f.AgentExited(name, 1, "implement", 1)
    yield f.WorkFinished(
        name, 1, "implement", 1, base, work, paths, 300.0, "The endpoint is there.", usage=usage
    )
    yield f.PhaseStarted(name, 1, "verify", 2, "bench")
    yield f.CandidatePassed(name, 1, "verify", 2, base, landed, Tree(landed), work, results, 6.0)
    yield f.PhaseStarted(name, 1, "land", 3, "bench")
    yield f.Landed(name, 1, "land", 3, base, landed, Tree(landed))
    yield f.MainSeen("main", landed, Tree(landed))


def _task(name: TaskId, number: int) -> Task:
    return Task(
        name,
        f"Add endpoint {number} to the service, with a test of each answer. " * 3,
        AGENT,
        tuple(TaskId(f"task-{number - back}") for back in (1, 7) if number >= back),
        (f"src/part{number % 300}/**",),
        verify=("make check", "make test"),
        done_when=(f"pytest -q tests/test_endpoint_{number}.py",),
        category="feature",
        agents=(AGENT, Agent("second", "codex", key_env="OTHER_KEY")),
    )


def _commands(place: Path, commit: Commit) -> Iterator[Row]:
    for words, target in (
        (("status",), 0.5),
        (("status", "--json"), None),
        (("show", "task-5"), None),
        (("explain", "task-5"), None),
        (("explain", commit), None),
    ):
        seconds, megabytes = _cost(place, words)
        name = " ".join(words).replace(commit, "COMMIT")
        yield Row(f"interlock {name}: CPU", seconds, "s", target=target)
        yield Row(f"interlock {name}: memory", megabytes, "MB")


def _cost(place: Path, words: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and the most memory of a command, the least of three times."""
    argv = (sys.executable, "-S", "-c", LAUNCHER, sys.executable, "-m", "interlock", *words)
    found = []
    for _ in range(3):
        said = subprocess.run(argv, cwd=place, capture_output=True, check=True).stderr
        seconds, megabytes = said.split()[-2:]
        found.append((float(seconds), float(megabytes)))
    return min(found)

"""Real processes that race for one log, and real ones that are killed while they write (D4, I1-I3)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from interlock.events.facts import PhaseStarted
from interlock.events.record import Recorded
from interlock.store import Store
from tests.store.contender import CONTESTED, RESOURCES
from tests.store.logs import Log, whole_log

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROCESSES = 8


@contextmanager
def contender(part: str, log: Log, name: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready to begin; gone at the end, whatever happens."""
    argv = [sys.executable, "-m", "tests.store.contender", part, log.url, log.project, name]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=ROOT, env=environment, text=True, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == '"ready"\n'
            yield process
        finally:
            process.kill()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def wins_of(part: str, log: Log) -> list[tuple[str, int]]:
    """What all of the processes together were told that they had claimed."""
    with ExitStack() as stack:
        processes = [stack.enter_context(contender(part, log, f"c{n}")) for n in range(PROCESSES)]
        for process in processes:
            begin(process)
        said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    return [(resource, epoch) for text in said for resource, epoch in map(json.loads, text.splitlines())]


def log_of(log: Log) -> list[Recorded]:
    rows: list[Recorded] = []

    async def story(one: Store, _: Store) -> None:
        rows.extend(await whole_log(one))

    log.play(story)
    return rows


def starts_in(rows: list[Recorded]) -> list[tuple[str, int]]:
    facts = [row.fact for row in rows]
    return [(fact.task, fact.epoch) for fact in facts if isinstance(fact, PhaseStarted)]


@pytest.mark.thorough
def test_eight_processes_that_race_for_200_claims_get_each_exactly_once(disk_log: Log) -> None:
    wins = wins_of("race", disk_log)
    assert sorted(wins) == sorted((f"r{n}", 1) for n in range(RESOURCES))
    assert sorted(starts_in(log_of(disk_log))) == sorted(wins)


@pytest.mark.thorough
def test_epochs_rise_strictly_in_the_log_however_claims_are_taken_and_lost(disk_log: Log) -> None:
    """The log is the order in which it happened: every claim that was told to somebody is in it, once."""
    wins = wins_of("contend", disk_log)
    starts = starts_in(log_of(disk_log))
    assert sorted(starts) == sorted(wins)
    for number in range(CONTESTED):
        epochs = [epoch for resource, epoch in starts if resource == f"r{number}"]
        assert len(epochs) > 1
        assert all(earlier < later for earlier, later in pairwise(epochs))


@pytest.mark.crash
def test_a_killed_writer_loses_nothing_that_was_acknowledged_and_leaves_nothing_half_written(
    disk_log: Log,
) -> None:
    acknowledged = 0
    for number in range(0, 6, 2):
        with contender("write", disk_log, f"w{number}") as process:
            begin(process)
            assert process.stdout is not None
            for _ in range(1 + 7 * number):
                acknowledged = json.loads(process.stdout.readline())[-1]
            process.kill()
            # What it had said before it died counts too; the last line may be torn.
            for line in process.stdout.read().splitlines():
                if line.endswith("]"):
                    acknowledged = json.loads(line)[-1]
        written = len(log_of(disk_log))
        assert written in (acknowledged, acknowledged + 2), "at most the one transaction it was in"

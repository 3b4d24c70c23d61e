"""Measures how long a retry waits after the clock of the database was set; run it by hand.

    python -m tests.engine.clock_waits

An agent fails once, and is due again after one second. Both attempts note a clock that nobody can set, so
what is printed is the wait as it was, with the time that the second attempt takes to start.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engine.scratch import WAIT, Scratch
from tests.postgres_server import running_postgres
from tests.store.clocks import DAY, set_ahead

SCRIPT = """
cut -d' ' -f1 /proc/uptime
{wait}
cut -d' ' -f1 /proc/uptime
if test "$INTERLOCK_ATTEMPT" = 1; then exit 3; fi
echo done > "$INTERLOCK_TASK_ID.txt"
"""
CASES = {
    "the clock is left alone": (0.0, 0.0, 0.0),
    "+1 day during the run": (0.0, 0.0, DAY),
    "-1 day during the run": (0.0, 0.0, -DAY),
    "+1 day before, set right during the run": (DAY, DAY, 0.0),
    "+1 day for one command before the run": (DAY, 0.0, 0.0),
}
"""How far ahead the clock is: for the command before the run, when the run starts, and while it works."""


@contextmanager
def _scratch() -> Iterator[Scratch]:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(Path(folder) / "repository")
        try:
            yield scratch
        finally:
            scratch.close()


def waited(url: str, before: float, start: float, during: float) -> float:
    """Seconds from the end of the first attempt to the beginning of the second."""
    with _scratch() as scratch:
        address = url or str(scratch.root / ".git/interlock/log.db")
        gate = scratch.gates / "gate"
        scratch.graph("  a: {goal: x, retries: 1}\n", SCRIPT.format(wait=WAIT.format(gate=gate)))
        scratch.interlock("pause")
        try:
            set_ahead(address, before)
            scratch.interlock("unpause")
            set_ahead(address, start)
            run = scratch.start("run")
            run.wait_for_line("a: implement started")
            set_ahead(address, during)
            gate.touch()
            assert run.wait() == 0, run.output
        finally:
            set_ahead(address, 0)
        logs = [scratch.root / f".git/interlock/logs/a/{attempt}.log" for attempt in (1, 2)]
        first, second = (_times(log) for log in logs)
        return second[0] - first[-1]


def _times(log: Path) -> list[float]:
    words = log.read_text().split()
    return [float(word) for word in words if word.replace(".", "", 1).isdigit() and "." in word]


def main() -> None:
    """Print a line for each store and case."""
    with running_postgres() as url:
        for store, address in (("sqlite", ""), ("postgres", url)):
            os.environ["INTERLOCK_STORE"] = address
            for name, moves in CASES.items():
                line = f"{store:9} {name:42} {waited(address, *moves):6.2f} s"
                print(line, flush=True)  # noqa: T201 - it is run by hand


if __name__ == "__main__":
    main()

"""A small engine for tests that kill or pause it: runs one shell script and prints how it ended.

Usage: engine_driver.py <containment or ''> <folder> <mark> <lease seconds> <script>
"""

import asyncio
import os
import resource
import sys
from pathlib import Path

from interlock.model.process import Command
from interlock.process.containment import Containment
from interlock.process.processes import LocalProcesses


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def main(kind: str, folder: Path, mark: str, lease_seconds: float, script: str) -> None:
    processes = LocalProcesses(Containment(kind) if kind else None)
    env = {"PATH": os.environ["PATH"], "UP": str(folder / "up"), "MARKED": mark}
    lines = 0

    def count(_: str) -> None:
        nonlocal lines
        lines += 1

    command = Command(
        ("sh", "-c", script),
        str(folder),
        str(folder / "log"),
        env,
        lease_seconds=lease_seconds,
        pid_file=str(folder / "pid"),
    )
    before = peak_kib()
    ended = await processes.run(command, count)
    print(processes.containment, ended.ended, ended.code, lines, ended.log_bytes, peak_kib() - before)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]), sys.argv[5]))

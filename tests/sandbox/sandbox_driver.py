"""A small engine for tests that run it as somebody else, or kill it: one shell script, in the sandbox.

Usage: sandbox_driver.py <kind of sandbox> <folder> <mark> <script>
"""

import asyncio
import os
import sys
from pathlib import Path

from interlock.model.process import Command
from interlock.model.sandbox import Grant, Limits
from interlock.process.choice import SandboxRequest, choose_confinement
from interlock.process.processes import LocalProcesses


async def main(kind: str, folder: Path, mark: str, script: str) -> None:
    wanted = SandboxRequest("landlock" if kind == "landlock" else "bubblewrap")
    processes = LocalProcesses(choose=lambda: choose_confinement(wanted))
    mine = folder / "mine"
    command = Command(
        ("sh", "-c", script),
        str(mine),
        str(folder / "log"),
        {"PATH": os.environ["PATH"], "UP": str(mine / "up"), "MARKED": mark},
        pid_file=str(folder / "pid"),
        grant=Grant(write=(str(mine),), protect=(str(mine / "kept"),), limits=Limits(1 << 30, 60, 1 << 30)),
    )
    ended = await processes.run(command)
    print(processes.sandbox.kind, processes.containment, ended.ended, ended.code)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]))

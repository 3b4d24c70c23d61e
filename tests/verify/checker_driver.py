"""A controller of its own in a process of its own, for tests that stop or kill it: runs one check.

Usage: checker_driver.py <repository> <tree> <lease seconds> <command>...
"""

import asyncio
import sys
from pathlib import Path

from interlock.git.discover import discover
from interlock.git.workspaces import GitWorkspaces
from interlock.model.errors import InterlockError
from interlock.model.task import Tree
from interlock.process import LocalProcesses
from interlock.verify import LocalChecker
from interlock.verify.protocol import CheckOrder
from tests.verify.rooms import OpenRooms


async def main(repository: Path, tree: Tree, lease_seconds: float, commands: tuple[str, ...]) -> None:
    place = await discover(repository)
    processes = LocalProcesses()
    checker = LocalChecker(OpenRooms(GitWorkspaces(place)), processes, place.state)
    if lease_seconds:
        processes.lease.renew(lease_seconds)
    try:
        results = await checker.check(CheckOrder("old/1", tree, commands, 600.0, {}, leased=True))
        print("verdict", [result.exit_code for result in results])  # noqa: T201 - the test reads it
    except InterlockError as problem:
        print(type(problem).__name__)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Tree(sys.argv[2]), float(sys.argv[3]), tuple(sys.argv[4:])))

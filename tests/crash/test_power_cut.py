"""The power fails during `interlock run`, and what was not synced is lost: nothing that landed is.

The repository lies on an ext4 file system in a file, mounted in a mount namespace of its own. The cut is that
of ext4 itself (EXT4_IOC_SHUTDOWN without a flush of its journal, as in xfstests): from that moment on nothing
more reaches the file. Journal commits are far apart and no heuristic syncs a renamed file, so little survives
that no program synced. Then the file is mounted again and the run repeated.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.git_faults import MOMENTS, FaultyGit, Point
from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.crash, pytest.mark.slow]

MEGABYTES = 96
HARSH = "loop,commit=600,noauto_da_alloc,data=writeback"
IN_NAMESPACE = 'mount -o "$1" "$2" "$3" && cd "$3/repository" && shift 3 && exec "$@"'
SHUT_DOWN = """\
import fcntl, os, struct
fcntl.ioctl(os.open({mounted!r}, os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
"""
AGENT = """\
for n in 1 2 3; do echo $INTERLOCK_TASK_ID > $INTERLOCK_TASK_ID$n.txt; done
echo $INTERLOCK_TASK_ID >> list.txt
"""
TASKS = ("a", "b", "c")
NIGHT_CUTS = int(os.environ.get("INTERLOCK_POWER_CUTS", "50"))


class Disk:
    """A file system in a file; each command sees it mounted, and nothing else does."""

    def __init__(self, image: Path, mounted: Path) -> None:
        self.image, self.mounted = image, mounted

    def run(self, *argv: str, path: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command in the repository on the disk."""
        unshare = ("unshare", "--mount", "sh", "-c", IN_NAMESPACE, "sh", HARSH)
        env = os.environ | {"INTERLOCK_HOST_BRAKE": "false", "PATH": f"{path}{os.environ['PATH']}"}
        return subprocess.run(
            (*unshare, str(self.image), str(self.mounted), *argv),
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def interlock(self, *argv: str, path: str = "") -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "interlock", *argv, path=path)

    def copied(self, to: Path) -> "Disk":
        """What is in the file now."""
        subprocess.run(("cp", "--sparse=always", str(self.image), str(to)), check=True)
        return Disk(to, self.mounted)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    """A disk with the repository, all of it synced."""
    folder = tmp_path_factory.mktemp("disk")
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "unshare", "mount"))):
        pytest.skip("a file system in a file can be mounted only by root, with mkfs.ext4 and unshare")
    scratch = Scratch(folder / "content/repository")
    scratch.write(list__txt="start\n")
    order = "".join(
        f"  {task}: {{goal: {task}, needs: [{need}]}}\n"
        for task, need in zip(TASKS, ("", "a", "b"), strict=True)
    )
    scratch.graph(order, AGENT, verify='"test -s list.txt"')
    scratch.gates.rmdir()
    disk = Disk(folder / "image", folder / "mounted")
    disk.mounted.mkdir()
    subprocess.run(("truncate", "-s", f"{MEGABYTES}M", str(disk.image)), check=True)
    subprocess.run(("mkfs.ext4", "-q", "-F", "-d", str(scratch.root.parent), str(disk.image)), check=True)
    tried = disk.run("git", "status", "--porcelain")
    if tried.returncode:
        pytest.skip(f"a file system in a file cannot be mounted here: {tried.stderr.strip()}")
    return disk


@pytest.fixture(scope="module")
def processes(fresh: Disk, tmp_path_factory: pytest.TempPathFactory) -> int:
    """The number of git processes in a run without a cut."""
    folder = tmp_path_factory.mktemp("counted")
    git = FaultyGit(folder / "bin")
    git.set(Point("before", 0))
    disk = fresh.copied(folder / "image")
    done = disk.interlock("run", path=f"{git.folder}:")
    assert done.returncode == 0, done.stdout + done.stderr
    check(disk, done.stdout)
    return git.processes


def cut_and_go_on(fresh: Disk, point: Point, folder: Path) -> None:
    git = FaultyGit(folder / "bin")
    (git.folder / "cut.py").write_text(SHUT_DOWN.format(mounted=str(fresh.mounted)))
    strike = f"'{sys.executable}' -I -S '{git.folder}/cut.py'; kill -9 \"$PPID\""
    git.set(Point(point.moment, point.number, point.only, strike))
    disk = fresh.copied(folder / "before")
    cut = disk.interlock("run", path=f"{git.folder}:")
    after = disk.copied(folder / "after")
    again = after.interlock("run")
    runs = (cut.stdout, cut.stderr, "then:", again.stdout, again.stderr)
    where = "\n".join((f"{point}: {git.struck or 'never reached'}", *runs))
    assert again.returncode == 0, where
    try:
        check(after, cut.stdout + again.stdout)
    except AssertionError as wrong:
        raise AssertionError(where) from wrong
    shutil.rmtree(folder)


def check(disk: Disk, said: str) -> None:
    """All that was ever said to have landed is on main, each task once, and the checkout is clean."""
    landed = set(re.findall(r": landed as ([0-9a-f]+)", said))
    log = disk.run("git", "log", "--format=%H %s", "main").stdout.split("\n")[:-1]
    assert [line.split()[1] for line in log] == [*reversed(TASKS), "work"]
    assert all(any(line.startswith(commit) for line in log) for commit in landed), (landed, log)
    fsck = disk.run("git", "fsck", "--strict", "--no-dangling")
    assert (fsck.returncode, fsck.stdout) == (0, ""), fsck.stderr
    assert disk.run("git", "status", "--porcelain", "--untracked-files=all").stdout == ""
    assert disk.run("cat", "list.txt").stdout.split() == ["start", *TASKS]


def test_power_cut_around_a_landing_loses_nothing_that_landed(fresh: Disk, tmp_path: Path) -> None:
    cut_and_go_on(fresh, Point("after", 2, "read-tree -m -u"), tmp_path / "one")


@pytest.mark.night
def test_many_power_cuts_lose_nothing_that_landed(fresh: Disk, processes: int, tmp_path: Path) -> None:
    dice = random.Random(50)
    for number in range(NIGHT_CUTS):
        point = Point(dice.choice(MOMENTS), dice.randint(1, processes))
        cut_and_go_on(fresh, point, tmp_path / str(number))

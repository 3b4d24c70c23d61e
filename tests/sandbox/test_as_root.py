"""Interlock as root, as in containers and CI: no agent, check or set-up is root outside (D11)."""

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from interlock.model.sandbox import Overlay
from interlock.process.choice import SandboxRequest, try_all
from interlock.sandbox.unprivileged import FIRST, free_number
from tests.engine.scratch import INTERLOCK, WAIT, Scratch
from tests.run.tree import linux
from tests.sandbox.room import FULL, REDUCED, Room, furnished

pytestmark = [
    linux,
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="we are not root"),
]

NOT_ROOT = 'test "$(stat -c %u /proc/sys/kernel)" != "$(id -u)"'
"""The kernel's settings are the machine's root's: inside, that is another number than the program's own."""
WRITABLE = """
import os
tops = ("/proc/sys", "/proc/irq", "/proc/acpi", "/proc/bus", "/sys")
names = [f"{folder}/{name}" for top in tops for folder, _, names in os.walk(top) for name in names]
found = []
for name in [*names, "/proc/mtrr", "/proc/sysrq-trigger"]:
    try:
        if os.access(name, os.W_OK):
            os.close(os.open(name, os.O_WRONLY))
            found.append(name)
    except OSError:
        pass
print(sorted(found)[:9])
"""
ROOTS_OWN = ("/proc/slabinfo", "/proc/kpagecount", "/proc/kpageflags", "/proc/vmallocinfo")
"""Files that the kernel lets root alone read, by its number."""


@pytest.fixture(params=[*FULL, *REDUCED])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Room:
    return furnished(tmp_path, request.param)


def test_agents_checks_and_set_ups_of_root_are_not_root(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "repository")
    gate = scratch.gates / "go"
    script = f"{NOT_ROOT} && cp deps/one one.txt; echo it is up; exec sh -c '{WAIT.format(gate=gate)}'"
    scratch.write(install__sh=f"{NOT_ROOT} && mkdir deps && echo one > deps/one\n", __gitignore="deps/\n")
    scratch.write(check__sh=NOT_ROOT + "\n")
    setup = '{run: "sh install.sh", key: [install.sh], makes: [deps]}'
    scratch.graph("  t: {goal: x, done_when: sh check.sh}\n", script, setup=setup, verify="sh check.sh")
    running = scratch.start("run")
    try:
        running.wait_for_line("t: implement started")
        scratch.wait_for_output("t", "it is up")
        numbers = numbers_of(str(gate))
    finally:
        gate.touch()
        running.wait()
        scratch.close()
    assert numbers, "the agent and its sandbox were seen from outside"
    assert min(numbers) >= FIRST
    assert scratch.states() == {"t": "done"}
    assert scratch.git("show", "main:one.txt") == "one"


def numbers_of(word: str) -> set[int]:
    """The users and groups of the process with this word in its command, and of the sandbox around it."""
    (inside,) = (each for each in psutil.process_iter() if word in " ".join(_words(each)))
    around = [each for each in inside.parents() if each.name() == "bwrap"]
    return {number for each in (inside, *around) for number in (*each.uids(), *each.gids())}


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_no_setting_of_the_machine_can_be_opened_for_writing(room: Room) -> None:
    assert room.python(WRITABLE).tail == "[]"


def test_what_the_kernel_keeps_for_root_cannot_be_opened(room: Room) -> None:
    there = [name for name in ROOTS_OWN if Path(name).exists()]
    assert there
    assert (
        room.sh(f"for file in {' '.join(there)}; do (exec < $file) 2>/dev/null && echo $file; done").tail
        == ""
    )


def test_what_a_program_writes_is_its_own_inside_and_roots_on_the_disk(room: Room) -> None:
    script = (
        "echo new > new; mkdir folder; stat -c %u . kept new folder | sort -u; id -u; echo said > /dev/stdout"
    )
    said = room.sh(script).tail.split()
    assert said == [said[0], said[0], "said"]
    assert {path.stat().st_uid for path in (room.mine, *room.mine.iterdir())} == {0}


def test_a_folder_that_a_link_leads_to_is_reached_by_both_names(room: Room, tmp_path: Path) -> None:
    """Through folders that are root's alone, by either name."""
    for name in ("real", "links"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name).chmod(0o700)
    (link := tmp_path / "links" / "link").symlink_to(tmp_path / "real" / "inner")
    (tmp_path / "real" / "inner" / "file").write_text("here\n")
    assert room.sh(f"cat '{link}/file'", read=(str(link),)).tail == "here"


def test_the_user_has_a_name(room: Room) -> None:
    """Programs fail if the user they run as has none: git when it commits, node in `os.userInfo`."""
    assert room.sh("id -un; id -gn; getent passwd root | cut -d: -f1").tail.split()[:2] == ["agent", "agent"]
    assert "agent" not in {line.partition(":")[0] for line in Path("/etc/passwd").read_text().splitlines()}


def test_programs_of_one_user_share_no_memory_files(room: Room) -> None:
    name = f"/dev/shm/{room.mark}"  # noqa: S108 - to be seen by no other program
    room.sh(f"echo one > {name}; test -e {name} && echo made")
    assert not Path(name).exists()
    assert room.sh(f"test -e {name} && echo seen").tail == ""


def test_an_overlay_of_roots_files_can_be_changed(tmp_path: Path) -> None:
    room = furnished(tmp_path, "bubblewrap")
    lower, upper, work, merged = (tmp_path / name for name in ("lower", "upper", "work", "merged"))
    for folder in (lower, upper, work, merged):
        folder.mkdir(mode=0o700)
    (lower / "old").write_text("old\n")
    (lower / "old").chmod(0o600)
    shown = Overlay((str(lower),), str(upper), str(work), str(merged), "/srv/shown")
    ended = room.sh(
        "cat old; echo new >> old; cat old; rm old; ls", overlays=(shown,), directory="/srv/shown"
    )
    assert ended.tail.split() == ["old", "old", "new"]
    assert (lower / "old").read_text() == "old\n"
    assert (upper / "old").is_char_device(), "removed, as the kernel notes it"


def test_root_that_may_not_mount_starts_nothing_and_is_told_what_to_do(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path / "repository")
    scratch.graph("  t: {goal: x}\n", verify="'true'")
    words = ("setpriv", "--bounding-set=-sys_admin", *INTERLOCK, "run")
    refused = subprocess.run(
        words, cwd=scratch.root, capture_output=True, text=True, timeout=120, check=False
    )
    assert refused.returncode == 7, refused.stdout + refused.stderr
    assert "to an unprivileged user" in refused.stderr
    assert "docker run --user" in refused.stderr
    assert scratch.facts() == []


def test_root_gets_no_container(tmp_path: Path) -> None:
    (tried,) = try_all(SandboxRequest("container", image="image"))
    assert tried.confinement is None
    assert "--user" in tried.fix


def test_the_number_is_in_no_range_of_another_user(tmp_path: Path) -> None:
    (ranges := tmp_path / "subuid").write_text(f"somebody:{FIRST - 10}:12\nnonsense\n")
    assert free_number([ranges]) == FIRST + 2

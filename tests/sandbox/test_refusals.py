"""What sandboxes say when they fail, and the fix for each (S10)."""

from pathlib import Path

import pytest

from interlock.model.errors import CannotStart
from interlock.sandbox.refusals import (
    APPARMOR,
    MASKED_PROC,
    NETWORK,
    NO_FILTER,
    NONE_LEFT,
    SLAVE,
    SYSCTL,
    BrokenSandbox,
    fix_for,
    got_nowhere,
    install_command,
    said,
    says_no_program,
)


@pytest.mark.parametrize(
    ("message", "fix"),
    [
        ("setting up uid map: Permission denied", APPARMOR),
        ("unshare: write failed /proc/self/uid_map: Operation not permitted", APPARMOR),
        ("loopback: Failed RTM_NEWADDR: Operation not permitted", NETWORK),
        ("Failed RTM_NEWLINK: Operation not permitted", NETWORK),
        ("no way out of its network: Operation not permitted", NETWORK),
        ("No permissions to create a new namespace, likely because the kernel does not allow it", SYSCTL),
        ("Creating new namespace failed: Operation not permitted", SYSCTL),
        ("Can't mount proc on /newroot/proc: Operation not permitted", MASKED_PROC),
        ("prctl(PR_SET_SECCOMP): Invalid argument", NO_FILTER),
        ("Failed to make / slave: Permission denied", SLAVE),
        ("something else", ""),
    ],
)
def test_each_known_message_has_its_fix(message: str, fix: str) -> None:
    assert fix_for(message) == fix


@pytest.mark.parametrize(("left", "fix"), [("0", NETWORK), ("1000", NONE_LEFT)])
def test_where_no_namespace_is_left_the_kind_is_named(tmp_path: Path, left: str, fix: str) -> None:
    (tmp_path / "max_net_namespaces").write_text(f"{left}\n")
    message = (
        "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)"
    )
    assert fix_for(message, tmp_path) == fix


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("ID=debian\n", "sudo apt-get install bubblewrap"),
        ('ID=pop\nID_LIKE="ubuntu debian"\n', "sudo apt-get install bubblewrap"),
        ("ID=fedora\n", "sudo dnf install bubblewrap"),
        ("ID=arch\n", "sudo pacman -S bubblewrap"),
        ("ID=plan9\n", "install the package bubblewrap"),
    ],
)
def test_the_way_to_install_it_is_this_systems(tmp_path: Path, text: str, command: str) -> None:
    (tmp_path / "os-release").write_text(text)
    assert install_command(tmp_path / "os-release") == command
    assert install_command(tmp_path / "gone") == "install the package bubblewrap"


def test_a_program_that_is_missing_is_told_from_a_sandbox_that_is_broken() -> None:
    missing = got_nowhere("tool", "bwrap: execvp tool: No such file or directory\n")
    assert isinstance(missing, CannotStart)
    assert str(missing) == "program not found: tool"
    broken = got_nowhere("tool", "bwrap: Can't find source path /gone: No such file or directory\n")
    assert isinstance(broken, BrokenSandbox)
    assert "Can't find source path /gone" in str(broken)


def test_only_a_last_line_with_the_right_status_says_that_a_program_is_missing() -> None:
    line = "bwrap: execvp tool: No such file or directory"
    assert says_no_program(127, f"output\n{line}")
    assert not says_no_program(1, line)
    assert not says_no_program(127, f"{line}\nmore")


def test_of_several_lines_the_one_that_tells_is_picked() -> None:
    assert said("noise\nbwrap: the reason\nmore") == "the reason"
    assert said("noise\nlast\n\n") == "last"
    assert said("") == "it said nothing"

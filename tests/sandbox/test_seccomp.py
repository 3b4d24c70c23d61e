"""The filter of system calls: judged by running it, on both processors, and by asking the kernel (D11)."""

import struct

import pytest

from interlock.sandbox import seccomp
from tests.run.tree import linux
from tests.sandbox.room import Room

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = list(seccomp.AUDIT_ARCHITECTURE)
CALLS = {"read": (0, 63), "openat": (257, 56), "execve": (59, 221), "connect": (42, 203), "futex": (202, 98)}
"""What no program can do without."""


def judged(program: bytes, machine: str, call: int, *arguments: int, architecture: int = 0) -> int:
    """What the kernel would answer: the filter run on one system call."""
    words = [*arguments, *([0] * (6 - len(arguments)))]
    packed = struct.pack("=iIQ6Q", call, architecture or seccomp.AUDIT_ARCHITECTURE[machine], 0, *words)
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, held = 0, 0
    while True:
        operation, yes, no, number = code[at]
        at += 1
        if operation == 0x20:
            held = struct.unpack_from("=I", packed, number)[0]
        elif operation == 0x54:
            held &= number
        elif operation == 0x06:
            return int(number)
        else:
            holds = {0x15: held == number, 0x35: held >= number, 0x45: bool(held & number)}[operation]
            at += yes if holds else no


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def numbers(machine: str, table: dict[str, tuple[int, int]]) -> dict[str, int]:
    column = MACHINES.index(machine)
    return {name: both[column] for name, both in table.items() if both[column] != seccomp.ABSENT}


def test_what_is_refused_is_refused_whatever_its_arguments(machine: str) -> None:
    program = seccomp.program(machine)
    for name, number in numbers(machine, seccomp.REFUSED).items():
        assert judged(program, machine, number, 2**64 - 1) == ERRNO | seccomp.EPERM, name
    for name, number in numbers(machine, seccomp.NOT_THERE).items():
        assert judged(program, machine, number) == ERRNO | seccomp.ENOSYS, name


def test_a_copy_without_reading_is_not_there(machine: str) -> None:
    """The kernel notes no access then, and a check would be said not to have read what it copied."""
    program, ioctl = seccomp.program(machine), seccomp.IOCTL[MACHINES.index(machine)]
    for request in seccomp.CLONES:
        assert judged(program, machine, ioctl, 1, request) == ERRNO | seccomp.EOPNOTSUPP


def test_what_every_program_needs_is_allowed(machine: str) -> None:
    for alone in (True, False):
        program = seccomp.program(machine, alone=alone)
        for name, number in numbers(machine, CALLS).items():
            assert judged(program, machine, number) == ALLOW, name


def test_another_processors_calls_end_the_program(machine: str) -> None:
    i386 = 0x40000003
    assert judged(seccomp.program(machine), machine, 0, architecture=i386) == KILL
    if machine == "x86_64":
        x32 = seccomp.X32_BIT | seccomp.REFUSED["ptrace"][0]
        assert judged(seccomp.program(machine), machine, x32) == ERRNO | seccomp.ENOSYS


@pytest.mark.parametrize(
    "flag", [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_no_new_namespace_comes_of_clone_or_unshare(machine: str, flag: int) -> None:
    program, column = seccomp.program(machine), MACHINES.index(machine)
    thread = 0x3D0F00
    for call in (seccomp.CLONE[column], seccomp.UNSHARE[column]):
        assert judged(program, machine, call, flag) == ERRNO | seccomp.EPERM
        assert judged(program, machine, call, flag | thread) == ERRNO | seccomp.EPERM
    assert judged(program, machine, seccomp.CLONE[column], thread) == ALLOW
    assert judged(program, machine, seccomp.CLONE[column], 17) == ALLOW, "a fork that sends SIGCHLD"
    assert judged(program, machine, seccomp.UNSHARE[column], 0x400) == ALLOW, "files of its own"


def test_no_file_is_made_that_gives_its_owners_rights(machine: str) -> None:
    program, column = seccomp.program(machine), MACHINES.index(machine)
    calls = {name: row for name, row in seccomp.MODES.items() if row[column] != seccomp.ABSENT}
    assert {"fchmod", "fchmodat", "fchmodat2", "mknodat"} <= set(calls)
    for name, row in calls.items():
        for mode in (0o4755, 0o2755, 0o6777, 0o104700):
            assert judged(program, machine, row[column], *([0] * row[2]), mode) == ERRNO | seccomp.EPERM, name
        for mode in (0, 0o755, 0o1777, 0o100644):
            assert judged(program, machine, row[column], *([0] * row[2]), mode) == ALLOW, name


def test_a_file_is_not_opened_into_being_with_its_owners_rights(machine: str) -> None:
    program, column = seccomp.program(machine), MACHINES.index(machine)
    for name, row in seccomp.OPENS.items():
        if row[column] != seccomp.ABSENT:
            before = [0] * row[2]
            for flags in (0o101, 0o20200001):
                answer = judged(program, machine, row[column], *before, flags, 0o4755)
                assert answer == ERRNO | seccomp.EPERM, name
                assert judged(program, machine, row[column], *before, flags, 0o755) == ALLOW, name
            assert judged(program, machine, row[column], *before, 0, 0o4755) == ALLOW, "it is not looked at"


def test_nobody_is_made_to_type_into_a_terminal(machine: str) -> None:
    program, call = seccomp.program(machine), seccomp.IOCTL[MACHINES.index(machine)]
    for request in seccomp.TERMINAL_INPUT:
        assert judged(program, machine, call, 0, request) == ERRNO | seccomp.EPERM
        assert judged(program, machine, call, 0, request | 1 << 32) == ERRNO | seccomp.EPERM, "the high half"
    assert judged(program, machine, call, 0, 0x5401) == ALLOW


@pytest.mark.parametrize(
    ("words", "alone", "among_others"),
    [
        ((1, 1, 0), True, False),  # a unix socket
        ((2, 1, 0), True, True),  # TCP
        ((2, 0o2000001, 6), True, True),  # TCP, closed on exec
        ((10, 1, 0), True, True),
        ((2, 2, 0), True, False),  # UDP
        ((2, 0o2000002, 17), True, False),
        ((2, 1, 262), True, False),  # multipath TCP, which Landlock does not see
        ((2, 3, 1), True, False),  # raw
        ((16, 3, 0), True, False),  # netlink: the network's interfaces
        ((16, 3, 9), False, False),  # netlink: audit
        ((17, 3, 0), False, False),  # packets
        ((40, 1, 0), False, False),  # virtual machines
        ((38, 5, 0), False, False),  # the kernel's ciphers
    ],
)
def test_sockets_are_of_the_usual_families(
    machine: str, words: tuple[int, int, int], alone: bool, among_others: bool
) -> None:
    call = seccomp.SOCKET[MACHINES.index(machine)]
    for allowed, program in ((alone, True), (among_others, False)):
        answer = judged(seccomp.program(machine, alone=program), machine, call, *words)
        assert (answer == ALLOW) is allowed


def test_on_the_hosts_network_nothing_connects_or_listens_past_landlock(machine: str) -> None:
    """Sending with MSG_FASTOPEN opens a connection, and a socket that was never bound can listen."""
    column = MACHINES.index(machine)
    for alone in (True, False):
        program = seccomp.program(machine, alone=alone)
        wanted = ALLOW if alone else ERRNO | seccomp.EPERM
        for name, row in seccomp.SENDS.items():
            before = [0] * row[2]
            for flags in (0x20000000, 0x20004000):
                assert judged(program, machine, row[column], *before, flags) == wanted, name
            assert judged(program, machine, row[column], *before, 0x4000) == ALLOW, name
        assert judged(program, machine, seccomp.SHARED["listen"][column], 3, 5) == wanted


def test_no_process_outside_is_changed_where_they_are_shared(machine: str) -> None:
    """A limit of one second of processor time ended Interlock itself."""
    column = MACHINES.index(machine)
    for alone in (True, False):
        program = seccomp.program(machine, alone=alone)
        for name, row in seccomp.OTHERS.items():
            before = [0] * row[2]
            wanted = ALLOW if alone else ERRNO | seccomp.EPERM
            assert judged(program, machine, row[column], *before, 4711) == wanted, name
            assert judged(program, machine, row[column], *before, 0) == ALLOW, name


TRY = """
import ctypes, errno, socket, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "fine") if libc.syscall(*words) == -1 else "fine"
import platform
column = ["x86_64", "aarch64"].index(platform.machine())
for name, numbers in {calls!r}.items():
    print(name, call(numbers[column], 0, 0, 0, 0, 0, 0))
print("newuser", call({unshare!r}[column], 0x10000000))
for family in (socket.AF_PACKET, 40):
    try: socket.socket(family, socket.SOCK_RAW); print("socket fine")
    except OSError as error: print("socket", errno.errorcode[error.errno])
thread = threading.Thread(target=print, args=("thread fine",)); thread.start(); thread.join()
"""


@linux
@pytest.mark.sandbox
@pytest.mark.slow
def test_the_kernel_gives_the_same_answers(room: Room) -> None:
    calls = {
        name: seccomp.REFUSED[name]
        for name in (
            "ptrace",
            "mount",
            "keyctl",
            "bpf",
            "userfaultfd",
            "perf_event_open",
            "open_by_handle_at",
        )
    }
    calls |= {"io_uring_setup": seccomp.NOT_THERE["io_uring_setup"]}
    said = room.python(TRY.format(calls=calls, unshare=seccomp.UNSHARE)).tail.splitlines()
    assert said[-1] == "thread fine"
    assert said[:7] == [f"{name} EPERM" for name in list(calls)[:7]]
    assert said[7:9] == ["io_uring_setup ENOSYS", "newuser EPERM"]
    assert all(line in ("socket EAFNOSUPPORT", "socket EPERM") for line in said[9:11])


SPECIAL = """
import os
os.close(os.open("plain", os.O_CREAT, 0o755))
def tried(act):
    try:
        act()
    except PermissionError:
        print("refused")
for mode in (0o4755, 0o2755):
    tried(lambda: os.chmod("plain", mode))
    tried(lambda: os.fchmod(os.open("plain", os.O_RDONLY), mode))
    tried(lambda: os.open("made", os.O_CREAT, mode))
    tried(lambda: os.mknod("made", 0o100000 | mode))
os.chmod("plain", 0o700)
"""


@linux
@pytest.mark.sandbox
@pytest.mark.slow
def test_the_kernel_refuses_files_that_give_their_owners_rights(room: Room) -> None:
    assert room.python(SPECIAL).tail.split() == ["refused"] * 8
    assert [path.name for path in room.mine.iterdir() if path.stat().st_mode & 0o6000] == []
    assert (room.mine / "plain").stat().st_mode & 0o777 == 0o700

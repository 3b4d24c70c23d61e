"""The system calls that a sandboxed program is refused, as the program the kernel runs at each call.

Made here rather than shipped as bytes: this way a reader sees what is in it. It adds to the namespaces and
mounts and does not replace them: it shuts the parts of the kernel that have been ways out before.

1. Another processor's way of calling (32-bit on x86_64) would have other numbers: such a program is killed.
2. Refused is what no build, test or agent needs. "Not there" (ENOSYS) is said where programs have a second
   way, "not permitted" elsewhere.
"""

import functools
import platform
import struct

EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 38, 95, 97

AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000

ABSENT = -1
REFUSED: dict[str, tuple[int, int]] = {
    # name: (number on x86_64, number on aarch64)
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "setns": (308, 268),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "lookup_dcookie": (212, 18),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "iopl": (172, ABSENT),
    "ioperm": (173, ABSENT),
    "modify_ldt": (154, ABSENT),
    "uselib": (134, ABSENT),
    "nfsservctl": (180, 42),
}
NOT_THERE: dict[str, tuple[int, int]] = {
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Their arguments are in memory, where no filter can look; `clone` and `openat` do the same.
    "clone3": (435, 435),
    "openat2": (437, 437),
    # The kernel notes no access to a file of an overlay that is copied so; `cp` then reads it instead.
    "copy_file_range": (326, 285),
}
NAMED: dict[str, tuple[int, int]] = {
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
}
"""Memory, semaphores and queues that any program finds by name."""
SHARED: dict[str, tuple[int, int]] = {
    # A socket that was never bound gets a port when it listens, and Landlock sees binding only.
    "listen": (50, 201),
    # It names a process, a group or a user.
    "ioprio_set": (251, 30),
}
"""Refused only if the program shares the host's network and processes."""
SENDS: dict[str, tuple[int, int, int]] = {
    # name: (number on x86_64, number on aarch64, which argument is the flags)
    "sendto": (44, 206, 3),
    "sendmsg": (46, 211, 2),
    "sendmmsg": (307, 269, 3),
}
FAST_OPEN = 0x20000000
"""MSG_FASTOPEN connects as it sends, and Landlock sees `connect` only."""
OTHERS: dict[str, tuple[int, int, int]] = {
    # name: (number on x86_64, number on aarch64, which argument names the process: 0 is its own)
    "prlimit64": (302, 261, 0),
    "sched_setparam": (142, 118, 0),
    "sched_setscheduler": (144, 119, 0),
    "sched_setaffinity": (203, 122, 0),
    "sched_setattr": (314, 274, 0),
}
"""Calls that change another process of the same user: a limit on its processor time ends it."""
SET_PRIORITY = (141, 140)
"""One of them. Its first argument says what the second names: 0 a process; a group or a user holds others."""
SOCKET, SOCKETPAIR, IOCTL, CLONE, UNSHARE = (41, 198), (53, 199), (16, 29), (56, 220), (272, 97)

NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
"""CLONE_NEW*: mount, cgroup, uts, ipc, user, pid, net, time."""
NEW_IN_CLONE = NAMESPACES & ~0xFF
"""The low byte of clone's flags is the signal to send at the end, so time cannot be asked for there."""
TERMINAL_INPUT = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX type into the terminal of another user."""
CLONES = (0x40049409, 0x4020940D)
"""FICLONE and FICLONERANGE copy a file unread, as copy_file_range does: programs then read and write."""

MODES: dict[str, tuple[int, int, int]] = {
    # name: (number on x86_64, number on aarch64, which argument is the mode)
    "chmod": (90, ABSENT, 1),
    "fchmod": (91, 52, 1),
    "fchmodat": (268, 53, 2),
    "fchmodat2": (452, 452, 2),
    "mknod": (133, ABSENT, 1),
    "mknodat": (259, 33, 2),
    "creat": (85, ABSENT, 1),
}
OPENS: dict[str, tuple[int, int, int]] = {
    # name: (number on x86_64, number on aarch64, which argument is the flags; the mode comes after them)
    "open": (2, ABSENT, 1),
    "openat": (257, 56, 2),
}
MAKES_A_FILE = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: without them no mode is given, and the argument may hold anything."""
SPECIAL_MODE = 0o6000
"""setuid and setgid: outside the sandbox, such a file gives its owner's rights to all users who start it."""

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
STREAM = 1

_LOAD, _AND, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

Instruction = tuple[int, int, int, int]
"""Code, how many to skip if it holds, how many if not, and its number."""


def program(machine: str = "", *, alone: bool = True, by_name: bool = True) -> bytes:
    """The filter for this processor.

    `alone`: the program has a network and processes of its own. Otherwise it must not speak to others but by
    TCP, which others see to: no datagrams, no other program's unix socket. Nor may it change other processes.
    `by_name`: it may use unix sockets and what is `NAMED`, as it sees none of others.
    """
    return _program(machine or platform.machine(), alone, by_name)


@functools.cache
def _program(machine: str, alone: bool, by_name: bool) -> bytes:
    column = list(AUDIT_ARCHITECTURE).index(machine)
    words: list[Instruction] = [
        _load(_ARCHITECTURE),
        (_EQUAL, 1, 0, AUDIT_ARCHITECTURE[machine]),
        _give(_KILL),
        _load(_NUMBER),
    ]
    if machine == "x86_64":
        words += [(_ABOVE, 0, 1, X32_BIT), _give(_ERRNO | ENOSYS)]
    refused = REFUSED | ({} if by_name else NAMED) | ({} if alone else SHARED)
    for numbers, error in ((refused, EPERM), (NOT_THERE, ENOSYS)):
        for name in numbers:
            if numbers[name][column] != ABSENT:
                words += [(_EQUAL, 0, 1, numbers[name][column]), _give(_ERRNO | error)]
    words += _if_called(CLONE[column], [_argument(0), (_ANY_BIT, 0, 1, NEW_IN_CLONE), _give(_ERRNO | EPERM)])
    words += _if_called(UNSHARE[column], [_argument(0), (_ANY_BIT, 0, 1, NAMESPACES), _give(_ERRNO | EPERM)])
    for call in MODES.values():
        if call[column] != ABSENT:
            words += _if_called(call[column], _no_special_mode(call[2]))
    for call in OPENS.values():
        if call[column] != ABSENT:
            check = _no_special_mode(call[2] + 1)
            opens = [_argument(call[2]), (_ANY_BIT, 0, len(check), MAKES_A_FILE), *check]
            words += _if_called(call[column], opens)
    if not alone:
        words += _on_the_hosts_network(column)
    words += _if_called(IOCTL[column], _ioctls())
    words += _if_called(SOCKET[column], _sockets(by_name) if alone else _tcp_only())
    words += _if_called(SOCKETPAIR[column], _only_families(AF_UNIX))
    words.append(_give(_ALLOW))
    return b"".join(struct.pack("=HBBI", *word) for word in words)


def _on_the_hosts_network(column: int) -> list[Instruction]:
    """No connection that Landlock does not see, and no call that changes a process outside."""
    words: list[Instruction] = []
    for call in SENDS.values():
        check = [_argument(call[2]), (_ANY_BIT, 0, 1, FAST_OPEN), _give(_ERRNO | EPERM)]
        words += _if_called(call[column], check)
    for call in OTHERS.values():
        words += _if_called(call[column], _only_zero(call[2]))
    both = _only_zero(0) + _only_zero(1)
    return words + _if_called(SET_PRIORITY[column], both)


def _only_zero(argument: int) -> list[Instruction]:
    return [_argument(argument), (_EQUAL, 1, 0, 0), _give(_ERRNO | EPERM)]


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _argument(index: int) -> Instruction:
    """The low half of an argument: on both processors it comes first, and the kernel looks at no more."""
    return _load(_ARGUMENTS + 8 * index)


def _give(answer: int) -> Instruction:
    return (_RETURN, 0, 0, answer)


def _if_called(number: int, then: list[Instruction]) -> list[Instruction]:
    """`then` for one system call, and allow what it does not refuse."""
    body = [*then, _give(_ALLOW)]
    return [(_EQUAL, 0, len(body), number), *body]


def _no_special_mode(argument: int) -> list[Instruction]:
    return [_argument(argument), (_ANY_BIT, 0, 1, SPECIAL_MODE), _give(_ERRNO | EPERM)]


def _ioctls() -> list[Instruction]:
    words = [_argument(1)]
    for requests, error in ((TERMINAL_INPUT, EPERM), (CLONES, EOPNOTSUPP)):
        for request in requests:
            words += [(_EQUAL, 0, 1, request), _give(_ERRNO | error)]
    return words


def _only_families(*families: int) -> list[Instruction]:
    words = [_argument(0)]
    for family in families:
        words += [(_EQUAL, 0, 1, family), _give(_ALLOW)]
    return [*words, _give(_ERRNO | EAFNOSUPPORT)]


def _sockets(by_name: bool) -> list[Instruction]:
    """The usual families; of netlink only protocol 0, which lists the network's interfaces."""
    netlink = [_argument(2), (_EQUAL, 0, 1, 0), _give(_ALLOW), _give(_ERRNO | EAFNOSUPPORT)]
    return [
        _argument(0),
        (_EQUAL, 0, len(netlink), AF_NETLINK),
        *netlink,
        *_only_families(*((AF_UNIX,) if by_name else ()), AF_INET, AF_INET6),
    ]


def _tcp_only() -> list[Instruction]:
    """SOCK_STREAM, whatever flags come with it, and only between machines; protocol 0 or TCP."""
    stream = [_argument(1), (_AND, 0, 0, 0xF), (_EQUAL, 1, 0, STREAM), _give(_ERRNO | EPERM)]
    protocol = [_argument(2), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, 6), _give(_ERRNO | EPERM)]
    return [*stream, *protocol, *_only_families(AF_INET, AF_INET6)]

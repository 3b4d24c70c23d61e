"""Runs a command as on a machine where something is missing: the kernel answers as if it were not there.

    python crippled.py MISSING[,MISSING...] -- COMMAND [ARGUMENT...]

MISSING: landlock, seccomp
"""

import ctypes
import os
import platform
import struct
import sys

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
ENOSYS, EINVAL = 38, 22
ARM = platform.machine() == "aarch64"
LANDLOCK_CREATE = 444
PRCTL, SECCOMP = (167, 277) if ARM else (157, 317)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22

Instruction = tuple[int, int, int, int]


def refuse(call: int, error: int) -> list[Instruction]:
    return [(EQUAL, 0, 1, call), (RETURN, 0, 0, ERRNO | error)]


RULES: dict[str, list[Instruction]] = {
    "landlock": refuse(LANDLOCK_CREATE, ENOSYS),
    "seccomp": [
        *refuse(SECCOMP, ENOSYS),
        # prctl(PR_SET_SECCOMP, ...): look at its first argument, and no further after that
        (EQUAL, 0, 4, PRCTL),
        (LOAD, 0, 0, 16),
        (EQUAL, 0, 1, PR_SET_SECCOMP),
        (RETURN, 0, 0, ERRNO | EINVAL),
        (RETURN, 0, 0, ALLOW),
    ],
}


class Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def cripple(missing: list[str]) -> None:
    words = [(LOAD, 0, 0, 0), *(word for name in missing for word in RULES[name]), (RETURN, 0, 0, ALLOW)]
    program = b"".join(struct.pack("=HBBI", *word) for word in words)
    libc = ctypes.CDLL(None, use_errno=True)
    filters = Filter(len(words), program)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(filters), 0, 0) == 0


if __name__ == "__main__":
    cripple(sys.argv[1].split(","))
    os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - the command of the test

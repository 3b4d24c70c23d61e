"""Becomes a program that the kernel (Landlock, and a filter of system calls) keeps to what it was granted.

    python landlocked.py DETAILS FILTER -- PROGRAM [ARGUMENT...]

DETAILS and FILTER are numbers of open files: words with a NUL after each, two by two, and the filter's bytes.

  env NAME=VALUE   write PATH   read PATH   connect PORT   network shared|own
  as UID=FD   own PATH   see PATH: root starts the program as that user (see staged.py)

1. All or nothing: whatever cannot be done ends this process before the program is one.
2. Rights can only be given up here. After the last step nothing of this process can undo any of it.
"""

# ruff: noqa: PTH101, PTH108, PTH109, PTH123 - pathlib costs more to import than all the rest here

import ctypes
import os
import stat
import sys
import warnings  # noqa: F401 - `os.execvpe` imports it, when Python's own files may be out of reach

CREATE_RULESET, ADD_RULE, RESTRICT_SELF, CAPSET_X86, CAPSET_ARM = 444, 445, 446, 126, 91
BENEATH, PORT = 1, 2
LEAST_ABI = 4
"""The first that knows networks."""
SCOPES_ABI = 6
"""The first that keeps signals in, which a program among the host's own processes needs."""

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL_DEV = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
ALL_OF = {4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Rights to files by ABI; later ones add none."""
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READING = EXECUTE | READ_FILE | READ_DIR
BIND, CONNECT = 1, 2
SCOPES = 3
"""No unix sockets by name, and no signals, to processes outside."""

NO_NEW_PRIVILEGES, SECCOMP, FILTER_MODE, DROP_BOUNDING, AMBIENT, CLEAR_ALL = 38, 22, 2, 24, 47, 4
CAPABILITY_VERSION = 0x20080522

SHARED = "/dev/shm"  # noqa: S108 - one of its own
SHARED_BYTES = 1 << 30
"""Size of shared memory."""
BIND_MOUNT = 0x1000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from interlock.sandbox.outside import staged
else:
    sys.path.append(__file__.removesuffix("/landlocked.py"))
    import staged

    sys.path.pop()

kernel = ctypes.CDLL(None, use_errno=True)


def must(answer: int, doing: str) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        os.write(2, f"landlock: {doing}: {os.strerror(number)}\n".encode())
        os._exit(1)
    return answer


def abi() -> int:
    """0 or less: there is no Landlock."""
    return int(kernel.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


class Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class Port(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


class SyscallFilter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


class LandlockRules:
    """The allowed accesses; every other handled access is refused."""

    def __init__(self, version: int, shared_network: bool) -> None:
        self._all = ALL_OF[min(version, max(ALL_OF))]
        attributes = Ruleset(
            self._all, BIND | CONNECT if shared_network else 0, SCOPES if version >= SCOPES_ABI else 0
        )
        size = ctypes.sizeof(attributes) if version >= SCOPES_ABI else 16
        answer = kernel.syscall(CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
        self._rules = must(answer, "making rules")

    def allow(self, path: str, rights: int) -> None:
        try:
            target = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        is_folder = stat.S_ISDIR(os.fstat(target).st_mode)
        rights &= self._all if is_folder else self._all & OF_A_FILE
        rule = Beneath(rights, target)
        must(kernel.syscall(ADD_RULE, self._rules, BENEATH, ctypes.byref(rule), 0), f"allowing {path}")
        os.close(target)

    def allow_writing(self, path: str) -> None:
        self.allow(path, self._all)

    def allow_connecting(self, port: int) -> None:
        rule = Port(CONNECT, port)
        must(kernel.syscall(ADD_RULE, self._rules, PORT, ctypes.byref(rule), 0), f"allowing port {port}")

    def restrict(self) -> None:
        must(kernel.syscall(RESTRICT_SELF, self._rules, 0), "restricting")
        os.close(self._rules)


def introduce(uid: int) -> None:
    """Give the user a name: programs (git, node) fail if they find none for the user they run as."""
    for name, line in (("passwd", f"agent:x:{uid}:{uid}:agent:/:/bin/sh"), ("group", f"agent:x:{uid}:")):
        copy, place = f"{SHARED}/{name}", f"/etc/{name}"
        if os.access(place, os.R_OK):
            with open(place, "rb") as file:
                known = file.read().rstrip(b"\n")
            with open(copy, "wb") as file:
                file.write(known + f"\n{line}\n".encode())
            os.chmod(copy, 0o644)
            staged.must(
                kernel.mount(copy.encode(), place.encode(), None, ctypes.c_ulong(BIND_MOUNT), None), place
            )
            os.unlink(copy)


def stage(said: "list[tuple[bytes, bytes]]", uid: int) -> None:
    """Give the user what was granted, and a /dev/shm that no other program sees."""
    words: dict[str, list[str]] = {}
    for kind, value in said:
        words.setdefault(os.fsdecode(kind), []).append(os.fsdecode(value))
    directory = os.getcwd()
    try:
        staged.stage(words)
        staged.empty(SHARED, f"mode=1777,size={SHARED_BYTES}")
        introduce(uid)
        os.chdir(directory)
    except OSError as error:
        what = f"landlock: root cannot give {error.filename} to an unprivileged user"
        os.write(2, f"{what}: {error.strerror}\n".encode())
        os._exit(1)


def give_up_capabilities(uid: int) -> None:
    """No file's owner gets them back. With a `uid`, be that user from now on."""
    for number in range(64):
        kernel.prctl(DROP_BOUNDING, number, 0, 0, 0)
    kernel.prctl(AMBIENT, CLEAR_ALL, 0, 0, 0)
    if uid:
        staged.become(uid)
    call = CAPSET_X86 if os.uname().machine == "x86_64" else CAPSET_ARM
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    must(
        kernel.syscall(call, ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())), "giving up rights"
    )


def filter_calls(program: bytes) -> None:
    filters = SyscallFilter(len(program) // 8, program)
    must(kernel.prctl(SECCOMP, FILTER_MODE, ctypes.byref(filters), 0, 0), "filtering system calls")


def whole(descriptor: int) -> bytes:
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def main(details: bytes, filters: bytes, program: "list[str]") -> None:
    words = details.split(b"\0")
    said = list(zip(words[::2], words[1::2], strict=False))
    is_shared = (b"network", b"shared") in said
    if (version := abi()) < (SCOPES_ABI if is_shared else LEAST_ABI):
        must(-1, "this kernel's Landlock is too old")
    uid = next((int(value.partition(b"=")[0]) for kind, value in said if kind == b"as"), 0)
    if uid:
        stage(said, uid)
    rules = LandlockRules(version, is_shared)
    for kind, value in said:
        if kind == b"write":
            rules.allow_writing(os.fsdecode(value))
        elif kind == b"read":
            rules.allow(os.fsdecode(value), READING)
        elif kind == b"connect":
            rules.allow_connecting(int(value))
    env = dict(value.partition(b"=")[::2] for kind, value in said if kind == b"env")
    must(kernel.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "giving up privileges")
    give_up_capabilities(uid)
    rules.restrict()
    filter_calls(filters)
    try:
        os.execvpe(program[0], program, env)  # noqa: S606 - the program that was asked for, as a list of words
    except OSError as error:
        # In bubblewrap's words, which are known outside.
        os.write(2, f"bwrap: execvp {program[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    main(whole(int(sys.argv[1])), whole(int(sys.argv[2])), sys.argv[4:])

"""A process that supervisors are forked from, so that one is ready before it is needed.

To start a supervisor anew takes a Python interpreter, its modules and new namespaces, for every program.
Here the interpreter and the modules are paid for once, and the namespaces in advance. Started by file path
like the supervisor, with nothing in its environment.

1. stdin: each byte asks for one more spare. End of file: the engine is gone, and so is this process.
2. A spare is two processes, as with `unshare`: a keeper outside the new process namespace, and the first
   process inside, which becomes the supervisor. The keeper holds the status pipe until nothing of the tree
   is left, and takes the first process along if it is killed itself.
3. A spare says hello to the engine: the keeper's number, with it a handle on the keeper (a pidfd) and the
   socket on which its order will come. If that socket closes instead, the spare ends.
4. An order has everything: open files, environment, directory. Nothing else of this process reaches the
   program, and what becomes of this process matters to no spare.

Usage: zygote.py KIND alone|shared HELLO
"""

import _socket as socket
import _struct as struct
import ctypes
import fcntl
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence

    from interlock.process import supervisor
else:
    import _signal as signal

    sys.path.append(__file__.removesuffix("/zygote.py"))
    import supervisor

    sys.path.pop()

USER, PROCESSES, NETWORK, MOUNTS = 0x10000000, 0x20000000, 0x40000000, 0x20000
"""CLONE_NEW...: what `unshare` takes."""
RECURSIVE_PRIVATE, NO_SUID_NO_DEVICES_NO_EXEC = 0x4000 | 0x40000, 2 | 4 | 8
DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG."""
MOST_FILES = 64
FIRST_FILES = 4
"""The order itself, then what becomes 0, 1 and 2."""

kernel = ctypes.CDLL(None, use_errno=True)


def must(answer: int) -> None:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def send(wire: socket.socket, said: bytes, files: "Sequence[int]") -> None:
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(files)}i", *files))
    wire.sendmsg([said], [rights])


def receive(wire: socket.socket) -> "list[int]":
    """The files of one message; none when the other side is gone."""
    _, extra, _, _ = wire.recvmsg(1024, socket.CMSG_SPACE(4 * MOST_FILES), socket.MSG_CMSG_CLOEXEC)
    return [file for _, _, data in extra for file in struct.unpack(f"{len(data) // 4}i", data)]


def enter_namespaces(kind: str, alone: bool) -> None:
    """For this process a network and mounts of its own, for its children to come a process namespace."""
    uid, gid = os.geteuid(), os.getegid()
    user = USER if kind.startswith("user+") else 0
    must(kernel.unshare(user | PROCESSES | MOUNTS | (NETWORK if alone else 0)))
    if user:
        # Only root, if only of the namespace, may bring a network up.
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"{0 if alone else uid} {uid} 1")
        write("/proc/self/gid_map", f"{0 if alone else gid} {gid} 1")


def write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY)
    os.write(file, text.encode())
    os.close(file)


def mount_proc() -> None:
    """The processes of this namespace in /proc, for nobody outside."""
    must(kernel.mount(b"none", b"/", None, RECURSIVE_PRIVATE, None))
    must(kernel.mount(b"proc", b"/proc", b"proc", NO_SUID_NO_DEVICES_NO_EXEC, None))


def close_all_but(kept: "Sequence[int]") -> None:
    low = 0
    for file in sorted({*kept}):
        if low < file:  # `closerange(0, 0)` closes everything
            os.closerange(low, file)
        low = file + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def keep(kind: str, alone: bool, hello: socket.socket) -> None:
    """Be a keeper: make a spare, pass its order on, and wait until nothing of it is left.

    Neither process comes back from here: sockets whose files were closed would complain as they go.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    handle = os.pidfd_open(os.getpid())
    orders, engine = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    passed_on, passing = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    enter_namespaces(kind, alone)
    keeper = str(os.getpid()).encode()
    if os.fork() == 0:
        kernel.prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if select.select([handle], [], [], 0)[0]:
            os._exit(0)  # the keeper was killed before it could take us along
        mount_proc()
        send(hello, keeper, [engine.fileno(), handle])
        close_all_but([passed_on.fileno()])
        supervise(kind, receive(passed_on))
        os._exit(0)
    close_all_but([orders.fileno(), passing.fileno()])
    files = receive(orders)
    if files:
        send(passing, b"order", files)
        close_all_but(files[3:FIRST_FILES])
    else:
        close_all_but([])
    os.waitpid(-1, 0)
    os._exit(0)


def supervise(kind: str, files: "list[int]") -> None:
    """Become the supervisor that the order describes."""
    if not files:
        return
    with open(files[0], "rb", closefd=False) as order:
        lines = [os.fsdecode(line) for line in order.read().split(b"\0")]
    numbers, directory, *deadlines = lines[:5]
    words, env, argv = (lines[start : start + int(count)] for start, count in sections(lines, 5))
    places = [0, 1, 2, *map(int, numbers.split())]
    take_places(files[1:], places)
    pairs = (os.fsencode(entry).partition(b"=") for entry in env)
    try:
        os.chdir(directory)
    except OSError as error:
        supervisor.report("nowhere", error.errno or 0)
        return
    given = {name: value for name, _, value in pairs}
    os.environ.clear()
    os.environb.update(given)  # programs are looked for along the PATH of whoever starts them
    supervisor.main(kind, deadlines, supervisor.read_words(words), argv, given)


def sections(lines: "list[str]", start: int) -> "list[tuple[int, str]]":
    """Where each list begins that has its length before it."""
    found = []
    while start < len(lines):
        found.append((start + 1, lines[start]))
        start += 1 + int(lines[start])
    return found


def take_places(files: "Sequence[int]", places: "Sequence[int]") -> None:
    """Have each file under the number that is expected, and no other file at all."""
    beyond = max(*files, *places) + 1
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD, beyond) for file in files]
    for file, place in zip(moved, places, strict=True):
        os.dup2(file, place)
    close_all_but(places)


def main(kind: str, network: str, hello: int) -> None:
    for name in ("limits", "doors", "overlays", "staged"):
        supervisor.beside(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries the keepers
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, hello)
    while asked := os.read(0, 64):
        for _ in asked:
            if os.fork() == 0:
                as_a_spare(kind, network == "alone", wire)


def as_a_spare(kind: str, alone: bool, hello: socket.socket) -> None:
    """Never comes back: a fork that went on in the loop above would answer for its parent."""
    try:
        keep(kind, alone, hello)
    except BaseException as problem:  # noqa: BLE001 - said on the status pipe, if there is one by now
        try:
            os.write(2, f"{problem}\n".encode())
        finally:
            os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

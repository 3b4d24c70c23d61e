"""The small process beside every program: it ends the program's whole tree, whatever becomes of the engine.

Started by file path with `python -I -S -E`, so it may import nothing of Interlock and little of the standard
library: what it imports is paid for at every start.

1. stdin is the control pipe. `until <seconds>` moves the lease's end (on the clock below, so that a line that
   was late does not lengthen a lease), `stop` ends the program politely, `kill` at once. End of file means
   that the engine is gone, however it died: the tree ends at once.
2. stdout becomes the program's stdout and stderr. The supervisor itself never writes there.
3. stderr is the status pipe: one JSON line when the program has ended. Anything else on it is a diagnosis.
4. The status pipe closes only when nothing of the tree is left. In a pid namespace the supervisor is process
   1, so the kernel sees to that, also when the supervisor is killed; `unshare` holds the pipe until then.
"""

# ruff: noqa: PTH123, PTH208, SIM105 - pathlib and contextlib cost more to import than all the rest here

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The C module below `signal`: the wrapper's enums would take a third of the whole start.
    import _signal as signal

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Goes on while the machine sleeps, as the database's clock does."""

TICK_SECONDS = 1.0
"""Poll sleeps on a clock that stops in suspend, so no wait is longer than this."""

SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: orphans of the tree become our children instead of init's."""

DEFAULTED = (
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGPIPE,
    signal.SIGCHLD,
    signal.SIGXFSZ,
)
"""Python and `nohup` leave some of these ignored; a program expects them as they come."""


def now() -> float:
    return time.clock_gettime(CLOCK)


class Watch:
    """One program, its deadlines, and why it has to end."""

    def __init__(self, pid: int, timeout_seconds: float, lease_end: float, grace_seconds: float) -> None:
        self.pid = pid
        self.code: int | None = None
        self.reason = ""
        self._timeout_at = now() + timeout_seconds if timeout_seconds else 0.0
        self._lease_end = lease_end
        self._grace_seconds = grace_seconds
        self._kill_at = 0.0
        self._control = b""

    @property
    def over(self) -> bool:
        """Nothing to wait for any more: what is left of the tree may be killed."""
        return self.code is not None or (bool(self._kill_at) and now() >= self._kill_at)

    def reap(self) -> bool:
        """Collect every child that has ended; False once there are none at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.code = os.waitstatus_to_exitcode(status)

    def read_control(self) -> None:
        chunk = os.read(0, 4096)
        *lines, self._control = (self._control + chunk).split(b"\n")
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"until":
                self._lease_end = float(rest)
            elif word == b"stop":
                self.stop()
            elif word == b"kill":
                self.end("stopped", 0.0)
        if not chunk:
            self.end("orphaned", 0.0)

    def stop(self) -> None:
        self.end("stopped", self._grace_seconds)

    def check_clock(self) -> None:
        if self._lease_end and now() >= self._lease_end:
            self.end("lease", 0.0)
        elif self._timeout_at and now() >= self._timeout_at and not self.reason:
            self.end("timeout", self._grace_seconds)

    def end(self, reason: str, grace_seconds: float) -> None:
        """Ask the program to end, and note when asking is over. A later, harder end shortens the wait."""
        self.reason = self.reason or reason
        self._kill_at = min(self._kill_at or float("inf"), now() + grace_seconds)
        if grace_seconds:
            signal_group(self.pid, signal.SIGTERM)

    def wait_seconds(self) -> float:
        ends = [at for at in (self._timeout_at, self._lease_end, self._kill_at) if at]
        return max(0.0, min(TICK_SECONDS, *(at - now() for at in ends))) if ends else TICK_SECONDS


def signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        # Already gone; macOS says "not permitted" for a group of zombies.
        pass


def given_environment() -> dict[bytes, bytes]:
    """The environment as it was handed over: in the C locale, Python adds LC_CTYPE to its own."""
    try:
        with open("/proc/self/environ", "rb") as block:
            pairs = [entry.partition(b"=") for entry in block.read().split(b"\0") if entry]
    except FileNotFoundError:
        return dict(os.environb)
    return {name: value for name, _, value in pairs}


def spawn(argv: list[str]) -> int:
    """Start the program in its own process group: no input, one pipe for all output, signals as they come."""
    return os.posix_spawnp(
        argv[0],
        argv,
        given_environment(),
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)],
        setpgroup=0,
        setsigmask=[],
        setsigdef=DEFAULTED,
    )


def watch(program: Watch, wake: int) -> None:
    """Until the program has ended, or has to."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while program.reap() and not program.over:
        for fd, _ in poll.poll(program.wait_seconds() * 1000 + 1):
            if fd == 0:
                program.read_control()
            elif bytes((signal.SIGTERM,)) in os.read(wake, 4096):
                program.stop()
        program.check_clock()


def descendants() -> list[int]:
    """Every process below this one, by the parents that /proc names."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as stat:
                    # The name in parentheses may hold anything, a parenthesis too.
                    parent = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found: list[int] = []
    below = [os.getpid()]
    while below:
        below = [child for parent in below for child in children.get(parent, [])]
        found += below
    return found


def kill_descendants(program: Watch) -> None:
    """Orphans come to us, so "no children" means that nobody is left, however they forked meanwhile."""
    while program.reap():
        killed = 0
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except (ProcessLookupError, PermissionError):
                # Gone meanwhile, or it became another user (sudo): nothing without a namespace can end that.
                continue
        if not killed and program.code is not None:
            return
        select.select([], [], [], 0.002)


def end_tree(kind: str, program: Watch) -> None:
    """Leave nothing behind. In a namespace of our own, our exit is what ends the rest."""
    if kind == "subreaper":
        kill_descendants(program)
        return
    signal_group(program.pid, signal.SIGKILL)
    while program.code is None and program.reap():
        select.select([], [], [], 0.002)


def become_subreaper() -> None:
    # Imported here because it is the slowest import of all, and a namespace does not need it.
    import ctypes  # noqa: PLC0415 - see above

    ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, 1, 0, 0, 0)


def listen() -> int:
    """A pipe that wakes the poll when a child ends or somebody asks us to stop."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return wake


def report(ended: str, code: int) -> None:
    try:
        os.write(2, f'{{"ended":"{ended}","code":{code}}}\n'.encode())
    except BrokenPipeError:
        # The engine is gone; so is everybody who could read it.
        pass


def main(kind: str, timeout_seconds: float, lease_end: float, grace_seconds: float, argv: list[str]) -> None:
    wake = listen()
    if kind.endswith("namespace") and os.getpid() != 1:
        sys.exit("not the first process of a namespace: the tree would not end with this one")
    if kind == "subreaper":
        become_subreaper()
    try:
        pid = spawn(argv)
    except OSError as error:
        report("unstartable", error.errno or 0)
        return
    program = Watch(pid, timeout_seconds, lease_end, grace_seconds)
    watch(program, wake)
    reason = program.reason or "exited"
    end_tree(kind, program)
    report(reason, program.code if program.code is not None else -signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), sys.argv[5:])

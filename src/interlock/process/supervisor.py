"""The small process beside every program: it ends the program's whole tree, also when the engine dies.

Started with `python -I -S -E`, so it may import nothing of Interlock and little of the standard library: what
it imports is paid for at every start. It is imported, not run as a file, which Python would
compile each time.

1. stdin is the control pipe. `until <seconds>` moves the lease's end (on the clock below, so that a line that
   was late does not lengthen a lease), `stop` ends the program politely, `kill` at once. End of file means
   that the engine is gone, however it died: the tree ends at once.
2. stdout becomes the program's stdout and stderr. The supervisor itself never writes there.
3. stderr is the status pipe: one JSON line when the program has ended. Anything else on it is a diagnosis.
4. The status pipe closes only when nothing of the tree is left. In a pid namespace the supervisor is process
   1, so the kernel sees to that, also when the supervisor is killed; its parent outside the namespace, which
   is `unshare`, holds the pipe until then.
5. A sandbox is between the supervisor and the program, never around the supervisor: what this one does for a
   program inside (a way out of its network, its limits) needs no help from in there.

Usage: supervisor.py KIND TIMEOUT LEASE_END GRACE [WORD...] -- PROGRAM [ARGUMENT...]
  loopback         the network is new: bring its 127.0.0.1 up, and drop what goes anywhere else
  forward=PORT=PATH  pass connections to 127.0.0.1:PORT on to the unix socket PATH
  input=FD         the program's standard input; without it there is none
  reports          the program is bubblewrap: ask it for the process inside, and whether it got that far
  join=PATH        a cgroup's list of processes, for the program to enter before it is one
  limit=NUMBER=N   a resource limit of each of its processes
  overlay=PATHS    mount an overlay, for this mount namespace only (see sandbox/outside/overlays.py)
  as=UID=FD        root starts the program as this user, and gives it the paths that `own=`, `show=` and
                   `see=` name (see sandbox/outside/staged.py); FD maps root to the user
"""

# ruff: noqa: PTH123, PTH208, SIM105 - pathlib and contextlib cost more to import than all the rest here

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from types import ModuleType

    from interlock.sandbox.outside.port_forwarder import PortForwarder
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


class WatchedProgram:
    """One program, its deadlines, and why it has to end."""

    def __init__(
        self, started: "Started", timeout_seconds: float, lease_end: float, grace_seconds: float
    ) -> None:
        self.pid = started.pid
        self.started = started
        self.code: int | None = None
        self.reason = ""
        self._timeout_at = now() + timeout_seconds if timeout_seconds else 0.0
        self._lease_end = lease_end
        self._grace_seconds = grace_seconds
        self._kill_at = 0.0
        self._control = b""

    @property
    def over(self) -> bool:
        """Tell if there is nothing to wait for: the rest of the tree may be killed."""
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
            signal_group(self.started.inside() or self.pid, signal.SIGTERM)

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


class Started:
    """The program, and what bubblewrap says of it."""

    def __init__(self, pid: int, reports: int) -> None:
        self.pid = pid
        self._reports = reports
        self._said = b""

    def _read(self) -> None:
        while self._reports >= 0:
            try:
                chunk = os.read(self._reports, 4096)
            except BlockingIOError:
                return
            self._said += chunk
            if not chunk:
                os.close(self._reports)
                self._reports = -1

    def inside(self) -> int:
        """The first process inside: it leads the program's session, and only its group is to be asked to end.
        As the first of its namespace it does not hear that itself. 0: there is none."""
        self._read()
        digits = self._said.partition(b'"child-pid":')[2].strip().partition(b",")[0].partition(b"\n")[0]
        return int(digits.strip(b" }") or 0)

    def got_nowhere(self) -> bool:
        """Tell if bubblewrap failed before the program was one."""
        asked = self._reports >= 0
        self._read()
        return (asked or bool(self._said)) and b'"exit-code"' not in self._said


def spawn(argv: list[str], words: dict[str, list[str]], env: dict[bytes, bytes]) -> Started:
    """Start the program in its own process group: one pipe for all output, signals as they come."""
    reports = told = -1
    if "reports" in words:
        reports, told = os.pipe()
        os.set_blocking(reports, False)
        os.set_inheritable(told, True)
        argv = [argv[0], "--json-status-fd", str(told), *argv[1:]]
    stdin = int(words["input"][0]) if "input" in words else os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(stdin, False)
    try:
        if "as" in words or "join" in words or "limit" in words:
            pid = beside("limits").start(argv, env, stdin, words, DEFAULTED)
        else:
            pid = os.posix_spawnp(
                argv[0],
                argv,
                env,
                file_actions=[(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, 1, 2)],
                setpgroup=0,
                setsigmask=[],
                setsigdef=DEFAULTED,
            )
    finally:
        os.close(stdin)
        if told >= 0:
            os.close(told)
    return Started(pid, reports)


def watch(program: WatchedProgram, poll: "select.poll", wake: int, forwarder: "PortForwarder | None") -> None:
    """Wait until the program has ended, or has to end."""
    poll.register(0, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while program.reap() and not program.over:
        for fd, event in poll.poll(program.wait_seconds() * 1000 + 1):
            if fd == 0:
                program.read_control()
            elif fd != wake:
                if forwarder:
                    forwarder.wake(fd, event)
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


def kill_descendants(program: WatchedProgram) -> None:
    """Kill until no child is left. Orphans come to us, so that covers all, however they forked meanwhile."""
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


def end_tree(kind: str, program: WatchedProgram) -> None:
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
    """Return a pipe that wakes the poll when a child ends or the engine asks us to stop."""
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
        # The engine is gone; so is every reader.
        pass


def beside(name: str) -> "ModuleType":
    """A module of the sandbox, compiled once and for all; its folder comes after everything else there is."""
    folder = __file__.removesuffix("process/supervisor.py") + "sandbox/outside"
    if folder not in sys.path:
        sys.path.append(folder)
    module: ModuleType = __import__(name)  # `importlib` takes longer to import than all of these
    return module


def open_forwarded_ports(words: dict[str, list[str]], poll: "select.poll") -> "PortForwarder | None":
    """Bring up the network, if it is a new one, and listen where the program will look for a way out."""
    if "loopback" not in words and "forward" not in words:
        return None
    if "loopback" in words:
        beside("port_forwarder").bring_up_network()
    opened: PortForwarder = beside("port_forwarder").PortForwarder(poll)
    for word in words.get("forward", ()):
        port, _, path = word.partition("=")
        opened.open(int(port), path)
    return opened


def read_words(words: list[str]) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for word in words:
        name, _, value = word.partition("=")
        said.setdefault(name, []).append(value)
    return said


def main(
    kind: str,
    deadlines: list[str],
    words: dict[str, list[str]],
    argv: list[str],
    env: dict[bytes, bytes],
) -> None:
    wake = listen()
    if kind.endswith("namespace") and os.getpid() != 1:
        sys.exit("not the first process of a namespace: the tree would not end with this one")
    if kind == "subreaper":
        become_subreaper()
    poll = select.poll()
    try:
        for word in () if "as" in words else words.get("overlay", ()):
            beside("overlays").mount(word)
    except OSError as error:
        sys.exit(f"overlay: {error.filename}: {error.strerror}")
    try:
        opened = open_forwarded_ports(words, poll)
    except OSError as error:
        sys.exit(f"no way out of its network: {error.strerror}")
    try:
        started = spawn(argv, words, env)
    except OSError as error:
        report("unstartable", error.errno or 0)
        return
    timeout_seconds, lease_end, grace_seconds = map(float, deadlines)
    program = WatchedProgram(started, timeout_seconds, lease_end, grace_seconds)
    watch(program, poll, wake, opened)
    reason = program.reason or ("unconfined" if started.got_nowhere() else "exited")
    end_tree(kind, program)
    report(reason, program.code if program.code is not None else -signal.SIGKILL)


def start() -> None:
    """Read the command line and supervise what it names."""
    split = sys.argv.index("--")
    words = read_words(sys.argv[5:split])
    main(sys.argv[1], sys.argv[2:5], words, sys.argv[split + 1 :], given_environment())

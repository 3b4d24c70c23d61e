"""One program with its supervisor, as the engine sees it: three pipes and a process to reap.

Everything happens in callbacks of the event loop. `_gone` is settled when the status pipe closes, and that
pipe closes only when nothing of the program's tree is left (see supervisor.py).
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interlock.model.errors import CannotStart, EnvironmentProblem
from interlock.model.process import Command, Ended
from interlock.model.sandbox import NO_LIMITS, Limits
from interlock.process.ceilings import NO_CEILING, raise_ceiling
from interlock.process.containment import SUPERVISOR, Containment, prefix
from interlock.process.disk_watch import DiskWatch
from interlock.process.output import ProgramOutput
from interlock.process.pipes import StdinMessages, open_pipes, open_stdin_messages
from interlock.process.survivors import MARK, end_marked, take_note
from interlock.sandbox.confinement import Confined, Confinement, clear_up
from interlock.sandbox.refusals import got_nowhere, says_no_program, unstartable

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
CHUNK_BYTES = 64 * 1024
STATUS_BYTES = 16 * 1024
PATIENCE_SECONDS = 5.0
"""The extra time after its grace period before an end is forced."""
DRAIN_CHUNKS = 1024
"""The most that may be left in the pipe when all writers are dead, even if the program enlarged it."""

KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The sandbox and limits of a program with a grant."""

    confinement: Confinement | None = None
    limits: Limits = NO_LIMITS
    disk_seconds: float = 10.0
    """The seconds between two looks at its folders while they are far from full."""


def lease_clock() -> float:
    """The clock that leases are kept on, here and in the supervisor."""
    return time.clock_gettime(CLOCK)


def lease_margin(lease_seconds: float) -> float:
    """Return the time by which a tree ends before its lease: its last write is never in another's lease."""
    return min(1.0, lease_seconds / 4)


class Supervised:
    """A running program.

    More methods than a class should have: one machine of small callbacks on the same few fields. Cut in two,
    each half would reach into the other.
    """

    def __init__(
        self,
        command: Command,
        containment: Containment,
        output: ProgramOutput,
        grace_seconds: float,
        bounds: Bounds | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._command = command
        self._containment = containment
        self._output = output
        self._grace_seconds = grace_seconds
        self._mark = os.urandom(16).hex()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._status = b""
        self._cause: Ended | None = None
        self._failure: Exception | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._heard = self._loop.time()
        self._messages: StdinMessages | None = None
        self._out_of_memory = False
        self._bounds = bounds or Bounds()
        disk = self._bounds.limits.disk_bytes
        self._disk = DiskWatch(command.grant, disk, self._bounds.disk_seconds)
        self._confined = self._confine(self._bounds.confinement)
        if self._confined.container:
            # The engine's own namespaces do not nest in ours.
            self._containment = Containment.SUBREAPER
        self._ceiling = raise_ceiling(self._bounds.limits, self._mark[:12]) if bounds else NO_CEILING
        self._pipes = open_pipes(command.sealed)
        self._control, self._stdout, self._stderr = (
            self._pipes.control,
            self._pipes.output,
            self._pipes.status,
        )
        self._descriptors = self._confined.descriptors
        """Open files that the supervisor gets under the same numbers."""
        self._argv = self._command_line()
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._handed_over = False

    def _confine(self, confinement: Confinement | None) -> Confined:
        command, mark = self._command, {MARK: self._mark}
        if command.grant is None or confinement is None:
            return Confined(command.argv, command.env | mark, command.directory)
        return confinement.confine(command, command.grant, mark)

    def _command_line(self) -> tuple[str, ...]:
        """The words that start the supervisor. Opens the program's standard input, if it listens."""
        command, confined, lease_end = self._command, self._confined, 0.0
        if command.lease_seconds:
            lease_end = lease_clock() + command.lease_seconds - lease_margin(command.lease_seconds)
        words = [*confined.words, *self._ceiling.words]
        if command.listens:
            self._messages, stdin = open_stdin_messages(self._loop, command.sealed)
            words.append(f"input={stdin}")
            self._descriptors = (*self._descriptors, stdin)
        begin = (*prefix(self._containment, alone=confined.alone), *SUPERVISOR, self._containment.value)
        deadlines = map(repr, (command.timeout_seconds, lease_end, self._grace_seconds))
        return (*begin, *deadlines, *words, "--", *confined.argv)

    def start(self) -> None:
        """Start its supervisor, which starts it; read the output and enforce the limits from now on."""
        try:
            stdin, stdout, stderr = self._pipes.theirs
            self._supervisor = subprocess.Popen(
                self._argv,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=self._confined.directory,
                env=self._confined.env,
                pass_fds=self._descriptors,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CannotStart(f"cannot start {self._command.argv[0]}: {error}") from error
        finally:
            self._hand_over()
        self._watch(self._supervisor.pid)

    def _hand_over(self) -> None:
        """Close our copies of the files that are the supervisor's now."""
        if not self._handed_over:
            self._handed_over = True
            self._pipes.close_theirs()
            for descriptor in self._descriptors:
                os.close(descriptor)

    def _watch(self, supervisor: int) -> None:
        if self._command.pid_file:
            self._take_note(Path(self._command.pid_file), supervisor)
        self._loop.add_reader(self._stdout, self._guarded(self._read_output))
        self._loop.add_reader(self._stderr, self._read_status)
        if self._command.idle_seconds:
            self._later(self._command.idle_seconds, self._check_idle)
        self._disk.begin(supervisor, lambda: self.stop(Ended.DISK))
        if self._command.timeout_seconds:
            # The supervisor sees to the timeout; this is for a supervisor that is stuck.
            self._later(self._command.timeout_seconds + self._patience, self._force)

    def _take_note(self, pid_file: Path, supervisor: int) -> None:
        try:
            engine = self._confined.container[0] if self._confined.container else ""
            take_note(pid_file, supervisor, self._mark, engine)
        except OSError as error:
            raise EnvironmentProblem(f"cannot write {pid_file}: {error.strerror}") from error

    async def finished(self) -> None:
        """Until nothing of the program is left. Cancelling ends it first; doing so again, at once."""
        try:
            await asyncio.shield(self._gone)
        except asyncio.CancelledError:
            self.stop(word="stop" if self._command.grace else "kill")
            while not self._gone.done():
                try:
                    await asyncio.shield(self._gone)
                except asyncio.CancelledError:
                    self._say("kill")
            raise

    def outcome(self) -> tuple[Ended, int]:
        if self._failure:
            raise self._failure
        ended, code = self._verdict()
        name = self._command.argv[0]
        if ended == "nowhere":
            raise CannotStart(f"cannot start {name} in {self._confined.directory}: {os.strerror(code)}")
        if ended == "unstartable":
            raise CannotStart(unstartable(name, os.strerror(code)))
        if ended == "unconfined" or (self._command.grant and says_no_program(code, self._output.tail)):
            raise got_nowhere(name, self._output.tail)
        if ended == "stopped":
            return self._cause or Ended.EXITED, code
        if ended == Ended.EXITED and self._cause is Ended.DISK:
            return Ended.DISK, code  # it ended by itself before it could be stopped
        if ended == Ended.EXITED and code in KILLED and self._out_of_memory:
            return Ended.MEMORY, code
        return Ended(ended), code

    def extend(self, seconds: float) -> None:
        """The lease, if it has one, ends this long from now; earlier than that, the tree does."""
        if self._command.lease_seconds:
            self._say(f"until {lease_clock() + seconds - lease_margin(seconds)!r}")

    def send(self, text: str) -> bool:
        """Write to its standard input; False if it has none, or has closed it."""
        return self._messages is not None and self._messages.send(text)

    def hang_up(self) -> None:
        if self._messages:
            self._messages.hang_up()

    def stop(self, cause: Ended | None = None, word: str = "stop") -> None:
        """End the program politely, then not."""
        self._cause = self._cause or cause
        self._say(word)
        self._later(self._patience, self._force)

    def close(self) -> None:
        """Give back every descriptor, timer and process."""
        self._disk.stop()
        for timer in self._timers:
            timer.cancel()
        for fd in (self._stdout, self._stderr):
            self._loop.remove_reader(fd)
        # No reader at the other end of the control pipe: if anything still runs, this is its end. Usually the
        # status pipe is closed already, and the process in its last microseconds.
        self._hand_over()
        self._pipes.close()
        if self._supervisor:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(PATIENCE_SECONDS)
        self._out_of_memory = self._ceiling.ran_out_of_memory
        self._clear_up()
        if self._command.pid_file:
            Path(self._command.pid_file).unlink(missing_ok=True)

    def _clear_up(self) -> None:
        clear_up(self._confined)
        self._ceiling.remove()
        if self._messages:
            self._messages.close()

    @property
    def _patience(self) -> float:
        return self._grace_seconds + PATIENCE_SECONDS

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._timers.append(self._loop.call_later(seconds, act))

    def _say(self, line: str) -> None:
        # A supervisor that is gone needs no telling, and one that is stuck is ended by `_force`.
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            os.write(self._control, line.encode() + b"\n")

    def _guarded(self, act: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            try:
                act()
            except OSError as error:
                self._fail(
                    EnvironmentProblem(
                        f"cannot write the log {self._command.log}: {error.strerror}",
                        hint="make room on that disk, then try again",
                    )
                )
            except Exception as error:  # noqa: BLE001 - a listener's bug must end the program, not leave it alone
                self._fail(error)

        return run

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error
        self._loop.remove_reader(self._stdout)
        self._loop.add_reader(self._stdout, self._discard)
        self.stop()

    def _read_output(self) -> None:
        chunk = _read(self._stdout, CHUNK_BYTES)
        if chunk == b"":
            self._loop.remove_reader(self._stdout)
        elif chunk:
            self._heard = self._loop.time()
            self._output.add(chunk)
            if self._output.is_full and not self._cause:
                self.stop(Ended.OUTPUT)

    def _discard(self) -> None:
        if _read(self._stdout, CHUNK_BYTES) == b"":
            self._loop.remove_reader(self._stdout)

    def _read_status(self) -> None:
        chunk = _read(self._stderr, CHUNK_BYTES)
        if chunk is None:
            return
        self._status = (self._status + chunk)[-STATUS_BYTES:]
        if not chunk:
            self._loop.remove_reader(self._stderr)
            self._settle()

    def _settle(self) -> None:
        """Take the rest and wait no longer: the writers are dead, or strays that nothing here could end."""
        if not self._failure:
            self._guarded(self._drain)()
        if self._containment is Containment.GROUP or not self._reported:
            # Some may have left the process group; and where a supervisor was killed, the kernel may still be
            # ending the tree, or no process is.
            sweep = self._loop.run_in_executor(None, end_marked, self._mark)
            sweep.add_done_callback(lambda _: self._look_last())
        else:
            self._look_last()

    def _end(self) -> None:
        if not self._gone.done():
            self._gone.set_result(None)

    def _drain(self) -> None:
        for _ in range(DRAIN_CHUNKS):
            chunk = _read(self._stdout, CHUNK_BYTES)
            if not chunk:
                break
            self._output.add(chunk)
        self._output.finish()

    def _check_idle(self) -> None:
        quiet = self._loop.time() - self._heard
        if quiet >= self._command.idle_seconds:
            self.stop(Ended.IDLE)
        else:
            self._later(self._command.idle_seconds - quiet, self._check_idle)

    def _look_last(self) -> None:
        """Measure once more after the end: a workspace over the limit does not land."""
        if self._cause or self._gone.done():
            self._end()
        else:
            self._disk.look_last(self._looked_last)

    def _looked_last(self, is_over: bool) -> None:
        if is_over:
            self._cause = Ended.DISK
        self._end()

    def _force(self) -> None:
        """The supervisor does not do its work: kill it, and with it the tree."""
        if self._supervisor:
            self._supervisor.kill()
        self._later(PATIENCE_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if not self._gone.done():
            self._failure = EnvironmentProblem(
                f"{self._command.argv[0]} cannot be ended: a process of it hangs in the kernel",
                hint="look for an unreachable network disk, or restart the machine",
            )
            self._end()

    @property
    def _reported(self) -> bool:
        return self._status.rstrip().endswith(b"}")

    def _verdict(self) -> tuple[str, int]:
        text = self._status.decode(errors="replace").strip()
        if not self._reported:
            why = text.rpartition("\n")[2] or "it was killed"
            raise EnvironmentProblem(f"the supervisor of {self._command.argv[0]} ended early: {why}")
        status = json.loads(text.rpartition("\n")[2])
        return str(status["ended"]), int(status["code"])


def _read(fd: int, size: int) -> bytes | None:
    """Return the bytes there; empty at the end, None when there are none yet."""
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return None

"""Running one program: its output as it comes, its limits, its end (A2)."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest

from interlock.model.errors import CannotStart, EnvironmentProblem
from interlock.model.process import Command, Ended, Exit
from interlock.process.containment import Containment
from interlock.process.processes import LocalProcesses
from tests.run.tree import KINDS, Marked, children, linux, possible
from tests.tiers import rest_thorough

EVERY_KIND = rest_thorough([*KINDS, Containment.GROUP], always=KINDS[:1])


@pytest.fixture(params=EVERY_KIND, ids=str)
def processes(request: pytest.FixtureRequest) -> LocalProcesses:
    return LocalProcesses(possible(request.param), grace_seconds=0.3)


def run(processes: LocalProcesses, command: Command) -> Exit:
    return asyncio.run(processes.run(command))


@linux
def test_the_exit_status_and_the_output_are_reported(processes: LocalProcesses, here: Marked) -> None:
    ended = run(processes, here.command("echo out; echo err >&2; exit 3"))
    assert (ended.ended, ended.code, ended.tail) == (Ended.EXITED, 3, "out\nerr")
    assert here.log.read_text() == "out\nerr\n"
    assert ended.log_bytes == 8


def test_a_program_killed_by_a_signal_reports_minus_the_signal(
    processes: LocalProcesses, here: Marked
) -> None:
    assert run(processes, here.command("kill -SEGV $$")).code == -signal.SIGSEGV


def test_a_line_arrives_while_the_program_still_runs(processes: LocalProcesses, here: Marked) -> None:
    """The program waits for an answer to its first line: without live output this would never end."""
    lines: list[str] = []

    def answer(line: str) -> None:
        lines.append(line)
        if line == "ready?":
            Path(here.env["UP"] + ".answer").touch()

    script = 'echo "ready?"; until test -e "$UP.answer"; do sleep 0.01; done; echo yes'
    ended = asyncio.run(processes.run(here.command(script), answer))
    assert lines == ["ready?", "yes"]
    assert ended.code == 0


def test_the_program_gets_exactly_its_environment_no_input_and_its_directory(
    processes: LocalProcesses, here: Marked
) -> None:
    ended = run(processes, here.command("pwd; cat; env"))
    names = {line.partition("=")[0] for line in ended.tail.splitlines()[1:]}
    assert ended.tail.splitlines()[0] == str(here.folder)
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {"PATH", "UP", "MARKED", "INTERLOCK_PROCESS"}


def test_the_program_inherits_no_descriptor_and_no_ignored_signal(
    processes: LocalProcesses, here: Marked
) -> None:
    ended = run(processes, here.command("ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status"))
    descriptors, _, ignored = ended.tail.partition("SigIgn:")
    assert descriptors.split() == ["0", "1", "2", "3"], "3 is the directory that ls reads"
    assert int(ignored, 16) & 0x7FFF_FFFF == 0, "the C library keeps signals 32 and 33 for itself"


@pytest.mark.slow
def test_a_program_that_takes_too_long_is_asked_to_end(processes: LocalProcesses, here: Marked) -> None:
    script = "trap 'echo asked; exit 7' TERM; while :; do sleep 0.01; done"
    ended = run(processes, here.command(script, timeout_seconds=2.0))
    assert (ended.ended, ended.code, ended.tail.split()[-1]) == (Ended.TIMEOUT, 7, "asked")


@pytest.mark.slow
def test_a_program_that_does_not_listen_is_killed_after_the_grace_period(
    processes: LocalProcesses, here: Marked
) -> None:
    ended = run(processes, here.command("trap '' TERM; while :; do sleep 1; done", timeout_seconds=2.0))
    assert (ended.ended, ended.code) == (Ended.TIMEOUT, -signal.SIGKILL)


@pytest.mark.slow
def test_a_silent_program_is_stopped_and_one_that_speaks_is_not(
    processes: LocalProcesses, here: Marked
) -> None:
    talking = "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.15; done"
    assert run(processes, here.command(talking, idle_seconds=1.2)).ended is Ended.EXITED
    ended = run(processes, here.command("echo last; sleep 600", idle_seconds=1.2))
    assert (ended.ended, ended.tail.splitlines()[-1]) == (Ended.IDLE, "last")


def test_a_program_that_writes_too_much_is_stopped(here: Marked) -> None:
    processes = LocalProcesses(grace_seconds=0.1, log_limit_bytes=100_000)
    ended = run(processes, here.command("yes"))
    assert ended.ended is Ended.OUTPUT
    assert here.log.stat().st_size == ended.log_bytes == 100_000


def leased(here: Marked, script: str, lease_seconds: float) -> Command:
    words = ("sh", "-c", script)
    return Command(words, str(here.folder), str(here.log), here.env, lease_seconds=lease_seconds)


@pytest.mark.slow
def test_a_lease_that_is_renewed_does_not_end_the_program(processes: LocalProcesses, here: Marked) -> None:
    """The first lease is over before the program is; what keeps it alive is the renewal."""
    command = leased(here, "echo started; sleep 2.5", lease_seconds=2.4)
    ended = asyncio.run(processes.run(command, lambda _: processes.lease.renew(60.0)))
    assert ended.ended is Ended.EXITED


@pytest.mark.slow
def test_a_lease_that_is_not_renewed_ends_the_program(processes: LocalProcesses, here: Marked) -> None:
    command = leased(here, "echo started; sleep 600", lease_seconds=3600.0)
    ended = asyncio.run(processes.run(command, lambda _: processes.lease.renew(0.2)))
    assert (ended.ended, ended.code) == (Ended.LEASE, -signal.SIGKILL)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("no-such-program", "program not found: no-such-program"),
        ("./no-such-file", "program not found: ./no-such-file"),
        ("./plain", "program cannot be started: ./plain: Permission denied"),
        ("./stranger", "program not found: ./stranger, nor the interpreter its first line names"),
        ("./nonsense", "program cannot be started: ./nonsense: Exec format error"),
    ],
)
def test_a_program_that_cannot_start_says_why(here: Marked, program: str, says: str) -> None:
    (here.folder / "plain").write_text("text")
    (here.folder / "stranger").write_text("#!/no/such/interpreter\n")
    (here.folder / "nonsense").write_text("\x7fELF")
    for name in ("stranger", "nonsense"):
        (here.folder / name).chmod(0o755)
    with pytest.raises(CannotStart, match=says.replace(".", r"\.")):
        run(LocalProcesses(), Command((program,), str(here.folder), str(here.log), here.env))


def test_a_missing_directory_says_so(here: Marked) -> None:
    with pytest.raises(CannotStart, match="nowhere"):
        run(LocalProcesses(), Command(("true",), str(here.folder / "nowhere"), str(here.log), here.env))


@linux
def test_a_full_disk_ends_the_program_with_a_clear_message(here: Marked) -> None:
    command = Command(("sh", "-c", "echo x; sleep 600"), str(here.folder), "/dev/full", here.env)
    with pytest.raises(EnvironmentProblem, match="cannot write the log /dev/full: No space left on device"):
        run(LocalProcesses(grace_seconds=0.1), command)
    here.wait_until_gone()


def test_a_log_that_cannot_be_opened_says_so(here: Marked) -> None:
    log = str(here.folder / "no" / "log")
    with pytest.raises(EnvironmentProblem, match="cannot write the log"):
        run(LocalProcesses(), Command(("true",), str(here.folder), log, here.env))


def test_a_listener_that_fails_ends_the_program_and_is_heard(here: Marked) -> None:
    def fail(line: str) -> None:
        raise LookupError(line)

    with pytest.raises(LookupError, match="hello"):
        asyncio.run(LocalProcesses(grace_seconds=0.1).run(here.command("echo hello; sleep 600"), fail))
    here.wait_until_gone()


@linux
@pytest.mark.slow
def test_many_programs_leave_no_descriptor_and_no_zombie(processes: LocalProcesses, here: Marked) -> None:
    async def many(count: int) -> None:
        await asyncio.gather(*(processes.run(here.command("echo x")) for _ in range(count)))

    async def measured() -> tuple[set[str], set[str]]:
        await many(2)
        before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are all that is wanted
        await many(24)
        return before, set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - as above

    gc.collect()  # what earlier tests made and nobody holds any more
    others = children()
    before, after = asyncio.run(measured())
    assert after == before
    assert children() <= others

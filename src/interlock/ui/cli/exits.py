"""What a command's exit code says. One table, for the code and the reference page alike."""

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    FAILED = 1
    USAGE = 2
    DECLINED = 3
    AUTHENTICATION = 4
    BUDGET = 5
    NEEDS_PERSON = 6
    ENVIRONMENT = 7
    RUNNING = 8
    INTERNAL = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


MEANING: dict[ExitCode, str] = {
    ExitCode.OK: "It worked; for `run`, `wait` and `status --exit-code`: everything asked for has landed.",
    ExitCode.FAILED: "The run is over and something did not land; `doctor --prove`: did not fire.",
    ExitCode.USAGE: "The command line, the settings or the task graph make no sense. Nothing was changed.",
    ExitCode.DECLINED: "A person said no, or stopped the run from another terminal.",
    ExitCode.AUTHENTICATION: "Reserved: an agent is not logged in.",
    ExitCode.BUDGET: "Reserved: the budget is used up.",
    ExitCode.NEEDS_PERSON: "Nothing failed, and what is left waits for a person's answer: `interlock inbox`.",
    ExitCode.ENVIRONMENT: "Git, the sandbox, the disk, a lock, the log or a check on main is in the way.",
    ExitCode.RUNNING: "Still running (`wait --timeout`, `status --exit-code`).",
    ExitCode.INTERNAL: "A defect of Interlock. `INTERLOCK_DEBUG=1` shows where.",
    ExitCode.INTERRUPTED: "Stopped with Ctrl-C, or by the system (SIGTERM, SIGHUP).",
    ExitCode.PIPE_CLOSED: "Whoever read the output went away, as in `interlock events | head`.",
}

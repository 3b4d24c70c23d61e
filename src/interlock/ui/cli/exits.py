"""The exit codes of all commands: one table for the code and the reference page."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The result of a command, for scripts."""

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
    ExitCode.OK: "Success; for `run`, `wait` and `status --exit-code`: every selected task has landed.",
    ExitCode.FAILED: "The run is over and a task did not land; `doctor --prove`: a demonstration failed; "
    "`verify`: a commit has a problem.",
    ExitCode.USAGE: "The command line, the settings or the task graph are invalid. Nothing was changed.",
    ExitCode.DECLINED: "You answered no, or stopped the run from another terminal.",
    ExitCode.AUTHENTICATION: "Reserved: an agent is not logged in.",
    ExitCode.BUDGET: "No agent starts any more, as a budget is used up: `interlock budget`.",
    ExitCode.NEEDS_PERSON: "No task failed, others wait for you, a merge or a green main: `interlock inbox`.",
    ExitCode.ENVIRONMENT: "A problem with git, the sandbox, the disk, a lock, the log or a check on main.",
    ExitCode.RUNNING: "Still running (`wait --timeout`, `status --exit-code`).",
    ExitCode.INTERNAL: "A defect of Interlock. `INTERLOCK_DEBUG=1` shows where.",
    ExitCode.INTERRUPTED: "Stopped with Ctrl-C, or by the system (SIGTERM, SIGHUP).",
    ExitCode.PIPE_CLOSED: "The reader of the output closed it, as in `interlock events | head`.",
}

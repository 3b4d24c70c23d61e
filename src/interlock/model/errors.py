"""The errors that a person or the engine can act on.

InterlockError
  UserError            a person can fix it; says what, and the next command
    UsageError         the command line or the configuration (exit 2)
    GraphError         task-graph.yaml (exit 2)
    EnvironmentProblem git, disk, lock, permissions (exit 7)
      StoreUnavailable   the log cannot be written or read now; trying again is safe
      CannotStart        a program is missing or cannot be executed
    BrokenChain        the log was changed behind our back (exit 7)
    Declined           a person said no, or cancelled (exit 3)
  RejectedObjects      git refused what an agent made
  StaleEpoch           the writer is no longer the holder; nothing was changed
    Fenced               another controller has raised the fence in the repository
"""


class InterlockError(Exception):
    """The root of the tree."""


class UserError(InterlockError):
    """An error for a person: the cause, its object, and the next command."""

    code = "error"
    exit_code = 1
    hint = ""
    retryable = False

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.hint


class UsageError(UserError):
    """The command line or the configuration does not make sense."""

    code = "usage"
    exit_code = 2


class GraphError(UserError):
    """The task graph cannot be accepted."""

    code = "graph"
    exit_code = 2
    hint = "run `interlock plan` to see every problem with its place"


class Declined(UserError):
    """A person said no."""

    code = "declined"
    exit_code = 3


class EnvironmentProblem(UserError):
    """The machine or the repository is not in a state to work with."""

    code = "environment"
    exit_code = 7
    retryable = True


class RejectedObjects(InterlockError):
    """Git refused to import what an agent made. The workspace is kept as it is."""


class StaleEpoch(InterlockError):
    """The writer is no longer the holder of what it writes about. Nothing was changed."""


class Fenced(StaleEpoch):
    """Another controller has raised the fence in the repository: nothing of this one lands any more."""


class StoreUnavailable(EnvironmentProblem):
    """The log cannot be used right now (disk full, read-only, server gone). Trying again is safe."""

    code = "store"


class CannotStart(EnvironmentProblem):
    """A program is missing, or is not one that can be executed."""

    code = "cannot-start"


class BrokenChain(UserError):
    """A fact of the log was changed, removed or moved."""

    code = "broken-chain"
    exit_code = 7
    hint = "restore the log from a backup; `interlock events --verify` names the first bad fact"

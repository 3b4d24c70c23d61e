"""The errors that every store raises in the same words."""

from interlock import __version__
from interlock.model.claim import LAST_EPOCH, Claim
from interlock.model.errors import EnvironmentProblem, StaleEpoch, UsageError
from interlock.store.statements import SCHEMA


def stale(fence: Claim) -> StaleEpoch:
    """A write under a fence that no longer holds."""
    return StaleEpoch(f"{fence.resource} is no longer held by {fence.holder} at epoch {fence.epoch}")


def claimed(resource: str, epoch: int, holder: str, fence: Claim | None) -> Claim:
    """The claim that was just written; an error if its epoch is beyond the last one, so that it is undone."""
    if epoch > LAST_EPOCH:
        raise lasting(
            f"{resource} has epoch {epoch - 1}, the largest possible one: the log is damaged",
            "`interlock events --export all`, move the log away, `interlock events --import all`",
        )
    return Claim(resource, epoch, holder, fence.epoch if fence else 0)


def not_empty(facts: int) -> UsageError:
    """Restoring over an existing log."""
    return UsageError(
        f"the log already holds {facts} facts", "restore into a new state folder or project name"
    )


def another_owner(what: str, setting: str, lineage: str) -> EnvironmentProblem:
    """A log that another repository owns: two that share one would not agree where main is."""
    return lasting(
        f"{what} belongs to another repository ({lineage})",
        f"set another `{setting}`; or, if this is a new copy of that repository, write "
        f"`{lineage}` into the file `lineage` in its state folder",
    )


def newer_schema(where: str, version: int, needs: str) -> EnvironmentProblem:
    """A log that a later version of Interlock has written."""
    needed = f"Interlock {needs}" if needs else "a newer Interlock"
    return lasting(
        f"the log {where} needs {needed}: it has schema {version}, and {__version__} knows {SCHEMA}",
        f"install {needed}{' or newer' if needs else ''}, then run the same command again",
    )


def migrated(where: str, version: int) -> str:
    """Return the message of the command that migrated the log."""
    return (
        f"the log {where} was migrated from schema {version} to {SCHEMA}; "
        "older versions of Interlock can no longer use it"
    )


def lasting(message: str, hint: str) -> EnvironmentProblem:
    """A problem that trying again does not solve."""
    problem = EnvironmentProblem(message, hint)
    problem.retryable = False
    return problem

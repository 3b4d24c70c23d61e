"""The errors that every store raises in the same words."""

from interlock.model.claim import LAST_EPOCH, Claim
from interlock.model.errors import EnvironmentProblem, StaleEpoch, UsageError


def stale(fence: Claim) -> StaleEpoch:
    """A write under a fence that no longer holds."""
    return StaleEpoch(f"{fence.resource} is no longer held by {fence.holder} at epoch {fence.epoch}")


def claimed(resource: str, epoch: int, holder: str, fence: Claim | None) -> Claim:
    """The claim that was just written; an error if its epoch is beyond the last one, so that it is undone."""
    if epoch > LAST_EPOCH:
        raise lasting(
            f"{resource} stands at epoch {epoch - 1} in the log, and no epoch may follow: the log is damaged",
            "`interlock events --export all`, move the log away, `interlock events --import all`",
        )
    return Claim(resource, epoch, holder, fence.epoch if fence else 0)


def not_empty(facts: int) -> UsageError:
    """Restoring over an existing log."""
    return UsageError(
        f"the log already holds {facts} facts", "restore into a new state folder or project name"
    )


def another_owner(project: str, lineage: str) -> EnvironmentProblem:
    """A project name that another repository uses in the same database."""
    return lasting(
        f"the database has a project `{project}` already, of another repository ({lineage})",
        "set another `project_name`; or, if this is a new copy of that repository, write "
        f"`{lineage}` into the file `lineage` in its state folder",
    )


def newer_schema(where: str, version: int, known: int) -> EnvironmentProblem:
    """A log that a later version of Interlock has written."""
    return lasting(
        f"the log {where} was written by a newer Interlock (schema {version}, this one knows {known})",
        "upgrade Interlock, then run the same command again",
    )


def lasting(message: str, hint: str) -> EnvironmentProblem:
    """A problem that trying again does not solve."""
    problem = EnvironmentProblem(message, hint)
    problem.retryable = False
    return problem

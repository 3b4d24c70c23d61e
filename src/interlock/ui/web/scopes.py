"""The rights of a caller of the API."""

from dataclasses import dataclass
from enum import IntEnum
from math import inf

from interlock.model.errors import UserError


class Scope(IntEnum):
    """Rights, each with those before it."""

    OPEN = 0
    """No token: routes that tell nothing."""
    OWN = 1
    """An agent: its own attempt."""
    READ = 2
    ACT = 3
    DECIDE = 4
    """What only a person may decide: permissions, answers, approvals."""


PERSONS = {"read": Scope.READ, "act": Scope.ACT, "decide": Scope.DECIDE}
"""The scopes that a token of a person may have, by name."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, as its token says."""

    scope: Scope
    project: str = ""
    """The project of an agent."""
    task: str = ""
    attempt: int = 0
    until: float = inf
    """The time at which the rights end: those of a cookie do."""

    @property
    def name(self) -> str:
        return self.scope.name.lower()


class Refused(UserError):
    """The request is not allowed."""

    code = "refused"
    status = 403


class Unknown(Refused):
    """The token is missing, wrong or too old."""

    code = "token"
    status = 401


class TooMany(Refused):
    """The server has as much to do as it takes on."""

    code = "too-many"
    status = 503
    retryable = True


class NotThere(UserError):
    """The resource does not exist."""

    code = "not-found"
    status = 404

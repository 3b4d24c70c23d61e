"""Checks on main itself, before anything is built on it."""

from collections.abc import Sequence

from interlock.engine.project import Project
from interlock.model.outcome import CheckResult
from interlock.verify.protocol import CheckOrder

CHECK_SECONDS = 900.0
"""The default of `check_timeout`."""


async def try_checks(
    project: Project, commands: Sequence[str], timeout_seconds: float = CHECK_SECONDS
) -> Sequence[CheckResult]:
    """Run each command once on main, in the sandbox, as a run would. Nothing is written to the log.

    `CheckResult.unable` says why one could not run, and `suite` which tests it has.
    """
    tip = await project.repository.tip()
    return await project.checker.check(CheckOrder("tried", tip.tree, tuple(commands), timeout_seconds, {}))

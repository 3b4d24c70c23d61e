"""Checks on main itself, before anything is built on it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from interlock.engine.project import Project
from interlock.model.outcome import CheckResult
from interlock.verify.protocol import CheckOrder

CHECK_SECONDS = 900.0
"""The default of `check_timeout`."""
NO_INPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
"""Every check sees all files."""


async def try_checks(
    project: Project,
    commands: Sequence[str],
    timeout_seconds: float = CHECK_SECONDS,
    inputs: Mapping[str, tuple[str, ...]] = NO_INPUTS,
) -> Sequence[CheckResult]:
    """Run each command once on main, in the sandbox, as a run would. Nothing is written to the log.

    `CheckResult.unable` says why one could not run, and `suite` which tests it has.
    """
    tip = await project.repository.tip()
    order = CheckOrder("tried", tip.tree, tuple(commands), timeout_seconds, {}, inputs=inputs)
    results = await project.checker.check(order)
    return [replace(result, inputs=inputs.get(result.command, ())) for result in results]

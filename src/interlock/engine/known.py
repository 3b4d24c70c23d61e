"""Runs the checks of a tree, except those whose result is known from an earlier run on the same files."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from interlock.engine.env import Env
from interlock.model.outcome import CheckKey, CheckResult
from interlock.verify.protocol import CheckOrder

LookUp = Callable[[CheckKey], CheckResult | None]
"""Returns the known result of a check; None: it must run. `events.known_checks.known_check` of the state."""


def never(_key: CheckKey) -> CheckResult | None:
    """Find no known result: every check runs."""
    return None


async def run_known(env: Env, order: CheckOrder, look_up: LookUp) -> list[CheckResult]:
    """Return the results of all commands of an order, in their order. Only those that are not known run."""
    environment = env.environment()
    keys = {c: CheckKey(c, environment, order.tree, change_digest(order.changed)) for c in order.commands}
    found = {command: look_up(key) for command, key in keys.items()} if environment else {}
    missing = tuple(command for command in order.commands if not found.get(command))
    ran = await env.checker.check(replace(order, commands=missing)) if missing else ()
    # A program may have been installed meanwhile: it is not known which of the two they ran with.
    sure = environment if environment == env.environment() else ""
    results = {result.command: _stamped(result, keys[result.command], sure) for result in ran}
    return [found.get(command) or results[command] for command in order.commands]


def change_digest(changed: Sequence[str]) -> str:
    """Return the digest of the names of a change's files; empty if there are none."""
    names = "\0".join(sorted(changed))
    return hashlib.sha256(names.encode(errors="replace")).hexdigest()[:16] if names else ""


def _stamped(result: CheckResult, key: CheckKey, environment: str) -> CheckResult:
    return replace(result, saw=key.saw, environment=environment, change=key.change)

"""Runs the checks of a tree, except those whose result is known from an earlier run on the same files.

1. The key of a result has the files that the command can see: all of the tree, or its `inputs`.
2. Of a change it has those files that the command can see. Of the others it is certain that the command has
   not read them.
3. The values of leases are not in it, as any is as good as the others. The names of their variables are.
4. Without a sandbox a check may have read more than its `inputs`: then it runs each time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from interlock.engine.env import Env
from interlock.model.glob_walk import leads_to
from interlock.model.globs import matches
from interlock.model.outcome import CheckKey, CheckResult
from interlock.model.task import Tree
from interlock.verify.protocol import CheckOrder

LookUp = Callable[[CheckKey], CheckResult | None]
"""Returns the known result of a check; None: it must run. `events.known_checks.known_check` of the state."""


def never(_key: CheckKey) -> CheckResult | None:
    """Find no known result: every check runs."""
    return None


async def run_known(env: Env, order: CheckOrder, look_up: LookUp) -> list[CheckResult]:
    """Return the results of all commands of an order, in their order. Only those that are not known run."""
    environment = await env.environment()
    keys = await keys_of(env, order, environment)
    reusable = [command for command in order.commands if env.is_confined or not order.inputs.get(command)]
    found = {command: look_up(keys[command]) for command in reusable} if environment else {}
    missing = tuple(command for command in order.commands if not found.get(command))
    ran = await env.checker.check(replace(order, commands=missing)) if missing else ()
    # A program may have been installed meanwhile: it is not known which of the two they ran with.
    sure = _with_names(order, environment) if environment == await env.environment() else ""
    results = {result.command: _stamped(result, keys[result.command], sure) for result in ran}
    return [_about(order, found.get(command) or results[command]) for command in order.commands]


async def keys_of(env: Env, order: CheckOrder, environment: str) -> dict[str, CheckKey]:
    """Return what the result of each command depends on."""
    saw = await seen_by(env, order.tree, order.commands, order.inputs)
    return {
        command: CheckKey(command, _with_names(order, environment), saw[command], _change(order, command))
        for command in order.commands
    }


def narrowed(result: CheckResult, order: CheckOrder) -> CheckResult:
    """Return a result for several changes as that of one of them: `order` has its files.

    The result must name the files that the command read."""
    unread = tuple(path for path in result.unread if path in order.watched)
    read = sum(path in order.watched for path in result.read)
    return replace(
        result,
        watched=read + len(unread),
        unread=unread,
        read=(),
        edited=tuple(path for path in result.edited if path in order.changed),
        change=_change(order, result.command),
    )


def _with_names(order: CheckOrder, environment: str) -> str:
    return " ".join([environment, *sorted(order.env)]) if environment else ""


async def seen_by(
    env: Env, tree: Tree, commands: Sequence[str], inputs: Mapping[str, tuple[str, ...]]
) -> dict[str, Tree]:
    """Return the tree that each command sees of this one."""
    return {
        command: await env.reduced(tree, globs) if (globs := inputs.get(command)) else tree
        for command in commands
    }


def is_seen(path: str, inputs: Sequence[str]) -> bool:
    """Tell if a check with these inputs sees a file. Without inputs it sees all files.

    It sees the attributes of the folders on the way to its inputs, which decide how git writes these.
    """
    folder, _, name = path.rpartition("/")
    is_rule = name == ".gitattributes" and leads_to(folder, inputs)
    return not inputs or is_rule or any(matches(glob, path) for glob in inputs)


def _change(order: CheckOrder, command: str) -> str:
    """Return the digest of the names of those files of the change that a command sees; empty if none."""
    inputs = order.inputs.get(command, ())
    names = "\0".join(sorted(path for path in order.changed if is_seen(path, inputs)))
    return hashlib.sha256(names.encode(errors="replace")).hexdigest()[:16] if names else ""


def _stamped(result: CheckResult, key: CheckKey, environment: str) -> CheckResult:
    return replace(result, saw=key.saw, environment=environment, change=key.change)


def _about(order: CheckOrder, result: CheckResult) -> CheckResult:
    """Add the files of this change that the command could not even see: it has not read them."""
    inputs = order.inputs.get(result.command, ())
    hidden = tuple(path for path in order.watched if not is_seen(path, inputs))
    unread = tuple(path for path in result.unread if is_seen(path, inputs))
    watched = result.watched - len(result.unread) + len(unread)
    if watched or len(hidden) == len(order.watched):  # else it is not known what it read of the others
        watched, unread = watched + len(hidden), unread + hidden
    return replace(result, watched=watched, unread=unread, inputs=inputs)

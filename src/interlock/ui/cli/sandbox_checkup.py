"""What `doctor` says of the sandbox: which one, what was found for it, and what holds its limits."""

from collections.abc import Iterator

from interlock.model.errors import UserError
from interlock.model.sandbox import Limits
from interlock.process.ceilings import ceilings_in_words
from interlock.process.choice import UNSAFE_VARIABLE, SandboxRequest, SandboxTrial, none_is_wanted, try_all
from interlock.sandbox.unprivileged import unprivileged
from interlock.ui.cli.findings import Finding, Health

NAMED = 6
"""Toolchains that are named one by one."""


def sandbox_findings(wanted: SandboxRequest, limits: Limits) -> Iterator[Finding]:
    """Rows for the sandbox, the toolchains in it and the limits."""
    if none_is_wanted():
        text = f"{UNSAFE_VARIABLE} is set: agents and checks run without one, and can do whatever you can"
        yield Finding("sandbox", Health.WARNING, text, f"unset {UNSAFE_VARIABLE}")
        yield _limits(limits)
        return
    try:
        tried = try_all(wanted)
    except UserError as error:
        yield Finding("sandbox", Health.BAD, str(error), error.hint)
        return
    yield from (_failed(each, tried) for each in tried if each.confinement is None)
    works = tried[-1].confinement
    if works is None:
        return
    if works.missing:
        yield Finding("sandbox", Health.WARNING, f"reduced sandbox ({works.kind.value}): {works.missing}")
    else:
        user = unprivileged()
        whom = f", as user {user.uid} and not as root" if user else ""
        text = f"{works.kind.value}: a program was confined by it just now, as agents are{whom}"
        yield Finding("sandbox", Health.OK, text)
    yield _toolchains(works.toolchains.folders)
    yield _limits(limits)


def workspace_finding(why_copies: str) -> Finding:
    """How workspaces and checks get their files."""
    if not why_copies:
        text = "overlays: agents and checks work at the path of your checkout, and change nothing there"
        return Finding("workspaces", Health.OK, text)
    text = f"copies, at a path of their own and without what git ignores in your checkout: {why_copies}"
    return Finding("workspaces", Health.WARNING, text)


def _failed(each: SandboxTrial, tried: tuple[SandboxTrial, ...]) -> Finding:
    """Of several that fail, one must be mended; behind a weaker one that works, it would be better."""
    health = Health.WARNING if tried[-1].confinement else Health.BAD
    return Finding("sandbox", health, f"{each.kind.value}: {each.message}", each.fix)


def _toolchains(folders: tuple[str, ...]) -> Finding:
    if not folders:
        return Finding("toolchains", Health.OK, "only the system's own programs")
    more = f" and {len(folders) - NAMED} more" if len(folders) > NAMED else ""
    return Finding("toolchains", Health.OK, f"read-only: {', '.join(folders[:NAMED])}{more}")


def _limits(limits: Limits) -> Finding:
    holds = ceilings_in_words()
    parts = [
        f"memory {limits.memory_bytes / (1 << 30):.3g} GiB ({holds['memory']})"
        if limits.memory_bytes
        else "",
        f"{limits.processes} processes ({holds['processes']})" if limits.processes else "",
        f"disk {limits.disk_bytes / (1 << 30):.3g} GiB ({holds['disk']})" if limits.disk_bytes else "",
    ]
    return Finding("limits", Health.OK, ", ".join(filter(None, parts)) or "none are set")

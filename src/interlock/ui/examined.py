"""The rows of `doctor` that take no time: program, machine, branch and checkout, state folder, disk."""

import os
import platform
import shutil
from pathlib import Path

from interlock import __version__
from interlock.engine.host import LocalHost
from interlock.engine.project import Project
from interlock.engine.settings import store_address
from interlock.git.checkout import CheckoutState
from interlock.ui.plain import counted
from interlock.ui.queries.findings import Finding, Health, bad, good, warning

LOW_BYTES = 1 << 30
"""Workspaces and logs of a few agents fit into this; below it a run may stop for want of room."""
EMPTY_BYTES = 100 << 20


async def program_findings(_: Project) -> list[Finding]:
    text = f"{__version__} on Python {platform.python_version()}, {platform.system()} {platform.release()}"
    return [good("interlock", text)]


async def machine_findings(_: Project) -> list[Finding]:
    host = LocalHost().read()
    parts = [f"load {load_average():.1f} on {counted(host.cores, 'processor')}"]
    if host.total_bytes:
        parts.append(f"{_gib(host.available_bytes)} of {_gib(host.total_bytes)} GiB of memory free")
    return [good("machine", ", ".join(parts))]


def _gib(amount: int) -> str:
    return f"{amount / (1 << 30):.1f}"


def load_average() -> float:
    """Return the number of programs that ran or waited for a processor, over the last minute."""
    return os.getloadavg()[0]


def log_bytes(project: Project) -> int | None:
    """Return the size of the log on the disk; None: it is on a database server."""
    address = store_address(project.settings, project.state_dir)
    if "://" in address:
        return None
    parts = (Path(f"{address}{ending}") for ending in ("", "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())


async def branch_findings(project: Project) -> list[Finding]:
    place = project.place
    tip = await project.repository.tip()
    await project.repository.refuse_absent_files()
    findings = [good("branch", f"work lands on {place.branch}, now at {tip.commit[:12]}")]
    checkout = await project.repository.checkout()
    if checkout.held:
        findings.append(warning("checkout", checkout.held, "git status"))
    elif checkout.state is CheckoutState.DIRTY:
        some = ", ".join(checkout.dirty[:3])
        text = f"uncommitted changes ({some}): changes to the same files wait to land"
        findings.append(good("checkout", text))
    elif not place.head and place.work_tree:
        text = "HEAD is detached; this checkout does not follow landed changes"
        findings.append(warning("checkout", text, f"git switch {place.branch}"))
    else:
        findings.append(good("checkout", checkout.state.value))
    findings += [
        warning("lock", f"{lock} is old", f"if no git is running: rm '{lock}'")
        for lock in project.repository.old_locks()
    ]
    return findings


async def state_findings(project: Project) -> list[Finding]:
    folder = project.state_dir if project.state_dir.exists() else project.state_dir.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        return [bad("state", f"{folder} cannot be written to", f"chmod u+rwx '{folder}'")]
    made = "" if project.state_dir.exists() else " (made by the first run)"
    return [good("state", f"{project.state_dir}{made}")]


async def disk_findings(project: Project) -> list[Finding]:
    free = disk(project).free
    text, reserve = f"{free / (1 << 30):.1f} GiB free", project.settings.disk_reserve_bytes
    if free < reserve:
        text += (
            f": below the reserve of {_gib(reserve)} GiB (disk_reserve_bytes), so one agent runs at a time"
        )
    if free >= max(LOW_BYTES, reserve):
        return [good("disk", text)]
    health = Health.BAD if free < EMPTY_BYTES else Health.WARNING
    return [Finding("disk", health, text, "interlock gc --older-than 1h")]


def disk(project: Project) -> shutil._ntuple_diskusage:
    """Return the size and the free space of the disk with the workspaces."""
    return shutil.disk_usage(project.state_dir if project.state_dir.exists() else project.state_dir.parent)

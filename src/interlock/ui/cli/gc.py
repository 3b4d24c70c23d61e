"""`interlock gc`: makes room. Work that is nowhere else stays, unless a flag says otherwise."""

import asyncio
import os
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR

import click

from interlock.engine.environments import drop_left
from interlock.engine.loading import load_state
from interlock.engine.project import Project
from interlock.engine.records import RecordLimits, outdated, record_folders
from interlock.git.files import SCRATCH, remove_tree
from interlock.git.trash import Left, LeftState
from interlock.model.durations import lasting
from interlock.model.task import TaskId
from interlock.process.probe import FOLDERS
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say_result
from interlock.ui.cli.session import opened_fully, run_async, seconds_option

DAY_SECONDS = 86_400
SCRATCH_SECONDS = 3_600
"""No command that works in such a folder takes as long."""


@dataclass(frozen=True, slots=True)
class GcOptions:
    """The options of the command."""

    dry_run: bool
    older_than: str | None
    records_older_than: str | None
    delete_unmerged: bool


@dataclass(frozen=True, slots=True)
class Swept:
    """The left-over files that were found, and their fate."""

    removed: list[Left]
    refused: list[Left]
    """Not in the repository: only --delete-unmerged removes these."""
    in_use: list[Left]
    """Folders of a run that is active, or that the next one archives."""


@cli_command("gc")
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
@click.option(
    "--older-than",
    metavar="TIME",
    help="Only files older than this, such as 12h or 7d (default: keep_trash_days).",
)
@click.option(
    "--records-older-than",
    metavar="TIME",
    help="Outputs, transcripts and evidence of finished tasks older than this (default: keep_record_days).",
)
@click.option("--delete-unmerged", is_flag=True, help="Also delete work of agents that git could not store.")
def gc_command(
    invocation: Invocation,
    dry_run: bool,
    older_than: str | None,
    records_older_than: str | None,
    delete_unmerged: bool,
) -> None:
    """Remove workspaces, trash, homes of agents, set-ups, old records and scratch folders.

    The commits of agents stay in git, and the log of facts stays whole.

    For example: interlock gc --dry-run
    """
    wanted = GcOptions(dry_run, older_than, records_older_than, delete_unmerged)
    swept = run_async(_sweep(invocation, wanted))
    document = {
        "dry_run": dry_run,
        "removed": swept.removed,
        "refused": swept.refused,
        "in_use": swept.in_use,
    }
    what = "would remove" if dry_run else "removed"
    lines = [f"{what} {left.path} ({lasting(left.age_seconds)} old)" for left in swept.removed]
    say_result(invocation, document, *(lines or ["nothing to remove"]))
    if invocation.json:
        return
    for left in swept.refused:
        note(f"kept {left.path}: it has work that is not in the repository")
    if swept.refused:
        note("to delete it for good: interlock gc --delete-unmerged")
    for left in swept.in_use:
        note(f"kept {left.path}: it is in use, or the next `interlock run` archives it")
    if swept.in_use:
        note("sizes: interlock workspace list; deleting such a folder by hand loses the work in it")


async def _sweep(invocation: Invocation, wanted: GcOptions) -> Swept:
    dry_run, delete_unmerged = wanted.dry_run, wanted.delete_unmerged
    async with opened_fully(invocation) as project:
        settings = project.settings
        seconds = _seconds("--older-than", wanted.older_than, settings.keep_trash_days)
        records = RecordLimits(
            _seconds("--records-older-than", wanted.records_older_than, settings.keep_record_days),
            settings.record_limit_bytes,
        )
        is_free = not await project.is_running()
        removed = await _finished(project, dry_run) if is_free else []
        removed += await project.workspaces.gc(seconds, dry_run=dry_run)
        if is_free:
            removed += await _setups(project, seconds, dry_run)
        evidence = [left for left in project.workspaces.listing() if left.state is LeftState.EVIDENCE]
        refused = [left for left in evidence if not delete_unmerged or left.age_seconds < seconds]
        folders = await _homes(project, seconds) if is_free else []
        folders += [left for left in evidence if left not in refused]
        folders += await _records(project, records) if is_free else []
        if not dry_run:
            for left in folders:
                await asyncio.to_thread(remove_tree, left.path)
        removed += folders + await _scratch(project, dry_run)
        if is_free and not dry_run:
            await drop_left(project.databases, note)
        in_use = [left for left in project.workspaces.listing() if left.state is LeftState.OPEN]
    return Swept(removed, refused, in_use)


def _seconds(option: str, said: str | None, days: int) -> float:
    return seconds_option(option, said, "12h or 7d") if said is not None else days * DAY_SECONDS


async def _records(project: Project, limits: RecordLimits) -> list[Left]:
    """Outputs, transcripts and evidence that may go."""
    tasks = (await load_state(project.store)).tasks.values()
    needed = {str(task.spec.id) for task in tasks if not task.is_over}
    for left in project.workspaces.listing():
        if left.state in (LeftState.OPEN, LeftState.COLLECTED):
            needed.add(left.path.parent.name)
        elif left.state is LeftState.EVIDENCE:
            needed.add(left.path.name.rsplit("-", 2)[0])
    found = await asyncio.to_thread(record_folders, project.state_dir, time.time())
    return [
        Left(record.path, LeftState.RECORDS, record.age_seconds) for record in outdated(found, needed, limits)
    ]


async def _finished(project: Project, dry_run: bool) -> list[Left]:
    """Workspaces whose work was taken in, but whose run ended before it could give them up."""
    found = [left for left in project.workspaces.listing() if left.state is LeftState.COLLECTED]
    for left in found:
        workspace = await project.workspaces.find(TaskId(left.path.parent.name), int(left.path.name))
        if workspace and not dry_run:
            await project.workspaces.discard(workspace)
    return found


async def _homes(project: Project, older_than_seconds: float) -> list[Left]:
    """Session files that agent programs kept, of tasks that are over. Other tasks may still need theirs."""
    tasks = (await load_state(project.store)).tasks
    found = []
    for folder in sorted((project.state_dir / "homes").glob("*")):
        task = tasks.get(TaskId(folder.name))
        age = time.time() - max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
        if (task is None or task.is_over) and age >= older_than_seconds:
            found.append(Left(folder, LeftState.HOME, age))
    return found


async def _scratch(project: Project, dry_run: bool) -> list[Left]:
    """Folders of commands that were killed: nothing in them is needed by another command."""
    found = []
    for place in (project.state_dir, Path(tempfile.gettempdir())):
        for folder in sorted(path for start in (SCRATCH, FOLDERS) for path in place.glob(f"{start}*")):
            with suppress(FileNotFoundError):
                seen = folder.lstat()
                age = time.time() - seen.st_mtime
                if S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and age >= SCRATCH_SECONDS:
                    found.append(Left(folder, LeftState.SCRATCH, age))
    if not dry_run:
        for left in found:
            await asyncio.to_thread(remove_tree, left.path)
    return found


async def _setups(project: Project, older_than_seconds: float, dry_run: bool) -> list[Left]:
    paths = project.setups.outdated(older_than_seconds)
    found = [Left(path, LeftState.SETUP, time.time() - path.lstat().st_mtime) for path in paths]
    if not dry_run:
        await asyncio.to_thread(project.setups.clear_up, older_than_seconds)
    return found

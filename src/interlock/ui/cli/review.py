"""`interlock review`, `approve`, `reject` and `comment`: a person decides about tested changes."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from interlock.events.state import TaskState
from interlock.events.task_parts import Review
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.outcome import CheckResult
from interlock.ui.actions.review import approve, comment, reject, spot_in_change, spot_of
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import (
    Invocation,
    note,
    paint,
    say,
    say_json,
    say_listing,
    say_result,
    stdout_color,
)
from interlock.ui.cli.session import opened, person, read
from interlock.ui.cli.show import check_line, diff_line
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.queries.review import (
    checks_of,
    in_review,
    review_document,
    review_of,
    review_row,
    reviews_document,
)
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, history
from interlock.ui.words.evidence import evidence_text
from interlock.ui.words.reasons import reason_text

if TYPE_CHECKING:  # it takes long to import, and an approval needs none of it
    from interlock.engine.project import Project

PAGER = "less"
LESS = "FRX"
"""The options that git gives `less`: short texts leave it at once, colours are shown, the text stays."""


@cli_command("review")
@click.argument("task", required=False)
async def review_command(invocation: Invocation, task: str | None) -> None:
    """List the changes that wait for review, or show that of TASK: its checks, its diff and the comments.

    On a terminal the change opens in the pager that git uses. For example: interlock review login
    """
    from interlock.engine.project import open_project

    if task is None:
        async with opened(invocation) as log:
            reading = await read(log.store)
        lines = [line for found in in_review(reading) for line in _row_lines(found, reading.now)]
        say_listing(invocation, lambda: reviews_document(reading), lines or ["no change waits for review"])
        return
    async with open_project(invocation.project, tell=note) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        review = review_of(found)
        checks = checks_of(await history(project.store, found.spec.id), review.commit)
        diff = await project.repository.diff(review.base, review.commit)
    if invocation.wants_json():
        say_json(review_document(reading, found, checks, diff))
        return
    _show(project, change_lines(reading, found, review, checks, diff))


def _row_lines(task: TaskState, now: float) -> Iterator[str]:
    row = review_row(task)
    lines = "no text" if row.lines is None else counted(row.lines, "line")
    size = f"{counted(row.files, 'file')}, {lines}"
    yield f"{paint(task.spec.id, 'cyan')}  {size}, for {lasting(max(0.0, now - row.since))}"
    yield f"    {one_line(inert(task.spec.goal))}"
    yield f"    {row.reason.get('text', '')}"
    if row.comments:
        yield f"    {counted(len(row.comments), 'comment')}"
    yield f"  next: {paint(row.next[0], 'cyan')}" + "".join(f", or {more}" for more in row.next[1:])


def change_lines(
    reading: Reading, task: TaskState, review: Review, checks: Sequence[CheckResult], diff: str
) -> Iterator[str]:
    yield f"{paint(task.spec.id, 'cyan')}  {_standing(task, review)}"
    yield f"goal      {inert(task.spec.goal).strip().replace(chr(10), f'{chr(10):11}')}"
    if review.why:
        yield f"why       {reason_text(review.why)}"
    yield f"change    {review.commit[:12]} on {review.base[:12]}, {_is_on_main(reading, review)}"
    yield f"evidence  {evidence_text(task.evidence)}"
    for check in checks:
        yield f"          {check_line(check)}"
    for each in review.comments:
        yield ""
        place = f" on {one_line(each.path)}{f', line {each.line}' if each.line else ''}" if each.path else ""
        yield f"comment of {one_line(each.by)}{place}"
        for line in each.around.splitlines():
            yield f"    {inert(line)}"
        for line in each.text.splitlines():
            yield f"  {inert(line)}"
    yield ""
    yield from map(diff_line, diff.removesuffix("\n").split("\n"))
    if task.in_review:
        name = task.spec.id
        yield ""
        commands = (f"interlock approve {name}", f'interlock reject {name} -m "..."')
        yield f"next: {paint(commands[0], 'cyan')}, or {commands[1]}"


def _standing(task: TaskState, review: Review) -> str:
    if review.approved:
        return f"approved by {one_line(review.by)}"
    return "waits for review" if task.in_review else f"is {task.stage.value}"


def _is_on_main(reading: Reading, review: Review) -> str:
    is_there = review.base == reading.state.main.commit
    return "where main is now" if is_there else "main has moved since; it is tested there before it lands"


def _show(project: "Project", lines: Iterable[str]) -> None:
    """Show lines in the pager that git would use; where the output is no terminal, print them."""
    pager = _pager(project.place.settings.get("core.pager", ""))
    if not sys.stdout.isatty() or pager in ("", "cat"):
        for line in lines:
            say(line)
        return
    environ = {"LESS": LESS, "LV": "-c"} | os.environ
    text = "".join(f"{line if stdout_color() else click.unstyle(line)}\n" for line in lines)
    sys.stdout.flush()
    started = subprocess.run(  # as git does: the setting is a command line of the person's own
        ["/bin/sh", "-c", pager], input=text.encode("utf-8", "replace"), env=environ, check=False
    )
    if started.returncode == 127:
        note(f"the pager `{shlex.quote(pager)}` was not found; set core.pager in git, or PAGER")


def _pager(configured: str) -> str:
    """The pager by git's own rules."""
    return os.environ.get("GIT_PAGER", configured or os.environ.get("PAGER", PAGER))


@cli_command("approve")
@click.argument("tasks", nargs=-1, metavar="TASK...")
@click.option("--all", "everything", is_flag=True, help="Approve every change that waits for review.")
@click.option("-m", "--note", "text", default="", help="A note for the log.")
@click.option("--change", "digest", default="", metavar="ID", help="Only if it is still this change.")
async def approve_command(
    invocation: Invocation, tasks: tuple[str, ...], everything: bool, text: str, digest: str
) -> None:
    """Approve the changes of TASKS: they may land.

    An approval is for the change as it is: one that is altered on its way to main is asked about again.
    For example: interlock approve login
    """
    if everything == bool(tasks):
        raise UsageError("nothing to approve: name tasks or use --all", "interlock review")
    actor = person()
    async with opened(invocation) as project:
        reading = await read(project.store)
        chosen = in_review(reading) if everything else [find(reading.state, name) for name in tasks]
        if not chosen:
            raise UsageError("no change waits for review", "interlock status")
        await approve(project.store, reading, chosen, text, actor, digest)
    names = [task.spec.id for task in chosen]
    lines = [f"{name} is approved" for name in names]
    say_result(invocation, {"approved": names, "live": reading.is_live}, *lines, _after(reading))


@cli_command("reject")
@click.argument("task")
@click.option("-m", "--note", "text", default="", help="Why: the next attempt is told.")
@click.option("--change", "digest", default="", metavar="ID", help="Only if it is still this change.")
async def reject_command(invocation: Invocation, task: str, text: str, digest: str) -> None:
    """Reject the change of TASK: its agent makes another one, with your note and comments as feedback.

    A rejection does not count as a failed attempt. For example: interlock reject login -m "keep the old API"
    """
    actor = person()
    async with opened(invocation) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        await reject(project.store, reading, found, text, actor, digest)
    name = found.spec.id
    say_result(
        invocation,
        {"task": name, "rejected": True, "live": reading.is_live},
        f"{name} is rejected: its next attempt gets your words",
        _after(reading),
    )


@cli_command("comment")
@click.argument("task")
@click.argument("place", metavar="FILE:LINE")
@click.argument("text", nargs=-1, required=True)
async def comment_command(invocation: Invocation, task: str, place: str, text: tuple[str, ...]) -> None:
    """Comment on a line of the change of TASK that waits for review, or on a file of it.

    Comments reach the agent when the change is rejected. LINE is a line of the file as the change leaves it.
    For example: interlock comment login src/login.py:12 "this needs a test"
    """
    from interlock.engine.project import open_project

    actor, spot = person(), spot_of(place)
    async with open_project(invocation.project, tell=note) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        spot = await spot_in_change(project.screening, found, spot)
        await comment(project.store, reading, found, spot, " ".join(text).strip(), actor)
    name = found.spec.id
    document = {"task": name, "path": spot.path, "line": spot.line}
    after = f"next: interlock reject {name}, or interlock approve {name}"
    say_result(invocation, document, f"{name}: commented on {one_line(place)}", after)


def _after(reading: Reading) -> str:
    return "the active run takes it up" if reading.is_live else "next: interlock run"

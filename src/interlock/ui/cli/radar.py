"""`interlock radar`: which changes under way conflict with each other or with main, once or until Ctrl-C."""

import sys
from collections.abc import Iterator
from dataclasses import replace

import click

from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.radar import MAIN
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, note, paint, say, say_json, say_line
from interlock.ui.cli.session import ProjectLog, opened, read
from interlock.ui.cli.status import FRAME_SECONDS, wait_for_next
from interlock.ui.queries.radar import RadarView, radar_document, radar_view
from interlock.ui.reading import LOOK_AGAIN_SECONDS, Reading
from interlock.ui.words.radar import overlap_text

NAME_CHARS = 30
"""A longer name is cut in the matrix. The lines below it have it whole."""


@cli_command("radar")
@click.option("-w", "--watch", is_flag=True, help="Update it until Ctrl-C.")
async def radar_command(invocation: Invocation, watch: bool) -> int:
    """Show which running changes conflict with each other or with main, and in which files.

    For example: interlock radar --watch
    """
    if watch and not invocation.wants_json() and not sys.stdout.isatty():
        raise UsageError("--watch needs a terminal", "interlock radar -w --json, or interlock events -f")
    async with opened(invocation) as project:
        reading = await read(project.store)
        if watch:
            await (_documents if invocation.wants_json() else _picture)(project, reading)
        elif invocation.wants_json():
            say_json(radar_document(radar_view(reading)))
        else:
            _show(radar_view(reading))
    return ExitCode.OK


async def _documents(project: ProjectLog, reading: Reading) -> None:
    last: object = None
    while True:
        document = radar_document(radar_view(reading))
        shown = replace(document, time=0.0)
        if shown != last:
            last = shown
            say_line(document)
        reading = await wait_for_next(project.store, reading, LOOK_AGAIN_SECONDS)


async def _picture(project: ProjectLog, reading: Reading) -> None:
    from rich.text import Text

    from interlock.ui.cli.live import Screen

    now = reading

    def draw() -> Text:
        view = radar_view(now)
        return Text.from_ansi("\n".join(lines(view)) or nothing(view), no_wrap=True)

    async with Screen(draw).on():
        while True:
            now = await wait_for_next(project.store, now, FRAME_SECONDS)


def _show(view: RadarView) -> None:
    for line in lines(view):
        say(line)
    if not view.overlaps:
        note(nothing(view))


def nothing(view: RadarView) -> str:
    """Say why there is no overlap to show."""
    if not view.is_live:
        return "no run is active; next: interlock run"
    if not view.policy:
        return "the radar is off in this run; next: interlock config set radar warn"
    return "no changes under way conflict"


def lines(view: RadarView) -> Iterator[str]:
    if not view.is_live:
        return
    yield from _matrix(view)
    if view.overlaps:
        yield ""
    for each in view.overlaps:
        text = overlap_text(each.task, each.other, each.paths, each.count, len(each.paths))
        yield f"{paint(text, 'yellow')} (for {lasting(view.now - each.since)})"


def _matrix(view: RadarView) -> Iterator[str]:
    """A row for each change: the number of paths in which it conflicts with main and with each other one."""
    if not view.rows:
        return
    names = [each.task for each in view.rows]
    width = min(NAME_CHARS, max(map(len, names)))
    digits = len(str(len(names)))
    heads = "".join(f" {number + 1:>3}" for number in range(len(names)))
    yield f"{'':{digits + 1 + width}}  main{heads}"
    for number, row in enumerate(view.rows):
        name = row.task if len(row.task) <= width else f"{row.task[: width - 1]}…"
        cells = "".join(f" {_cell(view, row.task, other):>3}" for other in names)
        waits = "" if row.is_running else "  waits in the train"
        head = f"{number + 1:>{digits}} {name:{width}}"
        yield f"{paint(head, 'cyan')}  {_cell(view, row.task, MAIN):>4}{cells}{waits}"


def _cell(view: RadarView, task: str, other: str) -> str:
    if task == other:
        return "-"
    found = next((each for each in view.overlaps if {each.task, each.other} == {task, other}), None)
    return str(found.count) if found else "."

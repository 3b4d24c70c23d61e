"""`interlock status -w`: the status, updated until Ctrl-C."""

import sys

from interlock.engine.loading import catch_up
from interlock.events.lifecycle import Stage
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.store.protocol import Store
from interlock.ui.cli.exits import ExitCode
from interlock.ui.cli.output import Invocation, say, say_line
from interlock.ui.cli.session import ProjectLog, opened, read
from interlock.ui.cli.status import groups, heading, headline, lines
from interlock.ui.plain import inert
from interlock.ui.queries.status import status_document
from interlock.ui.reading import LOOK_AGAIN_SECONDS, Reading, look
from interlock.ui.words.run_lines import Telling

FRAME_SECONDS = 0.25


async def watch_status(invocation: Invocation) -> int:
    """A picture on a terminal; otherwise a document or a line for whatever changes. Ends with Ctrl-C."""
    async with opened(invocation) as project:
        reading = await read(project.store)
        if invocation.wants_json():
            await _documents(project.store, reading)
        elif sys.stdout.isatty():
            await _picture(project, reading)
        else:
            await _sentences(project.store, reading)
    return ExitCode.OK


async def _next(store: Store, reading: Reading, seconds: float) -> Reading:
    await store.wait(reading.state.seq, seconds)
    await catch_up(store, reading.state)
    return await look(store, reading.state)


async def _documents(store: Store, reading: Reading) -> None:
    seen = -1
    while True:
        if reading.state.seq != seen:
            seen = reading.state.seq
            say_line(status_document(reading))
        reading = await _next(store, reading, LOOK_AGAIN_SECONDS)


async def _sentences(store: Store, reading: Reading) -> None:
    say(headline(reading))
    telling = Telling()
    while True:
        await store.wait(reading.state.seq, LOOK_AGAIN_SECONDS)
        for row in await catch_up(store, reading.state):
            for _, text in telling.hear(row, reading.state):
                say(text)
        sys.stdout.flush()


def _notes(reading: Reading) -> dict[TaskId, str]:
    """The last note of the run about each task that it works on."""
    claims = {name: reading.claim_on(name) for name in reading.state.running}
    return {name: inert(claim.note) for name, claim in claims.items() if claim}


async def _picture(project: ProjectLog, reading: Reading) -> None:
    from rich.console import Group, RenderableType
    from rich.text import Text

    from interlock.ui.cli.at_work import Watcher
    from interlock.ui.cli.live import Screen, running_table

    now, watcher = reading, Watcher(project.state_dir, project.root)

    def draw() -> RenderableType:
        board = Board(now.state)
        if not now.is_live or not now.state.running:
            return Text.from_ansi("\n".join(lines(now)), no_wrap=True)
        return Group(
            Text.from_ansi("\n".join((*heading(now, board), "")), no_wrap=True),
            running_table(now.state, now.now, watcher, _notes(now)),
            Text.from_ansi("\n".join(groups(now, board, besides=Stage.RUNNING)), no_wrap=True),
        )

    async with Screen(draw).on():
        while True:
            now = await _next(project.store, now, FRAME_SECONDS)

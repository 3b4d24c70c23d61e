"""`interlock events`: the log itself, to read, follow, verify, and carry elsewhere."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TextIO

import click

from interlock.events.record import GENESIS, Recorded, verify_chain
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, say, say_json, say_line
from interlock.ui.cli.session import opened
from interlock.ui.queries.facts import fact_document
from interlock.ui.reading import LOOK_AGAIN_SECONDS, all_rows
from interlock.ui.words.facts import line


@cli_command("events")
@click.option("-f", "--follow", is_flag=True, help="Follow new facts until Ctrl-C.")
@click.option("--since", type=click.IntRange(min=0), default=0, help="Start after this fact.")
@click.option(
    "--verify", is_flag=True, help="Verify the hash chain: it finds a changed, missing or moved fact."
)
@click.option(
    "--export", "target", type=click.Path(dir_okay=False, allow_dash=True), help="Write the log to a file."
)
@click.option(
    "--import", "source", type=click.Path(dir_okay=False, exists=True), help="Fill an empty log from a file."
)
@click.option("--force", is_flag=True, help="Export over a file that holds something else.")
async def events_command(
    invocation: Invocation,
    /,
    follow: bool,
    since: int,
    verify: bool,
    **carried: Any,  # Any: what click hands over
) -> None:
    """Show the log of facts. With --json one line of JSON for each.

    For example: interlock events --since 120 -f
    """
    target, source = carried["target"], carried["source"]
    if sum((follow, verify, target is not None, source is not None)) > 1:
        raise UsageError("only one of --follow, --verify, --export and --import at a time")
    if verify:
        await _verify(invocation)
    elif target is not None:
        await _export(invocation, target, carried["force"])
    elif source is not None:
        await _import(invocation, Path(source))
    else:
        await _show(invocation, since, follow)


async def _show(invocation: Invocation, since: int, follow: bool) -> None:
    as_json = invocation.wants_json()
    async with opened(invocation) as project:
        async for row in _stream(project.store, since, follow):
            if as_json:
                say_line(fact_document(row))
            else:
                say(line(row))


async def _stream(store: Store, after: int, follow: bool) -> AsyncIterator[Recorded]:
    while True:
        async for row in all_rows(store, after):
            after = row.seq
            yield row
        if not follow:
            return
        await store.wait(after, LOOK_AGAIN_SECONDS)


async def _verify(invocation: Invocation) -> None:
    async with opened(invocation) as project:
        rows = [row async for row in all_rows(project.store)]
    count = verify_chain(rows)
    # A log that was cut off at its end is still intact: only its last hash, kept elsewhere, shows the cut.
    last = rows[-1].hash if rows else GENESIS
    if invocation.json:
        say_json({"facts": count, "ok": True, "last_hash": last})
    else:
        say(f"the chain of {count} facts is intact; its last hash is {last}")


async def _export(invocation: Invocation, target: str, force: bool) -> None:
    from interlock.ui.cli.export import export

    async with opened(invocation) as project:
        if target == "-":
            async for text in project.store.export():
                say(text.rstrip("\n"))
            return
        count = await export(project.store, Path(target), force)
    note(f"wrote {count} facts to {target}")


async def _import(invocation: Invocation, path: Path) -> None:
    from interlock.ui.actions.observed import import_log

    async with opened(invocation, create=True) as project:
        # A byte that is no text is replaced: the chain then names the fact that has it.
        with path.open(encoding="utf-8", errors="replace") as file:
            count = await import_log(project.store, _lines(file))
    note(f"imported {count} facts; the chain is intact")


async def _lines(file: TextIO) -> AsyncIterator[str]:
    for text in file:
        if text.strip():
            yield text

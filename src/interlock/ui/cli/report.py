"""`interlock report`: the morning report, sorted by what a person must decide. It can send itself."""

import os
from collections.abc import Iterator

import click

from interlock.model.durations import lasting
from interlock.model.errors import EnvironmentProblem, UsageError
from interlock.model.evidence import Grade
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read, seconds_option
from interlock.ui.plain import counted, inert, shortened
from interlock.ui.queries.report import Done, Report, report
from interlock.ui.reading import rows_since
from interlock.ui.words.evidence import steering_text
from interlock.ui.words.facts import clock
from interlock.ui.words.sessions import tokens

TEXT_CHARS = 160


@cli_command("report")
@click.option("--since", metavar="TIME", default="16h", show_default=True, help="Begin this long ago.")
@click.option("--send", is_flag=True, help="Also send it to your webhook and services, for cron.")
async def report_command(invocation: Invocation, since: str, send: bool) -> None:
    """Report the last hours: first what you must decide, then what landed, and what it took.

    For example: interlock report --since 12h
    """
    seconds = seconds_option("--since", since, "12h, 90m or 2d")
    async with opened(invocation) as project:
        reading = await read(project.store)
        begin = reading.now - seconds
        rows = [row async for row in rows_since(project.store, begin)]
        settings, name = project.settings, project.root.name
    found = report(reading, rows, begin)
    say_listing(invocation, lambda: found, [headline(found), *lines(found)])
    if send:
        from interlock.ui.notify.channels import Message
        from interlock.ui.notify.sender import channels, send_all

        ways = channels(settings, os.environ)
        if not ways:
            raise UsageError(
                "there is no address to send it to",
                "set notify_webhook or notify_urls in your own settings file (`interlock config path`)",
            )
        text = "\n".join(map(click.unstyle, lines(found)))
        if failures := await send_all(ways, Message(name, click.unstyle(headline(found)), text)):
            raise EnvironmentProblem(f"the report was not sent: {'; '.join(failures)}")
        note("the report was sent")


def headline(found: Report) -> str:
    decisions = counted(len(found.decide), "decision") if found.decide else "nothing to decide"
    landed = f"{len(found.landed)} done" if found.landed else "nothing landed"
    return f"{decisions}, {landed} in {lasting(found.time - found.since)}"


def lines(found: Report) -> Iterator[str]:
    for item in found.decide:
        what = f"{item.task or 'project'}  {paint(item.kind, 'yellow')}"
        yield f"  {what}  {_line(item.text)}"
        yield f"      {paint(item.next[0], 'cyan')}"
    if found.landed:
        yield "done"
        yield from map(_done, found.landed)
    if found.undone:
        yield f"undone: {', '.join(found.undone)}"
    counts = ", ".join(f"{count} {state}" for state, count in found.counts.items()) or "no tasks"
    used = tokens(found.usage)
    spent = f"{counted(found.attempts, 'session')}{f', {used}' if used else ''}"
    yield f"now {counts}{', run active' if found.live else ''}; {spent}"


def _done(done: Done) -> str:
    return f"  {clock(done.time)}  {done.task}  {_how(done)}  {_line(done.goal)}"


def _how(done: Done) -> str:
    if not done.commit:
        return "no change"
    if done.evidence != Grade.VERIFIED:
        return paint("landed (unverified)", "yellow")
    if done.steering:
        return paint(f"landed ({steering_text(done.steering)})", "yellow")
    return (
        paint("landed (checks not tested on broken code)", "yellow")
        if done.untried
        else paint("landed", "green")
    )


def _line(text: str) -> str:
    return shortened(inert(text), TEXT_CHARS)

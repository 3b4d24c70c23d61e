"""`interlock trace`: where the time and the tokens of tasks went, as a tree or sent by OpenTelemetry."""

import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click
import msgspec

from interlock.events.state import TaskState
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say_listing
from interlock.ui.cli.session import opened, read, seconds_option
from interlock.ui.plain import counted, inert, one_line
from interlock.ui.queries.spans import ModelCall, Span, task_spans
from interlock.ui.queries.tasks import by_stage, find
from interlock.ui.reading import history

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
LINE_BYTES = 4 << 20
"""A longer line of a transcript is not one of ours."""


@cli_command("trace")
@click.argument("tasks", nargs=-1)
@click.option("--since", metavar="TIME", default="", help="Only tasks that changed in this time.")
@click.option("--send", is_flag=True, help=f"Send it by OTLP to --endpoint, or to ${ENDPOINT}.")
@click.option("--endpoint", metavar="URL", default="", help="The base address of an OTLP server (HTTP).")
async def trace_command(
    invocation: Invocation, /, tasks: tuple[str, ...], since: str, send: bool, endpoint: str
) -> None:
    """Show where the time and tokens of TASKS went: phases of each attempt, calls of models.

    With --send the spans go to an OpenTelemetry server: no prompt, answer or output is in them.
    For example: interlock trace login
    """
    spans: list[Span] = []
    async with opened(invocation) as project:
        reading = await read(project.store)
        begin = reading.now - seconds_option("--since", since, "12h") if since else 0.0
        first = await project.store.read(0, 1)
        names = tasks or [name for names in by_stage(reading.state).values() for name in names]
        for name in names:
            task = find(reading.state, name)
            rows = await history(project.store, task.spec.id)
            if rows and rows[-1].time >= begin:
                calls = model_calls(project.state_dir / "logs", task)
                spans += task_spans(first[0].hash, task, rows, calls, reading.now)
        service = project.root.name
    if send:
        _send(spans, service, endpoint or os.environ.get(ENDPOINT, ""))
        note(f"{counted(len(spans), 'span')} sent")
        return
    say_listing(invocation, lambda: {"spans": spans}, _lines(spans) if spans else ["no attempt has begun"])


def _send(spans: list[Span], service: str, endpoint: str) -> None:
    if not endpoint:
        raise UsageError("there is no server to send to", f"use --endpoint URL, or set {ENDPOINT}")
    from interlock.ui.cli.otlp import send_spans

    send_spans(spans, service, endpoint)


def model_calls(logs: Path, task: TaskState) -> dict[int, list[ModelCall]]:
    """The recorded calls of a task's attempts. What cannot be read is left out."""
    found = {}
    for attempt in range(1, task.attempt + 1):
        path = logs / TaskId(task.spec.id) / f"{attempt}.model.jsonl"
        try:
            with path.open("rb") as file:
                found[attempt] = list(_calls(file))
        except OSError:
            continue
    return found


def _calls(lines: Iterable[bytes]) -> Iterator[ModelCall]:
    for line in lines:
        if len(line) <= LINE_BYTES:
            try:
                yield msgspec.json.decode(line, type=ModelCall)
            except (msgspec.DecodeError, msgspec.ValidationError):
                continue


def _lines(spans: list[Span]) -> Iterator[str]:
    """A tree: the calls of a phase in one line each model."""
    depth: dict[str, int] = {"": -1}
    for is_call, group in groupby(
        spans, key=lambda span: span.name.startswith("chat ") or span.name == "chat"
    ):
        members = list(group)
        if is_call:
            yield from _call_lines(members, depth[members[0].parent] + 1)
            continue
        for span in members:
            depth[span.id] = depth[span.parent] + 1
            name = _plain(span.name)
            if not span.ok or not span.parent:
                name = paint(name, "cyan" if span.ok else "red")
            how = span.attributes.get("interlock.outcome") or span.attributes.get("interlock.state", "")
            yield f"{'  ' * depth[span.id]}{name}  {lasting(span.seconds)}  {how}{_tokens(span)}"


def _call_lines(calls: list[Span], depth: int) -> Iterator[str]:
    for name, group in groupby(sorted(calls, key=lambda span: span.name), key=lambda span: span.name):
        members = list(group)
        failed = sum(not span.ok for span in members)
        told = f", {failed} failed" if failed else ""
        took = lasting(sum(span.seconds for span in members))
        yield f"{'  ' * depth}{_plain(name)}  {counted(len(members), 'call')}, {took} together{told}"


def _tokens(span: Span) -> str:
    used = span.attributes.get("gen_ai.usage.input_tokens")
    return f", {used:,} tokens in" if isinstance(used, int) else ""


def _plain(text: str) -> str:
    return one_line(inert(text))

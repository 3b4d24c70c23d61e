"""`interlock explain`: why a task waits, runs, failed or landed; and which attempt made a commit."""

import re

import click

from interlock.events import facts as f
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.model.errors import UsageError
from interlock.store.protocol import Store
from interlock.ui.cli.app import Command
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import opened, run_async
from interlock.ui.queries.explain import Cause, explain
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, all_rows, history, read
from interlock.ui.words.evidence import evidence_text
from interlock.ui.words.facts import clock, describe
from interlock.ui.words.plain import inert

COMMIT = re.compile(r"[0-9a-f]{7,64}")


@click.command("explain", cls=Command)
@click.argument("what", metavar="TASK|COMMIT")
@click.pass_obj
def explain_command(invocation: Invocation, what: str) -> None:
    """Say why a TASK waits, runs, failed or landed; or which attempt made a COMMIT.

    For example: interlock explain login
    """
    causes = run_async(_explain(invocation, what))
    if invocation.wants_json():
        say_json({"about": what, "causes": causes})
        return
    for number, cause in enumerate(causes):
        text = inert(cause.text)
        say(f"{'  ' * cause.depth}{paint(text, 'cyan') if number in (0, len(causes) - 1) else text}")


async def _explain(invocation: Invocation, what: str) -> list[Cause]:
    async with opened(invocation) as project:
        reading = await read(project.store)
        is_commit = what not in reading.state.tasks and COMMIT.fullmatch(what)
        if is_commit and (causes := await _commit(project.store, reading, what)):
            return causes
        try:
            task = find(reading.state, what)
        except UsageError:
            if COMMIT.fullmatch(what):
                raise UsageError(
                    f"no attempt made a commit {what}", f"git show {what} tells who did"
                ) from None
            raise
        return explain(reading, task, await history(project.store, task.spec.id), project.state_dir)


async def _commit(store: Store, reading: Reading, commit: str) -> list[Cause]:
    """Every fact that names the commit, and what became of the task it belongs to."""
    found = [row async for row in all_rows(store) if f'"{commit}' in row.body and _names(row, commit)]
    about = next((row.fact for row in reversed(found) if isinstance(row.fact, f.PhaseFact)), None)
    if about is None:
        return []
    task = reading.state.tasks.get(about.task)
    verdict = _fate(task, found, commit) if task else "the task is gone"
    head = Cause(0, about.task, f"{commit} was made for {about.task}, attempt {about.attempt}; {verdict}")
    lines = [Cause(1, about.task, f"{clock(row.time)} {describe(row.fact)}") for row in found]
    return [head, *lines, Cause(0, about.task, f"next: interlock show {about.task}")]


def _fate(task: TaskState, found: list[Recorded], commit: str) -> str:
    """Did the commit reach main, itself or merged onto main as another."""
    if task.landed is None:
        return f"nothing of the task is on main, it is {task.stage.value}"
    if task.landed.commit.startswith(commit):
        return f"it is what landed on main: {evidence_text(task.evidence)}"
    merged = [row.fact.commit for row in found if isinstance(row.fact, f.CandidatePassed)]
    if task.landed.commit in merged:
        return f"merged onto main it landed as {task.landed.commit[:12]}: {evidence_text(task.evidence)}"
    return f"something else landed: {task.landed.commit[:12]}"


def _names(row: Recorded, commit: str) -> bool:
    """Is the commit one that this fact says was made, tested or landed (not merely what it was based on)."""
    fact = row.fact
    named = (getattr(fact, "commit", None), getattr(fact, "work", None))
    return isinstance(fact, f.PhaseFact) and any(value and value.startswith(commit) for value in named)

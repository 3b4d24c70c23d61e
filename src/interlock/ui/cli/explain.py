"""`interlock explain`: why a task waits, runs, failed or landed; and which attempt made a commit."""

import re
from operator import attrgetter

import click

from interlock.events.facts import PhaseFact
from interlock.events.finished import recall
from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.store.protocol import Store
from interlock.ui.cli.app import CliCommand
from interlock.ui.cli.attempt_files import located
from interlock.ui.cli.output import Invocation, paint, say, say_json
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.plain import inert
from interlock.ui.queries.attempts import attempts_of
from interlock.ui.queries.explain import Cause, explain, explain_commit, names_commit
from interlock.ui.queries.tasks import find
from interlock.ui.reading import Reading, history

COMMIT = re.compile(r"[0-9a-f]{7,64}")


@click.command("explain", cls=CliCommand)
@click.argument("what", metavar="TASK|COMMIT")
@click.pass_obj
def explain_command(invocation: Invocation, what: str) -> None:
    """Explain why a TASK waits, runs, failed or landed; or which attempt made a COMMIT.

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
        is_commit = not reading.state.knows(TaskId(what)) and COMMIT.fullmatch(what)
        if is_commit and (causes := await _commit(project.store, reading, what)):
            return causes
        try:
            task = find(reading.state, what)
        except UsageError:
            if COMMIT.fullmatch(what):
                raise UsageError(
                    f"no attempt made a commit {what}", f"git show {what} names its author"
                ) from None
            raise
        facts = await history(project.store, task.spec.id)
        return explain(reading, task, facts, located(attempts_of(facts), project.state_dir))


async def _commit(store: Store, reading: Reading, commit: str) -> list[Cause]:
    named = [row.fact for row in await store.about_commit(commit)]
    tasks = dict.fromkeys(fact.task for fact in named if isinstance(fact, PhaseFact))
    recall(reading.state, tasks)
    rows = [row for task in tasks for row in await history(store, task) if names_commit(row, commit)]
    return explain_commit(reading, sorted(rows, key=attrgetter("seq")), commit)

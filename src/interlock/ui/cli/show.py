"""`interlock show`, `diff` and `explain`: one task, its change, and the causes of where it stands."""

import re
import sys
from collections.abc import Iterator
from operator import attrgetter
from tempfile import TemporaryFile

import click

from interlock.events.facts import PhaseFact
from interlock.events.finished import recall
from interlock.events.state import TaskState
from interlock.learn.drift import chances_of, drift_of
from interlock.model.durations import lasting
from interlock.model.errors import UsageError
from interlock.model.forecast import Forecast
from interlock.model.outcome import CheckResult
from interlock.model.task import Agent, OriginKind, TaskId
from interlock.store.protocol import Store
from interlock.train.refusal import refusal
from interlock.ui.attempt_files import located
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say, say_bytes, say_json, say_listing
from interlock.ui.cli.session import opened, read, run_async
from interlock.ui.plain import counted, inert, one_line, revealed
from interlock.ui.queries.attempts import (
    AttemptStory,
    PhaseStory,
    attempts_of,
    change_ends,
    in_groups,
    task_document,
)
from interlock.ui.queries.explain import (
    Cause,
    ExplainDocument,
    explain,
    explain_commit,
    names_commit,
    waited_text,
)
from interlock.ui.queries.tasks import TaskRow, find, forecast_of, rows
from interlock.ui.reading import Reading, history, open_permissions
from interlock.ui.words.checks import REUSED
from interlock.ui.words.evidence import evidence_text
from interlock.ui.words.facts import clock, left_out_lines, with_numbers
from interlock.ui.words.footprints import drift_line, request_line
from interlock.ui.words.forecasts import expected_text, kind_text
from interlock.ui.words.reasons import in_short, reason_text
from interlock.ui.words.sessions import tokens

WORDS_CHARS = 160
COLORS = {"passed": "green", "landed": "green", "failed": "red", "lost": "red", "running": "blue"}


@cli_command("show")
@click.argument("task")
async def show_command(invocation: Invocation, task: str) -> None:
    """Show TASK: what it is, its attempts, the evidence and the commits.

    For example: interlock show login
    """
    async with opened(invocation) as project:
        reading = await read(project.store)
        found = find(reading.state, task)
        facts = await history(project.store, found.spec.id)
    stories = located(attempts_of(facts), project.state_dir)
    row, forecast = rows(reading, [found.spec.id])[0], forecast_of(reading.state, found)
    lines = show_lines(found, row, stories, forecast)
    say_listing(invocation, lambda: task_document(found, row, stories, forecast), lines)


def show_lines(
    found: TaskState, row: TaskRow, stories: list[AttemptStory], forecast: Forecast
) -> Iterator[str]:
    spec = found.spec
    yield f"{paint(spec.id, 'cyan')}  {row.state}: {row.text.removeprefix(f'{row.state}: ')}"
    yield f"goal      {_hanging(spec.goal)}"
    yield f"agent     {found.who.name}: {_program(found.who)}"
    yield from _origin(found)
    if spec.agents:
        yield f"one of    {', '.join(agent.name for agent in spec.agents)}"
    for name, values in (
        ("needs", spec.needs),
        ("touches", spec.touches),
        ("exclusive", spec.exclusive),
        ("shared", spec.shared),
        ("uses", (*spec.uses, *spec.leases)),
        ("done when", spec.done_when),
        ("verify", spec.verify),
    ):
        if values:
            yield f"{name:9} {', '.join(map(one_line, values))}"
    yield f"kind      {kind_text(forecast)}"
    yield f"expected  {expected_text(forecast)}"
    if used := tokens(found.spent.usage):
        yield f"used      {used}"
    yield from _footprint(found)
    for group in in_groups(stories):
        yield ""
        yield from _group_lines(group)
    if landed := found.change.landed:
        yield ""
        yield f"landed as {landed.commit} on {landed.base[:12]}, tree {landed.tree[:12]}"
        yield f"evidence: {evidence_text(found.evidence)}"
    if (review := found.change.review) and review.approved:
        note = f": {one_line(review.note)}" if review.note else ""
        yield f"review:   approved by {one_line(review.by)}{note}"
    yield from _asked(found)
    # For a task that has landed the next command would be this one again.
    following = f"interlock diff {spec.id}" if found.change.landed else row.next
    yield f"next: {paint(following, 'cyan')}"


def _footprint(found: TaskState) -> Iterator[str]:
    """The paths that it is expected to edit, what it did edit, and what its agents asked for."""
    for chance in chances_of(found):
        why = f": {reason_text(chance.why)}" if chance.why else ""
        yield f"expected  {chance.probability:>4.0%}  {one_line(chance.path)}  {chance.source}{why}"
    if drift := drift_of(found):
        yield f"footprint {drift_line(drift)}"
    for request in found.talk.requests:
        yield f"scope    {request_line(request)}"


def _hanging(text: str) -> str:
    """Text of unknown origin: each line after its first is indented, so that it passes for none of ours."""
    return inert(text).strip().replace("\n", f"\n{'':10}")


def _origin(found: TaskState) -> Iterator[str]:
    if found.origin.kind is not OriginKind.GRAPH:
        yield f"added by  {one_line(found.origin.name)}"
    if found.parent:
        yield f"part of   {found.parent}"


def _asked(found: TaskState) -> Iterator[str]:
    for question in found.talk.questions:
        yield ""
        yield f"attempt {question.attempt} asked: {_hanging(question.text)}"
        if question.answer is not None:
            yield f"a person answered: {_hanging(question.answer)}"
    if asked := open_permissions(found):
        yield ""
        yield f"waits for permission: {in_short(asked)}"
        yield f"to refuse it: {paint(f'interlock answer {found.spec.id} deny', 'cyan')}"


def _group_lines(group: list[AttemptStory]) -> Iterator[str]:
    """One attempt, or several that only waited for the model."""
    if len(group) > 1:
        yield one_line(inert(waited_text(group)))
        return
    yield f"attempt {group[0].attempt}"
    for phase in group[0].phases:
        yield from _phase_lines(phase)


def _program(agent: Agent) -> str:
    started = [agent.use] if agent.use != "command" else []
    return " ".join([*started, *agent.run]) + (f" ({agent.model})" if agent.model else "")


def _phase_lines(phase: PhaseStory) -> Iterator[str]:
    took = f" in {lasting(phase.ended - phase.started)}" if phase.ended is not None else ""
    outcome = paint(phase.outcome, COLORS.get(phase.outcome, "yellow"))
    text = f": {one_line(inert(phase.text))}" if phase.text else ""
    yield f"  {clock(phase.started)}  {phase.phase} {outcome}{took}{text}"
    if phase.commit:
        on = f" on {phase.base[:12]}" if phase.base else ""
        changed = f", {counted(len(phase.touched), 'file')}" if phase.touched else ""
        yield f"            commit {phase.commit[:12]}{on}{changed}"
    for line in left_out_lines(phase.left_out, phase.archived):
        yield f"            {one_line(line)}"
    for check in phase.checks:
        yield f"            {check_line(check)}"
    if phase.notes:
        said = " ".join(inert(phase.said).split())
        yield f"            notes {phase.notes}" + (f": {said[:WORDS_CHARS]}" if said else "")
    if phase.log:
        yield f"            log {phase.log}"
    if phase.archived:
        yield f"            kept as {phase.archived}"


def check_line(check: CheckResult) -> str:
    is_refused = not check.passed and not check.red_on_base
    how = one_line(inert(refusal(check))) if is_refused else f"exit {check.exit_code}"
    known = check.suite.failed_count if check.suite else 0
    tests = f", {counted(known, 'known failing test')}" if known else ", its output does not name them"
    blame = f" (fails on main too{tests}; ignored)" if check.red_on_base else ""
    blame += f" ({REUSED})" if check.reused else ""
    log = f", {check.log}" if check.log else ""
    log += f", never read {', '.join(map(one_line, check.unread))}" if check.unread else ""
    mark = paint("ok ", "green") if check.passed else paint("red", "red")
    return f"{mark} `{one_line(check.command)}` {how}{blame}{log}"


DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@cli_command("diff")
@click.argument("task")
@click.option(
    "--attempt",
    type=click.IntRange(min=1),
    help="Show the change of this attempt, instead of the newest or the landed one.",
)
async def diff_command(invocation: Invocation, task: str, attempt: int | None) -> None:
    """Show the change of TASK: as it landed, or as its newest attempt made it.

    For example: interlock diff login --attempt 1
    """
    from interlock.engine.project import open_project
    from interlock.git.repository import write_patch

    exact = not invocation.json and not sys.stdout.isatty()
    async with open_project(invocation.project) as project:
        found = find((await read(project.store)).state, task)
        old, new = change_ends(found, attempts_of(await history(project.store, found.spec.id)), attempt)
        text = "" if exact else (await project.repository.diff(old, new)).removesuffix("\n")
        with TemporaryFile() as patch:
            if exact:
                note(f"{old[:12]}..{new[:12]}")
                await write_patch(project.place, old, new, patch)
                patch.seek(0)
                say_bytes(patch)
                return
    if invocation.json:
        say_json({"base": old, "commit": new, "diff": f"{text}\n" if text else ""})
        return
    note(f"{old[:12]}..{new[:12]}")
    for line in text.split("\n") if text else ():
        say(diff_line(line))


def diff_line(line: str) -> str:
    """A line of a diff, coloured and safe to print; what would hide is shown."""
    shown = revealed(line).removesuffix("\r")
    return paint(shown, DIFF_COLORS[line[0]]) if line[:1] in DIFF_COLORS else shown


COMMIT = re.compile(r"[0-9a-f]{7,64}")


@cli_command("explain")
@click.argument("what", metavar="TASK|COMMIT")
def explain_command(invocation: Invocation, what: str) -> None:
    """Explain why a TASK waits, runs, failed or landed; or which attempt made a COMMIT.

    For example: interlock explain login
    """
    causes = run_async(_explain(invocation, what))
    texts = [with_numbers(one_line(inert(cause.text)), cause.facts) for cause in causes]
    texts[0], texts[-1] = paint(texts[0], "cyan"), paint(texts[-1], "cyan")
    lines = (f"{'  ' * cause.depth}{text}" for cause, text in zip(causes, texts, strict=True))
    say_listing(invocation, lambda: ExplainDocument(what, causes), lines)


async def _explain(invocation: Invocation, what: str) -> list[Cause]:
    async with opened(invocation) as project:
        reading = await read(project.store)
        is_commit = not reading.state.knows(TaskId(what)) and COMMIT.fullmatch(what)
        if is_commit and (causes := await _explain_commit(project.store, reading, what)):
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


async def _explain_commit(store: Store, reading: Reading, commit: str) -> list[Cause]:
    named = [row.fact for row in await store.about_commit(commit)]
    tasks = dict.fromkeys(fact.task for fact in named if isinstance(fact, PhaseFact))
    recall(reading.state, tasks)
    rows = [row for task in tasks for row in await history(store, task) if names_commit(row, commit)]
    return explain_commit(reading, sorted(rows, key=attrgetter("seq")), commit)

"""`interlock plan`: what would happen, before anything does."""

import shlex
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interlock.engine.loading import load_state
from interlock.events.state import State
from interlock.learn.categories import category
from interlock.model.durations import lasting
from interlock.model.reason import Why
from interlock.model.task import TaskId
from interlock.plan import Analysis, Graph, Standing, analyse
from interlock.ui.cli.app import cli_command
from interlock.ui.cli.output import Invocation, note, paint, say, say_json
from interlock.ui.cli.run_options import filter_options, max_parallel_option, selected, tell_warnings
from interlock.ui.cli.session import opened_fully, run_async
from interlock.ui.plain import counted, one_line
from interlock.ui.queries.plan import (
    agents_at_once,
    dot,
    foresee_plan,
    mermaid,
    plan_document,
    standing_of,
    with_added,
)
from interlock.ui.words.plan_checks import check_lines
from interlock.ui.words.reasons import reason_text

if TYPE_CHECKING:
    from interlock.engine.foresight import Foreseen
    from interlock.engine.parallel import Parallel
    from interlock.ui.cli.lacks import Lack

LISTED = 20
KINDS_LISTED = 8
FEW = 5
"""Attempts: with fewer an estimate is more of a guess, and is said to be."""
FORMS = ("text", "json", "mermaid", "dot")


@cli_command("plan")
@click.argument("graph", required=False, type=click.Path(path_type=Path))
@click.option("--waves", is_flag=True, help="Show the tasks that can run in parallel, step by step.")
@click.option("--format", "form", type=click.Choice(FORMS), default="text", help="How to print the plan.")
@click.option("--estimate", is_flag=True, help="Forecast time and cost from the log.")
@max_parallel_option
@filter_options
def plan_command(
    invocation: Invocation,
    /,
    graph: Path | None,
    waves: bool,
    form: str,
    estimate: bool,
    max_parallel: int | str | None,
    **chosen: tuple[str, ...],
) -> None:
    """Check GRAPH (default: task-graph.yaml) and show order, critical path, conflicts and expected time.

    For example: interlock plan --estimate --max-parallel 8
    """
    flags = replace(invocation, settings={**invocation.settings, "max_parallel": max_parallel})
    written, state, many, depth, missing, files = run_async(_read(flags, graph))
    read = with_added(written, state)
    picked = selected(read, chosen)
    limit = agents_at_once(read, state, many)
    standing = standing_of(state, picked)
    analysis = analyse(read.tasks, limit, standing, read.leases)
    foreseen = foresee_plan(written, state, (limit, depth), picked) if estimate else None
    if form == "json" or (form == "text" and invocation.wants_json()):
        document = plan_document(read, analysis, files)
        say_json(document | {"estimate": foreseen} if estimate else document)
    elif form in ("mermaid", "dot"):
        draw = mermaid if form == "mermaid" else dot
        say(draw(read, analysis))
    else:
        tell_warnings(read)
        commands = (command for task in read.tasks for command in (*task.verify, *task.done_when))
        for lack in (*missing, *missing_programs(commands, invocation.project)):
            note(f"warning: {lack}")
        for line in _lines(
            read, len(read.tasks) - len(written.tasks), analysis, _limit_text(limit, many), waves
        ):
            say(line)
        if foreseen and analysis.order:
            for line in foreseen_lines(foreseen):
                say(line)
        for line in check_lines(read, analysis.order, files):
            say(line)
        if analysis.order or analysis.unscheduled:
            say(f"\nnext: {paint(_next(analysis, standing, _agreement(invocation, graph)), 'cyan')}")


def _agreement(invocation: Invocation, graph: Path | None) -> str:
    """The values that need an agreement before a run starts, in words; '' if none does."""
    from interlock.ui.cli.trust import widenings

    loaded, asked = run_async(widenings(invocation, graph))
    missing = loaded.trust.missing(asked)
    return f"interlock trust  (a run needs your agreement: {missing[0].text})" if missing else ""


def foreseen_lines(foreseen: "Foreseen") -> Iterator[str]:
    if foreseen.is_guess:
        yield "by the log     time unknown: no run here yet, and some tasks have no `estimate`"
    else:
        yield (
            f"by the log     {lasting(foreseen.seconds_p50)} (half of the time), "
            f"under {lasting(foreseen.seconds_p90)} nine times in ten; "
            f"{counted(round(foreseen.attempts), 'attempt')}"
        )
    if foreseen.cost_usd_p50 is None or foreseen.cost_usd_p90 is None:
        yield "cost           unknown: no attempt in the log has a cost"
    else:
        most = f"under ${foreseen.cost_usd_p90:.2f} nine times in ten"
        yield f"cost           ${foreseen.cost_usd_p50:.2f} (half of the time), {most}"
    if (left := round(foreseen.left)) >= 1:
        yield f"may not land   {counted(left, 'task')}, by the results of past attempts"
    if foreseen.evidence < FEW and not foreseen.is_guess:
        known = counted(round(foreseen.evidence), "attempt") if round(foreseen.evidence) else "none yet"
        yield f"               rough estimate: for some of these kinds the log has {known}"


async def _read(
    invocation: Invocation, path: Path | None
) -> tuple[Graph, State, "Parallel", int, "list[Lack]", Collection[str]]:
    from interlock.engine.parallel import parallel
    from interlock.ui.cli.lacks import lacks

    async with opened_fully(invocation) as project:
        graph = await project.read_graph(str(path.absolute()) if path else "")
        state = await load_state(project.store)
        said, origin = project.settings.max_parallel, project.origins["max_parallel"]
        many = parallel(said, origin, state, project.host.read())
        if not many.auto:
            state.limits.categories = {}  # a number that a person gave holds for every kind of work
        files = await project.repository.files()
        return graph, state, many, project.lane_depth, await lacks(project, graph.setup), files


def _limit_text(limit: int, many: "Parallel") -> str:
    return f"up to {limit} at once{' (auto: the limit of the clutch now)' if many.auto else ''}"


def _next(analysis: Analysis, standing: Standing, agreement: str) -> str:
    """A run, if there is anything for it to do; else what makes something possible."""
    if analysis.order:
        return agreement or "interlock run"
    given_up = next((name for name in analysis.unscheduled if name in standing.given_up), None)
    return f"interlock retry {given_up}" if given_up else "interlock plan"


def _lines(graph: Graph, added: int, analysis: Analysis, limit: str, waves: bool) -> Iterator[str]:
    beside = f" and {counted(added, 'added task')}" if added else ""
    yield f"{graph.source}: {counted(len(graph.tasks) - added, 'task')}{beside}, {len(analysis.order)} to do"
    if not analysis.order and not analysis.unscheduled:
        yield "no tasks left"
        return
    if analysis.order:
        yield from _figures(graph, analysis, limit)
    if waves and analysis.order:
        yield from _waves(analysis)
    if analysis.unscheduled:
        yield ""
        yield paint(f"cannot run ({len(analysis.unscheduled)})", "yellow")
        for name, reason in analysis.unscheduled.items():
            yield f"  {name}: {reason_text(reason)}"


def _figures(graph: Graph, analysis: Analysis, limit: str) -> Iterator[str]:
    yield f"critical path  {lasting(analysis.critical_seconds)}: {_path(analysis.critical_path)}"
    to_do = set(analysis.order)
    unsaid = not all(task.has_estimate for task in graph.tasks if task.id in to_do)
    by = f"by the estimates in the file{' (10m where there is none)' if unsaid else ''}"
    yield f"work           {lasting(analysis.work_seconds)} of agents' time, {by}"
    yield (
        f"expected       {lasting(analysis.makespan_seconds)} by them, with {limit}; "
        f"no schedule beats {lasting(analysis.lower_bound_seconds)}"
    )
    yield from _kinds(graph, analysis)
    yield from _conflicts(analysis)


def _path(names: tuple[TaskId, ...]) -> str:
    if len(names) > 10:
        return " -> ".join([*names[:5], "...", *names[-4:]])
    return " -> ".join(names)


def _kinds(graph: Graph, analysis: Analysis) -> Iterator[str]:
    """The kinds of work of the tasks to do: limits and forecasts depend on them."""
    to_do = set(analysis.order)
    found = [category(task) for task in graph.tasks if task.id in to_do]
    counts = Counter(each.name for each in found)
    text = ", ".join(f"{count} {name}" for name, count in counts.most_common(KINDS_LISTED))
    more = f" and {len(counts) - KINDS_LISTED} more kinds" if len(counts) > KINDS_LISTED else ""
    inferred = sum(each.why.code != Why.DECLARED for each in found)
    said = f" ({inferred} inferred: --json says from what)" if inferred else ""
    if counts:
        yield f"kinds          {text}{more}{said}"


def _conflicts(analysis: Analysis) -> Iterator[str]:
    found = analysis.conflicts
    if not found.hard and not found.soft:
        yield "conflicts      none can be seen beforehand"
        return
    hard = f"{counted(found.hard, 'pair')} never together"
    yield f"conflicts      {hard}, {found.soft} only if a slot is free"
    for pair in found.listed[:LISTED]:
        how = "never together" if not pair.may_proceed else "may overlap"
        yield f"  {pair.first} and {pair.second}: {how}, both want {pair.over}"
    if found.hard + found.soft > LISTED:
        yield f"  ... and {found.hard + found.soft - LISTED} more: interlock plan --format json"


def _waves(analysis: Analysis) -> Iterator[str]:
    yield ""
    yield "waves (a view: when they really run, no wave waits for another)"
    for number, wave in enumerate(analysis.waves, start=1):
        yield f"  {number:>3}  {', '.join(wave)}"


def missing_programs(commands: Iterable[str], root: Path) -> Iterator[str]:
    """A warning for each command whose program is not there. Nothing is run."""
    for command in dict.fromkeys(commands):
        program = _program(command)
        if program and program not in BUILT_IN.split() and not _is_there(program, root):
            yield f"`{one_line(command)}`: program `{one_line(program)}` not found"


BUILT_IN = (
    ". : [ alias break case cd command continue echo eval exec exit export false for hash if printf pwd read "
    "readonly return set shift source test times trap true type ulimit umask unset until wait while { ( !"
)
"""Words that the shell knows itself."""


def _program(command: str) -> str:
    """The first word that is no assignment; empty if that is for the shell to say."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""
    first = next((word for word in words if "=" not in word), "")
    return "" if any(char in first for char in "$`(){};&|<>*?") else first


def _is_there(program: str, root: Path) -> bool:
    return (root / program).exists() if "/" in program else shutil.which(program) is not None

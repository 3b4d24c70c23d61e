"""Carries out one phase, by kind. Each function returns the facts of its result.

Every act here may be repeated: a workspace is opened anew, a merge happens in memory, and a commit that is
already on main counts as landed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar
from uuid import NAMESPACE_URL, uuid5

from interlock.agents import RESUMABLE
from interlock.engine.canary import canary_of
from interlock.engine.env import Env
from interlock.engine.joint import check_together
from interlock.engine.judging import (
    FEEDBACK_CHARS,
    commands_of,
    lost_in,
    order_of,
    refusal_of,
    verdict_of,
)
from interlock.engine.known import run_known
from interlock.engine.prompt import Scene, brief
from interlock.engine.quote import quoted
from interlock.engine.resolving import Job
from interlock.engine.screen import screened
from interlock.engine.together import with_pair
from interlock.engine.turn import Turn
from interlock.engine.unchanged import judged, question, unchanged
from interlock.engine.undo import superseded
from interlock.events import facts as f
from interlock.events.state import TaskState
from interlock.events.task_parts import Candidate, Work
from interlock.learn.drift import expected_paths
from interlock.learn.progress import circle_limits
from interlock.model.errors import EnvironmentProblem, Fenced
from interlock.model.evidence import VERIFIED, Evidence, weigh
from interlock.model.failure import fingerprint
from interlock.model.failure_words import failure_text
from interlock.model.outcome import (
    AttemptCallbacks,
    CheckResult,
    ErrorClass,
    Landing,
    Merge,
    Move,
    Order,
    ProposedTask,
    Report,
    Tip,
)
from interlock.model.reason import Reason, Why, said
from interlock.model.steering import steering
from interlock.model.task import Agent, AttemptKey, Commit, PhaseKind, TaskId, Tree
from interlock.train import message, retry
from interlock.train.refusal import unresolved_reason
from interlock.train.sessions import carried, resumed

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


class CutShort(EnvironmentProblem):
    """The attempt ended for a reason outside its agent; the agent's work is kept."""

    def __init__(self, why: Reason, archived: str) -> None:
        super().__init__(failure_text(why))
        self.why = why
        self.archived = archived


Hand = Callable[[Env, Turn], Awaitable[Sequence[f.Fact]]]


async def work(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """Let the agent work on the task, starting from where main is now."""
    main = await turn.see_main()
    spec = turn.task.spec
    resume = resumed(turn.task, turn.agent, RESUMABLE)
    start = None if resume else await _carried_over(env, turn, main)
    report = await env.executor.carry_out(
        Order(
            task=spec.id,
            attempt=turn.attempt,
            epoch=turn.claim.epoch,
            base=resume.base if resume else main.commit,
            agent=turn.agent,
            prompt=await brief(env.repository, env.template, _scene(turn, is_carried=start is not None)),
            timeout_seconds=spec.timeout_seconds,
            idle_seconds=spec.idle_seconds,
            session=_session_id(turn),
            resume=resume,
            start=start,
            expected=expected_paths(turn.task),
            variables=turn.checks.variables,
            reserved=turn.reserved,
            circles=circle_limits(
                turn.checks.ledger.state, turn.task, turn.agent.name, turn.agent.model, env.circle_limit
            ),
        ),
        _news(env, turn),
    )
    notes = notes_of(env, spec.id, turn.attempt)
    if report.error is ErrorClass.OUTSIDE:
        await turn.mention(notes)
        raise CutShort(report.reason, report.archived)
    screened_report = await env.reserved.hold(await screened(env.screen, report))
    return [*notes, await _held_back(env, _work_fact(turn, screened_report))]


async def _held_back(env: Env, fact: f.Fact) -> f.Fact:
    """Let a task that a used-up quota stopped wait until quiet hours are over."""
    if not isinstance(fact, f.PhaseFailed) or fact.error is not ErrorClass.QUOTA:
        return fact
    held = env.held_seconds(await env.store.now() + fact.retry_after_seconds)
    return replace(fact, retry_after_seconds=fact.retry_after_seconds + held)


def _scene(turn: Turn, *, is_carried: bool) -> Scene:
    return Scene(turn.task, turn.attempt, turn.neighbours, lessons=turn.lessons, is_carried=is_carried)


async def _carried_over(env: Env, turn: Turn, main: Tip) -> Commit | None:
    """Put the change that the checks refused on top of main, for the agent that has the task now."""
    failure = carried(turn.task, turn.agent)
    if failure is None or failure.commit is None:
        return None
    try:
        merge = await env.repository.merge(main.commit, failure.commit, failure.base)
        if merge.tree is None or merge.tree == main.tree:
            return None
        text = f"Change of attempt {failure.attempt} at {turn.task.spec.id}, refused by its checks"
        return await env.repository.commit(merge.tree, main.commit, text)
    except EnvironmentProblem:  # it is gone: the attempt begins from main, as the first did
        return None


def notes_of(env: Env, task: TaskId, attempt: int) -> Sequence[f.NotesSaved]:
    """Return the fact that a session is over and its notes are written; none if it had not begun."""
    notes = env.executor.notes(AttemptKey(task, attempt))
    return [f.NotesSaved(task, attempt, notes.reason, notes.summary, notes.path)] if notes else []


def _session_id(turn: Turn) -> str:
    """Return the session id of a turn. It follows from the turn alone, so it is known beforehand."""
    return str(uuid5(NAMESPACE_URL, "/".join(map(str, (*turn.key, turn.claim.holder)))))


def _news(env: Env, turn: Turn) -> AttemptCallbacks:
    agent = turn.agent

    async def opened(session: str, sandbox: str, base: Commit) -> None:
        fact = f.SessionOpened(
            *turn.key,
            session=session,
            agent=agent.name,
            use=agent.use,
            model=agent.model,
            sandbox=sandbox,
            base=base,
        )
        await turn.mention([fact])

    async def asked(call: str, tool: str, text: str) -> None:
        # Noted, not mentioned: the agent waits until a person reads it.
        await turn.note([f.PermissionAsked(*turn.key, call=call, tool=tool, text=text)])

    async def scope(paths: tuple[str, ...], why: str) -> None:
        reserved = env.reserved.among(paths)
        await turn.note([f.ScopeRequested(*turn.key, paths=paths, why=why, reserved=reserved)])

    async def proposed(wanted: ProposedTask) -> None:
        words = {field.name: getattr(wanted, field.name) for field in fields(wanted)}
        await turn.note([f.TaskProposed(*turn.key, **words)])

    async def exited() -> None:
        await turn.mention([f.AgentExited(*turn.key)])

    return AttemptCallbacks(opened, exited, asked, scope, proposed)


def _work_fact(turn: Turn, report: Report) -> f.Fact:
    if report.error is None and report.asks:
        return question(turn, report, report.asks)
    if fact := unchanged(turn, report):
        return fact
    if report.error is None and report.commit is not None:
        return f.WorkFinished(
            *turn.key,
            base=report.base,
            commit=report.commit,
            touched=report.touched,
            seconds=report.seconds,
            summary=report.summary,
            log=report.log,
            archived=report.archived,
            usage=report.usage,
            session=report.session,
            left_out=report.left_out,
            repeats=report.repeats,
        )
    error, agent = report.error or ErrorClass.NO_CHANGE, turn.agent
    return f.PhaseFailed(
        *turn.key,
        error=error,
        why=report.reason,
        fingerprint=fingerprint(error, " ".join(agent.run), _essence(agent, report)),
        feedback=_quoted("The end of its output", report.tail),
        seconds=report.seconds,
        log=report.log,
        commit=report.commit,
        base=report.base if report.commit else Commit(""),
        archived=report.archived,
        retry_after_seconds=retry.failure_delay(turn.task, error, report.retry_after_seconds),
        usage=report.usage,
        session=report.session,
        left_out=report.left_out,
    )


def _essence(agent: Agent, report: Report) -> str:
    """Return the part of a failure to compare with others: not the words of an agent that talks."""
    return report.tail or report.text if agent.use == "command" else report.text


async def check(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """Build the change on top of main in memory, and run the checks on exactly that tree."""
    if turn.together:
        return await check_together(env, turn)
    if given_up := superseded(turn):
        return [given_up]
    made = _there(turn.task.change.work)
    if made.commit == made.base:
        return [await _check_main(env, turn, made, on_main=False)]
    main = await turn.see_main()
    name = f"{turn.task.spec.id}/{turn.attempt}-{turn.claim.epoch}"
    job = Job(name, turn.task.spec.id, turn.task.spec.check_seconds)
    merge = await env.resolve(await env.repository.merge(main.commit, made.commit, made.base), job)
    if merge.tree is None:
        return [await _conflict(env, turn, made, main, merge)]
    if merge.tree == main.tree:
        return [await _check_main(env, turn, made, on_main=True)]
    commands = commands_of(turn.task.spec)
    hoped = replace(VERIFIED, steering=steering(made.touched, commands)) if commands else weigh(())
    results, commit = await both(
        _run_checks(env, turn, merge.tree), _build(env, turn, main.commit, merge, hoped)
    )
    verdict = await verdict_of(env, turn, main, results, merge.tree)
    if refused := refusal_of(turn, made, verdict):
        return [await with_pair(env, turn, main, verdict, refused)]
    seconds = sum(result.seconds for result in results if not result.reused)
    usual = sum(result.seconds for result in results)
    canary = await canary_of(env, turn, usual) if weigh(verdict.checks).is_verified else None
    lost = await lost_in(env, made, main.commit, commit, verdict)
    evidence = weigh(verdict.checks, canary, made.touched, lost)
    if evidence != hoped:  # what the commit says must be true
        commit = await _build(env, turn, main.commit, merge, evidence)
    size = await env.reviews.measured(turn.task.spec, main.commit, commit)
    return [
        f.CandidatePassed(
            *turn.key,
            base=main.commit,
            commit=commit,
            tree=merge.tree,
            work=made.commit,
            checks=verdict.checks,
            seconds=seconds,
            lost_tests=lost,
            resolved=merge.resolved,
            digest=size.digest,
            lines=size.lines,
        )
    ]


async def _build(env: Env, turn: Turn, base: Commit, merge: Merge, evidence: Evidence) -> Commit:
    tree = _there(merge.tree)
    text = message(turn.task.spec, turn.attempt, evidence, merge.resolved)
    commit = await env.repository.commit(tree, base, text)
    await turn.mention([f.CandidateBuilt(*turn.key, base=base, commit=commit, tree=tree)])
    return commit


async def _check_main(env: Env, turn: Turn, made: Work, *, on_main: bool) -> f.Fact:
    """Check main as it is: there is nothing to land, and the task is done if its checks are green.

    `on_main`: the agent made a change, and all of it is there already.
    """
    main = await turn.see_main()
    results = await _run_checks(env, turn, main.tree)
    verdict = await verdict_of(env, turn, main, results, main.tree)
    return judged(turn, main, verdict, refusal_of(turn, made, verdict), on_main=on_main)


async def _run_checks(env: Env, turn: Turn, tree: Tree) -> Sequence[CheckResult]:
    order = order_of(turn, tree)
    return await run_known(env, order, turn.checks.known) if order.commands else []


async def _conflict(env: Env, turn: Turn, made: Work, main: Tip, merge: Merge) -> f.Fact:
    theirs = await env.repository.diff(made.base, main.commit, merge.conflicts)
    paths, tried = ", ".join(merge.conflicts), merge.unresolved
    why = Reason(Why.CONFLICT, {"paths": merge.conflicts})
    return f.PhaseFailed(
        *turn.key,
        error=ErrorClass.CONFLICT,
        why=unresolved_reason(why, tried) if tried else why,
        # Main is part of the fingerprint: a conflict with something else is a different failure.
        fingerprint=fingerprint(ErrorClass.CONFLICT, main.commit, paths),
        feedback=_quoted("What git says", merge.text)
        + _quoted("What landed in these files meanwhile", theirs)
        + (_quoted(f"Output of `{tried.result.command}`", tried.result.tail) if tried else ""),
        commit=made.commit,
        base=made.base,
        log=tried.result.log if tried else "",
    )


async def land(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """Move main to the commit that was tested, if it is still where it was tested. A change that needs the
    approval of a person waits for it; a pull request gets that from its forge."""
    candidate = _there(turn.task.change.candidate)
    if candidate.joined and len(turn.together) != len(candidate.joined.tasks):
        return [await _alone(env, turn, candidate)]
    if review := await env.reviews.opened(turn, candidate):
        return [review]
    tasks = turn.together or (turn.task,)
    landing = Landing(
        turn.branch,
        candidate.commit,
        candidate.base,
        turn.generation,
        candidate.tree,
        turn.task.spec.id,
        tuple(task.spec.id for task in tasks if task.spec.id != turn.task.spec.id),
    )
    if instead := await env.publisher.publish(turn, landing):
        return instead
    move = await env.repository.land(landing)
    if move is Move.MOVED:
        because = Reason(Why.TASK_LANDED, {"tasks": tuple(task.spec.id for task in tasks)})
        seen = f.MainSeen(turn.branch, candidate.commit, candidate.tree, because)
        return [*(landed(task, candidate) for task in tasks), seen]
    if move is Move.FENCED:
        raise Fenced("another controller took over this repository: it has raised the fence of the branch")
    if move is Move.STALE:
        main = await turn.see_main()
        return [f.CandidateStale(*turn.key, base=candidate.base, main=main.commit)]
    why = await env.repository.obstacle(landing)
    is_held = move is Move.HELD
    reason = Reason(Why.CHECKOUT_IN_THE_WAY, {"text": why}) if is_held else said(why)
    return [retry.held_up(turn.task, turn.key, reason, is_busy=not is_held)]


async def _alone(env: Env, turn: Turn, candidate: Candidate) -> f.Fact:
    """Send a change back that passed with others, of which one has gone another way; if it is not on main."""
    if await env.repository.contains(candidate.commit):
        return landed(turn.task, candidate)
    tasks = candidate.joined.tasks if candidate.joined else ()
    why = Reason(Why.NOT_TOGETHER, {"tasks": tasks, "task": turn.task.spec.id})
    main = await turn.see_main()
    return f.CandidateStale(*turn.key, base=candidate.base, main=main.commit, why=why)


def landed(task: TaskState, candidate: Candidate) -> f.Landed:
    """Build the fact of a landing: main is at the candidate, or beyond it."""
    phase = next(p.name for p in task.spec.pipeline if p.kind is PhaseKind.LAND)
    return f.Landed(
        task.spec.id,
        task.attempt,
        phase,
        task.epoch,
        base=candidate.base,
        commit=candidate.commit,
        tree=candidate.tree,
    )


# Any: the types that a coroutine sends and is sent do not matter here.
async def both(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Return both results. If one fails, the other is ended first, and then the failure is raised."""
    first, second = asyncio.create_task(one), asyncio.create_task(other)
    try:
        await asyncio.gather(first, second)
        return first.result(), second.result()
    finally:
        if left := [task for task in (first, second) if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left)


def _there(value: T | None) -> T:
    """Return the result of an earlier phase; a pipeline without that phase is a mistake in the pipeline."""
    if value is None:
        raise RuntimeError("this phase needs what an earlier one makes; the pipeline has none")
    return value


def _quoted(source: str, text: str) -> str:
    return quoted(source, text, FEEDBACK_CHARS)


HANDS: dict[PhaseKind, Hand] = {PhaseKind.AGENT: work, PhaseKind.CHECK: check, PhaseKind.LAND: land}

"""Checks several changes on main as one tree, and makes the merge that lands (`train/joint.py`).

1. The claim of the last of them covers all. The result of each names the epoch that its task had then:
   it counts only for a task that has not moved on.
2. Nothing here is held against a task. Where the changes do not pass as one, they are judged one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from interlock.engine.canary import canary_of
from interlock.engine.env import Env
from interlock.engine.judging import about, last_on_main, order_for
from interlock.engine.known import narrowed, run_known
from interlock.engine.resolving import Job
from interlock.engine.turn import KnownChecks, Turn
from interlock.events import facts as f
from interlock.events.lifecycle import Stage
from interlock.events.state import TaskState
from interlock.events.task_parts import Work
from interlock.git.protocol import DIFF_BYTES
from interlock.model.evidence import Evidence, change_checks, weigh
from interlock.model.outcome import CheckKey, CheckResult, Resolved, Tip
from interlock.model.reason import Reason, Why
from interlock.model.task import Change, Commit, Joined, PhaseKind, Tree
from interlock.train import judge, message
from interlock.train.joint import fits, is_plain, may_join
from interlock.train.message import joint_message
from interlock.train.review import NONE
from interlock.verify.lost_tests import files_of_tests, lost_tests


class Apart(Exception):
    """The changes do not land as one."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of the changes, and what shows that it works."""

    task: TaskState
    work: Work
    tree: Tree
    """Main with all changes up to this one."""
    resolved: tuple[Resolved, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    evidence: Evidence | None = None


async def check_together(env: Env, turn: Turn) -> Sequence[f.Fact]:
    """Check all changes of a turn on main as one tree; they pass all, or are judged one by one."""
    main = await turn.see_main()
    try:
        members = await _merged(env, turn, main)
        results = await _results(env, turn, members)
        passed = [await _judged(env, turn, member, results) for member in members]
        _refuse_moved(turn, members)
    except Apart:
        names = tuple(task.spec.id for task in turn.together)
        why = Reason(Why.NOT_TOGETHER, {"tasks": names, "task": turn.task.spec.id})
        return [f.CandidateStale(*turn.key, base=main.commit, main=main.commit, why=why)]
    return await _facts(env, turn, main, passed)


async def _merged(env: Env, turn: Turn, main: Tip) -> list[Member]:
    works = [_work(env, turn, task) for task in turn.together]
    seconds = max(task.spec.check_seconds for task in turn.together)
    job = Job(f"{turn.task.spec.id}/{turn.attempt}-{turn.claim.epoch}", turn.task.spec.id, seconds)
    changes = [Change(work.commit, work.base) for work in works]
    merges = await env.repository.merge_all(main.commit, changes, lambda merge: env.resolve(merge, job))
    trees = [merge.tree for merge in merges if merge.tree]
    if len(trees) < len(works) or any(before == tree for before, tree in pairwise([main.tree, *trees])):
        raise Apart  # they conflict, or one of them changes nothing
    pairs = zip(turn.together, works, trees, merges, strict=True)
    return [Member(task, work, tree, merge.resolved) for task, work, tree, merge in pairs]


def _work(env: Env, turn: Turn, task: TaskState) -> Work:
    """Return the change of a task that can land together with others."""
    work = task.change.work
    waits = task.spec.id == turn.task.spec.id or (task.stage is Stage.WAITING and may_join(task))
    if work is None or not waits or not fits(task.spec, work):
        raise Apart
    if env.reviews.rules.word_for(task.spec) != NONE:
        raise Apart
    return work


async def _results(env: Env, turn: Turn, members: Sequence[Member]) -> dict[str, CheckResult]:
    """Return how all checks of all changes end on the tree with all of them."""
    name = change_checks(turn.task.spec.id, turn.attempt, turn.claim.epoch)
    order = order_for(turn.checks, name, members[-1].tree, [member.task.spec for member in members])
    order = about(order, *(member.work.touched for member in members))
    built = _built(turn, members)

    def look_up(key: CheckKey) -> CheckResult | None:
        """The build may have had more changes, which are on main now: its result is about those too."""
        return turn.checks.known(key._replace(change=built.get(key.command, key.change)))

    return {result.command: result for result in await run_known(env, order, look_up)}


def _built(turn: Turn, members: Sequence[Member]) -> Mapping[str, str]:
    """Return the changes that the build of these was about, by command."""
    names = tuple(member.task.spec.id for member in members)
    works = tuple(member.work.commit for member in members)
    for build in turn.checks.ledger.state.builds.ended:
        if build.joint and ((*build.ahead, build.task), build.works) == (names, works):
            return dict(build.joint)
    return {}


async def _judged(env: Env, turn: Turn, member: Member, results: Mapping[str, CheckResult]) -> Member:
    """Judge the checks of one change on the tree with all of them."""
    task, work = member.task, member.work
    own = _turn_of(turn, env, task)
    order = about(order_for(own.checks, "", member.tree, [task.spec]), work.touched)
    checks = [narrowed(results[command], order) for command in order.commands]
    verdict = judge(checks, task.spec, {}, last_on_main(own))
    if not verdict.passed or not is_plain(verdict.checks) or await _takes_tests(env, work):
        raise Apart
    usual = sum(check.seconds for check in checks)
    canary = await canary_of(env, own, usual) if weigh(verdict.checks).is_verified else None
    return replace(member, checks=verdict.checks, evidence=weigh(verdict.checks, canary, work.touched))


def _turn_of(turn: Turn, env: Env, task: TaskState) -> Turn:
    """Return the turn as one of another task of it."""
    checks = KnownChecks(turn.checks.ledger, task.spec, turn.checks.environment, env.patience)
    claim = replace(turn.claim, epoch=task.epoch)
    return replace(turn, task=task, attempt=task.attempt, claim=claim, checks=checks, together=())


def _refuse_moved(turn: Turn, members: Sequence[Member]) -> None:
    """Refuse changes of which one has moved on meanwhile."""
    known = turn.checks.ledger.state.tasks
    for member in members:
        now = known.get(member.task.spec.id)
        if now is None or (now.change.work, now.phase.kind) != (member.work, PhaseKind.CHECK):
            raise Apart


async def _takes_tests(env: Env, work: Work) -> bool:
    paths = files_of_tests(work.touched)
    if not paths:
        return False
    diff = await env.repository.diff(work.base, work.commit, paths)
    is_whole = len(diff.encode("utf-8", "replace")) < DIFF_BYTES
    return bool(lost_tests(diff, paths, is_whole=is_whole, is_counted=False))


async def _facts(env: Env, turn: Turn, main: Tip, members: Sequence[Member]) -> Sequence[f.Fact]:
    """Make the commit of each change, on top of the one before it, and the merge that lands."""
    own: list[Commit] = [main.commit]
    for member in members:
        evidence = member.evidence or weigh(())
        text = message(member.task.spec, member.task.attempt, evidence, member.resolved)
        own.append(await env.repository.commit(member.tree, own[-1], text))
    names = tuple(member.task.spec.id for member in members)
    text = joint_message([(member.task.spec, member.evidence or weigh(())) for member in members])
    tree = members[-1].tree
    commit = await env.repository.commit(tree, main.commit, text, own[-1])
    return [
        f.CandidateJoined(
            member.task.spec.id,
            member.task.attempt,
            member.task.phase.name,
            turn.claim.epoch if member.task.spec.id == turn.task.spec.id else member.task.epoch,
            base=main.commit,
            commit=commit,
            tree=tree,
            work=member.work.commit,
            checks=member.checks,
            seconds=sum(check.seconds for check in member.checks if not check.reused),
            resolved=member.resolved,
            joined=Joined(its, below, names),
        )
        for member, below, its in zip(members, own, own[1:], strict=False)
    ]

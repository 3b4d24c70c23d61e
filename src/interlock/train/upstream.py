"""The rules for an upstream that main has diverged from: what is done next about a merge of both.

1. What landed stays reachable, so a diverged upstream is merged and nothing is rebased.
2. The merge goes through the same gate as a change: the checks of all tasks pass on the merged tree, or what
   fails there is known to fail on main.
3. A check that passes after it edited a file of the merge has tested other files than those that would land,
   so it fails, unless it edits that file on main too.
4. Where they conflict, or a check fails, main stays as it is. The same two commits are not tried again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from interlock.events.finished import all_tasks
from interlock.events.state import State
from interlock.model.outcome import CheckResult, Merge
from interlock.model.task import Commit, Tree
from interlock.train.judge import judge


@dataclass(frozen=True, slots=True)
class UpstreamMerge:
    """A merge of main and its upstream, as far as it is known."""

    main: Commit
    theirs: Commit
    built: Merge
    merged: tuple[CheckResult, ...] | None = None
    """The checks on the merged tree; None: they did not run yet."""
    on_main: tuple[CheckResult, ...] | None = None
    """Those that failed there, on main; None: they did not run there."""


@dataclass(frozen=True, slots=True)
class CheckMerge:
    """Run checks on the merged tree, or on main."""

    commands: tuple[str, ...]
    timeout_seconds: float
    tree: Tree | None
    """The merged tree; None: main."""


@dataclass(frozen=True, slots=True)
class RefuseMerge:
    """Leave main as it is and tell the person; not again about the same two commits."""

    conflicts: tuple[str, ...] = ()
    failed: str = ""
    """The check that fails on the merged tree."""
    edited: tuple[str, ...] = ()
    """The files of the merge that this check edits."""


@dataclass(frozen=True, slots=True)
class LandMerge:
    """Move main to the merge."""

    tree: Tree


def merge_step(
    state: State, merge: UpstreamMerge, refused: UpstreamMerge | None
) -> CheckMerge | RefuseMerge | LandMerge | None:
    """Return the next step of a merge; None if it was refused already."""
    if refused and (refused.main, refused.theirs) == (merge.main, merge.theirs):
        return None
    tree = merge.built.tree
    if tree is None:
        return RefuseMerge(merge.built.conflicts)
    specs = [task.spec for task in all_tasks(state)]
    commands = tuple(dict.fromkeys(command for spec in specs for command in spec.verify))
    if not commands:
        # The tasks that had checks may have been removed after their checks ran on the merge.
        red = next((check.command for check in merge.merged or () if not check.passed), "")
        return RefuseMerge(failed=red) if red else LandMerge(tree)
    seconds = max(spec.check_seconds for spec in specs)
    if merge.merged is None:
        return CheckMerge(commands, seconds, tree)
    base = {result.command: result for result in merge.on_main or ()}
    verdict = judge(merge.merged, replace(specs[0], done_when=()), base, {})
    if verdict.unknown and merge.on_main is None:
        return CheckMerge(verdict.unknown, seconds, None)
    failed = next(iter((*verdict.red, *verdict.blocked)), None)
    return RefuseMerge(failed=failed.command, edited=failed.edited) if failed else LandMerge(tree)


def with_checks(merge: UpstreamMerge, step: CheckMerge, results: Sequence[CheckResult]) -> UpstreamMerge:
    """Return the merge with the results of a step."""
    if step.tree:
        return replace(merge, merged=tuple(results))
    on_main = (replace(result, edited=(), rewrites=result.edited) for result in results)
    return replace(merge, on_main=tuple(on_main))

"""Brings main and its upstream together, as `train/upstream.py` decides. Its rules are there."""

from collections.abc import Sequence

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger, Tell
from interlock.events.finished import all_tasks
from interlock.git.protocol import Divergence
from interlock.model.claim import Claim
from interlock.model.outcome import CheckResult, Landing, Move
from interlock.model.reason import Reason, Why
from interlock.model.task import Tree, all_inputs
from interlock.train import retry
from interlock.train.upstream import (
    CheckMerge,
    LandMerge,
    RefuseMerge,
    UpstreamMerge,
    merge_step,
    with_checks,
)
from interlock.verify.protocol import CheckOrder


class Upstream:
    """Fetches, checks and merges."""

    def __init__(self, env: Env, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._env = env
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._told = ""
        self._refused: UpstreamMerge | None = None
        """The merge that was refused last."""

    async def follow(self) -> Reason | None:
        """Fetch and bring main along; return the reason if main moved."""
        self._tell_once(await self._env.repository.fetch())
        for _ in range(retry.UPSTREAM_TRIES):
            found = await self._env.repository.divergence()
            if found and self._env.publisher.follows_remote:
                self._tell_diverged(found)
                return None
            step = await self._decided(found) if found else None
            if found is None or step is None:
                return None
            if isinstance(step, RefuseMerge):
                self._tell_refused(found, step)
            elif why := await self._land(found, step.tree):
                return why
        return None

    async def _decided(self, found: Divergence) -> RefuseMerge | LandMerge | None:
        """Run the checks that are asked for; return the step after them."""
        merge = UpstreamMerge(found.main.commit, found.theirs, found.merge)
        while isinstance(step := merge_step(self._ledger.state, merge, self._refused), CheckMerge):
            merge = with_checks(merge, step, await self._check(found, step))
        if isinstance(step, RefuseMerge):
            self._refused = merge
        return step

    async def _check(self, found: Divergence, step: CheckMerge) -> Sequence[CheckResult]:
        name = f"base/{found.main.commit[:12]}-upstream"
        if step.tree:
            self._tell(f"checking {found.upstream} merged into {found.main.branch}")
            name = f"upstream/{found.theirs[:12]}"
        tasks = (task.spec for task in all_tasks(self._ledger.state))
        tree, inputs = step.tree or found.main.tree, all_inputs(tasks)
        order = CheckOrder(
            name, tree, step.commands, step.timeout_seconds, {}, inputs=inputs, changed=found.changed
        )
        return await self._env.checker.check(order)

    async def _land(self, found: Divergence, tree: Tree) -> Reason | None:
        main, repository = found.main, self._env.repository
        message = f"Merge {found.upstream} into {main.branch}\n"
        commit = await repository.commit(tree, main.commit, message, found.theirs)
        landing = Landing(main.branch, commit, main.commit, self._claim.epoch, tree)
        move = await repository.land(landing)
        if move is Move.MOVED:
            self._tell(f"merged {found.upstream} into {main.branch} as {commit[:12]}")
            return Reason(Why.UPSTREAM_MERGED, {"upstream": found.upstream})
        if move is Move.HELD:
            self._tell_once(f"{found.upstream} is not merged yet: {await repository.obstacle(landing)}")
        return None

    def _tell_refused(self, found: Divergence, step: RefuseMerge) -> None:
        paths = ", ".join(step.conflicts[:3])
        how = f"edits {', '.join(step.edited[:3])} of" if step.edited else "fails on"
        why = (
            f"merge cleanly, but `{step.failed}` {how} the result" if step.failed else f"conflict in {paths}"
        )
        branch = found.main.branch
        self._tell(
            f"warning: {branch} and {found.upstream} {why}; continuing with the local {branch}. "
            f"To bring them together: git switch {branch} && git merge {found.upstream}"
        )

    def _tell_diverged(self, found: Divergence) -> None:
        """A merge would be pushed together with commits that were not tested."""
        branch, upstream = found.main.branch, found.upstream
        self._tell_once(
            f"warning: {branch} and {upstream} have diverged, so nothing can be pushed. "
            f"To bring them together: git switch {branch} && git pull --rebase, then push"
        )

    def _tell_once(self, text: str) -> None:
        """Tell a message, unless it is the same as a minute ago."""
        if text and text != self._told:
            self._tell(text)
        self._told = text

"""Main and its upstream: fast-forwarded, or merged if both have moved on, after the project's checks.

1. What landed stays reachable, so a diverged upstream is merged and nothing is rebased.
2. The merge goes through the same gate as a change: its checks pass on the merged tree, or what fails there
   is known to fail on main.
3. Where they conflict, or a check fails, the run goes on from the local main and tells the person once.
"""

from collections.abc import Sequence
from dataclasses import replace

from interlock.engine.env import Env
from interlock.engine.ledger import Ledger, Tell
from interlock.events.finished import all_tasks
from interlock.git.protocol import Divergence
from interlock.model.claim import Claim
from interlock.model.outcome import CheckResult, Landing, Move
from interlock.model.reason import Reason, Why
from interlock.model.task import Tree
from interlock.train import judge, retry
from interlock.verify.protocol import CheckOrder


class Upstream:
    """Brings main and its upstream together."""

    def __init__(self, env: Env, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._env = env
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._told = ""
        self._refused = ("", "")
        """The pair of commits that was tried last and did not come together."""

    async def follow(self) -> Reason | None:
        """Fetch and bring main along; return the reason if main moved."""
        self._tell_once(await self._env.repository.fetch())
        for _ in range(retry.UPSTREAM_TRIES):
            found = await self._env.repository.divergence()
            if found is None or self._refused == (found.main.commit, found.theirs):
                return None
            if why := await self._take_in(found):
                return why
        return None

    async def _take_in(self, found: Divergence) -> Reason | None:
        if found.merge.tree is None:
            paths = ", ".join(found.merge.conflicts[:3])
            self._refuse(found, f"conflict in {paths}")
            return None
        if red := await self._red(found, found.merge.tree):
            self._refuse(found, f"merge cleanly, but `{red}` fails on the result")
            return None
        return await self._land(found, found.merge.tree)

    async def _red(self, found: Divergence, tree: Tree) -> str:
        """The check that speaks against the merged tree; nothing if there is none."""
        specs = [task.spec for task in all_tasks(self._ledger.state)]
        commands = tuple(dict.fromkeys(command for spec in specs for command in spec.verify))
        if not commands:
            return ""
        self._tell(f"checking {found.upstream} merged into {found.main.branch}")
        seconds = max(spec.check_seconds for spec in specs)
        results = await self._check(f"upstream/{found.theirs[:12]}", tree, commands, seconds)
        anyone = replace(specs[0], done_when=())
        verdict = judge(results, anyone, {}, {})
        if verdict.unknown:
            name = f"base/{found.main.commit[:12]}-upstream"
            on_main = await self._check(name, found.main.tree, verdict.unknown, seconds)
            verdict = judge(results, anyone, {result.command: result for result in on_main}, {})
        return next((check.command for check in (*verdict.red, *verdict.blocked)), "")

    async def _check(
        self, name: str, tree: Tree, commands: tuple[str, ...], seconds: float
    ) -> Sequence[CheckResult]:
        return await self._env.checker.check(CheckOrder(name, tree, commands, seconds, {}))

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

    def _refuse(self, found: Divergence, why: str) -> None:
        self._refused = (found.main.commit, found.theirs)
        branch = found.main.branch
        self._tell(
            f"warning: {branch} and {found.upstream} {why}; continuing with the local {branch}. "
            f"To bring them together: git switch {branch} && git merge {found.upstream}"
        )

    def _tell_once(self, text: str) -> None:
        """Tell a message, unless it is the same as a minute ago."""
        if text and text != self._told:
            self._tell(text)
        self._told = text

"""Proposes tested changes as pull requests, and looks at them until they are merged or closed.

Rules:
1. The branch here never moves by itself: it follows the remote, where people or the forge merge.
2. Only a change on top of what the remote has is proposed, so that nothing else goes along with it.
3. A merge is found on the branch here: the proposed commit, or one with its tree or its patch. A forge may
   name another commit, as reviewers push more: it counts if it is new and changes all files of the change.
4. What a forge or the network has against a look or a proposal is no failure of the task.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from interlock.engine.hands import landed
from interlock.engine.judging import FEEDBACK_CHARS
from interlock.engine.landing_settings import LandingSettings
from interlock.engine.ledger import Ledger, Tell
from interlock.engine.mainline import Mainline
from interlock.engine.publish import held, held_because
from interlock.engine.quote import quoted
from interlock.engine.turn import Turn
from interlock.events import facts as f
from interlock.events.state import State, TaskState
from interlock.events.task_parts import Candidate
from interlock.git.forge import Forge, Patches
from interlock.git.forge_program import ForgeFailed
from interlock.git.merged import merged_as, merged_with_more
from interlock.git.place import Place, ref_word
from interlock.git.protocol import Rewritten
from interlock.git.push import Push, PushOutcome, is_on_upstream, push_branch
from interlock.git.upstream import upstream_of
from interlock.model.claim import Claim
from interlock.model.errors import EnvironmentProblem, Fenced
from interlock.model.outcome import Landing
from interlock.model.pull_request import Proposal, Review, Standing
from interlock.model.reason import Why
from interlock.model.task import Commit
from interlock.train import retry
from interlock.train.proposal import proposal_text
from interlock.train.pull_requests import news
from interlock.train.review import ReviewRules, need


class FencedRepository(Protocol):
    """The call of a repository that a proposal needs."""

    async def fence_epoch(self) -> int: ...


@dataclass(frozen=True, slots=True)
class PullRequests:
    """Publishes each change as a pull request, and lands none here."""

    place: Place
    repository: FencedRepository
    forge: Forge
    settings: LandingSettings
    rules: ReviewRules = field(default_factory=ReviewRules)
    follows_remote = True

    async def publish(self, turn: Turn, landing: Landing) -> Sequence[f.Fact]:
        if await self.repository.fence_epoch() > landing.fence:
            raise Fenced(
                "another controller took over this repository: it has raised the fence of the branch"
            )
        main = await turn.see_main()
        if main.commit != landing.old:
            found = await self._found(turn.task)
            return found or [f.CandidateStale(*turn.key, base=landing.old, main=main.commit)]
        push = await self._push(landing)
        if push.outcome is not PushOutcome.PUSHED:
            return [held(turn, push)]
        try:
            return [await self._propose(turn, landing)]
        except ForgeFailed as failed:
            return [held_because(turn, Why.FORGE_FAILED, command=failed.command, text=failed.said)]

    def branch(self, task: str) -> str:
        """The branch of a pull request."""
        return self.settings.pull_request_prefix + ref_word(task)

    async def _push(self, landing: Landing) -> Push:
        branch = self.branch(landing.task)
        upstream = await upstream_of(self.place)
        if isinstance(self.forge, Patches) and (upstream is None or not upstream.is_remote):
            await self.place.git.run("update-ref", f"refs/heads/{branch}", landing.new)
            return Push(PushOutcome.PUSHED, branch)
        if not isinstance(self.forge, Patches) and not await is_on_upstream(self.place, landing.old):
            return Push(PushOutcome.UNPUSHED, upstream.name if upstream else "")
        return await push_branch(self.place, landing, branch)

    async def _propose(self, turn: Turn, landing: Landing) -> f.Fact:
        task, candidate = turn.task, turn.task.change.candidate
        assert candidate is not None  # noqa: S101 - a landing is made from one
        upstream = await upstream_of(self.place)
        branch, base_branch = self.branch(landing.task), upstream.branch if upstream else turn.branch
        title, body = proposal_text(task, candidate, turn.branch)
        labels = self.settings.pull_request_labels
        proposal = Proposal(
            task.spec.id, title, body, branch, base_branch, landing.new, landing.old, tuple(labels)
        )
        proposed = await self.forge.propose(proposal)
        number, url = proposed.number, proposed.url
        if self.settings.auto_merge and self._may_merge_itself(task, candidate):
            try:
                await self.forge.merge_when_ready(number, landing.new)
            except ForgeFailed as failed:
                turn.tell(f"{landing.task}: no auto-merge: {failed}")
        return f.PullRequestOpened(
            *turn.key, number=number, url=url, branch=branch, base=landing.old, commit=landing.new
        )

    def _may_merge_itself(self, task: TaskState, made: Candidate) -> bool:
        is_good = made.evidence.is_verified and not made.evidence.steering
        return is_good and need(self.rules, task, made) is None

    async def look(self, task: TaskState, main: Commit) -> Sequence[f.Fact]:
        """Look at the pull request of a task; return what is new. One that is merged while its agent works on
        a review ends the task too."""
        opened = task.change.pull_request
        if found := await self._found(task):
            return found
        if opened is None:
            return []
        seen = await self.forge.view(opened.number, opened.commit)
        if seen.standing is Standing.MERGED:
            tip = await merged_with_more(self.place, opened.base, opened.commit, seen.merged_as)
            # Main may have been fetched after the look above.
            if found := await self._found(task) or ([_seen(task, tip)] if tip else []):
                return found
        return news(task, seen, main, lambda review: _quote(opened.number, review))

    async def _found(self, task: TaskState) -> list[f.Fact]:
        """Return the landing of a task whose change is on the branch here (rule 3)."""
        made, opened = task.change.candidate, task.change.pull_request
        if made and (found := await merged_as(self.place, made.base, made.commit)):
            proposed = made.commit if found.commit != made.commit else Commit("")
            fact = landed(task, replace(made, commit=found.commit, base=found.parent, tree=found.tree))
            return [replace(fact, proposed=proposed)]
        if opened is None or not (found := await merged_as(self.place, opened.base, opened.commit)):
            return []
        return [_seen(task, found)]


def _seen(task: TaskState, found: Rewritten) -> f.Fact:
    return f.LandingSeen(task.spec.id, found.commit, found.parent, found.tree)


def _quote(number: int, review: Review) -> str:
    return quoted(f"What {review.author} wrote about pull request #{number}", review.text, FEEDBACK_CHARS)


def followed(state: State) -> list[TaskState]:
    """The tasks of this run that have a pull request and are not over."""
    return [
        task
        for name, task in state.tasks.items()
        if task.change.pull_request is not None and not task.is_over and state.is_selected(name)
    ]


def waiting(state: State) -> list[TaskState]:
    """Those of them that wait for it."""
    return [task for task in followed(state) if task.proposed is not None]


class PullRequestWatch:
    """Looks at open pull requests, beside the loop."""

    def __init__(
        self, publisher: PullRequests, ledger: Ledger, claim: Claim, main: Mainline, tell: Tell
    ) -> None:
        self._publisher, self._ledger, self._claim, self._main = publisher, ledger, claim, main
        self._tell = tell
        self._told = ""
        self._alone_since: float | None = None
        self._lock = asyncio.Lock()
        """One look at a time: two at once would both record what they find."""

    async def watch(self) -> None:
        """Look until cancelled; less often while nothing changes."""
        quiet = 0
        while True:
            first = self._publisher.settings.pull_request_poll_seconds
            await asyncio.sleep(retry.poll_seconds(first, quiet))
            quiet = 0 if await self.look() else quiet + 1

    async def look(self) -> bool:
        """Look once at each that a task waits for; True if there was news."""
        async with self._lock:
            return await self._look()

    async def _look(self) -> bool:
        tasks = followed(self._ledger.state)
        if not tasks:
            return False
        facts: list[f.Fact] = []
        try:
            await self._main.fetch()
            main = await self._main.see()
            for task in tasks:
                facts += await self._publisher.look(task, main.commit)
            self._told = ""
        except EnvironmentProblem as problem:
            if str(problem) != self._told:
                self._tell(str(problem))
            self._told = str(problem)
        if facts:
            await self._ledger.append(facts, self._claim)
        return bool(facts)

    def is_worth_waiting(self, now: float) -> bool:
        """Tell if the run, which has nothing else to do, goes on until a pull request is merged or closed."""
        state = self._ledger.state
        is_stopping = state.run is not None and state.run.stopping
        if is_stopping or not waiting(state):
            return False
        self._alone_since = self._alone_since or now
        return now - self._alone_since < self._publisher.settings.pull_request_wait_seconds

    def is_busy(self) -> None:
        """Count the wait of a run anew: it has something else to do."""
        self._alone_since = None

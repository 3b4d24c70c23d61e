"""Reviews of tested changes: measures a change, and opens a review at its landing where one is needed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from interlock.engine.landing_settings import LandingSettings
from interlock.engine.turn import Turn
from interlock.events import facts as f
from interlock.events.task_parts import Candidate
from interlock.git.measure import measure
from interlock.git.place import Place
from interlock.model.outcome import Measured
from interlock.model.task import Commit, Task
from interlock.train.review import NONE, ReviewRules, is_approved, need


async def _unmeasured(_base: Commit, commit: Commit) -> Measured:
    """Return no more than the commit itself: an approval is for it alone."""
    return Measured(commit, -1)


@dataclass(frozen=True, slots=True)
class Reviews:
    """Says which changes a person has to approve, and what an approval is for."""

    rules: ReviewRules = field(default_factory=ReviewRules)
    measure: Callable[[Commit, Commit], Awaitable[Measured]] = _unmeasured

    elsewhere: bool = False
    """A forge asks for the approval, of a pull request."""

    async def measured(self, spec: Task, base: Commit, commit: Commit) -> Measured:
        """Measure a change that may need a review; empty for any other, which costs no git call."""
        if self.rules.word_for(spec) == NONE:
            return Measured("", 0)
        return await self.measure(base, commit)

    async def opened(self, turn: Turn, made: Candidate) -> f.ReviewOpened | None:
        """Open the review of a change that is about to land; None: it needs none, or is approved."""
        task, work = turn.task, turn.task.change.work
        if self.elsewhere or self.rules.word_for(task.spec) == NONE or work is None:
            return None
        if not made.digest:  # it was tested while no review was asked for
            size = await self.measure(made.base, made.commit)
            made = replace(made, digest=size.digest, lines=size.lines)
        why = need(self.rules, task, made)
        if why is None or is_approved(task, made):
            return None
        return f.ReviewOpened(
            *turn.key, digest=made.digest, work=work.commit, base=made.base, commit=made.commit, why=why
        )


def rules_of(settings: LandingSettings, origins: Mapping[str, str]) -> ReviewRules:
    """Return what the settings say about reviews."""
    flag = settings.review if origins.get("review") == "--review" else ""
    by_category = settings.review_by_category
    return ReviewRules(flag, settings.review, by_category, settings.review_lines, settings.review_files)


def reviews_of(place: Place, settings: LandingSettings, origins: Mapping[str, str]) -> Reviews:
    """Return the reviews of a project, with changes measured by git."""
    elsewhere = settings.land == "pull-request"
    return Reviews(rules_of(settings, origins), partial(measure, place), elsewhere)

"""The rules that say which changes a person has to approve before they land.

Rules:
1. The word on the command line comes first, then that of the task, of its category and of the project.
2. `auto`: a change needs a person unless it is verified, small, and touches neither a file that the project
   reserves nor how its checks run.
3. An approval is for one change: the commit of its agent, and the lines that it adds and removes. A merge
   onto another main keeps both. What a command resolved in another way, and every new attempt, is another
   change.
4. What undoes commits of main needs no review: a person asked for it, or chose it with `on_red_main`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.events.state import TaskState
from interlock.events.task_parts import Candidate
from interlock.model.globs import matches
from interlock.model.reason import Reason, Why
from interlock.model.task import Task

NONE, REQUIRED, AUTO = "none", "required", "auto"


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """What a project says about the review of its changes."""

    flag: str = ""
    """The word for every task of this run; empty: none was given."""
    word: str = NONE
    categories: Mapping[str, str] = field(default_factory=dict)
    lines: int = 50
    """The most lines that a change adds and removes and still lands without a person, with `auto`."""
    files: tuple[str, ...] = ()
    """Globs of files whose changes a person approves, with `auto`."""

    def word_for(self, spec: Task) -> str:
        if spec.reverts:
            return NONE
        return self.flag or spec.review or self.categories.get(spec.category, self.word)


def need(rules: ReviewRules, task: TaskState, made: Candidate) -> Reason | None:
    """Return the reason that a person has to approve a tested change; None: it may land without one."""
    word = rules.word_for(task.spec)
    if word != AUTO:
        return Reason(Why.REVIEW_REQUIRED) if word == REQUIRED else None
    if not made.evidence.is_verified:
        return Reason(Why.REVIEW_UNVERIFIED, {"gap": made.evidence.gap or ""})
    if made.evidence.steering:
        return Reason(Why.REVIEW_STEERING, {"paths": made.evidence.steering})
    touched = task.change.work.touched if task.change.work else ()
    if reserved := next((path for path in touched for glob in rules.files if matches(glob, path)), ""):
        return Reason(Why.REVIEW_FILE, {"path": reserved})
    if made.lines < 0:
        return Reason(Why.REVIEW_BINARY)
    if made.lines > rules.lines:
        return Reason(Why.REVIEW_LARGE, {"lines": made.lines, "limit": rules.lines})
    return None


def is_approved(task: TaskState, made: Candidate) -> bool:
    """Return True if a person has approved exactly this change (rule 3)."""
    review, work = task.change.review, task.change.work
    return bool(review and work and review.approved and review.is_of(made.digest, work.commit))

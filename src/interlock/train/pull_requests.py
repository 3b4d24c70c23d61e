"""The rules for a change that is proposed as a pull request.

Rules:
1. A pull request that was closed without a merge ends the task. Merged ones are found on main (`git.merged`).
2. A review that asks for changes goes back to the agent, once, and is no failure of the task.
3. A pull request that conflicts with main, or is behind where the forge asks for more, is built again on main
   and updated: but only when main here has moved, so that something else comes of it.
4. A pull request that waits for something else than before is said, once.
"""

from collections.abc import Callable, Sequence

from interlock.events import facts as f
from interlock.events.state import TaskState
from interlock.events.task_parts import OpenPullRequest
from interlock.model.pull_request import PullRequest, Review, Standing
from interlock.model.reason import Reason, Why
from interlock.model.task import Commit


def news(
    task: TaskState, seen: PullRequest, main: Commit, quote: Callable[[Review], str]
) -> Sequence[f.Fact]:
    """Return the facts that follow from a look at the pull request that a task waits for."""
    opened, made = task.proposed, task.change.candidate
    if opened is None or made is None:
        return []
    name, number = task.spec.id, opened.number
    if seen.standing is Standing.CLOSED:
        return [f.TaskFailed(name, task.attempt, Reason(Why.PULL_REQUEST_CLOSED, {"number": number}))]
    if fresh := [review for review in seen.reviews if review.id not in opened.reviews]:
        return [_review(task, opened, fresh, quote)]
    if seen.standing in (Standing.CONFLICTS, Standing.BEHIND) and main != made.base:
        why = Reason(Why.PULL_REQUEST_OUTDATED, {"number": number, "standing": seen.standing})
        key = (name, task.attempt, task.phase.name, task.epoch)
        return [f.CandidateStale(*key, base=made.base, main=main, why=why)]
    changed = seen.standing != opened.standing
    return [f.PullRequestSeen(name, number, seen.standing)] if changed else []


def _review(
    task: TaskState, opened: OpenPullRequest, fresh: Sequence[Review], quote: Callable[[Review], str]
) -> f.Fact:
    authors = ", ".join(dict.fromkeys(review.author for review in fresh))
    told = "".join(map(quote, fresh))
    return f.ReviewReceived(task.spec.id, opened.number, authors, told, tuple(review.id for review in fresh))

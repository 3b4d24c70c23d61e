"""Changes that each fact about a task makes in it, besides its stage and phase.

Which facts count is for the fold, and where they lead for `lifecycle`. Effects come before the move.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from interlock.events import facts as f
from interlock.events.asked import Permission, Proposal, Question
from interlock.events.baselines import kept
from interlock.events.record import Recorded
from interlock.events.state import TaskState
from interlock.events.task_parts import (
    Candidate,
    Comment,
    Failure,
    Opened,
    OpenPullRequest,
    Review,
    Undo,
    Work,
)
from interlock.model.evidence import CLAIMED, UNCHECKED, weigh
from interlock.model.outcome import WAITS, ErrorClass, Resume, is_parked
from interlock.model.pull_request import Standing
from interlock.model.reason import Reason, Why, said
from interlock.model.task import TASK_ID, Commit, PhaseKind

PERMISSIONS_KEPT = 100
PROPOSALS_KEPT = 20
"""Of one task. Later ones do not count: its agents have proposed enough for a person to look at."""
QUESTIONS_KEPT = 10
REVIEWS_KEPT = 100
COMMENTS_KEPT = 200


def _said(text: str) -> Reason | None:
    return said(text) if text else None


def _started(task: TaskState, fact: f.PhaseStarted, _: Recorded) -> None:
    task.epoch, task.attempt = fact.epoch, fact.attempt
    task.session.holder, task.queue.not_before = fact.holder, 0.0
    task.why = fact.why
    task.session.exited = False
    task.change.built = None
    task.talk.permissions = []
    if task.phase.kind is PhaseKind.AGENT:
        task.trouble.attempts += 1
        session = task.session
        session.agent, session.offered, session.held_out, session.scope = fact.agent, (), (), ()
        session.reserved = fact.reserved
    task.change.together = fact.together
    if task.phase.kind is not PhaseKind.LAND:
        task.session.leased = fact.leased


def _session_opened(task: TaskState, fact: f.SessionOpened, _: Recorded) -> None:
    task.session.opened = Opened(fact.attempt, fact.session, fact.use, fact.model, fact.sandbox, fact.base)


def _permission_asked(task: TaskState, fact: f.PermissionAsked, _: Recorded) -> None:
    asked = Permission(fact.attempt, fact.call, fact.tool, fact.text)
    task.talk.permissions = [*task.talk.permissions[1 - PERMISSIONS_KEPT :], asked]


def _task_proposed(task: TaskState, fact: f.TaskProposed, row: Recorded) -> None:
    """Note the first proposal of this id: what a person reads must be what is accepted."""
    is_new = all(known.id != fact.id for known in task.talk.proposals)
    if is_new and re.fullmatch(TASK_ID, fact.id):  # a person is shown the id in a command
        made = Proposal(
            fact.attempt, fact.id, fact.goal, fact.needs, fact.touches, fact.done_when, time=row.time
        )
        task.talk.proposals = [*task.talk.proposals, made][:PROPOSALS_KEPT]


def _question_asked(task: TaskState, fact: f.QuestionAsked, _: Recorded) -> None:
    """Note the question. It is no failure: neither the breaker nor the limit of retries counts it."""
    asked = Question(fact.attempt, fact.text, fact.message)
    task.talk.questions = [*task.talk.questions[1 - QUESTIONS_KEPT :], asked]
    task.session.cut_off = Resume(fact.attempt, fact.session, fact.base, fact.archived, answered=True)
    task.spent.busy_seconds += fact.seconds
    task.trouble.losses = task.trouble.deferrals = task.trouble.waits = 0
    task.why = Reason(Why.QUESTION_ASKED)


def _question_answered(task: TaskState, fact: f.QuestionAnswered, _: Recorded) -> None:
    close_question(task, fact.text)
    task.trouble.attempts = 0
    task.why = Reason(Why.QUESTION_ANSWERED)


def close_question(task: TaskState, answer: str = "") -> None:
    """Close an open question with the answer; without one, forget the question."""
    if task.talk.questions and task.talk.questions[-1].answer is None:
        *before, last = task.talk.questions
        task.talk.questions = [*before, replace(last, answer=answer)] if answer else before


def _agent_exited(task: TaskState, _fact: f.AgentExited, _: Recorded) -> None:
    task.session.exited = True


def _finished(task: TaskState, fact: f.WorkFinished, row: Recorded) -> None:
    task.change.work = Work(fact.attempt, fact.commit, fact.base, fact.touched, row.seq, fact.left_out)
    task.spent.busy_seconds += fact.seconds
    task.trouble.losses = task.trouble.deferrals = task.trouble.waits = 0
    task.session.cut_off = None


def _nothing_to_change(task: TaskState, fact: f.NoChangeNeeded, _: Recorded) -> None:
    task.change.work = task.change.candidate = task.session.cut_off = None
    task.change.found_done = weigh(fact.checks) if fact.checks else CLAIMED
    task.spent.busy_seconds += fact.seconds
    task.why = Reason(Why.NOTHING_TO_CHANGE, {"on_main": fact.on_main, "checked": bool(fact.checks)})


def _candidate_built(task: TaskState, fact: f.CandidateBuilt, _: Recorded) -> None:
    task.change.built = Candidate(fact.commit, fact.tree, fact.base)


def _candidate_passed(task: TaskState, fact: f.CandidatePassed, _: Recorded) -> None:
    task.change.candidate = Candidate(
        fact.commit, fact.tree, fact.base, results=kept(fact.checks), digest=fact.digest, lines=fact.lines
    )
    task.trouble.losses = task.trouble.deferrals = 0


def _candidate_joined(task: TaskState, fact: f.CandidateJoined, row: Recorded) -> None:
    _candidate_passed(task, fact, row)
    if task.change.candidate:
        task.change.candidate = replace(task.change.candidate, joined=fact.joined)


def _landed(task: TaskState, fact: f.Landed, _: Recorded) -> None:
    made = task.change.candidate
    evidence = made.evidence if made and fact.tree in (made.tree, "") else UNCHECKED
    joined = made.joined if made else None
    task.change.landed = Candidate(fact.commit, fact.tree, fact.base, evidence, joined=joined)
    task.change.candidate = task.change.pull_request = None
    task.why = Reason(Why.LANDED, {"commit": fact.commit})


def _landing_lost(task: TaskState, fact: f.LandingLost, _: Recorded) -> None:
    task.why = Reason(Why.LANDING_LOST, {"commit": fact.commit})


def revert_prepared(task: TaskState, fact: f.RevertPrepared, row: Recorded) -> None:
    """Give a task without an agent its change."""
    task.attempt = 1
    task.change.work = Work(task.attempt, fact.commit, fact.base, fact.touched, row.seq)
    task.change.undo = Undo(fact.undoes, fact.reopens, fact.command, fact.feedback)


def _undone(task: TaskState, fact: f.TaskUndone, _: Recorded) -> None:
    _forget_landing(task)
    task.why = Reason(Why.UNDONE, {"tasks": (fact.by,), "commit": fact.commit})


def _reopened(task: TaskState, fact: f.TaskReopened, _: Recorded) -> None:
    _forget_landing(task)
    task.why = Reason(Why.REOPENED, {"tasks": (fact.by,), "commit": fact.commit, "command": fact.command})
    # Without a fingerprint: what happened on main counts neither for the breaker nor for the retries.
    failure = Failure(
        task.attempt, task.spec.pipeline[-1].name, ErrorClass.CHECK, task.why, "", fact.feedback
    )
    task.trouble.failures = [replace(failure, commit=fact.commit, command=fact.command)]


def _forget_landing(task: TaskState) -> None:
    task.change.undone, task.change.landed = task.change.landed, None
    if not task.spec.reverts:  # git made that one's change once, and no agent makes another
        task.change.work = None
    task.trouble.failures, task.trouble.waits, task.session.cut_off = [], 0, None
    task.queue.not_before = 0.0


def _landing_found(task: TaskState, fact: f.LandingSeen, _: Recorded) -> None:
    change, seen = task.change, Candidate(fact.commit, fact.tree, fact.base)
    known = change.landed or change.candidate or change.undone
    if known and known.commit == fact.commit:
        seen = known
    elif known and fact.tree and known.tree == fact.tree:  # rebased, or merged by a forge: it was checked
        seen = replace(known, commit=fact.commit, base=fact.base)
    task.change.landed = seen
    task.change.candidate = task.change.pull_request = task.change.undone = task.session.cut_off = None
    close_question(task)
    task.why = Reason(Why.LANDING_FOUND, {"commit": fact.commit})


def _stale(task: TaskState, fact: f.CandidateStale, _: Recorded) -> None:
    task.change.candidate = None
    task.why = Reason(Why.RETRYING, {"cause": fact.why or Reason(Why.MAIN_MOVED, {"commit": fact.main})})


def _failed(task: TaskState, fact: f.PhaseFailed, row: Recorded) -> None:
    if fact.error in WAITS:
        # It says nothing about the task, so neither the breaker nor the next attempt hear of it.
        task.trouble.waits += 1
        if is_parked(fact.error, fact.usage, fact.seconds):
            _give_back(task)
    else:
        task.trouble.waits = 0
        _remember(task, fact)
    task.session.cut_off = None
    task.trouble.losses = task.trouble.deferrals = 0
    task.why = fact.why
    task.queue.not_before = _next_try(task, fact, row.time)
    if task.phase.kind is PhaseKind.AGENT:
        task.spent.busy_seconds += fact.seconds


def _give_back(task: TaskState) -> None:
    """Do not count an attempt: it has cost nothing, or a person took it back."""
    if task.phase.kind is PhaseKind.AGENT:
        task.trouble.attempts = max(0, task.trouble.attempts - 1)


def _next_try(task: TaskState, fact: f.PhaseFailed, time: float) -> float:
    """Return the time of the next attempt: at once, if an agent whose model is open can have it."""
    until = time + fact.retry_after_seconds if fact.retry_after_seconds else 0.0
    if fact.error not in WAITS:
        return until
    task.trouble.closed = {**task.trouble.closed, task.who.name: until}
    opens = min(task.trouble.closed.get(agent.name, 0.0) for agent in task.spec.candidates)
    return opens if opens > time else 0.0


def _remember(task: TaskState, fact: f.PhaseFailed) -> None:
    made = task.change.work if task.change.work and task.change.work.attempt == fact.attempt else None
    failure = Failure(
        fact.attempt,
        fact.phase,
        fact.error,
        fact.why,
        fact.fingerprint,
        fact.feedback,
        fact.log,
        fact.commit,
        fact.base,
        next((check.command for check in fact.checks if not check.passed and not check.red_on_base), ""),
        task.session.agent,
        fact.left_out or (made.left_out if made else ()),
    )
    task.trouble.failures = [*task.trouble.failures, failure]


def _cut_off(task: TaskState, archived: str) -> None:
    """Remember where an agent can go on that was ended from outside."""
    opened = task.session.opened
    if task.phase.kind is PhaseKind.AGENT and opened and opened.attempt == task.attempt:
        task.session.cut_off = Resume(opened.attempt, opened.session, opened.base, archived)


def _lost(task: TaskState, fact: f.PhaseLost, row: Recorded) -> None:
    task.trouble.losses += 1
    task.why = fact.why
    task.queue.ready_since = row.time
    task.queue.not_before = row.time + fact.retry_after_seconds if fact.retry_after_seconds else 0.0
    _cut_off(task, fact.archived)


def _deferred(task: TaskState, fact: f.PhaseDeferred, row: Recorded) -> None:
    task.trouble.deferrals += 1
    is_stopped = fact.why is not None and fact.why.code == Why.STOPPED
    is_begun = task.session.opened is not None and task.session.opened.attempt == fact.attempt
    if is_stopped or not (fact.usage.tokens if fact.usage else is_begun):
        _give_back(task)
    task.why = fact.why
    if fact.archived:
        _cut_off(task, fact.archived)
    task.queue.not_before = row.time + fact.retry_after_seconds


def _gave_up(task: TaskState, fact: f.TaskFailed, _: Recorded) -> None:
    task.why = fact.why
    task.change.pull_request = None


def _proposed(task: TaskState, fact: f.PullRequestOpened, _: Recorded) -> None:
    before = task.change.pull_request
    known = before.reviews if before and before.number == fact.number else ()
    task.change.pull_request = OpenPullRequest(fact.number, fact.url, fact.commit, fact.base, reviews=known)
    task.trouble.losses = task.trouble.deferrals = 0
    task.why = Reason(Why.PULL_REQUEST, {"number": fact.number, "url": fact.url})


def _standing_seen(task: TaskState, fact: f.PullRequestSeen, _: Recorded) -> None:
    if task.change.pull_request:
        task.change.pull_request = replace(task.change.pull_request, standing=fact.standing)


def _reviewed(task: TaskState, fact: f.ReviewReceived, _: Recorded) -> None:
    opened = task.change.pull_request
    why = Reason(Why.CHANGES_REQUESTED, {"number": fact.number, "author": fact.author})
    _send_back(task, why, fact.feedback)
    if opened:
        reviews = (*opened.reviews, *fact.reviews)[-REVIEWS_KEPT:]
        task.change.pull_request = replace(opened, standing=Standing.CHANGES_REQUESTED, reviews=reviews)


def _send_back(task: TaskState, why: Reason, feedback: str) -> None:
    """Tell the next attempt. It is no failure: neither the breaker nor the limit of retries counts it."""
    work = task.change.work
    told = Failure(
        task.attempt,
        task.phase.name,
        ErrorClass.REVIEW,
        why,
        "",
        feedback,
        commit=work.commit if work else None,
        base=work.base if work else Commit(""),
        agent=task.session.agent,
    )
    task.trouble.failures = [*task.trouble.failures, told]
    task.why = why


def _review_opened(task: TaskState, fact: f.ReviewOpened, row: Recorded) -> None:
    before = task.change.review
    opened = Review(fact.digest, fact.work, fact.base, fact.commit, fact.why, row.time)
    if before and before.is_of(fact.digest, fact.work):
        opened = replace(before, base=fact.base, commit=fact.commit, why=fact.why, look_again=False)
    elif before and before.work == fact.work:  # altered on its way to main
        opened = replace(opened, comments=before.comments)
    task.change.review = opened
    task.trouble.losses = task.trouble.deferrals = 0
    task.why = Reason(Why.REVIEW, {"cause": fact.why} if fact.why else {})


def look_again(task: TaskState) -> None:
    """Let the next landing find out again what holds it up: the rules or the checkout may be others now."""
    if task.in_review:
        task.change.review = replace(task.in_review, look_again=True)
    if task.held_up:
        task.queue.not_before, task.trouble.deferrals = 0.0, 0


def _commented(task: TaskState, fact: f.ReviewCommented, row: Recorded) -> None:
    if review := task.change.review:
        by = row.actor.partition("@")[0]
        comment = Comment(by, fact.text, fact.path, fact.line, fact.around)
        comments = (*review.comments[1 - COMMENTS_KEPT :], comment)
        task.change.review = replace(review, comments=comments)


def _approved(task: TaskState, fact: f.ReviewApproved, row: Recorded) -> None:
    if review := task.change.review:
        by = row.actor.partition("@")[0]
        task.change.review = replace(review, approved=True, by=by, note=fact.note)
        task.why = Reason(Why.APPROVED, {"actor": by})


def _rejected(task: TaskState, fact: f.ReviewRejected, row: Recorded) -> None:
    by = row.actor.partition("@")[0]
    _send_back(task, Reason(Why.REJECTED, {"actor": by, "text": fact.note}), fact.feedback)
    task.trouble.attempts = 0
    task.change.review = None


def _retried(task: TaskState, fact: f.TaskRetried, _: Recorded) -> None:
    # What went wrong last is still worth telling, but the breaker must not count it.
    task.trouble.failures = [replace(failure, fingerprint="") for failure in task.trouble.failures[-1:]]
    task.trouble.losses, task.talk.notes, task.queue.not_before = 0, fact.note, 0.0
    task.trouble.waits = task.trouble.attempts = 0
    task.session.cut_off = task.change.landed = None
    close_question(task, fact.note)
    task.why = Reason(Why.RETRIED)


def _reset(task: TaskState, fact: f.TaskReset, _: Recorded) -> None:
    task.trouble.failures, task.trouble.losses, task.queue.not_before = [], 0, 0.0
    task.trouble.waits = task.trouble.attempts = 0
    task.session.cut_off = task.change.landed = None
    close_question(task)
    task.why = _said(fact.why) or Reason(Why.RESET)


def _cancelled(task: TaskState, fact: f.TaskCancelled, _: Recorded) -> None:
    task.why = _said(fact.why) or Reason(Why.BY_PERSON)


def _removed(task: TaskState, _fact: f.TaskRemoved, _: Recorded) -> None:
    task.why = Reason(Why.NOT_IN_GRAPH)


# Any: each effect takes the one kind of fact it is listed under.
EFFECTS: dict[type[f.Fact], Callable[[TaskState, Any, Recorded], None]] = {
    f.PhaseStarted: _started,
    f.SessionOpened: _session_opened,
    f.PermissionAsked: _permission_asked,
    f.TaskProposed: _task_proposed,
    f.QuestionAsked: _question_asked,
    f.QuestionAnswered: _question_answered,
    f.AgentExited: _agent_exited,
    f.WorkFinished: _finished,
    f.NoChangeNeeded: _nothing_to_change,
    f.CandidateBuilt: _candidate_built,
    f.CandidatePassed: _candidate_passed,
    f.CandidateJoined: _candidate_joined,
    f.Landed: _landed,
    f.LandingLost: _landing_lost,
    f.LandingSeen: _landing_found,
    f.TaskUndone: _undone,
    f.TaskReopened: _reopened,
    f.CandidateStale: _stale,
    f.PullRequestOpened: _proposed,
    f.PullRequestSeen: _standing_seen,
    f.ReviewReceived: _reviewed,
    f.ReviewOpened: _review_opened,
    f.ReviewCommented: _commented,
    f.ReviewApproved: _approved,
    f.ReviewRejected: _rejected,
    f.PhaseFailed: _failed,
    f.PhaseLost: _lost,
    f.PhaseDeferred: _deferred,
    f.TaskFailed: _gave_up,
    f.TaskRetried: _retried,
    f.TaskReset: _reset,
    f.TaskCancelled: _cancelled,
    f.TaskRemoved: _removed,
}

"""Words for the reasons that facts hold: why a phase started, ended or was postponed, and a task ended."""

from collections.abc import Callable, Mapping

from interlock.engine.scope_words import SCOPE_WORDS, scope_text
from interlock.model.claim import described
from interlock.model.durations import lasting
from interlock.model.failure_words import FAILURES, failure_text
from interlock.model.pull_request import Standing
from interlock.model.reason import Reason, Value, Why
from interlock.ui.plain import counted

Words = Callable[[Reason, str], str]
"""Makes the sentence for a reason and the sentence for its cause ('' if it has none)."""


def _nothing_to_change(reason: Reason, _: str) -> str:
    what = "its change is already on main" if reason.fields.get("on_main") else "nothing to change"
    return what + ("; its checks pass on main as it is" if reason.fields.get("checked") else "")


def _retries_used(reason: Reason, because: str) -> str:
    failures, retries = int(reason.number("times")), int(reason.number("retries"))
    times = "once" if failures == 1 else f"{failures} times"
    allowed = "1 retry was allowed" if retries == 1 else f"{retries or 'no'} retries were allowed"
    return f"{because} (failed {times}; {allowed})"


def _commit(reason: Reason) -> str:
    return reason.text("commit")[:12]


def _main_in_the_way(reason: Reason, _: str) -> str:
    how = "cannot run" if reason.fields.get("unable") else f"exits {reason.text('exit_code')}"
    return f"`{reason.text('command')}` {how} on main itself"


def _unknown_fact(reason: Reason, _: str) -> str:
    needs = f"Interlock {reason.text('needs')}" if reason.text("needs") else "a newer Interlock"
    lacks = f", which does not know {reason.text('what')}" if reason.text("what") else ""
    fact = f"fact {reason.text('seq')} ({reason.text('kind')})"
    return f"{fact} needs {needs}, and this is {reason.text('version')}{lacks}"


def lesson_figures(fields: Mapping[str, Value]) -> str:
    known = Reason("", fields)
    told, untold = round(known.number("with_tried")), round(known.number("without_tried"))
    landed, others = (f"{known.number(name):.0f}" for name in ("with_landed", "without_landed"))
    given = f"{landed} of {told} attempts landed with it" if told else "none tried with it yet"
    return f"{given}, {f'{others} of {untold}' if untold else 'none tried'} without"


def _misleads(reason: Reason, _: str) -> str:
    harm = reason.number("harm")
    so = f", so it does harm with probability {harm:.2f}" if harm else ""
    return f"it misleads: {lesson_figures(reason.fields)}{so}"


def _next_in_order(reason: Reason, _: str) -> str:
    behind = reason.number("seconds_behind")
    chain = f", {lasting(behind)} of work behind it" if behind else ""
    place = f"next in order (priority {reason.text('priority')}{chain})"
    warm = f"{', '.join(reason.tasks)} of the same story ({reason.text('story')})"
    return f"{place}, a little early: {warm} has just ended" if reason.tasks else place


def _cheap_overlap(reason: Reason, _: str) -> str:
    seen = int(reason.number("overlaps"))
    source = f"learned from {counted(seen, 'overlap')}" if seen else "a first guess"
    return (
        f"may overlap with {', '.join(reason.tasks)}, but a slot is free and little rework is expected: "
        f"{lasting(reason.number('rework_seconds'))} for {lasting(reason.number('seconds'))} of work "
        f"({reason.number('conflict'):.0%} chance of a conflict, which costs "
        f"{reason.number('rework'):.1f} times the work; {source})"
    )


def _tested_early(reason: Reason, _: str) -> str:
    ahead = ", ".join(reason.tasks)
    return f"tested early, on top of {ahead} (queued)" if ahead else "tested early, on top of main"


def _others(reason: Reason) -> str:
    """The other tasks of a joint check or landing."""
    return ", ".join(task for task in reason.tasks if task != reason.text("task"))


def _forecast(reason: Reason, _: str) -> str:
    costs = f"${reason.number('cost_usd'):.2f} and " if "cost_usd" in reason.fields else ""
    seconds, success = lasting(reason.number("seconds")), reason.number("success")
    return f"{costs}{seconds} an attempt, {success:.0%} of which land"


_STANDINGS: Mapping[str, str] = {
    Standing.DRAFT: "it is a draft",
    Standing.CHECKS_PENDING: "its checks are pending",
    Standing.CHECKS_FAILED: "its checks fail there",
    Standing.REVIEW_REQUIRED: "it waits for a review",
    Standing.CHANGES_REQUESTED: "changes are requested",
    Standing.APPROVED: "it is approved",
    Standing.CONFLICTS: "it conflicts with main",
    Standing.BEHIND: "it is behind main",
    Standing.MERGED: "it is merged, and main here does not have it yet",
}
_OUTDATED: Mapping[str, str] = {Standing.CONFLICTS: "conflicts with main", Standing.BEHIND: "is behind main"}


def standing_text(standing: str) -> str:
    """The thing that an open pull request waits for; '' if only for a person."""
    return _STANDINGS.get(standing, standing)


def opened_text(number: int, url: str) -> str:
    """A proposal that was made, or updated."""
    return f"proposed as pull request #{number}: {url}" if number else f"proposed as a patch: {url}"


def _pull_request(reason: Reason, _: str) -> str:
    url, number = reason.text("url"), int(reason.number("number"))
    if not number:
        return f"waits until a person merges {url}"
    known = _STANDINGS.get(reason.text("standing"))
    return f"pull request #{number} is open{f', {known}' if known else ''}: {url}"


def _aside(because: str) -> str:
    return f" ({because})" if because else ""


CAUSES: Mapping[str, Words] = {
    Why.QUESTION_ASKED: lambda _, __: "its agent asked a question",
    Why.QUESTION_ANSWERED: lambda _, __: "a person answered its question",
    Why.NOTHING_TO_CHANGE: _nothing_to_change,
    Why.LANDED: lambda reason, _: f"landed as {_commit(reason)}",
    Why.LANDING_LOST: lambda reason, _: (
        f"its commit {_commit(reason)} is no longer on main; `interlock cancel TASK` accepts that"
    ),
    Why.UNDONE: lambda reason, _: (
        f"undone by {', '.join(reason.tasks)}; its commit {_commit(reason)} no longer counts"
    ),
    Why.REOPENED: lambda reason, _: (
        f"undone by {', '.join(reason.tasks)}: `{reason.text('command')}` failed on main "
        f"since its commit {_commit(reason)}"
    ),
    Why.LANDING_FOUND: lambda reason, _: f"landed as {_commit(reason)}, found on main",
    Why.MAIN_MOVED: lambda reason, _: f"main moved to {_commit(reason)} after the checks",
    Why.RETRYING: lambda _, because: f"{because}; retrying",
    Why.RETRIED: lambda _, __: "retried by a person",
    Why.RESET: lambda _, __: "reset by a person",
    Why.BY_PERSON: lambda _, __: "cancelled by a person",
    Why.NOT_IN_GRAPH: lambda _, __: "no longer in the task graph",
    Why.HOLDER_GONE: lambda reason, _: f"its holder ({described(reason.text('holder'))}) is gone",
    Why.LOST_OFTEN: lambda reason, because: (
        f"{reason.text('phase')} was lost {reason.text('times')} times in a row without any result "
        f"(last: {because})"
    ),
    Why.STOPPED: lambda _, __: "stopped on request",
    Why.MAIN_IN_THE_WAY: _main_in_the_way,
    Why.REVIEW: lambda _, because: f"waits for review{f': {because}' if because else ''}",
    Why.REVIEW_REQUIRED: lambda _, __: "a person approves its change before it lands",
    Why.REVIEW_UNVERIFIED: lambda _, __: "its change is not verified, so a person looks at it",
    Why.REVIEW_LARGE: lambda reason, _: (
        f"it adds and removes {reason.text('lines')} lines, more than {reason.text('limit')} (review_lines)"
    ),
    Why.REVIEW_BINARY: lambda _, __: "it changes a file that is no text, or is too large to count",
    Why.REVIEW_FILE: lambda reason, _: f"it changes {reason.text('path')}, which review_files names",
    Why.REVIEW_STEERING: lambda reason, _: f"it edits how its checks run: {', '.join(reason.names('paths'))}",
    Why.APPROVED: lambda reason, _: f"approved by {reason.text('actor')}",
    Why.PULL_REQUEST: _pull_request,
    Why.PULL_REQUEST_CLOSED: lambda reason, _: f"pull request #{reason.text('number')} was closed unmerged",
    Why.PULL_REQUEST_OUTDATED: lambda reason, _: (
        f"pull request #{reason.text('number')} {_OUTDATED.get(reason.text('standing'), 'is out of date')}"
    ),
    Why.CHECKOUT_IN_THE_WAY: lambda reason, _: reason.text("text"),
    Why.FORGE_FAILED: lambda reason, _: f"`{reason.text('command')}` failed: {reason.text('text')}",
    Why.BRANCH_TAKEN: lambda reason, _: (
        f"{reason.text('upstream')} has commits that Interlock did not push; merge or delete that branch"
    ),
    Why.REMOTE_AHEAD: lambda reason, _: (
        f"{reason.text('upstream')} has commits that {reason.text('branch')} cannot take"
        f"{_aside(reason.text('text'))}"
    ),
    Why.NOT_PUSHED: lambda reason, _: (
        f"{reason.text('branch')} has commits that {reason.text('upstream')} does not have, and nothing "
        "untested is pushed; push them yourself"
    ),
    Why.PUSH_REFUSED: lambda reason, _: f"{reason.text('upstream')} refuses the push: {reason.text('text')}",
    Why.REMOTE_UNREACHABLE: lambda reason, _: (
        f"{reason.text('upstream')} cannot be reached: {reason.text('text')}"
    ),
    Why.LEASE_TIMEOUT: lambda _, because: f"its lease_timeout is over: {because}",
    Why.HOPELESS: lambda _, because: f"no attempt can succeed: {because}",
    Why.MODEL_UNAVAILABLE: lambda reason, because: (
        f"the model was unavailable {reason.text('times')} times in a row (last: {because})"
    ),
    Why.SAME_FAILURE: lambda reason, because: (
        f"{reason.text('phase')} failed twice in a row in the same way: {because}"
    ),
    Why.RETRIES_USED: _retries_used,
    Why.ATTEMPTS_USED: lambda reason, because: (
        f"it has had {reason.text('times')} attempts, however they ended, and may have "
        f"{reason.text('limit')}{f' (last: {because})' if because else ''}"
    ),
    Why.DECLARED: lambda _, __: "declared",
    Why.FROM_PATHS: lambda reason, _: f"inferred from {', '.join(reason.names('paths'))}",
    Why.FROM_WORD: lambda reason, _: f"inferred from the word `{reason.text('word')}` in its goal",
    Why.KIND_UNKNOWN: lambda _, __: "nothing says what kind of work it is",
    Why.TASK_SAYS: lambda _, __: "the task says so",
    Why.GOAL_NAMES: lambda _, __: "the goal names it",
    Why.CHANGES_WITH: lambda reason, _: (
        f"changes with {reason.text('path')} in {reason.text('times')} of {reason.text('commits')} commits"
    ),
    Why.EDITED_BEFORE: lambda reason, _: f"attempt {reason.text('attempt')} edited it",
    Why.AT_REST: lambda _, __: "at rest",
    Why.RUN_STOPPED: lambda _, __: "stopped",
    Why.UNKNOWN_FACT: _unknown_fact,
    Why.MAIN_FOUND: lambda _, __: "found there",
    Why.UPSTREAM_MERGED: lambda reason, _: f"merged {reason.text('upstream')}",
    Why.TASK_LANDED: lambda reason, _: f"{', '.join(reason.tasks)} landed",
    **dict.fromkeys(FAILURES, lambda reason, _: failure_text(reason)),
    **dict.fromkeys(SCOPE_WORDS, lambda reason, _: scope_text(reason)),
    Why.CHECK_GONE: lambda _, __: "no check that was red is still one of its checks",
    Why.NO_FIX_SEEN: lambda _, __: (
        "the change that landed and the one that failed are the same, or one of them is gone"
    ),
    Why.MISLEADS: _misleads,
    Why.NO_HELP: lambda reason, _: f"it makes no difference: {lesson_figures(reason.fields)}",
    Why.CROWDED_OUT: lambda reason, _: (
        f"there are more than {reason.text('limit')} lessons, and this is one of the least proven"
    ),
    Why.RETIRED_BY: lambda reason, _: f"retired by {reason.text('actor')}",
    Why.NEXT_IN_ORDER: _next_in_order,
    Why.CHEAP_OVERLAP: _cheap_overlap,
    Why.NEXT_IN_LANE: lambda _, __: "next in the lane",
    Why.TESTED_EARLY: _tested_early,
    Why.TOGETHER: lambda reason, _: f"passed as one with {_others(reason)}, to land as one merge",
    Why.NOT_TOGETHER: lambda reason, _: f"does not land as one with {_others(reason)}; checked without them",
    Why.CONFLICT_IN_QUEUE: lambda reason, _: (
        f"conflicts with a change before it in the queue in {', '.join(reason.names('paths'))}"
    ),
    Why.MAY_LAND: lambda reason, _: (
        "passed its checks on top of main" if reason.fields.get("verified") else "merged onto main, observed"
    ),
    Why.FIRST_CHOICE: lambda reason, _: f"the first choice of {reason.text('count')}",
    Why.BEST_CHOICE: lambda reason, because: (
        f"the best of {reason.text('count')} by earlier work{f': {because}' if because else ''}"
    ),
    Why.FORECAST: _forecast,
    Why.SAME_STORY: lambda reason, _: f"it has just worked on {', '.join(reason.tasks)} of the same story",
    Why.CUT_OFF: lambda _, __: "its session was cut off, and goes on",
    Why.MODEL_CLOSED: lambda reason, because: (
        f"the model of {reason.text('agent')} is closed for another "
        f"{lasting(reason.number('seconds'))}{_aside(because)}"
    ),
    Why.AGENT_FAILED: lambda reason, because: (
        f"{reason.text('agent')} failed at it in attempt {reason.text('attempt')}{_aside(because)}"
    ),
    Why.TOO_HARD: lambda reason, _: (
        f"it looks too hard for {reason.text('agent')}, "
        f"which takes {reason.text('complexity')} complexity at most"
    ),
}

"""The events of a run, one sentence per fact. Facts that only the engine needs have none."""

from collections.abc import Callable
from typing import Any

from interlock.events import facts as f
from interlock.events.evidence import canary_result
from interlock.events.record import Recorded
from interlock.events.state import State
from interlock.model.evidence import Evidence, Gap, weigh
from interlock.model.outcome import CheckResult
from interlock.ui.plain import counted, inert, one_line, shortened
from interlock.ui.words.causes import opened_text, standing_text
from interlock.ui.words.checks import main_text
from interlock.ui.words.evidence import canary_text, evidence_text, known_text
from interlock.ui.words.facts import clock
from interlock.ui.words.radar import gave_way_text, gone_text, overlap_text
from interlock.ui.words.reasons import in_brief, reason_text
from interlock.ui.words.red_main import found_text
from interlock.ui.words.remedies import after_failure

GOAL_CHARS = 120

# Any: each phrase takes the one kind of fact it is listed under.
PHRASES: dict[type[f.Fact], Callable[[Any], tuple[str, str]]] = {
    f.PhaseStarted: lambda fact: ("", _started(fact)),
    f.WorkFinished: lambda fact: (
        "yellow" if fact.left_out else "",
        f"{fact.task}: change made in {fact.seconds:.1f} s, {_files(fact)}{_left_out(fact)}"
        if fact.commit != fact.base
        else f"{fact.task}: no changes; checking main as it is",
    ),
    f.NoChangeNeeded: lambda fact: (
        "green",
        f"{fact.task}: done, {'its change is already on main' if fact.on_main else 'nothing to change'}",
    ),
    f.CandidatePassed: lambda fact: ("", f"{fact.task}: {_checks(fact)}"),
    f.CandidateJoined: lambda fact: ("", f"{fact.task}: {_checks(fact)} together with {_with(fact)}"),
    f.BaseChecked: lambda fact: ("", "") if fact.result is None else _on_main(fact, fact.result),
    f.Landed: lambda fact: ("green", f"{fact.task}: landed as {fact.commit[:12]}"),
    f.LandingLost: lambda fact: (
        ("", "")
        if fact.now
        else (
            "red",
            f"{fact.task}: commit {fact.commit[:12]} is no longer on main. Next: interlock retry "
            f"{fact.task} to do it again, or interlock cancel {fact.task} to accept that",
        )
    ),
    f.RevertPrepared: lambda fact: (
        "cyan",
        f"{fact.task}: undoes {', '.join(each.task or each.change[:12] for each in fact.undoes)}",
    ),
    f.MainJudged: lambda fact: ("red", _broken(fact)) if fact.red else ("", ""),
    f.CulpritFound: lambda fact: ("yellow" if fact.fails_before else "red", found_text(fact)),
    f.TaskUndone: lambda fact: (
        "yellow",
        f"{fact.task}: undone by {fact.by}. Next: interlock retry {fact.task} to do it again",
    ),
    f.TaskReopened: lambda fact: (
        "yellow",
        f"{fact.task}: undone by {fact.by}, as `{fact.command}` failed on main; it starts again",
    ),
    f.LandingSeen: lambda fact: ("green", f"{fact.task}: found on main as {fact.commit[:12]}"),
    f.PullRequestOpened: lambda fact: ("cyan", f"{fact.task}: {opened_text(fact.number, fact.url)}"),
    f.PullRequestSeen: lambda fact: (
        "",
        f"{fact.task}: pull request #{fact.number}: {standing_text(fact.standing)}",
    ),
    f.ReviewReceived: lambda fact: (
        "yellow",
        f"{fact.task}: {fact.author} asks for changes of pull request #{fact.number}",
    ),
    f.ReviewOpened: lambda fact: (
        "cyan",
        f"{fact.task}: waits for review: {reason_text(fact.why)}. Next: interlock review {fact.task}",
    ),
    f.ReviewApproved: lambda fact: ("green", f"{fact.task}: approved by a person{_why(fact.note)}"),
    f.ReviewRejected: lambda fact: ("yellow", f"{fact.task}: rejected by a person{_why(fact.note)}"),
    f.CandidateStale: lambda fact: (
        "",
        f"{fact.task}: {reason_text(fact.why)}; retrying on main"
        if fact.why
        else f"{fact.task}: main moved after the checks; retrying on {fact.main[:12]}",
    ),
    f.PhaseFailed: lambda fact: ("yellow", f"{fact.task}: {fact.phase} failed: {reason_text(fact.why)}"),
    f.PhaseLost: lambda fact: ("yellow", f"{fact.task}: {fact.phase} lost: {reason_text(fact.why)}"),
    f.PhaseDeferred: lambda fact: ("yellow", f"{fact.task}: {fact.phase} postponed: {reason_text(fact.why)}"),
    f.TaskFailed: lambda fact: ("red", f"{fact.task}: FAILED: {reason_text(fact.why)}"),
    f.TaskCancelled: lambda fact: ("yellow", f"{fact.task}: cancelled{_why(fact.why)}"),
    f.TaskReset: lambda fact: ("yellow", f"{fact.task}: reset by a person{_why(fact.why)}"),
    f.TaskRetried: lambda fact: ("", f"{fact.task}: retried by a person{_why(fact.note)}"),
    f.Paused: lambda fact: (
        "yellow",
        f"{fact.task or 'project'}: paused{_why(fact.why or reason_text(fact.reason))}",
    ),
    f.BudgetRaised: lambda fact: (
        "",
        f"budget of {f'task {fact.task}' if fact.task else f'the {fact.budget}'}: raised by a person",
    ),
    f.Bumped: lambda fact: ("", f"{fact.task}: moved to the front of the queue by a person"),
    f.Unpaused: lambda fact: ("", f"{fact.task or 'project'}: unpaused"),
    f.ClutchDecided: lambda fact: (
        _weight(fact),
        f"up to {counted(fact.limit, 'agent')} at once{_of_what(fact)}: {reason_text(fact.why)}",
    ),
    f.StopRequested: lambda fact: (
        "yellow",
        f"{'stopping agents' if fact.agents else 'starting no new tasks'}"
        f"{_why(fact.why or reason_text(fact.reason))}",
    ),
    f.CanaryTried: lambda fact: (
        "" if fact.noticed else "red",
        _canary(canary_text(canary_result(fact), fact.commands), fact),
    ),
    f.CheckFlaked: lambda fact: (
        "yellow",
        f"{fact.task or 'main'}: `{fact.command}` failed and passed again on the same files. "
        "More: interlock errors --flaky",
    ),
    f.ScopeAnswered: lambda fact: (
        "" if fact.granted else "yellow",
        f"{fact.task}: {'may also edit' if fact.granted else 'may not edit'} "
        f"{', '.join(fact.paths)}: {reason_text(fact.why)}",
    ),
    f.OverlapSeen: lambda fact: (
        "yellow",
        overlap_text(fact.task, fact.other, fact.paths, fact.count),
    ),
    f.OverlapGone: lambda fact: ("", gone_text(fact.task, fact.other)),
    f.GaveWay: lambda fact: ("", f"{fact.task}: moved {gave_way_text(fact.other, fact.by)}"),
    f.QuestionAsked: lambda fact: (
        "yellow",
        f'{fact.task}: asks: {" ".join(fact.text.split())}. Next: interlock answer {fact.task} "..."',
    ),
    f.QuestionAnswered: lambda fact: ("", f"{fact.task}: answered by a person: {fact.text}"),
    f.TaskProposed: lambda fact: (
        "yellow",
        f"{fact.task}: proposes {fact.id}: {shortened(fact.goal, GOAL_CHARS)}. "
        f"Next: interlock accept {fact.task}/{fact.id}",
    ),
    f.PermissionAsked: lambda fact: (
        "yellow",
        f"{fact.task}: waits for permission: {fact.tool} {fact.text}. "
        f"Next: interlock answer {fact.task} allow|deny",
    ),
}


Line = tuple[str, str]
"""A colour ('' for none) and a text."""


def sentence(row: Recorded, state: State) -> Line | None:
    """A fact as a timestamped line, or nothing. The fact is folded into `state` already."""
    fact = row.fact
    if type(fact) not in PHRASES:
        return None
    color, text = PHRASES[type(fact)](fact)
    if not text:
        return None
    if isinstance(fact, f.Landed) and (found := _unverified(fact, state)):
        color, text = "yellow", f"{text}, {evidence_text(found)}"
    if isinstance(fact, f.TaskFailed) and fact.task in state.tasks:
        text += f". Next: {after_failure(state.tasks[fact.task])}"
    return color, f"{clock(row.time)} {one_line(inert(text))}"


def _started(fact: f.PhaseStarted) -> str:
    """An agent's start. That checks begin and that main moves is told by how they end."""
    if not fact.agent:
        return ""
    what = f"{fact.task}: {fact.phase} started, attempt {fact.attempt} by {fact.agent}"
    overlap = f"may overlap with {', '.join(each.task for each in fact.beside)}" if fact.beside else ""
    why = "; ".join(filter(None, (overlap, in_brief(fact.agent_why))))
    return f"{what} ({why})" if why else what


def _broken(fact: f.MainJudged) -> str:
    checks = ", ".join(f"`{command}`" for command in fact.red)
    return f"main is red at {fact.commit[:12]}: {checks} passed before; only a fix or a revert lands"


def _weight(fact: f.ClutchDecided) -> str:
    """Brakes from outside, and what holds for the whole run, are worth a line on a terminal too."""
    if fact.brake in ("provider", "host"):
        return "yellow"
    return "" if fact.category or fact.provider else "cyan"


def _of_what(fact: f.ClutchDecided) -> str:
    if fact.provider:
        return f" with {fact.provider} ({fact.brake})"
    return f" on {fact.category} ({fact.brake})" if fact.category else ""


def _canary(text: str, fact: f.CanaryTried) -> str:
    worth = "; changes land as observed" if fact.places and not fact.noticed else ""
    return f"canary: {text}{worth}" if text else ""


def _files(fact: f.WorkFinished) -> str:
    return fact.touched[0] if len(fact.touched) == 1 else counted(len(fact.touched), "file")


def _left_out(fact: f.WorkFinished) -> str:
    if not fact.left_out:
        return ""
    more = len(fact.left_out) - 1
    first = fact.left_out[0].text + (f" and {more} more" if more else "")
    return f"; left out {first}. More: interlock show {fact.task}"


def _checks(fact: f.CandidatePassed) -> str:
    if not fact.checks:
        return "no check covers it; it lands as observed"
    worth = weigh(fact.checks)
    red = len(worth.about) if worth.gap is Gap.RED_ON_MAIN else 0
    excused = f", {red} failed on main too" if red else ""
    known = known_text(worth)
    again = sum(check.reused for check in fact.checks)
    reused = f" ({again} reused)" if again else ""
    return f"{counted(len(fact.checks) - red, 'check')} passed{reused}{known}{excused}"


def _with(fact: f.CandidateJoined) -> str:
    return ", ".join(name for name in (fact.joined.tasks if fact.joined else ()) if name != fact.task)


def _on_main(fact: f.BaseChecked, result: CheckResult) -> tuple[str, str]:
    if fact.promised and not result.unable:
        return "", ""  # that a promise is not kept yet is no news
    color = "" if result.passed else "red" if result.unable else "yellow"
    return color, f"`{result.command}` {main_text(result)}"


def _why(text: str) -> str:
    return f": {text}" if text else ""


def _unverified(fact: f.Landed, state: State) -> Evidence | None:
    """The evidence of a change that its checks do not cover, whose checks it edits or whose checks are
    untried. That a change has none was told before."""
    task = state.tasks.get(fact.task)
    evidence = task.evidence if task else None
    if evidence is None or evidence.steering or evidence.untried:
        return evidence
    return None if evidence.is_verified or evidence.gap is Gap.NO_CHECKS else evidence

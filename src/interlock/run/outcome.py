"""The report on an attempt that ended: the class of its error, and the reason.

1. A limit of ours that ended the agent comes first, then its own word, then the model's trouble as the proxy
   saw it: that explains a failure, and contradicts a success.
2. A program that fails on a full disk is not to blame.
3. Where the program and the proxy count differently, the proxy is believed: it saw the wire.
"""

import contextlib
from dataclasses import replace
from pathlib import Path

from interlock.agents.adapter import SessionVerdict
from interlock.git.files import is_full
from interlock.git.protocol import Collected
from interlock.model.errors import CannotStart, InterlockError, RejectedObjects, UserError
from interlock.model.failure_words import failure_text
from interlock.model.kinds import KINDS
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.process import Ended, Exit
from interlock.model.reason import Reason, Value, Why, said
from interlock.model.usage import Usage, reconciled
from interlock.proxy import CallError
from interlock.run.network import ProxyRecord

ENDED_BY = {
    Ended.TIMEOUT: ErrorClass.TIMEOUT,
    Ended.IDLE: ErrorClass.IDLE,
    Ended.OUTPUT: ErrorClass.OUTPUT,
    Ended.LEASE: ErrorClass.OUTSIDE,
    Ended.MEMORY: ErrorClass.LIMIT,
    Ended.DISK: ErrorClass.LIMIT,
}
UNEXPLAINED = (ErrorClass.TIMEOUT, ErrorClass.IDLE)
"""Limits that a model without answers runs a program into."""
OUR_LIMITS = frozenset({ErrorClass.OUTPUT, ErrorClass.OUTSIDE, ErrorClass.LIMIT})
"""Limits that no model runs a program into."""

OWN_FAILURES = frozenset({ErrorClass.DENIED, ErrorClass.TURNS, ErrorClass.BUDGET, ErrorClass.CONTEXT})
"""Errors that the program knows better than the proxy, whatever its last call came to."""


def how_it_went(
    report: Report, order: Order, exited: Exit, verdict: SessionVerdict, seen: ProxyRecord | None
) -> Report:
    """The agent ran; judged by all that is known of how it ended, not yet by what it made."""
    verdict = _limited(order, exited, verdict)
    if seen and seen.trouble:
        verdict = _explained(verdict, seen.trouble)
    counted = seen.usage if seen else None
    note = _difference(verdict.usage, counted)
    report = replace(
        report,
        error=verdict.error,
        summary=verdict.summary,
        why=verdict.why,
        exit_code=exited.code,
        tail=exited.tail,
        seconds=exited.seconds,
        usage=reconciled(verdict.usage, counted),
        session=verdict.session,
        retry_after_seconds=verdict.retry_after_seconds,
        asks=verdict.asks if verdict.error is None else None,
        denied=verdict.denied,
    )
    for more in (note, _remedy(order) if verdict.error is ErrorClass.AUTH else None):
        report = noted(report, more) if more and failure_text(more) not in report.text else report
    return report


def _limited(order: Order, exited: Exit, verdict: SessionVerdict) -> SessionVerdict:
    if error := ENDED_BY.get(exited.ended):
        return replace(verdict, error=error, why=_stopped(order, exited))
    return verdict


def _explained(verdict: SessionVerdict, trouble: CallError) -> SessionVerdict:
    """Explain the verdict by the proxy's last sight, which was not an answer."""
    if verdict.error in OWN_FAILURES or verdict.error in OUR_LIMITS:
        return verdict
    why = trouble.why or said(trouble.text)
    if verdict.error in UNEXPLAINED and verdict.why:
        why = Reason(Why.MODEL_SILENT, {"text": trouble.text, "cause": verdict.why})
    pause = max(verdict.retry_after_seconds, trouble.retry_after_seconds)
    return replace(verdict, error=trouble.error, why=why, retry_after_seconds=pause)


def _difference(claimed: Usage | None, counted: Usage | None) -> Reason | None:
    """Note that the program and the proxy count differently."""
    if claimed is None or counted is None or counted.calls == 0:
        return None
    own, seen = ((count.input_tokens, count.output_tokens) for count in (claimed, counted))
    counts = {"input": own[0], "output": own[1], "seen_input": seen[0], "seen_output": seen[1]}
    return None if own == seen else Reason(Why.COUNTS_DIFFER, counts)


def _remedy(order: Order) -> Reason:
    """Return the act of a person without which no attempt can succeed."""
    agent = order.agent
    if agent.login:
        return Reason(Why.LOG_IN, {"use": agent.use})
    return Reason(Why.GET_KEY, {"variable": agent.key_env or KINDS[agent.use].key_env, "agent": agent.name})


def not_run(report: Report, order: Order, problem: UserError) -> Report:
    """The agent could not be run, or not be watched."""
    agent = order.agent
    why = Reason(Why.NOT_RUN, {"agent": agent.name, "text": say(problem)})
    report = replace(report, error=ErrorClass.OUTSIDE, why=why)
    if isinstance(problem, CannotStart):
        fields: dict[str, Value] = {"use": agent.use}
        if agent.run:
            fields = {"agent": agent.name, "relative": agent.run[0].startswith(".")}
        return noted(replace(report, error=ErrorClass.MISSING), Reason(Why.CHECK_PROGRAM, fields))
    return report


def outside_if_disk_full(report: Report, home: Path) -> Report:
    """Excuse a program that failed while the disk of its workspace is full: any program would have."""
    with contextlib.suppress(OSError):  # the agent may have removed the folder
        if report.error is ErrorClass.EXIT and is_full(home):
            why = Reason(Why.DISK_FULL, {"cause": report.reason})
            return replace(report, error=ErrorClass.OUTSIDE, why=why)
    return report


def with_work(report: Report, collected: Collected) -> Report:
    """Judge by what the agent made. Ending well without a change is a failure of its own, unless it asks a
    person. With a change only an explicit question counts; what was denied does not, as checks decide."""
    report = replace(report, archived=collected.ref)
    if collected.changed:
        asks = report.asks if report.asks and report.asks.is_explicit else None
        return replace(report, commit=collected.commit, touched=tuple(collected.touched), asks=asks)
    if report.error or report.asks:
        return report
    if report.denied:
        why = Reason(Why.NOT_ALLOWED, {"text": report.denied})
        return replace(report, error=ErrorClass.DENIED, why=why)
    why = Reason(Why.NO_CHANGE, {"text": report.summary} if report.summary else {})
    return replace(report, error=ErrorClass.NO_CHANGE, why=why)


def kept(report: Report, problem: InterlockError | OSError, path: str) -> Report:
    """The agent's work could not be imported, so its directory is kept."""
    refused = isinstance(problem, RejectedObjects)
    error = report.error or (ErrorClass.REJECTED if refused else ErrorClass.ENVIRONMENT)
    fields: dict[str, Value] = {
        "text": str(problem) if refused else say(problem),
        "refused": refused,
        "path": path,
    }
    return noted(replace(report, error=error), Reason(Why.NOT_IMPORTED, fields))


def noted(report: Report, note: Reason) -> Report:
    """One more thing to say about it. A report without an error has only words."""
    if report.error is None:
        text = failure_text(note)
        return replace(report, summary=f"{report.summary}; {text}" if report.summary else text)
    return replace(
        report, why=Reason(Why.NOTED, {"cause": report.reason, "note": note}) if report.text else note
    )


def say(problem: InterlockError | OSError) -> str:
    """The message with its hint, in one line."""
    hint = problem.hint if isinstance(problem, UserError) else ""
    return f"{problem}; {hint}" if hint else str(problem)


def _stopped(order: Order, exited: Exit) -> Reason:
    match exited.ended:
        case Ended.TIMEOUT:
            return Reason(Why.TOOK_TOO_LONG, {"seconds": order.timeout_seconds})
        case Ended.IDLE:
            return Reason(Why.WROTE_NOTHING, {"seconds": order.idle_seconds})
        case Ended.OUTPUT:
            return Reason(Why.TOO_MUCH_OUTPUT, {"bytes": exited.log_bytes})
        case Ended.MEMORY:
            return Reason(Why.MEMORY_LIMIT)
        case Ended.DISK:
            return Reason(Why.DISK_LIMIT)
        case _:
            return Reason(Why.LEASE_ENDED)

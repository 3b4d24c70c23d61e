"""The report on an attempt that ended: the class of its error, and one line for people.

1. A limit of ours that ended the agent comes first, then its own word, then the model's trouble as the proxy
   saw it: that explains a failure, and contradicts a success.
2. Where the program and the proxy count differently, the proxy is believed: it saw the wire.
"""

from dataclasses import replace

from interlock.agents.adapter import SessionVerdict
from interlock.git.protocol import Collected
from interlock.model.errors import CannotStart, InterlockError, RejectedObjects, UserError
from interlock.model.kinds import KINDS
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.process import Ended, Exit
from interlock.model.session import Usage
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
    usage, note = reconciled(verdict.usage, seen.usage if seen else None)
    report = replace(
        report,
        error=verdict.error,
        summary=verdict.summary,
        exit_code=exited.code,
        tail=exited.tail,
        seconds=exited.seconds,
        usage=usage,
        session=verdict.session,
        retry_after_seconds=verdict.retry_after_seconds,
        asks=verdict.asks if verdict.error is None else None,
        denied=verdict.denied,
    )
    for more in (note, _remedy(order) if verdict.error is ErrorClass.AUTH else ""):
        report = noted(report, more) if more and more not in report.summary else report
    return report


def _limited(order: Order, exited: Exit, verdict: SessionVerdict) -> SessionVerdict:
    if error := ENDED_BY.get(exited.ended):
        return replace(verdict, error=error, summary=_stopped(order, exited))
    return verdict


def _explained(verdict: SessionVerdict, trouble: CallError) -> SessionVerdict:
    """Explain the verdict by the proxy's last sight, which was not an answer."""
    if verdict.error in OWN_FAILURES or verdict.error in OUR_LIMITS:
        return verdict
    summary = f"{verdict.summary}: {trouble.text}" if verdict.error in UNEXPLAINED else trouble.text
    pause = max(verdict.retry_after_seconds, trouble.retry_after_seconds)
    return replace(verdict, error=trouble.error, summary=summary, retry_after_seconds=pause)


def reconciled(claimed: Usage | None, counted: Usage | None) -> tuple[Usage | None, str]:
    """One count out of two, and what to say if they differ. Money only the program may know."""
    if counted is None or counted.calls == 0:
        return claimed, ""
    if claimed is None:
        return counted, ""
    cost = counted.cost_usd if counted.cost_usd is not None else claimed.cost_usd
    said, seen = ((count.input_tokens, count.output_tokens) for count in (claimed, counted))
    note = "" if said == seen else f"it counted {said[0]}/{said[1]} tokens, the proxy {seen[0]}/{seen[1]}"
    return replace(counted, cost_usd=cost), note


def _remedy(order: Order) -> str:
    """Return the act of a person without which no attempt can succeed."""
    agent = order.agent
    if agent.login:
        return f"log in with {agent.use} again, as the user who runs Interlock"
    variable = agent.key_env or KINDS[agent.use].key_env
    return f"set {variable} to a valid key" if variable else f"name its key in agents.{agent.name}.key_env"


def not_run(report: Report, order: Order, problem: UserError) -> Report:
    """The agent could not be run, or not be watched."""
    agent = order.agent
    report = replace(report, error=ErrorClass.OUTSIDE, summary=f'agent "{agent.name}": {say(problem)}')
    if isinstance(problem, CannotStart):
        hint = f"check agents.{agent.name}.run in task-graph.yaml" if agent.run else f"install {agent.use}"
        if agent.run and agent.run[0].startswith("."):
            hint += ", and that the program is committed: a workspace holds what git knows"
        return noted(replace(report, error=ErrorClass.MISSING), hint)
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
        return replace(report, error=ErrorClass.DENIED, summary=report.denied)
    said = f': "{report.summary}"' if report.summary else ""
    return replace(
        report, error=ErrorClass.NO_CHANGE, summary=f"the agent ended well but changed nothing{said}"
    )


def kept(report: Report, problem: InterlockError | OSError, path: str) -> Report:
    """The agent's work could not be imported, so its directory is kept."""
    refused = isinstance(problem, RejectedObjects)
    error = report.error or (ErrorClass.REJECTED if refused else ErrorClass.ENVIRONMENT)
    why = str(problem) if refused else f"its work cannot be imported: {say(problem)}"
    return noted(replace(report, error=error), f"{why}; its workspace is kept at {path}")


def noted(report: Report, note: str) -> Report:
    """One more thing to say about it."""
    return replace(report, summary=f"{report.summary}; {note}" if report.summary else note)


def say(problem: InterlockError | OSError) -> str:
    """The message with its hint, in one line."""
    hint = problem.hint if isinstance(problem, UserError) else ""
    return f"{problem}; {hint}" if hint else str(problem)


def _stopped(order: Order, exited: Exit) -> str:
    match exited.ended:
        case Ended.TIMEOUT:
            return f"stopped: it took longer than {order.timeout_seconds:g} s"
        case Ended.IDLE:
            return f"stopped: it wrote nothing for {order.idle_seconds:g} s"
        case Ended.OUTPUT:
            return f"stopped: it wrote more than {exited.log_bytes / 1024**2:g} MiB of output"
        case Ended.MEMORY:
            return "killed: it took more memory than memory_limit_bytes allows"
        case Ended.DISK:
            return "stopped: it has more on the disk than disk_limit_bytes allows"
        case _:
            return "stopped: its lease was not renewed in time"

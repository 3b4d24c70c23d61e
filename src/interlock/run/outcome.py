"""What is said about an attempt that ended: the class of its error, and one line for people."""

from dataclasses import replace

from interlock.model.errors import CannotStart, InterlockError, RejectedObjects, UserError
from interlock.model.outcome import ErrorClass, Order, Report
from interlock.model.process import Ended, Exit
from interlock.run.output import shown
from interlock.run.workspaces import Collected

ENDED_BY = {
    Ended.TIMEOUT: ErrorClass.TIMEOUT,
    Ended.IDLE: ErrorClass.IDLE,
    Ended.OUTPUT: ErrorClass.OUTPUT,
    Ended.LEASE: ErrorClass.OUTSIDE,
}


def how_it_went(report: Report, order: Order, exited: Exit) -> Report:
    """The agent ran; judged by how it ended, not yet by what it made."""
    error = ENDED_BY.get(exited.ended) or (ErrorClass.EXIT if exited.code else None)
    return replace(
        report,
        error=error,
        summary=_summary(order, exited) if error else "",
        exit_code=exited.code,
        tail=exited.tail,
        seconds=exited.seconds,
    )


def not_run(report: Report, order: Order, problem: UserError) -> Report:
    """The agent could not be run, or not be watched."""
    name = order.agent or order.argv[0]
    report = replace(report, error=ErrorClass.OUTSIDE, summary=f'agent "{name}": {say(problem)}')
    if isinstance(problem, CannotStart):
        hint = f"check agents.{order.agent or '<name>'}.run in task-graph.yaml"
        if order.argv[0].startswith("."):
            hint += ", and that the program is committed: a workspace holds what git knows"
        return noted(replace(report, error=ErrorClass.ENVIRONMENT), hint)
    return report


def with_work(report: Report, collected: Collected) -> Report:
    """The agent's work is in the repository. Ending well without any is a failure of its own."""
    report = replace(report, archived=collected.ref)
    if collected.changed:
        return replace(report, commit=collected.commit, touched=tuple(collected.touched))
    if report.error:
        return report
    return replace(report, error=ErrorClass.NO_CHANGE, summary="the agent ended well but changed nothing")


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


def _summary(order: Order, exited: Exit) -> str:
    match exited.ended:
        case Ended.TIMEOUT:
            return f"stopped: it took longer than {order.timeout_seconds:g} s"
        case Ended.IDLE:
            return f"stopped: it wrote nothing for {order.idle_seconds:g} s"
        case Ended.OUTPUT:
            return f"stopped: it wrote more than {exited.log_bytes / 1024**2:g} MiB of output"
        case Ended.LEASE:
            return "stopped: its lease was not renewed in time"
        case Ended.EXITED if exited.code < 0:
            return f"the agent was killed by signal {-exited.code}"
        case _:
            words = next((line for line in reversed(exited.tail.splitlines()) if line.strip()), "")
            return f"the agent exited with status {exited.code}" + (f': "{shown(words)}"' if words else "")

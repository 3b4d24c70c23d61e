"""Attempts that leave no change to land: those that ask a person, and those that found nothing to change.

1. A task with checks of its own (`done_when`) that are green on main as it is, is done: there is evidence.
2. A critic is there to look, so one that changes nothing is done. All that is known is what it says.
3. Any other agent that changes nothing has failed.
4. A change that is on main already, because another task made the same, is not landed once more: an empty
   commit would carry evidence that belongs to the other.
"""

from dataclasses import replace

from interlock.engine.turn import Turn
from interlock.events import facts as f
from interlock.model.outcome import Asking, ErrorClass, Report, Tip
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import CRITIC
from interlock.train import Verdict


def question(turn: Turn, report: Report, asks: Asking) -> f.Fact:
    """The attempt ended with a question to a person."""
    return f.QuestionAsked(
        *turn.key,
        text=asks.text,
        message=asks.message,
        seconds=report.seconds,
        log=report.log,
        base=report.base,
        commit=report.commit,
        archived=report.archived,
        usage=report.usage,
        session=report.session,
    )


def unchanged(turn: Turn, report: Report) -> f.Fact | None:
    """Build the fact for an agent that ended well and changed nothing; None: it has failed."""
    if report.error is not ErrorClass.NO_CHANGE:
        return None
    spec = turn.task.spec
    if spec.role == CRITIC:
        return f.NoChangeNeeded(
            *turn.key,
            summary=report.text,
            log=report.log,
            seconds=report.seconds,
            usage=report.usage,
        )
    if not spec.done_when:
        return None
    # An empty change: the checks then say of main itself whether the task is done.
    return f.WorkFinished(
        *turn.key,
        base=report.base,
        commit=report.base,
        summary=report.text,
        log=report.log,
        session=report.session,
        seconds=report.seconds,
        usage=report.usage,
    )


def judged(turn: Turn, main: Tip, verdict: Verdict, refused: f.Fact | None, *, on_main: bool) -> f.Fact:
    """The task is done if its checks refuse nothing on main as it is."""
    if isinstance(refused, f.PhaseFailed):
        fields: dict[str, Value] = {"on_main": on_main, "cause": refused.why or Reason("")}
        return replace(refused, commit=None, why=Reason(Why.UNCHANGED, fields))
    done = f.NoChangeNeeded(
        *turn.key, base=main.commit, tree=main.tree, checks=verdict.checks, on_main=on_main
    )
    return refused or done

"""The status of all tasks, the run, its slots and main, as programs get it."""

from typing import TYPE_CHECKING

from interlock.engine.slots import slots_of
from interlock.events.baselines import known_failures, obstacle
from interlock.events.lifecycle import Stage
from interlock.events.state import State
from interlock.model.durations import lasting
from interlock.model.failure import Symptom
from interlock.model.outcome import CheckResult
from interlock.model.pool import TARGETS, missed
from interlock.model.task import TaskId
from interlock.schedule import Board
from interlock.ui.queries.tasks import TaskRow, rows
from interlock.ui.reading import Reading
from interlock.ui.words.reasons import reason_object, with_reasons
from interlock.ui.words.red_main import (
    broken_main,
    broken_text,
    culprit_object,
    mend_command,
    reverting,
)

if TYPE_CHECKING:  # what measures takes long to import
    from interlock.learn import Metrics


def pool_object(reading: Reading, board: Board) -> dict[str, object]:
    measured = reading.state.learned.pool
    return {
        "slots": slots_of(reading.state, board, reading.is_live),
        "figures": measured.figures if measured else None,
        "measured": measured.time if measured else None,
        "run": measured.run if measured else None,
        "targets": TARGETS,
        "missed": missed(measured.figures) if measured else (),
    }


def red_main_objects(state: State) -> list[dict[str, object]]:
    return [
        {
            "command": check.command,
            "exit_code": check.exit_code,
            "unable": check.unable,
            "about": check.about or None,
            "failing_tests": list(check.suite.failed) if check.suite else None,
        }
        for check in known_failures(state).values()
    ]


def frozen_object(state: State) -> dict[str, object] | None:
    """Why nothing but a fix or a revert lands; None if anything may."""
    if (broken := broken_main(state)) is None:
        return None
    return {
        "checks": broken.commands,
        "since": broken.since,
        "culprit": culprit_object(broken.culprit),
        "reverted_by": reverting(state) or None,
        "text": broken_text(state),
        "next": mend_command(state),
    }


def obstacles(state: State) -> list[CheckResult]:
    """The checks on main that hold tasks of the run back, each once."""
    tasks = (task for name, task in state.tasks.items() if not task.is_over and state.is_selected(name))
    found = (check for task in tasks if (check := obstacle(state, task)))
    return list({check.command: check for check in found}.values())


def alike_failures(state: State) -> list[tuple[Symptom, list[TaskId]]]:
    """Failures that several tasks share. Nothing has failed most of the time: then nothing is loaded."""
    if sum(bool(task.trouble.failures) for task in state.tasks.values()) < 2:
        return []
    from interlock.learn.errors import alike

    return alike(state)


def status_document(reading: Reading) -> dict[str, object]:
    state, board = reading.state, Board(reading.state)
    run, main = state.run, state.main
    return {
        "tasks": rows(reading, board=board),
        "running": len(state.index.running),
        "counts": {stage.value: state.index.counts.get(stage, 0) for stage in Stage},
        "paused": state.limits.paused,
        "pool": pool_object(reading, board),
        "clutch": with_reasons({"categories": state.limits.categories, "providers": state.limits.providers}),
        "main": {
            "branch": main.branch,
            "commit": main.commit or None,
            "red": red_main_objects(state),
            "frozen": frozen_object(state),
        },
        "run": None
        if run is None
        else {
            "id": run.run,
            "live": reading.is_live,
            "limit": run.limit,
            "seconds_to_go": ETA.seconds(state, reading.now) if reading.is_live else None,
            "started": run.started,
            "ended": run.ended,
            "ended_why": reason_object(run.ended_why) if run.ended_why else None,
            "stopping": run.stopping,
            "sandbox": run.sandbox or None,
            "selection": None if run.selection is None else sorted(run.selection),
        },
        "overlaps": len(state.radar.live),
        "usage": state.used,
        "alike": [
            {"id": seen.id, "what": seen.line, "tasks": names} for seen, names in alike_failures(state)
        ],
        "statements": unstated_object(state),
        "unknown": state.unknown,
        "position": state.seq,
        "time": reading.now,
    }


def unstated_object(state: State) -> dict[str, object] | None:
    """Landed commits whose statement could not be written; None: there are none."""
    if state.unstated is None:
        return None
    why = state.unstated.why
    return {"missing": state.unstated.commits, "why": reason_object(why) if why else None}


def summary_document(state: State, metrics: "Metrics", found: list[TaskRow], logs: str) -> dict[str, object]:
    sandbox = state.run.sandbox or None if state.run else None
    return {"metrics": metrics, "tasks": found, "logs": logs, "sandbox": sandbox}


AGAIN_SECONDS = 10.0
"""Interval at which the rest is estimated again if nothing happens."""
PAUSE_SECONDS = 2.0
"""The loop that starts agents waits meanwhile: not for every fact."""


class Eta:
    """Remembers what it found out."""

    def __init__(self) -> None:
        self._seq = -1
        self._at = 0.0
        self._ends: float | None = None

    def seconds(self, state: State, now: float) -> float | None:
        """Return the time until the last expected landing; None if the time of some task is unknown."""
        age = now - self._at
        if age > AGAIN_SECONDS or (self._seq != state.seq and age > PAUSE_SECONDS):
            from interlock.engine.foresight import remaining_seconds

            self._seq, self._at = state.seq, now
            left = remaining_seconds(state, now)
            self._ends = None if left is None else now + left
        return None if self._ends is None else max(0.0, self._ends - now)

    def text(self, state: State, now: float) -> str:
        """Return the rest as the end of a line; empty when no task is left."""
        left = self.seconds(state, now)
        if left is None:
            return "time left unknown"
        return f"about {lasting(left)} left" if left >= 1 else ""


ETA = Eta()
"""One for the whole command: a picture that is drawn four times a second asks it each time."""

"""One answer to the question what to start now."""

from dataclasses import dataclass

from interlock.events.money import Reserving
from interlock.events.state import State
from interlock.model.budget import SHARED as SHARED_BUDGETS
from interlock.model.budget import Amount
from interlock.model.forecast import Beside
from interlock.model.reason import Reason, Value, Why
from interlock.model.task import TaskId
from interlock.schedule.agents import pick_agent
from interlock.schedule.holds import SHARED, Demand, Holds, demands
from interlock.schedule.lines import Lines, LineState
from interlock.schedule.order import Key
from interlock.schedule.overlaps import SECOND_CHOICES, venture
from interlock.schedule.tails import Tails


@dataclass(frozen=True, slots=True)
class Choice:
    """A task to start now."""

    task: TaskId
    why: Reason
    agent: str = ""
    beside: tuple[Beside, ...] = ()
    """Tasks that it may conflict with."""
    agent_why: Reason | None = None
    """The reason for its agent; None if there was no choice."""
    reserved: Amount | None = None
    """The share of the budgets to reserve for it; None: there are no budgets."""


class Round:
    """Picks tasks one by one; each holds what it wants against the next.

    Afterwards all tasks are back in their lines. The picks still hold: the caller gives that back.
    """

    def __init__(self, state: State, holds: Holds, lines: Lines, tails: Tails, now: float) -> None:
        self._state = state
        self._holds = holds
        self._lines = lines
        self._tails = tails
        self._now = now
        self._money = Reserving(state, now)
        self._picks: dict[TaskId, Choice] = {}
        self._aside: list[tuple[TaskId, Key, Demand]] = []

    def run(self, slots: int) -> list[Choice]:
        self._first_choices(slots)
        self._second_choices(slots)
        for task, key, line in self._aside:
            self._lines.put(task, key, line)
        return list(self._picks.values())

    def _first_choices(self, slots: int) -> None:
        """Tasks that nothing stands in the way of, best first."""
        while len(self._picks) < slots and (best := self._lines.best(LineState.OPEN)):
            name, line = best
            if short := self._money.short_of(self._state.tasks[name]):
                if short.text("budget") in SHARED_BUDGETS:
                    return
                self._set_aside(name, line)
            elif not self._is_in_the_way(name, line):
                self._set_aside(name, line)
                self._pick(name, self._place_in_order(name))

    def _second_choices(self, slots: int) -> None:
        """Fill slots that would idle with the best overlapping tasks, where the expected rework is cheap."""
        looks = SECOND_CHOICES
        while len(self._picks) < slots and looks and (best := self._lines.best(LineState.OVERLAPPED)):
            name, line = best
            if self._turn_away(name, line, LineState.SHUT):
                continue
            looks -= 1
            self._set_aside(name, line)
            if self._money.short_of(self._state.tasks[name]):
                continue
            found = venture(self._state, self._holds, self._state.tasks[name], self._now)
            if found.is_worth_it:
                self._pick(name, found.why, found.beside)

    def _set_aside(self, name: TaskId, line: Demand) -> None:
        self._aside.append((name, self._lines.key(name), line))
        self._lines.drop(name)

    def _pick(self, name: TaskId, why: Reason, beside: tuple[Beside, ...] = ()) -> None:
        pick = pick_agent(self._state, self._state.tasks[name], self._now)
        reserved = self._money.take(self._state.tasks[name])
        self._picks[name] = Choice(name, why, pick.agent, beside, pick.why, reserved)
        self._holds.take(name, demands(self._state.tasks[name]))

    def _turn_away(self, name: TaskId, line: Demand, gate: LineState) -> bool:
        """Send a task to the line of what is in its way, if anything is, and shut that line."""
        find = self._holds.hard if gate is LineState.SHUT else self._holds.soft
        wanted = demands(self._state.tasks[name])
        for want in sorted(wanted, key=line.__ne__):  # the line it is in first, so that few have to move
            holders = find(want, name)
            if holders is not None:
                self._lines.put(name, self._lines.key(name), want)
                self._lines.shut(want, gate, want if want[0] in SHARED else min(holders))
                return True
        return False

    def _is_in_the_way(self, name: TaskId, line: Demand) -> bool:
        """Tell if the task has to wait for another, in the line of what that one holds."""
        return self._turn_away(name, line, LineState.SHUT) or self._turn_away(
            name, line, LineState.OVERLAPPED
        )

    def _place_in_order(self, name: TaskId) -> Reason:
        task = self._state.tasks[name]
        fields: dict[str, Value] = {"priority": task.spec.priority}
        hanging = self._tails.seconds(name) - task.expected_seconds
        if 0 < hanging < float("inf"):
            fields["seconds_behind"] = hanging
        return Reason(Why.NEXT_IN_ORDER, fields)

"""What tasks edited beside what was expected of them (D3)."""

from interlock.events.state import TaskState
from interlock.events.task_parts import Work
from interlock.learn.drift import drift_of
from interlock.model.forecast import Chance, Forecast
from interlock.model.task import Agent, Commit, Task, TaskId

FORECAST = (
    Chance("src/**", 0.9, "declared"),
    Chance("CHANGELOG.md", 0.6, "companion"),
    Chance("docs/a.md", 0.1, "companion"),
)


def task(*touched: str, forecast: tuple[Chance, ...] = (), touches: tuple[str, ...] = ()) -> TaskState:
    one = TaskState(Task(TaskId("t"), "x", Agent("a", "command"), touches=touches))
    if forecast:
        one.forecast = Forecast("other", None, "a", 1, 1, 0.5, footprint=forecast)
    if touched:
        one.change.work = Work(1, Commit("c"), Commit("b"), touched, 1)
    return one


def test_a_file_that_was_unlikely_is_a_surprise_and_a_likely_one_that_stayed_is_idle() -> None:
    drift = drift_of(task("src/a.py", "src/b.py", "docs/a.md", forecast=FORECAST))
    assert drift is not None
    assert (drift.surprises, drift.idle) == (("docs/a.md",), ("CHANGELOG.md",))
    assert (drift.precision, drift.recall) == (1 / 2, 2 / 3)


def test_what_an_agent_asked_for_and_was_granted_is_no_drift() -> None:
    one = task("src/a.py", "docs/a.md", forecast=FORECAST)
    one.session.scope = ("docs/a.md",)
    assert (drift := drift_of(one)) is not None
    assert (drift.recall, drift.surprises) == (1.0, ())


def test_without_a_forecast_what_is_declared_is_what_was_expected() -> None:
    drift = drift_of(task("a.py", "b.py", touches=("a.py",)))
    assert drift is not None
    assert drift.recall == 0.5


def test_a_task_of_which_nothing_was_expected_cannot_drift() -> None:
    assert drift_of(task("a.py")) is None
    assert drift_of(task(forecast=FORECAST)) is None

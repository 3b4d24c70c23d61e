"""What is expected of a task, and what it is taken to be: K1, A8, and who should have it (P2)."""

from dataclasses import replace

import pytest

from interlock.events.state import State
from interlock.learn.categories import category, complexity
from interlock.learn.estimate import Estimator, differs
from interlock.model.forecast import Forecast
from interlock.model.task import Agent, Task, TaskId
from interlock.ui.words.reasons import reason_text

CHEAP, STRONG = Agent("cheap", "command", ("x",)), Agent("strong", "command", ("y",))


def task(goal: str = "Do it", **fields: object) -> Task:
    return Task(TaskId("a"), goal, CHEAP, **fields)  # type: ignore[arg-type]  # any field, by its name


@pytest.mark.parametrize(
    ("given", "name", "why"),
    [
        (task("Fix it", category="chores", touches=("docs/**",)), "chores", "declared"),
        (task("Fix the index", touches=("docs/**", "README.md")), "docs", "inferred from docs/**, README.md"),
        (task(touches=("tests/test_api.py",)), "tests", "inferred from tests/test_api.py"),
        (task(touches=("db/migrations/*.sql",)), "migration", "inferred from db/migrations/*.sql"),
        (task("Add login", touches=("src/a.py", "docs/a.md")), "feature", "the word `add`"),
        (task("Add a test for the crash of the parser"), "fix", "the word `crash`"),
        (task("Add a flag. Fix what is broken, and write tests."), "feature", "the word `add`"),
        (task("Make the address shorter"), "other", "nothing says"),
    ],
)
def test_the_kind_of_work_is_what_was_declared_else_what_paths_say_else_the_goal(
    given: Task, name: str, why: str
) -> None:
    found = category(given)
    assert found.name == name
    assert why in reason_text(found.why)


def test_how_hard_a_task_looks_follows_from_how_much_it_says() -> None:
    assert complexity(task("Fix a typo")) == "low"
    assert complexity(task("Rewrite the parser")) == "medium"
    wide = ("a", "b", "c", "d", "e")
    assert complexity(task("Rewrite it " * 30, touches=wide)) == "high"
    assert complexity(task("Rewrite it " * 30, touches=wide, complexity="low")) == "low"


def forecast(state: State, **fields: object) -> Forecast:
    return Estimator(state).forecast(task("Do it", **fields | {"category": "backend"}))


def test_a_project_that_knows_nothing_expects_what_the_task_says() -> None:
    found = forecast(State(), estimate_seconds=120.0, has_estimate=True, timeout_seconds=300.0)
    assert found.seconds == pytest.approx(120.0)
    assert found.seconds_p90 == 300.0  # its agent is stopped then
    assert found.success == pytest.approx(0.7)
    assert (found.cost_usd, found.evidence) == (None, 0.0)
    assert [option.agent for option in found.options] == ["cheap"]


def test_what_nothing_is_known_of_is_a_guess_until_anything_has_run() -> None:
    state = State()
    assert forecast(state).is_guess
    assert not forecast(state, has_estimate=True).is_guess
    state.learned.tallies.of("docs", "cheap", "").seconds.add(2.0)
    found = forecast(state)
    assert not found.is_guess
    assert found.seconds == pytest.approx(2.0)


def test_the_agent_that_lands_for_the_least_comes_first() -> None:
    """Twice as dear, but it lands and the other does not."""
    state = State()
    for agent, usd, landed, failed in (("cheap", 1.0, 2, 18), ("strong", 2.0, 18, 2)):
        tally = state.learned.tallies.of("backend", agent, "")
        tally.landed, tally.failed = landed, failed
        tally.cost_usd.add(usd)
    found = forecast(state, agents=(CHEAP, STRONG))
    assert (found.agent, [option.agent for option in found.options]) == ("strong", ["strong", "cheap"])
    assert found.cost_usd == pytest.approx(2.0)
    assert found.evidence == 20


def test_with_nothing_known_the_order_of_the_graph_stays() -> None:
    assert [option.agent for option in forecast(State(), agents=(STRONG, CHEAP)).options] == [
        "strong",
        "cheap",
    ]


def test_a_forecast_that_differs_by_a_hair_is_no_news() -> None:
    old = forecast(State())
    assert differs(old, None)
    assert not differs(replace(old, seconds=old.seconds * 1.05, evidence=9.0), old)
    assert differs(replace(old, seconds=old.seconds * 1.2), old)
    assert differs(replace(old, category="docs"), old)
    assert differs(replace(old, cost_usd=1.0), old)
    assert differs(replace(old, options=()), old)

"""Who gets an attempt (P2, A1)."""

from dataclasses import replace

import pytest

from interlock.events import facts as f
from interlock.events.affinity import STORIES_KEPT
from interlock.model.forecast import Forecast, Option
from interlock.model.outcome import ErrorClass
from interlock.model.reason import Reason, Value, Why, said
from interlock.model.task import Agent, Task, TaskId
from interlock.schedule import Board
from interlock.schedule.agents import Pick, pick_agent
from interlock.train.retry import give_up
from tests.events.journal import Journal, failed
from tests.schedule.test_board import Floor, task

A = TaskId("a")
SMALL = Agent("small", "command", ("s",), wire="openai", key_env="K", complexity="low")
LARGE = Agent("large", "command", ("l",), wire="anthropic", key_env="L")
OTHER = Agent("other", "command", ("o",))


def shop(*agents: Agent, **fields: object) -> Journal:
    spec = Task(A, "do a", agents[0], agents=agents, **fields)  # type: ignore[arg-type]  # any field, by its name
    journal = Journal(spec)
    journal.run()
    return journal


def pick(journal: Journal) -> Pick:
    return pick_agent(journal.state, journal.task("a"), journal.time)


def attempt(journal: Journal, error: ErrorClass = ErrorClass.EXIT, wait: float = 0.0) -> str:
    """Let whoever is picked fail."""
    task, agent = journal.task("a"), pick(journal).agent
    journal.tell(f.PhaseStarted(A, task.attempt + 1, "implement", task.epoch + 1, "holder", agent=agent))
    journal.tell(replace(failed(task, f"{task.attempt}", wait), error=error))
    return agent


def forecast(*options: Option, complexity: str = "") -> f.TaskEstimated:
    first = options[0].agent if options else "small"
    return f.TaskEstimated(
        A,
        Forecast(
            "other",
            Reason(Why.DECLARED),
            first,
            60,
            90,
            0.5,
            complexity=complexity,
            options=options,
            evidence=2,
        ),
    )


def test_one_candidate_needs_no_reason() -> None:
    journal = Journal(Task(A, "do a", SMALL))
    assert pick(journal) == Pick("small")


def test_without_experience_the_order_of_the_graph_decides() -> None:
    assert pick(shop(LARGE, SMALL)) == Pick("large", Reason(Why.FIRST_CHOICE, {"count": 2}))


def test_what_earlier_work_says_comes_before_the_order_of_the_graph() -> None:
    journal = shop(LARGE, SMALL)
    journal.tell(forecast(Option("small", 120.0, 0.8, 0.02), Option("large", 90.0, 0.9, 0.5)))
    figures = Reason(Why.FORECAST, {"seconds": 120.0, "success": 0.8, "cost_usd": 0.02})
    assert pick(journal) == Pick("small", Reason(Why.BEST_CHOICE, {"count": 2, "cause": figures}))


def test_agents_that_are_expected_to_cost_about_the_same_are_as_good_as_each_other() -> None:
    journal = shop(LARGE, SMALL)
    journal.tell(forecast(Option("small", 120.0, 0.5, 1.0), Option("large", 90.0, 0.5, 1.05)))
    assert pick(journal).agent == "large"


def test_an_agent_that_has_just_worked_on_the_story_goes_on_with_it_if_it_is_as_good() -> None:
    journal = shop(LARGE, SMALL, story="login")
    journal.tell(f.TaskAccepted(Task(TaskId("b"), "do b", SMALL, story="login")))
    journal.tell(f.PhaseStarted(TaskId("b"), 1, "implement", 1, agent="small"))
    journal.tell(f.AgentExited(TaskId("b"), 1, "implement", 1))
    assert pick(journal) == Pick("small", Reason(Why.SAME_STORY, {"tasks": ("b",)}))
    journal.tell(forecast(Option("large", 90.0, 0.9, 0.1), Option("small", 90.0, 0.9, 0.2)))
    assert pick(journal).agent == "large"


def test_if_every_provider_is_closed_the_one_that_opens_first_is_taken() -> None:
    journal = shop(LARGE, SMALL)
    for provider, seconds in (("api.anthropic.com L", 60.0), ("api.openai.com K", 5.0)):
        journal.tell(f.ProviderBraked(provider, 1.0, said("429"), until=journal.time + seconds))
    assert pick(journal).agent == "small"


def test_an_agent_whose_provider_is_closed_is_passed_over_until_it_opens_again() -> None:
    journal = shop(LARGE, SMALL)
    journal.tell(f.ProviderBraked("api.anthropic.com L", 1.0, said("429"), until=journal.time + 301.0))
    found = pick(journal).why
    assert found and found.code == Why.MODEL_CLOSED
    assert (found.text("agent"), found.number("seconds"), found.cause) == ("large", 300.0, said("429"))
    journal.tell(f.MainSeen("main", *2 * ("m",)), after=400.0)  # type: ignore[arg-type]  # any commit
    assert pick(journal).agent == "large"


def test_if_all_are_closed_somebody_has_it_all_the_same() -> None:
    journal = shop(LARGE, SMALL)
    for provider in ("api.anthropic.com L", "api.openai.com K"):
        journal.tell(f.ProviderBraked(provider, 1.0, said("429"), until=journal.time + 300.0))
    assert pick(journal).agent == "large"


def test_after_a_failure_of_its_own_another_has_the_next_attempt_and_then_they_take_turns() -> None:
    journal = shop(SMALL, LARGE)
    assert [attempt(journal) for _ in range(4)] == ["small", "large", "small", "large"]
    journal = shop(SMALL, LARGE)
    attempt(journal)
    failed_at_it: dict[str, Value] = {"agent": "small", "attempt": 1, "cause": said("exit 1")}
    assert pick(journal) == Pick("large", Reason(Why.AGENT_FAILED, failed_at_it))


@pytest.mark.parametrize("error", [ErrorClass.CONFLICT, ErrorClass.ENVIRONMENT])
def test_what_is_not_the_agents_fault_does_not_take_the_task_from_it(error: ErrorClass) -> None:
    journal = shop(SMALL, LARGE)
    assert [attempt(journal, error) for _ in range(2)] == ["small", "small"]


def test_when_a_model_cannot_be_had_the_other_candidate_starts_at_once() -> None:
    journal = shop(SMALL, LARGE)
    assert attempt(journal, ErrorClass.RATE_LIMIT, wait=500.0) == "small"
    assert journal.task("a").queue.not_before == 0.0
    assert pick(journal).agent == "large"


def test_when_no_model_can_be_had_the_task_waits_for_the_one_that_opens_first() -> None:
    journal = shop(SMALL, LARGE)
    attempt(journal, ErrorClass.RATE_LIMIT, wait=500.0)
    opens = journal.time + 500.0
    attempt(journal, ErrorClass.QUOTA, wait=900.0)
    assert journal.task("a").queue.not_before == opens


def test_an_agent_that_cannot_work_at_all_ends_the_task_only_if_no_other_is_left() -> None:
    journal = shop(SMALL, LARGE)
    assert attempt(journal, ErrorClass.MISSING) == "small"
    assert pick(journal).agent == "large"
    task = journal.task("a")
    missing = f.PhaseFailed(A, 2, "implement", 9, error=ErrorClass.MISSING, why=said("not installed"))
    assert give_up(task, missing, "small") is None
    assert give_up(task, missing, "large")


def test_a_session_that_was_cut_off_goes_on_with_the_agent_that_had_it() -> None:
    journal = shop(SMALL, LARGE)
    attempt(journal)
    journal.tell(f.PhaseStarted(A, 2, "implement", 9, "holder", agent="small"))
    journal.tell(f.SessionOpened(A, 2, "implement", 9, session="s"), f.PhaseLost(A, 2, "implement", 9))
    assert pick(journal).agent == "small"
    journal = shop(SMALL, LARGE)
    journal.tell(f.PhaseStarted(A, 1, "implement", 1, "holder", agent="large"))
    journal.tell(f.SessionOpened(A, 1, "implement", 1, session="s"), f.PhaseLost(A, 1, "implement", 1))
    assert pick(journal) == Pick("large", Reason(Why.CUT_OFF))


def test_what_looks_hard_goes_to_one_that_takes_hard_tasks_unless_the_graph_says_how_hard_it_is() -> None:
    journal = shop(SMALL, LARGE)
    journal.tell(forecast(complexity="high"))
    assert pick(journal) == Pick("large", Reason(Why.TOO_HARD, {"agent": "small", "complexity": "low"}))
    journal = shop(SMALL, LARGE, complexity="low")
    journal.tell(forecast(complexity="high"))
    assert pick(journal).agent == "small"


def test_a_board_says_who_gets_what_it_chooses() -> None:
    journal = shop(OTHER, LARGE)
    (choice,) = Board(journal.state).choose(1, journal.time)
    assert choice.agent == "other"
    assert choice.agent_why == Reason(Why.FIRST_CHOICE, {"count": 2})


def test_only_so_many_stories_are_remembered() -> None:
    names = [f"t{number}" for number in range(STORIES_KEPT + 3)]
    floor = Floor(*(task(name, story=name) for name in names))
    for name in names:
        floor.start(name)
        floor.carry_on(name)
    assert list(floor.journal.state.learned.warm) == names[3:]

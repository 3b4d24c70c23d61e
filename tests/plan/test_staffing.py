"""Who could have a task, by role, capability and strength (MISSION P2)."""

import pytest

from interlock.plan import GraphProblems, parse

AGENTS = """
version: 1
agents:
  small: {use: command, run: [s], labels: [cheap], complexity: low, capabilities: [python]}
  broad: {use: command, run: [b], labels: [cheap], capabilities: [python, sql]}
  judge: {use: command, run: [j], roles: [worker, critic], complexity: medium}
defaults: {agent: small}
tasks:
"""


def candidates(fields: str) -> list[str]:
    (task,) = parse(f"{AGENTS}  a: {{goal: x, {fields}}}\n", "g").tasks
    assert task.agent == task.candidates[0]
    return [agent.name for agent in task.candidates]


def refusal(fields: str) -> tuple[str, str, int]:
    with pytest.raises(GraphProblems) as caught:
        parse(f"{AGENTS}  a: {{goal: x, {fields}}}\n", "g")
    (problem,) = caught.value.problems
    return problem.message, problem.hint, problem.col


@pytest.mark.parametrize(
    ("fields", "able"),
    [
        ("agent: broad", ["broad"]),
        ("agent: [judge, broad]", ["judge", "broad"]),
        ("agent: cheap", ["small", "broad"]),
        ("agent: [judge, cheap, broad]", ["judge", "small", "broad"]),
        ("agent: any", ["small", "broad", "judge"]),
        ("agent: any, requires: [python]", ["small", "broad"]),
        ("agent: any, requires: [python, sql]", ["broad"]),
        ("agent: any, role: critic", ["judge"]),
        ("agent: any, complexity: low", ["small", "broad", "judge"]),
        ("agent: any, complexity: medium", ["broad", "judge"]),
        ("agent: any, complexity: high", ["broad"]),
    ],
)
def test_candidates_are_the_named_agents_that_can_have_the_task_in_the_order_given(
    fields: str, able: list[str]
) -> None:
    assert candidates(fields) == able


def test_a_task_for_one_agent_is_written_as_before_so_that_an_older_log_still_agrees() -> None:
    (task,) = parse(f"{AGENTS}  a: {{goal: x}}\n", "g").tasks
    assert task.agents == ()


def test_a_capability_that_no_agent_of_the_task_has_is_named_where_it_is_asked_for() -> None:
    message, hint, column = refusal("requires: [python, sql]")
    assert message == "`a` requires `sql`, which none of its agents has: small"
    assert hint == "name an agent that has it: broad"
    assert column == 35


def test_a_slip_in_a_capability_gets_a_suggestion() -> None:
    assert refusal("agent: any, requires: [pyhton]")[1] == "did you mean `python`?"


def test_a_capability_nobody_ever_heard_of_says_what_to_write() -> None:
    assert refusal("agent: any, requires: [rust]")[1].startswith("add `capabilities: [rust]`")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("role: critic", "`a` is for a critic, and none of its agents is one: small"),
        ("complexity: high", "`a` has high complexity, too high for its agents: small"),
        (
            "agent: [small, judge], requires: [python], complexity: medium",
            "`a` has no agent that could take it: small is not for tasks above low complexity; "
            "judge lacks `python`",
        ),
        ("agent: [small, brod]", "unknown agent `brod`"),
        ("agent: []", "`agent` is empty"),
        ("role: critc", "this must be one of worker, critic, orchestrator"),
    ],
)
def test_a_task_that_nobody_can_have_is_refused_with_the_reason(fields: str, message: str) -> None:
    assert refusal(fields)[0] == message


def test_an_agent_that_is_named_and_cannot_have_the_task_is_a_warning_if_another_can() -> None:
    graph = parse(f"{AGENTS}  a: {{goal: x, agent: [small, broad], requires: [sql]}}\n", "g")
    assert [problem.message for problem in graph.warnings] == ["`a` cannot go to `small`, which lacks `sql`"]


def test_no_agent_may_be_called_any() -> None:
    text = "version: 1\nagents: {any: {use: command, run: [x]}}\ntasks: {a: {goal: x, agent: any}}\n"
    with pytest.raises(GraphProblems, match="stands for every agent"):
        parse(text, "g")


def test_an_agent_with_a_problem_of_its_own_does_not_make_its_tasks_a_second_problem() -> None:
    text = "version: 1\nagents: {bot: {use: comand, run: [x]}}\ntasks: {a: {goal: x, agent: bot}}\n"
    with pytest.raises(GraphProblems) as caught:
        parse(text, "g")
    assert len(caught.value.problems) == 1

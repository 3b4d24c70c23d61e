"""The facts that bring the log up to the graph (MISSION T2)."""

import json
from dataclasses import replace

import msgspec
import pytest

from interlock.events.facts import Fact, PhaseStarted, PlanAccepted, TaskAccepted, TaskCancelled, TaskRemoved
from interlock.events.fold import fold
from interlock.events.lifecycle import Stage
from interlock.events.record import GENESIS, Recorded, encode, seal
from interlock.events.state import State
from interlock.model.errors import UsageError
from interlock.model.task import Origin, OriginKind, TaskId
from interlock.plan import Graph, changes, changes_during_run, parse

HEAD = "version: 1\nagents: {bot: {use: command, run: [bot]}}\ndefaults: {agent: bot}\ntasks:\n"
BOTH = "  a: {goal: x, uses: [db]}\n  b: {goal: y, needs: [a]}\n"
FILE = Origin(OriginKind.GRAPH, "task-graph.yaml")
PERSON = Origin(OriginKind.PERSON, "anna")


def graph(tasks: str = BOTH) -> Graph:
    return parse(HEAD + tasks, "task-graph.yaml")


def after(facts: list[Fact], state: State | None = None) -> State:
    """The state once these are in the log; the rows go through their written form."""
    rows = [seal(GENESIS, number, 1.0, "test", fact) for number, fact in enumerate(facts, start=1)]
    return fold([Recorded(row.seq, row.time, row.actor, row.kind, row.body, row.hash) for row in rows], state)


def test_a_new_graph_is_accepted_task_by_task() -> None:
    read = graph()
    assert changes(State(), read) == [
        PlanAccepted("task-graph.yaml", read.digest, 2),
        TaskAccepted(read.tasks[0], FILE),
        TaskAccepted(read.tasks[1], FILE),
    ]


def test_what_the_log_knows_is_not_said_again() -> None:
    assert changes(after(changes(State(), graph())), graph()) == []


def test_only_what_changed_is_said() -> None:
    state = after(changes(State(), graph()))
    edited = graph(BOTH.replace("goal: y", "goal: z"))
    plan, accepted = changes(state, edited)
    assert isinstance(plan, PlanAccepted)
    assert accepted == TaskAccepted(edited.tasks[1], FILE)


def test_a_comment_changes_the_plan_and_no_task() -> None:
    state = after(changes(State(), graph()))
    (fact,) = changes(state, graph(f"{BOTH}# later\n"))
    assert isinstance(fact, PlanAccepted)


def test_a_task_that_left_the_graph_is_removed_and_can_come_back() -> None:
    state = after(changes(State(), graph()))
    shorter = graph("  a: {goal: x, uses: [db]}\n")
    facts = changes(state, shorter)
    assert facts[1:] == [TaskRemoved(TaskId("b"))]
    state = after(facts, state)
    assert changes(state, shorter) == []
    assert changes(state, graph())[1:] == [TaskAccepted(graph().tasks[1], FILE)]


def test_what_has_landed_stays_when_it_leaves_the_graph() -> None:
    state = after(changes(State(), graph()))
    state.tasks[TaskId("b")].stage = Stage.DONE
    assert changes(state, graph("  a: {goal: x, uses: [db]}\n"))[1:] == []


def test_a_cancelled_task_is_not_revived_by_reading_the_same_graph() -> None:
    state = after([*changes(State(), graph()), TaskCancelled(TaskId("a"))])
    assert changes(state, graph()) == []


def test_the_same_text_under_another_name_is_a_new_plan_and_has_the_tasks_from_then_on() -> None:
    state = after(changes(State(), graph()))
    moved = replace(graph(), source="other.yaml")
    other = Origin(OriginKind.GRAPH, "other.yaml")
    assert changes(state, moved) == [
        PlanAccepted("other.yaml", moved.digest, 2),
        *(TaskAccepted(task, other) for task in moved.tasks),
    ]
    assert changes(after(changes(state, moved), state), moved) == []


def test_a_file_removes_only_what_it_wrote() -> None:
    other = parse(HEAD + "  c: {goal: z}\n", "other.yaml")
    hers = replace(graph().tasks[0], id=TaskId("hers"))
    state = after([*changes(State(), graph()), TaskAccepted(hers, PERSON)])
    facts = changes(state, other)
    assert [fact for fact in facts if isinstance(fact, TaskRemoved)] == []
    state = after(facts, state)
    nothing = parse(HEAD + "  d: {goal: z}\n", "other.yaml")
    assert [fact for fact in changes(state, nothing) if isinstance(fact, TaskRemoved)] == [
        TaskRemoved(TaskId("c"))
    ]


def test_an_added_task_that_the_file_names_too_stays_the_persons() -> None:
    state = after([TaskAccepted(graph().tasks[0], PERSON)])
    state.tasks[TaskId("a")].stage = Stage.FAILED
    state = after(changes(state, graph()), state)
    assert (state.tasks[TaskId("a")].origin, state.tasks[TaskId("a")].stage) == (PERSON, Stage.FAILED)


def test_a_file_cannot_replace_an_added_task_until_that_is_cancelled() -> None:
    hers = replace(graph().tasks[0], goal="hers")
    state = after([TaskAccepted(hers, PERSON)])
    with pytest.raises(UsageError, match="anna added another task with this id"):
        changes(state, graph())
    state = after([TaskAccepted(hers, PERSON), TaskCancelled(TaskId("a"))])
    assert TaskAccepted(graph().tasks[0], FILE) in changes(state, graph())


@pytest.mark.parametrize("name", ["ben", PERSON.name])
def test_of_two_that_were_added_under_one_name_the_first_counts(name: str) -> None:
    first, second = graph().tasks[0], replace(graph().tasks[0], goal="another")
    state = after([TaskAccepted(first, PERSON), TaskAccepted(second, Origin(OriginKind.PERSON, name))])
    assert (state.tasks[TaskId("a")].spec, state.tasks[TaskId("a")].origin) == (first, PERSON)


def test_a_task_of_a_log_without_origins_is_of_the_file_that_was_taken_in_before_it() -> None:
    old = [Recorded(1, 1.0, "", *encode(PlanAccepted("old.yaml", "", 1)), "")]
    body = json.dumps({"task": msgspec.to_builtins(graph().tasks[0])})
    state = fold([*old, Recorded(2, 1.0, "", "TaskAccepted", body, "")])
    assert state.tasks[TaskId("a")].origin == Origin(OriginKind.GRAPH, "old.yaml")


def test_while_a_run_goes_on_a_task_that_was_begun_stays_although_its_lines_are_gone() -> None:
    state = after(changes(State(), graph()))
    started = PhaseStarted(TaskId("a"), 1, "implement", 1, "me", None)
    state = after([started], state)
    removed = changes(state, graph("  c: {goal: x}\n"))
    facts, kept = changes_during_run(state, graph("  c: {goal: x}\n"))
    assert TaskRemoved(TaskId("a")) in removed
    assert kept == [TaskId("a")]
    assert facts == [fact for fact in removed if fact != TaskRemoved(TaskId("a"))]

"""A task that is added beside the file meets the same checks as one in it."""

import pytest

from interlock.model.errors import UsageError
from interlock.model.task import TaskId
from interlock.plan.added import Wish, added
from interlock.plan.schema import MAX_TASKS

FILE = """\
version: 1
agents: {bot: {use: command, run: [bot]}, sam: {use: command, run: [sam]}}
defaults: {agent: bot, verify: make test, timeout: 5m}
tasks:
  a: {goal: x}
"""
OTHERS = {TaskId("a"): (), TaskId("b"): (TaskId("c"),)}


def test_it_has_the_agents_and_the_defaults_of_the_file() -> None:
    task = added(Wish("c", "Do: it", ("a", "a"), ("src/**",), ("true",), "sam", "a"), FILE, OTHERS)
    assert (task.goal, task.needs, task.touches, task.done_when) == ("Do: it", ("a",), ("src/**",), ("true",))
    assert (task.agent.name, task.verify, task.timeout_seconds) == ("sam", ("make test",), 300.0)
    assert added(Wish("c", "Do it"), FILE, {}).agent.name == "bot"


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (Wish("a", "x"), "there is a task `a` already"),
        (Wish("No Good", "x"), "No Good"),
        (Wish("c", ""), "goal"),
        (Wish("c", "x", needs=("login",)), "unknown task `login`"),
        (Wish("c", "x", parent="login"), "unknown task `login`"),
        (Wish("c", "x", needs=("b",)), "the needs form a cycle: b -> c -> b"),
        (Wish("c", "x", touches=("/etc/passwd",)), "is an absolute path"),
        (Wish("c", "x", touches=("../other",)), "leaves the repository"),
        (Wish("c", "x", agent="nobody"), "nobody"),
    ],
)
def test_what_the_file_could_not_say_cannot_be_added(wish: Wish, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        added(wish, FILE, OTHERS)
    assert said in str(refused.value)
    assert refused.value.hint


def test_there_are_never_more_tasks_than_a_file_may_have() -> None:
    with pytest.raises(UsageError, match=f"at most {MAX_TASKS} are allowed"):
        added(Wish("c", "x"), FILE, {TaskId(f"t{number}"): () for number in range(MAX_TASKS)})

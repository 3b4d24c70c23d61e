"""Filters: by id, story, priority tier, label, subsystem and category (MISSION T5)."""

import pytest

from interlock.model.errors import UsageError
from interlock.model.task import Agent, Task, TaskId
from interlock.plan import Filter, select

BOT = Agent("bot", "command", ("bot",))


def task(id: str, *needs: str, story: str = "", labels: tuple[str, ...] = (), priority: int = 2) -> Task:
    wanted = tuple(map(TaskId, needs))
    return Task(
        TaskId(id), "x", BOT, wanted, story=story, labels=labels, priority=priority, category=f"c-{id[0]}"
    )


TASKS = (
    task("auth-api", story="accounts", labels=("mvp",), priority=0),
    task("auth-ui", "auth-api", story="accounts", labels=("mvp", "web")),
    task("billing", "auth-ui", story="money"),
    task("docs", priority=4),
)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (Filter(), ["auth-api", "auth-ui", "billing", "docs"]),
        (Filter(only=("docs", "auth-ui")), ["auth-ui", "docs"]),
        (Filter(only=("bil",)), ["billing"]),
        (Filter(start_from=("auth-ui",)), ["auth-ui", "billing"]),
        (Filter(start_from=("auth-api", "docs")), ["auth-api", "auth-ui", "billing", "docs"]),
        (Filter(story=("accounts",)), ["auth-api", "auth-ui"]),
        (Filter(story=("accounts", "money")), ["auth-api", "auth-ui", "billing"]),
        (Filter(label=("web",)), ["auth-ui"]),
        (Filter(priority=("0", "lowest")), ["auth-api", "docs"]),
        (Filter(category=("c-d",)), ["docs"]),
        (Filter(story=("accounts",), label=("web",)), ["auth-ui"]),
        (Filter(story=("money",), label=("web",)), []),
    ],
)
def test_all_that_is_given_must_hold(wanted: Filter, ids: list[str]) -> None:
    assert list(select(TASKS, wanted)) == ids


@pytest.mark.parametrize(
    ("wanted", "message", "hint"),
    [
        (Filter(only=("auth",)), "`auth` could be 2 tasks: auth-api, auth-ui", "write more"),
        (Filter(only=("dosc",)), "there is no task `dosc`", "did you mean `docs`?"),
        (Filter(start_from=("zzz",)), "there is no task `zzz`", "interlock plan"),
        (Filter(only=("",)), "there is no task ``", "interlock plan"),
        (Filter(story=("acounts",)), "no task has the story `acounts`", "did you mean `accounts`?"),
        (Filter(label=("q",)), "no task has the label `q`", "the graph has: mvp, web"),
        (Filter(subsystem=("core",)), "no task has the subsystem `core`", "the graph has: none"),
        (Filter(priority=("hihg",)), "there is no priority `hihg`", "did you mean `high`?"),
        (Filter(priority=("9",)), "there is no priority `9`", "0 to 4"),
        (
            Filter(priority=("high",)),
            "no task has the priority `high`",
            "the graph has: critical, lowest, normal",
        ),
    ],
)
def test_a_value_that_no_task_has_is_an_error(wanted: Filter, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        select(TASKS, wanted)
    assert message in str(refused.value)
    assert hint in refused.value.hint

"""A slip of the hand is understood, and never guessed at."""

import pytest

from interlock.model.errors import UsageError
from interlock.model.nearest import find_task, nearest, suggest
from interlock.model.task import TaskId

IDS = [TaskId(name) for name in ("user-model", "user-form", "login", "log")]


def test_the_nearest_name_is_suggested_or_else_the_way_to_find_it() -> None:
    assert suggest("logni", IDS, "look") == "did you mean `login`?"
    assert suggest("zebra", IDS, "look") == "look"
    assert nearest("logni", IDS, likeness=0.99) == ""


@pytest.mark.parametrize(("word", "id"), [("log", "log"), ("logi", "login"), ("user-f", "user-form")])
def test_a_task_is_named_by_its_id_or_the_beginning_of_only_one(word: str, id: str) -> None:
    assert find_task(word, IDS, "look") == id


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("user", "`user` could be 2 tasks: user-model, user-form", "write more of the id"),
        ("form", "there is no task `form`", "look"),
        ("", "there is no task ``", "look"),
        ("user-modle", "there is no task `user-modle`", "did you mean `user-model`?"),
    ],
)
def test_what_fits_several_or_none_is_refused(word: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_task(word, IDS, "look")
    assert (str(refused.value), refused.value.hint) == (message, hint)

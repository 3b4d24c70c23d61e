"""`interlock route` (A8): the agent of the next attempt, and why, before and after agents have worked."""

from interlock.model.task import Agent, Task, TaskId
from tests.ui.conftest import Lab

CHEAP = Agent("cheap", "command", ("c",), model="small\x1b[31m")
STRONG = Agent("strong", "command", ("s",))


def test_it_names_the_agent_the_route_and_what_is_known_of_all_that_could_have_it(lab: Lab) -> None:
    spec = Task(TaskId("a"), "Make a", CHEAP, agents=(CHEAP, STRONG), route="routes[0]: category == 'docs'")
    lab.accept(spec)
    found = lab.run("route", "a", "--json").json
    assert (found["task"], found["agent"], found["why"]) == ("a", "cheap", "the first choice of 2")
    assert found["route"] == "routes[0]: category == 'docs'"
    assert [(option["agent"], option["chosen"]) for option in found["options"]] == [
        ("cheap", True),
        ("strong", False),
    ]
    said = lab.run("route", "a").out
    assert said.startswith("a would go to cheap: the first choice of 2\n")
    assert "agents named by routes[0]: category == 'docs'" in said and "\x1b" not in said


def test_a_task_that_does_not_exist_is_an_error_with_the_next_command(lab: Lab) -> None:
    found = lab.run("route", "nothing")
    assert found.code == 2 and "interlock" in found.err

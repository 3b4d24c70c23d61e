"""A person looks at what agents used and what went wrong, after real runs."""

import json

from tests.agents.model_server.running import RunningModel
from tests.browser.conftest import Opened
from tests.engine.scratch import Scratch
from tests.ui.serving import serving


def built_in(scratch: Scratch, model: RunningModel, *options: str, code: int = 0) -> None:
    """Two tasks by Interlock's own agent, each with three calls of its model."""
    steps = (
        {"op": "shell", "command": 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'},
        {"op": "say", "text": "All done."},
    )
    model.add_script("works", steps)
    tasks = "tasks: {login: {goal: Make it, category: api}, docs: {goal: Describe it, category: docs}}\n"
    scratch.write(
        **{
            "task-graph__yaml": "version: 1\ndefaults: {agent: own}\n"
            f"agents: {{own: {{use: built-in, url: '{model.url('works')}', model: tiny}}}}\n{tasks}"
        }
    )
    scratch.commit()
    scratch.interlock("run", *options, code=code)


def test_the_tokens_of_a_real_run_are_seen_by_agent_task_category_and_day(
    scratch: Scratch, model: RunningModel, opened: Opened
) -> None:
    built_in(scratch, model)
    told = json.loads(scratch.interlock("status", "--json"))["usage"]
    tokens = told["input_tokens"] + told["output_tokens"]
    assert tokens > 1000
    with serving(scratch.root) as server:
        page = opened(server, "/cost")
        table = page.page.locator(".used")
        table.get_by_text("own", exact=True).wait_for()
        page.page.locator(".cf .fig").filter(has_text="tokens").first.get_by_text(
            f"{tokens / 1000:.1f}k"
        ).wait_for()
        for key, name in (("2", "login"), ("3", "tiny"), ("4", "docs"), ("1", "own")):
            page.press(key)
            table.get_by_text(name, exact=True).wait_for()
        page.press("5")
        assert table.locator("tbody tr").count() == 1
        assert page.button("day").get_attribute("data-cli") == "interlock cost --by day"
        page.press("2")
        table.get_by_role("link", name="login").click()
        page.page.wait_for_url("**/tasks/login")
        page.page.get_by_role("region", name="Tokens").get_by_text("calls").wait_for()


def test_a_budget_that_is_used_up_is_seen_and_raised_from_its_command(
    scratch: Scratch, model: RunningModel, opened: Opened
) -> None:
    scratch.write(interlock__toml="budget_tokens = {task = 50000, project = 12000}\n")
    built_in(scratch, model, "--no-input", "--max-parallel", "1", code=5)
    rows = {row["budget"]: row for row in json.loads(scratch.interlock("budget", "--json"))["budgets"]}
    spent = rows["project"]["spent_tokens"]
    assert spent > 1000
    words = f"{(spent + 50) // 100 / 10}k of"  # half a hundred counts as a whole one, as the page rounds
    with serving(scratch.root) as server:
        page = opened(server, "/cost")
        budgets = page.page.get_by_role("region", name="Budgets")
        project = budgets.locator("[data-entry=project]")
        project.get_by_text("used up").wait_for()
        project.get_by_text(f"{words} 12.0k tokens").wait_for()
        budgets.get_by_text("at most 50.0k tokens").wait_for()
        budgets.get_by_role("button", name="interlock budget --add-tokens 1000000").wait_for()
        scratch.interlock("budget", "--add-tokens", "30000")
        project.get_by_text(f"{words} 42.0k tokens").wait_for()
        assert project.get_by_text("used up").count() == 0


def test_an_error_in_health_names_its_command_and_opens_its_task(scratch: Scratch, opened: Opened) -> None:
    agent = 'echo "the disk is on fire" >&2; exit 3'
    scratch.graph("  a: {goal: a, retries: 0}\n  b: {goal: b, retries: 0}\n", agent)
    scratch.interlock("run", code=1)
    with serving(scratch.root) as server:
        page = opened(server, "/health")
        error = page.page.locator(".er")
        error.get_by_text("the disk is on fire").first.wait_for()
        assert error.count() == 1
        name = error.get_attribute("data-entry")
        error.get_by_role("button", name=f"interlock errors {name}").wait_for()
        assert "the disk is on fire" in scratch.interlock("errors", str(name))
        retry = error.get_by_role("button", name="Retry 2 tasks")
        assert str(retry.get_attribute("data-cli")).startswith("interlock retry ")
        page.page.get_by_role("region", name="Machine").get_by_text("processor").wait_for()
        page.page.get_by_role("region", name="Examined").get_by_text("work lands on main").wait_for()
        page.page.get_by_role("region", name="Log").get_by_text("RunEnded").first.wait_for()
        error.get_by_role("link", name="a", exact=True).click()
        page.page.wait_for_url("**/tasks/a")
        page.go("/health")
        retry.click()
        error.get_by_text("noted for the next run").wait_for()
    tasks = json.loads(scratch.interlock("status", "--json"))["tasks"]
    assert {task["state"] for task in tasks} == {"waiting"}

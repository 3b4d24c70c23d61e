"""A person works with the merge train in the browser while a real run goes on."""

import json

from tests.browser.conftest import Opened
from tests.browser.dashboard import Dashboard
from tests.engine.scratch import WAIT, Background, Scratch
from tests.ui.serving import serving

AGENT = 'echo "$INTERLOCK_TASK_ID" > "$INTERLOCK_TASK_ID.txt"'
TASKS = "".join(f"  {name}: {{goal: Make {name}}}\n" for name in ("one", "two", "three", "four"))


def waiting_train(scratch: Scratch) -> Background:
    """Four finished changes: their second check waits for the gate."""
    waits = f"if ls *.txt; then {WAIT.format(gate=scratch.gates / 'gate')}; fi"
    scratch.graph(TASKS, AGENT, verify=json.dumps(["test -n lint", waits]))
    run = scratch.start("run", "--max-parallel", "1")
    for name in ("one", "two", "three", "four"):
        run.wait_for_line(f"{name}: change made")
    return run


def states(scratch: Scratch) -> dict[str, str]:
    tasks = json.loads(scratch.interlock("status", "--json"))["tasks"]
    return {task["id"]: task["state"] for task in tasks}


def order(page: Dashboard) -> list[str]:
    return [
        str(name) for name in page.page.locator(".cand").evaluate_all("all => all.map(e => e.dataset.entry)")
    ]


def wait_for(page: Dashboard, task: str, state: str) -> None:
    page.page.locator(f".cand[data-entry={task}][data-state={state}]").wait_for()


def test_a_person_holds_releases_bumps_and_drops_changes_and_sees_it_happen(
    scratch: Scratch, opened: Opened
) -> None:
    run = waiting_train(scratch)
    with serving(scratch.root) as server:
        page = opened(server, "/train")
        page.page.locator(".cand").nth(3).wait_for()
        one, two, three, four = order(page)
        wait_for(page, one, "checking")
        wait_for(page, two, "building")
        checks = page.page.locator(f".cand[data-entry={one}] .ck")
        checks.nth(0).get_by_text("ran").wait_for()
        assert "run" in str(checks.nth(1).get_attribute("class")).split()
        page.see(f"on top of {one}")

        page.press("j", "j", "h")
        wait_for(page, three, "held")
        assert "a person paused this task" in scratch.interlock("explain", three)
        page.button("Release").click()
        wait_for(page, three, "waiting")

        page.press("j")
        assert page.button("Bump").get_attribute("data-cli") == f"interlock queue bump {four}"
        page.press("b")
        page.page.locator(f".cand[data-entry={four}]", has_text="place 1: ").wait_for()
        assert order(page) == [four, one, two, three]

        page.page.locator(f".cand[data-entry={two}]").click()
        page.press("d")
        page.page.keyboard.type("not wanted any more")
        page.button(f"Drop {two}").click()
        page.page.locator(f".cand[data-entry={two}]").wait_for(state="detached")
        page.page.get_by_role("region", name="Sent back").get_by_text("not wanted any more").wait_for()

        page.press("e")
        page.page.locator(".explain").get_by_text("interlock explain").wait_for()
        (scratch.gates / "gate").touch()
        page.see("No change is on its way to main")
    assert run.wait() in (0, 1), run.output
    assert states(scratch) == {one: "done", two: "cancelled", three: "done", four: "done"}


def test_a_person_sees_why_a_change_was_sent_back_and_opens_its_task(
    scratch: Scratch, opened: Opened
) -> None:
    scratch.graph("  bad: {goal: Break it, retries: 0}\n", AGENT, verify='"test ! -e bad.txt"')
    scratch.interlock("run", code=1)
    with serving(scratch.root) as server:
        page = opened(server, "/train")
        row = page.page.get_by_role("region", name="Sent back").locator(".drop")
        row.get_by_text("exited 1 on the change merged onto main").wait_for()
        assert row.get_attribute("data-cli") == "interlock explain bad"
        row.click()
        page.page.wait_for_url("**/tasks/bad")
        page.see("Attempt 1")


def test_a_red_main_shows_its_culprit_and_is_undone_from_the_train(scratch: Scratch, opened: Opened) -> None:
    scratch.graph("  a: {goal: Make a}\n", AGENT, verify='"test ! -e broken"')
    scratch.interlock("run")
    scratch.write(broken="by hand\n")
    commit = scratch.commit("Break it by hand")
    scratch.interlock("add", "b", "Make b")
    scratch.interlock("run", code=6)
    with serving(scratch.root) as server:
        page = opened(server, "/train")
        card = page.page.get_by_role("region", name="Main is red")
        card.get_by_text("Break it by hand").first.wait_for()
        undo = card.get_by_role("button", name=f"Undo {commit[:12]}", exact=True)
        assert undo.get_attribute("data-cli") == f"interlock undo {commit[:12]}"
        undo.click()
        wait_for(page, f"undo-{commit[:12]}", "waiting")

"""A person works in the dashboard while a real run goes on (A14, A19, A22)."""

import json

import pytest

from tests.browser.conftest import Opened
from tests.browser.dashboard import Dashboard
from tests.browser.world import QUESTION
from tests.engine.scratch import WAIT, Scratch
from tests.ui.serving import Server, serving

ASKS = f"""
if [ "$INTERLOCK_TASK_ID" = gated ]; then GATE; echo > gated.txt
elif [ "$INTERLOCK_TASK_ID" != tax ]; then echo > "$INTERLOCK_TASK_ID.txt"
elif grep -q "A person answered" "$INTERLOCK_PROMPT_FILE"; then
  grep -A2 "A person answered" "$INTERLOCK_PROMPT_FILE" | tail -1 > answer.txt
else echo "I read the code."; echo; echo "{QUESTION}"; fi
"""
WRITES = """
if [ "$INTERLOCK_TASK_ID" = gated ]; then GATE; echo > gated.txt
else printf 'one\\ntwo\\nthree\\n' > made.txt; cp "$INTERLOCK_PROMPT_FILE" prompt.txt; fi
"""
GATED = "  gated: {goal: Keep the run alive, timeout: 10m}\n"


def begin(scratch: Scratch, tasks: str, agent: str) -> None:
    """Start a run that stays active until the gate is there."""
    agent = agent.replace("GATE", WAIT.format(gate=scratch.gates / "gate"))
    scratch.graph(tasks + GATED, agent, verify="'test -n x'")
    scratch.start("run")


def figure(page: Dashboard, name: str, count: int) -> None:
    """Until Now counts so many of this kind."""
    found = page.page.locator(".fig").filter(has_text=name).locator(".v")
    found.filter(has_text=str(count)).wait_for()


def test_a_run_is_watched_from_an_empty_repository_to_its_last_landing(
    scratch: Scratch, opened: Opened
) -> None:
    scratch.graph(
        "  a: {goal: Make a}\n  b: {goal: Make b, needs: [a]}\n  c: {goal: Make c}\n", verify="'test -n x'"
    )
    with serving(scratch.root) as server:
        page = opened(server)
        page.see("Nothing runs here yet")
        page.page.evaluate("window.isTheSamePage = true")
        assert scratch.start("run").wait() == 0
        figure(page, "landed", 3)
        page.see("run ended")
        assert page.page.evaluate("window.isTheSamePage")
        page.press("g", "b")
        landed = page.page.locator("[data-bucket=landed] .ln")
        assert landed.count() == 3
        landed.filter(has_text="b").click()
        page.see("landed as")
        page.see("b.txt")


def test_a_question_is_answered_with_the_keyboard_alone(scratch: Scratch, opened: Opened) -> None:
    begin(scratch, "  tax: {goal: Compute tax}\n", ASKS)
    with serving(scratch.root) as server:
        page = opened(server)
        page.see(QUESTION)
        page.press("g", "i")
        page.see("Message of the agent")
        page.press("a")
        page.page.keyboard.type("per line, as invoices do")
        page.press("Control+Enter")
        page.page.get_by_text("Nothing waits for you").wait_for()
        page.press("g", "n")
        figure(page, "landed", 1)
    assert scratch.git("show", "main:answer.txt") == "per line, as invoices do"


def test_a_comment_on_a_line_and_a_rejection_reach_the_next_prompt(scratch: Scratch, opened: Opened) -> None:
    begin(scratch, "  made: {goal: Make it, review: required, retries: 0}\n", WRITES)
    with serving(scratch.root) as server:
        page = opened(server, "/tasks/made?pane=diff")
        page.page.get_by_role("button", name="Comment on line 2 of made.txt").click()
        page.page.keyboard.type("say TWO in capitals")
        page.button("Comment").click()
        page.page.locator(".cm").get_by_text("say TWO in capitals").wait_for()
        page.press("r")
        page.page.keyboard.type("one line is wrong")
        page.button("Send it back").click()
        page.see("Attempt 2")
        page.page.get_by_text("TWO").filter(visible=True).first.wait_for()
        page.button("Approve").click()
        page.see("landed as")
    prompt = scratch.git("show", "main:prompt.txt")
    assert "say TWO in capitals" in prompt
    assert ">     2  two" in prompt
    assert "one line is wrong" in prompt


def test_a_failed_task_is_retried_with_advice_and_a_running_one_is_cancelled(
    scratch: Scratch, opened: Opened
) -> None:
    advised = 'grep -q "use make" "$INTERLOCK_PROMPT_FILE" && echo > ok.txt'
    agent = f'case "$INTERLOCK_TASK_ID" in gated) GATE ;; *) {advised} ;; esac'
    begin(scratch, "  broken: {goal: Build it, retries: 0}\n", agent)
    with serving(scratch.root) as server:
        page = opened(server, "/inbox")
        page.see("broken failed")
        page.press("e")
        page.page.keyboard.type("use make")
        page.press("Control+Enter")
        page.see("Nothing waits for you")
        page.go("/")
        figure(page, "landed", 1)
        page.go("/tasks/gated")
        page.button("Cancel").click()
        page.page.locator(".th .tag").get_by_text("cancelled").wait_for()
    tasks = json.loads(scratch.interlock("status", "--json"))["tasks"]
    assert {task["id"]: task["state"] for task in tasks} == {"broken": "done", "gated": "cancelled"}


def test_a_server_that_is_gone_is_said_and_found_again(scratch: Scratch, opened: Opened) -> None:
    begin(scratch, "", WRITES)
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "working", 1)
        server.process.kill()
        server.process.wait()
        page.see("server does not answer")
    (scratch.gates / "gate").touch()
    with serving(scratch.root) as again:
        assert again.url == server.url
        figure(page, "landed", 1)
        page.page.get_by_text("live", exact=True).wait_for()


def test_a_second_tab_follows_and_another_browser_needs_the_token(
    scratch: Scratch, opened: Opened, chromium: object
) -> None:
    begin(scratch, "", WRITES)
    with serving(scratch.root) as server:
        page = opened(server)
        other = page.new_page()
        other.goto(f"{server.url}/")
        other.get_by_role("button", name="Pause run").wait_for()
        page.button("Pause run").click()
        other.get_by_role("button", name="Unpause run").wait_for()
        stranger = chromium.new_context().new_page()  # type: ignore[attr-defined] # playwright has no types here
        stranger.goto(f"{server.url}/")
        stranger.get_by_text("This page needs a token").wait_for()
        stranger.context.close()


def test_the_view_can_be_held_while_the_run_goes_on(scratch: Scratch, opened: Opened) -> None:
    begin(scratch, "", WRITES)
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "working", 1)
        page.press("Space")
        page.see("view paused at fact")
        (scratch.gates / "gate").touch()
        scratch.interlock("wait")
        figure(page, "working", 1)
        page.press("Space")
        figure(page, "landed", 1)


def test_keys_find_a_task_and_can_be_turned_off(small_server: Server, opened: Opened) -> None:
    page = opened(small_server)
    page.press("Control+k")
    page.page.keyboard.type("refu")
    page.press("Enter")
    page.page.wait_for_url("**/tasks/refunds")
    page.press("g", "m")
    page.page.wait_for_url("**/train")
    page.press("?")
    page.page.get_by_role("dialog", name="Keys").wait_for()
    page.page.get_by_label("single keys are on").click()
    page.press("Escape")
    page.page.get_by_role("dialog", name="Keys").wait_for(state="detached")
    page.press("g", "b")
    page.press("Control+k")
    page.page.get_by_role("dialog", name="Commands").wait_for()
    assert page.page.url.endswith("/train")


@pytest.mark.parametrize("path", ["/", "/inbox", "/board", "/tasks/refunds", "/tasks/work-search"])
def test_every_button_that_acts_shows_its_command(path: str, small_server: Server, opened: Opened) -> None:
    page = opened(small_server, path)
    page.see("3 need you" if path.startswith(("/board", "/tasks")) else "tax")
    for name in ("Approve", "Send back", "Answer", "Cancel", "Pause run", "Cancel the task"):
        found = page.page.get_by_role("button", name=name, exact=False).filter(visible=True)
        for index in range(found.count()):
            line = found.nth(index).get_attribute("data-cli")
            assert line, f"{name} on {path}"
            assert line.startswith("interlock ")

"""The server, the engine or the network fails: the page says so, loses nothing and does nothing twice."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.browser.between import Between, Weather
from tests.browser.conftest import Opened
from tests.browser.dashboard import Dashboard
from tests.engine.scratch import WAIT, Scratch
from tests.ui.serving import Server, serving

AGENT = """
if [ "$INTERLOCK_TASK_ID" = gated ]; then GATE; fi
if [ "$INTERLOCK_TASK_ID" = broken ] && ! test -e "FIXED"; then echo "no paper"; exit 3; fi
echo "I made $INTERLOCK_TASK_ID."
echo > "$INTERLOCK_TASK_ID.txt"
"""
TASKS = """\
  first: {goal: Make the first}
  broken: {goal: Print labels, retries: 0}
  gated: {goal: Keep the run alive, timeout: 10m}
  last: {goal: Make the last, needs: [gated]}
"""
TABS = 8
"""More than the connections that a browser opens to one server."""


def begin(scratch: Scratch) -> None:
    """Start a run that stays active until the gate is there, and a task that fails until it is mended."""
    gate = WAIT.format(gate=scratch.gates / "gate")
    agent = AGENT.replace("GATE", gate).replace("FIXED", str(scratch.gates / "fixed"))
    scratch.graph(TASKS, agent, verify="'test -n x'")
    scratch.start("run")


def facts(scratch: Scratch, kind: str) -> list[dict[str, Any]]:  # Any: parsed JSON
    """The facts of a kind. Playwright has a loop of its own in this process, so another one reads them."""
    rows = [json.loads(line) for line in scratch.interlock("events", "--json").splitlines()]
    return [row for row in rows if row["kind"] == kind]


def figure(page: Dashboard, name: str, count: int) -> None:
    """Until Now counts so many of this kind."""
    found = page.page.locator(".fig").filter(has_text=name).locator(".v")
    found.filter(has_text=str(count)).wait_for()


def is_live(page: Dashboard) -> None:
    page.page.get_by_text("live", exact=True).wait_for()


@pytest.fixture
def between() -> Iterator[Between]:
    made = Between()
    yield made
    made.close()


def beyond(between: Between, server: Server) -> Server:
    """The server as a browser behind that network knows it."""
    between.lead_to(server.place)
    return replace(server, url=f"http://{between.place}")


def test_a_killed_server_is_found_again_with_all_that_happened_meanwhile(
    scratch: Scratch, opened: Opened
) -> None:
    begin(scratch)
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "failed", 1)
        figure(page, "landed", 1)
        server.process.kill()
        server.process.wait()
        page.see("server does not answer, last update")
        page.page.get_by_role("link", name="first").first.click()
        page.see("the server does not answer")
        page.button("Output").click()
    (scratch.gates / "fixed").touch()
    scratch.interlock("retry", "broken")
    with serving(scratch.root) as again:
        assert again.url == server.url
        is_live(page)
        page.see("landed as")
        page.see("I made first.")
        page.button("Diff").click()
        page.page.get_by_text("first.txt").filter(visible=True).first.wait_for()
        page.press("g", "n")
        figure(page, "landed", 2)
        (scratch.gates / "gate").touch()
        figure(page, "landed", 4)
        assert page.page.locator("section[aria-label='All tasks'] a").count() == 4


def test_an_action_without_a_server_says_so_and_is_done_once(scratch: Scratch, opened: Opened) -> None:
    begin(scratch)
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "working", 1)
        server.process.kill()
        server.process.wait()
        page.button("Pause run").click()
        page.see("the server does not answer")
        page.see("it may have arrived")
        page.button("Pause run").click()
    with serving(scratch.root):
        is_live(page)
        page.button("Pause run").click()
        page.button("Unpause run").wait_for()
    assert len(facts(scratch, "Paused")) == 1


@pytest.mark.parametrize("dies", [False, True], ids=["the network breaks", "the server is killed"])
def test_an_action_whose_answer_is_lost_is_done_once(
    dies: bool, scratch: Scratch, opened: Opened, between: Between
) -> None:
    begin(scratch)
    with serving(scratch.root, "--allow-host", between.place) as server:
        page = opened(beyond(between, server), "/tasks/gated")
        say = page.page.get_by_label("Message to the agent")
        say.fill("use the new table")
        between.set(Weather.NO_ANSWERS)
        page.button("Send").click()
        while not facts(scratch, "MessageSaid"):
            pass
        if dies:
            while '"answer":{' not in actions(scratch):
                pass
            server.process.kill()
            server.process.wait()
        between.set(Weather.CUT)
        page.see("it may have arrived")
        assert say.input_value() == "use the new table"
        if not dies:
            between.set(Weather.CLEAR)
            press_again(page)
    if dies:
        with serving(scratch.root, "--allow-host", between.place) as again:
            between.lead_to(again.place)
            between.set(Weather.CLEAR)
            press_again(page)
    assert len(facts(scratch, "MessageSaid")) == 1


def actions(scratch: Scratch) -> str:
    return (scratch.root / ".git/interlock/web/actions.jsonl").read_text()


def press_again(page: Dashboard) -> None:
    is_live(page)
    page.button("Send").click()
    page.page.locator(".say .done").wait_for()
    assert page.page.get_by_label("Message to the agent").input_value() == ""


@pytest.mark.parametrize("weather", [Weather.CUT, Weather.SILENT], ids=lambda each: each.value)
def test_a_connection_that_breaks_is_seen_and_the_page_catches_up(
    weather: Weather, scratch: Scratch, opened: Opened, between: Between
) -> None:
    begin(scratch)
    with serving(scratch.root, "--allow-host", between.place) as server:
        page = opened(beyond(between, server))
        figure(page, "working", 1)
        figure(page, "failed", 1)
        between.set(weather)
        page.see("last update")
        page.see("server does not answer")
        (scratch.gates / "fixed").touch()
        scratch.interlock("retry", "broken")
        while "broken.txt" not in scratch.git("ls-tree", "--name-only", "main"):
            pass
        figure(page, "failed", 1)
        between.set(Weather.CLEAR)
        is_live(page)
        figure(page, "landed", 2)


def test_a_killed_engine_is_seen_and_the_next_run_goes_on(
    scratch: Scratch, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_CONTROLLER_LEASE", "3s")
    begin(scratch)
    (run,) = scratch.started
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "working", 1)
        figure(page, "failed", 1)
        run.close()
        page.see("stopped without a word")
        page.button("Pause run").wait_for(state="detached")
        (scratch.gates / "fixed").touch()
        scratch.interlock("retry", "broken")
        scratch.start("run")
        page.button("Pause run").wait_for()
        (scratch.gates / "gate").touch()
        figure(page, "landed", 4)
        page.see("run ended")
        assert page.page.locator("section[aria-label='All tasks'] a").count() == 4


def test_many_tabs_share_one_stream_and_one_takes_over(scratch: Scratch, opened: Opened) -> None:
    begin(scratch)
    with serving(scratch.root) as server:
        first = opened(server)
        tabs = [first.page, *(first.new_page() for _ in range(TABS - 1))]
        for each in tabs[1:]:
            each.goto(f"{server.url}/")
            each.get_by_text("live", exact=True).wait_for()
        first.button("Pause run").click()
        for each in tabs:
            each.get_by_role("button", name="Unpause run").wait_for()
        assert streams(first) == 1
        tabs[0].close()
        tabs[1].get_by_role("button", name="Unpause run").click()
        for each in tabs[1:]:
            each.get_by_role("button", name="Pause run", exact=True).wait_for()
            each.get_by_text("live", exact=True).wait_for()
        assert streams(first) == 2


def streams(page: Dashboard) -> int:
    return sum("/api/stream" in url for url in page.requests)


def test_a_session_that_is_no_longer_valid_is_said_and_another_tab_renews_it(
    scratch: Scratch, opened: Opened
) -> None:
    begin(scratch)
    with serving(scratch.root) as server:
        page = opened(server)
        figure(page, "failed", 1)
        server.process.kill()
        server.process.wait()
    (scratch.root / ".git/interlock/web/key").unlink(missing_ok=True)
    with serving(scratch.root) as again:
        assert (again.url, again.token != server.token) == (server.url, True)
        page.see("This page needs a new token")
        figure(page, "failed", 1)
        page.button("Pause run").click()
        page.see("a token is needed")
        assert facts(scratch, "Paused") == []
        other = page.new_page()
        other.goto(f"{again.url}/#t={again.token}")
        other.get_by_text("live", exact=True).wait_for()
        is_live(page)
        page.button("Pause run").click()
        page.button("Unpause run").wait_for()

"""The timeline, the graph, and the replay of any moment, of a real run."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from bench.drive import Drive
from bench.graphs import big_graph
from interlock.plan import parse
from tests.browser.conftest import Opened
from tests.browser.dashboard import Dashboard
from tests.engine.scratch import Scratch
from tests.ui.conftest import Lab, git
from tests.ui.serving import Server, serving


def replay(scratch: Scratch, at: int) -> dict[str, str]:
    """The groups of the tasks right after a fact, as the command tells them."""
    told = json.loads(scratch.interlock("replay", "--at", str(at), "--json"))
    return {task["id"]: task["bucket"] for task in told["tasks"]}


def moment(page: Dashboard) -> int:
    """The moment in the address."""
    page.page.wait_for_url("**at=*")
    return int(parse_qs(urlsplit(page.page.url).query)["at"][0])


def on_board(page: Dashboard) -> dict[str, str]:
    """The groups of the tasks, as the board shows them."""
    found: dict[str, str] = page.page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.col')].flatMap(col =>"
        " [...col.querySelectorAll('[data-entry]')].map(card => [card.dataset.entry, col.dataset.bucket])))"
    )
    return found


def test_the_timeline_shows_what_each_task_did(opened: Opened, small_server: Server) -> None:
    page = opened(small_server, "/timeline")
    row = page.page.locator(".tr")
    row.filter(has_text="work-search").locator(".k-working").wait_for()
    row.filter(has_text="tax").locator(".k-needs").wait_for()
    row.filter(has_text="broken").locator(".k-failed").wait_for()
    row.filter(has_text="summary").locator(".k-blocked").wait_for()
    groups = [text.split("\xa0")[0] for text in page.page.locator("h2.gh").all_inner_texts()]
    assert groups[0].startswith("Critical path")
    assert page.page.locator(".tr.cp, .tr:has(.semi)").count() == 3
    assert row.filter(has_text="dates").count() == 0
    page.press("p")
    row.filter(has_text="dates").locator(".dot").wait_for()
    page.button("By agent").click()
    page.page.locator(".tr .k-failed", has_text="broken").or_(
        page.page.locator(".tr .k-failed")
    ).first.wait_for()
    assert "landed" in page.page.locator(".scrub").inner_text()
    page.button("By task").click()
    row.filter(has_text="refunds").click()
    page.page.wait_for_url("**/tasks/refunds")


def test_any_moment_is_replayed_in_every_view_and_by_its_link(
    opened: Opened, small: Scratch, small_server: Server
) -> None:
    page = opened(small_server, "/timeline")
    slider = page.page.get_by_label("Moment of the run")
    slider.wait_for()
    slider.fill("60")
    assert moment(page) > 0
    at = page_head(small_server) // 2  # the slider goes by time, and the run may stand still for long
    page.go(f"/timeline?at={at}")
    page.page.get_by_role("region", name="Replay").wait_for()
    page.press("ArrowRight")
    page.page.wait_for_url(f"**at={at + 1}")
    page.press("g", "b")
    page.page.locator(".col").first.wait_for()
    then = replay(small, at + 1)
    assert then != replay(small, page_head(small_server))
    assert on_board(page) == then
    assert moment(page) == at + 1

    linked = opened(small_server, f"/board?at={at + 1}")
    linked.page.get_by_role("region", name="Replay").wait_for()
    assert on_board(linked) == then
    assert linked.axe() == []
    linked.press("l")
    linked.page.get_by_text("live", exact=True).wait_for()
    linked.page.wait_for_url("**/board")
    assert on_board(linked) == replay(small, page_head(small_server))


def page_head(server: Server) -> int:
    seq = server.get("/api/snapshot")["seq"]
    assert isinstance(seq, int)
    return seq


def test_nothing_can_be_done_in_the_past(opened: Opened, small: Scratch, small_server: Server) -> None:
    before = page_head(small_server)
    page = opened(small_server, f"/tasks/refunds?at={before}")
    page.page.get_by_role("region", name="Replay").wait_for()
    page.page.get_by_role("button", name="Approve").filter(visible=True).first.click()
    page.see("this is a past moment")
    assert page.page.get_by_role("button", name="Pause run").count() == 0
    assert page_head(small_server) == before


def test_a_moment_that_is_not_there_is_said_and_the_present_shown(
    opened: Opened, small_server: Server
) -> None:
    page = opened(small_server, "/board?at=9999999")
    page.see("No such moment")
    page.see("there is no fact 9999999")
    page.button("Close").click()
    page.page.locator(".replay").wait_for(state="detached")
    assert "tax" in on_board(page)


def test_a_task_in_the_past_has_only_what_it_had_done(
    opened: Opened, small: Scratch, small_server: Server
) -> None:
    told = json.loads(small.interlock("show", "store", "--json"))
    began = told["attempts"][0]["phases"][0]["began_seq"]
    page = opened(small_server, f"/tasks/store?at={began}")
    page.page.get_by_role("region", name="Replay").wait_for()
    page.page.locator(".rt").get_by_text("running").first.wait_for()
    assert page.page.get_by_text("landed as").count() == 0
    page.press("l")
    page.see("landed as")


def test_the_graph_shows_what_holds_others_up_and_is_walked_by_keys(
    opened: Opened, small_server: Server
) -> None:
    page = opened(small_server, "/graph")
    node = page.page.locator(".nd")
    page.page.locator(".nd[aria-pressed=true][data-entry=tax]").wait_for()
    shown = {str(each.get_attribute("data-entry")) for each in node.all()}
    assert {"tax", "summary", "totals", "work-search", "readme", "broken", "label-return"} == shown
    page.press("ArrowRight")
    page.page.locator(".nd[aria-pressed=true][data-entry=summary]").wait_for()
    page.press("f")
    page.see("Two hops around summary")
    assert {str(each.get_attribute("data-entry")) for each in node.all()} == {"tax", "summary", "totals"}
    page.press("x")
    page.page.locator(".nd[data-entry=dates]").wait_for()
    assert node.count() == 12
    page.button("Holding others up").click()
    page.page.get_by_role("group", name="Stories").get_by_text("shipping").click()
    page.page.locator(".nd[data-entry=dates]").wait_for(state="detached")
    assert node.count() == 2
    page.page.get_by_role("link", name="Open", exact=True).click()
    page.page.wait_for_url("**/tasks/*")


def large(lab: Lab) -> None:
    """A run in the middle of a thousand tasks."""
    drive = Drive(parse(big_graph(1_000, 3_000), "g").tasks, 30)
    drive.run(5_000)
    lab.write(*(row.fact for row in drive.rows))


def test_a_thousand_tasks_are_a_few_rows_of_the_page_at_a_time(opened: Opened, tmp_path: Path) -> None:
    root = tmp_path / "large"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    lab = Lab(root, None)  # type: ignore[arg-type]  # only `Lab.run` needs it
    with ThreadPoolExecutor(1) as thread:  # playwright has a loop of its own in this one
        thread.submit(large, lab).result()
    with serving(root) as server:
        page = opened(server, "/timeline")
        rows = page.page.locator(".tr")
        rows.first.wait_for()
        assert 10 < rows.count() < 120
        first = rows.locator(".tn").first.inner_text()
        page.page.locator(".tl").evaluate("box => box.scrollTo(0, box.scrollHeight)")
        page.page.locator(f".tr[data-entry='{first}']").wait_for(state="detached")
        assert 10 < rows.count() < 120
        page.go("/graph")
        page.press("x")
        page.see("1,000 tasks")
        nodes = page.page.locator(".nd")
        assert 10 < nodes.count() < 300
        leftmost = nodes.first.get_attribute("data-entry")
        page.page.locator(".cvs").evaluate("box => box.scrollTo(box.scrollWidth, 0)")
        page.page.locator(f".nd[data-entry='{leftmost}']").wait_for(state="detached")
        assert 0 < nodes.count() < 300

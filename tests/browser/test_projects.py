"""Several projects in one page, and the terminal of an agent at work."""

from pathlib import Path

from tests.browser.conftest import Opened
from tests.engine.scratch import WAIT, Scratch
from tests.ui.serving import serving

AGENT = r"""
printf 'plain \033[31mred\033[0m\n'; printf '\033]0;title\007\033[2Jcleared <b>bold</b>\n'
GATE
echo after the gate; echo > "$INTERLOCK_TASK_ID.txt"; NEXT
"""


def test_a_page_shows_each_project_of_the_server(scratch: Scratch, tmp_path: Path, opened: Opened) -> None:
    scratch.graph("  ours: {goal: a}\n", "echo > a.txt")
    scratch.interlock("run")
    (tmp_path / "other").mkdir()
    other = Scratch(tmp_path / "other/blog")
    other.graph("  theirs: {goal: b, retries: 0}\n", "exit 3")
    other.interlock("run", code=1)
    with serving(scratch.root, "--project", str(scratch.root), "--project", str(other.root)) as server:
        page = opened(server, "/board")
        page.page.locator("[data-entry=ours]").wait_for()
        choice = page.page.get_by_label("Project")
        assert [text.split(" ")[0] for text in choice.locator("option").all_inner_texts()] == [
            "notes",
            "blog",
        ]
        assert "need you" in choice.locator("option").all_inner_texts()[1]
        choice.select_option("blog")
        page.page.locator(".fig").filter(has_text="failed").locator(".v", has_text="1").wait_for()
        page.press("g", "b")
        page.page.locator("[data-entry=theirs]").wait_for()
        assert page.page.locator("[data-entry=ours]").count() == 0
        page.page.reload()
        page.page.locator("[data-entry=theirs]").wait_for()
        linked = opened(server, "/board?project=blog")
        linked.page.locator("[data-entry=theirs]").wait_for()
        plain = opened(server, "/board")
        plain.page.locator("[data-entry=ours]").wait_for()
        assert plain.axe() == []
    other.close()


def test_one_project_has_no_choice(scratch: Scratch, opened: Opened) -> None:
    scratch.graph("  ours: {goal: a}\n", "echo > a.txt")
    with serving(scratch.root) as server:
        page = opened(server)
        page.page.locator(".crumb").get_by_text("notes").wait_for()
        assert page.page.get_by_label("Project").count() == 0


def test_the_terminal_of_an_agent_shows_its_output_as_it_comes(scratch: Scratch, opened: Opened) -> None:
    agent = AGENT.replace("GATE", WAIT.format(gate=scratch.gates / "first"))
    agent = agent.replace("NEXT", WAIT.format(gate=scratch.gates / "gate"))
    scratch.graph("  work: {goal: a, timeout: 10m}\n", agent)
    scratch.start("run")
    with serving(scratch.root) as server:
        page = opened(server, "/tasks/work?pane=output")
        sockets: list[str] = []
        page.page.on("websocket", lambda socket: sockets.append(socket.url))
        page.page.get_by_role("button", name="Diff", exact=True).click()
        page.page.get_by_role("button", name="Output", exact=True).filter(visible=True).click()
        terminal = page.page.get_by_label("Terminal of the agent")
        terminal.get_by_text("cleared <b>bold</b>").wait_for()
        assert terminal.locator(".c-failed").inner_text() == "red"
        assert "title" not in terminal.inner_text()
        assert "after the gate" not in terminal.inner_text()
        (scratch.gates / "first").touch()
        terminal.get_by_text("after the gate").wait_for()
        assert any(url.startswith("ws://") and "/terminal?attempt=1" in url for url in sockets)
        assert page.axe() == []
        (scratch.gates / "gate").touch()
        terminal.wait_for(state="detached")
        page.see("after the gate")

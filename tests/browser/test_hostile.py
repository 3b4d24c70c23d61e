"""Whatever agents, programs and graphs write, the dashboard shows it and obeys none of it (S5, B13)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import Opened
from tests.browser.dashboard import VIEWS, Dashboard
from tests.browser.hostile import fill
from tests.ui.conftest import Lab, git
from tests.ui.serving import Server, serving

TASKS = ("asks", "leave", "looked", "failed", "landed", "busy", "late", "waits", "ended")
PANES = ("talk", "diff", "output", "facts")
PATHS = (*VIEWS.values(), "/more", "/timeline?at=30", *(f"/tasks/{t}?pane={p}" for t in TASKS for p in PANES))
WATCH = """
window.obeyed = []
for (const name of ["alert", "confirm", "prompt", "open"]) window[name] = () => obeyed.push(name)
document.addEventListener("securitypolicyviolation", event => obeyed.push("policy " + event.blockedURI))
"""
FORBIDDEN = "iframe,object,embed,base,form[action],meta[http-equiv=refresh],img,video,audio,[style*=url]"
LOOK = """forbidden => {
  const linked = [...document.querySelectorAll("[href],[src]")]
  const links = linked.map(each => each.href?.baseVal ?? each.href ?? each.src)
  const texts = [document.title, document.body.innerText]
  for (const each of document.querySelectorAll("*"))
    for (const { name, value } of each.attributes) {
      if (name.startsWith("on")) obeyed.push(name)
      if (["title", "aria-label", "data-cli", "placeholder"].includes(name)) texts.push(value)
    }
  return {
    obeyed, links, elements: document.querySelectorAll(forbidden).length,
    scripts: document.scripts.length, text: texts.join("\\n"),
  }
}"""
UNSEEN = {
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    0xAD,
    0x61C,
    0x180E,
    0xFEFF,
    0x1B,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("hostile") / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    lab = Lab(root, None)  # type: ignore[arg-type]  # only `Lab.run` needs it
    with ThreadPoolExecutor(1) as thread:  # playwright has a loop of its own in this one
        thread.submit(fill, lab).result()
    with serving(root) as found:
        yield found


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desktop", "phone"])
def test_no_text_is_obeyed_in_any_view(
    size: tuple[int, int], server: Server, opened: Opened, shots: Path
) -> None:
    page = opened(server, viewport={"width": size[0], "height": size[1]})
    page.page.on("dialog", lambda dialog: page.faults.append(f"dialog {dialog.message}"))
    page.page.add_init_script(WATCH)
    shown = ""
    for path in PATHS:
        page.go(path)
        shown += looked(page, path)
        if size[0] > 700:
            for each in page.page.locator(".ib").all():
                each.click()
                shown += looked(page, path)
    page.go("/")
    page.press("Control+k")
    page.page.keyboard.type("a")
    shown += looked(page, "the palette")
    page.shot(shots, f"hostile-{size[0]}")
    assert {urlsplit(url).netloc for url in page.requests} == {server.place}
    assert page.context.pages == [page.page]
    for text in ("<img src=x onerror=alert(1)>", "javascript:alert(1)", "{{7*7}} <%= 7*7 %>", "W" * 100):
        assert text in shown


def looked(page: Dashboard, path: str) -> str:
    """The texts of a page, which has nothing in it that acts, hides or is wider than the window."""
    found = page.page.evaluate(LOOK, FORBIDDEN)
    assert (found["obeyed"], found["elements"], found["scripts"]) == ([], 0, 1), path
    assert {urlsplit(url).scheme for url in found["links"]} <= {"http", "https"}, path
    hidden = {f"U+{ord(each):04X}" for each in found["text"] if ord(each) in UNSEEN}
    assert not hidden, path
    drawn, window = page.width()
    assert drawn <= window, f"{path} is {drawn} px wide"
    text: str = found["text"]
    return text


def test_a_review_shows_the_characters_that_hide(server: Server, opened: Opened) -> None:
    page = opened(server, "/tasks/looked?pane=diff")
    page.page.get_by_text("<U+202E>").filter(visible=True).first.wait_for()
    assert "Comment on line 1" in page.page.locator(".dl button").first.get_attribute("aria-label")

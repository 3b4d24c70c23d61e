"""The dashboard in a browser, as a person uses it."""

import json
import os
from pathlib import Path
from typing import Any

from tests.ui.serving import Server

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "dashboard/node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
PATIENCE_MILLISECONDS = 30_000
VIEWS = {
    "now": "/",
    "inbox": "/inbox",
    "timeline": "/timeline",
    "graph": "/graph",
    "board": "/board",
    "train": "/train",
    "cost": "/cost",
    "health": "/health",
}
SIZES = {"desktop": (1440, 900), "1180": (1180, 820), "390": (390, 844)}


def shots_folder() -> Path:
    """The folder of the screenshots, which CI may keep."""
    folder = Path(os.environ.get("INTERLOCK_SCREENSHOTS", ROOT / "build/screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Dashboard:
    """One profile of the browser with the dashboard open."""

    def __init__(self, context: Any, server: Server) -> None:  # Any: playwright has no types in `make check`
        self.context = context
        self.server = server
        self.faults: list[str] = []
        """What went wrong in the pages: errors of scripts, and what the policy of the page refused."""
        self.requests: list[str] = []
        self.page = self.new_page()

    @classmethod
    def open(cls, chromium: Any, server: Server, path: str, context: dict[str, Any]) -> "Dashboard":
        made = cls(chromium.new_context(**{"viewport": {"width": 1440, "height": 900}} | context), server)
        made.page.goto(f"{server.url}{path}#t={server.token}")
        made.page.wait_for_selector(".live, .empty")
        return made

    def new_page(self) -> Any:
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE_MILLISECONDS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._hear)
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def _hear(self, message: Any) -> None:
        if message.type == "error" and ("Content Security" in message.text or "Uncaught" in message.text):
            self.faults.append(message.text)

    def go(self, path: str) -> None:
        """Open another page of it."""
        self.page.goto(f"{self.server.url}{path}")
        self.page.wait_for_selector(".live")
        self.page.wait_for_selector("h1", state="attached")
        self.page.wait_for_selector("[aria-busy]", state="detached")

    def see(self, text: str) -> None:
        """Until the text is shown."""
        self.page.get_by_text(text).filter(visible=True).first.wait_for()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True).filter(visible=True).first

    def shot(self, folder: Path, name: str) -> Path:
        path = folder / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def axe(self) -> list[str]:
        """What axe-core objects to, with the element."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        options = json.dumps({"runOnly": {"type": "tag", "values": RULES}})
        found = self.page.evaluate(f"axe.run(document, {options})")
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]

    def width(self) -> tuple[int, int]:
        """The width of what is drawn, and that of the window."""
        found: list[int] = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        return found[0], found[1]

    def close(self) -> None:
        self.context.close()

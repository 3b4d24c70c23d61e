"""`interlock demo --ui` in the browser, from the first task to Ctrl-C."""

import signal
from pathlib import Path

from tests.browser.conftest import Opened
from tests.ui.serving import PATIENCE_SECONDS
from tests.ui.test_demo_command import shown_demo


def test_the_demo_is_watched_until_its_last_landing(tmp_path: Path, opened: Opened, shots: Path) -> None:
    with shown_demo(tmp_path) as server:
        page = opened(server)
        lanes = page.page.get_by_text("reading the code")
        lanes.first.wait_for()
        page.shot(shots, "demo-working")
        landed = page.page.locator(".fig").filter(has_text="landed").locator(".v")
        landed.filter(has_text="12").wait_for(timeout=120_000)
        page.see("run ended")
        page.shot(shots, "demo-landed")
        assert server.process.stdout
        # The report about the run, which checks each commit of main.
        assert any(line == "}\n" for line in server.process.stdout), server.process.communicate()[1]
        server.process.send_signal(signal.SIGINT)
        _, said = server.process.communicate(timeout=PATIENCE_SECONDS)
        assert server.process.returncode == 0, said
    assert not list(tmp_path.glob("interlock-demo-*"))

"""Generated requests, right and wrong ones, to every route: none fails, each answer is as documented (S4)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.events.facts import RunStarted
from tests.ui.conftest import Lab, task
from tests.ui.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
EXAMPLES = int(os.environ.get("INTERLOCK_TEST_EXAMPLES", "3"))


def test_no_generated_request_fails_or_gets_an_undocumented_answer(lab: Lab, tmp_path: Path) -> None:
    lab.accept(task("a"), task("b", "a"), task("c"))
    lab.take_charge(RunStarted("r", "h", 1, 3), seconds=3600)
    lab.fail("a", "boom")
    lab.start("c")
    with serving(lab.root) as server:
        document = tmp_path / "openapi.json"
        document.write_text(json.dumps(server.get("/api/openapi.json")))
        argv = (
            str(Path(sys.executable).with_name("schemathesis")),
            *("run", str(document), "--url", server.url, "--header", f"Authorization: Bearer {server.token}"),
            *("--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES), "--checks", CHECKS),
            *("--exclude-path", "/api/stream", "--no-color", "--suppress-health-check", "all"),
        )
        done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-6_000:]
        assert "generated" in done.stdout
        assert server.get("/api/inbox")

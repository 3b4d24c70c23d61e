"""`interlock serve` beside a real run: an agent with its own token, its output, and the run's end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.model_server.running import running_model
from tests.engine.scratch import WAIT, Scratch
from tests.ui.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "shop")
    yield made
    (made.gates / "gate").touch()
    made.close()


def test_an_agent_at_work_is_seen_and_its_token_opens_its_own_task(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    agent = f'echo "$OPENAI_API_KEY" | rev\n{WAIT.format(gate=gate)}\necho hi > "$INTERLOCK_TASK_ID.txt"'
    scratch.graph("  a: {goal: Make a}\n  b: {goal: Make b, needs: [a]}\n", agent)
    graph = scratch.root / "task-graph.yaml"
    with running_model() as model:
        wanted = f"[sh, agent.sh], wire: openai, url: '{model.url('say')}'}}"
        graph.write_text(graph.read_text().replace("[sh, agent.sh]}", wanted))
        scratch.commit()
        run = scratch.start("run")
        with serving(scratch.root) as server:
            run.wait_for_line("a: implement started")
            scratch.wait_for_output("a", "-li")
            snapshot = server.get("/api/snapshot")
            assert [(row["task"], row["attempt"]) for row in snapshot["agents"]] == [("a", 1)]
            token = server.get("/api/tasks/a/log")["text"].split()[-1][::-1]
            mine = {"Authorization": f"Bearer {token}"}
            statuses = {path: server.send("GET", f"/api/{path}", **mine).status for path in PATHS}
            assert statuses == PATHS
            with server.stream(snapshot["cursor"]) as stream:
                gate.touch()
                landed: set[str] = set()
                while landed != {"a", "b"}:
                    rows = stream.next("change").data["tasks"]
                    landed |= {row["id"] for row in rows if row["bucket"] == "landed"}
            assert run.wait() == 0, run.output
            assert server.send("GET", "/api/tasks/a", **mine).status == 401
            assert server.get("/api/snapshot")["agents"] == []


PATHS = {"tasks/a": 200, "tasks/a/log": 200, "tasks/b": 403, "snapshot": 403, "events": 403}

"""Agents that open connections without end have their limit, and the run goes on."""

import shlex
from pathlib import Path

import pytest

from tests.agents.model_server.running import running_model
from tests.engine.scratch import INTERLOCK, WAIT, Background, Scratch

pytestmark = pytest.mark.slow

CONNECT = """
import os, socket
from urllib.parse import urlsplit

at = urlsplit(os.environ["OPENAI_BASE_URL"])
wires = [socket.create_connection((at.hostname, at.port)) for _ in range(100)]
for wire in wires:
    wire.sendall(b"POST /v1/responses HTTP/1.1\\r\\n")
print("connected", flush=True)
os.execvp("sh", ["sh", "wait.sh"])
"""


def test_agents_that_use_up_their_connections_do_not_end_the_run(tmp_path: Path) -> None:
    """With the 1024 open files that shells allow, five agents ended it with an internal error."""
    scratch = Scratch(tmp_path / "repository")
    gate = scratch.gates / "gate"
    wait = f'{WAIT.format(gate=gate)}\necho x > "$INTERLOCK_TASK_ID.txt"\n'
    scratch.write(connect__py=CONNECT, wait__sh=wait)
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", "ulimit -Sn 200; exec python3 connect.py")
    graph = scratch.root / "task-graph.yaml"
    with running_model() as model:
        wanted = f"[sh, agent.sh], wire: openai, url: '{model.url('say')}'}}"
        graph.write_text(graph.read_text().replace("[sh, agent.sh]}", wanted))
        scratch.commit()
        few = f"ulimit -Sn 100 && exec {shlex.join(INTERLOCK)} run"
        run = Background(["sh", "-c", few], scratch.root, scratch.env)
        scratch.started.append(run)
        for name in "ab":
            run.wait_for_line(f"{name}: implement started")
            scratch.wait_for_output(name, "connected")
        gate.touch()
        assert run.wait() == 0, run.output
    assert scratch.states() == {"a": "done", "b": "done"}
    scratch.close()

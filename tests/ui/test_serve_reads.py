"""The routes of the API that show something, each beside the command that shows the same."""

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from interlock.ui.queries.graph import layout, longest_chain
from tests.engine.scratch import Scratch
from tests.ui.conftest import Lab, task
from tests.ui.serving import Server, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """A project after a real run: one task landed, one failed, one needs the failed one."""
    found = Scratch(tmp_path_factory.mktemp("reads") / "shop")
    found.write(interlock__toml="budget_usd = {run = 5, attempt = 1}\n")
    agent = 'echo "working on $INTERLOCK_TASK_ID"; test $INTERLOCK_TASK_ID = b && exit 3; echo hi > a.txt'
    found.graph(
        "  a: {goal: Make a}\n  b: {goal: Make b}\n  c: {goal: Make c, needs: [b]}\n", agent, retries="0"
    )
    found.interlock("run", code=None)
    yield found
    found.close()


@pytest.fixture(scope="module")
def server(scratch: Scratch) -> Iterator[Server]:
    with serving(scratch.root) as found:
        yield found


def shown(scratch: Scratch, *words: str) -> Any:  # Any: what the command prints
    return json.loads(scratch.interlock(*words, "--json"))


def without_time(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in ("time", "host")}


def test_what_commands_show_the_routes_answer(scratch: Scratch, server: Server) -> None:
    for route, command in (("inbox", "inbox"), ("queue", "queue"), ("radar", "radar"), ("reviews", "review")):
        assert without_time(server.get(f"/api/{route}")) == without_time(shown(scratch, command)), route
    for name in ("a", "b", "c"):
        assert server.get(f"/api/tasks/{name}/explain")["causes"] == shown(scratch, "explain", name)["causes"]
    budgets = server.get("/api/budgets")
    assert budgets == shown(scratch, "budget")
    assert [row["budget"] for row in budgets["budgets"]] == ["attempt", "run"]
    health = server.get("/api/health")
    assert health["errors"] == shown(scratch, "errors")
    assert health["flaky"] == shown(scratch, "errors", "--flaky")
    examined = {row["name"]: row["text"] for row in shown(scratch, "doctor", "--no-checks")["checks"]}
    found = {row["name"]: row["text"] for row in health["findings"]}
    for name in ("interlock", "branch", "state"):
        assert found[name] == examined[name], name
    assert found["machine"].startswith("load ")
    assert health["log_bytes"] > 0
    spent = server.get("/api/cost")
    clutch = spent.pop("clutch")
    told = shown(scratch, "cost")
    del told["clutch"]
    assert without_time(spent) == without_time(told)
    assert without_time(clutch) == without_time(shown(scratch, "clutch"))


def test_a_diff_is_that_of_the_command_and_bounded(scratch: Scratch, server: Server) -> None:
    told, asked = shown(scratch, "diff", "a"), server.get("/api/tasks/a/diff")
    assert (asked["base"], asked["commit"], asked["diff"]) == (told["base"], told["commit"], told["diff"])
    assert not asked["cut"]
    part = server.get("/api/tasks/a/diff?limit=20")
    assert (part["diff"], part["cut"]) == (told["diff"][:20], True)
    refused = server.send("GET", "/api/tasks/c/diff", Authorization=f"Bearer {server.token}")
    assert (refused.status, refused.json["error"]["hint"]) == (409, "interlock explain c")


def test_any_moment_of_a_run_is_that_of_replay(scratch: Scratch, server: Server) -> None:
    last = server.get("/api/snapshot")["seq"]
    for at in (2, last // 2, last - 1, last // 3, last):
        then = server.get(f"/api/snapshot?at={at}")
        assert (then["seq"], then["frame"]["position"]) == (at, at)
        if at >= _first(server):
            told = shown(scratch, "replay", "last", "--at", str(at))
            assert then["tasks"] == told.pop("tasks"), at
            assert then["frame"] == told, at
        by_time = server.get(f"/api/snapshot?time={then['time']}")
        assert by_time["seq"] >= at
        assert by_time["time"] == then["time"]
    assert server.get("/api/snapshot?time=0")["seq"] == 1
    assert _refused(server, f"/api/snapshot?at={last + 1}") == 409
    assert _refused(server, "/api/snapshot?at=0") == 409
    assert _refused(server, "/api/timeline?run=2") == 409


def test_a_task_at_a_moment_has_what_it_had_done_by_then(scratch: Scratch, server: Server) -> None:
    phases = [phase for story in shown(scratch, "show", "a")["attempts"] for phase in story["phases"]]
    began = phases[0]["began_seq"]
    then = server.get(f"/api/tasks/a?at={began}")
    assert then["task"]["state"] == "running"
    assert [phase["outcome"] for story in then["attempts"] for phase in story["phases"]] == ["running"]
    causes = server.get(f"/api/tasks/c/explain?at={began}")["causes"]
    told = " ".join(cause["text"] for cause in causes)
    assert "fail" not in told
    assert "fail" in " ".join(cause["text"] for cause in server.get("/api/tasks/c/explain")["causes"])
    nodes = {node["id"]: node["bucket"] for node in server.get(f"/api/graph?at={began}")["nodes"]}
    assert nodes["c"] == "blocked"
    assert nodes["a"] == "working"
    assert _refused(server, "/api/tasks/a?at=1") == 404


def test_a_timeline_tells_when_each_task_was_ready_and_what_decided_the_end(
    scratch: Scratch, server: Server
) -> None:
    found = server.get("/api/timeline")
    tasks = {row["task"]: row for row in found["tasks"]}
    assert set(tasks) == {"a", "b", "c"}
    assert tasks["a"]["accepted"] == tasks["a"]["ready"] <= tasks["a"]["bars"][0]["started"]
    assert tasks["a"]["landed"] == tasks["a"]["bars"][-1]["ended"]
    assert (tasks["c"]["ready"], tasks["c"]["landed"], tasks["c"]["bars"]) == (None, None, [])
    assert tasks["c"]["needs"] == ["b"]
    assert found["critical"] == ["a"]
    told = shown(scratch, "replay", "last", "--timeline")
    assert without_time(found) == without_time(told)


def test_a_timeline_is_drawn_in_a_terminal(scratch: Scratch) -> None:
    drawn = scratch.interlock("replay", "1", "--timeline").splitlines()
    lines = {line[:1]: line[1:].strip() for line in drawn[1:4]}
    assert drawn[0].startswith("run 1, ")
    assert lines["a"].endswith("*")
    assert "=" in lines["a"]
    assert lines["b"].rstrip("!") != lines["b"]
    assert set(lines["c"]) == {"."}
    assert "agent at work" in drawn[4]


def test_the_longest_chain_of_what_is_left_decides_and_what_landed_last_before_it() -> None:
    needs = {"a": (), "b": ("a",), "c": ("b",), "d": ("a",), "e": ("d", "lost")}
    assert longest_chain(needs, {"b": 5.0, "c": 1.0, "d": 2.0, "e": 3.0}) == ("b", "c")
    assert longest_chain(needs, {"c": 1.0, "d": 2.0, "e": 3.0}) == ("d", "e")
    assert longest_chain(needs, dict.fromkeys(needs, 0.0)) in (("a", "b", "c"), ("a", "d", "e"))
    assert longest_chain({"a": ("b",), "b": ("a",)}, {"a": 1.0, "b": 1.0})
    assert longest_chain(needs, {}) == ()


def _first(server: Server) -> int:
    (run,) = server.get("/api/timeline")["runs"]
    assert isinstance(run["first"], int)
    return run["first"]


def _refused(server: Server, path: str) -> int:
    return server.send("GET", path, Authorization=f"Bearer {server.token}").status


def test_a_timeline_has_the_phases_that_show_has(scratch: Scratch, server: Server) -> None:
    found = {row["task"]: row["bars"] for row in server.get("/api/timeline")["tasks"]}
    phases = [phase for story in shown(scratch, "show", "a")["attempts"] for phase in story["phases"]]
    assert [(bar["phase"], bar["started"], bar["ended"], bar["outcome"]) for bar in found["a"]] == [
        (phase["phase"], phase["started"], phase["ended"], phase["outcome"]) for phase in phases
    ]
    kinds = [mark["kind"] for mark in server.get("/api/timeline")["marks"]]
    assert kinds[0] == "RunStarted"
    assert {"Landed", "TaskFailed", "RunEnded"} <= set(kinds)


def test_a_log_is_read_in_parts(scratch: Scratch, server: Server) -> None:
    whole = (scratch.root / ".git/interlock/logs/a/1.log").read_text()
    text, offset = "", 0
    while offset < len(whole):
        part = server.get(f"/api/tasks/a/log?offset={offset}&limit=40")
        assert (part["offset"], part["size"], part["at_work"]) == (offset, len(whole), False)
        text, offset = text + part["text"], part["next"]
    assert text == whole
    assert server.get(f"/api/tasks/a/log?offset={offset}")["text"] == ""
    assert whole.endswith(server.get("/api/tasks/a/log?offset=-30")["text"])
    assert "Make a" in server.get("/api/tasks/a/log?form=prompt")["text"]
    assert _refused(server, "/api/tasks/a/log?attempt=7") == 409
    assert _refused(server, "/api/tasks/a/log?limit=100000000") == 422


def test_only_files_that_the_task_names_are_read(scratch: Scratch, server: Server) -> None:
    for name in ("/etc/passwd", "../../../../etc/passwd", str(scratch.root / ".git/interlock/web/key")):
        assert _refused(server, f"/api/tasks/a/log?file={name}") == 404
    named = server.get("/api/tasks/a")["attempts"][0]["phases"][0]["log"]
    assert "working on a" in server.get(f"/api/tasks/a/log?file={named}")["text"]


def test_facts_are_read_after_a_position(scratch: Scratch, server: Server) -> None:
    found = server.get("/api/events?after=3&limit=2")
    lines = [json.loads(line) for line in scratch.interlock("events", "--since", "3", "--json").splitlines()]
    assert [{name: fact[name] for name in ("seq", "kind", "fact", "hash")} for fact in found["events"]] == [
        {name: line[name] for name in ("seq", "kind", "fact", "hash")} for line in lines[:2]
    ]
    assert found["head"] == 3 + len(lines)


def test_the_plan_is_laid_out_in_layers(server: Server) -> None:
    nodes = {node["id"]: node for node in server.get("/api/graph")["nodes"]}
    assert {name: node["layer"] for name, node in nodes.items()} == {"a": 0, "b": 0, "c": 1}
    assert nodes["c"]["needs"] == ["b"]


def test_a_layout_keeps_each_task_below_its_needs_and_uncrosses_two_chains() -> None:
    needs = {"a": (), "b": (), "y": ("b",), "x": ("a",), "w": ("y",), "v": ("x", "lost")}
    found = layout(needs)
    assert all(
        found[name][0] > found[need][0] for name, all_ in needs.items() for need in all_ if need in needs
    )
    assert [found[name][1] for name in ("a", "x", "v")] in ([0, 0, 0], [1, 1, 1])
    chain = {f"t{number}": (f"t{number - 1}",) if number else () for number in range(5_000)}
    assert max(layer for layer, _ in layout(chain).values()) == 4_999
    assert len(layout({"a": ("b",), "b": ("a",)})) == 2


def test_a_terminal_shows_the_output_as_it_comes_and_ends_with_the_attempt(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.start("a")
    path = lab.root / ".git/interlock/logs/a/1.log"
    path.parent.mkdir(parents=True)
    path.write_text("one \x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J\n")
    with serving(lab.root) as server, closing(Page(server, "/api/tasks/a/terminal")) as page:
        assert page.text() == "one \x1b[31mred\x1b[0m \r\n"
        with path.open("a") as file:
            file.write("two\n")
        assert page.text() == "two\r\n"
        assert lab.run("reset", "a").code == 0
        assert page.text() is None


class Page:
    """A WebSocket, as far as this test needs one."""

    def __init__(self, server: Server, path: str) -> None:
        host, _, port = server.place.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: {server.place}",
            f"Authorization: Bearer {server.token}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        )
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        self._file = self._socket.makefile("rb")
        assert b" 101 " in self._file.readline()
        while self._file.readline().strip():
            pass

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def text(self) -> str | None:
        """The next text; None when the server closes."""
        first, length = self._file.read(2)
        if length == 126:
            (length,) = struct.unpack(">H", self._file.read(2))
        data = self._file.read(length)
        return None if first & 0x0F == 8 else data.decode()


def test_a_server_of_two_projects_keeps_them_apart(lab: Lab, tmp_path: Any) -> None:
    other = Scratch(tmp_path / "other")
    other.graph("  z: {goal: Make z}\n")
    lab.accept(task("a"))
    lab.fail("a", "boom")
    with serving(lab.root, "--project", str(lab.root), "--project", str(other.root)) as server:
        assert [row["name"] for row in server.get("/api/projects")["projects"]] == ["shop", "other"]
        assert [row["id"] for row in server.get("/api/snapshot")["tasks"]] == ["a"]
        assert server.get("/api/snapshot?project=other")["tasks"] == []
        assert server.post("/api/actions/pause?project=other").json["cli"] == "interlock pause"
        assert server.get("/api/snapshot?project=other")["frame"]["paused"] is True
        assert server.get("/api/snapshot")["frame"]["paused"] is False
        assert _refused(server, "/api/snapshot?project=third") == 404
        assert server.post("/api/actions/retry?project=other", tasks=["a"]).status == 409


def test_a_change_in_review_is_rejected_from_the_browser(lab: Lab) -> None:
    """The whole way is in tests/engine/test_reviews.py; here: the route reaches the action."""
    lab.accept(task("a"))
    with serving(lab.root) as server:
        for name, body in (
            ("approve", {"tasks": ["a"]}),
            ("reject", {"task": "a", "note": "no"}),
            ("comment", {"task": "a", "path": "x.py", "text": "why?"}),
        ):
            answer = server.post(f"/api/actions/{name}", **body)
            assert (answer.status, answer.json["error"]["message"]) == (409, "a does not wait for review")

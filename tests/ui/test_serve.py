"""`interlock serve`: the project as JSON, its changes as they come, and actions like the commands (A23)."""

import json
from pathlib import Path

import pytest

from interlock.events.facts import Paused, QuestionAsked, RunStarted, TaskProposed, TaskRetried
from scripts.openapi import FILE, text
from tests.ui.conftest import Lab, task
from tests.ui.serving import Server, serving

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_a_snapshot_holds_what_the_commands_show(lab: Lab) -> None:
    lab.accept(task("a"), task("b", "a"))
    lab.fail("a", "the disk is full")
    with serving(lab.root) as server:
        found = server.get("/api/snapshot")
        status = lab.run("status", "--json").json
        assert {row["id"]: row["bucket"] for row in found["tasks"]} == {"a": "failed", "b": "blocked"}
        assert found["frame"]["buckets"] == status["buckets"]
        assert (found["seq"], found["frame"]["counts"]) == (status["position"], status["counts"])
        by_id = {row["id"]: row for row in found["tasks"]}
        assert [by_id[row["id"]] for row in status["tasks"]] == status["tasks"]
        assert found["inbox"] == lab.run("inbox", "--json").json["items"]
        queue = lab.run("queue", "--json").json
        assert found["queue"] | {"time": 0} == queue | {"time": 0}
        assert server.get("/api/inbox")["items"] == found["inbox"]


def test_a_task_is_shown_as_show_does(lab: Lab) -> None:
    lab.accept(task("alpha"))
    lab.land("alpha", "d" * 40)
    with serving(lab.root) as server:
        found, shown = server.get("/api/tasks/al"), lab.run("show", "alpha", "--json").json
        assert found == shown
        assert server.send("GET", "/api/tasks/x", Authorization=f"Bearer {server.token}").status == 404


def test_the_stream_tells_only_what_changed(lab: Lab) -> None:
    lab.accept(*(task(f"t{number}") for number in range(20)))
    with serving(lab.root) as server:
        first = server.get("/api/snapshot")
        with server.stream(first["cursor"]) as stream:
            lab.write(Paused(None, "lunch"))
            event = stream.next("change")
            assert event.data["after"] == first["cursor"]
            assert event.data["frame"]["pause_why"] == "lunch"
            lab.run("pause", "t7")
            while not (rows := stream.next("change").data["tasks"]):
                pass
            assert [(row["id"], row["bucket"]) for row in rows] == [("t7", "needs_you")]


def test_a_stream_goes_on_where_it_was_cut_off(lab: Lab) -> None:
    lab.accept(task("a"), task("b"))
    with serving(lab.root) as server:
        cursor = server.get("/api/snapshot")["cursor"]
        lab.run("pause", "a")
        lab.run("pause", "b")
        with server.stream(cursor) as stream:
            seen = {row["id"] for row in stream.next("change").data["tasks"]}
            while seen != {"a", "b"}:
                seen |= {row["id"] for row in stream.next("change").data["tasks"]}


def test_after_a_restart_a_stream_asks_for_a_new_snapshot_and_the_session_goes_on(lab: Lab) -> None:
    lab.accept(task("a"))
    with serving(lab.root) as server:
        cursor = server.get("/api/snapshot")["cursor"]
        cookie = _cookie(server)
        server.process.kill()
    with serving(lab.root) as again:
        assert again.url == server.url
        with again.stream(cursor) as stream:
            assert stream.next().name == "resnapshot"
        with again.stream("nonsense") as stream:
            assert stream.next().name == "resnapshot"
        answer = again.send("GET", "/api/snapshot", Cookie=cookie, Sec_Fetch_Site="same-origin")
        assert [row["id"] for row in answer.json["tasks"]] == ["a"]


def _cookie(server: Server) -> str:
    answer = server.send("POST", "/api/session", {"token": server.token}, Origin=server.url)
    assert answer.status == 200
    said = answer.headers["Set-Cookie"]
    assert "HttpOnly" in said and "SameSite=Strict" in said
    return said.partition(";")[0]


def test_an_action_writes_the_fact_of_its_command_and_names_the_command(lab: Lab) -> None:
    lab.accept(task("a"), task("b"))
    lab.fail("a", "boom")
    lab.fail("b", "boom")
    with serving(lab.root) as server:
        lab.run("retry", "b", "-m", "use the new table")
        by_command = lab.facts()[-1]
        answer = server.post("/api/actions/retry", tasks=["a"], why="use the new table")
        assert answer.status == 200
        assert answer.json["cli"] == "interlock retry a -m 'use the new table'"
        assert isinstance(by_command, TaskRetried)
        assert lab.facts()[-1] == TaskRetried("a", by_command.note)  # type: ignore[arg-type]  # a name
        assert answer.json["seq"] == len(lab.facts())
        refused = server.post("/api/actions/retry", tasks=["a"])
        assert (refused.status, refused.json["error"]["hint"]) == (409, "interlock show a")


def test_a_question_is_answered_from_the_browser(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    epoch = lab.start("a").epoch
    lab.write(QuestionAsked("a", 1, "implement", epoch, text="which table?"))  # type: ignore[arg-type]  # a name
    with serving(lab.root) as server:
        (item,) = server.get("/api/inbox")["items"]
        assert (item["kind"], item["next"][0]) == ("question", 'interlock answer a "..."')
        assert server.post("/api/actions/answer", task="a", text="the new one").status == 200
        assert server.get("/api/inbox")["items"] == []


def test_a_proposed_task_is_declined_from_the_browser(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    epoch = lab.start("a").epoch
    lab.write(TaskProposed("a", 1, "implement", epoch, id="b", goal="More"))  # type: ignore[arg-type]  # a name
    with serving(lab.root) as server:
        (item,) = server.get("/api/inbox")["items"]
        assert (item["kind"], item["next"][0]) == ("proposal", "interlock accept a/b")
        answer = server.post("/api/actions/accept", proposal="a/b", decline=True)
        assert (answer.status, answer.json["cli"]) == (200, "interlock accept --decline a/b")
        assert server.get("/api/inbox")["items"] == []


def test_the_dashboards_types_are_those_of_the_routes() -> None:
    assert FILE.read_text() == text(), "run `make openapi`"
    assert json.loads(text())["openapi"] == "3.1.0"

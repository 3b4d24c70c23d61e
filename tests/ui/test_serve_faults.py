"""Requests that come twice, a log that cannot be read, and a session that ends while its page is open."""

import sqlite3
import time
from contextlib import closing

import pytest

from interlock.events.facts import MessageSaid, Paused
from interlock.ui.web.keys import SESSION_SECONDS, load_keys
from interlock.ui.web.scopes import Scope
from tests.ui.conftest import Lab, task
from tests.ui.serving import Answer, Server, serving

pytestmark = pytest.mark.slow


def say(server: Server, text: str, key: str) -> Answer:
    right = {"Authorization": f"Bearer {server.token}", "Idempotency_Key": key}
    return server.send("POST", "/api/actions/say", {"task": "a", "text": text}, **right)


def said(lab: Lab) -> list[str]:
    return [fact.text for fact in lab.facts() if isinstance(fact, MessageSaid)]


def test_an_action_with_the_same_key_is_done_once_and_answered_alike(lab: Lab) -> None:
    lab.accept(task("a"))
    with serving(lab.root) as server:
        first, again = say(server, "hello", "k1"), say(server, "hello", "k1")
        assert (first.status, again.json) == (200, first.json)
        other = say(server, "something else", "k1")
        assert (other.status, other.json["error"]["hint"]) == (409, "use a new key for each action")
        assert say(server, "hello", "k2").status == 200
        assert say(server, "hello", "k" * 201).status == 422
        server.process.kill()
        server.process.wait()
    with serving(lab.root) as server:
        assert say(server, "hello", "k1").json == first.json
    assert said(lab) == ["hello", "hello"]


def test_an_action_that_was_refused_may_come_again_with_its_key(lab: Lab) -> None:
    with serving(lab.root) as server:
        assert say(server, "hello", "k").status != 200
        lab.accept(task("a"))
        assert say(server, "hello", "k").status == 200
    assert said(lab) == ["hello"]


def test_an_action_during_which_the_server_was_killed_is_not_done_again(lab: Lab) -> None:
    lab.accept(task("a"))
    file = lab.root / ".git/interlock/web/actions.jsonl"
    with serving(lab.root) as server:
        assert say(server, "hello", "k").status == 200
        server.process.kill()
        server.process.wait()
    file.write_bytes(file.read_bytes().splitlines(keepends=True)[0] + b'{"key":"k","asked":"cut o')
    with serving(lab.root) as server:
        answer = say(server, "hello", "k")
        assert (answer.status, "ended while it did this" in answer.json["error"]["message"]) == (409, True)
        assert say(server, "hello", "k2").status == 200
    assert said(lab) == ["hello", "hello"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_log_that_cannot_be_read_is_told_and_read_again(lab: Lab) -> None:
    lab.accept(task("a"))
    with serving(lab.root) as server, server.stream(server.get("/api/snapshot")["cursor"]) as stream:
        rename(lab.log, "facts", "away")
        event = stream.next("alive")
        while not (event.data["problem"] and event.data["stale_seconds"] > 0):
            event = stream.next("alive")
        assert "log.db" in event.data["problem"]
        rename(lab.log, "away", "facts")
        lab.write(Paused(None, "lunch"))
        change = stream.next("change")
        assert change.data["frame"]["pause_why"] == "lunch"
        assert stream.next("alive").data["problem"] == ""


def rename(log: str, name: str, to: str) -> None:
    """Make the table of facts be away, as a database is that is being moved."""
    with closing(sqlite3.connect(log, timeout=60)) as database:
        database.execute(f"ALTER TABLE {name} RENAME TO {to}")


@pytest.mark.parametrize("path", ["/api/stream", "/api/tasks/a/terminal"])
def test_a_stream_ends_with_the_session_of_its_page(path: str, lab: Lab) -> None:
    lab.accept(task("a"))
    lab.start("a")
    log = lab.root / ".git/interlock/logs/a/1.log"
    log.parent.mkdir(parents=True)
    log.write_text("hello\n")
    keys = load_keys(lab.root / ".git/interlock")
    with serving(lab.root) as server:
        cursor = server.get("/api/snapshot")["cursor"]
        short = keys.session(Scope.READ, time.time() - SESSION_SECONDS + 3)
        headers = {"Cookie": f"{keys.cookie_name}={short}", "Sec_Fetch_Site": "same-origin"}
        is_terminal = path.endswith("terminal")
        if is_terminal:
            headers |= WEBSOCKET
        with server.asking("GET", path, Last_Event_ID=cursor, **headers) as response:
            assert response.status in (101, 200)
            source = response.fp if is_terminal else response
            while source.read(1):  # until the server ends it
                pass
        assert server.send("GET", "/api/snapshot", **headers).status == 401


WEBSOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}

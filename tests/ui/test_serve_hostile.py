"""What agents and strangers write comes out of the API inert, and requests have limits (S5, B13)."""

import socket
import time
from contextlib import suppress
from pathlib import Path

import pytest

from interlock.events.facts import Paused, PhaseFailed, QuestionAsked, RunStarted, TaskFailed
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import said
from interlock.model.task import TaskId
from interlock.ui.cli.show import diff_line
from interlock.ui.plain import CONTROL
from interlock.ui.web.connections import FIRST_REQUEST_SECONDS, MOST_CONNECTIONS
from interlock.ui.web.listening import BACKLOG
from interlock.ui.web.routes import ROUTES
from interlock.ui.web.scopes import Scope
from tests.ui.conftest import Lab, git, task
from tests.ui.serving import PATIENCE_SECONDS, Server, serving

pytestmark = pytest.mark.slow

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a>",
    "[x](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "<style>@import 'https://evil.example/x.css'</style>",
    "<link rel=stylesheet href=//evil.example>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><button>x</button></form>",
    "<!--<img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    '"><script>alert(1)</script>',
    "' onmouseover='alert(1)",
    "{{constructor.constructor('alert(1)')()}}",
    "${alert(1)}",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    '\x1bP$q"p\x1b\\',
    "\x9b31m",
    "\x07\x08\x0c",
    "\r\nSet-Cookie: a=b",
    "\r\n\r\n<html>",
    "\u202egnp.exe",
    "\u2066hidden\u2069",
    "\u200bzero\u200dwidth",
    "\ufeffmark",
    "\x00nul",
    "\u2028line\u2029paragraph",
    "data: x\n\nevent: resnapshot\ndata: {}",
    "&lt;script&gt;",
    "%3Cscript%3E",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
)
ALL = "\n".join(HOSTILE)


def fill(lab: Lab) -> None:
    """Put them wherever a text of others is shown."""
    lab.accept(task("a", story=ALL), task("b"), task("c"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    key, epoch = TaskId("a"), lab.start("a").epoch
    check = CheckResult(f"make {ALL}", 1, 1.0, tail=ALL)
    lab.write(
        Paused(None, ALL),
        PhaseFailed(
            key, 1, "implement", epoch, ErrorClass.EXIT, said(ALL), ALL, feedback=ALL, checks=(check,)
        ),
        TaskFailed(key, 1, said(ALL)),
    )
    epoch = lab.start("b").epoch
    lab.write(QuestionAsked(TaskId("b"), 1, "implement", epoch, text=ALL, message=ALL))
    logs = lab.root / ".git/interlock/logs/a"
    logs.mkdir(parents=True)
    for name in ("1.log", "1.events.jsonl", "1.prompt.md", "1.model.jsonl"):
        (logs / name).write_bytes(ALL.encode() + b"\xff\xfe\n")


def paths() -> list[str]:
    """Each route that shows something, for the tasks with hostile texts."""
    shown = [route.path for route in ROUTES if route.method == "GET" and route.scope is not Scope.OPEN]
    found = [path.replace("{id}", name) for path in shown if path != "/api/stream" for name in "ab"]
    forms = ("raw", "events", "calls", "prompt")
    return [*dict.fromkeys(found), *(f"/api/tasks/a/log?form={form}" for form in forms), "/api/snapshot?at=9"]


def test_every_text_comes_out_inert(lab: Lab) -> None:
    assert len(HOSTILE) == 40
    fill(lab)
    with serving(lab.root) as server:
        seen = b""
        for path in paths():
            answer = server.send("GET", path, Authorization=f"Bearer {server.token}")
            assert answer.status in (200, 409, 426), (path, answer.body)
            assert answer.headers["Content-Type"].startswith(("application/json", "text/plain")), path
            assert not set(answer.body) & set(b"<>&"), path
            assert "Set-Cookie" not in answer.headers
            if answer.headers["Content-Type"].startswith("application/json"):
                assert [text for text in texts(answer.json) if CONTROL.search(text)] == [], path
            seen += answer.body
        assert b"javascript:alert(1)" in seen, "the texts are there, as texts"
        with server.stream(server.get("/api/snapshot")["cursor"]) as stream:
            lab.write(Paused(None, f"again {ALL}"))
            event = stream.next()
            while not event.data.get("frame", {}).get("pause_why", "").startswith("again"):
                assert event.name in ("change", "alive")
                event = stream.next()


def texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in texts(part)]
    return [text for each in value for text in texts(each)] if isinstance(value, list) else []


def test_a_hostile_change_is_shown_as_text(lab: Lab) -> None:
    lab.accept(task("a"))
    base = git(lab.root, "rev-parse", "HEAD")
    (lab.root / "x.html").write_text(ALL.replace("\x00", ""))  # else git calls it binary
    git(lab.root, "add", "x.html")
    git(lab.root, "commit", "-qm", "hostile")
    lab.land("a", git(lab.root, "rev-parse", "HEAD"), base)
    with serving(lab.root) as server:
        answer = server.send("GET", "/api/tasks/a/diff", Authorization=f"Bearer {server.token}")
        assert answer.status == 200
        assert not set(answer.body) & set(b"<>&")
        assert not CONTROL.search(answer.json["diff"])
        assert "<U+202E>gnp.exe" in answer.json["diff"]
    line = diff_line(" \u202egnp.exe\x1b[2J\r")
    assert "<U+202E>gnp.exe<U+001B>[2J" in line, "what turns the direction of a line is shown, not left out"
    assert not CONTROL.search(line)


def test_a_log_whose_name_is_no_name_of_a_file_is_refused(lab: Lab) -> None:
    lab.accept(task("a"))
    epoch = lab.start("a").epoch
    why = (ErrorClass.EXIT, said("x"), "f")
    lab.write(PhaseFailed(TaskId("a"), 1, "implement", epoch, *why, log="logs/a\x00b"))
    with serving(lab.root) as server:
        answer = server.send("GET", "/api/tasks/a/log", Authorization=f"Bearer {server.token}")
        assert (answer.status, answer.json["error"]["code"]) == (409, "usage")


def test_requests_that_are_wrong_or_too_large_are_refused(lab: Lab) -> None:
    lab.accept(task("a"))
    before = len(lab.facts())
    with serving(lab.root) as server:
        right = {"Authorization": f"Bearer {server.token}"}
        bodies: tuple[tuple[object, int], ...] = (
            (b"x" * 300_000, 413),
            (b"{", 422),
            (b"[]", 422),
            (b'{"tasks": "a"}', 422),
            (b'{"tasks": []}', 422),
            (b'{"tasks": ["a"], "more": 1}', 422),
            (b'{"tasks": ["a"], "why": "%s"}' % (b"x" * 5_000), 422),
            (b"[" * 100_000, 422),
            (b'{"tasks": ["\xff"]}', 422),
        )
        for body, status in bodies:
            answer = server.send("POST", "/api/actions/cancel", body, **right)
            assert answer.status == status, body
            assert answer.json["error"]["code"]
        plain = server.send(
            "POST", "/api/actions/cancel", b'{"tasks": ["a"]}', Content_Type="text/plain", **right
        )
        assert plain.status == 422, "a page of another server may send text without asking"
        assert server.send("GET", f"/api/tasks/{'a' * 6_000}", **right).status in (400, 422)
        assert server.send("GET", "/api/events?limit=100000", **right).status == 422
        assert server.send("PUT", "/api/snapshot", **right).status == 405
    assert len(lab.facts()) == before


def test_idle_connections_of_strangers_make_room_for_others(lab: Lab) -> None:
    lab.accept(task("a"))
    with serving(lab.root) as server, server.stream(server.get("/api/snapshot")["cursor"]) as stream:
        idle = [_connected(server) for _ in range(MOST_CONNECTIONS + BACKLOG)]
        try:
            began = time.monotonic()
            answer = server.send("GET", "/api/inbox", Authorization=f"Bearer {server.token}")
            assert answer.status == 200
            assert time.monotonic() - began < FIRST_REQUEST_SECONDS, "before any of them is ended for silence"
            assert _is_closed(idle[0])
            lab.write(Paused(None, "lunch"))
            assert stream.next("change").data["frame"]["pause_why"] == "lunch", "a page keeps its connection"
        finally:
            for each in idle:
                each.close()


def test_slow_clients_are_ended(lab: Lab) -> None:
    """One that sends nothing, one whose headers never end, one whose body never comes."""
    lab.accept(task("a"))
    right = "Authorization: Bearer {}\r\nHost: {}\r\n"
    with serving(lab.root) as server:
        head = "POST /api/actions/say HTTP/1.1\r\n" + right.format(server.token, server.place)
        silent, drip, body = (_connected(server, b"") for _ in range(3))
        drip.sendall(head.encode())
        body.sendall((head + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{").encode())
        body.settimeout(PATIENCE_SECONDS)
        drip.settimeout(0.2)
        until = time.monotonic() + PATIENCE_SECONDS
        with suppress(ConnectionError):
            while time.monotonic() < until:
                drip.sendall(b"X")
                with suppress(TimeoutError):
                    if drip.recv(1) == b"":
                        break
        assert time.monotonic() < until
        silent.settimeout(PATIENCE_SECONDS)
        assert _is_closed(silent)
        assert b" 408 " in body.recv(4096)
        for each in (silent, drip, body):
            each.close()


def test_a_client_that_takes_no_answer_does_not_keep_its_connection_when_others_come(lab: Lab) -> None:
    lab.accept(task("a"))
    with serving(lab.root) as server:
        ask = f"GET / HTTP/1.1\r\nAccept: text/html\r\nHost: {server.place}\r\n\r\n".encode()
        stuck = [_connected(server, b"") for _ in range(MOST_CONNECTIONS)]
        try:
            for each in stuck:
                each.sendall(ask * 200)
            assert server.send("GET", "/api/inbox", Authorization=f"Bearer {server.token}").status == 200
        finally:
            for each in stuck:
                each.close()


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_a_path_with_a_character_that_no_file_has_is_not_found(lab: Lab) -> None:
    with serving(lab.root) as server:
        for path in (
            "/%00",
            "/assets/%00.js",
            "/tasks/%00",
            f"/{'a' * 300}.js",
            "/%ff%fe.js",
            "/%ed%a0%80.js",
        ):
            status = server.send("GET", path, Accept="text/html").status
            assert status in (200, 400, 404), (path, status)
        right = {"Authorization": f"Bearer {server.token}"}
        for path in ("/api/tasks/%00", "/api/tasks/%ff/log", "/api/tasks/a/log?file=%00"):
            assert server.send("GET", path, **right).status in (400, 404, 422), path


def _connected(server: Server, first: bytes = b"GET / HTTP/1.1\r\nHost: ") -> socket.socket:
    host, _, port = server.place.rpartition(":")
    found = socket.create_connection((host, int(port)), timeout=60)
    with suppress(ConnectionError):
        found.sendall(first)
    return found


def test_a_page_that_was_built_is_served_with_its_files_and_no_other(lab: Lab) -> None:
    static = Path(__file__).resolve().parents[2] / "src/interlock/ui/web/static"
    with serving(lab.root) as server:
        page = server.send("GET", "/tasks/a", Accept="text/html")
        first = server.send("GET", "/", Accept="text/html")
        if (static / "index.html").exists():
            assert page.body == first.body == (static / "index.html").read_bytes()
            assert b"<script>" not in first.body
        else:
            assert (first.status, b"make dashboard" in first.body, page.status) == (200, True, 404)
        assert b"interlock ui --print-url" in server.send("GET", "/", Accept="*/*").body

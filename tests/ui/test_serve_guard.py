"""Each route with wrong credentials. The routes are those of the table, so none is forgotten (S4)."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.events.facts import PhaseFailed, RunStarted, WorkFinished
from interlock.model.claim import task_resource
from interlock.model.outcome import CheckResult, ErrorClass
from interlock.model.reason import said
from interlock.model.task import Commit, TaskId
from interlock.run.attempt_token import attempt_token, project_secret
from interlock.ui.web.keys import load_keys
from interlock.ui.web.route import Route
from interlock.ui.web.routes import ROUTES
from interlock.ui.web.scopes import Scope
from interlock.ui.web.site import MOST_OF_AGENTS
from tests.ui.conftest import Lab, git, task
from tests.ui.serving import Answer, Server, serving
from tests.ui.test_serve_faults import WEBSOCKET

pytestmark = pytest.mark.slow

GUARDED = [route for route in ROUTES if route.scope is not Scope.OPEN]
SECRET = "a-goal-that-only-this-project-has"  # noqa: S105 - a text that a page would show


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two repositories of a person."""
    folder = tmp_path_factory.mktemp("two")
    found = [folder / "one", folder / "two"]
    for root in found:
        root.mkdir()
        git(root, "init", "-q", "-b", "main")
        git(root, "commit", "-q", "--allow-empty", "-m", SECRET)
    return found


@pytest.fixture(scope="module")
def server(projects: list[Path]) -> Iterator[Server]:
    """The first one, with the agents of two tasks at work."""
    with pytest.MonkeyPatch.context() as patch, capsys_is_not_needed() as nothing:
        patch.setenv("HOME", str(projects[0].parent))
        lab = Lab(projects[0], nothing)
        lab.accept(task("t"), task("tt"))
        lab.take_charge(RunStarted("r", "h", 1, 3), seconds=3600)
        lab.start("t")
        lab.start("tt")
        with serving(projects[0]) as found:
            yield found


@contextmanager
def capsys_is_not_needed() -> Iterator[Any]:  # Any: `Lab.run` alone uses it
    yield None


def ask(server: Server, route: Route, **headers: str) -> Answer:
    path = route.path.replace("{id}", "t")
    return server.send(route.method, path, {} if route.method == "POST" else None, **headers)


def names(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", GUARDED, ids=names)
def test_without_a_right_token_nothing_is_answered(
    route: Route, server: Server, projects: list[Path]
) -> None:
    other = load_keys(projects[1] / ".git/interlock")
    mine = load_keys(projects[0] / ".git/interlock")
    page = {"Origin": server.url}
    cookies = {
        "of another project": other.session(Scope.DECIDE, time.time()),
        "too old": mine.session(Scope.DECIDE, time.time() - 10 * 365 * 24 * 3600),
        "with more rights than were given": mine.session(Scope.READ, time.time()).replace("read", "decide"),
    }
    answers = {
        "no token": ask(server, route),
        "no token, from its page": ask(server, route, **page),
        "wrong token": ask(server, route, Authorization=f"Bearer {server.token[:-1]}x"),
        "empty token": ask(server, route, Authorization="Bearer "),
        "another kind": ask(server, route, Authorization=f"Basic {server.token}"),
        "other project's token": ask(server, route, Authorization=f"Bearer {other.token(Scope.DECIDE)}"),
        "token as a cookie": ask(server, route, Cookie=f"{mine.cookie_name}={server.token}", **page),
        **{
            f"cookie {how}": ask(server, route, Cookie=f"{mine.cookie_name}={value}", **page)
            for how, value in cookies.items()
        },
    }
    assert {how: answer.status for how, answer in answers.items()} == dict.fromkeys(answers, 401)
    assert not any(SECRET.encode() in answer.body for answer in answers.values())


@pytest.mark.parametrize("route", ROUTES, ids=names)
def test_a_right_token_is_no_use_under_another_name_or_from_another_page(
    route: Route, server: Server
) -> None:
    right = {"Authorization": f"Bearer {server.token}"}
    port = server.place.rpartition(":")[2]
    hosts = (
        "evil.example",
        f"evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        "localhost",
        "[::1]:1",
        "",
    )
    origins = (
        "https://evil.example",
        "null",
        f"http://localhost.evil.example:{port}",
        f"https://{server.place}",
        f"http://{server.place}.evil.example",
        "http://127.0.0.1:1",
        "",
    )
    statuses = [ask(server, route, Host=host, **right).status for host in hosts]
    statuses += [ask(server, route, Origin=origin, **right).status for origin in origins]
    assert statuses == [403] * len(statuses)


@pytest.mark.parametrize("route", GUARDED, ids=names)
def test_a_cookie_counts_only_for_a_page_of_the_server(
    route: Route, server: Server, projects: list[Path]
) -> None:
    keys = load_keys(projects[0] / ".git/interlock")
    cookie = f"{keys.cookie_name}={keys.session(Scope.DECIDE, time.time())}"
    for sent in (
        {},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ):
        assert ask(server, route, Cookie=cookie, **sent).status == 403


@pytest.mark.parametrize("route", GUARDED, ids=names)
def test_a_token_with_fewer_rights_does_only_what_it_may(
    route: Route, server: Server, projects: list[Path]
) -> None:
    keys = load_keys(projects[0] / ".git/interlock")
    for scope in (Scope.READ, Scope.ACT):
        if scope < route.scope:
            assert ask(server, route, Authorization=f"Bearer {keys.token(scope)}").status == 403


def own_token(projects: list[Path], task: str, attempt: int = 1) -> str:
    return attempt_token(project_secret(projects[0] / ".git/interlock"), task, attempt)


@pytest.mark.parametrize("route", GUARDED, ids=names)
def test_an_agent_reaches_its_own_attempt_and_nothing_else(
    route: Route, server: Server, projects: list[Path]
) -> None:
    mine = {"Authorization": f"Bearer {own_token(projects, 't')}"}
    others = {"Authorization": f"Bearer {own_token(projects, 'tt')}"}
    is_own = route.scope is Scope.OWN
    assert (ask(server, route, **mine).status in (200, 409, 426)) == is_own
    assert ask(server, route, **others).status == 403
    if is_own:
        for path in ("/api/tasks/tt", f"{route.path}?project=two".replace("{id}", "t")):
            assert server.send("GET", path, **mine).status == 403
    for over in (own_token(projects, "t", 2), own_token(projects, "u")):
        assert ask(server, route, Authorization=f"Bearer {over}").status == 401


def test_an_agent_reads_no_other_attempt_of_its_task(server: Server, projects: list[Path]) -> None:
    mine = {"Authorization": f"Bearer {own_token(projects, 't')}"}
    statuses = [server.send("GET", f"/api/tasks/t/log?attempt={number}", **mine).status for number in (1, 2)]
    assert statuses == [200, 403]


def test_an_agent_gets_nothing_that_an_earlier_attempt_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its logs, its change, its questions: only those of the attempt that the token is of."""
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    base = git(root, "rev-parse", "HEAD")
    (root / "secret.txt").write_text(SECRET)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the first attempt")
    made = git(root, "rev-parse", "HEAD")
    with capsys_is_not_needed() as nothing:
        lab = Lab(root, nothing)
    lab.accept(task("t"))
    lab.take_charge(RunStarted("r", "h", 1, 3), seconds=3600)
    first = root / ".git/interlock/logs/t/1.log"
    first.parent.mkdir(parents=True)
    (first.parent / "2.log").write_text("mine\n")
    first.write_text(SECRET)
    epoch, key = lab.start("t").epoch, TaskId("t")
    check = CheckResult("make", 1, 1.0, log=str(first), tail=SECRET)
    lab.write(
        WorkFinished(
            key, 1, "implement", epoch, base=Commit(base), commit=Commit(made), touched=("a",), log=str(first)
        )
    )
    lab.release(task_resource("t"))
    epoch = lab.start("t", phase="verify").epoch
    lab.write(
        PhaseFailed(key, 1, "verify", epoch, ErrorClass.CHECK, said(SECRET), feedback=SECRET, checks=(check,))
    )
    lab.release(task_resource("t"))
    lab.start("t", attempt=2)
    paths = ("", "/log", f"/log?file={first}", "/log?form=prompt", "/diff", "/diff?attempt=2")
    with serving(root) as server:
        mine = {"Authorization": f"Bearer {own_token([root], 't', 2)}"}
        answers = {path: server.send("GET", f"/api/tasks/t{path}", **mine) for path in paths}
        person = server.get("/api/tasks/t")
        assert server.get(f"/api/tasks/t/log?file={first}")["text"] == SECRET, "a person reads it"
    assert [each["attempt"] for each in answers[""].json["attempts"]] == [2]
    assert [each["attempt"] for each in person["attempts"]] == [1, 2]
    assert answers["/log"].json["text"] == "mine\n"
    found = [path for path, answer in answers.items() if SECRET.encode() in answer.body]
    assert found == []


def test_agents_leave_streams_for_people(server: Server, projects: list[Path]) -> None:
    mine = {"Authorization": f"Bearer {own_token(projects, 't')}", **WEBSOCKET}
    with ExitStack() as opened:
        for _ in range(MOST_OF_AGENTS):
            assert opened.enter_context(server.asking("GET", "/api/tasks/t/terminal", **mine)).status == 101
        with server.asking("GET", "/api/tasks/t/terminal", **mine) as one_more:
            assert one_more.status == 503
        opened.enter_context(server.stream(server.get("/api/snapshot")["cursor"]))


def test_each_answer_tells_the_browser_to_keep_to_this_server(server: Server) -> None:
    answers = [
        server.send("GET", "/", Accept="text/html"),
        server.send("GET", "/api/snapshot"),
        server.send("GET", "/api/nothing"),
        server.send("POST", "/"),
        server.send("OPTIONS", "/api/snapshot", Origin="https://evil.example"),
        server.send("GET", "/api/snapshot", Authorization=f"Bearer {server.token}"),
    ]
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert not any(name.startswith("Access-Control") for name in answer.headers)


def test_only_the_owner_can_read_the_secret(server: Server, projects: list[Path]) -> None:
    folder = projects[0] / ".git/interlock/web"
    assert folder.stat().st_mode & 0o077 == 0
    assert [path.name for path in folder.iterdir() if path.stat().st_mode & 0o077] == []
    assert server.token not in (folder / "server.json").read_text()


def test_no_name_leads_out_of_the_folder_of_pages(server: Server) -> None:
    for path in (
        "/../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/assets/../../server.py",
        "//etc/passwd",
    ):
        answer = server.send("GET", path)
        assert (answer.status, b"import" in answer.body) == (404, False), path

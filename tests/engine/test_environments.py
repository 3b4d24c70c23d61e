"""Databases, services and teardown of attempts, through the real command (A5, D6)."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

WORK = """\
import os, pathlib, psycopg

url = os.environ["DATABASE_URL"]
with psycopg.connect(url, autocommit=True) as database:
    name = database.info.dbname
    database.execute("ALTER TABLE shop.items ADD COLUMN price int; DROP FUNCTION shop.tax()")
    database.execute("INSERT INTO shop.items (name) VALUES (%s)", [name])
task = os.environ["INTERLOCK_TASK_ID"]
pathlib.Path(f"{task}.txt").write_text(name)
"""
CHECK = """\
import os, pathlib, psycopg

with psycopg.connect(os.environ["DATABASE_URL"]) as database:
    assert database.execute("SELECT name FROM shop.items").fetchall() == [("first",)], "not a fresh copy"
    for name in pathlib.Path().glob("*.txt"):
        assert database.info.dbname != name.read_text()
"""
ESCAPE = """\
import os, pathlib, psycopg
from urllib.parse import urlsplit

url = os.environ["DATABASE_URL"]
own = urlsplit(url)
said = []
for user, database in (("postgres", "postgres"), (own.username, "app_template"), ("postgres", own.path[1:])):
    for password in ("", own.password):
        try:
            psycopg.connect(
                host="127.0.0.1", port=own.port, user=user, password=password, dbname=database
            ).close()
            said.append(f"reached {database} as {user}")
        except psycopg.OperationalError as refused:
            assert "can be reached here" in str(refused), refused
with psycopg.connect(url, autocommit=True) as database:
    more = "CREATE DATABASE more; CREATE ROLE more; DROP DATABASE app_template; SET ROLE postgres"
    for statement in more.split("; "):
        try:
            database.execute(statement)
            said.append(f"did {statement}")
        except psycopg.Error:
            pass
pathlib.Path("escape").write_text("\\n".join(said))
pathlib.Path("seen").write_text("\\n".join(f"{name}={text}" for name, text in os.environ.items()))
"""


class Server:
    """The user's Postgres server, with a template. It trusts everybody who reaches its socket."""

    def __init__(self, url: str) -> None:
        self.url = url
        with self.connected() as admin:
            admin.execute("CREATE DATABASE app_template")
        with self.connected("app_template") as inside:
            inside.execute("CREATE SCHEMA shop; CREATE TABLE shop.items (id serial PRIMARY KEY, name text)")
            inside.execute("CREATE FUNCTION shop.tax() RETURNS int LANGUAGE sql AS 'SELECT 19'")
            inside.execute("INSERT INTO shop.items (name) VALUES ('first')")

    def connected(self, database: str = "postgres") -> "psycopg.Connection[tuple[object, ...]]":
        return psycopg.connect(self.url, dbname=database, autocommit=True)

    def names(self) -> set[str]:
        """The databases and roles of ours that exist."""
        with self.connected() as admin:
            rows = admin.execute("SELECT datname FROM pg_database UNION SELECT rolname FROM pg_roles")
            return {str(name) for (name,) in rows if str(name).startswith("interlock_")}


@pytest.fixture(scope="module")
def server(postgres_url: str) -> Iterator[Server]:
    made = Server(postgres_url)
    yield made
    with made.connected() as admin:
        admin.execute("DROP DATABASE app_template")


@pytest.fixture
def project(scratch: Scratch, server: Server, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    """A repository of a user with a server."""
    monkeypatch.setenv("INTERLOCK_DATABASE_SERVER", server.url)
    return scratch


def graph(scratch: Scratch, tasks: str, agent: str, more: str, **defaults: str) -> None:
    """A task graph with more keys at its top."""
    scratch.graph(tasks, agent, **defaults)
    file = scratch.root / "task-graph.yaml"
    file.write_text(file.read_text().replace("tasks:\n", f"{more}\ntasks:\n"))
    scratch.commit("environments")


DATABASE = "leases: {db: {template: app_template}}"


def test_an_attempt_and_each_check_have_a_fresh_copy_and_nothing_else_of_the_server(
    project: Scratch, server: Server
) -> None:
    project.write(work__py=WORK, check__py=CHECK, escape__py=ESCAPE)
    tasks = "  a: {goal: x, uses: [db], done_when: [python check.py, python check.py]}\n"
    graph(project, tasks, "python work.py && python escape.py", DATABASE)
    project.interlock("run")
    assert project.states() == {"a": "done"}
    assert project.git("show", "main:a.txt").startswith("interlock_")
    assert project.git("show", "main:escape") == ""
    seen = project.git("show", "main:seen")
    assert "DATABASE_SERVER" not in seen
    assert server.url.partition("host=")[2] not in seen
    assert "COMPOSE_PROJECT_NAME=interlock-a-1-" in seen
    assert server.names() == set()


def test_twenty_environments_at_once_share_nothing_and_a_killed_run_frees_all(
    project: Scratch, server: Server, gate: Path
) -> None:
    """Must show 4 of the issue: ports and databases of 20 attempts, kill -9, and the next run."""
    names = [f"t{number:02}" for number in range(20)]
    tasks = "".join(f"  {name}: {{goal: x, uses: ['port:web', db]}}\n" for name in names)
    wait = WAIT.format(gate=gate)
    agent = (
        f'echo "up $PORT_WEB ${{DATABASE_URL##*/}}"\n{wait}\necho "$PORT_WEB ${{DATABASE_URL##*/}}" > '
        '"$INTERLOCK_TASK_ID.txt"'
    )
    leases = "leases: {port: {range: 3000-3019}, db: {template: app_template}}"
    graph(project, tasks, agent, leases)
    run = project.start("run", "--max-parallel", "20")
    run.wait_for_line("implement started")
    following = project.start("events", "--follow", "--json")
    for name in names:
        following.wait_for_line(f'"kind":"SessionOpened","fact":{{"task":"{name}",')
    assert len(server.names()) == 20
    holders = {lease["name"]: lease["holders"] for lease in project.status()["leases"]}
    assert {name: len({each["value"] for each in of}) for name, of in holders.items()} == {
        "port": 20,
        "db": 20,
    }
    run.close()
    with server.connected() as admin:
        admin.execute("CREATE DATABASE interlock_of_the_user")
    gate.touch()
    try:
        project.interlock("run", "--max-parallel", "20")
        assert set(project.states().values()) == {"done"}
        written = [project.git("show", f"main:{name}.txt").split() for name in names]
        assert len({port for port, _ in written}) == len({database for _, database in written}) == 20
        assert server.names() == {"interlock_of_the_user"}
    finally:
        with server.connected() as admin:
            admin.execute("DROP DATABASE interlock_of_the_user")


def test_a_graph_with_a_database_needs_a_server(scratch: Scratch) -> None:
    graph(scratch, "  a: {goal: x, uses: [db]}\n", "true", DATABASE)
    said = scratch.interlock("run", code=2)
    assert "the lease `db` is a copy of a database, and no server is set" in said
    assert "database_server" in said


SERVICE = """\
import http.server, os, sys

print("serving", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
PORTS = "leases: {port: {range: 3400-3440}}"
USES = "uses: ['port:web'], done_when: 'python ask.py'"
ASK = """\
import os, urllib.request

urllib.request.urlopen("http://127.0.0.1:" + os.environ["PORT_WEB"], timeout=20)
"""


def test_a_service_runs_beside_each_check_that_uses_its_port(scratch: Scratch) -> None:
    scratch.write(serve__py=SERVICE, ask__py=ASK)
    tasks = f"  a: {{goal: x, {USES}}}\n  b: {{goal: y, {USES}}}\n"
    graph(
        scratch,
        tasks,
        "date > $INTERLOCK_TASK_ID",
        f"services: {{web: 'python serve.py $PORT_WEB'}}\n{PORTS}",
    )
    scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}


def test_a_service_that_does_not_start_is_named_with_its_output(scratch: Scratch) -> None:
    scratch.write(ask__py=ASK)
    service = "services: {web: 'echo no room for me; exit 3'}"
    graph(
        scratch, f"  a: {{goal: x, {USES}, retries: 0}}\n", "date > a", f"{service}\n{PORTS}", verify="'true'"
    )
    said = scratch.interlock("run", code=None)
    story = said + scratch.interlock("explain", "a") + scratch.interlock("show", "a")
    assert "service web did not start" in story
    assert "no room for me" in story


def test_teardown_runs_after_an_attempt_and_its_failure_is_named(scratch: Scratch) -> None:
    (scratch.gates / "out").mkdir()
    tear = "teardown: ['echo $COMPOSE_PROJECT_NAME $PORT_WEB > torn', 'echo cannot reach it; exit 4']"
    graph(scratch, "  a: {goal: x, uses: ['port:web']}\n", "date > a", PORTS)
    file = scratch.root / "task-graph.yaml"
    file.write_text(file.read_text().replace("defaults:\n", f"defaults:\n  {tear}\n"))
    scratch.commit("teardown")
    scratch.interlock("run")
    assert scratch.states() == {"a": "done"}
    assert scratch.git("ls-tree", "--name-only", "main").split() == ["a", "agent.sh", "task-graph.yaml"]
    shown = scratch.interlock("show", "a")
    assert "its teardown `echo cannot reach it; exit 4` exited 4: cannot reach it" in shown


def test_teardown_after_a_killed_run_is_confined_and_sees_the_workspace(scratch: Scratch) -> None:
    secret = scratch.root.parent / "secret"
    secret.write_text("of the user\n")
    tear = (
        f"teardown: ['cat made; cat {secret}; cat /proc/1/cmdline; echo > {secret.parent}/torn; echo over']"
    )
    graph(
        scratch,
        "  a: {goal: x}\n",
        f"echo of-the-agent > made; echo written; {WAIT.format(gate=scratch.gates / 'g')}",
        PORTS,
    )
    file = scratch.root / "task-graph.yaml"
    file.write_text(file.read_text().replace("defaults:\n", f"defaults:\n  {tear}\n"))
    scratch.commit("teardown")
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.wait_for_output("a", "written")
    run.close()
    (scratch.gates / "g").touch()
    scratch.interlock("run")
    log = next((scratch.root / ".git/interlock/logs/a").glob("1.teardown.log")).read_text()
    assert "of the user" not in log
    assert not (secret.parent / "torn").exists()
    assert "of-the-agent" in log
    assert "over" in log
    assert not list((scratch.root / ".git/interlock/teardown/a").iterdir())


def test_a_teardown_gets_no_address_of_a_database_that_is_gone(project: Scratch) -> None:
    graph(project, "  a: {goal: x, uses: [db]}\n", "date > a", DATABASE)
    file = project.root / "task-graph.yaml"
    tear = "teardown: ['echo \"<$DATABASE_URL>\"']"
    file.write_text(file.read_text().replace("defaults:\n", f"defaults:\n  {tear}\n"))
    project.commit("teardown")
    project.interlock("run")
    assert (project.root / ".git/interlock/logs/a/1.teardown.log").read_text() == "<>\n"

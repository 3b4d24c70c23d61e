"""What an accepted task graph says (MISSION T2, T5)."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from interlock.model.leases import Leasable, Leased, variables
from interlock.model.task import PIPELINE, Agent, Task, TaskId
from interlock.plan import GraphProblems, json_schema, parse
from interlock.plan.problem import Notes
from interlock.plan.yaml_text import FASTEST, read

HEAD = "version: 1\nagents: {bot: {use: command, run: [bot]}}\ndefaults: {agent: bot}\n"
BOT = Agent("bot", "command", ("bot",))


def one(fields: str, head: str = HEAD) -> Task:
    """The only task of a graph."""
    (task,) = parse(f"{head}tasks:\n  a: {{{fields}}}\n", "g").tasks
    return task


def test_a_task_that_says_only_its_goal_gets_the_defaults_of_the_model() -> None:
    assert one("goal: Add login") == Task(TaskId("a"), "Add login", BOT)


def test_every_field_is_read() -> None:
    text = """
version: 1
defaults: {agent: bot, verify: make test, timeout: 1h, retries: 1, category: backend}
agents:
  bot: {use: command, run: [bot, -p], env: {MODE: fast}}
  other: {use: command, run: [other]}
tasks:
  user-model:
    goal: |
      Add a user.
      With a name.
  auth-api:
    goal: Add POST /login
    agent: other
    needs: [user-model, user-model]
    touches: [src/auth/**, tests/auth/]
    exclusive: [schema.sql]
    shared: [docs/*.md]
    uses: [db, "port:web"]
    done_when: pytest -q
    verify: [make lint, make test]
    category: api
    story: accounts
    subsystem: auth
    labels: [mvp]
    priority: high
    estimate: 90s
    timeout: 1h30m
    idle_timeout: 0
    check_timeout: 2.5m
    retries: 0
"""
    graph = parse(text, "g")
    other = Agent("other", "command", ("other",))
    assert graph.agents == (Agent("bot", "command", ("bot", "-p"), {"MODE": "fast"}), other)
    assert graph.tasks[0].goal == "Add a user.\nWith a name."
    assert (graph.tasks[0].verify, graph.tasks[0].category) == (("make test",), "backend")
    assert (graph.tasks[0].timeout_seconds, graph.tasks[0].retries) == (3600.0, 1)
    assert graph.tasks[1] == Task(
        id=TaskId("auth-api"),
        goal="Add POST /login",
        agent=other,
        needs=(TaskId("user-model"),),
        touches=("src/auth/**", "tests/auth/"),
        exclusive=("schema.sql",),
        shared=("docs/*.md",),
        uses=("db", "port:web"),
        done_when=("pytest -q",),
        verify=("make lint", "make test"),
        category="api",
        story="accounts",
        subsystem="auth",
        labels=("mvp",),
        priority=1,
        estimate_seconds=90.0,
        has_estimate=True,
        timeout_seconds=5400.0,
        idle_seconds=0.0,
        check_seconds=150.0,
        retries=0,
        pipeline=PIPELINE,
    )


def test_a_task_can_switch_off_the_checks_of_the_project() -> None:
    assert one("goal: x, verify: []", HEAD.replace("bot}\n", "bot, verify: make}\n", 1)).verify == ()


@pytest.mark.parametrize(
    "word", ["no", "on", "yes", "off", "NO", "y", "1:30", "2026-01-01", "0777x", "1_000"]
)
def test_words_that_old_yaml_took_for_something_else_are_text(word: str) -> None:
    assert one(f"goal: {word}").goal == word


@pytest.mark.parametrize("id", ["no", "null", "1", "true", "1.5"])
def test_any_plain_word_can_be_the_id_of_a_task(id: str) -> None:
    graph = parse(f"{HEAD}tasks:\n  {id}: {{goal: x}}\n  b: {{goal: y, needs: ['{id}']}}\n", "g")
    assert graph.tasks[1].needs == (id,)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90s", 90.0),
        ("30m", 1800.0),
        ("2h", 7200.0),
        ("1d", 86400.0),
        ("45", 45.0),
        ("0x10", 16.0),
        ("1.5h", 5400.0),
    ],
)
def test_durations(written: str, seconds: float) -> None:
    assert one(f"goal: x, timeout: {written}").timeout_seconds == seconds


@pytest.mark.parametrize(
    ("written", "tier"), [("0", 0), ("4", 4), ("critical", 0), ("normal", 2), ("lowest", 4)]
)
def test_priorities_have_numbers_and_names(written: str, tier: int) -> None:
    assert one(f"goal: x, priority: {written}").priority == tier


def test_the_digest_is_of_the_bytes_of_the_file() -> None:
    text = f"\ufeff{HEAD}tasks: {{a: {{goal: Grüße}}}}\r\n"
    graph = parse(text.encode(), "g")
    assert graph.digest == sha256(text.encode()).hexdigest() == parse(text, "g").digest
    assert graph.tasks[0].goal == "Grüße"


def test_a_graph_without_tasks_is_accepted_with_a_warning() -> None:
    (warning,) = parse(f"{HEAD}tasks: {{}}\n", "g").warnings
    assert str(warning).startswith("g:4:8: warning: there are no tasks")


def test_a_glob_in_a_folder_that_is_not_there_is_a_warning_when_the_files_are_known() -> None:
    fields = "goal: x, touches: [src/*.py, srv/**, lib, 'no/[x'], exclusive: ['**/*.sql']"
    text = f"{HEAD}tasks:\n  a: {{{fields}}}\n"
    warnings = parse(text, "g", ["src/main.py", "lib/deep/x.c", "README.md"]).warnings
    assert [(one.line, one.col, one.message.split("`")[1]) for one in warnings] == [
        (5, 36, "srv/**"),
        (5, 49, "no/[x"),
    ]
    assert parse(text, "g").warnings == ()


def test_the_schema_describes_every_field() -> None:
    schema = json_schema()
    assert schema["$schema"].endswith("2020-12/schema")
    parts = [schema, *schema["$defs"].values()]
    fields = [(name, field) for part in parts for name, field in part["properties"].items()]
    assert {"version", "tasks", "goal", "needs", "run", "idle_timeout"} <= {name for name, _ in fields}
    assert [name for name, field in fields if not field.get("description")] == []
    assert all(part["additionalProperties"] is False for part in parts)


def test_the_parser_without_libyaml_reads_the_same_at_the_same_places() -> None:
    text = (
        HEAD
        + "tasks:\n  a: {goal: no, needs: [1, 1.5, 0x1f, .inf, ~, 'x', \"y\"]}\n  b:\n    - |\n      text\n"
    )
    slow, fast = (read(text, Notes("g", []), parser) for parser in (yaml.SafeLoader, FASTEST))
    assert slow is not None
    assert fast is not None
    assert slow.value == fast.value
    paths: list[tuple[str | int, ...]] = [("tasks",), ("tasks", "a", "needs", 3), ("tasks", "b", 0)]
    assert [slow.places.of(path) for path in paths] == [fast.places.of(path) for path in paths]


@pytest.mark.slow
def test_importing_the_package_imports_no_slow_library() -> None:
    """MISSION A6: `status` opens in 0.3 s, and never reads the graph."""
    code = "import sys, interlock.plan; print([m for m in ('yaml', 'pydantic') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


PAGE = Path(__file__).parents[2] / "docs/reference/task-graph.md"


def test_the_example_of_the_reference_is_a_graph() -> None:
    example = PAGE.read_text().split("```yaml\n")[1].split("```")[0]
    assert [task.id for task in parse(example, "g").tasks] == ["user-model", "auth-api"]


def test_the_reference_has_a_row_for_every_field() -> None:
    schema = json_schema()
    fields = {name for part in (schema, *schema["$defs"].values()) for name in part["properties"]}
    page = PAGE.read_text()
    assert [name for name in sorted(fields) if f"\n| `{name}` |" not in page] == []


def test_the_error_shown_in_the_reference_is_what_is_printed() -> None:
    page = PAGE.read_text()
    tasks = "  user-model: {goal: x}\n" + "\n" * 4 + "  b:\n    goal: y\n    needs: [user-modle]\n"
    with pytest.raises(GraphProblems) as refused:
        parse(f"{HEAD}tasks:\n{tasks}", "task-graph.yaml")
    assert str(refused.value) in page


def test_a_new_file_in_a_folder_that_exists_is_worth_no_warning() -> None:
    text = f"{HEAD}tasks:\n  a: {{goal: x, touches: [src/new.py, top.txt, nowhere/new.py]}}\n"
    (warning,) = parse(text, "g", ["src/main.py"]).warnings
    assert "`nowhere/new.py`" in warning.message


def test_an_account_inside_the_sandbox_is_worth_a_warning() -> None:
    """T1: off by default, and said at every start when it is on."""
    text = "version: 1\nagents: {c: {use: claude-code, login: true}}\ntasks: {a: {goal: x, agent: c}}\n"
    (warning,) = parse(text, "g").warnings
    assert "`c` can read and send out the credentials of its login" in warning.message


def test_a_check_may_name_the_files_that_it_sees() -> None:
    given = one(
        "goal: x, verify: [{run: make a, inputs: [a/**, a/**, b]}, make], done_when: {run: t, inputs: [t]}"
    )
    assert (given.verify, given.done_when) == (("make a", "make"), ("t",))
    assert given.inputs == (("t", ("t",)), ("make a", ("a/**", "b")))
    assert (given.inputs_of("make a"), given.inputs_of("make")) == (("a/**", "b"), ())


def test_the_inputs_of_a_default_hold_where_its_checks_do() -> None:
    head = HEAD.replace("bot}\n", "bot, verify: {run: make, inputs: [src/**]}}\n", 1)
    assert one("goal: x", head).inputs == (("make", ("src/**",)),)
    assert one("goal: x, verify: [other]", head).inputs == ()


def test_the_files_that_decide_a_set_up_are_inputs_of_every_check() -> None:
    """Else a change of the lock file would land on results that were found with other dependencies."""
    setup = "bot, setup: {run: uv sync, key: [uv.lock]}, verify: [{run: make, inputs: [src/**]}, lint]}\n"
    given = one("goal: x", HEAD.replace("bot}\n", setup, 1))
    assert given.inputs == (("make", ("src/**", "uv.lock")),)


def test_an_input_that_matches_no_file_is_a_warning_when_the_files_are_known() -> None:
    """As an error it would stop every run after the last file is deleted, also the one that undoes that."""
    text = f"{HEAD}tasks:\n  a: {{goal: x, verify: [{{run: make, inputs: [src/**, lib/*.py]}}]}}\n"
    assert not parse(text, "g.yaml", ["src/a.py", "lib/b.py"]).warnings
    (problem,) = parse(text, "g.yaml", ["src/a.py", "lib/b.txt"]).warnings
    assert (problem.line, problem.col) == (5, 54)
    assert problem.message == "the input `lib/*.py` matches no file of the repository"


LEASES = "leases: {port: {range: 3000-3999}, gpu: {count: 2}, migration-slot: {}}\n"


def test_what_leases_declares_is_counted_and_other_uses_are_names() -> None:
    tasks = "tasks: {a: {goal: x, uses: [port:web, db, migration-slot]}, b: {goal: y}}\n"
    defaults = HEAD.replace("bot}\n", "bot, uses: [gpu]}\n", 1)
    graph = parse(f"{defaults}{LEASES}{tasks}", "g")
    assert graph.leases == (Leasable("port", 1000, 3000), Leasable("gpu", 2), Leasable("migration-slot"))
    first, second = graph.tasks
    assert (first.uses, first.leases) == (("db",), ("port:web", "migration-slot"))
    assert (second.uses, second.leases) == ((), ("gpu",))


@pytest.mark.parametrize(
    ("leases", "uses", "said"),
    [
        ("{path: {}}", "", "`path` would change the variable PATH"),
        ("{interlock: {}}", "['interlock:x']", "would change the variable INTERLOCK_X"),
        ("{p: {range: 9-1}}", "", "`9-1` is not a range"),
        ("{p: {range: 1-99999}}", "", "is not a range of at most 10000 values"),
        ("{p: {range: 1-2, count: 2}}", "", "`count` and `range` exclude each other"),
        ("{p: {count: 0}}", "", "count"),
        ("{P: {}}", "", "P"),
        ("{p: {}}", "['p:a', 'p:b']", "this uses 2 of `p`, and there are 1"),
        ("{p: {count: 9}}", "['p:a-b', 'p:a_b']", "would both be in P_A_B"),
        ("{p: {template: t, range: 1-2}}", "", "`template` and `range` exclude each other"),
        ("{p: {template: 'a b'}}", "", "template"),
        ("{p: {template: t}, q: {template: u}}", "[p, q]", "`q` and `p` would both be in DATABASE_URL"),
        ("{p: {}}", "['p:']", "`p:` has no name after the colon"),
        ("{p: {}}", "['p:$(id)']", "has no name after the colon"),
    ],
)
def test_leases_that_cannot_work_are_refused(leases: str, uses: str, said: str) -> None:
    text = f"{HEAD}leases: {leases}\ntasks: {{a: {{goal: x, uses: {uses or '[]'}}}}}\n"
    with pytest.raises(GraphProblems) as refused:
        parse(text, "g")
    assert said in str(refused.value)


def test_databases_are_twenty_copies_of_a_template_or_as_many_as_it_says() -> None:
    text = f"{HEAD}leases: {{db: {{template: app}}, few: {{template: app, count: 2}}}}\ntasks: {{}}\n"
    db, few = parse(text, "g").leases
    assert (db.count, db.template, few.count) == (20, "app", 2)
    assert list(few.values()) == ["app/0", "app/1"]
    assert [few.has(value) for value in ("app/1", "app/2", "1", "other/1", "app/01")] == [True, *[False] * 4]
    assert variables([Leased("db", "app/3"), Leased("few:audit", "app/0"), Leased("port:web", "3000")]) == {
        "DATABASE_URL": "app/3",
        "DATABASE_URL_AUDIT": "app/0",
        "PORT_WEB": "3000",
    }


def test_a_service_needs_a_task_that_uses_its_port() -> None:
    part = f"{HEAD}{LEASES}services: {{redis: redis-server --port $PORT_REDIS}}\n"
    graph = parse(part + "tasks: {a: {goal: x, uses: ['port:redis']}}\n", "g")
    assert graph.services == {"redis": "redis-server --port $PORT_REDIS"}
    with pytest.raises(GraphProblems) as refused:
        parse(part + "tasks: {a: {goal: x, uses: ['port:web']}}\n", "g")
    assert "no task uses `port:redis`, so the service `redis` would never start" in str(refused.value)

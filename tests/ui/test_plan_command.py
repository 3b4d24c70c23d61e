"""`plan`: the graph checked and drawn, and nothing left behind (W3, W4, T5)."""

from tests.ui.conftest import Lab, git, task

GRAPH = """\
version: 1
defaults: {agent: coder, estimate: 10m}
agents:
  coder: {use: command, run: ["true"]}
tasks:
  db: {goal: Make db, story: accounts, touches: [README.md]}
  api: {goal: Make api, needs: [db], uses: ["port:web"]}
  web: {goal: Make web, needs: [db], uses: ["port:web"]}
  notes: {goal: Make notes, touches: [README.md], labels: [easy], subsystem: docs, priority: low}
"""


def with_graph(lab: Lab, text: str = GRAPH) -> Lab:
    (lab.root / "task-graph.yaml").write_text(text)
    return lab


def test_plan_shows_critical_path_conflicts_and_time_and_leaves_no_trace(lab: Lab) -> None:
    out = with_graph(lab).run("plan").out
    assert "4 tasks, 4 to do" in out
    assert "api and web: never together, both want port:web" in out
    assert "db and notes: may overlap, both want README.md" in out
    assert "expected       30m by them, with up to 3 at once;" in out
    assert not (lab.root / ".git/interlock").exists()


def test_waves_are_a_view(lab: Lab) -> None:
    out = with_graph(lab).run("plan", "--waves", "--max-parallel", "1").out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("    ")] == ["1", "2", "3", "4"]


def test_plan_draws_for_other_programs(lab: Lab) -> None:
    assert "t0 --> t1" in with_graph(lab).run("plan", "--format", "mermaid").out
    dot = lab.run("plan", "--format", "dot").out
    assert '"db" -> "api";' in dot
    assert '"db" [penwidth=3];' in dot


def test_programs_get_the_whole_analysis(lab: Lab) -> None:
    plan = with_graph(lab).run("plan", "--json").json
    assert plan["may_proceed"] is True
    assert plan["analysis"]["critical_path"][0] == "db"
    assert plan["analysis"]["lower_bound_seconds"] == 1800.0


def test_what_has_landed_is_not_planned_again_and_what_failed_is_named(lab: Lab) -> None:
    lab.accept(task("db"), task("notes"))
    lab.land("db", "d" * 40)
    lab.fail("notes", "no idea")
    out = with_graph(lab).run("plan").out
    assert "4 tasks, 2 to do" in out
    assert "notes: it failed or was cancelled" in out


def test_where_nothing_can_start_the_next_command_is_the_one_that_changes_that(lab: Lab) -> None:
    lab.accept(task("db"), task("notes"))
    lab.fail("db", "no idea")
    assert with_graph(lab).run("plan").out.endswith("next: interlock run\n")
    assert lab.run("plan", "--only", "api").out == (
        "task-graph.yaml: 4 tasks, 0 to do\n\n"
        "cannot run (1)\n  api: needs db, which failed or was cancelled\n\nnext: interlock plan\n"
    )
    assert lab.run("plan", "--from", "db").out.endswith("next: interlock retry db\n")
    assert lab.run("plan", "--only", "api", "--json").json["analysis"]["unscheduled"] == {
        "api": {
            "code": "need-given-up",
            "tasks": ["db"],
            "text": "needs db, which failed or was cancelled",
        }
    }


def test_filters_narrow_the_plan(lab: Lab) -> None:
    """T5."""
    for words in (("--label", "easy"), ("--subsystem", "docs"), ("--priority", "low")):
        assert "1 to do" in with_graph(lab).run("plan", *words).out
    assert "1 to do" in with_graph(lab).run("plan", "--story", "accounts").out
    assert "3 to do" in lab.run("plan", "--from", "db").out
    cut = lab.run("plan", "--only", "api").out
    assert "api: needs db, which is not selected and has not landed" in cut


def test_a_graph_elsewhere_may_be_named(lab: Lab) -> None:
    other = lab.root / "other.yaml"
    other.write_text(GRAPH)
    assert lab.run("plan", str(other)).out.startswith("other.yaml: 4 tasks")


def test_problems_come_with_their_place_and_a_count(lab: Lab) -> None:
    result = with_graph(lab, GRAPH.replace("needs: [db]", "needs: [dbs]")).run("plan")
    assert result.code == 2
    assert "task-graph.yaml:7:" in result.err
    assert "did you mean `db`?" in result.err
    assert "error: 2 to fix" in result.err


AREAS = """\
version: 1
defaults:
  agent: coder
  verify:
    - {run: "pytest one", inputs: [one/**, lib/**]}
    - {run: "pytest two", inputs: [two/**, lib/**]}
    - "ruff check"
agents:
  coder: {use: command, run: ["true"]}
tasks:
  first: {goal: Change one, touches: [one/a.py]}
  both: {goal: Change the library, touches: [lib/**], done_when: "pytest lib"}
  open: {goal: Change anything}
"""


def with_files(lab: Lab, *names: str) -> None:
    for name in names:
        (lab.root / name).parent.mkdir(parents=True, exist_ok=True)
        (lab.root / name).write_text("x = 1\n")
    git(lab.root, "add", "-A")
    git(lab.root, "commit", "-qm", "files")


def test_plan_says_which_checks_each_task_will_need(lab: Lab) -> None:
    """D14."""
    with_files(lab, "one/a.py", "two/b.py", "lib/c.py")
    out = with_graph(lab, AREAS).run("plan").out
    assert "checks         9 of 10 probably run, by `touches`" in out
    assert "  first: `pytest one`, `ruff check`, reuses 1" in out
    assert "  open: `pytest one`, `pytest two`, `ruff check`\n" in out
    assert lab.run("plan", "--json").json["checks"]["first"] == {
        "runs": ["pytest one", "ruff check"],
        "reused": ["pytest two"],
    }


def test_plan_proposes_inputs_for_folders_with_tests_of_their_own(lab: Lab) -> None:
    """The line can stand in the graph as it is."""
    with_files(
        lab, "one/a.py", "one/tests/test_a.py", "two/b.py", "two/test_b.py", "docs/c.py", "conftest.py"
    )
    with_graph(lab, GRAPH.replace("agent: coder,", 'agent: coder, verify: "python -m pytest -q",'))
    out = lab.run("plan").out
    assert "proposal       2 folders have tests of their own" in out
    (line,) = [line.strip() for line in out.splitlines() if line.startswith("  verify: [")]
    with_graph(lab, GRAPH.replace("{agent: coder, estimate: 10m}", f"{{agent: coder, {line}}}"))
    plan = lab.run("plan", "--json").json
    assert plan["proposed_checks"] == []
    task = plan["graph"]["tasks"][0]
    assert task["inputs"] == [
        ["python -m pytest -q one", ["one/**", "conftest.py"]],
        ["python -m pytest -q two", ["two/**", "conftest.py"]],
    ]


def test_plan_proposes_nothing_where_the_tests_are_one_suite(lab: Lab) -> None:
    with_files(lab, "src/a.py", "src/b.py", "tests/test_a.py", "scripts/c.py")
    with_graph(lab, GRAPH.replace("agent: coder,", 'agent: coder, verify: "pytest -q",'))
    assert "proposal" not in lab.run("plan").out

"""What is expected of a task and what it is taken for is shown wherever a person asks: A8, K1, D9."""

from interlock.events.facts import RunStarted, TaskEstimated
from interlock.model.forecast import Forecast
from interlock.model.reason import Reason, Why
from interlock.model.task import TaskId
from tests.ui.conftest import Lab, task

GUIDE = Forecast(
    "docs",
    Reason(Why.FROM_PATHS, {"paths": ("docs/**",)}),
    "coder",
    seconds=240.0,
    seconds_p90=660.0,
    success=0.8,
    cost_usd=0.12,
    cost_usd_p90=0.4,
    evidence=23.1,
    complexity="low",
)


def with_a_forecast(lab: Lab) -> None:
    lab.accept(task("guide", touches=("docs/**",)))
    lab.write(TaskEstimated(TaskId("guide"), GUIDE))


def test_show_says_what_is_expected_and_from_how_many_attempts(lab: Lab) -> None:
    with_a_forecast(lab)
    text = lab.run("show", "guide").out
    assert "kind      docs, inferred from docs/**; complexity low" in text
    assert "expected  median 4m, 9 of 10 under 11m; $0.12, 9 of 10 under $0.40; lands 8 of 10 times" in text
    assert "times; from 23 attempts" in text
    assert lab.run("show", "guide", "--json").json["forecast"]["evidence"] == 23.1


def test_explain_says_it_while_the_task_is_not_over(lab: Lab) -> None:
    with_a_forecast(lab)
    assert "  kind of work: docs, inferred from docs/**" in lab.run("explain", "guide").out
    lab.take_charge(RunStarted("r", "h", 1, 3))
    lab.land("guide", "d" * 40)
    assert "kind of work" not in lab.run("explain", "guide").out


def test_before_the_first_run_what_is_expected_is_what_the_definition_says(lab: Lab) -> None:
    lab.accept(task("api", estimate_seconds=120.0, has_estimate=True), task("page"))
    text = lab.run("show", "api").out
    assert "median 2m" in text
    assert "lands 7 of 10 times; no attempts of this kind yet" in text
    assert "expected  time unknown; lands 7 of 10" in lab.run("show", "page").out


def test_status_says_each_tasks_kind_and_where_that_comes_from(lab: Lab) -> None:
    with_a_forecast(lab)
    lab.accept(task("suite", touches=("tests/**",)), task("api", category="backend"))
    rows = {row["id"]: row for row in lab.run("status", "--json").json["tasks"]}
    found = {name: (row["category"], row["category_why"]["text"]) for name, row in rows.items()}
    assert found == {
        "guide": ("docs", "inferred from docs/**"),
        "suite": ("tests", "inferred from tests/**"),
        "api": ("backend", "declared"),
    }
    assert (rows["guide"]["expected_seconds"], rows["api"]["expected_seconds"]) == (240.0, None)


def test_plan_says_what_the_tasks_are_taken_for(lab: Lab) -> None:
    graph = (
        "version: 1\nagents: {a: {use: command, run: [x]}}\ndefaults: {agent: a}\ntasks:\n"
        "  guide: {goal: Write it, touches: [docs/**]}\n  api: {goal: Do it, category: backend}\n"
    )
    (lab.root / "task-graph.yaml").write_text(graph)
    assert "kinds          1 docs, 1 backend (1 inferred: --json says from what)" in lab.run("plan").out
    assert lab.run("plan", "--json").json["categories"] == {
        "guide": {
            "name": "docs",
            "why": {"code": "from-paths", "paths": ["docs/**"], "text": "inferred from docs/**"},
        },
        "api": {"name": "backend", "why": {"code": "declared", "text": "declared"}},
    }

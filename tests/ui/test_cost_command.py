"""`interlock cost`: what agents have used, by agent, task, kind of work and day."""

from dataclasses import replace

from interlock.events.facts import PhaseLost, TaskUndone, WorkFinished, WorkspaceArchived
from interlock.model.claim import task_resource
from interlock.model.task import Commit, TaskId
from interlock.model.usage import Usage
from tests.ui.conftest import Lab, task

FIRST, SECOND = Usage(1200, 300, 1000, 3, 0.25), Usage(50, 7, 0, 1)


def spent(lab: Lab) -> None:
    """Two tasks of two kinds; the first needed two attempts, and its first one told no price."""
    lab.accept(replace(task("api"), category="api"), replace(task("docs"), category="docs"))
    epoch = lab.start("api").epoch
    lab.write(PhaseLost(TaskId("api"), 1, "implement", epoch, usage=SECOND))
    lab.release(task_resource("api"))
    epoch = lab.start("api", attempt=2).epoch
    lab.write(WorkFinished(TaskId("api"), 2, "implement", epoch, usage=FIRST))
    lab.release(task_resource("api"))
    epoch = lab.start("docs").epoch
    lab.write(WorkFinished(TaskId("docs"), 1, "implement", epoch, usage=SECOND))


def test_it_adds_up_by_agent_task_kind_of_work_and_day(lab: Lab) -> None:
    spent(lab)
    said = lab.run("cost")
    assert "all  1.3k tokens in (1.0k cached), 314 out, 5 calls, $0.25 and 114 tokens of unknown" in said.out
    assert "the price of 114 tokens is not known" in said.err
    assert "coder  3 attempts, 1.3k tokens in" in said.out
    by_task = lab.run("cost", "--by", "task").out.splitlines()
    assert [line.split("  ")[0].strip() for line in by_task] == ["all", "api", "docs"]
    assert "2 attempts, 1.2k tokens in (1.0k cached), 307 out, 4 calls, $0.25" in by_task[1]
    found = lab.run("cost", "--json").json
    assert [(row["name"], row["usage"]["input_tokens"]) for row in found["by"]["category"]] == [
        ("api", 1250),
        ("docs", 50),
    ]
    (day,) = found["by"]["day"]
    assert (day["attempts"], day["usage"]["cost_usd"]) == (3, 0.25)
    assert day["name"] in lab.run("cost", "--by", "day").out
    assert [(row["task"], row["attempt"]) for row in found["attempts"]] == [
        ("docs", 1),
        ("api", 2),
        ("api", 1),
    ]


def test_without_any_tokens_it_says_so(lab: Lab) -> None:
    lab.accept(task("a"))
    said = lab.run("cost")
    assert (said.out, said.err) == ("", "no agent has reported tokens yet\n")
    lab.write(WorkFinished(TaskId("a"), 1, "implement", lab.start("a").epoch))
    lab.release(task_resource("a"))
    assert lab.run("cost").err == "no agent has reported tokens yet: 1 attempt told no usage\n"


def test_it_tells_the_price_of_a_landed_change_by_model_and_story(lab: Lab) -> None:
    lab.accept(replace(task("a"), story="login"), replace(task("b"), story="login"))
    for name, commit in (("a", "c" * 40), ("b", "d" * 40)):
        lab.land(name, commit)
        lab.write(WorkspaceArchived(TaskId(name), 1, "", usage=FIRST))
    found = lab.run("cost", "--json").json
    assert found["landed"] == 2
    (story,) = found["by"]["story"]
    assert (story["name"], story["attempts"], story["landed"]) == ("login", 2, 2)
    assert "login  2 attempts, " in lab.run("cost", "--by", "story").out
    assert "$0.50, 2 landed, $0.25 each" in lab.run("cost", "--by", "model").out
    lab.write(TaskUndone(TaskId("a"), Commit("c" * 40), TaskId("undo-a")))
    assert lab.run("cost", "--json").json["landed"] == 1

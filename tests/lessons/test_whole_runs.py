"""Lessons through the real command: learned from a red check, offered to the next task, measured (K5)."""

import json

import pytest

from bench.lessons import AGENT, BASE, HELPS, MISLEADS, tasks
from bench.lessons import CHECK as CHECK_BOTH
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

CHECK = (
    'for file in *.cfg; do grep -q "^strict = yes" "$file" || '
    '{ echo "error: $file: option strict must be set"; exit 1; }; done\n'
)
LEARNER = """
name="$INTERLOCK_TASK_ID"
echo "name = $name" > "$name.cfg"
# It knows what to do if it is told: by what went wrong before, or by a lesson.
if grep -q "strict must be set" "$INTERLOCK_PROMPT_FILE"; then echo "strict = yes" >> "$name.cfg"; fi
"""


@pytest.fixture
def family(scratch: Scratch) -> Scratch:
    """Tasks whose agent has to learn of a flag that only the check knows of."""
    scratch.write(check__sh=CHECK, base__cfg="strict = yes\n")
    scratch.graph("  a: {goal: a, category: config}\n", LEARNER, verify="sh check.sh")
    return scratch


def add(scratch: Scratch, *names: str) -> None:
    """More tasks of the same kind."""
    path = scratch.root / "task-graph.yaml"
    rows = "".join(f"  {name}: {{goal: {name}, category: config}}\n" for name in names)
    path.write_text(path.read_text() + rows)
    scratch.commit("more to do")


def test_what_one_task_found_out_the_next_one_is_told_at_once(
    family: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K5, FIELD 22: B does not rediscover A's flag."""
    monkeypatch.setenv("INTERLOCK_LESSONS_HELD_OUT_PERCENT", "0")
    family.interlock("run")
    add(family, "b")
    family.interlock("run")
    attempts = {task["id"]: task["attempts"] for task in family.status()["tasks"]}
    assert attempts == {"a": 2, "b": 1}
    learned = family.facts("LessonLearned")[0]["fact"]["lesson"]
    assert (learned["task"], learned["failed_attempt"], learned["attempt"]) == ("a", 1, 2)
    assert (learned["category"], learned["command"]) == ("config", "sh check.sh")
    assert "+strict = yes" in learned["fix"]
    offered = family.facts("LessonsOffered")
    assert [(row["fact"]["task"], row["fact"]["offered"]) for row in offered] == [("b", [learned["id"]])]
    prompt = family.interlock("prompt", "b", "--attempt", "1")
    assert "## What earlier attempts learned" in prompt
    assert "+strict = yes" in prompt


@pytest.mark.night  # by day: a lesson is offered, here, and retired by its figures, in tests/learn
def test_a_lesson_that_helps_stays_and_one_that_misleads_is_retired_by_its_figures(scratch: Scratch) -> None:
    """K5: success with a lesson and without it is counted, and decides."""
    scratch.write(check__sh=CHECK_BOTH, base__helps=BASE)
    scratch.graph(tasks(("first",)), AGENT, verify="sh check.sh", retries="3")
    scratch.interlock("run", "--max-parallel", "2")
    path = scratch.root / "task-graph.yaml"
    path.write_text(path.read_text() + tasks([f"n{number}" for number in range(8)]))
    scratch.commit("more to do")
    scratch.interlock("run", "--max-parallel", "2")
    found = {
        one["scope"]["category"]: one for one in json.loads(scratch.interlock("lessons", "--all", "--json"))
    }
    helps, misleads = found[HELPS], found[MISLEADS]
    assert helps["with"]["tried"] == helps["with"]["landed"] > 0
    assert helps["without"]["landed"] < helps["without"]["tried"]
    assert (helps["state"], misleads["state"]) == ("in use", "retired")
    assert misleads["with"]["landed"] == 0
    assert misleads["retired_why"]["code"] == "misleads"
    assert misleads["retired_why"]["text"].startswith("it misleads: 0 of ")
    # What it cost is bounded: nobody was lost to it.
    assert set(scratch.states().values()) == {"done"}


@pytest.mark.thorough
def test_whoever_wants_no_lessons_has_none(family: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a setting, or by a template without a place for them; the log does not say that they were given."""
    monkeypatch.setenv("INTERLOCK_LESSONS_HELD_OUT_PERCENT", "100")
    family.interlock("run")
    assert "strict" in family.interlock("lessons", "--json")
    add(family, "b")
    assert "What earlier attempts learned" not in family.interlock("prompt", "b")
    monkeypatch.setenv("INTERLOCK_LESSONS_HELD_OUT_PERCENT", "0")
    assert "What earlier attempts learned" in family.interlock("prompt", "b")
    family.write(short__md="$goal $feedback")
    monkeypatch.setenv("INTERLOCK_PROMPT_TEMPLATE", "short.md")
    family.commit("a template of our own")
    family.interlock("run")
    assert family.facts("LessonsOffered") == []
